// The calls of Linux's asahi driver, for Apple's GPUs: numbers and structures, as they were merged
// in Linux 6.16.
//
// Sources: the kernel's interface, which grows but does not change; names are those of its
// documentation. Structures grow at their end: a shorter one's other fields are zero.
#ifndef PACKSMITH_RUNTIME_KERNEL_UAPI_ASAHI_H_
#define PACKSMITH_RUNTIME_KERNEL_UAPI_ASAHI_H_

#include <cstddef>
#include <cstdint>

#include "runtime/kernel/uapi/drm.h"

namespace packsmith::uapi::asahi {

// Bytes of a page of the GPU.
inline constexpr uint64_t kPage = 0x4000;

struct get_params {
  uint32_t param_group, pad;
  uint64_t pointer, size;
};
struct params_global {
  uint64_t features;
  uint32_t gpu_generation, gpu_variant, gpu_revision, chip_id;
  uint32_t num_dies, num_clusters_total, num_cores_per_cluster, max_frequency_khz;
  uint64_t core_masks[64];
  uint64_t vm_start, vm_end, vm_kernel_min_size;
  uint32_t max_commands_per_submission, max_attachments;
  uint64_t command_timestamp_frequency_hz;
};
static_assert(sizeof(get_params) == 24 && sizeof(params_global) == 592);
static_assert(offsetof(params_global, core_masks) == 40 &&
              offsetof(params_global, vm_start) == 552);
static_assert(offsetof(params_global, command_timestamp_frequency_hz) == 584);

struct get_time {
  uint64_t flags, gpu_timestamp;
};
static_assert(sizeof(get_time) == 16);

struct vm_create {
  uint64_t kernel_start, kernel_end;
  uint32_t vm_id, pad;
};
struct vm_destroy {
  uint32_t vm_id, pad;
};
static_assert(sizeof(vm_create) == 24 && sizeof(vm_destroy) == 8);

struct gem_bind_op {
  uint32_t flags, handle;
  uint64_t offset, range, addr;
};
struct vm_bind {
  uint32_t vm_id, num_binds, stride, pad;
  uint64_t userptr;  // address of gem_bind_op, `stride` bytes apart
};
static_assert(sizeof(gem_bind_op) == 32 && sizeof(vm_bind) == 24);

struct gem_create {
  uint64_t size;
  uint32_t flags, vm_id, handle, pad;
};
struct gem_mmap_offset {
  uint32_t handle, flags;
  uint64_t offset;
};
struct gem_bind_object {
  uint32_t op, flags, handle, vm_id;
  uint64_t offset, range;
  uint32_t object_handle, pad;
};
static_assert(sizeof(gem_create) == 24 && sizeof(gem_mmap_offset) == 16);
static_assert(sizeof(gem_bind_object) == 40 && offsetof(gem_bind_object, object_handle) == 32);

struct queue_create {
  uint32_t flags, vm_id, priority, queue_id;
  uint64_t usc_exec_base;
};
struct queue_destroy {
  uint32_t queue_id, pad;
};
static_assert(sizeof(queue_create) == 24 && sizeof(queue_destroy) == 8);

struct submit {
  uint64_t syncs, cmdbuf;
  uint32_t flags, queue_id, in_sync_count, out_sync_count, cmdbuf_size, pad;
};
struct sync {
  uint32_t sync_type, handle;
  uint64_t timeline_value;
};
static_assert(sizeof(submit) == 40 && sizeof(sync) == 16);

// Commands: a header, then `size` bytes.
struct cmd_header {
  uint16_t cmd_type, size, vdm_barrier, cdm_barrier;
};
struct attachment {
  uint64_t pointer, size;
  uint32_t pad, flags;
};
struct helper_program {
  uint32_t binary, cfg;
  uint64_t data;
};
struct zls_buffer {
  uint64_t base, comp_base;
  uint32_t stride, comp_stride;
};
struct timestamp {
  uint32_t handle, offset;
};
struct timestamps {
  timestamp start, end;
};
struct bg_eot {
  uint32_t usc, rsrc_spec;
};
struct cmd_render {
  uint32_t flags, isp_zls_pixels;
  uint64_t vdm_ctrl_stream_base;
  helper_program vertex_helper, fragment_helper;
  uint64_t isp_scissor_base, isp_dbias_base, isp_oclqry_base;
  zls_buffer depth, stencil;
  uint64_t zls_ctrl, ppp_multisamplectl, sampler_heap;
  uint32_t ppp_ctrl;
  uint16_t width_px, height_px, layers, sampler_count;
  uint8_t utile_width_px, utile_height_px, samples, sample_size_B;
  uint32_t isp_merge_upper_x, isp_merge_upper_y;
  bg_eot bg, eot, partial_bg, partial_eot;
  uint32_t isp_bgobjdepth, isp_bgobjvals;
  timestamps ts_vtx, ts_frag;
};
struct cmd_compute {
  uint32_t flags, sampler_count;
  uint64_t cdm_ctrl_stream_base, cdm_ctrl_stream_end, sampler_heap;
  helper_program helper;
  timestamps ts;
};
static_assert(sizeof(cmd_header) == 8 && sizeof(attachment) == 24);
static_assert(sizeof(cmd_render) == 240 && sizeof(cmd_compute) == 64);
static_assert(offsetof(cmd_render, isp_scissor_base) == 48 && offsetof(cmd_render, depth) == 72);
static_assert(offsetof(cmd_render, zls_ctrl) == 120 && offsetof(cmd_render, ppp_ctrl) == 144);
static_assert(offsetof(cmd_render, utile_width_px) == 156 && offsetof(cmd_render, bg) == 168);
static_assert(offsetof(cmd_render, ts_vtx) == 208 && offsetof(cmd_compute, ts) == 48);

inline constexpr uint32_t kGetParams =
    drm::Request(drm::kIn, drm::kDriverBase + 0x00, sizeof(get_params));
inline constexpr uint32_t kGetTime =
    drm::Request(drm::kInOut, drm::kDriverBase + 0x01, sizeof(get_time));
inline constexpr uint32_t kVmCreate =
    drm::Request(drm::kInOut, drm::kDriverBase + 0x02, sizeof(vm_create));
inline constexpr uint32_t kVmDestroy =
    drm::Request(drm::kIn, drm::kDriverBase + 0x03, sizeof(vm_destroy));
inline constexpr uint32_t kVmBind =
    drm::Request(drm::kIn, drm::kDriverBase + 0x04, sizeof(vm_bind));
inline constexpr uint32_t kGemCreate =
    drm::Request(drm::kInOut, drm::kDriverBase + 0x05, sizeof(gem_create));
inline constexpr uint32_t kGemMmapOffset =
    drm::Request(drm::kInOut, drm::kDriverBase + 0x06, sizeof(gem_mmap_offset));
inline constexpr uint32_t kGemBindObject =
    drm::Request(drm::kInOut, drm::kDriverBase + 0x07, sizeof(gem_bind_object));
inline constexpr uint32_t kQueueCreate =
    drm::Request(drm::kInOut, drm::kDriverBase + 0x08, sizeof(queue_create));
inline constexpr uint32_t kQueueDestroy =
    drm::Request(drm::kIn, drm::kDriverBase + 0x09, sizeof(queue_destroy));
inline constexpr uint32_t kSubmit = drm::Request(drm::kIn, drm::kDriverBase + 0x0a, sizeof(submit));
static_assert(kGetParams == 0x40186440 && kGetTime == 0xc0106441 && kVmCreate == 0xc0186442);
static_assert(kVmDestroy == 0x40086443 && kVmBind == 0x40186444 && kGemCreate == 0xc0186445);
static_assert(kGemMmapOffset == 0xc0106446 && kGemBindObject == 0xc0286447);
static_assert(kQueueCreate == 0xc0186448 && kQueueDestroy == 0x40086449 && kSubmit == 0x4028644a);

inline constexpr uint64_t kFeatureSoftFaults = 1;
inline constexpr uint32_t kGemWriteback = 1, kGemVmPrivate = 2;
inline constexpr uint32_t kBindUnbind = 1, kBindRead = 2, kBindWrite = 4, kBindSinglePage = 8;
inline constexpr uint32_t kObjectBind = 0, kObjectUnbind = 1, kObjectTimestamps = 1;
inline constexpr uint32_t kPriorityLow = 0, kPriorityMedium = 1, kPriorityHigh = 2,
                          kPriorityRealtime = 3;
inline constexpr uint32_t kSyncSyncobj = 0, kSyncTimeline = 1;
enum Command : uint16_t {
  kCmdRender = 0,
  kCmdCompute = 1,
  kCmdVertexAttachments = 2,
  kCmdFragmentAttachments = 3,
  kCmdComputeAttachments = 4,
};
inline constexpr uint16_t kNoBarrier = 0xffff;
inline constexpr uint32_t kRenderVertexScratch = 1, kRenderProcessEmptyTiles = 2,
                          kRenderNoVertexClustering = 4, kRenderDbiasIsInt = 1 << 18;

}  // namespace packsmith::uapi::asahi

#endif  // PACKSMITH_RUNTIME_KERNEL_UAPI_ASAHI_H_
