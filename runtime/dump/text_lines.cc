#include "runtime/dump/text_lines.h"

#include <algorithm>

namespace packsmith {
namespace {

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

}  // namespace

std::optional<TextLine> TextLines::Next() {
  last_ = position_;
  if (position_ >= text_.size()) return std::nullopt;
  const size_t end = std::min(text_.find('\n', position_), text_.size());
  TextLine line{text_.substr(position_, end - position_), position_};
  position_ = std::min(end + 1, text_.size());
  if (!line.text.empty() && line.text.back() == '\r') line.text.remove_suffix(1);
  return line;
}

absl::string_view Trimmed(absl::string_view text) {
  constexpr absl::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == absl::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::optional<uint64_t> TakeNumber(absl::string_view& text, int base) {
  absl::string_view rest = text;
  if (rest.size() > 2 && rest[0] == '0' && (rest[1] | 0x20) == 'x') {
    rest.remove_prefix(2);
    base = 16;
  }
  uint64_t value = 0;
  size_t digits = 0;
  for (; digits < rest.size() && DigitOf(rest[digits]) < base; ++digits) {
    const uint64_t digit = static_cast<uint64_t>(DigitOf(rest[digits]));
    const uint64_t factor = static_cast<uint64_t>(base);
    if (value > (~uint64_t{0} - digit) / factor) return std::nullopt;
    value = value * factor + digit;
  }
  if (digits == 0) return std::nullopt;
  rest.remove_prefix(digits);
  text = rest;
  return value;
}

std::optional<uint64_t> TakeAddress(absl::string_view& text, bool& two) {
  two = false;
  absl::string_view rest = text;
  const std::optional<uint64_t> first = TakeNumber(rest, 16);
  if (!first) return std::nullopt;
  text = rest;
  // The second word has eight digits and nothing before them, which tells it from other numbers.
  if (rest.size() < 9 || (rest[0] != ' ' && rest[0] != '_') || *first > 0xffffffff) return first;
  rest.remove_prefix(1);
  const size_t before = rest.size();
  if (rest[0] == '0' && (rest[1] | 0x20) == 'x') return first;
  const std::optional<uint64_t> second = TakeNumber(rest, 16);
  if (!second || before - rest.size() != 8) return first;
  two = true;
  text = rest;
  return *first << 32 | *second;
}

}  // namespace packsmith
