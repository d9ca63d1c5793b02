// The rules that the XML declares beside packets and structures.
#ifndef PACKSMITH_RUNTIME_LINT_DECLARED_RULES_H_
#define PACKSMITH_RUNTIME_LINT_DECLARED_RULES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/decode/fields/fields.h"
#include "runtime/decode/record.h"
#include "runtime/lint/alarms.h"
#include "runtime/lint/context.h"
#include "runtime/tables/tables.h"

namespace packsmith::lint {

class DeclaredRules {
 public:
  // All must outlive this.
  DeclaredRules(const tables::Tables& tables, const Evaluator& evaluator, Alarms& alarms);

  // A packet or structure; the context does not count it yet.
  void Check(const decode::Record& record, const Context& context, const Place& place);

 private:
  // One side of a comparison.
  struct Side {
    uint64_t number = 0;
    std::optional<double> real;  // of fixed and floating point
    bool is_signed = false;
  };

  void CheckOne(const tables::Rule& rule, const decode::Scope& scope, const Context& context,
                const Place& place);
  std::optional<Side> SideOf(uint32_t expression, const decode::Scope& scope,
                             const Context& context) const;
  static bool Compares(tables::Comparison is, const Side& left, const Side& right);
  static std::string Text(const Side& side);
  // "FIELD (5)", or the number alone.
  std::string Named(uint32_t expression, const Side& side) const;
  FieldPlace FieldOf(const tables::Rule& rule, const decode::Scope& scope) const;

  const tables::Tables& tables_;
  const Evaluator& evaluator_;
  Alarms& alarms_;
  std::vector<bool> wanted_;  // by container: it has rules, or a part of it does
};

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_DECLARED_RULES_H_
