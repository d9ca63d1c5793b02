// Draws that a shader writes, run by a command streamer in software; the shader is a function.
#include "runtime/intel/batch/generated_draws.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/generations.h"
#include "tests/intel/batch/streamer.h"

namespace packsmith::intel {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kBlock = 0x10000, kCount = 0x20000, kVertices = 0x30000;
constexpr uint32_t kItems = 7;

// Memory that has been used before.
class UsedChunks : public gpu::HostChunks {
 public:
  using gpu::HostChunks::HostChunks;
  absl::StatusOr<gpu::Chunk> NewChunk(size_t dwords) override {
    absl::StatusOr<gpu::Chunk> chunk = gpu::HostChunks::NewChunk(dwords);
    if (chunk.ok()) std::fill(chunk->words.begin(), chunk->words.end(), 0xdeadbeef);
    return chunk;
  }
};

template <class Gen>
struct DispatchOf {
  using G = typename Gen::Packets;
  static auto Choose() {
    if constexpr (requires { typename G::COMPUTE_WALKER; }) {
      return typename G::COMPUTE_WALKER{.body = {.post_sync = {.mocs = 2}}};
    } else {
      return typename G::GPGPU_WALKER();
    }
  }
};

template <class Gen>
class GeneratedDrawsTest : public testing::Test {
 protected:
  using G = typename Gen::Packets;
  using Packet = typename GeneratedDraw<Gen>::Packet;
  using Machine = Streamer<Gen>;
  using Draw = typename Machine::Draw;

  static Packet DrawOf(uint32_t number) {
    Packet draw{.vertex_count_per_instance = 3 * number + 1,
                .start_vertex_location = 100 + number,
                .instance_count = number % 5 + 1};
    if constexpr (requires { draw.extended_parameter_2; }) draw.extended_parameter_2 = number;
    return draw;
  }
  static std::vector<Draw> Expected(uint32_t draws) {
    std::vector<Draw> expected;
    for (uint32_t i = 0; i < draws; ++i) {
      Draw draw{3 * i + 1, i % 5 + 1, 100 + i, 0, 0, false, {}};
      if constexpr (requires(Packet p) { p.extended_parameter_2; }) draw.extended[2] = i;
      expected.push_back(draw);
    }
    return expected;
  }
  // One item, as a shader would write it.
  static std::vector<uint32_t> Item(const GeneratedPlace& place, uint32_t vertex_buffers,
                                    std::optional<uint32_t> number) {
    std::vector<uint32_t> words(place.stride / 4, BatchCommandsOf<Gen>::kNoop.dw[0]);
    if (!number.has_value()) return words;
    if (vertex_buffers != 0) {
      using Vertices = typename G::_3DSTATE_VERTEX_BUFFERS;
      std::vector<typename Vertices::ps_item> items(vertex_buffers);
      for (uint32_t i = 0; i < vertex_buffers; ++i) {
        items[i].vertex_buffer_index = i;
        items[i].address_modify_enable = true;
        items[i].mocs = 2;
        items[i].buffer_starting_address = address(kVertices + 64 * *number + 16 * i, 9);
        items[i].buffer_size = 16;
      }
      EXPECT_FALSE(Vertices().template pack<checks::on>(
          words.data(), {items.data(), static_cast<unsigned>(items.size())}));
    }
    EXPECT_FALSE(DrawOf(*number).template pack<checks::on>(words.data() + place.draw_at / 4));
    return words;
  }
  static void MapBlock(Machine& machine) {
    const std::vector<uint32_t> garbage(sizeof(DrawRingBlock) / 4, 0xdeadbeef);
    machine.Map(kBlock, garbage);
  }
  // Fills the ring.
  static void Shade(Machine& machine, const DrawRing<Gen>& ring) {
    const auto read = [&](size_t member) { return machine.ShaderRead32(kBlock + member); };
    const uint32_t base = read(offsetof(DrawRingBlock, draw_base));
    const uint32_t draws = read(offsetof(DrawRingBlock, draws));
    const uint32_t items = read(offsetof(DrawRingBlock, items));
    ASSERT_EQ(items, ring.items());
    for (uint32_t i = 0; i < items; ++i) {
      std::optional<uint32_t> number;
      if (base + i < draws) number = base + i;
      machine.ShaderWrite(ring.place().first.gpu + uint64_t{i} * ring.place().stride,
                          Item(ring.place(), ring.vertex_buffers(), number));
    }
  }
  static bool Dispatch(Batch<Gen>& batch) { return batch.Emit(DispatchOf<Gen>::Choose()); }

