// Rectangles of clears and resolves of colours, compared with those that iris drew and with the
// manuals' tables.
#include "runtime/intel/pipeline/color_operations.h"

#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

ColorOperationOptions Whole(uint32_t width, uint32_t height) {
  return {.width = width, .height = height, .level_width = width, .level_height = height};
}

// tests/data/captures: the program's target, 256 x 128 pixels of 4 bytes. The vertices of the draws
// whose 3DSTATE_PS clears or resolves have these corners.
TEST(ColorOperations, RectanglesAreTheDrivers) {
  const struct {
    unsigned version;
    PixelOperation operation;
    ColorRectangle corners;
  } rows[] = {{90, PixelOperation::kFastClear, {0, 0, 4, 4}},
              {90, PixelOperation::kPartialResolve, {0, 0, 4, 4}},
              {110, PixelOperation::kFastClear, {0, 0, 4, 4}},
              {120, PixelOperation::kFastClear, {0, 0, 4, 8}},
              {125, PixelOperation::kFastClear, {0, 0, 1, 8}}};
  for (const auto& row : rows) {
    ColorOperationOptions options = Whole(256, 128);
    options.operation = row.operation;
    if (row.version == 125) options.tiling = SurfaceTiling::k4;
    const auto rectangle = PlanColorOperation(options, FactsOf(row.version));
    ASSERT_TRUE(rectangle.ok()) << rectangle.status();
    EXPECT_EQ(*rectangle, row.corners) << row.version;
  }
}

// PRM of Broadwell, "Color Clear of Non-MultiSampler Render Target": blocks of 128 x 128 pixels of
// 4 bytes, scaled by 64 and 64; half as wide for twice the bytes.
TEST(ColorOperations, BlocksDependOnTheSizeOfTexels) {
  const struct {
    unsigned version;
    uint32_t bytes, width, height;  // of what a pixel stands for
  } rows[] = {{80, 4, 64, 64},   {80, 8, 32, 64},    {80, 16, 16, 64},
              {90, 8, 32, 32},   {90, 16, 16, 32},   {120, 1, 256, 16},
              {120, 2, 128, 16}, {125, 1, 1024, 16}, {125, 16, 64, 16}};
  for (const auto& row : rows) {
    ColorOperationOptions options = Whole(4096, 2048);
    options.texel_bytes = row.bytes;
    if (row.version == 125) options.tiling = SurfaceTiling::k4;
    const auto rectangle = PlanColorOperation(options, FactsOf(row.version));
    ASSERT_TRUE(rectangle.ok()) << rectangle.status();
    EXPECT_EQ(*rectangle, (ColorRectangle{0, 0, 4096 / row.width, 2048 / row.height}))
        << row.version << " " << row.bytes;
  }
}

TEST(ColorOperations, OfSeveralSamplesEachNumberHasItsScale) {
  const struct { uint32_t samples, width; } rows[] = {{2, 8}, {4, 8}, {8, 2}, {16, 1}};
  for (const auto& row : rows) {
    ColorOperationOptions options = Whole(256, 128);
    options.samples = row.samples;
    const auto rectangle = PlanColorOperation(options, FactsOf(90));
    ASSERT_TRUE(rectangle.ok()) << rectangle.status();
    EXPECT_EQ(*rectangle, (ColorRectangle{0, 0, 256 / row.width, 64})) << row.samples;
    options.operation = PixelOperation::kFullResolve;
    EXPECT_EQ(PlanColorOperation(options, FactsOf(90)).status().code(),
              absl::StatusCode::kUnimplemented);
  }
}

// Whatever the size of a level, all of it is covered, and whole blocks.
TEST(ColorOperations, TheRestOfALevelIsRoundedUp) {
  for (uint32_t width = 1; width < 300; width += 7) {
    for (const unsigned version : {80, 90, 110, 120}) {
      const auto rectangle = PlanColorOperation(Whole(width, width), FactsOf(version));
      ASSERT_TRUE(rectangle.ok()) << rectangle.status();
      EXPECT_GE(rectangle->x1 * 64, width);
      EXPECT_EQ(rectangle->x1 % 2, 0u) << "a block is two pixels of the draw";
    }
  }
}

TEST(ColorOperations, APartOfALevelMustConsistOfBlocks) {
  ColorOperationOptions options = Whole(200, 200);
  options.x = 128;
  options.width = 72;  // to the level's end
  const auto rectangle = PlanColorOperation(options, FactsOf(90));
  ASSERT_TRUE(rectangle.ok()) << rectangle.status();
  EXPECT_EQ(*rectangle, (ColorRectangle{2, 0, 4, 8}));
  options.width = 71;
  EXPECT_THAT(PlanColorOperation(options, FactsOf(90)).status().message(),
              HasSubstr("divides blocks of 128 x 64 pixels"));
  options.x = 64;
  EXPECT_FALSE(PlanColorOperation(options, FactsOf(90)).ok());
}

TEST(ColorOperations, WhatCannotBeIsRefused) {
  const auto refused = [](ColorOperationOptions options, unsigned version, const char* text) {
    EXPECT_THAT(PlanColorOperation(options, FactsOf(version)).status().message(), HasSubstr(text));
  };
  refused(Whole(8, 8), 200, "is not known");
  refused(Whole(8, 8), 300, "is not known");
  refused(Whole(0, 8), 90, "0 x 8 pixels");
  ColorOperationOptions options = Whole(8, 8);
  options.x = 0xffffffff;
  refused(options, 90, "in a level of 8 x 8");
  options = Whole(8, 8);
  options.texel_bytes = 2;
  refused(options, 90, "they must have 4, 8 or 16");
  options.texel_bytes = 12;
  refused(options, 120, "1, 2, 4, 8 or 16");
  options = Whole(8, 8);
  options.tiling = SurfaceTiling::kX;
  refused(options, 90, "it must be Y");
  refused(options, 125, "it must be 4");
  options = Whole(8, 8);
  options.samples = 3;
  refused(options, 90, "3 samples");
  options.operation = PixelOperation::kDraw;
  refused(options, 90, "kDraw");
}

}  // namespace
}  // namespace packsmith::intel
