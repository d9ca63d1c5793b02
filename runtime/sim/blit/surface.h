// Where the pixels of a blit's surface are in memory.
#ifndef PACKSMITH_RUNTIME_SIM_BLIT_SURFACE_H_
#define PACKSMITH_RUNTIME_SIM_BLIT_SURFACE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"

namespace packsmith::sim {

// The orders of pixels that copy engines know; runtime/layout/layout.h describes them.
enum class BlitTiling : uint8_t {
  kLinear,
  kX,
  kY,
  kTile4,
  kYf,
  kYs,
  kTile64,
  kTile64Xe2,
};
inline constexpr int kBlitTilings = 8;

// The place of a level and slice in an image, for commands that name them (XY_BLOCK_COPY_BLT from
// Gfx12.5 on).
struct BlitLevel {
  uint32_t width_px = 1, height_px = 1;  // of level 0
  bool is_3d = false;
  uint32_t level = 0;
  uint32_t mip_tail_level = 15;  // 15: no mip tail
  // Levels begin at multiples of these; not used in tilings whose levels begin at tiles.
  uint32_t align_w_B = 0, align_h_px = 0;
  uint32_t slice = 0;      // array index, or depth
  uint32_t qpitch_px = 0;  // rows from one slice to the next
};

struct BlitSurface {
  uint32_t space = 0;    // of memory, see runtime/dump/memory.h
  uint64_t address = 0;  // of the pixel (0, 0), or of the image with `level`
  // From a row to the next. In tiled surfaces a positive multiple of the tile's width. Negative:
  // rows go up from `address`.
  int64_t pitch_B = 0;
  BlitTiling tiling = BlitTiling::kLinear;
  // Before Gfx8, if the memory is configured so; see runtime/layout/layout.h.
  bool bit6_swizzle = false;
  // What is added to coordinates.
  uint32_t x_offset_px = 0, y_offset_px = 0;
  std::optional<BlitLevel> level = std::nullopt;
};

// The places of all pixels of a surface.
class PixelPlaces {
 public:
  // `pixel_B`: 1, 2, 4, 8, 16, or 12 if the surface is linear. InvalidArgument: the surface breaks
  // a rule of its tiling, and the message says which one.
  static absl::StatusOr<PixelPlaces> Of(const BlitSurface& surface, uint32_t pixel_B);

  // Pixels of a row that are next to each other in memory.
  struct Run {
    uint64_t address = 0;
    uint32_t pixels = 0;
  };

  // The run that begins with the pixel (x, y), of at most `most` pixels, which is at least 1. In a
  // tiled surface no coordinate may be negative: see Contains().
  Run RunAt(int64_t x, int64_t y, uint32_t most) const {
    x += x_begin_;
    y += y_begin_;
    if (linear_) {
      return {
          address_ + static_cast<uint64_t>(y) * row_stride_B_ + static_cast<uint64_t>(x) * pixel_B_,
          most};
    }
    const uint32_t in_run = run_mask_ + 1 - (static_cast<uint32_t>(x) & run_mask_);
    const uint32_t index = x_index_[static_cast<uint64_t>(x) & x_mask_] ^
                           y_index_[static_cast<uint64_t>(y) & y_mask_] ^ slice_index_;
    return {TileAddress(x, y) + uint64_t{index} * pixel_B_, std::min(most, in_run)};
  }

  // The memory of the tile that has the pixel; in a linear surface that of the pixel.
  struct Extent {
    uint64_t address = 0, size_B = 0;
  };
  Extent TileAt(int64_t x, int64_t y) const {
    if (linear_) return {RunAt(x, y, 1).address, pixel_B_};
    return {TileAddress(x + x_begin_, y + y_begin_), uint64_t{1} << tile_log2_B_};
  }

  // Whether RunAt() may be asked for pixels of the rectangle from (x, y), included.
  bool Contains(int64_t x, int64_t y) const {
    return linear_ || (x + x_begin_ >= 0 && y + y_begin_ >= 0);
  }

  bool is_linear() const { return linear_; }
  uint32_t pixel_B() const { return pixel_B_; }

 private:
  static constexpr size_t kMaxTileSide_px = 512;

  PixelPlaces() = default;

  // Of places from the start of the image.
  uint64_t TileAddress(int64_t x, int64_t y) const {
    return address_ + static_cast<uint64_t>(y >> tile_h_log2_) * row_stride_B_ +
           (static_cast<uint64_t>(x >> tile_w_log2_) << tile_log2_B_);
  }

  uint64_t address_ = 0;
  uint64_t row_stride_B_ = 0;  // of rows of pixels, or of tiles; modulo 2^64 if negative
  int64_t x_begin_ = 0, y_begin_ = 0;
  uint32_t pixel_B_ = 1;
  bool linear_ = true;
  int tile_w_log2_ = 0, tile_h_log2_ = 0, tile_log2_B_ = 0;
  uint32_t x_mask_ = 0, y_mask_ = 0, run_mask_ = 0, slice_index_ = 0;
  std::array<uint16_t, kMaxTileSide_px> x_index_, y_index_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_BLIT_SURFACE_H_
