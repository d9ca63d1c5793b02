// PlaceParts() and LengthOf() for many records.
#ifndef PACKSMITH_RUNTIME_DECODE_FIELDS_PART_FINDER_H_
#define PACKSMITH_RUNTIME_DECODE_FIELDS_PART_FINDER_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// Most optional parts exist if a bit in the record's first words is set or clear; those bits are
// tested here without the tables. Made for each container when its first record comes.
class PartFinder {
  // A part exists if the bits of `mask` in the four bytes from `offset` on are `value`, or are not.
  struct Test {
    uint32_t offset;
    uint32_t mask;
    uint32_t value;
    bool negated;
    bool simple;  // else the tables must be used
  };
  using Tests = std::vector<Test>;

  // A function that returns whether a part of the container exists.
  auto HoldsIn(const tables::Container& container, absl::Span<const uint8_t> bytes) {
    std::unique_ptr<Tests>& tests = tests_[tables_.IndexOf(container)];
    if (tests == nullptr) tests = Make(container);
    return [this, &container, bytes, tests = tests->data(),
            first = tables_.parts(container.parts).data()](const tables::Part& part) {
      const Test& test = tests[&part - first];
      if (!test.simple || test.offset + uint64_t{4} > bytes.size()) {
        return Scope(tables_, container, bytes).Holds(part.when);
      }
      uint32_t word = 0;
      std::memcpy(&word, bytes.data() + test.offset, 4);
      return ((word & test.mask) == test.value) != test.negated;
    };
  }

 public:
  // The tables must outlive the finder.
  explicit PartFinder(const tables::Tables& tables)
      : tables_(tables), tests_(tables.containers().size()) {}

  PlacedParts Place(const tables::Container& container, absl::Span<const uint8_t> bytes) {
    if (container.parts.count == 0) return {};
    return internal::PlaceParts(tables_, container, bytes, HoldsIn(container, bytes));
  }
  uint64_t Length(const tables::Container& container, absl::Span<const uint8_t> bytes) {
    if (container.parts.count == 0 || container.length_leaf != tables::kNone) {
      return LengthOf(tables_, container, bytes);
    }
    return internal::LengthOf(tables_, container, bytes, HoldsIn(container, bytes));
  }

 private:
  std::unique_ptr<Tests> Make(const tables::Container& container) const;

  const tables::Tables& tables_;
  std::vector<std::unique_ptr<Tests>> tests_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_FIELDS_PART_FINDER_H_
