// The rules by which barriers are emitted and those of the descriptions, by which the simulator
// reports reads that come too early, agree: after a barrier nothing is reported, and without a bit
// of it that is needed this bit is named.
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "runtime/generations/generations.h"
#include "runtime/intel/batch/cache_rules.h"
#include "runtime/intel/batch/cache_tracker.h"
#include "runtime/sim/streamer.h"
#include "tests/intel/batch/clients.h"
#include "tests/intel/batch/generations.h"
#include "tests/intel/batch/streamer.h"

namespace packsmith::intel {
namespace {

using tables::ClientKind;
using testing::IsEmpty;

constexpr uint64_t kScratch = 0x48000;

template <class Gen>
class VisibilityTest : public testing::Test {
 protected:
  using Pipe = typename Gen::PipeControl;
  using Draw = typename Gen::Packets::_3DPRIMITIVE;

  const tables::Tables tables_ = *FindGeneration(Gen::kName);

  // What is reported of a batch of a draw that writes, the packets, and a draw that reads.
  std::vector<std::string> Reported(ClientKind writer, ClientKind reader,
                                    const std::vector<Pipe>& pipes, bool store_fence) {
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks);
    EXPECT_TRUE(batch.Emit(Draw{}));
    if (store_fence) WaitForStores<Gen>::Emit(batch);
    for (const Pipe& pipe : pipes) EXPECT_TRUE(batch.Emit(pipe));
    EXPECT_TRUE(batch.Emit(Draw{}));
    EXPECT_TRUE(batch.End().ok());
    Dwords memory;
    for (const gpu::Chunk& chunk : chunks.chunks()) {
      for (size_t i = 0; i < chunk.words.size(); ++i) memory[chunk.gpu + 4 * i] = chunk.words[i];
    }
    for (const uint64_t at : {Pair::kBuffer, kScratch}) memory[at] = memory[at + 4] = 0;
    Pair pair(writer, reader);
    sim::Streamer streamer(tables_, memory, {.prefetch = false}, pair);
    streamer.EnterBatch(0, batch.parts()[0].chunk.gpu);
    EXPECT_EQ(streamer.Run(1000), sim::Stop::kEnded);
    return pair.texts;
  }

  // The packets that the runtime emits between two uses of a buffer.
  std::vector<Pipe> Between(CacheDomain writer, CacheDomain reader) {
    CacheTracker tracker(L3DomainsOf<Gen>());
    tracker.Use(1, writer);
    const CacheBarrier barrier = tracker.Use(1, reader);
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks);
    EXPECT_TRUE(barrier.empty() || EmitBarrier(batch, barrier, address(kScratch, 3)));
    EXPECT_TRUE(batch.End().ok());
    std::vector<Pipe> pipes;
    const auto words = chunks.chunks()[0].words;
    for (size_t i = 0; i < words.size() && !Gen::BatchEnd::matches(words[i]);) {
      if (Pipe::matches(words[i])) {
        pipes.push_back(Pipe::unpack(&words[i]));
        i += Pipe::length;
      } else {
        ++i;  // MI_MEM_FENCE
      }
    }
    return pipes;
  }
};
TYPED_TEST_SUITE(VisibilityTest, Generations);

TYPED_TEST(VisibilityTest, AfterABarrierNothingIsReported) {
  for (size_t w = 0; w < kWritingDomains; ++w) {
    for (size_t r = 0; r < kCacheDomains; ++r) {
      const auto writer = static_cast<CacheDomain>(w), reader = static_cast<CacheDomain>(r);
      const auto pipes = this->Between(writer, reader);
      const bool stores = writer == CacheDomain::kOtherWrite;
      for (const ClientKind from : ClientsOf(writer)) {
        for (const ClientKind to : ClientsOf(reader)) {
          // A domain is coherent with itself, apart from shaders of several draws.
          if (w == r && !stores) continue;
          EXPECT_THAT(this->Reported(from, to, pipes, stores), IsEmpty()) << w << " to " << r;
        }
      }
    }
  }
}

// The fields that a rule of the descriptions may ask for.
template <class Pipe>
struct Bit {
  bool Pipe::*field;
  const char* name;
};
template <class Pipe>
std::vector<Bit<Pipe>> BitsOf() {
  std::vector<Bit<Pipe>> bits = {
      {&Pipe::command_streamer_stall_enable, "Command Streamer Stall Enable"},
      {&Pipe::render_target_cache_flush_enable, "Render Target Cache Flush Enable"},
      {&Pipe::depth_cache_flush_enable, "Depth Cache Flush Enable"},
      {&Pipe::dc_flush_enable, "DC Flush Enable"},
      {&Pipe::vf_cache_invalidation_enable, "VF Cache Invalidation Enable"},
      {&Pipe::texture_cache_invalidation_enable, "Texture Cache Invalidation Enable"},
      {&Pipe::constant_cache_invalidation_enable, "Constant Cache Invalidation Enable"},
  };
  if constexpr (requires { &Pipe::l3_read_only_cache_invalidation_enable; }) {
    bits.push_back(
        {&Pipe::l3_read_only_cache_invalidation_enable, "L3 Read Only Cache Invalidation Enable"});
    bits.push_back({&Pipe::hdc_pipeline_flush_enable, "HDC Pipeline Flush Enable"});
  }
  if constexpr (requires { &Pipe::tile_cache_flush_enable; }) {
    bits.push_back({&Pipe::tile_cache_flush_enable, "Tile Cache Flush Enable"});
  }
  if constexpr (requires { &Pipe::untyped_data_port_cache_flush_enable; }) {
    bits.push_back(
        {&Pipe::untyped_data_port_cache_flush_enable, "Untyped Data Port Cache Flush Enable"});
  }
  return bits;
}

