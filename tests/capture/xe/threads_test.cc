// Eight threads that call at the same time.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/capture/xe/client.h"

namespace packsmith::capture {
namespace {

namespace xe = uapi::xe;

constexpr int kThreads = 8, kRounds = 200;

// Each with a file of its own: binds, submits, waits, and checks what it gets.
TEST(XeThreads, FilesAreIndependent) {
  Machine machine;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&machine] {
      Client client(machine);
      const uint32_t vm = client.Vm(), queue = client.Queue(vm), timeline = client.Syncobj();
      for (uint64_t i = 1; i <= kRounds; ++i) {
        const uint32_t object = client.Object(4096);
        const auto memory = client.Memory(object);
        const uint64_t address = 0x100000 + 4096 * i;
        ASSERT_EQ(client.Bind(vm, {Map(object, address, 4096)}, {Signal(timeline, 2 * i - 1)}), 0);
        ASSERT_EQ(client.Exec(queue, address,
                              {Wait(timeline, 2 * i - 1), Signal(timeline, 2 * i),
                               UserFence(address + 8, i)}),
                  0);
        ASSERT_EQ(client.Reached(timeline), 2 * i);
        ASSERT_EQ(memory->bytes()[8], i & 0xff);
        ASSERT_EQ(client.Bind(vm, {UnmapAll(object)}), 0);
        uapi::drm::gem_close close = {object, 0};
        ASSERT_EQ(client.Call(uapi::drm::kGemClose, close), 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(machine.seen.works.size(), size_t{kThreads * kRounds});
}

// All with one file, on one address space and queues of their own, while work is held back and let
// go; each waits for what the one before it signals.
TEST(XeThreads, OneFileIsSharedByAll) {
  Machine machine;
  Client client(machine);
  machine.kernel.set_executor(&machine.gate);
  const uint32_t vm = client.Vm();
  std::vector<uint32_t> timelines;
  for (int i = 0; i <= kThreads; ++i) timelines.push_back(client.Syncobj());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      // Callers belong to a thread; the file is everybody's.
      Client own(machine);
      own.file = client.file;
      const uint32_t queue = own.Queue(vm), object = own.Object(4096);
      for (uint64_t i = 1; i <= kRounds; ++i) {
        const uint64_t address = 0x100000 + 4096 * (kThreads * i + thread);
        ASSERT_EQ(own.Bind(vm, {Map(object, address, 4096)}), 0);
        Client::Syncs syncs = {Signal(timelines[thread + 1], i)};
        if (thread > 0) {
          uint64_t point = i;
          uapi::drm::syncobj_timeline_wait wait = {};
          wait.handles = AddressOf(timelines[thread]);
          wait.points = AddressOf(point);
          wait.timeout_nsec = MonotonicNow() + 60'000'000'000;
          wait.count_handles = 1;
          wait.flags = uapi::drm::kSyncobjWaitAvailable;
          ASSERT_EQ(own.Call(uapi::drm::kSyncobjTimelineWait, wait), 0);
          syncs.push_back(Wait(timelines[thread], i));
        }
        ASSERT_EQ(own.Exec(queue, address, syncs), 0);
      }
    });
  }
  machine.gate.open = true;
  for (std::thread& thread : threads) thread.join();
  machine.kernel.Advance();
  EXPECT_TRUE(machine.kernel.WaitIdle(60'000'000'000));
  for (int i = 1; i <= kThreads; ++i) EXPECT_EQ(client.Reached(timelines[i]), uint64_t{kRounds});
}

}  // namespace
}  // namespace packsmith::capture
