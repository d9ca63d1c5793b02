// The place of every pixel of an image: sizes, levels, layers, and addresses in both directions.
//
// Units are part of names: px pixels, el elements (a pixel, or a block of a block-compressed
// format), sa samples, tl tiles, B bytes.
#ifndef PACKSMITH_RUNTIME_LAYOUT_LAYOUT_H_
#define PACKSMITH_RUNTIME_LAYOUT_LAYOUT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/layout/format.h"
#include "runtime/layout/tiling.h"

namespace packsmith::layout {

enum class Scheme : uint8_t {
  kAgxLinear,
  kAgxTwiddled,
  kAgxCompressed,  // twiddled, followed by metadata for lossless compression
  kUInterleaved,   // Arm's Mali
  kIntelLinear,
  kIntelX,
  kIntelY,
  kIntelW,
  kIntelTile4,
  kIntelYf,         // Gfx9 to Gfx12, 4 KiB
  kIntelYs,         // the same in 64 KiB
  kIntelTile64,     // Gfx12.5
  kIntelTile64Xe2,  // from Gfx20 (Xe2) on; differs for images with samples or slices
};
inline constexpr int kSchemes = 13;

// "agx-twiddled", "u-interleaved", "intel-tile4" and so on.
absl::string_view SchemeName(Scheme scheme);
std::optional<Scheme> FindScheme(absl::string_view name);
// The names of all of them: "agx-linear, agx-twiddled" and so on.
std::string SchemeNames();

enum class Dim : uint8_t { k2d, k3d, kCube };

// The value of Intel's Mip Tail Start LOD for images without a mip tail.
inline constexpr uint32_t kNoMipTail = 15;

// The properties of an image.
struct ImageDescription {
  Scheme scheme = Scheme::kAgxTwiddled;
  const Format* format = nullptr;  // of FindFormat(), not null
  uint32_t width_px = 1, height_px = 1;
  // Of an array; depth of a 3D image; six for each cube. AGX's linear images may be arrays of up to
  // 2048 layers: texture descriptors hold the distance and number of layers (xml/agx/g13.xml,
  // "Layer stride (linear)"), though Mesa's page on the Asahi driver says that they may not be
  // arrays.
  uint32_t layers = 1;
  uint32_t levels = 1;
  uint32_t samples = 1;
  Dim dim = Dim::k2d;
  // AGX: the image's uses; these make layers begin at pages. "Writeable": shaders write to it.
  bool renderable = false, writeable = false;
  // For layouts that let the user choose it: bytes from one row to the next. 0 means the least; for
  // AGX's linear images, where any multiple of 16 B is possible, the least multiple of 128 B, as
  // drivers choose. Linear: rows of elements. u-interleaved: rows of tiles. Intel: the pitch as
  // programmed, which for W is twice the distance from one row of elements to the next.
  uint64_t stride_B = 0;
  // Intel before Gfx8, if the memory is configured so: bit 6 of an address is XORed with bit 9 (Y),
  // or with bits 9 and 10 (X), to spread accesses over two channels.
  bool bit6_swizzle = false;
  // Intel: mip levels begin at multiples of these numbers of elements (Surface Horizontal Alignment
  // and Surface Vertical Alignment), powers of two up to 128. 0 means the least: 4, or 8 for W.
  uint32_t align_w_el = 0, align_h_el = 0;
  // Intel: samples of depth, stencil and W tiles are interleaved: they make the image wider and
  // higher (MSFMT_DEPTH_STENCIL). Those of other images are slices (MSFMT_MSS), unless this is set:
  // Gfx6 interleaves all.
  bool interleave_samples = false;
  // Intel, Yf, Ys and Tile64: this level and those after it share a tile.
  uint32_t mip_tail_level = kNoMipTail;
};

inline constexpr int kMaxLevels = 16;

// A level of detail of one layer.
struct Level {
  uint64_t offset_B = 0;  // from the start of its layer, or, for the first layer, of the image
  uint64_t size_B = 0;    // of one layer with padding and, for Intel, levels that share its tiles
  uint64_t layer_stride_B = 0;     // from the level in one layer to the same level in the next
  uint64_t tile_row_stride_B = 0;  // from one row of tiles to the next
  uint32_t width_el = 0, height_el = 0;
  uint32_t layers = 0;    // that have memory for the level
  uint32_t pitch_el = 0;  // elements from the start of a row to that of the next one
  // Place of the first element in the tile at offset_B; (0, 0) except for Intel's levels.
  uint32_t x_el = 0, y_el = 0;
  uint8_t tile_w_log2 = 0, tile_h_log2 = 0;
  uint8_t tile_d_log2 = 0;  // layers in a tile; 0 except for 3D images in Intel's Tile64

