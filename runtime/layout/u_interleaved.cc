// Arm's Mali: the only tiling of Utgard, and one of those from Midgard on. Mesa's documentation of
// the Panfrost driver describes it; levels are placed as that driver does.
#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "runtime/layout/schemes.h"

namespace packsmith::layout {
namespace {

constexpr uint32_t kMaxSize_px = 65536;       // 16 bits less 1 in the descriptor
constexpr uint64_t kMaxStride_B = INT32_MAX;  // a signed word there

}  // namespace

absl::Status LayOutUInterleaved(const ImageDescription& image, Layout::Geometry& geometry) {
  const Format& format = *image.format;
  if (image.width_px > kMaxSize_px || image.height_px > kMaxSize_px || image.layers > kMaxSize_px) {
    return BrokenRule(absl::StrCat(
        "width, height and layers of a u-interleaved image must be at most ", kMaxSize_px));
  }
  if (image.samples != 1) return BrokenRule("u-interleaved images have one sample");
  if (image.stride_B != 0 && image.levels != 1) {
    return BrokenRule("a stride can be chosen for an image of one level only");
  }

  // 16x16 pixels or 4x4 blocks.
  const int tile_log2 = format.is_block_compressed() ? 2 : 4;
  const uint64_t tile_B = uint64_t{format.block_B} << (2 * tile_log2);
  // A level of a 3D image is followed by the next level after all of its slices, half as many as
  // the level before has: descriptors have a pointer for each level, and the distance of its
  // slices. In other images all levels of a layer come before the next layer.
  const bool levels_of_slices = image.dim == Dim::k3d && image.levels != 1;
  uint64_t offset_B = 0;
  for (uint32_t l = 0; l < image.levels; ++l) {
    Level& level = geometry.levels[l];
    level.offset_B = offset_B;
    level.tile_w_log2 = level.tile_h_log2 = static_cast<uint8_t>(tile_log2);
    level.width_el = DivideUp(Minify(image.width_px, l), format.block_w_px);
    level.height_el = DivideUp(Minify(image.height_px, l), format.block_h_px);
    level.tile_row_stride_B = DivideUp(level.width_el, level.tile_w_el()) * tile_B;
    if (image.stride_B != 0) {
      if (image.stride_B % tile_B != 0) {
        return BrokenRule(absl::StrCat("the stride of a u-interleaved image must be a multiple of ",
                                       tile_B, " B, the size of a tile; ", image.stride_B,
                                       " is not"));
      }
      if (image.stride_B < level.tile_row_stride_B) {
        return BrokenRule(absl::StrCat("a stride of ", image.stride_B,
                                       " B is less than a row of tiles, which has ",
                                       level.tile_row_stride_B, " B"));
      }
      if (image.stride_B > kMaxStride_B) {
        return BrokenRule(absl::StrCat("the stride of a u-interleaved image must be at most ",
                                       kMaxStride_B, " B"));
      }
      level.tile_row_stride_B = image.stride_B;
    }
    level.pitch_el = static_cast<uint32_t>(level.tile_row_stride_B / tile_B) << tile_log2;
    level.size_B = DivideUp(level.height_el, level.tile_h_el()) * level.tile_row_stride_B;
    if (levels_of_slices) {
      level.layers = Minify(image.layers, l);
      level.layer_stride_B = level.size_B;
    }
    offset_B += level.size_B * std::max(level.layers, 1u);
  }
  geometry.level_count = image.levels;
  geometry.layer_stride_B = levels_of_slices ? 0 : offset_B;
  geometry.size_B = levels_of_slices ? offset_B : offset_B * image.layers;
  return absl::OkStatus();
}

}  // namespace packsmith::layout
