// AGX: a test for each rule, and for each way to break one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/layout/layout.h"
#include "tests/layout/images.h"

namespace packsmith::layout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Scheme kLinear = Scheme::kAgxLinear;
constexpr Scheme kTwiddled = Scheme::kAgxTwiddled;
constexpr Scheme kCompressed = Scheme::kAgxCompressed;

std::vector<uint64_t> Offsets(const Layout& layout) {
  std::vector<uint64_t> offsets;
  for (const Level& level : layout.levels()) offsets.push_back(level.offset_B);
  return offsets;
}
std::vector<uint64_t> Sizes(const Layout& layout) {
  std::vector<uint64_t> sizes;
  for (const Level& level : layout.levels()) sizes.push_back(level.size_B);
  return sizes;
}
std::pair<uint32_t, uint32_t> Tile(const Layout& layout, uint32_t level = 0) {
  return {layout.levels()[level].tile_w_el(), layout.levels()[level].tile_h_el()};
}

// Twiddled.

TEST(AgxTwiddled, LargeTilesFillAPage) {
  const auto tile = [](const char* format, uint32_t samples) {
    return Tile(LayOut(Image(kTwiddled, format, 1024, 1024, 1, 1, samples)));
  };
  EXPECT_EQ(tile("R8_UNORM", 1), std::make_pair(128u, 128u));
  EXPECT_EQ(tile("R16_UNORM", 1), std::make_pair(128u, 64u));
  EXPECT_EQ(tile("R32_FLOAT", 1), std::make_pair(64u, 64u));
  EXPECT_EQ(tile("R32G32_FLOAT", 1), std::make_pair(64u, 32u));
  EXPECT_EQ(tile("R32G32B32A32_FLOAT", 1), std::make_pair(32u, 32u));
  EXPECT_EQ(tile("R32G32B32A32_FLOAT", 2), std::make_pair(32u, 16u));
  EXPECT_EQ(tile("R32G32B32A32_FLOAT", 4), std::make_pair(16u, 16u));
}

TEST(AgxTwiddled, SamplesOfAPixelMakeALargerElement) {
  EXPECT_EQ(Tile(LayOut(Image(kTwiddled, "R8_UNORM", 512, 512, 1, 1, 4))),
            std::make_pair(64u, 64u));
  EXPECT_EQ(LayOut(Image(kTwiddled, "R8_UNORM", 512, 512, 1, 1, 4)).size_B(), 4u * 512 * 512);
}

TEST(AgxTwiddled, SmallTilesAreTheLeastSquareThatTakesTheSmallerSide) {
  EXPECT_EQ(Tile(LayOut(Image(kTwiddled, "R8G8B8A8_UNORM", 20, 1000))), std::make_pair(32u, 32u));
  EXPECT_EQ(Tile(LayOut(Image(kTwiddled, "R8G8B8A8_UNORM", 1000, 1))), std::make_pair(1u, 1u));
  // Small in one direction is enough.
  EXPECT_EQ(Tile(LayOut(Image(kTwiddled, "R8G8B8A8_UNORM", 64, 63))), std::make_pair(64u, 64u));
  EXPECT_EQ(Tile(LayOut(Image(kTwiddled, "R16_UNORM", 100, 200))), std::make_pair(128u, 128u));
}

TEST(AgxTwiddled, SmallLevelsHaveSidesThatArePowersOfTwo) {
  EXPECT_EQ(LayOut(Image(kTwiddled, "R8G8B8A8_UNORM", 20, 1000)).size_B(), 32u * 1024 * 4);
  EXPECT_EQ(LayOut(Image(kTwiddled, "R8_UNORM", 3, 5)).size_B(), 128u);
}

TEST(AgxTwiddled, LevelsBeginAtCacheLines) {
  const Layout layout = LayOut(Image(kTwiddled, "R8_UNORM", 8, 8, 4));
  EXPECT_THAT(Offsets(layout), ElementsAre(0, 128, 256, 384));
  EXPECT_THAT(Sizes(layout), ElementsAre(64, 16, 4, 1));
  EXPECT_EQ(layout.layer_stride_B(), 512u);
}

