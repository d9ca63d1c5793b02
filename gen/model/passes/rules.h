// What must hold of each record of a container.
//
// Needs: fields, types, encodings.
// Establishes: the resolved members of Rule.
#ifndef PACKSMITH_GEN_MODEL_PASSES_RULES_H_
#define PACKSMITH_GEN_MODEL_PASSES_RULES_H_

#include "gen/model/passes/expressions.h"
#include "gen/model/passes/pass.h"

namespace packsmith::model {

void ResolveRules(Context& context, ExpressionReader& reader, Container& c);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_RULES_H_