TYPED_TEST(VisibilityTest, WithoutABitThatIsNeededItIsNamed) {
  using Pipe = typename TestFixture::Pipe;
  // Pairs for which each bit of the barrier, of those above, is needed.
  struct Needed {
    CacheDomain writer, reader;
    ClientKind from, to;
  };
  using D = CacheDomain;
  using C = ClientKind;
  std::vector<Needed> all = {
      {D::kRender, D::kSampler, C::kRenderTarget, C::kSampler},
      {D::kRender, D::kVertex, C::kRenderTarget, C::kVertexFetch},
      {D::kRender, D::kConstant, C::kRenderTarget, C::kConstants},
      {D::kRender, D::kOtherRead, C::kRenderTarget, C::kStreamer},
      {D::kDepth, D::kSampler, C::kDepth, C::kSampler},
      {D::kDepth, D::kOtherRead, C::kDepth, C::kStreamer},
      {D::kData, D::kSampler, C::kDataPort, C::kSampler},
      {D::kData, D::kVertex, C::kDataPort, C::kVertexFetch},
      {D::kData, D::kOtherRead, C::kDataPort, C::kStreamer},
      {D::kOtherWrite, D::kSampler, C::kPostSync, C::kSampler},
      {D::kOtherWrite, D::kVertex, C::kPostSync, C::kVertexFetch},
      {D::kOtherWrite, D::kVertex, C::kStreamOutput, C::kVertexFetch},
      {D::kOtherWrite, D::kOtherRead, C::kPostSync, C::kStreamer},
  };
  size_t removed = 0;
  for (const Needed& pair : all) {
    const std::vector<Pipe> pipes = this->Between(pair.writer, pair.reader);
    for (size_t i = 0; i < pipes.size(); ++i) {
      for (const Bit<Pipe>& bit : BitsOf<Pipe>()) {
        if (!(pipes[i].*bit.field)) continue;
        std::vector<Pipe> without = pipes;
        without[i].*bit.field = false;
        // What takes part in several rules at once: constants, which vertices and L3 need too.
        const auto texts = this->Reported(pair.from, pair.to, without, false);
        const bool elsewhere = [&] {
          for (size_t j = 0; j < pipes.size(); ++j) {
            if (j != i && pipes[j].*bit.field) return true;
          }
          return false;
        }();
        if (elsewhere) continue;
        const std::string what = absl::StrCat(static_cast<int>(pair.writer), " to ",
                                              static_cast<int>(pair.reader), " without ", bit.name);
        // Vertices are not read through what invalidating constants empties.
        const bool spare =
            bit.field == &Pipe::constant_cache_invalidation_enable && pair.reader == D::kVertex;
        ASSERT_EQ(texts.size(), spare ? 0u : 1u) << what;
        ++removed;
        EXPECT_TRUE(spare || absl::StrContains(texts[0], bit.name)) << what << ": " << texts[0];
      }
    }
    // The end of the pipe, where something is invalidated afterwards.
    if (pair.from == C::kRenderTarget && pair.to == C::kSampler) {
      std::vector<Pipe> without = pipes;
      without[0].post_sync_operation = 0;
      const auto texts = this->Reported(pair.from, pair.to, without, false);
      ASSERT_EQ(texts.size(), 1u);
      EXPECT_TRUE(absl::StrContains(texts[0], "Post Sync Operation")) << texts[0];
    }
  }
  EXPECT_GT(removed, 25u);
}

TYPED_TEST(VisibilityTest, TheStreamerSeesItsOwnStoresAfterABarrier) {
  const auto pipes = this->Between(CacheDomain::kOtherWrite, CacheDomain::kOtherRead);
  const auto texts = this->Reported(ClientKind::kStreamer, ClientKind::kStreamer, pipes, false);
  // PIPE_CONTROL alone is not known to do since Xe2.
  EXPECT_EQ(texts.size(), TypeParam::kVersion >= 200 ? 1u : 0u);
  EXPECT_THAT(this->Reported(ClientKind::kStreamer, ClientKind::kStreamer, pipes, true), IsEmpty());
}

}  // namespace
}  // namespace packsmith::intel
