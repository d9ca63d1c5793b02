// The interface of Mesa 24: what differs from the one that was merged.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "runtime/kernel/uapi/asahi_old.h"
#include "tests/capture/asahi/client.h"
#include "tests/capture/sandbox.h"

namespace packsmith::capture {
namespace {

namespace old = uapi::asahi_old;

constexpr uint64_t kPage = uapi::asahi::kPage, kAt = 0x1000000, kBad = 8;

struct OldMachine : MachineWith<&MakeOldAsahi> {
  OldMachine() : MachineWith("g13g") {}
};

// An open file with an address space, a queue for everything, and a mapped object.
struct OldClient : Program {
  explicit OldClient(OldMachine& machine) : Program(machine.kernel, machine.device) {
    old::vm_create create = {0, Client::kKernelStart, Client::kKernelEnd, 0, 0};
    EXPECT_EQ(Call(old::kVmCreate, create), 0);
    vm = create.vm_id;
    old::queue_create make = {};
    make.vm_id = vm;
    make.queue_caps = old::kQueueRender | old::kQueueCompute;
    EXPECT_EQ(Call(old::kQueueCreate, make), 0);
    queue = make.queue_id;
    object = Object(4 * kPage);
    EXPECT_EQ(Bind(GoodBind()), 0);
  }

  uint32_t Object(uint64_t size) {
    old::gem_create args = {};
    args.size = size;
    EXPECT_EQ(Call(old::kGemCreate, args), 0);
    return args.handle;
  }
  std::shared_ptr<SharedMemory> Memory(uint32_t handle) {
    old::gem_mmap_offset args = {0, handle, 0, 0};
    EXPECT_EQ(Call(old::kGemMmapOffset, args), 0);
    File::Mapped mapped;
    EXPECT_EQ(file->Mmap(caller, args.offset, 4096, mapped), 0);
    return mapped.memory;
  }
  old::gem_bind GoodBind() const {
    return {0, old::kBind, old::kBindRead | old::kBindWrite, object, vm, 0, 4 * kPage, kAt};
  }
  Result Bind(old::gem_bind args) { return Call(old::kGemBind, args); }
  Result Submit(std::vector<old::command> commands, uint32_t result_handle = 0,
                std::vector<old::sync> in = {}, std::vector<old::sync> out = {}) {
    old::submit args = {};
    args.in_syncs = in.empty() ? 0 : AddressOf(in[0]);
    args.out_syncs = out.empty() ? 0 : AddressOf(out[0]);
    args.commands = commands.empty() ? 0 : AddressOf(commands[0]);
    args.queue_id = queue;
    args.result_handle = result_handle;
    args.in_sync_count = static_cast<uint32_t>(in.size());
    args.out_sync_count = static_cast<uint32_t>(out.size());
    args.command_count = static_cast<uint32_t>(commands.size());
    return Call(old::kSubmit, args);
  }

