// What is looked up by name must be one thing.
//
// Needs: nothing but the parsed model.
// Establishes: names of streams, enumerations, containers, data kinds, engines and numbers of
// spaces are unique, or the description has an error.
#ifndef PACKSMITH_GEN_MODEL_PASSES_DECLARATIONS_H_
#define PACKSMITH_GEN_MODEL_PASSES_DECLARATIONS_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void CheckDeclarations(Context& context);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_DECLARATIONS_H_
