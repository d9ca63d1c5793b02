#include "runtime/intel/state/urb.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/intel/device/generation_facts.h"

namespace packsmith::intel {
namespace {

constexpr unsigned kVertex = 0, kHull = 1, kDomain = 2, kGeometry = 3;
// Entries of fewer units than this come in eights.
constexpr unsigned kSmallEntry = 9, kSmallGranularity = 8;
// The largest entry of tasks or meshes, in units.
constexpr unsigned kMostMeshUnits = 1024;

// The demand of one stage.
struct Wish {
  uint64_t units = 0;            // of an entry; 0: the stage is not used
  uint64_t least = 0, most = 0;  // entries
};

// The share that it gets.
struct Share {
  uint64_t chunks = 0;
  unsigned entries = 0;
};

uint64_t ChunksOf(uint64_t entries, uint64_t units) {
  return (entries * units * kUrbUnitBytes + kUrbChunkBytes - 1) / kUrbChunkBytes;
}

uint64_t GranularityOf(uint64_t units) { return units < kSmallEntry ? kSmallGranularity : 1; }

// Each stage gets its minimum, and the remainder is shared in proportion to what they could use.
// The last one gets the rounding remainder. False if the minimum is too much: then shares have only
// their minimum chunks.
template <size_t N>
bool ShareChunks(uint64_t chunks, const std::array<Wish, N>& wishes, std::array<Share, N>& shares,
                 bool& constrained) {
  std::array<uint64_t, N> wants = {};
  uint64_t needed = 0, wanted = 0;
  shares = {};
  for (size_t i = 0; i < N; ++i) {
    const auto& [units, least, most] = wishes[i];
    if (units == 0) continue;
    const uint64_t granularity = GranularityOf(units);
    const uint64_t entries = (least + granularity - 1) / granularity * granularity;
    shares[i].chunks = ChunksOf(entries, units);
    wants[i] = std::max(ChunksOf(most, units), shares[i].chunks) - shares[i].chunks;
    needed += shares[i].chunks;
    wanted += wants[i];
  }
  if (needed > chunks) return false;
  constrained = wanted > chunks - needed;
  uint64_t left = std::min(chunks - needed, wanted);
  for (size_t i = 0; i + 1 < N && wanted != 0; ++i) {
    // The share, rounded to the nearest.
    const uint64_t more = (2 * wants[i] * left + wanted) / (2 * wanted);
    shares[i].chunks += more;
    left -= more;
    wanted -= wants[i];
  }
  shares[N - 1].chunks += left;
  for (size_t i = 0; i < N; ++i) {
    const auto& [units, least, most] = wishes[i];
    if (units == 0) continue;
    const uint64_t fit = shares[i].chunks * kUrbChunkBytes / (units * kUrbUnitBytes);
    const uint64_t granularity = GranularityOf(units);
    shares[i].entries = static_cast<unsigned>(std::min(fit, most) / granularity * granularity);
  }
  return true;
}

}  // namespace

absl::StatusOr<UrbPartition> PartitionUrb(const RenderDevice& device, unsigned urb_kb,
                                          const UrbDemand& demand) {
  const auto uses = [&](unsigned stage) { return demand.entry_units[stage] != 0; };
  if (!uses(kVertex)) {
    return absl::InvalidArgumentError(
        "the vertex stage always has entries: their size must not be 0");
  }
  if (uses(kHull) != uses(kDomain)) {
    return absl::InvalidArgumentError(
        "hull and domain stage are used together: both must have entries, or neither");
  }
  const uint64_t all = uint64_t{urb_kb} * 1024 / kUrbChunkBytes;
  const uint64_t push = uint64_t{device.push_constant_kb} * 1024 / kUrbChunkBytes;
  // The start of the first stage, and of those that are not used.
  const GenerationFacts& facts = FactsOf(device.version);
  const uint64_t first =
      device.slices == 1 ? std::max<uint64_t>(push, facts.least_urb_start) : push;

  std::array<Wish, kUrbStages> wishes;
  for (unsigned i = 0; i < kUrbStages; ++i) {
    wishes[i] = {demand.entry_units[i], device.least_entries[i], device.most_entries[i]};
  }
  if (uses(kDomain) && facts.least_tessellated_vertices != 0) {
    wishes[kVertex].least = facts.least_tessellated_vertices;
  }
  std::array<Share, kUrbStages> shares;
  UrbPartition result;
  if (!ShareChunks(all - std::min(all, first), wishes, shares, result.constrained)) {
    uint64_t needed = first;
    for (const Share& share : shares) needed += share.chunks;
    return absl::ResourceExhaustedError(absl::StrCat(
        "the URB of ", device.name, " has ", all, " chunks of 8 KB, but ", needed,
        " are needed: ", first, " for push constants, ", shares[kVertex].chunks, " for vertices, ",
        shares[kHull].chunks, " for the hull, ", shares[kDomain].chunks, " for the domain, ",
        shares[kGeometry].chunks, " for the geometry stage; smaller entries need fewer"));
  }
  uint64_t next = first;
  for (unsigned i = 0; i < kUrbStages; ++i) {
    UrbPartition::Stage& stage = result.stages[i];
    stage.start = static_cast<unsigned>(first);
    if (!uses(i)) continue;
    stage = {shares[i].entries, demand.entry_units[i], static_cast<unsigned>(next)};
    next += shares[i].chunks;
  }
  return result;
}

absl::StatusOr<MeshUrbPartition> PartitionMeshUrb(const RenderDevice& device, unsigned urb_kb,
                                                  const MeshUrbDemand& demand) {
  if (device.most_mesh_entries == 0) {
    return absl::InvalidArgumentError(absl::StrCat(device.name, " has no mesh shaders"));
  }
  if (demand.mesh_units == 0 || demand.mesh_units > kMostMeshUnits ||
      demand.task_units > kMostMeshUnits) {
    return absl::InvalidArgumentError(absl::StrCat(
        "URB entries of ", demand.mesh_units, " units for meshes and ", demand.task_units,
        " for tasks; there must be 1 to ", kMostMeshUnits, " units of 64 bytes, or 0 for tasks"));
  }
  const uint64_t all = uint64_t{urb_kb} * 1024 / kUrbChunkBytes;
  const uint64_t first = uint64_t{device.mesh_push_constant_kb} * 1024 / kUrbChunkBytes;
  const uint64_t most = device.most_mesh_entries;
  std::array<Share, 2> shares;
  MeshUrbPartition result;
  if (!ShareChunks<2>(all - std::min(all, first),
                      {Wish{demand.task_units, 1, most}, Wish{demand.mesh_units, 1, most}}, shares,
                      result.constrained)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the URB of ", device.name, " has ", all, " chunks of 8 KB, but ",
                     first + shares[0].chunks + shares[1].chunks, " are needed: ", first,
                     " for push constants, ", shares[0].chunks, " for tasks, ", shares[1].chunks,
                     " for meshes; smaller entries need fewer"));
  }
  // Meshes are before tasks.
  result.mesh = {shares[1].entries, demand.mesh_units, static_cast<unsigned>(first)};
  result.task.start = static_cast<unsigned>(first + shares[1].chunks);
  if (demand.task_units != 0) {
    result.task.entries = shares[0].entries;
    result.task.entry_units = demand.task_units;
  }
  return result;
}

