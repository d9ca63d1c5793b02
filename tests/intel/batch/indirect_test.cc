// Indirect draws, run by a command streamer in software: what is drawn is what memory contains.
#include "runtime/intel/batch/indirect.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/generations.h"
#include "tests/intel/batch/streamer.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kArguments = 0x10000, kCount = 0x20000;
constexpr size_t kWords = 512;

template <class Gen>
class IndirectTest : public testing::Test {
 protected:
  using G = typename Gen::Packets;
  using Plain = typename G::_3DPRIMITIVE;
  using Draw = typename Streamer<Gen>::Draw;
  static constexpr bool kOnePacket = Gen::kVersion >= 200;

  void SetUp() override {
    for (uint32_t& word : memory_) word = static_cast<uint32_t>(random_());
    streamer_.Map(kArguments, memory_);
  }

  static Plain Indexed(bool indexed) {
    return {.vertex_access_type =
                indexed ? Plain::VERTEX_ACCESS_TYPE_RANDOM : Plain::VERTEX_ACCESS_TYPE_SEQUENTIAL};
  }
  static IndirectDraws From(uint32_t draws, uint32_t stride) {
    return {.arguments = {kArguments, 1}, .draws = draws, .stride = stride};
  }
  void SetCount(uint32_t count) { streamer_.Map(kCount, {{count}}); }
  // What memory contains; draws are numbered from 0.
  std::vector<Draw> Expected(bool indexed, bool extended, uint32_t draws, uint32_t stride) {
    std::vector<Draw> expected;
    for (uint32_t i = 0; i < draws; ++i) {
      const uint32_t* const at = memory_.data() + i * stride / 4;
      Draw draw{at[0], at[1], at[2], at[indexed ? 4 : 3], 0, indexed, {}};
      if (indexed) draw.base = static_cast<int32_t>(at[3]);
      if (extended) draw.extended = {indexed ? at[3] : at[2], draw.first_instance, i};
      expected.push_back(draw);
    }
    return expected;
  }
  template <class P>
  std::vector<Draw> Drawn(const P& draw, const IndirectDraws& from) {
    gpu::HostChunks chunks({.gpu = 0x100000, .chunk_dwords = 200});
    Batch<Gen> batch(chunks);
    EXPECT_TRUE(EmitIndirectDraws(batch, draw, from)) << batch.status();
    EXPECT_TRUE(batch.uses().Find(1).has_value());
    EXPECT_EQ(batch.uses().Find(2).has_value(), from.count.has_value());
    EXPECT_TRUE(batch.End().ok());
    dwords_ = batch.dwords();
    Streamer<Gen> streamer = streamer_;
    streamer.Map(chunks.chunks());
    EXPECT_EQ(streamer.Run(batch.parts()[0].chunk.gpu), "");
    const Decoded decoded =
        World().Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu);
    EXPECT_THAT(decoded.problems, IsEmpty());
    return streamer.draws();
  }

  std::mt19937 random_{1};
  std::vector<uint32_t> memory_ = std::vector<uint32_t>(kWords);
  Streamer<Gen> streamer_;
  size_t dwords_ = 0;
};
TYPED_TEST_SUITE(IndirectTest, Generations);

TYPED_TEST(IndirectTest, DrawsWhatStandsInMemory) {
  for (bool indexed : {false, true}) {
    const uint32_t close = indexed ? 20 : 16;
    for (uint32_t stride : {close, 24u, 64u}) {
      EXPECT_EQ(this->Drawn(this->Indexed(indexed), this->From(7, stride)),
                this->Expected(indexed, false, 7, stride));
    }
    EXPECT_EQ(this->Drawn(this->Indexed(indexed), this->From(3, 0)),
              this->Expected(indexed, false, 3, close));
  }
}

TYPED_TEST(IndirectTest, DrawsAsManyAsMemorySaysAndNoMoreThanThereMayBe) {
  for (uint32_t stride : {16u, 32u}) {
    for (uint32_t count : {0u, 1u, 4u, 5u, 6u, 0xffffffffu}) {
      this->SetCount(count);
      IndirectDraws from = this->From(5, stride);
      from.count = address(kCount, 2);
      EXPECT_EQ(this->Drawn(this->Indexed(false), from),
                this->Expected(false, false, std::min(count, 5u), stride))
          << count;
    }
  }
}

