// Divides the URB, in which stages pass vertices to each other: push constants first, then the
// entries of each stage.
//
//   absl::StatusOr<UrbPartition> urb = PartitionUrb(
//       device, UrbKbOf(device, l3), {.entry_units = {2, 0, 0, 0}});   // a vertex shader alone
//   SetUrb(state, *urb);
//   SetPushConstants(state, PartitionPushConstants(device, {.vertex = true, .pixel = true}));
//
// The pipeline of tasks and meshes has other stages and packets:
//
//   absl::StatusOr<MeshUrbPartition> urb = PartitionMeshUrb(
//       device, UrbKbOf(device, l3), {.task_units = 0, .mesh_units = 20});
//   SetMeshUrb(state, *urb);
//   SetPushConstants(state, MeshPushConstants(device));
//
// Sources: PRMs, 3DSTATE_URB_VS and 3DSTATE_PUSH_CONSTANT_ALLOC_VS; Mesa's intel_urb_config.c for
// the distribution of the remainder.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_URB_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_URB_H_

#include <array>
#include <cstddef>

#include "absl/status/statusor.h"
#include "packsmith/pack.h"
#include "runtime/intel/device/render_devices.h"

namespace packsmith::intel {

// The hardware's units: chunks of the URB, and units of entries.
inline constexpr unsigned kUrbChunkBytes = 8192, kUrbUnitBytes = 64;

struct UrbDemand {
  // The size of an entry of each stage, in units of 64 bytes. 0: the stage is not used.
  std::array<unsigned, kUrbStages> entry_units = {};
};

struct UrbPartition {
  struct Stage {
    unsigned entries = 0;  // 0: not used
    unsigned entry_units = 1;
    unsigned start = 0;  // chunks from the URB's beginning
  };
  std::array<Stage, kUrbStages> stages;
  // A stage has fewer entries than it could use.
  bool constrained = false;

