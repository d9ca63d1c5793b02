#include "runtime/base/markdown.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace packsmith {
namespace {

constexpr size_t kLongestCode = 800;

size_t LongestRun(absl::string_view text, char c) {
  size_t longest = 0, run = 0;
  for (const char one : text) {
    run = one == c ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

// The first bytes, at most `most`, without half a character at the end.
absl::string_view Beginning(absl::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most != 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

size_t Lines(absl::string_view text) {
  const auto lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  return lines + (text.empty() || text.back() == '\n' ? 0 : 1);
}

}  // namespace

std::string MarkdownCode(absl::string_view text) {
  const absl::string_view beginning = Beginning(text, kLongestCode);
  std::string line(beginning);
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::replace(line.begin(), line.end(), '\r', ' ');
  if (beginning.size() < text.size()) absl::StrAppend(&line, "…");
  const std::string ticks(LongestRun(line, '`') + 1, '`');
  // A space that touches the ticks is not shown; text of spaces alone is.
  return absl::StrCat(ticks, " ", line, " ", ticks);
}

void MarkdownPage::Add(absl::string_view markdown, absl::string_view kind) {
  if (Fits(markdown.size())) {
    absl::StrAppend(&page_, markdown);
  } else {
    LeaveOut(absl::StrCat("a ", kind));
  }
}

void MarkdownPage::Heading(absl::string_view markdown) {
  Add(absl::StrCat("### ", markdown, "\n\n"), "heading");
}

void MarkdownPage::Paragraph(absl::string_view markdown) {
  Add(absl::StrCat(markdown, "\n\n"), "paragraph");
}

void MarkdownPage::Block(absl::string_view title, absl::string_view text,
                         const BlockOptions& options) {
  if (text.empty()) return;
  // Longer than any fence in the text.
  const std::string fence(std::max<size_t>(3, LongestRun(text, '`') + 1), '`');
  const std::string head = absl::StrCat("<details", options.open ? " open" : "", "><summary>",
                                        title, "</summary>\n\n", fence, "text\n");
  const std::string tail = absl::StrCat(fence, "\n\n</details>\n\n");
  const size_t frame = head.size() + tail.size() + 1;
  size_t room = 0;
  if (Fits(frame)) room = most_bytes_ - kReserve - page_.size() - frame;
  absl::string_view shown = Beginning(text, std::min(room, options.most_bytes));
  if (shown.size() < text.size()) {
    // Whole lines, unless there is not even one.
    const size_t end = shown.rfind('\n');
    if (end != absl::string_view::npos) shown = shown.substr(0, end + 1);
    LeaveOut(absl::StrCat(
        title, ": ", Lines(text.substr(shown.size())), " of ", Lines(text), " lines",
        options.rest.empty() ? ""
                             : absl::StrCat("; they are shown by ", MarkdownCode(options.rest))));
  }
  if (shown.empty()) return;
  absl::StrAppend(&page_, head, shown, absl::EndsWith(shown, "\n") ? "" : "\n", tail);
}

void MarkdownPage::LeaveOut(absl::string_view markdown) { left_out_.emplace_back(markdown); }

std::string MarkdownPage::Finish() {
  if (!left_out_.empty()) {
    std::string list = "Left out:\n\n";
    for (size_t i = 0; i < left_out_.size(); ++i) {
      const std::string line = absl::StrCat("- ", left_out_[i], "\n");
      const std::string rest = absl::StrCat("- and ", left_out_.size() - i, " more\n");
      if (page_.size() + list.size() + line.size() + rest.size() > most_bytes_) {
        absl::StrAppend(&list, rest);
        break;
      }
      absl::StrAppend(&list, line);
    }
    absl::StrAppend(&page_, list);
  }
  return page_;
}

}  // namespace packsmith
