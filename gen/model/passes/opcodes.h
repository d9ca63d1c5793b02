// What tells packets apart: the forced fields of their first dword.
//
// Needs: sizes, streams.
#ifndef PACKSMITH_GEN_MODEL_PASSES_OPCODES_H_
#define PACKSMITH_GEN_MODEL_PASSES_OPCODES_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

// Establishes Container::identify_mask, identify_value and identify_bytes of a packet, and from
// those which work reads what the packet sets (serves).
void ReadOpcode(Context& context, Container& c);
// Needs the opcodes of all packets: two that one engine can see in one stream must not match the
// same dword.
void CheckAmbiguity(Context& context);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_OPCODES_H_
