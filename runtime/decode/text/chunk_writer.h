// Text and numbers into a chunk of memory that goes to an Output when it is full: sinks write
// millions of short pieces, none of which may cost an allocation or a virtual call.
#ifndef PACKSMITH_RUNTIME_DECODE_TEXT_CHUNK_WRITER_H_
#define PACKSMITH_RUNTIME_DECODE_TEXT_CHUNK_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
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

 private:
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
