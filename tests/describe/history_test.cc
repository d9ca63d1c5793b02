// What changed from one generation to the next.
#include "runtime/describe/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/describe/find.h"
#include "runtime/describe/jsonl.h"
#include "tests/describe/rockets.h"

namespace packsmith::describe {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// "what|field|from|to" of the step to the second version.
std::vector<std::string> Steps(const References& references, absl::string_view kind,
                               absl::string_view name) {
  const History history = HistoryOf(references, "acme", kind, name);
  EXPECT_EQ(history.versions.size(), 2u);
  std::vector<std::string> steps;
  for (const Change& c : history.versions.back().changes) {
    steps.push_back(absl::StrCat(c.what, "|", c.field, "|", c.from, "|", c.to));
  }
  return steps;
}

TEST(History, EachChangeIsSaidOnceWithWhatWasAndWhatIs) {
  EXPECT_THAT(
      Steps(References({kRocket1, kRocket2}), "packet", "CLEAR"),
      UnorderedElementsAre(
          "bytes||12|16", "opcode||0x10000000|0x11000000", "forced|Opcode|0x10|0x11",
          "renamed|Level|Red Level|Level", "moved|Green|dword 1, bits 15:8|dword 2, bits 15:8",
          "value removed|Mode|1 Slow|", "value added|Mode||2 Faster", "default|Limit||3",
          "max|Limit|9|10", "removed|(no name)|dword 1, bit 31, reserved|",
          "removed|Colors|dword 2, bits 31:6, offset|", "added|Depth||dword 3, bits 31:0, float"));
}

TEST(History, ValuesThatAreAddedRenamedOrRenumbered) {
  EXPECT_THAT(Steps(References({kRocket1, kRocket2}), "enum", "Compare"),
              UnorderedElementsAre("value renamed||1 Less|1 Smaller", "value added|||2 Equal",
                                   "value changed||7 Always|3 Always"));
}

// `from` and `to` in a structure of two dwords, as Steps() has them.
std::vector<std::string> Between(const std::string& from, const std::string& to) {
  const auto with = [](const char* generation, const std::string& body) {
    return absl::StrCat("<packsmith family=\"acme\" generation=\"", generation,
                        "\"><stream name=\"s\"/><data name=\"bytes\"/><data name=\"words\"/>"
                        "<struct name=\"A\" dwords=\"2\">",
                        body, "</struct></packsmith>");
  };
  return Steps(References({with("one", from), with("two", to)}), "struct", "A");
}

TEST(History, AnotherNameInTheSamePlaceIsTheSameThingOnlyIfTheNamesAreAlike) {
  EXPECT_THAT(Between(R"(<field name="Cache Enable" dword="0" bits="3:0" type="uint"/>)",
                      R"(<field name="L3 Cache" dword="0" bits="3:0" type="uint"/>)"),
              ElementsAre("renamed|L3 Cache|Cache Enable|L3 Cache"));
  EXPECT_THAT(Between(R"(<field name="Cache" dword="0" bits="3:0" type="uint"/>)",
                      R"(<field name="Tiling" dword="0" bits="3:0" type="uint"/>)"),
              ElementsAre("removed|Cache|dword 0, bits 3:0, uint|",
                          "added|Tiling||dword 0, bits 3:0, uint"));
}

TEST(History, ReservedBitsThatGetAMeaningAreOneChange) {
  EXPECT_THAT(Between(R"(<reserved name="MOCS" dword="0" bits="3:0"/>)",
                      R"(<field name="MOCS" dword="0" bits="3:0" type="uint" nonzero="true"/>)"),
              ElementsAre("type|MOCS|reserved, must be zero|uint"));
}

TEST(History, PointersAndFlagsAreToldInWords) {
  EXPECT_THAT(Between(R"(<field name="P" dword="0" bits="63:6" type="address">
                   <points to="bytes" access="read"/></field>)",
                      R"(<field name="P" dword="0" bits="63:6" type="address" nonzero="true">
                   <points to="words" access="read"/></field>)"),
              UnorderedElementsAre(
                  "points|P|to bytes, kind data, access read|to words, kind data, access read",
                  "nonzero|P|no|yes"));
}

TEST(History, WhatIsInheritedUnchangedIsOneVersion) {
  const References references({kRocket1, kRocket2});
  const History history = HistoryOf(references, "acme", "struct", "Border");
  ASSERT_EQ(history.versions.size(), 1u);
  EXPECT_THAT(history.versions[0].generations, ElementsAre("rocket1", "rocket2"));
  EXPECT_THAT(history.versions[0].changes, IsEmpty());
}

