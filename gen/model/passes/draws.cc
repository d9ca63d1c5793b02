#include "gen/model/passes/draws.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "gen/model/ast/field_limits.h"
#include "gen/model/passes/data.h"

namespace packsmith::model {

void ResolveDraws(Context& context, ExpressionReader& reader, Container& c) {
  const Scope scope{&c, nullptr};
  for (Draws& draws : c.draws) {
    draws.data.index = FindData(context, draws.data);
    draws.indices.index = FindData(context, draws.indices);
    reader.Resolve(draws.indexed, scope);
    reader.Resolve(draws.when, scope);
    reader.ResolveAll(draws, kDrawsExpressions, scope);
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
    reader.Resolve(image.when, scope);
    image.address.is = field(image.address);
    if (image.address.is.field != nullptr && image.address.is.field->type != FieldType::kAddress) {
      context.Report(Code::kBadType, image.address.where,
                     absl::StrCat("\"", image.address.text, "\" is not an address"));
    }
    image.format.is = field(image.format);
    image.type.is = field(image.type);
    for (const auto& [ref, text] : {std::make_pair(image.format.is, &image.format),
                                    std::make_pair(image.type.is, &image.type)}) {
      if (ref.field != nullptr && NamedValues(context.model, *ref.field).empty()) {
        context.Report(Code::kBadData, text->where,
                       absl::StrCat("no value of \"", text->text, "\" has a name"));
      }
    }
    reader.ResolveAll(image, kImageExpressions, scope);
  }
}

}  // namespace packsmith::model
