// Intel's tiles that depend on the size of elements, samples, and mip tails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "runtime/layout/layout.h"
#include "tests/layout/images.h"

namespace packsmith::layout {
namespace {

const char* FormatOf(uint32_t element_B) {
  switch (element_B) {
    case 1:
      return "R8_UNORM";
    case 2:
      return "R16_UNORM";
    case 4:
      return "R8G8B8A8_UNORM";
    case 8:
      return "R32G32_FLOAT";
    default:
      return "R32G32B32A32_FLOAT";
  }
}

// The tile's bits, highest first, as bits of elements.
std::string BitsOf(Scheme scheme, uint32_t element_B, uint32_t samples = 1, Dim dim = Dim::k2d) {
  ImageDescription image = Image(scheme, FormatOf(element_B), 300, 300, 1, 1, samples);
  image.dim = dim;
  if (dim == Dim::k3d) image.layers = 40;
  return LayOut(image).TilingOf(0).Text();
}

// As in the manuals, of which the lowest bits are those of a byte in an element.
TEST(IntelTiles, YsAndYfDependOnTheElementsSize) {
  EXPECT_EQ(BitsOf(Scheme::kIntelYs, 1), "x7 y7 x6 y6 x5 y5 x4 y4 y3 y2 y1 y0 x3 x2 x1 x0");
  EXPECT_EQ(BitsOf(Scheme::kIntelYs, 2), "x7 y6 x6 y5 x5 y4 x4 y3 x3 y2 y1 y0 x2 x1 x0");
  EXPECT_EQ(BitsOf(Scheme::kIntelYs, 4), "x6 y6 x5 y5 x4 y4 x3 y3 x2 y2 y1 y0 x1 x0");
  EXPECT_EQ(BitsOf(Scheme::kIntelYs, 8), "x6 y5 x5 y4 x4 y3 x3 y2 x2 x1 y1 y0 x0");
  EXPECT_EQ(BitsOf(Scheme::kIntelYs, 16), "x5 y5 x4 y4 x3 y3 x2 y2 x1 x0 y1 y0");
  EXPECT_EQ(BitsOf(Scheme::kIntelYf, 1), "x5 y5 x4 y4 y3 y2 y1 y0 x3 x2 x1 x0");
  EXPECT_EQ(BitsOf(Scheme::kIntelYf, 4), "x4 y4 x3 y3 x2 y2 y1 y0 x1 x0");
  EXPECT_EQ(BitsOf(Scheme::kIntelYf, 16), "x3 y3 x2 y2 x1 x0 y1 y0");
}

TEST(IntelTiles, Tile64DependsOnTheElementsSize) {
  for (const Scheme scheme : {Scheme::kIntelTile64, Scheme::kIntelTile64Xe2}) {
    EXPECT_EQ(BitsOf(scheme, 1), "y7 y6 y5 x7 y4 y3 x6 y2 x5 x4 y1 y0 x3 x2 x1 x0");
    EXPECT_EQ(BitsOf(scheme, 2), "y6 y5 x7 x6 y4 y3 x5 y2 x4 x3 y1 y0 x2 x1 x0");
    EXPECT_EQ(BitsOf(scheme, 4), "y6 y5 x6 x5 y4 y3 x4 y2 x3 x2 y1 y0 x1 x0");
    EXPECT_EQ(BitsOf(scheme, 8), "y5 x6 x5 x4 y4 y3 x3 y2 x2 x1 y1 y0 x0");
    EXPECT_EQ(BitsOf(scheme, 16), "y5 x5 x4 x3 y4 y3 x2 y2 x1 x0 y1 y0");
  }
}

TEST(IntelTiles, SamplesAreHighInYsAndYf) {
  EXPECT_EQ(BitsOf(Scheme::kIntelYs, 4, 2), "s0 y6 x5 y5 x4 y4 x3 y3 x2 y2 y1 y0 x1 x0");
  EXPECT_EQ(BitsOf(Scheme::kIntelYs, 1, 16), "s3 s2 s1 s0 x5 y5 x4 y4 y3 y2 y1 y0 x3 x2 x1 x0");
  EXPECT_EQ(BitsOf(Scheme::kIntelYf, 16, 4), "s1 s0 x2 y2 x1 x0 y1 y0");
  EXPECT_EQ(BitsOf(Scheme::kIntelYf, 8, 8), "s2 s1 s0 y2 x2 x1 y1 y0 x0");
}

TEST(IntelTiles, Tile64HasFourSamplesAtMost) {
  EXPECT_EQ(BitsOf(Scheme::kIntelTile64, 4, 2), "y6 y5 x5 x4 y4 y3 x3 y2 s0 x2 y1 y0 x1 x0");
  EXPECT_EQ(BitsOf(Scheme::kIntelTile64, 16, 2), "y5 x4 x3 x2 y4 y3 x1 y2 s0 x0 y1 y0");
  for (const uint32_t samples : {4u, 8u, 16u}) {
    EXPECT_EQ(BitsOf(Scheme::kIntelTile64, 1, samples),
              "y6 y5 y4 x6 y3 y2 x5 s1 s0 x4 y1 y0 x3 x2 x1 x0");
    EXPECT_EQ(BitsOf(Scheme::kIntelTile64, 8, samples), "y4 x5 x4 x3 y3 y2 x2 s1 s0 x1 y1 y0 x0");
  }
}

TEST(IntelTiles, Tile64OfXe2HasAllSamples) {
  constexpr Scheme kXe2 = Scheme::kIntelTile64Xe2;
  EXPECT_EQ(BitsOf(kXe2, 1, 2), "y7 y6 y5 y4 y3 y2 x6 s0 x5 x4 y1 y0 x3 x2 x1 x0");
  EXPECT_EQ(BitsOf(kXe2, 8, 2), "y5 x5 x4 x3 y4 y3 x2 y2 s0 x1 y1 y0 x0");
  EXPECT_EQ(BitsOf(kXe2, 16, 2), "y4 x5 x4 x3 y3 y2 x2 s0 x1 x0 y1 y0");
  EXPECT_EQ(BitsOf(kXe2, 4, 4), "y5 y4 x5 x4 y3 y2 s1 s0 x3 x2 y1 y0 x1 x0");
  EXPECT_EQ(BitsOf(kXe2, 4, 8), "y4 y3 x5 x4 y2 x3 s2 s1 s0 x2 y1 y0 x1 x0");
  EXPECT_EQ(BitsOf(kXe2, 2, 8), "y5 y4 y3 x5 y2 x4 s2 s1 s0 x3 y1 y0 x2 x1 x0");
  EXPECT_EQ(BitsOf(kXe2, 16, 16), "y3 x3 x2 x1 y2 x0 s3 s2 s1 s0 y1 y0");
}

TEST(IntelTiles, Tile64Of3dImagesIsSeveralLayersDeep) {
  EXPECT_EQ(BitsOf(Scheme::kIntelTile64, 1, 1, Dim::k3d),
            "z4 z3 z2 x5 y4 y3 z1 y2 z0 x4 y1 y0 x3 x2 x1 x0");
  EXPECT_EQ(BitsOf(Scheme::kIntelTile64, 2, 1, Dim::k3d),
            "z4 z3 z2 y4 y3 x4 z1 y2 z0 x3 y1 y0 x2 x1 x0");
  EXPECT_EQ(BitsOf(Scheme::kIntelTile64, 4, 1, Dim::k3d),
            "z3 z2 y4 x4 y3 x3 z1 y2 z0 x2 y1 y0 x1 x0");
  EXPECT_EQ(BitsOf(Scheme::kIntelTile64, 16, 1, Dim::k3d), "z3 z2 y3 x3 x2 x1 z1 y2 z0 x0 y1 y0");
  EXPECT_EQ(BitsOf(Scheme::kIntelTile64Xe2, 4, 1, Dim::k3d),
            "z3 z2 y4 x4 y3 y2 z1 z0 x3 x2 y1 y0 x1 x0");
  EXPECT_EQ(BitsOf(Scheme::kIntelTile64Xe2, 8, 1, Dim::k3d),
            "z3 z2 y3 x4 x3 y2 z1 z0 x2 x1 y1 y0 x0");

  ImageDescription image = Image(Scheme::kIntelTile64, "R8G8B8A8_UNORM", 33, 40, 1, 20);
  image.dim = Dim::k3d;
  const Layout layout = LayOut(image);  // tiles of 32x32x16: 2 by 2 by 2 of them
  EXPECT_EQ(layout.levels()[0].tile_d_el(), 16u);
  EXPECT_EQ(layout.layer_stride_B(), 4u * 65536);
  EXPECT_EQ(layout.size_B(), 8u * 65536);
  EXPECT_EQ(layout.AddressOf({0, 17, 0, 0, 0}), 4u * 65536 + 128);
  EXPECT_EQ(layout.AddressOf({0, 19, 32, 39, 0}).value() / 65536, 7u);
}

// The manuals put samples of a depth buffer side by side: 2 by 1, 2 by 2, 4 by 2 and 4 by 4 of
// them, with each pixel's neighbour between, and sizes rounded up to an even number before.
TEST(IntelSamples, ThoseOfDepthAndStencilAreInterleaved) {
  struct Case {
    uint32_t samples, sample, x, y, physical_x, physical_y;
  };
  const Case cases[] = {
      {2, 1, 0, 0, 2, 0},  {2, 0, 1, 0, 1, 0},  {2, 1, 3, 5, 7, 5},   {4, 1, 0, 0, 2, 0},
      {4, 2, 0, 0, 0, 2},  {4, 3, 1, 1, 3, 3},  {4, 0, 2, 2, 4, 4},   {8, 1, 0, 0, 2, 0},
      {8, 2, 0, 0, 0, 2},  {8, 4, 0, 0, 4, 0},  {8, 7, 3, 2, 15, 6},  {16, 8, 0, 0, 0, 4},
      {16, 4, 0, 0, 4, 0}, {16, 2, 0, 0, 0, 2}, {16, 15, 1, 1, 7, 7}, {16, 0, 2, 2, 8, 8},
  };
  for (const Scheme scheme :
       {Scheme::kIntelY, Scheme::kIntelYs, Scheme::kIntelTile64, Scheme::kIntelTile64Xe2}) {
    for (const Case& c : cases) {
      const Layout samples = LayOut(Image(scheme, "Z32_FLOAT", 50, 50, 1, 1, c.samples));
      const Layout physical = LayOut(Image(scheme, "R32_FLOAT", 256, 256));
      // In the first tile pitches do not matter.
      EXPECT_EQ(samples.AddressOf({0, 0, c.x, c.y, c.sample}),
                physical.AddressOf({0, 0, c.physical_x, c.physical_y, 0}))
          << SchemeName(scheme) << " " << c.samples << " " << c.sample;
    }
  }
  const Layout stencil = LayOut(Image(Scheme::kIntelW, "S8_UINT", 33, 33, 1, 1, 4));
  EXPECT_EQ(stencil.levels()[0].tile_w_el(), 32u);
  EXPECT_EQ(stencil.size_B(), 4u * 4096);
  EXPECT_EQ(stencil.sample_stride_B(), 0u);
}

TEST(IntelSamples, ThoseOfColoursAreSlices) {
  // A slice has 2 by 4 tiles of 32x32.
  const Layout layout = LayOut(Image(Scheme::kIntelY, "R8G8B8A8_UNORM", 50, 100, 1, 3, 8));
  EXPECT_EQ(layout.sample_stride_B(), 8u * 4096);
  EXPECT_EQ(layout.layer_stride_B(), 8u * 8 * 4096);
  EXPECT_EQ(layout.size_B(), 3u * 8 * 8 * 4096);
  EXPECT_EQ(layout.AddressOf({0, 2, 33, 0, 5}), (2u * 8 + 5) * 8 * 4096 + 4096 + 4);
}

TEST(IntelSamples, Gfx6InterleavesColoursToo) {
  ImageDescription image = Image(Scheme::kIntelY, "R8G8B8A8_UNORM", 50, 100, 1, 1, 4);
  image.interleave_samples = true;
  const Layout colour = LayOut(image);
  EXPECT_EQ(colour.size_B(),
            LayOut(Image(Scheme::kIntelY, "Z24X8_UNORM", 50, 100, 1, 1, 4)).size_B());
  EXPECT_EQ(colour.AddressOf({0, 0, 0, 0, 1}), 8u);
}

TEST(IntelSamples, WhatATileHasNoPlaceForIsInTheNextSlice) {
  // 128x128 of 4 samples of 1 B are a tile.
  const Layout layout = LayOut(Image(Scheme::kIntelTile64, "R8_UNORM", 128, 128, 1, 2, 16));
  EXPECT_EQ(layout.sample_stride_B(), 65536u);
  EXPECT_EQ(layout.layer_stride_B(), 4u * 65536);
  EXPECT_EQ(layout.AddressOf({0, 1, 0, 0, 6}), 4u * 65536 + 65536 + 256);
  const Layout xe2 = LayOut(Image(Scheme::kIntelTile64Xe2, "R8_UNORM", 64, 64, 1, 2, 16));
  EXPECT_EQ(xe2.sample_stride_B(), 0u);
  EXPECT_EQ(xe2.size_B(), 2u * 65536);
}

TEST(IntelSamples, ThePitchIsAMultipleOfATilesWidthInSamples) {
  // A tile of 4 samples of 4 B has 64x64 pixels, and is programmed as 256 B by 256 rows.
  ImageDescription image = Image(Scheme::kIntelTile64, "R8G8B8A8_UNORM", 64, 65, 1, 1, 4);
  image.stride_B = 512;
  const Layout layout = LayOut(image);
  EXPECT_EQ(layout.size_B(), 4u * 65536);
  EXPECT_EQ(layout.levels()[0].pitch_el, 128u);
  image.stride_B = 128;
  EXPECT_THAT(BrokenRuleOf(image), testing::HasSubstr("256 B; 128 is not"));
}

TEST(IntelMipTail, LevelsBeginAtTilesUpToTheTail) {
  // Tiles of 128x128; level 1 has one, level 2 is next to it, with room that it does not use.
  ImageDescription image = Image(Scheme::kIntelTile64, "R8G8B8A8_UNORM", 256, 256, 9);
  const Layout without = LayOut(image);
  EXPECT_EQ(without.levels()[1].offset_B, 4u * 65536);
  EXPECT_EQ(without.levels()[2].offset_B, 5u * 65536);
  EXPECT_EQ(without.levels()[3].offset_B, 7u * 65536);
  image.mip_tail_level = 2;
  const Layout with = LayOut(image);
  EXPECT_EQ(with.size_B(), 6u * 65536);
  EXPECT_EQ(with.levels()[8].offset_B, 5u * 65536);
}

struct Slot {
  uint32_t x_el, y_el;
};

TEST(IntelMipTail, SlotsAreWhereTheManualHasThem) {
  const auto expect = [](Scheme scheme, const char* format, uint32_t w_px, uint32_t h_px,
                         std::initializer_list<Slot> slots) {
    ImageDescription image = Image(scheme, format, w_px, h_px, static_cast<uint32_t>(slots.size()));
    image.mip_tail_level = 0;
    const Layout layout = LayOut(image);
    EXPECT_EQ(layout.size_B(), scheme == Scheme::kIntelYf ? 4096u : 65536u);
    size_t level = 0;
    for (const Slot& slot : slots) {
      EXPECT_EQ(layout.levels()[level].x_el, slot.x_el) << SchemeName(scheme) << " " << level;
      EXPECT_EQ(layout.levels()[level].y_el, slot.y_el) << SchemeName(scheme) << " " << level;
      ++level;
    }
  };
  expect(Scheme::kIntelTile64, "R32G32B32A32_FLOAT", 32, 64,
         {{32, 0}, {0, 32}, {16, 0}, {0, 16}, {8, 0}, {4, 8}, {0, 12}});
  expect(Scheme::kIntelYs, "R8G8B8A8_UNORM", 64, 128,
         {{64, 0}, {0, 64}, {32, 0}, {0, 32}, {16, 0}, {8, 16}, {0, 24}, {0, 16}});
  expect(Scheme::kIntelTile64Xe2, "R8_UNORM", 128, 256,
         {{128, 0}, {0, 128}, {64, 0}, {0, 64}, {32, 0}, {16, 32}, {0, 48}, {0, 32}, {16, 16}});
  expect(Scheme::kIntelYf, "R16_UNORM", 32, 32,
         {{32, 0}, {16, 16}, {0, 24}, {0, 16}, {16, 8}, {16, 0}});
}

}  // namespace
}  // namespace packsmith::layout
