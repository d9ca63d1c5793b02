// The calls of i915 and xe that programs of these tests make: interfaces of Linux, which do not
// change.
#ifndef PACKSMITH_TESTS_TOOLS_MOCK_GPU_CALLS_H_
#define PACKSMITH_TESTS_TOOLS_MOCK_GPU_CALLS_H_

#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "tests/tools/mock/check.h"

struct drm_gem_close {
  uint32_t handle, pad;
};

struct i915_gem_create {
  uint64_t size;
  uint32_t handle, pad;
};
struct i915_gem_mmap_offset {
  uint32_t handle, pad;
  uint64_t offset, flags, extensions;
};
struct i915_gem_pwrite {
  uint32_t handle, pad;
  uint64_t offset, size, data_ptr;
};
struct i915_gem_userptr {
  uint64_t user_ptr, user_size;
  uint32_t flags, handle;
};
struct i915_relocation {
  uint32_t target_handle, delta;
  uint64_t offset, presumed_offset;
  uint32_t read_domains, write_domain;
};
struct i915_exec_object {
  uint32_t handle, relocation_count;
  uint64_t relocs_ptr, alignment, offset, flags, pad_to_size, rsvd2;
};
struct i915_execbuffer2 {
  uint64_t buffers_ptr;
  uint32_t buffer_count, batch_start_offset, batch_len, DR1, DR4, num_cliprects;
  uint64_t cliprects_ptr, flags, rsvd1, rsvd2;
};
struct i915_gem_wait {
  uint32_t handle, flags;
  int64_t timeout;
};
struct i915_reset_stats {
  uint32_t ctx_id, flags, reset_count, batch_active, batch_pending, pad;
};
struct i915_context_create {
  uint32_t ctx_id, flags;
  uint64_t extensions;
};

struct xe_gem_create {
  uint64_t extensions, size;
  uint32_t placement, flags, vm_id, handle;
  uint16_t cpu_caching, pad[3];
  uint64_t reserved[2];
};
struct xe_gem_mmap_offset {
  uint64_t extensions;
  uint32_t handle, flags;
  uint64_t offset, reserved[2];
};
struct xe_vm_create {
  uint64_t extensions;
  uint32_t flags, vm_id;
  uint64_t reserved[2];
};
struct xe_vm_bind {
  uint64_t extensions;
  uint32_t vm_id, exec_queue_id, pad, num_binds;
  struct {
    uint64_t extensions;
    uint32_t obj;
    uint16_t pat_index, pad;
    uint64_t obj_offset, range, addr;
    uint32_t op, flags, prefetch, pad2;
    uint64_t reserved[3];
  } bind;
  uint32_t pad2, num_syncs;
  uint64_t syncs, reserved[2];
};
struct xe_engine {
  uint16_t engine_class, engine_instance, gt_id, pad;
};
struct xe_exec_queue_create {
  uint64_t extensions;
  uint16_t width, num_placements;
  uint32_t vm_id, flags, exec_queue_id;
  uint64_t instances, reserved[2];
};
struct xe_exec {
  uint64_t extensions;
  uint32_t exec_queue_id, num_syncs;
  uint64_t syncs, address;
  uint16_t num_batch_buffer, pad[3];
  uint64_t reserved[2];
};

// clang-format off
#define GEM_CLOSE _IOW('d', 0x09, struct drm_gem_close)
#define I915_GEM_CREATE _IOWR('d', 0x5b, struct i915_gem_create)
#define I915_GEM_PWRITE _IOW('d', 0x5d, struct i915_gem_pwrite)
#define I915_GEM_MMAP_OFFSET _IOWR('d', 0x64, struct i915_gem_mmap_offset)
#define I915_GEM_EXECBUFFER2 _IOW('d', 0x69, struct i915_execbuffer2)
#define I915_GEM_WAIT _IOWR('d', 0x6c, struct i915_gem_wait)
#define I915_CONTEXT_CREATE _IOWR('d', 0x6d, struct i915_context_create)
#define I915_GET_RESET_STATS _IOWR('d', 0x72, struct i915_reset_stats)
#define I915_GEM_USERPTR _IOWR('d', 0x73, struct i915_gem_userptr)
#define XE_GEM_CREATE _IOWR('d', 0x41, struct xe_gem_create)
#define XE_GEM_MMAP_OFFSET _IOWR('d', 0x42, struct xe_gem_mmap_offset)
#define XE_VM_CREATE _IOWR('d', 0x43, struct xe_vm_create)
#define XE_VM_BIND _IOW('d', 0x45, struct xe_vm_bind)
#define XE_EXEC_QUEUE_CREATE _IOWR('d', 0x46, struct xe_exec_queue_create)
#define XE_EXEC _IOW('d', 0x49, struct xe_exec)
// clang-format on

enum {
  I915_MMAP_WB = 2,
  I915_PINNED = 1 << 4,
  I915_48_BIT = 1 << 3,
  I915_NO_RELOC = 1 << 11,
  I915_RING_BLT = 3,
  XE_SCRATCH_PAGE = 1,
  XE_WRITE_BACK = 1,
  XE_OP_MAP = 0,
  XE_OP_UNMAP = 1,
  XE_RENDER = 0,
  XE_COPY = 1,
};

static inline uint64_t Address(const void* pointer) { return (uint64_t)(uintptr_t)pointer; }

static inline int OpenNode(const char* node) {
  const int fd = open(node, O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0);
  return fd;
}

static inline uint32_t I915Create(int fd, uint64_t size) {
  struct i915_gem_create args = {size, 0, 0};
  CHECK(ioctl(fd, I915_GEM_CREATE, &args) == 0);
  return args.handle;
}

static inline uint32_t* I915Map(int fd, uint32_t handle, uint64_t size) {
  struct i915_gem_mmap_offset args = {handle, 0, 0, I915_MMAP_WB, 0};
  CHECK(ioctl(fd, I915_GEM_MMAP_OFFSET, &args) == 0);
  void* const map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)args.offset);
  CHECK(map != MAP_FAILED);
  return (uint32_t*)map;
}

static inline struct i915_exec_object I915Pinned(uint32_t handle, uint64_t address) {
  struct i915_exec_object object;
  memset(&object, 0, sizeof(object));
  object.handle = handle;
  object.offset = address;
  object.flags = I915_PINNED | I915_48_BIT;
  return object;
}

static inline int I915Submit(int fd, struct i915_exec_object* objects, uint32_t count,
                             uint64_t flags, uint32_t context) {
  struct i915_execbuffer2 args;
  memset(&args, 0, sizeof(args));
  args.buffers_ptr = Address(objects);
  args.buffer_count = count;
  args.flags = flags;
  args.rsvd1 = context;
  return ioctl(fd, I915_GEM_EXECBUFFER2, &args);
}

#endif  // PACKSMITH_TESTS_TOOLS_MOCK_GPU_CALLS_H_
