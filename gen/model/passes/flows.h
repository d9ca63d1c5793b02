// Packets that jump, call, return and end.
//
// Needs: types and encodings.
// Establishes: the resolved members of Flow.
#ifndef PACKSMITH_GEN_MODEL_PASSES_FLOWS_H_
#define PACKSMITH_GEN_MODEL_PASSES_FLOWS_H_

#include "gen/model/passes/expressions.h"
#include "gen/model/passes/pass.h"

namespace packsmith::model {

void ResolveFlows(Context& context, ExpressionReader& reader, Container& c);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_FLOWS_H_
