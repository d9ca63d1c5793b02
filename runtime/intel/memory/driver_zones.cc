#include "runtime/intel/memory/driver_zones.h"

#include <cstdint>

namespace packsmith::intel {
namespace {

using gpu::kGiB, gpu::kKiB, gpu::kMiB;

constexpr uint64_t kPage = 4 * kKiB;

constexpr gpu::ZoneRow kIris[] = {
    // The size fields of STATE_BASE_ADDRESS hold at most one page less than 4 GiB; the first page
    // is left out to catch null pointers.
    {.name = "shader", .begin = kPage, .size = 4 * kGiB - 2 * kPage},
    {.name = "scratch", .begin = 4 * kGiB, .size = 8 * kMiB},
    {.name = "binder", .begin = 4 * kGiB + 8 * kMiB, .size = kGiB - 16 * kMiB},
    {.name = "surface", .begin = 5 * kGiB - 8 * kMiB, .size = 3 * kGiB - kPage},
    {.name = "border colors", .begin = 8 * kGiB, .size = 256 * kKiB},
    {.name = "dynamic",
     .begin = 8 * kGiB + 256 * kKiB,
     .size = 4 * kGiB - kPage - 256 * kKiB,
     .to_verx10 = 119},
    // Wa_2209859288: offsets of 2 GiB and more from the dynamic state base are treated as negative.
    {.name = "dynamic",
     .begin = 8 * kGiB + 256 * kKiB,
     .size = 2 * kGiB - 256 * kKiB,
     .from_verx10 = 120},
    // Prefetching reads ahead, so nothing is at the very top.
    {.name = "other", .begin = 12 * kGiB, .below_top = 4 * kGiB},
};

// Sizes by what each holds: most memory is in "other". As above, the first page is left out, and
// the end, which prefetching may reach.
constexpr gpu::ZoneRow kCompact[] = {
    {.name = "shader", .begin = kPage, .size = 512 * kMiB - kPage},
    {.name = "scratch", .size = 8 * kMiB},
    {.name = "binder", .size = 248 * kMiB},
    {.name = "surface", .size = 512 * kMiB},
    {.name = "border colors", .size = 256 * kKiB},
    {.name = "dynamic", .size = 512 * kMiB - 256 * kKiB},
    {.name = "other", .size = 2 * kGiB},
};

// Sizes are the driver's; pools that may be anywhere are consecutive here.
constexpr uint64_t kSparseBegin = uint64_t{0xf} << 44;
constexpr gpu::ZoneRow kAnv[] = {
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

}  // namespace

absl::Span<const gpu::ZoneRow> IrisZones() { return kIris; }
absl::Span<const gpu::ZoneRow> CompactZones() { return kCompact; }
absl::Span<const gpu::ZoneRow> ZonesFor(uint64_t address_space) {
  return address_space <= 16 * kGiB ? CompactZones() : IrisZones();
}
absl::Span<const gpu::ZoneRow> AnvZones() { return kAnv; }

}  // namespace packsmith::intel
