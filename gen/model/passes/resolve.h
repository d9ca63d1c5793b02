// From a parsed model to a checked one: all passes, in order.
#ifndef PACKSMITH_GEN_MODEL_PASSES_RESOLVE_H_
#define PACKSMITH_GEN_MODEL_PASSES_RESOLVE_H_

#include "gen/model/ast/model.h"
#include "gen/model/diagnostic.h"

namespace packsmith::model {

// Completes a parsed model: references by name become indices and pointers, facts are derived,
// everything is checked. All problems go to `diagnostics`; with errors the model must not be used
// for output.
void Resolve(const Sources& sources, Diagnostics& diagnostics, Model& model);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_RESOLVE_H_
