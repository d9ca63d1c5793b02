#include "runtime/agx/varyings.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace packsmith::agx {
namespace {

// Fields of 8 bits count output words, slots and registers.
constexpr unsigned kMostCounted = 255;

unsigned Sum(const std::array<uint8_t, kInterpolations>& counts) {
  return 0u + counts[0] + counts[1] + counts[2];
}

// Words, or registers, of the components from `first`.
unsigned Units(unsigned first, unsigned components, Precision precision) {
  if (precision == Precision::k32) return components;
  return (first + components + 1) / 2 - first / 2;
}

std::string Called(absl::string_view name, unsigned location) {
  if (name.empty()) return absl::StrCat("the varying at location ", location);
  return absl::StrFormat("varying \"%s\" (location %d)", name, location);
}

std::string Called(Precision precision) {
  return precision == Precision::k32 ? "32 bits" : "16 bits";
}

absl::string_view Called(Interpolation interpolation) {
  constexpr absl::string_view kNames[kInterpolations] = {"smooth", "flat", "linear"};
  return kNames[static_cast<size_t>(interpolation)];
}

// Whether a vertex shader that writes the input's location provides its value.
bool TakesVaryings(const Input* input) {
  return input != nullptr &&
         (input->source == Source::kVarying || input->source == Source::kPrimitiveId);
}

// A primitive's number is not interpolated.
Interpolation InterpolationOf(const Input& input) {
  return input.source == Source::kPrimitiveId ? Interpolation::kFlat : input.interpolation;
}

// Checks an input or output by itself.
template <class Varying>
absl::Status Check(const Varying& varying, unsigned first, absl::string_view what) {
  const auto name = [&] { return Called(varying.name, varying.location); };
  if (varying.location >= kLocations) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: %ss must have locations from 0 to %d", name(), what, kLocations - 1));
  }
  if (varying.components == 0 || first + varying.components > 4) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: components %d to %d, but an %s has components 0 to 3", name(), first,
                        static_cast<int>(first + varying.components) - 1, what));
  }
  return absl::OkStatus();
}

// The input of each location, or null.
using InputTable = std::array<const Input*, kLocations>;

absl::StatusOr<InputTable> Tabulate(const FragmentInputs& fragment) {
  InputTable table = {};
  for (const Input& input : fragment.inputs) {
    if (absl::Status status = Check(input, input.first, "input"); !status.ok()) return status;
    const auto name = [&] { return Called(input.name, input.location); };
    if (table[input.location] != nullptr) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s is listed twice: one entry covers all of its components, and all of them have the "
          "same interpolation",
          name()));
    }
    if (input.source == Source::kFragmentZ) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: Z is not an input with a location; set FragmentInputs::reads_z", name()));
    }
    if (input.source != Source::kVarying && input.precision != Precision::k32) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s is made by the hardware, and must have 32 bits", name()));
    }
    const unsigned most = input.source == Source::kPrimitiveId ? 1
                          : input.source == Source::kVarying   ? 4
                                                               : 2;
    if (input.first + input.components > most) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s has %d components at its source, but %d were requested", name(), most,
                          input.first + input.components));
    }
    table[input.location] = &input;
  }
  return table;
}

}  // namespace

// -- OutputShape ---------------------------------------------------------------------------------

unsigned OutputShape::varying_words(Precision precision) const {
  return Sum(precision == Precision::k32 ? words32 : words16);
}

unsigned OutputShape::words() const {
  return kPositionWords + varying_words() + point_size + layer_viewport + clip_distances;
}

namespace {

// Calls visit(group, words in it) for each group, in the order of the hardware.
template <class F>
void EachGroup(const OutputShape& shape, const F& visit) {
  visit(OutputWord{.kind = OutputWord::Kind::kPosition}, kPositionWords);
  for (const Precision precision : {Precision::k32, Precision::k16}) {
    const auto& counts = precision == Precision::k32 ? shape.words32 : shape.words16;
    for (int i = 0; i < kInterpolations; ++i) {
      visit(OutputWord{.kind = OutputWord::Kind::kVarying,
                       .precision = precision,
                       .interpolation = static_cast<Interpolation>(i)},
            unsigned{counts[static_cast<size_t>(i)]});
    }
  }
  visit(OutputWord{.kind = OutputWord::Kind::kPointSize}, unsigned{shape.point_size});
  visit(OutputWord{.kind = OutputWord::Kind::kLayerViewport}, unsigned{shape.layer_viewport});
  visit(OutputWord{.kind = OutputWord::Kind::kClipDistance}, unsigned{shape.clip_distances});
}

}  // namespace