TYPED_TEST(IndirectTest, VerticesMayReadWhereADrawBegins) {
  using G = typename TypeParam::Packets;
  if constexpr (requires { typename G::_3DPRIMITIVE_EXTENDED; }) {
    using Extended = typename G::_3DPRIMITIVE_EXTENDED;
    this->SetCount(2);
    for (bool indexed : {false, true}) {
      IndirectDraws from = this->From(4, 40);
      from.count = address(kCount, 2);
      EXPECT_EQ(this->Drawn(Extended{.vertex_access_type =
                                         indexed ? Extended::VERTEX_ACCESS_TYPE_RANDOM : 0u},
                            from),
                this->Expected(indexed, true, 2, 40));
    }
  } else {
    EXPECT_LT(TypeParam::kVersion, 110u);
  }
}

TYPED_TEST(IndirectTest, OnePacketDrawsAllWhereThereIsOne) {
  this->Drawn(this->Indexed(false), this->From(1, 0));
  const size_t one = this->dwords_;
  this->Drawn(this->Indexed(false), this->From(20, 0));
  EXPECT_EQ(this->dwords_ == one, this->kOnePacket);
}

TYPED_TEST(IndirectTest, NoDrawsAreNothing) {
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  EXPECT_TRUE(EmitIndirectDraws(batch, this->Indexed(false), this->From(0, 0)));
  EXPECT_EQ(batch.dwords(), 0u);
}

TYPED_TEST(IndirectTest, WhatIsNotAlignedIsRefused) {
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  EXPECT_FALSE(EmitIndirectDraws(batch, this->Indexed(false), this->From(2, 18)));
  EXPECT_THAT(batch.TakeStatus().message(), HasSubstr("is 18 bytes"));
  IndirectDraws from = this->From(2, 0);
  from.arguments.gpu += 2;
  EXPECT_FALSE(EmitIndirectDraws(batch, this->Indexed(false), from));
  EXPECT_FALSE(batch.TakeStatus().ok());
  EXPECT_EQ(batch.dwords(), 0u);
}

TYPED_TEST(IndirectTest, ADispatchTakesItsGroupsFromMemory) {
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  ASSERT_TRUE(LoadDispatchArguments(batch, {kArguments + 8, 1}));
  ASSERT_TRUE(batch.End().ok());
  Streamer<TypeParam> streamer = this->streamer_;
  streamer.Map(chunks.chunks());
  ASSERT_EQ(streamer.Run(batch.parts()[0].chunk.gpu), "");
  using G = typename TypeParam::Packets;
  EXPECT_THAT((std::array{streamer.Register(G::GPGPU_DISPATCHDIMX::register_offset),
                          streamer.Register(G::GPGPU_DISPATCHDIMY::register_offset),
                          streamer.Register(G::GPGPU_DISPATCHDIMZ::register_offset)}),
              ElementsAre(this->memory_[2], this->memory_[3], this->memory_[4]));
}

TYPED_TEST(IndirectTest, ComputeEnginesLoadTheirOwnRegisters) {
  const tables::Tables tables = *FindGeneration(TypeParam::kName);
  const uint32_t compute = tables.FindEngine("compute");
  if (compute == tables::kNone) return;
  const uint32_t apart =
      tables.engines()[compute].registers - tables.engines()[tables.FindEngine("render")].registers;
  ASSERT_NE(apart, 0u);
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  ASSERT_TRUE(LoadDispatchArguments(batch, {kArguments + 8, 1}));
  ASSERT_TRUE(batch.End().ok());
  Streamer<TypeParam> streamer("compute");
  streamer.Map(kArguments, this->memory_);
  streamer.Map(chunks.chunks());
  ASSERT_EQ(streamer.Run(batch.parts()[0].chunk.gpu), "");
  using G = typename TypeParam::Packets;
  EXPECT_THAT((std::array{streamer.Register(G::GPGPU_DISPATCHDIMX::register_offset + apart),
                          streamer.Register(G::GPGPU_DISPATCHDIMY::register_offset + apart),
                          streamer.Register(G::GPGPU_DISPATCHDIMZ::register_offset + apart)}),
              ElementsAre(this->memory_[2], this->memory_[3], this->memory_[4]));
  EXPECT_EQ(streamer.Register(G::GPGPU_DISPATCHDIMX::register_offset), 0u);
}

}  // namespace
}  // namespace packsmith::intel
