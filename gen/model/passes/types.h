// The types that fields name: enumerations and structures.
//
// Needs: unique names (declarations).
// Establishes: Field::type and Field::type_index, Field::names, the type of State::field, and of
// enumerations what they are used for.
#ifndef PACKSMITH_GEN_MODEL_PASSES_TYPES_H_
#define PACKSMITH_GEN_MODEL_PASSES_TYPES_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void ResolveTypes(Context& context);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_TYPES_H_
