// Submissions: what they are told as, when they begin, and what happens when they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "tests/capture/xe/client.h"

namespace packsmith::capture {
namespace {

namespace xe = uapi::xe;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A client with an address space, a queue, and a mapped object of 16 KiB at 1 MiB.
struct Ready {
  explicit Ready(absl::string_view name = "tgl", uint32_t flags = xe::kVmScratchPage)
      : machine(name),
        client(machine),
        vm(client.Vm(flags)),
        queue(client.Queue(vm)),
        object(client.Object(0x4000)) {
    xe::vm_bind_op op = Map(object, kAt, 0x4000);
    op.pat_index = static_cast<uint16_t>(std::countr_zero(machine.device.info().pat.coherent));
    EXPECT_EQ(client.Bind(vm, {op}), 0);
  }
  // Work is held back from now on.
  void Hold() { machine.kernel.set_executor(&machine.gate); }
  void Release() {
    machine.gate.open = true;
    machine.kernel.Advance();
  }
  static constexpr uint64_t kAt = 0x100000;
  Machine machine;
  Client client;
  uint32_t vm, queue, object;
};

TEST(XeSubmissions, TellWhatTheyAre) {
  for (const char* name : {"tgl", "adlp", "dg2", "mtl", "lnl", "bmg", "ptl"}) {
    Ready ready(name, 0);
    ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt + 64), 0) << name;
    ASSERT_EQ(ready.machine.seen.works.size(), 1u);
    const Work& work = *ready.machine.seen.works[0];
    EXPECT_EQ(work.number, 1u);
    EXPECT_EQ(work.device, &ready.machine.device.info());
    EXPECT_EQ(work.interface, "xe");
    EXPECT_EQ(work.minor, 128);
    EXPECT_EQ(work.pid, getpid());
    EXPECT_EQ(work.file, 1u);
    EXPECT_EQ(work.engine, "render");
    EXPECT_FALSE(work.scratch_page);
    EXPECT_TRUE(work.memory_is_complete);
    ASSERT_EQ(work.streams.size(), 1u);
    EXPECT_EQ(work.streams[0].address, Ready::kAt + 64);
    EXPECT_EQ(work.streams[0].length, 0u);
    ASSERT_NE(work.memory->Find(Ready::kAt), nullptr);
    EXPECT_EQ(work.memory->Find(Ready::kAt)->object->size(), 0x4000u);
    EXPECT_THAT(work.warnings, IsEmpty());
    EXPECT_THAT(ready.machine.seen.done, ElementsAre(testing::Pair(1, Outcome::kDone)));
  }
}

TEST(XeSubmissions, EnginesAndQueuesAreTold) {
  Machine machine("dg2");
  Client client(machine);
  const uint32_t vm = client.Vm();
  for (const uint16_t engine : {0, 1, 2, 3, 4}) client.Exec(client.Queue(vm, engine), 0);
  std::vector<std::string> engines;
  std::vector<uint64_t> contexts;
  for (const auto& work : machine.seen.works) {
    engines.push_back(work->engine);
    contexts.push_back(work->context);
    EXPECT_TRUE(work->scratch_page);
  }
  EXPECT_THAT(engines, ElementsAre("render", "copy", "video", "video enhance", "compute"));
  EXPECT_THAT(contexts, ElementsAre(1, 2, 3, 4, 5));
}

TEST(XeSubmissions, ParallelOnesHaveABatchForEachEngine) {
  Machine machine("dg2");
  Client client(machine);
  std::vector<xe::engine_class_instance> engines = {{xe::kVideoDecode, 0, 0, 0},
                                                    {xe::kVideoDecode, 1, 0, 0}};
  xe::exec_queue_create create = {};
  create.width = 2;
  create.num_placements = 1;
  create.vm_id = client.Vm();
  create.instances = AddressOf(engines[0]);
  ASSERT_EQ(client.Call(xe::kExecQueueCreate, create), 0);
  const std::vector<uint64_t> batches = {0x1000, 0x2000};
  ASSERT_EQ(client.Exec(create.exec_queue_id, AddressOf(batches[0]), {}, 2), 0);
  ASSERT_EQ(machine.seen.works.size(), 1u);
  ASSERT_EQ(machine.seen.works[0]->streams.size(), 2u);
  EXPECT_EQ(machine.seen.works[0]->streams[1].address, 0x2000u);
}

