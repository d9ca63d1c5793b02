// Intel: Gfx4 to Gfx12 have X and Y tiles, Gfx6 to Gfx11 W tiles for stencil, Gfx9 to Gfx12 Yf and
// Ys tiles, Gfx12.5 and later ones Tile4 and Tile64.
//
// Sources: Intel's Programmer's Reference Manuals, volume 5, "Memory Views" or "Memory Data
// Formats", there "Calculating Texel Location", "Surface Layout", "Tiling and Mip Tails" and
// "Tile64 Format"; RENDER_SURFACE_STATE in volume 2d; for the bits of Yf, Ys and Tile64 also the
// tables in Intel's Graphics Memory Management Library and in Mesa's isl, which agree. Xe2's Tile64
// has no public manual yet: its bits are those of isl.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/layout/schemes.h"

namespace packsmith::layout {
namespace {

constexpr uint32_t kMaxSize_px = 16384;        // 14 bits less 1 in RENDER_SURFACE_STATE
constexpr uint32_t kMaxLayers = 2048;          // 11 bits less 1
constexpr uint64_t kMaxStride_B = 256 * 1024;  // 18 bits less 1
constexpr uint32_t kMaxAlign_el = 128;         // HALIGN_128
constexpr uint64_t kLinearAlignment_B = 64;    // required by displays and the render engine

// The bits of an address in a tile, for elements of 1, 2, 4, 8 and 16 B. x counts bytes along a
// row.
using BitsBySize = std::array<absl::string_view, 5>;

// Yf has the lower 12 bits. With samples the highest bits are those of the sample instead.
constexpr BitsBySize kYs = {"xyxy xyxy yyyy xxxx", "xyxy xyxy xyyy xxxx", "xyxy xyxy xyyy xxxx",
                            "xyxy xyxy xxyy xxxx", "xyxy xyxy xxyy xxxx"};
constexpr size_t kYfBegin = 5;  // in that text

constexpr BitsBySize kTile64 = {"yyyx yyxy xxyy xxxx", "yyxx yyxy xxyy xxxx", "yyxx yyxy xxyy xxxx",
                                "yxxx yyxy xxyy xxxx", "yxxx yyxy xxyy xxxx"};
// For two samples, and for four and more, of which a tile has four.
constexpr BitsBySize kTile64Of2 = {"yyyx yyxy sxyy xxxx", "yyxx yyxy sxyy xxxx",
                                   "yyxx yyxy sxyy xxxx", "yxxx yyxy sxyy xxxx",
                                   "yxxx yyxy sxyy xxxx"};
constexpr BitsBySize kTile64Of4 = {"yyyx yyxs sxyy xxxx", "yyxx yyxs sxyy xxxx",
                                   "yyxx yyxs sxyy xxxx", "yxxx yyxs sxyy xxxx",
                                   "yxxx yyxs sxyy xxxx"};
constexpr BitsBySize kTile64Of3d = {"zzzx yyzy zxyy xxxx", "zzzy yxzy zxyy xxxx",
                                    "zzyx yxzy zxyy xxxx", "zzyx xxzy zxyy xxxx",
                                    "zzyx xxzy zxyy xxxx"};
// For 2, 4, 8 and 16 samples; with one it is as before.
constexpr std::array<BitsBySize, 4> kTile64Xe2 = {{
    {"yyyy yyxs xxyy xxxx", "yyyx yyxs xxyy xxxx", "yyyx yyxs xxyy xxxx", "yxxx yyxy sxyy xxxx",
     "yxxx yyxs xxyy xxxx"},
    {"yyyx yyss xxyy xxxx", "yyxx yyss xxyy xxxx", "yyxx yyss xxyy xxxx", "yxxx yyss xxyy xxxx",
     "yxxx yyss xxyy xxxx"},
    {"yyyx yxss sxyy xxxx", "yyyx yxss sxyy xxxx", "yyxx yxss sxyy xxxx", "yyxx yxss sxyy xxxx",
     "yyxx yxss sxyy xxxx"},
    {"yyyx yxss ssyy xxxx", "yyxx yxss ssyy xxxx", "yyxx yxss ssyy xxxx", "yyxx yxss ssyy xxxx",
     "yxxx yxss ssyy xxxx"},
}};
constexpr BitsBySize kTile64Xe2Of3d = {"zzzy yyzz xxyy xxxx", "zzzy yyzz xxyy xxxx",
                                       "zzyx yyzz xxyy xxxx", "zzyx xyzz xxyy xxxx",
                                       "zzyx xyzz xxyy xxxx"};

// Levels of a mip tail have slots, which begin at the places where a Ys tile has these bytes; in Yf
// tiles the tail begins with the fifth slot. Tile64 has its slots at the same places, but other
// bytes there. Slots after the eleventh have another order in the Ys and Yf tiles of Gfx9.
constexpr std::array<uint16_t, 15> kTailSlots_B = {32768, 16384, 8192, 4096, 2048, 1536, 1280, 1024,
                                                   768,   512,   256,  0,    64,   128,  192};
constexpr size_t kTailSlotsOfYs = 11, kFirstTailSlotOfYf = 4;

// Whether tiles depend on the size of elements, and levels begin at tiles.
bool IsStandard(Scheme scheme) { return scheme >= Scheme::kIntelYf; }
bool IsTile64(Scheme scheme) { return scheme >= Scheme::kIntelTile64; }

bool Interleaves(const ImageDescription& image) {
  return image.interleave_samples || image.format->depth_or_stencil ||
         image.scheme == Scheme::kIntelW;
}

// A tiling of bytes.
Tiling ByteTiling(const ImageDescription& image) {
  static const Tiling kX = Tiling::InOrder("yyyx xxxx xxxx");
  static const Tiling kXSwizzled =
      Tiling::Parse("y2 y1 y0 x8 x7 x6^y0^y1 x5 x4 x3 x2 x1 x0").value_or(Tiling());
  static const Tiling kY = Tiling::InOrder("xxxy yyyy xxxx");
  static const Tiling kYSwizzled =
      Tiling::Parse("x6 x5 x4 y4 y3 y2^x4 y1 y0 x3 x2 x1 x0").value_or(Tiling());
  static const Tiling kW = Tiling::InOrder("xxxy yyyx yxyx");
  static const Tiling kTile4 = Tiling::InOrder("yyxy xxyy xxxx");
  const int size = CeilLog2(image.format->block_B);
  const int samples = Interleaves(image) ? 0 : CeilLog2(image.samples);
  switch (image.scheme) {
    case Scheme::kIntelX:
      return image.bit6_swizzle ? kXSwizzled : kX;
    case Scheme::kIntelY:
      return image.bit6_swizzle ? kYSwizzled : kY;
    case Scheme::kIntelW:
      return kW;
    case Scheme::kIntelTile4:
      return kTile4;
    case Scheme::kIntelYf:
    case Scheme::kIntelYs: {
      std::array<char, 32> bits = {};
      const absl::string_view all =
          kYs[size].substr(image.scheme == Scheme::kIntelYf ? kYfBegin : 0);
      std::copy(all.begin(), all.end(), bits.begin());
      std::fill_n(bits.begin(), samples, 's');
      return Tiling::InOrder({bits.data(), all.size()});
    }
    case Scheme::kIntelTile64:
      if (image.dim == Dim::k3d) return Tiling::InOrder(kTile64Of3d[size]);
      return Tiling::InOrder((samples == 0   ? kTile64
                              : samples == 1 ? kTile64Of2
                                             : kTile64Of4)[size]);
    case Scheme::kIntelTile64Xe2:
      if (image.dim == Dim::k3d) return Tiling::InOrder(kTile64Xe2Of3d[size]);
      return Tiling::InOrder((samples == 0 ? kTile64 : kTile64Xe2[samples - 1])[size]);
    default:
      return Tiling();
  }
}

absl::Status CheckSamples(const ImageDescription& image) {
  if (image.samples == 1) return absl::OkStatus();
  if (!IsPowerOfTwo(image.samples) || image.samples > 16) {
    return BrokenRule(
        absl::StrCat("an Intel image has 1, 2, 4, 8 or 16 samples, not ", image.samples));
  }
  if (image.scheme == Scheme::kIntelTile4) {
    return BrokenRule("multisampled images of GPUs that have Tile4 must be in Tile64");
  }
  if (image.scheme == Scheme::kIntelLinear || image.scheme == Scheme::kIntelX) {
    return BrokenRule("multisampled Intel images must be in Y, W, Yf, Ys or Tile64 tiles");
  }
  if (image.levels != 1) return BrokenRule("multisampled Intel images have one level");
  if (image.format->is_block_compressed()) {
    return BrokenRule("block-compressed images have one sample");
  }
  return absl::OkStatus();
}

// Where levels may begin, in elements.
struct LevelAlignment {
  uint32_t w_el, h_el;
};

absl::Status FindAlignment(const ImageDescription& image, const Tiling& tiling,
                           LevelAlignment& alignment) {
  if (IsStandard(image.scheme)) {
    if (image.align_w_el != 0 || image.align_h_el != 0) {
      return BrokenRule(
          "levels in Yf, Ys and Tile64 tiles begin at tiles: their alignment cannot "
          "be chosen");
    }
    alignment = {tiling.width_el(), tiling.height_el()};
    return absl::OkStatus();
  }
  const uint32_t least_el = image.scheme == Scheme::kIntelW ? 8 : 4;
  alignment = {image.align_w_el != 0 ? image.align_w_el : least_el,
               image.align_h_el != 0 ? image.align_h_el : least_el};
  for (const uint32_t align_el : {alignment.w_el, alignment.h_el}) {
    if (!IsPowerOfTwo(align_el) || align_el < least_el || align_el > kMaxAlign_el) {
      return BrokenRule(absl::StrCat("the alignment of levels must be a power of two from ",
                                     least_el, " to ", kMaxAlign_el, " elements, not ", align_el));
    }
  }
  return absl::OkStatus();
}

// The places of the levels of a layer, in one image: level 1 below level 0, level 2 to the right of
// level 1, and each further level below the one before. For 2D images from Gfx4 on, and from Gfx9
// on also for each slice of a 3D image ("2D Surfaces" of the manuals' "Memory Views").
struct LevelPlaces {
  std::array<uint32_t, kMaxLevels> x_el = {}, y_el = {};
  uint32_t width_el = 0, height_el = 0;  // of what holds all levels

