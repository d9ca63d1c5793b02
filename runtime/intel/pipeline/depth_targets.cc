#include "runtime/intel/pipeline/depth_targets.h"

#include <bit>

#include "absl/strings/str_cat.h"

namespace packsmith::intel {

absl::Status CheckDepthOperation(const DepthOperationOptions& from, uint32_t most_samples,
                                 DepthRectangle& rectangle) {
  constexpr uint64_t kMostSide = 16384;
  // Samples of a pixel lie next to each other, so that a block has fewer pixels.
  constexpr uint32_t kBlockWidth[] = {8, 4, 4, 2, 2}, kBlockHeight[] = {4, 4, 2, 2, 1};
  if (!std::has_single_bit(from.samples) || from.samples > most_samples) {
    return absl::InvalidArgumentError(absl::StrCat(
        from.samples, " samples; there must be a power of two, at most ", most_samples));
  }
  if (from.operation == DepthOperation::kClear && !from.clear_depth && !from.clear_stencil) {
    return absl::InvalidArgumentError(
        "a clear of neither depth nor stencil: set clear_depth, clear_stencil or both");
  }
  const uint32_t level_width = from.level_width == 0 ? from.width : from.level_width;
  const uint32_t level_height = from.level_height == 0 ? from.height : from.level_height;
  const uint64_t x_end = uint64_t{from.x} + from.width, y_end = uint64_t{from.y} + from.height;
  if (from.width == 0 || from.height == 0 || x_end > level_width || y_end > level_height ||
      x_end > kMostSide || y_end > kMostSide) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a rectangle from (", from.x, ", ", from.y, ") to (", x_end, ", ", y_end,
        ") of a level of ", level_width, " x ", level_height,
        " pixels; it must not be empty, and must be in the level, which has at most ", kMostSide));
  }
  const unsigned scale = static_cast<unsigned>(std::countr_zero(from.samples));
  const uint32_t block_width = kBlockWidth[scale], block_height = kBlockHeight[scale];
  if (from.x % block_width != 0 || from.y % block_height != 0 ||
      (x_end % block_width != 0 && x_end != level_width) ||
      (y_end % block_height != 0 && y_end != level_height)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a rectangle from (", from.x, ", ", from.y, ") to (", x_end, ", ", y_end,
                     "); corners must be at multiples of ", block_width, " x ", block_height,
                     " pixels or at the edges of the level, since blocks are cleared as a whole"));
  }
  rectangle = {
      .x_min = from.x,
      .y_min = from.y,
      .x_max = static_cast<uint32_t>(x_end),
      .y_max = static_cast<uint32_t>(y_end),
      .whole = from.x == 0 && from.y == 0 && x_end == level_width && y_end == level_height};
  return absl::OkStatus();
}

namespace depth_errors {
namespace {

absl::string_view NameOf(SurfaceTiling tiling) {
  switch (tiling) {
    case SurfaceTiling::kLinear:
      return "linear";
    case SurfaceTiling::kX:
      return "X";
    case SurfaceTiling::kY:
      return "Y";
    case SurfaceTiling::kW:
      return "W";
    case SurfaceTiling::kYf:
      return "Yf";
    case SurfaceTiling::kYs:
      return "Ys";
    case SurfaceTiling::k4:
      return "4";
    case SurfaceTiling::k64:
      return "64";
  }
  return "unknown";
}

}  // namespace

absl::Status Format(const char* what, uint32_t format) {
  return absl::InvalidArgumentError(
      absl::StrCat("a ", what, " buffer of format ", format,
                   "; depth is R32_FLOAT, R24_UNORM_X8_TYPELESS or R16_UNORM, stencil R8_UINT"));
}

absl::Status Tiling(const char* what, SurfaceTiling tiling, const char* generation) {
  return absl::InvalidArgumentError(
      absl::StrCat("a ", what, " buffer of ", generation, " in tiling ", NameOf(tiling),
                   "; depth is in Y, Yf or Ys and stencil in W up to Gfx11, both in Y, Yf or Ys on "
                   "Gfx12, in 4 or 64 later"));
}

absl::Status Shape(const char* what, const char* generation) {
  return absl::InvalidArgumentError(absl::StrCat(
      "a ", what, " buffer of ", generation,
      " with this shape; it must be 2D or a cube (on Gfx8 also 1D or 3D), of samples that are a "
      "power of two"));
}

absl::Status Layers(const char* what, uint32_t first, uint32_t count) {
  return absl::InvalidArgumentError(absl::StrCat("a ", what, " buffer of ", count,
                                                 " layers from layer ", first,
                                                 "; there must be at least one, all below 2048"));
}

absl::Status NotMultipleOf4(const char* what, uint32_t value) {
  return absl::InvalidArgumentError(
      absl::StrCat("qpitch of ", what, " is ", value, "; it must be a multiple of 4"));
}

absl::Status Zero(const char* what, const char* value) {
  return absl::InvalidArgumentError(absl::StrCat(value, " of ", what, " must not be 0"));
}

absl::Status SizesDiffer(const ImageSurface& depth, const ImageSurface& stencil) {
  return absl::InvalidArgumentError(absl::StrCat("depth of ", depth.width, " x ", depth.height,
                                                 " pixels with stencil of ", stencil.width, " x ",
                                                 stencil.height, "; they must have the same size"));
}

absl::Status NoDepth() {
  return absl::InvalidArgumentError("hierarchical depth without a depth buffer");
}

absl::Status NoCompression(const char* what, const char* generation) {
  return absl::InvalidArgumentError(
      absl::StrCat("compressed ", what, " on ", generation,
                   "; Gfx12 and later have it, with AuxiliaryMode::kCcsE"));
}

}  // namespace depth_errors
}  // namespace packsmith::intel