TEST(XeSubmissions, AddressesAreThoseWithoutSignBits) {
  Ready ready;
  const uint64_t high = 0xffff'8000'0010'0000;
  ASSERT_EQ(ready.client.Bind(ready.vm, {Map(ready.object, 0x8000'0010'0000, 0x1000)}), 0);
  ASSERT_EQ(ready.client.Exec(ready.queue, high), 0);
  EXPECT_EQ(ready.machine.seen.works[0]->streams[0].address, 0x8000'0010'0000u);
  EXPECT_THAT(ready.machine.seen.warnings, IsEmpty());
  ASSERT_EQ(ready.client.Exec(ready.queue, 0xabcd'0000'0010'0000), 0);
  EXPECT_THAT(ready.machine.seen.warnings, ElementsAre(HasSubstr("not canonical")));
}

TEST(XeSubmissions, WarnOfBatchesThatCannotBeMeant) {
  Ready ready;
  std::vector<uint8_t> room(3 * 4096);
  const uint64_t user = (AddressOf(room[0]) + 4095) & ~uint64_t{4095};
  ASSERT_EQ(ready.client.Bind(ready.vm, {Map(0, 0x200000, 0x1000, 0, xe::kBindNull),
                                         MapUserptr(user, 0x300000, 0x1000)}),
            0);
  for (const auto& [address, text] : {std::pair<uint64_t, const char*>{Ready::kAt, nullptr},
                                      {Ready::kAt + 2, "multiple of 4"},
                                      {0x4000000, "nothing is mapped"},
                                      {0x200000, "without memory"},
                                      {0x300000, "memory of the process"}}) {
    ready.machine.seen.warnings.clear();
    ASSERT_EQ(ready.client.Exec(ready.queue, address), 0);
    const Work& work = *ready.machine.seen.works.back();
    if (text == nullptr) {
      EXPECT_THAT(work.warnings, IsEmpty());
    } else {
      EXPECT_THAT(work.warnings, ElementsAre(HasSubstr(text)));
      EXPECT_THAT(ready.machine.seen.warnings, ElementsAre(HasSubstr(text)));
    }
  }
}

TEST(XeSubmissions, SignalWhenTheWorkIsDone) {
  Ready ready;
  ready.Hold();
  const uint32_t binary = ready.client.Syncobj(), timeline = ready.client.Syncobj();
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt, {Signal(binary), Signal(timeline, 7)}), 0);
  EXPECT_EQ(ready.client.Poll(binary), -ETIME);
  EXPECT_EQ(ready.client.Reached(timeline), 0u);
  ready.Release();
  EXPECT_EQ(ready.client.Poll(binary), 0);
  EXPECT_EQ(ready.client.Reached(timeline), 7u);
}

TEST(XeSubmissions, OneCallWaitsForAndSignalsTheSameObject) {
  Ready ready;
  ready.Hold();
  const uint32_t syncobj = ready.client.Syncobj();
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt, {Signal(syncobj, 1)}), 0);
  const uint32_t second = ready.client.Queue(ready.vm);
  ASSERT_EQ(ready.client.Exec(second, Ready::kAt, {Signal(syncobj, 2), Wait(syncobj, 1)}), 0);
  EXPECT_EQ(ready.machine.seen.works.size(), 1u);
  ready.Release();
  EXPECT_EQ(ready.machine.seen.works.size(), 2u);
  EXPECT_EQ(ready.client.Reached(syncobj), 2u);
}

TEST(XeSubmissions, APointBelowTheLastIsWarnedOf) {
  Ready ready;
  const uint32_t syncobj = ready.client.Syncobj();
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt, {Signal(syncobj, 5)}), 0);
  EXPECT_THAT(ready.machine.seen.warnings, IsEmpty());
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt, {Signal(syncobj, 5)}), 0);
  EXPECT_THAT(ready.machine.seen.warnings, ElementsAre(HasSubstr("not above the last")));
}

