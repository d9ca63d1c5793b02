// Malformed calls, each with the error that the kernel gives.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "tests/capture/xe/client.h"

namespace packsmith::capture {
namespace {

namespace xe = uapi::xe;

constexpr uint64_t kBad = 8;  // an address at which nothing is mapped

// Makes a call that is right but for `change`.
template <typename T>
struct Case {
  const char* what;
  Result result;
  std::function<void(T&)> change;
};

template <typename T>
void Check(Client& client, uint32_t request, const T& right, const std::vector<Case<T>>& cases) {
  for (const Case<T>& c : cases) {
    T args = right;
    c.change(args);
    EXPECT_EQ(client.Call(request, args), c.result) << c.what;
  }
}

TEST(XeMalformed, GemCreate) {
  Machine machine;
  Client client(machine);
  xe::gem_create right = {};
  right.size = 8192;
  right.placement = 1;
  right.cpu_caching = xe::kCachingWb;
  using A = xe::gem_create;
  Check<A>(client, xe::kGemCreate, right,
           {{"nothing", 0, [](A&) {}},
            {"extension", -EINVAL, [](A& a) { a.extensions = 1; }},
            {"pad", -EINVAL, [](A& a) { a.pad[2] = 1; }},
            {"reserved", -EINVAL, [](A& a) { a.reserved[0] = 1; }},
            {"handle", -EINVAL, [](A& a) { a.handle = 1; }},
            {"no placement", -EINVAL, [](A& a) { a.placement = 0; }},
            {"VRAM that is not there", -EINVAL, [](A& a) { a.placement = 3; }},
            {"a flag of newer kernels", -EINVAL, [](A& a) { a.flags = 8; }},
            {"no size", -EINVAL, [](A& a) { a.size = 0; }},
            {"half a page", -EINVAL, [](A& a) { a.size = 6144; }},
            {"visible VRAM without VRAM", -EINVAL, [](A& a) { a.flags = 4; }},
            {"no caching", -EINVAL, [](A& a) { a.cpu_caching = 0; }},
            {"unknown caching", -EINVAL, [](A& a) { a.cpu_caching = 3; }},
            {"write-back scanout", -EINVAL, [](A& a) { a.flags = 2; }},
            {"unknown VM", -ENOENT, [](A& a) { a.vm_id = 1; }},
            {"bad size before unknown VM", -EINVAL, [](A& a) { a.vm_id = 1, a.size = 1; }},
            {"more than there is", -ENOMEM, [](A& a) { a.size = uint64_t{1} << 40; }},
            {"nearly all there is", -ENOMEM, [](A& a) { a.size = ~uint64_t{4095}; }}});
}

TEST(XeMalformed, GemCreateInVram) {
  Machine machine("dg2");
  Client client(machine);
  xe::gem_create right = {};
  right.size = 65536;
  right.placement = 2;
  right.cpu_caching = xe::kCachingWc;
  using A = xe::gem_create;
  Check<A>(client, xe::kGemCreate, right,
           {{"nothing", 0, [](A&) {}},
            {"visible", 0, [](A& a) { a.flags = 4; }},
            {"write-back", -EINVAL, [](A& a) { a.cpu_caching = xe::kCachingWb; }},
            {"small pages", -EINVAL, [](A& a) { a.size = 4096; }},
            {"small pages in system memory", 0, [](A& a) { a.size = 4096, a.placement = 1; }},
            {"a third region", -EINVAL, [](A& a) { a.placement = 4; }},
            {"more than there is", -ENOMEM, [](A& a) { a.size = uint64_t{17} << 30; }}});
  // Battlemage has small pages in VRAM.
  Machine newer("bmg");
  Client other(newer);
  right.size = 4096;
  Check<A>(other, xe::kGemCreate, right, {{"small pages", 0, [](A&) {}}});
}

TEST(XeMalformed, GemMmapOffset) {
  Machine machine;
  Client client(machine);
  xe::gem_mmap_offset right = {};
  right.handle = client.Object(4096);
  using A = xe::gem_mmap_offset;
  Check<A>(client, xe::kGemMmapOffset, right,
           {{"nothing", 0, [](A&) {}},
            {"extension", -EINVAL, [](A& a) { a.extensions = 1; }},
            {"reserved", -EINVAL, [](A& a) { a.reserved[1] = 1; }},
            {"a flag of newer kernels", -EINVAL, [](A& a) { a.flags = 1; }},
            {"unknown handle", -ENOENT, [](A& a) { a.handle = 2; }},
            {"flag before handle", -EINVAL, [](A& a) { a.handle = 2, a.flags = 2; }}});
}

TEST(XeMalformed, VmCreateAndDestroy) {
  Machine machine;
  Client client(machine);
  using A = xe::vm_create;
  Check<A>(client, xe::kVmCreate, {},
           {{"nothing", 0, [](A&) {}},
            {"long-running", 0, [](A& a) { a.flags = 2; }},
            {"extension", -EINVAL, [](A& a) { a.extensions = 1; }},
            {"reserved", -EINVAL, [](A& a) { a.reserved[0] = 1; }},
            {"unknown flag", -EINVAL, [](A& a) { a.flags = 8; }},
            {"faults without hardware", -EINVAL, [](A& a) { a.flags = 6; }}});
  Machine newer("lnl");
  Client other(newer);
  Check<A>(other, xe::kVmCreate, {},
           {{"faults", 0, [](A& a) { a.flags = 6; }},
            {"faults and scratch page", 0, [](A& a) { a.flags = 7; }},
            {"faults, not long-running", -EINVAL, [](A& a) { a.flags = 4; }}});

  xe::vm_destroy right = {};
  right.vm_id = 1;
  const uint32_t queue = client.Queue(1);
  using B = xe::vm_destroy;
  Check<B>(client, xe::kVmDestroy, right,
           {{"pad", -EINVAL, [](B& a) { a.pad = 1; }},
            {"reserved", -EINVAL, [](B& a) { a.reserved[1] = 1; }},
            {"unknown", -ENOENT, [](B& a) { a.vm_id = 9; }},
            {"none", -ENOENT, [](B& a) { a.vm_id = 0; }},
            {"in use", -EBUSY, [](B&) {}}});
  xe::exec_queue_destroy destroy = {};
  destroy.exec_queue_id = queue;
  EXPECT_EQ(client.Call(xe::kExecQueueDestroy, destroy), 0);
  EXPECT_EQ(client.Call(xe::kVmDestroy, right), 0);
  EXPECT_EQ(client.Call(xe::kVmDestroy, right), -ENOENT);
}

TEST(XeMalformed, VmBind) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), other_vm = client.Vm();
  const uint32_t object = client.Object(0x4000), hidden = client.Object(0x4000, other_vm);
  const uint32_t exec = client.Queue(vm), bind = client.Queue(vm, xe::kVmBindClass);
  const uint32_t foreign = client.Queue(other_vm, xe::kVmBindClass);
  xe::vm_bind right = {};
  right.vm_id = vm;
  right.num_binds = 1;
  right.bind = Map(object, 0x10000, 0x4000);
  alignas(4096) static std::array<uint8_t, 8192> memory;
  const uint64_t user = AddressOf(memory);
  using A = xe::vm_bind;
  const auto null = [](A& a) { a.bind = Map(0, 0x10000, 0x4000, 0, xe::kBindNull); };
  const auto userptr = [user](A& a) { a.bind = MapUserptr(user, 0x10000, 0x2000); };
  Check<A>(
      client, xe::kVmBind, right,
      {{"nothing", 0, [](A&) {}},
       {"null", 0, null},
       {"userptr", 0, userptr},
       {"with a bind queue", 0, [=](A& a) { a.exec_queue_id = bind; }},
       {"unmap", 0, [](A& a) { a.bind = Unmap(0x800000, 0x1000); }},
       {"all flags", 0, [](A& a) { a.bind.flags = 0xb; }},
       // 1, 2
       {"unknown VM", -EINVAL, [](A& a) { a.vm_id = 7; }},
       {"pad", -EINVAL, [](A& a) { a.pad = 1; }},
       {"pad2", -EINVAL, [](A& a) { a.pad2 = 1; }},
       {"reserved", -EINVAL, [](A& a) { a.reserved[0] = 1; }},
       {"extension", -EINVAL, [](A& a) { a.extensions = 1; }},
       {"too many syncs", -EINVAL, [](A& a) { a.num_syncs = 1025; }},
       // 3
       {"array too large", -ENOBUFS, [](A& a) { a.num_binds = ~0u; }},
       {"bad array", -EFAULT, [](A& a) { a.num_binds = 2, a.vector_of_binds = kBad; }},
       // 4, 5
       {"page attributes", -EINVAL, [](A& a) { a.bind.pat_index = 4; }},
       {"operation", -EINVAL, [](A& a) { a.bind.op = 5; }},
       {"flags of newer kernels", -EINVAL, [](A& a) { a.bind.flags = 16; }},
       {"operation's pad", -EINVAL, [](A& a) { a.bind.pad = 1; }},
       {"operation's reserved", -EINVAL, [](A& a) { a.bind.reserved[2] = 1; }},
       // 6
       {"null with object", -EINVAL, [&](A& a) { a.bind.flags = xe::kBindNull; }},
       {"null with offset", -EINVAL, [&](A& a) { null(a), a.bind.obj_offset = 4096; }},
       {"null unmap", -EINVAL, [&](A& a) { null(a), a.bind.op = xe::kUnmap; }},
       {"no object", -EINVAL, [](A& a) { a.bind.obj = 0; }},
       // 7
       {"unmap all without object", -EINVAL, [](A& a) { a.bind = UnmapAll(0); }},
       {"unmap all with address", -EINVAL,
        [=](A& a) { a.bind = UnmapAll(object), a.bind.addr = 4096; }},
       {"unmap all with range", -EINVAL,
        [=](A& a) { a.bind = UnmapAll(object), a.bind.range = 4096; }},
       // 8
       {"userptr with object", -EINVAL, [&](A& a) { userptr(a), a.bind.obj = object; }},
       {"unmap with object", -EINVAL, [](A& a) { a.bind.op = xe::kUnmap; }},
       {"prefetch with object", -EINVAL, [](A& a) { a.bind.op = xe::kPrefetch; }},
       {"userptr not coherent", -EINVAL, [&](A& a) { userptr(a), a.bind.pat_index = 1; }},
       // 9
       {"prefetch region", -EINVAL, [](A& a) { a.bind.prefetch_mem_region_instance = 1; }},
       {"absent region", -EINVAL,
        [](A& a) {
          a.bind = Unmap(0x1000, 0x1000);
          a.bind.op = xe::kPrefetch;
          a.bind.prefetch_mem_region_instance = 1;
        }},
       // 10
       {"offset not aligned", -EINVAL, [](A& a) { a.bind.obj_offset = 1, a.bind.range = 4096; }},
       {"address not aligned", -EINVAL, [](A& a) { a.bind.addr = 0x10800; }},
       {"range not aligned", -EINVAL, [](A& a) { a.bind.range = 0x3fff; }},
       {"no range", -EINVAL, [](A& a) { a.bind.range = 0; }},
       // 11
       {"unknown queue", -ENOENT, [](A& a) { a.exec_queue_id = 99; }},
       {"not a bind queue", -EINVAL, [=](A& a) { a.exec_queue_id = exec; }},
       {"another VM's queue", -EINVAL, [=](A& a) { a.exec_queue_id = foreign; }},
       // 13, 14, 15
       {"beyond the VM", -EINVAL, [](A& a) { a.bind.addr = (uint64_t{1} << 48) - 4096; }},
       {"sign bits", -EINVAL, [](A& a) { a.bind.addr = ~uint64_t{0xffff}; }},
       {"unknown object", -ENOENT, [](A& a) { a.bind.obj = 99; }},
       {"queue before object", -ENOENT, [](A& a) { a.exec_queue_id = a.bind.obj = 99; }},
       {"range before object", -EINVAL,
        [](A& a) { a.bind.obj = 99, a.bind.addr = uint64_t{1} << 48; }},
       {"another VM's object", -EINVAL, [=](A& a) { a.bind.obj = hidden; }},
       {"beyond the object", -EINVAL, [](A& a) { a.bind.obj_offset = 0x1000; }},
       {"far beyond the object", -EINVAL, [](A& a) { a.bind.obj_offset = ~uint64_t{4095}; }},
       {"write-back, not coherent", -EINVAL, [](A& a) { a.bind.pat_index = 3; }},
       // 16
       {"bad syncs", -EFAULT, [](A& a) { a.num_syncs = 1, a.syncs = kBad; }},
       {"object before syncs", -ENOENT,
        [](A& a) { a.num_syncs = 1, a.syncs = kBad, a.bind.obj = 99; }},
       {"unmapped userptr", -EFAULT, [](A& a) { a.bind = MapUserptr(0x1000, 0x10000, 0x1000); }}});
}

