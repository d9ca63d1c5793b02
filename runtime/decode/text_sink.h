// Records as text for people.
#ifndef PACKSMITH_RUNTIME_DECODE_TEXT_SINK_H_
#define PACKSMITH_RUNTIME_DECODE_TEXT_SINK_H_

#include <memory>

#include "runtime/decode/record.h"

namespace packsmith::decode {

struct TextOptions {
  bool color = false;
  // Fields that are zero (or false, or 0.0) are left out; their packet says how many.
  bool hide_zero_fields = false;
};

// `output` must outlive the sink.
std::unique_ptr<Sink> MakeTextSink(Output& output, const TextOptions& options = {});

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TEXT_SINK_H_
