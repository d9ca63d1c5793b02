#include "gen/model/passes/field_widths.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gen/model/ast/field_limits.h"

namespace packsmith::model {

void CheckWidth(Context& context, Field& field) {
  const auto demand = [&](bool good, absl::string_view what) {
    if (!good) {
      context.Report(Code::kBadWidth, context.At(field.where, "bits"),
                     absl::StrCat(what, ", \"", field.name, "\" has ", field.width));
    }
  };
  switch (field.type) {
    case FieldType::kBool:
      demand(field.width == 1, "a bool has one bit");
      break;
    case FieldType::kFloat:
      demand(field.width == 32, "a float has 32 bits");
      break;
    case FieldType::kHalf:
      demand(field.width == 16, "a half has 16 bits");
      break;
    case FieldType::kStruct: {
      const Container& nested = context.model.containers[static_cast<size_t>(field.type_index)];
      if (nested.tail != nullptr || !nested.parts.empty() || !nested.variants.empty()) {
        context.Report(
            Code::kBadType, field.type_name.where,
            absl::StrCat("\"", nested.name, "\" has no fixed size, so it cannot be nested"));
      }
      uint64_t needed = 0;
      for (const Item& inner : nested.items) needed = std::max(needed, EndOf(inner));
      if (field.width > nested.bytes * 8 || field.width < needed) {
        context.Report(Code::kBadWidth, context.At(field.where, "bits"),
                       absl::StrCat("\"", nested.name, "\" describes ", needed, " of ",
                                    nested.bytes * 8, " bits, the field has ", field.width));
      }
      break;
    }
    case FieldType::kUfixed:
    case FieldType::kSfixed:
      demand(field.width <= 32, "fixed point has at most 32 bits");
      break;
    case FieldType::kEnum:
      demand(field.width <= 32, "a field with the values of an enumeration has at most 32 bits");
      break;
    case FieldType::kUint:
    case FieldType::kInt:
    case FieldType::kAddress:
    case FieldType::kOffset:
      demand(field.width <= 64, "a field has at most 64 bits");
      break;
  }
  if (field.type != FieldType::kStruct && field.width > 64) field.width = 64;
}

void CheckEncoding(Context& context, Field& field) {
  Encoding& e = field.encoding;
  const bool address = field.type == FieldType::kAddress || field.type == FieldType::kOffset;
  // An address is stored in place: the bits below it are implied to be zero.
  if (address && !field.shift_given) e.shift = field.bit % 32;
  const bool plain = field.type == FieldType::kUint || field.type == FieldType::kOffset;
  const bool integer = address || plain;
  if (!plain && (e.minus != 0 || e.log2 || e.groups != 0 || e.align != 0)) {
    context.Report(Code::kBadEncoding, field.where,
                   "minus, log2, groups and align are for uint and offset");
  } else if (!integer && (e.shift != 0 || field.multiple != 0)) {
    context.Report(Code::kBadEncoding, field.where,
                   "shift and multiple are for uint, address and offset");
  }
  if (field.clamp && (field.type != FieldType::kUfixed || !field.max_real || field.min_real)) {
    context.Report(Code::kBadEncoding, field.where,
                   "clamp is for unsigned fixed point with max and without min");
  }
  if ((e.minus != 0) + e.log2 + (e.groups != 0) > 1) {
    context.Report(Code::kBadEncoding, field.where, "minus, log2 and groups exclude each other");
  }
  if ((e.log2 || e.groups != 0) && e.shift != 0) {
    context.Report(Code::kBadEncoding, field.where, "log2 and groups exclude shift");
  }
  if (e.log2 && field.width > 6) {
    context.Report(Code::kBadEncoding, field.where, "a logarithm has at most 6 bits");
  }
  if (e.groups != 0 && (field.width > 31 || (Ones(field.width) + 1) * e.groups > 0xffffffffu)) {
    context.Report(Code::kBadEncoding, field.where, "what groups count must fit 32 bits");
  }
  if (e.align != 0 && !IsPowerOfTwo(e.align)) {
    context.Report(Code::kBadEncoding, context.At(field.where, "align"),
                   "align must be a power of two");
  }
  if (e.shift + field.width > 64 && integer) {
    context.Report(Code::kBadEncoding, field.where, "shifted values must fit 64 bits");
    e.shift = 0;
  }
}

}  // namespace packsmith::model
