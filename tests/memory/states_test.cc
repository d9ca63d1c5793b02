#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/memory/bit_tree.h"
#include "runtime/memory/host_device.h"
#include "runtime/memory/state_pool.h"
#include "runtime/memory/state_stream.h"
#include "tests/memory/failing_device.h"

namespace packsmith::gpu {
namespace {

TEST(BitTree, IsASet) {
  std::mt19937 random(1);
  for (const size_t size : {1, 63, 64, 65, 4095, 4096, 4097, 300000}) {
    BitTree tree;
    std::set<size_t> model;
    EXPECT_FALSE(tree.Least().has_value());
    // Grows in three steps, with members.
    for (const size_t part : {size / 3, size / 2, size}) {
      tree.Grow(part);
      for (int i = 0; part > 0 && i < 500; ++i) {
        const size_t n = random() % part;
        if (random() % 3 != 0) {
          tree.Insert(n);
          model.insert(n);
        } else {
          tree.Erase(n);
          model.erase(n);
        }
        ASSERT_EQ(tree.Contains(n), model.count(n) == 1);
        ASSERT_EQ(tree.Least(), model.empty() ? std::nullopt : std::optional(*model.begin()));
      }
    }
    EXPECT_FALSE(tree.Contains(size + 64));
    while (!model.empty()) {
      ASSERT_EQ(tree.Least(), *model.begin());
      tree.Erase(*model.begin());
      model.erase(model.begin());
    }
    EXPECT_FALSE(tree.Least().has_value());
  }
}

constexpr ZoneId kStates{0};

class StatesTest : public testing::Test {
 protected:
  StatesTest()
      : device_(*HostDevice::Create()),
        failing_(*device_),
        addresses_(*AddressSpace::Create({{"states", 4 * kGiB + 256 * kKiB, 5 * kGiB}})),
        buffers_(Buffers::Create(failing_, *addresses_, {.cache_bytes = 0})) {}

  std::unique_ptr<StatePool> Make(StatePool::Options options = {}) {
    options.zone = kStates;
    auto pool = StatePool::Create(*buffers_, *addresses_, options);
    EXPECT_TRUE(pool.ok()) << pool.status();
    return *std::move(pool);
  }
  static State Must(absl::StatusOr<State> state) {
    EXPECT_TRUE(state.ok()) << state.status();
    return state.ok() ? *state : State{};
  }

