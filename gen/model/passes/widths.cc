#include "gen/model/passes/widths.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gen/model/ast/facts.h"

namespace packsmith::model {

void CheckWidth(Context& context, Item& item) {
  const auto demand = [&](bool good, absl::string_view what) {
    if (!good) {
      context.Report(Code::kBadWidth, context.At(item.where, "bits"),
                     absl::StrCat(what, ", \"", item.name, "\" has ", item.width));
    }
  };
  switch (item.type) {
    case FieldType::kBool:
      demand(item.width == 1, "a bool has one bit");
      break;
    case FieldType::kFloat:
      demand(item.width == 32, "a float has 32 bits");
      break;
    case FieldType::kHalf:
      demand(item.width == 16, "a half has 16 bits");
      break;
    case FieldType::kStruct: {
      const Container& nested = context.model.containers[static_cast<size_t>(item.type_index)];
      if (nested.tail != nullptr || !nested.parts.empty() || !nested.variants.empty()) {
        context.Report(
            Code::kBadType, item.type_name.where,
            absl::StrCat("\"", nested.name, "\" has no fixed size, so it cannot be nested"));
      }
      uint64_t needed = 0;
      for (const Item& inner : nested.items) needed = std::max(needed, EndOf(inner));
      if (item.width > nested.bytes * 8 || item.width < needed) {
        context.Report(Code::kBadWidth, context.At(item.where, "bits"),
                       absl::StrCat("\"", nested.name, "\" describes ", needed, " of ",
                                    nested.bytes * 8, " bits, the field has ", item.width));
      }
      break;
    }
    case FieldType::kUfixed:
    case FieldType::kSfixed:
      demand(item.width <= 32, "fixed point has at most 32 bits");
      break;
    case FieldType::kEnum:
      demand(item.width <= 32, "a field with the values of an enumeration has at most 32 bits");
      break;
    default:
      demand(item.width <= 64, "a field has at most 64 bits");
      break;
  }
  if (item.type != FieldType::kStruct && item.width > 64) item.width = 64;
}

void CheckEncoding(Context& context, Item& item) {
  Encoding& e = item.encoding;
  const bool address = item.type == FieldType::kAddress || item.type == FieldType::kOffset;
  // An address stands in its place: the bits below it are implied to be zero.
  if (address && !item.shift_given) e.shift = item.bit % 32;
  const bool plain = item.type == FieldType::kUint || item.type == FieldType::kOffset;
  const bool integer = address || plain;
  if (!plain && (e.minus != 0 || e.log2 || e.groups != 0 || e.align != 0)) {
    context.Report(Code::kBadEncoding, item.where,
                   "minus, log2, groups and align are for uint and offset");
  } else if (!integer && (e.shift != 0 || item.multiple != 0)) {
    context.Report(Code::kBadEncoding, item.where,
                   "shift and multiple are for uint, address and offset");
  }
  if (item.clamp && (item.type != FieldType::kUfixed || !item.max_real || item.min_real)) {
    context.Report(Code::kBadEncoding, item.where,
                   "clamp is for unsigned fixed point with max and without min");
  }
  if ((e.minus != 0) + e.log2 + (e.groups != 0) > 1) {
    context.Report(Code::kBadEncoding, item.where, "minus, log2 and groups exclude each other");
  }
  if ((e.log2 || e.groups != 0) && e.shift != 0) {
    context.Report(Code::kBadEncoding, item.where, "log2 and groups exclude shift");
  }
  if (e.log2 && item.width > 6) {
    context.Report(Code::kBadEncoding, item.where, "a logarithm has at most 6 bits");
  }
  if (e.groups != 0 && (item.width > 31 || (Ones(item.width) + 1) * e.groups > 0xffffffffu)) {
    context.Report(Code::kBadEncoding, item.where, "what groups count must fit 32 bits");
  }
  if (e.align != 0 && !IsPowerOfTwo(e.align)) {
    context.Report(Code::kBadEncoding, context.At(item.where, "align"),
                   "align must be a power of two");
  }
  if (e.shift + item.width > 64 && integer) {
    context.Report(Code::kBadEncoding, item.where, "shifted values must fit 64 bits");
    e.shift = 0;
  }
}

}  // namespace packsmith::model
