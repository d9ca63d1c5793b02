#include "gen/model/passes/length_fields.h"

#include "absl/strings/str_cat.h"
#include "gen/model/ast/field_limits.h"

namespace packsmith::model {

void ResolveLength(Context& context, Container& c) {
  if (!c.length_name.empty()) {
    for (const Item& item : c.items) {
      const Field* const field = item.field();
      if (field != nullptr && field->name == c.length_name.text) c.length_field = field;
    }
    if (c.length_field == nullptr) {
      context.Report(Code::kBadLengthField, c.length_name.where,
                     absl::StrCat("\"", c.name, "\" has no field \"", c.length_name.text, "\""));
    } else if (c.length_field->type != FieldType::kUint || c.length_field->width > 16 ||
               c.length_field->forced || c.length_field->bit + c.length_field->width > 32 ||
               HasEncoding(*c.length_field)) {
      context.Report(Code::kBadLengthField, c.length_field->where,
                     "a length is a plain uint of at most 16 bits in the first dword");
    } else {
      const uint32_t unit = c.byte_unit ? 1 : 4;
      for (const uint32_t bytes : {c.bytes, c.max_bytes}) {
        const uint32_t length = bytes / unit;
        if (c.variable ||
            (length >= c.length_bias && length - c.length_bias <= Ones(c.length_field->width))) {
          continue;
        }
        context.Report(
            Code::kBadLengthField, c.length_field->where,
            absl::StrCat("a length of ", length, unit == 1 ? " bytes" : " dwords", " with bias ",
                         c.length_bias, " does not fit ", c.length_field->width, " bits"));
        break;
      }
    }
    return;
  }
  if (c.kind == ContainerKind::kPacket && c.tail != nullptr) {
    context.Report(
        Code::kMissingLength, c.tail->where,
        absl::StrCat("\"", c.name, "\" repeats as its length says, but has no length=\"FIELD\""));
  }
  if (c.kind == ContainerKind::kPacket && c.variable && c.tail == nullptr && c.parts.empty()) {
    context.Report(
        Code::kMissingLength, c.where,
        absl::StrCat("\"", c.name, "\" is variable and has neither length=\"FIELD\" nor parts"));
  }
}

}  // namespace packsmith::model
