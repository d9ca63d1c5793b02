// Records as JSON, one object a line: docs/records.md.
#ifndef PACKSMITH_RUNTIME_DECODE_SINKS_JSONL_SINK_H_
#define PACKSMITH_RUNTIME_DECODE_SINKS_JSONL_SINK_H_

#include <cstdint>
#include <memory>

#include "runtime/decode/record.h"

namespace packsmith::decode {

struct JsonlOptions {
  // A member `undescribed` for bits that are set and that the XML does not describe.
  bool undescribed = false;
  // Counts them.
  UndescribedSeen* undescribed_seen = nullptr;
  // As Options::first_id.
  uint64_t first_id = 0;
  // A record of type `schema` comes first.
  bool schema = true;
};

// Hands text over in chunks of 64 KiB, the last one with the summary. `output` must outlive the
// sink.
std::unique_ptr<Sink> MakeJsonlSink(Output& output, const JsonlOptions& options = {});

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_SINKS_JSONL_SINK_H_
