#include "runtime/sim/blit/blit_operation.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/sim/blit/blit.h"
#include "runtime/sim/blit/raster.h"
#include "runtime/sim/blit/surface.h"
#include "runtime/sim/memory_access.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {
namespace {

using tables::OperandRole;
using tables::OperationKind;

// The names that manuals give to values.
template <class T>
struct Named {
  absl::string_view name;
  T value;
};

constexpr Named<BlitFormat> kFormats[] = {
    {"8 bit", BlitFormat::k8},     {"565", BlitFormat::k565},     {"1555", BlitFormat::k1555},
    {"32 bit", BlitFormat::k8888}, {"16 bit", BlitFormat::k565},  {"64 bit", BlitFormat::k64},
    {"96 bit", BlitFormat::k96},   {"128 bit", BlitFormat::k128}, {"8_BIT", BlitFormat::k8},
    {"16_BIT", BlitFormat::k565},  {"32_BIT", BlitFormat::k8888}, {"64_BIT", BlitFormat::k64},
    {"96_BIT", BlitFormat::k96},   {"128_BIT", BlitFormat::k128},
};

constexpr Named<MonoRows> kPackings[] = {
    {"Bit Packed", MonoRows::kBitPacked},
    {"Byte Packed", MonoRows::kBytePacked},
};

constexpr Named<std::optional<ChromaKey::Mode>> kKeyModes[] = {
    {"None", std::nullopt},
    {"Source RGB", ChromaKey::Mode::kSource},
    {"Source RGB and Alpha", ChromaKey::Mode::kSourceAndAlpha},
    {"Destination RGB", ChromaKey::Mode::kDestination},
    {"Destination RGB and Alpha", ChromaKey::Mode::kDestinationAndAlpha},
};

constexpr BlitOrder kOrders[] = {BlitOrder::kForward, BlitOrder::kRightToLeft,
                                 BlitOrder::kAutomatic};

// The number of `tiling` that leaves the choice to a register; the others are those of BlitTiling.
constexpr uint64_t kXOrY = kBlitTilings;

constexpr int64_t kDword_B = 4;

// The bits of `mask`.
constexpr uint64_t kMaskRgb = 1, kMaskAlpha = 2;

template <class T, size_t n>
const T* Find(const Named<T> (&all)[n], absl::string_view name) {
  for (const Named<T>& each : all) {
    if (each.name == name) return &each.value;
  }
  return nullptr;
}

uint64_t NumberOr(const BlitOperands& operands, OperandRole role, uint64_t otherwise) {
  return operands.Number(role).value_or(otherwise);
}

// Sets what the operation has, and leaves the rest.
template <class T>
void Set(const BlitOperands& operands, OperandRole role, T& value) {
  if (const std::optional<uint64_t> number = operands.Number(role)) value = static_cast<T>(*number);
}
void Set(const BlitOperands& operands, OperandRole role, bool& value) {
  if (const std::optional<uint64_t> number = operands.Number(role)) value = *number != 0;
}
void Set(const BlitOperands& operands, OperandRole role, BlitColor& color) {
  if (const std::optional<uint64_t> number = operands.Number(role)) {
    color = {static_cast<uint32_t>(*number), static_cast<uint32_t>(*number >> 32)};
  }
}
void Set(const BlitOperands& operands, BlitRectangle& rectangle) {
  Set(operands, OperandRole::kLeft, rectangle.x1);
  Set(operands, OperandRole::kTop, rectangle.y1);
  Set(operands, OperandRole::kRight, rectangle.x2);
  Set(operands, OperandRole::kBottom, rectangle.y2);
}

}  // namespace

