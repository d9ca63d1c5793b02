// State that is derived from packets that were set: it is emitted when it changes, and only then.
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/state/draw_state.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/tested.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <class Gen>
class DerivedTest : public testing::Test {
 protected:
  using G = typename Gen::Packets;
  using Test = typename G::_3DSTATE_WM_DEPTH_STENCIL;

  void SetUp() override { state_.Set(typename G::_3DSTATE_VF_TOPOLOGY()); }

  std::vector<Met> Flushed() {
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks);
    state_.InheritAll();
    EXPECT_TRUE(state_.Flush(batch)) << state_.status();
    EXPECT_TRUE(batch.End().ok());
    return World().Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu).packets;
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const Met& met : Flushed()) {
      EXPECT_EQ(met.faults, 0u) << met.name;
      if (met.name != "MI_BATCH_BUFFER_END") names.push_back(met.name);
    }
    // Where the end is aligned.
    while (!names.empty() && names.back() == "MI_NOOP") names.pop_back();
    return names;
  }

  DrawState<Gen> state_{address(0x7000, 99)};
};
TYPED_TEST_SUITE(DerivedTest, Generations);

TYPED_TEST(DerivedTest, ShadersOfPixelsWaitWhereWritingOfDepthOrStencilBeginsOrEnds) {
  using Test = typename TestFixture::Test;
  this->Flushed();
  const auto flushed_with = [&](bool depth, bool stencil, uint32_t mask) {
    EXPECT_TRUE(this->state_.Set(Test{.depth_buffer_write_enable = depth,
                                      .stencil_buffer_write_enable = stencil,
                                      .stencil_write_mask = mask}));
    return this->Names();
  };
  const auto waits = ElementsAre("3DSTATE_WM_DEPTH_STENCIL", "PIPE_CONTROL");
  const auto goes_on = ElementsAre("3DSTATE_WM_DEPTH_STENCIL");
  if (TypeParam::kVersion != 125) {  // Gfx12.5 alone needs it
    EXPECT_THAT(flushed_with(false, false, 0), goes_on);
    EXPECT_THAT(flushed_with(true, false, 1), goes_on);
    EXPECT_THAT(flushed_with(false, true, 2), goes_on);
    return;
  }
  EXPECT_THAT(flushed_with(false, false, 0), waits) << "the state before is unknown";
  EXPECT_THAT(flushed_with(false, false, 1), goes_on);
  EXPECT_THAT(flushed_with(true, false, 1), waits);
  EXPECT_THAT(flushed_with(true, true, 1), goes_on);
  EXPECT_THAT(flushed_with(false, true, 2), goes_on);
  EXPECT_THAT(flushed_with(false, true, 2), IsEmpty());
  EXPECT_THAT(flushed_with(false, false, 2), waits);
  this->state_.Forget();
  const std::vector<Met> again = this->Flushed();
  ASSERT_GE(again.size(), 4u);
  EXPECT_EQ(again[2].name, "PIPE_CONTROL");
  if constexpr (TypeParam::kVersion == 125) {
    EXPECT_TRUE(TestFixture::G::PIPE_CONTROL::unpack(again[2].dwords.data()).pss_stall_sync_enable);
  }
}

TYPED_TEST(DerivedTest, WhatIsSetBackBeforeADrawIsNoChange) {
  using Test = typename TestFixture::Test;
  if (TypeParam::kVersion != 125) GTEST_SKIP() << "only Gfx12.5 shows it";
  this->state_.Set(Test());
  this->Flushed();
  this->state_.Set(Test{.depth_buffer_write_enable = true});
  // No room: results of the failed flush must not outlive it.
  gpu::HostChunks none({.chunk_dwords = 16, .most_chunks = 0});
  Batch<TypeParam> batch(none);
  EXPECT_FALSE(this->state_.Flush(batch));
  this->state_.Set(Test());
  EXPECT_THAT(this->Names(), IsEmpty());
}

