// The fields of one container: that each is inside it, and that the attributes of a field go
// together.
//
// Needs: types, and the sizes of all containers.
// Establishes: Encoding::shift of addresses and offsets, and default values. Fields are as wide as
// their types can be; with errors they are made so.
#ifndef PACKSMITH_GEN_MODEL_PASSES_FIELDS_H_
#define PACKSMITH_GEN_MODEL_PASSES_FIELDS_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void CheckFields(Context& context, Container& c);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_FIELDS_H_
