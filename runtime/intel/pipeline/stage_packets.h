// Packets of the shader stages: 3DSTATE_VS, HS, TE, DS, GS, PS, PS_EXTRA, and those of tasks and
// meshes.
//
//   #include "runtime/intel/pipeline/stage_packets.h"
//   #include "runtime/intel/state/gfx9.h"
//
//   PipelineState<Gfx9> pipeline;
//   absl::Status status =
//       AddShaders({.vertex = &vertex, .fragment = &fragment}, device, pipeline);
//
// AddShaders adds the packets of all stages, those that are off as well: each draw passes through
// all of them. The functions below make single packets, for drivers that change some members.
//
// A stage's packet is in effect for the whole device, so that the number of threads comes from
// RenderDevice::threads. What the windower and the clipper must know of a fragment shader is in the
// packets of AddRasterization(): it takes TraitsOf(shader).

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_STAGE_PACKETS_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_STAGE_PACKETS_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/pipeline/stages.h"
#include "runtime/intel/state/fields.h"
#include "runtime/intel/state/pipeline_state.h"

namespace packsmith::intel {

namespace stages {

// The largest value that a member's bits hold.
template <auto Member>
constexpr uint32_t MostOf() {
  static_assert(FieldBits<Member>::kCount == 1);
  return (uint32_t{1} << std::popcount(FieldBits<Member>::kMask[0].mask)) - 1;
}

// Where a stage's threads spill to, in the packet that says so; of no bytes: nowhere.
template <class Gen, class P>
absl::Status SetScratch(const ShaderScratch& scratch, P& packet) {
  if constexpr (requires { packet.scratch_space_buffer; }) {
    packet.scratch_space_buffer = ScratchPointer(Gen::kFacts, scratch.surface);
  } else {
    const absl::StatusOr<uint32_t> power = ScratchPower(scratch.bytes_per_thread);
    if (!power.ok()) return power.status();
    packet.per_thread_scratch_space = *power;
    packet.scratch_space_base_pointer = scratch.place;
  }
  return absl::OkStatus();
}

// Sets what packets of all stages have.
template <class Gen, class P>
absl::Status SetProgram(absl::string_view stage, const ShaderProgram& program, P& packet) {
  if (absl::Status status = CheckProgram(stage, program, Gen::kFacts); !status.ok()) return status;
  packet.binding_table_entry_count =
      std::min(program.binding_table_entries, MostOf<&P::binding_table_entry_count>());
  packet.sampler_count = SamplerGroups(program.samplers, Gen::kFacts);
  packet.vector_mask_enable = program.vector_mask;
  packet.floating_point_mode =
      program.alternate_float ? P::FLOATING_POINT_MODE_ALTERNATE : P::FLOATING_POINT_MODE_IEEE_754;
  if constexpr (requires { packet.accesses_uav; }) packet.accesses_uav = program.writes_memory;
  if constexpr (requires { packet.registers_per_thread; }) {
    packet.registers_per_thread = RegisterBlocks(program.registers);
  }
  if (program.scratch.bytes_per_thread == 0) return absl::OkStatus();
  return SetScratch<Gen>(program.scratch, packet);
}

template <class Gen>
absl::Status TooLarge(absl::string_view stage, absl::string_view what, uint64_t value,
                      uint64_t most, absl::string_view remedy) {
  return absl::OutOfRangeError(absl::StrCat(stage, ": ", what, " ", value, "; on ", Gen::kName,
                                            " it must be at most ", most, remedy));
}

// `number` minus 1, in Member. `what`: "threads: see RenderDevice::threads".
template <class Gen, auto Member, class P>
absl::Status SetMost(absl::string_view stage, absl::string_view what, uint32_t number, P& packet) {
  constexpr uint32_t kMost = MostOf<Member>() + 1;
  if (number == 0 || number > kMost) {
    return absl::OutOfRangeError(absl::StrCat(stage, " of ", Gen::kName, ": ", number,
                                              "; the packet holds 1 to ", kMost, " ", what));
  }
  packet.*Member = number - 1;
  return absl::OkStatus();
}
inline constexpr absl::string_view kThreads = "threads: see RenderDevice::threads";

// The start register, in one member or in two.
template <class Gen, auto Low, class P, class SetHigh>
absl::Status SetStart(absl::string_view stage, uint32_t start, uint32_t most_high, P& packet,
                      SetHigh set_high) {
  constexpr uint32_t kLow = MostOf<Low>();
  const uint32_t most = (most_high + 1) * (kLow + 1) - 1;
  if (start > most) {
    return TooLarge<Gen>(stage, "start register", start, most,
                         ": give the program fewer inputs in registers");
  }
  packet.*Low = start & kLow;
  set_high(start / (kLow + 1));
  return absl::OkStatus();
}

template <class P>
void SetDistances(const ShaderDistances& distances, P& packet) {
  packet.user_clip_distance_clip_test_enable_bitmask = distances.clip;
  packet.user_clip_distance_cull_test_enable_bitmask = distances.cull;
}

}  // namespace stages

template <class Gen>
absl::StatusOr<typename Gen::Packets::_3DSTATE_VS> VertexShaderPacket(const VertexShader* shader,
                                                                      const RenderDevice& device) {
  using P = typename Gen::Packets::_3DSTATE_VS;
  constexpr absl::string_view kStage = "vertex shader";
  P packet;
  if (shader == nullptr) return packet;
  absl::Status status = CheckEntry(kStage, shader->entry.offset);
  status.Update(stages::SetProgram<Gen>(kStage, shader->program, packet));
  status.Update(stages::SetMost<Gen, &P::maximum_number_of_threads>(kStage, stages::kThreads,
                                                                    device.threads.vertex, packet));
  status.Update(stages::SetStart<Gen, &P::dispatch_grf_start_register_for_urb_data>(
      kStage, shader->entry.start_register, 0, packet, [](uint32_t) {}));
  if (!status.ok()) return status;
  packet.kernel_start_pointer = shader->entry.offset;
  packet.vertex_urb_entry_read_offset = shader->urb_read_offset;
  packet.vertex_urb_entry_read_length = shader->urb_read_length;
  packet.enable = true;
  packet.vertex_cache_disable = !shader->cached;
  if constexpr (requires { packet.simd8_dispatch_enable; }) packet.simd8_dispatch_enable = true;
  packet.statistics_enable = shader->statistics;
  stages::SetDistances(shader->distances, packet);
  return packet;
}

template <class Gen>
absl::StatusOr<typename Gen::Packets::_3DSTATE_HS> TessControlPacket(
    const TessControlShader* shader, const RenderDevice& device) {
  using P = typename Gen::Packets::_3DSTATE_HS;
  constexpr absl::string_view kStage = "tessellation control shader";
  P packet;
  if (shader == nullptr) return packet;
  const bool single = shader->dispatch == HullDispatch::kSinglePatch;
  if (single ? !Gen::kFacts.hull_single_patch : !Gen::kFacts.hull_patch_per_lane) {
    return absl::InvalidArgumentError(absl::StrCat(
        kStage, ": ", single ? "one patch in each thread" : "a patch in each lane", "; on ",
        Gen::kName, " it must be ", single ? "kPatchPerLane" : "kSinglePatch"));
  }
  absl::Status status = CheckEntry(kStage, shader->entry.offset);
  status.Update(stages::SetProgram<Gen>(kStage, shader->program, packet));
  status.Update(stages::SetMost<Gen, &P::maximum_number_of_threads>(kStage, stages::kThreads,
                                                                    device.threads.hull, packet));
  constexpr uint32_t kHigh = [] {
    if constexpr (requires { &P::dispatch_grf_start_register_for_urb_data_5; }) {
      return stages::MostOf<&P::dispatch_grf_start_register_for_urb_data_5>();
    } else {
      return 0u;
    }
  }();
  status.Update(stages::SetStart<Gen, &P::dispatch_grf_start_register_for_urb_data>(
      kStage, shader->entry.start_register, kHigh, packet, [&packet](uint32_t high) {
        (void)packet;  // not used where the packet has no such member
        if constexpr (requires { packet.dispatch_grf_start_register_for_urb_data_5; }) {
          packet.dispatch_grf_start_register_for_urb_data_5 = high;
        }
      }));
  constexpr uint32_t kMostInstances = stages::MostOf<&P::instance_count>() + 1;
  if (shader->instances == 0 || shader->instances > kMostInstances) {
    status.Update(
        absl::OutOfRangeError(absl::StrCat(kStage, ": ", shader->instances, " instances; on ",
                                           Gen::kName, " there must be 1 to ", kMostInstances)));
  }
  if constexpr (requires { packet.include_primitive_id; }) {
    packet.include_primitive_id = shader->primitive_id;
  } else if (shader->primitive_id) {
    status.Update(absl::UnimplementedError(absl::StrCat(
        kStage, ": on ", Gen::kName,
        " the payload has no registers of primitive ids; read that of the thread header")));
  }
  if constexpr (requires { packet.patch_count_threshold; }) {
    packet.patch_count_threshold = shader->patch_count_threshold;
  } else if (shader->patch_count_threshold != 0) {
    status.Update(absl::UnimplementedError(
        absl::StrCat(kStage, ": ", Gen::kName, " has no threshold of patches; it must be 0")));
  }
  if (!status.ok()) return status;
  if constexpr (requires { packet.dispatch_mode; }) {
    packet.dispatch_mode = single ? P::DISPATCH_MODE_SINGLE_PATCH : P::DISPATCH_MODE_8_PATCH;
  }
  packet.kernel_start_pointer = shader->entry.offset;
  packet.instance_count = shader->instances - 1;
  packet.include_vertex_handles = shader->vertex_handles;
  packet.vertex_urb_entry_read_offset = shader->urb_read_offset;
  packet.vertex_urb_entry_read_length = shader->urb_read_length;
  packet.enable = true;
  packet.statistics_enable = shader->statistics;
  return packet;
}

// `primitive_id`: some stage of the pipeline reads the primitive's id.
template <class Gen>
typename Gen::Packets::_3DSTATE_TE TessellatorPacket(const Tessellator* tessellator,
                                                     bool primitive_id) {
  using P = typename Gen::Packets::_3DSTATE_TE;
  P packet;
  if (tessellator == nullptr) return packet;
  constexpr uint32_t kDomains[] = {P::TE_DOMAIN_QUAD, P::TE_DOMAIN_TRI, P::TE_DOMAIN_ISOLINE};
  constexpr uint32_t kSpacings[] = {P::PARTITIONING_INTEGER, P::PARTITIONING_ODD_FRACTIONAL,
                                    P::PARTITIONING_EVEN_FRACTIONAL};
  constexpr uint32_t kOutputs[] = {P::OUTPUT_TOPOLOGY_POINT, P::OUTPUT_TOPOLOGY_LINE,
                                   P::OUTPUT_TOPOLOGY_TRI_CW, P::OUTPUT_TOPOLOGY_TRI_CCW};
  packet.te_enable = true;
  packet.te_mode = P::TE_MODE_HW_TESS;
  packet.te_domain = kDomains[static_cast<size_t>(tessellator->domain)];
  packet.partitioning = kSpacings[static_cast<size_t>(tessellator->spacing)];
  packet.output_topology = kOutputs[static_cast<size_t>(tessellator->output)];
  packet.maximum_tessellation_factor_odd = 63;
  packet.maximum_tessellation_factor_not_odd = 64;
  if constexpr (requires { packet.tessellation_distribution_mode; }) {
    constexpr uint32_t kModes[] = {P::TESSELLATION_DISTRIBUTION_MODE_TEDMODE_OFF,
                                   P::TESSELLATION_DISTRIBUTION_MODE_TEDMODE_RR_STRICT,
                                   P::TESSELLATION_DISTRIBUTION_MODE_TEDMODE_RR_FREE};
    const bool off = Gen::kFacts.wa_14015055625 && primitive_id;
    packet.tessellation_distribution_mode =
        kModes[off ? 0 : static_cast<size_t>(tessellator->distribution)];
    // Sizes and levels as Mesa's anv chooses them.
    packet.target_block_size = P::TARGET_BLOCK_SIZE_1K_TRIANGLES;
    packet.local_bop_accumulator_threshold = P::LOCAL_BOP_ACCUMULATOR_THRESHOLD_MULTIPLIER_1;
    if constexpr (requires { P::SMALL_PATCH_THRESHOLD_SPT_64_TRIANGLES; }) {
      packet.small_patch_threshold = P::SMALL_PATCH_THRESHOLD_SPT_64_TRIANGLES;
    } else {
      packet.small_patch_threshold = P::SMALL_PATCH_THRESHOLD_64_TRIANGLES;
    }
    packet.tessellation_distribution_level = P::TESSELLATION_DISTRIBUTION_LEVEL_TEDLEVEL_PATCH;
    if constexpr (requires { packet.number_of_regions_per_patch; }) {
      packet.tessellation_distribution_level = P::TESSELLATION_DISTRIBUTION_LEVEL_TEDLEVEL_REGION;
      packet.number_of_regions_per_patch = 2;
    }
  }
  return packet;
}

template <class Gen>
absl::StatusOr<typename Gen::Packets::_3DSTATE_DS> TessEvalPacket(const TessEvalShader* shader,
                                                                  const RenderDevice& device) {
  using P = typename Gen::Packets::_3DSTATE_DS;
  constexpr absl::string_view kStage = "tessellation evaluation shader";
  P packet;
  if (shader == nullptr) return packet;
  absl::Status status = CheckEntry(kStage, shader->entry.offset);
  status.Update(stages::SetProgram<Gen>(kStage, shader->program, packet));
  status.Update(stages::SetMost<Gen, &P::maximum_number_of_threads>(kStage, stages::kThreads,
                                                                    device.threads.domain, packet));
  status.Update(stages::SetStart<Gen, &P::dispatch_grf_start_register_for_urb_data>(
      kStage, shader->entry.start_register, 0, packet, [](uint32_t) {}));
  if (!status.ok()) return status;
  packet.kernel_start_pointer = shader->entry.offset;
  packet.patch_urb_entry_read_offset = shader->patch_read_offset;
  packet.patch_urb_entry_read_length = shader->patch_read_length;
  packet.enable = true;
  packet.dispatch_mode = P::DISPATCH_MODE_SIMD8_SINGLE_PATCH;
  packet.compute_w_coordinate_enable = shader->tessellator.domain == TessDomain::kTriangle;
  if constexpr (requires { packet.primitive_id_not_required; }) {
    packet.primitive_id_not_required = !shader->primitive_id;
  }
  packet.statistics_enable = shader->statistics;
  stages::SetDistances(shader->distances, packet);
  return packet;
}

template <class Gen>
absl::StatusOr<typename Gen::Packets::_3DSTATE_GS> GeometryShaderPacket(
    const GeometryShader* shader, const RenderDevice& device) {
  using G = typename Gen::Packets;
  using P = typename G::_3DSTATE_GS;
  constexpr absl::string_view kStage = "geometry shader";
  P packet;
  if (shader == nullptr) return packet;
  absl::Status status = CheckGeometry(*shader);
  status.Update(CheckEntry(kStage, shader->entry.offset));
  status.Update(stages::SetProgram<Gen>(kStage, shader->program, packet));
  status.Update(stages::SetMost<Gen, &P::maximum_number_of_threads>(
      kStage, stages::kThreads,
      device.threads.geometry / (Gen::kFacts.geometry_threads_in_pairs ? 2 : 1), packet));
  constexpr uint32_t kHigh = [] {
    if constexpr (requires { &P::dispatch_grf_start_register_for_urb_data_5_4; }) {
      return stages::MostOf<&P::dispatch_grf_start_register_for_urb_data_5_4>();
    } else {
      return 0u;
    }
  }();
  status.Update(stages::SetStart<Gen, &P::dispatch_grf_start_register_for_urb_data>(
      kStage, shader->entry.start_register, kHigh, packet, [&packet](uint32_t high) {
        (void)packet;  // not used where the packet has no such member
        if constexpr (requires { packet.dispatch_grf_start_register_for_urb_data_5_4; }) {
          packet.dispatch_grf_start_register_for_urb_data_5_4 = high;
        }
      }));
  if (!status.ok()) return status;
  using Topology = typename G::_3D_Prim_Topo_Type;
  constexpr Topology kOutputs[] = {Topology::POINTLIST, Topology::LINESTRIP, Topology::TRISTRIP};
  packet.kernel_start_pointer = shader->entry.offset;
  packet.expected_vertex_count = shader->input_vertices;
  packet.vertex_urb_entry_read_offset = shader->urb_read_offset;
  packet.include_vertex_handles = shader->vertex_handles;
  packet.vertex_urb_entry_read_length = shader->urb_read_length;
  packet.output_topology = kOutputs[static_cast<size_t>(shader->output)];
  packet.output_vertex_size = shader->output_vertex_bytes / 16 - 1;
  packet.enable = true;
  packet.discard_adjacency = shader->discard_adjacency;
  packet.reorder_mode = P::REORDER_MODE_TRAILING;
  packet.include_primitive_id = shader->primitive_id;
  packet.statistics_enable = shader->statistics;
  if constexpr (requires { packet.dispatch_mode; }) packet.dispatch_mode = P::DISPATCH_MODE_SIMD8;
  packet.default_stream_id = shader->default_stream;
  packet.instance_control = shader->invocations - 1;
  packet.control_data_header_size = shader->control_bytes / 32;
  packet.control_data_format = shader->control == GeometryControl::kStreamId
                                   ? P::CONTROL_DATA_FORMAT_SID
                                   : P::CONTROL_DATA_FORMAT_CUT;
  // What the setup back end reads, after the header and the position; unless 3DSTATE_SBE says
  // otherwise, as AddAttributes() does.
  packet.vertex_urb_entry_output_read_offset = 1;
  packet.vertex_urb_entry_output_length = std::max(shader->output_vertex_bytes / 32, 2u) - 1;
  packet.static_output = shader->output_vertices.has_value();
  packet.static_output_vertex_count = shader->output_vertices.value_or(0);
  stages::SetDistances(shader->distances, packet);
  return packet;
}

// A pixel shader that is off runs no threads: depth and stencil are still tested and written.
template <class Gen>
absl::StatusOr<typename Gen::Packets::_3DSTATE_PS> FragmentShaderPacket(
    const FragmentShader* shader, const PixelTarget& target, const RenderDevice& device) {
  using P = typename Gen::Packets::_3DSTATE_PS;
  constexpr absl::string_view kStage = "fragment shader";
  P packet;
  if (shader == nullptr) return packet;
  const absl::StatusOr<PixelWidths> widths = ChoosePixelWidths(*shader, target, Gen::kFacts);
  if (!widths.ok()) return widths.status();
  const PixelKernels kernels = PlacePixelKernels(*shader, *widths, Gen::kFacts);
  absl::Status status = stages::SetProgram<Gen>(kStage, shader->program, packet);
  constexpr uint32_t kReserved = Gen::kFacts.pixel_threads_reserved;
  const uint32_t threads = std::max<uint32_t>(device.threads.pixel, kReserved) - kReserved;
  status.Update(stages::SetMost<Gen, &P::maximum_number_of_threads_per_psd>(
      kStage, stages::kThreads, threads, packet));
  for (const ShaderEntry* kernel : kernels.slots) {
    if (kernel == nullptr) continue;
    status.Update(CheckEntry(kStage, kernel->offset));
    constexpr uint32_t kMostStart =
        stages::MostOf<&P::dispatch_grf_start_register_for_constant_setup_data_0>();
    if (kernel->start_register > kMostStart) {
      status.Update(
          stages::TooLarge<Gen>(kStage, "start register", kernel->start_register, kMostStart, ""));
    }
  }
  if constexpr (requires { packet.push_constant_enable; }) {
    packet.push_constant_enable = shader->constants;
  }
  constexpr uint32_t kOffsets[] = {P::POSITION_XY_OFFSET_SELECT_POSOFFSET_NONE,
                                   P::POSITION_XY_OFFSET_SELECT_POSOFFSET_CENTROID,
                                   P::POSITION_XY_OFFSET_SELECT_POSOFFSET_SAMPLE};
  packet.position_xy_offset_select = kOffsets[static_cast<size_t>(shader->position_offset)];
  packet.render_target_fast_clear_enable = target.operation == PixelOperation::kFastClear;
  if (target.operation == PixelOperation::kPartialResolve ||
      target.operation == PixelOperation::kFullResolve) {
    const bool full = target.operation == PixelOperation::kFullResolve;
    if constexpr (requires { P::RENDER_TARGET_RESOLVE_TYPE_RESOLVE_FULL; }) {
      packet.render_target_resolve_type = full ? P::RENDER_TARGET_RESOLVE_TYPE_RESOLVE_FULL
                                               : P::RENDER_TARGET_RESOLVE_TYPE_RESOLVE_PARTIAL;
    } else if constexpr (requires { packet.render_target_resolve_enable; }) {
      if (!full) {
        status.Update(absl::UnimplementedError(
            absl::StrCat(Gen::kName, " cannot resolve partially; resolve fully")));
      }
      packet.render_target_resolve_enable = true;
    } else {
      status.Update(absl::UnimplementedError(
          absl::StrCat(Gen::kName, " does not resolve render targets with a packet")));
    }
  }
  if (!status.ok()) return status;

  const auto offset = [&](unsigned slot) {
    return (kernels.slots[slot] != nullptr ? kernels.slots[slot] : kernels.first)->offset;
  };
  const auto start = [&](unsigned slot) {
    return kernels.slots[slot] != nullptr ? kernels.slots[slot]->start_register : 0;
  };
  packet.kernel_start_pointer_0 = offset(0);
  packet.kernel_start_pointer_1 = offset(1);
  packet.dispatch_grf_start_register_for_constant_setup_data_0 = start(0);
  packet.dispatch_grf_start_register_for_constant_setup_data_1 = start(1);
  if constexpr (requires { packet._8_pixel_dispatch_enable; }) {
    packet.kernel_start_pointer_2 = offset(2);
    packet.dispatch_grf_start_register_for_constant_setup_data_2 = start(2);
    packet._8_pixel_dispatch_enable = widths->simd8 || widths->multi_polygon;
    if constexpr (requires { packet.dual_simd8_dispatch_enable; }) {
      packet.dual_simd8_dispatch_enable = widths->multi_polygon;
    }
    packet._16_pixel_dispatch_enable = widths->simd16;
    packet._32_pixel_dispatch_enable = widths->simd32;
  } else {
    packet.kernel_0_enable = kernels.slots[0] != nullptr;
    packet.kernel_0_simd_width = P::KERNEL_0_SIMD_WIDTH_SIMD16;
    // Each polygon of a thread has 16 lanes, or 8.
    packet.kernel_0_poly_packing_policy = P::KERNEL_0_POLY_PACKING_POLICY_POLY_PACK16_FIXED;
    if (widths->multi_polygon) {
      const MultiPolygonEntry& kernel = *shader->multi_polygon;
      packet.kernel_0_maximum_polys_per_thread = kernel.polygons - 1;
      if (kernel.lanes() == 32) packet.kernel_0_simd_width = P::KERNEL_0_SIMD_WIDTH_SIMD32;
      if (kernel.polygon_lanes == 8) {
        packet.kernel_0_poly_packing_policy = P::KERNEL_0_POLY_PACKING_POLICY_POLY_PACK8_FIXED;
      }
    }
    packet.kernel_1_enable = kernels.slots[1] != nullptr;
    packet.kernel_1_simd_width =
        widths->simd32 ? P::KERNEL_1_SIMD_WIDTH_SIMD32 : P::KERNEL_1_SIMD_WIDTH_SIMD16;
  }
  return packet;
}

template <class Gen>
absl::StatusOr<typename Gen::Packets::_3DSTATE_PS_EXTRA> FragmentExtraPacket(
    const FragmentShader* shader) {
  using P = typename Gen::Packets::_3DSTATE_PS_EXTRA;
  P packet;
  if (shader == nullptr) return packet;
  absl::Status status;
  // What a generation's packet lacks cannot be asked for.
  const auto lacks = [&](bool wanted, absl::string_view what) {
    if (!wanted) return;
    status.Update(absl::UnimplementedError(
        absl::StrCat("fragment shader: ", what, "; ", Gen::kName, " has none")));
  };
  constexpr uint32_t kDepths[] = {P::PIXEL_SHADER_COMPUTED_DEPTH_MODE_PSCDEPTH_OFF,
                                  P::PIXEL_SHADER_COMPUTED_DEPTH_MODE_PSCDEPTH_ON,
                                  P::PIXEL_SHADER_COMPUTED_DEPTH_MODE_PSCDEPTH_ON_GE,
                                  P::PIXEL_SHADER_COMPUTED_DEPTH_MODE_PSCDEPTH_ON_LE};
  packet.pixel_shader_valid = true;
  packet.pixel_shader_has_uav = shader->program.writes_memory;
  packet.pixel_shader_is_per_sample = shader->per_sample;
  packet.pixel_shader_uses_source_depth = shader->source_depth;
  packet.pixel_shader_uses_source_w = shader->source_w;
  packet.pixel_shader_computed_depth_mode = kDepths[static_cast<size_t>(shader->computed_depth)];
  packet.pixel_shader_kills_pixel = shader->kills_pixels;
  packet.omask_present_to_render_target = shader->writes_sample_mask;
  if constexpr (requires { packet.attribute_enable; }) {
    packet.attribute_enable = shader->inputs != 0;
  }
  if constexpr (requires { packet.input_coverage_mask_state; }) {
    constexpr uint32_t kCoverages[] = {P::INPUT_COVERAGE_MASK_STATE_NONE,
                                       P::INPUT_COVERAGE_MASK_STATE_NORMAL,
                                       P::INPUT_COVERAGE_MASK_STATE_INNER_CONSERVATIVE,
                                       P::INPUT_COVERAGE_MASK_STATE_DEPTH_COVERAGE};
    packet.input_coverage_mask_state = kCoverages[static_cast<size_t>(shader->coverage)];
  } else {
    packet.pixel_shader_uses_input_coverage_mask = shader->coverage != CoverageInput::kNone;
    lacks(shader->coverage == CoverageInput::kInner, "inner coverage");
    lacks(shader->coverage == CoverageInput::kAfterDepth, "coverage after the depth test");
  }
  if constexpr (requires { packet.pixel_shader_computes_stencil; }) {
    packet.pixel_shader_computes_stencil = shader->writes_stencil;
  } else {
    lacks(shader->writes_stencil, "stencil output");
  }
  if constexpr (requires { packet.pixel_shader_pulls_bary; }) {
    packet.pixel_shader_pulls_bary = shader->pulls_barycentrics;
  }
  if constexpr (requires { packet.pixel_shader_requires_subpixel_sample_offsets; }) {
    packet.pixel_shader_requires_subpixel_sample_offsets = shader->sample_offsets;
    packet.pixel_shader_requires_source_depth_and_or_w_plane_coefficients =
        shader->depth_w_coefficients;
    packet.pixel_shader_requires_perspective_bary_plane_coefficients =
        shader->perspective_coefficients;
    packet.pixel_shader_requires_non_perspective_bary_plane_coefficients =
        shader->linear_coefficients;
    packet.pixel_shader_requires_requested_coarse_pixel_shading_size = shader->coarse_pixel_size;
    packet.pixel_shader_is_per_coarse_pixel = shader->per_coarse_pixel;
  } else {
    lacks(shader->sample_offsets, "offsets of samples");
    lacks(shader->depth_w_coefficients || shader->perspective_coefficients ||
              shader->linear_coefficients,
          "coefficients of planes");
    lacks(shader->coarse_pixel_size || shader->per_coarse_pixel, "coarse pixels");
  }
  if (!status.ok()) return status;
  return packet;
}

// Adds the packets of all stages from the vertex shader to the pixel shader: 3DSTATE_VS, HS, TE,
// DS, GS, PS and PS_EXTRA. Or an error that names the stage; the packets of others have been added
// then.
template <class Gen>
absl::Status AddShaders(const ShaderStages& stages, const RenderDevice& device,
                        PipelineState<Gen>& pipeline) {
  if (absl::Status status = CheckStages(stages); !status.ok()) return status;
  const bool primitive_id = (stages.tess_control != nullptr && stages.tess_control->primitive_id) ||
                            (stages.tess_eval != nullptr && stages.tess_eval->primitive_id) ||
                            (stages.geometry != nullptr && stages.geometry->primitive_id) ||
                            stages.fragment_reads_primitive_id;
  absl::Status status;
  const auto add = [&](const auto& packet) {
    if (!packet.ok()) {
      status.Update(packet.status());
    } else if (!pipeline.Add(*packet)) {
      status.Update(pipeline.status());
    }
  };
  add(VertexShaderPacket<Gen>(stages.vertex, device));
  add(TessControlPacket<Gen>(stages.tess_control, device));
  const Tessellator* const tessellator =
      stages.tess_eval == nullptr ? nullptr : &stages.tess_eval->tessellator;
  if (!pipeline.Add(TessellatorPacket<Gen>(tessellator, primitive_id))) {
    status.Update(pipeline.status());
  }
  add(TessEvalPacket<Gen>(stages.tess_eval, device));
  add(GeometryShaderPacket<Gen>(stages.geometry, device));
  add(FragmentShaderPacket<Gen>(stages.fragment, stages.target, device));
  add(FragmentExtraPacket<Gen>(stages.fragment));
  return status;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_STAGE_PACKETS_H_
