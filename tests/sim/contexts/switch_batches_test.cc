// What is executed with a switch of contexts: points of preemption, batches that registers of the
// image name.
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/sim/contexts/execlists.h"
#include "tests/sim/contexts/runner_world.h"

namespace packsmith::sim {
namespace {

// In the global space.
constexpr uint32_t kNotes = 0x700000, kIndirect = 0x710000, kPerContext = 0x720000;

TEST(SwitchBatches, AnArbitrationCheckIsAPointOfPreemptionInEachGeneration) {
  for (const char* generation : {"gfx8", "gfx9", "gfx11"}) {
    for (const bool check : {false, true}) {
      RunnerWorld world(generation);
      world.Add(1, 3, 10, true, check ? kArbitrationCheck : 0);
      world.Add(2, 7, 1);
      ASSERT_TRUE(world.Submit(1).ok());
      EXPECT_EQ(world.lists->Run(4), EngineState::kBusy);
      ASSERT_TRUE(world.Submit(2).ok());
      EXPECT_EQ(world.lists->Run(10000), EngineState::kIdle);
      // Without one, what runs completes at the end of the batch.
      EXPECT_EQ(world.ResultOf(1), check ? 0u : 30u) << generation;
      EXPECT_EQ(world.ResultOf(2), 7u);
      if (!check) continue;
      ASSERT_TRUE(world.Submit(1).ok());
      EXPECT_EQ(world.lists->Run(10000), EngineState::kIdle);
      EXPECT_EQ(world.ResultOf(1), 30u);
    }
  }
}

// MI_ATOMIC, an increment in the global space.
std::vector<uint32_t> Increment(uint32_t address) { return {0x17c00501, address, 0}; }

void PutBatches(RunnerWorld& world) {
  world.memory.Map(1, kNotes, 0x1000);
  // A cache line: counts, then NOOPs; what is after it is not executed.
  std::vector<uint32_t> indirect = Increment(kNotes);
  indirect.resize(16);
  const std::vector<uint32_t> beyond = Increment(kNotes + 8);
  indirect.insert(indirect.end(), beyond.begin(), beyond.end());
  world.PutDwords(1, kIndirect, indirect);
  // MI_COPY_MEM_MEM of the count, both in the global space; then it counts itself.
  std::vector<uint32_t> per_context = {0x17600003, kNotes + 16, 0, kNotes, 0};
  for (const uint32_t word : Increment(kNotes + 4)) per_context.push_back(word);
  per_context.push_back(kEnd);
  world.PutDwords(1, kPerContext, per_context);
}

TEST(SwitchBatches, RunWithEachRestoreInOrder) {
  for (const char* generation : {"gfx8", "gfx9", "gfx11", "gfx12"}) {
    RunnerWorld world(generation);
    PutBatches(world);
    // One cache line; valid.
    world.Add(1, 3, 10, true, std::nullopt,
              {{"INDIRECT_CTX", kIndirect | 1}, {"BB_PER_CTX_PTR", kPerContext | 1}});
    world.Add(2, 7, 1);
    ASSERT_TRUE(world.Submit(1).ok());
    EXPECT_EQ(world.lists->Run(7), EngineState::kBusy);
    EXPECT_EQ(world.memory.Dword(1, kNotes), 1u) << generation;
    EXPECT_EQ(world.memory.Dword(1, kNotes + 4), 1u);
    // The second batch has seen what the first one wrote.
    EXPECT_EQ(world.memory.Dword(1, kNotes + 16), 1u);
    ASSERT_TRUE(world.Submit(2).ok());
    EXPECT_EQ(world.lists->Run(10000), EngineState::kIdle);
    // The other context's image names none.
    EXPECT_EQ(world.memory.Dword(1, kNotes), 1u);
    if (world.ResultOf(1) == 0) {
      ASSERT_TRUE(world.Submit(1).ok());
      EXPECT_EQ(world.lists->Run(10000), EngineState::kIdle);
      EXPECT_EQ(world.memory.Dword(1, kNotes), 2u);
      EXPECT_EQ(world.memory.Dword(1, kNotes + 4), 2u);
    }
    EXPECT_EQ(world.memory.Dword(1, kNotes + 8), 0u);
    EXPECT_EQ(world.ResultOf(1), 30u);
    EXPECT_EQ(world.ResultOf(2), 7u);
    EXPECT_TRUE(world.problems.empty()) << world.problems[0];
  }
}

TEST(SwitchBatches, ALiteRestoreDoesNotRunThem) {
  RunnerWorld world("gfx9");
  PutBatches(world);
  world.Add(1, 3, 10, true, std::nullopt, {{"INDIRECT_CTX", kIndirect | 1}});
  ASSERT_TRUE(world.Submit(1).ok());
  EXPECT_EQ(world.lists->Run(6), EngineState::kBusy);
  ASSERT_TRUE(world.Submit(1).ok());
  EXPECT_EQ(world.lists->Run(10000), EngineState::kIdle);
  EXPECT_EQ(world.memory.Dword(1, kNotes), 1u);
  EXPECT_EQ(world.ResultOf(1), 30u);
}

TEST(SwitchBatches, OneThatDoesNotEndStopsTheEngine) {
  RunnerWorld world("gfx9");
  // It jumps to itself.
  world.PutDwords(1, kPerContext, {0x18800001, kPerContext, 0});
  world.Add(1, 3, 10, true, std::nullopt, {{"BB_PER_CTX_PTR", kPerContext | 1}});
  ASSERT_TRUE(world.Submit(1).ok());
  EXPECT_EQ(world.lists->Run(10000), EngineState::kFault);
  ASSERT_EQ(world.problems.size(), 1u);
  EXPECT_NE(world.problems[0].find("does not end"), std::string::npos);
}

}  // namespace
}  // namespace packsmith::sim
