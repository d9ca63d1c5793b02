// Packets of varyings: 3DSTATE_SBE and 3DSTATE_SBE_SWIZ.
//
//   absl::StatusOr<AttributePlan> plan = PlanAttributes(*vertex, inputs);
//   AddAttributes(*plan, pipeline);
//
// For meshes they say the same of a primitive's vertices; 3DSTATE_SBE_MESH, which AddMeshShaders
// adds, says where vertices and primitives begin.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_VARYING_PACKETS_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_VARYING_PACKETS_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "runtime/intel/pipeline/varyings.h"
#include "runtime/intel/state/pipeline_state.h"

namespace packsmith::intel {

template <class Gen>
typename Gen::Packets::_3DSTATE_SBE SetupPacket(const AttributePlan& plan) {
  using P = typename Gen::Packets::_3DSTATE_SBE;
  P packet{
      .vertex_urb_entry_read_offset = plan.first_slot / 2,
      .vertex_urb_entry_read_length = plan.slots / 2,
      .point_sprite_texture_coordinate_origin =
          plan.sprite_origin_is_below ? P::POINT_SPRITE_TEXTURE_COORDINATE_ORIGIN_LOWERLEFT
                                      : P::POINT_SPRITE_TEXTURE_COORDINATE_ORIGIN_UPPERLEFT,
      .attribute_swizzle_enable = plan.overrides,
      .number_of_sf_output_attributes = plan.count,
      // Instead of what the last stage's packet says of its output.
      .force_vertex_urb_entry_read_offset = true,
      .force_vertex_urb_entry_read_length = true,
      .point_sprite_texture_coordinate_enable = plan.sprites,
      .constant_interpolation_enable = plan.flat,
  };
  if (plan.primitive_id.has_value()) {
    packet.primitive_id_override_attribute_select = *plan.primitive_id;
    packet.primitive_id_override_component_x = true;
    packet.primitive_id_override_component_y = true;
    packet.primitive_id_override_component_z = true;
    packet.primitive_id_override_component_w = true;
  }
  if constexpr (requires { packet.attribute_active_component_format; }) {
    std::fill(std::begin(packet.attribute_active_component_format),
              std::end(packet.attribute_active_component_format),
              P::ATTRIBUTE_ACTIVE_COMPONENT_FORMAT_XYZW);
  }
  return packet;
}

// Without effect unless plan.overrides.
template <class Gen>
typename Gen::Packets::_3DSTATE_SBE_SWIZ SwizzlePacket(const AttributePlan& plan) {
  using P = typename Gen::Packets::_3DSTATE_SBE_SWIZ;
  using Detail = typename Gen::Packets::SF_OUTPUT_ATTRIBUTE_DETAIL;
  using Kind = AttributeSource::Kind;
  P packet;
  for (unsigned i = 0; i < std::min(plan.count, kMostOverrides); ++i) {
    const AttributeSource& source = plan.sources[i];
    Detail& detail = packet.attribute[i];
    switch (source.kind) {
      case Kind::kSlotByFacing:
        detail.swizzle_select = Detail::SWIZZLE_SELECT_INPUTATTR_FACING;
        [[fallthrough]];
      case Kind::kSlot:
        detail.source_attribute = source.slot - plan.first_slot;
        break;
      case Kind::kPrimitiveId:  // which 3DSTATE_SBE replaces
      case Kind::kPoint:        // … for points
      case Kind::kConstant:
        detail.constant_source = Detail::CONSTANT_SOURCE_CONST_0001_FLOAT;
        detail.component_override_x = detail.component_override_y = true;
        detail.component_override_z = detail.component_override_w = true;
        break;
    }
  }
  return packet;
}

template <class Gen>
absl::Status AddAttributes(const AttributePlan& plan, PipelineState<Gen>& pipeline) {
  const bool added = pipeline.Add(SetupPacket<Gen>(plan)) && pipeline.Add(SwizzlePacket<Gen>(plan));
  return added ? absl::OkStatus() : pipeline.status();
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_VARYING_PACKETS_H_