TEST(AgxTwiddled, MoreThanOneLevelIsAllLevels) {
  const Layout all = LayOut(Image(kTwiddled, "R8G8B8A8_UINT", 1024, 1024, 11));
  const Layout some = LayOut(Image(kTwiddled, "R8G8B8A8_UINT", 1024, 1024, 4));
  EXPECT_EQ(all.size_B(), 0x555680u);
  EXPECT_EQ(some.size_B(), 0x555680u);
  EXPECT_EQ(some.levels().size(), 11u);
  EXPECT_EQ(LayOut(Image(kTwiddled, "R8G8B8A8_UINT", 1024, 1024, 1)).levels().size(), 1u);
}

TEST(AgxTwiddled, LevelsOfA3dImageGoOnUntilTheDepthIsOne) {
  ImageDescription image = Image(kTwiddled, "R32_FLOAT", 32, 16, 4, 64);
  EXPECT_EQ(LayOut(image).layer_stride_B(), 0xc00u);
  image.dim = Dim::k3d;
  const Layout layout = LayOut(image);
  EXPECT_EQ(layout.levels().size(), 7u);
  EXPECT_EQ(layout.layer_stride_B(), 0xc80u);
  EXPECT_EQ(layout.size_B(), 0x32000u);
}

// 1032x2749 px are 17x43 tiles of 64x64. Divided by 4 that is 182, and both numbers are odd: one
// more column of 21, one more row of 8, and the corner.
TEST(AgxTwiddled, OddTilesOfLevel0GetAColumnARowAndACornerMore) {
  const Layout layout = LayOut(Image(kTwiddled, "R8G8B8A8_UNORM", 1032, 2749, 12));
  std::vector<uint64_t> tiles;
  for (const uint64_t size : Sizes(layout)) {
    if (size >= 16384) tiles.push_back(size / 16384);
  }
  EXPECT_EQ(tiles[0], 17u * 43);
  EXPECT_EQ(tiles[1], 731u / 4 + 21 + 8 + 1);
  EXPECT_EQ(tiles[2], 731u / 16 + 10 + 4 + 1);
  EXPECT_EQ(tiles[3], 731u / 64 + 5 + 2 + 1);
  EXPECT_EQ(tiles[4], 731u / 256 + 2 + 1 + 1);
}

// Allocation and addresses use different sizes for plain formats: level 4 has
// room for more columns of tiles than its 64 pixels need.
TEST(AgxTwiddled, AddressesCountTheTilesThatALevelNeeds) {
  const Layout layout = LayOut(Image(kTwiddled, "R8G8B8A8_UNORM", 1032, 2749, 12));
  const Level& level = layout.levels()[4];
  EXPECT_EQ(level.pitch_el, 64u);
  EXPECT_EQ(level.tile_row_stride_B, 16384u);
  EXPECT_EQ(layout.AddressOf({4, 0, 0, 64, 0}), level.offset_B + 16384);
}

TEST(AgxTwiddled, BlocksGetOneMoreColumnWhereTilesAreOdd) {
  // 63 tiles of 64x32 blocks.
  const Layout layout = LayOut(Image(kTwiddled, "ETC2_RGB8", 63 * 64 * 4, 4096, 2));
  EXPECT_EQ(layout.levels()[0].pitch_el, 63u * 64);
  EXPECT_EQ(layout.levels()[1].pitch_el, 63u * 32 + 1);
  const Layout even = LayOut(Image(kTwiddled, "ETC2_RGB8", 64 * 64 * 4, 4096, 2));
  EXPECT_EQ(even.levels()[1].pitch_el, 64u * 32);
}

TEST(AgxTwiddled, ElementsOfBlockCompressedFormatsAreBlocks) {
  const Layout layout = LayOut(Image(kTwiddled, "ASTC_10x8", 101, 33));
  EXPECT_EQ(layout.levels()[0].width_el, 11u);
  EXPECT_EQ(layout.levels()[0].height_el, 5u);
  EXPECT_EQ(layout.size_B(), 16u * 8 * 16);
}

TEST(AgxTwiddled, SmallLevelsOfBlocksRoundUpBeforeTheyHalve) {
  // 12x12 blocks become 16x16, then 8x8 and so on, though the levels have 6, 3, 2 (of 24 px), 1 ...
  const Layout layout = LayOut(Image(kTwiddled, "BC1_RGBA_UNORM", 48, 48, 6));
  EXPECT_THAT(Sizes(layout), ElementsAre(16 * 16 * 8, 8 * 8 * 8, 4 * 4 * 8, 2 * 2 * 8, 8, 8));
}

