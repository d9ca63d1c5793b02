#include "gen/model/passes/draws.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "gen/model/ast/facts.h"
#include "gen/model/passes/data.h"

namespace packsmith::model {

void ResolveDraws(Context& context, ExpressionReader& reader, Container& c) {
  const Scope scope{&c, nullptr};
  for (Draws& draws : c.draws) {
    draws.data_index = FindData(context, draws.data);
    draws.indices_index = FindData(context, draws.indices);
    draws.indexed_condition = reader.ReadCondition(draws.indexed, scope);
    draws.condition = reader.ReadCondition(draws.when, scope);
    draws.first_expression = reader.ReadExpression(draws.first, scope);
    draws.count_expression = reader.ReadExpression(draws.count, scope);
    draws.first_instance_expression = reader.ReadExpression(draws.first_instance, scope);
    draws.instances_expression = reader.ReadExpression(draws.instances, scope);
    draws.bias_expression = reader.ReadExpression(draws.bias, scope);
    draws.cuts_expression = reader.ReadExpression(draws.cuts, scope);
    draws.cut_expression = reader.ReadExpression(draws.cut, scope);
  }
}

void ResolveImages(Context& context, ExpressionReader& reader, Container& c) {
  const Scope scope{&c, nullptr};
  const auto field = [&](const Deferred& text) {
    if (text.empty()) return FieldRef{};
    const FieldRef ref = reader.FindField(text, scope);
    if (ref.field != nullptr) return ref;
    context.Report(Code::kUnknownReference, text.where,
                   absl::StrCat("there is no field \"", text.text, "\" here"));
    return FieldRef{};
  };
  for (Image& image : c.images) {
    image.condition = reader.ReadCondition(image.when, scope);
    image.address_ref = field(image.address);
    if (image.address_ref.field != nullptr &&
        image.address_ref.field->type != FieldType::kAddress) {
      context.Report(Code::kBadType, image.address.where,
                     absl::StrCat("\"", image.address.text, "\" is no address"));
    }
    image.format_ref = field(image.format);
    image.type_ref = field(image.type);
    for (const auto& [ref, text] : {std::make_pair(image.format_ref, &image.format),
                                    std::make_pair(image.type_ref, &image.type)}) {
      if (ref.field != nullptr && NamedValues(context.model, *ref.field).empty()) {
        context.Report(Code::kBadData, text->where,
                       absl::StrCat("no value of \"", text->text, "\" has a name"));
      }
    }
    image.width_expression = reader.ReadExpression(image.width, scope);
    image.height_expression = reader.ReadExpression(image.height, scope);
    image.depth_expression = reader.ReadExpression(image.depth, scope);
    image.pitch_expression = reader.ReadExpression(image.pitch, scope);
  }
}

}  // namespace packsmith::model
