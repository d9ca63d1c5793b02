// Intel: Gfx4 to Gfx12 have X and Y tiles, Gfx6 to Gfx12 W tiles for stencil, Gfx12.5 and later
// ones Tile4. Intel's Programmer's Reference Manuals, volume 5, "Memory Views" or "Memory Data
// Formats".
#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "runtime/layout/schemes.h"

namespace packsmith::layout {
namespace {

constexpr uint32_t kMaxSize_px = 16384;        // 14 bits less 1 in RENDER_SURFACE_STATE
constexpr uint32_t kMaxLayers = 2048;          // 11 bits less 1
constexpr uint64_t kMaxStride_B = 256 * 1024;  // 18 bits less 1
constexpr uint32_t kMaxAlign_el = 128;         // HALIGN_128
constexpr uint64_t kLinearAlignment_B = 64;    // what displays and the render engine want

// A tiling of bytes: x counts bytes along a row.
Tiling Bytes(absl::string_view text) { return Tiling::Parse(text).value_or(Tiling()); }

const Tiling& ByteTiling(Scheme scheme, bool bit6_swizzle) {
  static const Tiling kX = Bytes("y2 y1 y0 x8 x7 x6 x5 x4 x3 x2 x1 x0");
  static const Tiling kXSwizzled = Bytes("y2 y1 y0 x8 x7 x6^y0^y1 x5 x4 x3 x2 x1 x0");
  static const Tiling kY = Bytes("x6 x5 x4 y4 y3 y2 y1 y0 x3 x2 x1 x0");
  static const Tiling kYSwizzled = Bytes("x6 x5 x4 y4 y3 y2^x4 y1 y0 x3 x2 x1 x0");
  static const Tiling kW = Bytes("x5 x4 x3 y5 y4 y3 y2 x2 y1 x1 y0 x0");
  static const Tiling kTile4 = Bytes("y4 y3 x6 y2 x5 x4 y1 y0 x3 x2 x1 x0");
  static const Tiling kLinear;
  switch (scheme) {
    case Scheme::kIntelX:
      return bit6_swizzle ? kXSwizzled : kX;
    case Scheme::kIntelY:
      return bit6_swizzle ? kYSwizzled : kY;
    case Scheme::kIntelW:
      return kW;
    case Scheme::kIntelTile4:
      return kTile4;
    default:
      return kLinear;
  }
}

// Where the levels of a layer are, as if they all were one image: level 1 below level 0, level 2 to
// the right of level 1, and each that follows below the one before. So it is for 2D images from
// Gfx4 on, and from Gfx9 on for each slice of a 3D image too ("2D Surfaces" of the manuals' "Memory
// Views").
struct LevelPlaces {
  std::array<uint32_t, kMaxLevels> x_el = {}, y_el = {};
  uint32_t width_el = 0, height_el = 0;  // of what holds all levels

