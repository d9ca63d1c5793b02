// Which buffer an address lies in, or near.
#ifndef PACKSMITH_RUNTIME_HANG_PLACE_H_
#define PACKSMITH_RUNTIME_HANG_PLACE_H_

#include <cstdint>

#include "runtime/dump/dump.h"
#include "runtime/hang/report.h"

namespace packsmith::hang {

// O(log n) where a buffer holds the address, else O(n) buffers.
Place PlaceOf(const Dump& dump, uint32_t space, uint64_t address);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_PLACE_H_