  static uint32_t LevelWidth(const ImageDescription& image, uint32_t level) {
    return DivideUp(Minify(image.width_px, level), image.format->block_w_px);
  }
  static uint32_t LevelHeight(const ImageDescription& image, uint32_t level) {
    return DivideUp(Minify(image.height_px, level), image.format->block_h_px);
  }
};

// Levels of the mip tail are at the place of its first level, in their slots.
LevelPlaces PlaceLevels(const ImageDescription& image, const LevelAlignment& alignment) {
  LevelPlaces places;
  uint32_t x_el = 0, y_el = 0;
  std::optional<Tiling::Inverse> slots;
  for (uint32_t l = 0; l < image.levels; ++l) {
    const uint32_t w_el = places.LevelWidth(image, l), h_el = places.LevelHeight(image, l);
    places.x_el[l] = x_el;
    places.y_el[l] = y_el;
    if (l >= image.mip_tail_level) {
      ImageDescription in_ys = image;
      in_ys.scheme = Scheme::kIntelYs;
      if (l == image.mip_tail_level) slots = IntelTiling(in_ys).Invert();
      const size_t slot =
          l - image.mip_tail_level + (image.scheme == Scheme::kIntelYf ? kFirstTailSlotOfYf : 0);
      const TilePosition place = slots->PositionOf(kTailSlots_B[slot] / image.format->block_B);
      places.x_el[l] += place.x;
      places.y_el[l] += place.y;
    }
    places.width_el = std::max(places.width_el, places.x_el[l] + w_el);
    places.height_el = std::max(places.height_el, places.y_el[l] + h_el);
    if (l >= image.mip_tail_level) continue;
    if (l == 1) {
      x_el += static_cast<uint32_t>(RoundUp(w_el, alignment.w_el));
    } else {
      y_el += static_cast<uint32_t>(RoundUp(h_el, alignment.h_el));
    }
  }
  return places;
}

absl::Status CheckMipTail(const ImageDescription& image, const Tiling& tiling) {
  const uint32_t first = image.mip_tail_level;
  if (first == kNoMipTail) return absl::OkStatus();
  if (!IsStandard(image.scheme) || image.dim == Dim::k3d || image.samples != 1) {
    return BrokenRule("a mip tail is for 2D images in Yf, Ys or Tile64 tiles, with one sample");
  }
  if (first >= image.levels) {
    return BrokenRule(absl::StrCat("the mip tail begins at level ", first, ", but there are only ",
                                   image.levels, " levels, counted from 0"));
  }
  const uint32_t w_el = LevelPlaces::LevelWidth(image, first);
  const uint32_t h_el = LevelPlaces::LevelHeight(image, first);
  if (w_el > tiling.width_el() / 2 || h_el > tiling.height_el()) {
    return BrokenRule(absl::StrCat(
        "the first level of a mip tail has at most ", tiling.width_el() / 2, "x",
        tiling.height_el(), " elements, half a tile; level ", first, " has ", w_el, "x", h_el));
  }
  const size_t slots =
      IsTile64(image.scheme)
          ? kTailSlots_B.size()
          : kTailSlotsOfYs - (image.scheme == Scheme::kIntelYf ? kFirstTailSlotOfYf : 0);
  if (image.levels - first > slots) {
    return BrokenRule(absl::StrCat("a mip tail in such tiles has at most ", slots, " levels, not ",
                                   image.levels - first));
  }
  return absl::OkStatus();
}

}  // namespace

Tiling IntelTiling(const ImageDescription& image) {
  const Tiling elements =
      ByteTiling(image).WithoutLowBitsOfX(CeilLog2(image.format->block_B)).value_or(Tiling());
  if (image.samples == 1 || !Interleaves(image)) return elements;
  return elements.OfInterleavedSamples(CeilLog2(image.samples));
}

absl::Status LayOutIntel(const ImageDescription& image, Layout::Geometry& geometry) {
  const Format& format = *image.format;
  const bool tiled = image.scheme != Scheme::kIntelLinear;
  if (image.width_px > kMaxSize_px || image.height_px > kMaxSize_px) {
    return BrokenRule(
        absl::StrCat("width and height of an Intel image must be at most ", kMaxSize_px, " px"));
  }
  if (image.layers > kMaxLayers) {
    return BrokenRule(absl::StrCat("an Intel image has at most ", kMaxLayers, " layers"));
  }
  if (tiled && (!IsPowerOfTwo(format.block_B) || format.block_B > 16)) {
    return BrokenRule(absl::StrCat("an element of a tiled Intel image has 1, 2, 4, 8 or 16 B; ",
                                   format.name, " has ", format.block_B));
  }
  const bool w_tiles = image.scheme == Scheme::kIntelW;
  if (w_tiles && format.block_B != 1) {
    return BrokenRule(absl::StrCat("W tiles are for stencil, whose elements have 1 B; ",
                                   format.name, " has ", format.block_B));
  }
  if (image.dim == Dim::k3d && IsStandard(image.scheme) && !IsTile64(image.scheme)) {
    return BrokenRule(
        "3D images in Yf and Ys tiles are not supported: Gfx9 and Gfx11 tile them differently");
  }
  absl::Status status = CheckSamples(image);
  if (!status.ok()) return status;
  const Tiling tiling = IntelTiling(image);
  LevelAlignment alignment = {};
  status = FindAlignment(image, tiling, alignment);
  if (status.ok()) status = CheckMipTail(image, tiling);
  if (!status.ok()) return status;

  const LevelPlaces places = PlaceLevels(image, alignment);
  const uint64_t tile_w_el = tiling.width_el(), tile_h_el = tiling.height_el();
  const uint64_t tile_B = uint64_t{format.block_B} << tiling.index_bits();

  // The unit of the pitch. A W tile is programmed as if it were as wide as a Y tile, and half as
  // high as it is.
  const uint64_t unit_B = tiled ? ByteTiling(image).width_el() * (w_tiles ? 2 : 1) : 1;
  const uint64_t row_B = tiled ? DivideUp(places.width_el, tiling.width_el()) * unit_B
                               : uint64_t{places.width_el} * format.block_B;
  uint64_t stride_B = image.stride_B;
  if (stride_B == 0) stride_B = tiled ? row_B : RoundUp(row_B, kLinearAlignment_B);
  if (stride_B % unit_B != 0) {
    return BrokenRule(
        absl::StrCat("the pitch of a tiled image must be a multiple of the tile's "
                     "width, ",
                     unit_B, " B; ", stride_B, " is not"));
  }
  if (stride_B < row_B) {
    return BrokenRule(
        absl::StrCat("a pitch of ", stride_B, " B is less than a row, which has ", row_B, " B"));
  }
  if (stride_B > kMaxStride_B) {
    return BrokenRule(absl::StrCat("the pitch of an Intel image must be at most ", kMaxStride_B,
                                   " B, not ", stride_B));
  }
  const uint64_t tile_row_stride_B = tiled ? stride_B / unit_B * tile_B : stride_B;
  geometry.level_count = image.levels;
  for (uint32_t l = 0; l < image.levels; ++l) {
    const uint32_t x_el = places.x_el[l], y_el = places.y_el[l];
    Level& level = geometry.levels[l];
    level.width_el = places.LevelWidth(image, l);
    level.height_el = places.LevelHeight(image, l);
    level.tile_w_log2 = static_cast<uint8_t>(tiling.width_log2());
    level.tile_h_log2 = static_cast<uint8_t>(tiling.height_log2());
    level.tile_d_log2 = static_cast<uint8_t>(tiling.depth_log2());
    level.pitch_el =
        static_cast<uint32_t>(tiled ? stride_B / unit_B * tile_w_el : stride_B / format.block_B);
    level.tile_row_stride_B = tile_row_stride_B;
    level.offset_B = y_el / tile_h_el * tile_row_stride_B + x_el / tile_w_el * tile_B;
    level.x_el = static_cast<uint32_t>(x_el % tile_w_el);
    level.y_el = static_cast<uint32_t>(y_el % tile_h_el);
    // Level 0 has whole rows, the others only what they cover.
    const uint64_t rows_tl = ShiftUp(level.y_el + level.height_el, tiling.height_log2());
    const uint64_t columns_tl = ShiftUp(level.x_el + level.width_el, tiling.width_log2());
    level.size_B = l == 0 ? rows_tl * tile_row_stride_B
                          : (rows_tl - 1) * tile_row_stride_B + columns_tl * tile_B;
  }
  // A slice (a layer, or a sample of one; in tiles that have several, all of these) begins at a row
  // of tiles, at a place where a level may begin: that is a valid QPitch from Gfx8 on. A single
  // slice needs only its own rows.
  const uint32_t slices_of_layer = DivideUp(image.samples, tiling.samples());
  const uint64_t slices = uint64_t{DivideUp(image.layers, tiling.depth_el())} * slices_of_layer;
  const uint64_t slice_h_el = RoundUp(
      places.height_el, slices == 1 ? tile_h_el : std::max<uint64_t>(tile_h_el, alignment.h_el));
  const uint64_t slice_B = slice_h_el / tile_h_el * tile_row_stride_B;
  geometry.sample_stride_B = slices_of_layer == 1 ? 0 : slice_B;
  geometry.layer_stride_B = slice_B * slices_of_layer;
  geometry.size_B = slice_B * slices;
  return absl::OkStatus();
}

}  // namespace packsmith::layout
