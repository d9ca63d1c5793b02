#include "runtime/sim/blit/blit.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/sim/blit/raster.h"
#include "runtime/sim/blit/surface.h"
#include "runtime/sim/memory_access.h"

namespace packsmith::sim {
namespace {

// A row is worked on in spans that fit into the processor's first cache.
constexpr size_t kSpan_B = 16384;
using SpanBytes = std::array<uint8_t, kSpan_B>;

constexpr int kPatternSide_px = 8;
constexpr int64_t kMaxDistance_B = int64_t{1} << 62;
constexpr uint32_t kMaxPixel_B = 16;

// Channels of a pixel as masks. Formats without channels have none.
struct Channels {
  std::array<uint32_t, 3> rgb;
  uint32_t alpha;
};

Channels ChannelsOf(BlitFormat format) {
  switch (format) {
    case BlitFormat::k8:
      return {{0xff, 0, 0}, 0};
    case BlitFormat::k565:
      return {{0x001f, 0x07e0, 0xf800}, 0};
    case BlitFormat::k1555:
      return {{0x001f, 0x03e0, 0x7c00}, 0x8000};
    case BlitFormat::k8888:
      return {{0x0000ff, 0x00ff00, 0xff0000}, 0xff000000};
    case BlitFormat::k64:
    case BlitFormat::k96:
    case BlitFormat::k128:
      break;
  }
  return {};
}

void StoreColor(const BlitColor& color, uint32_t pixel_B, uint8_t* out) {
  for (uint32_t i = 0; i < pixel_B; ++i) {
    out[i] = static_cast<uint8_t>(color[i / 4] >> (i % 4 * 8));
  }
}

uint32_t LoadPixel(const uint8_t* bytes, uint32_t pixel_B) {
  uint32_t pixel = 0;
  for (uint32_t i = 0; i < std::min(pixel_B, 4u); ++i) pixel |= uint32_t{bytes[i]} << (8 * i);
  return pixel;
}

// Fills `out` with its first `period_B` bytes again and again.
void Repeat(uint8_t* out, size_t period_B, size_t size_B) {
  for (size_t done = period_B; done < size_B; done *= 2) {
    std::memcpy(out + done, out, std::min(done, size_B - done));
  }
}

// Whether the bytes end at 2^64 at the latest.
bool IsInAddressSpace(uint64_t address, uint64_t size_B) {
  return size_B == 0 || address <= std::numeric_limits<uint64_t>::max() - (size_B - 1);
}

class Runner {
 public:
  Runner(const Blit& blit, MemoryAccess& memory, const BlitLimits& limits, BlitOutcome& outcome)
      : blit_(blit),
        whole_(blit.rectangle),
        rop_(blit.raster_operation),
        memory_(memory),
        limits_(limits),
        outcome_(outcome),
        pixel_B_(BytesOf(blit.format)) {}

  absl::Status Run();

 private:
  absl::Status CheckCoordinates() const;
  absl::Status Prepare();
  absl::Status PrepareSource();
  absl::Status PreparePattern();
  void FindDirections();
  void FindOverlap();
  void MergeRows();
  void PrepareSpans();

  absl::Status RunRow(int64_t y);
  absl::Status RunSpan(int64_t x, int64_t y, uint32_t pixels);
  absl::Status LoadMono(const MonoSource& mono, int64_t x, int64_t y, uint32_t pixels);
  void LoadPattern(int64_t x, int64_t y, uint32_t pixels);
  void FilterByColor(const uint8_t* bytes, bool written_inside, uint32_t pixels);
  const uint8_t* Combine(uint32_t pixels);

  // A byte of a surface that is not mapped.
  struct Fault {
    uint64_t address = 0;
    uint32_t pixel = 0;  // of the span
  };
  std::optional<Fault> Read(const PixelPlaces& places, uint32_t space, int64_t x, int64_t y,
                            uint32_t pixels, uint8_t* out) const;
  absl::Status ReadBytes(const BlitBytes& bytes, uint64_t offset_B, absl::Span<uint8_t> out) const;
  std::optional<Fault> Write(int64_t x, int64_t y, uint32_t pixels, const uint8_t* bytes);
  absl::Status WriteSpan(int64_t x, int64_t y, uint32_t pixels, const uint8_t* bytes);
  // "(3, 4)": a pixel of the destination, for messages.
  std::string PixelText(int64_t x, int64_t y) const;
  absl::Status FaultStatus(absl::string_view access, const Fault& fault, int64_t x,
                           int64_t y) const;

