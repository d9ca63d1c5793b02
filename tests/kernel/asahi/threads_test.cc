// Eight threads that use one device at the same time.
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/kernel/asahi/machine.h"

namespace packsmith::gpu {
namespace {

constexpr uint32_t kThreads = 8;
constexpr uint32_t kRounds = 50;

// Each with a context of its own on one of two spaces; each job waits for the thread's job before,
// and memory comes and goes.
TEST(AsahiThreads, ContextsAreIndependent) {
  Machine machine;
  const auto device = machine.Open();
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const uint32_t space = thread % 2;
      const uint64_t base = 0x1000000 * (thread + 1);
      const auto context = device->CreateContext({.space = space});
      ASSERT_TRUE(context.ok());
      const Place stream = machine.Make(*device, base, space);
      auto times = device->CreateTimestamps(2);
      ASSERT_TRUE(times.ok()) << times.status();
      Fence last = 0;
      uint64_t before = 0;
      for (uint32_t i = 1; i <= kRounds; ++i) {
        const uint64_t at = base + 0x100000 + kPage * (i % 4);
        const Place data = machine.Make(*device, at, space);
        PlacedJob work({stream, data});
        work.job.space = space;
        work.job.context = i % 3 == 0 ? 0 : *context;
        const Fence after[] = {last};
        work.job.after = after;
        AsahiCompute compute;
        compute.stream = base;
        compute.stream_end = base + 64;
        compute.begins = times->At(0);
        compute.ends = times->At(1);
        const auto fence = device->SubmitCompute(work.job, compute);
        ASSERT_TRUE(fence.ok()) << fence.status();
        const auto done = device->Wait(*fence, absl::Seconds(60));
        ASSERT_TRUE(done.ok() && *done) << done.status();
        ASSERT_LT(before, times->Read(1));
        before = times->Read(1);
        ASSERT_EQ(*device->StateOf(space, *context), ContextState::kGood);
        ASSERT_TRUE(device->Unbind(space, at, kPage).ok());
        ASSERT_TRUE(device->Destroy(data.memory).ok());
        last = *fence;
      }
      ASSERT_TRUE(device->DestroyContext(*context).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(machine.seen.works.size(), size_t{kThreads} * kRounds);
}

}  // namespace
}  // namespace packsmith::gpu
