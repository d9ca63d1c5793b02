#include "runtime/layout/copy.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace packsmith::layout {
namespace {

// Copies of this many bytes would evict everything else from the cache; bypassing it also saves
// reading lines that will be overwritten.
constexpr uint64_t kStreamFrom_B = uint64_t{8} << 20;

// The size of an executor's task.
constexpr uint64_t kTask_B = 64 * 1024;

absl::Status CheckRegion(const Layout& layout, const Region& region) {
  if (region.level >= layout.levels().size()) {
    return absl::OutOfRangeError(absl::StrCat("level ", region.level, ": the image has ",
                                              layout.levels().size(), " levels, counted from 0"));
  }
  const Level& level = layout.levels()[region.level];
  if (region.layer >= level.layers) {
    return absl::OutOfRangeError(absl::StrCat(
        "layer ", region.layer, ": the image has ", level.layers, " layers",
        level.layers == layout.layers() ? "" : absl::StrCat(" in level ", region.level),
        ", counted from 0"));
  }
  const uint32_t samples = layout.description().samples;
  if (region.sample.has_value() && *region.sample >= samples) {
    return absl::OutOfRangeError(absl::StrCat("sample ", *region.sample, ": the image has ",
                                              samples, " samples, counted from 0"));
  }
  if (uint64_t{region.x_el} + region.w_el > level.width_el ||
      uint64_t{region.y_el} + region.h_el > level.height_el) {
    return absl::OutOfRangeError(
        absl::StrCat("the region from (", region.x_el, ", ", region.y_el, ") to (",
                     uint64_t{region.x_el} + region.w_el, ", ", uint64_t{region.y_el} + region.h_el,
                     ") is not within level ", region.level, ", which has ", level.width_el, "x",
                     level.height_el, " elements"));
  }
  return absl::OkStatus();
}

absl::Status CheckMemory(uint64_t image_needs_B, uint64_t image_B, uint64_t row_B, uint32_t rows,
                         uint64_t stride_B, uint64_t linear_B) {
  if (image_B < image_needs_B) {
    return absl::InvalidArgumentError(
        absl::StrCat("the image has ", image_needs_B, " B, but its memory only ", image_B));
  }
  if (rows == 0 || row_B == 0) return absl::OkStatus();
  if (rows > 1 && stride_B < row_B) {
    return absl::InvalidArgumentError(
        absl::StrCat("rows of ", row_B, " B overlap if they are only ", stride_B, " B apart"));
  }
  // All rows but the last one need the whole stride; written so that nothing overflows.
  if (linear_B < row_B || (rows > 1 && (linear_B - row_B) / (rows - 1) < stride_B)) {
    return absl::InvalidArgumentError(absl::StrCat(rows, " rows of ", row_B, " B, ", stride_B,
                                                   " B apart, do not fit into ", linear_B, " B"));
  }
  return absl::OkStatus();
}

// kElement_B: bytes of an element, or 0 to take them from the placement.
template <bool kIn, size_t kElement_B>
void CopyElements(const CellCopy& copy) {
  const Placement& placement = copy.placement;
  const size_t element_B = kElement_B != 0 ? kElement_B : placement.unit_B;
  const uint32_t tile_w_el = 1u << placement.tile_w_log2;
  const uint32_t y_mask = (1u << placement.tile_h_log2) - 1;
  for (uint32_t y = copy.y_begin_el; y < copy.y_end_el; ++y) {
    uint8_t* linear = copy.linear + (y - copy.y_begin_el) * copy.linear_stride_B;
    const uint32_t y_index = placement.slice_index ^ copy.y_index[y & y_mask];
    for (uint32_t x = copy.x_begin_el; x < copy.x_end_el;) {
      uint8_t* const tile = copy.TileAt(x, y);
      const uint32_t begin = x & (tile_w_el - 1);
      const uint32_t end = std::min(tile_w_el, begin + copy.x_end_el - x);
      for (uint32_t i = begin; i < end; ++i) {
        uint8_t* const tiled = tile + (y_index ^ copy.x_index[i]) * placement.unit_B;
        std::memcpy(kIn ? tiled : linear, kIn ? linear : tiled, element_B);
        linear += copy.linear_step_B;
      }
      x += end - begin;
    }
  }
}

// Element by element: what is left at the edges, and tiles that have no cells.
// Sizes of many formats are known to the compiler.
template <bool kIn>
void CopyElements(const CellCopy& copy) {
  switch (copy.placement.unit_B) {
    case 1:
      return CopyElements<kIn, 1>(copy);
    case 2:
      return CopyElements<kIn, 2>(copy);
    case 3:
      return CopyElements<kIn, 3>(copy);
    case 4:
      return CopyElements<kIn, 4>(copy);
    case 6:
      return CopyElements<kIn, 6>(copy);
    case 8:
      return CopyElements<kIn, 8>(copy);
    case 12:
      return CopyElements<kIn, 12>(copy);
    case 16:
      return CopyElements<kIn, 16>(copy);
    case 24:
      return CopyElements<kIn, 24>(copy);
    case 32:
      return CopyElements<kIn, 32>(copy);
    case 64:
      return CopyElements<kIn, 64>(copy);
    default:
      return CopyElements<kIn, 0>(copy);
  }
}

bool IsAligned(const uint8_t* begin, uint64_t stride_B, uint64_t alignment_B) {
  return (reinterpret_cast<uintptr_t>(begin) | stride_B) % alignment_B == 0;
}

// Copies a rectangle: whole pieces of `w` by `h` elements with `whole`, if that can do it, the rest
// with `rest`. Both take the begin and end of x, then of y. There are no pieces if `w` is 0.
template <class Rest, class Whole>
void CopyWhole(uint32_t w, uint32_t h, uint32_t x_begin, uint32_t x_end, uint32_t y_begin,
               uint32_t y_end, const Rest& rest, const Whole& whole) {
  if (x_begin >= x_end || y_begin >= y_end) return;
  if (w == 0) return rest(x_begin, x_end, y_begin, y_end);
  const uint32_t x0 = (x_begin + w - 1) / w * w, x1 = x_end / w * w;
  const uint32_t y0 = (y_begin + h - 1) / h * h, y1 = y_end / h * h;
  if (x0 >= x1 || y0 >= y1) return rest(x_begin, x_end, y_begin, y_end);
  rest(x_begin, x_end, y_begin, y0);
  rest(x_begin, x0, y0, y1);
  if (!whole(x0, x1, y0, y1)) rest(x0, x1, y0, y1);
  rest(x1, x_end, y0, y1);
  rest(x_begin, x_end, y1, y_end);
}

template <bool kIn>
absl::Status CopyByElement(const Layout& layout, const Region& region, uint8_t* image,
                           uint64_t image_B, uint8_t* linear, uint64_t linear_B,
                           uint64_t stride_B) {
  absl::Status status = CheckRegion(layout, region);
  if (!status.ok()) return status;
  const uint32_t sample_B = layout.description().format->block_B;
  const uint32_t element_B = region.sample.has_value() ? sample_B : layout.element_B();
  status = CheckMemory(layout.size_B(), image_B, uint64_t{region.w_el} * element_B, region.h_el,
                       stride_B, linear_B);
  if (!status.ok()) return status;
  for (uint32_t y = 0; y < region.h_el; ++y) {
    for (uint32_t x = 0; x < region.w_el; ++x) {
      for (uint32_t i = 0; i < element_B / sample_B; ++i) {
        const uint64_t address_B = layout
                                       .AddressOf({region.level, region.layer, region.x_el + x,
                                                   region.y_el + y, region.sample.value_or(i)})
                                       .value();
        uint8_t* const tiled = image + address_B;
        uint8_t* const row = linear + y * stride_B + uint64_t{x} * element_B + i * sample_B;
        std::memcpy(kIn ? tiled : row, kIn ? row : tiled, sample_B);
      }
    }
  }
  return absl::OkStatus();
}

// The one of the two memories that is only read is const for callers; inside, the direction says
// which one that is.
uint8_t* Source(absl::Span<const uint8_t> bytes) { return const_cast<uint8_t*>(bytes.data()); }

}  // namespace

