// Batches as people paste them:
//
//   # a comment
//   0x1000: 7a000003 00100000, 00000000
//   0x100c: 0x05000000

#ifndef PACKSMITH_RUNTIME_DUMP_HEX_TEXT_H_
#define PACKSMITH_RUNTIME_DUMP_HEX_TEXT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/raw.h"

namespace packsmith {

// Whether the text begins like hex text: after blanks and comments comes a word or an address.
bool LooksLikeHexText(absl::string_view text);

// 32-bit words of exactly 8 hex digits, optional `0x`, separated by blanks, line ends or commas.
// A line may begin with `address:`, 1 to 16 hex digits with optional `0x`, a multiple of 4: the
// address of the next word. Without one, words follow the previous word, the first is at
// options.address. `#` starts a comment that ends with the line.
//
// The dump has one submission: at the first word, as long as words follow each other without a
// gap, unless options say otherwise. InvalidArgument `line:column: what was expected, what was
// found`; the same if an address is given twice.
absl::StatusOr<Dump> ReadHexText(absl::string_view text, const RawOptions& options);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_HEX_TEXT_H_
