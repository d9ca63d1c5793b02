// The calls of Linux's driver for Intel's GPUs up to Gfx12.5: numbers and structures.
//
// Sources: the kernel's interface, which does not change; names are those of its documentation
// ("drm/i915 uAPI"), without their prefixes. A structure that ends in an array has only its head
// here.
#ifndef PACKSMITH_RUNTIME_KERNEL_UAPI_I915_H_
#define PACKSMITH_RUNTIME_KERNEL_UAPI_I915_H_

#include <cstddef>
#include <cstdint>

#include "runtime/kernel/uapi/drm.h"

namespace packsmith::uapi::i915 {

// ---- Extensions: chains of structures that each begin with this. --------------------------------

struct user_extension {
  uint64_t next_extension;  // address; 0 ends the chain
  uint32_t name, flags;
  uint32_t rsvd[4];
};
static_assert(sizeof(user_extension) == 32 && offsetof(user_extension, name) == 8);

struct engine_class_instance {
  uint16_t engine_class, engine_instance;
};
static_assert(sizeof(engine_class_instance) == 4);
enum EngineClass : uint16_t {
  kClassRender = 0,
  kClassCopy = 1,
  kClassVideo = 2,
  kClassVideoEnhance = 3,
  kClassCompute = 4,
  kClassInvalid = 0xffff,
};
inline constexpr uint16_t kInstanceInvalidNone = 0xffff, kInstanceInvalidVirtual = 0xfffe;

// ---- Parameters of the device. ------------------------------------------------------------------

struct getparam {
  int32_t param;
  uint32_t pad;
  uint64_t value;  // address of an int32_t
};
static_assert(sizeof(getparam) == 16 && offsetof(getparam, value) == 8);

enum Param : int32_t {
  kParamIrqActive = 1,
  kParamAllowBatchbuffer = 2,
  kParamLastDispatch = 3,
  kParamChipsetId = 4,
  kParamHasGem = 5,
  kParamNumFencesAvail = 6,
  kParamHasOverlay = 7,
  kParamHasPageflipping = 8,
  kParamHasExecbuf2 = 9,
  kParamHasBsd = 10,
  kParamHasBlt = 11,
  kParamHasRelaxedFencing = 12,
  kParamHasCoherentRings = 13,
  kParamHasExecConstants = 14,
  kParamHasRelaxedDelta = 15,
  kParamHasGen7SolReset = 16,
  kParamHasLlc = 17,
  kParamHasAliasingPpgtt = 18,
  kParamHasWaitTimeout = 19,
  kParamHasSemaphores = 20,
  kParamHasPrimeVmapFlush = 21,
  kParamHasVebox = 22,
  kParamHasSecureBatches = 23,
  kParamHasPinnedBatches = 24,
  kParamHasExecNoReloc = 25,
  kParamHasExecHandleLut = 26,
  kParamHasWt = 27,
  kParamCmdParserVersion = 28,
  kParamHasCoherentPhysGtt = 29,
  kParamMmapVersion = 30,
  kParamHasBsd2 = 31,
  kParamRevision = 32,
  kParamSubsliceTotal = 33,
  kParamEuTotal = 34,
  kParamHasGpuReset = 35,
  kParamHasResourceStreamer = 36,
  kParamHasExecSoftpin = 37,
  kParamHasPooledEu = 38,
  kParamMinEuInPool = 39,
  kParamMmapGttVersion = 40,
  kParamHasScheduler = 41,
  kParamHucStatus = 42,
  kParamHasExecAsync = 43,
  kParamHasExecFence = 44,
  kParamHasExecCapture = 45,
  kParamSliceMask = 46,
  kParamSubsliceMask = 47,
  kParamHasExecBatchFirst = 48,
  kParamHasExecFenceArray = 49,
  kParamHasContextIsolation = 50,
  kParamCsTimestampFrequency = 51,
  kParamMmapGttCoherent = 52,
  kParamHasExecSubmitFence = 53,
  kParamPerfRevision = 54,
  kParamHasExecTimelineFences = 55,
  kParamHasUserptrProbe = 56,
  kParamOaTimestampFrequency = 57,
  kParamPxpStatus = 58,
  kParamHasContextFreqHint = 59,
};
enum SchedulerCapability : uint32_t {
  kSchedulerEnabled = 1,
  kSchedulerPriority = 2,
  kSchedulerPreemption = 4,
  kSchedulerSemaphores = 8,
  kSchedulerEngineBusyStats = 16,
  kSchedulerStaticPriorityMap = 32,
};

// ---- Objects. -----------------------------------------------------------------------------------

struct gem_create {
  uint64_t size;
  uint32_t handle, pad;
};
struct gem_create_ext {
  uint64_t size;
  uint32_t handle, flags;
  uint64_t extensions;
};
static_assert(sizeof(gem_create) == 16 && sizeof(gem_create_ext) == 24);
inline constexpr uint32_t kCreateNeedsCpuAccess = 1;
enum CreateExtension : uint32_t {
  kCreateMemoryRegions = 0,
  kCreateProtectedContent = 1,
  kCreateSetPat = 2,
};
struct gem_memory_class_instance {
  uint16_t memory_class, memory_instance;
};
inline constexpr uint16_t kMemorySystem = 0, kMemoryDevice = 1;
struct gem_create_ext_memory_regions {
  user_extension base;
  uint32_t pad, num_regions;
  uint64_t regions;  // address of gem_memory_class_instance[num_regions]
};
struct gem_create_ext_protected_content {
  user_extension base;
  uint32_t flags, pad;
};
struct gem_create_ext_set_pat {
  user_extension base;
  uint32_t pat_index, rsvd;
};
static_assert(sizeof(gem_create_ext_memory_regions) == 48);
static_assert(sizeof(gem_create_ext_set_pat) == 40);

struct gem_pread {
  uint32_t handle, pad;
  uint64_t offset, size, data_ptr;
};
struct gem_pwrite {
  uint32_t handle, pad;
  uint64_t offset, size, data_ptr;
};
static_assert(sizeof(gem_pread) == 32 && sizeof(gem_pwrite) == 32);

struct gem_mmap {
  uint32_t handle, pad;
  uint64_t offset, size, addr_ptr, flags;
};
inline constexpr uint64_t kMmapWc = 1;
// The head, which ends with `offset`, is also the structure of MMAP_GTT.
struct gem_mmap_offset {
  uint32_t handle, pad;
  uint64_t offset, flags, extensions;
};
struct gem_mmap_gtt {
  uint32_t handle, pad;
  uint64_t offset;
};
static_assert(sizeof(gem_mmap) == 40 && sizeof(gem_mmap_offset) == 32);
enum MmapOffset : uint64_t {
  kMmapOffsetGtt = 0,
  kMmapOffsetWc = 1,
  kMmapOffsetWb = 2,
  kMmapOffsetUc = 3,
  kMmapOffsetFixed = 4,
};

struct gem_set_domain {
  uint32_t handle, read_domains, write_domain;
};
enum Domain : uint32_t {
  kDomainCpu = 0x01,
  kDomainRender = 0x02,
  kDomainSampler = 0x04,
  kDomainCommand = 0x08,
  kDomainInstruction = 0x10,
  kDomainVertex = 0x20,
  kDomainGtt = 0x40,
  kDomainWc = 0x80,
};
inline constexpr uint32_t kGpuDomains =
    kDomainRender | kDomainSampler | kDomainCommand | kDomainInstruction | kDomainVertex;
struct gem_sw_finish {
  uint32_t handle;
};
struct gem_busy {
  uint32_t handle, busy;
};
struct gem_caching {
  uint32_t handle, caching;
};
inline constexpr uint32_t kCachingNone = 0, kCachingCached = 1, kCachingDisplay = 2;
struct gem_set_tiling {
  uint32_t handle, tiling_mode, stride, swizzle_mode;
};
struct gem_get_tiling {
  uint32_t handle, tiling_mode, swizzle_mode, phys_swizzle_mode;
};
inline constexpr uint32_t kTilingNone = 0, kTilingX = 1, kTilingY = 2;
struct gem_get_aperture {
  uint64_t aper_size, aper_available_size;
};
struct gem_madvise {
  uint32_t handle, madv, retained;
};
inline constexpr uint32_t kMadvWillneed = 0, kMadvDontneed = 1;
struct gem_wait {
  uint32_t bo_handle, flags;
  int64_t timeout_ns;
};
struct gem_userptr {
  uint64_t user_ptr, user_size;
  uint32_t flags, handle;
};
inline constexpr uint32_t kUserptrReadOnly = 1, kUserptrProbe = 2,
                          kUserptrUnsynchronized = 0x80000000;
static_assert(sizeof(gem_set_domain) == 12 && sizeof(gem_set_tiling) == 16);
static_assert(sizeof(gem_madvise) == 12 && sizeof(gem_wait) == 16 && sizeof(gem_userptr) == 24);

// ---- Submission. --------------------------------------------------------------------------------

struct gem_relocation_entry {
  uint32_t target_handle, delta;
  uint64_t offset, presumed_offset;
  uint32_t read_domains, write_domain;
};
static_assert(sizeof(gem_relocation_entry) == 32);

struct gem_exec_object2 {
  uint32_t handle, relocation_count;
  uint64_t relocs_ptr, alignment, offset, flags, pad_to_size, rsvd2;
};
static_assert(sizeof(gem_exec_object2) == 56 && offsetof(gem_exec_object2, flags) == 32);
enum ExecObjectFlag : uint64_t {
  kObjectNeedsFence = 1 << 0,
  kObjectNeedsGtt = 1 << 1,
  kObjectWrite = 1 << 2,
  kObjectSupports48bAddress = 1 << 3,
  kObjectPinned = 1 << 4,
  kObjectPadToSize = 1 << 5,
  kObjectAsync = 1 << 6,
  kObjectCapture = 1 << 7,
};
inline constexpr uint64_t kObjectKnownFlags = 0xff;

struct gem_exec_fence {
  uint32_t handle, flags;
};
inline constexpr uint32_t kFenceWait = 1, kFenceSignal = 2;

inline constexpr uint32_t kExecTimelineFences = 0;  // an extension's name
struct gem_execbuffer_ext_timeline_fences {
  user_extension base;
  uint64_t fence_count, handles_ptr, values_ptr;
};
static_assert(sizeof(gem_execbuffer_ext_timeline_fences) == 56);

struct gem_execbuffer2 {
  uint64_t buffers_ptr;
  uint32_t buffer_count, batch_start_offset, batch_len, DR1, DR4, num_cliprects;
  // Fences, or extensions; see the flags.
  uint64_t cliprects_ptr;
  uint64_t flags;
  uint64_t rsvd1;  // the context's id
  uint64_t rsvd2;  // sync files: the one to wait for in the lower half, the new one in the upper
};
static_assert(sizeof(gem_execbuffer2) == 64 && offsetof(gem_execbuffer2, flags) == 40);
enum ExecFlag : uint64_t {
  kExecRingMask = 0x3f,
  kExecConstantsMask = 3 << 6,
  kExecGen7SolReset = 1 << 8,
  kExecSecure = 1 << 9,
  kExecIsPinned = 1 << 10,
  kExecNoReloc = 1 << 11,
  kExecHandleLut = 1 << 12,
  kExecBsdMask = 3 << 13,
  kExecResourceStreamer = 1 << 15,
  kExecFenceIn = 1 << 16,
  kExecFenceOut = 1 << 17,
  kExecBatchFirst = 1 << 18,
  kExecFenceArray = 1 << 19,
  kExecFenceSubmit = 1 << 20,
  kExecUseExtensions = 1 << 21,
};
inline constexpr uint64_t kExecKnownFlags = (uint64_t{1} << 22) - 1;
inline constexpr unsigned kExecBsdShift = 13;
enum ExecRing : uint32_t {
  kRingDefault = 0,
  kRingRender = 1,
  kRingBsd = 2,
  kRingBlt = 3,
  kRingVebox = 4,
};

// ---- Contexts and address spaces. ---------------------------------------------------------------

struct gem_context_create_ext {
  uint32_t ctx_id, flags;
  uint64_t extensions;
};
struct gem_context_create {
  uint32_t ctx_id, pad;
};
static_assert(sizeof(gem_context_create_ext) == 16);
inline constexpr uint32_t kContextUseExtensions = 1, kContextSingleTimeline = 2;
inline constexpr uint32_t kContextCreateSetparam = 0, kContextCreateClone = 1;
struct gem_context_destroy {
  uint32_t ctx_id, pad;
};
struct gem_context_param {
  uint32_t ctx_id, size;
  uint64_t param, value;
};
struct gem_context_create_ext_setparam {
  user_extension base;
  gem_context_param param;
};
static_assert(sizeof(gem_context_param) == 24 && sizeof(gem_context_create_ext_setparam) == 56);
enum ContextParam : uint64_t {
  kContextBanPeriod = 1,
  kContextNoZeromap = 2,
  kContextGttSize = 3,
  kContextNoErrorCapture = 4,
  kContextBannable = 5,
  kContextPriority = 6,
  kContextSseu = 7,
  kContextRecoverable = 8,
  kContextVm = 9,
  kContextEngines = 10,
  kContextPersistence = 11,
  kContextRingsize = 12,
  kContextProtectedContent = 13,
  kContextLowLatency = 14,
};
inline constexpr int64_t kContextMostPriority = 1023;
struct gem_context_param_sseu {
  engine_class_instance engine;
  uint32_t flags;
  uint64_t slice_mask, subslice_mask;
  uint16_t min_eus_per_subslice, max_eus_per_subslice;
  uint32_t rsvd;
};
static_assert(sizeof(gem_context_param_sseu) == 32);
inline constexpr uint32_t kSseuEngineIndex = 1;

// Followed by engine_class_instance[].
struct context_param_engines {
  uint64_t extensions;
};
enum EnginesExtension : uint32_t {
  kEnginesLoadBalance = 0,
  kEnginesBond = 1,
  kEnginesParallelSubmit = 2,
};
// Each followed by engine_class_instance[].
struct context_engines_load_balance {
  user_extension base;
  uint16_t engine_index, num_siblings;
  uint32_t flags;
  uint64_t mbz64;
};
struct context_engines_bond {
  user_extension base;
  engine_class_instance master;
  uint16_t virtual_index, num_bonds;
  uint64_t flags;
  uint64_t mbz64[4];
};
struct context_engines_parallel_submit {
  user_extension base;
  uint16_t engine_index, width, num_siblings, mbz16;
  uint64_t flags;
  uint64_t mbz64[3];
};
static_assert(sizeof(context_engines_load_balance) == 48);
static_assert(sizeof(context_engines_bond) == 80);
static_assert(sizeof(context_engines_parallel_submit) == 72);

struct gem_vm_control {
  uint64_t extensions;
  uint32_t flags, vm_id;
};
static_assert(sizeof(gem_vm_control) == 16);
struct reg_read {
  uint64_t offset, val;
};
// The register of the render engine's timestamp; with 1 added, two reads of 32 bits are meant.
inline constexpr uint64_t kRegTimestamp = 0x2358, kRegTwice = 1;
struct reset_stats {
  uint32_t ctx_id, flags, reset_count, batch_active, batch_pending, pad;
};
static_assert(sizeof(reset_stats) == 24);

// ---- Performance counters. ----------------------------------------------------------------------

struct perf_open_param {
  uint32_t flags, num_properties;
  uint64_t properties_ptr;  // pairs of uint64_t: a property, and its value
};
static_assert(sizeof(perf_open_param) == 16);
inline constexpr uint32_t kPerfKnownFlags = 7;
inline constexpr uint64_t kPerfMostProperty = 10;
struct perf_oa_config {
  char uuid[36];
  uint32_t n_mux_regs, n_boolean_regs, n_flex_regs;
  uint64_t mux_regs_ptr, boolean_regs_ptr, flex_regs_ptr;
};
static_assert(sizeof(perf_oa_config) == 72 && offsetof(perf_oa_config, mux_regs_ptr) == 48);
struct perf_remove_config {
  uint64_t id;
};

// ---- Queries. -----------------------------------------------------------------------------------

struct query {
  uint32_t num_items, flags;
  uint64_t items_ptr;
};
struct query_item {
  uint64_t query_id;
  int32_t length;
  uint32_t flags;
  uint64_t data_ptr;
};
static_assert(sizeof(query) == 16 && sizeof(query_item) == 24);
enum QueryId : uint64_t {
  kQueryTopologyInfo = 1,
  kQueryEngineInfo = 2,
  kQueryPerfConfig = 3,
  kQueryMemoryRegions = 4,
  kQueryHwconfigBlob = 5,
  kQueryGeometrySubslices = 6,
  kQueryGucSubmissionVersion = 7,
};
// Followed by the masks of slices, of subslices and of execution units.
struct query_topology_info {
  uint16_t flags, max_slices, max_subslices, max_eus_per_subslice;
  uint16_t subslice_offset, subslice_stride, eu_offset, eu_stride;
};
static_assert(sizeof(query_topology_info) == 16);
struct engine_info {
  engine_class_instance engine;
  uint32_t rsvd0;
  uint64_t flags, capabilities;
  uint16_t logical_instance;
  uint16_t rsvd1[3];
  uint64_t rsvd2[3];
};
inline constexpr uint64_t kEngineHasLogicalInstance = 1;
struct query_engine_info {
  uint32_t num_engines;
  uint32_t rsvd[3];
};
static_assert(sizeof(engine_info) == 56 && sizeof(query_engine_info) == 16);
struct memory_region_info {
  gem_memory_class_instance region;
  uint32_t rsvd0;
  uint64_t probed_size, unallocated_size;
  uint64_t probed_cpu_visible_size, unallocated_cpu_visible_size;
  uint64_t rsvd1[6];
};
struct query_memory_regions {
  uint32_t num_regions;
  uint32_t rsvd[3];
};
static_assert(sizeof(memory_region_info) == 88 && sizeof(query_memory_regions) == 16);
struct query_perf_config {
  union {
    uint64_t n_configs;
    uint64_t config;
    char uuid[36];
  };
  uint32_t flags;
};
static_assert(sizeof(query_perf_config) == 48);
inline constexpr uint32_t kPerfConfigList = 1, kPerfConfigDataForUuid = 2, kPerfConfigDataForId = 3;
struct query_guc_submission_version {
  uint32_t branch, major, minor, patch;
};

// ---- Numbers. -----------------------------------------------------------------------------------

constexpr uint32_t I915Request(drm::Direction direction, uint32_t number, size_t size) {
  return drm::Request(direction, drm::kDriverBase + number, size);
}
inline constexpr uint32_t kGetparam = I915Request(drm::kInOut, 0x06, sizeof(getparam));
// Of times when the X server drove displays: they do nothing.
inline constexpr uint32_t kGemInit = I915Request(drm::kNone, 0x13, 0);
inline constexpr uint32_t kGemEntervt = I915Request(drm::kNone, 0x19, 0);
inline constexpr uint32_t kGemLeavevt = I915Request(drm::kNone, 0x1a, 0);
inline constexpr uint32_t kGemBusy = I915Request(drm::kInOut, 0x17, sizeof(gem_busy));
inline constexpr uint32_t kGemThrottle = I915Request(drm::kNone, 0x18, 0);
inline constexpr uint32_t kGemCreate = I915Request(drm::kInOut, 0x1b, sizeof(gem_create));
inline constexpr uint32_t kGemPread = I915Request(drm::kIn, 0x1c, sizeof(gem_pread));
inline constexpr uint32_t kGemPwrite = I915Request(drm::kIn, 0x1d, sizeof(gem_pwrite));
inline constexpr uint32_t kGemMmap = I915Request(drm::kInOut, 0x1e, sizeof(gem_mmap));
inline constexpr uint32_t kGemSetDomain = I915Request(drm::kIn, 0x1f, sizeof(gem_set_domain));
inline constexpr uint32_t kGemSwFinish = I915Request(drm::kIn, 0x20, sizeof(gem_sw_finish));
inline constexpr uint32_t kGemSetTiling = I915Request(drm::kInOut, 0x21, sizeof(gem_set_tiling));
inline constexpr uint32_t kGemGetTiling = I915Request(drm::kInOut, 0x22, sizeof(gem_get_tiling));
inline constexpr uint32_t kGemGetAperture = I915Request(drm::kOut, 0x23, sizeof(gem_get_aperture));
inline constexpr uint32_t kGemMmapGtt = I915Request(drm::kInOut, 0x24, sizeof(gem_mmap_gtt));
inline constexpr uint32_t kGemMmapOffset = I915Request(drm::kInOut, 0x24, sizeof(gem_mmap_offset));
inline constexpr uint32_t kGemMadvise = I915Request(drm::kInOut, 0x26, sizeof(gem_madvise));
// Callers that want nothing back leave out kOut.
inline constexpr uint32_t kGemExecbuffer2 = I915Request(drm::kInOut, 0x29, sizeof(gem_execbuffer2));
inline constexpr uint32_t kGemWait = I915Request(drm::kInOut, 0x2c, sizeof(gem_wait));
inline constexpr uint32_t kGemContextCreate =
    I915Request(drm::kInOut, 0x2d, sizeof(gem_context_create));
inline constexpr uint32_t kGemContextCreateExt =
    I915Request(drm::kInOut, 0x2d, sizeof(gem_context_create_ext));
inline constexpr uint32_t kGemContextDestroy =
    I915Request(drm::kIn, 0x2e, sizeof(gem_context_destroy));
inline constexpr uint32_t kGemSetCaching = I915Request(drm::kIn, 0x2f, sizeof(gem_caching));
inline constexpr uint32_t kGemGetCaching = I915Request(drm::kInOut, 0x30, sizeof(gem_caching));
inline constexpr uint32_t kRegRead = I915Request(drm::kInOut, 0x31, sizeof(reg_read));
inline constexpr uint32_t kGetResetStats = I915Request(drm::kInOut, 0x32, sizeof(reset_stats));
inline constexpr uint32_t kGemUserptr = I915Request(drm::kInOut, 0x33, sizeof(gem_userptr));
inline constexpr uint32_t kGemContextGetparam =
    I915Request(drm::kInOut, 0x34, sizeof(gem_context_param));
inline constexpr uint32_t kGemContextSetparam =
    I915Request(drm::kInOut, 0x35, sizeof(gem_context_param));
inline constexpr uint32_t kPerfOpen = I915Request(drm::kIn, 0x36, sizeof(perf_open_param));
inline constexpr uint32_t kPerfAddConfig = I915Request(drm::kIn, 0x37, sizeof(perf_oa_config));
inline constexpr uint32_t kPerfRemoveConfig =
    I915Request(drm::kIn, 0x38, sizeof(perf_remove_config));
inline constexpr uint32_t kQuery = I915Request(drm::kInOut, 0x39, sizeof(query));
inline constexpr uint32_t kGemVmCreate = I915Request(drm::kInOut, 0x3a, sizeof(gem_vm_control));
inline constexpr uint32_t kGemVmDestroy = I915Request(drm::kIn, 0x3b, sizeof(gem_vm_control));
inline constexpr uint32_t kGemCreateExt = I915Request(drm::kInOut, 0x3c, sizeof(gem_create_ext));

}  // namespace packsmith::uapi::i915

#endif  // PACKSMITH_RUNTIME_KERNEL_UAPI_I915_H_
