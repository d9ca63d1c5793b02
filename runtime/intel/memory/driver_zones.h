// The address space zones of two drivers for Intel's GPUs: tables for gpu::LayOutZones().

#ifndef PACKSMITH_RUNTIME_INTEL_MEMORY_DRIVER_ZONES_H_
#define PACKSMITH_RUNTIME_INTEL_MEMORY_DRIVER_ZONES_H_

#include "absl/types/span.h"
#include "runtime/memory/zones.h"

namespace packsmith::intel {

// Those of Mesa's iris, for Gfx8 and up: one zone for each base address of STATE_BASE_ADDRESS.
// "border colors" is for one buffer that fills it: pointers to border colours have 24 bits.
absl::Span<const gpu::ZoneRow> IrisZones();

// Those of Mesa's anv, for Gfx9 and up: a zone for each state pool. Binding tables are in the
// gigabyte before a 4 GiB boundary, and all surface states in the three after it, so that both are
// in reach of any base in the first gigabyte.
absl::Span<const gpu::ZoneRow> AnvZones();

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_MEMORY_DRIVER_ZONES_H_
