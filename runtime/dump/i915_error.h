// The i915 driver's error state: /sys/class/drm/card0/error, of any kernel.

#ifndef PACKSMITH_RUNTIME_DUMP_I915_ERROR_H_
#define PACKSMITH_RUNTIME_DUMP_I915_ERROR_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/file.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/raw.h"

namespace packsmith {

// Whether the text begins like one: some line near its start is of a form that only error states
// have.
bool LooksLikeI915Error(absl::string_view text);

// Yields memory (space 1 the global one, another one for each engine's context), buffers under the
// kernel's names, `error_state`, and as submissions each engine's batch and context image. Rings
// become submissions when the meaning of registers is known: see runtime/hang.
// Buffers are inflated when they are read, to options.max_bytes in total at most.
//
// InvalidArgument if no line of the text is one of an error state. Any other damage loses only the
// damaged part, and becomes a problem.
absl::StatusOr<Dump> ReadI915Error(FileBytes file, const RawOptions& options);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_I915_ERROR_H_
