#include "runtime/lint/cache_actions.h"

#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::lint {
namespace {

bool ActsOnCaches(const tables::Tables& tables, const tables::Leaf& leaf) {
  return leaf.extra != tables::kNone && tables::IsCacheAction(tables.extra(leaf.extra).meaning);
}

}  // namespace

CacheActionFinder::CacheActionFinder(const tables::Tables& tables)
    : tables_(tables), acting_(tables, ActsOnCaches) {}

CacheActionsDone CacheActionFinder::Find(const decode::Record& packet) {
  CacheActionsDone done;
  decode::ForEachField(tables_, acting_, packet.view(), [&](const decode::FieldAt& at) {
    if (at.cut || at.width > 64 || decode::ReadBits(packet.bytes, at.bit, at.width) == 0) return;
    done.actions |= tables::SetOf(tables_.extra(at.leaf->extra).meaning);
  });
  const decode::Scope scope(tables_, *packet.container, packet.bytes);
  for (const tables::Operation& operation : tables_.operations(*packet.container)) {
    if (operation.kind != tables::OperationKind::kFence || !scope.Holds(operation.when)) continue;
    done.is_fence = true;
    for (const tables::Operand& operand : tables_.operands(operation)) {
      if (operand.role != tables::OperandRole::kDoes) continue;
      const tables::Expression& does = tables_.expression(operand.expression);
      if (does.kind == tables::ExpressionKind::kConstant) {
        done.actions |= static_cast<tables::CacheActions>(does.add);
      }
    }
  }
  return done;
}

}  // namespace packsmith::lint
