// Parameters, and malformed calls, each with the error that the kernel gives.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <vector>

#include "tests/capture/asahi/client.h"

namespace packsmith::capture {
namespace {

namespace asahi = uapi::asahi;

constexpr uint64_t kBad = 8;  // an address at which nothing is mapped
constexpr uint64_t kPage = asahi::kPage;

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

TEST(AsahiCalls, ParametersAreThoseOfTheChip) {
  const auto read = [](const char* name) {
    Machine machine(name);
    Client client(machine);
    asahi::params_global params = {};
    asahi::get_params args = {0, 0, AddressOf(params), sizeof(params)};
    EXPECT_EQ(client.Call(asahi::kGetParams, args), 0);
    return params;
  };
  const asahi::params_global m1 = read("g13g");
  EXPECT_EQ(m1.features, asahi::kFeatureSoftFaults);
  EXPECT_EQ(m1.gpu_generation, 13u);
  EXPECT_EQ(m1.gpu_variant, uint32_t{'G'});
  EXPECT_EQ(m1.chip_id, 0x8103u);
  EXPECT_EQ(m1.num_dies, 1u);
  EXPECT_EQ(m1.num_clusters_total, 1u);
  EXPECT_EQ(m1.num_cores_per_cluster, 8u);
  EXPECT_EQ(m1.core_masks[0], 0xffu);
  EXPECT_EQ(m1.max_frequency_khz, 1'278'000u);
  EXPECT_EQ(m1.vm_start, 0x4000u);
  EXPECT_EQ(m1.vm_end, 0x7fffff8000u);
  EXPECT_EQ(m1.vm_kernel_min_size, 0x20000000u);
  EXPECT_EQ(m1.max_commands_per_submission, 64u);
  EXPECT_EQ(m1.max_attachments, 16u);
  EXPECT_EQ(m1.command_timestamp_frequency_hz, 1'000'000'000u);
  const asahi::params_global ultra = read("g14d");
  EXPECT_EQ(ultra.gpu_generation, 14u);
  EXPECT_EQ(ultra.gpu_variant, uint32_t{'D'});
  EXPECT_EQ(ultra.chip_id, 0x6022u);
  EXPECT_EQ(ultra.num_dies, 2u);
  EXPECT_EQ(ultra.num_clusters_total, 8u);
}

TEST(AsahiCalls, ParametersAreCutToTheProgramsSize) {
  Machine machine;
  Client client(machine);
  std::array<uint8_t, 1024> room;
  room.fill(0xee);
  asahi::get_params right = {0, 0, AddressOf(room), 12};
  using A = asahi::get_params;
  Check<A>(client, asahi::kGetParams, right,
           {{"12 bytes", 0, [](A&) {}},
            {"nothing", 0, [](A& a) { a.size = 0, a.pointer = kBad; }},
            {"group", -EINVAL, [](A& a) { a.param_group = 1; }},
            {"pad", -EINVAL, [](A& a) { a.pad = 1; }},
            {"pointer", -EFAULT, [](A& a) { a.pointer = kBad; }}});
  EXPECT_EQ(room[8], 13);
  EXPECT_EQ(room[12], 0xee);
  right.size = room.size();
  EXPECT_EQ(client.Call(asahi::kGetParams, right), 0);
  EXPECT_EQ(room[592], 0xee);
}

TEST(AsahiCalls, TimePasses) {
  Machine machine;
  Client client(machine);
  asahi::get_time first = {}, second = {};
  EXPECT_EQ(client.Call(asahi::kGetTime, first), 0);
  EXPECT_GT(first.gpu_timestamp, 0u);
  while (MonotonicNow() <= static_cast<int64_t>(first.gpu_timestamp)) {
  }
  EXPECT_EQ(client.Call(asahi::kGetTime, second), 0);
  EXPECT_GT(second.gpu_timestamp, first.gpu_timestamp);
  second.flags = 1;
  EXPECT_EQ(client.Call(asahi::kGetTime, second), -EINVAL);
}

TEST(AsahiCalls, VmCreateAndDestroy) {
  Machine machine;
  Client client(machine);
  const asahi::vm_create right = {Client::kKernelStart, Client::kKernelEnd, 0, 0};
  using A = asahi::vm_create;
  Check<A>(client, asahi::kVmCreate, right,
           {{"nothing", 0, [](A&) {}},
            {"all of it", 0, [](A& a) { a.kernel_start = 0x4000, a.kernel_end = 0x7fffff8000; }},
            {"the least", 0, [](A& a) { a.kernel_end = a.kernel_start + 0x20000000; }},
            {"too small", -EINVAL, [](A& a) { a.kernel_end = a.kernel_start + 0x1fffc000; }},
            {"before the start", -EINVAL, [](A& a) { a.kernel_start = 0; }},
            {"beyond the end", -EINVAL, [](A& a) { a.kernel_end = 0x7fffffc000; }},
            {"backwards", -EINVAL, [](A& a) { std::swap(a.kernel_start, a.kernel_end); }},
            {"start not aligned", -EINVAL, [](A& a) { a.kernel_start += 0x1000; }},
            {"end not aligned", -EINVAL, [](A& a) { a.kernel_end += 0x1000; }},
            {"pad", -EINVAL, [](A& a) { a.pad = 1; }}});
  using B = asahi::vm_destroy;
  Check<B>(client, asahi::kVmDestroy, {1, 0},
           {{"pad", -EINVAL, [](B& a) { a.pad = 1; }},
            {"unknown", -ENOENT, [](B& a) { a.vm_id = 9; }},
            {"nothing", 0, [](B&) {}},
            {"twice", -ENOENT, [](B&) {}}});
}

TEST(AsahiCalls, GemCreateAndMmapOffset) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm();
  using A = asahi::gem_create;
  A right = {};
  right.size = 100;
  Check<A>(client, asahi::kGemCreate, right,
           {{"nothing", 0, [](A&) {}},
            {"write-back", 0, [](A& a) { a.flags = 1; }},
            {"private", 0, [=](A& a) { a.flags = 2, a.vm_id = vm; }},
            {"no size", -EINVAL, [](A& a) { a.size = 0; }},
            {"pad", -EINVAL, [](A& a) { a.pad = 1; }},
            {"flags", -EINVAL, [](A& a) { a.flags = 4; }},
            {"VM, not private", -EINVAL, [=](A& a) { a.vm_id = vm; }},
            {"private, unknown VM", -ENOENT, [](A& a) { a.flags = 2, a.vm_id = 9; }},
            {"private, no VM", -ENOENT, [](A& a) { a.flags = 2; }},
            {"more than there is", -ENOMEM, [](A& a) { a.size = ~uint64_t{0}; }}});
  // Whole pages of the GPU.
  EXPECT_EQ(client.Memory(client.Object(100))->bytes().size(), kPage);
  using B = asahi::gem_mmap_offset;
  Check<B>(client, asahi::kGemMmapOffset, {1, 0, 0},
           {{"nothing", 0, [](B&) {}},
            {"flags", -EINVAL, [](B& a) { a.flags = 1; }},
            {"unknown", -ENOENT, [](B& a) { a.handle = 99; }}});
  uapi::drm::prime_handle prime = {client.Object(100, vm), 0, -1};
  EXPECT_EQ(client.Call(uapi::drm::kPrimeHandleToFd, prime), -EINVAL);
}

TEST(AsahiCalls, VmBind) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), other = client.Vm();
  const uint32_t object = client.Object(4 * kPage), hidden = client.Object(kPage, other);
  constexpr uint64_t kAt = 0x1000000;
  using A = asahi::gem_bind_op;
  const std::vector<Case<A>> cases = {
      {"nothing", 0, [](A&) {}},
      {"read only", 0, [](A& a) { a.flags = 2; }},
      {"single page over more than the object", 0,
       [](A& a) { a.flags = 10, a.offset = 3 * kPage, a.range = 64 * kPage; }},
      {"unbind", 0, [](A& a) { a = Unmap(kAt, kPage); }},
      {"to the last page", 0, [](A& a) { a.addr = 0x7fffff8000 - 4 * kPage; }},
      {"flags", -EINVAL, [](A& a) { a.flags = 22; }},
      {"offset not aligned", -EINVAL, [](A& a) { a.offset = 4096, a.range = kPage; }},
      {"range not aligned", -EINVAL, [](A& a) { a.range = 4096; }},
      {"address not aligned", -EINVAL, [](A& a) { a.addr += 4096; }},
      {"neither read nor write", -EINVAL, [](A& a) { a.flags = 0; }},
      {"unbind with handle", -EINVAL, [=](A& a) { a = Unmap(kAt, kPage), a.handle = object; }},
      {"unbind with offset", -EINVAL, [](A& a) { a = Unmap(kAt, kPage), a.offset = kPage; }},
      {"beyond the object", -EINVAL, [](A& a) { a.offset = kPage; }},
      {"single page beyond it", -EINVAL, [](A& a) { a.flags = 10, a.offset = 4 * kPage; }},
      {"far beyond it", -EINVAL, [](A& a) { a.offset = ~(kPage - 1); }},
      {"no range", -EINVAL, [](A& a) { a.range = 0; }},
      {"before the VM", -EINVAL, [](A& a) { a.addr = 0; }},
      {"beyond the VM", -EINVAL, [](A& a) { a.addr = 0x7fffff8000 - kPage; }},
      {"all addresses", -EINVAL, [](A& a) { a = Unmap(kPage, ~(kPage - 1)); }},
      {"the kernel's range", -EINVAL, [](A& a) { a.addr = Client::kKernelStart; }},
      {"into the kernel's range", -EINVAL, [](A& a) { a.addr = Client::kKernelStart - kPage; }},
      {"up to the kernel's range", 0, [](A& a) { a.addr = Client::kKernelStart - 4 * kPage; }},
      {"after the kernel's range", 0, [](A& a) { a.addr = Client::kKernelEnd; }},
      {"unknown object", -ENOENT, [](A& a) { a.handle = 99; }},
      {"another VM's object", -EINVAL, [=](A& a) { a.handle = hidden, a.range = kPage; }},
  };
  for (const Case<A>& c : cases) {
    A op = Map(object, kAt, 4 * kPage);
    c.change(op);
    EXPECT_EQ(client.Bind(vm, {op}), c.result) << c.what;
  }
  const A op = Map(object, kAt, 4 * kPage);
  using B = asahi::vm_bind;
  const B right = {vm, 1, sizeof(op), 0, AddressOf(op)};
  Check<B>(client, asahi::kVmBind, right,
           {{"nothing", 0, [](B&) {}},
            {"no binds", 0, [](B& a) { a.num_binds = 0, a.userptr = kBad; }},
            {"pad", -EINVAL, [](B& a) { a.pad = 1; }},
            {"stride", -EINVAL, [](B& a) { a.stride = 0; }},
            {"unknown VM", -ENOENT, [](B& a) { a.vm_id = 9; }},
            {"stride before VM", -EINVAL, [](B& a) { a.vm_id = 9, a.stride = 0; }},
            {"array", -EFAULT, [](B& a) { a.userptr = kBad; }},
            {"flags alone, the rest is zero", -EINVAL, [](B& a) { a.stride = 4; }}});
}

