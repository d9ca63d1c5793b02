#include "runtime/hang/buffer_place.h"

#include <algorithm>

namespace packsmith::hang {
namespace {

// The buffer's size after inflating.
uint64_t SizeOf(const Dump& dump, const Buffer& buffer) {
  if (!buffer.size_is_memory) return buffer.size;
  const Memory::Segment* segment = dump.memory.Find(buffer.space, buffer.address);
  if (segment == nullptr) return 0;
  const uint64_t skip = buffer.address - segment->address;
  const uint64_t size = dump.memory.Resolve(*segment).memory_size;
  return std::min(buffer.size, size < skip ? 0 : size - skip);
}

Neighbor NeighborOf(const Dump& dump, const Buffer& buffer, uint64_t distance) {
  return {buffer.name,   buffer.address, SizeOf(dump, buffer), distance,
          buffer.tiling, buffer.access,  buffer.flags};
}

}  // namespace

Place PlaceOf(const Dump& dump, uint32_t space, uint64_t address) {
  Place place;
  place.space = space;
  place.address = address;
  place.mapped =
      dump.memory.Find(space, address) != nullptr && !dump.memory.Read(space, address, 1).empty();
  if (const Buffer* holder = dump.FindBuffer(space, address)) {
    place.holder = NeighborOf(dump, *holder, address - holder->address);
    return place;
  }
  const Buffer* below = nullptr;
  const Buffer* above = nullptr;
  for (const Buffer& buffer : dump.buffers) {
    if (buffer.space != space) continue;
    // A buffer's real size may be known only when it is inflated: of those below, the one that
    // begins last is resolved.
    if (buffer.address <= address) {
      if (below == nullptr || buffer.address >= below->address) below = &buffer;
    } else if (above == nullptr || buffer.address < above->address) {
      above = &buffer;
    }
  }
  if (below != nullptr) {
    const uint64_t end = below->address + SizeOf(dump, *below);
    place.below = NeighborOf(dump, *below, end > address ? 0 : address - end);
  }
  if (above != nullptr) place.above = NeighborOf(dump, *above, above->address - address);
  return place;
}

}  // namespace packsmith::hang
