// What packets do when they are executed: each operation has the operands that its kind takes.
//
// Needs: types, and opcodes.
// Establishes: the resolved members of Operation, and Stream::levels.
#ifndef PACKSMITH_GEN_MODEL_PASSES_OPERATIONS_H_
#define PACKSMITH_GEN_MODEL_PASSES_OPERATIONS_H_

#include "gen/model/passes/expressions.h"
#include "gen/model/passes/pass.h"

namespace packsmith::model {

void ResolveLevels(Context& context, ExpressionReader& reader, Stream& stream);
void ResolveOperations(Context& context, ExpressionReader& reader, Container& c);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_OPERATIONS_H_
