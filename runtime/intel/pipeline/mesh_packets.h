// Packets of tasks and meshes, from Gfx12.5 on: 3DSTATE_TASK_CONTROL, TASK_SHADER, TASK_REDISTRIB,
// MESH_CONTROL, MESH_SHADER, MESH_DISTRIB, CLIP_MESH, SBE_MESH.
//
//   MeshShader mesh{.group = {.entry = 0x40, .simd = 16, .invocations = 32},
//                   .most_primitives = 64, .vertex_pitch_bytes = 64};
//   absl::Status status = AddMeshShaders({.mesh = &mesh, .fragment = &fragment}, device, pipeline);
//
// A draw of vertices needs the packets that turn tasks and meshes off: AddMeshShaders({}, …) adds
// them to a pipeline that has its other stages from AddShaders.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_MESH_PACKETS_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_MESH_PACKETS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/device/shared_memory_sizes.h"
#include "runtime/intel/pipeline/stage_packets.h"
#include "runtime/intel/pipeline/stages.h"
#include "runtime/intel/state/pipeline_state.h"

namespace packsmith::intel {

namespace stages {

// The encoding of a size of shared local memory: that of compute shaders.
template <class Gen>
absl::StatusOr<uint32_t> LocalMemory(absl::string_view stage, uint32_t bytes) {
  constexpr uint32_t kMost = Gen::kFacts.most_shared_bytes;
  if (bytes > kMost) {
    return TooLarge<Gen>(stage, "bytes of shared local memory", bytes, kMost, "");
  }
  return CodeOf(SharedMemorySizes<typename Gen::Packets::INTERFACE_DESCRIPTOR_DATA>(), bytes);
}

// Sets what the packets of tasks and of meshes share.
template <class Gen, class Control, class Shader>
absl::Status SetGroup(absl::string_view stage, const WorkgroupProgram& group, Control& control,
                      Shader& shader) {
  absl::Status status = CheckEntry(stage, group.entry);
  status.Update(CheckProgram(stage, group.program, Gen::kFacts));
  const absl::StatusOr<GroupThreads> threads = SplitGroup(stage, group, Gen::kFacts);
  status.Update(threads.status());
  const absl::StatusOr<uint32_t> local = LocalMemory<Gen>(stage, group.local_bytes);
  status.Update(local.status());
  // The packet's field is a code, which is the number itself only up to 2 (as of compute shaders).
  constexpr uint32_t kMostBarriers = 2;
  if (group.barriers > kMostBarriers) {
    status.Update(TooLarge<Gen>(stage, "barriers", group.barriers, kMostBarriers, ""));
  }
  constexpr uint32_t kMostIndirect = MostOf<&Shader::indirect_data_length>();
  if (group.indirect_bytes > kMostIndirect) {
    status.Update(
        TooLarge<Gen>(stage, "bytes of indirect data", group.indirect_bytes, kMostIndirect, ""));
  }
  status.Update(SetMost<Gen, &Control::maximum_number_of_threadgroups>(stage, "groups in flight",
                                                                       group.most_groups, control));
  if (!status.ok()) return status;
  control.statistics_enable = group.statistics;
  if (group.program.scratch.bytes_per_thread != 0) {
    status = SetScratch<Gen>(group.program.scratch, control);
    if (!status.ok()) return status;
  }
  shader.kernel_start_pointer = group.entry;
  shader.local_x_maximum = group.invocations - 1;
  shader.floating_point_mode = group.program.alternate_float ? Shader::FLOATING_POINT_MODE_ALTERNATE
                                                             : Shader::FLOATING_POINT_MODE_IEEE_754;
  shader.number_of_threads_in_gpgpu_thread_group = threads->threads;
  shader.shared_local_memory_size = *local;
  shader.number_of_barriers = group.barriers;
  shader.indirect_data_length = group.indirect_bytes;
  shader.emit_local_id_x = group.local_ids;
  shader.emit_inline_parameter = group.inline_data;
  shader.accesses_uav = group.program.writes_memory;
  shader.xp0_required = group.draw_id;
  shader.simd_size = group.simd == 8    ? Shader::SIMD_SIZE_SIMD8
                     : group.simd == 16 ? Shader::SIMD_SIZE_SIMD16
                                        : Shader::SIMD_SIZE_SIMD32;
  shader.message_simd = shader.simd_size;
  shader.execution_mask = threads->last_mask;
  if constexpr (requires { shader.registers_per_thread; }) {
    shader.registers_per_thread = RegisterBlocks(group.program.registers);
  }
  return absl::OkStatus();
}

}  // namespace stages

// Adds the packets of tasks and meshes. With a mesh shader also those of the fragment shader, as in
// AddShaders; without one everything is off, and MeshStages must be empty.
template <class Gen>
absl::Status AddMeshShaders(const MeshStages& stages, const RenderDevice& device,
                            PipelineState<Gen>& pipeline) {
  using G = typename Gen::Packets;
  typename G::_3DSTATE_TASK_CONTROL task_control;
  typename G::_3DSTATE_TASK_SHADER task;
  typename G::_3DSTATE_TASK_REDISTRIB redistribution;
  typename G::_3DSTATE_MESH_CONTROL mesh_control;
  typename G::_3DSTATE_MESH_SHADER mesh;
  typename G::_3DSTATE_MESH_DISTRIB distribution;
  typename G::_3DSTATE_CLIP_MESH clip;
  typename G::_3DSTATE_SBE_MESH attributes;

  absl::Status status = CheckMeshStages(stages);
  if (stages.task != nullptr) {
    status.Update(stages::SetGroup<Gen>("task shader", stages.task->group, task_control, task));
    task_control.taskshader_enable = true;
    using R = decltype(redistribution);
    redistribution.task_redistribution_mode = R::TASK_REDISTRIBUTION_MODE_TASKREDISTRIB_RR_STRICT;
    redistribution.task_redistribution_level = R::TASK_REDISTRIBUTION_LEVEL_TASKREDISTRIB_BOM;
    // Exponents of two, as Mesa's anv chooses them.
    redistribution.target_mesh_batch_size = device.slices > 2 ? 3 : 5;
    redistribution.small_taskthreshold = 1;
    redistribution.local_bot_accumulator_threshold =
        R::LOCAL_BOT_ACCUMULATOR_THRESHOLD_MULTIPLIER_1;
  }
  if (stages.mesh != nullptr) {
    const MeshShader& shader = *stages.mesh;
    using M = decltype(mesh);
    constexpr uint32_t kOutputs[] = {M::OUTPUT_TOPOLOGY_POINT, M::OUTPUT_TOPOLOGY_LINE,
                                     M::OUTPUT_TOPOLOGY_TRI};
    constexpr uint32_t kIndices[] = {M::INDEX_FORMAT_U888X, M::INDEX_FORMAT_U8, M::INDEX_FORMAT_U16,
                                     M::INDEX_FORMAT_U32};
    status.Update(stages::SetGroup<Gen>("mesh shader", shader.group, mesh_control, mesh));
    mesh_control.meshshader_enable = true;
    mesh.maximum_primitive_count = shader.most_primitives - 1;
    mesh.per_primitive_data_present = shader.primitive_pitch_bytes != 0;
    mesh.per_primitive_data_pitch = shader.primitive_pitch_bytes / 32;
    mesh.per_vertex_data_pitch = shader.vertex_pitch_bytes / 32;
    mesh.index_format = kIndices[static_cast<size_t>(shader.indices)];
    mesh.output_topology = kOutputs[static_cast<size_t>(shader.output)];
    clip.user_clip_distance_clip_test_enable_bitmask = shader.distances.clip;
    clip.user_clip_distance_cull_test_enable_bitmask = shader.distances.cull;
    clip.primitive_header_enable = shader.primitive_header_bytes != 0;
    attributes.per_vertex_urb_entry_output_read_offset = shader.vertex_header_bytes / 32;
    attributes.per_vertex_urb_entry_output_read_length = shader.vertex_read_bytes / 32;
    attributes.per_primitive_urb_entry_output_read_offset = shader.primitive_header_bytes / 32;
    attributes.per_primitive_urb_entry_output_read_length = shader.primitive_read_bytes / 32;
    distribution.distribution_mode = decltype(distribution)::DISTRIBUTION_MODE_RR_FREE;
    distribution.task_distribution_batch_size = device.slices > 2 ? 4 : 9;
    distribution.mesh_distribution_batch_size = 3;
  }
  if (!status.ok()) return status;
  const auto add = [&](const auto& packet) {
    if (!pipeline.Add(packet)) status.Update(pipeline.status());
  };
  add(task_control);
  add(task);
  add(redistribution);
  add(mesh_control);
  add(mesh);
  add(distribution);
  add(clip);
  add(attributes);
  if (stages.mesh == nullptr) return status;
  const auto pixel = FragmentShaderPacket<Gen>(stages.fragment, stages.target, device);
  const auto extra = FragmentExtraPacket<Gen>(stages.fragment);
  status.Update(pixel.status());
  status.Update(extra.status());
  if (pixel.ok()) add(*pixel);
  if (extra.ok()) add(*extra);
  return status;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_MESH_PACKETS_H_
