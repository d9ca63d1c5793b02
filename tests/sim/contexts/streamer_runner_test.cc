// Contexts on the command streamer: batches that are preempted in the middle give what they give
// alone.
#include "runtime/sim/contexts/streamer_runner.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "runtime/sim/contexts/context_image.h"
#include "runtime/sim/contexts/execlists.h"
#include "tests/sim/contexts/fake_memory.h"

namespace packsmith::sim {
namespace {

constexpr uint32_t kEnd = 0x05000000;
constexpr uint32_t kArbitrationOn = 0x04000001;
constexpr uint32_t kArbitrationOff = 0x04000000;

struct World : Observer {
  FakeMemory memory;
  tables::Tables tables;
  std::unique_ptr<StreamerRunner> runner;
  std::unique_ptr<Execlists> lists;
  std::vector<std::string> problems;

  explicit World(const std::string& generation) : tables(*FindGeneration(generation)) {
    StreamerRunner::Options options;
    options.streamer.engine = tables.FindEngine("render");
    options.streamer.stream = tables.FindStream("batch");
    // The space of context i is 10 + i.
    options.space_of = [](uint64_t image) { return static_cast<uint32_t>(10 + image / 0x100000); };
    runner = std::make_unique<StreamerRunner>(tables, memory, *this, options);
    absl::StatusOr<Execlists> made = Execlists::Make(tables, memory, *runner, {});
    EXPECT_TRUE(made.ok()) << made.status();
    lists = std::make_unique<Execlists>(*std::move(made));
  }

  void OnProblem(const Problem& problem) override { problems.push_back(problem.text); }

  uint64_t ImageOf(uint64_t id) const { return id * 0x100000; }
  uint64_t RingOf(uint64_t id) const { return id * 0x100000 + 0x8000; }
  static constexpr uint64_t kBatch = 0x4000'0000;
  static constexpr uint64_t kResult = 0x5000'0000;

  void PutDwords(uint32_t space, uint64_t at, const std::vector<uint32_t>& dwords) {
    memory.Map(space, at, dwords.size() * 4);
    for (const uint32_t dword : dwords) {
      memory.Put(space, at, dword, 4);
      at += 4;
    }
  }

  // A context whose ring starts a batch, which adds `step` to GPR 0 `count` times, with a point of
  // preemption between, and stores the sum.
  void Add(uint64_t id, uint32_t step, int count, bool arbitration = true) {
    memory.Map(1, ImageOf(id), 0x2000);
    memory.Map(1, RingOf(id), 0x1000);
    const uint32_t space = static_cast<uint32_t>(10 + id);
    memory.Map(space, kResult, 0x1000);
    std::vector<uint32_t> batch = {// MI_LOAD_REGISTER_IMM of GPR 0 and GPR 1.
                                   0x11000007, 0x2600, 0, 0x2604, 0, 0x2608, step, 0x260c, 0};
    for (int i = 0; i < count; ++i) {
      batch.push_back(arbitration ? kArbitrationOn : kArbitrationOff);
      // MI_MATH: SRCA = R0, SRCB = R1, ADD, R0 = ACCU.
      batch.insert(batch.end(), {0x0d000003, 0x08008000, 0x08008401, 0x10000000, 0x18000031});
    }
    // MI_STORE_REGISTER_MEM of GPR 0.
    batch.insert(batch.end(), {0x12000002, 0x2600, static_cast<uint32_t>(kResult), 0, kEnd});
    PutDwords(space, kBatch, batch);
    // MI_BATCH_BUFFER_START in the context's own space.
    PutDwords(1, RingOf(id), {0x18800101, static_cast<uint32_t>(kBatch), 0, 0});
    ContextDescription description;
    description.ring_address = RingOf(id);
    description.ring_bytes = 4096;
    description.ring_tail = 16;
    const absl::StatusOr<std::vector<uint8_t>> image = MakeContextImage(tables, description);
    ASSERT_TRUE(image.ok()) << image.status();
    ASSERT_EQ(memory.Write(1, ImageOf(id), *image), image->size());
  }

  absl::Status Submit(uint64_t id) { return lists->Submit({id << 32 | ImageOf(id) | 0x119}); }
  uint32_t HeadOf(uint64_t id) const { return memory.Dword(1, ImageOf(id) + 4096 + 5 * 4); }
  uint32_t ResultOf(uint64_t id) const {
    return memory.Dword(static_cast<uint32_t>(10 + id), kResult);
  }
};

TEST(StreamerRunner, AContextExecutesItsRingAndItsBatch) {
  for (const char* generation : {"gfx8", "gfx9", "gfx11"}) {
    World world(generation);
    world.Add(1, 5, 10);
    ASSERT_TRUE(world.Submit(1).ok());
    EXPECT_EQ(world.lists->Run(10000), EngineState::kIdle);
    EXPECT_EQ(world.ResultOf(1), 50u) << generation;
    EXPECT_EQ(world.HeadOf(1), 16u);
    EXPECT_TRUE(world.problems.empty()) << world.problems[0];
  }
}

TEST(StreamerRunner, BatchesThatArePreemptedGiveWhatTheyGiveAlone) {
  World world("gfx9");
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
  World world("gfx9");
  world.Add(1, 3, 10);
  world.Add(2, 7, 1);
  ASSERT_TRUE(world.Submit(1).ok());
  EXPECT_EQ(world.lists->Run(4), EngineState::kBusy);
  ASSERT_TRUE(world.Submit(2).ok());
  EXPECT_EQ(world.lists->Run(10000), EngineState::kIdle);
  const uint64_t list = world.ImageOf(1) + 4096;
  // After MI_LOAD_REGISTER_IMM, MI_ARB_ON_OFF and MI_MATH, valid.
  EXPECT_EQ(world.memory.Dword(1, list + 0x0f * 4), World::kBatch + (9 + 6) * 4 + 1);
  EXPECT_EQ(world.memory.Dword(1, list + 0x0d * 4), 0u);
  // The head is after MI_BATCH_BUFFER_START, the sum so far is in GPR 0.
  EXPECT_EQ(world.HeadOf(1), 12u);
  EXPECT_EQ(world.memory.Dword(1, list + 0x69 * 4), 3u);
}

TEST(StreamerRunner, WithArbitrationOffABatchIsNotPreempted) {
  World world("gfx9");
  world.Add(1, 3, 10, false);
  world.Add(2, 7, 1);
  ASSERT_TRUE(world.Submit(1).ok());
  // MI_BATCH_BUFFER_START, MI_LOAD_REGISTER_IMM, MI_ARB_ON_OFF.
  EXPECT_EQ(world.lists->Run(3), EngineState::kBusy);
  ASSERT_TRUE(world.Submit(2).ok());
  EXPECT_EQ(world.lists->Run(5), EngineState::kBusy);
  EXPECT_TRUE(world.lists->pending());
  EXPECT_EQ(world.lists->Run(10000), EngineState::kIdle);
  EXPECT_EQ(world.ResultOf(1), 30u);
  EXPECT_EQ(world.ResultOf(2), 7u);
}

TEST(StreamerRunner, ALiteRestoreGivesTheRingMore) {
  World world("gfx9");
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
