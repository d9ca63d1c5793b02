#include "gen/model/passes/rules.h"

namespace packsmith::model {

void ResolveRules(Context& context, ExpressionReader& reader, Container& c) {
  const Scope scope{&c, nullptr};
  for (Rule& rule : c.rules) {
    reader.Resolve(rule.when, scope);
    reader.Resolve(rule.left, scope);
    reader.Resolve(rule.right, scope);
    if (rule.left.empty() != rule.right.empty()) {
      context.Report(Code::kMissingAttribute, rule.where,
                     "left=\"…\" and right=\"…\" go together: what is compared with what");
    } else if (rule.left.empty() && rule.when.empty()) {
      context.Report(Code::kMissingAttribute, rule.where,
                     "a rule needs when=\"…\", what must not hold, or left=\"…\" and right=\"…\"");
    }
    if (rule.doc.empty()) {
      context.Report(Code::kMissingAttribute, rule.where,
                     "a rule needs a <doc> that says why it is one");
    }
  }
}

}  // namespace packsmith::model
