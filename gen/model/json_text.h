// JSON, written as one text without blanks. The IR is tens of megabytes of short members for a
// family of GPUs, and nearly all the time that it takes is spent here; so what is always the same,
// the names of members, is copied as it is, and nothing is checked that the writer of the IR knows.
#ifndef PACKSMITH_GEN_MODEL_JSON_TEXT_H_
#define PACKSMITH_GEN_MODEL_JSON_TEXT_H_

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace packsmith::model {

class JsonText {
 public:
  // As much as a large generation needs. What is not written costs no memory, growing does.
  JsonText() { text_.reserve(size_t{8} << 20); }

  void StartObject() { Start('{'); }
  void EndObject() { End('}'); }
  void StartArray() { Start('['); }
  void EndArray() { End(']'); }

  // `key` holds nothing that JSON would write in another way.
  void Key(absl::string_view key) {
    char* to = Begin(key.size() + 3);
    *to++ = '"';
    std::memcpy(to, key.data(), key.size());
    to += key.size();
    *to++ = '"';
    *to++ = ':';
    Finish(to);
    between_ = false;
  }

  // UTF-8.
  void String(absl::string_view text) {
    constexpr size_t kLongestEscape = 6;
    char* to = Begin(kLongestEscape * text.size() + 2);
    *to++ = '"';
    for (const char c : text) {
      if (static_cast<unsigned char>(c) < 0x20) {
        constexpr char kDigits[] = "0123456789abcdef";
        to = std::copy_n("\\u00", 4, to);
        *to++ = kDigits[c >> 4];
        *to++ = kDigits[c & 15];
        continue;
      }
      if (c == '"' || c == '\\') *to++ = '\\';
      *to++ = c;
    }
    *to++ = '"';
    Finish(to);
  }

  template <class T>
  void Number(T value) {
    constexpr size_t kLongest = 20;  // digits of 2^64, or those of 2^63 and a sign
    char* to = Begin(kLongest);
    Finish(std::to_chars(to, to + kLongest, value).ptr);
  }

  void Bool(bool value) { Word(value ? "true" : "false"); }
  void Null() { Word("null"); }

  // All of it; nothing is left here.
  std::string Take() {
    Flush();
    between_ = false;
    return std::move(text_);
  }

 private:
  void Start(char bracket) {
    char* to = Begin(1);
    *to++ = bracket;
    Finish(to);
    between_ = false;
  }
  void End(char bracket) {
    between_ = false;
    char* to = Begin(1);
    *to++ = bracket;
    Finish(to);
  }
  void Word(absl::string_view word) {
    char* to = Begin(word.size());
    std::memcpy(to, word.data(), word.size());
    Finish(to + word.size());
  }

  // Room for `most` characters, behind a comma where one is due.
  char* Begin(size_t most) {
    if (latest_.size() - used_ <= most) {
      Flush();
      if (latest_.size() <= most) latest_.resize(std::max(most + 1, size_t{1} << 16));
    }
    char* to = latest_.data() + used_;
    if (between_) *to++ = ',';
    return to;
  }
  // What was written ends at `to`.
  void Finish(const char* to) {
    used_ = static_cast<size_t>(to - latest_.data());
    between_ = true;
  }
  void Flush() { text_.append(latest_, 0, std::exchange(used_, 0)); }

  std::string text_;      // all but the latest
  std::string latest_;    // with room at its end
  size_t used_ = 0;       // characters of latest_ that are written
  bool between_ = false;  // a value stands before what comes
};

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_JSON_TEXT_H_
