// A page of Markdown for bug trackers, which limit its size: the most important part comes
// first, what does not fit is left out, and the page's end says what that is.
//
//   MarkdownPage page(60'000);
//   page.Heading("GPU hang");
//   page.Block("Report", report, {.open = true});
//   Write(page.Finish());
#ifndef PACKSMITH_RUNTIME_BASE_MARKDOWN_H_
#define PACKSMITH_RUNTIME_BASE_MARKDOWN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace packsmith {

// Text from elsewhere in a line of Markdown: nothing in it has a meaning, names of users and
// numbers of issues included. One line; longer text is cut.
std::string MarkdownCode(absl::string_view text);

class MarkdownPage {
 public:
  // The page has at most `most_bytes`, at least 4096, whatever is added.
  explicit MarkdownPage(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Markdown of the program's own, in which text from elsewhere is MarkdownCode(); left out if it
  // does not fit.
  void Heading(absl::string_view markdown);
  void Paragraph(absl::string_view markdown);

  struct BlockOptions {
    bool open = false;               // shown without a click
    size_t most_bytes = ~size_t{0};  // of the text
    absl::string_view rest = {};     // what shows the lines that are left out: "unpack --draw=3"
  };
  // Lines of text, as they are, under `title`, plain text of the program's own.
  void Block(absl::string_view title, absl::string_view text, const BlockOptions& options);

  // Says that something was not even tried.
  void LeaveOut(absl::string_view markdown);

  // The page, with the list of what was left out.
  std::string Finish();

 private:
  // For the list at the end.
  static constexpr size_t kReserve = 2048;

  bool Fits(size_t bytes) const { return page_.size() + bytes + kReserve <= most_bytes_; }
  void Add(absl::string_view markdown, absl::string_view kind);

  const size_t most_bytes_;
  std::string page_;
  std::vector<std::string> left_out_;
};

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_MARKDOWN_H_
