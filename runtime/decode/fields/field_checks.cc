#include "runtime/decode/fields/field_checks.h"

#include <algorithm>
#include <map>

namespace packsmith::decode {
namespace {

using tables::Leaf;

constexpr uint16_t kReserved = tables::kMustBeZero | tables::kMustBeOne;
constexpr uint16_t kLimited = tables::kNonzero | tables::kHasMin | tables::kHasMax;
constexpr uint16_t kChecked = kReserved | tables::kForced | kLimited;

}  // namespace

std::unique_ptr<FieldChecks::Checks> FieldChecks::Make(const tables::Container& container) const {
  auto checks = std::make_unique<Checks>();
  // Optional fields are left to the slow path.
  if (container.variants.count != 0) return checks;
  for (const Leaf& leaf : tables_.leaves(container.tail_leaves)) {
    if ((leaf.flags & kChecked) != 0) return checks;
  }
  // Tails end where the record does: a cut item is a fault.
  if (container.tail_size != 0) return checks;
  std::map<uint32_t, Word> words;
  uint64_t bits = uint64_t{container.bytes} * 8;
  for (const Leaf& leaf : tables_.leaves(container.leaves)) {
    bits = std::max(bits, uint64_t{leaf.bit} + leaf.width);
  }
  checks->bytes = (bits + 7) / 8;
  // Words are read whole: the last one ends with the record.
  const auto last = static_cast<uint32_t>(std::max<uint64_t>(checks->bytes, 4) - 4);
  for (const Leaf& leaf : tables_.leaves(container.leaves)) {
    if ((leaf.flags & kChecked) == 0) continue;
    if ((leaf.flags & (kReserved | tables::kForced)) != 0) {
      const uint64_t forced = (leaf.flags & tables::kForced) != 0 && (leaf.flags & kReserved) == 0
                                  ? tables_.extra(leaf.extra).forced
                                  : 0;
      if (leaf.width > 64 && (leaf.flags & kReserved) == 0) return checks;
      for (uint32_t i = 0; i < leaf.width; ++i) {
        const uint32_t bit = leaf.bit + i;
        const uint32_t offset = std::min(bit / 32 * 4, last);
        Word& word = words.try_emplace(offset, Word{offset, 0, 0}).first->second;
        const bool one = (leaf.flags & tables::kMustBeOne) != 0 || (i < 64 && (forced >> i & 1));
        const uint32_t mask = 1u << (bit - offset * 8);
        // Two fields that contradict each other: the slow path reports which.
        if ((word.mask & mask) != 0 && ((word.value & mask) != 0) != one) return checks;
        word.mask |= mask;
        if (one) word.value |= mask;
      }
      continue;
    }
    Limit limit{leaf.bit, leaf.width, 0, ~uint64_t{0}};
    if (leaf.width > 64) return checks;
    if ((leaf.flags & tables::kNonzero) != 0) limit.least = 1;
    if ((leaf.flags & (tables::kHasMin | tables::kHasMax)) != 0) {
      // Only where bits and value are the same number.
      const tables::Extra& extra = tables_.extra(leaf.extra);
      if (leaf.type != tables::LeafType::kUint || leaf.shift != 0 ||
          (leaf.flags & tables::kLog2) != 0 || extra.minus != 0 || extra.groups != 0) {
        return checks;
      }
      if ((leaf.flags & tables::kHasMin) != 0) {
        limit.least = std::max(limit.least, static_cast<uint64_t>(extra.min));
      }
      if ((leaf.flags & tables::kHasMax) != 0) limit.most = static_cast<uint64_t>(extra.max);
    }
    checks->limits.push_back(limit);
  }
  for (const auto& [offset, word] : words) {
    (void)offset;
    checks->words.push_back(word);
  }
  checks->usable = true;
  return checks;
}

}  // namespace packsmith::decode
