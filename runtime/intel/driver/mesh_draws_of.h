// Draws of tasks and meshes of command buffers of one generation: methods of CommandBufferOf.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_MESH_DRAWS_OF_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_MESH_DRAWS_OF_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/indirect.h"
#include "runtime/intel/driver/command_buffer_of.h"

namespace packsmith::intel {

template <class Gen>
bool CommandBufferOf<Gen>::SetMeshData(MeshStage stage, absl::Span<const uint8_t> bytes) {
  return CanDraw() && Check(draws_->SetMeshData(stage, bytes));
}

template <class Gen>
bool CommandBufferOf<Gen>::Draw(const MeshDrawCall& draw) {
  if (!CanDraw()) return false;
  if constexpr (requires { typename G::_3DMESH_3D; }) {
    using Mesh = typename G::_3DMESH_3D;
    const uint32_t stride = draw.stride == 0 ? sizeof(DispatchArguments) : draw.stride;
    const bool indirect = draw.arguments.gpu != 0;
    if (stride % 4 != 0 || draw.arguments.gpu % 4 != 0) {
      return Refuse(absl::InvalidArgumentError(
          absl::StrCat("numbers of mesh groups in memory, ", stride,
                       " bytes apart; their address and stride must be multiples of 4")));
    }
    if (!BeginDraw<Mesh>(draw.arguments)) return false;
    const bool numbered = draws_->pipeline()->reads_draw_id();
    Mesh packet{.predicate_enable = queries_.conditional(),
                .indirect_parameter_enable = indirect,
                .extended_parameter_0_present = numbered,
                .threadgroup_count_x = draw.x,
                .threadgroup_count_y = draw.y,
                .threadgroup_count_z = draw.z};
    if (!indirect) return batch_.Emit(packet);
    using Load = typename Gen::LoadRegister;
    using Constant = typename Gen::LoadRegisterConstant;
    for (uint32_t i = 0; i < draw.draws; ++i) {
      const auto load = [&](uint32_t offset, size_t member) {
        return Load{.register_address = offset,
                    .memory_address = {draw.arguments.gpu + uint64_t{i} * stride + member,
                                       draw.arguments.buffer, draw.arguments.use}};
      };
      using A = DispatchArguments;
      typename Batch<Gen>::Group group(batch_,
                                       3 * Load::length + Constant::length + Mesh::max_length);
      group.Emit(load(G::_3DMESH_TG_COUNT::register_offset, offsetof(A, groups_x)),
                 load(G::_3DPRIM_XP1::register_offset, offsetof(A, groups_y)),
                 load(G::_3DPRIM_XP2::register_offset, offsetof(A, groups_z)));
      if (numbered) {
        group.Emit(Constant{.register_offset_ = G::_3DPRIM_XP0::register_offset, .data_dword = i});
      }
      group.Emit(packet);
      if (!group.ok()) return false;
    }
    return true;
  } else {
    return Refuse(absl::UnimplementedError(
        absl::StrCat(Gen::kName, " has no mesh shaders; Gfx12.5 and later generations have")));
  }
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_MESH_DRAWS_OF_H_