// 33 elements become 64 and then 32 for the size of level 1, though it has 16 pixels, or 17 blocks:
// pixels have the tile that 16 need, blocks that of the 32.
TEST(AgxTwiddled, TilesOfSmallLevelsAreForPixelsOrForWhatBlocksAreRoundedTo) {
  const Layout pixels = LayOut(Image(kTwiddled, "R8G8B8A8_UNORM", 33, 33, 2));
  EXPECT_EQ(pixels.levels()[1].size_B, 32u * 32 * 4);
  EXPECT_EQ(pixels.levels()[1].pitch_el, 16u);
  EXPECT_EQ(Tile(pixels, 1), std::make_pair(16u, 16u));
  const Layout blocks = LayOut(Image(kTwiddled, "ETC2_RGB8", 33 * 4, 33 * 4, 2));
  EXPECT_EQ(blocks.levels()[1].size_B, 32u * 32 * 8);
  EXPECT_EQ(blocks.levels()[1].pitch_el, 17u);
  EXPECT_EQ(Tile(blocks, 1), std::make_pair(32u, 32u));
}

// Asahi's documentation says that a 2D image is rounded up to the page. The hardware does not do
// that.
TEST(AgxTwiddled, SingleImagesAreNotRoundedToPages) {
  EXPECT_EQ(LayOut(Image(kTwiddled, "R8G8B8A8_UNORM", 1024, 1024, 11)).size_B() % 16384, 0x1680u);
  EXPECT_EQ(LayOut(Image(kTwiddled, "R8_UNORM", 16, 16)).size_B(), 256u);
}

TEST(AgxTwiddled, LayersWithLevelsBeginAtPages) {
  const Layout layout = LayOut(Image(kTwiddled, "R32_FLOAT", 63, 63, 6, 6));
  EXPECT_THAT(Offsets(layout), ElementsAre(0, 0x4000, 0x5000, 0x5400, 0x5500, 0x5580));
  EXPECT_EQ(layout.layer_stride_B(), 0x8000u);
  EXPECT_EQ(layout.size_B(), 0x30000u);
  // Not if one page takes all, and not without levels.
  EXPECT_EQ(LayOut(Image(kTwiddled, "R32_FLOAT", 32, 32, 6, 6)).layer_stride_B() % 16384, 0x1680u);
  EXPECT_EQ(LayOut(Image(kTwiddled, "R32_FLOAT", 1000, 3, 1, 6)).layer_stride_B(), 1024u * 4 * 4);
  EXPECT_EQ(LayOut(Image(kTwiddled, "R32_FLOAT", 1000, 1, 1, 6)).layer_stride_B(), 1024u * 4);
}

TEST(AgxTwiddled, DepthWithLevelsIsRoundedToPages) {
  EXPECT_EQ(LayOut(Image(kTwiddled, "Z32_FLOAT", 63, 63, 6)).size_B(), 0x8000u);
  EXPECT_EQ(LayOut(Image(kTwiddled, "R32_FLOAT", 63, 63, 6)).size_B(), 0x5600u);
}

TEST(AgxTwiddled, ImagesThatShadersWriteToAreRoundedToPages) {
  ImageDescription image = Image(kTwiddled, "R32_FLOAT", 8, 8);
  image.writeable = true;
  EXPECT_EQ(LayOut(image).size_B(), 16384u);
}

TEST(AgxTwiddled, LayersThatAreRenderedToBeginAtPages) {
  ImageDescription image = Image(kTwiddled, "R32_FLOAT", 8, 8, 1, 3);
  EXPECT_EQ(LayOut(image).size_B(), 3u * 256);
  image.renderable = true;
  EXPECT_EQ(LayOut(image).size_B(), 3u * 16384);
  image.layers = 1;
  EXPECT_EQ(LayOut(image).size_B(), 256u);
}

