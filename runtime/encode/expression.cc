#include "runtime/encode/expression.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace packsmith::encode {
namespace {

constexpr int kDeepestExpression = 64;

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

class ExpressionReader {
 public:
  ExpressionReader(TextCursor& cursor, const FindSymbol& symbols, uint64_t here)
      : cursor_(cursor), symbols_(symbols), here_(here) {}

  // Of operators that bind at least as strongly as `least`.
  bool Binary(int least, Evaluated& left) {
    if (++depth_ > kDeepestExpression) return cursor_.Fail("the expression is nested too deeply");
    if (!Unary(left)) return false;
    while (true) {
      const size_t before = cursor_.offset();
      cursor_.SkipBlanks();
      const Operator* const op = Next();
      if (op == nullptr || op->strength < least) {
        cursor_.Seek(before);
        --depth_;
        return true;
      }
      const size_t at = cursor_.offset();
      cursor_.Advance(op->text.size());
      cursor_.SkipBlanks();
      Evaluated right;
      if (!Binary(op->strength + 1, right)) return false;
      if (!Apply(op->text, right, at, left)) return false;
    }
  }

 private:
  struct Operator {
    absl::string_view text;
    int strength;
  };

  const Operator* Next() const {
    static constexpr Operator kOperators[] = {{"<<", 4}, {">>", 4}, {"|", 1}, {"^", 2}, {"&", 3},
                                              {"+", 5},  {"-", 5},  {"*", 6}, {"/", 6}, {"%", 6}};
    for (const Operator& op : kOperators) {
      bool is = true;
      for (size_t i = 0; i < op.text.size(); ++i) is = is && cursor_.peek(i) == op.text[i];
      // Not the beginning of a comment.
      if (is && !(op.text == "/" && cursor_.peek(1) == '/')) return &op;
    }
    return nullptr;
  }

  bool Apply(absl::string_view op, const Evaluated& right, size_t at, Evaluated& left) {
    uint64_t& a = left.value;
    const uint64_t b = right.value;
    left.defined = left.defined && right.defined;
    const bool was_signed = left.negative || right.negative;
    left.negative = false;
    switch (op[0]) {
      case '<':
        a = b < 64 ? a << b : 0;
        break;
      case '>':
        a = b < 64 ? a >> b : 0;
        break;
      case '|':
        a |= b;
        break;
      case '^':
        a ^= b;
        break;
      case '&':
        a &= b;
        break;
      case '+':
        a += b;
        left.negative = was_signed && static_cast<int64_t>(a) < 0;
        break;
      case '-':
        left.negative = was_signed ? static_cast<int64_t>(a - b) < 0 : a < b;
        a -= b;
        break;
      case '*':
        a *= b;
        left.negative = was_signed && static_cast<int64_t>(a) < 0;
        break;
      default:
        if (b == 0) {
          if (left.defined) return cursor_.Fail(at, "division by zero");
          a = 0;
          break;
        }
        a = op[0] == '/' ? a / b : a % b;
    }
    return true;
  }

  bool Unary(Evaluated& result) {
    if (++depth_ > kDeepestExpression) return cursor_.Fail("the expression is nested too deeply");
    const bool good = Primary(result);
    --depth_;
    return good;
  }

  bool Primary(Evaluated& result) {
    const char c = cursor_.peek();
    const size_t at = cursor_.offset();
    if (c == '-' || c == '~') {
      cursor_.Advance();
      cursor_.SkipBlanks();
      if (!Unary(result)) return false;
      result.value = c == '-' ? 0 - result.value : ~result.value;
      result.negative = c == '-' && !result.negative && result.value != 0;
      return true;
    }
    if (c == '(') {
      cursor_.Advance();
      cursor_.SkipBlanks();
      return Binary(0, result) && Close();
    }
    if (c == '$') {
      cursor_.Advance();
      result = {.value = here_};
      return true;
    }
    // A digit separator.
    const absl::string_view word = cursor_.Word("'.");
    if (word.empty()) return cursor_.Fail("a number, a label or ( is expected here");
    std::optional<uint64_t> number;
    if (ParseInteger(word, number)) {
      if (!number) return cursor_.Fail(at, "the number has more than 64 bits");
      result = {.value = *number};
      return true;
    }
    if ((word == "lo" || word == "hi") && cursor_.peek() == '(') {
      const bool low = word == "lo";
      cursor_.Advance();
      cursor_.SkipBlanks();
      if (!Binary(0, result) || !Close()) return false;
      result.value = low ? result.value & 0xffffffffu : result.value >> 32;
      result.negative = false;
      return true;
    }
    if (absl::ascii_isdigit(static_cast<unsigned char>(word[0])) ||
        word.find_first_of("'.") != absl::string_view::npos) {
      return cursor_.Fail(at, absl::StrCat("\"", word, "\" is not a number"));
    }
    result = {};
    result.value = symbols_(word, at, result.defined);
    return true;
  }

