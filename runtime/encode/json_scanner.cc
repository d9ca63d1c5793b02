#include "runtime/encode/json_scanner.h"

#include <charconv>
#include <system_error>

namespace packsmith::encode {
namespace {

constexpr int kDeepest = 64;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

void AppendUtf8(uint32_t c, std::string& to) {
  if (c < 0x80) {
    to += static_cast<char>(c);
  } else if (c < 0x800) {
    to += static_cast<char>(0xc0 | c >> 6);
    to += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    to += static_cast<char>(0xe0 | c >> 12);
    to += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    to += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    to += static_cast<char>(0xf0 | c >> 18);
    to += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    to += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    to += static_cast<char>(0x80 | (c & 0x3f));
  }
}

}  // namespace

bool JsonScanner::FailAt(size_t offset, const char* why) {
  if (error_ == nullptr) {
    error_ = why;
    error_at_ = offset;
  }
  return false;
}

bool JsonScanner::More() {
  while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  return at_ < text_.size();
}

char JsonScanner::Peek() { return More() ? text_[at_] : '\0'; }

bool JsonScanner::Take(char c, const char* otherwise) {
  if (failed()) return false;
  if (Peek() != c || !More()) return Fail(otherwise);
  ++at_;
  return true;
}

bool JsonScanner::NextKey(bool& first, absl::string_view& key) {
  if (failed()) return false;
  if (Peek() == '}') {
    ++at_;
    return false;
  }
  if (!first && !Take(',', "a comma or } is expected here")) return false;
  first = false;
  if (Peek() != '"') return Fail("the name of a member is expected here");
  return String(key) && Take(':', "a colon is expected here");
}

bool JsonScanner::NextItem(bool& first) {
  if (failed()) return false;
  if (Peek() == ']') {
    ++at_;
    return false;
  }
  if (!first && !Take(',', "a comma or ] is expected here")) return false;
  first = false;
  if (Peek() == ']') return Fail("a value is expected here");
  return true;
}

bool JsonScanner::String(absl::string_view& value) {
  if (failed()) return false;
  if (Peek() != '"') return Fail("a string is expected here");
  const size_t begin = at_ + 1;
  bool escapes = false;
  for (size_t i = begin; i < text_.size(); ++i) {
    const char c = text_[i];
    if (c == '"') {
      at_ = i + 1;
      value = text_.substr(begin, i - begin);
      return !escapes || Unescape(value, begin, value);
    }
    if (c == '\\') {
      escapes = true;
      ++i;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      return FailAt(i, "a string must not contain control characters");
    }
  }
  return Fail("the string does not end");
}

bool JsonScanner::Unescape(absl::string_view quoted, size_t begin, absl::string_view& value) {
  std::string& text = strings_.emplace_back();
  const auto hex4 = [&](size_t from, uint32_t& code) {
    if (from + 4 > quoted.size()) return false;
    const char* const end = quoted.data() + from + 4;
    return std::from_chars(quoted.data() + from, end, code, 16).ptr == end;
  };
  for (size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] != '\\') {
      text += quoted[i];
      continue;
    }
    const size_t place = begin + i;
    if (++i == quoted.size()) return FailAt(place, "the escape is not complete");
    switch (quoted[i]) {
      case '"':
      case '\\':
      case '/':
        text += quoted[i];
        break;
      case 'b':
        text += '\b';
        break;
      case 'f':
        text += '\f';
        break;
      case 'n':
        text += '\n';
        break;
      case 'r':
        text += '\r';
        break;
      case 't':
        text += '\t';
        break;
      case 'u': {
        uint32_t code = 0, low = 0;
        if (!hex4(i + 1, code)) return FailAt(place, "\\u needs four hexadecimal digits");
        i += 4;
        if (code >= 0xd800 && code < 0xdc00 && i + 2 < quoted.size() && quoted[i + 1] == '\\' &&
            quoted[i + 2] == 'u' && hex4(i + 3, low) && low >= 0xdc00 && low < 0xe000) {
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
          i += 6;
        } else if (code >= 0xd800 && code < 0xe000) {
          code = 0xfffd;
        }
        AppendUtf8(code, text);
        break;
      }
      default:
        return FailAt(place, "not an escape of JSON");
    }
  }
  value = text;
  return true;
}

bool JsonScanner::ReadNumber(Number& number) {
  if (failed()) return false;
  More();
  size_t end = at_;
  bool is_real = false;
  while (end < text_.size()) {
    const char c = text_[end];
    if (c == '.' || c == 'e' || c == 'E') {
      is_real = true;
    } else if (!(c >= '0' && c <= '9') && c != '-' && c != '+') {
      break;
    }
    ++end;
  }
  const char* begin = text_.data() + at_;
  const char* const last = text_.data() + end;
  number = {.is_real = is_real, .negative = begin != last && *begin == '-'};
  if (number.negative) ++begin;
  if (begin == last || *begin < '0' || *begin > '9') return Fail("a number is expected here");
  if (std::from_chars(begin, last, number.real).ptr != last) return Fail("not a number of JSON");
  if (!is_real) {
    const std::from_chars_result result = std::from_chars(begin, last, number.integer);
    const uint64_t most = number.negative ? uint64_t{1} << 63 : ~uint64_t{0};
    // Large real numbers may be written without a fraction.
    number.is_real = result.ec != std::errc() || number.integer > most;
    if (number.negative) number.integer = 0 - number.integer;
  }
  if (number.negative) number.real = -number.real;
  at_ = end;
  return true;
}

bool JsonScanner::Word(absl::string_view word) {
  if (failed()) return false;
  More();
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

bool JsonScanner::Bool(bool& value) {
  if (Word("true")) {
    value = true;
    return true;
  }
  value = false;
  return Word("false") || Fail("true or false is expected here");
}

bool JsonScanner::Null() { return Word("null") || Fail("null is expected here"); }

bool JsonScanner::Skip() {
  if (failed()) return false;
  absl::string_view text;
  Number number;
  bool truth = false, first = true;
  switch (Peek()) {
    case '{':
      if (++depth_ > kDeepest) return Fail("values are nested too deeply");
      BeginObject();
      while (NextKey(first, text) && Skip()) {
      }
      --depth_;
      return !failed();
    case '[':
      if (++depth_ > kDeepest) return Fail("values are nested too deeply");
      BeginArray();
      while (NextItem(first) && Skip()) {
      }
      --depth_;
      return !failed();
    case '"':
      return String(text);
    case 't':
    case 'f':
      return Bool(truth);
    case 'n':
      return Null();
    default:
      return ReadNumber(number);
  }
}

}  // namespace packsmith::encode
