// golden_test GENERATION.xml GENERATION.jsonl.zst: whether the file of vectors matches the XML.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/vectors/description.h"
#include "tests/vectors/reader.h"
#include "tests/vectors/vectors.h"

namespace packsmith::vectors {
namespace {

std::string g_xml, g_file;

TEST(Golden, TheFileIsWhatTheXmlComesTo) {
  const auto description = Description::Load(g_xml);
  ASSERT_TRUE(description.ok()) << description.status();
  const auto text = ReadText(g_file);
  ASSERT_TRUE(text.ok()) << text.status();
  const std::string made = Jsonl(**description);
  if (made == *text) return;
  const std::vector<absl::string_view> want = absl::StrSplit(made, '\n');
  const std::vector<absl::string_view> have = absl::StrSplit(*text, '\n');
  size_t at = 0;
  while (at < want.size() && at < have.size() && want[at] == have[at]) ++at;
  const auto line = [&](const auto& lines) {
    return at < lines.size() ? lines[at] : absl::string_view("(end)");
  };
  ADD_FAILURE() << g_file << " is not up to date from line " << at + 1 << " on:\n  " << line(have)
                << "\nbut the XML says\n  " << line(want)
                << "\nIf that is intended: ./bazelw run //tests/vectors:refresh";
}

}  // namespace
}  // namespace packsmith::vectors

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3) {
    std::fprintf(stderr, "usage: golden_test GENERATION.xml GENERATION.jsonl.zst\n");
    return 2;
  }
  packsmith::vectors::g_xml = argv[1];
  packsmith::vectors::g_file = argv[2];
  return RUN_ALL_TESTS();
}
