#include "runtime/sim/vertices/draw_state.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::sim {
namespace {

using decode::FieldAt;
using decode::Scope;
using tables::kNone;
using tables::Meaning;

// Packets to which expressions refer are short; of longer ones the rest is not kept.
constexpr size_t kMostKept = 1024;

bool IsOfDraws(Meaning meaning) {
  switch (meaning) {
    case Meaning::kTopology:
    case Meaning::kComponentControl:
    case Meaning::kEdgeFlag:
    case Meaning::kElementDestination:
    case Meaning::kComponentPacking:
    case Meaning::kComponentEnables:
    case Meaning::kGenerated:
    case Meaning::kGeneratedElement:
    case Meaning::kGeneratedComponent:
    case Meaning::kGeneratedSource:
    case Meaning::kDrawParameter:
    case Meaning::kCutSequential:
    case Meaning::kVertexIdOffset:
    case Meaning::kProvokingLines:
    case Meaning::kProvokingTriangles:
    case Meaning::kProvokingFans:
    case Meaning::kStripOrder:
    case Meaning::kAddressModify:
      return true;
    default:
      return false;
  }
}

// Leaves that may matter; which data they are of, VertexState looks up.
bool MayMatter(const tables::Tables& tables, const tables::Leaf& leaf) {
  if (leaf.extra == kNone) return false;
  const tables::Extra& extra = tables.extra(leaf.extra);
  return extra.pointer != kNone || extra.element != kNone || IsOfDraws(extra.meaning);
}

struct NamedSource {
  absl::string_view name;
  ComponentSource source;
};

// What a parameter's element can have instead of the parameter.
constexpr NamedSource kLocations[] = {
    {"VERTEX_LOCATION", ComponentSource::kVertexLocation},
    {"Starting Instance Location", ComponentSource::kStartInstance},
};

// In the order in which descriptions number them.
constexpr ComponentSource kGeneratedSources[] = {
    ComponentSource::kVertexId, ComponentSource::kInstanceId, ComponentSource::kParameter0,
    ComponentSource::kParameter1, ComponentSource::kParameter2};

}  // namespace

VertexDescription::VertexDescription(const tables::Tables& tables)
    : tables_(tables),
      kinds_(tables.data_kinds().size(), Kind::kOther),
      uses_(tables.containers().size()),
      chosen_(tables_, MayMatter) {
  const auto keep = [this](uint32_t expression) {
    if (expression == kNone) return;
    const tables::Expression& e = tables_.expression(expression);
    if (e.kind != tables::ExpressionKind::kState) return;
    uses_[e.container].kept = uses_[e.container].changes = true;
  };
  for (const tables::Draw& draw : tables_.draws()) {
    kinds_[draw.data] = Kind::kVertices;
    if (draw.indices != kNone) kinds_[draw.indices] = Kind::kIndices;
    for (const uint32_t expression : {draw.first, draw.count, draw.first_instance, draw.instances,
                                      draw.bias, draw.cuts, draw.cut}) {
      keep(expression);
    }
  }
  for (const tables::Container& container : tables_.containers()) {
    Use& use = uses_[tables_.IndexOf(container)];
    for (const tables::Range leaves : {container.leaves, container.tail_leaves}) {
      for (const tables::Leaf& leaf : tables_.leaves(leaves)) {
        if (!Matters(leaf)) continue;
        use.changes = true;
        const uint32_t element = tables_.extra(leaf.extra).element;
        if (element != kNone && tables_.element(element).kind == tables::ElementKind::kFormat) {
          use.describes_elements = true;
        }
      }
    }
  }
}

bool VertexDescription::Matters(const tables::Leaf& leaf) const {
  if (leaf.extra == kNone) return false;
  const tables::Extra& extra = tables_.extra(leaf.extra);
  if (IsOfDraws(extra.meaning)) return true;
  if (extra.element != kNone && IsVertices(tables_.element(extra.element).data)) return true;
  if (extra.pointer == kNone) return false;
  const tables::Pointer& pointer = tables_.pointer(extra.pointer);
  return pointer.target_kind == tables::TargetKind::kData &&
         (IsVertices(pointer.target) || IsIndices(pointer.target));
}

std::optional<uint64_t> VertexState::Evaluate(uint32_t expression, const Scope& scope) const {
  if (expression == kNone) return std::nullopt;
  const tables::Tables& tables = description_->tables_;
  return decode::Evaluate(
      tables.expression(expression), [&](uint32_t leaf) { return scope.Number(leaf); },
      [&](uint32_t container, uint32_t leaf) -> std::optional<uint64_t> {
        const auto kept = kept_.find(container);
        if (kept == kept_.end()) return std::nullopt;
        return Scope(tables, tables.container(container), kept->second).Number(leaf);
      });
}

