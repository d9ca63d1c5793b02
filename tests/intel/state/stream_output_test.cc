#include "runtime/intel/state/stream_output.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/state/draw_state.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/tested.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint32_t kBufferMocs = 2, kFromMemory = ~uint32_t{0};

// The fields of a buffer's packet that matter here.
struct Buffer {
  bool enabled = false, offset_in_memory = false, writes_offset = false;
  uint64_t address = 0;
  uint32_t size = 0, offset = 0;
  friend bool operator==(const Buffer&, const Buffer&) = default;
  friend std::ostream& operator<<(std::ostream& to, const Buffer& b) {
    return to << b.enabled << b.offset_in_memory << b.writes_offset << " " << b.address << " "
              << b.size << " " << b.offset;
  }
};
constexpr Buffer kOff = {};

template <class Gen>
class StreamOutputTest : public testing::Test {
 protected:
  using G = typename Gen::Packets;

  void SetUp() override {
    EXPECT_TRUE(state_.Set(typename G::_3DSTATE_VF_TOPOLOGY()));
    state_.InheritAll();
  }

  // The packets of a flush, by their names.
  std::vector<Met> Flushed() {
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks);
    state_.InheritAll();
    EXPECT_TRUE(state_.Flush(batch)) << state_.status() << batch.status();
    for (uint32_t buffer = 1; buffer < 10; ++buffer) {
      if (batch.uses().Find(buffer)) used_.push_back(buffer);
    }
    EXPECT_TRUE(batch.End().ok());
    const Decoded decoded =
        World().Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu);
    EXPECT_THAT(decoded.problems, testing::IsEmpty());
    return decoded.packets;
  }
  static std::vector<Buffer> BuffersIn(const std::vector<Met>& packets) {
    std::vector<Buffer> buffers;
    const auto add = [&](const auto& body) {
      buffers.push_back({body.so_buffer_enable, body.stream_output_buffer_offset_address_enable,
                         body.stream_offset_write_enable, body.surface_base_address.gpu,
                         body.surface_size, body.stream_offset});
    };
    for (const Met& packet : packets) {
      if constexpr (requires { typename G::_3DSTATE_SO_BUFFER_INDEX_0; }) {
        if (packet.name.rfind("3DSTATE_SO_BUFFER_INDEX_", 0) == 0) {
          add(G::_3DSTATE_SO_BUFFER_INDEX_0::unpack(packet.dwords.data())
                  .so_buffer_index_state_body);
        }
      } else if (packet.name == "3DSTATE_SO_BUFFER") {
        const auto values = G::_3DSTATE_SO_BUFFER::unpack(packet.dwords.data());
        EXPECT_EQ(values.so_buffer_index, buffers.size());
        add(values);
      }
    }
    return buffers;
  }
  static std::vector<std::string> Names(const std::vector<Met>& packets) {
    std::vector<std::string> names;
    for (const Met& packet : packets) names.push_back(packet.name);
    return names;
  }
  absl::Status Set(const std::vector<StreamOutBuffer>& buffers) {
    return SetStreamOutBuffers(state_, buffers, kBufferMocs);
  }

  DrawState<Gen> state_{address(0x7000, 99)};
  std::vector<uint32_t> used_;
};
TYPED_TEST_SUITE(StreamOutputTest, Generations);

