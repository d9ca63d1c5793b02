// How a GPU's address space is divided, as tables.
//
// Pointers in packets are narrower than addresses: offsets of 32 bits from one base, of 24 bits
// from another, and so on. Their targets must be in certain places, so a driver divides the address
// space into zones. A division is a table of ZoneRow; those of two drivers for Intel's GPUs are in
// runtime/intel/memory/driver_zones.h, and a program can write its own:
//
//   constexpr ZoneRow kMine[] = {
//       {.name = "code", .begin = 0x1000, .size = kGiB - 0x1000},
//       {.name = "state", .alignment = 4 * kGiB, .size = 4 * kGiB},
//       {.name = "data", .below_top = 4 * kGiB},
//   };
//   absl::StatusOr<std::vector<Zone>> zones = LayOutZones(kMine, {.verx10 = 90});

#ifndef PACKSMITH_RUNTIME_MEMORY_ZONES_H_
#define PACKSMITH_RUNTIME_MEMORY_ZONES_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace packsmith::gpu {

inline constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

// For ZoneRow::begin: the end of the previous row, rounded up to `alignment`.
inline constexpr uint64_t kAfterPrevious = std::numeric_limits<uint64_t>::max();
// For ZoneRow::size: up to the top of the address space, minus `below_top`.
inline constexpr uint64_t kRest = 0;

// One line of a table. Sizes and addresses in bytes; addresses are not sign-extended.
struct ZoneRow {
  const char* name = "";
  uint64_t begin = kAfterPrevious;
  uint64_t alignment = 4096;  // of the zone's first address: a power of two
  uint64_t size = kRest;
  uint64_t below_top = 0;
  // For kRest: the upper limit of the zone's end, minus `below_top`.
  uint64_t limit = std::numeric_limits<uint64_t>::max();
  // The hardware that the row is for: generation times ten, both included. Rows for other hardware
  // take no room.
  int from_verx10 = 0, to_verx10 = std::numeric_limits<int>::max();
  // Left out if the address space is too small for it; otherwise that is an error.
  bool optional = false;
};

struct Zone {
  std::string name;
  uint64_t begin = 0;
  uint64_t end = 0;  // the byte after the last one

  uint64_t size() const { return end - begin; }
  friend bool operator==(const Zone&, const Zone&) = default;
};

struct ZoneOptions {
  int verx10 = 0;                    // which rows apply
  uint64_t top = uint64_t{1} << 48;  // size of the address space in bytes, from the kernel
};

// InvalidArgument, naming the row, for zones that overlap, go past the top, are empty, have the
// same name as another one, or do not consist of whole pages of 4 KiB.
absl::StatusOr<std::vector<Zone>> LayOutZones(absl::Span<const ZoneRow> rows,
                                              const ZoneOptions& options);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_ZONES_H_