void VertexState::See(const tables::Container& container, absl::Span<const uint8_t> bytes,
                      uint32_t space) {
  const tables::Tables& tables = description_->tables_;
  const VertexDescription::Use& use = description_->uses_[tables.IndexOf(container)];
  if (!use.changes) return;
  if (use.kept) {
    const absl::Span<const uint8_t> kept = bytes.subspan(0, kMostKept);
    kept_[tables.IndexOf(container)].assign(kept.begin(), kept.end());
  }
  if (use.describes_elements) elements_.clear();
  // The item whose buffer keeps its address: the field that says so comes before the address.
  std::optional<uint64_t> keeping;
  const decode::PlacedParts parts = decode::PlaceParts(tables, container, bytes);
  decode::ForEachField(tables, description_->chosen_, {container, bytes, parts},
                       [&](const FieldAt& at) {
                         if (at.cut || at.width > 64) return;
                         const tables::Extra& extra = tables.extra(at.leaf->extra);
                         const Scope scope(tables, at, bytes);
                         const uint64_t raw = decode::ReadBits(bytes, at.bit, at.width);
                         if (extra.meaning == Meaning::kAddressModify && raw == 0)
                           keeping = at.base;
                         if (extra.pointer != kNone)
                           SeePointer(extra, at, scope, raw, space, keeping == at.base);
                         if (extra.element != kNone)
                           SeeElement(tables.element(extra.element), at, scope, raw);
                         if (extra.meaning != Meaning::kNone) SeeMeaning(extra, at, raw);
                       });
}

void VertexState::SeePointer(const tables::Extra& extra, const FieldAt& at, const Scope& scope,
                             uint64_t raw, uint32_t space, bool keeps) {
  const tables::Tables& tables = description_->tables_;
  const tables::Pointer& any = tables.pointer(extra.pointer);
  if (any.target_kind != tables::TargetKind::kData) return;
  const bool is_vertices = description_->IsVertices(any.target);
  if (!is_vertices && !description_->IsIndices(any.target)) return;
  const tables::Pointer* pointer = nullptr;
  for (uint32_t i = extra.pointer; i != kNone && pointer == nullptr; i = tables.pointer(i).next) {
    if (scope.Holds(tables.pointer(i).when)) pointer = &tables.pointer(i);
  }
  const tables::Pointer& that = pointer != nullptr ? *pointer : any;
  if (pointer != nullptr) space = decode::SpaceOf(*pointer, scope, space);
  const uint64_t mask = tables.address_mask();
  const uint64_t address =
      decode::MaskAddress(decode::NumberOfBits(tables, *at.leaf, at.width, raw), mask);
  const uint64_t stride = Evaluate(that.stride, scope).value_or(0);
  uint64_t size = Evaluate(that.size, scope).value_or(0);
  std::optional<uint32_t> last_row;
  if (that.end != kNone) {
    const uint64_t last = decode::MaskAddress(Evaluate(that.end, scope).value_or(0), mask);
    size = last < address ? 0 : last - address + 1;
  } else if (that.unlimited_when != kNone && scope.Holds(that.unlimited_when)) {
    size = ~uint64_t{0};
  } else if (that.size == kNone && that.count != kNone) {
    const uint64_t count = Evaluate(that.count, scope).value_or(0);
    size = count == 0 ? 0 : ~uint64_t{0};
    if (count != 0) last_row = static_cast<uint32_t>(std::min<uint64_t>(count - 1, 0xffffffff));
  }
  if (!is_vertices) {
    indices_ = {.space = space,
                .address = address,
                .size = pointer == nullptr ? 0 : size,
                .index_bytes = 4};
    uint32_t format = tables.data(that.target).format;
    if (that.format != kNone) {
      const tables::Expression& e = tables.expression(that.format);
      const std::optional<uint64_t> value = Evaluate(that.format, scope);
      const tables::NamedValue* named = value && e.kind != tables::ExpressionKind::kConstant
                                            ? tables.FindValue(tables.leaf(e.leaf), *value)
                                            : nullptr;
      format = named != nullptr ? named->format : kNone;
    }
    // A format that does not exist has a size that no index has.
    indices_.index_bytes = format == kNone ? 0 : tables.format(format).bits / 8;
    return;
  }
  const uint64_t slot = Evaluate(that.slot, scope).value_or(0);
  if (slot >= kMostVertexBuffers) return;
  if (buffers_.size() <= slot) buffers_.resize(slot + 1);
  VertexBuffer& buffer = buffers_[slot];
  const VertexBuffer before = buffer;
  buffer = {.space = space,
            .address = address,
            .size = size,
            .pitch = static_cast<uint32_t>(stride),
            .null = pointer == nullptr,
            .last_row = last_row};
  if (keeps) {
    buffer.space = before.space;
    buffer.address = before.address;
    buffer.size = before.size;
    buffer.last_row = before.last_row;
  }
  if (that.step != kNone) {
    buffer.step = static_cast<uint32_t>(Evaluate(that.step, scope).value_or(0));
  }
}