  const Blit& blit_;
  const BlitRectangle whole_;
  BlitRectangle clipped_;
  const RasterOperation rop_;
  MemoryAccess& memory_;
  const BlitLimits limits_;
  BlitOutcome& outcome_;
  const uint32_t pixel_B_;

  const SurfaceSource* surface_source_ = nullptr;
  const MonoSource* mono_source_ = nullptr;
  std::optional<PixelPlaces> destination_places_, source_places_;
  int64_t merged_width_ = 0;  // of the rows that one long row consists of, or 0
  bool rows_backward_ = false, right_to_left_ = false;
  bool needs_source_ = false, needs_destination_ = false;
  bool masked_ = false;           // some bytes of each pixel stay
  bool filtered_ = false;         // some pixels stay: those whose `written_` is 0
  bool pattern_is_solid_ = true;  // or not used
  // The result is what is in `pattern_`.
  bool is_plain_fill_ = false;

  std::array<uint8_t, kPatternSide_px * kPatternSide_px * kMaxPixel_B> pattern_pixels_;
  std::array<uint8_t, kPatternSide_px> pattern_bits_ = {};
  uint32_t pattern_x_seed_ = 0, pattern_y_seed_ = 0;
  bool pattern_transparent_ = false;

  SpanBytes source_, pattern_, destination_, kept_;
  std::array<uint8_t, kSpan_B> written_;            // one for each pixel
  std::array<uint8_t, kSpan_B / 8 + 2> mono_bits_;  // of a span
};

absl::Status Runner::Run() {
  if (absl::Status status = CheckCoordinates(); !status.ok()) return status;
  clipped_ = whole_;
  if (blit_.clip.has_value()) {
    clipped_ = {std::max(whole_.x1, blit_.clip->x1), std::max(whole_.y1, blit_.clip->y1),
                std::min(whole_.x2, blit_.clip->x2), std::min(whole_.y2, blit_.clip->y2)};
  }
  if (whole_.IsEmpty() || clipped_.IsEmpty()) return absl::OkStatus();
  masked_ = blit_.format == BlitFormat::k8888 && !(blit_.write_rgb && blit_.write_alpha);
  if (masked_ && !blit_.write_rgb && !blit_.write_alpha) return absl::OkStatus();
  if (absl::Status status = Prepare(); !status.ok()) return status;
  for (int64_t row = 0; row < clipped_.height(); ++row) {
    const absl::Status status = RunRow(rows_backward_ ? clipped_.y2 - 1 - row : clipped_.y1 + row);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// So that no arithmetic on them overflows.
absl::Status Runner::CheckCoordinates() const {
  const auto* const source = std::get_if<SurfaceSource>(&blit_.source);
  for (const int64_t coordinate :
       {whole_.x1, whole_.y1, whole_.x2, whole_.y2, source == nullptr ? 0 : source->x1,
        source == nullptr ? 0 : source->y1}) {
    if (coordinate < -kMaxCoordinate || coordinate > kMaxCoordinate) {
      return absl::InvalidArgumentError(
          absl::StrCat("the coordinate ", coordinate, " of a blit is out of range: at most ",
                       kMaxCoordinate, " is possible in either direction"));
    }
  }
  return absl::OkStatus();
}

absl::Status Runner::Prepare() {
  absl::StatusOr<PixelPlaces> places = PixelPlaces::Of(blit_.destination, pixel_B_);
  if (!places.ok()) return places.status();
  if (!places->Contains(clipped_.x1, clipped_.y1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tiled destination has no pixel (", clipped_.x1, ", ", clipped_.y1,
                     "): coordinates of tiled surfaces must not be negative"));
  }
  destination_places_ = *std::move(places);
  if (absl::Status status = PrepareSource(); !status.ok()) return status;
  const bool keyed_by_destination =
      blit_.chroma_key.has_value() &&
      (blit_.chroma_key->mode == ChromaKey::Mode::kDestination ||
       blit_.chroma_key->mode == ChromaKey::Mode::kDestinationAndAlpha);
  needs_destination_ = rop_.uses_destination() || masked_ || keyed_by_destination;
  if (absl::Status status = PreparePattern(); !status.ok()) return status;
  filtered_ = blit_.chroma_key.has_value() || pattern_transparent_ ||
              (mono_source_ != nullptr && mono_source_->transparent);
  FindDirections();
  FindOverlap();
  MergeRows();
  PrepareSpans();
  return absl::OkStatus();
}

// What is the same for all spans, and what raster operations read without using it.
void Runner::PrepareSpans() {
  const auto most_px = static_cast<int64_t>(kSpan_B / pixel_B_);
  const size_t size_B = static_cast<size_t>(std::min(most_px, clipped_.width())) * pixel_B_;
  const bool is_plain_copy = rop_.code() == RasterOperation::kSource && !needs_destination_;
  if (!is_plain_fill_ && !is_plain_copy) {
    for (SpanBytes* const bytes : {&source_, &pattern_, &destination_}) {
      std::fill_n(bytes->begin(), size_B, uint8_t{0});
    }
  }
  if (const auto* solid = std::get_if<SolidPattern>(&blit_.pattern)) {
    StoreColor(solid->color, pixel_B_, pattern_.data());
    Repeat(pattern_.data(), pixel_B_, size_B);
  }
}

absl::Status Runner::PrepareSource() {
  surface_source_ = std::get_if<SurfaceSource>(&blit_.source);
  mono_source_ = std::get_if<MonoSource>(&blit_.source);
  const bool keyed_by_source =
      blit_.chroma_key.has_value() && (blit_.chroma_key->mode == ChromaKey::Mode::kSource ||
                                       blit_.chroma_key->mode == ChromaKey::Mode::kSourceAndAlpha);
  needs_source_ = rop_.uses_source() || keyed_by_source ||
                  (mono_source_ != nullptr && mono_source_->transparent);
  if (needs_source_ && std::holds_alternative<std::monostate>(blit_.source)) {
    return absl::InvalidArgumentError(
        absl::StrCat("raster operation 0x", absl::Hex(rop_.code(), absl::kZeroPad2),
                     " and color keys of the source need a source; the blit has none"));
  }
  if (mono_source_ != nullptr && mono_source_->first_bit > 7) {
    return absl::InvalidArgumentError(
        absl::StrCat("the first bit of a source of one bit per pixel is one of 8, counted from 0; ",
                     mono_source_->first_bit, " is not"));
  }
  if (!needs_source_ || surface_source_ == nullptr) return absl::OkStatus();
  absl::StatusOr<PixelPlaces> places = PixelPlaces::Of(surface_source_->surface, pixel_B_);
  if (!places.ok()) return places.status();
  const int64_t x = clipped_.x1 - whole_.x1 + surface_source_->x1;
  const int64_t y = clipped_.y1 - whole_.y1 + surface_source_->y1;
  if (!places->Contains(x, y)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tiled source has no pixel (", x, ", ", y,
                     "): coordinates of tiled surfaces must not be negative"));
  }
  source_places_ = *std::move(places);
  return absl::OkStatus();
}

absl::Status Runner::PreparePattern() {
  const auto* mono = std::get_if<MonoPattern>(&blit_.pattern);
  if (!rop_.uses_pattern() && (mono == nullptr || !mono->transparent)) return absl::OkStatus();
  if (const auto* color = std::get_if<ColorPattern>(&blit_.pattern)) {
    pattern_is_solid_ = false;
    pattern_x_seed_ = color->x_seed;
    pattern_y_seed_ = color->y_seed;
    const absl::Status status =
        ReadBytes(color->pixels, 0,
                  absl::MakeSpan(pattern_pixels_.data(),
                                 size_t{kPatternSide_px * kPatternSide_px} * pixel_B_));
    if (!status.ok()) return status;
  } else if (mono != nullptr) {
    pattern_is_solid_ = false;
    pattern_x_seed_ = mono->x_seed;
    pattern_y_seed_ = mono->y_seed;
    pattern_bits_ = mono->rows;
    pattern_transparent_ = mono->transparent;
    for (size_t i = 0; i < kPatternSide_px * kPatternSide_px; ++i) {
      const bool set = (pattern_bits_[i / 8] >> (7 - i % 8) & 1) != 0;
      StoreColor(set ? mono->foreground : mono->background, pixel_B_,
                 pattern_pixels_.data() + i * pixel_B_);
    }
  } else if (std::holds_alternative<std::monostate>(blit_.pattern)) {
    return absl::InvalidArgumentError(absl::StrCat("raster operation 0x",
                                                   absl::Hex(rop_.code(), absl::kZeroPad2),
                                                   " needs a pattern; the blit has none"));
  }
  is_plain_fill_ = rop_.code() == RasterOperation::kPattern && !needs_destination_;
  return absl::OkStatus();
}

void Runner::FindDirections() {
  right_to_left_ = blit_.order == BlitOrder::kRightToLeft;
  if (blit_.order != BlitOrder::kAutomatic || surface_source_ == nullptr) return;
  const BlitSurface& source = surface_source_->surface;
  if (source.address != blit_.destination.address || source.space != blit_.destination.space) {
    return;
  }
  right_to_left_ = surface_source_->x1 < whole_.x1;
  rows_backward_ = surface_source_->y1 < whole_.y1;
}

struct Directions {
  bool rows_backward, right_to_left;
};

// Whether some pixels that both rectangles have are written before they are read, if the
// destination begins `rows` rows and `columns` bytes after the source.
bool IsWrittenTooEarly(int64_t rows, int64_t columns, Directions directions) {
  if (rows != 0) return (rows > 0) != directions.rows_backward;
  if (columns != 0) return (columns > 0) != directions.right_to_left;
  return false;
}

void Runner::FindOverlap() {
  if (!source_places_.has_value()) return;
  const BlitSurface &source = surface_source_->surface, &destination = blit_.destination;
  if (source.space != destination.space) return;
  const Directions directions = {rows_backward_, right_to_left_};
  const int64_t height = clipped_.height();
  const int64_t row_B = clipped_.width() * pixel_B_;
  const int64_t source_x = clipped_.x1 - whole_.x1 + surface_source_->x1;
  const int64_t source_y = clipped_.y1 - whole_.y1 + surface_source_->y1;
  // Rectangles of the same grid of rows.
  const bool same_grid = source.pitch_B == destination.pitch_B &&
                         source.tiling == destination.tiling && source.pitch_B != 0;
  const auto test = [&](int64_t rows, int64_t columns) {
    if (std::abs(rows) < height && std::abs(columns) < row_B &&
        IsWrittenTooEarly(rows, columns, directions)) {
      outcome_.overlap_undefined = true;
    }
  };
  if (same_grid && source.address == destination.address && !source.level.has_value() &&
      !destination.level.has_value()) {
    test(clipped_.y1 + destination.y_offset_px - source_y - source.y_offset_px,
         (clipped_.x1 + destination.x_offset_px - source_x - source.x_offset_px) * pixel_B_);
    return;
  }
  if (same_grid && source.tiling == BlitTiling::kLinear) {
    const uint64_t from = source_places_->RunAt(source_x, source_y, 1).address;
    const uint64_t to = destination_places_->RunAt(clipped_.x1, clipped_.y1, 1).address;
    const auto distance_B = static_cast<int64_t>(to - from);
    // Farther apart than any rectangle is large.
    if (distance_B < -kMaxDistance_B || distance_B > kMaxDistance_B) return;
    const int64_t pitch_B = std::abs(source.pitch_B);
    // Rows of a negative pitch are counted upward.
    const int64_t sign = source.pitch_B < 0 ? -1 : 1;
    const int64_t rows = distance_B / pitch_B, columns = distance_B % pitch_B;
    test(rows * sign, columns);
    test((rows + 1) * sign, columns - pitch_B);
    test((rows - 1) * sign, columns + pitch_B);
    return;
  }
  // Different grids: whether the memory from the first to the last tile has anything in common.
  const auto range = [&](const PixelPlaces& places, int64_t x, int64_t y) {
    std::pair<uint64_t, uint64_t> range = {~uint64_t{0}, 0};
    for (const int64_t row : {y, y + height - 1}) {
      for (const int64_t column : {x, x + clipped_.width() - 1}) {
        const PixelPlaces::Extent tile = places.TileAt(column, row);
        range = {std::min(range.first, tile.address),
                 std::max(range.second, tile.address + tile.size_B)};
      }
    }
    return range;
  };
  const auto read = range(*source_places_, source_x, source_y);
  const auto written = range(*destination_places_, clipped_.x1, clipped_.y1);
  if (read.first < written.second && written.first < read.second) {
    outcome_.overlap_undefined = true;
  }
}

// Rows without gaps, in both surfaces, are one long row.
void Runner::MergeRows() {
  const int64_t row_B = clipped_.width() * pixel_B_;
  if (rows_backward_ || right_to_left_ || outcome_.overlap_undefined || !pattern_is_solid_ ||
      mono_source_ != nullptr || clipped_.width() != whole_.width() ||
      !destination_places_->is_linear() || blit_.destination.pitch_B != row_B) {
    return;
  }
  if (source_places_.has_value() &&
      (!source_places_->is_linear() || surface_source_->surface.pitch_B != row_B)) {
    return;
  }
  merged_width_ = clipped_.width();
  clipped_.x2 = clipped_.x1 + clipped_.width() * clipped_.height();
  clipped_.y2 = clipped_.y1 + 1;
}

absl::Status Runner::RunRow(int64_t y) {
  const auto most = static_cast<int64_t>(kSpan_B / pixel_B_);
  int64_t left = clipped_.x1, right = clipped_.x2;
  while (left < right) {
    const int64_t pixels = std::min(most, right - left);
    const uint64_t bytes = static_cast<uint64_t>(pixels) * pixel_B_;
    const int64_t x = right_to_left_ ? right - pixels : left;
    if (bytes > limits_.max_B - outcome_.processed_B) {
      return absl::ResourceExhaustedError(absl::StrCat("the blit stopped before pixel ",
                                                       PixelText(x, y), ": it has more than ",
                                                       limits_.max_B, " B, the limit"));
    }
    outcome_.processed_B += bytes;
    if (absl::Status status = RunSpan(x, y, static_cast<uint32_t>(pixels)); !status.ok()) {
      return status;
    }
    (right_to_left_ ? right : left) += right_to_left_ ? -pixels : pixels;
  }
  return absl::OkStatus();
}

absl::Status Runner::RunSpan(int64_t x, int64_t y, uint32_t pixels) {
  if (filtered_) std::fill_n(written_.begin(), pixels, uint8_t{1});
  if (needs_source_ && mono_source_ != nullptr) {
    if (absl::Status status = LoadMono(*mono_source_, x, y, pixels); !status.ok()) return status;
  } else if (needs_source_) {
    const std::optional<Fault> fault =
        Read(*source_places_, surface_source_->surface.space, x - whole_.x1 + surface_source_->x1,
             y - whole_.y1 + surface_source_->y1, pixels, source_.data());
    if (fault.has_value()) return FaultStatus("read its source at", *fault, x, y);
  }
  if (!pattern_is_solid_) LoadPattern(x, y, pixels);
  if (needs_destination_) {
    const std::optional<Fault> fault =
        Read(*destination_places_, blit_.destination.space, x, y, pixels, destination_.data());
    if (fault.has_value()) return FaultStatus("read its destination at", *fault, x, y);
  }
  if (blit_.chroma_key.has_value()) {
    const bool of_source = blit_.chroma_key->mode == ChromaKey::Mode::kSource ||
                           blit_.chroma_key->mode == ChromaKey::Mode::kSourceAndAlpha;
    FilterByColor(of_source ? source_.data() : destination_.data(), !of_source, pixels);
  }
  return WriteSpan(x, y, pixels, Combine(pixels));
}

absl::Status Runner::WriteSpan(int64_t x, int64_t y, uint32_t pixels, const uint8_t* bytes) {
  for (uint32_t begin = 0, end = 0; begin < pixels; begin = end) {
    end = pixels;
    if (filtered_) {
      const auto first = written_.begin() + begin;
      end = begin + static_cast<uint32_t>(
                        std::find_if(first, written_.begin() + pixels,
                                     [first](uint8_t written) { return written != *first; }) -
                        first);
      if (*first == 0) continue;
    }
    const std::optional<Fault> fault =
        Write(x + begin, y, end - begin, bytes + size_t{begin} * pixel_B_);
    if (fault.has_value()) return FaultStatus("write to", *fault, x + begin, y);
  }
  return absl::OkStatus();
}

absl::Status Runner::LoadMono(const MonoSource& mono, int64_t x, int64_t y, uint32_t pixels) {
  const auto row = static_cast<uint64_t>(y - whole_.y1);
  const auto width = static_cast<uint64_t>(whole_.width());
  const uint64_t unit = mono.rows == MonoRows::kWordAligned ? 16 : 8;
  const uint64_t row_bits =
      mono.rows == MonoRows::kBitPacked ? width : (mono.first_bit + width + unit - 1) / unit * unit;
  const uint64_t first = row * row_bits + mono.first_bit + static_cast<uint64_t>(x - whole_.x1);
  const size_t size_B = static_cast<size_t>((first % 8 + pixels + 7) / 8);
  const absl::Status status =
      ReadBytes(mono.bits, first / 8, absl::MakeSpan(mono_bits_.data(), size_B));
  if (!status.ok()) return status;
  std::array<std::array<uint8_t, kMaxPixel_B>, 2> colors;
  StoreColor(mono.background, pixel_B_, colors[0].data());
  StoreColor(mono.foreground, pixel_B_, colors[1].data());
  uint8_t* out = source_.data();
  for (uint32_t i = 0; i < pixels; ++i, out += pixel_B_) {
    const uint64_t bit = first % 8 + i;
    const size_t set = mono_bits_[bit / 8] >> (7 - bit % 8) & 1;
    std::memcpy(out, colors[set].data(), pixel_B_);
    if (mono.transparent && set == 0) written_[i] = 0;
  }
  return absl::OkStatus();
}

void Runner::LoadPattern(int64_t x, int64_t y, uint32_t pixels) {
  const size_t row = (static_cast<uint64_t>(y) + pattern_y_seed_) % kPatternSide_px;
  const size_t first = (static_cast<uint64_t>(x) + pattern_x_seed_) % kPatternSide_px;
  const uint8_t* from = pattern_pixels_.data() + row * kPatternSide_px * pixel_B_;
  for (size_t i = 0; i < kPatternSide_px; ++i) {
    std::memcpy(pattern_.data() + i * pixel_B_, from + (first + i) % kPatternSide_px * pixel_B_,
                pixel_B_);
  }
  Repeat(pattern_.data(), size_t{kPatternSide_px} * pixel_B_,
         std::max<size_t>(pixels, kPatternSide_px) * pixel_B_);
  if (!pattern_transparent_) return;
  for (uint32_t i = 0; i < pixels; ++i) {
    if ((pattern_bits_[row] >> (7 - (first + i) % kPatternSide_px) & 1) == 0) written_[i] = 0;
  }
}

void Runner::FilterByColor(const uint8_t* bytes, bool written_inside, uint32_t pixels) {
  const ChromaKey& key = *blit_.chroma_key;
  const Channels channels = ChannelsOf(blit_.format);
  const bool with_alpha = key.mode == ChromaKey::Mode::kSourceAndAlpha ||
                          key.mode == ChromaKey::Mode::kDestinationAndAlpha;
  const std::array<uint32_t, 4> masks = {channels.rgb[0], channels.rgb[1], channels.rgb[2],
                                         with_alpha ? channels.alpha : 0};
  for (uint32_t i = 0; i < pixels; ++i) {
    const uint32_t pixel = LoadPixel(bytes + size_t{i} * pixel_B_, pixel_B_);
    const bool inside = std::all_of(masks.begin(), masks.end(), [&](uint32_t mask) {
      return (pixel & mask) >= (key.low & mask) && (pixel & mask) <= (key.high & mask);
    });
    if (inside != written_inside) written_[i] = 0;
  }
}

const uint8_t* Runner::Combine(uint32_t pixels) {
  const size_t size_B = size_t{pixels} * pixel_B_;
  if (!masked_) {
    if (rop_.code() == RasterOperation::kSource) return source_.data();
    if (is_plain_fill_) return pattern_.data();
    rop_.Apply(pattern_.data(), source_.data(), destination_.data(), size_B);
    return destination_.data();
  }
  std::memcpy(kept_.data(), destination_.data(), size_B);
  rop_.Apply(pattern_.data(), source_.data(), destination_.data(), size_B);
  for (size_t i = 0; i < size_B; ++i) {
    const bool is_alpha = i % 4 == 3;
    if (!(is_alpha ? blit_.write_alpha : blit_.write_rgb)) destination_[i] = kept_[i];
  }
  return destination_.data();
}

std::string Runner::PixelText(int64_t x, int64_t y) const {
  if (merged_width_ != 0) {
    const int64_t pixel = x - clipped_.x1;
    x = clipped_.x1 + pixel % merged_width_;
    y += pixel / merged_width_;
  }
  return absl::StrCat("(", x, ", ", y, ")");
}

absl::Status Runner::FaultStatus(absl::string_view access, const Fault& fault, int64_t x,
                                 int64_t y) const {
  return absl::OutOfRangeError(absl::StrCat(
      "the blit cannot ", access, " 0x", absl::Hex(fault.address), ", for pixel ",
      PixelText(x + fault.pixel, y), " of its destination: no memory is mapped there"));
}

std::optional<Runner::Fault> Runner::Read(const PixelPlaces& places, uint32_t space, int64_t x,
                                          int64_t y, uint32_t pixels, uint8_t* out) const {
  for (uint32_t at = 0; at < pixels;) {
    const PixelPlaces::Run run = places.RunAt(x + at, y, pixels - at);
    const size_t size_B = size_t{run.pixels} * pixel_B_;
    const size_t done =
        IsInAddressSpace(run.address, size_B) ? memory_.Read(space, run.address, {out, size_B}) : 0;
    if (done < size_B) {
      return Fault{run.address + done, at + static_cast<uint32_t>(done / pixel_B_)};
    }
    out += size_B;
    at += run.pixels;
  }
  return std::nullopt;
}

std::optional<Runner::Fault> Runner::Write(int64_t x, int64_t y, uint32_t pixels,
                                           const uint8_t* bytes) {
  for (uint32_t at = 0; at < pixels;) {
    const PixelPlaces::Run run = destination_places_->RunAt(x + at, y, pixels - at);
    const size_t size_B = size_t{run.pixels} * pixel_B_;
    const size_t done = IsInAddressSpace(run.address, size_B)
                            ? memory_.Write(blit_.destination.space, run.address, {bytes, size_B})
                            : 0;
    outcome_.written_B += done;
    if (done < size_B) {
      return Fault{run.address + done, at + static_cast<uint32_t>(done / pixel_B_)};
    }
    bytes += size_B;
    at += run.pixels;
  }
  return std::nullopt;
}

absl::Status Runner::ReadBytes(const BlitBytes& bytes, uint64_t offset_B,
                               absl::Span<uint8_t> out) const {
  if (bytes.immediate.has_value()) {
    const absl::Span<const uint8_t> data = *bytes.immediate;
    if (offset_B > data.size() || out.size() > data.size() - offset_B) {
      return absl::OutOfRangeError(absl::StrCat("the blit needs ", offset_B + out.size(),
                                                " B of immediate data; the command has ",
                                                data.size()));
    }
    std::memcpy(out.data(), data.data() + offset_B, out.size());
    return absl::OkStatus();
  }
  const uint64_t address = bytes.address + offset_B;
  const size_t done =
      IsInAddressSpace(address, out.size()) ? memory_.Read(bytes.space, address, out) : 0;
  if (done == out.size()) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat(
      "the blit cannot read 0x", absl::Hex(address + done),
      ", in its pattern or its source of one bit per pixel: ", "no memory is mapped there"));
}

}  // namespace

uint32_t BytesOf(BlitFormat format) {
  switch (format) {
    case BlitFormat::k8:
      return 1;
    case BlitFormat::k565:
    case BlitFormat::k1555:
      return 2;
    case BlitFormat::k8888:
      return 4;
    case BlitFormat::k64:
      return 8;
    case BlitFormat::k96:
      return 12;
    case BlitFormat::k128:
      return 16;
  }
  return 1;
}

BlitOutcome ExecuteBlit(const Blit& blit, MemoryAccess& memory, const BlitLimits& limits) {
  BlitOutcome outcome;
  outcome.status = Runner(blit, memory, limits, outcome).Run();
  return outcome;
}

}  // namespace packsmith::sim