PushConstantPartition MeshPushConstants(const RenderDevice& device) {
  PushConstantPartition result;
  result.pixel.size_kb = device.mesh_push_constant_kb;
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

bool DomainPartChanges(const UrbPartition& old, const UrbPartition& next) {
  const UrbPartition::Stage &had = old[UrbStage::kDomain], &has = next[UrbStage::kDomain];
  return had.entries != 0 && (had.entries != has.entries || had.start != has.start ||
                              had.entry_units != has.entry_units);
}

UrbDereference DereferenceOf(const RenderDevice& device, const UrbPartition& partition) {
  // The last stage decides: geometry, else domain, else vertex.
  const GenerationFacts& facts = FactsOf(device.version);
  if (partition[UrbStage::kGeometry].entries != 0) return UrbDereference::kPerPolygon;
  const unsigned domain = partition[UrbStage::kDomain].entries;
  const bool few = domain != 0
                       ? domain < facts.block_dereference_domain
                       : partition[UrbStage::kVertex].entries < facts.block_dereference_vertices;
  return few ? UrbDereference::kPerPolygon : UrbDereference::kBlock32;
}

UrbDereference DereferenceOf(const MeshUrbPartition& partition) {
  constexpr unsigned kFew = 32;
  return partition.mesh.entries > kFew ? UrbDereference::kMesh : UrbDereference::kPerPolygon;
}

}  // namespace packsmith::intel