TEST(XeSubmissions, BindsBeforeTheBeginningCount) {
  Ready ready;
  ready.Hold();
  const uint32_t first = ready.client.Syncobj(), bound = ready.client.Syncobj();
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt, {Signal(first)}), 0);
  // An asynchronous bind waits for the work, and the next work for the bind.
  ASSERT_EQ(ready.client.Bind(ready.vm, {Map(ready.object, 0x900000, 0x1000)},
                              {Wait(first), Signal(bound)}),
            0);
  const uint32_t second = ready.client.Queue(ready.vm);
  ASSERT_EQ(ready.client.Exec(second, 0x900000, {Wait(bound)}), 0);
  EXPECT_EQ(ready.machine.seen.works.size(), 1u);
  EXPECT_EQ(ready.machine.seen.works[0]->memory->Find(0x900000), nullptr);
  ready.Release();
  ASSERT_EQ(ready.machine.seen.works.size(), 2u);
  EXPECT_NE(ready.machine.seen.works[1]->memory->Find(0x900000), nullptr);
  EXPECT_EQ(ready.machine.seen.works[0]->memory->Find(0x900000), nullptr);
  EXPECT_THAT(ready.machine.seen.warnings, IsEmpty());
}

TEST(XeSubmissions, UnmapsWaitForWorkAndMapsOfFreshAddressesDoNot) {
  Ready ready;
  ready.Hold();
  const uint32_t unmapped = ready.client.Syncobj(), mapped = ready.client.Syncobj(),
                 replaced = ready.client.Syncobj();
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt), 0);
  ASSERT_EQ(ready.client.Bind(ready.vm, {Map(ready.object, 0x900000, 0x1000)}, {Signal(mapped)}),
            0);
  EXPECT_EQ(ready.client.Poll(mapped), 0);
  ASSERT_EQ(ready.client.Bind(ready.vm, {Map(ready.object, 0x900000, 0x1000)}, {Signal(replaced)}),
            0);
  EXPECT_EQ(ready.client.Poll(replaced), -ETIME);
  ASSERT_EQ(ready.client.Bind(ready.vm, {Unmap(Ready::kAt, 0x4000)}, {Signal(unmapped)}), 0);
  EXPECT_EQ(ready.client.Poll(unmapped), -ETIME);
  ready.Release();
  EXPECT_EQ(ready.client.Poll(replaced), 0);
  EXPECT_EQ(ready.client.Poll(unmapped), 0);
}

TEST(XeSubmissions, EmptyOnesSignalAfterAllBefore) {
  Ready ready;
  ready.Hold();
  const uint32_t idle = ready.client.Syncobj(), other = ready.client.Syncobj();
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt), 0);
  ASSERT_EQ(ready.client.Exec(ready.queue, 0, {Signal(idle)}, 0), 0);
  ASSERT_EQ(ready.client.Exec(ready.client.Queue(ready.vm), 0, {Signal(other)}, 0), 0);
  EXPECT_EQ(ready.client.Poll(idle), -ETIME);
  EXPECT_EQ(ready.client.Poll(other), 0);
  ready.Release();
  EXPECT_EQ(ready.client.Poll(idle), 0);
  EXPECT_EQ(ready.machine.seen.works.size(), 1u);
}

TEST(XeSubmissions, EmptyBindsSignalAfterAllBefore) {
  Ready ready;
  ready.Hold();
  const uint32_t first = ready.client.Syncobj(), idle = ready.client.Syncobj();
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt, {Signal(first)}), 0);
  ASSERT_EQ(ready.client.Bind(ready.vm, {Map(ready.object, 0x900000, 0x1000)}, {Wait(first)}), 0);
  ASSERT_EQ(ready.client.Bind(ready.vm, {}, {Signal(idle)}), 0);
  EXPECT_EQ(ready.client.Poll(idle), -ETIME);
  // Another queue of binds does not wait.
  const uint32_t free = ready.client.Syncobj();
  ASSERT_EQ(ready.client.Bind(ready.vm, {}, {Signal(free)},
                              ready.client.Queue(ready.vm, xe::kVmBindClass)),
            0);
  EXPECT_EQ(ready.client.Poll(free), 0);
  ready.Release();
  EXPECT_EQ(ready.client.Poll(idle), 0);
}

