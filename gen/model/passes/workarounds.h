// Which workarounds are this generation's, and what they are about.
//
// Needs: unique names (declarations).
// Establishes: Workaround::here; Ask::of and Ask::with of those that are this generation's.
#ifndef PACKSMITH_GEN_MODEL_PASSES_WORKAROUNDS_H_
#define PACKSMITH_GEN_MODEL_PASSES_WORKAROUNDS_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void ResolveWorkarounds(Context& context);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_WORKAROUNDS_H_
