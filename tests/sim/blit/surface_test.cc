#include "runtime/sim/blit/surface.h"

#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/layout/format.h"
#include "runtime/layout/layout.h"

namespace packsmith::sim {
namespace {

using ::testing::HasSubstr;

struct Tiled {
  BlitTiling tiling;
  layout::Scheme scheme;
};
constexpr Tiled kTilings[] = {
    {BlitTiling::kLinear, layout::Scheme::kIntelLinear},
    {BlitTiling::kX, layout::Scheme::kIntelX},
    {BlitTiling::kY, layout::Scheme::kIntelY},
    {BlitTiling::kTile4, layout::Scheme::kIntelTile4},
    {BlitTiling::kYf, layout::Scheme::kIntelYf},
    {BlitTiling::kYs, layout::Scheme::kIntelYs},
    {BlitTiling::kTile64, layout::Scheme::kIntelTile64},
    {BlitTiling::kTile64Xe2, layout::Scheme::kIntelTile64Xe2},
};
static_assert(std::size(kTilings) == kBlitTilings);

constexpr std::pair<uint32_t, const char*> kFormats[] = {
    {1, "R8_UINT"}, {2, "R16_UINT"}, {4, "R32_UINT"}, {8, "R32G32_UINT"}, {16, "R32G32B32A32_UINT"},
};

PixelPlaces PlacesOf(const BlitSurface& surface, uint32_t pixel_B) {
  absl::StatusOr<PixelPlaces> places = PixelPlaces::Of(surface, pixel_B);
  EXPECT_TRUE(places.ok()) << places.status();
  return *std::move(places);
}

std::string ErrorOf(const BlitSurface& surface, uint32_t pixel_B) {
  const absl::StatusOr<PixelPlaces> places = PixelPlaces::Of(surface, pixel_B);
  EXPECT_EQ(places.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(places.status().message());
}

// Every pixel of an image at the address that the layout gives, by runs and alone.
void ExpectPlacesOf(const layout::Layout& layout, uint32_t level, uint32_t layer,
                    const PixelPlaces& places, uint64_t address) {
  const layout::Level& about = layout.levels()[level];
  for (uint32_t y = 0; y < about.height_el; y += 7) {
    for (uint32_t x = 0; x < about.width_el;) {
      const PixelPlaces::Run run = places.RunAt(x, y, about.width_el - x);
      ASSERT_GE(run.pixels, 1u);
      ASSERT_LE(run.pixels, about.width_el - x);
      for (uint32_t i = 0; i < run.pixels; ++i) {
        const uint64_t expected = address + layout.AddressOf({level, layer, x + i, y, 0}).value();
        ASSERT_EQ(run.address + i * places.pixel_B(), expected)
            << layout::SchemeName(layout.description().scheme) << ", level " << level << ", layer "
            << layer << ", pixel " << x + i << ", " << y;
        ASSERT_EQ(places.RunAt(x + i, y, 1).address, expected);
      }
      x += run.pixels;
    }
  }
}

TEST(PixelPlacesTest, EveryPixelIsWhereTheLayoutHasIt) {
  for (const Tiled& tiled : kTilings) {
    for (const auto& [pixel_B, format] : kFormats) {
      layout::ImageDescription image;
      image.scheme = tiled.scheme;
      image.format = layout::FindFormat(format);
      image.width_px = 531;
      image.height_px = 133;
      const auto layout = layout::Layout::Of(image);
      ASSERT_TRUE(layout.ok()) << layout.status();
      const layout::Level& level = layout->levels()[0];
      BlitSurface surface;
      surface.address = 0x120000;
      surface.pitch_B = int64_t{level.pitch_el} * pixel_B;
      surface.tiling = tiled.tiling;
      ExpectPlacesOf(*layout, 0, 0, PlacesOf(surface, pixel_B), surface.address);
    }
  }
}

// The bits of addresses as the manuals draw them.
TEST(PixelPlacesTest, TilesOfFourKibHaveTheBitsOfTheManual) {
  const auto bit = [](uint32_t value, int which) { return value >> which & 1; };
  const PixelPlaces x_tiles = PlacesOf({.pitch_B = 1024, .tiling = BlitTiling::kX}, 1);
  const PixelPlaces y_tiles = PlacesOf({.pitch_B = 256, .tiling = BlitTiling::kY}, 1);
  const PixelPlaces tile4 = PlacesOf({.pitch_B = 256, .tiling = BlitTiling::kTile4}, 1);
  for (uint32_t y = 0; y < 64; ++y) {
    for (uint32_t u = 0; u < 1024; ++u) {
      ASSERT_EQ(x_tiles.RunAt(u, y, 1).address,
                y / 8 * 8192 + u / 512 * 4096 + y % 8 * 512 + u % 512);
      if (u >= 256) continue;
      ASSERT_EQ(y_tiles.RunAt(u, y, 1).address,
                y / 32 * 8192 + u / 128 * 4096 + u % 128 / 16 * 512 + y % 32 * 16 + u % 16);
      const uint32_t in_tile = bit(y, 4) << 11 | bit(y, 3) << 10 | bit(u, 6) << 9 | bit(y, 2) << 8 |
                               bit(u, 5) << 7 | bit(u, 4) << 6 | bit(y, 1) << 5 | bit(y, 0) << 4 |
                               u % 16;
      ASSERT_EQ(tile4.RunAt(u, y, 1).address, y / 32 * 8192 + u / 128 * 4096 + in_tile);
    }
  }
}

TEST(PixelPlacesTest, RunsAreAsLongAsTheTilingAllows) {
  EXPECT_EQ(PlacesOf({.pitch_B = 4096}, 4).RunAt(3, 0, 900).pixels, 900u);
  EXPECT_EQ(PlacesOf({.pitch_B = 4096, .tiling = BlitTiling::kX}, 4).RunAt(3, 0, 900).pixels, 125u);
  EXPECT_EQ(PlacesOf({.pitch_B = 4096, .tiling = BlitTiling::kY}, 4).RunAt(3, 0, 900).pixels, 1u);
  EXPECT_EQ(PlacesOf({.pitch_B = 4096, .tiling = BlitTiling::kY}, 4).RunAt(4, 0, 900).pixels, 4u);
  EXPECT_EQ(PlacesOf({.pitch_B = 4096, .tiling = BlitTiling::kY}, 4).RunAt(4, 0, 2).pixels, 2u);
}

TEST(PixelPlacesTest, SwizzledAddressesHaveBitSixInverted) {
  const BlitSurface plain = {.pitch_B = 512, .tiling = BlitTiling::kX};
  BlitSurface swizzled = plain;
  swizzled.bit6_swizzle = true;
  const PixelPlaces before = PlacesOf(plain, 1), after = PlacesOf(swizzled, 1);
  for (uint32_t y = 0; y < 8; ++y) {
    for (uint32_t x = 0; x < 512; ++x) {
      const uint64_t address = before.RunAt(x, y, 1).address;
      EXPECT_EQ(after.RunAt(x, y, 1).address, address ^ ((address >> 9 ^ address >> 10) & 1) << 6);
    }
  }
  EXPECT_EQ(after.RunAt(0, 0, 512).pixels, 64u);
}

TEST(PixelPlacesTest, RowsOfANegativePitchGoUp) {
  const PixelPlaces places = PlacesOf({.address = 0x10000, .pitch_B = -256}, 2);
  EXPECT_EQ(places.RunAt(3, 0, 1).address, 0x10006u);
  EXPECT_EQ(places.RunAt(3, 2, 1).address, 0x10006u - 512);
  EXPECT_EQ(places.RunAt(-1, 0, 1).address, 0xfffeu);
  EXPECT_TRUE(places.Contains(-1, -1));
}

TEST(PixelPlacesTest, OffsetsAreAddedToCoordinates) {
  const BlitSurface surface = {.address = 0x10000, .pitch_B = 512, .tiling = BlitTiling::kY};
  BlitSurface moved = surface;
  moved.x_offset_px = 21;
  moved.y_offset_px = 40;
  EXPECT_EQ(PlacesOf(moved, 4).RunAt(5, 6, 1).address,
            PlacesOf(surface, 4).RunAt(26, 46, 1).address);
  EXPECT_TRUE(PlacesOf(moved, 4).Contains(-21, -40));
  EXPECT_FALSE(PlacesOf(moved, 4).Contains(-22, 0));
  EXPECT_FALSE(PlacesOf(moved, 4).Contains(0, -41));
}

TEST(PixelPlacesTest, LevelsAndSlicesAreWhereTheLayoutHasThem) {
  for (const Tiled& tiled : kTilings) {
    const bool standard = tiled.scheme >= layout::Scheme::kIntelYf;
    for (const bool is_3d : {false, true}) {
      if (is_3d && (tiled.tiling == BlitTiling::kYf || tiled.tiling == BlitTiling::kYs)) continue;
      layout::ImageDescription image;
      image.scheme = tiled.scheme;
      image.format = layout::FindFormat("R32_UINT");
      image.width_px = 256;
      image.height_px = 200;
      image.layers = 12;
      image.levels = 5;
      image.dim = is_3d ? layout::Dim::k3d : layout::Dim::k2d;
      if (!standard) image.align_w_el = image.align_h_el = 16;
      if (standard && !is_3d) image.mip_tail_level = 4;
      const auto layout = layout::Layout::Of(image);
      ASSERT_TRUE(layout.ok()) << layout.status();
      for (const uint32_t level : {0u, 1u, 3u, 4u}) {
        const layout::Level& about = layout->levels()[level];
        for (const uint32_t slice : {0u, 1u, 11u}) {
          BlitLevel asked;
          asked.width_px = image.width_px;
          asked.height_px = image.height_px;
          asked.is_3d = is_3d;
          asked.level = level;
          asked.mip_tail_level = image.mip_tail_level;
          // Tilings whose levels begin at tiles do not use them.
          asked.align_w_B = 64;
          asked.align_h_px = 16;
          asked.slice = slice;
          asked.qpitch_px = static_cast<uint32_t>(about.layer_stride_B / about.tile_row_stride_B)
                            << about.tile_h_log2;
          BlitSurface surface;
          surface.address = 0x40000;
          surface.pitch_B = int64_t{about.pitch_el} * 4;
          surface.tiling = tiled.tiling;
          surface.level = asked;
          ExpectPlacesOf(*layout, level, slice, PlacesOf(surface, 4), surface.address);
        }
      }
    }
  }
}

TEST(PixelPlacesTest, ErrorsNameTheRule) {
  EXPECT_THAT(ErrorOf({.pitch_B = 64}, 3), HasSubstr("1, 2, 4, 8, 12 or 16 B, not 3"));
  EXPECT_THAT(ErrorOf({.pitch_B = 500, .tiling = BlitTiling::kX}, 4),
              HasSubstr("multiple of the tile's width, 512 B; 500 B is not"));
  EXPECT_THAT(ErrorOf({.pitch_B = -512, .tiling = BlitTiling::kX}, 4), HasSubstr("positive"));
  EXPECT_THAT(ErrorOf({.pitch_B = 0, .tiling = BlitTiling::kTile4}, 4), HasSubstr("positive"));
  EXPECT_THAT(ErrorOf({.pitch_B = 1536, .tiling = BlitTiling::kY}, 12),
              HasSubstr("1, 2, 4, 8 or 16 B"));
  EXPECT_THAT(ErrorOf({.pitch_B = std::numeric_limits<int64_t>::min()}, 4),
              HasSubstr("out of range"));
}

TEST(PixelPlacesTest, HostileLevelsAreErrors) {
  constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max();
  const auto error = [](const BlitLevel& level) {
    BlitSurface surface = {.pitch_B = 4096, .tiling = BlitTiling::kTile4};
    surface.level = level;
    return ErrorOf(surface, 4);
  };
  EXPECT_THAT(error({.level = kMost}), HasSubstr("a blit's surface: "));
  EXPECT_THAT(error({.width_px = 0}), HasSubstr("a blit's surface: "));
  EXPECT_THAT(error({.width_px = kMost}), HasSubstr("16384"));
  EXPECT_THAT(error({.is_3d = true, .slice = 40000}), HasSubstr("2048"));
  EXPECT_THAT(error({.slice = kMost}), HasSubstr("out of range"));
  EXPECT_THAT(error({.qpitch_px = kMost}), HasSubstr("out of range"));
  EXPECT_THAT(error({.width_px = 64, .height_px = 64, .level = 1, .align_w_B = 12}),
              HasSubstr("power of two"));
}

}  // namespace
}  // namespace packsmith::sim