TEST(XeSubmissions, WaitBeforeSignalIsForTheProgramToDo) {
  Ready ready;
  const uint32_t timeline = ready.client.Syncobj();
  EXPECT_EQ(ready.client.Exec(ready.queue, Ready::kAt, {Wait(timeline, 3)}), -EINVAL);
  // Another thread waits for the point to be available, and submits then.
  Result waited = 1, submitted = 1;
  std::thread thread([&] {
    Client& client = ready.client;
    uint64_t point = 3;
    uapi::drm::syncobj_timeline_wait args = {};
    args.handles = AddressOf(timeline);
    args.points = AddressOf(point);
    args.timeout_nsec = MonotonicNow() + 10'000'000'000;
    args.count_handles = 1;
    args.flags = uapi::drm::kSyncobjWaitAll | uapi::drm::kSyncobjWaitAvailable;
    waited = client.Call(uapi::drm::kSyncobjTimelineWait, args);
    submitted = client.Exec(ready.queue, Ready::kAt, {Wait(timeline, 3), Signal(timeline, 4)});
  });
  Client second(ready.machine);  // only to let the other thread begin
  EXPECT_EQ(ready.client.Exec(ready.client.Queue(ready.vm), Ready::kAt, {Signal(timeline, 3)}), 0);
  thread.join();
  EXPECT_EQ(waited, 0);
  EXPECT_EQ(submitted, 0);
  EXPECT_EQ(ready.client.Reached(timeline), 4u);
}

TEST(XeSubmissions, WorkRunsOutOfOrderBetweenQueuesAsItsWaitsAllow) {
  Ready ready;
  ready.Hold();
  // The last submitted is the first that may begin.
  const uint32_t gate = ready.client.Syncobj(), a = ready.client.Syncobj();
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt, {Signal(gate)}), 0);
  const uint32_t second = ready.client.Queue(ready.vm), third = ready.client.Queue(ready.vm);
  ASSERT_EQ(ready.client.Exec(second, Ready::kAt + 8, {Wait(gate), Signal(a)}), 0);
  ASSERT_EQ(ready.client.Exec(third, Ready::kAt + 16, {}), 0);
  ASSERT_EQ(ready.machine.seen.works.size(), 2u);
  EXPECT_EQ(ready.machine.seen.works[1]->number, 3u);
  ready.Release();
  ASSERT_EQ(ready.machine.seen.works.size(), 3u);
  EXPECT_EQ(ready.machine.seen.works[2]->number, 2u);
  EXPECT_EQ(ready.client.Poll(a), 0);
}

TEST(XeSubmissions, UserFencesAreWrittenByTheGpuAndByBinds) {
  Ready ready;
  uint64_t bound = 0;
  ASSERT_EQ(ready.client.Bind(ready.vm, {Map(ready.object, 0x900000, 0x1000)},
                              {UserFence(AddressOf(bound), 17)}),
            0);
  EXPECT_EQ(bound, 17u);
  const auto memory = ready.client.Memory(ready.object);
  ready.Hold();
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt, {UserFence(Ready::kAt + 0x1008, 99)}), 0);
  const auto at = reinterpret_cast<uint64_t>(memory->bytes().data()) + 0x1008;
  xe::wait_user_fence wait = {};
  wait.addr = at;
  wait.value = 99;
  wait.mask = ~uint64_t{0};
  wait.timeout = 1000;
  wait.exec_queue_id = ready.queue;
  EXPECT_EQ(ready.client.Call(xe::kWaitUserFence, wait), -ETIME);
  EXPECT_EQ(wait.timeout, 0);
  ready.machine.gate.open = true;
  wait.timeout = 10'000'000'000;
  EXPECT_EQ(ready.client.Call(xe::kWaitUserFence, wait), 0);
  EXPECT_GT(wait.timeout, 0);
  EXPECT_LT(wait.timeout, 10'000'000'000);
  wait.timeout = -1;
  EXPECT_EQ(ready.client.Call(xe::kWaitUserFence, wait), 0);
  EXPECT_THAT(ready.machine.seen.warnings, IsEmpty());
}

