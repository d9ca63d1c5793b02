// Submits a batch that may hang, to i915 from Gfx8 on or to xe, and keeps what the kernel saves of
// it: `hang_client i915|xe DUMP BATCH [SECOND [SECONDS]]`. BATCH is a file of commands for
// 0x800000, SECOND one for 0xa00000, which the kernel is not asked to save; there is data at
// 0x400000. Waits until there is a dump, at most 30 seconds, or as many as a fifth argument says.
#define _GNU_SOURCE
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "tests/tools/mock/gpu_calls.h"

enum {
  kSize = 65536,
  kCapture = 1 << 7,
  kDumpable = 1 << 3,
  kWriteCombined = 2,
  kCountdown = 256,  // bytes into the data: 9
};
static const uint64_t kData = 0x400000, kBatch = 0x800000, kSecond = 0xa00000;

static void Load(const char* path, uint32_t* to) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  CHECK(fd >= 0);
  CHECK(read(fd, to, kSize) > 0);
  close(fd);
}

// Whether the file has a dump, of which a copy then is at `to`.
static bool Copy(const char* from, const char* to) {
  static const char kNone[] = "No error state";
  const int in = open(from, O_RDONLY | O_CLOEXEC);
  if (in < 0) return false;
  static char bytes[1 << 16];
  ssize_t got = read(in, bytes, sizeof(bytes));
  if (got <= 0 || strncmp(bytes, kNone, strlen(kNone)) == 0) {
    close(in);
    return false;
  }
  const int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  CHECK(out >= 0);
  for (; got > 0; got = read(in, bytes, sizeof(bytes)))
    CHECK(write(out, bytes, (size_t)got) == got);
  CHECK(close(out) == 0);
  close(in);
  return true;
}

static void SubmitToI915(int fd, const char* batch, const char* second) {
  struct i915_context_create context = {0, 0, 0};
  CHECK(ioctl(fd, I915_CONTEXT_CREATE, &context) == 0);
  const uint32_t handles[] = {I915Create(fd, kSize), I915Create(fd, kSize), I915Create(fd, kSize)};
  I915Map(fd, handles[0], kSize)[kCountdown / 4] = 9;
  if (second != NULL) Load(second, I915Map(fd, handles[1], kSize));
  Load(batch, I915Map(fd, handles[2], kSize));
  struct i915_exec_object objects[] = {I915Pinned(handles[0], kData),
                                       I915Pinned(handles[1], kSecond),
                                       I915Pinned(handles[2], kBatch)};
  objects[0].flags |= kCapture;
  CHECK(I915Submit(fd, objects, 3, I915_NO_RELOC, context.ctx_id) == 0);
}

static uint32_t* MakeForXe(int fd, uint32_t vm, uint64_t address, uint32_t flags) {
  struct xe_gem_create create;
  memset(&create, 0, sizeof(create));
  create.size = kSize;
  create.placement = 1;
  create.cpu_caching = kWriteCombined;
  CHECK(ioctl(fd, XE_GEM_CREATE, &create) == 0);
  struct xe_gem_mmap_offset offset;
  memset(&offset, 0, sizeof(offset));
  offset.handle = create.handle;
  CHECK(ioctl(fd, XE_GEM_MMAP_OFFSET, &offset) == 0);
  struct xe_vm_bind bind;
  memset(&bind, 0, sizeof(bind));
  bind.vm_id = vm;
  bind.num_binds = 1;
  bind.bind.op = XE_OP_MAP;
  bind.bind.obj = create.handle;
  bind.bind.addr = address;
  bind.bind.range = kSize;
  bind.bind.flags = flags;
  CHECK(ioctl(fd, XE_VM_BIND, &bind) == 0);
  void* const map = mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset.offset);
  CHECK(map != MAP_FAILED);
  return (uint32_t*)map;
}

static void SubmitToXe(int fd, const char* batch, const char* second) {
  struct xe_vm_create vm = {0, 0, 0, {0, 0}};
  CHECK(ioctl(fd, XE_VM_CREATE, &vm) == 0);
  MakeForXe(fd, vm.vm_id, kData, kDumpable)[kCountdown / 4] = 9;
  uint32_t* const other = MakeForXe(fd, vm.vm_id, kSecond, 0);
  if (second != NULL) Load(second, other);
  Load(batch, MakeForXe(fd, vm.vm_id, kBatch, kDumpable));
  struct xe_engine engine = {XE_RENDER, 0, 0, 0};
  struct xe_exec_queue_create queue;
  memset(&queue, 0, sizeof(queue));
  queue.width = queue.num_placements = 1;
  queue.vm_id = vm.vm_id;
  queue.instances = Address(&engine);
  CHECK(ioctl(fd, XE_EXEC_QUEUE_CREATE, &queue) == 0);
  struct xe_exec exec;
  memset(&exec, 0, sizeof(exec));
  exec.exec_queue_id = queue.exec_queue_id;
  exec.address = kBatch;
  exec.num_batch_buffer = 1;
  CHECK(ioctl(fd, XE_EXEC, &exec) == 0);
}

int main(int argc, char** argv) {
  CHECK(argc > 3);
  const bool xe = strcmp(argv[1], "xe") == 0;
  const char* const second = argc > 4 && *argv[4] != '\0' ? argv[4] : NULL;
  const int fd = OpenNode("/dev/dri/renderD128");
  (xe ? SubmitToXe : SubmitToI915)(fd, argv[3], second);
  const char* const file =
      xe ? "/sys/class/drm/card0/device/devcoredump/data" : "/sys/class/drm/card0/error";
  const int hundredths = argc > 5 ? 100 * atoi(argv[5]) : 3000;
  for (int i = 0; i < hundredths && !Copy(file, argv[2]); ++i) {
    const struct timespec pause = {0, 10000000};
    CHECK(nanosleep(&pause, NULL) == 0);
  }
  return access(argv[2], R_OK) == 0 ? 0 : 1;
}
