// Which engines a stream and a packet have, and which stream a packet is in.
//
// Needs: nothing but the parsed model.
// Establishes: Stream::engines, Container::engines and Container::stream (-1 where it is unknown).
#ifndef PACKSMITH_GEN_MODEL_PASSES_STREAMS_H_
#define PACKSMITH_GEN_MODEL_PASSES_STREAMS_H_

#include "gen/model/passes/pass.h"

namespace packsmith::model {

void ResolveStreams(Context& context);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PASSES_STREAMS_H_
