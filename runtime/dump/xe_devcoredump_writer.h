// Writes dumps as xe device core dumps: for fixtures, and for tools that read nothing else.

#ifndef PACKSMITH_RUNTIME_DUMP_XE_DEVCOREDUMP_WRITER_H_
#define PACKSMITH_RUNTIME_DUMP_XE_DEVCOREDUMP_WRITER_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/dump/dump.h"

namespace packsmith {

struct XeDevcoredumpOptions {
  // Contexts have a section of their own since Linux 6.14; before, they were in "GuC CT".
  bool contexts_apart = true;
  // Lines of data are broken after this many characters, as Linux 6.13 did (800); 0: never.
  size_t line_length = 0;
};

// The job's memory (space 0), its batches and the images of its contexts. If the dump has an
// error_state, its engines' registers are written, too.
//
// FailedPrecondition if the submissions are on several engines: a device core dump has one job.
absl::StatusOr<std::string> WriteXeDevcoredump(const Dump& dump,
                                               const XeDevcoredumpOptions& options);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_XE_DEVCOREDUMP_WRITER_H_