TEST(AgxTwiddled, SlicesWithLevelsBeginAtPages) {
  ImageDescription image = Image(kTwiddled, "R32_FLOAT", 63, 63, 6, 4);
  image.dim = Dim::k3d;
  EXPECT_EQ(LayOut(image).layer_stride_B(), 0x8000u);
  // A compressed image's metadata begins after these pages.
  image = Image(kCompressed, "R32_FLOAT", 63, 63, 6, 4);
  EXPECT_EQ(LayOut(image).metadata()->offset_B, 4 * 0x8000u);
}

TEST(AgxTwiddled, CubesAreSixLayersEach) {
  ImageDescription image = Image(kTwiddled, "R8G8B8A8_UNORM", 512, 512, 1, 6);
  image.dim = Dim::kCube;
  EXPECT_EQ(LayOut(image).layer_stride_B(), 512u * 512 * 4);
  EXPECT_EQ(LayOut(image).size_B(), 6u * 512 * 512 * 4);
}

// The addresses of a 4-byte image of two tiles by two, in Z order within tiles.
TEST(AgxTwiddled, AddressesAreTilesInRowsAndZsInTiles) {
  const Layout layout = LayOut(Image(kTwiddled, "R8G8B8A8_UNORM", 100, 100, 1, 2));
  EXPECT_EQ(layout.AddressOf({0, 0, 1, 0, 0}), 4u);
  EXPECT_EQ(layout.AddressOf({0, 0, 0, 1, 0}), 8u);
  EXPECT_EQ(layout.AddressOf({0, 0, 3, 5, 0}), 4u * 0b100111);
  EXPECT_EQ(layout.AddressOf({0, 0, 64, 0, 0}), 16384u);
  EXPECT_EQ(layout.AddressOf({0, 0, 0, 64, 0}), 2u * 16384);
  EXPECT_EQ(layout.AddressOf({0, 1, 99, 99, 0}), 7u * 16384 + 4 * 0b110000001111);
}

TEST(AgxTwiddled, SamplesFollowEachOther) {
  const Layout layout = LayOut(Image(kTwiddled, "R16_FLOAT", 8, 8, 1, 1, 4));
  EXPECT_EQ(layout.AddressOf({0, 0, 0, 0, 3}), 6u);
  EXPECT_EQ(layout.AddressOf({0, 0, 1, 0, 0}), 8u);
}

// Sizes of more than 32 bits, which other programs truncate.
TEST(AgxTwiddled, LargeImagesHave64BitSizes) {
  EXPECT_EQ(LayOut(Image(kTwiddled, "R32G32B32A32_FLOAT", 16384, 16256, 15)).layer_stride_B(),
            5683910144u);
  EXPECT_EQ(LayOut(Image(kTwiddled, "R32G32B32A32_FLOAT", 16384, 16384)).size_B(),
            uint64_t{1} << 32);
  const Layout array = LayOut(Image(kTwiddled, "R8G8B8A8_UNORM", 16384, 16384, 1, 8));
  EXPECT_EQ(array.size_B(), uint64_t{8} << 30);
  EXPECT_EQ(array.AddressOf({0, 7, 0, 0, 0}), uint64_t{7} << 30);
  EXPECT_EQ(array.AddressOf({0, 7, 16383, 16383, 0}), (uint64_t{8} << 30) - 4);
}

// Linear.

TEST(AgxLinear, RowsAreAsFarApartAsTheyMustBe) {
  const Layout layout = LayOut(Image(kLinear, "R8G8B8A8_UNORM", 33, 5));
  EXPECT_EQ(layout.levels()[0].tile_row_stride_B, 256u);
  EXPECT_EQ(layout.levels()[0].pitch_el, 64u);
  EXPECT_EQ(layout.size_B(), 5u * 256);
  EXPECT_EQ(Tile(layout), std::make_pair(1u, 1u));
  EXPECT_EQ(layout.AddressOf({0, 0, 3, 2, 0}), 2u * 256 + 12);
}

TEST(AgxLinear, ABufferIsOneRow) {
  EXPECT_EQ(LayOut(Image(kLinear, "R8_UINT", 81946, 1)).size_B(), 82048u);
}

TEST(AgxLinear, TheStrideMayBeChosen) {
  ImageDescription image = Image(kLinear, "R8G8B8A8_UNORM", 4, 3, 1, 2);
  image.stride_B = 16;
  const Layout layout = LayOut(image);
  EXPECT_EQ(layout.layer_stride_B(), 128u);
  EXPECT_EQ(layout.size_B(), 256u);
  EXPECT_EQ(layout.AddressOf({0, 1, 1, 2, 0}), 128u + 32 + 4);
}

