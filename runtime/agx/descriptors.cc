#include "runtime/agx/descriptors.h"

namespace packsmith::agx {
namespace {

uint32_t Log2(uint32_t v) { return 31u - static_cast<unsigned>(__builtin_clz(v | 1)); }

}  // namespace

absl::Status CheckImage(const ImageLimits& image, absl::string_view what) {
  const auto wrong = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", why));
  };
  if (image.one_dimensional && image.height_px != 1) {
    return wrong(absl::StrFormat("a 1D image must have a height of 1, not %d", image.height_px));
  }
  if (image.cube && image.width_px != image.height_px) {
    return wrong(absl::StrFormat("the faces of a cube must be square, not %d by %d", image.width_px,
                                 image.height_px));
  }
  if (image.first_level > image.last_level) {
    return wrong(absl::StrFormat("levels %d to %d: the first is larger than the last",
                                 image.first_level, image.last_level));
  }
  const uint32_t largest = std::max(
      {image.width_px, image.height_px, image.three_dimensional ? image.depth : uint32_t{1}});
  if (image.last_level > Log2(largest)) {
    return wrong(absl::StrFormat("there is no level %d of %d by %d pixels: the last one is %d",
                                 image.last_level, image.width_px, image.height_px, Log2(largest)));
  }
  if (image.multisampled && image.last_level != 0) {
    return wrong("a multisampled image must have one level");
  }
  if (image.block_format && image.multisampled) {
    return wrong("a block-compressed format cannot be multisampled");
  }
  if (image.linear) {
    if (image.three_dimensional || image.cube) return wrong("3D images and cubes cannot be linear");
    if (image.multisampled) return wrong("multisampled images cannot be linear");
    if (image.block_format) return wrong("block-compressed formats cannot be linear");
    if (image.last_level != 0) return wrong("a linear image must have one level");
    if (image.page_aligned_layers) {
      return wrong(
          "the layers of a linear image cannot be page-aligned: the flag shares its bit with the "
          "stride");
    }
    if (image.stride_reads_as_extended) {
      return wrong(
          "the stride is so large that its highest bit is the one that says extended: reduce it");
    }
    if (image.has_layers) {
      return wrong("set the layers of a linear image as depth_linear, in the last eight bytes");
    }
    if (image.has_linear_layers && !image.extended) {
      return wrong("a linear image with layers must be extended");
    }
    if (image.has_linear_layers && !image.array) {
      return wrong("a linear image with layers must be an array");
    }
  } else {
    if (image.has_stride) {
      return wrong("only linear images can have a stride: it shares its bits with the layers");
    }
    if (image.has_linear_layers) {
      return wrong("only linear images can have depth_linear and layer_stride_linear");
    }
    if (image.depth != 1 && !image.array && !image.three_dimensional) {
      return wrong(absl::StrFormat("%d layers, but neither an array nor a 3D image", image.depth));
    }
  }
  if (image.compressed != image.has_acceleration_buffer) {
    return wrong(image.compressed ? "a compressed image needs the address of its metadata"
                                  : "only compressed images can have metadata");
  }
  if (image.compressed && !image.extended) return wrong("a compressed image must be extended");
  if (image.compressed && image.block_format) {
    return wrong("block-compressed formats cannot be compressed again");
  }
  return absl::OkStatus();
}

absl::StatusOr<ViewRange> RangeOf(const layout::Layout* layout, uint32_t first_level,
                                  uint32_t levels, uint32_t first_layer, uint32_t layers,
                                  bool block_format, bool multisampled) {
  if (layout == nullptr) {
    return absl::InvalidArgumentError("a view of an image needs the image's layout");
  }
  const layout::ImageDescription& image = layout->description();
  if (image.scheme != layout::Scheme::kAgxLinear && image.scheme != layout::Scheme::kAgxTwiddled &&
      image.scheme != layout::Scheme::kAgxCompressed) {
    return absl::InvalidArgumentError(absl::StrFormat("this hardware does not have the layout %s",
                                                      layout::SchemeName(image.scheme)));
  }
  if (image.format->is_block_compressed() != block_format) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the image's format %s and the channels of the view must both be block-compressed, or "
        "neither",
        image.format->name));
  }
  if ((image.samples != 1) != multisampled) {
    return absl::InvalidArgumentError(
        absl::StrFormat("an image with %d sample%s has a view whose dimension is %smultisampled",
                        image.samples, image.samples == 1 ? "" : "s", multisampled ? "" : "not "));
  }
  if (first_level >= image.levels || levels > image.levels - first_level) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the view has %d levels from level %d, but the image has %d", levels,
                        first_level, image.levels));
  }
  if (first_layer >= image.layers || layers > image.layers - first_layer) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the view has %d layers from layer %d, but the image has %d", layers,
                        first_layer, image.layers));
  }
  ViewRange range = {};
  range.levels = levels == 0 ? image.levels - first_level : levels;
  range.layers = layers == 0 ? image.layers - first_layer : layers;
  range.layer_stride_B = layout->layer_stride_B();
  range.offset_B = first_layer * range.layer_stride_B;
  // Rows of a linear image are tiles of one row.
  range.stride_B = layout->levels()[0].tile_row_stride_B;
  if (const layout::Metadata* const metadata = layout->metadata()) {
    range.metadata_offset_B = metadata->offset_B + first_layer * metadata->layer_stride_B;
  }
  return range;
}

}  // namespace packsmith::agx