TYPED_TEST(StreamOutputTest, ABufferBeginsOnceAndThenGoesOn) {
  const StreamOutBuffer begun{
      .memory = {0x10000, 1}, .size = 4096, .progress = {0x20000, 2}, .begin = 256};
  ASSERT_TRUE(this->Set({begun}).ok());
  const Buffer first{true, true, true, 0x10000, 1023, 256};
  Buffer later = first;
  later.offset = kFromMemory;
  EXPECT_THAT(this->BuffersIn(this->Flushed()), ElementsAre(first, kOff, kOff, kOff));
  EXPECT_THAT(this->used_, ElementsAre(1u, 2u));
  // Nothing has changed.
  EXPECT_EQ(this->state_.dirty(), 0u);
  // Another context: it continues where the GPU recorded its end.
  this->state_.Forget();
  EXPECT_THAT(this->BuffersIn(this->Flushed()), ElementsAre(later, kOff, kOff, kOff));
  // The same buffer from its beginning, though nothing else is new.
  StreamOutBuffer again = begun;
  again.begin = 0;
  ASSERT_TRUE(this->Set({again}).ok());
  EXPECT_NE(this->state_.dirty(), 0u);
  Buffer restarted = first;
  restarted.offset = 0;
  EXPECT_THAT(this->BuffersIn(this->Flushed()), ElementsAre(restarted, kOff, kOff, kOff));
  again.begin = {};
  ASSERT_TRUE(this->Set({again}).ok());
  EXPECT_EQ(this->state_.dirty(), 0u);
}

TYPED_TEST(StreamOutputTest, WithoutAPlaceTheRegisterIsWrittenOnceAndNotTouchedLater) {
  ASSERT_TRUE(this->Set({{}, {.memory = {0x30000, 3}, .size = 64, .begin = 8}}).ok());
  EXPECT_THAT(this->BuffersIn(this->Flushed()),
              ElementsAre(kOff, Buffer{true, false, true, 0x30000, 15, 8}, kOff, kOff));
  this->state_.Forget();
  EXPECT_THAT(this->BuffersIn(this->Flushed()),
              ElementsAre(kOff, Buffer{true, false, false, 0x30000, 15, 0}, kOff, kOff));
}

TYPED_TEST(StreamOutputTest, SettingBuffersAnewTakesABeginningBack) {
  const StreamOutBuffer a{.memory = {0x10000, 1}, .size = 64, .progress = {0x20000, 2}, .begin = 0};
  StreamOutBuffer b = a;
  b.memory = {0x40000, 4};
  b.begin = {};
  ASSERT_TRUE(this->Set({a, a, a, a}).ok());
  ASSERT_TRUE(this->Set({b, b, b, b}).ok());
  const Buffer later{true, true, true, 0x40000, 15, kFromMemory};
  EXPECT_THAT(this->BuffersIn(this->Flushed()), ElementsAre(later, later, later, later));
}

TYPED_TEST(StreamOutputTest, ABeginningWaitsForRoomInTheBatch) {
  ASSERT_TRUE(this->Set({{.memory = {0x10000, 1}, .size = 64, .begin = 0}}).ok());
  class NoChunks : public gpu::ChunkSource {
    absl::StatusOr<gpu::Chunk> NewChunk(size_t) override {
      return absl::ResourceExhaustedError("no");
    }
  } none;
  Batch<TypeParam> batch(none);
  EXPECT_FALSE(this->state_.Flush(batch));
  EXPECT_FALSE(batch.TakeStatus().ok());
  EXPECT_TRUE(this->BuffersIn(this->Flushed())[0].writes_offset);
  this->state_.Forget();
  EXPECT_FALSE(this->BuffersIn(this->Flushed())[0].writes_offset);
}

