#include "runtime/intel/driver/image.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/generation_driver.h"
#include "runtime/layout/format.h"
#include "runtime/layout/tiling.h"

namespace packsmith::intel {
namespace {

// Texels of a 3D image in each direction (PRM, RENDER_SURFACE_STATE, Width, Height and Depth).
constexpr uint32_t kMost3d = 2048;

// Where levels begin, in elements.
struct LevelAlignment {
  uint32_t width = 0, height = 0;
};

bool IsStencil(const layout::Format& format) {
  return format.depth_or_stencil && format.block_B == 1;
}

LevelAlignment AlignmentOf(const layout::Format& format, const ImageRules& rules) {
  if (format.depth_or_stencil) {
    // Packets of depth do not say it.
    const bool of_16_bits = format.block_B == 2;
    if (rules.wide_depth_levels) {
      return IsStencil(format) ? LevelAlignment{16, 8} : LevelAlignment{8, of_16_bits ? 8u : 4u};
    }
    return IsStencil(format) ? LevelAlignment{8, 8} : LevelAlignment{of_16_bits ? 8u : 4u, 4};
  }
  // As large as surface states can state: 128 bytes, 16 texels, or on Gfx8 16 pixels, which are
  // four blocks.
  if (rules.tile64 != Tile64::kNone) {
    const bool is_power = std::has_single_bit(format.block_B);
    return {is_power ? std::max(uint32_t{4}, 128 / format.block_B) : 4, 4};
  }
  return {rules.surfaces_count_pixels && format.is_block_compressed() ? 4u : 16u, 4};
}

struct TilingChoice {
  layout::Scheme scheme;
  SurfaceTiling tiling;
};

TilingChoice ChooseTiling(const ImageOptions& options, const layout::Format& format,
                          const ImageRules& rules) {
  if (options.linear) return {layout::Scheme::kIntelLinear, SurfaceTiling::kLinear};
  if (rules.stencil_in_w_tiles && IsStencil(format)) {
    return {layout::Scheme::kIntelW, SurfaceTiling::kW};
  }
  if (rules.tile64 == Tile64::kNone) return {layout::Scheme::kIntelY, SurfaceTiling::kY};
  if (options.samples == 1) return {layout::Scheme::kIntelTile4, SurfaceTiling::k4};
  return {
      rules.tile64 == Tile64::kXe2 ? layout::Scheme::kIntelTile64Xe2 : layout::Scheme::kIntelTile64,
      SurfaceTiling::k64};
}

absl::Status Named(const ImageOptions& options, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("image \"", options.name, "\": ", status.message()));
}

absl::Status CheckShape(const ImageOptions& options, const ImageRules& rules) {
  const bool is_3d = options.shape == SurfaceShape::k3D;
  if (options.shape == SurfaceShape::k1D) {
    return absl::InvalidArgumentError("1D images are not laid out; use a 2D one of height 1");
  }
  if (!is_3d && options.depth != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a depth of ", options.depth, " of an image that is not 3D; arrays have layers"));
  }
  if (is_3d && options.layers != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.layers, " layers of a 3D image; there are no arrays of those, set depth"));
  }
  if (is_3d && std::max({options.width, options.height, options.depth}) > kMost3d) {
    return absl::InvalidArgumentError(absl::StrCat("a 3D image of ", options.width, " x ",
                                                   options.height, " x ", options.depth,
                                                   " pixels; each side must be at most ", kMost3d));
  }
  if (options.samples > rules.most_samples) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.samples, " samples; this generation has at most ", rules.most_samples));
  }
  return absl::OkStatus();
}

// What runtime/layout aligns or places otherwise than hardware.
absl::Status CheckLevels(const ImageOptions& options, const layout::Format& format,
                         const ImageRules& rules, const LevelAlignment& alignment) {
  if (rules.surfaces_count_pixels && format.is_block_compressed()) {
    const uint32_t width = alignment.width * format.block_w_px,
                   height = alignment.height * format.block_h_px;
    if (width > 16 || height > 16 || !std::has_single_bit(width) || !std::has_single_bit(height)) {
      return absl::UnimplementedError(absl::StrCat(
          "blocks of ", format.block_w_px, " x ", format.block_h_px,
          " pixels; this generation aligns levels to at most 16 pixels, four blocks of 4 x 4"));
    }
  }
  if (!rules.slices_are_packed || options.shape != SurfaceShape::k3D) return absl::OkStatus();
  if (options.levels > 1) {
    return absl::UnimplementedError(
        absl::StrCat("a 3D image of ", options.levels,
                     " levels; this generation has slices of smaller levels side by side, which is "
                     "not described: use one level, or an array of layers"));
  }
  return absl::OkStatus();
}

// Layers begin with a tile, packed slices with the next row.
absl::Status CheckSlices(const ImageOptions& options, const layout::Layout& placement,
                         const ImageRules& rules, const LevelAlignment& alignment) {
  if (!rules.slices_are_packed || options.shape != SurfaceShape::k3D || options.depth == 1) {
    return absl::OkStatus();
  }
  const uint32_t block = placement.description().format->block_h_px;
  const uint32_t rows = (options.height + block - 1) / block;
  const uint32_t aligned = (rows + alignment.height - 1) / alignment.height * alignment.height;
  const uint32_t tile = placement.levels()[0].tile_h_el();
  if (aligned % tile == 0) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "a 3D image whose slices have ", rows, " rows of elements, in tiles of ", tile,
      "; this generation has no gaps between slices: make the rows a multiple, or the image "
      "linear"));
}

}  // namespace

bool Image::interleaves_samples() const { return placement.description().format->depth_or_stencil; }

