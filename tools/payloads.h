// unpack --payloads: what the registers of the threads of each draw and dispatch hold when they
// begin.
#ifndef PACKSMITH_TOOLS_PAYLOADS_H_
#define PACKSMITH_TOOLS_PAYLOADS_H_

#include <memory>

#include "runtime/decode/record.h"

namespace packsmith::tools {

// For Options::bound.each. Text or JSON lines (docs/records.md), and problems. `output` must
// outlive the sink.
std::unique_ptr<decode::Sink> MakePayloadsSink(decode::Output& output, bool jsonl);

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_PAYLOADS_H_
