// What a packet draws, and the surfaces that a container describes.
//
// Needs: types and encodings.
// Establishes: the resolved members of Draws and Image.
#ifndef PACKSMITH_GEN_MODEL_PASSES_DRAWS_H_
#define PACKSMITH_GEN_MODEL_PASSES_DRAWS_H_

#include "gen/model/passes/expressions.h"
#include "gen/model/passes/pass.h"

namespace packsmith::model {

void ResolveDraws(Context& context, ExpressionReader& reader, Container& c);
void ResolveImages(Context& context, ExpressionReader& reader, Container& c);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_DRAWS_H_
