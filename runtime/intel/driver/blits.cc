#include "runtime/intel/driver/blits.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/layout/copy.h"
#include "runtime/layout/layout.h"

namespace packsmith::intel {
namespace {

// The alignment of the first pixel's surface: copy engines take a linear surface from the beginning
// of a cache line only (PRM of Broadwell, volume "Blitter Engine"; Mesa's i965 does the same).
constexpr uint64_t kBaseAlignment = 64;
// Rows of a copy between buffers, in bytes.
constexpr uint32_t kRowBytes = 8192;

// A rectangle's place, in elements.
struct Place {
  address memory;  // of a tile, if tiled
  uint64_t pitch = 0;
  SurfaceTiling tiling = SurfaceTiling::kLinear;
  uint32_t x = 0, y = 0;

  bool linear() const { return tiling == SurfaceTiling::kLinear; }
  uint64_t FirstByte(uint32_t element) const { return memory.gpu + y * pitch + x * element; }
};

struct Rectangle {
  Place source, destination;
  uint32_t width = 0, height = 0;  // elements
  uint32_t element = 1;            // bytes
};

// The largest pixel of which everything is a multiple.
uint32_t PixelOf(const Rectangle& r, const BlitLimits& limits) {
  uint64_t bits = uint64_t{r.width} * r.element | limits.most_pixel;
  for (const Place* place : {&r.source, &r.destination}) {
    if (place->linear()) {
      bits |= place->FirstByte(r.element) | (r.height > 1 ? place->pitch : 0);
    } else {
      bits |= r.element;
    }
  }
  return static_cast<uint32_t>(bits & -bits);
}

BlitSurface SurfaceAt(const Place& place, const Rectangle& r, uint32_t pixel) {
  if (!place.linear()) {
    return {place.memory, static_cast<uint32_t>(place.pitch), place.tiling,
            place.x * (r.element / pixel), place.y};
  }
  const uint64_t first = place.FirstByte(r.element);
  const uint64_t base = first & ~(kBaseAlignment - 1);
  const auto x = static_cast<uint32_t>(first - base) / pixel;
  uint64_t pitch = place.pitch;
  if (r.height == 1) {
    // Whatever holds the row.
    pitch =
        (first - base + uint64_t{r.width} * r.element + kBaseAlignment - 1) & ~(kBaseAlignment - 1);
  }
  return {{base, place.memory.buffer, place.memory.use},
          static_cast<uint32_t>(pitch),
          place.tiling,
          x,
          0};
}

// Whether a linear surface of several rows is one that the hardware takes.
bool TakesRows(const Place& place, const Rectangle& r, const BlitLimits& limits) {
  if (!place.linear() || r.height <= 1) return true;
  const uint64_t lead = place.FirstByte(r.element) % kBaseAlignment;
  return place.pitch <= limits.most_pitch && place.pitch % limits.pitch_unit == 0 &&
         lead + uint64_t{r.width} * r.element <= place.pitch;
}

absl::Status CheckTiled(const Place& place, const Rectangle& r, const BlitLimits& limits) {
  if (place.linear()) return absl::OkStatus();
  if (place.tiling != limits.tile && !(place.tiling == SurfaceTiling::kX && limits.takes_x)) {
    return absl::UnimplementedError(absl::StrCat(
        "an image in tiles that the copy engine does not copy; it takes linear images, tiles ",
        limits.tile == SurfaceTiling::kY ? "Y" : "4", limits.takes_x ? " and X" : ""));
  }
  const uint32_t pixel = std::min(limits.most_pixel, r.element & -r.element);
  const uint64_t right = uint64_t{place.x + r.width} * (r.element / pixel);
  const uint64_t bottom = uint64_t{place.y} + r.height;
  if (right > limits.most_coordinate || bottom > limits.most_coordinate) {
    return absl::UnimplementedError(absl::StrCat(
        "a copy up to column ", right, " and row ", bottom, " of a tiled surface, in pixels of ",
        pixel, " bytes; the copy engine reaches ", limits.most_coordinate));
  }
  if (place.pitch > limits.most_tiled_pitch) {
    return absl::UnimplementedError(absl::StrCat("rows of ", place.pitch,
                                                 " bytes in tiles; the copy engine takes at most ",
                                                 limits.most_tiled_pitch));
  }
  return absl::OkStatus();
}

Place Below(Place place, uint32_t rows) {
  place.y += rows;
  return place;
}

// False: `emit` has refused.
bool Emit(const Rectangle& r, const BlitLimits& limits, EmitBlitFunction emit) {
  if (!TakesRows(r.source, r, limits) || !TakesRows(r.destination, r, limits)) {
    for (uint32_t row = 0; row < r.height; ++row) {
      if (!Emit({Below(r.source, row), Below(r.destination, row), r.width, 1, r.element}, limits,
                emit)) {
        return false;
      }
    }
    return true;
  }
  const uint32_t pixel = PixelOf(r, limits);
  // Linear surfaces begin with the rectangle, so that only its own size can be too much.
  const uint32_t scale = std::max(uint32_t{1}, r.element / pixel);
  const uint32_t most_width =
      (limits.most_coordinate - static_cast<uint32_t>(kBaseAlignment)) / scale;
  if (r.width > most_width && r.source.linear() && r.destination.linear()) {
    for (uint32_t x = 0; x < r.width; x += most_width) {
      Rectangle part = r;
      part.source.x += x;
      part.destination.x += x;
      part.width = std::min(most_width, r.width - x);
      if (!Emit(part, limits, emit)) return false;
    }
    return true;
  }
  // Tiled surfaces have no more rows than the packet reaches.
  for (uint32_t row = 0; row < r.height; row += limits.most_coordinate) {
    Rectangle part = r;
    part.source = Below(r.source, row);
    part.destination = Below(r.destination, row);
    part.height = std::min(limits.most_coordinate, r.height - row);
    const Blit blit{.source = SurfaceAt(part.source, part, pixel),
                    .destination = SurfaceAt(part.destination, part, pixel),
                    .width = static_cast<uint32_t>(uint64_t{r.width} * r.element / pixel),
                    .height = part.height,
                    .pixel = pixel};
    if (!emit(blit)) return false;
  }
  return true;
}

absl::Status CheckBuffer(const char* what, const gpu::Buffer& buffer, uint64_t offset,
                         uint64_t size) {
  if (offset <= buffer.size && size <= buffer.size - offset) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("the ", what, " is ", size, " bytes from offset ",
                                            offset, " of a buffer of ", buffer.size, " bytes"));
}

// The region of each layer in elements, and the surface that it is in.
struct Texels {
  layout::Region region;
  Place place;
  uint32_t element = 1;
};

absl::StatusOr<Texels> TexelsOf(const char* what, const ImagePlace& place, uint32_t layer,
                                uint32_t width, uint32_t height) {
  if (place.image == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("the ", what, " of a copy has no image"));
  }
  const Image& image = *place.image;
  if (image.samples() != 1) {
    return absl::UnimplementedError(
        absl::StrCat("the ", what, " of a copy has ", image.samples(),
                     " samples; copy engines copy images of one: draw, or dispatch"));
  }
  if (place.level >= image.placement.levels().size() || layer >= image.LayersOf(place.level)) {
    return absl::OutOfRangeError(absl::StrCat("the ", what, " of a copy is layer ", layer,
                                              " of level ", place.level, "; the image has ",
                                              image.LayersOf(place.level), " layers there, and ",
                                              image.placement.levels().size(), " levels"));
  }
  const absl::StatusOr<layout::Region> region =
      layout::RegionOfPixels(image.placement, place.level, layer, place.x, place.y, width, height);
  if (!region.ok()) {
    return absl::Status(region.status().code(),
                        absl::StrCat("the ", what, " of a copy: ", region.status().message()));
  }
  const layout::Level& level = image.placement.levels()[place.level];
  if (uint64_t{region->x_el} + region->w_el > level.width_el ||
      uint64_t{region->y_el} + region->h_el > level.height_el) {
    return absl::OutOfRangeError(
        absl::StrCat("the ", what, " of a copy is ", region->w_el, " by ", region->h_el,
                     " texels from (", region->x_el, ", ", region->y_el, ") on; level ",
                     place.level, " of the image has ", level.width_el, " by ", level.height_el));
  }
  Texels texels{.region = *region, .place = {}, .element = image.placement.element_B()};
  texels.place = {
      .memory = {image.memory.address + level.offset_B + layer * level.layer_stride_B,
                 image.memory.handle},
      .pitch = uint64_t{level.pitch_el} * texels.element,
      .tiling = image.tiling,
      .x = level.x_el + region->x_el,
      .y = level.y_el + region->y_el,
  };
  return texels;
}

}  // namespace