  static uint32_t LevelWidth(const ImageDescription& image, uint32_t level) {
    return DivideUp(Minify(image.width_px, level), image.format->block_w_px);
  }
  static uint32_t LevelHeight(const ImageDescription& image, uint32_t level) {
    return DivideUp(Minify(image.height_px, level), image.format->block_h_px);
  }
};

LevelPlaces PlaceLevels(const ImageDescription& image, uint32_t align_w_el, uint32_t align_h_el) {
  LevelPlaces places;
  uint32_t x_el = 0, y_el = 0;
  for (uint32_t l = 0; l < image.levels; ++l) {
    const uint32_t w_el = places.LevelWidth(image, l), h_el = places.LevelHeight(image, l);
    places.x_el[l] = x_el;
    places.y_el[l] = y_el;
    places.width_el = std::max(places.width_el, x_el + w_el);
    places.height_el = std::max(places.height_el, y_el + h_el);
    if (l == 1) {
      x_el += static_cast<uint32_t>(RoundUp(w_el, align_w_el));
    } else {
      y_el += static_cast<uint32_t>(RoundUp(h_el, align_h_el));
    }
  }
  return places;
}

}  // namespace

Tiling IntelTiling(Scheme scheme, bool bit6_swizzle, uint32_t element_B) {
  return ByteTiling(scheme, bit6_swizzle).WithoutLowBitsOfX(CeilLog2(element_B)).value_or(Tiling());
}

absl::Status LayOutIntel(const ImageDescription& image, Layout::Geometry& geometry) {
  const Format& format = *image.format;
  const bool tiled = image.scheme != Scheme::kIntelLinear;
  if (image.width_px > kMaxSize_px || image.height_px > kMaxSize_px) {
    return BrokenRule(
        absl::StrCat("width and height of an Intel image are at most ", kMaxSize_px, " px"));
  }
  if (image.layers > kMaxLayers) {
    return BrokenRule(absl::StrCat("an Intel image has at most ", kMaxLayers, " layers"));
  }
  // Where samples go depends on the format's use and is not described here.
  if (image.samples != 1)
    return BrokenRule("an Intel image has one sample here: where more would lie is not described");
  if (tiled && !IsPowerOfTwo(format.block_B)) {
    return BrokenRule(absl::StrCat("an element of a tiled Intel image has 1, 2, 4, 8 or 16 B; ",
                                   format.name, " has ", format.block_B));
  }
  if (image.scheme == Scheme::kIntelW && format.block_B != 1) {
    return BrokenRule(absl::StrCat("W tiles are for stencil, whose elements have 1 B; ",
                                   format.name, " has ", format.block_B));
  }

  const bool w_tiles = image.scheme == Scheme::kIntelW;
  const uint32_t least_align_el = w_tiles ? 8 : 4;
  const uint32_t align_w_el = image.align_w_el != 0 ? image.align_w_el : least_align_el;
  const uint32_t align_h_el = image.align_h_el != 0 ? image.align_h_el : least_align_el;
  for (const uint32_t align_el : {align_w_el, align_h_el}) {
    if (!IsPowerOfTwo(align_el) || align_el < least_align_el || align_el > kMaxAlign_el) {
      return BrokenRule(absl::StrCat("levels are aligned to powers of two from ", least_align_el,
                                     " to ", kMaxAlign_el, " elements; ", align_el, " is none"));
    }
  }

  const LevelPlaces places = PlaceLevels(image, align_w_el, align_h_el);
  const Tiling tiling = IntelTiling(image.scheme, image.bit6_swizzle, format.block_B);
  const uint64_t tile_w_el = tiling.width_el(), tile_h_el = tiling.height_el();

  // A W tile is programmed as if it were as wide as a Y tile and half as high as it is.
  const uint32_t rows_in_pitch = w_tiles ? 2 : 1;
  const uint64_t row_B = uint64_t{places.width_el} * format.block_B;
  const uint64_t tile_row_B = tile_w_el * format.block_B;
  const uint64_t unit_B = tiled ? tile_row_B * rows_in_pitch : 1;
  uint64_t stride_B = image.stride_B;
  if (stride_B == 0) {
    stride_B = RoundUp(row_B, tiled ? tile_row_B : kLinearAlignment_B) * rows_in_pitch;
  }
  if (stride_B % unit_B != 0) {
    return BrokenRule(absl::StrCat("the pitch of a tiled image is a multiple of the tile's width, ",
                                   unit_B, " B; ", stride_B, " is not"));
  }
  if (stride_B < row_B * rows_in_pitch) {
    return BrokenRule(absl::StrCat("a pitch of ", stride_B, " B is less than a row, which needs ",
                                   row_B * rows_in_pitch));
  }
  if (stride_B > kMaxStride_B) {
    return BrokenRule(absl::StrCat("the pitch of an Intel image is at most ", kMaxStride_B,
                                   " B, not ", stride_B));
  }
  const uint64_t tile_B = uint64_t{format.block_B} << tiling.index_bits();
  const uint64_t tile_row_stride_B = stride_B / rows_in_pitch * tile_h_el;
  geometry.level_count = image.levels;
  for (uint32_t l = 0; l < image.levels; ++l) {
    const uint32_t x_el = places.x_el[l], y_el = places.y_el[l];
    Level& level = geometry.levels[l];
    level.width_el = places.LevelWidth(image, l);
    level.height_el = places.LevelHeight(image, l);
    level.tile_w_log2 = static_cast<uint8_t>(tiling.width_log2());
    level.tile_h_log2 = static_cast<uint8_t>(tiling.height_log2());
    level.pitch_el = static_cast<uint32_t>(stride_B / rows_in_pitch / format.block_B);
    level.tile_row_stride_B = tile_row_stride_B;
    level.offset_B = y_el / tile_h_el * tile_row_stride_B + x_el / tile_w_el * tile_B;
    level.x_el = static_cast<uint32_t>(x_el % tile_w_el);
    level.y_el = static_cast<uint32_t>(y_el % tile_h_el);
    // Level 0 has its rows to the end, the others what they reach.
    const uint64_t rows_tl = ShiftUp(level.y_el + level.height_el, tiling.height_log2());
    const uint64_t columns_tl = ShiftUp(level.x_el + level.width_el, tiling.width_log2());
    level.size_B = l == 0 ? rows_tl * tile_row_stride_B
                          : (rows_tl - 1) * tile_row_stride_B + columns_tl * tile_B;
  }
  // A layer begins at a row of tiles, and where a level could: that is a QPitch which one may
  // choose from Gfx8 on. A single layer needs no more than its own rows.
  const uint64_t layer_h_el = RoundUp(
      places.height_el, image.layers == 1 ? tile_h_el : std::max<uint64_t>(tile_h_el, align_h_el));
  geometry.layer_stride_B = layer_h_el / tile_h_el * tile_row_stride_B;
  geometry.size_B = geometry.layer_stride_B * image.layers;
  return absl::OkStatus();
}

}  // namespace packsmith::layout
