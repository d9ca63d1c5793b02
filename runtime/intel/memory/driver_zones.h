// How two drivers for Intel's GPUs divide the address space: tables for gpu::LayOutZones().

#ifndef PACKSMITH_RUNTIME_INTEL_MEMORY_DRIVER_ZONES_H_
#define PACKSMITH_RUNTIME_INTEL_MEMORY_DRIVER_ZONES_H_

#include "absl/types/span.h"
#include "runtime/memory/zones.h"

namespace packsmith::intel {

// As Mesa's iris divides it, for Gfx8 and up: one zone for each base address of
// STATE_BASE_ADDRESS. "border colors" is for one buffer that fills it: pointers to border colors
// have 24 bits.
absl::Span<const gpu::ZoneRow> IrisZones();

// As Mesa's anv divides it, for Gfx9 and up: a zone for each state pool. Binding tables lie within
// the gigabyte before a 4 GiB line, and all surface states within the three behind it, so that
// both are in reach from any base within the first gigabyte.
absl::Span<const gpu::ZoneRow> AnvZones();

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_MEMORY_DRIVER_ZONES_H_
