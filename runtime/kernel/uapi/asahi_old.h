// The calls of the asahi driver before it was merged: the interface of Mesa 24, which never was
// stable. Mesa refuses kernels that do not report its version.
//
// Source: the interface's description in Mesa 24.3 (unstable_asahi_drm.h); names are its own.
#ifndef PACKSMITH_RUNTIME_KERNEL_UAPI_ASAHI_OLD_H_
#define PACKSMITH_RUNTIME_KERNEL_UAPI_ASAHI_OLD_H_

#include <cstddef>
#include <cstdint>

#include "runtime/kernel/uapi/drm.h"

namespace packsmith::uapi::asahi_old {

inline constexpr uint32_t kVersion = 0xdeadbeef;

struct get_params {
  uint64_t extensions;
  uint32_t param_group, pad;
  uint64_t pointer, size;
};
struct params_global {
  uint32_t unstable_uabi_version, pad0;
  uint64_t feat_compat, feat_incompat;
  uint32_t gpu_generation, gpu_variant, gpu_revision, chip_id;
  uint32_t num_dies, num_clusters_total, num_cores_per_cluster, num_frags_per_cluster;
  uint32_t num_gps_per_cluster, num_cores_total_active;
  uint64_t core_masks[32];
  uint32_t vm_page_size, pad1;
  uint64_t vm_user_start, vm_user_end, vm_usc_start, vm_usc_end, vm_kernel_min_size;
  uint32_t max_syncs_per_submission, max_commands_per_submission, max_commands_in_flight,
      max_attachments;
  uint32_t timer_frequency_hz, min_frequency_khz, max_frequency_khz, max_power_mw;
  uint32_t result_render_size, result_compute_size;
  uint32_t firmware_version[4];
};
static_assert(sizeof(get_params) == 32 && sizeof(params_global) == 424);
static_assert(offsetof(params_global, core_masks) == 64);
static_assert(offsetof(params_global, vm_user_start) == 328);
static_assert(offsetof(params_global, max_syncs_per_submission) == 368);
static_assert(offsetof(params_global, firmware_version) == 408);

struct vm_create {
  uint64_t extensions, kernel_start, kernel_end;
  uint32_t vm_id, pad;
};
struct vm_destroy {
  uint64_t extensions;
  uint32_t vm_id, pad;
};
struct gem_create {
  uint64_t extensions, size;
  uint32_t flags, vm_id, handle, pad;
};
struct gem_mmap_offset {
  uint64_t extensions;
  uint32_t handle, flags;
  uint64_t offset;
};
struct gem_bind {
  uint64_t extensions;
  uint32_t op, flags, handle, vm_id;
  uint64_t offset, range, addr;
};
struct queue_create {
  uint64_t extensions;
  uint32_t flags, vm_id, queue_caps, priority, queue_id, pad;
};
struct queue_destroy {
  uint64_t extensions;
  uint32_t queue_id, pad;
};
static_assert(sizeof(vm_create) == 32 && sizeof(vm_destroy) == 16 && sizeof(gem_create) == 32);
static_assert(sizeof(gem_mmap_offset) == 24 && sizeof(gem_bind) == 48);
static_assert(sizeof(queue_create) == 32 && sizeof(queue_destroy) == 16);

struct sync {
  uint64_t extensions;
  uint32_t sync_type, handle;
  uint64_t timeline_value;
};
struct submit {
  uint64_t extensions, in_syncs, out_syncs, commands;
  uint32_t flags, queue_id, result_handle, in_sync_count, out_sync_count, command_count;
};
struct command {
  uint64_t extensions;
  uint32_t cmd_type, flags;
  uint64_t cmd_buffer, cmd_buffer_size, result_offset, result_size;
  uint32_t barriers[2];  // render, compute
};
struct attachment {
  uint64_t pointer, size;
  uint32_t order, flags;
};
struct get_time {
  uint64_t extensions, flags;
  int64_t tv_sec, tv_nsec;
  uint64_t gpu_timestamp;
};
static_assert(sizeof(sync) == 24 && sizeof(submit) == 56 && sizeof(command) == 56);
static_assert(offsetof(command, barriers) == 48);
static_assert(sizeof(attachment) == 24 && sizeof(get_time) == 40);

struct cmd_compute {
  uint64_t flags, encoder_ptr, encoder_end, usc_base, attachments;
  uint32_t attachment_count, pad, helper_program, helper_cfg;
  uint64_t helper_arg;
  uint32_t encoder_id, cmd_id;
  uint64_t sampler_array;
  uint32_t sampler_count, sampler_max, iogpu_unk_40, unk_mask;
};
static_assert(sizeof(cmd_compute) == 96 && offsetof(cmd_compute, sampler_array) == 72);

// Six pairs of an address and a stride.
struct zls_buffer {
  uint64_t load, load_stride, store, store_stride, partial, partial_stride;
};
struct cmd_render {
  uint64_t extensions, flags, encoder_ptr, vertex_usc_base, fragment_usc_base;
  uint64_t vertex_attachments, fragment_attachments;
  uint32_t vertex_attachment_count, fragment_attachment_count;
  uint32_t vertex_helper_program, fragment_helper_program, vertex_helper_cfg, fragment_helper_cfg;
  uint64_t vertex_helper_arg, fragment_helper_arg;
  zls_buffer depth, depth_meta, stencil, stencil_meta;
  uint64_t scissor_array, depth_bias_array, visibility_result_buffer, vertex_sampler_array;
  uint32_t vertex_sampler_count, vertex_sampler_max;
  uint64_t fragment_sampler_array;
  uint32_t fragment_sampler_count, fragment_sampler_max;
  uint64_t zls_ctrl, ppp_multisamplectl;
  uint32_t ppp_ctrl, fb_width, fb_height, utile_width, utile_height, samples, layers, encoder_id;
  uint32_t cmd_ta_id, cmd_3d_id, sample_size, tib_blocks, iogpu_unk_214;
  uint32_t merge_upper_x, merge_upper_y;
  uint32_t load_pipeline, load_pipeline_bind, store_pipeline, store_pipeline_bind;
  uint32_t partial_reload_pipeline, partial_reload_pipeline_bind;
  uint32_t partial_store_pipeline, partial_store_pipeline_bind;
  uint32_t depth_dimensions, isp_bgobjdepth, isp_bgobjvals;
};
static_assert(sizeof(cmd_render) == 464 && offsetof(cmd_render, depth) == 96);
static_assert(offsetof(cmd_render, scissor_array) == 288);
static_assert(offsetof(cmd_render, fragment_sampler_array) == 328);
static_assert(offsetof(cmd_render, ppp_ctrl) == 360 && offsetof(cmd_render, load_pipeline) == 420);
static_assert(offsetof(cmd_render, isp_bgobjvals) == 460);

// What the kernel writes to the object of submit::result_handle.
struct result_info {
  uint32_t status, fault_type, unit, sideband;
  uint8_t level, is_read;
  uint16_t pad;
  uint32_t extra;
  uint64_t address;
};
struct result_render {
  result_info info;
  uint64_t flags, vertex_ts_start, vertex_ts_end, fragment_ts_start, fragment_ts_end;
  uint64_t tvb_size_bytes, tvb_usage_bytes;
  uint32_t num_tvb_overflows, pad;
};
struct result_compute {
  result_info info;
  uint64_t flags, ts_start, ts_end;
};
static_assert(sizeof(result_info) == 32 && sizeof(result_render) == 96);
static_assert(sizeof(result_compute) == 56 && offsetof(result_render, tvb_size_bytes) == 72);

inline constexpr uint32_t kGetParams =
    drm::Request(drm::kInOut, drm::kDriverBase + 0, sizeof(get_params));
inline constexpr uint32_t kVmCreate =
    drm::Request(drm::kInOut, drm::kDriverBase + 1, sizeof(vm_create));
inline constexpr uint32_t kVmDestroy =
    drm::Request(drm::kIn, drm::kDriverBase + 2, sizeof(vm_destroy));
inline constexpr uint32_t kGemCreate =
    drm::Request(drm::kInOut, drm::kDriverBase + 3, sizeof(gem_create));
inline constexpr uint32_t kGemMmapOffset =
    drm::Request(drm::kInOut, drm::kDriverBase + 4, sizeof(gem_mmap_offset));
inline constexpr uint32_t kGemBind = drm::Request(drm::kIn, drm::kDriverBase + 5, sizeof(gem_bind));
inline constexpr uint32_t kQueueCreate =
    drm::Request(drm::kInOut, drm::kDriverBase + 6, sizeof(queue_create));
inline constexpr uint32_t kQueueDestroy =
    drm::Request(drm::kIn, drm::kDriverBase + 7, sizeof(queue_destroy));
inline constexpr uint32_t kSubmit = drm::Request(drm::kIn, drm::kDriverBase + 8, sizeof(submit));
inline constexpr uint32_t kGetTime =
    drm::Request(drm::kInOut, drm::kDriverBase + 9, sizeof(get_time));
static_assert(kGetParams == 0xc0206440 && kVmCreate == 0xc0206441 && kVmDestroy == 0x40106442);
static_assert(kGemCreate == 0xc0206443 && kGemMmapOffset == 0xc0186444 && kGemBind == 0x40306445);
static_assert(kQueueCreate == 0xc0206446 && kQueueDestroy == 0x40106447);
static_assert(kSubmit == 0x40386448 && kGetTime == 0xc0286449);

inline constexpr uint64_t kFeatureSoftFaults = 1;
inline constexpr uint32_t kGemWriteback = 1, kGemVmPrivate = 2;
inline constexpr uint32_t kBind = 0, kUnbind = 1, kUnbindAll = 2;  // gem_bind::op
inline constexpr uint32_t kBindRead = 1, kBindWrite = 2;
inline constexpr uint32_t kQueueRender = 1, kQueueBlit = 2, kQueueCompute = 4;
inline constexpr uint32_t kSyncSyncobj = 0, kSyncTimeline = 1;
inline constexpr uint32_t kCmdRender = 0, kCmdBlit = 1, kCmdCompute = 2;
inline constexpr uint32_t kNoBarrier = 0xffffffff;
inline constexpr uint32_t kStatusPending = 0, kStatusComplete = 1, kStatusUnknownError = 2,
                          kStatusTimeout = 3;

}  // namespace packsmith::uapi::asahi_old

#endif  // PACKSMITH_RUNTIME_KERNEL_UAPI_ASAHI_OLD_H_
