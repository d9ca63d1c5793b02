// The calls that all DRM drivers of Linux share: numbers and structures.
//
// Sources: the kernel's interface, which does not change; names are those of its documentation.
#ifndef PACKSMITH_RUNTIME_KERNEL_UAPI_DRM_H_
#define PACKSMITH_RUNTIME_KERNEL_UAPI_DRM_H_

#include <cstddef>
#include <cstdint>

namespace packsmith::uapi::drm {

// A call's number: the direction, the size of its structure, and its place in the table. kIn: the
// kernel reads the structure; kOut: it writes it.
enum Direction : uint32_t { kNone = 0, kIn = 1, kOut = 2, kInOut = 3 };
constexpr uint32_t Request(Direction direction, uint32_t number, size_t size) {
  return uint32_t{direction} << 30 | static_cast<uint32_t>(size) << 16 | uint32_t{'d'} << 8 |
         number;
}
// Where drivers' own calls begin.
inline constexpr uint32_t kDriverBase = 0x40;

struct nothing {
  uint32_t unused;
};

struct version {
  int32_t version_major, version_minor, version_patchlevel;
  uint32_t pad;
  uint64_t name_len, name;  // length in bytes, address
  uint64_t date_len, date;
  uint64_t desc_len, desc;
};
static_assert(sizeof(version) == 64 && offsetof(version, name_len) == 16);

struct unique {
  uint64_t unique_len, unique_address;
};
static_assert(sizeof(unique) == 16);

struct set_version {
  int32_t di_major, di_minor, dd_major, dd_minor;
};
static_assert(sizeof(set_version) == 16);

struct auth {
  uint32_t magic;
};
static_assert(sizeof(auth) == 4);

struct gem_close {
  uint32_t handle, pad;
};
struct gem_flink {
  uint32_t handle, name;
};
struct gem_open {
  uint32_t name, handle;
  uint64_t size;
};
static_assert(sizeof(gem_close) == 8 && sizeof(gem_flink) == 8 && sizeof(gem_open) == 16);

struct get_cap {
  uint64_t capability, value;
};
struct set_client_cap {
  uint64_t capability, value;
};
static_assert(sizeof(get_cap) == 16 && sizeof(set_client_cap) == 16);

struct prime_handle {
  uint32_t handle, flags;
  int32_t fd;
};
static_assert(sizeof(prime_handle) == 12);

struct syncobj_create {
  uint32_t handle, flags;
};
struct syncobj_destroy {
  uint32_t handle, pad;
};
struct syncobj_handle {
  uint32_t handle, flags;
  int32_t fd;
  uint32_t pad;
  uint64_t point;  // since Linux 6.15
};
static_assert(sizeof(syncobj_create) == 8 && sizeof(syncobj_destroy) == 8);
static_assert(sizeof(syncobj_handle) == 24 && offsetof(syncobj_handle, point) == 16);

struct syncobj_wait {
  uint64_t handles;
  int64_t timeout_nsec;  // CLOCK_MONOTONIC
  uint32_t count_handles, flags, first_signaled, pad;
  uint64_t deadline_nsec;
};
static_assert(sizeof(syncobj_wait) == 40 && offsetof(syncobj_wait, first_signaled) == 24);

struct syncobj_timeline_wait {
  uint64_t handles, points;
  int64_t timeout_nsec;
  uint32_t count_handles, flags, first_signaled, pad;
  uint64_t deadline_nsec;
};
static_assert(sizeof(syncobj_timeline_wait) == 48);

struct syncobj_array {
  uint64_t handles;
  uint32_t count_handles, pad;
};
struct syncobj_timeline_array {
  uint64_t handles, points;
  uint32_t count_handles, flags;
};
static_assert(sizeof(syncobj_array) == 16 && sizeof(syncobj_timeline_array) == 24);

struct syncobj_transfer {
  uint32_t src_handle, dst_handle;
  uint64_t src_point, dst_point;
  uint32_t flags, pad;
};
static_assert(sizeof(syncobj_transfer) == 32);

struct syncobj_eventfd {
  uint32_t handle, flags;
  uint64_t point;
  int32_t fd;
  uint32_t pad;
};
static_assert(sizeof(syncobj_eventfd) == 24);

inline constexpr uint32_t kVersion = Request(kInOut, 0x00, sizeof(version));
inline constexpr uint32_t kGetUnique = Request(kInOut, 0x01, sizeof(unique));
inline constexpr uint32_t kGetMagic = Request(kOut, 0x02, sizeof(auth));
inline constexpr uint32_t kSetVersion = Request(kInOut, 0x07, sizeof(set_version));
inline constexpr uint32_t kGemClose = Request(kIn, 0x09, sizeof(gem_close));
inline constexpr uint32_t kGemFlink = Request(kInOut, 0x0a, sizeof(gem_flink));
inline constexpr uint32_t kGemOpen = Request(kInOut, 0x0b, sizeof(gem_open));
inline constexpr uint32_t kGetCap = Request(kInOut, 0x0c, sizeof(get_cap));
inline constexpr uint32_t kSetClientCap = Request(kIn, 0x0d, sizeof(set_client_cap));
inline constexpr uint32_t kAuthMagic = Request(kIn, 0x11, sizeof(auth));
inline constexpr uint32_t kSetMaster = Request(kNone, 0x1e, 0);
inline constexpr uint32_t kDropMaster = Request(kNone, 0x1f, 0);
inline constexpr uint32_t kPrimeHandleToFd = Request(kInOut, 0x2d, sizeof(prime_handle));
inline constexpr uint32_t kPrimeFdToHandle = Request(kInOut, 0x2e, sizeof(prime_handle));
inline constexpr uint32_t kSyncobjCreate = Request(kInOut, 0xbf, sizeof(syncobj_create));
inline constexpr uint32_t kSyncobjDestroy = Request(kInOut, 0xc0, sizeof(syncobj_destroy));
inline constexpr uint32_t kSyncobjHandleToFd = Request(kInOut, 0xc1, sizeof(syncobj_handle));
inline constexpr uint32_t kSyncobjFdToHandle = Request(kInOut, 0xc2, sizeof(syncobj_handle));
inline constexpr uint32_t kSyncobjWait = Request(kInOut, 0xc3, sizeof(syncobj_wait));
inline constexpr uint32_t kSyncobjReset = Request(kInOut, 0xc4, sizeof(syncobj_array));
inline constexpr uint32_t kSyncobjSignal = Request(kInOut, 0xc5, sizeof(syncobj_array));
inline constexpr uint32_t kSyncobjTimelineWait =
    Request(kInOut, 0xca, sizeof(syncobj_timeline_wait));
inline constexpr uint32_t kSyncobjQuery = Request(kInOut, 0xcb, sizeof(syncobj_timeline_array));
inline constexpr uint32_t kSyncobjTransfer = Request(kInOut, 0xcc, sizeof(syncobj_transfer));
inline constexpr uint32_t kSyncobjTimelineSignal =
    Request(kInOut, 0xcd, sizeof(syncobj_timeline_array));
inline constexpr uint32_t kSyncobjEventfd = Request(kInOut, 0xcf, sizeof(syncobj_eventfd));

enum Capability : uint64_t {
  kCapDumbBuffer = 0x1,
  kCapPrime = 0x5,
  kCapTimestampMonotonic = 0x6,
  kCapSyncobj = 0x13,
  kCapSyncobjTimeline = 0x14,
};
inline constexpr uint64_t kPrimeCapImport = 1, kPrimeCapExport = 2;

inline constexpr uint32_t kSyncobjCreateSignaled = 1;
inline constexpr uint32_t kSyncobjFdSyncFile = 1;  // of both conversions of descriptors
inline constexpr uint32_t kSyncobjFdTimeline = 2;
inline constexpr uint32_t kSyncobjWaitAll = 1, kSyncobjWaitForSubmit = 2, kSyncobjWaitAvailable = 4,
                          kSyncobjWaitDeadline = 8;
inline constexpr uint32_t kSyncobjQueryLastSubmitted = 1;
inline constexpr uint32_t kSyncobjTransferForSubmit = 2;

// Calls on sync files and dma-bufs, which have types of their own.
struct sync_merge {
  char name[32];
  int32_t fd2, fence;
  uint32_t flags, pad;
};
struct sync_file_info {
  char name[32];
  int32_t status;  // 1 signalled, 0 pending, or a negative errno
  uint32_t flags, num_fences, pad;
  uint64_t sync_fence_info;
};
struct sync_fence_info {
  char obj_name[32], driver_name[32];
  int32_t status;
  uint32_t flags;
  uint64_t timestamp_ns;
};
static_assert(sizeof(sync_merge) == 48 && sizeof(sync_file_info) == 56);
static_assert(sizeof(sync_fence_info) == 80);
struct dma_buf_sync {
  uint64_t flags;
};
struct dma_buf_sync_file {
  uint32_t flags;  // 1 read, 2 write
  int32_t fd;
};
inline constexpr uint32_t kSyncFileMerge = 0xc0303e03, kSyncFileInfo = 0xc0383e04;
inline constexpr uint32_t kDmaBufSync = 0x40086200, kDmaBufSetName = 0x40086201;
inline constexpr uint32_t kDmaBufSetNameOld = 0x40046201;
inline constexpr uint32_t kDmaBufExportSyncFile = 0xc0086202;
inline constexpr uint32_t kDmaBufImportSyncFile = 0x40086203;

}  // namespace packsmith::uapi::drm

#endif  // PACKSMITH_RUNTIME_KERNEL_UAPI_DRM_H_
