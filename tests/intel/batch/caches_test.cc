// Barriers between uses: whether a reader sees what was written, by a model of caches.
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "runtime/intel/batch/cache_rules.h"
#include "runtime/intel/batch/cache_tracker.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/generations.h"

namespace packsmith::intel {
namespace {

using testing::IsEmpty;

// Caches that keep everything as long as they may: each buffer is one line, its content the
// number of the last write that is in it.
class Caches {
 public:
  explicit Caches(CacheDomains l3) : l3_(l3) {}

  void Write(uint32_t buffer, size_t domain, uint32_t number) {
    lines_[domain][buffer] = {number, true};
  }
  uint32_t Read(uint32_t buffer, size_t domain) {
    auto& lines = lines_[domain];
    if (lines.count(buffer) == 0) lines[buffer] = {Below(buffer, InL3(domain)), false};
    return lines[buffer].number;
  }
  void Apply(const CacheBarrier& barrier) {
    for (size_t d = 0; d < kCacheDomains; ++d) {
      if ((barrier.flush >> d & 1) != 0) WriteBack(d);
    }
    for (size_t d = 0; d < kCacheDomains; ++d) {
      if ((barrier.to_memory >> d & 1) == 0) continue;
      for (auto& [buffer, line] : third_) {
        if (line.dirty) memory_[buffer] = line.number;
        line.dirty = false;
      }
    }
    if (barrier.from_memory) {
      std::erase_if(third_, [](const auto& line) { return !line.second.dirty; });
    }
    for (size_t d = 0; d < kCacheDomains; ++d) {
      // A cache that writes drops its lines when it writes back.
      if ((barrier.invalidate >> d & 1) == 0) continue;
      WriteBack(d);
      lines_[d].clear();
    }
  }

 private:
  struct Line {
    uint32_t number = 0;
    bool dirty = false;
  };
  bool InL3(size_t domain) const { return (l3_ >> domain & 1) != 0; }
  void WriteBack(size_t domain) {
    for (auto& [buffer, line] : lines_[domain]) {
      if (!line.dirty) continue;
      if (InL3(domain)) {
        third_[buffer] = line;
      } else {
        memory_[buffer] = line.number;
      }
      line.dirty = false;
    }
  }
  uint32_t Below(uint32_t buffer, bool through_l3) {
    if (!through_l3) return memory_[buffer];
    if (third_.count(buffer) == 0) third_[buffer] = {memory_[buffer], false};
    return third_[buffer].number;
  }

