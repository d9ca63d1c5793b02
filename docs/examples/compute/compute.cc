// What docs/compute.md shows, built and run. Each block of the page is here between
// "// Page: <name>" and "// End", and a test compares the two. Arguments: see device.h.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "docs/examples/device.h"
#include "docs/examples/must.h"
#include "packsmith/gfx9_codes.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/pipeline_select.h"
#include "runtime/intel/compute/compute_state.h"
#include "runtime/intel/compute/gfx9.h"
#include "runtime/intel/compute/media_state.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/intel/shader/kernels.h"
#include "runtime/intel/shader/pipeline_cache.h"
#include "runtime/intel/shader/scratch.h"
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
using namespace packsmith::gfx9;   // NOLINT

// Compiling is out of scope: zeros, which are an illegal instruction.
std::vector<uint8_t> Compile(uint32_t width) { return std::vector<uint8_t>(8 * width); }

absl::Status Dispatches(ComputeState<Gfx9>& compute, Batch<Gfx9>& batch, const Buffer& sizes) {
  struct Parameters {
    uint32_t width, height;
  };
  // Page: constants
  const Parameters parameters{.width = 640, .height = 480};
  compute.SetConstants(
      absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(&parameters), sizeof(parameters)));
  // End
  // Page: dispatch
  if (!compute.Dispatch(batch, {.x = 80, .y = 60})) {
    return compute.status().ok() ? batch.status() : compute.status();
  }
  // End
  // Page: indirect
  compute.DispatchIndirect(batch, {sizes.address, sizes.handle});
  // End
  return compute.status();
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
  const Buffer sizes =
      Must(buffers->Create({.size = 4096, .zone = other, .name = "sizes", .zeroed = true}));
  BufferChunks chunks(*buffers, {.zone = other});
  Batch<Gfx9> batch(chunks);
  const std::string path = "compute.pipelines";

  // Page: cache
  PipelineCache cache({.identity = "skl 0x1912, driver 1.0"});
  const absl::Status loaded =
      cache.Load(path);  // not OK: the cache starts empty, and this says why
  const std::string source = "counts what was drawn, SIMD16";
  const CacheKey key = CacheKeyOf({reinterpret_cast<const uint8_t*>(source.data()), source.size()});
  auto compiled = cache.Find(key);
  if (!compiled) compiled = cache.Add(key, Compile(16));
  Must(cache.Save(path));
  // End
  Expect(loaded.ok() || cache.statistics().misses == 1, "found, or compiled");

  // Page: kernels
  Kernels kernels(*kernel_pool, {.prefetch_bytes = Gfx9::kFacts.kernel_prefetch_bytes});
  const packsmith::intel::Kernel narrow = Must(kernels.Upload(*compiled));
  const packsmith::intel::Kernel wide = Must(kernels.Upload(Compile(32)));
  // End
  Expect(Must(kernels.Upload(Compile(32))).offset == wide.offset, "the same content is there once");

  // Page: kernel
  ComputeKernel kernel;
  kernel.simd16() = {.present = true, .offset = narrow.offset, .buffer = narrow.buffer};
  kernel.simd32() = {
      .present = true, .offset = wide.offset, .buffer = wide.buffer, .scratch = 3000};
  kernel.local_size = {8, 8, 1};
  kernel.shared_bytes = 3000;
  kernel.barriers = 1;
  kernel.constant_bytes = 8;
  kernel.thread_data = ThreadData::kNumber;
  // End

  {
    Batch<Gfx9>::Group group(batch, PipelineSelectDwords<Gfx9>());
    EmitPipelineSelect<Gfx9>(group, Pipeline::kGpgpu);
  }
  const uint32_t mocs = Must(FindRenderDevice("skl gt2")).caching.cached;
  const Buffer tables = Must(buffers->Create({.size = 4096,
                                              .zone = Must(space->FindZone("surface")),
                                              .name = "binding tables",
                                              .zeroed = true}));
  batch.Emit(STATE_BASE_ADDRESS{.general_state_base_address_modify_enable = true,
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
                                .general_state_buffer_size_modify_enable = true,
                                .general_state_buffer_size = 0xfffff,
                                .dynamic_state_buffer_size_modify_enable = true,
                                .dynamic_state_buffer_size = 0xfffff,
                                .instruction_buffer_size_modify_enable = true,
                                .instruction_buffer_size = 0xfffff,
                                .bindless_surface_state_mocs = mocs});

  // Page: state
  const RenderDevice skylake = Must(FindRenderDevice("skl gt2"));
  StateStream states(*dynamic_pool, 16384);
  ComputeState<Gfx9> compute({.device = skylake, .subslices = 3}, states);
  Must(compute.Bind(kernel) ? absl::OkStatus() : compute.status());
  // End
  Expect(compute.shape().width() == 16, "SIMD32 would need scratch memory");
  Expect(compute.shape().threads == 4, "of 16 invocations");
  Must(Dispatches(compute, batch, sizes));

  // Page: scratch
  ScratchPool scratch(*buffers, {.device = skylake,
                                 .subslices = 3,
                                 .facts = &Gfx9::kFacts,
                                 .zone = shader,
                                 .general_base = 0});
  const Scratch spilled = Must(scratch.Get(ScratchStage::kCompute, 3000));
  compute.SetScratch({.per_thread = spilled.per_thread, .base = spilled.base});
  // End
  kernel.simd16().present = false;
  Expect(compute.Bind(kernel) && compute.Dispatch(batch, {.x = 1}), "SIMD32 now");

  // Page: limits
  kernel.shared_bytes = 100 << 10;
  if (!compute.Bind(kernel)) std::puts(compute.TakeStatus().ToString().c_str());
  // … gfx9: the kernel has 102400 bytes of shared local memory; a group has at most 65536
  // End

  // Page: media
  const MediaKernel media_kernels[] = {
      {.offset = narrow.offset, .buffer = narrow.buffer, .constant_registers = 1}};
  const std::vector<uint8_t> media_constants(32);
  {
    Batch<Gfx9>::Group group(batch, PipelineSelectDwords<Gfx9>());
    EmitMediaSelect<Gfx9>(group);
  }
  MediaState<Gfx9> media({.device = skylake, .subslices = 3}, states);
  media.SetKernels(media_kernels);
  media.SetConstants(media_constants);
  const uint32_t inline_data[] = {1, 2, 3};
  media.Walk(batch, {.kernel = 0, .width = 40, .height = 30});
  media.Dispatch(batch, {.kernel = 0, .x = 3, .y = 4, .inline_data = inline_data});
  media.Finish(batch);
  // End
  Must(media.status());
  // Page: events
  {
    Batch<Gfx9>::Group group(batch, PipelineSelectDwords<Gfx9>());
    EmitPipelineSelect<Gfx9>(group, Pipeline::kGpgpu);
  }
  compute.Emitted<PIPELINE_SELECT>();
  compute.Emitted<MEDIA_INTERFACE_DESCRIPTOR_LOAD>();  // the media state has loaded its own
  // End
  Expect(compute.Dispatch(batch, {.x = 2}), "all of it is emitted again");
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
  std::remove(path.c_str());  // an example leaves nothing behind
}

}  // namespace

int main(int argc, char** argv) {
  const example::DeviceOption option(argc, argv, "CORE");
  All(option);
  option.KeepCores();
  return 0;
}
