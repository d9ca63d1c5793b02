// All described fields of a packet or structure in memory, one after another.
#ifndef PACKSMITH_RUNTIME_DECODE_FIELDS_H_
#define PACKSMITH_RUNTIME_DECODE_FIELDS_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "runtime/decode/value.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// A field's full name in pieces, so that naming it allocates nothing:
// part [part_index] "." head [index] tail.
struct FieldName {
  absl::string_view part;
  int64_t part_index = -1;
  // Their lengths are found out where they are written: most who visit fields want no names.
  const char* head = "";
  int64_t index = -1;
  const char* tail = "";
};

void AppendFieldName(const FieldName& name, std::string& to);

// Where a field stands and what it is.
struct FieldAt {
  FieldName name;
  const tables::Leaf* leaf;
  uint64_t bit;    // from the start of the record
  uint32_t width;  // bits that exist
  bool cut;        // the record ends inside of the field
  // What the leaf's own position counts from: the record, the item of the tail, or the structure of
  // the part. `owner` is the container that the leaf belongs to.
  const tables::Container* owner;
  uint64_t base;
  bool in_tail;
};

// The bits of a leaf of the same item, structure or packet, for conditions and expressions.
class Scope {
 public:
  Scope(const tables::Tables& tables, const tables::Container& container,
        absl::Span<const uint8_t> bytes, uint64_t base = 0, uint64_t tail_base = 0)
      : tables_(tables), container_(container), bytes_(bytes), base_(base), tail_base_(tail_base) {}

  // Of the field at hand. `states` are the values of the tables' bases, for conditions that ask
  // one.
  Scope(const tables::Tables& tables, const FieldAt& at, absl::Span<const uint8_t> bytes,
        absl::Span<const absl::optional<uint64_t>> states = {})
      : Scope(tables, *at.owner, bytes, at.in_tail ? 0 : at.base, at.in_tail ? at.base : 0) {
    states_ = states;
  }

  // Empty where the record is too short to have the leaf.
  absl::optional<uint64_t> Raw(uint32_t leaf_index) const;
  absl::optional<uint64_t> Number(uint32_t leaf_index) const;
  // Where the leaf stands in the record; it may stand behind its end.
  uint64_t BitOf(uint32_t leaf_index) const;
  // Terms whose leaf does not exist, or whose state is not known, are false. kNone: true.
  bool Holds(uint32_t condition) const;

 private:
  absl::optional<uint64_t> StateOf(uint32_t state) const;

  const tables::Tables& tables_;
  const tables::Container& container_;
  absl::Span<const uint8_t> bytes_;
  uint64_t base_;
  uint64_t tail_base_;
  absl::Span<const absl::optional<uint64_t>> states_;
};

// How many bytes a packet or structure takes, as it says itself. `bytes` is what there is; the
// answer may be more: at least 1 where that is a packet's, at most 16 MiB.
uint64_t LengthOf(const tables::Tables& tables, const tables::Container& container,
                  absl::Span<const uint8_t> bytes);

namespace internal {

template <class Visit>
void VisitLeaves(absl::Span<const tables::Leaf> leaves, const tables::Tables& tables,
                 const tables::Container& owner, uint64_t record_bits, uint64_t base,
                 const FieldName& prefix, int64_t index, Visit& visit) {
  for (const tables::Leaf& leaf : leaves) {
    const uint64_t bit = base + leaf.bit;
    if (bit >= record_bits) continue;
    FieldAt at;
    at.name = prefix;
    at.name.head = tables.string(leaf.name).data();
    at.name.index = index;
    at.name.tail = tables.string(leaf.name_suffix).data();
    at.leaf = &leaf;
    at.bit = bit;
    at.cut = bit + leaf.width > record_bits;
    at.width = at.cut ? static_cast<uint32_t>(record_bits - bit) : leaf.width;
    at.owner = &owner;
    at.base = base;
    at.in_tail = index >= 0;
    visit(at);
  }
}

}  // namespace internal

// multiply and add of an expression applied to the value of its leaf.
uint64_t Apply(const tables::Expression& expression, uint64_t value);

// How often a part comes, its condition aside.
uint64_t RepeatOf(const tables::Tables& tables, const tables::Part& part, const Scope& scope);

// Calls visit(part, index, bit) for each optional part that begins inside of `bytes`. The index is
// -1 for a part that comes at most once.
template <class Visit>
void ForEachPart(const tables::Tables& tables, const tables::Container& container,
                 absl::Span<const uint8_t> bytes, const Visit& visit) {
  if (container.parts.count == 0) return;
  const Scope scope(tables, container, bytes);
  uint64_t base = uint64_t{container.bytes} * 8;
  for (const tables::Part& part : tables.parts(container.parts)) {
    if (!scope.Holds(part.when)) continue;
    const bool repeats = part.repeat != tables::kNone;
    const uint64_t size = uint64_t{tables.container(part.container).bytes} * 8;
    if (size == 0) continue;
    const uint64_t repeat = RepeatOf(tables, part, scope);
    for (uint64_t i = 0; i < repeat && base < bytes.size() * 8; ++i) {
      visit(part, repeats ? static_cast<int64_t>(i) : -1, base);
      base += size;
    }
  }
}

// Calls visit(const FieldAt&) for each leaf that begins inside of `bytes`, in bit order: the fixed
// part, then the items of the tail, then the optional parts.
template <class Visit>
void ForEachField(const tables::Tables& tables, const tables::Container& container,
                  absl::Span<const uint8_t> bytes, Visit&& visit) {
  const uint64_t bits = bytes.size() * 8;
  uint64_t fixed_bits = bits;
  if (container.parts.count != 0) {
    fixed_bits = std::min<uint64_t>(bits, uint64_t{container.bytes} * 8);
  }
  internal::VisitLeaves(tables.leaves(container.leaves), tables, container, fixed_bits, 0,
                        FieldName{}, -1, visit);
  if (container.tail_size != 0) {
    const absl::Span<const tables::Leaf> leaves = tables.leaves(container.tail_leaves);
    int64_t index = 0;
    for (uint64_t base = container.tail_bit; base < bits; base += container.tail_size) {
      internal::VisitLeaves(leaves, tables, container, bits, base, FieldName{}, index++, visit);
    }
  }
  ForEachPart(tables, container, bytes, [&](const tables::Part& part, int64_t i, uint64_t base) {
    const tables::Container& nested = tables.container(part.container);
    FieldName prefix;
    prefix.part = tables.string(part.name);
    prefix.part_index = i;
    internal::VisitLeaves(tables.leaves(nested.leaves), tables, nested,
                          std::min(bits, base + uint64_t{nested.bytes} * 8), base, prefix, -1,
                          visit);
  });
}

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_FIELDS_H_
