// The life of contexts: their requests are executed in order, whatever the others do.
#include "runtime/sim/contexts/context_pool.h"

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "tests/sim/contexts/fake_memory.h"
#include "tests/sim/contexts/fake_runner.h"

namespace packsmith::sim {
namespace {

using testing::ElementsAre;

struct World {
  FakeMemory memory;
  FakeRunner runner{memory};
  tables::Tables tables;
  std::unique_ptr<Execlists> lists;
  std::unique_ptr<ContextPool> pool;

  explicit World(const std::string& generation) : tables(*FindGeneration(generation)) {
    memory.Map(1, 0x8000, 4096);
    lists = std::make_unique<Execlists>(
        *Execlists::Make(tables, memory, runner, {.status_page = 0x8000}));
    pool = std::make_unique<ContextPool>(*ContextPool::Make(tables, memory, *lists, 1));
  }

  uint32_t Create() {
    const absl::StatusOr<uint32_t> id = pool->Create({.ring_bytes = 4096});
    EXPECT_TRUE(id.ok()) << id.status();
    return *id;
  }

  uint32_t CreatePinned() {
    const uint32_t id = Create();
    memory.Map(1, 0x100000 + id * 0x10000, 0x2000);
    memory.Map(1, 0x108000 + id * 0x10000, 0x1000);
    const absl::Status status = pool->Pin(id, 0x100000 + id * 0x10000, 0x108000 + id * 0x10000);
    EXPECT_TRUE(status.ok()) << status;
    return id;
  }

