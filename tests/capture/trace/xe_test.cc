// The tracer on xe: what it makes of calls equals what the mock kernel says of them.
#include "runtime/capture/xe/xe.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/kernel/uapi/xe.h"
#include "tests/capture/trace/traced.h"

namespace packsmith::capture {
namespace {

namespace xe = uapi::xe;

constexpr uint64_t k64K = 65536;

class Machine : public TracedMachine {
 public:
  explicit Machine(absl::string_view name = "tgl") : TracedMachine(name, MakeXe) {}
};

class Client : public TracedClient {
 public:
  using TracedClient::TracedClient;

  uint32_t Vm() {
    xe::vm_create args = {};
    args.flags = xe::kVmScratchPage;
    EXPECT_EQ(Call(xe::kVmCreate, args), 0);
    return args.vm_id;
  }
  uint32_t Create(uint64_t size, uint32_t vm = 0) {
    xe::gem_create args = {};
    args.size = size;
    args.placement = 1;
    args.vm_id = vm;
    args.cpu_caching = xe::kCachingWb;
    EXPECT_EQ(Call(xe::kGemCreate, args), 0);
    return args.handle;
  }
  void Write(uint32_t handle, uint64_t offset, uint32_t value) {
    xe::gem_mmap_offset args = {};
    args.handle = handle;
    EXPECT_EQ(Call(xe::kGemMmapOffset, args), 0);
    std::memcpy(MemoryAt(args.offset)->bytes().data() + offset, &value, sizeof(value));
  }
  uint32_t Queue(uint32_t vm, uint16_t engine_class = xe::kRender, uint16_t width = 1) {
    xe::engine_class_instance engines[] = {{engine_class, 0, 0, 0}, {engine_class, 1, 0, 0}};
    xe::exec_queue_create args = {};
    args.width = width;
    args.num_placements = 1;
    args.vm_id = vm;
    args.instances = AddressOf(engines);
    EXPECT_EQ(Call(xe::kExecQueueCreate, args), 0);
    return args.exec_queue_id;
  }
  Result Bind(uint32_t vm, std::vector<xe::vm_bind_op> ops) {
    xe::vm_bind args = {};
    args.vm_id = vm;
    args.num_binds = static_cast<uint32_t>(ops.size());
    if (ops.size() == 1) {
      args.bind = ops[0];
    } else {
      args.vector_of_binds = AddressOf(ops[0]);
    }
    return Call(xe::kVmBind, args);
  }
  Result Exec(uint32_t queue, uint64_t address, uint16_t batches = 1) {
    xe::exec args = {};
    args.exec_queue_id = queue;
    args.address = address;
    args.num_batch_buffer = batches;
    return Call(xe::kExec, args);
  }
};

xe::vm_bind_op Op(xe::BindOp op, uint32_t object, uint64_t address, uint64_t size,
                  uint64_t offset = 0, uint32_t flags = 0) {
  xe::vm_bind_op bind = {};
  bind.op = op;
  bind.obj = object;
  bind.addr = address;
  bind.range = size;
  bind.obj_offset = offset;
  bind.flags = flags;
  return bind;
}

TEST(TraceXe, WhatIsBoundHasItsAddressesAndContent) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), batch = client.Create(k64K), data = client.Create(2 * k64K, vm);
  const uint32_t queue = client.Queue(vm), copies = client.Queue(vm, xe::kCopy);
  client.Write(batch, 0, 0x05000000);
  client.Write(data, k64K + 4, 6);
  ASSERT_EQ(client.Bind(vm, {Op(xe::kMap, batch, 0x100000, k64K)}), 0);
  ASSERT_EQ(client.Exec(queue, 0x100000), 0);
  ASSERT_EQ(
      client.Bind(vm, {Op(xe::kMap, data, 0x200000, k64K, k64K, xe::kBindReadonly),
                       Op(xe::kMap, 0, 0x400000, k64K, 0, xe::kBindNull | xe::kBindDumpable)}),
      0);
  client.Write(data, k64K, 7);
  ASSERT_EQ(client.Exec(copies, 0x100000), 0);
  ASSERT_EQ(machine.tracer_view.works.size(), 2u);
  machine.ExpectSame();
}

TEST(TraceXe, UnbindsAndReplacementsCount) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), a = client.Create(4 * k64K), b = client.Create(k64K);
  const uint32_t queue = client.Queue(vm);
  client.Write(a, 3 * k64K, 1);
  client.Write(b, 0, 2);
  ASSERT_EQ(client.Bind(vm, {Op(xe::kMap, a, 0x100000, 4 * k64K)}), 0);
  ASSERT_EQ(client.Bind(vm, {Op(xe::kMap, b, 0x110000, k64K)}), 0);
  ASSERT_EQ(client.Exec(queue, 0x110000), 0);
  ASSERT_EQ(client.Bind(vm, {Op(xe::kUnmap, 0, 0x120000, k64K)}), 0);
  ASSERT_EQ(client.Exec(queue, 0x110000), 0);
  ASSERT_EQ(client.Bind(vm, {Op(xe::kUnmapAll, a, 0, 0)}), 0);
  ASSERT_EQ(client.Exec(queue, 0x110000), 0);
  EXPECT_EQ(machine.tracer_view.works[2].memory.size(), 1u);
  machine.ExpectSame();
}

