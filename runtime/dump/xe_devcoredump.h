// The xe driver's device core dump: /sys/class/drm/card0/device/devcoredump/data, of any kernel,
// or its lines out of the kernel log.

#ifndef PACKSMITH_RUNTIME_DUMP_XE_DEVCOREDUMP_H_
#define PACKSMITH_RUNTIME_DUMP_XE_DEVCOREDUMP_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/file.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/raw.h"

namespace packsmith {

// Whether one of the first lines is a section's title, `**** ... ****`.
bool LooksLikeXeDevcoredump(absl::string_view text);

// Yields memory (space 0 that of the job's context, 1 the global one), `error_state`, and as
// submissions the job's batches and the images of its contexts. Buffers are decoded when they are
// read, to options.max_bytes in total at most.
//
// InvalidArgument if the text has no section. Any other damage loses only the damaged part, and
// becomes a problem.
absl::StatusOr<Dump> ReadXeDevcoredump(FileBytes file, const RawOptions& options);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_XE_DEVCOREDUMP_H_
