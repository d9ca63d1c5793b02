// Reads JSON piece by piece, with the place of each piece: no tree is built.
#ifndef PACKSMITH_RUNTIME_ENCODE_JSON_SCANNER_H_
#define PACKSMITH_RUNTIME_ENCODE_JSON_SCANNER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/strings/string_view.h"

namespace packsmith::encode {

// After an error every call fails, and does nothing.
class JsonScanner {
 public:
  explicit JsonScanner(absl::string_view text) : text_(text) {}

  size_t offset() const { return at_; }
  void Seek(size_t offset) { at_ = offset; }
  bool failed() const { return error_ != nullptr; }
  const char* error() const { return error_; }
  size_t error_offset() const { return error_at_; }

  // Skips white space; whether something follows.
  bool More();
  // The next character that is not white space; 0 at the end.
  char Peek();

  // Enters an object or array. NextKey() and NextItem() then advance in it, and return false at its
  // end, which they consume.
  bool BeginObject() { return Take('{', "an object, {, is expected here"); }
  bool BeginArray() { return Take('[', "an array, [, is expected here"); }
  bool NextKey(bool& first, absl::string_view& key);
  bool NextItem(bool& first);

  // Valid until ForgetStrings().
  bool String(absl::string_view& value);
  struct Number {
    bool is_real = false;
    bool negative = false;
    uint64_t integer = 0;  // two's complement
    double real = 0;
  };
  bool ReadNumber(Number& number);
  bool Bool(bool& value);
  bool Null();
  // Any value, however it is nested, up to a limit.
  bool Skip();
  void ForgetStrings() { strings_.clear(); }

  bool Fail(const char* why) { return FailAt(at_, why); }
  bool FailAt(size_t offset, const char* why);

 private:
  bool Take(char c, const char* otherwise);
  bool Word(absl::string_view word);
  bool Unescape(absl::string_view quoted, size_t begin, absl::string_view& value);

  absl::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  const char* error_ = nullptr;
  size_t error_at_ = 0;
  std::deque<std::string> strings_;  // those with escapes
};

}  // namespace packsmith::encode

#endif  // PACKSMITH_RUNTIME_ENCODE_JSON_SCANNER_H_
