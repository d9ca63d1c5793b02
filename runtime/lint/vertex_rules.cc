#include "runtime/lint/vertex_rules.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::lint {
namespace {

using decode::FieldAt;
using decode::Record;
using decode::Scope;

// No hardware has more slots or elements.
constexpr uint64_t kMostSlots = 256;

bool Describes(const tables::Tables& tables, const tables::Leaf& leaf) {
  if (leaf.extra == tables::kNone) return false;
  const tables::Extra& extra = tables.extra(leaf.extra);
  return extra.pointer != tables::kNone || extra.element != tables::kNone;
}

// a * b + c, or 2^64 - 1 if it is larger.
uint64_t Extent(uint64_t a, uint64_t b, uint64_t c) {
  if (b != 0 && a > ~uint64_t{0} / b) return ~uint64_t{0};
  return decode::AddSaturated(a * b, c);
}

}  // namespace

VertexRules::VertexRules(const tables::Tables& tables, const Evaluator& evaluator, Alarms& alarms)
    : tables_(tables),
      evaluator_(evaluator),
      alarms_(alarms),
      describing_(tables, Describes),
      drawn_(tables.data_kinds().size()) {
  for (const tables::Draw& draw : tables.draws()) {
    drawn_[draw.data] = true;
    if (draw.indices != tables::kNone) drawn_[draw.indices] = true;
  }
}

void VertexRules::OnPacket(const Record& record, absl::Span<const KeptLead> leads,
                           const Place& place, const Context& context, VertexState& state) {
  uint32_t described = tables::kNone;
  decode::ForEachField(tables_, describing_, record.view(), [&](const FieldAt& at) {
    if (at.cut || at.width > 64) return;
    const tables::Extra& extra = tables_.extra(at.leaf->extra);
    if (extra.pointer != tables::kNone) SetSlot(at, record, leads, context, state);
    if (extra.element == tables::kNone) return;
    const tables::Element& element = tables_.element(extra.element);
    if (!drawn_[element.data]) return;
    state.changed = true;
    const Scope scope(tables_, at, record.bytes);
    const uint64_t raw = decode::ReadBits(record.bytes, at.bit, at.width);
    const bool holds = scope.Holds(element.when);
    if (element.kind == tables::ElementKind::kStep) {
      const auto number = evaluator_.Evaluate(element.number, scope, context);
      if (!number || *number >= kMostSlots) return;
      if (holds) {
        state.steps[{element.data, *number}] = raw;
      } else {
        state.steps.erase({element.data, *number});
      }
      return;
    }
    std::vector<VertexState::Element>& all = state.elements[element.data];
    // Those of a packet replace those of the last one, unless each has a packet of its own.
    if (element.number == tables::kNone && described != element.data) all.clear();
    described = element.data;
    if (all.size() >= kMostSlots) return;
    const tables::NamedValue* const named = tables_.FindValue(*at.leaf, raw);
    VertexState::Element one;
    one.number = evaluator_.Evaluate(element.number, scope, context).value_or(all.size());
    if (holds && named != nullptr && named->format != tables::kNone) {
      one.bytes = tables_.format(named->format).bits / 8;
    }
    one.place = place;
    one.field = PlaceOf(at);
    one.slot = evaluator_.Evaluate(element.slot, scope, context).value_or(0);
    one.offset = evaluator_.Evaluate(element.offset, scope, context).value_or(0);
    const auto old = std::find_if(all.begin(), all.end(), [&](const VertexState::Element& other) {
      return element.number != tables::kNone && other.number == one.number;
    });
    if (old != all.end()) {
      *old = one;
    } else {
      all.push_back(one);
    }
  });
  if (record.container->draw != tables::kNone) CheckDraw(record, place, context, state);
}

void VertexRules::SetSlot(const FieldAt& at, const Record& record, absl::Span<const KeptLead> leads,
                          const Context& context, VertexState& state) {
  const Scope scope(tables_, at, record.bytes);
  const auto lead = std::find_if(leads.begin(), leads.end(), [&](const KeptLead& one) {
    return one.at.leaf == at.leaf && one.at.bit == at.bit;
  });
  const tables::Pointer& pointer =
      lead != leads.end() ? *lead->pointer : tables_.pointer(tables_.extra(at.leaf->extra).pointer);
  if (pointer.target_kind != tables::TargetKind::kData || !drawn_[pointer.target]) return;
  const uint64_t number = evaluator_.Evaluate(pointer.slot, scope, context).value_or(0);
  if (number >= kMostSlots) return;
  state.changed = true;
  VertexState::Slot& slot = state.slots[{pointer.target, number}];
  slot = {};
  if (lead == leads.end()) return;
  slot.is_used = true;
  const bool unlimited =
      pointer.unlimited_when != tables::kNone && scope.Holds(pointer.unlimited_when);
  slot.size = unlimited ? 0 : lead->size;
  slot.stride = evaluator_.Evaluate(pointer.stride, scope, context).value_or(0);
  slot.per_instance = pointer.step != tables::kNone;
  slot.step = evaluator_.Evaluate(pointer.step, scope, context).value_or(1);
  if (pointer.format == tables::kNone) return;
  const tables::Expression& format = tables_.expression(pointer.format);
  const auto value = evaluator_.Evaluate(pointer.format, scope, context);
  if (!value || format.kind == tables::ExpressionKind::kConstant) return;
  const tables::NamedValue* const named = tables_.FindValue(tables_.leaf(format.leaf), *value);
  if (named != nullptr && named->format != tables::kNone) {
    slot.element_bytes = tables_.format(named->format).bits / 8;
  }
}

