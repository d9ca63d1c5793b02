// Shaders as packets state them: for debuggers that have packets, and ask what a thread's registers
// hold.
//
//   const auto packet = gfx9::_3DSTATE_VS::unpack(dwords);
//   absl::StatusOr<ThreadPayload> payload =
//       PayloadOf(ReadVertexShader<Gfx9>(packet), Gfx9::kFacts);
//
// They are the inverse of stage_packets.h as far as payloads depend on packets; the rest of the
// structs keeps its defaults. Offsets of kernels and start registers are always read.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_PAYLOAD_PACKETS_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_PAYLOAD_PACKETS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "runtime/intel/pipeline/stage_packets.h"
#include "runtime/intel/pipeline/thread_payload.h"

namespace packsmith::intel {

// Packet: 3DSTATE_VS, HS, DS or GS.
template <class Packet>
bool IsOn(const Packet& packet) {
  if constexpr (requires { packet.enable; }) {
    return packet.enable;
  } else {
    return packet.function_enable;
  }
}

// Whether the stage runs in the dispatch mode that payloads are known of: one vertex, primitive or
// domain point in each lane, and hull shaders of one patch or of a patch in each lane. Otherwise
// Unimplemented; a stage that is off has none. Packet: 3DSTATE_VS, HS, DS or GS.
template <class Packet>
absl::Status CheckDispatchMode(const Packet& packet) {
  bool known = true;
  if constexpr (requires { packet.simd8_dispatch_enable; }) known = packet.simd8_dispatch_enable;
  if constexpr (requires { Packet::DISPATCH_MODE_SIMD8_SINGLE_PATCH; }) {
    known = packet.dispatch_mode == Packet::DISPATCH_MODE_SIMD8_SINGLE_PATCH;
  } else if constexpr (requires { Packet::DISPATCH_MODE_DUAL_PATCH; }) {
    known = packet.dispatch_mode != Packet::DISPATCH_MODE_DUAL_PATCH;
  } else if constexpr (requires { Packet::DISPATCH_MODE_SIMD8; }) {
    known = packet.dispatch_mode == Packet::DISPATCH_MODE_SIMD8;
  }
  if (known || !IsOn(packet)) return absl::OkStatus();
  return absl::UnimplementedError(
      "the packet's dispatch mode is that of vectors, or of two patches or objects in a thread, "
      "whose payloads are not described; known are those with one in each lane");
}

// The units that PayloadInputs takes, of any 3DSTATE_CONSTANT_*.
template <class Constants>
uint32_t ReadConstantUnits(const Constants& packet) {
  uint32_t units = 0;
  for (const uint32_t length : packet.constant_body.read_length) units += length;
  return units;
}

template <class Gen>
VertexShader ReadVertexShader(const typename Gen::Packets::_3DSTATE_VS& packet) {
  VertexShader shader;
  shader.entry = {packet.kernel_start_pointer, packet.dispatch_grf_start_register_for_urb_data};
  shader.urb_read_offset = packet.vertex_urb_entry_read_offset;
  shader.urb_read_length = packet.vertex_urb_entry_read_length;
  return shader;
}

// The number of control points is not in the packet: it follows from the start register, if there
// is a patch in each lane.
template <class Gen>
TessControlShader ReadTessControl(const typename Gen::Packets::_3DSTATE_HS& packet) {
  using P = typename Gen::Packets::_3DSTATE_HS;
  TessControlShader shader;
  shader.entry = {packet.kernel_start_pointer, packet.dispatch_grf_start_register_for_urb_data};
  if constexpr (requires { packet.dispatch_grf_start_register_for_urb_data_5; }) {
    constexpr uint32_t kLow = stages::MostOf<&P::dispatch_grf_start_register_for_urb_data>();
    shader.entry.start_register += packet.dispatch_grf_start_register_for_urb_data_5 * (kLow + 1);
  }
  shader.dispatch =
      Gen::kFacts.hull_single_patch ? HullDispatch::kSinglePatch : HullDispatch::kPatchPerLane;
  if constexpr (requires { packet.dispatch_mode; }) {
    if (packet.dispatch_mode == P::DISPATCH_MODE_8_PATCH) {
      shader.dispatch = HullDispatch::kPatchPerLane;
    }
  }
  shader.instances = packet.instance_count + 1;
  shader.urb_read_offset = packet.vertex_urb_entry_read_offset;
  shader.urb_read_length = packet.vertex_urb_entry_read_length;
  shader.vertex_handles = packet.include_vertex_handles;
  if constexpr (requires { packet.include_primitive_id; }) {
    shader.primitive_id = packet.include_primitive_id;
  }
  if (shader.dispatch == HullDispatch::kPatchPerLane && shader.vertex_handles) {
    // After the header, the handles of outputs and perhaps the ids.
    const uint32_t before = 2 + (shader.primitive_id ? 1 : 0);
    const uint32_t start = shader.entry.start_register;
    shader.input_control_points = start > before ? start - before : 0;
  }
  return shader;
}

template <class Gen>
TessEvalShader ReadTessEval(const typename Gen::Packets::_3DSTATE_DS& packet) {
  TessEvalShader shader;
  shader.entry = {packet.kernel_start_pointer, packet.dispatch_grf_start_register_for_urb_data};
  shader.patch_read_offset = packet.patch_urb_entry_read_offset;
  shader.patch_read_length = packet.patch_urb_entry_read_length;
  return shader;
}

template <class Gen>
GeometryShader ReadGeometryShader(const typename Gen::Packets::_3DSTATE_GS& packet) {
  using P = typename Gen::Packets::_3DSTATE_GS;
  GeometryShader shader;
  shader.entry = {packet.kernel_start_pointer, packet.dispatch_grf_start_register_for_urb_data};
  if constexpr (requires { packet.dispatch_grf_start_register_for_urb_data_5_4; }) {
    constexpr uint32_t kLow = stages::MostOf<&P::dispatch_grf_start_register_for_urb_data>();
    shader.entry.start_register += packet.dispatch_grf_start_register_for_urb_data_5_4 * (kLow + 1);
  }
  shader.urb_read_offset = packet.vertex_urb_entry_read_offset;
  shader.urb_read_length = packet.vertex_urb_entry_read_length;
  shader.input_vertices = packet.expected_vertex_count;
  shader.vertex_handles = packet.include_vertex_handles;
  shader.primitive_id = packet.include_primitive_id;
  shader.invocations = packet.instance_control + 1;
  return shader;
}

template <class Gen>
FragmentShader ReadFragmentShader(const typename Gen::Packets::_3DSTATE_PS& packet,
                                  const typename Gen::Packets::_3DSTATE_PS_EXTRA& extra,
                                  const typename Gen::Packets::_3DSTATE_WM& windower,
                                  const typename Gen::Packets::_3DSTATE_SBE& setup) {
  using P = typename Gen::Packets::_3DSTATE_PS;
  using Extra = typename Gen::Packets::_3DSTATE_PS_EXTRA;
  FragmentShader shader;
  const ShaderEntry kernel0 = {packet.kernel_start_pointer_0,
                               packet.dispatch_grf_start_register_for_constant_setup_data_0};
  const ShaderEntry kernel1 = {packet.kernel_start_pointer_1,
                               packet.dispatch_grf_start_register_for_constant_setup_data_1};
  if constexpr (requires { packet._8_pixel_dispatch_enable; }) {
    const ShaderEntry kernel2 = {packet.kernel_start_pointer_2,
                                 packet.dispatch_grf_start_register_for_constant_setup_data_2};
    const int count = packet._8_pixel_dispatch_enable + packet._16_pixel_dispatch_enable +
                      packet._32_pixel_dispatch_enable;
    if (packet._8_pixel_dispatch_enable) shader.simd8 = kernel0;
    if constexpr (requires { packet.dual_simd8_dispatch_enable; }) {
      if (packet._8_pixel_dispatch_enable && packet.dual_simd8_dispatch_enable) {
        shader.multi_polygon = MultiPolygonEntry{.entry = kernel0};
        shader.simd8 = std::nullopt;
      }
    }
    if (packet._16_pixel_dispatch_enable) shader.simd16 = count == 1 ? kernel0 : kernel2;
    if (packet._32_pixel_dispatch_enable) shader.simd32 = count == 1 ? kernel0 : kernel1;
  } else {
    const auto read = [&](const ShaderEntry& kernel, bool wide) {
      (wide ? shader.simd32 : shader.simd16) = kernel;
    };
    if (packet.kernel_1_enable) {
      read(kernel1, packet.kernel_1_simd_width == P::KERNEL_1_SIMD_WIDTH_SIMD32);
    }
    if (packet.kernel_0_enable) {
      const bool wide = packet.kernel_0_simd_width == P::KERNEL_0_SIMD_WIDTH_SIMD32;
      const uint32_t polygons = packet.kernel_0_maximum_polys_per_thread + 1;
      if (polygons == 1) {
        read(kernel0, wide);
      } else {
        shader.multi_polygon = MultiPolygonEntry{
            .entry = kernel0, .polygons = polygons, .polygon_lanes = (wide ? 32u : 16u) / polygons};
      }
    }
  }
  shader.position_offset =
      packet.position_xy_offset_select == P::POSITION_XY_OFFSET_SELECT_POSOFFSET_SAMPLE
          ? PositionOffset::kSample
      : packet.position_xy_offset_select == P::POSITION_XY_OFFSET_SELECT_POSOFFSET_CENTROID
          ? PositionOffset::kCentroid
          : PositionOffset::kNone;
  shader.inputs = setup.number_of_sf_output_attributes;
  if constexpr (requires { extra.attribute_enable; }) {
    if (!extra.attribute_enable) shader.inputs = 0;
  }
  if constexpr (requires { packet.push_constant_enable; }) {
    shader.constants = packet.push_constant_enable;
  } else {
    shader.constants = true;  // as many as 3DSTATE_CONSTANT_PS says
  }
  shader.barycentrics = static_cast<uint8_t>(windower.barycentric_interpolation_mode);
  shader.source_depth = extra.pixel_shader_uses_source_depth;
  shader.source_w = extra.pixel_shader_uses_source_w;
  if constexpr (requires { extra.input_coverage_mask_state; }) {
    shader.coverage = extra.input_coverage_mask_state == Extra::INPUT_COVERAGE_MASK_STATE_NONE
                          ? CoverageInput::kNone
                          : CoverageInput::kNormal;
  } else {
    shader.coverage =
        extra.pixel_shader_uses_input_coverage_mask ? CoverageInput::kNormal : CoverageInput::kNone;
  }
  if constexpr (requires { extra.pixel_shader_requires_subpixel_sample_offsets; }) {
    shader.sample_offsets = extra.pixel_shader_requires_subpixel_sample_offsets;
    shader.depth_w_coefficients =
        extra.pixel_shader_requires_source_depth_and_or_w_plane_coefficients;
    shader.perspective_coefficients =
        extra.pixel_shader_requires_perspective_bary_plane_coefficients;
    shader.linear_coefficients =
        extra.pixel_shader_requires_non_perspective_bary_plane_coefficients;
  }
  return shader;
}

// Packet: one that states the width of its threads as a code.
template <class Packet>
unsigned LanesOf(const Packet& packet) {
  if constexpr (requires { Packet::SIMD_SIZE_SIMT32; }) {
    return packet.simd_size == Packet::SIMD_SIZE_SIMT32 ? 32 : 16;
  } else {
    return packet.simd_size == Packet::SIMD_SIZE_SIMD32   ? 32
           : packet.simd_size == Packet::SIMD_SIZE_SIMD16 ? 16
                                                          : 8;
  }
}

// Packet: 3DSTATE_TASK_SHADER or 3DSTATE_MESH_SHADER.
template <class Packet>
WorkgroupProgram ReadWorkgroup(const Packet& packet) {
  WorkgroupProgram group;
  group.entry = packet.kernel_start_pointer;
  group.simd = LanesOf(packet);
  group.invocations = packet.local_x_maximum + 1;
  group.local_ids = packet.emit_local_id_x;
  group.inline_data = packet.emit_inline_parameter;
  return group;
}

// Up to Gfx12: a walker, and the descriptor whose number it has.
template <class Walker, class Descriptor>
ComputeThreads ReadComputeThreads(const Walker& walker, const Descriptor& descriptor) {
  return {.kernel = descriptor.kernel_start_pointer,
          .lanes = LanesOf(walker),
          .shared_registers = descriptor.cross_thread_constant_data_read_length,
          .thread_registers = descriptor.constant_urb_entry_read_length};
}

// From Gfx12.5 on. Body: COMPUTE_WALKER_BODY.
template <class Body>
ComputeThreads ReadComputeThreads(const Body& body) {
  ComputeThreads threads{.kernel = body.interface_descriptor.kernel_start_pointer,
                         .lanes = LanesOf(body),
                         .ray_stack_ids = body.interface_descriptor.btd_mode != 0,
                         .inline_data = body.emit_inline_parameter};
  if (body.generate_local_id) {
    threads.local_ids = body.emit_local == Body::EMIT_LOCAL_EMIT_XYZ  ? 0b111
                        : body.emit_local == Body::EMIT_LOCAL_EMIT_XY ? 0b011
                        : body.emit_local == Body::EMIT_LOCAL_EMIT_X  ? 0b001
                                                                      : 0;
  }
  return threads;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_PAYLOAD_PACKETS_H_
