// The buffer that contains an address, or is near it.
#ifndef PACKSMITH_RUNTIME_HANG_BUFFER_PLACE_H_
#define PACKSMITH_RUNTIME_HANG_BUFFER_PLACE_H_

#include <cstdint>

#include "runtime/dump/dump.h"
#include "runtime/hang/report.h"

namespace packsmith::hang {

// O(log n) if one of the n buffers holds the address, else O(n).
Place PlaceOf(const Dump& dump, uint32_t space, uint64_t address);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_BUFFER_PLACE_H_
