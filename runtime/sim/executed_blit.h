// An operation of a blit in a packet that is executed. Part of the Execution.
#ifndef PACKSMITH_RUNTIME_SIM_EXECUTED_BLIT_H_
#define PACKSMITH_RUNTIME_SIM_EXECUTED_BLIT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/sim/blit/blit_operation.h"
#include "runtime/sim/execution.h"
#include "runtime/sim/memory_access.h"
#include "runtime/sim/plan.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// The operands, and the memory, whose writes are told to the observer and to what fetches ahead.
class ExecutedBlit : public BlitOperands, public MemoryAccess {
 public:
  ExecutedBlit(const Execution& execution, const PlannedOperation& operation)
      : execution_(execution), operation_(operation) {}

  std::optional<uint64_t> Number(tables::OperandRole role) const override;
  absl::string_view Name(tables::OperandRole role) const override;
  std::optional<Place> Memory() const override;
  std::vector<uint8_t> Stored() const override;
  bool RegisterSays(tables::Meaning meaning) const override;

  size_t Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const override;
  size_t Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) override;

  // Whether memory was read or written that is not mapped.
  bool met_unmapped() const { return met_unmapped_; }

 private:
  const Execution& execution_;
  const PlannedOperation& operation_;
  mutable bool met_unmapped_ = false;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_EXECUTED_BLIT_H_
