// Merges packed records that consist of parts: for example the parts that a pipeline sets when it
// is created, and those that a draw sets.
//
// The merged record has every part that one of the records has, in the order of the description. A
// part that several records have is the OR of theirs; no field may be set differently in two of
// them.

#ifndef PACKSMITH_RUNTIME_AGX_MERGE_RECORDS_H_
#define PACKSMITH_RUNTIME_AGX_MERGE_RECORDS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/agx/gpu_memory.h"

namespace packsmith::agx {

// The first field that is set, that is, not zero, in both of two packed records, and differs.
struct ClashFinder : bits::visitor<ClashFinder> {
  bits::some_bytes a, b;
  const char* found = nullptr;

  ClashFinder(const bits::some_bytes& of_a, const bits::some_bytes& of_b) : a(of_a), b(of_b) {}
  // Called for all members except bits with a fixed value.
  void member(const auto&, const auto&, unsigned bit, unsigned width, const char* name) {
    const uint64_t in_a = bits::get(a, bit, width), in_b = bits::get(b, bit, width);
    if (found == nullptr && in_a != 0 && in_b != 0 && in_a != in_b) found = name;
  }
};

template <class Record>
class RecordMerger {
 public:
  // `to` is the caller's, and holds the merged record after success.
  explicit RecordMerger(absl::Span<uint8_t> to) : to_(to) {}

  // The size of the merged record in bytes. ResourceExhausted if `to` is smaller; InvalidArgument,
  // with the part and the field, for records that contradict each other or are cut off.
  absl::StatusOr<uint32_t> Merge(absl::Span<const absl::Span<const uint8_t>> records) {
    uint8_t header[Record::size] = {};
    for (const absl::Span<const uint8_t> record : records) {
      if (record.size() < Record::size || record.size() < SizeOf(HeaderOf(record))) {
        return absl::InvalidArgumentError(
            absl::StrFormat("a record of %d bytes is shorter than its header says", record.size()));
      }
      for (unsigned i = 0; i < Record::size; ++i) header[i] |= record[i];
    }
    const Record merged = HeaderOf(header);
    const uint32_t needed = SizeOf(merged);
    if (to_.size() < needed) {
      return absl::ResourceExhaustedError(absl::StrFormat(
          "the merged record takes %d bytes, but there is room for %d", needed, to_.size()));
    }
    std::memset(to_.data(), 0, needed);
    std::memcpy(to_.data(), header, Record::size);
    for (const absl::Span<const uint8_t> record : records) {
      if (absl::Status status = Add(record, merged); !status.ok()) return status;
    }
    return needed;
  }

 private:
  static constexpr unsigned CountParts() {
    unsigned parts = 0;
    Record{}.for_each_part([&](const auto&, const char*, unsigned) { ++parts; });
    return parts;
  }

  static Record HeaderOf(absl::Span<const uint8_t> record) {
    return Record::unpack(record.data(), Record::size);
  }

  absl::Status Add(absl::Span<const uint8_t> record, const Record& merged) {
    unsigned size_in_merged[CountParts()];
    unsigned at = 0;
    merged.for_each_part(
        [&](const auto&, const char*, unsigned size) { size_in_merged[at++] = size; });
    absl::Status status;
    size_t from = Record::size, to = Record::size;
    at = 0;
    HeaderOf(record).for_each_part([&](const auto& part, const char* name, unsigned size) {
      const unsigned there = size_in_merged[at++];
      if (size != 0 && status.ok()) {
        status = size == there
                     ? AddPart(part, name, record.subspan(from, size), to)
                     : absl::InvalidArgumentError(absl::StrFormat(
                           "%s takes %d bytes in one record, but %d in the merged record: give all "
                           "records the same count",
                           name, size, there));
      }
      from += size;
      to += there;
    });
    return status;
  }

  // All repetitions of a part.
  template <class Part>
  absl::Status AddPart(const Part& empty, const char* name, absl::Span<const uint8_t> bytes,
                       size_t to) {
    for (size_t i = 0; i < bytes.size(); i += Part::size) {
      ClashFinder clash({to_.data() + to + i, Part::size}, {bytes.data() + i, Part::size});
      Part::ps_layout(empty, clash);
      if (clash.found != nullptr) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "%s.%s is set differently in two records: one of them must leave it at zero", name,
            clash.found));
      }
    }
    for (size_t i = 0; i < bytes.size(); ++i) to_[to + i] |= bytes[i];
    return absl::OkStatus();
  }

  absl::Span<uint8_t> to_;
};

}  // namespace packsmith::agx

#endif  // PACKSMITH_RUNTIME_AGX_MERGE_RECORDS_H_