TEST(AgxLinear, ImagesMayBeArraysOfAsManyLayersAsTheDescriptorCounts) {
  const Layout layout = LayOut(Image(kLinear, "R8G8B8A8_UNORM", 33, 5, 1, 2048));
  EXPECT_EQ(layout.layer_stride_B(), 5u * 256);
  EXPECT_EQ(layout.AddressOf({0, 2047, 0, 0, 0}), 2047u * 5 * 256);
  EXPECT_THAT(BrokenRuleOf(Image(kLinear, "R8G8B8A8_UNORM", 33, 5, 1, 2049)),
              HasSubstr("at most 2048 layers, the limit of its descriptor"));
}

TEST(AgxLinear, AStrideThatIsNotChosenIsAMultipleOf128) {
  EXPECT_EQ(LayOut(Image(kLinear, "R8_UNORM", 16, 2)).levels()[0].tile_row_stride_B, 128u);
  ImageDescription least = Image(kLinear, "R8_UNORM", 16, 2);
  least.stride_B = 16;
  EXPECT_EQ(LayOut(least).levels()[0].tile_row_stride_B, 16u);
}

TEST(AgxLinear, WhatMayNotBeLinearIsToldWhy) {
  const auto broken = [](auto change) {
    ImageDescription image = Image(kLinear, "R8G8B8A8_UNORM", 64, 64);
    change(image);
    return BrokenRuleOf(image);
  };
  EXPECT_THAT(broken([](auto& i) { i.dim = Dim::k3d; }), HasSubstr("3D images cannot be linear"));
  EXPECT_THAT(broken([](auto& i) {
                i.dim = Dim::kCube;
                i.layers = 6;
              }),
              HasSubstr("cubes cannot be linear"));
  EXPECT_THAT(broken([](auto& i) { i.levels = 2; }), HasSubstr("mip levels cannot be linear"));
  EXPECT_THAT(broken([](auto& i) { i.samples = 4; }), HasSubstr("multisampled images"));
  EXPECT_THAT(broken([](auto& i) { i.format = FindFormat("ETC2_RGB8"); }),
              HasSubstr("block-compressed images cannot"));
  EXPECT_THAT(broken([](auto& i) { i.stride_B = 264; }), HasSubstr("multiple of 16 B; 264 is not"));
  EXPECT_THAT(broken([](auto& i) { i.stride_B = 240; }), HasSubstr("240 B is less than a row"));
  EXPECT_THAT(broken([](auto& i) { i.stride_B = 4194320; }), HasSubstr("at most 4194304 B"));
  EXPECT_THAT(broken([](auto& i) { i.layers = 2049; }), HasSubstr("at most 2048 layers"));
}

// Compressed.

TEST(AgxCompressed, MetadataFollowsTheImage) {
  const Layout body = LayOut(Image(kTwiddled, "R8G8B8A8_UNORM", 1000, 500, 10, 3));
  const Layout layout = LayOut(Image(kCompressed, "R8G8B8A8_UNORM", 1000, 500, 10, 3));
  ASSERT_NE(layout.metadata(), nullptr);
  EXPECT_EQ(body.metadata(), nullptr);
  EXPECT_EQ(layout.metadata()->offset_B, body.size_B());
  EXPECT_EQ(layout.layer_stride_B(), body.layer_stride_B());
  EXPECT_EQ(layout.size_B(), body.size_B() + 3 * layout.metadata()->layer_stride_B);
}

