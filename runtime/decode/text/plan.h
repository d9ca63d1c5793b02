// Data for writing a container's fields, computed once: names in their final form, how bits become
// text. Sinks get the plan for each record; the first record of a kind makes it.
#ifndef PACKSMITH_RUNTIME_DECODE_TEXT_PLAN_H_
#define PACKSMITH_RUNTIME_DECODE_TEXT_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// How bits become a value.
enum class ValueForm : uint8_t {
  kUnsigned,  // raw << shift, at most 32 bits
  kBool,
  kAddress,  // (raw << shift), 48 bits
  kOther,    // by DecodeValue
};

struct PlannedField;

// How a sink writes texts that are the same in all records. Appends to `to`, which is empty.
class FieldStyle {
 public:
  virtual ~FieldStyle() = default;
  // The name of a field with a fixed position; `field` has no texts yet.
  virtual void Name(const PlannedField& field, absl::string_view name, std::string& to) const = 0;
  // The name of a field of an optional part, whose position depends on the other parts.
  virtual void MovingName(absl::string_view name, std::string& to) const = 0;
  // The name of a field of something that repeats: the text before its number, and after it.
  virtual void BeforeIndex(absl::string_view name, std::string& to) const = 0;
  virtual void AfterIndex(absl::string_view name, std::string& to) const = 0;
  // The name of a value, after the value.
  virtual void ValueName(absl::string_view name, std::string& to) const = 0;
  // What the value counts, after its name. The unit may be empty.
  virtual void Unit(absl::string_view unit, std::string& to) const = 0;
};

// Texts that live as long as this does. From the beginning of each, and from its end, 64 bytes can
// be read.
class Texts {
 public:
  static constexpr size_t kReadable = 64;

  absl::string_view Keep(absl::string_view text);
  // What write(std::string& to) appends.
  template <class Write>
  absl::string_view Written(const Write& write) {
    scratch_.clear();
    write(scratch_);
    return Keep(scratch_);
  }

 private:
  std::string scratch_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* at_ = nullptr;
  size_t room_ = 0;
};

// The names of an enumeration's values, as the style has them.
class ValueNames {
 public:
  ValueNames(const tables::Tables& tables, const tables::Enum& named, const FieldStyle& style,
             Texts& texts);
  // Empty if the value has no name.
  absl::string_view Find(uint64_t value) const {
    if (value < dense_.size()) return dense_[value];
    const auto it = std::lower_bound(
        sparse_.begin(), sparse_.end(), value,
        [](const std::pair<uint64_t, absl::string_view>& n, uint64_t v) { return n.first < v; });
    return it != sparse_.end() && it->first == value ? it->second : absl::string_view();
  }
  // Bytes of the longest name.
  size_t longest() const { return longest_; }

 private:
  std::vector<absl::string_view> dense_;
  std::vector<std::pair<uint64_t, absl::string_view>> sparse_;
  size_t longest_ = 0;
};

// The position of a field's bits: used for each field of each record, and so kept together.
struct FieldBits {
  uint64_t mask;  // of the value, its lowest bit at bit 0
  uint32_t bit;   // as the leaf's: from the start of the record, item or part
  uint16_t width;
  bool wide;               // may begin so that it ends in a ninth byte
  bool is_length : 1;      // the packet's own length
  bool may_not_count : 1;  // a condition decides whether the bits hold this field
};

struct PlannedField {
  const tables::Leaf* leaf;
  const ValueNames* names;  // null: none
  uint32_t bit;
  uint16_t width;
  uint8_t shift;
  ValueForm form;
  bool moves;  // in an optional part, or in something that repeats
  // Bytes of all texts that may be written for the field, in total.
  uint32_t text_bytes;
  // In the sink's style. For repeated fields, the text before the number; `after_index` follows it.
  absl::string_view name;
  absl::string_view after_index;
  absl::string_view unit;
};

// The fields of a record, or of an item or a part.
struct PlannedFields {
  std::vector<FieldBits> bits;
  std::vector<PlannedField> fields;  // the same, in the same order
  uint64_t end = 0;                  // bits that hold all of them
};

struct Plan {
  PlannedFields fields;
  PlannedFields tail;
  std::vector<std::unique_ptr<PlannedFields>> parts;  // made when the first one comes
};

class Plans {
 public:
  Plans(const tables::Tables& tables, std::unique_ptr<const FieldStyle> style);

  Plan& PlanOf(const tables::Container& container) {
    std::unique_ptr<Plan>& plan = plans_[tables_.IndexOf(container)];
    if (plan == nullptr) plan = Make(container);
    return *plan;
  }
  // Of a part of the plan's container.
  const PlannedFields& FieldsOf(Plan& plan, const tables::Container& container,
                                const tables::Part& part) {
    std::unique_ptr<PlannedFields>& fields =
        plan.parts[static_cast<size_t>(&part - tables_.parts(container.parts).data())];
    if (fields == nullptr) fields = Make(part);
    return *fields;
  }

 private:
  std::unique_ptr<Plan> Make(const tables::Container& container);
  std::unique_ptr<PlannedFields> Make(const tables::Part& part);
  // The texts of a name with a number in it.
  void AddIndexed(absl::string_view before, absl::string_view after, PlannedField& field);
  // Calls name(field, leaf) for the texts of each field's name.
  template <class Name>
  void Add(tables::Range leaves, const Name& name, PlannedFields& to);

