// The options of options.h on a program's command line.
#ifndef PACKSMITH_RUNTIME_CAPTURE_RECORDS_COMMAND_LINE_H_
#define PACKSMITH_RUNTIME_CAPTURE_RECORDS_COMMAND_LINE_H_

#include <CLI/CLI.hpp>

#include "absl/strings/string_view.h"
#include "runtime/capture/records/options.h"

namespace packsmith::capture {

// Adds --record, --only, --trigger, --record-limit and --keep. Parsing sets `options`, which must
// live as long; wrong values are errors of the parser. All but --record need --record.
void AddRecordOptions(CLI::App& app, RecordOptions& options);

// Their lines for --help, in unpack's columns.
inline constexpr absl::string_view kRecordHelp =
    R"(  --record=DIR          record each submission in DIR, a new or empty folder; unpack DIR shows it
  --only=KEY=VALUE,...  only submissions with these properties: engine=NAME, context=N, process=NAME,
                        pid=N (repeated: any of them), from=N (the Nth and those after it), count=N
                        (N at most)
  --trigger=FILE        record when FILE appears: the number of submissions that it has, or all, if
                        it is empty, until it has 0. FILE is removed when it is read
  --record-limit=SIZE   the folder's size (512M, 2G): the oldest submissions are thrown away
  --keep=hung           keep only submissions that hung or faulted, and of the same context the one
                        before each (default: all)
)";

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_RECORDS_COMMAND_LINE_H_
