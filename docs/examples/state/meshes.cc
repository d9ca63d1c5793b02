#include "docs/examples/state/meshes.h"

#include "docs/examples/must.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/state/draw_state.h"
#include "runtime/intel/state/gfx125.h"
#include "runtime/intel/state/l3.h"
#include "runtime/intel/state/urb.h"

using example::Expect;
using example::Must;
using namespace packsmith::gpu;     // NOLINT: an example
using namespace packsmith::intel;   // NOLINT: an example
using namespace packsmith::gfx125;  // NOLINT

namespace {

absl::Status Draw(DrawState<Gfx125>& state, Batch<Gfx125>& batch) {
  // Page: meshes
  const RenderDevice arc = Must(FindRenderDevice("dg2"));
  const unsigned kb = UrbKbOf(arc, L3Partitions(arc)[0]);
  SetMeshUrb(state, Must(PartitionMeshUrb(arc, kb, {.task_units = 0, .mesh_units = 20})));
  SetPushConstants(state, MeshPushConstants(arc));
  state.Set(_3DSTATE_TASK_CONTROL{});
  state.Set(_3DSTATE_MESH_CONTROL{.maximum_number_of_threadgroups = 511, .meshshader_enable = 1});
  state.Set(_3DSTATE_TASK_SHADER{});
  state.Set(_3DSTATE_TASK_REDISTRIB{});
  state.Set(_3DSTATE_MESH_SHADER{.kernel_start_pointer = 64, .maximum_primitive_count = 128});
  state.Set(_3DSTATE_MESH_DISTRIB{.mesh_distribution_batch_size = 1});
  state.Set(_3DSTATE_CLIP_MESH{});
  state.Set(_3DSTATE_SBE_MESH{.per_vertex_urb_entry_output_read_length = 1});
  if (!state.Flush<_3DMESH_3D>(batch)) return state.status().ok() ? batch.status() : state.status();
  batch.Emit(
      _3DMESH_3D{.threadgroup_count_x = 8, .threadgroup_count_y = 1, .threadgroup_count_z = 1});
  // End
  return absl::OkStatus();
}

}  // namespace

void Meshes() {
  HostChunks chunks;
  Batch<Gfx125> batch(chunks);
  DrawState<Gfx125> state(packsmith::address(0x1000));
  state.Set(_3DSTATE_CONSTANT_VS{.mocs = 6});
  state.Set(_3DSTATE_CONSTANT_HS{.mocs = 6});
  state.Set(_3DSTATE_CONSTANT_DS{.mocs = 6});
  state.Set(_3DSTATE_CONSTANT_GS{.mocs = 6});
  state.Set(_3DSTATE_CONSTANT_PS{.mocs = 6});
  state.Set(_3DSTATE_BINDING_TABLE_POINTERS_VS{});
  state.Set(_3DSTATE_BINDING_TABLE_POINTERS_HS{});
  state.Set(_3DSTATE_BINDING_TABLE_POINTERS_DS{});
  state.Set(_3DSTATE_BINDING_TABLE_POINTERS_GS{});
  state.Set(_3DSTATE_BINDING_TABLE_POINTERS_PS{});
  // What meshes and vertices have in common.
  state.Set(_3DSTATE_CLIP{});
  state.Set(_3DSTATE_SF{});
  state.Set(_3DSTATE_RASTER{});
  state.Set(_3DSTATE_WM{});
  state.Set(_3DSTATE_PS{});
  state.Set(_3DSTATE_PS_EXTRA{});
  Must(Draw(state, batch));
  const size_t first = batch.dwords();
  Must(Draw(state, batch));
  Expect(batch.dwords() == first + _3DMESH_3D::length, "meshes that the GPU has are not set again");
  Expect(!state.Flush(batch), "a draw of vertices needs state that is not set");
  Must(batch.End());
}
