#include "runtime/sim/registers.h"

#include <algorithm>

namespace packsmith::sim {

Registers::Registers(const tables::Tables& tables) {
  for (const tables::Container& container : tables.containers()) {
    if (container.kind != tables::ContainerKind::kRegister) continue;
    if (container.masked != 0) masked_.insert(container.register_offset);
    for (const tables::Leaf& leaf : tables.leaves(container.leaves)) {
      if (leaf.extra == tables::kNone) continue;
      const tables::Meaning meaning = tables.extra(leaf.extra).meaning;
      if (meaning == tables::Meaning::kTileYSource ||
          meaning == tables::Meaning::kTileYDestination) {
        choices_.push_back(
            {meaning, container.register_offset + leaf.bit / 32 * 4, uint32_t{1} << leaf.bit % 32});
      }
      if (meaning != tables::Meaning::kClock) continue;
      for (uint32_t bit = 0; bit < leaf.width; bit += 32) {
        clocks_[container.register_offset + (leaf.bit + bit) / 8] = bit;
      }
    }
  }
}

bool Registers::Says(tables::Meaning meaning) const {
  return std::any_of(choices_.begin(), choices_.end(), [&](const Choice& choice) {
    return choice.meaning == meaning && (Read(choice.offset) & choice.mask) != 0;
  });
}

uint32_t Registers::Read(uint32_t offset) const {
  const auto clock = clocks_.find(offset);
  if (clock != clocks_.end()) return static_cast<uint32_t>(clock_ >> clock->second);
  const auto found = values_.find(offset);
  return found == values_.end() ? 0 : found->second;
}

void Registers::Write(uint32_t offset, uint32_t value) {
  if (clocks_.contains(offset)) return;
  if (masked_.contains(offset)) {
    uint32_t& held = values_[offset];
    const uint32_t mask = value >> 16;
    held = (held & ~mask) | (value & mask);
    return;
  }
  values_[offset] = value;
}

std::optional<uint32_t> Registers::Written(uint32_t offset) const {
  const auto found = values_.find(offset);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

}  // namespace packsmith::sim