  void RunAll() {
    for (int i = 0; i < 100; ++i) {
      const EngineState state = lists->Run(100000);
      const absl::Status status = pool->HandleEvents();
      ASSERT_TRUE(status.ok()) << status;
      if (state == EngineState::kIdle && lists->idle()) return;
    }
    FAIL() << "the engine does not become idle";
  }
};

TEST(ContextPool, AContextLivesFromCreationToDestruction) {
  World world("gfx9");
  const uint32_t id = world.Create();
  EXPECT_EQ(world.pool->Info(id)->state, ContextState::kCreated);
  const std::vector<uint32_t> request = {1, 2};
  EXPECT_TRUE(absl::IsFailedPrecondition(world.pool->Submit(id, request)));
  world.memory.Map(1, 0x100000, 0x2000);
  world.memory.Map(1, 0x108000, 0x1000);
  ASSERT_TRUE(world.pool->Pin(id, 0x100000, 0x108000).ok());
  EXPECT_EQ(world.pool->Info(id)->state, ContextState::kPinned);
  EXPECT_EQ(world.pool->Info(id)->descriptor, uint64_t{id} << 32 | 0x100119);
  ASSERT_TRUE(world.pool->Submit(id, request).ok());
  EXPECT_EQ(world.pool->Info(id)->state, ContextState::kSubmitted);
  EXPECT_TRUE(absl::IsFailedPrecondition(world.pool->Unpin(id)));
  world.RunAll();
  EXPECT_EQ(world.pool->Info(id)->state, ContextState::kPinned);
  EXPECT_EQ(world.pool->Info(id)->head, 8u);
  EXPECT_TRUE(absl::IsFailedPrecondition(world.pool->Destroy(id)));
  ASSERT_TRUE(world.pool->Unpin(id).ok());
  ASSERT_TRUE(world.pool->Destroy(id).ok());
  EXPECT_TRUE(absl::IsNotFound(world.pool->Info(id).status()));
  EXPECT_THAT(world.runner.executed, ElementsAre(1, 2));
}

TEST(ContextPool, AContextGoesOnWhereItWasWhenItIsPinnedAgain) {
  World world("gfx12");
  const uint32_t id = world.CreatePinned();
  ASSERT_TRUE(world.pool->Submit(id, std::vector<uint32_t>{1, 2}).ok());
  world.RunAll();
  ASSERT_TRUE(world.pool->Unpin(id).ok());
  world.memory.Map(1, 0x500000, 0x2000);
  world.memory.Map(1, 0x508000, 0x1000);
  ASSERT_TRUE(world.pool->Pin(id, 0x500000, 0x508000).ok());
  ASSERT_TRUE(world.pool->Submit(id, std::vector<uint32_t>{3, 4}).ok());
  world.RunAll();
  EXPECT_THAT(world.runner.executed, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(world.runner.registers[0x2600], 10u);
}

TEST(ContextPool, ABannedContextIsNotExecutedAndTheOthersAre) {
  World world("gfx9");
  const uint32_t bad = world.CreatePinned();
  const uint32_t good = world.CreatePinned();
  ASSERT_TRUE(world.pool->Submit(bad, std::vector<uint32_t>{1, FakeRunner::kFault}).ok());
  ASSERT_TRUE(world.pool->Submit(good, std::vector<uint32_t>{10, 20}).ok());
  EXPECT_EQ(world.lists->Run(1000), EngineState::kFault);
  ASSERT_TRUE(world.pool->HandleEvents().ok());
  ASSERT_TRUE(world.pool->Ban(bad).ok());
  EXPECT_TRUE(world.pool->Info(bad)->banned);
  EXPECT_TRUE(absl::IsFailedPrecondition(world.pool->Submit(bad, std::vector<uint32_t>{2})));
  world.RunAll();
  EXPECT_THAT(world.runner.executed, ElementsAre(1, 10, 20));
  EXPECT_TRUE(world.pool->Unpin(bad).ok());
  EXPECT_TRUE(world.pool->Destroy(bad).ok());
}

TEST(ContextPool, AFullRingIsAnErrorUntilTheEngineHasReadIt) {
  World world("gfx9");
  const uint32_t id = world.CreatePinned();
  const std::vector<uint32_t> large(480, 1);
  ASSERT_TRUE(world.pool->Submit(id, large).ok());
  ASSERT_TRUE(world.pool->Submit(id, large).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(world.pool->Submit(id, large)));
  world.RunAll();
  EXPECT_TRUE(world.pool->Submit(id, large).ok());
  world.RunAll();
  EXPECT_EQ(world.runner.executed.size(), 1440u);
}

TEST(ContextPool, AddressesWithoutMemoryAreRefused) {
  World world("gfx9");
  const uint32_t id = world.Create();
  EXPECT_TRUE(absl::IsNotFound(world.pool->Pin(id, 0x700000, 0x708000)));
  EXPECT_EQ(world.pool->Info(id)->state, ContextState::kCreated);
  EXPECT_TRUE(absl::IsNotFound(world.pool->Pin(99, 0x700000, 0x708000)));
  EXPECT_TRUE(absl::IsInvalidArgument(world.pool->Create({}).status()));
}

// Each context's requests are executed in their order and once, in all encodings of events.
TEST(ContextPool, RandomLivesExecuteEachRequestOnce) {
  for (const char* generation : {"gfx8", "gfx11", "gfx12", "xe2"}) {
    std::mt19937 random(4);
    World world(generation);
    std::vector<uint32_t> ids;
    for (int i = 0; i < 4; ++i) ids.push_back(world.CreatePinned());
    std::map<uint32_t, std::vector<uint32_t>> expected;
    for (int step = 0; step < 500; ++step) {
      const uint32_t id = ids[random() % ids.size()];
      if (random() % 3 != 0) {
        std::vector<uint32_t> request(1 + random() % 20);
        for (uint32_t& command : request) command = id << 20 | (1 + random() % 1000);
        const absl::Status status = world.pool->Submit(id, request);
        // Commands are written before the list is submitted, which may not be refused.
        if (absl::IsResourceExhausted(status)) continue;
        ASSERT_TRUE(status.ok()) << status;
        expected[id].insert(expected[id].end(), request.begin(), request.end());
      }
      world.lists->Run(random() % 30);
      const absl::Status handled = world.pool->HandleEvents();
      ASSERT_TRUE(handled.ok()) << generation << " step " << step << ": " << handled;
    }
    world.RunAll();
    std::map<uint32_t, std::vector<uint32_t>> executed;
    for (const uint32_t command : world.runner.executed) executed[command >> 20].push_back(command);
    EXPECT_EQ(executed, expected) << generation;
  }
}

}  // namespace
}  // namespace packsmith::sim
