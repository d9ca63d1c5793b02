#include "runtime/dump/text_bytes.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "runtime/base/growing_bytes.h"
#include "runtime/dump/ascii85.h"

namespace packsmith {
namespace {

class TextBytes : public DeferredBytes {
 public:
  TextBytes(TextEncoding encoding, std::vector<TextPiece> pieces,
            std::shared_ptr<TextBudget> budget, std::shared_ptr<LateProblems> problems)
      : encoding_(encoding),
        pieces_(std::move(pieces)),
        budget_(std::move(budget)),
        problems_(std::move(problems)) {}

  absl::Span<const uint8_t> Make() override {
    switch (encoding_) {
      case TextEncoding::kHexWords:
        ReadHex();
        break;
      case TextEncoding::kAscii85:
        ReadAscii85();
        break;
      case TextEncoding::kAscii85Zlib:
        Inflate();
        break;
    }
    file_ = std::move(bytes_).Take("");
    return file_.bytes;
  }

 private:
  void Trouble(uint64_t offset, absl::string_view what) {
    problems_->Add(offset,
                   absl::StrFormat("%s; %u bytes of this buffer were read", what, bytes_.size()));
  }

  // Room that the budget allows; empty after a problem.
  absl::Span<uint8_t> Room(uint64_t offset) {
    const uint64_t left = budget_->bytes_left.load(std::memory_order_relaxed);
    const absl::Span<uint8_t> room = left == 0 ? absl::Span<uint8_t>() : bytes_.Room();
    if (room.empty()) Trouble(offset, "the buffers of this dump are larger than the limit");
    return room.subspan(0, static_cast<size_t>(std::min<uint64_t>(left, room.size())));
  }
  void Wrote(size_t count) {
    bytes_.Wrote(count);
    uint64_t left = budget_->bytes_left.load(std::memory_order_relaxed);
    while (!budget_->bytes_left.compare_exchange_weak(left, left - std::min<uint64_t>(left, count),
                                                      std::memory_order_relaxed)) {
    }
  }
  bool Append(uint64_t offset, absl::Span<const uint8_t> bytes) {
    while (!bytes.empty()) {
      const absl::Span<uint8_t> room = Room(offset);
      if (room.empty()) return false;
      const size_t count = std::min(room.size(), bytes.size());
      std::memcpy(room.data(), bytes.data(), count);
      Wrote(count);
      bytes.remove_prefix(count);
    }
    return true;
  }

  // --- `offset : word word...` ---

  static bool TakeHex(absl::string_view& line, uint32_t& value) {
    value = 0;
    size_t digits = 0;
    for (; digits < line.size() && digits < 8; ++digits) {
      const char c = line[digits];
      uint32_t digit = 0;
      if (c >= '0' && c <= '9') {
        digit = static_cast<uint32_t>(c - '0');
      } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
        digit = static_cast<uint32_t>((c | 0x20) - 'a' + 10);
      } else {
        break;
      }
      value = value << 4 | digit;
    }
    line.remove_prefix(digits);
    return digits != 0;
  }
  static void SkipSpace(absl::string_view& line) {
    while (!line.empty() && IsAscii85Space(line.front())) line.remove_prefix(1);
  }

  void ReadHex() {
    for (const TextPiece& piece : pieces_) {
      absl::string_view rest = piece.text;
      while (!rest.empty()) {
        const uint64_t at = piece.offset + (piece.text.size() - rest.size());
        const size_t end = std::min(rest.find('\n'), rest.size());
        absl::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (!ReadHexLine(line, at)) return;
      }
    }
  }
  bool ReadHexLine(absl::string_view line, uint64_t at) {
    uint32_t offset = 0;
    SkipSpace(line);
    if (line.empty()) return true;
    const bool brackets = line.front() == '[';
    if (brackets) line.remove_prefix(1);
    bool good = TakeHex(line, offset);
    SkipSpace(line);
    good = good && !line.empty() && line.front() == (brackets ? ']' : ':');
    if (!good || offset < bytes_.size()) {
      Trouble(at, good ? "a line's offset is below the previous line's end"
                       : "not a line of hex words");
      return false;
    }
    line.remove_prefix(1);
    // Kernels leave nothing out: a large gap is a damaged offset.
    const uint64_t gap = offset - bytes_.size();
    if (gap > kMostGaps - gaps_) {
      Trouble(at, "the offsets of lines leave gaps of more than 1 MiB");
      return false;
    }
    gaps_ += gap;
    static constexpr uint8_t kZeros[4096] = {};
    while (bytes_.size() < offset) {
      const size_t count = std::min<uint64_t>(offset - bytes_.size(), sizeof(kZeros));
      if (!Append(at, absl::MakeConstSpan(kZeros, count))) return false;
    }
    while (true) {
      SkipSpace(line);
      if (line.empty()) return true;
      uint32_t word = 0;
      if (!TakeHex(line, word) || (!line.empty() && !IsAscii85Space(line.front()))) {
        Trouble(at, "not a line of hex words");
        return false;
      }
      const uint8_t little[4] = {static_cast<uint8_t>(word), static_cast<uint8_t>(word >> 8),
                                 static_cast<uint8_t>(word >> 16),
                                 static_cast<uint8_t>(word >> 24)};
      if (!Append(at, little)) return false;
    }
  }