Region WholeLevel(const Layout& layout, uint32_t level, uint32_t layer) {
  Region region;
  region.level = level;
  region.layer = layer;
  if (level < layout.levels().size()) {
    region.w_el = layout.levels()[level].width_el;
    region.h_el = layout.levels()[level].height_el;
  }
  return region;
}

absl::StatusOr<Region> RegionOfPixels(const Layout& layout, uint32_t level, uint32_t layer,
                                      uint32_t x_px, uint32_t y_px, uint32_t w_px, uint32_t h_px) {
  const Format& format = *layout.description().format;
  if (x_px % format.block_w_px != 0 || y_px % format.block_h_px != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("(", x_px, ", ", y_px, ") is not the corner of a block: blocks of ",
                     format.name, " have ", format.block_w_px, "x", format.block_h_px, " px"));
  }
  Region region;
  region.level = level;
  region.layer = layer;
  region.x_el = x_px / format.block_w_px;
  region.y_el = y_px / format.block_h_px;
  region.w_el = w_px / format.block_w_px + (w_px % format.block_w_px != 0);
  region.h_el = h_px / format.block_h_px + (h_px % format.block_h_px != 0);
  return region;
}

absl::StatusOr<CopyPlan> CopyPlan::Make(const Layout& layout, const Region& region) {
  const absl::Status status = CheckRegion(layout, region);
  if (!status.ok()) return status;
  const Level& level = layout.levels()[region.level];
  const uint32_t sample_B = layout.description().format->block_B;
  CopyPlan plan;
  plan.region_ = region;
  plan.region_.x_el += level.x_el;
  plan.region_.y_el += level.y_el;
  plan.image_size_B_ = layout.size_B();
  plan.element_B_ = region.sample.has_value() ? sample_B : layout.element_B();

  Tiling tiling = layout.TilingOf(region.level);
  Placement& placement = plan.placement_;
  placement.offset_B =
      (region.layer >> tiling.depth_log2()) * level.layer_stride_B + level.offset_B;
  placement.tile_row_stride_B = level.tile_row_stride_B;
  placement.tile_w_log2 = level.tile_w_log2;
  placement.tile_h_log2 = level.tile_h_log2;
  placement.tile_B = uint64_t{sample_B} << tiling.index_bits();
  placement.unit_B = sample_B;
  plan.samples_ = region.sample.has_value() ? 1 : layout.description().samples;
  const std::optional<Tiling> pixels = tiling.WithoutSamples();
  if (plan.samples_ == tiling.samples() && pixels.has_value()) {
    // All samples of a pixel together are one large element.
    tiling = *pixels;
    placement.unit_B = plan.element_B_;
    plan.samples_ = 1;
  }
  if (plan.samples_ > kMaxSamples) return absl::InternalError("more samples than supported");
  for (uint32_t i = 0; i < plan.samples_; ++i) {
    const uint32_t sample = region.sample.value_or(0) + i;
    plan.sample_places_[i] = {(sample >> tiling.samples_log2()) * layout.sample_stride_B(),
                              tiling.IndexOf({0, 0, sample, region.layer})};
  }
  if (tiling.width_el() > kMaxTileSide_el || tiling.height_el() > kMaxTileSide_el) {
    return absl::InternalError("a tile is larger than supported");
  }
  for (uint32_t x = 0; x < tiling.width_el(); ++x) {
    plan.x_index_[x] = static_cast<uint16_t>(tiling.IndexOf({x, 0, 0}));
  }
  for (uint32_t y = 0; y < tiling.height_el(); ++y) {
    plan.y_index_[y] = static_cast<uint16_t>(tiling.IndexOf({0, y, 0}));
  }
  plan.rows_are_linear_ = tiling.index_bits() == 0 && placement.tile_B == plan.element_B_;
  if (plan.samples_ != 1) return plan;
  const QuadProgram quads = MakeQuadProgram(tiling, placement.unit_B);
  // Making the rest of a program takes longer than copying a small image.
  const Region& place = plan.region_;
  const bool all_quads = quads.w_el != 0 && (place.x_el | place.w_el) % quads.w_el == 0 &&
                         (place.y_el | place.h_el) % kQuadH_el == 0;
  if (!all_quads || plan.IsLarge()) {
    CopyProgram& program = plan.program_;
    LineProgram lines_in, lines_out;
    if (HasLines()) {
      lines_in = MakeLineProgramIn(tiling, placement.unit_B);
      lines_out = MakeLineProgramOut(tiling, placement.unit_B);
    }
    if (lines_in.cell_w_el == 0 || lines_out.cell_w_el == 0 || plan.IsLarge()) {
      program = MakeCopyProgram(tiling, placement.unit_B);
    }
    program.lines_in = std::move(lines_in);
    program.lines_out = std::move(lines_out);
  }
  plan.program_.quads = quads;
  return plan;
}

