#include "runtime/intel/batch/engines.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "runtime/generations/generations.h"
#include "runtime/sim/streamer.h"
#include "tests/intel/batch/generations.h"
#include "tests/intel/batch/streamer.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

constexpr uint64_t kValue = 0x40000;

template <class Gen>
    struct HasSemaphores : std::bool_constant < requires {
  typename Gen::Packets::MI_SEMAPHORE_WAIT;
} > {};

template <class Gen>
class EnginesTest : public testing::Test {
 protected:
  // Runs a batch on memory that has a value.
  sim::Stop Run(Batch<Gen>& batch, gpu::HostChunks& chunks, Dwords& memory) {
    EXPECT_TRUE(batch.End().ok());
    for (const gpu::Chunk& chunk : chunks.chunks()) {
      for (size_t i = 0; i < chunk.words.size(); ++i) memory[chunk.gpu + 4 * i] = chunk.words[i];
    }
    sim::Observer observer;
    sim::Streamer streamer(tables_, memory, {.all_engines = true, .prefetch = false}, observer);
    streamer.EnterBatch(0, batch.parts()[0].chunk.gpu);
    return streamer.Run(1000);
  }
  const tables::Tables tables_ = *FindGeneration(Gen::kName);

  Dwords MemoryWith(uint64_t value) {
    Dwords memory;
    memory[kValue] = static_cast<uint32_t>(value);
    memory[kValue + 4] = static_cast<uint32_t>(value >> 32);
    return memory;
  }
};
TYPED_TEST_SUITE(EnginesTest, GenerationsWith<HasSemaphores>);

TYPED_TEST(EnginesTest, AWaitEndsWhenTheValueIsReached) {
  for (const uint32_t there : {0u, 6u, 7u, 8u, 0xffffffffu}) {
    gpu::HostChunks chunks;
    Batch<TypeParam> batch(chunks);
    EXPECT_TRUE(EmitWait(batch, address(kValue, 3), 7));
    Dwords memory = this->MemoryWith(there);
    EXPECT_EQ(this->Run(batch, chunks, memory),
              there >= 7 ? sim::Stop::kEnded : sim::Stop::kWaiting)
        << there;
  }
}

TYPED_TEST(EnginesTest, EachEngineSignalsWhatAnotherWaitsFor) {
  for (const EngineKind engine :
       {EngineKind::kRender, EngineKind::kCompute, EngineKind::kCopy, EngineKind::kVideo}) {
    Dwords memory = this->MemoryWith(0);
    {
      gpu::HostChunks chunks;
      Batch<TypeParam> batch(chunks);
      EXPECT_TRUE(EmitSignal(batch, engine, address(kValue, 3), 0x100000007));
      EXPECT_EQ(this->Run(batch, chunks, memory), sim::Stop::kEnded);
    }
    EXPECT_EQ(memory.at(kValue), 7u);
    EXPECT_EQ(memory.at(kValue + 4), 1u);
    gpu::HostChunks chunks;
    Batch<TypeParam> batch(chunks);
    EXPECT_TRUE(EmitWait(batch, address(kValue, 3), 7));
    EXPECT_EQ(this->Run(batch, chunks, memory), sim::Stop::kEnded);
  }
}

TYPED_TEST(EnginesTest, TheBufferOfAValueIsUsedByTheBatch) {
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  EXPECT_TRUE(EmitWait(batch, address(kValue, 3), 7));
  EXPECT_TRUE(EmitSignal(batch, EngineKind::kCopy, address(kValue + 8, 5), 1));
  ASSERT_TRUE(batch.End().ok());
  std::vector<uint32_t> read, written;
  for (const gpu::BufferUse& use : batch.uses().all()) {
    (use.writes() ? written : read).push_back(use.buffer);
  }
  EXPECT_THAT(read, testing::Contains(3));
  EXPECT_THAT(written, testing::Contains(5));
}

TYPED_TEST(EnginesTest, AFlushWithoutAPlaceStoresNothing) {
  for (const EngineKind engine : {EngineKind::kCopy, EngineKind::kVideo}) {
    gpu::HostChunks chunks;
    Batch<TypeParam> batch(chunks);
    EXPECT_TRUE(EmitFlush(batch, engine));
    Dwords memory = this->MemoryWith(5);
    EXPECT_EQ(this->Run(batch, chunks, memory), sim::Stop::kEnded);
    EXPECT_EQ(memory.at(kValue), 5u);
    const auto words = chunks.chunks()[0].words;
    using Flush = typename TypeParam::Packets::MI_FLUSH_DW;
    ASSERT_TRUE(Flush::matches(words[0]));
    EXPECT_EQ(Flush::unpack(words.data()).video_pipeline_cache_invalidate,
              engine == EngineKind::kVideo);
  }
}

TYPED_TEST(EnginesTest, WhatAnEngineDoesNotHaveIsRefused) {
  {
    gpu::HostChunks chunks;
    Batch<TypeParam> batch(chunks);
    EXPECT_FALSE(EmitFlush(batch, EngineKind::kRender));
    EXPECT_THAT(batch.End().message(), HasSubstr("EmitBarrier()"));
  }
  for (const EngineKind engine : {EngineKind::kRender, EngineKind::kCopy}) {
    gpu::HostChunks chunks;
    Batch<TypeParam> batch(chunks);
    EXPECT_FALSE(EmitSignal(batch, engine, address(kValue + 4, 3), 1));
    EXPECT_THAT(batch.End().message(), HasSubstr("multiple of 8"));
  }
}

}  // namespace
}  // namespace packsmith::intel
