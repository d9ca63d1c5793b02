// What a field points to, sets and writes, which field has its high bits, and when its bits hold
// it.
//
// Needs: types, encodings and sizes.
// Establishes: the resolved members of Points, SetsBase and ElementOf, and of fields high,
// writes_ref, stores_ref, stores_condition and condition.
#ifndef PACKSMITH_GEN_MODEL_PASSES_POINTERS_H_
#define PACKSMITH_GEN_MODEL_PASSES_POINTERS_H_

#include "gen/model/passes/expressions.h"
#include "gen/model/passes/pass.h"

namespace packsmith::model {

void ResolvePointers(Context& context, ExpressionReader& reader, Container& c);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_POINTERS_H_