bool CopyPlan::IsLarge() const { return linear_row_B() * region_.h_el >= kStreamFrom_B; }

template <bool kIn>
void CopyPlan::CopyRows(uint32_t y_begin, uint32_t y_end, uint8_t* image, uint8_t* linear,
                        uint64_t stride_B) const {
  for (uint32_t i = 0; i < samples_; ++i) {
    Placement placement = placement_;
    placement.offset_B += sample_places_[i].offset_B;
    placement.slice_index = sample_places_[i].index;
    CopySample<kIn>(placement, y_begin, y_end, image, linear + i * placement.unit_B, stride_B);
  }
}

template <bool kIn>
void CopyPlan::CopySample(const Placement& placement, uint32_t y_begin, uint32_t y_end,
                          uint8_t* image, uint8_t* linear, uint64_t stride_B) const {
  const uint32_t x_begin_el = region_.x_el, x_end_el = region_.x_el + region_.w_el;
  const uint32_t y_begin_el = region_.y_el + y_begin, y_end_el = region_.y_el + y_end;
  linear += y_begin * stride_B;
  const auto address = [&](uint32_t x, uint32_t y) {
    return image + placement.OffsetOf(x_index_.data(), y_index_.data(), x, y);
  };
  if (rows_are_linear_) {
    const uint64_t row_B = linear_row_B();
    const bool in_one = stride_B == row_B && placement.tile_row_stride_B == row_B;
    const uint64_t rows = in_one ? 1 : y_end - y_begin;
    const uint64_t size_B = in_one ? row_B * (y_end - y_begin) : row_B;
    for (uint32_t y = 0; y < rows; ++y) {
      uint8_t* const there = address(x_begin_el, y_begin_el + y);
      uint8_t* const here = linear + y * stride_B;
      std::memcpy(kIn ? there : here, kIn ? here : there, size_B);
    }
    return;
  }

  const auto part = [&](uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1, bool stream) {
    return CellCopy{program_,
                    placement,
                    x_index_.data(),
                    y_index_.data(),
                    x0,
                    x1,
                    y0,
                    y1,
                    image,
                    linear + (y0 - y_begin_el) * stride_B + uint64_t{x0 - x_begin_el} * element_B_,
                    stride_B,
                    element_B_,
                    stream};
  };
  const auto elements = [&](uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1) {
    if (x0 < x1 && y0 < y1) CopyElements<kIn>(part(x0, x1, y0, y1, false));
  };
  const bool large = IsLarge();
  const auto cells = [&](uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1) {
    CopyWhole(program_.cell_w_el, program_.cell_h_el, x0, x1, y0, y1, elements,
              [&](uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1) {
                CellCopy copy = part(x0, x1, y0, y1, large);
                copy.stream &=
                    kIn ? IsAligned(image, 0, kHalf_B) : IsAligned(copy.linear, stride_B, kHalf_B);
                return kIn ? CopyCellsIn(copy) : CopyCellsOut(copy);
              });
  };
  // Neither lines nor quads have enough rows at once to read tiles without the cache.
  const auto may_be_large = [&](uint64_t alignment_B) {
    return !large || (kIn && IsAligned(image + placement.offset_B, 0, alignment_B));
  };
  const auto lines = [&](uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1) {
    const LineProgram& program = kIn ? program_.lines_in : program_.lines_out;
    CopyWhole(program.cell_w_el, program.cell_h_el, x0, x1, y0, y1, cells,
              [&](uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1) {
                if (!may_be_large(kCacheLine_B)) return false;
                const CellCopy copy = part(x0, x1, y0, y1, large);
                return kIn ? CopyLinesIn(copy) : CopyLinesOut(copy);
              });
  };
  CopyWhole(program_.quads.w_el, kQuadH_el, x_begin_el, x_end_el, y_begin_el, y_end_el, lines,
            [&](uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1) {
              if (!may_be_large(kVector_B)) return false;
              const CellCopy copy = part(x0, x1, y0, y1, large);
              return kIn ? CopyQuadsIn(copy) : CopyQuadsOut(copy);
            });
}