TYPED_TEST(DerivedTest, ABarrierFollowsWhereBoundedDepthAndDiscardedPixelsMeetOrPart) {
  using G = typename TestFixture::G;
  if constexpr (!requires { typename G::_3DSTATE_DEPTH_BOUNDS; }) {
    GTEST_SKIP() << "no depth bounds in this generation";
  } else {
    this->Flushed();
    const auto bounds = [&](bool on) {
      typename G::_3DSTATE_DEPTH_BOUNDS packet;
      packet.depth_bounds_test_enable = on;
      EXPECT_TRUE(this->state_.Set(packet));
      return this->Names();
    };
    const auto kills = [&](bool on) {
      EXPECT_TRUE(this->state_.Set(typename G::_3DSTATE_PS_EXTRA{.pixel_shader_kills_pixel = on}));
      return this->Names();
    };
    if (TypeParam::kVersion != 200) {  // Xe2 alone needs it
      EXPECT_THAT(bounds(true), ElementsAre("3DSTATE_DEPTH_BOUNDS"));
      EXPECT_THAT(kills(true), ElementsAre("3DSTATE_PS_EXTRA"));
      return;
    }
    EXPECT_THAT(bounds(true), ElementsAre("3DSTATE_DEPTH_BOUNDS")) << "the shader is not known";
    EXPECT_THAT(kills(false), ElementsAre("3DSTATE_PS_EXTRA", "MI_NOOP", "RESOURCE_BARRIER"));
    EXPECT_THAT(kills(true), ElementsAre("3DSTATE_PS_EXTRA", "MI_NOOP", "RESOURCE_BARRIER"));
    EXPECT_THAT(bounds(false), ElementsAre("3DSTATE_DEPTH_BOUNDS", "MI_NOOP", "RESOURCE_BARRIER"));
    EXPECT_THAT(kills(false), ElementsAre("3DSTATE_PS_EXTRA"));
  }
}

// Of Gfx8 and Gfx9.
template <class Gen>
struct Equation {
  using G = typename Gen::Packets;
  typename G::_3DSTATE_WM wm;
  typename G::_3DSTATE_RASTER raster;
  typename G::_3DSTATE_PS_EXTRA shader;
  typename G::_3DSTATE_PS_BLEND blend;
  typename G::_3DSTATE_WM_DEPTH_STENCIL test;
  typename G::_3DSTATE_DEPTH_BUFFER depth;
  typename G::_3DSTATE_STENCIL_BUFFER stencil;

  // Mostly so that the equation holds; each term fails now and then.
  void SetRandom(std::mt19937& random) {
    const auto rarely = [&] { return random() % 12 == 0; };
    const auto often = [&] { return !rarely(); };
    wm.force_thread_dispatch_enable = rarely() ? 2 : random() % 2;
    wm.early_depth_stencil_control = rarely() ? 2 : random() % 2;
    wm.force_kill_pixel_enable = random() % 3;
    raster.forced_sample_count = rarely();
    shader.pixel_shader_valid = often();
    shader.pixel_shader_kills_pixel = random() % 4 == 0;
    shader.omask_present_to_render_target = random() % 4 == 0;
    shader.pixel_shader_computed_depth_mode = rarely();
    if constexpr (requires { shader.pixel_shader_computes_stencil; }) {
      shader.pixel_shader_computes_stencil = random() % 2;
    }
    blend.alpha_to_coverage_enable = random() % 4 == 0;
    blend.alpha_test_enable = random() % 4 == 0;
    test.depth_test_enable = often();
    test.depth_buffer_write_enable = random() % 2;
    test.stencil_test_enable = random() % 2;
    test.stencil_buffer_write_enable = random() % 2;
    depth.surface_type = rarely() ? 7 : 1;
    depth.hierarchical_depth_buffer_enable = often();
    depth.depth_write_enable = random() % 2;
    depth.stencil_write_enable = random() % 2;
    depth.mocs = stencil.mocs = 2;
    stencil.stencil_buffer_enable = often();
  }
  // As in the manuals.
  bool Holds() const {
    bool all = wm.force_thread_dispatch_enable != 2 && raster.forced_sample_count == 0 &&
               depth.surface_type != 7 && depth.hierarchical_depth_buffer_enable &&
               wm.early_depth_stencil_control != 2 && shader.pixel_shader_valid;
    const bool stencil_write = stencil.stencil_buffer_enable && test.stencil_buffer_write_enable &&
                               depth.stencil_write_enable;
    const bool discards = shader.pixel_shader_kills_pixel ||
                          shader.omask_present_to_render_target || blend.alpha_to_coverage_enable ||
                          blend.alpha_test_enable;
    const bool computes = shader.pixel_shader_computed_depth_mode != 0;
    if constexpr (Gen::kVersion == 80) {
      all = all && test.depth_test_enable &&
            ((discards && wm.force_kill_pixel_enable != 1 &&
              ((test.depth_buffer_write_enable && depth.depth_write_enable) || stencil_write)) ||
             computes);
    } else {
      all = all &&
            ((stencil.stencil_buffer_enable && test.stencil_test_enable &&
              shader.pixel_shader_computes_stencil) ||
             stencil_write) &&
            (discards || wm.force_kill_pixel_enable == 2 || computes);
    }
    return all;
  }
};

