// Memory that a text dump holds as hex lines or ASCII85, zlib-compressed or not: decoded on first
// access.

#ifndef PACKSMITH_RUNTIME_DUMP_TEXT_BYTES_H_
#define PACKSMITH_RUNTIME_DUMP_TEXT_BYTES_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/memory.h"

namespace packsmith {

enum class TextEncoding {
  kHexWords,     // lines `offset : word...` or `[offset] word...`; gaps (1 MiB at most) are zero
  kAscii85,      // see ascii85.h; line ends, blanks and tabs between characters are skipped
  kAscii85Zlib,  // the same, of a zlib stream, which up to three bytes of padding may follow
};

// A piece of the input, and its offset there.
struct TextPiece {
  absl::string_view text;
  uint64_t offset = 0;
};

// The limit for all buffers of one dump together, so that a small file cannot fill the memory.
struct TextBudget {
  std::atomic<uint64_t> bytes_left;
};

// The bytes that `pieces`, one after the other, encode, up to the first error, which becomes a
// problem. The text that the pieces point to must outlive the result.
std::shared_ptr<DeferredBytes> DeferText(TextEncoding encoding, std::vector<TextPiece> pieces,
                                         std::shared_ptr<TextBudget> budget,
                                         std::shared_ptr<LateProblems> problems);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_TEXT_BYTES_H_
