#include "runtime/dump/kernel_log.h"

#include <cstddef>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "runtime/dump/text_lines.h"

namespace packsmith {
namespace {

bool TakeDigits(absl::string_view& text) {
  size_t digits = 0;
  while (digits < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[digits]))) {
    ++digits;
  }
  text.remove_prefix(digits);
  return digits != 0;
}

// `[  123.456789] `
bool TakeTime(absl::string_view& text) {
  absl::string_view rest = text;
  if (!absl::ConsumePrefix(&rest, "[")) return false;
  rest = absl::StripLeadingAsciiWhitespace(rest);
  if (!TakeDigits(rest) || !absl::ConsumePrefix(&rest, ".") || !TakeDigits(rest)) return false;
  if (!absl::ConsumePrefix(&rest, "]")) return false;
  absl::ConsumePrefix(&rest, " ");
  text = rest;
  return true;
}

// `[ T1234] `: the thread.
void SkipThread(absl::string_view& text) {
  absl::string_view rest = text;
  if (!absl::ConsumePrefix(&rest, "[")) return;
  rest = absl::StripLeadingAsciiWhitespace(rest);
  if (!absl::ConsumePrefix(&rest, "T") && !absl::ConsumePrefix(&rest, "C")) return;
  if (!TakeDigits(rest) || !absl::ConsumePrefix(&rest, "]")) return;
  absl::ConsumePrefix(&rest, " ");
  text = rest;
}

// `i915 0000:00:02.0: `
void SkipDriver(absl::string_view& text) {
  absl::string_view rest = text;
  if (!absl::ConsumePrefix(&rest, "i915 ") && !absl::ConsumePrefix(&rest, "xe ")) return;
  for (const absl::string_view end : {":", ":", ".", ": "}) {
    while (!rest.empty() && absl::ascii_isxdigit(static_cast<unsigned char>(rest[0]))) {
      rest.remove_prefix(1);
    }
    if (!absl::ConsumePrefix(&rest, end)) return;
  }
  text = rest;
}

// `Tile0: `
void SkipNumbered(absl::string_view& text, absl::string_view name) {
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, name) && TakeDigits(rest) && absl::ConsumePrefix(&rest, ": ")) {
    text = rest;
  }
}

// `Capture,42: `, `Capture 1.42: `
void SkipCapture(absl::string_view& text) {
  absl::string_view rest = text;
  if (!absl::ConsumePrefix(&rest, "Capture") || rest.empty()) return;
  rest.remove_prefix(1);
  if (!TakeDigits(rest)) return;
  if (absl::ConsumePrefix(&rest, ".") && !TakeDigits(rest)) return;
  if (!absl::ConsumePrefix(&rest, ":")) return;
  absl::ConsumePrefix(&rest, " ");
  text = rest;
}

// A line without its prefix; nothing if it has none.
std::optional<absl::string_view> Inner(absl::string_view line) {
  absl::string_view text = line;
  // `<6>`
  absl::string_view level = text;
  if (absl::ConsumePrefix(&level, "<") && TakeDigits(level) && absl::ConsumePrefix(&level, ">")) {
    text = level;
  }
  // A date and a host come before it.
  bool has_prefix = false;
  constexpr absl::string_view kKernel = " kernel: ";
  const size_t kernel = text.substr(0, 128).find(kKernel);
  if (kernel != absl::string_view::npos) {
    text.remove_prefix(kernel + kKernel.size());
    has_prefix = true;
  }
  has_prefix = TakeTime(text) || has_prefix;
  if (!has_prefix) return std::nullopt;
  SkipThread(text);
  SkipDriver(text);
  absl::ConsumePrefix(&text, "[drm] ");
  SkipNumbered(text, "Tile");
  SkipNumbered(text, "GT");
  SkipCapture(text);
  return text;
}

// `[Capture/1.7] >line<`; `}line{` is a piece that is not the last one. Whether a line ends here.
bool TakePiece(absl::string_view& text) {
  absl::string_view rest = text;
  if (!absl::ConsumePrefix(&rest, "[Capture/") || !TakeDigits(rest) ||
      !absl::ConsumePrefix(&rest, ".") || !TakeDigits(rest) || !absl::ConsumePrefix(&rest, "] ") ||
      rest.size() < 2) {
    return true;
  }
  const bool whole = rest.front() == '>' && rest.back() == '<';
  const bool part = rest.front() == '}' && rest.back() == '{';
  if (!whole && !part) return true;
  text = rest.substr(1, rest.size() - 2);
  return whole;
}

}  // namespace

bool LooksLikeKernelLog(absl::string_view text) {
  constexpr int kLooked = 50;
  TextLines lines(text.substr(0, 1 << 16));
  int all = 0, prefixed = 0;
  while (all < kLooked) {
    const std::optional<TextLine> line = lines.Next();
    if (!line) break;
    if (Trimmed(line->text).empty()) continue;
    ++all;
    if (Inner(line->text)) ++prefixed;
  }
  return prefixed != 0 && prefixed * 4 >= all * 3;
}

std::string WithoutLogPrefixes(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  TextLines lines(text);
  while (const std::optional<TextLine> line = lines.Next()) {
    absl::string_view inner = Inner(line->text).value_or(line->text);
    const bool ends = TakePiece(inner);
    out.append(inner.data(), inner.size());
    if (ends) out.push_back('\n');
  }
  return out;
}

}  // namespace packsmith
