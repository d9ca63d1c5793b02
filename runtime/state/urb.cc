#include "runtime/state/urb.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace packsmith::gpu {
namespace {

constexpr unsigned kVertex = 0, kHull = 1, kDomain = 2, kGeometry = 3;
// Entries of fewer units than this come in eights.
constexpr unsigned kSmallEntry = 9, kSmallGranularity = 8;
// A vertex shader before tessellation needs as many entries on Gfx8.
constexpr unsigned kTessellatedVertices = 192;

uint64_t ChunksOf(uint64_t entries, uint64_t units) {
  return (entries * units * kUrbUnitBytes + kUrbChunkBytes - 1) / kUrbChunkBytes;
}

}  // namespace

absl::StatusOr<UrbPartition> PartitionUrb(const RenderDevice& device, unsigned urb_kb,
                                          const UrbDemand& demand) {
  const auto uses = [&](unsigned stage) { return demand.entry_units[stage] != 0; };
  if (!uses(kVertex)) {
    return absl::InvalidArgumentError("the vertex stage has entries always: how large are they?");
  }
  if (uses(kHull) != uses(kDomain)) {
    return absl::InvalidArgumentError(
        "hull and domain stage are used together: both have entries, or none");
  }
  const uint64_t all = uint64_t{urb_kb} * 1024 / kUrbChunkBytes;
  const uint64_t push = uint64_t{device.push_constant_kb} * 1024 / kUrbChunkBytes;
  // Where the first stage begins, and those that are not used.
  const uint64_t first = device.slices == 1 && (device.version == 80 || device.version >= 110)
                             ? std::max<uint64_t>(push, 4)
                             : push;

  std::array<uint64_t, kUrbStages> granularity, chunks = {}, wants = {};
  uint64_t needed = first, wanted = 0;
  for (unsigned i = 0; i < kUrbStages; ++i) {
    const uint64_t units = demand.entry_units[i];
    granularity[i] = units < kSmallEntry ? kSmallGranularity : 1;
    if (!uses(i)) continue;
    uint64_t least = device.least_entries[i];
    if (i == kVertex && uses(kDomain) && device.version == 80) least = kTessellatedVertices;
    least = (least + granularity[i] - 1) / granularity[i] * granularity[i];
    chunks[i] = ChunksOf(least, units);
    wants[i] = std::max(ChunksOf(device.most_entries[i], units), chunks[i]) - chunks[i];
    needed += chunks[i];
    wanted += wants[i];
  }
  if (needed > all) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the URB of ", device.name, " has ", all, " chunks of 8 KB, but ", needed,
        " are needed at least: ", first, " for push constants, ", chunks[kVertex],
        " for vertices, ", chunks[kHull], " for the hull, ", chunks[kDomain], " for the domain, ",
        chunks[kGeometry], " for the geometry stage; smaller entries need fewer"));
  }

  UrbPartition result;
  result.constrained = wanted > all - needed;
  uint64_t left = std::min(all - needed, wanted);
  for (unsigned i = 0; i < kGeometry && wanted != 0; ++i) {
    // The share, rounded to the nearest.
    const uint64_t more = (2 * wants[i] * left + wanted) / (2 * wanted);
    chunks[i] += more;
    left -= more;
    wanted -= wants[i];
  }
  chunks[kGeometry] += left;

  uint64_t next = first;
  for (unsigned i = 0; i < kUrbStages; ++i) {
    UrbPartition::Stage& stage = result.stages[i];
    stage.start = static_cast<unsigned>(first);
    if (!uses(i)) continue;
    stage.entry_units = demand.entry_units[i];
    stage.start = static_cast<unsigned>(next);
    const uint64_t fit = chunks[i] * kUrbChunkBytes / (uint64_t{stage.entry_units} * kUrbUnitBytes);
    stage.entries = static_cast<unsigned>(std::min<uint64_t>(fit, device.most_entries[i]) /
                                          granularity[i] * granularity[i]);
    next += chunks[i];
  }
  return result;
}

PushConstantPartition PartitionPushConstants(const RenderDevice& device,
                                             const PushConstantUsers& users) {
  PushConstantPartition result;
  const unsigned count = users.vertex + users.hull + users.domain + users.geometry + users.pixel;
  if (count == 0) return result;
  unsigned share = device.push_constant_kb / count;
  if (device.push_constant_kb == 32) share &= ~1u;
  unsigned used = 0;
  const auto take = [&](bool user, PushConstantPart& part, unsigned size) {
    if (!user) return;
    part = {used, size};
    used += size;
  };
  take(users.vertex, result.vertex, share);
  take(users.hull, result.hull, share);
  take(users.domain, result.domain, share);
  take(users.geometry, result.geometry, share);
  take(users.pixel, result.pixel, device.push_constant_kb - used);
  return result;
}

UrbDereference DereferenceOf(const UrbPartition& partition) {
  // The last stage says: geometry, else domain, else vertex.
  constexpr unsigned kEnoughOfDomain = 324, kEnoughOfVertices = 192;
  if (partition[UrbStage::kGeometry].entries != 0) return UrbDereference::kPerPolygon;
  const unsigned domain = partition[UrbStage::kDomain].entries;
  const bool few = domain != 0 ? domain < kEnoughOfDomain
                               : partition[UrbStage::kVertex].entries < kEnoughOfVertices;
  return few ? UrbDereference::kPerPolygon : UrbDereference::kBlock32;
}

}  // namespace packsmith::gpu
