// The documentation's examples are good descriptions, and its tables are complete.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gen/model/load.h"
#include "gen/model/write/ir.h"
#include "gen/model/write/tables.h"
#include "tests/model/marked_text.h"

namespace packsmith::model {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string ReadText(const std::string& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << "cannot open " << path;
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

struct Fenced {
  std::string info;
  std::string text;
};

std::vector<Fenced> FencedBlocks(const std::string& page) {
  std::vector<Fenced> blocks;
  bool inside = false;
  for (const absl::string_view line : absl::StrSplit(page, '\n')) {
    if (absl::StartsWith(line, "```")) {
      inside = !inside;
      if (inside) blocks.push_back({std::string(line.substr(3)), ""});
    } else if (inside) {
      absl::StrAppend(&blocks.back().text, line, "\n");
    }
  }
  EXPECT_FALSE(inside) << "a block is never closed";
  return blocks;
}

class XmlPage : public testing::Test {
 protected:
  // The page's examples as two files: everything that belongs to the first generation, in order,
  // and the second one.
  void SetUp() override {
    int fields = 0;
    for (const Fenced& block : FencedBlocks(ReadText("docs/xml.md"))) {
      if (block.info == "xml rocket2") {
        files_["main.xml"] = block.text;
      } else if (block.info == "xml") {
        ++examples_;
        if (absl::StartsWith(block.text, "<packsmith")) {
          files_["rocket1.xml"] = block.text;
        } else if (absl::StartsWith(block.text, "<field") ||
                   absl::StartsWith(block.text, "<reserved")) {
          Add(absl::StrCat("<struct name=\"Fields ", ++fields, "\" dwords=\"4\">\n", block.text,
                           "</struct>\n"));
        } else {
          Add(block.text);
        }
      } else if (block.info.empty()) {
        printed_ = block.text;
      }
    }
  }

  void Add(const std::string& text) {
    std::string& file = files_["rocket1.xml"];
    const size_t end = file.find("</packsmith>");
    ASSERT_NE(end, std::string::npos);
    file.insert(end, text);
  }

  Files files_;
  int examples_ = 0;
  std::string printed_;
};

TEST_F(XmlPage, ExamplesAreOneGoodDescription) {
  EXPECT_GT(examples_, 15);
  const LoadResult result = LoadFiles({{"main.xml", files_["rocket1.xml"]}});
  EXPECT_THAT(FormatAll(result.diagnostics, result.sources), testing::Not(HasSubstr("error")));
  EXPECT_FALSE(WriteIr(result.model, result.sources).empty());
  EXPECT_FALSE(WriteTables(result.model).empty());
}

TEST_F(XmlPage, TheNextGenerationExtendsThem) {
  const LoadResult result = LoadFiles(files_);
  EXPECT_THAT(FormatAll(result.diagnostics, result.sources), testing::Not(HasSubstr("error")));
  EXPECT_EQ(result.model.generation, "rocket2");
  EXPECT_EQ(result.model.FindContainer("COPY"), -1);
  EXPECT_EQ(ContainerNamed(result, "CLEAR").bytes, 12u);
  EXPECT_EQ(ContainerNamed(result, "CLEAR_STENCIL").items.size(), 2u);
}

TEST_F(XmlPage, ThePrintedProblemIsWhatIsPrinted) {
  const std::vector<Fenced> blocks = FencedBlocks(ReadText("docs/xml.md"));
  const std::string before =
      "    <field name=\"Color\" dword=\"1\" bits=\"31:0\" type=\"uint\"/>\n";
  const auto first = std::find_if(blocks.begin(), blocks.end(), [&](const Fenced& block) {
    return absl::StrContains(block.text, before);
  });
  ASSERT_NE(first, blocks.end());
  std::string text = first->text;
  text.insert(text.find(before) + before.size(),
              "    <field name=\"Mask\" dword=\"1\" bits=\"7:0\" type=\"uint\"/>\n");
  const LoadResult result = Load("rocket1.xml", [&](const std::string&) { return text; });
  EXPECT_EQ(FormatAll(result.diagnostics, result.sources), printed_);
}

TEST_F(XmlPage, EachElementAndAttributeIsExplained) {
  // The schema knows them all.
  const std::string schema = ReadText("xml/packsmith.rng"), page = ReadText("docs/xml.md");
  std::set<std::string> names;
  for (const char* kind : {"<element name=\"", "<attribute name=\""}) {
    for (size_t at = schema.find(kind); at != std::string::npos; at = schema.find(kind, at + 1)) {
      const size_t begin = at + std::string(kind).size();
      names.insert(schema.substr(begin, schema.find('"', begin) - begin));
    }
  }
  EXPECT_GT(names.size(), 50u);
  const size_t reference = page.find("## Reference");
  ASSERT_NE(reference, std::string::npos);
  for (const std::string& name : names) {
    const std::string rest = page.substr(reference);
    EXPECT_TRUE(absl::StrContains(rest, absl::StrCat("`", name, "`")) ||
                absl::StrContains(rest, absl::StrCat("`<", name)) ||
                absl::StrContains(rest, absl::StrCat("`", name, "=")))
        << name << " is not in the reference";
  }
}

TEST(DiagnosticsPage, EachCodeHasALineAndNoOtherHas) {
  std::set<std::string> listed;
  for (const absl::string_view line : absl::StrSplit(ReadText("docs/diagnostics.md"), '\n')) {
    if (!absl::StartsWith(line, "| E") && !absl::StartsWith(line, "| W")) continue;
    const std::vector<std::string> cells = absl::StrSplit(line, " | ");
    ASSERT_EQ(cells.size(), 3u) << line;
    EXPECT_TRUE(listed.insert(cells[0].substr(2)).second) << line;
  }
  std::set<std::string> codes;
  for (int i = 1; i < static_cast<int>(Code::kEndOfErrors); ++i)
    codes.insert(CodeName(static_cast<Code>(i)));
  for (int i = 101; i < static_cast<int>(Code::kEndOfWarnings); ++i)
    codes.insert(CodeName(static_cast<Code>(i)));
  EXPECT_EQ(listed, codes);
}

}  // namespace
}  // namespace packsmith::model
