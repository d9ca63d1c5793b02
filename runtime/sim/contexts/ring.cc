#include "runtime/sim/contexts/ring.h"

#include <vector>

#include "absl/strings/str_format.h"

namespace packsmith::sim {
namespace {

// Tails are multiples of 8 bytes.
constexpr uint32_t kAlign = 8;

void AppendDword(std::vector<uint8_t>& to, uint32_t dword) {
  for (int i = 0; i < 4; ++i) to.push_back(static_cast<uint8_t>(dword >> 8 * i));
}

}  // namespace

absl::StatusOr<Ring> Ring::Make(MemoryAccess& memory, uint32_t space, uint64_t address,
                                uint32_t bytes) {
  if (bytes < 4096 || bytes > kMostBytes || (bytes & (bytes - 1)) != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a ring of %d bytes: the size must be a power of two from 4096 to %d", bytes, kMostBytes));
  }
  if (address % 4096 != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a ring at 0x%x: the address must be a multiple of 4096", address));
  }
  return Ring(memory, space, address, bytes);
}

uint32_t Ring::Free(uint32_t head) const {
  // What the engine has not read, and the reserve before it.
  const uint32_t used = (tail_ - head) & (bytes_ - 1);
  const uint32_t taken = used + kReserve;
  return taken < bytes_ ? bytes_ - taken : 0;
}

uint32_t Ring::Needed(size_t dwords) const {
  if (dwords > bytes_ / sizeof(uint32_t)) return ~0u;
  const auto size = static_cast<uint32_t>((dwords * sizeof(uint32_t) + kAlign - 1) & ~size_t{7});
  const uint32_t to_end = bytes_ - tail_;
  return size > to_end ? to_end + size : size;
}

absl::StatusOr<uint32_t> Ring::Write(absl::Span<const uint32_t> dwords, uint32_t head) {
  if (head >= bytes_ || head % sizeof(uint32_t) != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "head 0x%x must be a multiple of 4 below the ring's size, 0x%x", head, bytes_));
  }
  if (dwords.size() > most_bytes() / sizeof(uint32_t)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a request of %d dwords: at most %d bytes are written at once to a ring of %d",
        dwords.size(), most_bytes(), bytes_));
  }
  const uint32_t needed = Needed(dwords.size());
  if (needed > Free(head)) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "the ring has no room: %d bytes are needed, %d are free", needed, Free(head)));
  }
  std::vector<uint8_t> bytes;
  bytes.reserve(needed);
  for (const uint32_t dword : dwords) AppendDword(bytes, dword);
  while (bytes.size() % kAlign != 0) AppendDword(bytes, 0);
  const uint32_t fill = needed - static_cast<uint32_t>(bytes.size());
  const std::vector<uint8_t> noops(fill);
  const uint32_t start = fill != 0 ? 0 : tail_;
  // The engine reads up to the tail only: until that moves, a failure has no effect.
  if (memory_->Write(space_, address_ + tail_, noops) != noops.size() ||
      memory_->Write(space_, address_ + start, bytes) != bytes.size()) {
    return absl::NotFoundError(
        absl::StrFormat("the ring at 0x%x of space %d is not all in memory", address_, space_));
  }
  tail_ = (start + static_cast<uint32_t>(bytes.size())) & (bytes_ - 1);
  return tail_;
}

absl::Status Ring::Reset(uint32_t tail) {
  if (tail >= bytes_ || tail % kAlign != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "tail 0x%x must be a multiple of 8 below the ring's size, 0x%x", tail, bytes_));
  }
  tail_ = tail;
  return absl::OkStatus();
}

}  // namespace packsmith::sim
