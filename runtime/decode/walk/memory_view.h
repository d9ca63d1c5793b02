// A dump's memory, read at addresses that alternate between a few places.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_MEMORY_VIEW_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_MEMORY_VIEW_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/dump/dump.h"

namespace packsmith::decode {

// Remembers the segments that were found last: streams, records and programs alternate.
class MemoryView {
 public:
  // `memory` must outlive the use of the view; segments that were found before are forgotten.
  void Begin(const Memory& memory) {
    memory_ = &memory;
    recent_.fill(nullptr);
  }

  const Memory& memory() const { return *memory_; }
  // As memory().Find().
  const Memory::Segment* Find(uint32_t space, uint64_t address) const {
    for (const Memory::Segment* segment : recent_) {
      if (segment != nullptr && segment->Contains(space, address)) return segment;
    }
    return FindAnew(space, address);
  }
  // Up to `size` bytes from `address` on that are in one piece, without a copy; may be empty.
  absl::Span<const uint8_t> There(uint32_t space, uint64_t address, uint64_t size) const {
    const Memory::Segment* const segment = Find(space, address);
    if (segment == nullptr || address - segment->address > segment->bytes.size()) return {};
    // A size may be of more bytes than this machine's pointers reach.
    const auto at = static_cast<size_t>(address - segment->address);
    return segment->bytes.subspan(
        at, static_cast<size_t>(std::min<uint64_t>(size, segment->bytes.size() - at)));
  }
  // `size` bytes in one piece; fewer where the memory ends. Valid until `scratch` changes.
  absl::Span<const uint8_t> Bytes(uint32_t space, uint64_t address, uint64_t size,
                                  std::vector<uint8_t>& scratch) const {
    const Memory::Segment* const segment = Find(space, address);
    if (segment == nullptr) return {};
    return BytesFrom(*segment, address, size, scratch);
  }
  // The same, of memory that begins in the segment.
  absl::Span<const uint8_t> BytesFrom(const Memory::Segment& segment, uint64_t address,
                                      uint64_t size, std::vector<uint8_t>& scratch) const {
    const uint64_t offset = address - segment.address;
    if (offset <= segment.bytes.size() && size <= segment.bytes.size() - offset) {
      return {segment.bytes.data() + offset, static_cast<size_t>(size)};
    }
    return BytesAcross(segment.space, address, size, scratch);
  }

 private:
  const Memory::Segment* FindAnew(uint32_t space, uint64_t address) const;
  // Of memory that is not in one piece.
  absl::Span<const uint8_t> BytesAcross(uint32_t space, uint64_t address, uint64_t size,
                                        std::vector<uint8_t>& scratch) const;

  const Memory* memory_ = nullptr;
  mutable std::array<const Memory::Segment*, 4> recent_{};
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_MEMORY_VIEW_H_
