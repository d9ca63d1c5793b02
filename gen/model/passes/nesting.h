// Structures within structures.
//
// Needs: types.
// Establishes: Model::nesting_order, in which a container comes after those that it nests.
#ifndef PACKSMITH_GEN_MODEL_PASSES_NESTING_H_
#define PACKSMITH_GEN_MODEL_PASSES_NESTING_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

// False if structures nest in circles or too deep: passes that follow them would not terminate.
bool OrderNesting(Context& context);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_NESTING_H_
