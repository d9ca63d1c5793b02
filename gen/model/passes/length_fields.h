// The field that says how long a packet is.
//
// Needs: sizes, types and encodings.
// Establishes: Container::length_field.
#ifndef PACKSMITH_GEN_MODEL_PASSES_LENGTH_FIELDS_H_
#define PACKSMITH_GEN_MODEL_PASSES_LENGTH_FIELDS_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void ResolveLength(Context& context, Container& c);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_LENGTH_FIELDS_H_