  uint32_t tile_w_el() const { return uint32_t{1} << tile_w_log2; }
  uint32_t tile_h_el() const { return uint32_t{1} << tile_h_log2; }
  uint32_t tile_d_el() const { return uint32_t{1} << tile_d_log2; }
};

// AGX's metadata of a compressed image: a 64-bit word for each 16x16 samples of each level that is
// large enough to be compressed.
struct Metadata {
  uint64_t offset_B = 0;  // from the start of the image
  uint64_t layer_stride_B = 0;
  int levels = 0;
  std::array<uint64_t, kMaxLevels> level_offset_B = {};  // from the start of the layer's metadata
};

// An element, and its place.
struct Element {
  uint32_t level = 0, layer = 0;
  uint32_t x_el = 0, y_el = 0;
  uint32_t sample = 0;

  friend bool operator==(const Element& a, const Element& b) {
    return a.level == b.level && a.layer == b.layer && a.x_el == b.x_el && a.y_el == b.y_el &&
           a.sample == b.sample;
  }
};

class Layout {
  // Only Of() makes layouts.
  struct Key {
    explicit Key() = default;
  };

 public:
  // InvalidArgument: the description breaks a rule, and the message says which one. Does not
  // allocate unless there is an error.
  static absl::StatusOr<Layout> Of(const ImageDescription& description);

  const ImageDescription& description() const { return description_; }
  // Of everything, with the metadata. All offsets and sizes have 64 bits: legal images may have
  // more than 4 GiB.
  uint64_t size_B() const { return geometry_.size_B; }
  // From a layer to the next; if tiles are several layers deep, from the layers of one tile to
  // those of the next. 0 if it differs between levels, which have it then: u-interleaved 3D images
  // with mip levels.
  uint64_t layer_stride_B() const { return geometry_.layer_stride_B; }
  // If samples of a pixel are in different tiles: from those in one tile to those in the next,
  // which begin with the first sample that does not fit into the tile. Otherwise 0.
  uint64_t sample_stride_B() const { return geometry_.sample_stride_B; }
  uint32_t layers() const { return description_.layers; }
  // The levels that have memory, which may be more than were requested.
  absl::Span<const Level> levels() const {
    return {geometry_.levels.data(), geometry_.level_count};
  }
  // Null unless the scheme is kAgxCompressed.
  const Metadata* metadata() const {
    return geometry_.metadata.levels != 0 ? &geometry_.metadata : nullptr;
  }

  // Bytes of an element with all of its samples.
  uint32_t element_B() const { return description_.format->block_B * description_.samples; }
  // The order of elements and samples in a tile. Its index counts single samples, of block_B bytes.
  // `level` must be below levels().size().
  Tiling TilingOf(uint32_t level) const;

  // Bytes from the start of the image, or nothing if the image has no such element.
  std::optional<uint64_t> AddressOf(const Element& element) const;
  // The element that the byte at an address belongs to, or nothing for padding and metadata.
  std::optional<Element> ElementAt(uint64_t address_B) const;

  // AGX, compressed: the address of the metadata's word for the 16x16 samples at (x_tl, y_tl).
  // Nothing if the image has no such word.
  std::optional<uint64_t> MetadataAddressOf(uint32_t level, uint32_t layer, uint32_t x_tl,
                                            uint32_t y_tl) const;

  Layout(Key, const ImageDescription& description) : description_(description) {}

  // The result of a scheme's rules.
  struct Geometry {
    uint64_t size_B = 0, layer_stride_B = 0, sample_stride_B = 0;
    size_t level_count = 0;
    std::array<Level, kMaxLevels> levels;
    Metadata metadata;
  };

 private:
  ImageDescription description_;
  Geometry geometry_;
};

}  // namespace packsmith::layout

#endif  // PACKSMITH_RUNTIME_LAYOUT_LAYOUT_H_