// 1000x500 are 1008x512 in whole words' tiles: 64x32 words of level 0, sides as powers of two.
TEST(AgxCompressed, ALevelHasAWordForEach16x16Samples) {
  const Layout layout = LayOut(Image(kCompressed, "R8G8B8A8_UNORM", 1000, 500, 10));
  const Metadata& metadata = *layout.metadata();
  EXPECT_EQ(metadata.levels, 6);  // 1008 >> 5 is 31, and >> 6 less than 16
  EXPECT_EQ(metadata.level_offset_B[1], 64u * 32 * 8);
  EXPECT_EQ(metadata.level_offset_B[2], metadata.level_offset_B[1] + 32 * 16 * 8);
  EXPECT_EQ(metadata.level_offset_B[3], metadata.level_offset_B[2] + 16 * 8 * 8);
  EXPECT_EQ(metadata.level_offset_B[4], metadata.level_offset_B[3] + 8 * 4 * 8);
  EXPECT_EQ(metadata.level_offset_B[5], metadata.level_offset_B[4] + 128);
  EXPECT_EQ(metadata.layer_stride_B, metadata.level_offset_B[5] + 128);
}

TEST(AgxCompressed, ThereAreNoMoreLevelsOfMetadataThanOfTheImage) {
  EXPECT_EQ(LayOut(Image(kCompressed, "R8G8B8A8_UNORM", 1000, 500)).metadata()->levels, 1);
}

TEST(AgxCompressed, SamplesAreSideBySideAndOneBelowTheOther) {
  const auto words = [](uint32_t samples) {
    return LayOut(Image(kCompressed, "R8_UNORM", 64, 64, 1, 1, samples))
               .metadata()
               ->layer_stride_B /
           8;
  };
  EXPECT_EQ(words(1), 16u);
  EXPECT_EQ(words(2), 32u);
  EXPECT_EQ(words(4), 64u);
  // Eight pixels of four samples are sixteen samples.
  EXPECT_EQ(LayOut(Image(kCompressed, "R8_UNORM", 8, 8, 1, 1, 4)).metadata()->layer_stride_B, 128u);
}

TEST(AgxCompressed, WordsLieInZOrderInSquaresAlongTheLargerSide) {
  const Layout wide = LayOut(Image(kCompressed, "R8_UNORM", 8 * 16, 2 * 16, 1, 2));
  const uint64_t start = wide.metadata()->offset_B;
  EXPECT_EQ(wide.MetadataAddressOf(0, 0, 1, 0), start + 8);
  EXPECT_EQ(wide.MetadataAddressOf(0, 0, 0, 1), start + 16);
  EXPECT_EQ(wide.MetadataAddressOf(0, 0, 2, 0), start + 8 * 4);
  EXPECT_EQ(wide.MetadataAddressOf(0, 0, 7, 1), start + 8 * 15);
  EXPECT_EQ(wide.MetadataAddressOf(0, 1, 0, 0), start + wide.metadata()->layer_stride_B);
  EXPECT_EQ(wide.MetadataAddressOf(0, 0, 8, 0), std::nullopt);
  EXPECT_EQ(wide.MetadataAddressOf(0, 0, 0, 2), std::nullopt);
  EXPECT_EQ(wide.MetadataAddressOf(1, 0, 0, 0), std::nullopt);
  EXPECT_EQ(wide.MetadataAddressOf(0, 2, 0, 0), std::nullopt);
  const Layout high = LayOut(Image(kCompressed, "R8_UNORM", 2 * 16, 8 * 16));
  EXPECT_EQ(high.MetadataAddressOf(0, 0, 0, 2), high.metadata()->offset_B + 8 * 4);
}

TEST(AgxCompressed, LargeImagesHave64BitOffsets) {
  EXPECT_EQ(LayOut(Image(kCompressed, "R8G8B8A8_UNORM", 16384, 16384, 1, 8)).metadata()->offset_B,
            uint64_t{8} << 30);
}

TEST(AgxCompressed, WhatMayNotBeCompressedIsToldWhy) {
  ImageDescription image = Image(kCompressed, "R8G8B8A8_UNORM", 64, 64);
  image.writeable = true;
  EXPECT_THAT(BrokenRuleOf(image), HasSubstr("shaders write to"));
  EXPECT_THAT(BrokenRuleOf(Image(kCompressed, "ETC2_RGB8", 64, 64)), HasSubstr("again"));
  EXPECT_THAT(BrokenRuleOf(Image(kCompressed, "L8_UNORM", 64, 64)),
              HasSubstr("cannot render to L8_UNORM"));
  EXPECT_THAT(BrokenRuleOf(Image(kCompressed, "R8_UNORM", 64, 15)),
              HasSubstr("this one has 64x15"));
  EXPECT_THAT(BrokenRuleOf(Image(kCompressed, "R8_UNORM", 15, 64)),
              HasSubstr("this one has 15x64"));
}

