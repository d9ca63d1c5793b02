#include "runtime/sim/contexts/ring.h"

#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "tests/sim/contexts/fake_memory.h"

namespace packsmith::sim {
namespace {

constexpr uint64_t kRing = 0x100000;

struct World {
  FakeMemory memory;
  std::vector<Ring> ring;
  World() {
    memory.Map(1, kRing, 4096);
    ring.push_back(*Ring::Make(memory, 1, kRing, 4096));
  }
  Ring* operator->() { return &ring.front(); }
};

TEST(Ring, ARequestIsPaddedToAQword) {
  World world;
  const std::vector<uint32_t> three = {11, 12, 13};
  EXPECT_EQ(*world->Write(three, 0), 16u);
  EXPECT_EQ(world.memory.Dword(1, kRing + 8), 13u);
  EXPECT_EQ(world.memory.Dword(1, kRing + 12), 0u);
  EXPECT_EQ(world->tail(), 16u);
}

TEST(Ring, ARequestThatDoesNotFitTheEndBeginsAnewAfterNoops) {
  World world;
  ASSERT_TRUE(world->Reset(4096 - 8).ok());
  world.memory.Put(1, kRing + 4088, 0x1111111122222222, 8);
  const std::vector<uint32_t> four = {1, 2, 3, 4};
  EXPECT_EQ(world->Needed(4), 24u);
  EXPECT_EQ(*world->Write(four, 4096 - 8), 16u);
  EXPECT_EQ(world.memory.Qword(1, kRing + 4088), 0u);
  EXPECT_EQ(world.memory.Dword(1, kRing), 1u);
}

TEST(Ring, ARequestUpToTheEndLeavesTheTailAtZero) {
  World world;
  ASSERT_TRUE(world->Reset(4096 - 8).ok());
  EXPECT_EQ(*world->Write(std::vector<uint32_t>{1, 2}, 4096 - 8), 0u);
}

TEST(Ring, ACacheLineBeforeTheHeadStaysFree) {
  World world;
  EXPECT_EQ(world->Free(0), 4096u - 64);
  for (const size_t dwords : {496, 496, 16}) {
    ASSERT_TRUE(world->Write(std::vector<uint32_t>(dwords, 7), 0).ok());
  }
  EXPECT_EQ(world->tail(), 4096u - 64);
  EXPECT_EQ(world->Free(0), 0u);
  const absl::StatusOr<uint32_t> full = world->Write(std::vector<uint32_t>{1, 2}, 0);
  EXPECT_TRUE(absl::IsResourceExhausted(full.status())) << full.status();
  EXPECT_EQ(world->tail(), 4096u - 64);
  // The engine has read half of it.
  EXPECT_EQ(world->Free(2048), 2048u);
}

TEST(Ring, WhatNeverFitsIsAnotherError) {
  World world;
  EXPECT_TRUE(absl::IsInvalidArgument(world->Write(std::vector<uint32_t>(497), 0).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(world->Write(std::vector<uint32_t>(2), 4096).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(world->Reset(4)));
  FakeMemory memory;
  EXPECT_FALSE(Ring::Make(memory, 1, 0, 12288).ok());
  EXPECT_FALSE(Ring::Make(memory, 1, 0, 4u << 20).ok());
  EXPECT_FALSE(Ring::Make(memory, 1, 0x100, 4096).ok());
}

TEST(Ring, MissingMemoryLeavesTheTail) {
  FakeMemory memory;
  memory.Map(1, kRing, 4096);
  Ring ring = *Ring::Make(memory, 1, kRing, 8192);
  ASSERT_TRUE(ring.Reset(4096).ok());
  EXPECT_TRUE(absl::IsNotFound(ring.Write(std::vector<uint32_t>{1, 2}, 4096).status()));
  EXPECT_EQ(ring.tail(), 4096u);
}

// A reader that skips NOOPs sees all requests in their order, whatever their sizes are.
TEST(Ring, AReaderSeesWhatWasWritten) {
  std::mt19937 random(3);
  World world;
  std::deque<uint32_t> expected;
  uint32_t head = 0, next = 1;
  for (int i = 0; i < 20000; ++i) {
    if (random() % 2 == 0) {
      std::vector<uint32_t> request(1 + random() % 40);
      for (uint32_t& dword : request) dword = next++;
      const absl::StatusOr<uint32_t> tail = world->Write(request, head);
      if (!tail.ok()) {
        ASSERT_TRUE(absl::IsResourceExhausted(tail.status())) << tail.status();
        next -= static_cast<uint32_t>(request.size());
        continue;
      }
      expected.insert(expected.end(), request.begin(), request.end());
      ASSERT_EQ(*tail % 8, 0u);
    }
    for (uint32_t steps = random() % 50; steps != 0 && head != world->tail(); --steps) {
      const uint32_t dword = world.memory.Dword(1, kRing + head);
      head = (head + 4) % 4096;
      if (dword == 0) continue;
      ASSERT_FALSE(expected.empty());
      ASSERT_EQ(dword, expected.front());
      expected.pop_front();
    }
    if (head == world->tail()) {
      ASSERT_TRUE(expected.empty());
    }
  }
}

}  // namespace
}  // namespace packsmith::sim
