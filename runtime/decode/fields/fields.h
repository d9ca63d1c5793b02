// All described fields of a packet or structure in memory, one after another.
#ifndef PACKSMITH_RUNTIME_DECODE_FIELDS_FIELDS_H_
#define PACKSMITH_RUNTIME_DECODE_FIELDS_FIELDS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/value.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// A field's full name in pieces, so that naming it allocates nothing:
// part [part_index] "." head [index] tail.
struct FieldName {
  absl::string_view part;
  int64_t part_index = -1;
  // Their lengths are computed when they are written: most visitors do not need names.
  const char* head = "";
  int64_t index = -1;
  const char* tail = "";
};

void AppendFieldName(const FieldName& name, std::string& to);

// A field and its position.
struct FieldAt {
  FieldName name;
  const tables::Leaf* leaf;
  uint64_t bit;    // from the start of the record
  uint32_t width;  // bits that exist
  bool cut;        // the record ends inside the field
  // `base` is the origin of the leaf's own position: the beginning of the record, of the tail's
  // item, or of the part's structure. `owner` is the container that the leaf belongs to.
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

  // The scope of a field. `states` are the values of the tables' bases, for conditions that use
  // one.
  Scope(const tables::Tables& tables, const FieldAt& at, absl::Span<const uint8_t> bytes,
        absl::Span<const std::optional<uint64_t>> states = {})
      : Scope(tables, *at.owner, bytes, at.in_tail ? 0 : at.base, at.in_tail ? at.base : 0) {
    states_ = states;
  }

  // Empty if the record is too short to have the leaf.
  std::optional<uint64_t> Raw(uint32_t leaf_index) const {
    const tables::Leaf& leaf = tables_.leaf(leaf_index);
    const uint64_t bit = BitOf(leaf_index);
    if (leaf.width > 64 || bit + leaf.width > bytes_.size() * 8) return std::nullopt;
    return ReadBits(bytes_, bit, leaf.width);
  }
  std::optional<uint64_t> Number(uint32_t leaf_index) const;
  // The leaf's position in the record; it may be after the record's end.
  uint64_t BitOf(uint32_t leaf_index) const {
    const bool in_tail = leaf_index - container_.tail_leaves.first < container_.tail_leaves.count;
    return tables_.leaf(leaf_index).bit + (in_tail ? tail_base_ : base_);
  }
  // Terms whose leaf does not exist, or whose state is not known, are false. kNone: true.
  bool Holds(uint32_t condition) const;

 private:
  std::optional<uint64_t> StateOf(uint32_t state) const;

  const tables::Tables& tables_;
  const tables::Container& container_;
  absl::Span<const uint8_t> bytes_;
  uint64_t base_;
  uint64_t tail_base_;
  absl::Span<const std::optional<uint64_t>> states_;
};

// The address space of what a pointer in a record points to: the one that it names if `space_when`
// holds, or always without it; else `own`, that of the submission.
inline uint32_t SpaceOf(const tables::Pointer& pointer, const Scope& scope, uint32_t own) {
  return pointer.space != 0 && scope.Holds(pointer.space_when) ? pointer.space : own;
}

// The length in bytes that a packet or structure states. `bytes` are those in memory; the result
// may be more: at least 1 for a packet, at most 16 MiB.
uint64_t LengthOf(const tables::Tables& tables, const tables::Container& container,
                  absl::Span<const uint8_t> bytes);

// The position of optional parts of one kind in a record, one after the other.
struct PlacedPart {
  const tables::Part* part;
  uint64_t bit;    // of the first one, from the start of the record
  uint64_t count;  // how many begin inside the record: at least one
};
// Few records have more kinds of parts, so that placing them allocates nothing.
using PlacedParts = absl::InlinedVector<PlacedPart, 32>;

// The optional parts that begin inside `bytes`.
PlacedParts PlaceParts(const tables::Tables& tables, const tables::Container& container,
                       absl::Span<const uint8_t> bytes);