// Any AGX image.

TEST(AgxAny, ImpossibleImagesAreToldWhy) {
  const auto broken = [](auto change) {
    ImageDescription image = Image(kTwiddled, "R8G8B8A8_UNORM", 64, 64);
    change(image);
    return BrokenRuleOf(image);
  };
  EXPECT_THAT(broken([](auto& i) {
                i.format = nullptr;
                i.format = FindFormat("R8G8B8_UNORM");
              }),
              HasSubstr("no format R8G8B8_UNORM"));
  EXPECT_THAT(broken([](auto& i) { i.width_px = 0; }), HasSubstr("at least 1 px"));
  EXPECT_THAT(broken([](auto& i) { i.height_px = 0; }), HasSubstr("at least 1 px"));
  EXPECT_THAT(broken([](auto& i) { i.layers = 0; }), HasSubstr("at least one layer"));
  EXPECT_THAT(broken([](auto& i) { i.levels = 0; }), HasSubstr("at least one level"));
  EXPECT_THAT(broken([](auto& i) { i.samples = 0; }), HasSubstr("at least one sample"));
  EXPECT_THAT(broken([](auto& i) { i.levels = 8; }), HasSubstr("at most 7, not 8"));
  EXPECT_THAT(broken([](auto& i) { i.width_px = 16385; }), HasSubstr("at most 16384 px"));
  EXPECT_THAT(broken([](auto& i) { i.height_px = 16385; }), HasSubstr("at most 16384 px"));
  EXPECT_THAT(broken([](auto& i) { i.layers = 16385; }), HasSubstr("at most 16384 layers"));
  EXPECT_THAT(broken([](auto& i) { i.samples = 3; }), HasSubstr("1, 2 or 4 samples, not 3"));
  EXPECT_THAT(broken([](auto& i) { i.stride_B = 256; }), HasSubstr("cannot be chosen"));
  EXPECT_THAT(broken([](auto& i) { i.bit6_swizzle = true; }), HasSubstr("X and Y tiles"));
  EXPECT_THAT(broken([](auto& i) {
                i.dim = Dim::kCube;
                i.layers = 5;
              }),
              HasSubstr("multiple of 6"));
  EXPECT_THAT(broken([](auto& i) {
                i.dim = Dim::kCube;
                i.layers = 6;
                i.width_px = 32;
              }),
              HasSubstr("square"));
  EXPECT_THAT(broken([](auto& i) {
                i.dim = Dim::k3d;
                i.samples = 2;
              }),
              HasSubstr("only 2D images"));
  EXPECT_THAT(broken([](auto& i) {
                i.samples = 2;
                i.format = FindFormat("BC1_RGBA_UNORM");
              }),
              HasSubstr("block-compressed images have one sample"));
  EXPECT_THAT(broken([](auto& i) { i.format = FindFormat("R32G32B32_FLOAT"); }),
              HasSubstr("R32G32B32_FLOAT has 12"));
  ImageDescription none;
  EXPECT_EQ(Layout::Of(none).status().message(), "an image must have a format");
}

TEST(AgxAny, PlacesThatAreNotInTheImageHaveNoAddress) {
  const Layout layout = LayOut(Image(kTwiddled, "R8G8B8A8_UNORM", 100, 50, 7, 2));
  EXPECT_TRUE(layout.AddressOf({6, 1, 0, 0, 0}).has_value());
  EXPECT_EQ(layout.AddressOf({7, 0, 0, 0, 0}), std::nullopt);
  EXPECT_EQ(layout.AddressOf({0, 2, 0, 0, 0}), std::nullopt);
  EXPECT_EQ(layout.AddressOf({0, 0, 100, 0, 0}), std::nullopt);
  EXPECT_EQ(layout.AddressOf({0, 0, 0, 50, 0}), std::nullopt);
  EXPECT_EQ(layout.AddressOf({0, 0, 0, 0, 1}), std::nullopt);
  EXPECT_EQ(layout.ElementAt(layout.size_B()), std::nullopt);
  EXPECT_EQ(layout.ElementAt(~uint64_t{0}), std::nullopt);
}

}  // namespace
}  // namespace packsmith::layout
