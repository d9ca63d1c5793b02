// What is requested of a RangeAllocator or an AddressSpace, and what they return.

#ifndef PACKSMITH_RUNTIME_MEMORY_RANGES_H_
#define PACKSMITH_RUNTIME_MEMORY_RANGES_H_

#include <cstdint>
#include <optional>

namespace packsmith::gpu {

// Which of all possible places is used.
enum class Placement : uint8_t {
  kBest,     // the lower end of the smallest hole that holds it: keeps large holes whole
  kLowest,   // the lowest address
  kHighest,  // the highest address
};

// Sizes and addresses in bytes.
struct RangeRequest {
  uint64_t size = 0;       // rounded up to the granule
  uint64_t alignment = 0;  // of the address: a power of two, or 0 for the granule's
  // A power of two whose multiples the range must not cross, or 0. For example, what is addressed
  // as base plus 32 bits must not cross 4 GiB.
  uint64_t boundary = 0;
  // Bytes that stay unused on either side, so that an overrun does not reach a neighbour. Rounded
  // up to the granule; at most 255 granules.
  uint64_t guard = 0;
  Placement placement = Placement::kBest;
  std::optional<uint64_t> address = {};  // exactly there, or an error
};

// Identifies an allocation for Free() and Lookup(). Unique in the process.
struct RangeHandle {
  uint64_t serial = 0;  // 0: no range
  uint32_t index = 0;

  friend bool operator==(const RangeHandle&, const RangeHandle&) = default;
};

struct Range {
  uint64_t address = 0;
  uint64_t size = 0;  // bytes, without guards
  RangeHandle handle = {};

  friend bool operator==(const Range&, const Range&) = default;
};

// Sizes in bytes.
struct RangeStatistics {
  uint64_t capacity = 0;     // all addresses
  uint64_t live_bytes = 0;   // of ranges, with their guards
  uint64_t guard_bytes = 0;  // of these, guards
  uint64_t peak_bytes = 0;   // the most that live_bytes has been
  uint64_t largest_hole = 0;
  uint64_t live_ranges = 0;
  uint64_t holes = 0;
  uint64_t allocations = 0;  // so far
  uint64_t failures = 0;     // that found no room

  uint64_t free_bytes() const { return capacity - live_bytes; }
  // 0: all free bytes are one hole; near 1: all holes are small.
  double fragmentation() const {
    if (free_bytes() == 0) return 0;
    return 1 - static_cast<double>(largest_hole) / static_cast<double>(free_bytes());
  }
};

// A part of a zone, as RangeAllocator::ForEach() visits them. A hole has no handle; `used`
// distinguishes a live range's guards, which are separate stretches, from holes.
struct RangeStretch {
  Range range;
  bool used = false;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_RANGES_H_
