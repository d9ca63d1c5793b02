// Text and numbers into a chunk of memory that goes to an Output when it is full: sinks write
// millions of short pieces, none of which may cost an allocation or a virtual call.
#ifndef PACKSMITH_RUNTIME_DECODE_CHUNK_WRITER_H_
#define PACKSMITH_RUNTIME_DECODE_CHUNK_WRITER_H_

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>

#include "absl/strings/string_view.h"
#include "runtime/decode/record.h"

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

  // Hands over what there is.
  void Flush() {
    if (at_ == data_.get()) return;
    const absl::string_view text(data_.get(), static_cast<size_t>(at_ - data_.get()));
    at_ = data_.get();
    output_.Append(text);
  }

  void Put(absl::string_view text) {
    if (text.size() > Room()) {
      Flush();
      if (text.size() > kChunk) {
        output_.Append(text);
        return;
      }
    }
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
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
  void Decimal(uint64_t value) {
    Need(20);
    if (value < 10) {
      *at_++ = static_cast<char>('0' + value);
    } else {
      at_ = std::to_chars(at_, at_ + 20, value).ptr;
    }
  }
  void SignedDecimal(int64_t value) {
    Need(20);
    at_ = std::to_chars(at_, at_ + 20, value).ptr;
  }
  // "0x" and as many digits as there are.
  void Hex(uint64_t value) {
    Need(24);
    *at_++ = '0';
    *at_++ = 'x';
    if (value < 10) {
      *at_++ = static_cast<char>('0' + value);
      return;
    }
    char digits[16];
    Digits8(static_cast<uint32_t>(value >> 32), digits);
    Digits8(static_cast<uint32_t>(value), digits + 8);
    const int leading = __builtin_clzll(value) / 4;
    // The rest of `digits` and whatever follows it would do as well, but must be readable.
    char shifted[32];
    std::memcpy(shifted, digits, 16);
    std::memset(shifted + 16, 0, 16);
    std::memcpy(at_, shifted + leading, 16);
    at_ += 16 - leading;
  }
  // "0x" and at least twelve digits: addresses, one below the other.
  void Address(uint64_t value) {
    if (value >> 48 != 0) return Hex(value);
    Need(24);
    *at_++ = '0';
    *at_++ = 'x';
    char low[8];
    Digits8(static_cast<uint32_t>(value >> 16), at_);
    Digits8(static_cast<uint32_t>(value & 0xffff), low);
    std::memcpy(at_ + 8, low + 4, 4);
    at_ += 12;
  }
  // Eight digits.
  void Hex8(uint32_t value) {
    Need(8);
    Digits8(value, at_);
    at_ += 8;
  }
  // As printf's %.9g. Must be finite.
  void Real(double value) {
    Need(32);
    if (std::fabs(value) < 1e6 && value == std::trunc(value) &&
        !(value == 0 && std::signbit(value))) {
      at_ = std::to_chars(at_, at_ + 20, static_cast<int64_t>(value)).ptr;
      return;
    }
    at_ = std::to_chars(at_, at_ + 32, value, std::chars_format::general, 9).ptr;
  }
  // As JSON, with the fewest digits that give the same double. Must be finite.
  void JsonReal(double value) {
    Need(40);
    if (std::fabs(value) < 1e6 && value == std::trunc(value) &&
        !(value == 0 && std::signbit(value))) {
      at_ = std::to_chars(at_, at_ + 20, static_cast<int64_t>(value)).ptr;
      std::memcpy(at_, ".0", 2);
      at_ += 2;
      return;
    }
    at_ = std::to_chars(at_, at_ + 40, value).ptr;
  }
  // In quotes, as JSON writes strings. `text` is valid UTF-8.
  void JsonString(absl::string_view text) {
    Put('"');
    size_t clean = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      if (c >= 0x20 && c != '"' && c != '\\') continue;
      Put(text.substr(clean, i - clean));
      clean = i + 1;
      if (c == '"' || c == '\\') {
        Put('\\');
        Put(static_cast<char>(c));
      } else {
        char digits[8];
        Digits8(c, digits);
        Put("\\u");
        Put(absl::string_view(digits + 4, 4));
      }
    }
    Put(text.substr(clean));
    Put('"');
  }

 private:
  size_t Room() const { return static_cast<size_t>(end_ - at_); }
  void Need(size_t bytes) {
    if (bytes > Room()) Flush();
  }
  void Fill64(char c, size_t count) {
    Need(64);
    std::memset(at_, c, 64);
    at_ += count;
  }
  // All digits at once: each nibble becomes a byte.
  static void Digits8(uint32_t value, char* to) {
    uint64_t x = value;
    x = (x << 16 | x) & 0x0000ffff0000ffff;
    x = (x << 8 | x) & 0x00ff00ff00ff00ff;
    x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0f;
    const uint64_t letters = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
    x = __builtin_bswap64(x + 0x3030303030303030 + letters * 39);
    std::memcpy(to, &x, 8);
  }

  Output& output_;
  std::unique_ptr<char[]> data_;
  char* at_;
  char* end_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_CHUNK_WRITER_H_
