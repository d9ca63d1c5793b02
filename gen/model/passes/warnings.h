// Descriptions that are valid and most likely not intended.
//
// Needs: types.
// Establishes: nothing.
#ifndef PACKSMITH_GEN_MODEL_PASSES_WARNINGS_H_
#define PACKSMITH_GEN_MODEL_PASSES_WARNINGS_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void Warn(Context& context);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_WARNINGS_H_
