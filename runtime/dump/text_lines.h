// Lines and tokens of text dumps. Internal to the readers of this folder.

#ifndef PACKSMITH_RUNTIME_DUMP_TEXT_LINES_H_
#define PACKSMITH_RUNTIME_DUMP_TEXT_LINES_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace packsmith {

struct TextLine {
  absl::string_view text;  // without its end
  uint64_t offset = 0;     // in the input
};

// Hands out the lines of a text of any size, one after the other.
class TextLines {
 public:
  explicit TextLines(absl::string_view text) : text_(text) {}

  // The next line; nothing at the end.
  std::optional<TextLine> Next();
  // Next() hands out the line of the last call once more.
  void Back() { position_ = last_; }

 private:
  absl::string_view text_;
  size_t position_ = 0;
  size_t last_ = 0;
};

absl::string_view Trimmed(absl::string_view text);

// Takes a number off the front of `text`: "0x" and hex digits, or digits of `base`. Nothing is
// taken if there is none, or if it has more than 64 bits.
[[nodiscard]] std::optional<uint64_t> TakeNumber(absl::string_view& text, int base);

// Takes an address as kernels write it, in one word or two: "0x00000001", "0x00000001 00002000",
// "0x00000001_00002000", with or without 0x. `two` becomes whether there were two words.
[[nodiscard]] std::optional<uint64_t> TakeAddress(absl::string_view& text, bool& two);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_TEXT_LINES_H_
