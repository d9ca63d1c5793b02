#include "runtime/base/number_map.h"

#include <algorithm>
#include <utility>

namespace packsmith {

size_t NumberMap::SlotOf(uint32_t key) const {
  // Fibonacci hashing: neighbouring keys are spread far apart.
  const size_t mask = slots_.size() - 1;
  size_t slot = (uint64_t{key} * 0x9e3779b97f4a7c15u >> 32) & mask;
  while (slots_[slot] != 0 && slots_[slot] >> 32 != key) slot = (slot + 1) & mask;
  return slot;
}

uint32_t NumberMap::Find(uint32_t key) const {
  if (slots_.empty()) return kNone;
  // An empty slot has 0, and 0 minus one is kNone.
  return static_cast<uint32_t>(slots_[SlotOf(key)]) - 1;
}

void NumberMap::Add(uint32_t key, uint32_t place) {
  if (2 * (count_ + 1) > slots_.size()) Grow();
  slots_[SlotOf(key)] = uint64_t{key} << 32 | (place + 1);
  ++count_;
}

void NumberMap::Grow() {
  const std::vector<uint64_t> old =
      std::exchange(slots_, std::vector<uint64_t>(std::max<size_t>(64, 2 * slots_.size())));
  for (const uint64_t slot : old) {
    if (slot != 0) slots_[SlotOf(static_cast<uint32_t>(slot >> 32))] = slot;
  }
}

void NumberMap::Clear() {
  std::fill(slots_.begin(), slots_.end(), 0);
  count_ = 0;
}

}  // namespace packsmith
