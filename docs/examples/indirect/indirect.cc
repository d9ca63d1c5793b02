// What docs/indirect.md shows, built and run. Each block of the page is here between
// "// Page: <name>" and "// End", and a test compares the two. Arguments: see device.h.
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "docs/examples/device.h"
#include "docs/examples/must.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/cache_rules.h"
#include "runtime/intel/batch/pipeline_select.h"
#include "runtime/intel/batch/secondaries.h"
#include "runtime/intel/compute/gfx9.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/indirect/draw_list.h"
#include "runtime/intel/indirect/generation_kernel.h"
#include "runtime/intel/indirect/indirect_drawer.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/intel/shader/kernels.h"
#include "runtime/intel/state/draw_state.h"
#include "runtime/intel/state/gfx9.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/residency.h"
#include "runtime/memory/state_pool.h"
#include "runtime/memory/state_stream.h"

namespace {

using example::Expect;
using example::Must;
using namespace packsmith::gpu;    // NOLINT: an example
using namespace packsmith::intel;  // NOLINT: an example
using packsmith::address;

void Draws(IndirectDrawer<Gfx9>& drawer, DrawState<Gfx9>& state, Batch<Gfx9>& batch,
           const Buffer& numbers, const Buffer& scratch) {
  // Page: state
  const auto emit_state = [&](bool dispatched) {
    // The kernel runs before this state: what selecting pipelines invalidates is emitted again.
    if (dispatched) state.Emitted<packsmith::gfx9::PIPELINE_SELECT>();
    return state.Flush(batch);
  };
  // End
  // Page: draw
  const address list(numbers.address, numbers.handle);
  drawer.Draw({.arguments = list, .draws = 3}, emit_state);                    // classic
  drawer.Draw({.arguments = list, .draws = 50, .indexed = true}, emit_state);  // in place
  drawer.Draw({.arguments = list,
               .draws = 100000,
               .stride = 32,
               .count = address(numbers.address + 4096, numbers.handle)},
              emit_state);  // in a ring
  // End
  Must(state.status());
  Expect(drawer.way() == DrawWay::kRing, "many draws");
  // Page: close
  drawer.Close();
  const CacheBarrier barrier = {.flush = SetOf(CacheDomain::kData),
                                .invalidate = SetOf(CacheDomain::kOtherRead)};
  EmitBarrier(batch, barrier, {scratch.address, scratch.handle, packsmith::access::write});
  drawer.Draw({.arguments = list, .draws = 20, .reads_number = true}, emit_state);
  // End
  Expect(drawer.way() == DrawWay::kInPlace, "few draws");
}

void All(const example::DeviceOption& option) {
  auto device = option.Open({.device = {.family = "intel", .generation = "gfx9", .verx10 = 90}});
  auto space = Must(AddressSpace::Create(Must(LayOutZones(IrisZones(), {.verx10 = 90}))));
  auto buffers = Buffers::Create(*device, *space, {});
  const ZoneId other = Must(space->FindZone("other")), shader = Must(space->FindZone("shader"));
  const ZoneId dynamic = Must(space->FindZone("dynamic"));
  auto dynamic_pool = Must(StatePool::Create(*buffers, *space, {.zone = dynamic, .name = "state"}));
  auto kernel_pool =
      Must(StatePool::Create(*buffers, *space, {.zone = shader, .name = "kernels", .base = 0}));
  Kernels kernels(*kernel_pool, {.prefetch_bytes = Gfx9::kFacts.kernel_prefetch_bytes});
  const Buffer numbers = Must(
      buffers->Create({.size = 100000 * 32, .zone = other, .name = "numbers", .zeroed = true}));
  // Nothing is compiled here (generation_kernel.cc reads a compiled kernel): zeros, which are an
  // illegal instruction, with a compiler's layout of constants.
  const std::vector<uint8_t> compiled(64);
  const auto code = Must(kernels.Upload(compiled));
  GenerationKernel kernel;
  kernel.kernel.simd16() = {.present = true, .offset = code.offset, .buffer = code.buffer};
  kernel.kernel.local_size = {PACKSMITH_GENERATE_GROUP, 1, 1};
  kernel.kernel.constant_bytes = 64;
  kernel.parameters_at = 32;
  // Page: drawer
  BufferChunks chunks(*buffers, {.zone = other});
  BufferChunks generation_chunks(*buffers, {.zone = other, .name = "generation"});
  StateStream states(*dynamic_pool, 16384);
  Batch<Gfx9> batch(chunks);
  IndirectDrawer<Gfx9> drawer(
      batch, {.device = {.device = Must(FindRenderDevice("skl gt2")), .subslices = 3},
              .kernel = &kernel,
              .chunks = &generation_chunks,
              .states = &states,
              .thresholds = {.generated = 4, .ring = 100}});
  // End
  {
    Batch<Gfx9>::Group group(batch, PipelineSelectDwords<Gfx9>());
    EmitPipelineSelect<Gfx9>(group, Pipeline::k3D);
  }
  const uint32_t mocs = Must(FindRenderDevice("skl gt2")).caching.cached;
  const Buffer tables = Must(buffers->Create({.size = 4096,
                                              .zone = Must(space->FindZone("surface")),
                                              .name = "binding tables",
                                              .zeroed = true}));
  batch.Emit(packsmith::gfx9::STATE_BASE_ADDRESS{
      .general_state_mocs = mocs,
      .stateless_data_port_access_mocs = mocs,
      .surface_state_base_address_modify_enable = true,
      .surface_state_mocs = mocs,
      .surface_state_base_address = {tables.address, tables.handle},
      .dynamic_state_base_address_modify_enable = true,
      .dynamic_state_mocs = mocs,
      .dynamic_state_base_address = dynamic_pool->base(),
      .indirect_object_mocs = mocs,
      .instruction_base_address_modify_enable = true,
      .instruction_mocs = mocs,
      .instruction_base_address = kernel_pool->base(),
      .dynamic_state_buffer_size_modify_enable = true,
      .dynamic_state_buffer_size = 0xfffff,
      .instruction_buffer_size_modify_enable = true,
      .instruction_buffer_size = 0xfffff,
      .bindless_surface_state_mocs = mocs});
  // What draws need is set elsewhere, but for what the selection of a pipeline takes.
  DrawState<Gfx9> state;
  state.InheritAll();
  state.Set(packsmith::gfx9::_3DSTATE_CC_STATE_POINTERS{});
  Draws(drawer, state, batch, numbers, numbers);
  // Page: end
  drawer.End();  // its errors are the batch's
  Must(batch.End());
  Must(states.Flush());
  // End

  // Page: secondary
  BufferChunks secondary_chunks(*buffers, {.zone = other, .name = "secondary"});
  Batch<Gfx9> secondary(secondary_chunks);
  IndirectDrawer<Gfx9> second(
      secondary, {.device = {.device = Must(FindRenderDevice("skl gt2")), .subslices = 3},
                  .kernel = &kernel,
                  .chunks = &generation_chunks,
                  .states = &states});
  DrawState<Gfx9> secondary_state;
  secondary_state.InheritAll();
  second.Draw({.arguments = {numbers.address, numbers.handle}, .draws = 10},
              [&](bool) { return secondary_state.Flush(secondary); });
  second.End();
  const address slot = Must(secondary.EndReturning());
  Batch<Gfx9> primary(chunks);
  const SecondaryWay way = Must(EmitSecondary<Gfx9>(primary, {secondary, slot}));
  // End
  Expect(way == SecondaryWay::kReturning, "it has places that a kernel writes");
  Must(primary.End());

  // No kernel has been compiled: the job is only shown.
  Residency residency(*buffers);
  for (const BufferUse& use : batch.uses().all()) Must(residency.Add(use.buffer, use.writes()));
  const BatchPart& begin = batch.parts()[0];
  const Fence fence = Must(device->Submit({.engine = "render",
                                           .batch_address = begin.chunk.gpu,
                                           .batch_length = begin.total * uint64_t{4},
                                           .residents = residency.residents()}));
  Must(buffers->Use(residency.handles(), fence));
  Expect(Must(device->Wait(fence, absl::Seconds(10))), "the job is done");
}

}  // namespace

int main(int argc, char** argv) {
  const example::DeviceOption option(argc, argv, "CORE");
  All(option);
  option.KeepCores();
  return 0;
}
