// Packets of several forms: variants, parts and the padding after them.
//
// Needs: sizes, types and encodings.
// Establishes: the resolved members of Variant, Part and Pad.
#ifndef PACKSMITH_GEN_MODEL_PASSES_PARTS_H_
#define PACKSMITH_GEN_MODEL_PASSES_PARTS_H_

#include "gen/model/passes/expressions.h"
#include "gen/model/passes/pass.h"

namespace packsmith::model {

void ResolveParts(Context& context, ExpressionReader& reader, Container& c);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_PARTS_H_