TEST(History, OtherSentencesAreNoChangeAndTheNewestCount) {
  const std::string body = R"(<stream name="s"/><struct name="A" dwords="1"><doc>@</doc>
      <field name="F" dword="0" bits="3:0" type="uint"><doc>@</doc></field></struct></packsmith>)";
  const auto with = [&](const char* head, const char* doc) {
    std::string text = absl::StrCat(head, body);
    for (size_t at; (at = text.find('@')) != std::string::npos;) text.replace(at, 1, doc);
    return text;
  };
  const References references({with(R"(<packsmith family="f" generation="a">)", "Old."),
                               with(R"(<packsmith family="f" generation="b">)", "New.")});
  const History history = HistoryOf(references, "f", "struct", "A");
  ASSERT_EQ(history.versions.size(), 1u);
  EXPECT_EQ(Text(history.versions[0].record, "doc"), "New.");
}

TEST(History, WhatOnlyOneGenerationHas) {
  const References references({kRocket1, kRocket2});
  EXPECT_THAT(HistoryOf(references, "acme", "packet", "COPY").versions[0].generations,
              ElementsAre("rocket1"));
  EXPECT_THAT(HistoryOf(references, "acme", "struct", "Only Here").versions[0].generations,
              ElementsAre("rocket2"));
}

TEST(History, FamiliesHaveHistoriesOfTheirOwn) {
  const std::string body = R"(<stream name="s"/><struct name="Border" dwords="1">
      <field name="F" dword="0" bits="3:0" type="uint"/></struct></packsmith>)";
  const References references({kRocket1, R"(<packsmith family="f" generation="other">)" + body});
  EXPECT_THAT(HistoryOf(references, "acme", "struct", "Border").versions[0].generations,
              ElementsAre("rocket1"));
  EXPECT_THAT(HistoryOf(references, "f", "struct", "Border").versions[0].generations,
              ElementsAre("other"));
  const auto found = Find(references, "border");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->size(), 2u);
}

TEST(History, MembersOfGroupsArePathsWithBrackets) {
  const References references({kRocket1});
  const rapidjson::Document record = Parse(references.all()[0].Find("struct", "Border")->line);
  std::vector<std::string> paths;
  for (const Member& member : MembersOf(record)) paths.push_back(member.path);
  EXPECT_THAT(paths, ElementsAre("Compare", "Edge[]", "Edge[].Width", "", "Channel[]"));
}

TEST(History, JsonLinesHaveOneLineForEachVersionOldestFirst) {
  const References references({kRocket1, kRocket2});
  const History history = HistoryOf(references, "acme", "enum", "Compare");
  const std::string lines = DescriptionJsonl(history);
  const size_t end = lines.find('\n');
  EXPECT_THAT(lines.substr(0, end),
              HasSubstr(R"({"type":"description","generations":["rocket1"],"name":"Compare")"));
  EXPECT_THAT(lines.substr(end + 1),
              HasSubstr(R"("generations":["rocket2"],"changes":[{"what":"value renamed",)"
                        R"("from":"1 Less","to":"1 Smaller"},)"));
  EXPECT_EQ(DescriptionJsonl(history, "rocket2"), lines.substr(end + 1));
  EXPECT_EQ(DescriptionJsonl(history, "rocket3"), "");
}

TEST(Reference, DamagedTextIsAnErrorAndNoCrash) {
  const References good({kRocket1});
  const tables::Tables& tables = good.all()[0].tables();
  const auto* block = tables.reference().data();
  // Only the packed text is damaged, and then restored.
  auto* bytes = const_cast<uint8_t*>(block);
  size_t failed = 0;
  for (size_t i = 0; i < tables.reference().size(); ++i) {
    bytes[i] ^= 0x55;
    const absl::StatusOr<Reference> reference = Reference::Open(tables);
    if (!reference.ok()) {
      ++failed;
      EXPECT_THAT(std::string(reference.status().message()), HasSubstr("rocket1"));
    } else {
      for (const Entry& entry : reference->entries()) (void)Parse(entry.line);
    }
    bytes[i] ^= 0x55;
  }
  EXPECT_GT(failed, 0u);
}

}  // namespace
}  // namespace packsmith::describe
