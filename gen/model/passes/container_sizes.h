// How long a container is.
//
// Needs: types; of the structures that it nests, nothing: a field says how many bits it has.
// Establishes: Container::bytes, max_bytes and tail.
#ifndef PACKSMITH_GEN_MODEL_PASSES_CONTAINER_SIZES_H_
#define PACKSMITH_GEN_MODEL_PASSES_CONTAINER_SIZES_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void ComputeSize(Context& context, Container& c);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_CONTAINER_SIZES_H_