template <bool kIn>
void CopyPlan::CopyInBands(uint8_t* image, uint8_t* linear, uint64_t stride_B,
                           Executor executor) const {
  if (region_.w_el == 0 || region_.h_el == 0) return;
  // Bands of whole rows of tiles.
  const uint64_t tile_h_el = uint64_t{1} << placement_.tile_h_log2;
  const uint64_t rows_of_task = (kTask_B + linear_row_B() - 1) / linear_row_B();
  const uint64_t band_el = (rows_of_task + tile_h_el - 1) / tile_h_el * tile_h_el;
  const uint64_t first = region_.y_el / band_el;
  const uint64_t end_el = uint64_t{region_.y_el} + region_.h_el;
  const size_t tasks = static_cast<size_t>((end_el + band_el - 1) / band_el - first);
  executor(tasks, [&](size_t task) {
    const uint64_t begin = std::max<uint64_t>((first + task) * band_el, region_.y_el);
    const uint64_t end = std::min((first + task + 1) * band_el, end_el);
    CopyRows<kIn>(static_cast<uint32_t>(begin - region_.y_el),
                  static_cast<uint32_t>(end - region_.y_el), image, linear, stride_B);
  });
}

template <bool kIn>
absl::Status CopyPlan::Check(uint64_t image_B, uint64_t linear_B, uint64_t stride_B) const {
  return CheckMemory(image_size_B_, image_B, linear_row_B(), region_.h_el, stride_B, linear_B);
}