BlitOutcome BlitUnit::Do(OperationKind kind, const BlitOperands& operands, MemoryAccess& memory) {
  switch (kind) {
    case OperationKind::kBlitDestination:
      SetSurface(operands, tables::Meaning::kTileYDestination, now_.destination);
      break;
    case OperationKind::kBlitSource:
      SetSource(operands);
      break;
    case OperationKind::kBlitBits:
      SetBits(operands);
      break;
    case OperationKind::kBlitPattern:
      SetPattern(operands);
      break;
    case OperationKind::kBlitPatternBits:
      SetPatternBits(operands);
      break;
    case OperationKind::kBlitColor:
      SetColor(operands);
      break;
    case OperationKind::kBlitKey:
      SetKey(operands);
      break;
    case OperationKind::kBlitRectangle:
      Set(operands, now_.rectangle);
      Set(operands, OperandRole::kBytes, now_.width_in_bytes);
      break;
    case OperationKind::kBlitClip:
      Set(operands, clip_);
      break;
    case OperationKind::kBlitAgain:
      now_ = setup_;
      break;
    case OperationKind::kBlitSetup:
      SetOptions(operands);
      setup_ = std::exchange(now_, {});
      // Later packets that have a source say so.
      setup_.source_kind = Command::Source::kNone;
      return {.status = setup_.status};
    case OperationKind::kBlit:
      SetOptions(operands);
      return Execute(memory);
    default:
      break;
  }
  return {};
}

void BlitUnit::SetSurface(const BlitOperands& operands, tables::Meaning y_tiles,
                          BlitSurface& surface) {
  if (const std::optional<BlitOperands::Place> place = operands.Memory()) {
    surface.space = place->space;
    surface.address = place->address;
  }
  Set(operands, OperandRole::kPitch, surface.pitch_B);
  if (const std::optional<uint64_t> tiling = operands.Number(OperandRole::kTiling)) {
    if (*tiling > kXOrY) return Fail("tiling");
    surface.tiling = *tiling != kXOrY                 ? static_cast<BlitTiling>(*tiling)
                     : operands.RegisterSays(y_tiles) ? BlitTiling::kY
                                                      : BlitTiling::kX;
  }
  Set(operands, OperandRole::kX, surface.x_offset_px);
  Set(operands, OperandRole::kY, surface.y_offset_px);
  if (operands.Number(OperandRole::kLevel)) surface.level.emplace();
  if (!surface.level.has_value()) return;
  BlitLevel& level = *surface.level;
  Set(operands, OperandRole::kLevel, level.level);
  Set(operands, OperandRole::kWidth, level.width_px);
  Set(operands, OperandRole::kHeight, level.height_px);
  Set(operands, OperandRole::kVolume, level.is_3d);
  Set(operands, OperandRole::kMipTail, level.mip_tail_level);
  Set(operands, OperandRole::kAlignX, level.align_w_B);
  Set(operands, OperandRole::kAlignY, level.align_h_px);
  Set(operands, OperandRole::kSlice, level.slice);
  Set(operands, OperandRole::kSliceRows, level.qpitch_px);
}

bool BlitUnit::SetData(const BlitOperands& operands, Data& data) {
  if (const std::optional<BlitOperands::Place> place = operands.Memory()) {
    data = {.place = {.space = place->space, .address = place->address}, .immediate = {}};
    return true;
  }
  std::vector<uint8_t> stored = operands.Stored();
  if (stored.empty()) return false;
  data.immediate = std::move(stored);
  return true;
}

void BlitUnit::SetSource(const BlitOperands& operands) {
  now_.source_kind = Command::Source::kSurface;
  SetSurface(operands, tables::Meaning::kTileYSource, now_.source);
  Set(operands, OperandRole::kLeft, now_.source_x1);
  Set(operands, OperandRole::kTop, now_.source_y1);
}

void BlitUnit::SetBits(const BlitOperands& operands) {
  now_.source_kind = Command::Source::kMono;
  MonoSource& source = now_.mono_source;
  SetData(operands, now_.mono_data);
  Set(operands, OperandRole::kX, source.first_bit);
  Set(operands, OperandRole::kBackground, source.background);
  Set(operands, OperandRole::kForeground, source.foreground);
  Set(operands, OperandRole::kTransparent, source.transparent);
  if (!operands.Number(OperandRole::kPacking)) return;
  const MonoRows* const rows = Find(kPackings, operands.Name(OperandRole::kPacking));
  if (rows == nullptr) return Fail("packing");
  source.rows = *rows;
}