TEST(XeMalformed, PageAttributesFollowThePlatform) {
  struct Row {
    const char* device;
    std::vector<int> good;  // for a write-back object
    std::vector<int> bad;
  };
  for (const Row& row :
       {Row{"tgl", {0}, {1, 2, 3, 4}}, Row{"adlp", {0}, {3}}, Row{"dg2", {0}, {3}},
        Row{"mtl", {3, 4}, {0, 1, 2, 5}}, Row{"lnl", {1, 2, 31}, {0, 9, 16, 19, 32}},
        Row{"bmg", {1, 27}, {0, 16, 28, 31}}, Row{"ptl", {1, 16, 31}, {0, 9, 17, 19, 32}}}) {
    Machine machine(row.device);
    Client client(machine);
    const uint32_t vm = client.Vm(), object = client.Object(4096);
    const auto bind = [&](int pat) {
      xe::vm_bind_op op = Map(object, 0x10000, 4096);
      op.pat_index = static_cast<uint16_t>(pat);
      return client.Bind(vm, {op});
    };
    for (const int pat : row.good) EXPECT_EQ(bind(pat), 0) << row.device << " " << pat;
    for (const int pat : row.bad) EXPECT_EQ(bind(pat), -EINVAL) << row.device << " " << pat;
  }
  // Write-combined objects take every entry that exists; memory of the process none that is
  // compressed, though it be coherent.
  Machine machine("ptl");
  Client client(machine);
  const uint32_t vm = client.Vm(), object = client.Object(4096, 0, xe::kCachingWc);
  alignas(4096) static std::array<uint8_t, 4096> memory;
  xe::vm_bind_op op = Map(object, 0x10000, 4096);
  op.pat_index = 9;
  EXPECT_EQ(client.Bind(vm, {op}), 0);
  op = MapUserptr(AddressOf(memory), 0x10000, 4096);
  op.pat_index = 16;
  EXPECT_EQ(client.Bind(vm, {op}), -EINVAL);
  op.pat_index = 1;
  EXPECT_EQ(client.Bind(vm, {op}), 0);
}

