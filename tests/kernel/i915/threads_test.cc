// Several threads use one device.
#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernel/i915/rig.h"

namespace packsmith::gpu {
namespace {

constexpr int kThreads = 8, kJobs = 60;

class EveryKind : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, EveryKind, ::testing::Values("hsw", "skl"));

TEST_P(EveryKind, ThreadsSubmitToTheirContextsAndWait) {
  Counts counts;
  Rig rig(GetParam(), {.counts = &counts});
  std::atomic<int> done = 0;
  const auto work = [&](uint64_t number) {
    const auto context = rig.device->CreateContext({});
    ASSERT_TRUE(context.ok());
    const uint64_t address = 0x100000 + number * 0x100000;
    const Placed batch = rig.Place(address);
    rig.Put(batch, {});
    Fence last = 0;
    for (int i = 0; i < kJobs; ++i) {
      const Placed data = rig.Place(address + 0x10000);
      const std::vector<Resident> residents = {data.AsResident(true), batch.AsResident()};
      const Relocation relocation = {.in = batch.memory, .offset = 64, .target = data.memory};
      const auto fence = rig.device->Submit({.context = *context,
                                             .batch_address = address,
                                             .residents = residents,
                                             .after = {&last, last == 0 ? size_t{0} : size_t{1}},
                                             .relocations = {&relocation, 1}});
      ASSERT_TRUE(fence.ok()) << fence.status();
      last = *fence;
      ASSERT_TRUE(rig.WaitFor(last));
      ASSERT_TRUE(rig.device->Unbind(0, data.address, 4096).ok());
      ASSERT_TRUE(rig.device->Destroy(data.memory).ok());
      ++done;
    }
    EXPECT_EQ(*rig.device->StateOf(0, *context), ContextState::kGood);
    ASSERT_TRUE(rig.device->DestroyContext(*context).ok());
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, kThreads * kJobs);
  EXPECT_EQ(counts.objects, kThreads);
  EXPECT_EQ(rig.machine.watcher.done.size(), size_t{kThreads} * kJobs);
}

}  // namespace
}  // namespace packsmith::gpu
