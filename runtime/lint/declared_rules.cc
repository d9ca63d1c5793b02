#include "runtime/lint/declared_rules.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::lint {
namespace {

using decode::Record;
using decode::Scope;
using tables::Comparison;

}  // namespace

DeclaredRules::DeclaredRules(const tables::Tables& tables, const Evaluator& evaluator,
                             Alarms& alarms)
    : tables_(tables), evaluator_(evaluator), alarms_(alarms) {
  for (const tables::Container& container : tables.containers()) {
    const auto parts = tables.parts(container.parts);
    wanted_.push_back(container.rules.count != 0 ||
                      std::any_of(parts.begin(), parts.end(), [&](const tables::Part& part) {
                        return tables.container(part.container).rules.count != 0;
                      }));
  }
}

void DeclaredRules::Check(const Record& record, const Context& context, const Place& place) {
  if (record.container == nullptr || !wanted_[tables_.IndexOf(*record.container)]) return;
  const tables::Container& container = *record.container;
  const uint64_t bits = record.bytes.size() * 8;
  for (const tables::Rule& rule : tables_.rules(container.rules)) {
    if (!alarms_.Wants(tables_.string(rule.number))) continue;
    if (rule.in_tail == 0) {
      CheckOne(rule, Scope(tables_, container, record.bytes), context, place);
      continue;
    }
    for (uint64_t base = container.tail_bit;
         container.tail_size != 0 && base + container.tail_size <= bits;
         base += container.tail_size) {
      CheckOne(rule, Scope(tables_, container, record.bytes, 0, base), context, place);
      // Nothing says how many items the tail of a structure has.
      if (record.type == decode::RecordType::kStruct) break;
    }
  }
  for (const decode::PlacedPart& placed : record.parts) {
    const tables::Container& part = tables_.container(placed.part->container);
    if (part.rules.count == 0) continue;
    for (uint64_t i = 0; i < placed.count; ++i) {
      const uint64_t base = placed.bit + i * part.bytes * 8;
      for (const tables::Rule& rule : tables_.rules(part.rules)) {
        if (!alarms_.Wants(tables_.string(rule.number)) || rule.in_tail != 0) continue;
        CheckOne(rule, Scope(tables_, part, record.bytes, base), context, place);
      }
    }
  }
}

void DeclaredRules::CheckOne(const tables::Rule& rule, const Scope& scope, const Context& context,
                             const Place& place) {
  if (!scope.Holds(rule.when)) return;
  std::string what;
  if (rule.left != tables::kNone) {
    const std::optional<Side> left = SideOf(rule.left, scope, context);
    const std::optional<Side> right = SideOf(rule.right, scope, context);
    if (!left || !right || Compares(rule.is, *left, *right)) return;
    constexpr absl::string_view kWords[tables::kComparisons] = {
        "is not", "is", "is not less than", "is more than", "is not a multiple of"};
    what = absl::StrCat(Named(rule.left, *left), " ", kWords[static_cast<size_t>(rule.is)], " ",
                        Named(rule.right, *right));
  } else {
    // The fields of the condition, once each.
    std::vector<uint32_t> fields;
    for (const tables::Term& term : tables_.terms(tables_.condition(rule.when).terms)) {
      if (term.of_state != 0 ||
          std::find(fields.begin(), fields.end(), term.leaf) != fields.end()) {
        continue;
      }
      fields.push_back(term.leaf);
      const tables::Leaf& leaf = tables_.leaf(term.leaf);
      const uint64_t raw = scope.Raw(term.leaf).value_or(0);
      const absl::string_view name = tables_.ValueName(leaf, raw);
      absl::StrAppend(&what, what.empty() ? "" : ", ", tables_.string(leaf.name), " is ",
                      name.empty() ? absl::StrCat(raw) : std::string(name));
    }
  }
  alarms_.Raise({tables_.string(rule.number), rule.severity, tables_.string(rule.doc),
                 tables_.string(rule.source)},
                place, FieldOf(rule, scope), std::move(what));
}

