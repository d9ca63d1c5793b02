#include "runtime/lint/record_rules.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields/undescribed.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::lint {
namespace {

using decode::FaultKind;
using decode::FieldAt;
using decode::Record;
using decode::RecordType;
using tables::LeafType;

bool IsFloat(const tables::Leaf& leaf) {
  return leaf.type == LeafType::kFloat || leaf.type == LeafType::kHalf;
}

bool IsLongAddress(const tables::Tables& tables, const tables::Leaf& leaf) {
  return leaf.type == LeafType::kAddress &&
         uint32_t{leaf.width} + leaf.shift > tables.address_bits();
}

// Whether the field's values are those of an enumeration: names that a field itself lists may be of
// some values only.
bool IsEnumerated(const tables::Tables& tables, const tables::Leaf& leaf) {
  return leaf.named != tables::kNone && !tables.string(tables.enumeration(leaf.named).name).empty();
}

bool HasAvoided(const tables::Tables& tables, const tables::Leaf& leaf) {
  if (leaf.named == tables::kNone) return false;
  const auto values = tables.values(tables.enumeration(leaf.named).values);
  return std::any_of(values.begin(), values.end(),
                     [](const tables::NamedValue& value) { return value.avoid != 0; });
}

bool IsChecked(const tables::Tables& tables, const tables::Leaf& leaf) {
  if ((leaf.flags & (tables::kForced | tables::kMustBeOne | tables::kMustBeZero)) != 0) {
    return false;
  }
  const bool multiple = leaf.extra != tables::kNone && tables.extra(leaf.extra).multiple > 1;
  return multiple || IsFloat(leaf) || IsLongAddress(tables, leaf) || IsEnumerated(tables, leaf) ||
         HasAvoided(tables, leaf);
}

}  // namespace

RecordRules::RecordRules(const tables::Tables& tables, Alarms& alarms)
    : tables_(tables), alarms_(alarms), checked_(tables, IsChecked) {}

void RecordRules::OnSubmission(const Submission& submission) { stream_ = submission.stream; }

void RecordRules::Check(const Record& record, const Place& place) {
  if (record.type == RecordType::kUnknown) return CheckUnknown(record, place);
  if (record.container == nullptr) return;
  // Nothing says how many items the tail of a structure has: after the first one may be other
  // memory.
  const tables::Container& container = *record.container;
  uint64_t end = ~uint64_t{0};
  if (record.type == RecordType::kStruct && container.tail_size != 0) {
    end = uint64_t{container.tail_bit} + container.tail_size;
  }
  for (const decode::Fault& fault : record.faults) {
    if (fault.bit < end) CheckFault(record, fault, place);
  }
  CheckLength(record, place);
  decode::ForEachField(tables_, checked_, record.view(), [&](const FieldAt& at) {
    if (at.bit < end) CheckField(at, record.bytes, place);
  });
  if (!alarms_.Wants(RuleId::kUndescribedBits)) return;
  for (const decode::BitRun& run : decode::Undescribed(tables_, record.view())) {
    if (run.bit >= end) break;
    alarms_.Raise(RuleId::kUndescribedBits, place, {{}, run.bit, run.width},
                  absl::StrFormat("0x%x", run.value));
  }
}

void RecordRules::CheckFault(const Record& record, const decode::Fault& fault, const Place& place) {
  RuleId rule = RuleId::kReservedBits;
  switch (fault.kind) {
    case FaultKind::kReserved:
      break;
    case FaultKind::kForced:
      rule = RuleId::kForcedBits;
      break;
    case FaultKind::kRange:
      rule = RuleId::kOutOfRange;
      break;
    case FaultKind::kBeyondLength:
      rule = RuleId::kTooShort;
      break;
    case FaultKind::kTruncated:
      rule = RuleId::kTruncated;
      break;
    case FaultKind::kUnmapped:
      return;
  }
  if (!alarms_.Wants(rule)) return;
  const bool has_value = fault.kind == FaultKind::kReserved || fault.kind == FaultKind::kForced ||
                         (fault.kind == FaultKind::kRange && fault.width <= 64);
  FieldPlace field = FieldAtBit(record, fault.bit);
  if (field.width == 0) field = {{}, fault.bit, fault.width};
  alarms_.Raise(
      rule, place, field,
      has_value ? absl::StrFormat("%s: the bits are 0x%x", fault.text, fault.value) : fault.text);
}

FieldPlace RecordRules::FieldAtBit(const Record& record, uint64_t bit) const {
  FieldPlace found;
  decode::ForEachField(tables_, record.view(), [&](const FieldAt& at) {
    if (at.bit == bit && found.width == 0) found = PlaceOf(at);
  });
  return found;
}

