// min, max, nonzero and multiple: whether a field can hold them, and its default fits them.
//
// Needs: types, encodings and defaults.
// Establishes: nothing.
#ifndef PACKSMITH_GEN_MODEL_PASSES_VALUE_RANGES_H_
#define PACKSMITH_GEN_MODEL_PASSES_VALUE_RANGES_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void CheckRange(Context& context, const Field& field);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_VALUE_RANGES_H_