  uint32_t vm = 0, queue = 0, object = 0;
};

old::cmd_render OldRender() {
  old::cmd_render render = {};
  render.encoder_ptr = kAt;
  render.vertex_usc_base = render.fragment_usc_base = 0x1100000000;
  render.fb_width = render.fb_height = 64;
  render.utile_width = render.utile_height = 32;
  render.samples = render.layers = 1;
  render.sample_size = 8;
  return render;
}
old::cmd_compute OldCompute() {
  old::cmd_compute compute = {};
  compute.encoder_ptr = kAt;
  compute.encoder_end = kAt + 64;
  return compute;
}
template <typename T>
old::command Command(uint32_t type, const T& payload) {
  old::command command = {};
  command.cmd_type = type;
  command.cmd_buffer = AddressOf(payload);
  command.cmd_buffer_size = sizeof(payload);
  command.barriers[0] = command.barriers[1] = old::kNoBarrier;
  return command;
}

TEST(OldAsahi, ParametersHaveTheVersionThatMesaWants) {
  OldMachine machine;
  OldClient client(machine);
  old::params_global params = {};
  old::get_params args = {0, 0, 0, AddressOf(params), 1000};
  ASSERT_EQ(client.Call(old::kGetParams, args), 0);
  EXPECT_EQ(args.size, sizeof(params));
  EXPECT_EQ(params.unstable_uabi_version, 0xdeadbeefu);
  EXPECT_EQ(params.feat_incompat, 0u);
  EXPECT_EQ(params.chip_id, 0x8103u);
  EXPECT_EQ(params.num_cores_total_active, 8u);
  EXPECT_EQ(params.vm_page_size, kPage);
  EXPECT_EQ(params.vm_usc_start, 0u);
  // Room for Mesa's heaps of programs and its own.
  EXPECT_GT(params.vm_user_end, (uint64_t{1} << 36) + (uint64_t{36} << 30));
  EXPECT_EQ(params.result_render_size, 96u);
  args.extensions = 1;
  EXPECT_EQ(client.Call(old::kGetParams, args), -EINVAL);
  args = {0, 0, 0, kBad, 8};
  EXPECT_EQ(client.Call(old::kGetParams, args), -EFAULT);
  old::get_time time = {};
  ASSERT_EQ(client.Call(old::kGetTime, time), 0);
  EXPECT_EQ(time.gpu_timestamp, static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
                                    static_cast<uint64_t>(time.tv_nsec));
}

TEST(OldAsahi, CommandsHaveStreamsResultsAndFences) {
  OldMachine machine;
  OldClient client(machine);
  const uint32_t results = client.Object(kPage), done = client.Syncobj();
  const auto memory = client.Memory(results);
  const std::array<old::attachment, 2> attachments = {{{1, 2, 3, 4}, {5, 6, 7, 8}}};
  old::cmd_render render = OldRender();
  render.store_pipeline = 0x2044;
  render.fragment_attachments = AddressOf(attachments);
  render.fragment_attachment_count = 2;
  const old::cmd_compute compute = OldCompute();
  old::command first = Command(old::kCmdRender, render),
               second = Command(old::kCmdCompute, compute);
  first.result_offset = 64;
  first.result_size = sizeof(old::result_render);
  second.result_offset = 256;
  second.result_size = sizeof(old::result_compute);
  second.barriers[0] = 1;
  ASSERT_EQ(client.Submit({first, second}, results, {}, {{0, old::kSyncTimeline, done, 4}}), 0);
  EXPECT_EQ(client.Reached(done), 4u);
  ASSERT_EQ(machine.seen.works.size(), 2u);
  const Work& work = *machine.seen.works[0];
  EXPECT_EQ(work.engine, "render");
  ASSERT_EQ(work.streams.size(), 2u);
  EXPECT_EQ(work.streams[0].stream, "vdm");
  EXPECT_EQ(work.streams[0].address, kAt);
  EXPECT_EQ(work.streams[1].stream, "usc");
  EXPECT_EQ(work.streams[1].address, 0x1100002040u);
  EXPECT_EQ(work.bases[0].address, 0x1100000000u);
  EXPECT_EQ(work.driver_words.size(), sizeof(first) + sizeof(render) + sizeof(attachments));
  EXPECT_EQ(machine.seen.works[1]->streams[0].stream, "cdm");
  old::result_render rendered = {};
  old::result_compute computed = {};
  std::memcpy(&rendered, memory->bytes().data() + 64, sizeof(rendered));
  std::memcpy(&computed, memory->bytes().data() + 256, sizeof(computed));
  EXPECT_EQ(rendered.info.status, old::kStatusComplete);
  EXPECT_GT(rendered.vertex_ts_start, 0u);
  EXPECT_LE(rendered.vertex_ts_start, rendered.fragment_ts_end);
  EXPECT_EQ(computed.info.status, old::kStatusComplete);
  EXPECT_LE(rendered.fragment_ts_end, computed.ts_start);
  EXPECT_LE(computed.ts_start, computed.ts_end);
}

TEST(OldAsahi, ResultsOfHangsAreTimeoutsAndShortOnesAreCut) {
  OldMachine machine;
  machine.kernel.set_hang_at({1});
  OldClient client(machine);
  const uint32_t results = client.Object(kPage);
  const auto memory = client.Memory(results);
  const old::cmd_compute compute = OldCompute();
  old::command command = Command(old::kCmdCompute, compute);
  command.result_size = 4;
  ASSERT_EQ(client.Submit({command}, results), 0);
  EXPECT_EQ(memory->bytes()[0], old::kStatusTimeout);
  command.result_offset = 8;
  ASSERT_EQ(client.Submit({command}, results), 0);
  EXPECT_EQ(memory->bytes()[8], old::kStatusComplete);
  for (size_t i = 12; i < 64; ++i) EXPECT_EQ(memory->bytes()[i], 0);
}

TEST(OldAsahi, BindsAndUnbinds) {
  OldMachine machine;
  OldClient client(machine);
  const auto bound = [&](uint64_t address) {
    machine.seen.works.clear();
    const old::cmd_compute compute = OldCompute();
    EXPECT_EQ(client.Submit({Command(old::kCmdCompute, compute)}), 0);
    return machine.seen.works.back()->memory->Find(address) != nullptr;
  };
  const auto with = [&](const std::function<void(old::gem_bind&)>& change) {
    old::gem_bind args = client.GoodBind();
    change(args);
    return client.Bind(args);
  };
  using A = old::gem_bind;
  EXPECT_TRUE(bound(kAt + kPage));
  EXPECT_EQ(with([](A& a) { a.op = old::kUnbind, a.handle = 0, a.flags = 0, a.range = kPage; }), 0);
  EXPECT_FALSE(bound(kAt));
  EXPECT_TRUE(bound(kAt + kPage));
  EXPECT_EQ(with([](A& a) { a.op = old::kUnbindAll, a.flags = 0, a.range = a.addr = 0; }), 0);
  EXPECT_FALSE(bound(kAt + kPage));
  EXPECT_EQ(with([](A& a) { a.extensions = 1; }), -EINVAL);
  EXPECT_EQ(with([](A& a) { a.flags = 4; }), -EINVAL);
  EXPECT_EQ(with([](A& a) { a.flags = 0; }), -EINVAL);
  EXPECT_EQ(with([](A& a) { a.op = 3; }), -EINVAL);
  EXPECT_EQ(with([](A& a) { a.vm_id = 9; }), -ENOENT);
  EXPECT_EQ(with([](A& a) { a.handle = 9; }), -ENOENT);
  EXPECT_EQ(with([](A& a) { a.range += kPage; }), -EINVAL);
  EXPECT_EQ(with([](A& a) { a.op = old::kUnbindAll, a.handle = 9; }), -ENOENT);
}

TEST(OldAsahi, MalformedCallsAreRefused) {
  OldMachine machine;
  OldClient client(machine);
  const uint32_t results = client.Object(kPage);
  old::queue_create queue = {};
  queue.vm_id = client.vm;
  EXPECT_EQ(client.Call(old::kQueueCreate, queue), -EINVAL);
  queue.queue_caps = 8;
  EXPECT_EQ(client.Call(old::kQueueCreate, queue), -EINVAL);
  queue.queue_caps = old::kQueueRender;
  queue.vm_id = 9;
  EXPECT_EQ(client.Call(old::kQueueCreate, queue), -ENOENT);
  old::queue_destroy destroy = {0, 9, 0};
  EXPECT_EQ(client.Call(old::kQueueDestroy, destroy), -ENOENT);
  old::vm_destroy vm = {0, 9, 0};
  EXPECT_EQ(client.Call(old::kVmDestroy, vm), -ENOENT);

  const old::cmd_compute compute = OldCompute();
  using A = old::command;
  struct Case {
    const char* what;
    Result result;
    std::function<void(A&)> change;
  };
  for (const Case& c : std::vector<Case>{
           {"nothing", 0, [](A&) {}},
           {"extension", -EINVAL, [](A& a) { a.extensions = 1; }},
           {"flags", -EINVAL, [](A& a) { a.flags = 1; }},
           {"blit", -EINVAL, [](A& a) { a.cmd_type = old::kCmdBlit; }},
           {"unknown", -EINVAL, [](A& a) { a.cmd_type = 3; }},
           {"buffer", -EFAULT, [](A& a) { a.cmd_buffer = kBad; }},
           {"short", 0, [](A& a) { a.cmd_buffer_size = 24; }},
           {"barrier", -EINVAL, [](A& a) { a.barriers[0] = 1; }},
           {"own barrier", -EINVAL, [](A& a) { a.barriers[1] = 1; }},
           {"result", 0, [](A& a) { a.result_size = 56; }},
           {"result beyond", -ERANGE, [](A& a) { a.result_size = 56, a.result_offset = kPage; }},
           {"large result", -ERANGE, [](A& a) { a.result_size = kPage + 1; }},
       }) {
    A command = Command(old::kCmdCompute, compute);
    c.change(command);
    EXPECT_EQ(client.Submit({command}, results), c.result) << c.what;
  }
  A command = Command(old::kCmdCompute, compute);
  EXPECT_EQ(client.Submit({command}, 99), -ENOENT);
  command.result_size = 8;
  EXPECT_EQ(client.Submit({command}), -EINVAL);
  command.result_size = 0;
  EXPECT_EQ(client.Submit({}), -EINVAL);
  EXPECT_EQ(client.Submit(std::vector<A>(65, command)), -EINVAL);
  EXPECT_EQ(client.Submit({command}, 0, {{0, 0, 99, 0}}), -ENOENT);
  EXPECT_EQ(client.Submit({command}, 0, {{1, 0, client.Syncobj(true), 0}}), -EINVAL);
  EXPECT_EQ(client.Submit({command}, 0, {{0, 0, client.Syncobj(), 0}}), -EINVAL);
  EXPECT_EQ(client.Submit({command}, 0, std::vector<old::sync>(65)), -EINVAL);

  const auto render = [&](const std::function<void(old::cmd_render&)>& change) {
    old::cmd_render args = OldRender();
    change(args);
    return client.Submit({Command(old::kCmdRender, args)});
  };
  using R = old::cmd_render;
  EXPECT_EQ(render([](R&) {}), 0);
  EXPECT_EQ(render([](R& r) { r.extensions = 1; }), -EINVAL);
  EXPECT_EQ(render([](R& r) { r.flags = 0x80; }), -EINVAL);
  EXPECT_EQ(render([](R& r) { r.fb_width = 0x10001; }), -EINVAL);
  EXPECT_EQ(render([](R& r) { r.samples = 0x101; }), -EINVAL);
  EXPECT_EQ(render([](R& r) { r.layers = 0; }), -EINVAL);
  EXPECT_EQ(render([](R& r) { r.vertex_attachment_count = 17; }), -EINVAL);
  EXPECT_EQ(render([](R& r) { r.vertex_attachment_count = 1, r.vertex_attachments = kBad; }),
            -EFAULT);
}

TEST(OldAsahi, NoiseIsAnswered) {
  OldMachine machine;
  const auto memory = std::make_shared<SandboxMemory>(16 * 4096);
  SandboxCaller caller(memory);
  std::mt19937_64 random(24);
  std::shared_ptr<File> file;
  for (int i = 0; i < 10'000; ++i) {
    if (i % 512 == 0) file = machine.kernel.Open(machine.device.render_minor());
    for (size_t at = 0; at < 2048; ++at) {
      memory->bytes[at] = random() % 4 == 0 ? static_cast<uint8_t>(random()) : 0;
    }
    const uint32_t request =
        uapi::drm::Request(static_cast<uapi::drm::Direction>(random() % 4),
                           static_cast<uint32_t>(0x40 + random() % 11), random() % 128);
    ASSERT_LE(file->Ioctl(caller, request, SandboxMemory::kBegin + random() % 64), 0);
  }
}

}  // namespace
}  // namespace packsmith::capture
