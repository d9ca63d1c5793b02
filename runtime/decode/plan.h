// What writing a container's fields takes, worked out once: names in their final form, how bits
// become text. Sinks ask for the plan of each record; the first record of a kind pays for it.
#ifndef PACKSMITH_RUNTIME_DECODE_PLAN_H_
#define PACKSMITH_RUNTIME_DECODE_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/fields.h"
#include "runtime/decode/value.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

enum class Form : uint8_t {
  kUnsigned,  // raw << shift, at most 32 bits
  kBool,
  kAddress,  // (raw << shift), 48 bits
  kOther,    // whatever DecodeValue says
};

// The names of an enumeration's values.
class ValueNames {
 public:
  ValueNames(const tables::Tables& tables, const tables::Enum& named);
  // Empty if the value has no name.
  absl::string_view Find(uint64_t value) const {
    if (value < dense_.size()) return dense_[value];
    const auto it = std::lower_bound(
        sparse_.begin(), sparse_.end(), value,
        [](const std::pair<uint64_t, absl::string_view>& n, uint64_t v) { return n.first < v; });
    return it != sparse_.end() && it->first == value ? it->second : absl::string_view();
  }

 private:
  std::vector<absl::string_view> dense_;
  std::vector<std::pair<uint64_t, absl::string_view>> sparse_;
};

struct PlannedField {
  const tables::Leaf* leaf;
  const ValueNames* names;  // null: none
  uint32_t bit;             // as the leaf's: from the start of the record, item or part
  uint16_t width;
  uint8_t shift;
  Form form;
  // How the sink writes the field's name. Padded: 64 bytes can be read. In a tail only what stands
  // before the index; the rest is `after_index`.
  absl::string_view name;
  absl::string_view after_index;
  absl::string_view unit;
};

struct Plan {
  std::vector<PlannedField> fields;
  std::vector<PlannedField> tail;
  uint64_t bits = 0;    // a record with so many has all `fields` whole
  bool simple = false;  // no tail, parts or variants
};

class Plans {
 public:
  // Writes a name as the sink wants it, for fields of fixed places: `field` has all but the names.
  using WriteName =
      std::function<void(const PlannedField& field, absl::string_view name, std::string& to)>;

  Plans(const tables::Tables& tables, WriteName write_name);
  const Plan& PlanOf(const tables::Container& container) {
    std::unique_ptr<Plan>& plan =
        plans_[static_cast<size_t>(&container - tables_.containers().data())];
    if (plan == nullptr) Make(container, plan);
    return *plan;
  }

 private:
  void Make(const tables::Container& container, std::unique_ptr<Plan>& plan);
  void Add(tables::Range leaves, bool in_tail, std::vector<PlannedField>& to);
  absl::string_view Keep(absl::string_view text);

  const tables::Tables& tables_;
  WriteName write_name_;
  std::vector<std::unique_ptr<Plan>> plans_;
  absl::flat_hash_map<uint32_t, std::unique_ptr<ValueNames>> names_;  // by enumeration
  std::vector<std::unique_ptr<char[]>> texts_;
};

// A record's bits, readable eight bytes at a time wherever a field begins.
class RecordBits {
 public:
  explicit RecordBits(absl::Span<const uint8_t> bytes) : bytes_(bytes) {
    if (bytes.size() > kMost) return;
    // What lies behind the record is read, and then masked away.
    std::memcpy(copy_, bytes.data(), bytes.size());
    std::memset(copy_ + bytes.size(), 0, 16);
  }
  uint64_t Read(uint64_t bit, uint32_t width) const {
    if (bytes_.size() > kMost) return ReadBits(bytes_, bit, width);
    uint64_t word = 0;
    std::memcpy(&word, copy_ + bit / 8, 8);
    const uint32_t skip = static_cast<uint32_t>(bit % 8);
    word >>= skip;
    if (skip + width > 64) word |= uint64_t{copy_[bit / 8 + 8]} << (64 - skip);
    return width >= 64 ? word : word & ((uint64_t{1} << width) - 1);
  }

 private:
  static constexpr size_t kMost = 512;
  absl::Span<const uint8_t> bytes_;
  uint8_t copy_[kMost + 16];
};

// Calls visit(const PlannedField&, bit, width, raw, index, part, part_index) for every field that a
// record shows: no opcodes, no reserved bits, nothing that the record's own length cuts off. The
// index is that of a tail's item, else -1. `part` is null but for fields of optional parts.
template <class Visit>
void ForEachShown(const tables::Tables& tables, Plans& plans, const tables::Container& container,
                  absl::Span<const uint8_t> bytes, Visit&& visit) {
  const Plan& plan = plans.PlanOf(container);
  const RecordBits record(bytes);
  const uint64_t bits = bytes.size() * 8;
  constexpr const tables::Part* kNoPart = nullptr;
  const bool variants = container.variants.count != 0;
  const auto run = [&](const std::vector<PlannedField>& fields, uint64_t base, uint64_t end,
                       int64_t index, const tables::Part* part, int64_t part_index) {
    for (const PlannedField& field : fields) {
      const uint64_t bit = base + field.bit;
      if (bit >= end) continue;
      uint32_t width = field.width;
      if (bit + width > end) {
        // A variant's short form is whole; else what the length cuts off is a fault, not a value.
        if (!variants) continue;
        width = static_cast<uint32_t>(end - bit);
      }
      visit(field, bit, width, record.Read(bit, width), index, part, part_index);
    }
  };
  if (bits >= plan.bits && plan.simple) {
    for (const PlannedField& field : plan.fields) {
      visit(field, uint64_t{field.bit}, uint32_t{field.width}, record.Read(field.bit, field.width),
            int64_t{-1}, kNoPart, int64_t{-1});
    }
    return;
  }
  const uint64_t fixed =
      container.parts.count == 0 ? bits : std::min<uint64_t>(bits, uint64_t{container.bytes} * 8);
  run(plan.fields, 0, fixed, -1, kNoPart, -1);
  if (container.tail_size != 0) {
    int64_t index = 0;
    for (uint64_t base = container.tail_bit; base < bits; base += container.tail_size) {
      run(plan.tail, base, bits, index++, kNoPart, -1);
    }
  }
  ForEachPart(tables, container, bytes, [&](const tables::Part& part, int64_t i, uint64_t base) {
    const tables::Container& nested = tables.container(part.container);
    run(plans.PlanOf(nested).fields, base, std::min(bits, base + uint64_t{nested.bytes} * 8), -1,
        &part, i);
  });
}

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_PLAN_H_
