// Eight threads that call at the same time.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "tests/capture/asahi/client.h"

namespace packsmith::capture {
namespace {

namespace asahi = uapi::asahi;

constexpr int kThreads = 8, kRounds = 200;
constexpr uint64_t kPage = asahi::kPage;

// Each with a file of its own: binds, submits, and finds the times of its work.
TEST(AsahiThreads, FilesAreIndependent) {
  Machine machine;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&machine] {
      Client client(machine);
      const uint32_t vm = client.Vm(), queue = client.Queue(vm), timeline = client.Syncobj();
      for (uint64_t i = 1; i <= kRounds; ++i) {
        const uint32_t object = client.Object(kPage);
        const auto memory = client.Memory(object);
        const uint32_t times = client.Timestamps(object, 0, kPage);
        const uint64_t address = kPage * (64 + i);
        ASSERT_EQ(client.Bind(vm, {Map(object, address, kPage)}), 0);
        asahi::cmd_compute compute = GoodCompute(address);
        compute.ts = {{times, 0}, {times, 8}};
        ASSERT_EQ(client.Submit(queue, Commands().Render(GoodRender(address)).Compute(compute, 1),
                                {}, {Sync(timeline, i)}),
                  0);
        ASSERT_EQ(client.Reached(timeline), i);
        uint64_t written[2] = {};
        std::memcpy(written, memory->bytes().data(), sizeof(written));
        ASSERT_GT(written[0], 0u);
        ASSERT_GE(written[1], written[0]);
        uapi::drm::gem_close close = {object, 0};
        ASSERT_EQ(client.Call(uapi::drm::kGemClose, close), 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(machine.seen.works.size(), size_t{2 * kThreads * kRounds});
}

// All with one file and one address space, while work is held back and let go; each waits for what
// the one before it signals.
TEST(AsahiThreads, OneFileIsSharedByAll) {
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
      const uint32_t queue = own.Queue(vm), object = own.Object(kPage);
      for (uint64_t i = 1; i <= kRounds; ++i) {
        const uint64_t address = kPage * (kThreads * i + thread + 64);
        ASSERT_EQ(own.Bind(vm, {Map(object, address, kPage)}), 0);
        Client::Syncs in;
        if (thread > 0) {
          uint64_t point = i;
          uapi::drm::syncobj_timeline_wait wait = {};
          wait.handles = AddressOf(timelines[thread]);
          wait.points = AddressOf(point);
          wait.timeout_nsec = MonotonicNow() + 60'000'000'000;
          wait.count_handles = 1;
          wait.flags = uapi::drm::kSyncobjWaitAvailable;
          ASSERT_EQ(own.Call(uapi::drm::kSyncobjTimelineWait, wait), 0);
          in.push_back(Sync(timelines[thread], i));
        }
        ASSERT_EQ(own.Submit(queue, Commands().Compute(GoodCompute(address)), in,
                             {Sync(timelines[thread + 1], i)}),
                  0);
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
