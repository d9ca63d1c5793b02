#include "runtime/intel/driver/image.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/layout/format.h"

namespace packsmith::intel {

absl::StatusOr<layout::Layout> LayOutImage(const ImageOptions& options, SurfaceTiling tile) {
  const layout::Format* const format = layout::FindFormat(options.format);
  if (format == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("image \"", options.name, "\": no format is called \"", options.format,
                     "\"; runtime/layout/format.h has the names, as Gallium and Vulkan"));
  }
  // Surface states give the horizontal alignment in bytes, 128 at most, since Tile4; before that in
  // texels, 16 at most.
  const bool has_tile4 = tile == SurfaceTiling::k4;
  return layout::Layout::Of({
      .scheme = options.linear
                    ? layout::Scheme::kIntelLinear
                    : (has_tile4 ? layout::Scheme::kIntelTile4 : layout::Scheme::kIntelY),
      .format = format,
      .width_px = options.width,
      .height_px = options.height,
      .layers = options.layers,
      .levels = options.levels,
      .align_w_el = has_tile4 ? std::max(uint32_t{4}, 128 / format->block_B) : 16,
      .align_h_el = 4,
  });
}

ImageSurface SurfaceOf(const Image& image, SurfacePurpose purpose, uint32_t mocs) {
  const layout::ImageDescription& description = image.placement.description();
  const layout::Format& format = *description.format;
  const uint64_t rows = image.placement.layer_stride_B() / image.pitch() * format.block_h_px;
  const bool has_tile4 = image.tiling == SurfaceTiling::k4;
  return {
      .purpose = purpose,
      .memory = {image.memory.address, image.memory.handle},
      .format = image.surface_format,
      .mocs = mocs,
      .width = description.width_px,
      .height = description.height_px,
      .levels = description.levels,
      .layers = description.layers,
      .tiling = image.tiling,
      .pitch = image.pitch(),
      .qpitch = description.layers > 1 ? static_cast<uint32_t>(rows)
                                       : (description.height_px + 3) & ~uint32_t{3},
      .horizontal_alignment = has_tile4 ? description.align_w_el * format.block_B : 0,
  };
}

}  // namespace packsmith::intel
