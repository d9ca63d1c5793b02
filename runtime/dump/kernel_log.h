// Dumps that were copied from a kernel log, where each line has a prefix.

#ifndef PACKSMITH_RUNTIME_DUMP_KERNEL_LOG_H_
#define PACKSMITH_RUNTIME_DUMP_KERNEL_LOG_H_

#include <string>

#include "absl/strings/string_view.h"

namespace packsmith {

// Whether most of the first lines begin as a kernel log's do: with a time in brackets
// ("[  123.456789] "), or with a system log's prefix, which ends with "kernel: ".
bool LooksLikeKernelLog(absl::string_view text);

// The lines without their prefixes: level, date, host, time, thread, driver, device and the counter
// of the capture. Lines that i915 broke into pieces ("[Capture/1.7] }piece{") are whole again.
// Other lines stay as they are. O(size).
std::string WithoutLogPrefixes(absl::string_view text);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_KERNEL_LOG_H_
