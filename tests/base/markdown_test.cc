#include "runtime/base/markdown.h"

#include <string>

#include "gtest/gtest.h"

namespace packsmith {
namespace {

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string Numbered(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

TEST(MarkdownCode, CannotBeEndedByItsText) {
  EXPECT_EQ(MarkdownCode("a"), "` a `");
  EXPECT_EQ(MarkdownCode("a``b`"), "``` a``b` ```");
  EXPECT_EQ(MarkdownCode("a\nb"), "` a b `");
}

TEST(MarkdownPage, HasFencesThatTheTextDoesNotHave) {
  MarkdownPage page(10'000);
  page.Block("Text", "x\n```\n</details> @someone #1\n`````\n", {});
  const std::string text = page.Finish();
  EXPECT_TRUE(
      Has(text, "\n``````text\nx\n```\n</details> @someone #1\n`````\n``````\n\n</details>"))
      << text;
}

TEST(MarkdownPage, EndsTheLastLineOfABlock) {
  MarkdownPage page(10'000);
  page.Block("Text", "x", {.open = true});
  EXPECT_TRUE(Has(page.Finish(), "<details open><summary>Text</summary>\n\n```text\nx\n```\n"));
}

TEST(MarkdownPage, IsNeverLongerAndSaysWhatIsMissing) {
  const std::string lines = Numbered(2000);
  for (const size_t most : {4096u, 5000u, 20'000u}) {
    MarkdownPage page(most);
    page.Heading("Title");
    for (int i = 0; i < 100; ++i) page.Block("Block", lines, {.rest = "unpack --hang"});
    const std::string text = page.Finish();
    EXPECT_LE(text.size(), most);
    EXPECT_TRUE(Has(text, "of 2000 lines; they are shown by ` unpack --hang `")) << most;
    EXPECT_TRUE(Has(text, " more\n"));
  }
}

TEST(MarkdownPage, CutsBetweenLinesAndCountsThem) {
  MarkdownPage page(10'000);
  page.Block("Block", "one\ntwo\nthree\n", {.most_bytes = 9});
  const std::string text = page.Finish();
  EXPECT_TRUE(Has(text, "one\ntwo\n```")) << text;
  EXPECT_TRUE(Has(text, "- Block: 1 of 3 lines\n")) << text;
}

TEST(MarkdownPage, DoesNotCutCharacters) {
  MarkdownPage page(10'000);
  page.Block("Block", "äöü", {.most_bytes = 3});
  EXPECT_TRUE(Has(page.Finish(), "text\nä\n```"));
}

}  // namespace
}  // namespace packsmith
