#include "gen/model/passes/tails.h"

#include "absl/strings/str_cat.h"
#include "gen/model/ast/field_limits.h"

namespace packsmith::model {

void CheckTail(Context& context, const Container& c) {
  size_t tails = 0;
  for (const Item& item : c.items) {
    const Group* const tail = item.group();
    if (tail == nullptr || !tail->tail) continue;
    ++tails;
    const uint32_t unit = c.byte_unit ? 16 : 32;
    if (tail->width % unit != 0 || tail->bit % unit != 0) {
      context.Report(Code::kBadGroup, tail->where,
                     absl::StrCat("a tail starts at and has items of whole ",
                                  c.byte_unit ? "pairs of bytes" : "dwords"));
    }
    for (const Item& other : c.items) {
      if (&other != &item && EndOf(other) > tail->bit) {
        context.Report(Code::kBadGroup, tail->where,
                       absl::StrCat("a tail must come last, but \"", other.base().name,
                                    "\" ends after its start"));
      }
    }
    if (uint64_t{c.bytes} * 8 != tail->bit && !c.variable) {
      context.Report(
          Code::kBadGroup, tail->where,
          "the tail must start where the fixed part ends; dwords=\"variable\" derives that");
    }
  }
  if (tails > 1) context.Report(Code::kBadGroup, c.where, "a container has one tail at most");
}

}  // namespace packsmith::model