TEST(TraceXe, ACallThatFailsChangesNothing) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), batch = client.Create(k64K), queue = client.Queue(vm);
  client.Write(batch, 0, 1);
  ASSERT_EQ(client.Bind(vm, {Op(xe::kMap, batch, 0x100000, k64K)}), 0);
  EXPECT_NE(client.Bind(vm, {Op(xe::kMap, batch, 0x200000, k64K), Op(xe::kMap, 99, 0, k64K)}), 0);
  xe::vm_destroy destroy = {vm, 0, {}};
  EXPECT_EQ(client.Call(xe::kVmDestroy, destroy), -EBUSY);
  xe::exec_queue_destroy no_queue = {77, 0, {}};
  EXPECT_EQ(client.Call(xe::kExecQueueDestroy, no_queue), -ENOENT);
  EXPECT_EQ(client.Exec(queue, 0x100000, 2), -EINVAL);
  EXPECT_EQ(client.Exec(99, 0x100000), -ENOENT);
  EXPECT_EQ(client.Exec(queue, 0, 0), 0);  // only fences
  ASSERT_EQ(client.Exec(queue, 0x100000), 0);
  ASSERT_EQ(client.Bind(vm, {Op(xe::kUnmap, 0, 0x100000, k64K)}), 0);
  ASSERT_EQ(machine.tracer_view.works.size(), 1u);
  machine.ExpectSame();
}

TEST(TraceXe, AnObjectWhoseHandleIsClosedStaysWhereItIsBound) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), batch = client.Create(k64K), queue = client.Queue(vm);
  ASSERT_EQ(client.Bind(vm, {Op(xe::kMap, batch, 0x100000, k64K)}), 0);
  client.Write(batch, 0, 1);
  ASSERT_EQ(client.Close(batch), 0);
  ASSERT_EQ(client.Exec(queue, 0x100000), 0);
  machine.ExpectSame();
}

TEST(TraceXe, MemoryOfTheProcessIsReadAtTheSubmission) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), queue = client.Queue(vm), batch = client.Create(k64K);
  Pages pages(2 * k64K);
  ASSERT_EQ(client.Bind(vm, {Op(xe::kMap, batch, 0x100000, k64K)}), 0);
  ASSERT_EQ(client.Bind(vm, {Op(xe::kMapUserptr, 0, 0x200000, pages.size,
                                reinterpret_cast<uint64_t>(pages.bytes))}),
            0);
  pages.bytes[k64K] = 5;
  ASSERT_EQ(client.Exec(queue, 0x100000), 0);
  machine.ExpectSame();
}

TEST(TraceXe, SpacesAndQueuesThatAreMadeAgainAreNew) {
  Machine machine;
  Client client(machine);
  const uint32_t batch = client.Create(k64K);
  for (int i = 0; i < 2; ++i) {
    const uint32_t vm = client.Vm(), queue = client.Queue(vm);
    ASSERT_EQ(client.Bind(vm, {Op(xe::kMap, batch, 0x100000 * (i + 1u), k64K)}), 0);
    ASSERT_EQ(client.Exec(queue, 0x100000 * (i + 1u)), 0);
    xe::exec_queue_destroy destroy_queue = {queue, 0, {}};
    ASSERT_EQ(client.Call(xe::kExecQueueDestroy, destroy_queue), 0);
    xe::vm_destroy destroy_vm = {vm, 0, {}};
    ASSERT_EQ(client.Call(xe::kVmDestroy, destroy_vm), 0);
  }
  machine.ExpectSame();
}

TEST(TraceXe, AQueueOfSeveralEnginesTakesABatchForEach) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), batch = client.Create(k64K);
  const uint32_t queue = client.Queue(vm, xe::kVideoDecode, 2);
  ASSERT_EQ(client.Bind(vm, {Op(xe::kMap, batch, 0x100000, k64K)}), 0);
  uint64_t addresses[] = {0x100000, 0x100800};
  ASSERT_EQ(client.Exec(queue, AddressOf(addresses), 2), 0);
  machine.ExpectSame();
}

TEST(TraceXe, AnObjectOfAnotherFileIsTheSame) {
  Machine machine;
  Client one(machine), two(machine);
  const uint32_t object = one.Create(k64K);
  one.Write(object, 0, 9);
  const int fd = one.Export(object);
  const uint32_t imported = two.Import(fd);
  close(fd);
  const uint32_t vm = two.Vm(), queue = two.Queue(vm);
  ASSERT_EQ(two.Bind(vm, {Op(xe::kMap, imported, 0x100000, k64K)}), 0);
  ASSERT_EQ(two.Exec(queue, 0x100000), 0);
  machine.ExpectSame();
}

}  // namespace
}  // namespace packsmith::capture
