// Rasterization, viewports and depth operations: what does not depend on packets.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "runtime/intel/pipeline/depth_targets.h"
#include "runtime/intel/pipeline/output.h"
#include "runtime/intel/pipeline/rasterization.h"
#include "runtime/intel/pipeline/viewport.h"

namespace packsmith::intel {
namespace {

void ExpectRefused(const absl::Status& status, absl::string_view words) {
  ASSERT_FALSE(status.ok()) << words;
  EXPECT_TRUE(absl::StrContains(status.message(), words)) << status;
}

TEST(Viewport, MapsClipSpaceToPixels) {
  ViewportTransform t;
  ASSERT_TRUE(
      TransformViewport(
          {.x = 10, .y = 20, .width = 100, .height = 50, .min_depth = 0.25f, .max_depth = 0.75f},
          {.width = 64, .height = 64}, t)
          .ok());
  // Corners of the clip volume: -1 and 1, depth 0 and 1.
  EXPECT_EQ(-t.scale[0] + t.offset[0], 10);
  EXPECT_EQ(t.scale[0] + t.offset[0], 110);
  EXPECT_EQ(-t.scale[1] + t.offset[1], 20);
  EXPECT_EQ(t.scale[1] + t.offset[1], 70);
  EXPECT_EQ(t.offset[2], 0.25f);
  EXPECT_EQ(t.scale[2] + t.offset[2], 0.75f);
  EXPECT_EQ(t.x[0], 10);
  EXPECT_EQ(t.x[1], 63);  // the target's last pixel
  EXPECT_EQ(t.y[1], 63);
  EXPECT_EQ(t.depth[0], 0);
  EXPECT_EQ(t.depth[1], 1);
}

TEST(Viewport, OpenGlsDepthAndClampedDepth) {
  ViewportTransform t;
  ASSERT_TRUE(
      TransformViewport(
          {.width = 1, .height = 1, .min_depth = 0.75f, .max_depth = 0.25f},
          {.depth_range = DepthRange::kMinusOneToOne, .clip_near = false, .clip_far = false}, t)
          .ok());
  EXPECT_EQ(-t.scale[2] + t.offset[2], 0.75f);
  EXPECT_EQ(t.scale[2] + t.offset[2], 0.25f);
  EXPECT_EQ(t.depth[0], 0.25f);
  EXPECT_EQ(t.depth[1], 0.75f);
}

TEST(Viewport, NegativeHeightsTurnTheImageUpsideDown) {
  ViewportTransform t;
  ASSERT_TRUE(
      TransformViewport({.y = 80, .width = 10, .height = -60}, {.width = 100, .height = 100}, t)
          .ok());
  EXPECT_EQ(-t.scale[1] + t.offset[1], 80);
  EXPECT_EQ(t.scale[1] + t.offset[1], 20);
  EXPECT_EQ(t.y[0], 20);
  EXPECT_EQ(t.y[1], 79);
  EXPECT_LT(t.guardband_y[0], t.guardband_y[1]);
}

// Whatever is in the guardband can be counted, and whatever may be drawn is in the guardband.
TEST(Viewport, GuardbandsContainAllThatIsDrawnAndNoMoreThanCanBeCounted) {
  std::mt19937 random(1);
  const auto number = [&](float least, float most) {
    return std::uniform_real_distribution<float>(least, most)(random);
  };
  for (int i = 0; i < 2000; ++i) {
    const float width = number(1, 16384), height = number(1, 16384) * (i % 2 == 0 ? 1 : -1);
    const Viewport viewport{
        .x = number(-8000, 8000), .y = number(-8000, 8000), .width = width, .height = height};
    const ViewportTarget target{.width = static_cast<uint32_t>(number(1, 8000)),
                                .height = static_cast<uint32_t>(number(1, 8000))};
    ViewportTransform t;
    const absl::Status status = TransformViewport(viewport, target, t);
    ASSERT_TRUE(status.ok()) << status;
    const auto check = [&](float scale, float offset, const float(&band)[2], float size,
                           const float(&extent)[2]) {
      const float a = band[0] * scale + offset, b = band[1] * scale + offset;
      EXPECT_NEAR(std::max(a, b) - std::min(a, b), 2 * kGuardband, 8);
      EXPECT_LT(band[0], band[1]);
      // The viewport is -1 to 1.
      EXPECT_LE(band[0], -1);
      EXPECT_GE(band[1], 1);
      EXPECT_GE(extent[0], 0);
      EXPECT_LE(extent[1], size - 1);
    };
    check(t.scale[0], t.offset[0], t.guardband_x, static_cast<float>(target.width), t.x);
    check(t.scale[1], t.offset[1], t.guardband_y, static_cast<float>(target.height), t.y);
  }
}

TEST(Viewport, RefusesWhatDoesNotFit) {
  ViewportTransform t;
  const float infinity = std::numeric_limits<float>::infinity();
  const float nothing = std::numeric_limits<float>::quiet_NaN();
  ExpectRefused(TransformViewport({.x = nothing, .width = 1, .height = 1}, {}, t), "not a number");
  ExpectRefused(TransformViewport({.width = infinity, .height = 1}, {}, t), "infinite");
  ExpectRefused(TransformViewport({.width = 0, .height = 1}, {}, t), "greater than 0");
  ExpectRefused(TransformViewport({.width = 1, .height = 0}, {}, t), "not 0");
  ExpectRefused(TransformViewport({.width = 1e-40f, .height = 1}, {}, t), "a viewport too small");
  ExpectRefused(TransformViewport({.width = 1, .height = -1e-45f}, {}, t), "a viewport too small");
  ExpectRefused(TransformViewport({.width = 16385, .height = 1}, {}, t), "at most 16384");
  ExpectRefused(TransformViewport({.x = 32767, .width = 2, .height = 1}, {}, t), "corners");
  ExpectRefused(TransformViewport({.y = -32769, .width = 2, .height = 1}, {}, t), "corners");
  ExpectRefused(TransformViewport({.y = -32768, .width = 2, .height = -1}, {}, t), "corners");
  ExpectRefused(TransformViewport({.width = 1, .height = 1}, {.width = 0}, t), "targets of 0");
  ExpectRefused(TransformViewport({.width = 1, .height = 1}, {.height = 16385}, t), "1 to 16384");
}

TEST(Scissor, LimitsToTheTargetAndEmptyOnesDrawNothing) {
  const ViewportTarget target{.width = 100, .height = 50};
  const ScissorLimits whole = LimitScissor({.width = 0xffffffff, .height = 0xffffffff}, target);
  EXPECT_EQ(whole.x_min, 0u);
  EXPECT_EQ(whole.x_max, 99u);
  EXPECT_EQ(whole.y_max, 49u);
  for (const Scissor& empty : {Scissor(), Scissor{.x = 5, .width = 0, .height = 5},
                               Scissor{.x = 100, .width = 5, .height = 5},
                               Scissor{.x = 0xffffffff, .width = 0xffffffff, .height = 5}}) {
    const ScissorLimits limits = LimitScissor(empty, target);
    EXPECT_GT(limits.x_min, limits.x_max);
    EXPECT_GT(limits.y_min, limits.y_max);
  }
}

TEST(Samples, AreAtStandardLocations) {
  for (uint32_t samples : {1u, 2u, 4u, 8u, 16u}) {
    const auto locations = StandardSampleLocations(samples);
    ASSERT_EQ(locations.size(), samples);
    // No two are in the same column or row (of one sample: it is in the middle).
    uint32_t columns = 0, rows = 0;
    for (const SampleLocation& location : locations) {
      EXPECT_EQ(columns >> location.x & 1, 0u) << samples;
      EXPECT_EQ(rows >> location.y & 1, 0u) << samples;
      columns |= 1u << location.x;
      rows |= 1u << location.y;
    }
  }
  EXPECT_TRUE(StandardSampleLocations(3).empty());
}

TEST(Blending, FactorsAreThoseThatHardwareNeeds) {
  BlendTarget target = BlendTarget::Over();
  target.color_op = BlendOp::kMin;
  HardwareFactors factors = HardwareFactorsOf(target, false);
  EXPECT_EQ(factors.src_color, BlendFactor::kOne);
  EXPECT_EQ(factors.dst_color, BlendFactor::kOne);
  EXPECT_EQ(factors.src_alpha, BlendFactor::kSrcAlpha);
  EXPECT_FALSE(factors.second_color);
  target = {.enable = true,
            .src_color = BlendFactor::kSrc1Alpha,
            .dst_color = BlendFactor::kOneMinusSrc1Alpha};
  EXPECT_TRUE(HardwareFactorsOf(target, false).second_color);
  factors = HardwareFactorsOf(target, true);
  EXPECT_EQ(factors.src_color, BlendFactor::kOne);
  EXPECT_EQ(factors.dst_color, BlendFactor::kZero);
  EXPECT_FALSE(factors.second_color);
}

TEST(DepthOperation, BlocksAreClearedAsAWhole) {
  DepthRectangle rectangle;
  const DepthOperationOptions options{.clear_depth = true,
                                      .x = 8,
                                      .y = 4,
                                      .width = 16,
                                      .height = 8,
                                      .level_width = 100,
                                      .level_height = 99};
  ASSERT_TRUE(CheckDepthOperation(options, 16, rectangle).ok());
  EXPECT_EQ(rectangle.x_min, 8u);
  EXPECT_EQ(rectangle.x_max, 24u);
  EXPECT_EQ(rectangle.y_max, 12u);
  EXPECT_FALSE(rectangle.whole);
  // To the edges of the level, which are in the middle of blocks.
  DepthOperationOptions edge = options;
  edge.width = 92;
  edge.height = 95;
  EXPECT_TRUE(CheckDepthOperation(edge, 16, rectangle).ok());
  edge.x = edge.y = 0;
  edge.width = 100;
  edge.height = 99;
  ASSERT_TRUE(CheckDepthOperation(edge, 16, rectangle).ok());
  EXPECT_TRUE(rectangle.whole);
  // Blocks have 8 x 4 samples (PRM, "Depth Buffer Clear"): 8 x 4 pixels of one sample, 4 x 2 of
  // four, 2 x 2 of eight.
  DepthOperationOptions small = options;
  small.x = 4;
  small.y = 2;
  ExpectRefused(CheckDepthOperation(small, 16, rectangle), "8 x 4");
  small.samples = 4;
  EXPECT_TRUE(CheckDepthOperation(small, 16, rectangle).ok());
  small.x = 2;
  ExpectRefused(CheckDepthOperation(small, 16, rectangle), "4 x 2");
  small.samples = 8;
  EXPECT_TRUE(CheckDepthOperation(small, 16, rectangle).ok());
  small.x = 1;
  ExpectRefused(CheckDepthOperation(small, 16, rectangle), "2 x 2");
}

TEST(DepthOperation, RefusesWhatDoesNotFit) {
  DepthRectangle rectangle;
  const auto check = [&](const DepthOperationOptions& options) {
    return CheckDepthOperation(options, 8, rectangle);
  };
  ExpectRefused(check({.width = 8, .height = 4}), "neither depth nor stencil");
  ExpectRefused(check({.clear_depth = true, .samples = 3, .width = 8, .height = 4}), "3 samples");
  ExpectRefused(check({.clear_depth = true, .samples = 16, .width = 8, .height = 4}), "at most 8");
  ExpectRefused(check({.clear_depth = true, .width = 0, .height = 4}), "not be empty");
  ExpectRefused(check({.clear_depth = true, .x = 8, .width = 8, .height = 4, .level_width = 8}),
                "in the level");
  ExpectRefused(check({.clear_depth = true, .x = 0xfffffff8, .width = 16, .height = 4}),
                "in the level");
  ExpectRefused(check({.clear_depth = true, .width = 16388, .height = 4}), "at most 16384");
}

}  // namespace
}  // namespace packsmith::intel
