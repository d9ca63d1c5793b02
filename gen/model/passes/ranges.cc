#include "gen/model/passes/ranges.h"

#include <tuple>

#include "absl/strings/str_cat.h"
#include "gen/model/ast/facts.h"

namespace packsmith::model {

void CheckRange(Context& context, const Item& item) {
  if (item.type == FieldType::kStruct) return;
  if ((item.min && item.max && *item.min > *item.max) ||
      (item.min_real && item.max_real && *item.min_real > *item.max_real)) {
    context.Report(Code::kBadRange, context.At(item.where, "min"), "min is more than max");
    return;
  }
  for (const auto& [name, whole, real] : {std::make_tuple("min", item.min, item.min_real),
                                          std::make_tuple("max", item.max, item.max_real)}) {
    if (whole && (*whole < Least(item) || *whole > Most(item))) {
      context.Report(Code::kBadRange, context.At(item.where, name),
                     absl::StrCat(name, " is no value that the field can hold, ", Least(item),
                                  " to ", Most(item)));
    } else if (real && !FitsReal(item, *real)) {
      context.Report(Code::kBadRange, context.At(item.where, name),
                     absl::StrCat(name, " is no value that the field can hold"));
    }
  }
  const bool below_or_above =
      (item.default_value &&
       ((item.min && static_cast<int64_t>(*item.default_value) < *item.min) ||
        (item.max && static_cast<int64_t>(*item.default_value) > *item.max))) ||
      (item.default_real && ((item.min_real && *item.default_real < *item.min_real) ||
                             (item.max_real && *item.default_real > *item.max_real)));
  if (below_or_above) {
    context.Report(Code::kBadRange, item.default_text.where,
                   "the default is less than min or more than max");
  } else if (item.nonzero != NotZero::kMayBeZero && item.default_value == uint64_t{0}) {
    context.Report(Code::kBadRange, item.default_text.where,
                   "the default is 0, and nonzero forbids that");
  } else if (item.default_value && item.multiple != 0 && *item.default_value % item.multiple != 0) {
    context.Report(Code::kBadRange, item.default_text.where,
                   absl::StrCat("the default is no multiple of ", item.multiple));
  }
}

}  // namespace packsmith::model
