#include "runtime/lint/pointer_rules.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::lint {
namespace {

using decode::FieldAt;
using decode::Record;
using decode::Scope;

bool SetsBase(const tables::Tables& tables, const tables::Leaf& leaf) {
  return leaf.extra != tables::kNone && tables.extra(leaf.extra).sets_base != tables::kNone;
}

bool Points(const tables::Tables& tables, const tables::Leaf& leaf) {
  return leaf.extra != tables::kNone && tables.extra(leaf.extra).pointer != tables::kNone;
}

}  // namespace

PointerRules::PointerRules(const tables::Tables& tables, const Evaluator& evaluator,
                           const Zones& zones, Alarms& alarms)
    : tables_(tables),
      evaluator_(evaluator),
      zones_(zones),
      alarms_(alarms),
      setting_(tables, SetsBase),
      pointing_(tables, Points) {}

void PointerRules::SetBases(const Record& record, Context& context) {
  if (record.container == nullptr) return;
  decode::ForEachField(tables_, setting_, record.view(), [&](const FieldAt& at) {
    if (at.cut || at.width > 64) return;
    const tables::Extra& extra = tables_.extra(at.leaf->extra);
    const Scope scope(tables_, at, record.bytes);
    if (scope.Holds(extra.sets_when)) {
      const uint64_t raw = decode::ReadBits(record.bytes, at.bit, at.width);
      context.bases.Set(extra.sets_base, decode::NumberOfBits(tables_, *at.leaf, at.width, raw));
    } else if (tables_.bases()[extra.sets_base].otherwise != tables::kNone) {
      context.bases.Set(extra.sets_base, std::nullopt);
    }
    if (extra.sets_size == tables::kNone || !scope.Holds(extra.sets_size_when)) return;
    context.bases.SetSize(extra.sets_base, evaluator_.Evaluate(extra.sets_size, scope, context));
  });
}

void PointerRules::Check(const Record& record, absl::Span<const KeptLead> leads,
                         const Context& context, const Place& place) {
  for (const decode::Fault& fault : record.faults) {
    if (fault.kind == decode::FaultKind::kUnmapped) CheckMissing(record, fault, context, place);
  }
  for (const KeptLead& lead : leads) {
    CheckExtent(lead, place);
    CheckZone(lead, place);
    CheckHeap(lead, context, place);
    if (lead.pointer->align != tables::kNone) CheckAlignment(record, lead, context, place);
  }
}

void PointerRules::CheckMissing(const Record& record, const decode::Fault& fault,
                                const Context& context, const Place& place) {
  if (record.container == nullptr) return;
  std::optional<FieldAt> field;
  decode::ForEachField(tables_, pointing_, record.view(), [&](const FieldAt& at) {
    if (at.bit == fault.bit && !field) field = at;
  });
  if (!field) return;
  const Scope scope(tables_, *field, record.bytes);
  uint32_t pointer = tables_.extra(field->leaf->extra).pointer;
  // Conditions on states are taken as not holding, so that the last pointer counts.
  while (tables_.pointer(pointer).next != tables::kNone &&
         !scope.Holds(tables_.pointer(pointer).when)) {
    pointer = tables_.pointer(pointer).next;
  }
  const uint32_t base = tables_.pointer(pointer).base;
  if (base != tables::kNone && context.bases.Find(tables_, base) == nullptr) {
    if (!context.is_whole) return;
    return alarms_.Raise(
        RuleId::kBaseNotSet, place, PlaceOf(*field),
        absl::StrCat("the base \"", tables_.string(tables_.bases()[base].name), "\" is not set"));
  }
  RuleWords words{InfoOf(RuleId::kUnmapped).number, Severity::kWarning,
                  InfoOf(RuleId::kUnmapped).why, InfoOf(RuleId::kUnmapped).source};
  // A kernel's dump may lack any memory.
  if (dump_ != nullptr && dump_->memory_is_complete) words.severity = Severity::kError;
  alarms_.Raise(words, place, PlaceOf(*field), fault.text);
}

void PointerRules::CheckExtent(const KeptLead& lead, const Place& place) {
  if (dump_ == nullptr || lead.size == 0) return;
  const Buffer* const buffer = dump_->FindBuffer(lead.space, lead.address);
  if (buffer == nullptr || buffer->size_is_memory) return;
  const uint64_t left = buffer->size - (lead.address - buffer->address);
  if (lead.size <= left) return;
  alarms_.Raise(RuleId::kLeavesBuffer, place, PlaceOf(lead.at),
                absl::StrFormat("%d bytes from 0x%x on, of which \"%s\" has %d", lead.size,
                                lead.address, buffer->name, left));
}

void PointerRules::CheckZone(const KeptLead& lead, const Place& place) {
  // Zones divide the address space of batches.
  if (zones_.all().empty() || lead.space != place.space) return;
  const Zone* const zone = zones_.Find(lead.address);
  if (zone == nullptr) {
    return alarms_.Raise(RuleId::kOutsideZone, place, PlaceOf(lead.at),
                         absl::StrFormat("0x%x is in no zone", lead.address));
  }
  if (lead.size > zone->end - lead.address) {
    return alarms_.Raise(
        RuleId::kOutsideZone, place, PlaceOf(lead.at),
        absl::StrFormat("%d bytes from 0x%x on, of which the zone \"%s\" has %d", lead.size,
                        lead.address, zone->name, zone->end - lead.address));
  }
  if (lead.pointer->base >= tables_.bases().size()) return;
  const absl::string_view base = tables_.string(tables_.bases()[lead.pointer->base].name);
  if (!zones_.IsFor(*zone, base)) {
    alarms_.Raise(
        RuleId::kOutsideZone, place, PlaceOf(lead.at),
        absl::StrFormat("0x%x is in the zone \"%s\", which is not for offsets from \"%s\"",
                        lead.address, zone->name, base));
  }
}

void PointerRules::CheckHeap(const KeptLead& lead, const Context& context, const Place& place) {
  if (lead.pointer->base == tables::kNone) return;
  const Bases::Base* const base = context.bases.Find(tables_, lead.pointer->base);
  if (base == nullptr || !base->size) return;
  const uint64_t offset = lead.address - *base->value;
  if (offset < *base->size && lead.size <= *base->size - offset) return;
  alarms_.Raise(
      RuleId::kOutsideHeap, place, PlaceOf(lead.at),
      absl::StrFormat("%d bytes at offset 0x%x, the heap \"%s\" has 0x%x bytes",
                      std::max<uint64_t>(lead.size, 1), offset,
                      tables_.string(tables_.bases()[lead.pointer->base].name), *base->size));
}

void PointerRules::CheckAlignment(const Record& record, const KeptLead& lead,
                                  const Context& context, const Place& place) {
  const Scope scope(tables_, lead.at, record.bytes);
  const std::optional<uint64_t> align = evaluator_.Evaluate(lead.pointer->align, scope, context);
  if (!align || *align == 0 || lead.address % *align == 0) return;
  alarms_.Raise(RuleId::kMisaligned, place, PlaceOf(lead.at),
                absl::StrFormat("0x%x is not a multiple of %d", lead.address, *align));
}

}  // namespace packsmith::lint
