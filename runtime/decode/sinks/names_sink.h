// One line a packet: its address and its name.
#ifndef PACKSMITH_RUNTIME_DECODE_SINKS_NAMES_SINK_H_
#define PACKSMITH_RUNTIME_DECODE_SINKS_NAMES_SINK_H_

#include <memory>

#include "runtime/decode/record.h"

namespace packsmith::decode {

struct NamesOptions {
  bool offsets = true;  // the address before each name
};

// For Options::brief. Packets are indented by call. `output` must outlive the sink.
std::unique_ptr<Sink> MakeNamesSink(Output& output, const NamesOptions& options = {});

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_SINKS_NAMES_SINK_H_
