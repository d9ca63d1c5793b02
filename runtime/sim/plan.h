// What executing a kind of packet takes, from the tables, found once.
#ifndef PACKSMITH_RUNTIME_SIM_PLAN_H_
#define PACKSMITH_RUNTIME_SIM_PLAN_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/sim/names.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// An operation with its operands by role.
struct PlannedOperation {
  tables::OperationKind kind;
  // Condition or kNone; operations of a packet that have the same condition have the same index.
  uint32_t when;
  // It is done before the packet has effects, and has none itself.
  bool only_prepares = false;
  // Null: the operation has no such operand.
  std::array<const tables::Operand*, tables::kOperandRoles> operands = {};
  // Of operands whose fields have named values.
  NameIndex opcode = {}, size = {}, compare = {}, combine = {}, load = {}, value = {};
  // Of `layout`; null: the operation has none.
  const tables::Container* layout = nullptr;
  // An address can be in a space that batches without privilege have no access to.
  bool may_need_privilege = false;

  const tables::Operand* operand(tables::OperandRole role) const {
    return operands[static_cast<size_t>(role)];
  }
};

// A field that has cache actions if it is not zero.
struct CacheField {
  uint64_t bit;
  uint32_t width;
  tables::CacheActions actions;
};

struct Plan {
  Plan(const tables::Tables& tables, const tables::Container& of);

  const tables::Container* container;
  bool unpredicated = false;
  bool replaces = false;  // fields by values of registers
  // The packet is kept as state: it neither draws nor has an effect of its own.
  bool is_state = false;
  std::vector<PlannedOperation> operations;
  // The packet may have cache actions; what it stores follows its flushes.
  bool fences = false;
  tables::ClientKind stores_as = tables::ClientKind::kStreamer;
  std::vector<CacheField> cache_fields;
  // Leaves whose bits go to registers, and those that operations store.
  std::vector<uint32_t> writes, tail_writes, stored, tail_stored;
  // The leaves of an instruction of MI_MATH, relative to the tail's item; kNone: there are none.
  uint32_t alu_opcode = tables::kNone, alu_operand_1 = tables::kNone, alu_operand_2 = tables::kNone;
  NameIndex alu_opcodes, alu_operands_1, alu_operands_2;
  // What is dispatched, a leaf for each dimension.
  std::vector<uint32_t> groups;
};

// The pointer of an address that counts in a packet, the first one if none does; null: there is
// none.
const tables::Pointer* PointerOf(const tables::Tables& tables, uint32_t leaf,
                                 const decode::Scope& scope);

// Whether batches without privilege have no access to a space.
bool NeedsPrivilege(const tables::Tables& tables, uint32_t space);

// The leaf whose value an operand is; kNone if it is a number.
uint32_t LeafOf(const tables::Tables& tables, const tables::Operand& operand);

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_PLAN_H_
