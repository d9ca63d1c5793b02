// Kinds of data by name.
//
// Needs: unique names (declarations).
#ifndef PACKSMITH_GEN_MODEL_PASSES_DATA_H_
#define PACKSMITH_GEN_MODEL_PASSES_DATA_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

// The index of the kind of data that an attribute names; -1, and a problem is reported, if there is
// none. -1 for an attribute that is absent.
int FindData(Context& context, const Deferred& text);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_DATA_H_
