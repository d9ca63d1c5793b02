// Words, numbers and expressions of the short form of batches (assembler.h).
#ifndef PACKSMITH_RUNTIME_ENCODE_EXPRESSION_H_
#define PACKSMITH_RUNTIME_ENCODE_EXPRESSION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace packsmith::encode {

// A place in a text, and what can be read there. Functions that fail set an error, and leave the
// rest of the line to the caller.
class TextCursor {
 public:
  explicit TextCursor(absl::string_view text) : text_(text) {}

  size_t offset() const { return at_; }
  void Seek(size_t offset) { at_ = offset; }
  bool at_end() const { return at_ >= text_.size(); }
  // The next character; 0 at the end.
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void Advance(size_t count = 1) { at_ += count; }

  // Blanks, and a comment up to the end of its line.
  void SkipBlanks();
  // The same, over the ends of lines.
  void SkipLines();
  // Up to the next end of a line, which stays.
  void SkipToEndOfLine();
  // Whether a line ends here.
  bool AtEndOfLine() const { return at_end() || text_[at_] == '\n'; }

  // A run of letters, digits, _ and what `more` contains; may be empty.
  absl::string_view Word(absl::string_view more = "");
  // "text", with \" \\ \n \t \xNN. Valid as long as the cursor.
  bool Quoted(absl::string_view& text);

  bool Fail(size_t offset, std::string why) {
    if (error_.empty()) {
      error_ = std::move(why);
      error_at_ = offset;
    }
    return false;
  }
  bool Fail(std::string why) { return Fail(at_, std::move(why)); }
  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }
  size_t error_offset() const { return error_at_; }
  void ForgetError() { error_.clear(); }

 private:
  absl::string_view text_;
  size_t at_ = 0;
  std::string error_;
  size_t error_at_ = 0;
  std::deque<std::string> strings_;  // those with escapes
};

bool IsWordChar(char c);

// "12", "0x1f", "0b101", digits may be separated by ' or _. False if the word is not a number; true
// with no value if it has more than 64 bits.
bool ParseInteger(absl::string_view word, std::optional<uint64_t>& value);

// The value of an expression's symbol. `defined`: false if there is none (yet).
using FindSymbol = std::function<uint64_t(absl::string_view name, size_t offset, bool& defined)>;

// The result of arithmetic modulo 2^64.
struct Evaluated {
  uint64_t value = 0;
  bool defined = true;    // all symbols have a value
  bool negative = false;  // the value is less than zero: it began with a minus
};

// Reads an expression: numbers, symbols, $ (`here`), + - * / % << >> & ^ | ~, parentheses, lo(x),
// hi(x). It ends where no operator follows. False if there is none, or it is wrong.
bool ReadExpression(TextCursor& cursor, const FindSymbol& symbols, uint64_t here,
                    Evaluated& result);

}  // namespace packsmith::encode

#endif  // PACKSMITH_RUNTIME_ENCODE_EXPRESSION_H_