void BlitUnit::SetPattern(const BlitOperands& operands) {
  // Seeds alone belong to the pattern that there is.
  if (SetData(operands, now_.pattern_data)) now_.pattern_kind = Command::Pattern::kColor;
  Set(operands, OperandRole::kX, now_.color_pattern.x_seed);
  Set(operands, OperandRole::kY, now_.color_pattern.y_seed);
  Set(operands, OperandRole::kX, now_.mono_pattern.x_seed);
  Set(operands, OperandRole::kY, now_.mono_pattern.y_seed);
}

void BlitUnit::SetPatternBits(const BlitOperands& operands) {
  now_.pattern_kind = Command::Pattern::kMono;
  MonoPattern& pattern = now_.mono_pattern;
  const uint64_t rows =
      NumberOr(operands, OperandRole::kValue, 0) | NumberOr(operands, OperandRole::kHigh, 0) << 32;
  for (size_t i = 0; i < pattern.rows.size(); ++i) {
    pattern.rows[i] = static_cast<uint8_t>(rows >> (8 * i));
  }
  Set(operands, OperandRole::kX, pattern.x_seed);
  Set(operands, OperandRole::kY, pattern.y_seed);
  Set(operands, OperandRole::kBackground, pattern.background);
  Set(operands, OperandRole::kForeground, pattern.foreground);
  Set(operands, OperandRole::kTransparent, pattern.transparent);
}

void BlitUnit::SetColor(const BlitOperands& operands) {
  now_.pattern_kind = Command::Pattern::kSolid;
  BlitColor& color = now_.solid_pattern.color;
  if (operands.Number(OperandRole::kValue)) {
    Set(operands, OperandRole::kValue, color);
    return;
  }
  const std::vector<uint8_t> stored = operands.Stored();
  if (stored.empty()) return;
  color = {};
  for (size_t i = 0; i < stored.size() && i < 4 * color.size(); ++i) {
    color[i / 4] |= uint32_t{stored[i]} << (i % 4 * 8);
  }
}

void BlitUnit::SetKey(const BlitOperands& operands) {
  const auto* const mode = Find(kKeyModes, operands.Name(OperandRole::kMode));
  if (mode == nullptr) return Fail("mode");
  now_.chroma_key.reset();
  if (!mode->has_value()) return;
  now_.chroma_key =
      ChromaKey{.mode = **mode,
                .low = static_cast<uint32_t>(NumberOr(operands, OperandRole::kLow, 0)),
                .high = static_cast<uint32_t>(NumberOr(operands, OperandRole::kHigh, 0))};
}

void BlitUnit::SetOptions(const BlitOperands& operands) {
  Set(operands, OperandRole::kRaster, now_.raster_operation);
  Set(operands, OperandRole::kClipped, now_.clipped);
  if (const std::optional<uint64_t> mask = operands.Number(OperandRole::kMask)) {
    now_.write_rgb = (*mask & kMaskRgb) != 0;
    now_.write_alpha = (*mask & kMaskAlpha) != 0;
  }
  if (const std::optional<uint64_t> order = operands.Number(OperandRole::kOrder)) {
    if (*order >= std::size(kOrders)) return Fail("order");
    now_.order = kOrders[*order];
  }
  if (!operands.Number(OperandRole::kFormat)) return;
  const BlitFormat* const format = Find(kFormats, operands.Name(OperandRole::kFormat));
  if (format == nullptr) return Fail("format");
  now_.format = *format;
}