  const CacheDomains l3_;
  std::array<std::map<uint32_t, Line>, kCacheDomains> lines_;
  std::map<uint32_t, Line> third_;
  std::map<uint32_t, uint32_t> memory_;
};

TEST(CacheTrackerTest, ReadersSeeTheLastWrite) {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 300; ++round) {
    const CacheDomains l3 = static_cast<CacheDomains>(random());
    CacheTracker tracker(l3);
    Caches caches(l3);
    std::map<uint32_t, uint32_t> written;
    for (uint32_t step = 1; step < 120; ++step) {
      const uint32_t buffer = 1 + random() % 3;
      const size_t domain = random() % kCacheDomains;
      const CacheBarrier barrier = tracker.Use(buffer, static_cast<CacheDomain>(domain));
      caches.Apply(barrier);
      // Before it writes it must see the content, too: it may write a part only.
      ASSERT_EQ(caches.Read(buffer, domain), written[buffer]) << round << ", step " << step;
      if (domain < kWritingDomains) {
        caches.Write(buffer, domain, step);
        written[buffer] = step;
      }
      // What kOtherWrite stands for does not see its own writes.
      const bool waits = static_cast<CacheDomain>(domain) == CacheDomain::kOtherWrite;
      ASSERT_EQ(tracker.Needs(buffer, static_cast<CacheDomain>(domain)).empty(), !waits);
    }
  }
}

constexpr CacheDomains kL3 = SetOf(CacheDomain::kRender) | SetOf(CacheDomain::kData) |
                             SetOf(CacheDomain::kSampler) | SetOf(CacheDomain::kConstant);

TEST(CacheTrackerTest, OnlyWhatIsNeeded) {
  CacheTracker tracker(kL3);
  // The first use, any use of what was not written, and the same use again.
  EXPECT_TRUE(tracker.Use(1, CacheDomain::kSampler).empty());
  EXPECT_TRUE(tracker.Use(1, CacheDomain::kVertex).empty());
  EXPECT_TRUE(tracker.Use(2, CacheDomain::kRender).empty());
  EXPECT_TRUE(tracker.Use(2, CacheDomain::kRender).empty());
  // A texture that was drawn to.
  EXPECT_EQ(tracker.Use(2, CacheDomain::kSampler),
            (CacheBarrier{.flush = SetOf(CacheDomain::kRender),
                          .invalidate = SetOf(CacheDomain::kSampler)}));
  EXPECT_TRUE(tracker.Use(2, CacheDomain::kSampler).empty());
  // Another reader: it has been written back already.
  EXPECT_EQ(tracker.Use(2, CacheDomain::kConstant),
            (CacheBarrier{.invalidate = SetOf(CacheDomain::kConstant)}));
  // A reader that bypasses L3.
  EXPECT_EQ(tracker.Use(2, CacheDomain::kVertex),
            (CacheBarrier{.flush = SetOf(CacheDomain::kRender),
                          .to_memory = SetOf(CacheDomain::kRender),
                          .invalidate = SetOf(CacheDomain::kVertex)}));
  // Drawing again waits for the readers.
  EXPECT_EQ(tracker.Use(2, CacheDomain::kRender).wait, true);
  // Other buffers that were written before have been flushed with it.
  EXPECT_TRUE(tracker.Use(3, CacheDomain::kRender).empty());
  EXPECT_TRUE(tracker.Use(4, CacheDomain::kRender).empty());
  EXPECT_FALSE(tracker.Use(3, CacheDomain::kSampler).empty());
  EXPECT_TRUE(tracker.Use(4, CacheDomain::kSampler).empty());
  // The command streamer's writes bypass L3, which may have the old content.
  EXPECT_TRUE(tracker.Use(5, CacheDomain::kOtherWrite).empty());
  EXPECT_EQ(tracker.Use(5, CacheDomain::kSampler),
            (CacheBarrier{.flush = SetOf(CacheDomain::kOtherWrite),
                          .invalidate = SetOf(CacheDomain::kSampler),
                          .from_memory = true}));
}

TEST(CacheTrackerTest, WhatIsNotInACacheWaitsForItself) {
  CacheTracker tracker(kL3);
  // A post-sync write, then a store or an atomic operation of the streamer.
  EXPECT_TRUE(tracker.Use(1, CacheDomain::kOtherWrite).empty());
  EXPECT_EQ(tracker.Use(1, CacheDomain::kOtherWrite),
            (CacheBarrier{.flush = SetOf(CacheDomain::kOtherWrite)}));
  tracker.Apply({.flush = SetOf(CacheDomain::kOtherWrite)});
  EXPECT_TRUE(tracker.Use(1, CacheDomain::kOtherWrite).empty());
}

TEST(CacheTrackerTest, OtherBarriersCount) {
  CacheTracker tracker(kL3);
  tracker.Use(1, CacheDomain::kRender);
  tracker.Apply({.flush = SetOf(CacheDomain::kRender), .invalidate = SetOf(CacheDomain::kSampler)});
  EXPECT_TRUE(tracker.Needs(1, CacheDomain::kSampler).empty());
  tracker.Use(2, CacheDomain::kRender);
  tracker.Synchronized();
  EXPECT_TRUE(tracker.Needs(2, CacheDomain::kVertex).empty());
  tracker.Use(3, CacheDomain::kRender);
  tracker.Forget(3);
  EXPECT_TRUE(tracker.Needs(3, CacheDomain::kVertex).empty());
}

template <class Gen>
class EmitBarrierTest : public testing::Test {
 protected:
  using Pipe = typename Gen::PipeControl;

  // The packets of a barrier.
  std::vector<Pipe> Emitted(const CacheBarrier& barrier, Pipeline pipeline = Pipeline::k3D) {
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks);
    EXPECT_TRUE(EmitBarrier(batch, barrier, address(0x8000, 3), pipeline));
    EXPECT_TRUE(batch.End().ok());
    const Decoded decoded =
        World().Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu);
    EXPECT_THAT(decoded.problems, IsEmpty());
    std::vector<Pipe> pipes;
    for (const Met& met : decoded.packets) {
      EXPECT_EQ(met.faults, 0u);
      if (met.name == "PIPE_CONTROL") pipes.push_back(Pipe::unpack(met.dwords.data()));
    }
    return pipes;
  }
};
TYPED_TEST_SUITE(EmitBarrierTest, Generations);

TYPED_TEST(EmitBarrierTest, WritesBackThenForgets) {
  const auto pipes = this->Emitted(
      {.flush = SetOf(CacheDomain::kRender), .invalidate = SetOf(CacheDomain::kSampler)});
  ASSERT_EQ(pipes.size(), 2u);
  EXPECT_TRUE(pipes[0].render_target_cache_flush_enable);
  EXPECT_TRUE(pipes[0].command_streamer_stall_enable);
  EXPECT_NE(pipes[0].post_sync_operation, 0u);
  EXPECT_EQ(pipes[0].address.gpu, 0x8000u);
  EXPECT_FALSE(pipes[0].texture_cache_invalidation_enable);
  EXPECT_TRUE(pipes[1].texture_cache_invalidation_enable);
  EXPECT_FALSE(pipes[1].render_target_cache_flush_enable);
  EXPECT_EQ(pipes[1].post_sync_operation, 0u);
}