TEST(XeMalformed, BindsOfVramHaveLargePages) {
  Machine machine("dg2");
  Client client(machine);
  const uint32_t vm = client.Vm();
  const uint32_t vram = client.Object(0x20000, 0, xe::kCachingWc, 2);
  const uint32_t system = client.Object(0x20000);
  EXPECT_EQ(client.Bind(vm, {Map(vram, 0x10000, 0x20000)}), 0);
  EXPECT_EQ(client.Bind(vm, {Map(vram, 0x11000, 0x10000)}), -EINVAL);
  EXPECT_EQ(client.Bind(vm, {Map(vram, 0x10000, 0x1000)}), -EINVAL);
  EXPECT_EQ(client.Bind(vm, {Map(vram, 0x10000, 0x10000, 0x1000)}), -EINVAL);
  EXPECT_EQ(client.Bind(vm, {Map(system, 0x11000, 0x1000)}), 0);
}

TEST(XeMalformed, ImportedObjectsAreBoundCoherently) {
  Seen seen;
  MockKernel kernel;
  MockDevice& first = kernel.Add(MakeXe(kernel, *FindDevice("tgl")->device));
  MockDevice& second = kernel.Add(MakeXe(kernel, *FindDevice("lnl")->device));
  OwnCaller caller;
  const auto from = kernel.Open(first.render_minor()), to = kernel.Open(second.render_minor());
  xe::gem_create create = {};
  create.size = 4096;
  create.placement = 1;
  create.cpu_caching = xe::kCachingWc;
  ASSERT_EQ(from->Ioctl(caller, xe::kGemCreate, AddressOf(create)), 0);
  uapi::drm::prime_handle prime = {create.handle, 0, -1};
  ASSERT_EQ(from->Ioctl(caller, uapi::drm::kPrimeHandleToFd, AddressOf(prime)), 0);
  const UniqueFd fd(prime.fd);
  ASSERT_EQ(to->Ioctl(caller, uapi::drm::kPrimeFdToHandle, AddressOf(prime)), 0);
  xe::vm_create vm = {};
  ASSERT_EQ(to->Ioctl(caller, xe::kVmCreate, AddressOf(vm)), 0);
  xe::vm_bind bind = {};
  bind.vm_id = vm.vm_id;
  bind.num_binds = 1;
  bind.bind = Map(prime.handle, 0x10000, 4096);
  for (const auto& [pat, result] : {std::pair(0, -EINVAL), {9, -EINVAL}, {1, 0}}) {
    bind.bind.pat_index = static_cast<uint16_t>(pat);
    EXPECT_EQ(to->Ioctl(caller, xe::kVmBind, AddressOf(bind)), result) << pat;
  }
}

