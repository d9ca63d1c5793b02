#include "runtime/intel/pipeline/varyings.h"

#include <algorithm>
#include <bitset>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/intel/pipeline/rasterization.h"

namespace packsmith::intel {
namespace {

constexpr unsigned kMostRun = 32;  // slots that the setup back end reads
constexpr unsigned kFirst = static_cast<unsigned>(Varying::kFirstLocation);

bool IsLocation(Varying what) { return what >= Varying::kFirstLocation; }

// The slots that a source needs, counted from its own.
unsigned Reach(const AttributeSource& source) {
  return source.kind == AttributeSource::Kind::kSlotByFacing ? 2 : 1;
}

bool HasSlot(const AttributeSource& source) {
  return source.kind == AttributeSource::Kind::kSlot ||
         source.kind == AttributeSource::Kind::kSlotByFacing;
}

std::optional<Varying> BackOf(Varying front) {
  if (front == Varying::kFrontColor0) return Varying::kBackColor0;
  if (front == Varying::kFrontColor1) return Varying::kBackColor1;
  return std::nullopt;
}

// Without what the setup back end adds.
AttributeSource SourceOf(const VertexLayout& vertex, const FragmentInput& input, bool two_sided) {
  using Kind = AttributeSource::Kind;
  const std::optional<unsigned> slot = vertex.SlotOf(input.what);
  const std::optional<Varying> back = BackOf(input.what);
  const std::optional<unsigned> back_slot = back ? vertex.SlotOf(*back) : std::nullopt;
  if (!slot.has_value()) {
    // A back color without a front color is the color of both sides.
    if (back_slot.has_value()) return {Kind::kSlot, static_cast<uint8_t>(*back_slot)};
    if (input.what == Varying::kPrimitiveId) return {Kind::kPrimitiveId, 0};
    if (input.what == Varying::kPointCoordinate) return {Kind::kPoint, 0};
    return {Kind::kConstant, 0};
  }
  const bool by_facing = two_sided && back_slot.has_value();
  return {by_facing ? Kind::kSlotByFacing : Kind::kSlot, static_cast<uint8_t>(*slot)};
}

}  // namespace

std::string NameOf(Varying varying) {
  if (IsLocation(varying)) {
    return absl::StrCat("location ", static_cast<unsigned>(varying) - kFirst);
  }
  constexpr absl::string_view kNames[] = {
      "header",       "position",      "clip distances 0 to 3", "clip distances 4 to 7",
      "primitive id", "front color 0", "back color 0",          "front color 1",
      "back color 1", "fog",           "point coordinate",      "padding"};
  static_assert(std::size(kNames) == kFirst);
  return std::string(kNames[static_cast<unsigned>(varying)]);
}

std::optional<unsigned> VertexLayout::SlotOf(Varying what) const {
  for (unsigned i = 0; i < count; ++i) {
    if (slots[i] == what) return i;
  }
  return std::nullopt;
}

absl::StatusOr<VertexLayout> MakeVertexLayout(absl::Span<const Varying> written,
                                              LocationPlacement placement) {
  std::bitset<kFirst + kMostLocations> set;
  for (const Varying what : written) {
    const size_t number = static_cast<size_t>(what);
    if (number >= set.size()) {
      return absl::OutOfRangeError(
          absl::StrCat(NameOf(what), " is written; there are ", kMostLocations, " locations"));
    }
    if (what == Varying::kPointCoordinate || what == Varying::kPadding) {
      return absl::InvalidArgumentError(
          absl::StrCat("the ", NameOf(what), " is written; a program cannot write it"));
    }
    if (set[number]) {
      return absl::InvalidArgumentError(absl::StrCat(NameOf(what), " is written twice"));
    }
    set[number] = true;
  }
  set[static_cast<size_t>(Varying::kHeader)] = true;
  set[static_cast<size_t>(Varying::kPosition)] = true;
  if (set[static_cast<size_t>(Varying::kClipDistances4to7)]) {
    set[static_cast<size_t>(Varying::kClipDistances0to3)] = true;
  }
  VertexLayout layout;
  size_t last = kFirst;
  for (size_t i = 0; i < set.size(); ++i) {
    if (set[i]) last = i;
  }
  for (size_t i = 0; i <= last; ++i) {
    const bool gap = i >= kFirst && placement == LocationPlacement::kByNumber;
    if (set[i]) {
      layout.slots[layout.count++] = static_cast<Varying>(i);
    } else if (gap && last > kFirst) {
      layout.slots[layout.count++] = Varying::kPadding;
    }
  }
  return layout;
}

absl::Status RepeatPosition(unsigned positions, VertexLayout& layout) {
  if (positions <= 1) return absl::OkStatus();
  const unsigned more = positions - 1;
  if (layout.count + more > kMostSlots) {
    return absl::OutOfRangeError(absl::StrCat("a vertex of ", layout.count, " slots with ",
                                              positions, " positions; it has at most ", kMostSlots,
                                              " slots"));
  }
  const unsigned position = *layout.SlotOf(Varying::kPosition);
  std::copy_backward(layout.slots.begin() + position, layout.slots.begin() + layout.count,
                     layout.slots.begin() + layout.count + more);
  std::fill_n(layout.slots.begin() + position, positions, Varying::kPosition);
  layout.count += more;
  return absl::OkStatus();
}

uint8_t BarycentricsOf(const FragmentInputs& inputs, bool per_sample) {
  constexpr uint32_t kModes[2][3] = {
      {kPerspectivePixel, kPerspectiveCentroid, kPerspectiveSample},
      {kLinearPixel, kLinearCentroid, kLinearSample},
  };
  uint32_t modes = 0;
  for (const FragmentInput& input : inputs.all()) {
    if (input.interpolation == Interpolation::kFlat) continue;
    const InterpolationPlace place = per_sample ? InterpolationPlace::kSample : input.place;
    modes |= kModes[input.interpolation == Interpolation::kLinear][static_cast<size_t>(place)];
  }
  return static_cast<uint8_t>(modes);
}

absl::StatusOr<AttributePlan> PlanAttributes(const VertexLayout& vertex,
                                             const FragmentInputs& inputs) {
  using Kind = AttributeSource::Kind;
  AttributePlan plan;
  plan.count = inputs.count;
  plan.sprite_origin_is_below = inputs.sprite_origin_is_below;
  unsigned lowest = vertex.count, end = 0;
  // Where the run must begin, for attributes that only take the slots of their own numbers.
  std::optional<unsigned> forced;
  for (unsigned i = 0; i < inputs.count; ++i) {
    const FragmentInput& input = inputs.inputs[i];
    AttributeSource& source = plan.sources[i];
    source = SourceOf(vertex, input, inputs.two_sided_colors);
    if (input.interpolation == Interpolation::kFlat) plan.flat |= uint32_t{1} << i;
    if (input.point_sprite || source.kind == Kind::kPoint) plan.sprites |= uint32_t{1} << i;
    if (source.kind == Kind::kPrimitiveId) {
      if (plan.primitive_id.has_value()) {
        return absl::InvalidArgumentError(
            absl::StrCat("the fragment shader reads the primitive id as inputs ",
                         *plan.primitive_id, " and ", i, "; the rasterizer makes one"));
      }
      plan.primitive_id = i;
      plan.flat |= uint32_t{1} << i;  // an integer
    }
    if (HasSlot(source)) {
      lowest = std::min<unsigned>(lowest, source.slot);
      end = std::max<unsigned>(end, source.slot + Reach(source));
    }
    if (i < kMostOverrides || source.kind == Kind::kPrimitiveId) continue;
    const std::string name = absl::StrCat("fragment input ", i, " (", NameOf(input.what), ")");
    if (source.kind == Kind::kConstant) {
      return absl::OutOfRangeError(
          absl::StrCat(name, " is not written, and only the first ", kMostOverrides,
                       " inputs can be constants: make it one of them, or write it"));
    }
    // It is a constant, which points replace: it has no slot that could be read otherwise.
    if (source.kind == Kind::kPoint) {
      return absl::OutOfRangeError(absl::StrCat(name, " has no slot; it must be one of the first ",
                                                kMostOverrides, " inputs"));
    }
    if (source.kind == Kind::kSlotByFacing) {
      return absl::OutOfRangeError(
          absl::StrCat(name, " has two sides; it must be one of the first ", kMostOverrides));
    }
    if (source.slot < i || (source.slot - i) % 2 != 0 ||
        (forced.has_value() && *forced != source.slot - i)) {
      return absl::OutOfRangeError(absl::StrCat(
          name, " is in slot ", source.slot, "; it must be in slot ",
          forced.has_value() ? absl::StrCat(*forced + i) : absl::StrCat("an even number + ", i),
          ", because only the first ", kMostOverrides,
          " inputs can be taken from any slot: order the inputs by their slots"));
    }
    forced = source.slot - i;
  }
  if (end == 0) {
    // Nothing is read. The hardware reads at least two slots: those after header and position.
    plan.first_slot = vertex.count > 2 ? 2 : 0;
  } else {
    plan.first_slot = forced.value_or(lowest / 2 * 2);
    if (plan.first_slot > lowest) {
      return absl::OutOfRangeError(
          absl::StrCat("the ", NameOf(vertex.slots[lowest]), " is in slot ", lowest,
                       ", before slot ", plan.first_slot,
                       " where fragment inputs from the 17th on make the setup back end begin"));
    }
    plan.slots = (end - plan.first_slot + 1) / 2 * 2;
    if (plan.slots > kMostRun) {
      return absl::OutOfRangeError(absl::StrCat("fragment inputs are in slots ", plan.first_slot,
                                                " to ", end - 1, " of a vertex; they must be in ",
                                                kMostRun, " successive slots"));
    }
  }
  for (unsigned i = 0; i < std::min(plan.count, kMostOverrides); ++i) {
    if (!plan.IsOwnSlot(i)) plan.overrides = true;
  }
  return plan;
}

}  // namespace packsmith::intel
