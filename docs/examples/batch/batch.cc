// What docs/batch.md shows, built and run. Each block of the page is here between
// "// Page: <name>" and "// End", and a test compares the two. Arguments: see device.h.
#include "runtime/intel/batch/batch.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "docs/examples/device.h"
#include "docs/examples/must.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/arithmetic.h"
#include "runtime/intel/batch/cache_rules.h"
#include "runtime/intel/batch/cache_tracker.h"
#include "runtime/intel/batch/generated_draws.h"
#include "runtime/intel/batch/gfx9.h"
#include "runtime/intel/batch/indirect.h"
#include "runtime/intel/memory/driver_zones.h"
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
  const Buffer vertices = Must(buffers->Create({.size = 4096, .zone = other, .name = "vertices"}));
  const Buffer results =
      Must(buffers->Create({.size = 4096, .zone = other, .name = "results", .zeroed = true}));
  // What the batch reads: a count, and the vertex counts of two draws of which one happens.
  const uint32_t count = 10, draws = 1, arguments[2][4] = {{3, 1}, {6, 1}};
  std::memcpy(vertices.cpu, &count, sizeof(count));
  std::memcpy(vertices.cpu + 1024, &draws, sizeof(draws));
  std::memcpy(vertices.cpu + 2048, arguments, sizeof(arguments));

  // Page: emit
  BufferChunks chunks(*buffers, {.zone = other});
  Batch<Gfx9> batch(chunks);

  batch.Emit(
      gfx9::PIPE_CONTROL{.stall_at_pixel_scoreboard = true, .command_streamer_stall_enable = true});
  const gfx9::VERTEX_BUFFER_STATE streams[] = {
      {.buffer_pitch = 12,
       .address_modify_enable = true,
       .mocs = 4,
       .buffer_starting_address = {vertices.address, vertices.handle},
       .buffer_size = 36},
  };
  batch.EmitItems(gfx9::_3DSTATE_VERTEX_BUFFERS{}, streams);
  // End

  // Page: packed
  static constexpr auto kTopology = packed(gfx9::_3DSTATE_VF_TOPOLOGY{
      .primitive_topology_type = gfx9::_3D_Prim_Topo_Type::TRILIST,
  });
  batch.EmitDwords(kTopology);
  // End

  // Page: group
  {
    Batch<Gfx9>::Group draw(batch, 40);
    draw.Emit(gfx9::_3DSTATE_VF_STATISTICS{.statistics_enable = true});
    draw.Emit(gfx9::_3DPRIMITIVE{.vertex_count_per_instance = 3, .instance_count = 1});
  }
  // End

  // Page: error
  const bool good = batch.Emit(gfx9::_3DSTATE_VF_TOPOLOGY{},
                               gfx9::MI_STORE_DATA_IMM{.address = {0x1001, results.handle}});
  // good is false, neither packet is there, and batch.status() names MI_STORE_DATA_IMM's address.
  const absl::Status what = batch.TakeStatus();
  // End
  Expect(!good && !what.ok(), "an address that is not aligned is refused");

  // Page: label
  const Label behind = batch.NewLabel();
  batch.Jump(batch.At(behind));
  batch.Emit(gfx9::MI_NOOP{});  // never reached
  batch.Bind(behind);
  // End

  // Page: call
  BufferChunks callee_chunks(*buffers, {.zone = other, .name = "callee"});
  Batch<Gfx9> callee(callee_chunks, {.second_level = true});
  callee.Emit(gfx9::MI_STORE_DATA_IMM{.address = {results.address + 8, results.handle},
                                      .immediate_data = 7});
  Must(callee.End());
  const Chunk& first = callee.parts()[0].chunk;
  batch.Call({first.gpu, first.buffer});
  // End

  // Page: append
  BufferChunks prepared_chunks(*buffers, {.zone = other, .name = "prepared"});
  Batch<Gfx9> prepared(prepared_chunks);
  prepared.EmitItems(gfx9::_3DSTATE_VERTEX_BUFFERS{}, streams);
  batch.Append(prepared);
  // End

  // Page: indirect
  EmitIndirectDraws(batch, gfx9::_3DPRIMITIVE{},
                    {.arguments = {vertices.address + 2048, vertices.handle},
                     .draws = 2,
                     .count = packsmith::address(vertices.address + 1024, vertices.handle)});
  // End

  // Page: generated
  const GeneratedPlace place = Must(EmitRoomForDraws(batch, {.items = 3}));
  // Items go to place.first.gpu and up, place.stride bytes apart, before this batch runs.

  BufferChunks ring_chunks(*buffers, {.zone = other, .name = "ring"});
  DrawRing<Gfx9> ring(ring_chunks, {.items = 100, .vertex_buffers = 1});
  EmitRing(batch, ring, {.block = {results.address + 128, results.handle}, .draws = 5000}, [&] {
    // A dispatch or a draw, as here, whose shader reads the block and writes items to ring.place().
    return batch.Emit(gfx9::_3DPRIMITIVE{.vertex_count_per_instance = 3, .instance_count = 1});
  });
  // End
  Expect(place.view.size() == 3 * place.stride / 4, "items lie one after the other");

  // Page: caches
  CacheTracker tracker(L3DomainsOf<Gfx9>());
  const packsmith::address scratch(results.address + 64, results.handle, packsmith::access::write);
  tracker.Use(results.handle, CacheDomain::kRender);  // a draw renders to it …
  const CacheBarrier barrier = tracker.Use(results.handle, CacheDomain::kSampler);
  if (!barrier.empty()) EmitBarrier(batch, barrier, scratch);
  // … and now it may be a texture.
  // End

  // Page: signal
  const packsmith::address progress(results.address + 72, results.handle, packsmith::access::write);
  EmitSignal(batch, progress, 1, {.to_memory = SetOf(CacheDomain::kRender)});
  // End

  // Page: arithmetic
  Arithmetic<Gfx9> math(batch);
  {
    const auto count = math.Load32({vertices.address, vertices.handle});
    math.Store64({results.address, results.handle}, count * math.Constant(48) + math.Constant(16));
    math.StoreIf32(math.Greater(count, math.Constant(8)), {results.address + 16, results.handle},
                   math.Constant(1));
  }
  auto turns = math.NewVariable(math.Constant(3));
  math.Repeat([&] {
    batch.Emit(gfx9::_3DPRIMITIVE{.vertex_count_per_instance = 3, .instance_count = 1});
    turns.Set(turns - math.Constant(1));
    return math.NonZero(turns);
  });
  // End

  // What came of the last indirect draw's arguments.
  batch.Emit(
      gfx9::MI_STORE_REGISTER_MEM{.register_address = gfx9::_3DPRIM_VERTEX_COUNT::register_offset,
                                  .memory_address = {results.address + 24, results.handle}});

  // Page: submit
  Must(batch.End());
  BufferUses uses = callee.uses();  // a called batch brings its uses
  for (const BufferUse& use : batch.uses().all()) uses.Add(use.buffer, use.flags);
  Residency residency(*buffers);
  for (const BufferUse& use : uses.all()) Must(residency.Add(use.buffer, use.writes()));
  const BatchPart& begin = batch.parts()[0];
  const Fence fence = Must(device->Submit({.engine = "render",
                                           .batch_address = begin.chunk.gpu,
                                           .batch_length = begin.total * uint64_t{4},
                                           .residents = residency.residents()}));
  Must(buffers->Use(residency.handles(), fence));
  // End
  Expect(Must(device->Wait(fence, absl::Seconds(10))), "the job is done");
  uint32_t read[19];
  std::memcpy(read, results.cpu, sizeof(read));
  std::printf("computed %u, greater %u, called %u, indirect %u, progress %u\n", read[0], read[4],
              read[2], read[6], read[18]);

  // Page: chain
  Must(prepared.End());
  const Chunk& next = prepared.parts()[0].chunk;
  Must(batch.ContinueAt({next.gpu, next.buffer}));  // one submission of both …
  Must(batch.ContinueAt({}));                       // … and none
  // End

  // Page: reuse
  batch.Reset();
  Must(chunks.Release());  // used again when the job is done
  // End
}

}  // namespace

int main(int argc, char** argv) {
  const example::DeviceOption option(argc, argv, "CORE");
  All(option);
  option.KeepCores();
  return 0;
}
