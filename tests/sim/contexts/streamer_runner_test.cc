// Contexts on the command streamer: batches that are preempted in the middle give what they give
// alone.
#include "runtime/sim/contexts/streamer_runner.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "runtime/sim/contexts/execlists.h"
#include "tests/sim/contexts/runner_world.h"

namespace packsmith::sim {
namespace {

TEST(StreamerRunner, AContextExecutesItsRingAndItsBatch) {
  for (const char* generation : {"gfx8", "gfx9", "gfx11"}) {
    RunnerWorld world(generation);
    world.Add(1, 5, 10);
    ASSERT_TRUE(world.Submit(1).ok());
    EXPECT_EQ(world.lists->Run(10000), EngineState::kIdle);
    EXPECT_EQ(world.ResultOf(1), 50u) << generation;
    EXPECT_EQ(world.HeadOf(1), 16u);
    EXPECT_TRUE(world.problems.empty()) << world.problems[0];
  }
}

TEST(StreamerRunner, BatchesThatArePreemptedGiveWhatTheyGiveAlone) {
  RunnerWorld world("gfx9");
  world.Add(1, 3, 100);
  world.Add(2, 7, 80);
  uint64_t now = 1;
  ASSERT_TRUE(world.Submit(now).ok());
  int preempted = 0;
  for (int i = 0; i < 1000 && !world.lists->idle(); ++i) {
    if (world.lists->Run(9) == EngineState::kIdle) break;
    now = 3 - now;
    if (world.HeadOf(now) != 16 && !world.lists->pending()) {
      ASSERT_TRUE(world.Submit(now).ok());
      ++preempted;
    }
  }
  EXPECT_EQ(world.lists->Run(100000), EngineState::kIdle);
  for (const uint64_t id : {1, 2}) {
    if (world.HeadOf(id) == 16 && world.ResultOf(id) != 0) continue;
    ASSERT_TRUE(world.Submit(id).ok());
    EXPECT_EQ(world.lists->Run(100000), EngineState::kIdle);
  }
  EXPECT_GT(preempted, 5);
  EXPECT_EQ(world.ResultOf(1), 300u);
  EXPECT_EQ(world.ResultOf(2), 560u);
  EXPECT_TRUE(world.problems.empty()) << world.problems[0];
}

TEST(StreamerRunner, APreemptedImageHasThePlaceInTheBatch) {
  RunnerWorld world("gfx9");
  world.Add(1, 3, 10);
  world.Add(2, 7, 1);
  ASSERT_TRUE(world.Submit(1).ok());
  EXPECT_EQ(world.lists->Run(4), EngineState::kBusy);
  ASSERT_TRUE(world.Submit(2).ok());
  EXPECT_EQ(world.lists->Run(10000), EngineState::kIdle);
  const uint64_t list = world.ImageOf(1) + 4096;
  // After MI_LOAD_REGISTER_IMM, MI_ARB_CHECK and MI_MATH, valid.
  EXPECT_EQ(world.memory.Dword(1, list + 0x0f * 4), RunnerWorld::kBatch + (9 + 6) * 4 + 1);
  EXPECT_EQ(world.memory.Dword(1, list + 0x0d * 4), 0u);
  // The head is after MI_BATCH_BUFFER_START, the sum so far is in GPR 0.
  EXPECT_EQ(world.HeadOf(1), 12u);
  EXPECT_EQ(world.memory.Dword(1, list + 0x69 * 4), 3u);
}

TEST(StreamerRunner, WithArbitrationOffABatchIsNotPreempted) {
  RunnerWorld world("gfx9");
  world.Add(1, 3, 10, false);
  world.Add(2, 7, 1);
  ASSERT_TRUE(world.Submit(1).ok());
  // MI_ARB_ON_OFF, MI_BATCH_BUFFER_START, MI_LOAD_REGISTER_IMM.
  EXPECT_EQ(world.lists->Run(3), EngineState::kBusy);
  ASSERT_TRUE(world.Submit(2).ok());
  EXPECT_EQ(world.lists->Run(5), EngineState::kBusy);
  EXPECT_TRUE(world.lists->pending());
  EXPECT_EQ(world.lists->Run(10000), EngineState::kIdle);
  EXPECT_EQ(world.ResultOf(1), 30u);
  EXPECT_EQ(world.ResultOf(2), 7u);
}

TEST(StreamerRunner, ALiteRestoreGivesTheRingMore) {
  RunnerWorld world("gfx9");
  world.Add(1, 3, 10);
  ASSERT_TRUE(world.Submit(1).ok());
  EXPECT_EQ(world.lists->Run(4), EngineState::kBusy);
  // MI_STORE_DATA_IMM to the global space.
  world.PutDwords(1, world.RingOf(1) + 16, {0x10400002, 0x700000, 0, 42});
  world.memory.Map(1, 0x700000, 4096);
  world.memory.Put(1, world.ImageOf(1) + 4096 + 7 * 4, 32, 4);
  ASSERT_TRUE(world.Submit(1).ok());
  EXPECT_EQ(world.lists->Run(10000), EngineState::kIdle);
  EXPECT_EQ(world.ResultOf(1), 30u);
  EXPECT_EQ(world.memory.Dword(1, 0x700000), 42u);
}

}  // namespace
}  // namespace packsmith::sim
