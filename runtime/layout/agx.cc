// Apple's AGX. Reproduces layouts that were captured from hardware; Mesa's documentation of the
// Asahi driver has the outlines.
#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "runtime/layout/compression.h"
#include "runtime/layout/schemes.h"

namespace packsmith::layout {
namespace {

constexpr uint64_t kCacheLine_B = 128;
constexpr uint64_t kPage_B = 16384;
constexpr int kPageLog2 = 14;

// Limits of the texture descriptor: 14 bits for a size less 1.
constexpr uint32_t kMaxSize_px = 16384;
// A linear image of one row is a buffer, whose length is in other fields; this is the most elements
// that AGX addresses in one.
constexpr uint32_t kMaxBuffer_px = 1u << 28;
// The stride is held as (stride - 16) / 16 in 18 bits.
constexpr uint64_t kMaxStride_B = uint64_t{16} << 18;
// For a linear image, the descriptor holds layers less 1 in 11 bits.
constexpr uint32_t kMaxLinearLayers = 2048;

absl::Status CheckAgx(const ImageDescription& image, uint32_t max_width_px) {
  if (image.format->agx_channels.empty()) {
    return BrokenRule(absl::StrCat("AGX has no format ", image.format->name));
  }
  if (image.width_px > max_width_px || image.height_px > kMaxSize_px) {
    return BrokenRule(
        absl::StrCat("width and height of an AGX image must be at most ", kMaxSize_px, " px"));
  }
  if (image.layers > kMaxSize_px) {
    return BrokenRule(absl::StrCat("an AGX image has at most ", kMaxSize_px, " layers"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status LayOutAgxLinear(const ImageDescription& image, Layout::Geometry& geometry) {
  const bool is_buffer = image.height_px == 1 && image.layers == 1;
  const absl::Status status = CheckAgx(image, is_buffer ? kMaxBuffer_px : kMaxSize_px);
  if (!status.ok()) return status;
  if (image.dim == Dim::k3d) return BrokenRule("3D images cannot be linear");
  if (image.dim == Dim::kCube) return BrokenRule("cubes cannot be linear");
  if (image.levels != 1) return BrokenRule("images with mip levels cannot be linear");
  if (image.samples != 1) return BrokenRule("multisampled images cannot be linear");
  if (image.format->is_block_compressed()) {
    return BrokenRule("block-compressed images cannot be linear");
  }
  if (image.layers > kMaxLinearLayers) {
    return BrokenRule(absl::StrCat("a linear AGX image has at most ", kMaxLinearLayers,
                                   " layers, the limit of its descriptor; this one has ",
                                   image.layers));
  }
  const uint64_t row_B = uint64_t{image.width_px} * image.format->block_B;
  if (image.stride_B % 16 != 0) {
    return BrokenRule(absl::StrCat("the stride of a linear AGX image must be a multiple of 16 B; ",
                                   image.stride_B, " is not"));
  }
  if (image.stride_B != 0 && image.stride_B < row_B) {
    return BrokenRule(absl::StrCat("a stride of ", image.stride_B,
                                   " B is less than a row, which has ", row_B, " B"));
  }
  if (image.stride_B > kMaxStride_B) {
    return BrokenRule(
        absl::StrCat("the stride of a linear AGX image must be at most ", kMaxStride_B, " B"));
  }
  Level& level = geometry.levels[0];
  level.tile_row_stride_B = image.stride_B != 0 ? image.stride_B : RoundUp(row_B, kCacheLine_B);
  level.width_el = image.width_px;
  level.height_el = image.height_px;
  level.pitch_el = static_cast<uint32_t>(level.tile_row_stride_B / image.format->block_B);
  level.size_B = RoundUp(level.tile_row_stride_B * image.height_px, kCacheLine_B);
  geometry.level_count = 1;
  geometry.layer_stride_B = level.size_B;
  geometry.size_B = level.size_B * image.layers;
  return absl::OkStatus();
}

absl::Status LayOutAgxTwiddled(const ImageDescription& image, Layout::Geometry& geometry) {
  const absl::Status status = CheckAgx(image, kMaxSize_px);
  if (!status.ok()) return status;
  const Format& format = *image.format;
  if (image.samples != 1 && image.samples != 2 && image.samples != 4) {
    return BrokenRule(absl::StrCat("an AGX image has 1, 2 or 4 samples, not ", image.samples));
  }
  if (image.samples != 1 && format.is_block_compressed()) {
    return BrokenRule("block-compressed images have one sample");
  }
  const uint32_t element_B = format.block_B * image.samples;
  if (!IsPowerOfTwo(element_B) || element_B > 64) {
    return BrokenRule(
        absl::StrCat("an element of a twiddled image has 1, 2, 4, 8, 16, 32 or 64 B; ", format.name,
                     " has ", element_B));
  }

  // A large tile fills a page, and is square or twice as wide as high.
  const int tile_log2 = kPageLog2 - CeilLog2(element_B);
  const int tile_w_log2 = (tile_log2 + 1) / 2;
  const int tile_h_log2 = tile_log2 / 2;
  const uint32_t tile_w_el = 1u << tile_w_log2;
  const uint32_t tile_h_el = 1u << tile_h_log2;
  const bool blocks = format.is_block_compressed();
  // Most formats are plain, and need no divisions.
  const auto columns_of = [&](uint32_t w_px) {
    return blocks ? DivideUp(w_px, format.block_w_px) : w_px;
  };
  const auto rows_of = [&](uint32_t h_px) {
    return blocks ? DivideUp(h_px, format.block_h_px) : h_px;
  };
  const uint32_t width_el = columns_of(image.width_px), height_el = rows_of(image.height_px);

  // With mip levels there is memory for all of them, however many were requested.
  const uint32_t levels = image.levels > 1 ? FullChain(image) : 1;
  geometry.level_count = levels;

  // The first level that is smaller than a tile in either direction.
  uint32_t first_small = 0;
  for (uint32_t w_px = width_el * format.block_w_px, h_px = height_el * format.block_h_px;
       columns_of(w_px) >= tile_w_el && rows_of(h_px) >= tile_h_el; ++first_small) {
    w_px = Minify(w_px, 1);
    h_px = Minify(h_px, 1);
  }

  // Small levels share one progression of sizes, which begins at the first of them.
  uint32_t small_w_el, small_h_el;
  if (blocks) {
    small_w_el = Minify(NextPowerOfTwo(width_el), first_small);
    small_h_el = Minify(NextPowerOfTwo(height_el), first_small);
  } else {
    small_w_el = NextPowerOfTwo(Minify(width_el, first_small));
    small_h_el = NextPowerOfTwo(Minify(height_el, first_small));
  }

  const uint64_t columns_tl = ShiftUp(width_el, tile_w_log2);
  const uint64_t rows_tl = ShiftUp(height_el, tile_h_log2);
  uint64_t offset_B = 0;
  for (uint32_t l = 0; l < levels; ++l) {
    Level& level = geometry.levels[l];
    level.offset_B = offset_B;
    level.width_el = columns_of(Minify(image.width_px, l));
    level.height_el = rows_of(Minify(image.height_px, l));
    level.pitch_el = level.width_el;
    if (l < first_small) {
      // The number of tiles is that of level 0 divided by 4 for each level, which is too few if the
      // number of columns or rows was odd on the way: then there is one more column, row and
      // corner.
      const uint64_t low = (uint64_t{1} << l) - 1;
      const bool odd_columns = (columns_tl & low) != 0;
      const bool odd_rows = (rows_tl & low) != 0;
      uint64_t tiles = (columns_tl * rows_tl) >> (2 * l);
      if (odd_columns) tiles += rows_tl >> l;
      if (odd_rows) tiles += columns_tl >> l;
      if (odd_columns && odd_rows) ++tiles;
      level.size_B = tiles * kPage_B;
      level.tile_w_log2 = static_cast<uint8_t>(tile_w_log2);
      level.tile_h_log2 = static_cast<uint8_t>(tile_h_log2);
      if (blocks && odd_columns) ++level.pitch_el;
    } else {
      // A level's tile is the least square into which its smaller side fits.
      const int log2 = blocks ? CeilLog2(std::min(small_w_el, small_h_el))
                              : CeilLog2(Minify(std::min(width_el, height_el), l));
      level.tile_w_log2 = level.tile_h_log2 = static_cast<uint8_t>(log2);
      level.size_B = uint64_t{small_w_el} * small_h_el * element_B;
      small_w_el = Minify(small_w_el, 1);
      small_h_el = Minify(small_h_el, 1);
    }
    const uint64_t tile_B = uint64_t{element_B} << (level.tile_w_log2 + level.tile_h_log2);
    level.tile_row_stride_B = ShiftUp(level.pitch_el, level.tile_w_log2) * tile_B;
    offset_B = RoundUp(offset_B + level.size_B, kCacheLine_B);
  }

  const bool of_pages =
      (levels > 1 && offset_B > kPage_B && (image.layers > 1 || format.depth_or_stencil)) ||
      image.writeable || (image.renderable && image.layers > 1);
  geometry.layer_stride_B = of_pages ? RoundUp(offset_B, kPage_B) : offset_B;
  geometry.size_B = geometry.layer_stride_B * image.layers;
  return absl::OkStatus();
}

absl::Status LayOutAgxCompressed(const ImageDescription& image, Layout::Geometry& geometry) {
  if (image.writeable) return BrokenRule("images that shaders write to cannot be compressed");
  if (image.format->is_block_compressed()) {
    return BrokenRule("block-compressed formats cannot be compressed again");
  }
  if (!image.format->agx_compressible()) {
    return BrokenRule(
        absl::StrCat("only formats that the GPU can render to can be compressed, and it cannot "
                     "render to ",
                     image.format->name));
  }
  const absl::Status status = LayOutAgxTwiddled(image, geometry);
  if (!status.ok()) return status;
  const SampleGrid grid = AgxSampleGrid(image.samples);
  uint64_t width_sa = uint64_t{image.width_px} * grid.x;
  uint64_t height_sa = uint64_t{image.height_px} * grid.y;
  if (width_sa < kMetadataTile_sa || height_sa < kMetadataTile_sa) {
    return BrokenRule(absl::StrCat("images of less than ", kMetadataTile_sa, "x", kMetadataTile_sa,
                                   " samples cannot be compressed; this one has ", width_sa, "x",
                                   height_sa));
  }

  Metadata& metadata = geometry.metadata;
  metadata.offset_B = geometry.size_B;
  width_sa = RoundUp(width_sa, kMetadataTile_sa);
  height_sa = RoundUp(height_sa, kMetadataTile_sa);
  // The larger side decides which levels are compressed.
  for (uint64_t side_sa = std::max(width_sa, height_sa);
       side_sa >= kMetadataTile_sa && metadata.levels < static_cast<int>(geometry.level_count);
       side_sa /= 2) {
    const uint64_t words =
        uint64_t{DivideUp(NextPowerOfTwo(static_cast<uint32_t>(width_sa)), kMetadataTile_sa)} *
        DivideUp(NextPowerOfTwo(static_cast<uint32_t>(height_sa)), kMetadataTile_sa);
    metadata.level_offset_B[metadata.levels++] = metadata.layer_stride_B;
    metadata.layer_stride_B += RoundUp(words * kMetadataWord_B, kCacheLine_B);
    width_sa = (width_sa + 1) / 2;
    height_sa = (height_sa + 1) / 2;
  }
  geometry.size_B += metadata.layer_stride_B * image.layers;
  return absl::OkStatus();
}

SampleGrid AgxSampleGrid(uint32_t samples) {
  return {samples == 4 ? 2u : 1u, samples >= 2 ? 2u : 1u};
}

uint64_t AgxMetadataIndex(uint32_t width_tl, uint32_t height_tl, uint32_t x_tl, uint32_t y_tl) {
  // Squares of the smaller side, in Z order, one after the other along the larger side.
  const int log2 = CeilLog2(std::min(width_tl, height_tl));
  const uint32_t within = (1u << log2) - 1;
  const uint64_t square = (width_tl > height_tl ? x_tl : y_tl) & ~within;
  uint64_t index = square << log2;
  for (int bit = 0; bit < log2; ++bit) {
    index |= uint64_t{x_tl >> bit & 1} << (2 * bit) | uint64_t{y_tl >> bit & 1} << (2 * bit + 1);
  }
  return index;
}

}  // namespace packsmith::layout