TEST(AsahiCalls, GemBindObject) {
  Machine machine;
  Client client(machine);
  using A = asahi::gem_bind_object;
  A right = {};
  right.flags = asahi::kObjectTimestamps;
  right.handle = client.Object(4 * kPage);
  right.range = 4 * kPage;
  Check<A>(client, asahi::kGemBindObject, right,
           {{"nothing", 0, [](A&) {}},
            {"a part", 0, [](A& a) { a.offset = kPage, a.range = kPage; }},
            {"VM", -EINVAL, [](A& a) { a.vm_id = 1; }},
            {"pad", -EINVAL, [](A& a) { a.pad = 1; }},
            {"operation", -EINVAL, [](A& a) { a.op = 2; }},
            {"no flags", -EINVAL, [](A& a) { a.flags = 0; }},
            {"flags", -EINVAL, [](A& a) { a.flags = 3; }},
            {"offset not aligned", -EINVAL, [](A& a) { a.offset = 8, a.range = kPage; }},
            {"range not aligned", -EINVAL, [](A& a) { a.range = 8; }},
            {"beyond the object", -EINVAL, [](A& a) { a.offset = kPage; }},
            {"unknown object", -ENOENT, [](A& a) { a.handle = 9; }}});
  A unbind = {};
  unbind.op = asahi::kObjectUnbind;
  unbind.object_handle = 1;
  Check<A>(client, asahi::kGemBindObject, unbind,
           {{"flags", -EINVAL, [](A& a) { a.flags = 1; }},
            {"handle", -EINVAL, [](A& a) { a.handle = 1; }},
            {"offset", -EINVAL, [](A& a) { a.offset = kPage; }},
            {"range", -EINVAL, [](A& a) { a.range = kPage; }},
            {"VM", -EINVAL, [](A& a) { a.vm_id = 1; }},
            {"unknown", -ENOENT, [](A& a) { a.object_handle = 9; }},
            {"nothing", 0, [](A&) {}},
            {"twice", -ENOENT, [](A&) {}}});
}

