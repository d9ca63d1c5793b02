#include "runtime/lint/context.h"

namespace packsmith::lint {

const Bases::Base* Bases::Find(const tables::Tables& tables, uint32_t base) const {
  for (size_t i = 0; i <= tables.bases().size() && base < tables.bases().size(); ++i) {
    const auto found = all_.find(base);
    if (found != all_.end() && found->second.value) return &found->second;
    base = tables.bases()[base].otherwise;
  }
  return base == tables::kZeroBase ? &zero_ : nullptr;
}

Evaluator::Evaluator(const tables::Tables& tables)
    : tables_(tables), asked_(tables.containers().size()) {
  for (const tables::Expression& expression : tables.expressions()) {
    if (expression.kind == tables::ExpressionKind::kState) asked_[expression.container] = true;
  }
}

void Evaluator::Remember(const decode::Record& record, Context& context) const {
  if (record.container == nullptr) return;
  const uint32_t container = tables_.IndexOf(*record.container);
  if (!asked_[container]) return;
  context.last[container].assign(record.bytes.begin(), record.bytes.end());
}

std::optional<uint64_t> Evaluator::Evaluate(uint32_t expression, const decode::Scope& scope,
                                            const Context& context) const {
  if (expression == tables::kNone) return std::nullopt;
  return decode::Evaluate(
      tables_.expression(expression), [&](uint32_t leaf) { return scope.Number(leaf); },
      [&](uint32_t container, uint32_t leaf) -> std::optional<uint64_t> {
        const auto last = context.last.find(container);
        if (last == context.last.end()) return std::nullopt;
        return decode::Scope(tables_, tables_.container(container), last->second).Number(leaf);
      });
}

}  // namespace packsmith::lint