bool VertexRules::DrawsNothing(const Record& record, const Place& place, const Context& context) {
  if (record.container->draw == tables::kNone) return false;
  const tables::Draw& draw = tables_.draw(record.container->draw);
  const Scope scope(tables_, *record.container, record.bytes);
  if (!scope.Holds(draw.when)) return false;
  for (const uint32_t expression : {draw.count, draw.instances}) {
    if (evaluator_.Evaluate(expression, scope, context) != uint64_t{0}) continue;
    alarms_.Raise(RuleId::kDrawsNothing, place, {},
                  expression == draw.count ? "no vertices" : "no instances");
    return true;
  }
  return false;
}

void VertexRules::CheckDraw(const Record& record, const Place& place, const Context& context,
                            VertexState& state) {
  const tables::Draw& draw = tables_.draw(record.container->draw);
  const Scope scope(tables_, *record.container, record.bytes);
  const bool known = scope.Holds(draw.when);
  const auto number = [&](uint32_t expression, uint64_t otherwise) {
    return evaluator_.Evaluate(expression, scope, context).value_or(otherwise);
  };
  const bool indexed = draw.indices != tables::kNone && scope.Holds(draw.indexed);
  std::optional<uint64_t> rows, instances;
  if (known && draw.count != tables::kNone) {
    const uint64_t count = number(draw.count, 0), per = number(draw.instances, 1);
    if (count == 0 || per == 0) return;
    rows = decode::AddSaturated(number(draw.first, 0), count);
    instances = decode::AddSaturated(number(draw.first_instance, 0), per);
  }
  if (indexed) {
    const auto slot = state.slots.find({draw.indices, 0});
    if (rows && slot != state.slots.end() && slot->second.is_used &&
        slot->second.element_bytes != 0) {
      const uint64_t end = Extent(*rows, slot->second.element_bytes, 0);
      if (end > slot->second.size) {
        alarms_.Raise(
            RuleId::kIndicesPastEnd, place, {},
            absl::StrCat("it reads ", end, " bytes, the index buffer has ", slot->second.size));
      }
    }
    rows.reset();
  }
  // Without new numbers there is nothing new to find: many draws use the same vertices.
  if (!state.changed && !rows) return;
  state.changed = false;
  const auto elements = state.elements.find(draw.data);
  if (elements == state.elements.end()) return;
  for (const VertexState::Element& element : elements->second) {
    if (element.bytes == 0) continue;
    CheckElement(draw.data, element, rows, instances, context, state);
  }
}

void VertexRules::CheckElement(uint32_t data, const VertexState::Element& element,
                               std::optional<uint64_t> rows, std::optional<uint64_t> instances,
                               const Context& context, const VertexState& state) {
  const auto found = state.slots.find({data, element.slot});
  if (found == state.slots.end()) {
    if (!context.is_whole) return;
    return alarms_.Raise(RuleId::kNoVertexBuffer, element.place, element.field,
                         absl::StrCat("vertex buffer ", element.slot));
  }
  const VertexState::Slot& slot = found->second;
  if (!slot.is_used) return;
  const uint64_t end = decode::AddSaturated(element.offset, element.bytes);
  if (slot.stride != 0 && end > slot.stride) {
    alarms_.Raise(RuleId::kPastPitch, element.place, element.field,
                  absl::StrCat("bytes ", element.offset, " to ", end - 1,
                               " of each row, whose pitch is ", slot.stride));
  }
  uint64_t step = slot.step;
  bool per_instance = slot.per_instance;
  if (const auto own = state.steps.find({data, element.number}); own != state.steps.end()) {
    per_instance = true;
    step = own->second;
  }
  uint64_t last = 0;
  if (per_instance) {
    if (!instances) return;
    last = step == 0 ? 0 : (*instances - 1) / step;
  } else {
    if (!rows) return;
    last = *rows - 1;
  }
  if (slot.stride == 0) last = 0;
  const uint64_t needed = Extent(last, slot.stride, end);
  if (slot.size == 0 || needed <= slot.size) return;
  alarms_.Raise(RuleId::kVerticesPastEnd, element.place, element.field,
                absl::StrCat("a draw reads ", needed, " bytes of vertex buffer ", element.slot,
                             ", which has ", slot.size));
}

}  // namespace packsmith::lint
