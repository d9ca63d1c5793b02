// The hang report in its place among the records of a dump.
#ifndef PACKSMITH_RUNTIME_HANG_REPORT_SINK_H_
#define PACKSMITH_RUNTIME_HANG_REPORT_SINK_H_

#include <functional>
#include <memory>
#include <string>

#include "runtime/decode/record.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

// Passes everything on to `next`, and inserts the result of `write` before the records of each dump
// with an error state. Both must outlive the sink.
std::unique_ptr<decode::Sink> MakeHangSink(
    decode::Sink& next, std::function<std::string(const tables::Tables&, const Dump&)> write);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_REPORT_SINK_H_