std::optional<OutputWord> OutputShape::At(unsigned word) const {
  std::optional<OutputWord> found;
  unsigned begin = 0;
  EachGroup(*this, [&](OutputWord group, unsigned count) {
    if (word >= begin && word - begin < count) {
      group.index = word - begin;
      found = group;
    }
    begin += count;
  });
  return found;
}

std::optional<unsigned> OutputShape::WordOf(const OutputWord& what) const {
  std::optional<unsigned> found;
  unsigned begin = 0;
  EachGroup(*this, [&](OutputWord group, unsigned count) {
    group.index = what.index;
    if (group == what && what.index < count) found = begin + what.index;
    begin += count;
  });
  return found;
}

std::optional<unsigned> OutputShape::SlotOf(unsigned word) const {
  if (word < kPositionWords || word - kPositionWords >= varying_words()) return std::nullopt;
  return 1 + z + word - kPositionWords;
}

std::optional<unsigned> OutputShape::WordInSlot(unsigned slot) const {
  if (slot < 1u + z || slot >= slots()) return std::nullopt;
  return slot - 1 - z + kPositionWords;
}

// -- OutputLayout --------------------------------------------------------------------------------

absl::StatusOr<OutputLayout> OutputLayout::Of(const VertexOutputs& vertex,
                                              const FragmentInputs& fragment, bool drop_unread) {
  const absl::StatusOr<InputTable> inputs = Tabulate(fragment);
  if (!inputs.ok()) return inputs.status();
  if (vertex.clip_distances > kMostClipDistances) {
    return absl::InvalidArgumentError(absl::StrFormat("%d clip distances, but there are at most %d",
                                                      vertex.clip_distances, kMostClipDistances));
  }
  std::array<const Output*, kLocations> outputs = {};
  for (const Output& output : vertex.varyings) {
    if (absl::Status status = Check(output, 0, "output"); !status.ok()) return status;
    const auto name = [&] { return Called(output.name, output.location); };
    if (outputs[output.location] != nullptr) {
      return absl::InvalidArgumentError(absl::StrFormat("%s is listed twice", name()));
    }
    const Input* const input = (*inputs)[output.location];
    const bool read = TakesVaryings(input);
    if (read && input->precision != output.precision) {
      return absl::InvalidArgumentError(absl::StrFormat("%s is written with %s, but read with %s",
                                                        name(), Called(output.precision),
                                                        Called(input->precision)));
    }
    if (read || !drop_unread) outputs[output.location] = &output;
  }

  OutputLayout layout;
  OutputShape& shape = layout.shape_;
  shape.point_size = vertex.point_size;
  shape.layer_viewport = vertex.layer_viewport;
  shape.clip_distances = static_cast<uint8_t>(vertex.clip_distances);
  shape.z = fragment.reads_z;
  const unsigned others = vertex.point_size + vertex.layer_viewport + vertex.clip_distances;
  unsigned word = kPositionWords;
  for (const Precision precision : {Precision::k32, Precision::k16}) {
    auto& counts = precision == Precision::k32 ? shape.words32 : shape.words16;
    for (size_t i = 0; i < kInterpolations; ++i) {
      for (const Output* const output : outputs) {
        if (output == nullptr || output->precision != precision) continue;
        const Input* const input = (*inputs)[output->location];
        const Interpolation as =
            TakesVaryings(input) ? InterpolationOf(*input) : Interpolation::kSmooth;
        if (as != static_cast<Interpolation>(i)) continue;
        const unsigned count = Units(0, output->components, precision);
        // There are at most two more slots than varyings, but without the position.
        if (word + count + others > kMostCounted) {
          return absl::InvalidArgumentError(absl::StrFormat(
              "no room for %s: the outputs of a vertex shader have at most %d words, and %d are "
              "taken",
              Called(output->name, output->location), kMostCounted, word + others));
        }
        layout.places_[output->location] = {static_cast<uint8_t>(word), output->components,
                                            precision};
        counts[i] = static_cast<uint8_t>(counts[i] + count);
        word += count;
      }
    }
  }
  return layout;
}

std::optional<OutputPlace> OutputLayout::Find(unsigned location, unsigned component) const {
  if (location >= kLocations || component >= places_[location].components) return std::nullopt;
  const Place& place = places_[location];
  if (place.precision == Precision::k32) {
    return OutputPlace{static_cast<uint8_t>(place.word + component), place.precision, 0};
  }
  return OutputPlace{static_cast<uint8_t>(place.word + component / 2), place.precision,
                     static_cast<uint8_t>(component % 2)};
}

