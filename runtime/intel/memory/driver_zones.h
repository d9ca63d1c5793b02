// The address space zones of two drivers for Intel's GPUs: tables for gpu::LayOutZones().
//
//   auto zones = LayOutZones(ZonesFor(device->address_space()), {.verx10 = 80});

#ifndef PACKSMITH_RUNTIME_INTEL_MEMORY_DRIVER_ZONES_H_
#define PACKSMITH_RUNTIME_INTEL_MEMORY_DRIVER_ZONES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "runtime/memory/zones.h"

namespace packsmith::intel {

// Those of Mesa's iris, for Gfx8 and up: one zone for each base address of STATE_BASE_ADDRESS.
// "border colors" is for one buffer that fills it: pointers to border colours have 24 bits.
// Spaces of 16 GiB or less are too small for them.
absl::Span<const gpu::ZoneRow> IrisZones();

// Zones of the same names in 4 GiB: for Cherryview, whose page tables translate 32 bits.
absl::Span<const gpu::ZoneRow> CompactZones();

// IrisZones(), or CompactZones() if a space of that many bytes is too small for them.
absl::Span<const gpu::ZoneRow> ZonesFor(uint64_t address_space);

// Those of Mesa's anv, for Gfx9 and up: a zone for each state pool. Binding tables are in the
// gigabyte before a 4 GiB boundary, and all surface states in the three after it, so that both are
// in reach of any base in the first gigabyte.
absl::Span<const gpu::ZoneRow> AnvZones();

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_MEMORY_DRIVER_ZONES_H_