TYPED_TEST(DerivedTest, PixelsPassOverWaitsWhereTheManualsEquationHolds) {
  using G = typename TestFixture::G;
  if constexpr (TypeParam::kVersion > 90) {
    GTEST_SKIP() << "only Gfx8 and Gfx9 have it";
  } else {
    std::mt19937 random(1);
    auto& state = this->state_;
    state.Set(typename G::_3DSTATE_HIER_DEPTH_BUFFER{.mocs = 2});
    state.Set(typename G::_3DSTATE_CLEAR_PARAMS());
    bool allowed = false, known = false, on = false;
    unsigned held = 0, changes = 0;
    for (unsigned i = 0; i < 2000; ++i) {
      Equation<TypeParam> equation;
      equation.SetRandom(random);
      EXPECT_TRUE(state.Set(equation.wm) && state.Set(equation.raster) &&
                  state.Set(equation.shader) && state.Set(equation.blend) &&
                  state.Set(equation.test) && state.Set(equation.depth) &&
                  state.Set(equation.stencil));
      if (i > 20 && random() % 8 == 0) state.AllowStallFix(allowed = !allowed);
      const bool wanted = allowed && equation.Holds();
      held += equation.Holds();
      bool seen = false;
      const std::vector<Met> packets = this->Flushed();
      for (size_t p = 0; p < packets.size(); ++p) {
        if (packets[p].name != "MI_LOAD_REGISTER_IMM") continue;
        seen = true;
        ASSERT_GT(p, 0u);
        EXPECT_EQ(packets[p - 1].name, "PIPE_CONTROL");
        EXPECT_EQ(packets[p + 1].name, "PIPE_CONTROL");
        const auto load = G::MI_LOAD_REGISTER_IMM::unpack(packets[p].dwords.data());
        if constexpr (TypeParam::kVersion == 80) {
          EXPECT_EQ(load.register_offset_, G::CACHE_MODE_1::register_offset);
          const auto mode = G::CACHE_MODE_1::unpack(&load.data_dword);
          EXPECT_EQ(mode.np_pma_fix_enable, wanted ? 1u : 0u);
          EXPECT_EQ(mode.np_early_z_fails_disable, wanted ? 1u : 0u);
        } else {
          EXPECT_EQ(load.register_offset_, G::CACHE_MODE_0::register_offset);
          EXPECT_EQ(G::CACHE_MODE_0::unpack(&load.data_dword).stc_pma_optimization_enable, wanted);
        }
      }
      // Until it is allowed once, it is not emitted.
      EXPECT_EQ(seen, (known || allowed) && (!known || wanted != on)) << i;
      changes += seen;
      known = known || allowed;
      on = wanted;
    }
    EXPECT_GT(held, 100u);
    EXPECT_GT(changes, 50u);
  }
}

}  // namespace
}  // namespace packsmith::intel
