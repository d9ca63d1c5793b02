// The names of what predicates choose from.
#ifndef PACKSMITH_RUNTIME_SIM_PREDICATION_H_
#define PACKSMITH_RUNTIME_SIM_PREDICATION_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "runtime/sim/names.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// MI_PREDICATE.
enum class PredicateCompare : uint32_t { kTrue, kFalse, kSourcesEqual, kDeltasEqual };
inline constexpr absl::string_view kPredicateCompareNames[] = {"TRUE", "FALSE", "SRCS_EQUAL",
                                                               "DELTAS_EQUAL"};
enum class PredicateCombine : uint32_t { kSet, kAnd, kOr, kXor };
inline constexpr absl::string_view kPredicateCombineNames[] = {"SET", "AND", "OR", "XOR"};
enum class PredicateLoad : uint32_t { kKeep, kLoad, kLoadInverted };
inline constexpr absl::string_view kPredicateLoadNames[] = {"KEEP", "LOAD", "LOADINV"};

// MI_SET_PREDICATE: when later commands are no-ops.
enum class NoopMode : uint32_t {
  kNever,
  kResult2Clear,
  kResult2Set,
  kResultClear,
  kResultSet,
  kAlways
};
inline constexpr absl::string_view kNoopModeNames[] = {
    "NOOP Never",           "NOOP On Result2 Clear", "NOOP On Result2 Set",
    "NOOP On Result Clear", "NOOP On Result Set",    "NOOP Always"};

// When commands are no-ops: tested for each command, or once, with the result in a register.
struct Noop {
  NoopMode mode = NoopMode::kNever;
  uint32_t result = 0, result_2 = 0;  // offsets of the registers that the mode tests
  std::optional<uint32_t> in_register = {};
};

// Sizes of what MI_ATOMIC works on: 4, 8, 16 bytes.
inline constexpr absl::string_view kAtomicSizeNames[] = {"DWORD", "QWORD", "OCTWORD"};
// The opcodes of MI_ATOMIC, whose names end with their width.
NameIndex AtomicNames(const tables::Tables& tables, const tables::Leaf& leaf);

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_PREDICATION_H_
