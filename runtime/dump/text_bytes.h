// Memory that a text dump holds as hex lines or ASCII85, zlib-compressed or not: decoded when
// somebody looks.

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
  kHexWords,  // lines `offset : word...` or `[offset] word...`; what they leave out (1 MiB at most)
              // is zero
  kAscii85,   // see ascii85.h; line ends, blanks and tabs between characters are passed over
  kAscii85Zlib,  // the same, of a zlib stream, which up to three bytes of padding may follow
};

// A piece of the input, and where it lies there.
struct TextPiece {
  absl::string_view text;
  uint64_t offset = 0;
};

// What the buffers of one dump may come to in all, so that a small file cannot fill the memory.
struct TextBudget {
  std::atomic<uint64_t> bytes_left;
};

// The bytes that `pieces`, one after the other, stand for: good ones up to the first that is not,
// which becomes a problem. What the pieces point into has to outlive the result.
std::shared_ptr<DeferredBytes> DeferText(TextEncoding encoding, std::vector<TextPiece> pieces,
                                         std::shared_ptr<TextBudget> budget,
                                         std::shared_ptr<LateProblems> problems);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_TEXT_BYTES_H_