absl::Status CopyPlan::CopyIn(absl::Span<const uint8_t> linear, uint64_t linear_stride_B,
                              absl::Span<uint8_t> image) const {
  const absl::Status status = Check<true>(image.size(), linear.size(), linear_stride_B);
  if (!status.ok()) return status;
  if (region_.w_el != 0 && region_.h_el != 0) {
    CopyRows<true>(0, region_.h_el, image.data(), Source(linear), linear_stride_B);
  }
  return absl::OkStatus();
}

absl::Status CopyPlan::CopyIn(absl::Span<const uint8_t> linear, uint64_t linear_stride_B,
                              absl::Span<uint8_t> image, Executor executor) const {
  const absl::Status status = Check<true>(image.size(), linear.size(), linear_stride_B);
  if (!status.ok()) return status;
  CopyInBands<true>(image.data(), Source(linear), linear_stride_B, executor);
  return absl::OkStatus();
}

absl::Status CopyPlan::CopyOut(absl::Span<const uint8_t> image, absl::Span<uint8_t> linear,
                               uint64_t linear_stride_B) const {
  const absl::Status status = Check<false>(image.size(), linear.size(), linear_stride_B);
  if (!status.ok()) return status;
  if (region_.w_el != 0 && region_.h_el != 0) {
    CopyRows<false>(0, region_.h_el, Source(image), linear.data(), linear_stride_B);
  }
  return absl::OkStatus();
}

absl::Status CopyPlan::CopyOut(absl::Span<const uint8_t> image, absl::Span<uint8_t> linear,
                               uint64_t linear_stride_B, Executor executor) const {
  const absl::Status status = Check<false>(image.size(), linear.size(), linear_stride_B);
  if (!status.ok()) return status;
  CopyInBands<false>(Source(image), linear.data(), linear_stride_B, executor);
  return absl::OkStatus();
}

absl::Status CopyInByElement(const Layout& layout, const Region& region,
                             absl::Span<const uint8_t> linear, uint64_t linear_stride_B,
                             absl::Span<uint8_t> image) {
  return CopyByElement<true>(layout, region, image.data(), image.size(), Source(linear),
                             linear.size(), linear_stride_B);
}

absl::Status CopyOutByElement(const Layout& layout, const Region& region,
                              absl::Span<const uint8_t> image, absl::Span<uint8_t> linear,
                              uint64_t linear_stride_B) {
  return CopyByElement<false>(layout, region, Source(image), image.size(), linear.data(),
                              linear.size(), linear_stride_B);
}

}  // namespace packsmith::layout
