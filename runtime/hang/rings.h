// Rings as submissions. A reader of a dump finds the ring's memory; the engine's position in it is
// in registers, which only a description explains.
#ifndef PACKSMITH_RUNTIME_HANG_RINGS_H_
#define PACKSMITH_RUNTIME_HANG_RINGS_H_

#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

// Adds to `dump` a submission for each engine's ring that is not empty: from the request at fault,
// or from the batch that the ring started last (ring_history.h), to the tail. They precede the
// batches, which are then decoded where a ring starts them. Submissions also get the registers
// `head`, `tail`, `acthd` and `ipehr` of their engine. A dump without an error state, or that
// already has its rings, is not changed.
void AddRings(const tables::Tables& tables, Dump& dump);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_RINGS_H_
