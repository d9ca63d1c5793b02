// The packets around one that moves a base: by hand from the manuals' rules.
#include "runtime/intel/binding/base_moves.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/generations.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A PIPE_CONTROL in short: first waits and writes, then flushes and invalidations.
template <class Pipe>
std::string Short(const Pipe& p) {
  std::string text;
  const auto add = [&](bool is, const char* what) {
    if (is) absl::StrAppend(&text, text.empty() ? "" : " ", what);
  };
  add(p.command_streamer_stall_enable, "stall");
  add(p.stall_at_pixel_scoreboard, "scoreboard");
  add(p.depth_stall_enable, "depth-stall");
  add(p.post_sync_operation == Pipe::POST_SYNC_OPERATION_WRITE_IMMEDIATE_DATA, "write");
  add(p.render_target_cache_flush_enable, "colour");
  add(p.depth_cache_flush_enable, "depth");
  add(p.dc_flush_enable, "data");
  if constexpr (requires { p.hdc_pipeline_flush_enable; }) {
    add(p.hdc_pipeline_flush_enable, "hdc");
  }
  if constexpr (requires { p.untyped_data_port_cache_flush_enable; }) {
    add(p.untyped_data_port_cache_flush_enable, "untyped");
  }
  add(p.texture_cache_invalidation_enable, "-texture");
  add(p.state_cache_invalidation_enable, "-state");
  add(p.constant_cache_invalidation_enable, "-constant");
  add(p.instruction_cache_invalidate_enable, "-instruction");
  return text;
}

template <class Gen>
class BaseMovesTest : public testing::Test {
 protected:
  // The packets of a move.
  static std::vector<std::string> Moved(BaseKind kind, Pipeline pipeline,
                                        bool forgets_first = false) {
    using Packets = typename Gen::Packets;
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks);
    {
      // The new base does not matter here.
      const typename Gen::Noop noop;
      typename Batch<Gen>::Group group(batch, BaseMoveDwords<Gen>() + 1);
      EXPECT_TRUE(
          EmitBaseMove<Gen>(group, noop, kind, pipeline, address(0x8000, 3), forgets_first));
    }
    EXPECT_TRUE(batch.End().ok());
    EXPECT_TRUE(batch.uses().Find(3).has_value());
    EXPECT_TRUE(batch.uses().Find(3)->writes());
    const Decoded decoded =
        World().Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu);
    EXPECT_THAT(decoded.problems, IsEmpty());
    std::vector<std::string> packets;
    bool moved = false;
    for (const Met& met : decoded.packets) {
      EXPECT_EQ(met.faults, 0u);
      if (met.name == "PIPE_CONTROL") {
        const auto pipe = Gen::PipeControl::unpack(met.dwords.data());
        if (pipe.post_sync_operation != 0) {
          EXPECT_EQ(pipe.address.gpu, 0x8000u);
        }
        packets.push_back(Short(pipe));
      } else if (met.name == "PIPELINE_SELECT") {
        const auto select = Packets::PIPELINE_SELECT::unpack(met.dwords.data());
        packets.push_back(absl::StrCat("select ", select.pipeline_selection));
      } else if (met.name == "MI_NOOP" && !moved) {
        packets.push_back("move");
        moved = true;
      }
    }
    return packets;
  }
};
TYPED_TEST_SUITE(BaseMovesTest, Generations);

TYPED_TEST(BaseMovesTest, SurfacesIn3D) {
  const auto moved = this->Moved(BaseKind::kSurfaceState, Pipeline::k3D);
  switch (TypeParam::kVersion) {
    case 80:
    case 90:
    case 110:
      EXPECT_THAT(moved, ElementsAre("stall write colour depth data", "move",
                                     "stall write -texture -state -constant"));
      break;
    case 120:
      EXPECT_THAT(moved, ElementsAre("stall depth-stall write colour depth data hdc", "move",
                                     "stall write hdc -texture -state"));
      break;
    case 125:
      EXPECT_THAT(moved, ElementsAre("stall write colour depth data hdc untyped", "move",
                                     "stall write -texture -state -constant -instruction"));
      break;
    default:
      EXPECT_THAT(moved, ElementsAre("stall write colour depth data hdc untyped", "move",
                                     "stall write -texture -state -constant"));
  }
}

