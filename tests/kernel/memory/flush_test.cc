// A GPU that does not see the CPU's caches sees what the runtime writes: batches, states, tables.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/gfx9.h"
#include "runtime/intel/binding/binder.h"
#include "runtime/intel/binding/shared_states.h"
#include "runtime/intel/memory/border_colors.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/memory/state_pool.h"
#include "runtime/memory/state_stream.h"
#include "tests/kernel/memory/machine.h"

namespace packsmith::gpu {
namespace {

using intel::Batch;
using intel::Gfx9;

// Memory as the GPU sees it: what was flushed.
class SeenMemory {
 public:
  absl::Status Flush(absl::Span<uint8_t> lines) {
    if (!error.ok()) return error;
    for (uint8_t& byte : lines) bytes_[&byte] = byte;
    ++calls;
    return absl::OkStatus();
  }
  // Whether the GPU sees what is there now.
  bool Has(const void* at, size_t size) const {
    const auto* const bytes = static_cast<const uint8_t*>(at);
    for (size_t i = 0; i < size; ++i) {
      const auto found = bytes_.find(bytes + i);
      if (found == bytes_.end() || found->second != bytes[i]) return false;
    }
    return true;
  }
  int calls = 0;
  absl::Status error;

 private:
  absl::flat_hash_map<const uint8_t*, uint8_t> bytes_;
};

class FlushTest : public ::testing::Test {
 protected:
  explicit FlushTest(bool coherent = false) {
    live_.is_coherent = coherent;
    device_ = machine_.Open(live_);
    const auto zones = LayOutZones(intel::IrisZones(), {.verx10 = 90});
    EXPECT_TRUE(zones.ok());
    addresses_ = *AddressSpace::Create(*zones);
    buffers_ = Buffers::Create(
        *device_, *addresses_,
        {.flush_lines = [this](absl::Span<uint8_t> lines) { return seen_.Flush(lines); }});
  }
  ZoneId Zone(const char* name) const { return *addresses_->FindZone(name); }
  static void Fill(Batch<Gfx9>& batch, uint32_t packets) {
    for (uint32_t i = 0; i < packets; ++i) {
      ASSERT_TRUE(
          batch.Emit(gfx9::MI_STORE_DATA_IMM{.address = 0x1000 + 4 * i, .immediate_data = i}));
    }
  }
  bool SeesAll(const Batch<Gfx9>& batch) const {
    for (const intel::BatchPart& part : batch.parts()) {
      if (!seen_.Has(part.chunk.words.data(), part.total * size_t{4})) return false;
    }
    return true;
  }

  absl::StatusOr<std::unique_ptr<intel::Binder<Gfx9>>> NewBinder() {
    const Buffer scratch = *buffers_->Create({.size = 4096, .zone = Zone("other")});
    gfx9::STATE_BASE_ADDRESS bases;
    bases.general_state_mocs = bases.stateless_data_port_access_mocs = bases.surface_state_mocs = 4;
    bases.dynamic_state_mocs = bases.indirect_object_mocs = bases.instruction_mocs = 4;
    bases.bindless_surface_state_mocs = 4;
    return intel::Binder<Gfx9>::Create(*buffers_,
                                       {.zone = Zone("binder"),
                                        .surface_base = addresses_->zone(Zone("surface")).begin,
                                        .surface_bytes = uint64_t{1} << 20,
                                        .bases = bases,
                                        .scratch = {scratch.address, scratch.handle}});
  }

