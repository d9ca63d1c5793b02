#include "gen/model/passes/container_sizes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gen/model/ast/field_limits.h"

namespace packsmith::model {

void ComputeSize(Context& context, Container& c) {
  for (const Item& item : c.items) {
    const Group* const group = item.group();
    if (group != nullptr && group->tail) c.tail = group;
  }
  if (c.bytes == 0) {  // dwords="variable"
    uint64_t end = 0;
    for (const Item& item : c.items) end = std::max(end, EndOf(item));
    const uint32_t unit = c.byte_unit ? 2 : 4;
    c.bytes = static_cast<uint32_t>(
        std::min<uint64_t>((end + 8 * unit - 1) / (8 * unit) * unit, uint64_t{1} << 17));
    if (c.bytes == 0) {
      if (c.tail == nullptr && c.parts.empty()) {
        context.Report(Code::kMissingLength, c.where,
                       absl::StrCat("\"", c.name, "\" has no size and no fields that give it one"));
      }
      if (c.tail == nullptr) c.bytes = unit;
    }
  }
  c.max_bytes = c.bytes;
  if (c.variable && !c.variants.empty()) {
    context.Report(
        Code::kBadVariant, c.variants[0].where,
        "a packet with variants has a fixed shortest form; give dwords=\"…\" or bytes=\"…\"");
  }
  for (const Variant& variant : c.variants) {
    if (variant.bytes <= c.bytes || variant.bytes % (c.byte_unit ? 2 : 4) != 0) {
      context.Report(
          Code::kBadVariant, variant.where,
          absl::StrCat("a variant is longer than the ", c.bytes, " bytes of its packet"));
    } else if (c.bytes % 4 != 0 || variant.bytes % 4 != 0) {
      context.Report(Code::kBadVariant, variant.where,
                     "a packet that has variants, and each of them, is a whole number of dwords");
    }
    c.max_bytes = std::max(c.max_bytes, variant.bytes);
  }
  // Of several whose condition holds the longest counts; trying them in order finds it.
  std::stable_sort(c.variants.begin(), c.variants.end(),
                   [](const Variant& a, const Variant& b) { return a.bytes > b.bytes; });
  if (c.tail != nullptr && (!c.variants.empty() || !c.parts.empty())) {
    context.Report(Code::kContradiction, c.tail->where,
                   "a packet has a tail, or variants, or parts; not two of them");
  }
  if (!c.variants.empty() && !c.parts.empty()) {
    context.Report(Code::kContradiction, c.variants[0].where,
                   "a packet has variants or parts, not both");
  }
}

}  // namespace packsmith::model
