// What repeats to the end of a container.
//
// Needs: sizes.
// Establishes: a container has one tail at most, and it comes last.
#ifndef PACKSMITH_GEN_MODEL_PASSES_TAILS_H_
#define PACKSMITH_GEN_MODEL_PASSES_TAILS_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void CheckTail(Context& context, const Container& c);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_TAILS_H_