  bool Close() {
    cursor_.SkipBlanks();
    if (cursor_.peek() != ')') return cursor_.Fail(") is expected here");
    cursor_.Advance();
    return true;
  }

  TextCursor& cursor_;
  const FindSymbol& symbols_;
  const uint64_t here_;
  int depth_ = 0;
};

}  // namespace

bool IsWordChar(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

void TextCursor::SkipBlanks() {
  while (!at_end()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '#' || (c == '/' && peek(1) == '/')) {
      return SkipToEndOfLine();
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      at_ += peek(1) == '\n' ? 2 : 3;
    } else {
      return;
    }
  }
}

void TextCursor::SkipLines() {
  SkipBlanks();
  while (!at_end() && text_[at_] == '\n') {
    ++at_;
    SkipBlanks();
  }
}

void TextCursor::SkipToEndOfLine() {
  const size_t end = text_.find('\n', at_);
  at_ = end == absl::string_view::npos ? text_.size() : end;
}

absl::string_view TextCursor::Word(absl::string_view more) {
  const size_t begin = at_;
  while (!at_end() &&
         (IsWordChar(text_[at_]) || more.find(text_[at_]) != absl::string_view::npos)) {
    ++at_;
  }
  return text_.substr(begin, at_ - begin);
}

bool TextCursor::Quoted(absl::string_view& text) {
  const size_t begin = at_ + 1;
  bool escapes = false;
  size_t end = begin;
  for (; end < text_.size() && text_[end] != '"' && text_[end] != '\n'; ++end) {
    if (text_[end] != '\\') continue;
    escapes = true;
    ++end;
  }
  if (end >= text_.size() || text_[end] != '"') return Fail("the text does not end in this line");
  text = text_.substr(begin, end - begin);
  at_ = end + 1;
  if (!escapes) return true;
  std::string& plain = strings_.emplace_back();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      plain += text[i];
      continue;
    }
    const char c = text[++i];
    if (c == '"' || c == '\\') {
      plain += c;
    } else if (c == 'n') {
      plain += '\n';
    } else if (c == 't') {
      plain += '\t';
    } else if (c == 'x' && i + 2 < text.size() && DigitOf(text[i + 1]) < 16 &&
               DigitOf(text[i + 2]) < 16) {
      plain += static_cast<char>(DigitOf(text[i + 1]) << 4 | DigitOf(text[i + 2]));
      i += 2;
    } else {
      return Fail(begin + i - 1, "not an escape: \\\", \\\\, \\n, \\t and \\xNN are");
    }
  }
  text = plain;
  return true;
}

bool ParseInteger(absl::string_view word, std::optional<uint64_t>& value) {
  value.reset();
  if (word.empty() || !absl::ascii_isdigit(static_cast<unsigned char>(word[0]))) return false;
  int base = 10;
  if (word.size() > 2 && word[0] == '0') {
    if (word[1] == 'x' || word[1] == 'X') base = 16;
    if (word[1] == 'b' || word[1] == 'B') base = 2;
    if (base != 10) word.remove_prefix(2);
  }
  uint64_t number = 0;
  bool fits = true, any = false;
  for (const char c : word) {
    if (c == '\'' || c == '_') continue;
    const int digit = DigitOf(c);
    if (digit >= base) return false;
    any = true;
    const auto wide = static_cast<unsigned __int128>(number) * static_cast<unsigned>(base) +
                      static_cast<unsigned>(digit);
    fits = fits && wide >> 64 == 0;
    number = static_cast<uint64_t>(wide);
  }
  if (fits && any) value = number;
  return any;
}

bool ReadExpression(TextCursor& cursor, const FindSymbol& symbols, uint64_t here,
                    Evaluated& result) {
  return ExpressionReader(cursor, symbols, here).Binary(0, result);
}

}  // namespace packsmith::encode