void BlitUnit::Fail(absl::string_view operand) {
  if (!now_.status.ok()) return;
  now_.status = absl::InvalidArgumentError(
      absl::StrCat("the operand \"", operand, "\" of a blit has a value that means nothing"));
}

absl::Status BlitUnit::Finish(Blit& blit) const {
  if (!now_.status.ok()) return now_.status;
  blit.format = now_.format;
  const auto in_bytes = [](BlitSurface surface) {
    if (surface.tiling == BlitTiling::kLinear) return surface;
    // Pitches that would overflow are too large as they are.
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / kDword_B;
    if (surface.pitch_B >= -kMost && surface.pitch_B <= kMost) surface.pitch_B *= kDword_B;
    return surface;
  };
  blit.destination = in_bytes(now_.destination);
  blit.rectangle = now_.rectangle;
  if (now_.clipped) blit.clip = clip_;
  blit.raster_operation = now_.raster_operation;
  blit.write_rgb = now_.write_rgb;
  blit.write_alpha = now_.write_alpha;
  blit.chroma_key = now_.chroma_key;
  blit.order = now_.order;
  const auto bytes_of = [](const Data& data) {
    BlitBytes bytes = data.place;
    if (data.immediate.has_value()) bytes.immediate = absl::MakeConstSpan(*data.immediate);
    return bytes;
  };
  switch (now_.source_kind) {
    case Command::Source::kNone:
      break;
    case Command::Source::kSurface:
      blit.source = SurfaceSource{
          .surface = in_bytes(now_.source), .x1 = now_.source_x1, .y1 = now_.source_y1};
      break;
    case Command::Source::kMono:
      blit.source = now_.mono_source;
      std::get<MonoSource>(blit.source).bits = bytes_of(now_.mono_data);
      break;
  }
  switch (now_.pattern_kind) {
    case Command::Pattern::kNone:
      break;
    case Command::Pattern::kSolid:
      blit.pattern = now_.solid_pattern;
      break;
    case Command::Pattern::kColor:
      blit.pattern = now_.color_pattern;
      std::get<ColorPattern>(blit.pattern).pixels = bytes_of(now_.pattern_data);
      break;
    case Command::Pattern::kMono:
      blit.pattern = now_.mono_pattern;
      break;
  }
  const int64_t width_B = blit.rectangle.x2;
  // Rows that are empty, or too long, are so in bytes as well.
  if (!now_.width_in_bytes || width_B <= 0 || width_B > kMaxCoordinate) return absl::OkStatus();

  if (blit.order == BlitOrder::kRightToLeft) {
    // Addresses are those of the rightmost bytes.
    blit.destination.address -= static_cast<uint64_t>(width_B - 1);
    if (auto* const source = std::get_if<SurfaceSource>(&blit.source)) {
      source->surface.address -= static_cast<uint64_t>(width_B - 1);
    }
  }
  const int64_t pixel_B = BytesOf(blit.format);
  if (width_B % pixel_B == 0) {
    blit.rectangle.x2 = width_B / pixel_B;
    return absl::OkStatus();
  }
  // Bytes are pixels if neither the pattern nor the byte mask tells them apart.
  if (RasterOperation(blit.raster_operation).uses_pattern() || !blit.write_rgb ||
      !blit.write_alpha) {
    return absl::InvalidArgumentError(absl::StrCat("the blit's rows of ", width_B,
                                                   " B end within a pixel, which has ", pixel_B,
                                                   " B: only copies may do that"));
  }
  blit.format = BlitFormat::k8;
  return absl::OkStatus();
}

BlitOutcome BlitUnit::Execute(MemoryAccess& memory) {
  Blit blit;
  BlitOutcome outcome;
  outcome.status = Finish(blit);
  if (outcome.status.ok()) {
    outcome = ExecuteBlit(blit, memory, {.max_B = std::min(rest_B_, max_one_B_)});
    rest_B_ -= outcome.processed_B;
  }
  now_ = {};
  return outcome;
}

}  // namespace packsmith::sim