TEST(XeMalformed, PrivateObjectsAreNotExported) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm();
  uapi::drm::prime_handle prime = {client.Object(4096, vm), 0, -1};
  EXPECT_EQ(client.Call(uapi::drm::kPrimeHandleToFd, prime), -EPERM);
}

TEST(XeMalformed, Syncs) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), queue = client.Queue(vm);
  const uint32_t long_vm = client.Vm(xe::kVmLrMode), long_queue = client.Queue(long_vm);
  const uint32_t signalled = client.Syncobj(true), empty = client.Syncobj();
  uint64_t user = 0;
  const uint64_t user_address = AddressOf(user);
  struct Row {
    const char* what;
    Result exec, bind;
    xe::sync sync;
  };
  const auto changed = [](xe::sync sync, const std::function<void(xe::sync&)>& change) {
    change(sync);
    return sync;
  };
  using S = xe::sync;
  const std::vector<Row> rows = {
      {"wait", 0, 0, Wait(signalled)},
      {"signal", 0, 0, Signal(empty)},
      {"unknown flag", -EINVAL, -EINVAL, changed(Wait(signalled), [](S& s) { s.flags = 2; })},
      {"reserved", -EINVAL, -EINVAL, changed(Wait(signalled), [](S& s) { s.reserved[1] = 1; })},
      {"unknown type", -EINVAL, -EINVAL, changed(Wait(signalled), [](S& s) { s.type = 3; })},
      {"an extension is not looked at", 0, 0,
       changed(Wait(signalled), [](S& s) { s.extensions = 1; })},
      {"upper half of the handle", -EINVAL, -EINVAL,
       changed(Wait(signalled), [](S& s) { s.handle_or_address |= uint64_t{1} << 32; })},
      {"a value of a binary object is ignored", 0, 0,
       changed(Wait(signalled), [](S& s) { s.timeline_value = 5; })},
      {"unknown object", -ENOENT, -ENOENT, Wait(99)},
      {"no fence", -EINVAL, -EINVAL, Wait(client.Syncobj())},
      {"point 0 to wait for", -EINVAL, -EINVAL,
       changed(Wait(signalled, 1), [](S& s) { s.timeline_value = 0; })},
      {"point 0 to signal", -EINVAL, -EINVAL,
       changed(Signal(signalled, 1), [](S& s) { s.timeline_value = 0; })},
      {"a point that was not submitted", -EINVAL, -EINVAL, Wait(client.Syncobj(), 3)},
      {"a user fence to wait for", -EOPNOTSUPP, -EOPNOTSUPP,
       changed(UserFence(user_address, 1), [](S& s) { s.flags = 0; })},
      {"a user fence not aligned", -EINVAL, -EINVAL, UserFence(user_address + 4, 1)},
      {"a user fence of the kernel's", 0, -EFAULT, UserFence(~uint64_t{7}, 1)},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(client.Exec(queue, 0x1000, {row.sync}), row.exec) << row.what;
    EXPECT_EQ(client.Bind(vm, {Unmap(0, 4096)}, {row.sync}), row.bind) << row.what;
  }
  // Two user fences.
  const std::vector<xe::sync> two = {UserFence(user_address, 1), UserFence(user_address, 2)};
  EXPECT_EQ(client.Exec(queue, 0x1000, two), -EINVAL);
  EXPECT_EQ(client.Bind(vm, {Unmap(0, 4096)}, two), -EINVAL);
  EXPECT_EQ(client.Bind(vm, {}, {UserFence(user_address, 1)}), -EOPNOTSUPP);
  EXPECT_EQ(user, 0u);
  // Work of long-running spaces has no fences; it may wait for others'.
  EXPECT_EQ(client.Exec(long_queue, 0x1000, {Signal(empty)}), -EOPNOTSUPP);
  EXPECT_EQ(client.Bind(long_vm, {Unmap(0, 4096)}, {Signal(empty, 4)}), -EOPNOTSUPP);
  EXPECT_EQ(client.Exec(long_queue, 0x1000, {Wait(signalled)}), 0);
}