TEST(AsahiCalls, Queues) {
  Machine machine;
  Client client(machine);
  using A = asahi::queue_create;
  A right = {};
  right.vm_id = client.Vm();
  Check<A>(client, asahi::kQueueCreate, right,
           {{"nothing", 0, [](A&) {}},
            {"medium priority", 0, [](A& a) { a.priority = asahi::kPriorityMedium; }},
            {"high priority", -EINVAL, [](A& a) { a.priority = asahi::kPriorityHigh; }},
            {"realtime priority", -EINVAL, [](A& a) { a.priority = asahi::kPriorityRealtime; }},
            {"flags", -EINVAL, [](A& a) { a.flags = 1; }},
            {"unknown VM", -ENOENT, [](A& a) { a.vm_id = 9; }}});
  using B = asahi::queue_destroy;
  Check<B>(client, asahi::kQueueDestroy, {1, 0},
           {{"pad", -EINVAL, [](B& a) { a.pad = 1; }},
            {"unknown", -ENOENT, [](B& a) { a.queue_id = 9; }},
            {"nothing", 0, [](B&) {}},
            {"twice", -ENOENT, [](B&) {}}});
}

TEST(AsahiCalls, Submit) {
  Machine machine;
  Client client(machine);
  const uint32_t queue = client.Queue(client.Vm());
  const Commands commands = Commands().Render(GoodRender(0x10000));
  asahi::submit right = {};
  right.cmdbuf = AddressOf(commands.bytes()[0]);
  right.cmdbuf_size = static_cast<uint32_t>(commands.bytes().size());
  right.queue_id = queue;
  using A = asahi::submit;
  Check<A>(client, asahi::kSubmit, right,
           {{"nothing", 0, [](A&) {}},
            {"flags", -EINVAL, [](A& a) { a.flags = 1; }},
            {"pad", -EINVAL, [](A& a) { a.pad = 1; }},
            {"unknown queue", -ENOENT, [](A& a) { a.queue_id = 9; }},
            {"flags before queue", -EINVAL, [](A& a) { a.flags = 1, a.queue_id = 9; }},
            {"no commands", -EINVAL, [](A& a) { a.cmdbuf_size = 0; }},
            {"buffer", -EFAULT, [](A& a) { a.cmdbuf = kBad; }},
            {"very large buffer", -EFAULT, [](A& a) { a.cmdbuf_size = ~0u, a.cmdbuf = kBad; }},
            {"syncs", -EFAULT, [](A& a) { a.in_sync_count = 1, a.syncs = kBad; }},
            {"very many syncs", -EFAULT,
             [](A& a) { a.in_sync_count = a.out_sync_count = ~0u, a.syncs = kBad; }},
            {"half a header", -EINVAL, [](A& a) { a.cmdbuf_size += 4; }},
            {"half a command", -EINVAL, [](A& a) { a.cmdbuf_size -= 8; }}});

  const uint32_t signalled = client.Syncobj(true), empty = client.Syncobj();
  const auto in = [&](asahi::sync sync) { return client.Submit(queue, commands, {sync}); };
  const auto out = [&](asahi::sync sync) { return client.Submit(queue, commands, {}, {sync}); };
  EXPECT_EQ(in(Sync(signalled)), 0);
  EXPECT_EQ(in(Sync(empty)), -EINVAL);
  EXPECT_EQ(in(Sync(empty, 3)), -EINVAL);
  EXPECT_EQ(in(Sync(99)), -ENOENT);
  EXPECT_EQ(out(Sync(99)), -ENOENT);
  EXPECT_EQ(out({2, empty, 0}), -EINVAL);
  EXPECT_EQ(in({asahi::kSyncSyncobj, signalled, 1}), -EINVAL);
  EXPECT_EQ(out({asahi::kSyncSyncobj, signalled, 1}), -EINVAL);
  EXPECT_EQ(out(Sync(empty, 3)), 0);
  EXPECT_EQ(in(Sync(empty, 3)), 0);
}

