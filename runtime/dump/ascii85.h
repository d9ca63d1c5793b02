// ASCII85 as kernels write it into error states: each 32-bit word by itself, 'z' for zero, else
// five characters from '!' on, the most significant first; the word's bytes in memory are
// little-endian. No frame, no partial group (so decoders of Adobe's form do not fit).

#ifndef PACKSMITH_RUNTIME_DUMP_ASCII85_H_
#define PACKSMITH_RUNTIME_DUMP_ASCII85_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace packsmith {

// Decodes text that comes in pieces, at any borders.
class Ascii85Decoder {
 public:
  // Takes characters from the front of `text` and writes whole words to `out`. Stops when `text` is
  // used up, when `out` has less than four bytes left, at white space, and at an invalid character
  // or group; `text` then begins with it, or with the rest of that group. Returns the bytes
  // written, a multiple of four.
  size_t Decode(absl::string_view& text, absl::Span<uint8_t> out);

  // A character outside '!'..'u', or a group above 2^32 - 1: nothing more is decoded.
  bool failed() const { return failed_; }
  // In the middle of a group, which is lost if nothing follows.
  bool in_group() const { return digits_ != 0; }

 private:
  uint64_t value_ = 0;
  int digits_ = 0;
  bool failed_ = false;
};

// What may separate the characters of such text.
inline bool IsAscii85Space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Whether `c` can be part of such text.
inline bool IsAscii85(char c) { return (c >= '!' && c <= 'u') || c == 'z'; }

// Appends the text of `bytes`; an incomplete last word is filled with zeros.
void AppendAscii85(absl::Span<const uint8_t> bytes, std::string& text);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_ASCII85_H_
