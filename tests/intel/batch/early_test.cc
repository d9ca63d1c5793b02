// Batches of Gfx4 to Gfx7.5: jumps, relocations, labels, calls and flushes, decoded and executed.
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/cache_rules.h"
#include "runtime/intel/batch/engines.h"
#include "runtime/intel/batch/pipeline_select.h"
#include "runtime/sim/streamer.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/clients.h"
#include "tests/intel/batch/dwords.h"
#include "tests/intel/batch/tested.h"

namespace packsmith::intel {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kData = 0x40000, kScratch = 0x48000;
constexpr uint32_t kDataBuffer = 900;

template <class Gen>
class EarlyTest : public testing::Test, protected sim::Observer {
 protected:
  using Store = typename Gen::StoreData;

  static bool EmitStore(Batch<Gen>& batch, uint64_t at, uint32_t value) {
    Store store{.address = {at, kDataBuffer}};
    if constexpr (requires { store.memory_address_type; }) store.memory_address_type = true;
    const typename Store::ps_item data[] = {{.immediate_data = value}};
    return batch.EmitItems(store, data);
  }
  static Decoded Decode(const BatchCore& batch, const gpu::HostChunks& chunks) {
    return World().Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu);
  }

  void OnProblem(const sim::Problem& problem) override { problems_.push_back(problem.text); }
  void Map(const gpu::HostChunks& chunks) {
    for (const gpu::Chunk& chunk : chunks.chunks()) {
      for (size_t i = 0; i < chunk.words.size(); ++i) memory_[chunk.gpu + 4 * i] = chunk.words[i];
    }
  }
  sim::Stop Run(uint64_t from) {
    for (uint64_t i = 0; i < 4096; i += 4) memory_[kData + i], memory_[kScratch + i];
    sim::Streamer streamer(tables_, memory_, {.all_engines = true, .prefetch = false}, *this);
    streamer.EnterBatch(0, from);
    return streamer.Run(10000);
  }

  const tables::Tables tables_ = *FindGeneration(Gen::kName);
  Dwords memory_;
  std::vector<std::string> problems_;
};
TYPED_TEST_SUITE(EarlyTest, Generations);

TYPED_TEST(EarlyTest, PacketsContinueInTheNextChunk) {
  using Gen = TypeParam;
  gpu::HostChunks chunks({.chunk_dwords = 32});
  Batch<Gen> batch(chunks);
  for (uint32_t i = 0; i < 100; ++i) ASSERT_TRUE(this->EmitStore(batch, kData + 4 * i, i + 7));
  ASSERT_TRUE(batch.End().ok());
  EXPECT_GT(batch.parts().size(), 10u);
  for (const BatchPart& part : batch.parts()) EXPECT_EQ(part.total % 2, 0u);

  const Decoded decoded = this->Decode(batch, chunks);
  EXPECT_THAT(decoded.problems, IsEmpty());
  EXPECT_EQ(std::ssize(decoded.packets), 100 + std::ssize(batch.parts()));
  EXPECT_EQ(decoded.packets.back().name, "MI_BATCH_BUFFER_END");
  for (const Met& met : decoded.packets) EXPECT_EQ(met.depth, 0u);

  this->Map(chunks);
  EXPECT_EQ(this->Run(batch.parts()[0].chunk.gpu), sim::Stop::kEnded);
  EXPECT_THAT(this->problems_, IsEmpty());
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(this->memory_.at(kData + 4 * i), i + 7);
}

// Sources: Linux, drivers/gpu/drm/i915/gt/gen2_engine_cs.c and gen6_engine_cs.c, whose word for a
// batch that is not secure jumps to one as well; Mesa's hasvk jumps with that of Gfx6.
TYPED_TEST(EarlyTest, TheWordOfAJumpIsThatOfDrivers) {
  using Gen = TypeParam;
  const std::map<unsigned, uint32_t> words = {{40, 0x18800180}, {45, 0x18800180}, {50, 0x18800180},
                                              {60, 0x18800100}, {70, 0x18800100}, {75, 0x18800100}};
  for (const bool global : {false, true}) {
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks, {.global = global});
    ASSERT_TRUE(batch.Jump({0x12340, 5}));
    ASSERT_TRUE(batch.End().ok());
    const uint32_t word = words.at(Gen::kFacts.version_x10);
    EXPECT_EQ(chunks.chunks()[0].words[0], global ? word & ~0x100u : word);
    EXPECT_EQ(chunks.chunks()[0].words[1], 0x12340u);
    EXPECT_EQ(chunks.chunks()[0].words[2], 0x05000000u);
  }
}

