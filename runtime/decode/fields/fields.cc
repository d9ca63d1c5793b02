#include "runtime/decode/fields/fields.h"

#include <optional>

#include "absl/strings/str_cat.h"

namespace packsmith::decode {
void AppendFieldName(const FieldName& name, std::string& to) {
  if (!name.part.empty()) {
    absl::StrAppend(&to, name.part);
    if (name.part_index >= 0) absl::StrAppend(&to, "[", name.part_index, "]");
    to += '.';
  }
  absl::StrAppend(&to, name.head);
  if (name.index >= 0) absl::StrAppend(&to, "[", name.index, "]");
  absl::StrAppend(&to, name.tail);
}

std::optional<uint64_t> Scope::Number(uint32_t leaf_index) const {
  const std::optional<uint64_t> raw = Raw(leaf_index);
  if (!raw) return raw;
  const tables::Leaf& leaf = tables_.leaf(leaf_index);
  return NumberOfBits(tables_, leaf, leaf.width, *raw);
}

std::optional<uint64_t> Scope::StateOf(uint32_t state) const {
  return state < states_.size() ? states_[state] : std::nullopt;
}

bool Scope::Holds(uint32_t condition) const {
  if (condition == tables::kNone) return true;
  bool clause = true;
  for (const tables::Term& term : tables_.terms(tables_.condition(condition).terms)) {
    if (clause) {
      const std::optional<uint64_t> raw = term.of_state != 0 ? StateOf(term.leaf) : Raw(term.leaf);
      clause = raw && (*raw == term.value) != (term.negated != 0);
    }
    if (term.ends_clause != 0) {
      if (clause) return true;
      clause = true;
    }
  }
  return false;
}

uint64_t Apply(const tables::Expression& expression, uint64_t value) {
  if (expression.power != 0) value = value < 64 ? uint64_t{1} << value : 0;
  return value * expression.multiply + expression.add;
}

uint64_t RepeatOf(const tables::Tables& tables, const tables::Part& part, const Scope& scope) {
  if (part.repeat == tables::kNone) return 1;
  const tables::Expression& e = tables.expression(part.repeat);
  const uint64_t repeat = e.kind == tables::ExpressionKind::kConstant
                              ? e.add
                              : Apply(e, scope.Number(e.leaf).value_or(0));
  return std::min(repeat, internal::kLongestRecord);
}

PlacedParts PlaceParts(const tables::Tables& tables, const tables::Container& container,
                       absl::Span<const uint8_t> bytes) {
  if (container.parts.count == 0) return {};
  const Scope scope(tables, container, bytes);
  return internal::PlaceParts(tables, container, bytes,
                              [&](const tables::Part& part) { return scope.Holds(part.when); });
}

bool Acts(const tables::Tables& tables, const tables::Leaf& leaf) {
  if (leaf.extra == tables::kNone) return false;
  const tables::Extra& extra = tables.extra(leaf.extra);
  return extra.sets_base != tables::kNone || extra.writes_leaf != tables::kNone ||
         extra.stores_leaf != tables::kNone;
}

std::unique_ptr<ChosenLeaves::Chosen> ChosenLeaves::Make(const tables::Container& container) const {
  auto chosen = std::make_unique<Chosen>();
  for (const tables::Leaf& leaf : tables_.leaves(container.leaves)) {
    if (choice_(tables_, leaf)) chosen->fixed.push_back(&leaf);
  }
  for (const tables::Leaf& leaf : tables_.leaves(container.tail_leaves)) {
    if (choice_(tables_, leaf)) chosen->tail.push_back(&leaf);
  }
  return chosen;
}

uint64_t LengthOf(const tables::Tables& tables, const tables::Container& container,
                  absl::Span<const uint8_t> bytes) {
  const Scope scope(tables, container, bytes);
  if (container.length_leaf != tables::kNone) {
    const std::optional<uint64_t> raw = scope.Raw(container.length_leaf);
    if (!raw) return container.bytes;
    const uint64_t steps = std::min(*raw, internal::kLongestRecord) + container.length_bias;
    // With a length of zero the walk would not advance.
    return std::clamp<uint64_t>(steps * container.length_unit,
                                std::max<uint64_t>(container.identify_bytes, 1),
                                internal::kLongestRecord);
  }
  if (container.parts.count != 0) {
    return internal::LengthOf(tables, container, bytes,
                              [&](const tables::Part& part) { return scope.Holds(part.when); });
  }
  for (const tables::Variant& variant : tables.variants(container.variants)) {
    if (scope.Holds(variant.when)) return std::max(variant.bytes, 1u);
  }
  return container.bytes;
}

}  // namespace packsmith::decode
