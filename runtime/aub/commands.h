// Commands and registers that recordings have beside those of dumps. Internal to this folder.
#ifndef PACKSMITH_RUNTIME_AUB_COMMANDS_H_
#define PACKSMITH_RUNTIME_AUB_COMMANDS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/tables/tables.h"

namespace packsmith::aub {

// The command that starts the batch at `address`, in the address space of the context (`process`)
// or in the global one.
absl::StatusOr<std::vector<uint8_t>> StartOfBatch(const tables::Tables& tables, uint64_t address,
                                                  bool process);

// A write to a register.
struct RegisterValue {
  uint32_t offset = 0;
  uint32_t value = 0;
};

// The register `name` of the engine at `base` with `field` = `value`, selected if writes are
// masked. Empty (offset 0): the generation has no such register or field.
RegisterValue FieldOfRegister(const tables::Tables& tables, uint32_t base, absl::string_view name,
                              absl::string_view field, uint64_t value);

}  // namespace packsmith::aub

#endif  // PACKSMITH_RUNTIME_AUB_COMMANDS_H_
