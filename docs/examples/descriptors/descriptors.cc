// What docs/descriptors.md shows, built and run. Each block of the page is here between
// "// Page: <name>" and "// End", and a test compares the two. Arguments: see device.h.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "docs/examples/device.h"
#include "docs/examples/must.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/gfx125.h"
#include "runtime/intel/binding/binder.h"
#include "runtime/intel/binding/descriptor_hardware.h"
#include "runtime/intel/binding/descriptor_placement.h"
#include "runtime/intel/binding/descriptor_pool.h"
#include "runtime/intel/binding/descriptor_push.h"
#include "runtime/intel/binding/descriptor_set.h"
#include "runtime/intel/binding/descriptor_tables.h"
#include "runtime/intel/binding/embedded_samplers.h"
#include "runtime/intel/binding/samplers.h"
#include "runtime/intel/binding/surface_states.h"
#include "runtime/intel/memory/driver_zones.h"
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
namespace gfx125 = packsmith::gfx125;

void All(const example::DeviceOption& option) {
  auto device = option.Open({.device = {.family = "intel", .generation = "gfx125", .verx10 = 125}});
  auto space = Must(AddressSpace::Create(Must(LayOutZones(AnvZones(), {.verx10 = 125}))));
  auto buffers = Buffers::Create(*device, *space, {});
  const ZoneId heap = Must(space->FindZone("high heap"));
  const Buffer texture =
      Must(buffers->Create({.size = 256 * 1024, .zone = heap, .name = "texture"}));
  const Buffer target = Must(buffers->Create({.size = 256 * 1024, .zone = heap, .name = "target"}));
  const Buffer constants =
      Must(buffers->Create({.size = 65536, .zone = heap, .name = "constants"}));
  const Buffer scratch = Must(buffers->Create({.size = 64, .zone = heap, .name = "scratch"}));
  BufferChunks chunks(*buffers, {.zone = heap});
  Batch<Gfx125> batch(chunks);

  // Page: setup
  const ZoneId visible = Must(space->FindZone("dynamic visible"));
  const uint64_t surface_base = space->zone(visible).begin;
  auto states = Must(StatePool::Create(*buffers, *space, {.zone = visible, .base = surface_base}));
  const State null = Must(states->Allocate(kSurfaceStateBytes));
  Must(WriteSurface<Gfx125>(NullSurface{.mocs = 4}, reinterpret_cast<uint32_t*>(null.cpu)));

  const DescriptorSetup setup = Must(MakeDescriptorSetup(
      DescriptorHardwareOf<Gfx125>(),
      {.model = DescriptorModel::kDirect,
       .surface_base = surface_base,
       .sampler_base = space->zone(Must(space->FindZone("dynamic state"))).begin,
       .mocs = 4,
       .null_surface = null.offset}));
  // End

  // Page: layout
  const DescriptorBinding bindings[] = {
      {.binding = 0, .type = DescriptorType::kCombinedImageSampler, .count = 4},
      {.binding = 1, .type = DescriptorType::kUniformBuffer},
      {.binding = 2, .type = DescriptorType::kUniformBufferDynamic},
      {.binding = 3,
       .type = DescriptorType::kSampledImage,
       .count = 1000,
       .flags = kPartiallyBound | kUpdateAfterBind | kVariableCount},
  };
  const auto layout = Must(DescriptorSetLayout::Create(setup.model, bindings));
  const uint64_t third_image = layout->Find(3)->record_offset + 2 * layout->Find(3)->record_stride;
  // End
  Expect(third_image == 6 * 64 + 128, "records have 64 bytes");

  // Page: pool
  const DescriptorCount counts[] = {
      {DescriptorType::kCombinedImageSampler, 64},
      {DescriptorType::kUniformBuffer, 16},
      {DescriptorType::kUniformBufferDynamic, 16},
      {DescriptorType::kSampledImage, 4000},
  };
  auto pool = Must(DescriptorPool::Create(*buffers, setup,
                                          {.max_sets = 16,
                                           .counts = counts,
                                           .records = visible,
                                           .samplers = visible,
                                           .surfaces = visible}));
  const DescriptorSet set = Must(pool->Allocate(layout, /*variable_count=*/100));
  // End

  // Page: views
  ImageSurface surface;
  surface.memory = {texture.address, texture.handle};
  surface.format = SurfaceFormat::R8G8B8A8_UNORM;
  surface.mocs = 4;
  surface.width = surface.height = 256;
  surface.tiling = SurfaceTiling::k4;
  surface.pitch = 1024;
  surface.horizontal_alignment = 128;
  DescriptorImage view{.buffer = texture.handle};
  Must(WriteSurface<Gfx125>(surface, view.state.data()));
  DescriptorSampler linear;
  Must(WriteSampler<Gfx125>({.min_filter = Filter::kLinear, .mag_filter = Filter::kLinear}, 0,
                            linear.state.data()));
  // End

  // Page: write
  for (uint32_t i = 0; i < 4; ++i) {
    Must(set.Write(
        0, i,
        {.type = DescriptorType::kCombinedImageSampler, .images = &view, .samplers = &linear}));
  }
  const DescriptorBuffer part{.buffer = constants, .offset = 1024, .size = 256};
  Must(set.Write(1, 0, {.type = DescriptorType::kUniformBuffer, .buffer = part}));
  Must(set.Write(2, 0, {.type = DescriptorType::kUniformBufferDynamic, .buffer = part}));
  Must(set.Write(3, 99, {.type = DescriptorType::kSampledImage, .images = &view}));

  const DescriptorSet copy = Must(pool->Allocate(layout, 0));
  Must(copy.CopyFrom(set, /*from_binding=*/0, /*from_element=*/1, 0, 0, /*count=*/3));
  // End

  // Page: mistakes
  const absl::Status wrong =
      set.Write(3, 100, {.type = DescriptorType::kSampledImage, .images = &view});
  // OutOfRange: binding 3, element 100: the binding has 100 elements, of type sampled image
  Must(pool->Free(copy));
  const absl::Status gone = copy.Write(1, 0, {.type = DescriptorType::kUniformBuffer});
  // FailedPrecondition: the descriptor set was freed, or its pool reset: allocate another one
  // End
  Expect(wrong.message() ==
             "binding 3, element 100: the binding has 100 elements, of type sampled image",
         "errors name their place");
  Expect(absl::IsFailedPrecondition(gone), "the use of a freed set is an error");

  // Page: placement
  const PipelineLayout pipeline = Must(PipelineLayout::Create({layout}));
  const DescriptorUse uses[] = {
      {.set = 0, .binding = 0, .uses = 8},
      {.set = 0, .binding = 1, .uses = 3},
      {.set = 0, .binding = 2, .uses = 1},
      {.set = 0, .binding = 3, .uses = 5},
  };
  const BindMap map = Must(PlaceDescriptors(pipeline, uses, {.render_targets = 1}));
  // map.Find(0, 1)->surface is 2, and map.Find(0, 3)->surface has no value: it is bindless.
  // End
  Expect(map.Find(0, 1)->surface == 2u && !map.Find(0, 3)->surface.has_value(),
         "late writes make bindless");

  // Page: handle
  const uint32_t handle = Must(set.SurfaceHandle(/*binding=*/3, /*element=*/99));
  // End
  Expect(handle % 64 == 0, "the number is in the upper 26 bits");

  surface.purpose = SurfacePurpose::kRenderTarget;
  surface.memory = {target.address, target.handle};
  const State drawn = Must(states->Allocate(kSurfaceStateBytes));
  Must(WriteSurface<Gfx125>(surface, reinterpret_cast<uint32_t*>(drawn.cpu)));

  // Page: tables
  StateStream transient(*states, 4096);
  BoundDescriptors bound;
  const uint32_t dynamic_offsets[] = {2048};
  Must(bound.Bind(pipeline, 0, {set}, dynamic_offsets));

  uint32_t entries[kMostTableSurfaces];
  const uint32_t targets[] = {drawn.offset};
  const BufferHandle made = Must(FillSurfaceTable(
      map, bound, {.render_targets = targets, .states = &transient}, absl::MakeSpan(entries)));
  std::array<uint32_t, 4> samplers[kMostTableSamplers];
  Must(FillSamplerTable(map, bound, absl::MakeSpan(samplers)));
  // End

  Binder<Gfx125>::Options options;
  options.model = BindingModel::kBlocks;
  options.zone = Must(space->FindZone("binding tables"));
  options.surface_base = surface_base;
  options.surface_bytes = space->zone(visible).size();
  options.bases.general_state_mocs = 4;
  options.bases.stateless_data_port_access_mocs = 4;
  options.bases.surface_state_mocs = 4;
  options.bases.dynamic_state_base_address_modify_enable = true;
  options.bases.dynamic_state_mocs = 4;
  options.bases.dynamic_state_base_address = setup.sampler_base;
  options.bases.dynamic_state_buffer_size_modify_enable = true;
  options.bases.dynamic_state_buffer_size = 0xfffff;
  options.bases.indirect_object_mocs = 4;
  options.bases.instruction_mocs = 4;
  options.bases.bindless_surface_state_mocs = 4;
  options.bases.bindless_sampler_state_mocs = 4;
  options.mocs = 4;
  options.scratch = {scratch.address, scratch.handle};
  auto binder = Must(Binder<Gfx125>::Create(*buffers, options));
  Must(binder->EmitSetup(batch));
  Must(binder->Begin(batch));
  auto sampler_pool = Must(StatePool::Create(
      *buffers, *space,
      {.zone = Must(space->FindZone("dynamic state")), .base = setup.sampler_base}));

  // Page: bind
  Must(
      binder->Bind(batch, BindingStage::kPixel, absl::MakeConstSpan(entries, map.surfaces.size())));
  const State sampler_table =
      Must(sampler_pool->Allocate(map.samplers.size() * kSamplerStateBytes, 32));
  std::memcpy(sampler_table.cpu, samplers, map.samplers.size() * kSamplerStateBytes);
  // End

  batch.Emit(
      gfx125::_3DSTATE_PS{.binding_table_entry_count = static_cast<uint32_t>(map.surfaces.size()),
                          .sampler_count = gfx125::_3DSTATE_PS::SAMPLER_COUNT_1_4_SAMPLERS});
  binder->EmitPointers(batch, binder->TakeEvents());
  batch.Emit(gfx125::_3DSTATE_SAMPLER_STATE_POINTERS_PS{.pointer_to_ps_sampler_state =
                                                            sampler_table.offset},
             gfx125::_3DPRIMITIVE{.vertex_count_per_instance = 3, .instance_count = 1});

  // Page: embedded
  const DescriptorBinding fixed[] = {
      {.binding = 0,
       .type = DescriptorType::kSampler,
       .immutable_samplers = absl::MakeConstSpan(&linear, 1)},
  };
  const auto embedded = Must(DescriptorSetLayout::CreateEmbedded(setup.model, fixed));
  const PipelineLayout with_embedded = Must(PipelineLayout::Create({layout, embedded}));
  const BindMap fixed_map = Must(PlaceDescriptors(with_embedded, {{.set = 1, .binding = 0}}));
  EmbeddedSamplers all_embedded(*sampler_pool);  // of the device
  const std::vector<State> places = Must(all_embedded.Acquire(fixed_map));
  // The shader of this pipeline reads set 1, binding 0 with the sampler at places[0].offset.
  // End
  Expect(fixed_map.embedded.size() == 1 && places.size() == 1, "there is one");
  Must(all_embedded.Release(places));

  // Page: uses
  Must(set.ForEachBuffer([&](BufferHandle buffer, bool written) {
    batch.Use(buffer, written ? kReads | kWrites : kReads);
  }));
  batch.Use(made, kReads);
  // End
  batch.Use(target.handle, kReads | kWrites);
  for (const State& state : {null, drawn, sampler_table}) batch.Use(state.buffer, kReads);

  // Page: push
  const DescriptorBinding pushed[] = {{.binding = 0, .type = DescriptorType::kUniformBuffer}};
  const auto push_layout = Must(DescriptorSetLayout::Create(setup.model, pushed, /*push=*/true));
  auto push = Must(PushDescriptors::Create(setup, push_layout, {.records = &transient}));
  Must(push->Write(0, 0, {.type = DescriptorType::kUniformBuffer, .buffer = part}));
  const DescriptorSet for_this_draw = Must(push->Flush());
  // End
  Expect(for_this_draw.live(), "what was flushed can be bound");

  Must(batch.End());
  Residency residency(*buffers);
  for (const BufferUse& use : batch.uses().all()) Must(residency.Add(use.buffer, use.writes()));
  const BatchPart& begin = batch.parts()[0];
  const Fence fence = Must(device->Submit({.engine = "render",
                                           .batch_address = begin.chunk.gpu,
                                           .batch_length = begin.total * uint64_t{4},
                                           .residents = residency.residents()}));
  Must(buffers->Use(residency.handles(), fence));
  Expect(Must(device->Wait(fence, absl::Seconds(1))), "the job is done");

  // Page: reset
  pool->Reset();
  // End
  Expect(!set.live(), "the pool has none of its sets any more");
  Must(sampler_pool->Free(sampler_table.offset));
  Must(states->Free(drawn.offset));
}

}  // namespace

int main(int argc, char** argv) {
  const example::DeviceOption option(argc, argv, "CORE");
  All(option);
  option.KeepCores();
  return 0;
}