  std::unique_ptr<HostDevice> device_;
  FailingDevice failing_;
  std::unique_ptr<AddressSpace> addresses_;
  std::unique_ptr<Buffers> buffers_;
};

TEST_F(StatesTest, OffsetsCountFromTheZone) {
  auto pool = Make();
  EXPECT_EQ(pool->base(), 4 * kGiB + 256 * kKiB);
  const State state = Must(pool->Allocate(100));
  EXPECT_EQ(state.address, pool->base() + state.offset);
  EXPECT_EQ(state.size, 128u);
  std::memset(state.cpu, 0x77, state.size);
  uint8_t read[128];
  ASSERT_TRUE(device_->Read(0, state.address, absl::MakeSpan(read)).ok());
  EXPECT_EQ(read[127], 0x77);
  EXPECT_LE(buffers_->Get(state.buffer)->address, state.address);
}

TEST_F(StatesTest, OffsetsMayCountFromElsewhere) {
  auto pool = Make({.base = 4 * kGiB});
  EXPECT_EQ(pool->base(), 4 * kGiB);
  const State state = Must(pool->Allocate(64));
  EXPECT_EQ(state.offset, 16 * kMiB);
  EXPECT_EQ(state.address, 4 * kGiB + 16 * kMiB);
  EXPECT_TRUE(pool->Free(state.offset).ok());
}

TEST_F(StatesTest, StatesArePowersOfTwoAndAligned) {
  auto pool = Make({.smallest = 32});
  EXPECT_EQ(Must(pool->Allocate(1)).size, 32u);
  EXPECT_EQ(Must(pool->Allocate(33)).size, 64u);
  for (uint64_t size = 32; size <= 16 * kMiB; size *= 2) {
    const State state = Must(pool->Allocate(size));
    EXPECT_EQ(state.size, size);
    EXPECT_EQ(state.address % size, 0u);
  }
  EXPECT_EQ(Must(pool->Allocate(32, 4096)).address % 4096, 0u);
}

TEST_F(StatesTest, RefusesWhatMakesNoSense) {
  auto pool = Make();
  for (const auto& [size, alignment] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, 1}, {64, 0}, {64, 3}, {16 * kMiB + 1, 1}, {64, 32 * kMiB}, {~uint64_t{0}, 1}}) {
    EXPECT_EQ(pool->Allocate(size, alignment).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(pool->statistics().blocks, 0u);
  const StatePool::Options kBad[] = {
      {.smallest = 48},
      {.smallest = 0},
      {.first_block = 2048},
      {.first_block = 1 << 20, .largest_block = 1 << 19},
      {.largest_block = uint64_t{3} << 20},
      {.zone = ZoneId{3}},
      {.end = 5 * kGiB},
      {.base = 4 * kGiB + 260 * kKiB},
      {.base = uint64_t{1} << 50},
      {.base = 0},
      {.begin = kGiB},
      {.begin = 700 * kMiB, .end = 600 * kMiB},
      {.heap = Heap::kLocal},
  };
  for (const StatePool::Options& bad : kBad) {
    EXPECT_EQ(StatePool::Create(*buffers_, *addresses_, bad).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(StatesTest, FreedStatesMergeAgain) {
  auto pool = Make();
  std::vector<State> states;
  for (int i = 0; i < 4096; ++i) states.push_back(Must(pool->Allocate(64)));
  EXPECT_EQ(pool->statistics().memory_bytes, 256 * kKiB) << "full to the last byte";
  std::shuffle(states.begin(), states.end(), std::mt19937(1));
  for (const State& state : states) ASSERT_TRUE(pool->Free(state.offset).ok());
  ASSERT_TRUE(pool->Verify().ok()) << pool->Verify();
  EXPECT_EQ(Must(pool->Allocate(256 * kKiB)).size, 256 * kKiB);
  EXPECT_EQ(pool->statistics().blocks, 1u) << "one large state where the small ones were";
}

TEST_F(StatesTest, DoubleAndForeignFreesAreErrors) {
  auto pool = Make();
  const State a = Must(pool->Allocate(256)), b = Must(pool->Allocate(256));
  ASSERT_TRUE(pool->Free(a.offset).ok());
  for (const uint32_t offset :
       {a.offset, b.offset + 64, b.offset + 1, 0u, b.offset + (1u << 30), ~0u}) {
    EXPECT_EQ(pool->Free(offset).code(), absl::StatusCode::kNotFound) << offset;
  }
  EXPECT_TRUE(pool->Verify().ok());
  EXPECT_EQ(pool->statistics().live_states, 1u);
}

TEST_F(StatesTest, BlocksGrowAndAreReturned) {
  auto pool = Make({.first_block = 64 * kKiB, .largest_block = 256 * kKiB});
  std::vector<State> states;
  for (int i = 0; i < 16; ++i) states.push_back(Must(pool->Allocate(64 * kKiB)));
  EXPECT_EQ(pool->statistics().blocks, 2u + 1 + 3) << "64, 64, 128, then 256 KiB each";
  EXPECT_EQ(device_->memory_in_use(), 1024 * kKiB);
  std::set<BufferHandle> buffers;
  for (const State& state : states) buffers.insert(state.buffer);
  EXPECT_EQ(buffers.size(), 6u);
  for (int i = 15; i >= 5; --i) ASSERT_TRUE(pool->Free(states[i].offset).ok());
  ASSERT_TRUE(pool->Trim().ok());
  EXPECT_EQ(device_->memory_in_use(), 512 * kKiB) << "the fifth is in the block of 256 KiB";
  ASSERT_TRUE(pool->Free(states[4].offset).ok());
  ASSERT_TRUE(pool->Trim().ok());
  EXPECT_EQ(device_->memory_in_use(), 256 * kKiB);
  ASSERT_TRUE(pool->Verify().ok()) << pool->Verify();
  EXPECT_EQ(Must(pool->Allocate(64 * kKiB)).offset, states[4].offset) << "and it grows again";
  ASSERT_TRUE(pool->Verify().ok()) << pool->Verify();
}

TEST_F(StatesTest, WhatTheDeviceDoesNotTakeBackIsNotGivenOut) {
  auto pool = Make({.first_block = 64 * kKiB, .largest_block = 64 * kKiB});
  const State kept = Must(pool->Allocate(64 * kKiB));
  const State gone = Must(pool->Allocate(64 * kKiB));
  ASSERT_TRUE(pool->Free(gone.offset).ok());
  failing_.refuses_unbind = true;
  EXPECT_EQ(pool->Trim().code(), absl::StatusCode::kInternal);
  failing_.refuses_unbind = false;
  EXPECT_TRUE(pool->Verify().ok()) << pool->Verify();
  EXPECT_EQ(pool->statistics().blocks, 1u);
  EXPECT_FALSE(buffers_->Get(gone.buffer).ok());
  EXPECT_FALSE(pool->Allocate(64).ok()) << "its addresses are still bound";
  EXPECT_TRUE(pool->Free(kept.offset).ok());
  EXPECT_EQ(Must(pool->Allocate(64)).offset, kept.offset);
}

TEST_F(StatesTest, AStateLiesWithinOneBlock) {
  auto pool = Make({.first_block = 64 * kKiB, .largest_block = 256 * kKiB});
  const State large = Must(pool->Allocate(256 * kKiB));
  const Buffer buffer = *buffers_->Get(large.buffer);
  EXPECT_EQ(buffer.size, 256 * kKiB);
  EXPECT_EQ(buffer.address, large.address);
  // The free memory before it is in three blocks that do not merge with each other.
  EXPECT_EQ(Must(pool->Allocate(128 * kKiB)).offset + 128 * kKiB, large.offset);
  const uint64_t blocks = pool->statistics().blocks;
  Must(pool->Allocate(64 * kKiB));
  Must(pool->Allocate(64 * kKiB));
  EXPECT_EQ(pool->statistics().blocks, blocks);
}

TEST_F(StatesTest, AllOfTheRoomCanBeUsed) {
  // Five blocks of the first size: the last one cannot be as large as those before it together.
  const uint64_t begin = 16 * kMiB - 256 * kKiB;
  auto pool = Make({.begin = begin,
                    .end = begin + 5 * 64 * kKiB,
                    .first_block = 64 * kKiB,
                    .largest_block = 16 * kMiB});
  for (int i = 0; i < 5; ++i) Must(pool->Allocate(64 * kKiB));
  const auto full = pool->Allocate(64);
  EXPECT_EQ(full.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(pool->Verify().ok());
  EXPECT_EQ(pool->Allocate(kMiB).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(StatesTest, ATakenAddressIsAnError) {
  auto pool = Make();
  const auto other =
      addresses_->Allocate(kStates, {.size = 4096, .address = 4 * kGiB + 16 * kMiB + 256 * kKiB});
  ASSERT_TRUE(other.ok()) << other.status();
  Must(pool->Allocate(256 * kKiB));
  EXPECT_EQ(pool->Allocate(64).status().code(), absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(addresses_->Free(kStates, other->handle).ok());
  Must(pool->Allocate(64));
}

TEST_F(StatesTest, EachStepOfGrowthCanFail) {
  for (int step = 0; step < 3; ++step) {
    auto pool = Make();
    failing_.FailAfter(step);
    EXPECT_FALSE(pool->Allocate(64).ok());
    failing_.FailAfter(-1);
    EXPECT_EQ(device_->memory_in_use(), 0u);
    EXPECT_TRUE(pool->Verify().ok());
    Must(pool->Allocate(64));
  }
}

TEST_F(StatesTest, BlocksForALargeStateAreThereOrNone) {
  // Blocks of 64, 64, 128 and 256 KiB: each takes memory and a place for the CPU.
  auto pool = Make({.first_block = 64 * kKiB, .largest_block = 256 * kKiB});
  for (int step = 0; step < 8; ++step) {
    failing_.FailAfter(step);
    const auto state = pool->Allocate(256 * kKiB);
    EXPECT_THAT(std::string(state.status().message()), testing::HasSubstr(" of 4 (\"states\")"));
    failing_.FailAfter(-1);
    EXPECT_EQ(device_->memory_in_use(), 0u);
    EXPECT_EQ(pool->statistics().blocks, 0u);
    EXPECT_TRUE(pool->Verify().ok());
  }
  Must(pool->Allocate(256 * kKiB));
  EXPECT_EQ(pool->statistics().blocks, 4u);
}

TEST_F(StatesTest, RandomStatesDoNotOverlap) {
  auto pool = Make({.first_block = 64 * kKiB, .largest_block = kMiB});
  std::mt19937 random(1);
  std::vector<State> live;
  std::map<uint32_t, uint64_t> extents;
  for (int step = 0; step < 20000; ++step) {
    if (!live.empty() && random() % 100 < (step < 15000 ? 48u : 55u)) {
      std::swap(live[random() % live.size()], live.back());
      ASSERT_TRUE(pool->Free(live.back().offset).ok());
      extents.erase(live.back().offset);
      live.pop_back();
      if (random() % 100 == 0) {
        ASSERT_TRUE(pool->Trim().ok());
      }
    } else {
      const uint64_t size = 1 + random() % (uint64_t{64} << (random() % 12));
      const uint64_t alignment = uint64_t{1} << (random() % 12);
      const State state = Must(pool->Allocate(size, alignment));
      ASSERT_GE(state.size, size);
      ASSERT_EQ(state.address % alignment, 0u);
      ASSERT_EQ(state.address, pool->base() + state.offset);
      const Buffer buffer = *buffers_->Get(state.buffer);
      ASSERT_GE(state.address, buffer.address);
      ASSERT_LE(state.address + state.size, buffer.address + buffer.size);
      ASSERT_EQ(state.cpu - buffer.cpu, static_cast<long>(state.address - buffer.address));
      const auto next = extents.lower_bound(state.offset);
      ASSERT_TRUE(next == extents.end() || next->first >= state.offset + state.size);
      ASSERT_TRUE(next == extents.begin() ||
                  std::prev(next)->first + std::prev(next)->second <= state.offset);
      extents[state.offset] = state.size;
      live.push_back(state);
    }
    if (step % 500 == 0) {
      ASSERT_TRUE(pool->Verify().ok()) << pool->Verify();
    }
    ASSERT_EQ(pool->statistics().live_states, live.size());
    ASSERT_EQ(pool->statistics().memory_bytes, device_->memory_in_use());
  }
  for (const State& state : live) ASSERT_TRUE(pool->Free(state.offset).ok());
  ASSERT_TRUE(pool->Trim().ok());
  EXPECT_EQ(device_->memory_in_use(), 0u);
}

TEST_F(StatesTest, ThreadsMayShareAPool) {
  auto pool = Make();
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      std::mt19937 random(t);
      StateStream stream(*pool, 4096);
      std::vector<State> live;
      for (int i = 0; i < 1000; ++i) {
        if (!live.empty() && random() % 2 == 0) {
          EXPECT_EQ(live.back().cpu[0], t);
          EXPECT_TRUE(pool->Free(live.back().offset).ok());
          live.pop_back();
        } else {
          live.push_back(*pool->Allocate(1 + random() % 5000));
          live.back().cpu[0] = t;
          EXPECT_TRUE(stream.Allocate(1 + random() % 300, 64).ok());
        }
      }
      for (const State& state : live) EXPECT_TRUE(pool->Free(state.offset).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool->statistics().live_states, 0u);
  EXPECT_TRUE(pool->Verify().ok()) << pool->Verify();
}

TEST_F(StatesTest, AStreamGivesOneAfterTheOther) {
  auto pool = Make();
  StateStream stream(*pool, 1024);
  const State a = Must(stream.Allocate(100, 4)), b = Must(stream.Allocate(32, 64)),
              c = Must(stream.Allocate(1024, 64)), d = Must(stream.Allocate(1, 1)),
              e = Must(stream.Allocate(5000, 64));
  EXPECT_EQ(b.offset, a.offset + 128);
  EXPECT_EQ(b.cpu, a.cpu + 128);
  EXPECT_NE(c.offset, a.offset);
  EXPECT_EQ(c.offset % 1024, 0u);
  EXPECT_NE(d.offset, a.offset + 160) << "the stream does not return to a block that it has left";
  EXPECT_EQ(e.size, 8192u);
  EXPECT_EQ(stream.used(), 1024 + 1024 + 1 + 8192u);
  EXPECT_FALSE(stream.Allocate(0, 4).ok());
  EXPECT_FALSE(stream.Allocate(4, 3).ok());
  EXPECT_FALSE(stream.Allocate(17 * kMiB, 4).ok());
  EXPECT_EQ(stream.used(), 1024 + 1024 + 1 + 8192u);
  ASSERT_TRUE(stream.Rewind().ok());
  EXPECT_EQ(stream.used(), 0u);
  EXPECT_EQ(pool->statistics().live_bytes, 3 * 1024u);
  EXPECT_EQ(Must(stream.Allocate(100, 4)).offset, a.offset);
  EXPECT_EQ(Must(stream.Allocate(1000, 4)).offset, c.offset);
}

TEST_F(StatesTest, AStreamGivesItsBlocksBack) {
  auto pool = Make();
  {
    StateStream stream(*pool, 4096);
    for (int i = 0; i < 100; ++i) Must(stream.Allocate(1000, 64));
    Must(stream.Allocate(5000, 64));
    EXPECT_EQ(pool->statistics().live_states, 26u);
  }
  EXPECT_EQ(pool->statistics().live_states, 0u);
}

TEST_F(StatesTest, AStreamThatFindsNoRoomIsAsItWas) {
  const uint64_t begin = 16 * kMiB - 256 * kKiB;
  auto pool = Make({.begin = begin, .end = begin + 64 * kKiB, .first_block = 64 * kKiB});
  StateStream stream(*pool, 32 * kKiB);
  Must(stream.Allocate(20000, 64));
  const State last = Must(stream.Allocate(20000, 64));
  const uint64_t used = stream.used();
  EXPECT_EQ(stream.Allocate(20000, 64).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(stream.Allocate(40000, 64).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(stream.used(), used);
  EXPECT_EQ(Must(stream.Allocate(64, 64)).offset, last.offset + 20032);
}

}  // namespace
}  // namespace packsmith::gpu
