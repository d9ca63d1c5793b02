// A program that uses a mock of the xe driver, in this process.
#ifndef PACKSMITH_TESTS_CAPTURE_XE_CLIENT_H_
#define PACKSMITH_TESTS_CAPTURE_XE_CLIENT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "runtime/capture/xe/xe.h"
#include "runtime/kernel/uapi/drm.h"
#include "runtime/kernel/uapi/xe.h"
#include "tests/capture/program.h"

namespace packsmith::capture {

struct Machine : MachineWith<&MakeXe> {
  explicit Machine(absl::string_view name = "tgl") : MachineWith(name) {}
};

// An open file. Methods that return handles expect the call to succeed.
struct Client : Program {
  explicit Client(Machine& machine) : Program(machine.kernel, machine.device) {}

  uint32_t Vm(uint32_t flags = uapi::xe::kVmScratchPage) {
    uapi::xe::vm_create args = {};
    args.flags = flags;
    EXPECT_EQ(Call(uapi::xe::kVmCreate, args), 0);
    return args.vm_id;
  }
  uint32_t Object(uint64_t size, uint32_t vm = 0, uint16_t caching = uapi::xe::kCachingWb,
                  uint32_t placement = 1) {
    uapi::xe::gem_create args = {};
    args.size = size;
    args.placement = placement;
    args.vm_id = vm;
    args.cpu_caching = caching;
    EXPECT_EQ(Call(uapi::xe::kGemCreate, args), 0);
    return args.handle;
  }
  // The object's memory, as mmap would show it.
  std::shared_ptr<SharedMemory> Memory(uint32_t handle) {
    uapi::xe::gem_mmap_offset args = {};
    args.handle = handle;
    EXPECT_EQ(Call(uapi::xe::kGemMmapOffset, args), 0);
    File::Mapped mapped;
    EXPECT_EQ(file->Mmap(caller, args.offset, 4096, mapped), 0);
    return mapped.memory;
  }
  uint32_t Queue(uint32_t vm, uint16_t engine_class = uapi::xe::kRender) {
    uapi::xe::engine_class_instance engine = {engine_class, 0, 0, 0};
    uapi::xe::exec_queue_create args = {};
    args.width = 1;
    args.num_placements = 1;
    args.vm_id = vm;
    args.instances = AddressOf(engine);
    EXPECT_EQ(Call(uapi::xe::kExecQueueCreate, args), 0);
    return args.exec_queue_id;
  }

  using Syncs = std::vector<uapi::xe::sync>;
  Result Bind(uint32_t vm, std::vector<uapi::xe::vm_bind_op> ops, Syncs syncs = {},
              uint32_t queue = 0) {
    uapi::xe::vm_bind args = {};
    args.vm_id = vm;
    args.exec_queue_id = queue;
    args.num_binds = static_cast<uint32_t>(ops.size());
    if (ops.size() == 1) args.bind = ops[0];
    if (ops.size() > 1) args.vector_of_binds = AddressOf(ops[0]);
    args.num_syncs = static_cast<uint32_t>(syncs.size());
    if (!syncs.empty()) args.syncs = AddressOf(syncs[0]);
    return Call(uapi::xe::kVmBind, args);
  }
  Result Exec(uint32_t queue, uint64_t address, Syncs syncs = {}, uint16_t batches = 1) {
    uapi::xe::exec args = {};
    args.exec_queue_id = queue;
    args.address = address;
    args.num_batch_buffer = batches;
    args.num_syncs = static_cast<uint32_t>(syncs.size());
    if (!syncs.empty()) args.syncs = AddressOf(syncs[0]);
    return Call(uapi::xe::kExec, args);
  }
  bool Banned(uint32_t queue) {
    uapi::xe::exec_queue_get_property args = {};
    args.exec_queue_id = queue;
    EXPECT_EQ(Call(uapi::xe::kExecQueueGetProperty, args), 0);
    return args.value == 1;
  }
};

inline uapi::xe::vm_bind_op Map(uint32_t object, uint64_t address, uint64_t size,
                                uint64_t offset = 0, uint32_t flags = 0) {
  uapi::xe::vm_bind_op op = {};
  op.obj = object;
  op.obj_offset = offset;
  op.range = size;
  op.addr = address;
  op.op = uapi::xe::kMap;
  op.flags = flags;
  return op;
}
inline uapi::xe::vm_bind_op MapUserptr(uint64_t memory, uint64_t address, uint64_t size) {
  uapi::xe::vm_bind_op op = Map(0, address, size, memory);
  op.op = uapi::xe::kMapUserptr;
  return op;
}
inline uapi::xe::vm_bind_op Unmap(uint64_t address, uint64_t size) {
  uapi::xe::vm_bind_op op = Map(0, address, size);
  op.op = uapi::xe::kUnmap;
  return op;
}
inline uapi::xe::vm_bind_op UnmapAll(uint32_t object) {
  uapi::xe::vm_bind_op op = Map(object, 0, 0);
  op.op = uapi::xe::kUnmapAll;
  return op;
}

inline uapi::xe::sync Wait(uint32_t syncobj, uint64_t point = 0) {
  uapi::xe::sync sync = {};
  sync.type = point == 0 ? uapi::xe::kSyncSyncobj : uapi::xe::kSyncTimeline;
  sync.handle_or_address = syncobj;
  sync.timeline_value = point;
  return sync;
}
inline uapi::xe::sync Signal(uint32_t syncobj, uint64_t point = 0) {
  uapi::xe::sync sync = Wait(syncobj, point);
  sync.flags = uapi::xe::kSyncSignal;
  return sync;
}
inline uapi::xe::sync UserFence(uint64_t address, uint64_t value) {
  uapi::xe::sync sync = {};
  sync.type = uapi::xe::kSyncUserFence;
  sync.flags = uapi::xe::kSyncSignal;
  sync.handle_or_address = address;
  sync.timeline_value = value;
  return sync;
}

}  // namespace packsmith::capture

#endif  // PACKSMITH_TESTS_CAPTURE_XE_CLIENT_H_