TEST(AsahiCalls, CommandsThatAreRefused) {
  Machine machine;
  Client client(machine);
  const uint32_t queue = client.Queue(client.Vm());
  const uint32_t times = client.Timestamps(client.Object(2 * kPage), kPage, kPage);
  using A = asahi::cmd_render;
  for (const Case<A>& c : std::vector<Case<A>>{
           {"nothing", 0, [](A&) {}},
           {"all flags", 0, [](A& a) { a.flags = 7 | 1 << 18; }},
           {"flags", -EINVAL, [](A& a) { a.flags = 8; }},
           {"no width", -EINVAL, [](A& a) { a.width_px = 0; }},
           {"width", -EINVAL, [](A& a) { a.width_px = 16385; }},
           {"no height", -EINVAL, [](A& a) { a.height_px = 0; }},
           {"height", -EINVAL, [](A& a) { a.height_px = 16385; }},
           {"largest", 0, [](A& a) { a.width_px = a.height_px = 16384, a.layers = 2048; }},
           {"no layers", -EINVAL, [](A& a) { a.layers = 0; }},
           {"layers", -EINVAL, [](A& a) { a.layers = 2049; }},
           {"tile 32x16", 0, [](A& a) { a.utile_height_px = 16; }},
           {"tile 16x32", -EINVAL, [](A& a) { a.utile_width_px = 16; }},
           {"tile 16x16", 0, [](A& a) { a.utile_width_px = a.utile_height_px = 16; }},
           {"tile 8x8", -EINVAL, [](A& a) { a.utile_width_px = a.utile_height_px = 8; }},
           {"3 samples", -EINVAL, [](A& a) { a.samples = 3; }},
           {"8 samples", -EINVAL, [](A& a) { a.samples = 8; }},
           {"4 samples", 0, [](A& a) { a.samples = 4; }},
           {"samples do not fit", -EINVAL, [](A& a) { a.samples = 4, a.sample_size_B = 9; }},
           {"timestamp", 0,
            [=](A& a) {
              a.ts_frag.end = {times, kPage - 8};
            }},
           {"unknown timestamp", -ENOENT,
            [](A& a) {
              a.ts_vtx.start = {9, 0};
            }},
           {"timestamp beyond", -ERANGE,
            [=](A& a) {
              a.ts_vtx.end = {times, kPage - 7};
            }},
           {"timestamp far beyond", -ERANGE,
            [=](A& a) {
              a.ts_frag.start = {times, ~0u};
            }},
       }) {
    A render = GoodRender(0x10000);
    c.change(render);
    EXPECT_EQ(client.Submit(queue, Commands().Render(render)), c.result) << c.what;
  }
  asahi::cmd_compute compute = GoodCompute(0x10000);
  EXPECT_EQ(client.Submit(queue, Commands().Compute(compute)), 0);
  compute.ts.end = {9, 0};
  EXPECT_EQ(client.Submit(queue, Commands().Compute(compute)), -ENOENT);
  compute = GoodCompute(0x10000);
  compute.flags = 1;
  EXPECT_EQ(client.Submit(queue, Commands().Compute(compute)), -EINVAL);

  // Shorter commands have zeros, and longer ones are cut.
  compute = GoodCompute(0x10000);
  EXPECT_EQ(client.Submit(queue, Commands().Add(asahi::kCmdCompute, &compute, 24)), 0);
  EXPECT_EQ(client.Submit(queue, Commands().Add(asahi::kCmdCompute, &compute, 0)), 0);
  const asahi::cmd_render render = GoodRender(0x10000);
  EXPECT_EQ(client.Submit(queue, Commands().Add(asahi::kCmdRender, &render, 150)), -EINVAL);
  const std::array<uint8_t, 300> zeros = {};
  EXPECT_EQ(client.Submit(queue, Commands().Add(asahi::kCmdCompute, zeros.data(), 300)), 0);
  EXPECT_EQ(client.Submit(queue, Commands().Add(5, zeros.data(), 8)), -EINVAL);
}

