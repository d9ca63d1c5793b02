// The names that things have in C and C++.
//
// Needs: types, and which field is the length.
// Establishes: the derived names (cpp, c) of containers, items and parts; within one language none
// of them collides with another, with a type or with a keyword.
#ifndef PACKSMITH_GEN_MODEL_PASSES_NAMING_H_
#define PACKSMITH_GEN_MODEL_PASSES_NAMING_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void AssignNames(Context& context);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_NAMING_H_
