#include "runtime/memory/zones.h"

#include <algorithm>
#include <bit>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace packsmith::gpu {
namespace {

constexpr uint64_t kPage = 4 * kKiB;

constexpr ZoneRow kIris[] = {
    // The size fields of STATE_BASE_ADDRESS hold at most one page less than 4 GiB, of which the
    // first page is left out to catch null pointers.
    {.name = "shader", .begin = kPage, .size = 4 * kGiB - 2 * kPage},
    {.name = "scratch", .begin = 4 * kGiB, .size = 8 * kMiB},
    {.name = "binder", .begin = 4 * kGiB + 8 * kMiB, .size = kGiB - 16 * kMiB},
    {.name = "surface", .begin = 5 * kGiB - 8 * kMiB, .size = 3 * kGiB - kPage},
    {.name = "border colors", .begin = 8 * kGiB, .size = 256 * kKiB},
    {.name = "dynamic",
     .begin = 8 * kGiB + 256 * kKiB,
     .size = 4 * kGiB - kPage - 256 * kKiB,
     .to_verx10 = 119},
    // Wa_2209859288: offsets from the dynamic state base of 2 GiB and more are taken for negative.
    {.name = "dynamic",
     .begin = 8 * kGiB + 256 * kKiB,
     .size = 2 * kGiB - 256 * kKiB,
     .from_verx10 = 120},
    // Fetches run ahead of what is asked for, so nothing lies at the very top.
    {.name = "other", .begin = 12 * kGiB, .below_top = 4 * kGiB},
};

// Sizes are the driver's; pools that may lie anywhere follow each other here.
constexpr uint64_t kSparseBegin = uint64_t{0xf} << 44;
constexpr ZoneRow kAnv[] = {
    {.name = "general state", .begin = 2 * kMiB, .size = kGiB - 2 * kMiB},
    {.name = "low heap", .begin = kGiB, .size = kGiB},
    {.name = "binding tables", .begin = 3 * kGiB, .size = kGiB},
    // Scratch surfaces have pointers of their own from Gfx12.5 on, counted from the same base.
    {.name = "scratch surface states", .begin = 4 * kGiB, .size = 8 * kMiB, .from_verx10 = 125},
    {.name = "internal surface states", .begin = 4 * kGiB, .size = kGiB, .to_verx10 = 124},
    {.name = "internal surface states", .size = kGiB - 8 * kMiB, .from_verx10 = 125},
    {.name = "bindless surface states", .begin = 5 * kGiB, .size = 2 * kGiB, .to_verx10 = 124},
    // Shaders add a descriptor's offset to the lower half of its address only.
    {.name = "indirect descriptors", .begin = 8 * kGiB, .size = 3 * kGiB, .to_verx10 = 124},
    {.name = "indirect push descriptors", .begin = 11 * kGiB, .size = kGiB, .to_verx10 = 124},
    {.name = "instructions", .alignment = 4 * kGiB, .size = 2 * kGiB},
    // All of these are reached from the dynamic state base, by less than 4 GiB.
    {.name = "dynamic state", .alignment = 4 * kGiB, .size = kGiB},
    {.name = "dynamic visible", .size = 3 * kGiB - kPage, .to_verx10 = 124},
    {.name = "dynamic visible", .size = 2 * kGiB, .from_verx10 = 125},
    {.name = "push descriptor buffers", .size = kGiB - kPage, .from_verx10 = 125},
    {.name = "aux tables", .alignment = 4 * kGiB, .size = 2 * kGiB, .from_verx10 = 120},
    {.name = "high heap", .alignment = 4 * kGiB, .below_top = 4 * kGiB, .limit = kSparseBegin},
    {.name = "sparse", .begin = kSparseBegin, .below_top = 4 * kGiB, .optional = true},
};

absl::Status Wrong(const ZoneRow& row, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrFormat("zone \"%s\": %s", row.name, what));
}

}  // namespace

absl::Span<const ZoneRow> IrisZones() { return kIris; }
absl::Span<const ZoneRow> AnvZones() { return kAnv; }

absl::StatusOr<std::vector<Zone>> LayOutZones(absl::Span<const ZoneRow> rows,
                                              const ZoneOptions& options) {
  std::vector<Zone> zones;
  uint64_t previous_end = 0;
  for (const ZoneRow& row : rows) {
    if (options.verx10 < row.from_verx10 || options.verx10 > row.to_verx10) continue;
    if (!std::has_single_bit(row.alignment)) {
      return Wrong(row, absl::StrFormat("an alignment of 0x%x is no power of two", row.alignment));
    }
    const uint64_t mask = row.alignment - 1;
    if (row.begin == kAfterPrevious && previous_end > ~mask) {
      return Wrong(row, absl::StrFormat("no address behind 0x%x has an alignment of 0x%x",
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
      if (other.name == zone.name) return Wrong(row, "there is one of that name already");
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