TEST(AsahiCalls, NumbersOfCommandsBarriersAndAttachmentsAreBounded) {
  Machine machine;
  Client client(machine);
  const uint32_t queue = client.Queue(client.Vm());
  const asahi::cmd_compute compute = GoodCompute(0x10000);
  const asahi::cmd_render render = GoodRender(0x10000);
  std::array<asahi::attachment, 17> attachments = {};
  const auto attach = [&](size_t size, uint16_t vdm = asahi::kNoBarrier) {
    return Commands()
        .Add(asahi::kCmdFragmentAttachments, attachments.data(), size, vdm)
        .Render(render);
  };
  Commands many;
  for (int i = 0; i < 64; ++i) many.Compute(compute);
  EXPECT_EQ(client.Submit(queue, many), 0);
  EXPECT_EQ(client.Submit(queue, many.Render(render)), -EINVAL);

  EXPECT_EQ(client.Submit(queue, attach(16 * 24)), 0);
  EXPECT_EQ(client.Submit(queue, attach(0)), 0);
  EXPECT_EQ(client.Submit(queue, attach(17 * 24)), -EINVAL);
  EXPECT_EQ(client.Submit(queue, attach(25)), -EINVAL);
  EXPECT_EQ(client.Submit(queue, attach(24, 0)), -EINVAL);
  attachments[1].pad = 1;
  EXPECT_EQ(client.Submit(queue, attach(48)), -EINVAL);
  attachments[1] = {0, 0, 0, 1};
  EXPECT_EQ(client.Submit(queue, attach(48)), -EINVAL);
  // Attachments alone are no work.
  EXPECT_EQ(client.Submit(queue, Commands().Add(asahi::kCmdComputeAttachments, nullptr, 0)),
            -EINVAL);

  EXPECT_EQ(client.Submit(queue, Commands().Render(render, 0, 0)), 0);
  EXPECT_EQ(client.Submit(queue, Commands().Render(render).Compute(compute, 1)), 0);
  EXPECT_EQ(client.Submit(queue, Commands().Render(render).Compute(compute, 2)), -EINVAL);
  EXPECT_EQ(client.Submit(queue, Commands().Render(render, 1)), -EINVAL);
  EXPECT_EQ(client.Submit(queue, Commands().Render(render, asahi::kNoBarrier, 1)), -EINVAL);
}

}  // namespace
}  // namespace packsmith::capture
