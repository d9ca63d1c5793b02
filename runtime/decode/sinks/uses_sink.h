// Users of the memory at an address: packets, and the draws and dispatches that use their settings.
#ifndef PACKSMITH_RUNTIME_DECODE_SINKS_USES_SINK_H_
#define PACKSMITH_RUNTIME_DECODE_SINKS_USES_SINK_H_

#include <cstdint>
#include <memory>

#include "runtime/decode/record.h"

namespace packsmith::decode {

// For Options::leads with Options::bound.each. A line for each field that points to a buffer, an
// image, a program or a record that has the byte at `address`, as text or JSON lines
// (docs/records.md), and problems. Commands extend to the end of their buffer; for other targets of
// unknown size, only the address itself is compared. `output` must outlive the sink.
std::unique_ptr<Sink> MakeUsesSink(Output& output, uint64_t address, bool jsonl);

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_SINKS_USES_SINK_H_
