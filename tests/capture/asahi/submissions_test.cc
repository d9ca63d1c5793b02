// Submissions: what they are told as, when they begin, and what happens when they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "tests/capture/asahi/client.h"

namespace packsmith::capture {
namespace {

namespace asahi = uapi::asahi;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kPage = asahi::kPage;

// A client with an address space, a queue, and a mapped object of four pages.
struct Ready {
  Ready()
      : client(machine),
        vm(client.Vm()),
        queue(client.Queue(vm, kPrograms)),
        object(client.Object(4 * kPage)) {
    EXPECT_EQ(client.Bind(vm, {Map(object, kAt, 4 * kPage)}), 0);
  }
  // Work is held back from now on.
  void Hold() { machine.kernel.set_executor(&machine.gate); }
  void Release() {
    machine.gate.open = true;
    machine.kernel.Advance();
  }
  // The numbers of the submissions that have begun.
  std::vector<uint64_t> Begun() const {
    std::vector<uint64_t> numbers;
    for (const auto& work : machine.seen.works) numbers.push_back(work->number);
    return numbers;
  }
  static constexpr uint64_t kAt = 0x1000000, kPrograms = 0x1100000000;
  Machine machine;
  Client client;
  uint32_t vm, queue, object;
};

TEST(AsahiSubmissions, RenderCommandsHaveTheirStreams) {
  Ready ready;
  ASSERT_EQ(ready.client.Bind(ready.vm, {Map(ready.object, Ready::kPrograms, 4 * kPage)}), 0);
  asahi::cmd_render render = GoodRender(Ready::kAt + 0x100);
  render.bg = {0x1000 | 4, 1};
  render.partial_eot = {0x2040, 1};
  ASSERT_EQ(ready.client.Submit(ready.queue, Commands().Render(render)), 0);
  ASSERT_EQ(ready.machine.seen.works.size(), 1u);
  const Work& work = *ready.machine.seen.works[0];
  EXPECT_EQ(work.number, 1u);
  EXPECT_EQ(work.interface, "asahi");
  EXPECT_EQ(work.engine, "render");
  EXPECT_EQ(work.device->chip_id, 0x8103u);
  EXPECT_EQ(work.pid, getpid());
  ASSERT_EQ(work.streams.size(), 3u);
  EXPECT_EQ(work.streams[0].stream, "vdm");
  EXPECT_EQ(work.streams[0].address, Ready::kAt + 0x100);
  EXPECT_EQ(work.streams[1].stream, "usc");
  EXPECT_EQ(work.streams[1].address, Ready::kPrograms + 0x1000);
  EXPECT_EQ(work.streams[2].address, Ready::kPrograms + 0x2040);
  ASSERT_EQ(work.bases.size(), 1u);
  EXPECT_EQ(work.bases[0].name, "programs");
  EXPECT_EQ(work.bases[0].address, Ready::kPrograms);
  EXPECT_NE(work.memory->Find(Ready::kAt), nullptr);
  EXPECT_THAT(work.warnings, IsEmpty());
  EXPECT_THAT(ready.machine.seen.done, ElementsAre(testing::Pair(1, Outcome::kDone)));
}

TEST(AsahiSubmissions, ComputeCommandsHaveTheirStream) {
  Ready ready;
  ASSERT_EQ(ready.client.Submit(ready.queue, Commands().Compute(GoodCompute(Ready::kAt))), 0);
  const Work& work = *ready.machine.seen.works[0];
  EXPECT_EQ(work.engine, "compute");
  ASSERT_EQ(work.streams.size(), 1u);
  EXPECT_EQ(work.streams[0].stream, "cdm");
  EXPECT_EQ(work.streams[0].address, Ready::kAt);
  EXPECT_EQ(work.streams[0].length, 64u);
}

TEST(AsahiSubmissions, WordsAreTheCommandWithItsAttachments) {
  Ready ready;
  const asahi::attachment vertex = {1, 2, 0, 0}, fragment = {3, 4, 0, 0}, compute = {5, 6, 0, 0};
  Commands commands;
  commands.Add(asahi::kCmdVertexAttachments, &compute, sizeof(compute))
      .Add(asahi::kCmdComputeAttachments, &compute, sizeof(compute))
      .Add(asahi::kCmdVertexAttachments, &vertex, sizeof(vertex))
      .Add(asahi::kCmdFragmentAttachments, &fragment, sizeof(fragment))
      .Render(GoodRender(Ready::kAt))
      .Compute(GoodCompute(Ready::kAt));
  ASSERT_EQ(ready.client.Submit(ready.queue, commands), 0);
  const auto text = [](const Commands& c) {
    return std::string(c.bytes().begin(), c.bytes().end());
  };
  ASSERT_EQ(ready.machine.seen.works.size(), 2u);
  EXPECT_EQ(ready.machine.seen.works[0]->driver_words,
            text(Commands()
                     .Add(asahi::kCmdVertexAttachments, &vertex, sizeof(vertex))
                     .Add(asahi::kCmdFragmentAttachments, &fragment, sizeof(fragment))
                     .Render(GoodRender(Ready::kAt))));
  EXPECT_EQ(ready.machine.seen.works[1]->driver_words,
            text(Commands()
                     .Add(asahi::kCmdComputeAttachments, &compute, sizeof(compute))
                     .Compute(GoodCompute(Ready::kAt))));
}

TEST(AsahiSubmissions, WarnOfStreamsThatCannotBeRead) {
  Ready ready;
  ASSERT_EQ(
      ready.client.Bind(ready.vm, {Map(ready.object, 0x2000000, kPage, 0, asahi::kBindWrite)}), 0);
  asahi::cmd_compute empty = GoodCompute(Ready::kAt);
  empty.cdm_ctrl_stream_end = Ready::kAt;
  ASSERT_EQ(
      ready.client.Submit(
          ready.queue,
          Commands().Render(GoodRender(0x4000000)).Compute(GoodCompute(0x2000000)).Compute(empty)),
      0);
  EXPECT_THAT(ready.machine.seen.works[0]->warnings, ElementsAre(HasSubstr("nothing is mapped")));
  EXPECT_THAT(ready.machine.seen.works[1]->warnings, ElementsAre(HasSubstr("may not read")));
  EXPECT_THAT(ready.machine.seen.works[2]->warnings, ElementsAre(HasSubstr("does not end")));
  EXPECT_EQ(ready.machine.seen.warnings.size(), 3u);
}

TEST(AsahiSubmissions, SignalWhenAllCommandsAreDone) {
  Ready ready;
  ready.Hold();
  const uint32_t binary = ready.client.Syncobj(), timeline = ready.client.Syncobj();
  ASSERT_EQ(
      ready.client.Submit(
          ready.queue, Commands().Render(GoodRender(Ready::kAt)).Compute(GoodCompute(Ready::kAt)),
          {}, {Sync(binary), Sync(timeline, 5)}),
      0);
  EXPECT_EQ(ready.client.Poll(binary), -ETIME);
  EXPECT_EQ(ready.client.Reached(timeline), 0u);
  ready.Release();
  EXPECT_EQ(ready.client.Poll(binary), 0);
  EXPECT_EQ(ready.client.Reached(timeline), 5u);
}

TEST(AsahiSubmissions, CommandsOverlapWithoutBarriers) {
  Ready ready;
  ready.Hold();
  const asahi::cmd_render render = GoodRender(Ready::kAt);
  const asahi::cmd_compute compute = GoodCompute(Ready::kAt);
  // 1 and 2 begin at once; 3 follows 1, as those of one kind are.
  ASSERT_EQ(
      ready.client.Submit(ready.queue, Commands().Render(render).Compute(compute).Render(render)),
      0);
  EXPECT_THAT(ready.Begun(), ElementsAre(1, 2));
  ready.Release();
  EXPECT_THAT(ready.Begun(), ElementsAre(1, 2, 3));
}

TEST(AsahiSubmissions, BarriersAreWaitedFor) {
  Ready ready;
  ready.Hold();
  const asahi::cmd_render render = GoodRender(Ready::kAt);
  const asahi::cmd_compute compute = GoodCompute(Ready::kAt);
  constexpr uint16_t kNone = asahi::kNoBarrier;
  // The compute command is for after the first render command of its submission.
  ASSERT_EQ(ready.client.Submit(ready.queue, Commands().Render(render).Compute(compute, 1, kNone)),
            0);
  EXPECT_THAT(ready.Begun(), ElementsAre(1));
  // On another queue nothing is before.
  const uint32_t other = ready.client.Queue(ready.vm);
  ASSERT_EQ(ready.client.Submit(other, Commands().Compute(compute, 0, 0)), 0);
  EXPECT_THAT(ready.Begun(), ElementsAre(1, 3));
  // Of an earlier submission's render commands; not of its own.
  ASSERT_EQ(ready.client.Submit(other, Commands().Render(render).Render(render, kNone, 0)), 0);
  EXPECT_THAT(ready.Begun(), ElementsAre(1, 3, 4));
  ready.Release();
  EXPECT_THAT(ready.Begun(), testing::UnorderedElementsAre(1, 2, 3, 4, 5));
}

TEST(AsahiSubmissions, BarrierZeroIsForEarlierSubmissionsAlone) {
  Ready ready;
  const uint32_t gate = ready.client.Syncobj();
  ready.Hold();
  const asahi::cmd_render render = GoodRender(Ready::kAt);
  const asahi::cmd_compute compute = GoodCompute(Ready::kAt);
  ASSERT_EQ(ready.client.Submit(ready.queue, Commands().Render(render).Compute(compute, 0, 0), {},
                                {Sync(gate)}),
            0);
  // There is no earlier one.
  EXPECT_THAT(ready.Begun(), ElementsAre(1, 2));
  ASSERT_EQ(ready.client.Submit(ready.queue,
                                Commands().Compute(compute, 0, asahi::kNoBarrier).Render(render)),
            0);
  EXPECT_THAT(ready.Begun(), ElementsAre(1, 2));
  ready.Release();
  EXPECT_THAT(ready.Begun(), testing::UnorderedElementsAre(1, 2, 3, 4));
}

TEST(AsahiSubmissions, SubmissionsOfAQueueBeginInOrder) {
  Ready ready;
  ready.Hold();
  const uint32_t done = ready.client.Syncobj();
  const uint32_t other = ready.client.Queue(ready.vm);
  const asahi::cmd_render render = GoodRender(Ready::kAt);
  const asahi::cmd_compute compute = GoodCompute(Ready::kAt);
  ASSERT_EQ(ready.client.Submit(other, Commands().Render(render), {}, {Sync(done)}), 0);
  ASSERT_EQ(ready.client.Submit(ready.queue, Commands().Render(render), {Sync(done)}), 0);
  // It waits for nothing, but the one before it has not begun.
  ASSERT_EQ(ready.client.Submit(ready.queue, Commands().Compute(compute)), 0);
  EXPECT_THAT(ready.Begun(), ElementsAre(1));
  ready.Release();
  EXPECT_THAT(ready.Begun(), testing::UnorderedElementsAre(1, 2, 3));
}

TEST(AsahiSubmissions, BindsBeforeTheBeginningCount) {
  Ready ready;
  ready.Hold();
  const uint32_t done = ready.client.Syncobj();
  const uint32_t other = ready.client.Queue(ready.vm);
  ASSERT_EQ(ready.client.Submit(other, Commands().Render(GoodRender(Ready::kAt)), {}, {Sync(done)}),
            0);
  ASSERT_EQ(
      ready.client.Submit(ready.queue, Commands().Render(GoodRender(0x8000000)), {Sync(done)}), 0);
  ASSERT_EQ(ready.client.Bind(ready.vm, {Map(ready.object, 0x8000000, kPage)}), 0);
  ready.Release();
  ASSERT_EQ(ready.machine.seen.works.size(), 2u);
  EXPECT_THAT(ready.machine.seen.warnings, IsEmpty());
  EXPECT_EQ(ready.machine.seen.works[0]->memory->Find(0x8000000), nullptr);
  EXPECT_NE(ready.machine.seen.works[1]->memory->Find(0x8000000), nullptr);
}

TEST(AsahiSubmissions, WaitBeforeSignalIsForTheProgramToDo) {
  Ready ready;
  const uint32_t timeline = ready.client.Syncobj();
  const Commands commands = Commands().Render(GoodRender(Ready::kAt));
  EXPECT_EQ(ready.client.Submit(ready.queue, commands, {Sync(timeline, 3)}), -EINVAL);
  Result waited = 1, submitted = 1;
  std::thread thread([&] {
    uint64_t point = 3;
    uapi::drm::syncobj_timeline_wait args = {};
    args.handles = AddressOf(timeline);
    args.points = AddressOf(point);
    args.timeout_nsec = MonotonicNow() + 10'000'000'000;
    args.count_handles = 1;
    args.flags = uapi::drm::kSyncobjWaitAvailable;
    waited = ready.client.Call(uapi::drm::kSyncobjTimelineWait, args);
    submitted =
        ready.client.Submit(ready.queue, commands, {Sync(timeline, 3)}, {Sync(timeline, 4)});
  });
  EXPECT_EQ(ready.client.Submit(ready.client.Queue(ready.vm), commands, {}, {Sync(timeline, 3)}),
            0);
  thread.join();
  EXPECT_EQ(waited, 0);
  EXPECT_EQ(submitted, 0);
  EXPECT_EQ(ready.client.Reached(timeline), 4u);
}

TEST(AsahiSubmissions, TimestampsAreWrittenInOrder) {
  Ready ready;
  const uint32_t results = ready.client.Object(2 * kPage);
  const uint32_t times = ready.client.Timestamps(results, kPage, kPage);
  const auto memory = ready.client.Memory(results);
  const auto read = [&memory](uint32_t offset) {
    uint64_t value = 0;
    std::memcpy(&value, memory->bytes().data() + kPage + offset, sizeof(value));
    return value;
  };
  asahi::cmd_render render = GoodRender(Ready::kAt);
  render.ts_vtx = {{times, 0}, {times, 8}};
  render.ts_frag = {{times, 16}, {times, 24}};
  asahi::cmd_compute compute = GoodCompute(Ready::kAt);
  compute.ts = {{times, 32}, {times, kPage - 8}};
  // The object's handle, and that for timestamps, may go before.
  ready.Hold();
  asahi::get_time before = {}, after = {};
  ASSERT_EQ(ready.client.Call(asahi::kGetTime, before), 0);
  ASSERT_EQ(ready.client.Submit(ready.queue, Commands().Render(render).Compute(compute, 1)), 0);
  EXPECT_GT(read(0), 0u);
  EXPECT_EQ(read(8), 0u);
  asahi::gem_bind_object unbind = {};
  unbind.op = asahi::kObjectUnbind;
  unbind.object_handle = times;
  ASSERT_EQ(ready.client.Call(asahi::kGemBindObject, unbind), 0);
  uapi::drm::gem_close close = {results, 0};
  ASSERT_EQ(ready.client.Call(uapi::drm::kGemClose, close), 0);
  ready.Release();
  ASSERT_EQ(ready.client.Call(asahi::kGetTime, after), 0);
  EXPECT_LE(before.gpu_timestamp, read(0));
  EXPECT_LE(read(0), read(8));
  EXPECT_LE(read(8), read(16));
  EXPECT_LE(read(16), read(24));
  EXPECT_LE(read(24), read(32));
  EXPECT_LE(read(32), read(kPage - 8));
  EXPECT_LE(read(kPage - 8), after.gpu_timestamp);
}

TEST(AsahiSubmissions, AHangFailsTheFenceAndTheQueueGoesOn) {
  Ready ready;
  ready.machine.kernel.set_hang_at({1});
  const uint32_t times = ready.client.Timestamps(ready.object, 0, kPage);
  const uint32_t bad = ready.client.Syncobj(), good = ready.client.Syncobj();
  asahi::cmd_compute compute = GoodCompute(Ready::kAt);
  compute.ts.end = {times, 0};
  ASSERT_EQ(ready.client.Submit(ready.queue, Commands().Compute(compute), {}, {Sync(bad)}), 0);
  uint64_t time = 1;
  std::memcpy(&time, ready.client.Memory(ready.object)->bytes().data(), sizeof(time));
  EXPECT_EQ(time, 0u);
  ASSERT_EQ(ready.client.Submit(ready.queue, Commands().Compute(compute), {}, {Sync(good)}), 0);
  EXPECT_EQ(ready.client.Poll(bad), 0);
  EXPECT_EQ(ready.client.Poll(good), 0);
  EXPECT_THAT(ready.machine.seen.done,
              ElementsAre(testing::Pair(1, Outcome::kHung), testing::Pair(2, Outcome::kDone)));
  // The fence says so, in a sync file.
  uapi::drm::syncobj_handle handle = {bad, uapi::drm::kSyncobjFdSyncFile, -1, 0, 0};
  ASSERT_EQ(ready.client.Call(uapi::drm::kSyncobjHandleToFd, handle), 0);
  uapi::drm::sync_file_info info = {};
  ASSERT_EQ(ready.machine.kernel.FdIoctl(ready.client.caller, UniqueFd(handle.fd),
                                         uapi::drm::kSyncFileInfo, AddressOf(info)),
            0);
  EXPECT_EQ(info.status, -EIO);
}

TEST(AsahiSubmissions, ADestroyedQueueFinishesItsWork) {
  Ready ready;
  ready.Hold();
  const uint32_t done = ready.client.Syncobj();
  ASSERT_EQ(
      ready.client.Submit(ready.queue, Commands().Render(GoodRender(Ready::kAt)), {}, {Sync(done)}),
      0);
  asahi::queue_destroy destroy = {ready.queue, 0};
  ASSERT_EQ(ready.client.Call(asahi::kQueueDestroy, destroy), 0);
  asahi::vm_destroy vm = {ready.vm, 0};
  ASSERT_EQ(ready.client.Call(asahi::kVmDestroy, vm), 0);
  EXPECT_EQ(ready.client.Poll(done), -ETIME);
  EXPECT_THAT(ready.machine.gate.forgotten, IsEmpty());
  ready.Release();
  EXPECT_EQ(ready.client.Poll(done), 0);
  EXPECT_THAT(ready.machine.gate.forgotten, ElementsAre(1));
}

TEST(AsahiSubmissions, AClosedFileEndsItsWork) {
  Machine machine;
  machine.kernel.set_executor(&machine.gate);
  {
    Client goes(machine);
    const uint32_t queue = goes.Queue(goes.Vm());
    const uint32_t done = goes.Syncobj();
    ASSERT_EQ(goes.Submit(queue, Commands().Render(GoodRender(kPage)), {}, {Sync(done)}), 0);
    ASSERT_EQ(goes.Submit(queue, Commands().Compute(GoodCompute(kPage)), {Sync(done)}), 0);
    EXPECT_FALSE(machine.kernel.WaitIdle(0));
  }
  EXPECT_TRUE(machine.kernel.WaitIdle(0));
  EXPECT_THAT(machine.gate.forgotten, ElementsAre(1));
}

}  // namespace
}  // namespace packsmith::capture
