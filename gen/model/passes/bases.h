// Bases that another one replaces while they are not set.
//
// Needs: nothing but the parsed model.
// Establishes: Base::otherwise_index.
#ifndef PACKSMITH_GEN_MODEL_PASSES_BASES_H_
#define PACKSMITH_GEN_MODEL_PASSES_BASES_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void ResolveBases(Context& context);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_BASES_H_
