#include "runtime/base/program/help_text.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace packsmith::tools {
namespace {

using Lines = std::vector<absl::string_view>;

size_t Indent(absl::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

// Adds a line to a text of one line.
void Join(std::string& text, absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  if (line.empty()) return;
  absl::StrAppend(&text, text.empty() ? "" : " ", line);
}

HelpEntry Split(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  const size_t gap = line.find("  ");
  if (gap == absl::string_view::npos) return {std::string(line), ""};
  return {std::string(line.substr(0, gap)),
          std::string(absl::StripLeadingAsciiWhitespace(line.substr(gap)))};
}

bool IsUsage(absl::string_view name, absl::string_view line) {
  return absl::ConsumePrefix(&line, name) && absl::StartsWith(line, " ") &&
         (absl::StrContains(line, "[") || absl::StrContains(line, " --"));
}

std::vector<Lines> Blocks(absl::string_view text) {
  std::vector<Lines> blocks(1);
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StripAsciiWhitespace(line).empty()) {
      blocks.back().push_back(line);
    } else if (!blocks.back().empty()) {
      blocks.emplace_back();
    }
  }
  if (blocks.back().empty()) blocks.pop_back();
  return blocks;
}

std::string Summary(absl::string_view name, absl::string_view paragraph) {
  absl::ConsumePrefix(&paragraph, absl::StrCat(name, " "));
  const size_t end = std::min(paragraph.find(". "), paragraph.find(": "));
  std::string summary(absl::StripSuffix(paragraph.substr(0, end), "."));
  // An acronym stays as it is.
  if (summary.size() > 1 && !absl::ascii_isupper(static_cast<unsigned char>(summary[1]))) {
    summary[0] = absl::ascii_tolower(static_cast<unsigned char>(summary[0]));
  }
  return summary;
}

class Parser {
 public:
  explicit Parser(absl::string_view name) : name_(name) {}

  void Add(const Lines& block) {
    constexpr absl::string_view kExitCode = "Exit code";
    paragraph_.clear();
    entry_ = nullptr;
    // A section that began without a heading ends with its block; others do, too.
    entries_ = nullptr;
    for (size_t i = 0; i < block.size(); ++i) {
      const bool is_heading = Indent(block[i]) == 0 && absl::EndsWith(block[i], ":") &&
                              i + 1 < block.size() && Indent(block[i + 1]) == 2;
      AddLine(block[i], is_heading);
    }
    if (paragraph_.empty()) return;
    if (absl::StartsWith(paragraph_, kExitCode)) {
      const size_t colon = paragraph_.find(':');
      text_.exit_code =
          std::string(absl::StripLeadingAsciiWhitespace(paragraph_.substr(colon + 1)));
    } else {
      if (text_.summary.empty()) text_.summary = Summary(name_, paragraph_);
      text_.paragraphs.push_back(paragraph_);
    }
  }

  HelpText Take() { return std::move(text_); }

 private:
  void AddLine(absl::string_view line, bool is_heading) {
    if (is_heading) {
      const absl::string_view title = absl::StripSuffix(line, ":");
      if (title == "Examples") {
        entries_ = &text_.examples;
      } else {
        text_.sections.push_back({std::string(title), {}});
        entries_ = &text_.sections.back().entries;
      }
      entry_ = nullptr;
    } else if (Indent(line) == 2) {
      if (entries_ == nullptr) {
        text_.sections.push_back({});
        entries_ = &text_.sections.back().entries;
      }
      entry_ = &entries_->emplace_back(Split(line));
    } else if (Indent(line) == 0 && IsUsage(name_, line)) {
      entry_ = &text_.usage.emplace_back(Split(line));
    } else if (Indent(line) != 0 && entry_ != nullptr) {
      Join(entry_->right, line);
    } else {
      entry_ = nullptr;
      Join(paragraph_, line);
    }
  }

  const absl::string_view name_;
  HelpText text_;
  // Of the present block.
  std::string paragraph_;
  std::vector<HelpEntry>* entries_ = nullptr;
  HelpEntry* entry_ = nullptr;  // the one that goes on
};

}  // namespace

HelpText ParseHelp(absl::string_view name, absl::string_view text) {
  Parser parser(name);
  for (const Lines& block : Blocks(text)) parser.Add(block);
  return parser.Take();
}

}  // namespace packsmith::tools
