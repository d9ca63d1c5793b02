// u-interleaved and Intel: a test for each rule, and for each way to break one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "runtime/layout/layout.h"
#include "tests/layout/images.h"

namespace packsmith::layout {
namespace {

using ::testing::HasSubstr;

constexpr Scheme kU = Scheme::kUInterleaved;

TEST(UInterleaved, TilesAre16x16PixelsOr4x4Blocks) {
  EXPECT_EQ(LayOut(Image(kU, "R8_UNORM", 20, 20)).levels()[0].tile_w_el(), 16u);
  EXPECT_EQ(LayOut(Image(kU, "ETC2_RGB8", 20, 20)).levels()[0].tile_h_el(), 4u);
}

TEST(UInterleaved, ARowOfTilesHasWholeTiles) {
  EXPECT_EQ(LayOut(Image(kU, "R8_UNORM", 17, 17)).size_B(), 4u * 256);
  EXPECT_EQ(LayOut(Image(kU, "R16G16B16_UNORM", 17, 1)).size_B(), 2u * 256 * 6);
  // 20x20 px are 5x5 blocks, in 2x2 tiles.
  EXPECT_EQ(LayOut(Image(kU, "ETC2_RGB8", 20, 20)).size_B(), 4u * 16 * 8);
}

TEST(UInterleaved, ElementsNeedNotBePowersOfTwo) {
  for (const char* format :
       {"R8_UNORM", "R16_UNORM", "R8G8B8_UNORM", "R32_FLOAT", "R16G16B16_FLOAT", "R32G32_FLOAT",
        "R32G32B32_FLOAT", "R32G32B32A32_FLOAT", "R64G64B64_FLOAT", "R64G64B64A64_FLOAT"}) {
    const uint32_t el_B = FindFormat(format)->block_B;
    const Layout layout = LayOut(Image(kU, format, 32, 32));
    // (5, 3) is bits 0011 and 0101, XOR 0110: 00 01 11 10.
    EXPECT_EQ(layout.AddressOf({0, 0, 5, 3, 0}), 0b011110u * el_B);
    EXPECT_EQ(layout.AddressOf({0, 0, 16 + 5, 16 + 3, 0}), (3 * 256 + 0b011110u) * el_B);
  }
}

TEST(UInterleaved, TheStrideIsFromOneRowOfTilesToTheNext) {
  ImageDescription image = Image(kU, "R32_FLOAT", 16, 32);
  image.stride_B = 3 * 1024;
  const Layout layout = LayOut(image);
  EXPECT_EQ(layout.AddressOf({0, 0, 0, 16, 0}), 3u * 1024);
  EXPECT_EQ(layout.levels()[0].pitch_el, 48u);
  EXPECT_EQ(layout.size_B(), 6u * 1024);
}

TEST(UInterleaved, LevelsFollowEachOther) {
  const Layout layout = LayOut(Image(kU, "R8_UNORM", 64, 64, 3, 2));
  EXPECT_EQ(layout.levels()[1].offset_B, 16u * 256);
  EXPECT_EQ(layout.levels()[2].offset_B, 20u * 256);
  EXPECT_EQ(layout.layer_stride_B(), 21u * 256);
  EXPECT_EQ(layout.levels().size(), 3u);
}

TEST(UInterleaved, ImpossibleImagesAreToldWhy) {
  const auto broken = [](auto change) {
    ImageDescription image = Image(kU, "R32_FLOAT", 64, 64);
    change(image);
    return BrokenRuleOf(image);
  };
  EXPECT_THAT(broken([](auto& i) { i.width_px = 65537; }), HasSubstr("at most 65536"));
  EXPECT_THAT(broken([](auto& i) {
                i.width_px = 65536;
                i.levels = 17;
              }),
              HasSubstr("at most 16 levels"));
  EXPECT_THAT(broken([](auto& i) { i.samples = 4; }), HasSubstr("one sample"));
  EXPECT_THAT(broken([](auto& i) { i.stride_B = 1000; }), HasSubstr("; 1000 is not"));
  EXPECT_THAT(broken([](auto& i) { i.stride_B = 1024; }), HasSubstr("less than a row of tiles"));
  EXPECT_THAT(broken([](auto& i) { i.stride_B = uint64_t{1} << 31; }),
              HasSubstr("at most 2147483647"));
  EXPECT_THAT(broken([](auto& i) {
                i.stride_B = 4096;
                i.levels = 2;
              }),
              HasSubstr("one level only"));
}

TEST(UInterleaved, LevelsOf3DImagesHaveAllTheirSlicesTogether) {
  ImageDescription image = Image(kU, "R8_UNORM", 64, 32, 3, 5);
  image.dim = Dim::k3d;
  const Layout layout = LayOut(image);
  ASSERT_EQ(layout.levels().size(), 3u);
  const uint64_t slices_B[] = {8 * 256, 2 * 256, 256};
  const uint32_t slices[] = {5, 2, 1};
  uint64_t offset_B = 0;
  for (uint32_t l = 0; l < 3; ++l) {
    const Level& level = layout.levels()[l];
    EXPECT_EQ(level.offset_B, offset_B);
    EXPECT_EQ(level.size_B, slices_B[l]);
    EXPECT_EQ(level.layer_stride_B, slices_B[l]);
    EXPECT_EQ(level.layers, slices[l]);
    const Element last = {l, slices[l] - 1, 1, 1, 0};
    EXPECT_EQ(layout.AddressOf(last), offset_B + (slices[l] - 1) * slices_B[l] + 2);
    EXPECT_EQ(layout.ElementAt(*layout.AddressOf(last)), last);
    EXPECT_EQ(layout.AddressOf({l, slices[l], 0, 0, 0}), std::nullopt);
    offset_B += slices[l] * slices_B[l];
  }
  EXPECT_EQ(layout.size_B(), offset_B);
  EXPECT_EQ(layout.layer_stride_B(), 0u);
}

TEST(UInterleaved, LayersOf3DImagesOfOneLevelAreAlike) {
  ImageDescription image = Image(kU, "R8_UNORM", 64, 32, 1, 5);
  image.dim = Dim::k3d;
  EXPECT_EQ(LayOut(image).layer_stride_B(), 8u * 256);
  EXPECT_EQ(LayOut(image).levels()[0].layer_stride_B, 8u * 256);
  EXPECT_EQ(LayOut(image).size_B(), 5u * 8 * 256);
}

// The bits of Intel's tiles, at places where one bit of x or y is set.
struct IntelCase {
  Scheme scheme;
  bool swizzle;
  uint32_t x_B, y;
  uint64_t address_B;
};

TEST(Intel, BitsOfXAndYAreWhereTheManualHasThem) {
  const IntelCase cases[] = {
      {Scheme::kIntelX, false, 1, 0, 1},        {Scheme::kIntelX, false, 256, 0, 256},
      {Scheme::kIntelX, false, 0, 1, 512},      {Scheme::kIntelX, false, 0, 4, 2048},
      {Scheme::kIntelX, false, 512, 0, 4096},   {Scheme::kIntelX, true, 0, 1, 512 + 64},
      {Scheme::kIntelX, true, 0, 2, 1024 + 64}, {Scheme::kIntelX, true, 0, 3, 1536},
      {Scheme::kIntelX, true, 64, 1, 512},      {Scheme::kIntelY, false, 8, 0, 8},
      {Scheme::kIntelY, false, 16, 0, 512},     {Scheme::kIntelY, false, 64, 0, 2048},
      {Scheme::kIntelY, false, 0, 1, 16},       {Scheme::kIntelY, false, 0, 16, 256},
      {Scheme::kIntelY, true, 16, 0, 512 + 64}, {Scheme::kIntelY, true, 16, 4, 512},
      {Scheme::kIntelY, true, 32, 0, 1024},     {Scheme::kIntelW, false, 1, 0, 1},
      {Scheme::kIntelW, false, 0, 1, 2},        {Scheme::kIntelW, false, 2, 0, 4},
      {Scheme::kIntelW, false, 4, 0, 16},       {Scheme::kIntelW, false, 8, 0, 512},
      {Scheme::kIntelW, false, 0, 8, 64},       {Scheme::kIntelW, false, 0, 32, 256},
      {Scheme::kIntelW, false, 32, 0, 2048},    {Scheme::kIntelTile4, false, 16, 0, 64},
      {Scheme::kIntelTile4, false, 32, 0, 128}, {Scheme::kIntelTile4, false, 64, 0, 512},
      {Scheme::kIntelTile4, false, 0, 1, 16},   {Scheme::kIntelTile4, false, 0, 4, 256},
      {Scheme::kIntelTile4, false, 0, 8, 1024}, {Scheme::kIntelTile4, false, 0, 16, 2048},
  };
  for (const IntelCase& c : cases) {
    ImageDescription image = Image(c.scheme, "S8_UINT", 1024, 128);
    image.bit6_swizzle = c.swizzle;
    EXPECT_EQ(LayOut(image).AddressOf({0, 0, c.x_B, c.y, 0}), c.address_B)
        << SchemeName(c.scheme) << " " << c.swizzle << " " << c.x_B << " " << c.y;
  }
}

TEST(Intel, ElementsAreWholeInATile) {
  const Layout layout = LayOut(Image(Scheme::kIntelY, "R8G8B8A8_UNORM", 100, 100));
  EXPECT_EQ(layout.levels()[0].tile_w_el(), 32u);
  EXPECT_EQ(layout.AddressOf({0, 0, 3, 0, 0}), 12u);
  EXPECT_EQ(layout.AddressOf({0, 0, 4, 0, 0}), 512u);
  EXPECT_EQ(layout.AddressOf({0, 0, 32, 0, 0}), 4096u);
  EXPECT_EQ(layout.AddressOf({0, 0, 0, 32, 0}), 4u * 4096);
}

TEST(Intel, ThePitchIsAMultipleOfTheTilesWidth) {
  EXPECT_EQ(LayOut(Image(Scheme::kIntelX, "R8G8B8A8_UNORM", 129, 9)).size_B(), 2u * 2 * 4096);
  EXPECT_EQ(LayOut(Image(Scheme::kIntelY, "R8_UNORM", 129, 33)).size_B(), 2u * 2 * 4096);
  ImageDescription image = Image(Scheme::kIntelY, "R8_UNORM", 129, 33);
  image.stride_B = 384;
  EXPECT_EQ(LayOut(image).size_B(), 3u * 2 * 4096);
  EXPECT_EQ(LayOut(image).levels()[0].pitch_el, 384u);
}

TEST(Intel, ThePitchOfWIsTwiceTheWidth) {
  ImageDescription image = Image(Scheme::kIntelW, "S8_UINT", 65, 65);
  EXPECT_EQ(LayOut(image).size_B(), 4u * 4096);
  image.stride_B = 2 * 192;
  EXPECT_EQ(LayOut(image).size_B(), 6u * 4096);
  EXPECT_EQ(LayOut(image).AddressOf({0, 0, 0, 64, 0}), 3u * 4096);
}

TEST(Intel, LinearRowsMayBeAnyDistanceApart) {
  ImageDescription image = Image(Scheme::kIntelLinear, "R8G8B8_UNORM", 5, 2, 1, 2);
  EXPECT_EQ(LayOut(image).levels()[0].tile_row_stride_B, 64u);
  image.stride_B = 15;
  // A layer begins at a row where a level could.
  EXPECT_EQ(LayOut(image).AddressOf({0, 1, 2, 1, 0}), 4u * 15 + 15 + 6);
}

// 100x50 elements: level 1 is 50x25 at (0, 52), level 2 25x12 at (52, 52), level 3 12x6 at (52,
// 64), level 4 6x3 at (52, 72).
TEST(Intel, Level1IsBelowLevel0AndTheOthersAreToTheRightOfIt) {
  const Layout layout = LayOut(Image(Scheme::kIntelLinear, "R8_UNORM", 100, 50, 5));
  const uint64_t pitch_B = layout.levels()[0].tile_row_stride_B;
  EXPECT_EQ(pitch_B, 128u);
  EXPECT_EQ(layout.levels()[1].offset_B, 52 * pitch_B);
  EXPECT_EQ(layout.levels()[2].offset_B, 52 * pitch_B + 52);
  EXPECT_EQ(layout.levels()[3].offset_B, 64 * pitch_B + 52);
  EXPECT_EQ(layout.levels()[4].offset_B, 72 * pitch_B + 52);
  // Level 1 reaches down to 77, level 4 to 75.
  EXPECT_EQ(layout.size_B(), 77 * pitch_B);
}

TEST(Intel, LevelsBeginAnywhereInATile) {
  const Layout layout = LayOut(Image(Scheme::kIntelY, "R8_UNORM", 100, 50, 5));
  const Level& level = layout.levels()[2];
  EXPECT_EQ(level.offset_B, 4096u);  // one row of tiles of 128x32 further down
  EXPECT_EQ(level.x_el, 52u);
  EXPECT_EQ(level.y_el, 20u);
  // The element is at (57, 58) of what holds all levels, (57, 26) of that tile.
  EXPECT_EQ(layout.AddressOf({2, 0, 5, 6, 0}), 4096u + (57 / 16) * 512 + 26 * 16 + 57 % 16);
  EXPECT_EQ(layout.size_B(), 3u * 4096);
}

TEST(Intel, AlignmentsOfLevelsCanBeChosen) {
  ImageDescription image = Image(Scheme::kIntelLinear, "R8_UNORM", 100, 50, 3);
  image.align_w_el = 16;
  image.align_h_el = 8;
  const Layout layout = LayOut(image);
  EXPECT_EQ(layout.levels()[2].offset_B, 56u * 128 + 64);
  // Those of W tiles are twice as large from the start.
  const Layout stencil = LayOut(Image(Scheme::kIntelW, "S8_UINT", 100, 50, 3));
  EXPECT_EQ(stencil.levels()[2].x_el, 56u);
  EXPECT_EQ(stencil.levels()[2].y_el, 56u);
}

TEST(Intel, BlocksAreAlignedAsElements) {
  // 25x13 blocks; level 1 has 13x7, level 2 7x3.
  const Layout layout = LayOut(Image(Scheme::kIntelLinear, "BC1_RGBA_UNORM", 100, 50, 3));
  EXPECT_EQ(layout.levels()[1].offset_B, 16u * 256);
  EXPECT_EQ(layout.levels()[2].offset_B, 16u * 256 + 16 * 8);
}

TEST(Intel, EachFaceAndSliceHasAllLevels) {
  ImageDescription cube = Image(Scheme::kIntelTile4, "R32_FLOAT", 64, 64, 7, 12);
  cube.dim = Dim::kCube;
  const Layout faces = LayOut(cube);
  EXPECT_EQ(faces.layer_stride_B(), 4u * 2 * 4096);  // level 6 is in row 96
  EXPECT_EQ(faces.size_B(), 12 * faces.layer_stride_B());
  ImageDescription slices = Image(Scheme::kIntelTile4, "R32_FLOAT", 64, 64, 7, 12);
  slices.dim = Dim::k3d;
  EXPECT_EQ(LayOut(slices).size_B(), faces.size_B());
}

TEST(Intel, ImpossibleImagesAreToldWhy) {
  const auto broken = [](Scheme scheme, auto change) {
    ImageDescription image = Image(scheme, "S8_UINT", 64, 64);
    change(image);
    return BrokenRuleOf(image);
  };
  EXPECT_THAT(broken(Scheme::kIntelX, [](auto& i) { i.width_px = 16385; }),
              HasSubstr("at most 16384"));
  EXPECT_THAT(broken(Scheme::kIntelX, [](auto& i) { i.layers = 2049; }), HasSubstr("at most 2048"));
  EXPECT_THAT(broken(Scheme::kIntelX, [](auto& i) { i.align_w_el = 2; }),
              HasSubstr("from 4 to 128 elements, not 2"));
  EXPECT_THAT(broken(Scheme::kIntelX, [](auto& i) { i.align_h_el = 12; }), HasSubstr("not 12"));
  EXPECT_THAT(broken(Scheme::kIntelX, [](auto& i) { i.align_h_el = 256; }), HasSubstr("not 256"));
  EXPECT_THAT(broken(Scheme::kIntelW, [](auto& i) { i.align_h_el = 4; }),
              HasSubstr("from 8 to 128 elements, not 4"));
  EXPECT_THAT(broken(Scheme::kAgxTwiddled, [](auto& i) { i.align_w_el = 4; }),
              HasSubstr("for Intel images only"));
  EXPECT_THAT(broken(Scheme::kIntelX, [](auto& i) { i.samples = 2; }),
              HasSubstr("in Y, W, Yf, Ys or Tile64"));
  EXPECT_THAT(broken(Scheme::kIntelLinear, [](auto& i) { i.samples = 2; }),
              HasSubstr("in Y, W, Yf, Ys or Tile64"));
  EXPECT_THAT(broken(Scheme::kIntelTile4, [](auto& i) { i.samples = 4; }),
              HasSubstr("that have Tile4 must be in Tile64"));
  EXPECT_THAT(broken(Scheme::kIntelY, [](auto& i) { i.samples = 3; }), HasSubstr("or 16 samples"));
  EXPECT_THAT(broken(Scheme::kIntelY, [](auto& i) { i.samples = 32; }), HasSubstr("not 32"));
  EXPECT_THAT(broken(Scheme::kIntelY,
                     [](auto& i) {
                       i.samples = 2;
                       i.levels = 2;
                     }),
              HasSubstr("multisampled Intel images have one level"));
  EXPECT_THAT(broken(Scheme::kIntelY,
                     [](auto& i) {
                       i.samples = 2;
                       i.format = FindFormat("BC1_RGBA_UNORM");
                     }),
              HasSubstr("block-compressed images have one sample"));
  EXPECT_THAT(broken(Scheme::kIntelYs, [](auto& i) { i.dim = Dim::k3d; }),
              HasSubstr("not supported"));
  EXPECT_THAT(broken(Scheme::kIntelTile64, [](auto& i) { i.align_w_el = 16; }),
              HasSubstr("cannot be chosen"));
  EXPECT_THAT(broken(Scheme::kIntelY, [](auto& i) { i.mip_tail_level = 0; }),
              HasSubstr("a mip tail is for"));
  EXPECT_THAT(broken(Scheme::kIntelTile64, [](auto& i) { i.mip_tail_level = 1; }),
              HasSubstr("begins at level 1, but there are only 1 levels"));
  EXPECT_THAT(broken(Scheme::kIntelTile64,
                     [](auto& i) {
                       i.width_px = 129;
                       i.mip_tail_level = 0;
                     }),
              HasSubstr("at most 128x256 elements, half a tile; level 0 has 129x64"));
  EXPECT_THAT(broken(Scheme::kIntelYf,
                     [](auto& i) {
                       i.format = FindFormat("ASTC_12x12");
                       i.height_px = 192;
                       i.levels = 8;
                       i.mip_tail_level = 0;
                     }),
              HasSubstr("at most 7 levels"));
  EXPECT_THAT(broken(Scheme::kAgxTwiddled, [](auto& i) { i.interleave_samples = true; }),
              HasSubstr("for Intel images only"));
  EXPECT_THAT(broken(Scheme::kUInterleaved, [](auto& i) { i.mip_tail_level = 0; }),
              HasSubstr("only Intel images can have a mip tail"));
  EXPECT_THAT(broken(Scheme::kIntelY, [](auto& i) { i.format = FindFormat("R8G8B8_UNORM"); }),
              HasSubstr("R8G8B8_UNORM has 3"));
  EXPECT_THAT(broken(Scheme::kIntelW, [](auto& i) { i.format = FindFormat("R16_UNORM"); }),
              HasSubstr("W tiles are for stencil"));
  EXPECT_THAT(broken(Scheme::kIntelY, [](auto& i) { i.stride_B = 130; }), HasSubstr("130 is not"));
  EXPECT_THAT(broken(Scheme::kIntelW, [](auto& i) { i.stride_B = 64; }), HasSubstr("64 is not"));
  EXPECT_THAT(broken(Scheme::kIntelLinear, [](auto& i) { i.stride_B = 63; }),
              HasSubstr("63 B is less than a row"));
  EXPECT_THAT(broken(Scheme::kIntelX, [](auto& i) { i.stride_B = 262144 + 512; }),
              HasSubstr("at most 262144 B"));
  EXPECT_THAT(broken(Scheme::kIntelTile4, [](auto& i) { i.bit6_swizzle = true; }),
              HasSubstr("only Intel's X and Y"));
}

TEST(Scheme, IsFoundByItsName) {
  for (int i = 0; i < kSchemes; ++i) {
    const Scheme scheme = static_cast<Scheme>(i);
    EXPECT_EQ(FindScheme(SchemeName(scheme)), scheme);
  }
  EXPECT_EQ(FindScheme("intel-z"), std::nullopt);
}

}  // namespace
}  // namespace packsmith::layout
