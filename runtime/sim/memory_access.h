#ifndef PACKSMITH_RUNTIME_SIM_MEMORY_ACCESS_H_
#define PACKSMITH_RUNTIME_SIM_MEMORY_ACCESS_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace packsmith::sim {

// GPU memory in numbered address spaces (see runtime/dump/memory.h), which can be written.
class MemoryAccess {
 public:
  virtual ~MemoryAccess() = default;

  // Both return the number of bytes that were read or written before the first unmapped one.
  virtual size_t Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const = 0;
  virtual size_t Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) = 0;

  // Whether a write was refused because too much has been written; what is mapped stays mapped.
  virtual bool exhausted() const { return false; }
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_MEMORY_ACCESS_H_
