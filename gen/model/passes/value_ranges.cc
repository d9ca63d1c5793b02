#include "gen/model/passes/value_ranges.h"

#include <tuple>

#include "absl/strings/str_cat.h"
#include "gen/model/ast/field_limits.h"

namespace packsmith::model {

void CheckRange(Context& context, const Field& field) {
  if (field.type == FieldType::kStruct) return;
  if ((field.min && field.max && *field.min > *field.max) ||
      (field.min_real && field.max_real && *field.min_real > *field.max_real)) {
    context.Report(Code::kBadRange, context.At(field.where, "min"), "min is more than max");
    return;
  }
  for (const auto& [name, whole, real] : {std::make_tuple("min", field.min, field.min_real),
                                          std::make_tuple("max", field.max, field.max_real)}) {
    if (whole && (*whole < Least(field) || *whole > Most(field))) {
      context.Report(
          Code::kBadRange, context.At(field.where, name),
          absl::StrCat(name, " does not fit: the field holds ", Least(field), " to ", Most(field)));
    } else if (real && !FitsReal(field, *real)) {
      context.Report(Code::kBadRange, context.At(field.where, name),
                     absl::StrCat(name, " does not fit the field"));
    }
  }
  const bool below_or_above =
      (field.default_value &&
       ((field.min && static_cast<int64_t>(*field.default_value) < *field.min) ||
        (field.max && static_cast<int64_t>(*field.default_value) > *field.max))) ||
      (field.default_real && ((field.min_real && *field.default_real < *field.min_real) ||
                              (field.max_real && *field.default_real > *field.max_real)));
  if (below_or_above) {
    context.Report(Code::kBadRange, field.default_text.where,
                   "the default is less than min or more than max");
  } else if (field.nonzero != NotZero::kMayBeZero && field.default_value == uint64_t{0}) {
    context.Report(Code::kBadRange, field.default_text.where,
                   "the default is 0, and nonzero forbids that");
  } else if (field.default_value && field.multiple != 0 &&
             *field.default_value % field.multiple != 0) {
    context.Report(Code::kBadRange, field.default_text.where,
                   absl::StrCat("the default must be a multiple of ", field.multiple));
  }
}

}  // namespace packsmith::model
