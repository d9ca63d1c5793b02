#include "runtime/sim/plan.h"

#include <algorithm>
#include <iterator>

#include "runtime/sim/arithmetic.h"
#include "runtime/sim/predication.h"

namespace packsmith::sim {

using tables::kNone;
using tables::Meaning;
using tables::OperandRole;
using tables::OperationKind;

namespace {

bool SameTerms(const tables::Tables& tables, uint32_t one, uint32_t other) {
  const absl::Span<const tables::Term> a = tables.terms(tables.condition(one).terms),
                                       b = tables.terms(tables.condition(other).terms);
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const tables::Term& x, const tables::Term& y) {
                      return x.leaf == y.leaf && x.value == y.value && x.negated == y.negated &&
                             x.ends_clause == y.ends_clause && x.of_state == y.of_state;
                    });
}

// The condition, or the same one of an operation before.
uint32_t FirstSameCondition(const tables::Tables& tables, absl::Span<const PlannedOperation> before,
                            uint32_t when) {
  if (when == kNone) return kNone;
  for (const PlannedOperation& operation : before) {
    if (operation.when != kNone && SameTerms(tables, operation.when, when)) return operation.when;
  }
  return when;
}

bool OnlyPrepares(OperationKind kind) {
  return kind == OperationKind::kSkip || kind == OperationKind::kPrivileged ||
         kind == OperationKind::kEngineBase || kind == OperationKind::kReplace ||
         kind == OperationKind::kAddRegister || kind == OperationKind::kWait;
}

}  // namespace

uint32_t LeafOf(const tables::Tables& tables, const tables::Operand& operand) {
  const tables::Expression& expression = tables.expression(operand.expression);
  return expression.kind == tables::ExpressionKind::kLeaf ? expression.leaf : kNone;
}

const tables::Pointer* PointerOf(const tables::Tables& tables, uint32_t leaf,
                                 const decode::Scope& scope) {
  const uint32_t extra = tables.leaf(leaf).extra;
  if (extra == kNone || tables.extra(extra).pointer == kNone) return nullptr;
  const uint32_t first = tables.extra(extra).pointer;
  for (uint32_t i = first; i != kNone; i = tables.pointer(i).next) {
    if (scope.Holds(tables.pointer(i).when)) return &tables.pointer(i);
  }
  return &tables.pointer(first);
}

bool NeedsPrivilege(const tables::Tables& tables, uint32_t space) {
  for (const tables::Space& one : tables.spaces()) {
    if (one.number == space) return one.privileged != 0;
  }
  return false;
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
          if (tail || !tables::IsCacheAction(extra.meaning) || leaf.width > 64) break;
          cache_fields.push_back({leaf.bit, leaf.width, tables::SetOf(extra.meaning)});
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
    fences |= operation.kind == OperationKind::kFence;
    replaces |=
        operation.kind == OperationKind::kReplace || operation.kind == OperationKind::kAddRegister;
    PlannedOperation planned{operation.kind, FirstSameCondition(tables, operations, operation.when),
                             OnlyPrepares(operation.kind)};
    for (const tables::Operand& operand : tables.operands(operation)) {
      planned.operands[static_cast<size_t>(operand.role)] = &operand;
      if (operand.role == OperandRole::kLayout) {
        const uint64_t index = tables.expression(operand.expression).add;
        if (index < tables.containers().size()) planned.layout = &tables.containers()[index];
      }
      const uint32_t leaf_index = LeafOf(tables, operand);
      if (leaf_index == kNone) continue;
      const tables::Leaf& leaf = tables.leaf(leaf_index);
      const bool is_place =
          operand.role == OperandRole::kMemory || operand.role == OperandRole::kSource;
      uint32_t pointer =
          !is_place || leaf.extra == kNone ? kNone : tables.extra(leaf.extra).pointer;
      for (; pointer != kNone; pointer = tables.pointer(pointer).next) {
        planned.may_need_privilege |= NeedsPrivilege(tables, tables.pointer(pointer).space);
      }
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
        default:
          break;
      }
    }
    operations.push_back(planned);
  }
  if (fences || of.role != tables::Role::kOther) stores_as = tables::ClientKind::kPostSync;
  fences = fences || !cache_fields.empty();
  is_state = of.role == tables::Role::kOther && operations.empty() && of.flows.count == 0 &&
             writes.empty() && tail_writes.empty();
}

}  // namespace packsmith::sim