// Values of another packet that stream output's buffers need.
TYPED_TEST(StreamOutputTest, APacketDiffersOnceAndOnlyInWhatIsNoAddress) {
  using Depth = typename TypeParam::Packets::_3DSTATE_DEPTH_BUFFER;
  using Raster = typename TypeParam::Packets::_3DSTATE_RASTER;
  Raster raster;
  raster.cull_mode = 1;
  EXPECT_FALSE(this->state_.SetOnce(raster));
  EXPECT_EQ(this->state_.TakeStatus().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(this->state_.Set(raster));
  Raster first = raster;
  first.cull_mode = 2;
  first.global_depth_offset_scale = 3;
  EXPECT_TRUE(this->state_.SetOnce(first));
  const auto seen = [&] {
    std::vector<uint32_t> modes;
    for (const Met& packet : this->Flushed()) {
      if (packet.name == "3DSTATE_RASTER") {
        modes.push_back(Raster::unpack(packet.dwords.data()).cull_mode);
      }
    }
    return modes;
  };
  EXPECT_THAT(seen(), ElementsAre(2u));
  EXPECT_THAT(seen(), ElementsAre());
  // The GPU has the first one now, and this one is wanted: only the caller knows that.
  this->state_.Forget();
  EXPECT_THAT(seen(), ElementsAre(1u));
  // Already so: nothing to do.
  EXPECT_TRUE(this->state_.SetOnce(raster));
  EXPECT_EQ(this->state_.dirty(), 0u);
  EXPECT_FALSE(this->state_.SetOnce(raster, 1)) << "there is one";
  EXPECT_EQ(this->state_.TakeStatus().code(), absl::StatusCode::kFailedPrecondition);
  first.cull_mode = 9;
  EXPECT_FALSE(this->state_.SetOnce(first));
  EXPECT_EQ(this->state_.TakeStatus().code(), absl::StatusCode::kInvalidArgument);

  Depth depth;
  depth.mocs = kBufferMocs;
  depth.surface_base_address = address(0x5000, 5);
  EXPECT_TRUE(this->state_.Set(depth));
  Depth moved = depth;
  moved.surface_base_address = address(0x6000, 5);
  EXPECT_FALSE(this->state_.SetOnce(moved));
  EXPECT_EQ(this->state_.TakeStatus().code(), absl::StatusCode::kInvalidArgument);
  moved.surface_base_address = address(0x5000, 6);
  EXPECT_FALSE(this->state_.SetOnce(moved));
  EXPECT_FALSE(this->state_.TakeStatus().ok());
}

// However buffers begin and whatever comes between, each beginning is in the stream once, before
// the next draw.
TYPED_TEST(StreamOutputTest, RandomBeginningsAreEmittedOnce) {
  std::mt19937 random(11);
  std::vector<StreamOutBuffer> wanted(4);
  for (uint32_t i = 0; i < 4; ++i) {
    wanted[i] = {
        .memory = {0x100000 * (i + 1), i + 1}, .size = 4096, .progress = {0x1000 + 4 * i, 5}};
  }
  ASSERT_TRUE(this->Set(wanted).ok());
  this->Flushed();
  for (unsigned round = 0; round < 200; ++round) {
    std::vector<uint32_t> expected(4, kFromMemory);
    bool begins = false;
    for (unsigned changes = random() % 3; changes > 0; --changes) {
      std::fill(expected.begin(), expected.end(), kFromMemory);
      begins = false;
      for (uint32_t i = 0; i < 4; ++i) {
        wanted[i].begin = {};
        if (random() % 2 == 0) continue;
        wanted[i].begin = expected[i] = random() % 1024 * 4;
        begins = true;
      }
      ASSERT_TRUE(this->Set(wanted).ok());
    }
    const bool lost = random() % 4 == 0;
    if (lost) this->state_.Forget();
    const std::vector<Buffer> buffers = this->BuffersIn(this->Flushed());
    ASSERT_EQ(buffers.empty(), !begins && !lost);
    for (size_t i = 0; i < buffers.size(); ++i) ASSERT_EQ(buffers[i].offset, expected[i]) << round;
  }
}

TYPED_TEST(StreamOutputTest, WhatIsRefusedChangesNothing) {
  ASSERT_TRUE(this->Set({{.memory = {0x10000, 1}, .size = 64}}).ok());
  this->Flushed();
  const StreamOutBuffer good{.memory = {0x20000, 1}, .size = 64};
  const auto refused = [&](const std::vector<StreamOutBuffer>& buffers) {
    const absl::Status status = this->Set(buffers);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(this->state_.dirty(), 0u);
    return std::string(status.message());
  };
  EXPECT_THAT(refused({good, {.memory = {0x20000, 1}, .size = 62}}), HasSubstr("buffer 1"));
  EXPECT_THAT(refused({good, good, {.memory = {0x20000, 1}, .size = (1ull << 32) + 4}}),
              HasSubstr("buffer 2"));
  EXPECT_THAT(refused({{.memory = {0x20000, 1}, .size = 64, .begin = 3}}), HasSubstr("buffer 0"));
  EXPECT_THAT(refused({good, good, good, {.memory = {0x20002, 1}, .size = 64}}),
              HasSubstr("buffer 3"));
  EXPECT_THAT(refused({good, good, good, good, good}), HasSubstr("5 buffers"));
  EXPECT_TRUE(this->state_.status().ok());
  EXPECT_EQ(SetStreamOutBuffers(this->state_, {good}, /*mocs=*/0).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(this->Set({{.memory = {0x10000, 1}, .size = 1ull << 32}}).ok());
}

TYPED_TEST(StreamOutputTest, WhatBuffersWantAroundThemIsThere) {
  ASSERT_TRUE(this->Set({{.memory = {0x10000, 1}, .size = 64}}).ok());
  const std::vector<std::string> names = this->Names(this->Flushed());
  const auto at = [&](size_t i) { return i < names.size() ? names[i] : ""; };
  const bool before = TypeParam::kVersion == 125, after = TypeParam::kVersion >= 110;
  size_t next = 0;
  if (before) {
    EXPECT_EQ(at(next++), "PIPE_CONTROL");
  }
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_THAT(at(next++), HasSubstr("3DSTATE_SO_BUFFER"));
  }
  if (after) {
    EXPECT_EQ(at(next++), "PIPE_CONTROL");
  }
  EXPECT_EQ(at(next++), "3DSTATE_VF_TOPOLOGY");
}

TYPED_TEST(StreamOutputTest, DeclarationsAreWhatWasPlanned) {
  using G = typename TypeParam::Packets;
  const StreamOutVarying varyings[] = {
      {.register_index = 2, .components = 0b0111, .offset = 4},
      {.stream = 2, .register_index = 5, .components = 0b1000, .buffer = 3, .offset = 0},
  };
  const auto plan = PlanStreamOut(varyings);
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(SetStreamOutDeclarations(this->state_, *plan));
  using StreamOut = typename G::_3DSTATE_STREAMOUT;
  EXPECT_TRUE(this->state_.Set(StreamOut{.so_function_enable = true}));
  const std::vector<Met> packets = this->Flushed();
  std::vector<std::string> names;
  std::vector<bool> on;
  for (const Met& packet : packets) {
    if (packet.name == "3DSTATE_STREAMOUT") {
      on.push_back(StreamOut::unpack(packet.dwords.data()).so_function_enable);
    }
    if (packet.name != "3DSTATE_SO_DECL_LIST") continue;
    ASSERT_EQ(packet.dwords.size(), 3u + 2 * 2);
    const auto list = G::_3DSTATE_SO_DECL_LIST::unpack(packet.dwords.data());
    EXPECT_EQ(list.stream_to_buffer_selects_0, 1u);
    EXPECT_EQ(list.stream_to_buffer_selects_2, 8u);
    EXPECT_EQ(list.num_entries_0, 2u);
    EXPECT_EQ(list.num_entries_1, 0u);
    EXPECT_EQ(list.num_entries_2, 1u);
    const auto hole = G::SO_DECL_ENTRY::unpack(packet.dwords.data() + 3);
    EXPECT_TRUE(hole.stream_0_decl.hole_flag);
    EXPECT_EQ(hole.stream_0_decl.component_mask, 1u);
    EXPECT_EQ(hole.stream_2_decl.register_index, 5u);
    EXPECT_EQ(hole.stream_2_decl.output_buffer_slot, 3u);
    const auto values = G::SO_DECL_ENTRY::unpack(packet.dwords.data() + 5);
    EXPECT_FALSE(values.stream_0_decl.hole_flag);
    EXPECT_EQ(values.stream_0_decl.component_mask, 7u);
    EXPECT_EQ(values.stream_0_decl.register_index, 2u);
    names.push_back(packet.name);
  }
  EXPECT_EQ(names.size(), 1u);
  // Wa_16011773973: off, declarations, on.
  if (TypeParam::kVersion == 125) {
    EXPECT_THAT(on, ElementsAre(false, true));
  } else {
    EXPECT_THAT(on, ElementsAre(true));
  }
}

}  // namespace
}  // namespace packsmith::intel
