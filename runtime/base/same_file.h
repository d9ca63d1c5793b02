// Whether writing one file would destroy another one.

#ifndef PACKSMITH_RUNTIME_BASE_SAME_FILE_H_
#define PACKSMITH_RUNTIME_BASE_SAME_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace packsmith {

// Whether both names are of one regular file or block device, whatever links, `..` or /proc/self/fd
// they go through. "-" is standard input for `input` and standard output for `output`. False for
// files that do not exist, and for pipes, terminals and character devices: writing to these
// overwrites no input.
bool IsSameFile(const std::string& input, const std::string& output);

// InvalidArgument with both names and the remedy if writing `output` would replace one of `inputs`.
absl::Status RefuseToOverwrite(const std::string& output, absl::Span<const std::string> inputs);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_SAME_FILE_H_
