// The CPU's caches, for memory in which the GPU does not see them.
#ifndef PACKSMITH_RUNTIME_MEMORY_CPU_CACHE_H_
#define PACKSMITH_RUNTIME_MEMORY_CPU_CACHE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace packsmith::gpu {

// Bytes of a line, a power of two. 0: this program does not know how to flush this CPU's caches.
size_t CpuCacheLine();

// The whole lines that have any of these bytes. None for no bytes.
absl::Span<uint8_t> LinesOf(absl::Span<uint8_t> bytes, size_t line);

// Writes lines back to memory and drops them from all caches, before any later access: x86's
// CLFLUSH, ARM64's DC CIVAC. `lines` are whole lines of memory that is mapped. Unimplemented where
// CpuCacheLine() is 0.
absl::Status FlushCpuLines(absl::Span<uint8_t> lines);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_CPU_CACHE_H_