  // The batch is run twice; what each run has drawn is checked.
  void Run(uint32_t draws, std::optional<uint32_t> count, uint32_t vertex_buffers) {
    SCOPED_TRACE(testing::Message() << draws << " draws, " << vertex_buffers << " vertex buffers");
    UsedChunks ring_chunks({.gpu = 0x900000, .first_buffer = 100, .chunk_dwords = 8});
    const DrawRing<Gen> ring(ring_chunks, {.items = kItems, .vertex_buffers = vertex_buffers});
    ASSERT_TRUE(ring.status().ok()) << ring.status();
    gpu::HostChunks chunks({.gpu = 0x100000, .chunk_dwords = 60});
    Batch<Gen> batch(chunks);
    RingDraws from{.block = {kBlock, 50}, .draws = draws};
    if (count.has_value()) from.count = address(kCount, 51);
    ASSERT_TRUE(EmitRing(batch, ring, from, [&] { return Dispatch(batch); })) << batch.status();
    ASSERT_TRUE(batch.End().ok());
    EXPECT_TRUE(batch.uses().Find(50)->writes());
    EXPECT_TRUE(batch.uses().Find(ring.entry().buffer)->writes());
    EXPECT_EQ(batch.uses().Find(51).has_value(), count.has_value());

    const Decoded decoded = World()
                                .Put(ring_chunks.chunks())
                                .Put(chunks.chunks())
                                .Decode(Gen::kName, batch.parts()[0].chunk.gpu);
    EXPECT_THAT(decoded.problems, IsEmpty());
    EXPECT_THAT(decoded.packets, Each(testing::Field(&Met::faults, 0u)));
    const auto in_ring = [&](const Met& met) {
      return met.address >= ring.place().first.gpu &&
             met.address < ring.place().first.gpu + ring.place().view.size() * 4;
    };
    EXPECT_GT(std::count_if(decoded.packets.begin(), decoded.packets.end(), in_ring), 0);
    const auto entered =
        std::find_if(decoded.packets.begin(), decoded.packets.end(),
                     [&](const Met& met) { return met.address == ring.entry().gpu; });
    ASSERT_NE(entered, decoded.packets.end());
    EXPECT_EQ(entered->name == "MI_ARB_CHECK", Gen::kVersion >= 120);

    Machine machine;
    MapBlock(machine);
    if (count.has_value()) machine.Map(kCount, {{*count}});
    machine.Map(chunks.chunks());
    machine.Map(ring_chunks.chunks());
    uint32_t passes = 0;
    machine.OnDispatch([&](Machine& m) {
      ++passes;
      Shade(m, ring);
    });
    const uint32_t drawn = std::min(draws, count.value_or(draws));
    std::vector<Draw> expected;
    for (unsigned run = 1; run <= 2; ++run) {
      const bool pre_parser = machine.pre_parser();
      ASSERT_EQ(machine.Run(batch.parts()[0].chunk.gpu), "");
      EXPECT_EQ(machine.pre_parser(), pre_parser);
      for (const Draw& draw : Expected(drawn)) expected.push_back(draw);
      EXPECT_EQ(machine.draws(), expected);
      EXPECT_EQ(passes, run * std::max(1u, (drawn + kItems - 1) / kItems));
      EXPECT_EQ(machine.vertex_buffers().size(), expected.size() * vertex_buffers);
    }
  }
};
TYPED_TEST_SUITE(GeneratedDrawsTest, Generations);

TYPED_TEST(GeneratedDrawsTest, ARingDrawsEachOnceAndInOrderHoweverOftenItsBatchRuns) {
  for (uint32_t draws : {1u, kItems - 1, kItems, kItems + 1, 3 * kItems + 2}) {
    this->Run(draws, std::nullopt, 0);
  }
}

TYPED_TEST(GeneratedDrawsTest, ADrawMayComeWithVertexBuffers) {
  for (uint32_t buffers : {1u, 2u}) this->Run(kItems + 2, std::nullopt, buffers);
}

TYPED_TEST(GeneratedDrawsTest, MemoryMaySayHowManyDrawsARingHas) {
  for (uint32_t count : {0u, 1u, kItems, 2 * kItems, 2 * kItems + 1, ~0u}) {
    this->Run(2 * kItems, count, 0);
  }
}

TYPED_TEST(GeneratedDrawsTest, ARingMayBeEmittedSeveralTimes) {
  using Gen = TypeParam;
  gpu::HostChunks ring_chunks({.gpu = 0x900000, .first_buffer = 100}), chunks;
  const DrawRing<Gen> ring(ring_chunks, {.items = kItems});
  Batch<Gen> batch(chunks);
  std::vector<typename Streamer<Gen>::Draw> expected;
  for (uint32_t draws : {5u, 16u, 0u}) {
    ASSERT_TRUE(EmitRing(batch, ring, {.block = {kBlock, 50}, .draws = draws},
                         [&] { return this->Dispatch(batch); }));
    for (const auto& draw : this->Expected(draws)) expected.push_back(draw);
  }
  ASSERT_TRUE(batch.End().ok());
  Streamer<Gen> machine;
  this->MapBlock(machine);
  machine.Map(chunks.chunks());
  machine.Map(ring_chunks.chunks());
  machine.OnDispatch([&](Streamer<Gen>& m) { this->Shade(m, ring); });
  ASSERT_EQ(machine.Run(batch.parts()[0].chunk.gpu), "");
  EXPECT_EQ(machine.draws(), expected);
}

TYPED_TEST(GeneratedDrawsTest, DrawsHaveTheirPlaceInABatchInOnePiece) {
  using Gen = TypeParam;
  UsedChunks chunks({.gpu = 0x100000, .chunk_dwords = 40});
  Batch<Gen> batch(chunks);
  for (unsigned i = 0; i < 20; ++i) ASSERT_TRUE(batch.Emit(typename Gen::Noop{}));
  const absl::StatusOr<GeneratedPlace> place =
      EmitRoomForDraws(batch, {.items = kItems, .vertex_buffers = 1});
  ASSERT_TRUE(place.ok()) << place.status();
  EXPECT_EQ(place->view.size() * 4, size_t{kItems} * place->stride);
  EXPECT_EQ(place->stride, place->draw_at + 4 * GeneratedDraw<Gen>::Packet::length);
  ASSERT_TRUE(batch.Emit(typename Gen::Noop{}));
  ASSERT_TRUE(batch.End().ok());
  EXPECT_TRUE(batch.uses().Find(place->first.buffer)->writes());

  Streamer<Gen> machine;
  machine.Map(chunks.chunks());
  ASSERT_EQ(machine.Run(batch.parts()[0].chunk.gpu), "");
  EXPECT_THAT(machine.draws(), IsEmpty());
  // The GPU's addresses, and the CPU's view of them.
  for (uint32_t i = 0; i < kItems; ++i) {
    const std::vector<uint32_t> item = this->Item(*place, 1, i);
    std::copy(item.begin(), item.end(), place->view.begin() + i * place->stride / 4);
    machine.Map(place->first.gpu + i * place->stride, item);
  }
  ASSERT_EQ(machine.Run(batch.parts()[0].chunk.gpu), "");
  EXPECT_EQ(machine.draws(), this->Expected(kItems));
  Streamer<Gen> other;
  other.Map(chunks.chunks());
  ASSERT_EQ(other.Run(batch.parts()[0].chunk.gpu), "");
  EXPECT_EQ(other.draws(), machine.draws());
  const Decoded decoded =
      World().Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu);
  EXPECT_THAT(decoded.problems, IsEmpty());
}

