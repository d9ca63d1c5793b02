// Submissions to xe.
#define _GNU_SOURCE
#include <unistd.h>

#include "tests/tools/mock/gpu_calls.h"

enum { k64K = 65536 };

static uint32_t Create(int fd, uint64_t size, uint32_t vm) {
  struct xe_gem_create args;
  memset(&args, 0, sizeof(args));
  args.size = size;
  args.placement = 1;
  args.vm_id = vm;
  args.cpu_caching = XE_WRITE_BACK;
  CHECK(ioctl(fd, XE_GEM_CREATE, &args) == 0);
  return args.handle;
}

static uint32_t* Map(int fd, uint32_t handle, uint64_t size) {
  struct xe_gem_mmap_offset args;
  memset(&args, 0, sizeof(args));
  args.handle = handle;
  CHECK(ioctl(fd, XE_GEM_MMAP_OFFSET, &args) == 0);
  void* const map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)args.offset);
  CHECK(map != MAP_FAILED);
  return (uint32_t*)map;
}

static int Bind(int fd, uint32_t vm, uint32_t op, uint32_t object, uint64_t address,
                uint64_t size) {
  struct xe_vm_bind args;
  memset(&args, 0, sizeof(args));
  args.vm_id = vm;
  args.num_binds = 1;
  args.bind.op = op;
  args.bind.obj = object;
  args.bind.addr = address;
  args.bind.range = size;
  return ioctl(fd, XE_VM_BIND, &args);
}

static uint32_t Queue(int fd, uint32_t vm, uint16_t engine_class) {
  struct xe_engine engine = {engine_class, 0, 0, 0};
  struct xe_exec_queue_create args;
  memset(&args, 0, sizeof(args));
  args.width = args.num_placements = 1;
  args.vm_id = vm;
  args.instances = Address(&engine);
  CHECK(ioctl(fd, XE_EXEC_QUEUE_CREATE, &args) == 0);
  return args.exec_queue_id;
}

static int Exec(int fd, uint32_t queue, uint64_t address) {
  struct xe_exec args;
  memset(&args, 0, sizeof(args));
  args.exec_queue_id = queue;
  args.address = address;
  args.num_batch_buffer = 1;
  return ioctl(fd, XE_EXEC, &args);
}

int main(void) {
  const int fd = OpenNode("/dev/dri/renderD128");
  struct xe_vm_create vm = {0, XE_SCRATCH_PAGE, 0, {0, 0}};
  CHECK(ioctl(fd, XE_VM_CREATE, &vm) == 0);
  const uint32_t batch = Create(fd, k64K, 0), data = Create(fd, 4 * k64K, vm.vm_id);
  uint32_t* const batch_map = Map(fd, batch, k64K);
  uint32_t* const data_map = Map(fd, data, 4 * k64K);
  const uint32_t queue = Queue(fd, vm.vm_id, XE_RENDER), copies = Queue(fd, vm.vm_id, XE_COPY);
  CHECK(Bind(fd, vm.vm_id, XE_OP_MAP, batch, 0x100000, k64K) == 0);
  batch_map[0] = 0x05000000;
  CHECK(Exec(fd, queue, 0x100000) == 0);
  CHECK(Bind(fd, vm.vm_id, XE_OP_MAP, data, 0x40000000, 4 * k64K) == 0);
  for (uint32_t i = 0; i < 6; ++i) {
    data_map[i * 16384 / 2] = i + 1;
    CHECK(Exec(fd, i % 2 == 0 ? queue : copies, 0x100000) == 0);
  }
  EXPECT_ERRNO(Bind(fd, vm.vm_id, XE_OP_MAP, 99, 0x80000000, k64K), ENOENT);
  EXPECT_ERRNO(Exec(fd, 99, 0x100000), ENOENT);
  CHECK(Bind(fd, vm.vm_id, XE_OP_UNMAP, 0, 0x40000000, k64K) == 0);
  CHECK(Exec(fd, queue, 0x100000) == 0);
  printf("good\n");
  return 0;
}
