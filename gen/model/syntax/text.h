// Numbers and texts as attributes have them.
#ifndef PACKSMITH_GEN_MODEL_SYNTAX_TEXT_H_
#define PACKSMITH_GEN_MODEL_SYNTAX_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace packsmith::model {

// Decimal, or hexadecimal as 0x…; false for anything else, signs and spaces too.
[[nodiscard]] bool ParseUnsigned(absl::string_view text, uint64_t& value);
// The same with a minus in front, where the value fits 64 signed bits.
[[nodiscard]] bool ParseSigned(absl::string_view text, int64_t& value);
// "high:low", or one bit. False if it is neither; of numbers in the wrong order both are given.
[[nodiscard]] bool ParseHighLow(const std::string& text, uint64_t& high, uint64_t& low);

// Where `text` stops being UTF-8, or begins to hold characters that XML forbids; its size if all is
// well.
size_t FirstBadByte(absl::string_view text);

// Text of an element with runs of white space folded to one space.
std::string FoldedText(const std::string& text);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_SYNTAX_TEXT_H_
