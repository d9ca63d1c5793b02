// What docs/state.md shows, built and run. Each block of the page is here between
// "// Page: <name>" and "// End", and a test compares the two. Arguments: see device.h.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "docs/examples/device.h"
#include "docs/examples/must.h"
#include "docs/examples/state/meshes.h"
#include "packsmith/gfx9_codes.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/pipeline_select.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/intel/state/draw_state.h"
#include "runtime/intel/state/gfx9.h"
#include "runtime/intel/state/l3.h"
#include "runtime/intel/state/stream_output.h"
#include "runtime/intel/state/urb.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/residency.h"

namespace {

using example::Expect;
using example::Must;
using namespace packsmith::gpu;    // NOLINT: an example
using namespace packsmith::intel;  // NOLINT: an example
using namespace packsmith::gfx9;   // NOLINT

void All(const example::DeviceOption& option) {
  auto device = option.Open({.device = {.family = "intel", .generation = "gfx9", .verx10 = 90}});
  auto space = Must(AddressSpace::Create(Must(LayOutZones(IrisZones(), {.verx10 = 90}))));
  auto buffers = Buffers::Create(*device, *space, {});
  const ZoneId other = Must(space->FindZone("other"));
  const Buffer vertices = Must(buffers->Create({.size = 4096, .zone = other, .name = "vertices"}));
  const Buffer constants =
      Must(buffers->Create({.size = 4096, .zone = other, .name = "constants"}));
  const Buffer surfaces =
      Must(buffers->Create({.size = 8192, .zone = other, .name = "surfaces", .zeroed = true}));
  BufferChunks chunks(*buffers, {.zone = other});
  Batch<Gfx9> batch(chunks);

  // Page: begin
  {
    Batch<Gfx9>::Group group(batch, PipelineSelectDwords<Gfx9>());
    EmitPipelineSelect<Gfx9>(group, Pipeline::k3D);
  }
  DrawState<Gfx9> state;
  // End
  STATE_BASE_ADDRESS bases{.general_state_mocs = 4,
                           .stateless_data_port_access_mocs = 4,
                           .surface_state_base_address_modify_enable = true,
                           .surface_state_mocs = 4,
                           .surface_state_base_address = {surfaces.address, surfaces.handle},
                           .dynamic_state_mocs = 4,
                           .indirect_object_mocs = 4,
                           .instruction_mocs = 4,
                           .bindless_surface_state_mocs = 4};
  batch.Emit(bases);

  // Page: l3
  const RenderDevice skylake = Must(FindRenderDevice("skl gt2"));
  const L3Partition l3 = Must(ChooseL3(skylake, {.urb = 1, .all = 1}));
  {
    Batch<Gfx9>::Group group(batch, L3Dwords<Gfx9>());
    EmitL3<Gfx9>(group, l3);
  }
  // End

  // Page: urb
  const UrbPartition urb = Must(
      PartitionUrb(skylake, UrbKbOf(skylake, l3), {.entry_units = {2, 0, 0, 0}}));  // vertices only
  SetUrb(state, urb);
  SetPushConstants(state, PartitionPushConstants(skylake, {.vertex = true, .pixel = true}));
  // End

  // Page: device
  const uint32_t threads = skylake.threads.vertex - 1;  // the value for 3DSTATE_VS
  const uint32_t cached = skylake.caching.cached;       // the value for MOCS fields
  // End
  Expect(threads == 335 && cached == 4, "Skylake has 336 threads for vertices");

  // Page: pipeline
  PipelineState<Gfx9> pipeline;
  pipeline.Add(_3DSTATE_CLIP{.clip_enable = true});
  pipeline.AddPartial<&_3DSTATE_RASTER::cull_mode, &_3DSTATE_RASTER::front_winding>(
      _3DSTATE_RASTER{.viewport_z_near_clip_test_enable = true});
  pipeline.AddPartial<&_3DSTATE_WM_DEPTH_STENCIL::stencil_reference_value>(
      _3DSTATE_WM_DEPTH_STENCIL{.depth_test_enable = true});
  Must(pipeline.status());
  // End
  pipeline.Add(_3DSTATE_WM{});
  pipeline.Add(_3DSTATE_SBE{});
  pipeline.Add(_3DSTATE_SF{});

  // Page: stages
  using Component = _3D_Vertex_Component_Control;
  const VERTEX_ELEMENT_STATE elements[] = {
      {.source_element_format = SURFACE_FORMAT::R32G32B32_FLOAT,
       .valid = true,
       .component_3_control = Component::STORE_1_FP,
       .component_2_control = Component::STORE_SRC,
       .component_1_control = Component::STORE_SRC,
       .component_0_control = Component::STORE_SRC},
  };
  pipeline.AddItems(_3DSTATE_VERTEX_ELEMENTS{}, elements);
  const _3DSTATE_VF_INSTANCING instancing[] = {{.vertex_element_index = 0}};  // of each element
  pipeline.AddEach(instancing);
  pipeline.Add(_3DSTATE_VF_SGVS{});
  pipeline.Add(_3DSTATE_VS{.maximum_number_of_threads = threads});
  pipeline.Add(_3DSTATE_HS{});  // off, as are the next ones
  pipeline.Add(_3DSTATE_TE{});
  pipeline.Add(_3DSTATE_DS{});
  pipeline.Add(_3DSTATE_GS{});
  pipeline.Add(_3DSTATE_STREAMOUT{});
  pipeline.Add(_3DSTATE_PS{});
  pipeline.Add(_3DSTATE_PS_EXTRA{});
  // End
  Must(pipeline.status());

  // Page: set
  state.Bind(pipeline);
  state.SetFields<&_3DSTATE_RASTER::cull_mode>(_3DSTATE_RASTER::CULL_MODE_BACK);
  state.Set(_3DSTATE_VF_TOPOLOGY{.primitive_topology_type = _3D_Prim_Topo_Type::TRILIST});
  const VERTEX_BUFFER_STATE streams[] = {
      {.buffer_pitch = 12,
       .address_modify_enable = true,
       .mocs = 4,
       .buffer_starting_address = {vertices.address, vertices.handle},
       .buffer_size = 36},
  };
  state.SetItems(_3DSTATE_VERTEX_BUFFERS{}, streams);
  // End

  const auto set_constants = [&](uint64_t offset) {
    // Page: constants
    state.Set(_3DSTATE_CONSTANT_PS{
        .mocs = 4,
        .constant_body = {.read_length = {0, 0, 0, 1},
                          .buffer = {{}, {}, {}, {constants.address + offset, constants.handle}}},
    });
    // End
  };
  set_constants(0);
  state.Set(_3DSTATE_CONSTANT_VS{.mocs = 4});
  state.Set(_3DSTATE_CONSTANT_HS{.mocs = 4});
  state.Set(_3DSTATE_CONSTANT_DS{.mocs = 4});
  state.Set(_3DSTATE_CONSTANT_GS{.mocs = 4});

  // Page: missing
  const bool good = state.Flush(batch);
  // good is false: push constants count only with a binding table pointer, and none is set.
  const absl::Status what = state.TakeStatus();
  // End
  Expect(!good && what.code() == absl::StatusCode::kFailedPrecondition,
         "a group that requires others is refused without them");

  state.Set(_3DSTATE_BINDING_TABLE_POINTERS_VS{});
  state.Set(_3DSTATE_BINDING_TABLE_POINTERS_HS{});
  state.Set(_3DSTATE_BINDING_TABLE_POINTERS_DS{});
  state.Set(_3DSTATE_BINDING_TABLE_POINTERS_GS{});
  state.Set(_3DSTATE_BINDING_TABLE_POINTERS_PS{});

  const auto draw = [&] {
    // Page: flush
    if (!state.Flush(batch)) return state.status().ok() ? batch.status() : state.status();
    batch.Emit(_3DPRIMITIVE{.vertex_count_per_instance = 3, .instance_count = 1});
    // End
    return absl::OkStatus();
  };
  Must(draw());
  const size_t first = batch.dwords();
  Must(draw());
  Expect(batch.dwords() == first + _3DPRIMITIVE::length, "what has not changed is not emitted");
  set_constants(32);
  Expect(state.DwordsToEmit() ==
             _3DSTATE_CONSTANT_PS::length + _3DSTATE_BINDING_TABLE_POINTERS_PS::length,
         "constants are followed by the pointer that commits them");
  Must(draw());

  // Page: streamout
  const StreamOutVarying varyings[] = {
      {.register_index = 1, .components = 0b1111, .buffer = 0, .offset = 0},  // the position
      {.register_index = 2,
       .components = 0b0011,
       .buffer = 0,
       .offset = 20},  // a texture coordinate
  };
  SetStreamOutDeclarations(state, Must(PlanStreamOut(varyings)));
  const packsmith::address written(vertices.address + 1024, vertices.handle);
  const packsmith::address progress(vertices.address, vertices.handle);
  const StreamOutBuffer targets[] = {
      {.memory = written, .size = 3072, .progress = progress, .begin = 0}};
  Must(SetStreamOutBuffers(state, targets, /*mocs=*/4));
  state.Set(_3DSTATE_STREAMOUT{.so_function_enable = true, .buffer_0_surface_pitch = 28});
  // End
  Must(draw());
  Must(SetStreamOutBuffers(state, {{.memory = written, .size = 3072, .progress = progress}}, 4));
  Expect(state.dirty() == 0, "a buffer that has begun goes on by itself");

  bases.surface_state_base_address.gpu += 4096;
  // Page: events
  batch.Emit(PIPE_CONTROL{.dc_flush_enable = true,
                          .render_target_cache_flush_enable = true,
                          .command_streamer_stall_enable = true},
             bases);
  state.Emitted<STATE_BASE_ADDRESS>();
  // End
  Expect(state.dirty() == (DrawState<Gfx9>::kGroup<_3DSTATE_BINDING_TABLE_POINTERS_VS> |
                           DrawState<Gfx9>::kGroup<_3DSTATE_BINDING_TABLE_POINTERS_HS> |
                           DrawState<Gfx9>::kGroup<_3DSTATE_BINDING_TABLE_POINTERS_DS> |
                           DrawState<Gfx9>::kGroup<_3DSTATE_BINDING_TABLE_POINTERS_GS> |
                           DrawState<Gfx9>::kGroup<_3DSTATE_BINDING_TABLE_POINTERS_PS>),
         "pointers that were set are dirty");
  Must(draw());
  Must(batch.End());

  Residency residency(*buffers);
  for (const BufferUse& use : batch.uses().all()) Must(residency.Add(use.buffer, use.writes()));
  const BatchPart& begin = batch.parts()[0];
  const Fence fence = Must(device->Submit({.engine = "render",
                                           .batch_address = begin.chunk.gpu,
                                           .batch_length = begin.total * uint64_t{4},
                                           .residents = residency.residents()}));
  Must(buffers->Use(residency.handles(), fence));

  BufferChunks next_chunks(*buffers, {.zone = other});
  // Page: resume
  Batch<Gfx9> next(next_chunks);
  state.Resume(next);  // the same context: its buffers are the next batch's, too
  state.Forget();      // another context: everything is emitted again
  // End
  // Page: inherit
  DrawState<Gfx9> guest;  // draws in a context that others have used
  guest.InheritAll();     // or Inherit<_3DSTATE_VS, …>()
  // End
  Expect(guest.Flush(next) && next.dwords() == 0, "what is inherited is not emitted");
  Expect(next.uses().Find(vertices.handle).has_value(), "the next batch knows the buffers");
  Expect(Must(device->Wait(fence, absl::Seconds(1))), "the job is done");
}

}  // namespace

int main(int argc, char** argv) {
  const example::DeviceOption option(argc, argv, "CORE");
  All(option);
  option.KeepCores();
  Meshes();
  return 0;
}
