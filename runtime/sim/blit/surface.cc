#include "runtime/sim/blit/surface.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/layout/format.h"
#include "runtime/layout/layout.h"
#include "runtime/layout/tiling.h"

namespace packsmith::sim {
namespace {

// More than any command can say; arithmetic on larger numbers could overflow.
constexpr int64_t kMaxPitch_B = int64_t{1} << 24;
constexpr uint32_t kMaxSlice = 1u << 16, kMaxQPitch_px = 1u << 20;

layout::Scheme SchemeOf(BlitTiling tiling) {
  switch (tiling) {
    case BlitTiling::kLinear:
      return layout::Scheme::kIntelLinear;
    case BlitTiling::kX:
      return layout::Scheme::kIntelX;
    case BlitTiling::kY:
      return layout::Scheme::kIntelY;
    case BlitTiling::kTile4:
      return layout::Scheme::kIntelTile4;
    case BlitTiling::kYf:
      return layout::Scheme::kIntelYf;
    case BlitTiling::kYs:
      return layout::Scheme::kIntelYs;
    case BlitTiling::kTile64:
      return layout::Scheme::kIntelTile64;
    case BlitTiling::kTile64Xe2:
      return layout::Scheme::kIntelTile64Xe2;
  }
  return layout::Scheme::kIntelLinear;
}

// A format with pixels of this size; layouts depend on nothing else. Null if there is none.
const layout::Format* FormatOf(uint32_t pixel_B) {
  switch (pixel_B) {
    case 1:
      return layout::FindFormat("R8_UINT");
    case 2:
      return layout::FindFormat("R16_UINT");
    case 4:
      return layout::FindFormat("R32_UINT");
    case 8:
      return layout::FindFormat("R32G32_UINT");
    case 12:
      return layout::FindFormat("R32G32B32_UINT");
    case 16:
      return layout::FindFormat("R32G32B32A32_UINT");
    default:
      return nullptr;
  }
}

}  // namespace

absl::StatusOr<PixelPlaces> PixelPlaces::Of(const BlitSurface& surface, uint32_t pixel_B) {
  const layout::Format* format = FormatOf(pixel_B);
  if (format == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("pixels of a blit have 1, 2, 4, 8, 12 or 16 B, not ", pixel_B));
  }
  if (surface.pitch_B < -kMaxPitch_B || surface.pitch_B > kMaxPitch_B) {
    return absl::InvalidArgumentError(absl::StrCat("a pitch of ", surface.pitch_B,
                                                   " B is out of range: at most ", kMaxPitch_B,
                                                   " B are possible in either direction"));
  }
  PixelPlaces places;
  places.address_ = surface.address;
  places.pixel_B_ = pixel_B;
  places.linear_ = surface.tiling == BlitTiling::kLinear;
  places.row_stride_B_ = static_cast<uint64_t>(surface.pitch_B);

  layout::ImageDescription image;
  image.scheme = SchemeOf(surface.tiling);
  image.format = format;
  image.bit6_swizzle = surface.bit6_swizzle &&
                       (surface.tiling == BlitTiling::kX || surface.tiling == BlitTiling::kY);
  if (surface.level.has_value()) {
    if (surface.pitch_B <= 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the pitch of an image with levels must be positive; ", surface.pitch_B, " B is not"));
    }
    const BlitLevel& level = *surface.level;
    if (level.slice > kMaxSlice || level.qpitch_px > kMaxQPitch_px) {
      return absl::InvalidArgumentError(absl::StrCat(
          "slice ", level.slice, " with ", level.qpitch_px, " rows from slice to slice is out of ",
          "range: slices are at most ", kMaxSlice, ", rows ", kMaxQPitch_px));
    }
    image.dim = level.is_3d ? layout::Dim::k3d : layout::Dim::k2d;
    image.width_px = level.width_px;
    image.height_px = level.height_px;
    image.levels = level.level + 1;
    const bool has_tail =
        image.scheme >= layout::Scheme::kIntelYf && level.mip_tail_level <= level.level;
    image.mip_tail_level = has_tail ? level.mip_tail_level : uint32_t{layout::kNoMipTail};
    // The first level needs no alignment.
    if (level.level != 0 && image.scheme < layout::Scheme::kIntelYf) {
      image.align_w_el = level.align_w_B / pixel_B;
      image.align_h_el = level.align_h_px;
    }
    if (level.is_3d) image.layers = level.slice + 1;
    // The layout's own stride stays the least one: only the places of levels are asked of it, and a
    // pitch that is too small for them is the driver's mistake, but names a place for each pixel.
  }
  const absl::StatusOr<layout::Layout> layout = layout::Layout::Of(image);
  if (!layout.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a blit's surface: ", layout.status().message()));
  }
  const layout::Tiling tiling = layout->TilingOf(0);
  places.tile_w_log2_ = tiling.width_log2();
  places.tile_h_log2_ = tiling.height_log2();
  int pixel_log2_B = 0;
  while ((2u << pixel_log2_B) <= pixel_B) ++pixel_log2_B;
  places.tile_log2_B_ = tiling.index_bits() + pixel_log2_B;
  int64_t slice_rows = 0;
  if (surface.level.has_value()) {
    const BlitLevel& asked = *surface.level;
    const layout::Level& level = layout->levels()[asked.level];
    const auto tile_row_B = static_cast<int64_t>(level.tile_row_stride_B);
    const auto offset_B = static_cast<int64_t>(level.offset_B);
    const int64_t tile_B = int64_t{pixel_B} << tiling.index_bits();
    places.x_begin_ = (offset_B % tile_row_B / tile_B << tiling.width_log2()) + level.x_el;
    places.y_begin_ = (offset_B / tile_row_B << tiling.height_log2()) + level.y_el;
    slice_rows = int64_t{asked.slice >> tiling.depth_log2()} * asked.qpitch_px;
    places.slice_index_ = tiling.IndexOf({0, 0, 0, asked.slice});
  }
  places.x_begin_ += surface.x_offset_px;
  places.y_begin_ += surface.y_offset_px + slice_rows;
  if (places.linear_) return places;

  const int64_t tile_w_B = int64_t{pixel_B} << tiling.width_log2();
  if (surface.pitch_B <= 0 || surface.pitch_B % tile_w_B != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the pitch of a surface in ", layout::SchemeName(image.scheme),
                     " tiles must be a positive multiple of the tile's width, ", tile_w_B, " B; ",
                     surface.pitch_B, " B is not"));
  }
  places.row_stride_B_ = static_cast<uint64_t>(surface.pitch_B / tile_w_B) << places.tile_log2_B_;
  places.x_mask_ = tiling.width_el() - 1;
  places.y_mask_ = tiling.height_el() - 1;
  for (uint32_t x = 0; x < tiling.width_el(); ++x) {
    places.x_index_[x] = static_cast<uint16_t>(tiling.IndexOf({x, 0, 0, 0}));
  }
  for (uint32_t y = 0; y < tiling.height_el(); ++y) {
    places.y_index_[y] = static_cast<uint16_t>(tiling.IndexOf({0, y, 0, 0}));
  }
  int run_log2 = 0;
  while (run_log2 < tiling.width_log2() && tiling.WithoutLowBitsOfX(run_log2 + 1).has_value()) {
    ++run_log2;
  }
  places.run_mask_ = (uint32_t{1} << run_log2) - 1;
  return places;
}

}  // namespace packsmith::sim
