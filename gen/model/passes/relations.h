// What packets need other packets for.
//
// Needs: unique names (declarations).
// Establishes: Relation::container.
#ifndef PACKSMITH_GEN_MODEL_PASSES_RELATIONS_H_
#define PACKSMITH_GEN_MODEL_PASSES_RELATIONS_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void ResolveRelations(Context& context, Container& c);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_RELATIONS_H_