TEST(XeMalformed, ExecQueueCreate) {
  Machine machine("dg2");
  Client client(machine);
  const uint32_t vm = client.Vm();
  std::vector<xe::engine_class_instance> engines(9);
  xe::exec_queue_create right = {};
  right.width = 1;
  right.num_placements = 1;
  right.vm_id = vm;
  right.instances = AddressOf(engines[0]);
  using A = xe::exec_queue_create;
  const auto with = [&](std::vector<xe::engine_class_instance> list, uint16_t width) {
    return [&engines, list = std::move(list), width](A& a) {
      std::copy(list.begin(), list.end(), engines.begin());
      a.width = width;
      a.num_placements = static_cast<uint16_t>(list.size() / width);
    };
  };
  constexpr uint16_t kVideo = xe::kVideoDecode;
  Check<A>(
      client, xe::kExecQueueCreate, right,
      {{"nothing", 0, [](A&) {}},
       {"two placements", 0, with({{kVideo, 0, 0, 0}, {kVideo, 1, 0, 0}}, 1)},
       {"width 2", 0, with({{kVideo, 0, 0, 0}, {kVideo, 1, 0, 0}}, 2)},
       {"binds", 0, with({{xe::kVmBindClass, 0, 0, 0}}, 1)},
       {"width 2, not in order", -EINVAL, with({{kVideo, 1, 0, 0}, {kVideo, 0, 0, 0}}, 2)},
       {"two classes", -EINVAL, with({{kVideo, 0, 0, 0}, {xe::kVideoEnhance, 1, 0, 0}}, 1)},
       {"unknown instance", -EINVAL, with({{xe::kRender, 1, 0, 0}}, 1)},
       {"unknown class", -EINVAL, with({{6, 0, 0, 0}}, 1)},
       {"unknown GT", -EINVAL, with({{xe::kRender, 0, 1, 0}}, 1)},
       {"bind instance", -EINVAL, with({{xe::kVmBindClass, 1, 0, 0}}, 1)},
       {"bind width", -EINVAL, with({{xe::kVmBindClass, 0, 0, 0}, {xe::kVmBindClass, 0, 0, 0}}, 2)},
       {"render again", 0, with({{xe::kRender, 0, 0, 0}}, 1)},
       {"flags of newer kernels", -EINVAL, [](A& a) { a.flags = 1; }},
       {"reserved", -EINVAL, [](A& a) { a.reserved[0] = 1; }},
       {"no width", -EINVAL, [](A& a) { a.width = 0; }},
       {"no placements", -EINVAL, [](A& a) { a.num_placements = 0; }},
       {"ten engines", -EINVAL, [](A& a) { a.width = 5, a.num_placements = 2; }},
       {"very many engines", -EINVAL, [](A& a) { a.width = a.num_placements = 0xffff; }},
       {"bad array", -EFAULT, [](A& a) { a.instances = kBad; }},
       {"no VM", -ENOENT, [](A& a) { a.vm_id = 0; }},
       {"unknown VM", -ENOENT, [](A& a) { a.vm_id = 9; }},
       {"bad extension", -EFAULT, [](A& a) { a.extensions = kBad; }},
       {"VM before extension", -ENOENT, [](A& a) { a.vm_id = 9, a.extensions = kBad; }}});
}

