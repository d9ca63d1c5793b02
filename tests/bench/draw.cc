// A driver's draw, for compile_time.py: all packets that a draw of Gfx9 requires, and the draw.
#include <cstdint>

#include "packsmith/runtime/command/chunks.h"
#include "packsmith/runtime/intel/batch/batch.h"
#include "packsmith/runtime/intel/batch/gfx9.h"
#include "packsmith/runtime/intel/state/draw_state.h"
#include "packsmith/runtime/intel/state/gfx9.h"

namespace {

using namespace packsmith::gfx9;   // NOLINT: names of packets
using namespace packsmith::intel;  // NOLINT: an example
using packsmith::address;

struct DrawCall {
  address vertices, indices, constants;
  uint32_t table = 0, samplers = 0, viewport = 0, blend = 0;
  uint32_t count = 0, instances = 0;
};

void AddStages(PipelineState<Gfx9>& pipeline) {
  const VERTEX_ELEMENT_STATE elements[] = {{.source_element_format = 0x40, .valid = true}};
  const _3DSTATE_VF_INSTANCING instancing[] = {{.vertex_element_index = 0}};
  pipeline.AddItems(_3DSTATE_VERTEX_ELEMENTS{}, elements);
  pipeline.AddEach(instancing);
  pipeline.Add(_3DSTATE_VF_SGVS{});
  pipeline.Add(_3DSTATE_VS{.maximum_number_of_threads = 335});
  pipeline.Add(_3DSTATE_HS{});
  pipeline.Add(_3DSTATE_TE{});
  pipeline.Add(_3DSTATE_DS{});
  pipeline.Add(_3DSTATE_GS{});
  pipeline.Add(_3DSTATE_STREAMOUT{});
  pipeline.Add(_3DSTATE_CLIP{.clip_enable = true});
  pipeline.AddPartial<&_3DSTATE_RASTER::cull_mode>(_3DSTATE_RASTER{});
  pipeline.Add(_3DSTATE_SF{.viewport_transform_enable = true});
  pipeline.Add(_3DSTATE_WM{});
  pipeline.Add(_3DSTATE_SBE{.number_of_sf_output_attributes = 1});
  pipeline.Add(_3DSTATE_PS{.maximum_number_of_threads_per_psd = 63});
  pipeline.Add(_3DSTATE_PS_EXTRA{.pixel_shader_valid = true});
  pipeline.Add(_3DSTATE_PS_BLEND{.has_writeable_rt = true});
  pipeline.Add(_3DSTATE_WM_DEPTH_STENCIL{.depth_test_enable = true});
}

bool Draw(DrawState<Gfx9>& state, Batch<Gfx9>& batch, const PipelineState<Gfx9>& pipeline,
          const DrawCall& call) {
  state.Bind(pipeline);
  state.SetFields<&_3DSTATE_RASTER::cull_mode>(_3DSTATE_RASTER::CULL_MODE_BACK);
  state.Set(_3DSTATE_VF_TOPOLOGY{.primitive_topology_type = _3D_Prim_Topo_Type::TRILIST});
  state.Set(_3DSTATE_URB_VS{.vs_number_of_urb_entries = 64, .vs_urb_starting_address = 4});
  state.Set(_3DSTATE_URB_HS{.hs_urb_starting_address = 4});
  state.Set(_3DSTATE_URB_DS{.ds_urb_starting_address = 4});
  state.Set(_3DSTATE_URB_GS{.gs_urb_starting_address = 4});
  state.Set(_3DSTATE_VIEWPORT_STATE_POINTERS_CC{.cc_viewport_pointer = call.viewport});
  state.Set(_3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP{.sf_clip_viewport_pointer = call.viewport});
  state.Set(_3DSTATE_BLEND_STATE_POINTERS{.blend_state_pointer_valid = true,
                                          .blend_state_pointer = call.blend});
  state.Set(_3DSTATE_CONSTANT_VS{
      .mocs = 4,
      .constant_body = {.read_length = {0, 0, 0, 4}, .buffer = {{}, {}, {}, call.constants}}});
  state.Set(_3DSTATE_CONSTANT_PS{
      .mocs = 4,
      .constant_body = {.read_length = {0, 0, 0, 4}, .buffer = {{}, {}, {}, call.constants}}});
  state.Set(_3DSTATE_BINDING_TABLE_POINTERS_VS{.pointer_to_vs_binding_table = call.table});
  state.Set(_3DSTATE_BINDING_TABLE_POINTERS_PS{.pointer_to_ps_binding_table = call.table});
  state.Set(_3DSTATE_SAMPLER_STATE_POINTERS_PS{.pointer_to_ps_sampler_state = call.samplers});
  state.Set(_3DSTATE_MULTISAMPLE{});
  state.Set(_3DSTATE_SAMPLE_MASK{.sample_mask = 1});
  state.Set(_3DSTATE_DEPTH_BUFFER{.mocs = 4});
  state.Set(_3DSTATE_STENCIL_BUFFER{.mocs = 4});
  state.Set(_3DSTATE_HIER_DEPTH_BUFFER{.mocs = 4});
  state.Set(_3DSTATE_CLEAR_PARAMS{});
  const VERTEX_BUFFER_STATE streams[] = {{.buffer_pitch = 12,
                                          .address_modify_enable = true,
                                          .mocs = 4,
                                          .buffer_starting_address = call.vertices,
                                          .buffer_size = 4096}};
  state.SetItems(_3DSTATE_VERTEX_BUFFERS{}, streams);
  state.Set(_3DSTATE_INDEX_BUFFER{
      .mocs = 4, .buffer_starting_address = call.indices, .buffer_size = 4096});
  return state.Flush(batch) &&
         batch.Emit(_3DPRIMITIVE{.vertex_access_type = _3DPRIMITIVE::VERTEX_ACCESS_TYPE_RANDOM,
                                 .vertex_count_per_instance = call.count,
                                 .instance_count = call.instances});
}

}  // namespace

int main() {
  packsmith::gpu::HostChunks chunks;
  Batch<Gfx9> batch(chunks);
  PipelineState<Gfx9> pipeline;
  AddStages(pipeline);
  DrawState<Gfx9> state;
  const DrawCall call{.vertices = {0x10000, 1},
                      .indices = {0x20000, 2},
                      .constants = {0x30000, 3},
                      .count = 3,
                      .instances = 1};
  return pipeline.status().ok() && Draw(state, batch, pipeline, call) && batch.End().ok() ? 0 : 1;
}
