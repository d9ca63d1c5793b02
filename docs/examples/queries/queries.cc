// What docs/queries.md shows, built and run. Each block of the page is here between
// "// Page: <name>" and "// End", and a test compares the two. Arguments: see device.h.
#include "runtime/intel/query/queries.h"

#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "docs/examples/device.h"
#include "docs/examples/must.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/debug/show_jobs.h"
#include "runtime/intel/batch/arithmetic.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/gfx9.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/intel/query/perf_passes.h"
#include "runtime/intel/query/perf_reports.h"
#include "runtime/intel/query/query_pool.h"
#include "runtime/intel/query/timestamp_clock.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/residency.h"

namespace {

using example::Expect;
using example::Must;
using namespace packsmith::gpu;    // NOLINT: an example
using namespace packsmith::intel;  // NOLINT: an example
namespace gfx9 = packsmith::gfx9;

void All(const example::DeviceOption& option) {
  auto device = option.Open({.device = {.family = "intel", .generation = "gfx9", .verx10 = 90}});
  auto space = Must(AddressSpace::Create(Must(LayOutZones(IrisZones(), {.verx10 = 90}))));
  auto buffers = Buffers::Create(*device, *space, {});
  const ZoneId other = Must(space->FindZone("other"));
  BufferChunks chunks(*buffers, {.zone = other});
  Batch<Gfx9> batch(chunks);
  const Buffer results =
      Must(buffers->Create({.size = 4096, .zone = other, .name = "results", .zeroed = true}));
  const Buffer reports =
      Must(buffers->Create({.size = 4096, .zone = other, .name = "reports", .zeroed = true}));

  // Page: pool
  const QueryPoolOptions vertex_counts = {
      .kind = QueryKind::kStatistics,
      .count = 16,
      .statistics = SetOf(Statistic::kInputVertices) | SetOf(Statistic::kInputPrimitives)};
  const Buffer memory = Must(buffers->Create(
      {.size = Must(QueryPool::BytesFor(vertex_counts)), .zone = other, .name = "queries"}));
  const QueryPool counts = Must(QueryPool::Create(Gfx9::kFacts, vertex_counts,
                                                  {.address = memory.address,
                                                   .buffer = memory.handle,
                                                   .cpu = memory.cpu,
                                                   .size = memory.size}));
  // End
  const QueryPoolOptions two_times = {.kind = QueryKind::kTimestamp, .count = 2};
  const Buffer time_memory =
      Must(buffers->Create({.size = 4096, .zone = other, .name = "timestamps"}));
  const QueryPool times = Must(QueryPool::Create(Gfx9::kFacts, two_times,
                                                 {.address = time_memory.address,
                                                  .buffer = time_memory.handle,
                                                  .cpu = time_memory.cpu,
                                                  .size = time_memory.size}));
  const QueryPoolOptions one_sample_count = {.kind = QueryKind::kOcclusion};
  const Buffer sample_memory =
      Must(buffers->Create({.size = 4096, .zone = other, .name = "samples"}));
  const QueryPool samples = Must(QueryPool::Create(Gfx9::kFacts, one_sample_count,
                                                   {.address = sample_memory.address,
                                                    .buffer = sample_memory.handle,
                                                    .cpu = sample_memory.cpu,
                                                    .size = sample_memory.size}));
  const auto draw = [&](bool predicated = false) {
    batch.Emit(gfx9::_3DPRIMITIVE{
        .predicate_enable = predicated, .vertex_count_per_instance = 6, .instance_count = 2});
  };
  batch.Emit(
      gfx9::_3DSTATE_VF_TOPOLOGY{.primitive_topology_type = gfx9::_3D_Prim_Topo_Type::TRILIST});

  // Page: count
  ResetQueries(batch, counts, 0, counts.count());
  batch.Emit(gfx9::_3DSTATE_VF_STATISTICS{.statistics_enable = true});
  BeginQuery(batch, counts, 3);
  draw();
  EndQuery(batch, counts, 3);
  // End

  // Page: time
  ResetQueries(batch, times, 0, 2);
  WriteTimestamp(batch, times, 0);
  draw();
  WriteTimestamp(batch, times, 1);
  // End

  // Page: copy
  CopyQueryResults(batch, counts, {.first = 3, .wide = false, .wait = true},
                   {results.address, results.handle});
  // End

  // Page: predicate
  ResetQueries(batch, samples, 0, 1);
  BeginQuery(batch, samples, 0);
  draw();  // of what may be hidden
  EndQuery(batch, samples, 0);
  SetQueryPredicate(batch, samples, 0);
  draw(/*predicated=*/true);
  // End

  // Page: perf
  const packsmith::address at(reports.address, reports.handle);
  ResetPerfQuery(batch, at);
  BeginPerfQuery(batch, at, /*id=*/0x100);
  draw();
  EndPerfQuery(batch, at, /*id=*/0x100);
  // End

  // Page: passes
  const std::vector<PerfCounterSets> wanted = {
      {.name = "GpuTime", .sets = {1, 2, 3}},
      {.name = "EuActive", .sets = {2, 3}},
      {.name = "SamplerBusy", .sets = {3}},
      {.name = "L3Misses", .sets = {4}},
  };
  const PerfPasses passes = Must(PlanPerfPasses(wanted));  // sets 3 and 4: two passes
  // End
  Expect(passes.sets.size() == 2 && passes.sets[0] == 3 && passes.least, "two passes are enough");

  Must(batch.End());
  Residency residency(*buffers);
  for (const BufferUse& use : batch.uses().all()) Must(residency.Add(use.buffer, use.writes()));
  const BatchPart& begin = batch.parts()[0];
  const Fence fence = Must(device->Submit({.batch_address = begin.chunk.gpu,
                                           .batch_length = begin.total * uint64_t{4},
                                           .residents = residency.residents()}));
  Must(buffers->Use(residency.handles(), fence));
  Expect(Must(device->Wait(fence, absl::InfiniteDuration())), "the job is done");
  // A host executes nothing.
  if (!Must(counts.Available(3))) return;

  // Page: read
  uint64_t vertices_and_primitives[2];
  Must(counts.Read({.first = 3}, vertices_and_primitives, sizeof(vertices_and_primitives)));
  // End
  std::printf("vertices %" PRIu64 ", primitives %" PRIu64 "\n", vertices_and_primitives[0],
              vertices_and_primitives[1]);
  const auto* const copied = reinterpret_cast<const uint32_t*>(results.cpu);
  Expect(copied[0] == vertices_and_primitives[0] && copied[1] == vertices_and_primitives[1],
         "the GPU computes what the CPU does");

  // Page: clock
  const TimestampClock clock = {.hertz = 12000000, .bits = Gfx9::kFacts.timestamp_bits};
  uint64_t ticks[2];
  Must(times.Read({.count = 2}, ticks, sizeof(ticks)));
  const uint64_t ns = Nanoseconds(clock, TicksBetween(clock, ticks[0], ticks[1]));
  // End
  std::printf("%s\n", ns > 0 ? "time passed" : "no time passed");

  // Page: delta
  const PerfDelta delta = Must(ReadPerfQuery<Gfx9>(reports.cpu, /*id=*/0x100));
  // End
  std::printf("%s\n", delta.ticks > 0 ? "reports are a pair" : "reports have no time");
}

}  // namespace

int main(int argc, char** argv) {
  ShowJobsOnStderr();
  const example::DeviceOption option(argc, argv, "CORE");
  All(option);
  option.KeepCores();
}
