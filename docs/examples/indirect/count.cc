// Draws whose numbers, and how many there are, lie in memory: what they fetch is counted by the
// GPU, and read by the CPU. Arguments: the generation, and those of device.h.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "docs/examples/device.h"
#include "docs/examples/must.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/gfx11.h"
#include "runtime/intel/batch/gfx12.h"
#include "runtime/intel/batch/gfx125.h"
#include "runtime/intel/batch/gfx8.h"
#include "runtime/intel/batch/gfx9.h"
#include "runtime/intel/batch/indirect.h"
#include "runtime/intel/batch/pipeline_select.h"
#include "runtime/intel/batch/xe2.h"
#include "runtime/intel/batch/xe3.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/intel/query/queries.h"
#include "runtime/intel/query/query_pool.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/residency.h"

namespace {

using example::Expect;
using example::Must;
using namespace packsmith::gpu;    // NOLINT: an example
using namespace packsmith::intel;  // NOLINT: an example
using packsmith::address;

template <class Gen>
void Count(const std::string& generation, const example::DeviceOption& option) {
  using G = typename Gen::Packets;
  auto device = option.Open(
      {.device = {.family = "intel", .generation = generation, .verx10 = Gen::kVersion}});
  auto space =
      Must(AddressSpace::Create(Must(LayOutZones(IrisZones(), {.verx10 = Gen::kVersion}))));
  auto buffers = Buffers::Create(*device, *space, {});
  const ZoneId other = Must(space->FindZone("other"));
  const auto new_buffer = [&](const char* name) {
    return Must(buffers->Create({.size = 4096, .zone = other, .name = name, .zeroed = true}));
  };
  const Buffer numbers = new_buffer("numbers"), queries = new_buffer("queries"),
               results = new_buffer("results");
  const QueryPool counts = Must(QueryPool::Create(
      Gen::kFacts,
      {.kind = QueryKind::kStatistics,
       .statistics = SetOf(Statistic::kInputVertices) | SetOf(Statistic::kInputPrimitives)},
      {.address = queries.address,
       .buffer = queries.handle,
       .cpu = queries.cpu,
       .size = queries.size}));

  BufferChunks chunks(*buffers, {.zone = other});
  Batch<Gen> batch(chunks);
  {
    typename Batch<Gen>::Group group(batch, PipelineSelectDwords<Gen>());
    EmitPipelineSelect<Gen>(group, Pipeline::k3D);
  }
  batch.Emit(
      typename G::_3DSTATE_VF_TOPOLOGY{.primitive_topology_type = G::_3D_Prim_Topo_Type::TRILIST},
      typename G::_3DSTATE_VF_STATISTICS{.statistics_enable = true});
  ResetQueries(batch, counts, 0, 1);

  // Page: count
  // There are at most three draws; how many, is in memory as well: two.
  const DrawArguments draws[] = {{.vertex_count = 3, .instance_count = 1},
                                 {.vertex_count = 6, .instance_count = 2},
                                 {.vertex_count = 9, .instance_count = 5}};
  const uint32_t number = 2;
  std::memcpy(numbers.cpu, draws, sizeof(draws));
  std::memcpy(numbers.cpu + 1024, &number, sizeof(number));
  Must(buffers->FlushForGpu(numbers.handle, 0, numbers.size));

  BeginQuery(batch, counts, 0);
  EmitIndirectDraws(batch, typename G::_3DPRIMITIVE{},
                    {.arguments = {numbers.address, numbers.handle},
                     .draws = 3,
                     .count = address(numbers.address + 1024, numbers.handle)});
  EndQuery(batch, counts, 0);
  CopyQueryResults(batch, counts, {.wide = false, .partial = true},
                   {results.address, results.handle});
  // End

  Must(batch.End());
  Residency residency(*buffers);
  for (const BufferUse& use : batch.uses().all()) Must(residency.Add(use.buffer, use.writes()));
  const BatchPart& begin = batch.parts()[0];
  const Fence fence = Must(device->Submit({.engine = "render",
                                           .batch_address = begin.chunk.gpu,
                                           .batch_length = begin.total * uint64_t{4},
                                           .residents = residency.residents()}));
  Must(buffers->Use(residency.handles(), fence));
  Expect(Must(device->Wait(fence, absl::Seconds(10))), "the job is done");

  // Page: counted
  Must(buffers->InvalidateForCpu(queries.handle, 0, queries.size));
  uint64_t counted[2] = {};  // vertices and primitives
  Must(counts.Read({.partial = true}, counted, sizeof(counted)));
  // End
  Must(buffers->InvalidateForCpu(results.handle, 0, results.size));
  uint32_t copied[2] = {};
  std::memcpy(copied, results.cpu, sizeof(copied));
  std::printf("vertices %" PRIu64 ", primitives %" PRIu64 ", copied %u and %u\n", counted[0],
              counted[1], copied[0], copied[1]);
}

constexpr struct {
  const char* name;
  void (*count)(const std::string& generation, const example::DeviceOption& option);
} kGenerations[] = {
    {"gfx8", Count<Gfx8>},   {"gfx9", Count<Gfx9>},     {"gfx11", Count<Gfx11>},
    {"gfx12", Count<Gfx12>}, {"gfx125", Count<Gfx125>}, {"xe2", Count<Xe2>},
    {"xe3", Count<Xe3>},
};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& generation : kGenerations) {
    if (argc < 2 || argv[1] != std::string(generation.name)) continue;
    const example::DeviceOption option(argc - 1, argv + 1, "CORE");
    generation.count(generation.name, option);
    option.KeepCores();
    return 0;
  }
  std::fputs("usage: count gfx8|gfx9|gfx11|gfx12|gfx125|xe2|xe3 [--device=host] CORE\n", stderr);
  return 2;
}
