// Values that are named: of enumerations, and of fields that list their own.
//
// Needs: nothing but the parsed model.
// Establishes: nothing; two names for one value are a warning.
#ifndef PACKSMITH_GEN_MODEL_PASSES_VALUES_H_
#define PACKSMITH_GEN_MODEL_PASSES_VALUES_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void CheckValues(Context& context, const std::vector<Value>& values);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_VALUES_H_
