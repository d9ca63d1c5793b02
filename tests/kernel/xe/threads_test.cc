// Eight threads that use one device at the same time.
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/kernel/xe/machine.h"

namespace packsmith::gpu {
namespace {

constexpr uint32_t kThreads = 8;
constexpr uint32_t kRounds = 50;

// Each with a context of its own on one of two spaces; each job waits for the thread's job before,
// and memory comes and goes.
TEST(XeThreads, ContextsAreIndependent) {
  Machine machine;
  machine.Execute();
  const auto device = machine.Open();
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const uint32_t space = thread % 2;
      const uint64_t base = 0x1000000 * (thread + 1);
      const auto context = device->CreateContext({.space = space});
      ASSERT_TRUE(context.ok());
      const Place batch = machine.Make(*device, base, Heap::kSystem, space);
      Fence last = 0;
      for (uint32_t i = 1; i <= kRounds; ++i) {
        const uint64_t at = base + 0x100000 + 4096 * (i % 4);
        const Place data = machine.Make(*device, at, Heap::kSystem, space);
        machine.Write(batch, {{at + 4, i}});
        PlacedJob work(batch, {data});
        work.job.space = space;
        work.job.context = i % 3 == 0 ? 0 : *context;
        work.job.engine = i % 2 == 0 ? "render" : "copy";
        const Fence after[] = {last};
        work.job.after = after;
        const auto fence = device->Submit(work.job);
        ASSERT_TRUE(fence.ok()) << fence.status();
        const auto done = device->Wait(*fence, absl::Seconds(60));
        ASSERT_TRUE(done.ok() && *done) << done.status();
        ASSERT_EQ(data.word(1), i);
        ASSERT_EQ(*device->StateOf(space, *context), ContextState::kGood);
        ASSERT_TRUE(device->Unbind(space, at, 4096).ok());
        ASSERT_TRUE(device->Destroy(data.memory).ok());
        last = *fence;
      }
      ASSERT_TRUE(device->DestroyContext(*context).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(machine.seen.works.size(), size_t{kThreads} * kRounds);
}

// All with one context, whose jobs hang again and again.
TEST(XeThreads, AContextThatHangsGoesOnForAll) {
  Machine machine;
  std::vector<uint64_t> hang_at;
  for (uint64_t i = 5; i < kThreads * kRounds; i += 17) hang_at.push_back(i);
  machine.kernel.set_hang_at(hang_at);
  const auto device = machine.Open();
  const Place batch = machine.Make(*device, 0x100000);
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      const PlacedJob work(batch, {});
      for (uint32_t i = 0; i < kRounds; ++i) {
        const auto fence = device->Submit(work.job);
        // Two hangs may follow each other before a thread could submit.
        if (!fence.ok()) {
          ASSERT_EQ(fence.status().code(), absl::StatusCode::kAborted) << fence.status();
          continue;
        }
        const auto done = device->Wait(*fence, absl::Seconds(60));
        ASSERT_TRUE(done.ok() || done.status().code() == absl::StatusCode::kAborted);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(*device->StateOf(0, 0), ContextState::kHung);
  const auto fence = device->Submit(PlacedJob(batch, {}).job);
  ASSERT_TRUE(fence.ok()) << fence.status();
}

}  // namespace
}  // namespace packsmith::gpu