std::optional<OutputComponent> OutputLayout::At(unsigned word) const {
  for (unsigned location = 0; location < kLocations; ++location) {
    const Place& place = places_[location];
    if (word < place.word) continue;
    const unsigned unit = word - place.word;
    if (unit < Units(0, place.components, place.precision)) {
      const unsigned each = place.precision == Precision::k32 ? 1 : 2;
      return OutputComponent{static_cast<uint8_t>(location), static_cast<uint8_t>(unit * each)};
    }
  }
  return std::nullopt;
}

std::array<uint16_t, kLocations> OutputLayout::WordTable() const {
  std::array<uint16_t, kLocations> table;
  for (unsigned location = 0; location < kLocations; ++location) {
    const Place& place = places_[location];
    table[location] = place.components == 0 ? kNotWritten : place.word;
  }
  return table;
}

// -- CoefficientLayout ---------------------------------------------------------------------------

unsigned CoefficientLayout::RegistersOf(const Place& place) {
  return place.components == 0 ? 0 : Units(place.first, place.components, place.precision);
}

absl::StatusOr<CoefficientLayout> CoefficientLayout::Of(const FragmentInputs& fragment) {
  const absl::StatusOr<InputTable> inputs = Tabulate(fragment);
  if (!inputs.ok()) return inputs.status();
  CoefficientLayout layout;
  layout.reads_z_ = fragment.reads_z;
  unsigned next = 1u + fragment.reads_z;
  for (const Input* const input : *inputs) {
    if (input == nullptr) continue;
    Place& place = layout.places_[input->location];
    place = {static_cast<uint8_t>(next), input->first, input->components, input->precision,
             input->source};
    const unsigned count = RegistersOf(place);
    if (next + count > kMostCounted) {
      return absl::InvalidArgumentError(
          absl::StrFormat("no room for %s: there are %d coefficient registers, and %d are taken",
                          Called(input->name, input->location), kMostCounted, next));
    }
    next += count;
  }
  layout.registers_ = next;
  return layout;
}

std::optional<unsigned> CoefficientLayout::z() const {
  if (!reads_z_) return std::nullopt;
  return kW + 1;
}

std::optional<unsigned> CoefficientLayout::Find(unsigned location, unsigned component) const {
  if (location >= kLocations) return std::nullopt;
  const Place& place = places_[location];
  if (component < place.first || component >= place.first + place.components) return std::nullopt;
  if (place.precision == Precision::k32) return place.base + component - place.first;
  return place.base + component / 2 - place.first / 2;
}

std::optional<RegisterUse> CoefficientLayout::At(unsigned reg) const {
  if (reg == kW) return RegisterUse{.w = true};
  if (z() && reg == *z()) return RegisterUse{.source = Source::kFragmentZ};
  for (unsigned location = 0; location < kLocations; ++location) {
    const Place& place = places_[location];
    if (reg < place.base || reg - place.base >= RegistersOf(place)) continue;
    const unsigned unit = reg - place.base;
    const unsigned component =
        place.precision == Precision::k32 ? place.first + unit : (place.first / 2 + unit) * 2;
    return RegisterUse{place.source, false, static_cast<uint8_t>(location),
                       static_cast<uint8_t>(component)};
  }
  return std::nullopt;
}

// -- Linking -------------------------------------------------------------------------------------

bool Linkage::Bind(const Binding& binding) {
  if (count_ == bindings_.size()) return false;
  bindings_[count_++] = binding;
  return true;
}