TYPED_TEST(EmitBarrierTest, WaitsAlone) {
  const auto pipes = this->Emitted({.wait = true});
  ASSERT_EQ(pipes.size(), 1u);
  EXPECT_TRUE(pipes[0].command_streamer_stall_enable);
  EXPECT_FALSE(pipes[0].render_target_cache_flush_enable);
  EXPECT_THAT(this->Emitted({}), IsEmpty());
}

TYPED_TEST(EmitBarrierTest, VerticesAsTheGenerationWantsIt) {
  const auto pipes = this->Emitted({.invalidate = SetOf(CacheDomain::kVertex)});
  // On Gfx9 an empty packet comes before; until then there is a write, too.
  ASSERT_EQ(pipes.size(), TypeParam::kVersion == 90 ? 2u : 1u);
  EXPECT_TRUE(pipes.back().vf_cache_invalidation_enable);
  EXPECT_EQ(pipes.back().post_sync_operation != 0, TypeParam::kVersion <= 90);
  EXPECT_EQ((L3DomainsOf<TypeParam>() & SetOf(CacheDomain::kVertex)) != 0,
            TypeParam::kVersion >= 120);
}

TYPED_TEST(EmitBarrierTest, WhatTheThirdLevelHasReadFromMemoryIsForgotten) {
  const auto pipes =
      this->Emitted({.invalidate = SetOf(CacheDomain::kSampler), .from_memory = true});
  ASSERT_EQ(pipes.size(), 1u);
  EXPECT_TRUE(pipes[0].texture_cache_invalidation_enable);
  EXPECT_TRUE(pipes[0].constant_cache_invalidation_enable);
  if constexpr (requires { pipes[0].l3_read_only_cache_invalidation_enable; }) {
    EXPECT_TRUE(pipes[0].l3_read_only_cache_invalidation_enable);
  }
}

TYPED_TEST(EmitBarrierTest, StoresOfTheStreamerAreWaitedForSinceXe2) {
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  EXPECT_TRUE(EmitBarrier(batch, {.flush = SetOf(CacheDomain::kOtherWrite)}, address(0x8000, 3)));
  EXPECT_TRUE(batch.End().ok());
  const Decoded decoded =
      World().Put(chunks.chunks()).Decode(TypeParam::kName, batch.parts()[0].chunk.gpu);
  EXPECT_THAT(decoded.problems, IsEmpty());
  std::vector<std::string> names;
  for (const Met& met : decoded.packets) names.push_back(met.name);
  const bool fence = TypeParam::kVersion >= 200;
  ASSERT_GE(names.size(), fence ? 2u : 1u);
  EXPECT_EQ(names[0], fence ? "MI_MEM_FENCE" : "PIPE_CONTROL");
  EXPECT_EQ(names[fence ? 1 : 0], "PIPE_CONTROL");
}

TYPED_TEST(EmitBarrierTest, AllOfItAtOnceIsGoodToo) {
  const auto pipes = this->Emitted(
      {.flush = 0x0f, .to_memory = 0x0f, .invalidate = 0xff, .from_memory = true, .wait = true});
  EXPECT_GE(pipes.size(), 2u);
  EXPECT_FALSE(pipes.back().stall_at_pixel_scoreboard);
}

TYPED_TEST(EmitBarrierTest, WhatOnlyReadsForgetsWithoutAStall) {
  const auto pipes = this->Emitted({.invalidate = SetOf(CacheDomain::kSampler)});
  ASSERT_EQ(pipes.size(), 1u);
  EXPECT_TRUE(pipes[0].texture_cache_invalidation_enable);
  EXPECT_FALSE(pipes[0].command_streamer_stall_enable);
  EXPECT_FALSE(pipes[0].stall_at_pixel_scoreboard);
  // A cache that also writes is waited for; on Gfx8 a stall does not come alone.
  const auto writing = this->Emitted({.invalidate = SetOf(CacheDomain::kOtherWrite)});
  ASSERT_EQ(writing.size(), 1u);
  EXPECT_TRUE(writing[0].command_streamer_stall_enable);
  EXPECT_EQ(writing[0].stall_at_pixel_scoreboard, TypeParam::kVersion == 80);
  // The command streamer has no cache.
  EXPECT_THAT(this->Emitted({.invalidate = SetOf(CacheDomain::kOtherRead)}), IsEmpty());
}

