// What a command would do, read off its bytes without executing it: the operations of its packet
// (docs/xml.md, Execution) that apply, with the memory, registers and numbers that they name.
//
//   for (const NamedOperation& one : OperationsOf(tables, *command.container, command.bytes, 0)) {
//     if (one.kind == tables::OperationKind::kWait && one.memory) ...
//   }
#ifndef PACKSMITH_RUNTIME_HANG_OPERATIONS_H_
#define PACKSMITH_RUNTIME_HANG_OPERATIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/sim/arithmetic.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

struct NamedOperation {
  struct At {
    uint32_t space = 0;
    uint64_t address = 0;
    friend bool operator==(const At&, const At&) = default;
  };
  tables::OperationKind kind = tables::OperationKind::kNothing;
  std::optional<At> memory;
  std::optional<uint64_t> register_offset;
  std::optional<uint64_t> value;
  uint64_t bytes = 4;  // that are written
  // Of a wait, whose value is known; empty: one that is not known.
  std::optional<sim::Comparison> comparison;
};

// `own_space`: the space of addresses that name no other. Operations whose condition does not hold
// are left out.
std::vector<NamedOperation> OperationsOf(const tables::Tables& tables,
                                         const tables::Container& packet,
                                         absl::Span<const uint8_t> bytes, uint32_t own_space);

// "is greater than", "equals".
const char* InWords(sim::Comparison comparison);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_OPERATIONS_H_
