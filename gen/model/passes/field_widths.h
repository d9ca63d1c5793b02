// Whether a field has as many bits as its type takes, and can be encoded as it says.
//
// Needs: types, and the sizes of all containers.
// Establishes: Encoding::shift of addresses and offsets.
#ifndef PACKSMITH_GEN_MODEL_PASSES_FIELD_WIDTHS_H_
#define PACKSMITH_GEN_MODEL_PASSES_FIELD_WIDTHS_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void CheckWidth(Context& context, Field& field);
void CheckEncoding(Context& context, Field& field);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_FIELD_WIDTHS_H_
