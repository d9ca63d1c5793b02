// Batches that are executed: what they store is in memory.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/capture/execute/sim_executor.h"
#include "runtime/capture/execute/submission_checks.h"
#include "tests/kernel/i915/rig.h"

namespace packsmith::gpu {
namespace {

constexpr uint64_t kBatch = 0x100000, kData = 0x200000;

class EveryGeneration : public ::testing::TestWithParam<const char*> {
 protected:
  EveryGeneration() : rig_(GetParam()) {
    rig_.machine.kernel.set_executor(&executor_);
    rig_.machine.kernel.AddWatcher(&checks_);
  }
  ~EveryGeneration() override { EXPECT_EQ(lines_, std::vector<std::string>()); }

  std::vector<std::string> lines_;
  capture::SimExecutor executor_;
  capture::SubmissionChecks checks_{
      [this](const capture::Work&, absl::string_view line) { lines_.emplace_back(line); }};
  Rig rig_;
};
INSTANTIATE_TEST_SUITE_P(, EveryGeneration,
                         ::testing::Values("i965", "ilk", "snb", "ivb", "hsw", "bdw", "skl", "icl",
                                           "tgl", "dg2"));

TEST_P(EveryGeneration, StoresOfABatchAreInMemory) {
  const Placed batch = rig_.Place(kBatch), data = rig_.Place(kData);
  rig_.Put(batch, {rig_.Store(kData + 8, 0x12345678), rig_.Store(kData + 12, 9)});
  const std::vector<Resident> residents = {batch.AsResident(), data.AsResident(true)};
  const auto fence = rig_.device->Submit({.batch_address = kBatch, .residents = residents});
  ASSERT_TRUE(fence.ok()) << fence.status();
  ASSERT_TRUE(rig_.WaitFor(*fence));
  EXPECT_EQ(data.Word(1), 0u);
  EXPECT_EQ(data.Word(2), 0x12345678u);
  EXPECT_EQ(data.Word(3), 9u);
}

TEST_P(EveryGeneration, JobsOfTwoContextsAreInTheOrderOfTheirFences) {
  const auto other = rig_.device->CreateContext({});
  ASSERT_TRUE(other.ok());
  const Placed data = rig_.Place(kData);
  Fence last = 0;
  for (uint32_t i = 0; i < 10; ++i) {
    const Placed batch = rig_.Place(kBatch + i * 0x10000);
    rig_.Put(batch, {rig_.Store(kData, i), rig_.Store(kData + 16 + i * 4, i + 100)});
    const std::vector<Resident> residents = {batch.AsResident(), data.AsResident(true)};
    const auto fence = rig_.device->Submit({.context = i % 2 == 0 ? 0 : *other,
                                            .batch_address = batch.address,
                                            .residents = residents,
                                            .after = {&last, 1}});
    ASSERT_TRUE(fence.ok()) << fence.status();
    last = *fence;
  }
  ASSERT_TRUE(rig_.WaitFor(last));
  EXPECT_EQ(data.Word(0), 9u);
  for (uint32_t i = 0; i < 10; ++i) EXPECT_EQ(data.Word(4 + i), i + 100);
}

TEST_P(EveryGeneration, StoresReachMemoryThatTheKernelHasMoved) {
  if (!rig_.device->properties().moves_memory) GTEST_SKIP() << "memory stays where it is";
  const Placed batch = rig_.Place(kBatch), data = rig_.Place(kData);
  rig_.Put(batch, {rig_.Store(kData + 8, 77)});
  // Another program has the place.
  capture::Client client(rig_.machine);
  const uint32_t theirs = client.Create(4096);
  {
    const Placed end = rig_.Place(kData + 0x10000);
    rig_.Put(end, {});
    std::memcpy(client.Map(theirs)->bytes().data(), end.bytes.data(), 64);
  }
  std::vector<uapi::i915::gem_exec_object2> objects = {capture::Client::Pinned(theirs, kData)};
  ASSERT_EQ(client.Submit(objects), 0);
  const std::vector<Resident> residents = {batch.AsResident(), data.AsResident(true)};
  const Relocation relocation = {
      .in = batch.memory, .offset = 8, .target = data.memory, .delta = 8, .written = true};
  const auto fence = rig_.device->Submit(
      {.batch_address = kBatch, .residents = residents, .relocations = {&relocation, 1}});
  ASSERT_TRUE(fence.ok()) << fence.status();
  ASSERT_TRUE(rig_.WaitFor(*fence));
  EXPECT_NE(batch.Word(2), kData + 8);
  EXPECT_EQ(data.Word(2), 77u);
}

}  // namespace
}  // namespace packsmith::gpu