TEST(XeMalformed, ExecQueueExtensions) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm();
  xe::engine_class_instance engine = {};
  const auto create = [&](const xe::ext_set_property& extension) {
    xe::exec_queue_create args = {};
    args.extensions = AddressOf(extension);
    args.width = args.num_placements = 1;
    args.vm_id = vm;
    args.instances = AddressOf(engine);
    return client.Call(xe::kExecQueueCreate, args);
  };
  const auto set = [](uint32_t property, uint64_t value) {
    xe::ext_set_property extension = {};
    extension.property = property;
    extension.value = value;
    return extension;
  };
  EXPECT_EQ(create(set(xe::kPropertyPriority, 0)), 0);
  EXPECT_EQ(create(set(xe::kPropertyPriority, 1)), 0);
  EXPECT_EQ(create(set(xe::kPropertyPriority, 2)), -EPERM);
  EXPECT_EQ(create(set(xe::kPropertyPriority, 3)), -EINVAL);
  EXPECT_EQ(create(set(xe::kPropertyTimeslice, 1000)), 0);
  EXPECT_EQ(create(set(xe::kPropertyTimeslice, 0)), -EINVAL);
  EXPECT_EQ(create(set(xe::kPropertyTimeslice, 10'000'001)), -EINVAL);
  EXPECT_EQ(create(set(2, 0)), -EINVAL);
  xe::ext_set_property extension = set(xe::kPropertyPriority, 0);
  extension.base.name = 1;
  EXPECT_EQ(create(extension), -EINVAL);
  extension = set(xe::kPropertyPriority, 0);
  extension.base.pad = 1;
  EXPECT_EQ(create(extension), -EINVAL);
  // A chain, and one without an end.
  xe::ext_set_property second = set(xe::kPropertyTimeslice, 5);
  extension = set(xe::kPropertyPriority, 0);
  extension.base.next_extension = AddressOf(second);
  EXPECT_EQ(create(extension), 0);
  second.base.next_extension = AddressOf(extension);
  EXPECT_EQ(create(extension), -E2BIG);
}