uint32_t Image::pitch() const {
  const uint32_t of_pixel =
      interleaves_samples() ? 1u << layout::SampleBlockOf(std::countr_zero(samples())).columns_log2
                            : 1;
  return placement.levels()[0].pitch_el * placement.description().format->block_B * of_pixel *
         (tiling == SurfaceTiling::kW ? 2 : 1);
}

uint32_t Image::LayersOf(uint32_t level) const {
  const layout::ImageDescription& description = placement.description();
  return description.dim == layout::Dim::k3d ? std::max(description.layers >> level, 1u)
                                             : description.layers;
}

absl::StatusOr<Image> LayOutImage(const ImageOptions& options, const GenerationFacts& facts) {
  const ImageRules& rules = facts.images;
  const layout::Format* const format = layout::FindFormat(options.format);
  if (format == nullptr) {
    return Named(options, absl::InvalidArgumentError(absl::StrCat(
                              "no format is called \"", options.format,
                              "\"; runtime/layout/format.h has the names, as Gallium and Vulkan")));
  }
  const LevelAlignment alignment = AlignmentOf(*format, rules);
  absl::Status status = CheckShape(options, rules);
  if (status.ok()) status = CheckLevels(options, *format, rules, alignment);
  if (!status.ok()) return Named(options, status);

  const bool is_3d = options.shape == SurfaceShape::k3D;
  const TilingChoice choice = ChooseTiling(options, *format, rules);
  const bool chooses_alignment = choice.tiling != SurfaceTiling::k64;
  absl::StatusOr<layout::Layout> placement = layout::Layout::Of({
      .scheme = choice.scheme,
      .format = format,
      .width_px = options.width,
      .height_px = options.height,
      .layers = is_3d ? options.depth : options.layers,
      .levels = options.levels,
      .samples = options.samples,
      .dim = is_3d                                  ? layout::Dim::k3d
             : options.shape == SurfaceShape::kCube ? layout::Dim::kCube
                                                    : layout::Dim::k2d,
      .align_w_el = chooses_alignment ? alignment.width : 0,
      .align_h_el = chooses_alignment ? alignment.height : 0,
  });
  if (!placement.ok()) return Named(options, placement.status());
  status = CheckSlices(options, *placement, rules, alignment);
  if (!status.ok()) return Named(options, status);

  Image image{.placement = *std::move(placement),
              .tiling = choice.tiling,
              .surface_format = options.surface_format};
  const layout::Level& level = image.placement.levels()[0];
  // Of samples and elements, not pixels.
  const uint32_t rows_of_pixel =
      image.interleaves_samples()
          ? 1u << layout::SampleBlockOf(std::countr_zero(options.samples)).rows_log2
          : 1;
  const uint64_t slice = image.placement.sample_stride_B() != 0 ? image.placement.sample_stride_B()
                                                                : image.placement.layer_stride_B();
  uint64_t rows = slice / level.tile_row_stride_B * level.tile_h_el() * rows_of_pixel;
  if (rules.surfaces_count_pixels) rows *= format->block_h_px;
  image.qpitch = static_cast<uint32_t>((rows + 3) & ~uint64_t{3});
  // Levels in Tile64 begin at tiles, whatever the state says.
  if (chooses_alignment) {
    const bool counts_bytes = rules.tile64 != Tile64::kNone;
    image.horizontal_alignment =
        alignment.width * (counts_bytes                  ? format->block_B
                           : rules.surfaces_count_pixels ? format->block_w_px
                                                         : 1);
    image.vertical_alignment =
        alignment.height * (rules.surfaces_count_pixels ? format->block_h_px : 1);
    // Elements of 3, 6 and 12 bytes are in linear images, where nothing else can be stated.
    if (counts_bytes && !std::has_single_bit(format->block_B)) image.horizontal_alignment = 0;
  }
  return image;
}

uint64_t AlignmentOf(const Image& image) {
  return image.tiling == SurfaceTiling::k64 ? 64 << 10 : 4 << 10;
}

ImageSurface SurfaceOf(const Image& image, SurfacePurpose purpose, uint32_t mocs) {
  const layout::ImageDescription& description = image.placement.description();
  const bool is_3d = description.dim == layout::Dim::k3d;
  return {
      .purpose = purpose,
      .shape = is_3d                                   ? SurfaceShape::k3D
               : description.dim == layout::Dim::kCube ? SurfaceShape::kCube
                                                       : SurfaceShape::k2D,
      .memory = {image.memory.address, image.memory.handle},
      .format = image.surface_format,
      .mocs = mocs,
      .width = description.width_px,
      .height = description.height_px,
      .depth = is_3d ? description.layers : 1,
      .samples = description.samples,
      .interleaved_samples = description.samples > 1 && image.interleaves_samples(),
      .levels = description.levels,
      .layers = description.layers,
      .tiling = image.tiling,
      .pitch = image.pitch(),
      .qpitch = image.qpitch,
      .horizontal_alignment = image.horizontal_alignment,
      .vertical_alignment = image.vertical_alignment,
      .depth_stencil = description.format->depth_or_stencil,
  };
}

absl::StatusOr<Image> Context::NewImage(const ImageOptions& options) {
  absl::StatusOr<Image> image = LayOutImage(options, FactsOf(generation_.version));
  if (!image.ok()) return image;
  const absl::StatusOr<gpu::Buffer> memory = buffers_->Create({.size = image->placement.size_B(),
                                                               .zone = zone("other"),
                                                               .name = options.name,
                                                               .alignment = AlignmentOf(*image),
                                                               .zeroed = true});
  if (!memory.ok()) return memory.status();
  image->memory = *memory;
  return image;
}

}  // namespace packsmith::intel
