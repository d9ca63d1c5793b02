// Rings as submissions. A reader of a dump finds the ring's memory; how far the engine had come in
// it stands in registers, which only a description explains.
#ifndef PACKSMITH_RUNTIME_HANG_RINGS_H_
#define PACKSMITH_RUNTIME_HANG_RINGS_H_

#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

// Adds to `dump` a submission for each engine's ring that has something in it: from where the
// request at fault begins, or the batch that the ring started last (past.h), to the tail. They come
// before the batches, which are then decoded where a ring starts them. Submissions also get the
// registers `head`, `tail`, `acthd` and `ipehr` of their engine. A dump without an error state, or
// that has its rings, stays as it is.
void AddRings(const tables::Tables& tables, Dump& dump);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_RINGS_H_
