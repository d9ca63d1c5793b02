// The calls of Linux's xe driver: numbers and structures.
//
// Sources: the kernel's interface, which grows but does not change; names are those of its
// documentation. Structures are the largest that a mock answers: newer kernels' flags and calls are
// not here.
#ifndef PACKSMITH_RUNTIME_KERNEL_UAPI_XE_H_
#define PACKSMITH_RUNTIME_KERNEL_UAPI_XE_H_

#include <cstddef>
#include <cstdint>

#include "runtime/kernel/uapi/drm.h"

namespace packsmith::uapi::xe {

// A link of a chain of extensions; 0 ends it.
struct user_extension {
  uint64_t next_extension;
  uint32_t name, pad;
};
struct ext_set_property {
  user_extension base;
  uint32_t property, pad;
  uint64_t value;
  uint64_t reserved[2];
};
static_assert(sizeof(user_extension) == 16 && sizeof(ext_set_property) == 48);
static_assert(offsetof(ext_set_property, value) == 24);

struct engine_class_instance {
  uint16_t engine_class, engine_instance, gt_id, pad;
};
static_assert(sizeof(engine_class_instance) == 8);

struct device_query {
  uint64_t extensions;
  uint32_t query, size;
  uint64_t data;
  uint64_t reserved[2];
};
static_assert(sizeof(device_query) == 40 && offsetof(device_query, data) == 16);

struct gem_create {
  uint64_t extensions, size;
  uint32_t placement, flags, vm_id, handle;
  uint16_t cpu_caching, pad[3];
  uint64_t reserved[2];
};
static_assert(sizeof(gem_create) == 56 && offsetof(gem_create, cpu_caching) == 32);

struct gem_mmap_offset {
  uint64_t extensions;
  uint32_t handle, flags;
  uint64_t offset;
  uint64_t reserved[2];
};
static_assert(sizeof(gem_mmap_offset) == 40 && offsetof(gem_mmap_offset, offset) == 16);

struct vm_create {
  uint64_t extensions;
  uint32_t flags, vm_id;
  uint64_t reserved[2];
};
struct vm_destroy {
  uint32_t vm_id, pad;
  uint64_t reserved[2];
};
static_assert(sizeof(vm_create) == 32 && sizeof(vm_destroy) == 24);

struct vm_bind_op {
  uint64_t extensions;
  uint32_t obj;
  uint16_t pat_index, pad;
  uint64_t obj_offset;  // of kMapUserptr: the address in the process
  uint64_t range, addr;
  uint32_t op, flags, prefetch_mem_region_instance, pad2;
  uint64_t reserved[3];
};
static_assert(sizeof(vm_bind_op) == 80 && offsetof(vm_bind_op, op) == 40);

struct vm_bind {
  uint64_t extensions;
  uint32_t vm_id, exec_queue_id, pad, num_binds;
  union {
    vm_bind_op bind;           // of one
    uint64_t vector_of_binds;  // the address of more
  };
  uint32_t pad2, num_syncs;
  uint64_t syncs;
  uint64_t reserved[2];
};
static_assert(sizeof(vm_bind) == 136 && offsetof(vm_bind, bind) == 24);
static_assert(offsetof(vm_bind, num_syncs) == 108);

struct exec_queue_create {
  uint64_t extensions;
  uint16_t width, num_placements;
  uint32_t vm_id, flags, exec_queue_id;
  uint64_t instances;  // address of width * num_placements engine_class_instance
  uint64_t reserved[2];
};
struct exec_queue_destroy {
  uint32_t exec_queue_id, pad;
  uint64_t reserved[2];
};
struct exec_queue_get_property {
  uint64_t extensions;
  uint32_t exec_queue_id, property;
  uint64_t value;
  uint64_t reserved[2];
};
static_assert(sizeof(exec_queue_create) == 48 && offsetof(exec_queue_create, instances) == 24);
static_assert(sizeof(exec_queue_destroy) == 24 && sizeof(exec_queue_get_property) == 40);

struct sync {
  uint64_t extensions;
  uint32_t type, flags;
  uint64_t handle_or_address;  // a handle in the lower half, or the address of a user fence
  uint64_t timeline_value;
  uint64_t reserved[2];
};
static_assert(sizeof(sync) == 48 && offsetof(sync, timeline_value) == 24);

struct exec {
  uint64_t extensions;
  uint32_t exec_queue_id, num_syncs;
  uint64_t syncs;
  uint64_t address;  // of the batch; of more than one: the address, in the process, of theirs
  uint16_t num_batch_buffer, pad[3];
  uint64_t reserved[2];
};
static_assert(sizeof(exec) == 56 && offsetof(exec, num_batch_buffer) == 32);

struct wait_user_fence {
  uint64_t extensions, addr;
  uint16_t op, flags;
  uint32_t pad;
  uint64_t value, mask;
  int64_t timeout;  // nanoseconds
  uint32_t exec_queue_id, pad2;
  uint64_t reserved[2];
};
static_assert(sizeof(wait_user_fence) == 72 && offsetof(wait_user_fence, timeout) == 40);

struct observation_param {
  uint64_t extensions, observation_type, observation_op, param;
};
static_assert(sizeof(observation_param) == 32);

inline constexpr uint32_t kDeviceQuery =
    drm::Request(drm::kInOut, drm::kDriverBase + 0x00, sizeof(device_query));
inline constexpr uint32_t kGemCreate =
    drm::Request(drm::kInOut, drm::kDriverBase + 0x01, sizeof(gem_create));
inline constexpr uint32_t kGemMmapOffset =
    drm::Request(drm::kInOut, drm::kDriverBase + 0x02, sizeof(gem_mmap_offset));
inline constexpr uint32_t kVmCreate =
    drm::Request(drm::kInOut, drm::kDriverBase + 0x03, sizeof(vm_create));
inline constexpr uint32_t kVmDestroy =
    drm::Request(drm::kIn, drm::kDriverBase + 0x04, sizeof(vm_destroy));
inline constexpr uint32_t kVmBind =
    drm::Request(drm::kIn, drm::kDriverBase + 0x05, sizeof(vm_bind));
inline constexpr uint32_t kExecQueueCreate =
    drm::Request(drm::kInOut, drm::kDriverBase + 0x06, sizeof(exec_queue_create));
inline constexpr uint32_t kExecQueueDestroy =
    drm::Request(drm::kIn, drm::kDriverBase + 0x07, sizeof(exec_queue_destroy));
inline constexpr uint32_t kExecQueueGetProperty =
    drm::Request(drm::kInOut, drm::kDriverBase + 0x08, sizeof(exec_queue_get_property));
inline constexpr uint32_t kExec = drm::Request(drm::kIn, drm::kDriverBase + 0x09, sizeof(exec));
inline constexpr uint32_t kWaitUserFence =
    drm::Request(drm::kInOut, drm::kDriverBase + 0x0a, sizeof(wait_user_fence));
inline constexpr uint32_t kObservation =
    drm::Request(drm::kIn, drm::kDriverBase + 0x0b, sizeof(observation_param));
static_assert(kDeviceQuery == 0xc0286440 && kGemCreate == 0xc0386441);
static_assert(kGemMmapOffset == 0xc0286442 && kVmCreate == 0xc0206443);
static_assert(kVmDestroy == 0x40186444 && kVmBind == 0x40886445);
static_assert(kExecQueueCreate == 0xc0306446 && kExecQueueDestroy == 0x40186447);
static_assert(kExecQueueGetProperty == 0xc0286448 && kExec == 0x40386449);
static_assert(kWaitUserFence == 0xc048644a && kObservation == 0x4020644b);

enum Query : uint32_t {
  kQueryEngines = 0,
  kQueryMemRegions = 1,
  kQueryConfig = 2,
  kQueryGtList = 3,
  kQueryHwconfig = 4,
  kQueryGtTopology = 5,
  kQueryEngineCycles = 6,
  kQueryUcFwVersion = 7,
  kQueryOaUnits = 8,
};

// Replies begin with a count, where not said otherwise.
struct query_count {
  uint32_t count, pad;
};
struct engine {
  engine_class_instance instance;
  uint64_t reserved[3];
};
struct mem_region {
  uint16_t mem_class, instance;
  uint32_t min_page_size;
  uint64_t total_size, used, cpu_visible_size, cpu_visible_used;
  uint64_t reserved[6];
};
struct gt {
  uint16_t type, tile_id, gt_id, pad[3];
  uint32_t reference_clock;
  uint64_t near_mem_regions, far_mem_regions;
  uint16_t ip_ver_major, ip_ver_minor, ip_ver_rev, pad2;
  uint64_t reserved[7];
};
// Without a count; `num_bytes` of a mask follow each.
struct topology_mask {
  uint16_t gt_id, type;
  uint32_t num_bytes;
};
// Read and written; without a count, as are the next two.
struct engine_cycles {
  engine_class_instance eci;
  int32_t clockid;
  uint32_t width;
  uint64_t engine_cycles, cpu_timestamp, cpu_delta;
};
struct uc_fw_version {
  uint16_t uc_type, pad;
  uint32_t branch_ver, major_ver, minor_ver, patch_ver, pad2;
  uint64_t reserved;
};
struct oa_units {
  uint64_t extensions;
  uint32_t num_oa_units, pad;
};
static_assert(sizeof(query_count) == 8 && sizeof(engine) == 32 && sizeof(mem_region) == 88);
static_assert(sizeof(gt) == 96 && offsetof(gt, near_mem_regions) == 16);
static_assert(offsetof(gt, ip_ver_major) == 32 && sizeof(topology_mask) == 8);
static_assert(sizeof(engine_cycles) == 40 && sizeof(uc_fw_version) == 32 && sizeof(oa_units) == 16);

enum EngineClass : uint16_t {
  kRender = 0,
  kCopy = 1,
  kVideoDecode = 2,
  kVideoEnhance = 3,
  kCompute = 4,
  kVmBindClass = 5,
};
inline constexpr uint16_t kSysmem = 0, kVram = 1;          // mem_region::mem_class
inline constexpr uint16_t kGtMain = 0, kGtMedia = 1;       // gt::type
inline constexpr uint16_t kUcGuc = 0, kUcHuc = 1;          // uc_fw_version::uc_type
inline constexpr uint64_t kConfigHasVram = 1;              // the second value of kQueryConfig
inline constexpr uint16_t kCachingWb = 1, kCachingWc = 2;  // gem_create::cpu_caching
enum Topology : uint16_t {
  kDssGeometry = 1,
  kDssCompute = 2,
  kL3Bank = 3,
  kEuPerDss = 4,
  kSimd16EuPerDss = 5,
};

inline constexpr uint32_t kGemDeferBacking = 1, kGemScanout = 2, kGemNeedsVisibleVram = 4;
inline constexpr uint32_t kVmScratchPage = 1, kVmLrMode = 2, kVmFaultMode = 4;
enum BindOp : uint32_t { kMap = 0, kUnmap = 1, kMapUserptr = 2, kUnmapAll = 3, kPrefetch = 4 };
inline constexpr uint32_t kBindReadonly = 1, kBindImmediate = 2, kBindNull = 4, kBindDumpable = 8;

inline constexpr uint32_t kExtensionSetProperty = 0;
inline constexpr uint32_t kPropertyPriority = 0, kPropertyTimeslice = 1;  // to set
inline constexpr uint32_t kPropertyBan = 0;                               // to get

enum SyncType : uint32_t { kSyncSyncobj = 0, kSyncTimeline = 1, kSyncUserFence = 2 };
inline constexpr uint32_t kSyncSignal = 1;

enum UserFenceOp : uint16_t { kEq = 0, kNeq = 1, kGt = 2, kGte = 3, kLt = 4, kLte = 5 };
inline constexpr uint16_t kWaitAbsolute = 1;

inline constexpr uint64_t kObservationOa = 0;
inline constexpr uint64_t kObservationStreamOpen = 0, kObservationAddConfig = 1,
                          kObservationRemoveConfig = 2;

}  // namespace packsmith::uapi::xe

#endif  // PACKSMITH_RUNTIME_KERNEL_UAPI_XE_H_