absl::Status CheckCopy(const BufferCopy& copy) {
  if (absl::Status status =
          CheckBuffer("source of a copy", copy.source, copy.source_offset, copy.size);
      !status.ok()) {
    return status;
  }
  return CheckBuffer("destination of a copy", copy.destination, copy.destination_offset, copy.size);
}

absl::Status PlanCopy(const BufferCopy& copy, const BlitLimits& limits, EmitBlitFunction emit) {
  if (absl::Status status = CheckCopy(copy); !status.ok()) return status;
  Place source{.memory = {copy.source.address + copy.source_offset, copy.source.handle},
               .pitch = kRowBytes};
  Place destination{
      .memory = {copy.destination.address + copy.destination_offset, copy.destination.handle},
      .pitch = kRowBytes};
  uint64_t left = copy.size;
  const auto part = [&](uint32_t width, uint32_t height) {
    const bool good = Emit({source, destination, width, height, 1}, limits, emit);
    const uint64_t bytes = uint64_t{width} * height;
    source.memory.gpu += bytes;
    destination.memory.gpu += bytes;
    left -= bytes;
    return good;
  };
  // If both can be in whole lines, all rows but the ends are one rectangle.
  const uint64_t lead = -destination.memory.gpu % kBaseAlignment;
  if (lead != 0 && lead == -source.memory.gpu % kBaseAlignment && left >= lead) {
    if (!part(static_cast<uint32_t>(lead), 1)) return absl::OkStatus();
  }
  while (left >= kRowBytes) {
    const uint64_t rows = std::min<uint64_t>(left / kRowBytes, limits.most_coordinate);
    if (!part(kRowBytes, static_cast<uint32_t>(rows))) return absl::OkStatus();
  }
  if (left != 0) part(static_cast<uint32_t>(left), 1);
  return absl::OkStatus();
}

