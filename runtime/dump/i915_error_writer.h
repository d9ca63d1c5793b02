// Writes dumps as i915 error states, in the forms that kernels have used: for fixtures, and for
// tools that read nothing else.

#ifndef PACKSMITH_RUNTIME_DUMP_I915_ERROR_WRITER_H_
#define PACKSMITH_RUNTIME_DUMP_I915_ERROR_WRITER_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/dump/dump.h"

namespace packsmith {

enum class I915ErrorData {
  kHexWords,     // up to Linux 4.9
  kAscii85,      // since 4.10, where the kernel could not compress
  kAscii85Zlib,  // since 4.10
};

struct I915ErrorOptions {
  I915ErrorData data = I915ErrorData::kAscii85Zlib;
  bool two_words = true;  // addresses as high and low word, since Linux 4.2
  bool new_names = true;  // "rcs0", "batch", not "render ring", "gtt_offset"
};

// The memory of `dump` around its submissions. Segments of space 1 are written as the driver's
// global buffers, all others as the user's. If the dump has an error_state, its engines' registers
// and requests are written, too.
//
// FailedPrecondition for what the format cannot express: an address of 2^32 or more in one word,
// several submissions on one engine, a buffer of 4 GiB or more.
absl::StatusOr<std::string> WriteI915Error(const Dump& dump, const I915ErrorOptions& options);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_I915_ERROR_WRITER_H_
