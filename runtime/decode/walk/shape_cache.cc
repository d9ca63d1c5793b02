#include "runtime/decode/walk/shape_cache.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/decode/trace/trace.h"

namespace packsmith::decode {

Shape::Shape() = default;
Shape::~Shape() = default;
Shape::Shape(Shape&&) = default;
Shape& Shape::operator=(Shape&&) = default;

namespace {

using tables::Leaf;

// Collects the constraints on a record's bits under which conditions and expressions keep their
// current results.
class Constraints {
 public:
  Constraints(const tables::Tables& tables, absl::Span<const uint8_t> bytes,
              absl::Span<uint8_t> mask, std::vector<Shape::Limit>& limits)
      : tables_(tables), bytes_(bytes), mask_(mask), limits_(limits) {}

  void Leaf(uint32_t leaf, const Scope& scope) {
    SetBits(scope.BitOf(leaf), tables_.leaf(leaf).width, mask_);
  }
  // False: it depends on a state, too.
  bool Condition(uint32_t condition, const Scope& scope) {
    bool bits_alone = true;
    if (condition == tables::kNone) return bits_alone;
    for (const tables::Term& term : tables_.terms(tables_.condition(condition).terms)) {
      if (term.of_state != 0) {
        bits_alone = false;
        continue;
      }
      const uint64_t bit = scope.BitOf(term.leaf);
      const uint32_t width = tables_.leaf(term.leaf).width;
      const bool is_there = width <= 64 && bit + width <= bytes_.size() * 8;
      if (term.value == 0 && is_there && width > 1 && ReadBits(bytes_, bit, width) != 0) {
        // Addresses are tested for being nonzero.
        limits_.push_back({bit, width, 1, ~uint64_t{0}});
      } else {
        Leaf(term.leaf, scope);
      }
    }
    return bits_alone;
  }

  // The same for a condition that few records fulfil: a field that equals none of the numbers that
  // it is compared with may have any value on the same side of them.
  void View(uint32_t condition, const Scope& scope) {
    if (condition == tables::kNone) return;
    for (const tables::Term& term : tables_.terms(tables_.condition(condition).terms)) {
      const std::optional<uint64_t> raw = scope.Raw(term.leaf);
      if (!raw || *raw == term.value) {
        Leaf(term.leaf, scope);
        continue;
      }
      const bool less = *raw < term.value;
      Narrow({scope.BitOf(term.leaf), tables_.leaf(term.leaf).width, less ? 0 : term.value + 1,
              less ? term.value - 1 : ~uint64_t{0}});
    }
  }

 private:
  // All views of a structure usually test the same field.
  void Narrow(const Shape::Limit& to) {
    for (Shape::Limit& limit : limits_) {
      if (limit.bit != to.bit || limit.width != to.width) continue;
      limit.least = std::max(limit.least, to.least);
      limit.most = std::min(limit.most, to.most);
      return;
    }
    limits_.push_back(to);
  }

