// JSON into a ChunkWriter: strings, numbers, and members after the first one of an object.
#ifndef PACKSMITH_RUNTIME_DECODE_TEXT_JSON_WRITER_H_
#define PACKSMITH_RUNTIME_DECODE_TEXT_JSON_WRITER_H_

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"
#include "runtime/base/unicode.h"
#include "runtime/decode/text/chunk_writer.h"
#include "runtime/decode/text/digits.h"

namespace packsmith::decode {

class JsonWriter {
 public:
  // `out` must outlive this.
  explicit JsonWriter(ChunkWriter& out) : out_(out) {}

  // In quotes. Characters that a reader would not see are written as escapes, bytes that are not
  // UTF-8 as U+FFFD.
  void String(absl::string_view text) {
    if (text.size() <= kBrief && IsPlain(text)) {
      char* const to = out_.Reserve(kBrief + 2);
      to[0] = '"';
      text.copy(to + 1, text.size());
      to[1 + text.size()] = '"';
      out_.Commit(to + text.size() + 2);
      return;
    }
    out_.Put('"');
    size_t clean = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      if (c >= 0x80) {
        // Characters that a reader would not see, and bytes that JSON must not have.
        const CodePoint first = FirstCodePoint(text.substr(i));
        if (!first.valid || IsHidden(first.value)) {
          out_.Put(text.substr(clean, i - clean));
          clean = i + first.bytes;
          out_.Put(JsonEscape(first.valid ? first.value : kReplacement));
        }
        i += first.bytes - 1;
        continue;
      }
      if (c >= 0x20 && c != '"' && c != '\\') continue;
      out_.Put(text.substr(clean, i - clean));
      clean = i + 1;
      if (c == '"' || c == '\\') {
        out_.Put('\\');
        out_.Put(static_cast<char>(c));
      } else {
        char digits[8];
        WriteHex8(c, digits);
        out_.Put("\\u");
        out_.Put(absl::string_view(digits + 4, 4));
      }
    }
    out_.Put(text.substr(clean));
    out_.Put('"');
  }
  // With the fewest digits that give the same double. Must be finite.
  void Real(double value) {
    char* to = out_.Reserve(kMostDigits);
    if (!WriteShortReal(value, to)) {
      out_.Commit(std::to_chars(to, to + kMostDigits, value).ptr);
      return;
    }
    out_.Commit(to);
    if (value == std::trunc(value)) out_.Put(".0");
  }
  // In quotes: many readers have no integers of 64 bits.
  void Hex(uint64_t value) { out_.Commit(HexAt(value, out_.Reserve(2 + kMostDigits))); }

  // Keys are the program's own, and need no escapes. With a number that follows, room is asked for
  // once.
  template <size_t n>
  void Key(const char (&key)[n]) {
    out_.Commit(KeyAt(key, out_.Reserve(n + 3)));
  }
  template <size_t n>
  void Member(const char (&key)[n], absl::string_view value) {
    Key(key);
    String(value);
  }
  template <size_t n>
  void Member(const char (&key)[n], uint64_t value) {
    out_.Commit(WriteDecimal(value, KeyAt(key, out_.Reserve(n + 3 + kMostDigits))));
  }
  template <size_t n>
  void MemberHex(const char (&key)[n], uint64_t value) {
    out_.Commit(HexAt(value, KeyAt(key, out_.Reserve(n + 5 + kMostDigits))));
  }

 private:
  // Most strings are shorter.
  static constexpr size_t kBrief = 256;

  // These return the end of what they write.
  template <size_t n>
  static char* KeyAt(const char (&key)[n], char* to) {
    std::memcpy(to, ",\"", 2);
    std::memcpy(to + 2, key, n - 1);
    std::memcpy(to + n + 1, "\":", 2);
    return to + n + 3;
  }
  static char* HexAt(uint64_t value, char* to) {
    *to = '"';
    to = WriteHex(value, to + 1);
    *to = '"';
    return to + 1;
  }

  // U+FFFD, for bytes that are not UTF-8.
  static constexpr uint32_t kReplacement = 0xfffd;

  // JSON writes it as it is.
  static bool IsPlain(absl::string_view text) {
    constexpr uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
    uint64_t found = 0;
    // A byte's high bit for bytes that are less than 32, a quote, a backslash or above 127.
    const auto look = [&](uint64_t x) {
      const uint64_t quote = x ^ kOnes * '"', backslash = x ^ kOnes * '\\';
      found |= ((x - kOnes * 0x20) | x) & kHighs;
      found |= ((quote - kOnes) & ~quote & kHighs) | ((backslash - kOnes) & ~backslash & kHighs);
    };
    size_t i = 0;
    uint64_t eight = 0;
    for (; i + 8 <= text.size(); i += 8) {
      std::memcpy(&eight, text.data() + i, 8);
      look(eight);
    }
    eight = kOnes * 'x';
    for (size_t k = 0; i + k < text.size(); ++k) {
      const auto c = static_cast<unsigned char>(text[i + k]);
      eight = (eight & ~(uint64_t{0xff} << 8 * k)) | uint64_t{c} << 8 * k;
    }
    look(eight);
    return found == 0;
  }

  ChunkWriter& out_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TEXT_JSON_WRITER_H_
