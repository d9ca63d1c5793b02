// The value that a field has unless it is set.
//
// Needs: types and encodings.
// Establishes: Field::default_value or default_real, where there is a default.
#ifndef PACKSMITH_GEN_MODEL_PASSES_DEFAULTS_H_
#define PACKSMITH_GEN_MODEL_PASSES_DEFAULTS_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void ResolveDefault(Context& context, Field& field);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_DEFAULTS_H_
