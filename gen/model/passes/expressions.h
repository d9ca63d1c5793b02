// Conditions and expressions, which are texts of attributes until a pass reads them.
//
// Needs: types (values are compared by name), and encodings (what is compared has none).
#ifndef PACKSMITH_GEN_MODEL_PASSES_EXPRESSIONS_H_
#define PACKSMITH_GEN_MODEL_PASSES_EXPRESSIONS_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "absl/strings/string_view.h"
#include "gen/model/ast/name_index.h"
#include "gen/model/passes/cursor.h"
#include "gen/model/passes/pass.h"

namespace packsmith::model {

// What asks: a field in `group`, or (nullptr) something at the top level.
struct Scope {
  const Container* container;
  const Group* group;
};

class ExpressionReader : private Pass {
 public:
  // Looks at the whole model: which structures leave values that later expressions may ask for.
  explicit ExpressionReader(Context& context);

  // `asks_states`: the condition may ask for states, which earlier packets have set.
  void Resolve(Late<Condition>& text, const Scope& scope, bool asks_states = false) {
    text.is = ReadCondition(text, scope, asks_states);
  }
  void Resolve(Late<Expression>& text, const Scope& scope) {
    text.is = ReadExpression(text, scope);
  }
  // The members of `into` that `all` lists.
  template <class T, size_t n>
  void ResolveAll(T& into, Late<Expression> T::*const (&all)[n], const Scope& scope) {
    for (Late<Expression> T::*const one : all) Resolve(into.*one, scope);
  }
  // The field whose name is all of `text`; without one, `field` is nullptr and nothing is reported.
  FieldRef FindField(const Deferred& text, const Scope& scope);

 private:
  // A container's fields, at the top level and in groups there, by their names.
  struct FieldNames {
    PrefixIndex prefixes;
    std::multimap<absl::string_view, FieldRef> fields;  // of one name: in their order
  };

  // An empty text, and one with a problem, give a condition that is always true, and no expression.
  Condition ReadCondition(const Deferred& text, const Scope& scope, bool asks_states);
  Expression ReadExpression(const Deferred& text, const Scope& scope);
  void LeaveState(const std::vector<Item>& items);
  const FieldNames& NamesIn(const Container& container);
  // The longest field name that `cursor` begins with.
  FieldRef TakeField(Cursor& cursor, const Scope& scope,
                     std::initializer_list<absl::string_view> ends);
  // The state whose name `cursor` begins with.
  int TakeState(Cursor& cursor);
  // Which of a list's names `cursor` begins with: the longest.
  template <class T>
  std::optional<size_t> TakeName(Cursor& cursor, const std::vector<T>& all,
                                 std::initializer_list<absl::string_view> ends);
  std::optional<uint64_t> TakeValue(Cursor& cursor, const Field& field);

  std::unordered_map<const void*, PrefixIndex> prefixes_;  // of lists that conditions ask
  std::unordered_map<const Container*, FieldNames> fields_;
  std::vector<bool> leaves_state_;  // structures that are parts, or that a packet points to
};

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_EXPRESSIONS_H_
