// When what one part of the hardware writes is visible to another: lists of cache actions.
//
// Reads: Client's texts.
// Establishes: Client::is.
#ifndef PACKSMITH_GEN_MODEL_PASSES_CLIENTS_H_
#define PACKSMITH_GEN_MODEL_PASSES_CLIENTS_H_

#include <vector>

#include "gen/model/passes/pass.h"
#include "runtime/tables/tables.h"

namespace packsmith::model {

// "a b|c": a, and one of b and c. Reports names that are not those of cache actions.
std::vector<tables::CacheActions> ReadClauses(Context& context, const Deferred& from);

void ResolveClients(Context& context);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_CLIENTS_H_
