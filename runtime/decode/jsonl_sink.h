// Records as JSON, one object a line: docs/records.md.
#ifndef PACKSMITH_RUNTIME_DECODE_JSONL_SINK_H_
#define PACKSMITH_RUNTIME_DECODE_JSONL_SINK_H_

#include <memory>

#include "runtime/decode/record.h"

namespace packsmith::decode {

// `output` must outlive the sink. Lines are written whole.
std::unique_ptr<Sink> MakeJsonlSink(Output& output);

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_JSONL_SINK_H_