void RecordRules::CheckUnknown(const Record& record, const Place& place) {
  if (record.bytes.size() < 4) return;
  const auto word = static_cast<uint32_t>(decode::ReadBits(record.bytes, 0, 32));
  for (uint32_t stream = 0; stream < tables_.streams().size(); ++stream) {
    const absl::string_view name = tables_.string(tables_.stream(stream).name);
    if (stream_.empty() ? stream != 0 : name != stream_) continue;
    const uint32_t other = tables_.FindPacket(stream, ~uint64_t{0}, word, 4);
    if (other == tables::kNone) continue;
    return alarms_.Raise(RuleId::kWrongEngine, place, {},
                         absl::StrCat(tables_.string(tables_.container(other).name),
                                      " begins like this, on another engine"));
  }
  alarms_.Raise(RuleId::kUnknownCommand, place, {},
                absl::StrFormat("%d bytes, the first dword is 0x%08x", record.bytes.size(), word));
}

void RecordRules::CheckLength(const Record& record, const Place& place) {
  const tables::Container& container = *record.container;
  // Tails and parts have lengths of their own, which the decoder checks.
  if (record.type != RecordType::kPacket || container.length_leaf == tables::kNone ||
      container.tail_size != 0 || container.parts.count != 0 ||
      record.bytes.size() <= container.max_bytes) {
    return;
  }
  const tables::Leaf& leaf = tables_.leaf(container.length_leaf);
  alarms_.Raise(RuleId::kTooLong, place, FieldAtBit(record, leaf.bit),
                absl::StrCat("the stated length is ", record.bytes.size(),
                             " bytes, the packet has at most ", container.max_bytes));
}

void RecordRules::CheckField(const FieldAt& at, absl::Span<const uint8_t> bytes,
                             const Place& place) {
  const tables::Leaf& leaf = *at.leaf;
  if (at.cut || at.width > 64) return;
  if (leaf.extra != tables::kNone) {
    const tables::Extra& extra = tables_.extra(leaf.extra);
    if (extra.counts_when != tables::kNone &&
        !decode::Scope(tables_, at, bytes).Holds(extra.counts_when)) {
      return;
    }
  }
  const uint64_t raw = decode::ReadBits(bytes, at.bit, at.width);
  const decode::Value value = decode::DecodeValue(tables_, leaf, at.width, raw);
  const uint64_t number = decode::NumberOf(value, raw);
  if (leaf.extra != tables::kNone) {
    const uint64_t multiple = tables_.extra(leaf.extra).multiple;
    if (multiple > 1 && !IsFloat(leaf) && number % multiple != 0) {
      alarms_.Raise(RuleId::kNotMultiple, place, PlaceOf(at),
                    absl::StrCat(number, " is not a multiple of ", multiple));
    }
  }
  if (IsFloat(leaf) && !std::isfinite(value.real)) {
    alarms_.Raise(RuleId::kNotFinite, place, PlaceOf(at),
                  absl::StrFormat("the bits are 0x%x", raw));
  }
  if (IsLongAddress(tables_, leaf)) {
    const uint64_t address = raw << leaf.shift;
    const uint32_t sign = tables_.address_bits() - 1;
    const uint32_t end = std::min<uint32_t>(64, at.width + leaf.shift);
    const uint64_t above = (end == 64 ? ~uint64_t{0} : (uint64_t{1} << end) - 1) >> sign;
    if (const uint64_t top = address >> sign; top != 0 && top != above) {
      alarms_.Raise(
          RuleId::kNotCanonical, place, PlaceOf(at),
          absl::StrFormat("0x%x: bits %d to %d are not all the same", address, sign, end - 1));
    }
  }
  if (leaf.named == tables::kNone) return;
  const tables::NamedValue* const named = tables_.FindValue(leaf, number);
  if (named == nullptr) {
    // Zero is what fields have that do not count.
    if (IsEnumerated(tables_, leaf) && raw != 0) {
      alarms_.Raise(RuleId::kUnnamedValue, place, PlaceOf(at),
                    absl::StrCat(number, " is not a value of ",
                                 tables_.string(tables_.enumeration(leaf.named).name)));
    }
  } else if (named->avoid != 0) {
    alarms_.Raise(RuleId::kAvoidedValue, place, PlaceOf(at),
                  absl::StrCat(number, " (", tables_.string(named->name), ")"));
  }
}

}  // namespace packsmith::lint
