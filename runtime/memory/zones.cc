#include "runtime/memory/zones.h"

#include <algorithm>
#include <bit>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace packsmith::gpu {
namespace {

constexpr uint64_t kPage = 4 * kKiB;

absl::Status Wrong(const ZoneRow& row, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrFormat("zone \"%s\": %s", row.name, what));
}

}  // namespace

absl::StatusOr<std::vector<Zone>> LayOutZones(absl::Span<const ZoneRow> rows,
                                              const ZoneOptions& options) {
  std::vector<Zone> zones;
  uint64_t previous_end = 0;
  for (const ZoneRow& row : rows) {
    if (options.verx10 < row.from_verx10 || options.verx10 > row.to_verx10) continue;
    if (!std::has_single_bit(row.alignment)) {
      return Wrong(row,
                   absl::StrFormat("an alignment must be a power of two, not 0x%x", row.alignment));
    }
    const uint64_t mask = row.alignment - 1;
    if (row.begin == kAfterPrevious && previous_end > ~mask) {
      return Wrong(row, absl::StrFormat("no address after 0x%x has an alignment of 0x%x",
                                        previous_end, row.alignment));
    }
    Zone zone{row.name, row.begin == kAfterPrevious ? (previous_end + mask) & ~mask : row.begin, 0};
    const uint64_t top = std::min(options.top, row.size == kRest ? row.limit : options.top);
    const uint64_t least = row.size == kRest ? row.below_top : row.size;
    // No subtraction below goes under zero, no addition past 2^64.
    if (zone.begin >= top || top - zone.begin < least ||
        (row.size == kRest && top - zone.begin == least)) {
      if (row.optional) continue;
      return Wrong(row, absl::StrFormat("0x%x bytes from 0x%x do not fit below 0x%x", least,
                                        zone.begin, top));
    }
    zone.end = row.size == kRest ? top - row.below_top : zone.begin + row.size;
    if (((zone.begin | zone.end) & (kPage - 1)) != 0 || (zone.begin & mask) != 0) {
      return Wrong(row, absl::StrFormat("0x%x..0x%x are not whole pages, or not aligned to 0x%x",
                                        zone.begin, zone.end - 1, row.alignment));
    }
    for (const Zone& other : zones) {
      if (other.name == zone.name) return Wrong(row, "another zone has that name");
      if (zone.begin < other.end && other.begin < zone.end) {
        return Wrong(row, absl::StrFormat("0x%x..0x%x overlaps \"%s\", 0x%x..0x%x", zone.begin,
                                          zone.end - 1, other.name, other.begin, other.end - 1));
      }
    }
    previous_end = zone.end;
    zones.push_back(std::move(zone));
  }
  if (zones.empty()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("no row of the table is for generation %d/10", options.verx10));
  }
  return zones;
}

}  // namespace packsmith::gpu
