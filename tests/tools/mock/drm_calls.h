// The calls of all DRM drivers that programs of these tests use: an interface of Linux, which does
// not change.
#ifndef PACKSMITH_TESTS_TOOLS_MOCK_DRM_CALLS_H_
#define PACKSMITH_TESTS_TOOLS_MOCK_DRM_CALLS_H_

#include <stdint.h>

struct drm_version {
  int32_t major, minor, patch;
  uint64_t name_len;
  char* name;
  uint64_t date_len;
  char* date;
  uint64_t desc_len;
  char* desc;
};
struct drm_gem_flink {
  uint32_t handle, name;
};
struct drm_prime_handle {
  uint32_t handle, flags;
  int32_t fd;
};
struct drm_syncobj_create {
  uint32_t handle, flags;
};
struct drm_syncobj_handle {
  uint32_t handle, flags;
  int32_t fd;
  uint32_t pad;
};
struct drm_syncobj_wait {
  uint64_t handles;
  int64_t timeout_nsec;
  uint32_t count_handles, flags, first_signaled, pad;
};
struct drm_syncobj_array {
  uint64_t handles;
  uint32_t count_handles, pad;
};
struct sync_file_info {
  char name[32];
  int32_t status;
  uint32_t flags, num_fences, pad;
  uint64_t sync_fence_info;
};

enum {
  VERSION = 0xc0406400u,
  GEM_FLINK = 0xc008640au,
  PRIME_HANDLE_TO_FD = 0xc00c642du,
  PRIME_FD_TO_HANDLE = 0xc00c642eu,
  SYNCOBJ_CREATE = 0xc00864bfu,
  SYNCOBJ_HANDLE_TO_FD = 0xc01064c1u,
  SYNCOBJ_FD_TO_HANDLE = 0xc01064c2u,
  SYNCOBJ_WAIT = 0xc02064c3u,
  SYNCOBJ_SIGNAL = 0xc01064c5u,
  DMA_BUF_SYNC = 0x40086200u,
  SYNC_FILE_INFO = 0xc0383e04u,
  PRIME_CLOSE_ON_EXEC = 0x80000,
  PRIME_READ_WRITE = 2,
  WAIT_FOR_SUBMIT = 2,
  EXPORT_SYNC_FILE = 1,
};

#endif  // PACKSMITH_TESTS_TOOLS_MOCK_DRM_CALLS_H_