  KernelOf machine_{{"i915", "glk"}};
  Live live_;
  SeenMemory seen_;
  std::unique_ptr<DrmDevice> device_;
  std::unique_ptr<AddressSpace> addresses_;
  std::unique_ptr<Buffers> buffers_;
};

TEST_F(FlushTest, BatchesAreSeenWhenTheyEndAndWhenTheirEndChanges) {
  BufferChunks chunks(*buffers_, {.zone = Zone("other"), .chunk_bytes = 1024});
  Batch<Gfx9> batch(chunks), next(chunks);
  Fill(batch, 500);
  EXPECT_FALSE(SeesAll(batch));
  ASSERT_TRUE(batch.End().ok());
  ASSERT_GT(batch.parts().size(), 3u);
  EXPECT_TRUE(SeesAll(batch));
  Fill(next, 10);
  ASSERT_TRUE(next.End().ok());
  const Chunk& first = next.parts()[0].chunk;
  ASSERT_TRUE(batch.ContinueAt({first.gpu, first.buffer}).ok());
  EXPECT_TRUE(SeesAll(batch));
  ASSERT_TRUE(batch.ContinueAt({}).ok());
  EXPECT_TRUE(SeesAll(batch));
}

TEST_F(FlushTest, ABatchThatTheGpuMayNotSeeIsAnError) {
  BufferChunks chunks(*buffers_, {.zone = Zone("other")});
  Batch<Gfx9> batch(chunks);
  Fill(batch, 10);
  seen_.error = absl::UnimplementedError("no instruction");
  EXPECT_EQ(batch.End().code(), absl::StatusCode::kUnimplemented);
  seen_.error = absl::OkStatus();
}

TEST_F(FlushTest, StatesOfAStreamAreSeenAfterFlush) {
  const auto pool = StatePool::Create(*buffers_, *addresses_, {.zone = Zone("dynamic")});
  ASSERT_TRUE(pool.ok()) << pool.status();
  StateStream stream(**pool, 4096);
  std::vector<State> written;
  for (uint32_t round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < 100; ++i) {
      // Some do not fit into a block.
      const auto state = stream.Allocate(i % 10 == 9 ? 8192 : 40 + i, 32);
      ASSERT_TRUE(state.ok()) << state.status();
      std::memset(state->cpu, static_cast<int>(1 + i + 100 * round), state->size);
      written.push_back(*state);
    }
    const auto seen = [&] {
      size_t count = 0;
      for (const State& state : written) count += seen_.Has(state.cpu, state.size) ? 1 : 0;
      return count;
    };
    EXPECT_LT(seen(), written.size());
    ASSERT_TRUE(stream.Flush().ok());
    EXPECT_EQ(seen(), written.size());
    const int calls = seen_.calls;
    ASSERT_TRUE(stream.Flush().ok());
    EXPECT_EQ(seen_.calls, calls) << "nothing is flushed twice";
    if (round == 1) {
      ASSERT_TRUE(stream.Rewind().ok());
      written.clear();
    }
  }
  // A single one.
  const auto state = (*pool)->Allocate(256);
  ASSERT_TRUE(state.ok());
  std::memset(state->cpu, 0x5a, 256);
  EXPECT_FALSE(seen_.Has(state->cpu, 256));
  ASSERT_TRUE((*pool)->Flush(*state, 256).ok());
  EXPECT_TRUE(seen_.Has(state->cpu, 256));
  State wrong = *state;
  wrong.offset = ~uint32_t{0};
  EXPECT_EQ((*pool)->Flush(wrong, 4).code(), absl::StatusCode::kOutOfRange);
}

TEST_F(FlushTest, TablesAndColorsAreSeenAtOnce) {
  const auto pool = StatePool::Create(*buffers_, *addresses_, {.zone = Zone("dynamic")});
  ASSERT_TRUE(pool.ok());
  intel::SharedStates shared(**pool, 32);
  const uint32_t dwords[] = {1, 2, 3, 4, 5};
  const auto state = shared.Acquire(dwords);
  ASSERT_TRUE(state.ok());
  EXPECT_TRUE(seen_.Has(state->cpu, sizeof(dwords)));

  const auto colors = intel::BorderColors::Create(*buffers_, {.zone = Zone("border colors")});
  ASSERT_TRUE(colors.ok()) << colors.status();
  const auto color = (*colors)->Acquire({7, 8, 9});
  ASSERT_TRUE(color.ok());
  const Buffer buffer = *buffers_->Get(color->buffer);
  EXPECT_TRUE(seen_.Has(buffer.cpu + color->offset, 12));
  // Colours that the GPU may not see are not given out.
  seen_.error = absl::UnimplementedError("no instruction");
  EXPECT_FALSE((*colors)->Acquire({1}).ok());
  const uint32_t others[] = {6};
  EXPECT_FALSE(shared.Acquire(others).ok());
  seen_.error = absl::OkStatus();
  EXPECT_EQ((*colors)->in_use(), 1u);
  EXPECT_EQ(shared.size(), 1u);
}

TEST_F(FlushTest, BindingTablesAreSeenWhenTheyAreBound) {
  const intel::BindingRules rules = Gfx9::kFacts.binder;
  const auto binder = NewBinder();
  ASSERT_TRUE(binder.ok()) << binder.status();
  BufferChunks chunks(*buffers_, {.zone = Zone("other")});
  Batch<Gfx9> batch(chunks);
  const absl::Status begun = (*binder)->Begin(batch);
  ASSERT_TRUE(begun.ok()) << begun;
  for (uint32_t i = 0; i < 3000; ++i) {
    const uint32_t surfaces[] = {64 * i, 64 * (i + 1), 64 * (i + 2)};
    const auto stage = static_cast<intel::BindingStage>(i % 3);
    ASSERT_TRUE((*binder)->Bind(batch, stage, surfaces).ok());
    const uint64_t offset = uint64_t{(*binder)->pointer(stage)} << rules.pointer_shift;
    EXPECT_TRUE(seen_.Has((*binder)->block().cpu + offset, sizeof(surfaces))) << i;
    // Those of the other stages, too: also after the base has moved.
    const auto other = static_cast<intel::BindingStage>((i + 1) % 3);
    if ((*binder)->count(other) == 0) continue;
    EXPECT_TRUE(seen_.Has(
        (*binder)->block().cpu + (uint64_t{(*binder)->pointer(other)} << rules.pointer_shift),
        sizeof(surfaces)));
  }
  EXPECT_GT((*binder)->statistics().moves, 0u);
}

TEST_F(FlushTest, ATableThatTheGpuMayNotSeeIsNotBound) {
  using enum intel::BindingStage;
  const auto made = NewBinder();
  ASSERT_TRUE(made.ok()) << made.status();
  intel::Binder<Gfx9>& binder = **made;
  BufferChunks chunks(*buffers_, {.zone = Zone("other")});
  Batch<Gfx9> batch(chunks);
  ASSERT_TRUE(binder.Begin(batch).ok());
  const auto sees = [&](intel::BindingStage stage) {
    const uint64_t offset = uint64_t{binder.pointer(stage)} << binder.rules().pointer_shift;
    return seen_.Has(binder.block().cpu + offset, binder.count(stage) * size_t{4});
  };
  const uint32_t first[] = {64, 128}, second[] = {192, 256, 320};
  ASSERT_TRUE(binder.Bind(batch, kVertex, first).ok());
  (void)binder.TakeEvents();
  const uint32_t room = binder.room();
  seen_.error = absl::UnimplementedError("no instruction");
  for (int tries = 0; tries < 3; ++tries) {
    EXPECT_EQ(binder.Bind(batch, kPixel, second).code(), absl::StatusCode::kUnimplemented);
    EXPECT_EQ(binder.count(kPixel), 0u);
    EXPECT_EQ(binder.room(), room);
    EXPECT_EQ(binder.statistics().written, 1u);
    EXPECT_EQ(binder.TakeEvents(), 0u);
  }
  EXPECT_TRUE(binder.Bind(batch, kPixel, first).ok()) << "it was flushed before";
  seen_.error = absl::OkStatus();
  ASSERT_TRUE(binder.Bind(batch, kPixel, second).ok());
  EXPECT_EQ(binder.count(kPixel), 3u);
  EXPECT_TRUE(sees(kPixel));

  // Until the block is full.
  for (uint32_t i = 0; binder.room() >= 64; ++i) {
    const uint32_t surfaces[] = {64 * (i % 4096), 64 * (i / 4096), 64};
    ASSERT_TRUE(binder.Bind(batch, kGeometry, surfaces).ok());
  }
  std::vector<uint32_t> many(100, 640);
  (void)binder.TakeEvents();
  seen_.error = absl::UnimplementedError("no instruction");
  EXPECT_EQ(binder.Bind(batch, kPixel, many).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(binder.statistics().moves, 1u);
  const intel::BindingEvents events = binder.TakeEvents();
  for (const auto stage : {kVertex, kGeometry, kPixel}) {
    EXPECT_EQ(binder.count(stage), 0u) << "the new block has no table that the GPU sees";
    EXPECT_EQ(binder.pointer(stage), 0u);
    EXPECT_NE(events & intel::PointerOf(stage), 0u);
  }
  EXPECT_NE(events & intel::kSurfaceBaseMoved, 0u);
  EXPECT_EQ(binder.Bind(batch, kVertex, first).code(), absl::StatusCode::kUnimplemented);
  seen_.error = absl::OkStatus();
  ASSERT_TRUE(binder.Bind(batch, kVertex, first).ok());
  ASSERT_TRUE(binder.Bind(batch, kPixel, many).ok());
  EXPECT_EQ(binder.statistics().moves, 1u);
  EXPECT_TRUE(sees(kVertex));
  EXPECT_TRUE(sees(kPixel));
}

class NoFlushTest : public FlushTest {
 protected:
  NoFlushTest() : FlushTest(/*coherent=*/true) {}
};

TEST_F(NoFlushTest, NothingIsFlushedWhereMemoryIsCoherent) {
  BufferChunks chunks(*buffers_, {.zone = Zone("other")});
  Batch<Gfx9> batch(chunks);
  Fill(batch, 10);
  ASSERT_TRUE(batch.End().ok());
  const auto pool = StatePool::Create(*buffers_, *addresses_, {.zone = Zone("dynamic")});
  ASSERT_TRUE(pool.ok());
  StateStream stream(**pool, 4096);
  ASSERT_TRUE(stream.Allocate(64, 64).ok());
  ASSERT_TRUE(stream.Flush().ok());
  EXPECT_EQ(seen_.calls, 0);
}

}  // namespace
}  // namespace packsmith::gpu