TYPED_TEST(BaseMovesTest, SurfacesInGpgpu) {
  const auto moved = this->Moved(BaseKind::kSurfaceState, Pipeline::kGpgpu);
  switch (TypeParam::kVersion) {
    case 80:
    case 110:
      EXPECT_THAT(moved, ElementsAre("stall write colour depth data", "move",
                                     "stall write -texture -state -constant"));
      break;
    case 90:  // a stall before each write
      EXPECT_THAT(moved, ElementsAre("stall", "stall write colour depth data", "move", "stall",
                                     "stall write -texture -state -constant"));
      break;
    case 120:  // Wa_1607854226
      EXPECT_THAT(moved, ElementsAre("stall hdc", "select 0",
                                     "stall depth-stall write colour depth data hdc", "move",
                                     "stall write hdc -texture -state",
                                     "stall depth-stall colour depth hdc", "select 2"));
      break;
    case 125:
      EXPECT_THAT(moved, ElementsAre("stall write data hdc untyped", "move",
                                     "stall write -texture -state -constant -instruction"));
      break;
    default:
      EXPECT_THAT(moved, ElementsAre("stall write data hdc untyped", "move",
                                     "stall write -texture -state -constant"));
  }
}

// Wa_14014427904. In 3D, for tables, and elsewhere, it is as on the others.
TYPED_TEST(BaseMovesTest, AtsMForgetsBeforeItsComputePipelineMoves) {
  for (const BaseKind kind : {BaseKind::kSurfaceState, BaseKind::kBindingTablePool}) {
    for (const Pipeline pipeline : {Pipeline::k3D, Pipeline::kGpgpu}) {
      const auto moved = this->Moved(kind, pipeline, /*forgets_first=*/true);
      if (TypeParam::kVersion == 125 && kind == BaseKind::kSurfaceState &&
          pipeline == Pipeline::kGpgpu) {
        EXPECT_THAT(moved,
                    ElementsAre("stall hdc untyped -texture -state -constant -instruction", "move",
                                "stall write -texture -state -constant -instruction"));
      } else {
        EXPECT_EQ(moved, this->Moved(kind, pipeline));
      }
    }
  }
}

TYPED_TEST(BaseMovesTest, TablesOnlyWait) {
  if (TypeParam::kVersion < 110) return;  // they have no base of their own
  for (const Pipeline pipeline : {Pipeline::k3D, Pipeline::kGpgpu}) {
    auto moved = this->Moved(BaseKind::kBindingTablePool, pipeline);
    if (TypeParam::kVersion == 120) {
      if (pipeline == Pipeline::kGpgpu) {
        ASSERT_EQ(moved.size(), 7u);
        EXPECT_EQ(moved[0], "stall hdc");
        EXPECT_EQ(moved[1], "select 0");
        EXPECT_EQ(moved[5], "stall depth-stall colour depth hdc");
        EXPECT_EQ(moved[6], "select 2");
        moved = {moved[2], moved[3], moved[4]};
      }
      EXPECT_THAT(moved, ElementsAre("stall", "move", "stall write hdc -texture -state"));
    } else if (TypeParam::kVersion == 125) {
      EXPECT_THAT(moved, ElementsAre("stall", "move",
                                     "stall write -texture -state -constant -instruction"));
    } else {
      EXPECT_THAT(moved, ElementsAre("stall", "move", "stall write -texture -state -constant"));
    }
  }
}

TYPED_TEST(BaseMovesTest, AMoveThatDoesNotFitIsRefused) {
  gpu::HostChunks chunks({.chunk_dwords = 4096, .most_chunks = 1});
  Batch<TypeParam> batch(chunks);
  {
    typename Batch<TypeParam>::Group group(batch, 4);
    EXPECT_FALSE(EmitBaseMove<TypeParam>(group, typename TypeParam::Noop(), BaseKind::kSurfaceState,
                                         Pipeline::k3D, address(0x8000)));
  }
  EXPECT_EQ(batch.dwords(), 0u);
  EXPECT_FALSE(batch.status().ok());
}

}  // namespace
}  // namespace packsmith::intel
