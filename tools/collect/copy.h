// Copies a dump out of the kernel, compressed on the way.
#ifndef PACKSMITH_TOOLS_COLLECT_COPY_H_
#define PACKSMITH_TOOLS_COLLECT_COPY_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"

namespace packsmith::collect {

struct CopyOptions {
  int level = 1;               // of zstd
  uint64_t most = UINT64_MAX;  // bytes to read
  // Asked now and then with the compressed bytes so far; a message: there is no room for more.
  std::function<std::string(uint64_t written)> room;
};

struct Copied {
  uint64_t read = 0;     // bytes of the dump
  uint64_t written = 0;  // bytes of the file
  // Why the dump ends there; empty: at its own end. What was read until then is in the file.
  std::string cut;
};

// Reads `from` to its end and writes it to the open file `to`, in zstd's format with a checksum,
// and syncs it. Reading does not wait for compression, which has a thread of its own. Files in /sys
// give a page for each read and have no size, so only a read of nothing is the end.
//
// An error: the file could not be written (ResourceExhausted: there is no room for it), or `from`
// not opened.
absl::Status Copy(const std::string& from, int to, const CopyOptions& options, Copied& copied);

}  // namespace packsmith::collect

#endif  // PACKSMITH_TOOLS_COLLECT_COPY_H_