std::optional<DeclaredRules::Side> DeclaredRules::SideOf(uint32_t expression, const Scope& scope,
                                                         const Context& context) const {
  const std::optional<uint64_t> number = evaluator_.Evaluate(expression, scope, context);
  if (!number) return std::nullopt;
  Side side;
  side.number = *number;
  const tables::Expression& from = tables_.expression(expression);
  if (from.kind == tables::ExpressionKind::kConstant) return side;
  const tables::Leaf& leaf = tables_.leaf(from.leaf);
  side.is_signed = leaf.type == tables::LeafType::kInt;
  const bool plain = from.power == 0 && from.multiply == 1 && from.add == 0;
  if (from.kind != tables::ExpressionKind::kLeaf || !plain) return side;
  const std::optional<uint64_t> raw = scope.Raw(from.leaf);
  if (!raw) return side;
  const decode::Value value = decode::DecodeValue(tables_, leaf, leaf.width, *raw);
  if (value.kind == decode::ValueKind::kReal) side.real = value.real;
  return side;
}

bool DeclaredRules::Compares(Comparison is, const Side& left, const Side& right) {
  const auto real = [](const Side& side) {
    return side.real        ? *side.real
           : side.is_signed ? static_cast<double>(static_cast<int64_t>(side.number))
                            : static_cast<double>(side.number);
  };
  const bool reals = left.real || right.real;
  const bool are_signed = left.is_signed || right.is_signed;
  const auto less = [&](const Side& a, const Side& b) {
    if (reals) return real(a) < real(b);
    return are_signed ? static_cast<int64_t>(a.number) < static_cast<int64_t>(b.number)
                      : a.number < b.number;
  };
  const bool same = reals ? real(left) == real(right) : left.number == right.number;
  switch (is) {
    case Comparison::kEqual:
      return same;
    case Comparison::kDifferent:
      return !same;
    case Comparison::kBelow:
      return less(left, right);
    case Comparison::kAtMost:
      // NaN is neither more nor less.
      return !less(right, left);
    case Comparison::kMultiple:
      return right.number == 0 || left.number % right.number == 0;
  }
  return true;
}

std::string DeclaredRules::Text(const Side& side) {
  if (side.real) return absl::StrFormat("%.9g", *side.real);
  return side.is_signed ? absl::StrCat(static_cast<int64_t>(side.number))
                        : absl::StrCat(side.number);
}

std::string DeclaredRules::Named(uint32_t expression, const Side& side) const {
  const tables::Expression& from = tables_.expression(expression);
  if (from.kind == tables::ExpressionKind::kConstant) return Text(side);
  std::string name(tables_.string(tables_.leaf(from.leaf).name));
  if (from.kind == tables::ExpressionKind::kState) {
    name = absl::StrCat(tables_.string(tables_.container(from.container).name), ".", name);
  }
  if (from.power != 0 || from.multiply != 1 || from.add != 0) {
    return absl::StrCat(Text(side), ", of ", name);
  }
  return absl::StrCat(name, " (", Text(side), ")");
}

FieldPlace DeclaredRules::FieldOf(const tables::Rule& rule, const Scope& scope) const {
  uint32_t leaf = tables::kNone;
  for (const uint32_t expression : {rule.left, rule.right}) {
    if (expression == tables::kNone || leaf != tables::kNone) continue;
    const tables::Expression& from = tables_.expression(expression);
    if (from.kind == tables::ExpressionKind::kLeaf) leaf = from.leaf;
  }
  if (leaf == tables::kNone && rule.when != tables::kNone) {
    for (const tables::Term& term : tables_.terms(tables_.condition(rule.when).terms)) {
      if (term.of_state == 0 && leaf == tables::kNone) leaf = term.leaf;
    }
  }
  if (leaf == tables::kNone) return {};
  FieldPlace field{{}, scope.BitOf(leaf), tables_.leaf(leaf).width};
  field.name.head = tables_.string(tables_.leaf(leaf).name).data();
  field.name.tail = tables_.string(tables_.leaf(leaf).name_suffix).data();
  return field;
}

}  // namespace packsmith::lint