TEST(XeSubmissions, UserFencesThatCannotBeWrittenAreWarnedOf) {
  Ready ready;
  ASSERT_EQ(
      ready.client.Bind(ready.vm, {Map(ready.object, 0x900000, 0x1000, 0, xe::kBindReadonly)}), 0);
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt, {UserFence(0x7000000, 1)}), 0);
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt, {UserFence(0x900000, 1)}), 0);
  ASSERT_EQ(ready.client.Exec(ready.queue, 0, {UserFence(Ready::kAt, 1)}, 0), 0);
  EXPECT_THAT(ready.machine.seen.warnings,
              ElementsAre(HasSubstr("nothing is mapped at the user fence"), HasSubstr("read only"),
                          HasSubstr("never written")));
  uint64_t first = 1;
  std::memcpy(&first, ready.client.Memory(ready.object)->bytes().data(), sizeof(first));
  EXPECT_EQ(first, 0u);
}

TEST(XeSubmissions, AHangBansTheQueue) {
  Ready ready;
  ready.Hold();
  ready.machine.kernel.set_hang_at({2});
  const uint32_t good = ready.client.Syncobj(), bad = ready.client.Syncobj(),
                 after = ready.client.Syncobj(), other = ready.client.Syncobj();
  const uint32_t second = ready.client.Queue(ready.vm);
  const auto memory = ready.client.Memory(ready.object);
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt, {Signal(good)}), 0);
  ASSERT_EQ(
      ready.client.Exec(ready.queue, Ready::kAt, {Signal(bad), UserFence(Ready::kAt + 0x1000, 1)}),
      0);
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt,
                              {Signal(after), UserFence(Ready::kAt + 0x1008, 1)}),
            0);
  ASSERT_EQ(ready.client.Exec(second, Ready::kAt, {Signal(other)}), 0);
  EXPECT_FALSE(ready.client.Banned(ready.queue));
  ready.Release();
  for (const uint32_t syncobj : {good, bad, after, other}) {
    EXPECT_EQ(ready.client.Poll(syncobj), 0);
  }
  EXPECT_TRUE(ready.client.Banned(ready.queue));
  EXPECT_FALSE(ready.client.Banned(second));
  EXPECT_THAT(ready.machine.seen.done,
              ElementsAre(testing::Pair(1, Outcome::kDone), testing::Pair(2, Outcome::kHung),
                          testing::Pair(4, Outcome::kDone)));
  EXPECT_EQ(ready.client.Exec(ready.queue, Ready::kAt), -ECANCELED);
  EXPECT_EQ(ready.client.Exec(ready.queue, 0, {}, 0), -ECANCELED);
  EXPECT_EQ(ready.client.Exec(second, Ready::kAt), 0);
  EXPECT_EQ(memory->bytes()[0x1000], 0);
  EXPECT_EQ(memory->bytes()[0x1008], 0);
  // Who waits for its memory is told.
  uint64_t fence = 0;
  xe::wait_user_fence wait = {};
  wait.addr = AddressOf(fence);
  wait.value = 1;
  wait.mask = 1;
  wait.timeout = -1;
  wait.exec_queue_id = ready.queue;
  EXPECT_EQ(ready.client.Call(xe::kWaitUserFence, wait), -EIO);
}