  // The gaps between lines of hex words, in total.
  static constexpr uint64_t kMostGaps = 1 << 20;
  uint64_t gaps_ = 0;

  // --- ASCII85 ---

  // Words of the text from where the last call stopped. 0 at the end and at a problem, which is
  // then reported.
  size_t NextWords(absl::Span<uint8_t> out) {
    size_t written = 0;
    while (out.size() - written >= 4 && piece_ < pieces_.size() && !decoder_.failed()) {
      absl::string_view& text = rest_;
      if (!begun_) {
        text = pieces_[piece_].text;
        begun_ = true;
      }
      while (!text.empty() && IsAscii85Space(text.front())) text.remove_prefix(1);
      if (text.empty()) {
        ++piece_;
        begun_ = false;
        continue;
      }
      written += decoder_.Decode(text, out.subspan(written));
    }
    if (written == 0 && !reported_) {
      reported_ = true;
      if (decoder_.failed()) {
        failure_ = "not ASCII85";
      } else if (decoder_.in_group()) {
        failure_ = "the last group of ASCII85 is incomplete";
      }
    }
    return written;
  }
  uint64_t Offset() const {
    if (pieces_.empty()) return 0;
    if (piece_ >= pieces_.size()) return pieces_.back().offset + pieces_.back().text.size();
    return pieces_[piece_].offset + (begun_ ? pieces_[piece_].text.size() - rest_.size() : 0);
  }

  void ReadAscii85() {
    while (true) {
      const absl::Span<uint8_t> room = Room(Offset());
      if (room.empty()) return;
      if (room.size() < 4) return Trouble(Offset(), "the buffers of this dump are too large");
      const size_t count = NextWords(room);
      if (count == 0) break;
      Wrote(count);
    }
    if (!failure_.empty()) Trouble(Offset(), failure_);
  }

  void Inflate() {
    z_stream stream = {};
    if (inflateInit(&stream) != Z_OK) return Trouble(Offset(), "no memory to inflate it");
    struct End {
      z_stream* stream;
      ~End() { inflateEnd(stream); }
    } end{&stream};
    alignas(8) uint8_t words[1 << 16];
    while (true) {
      if (stream.avail_in == 0) {
        stream.avail_in = static_cast<uInt>(NextWords(words));
        stream.next_in = words;
        if (stream.avail_in == 0) {
          Trouble(Offset(), failure_.empty() ? "the zlib stream is cut off" : failure_);
          return;
        }
      }
      const absl::Span<uint8_t> room = Room(Offset());
      if (room.empty()) return;
      const uInt offered = static_cast<uInt>(std::min<size_t>(room.size(), size_t{1} << 30));
      stream.next_out = room.data();
      stream.avail_out = offered;
      const int code = inflate(&stream, Z_NO_FLUSH);
      Wrote(offered - stream.avail_out);
      if (code == Z_STREAM_END) break;
      if (code != Z_OK && code != Z_BUF_ERROR) {
        Trouble(Offset(), absl::StrCat("the zlib stream is damaged before here (",
                                       stream.msg != nullptr ? stream.msg : zError(code), ")"));
        return;
      }
    }
    // The kernel pads the last word.
    uint8_t more[4];
    if (stream.avail_in > 3 || NextWords(more) != 0) {
      Trouble(Offset(), "data after the end of the zlib stream were ignored");
    } else if (!failure_.empty()) {
      Trouble(Offset(), failure_);
    }
  }

  const TextEncoding encoding_;
  const std::vector<TextPiece> pieces_;
  const std::shared_ptr<TextBudget> budget_;
  const std::shared_ptr<LateProblems> problems_;
  GrowingBytes bytes_;
  FileBytes file_;
  // Where NextWords() is.
  Ascii85Decoder decoder_;
  size_t piece_ = 0;
  bool begun_ = false;
  bool reported_ = false;
  absl::string_view rest_;
  std::string failure_;
};

}  // namespace

std::shared_ptr<DeferredBytes> DeferText(TextEncoding encoding, std::vector<TextPiece> pieces,
                                         std::shared_ptr<TextBudget> budget,
                                         std::shared_ptr<LateProblems> problems) {
  return std::make_shared<TextBytes>(encoding, std::move(pieces), std::move(budget),
                                     std::move(problems));
}

}  // namespace packsmith
