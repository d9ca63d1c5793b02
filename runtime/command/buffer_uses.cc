#include "runtime/command/buffer_uses.h"

#include <algorithm>
#include <optional>

namespace packsmith::gpu {

size_t BufferUses::SlotOf(uint32_t buffer) const {
  // Fibonacci hashing: neighbouring handles are spread far apart.
  const size_t mask = slots_.size() - 1;
  size_t slot = (uint64_t{buffer} * 0x9e3779b97f4a7c15u >> 32) & mask;
  while (slots_[slot] != 0 && slots_[slot] >> 32 != buffer) slot = (slot + 1) & mask;
  return slot;
}

void BufferUses::Grow() {
  slots_.assign(std::max<size_t>(128, slots_.size() * 2), 0);
  for (size_t i = 0; i < count_; ++i) {
    if (all_[i].buffer < kSmallHandles) continue;
    slots_[SlotOf(all_[i].buffer)] = uint64_t{all_[i].buffer} << 32 | (i + 1);
  }
}

void BufferUses::GrowPlaces(uint32_t buffer) {
  size_t size = std::max<size_t>(256, places_.size());
  while (size <= buffer) size *= 2;
  places_.resize(size);
}

BufferUse& BufferUses::Append(uint32_t buffer) {
  if (count_ == all_.size()) all_.resize(std::max<size_t>(256, 2 * all_.size()));
  return all_[count_++] = {buffer, 0};
}

BufferUse& BufferUses::UseSmall(uint32_t buffer) {
  if (bits::rarely(buffer >= places_.size())) GrowPlaces(buffer);
  uint32_t& place = places_[buffer];
  if (IsAt(place, buffer)) return all_[place];
  place = count_;
  return Append(buffer);
}

BufferUse& BufferUses::UseLarge(uint32_t buffer) {
  if (large_ * 2 >= slots_.size()) Grow();
  uint64_t& slot = slots_[SlotOf(buffer)];
  if (slot == 0) {
    Append(buffer);
    ++large_;
    slot = uint64_t{buffer} << 32 | count_;
  }
  return all_[static_cast<uint32_t>(slot) - 1];
}

BufferUse& BufferUses::Use(uint32_t buffer, UseFlags flags) {
  BufferUse& use = buffer < kSmallHandles ? UseSmall(buffer) : UseLarge(buffer);
  use.flags |= flags;
  return use;
}

void BufferUses::Add(uint32_t buffer, UseFlags flags, bool remember) {
  Settle();
  const BufferUse& use = Use(buffer, flags);
  if (remember) Remember(buffer, use.flags);
}

void BufferUses::AddAllLater() {
  for (size_t i = 0; i < later_count_; ++i) {
    const uint64_t entry = static_cast<uint64_t>(later_[i]);
    Use(static_cast<uint32_t>(entry >> 2), static_cast<UseFlags>(entry & kBoth));
  }
  later_count_ = 0;
}

void BufferUses::DropSince(const Mark& mark) {
  if (later_count_ > mark.later) {
    later_count_ = mark.later;
  } else if (mark.later != 0 || later_count_ != 0 || count_ == mark.listed) {
    return;
  }
  // Of what is listed since then, all is of AddLater() while none was deferred. Places in the hash
  // table remain.
  while (mark.later == 0 && count_ > mark.listed && all_[count_ - 1].buffer < kSmallHandles) {
    --count_;
  }
  // It is not kept which of these were known before.
  ForgetRecent();
}

void BufferUses::ForgetRecent() {
  std::fill(std::begin(read_), std::end(read_), Handle{});
  std::fill(std::begin(written_), std::end(written_), Handle{});
}

std::optional<BufferUse> BufferUses::Find(uint32_t buffer) const {
  Settle();
  if (buffer < kSmallHandles) {
    if (buffer >= places_.size()) return std::nullopt;
    const uint32_t place = places_[buffer];
    if (!IsAt(place, buffer)) return std::nullopt;
    return all_[place];
  }
  if (slots_.empty()) return std::nullopt;
  const uint32_t found = static_cast<uint32_t>(slots_[SlotOf(buffer)]);
  if (found == 0) return std::nullopt;
  return all_[found - 1];
}

void BufferUses::Clear() {
  count_ = 0;
  if (large_ != 0) std::fill(slots_.begin(), slots_.end(), 0);
  large_ = 0;
  ForgetRecent();
  later_count_ = 0;
}

std::vector<uint32_t> Conflicts(const BufferUses& a, const BufferUses& b) {
  const BufferUses& shorter = a.size() <= b.size() ? a : b;
  const BufferUses& longer = a.size() <= b.size() ? b : a;
  std::vector<uint32_t> found;
  for (const BufferUse& use : shorter.all()) {
    const std::optional<BufferUse> other = longer.Find(use.buffer);
    if (other && (use.writes() || other->writes())) found.push_back(use.buffer);
  }
  return found;
}

}  // namespace packsmith::gpu
