#include "runtime/dump/hex_text.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"

namespace packsmith {
namespace {

constexpr absl::string_view kWordWanted = "expected a word of 8 hex digits";

enum class Kind { kEnd, kWord, kAddress, kWrong };

struct Token {
  Kind kind = Kind::kEnd;
  uint64_t value = 0;
  size_t line = 1;
  size_t column = 1;
  bool first_on_line = false;
  absl::string_view text;
};

class Scanner {
 public:
  explicit Scanner(absl::string_view text) : text_(text) {}

  Token Next() {
    SkipBlanks();
    Token token;
    token.line = line_;
    token.column = pos_ - line_start_ + 1;
    token.first_on_line = first_on_line_;
    first_on_line_ = false;
    if (pos_ == text_.size()) return token;
    const size_t begin = pos_;
    while (pos_ < text_.size() && !EndsToken(text_[pos_])) ++pos_;
    if (pos_ == begin) ++pos_;  // a colon with nothing before it
    token.text = text_.substr(begin, pos_ - begin);
    size_t colon = pos_;
    while (colon < text_.size() && (text_[colon] == ' ' || text_[colon] == '\t')) ++colon;
    const bool address = colon < text_.size() && text_[colon] == ':';
    if (address) pos_ = colon + 1;
    token.kind = Kind::kWrong;
    absl::string_view digits = token.text;
    if (absl::StartsWithIgnoreCase(digits, "0x")) digits.remove_prefix(2);
    if (digits.empty() || digits.size() > 16) return token;
    for (const char c : digits) {
      if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) return token;
      const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
      token.value = token.value << 4 | static_cast<uint64_t>(digit);
    }
    if (address) {
      token.kind = Kind::kAddress;
    } else if (digits.size() == 8) {
      token.kind = Kind::kWord;
    }
    return token;
  }

 private:
  static bool EndsToken(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == '#' || c == ':';
  }

  void SkipBlanks() {
    for (; pos_ < text_.size(); ++pos_) {
      const char c = text_[pos_];
      if (c == '\n') {
        ++line_;
        line_start_ = pos_ + 1;
        first_on_line_ = true;
      } else if (c == '#') {
        pos_ = std::min(text_.find('\n', pos_), text_.size());
        --pos_;  // the line end is a blank of its own
      } else if (c != ' ' && c != '\t' && c != '\r' && c != ',') {
        return;
      }
    }
  }

  absl::string_view text_;
  size_t pos_ = 0;
  size_t line_ = 1;
  size_t line_start_ = 0;
  bool first_on_line_ = true;
};

// Words that follow each other.
struct Run {
  uint64_t address = 0;
  size_t offset = 0;  // in the bytes
  size_t line = 1;
};

absl::Status Refuse(const Token& token, absl::string_view expected) {
  std::string found = "the end of the text";
  if (!token.text.empty()) {
    found = absl::StrCat("\"", absl::CEscape(token.text.substr(0, 24)),
                         token.text.size() > 24 ? "...\"" : "\"");
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("%u:%u: %s, found %s", token.line, token.column, expected, found));
}

}  // namespace

bool LooksLikeHexText(absl::string_view text) {
  const Kind kind = Scanner(text).Next().kind;
  return kind == Kind::kWord || kind == Kind::kAddress;
}

absl::StatusOr<Dump> ReadHexText(absl::string_view text, const RawOptions& options) {
  auto bytes = std::make_shared<std::vector<uint8_t>>();
  std::vector<Run> runs;
  // An address that no word has followed yet.
  std::optional<Run> start = Run{AddressFor(options, options.address), 0, 1};
  Scanner scanner(text);
  while (true) {
    const Token token = scanner.Next();
    if (token.kind == Kind::kEnd) {
      if (runs.empty()) return Refuse(token, kWordWanted);
      break;
    }
    if (token.kind == Kind::kWrong) return Refuse(token, kWordWanted);
    const uint64_t next =
        start ? start->address : runs.back().address + (bytes->size() - runs.back().offset);
    if (token.kind == Kind::kAddress) {
      if (!token.first_on_line) {
        return Refuse(token, absl::StrCat(kWordWanted, ": an address must be first on its line"));
      }
      if (token.value % 4 != 0) return Refuse(token, "expected an address that is a multiple of 4");
      const uint64_t address = AddressFor(options, token.value);
      if (address != next || start) start = Run{address, bytes->size(), token.line};
      continue;
    }
    if (start) {
      start->offset = bytes->size();
      runs.push_back(*start);
      start.reset();
    } else if (next == 0) {
      return Refuse(token, "expected an address: the words before reach the end of memory (2^64)");
    }
    for (int shift = 0; shift < 32; shift += 8) {
      bytes->push_back(static_cast<uint8_t>(token.value >> shift));
    }
  }

  Dump dump;
  dump.device = DeviceOfGeneration(options.generation);
  const absl::Span<const uint8_t> all = *bytes;
  for (size_t i = 0; i < runs.size(); ++i) {
    const size_t end = i + 1 < runs.size() ? runs[i + 1].offset : all.size();
    const absl::Span<const uint8_t> part = all.subspan(runs[i].offset, end - runs[i].offset);
    const absl::Status mapped = dump.memory.Map(options.space, runs[i].address, part, part.size());
    if (!mapped.ok()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%u:1: expected each address once: %s", runs[i].line, mapped.message()));
    }
  }

  dump.submissions.push_back(SubmissionOf(options, runs[0].address, dump.memory));
  dump.backing = std::move(bytes);
  return dump;
}

}  // namespace packsmith
