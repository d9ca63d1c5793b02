#include "runtime/sim/registers.h"

#include <algorithm>

namespace packsmith::sim {

uint32_t EngineOffset(const tables::Tables& tables, uint32_t engine, uint32_t offset) {
  const uint32_t first = tables.engines()[0].registers;
  const uint32_t own = tables.engines()[engine].registers;
  if (own == 0 || offset < first || offset - first >= kEngineRegisterBytes) return offset;
  return offset - first + own;
}

Registers::Registers(const tables::Tables& tables) {
  // Of the first engine the offsets are described; the others have the same registers.
  const auto for_each_engine = [&](uint32_t offset, const auto& visit) {
    for (uint32_t i = 0; i < tables.engines().size(); ++i) visit(EngineOffset(tables, i, offset));
  };
  for (const tables::Container& container : tables.containers()) {
    if (container.kind != tables::ContainerKind::kRegister) continue;
    if (container.masked != 0) {
      for_each_engine(container.register_offset, [&](uint32_t at) { masked_.insert(at); });
    }
    if (container.privileged != 0) {
      for (uint32_t byte = 0; byte < container.bytes; byte += 4) {
        for_each_engine(container.register_offset + byte,
                        [&](uint32_t at) { privileged_.insert(at); });
      }
    }
    AddAllowance(tables, container);
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
        for_each_engine(container.register_offset + (leaf.bit + bit) / 8,
                        [&](uint32_t at) { clocks_[at] = bit; });
      }
    }
  }
}

void Registers::AddAllowance(const tables::Tables& tables, const tables::Container& of) {
  Allowance found;
  for (const tables::Leaf& leaf : tables.leaves(of.leaves)) {
    if (leaf.extra == tables::kNone || leaf.bit + leaf.width > 32) continue;
    const uint32_t mask = ((uint64_t{1} << leaf.width) - 1) << leaf.bit;
    switch (tables.extra(leaf.extra).meaning) {
      case tables::Meaning::kAllowedRegister:
        found.address_mask = mask;
        found.address_shift = leaf.bit;
        found.scale = leaf.shift;
        break;
      case tables::Meaning::kAllowedRange:
        found.range_mask = mask;
        found.range_shift = leaf.bit;
        break;
      case tables::Meaning::kAllowedNot:
        found.denied |= mask;
        break;
      default:
        break;
    }
  }
  if (found.address_mask == 0) return;
  for (uint32_t i = 0; i < tables.engines().size(); ++i) {
    found.offset = EngineOffset(tables, i, of.register_offset);
    allowances_.push_back(found);
  }
}

bool Registers::IsPrivileged(uint32_t offset) const {
  if (!privileged_.contains(offset)) return false;
  return std::none_of(allowances_.begin(), allowances_.end(), [&](const Allowance& allowance) {
    const std::optional<uint32_t> value = Written(allowance.offset);
    if (!value || *value == 0 || (*value & allowance.denied) != 0) return false;
    const uint32_t first = (*value & allowance.address_mask) >> allowance.address_shift
                                                                    << allowance.scale;
    const uint32_t range = (*value & allowance.range_mask) >> allowance.range_shift;
    const uint64_t bytes = range < 8 ? uint64_t{4} << 2 * range : 4;
    return offset >= first && offset - first < bytes;
  });
}

void Registers::Restore(const absl::flat_hash_map<uint32_t, uint32_t>& values) {
  absl::erase_if(values_, [&](const auto& entry) { return !privileged_.contains(entry.first); });
  for (const auto& [offset, value] : values) {
    if (!privileged_.contains(offset)) values_[offset] = value;
  }
}

bool Registers::Says(tables::Meaning meaning) const {
  return std::any_of(choices_.begin(), choices_.end(), [&](const Choice& choice) {
    return choice.meaning == meaning && (Read(choice.offset) & choice.mask) != 0;
  });
}

uint32_t Registers::Read(uint32_t offset) const { return ReadAt(offset, nullptr); }

uint64_t Registers::Read64(uint32_t offset) const {
  if (!live_clock_ || !clocks_.contains(offset)) {
    return Read(offset) | uint64_t{Read(offset + 4)} << 32;
  }
  const uint64_t ticks = clock();
  return ReadAt(offset, &ticks) | uint64_t{ReadAt(offset + 4, &ticks)} << 32;
}

uint32_t Registers::ReadAt(uint32_t offset, const uint64_t* ticks) const {
  const auto found_clock = clocks_.find(offset);
  if (found_clock != clocks_.end()) {
    return static_cast<uint32_t>((ticks == nullptr ? clock() : *ticks) >> found_clock->second);
  }
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