absl::StatusOr<Linkage> Link(const OutputLayout& outputs, const FragmentInputs& fragment,
                             const CoefficientLayout& coefficients, const LinkOptions& options) {
  const absl::StatusOr<InputTable> inputs = Tabulate(fragment);
  if (!inputs.ok()) return inputs.status();
  if (options.provoking_vertex > 2) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the provoking vertex is %d, but a primitive has vertices 0 to 2",
                        options.provoking_vertex));
  }
  if (fragment.reads_z != coefficients.reads_z()) {
    return absl::InvalidArgumentError(
        "either the fragment shader's inputs or its coefficient registers have Z, but not both: "
        "the "
        "registers were laid out for other inputs");
  }
  constexpr Shade kFlat[] = {Shade::kFlatVertex0, Shade::kFlatVertex1, Shade::kFlatVertex2};
  Linkage linkage;
  linkage.shape_ = outputs.shape();
  linkage.shape_.z = fragment.reads_z;
  linkage.registers_ = coefficients.registers();
  linkage.provoking_vertex_ = options.provoking_vertex;
  linkage.Bind({.shade = Shade::kLinear, .base_register = CoefficientLayout::kW});
  if (fragment.reads_z) {
    linkage.Bind({.source = Source::kFragmentZ,
                  .shade = Shade::kLinear,
                  .base_slot = 1,
                  .base_register = static_cast<uint8_t>(*coefficients.z())});
  }
  for (const Input* const input : *inputs) {
    if (input == nullptr) continue;
    const auto name = [&] { return Called(input->name, input->location); };
    const CoefficientLayout::Place& place = coefficients.places_[input->location];
    if (place.components != input->components || place.first != input->first ||
        place.precision != input->precision) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: the coefficient registers were laid out for other inputs", name()));
    }
    const Interpolation as = InterpolationOf(*input);
    const bool fed = TakesVaryings(input) && outputs.ComponentsOf(input->location) != 0;
    const Source source = fed ? Source::kVarying : input->source;
    linkage.primitive_id_ |= source == Source::kPrimitiveId;
    linkage.barycentrics_ |= source == Source::kBarycentric;
    Binding binding{
        .source = source,
        .shade = as == Interpolation::kFlat     ? kFlat[options.provoking_vertex]
                 : as == Interpolation::kLinear ? Shade::kLinear
                                                : Shade::kPerspective,
        .base_register = place.base,
    };
    const unsigned registers = CoefficientLayout::RegistersOf(place);
    unsigned bound = registers;  // those that have a slot
    if (source == Source::kVarying) {
      const std::optional<OutputPlace> at = outputs.Find(input->location, input->first);
      const unsigned written = outputs.ComponentsOf(input->location);
      const unsigned end = input->first + unsigned{input->components};
      if (at && at->precision != input->precision) {
        return absl::InvalidArgumentError(absl::StrFormat("%s is written with %s, but read with %s",
                                                          name(), Called(at->precision),
                                                          Called(input->precision)));
      }
      if (at) {
        const Interpolation laid_out = linkage.shape_.At(at->word)->interpolation;
        if (laid_out != as) {
          return absl::InvalidArgumentError(absl::StrFormat(
              "%s is read %s, but is among the outputs that are %s: they were laid out for other "
              "inputs",
              name(), Called(as), Called(laid_out)));
        }
      }
      if (written < end && !options.allow_unwritten) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "%s: component %d is read, but the vertex shader writes %d of its components", name(),
            end - 1, written));
      }
      bound = at ? Units(input->first, std::min(written, end) - input->first, input->precision) : 0;
      if (at) binding.base_slot = static_cast<uint8_t>(*linkage.shape_.SlotOf(at->word));
    }
    bool good = true;
    if (bound != 0) {
      binding.components = static_cast<uint8_t>(bound);
      good = linkage.Bind(binding);
    }
    // Components that are not written read W.
    binding = {.shade = Shade::kLinear};
    for (unsigned i = bound; i < registers; ++i) {
      binding.base_register = static_cast<uint8_t>(place.base + i);
      good = good && linkage.Bind(binding);
    }
    if (!good) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "no binding left for %s: a fragment shader has at most %d", name(), kMostBindings));
    }
  }
  return linkage;
}

absl::StatusOr<Linkage> Link(const VertexOutputs& vertex, const FragmentInputs& fragment,
                             const LinkOptions& options) {
  const absl::StatusOr<OutputLayout> outputs = OutputLayout::Of(vertex, fragment);
  if (!outputs.ok()) return outputs.status();
  const absl::StatusOr<CoefficientLayout> coefficients = CoefficientLayout::Of(fragment);
  if (!coefficients.ok()) return coefficients.status();
  return Link(*outputs, fragment, *coefficients, options);
}

std::optional<BoundRegister> FindRegister(absl::Span<const Binding> bindings, unsigned reg) {
  for (const Binding& binding : bindings) {
    if (reg < binding.base_register || reg - binding.base_register >= binding.components) continue;
    const unsigned component = reg - binding.base_register;
    return BoundRegister{binding, component, binding.base_slot + component};
  }
  return std::nullopt;
}

std::optional<unsigned> FindSlot(absl::Span<const Binding> bindings, unsigned slot) {
  for (const Binding& binding : bindings) {
    if (binding.source != Source::kVarying && binding.source != Source::kFragmentZ) continue;
    if (slot < binding.base_slot || slot - binding.base_slot >= binding.components) continue;
    return binding.base_register + slot - binding.base_slot;
  }
  return std::nullopt;
}

}  // namespace packsmith::agx
