#include "runtime/layout/layout.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/utility/utility.h"
#include "runtime/layout/schemes.h"

namespace packsmith::layout {
namespace {

constexpr absl::string_view kSchemeNames[kSchemes] = {
    "agx-linear", "agx-twiddled", "agx-compressed",   "u-interleaved", "intel-linear",
    "intel-x",    "intel-y",      "intel-w",          "intel-tile4",   "intel-yf",
    "intel-ys",   "intel-tile64", "intel-tile64-xe2",
};

bool IsIntel(Scheme scheme) { return scheme >= Scheme::kIntelLinear; }

// Rules for all images, of any scheme.
absl::Status CheckAny(const ImageDescription& image) {
  if (image.format == nullptr) return BrokenRule("an image must have a format");
  if (image.width_px == 0 || image.height_px == 0) {
    return BrokenRule("width and height must be at least 1 px");
  }
  if (image.layers == 0) return BrokenRule("an image must have at least one layer");
  if (image.levels == 0) return BrokenRule("an image must have at least one level");
  if (image.samples == 0) return BrokenRule("an image must have at least one sample");
  const uint32_t full = FullChain(image);
  if (image.levels > full) {
    return BrokenRule(
        absl::StrCat("levels end at a single pixel: an image of this size has at most ", full,
                     ", not ", image.levels));
  }
  if (image.levels > kMaxLevels) {
    return BrokenRule(absl::StrCat("an image has at most ", int{kMaxLevels}, " levels"));
  }
  if (image.dim == Dim::kCube) {
    if (image.layers % 6 != 0) {
      return BrokenRule(
          absl::StrCat("the layers of cubes must be a multiple of 6, not ", image.layers));
    }
    if (image.width_px != image.height_px) return BrokenRule("the faces of a cube must be square");
  }
  if (image.dim != Dim::k2d && image.samples != 1) {
    return BrokenRule("only 2D images can have more than one sample");
  }
  const bool has_stride =
      image.scheme != Scheme::kAgxTwiddled && image.scheme != Scheme::kAgxCompressed;
  if (!has_stride && image.stride_B != 0) {
    return BrokenRule("the stride of a twiddled image follows from its size and cannot be chosen");
  }
  if (image.bit6_swizzle && image.scheme != Scheme::kIntelX && image.scheme != Scheme::kIntelY) {
    return BrokenRule("only Intel's X and Y tiles can be swizzled");
  }
  if ((image.align_w_el != 0 || image.align_h_el != 0) && !IsIntel(image.scheme)) {
    return BrokenRule("alignments of levels can be chosen for Intel images only");
  }
  if (image.interleave_samples && !IsIntel(image.scheme)) {
    return BrokenRule("whether samples are interleaved can be chosen for Intel images only");
  }
  if (image.mip_tail_level != kNoMipTail && !IsIntel(image.scheme)) {
    return BrokenRule("only Intel images can have a mip tail");
  }
  return absl::OkStatus();
}

absl::Status LayOut(const ImageDescription& image, Layout::Geometry& geometry) {
  switch (image.scheme) {
    case Scheme::kAgxLinear:
      return LayOutAgxLinear(image, geometry);
    case Scheme::kAgxTwiddled:
      return LayOutAgxTwiddled(image, geometry);
    case Scheme::kAgxCompressed:
      return LayOutAgxCompressed(image, geometry);
    case Scheme::kUInterleaved:
      return LayOutUInterleaved(image, geometry);
    case Scheme::kIntelLinear:
    case Scheme::kIntelX:
    case Scheme::kIntelY:
    case Scheme::kIntelW:
    case Scheme::kIntelTile4:
    case Scheme::kIntelYf:
    case Scheme::kIntelYs:
    case Scheme::kIntelTile64:
    case Scheme::kIntelTile64Xe2:
      break;
  }
  return LayOutIntel(image, geometry);
}

}  // namespace

absl::string_view SchemeName(Scheme scheme) { return kSchemeNames[static_cast<int>(scheme)]; }

std::optional<Scheme> FindScheme(absl::string_view name) {
  for (int i = 0; i < kSchemes; ++i) {
    if (kSchemeNames[i] == name) return static_cast<Scheme>(i);
  }
  return std::nullopt;
}

std::string SchemeNames() { return absl::StrJoin(kSchemeNames, ", "); }

absl::Status BrokenRule(absl::string_view rule) { return absl::InvalidArgumentError(rule); }

uint32_t FullChain(const ImageDescription& image) {
  const uint32_t depth = image.dim == Dim::k3d ? image.layers : 1;
  const uint32_t largest = std::max({image.width_px, image.height_px, depth});
  return 32 - static_cast<uint32_t>(__builtin_clz(largest));
}

absl::StatusOr<Layout> Layout::Of(const ImageDescription& description) {
  // Constructed in the caller's place, and returned in one place only: a layout is too large to be
  // moved needlessly.
  absl::StatusOr<Layout> layout(absl::in_place, Key(), description);
  absl::Status status = CheckAny(description);
  if (status.ok()) status = LayOut(description, layout->geometry_);
  if (!status.ok()) {
    layout = std::move(status);
    return layout;
  }
  // All layers are alike, unless a family's rules change that.
  Geometry& geometry = layout->geometry_;
  for (size_t l = 0; l < geometry.level_count; ++l) {
    Level& level = geometry.levels[l];
    if (level.layers != 0) continue;
    level.layers = description.layers;
    level.layer_stride_B = geometry.layer_stride_B;
  }
  return layout;
}

Tiling Layout::TilingOf(uint32_t level) const {
  const Level& about = geometry_.levels[level];
  switch (description_.scheme) {
    case Scheme::kAgxTwiddled:
    case Scheme::kAgxCompressed:
      return Tiling::Morton(about.tile_w_log2, about.tile_h_log2, CeilLog2(description_.samples));
    case Scheme::kUInterleaved:
      return Tiling::UInterleaved(about.tile_w_log2);
    case Scheme::kIntelX:
    case Scheme::kIntelY:
    case Scheme::kIntelW:
    case Scheme::kIntelTile4:
    case Scheme::kIntelYf:
    case Scheme::kIntelYs:
    case Scheme::kIntelTile64:
    case Scheme::kIntelTile64Xe2:
      return IntelTiling(description_);
    case Scheme::kAgxLinear:
    case Scheme::kIntelLinear:
      break;
  }
  return Tiling();
}

std::optional<uint64_t> Layout::AddressOf(const Element& element) const {
  if (element.level >= geometry_.level_count || element.sample >= description_.samples) {
    return std::nullopt;
  }
  const Level& level = geometry_.levels[element.level];
  if (element.layer >= level.layers) return std::nullopt;
  if (element.x_el >= level.width_el || element.y_el >= level.height_el) return std::nullopt;
  const uint32_t x_el = level.x_el + element.x_el, y_el = level.y_el + element.y_el;
  const Tiling tiling = TilingOf(element.level);
  const uint64_t block_B = description_.format->block_B;
  const uint64_t index = tiling.IndexOf({x_el, y_el, element.sample, element.layer});
  return (element.layer >> tiling.depth_log2()) * level.layer_stride_B +
         (element.sample >> tiling.samples_log2()) * geometry_.sample_stride_B + level.offset_B +
         (y_el >> level.tile_h_log2) * level.tile_row_stride_B +
         (x_el >> level.tile_w_log2) * (block_B << tiling.index_bits()) + index * block_B;
}

std::optional<Element> Layout::ElementAt(uint64_t address_B) const {
  const uint64_t block_B = description_.format->block_B;
  // Levels may share tiles, and then rows of tiles too: more than one level may be a candidate.
  for (uint32_t l = 0; l < geometry_.level_count; ++l) {
    const Level& level = geometry_.levels[l];
    // If layers differ between levels, a level's layers begin with its first one.
    const uint64_t first_B = geometry_.layer_stride_B != 0 ? 0 : level.offset_B;
    if (address_B < first_B) continue;
    const uint64_t in_layer_B = (address_B - first_B) % level.layer_stride_B;
    const uint64_t sample_stride_B =
        geometry_.sample_stride_B != 0 ? geometry_.sample_stride_B : level.layer_stride_B;
    uint64_t rest = first_B + in_layer_B % sample_stride_B;
    if (rest < level.offset_B || rest - level.offset_B >= level.size_B) continue;
    rest -= level.offset_B;
    const Tiling tiling = TilingOf(l);
    const uint64_t tile_B = block_B << tiling.index_bits();
    const uint64_t y_tl = rest / level.tile_row_stride_B;
    rest %= level.tile_row_stride_B;
    const uint64_t x_tl = rest / tile_B;
    rest %= tile_B;
    const std::optional<Tiling::Inverse> inverse = tiling.Invert();
    if (!inverse.has_value()) return std::nullopt;
    const TilePosition place = inverse->PositionOf(static_cast<uint32_t>(rest / block_B));
    const uint64_t x_el = (x_tl << level.tile_w_log2) + place.x;
    const uint64_t y_el = (y_tl << level.tile_h_log2) + place.y;
    const uint64_t sample = (in_layer_B / sample_stride_B << tiling.samples_log2()) + place.sample;
    const uint64_t layer =
        ((address_B - first_B) / level.layer_stride_B << tiling.depth_log2()) + place.z;
    if (x_el < level.x_el || x_el - level.x_el >= level.width_el || y_el < level.y_el ||
        y_el - level.y_el >= level.height_el || sample >= description_.samples ||
        layer >= level.layers) {
      continue;
    }
    Element element;
    element.level = l;
    element.layer = static_cast<uint32_t>(layer);
    element.x_el = static_cast<uint32_t>(x_el - level.x_el);
    element.y_el = static_cast<uint32_t>(y_el - level.y_el);
    element.sample = static_cast<uint32_t>(sample);
    return element;
  }
  return std::nullopt;
}

std::optional<uint64_t> Layout::MetadataAddressOf(uint32_t level, uint32_t layer, uint32_t x_tl,
                                                  uint32_t y_tl) const {
  const Metadata& metadata = geometry_.metadata;
  if (level >= static_cast<uint32_t>(metadata.levels) || layer >= description_.layers) {
    return std::nullopt;
  }
  const SampleGrid grid = AgxSampleGrid(description_.samples);
  const uint32_t width_tl = DivideUp(Minify(description_.width_px, level) * grid.x, 16);
  const uint32_t height_tl = DivideUp(Minify(description_.height_px, level) * grid.y, 16);
  if (x_tl >= width_tl || y_tl >= height_tl) return std::nullopt;
  return metadata.offset_B + layer * metadata.layer_stride_B + metadata.level_offset_B[level] +
         8 * AgxMetadataIndex(width_tl, height_tl, x_tl, y_tl);
}

}  // namespace packsmith::layout
