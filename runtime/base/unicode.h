// Invisible characters that change what a reader sees.
#ifndef PACKSMITH_RUNTIME_BASE_UNICODE_H_
#define PACKSMITH_RUNTIME_BASE_UNICODE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace packsmith {

struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 1;  // of its UTF-8 form
  bool valid = true;
};

// The first character of a text that is not empty. Bytes that are not UTF-8 (overlong forms and
// surrogates included) come one by one, as not valid.
CodePoint FirstCodePoint(absl::string_view text);

// Whether it is a control character (C0, DEL, C1), a line or paragraph separator, or a format
// character: those that set the direction of text, join or part letters, or have no width. Source:
// Unicode's categories Cc, Cf, Zl and Zp.
bool IsHidden(uint32_t code_point);

// The JSON escape, "\u202e"; a surrogate pair above 0xffff.
std::string JsonEscape(uint32_t code_point);

// JSON text whose hidden characters above U+007F are written as escapes. They occur in strings
// only.
std::string JsonWithHiddenEscaped(std::string json);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_UNICODE_H_