  const tables::Tables& tables_;
  absl::Span<const uint8_t> bytes_;
  absl::Span<uint8_t> mask_;
  std::vector<Shape::Limit>& limits_;
};

// Whether bits and value are the same number, except for a shift.
bool IsPlain(const tables::Tables& tables, const Leaf& leaf) {
  if ((leaf.flags & tables::kLog2) != 0) return false;
  if (leaf.extra == tables::kNone) return true;
  const tables::Extra& extra = tables.extra(leaf.extra);
  return extra.minus == 0 && extra.groups == 0;
}

bool IsAddress(const Leaf& leaf) {
  return leaf.type == tables::LeafType::kAddress || leaf.type == tables::LeafType::kOffset;
}

// A field's bounds as bounds of its bits. False: they have no such form.
bool BoundsOf(const tables::Tables& tables, const FieldAt& at, Shape::Limit& limit) {
  const Leaf& leaf = *at.leaf;
  limit = {at.bit, at.width, 0, ~uint64_t{0}};
  if ((leaf.flags & tables::kNonzero) != 0) limit.least = 1;
  if ((leaf.flags & (tables::kHasMin | tables::kHasMax)) == 0) return at.width <= 64;
  if (leaf.type != tables::LeafType::kUint || leaf.shift != 0 || !IsPlain(tables, leaf)) {
    return false;
  }
  const tables::Extra& extra = tables.extra(leaf.extra);
  if ((leaf.flags & tables::kHasMin) != 0) {
    limit.least = std::max(limit.least, static_cast<uint64_t>(extra.min));
  }
  if ((leaf.flags & tables::kHasMax) != 0) limit.most = static_cast<uint64_t>(extra.max);
  return true;
}

}  // namespace

Shape* ShapeCache::Learn(const RecordView& record, uint64_t size) {
  if (record.bytes.empty() || record.bytes.size() > kLongest) return nullptr;
  std::unique_ptr<Kind>& kind = kinds_[tables_.IndexOf(record.container)];
  // A container that occurs only once needs no shapes.
  if (kind == nullptr) {
    kind = std::make_unique<Kind>();
    return nullptr;
  }
  std::unique_ptr<Shape>& shape = kind->shapes[kind->next];
  if (shape != nullptr && (shape->users != 0 || ++kind->without < kBackOff)) return nullptr;
  kind->without = 0;
  kind->next = (kind->next + 1) % kMost;
  if (shape == nullptr) shape = std::make_unique<Shape>();
  *shape = Make(record, size);
  return last_[tables_.IndexOf(record.container)] = shape.get();
}

Shape ShapeCache::Make(const RecordView& record, uint64_t size) {
  Shape shape;
  shape.number = ++last_number_;
  shape.bytes = record.bytes.size();
  shape.name = tables_.string(record.container.name);
  shape.stated_size = size;
  shape.parts.assign(record.parts.begin(), record.parts.end());

  std::vector<uint8_t> mask(record.bytes.size());
  Constraints constraints(tables_, record.bytes, absl::MakeSpan(mask), shape.limits);
  const tables::Container& container = record.container;
  const Scope whole(tables_, container, record.bytes);
  if (container.length_leaf != tables::kNone) constraints.Leaf(container.length_leaf, whole);
  for (const tables::Part& part : tables_.parts(container.parts)) {
    constraints.Condition(part.when, whole);
    if (part.repeat == tables::kNone) continue;
    const tables::Expression& repeat = tables_.expression(part.repeat);
    if (repeat.kind != tables::ExpressionKind::kConstant) constraints.Leaf(repeat.leaf, whole);
  }
  for (const tables::Variant& variant : tables_.variants(container.variants)) {
    constraints.Condition(variant.when, whole);
  }
  constraints.Condition(container.pad_when, whole);
  for (const tables::Flow& flow : tables_.flows(container.flows)) {
    shape.flows_by_bits &= constraints.Condition(flow.when, whole);
  }

  size_t pointers = 0;
  ForEachField(tables_, record, [&](const FieldAt& at) {
    const Leaf& leaf = *at.leaf;
    constexpr uint16_t kFixed = tables::kForced | tables::kMustBeZero | tables::kMustBeOne;
    constexpr uint16_t kLimited = tables::kNonzero | tables::kHasMin | tables::kHasMax;
    Shape::Limit limit;
    if ((leaf.flags & kFixed) != 0) {
      SetBits(at.bit, at.width, absl::MakeSpan(mask));
    } else if ((leaf.flags & kLimited) != 0 && !at.cut) {
      if (BoundsOf(tables_, at, limit)) {
        shape.limits.push_back(limit);
      } else {
        SetBits(at.bit, at.width, absl::MakeSpan(mask));
      }
    }
    if (leaf.extra == tables::kNone) return;
    if (Acts(tables_, leaf)) shape.acting.push_back(at);
    const tables::Extra& extra = tables_.extra(leaf.extra);
    // Records of a shape have the same fields.
    constraints.View(extra.counts_when, Scope(tables_, at, record.bytes));
    if (extra.pointer == tables::kNone) return;
    ++pointers;
    if (at.cut) return;
    const Scope scope(tables_, at, record.bytes);
    const tables::Pointer* counts = nullptr;
    bool bits_alone = true;
    for (uint32_t i = extra.pointer; i != tables::kNone; i = tables_.pointer(i).next) {
      const tables::Pointer& pointer = tables_.pointer(i);
      bits_alone &= constraints.Condition(pointer.when, scope);
      bits_alone &= constraints.Condition(pointer.space_when, scope);
      if (counts == nullptr && scope.Holds(pointer.when)) counts = &pointer;
    }
    if (bits_alone && counts == nullptr) return;
    ShapePointer& to = shape.pointers.emplace_back();
    to.at = at;
    to.pointer = bits_alone ? counts : nullptr;
    to.number = pointers - 1;
    to.plain = bits_alone && IsPlain(tables_, leaf) && counts->scale == tables::kNone &&
               at.width <= 64 && (IsAddress(leaf) || leaf.type == tables::LeafType::kUint);
    to.high = nullptr;
    if (extra.high != tables::kNone) {
      const tables::Expression& high = tables_.expression(extra.high);
      to.plain &= high.kind == tables::ExpressionKind::kLeaf && scope.Raw(high.leaf).has_value() &&
                  IsPlain(tables_, tables_.leaf(high.leaf)) &&
                  tables_.leaf(high.leaf).type == tables::LeafType::kUint;
      if (to.plain) {
        to.high = &high;
        to.high_bit = scope.BitOf(high.leaf);
        to.high_width = tables_.leaf(high.leaf).width;
        to.high_shift = tables_.leaf(high.leaf).shift;
      }
    }
    to.unread = bits_alone && IsUnread(tables_, *counts);
    shape.has_unread |= to.unread;
    to.address_mask = IsAddress(leaf) ? tables_.address_mask() : ~uint64_t{0};
    to.in_other_space = bits_alone && SpaceOf(*counts, scope, 0) != 0;
    to.somewhere = bits_alone && (counts->target_kind == tables::TargetKind::kData
                                      ? tables_.data(counts->target).is_code != 0
                                      : counts->count == tables::kNone &&
                                            (counts->until_zero == 0 || counts->limit != 0));
  });
  shape.same = MaskedBytes(record.bytes, mask);
  return shape;
}

}  // namespace packsmith::decode
