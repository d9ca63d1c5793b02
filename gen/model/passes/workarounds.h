// Which workarounds are this generation's, and what they are about.
//
// Needs: unique names (declarations), types, encodings.
// Establishes: Workaround::here; of those that are this generation's, the resolved members of Ask.
#ifndef PACKSMITH_GEN_MODEL_PASSES_WORKAROUNDS_H_
#define PACKSMITH_GEN_MODEL_PASSES_WORKAROUNDS_H_

#include "gen/model/passes/expressions.h"
#include "gen/model/passes/pass.h"

namespace packsmith::model {

void ResolveWorkarounds(Context& context, ExpressionReader& reader);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_WORKAROUNDS_H_