  const tables::Tables& tables_;
  const std::unique_ptr<const FieldStyle> style_;
  std::vector<std::unique_ptr<Plan>> plans_;
  absl::flat_hash_map<uint32_t, std::unique_ptr<ValueNames>> names_;  // by enumeration
  std::string name_;                                                  // of the field at hand
  Texts texts_;
};

// A record's bits, readable eight bytes at a time wherever a field begins.
class RecordBits {
 public:
  explicit RecordBits(absl::Span<const uint8_t> bytes) {
    if (bytes.size() > kMost) {
      many_ = std::make_unique<uint8_t[]>(bytes.size() + kBehind);
      bytes_ = many_.get();
    }
    // Bytes after the record are read, and then masked away.
    std::copy(bytes.begin(), bytes.end(), bytes_);
    std::memset(bytes_ + bytes.size(), 0, kBehind);
  }
  RecordBits(const RecordBits&) = delete;
  RecordBits& operator=(const RecordBits&) = delete;

  // `bit` is where the field begins, counted from the start of the record.
  uint64_t Read(uint64_t bit, const FieldBits& field) const {
    uint64_t word = 0;
    std::memcpy(&word, bytes_ + bit / 8, 8);
    word >>= bit % 8;
    if (field.wide && bit % 8 != 0) word |= uint64_t{bytes_[bit / 8 + 8]} << (64 - bit % 8);
    return word & field.mask;
  }

 private:
  static constexpr size_t kMost = 512;
  static constexpr size_t kBehind = 16;
  uint8_t few_[kMost + kBehind];
  std::unique_ptr<uint8_t[]> many_;
  uint8_t* bytes_ = few_;
};

// Calls visit(fields, i, bit, width, raw, index) for every field that a record shows, the i-th of
// the planned ones: no opcodes, no reserved bits, nothing that the record's own length cuts off.
// The index is the number of a tail's item, or of an optional part that may come several times,
// else -1.
template <class Visit>
void ForEachShown(const tables::Tables& tables, Plans& plans, const RecordView& view,
                  Visit&& visit) {
  const tables::Container& container = view.container;
  Plan& plan = plans.PlanOf(container);
  const RecordBits record(view.bytes);
  const uint64_t bits = view.bytes.size() * 8;
  const bool variants = container.variants.count != 0;
  // Of a leaf of the container whose leaves are shown, a part's or the record's own.
  const auto counts = [&](const PlannedFields& fields, size_t i, uint64_t base,
                          const tables::Container& owner, bool in_tail) {
    const tables::Extra& extra = tables.extra(fields.fields[i].leaf->extra);
    return Scope(tables, owner, view.bytes, in_tail ? 0 : base, in_tail ? base : 0)
        .Holds(extra.counts_when);
  };
  const auto run = [&](const PlannedFields& fields, uint64_t base, uint64_t end, int64_t index,
                       const tables::Container& owner, bool in_tail = false) {
    const size_t count = fields.bits.size();
    if (base + fields.end <= end) {
      for (size_t i = 0; i < count; ++i) {
        const FieldBits& field = fields.bits[i];
        const uint64_t bit = base + field.bit;
        if (field.may_not_count && !counts(fields, i, base, owner, in_tail)) continue;
        visit(fields, i, bit, uint32_t{field.width}, record.Read(bit, field), index);
      }
      return;
    }
    for (size_t i = 0; i < count; ++i) {
      const FieldBits& field = fields.bits[i];
      const uint64_t bit = base + field.bit;
      if (bit >= end || (field.may_not_count && !counts(fields, i, base, owner, in_tail))) continue;
      uint32_t width = field.width;
      uint64_t raw = record.Read(bit, field);
      if (bit + width > end) {
        // A variant's short form is whole; else what the length cuts off is a fault, not a value.
        if (!variants) continue;
        width = static_cast<uint32_t>(end - bit);
        raw &= (uint64_t{1} << width) - 1;
      }
      visit(fields, i, bit, width, raw, index);
    }
  };
  const uint64_t fixed =
      container.parts.count == 0 ? bits : std::min<uint64_t>(bits, uint64_t{container.bytes} * 8);
  run(plan.fields, 0, fixed, -1, container);
  if (container.tail_size != 0) {
    int64_t index = 0;
    for (uint64_t base = container.tail_bit; base < bits; base += container.tail_size) {
      run(plan.tail, base, bits, index++, container, true);
    }
  }
  for (const PlacedPart& placed : view.parts) {
    const PlannedFields& fields = plans.FieldsOf(plan, container, *placed.part);
    const tables::Container& part = tables.container(placed.part->container);
    const uint64_t size = uint64_t{part.bytes} * 8;
    const bool repeats = placed.part->repeat != tables::kNone;
    for (uint64_t i = 0; i < placed.count; ++i) {
      const uint64_t base = placed.bit + i * size;
      run(fields, base, std::min(bits, base + size), repeats ? static_cast<int64_t>(i) : -1, part);
    }
  }
}

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TEXT_PLAN_H_