TEST(XeMalformed, ExecQueueDestroyAndGetProperty) {
  Machine machine;
  Client client(machine);
  const uint32_t queue = client.Queue(client.Vm());
  using A = xe::exec_queue_get_property;
  A get = {};
  get.exec_queue_id = queue;
  Check<A>(
      client, xe::kExecQueueGetProperty, get,
      {{"nothing", 0, [](A&) {}},
       {"reserved", -EINVAL, [](A& a) { a.reserved[1] = 1; }},
       {"property", -EINVAL, [](A& a) { a.property = 1; }},
       {"unknown", -ENOENT, [](A& a) { a.exec_queue_id = 7; }},
       {"unknown before property", -ENOENT, [](A& a) { a.exec_queue_id = 7, a.property = 1; }}});
  using B = xe::exec_queue_destroy;
  B destroy = {};
  destroy.exec_queue_id = queue;
  Check<B>(client, xe::kExecQueueDestroy, destroy,
           {{"pad", -EINVAL, [](B& a) { a.pad = 1; }},
            {"reserved", -EINVAL, [](B& a) { a.reserved[0] = 1; }},
            {"unknown", -ENOENT, [](B& a) { a.exec_queue_id = 7; }},
            {"nothing", 0, [](B&) {}},
            {"twice", -ENOENT, [](B&) {}}});
}

TEST(XeMalformed, Exec) {
  Machine machine("dg2");
  Client client(machine);
  const uint32_t vm = client.Vm();
  const uint32_t bind = client.Queue(vm, xe::kVmBindClass);
  std::vector<xe::engine_class_instance> engines = {{xe::kVideoDecode, 0, 0, 0},
                                                    {xe::kVideoDecode, 1, 0, 0}};
  xe::exec_queue_create create = {};
  create.width = 2;
  create.num_placements = 1;
  create.vm_id = vm;
  create.instances = AddressOf(engines[0]);
  ASSERT_EQ(client.Call(xe::kExecQueueCreate, create), 0);
  std::array<uint64_t, 2> batches = {0x1000, 0x2000};
  xe::exec right = {};
  right.exec_queue_id = create.exec_queue_id;
  right.num_batch_buffer = 2;
  right.address = AddressOf(batches);
  using A = xe::exec;
  Check<A>(client, xe::kExec, right,
           {{"nothing", 0, [](A&) {}},
            {"no batches", 0, [](A& a) { a.num_batch_buffer = 0, a.address = 0; }},
            {"extension", -EINVAL, [](A& a) { a.extensions = 1; }},
            {"pad", -EINVAL, [](A& a) { a.pad[0] = 1; }},
            {"reserved", -EINVAL, [](A& a) { a.reserved[1] = 1; }},
            {"too many syncs", -EINVAL, [](A& a) { a.num_syncs = 1025; }},
            {"unknown queue", -ENOENT, [](A& a) { a.exec_queue_id = 9; }},
            {"a queue for binds", -EINVAL, [=](A& a) { a.exec_queue_id = bind; }},
            {"one batch", -EINVAL, [](A& a) { a.num_batch_buffer = 1; }},
            {"bad syncs", -EFAULT, [](A& a) { a.num_syncs = 1, a.syncs = kBad; }},
            {"bad addresses", -EFAULT, [](A& a) { a.address = kBad; }}});
}