VertexState::Element* VertexState::ElementOf(const FieldAt& at) {
  const uint64_t number = at.in_tail ? static_cast<uint64_t>(at.name.index) : 0;
  if (number >= kMostVertexElements) return nullptr;
  if (elements_.size() <= number) elements_.resize(number + 1);
  return &elements_[number];
}

void VertexState::SeeElement(const tables::Element& element, const FieldAt& at, const Scope& scope,
                             uint64_t raw) {
  if (!description_->IsVertices(element.data)) return;
  const tables::Tables& tables = description_->tables_;
  const bool holds = scope.Holds(element.when);
  if (element.kind == tables::ElementKind::kStep) {
    const uint64_t number = Evaluate(element.number, scope).value_or(0);
    if (number >= kMostVertexElements) return;
    steps_[number].reset();
    if (holds) steps_[number] = static_cast<uint32_t>(raw);
    return;
  }
  Element* one = ElementOf(at);
  if (one == nullptr) return;
  one->valid = holds;
  one->raw_format = raw;
  one->is.buffer = static_cast<uint32_t>(Evaluate(element.slot, scope).value_or(0));
  one->is.offset = static_cast<uint32_t>(Evaluate(element.offset, scope).value_or(0));
  const tables::NamedValue* named = tables.FindValue(*at.leaf, raw);
  if (!holds || named == nullptr || named->format == kNone) return;
  const absl::StatusOr<VertexFormat> format =
      MakeVertexFormat(tables, tables.format(named->format));
  one->has_format = format.ok();
  if (!format.ok()) return;
  one->is.format = *format;
  one->is.format_name = tables.string(named->name);
}

void VertexState::SeeMeaning(const tables::Extra& extra, const FieldAt& at, uint64_t raw) {
  const tables::Tables& tables = description_->tables_;
  const uint32_t which = extra.meaning_at;
  const auto name = [&] { return tables.ValueName(*at.leaf, raw); };
  const auto value = [&] {
    return static_cast<uint32_t>(decode::NumberOfBits(tables, *at.leaf, at.width, raw));
  };
  Generated* generated = which < kGenerated ? &generated_[which] : nullptr;
  switch (extra.meaning) {
    case Meaning::kTopology:
      topology_ = std::string(name());
      break;
    case Meaning::kComponentControl:
      if (Element* one = ElementOf(at); one != nullptr && which < 4) {
        one->is.components[which] =
            FindComponentControl(name()).value_or(ComponentSource::kNothing);
      }
      break;
    case Meaning::kEdgeFlag:
      if (Element* one = ElementOf(at)) one->is.edge_flag = raw != 0;
      break;
    case Meaning::kElementDestination:
      if (Element* one = ElementOf(at)) one->is.destination = value();
      break;
    case Meaning::kComponentPacking:
      packed_ = raw != 0;
      break;
    case Meaning::kComponentEnables:
      if (which < kMostVertexElements) enables_[which] = static_cast<uint8_t>(raw);
      break;
    case Meaning::kGenerated:
      if (generated != nullptr) generated->enabled = raw != 0;
      break;
    case Meaning::kGeneratedElement:
      if (generated != nullptr) generated->element = value();
      break;
    case Meaning::kGeneratedComponent:
      if (generated != nullptr) generated->component = value();
      break;
    case Meaning::kGeneratedSource:
      if (generated == nullptr) break;
      generated->source = ComponentSource::kNothing;
      for (const NamedSource& one : kLocations) {
        if (one.name == name()) generated->source = one.source;
      }
      break;
    case Meaning::kDrawParameter:
      if (which < parameters_.size()) parameters_[which] = value();
      break;
    case Meaning::kCutSequential:
      cut_sequential_ = raw != 0;
      break;
    case Meaning::kVertexIdOffset:
      vertex_id_offset_ = raw != 0;
      break;
    case Meaning::kProvokingLines:
      assembly_.provoking.lines = static_cast<uint8_t>(raw);
      break;
    case Meaning::kProvokingTriangles:
      assembly_.provoking.triangles = static_cast<uint8_t>(raw);
      break;
    case Meaning::kProvokingFans:
      assembly_.provoking.fans = static_cast<uint8_t>(raw);
      break;
    case Meaning::kStripOrder:
      assembly_.order = name() == "TRAILING" ? StripOrder::kTrailing : StripOrder::kLeading;
      break;
    default:
      break;
  }
}

