// What docs/binding.md shows, built and run. Each block of the page is here between
// "// Page: <name>" and "// End", and a test compares the two. Arguments: see device.h.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "docs/examples/device.h"
#include "docs/examples/must.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/gfx9.h"
#include "runtime/intel/binding/binder.h"
#include "runtime/intel/binding/sampler_cache.h"
#include "runtime/intel/binding/sampler_tables.h"
#include "runtime/intel/binding/surface_groups.h"
#include "runtime/intel/binding/surface_states.h"
#include "runtime/intel/memory/border_colors.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/residency.h"
#include "runtime/memory/state_pool.h"

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
  const Buffer texture =
      Must(buffers->Create({.size = 256 * 1024, .zone = other, .name = "texture"}));
  const Buffer target =
      Must(buffers->Create({.size = 256 * 1024, .zone = other, .name = "target"}));
  const Buffer constants =
      Must(buffers->Create({.size = 4096, .zone = other, .name = "constants"}));
  const Buffer scratch = Must(buffers->Create({.size = 64, .zone = other, .name = "scratch"}));
  BufferChunks chunks(*buffers, {.zone = other});
  Batch<Gfx9> batch(chunks);

  // Page: surfaces
  const Zone& surface_zone = space->zone(Must(space->FindZone("surface")));
  auto pool = Must(StatePool::Create(*buffers, *space,
                                     {.zone = Must(space->FindZone("surface")), .begin = 4096}));
  const auto surface = [&](const auto& what, StateUses* uses) {
    const State state = Must(pool->Allocate(SurfaceState<Gfx9>::length * 4));
    Must(WriteSurface<Gfx9>(what, reinterpret_cast<uint32_t*>(state.cpu), uses));
    return state;
  };
  StateUses texture_uses, target_uses, constants_uses;
  ImageSurface image;
  image.memory = {texture.address, texture.handle};
  image.format = SurfaceFormat::R8G8B8A8_UNORM;
  image.mocs = 4;
  image.width = image.height = 256;
  image.tiling = SurfaceTiling::kY;
  image.pitch = 1024;
  const State read = surface(image, &texture_uses);
  image.purpose = SurfacePurpose::kRenderTarget;
  image.memory = {target.address, target.handle};
  const State drawn = surface(image, &target_uses);
  const State uniforms = surface(BufferSurface{.memory = {constants.address, constants.handle},
                                               .size = constants.size,
                                               .stride = 16,
                                               .format = SurfaceFormat::R32G32B32A32_FLOAT,
                                               .mocs = 4},
                                 &constants_uses);
  const State nothing = surface(NullSurface{.mocs = 4}, nullptr);
  // End

  // Page: wrong
  StateUses no_uses;
  uint32_t dwords[SurfaceState<Gfx9>::length];
  image.tiling = SurfaceTiling::k4;
  const absl::Status wrong = WriteSurface<Gfx9>(image, dwords, &no_uses);
  // wrong says: gfx9 has no surfaces of tiling 4. Nothing was written.
  // End
  Expect(!wrong.ok() && no_uses.all().empty(), "a tiling of later hardware is refused");

  // Page: samplers
  auto dynamic = Must(StatePool::Create(
      *buffers, *space, {.zone = Must(space->FindZone("dynamic")), .base = 8 * kGiB}));
  auto colors = Must(BorderColors::Create(
      *buffers, {.zone = Must(space->FindZone("border colors")), .address = 8 * kGiB}));
  SamplerTables<Gfx9> samplers(*dynamic, *colors, /*colors_offset=*/0);

  Sampler clamped{.min_filter = Filter::kLinear, .mag_filter = Filter::kLinear};
  clamped.wrap = {Wrap::kClampToBorder, Wrap::kClampToBorder, Wrap::kRepeat};
  clamped.border_color = {0x3f800000, 0, 0, 0x3f800000};  // red
  const PackedSampler linear = Must(samplers.Pack(clamped));
  const PackedSampler nearest = Must(samplers.Pack({}));
  const PackedSampler* const both[] = {&linear, &nearest};
  const State table = Must(samplers.Acquire(both));
  // End

  // Page: cache
  SamplerCache<Gfx9> cache(samplers);
  const PackedSampler* const first = Must(cache.Acquire(clamped));
  const PackedSampler* const second = Must(cache.Acquire(clamped));  // the same object: a hit
  // End
  Expect(first == second && cache.statistics().hits == 1, "equal templates are one object");

  // Page: groups
  SurfaceUses uses_of_shader;  // what the compiler found
  uses_of_shader[SurfaceGroup::kRenderTarget].SetFirst(1);
  uses_of_shader[SurfaceGroup::kTexture].Set(0).Set(5);
  const SurfaceTableMap map = Must(SurfaceTableMap::Create(uses_of_shader));
  const uint32_t entry = map.IndexOf(SurfaceGroup::kTexture, 5);  // 2: for the shader's messages
  const SurfaceSlot slot = map.SlotOf(entry);                     // texture 5
  // End
  Expect(entry == 2 && slot.slot == 5, "both directions agree");

  // Page: binder
  Binder<Gfx9>::Options options;
  options.model = BindingModel::kBinder;
  options.zone = Must(space->FindZone("binder"));
  options.surface_base = surface_zone.begin;  // the base of the pool's offsets
  options.surface_bytes = surface_zone.size();
  options.bases = {
      .general_state_mocs = 4,
      .stateless_data_port_access_mocs = 4,
      .surface_state_mocs = 4,
      .dynamic_state_base_address_modify_enable = true,
      .dynamic_state_mocs = 4,
      .dynamic_state_base_address = dynamic->base(),
      .indirect_object_mocs = 4,
      .instruction_mocs = 4,
      .dynamic_state_buffer_size_modify_enable = true,
      .dynamic_state_buffer_size = 0xfffff,
      .bindless_surface_state_mocs = 4,
  };
  options.mocs = 4;
  options.scratch = {scratch.address, scratch.handle};
  auto binder = Must(Binder<Gfx9>::Create(*buffers, options));

  Must(binder->EmitSetup(batch));  // once for each context
  Must(binder->Begin(batch));      // once for each batch
  // End

  // Page: draw
  const uint32_t pixel[] = {drawn.offset, read.offset, uniforms.offset, nothing.offset};
  Must(binder->Bind(batch, BindingStage::kPixel, pixel));
  const BindingEvents events = binder->TakeEvents();
  batch.Emit(gfx9::_3DSTATE_PS{.binding_table_entry_count = 4,
                               .sampler_count = gfx9::_3DSTATE_PS::SAMPLER_COUNT_1_4_SAMPLERS});
  binder->EmitPointers(batch, events);
  batch.Emit(gfx9::_3DSTATE_SAMPLER_STATE_POINTERS_PS{.pointer_to_ps_sampler_state = table.offset},
             gfx9::_3DPRIMITIVE{.vertex_count_per_instance = 3, .instance_count = 1});
  // End

  // Page: uses
  for (const StateUses* uses : {&texture_uses, &target_uses, &constants_uses}) {
    for (const BufferUse& use : uses->all()) batch.Use(use.buffer, use.flags);
  }
  for (const State& state : {read, drawn, uniforms, nothing, table}) {
    batch.Use(state.buffer, kReads);
  }
  batch.Use(linear.border_buffer, kReads);
  // End

  // Page: events
  const BindingEvents lost = binder->TakeEvents();
  if ((lost & kSurfaceBaseMoved) != 0) {
    // State that STATE_BASE_ADDRESS invalidates must be emitted again.
  }
  // End
  Expect(lost == 0 && (events & kSurfaceBaseMoved) != 0, "events are taken once");

  Must(batch.End());
  Residency residency(*buffers);
  for (const BufferUse& use : batch.uses().all()) Must(residency.Add(use.buffer, use.writes()));
  const BatchPart& begin = batch.parts()[0];
  const Fence fence = Must(device->Submit({.engine = "render",
                                           .batch_address = begin.chunk.gpu,
                                           .batch_length = begin.total * uint64_t{4},
                                           .residents = residency.residents()}));
  // Page: done
  Must(buffers->Use(residency.handles(), fence));
  Must(binder->ReleaseOld());  // blocks that are full: used again when the job is done
  // End
  Must(samplers.Release(table.offset));
  Must(samplers.Drop(linear));
}

}  // namespace

int main(int argc, char** argv) {
  const example::DeviceOption option(argc, argv, "CORE");
  All(option);
  option.KeepCores();
  return 0;
}