absl::Status PlanCopy(const ImageCopy& copy, const BlitLimits& limits, EmitBlitFunction emit) {
  // First all is checked.
  for (const bool emits : {false, true}) {
    for (uint32_t i = 0; i < copy.layers; ++i) {
      const absl::StatusOr<Texels> from =
          TexelsOf("source", copy.source, copy.source.layer + i, copy.width, copy.height);
      if (!from.ok()) return from.status();
      // Of another block size, as many texels.
      const layout::Format& format = *copy.source.image->placement.description().format;
      const layout::Format& other = copy.destination.image != nullptr
                                        ? *copy.destination.image->placement.description().format
                                        : format;
      const absl::StatusOr<Texels> to = TexelsOf(
          "destination", copy.destination, copy.destination.layer + i,
          copy.width / format.block_w_px * other.block_w_px + (copy.width % format.block_w_px != 0),
          copy.height / format.block_h_px * other.block_h_px +
              (copy.height % format.block_h_px != 0));
      if (!to.ok()) return to.status();
      if (from->element != to->element) {
        return absl::InvalidArgumentError(absl::StrCat("a copy from texels of ", from->element,
                                                       " bytes to texels of ", to->element,
                                                       " bytes; both must have the same size"));
      }
      const Rectangle rectangle{from->place, to->place, from->region.w_el, from->region.h_el,
                                from->element};
      if (absl::Status status = CheckTiled(from->place, rectangle, limits); !status.ok())
        return status;
      if (absl::Status status = CheckTiled(to->place, rectangle, limits); !status.ok())
        return status;
      if (emits && rectangle.width != 0 && rectangle.height != 0 &&
          !Emit(rectangle, limits, emit)) {
        return absl::OkStatus();
      }
    }
  }
  return absl::OkStatus();
}

absl::Status PlanCopy(const BufferImageCopy& copy, const BlitLimits& limits,
                      EmitBlitFunction emit) {
  for (const bool emits : {false, true}) {
    for (uint32_t i = 0; i < copy.layers; ++i) {
      const absl::StatusOr<Texels> texels =
          TexelsOf("image", copy.image, copy.image.layer + i, copy.width, copy.height);
      if (!texels.ok()) return texels.status();
      const layout::Region& region = texels->region;
      const uint64_t row = uint64_t{region.w_el} * texels->element;
      const uint64_t pitch = copy.row_pitch == 0 ? row : copy.row_pitch;
      if (pitch < row) {
        return absl::InvalidArgumentError(
            absl::StrCat("rows of ", row, " bytes are ", pitch, " bytes apart in the buffer"));
      }
      const uint64_t layer_pitch = copy.layer_pitch == 0 ? pitch * region.h_el : copy.layer_pitch;
      const uint64_t size = region.h_el == 0 ? 0 : pitch * (region.h_el - 1) + row;
      const uint64_t offset = copy.offset + i * layer_pitch;
      if (absl::Status status = CheckBuffer("buffer's part of a copy", copy.buffer, offset, size);
          !status.ok()) {
        return status;
      }
      const Place rows{.memory = {copy.buffer.address + offset, copy.buffer.handle},
                       .pitch = pitch};
      Rectangle rectangle{texels->place, rows, region.w_el, region.h_el, texels->element};
      if (copy.to_image) std::swap(rectangle.source, rectangle.destination);
      if (absl::Status status = CheckTiled(texels->place, rectangle, limits); !status.ok()) {
        return status;
      }
      if (emits && rectangle.width != 0 && rectangle.height != 0 &&
          !Emit(rectangle, limits, emit)) {
        return absl::OkStatus();
      }
    }
  }
  return absl::OkStatus();
}

