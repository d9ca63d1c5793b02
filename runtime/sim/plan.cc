#include "runtime/sim/plan.h"

#include <iterator>

#include "runtime/sim/arithmetic.h"
#include "runtime/sim/predication.h"

namespace packsmith::sim {

using tables::kNone;
using tables::Meaning;
using tables::OperandRole;
using tables::OperationKind;

uint32_t LeafOf(const tables::Tables& tables, const tables::Operand& operand) {
  const tables::Expression& expression = tables.expression(operand.expression);
  return expression.kind == tables::ExpressionKind::kLeaf ? expression.leaf : kNone;
}

Plan::Plan(const tables::Tables& tables, const tables::Container& of) : container(&of) {
  const auto scan = [&](tables::Range range, bool tail) {
    for (uint32_t i = range.first; i < range.first + range.count; ++i) {
      const tables::Leaf& leaf = tables.leaf(i);
      if (leaf.extra == kNone) continue;
      const tables::Extra& extra = tables.extra(leaf.extra);
      if (extra.writes_leaf != kNone) (tail ? tail_writes : writes).push_back(i);
      switch (extra.meaning) {
        case Meaning::kStored:
          (tail ? tail_stored : stored).push_back(i);
          break;
        case Meaning::kGroups:
          groups.push_back(i);
          break;
        case Meaning::kAluOpcode:
          alu_opcode = i;
          alu_opcodes = NameIndex(tables, leaf, kAluOpcodeNames);
          break;
        case Meaning::kAluOperand1:
          alu_operand_1 = i;
          alu_operands_1 = NameIndex(tables, leaf, kAluOperandNames);
          break;
        case Meaning::kAluOperand2:
          alu_operand_2 = i;
          alu_operands_2 = NameIndex(tables, leaf, kAluOperandNames);
          break;
        default:
          break;
      }
    }
  };
  scan(of.leaves, false);
  scan(of.tail_leaves, true);

  for (const tables::Operation& operation : tables.operations(of)) {
    if (operation.kind == OperationKind::kUnpredicated) {
      unpredicated = true;
      continue;
    }
    if (operation.kind == OperationKind::kReplace) replaces = true;
    PlannedOperation planned{operation.kind, operation.when};
    for (const tables::Operand& operand : tables.operands(operation)) {
      planned.operands[static_cast<size_t>(operand.role)] = &operand;
      const uint32_t leaf_index = LeafOf(tables, operand);
      if (leaf_index == kNone) continue;
      const tables::Leaf& leaf = tables.leaf(leaf_index);
      switch (operand.role) {
        case OperandRole::kOpcode:
          planned.opcode = AtomicNames(tables, leaf);
          break;
        case OperandRole::kSize:
          planned.size = NameIndex(tables, leaf, kAtomicSizeNames);
          break;
        case OperandRole::kCompare:
          planned.compare = operation.kind == OperationKind::kPredicate
                                ? NameIndex(tables, leaf, kPredicateCompareNames)
                                : NameIndex(tables, leaf, kComparisonNames);
          break;
        case OperandRole::kCombine:
          planned.combine = NameIndex(tables, leaf, kPredicateCombineNames);
          break;
        case OperandRole::kLoad:
          planned.load = NameIndex(tables, leaf, kPredicateLoadNames);
          break;
        case OperandRole::kValue:
          if (operation.kind == OperationKind::kSetPredicate) {
            planned.value = NameIndex(tables, leaf, kNoopModeNames);
          }
          break;
        case OperandRole::kFormat:
          planned.format = NameIndex(tables, leaf, kArgumentFormatNames);
          break;
        default:
          break;
      }
    }
    operations.push_back(planned);
  }
  is_state = of.role == tables::Role::kOther && operations.empty() && of.flows.count == 0 &&
             writes.empty() && tail_writes.empty();
}

}  // namespace packsmith::sim
