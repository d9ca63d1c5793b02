#include "gen/model/passes/parts.h"

#include "absl/strings/str_cat.h"
#include "gen/model/ast/field_limits.h"

namespace packsmith::model {
namespace {

void ResolveVariants(Context& context, ExpressionReader& reader, Container& c) {
  const Scope top{&c, nullptr};
  for (Variant& variant : c.variants) {
    reader.Resolve(variant.when, top);
    for (const auto& clause : variant.when.is) {
      for (const Term& term : clause) {
        if (term.ref.field->bit + term.ref.field->width > c.bytes * 8) {
          context.Report(Code::kBadVariant, variant.where,
                         "what decides about a variant must lie in the packet's shortest form");
        }
      }
    }
  }
}

void ResolvePartsOnly(Context& context, ExpressionReader& reader, Container& c) {
  const Scope top{&c, nullptr};
  for (Part& part : c.parts) {
    part.struct_name.index = context.FindContainer(part.struct_name.text);
    if (part.struct_name.index < 0 ||
        context.model.containers[static_cast<size_t>(part.struct_name.index)].kind !=
            ContainerKind::kStruct) {
      context.Report(Code::kBadPart, part.struct_name.where,
                     absl::StrCat("there is no structure \"", part.struct_name.text, "\""));
      part.struct_name.index = -1;
    } else {
      const Container& nested =
          context.model.containers[static_cast<size_t>(part.struct_name.index)];
      if (nested.tail != nullptr || !nested.parts.empty() || !nested.variants.empty() ||
          nested.bytes % (c.byte_unit ? 2 : 4) != 0) {
        context.Report(
            Code::kBadPart, part.struct_name.where,
            absl::StrCat("\"", nested.name, "\" has no fixed size, so it cannot be a part"));
      } else if (nested.byte_unit != c.byte_unit) {
        context.Report(Code::kBadPart, part.struct_name.where,
                       absl::StrCat("the size of \"", nested.name, "\" is given in ",
                                    nested.byte_unit ? "bytes" : "dwords", ", that of \"", c.name,
                                    "\" is not; a part counts as what it is a part of"));
      }
    }
    reader.Resolve(part.when, top);
    reader.Resolve(part.repeat, top);
    if (part.repeat.is.kind == Expression::Kind::kState) {
      context.Report(Code::kBadPart, part.repeat.where, "a part repeats as its own header says");
    }
  }
}

void ResolvePad(Context& context, ExpressionReader& reader, Container& c) {
  if (c.pad.to != 0) {
    const uint32_t unit = c.byte_unit ? 2 : 4;
    if (c.parts.empty() || c.length_field != nullptr || c.pad.to % unit != 0 ||
        !IsPowerOfTwo(c.pad.to)) {
      context.Report(
          Code::kBadPart, c.pad.where,
          absl::StrCat("padding must follow the parts of a packet without a length, up to a "
                       "power of two of at least ",
                       unit, " bytes"));
    }
    reader.Resolve(c.pad.when, {&c, nullptr});
  }
}

}  // namespace

void ResolveParts(Context& context, ExpressionReader& reader, Container& c) {
  ResolveVariants(context, reader, c);
  ResolvePartsOnly(context, reader, c);
  ResolvePad(context, reader, c);
}

}  // namespace packsmith::model