TYPED_TEST(EarlyTest, RelocationsAreOfAddressesLabelsAndJumps) {
  using Gen = TypeParam;
  gpu::HostChunks chunks({.first_buffer = 10, .chunk_dwords = 16});
  Batch<Gen> batch(chunks, {.relocations = true});
  const Label behind = batch.NewLabel();
  ASSERT_TRUE(this->EmitStore(batch, kData, 1));
  ASSERT_TRUE(this->EmitStore(batch, kData + 4, 2));
  ASSERT_TRUE(batch.Jump(batch.At(behind)));
  ASSERT_TRUE(this->EmitStore(batch, kData + 8, 3));  // jumped over
  ASSERT_TRUE(batch.StoreLabel({kData + 12, kDataBuffer, access::write}, behind));
  ASSERT_TRUE(batch.Bind(behind));
  ASSERT_TRUE(this->EmitStore(batch, kData + 16, 4));
  ASSERT_TRUE(batch.End().ok());
  ASSERT_GT(batch.parts().size(), 1u);

  // Everything moves: each buffer by another distance.
  const auto moved = [](uint32_t buffer) { return uint64_t{buffer} << 20; };
  const auto base = [&](uint32_t buffer) {
    for (const gpu::Chunk& chunk : chunks.chunks()) {
      if (chunk.buffer == buffer) return chunk.gpu;
    }
    return kData;
  };
  size_t written = 0;
  for (const Relocation& one : batch.relocations()) {
    uint32_t& word = batch.parts()[one.part].chunk.words[one.dword];
    EXPECT_GE(one.gpu, base(one.buffer));
    const uint32_t delta = batch.Delta(one, base(one.buffer));
    EXPECT_LT(delta, 0x1000u);
    word = static_cast<uint32_t>(moved(one.buffer)) + delta;
    written += (one.flags & gpu::kWrites) != 0 ? 1 : 0;
  }
  EXPECT_EQ(written, 5u);  // the stores
  EXPECT_EQ(batch.relocations().size(), 5 + 2 + batch.parts().size() - 1);

  for (const gpu::Chunk& chunk : chunks.chunks()) {
    for (size_t i = 0; i < chunk.words.size(); ++i) {
      this->memory_[moved(chunk.buffer) + 4 * i] = chunk.words[i];
    }
  }
  for (uint64_t i = 0; i < 64; i += 4) this->memory_[moved(kDataBuffer) + i] = 0;
  EXPECT_EQ(this->Run(moved(10)), sim::Stop::kEnded);
  EXPECT_THAT(this->problems_, IsEmpty());
  const auto read = [&](uint64_t at) { return this->memory_.at(moved(kDataBuffer) + at); };
  EXPECT_EQ(read(0), 1u);
  EXPECT_EQ(read(4), 2u);
  EXPECT_EQ(read(8), 0u);
  EXPECT_EQ(read(12), 0u);
  EXPECT_EQ(read(16), 4u);
}

TYPED_TEST(EarlyTest, CallsOfBatchesThatReturnByAJump) {
  using Gen = TypeParam;
  for (const bool relocations : {false, true}) {
    gpu::HostChunks chunks({.gpu = 0x100000, .first_buffer = 10, .chunk_dwords = 16});
    gpu::HostChunks callee_chunks({.gpu = 0x900000, .first_buffer = 50, .chunk_dwords = 16});
    Batch<Gen> callee(callee_chunks, {.relocations = relocations});
    for (uint32_t i = 0; i < 8; ++i) ASSERT_TRUE(this->EmitStore(callee, kData + 4 * i, i + 1));
    const absl::StatusOr<address> slot = callee.EndReturning();
    ASSERT_TRUE(slot.ok()) << slot.status();
    Batch<Gen> batch(chunks, {.relocations = relocations});
    const gpu::Chunk& first = callee.parts()[0].chunk;
    for (uint32_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(batch.CallReturning(address(first.gpu, first.buffer), *slot));
      ASSERT_TRUE(this->EmitStore(batch, kData + 64 + 4 * i, 10 + i));
    }
    ASSERT_TRUE(batch.End().ok());
    EXPECT_TRUE(batch.uses().Find(slot->buffer)->writes());
    this->Map(chunks);
    this->Map(callee_chunks);
    for (uint64_t i = 0; i < 128; i += 4) this->memory_[kData + i] = 0;
    EXPECT_EQ(this->Run(batch.parts()[0].chunk.gpu), sim::Stop::kEnded);
    EXPECT_THAT(this->problems_, IsEmpty());
    for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(this->memory_.at(kData + 4 * i), i + 1);
    for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(this->memory_.at(kData + 64 + 4 * i), 10 + i);
  }
}