// A packet or structure in memory, with its parts, which are computed only once.
struct RecordView {
  const tables::Container& container;
  absl::Span<const uint8_t> bytes;
  absl::Span<const PlacedPart> parts;
};

// multiply and add of an expression applied to the value of its leaf.
uint64_t Apply(const tables::Expression& expression, uint64_t value);

// The value of an expression; empty if that which it depends on is not known. `of_leaf(leaf)` is
// the value of a leaf of the record, `of_state(container, leaf)` of the last packet of another
// kind, both std::optional<uint64_t>.
template <class OfLeaf, class OfState>
std::optional<uint64_t> Evaluate(const tables::Expression& expression, OfLeaf&& of_leaf,
                                 OfState&& of_state) {
  std::optional<uint64_t> value;
  switch (expression.kind) {
    case tables::ExpressionKind::kConstant:
      return expression.add;
    case tables::ExpressionKind::kLeaf:
      value = of_leaf(expression.leaf);
      break;
    case tables::ExpressionKind::kState:
      value = of_state(expression.container, expression.leaf);
      break;
  }
  if (!value) return std::nullopt;
  return Apply(expression, *value);
}

// The expressions for the amount of data that a pointer points to, and for its kind; some are
// kNone.
inline std::array<uint32_t, 8> AmountExpressions(const tables::Pointer& pointer) {
  return {pointer.count, pointer.size,   pointer.stride, pointer.end,
          pointer.slot,  pointer.format, pointer.step,   pointer.simd};
}

// How often a part comes, apart from its condition.
uint64_t RepeatOf(const tables::Tables& tables, const tables::Part& part, const Scope& scope);

// Whether the leaf's value sets a base, or is written to a register or to memory.
bool Acts(const tables::Tables& tables, const tables::Leaf& leaf);

// The leaves of containers that one kind of pass over records needs, so that it skips the others.
// Made for each container when its first record comes.
class ChosenLeaves {
 public:
  using Choice = bool (*)(const tables::Tables& tables, const tables::Leaf& leaf);
  struct Chosen {
    std::vector<const tables::Leaf*> fixed, tail;
  };

  // The tables must outlive this.
  ChosenLeaves(const tables::Tables& tables, Choice choice)
      : tables_(tables), choice_(choice), chosen_(tables.containers().size()) {}

  const Chosen& Of(const tables::Container& container) {
    std::unique_ptr<Chosen>& chosen = chosen_[tables_.IndexOf(container)];
    if (chosen == nullptr) chosen = Make(container);
    return *chosen;
  }

 private:
  std::unique_ptr<Chosen> Make(const tables::Container& container) const;

  const tables::Tables& tables_;
  const Choice choice_;
  std::vector<std::unique_ptr<Chosen>> chosen_;
};