// -- Fills ----------------------------------------------------------------------------------------

namespace {

// A texel, and the pixels of other sizes that have the same bytes.
class FillPattern {
 public:
  FillPattern(absl::Span<const uint8_t> texel) : texel_(texel) {}

  // Whether a row of texels is a row of equal pixels of this size.
  bool Repeats(uint32_t pixel) const {
    for (size_t i = 0; i < texel_.size() * pixel; ++i) {
      if (texel_[i % texel_.size()] != texel_[i % pixel % texel_.size()]) return false;
    }
    return true;
  }
  FillColor Pixel(uint32_t pixel) const {
    std::array<uint8_t, sizeof(FillColor)> bytes;
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = texel_[i % pixel % texel_.size()];
    FillColor color;
    std::memcpy(color.data(), bytes.data(), sizeof(color));
    return color;
  }

 private:
  const absl::Span<const uint8_t> texel_;
};

// Whether all blits of the rectangle have pixels that hold the pattern; then emits them.
absl::Status EmitFills(const Rectangle& rectangle, const BlitLimits& limits,
                       const FillPattern& pattern, bool emits, EmitFillFunction emit) {
  uint32_t refused = 0;
  Emit(rectangle, limits, [&](const Blit& blit) {
    if (!pattern.Repeats(blit.pixel)) {
      refused = blit.pixel;
      return false;
    }
    return !emits || emit(blit, pattern.Pixel(blit.pixel));
  });
  if (refused == 0) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("a fill with texels of ", rectangle.element,
                   " bytes, which the copy engine writes as pixels of ", refused,
                   "; it takes them if all these pixels are equal, a draw takes any"));
}

}  // namespace

absl::Status CheckFill(const BufferFill& fill) {
  if (((fill.offset | fill.size | fill.destination.address) & 3) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("a fill of ", fill.size, " bytes from offset ",
                                                   fill.offset,
                                                   " on; both must be multiples of 4"));
  }
  return CheckBuffer("destination of a fill", fill.destination, fill.offset, fill.size);
}

absl::Status PlanFill(const BufferFill& fill, const BlitLimits& limits, EmitFillFunction emit) {
  if (absl::Status status = CheckFill(fill); !status.ok()) return status;
  uint8_t bytes[sizeof(fill.value)];
  std::memcpy(bytes, &fill.value, sizeof(bytes));
  const FillPattern pattern(bytes);
  constexpr uint32_t kDword = 4;
  Place place{.memory = {fill.destination.address + fill.offset, fill.destination.handle},
              .pitch = kRowBytes};
  for (uint64_t left = fill.size; left != 0;) {
    const uint64_t rows = std::min<uint64_t>(left / kRowBytes, limits.most_coordinate);
    const auto width = static_cast<uint32_t>(rows == 0 ? left : kRowBytes);
    const auto height = static_cast<uint32_t>(std::max<uint64_t>(rows, 1));
    // A dword repeats in pixels of any size.
    (void)EmitFills({place, place, width / kDword, height, kDword}, limits, pattern, true, emit);
    place.memory.gpu += uint64_t{width} * height;
    left -= uint64_t{width} * height;
  }
  return absl::OkStatus();
}

absl::Status PlanFill(const ImageFill& fill, const BlitLimits& limits, EmitFillFunction emit) {
  for (const bool emits : {false, true}) {
    for (uint32_t i = 0; i < fill.layers; ++i) {
      const absl::StatusOr<Texels> texels = TexelsOf(
          "destination", fill.destination, fill.destination.layer + i, fill.width, fill.height);
      if (!texels.ok()) return texels.status();
      const Rectangle rectangle{texels->place, texels->place, texels->region.w_el,
                                texels->region.h_el, texels->element};
      if (absl::Status status = CheckTiled(texels->place, rectangle, limits); !status.ok()) {
        return status;
      }
      if (rectangle.width == 0 || rectangle.height == 0) continue;
      const FillPattern pattern(absl::MakeConstSpan(fill.texel).first(texels->element));
      absl::Status status = EmitFills(rectangle, limits, pattern, emits, emit);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace packsmith::intel