TYPED_TEST(EarlyTest, SecondLevelBatchesExistFromGfx75On) {
  using Gen = TypeParam;
  gpu::HostChunks chunks({.gpu = 0x100000}), others({.gpu = 0x900000, .chunk_dwords = 16});
  Batch<Gen> callee(others, {.second_level = true});
  if constexpr (BatchCommandsOf<Gen>::kHasSecondLevel) {
    for (uint32_t i = 0; i < 8; ++i) ASSERT_TRUE(this->EmitStore(callee, kData + 4 * i, i + 1));
    ASSERT_TRUE(callee.End().ok());
    ASSERT_GT(callee.parts().size(), 1u);
    Batch<Gen> batch(chunks);
    const gpu::Chunk& first = callee.parts()[0].chunk;
    ASSERT_TRUE(batch.Call({first.gpu, first.buffer}));
    ASSERT_TRUE(this->EmitStore(batch, kData + 64, 99));
    ASSERT_TRUE(batch.End().ok());
    this->Map(chunks);
    this->Map(others);
    EXPECT_EQ(this->Run(batch.parts()[0].chunk.gpu), sim::Stop::kEnded);
    EXPECT_EQ(this->memory_.at(kData + 28), 8u);
    EXPECT_EQ(this->memory_.at(kData + 64), 99u);
  } else {
    EXPECT_EQ(callee.End().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(callee.status().message()), HasSubstr("CallReturning()"));
    EXPECT_FALSE((requires(Batch<Gen> b) { b.Call(address()); }));
  }
}

TYPED_TEST(EarlyTest, AppendedBatchesKeepLabelsAndRelocations) {
  using Gen = TypeParam;
  gpu::HostChunks chunks({.chunk_dwords = 32}), others({.gpu = 0x900000, .chunk_dwords = 24});
  Batch<Gen> other(others, {.relocations = true});
  const Label behind = other.NewLabel();
  ASSERT_TRUE(this->EmitStore(other, kData, 5));
  ASSERT_TRUE(other.Jump(other.At(behind)));
  ASSERT_TRUE(this->EmitStore(other, kData + 4, 6));  // jumped over
  ASSERT_TRUE(other.Bind(behind));
  for (uint32_t i = 0; i < 8; ++i) ASSERT_TRUE(this->EmitStore(other, kData + 8 + 4 * i, i));
  ASSERT_TRUE(other.End().ok());
  Batch<Gen> batch(chunks, {.relocations = true});
  ASSERT_TRUE(batch.Append(other));
  ASSERT_TRUE(batch.End().ok());
  EXPECT_EQ(batch.relocations().size(), 10 + 1 + batch.parts().size() - 1);
  this->Map(chunks);
  EXPECT_EQ(this->Run(batch.parts()[0].chunk.gpu), sim::Stop::kEnded);
  EXPECT_EQ(this->memory_.at(kData), 5u);
  EXPECT_EQ(this->memory_.at(kData + 4), 0u);
  EXPECT_EQ(this->memory_.at(kData + 36), 7u);
}