namespace internal {

// No record is longer; a larger length or count field is wrong.
inline constexpr uint64_t kLongestRecord = 1 << 24;

// `holds(part)`: the result of the part's condition.
template <class Holds>
PlacedParts PlaceParts(const tables::Tables& tables, const tables::Container& container,
                       absl::Span<const uint8_t> bytes, const Holds& holds) {
  PlacedParts placed;
  const uint64_t end = bytes.size() * 8;
  uint64_t bit = uint64_t{container.bytes} * 8;
  for (const tables::Part& part : tables.parts(container.parts)) {
    if (bit >= end) break;
    if (!holds(part)) continue;
    const uint64_t size = uint64_t{tables.container(part.container).bytes} * 8;
    if (size == 0) continue;
    uint64_t count = 1;
    if (part.repeat != tables::kNone) {
      count = RepeatOf(tables, part, Scope(tables, container, bytes));
      count = std::min(count, (end - bit - 1) / size + 1);
      if (count == 0) continue;
    }
    placed.push_back({&part, bit, count});
    bit += count * size;
  }
  return placed;
}

// Of a container with parts.
template <class Holds>
uint64_t LengthOf(const tables::Tables& tables, const tables::Container& container,
                  absl::Span<const uint8_t> bytes, const Holds& holds) {
  const Scope scope(tables, container, bytes);
  uint64_t length = container.bytes;
  for (const tables::Part& part : tables.parts(container.parts)) {
    if (!holds(part)) continue;
    length += RepeatOf(tables, part, scope) * tables.container(part.container).bytes;
  }
  if (container.pad_to != 0 && scope.Holds(container.pad_when)) {
    length = (length + container.pad_to - 1) / container.pad_to * container.pad_to;
  }
  return std::min(length, kLongestRecord);
}

inline const tables::Leaf& LeafOf(const tables::Leaf& leaf) { return leaf; }
inline const tables::Leaf& LeafOf(const tables::Leaf* leaf) { return *leaf; }

template <class Leaves, class Visit>
void VisitLeaves(const Leaves& leaves, const tables::Tables& tables, const tables::Container& owner,
                 uint64_t record_bits, uint64_t base, const FieldName& prefix, int64_t index,
                 Visit& visit) {
  for (const auto& each : leaves) {
    const tables::Leaf& leaf = LeafOf(each);
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

// `fixed` and `tail` return the leaves of a container to visit.
template <class Fixed, class Tail, class Visit>
void VisitRecord(const tables::Tables& tables, const RecordView& record, const Fixed& fixed,
                 const Tail& tail, Visit& visit) {
  const tables::Container& container = record.container;
  const uint64_t bits = record.bytes.size() * 8;
  uint64_t fixed_bits = bits;
  if (container.parts.count != 0) {
    fixed_bits = std::min<uint64_t>(bits, uint64_t{container.bytes} * 8);
  }
  VisitLeaves(fixed(container), tables, container, fixed_bits, 0, FieldName{}, -1, visit);
  if (container.tail_size != 0) {
    const auto& leaves = tail(container);
    int64_t index = 0;
    for (uint64_t base = container.tail_bit; base < bits && !leaves.empty();
         base += container.tail_size) {
      VisitLeaves(leaves, tables, container, bits, base, FieldName{}, index++, visit);
    }
  }
  for (const PlacedPart& placed : record.parts) {
    const tables::Container& nested = tables.container(placed.part->container);
    const auto& leaves = fixed(nested);
    if (leaves.empty()) continue;
    const uint64_t size = uint64_t{nested.bytes} * 8;
    FieldName prefix;
    prefix.part = tables.string(placed.part->name);
    for (uint64_t i = 0; i < placed.count; ++i) {
      const uint64_t base = placed.bit + i * size;
      if (placed.part->repeat != tables::kNone) prefix.part_index = static_cast<int64_t>(i);
      VisitLeaves(leaves, tables, nested, std::min(bits, base + size), base, prefix, -1, visit);
    }
  }
}

}  // namespace internal

// Calls visit(const FieldAt&) for each leaf that begins inside the record, in bit order: the
// fixed part, then the items of the tail, then the optional parts.
template <class Visit>
void ForEachField(const tables::Tables& tables, const RecordView& record, Visit&& visit) {
  const auto fixed = [&](const tables::Container& c) { return tables.leaves(c.leaves); };
  const auto tail = [&](const tables::Container& c) { return tables.leaves(c.tail_leaves); };
  internal::VisitRecord(tables, record, fixed, tail, visit);
}

// The same, for the chosen leaves only.
template <class Visit>
void ForEachField(const tables::Tables& tables, ChosenLeaves& chosen, const RecordView& record,
                  Visit&& visit) {
  const auto fixed = [&](const tables::Container& c) -> const auto& { return chosen.Of(c).fixed; };
  const auto tail = [&](const tables::Container& c) -> const auto& { return chosen.Of(c).tail; };
  internal::VisitRecord(tables, record, fixed, tail, visit);
}

template <class Visit>
void ForEachField(const tables::Tables& tables, const tables::Container& container,
                  absl::Span<const uint8_t> bytes, Visit&& visit) {
  const PlacedParts parts = PlaceParts(tables, container, bytes);
  ForEachField(tables, {container, bytes, parts}, visit);
}

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_FIELDS_FIELDS_H_
