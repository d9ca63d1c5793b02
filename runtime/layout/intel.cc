// Intel: Gfx4 to Gfx12 have X and Y tiles, Gfx6 to Gfx12 W tiles for stencil, Gfx12.5 and later
// ones Tile4. Intel's Programmer's Reference Manuals, volume 5, "Memory Views" or "Memory Data
// Formats".
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "runtime/layout/schemes.h"

namespace packsmith::layout {
namespace {

constexpr uint32_t kMaxSize_px = 16384;        // 14 bits less 1 in RENDER_SURFACE_STATE
constexpr uint32_t kMaxLayers = 2048;          // 11 bits less 1
constexpr uint64_t kMaxStride_B = 256 * 1024;  // 18 bits less 1
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
  // Where Intel puts mip levels and samples depends on the generation and is not described here.
  if (image.levels != 1) return BrokenRule("Intel images have one level here");
  if (image.samples != 1) return BrokenRule("Intel images have one sample here");
  if (tiled && !IsPowerOfTwo(format.block_B)) {
    return BrokenRule(absl::StrCat("an element of a tiled Intel image has 1, 2, 4, 8 or 16 B; ",
                                   format.name, " has ", format.block_B));
  }
  if (image.scheme == Scheme::kIntelW && format.block_B != 1) {
    return BrokenRule(absl::StrCat("W tiles are for stencil, whose elements have 1 B; ",
                                   format.name, " has ", format.block_B));
  }

  Level& level = geometry.levels[0];
  geometry.level_count = 1;
  level.width_el = DivideUp(image.width_px, format.block_w_px);
  level.height_el = DivideUp(image.height_px, format.block_h_px);
  const Tiling tiling = IntelTiling(image.scheme, image.bit6_swizzle, format.block_B);
  level.tile_w_log2 = static_cast<uint8_t>(tiling.width_log2());
  level.tile_h_log2 = static_cast<uint8_t>(tiling.height_log2());

  // A W tile is programmed as if it were as wide as a Y tile and half as high as it is.
  const uint32_t rows_in_pitch = image.scheme == Scheme::kIntelW ? 2 : 1;
  const uint64_t row_B = uint64_t{level.width_el} * format.block_B;
  const uint64_t tile_row_B = uint64_t{level.tile_w_el()} * format.block_B;
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
  level.pitch_el = static_cast<uint32_t>(stride_B / rows_in_pitch / format.block_B);
  level.tile_row_stride_B = stride_B / rows_in_pitch * level.tile_h_el();
  // A layer begins at a row of tiles, which is a QPitch that one may choose from Gfx8 on.
  level.size_B = DivideUp(level.height_el, level.tile_h_el()) * level.tile_row_stride_B;
  geometry.layer_stride_B = level.size_B;
  geometry.size_B = level.size_B * image.layers;
  return absl::OkStatus();
}

}  // namespace packsmith::layout
