#include "gen/model/passes/expressions.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gen/model/ast/field_limits.h"

namespace packsmith::model {
namespace {

// Whether a field of one group can ask fields of another: item i there goes with item i here.
bool RunsInStep(const Group* group, const Group* asks) {
  if (group == nullptr || group == asks) return true;
  return asks != nullptr && !group->tail && !asks->tail && group->count == asks->count;
}

std::optional<uint64_t> TakeNumber(Cursor& cursor) {
  const bool hex = cursor.rest().size() > 2 && cursor.rest()[0] == '0' && cursor.rest()[1] == 'x';
  size_t n = hex ? 2 : 0;
  while (n < cursor.rest().size() &&
         (hex ? absl::ascii_isxdigit(static_cast<unsigned char>(cursor.rest()[n]))
              : absl::ascii_isdigit(static_cast<unsigned char>(cursor.rest()[n])))) {
    ++n;
  }
  uint64_t value = 0;
  const absl::string_view digits = cursor.rest().substr(0, n);
  if (n == 0 || !(hex ? absl::SimpleHexAtoi(digits, &value) : absl::SimpleAtoi(digits, &value))) {
    return std::nullopt;
  }
  cursor.Skip(n);
  return value;
}

}  // namespace

ExpressionReader::ExpressionReader(Context& context) : Pass(context) {
  leaves_state_.resize(model_.containers.size());
  for (const Container& c : model_.containers) {
    for (const Part& part : c.parts) {
      const int i = FindContainer(part.struct_name.text);
      if (i >= 0) leaves_state_[static_cast<size_t>(i)] = true;
    }
    if (c.kind == ContainerKind::kPacket) LeaveState(c.items);
  }
}

// What packets point to is read with them.
void ExpressionReader::LeaveState(const std::vector<Item>& items) {
  for (const Item& item : items) {
    if (const Group* const group = item.group()) LeaveState(group->items);
    const Field* const field = item.field();
    if (field == nullptr) continue;
    for (const Points& points : field->points) {
      const int i = FindContainer(points.to.text);
      if (i >= 0) leaves_state_[static_cast<size_t>(i)] = true;
    }
  }
}

const ExpressionReader::FieldNames& ExpressionReader::NamesIn(const Container& container) {
  const auto [at, is_new] = fields_.try_emplace(&container);
  FieldNames& names = at->second;
  if (!is_new) return names;
  const auto add = [&](const Item& item, const Group* group) {
    const Field* const field = item.field();
    if (field == nullptr) return;
    names.prefixes.Add(field->name, 0);
    names.fields.emplace(field->name, FieldRef{field, group});
  };
  for (const Item& item : container.items) {
    add(item, nullptr);
    const Group* const group = item.group();
    if (group == nullptr) continue;
    for (const Item& inner : group->items) add(inner, group);
  }
  return names;
}

FieldRef ExpressionReader::TakeField(Cursor& cursor, const Scope& scope,
                                     std::initializer_list<absl::string_view> ends) {
  const FieldNames& names = NamesIn(*scope.container);
  FieldRef best;
  size_t length = 0;
  names.prefixes.Longest(cursor.rest(), length, [&](size_t n) {
    if (!cursor.EndsAfter(n, ends)) return false;
    const auto [begin, end] = names.fields.equal_range(cursor.rest().substr(0, n));
    best = {};
    // Of several fields of one name, the one nearest to who asks; else the first.
    for (auto at = begin; at != end; ++at) {
      const FieldRef& field = at->second;
      const bool is_nearest = field.group != nullptr && field.group == scope.group;
      if (is_nearest || (best.field == nullptr && RunsInStep(field.group, scope.group))) {
        best = field;
        if (is_nearest) break;
      }
    }
    return best.field != nullptr;
  });
  cursor.Skip(best.field == nullptr ? 0 : length);
  return best;
}

FieldRef ExpressionReader::FindField(const Deferred& text, const Scope& scope) {
  Cursor cursor(text.text);
  const FieldRef ref = TakeField(cursor, scope, {});
  return cursor.done() ? ref : FieldRef{};
}

template <class T>
std::optional<size_t> ExpressionReader::TakeName(Cursor& cursor, const std::vector<T>& all,
                                                 std::initializer_list<absl::string_view> ends) {
  const auto [at, is_new] = prefixes_.try_emplace(&all);
  for (size_t i = 0; is_new && i < all.size(); ++i) at->second.Add(all[i].name, i);
  size_t length = 0;
  const std::optional<size_t> best = at->second.Longest(
      cursor.rest(), length, [&](size_t n) { return cursor.EndsAfter(n, ends); });
  cursor.Skip(length);
  return best;
}

int ExpressionReader::TakeState(Cursor& cursor) {
  const std::optional<size_t> best = TakeName(cursor, model_.states, {"=", "!=", " and ", " or "});
  return best ? static_cast<int>(*best) : -1;
}

std::optional<uint64_t> ExpressionReader::TakeValue(Cursor& cursor, const Field& field) {
  const std::vector<Value>& values = NamedValues(model_, field);
  const std::optional<size_t> best = TakeName(cursor, values, {" and ", " or "});
  return best ? values[*best].value : TakeNumber(cursor);
}

Condition ExpressionReader::ReadCondition(const Deferred& text, const Scope& scope,
                                          bool asks_states) {
  Condition condition;
  if (text.empty()) return condition;
  Cursor cursor(text.text);
  condition.emplace_back();
  while (true) {
    Term term;
    const bool negated = cursor.Take("!");
    term.ref = TakeField(cursor, scope, {"=", "!=", " and ", " or "});
    if (term.ref.field == nullptr && asks_states) {
      term.state = TakeState(cursor);
      if (term.state >= 0) term.ref = {&model_.states[static_cast<size_t>(term.state)].field};
    }
    if (term.ref.field == nullptr) {
      Report(Code::kUnknownField, text.where,
             absl::StrCat("\"", cursor.rest(), "\" does not begin with a field of \"",
                          scope.container->name, "\""));
      return {};
    }
    const bool compares = cursor.rest().substr(0, 1) == "=" || cursor.rest().substr(0, 2) == "!=";
    if (!IsWhole(*term.ref.field) ||
        (compares ? HasEncoding(*term.ref.field) : !ZeroIsZero(*term.ref.field))) {
      Report(Code::kBadCondition, text.where,
             absl::StrCat("\"", term.ref.field->name,
                          "\" cannot be compared: only integers without an encoding can"));
      return {};
    }
    const bool unequal = cursor.Take("!=");
    if (unequal || cursor.Take("=")) {
      const absl::string_view written = cursor.rest();
      const std::optional<uint64_t> value = TakeValue(cursor, *term.ref.field);
      if (!value || negated) {
        Report(Code::kBadCondition, text.where,
               negated
                   ? std::string("write A!=v, not !A=v")
                   : absl::StrCat("\"", cursor.rest(), "\" is neither a number nor a value of \"",
                                  term.ref.field->name, "\""));
        return {};
      }
      // Negative values have all high bits set.
      if (term.ref.field->type != FieldType::kInt && !term.ref.field->unplaced &&
          *value > Ones(term.ref.field->width)) {
        Report(Code::kBadCondition, text.where,
               absl::StrCat("\"", written, "\": \"", term.ref.field->name, "\" has ",
                            term.ref.field->width, " bits and never holds that"));
        return {};
      }
      term.negated = unequal;
      term.value = *value & Ones(term.ref.field->width);
    } else {
      // A alone: not zero.
      term.negated = !negated;
    }
    condition.back().push_back(term);
    if (condition.size() > 64 || condition.back().size() > 64) {
      Report(Code::kTooLarge, text.where, "this condition is too long");
      return {};
    }
    if (cursor.done()) return condition;
    if (cursor.Take(" or ")) {
      condition.emplace_back();
    } else if (!cursor.Take(" and ")) {
      Report(Code::kBadCondition, text.where,
             absl::StrCat("\"", cursor.rest(), "\": \" and \" or \" or \" was expected here"));
      return {};
    }
  }
}

Expression ExpressionReader::ReadExpression(const Deferred& text, const Scope& scope) {
  Expression expression;
  if (text.empty()) return expression;
  Cursor cursor(text.text);
  if (absl::ascii_isdigit(static_cast<unsigned char>(cursor.rest()[0]))) {
    const FieldRef field = TakeField(cursor, scope, {"*", "+"});
    if (field.field == nullptr && cursor.rest().substr(0, 2) != "2^") {
      const std::optional<uint64_t> number = TakeNumber(cursor);
      if (number && cursor.done()) {
        expression.kind = Expression::Kind::kConstant;
        expression.add = *number;
        return expression;
      }
      cursor = Cursor(text.text);
    } else {
      cursor = Cursor(text.text);
    }
  }
  Scope where = scope;
  expression.kind = Expression::Kind::kField;
  expression.power = cursor.Take("2^");
  const Container* state = nullptr;
  for (size_t i = 0; i < model_.containers.size(); ++i) {
    const Container& c = model_.containers[i];
    // Parts are words of a stream too, so they leave state as packets do. So do registers
    // that packets write, and structures that packets point to.
    if ((c.kind != ContainerKind::kStruct || leaves_state_[i]) &&
        cursor.rest().size() > c.name.size() && cursor.rest().substr(0, c.name.size()) == c.name &&
        cursor.rest()[c.name.size()] == '.' &&
        (state == nullptr || c.name.size() > state->name.size())) {
      state = &c;
    }
  }
  if (state != nullptr) {
    cursor.Skip(state->name.size() + 1);
    expression.kind = Expression::Kind::kState;
    expression.container = static_cast<int>(state - model_.containers.data());
    where = {state, nullptr};
  }
  expression.ref = TakeField(cursor, where, {"*", "+"});
  if (expression.ref.field == nullptr) {
    Report(Code::kUnknownField, text.where,
           absl::StrCat("\"", cursor.rest(), "\" does not begin with a field of \"",
                        where.container->name, "\""));
    return {};
  }
  if (!IsWhole(*expression.ref.field)) {
    Report(Code::kBadExpression, text.where,
           absl::StrCat("\"", expression.ref.field->name, "\" must be an integer"));
    return {};
  }
  std::optional<uint64_t> factor = 1, addend = 0;
  if (cursor.Take("*")) factor = TakeNumber(cursor);
  if (cursor.Take("+")) addend = TakeNumber(cursor);
  if (!factor || !addend || !cursor.done() || *factor > 1u << 31 || *addend > 1u << 31) {
    Report(Code::kBadExpression, text.where,
           absl::StrCat("\"", text.text, "\" must be a number or [2^][PACKET.]FIELD[*N][+N]"));
    return {};
  }
  expression.multiply = *factor;
  expression.add = *addend;
  return expression;
}

}  // namespace packsmith::model
