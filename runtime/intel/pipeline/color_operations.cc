#include "runtime/intel/pipeline/color_operations.h"

#include <bit>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace packsmith::intel {
namespace {

// Pixels.
struct Size {
  uint32_t width = 0, height = 0;
};
// What a pixel of the draw stands for, and what the rectangle must be a multiple of.
struct Scale {
  Size pixel, block;
};

// Of a target with one sample: in units of what an element of the auxiliary surface describes.
// Resolves have the rectangles of clears.
Scale OneSample(const ColorOperationOptions& options, ColorScaling scaling) {
  // The element of Y tiles has a row of 32 bytes, 4 times.
  const Size element{32 / options.texel_bytes, 4};
  const auto times = [&](uint32_t y) {
    return Scale{{element.width * 8, element.height * y},
                 {element.width * 16, element.height * y * 2}};
  };
  switch (scaling) {
    case ColorScaling::kGfx8:
      return times(16);
    case ColorScaling::kGfx9:
      return times(8);
    case ColorScaling::kGfx12:
      return times(4);
    case ColorScaling::kGfx125: {
      const Size size{1024 / options.texel_bytes, 16};
      return {size, size};
    }
    case ColorScaling::kNone:
      break;
  }
  return {};
}

absl::Status CheckColorOperation(const ColorOperationOptions& options,
                                 const GenerationFacts& facts) {
  const bool clears = options.operation == PixelOperation::kFastClear;
  const absl::string_view what = clears ? "a fast clear" : "a resolve";
  if (options.operation == PixelOperation::kDraw) {
    return absl::InvalidArgumentError(
        "a plan for PixelOperation::kDraw; only clears and resolves have a scaled rectangle");
  }
  if (facts.color_scaling == ColorScaling::kNone) {
    return absl::UnimplementedError(
        absl::StrCat(what,
                     " of colours: how this generation scales its rectangle is not known; "
                     "clear by a draw, or by CommandBuffer::Fill()"));
  }
  if (!std::has_single_bit(options.samples) || options.samples > 16) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.samples, " samples in each pixel; there must be 1, 2, 4, 8 or 16"));
  }
  if (options.samples > 1) {
    if (clears) return absl::OkStatus();
    return absl::UnimplementedError(
        "a resolve of colours of several samples; only those of one are resolved by a draw with a "
        "scaled rectangle");
  }
  const bool y = options.tiling == SurfaceTiling::kY, four = options.tiling == SurfaceTiling::k4;
  const bool new_tiles = facts.color_scaling == ColorScaling::kGfx125;
  if (new_tiles ? !four : !y) {
    return absl::UnimplementedError(
        absl::StrCat(what, " of an image of another tiling; it must be ", new_tiles ? "4" : "Y"));
  }
  // Colour of fewer bytes is compressed from Gfx12 on.
  const bool any_size = new_tiles || facts.color_scaling == ColorScaling::kGfx12;
  if (!std::has_single_bit(options.texel_bytes) || options.texel_bytes > 16 ||
      (!any_size && options.texel_bytes < 4)) {
    return absl::UnimplementedError(absl::StrCat(what, " of texels of ", options.texel_bytes,
                                                 " bytes; they must have ",
                                                 any_size ? "1, 2, " : "", "4, 8 or 16"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ColorRectangle> PlanColorOperation(const ColorOperationOptions& options,
                                                  const GenerationFacts& facts) {
  if (absl::Status status = CheckColorOperation(options, facts); !status.ok()) return status;
  const uint64_t right = uint64_t{options.x} + options.width;
  const uint64_t bottom = uint64_t{options.y} + options.height;
  if (options.width == 0 || options.height == 0 || right > options.level_width ||
      bottom > options.level_height) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a rectangle of ", options.width, " x ", options.height, " pixels from ", options.x, ", ",
        options.y, " on in a level of ", options.level_width, " x ", options.level_height));
  }
  Scale scale;
  if (options.samples == 1) {
    scale = OneSample(options, facts.color_scaling);
  } else {
    // PRM of Ivy Bridge and later, "MSAA Compression": the clear pass for each number of samples.
    const uint32_t width = options.samples <= 4 ? 8 : options.samples == 8 ? 2 : 1;
    scale = {{width, 2}, {2 * width, 4}};
  }
  const auto divides = [](uint64_t first, uint64_t end, uint32_t level, uint32_t block) {
    return first % block != 0 || (end % block != 0 && end != level);
  };
  if (divides(options.x, right, options.level_width, scale.block.width) ||
      divides(options.y, bottom, options.level_height, scale.block.height)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a rectangle from ", options.x, ", ", options.y, " to ", right, ", ", bottom,
                     " divides blocks of ", scale.block.width, " x ", scale.block.height,
                     " pixels: it must begin and end between two, or at the end of the level"));
  }
  const auto up = [](uint64_t value, uint32_t block, uint32_t pixel) {
    return static_cast<uint32_t>((value + block - 1) / block * block / pixel);
  };
  return ColorRectangle{.x0 = options.x / scale.pixel.width,
                        .y0 = options.y / scale.pixel.height,
                        .x1 = up(right, scale.block.width, scale.pixel.width),
                        .y1 = up(bottom, scale.block.height, scale.pixel.height)};
}

}  // namespace packsmith::intel
