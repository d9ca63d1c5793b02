#include "runtime/decode/fields/fault_finder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::decode {

absl::string_view FaultKindName(FaultKind kind) {
  constexpr absl::string_view kNames[kFaultKinds] = {"reserved",      "forced",   "range",
                                                     "beyond-length", "unmapped", "truncated"};
  return kNames[static_cast<size_t>(kind)];
}

void AddFault(FaultKind kind, uint64_t bit, uint64_t width, uint64_t value, std::string text,
              std::vector<Fault>& faults) {
  constexpr size_t kMostFaults = 64;
  if (faults.size() >= kMostFaults) return;
  faults.push_back({kind, bit, static_cast<uint32_t>(std::min<uint64_t>(width, 0xffffffffu)), value,
                    std::move(text)});
}

void FaultFinder::Find(const RecordView& record, uint64_t length, bool own_length,
                       std::vector<Fault>& faults) {
  const tables::Container& container = record.container;
  uint64_t needed = container.bytes;
  if (container.parts.count != 0) {
    needed = own_length ? length : parts_.Length(container, record.bytes);
  }
  const bool ends_with_parts = container.parts.count == 0 || needed == length;
  if (record.bytes.size() == length && ends_with_parts && checks_.Passes(record)) return;
  FindInLength(record, length, needed, faults);
  ForEachField(tables_, record,
               [&](const FieldAt& at) { FindInField(record, length, at, faults); });
}

void FaultFinder::FindInLength(const RecordView& record, uint64_t length, uint64_t needed,
                               std::vector<Fault>& faults) const {
  const tables::Container& container = record.container;
  const absl::Span<const uint8_t> bytes = record.bytes;
  if (bytes.size() < length) {
    AddFault(FaultKind::kTruncated, bytes.size() * 8, (length - bytes.size()) * 8, 0,
             absl::StrCat("the memory ends ", length - bytes.size(), " bytes too early"), faults);
  } else if (length >= needed + 4 && container.parts.count != 0) {
    // Sizes count words: less than one word of slack is allowed.
    AddFault(FaultKind::kBeyondLength, needed * 8, (length - needed) * 8, 0,
             absl::StrCat("the stated length is ", length, " bytes, the parts end after ", needed),
             faults);
  } else if (length < needed) {
    AddFault(FaultKind::kBeyondLength, length * 8, (needed - length) * 8, 0,
             absl::StrCat("the stated length is ", length, " bytes, the fields need ", needed),
             faults);
  }
  if (container.tail_max == 0) return;
  const uint64_t end = std::min<uint64_t>(bytes.size(), length) * 8;
  const uint64_t most = container.tail_bit + uint64_t{container.tail_max} * container.tail_size;
  if (end < most + container.tail_size) return;
  AddFault(FaultKind::kRange, most, end - most, 0,
           absl::StrCat((end - container.tail_bit) / container.tail_size,
                        " items, the hardware takes at most ", container.tail_max),
           faults);
}

void FaultFinder::FindInReserved(absl::Span<const uint8_t> bytes, const FieldAt& at,
                                 std::vector<Fault>& faults) const {
  for (uint32_t done = 0; done < at.width; done += 64) {
    const uint32_t n = std::min(64u, at.width - done);
    const uint64_t raw = ReadBits(bytes, at.bit + done, n);
    const uint64_t must = (at.leaf->flags & tables::kMustBeOne) == 0 ? 0
                          : n >= 64                                  ? ~uint64_t{0}
                                                                     : (uint64_t{1} << n) - 1;
    if (raw == must) continue;
    AddFault(FaultKind::kReserved, at.bit + done, n, raw,
             must == 0 ? "reserved bits must be zero" : "reserved bits must be one", faults);
  }
}

void FaultFinder::FindInField(const RecordView& record, uint64_t length, const FieldAt& at,
                              std::vector<Fault>& faults) const {
  const tables::Leaf& leaf = *at.leaf;
  const absl::Span<const uint8_t> bytes = record.bytes;
  if ((leaf.flags & (tables::kMustBeZero | tables::kMustBeOne)) != 0) {
    return FindInReserved(bytes, at, faults);
  }
  if (at.cut) {
    // A field may begin in a packet's short form and continue in the long one: then this is all of
    // it.
    if (record.container.variants.count != 0 || bytes.size() < length) return;
    return AddFault(FaultKind::kBeyondLength, at.bit, leaf.width,
                    ReadBits(bytes, at.bit, std::min(at.width, 64u)),
                    "the packet ends inside this field", faults);
  }
  constexpr uint16_t kChecked =
      tables::kForced | tables::kNonzero | tables::kHasMin | tables::kHasMax;
  if ((leaf.flags & kChecked) == 0) return;
  const uint64_t raw = ReadBits(bytes, at.bit, at.width);
  if ((leaf.flags & tables::kForced) != 0) {
    const uint64_t forced = tables_.extra(leaf.extra).forced;
    if (raw == forced) return;
    return AddFault(FaultKind::kForced, at.bit, at.width, raw,
                    absl::StrCat(tables_.string(leaf.name), " must be ", forced), faults);
  }
  FindInRange(at, raw, faults);
}

void FaultFinder::FindInRange(const FieldAt& at, uint64_t raw, std::vector<Fault>& faults) const {
  const tables::Leaf& leaf = *at.leaf;
  if ((leaf.flags & tables::kNonzero) != 0 && raw == 0) {
    AddFault(FaultKind::kRange, at.bit, at.width, raw,
             absl::StrCat(tables_.string(leaf.name), " must not be zero"), faults);
  }
  if ((leaf.flags & (tables::kHasMin | tables::kHasMax)) == 0) return;
  const tables::Extra& extra = tables_.extra(leaf.extra);
  const uint64_t number = NumberOf(DecodeValue(tables_, leaf, at.width, raw), raw);
  const auto is_less = [&](uint64_t a, uint64_t b) {
    return leaf.type == tables::LeafType::kInt ? static_cast<int64_t>(a) < static_cast<int64_t>(b)
                                               : a < b;
  };
  const bool low =
      (leaf.flags & tables::kHasMin) != 0 && is_less(number, static_cast<uint64_t>(extra.min));
  const bool high =
      (leaf.flags & tables::kHasMax) != 0 && is_less(static_cast<uint64_t>(extra.max), number);
  if (!low && !high) return;
  AddFault(FaultKind::kRange, at.bit, at.width, raw,
           absl::StrCat(tables_.string(leaf.name), low ? " is less than " : " is more than ",
                        low ? extra.min : extra.max),
           faults);
}

}  // namespace packsmith::decode
