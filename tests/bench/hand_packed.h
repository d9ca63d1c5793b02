// What a careful person would write by hand, without any check: one expression of shifts and ors
// for each dword. The benchmarks measure generated code beside it, on the same values, so it names
// bits as nothing else here does.
#ifndef PACKSMITH_TESTS_BENCH_HAND_PACKED_H_
#define PACKSMITH_TESTS_BENCH_HAND_PACKED_H_

#include <cmath>
#include <cstdint>
#include <cstring>

#include "packsmith/gfx9.h"

namespace packsmith::bench {

inline uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline uint32_t Fixed(float value, int fraction_bits, uint32_t mask) {
  return static_cast<uint32_t>(std::lrintf(value * static_cast<float>(1 << fraction_bits))) & mask;
}

inline void Hand(const gfx9::VERTEX_BUFFER_STATE& v, uint32_t* dw) {
  dw[0] = static_cast<uint32_t>(v.buffer_pitch) |
          static_cast<uint32_t>(v.null_vertex_buffer) << 13 |
          static_cast<uint32_t>(v.address_modify_enable) << 14 |
          static_cast<uint32_t>(v.mocs) << 16 | static_cast<uint32_t>(v.vertex_buffer_index) << 26;
  dw[1] = static_cast<uint32_t>(v.buffer_starting_address.gpu);
  dw[2] = static_cast<uint32_t>(v.buffer_starting_address.gpu >> 32);
  dw[3] = static_cast<uint32_t>(v.buffer_size);
}

inline void Hand(const gfx9::VERTEX_ELEMENT_STATE& v, uint32_t* dw) {
  dw[0] = static_cast<uint32_t>(v.source_element_offset) |
          static_cast<uint32_t>(v.edge_flag_enable) << 15 |
          static_cast<uint32_t>(v.source_element_format) << 16 |
          static_cast<uint32_t>(v.valid) << 25 | static_cast<uint32_t>(v.vertex_buffer_index) << 26;
  dw[1] = static_cast<uint32_t>(v.component_3_control) << 16 |
          static_cast<uint32_t>(v.component_2_control) << 20 |
          static_cast<uint32_t>(v.component_1_control) << 24 |
          static_cast<uint32_t>(v.component_0_control) << 28;
}

inline void Hand(const gfx9::SAMPLER_STATE& v, uint32_t* dw) {
  dw[0] = static_cast<uint32_t>(v.anisotropic_algorithm) |
          Fixed(v.texture_lod_bias, 8, 0x1fff) << 1 |
          static_cast<uint32_t>(v.min_mode_filter) << 14 |
          static_cast<uint32_t>(v.mag_mode_filter) << 17 |
          static_cast<uint32_t>(v.mip_mode_filter) << 20 |
          static_cast<uint32_t>(v.coarse_lod_quality_mode) << 22 |
          static_cast<uint32_t>(v.lod_preclamp_mode) << 27 |
          static_cast<uint32_t>(v.texture_border_color_mode) << 29 |
          static_cast<uint32_t>(v.sampler_disable) << 31;
  dw[1] = static_cast<uint32_t>(v.cube_surface_control_mode) |
          static_cast<uint32_t>(v.shadow_function) << 1 |
          static_cast<uint32_t>(v.chromakey_mode) << 4 |
          static_cast<uint32_t>(v.chromakey_index) << 5 |
          static_cast<uint32_t>(v.chromakey_enable) << 7 | Fixed(v.max_lod, 8, 0xfff) << 8 |
          Fixed(v.min_lod, 8, 0xfff) << 20;
  dw[2] = static_cast<uint32_t>(v.lod_clamp_magnification_mode) | v.border_color_pointer;
  dw[3] = static_cast<uint32_t>(v.tcz_address_control_mode) |
          static_cast<uint32_t>(v.tcy_address_control_mode) << 3 |
          static_cast<uint32_t>(v.tcx_address_control_mode) << 6 |
          static_cast<uint32_t>(v.reduction_type_enable) << 9 |
          static_cast<uint32_t>(v.non_normalized_coordinate_enable) << 10 |
          static_cast<uint32_t>(v.trilinear_filter_quality) << 11 |
          static_cast<uint32_t>(v.r_address_min_filter_rounding_enable) << 13 |
          static_cast<uint32_t>(v.r_address_mag_filter_rounding_enable) << 14 |
          static_cast<uint32_t>(v.v_address_min_filter_rounding_enable) << 15 |
          static_cast<uint32_t>(v.v_address_mag_filter_rounding_enable) << 16 |
          static_cast<uint32_t>(v.u_address_min_filter_rounding_enable) << 17 |
          static_cast<uint32_t>(v.u_address_mag_filter_rounding_enable) << 18 |
          static_cast<uint32_t>(v.maximum_anisotropy) << 19 |
          static_cast<uint32_t>(v.reduction_type) << 22;
}

inline void Hand(const gfx9::RENDER_SURFACE_STATE& v, uint32_t* dw) {
  dw[0] = static_cast<uint32_t>(v.cube_face_enable_positive_z) |
          static_cast<uint32_t>(v.cube_face_enable_negative_z) << 1 |
          static_cast<uint32_t>(v.cube_face_enable_positive_y) << 2 |
          static_cast<uint32_t>(v.cube_face_enable_negative_y) << 3 |
          static_cast<uint32_t>(v.cube_face_enable_positive_x) << 4 |
          static_cast<uint32_t>(v.cube_face_enable_negative_x) << 5 |
          static_cast<uint32_t>(v.media_boundary_pixel_mode) << 6 |
          static_cast<uint32_t>(v.render_cache_read_write_mode) << 8 |
          static_cast<uint32_t>(v.sampler_l2_bypass_mode_disable) << 9 |
          static_cast<uint32_t>(v.vertical_line_stride_offset) << 10 |
          static_cast<uint32_t>(v.vertical_line_stride) << 11 |
          static_cast<uint32_t>(v.tile_mode) << 12 |
          static_cast<uint32_t>(v.surface_horizontal_alignment) << 14 |
          static_cast<uint32_t>(v.surface_vertical_alignment) << 16 |
          static_cast<uint32_t>(v.surface_format) << 18 |
          static_cast<uint32_t>(v.surface_array) << 28 |
          static_cast<uint32_t>(v.surface_type) << 29;
  dw[1] = static_cast<uint32_t>(v.surface_qpitch) | Fixed(v.base_mip_level, 1, 0x1f) << 19 |
          static_cast<uint32_t>(v.mocs) << 24;
  dw[2] = static_cast<uint32_t>(v.width) | static_cast<uint32_t>(v.height) << 16;
  dw[3] = static_cast<uint32_t>(v.surface_pitch) | static_cast<uint32_t>(v.depth) << 21;
  dw[4] = static_cast<uint32_t>(v.multisample_position_palette_index) |
          static_cast<uint32_t>(v.number_of_multisamples) << 3 |
          static_cast<uint32_t>(v.multisampled_surface_storage_format) << 6 |
          static_cast<uint32_t>(v.render_target_view_extent) << 7 |
          static_cast<uint32_t>(v.minimum_array_element) << 18 |
          static_cast<uint32_t>(v.render_target_and_sample_unorm_rotation) << 29;
  dw[5] = static_cast<uint32_t>(v.mip_count_lod) | static_cast<uint32_t>(v.surface_min_lod) << 4 |
          static_cast<uint32_t>(v.mip_tail_start_lod) << 8 |
          static_cast<uint32_t>(v.coherency_type) << 14 |
          static_cast<uint32_t>(v.tiled_resource_mode) << 18 |
          static_cast<uint32_t>(v.ewa_disable_for_cube) << 20 |
          static_cast<uint32_t>(v.y_offset) << 21 | static_cast<uint32_t>(v.x_offset) << 25;
  dw[6] = static_cast<uint32_t>(v.auxiliary_surface_mode) |
          static_cast<uint32_t>(v.y_offset_for_u_or_uv_plane) |
          static_cast<uint32_t>(v.auxiliary_surface_pitch) << 3 |
          static_cast<uint32_t>(v.auxiliary_surface_qpitch) << 16 |
          static_cast<uint32_t>(v.x_offset_for_u_or_uv_plane) << 16 |
          static_cast<uint32_t>(v.separate_uv_plane_enable) << 31;
  dw[7] = Fixed(v.resource_min_lod, 8, 0xfff) |
          static_cast<uint32_t>(v.shader_channel_select_alpha) << 16 |
          static_cast<uint32_t>(v.shader_channel_select_blue) << 19 |
          static_cast<uint32_t>(v.shader_channel_select_green) << 22 |
          static_cast<uint32_t>(v.shader_channel_select_red) << 25 |
          static_cast<uint32_t>(v.memory_compression_enable) << 30 |
          static_cast<uint32_t>(v.memory_compression_mode) << 31;
  dw[8] = static_cast<uint32_t>(v.surface_base_address.gpu);
  dw[9] = static_cast<uint32_t>(v.surface_base_address.gpu >> 32);
  dw[10] = static_cast<uint32_t>(v.quilt_width) | static_cast<uint32_t>(v.quilt_height) << 5 |
           static_cast<uint32_t>(v.auxiliary_surface_base_address.gpu) |
           static_cast<uint32_t>(v.auxiliary_table_index_for_media_compressed_surface) << 21;
  dw[11] = static_cast<uint32_t>(v.auxiliary_surface_base_address.gpu >> 32) |
           static_cast<uint32_t>(v.y_offset_for_v_plane) |
           static_cast<uint32_t>(v.x_offset_for_v_plane) << 16;
  dw[12] = Bits(v.hierarchical_depth_clear_value) | static_cast<uint32_t>(v.red_clear_color);
  dw[13] = static_cast<uint32_t>(v.green_clear_color);
  dw[14] = static_cast<uint32_t>(v.blue_clear_color);
  dw[15] = static_cast<uint32_t>(v.alpha_clear_color);
}

inline void Hand(const gfx9::_3DSTATE_VS& v, uint32_t* dw) {
  dw[0] = 0x78100007u;
  dw[1] = static_cast<uint32_t>(v.kernel_start_pointer);
  dw[2] = static_cast<uint32_t>(v.kernel_start_pointer >> 32);
  dw[3] = static_cast<uint32_t>(v.software_exception_enable) << 7 |
          static_cast<uint32_t>(v.accesses_uav) << 12 |
          static_cast<uint32_t>(v.illegal_opcode_exception_enable) << 13 |
          static_cast<uint32_t>(v.floating_point_mode) << 16 |
          static_cast<uint32_t>(v.thread_dispatch_priority) << 17 |
          static_cast<uint32_t>(v.binding_table_entry_count) << 18 |
          static_cast<uint32_t>(v.sampler_count) << 27 |
          static_cast<uint32_t>(v.vector_mask_enable) << 30 |
          static_cast<uint32_t>(v.single_vertex_dispatch) << 31;
  dw[4] = static_cast<uint32_t>(v.per_thread_scratch_space) |
          static_cast<uint32_t>(v.scratch_space_base_pointer.gpu);
  dw[5] = static_cast<uint32_t>(v.scratch_space_base_pointer.gpu >> 32);
  dw[6] = static_cast<uint32_t>(v.vertex_urb_entry_read_offset) << 4 |
          static_cast<uint32_t>(v.vertex_urb_entry_read_length) << 11 |
          static_cast<uint32_t>(v.dispatch_grf_start_register_for_urb_data) << 20;
  dw[7] = static_cast<uint32_t>(v.enable) | static_cast<uint32_t>(v.vertex_cache_disable) << 1 |
          static_cast<uint32_t>(v.simd8_dispatch_enable) << 2 |
          static_cast<uint32_t>(v.statistics_enable) << 10 |
          static_cast<uint32_t>(v.maximum_number_of_threads) << 23;
  dw[8] = static_cast<uint32_t>(v.user_clip_distance_cull_test_enable_bitmask) |
          static_cast<uint32_t>(v.user_clip_distance_clip_test_enable_bitmask) << 8 |
          static_cast<uint32_t>(v.vertex_urb_entry_output_length) << 16 |
          static_cast<uint32_t>(v.vertex_urb_entry_output_read_offset) << 21;
}

inline void Hand(const gfx9::_3DPRIMITIVE& v, uint32_t* dw) {
  dw[0] = 0x7b000005u | static_cast<uint32_t>(v.predicate_enable) << 8 |
          static_cast<uint32_t>(v.uav_coherency_required) << 9 |
          static_cast<uint32_t>(v.indirect_parameter_enable) << 10;
  dw[1] = static_cast<uint32_t>(v.primitive_topology_type) |
          static_cast<uint32_t>(v.vertex_access_type) << 8 |
          static_cast<uint32_t>(v.end_offset_enable) << 9;
  dw[2] = static_cast<uint32_t>(v.vertex_count_per_instance);
  dw[3] = static_cast<uint32_t>(v.start_vertex_location);
  dw[4] = static_cast<uint32_t>(v.instance_count);
  dw[5] = static_cast<uint32_t>(v.start_instance_location);
  dw[6] = static_cast<uint32_t>(v.base_vertex_location);
}

inline void Hand(const gfx9::PIPE_CONTROL& v, uint32_t* dw) {
  dw[0] = 0x7a000004u;
  dw[1] = static_cast<uint32_t>(v.depth_cache_flush_enable) |
          static_cast<uint32_t>(v.stall_at_pixel_scoreboard) << 1 |
          static_cast<uint32_t>(v.state_cache_invalidation_enable) << 2 |
          static_cast<uint32_t>(v.constant_cache_invalidation_enable) << 3 |
          static_cast<uint32_t>(v.vf_cache_invalidation_enable) << 4 |
          static_cast<uint32_t>(v.dc_flush_enable) << 5 |
          static_cast<uint32_t>(v.pipe_control_flush_enable) << 7 |
          static_cast<uint32_t>(v.notify_enable) << 8 |
          static_cast<uint32_t>(v.indirect_state_pointers_disable) << 9 |
          static_cast<uint32_t>(v.texture_cache_invalidation_enable) << 10 |
          static_cast<uint32_t>(v.instruction_cache_invalidate_enable) << 11 |
          static_cast<uint32_t>(v.render_target_cache_flush_enable) << 12 |
          static_cast<uint32_t>(v.depth_stall_enable) << 13 |
          static_cast<uint32_t>(v.post_sync_operation) << 14 |
          static_cast<uint32_t>(v.generic_media_state_clear) << 16 |
          static_cast<uint32_t>(v.tlb_invalidate) << 18 |
          static_cast<uint32_t>(v.global_snapshot_count_reset) << 19 |
          static_cast<uint32_t>(v.command_streamer_stall_enable) << 20 |
          static_cast<uint32_t>(v.store_data_index) << 21 |
          static_cast<uint32_t>(v.lri_post_sync_operation) << 23 |
          static_cast<uint32_t>(v.destination_address_type) << 24 |
          static_cast<uint32_t>(v.flush_llc) << 26;
  dw[2] = static_cast<uint32_t>(v.address.gpu);
  dw[3] = static_cast<uint32_t>(v.address.gpu >> 32);
  dw[4] = static_cast<uint32_t>(v.immediate_data);
  dw[5] = static_cast<uint32_t>(v.immediate_data >> 32);
}

inline void Hand(const gfx9::_3DSTATE_BINDING_TABLE_POINTERS_VS& v, uint32_t* dw) {
  dw[0] = 0x78260000u;
  dw[1] = v.pointer_to_vs_binding_table;
}

}  // namespace packsmith::bench

#endif  // PACKSMITH_TESTS_BENCH_HAND_PACKED_H_
