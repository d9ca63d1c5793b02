// The state that was set for a draw or dispatch.
#ifndef PACKSMITH_RUNTIME_HANG_BOUND_STATE_H_
#define PACKSMITH_RUNTIME_HANG_BOUND_STATE_H_

#include <cstdint>

#include "runtime/dump/dump.h"
#include "runtime/hang/nearby_commands.h"
#include "runtime/hang/report.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

// Fills `work`, `bound` and `bound_left_out` for the packet of that ordinal in `walk`: the last
// packet of each kind before it, and what these point to. Only packets that have addresses or
// pointers are listed.
void FindBound(const tables::Tables& tables, const Dump& dump, const Walk& walk, uint64_t ordinal,
               EngineReport& engine);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_BOUND_STATE_H_
