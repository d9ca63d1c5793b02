// Compressed input of any dump format.

#ifndef PACKSMITH_RUNTIME_DUMP_COMPRESSED_H_
#define PACKSMITH_RUNTIME_DUMP_COMPRESSED_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/file.h"
#include "runtime/dump/dump.h"

namespace packsmith {

struct Decompressed {
  FileBytes file;
  // Set if the compressed data is cut off or damaged: `file` has the part before that.
  std::optional<Problem> problem;
};

// Whether the bytes begin like zstd or gzip data.
bool IsCompressed(absl::Span<const uint8_t> bytes);

// Unpacks zstd or gzip data, including several frames or members one after another; other input
// is passed through. One level: the result is not unpacked again.
//
// ResourceExhausted if it would exceed `max_bytes`; InvalidArgument if nothing could be unpacked.
absl::StatusOr<Decompressed> Decompress(FileBytes file, uint64_t max_bytes = kDefaultMaxBytes);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_COMPRESSED_H_