TEST(XeSubmissions, TooManyAreTriedAgain) {
  Ready ready;
  ready.Hold();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt), 0);
  EXPECT_EQ(ready.client.Exec(ready.queue, Ready::kAt), -EAGAIN);
  EXPECT_EQ(ready.client.Exec(ready.client.Queue(ready.vm), Ready::kAt), 0);
  ready.Release();
  EXPECT_EQ(ready.client.Exec(ready.queue, Ready::kAt), 0);
}

TEST(XeSubmissions, ADestroyedQueueFinishesItsWork) {
  Ready ready;
  ready.Hold();
  const uint32_t done = ready.client.Syncobj();
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt, {Signal(done)}), 0);
  xe::exec_queue_destroy destroy = {};
  destroy.exec_queue_id = ready.queue;
  ASSERT_EQ(ready.client.Call(xe::kExecQueueDestroy, destroy), 0);
  EXPECT_EQ(ready.client.Poll(done), -ETIME);
  EXPECT_THAT(ready.machine.gate.forgotten, IsEmpty());
  ready.Release();
  EXPECT_EQ(ready.client.Poll(done), 0);
  EXPECT_THAT(ready.machine.gate.forgotten, ElementsAre(1));
}

TEST(XeSubmissions, AClosedFileEndsItsWork) {
  Machine machine;
  machine.kernel.set_executor(&machine.gate);
  Client stays(machine);
  uint32_t syncobj = 0;
  {
    Client goes(machine);
    const uint32_t vm = goes.Vm(), queue = goes.Queue(vm);
    const uint32_t done = goes.Syncobj();
    ASSERT_EQ(goes.Exec(queue, 0, {Signal(done)}), 0);
    ASSERT_EQ(goes.Bind(vm, {Map(0, 0x1000, 0x1000, 0, xe::kBindNull)}, {Wait(done)}), 0);
    uapi::drm::syncobj_handle handle = {done, 0, -1, 0, 0};
    ASSERT_EQ(goes.Call(uapi::drm::kSyncobjHandleToFd, handle), 0);
    const UniqueFd fd(handle.fd);
    ASSERT_EQ(stays.Call(uapi::drm::kSyncobjFdToHandle, handle), 0);
    syncobj = handle.handle;
    EXPECT_EQ(stays.Poll(syncobj), -ETIME);
  }
  EXPECT_EQ(stays.Poll(syncobj), 0);
  EXPECT_TRUE(machine.kernel.WaitIdle(0));
  EXPECT_THAT(machine.gate.forgotten, ElementsAre(1));
}

TEST(XeSubmissions, ObjectsStayWhileTheyAreMapped) {
  Ready ready;
  const auto memory = ready.client.Memory(ready.object);
  memory->bytes()[5] = 42;
  uapi::drm::gem_close close = {ready.object, 0};
  ASSERT_EQ(ready.client.Call(uapi::drm::kGemClose, close), 0);
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt), 0);
  const Mapping* const mapping = ready.machine.seen.works[0]->memory->Find(Ready::kAt);
  ASSERT_NE(mapping, nullptr);
  uint8_t byte = 0;
  EXPECT_TRUE(mapping->object->Read(5, {&byte, 1}));
  EXPECT_EQ(byte, 42);
}

TEST(XeSubmissions, UserptrIsTheProcessOwnMemory) {
  Ready ready;
  alignas(4096) static uint8_t memory[8192] = {};
  ASSERT_EQ(ready.client.Bind(ready.vm, {MapUserptr(AddressOf(memory), 0x600000, 8192)}), 0);
  memory[4096] = 7;
  ASSERT_EQ(ready.client.Exec(ready.queue, Ready::kAt, {UserFence(0x600000 + 8, 1234)}), 0);
  uint64_t value = 0;
  std::memcpy(&value, memory + 8, sizeof(value));
  EXPECT_EQ(value, 1234u);
  const Mapping* const mapping = ready.machine.seen.works[0]->memory->Find(0x601000);
  ASSERT_NE(mapping, nullptr);
  uint8_t byte = 0;
  EXPECT_TRUE(mapping->object->Read(4096, {&byte, 1}));
  EXPECT_EQ(byte, 7);
}

}  // namespace
}  // namespace packsmith::capture
