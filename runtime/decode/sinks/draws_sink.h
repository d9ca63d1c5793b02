// A line for each draw and dispatch: its address, what it draws and the settings that it uses.
#ifndef PACKSMITH_RUNTIME_DECODE_SINKS_DRAWS_SINK_H_
#define PACKSMITH_RUNTIME_DECODE_SINKS_DRAWS_SINK_H_

#include <memory>

#include "runtime/decode/record.h"

namespace packsmith::decode {

// For Options::leads with Options::bound.each. Text or JSON lines (docs/records.md), and problems.
// The meaning of fields comes from the description, never from their names. `output` must outlive
// the sink.
std::unique_ptr<Sink> MakeDrawsSink(Output& output, bool jsonl);

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_SINKS_DRAWS_SINK_H_