TYPED_TEST(EarlyTest, PlacesBeyondTheAddressesAreRefused) {
  using Gen = TypeParam;
  gpu::HostChunks chunks({.gpu = uint64_t{1} << 32});
  Batch<Gen> batch(chunks);
  EXPECT_FALSE(this->EmitStore(batch, kData, 1));
  EXPECT_THAT(std::string(batch.status().message()), HasSubstr("batch_buffer_start_address"));
  gpu::HostChunks last({.gpu = (uint64_t{1} << 32) - 4096, .chunk_dwords = 1024});
  Batch<Gen> near(last);
  const Label label = near.Here();
  ASSERT_TRUE(near.Jump(near.At(label, 8192)));
  EXPECT_THAT(std::string(near.End().message()), HasSubstr("can hold 32 bits only"));
}

// -- Flushes --------------------------------------------------------------------------------------

TYPED_TEST(EarlyTest, ASignalIsStoredWithTheFlushesThatItNeeds) {
  using Gen = TypeParam;
  gpu::HostChunks chunks;
  Batch<Gen> batch(chunks);
  ASSERT_TRUE(EmitSignal(batch, EngineKind::kRender, {kData + 16, kDataBuffer}, 0x100000007));
  ASSERT_TRUE(batch.End().ok());
  EXPECT_TRUE(batch.uses().Find(kDataBuffer)->writes());
  const Decoded decoded = this->Decode(batch, chunks);
  EXPECT_THAT(decoded.problems, IsEmpty());
  this->Map(chunks);
  for (const uint64_t at : {8, 12, 24, 28, 32}) this->memory_[kData + at] = 0x55;
  EXPECT_EQ(this->Run(batch.parts()[0].chunk.gpu), sim::Stop::kEnded);
  EXPECT_THAT(this->problems_, IsEmpty());
  EXPECT_EQ(this->memory_.at(kData + 16), 7u);
  EXPECT_EQ(this->memory_.at(kData + 20), 1u);
  // Nothing outside the signal's bytes is written.
  EXPECT_EQ(this->memory_.at(kData + 12), 0x55u);
  EXPECT_EQ(this->memory_.at(kData + 24), kSignalBytes<Gen> > 8 ? 0u : 0x55u);
  EXPECT_EQ(this->memory_.at(kData + 32), 0x55u);
}

TYPED_TEST(EarlyTest, CopyEnginesSignalWhereTheyExist) {
  using Gen = TypeParam;
  for (const EngineKind engine : {EngineKind::kCopy, EngineKind::kVideo}) {
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks);
    const bool emitted = EmitSignal(batch, engine, {kData + 16, kDataBuffer}, 0x100000007);
    if constexpr (requires { typename Gen::Packets::MI_FLUSH_DW; }) {
      ASSERT_TRUE(emitted);
      ASSERT_TRUE(batch.End().ok());
      this->Map(chunks);
      EXPECT_EQ(this->Run(batch.parts()[0].chunk.gpu), sim::Stop::kEnded);
      EXPECT_EQ(this->memory_.at(kData + 16), 7u);
      EXPECT_EQ(this->memory_.at(kData + 20), 1u);
    } else {
      EXPECT_FALSE(emitted);
      EXPECT_THAT(std::string(batch.status().message()), HasSubstr("MI_FLUSH_DW"));
    }
  }
}