  const Stage& operator[](UrbStage stage) const { return stages[static_cast<unsigned>(stage)]; }
};

// Each used stage gets its minimum; the remainder is shared in proportion to what they could use.
// urb_kb: of a slice, see UrbKbOf(). Errors: InvalidArgument if there is no vertex stage, or only
// one of hull and domain; ResourceExhausted if the minimum exceeds the URB.
absl::StatusOr<UrbPartition> PartitionUrb(const RenderDevice& device, unsigned urb_kb,
                                          const UrbDemand& demand);

struct PushConstantPart {
  unsigned offset_kb = 0, size_kb = 0;
};
struct PushConstantUsers {
  bool vertex = false, hull = false, domain = false, geometry = false, pixel = false;
};
struct PushConstantPartition {
  PushConstantPart vertex, hull, domain, geometry, pixel;
};
// Equal parts, in steps of 2 KB if there are 32 KB; the pixel shader gets the remainder.
PushConstantPartition PartitionPushConstants(const RenderDevice& device,
                                             const PushConstantUsers& users);

// -- Tasks and meshes, from Gfx12.5 on -----------------------------------------------------------

struct MeshUrbDemand {
  // The size of an entry in units of 64 bytes, up to 1024. 0: there are no tasks.
  unsigned task_units = 0;
  unsigned mesh_units = 0;
};
struct MeshUrbPartition {
  UrbPartition::Stage task, mesh;
  bool constrained = false;
};
// By the same rule; every slice is divided alike. Errors: InvalidArgument if meshes have no
// entries, or entries are too large; ResourceExhausted if the minimum exceeds the URB.
absl::StatusOr<MeshUrbPartition> PartitionMeshUrb(const RenderDevice& device, unsigned urb_kb,
                                                  const MeshUrbDemand& demand);
// In this pipeline only the pixel shader has push constants in the URB.
PushConstantPartition MeshPushConstants(const RenderDevice& device);

// -- The setup unit ------------------------------------------------------------------------------

// How much of a URB entry the setup unit reads at a time, Gfx12 and later: the values that were
// found to work best; otherwise a stage with too few entries might wait for itself. The values are
// those of 3DSTATE_SF.
enum class UrbDereference : unsigned { kBlock32 = 0, kPerPolygon = 1, kMesh = 3 };
UrbDereference DereferenceOf(const RenderDevice& device, const UrbPartition& partition);
UrbDereference DereferenceOf(const MeshUrbPartition& partition);

// -- The packets ---------------------------------------------------------------------------------

// Sets the partition of a draw state. False if a value does not fit its field.
template <class State>
bool SetUrb(State& state, const UrbPartition& urb) {
  using G = typename State::Packets;
  const auto& [vs, hs, ds, gs] = urb.stages;
  bool good =
      state.Set(typename G::_3DSTATE_URB_VS{.vs_number_of_urb_entries = vs.entries,
                                            .vs_urb_entry_allocation_size = vs.entry_units - 1,
                                            .vs_urb_starting_address = vs.start});
  good &= state.Set(typename G::_3DSTATE_URB_HS{.hs_number_of_urb_entries = hs.entries,
                                                .hs_urb_entry_allocation_size = hs.entry_units - 1,
                                                .hs_urb_starting_address = hs.start});
  good &= state.Set(typename G::_3DSTATE_URB_DS{.ds_number_of_urb_entries = ds.entries,
                                                .ds_urb_entry_allocation_size = ds.entry_units - 1,
                                                .ds_urb_starting_address = ds.start});
  good &= state.Set(typename G::_3DSTATE_URB_GS{.gs_number_of_urb_entries = gs.entries,
                                                .gs_urb_entry_allocation_size = gs.entry_units - 1,
                                                .gs_urb_starting_address = gs.start});
  // If meshes were drawn before, their part is removed.
  if constexpr (requires { typename G::_3DSTATE_URB_ALLOC_MESH; }) {
    if ((state.set() & State::template kGroup<typename G::_3DSTATE_URB_ALLOC_MESH>) != 0) {
      good &= state.Set(typename G::_3DSTATE_URB_ALLOC_MESH());
      good &= state.Set(typename G::_3DSTATE_URB_ALLOC_TASK());
    }
  }
  return good;
}

// The same for a partition for meshes. The vertex stages get nothing.
template <class State>
bool SetMeshUrb(State& state, const MeshUrbPartition& urb) {
  using G = typename State::Packets;
  const auto& [task, mesh, constrained] = urb;
  bool good = state.Set(typename G::_3DSTATE_URB_VS());
  good &= state.Set(typename G::_3DSTATE_URB_HS());
  good &= state.Set(typename G::_3DSTATE_URB_DS());
  good &= state.Set(typename G::_3DSTATE_URB_GS());
  good &= state.Set(
      typename G::_3DSTATE_URB_ALLOC_MESH{.mesh_urb_entry_allocation_size = mesh.entry_units - 1,
                                          .mesh_urb_starting_address_slice0 = mesh.start,
                                          .mesh_urb_starting_address_slicen = mesh.start,
                                          .mesh_number_of_urb_entries_slice0 = mesh.entries,
                                          .mesh_number_of_urb_entries_slicen = mesh.entries});
  good &= state.Set(
      typename G::_3DSTATE_URB_ALLOC_TASK{.task_urb_entry_allocation_size = task.entry_units - 1,
                                          .task_urb_starting_address_slice0 = task.start,
                                          .task_urb_starting_address_slicen = task.start,
                                          .task_number_of_urb_entries_slice0 = task.entries,
                                          .task_number_of_urb_entries_slicen = task.entries});
  return good;
}

// If the generation requires it (Gen::kFacts.wa_16014912113: Gfx12), LeaveDomain() must be called
// before the URB is divided in another way, if this returns true: the domain stage had a part of
// it, which changes.
bool DomainPartChanges(const UrbPartition& old, const UrbPartition& next);

// The dwords of LeaveDomain().
template <class Gen>
constexpr size_t LeaveDomainDwords() {
  return 4 * Gen::Packets::_3DSTATE_URB_VS::length + Gen::PipeControl::length;
}

// Removes the entries of all stages except the vertex stage, without moving them, and flushes. The
// state then emits its partition again. False if the group has been refused.
template <class State, class Group>
bool LeaveDomain(State& state, Group& group, const UrbPartition& old) {
  using G = typename State::Packets;
  constexpr uint32_t kSomeVertices = 256;
  const auto& [vs, hs, ds, gs] = old.stages;
  group.Emit(typename G::_3DSTATE_URB_VS{.vs_number_of_urb_entries = kSomeVertices,
                                         .vs_urb_entry_allocation_size = vs.entry_units - 1,
                                         .vs_urb_starting_address = vs.start},
             typename G::_3DSTATE_URB_HS{.hs_urb_entry_allocation_size = hs.entry_units - 1,
                                         .hs_urb_starting_address = hs.start},
             typename G::_3DSTATE_URB_DS{.ds_urb_entry_allocation_size = ds.entry_units - 1,
                                         .ds_urb_starting_address = ds.start},
             typename G::_3DSTATE_URB_GS{.gs_urb_entry_allocation_size = gs.entry_units - 1,
                                         .gs_urb_starting_address = gs.start},
             typename G::PIPE_CONTROL{.hdc_pipeline_flush_enable = true});
  if (!group.ok()) return false;
  state.template Emitted<typename G::_3DSTATE_URB_VS>();
  return true;
}

// The dwords of LeaveTasks().
template <class Gen>
constexpr size_t LeaveTasksDwords() {
  using G = typename Gen::Packets;
  return 4 * G::_3DSTATE_URB_VS::length + 2 * G::_3DSTATE_URB_ALLOC_MESH::length +
         Gen::PipeControl::length;
}

// Between the last draw with tasks and the first one of vertices, if the generation requires it
// (Gen::kFacts.wa_14015814527: Gfx12.5): removes the stages' parts of the URB, and waits. scratch:
// 8 bytes that are overwritten. The state then emits its partition again. False if the group has
// been refused.
template <class State, class Group>
bool LeaveTasks(State& state, Group& group, const address& scratch) {
  using G = typename State::Packets;
  using Pipe = typename G::PIPE_CONTROL;
  group.Emit(typename G::_3DSTATE_URB_VS(), typename G::_3DSTATE_URB_HS(),
             typename G::_3DSTATE_URB_DS(), typename G::_3DSTATE_URB_GS(),
             typename G::_3DSTATE_URB_ALLOC_MESH(), typename G::_3DSTATE_URB_ALLOC_TASK(),
             Pipe{.post_sync_operation = Pipe::POST_SYNC_OPERATION_WRITE_IMMEDIATE_DATA,
                  .address = {scratch.gpu, scratch.buffer, access::write}});
  if (!group.ok()) return false;
  state.template Emitted<typename G::_3DSTATE_URB_VS>();
  state.template Emitted<typename G::_3DSTATE_URB_ALLOC_MESH>();
  return true;
}

template <class State>
bool SetPushConstants(State& state, const PushConstantPartition& parts) {
  using G = typename State::Packets;
  const auto set = [&]<class P>(P packet, const PushConstantPart& part) {
    packet.constant_buffer_size = part.size_kb;
    packet.constant_buffer_offset = part.offset_kb;
    return state.Set(packet);
  };
  bool good = set(typename G::_3DSTATE_PUSH_CONSTANT_ALLOC_VS(), parts.vertex);
  good &= set(typename G::_3DSTATE_PUSH_CONSTANT_ALLOC_HS(), parts.hull);
  good &= set(typename G::_3DSTATE_PUSH_CONSTANT_ALLOC_DS(), parts.domain);
  good &= set(typename G::_3DSTATE_PUSH_CONSTANT_ALLOC_GS(), parts.geometry);
  good &= set(typename G::_3DSTATE_PUSH_CONSTANT_ALLOC_PS(), parts.pixel);
  return good;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_URB_H_