TEST(XeMalformed, WaitUserFence) {
  Machine machine;
  Client client(machine);
  const uint32_t queue = client.Queue(client.Vm());
  uint64_t fence = 5;
  xe::wait_user_fence right = {};
  right.addr = AddressOf(fence);
  right.value = 5;
  right.mask = ~uint64_t{0};
  right.exec_queue_id = queue;
  using A = xe::wait_user_fence;
  Check<A>(client, xe::kWaitUserFence, right,
           {{"nothing", 0, [](A&) {}},
            {"extension", -EINVAL, [](A& a) { a.extensions = 1; }},
            {"pad", -EINVAL, [](A& a) { a.pad = 1; }},
            {"pad2", -EINVAL, [](A& a) { a.pad2 = 1; }},
            {"reserved", -EINVAL, [](A& a) { a.reserved[0] = 1; }},
            {"flags", -EINVAL, [](A& a) { a.flags = 2; }},
            {"operation", -EINVAL, [](A& a) { a.op = 6; }},
            {"alignment", -EINVAL, [](A& a) { a.addr += 4; }},
            {"unknown queue", -ENOENT, [](A& a) { a.exec_queue_id = 9; }},
            {"queue before address", -ENOENT, [](A& a) { a.exec_queue_id = 9, a.addr = kBad; }},
            {"bad address", -EFAULT, [](A& a) { a.addr = kBad; }},
            {"no time", -ETIME, [](A& a) { a.value = 6; }},
            {"a short time", -ETIME, [](A& a) { a.value = 6, a.timeout = 1000; }},
            {"a time that has passed", -ETIME,
             [](A& a) { a.value = 6, a.timeout = 1, a.flags = xe::kWaitAbsolute; }},
            {"not equal", 0, [](A& a) { a.value = 6, a.op = xe::kNeq; }},
            {"greater", 0, [](A& a) { a.value = 4, a.op = xe::kGt; }},
            {"greater or equal", 0, [](A& a) { a.op = xe::kGte; }},
            {"less", 0, [](A& a) { a.value = 6, a.op = xe::kLt; }},
            {"less or equal", 0, [](A& a) { a.op = xe::kLte; }},
            {"not less", -ETIME, [](A& a) { a.op = xe::kLt; }},
            {"masked", 0, [](A& a) { a.value = 0x105, a.mask = 0xff; }}});
}

TEST(XeMalformed, ObservationAndNewerCallsAreRefused) {
  Machine machine;
  Client client(machine);
  using A = xe::observation_param;
  Check<A>(client, xe::kObservation, {},
           {{"open", -ENODEV, [](A&) {}},
            {"add", -ENODEV, [](A& a) { a.observation_op = 1; }},
            {"remove", -ENODEV, [](A& a) { a.observation_op = 2; }},
            {"unknown operation", -EINVAL, [](A& a) { a.observation_op = 3; }},
            {"newer type", -EINVAL, [](A& a) { a.observation_type = 1; }},
            {"extension", -EINVAL, [](A& a) { a.extensions = 1; }}});
  for (uint32_t number = 0x4c; number < 0xa0; ++number) {
    std::array<uint64_t, 16> args = {};
    const uint32_t request = uapi::drm::Request(uapi::drm::kInOut, number, sizeof(args));
    EXPECT_EQ(client.file->Ioctl(client.caller, request, AddressOf(args)), -EINVAL) << number;
  }
}

}  // namespace
}  // namespace packsmith::capture
