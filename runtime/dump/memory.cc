#include "runtime/dump/memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>
#include <utility>

#include "absl/strings/str_format.h"

namespace packsmith {
namespace {

alignas(64) constexpr uint8_t kZeros[Memory::kZeroChunk] = {};

}  // namespace

class Memory::Deferred {
 public:
  Deferred(uint32_t space, uint64_t address, uint64_t most, std::shared_ptr<DeferredBytes> bytes)
      : bytes_(std::move(bytes)), most_(most), resolved_{space, address, 0, {}, nullptr} {}

  const Segment& Resolve() {
    std::call_once(once_, [this] {
      const absl::Span<const uint8_t> bytes = bytes_->Get();
      resolved_.bytes = bytes.first(static_cast<size_t>(std::min<uint64_t>(most_, bytes.size())));
      resolved_.memory_size = resolved_.bytes.size();
    });
    return resolved_;
  }

 private:
  const std::shared_ptr<DeferredBytes> bytes_;
  const uint64_t most_;
  std::once_flag once_;
  Segment resolved_;
};

absl::Status Memory::MapDeferred(uint32_t space, uint64_t address,
                                 std::shared_ptr<DeferredBytes> bytes, uint64_t most_size) {
  if (most_size == 0) return absl::OkStatus();
  return Insert({space,
                 address,
                 most_size,
                 {},
                 std::make_shared<Deferred>(space, address, most_size, std::move(bytes))});
}

const Memory::Segment& Memory::Resolve(const Segment& segment) const {
  return segment.deferred == nullptr ? segment : segment.deferred->Resolve();
}

absl::Status Memory::Map(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes,
                         uint64_t memory_size) {
  if (bytes.size() > memory_size) {
    return absl::InvalidArgumentError(
        absl::StrFormat("space %u, 0x%x: %u bytes given for a segment of %u; pass fewer bytes or a "
                        "larger segment",
                        space, address, bytes.size(), memory_size));
  }
  if (memory_size == 0) return absl::OkStatus();
  return Insert({space, address, memory_size, bytes, nullptr});
}

absl::Status Memory::Insert(const Segment& added) {
  const auto& [space, address, memory_size, bytes, deferred] = added;
  if (memory_size - 1 > ~address) {
    return absl::OutOfRangeError(absl::StrFormat(
        "space %u, 0x%x: a segment of 0x%x bytes goes past the end of the address space (2^64)",
        space, address, memory_size));
  }
  const auto next = segments_.lower_bound(Place{space, address});
  const Segment* overlapped = nullptr;
  if (next != segments_.end() && next->space == space && next->address <= added.last()) {
    overlapped = &*next;
  } else if (next != segments_.begin()) {
    const auto previous = std::prev(next);
    if (previous->Contains(space, address)) overlapped = &*previous;
  }
  if (overlapped != nullptr) {
    return absl::AlreadyExistsError(
        absl::StrFormat("space %u: 0x%x..0x%x overlaps the segment 0x%x..0x%x", space, address,
                        added.last(), overlapped->address, overlapped->last()));
  }
  segments_.insert(next, added);
  return absl::OkStatus();
}

const Memory::Segment* Memory::Find(uint32_t space, uint64_t address) const {
  const auto after = segments_.upper_bound(Place{space, address});
  if (after == segments_.begin()) return nullptr;
  const Segment& mapped = *std::prev(after);
  if (!mapped.Contains(space, address)) return nullptr;
  const Segment& candidate = Resolve(mapped);
  return candidate.Contains(space, address) ? &candidate : nullptr;
}

const Memory::Segment* Memory::FindFrom(uint32_t space, uint64_t address) const {
  const auto after = segments_.upper_bound(Place{space, address});
  if (after != segments_.begin()) {
    const Segment& mapped = *std::prev(after);
    if (mapped.Contains(space, address)) {
      const Segment& candidate = Resolve(mapped);
      if (candidate.Contains(space, address)) return &candidate;
    }
  }
  for (auto next = after; next != segments_.end() && next->space == space; ++next) {
    const Segment& candidate = Resolve(*next);
    if (candidate.memory_size != 0) return &candidate;
  }
  return nullptr;
}

absl::Span<const uint8_t> Memory::Read(uint32_t space, uint64_t address, uint64_t size) const {
  const Segment* segment = Find(space, address);
  if (segment == nullptr) return {};
  const uint64_t offset = address - segment->address;
  if (offset < segment->bytes.size()) {
    return segment->bytes.subspan(offset, std::min<uint64_t>(size, segment->bytes.size() - offset));
  }
  const uint64_t zeros = std::min<uint64_t>(segment->memory_size - offset, sizeof(kZeros));
  return absl::MakeConstSpan(kZeros, std::min(size, zeros));
}

size_t Memory::Copy(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const {
  size_t copied = 0;
  while (copied < out.size()) {
    const uint64_t at = address + copied;
    if (at < address) break;  // past 2^64
    const Segment* segment = Find(space, at);
    if (segment == nullptr) break;
    const uint64_t offset = at - segment->address;
    const size_t size = std::min<uint64_t>(out.size() - copied, segment->memory_size - offset);
    const size_t stored = offset < segment->bytes.size()
                              ? std::min<uint64_t>(size, segment->bytes.size() - offset)
                              : 0;
    if (stored != 0) std::memcpy(out.data() + copied, segment->bytes.data() + offset, stored);
    std::memset(out.data() + copied + stored, 0, size - stored);
    copied += size;
  }
  return copied;
}

}  // namespace packsmith