TYPED_TEST(EmitBarrierTest, InTheGpgpuPipeline) {
  const auto pipes = this->Emitted(
      {.flush = SetOf(CacheDomain::kData), .invalidate = SetOf(CacheDomain::kSampler)},
      Pipeline::kGpgpu);
  // Some generations need a stall before a post-sync write.
  const bool stall = TypeParam::kVersion == 90 || TypeParam::kVersion == 120;
  ASSERT_EQ(pipes.size(), stall ? 3u : 2u);
  for (const auto& pipe : pipes) EXPECT_TRUE(pipe.command_streamer_stall_enable);
  EXPECT_EQ(pipes[0].post_sync_operation == 0, stall);
  EXPECT_NE(pipes[pipes.size() - 2].post_sync_operation, 0u);
  EXPECT_TRUE(pipes.back().texture_cache_invalidation_enable);
  EXPECT_EQ(pipes.back().stall_at_pixel_scoreboard, TypeParam::kVersion == 80);
}

TYPED_TEST(EmitBarrierTest, CachesOf3DAreNoneOfTheGpgpuPipelinesSinceGfx12) {
  const bool barred = TypeParam::kVersion >= 120 && TypeParam::kVersion < 200;
  // Selecting the pipeline has written back what was drawn.
  const auto pipes = this->Emitted(
      {.flush = SetOf(CacheDomain::kRender), .invalidate = SetOf(CacheDomain::kSampler)},
      Pipeline::kGpgpu);
  bool flushed = false;
  for (const auto& pipe : pipes) flushed |= pipe.render_target_cache_flush_enable;
  EXPECT_EQ(flushed, !barred);
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  for (const CacheDomain domain :
       {CacheDomain::kRender, CacheDomain::kDepth, CacheDomain::kVertex}) {
    // The compute engine, which needs no selection, has no vertex cache.
    const bool refused = barred || (domain == CacheDomain::kVertex && TypeParam::kVersion >= 200);
    EXPECT_EQ(
        EmitBarrier(batch, {.invalidate = SetOf(domain)}, address(0x8000, 3), Pipeline::kGpgpu),
        !refused);
    EXPECT_EQ(batch.TakeStatus().ok(), !refused);
  }
  EXPECT_EQ(batch.dwords() == 0, barred);
}

TYPED_TEST(EmitBarrierTest, ASignalStandsInMemoryWhenAllBeforeIsDone) {
  constexpr uint64_t kValue = 0x123456789abcdef0;
  for (const Pipeline pipeline : {Pipeline::k3D, Pipeline::kGpgpu}) {
    // From Gfx12 on nothing invalidates vertices in the GPGPU pipeline.
    const CacheDomain forgets =
        pipeline == Pipeline::k3D ? CacheDomain::kVertex : CacheDomain::kSampler;
    gpu::HostChunks chunks;
    Batch<TypeParam> batch(chunks);
    const CacheBarrier barrier{.flush = SetOf(CacheDomain::kData), .invalidate = SetOf(forgets)};
    EXPECT_TRUE(EmitSignal(batch, address(0x8008, 3, access::write), kValue, barrier, pipeline));
    EXPECT_TRUE(batch.uses().Find(3).value().writes());
    EXPECT_TRUE(batch.End().ok());
    const Decoded decoded =
        World().Put(chunks.chunks()).Decode(TypeParam::kName, batch.parts()[0].chunk.gpu);
    size_t writes = 0;
    for (const Met& met : decoded.packets) {
      if (met.name != "PIPE_CONTROL") continue;
      const auto pipe = TestFixture::Pipe::unpack(met.dwords.data());
      if (pipe.post_sync_operation == 0) continue;
      // The first one waits; every write has this address and value.
      EXPECT_TRUE(writes++ != 0 || pipe.command_streamer_stall_enable);
      EXPECT_EQ(pipe.address.gpu, 0x8008u);
      EXPECT_EQ(pipe.immediate_data, kValue);
    }
    EXPECT_GE(writes, 1u);
  }
}

TYPED_TEST(EmitBarrierTest, ASignalAtAnOddPlaceChangesNothing) {
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  EXPECT_FALSE(EmitSignal(batch, address(0x8004, 3, access::write), 1));
  EXPECT_EQ(batch.dwords(), 0u);
  EXPECT_EQ(batch.status().code(), absl::StatusCode::kInvalidArgument);
}

TYPED_TEST(EmitBarrierTest, AScratchAddressThatDoesNotFitChangesNothing) {
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  EXPECT_FALSE(EmitBarrier(batch, {.invalidate = SetOf(CacheDomain::kVertex), .wait = true},
                           address(0x8001, 3)));
  EXPECT_EQ(batch.dwords(), 0u);
}

}  // namespace
}  // namespace packsmith::intel
