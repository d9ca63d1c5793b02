// The destination of a program's text: standard output, a pager, or a file that is created when it
// is complete.
#ifndef PACKSMITH_TOOLS_OUTPUT_H_
#define PACKSMITH_TOOLS_OUTPUT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/decode/record.h"

namespace packsmith::tools {

class CliOutput : public decode::Output {
 public:
  // Ends the output; waits for the pager. Errors: the text could not be written.
  virtual absl::Status Finish() = 0;
};

struct OutputOptions {
  std::string file;    // empty: standard output
  bool pager = false;  // on a terminal only; $PAGER, else less -R
  // Called when the reader has gone. Later text is discarded.
  std::function<void()> on_gone;
};

// Ignores SIGPIPE from then on: a reader that goes away (head, a pager that was quit) is not an
// error.
absl::StatusOr<std::unique_ptr<CliOutput>> OpenOutput(const OutputOptions& options);

// Whether colours are wanted: `when` is auto, always or never. Auto: standard output is a terminal,
// which is not dumb, and NO_COLOR is not set.
bool UseColor(const std::string& when, const std::string& file);

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_OUTPUT_H_