absl::StatusOr<VertexDraw> VertexState::Draw(const tables::Container& container,
                                             absl::Span<const uint8_t> bytes,
                                             const DrawParameters& parameters, uint32_t space) {
  const tables::Tables& tables = description_->tables_;
  See(container, bytes, space);
  const Scope scope(tables, container, bytes);
  const tables::Draw* says = container.draw == kNone ? nullptr : &tables.draw(container.draw);
  const bool known = says != nullptr && scope.Holds(says->when);
  const auto number = [&](const std::optional<uint32_t>& given, uint32_t expression,
                          uint32_t otherwise) {
    if (given) return *given;
    if (!known) return otherwise;
    return static_cast<uint32_t>(Evaluate(expression, scope).value_or(otherwise));
  };
  const absl::string_view name = tables.string(container.name);
  if (!parameters.vertex_count && (!known || says->count == kNone)) {
    return absl::FailedPreconditionError(absl::StrCat(
        name, " does not have the number of its vertices; it is in registers or in memory"));
  }
  VertexDraw draw;
  draw.address_mask = tables.address_mask();
  draw.vertex_count = number(parameters.vertex_count, known ? says->count : kNone, 0);
  draw.start_vertex = number(parameters.start_vertex, known ? says->first : kNone, 0);
  draw.instance_count = number(parameters.instance_count, known ? says->instances : kNone, 1);
  draw.start_instance = number(parameters.start_instance, known ? says->first_instance : kNone, 0);
  draw.base_vertex = static_cast<int32_t>(
      number(parameters.base_vertex
                 ? std::optional<uint32_t>(static_cast<uint32_t>(*parameters.base_vertex))
                 : std::nullopt,
             known ? says->bias : kNone, 0));
  for (size_t i = 0; i < parameters_.size(); ++i) {
    draw.parameters[i] = parameters.parameters[i].value_or(parameters_[i]);
  }
  // The next draw need not have any.
  parameters_ = {};
  draw.indexed = parameters.indexed.value_or(says != nullptr && says->indices != kNone &&
                                             scope.Holds(says->indexed));
  draw.indices = indices_;
  // A packet without <draws> of its own is cut as the others are.
  for (size_t i = tables.draws().size(); says == nullptr && i != 0; --i) {
    if (tables.draws()[i - 1].cuts != kNone) says = &tables.draws()[i - 1];
  }
  if (says != nullptr) {
    const bool cuts = Evaluate(says->cuts, scope).value_or(0) != 0;
    draw.cut_sequential = cut_sequential_;
    if (draw.indexed ? cuts : cut_sequential_) {
      const uint32_t bits = std::min<uint32_t>(indices_.index_bytes, 4) * 8;
      const uint32_t ones = bits == 0 ? 0 : 0xffffffffu >> (32 - bits);
      draw.cut =
          static_cast<uint32_t>(says->cut == kNone ? ones : Evaluate(says->cut, scope).value_or(0));
    }
  }
  draw.vertex_id_offset = vertex_id_offset_;
  draw.buffers = buffers_;
  for (size_t i = 0; i < elements_.size() && elements_[i].valid; ++i) {
    const Element& one = elements_[i];
    VertexElement& element = draw.elements.emplace_back(one.is);
    const bool reads =
        element.edge_flag || std::find(element.components.begin(), element.components.end(),
                                       ComponentSource::kData) != element.components.end();
    if (reads && !one.has_format) {
      return absl::InvalidArgumentError(absl::StrCat("vertex element ", i, " of ", name,
                                                     " has format ", one.raw_format,
                                                     ", which vertices cannot have"));
    }
    element.step = steps_[i];
    element.enables = packed_ ? enables_[i] : 0xf;
  }
  for (uint32_t i = 0; i < kGenerated; ++i) {
    const Generated& one = generated_[i];
    if (!one.enabled) continue;
    const bool other = one.source != ComponentSource::kNothing;
    draw.placements.push_back(
        {other ? one.source : kGeneratedSources[i], one.element, one.component});
  }
  const std::optional<Topology> topology = FindTopology(topology_);
  if (!topology) {
    return absl::FailedPreconditionError(
        topology_.empty() ? absl::StrCat(name, ": no packet has set a topology that is known")
                          : absl::StrCat(name, ": topology ", topology_, " is not known"));
  }
  draw.topology = *topology;
  draw.assembly = assembly_;
  return draw;
}

}  // namespace packsmith::sim