TYPED_TEST(GeneratedDrawsTest, WhatDoesNotFitIsRefusedAndChangesNothing) {
  using Gen = TypeParam;
  gpu::HostChunks chunks({.chunk_dwords = 60, .most_chunks = 1});
  Batch<Gen> batch(chunks);
  ASSERT_TRUE(batch.Emit(typename Gen::Noop{}));
  EXPECT_FALSE(EmitRoomForDraws(batch, {.items = 20}).ok());
  EXPECT_EQ(batch.TakeStatus().code(), absl::StatusCode::kResourceExhausted);
  for (uint32_t items : {0u, kMostGeneratedDraws + 1, ~0u}) {
    EXPECT_FALSE(EmitRoomForDraws(batch, {.items = items}).ok());
    EXPECT_THAT(batch.TakeStatus().message(), HasSubstr("1 to 8192"));
  }
  EXPECT_FALSE(EmitRoomForDraws(batch, {.items = 1, .vertex_buffers = 3}).ok());
  EXPECT_THAT(batch.TakeStatus().message(), HasSubstr("not 3"));
  EXPECT_EQ(batch.dwords(), 1u);
  EXPECT_TRUE(EmitRoomForDraws(batch, {.items = 2}).ok());
}

TYPED_TEST(GeneratedDrawsTest, ARingThatIsNoneIsRefusedAndChangesNothing) {
  using Gen = TypeParam;
  gpu::HostChunks chunks, one({.chunk_dwords = 8, .most_chunks = 0});
  Batch<Gen> batch(chunks);
  const auto emit = [&](const DrawRing<Gen>& ring, uint64_t block) {
    EXPECT_FALSE(
        EmitRing(batch, ring, {.block = {block, 50}}, [&] { return this->Dispatch(batch); }));
    EXPECT_EQ(batch.dwords(), 0u);
    EXPECT_EQ(batch.uses().size(), 0u);
    return batch.TakeStatus();
  };
  EXPECT_THAT(emit(DrawRing<Gen>(one, {.items = 0}), kBlock).message(), HasSubstr("room for 0"));
  EXPECT_EQ(emit(DrawRing<Gen>(one, {.items = 5}), kBlock).code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(emit(DrawRing<Gen>(chunks, {.items = 5}), kBlock + 4).message(),
              HasSubstr("a multiple of 8"));
}

TYPED_TEST(GeneratedDrawsTest, WhatGeneratesMayFail) {
  using Gen = TypeParam;
  gpu::HostChunks ring_chunks({.gpu = 0x900000, .first_buffer = 100}), chunks;
  const DrawRing<Gen> ring(ring_chunks, {.items = kItems});
  Batch<Gen> batch(chunks);
  EXPECT_FALSE(EmitRing(batch, ring, {.block = {kBlock, 50}, .draws = 9},
                        [&] { return batch.Refuse(absl::AbortedError("no shader")); }));
  EXPECT_EQ(batch.status().message(), "no shader");
  EXPECT_FALSE(batch.End().ok());
}

}  // namespace
}  // namespace packsmith::intel
