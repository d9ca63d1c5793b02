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
  for (size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].buffer < kSmallHandles) continue;
    slots_[SlotOf(all_[i].buffer)] = uint64_t{all_[i].buffer} << 32 | (i + 1);
  }
}

void BufferUses::GrowPlaces(uint32_t buffer) {
  size_t size = std::max<size_t>(256, places_.size());
  while (size <= buffer) size *= 2;
  places_.resize(size);
}

BufferUse& BufferUses::UseSmall(uint32_t buffer) {
  if (bits::rarely(buffer >= places_.size())) GrowPlaces(buffer);
  uint32_t& place = places_[buffer];
  if (place < all_.size() && all_[place].buffer == buffer) return all_[place];
  place = static_cast<uint32_t>(all_.size());
  return all_.emplace_back(BufferUse{buffer, 0});
}

BufferUse& BufferUses::UseLarge(uint32_t buffer) {
  if (large_ * 2 >= slots_.size()) Grow();
  uint64_t& slot = slots_[SlotOf(buffer)];
  if (slot == 0) {
    all_.push_back({buffer, 0});
    ++large_;
    slot = uint64_t{buffer} << 32 | all_.size();
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
    const uint32_t buffer = static_cast<uint32_t>(static_cast<uint64_t>(later_[i]) >> 2);
    if (buffer >= places_.size() && buffer < kSmallHandles) GrowPlaces(buffer);
  }
  // With room for all, so that the loop calls nothing.
  size_t count = all_.size();
  all_.resize(count + later_count_);
  for (size_t i = 0; i < later_count_; ++i) {
    const uint64_t entry = static_cast<uint64_t>(later_[i]);
    const uint32_t buffer = static_cast<uint32_t>(entry >> 2);
    const UseFlags flags = static_cast<UseFlags>(entry & kBoth);
    if (bits::rarely(buffer >= kSmallHandles)) {
      all_.resize(count);
      Use(buffer, flags);
      count = all_.size();
      all_.resize(count + later_count_ - i);
      continue;
    }
    uint32_t& place = places_[buffer];
    if (place < count && all_[place].buffer == buffer) {
      all_[place].flags |= flags;
    } else {
      place = static_cast<uint32_t>(count);
      all_[count++] = {buffer, flags};
    }
  }
  all_.resize(count);
  later_count_ = 0;
}

void BufferUses::DropLater(size_t count) {
  if (later_count_ <= count) return;
  later_count_ = count;
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
    if (place >= all_.size() || all_[place].buffer != buffer) return std::nullopt;
    return all_[place];
  }
  if (slots_.empty()) return std::nullopt;
  const uint32_t found = static_cast<uint32_t>(slots_[SlotOf(buffer)]);
  if (found == 0) return std::nullopt;
  return all_[found - 1];
}

void BufferUses::Clear() {
  all_.clear();
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
