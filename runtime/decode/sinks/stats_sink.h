// How often each packet comes.
#ifndef PACKSMITH_RUNTIME_DECODE_SINKS_STATS_SINK_H_
#define PACKSMITH_RUNTIME_DECODE_SINKS_STATS_SINK_H_

#include <memory>

#include "runtime/decode/record.h"

namespace packsmith::decode {

// For Options::brief. A table of packets, the most frequent first, with the summary. `output` must
// outlive the sink.
std::unique_ptr<Sink> MakeStatsSink(Output& output);

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_SINKS_STATS_SINK_H_