// What the manuals and drivers require of the packets around a barrier, see generation_facts.h.
TYPED_TEST(EarlyTest, BarriersHaveThePacketsThatTheirGenerationNeeds) {
  using Gen = TypeParam;
  using Pipe = typename Gen::PipeControl;
  for (size_t w = 0; w < kWritingDomains; ++w) {
    for (size_t r = 0; r < kCacheDomains; ++r) {
      CacheTracker tracker(L3DomainsOf<Gen>());
      tracker.Use(1, static_cast<CacheDomain>(w));
      const CacheBarrier barrier = tracker.Use(1, static_cast<CacheDomain>(r));
      if (barrier.empty()) continue;
      gpu::HostChunks chunks;
      Batch<Gen> batch(chunks);
      ASSERT_TRUE(EmitBarrier(batch, barrier, {kScratch, 3}));
      ASSERT_TRUE(batch.End().ok());
      const Decoded decoded = this->Decode(batch, chunks);
      EXPECT_THAT(decoded.problems, IsEmpty());
      if constexpr (!PipeControlStalls<Gen>) {
        EXPECT_THAT(decoded.Names(), ElementsAre("MI_FLUSH", "MI_BATCH_BUFFER_END"));
      } else {
        std::vector<Pipe> pipes;
        for (const Met& met : decoded.packets) {
          if (met.name == "PIPE_CONTROL") pipes.push_back(Pipe::unpack(met.dwords.data()));
        }
        ASSERT_FALSE(pipes.empty());
        for (size_t i = 0; i < pipes.size(); ++i) {
          const Pipe& pipe = pipes[i];
          const bool writes = pipe.post_sync_operation != 0;
          bool company = writes || pipe.render_target_cache_flush_enable ||
                         pipe.depth_cache_flush_enable || pipe.stall_at_pixel_scoreboard ||
                         pipe.depth_stall_enable;
          if constexpr (requires { pipe.dc_flush_enable; }) company |= pipe.dc_flush_enable;
          EXPECT_TRUE(!pipe.command_streamer_stall_enable || company);
          EXPECT_TRUE(!Gen::kFacts.fourth_pipe_must_stall || pipe.command_streamer_stall_enable);
          EXPECT_EQ(writes && pipe.destination_address_type != 0,
                    writes && Gen::kFacts.writes_are_global);
          if (Gen::kFacts.flush_needs_write_before && pipe.render_target_cache_flush_enable) {
            // Of the two packets before the first such packet, or one that follows it.
            ASSERT_GE(i, 2u);
            EXPECT_TRUE(pipes[0].stall_at_pixel_scoreboard &&
                        pipes[0].command_streamer_stall_enable);
            EXPECT_TRUE(pipes[1].post_sync_operation != 0 &&
                        !pipes[1].render_target_cache_flush_enable);
          }
          if constexpr (Gen::kFacts.invalidation_needs_data_flush_before) {
            if (pipe.texture_cache_invalidation_enable || pipe.vf_cache_invalidation_enable ||
                pipe.constant_cache_invalidation_enable) {
              ASSERT_GE(i, 1u);
              EXPECT_TRUE(pipes[i - 1].command_streamer_stall_enable &&
                          pipes[i - 1].dc_flush_enable);
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(EarlyTest, PipelinesAreSelectedAfterCachesWereWrittenBack) {
  using Gen = TypeParam;
  if constexpr (requires(typename Gen::PipeControl pipe) { pipe.dc_flush_enable; }) {
    using Pipe = typename Gen::PipeControl;
    using Select = typename Gen::Packets::PIPELINE_SELECT;
    for (const Pipeline to : {Pipeline::k3D, Pipeline::kGpgpu}) {
      gpu::HostChunks chunks;
      Batch<Gen> batch(chunks);
      {
        typename Batch<Gen>::Group group(batch, PipelineSelectDwords<Gen>());
        ASSERT_TRUE(EmitPipelineSelect<Gen>(group, to));
      }
      ASSERT_TRUE(batch.End().ok());
      const Decoded decoded = this->Decode(batch, chunks);
      EXPECT_THAT(decoded.problems, IsEmpty());
      ASSERT_THAT(decoded.Names(), ElementsAre("PIPE_CONTROL", "PIPE_CONTROL", "PIPELINE_SELECT",
                                               "MI_BATCH_BUFFER_END"));
      const Pipe flush = Pipe::unpack(decoded.packets[0].dwords.data());
      EXPECT_TRUE(flush.command_streamer_stall_enable && flush.render_target_cache_flush_enable &&
                  flush.depth_cache_flush_enable && flush.dc_flush_enable);
      const Pipe forget = Pipe::unpack(decoded.packets[1].dwords.data());
      EXPECT_TRUE(forget.texture_cache_invalidation_enable);
      EXPECT_EQ(forget.command_streamer_stall_enable, Gen::kFacts.fourth_pipe_must_stall);
      EXPECT_EQ(
          Select::unpack(decoded.packets[2].dwords.data()).pipeline_selection,
          to == Pipeline::k3D ? Select::PIPELINE_SELECTION_3D : Select::PIPELINE_SELECTION_GPGPU);
    }
  } else {
    EXPECT_FALSE(Gen::kFacts.selects_pipeline);
  }
}

// A draw that writes, a barrier, and a draw that reads what was written.
TYPED_TEST(EarlyTest, AfterABarrierNothingIsReportedAndWithoutItSomething) {
  using Gen = TypeParam;
  size_t needed = 0;
  for (size_t w = 0; w < kWritingDomains; ++w) {
    for (size_t r = 0; r < kCacheDomains; ++r) {
      const auto writer = static_cast<CacheDomain>(w), reader = static_cast<CacheDomain>(r);
      if (w == r && writer != CacheDomain::kOtherWrite) continue;  // coherent with itself
      CacheTracker tracker(L3DomainsOf<Gen>());
      tracker.Use(1, writer);
      const CacheBarrier barrier = tracker.Use(1, reader);
      for (const tables::ClientKind from : ClientsOf(writer)) {
        for (const tables::ClientKind to : ClientsOf(reader)) {
          for (const bool with : {true, false}) {
            gpu::HostChunks chunks;
            Batch<Gen> batch(chunks);
            ASSERT_TRUE(batch.Emit(typename Gen::Packets::_3DPRIMITIVE{}));
            if (with && !barrier.empty()) {
              ASSERT_TRUE(EmitBarrier(batch, barrier, {kScratch, 3}));
            }
            ASSERT_TRUE(batch.Emit(typename Gen::Packets::_3DPRIMITIVE{}));
            ASSERT_TRUE(batch.End().ok());
            Dwords memory;
            for (const gpu::Chunk& chunk : chunks.chunks()) {
              for (size_t i = 0; i < chunk.words.size(); ++i) {
                memory[chunk.gpu + 4 * i] = chunk.words[i];
              }
            }
            for (const uint64_t at : {Pair::kBuffer, kScratch}) memory[at] = memory[at + 4] = 0;
            Pair pair(from, to);
            sim::Streamer streamer(this->tables_, memory, {.prefetch = false}, pair);
            streamer.EnterBatch(0, batch.parts()[0].chunk.gpu);
            EXPECT_EQ(streamer.Run(1000), sim::Stop::kEnded);
            if (with) {
              EXPECT_THAT(pair.texts, IsEmpty()) << w << " to " << r;
            } else {
              needed += pair.texts.empty() ? 0 : 1;
            }
          }
        }
      }
    }
  }
  EXPECT_GE(needed, 10u);
}

// -- Captures -------------------------------------------------------------------------------------

#ifdef PACKSMITH_CAPTURE
// What a driver of this generation has submitted, in chunks: the same packets, and its end.
TYPED_TEST(EarlyTest, ADriversBatchInChunksIsTheSame) {
  using Gen = TypeParam;
  const absl::StatusOr<FoundDumps> found =
      FindDumps(absl::StrCat("tests/data/captures/", PACKSMITH_CAPTURE));
  ASSERT_TRUE(found.ok()) << found.status();
  size_t submissions = 0, jumps = 0;
  for (const std::string& path : found->paths) {
    absl::StatusOr<Dump> dump = ReadDump(path);
    ASSERT_TRUE(dump.ok()) << dump.status();
    ASSERT_EQ(dump->device.generation, Gen::kName) << path;
    const uint64_t batch_address = dump->submissions.at(0).batch_address;
    World world(*std::move(dump));
    const Decoded driver = world.Decode(Gen::kName, batch_address);
    gpu::HostChunks chunks({.gpu = 0x70000000, .chunk_dwords = 300});
    Batch<Gen> batch(chunks);
    for (size_t i = 0; i + 1 < driver.packets.size(); ++i) {
      ASSERT_TRUE(batch.EmitDwords(driver.packets[i].dwords));
    }
    ASSERT_TRUE(batch.End().ok());
    const Decoded ours = world.Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu);
    size_t next = 0;
    for (const Met& met : ours.packets) {
      if (met.name == "MI_BATCH_BUFFER_START") {
        ++jumps;
        continue;
      }
      ASSERT_LT(next, driver.packets.size());
      EXPECT_EQ(met.dwords, driver.packets[next].dwords) << path << " " << met.name;
      EXPECT_EQ(met.depth, driver.packets[next].depth);
      ++next;
    }
    EXPECT_EQ(next, driver.packets.size());
    EXPECT_EQ(driver.packets.back().name, "MI_BATCH_BUFFER_END");
    ++submissions;
  }
  EXPECT_GE(submissions, 3u);
  EXPECT_GE(jumps, 3u);
}
#endif

}  // namespace
}  // namespace packsmith::intel
