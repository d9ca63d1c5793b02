// A line for each draw and dispatch: where it is, what it draws and what it finds set.
#ifndef PACKSMITH_RUNTIME_DECODE_DRAWS_SINK_H_
#define PACKSMITH_RUNTIME_DECODE_DRAWS_SINK_H_

#include <memory>

#include "runtime/decode/record.h"

namespace packsmith::decode {

// For Options::leads with Options::bound.each. Text or JSON lines (docs/records.md), and problems.
// What a field means is what the description says: nothing is known by its name. `output` must
// outlive the sink.
std::unique_ptr<Sink> MakeDrawsSink(Output& output, bool jsonl);

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_DRAWS_SINK_H_
