// Text and numbers into a chunk of memory that goes to an Output when it is full: sinks write
// millions of short pieces, none of which may cost an allocation or a virtual call.
#ifndef PACKSMITH_RUNTIME_DECODE_TEXT_CHUNK_WRITER_H_
#define PACKSMITH_RUNTIME_DECODE_TEXT_CHUNK_WRITER_H_

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/base/unicode.h"
#include "runtime/decode/record.h"
#include "runtime/decode/text/digits.h"

namespace packsmith::decode {

class ChunkWriter {
 public:
  static constexpr size_t kChunk = 64 * 1024;

  // `output` must outlive the writer.
  explicit ChunkWriter(Output& output)
      : output_(output), data_(new char[kChunk]), at_(data_.get()), end_(data_.get() + kChunk) {}
  ~ChunkWriter() { Flush(); }
  ChunkWriter(const ChunkWriter&) = delete;
  ChunkWriter& operator=(const ChunkWriter&) = delete;

  // Hands over the text so far.
  void Flush() {
    if (at_ == data_.get()) return;
    ++flushes_;
    const absl::string_view text(data_.get(), static_cast<size_t>(at_ - data_.get()));
    at_ = data_.get();
    output_.Append(text);
  }

  // The end of the text, with room for this many bytes: for callers that write many short pieces
  // one after the other and then pass their end to Commit().
  char* Reserve(size_t bytes) {
    Need(bytes);
    return at_;
  }
  void Commit(char* end) { at_ = end; }

  // Appends what write() writes to `to`, too. False: that was more than a tenth of a chunk, and
  // `to` does not have it.
  template <class Write>
  bool Written(const Write& write, std::string& to) {
    constexpr size_t kMost = kChunk / 10;
    Need(kMost);
    const char* const begin = at_;
    const uint64_t flushes = flushes_;
    write();
    if (flushes_ != flushes || static_cast<size_t>(at_ - begin) > kMost) return false;
    to.append(begin, static_cast<size_t>(at_ - begin));
    return true;
  }

  void Put(absl::string_view text) {
    if (text.size() > Room()) {
      Flush();
      if (text.size() > kChunk) {
        output_.Append(text);
        return;
      }
    }
    at_ += text.copy(at_, text.size());
  }
  template <size_t n>
  void Put(const char (&literal)[n]) {
    Need(n);
    std::memcpy(at_, literal, n);
    at_ += n - 1;
  }
  // 64 bytes from text.data() on must be readable.
  void PutPadded(absl::string_view text) {
    if (text.size() > 64) return Put(text);
    Need(64);
    std::memcpy(at_, text.data(), 64);
    at_ += text.size();
  }
  void Put(char c) {
    Need(1);
    *at_++ = c;
  }
  void Fill(char c, size_t count) {
    for (; count > 64; count -= 64) Fill64(c, 64);
    Fill64(c, count);
  }
  void Decimal(uint64_t value) { at_ = WriteDecimal(value, Reserve(kMostDigits)); }
  void SignedDecimal(int64_t value) { at_ = WriteSignedDecimal(value, Reserve(kMostDigits)); }
  // "0x" and as many digits as there are.
  void Hex(uint64_t value) { at_ = WriteHex(value, Reserve(kMostDigits)); }
  // "0x" and at least twelve digits: addresses in a column.
  void Address(uint64_t value) { at_ = WriteAddress(value, Reserve(kMostDigits)); }
  // Eight digits.
  void Hex8(uint32_t value) { at_ = WriteHex8(value, Reserve(kMostDigits)); }
  // As printf's %.9g. Must be finite.
  void Real(double value) { at_ = WriteReal(value, Reserve(kMostDigits)); }
  // As JSON, with the fewest digits that give the same double. Must be finite.
  void JsonReal(double value) {
    char* const begin = Reserve(kMostDigits);
    at_ = begin;
    if (!WriteShortReal(value, at_)) {
      at_ = std::to_chars(at_, at_ + kMostDigits, value).ptr;
    } else if (value == std::trunc(value)) {
      Put(".0");
    }
  }
  // In quotes, as JSON writes strings. Characters that a reader would not see are written as
  // escapes, bytes that are not UTF-8 as U+FFFD.
  void JsonString(absl::string_view text) {
    Put('"');
    if (IsPlain(text)) {
      Put(text);
      Put('"');
      return;
    }
    size_t clean = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      if (c >= 0x80) {
        // Characters that a reader would not see, and bytes that JSON must not have.
        const CodePoint first = FirstCodePoint(text.substr(i));
        if (!first.valid || IsHidden(first.value)) {
          Put(text.substr(clean, i - clean));
          clean = i + first.bytes;
          Put(JsonEscape(first.valid ? first.value : kReplacement));
        }
        i += first.bytes - 1;
        continue;
      }
      if (c >= 0x20 && c != '"' && c != '\\') continue;
      Put(text.substr(clean, i - clean));
      clean = i + 1;
      if (c == '"' || c == '\\') {
        Put('\\');
        Put(static_cast<char>(c));
      } else {
        char digits[8];
        WriteHex8(c, digits);
        Put("\\u");
        Put(absl::string_view(digits + 4, 4));
      }
    }
    Put(text.substr(clean));
    Put('"');
  }

 private:
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

  size_t Room() const { return static_cast<size_t>(end_ - at_); }
  void Need(size_t bytes) {
    if (bytes > Room()) MakeRoom(bytes);
  }
  // For more than a chunk only if the caller asks for as much in one piece.
  void MakeRoom(size_t bytes) {
    Flush();
    if (bytes <= Room()) return;
    data_.reset(new char[bytes]);
    at_ = data_.get();
    end_ = at_ + bytes;
  }
  void Fill64(char c, size_t count) {
    Need(64);
    std::memset(at_, c, 64);
    at_ += count;
  }

  Output& output_;
  std::unique_ptr<char[]> data_;
  char* at_;
  char* end_;
  uint64_t flushes_ = 0;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TEXT_CHUNK_WRITER_H_
