// One generation extends another: what it keeps, replaces, changes and removes; and files that are
// parts of one description.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gen/model/load.h"
#include "gen/model/write/ir.h"
#include "tests/model/marked_text.h"

namespace packsmith::model {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kOld[] =
    R"(<packsmith family="f" generation="old" title="Old" aliases="1" unit="byte">
<engine name="a"/><stream name="s"/><base name="b"/><data name="d"/><space name="p" number="0"/>
<enum name="E"><value name="X" value="0"/><value name="Y" value="1"/></enum>
<struct name="S" dwords="2">
  <doc>The old one.</doc>
  <field name="first" dword="0" bits="7:0" type="E"/>
  <field name="second" dword="0" bits="15:8" type="uint" default="1"/>
  <group name="g" count="2" dword="1" size="16"><field name="x" dword="0" bits="7:0" type="uint"/><field name="y" dword="0" bits="15:8" type="uint"/></group>
</struct>
<packet name="P" dwords="2" engines="a" alias="PP">
  <doc>A packet.</doc>
  <field name="Op" dword="0" bits="31:24" type="uint" forced="1"/>
  <field name="Flag" dword="0" bits="0" type="bool"/>
  <field name="To" dword="1" bits="31:2" type="address"/>
  <flow kind="call" when="Flag" to="To"/><flow kind="jump" to="To"/>
</packet>
<register name="R" dwords="1" offset="0x100"><field name="v" dword="0" bits="31:0" type="uint"/></register>
</packsmith>)";

LoadResult Extended(const std::string& body, const std::string& attributes = "") {
  return LoadFiles({{"main.xml", absl::StrCat("<packsmith generation=\"now\" extends=\"old.xml\" ",
                                              attributes, ">\n", body, "\n</packsmith>")},
                    {"old.xml", kOld}});
}

std::vector<std::string> NamesOf(const std::vector<Item>& items) {
  std::vector<std::string> names;
  for (const Item& item : items) names.push_back(item.base().name);
  return names;
}

TEST(Inheritance, AnHeirHasEverything) {
  const LoadResult result = Extended("");
  EXPECT_THAT(Summary(result), IsEmpty());
  EXPECT_EQ(result.model.family, "f");
  EXPECT_EQ(result.model.generation, "now");
  EXPECT_EQ(result.model.title, "");
  EXPECT_TRUE(result.model.byte_unit);
  EXPECT_EQ(result.model.containers.size(), 3u);
  EXPECT_EQ(result.model.engines.size(), 1u);
  EXPECT_EQ(result.model.enums.size(), 1u);
  EXPECT_THAT(result.model.inputs, ElementsAre("main.xml", "old.xml"));
}

TEST(Inheritance, PathsMayBeginAtTheRoot) {
  const LoadResult result =
      LoadFiles({{"main.xml", "<packsmith generation=\"now\" extends=\"/there/old.xml\"/>"},
                 {"/there/old.xml", kOld}});
  EXPECT_THAT(Summary(result), IsEmpty());
  EXPECT_THAT(result.model.inputs, ElementsAre("main.xml", "/there/old.xml"));
}

TEST(Inheritance, APacketWithErrorsIsNotCalledAmbiguous) {
  // Its opcode cannot be read, so it may be another one.
  const LoadResult result = Extended(
      "<packet name=\"Q\" dwords=\"1\"><doc>.</doc><field name=\"Op\" dword=\"0\" bits=\"31-24\" "
      "type=\"uint\" forced=\"1\"/></packet>");
  EXPECT_EQ(result.diagnostics.errors(), 1u);
}

TEST(Inheritance, ReplacedContainersKeepNothing) {
  const LoadResult result = Extended(
      "<struct name=\"S\" dwords=\"1\"><field name=\"only\" dword=\"0\" bits=\"3:0\" "
      "type=\"E\"/></struct>");
  EXPECT_THAT(Summary(result), IsEmpty());
  const Container& s = ContainerNamed(result, "S");
  EXPECT_THAT(NamesOf(s.items), ElementsAre("only"));
  EXPECT_EQ(s.doc, "");
  EXPECT_EQ(s.bytes, 4u);
  EXPECT_EQ(&s, &result.model.containers[0]);
}

TEST(Inheritance, EnumerationsAndDeclarationsAreReplacedWhole) {
  const LoadResult result = Extended(
      "<enum name=\"E\"><value name=\"Z\" value=\"5\"/></enum><space name=\"p\" number=\"3\"/>");
  EXPECT_THAT(Summary(result), IsEmpty());
  ASSERT_EQ(result.model.enums.size(), 1u);
  EXPECT_EQ(result.model.enums[0].values.size(), 1u);
  EXPECT_EQ(result.model.spaces[0].number, 3u);
}

TEST(Inheritance, AmendKeepsWhatItDoesNotMention) {
  const LoadResult result = Extended(
      R"(<struct name="S" amend="true"><field name="second" dword="0" bits="11:8" type="uint"/></struct>)");
  EXPECT_THAT(Summary(result), IsEmpty());
  const Container& s = ContainerNamed(result, "S");
  EXPECT_THAT(NamesOf(s.items), ElementsAre("first", "second", "g"));
  EXPECT_EQ(s.doc, "The old one.");
  EXPECT_EQ(s.bytes, 8u);
  EXPECT_EQ(FieldNamed(s.items, "second").width, 4u);
  EXPECT_FALSE(FieldNamed(s.items, "second").default_value.has_value());
}

TEST(Inheritance, NewFieldsGoWhereTheirBitsBelong) {
  const LoadResult result = Extended(
      R"(<struct name="S" amend="true"><field name="third" dword="0" bits="31:16" type="uint"/></struct>)");
  EXPECT_THAT(NamesOf(ContainerNamed(result, "S").items),
              ElementsAre("first", "second", "third", "g"));
}

TEST(Inheritance, AmendMayChangeSizeAndRemoveFields) {
  const LoadResult result = Extended(
      R"(<struct name="S" dwords="3" amend="true"><remove field="second"/><remove field="y"/>
      <field name="last" dword="2" bits="31:0" type="float"/></struct>)");
  EXPECT_THAT(Summary(result), IsEmpty());
  const Container& s = ContainerNamed(result, "S");
  EXPECT_THAT(NamesOf(s.items), ElementsAre("first", "g", "last"));
  EXPECT_THAT(NamesOf(GroupNamed(s.items, "g").items), ElementsAre("x"));
  EXPECT_EQ(s.bytes, 12u);
}

TEST(Inheritance, AnotherSizeIsAnotherSizeInC) {
  const auto size_in_c = [](const std::string& attributes) {
    const LoadResult result = LoadFiles(
        {{"main.xml",
          absl::StrCat("<packsmith generation=\"now\" extends=\"old.xml\"><struct name=\"S\" "
                       "amend=\"true\" ",
                       attributes, "/></packsmith>")},
         {"old.xml",
          "<packsmith family=\"f\" generation=\"old\"><struct name=\"S\" dwords=\"2\" "
          "c-dwords=\"1\"><doc>S</doc><field name=\"f\" dword=\"0\" bits=\"7:0\" "
          "type=\"uint\"/></struct></packsmith>"}});
    EXPECT_THAT(Summary(result), IsEmpty());
    return result.model.containers[result.model.FindContainer("S")].in_c.dwords;
  };
  EXPECT_EQ(size_in_c(""), 1u);
  EXPECT_EQ(size_in_c("dwords=\"3\""), std::nullopt);
  EXPECT_EQ(size_in_c("dwords=\"3\" c-dwords=\"0\""), 0u);
}

TEST(Inheritance, AnAmendedFieldKeepsWhatItDoesNotMention) {
  const LoadResult result = LoadFiles(
      {{"old.xml",
        R"(<packsmith family="f" generation="old"><data name="d"/><data name="e"/><struct name="S" dwords="2">
        <field name="a" dword="0" bits="7:0" type="uint" max="9" unit="px"><doc>A.</doc>
        <value name="X" value="1"/><value name="Y" value="2"/><value name="Z" value="4"/></field>
        <field name="p" dword="1" bits="31:4" type="address"><points to="d" access="read"/></field>
        </struct></packsmith>)"},
       {"main.xml",
        R"(<packsmith generation="now" extends="old.xml"><struct name="S" amend="true">
        <field name="a" amend="true" dword="0" bits="8:1"><value name="Y" value="2" avoid="true"/>
        <value name="W" value="3"/><remove value="X"/></field>
        <field name="p" amend="true"><points to="e"/></field></struct></packsmith>)"}});
  EXPECT_THAT(Summary(result), IsEmpty());
  const Container& s = ContainerNamed(result, "S");
  const Field& a = FieldNamed(s.items, "a");
  EXPECT_EQ(a.bit, 1u);
  EXPECT_EQ(a.width, 8u);
  EXPECT_EQ(a.type, FieldType::kUint);
  EXPECT_EQ(a.max, 9);
  EXPECT_EQ(a.unit, "px");
  EXPECT_EQ(a.doc, "A.");
  ASSERT_EQ(a.values.size(), 3u);
  EXPECT_EQ(a.values[0].name, "Y");
  EXPECT_TRUE(a.values[0].avoid);
  EXPECT_EQ(a.values[1].name, "W");
  EXPECT_EQ(a.values[2].name, "Z");
  const Field& p = FieldNamed(s.items, "p");
  ASSERT_EQ(p.points.size(), 1u);
  EXPECT_EQ(p.points[0].to.text, "e");
  EXPECT_EQ(p.points[0].access, Access::kNone);
}

TEST(Inheritance, FieldsThatMoveGoWhereTheirBitsBelong) {
  const LoadResult moved = Extended(
      R"(<struct name="S" amend="true"><field name="first" amend="true" dword="0" bits="19:16"/></struct>)");
  EXPECT_THAT(Summary(moved), IsEmpty());
  EXPECT_THAT(NamesOf(ContainerNamed(moved, "S").items), ElementsAre("second", "first", "g"));
  // After what begins at the same bit, whether it moves there or is new.
  const LoadResult same = Extended(
      R"(<struct name="S" amend="true"><field name="other" dword="0" bits="1:0" type="uint" overlap="true"/></struct>)");
  EXPECT_THAT(Summary(same), IsEmpty());
  EXPECT_THAT(NamesOf(ContainerNamed(same, "S").items),
              ElementsAre("first", "other", "second", "g"));
}

TEST(Inheritance, AnAmendedFieldMustHaveBeenThere) {
  EXPECT_THAT(
      Summary(Extended("<struct name=\"S\" amend=\"true\">\n<field name=\"new\" amend=\"true\" "
                       "dword=\"0\" bits=\"31\" type=\"bool\"/></struct>")),
      ElementsAre("E024 main.xml:3:19"));
  EXPECT_THAT(Summary(LoadBody("<struct name=\"A\" dwords=\"1\">\n<field name=\"f\" amend=\"true\" "
                               "dword=\"0\" bits=\"0\" type=\"bool\"/></struct>")),
              ElementsAre("E024 main.xml:4:17"));
}

TEST(Inheritance, AnAmendedEnumerationKeepsItsOtherValues) {
  const LoadResult result = LoadFiles(
      {{"old.xml",
        R"(<packsmith family="f" generation="old"><enum name="E" prefix="P"><doc>Old.</doc>
        <value name="A" value="0"/><value name="C" value="2"/><value name="D" value="9"/></enum></packsmith>)"},
       {"main.xml",
        R"(<packsmith generation="now" extends="old.xml"><enum name="E" amend="true">
        <remove value="D"/><value name="B" value="1"/><value name="C" value="3"/></enum></packsmith>)"}});
  EXPECT_FALSE(result.diagnostics.has_errors());
  ASSERT_EQ(result.model.enums.size(), 1u);
  const Enum& e = result.model.enums[0];
  EXPECT_EQ(e.prefix, "P");
  EXPECT_EQ(e.doc, "Old.");
  ASSERT_EQ(e.values.size(), 3u);
  EXPECT_EQ(e.values[1].name, "B");
  EXPECT_EQ(e.values[2].name, "C");
  EXPECT_EQ(e.values[2].value, 3u);
}

TEST(Inheritance, AnAmendedEnumerationMustHaveBeenThereAndSoMustItsValues) {
  EXPECT_THAT(
      Summary(Extended("<enum name=\"N\" amend=\"true\"><value name=\"A\" value=\"1\"/></enum>")),
      Contains("E024 main.xml:2:16"));
  EXPECT_THAT(Summary(Extended("<enum name=\"E\" amend=\"true\"><remove value=\"no\"/></enum>")),
              ElementsAre("W104 main.xml:2:29"));
}

TEST(Inheritance, AGroupWithoutFieldsIsGone) {
  const LoadResult result =
      Extended(R"(<struct name="S" amend="true"><remove field="x"/><remove field="y"/></struct>)");
  EXPECT_THAT(Summary(result), IsEmpty());
  EXPECT_THAT(NamesOf(ContainerNamed(result, "S").items), ElementsAre("first", "second"));
}

TEST(Inheritance, AnHeirsOrderIsThatOfNamesAndOffsets) {
  const LoadResult result = LoadFiles(
      {{"old.xml",
        R"(<packsmith family="f" generation="old"><enum name="Z"><value name="A" value="0"/></enum>
        <register name="R" offset="0x20" dwords="1"/><struct name="S" dwords="1"/></packsmith>)"},
       {"main.xml",
        R"(<packsmith generation="now" extends="old.xml"><enum name="Y"><value name="A" value="0"/></enum>
        <register name="T" offset="0x10" dwords="1"/><struct name="Q" dwords="1"/></packsmith>)"}});
  std::vector<std::string> names;
  for (const Container& c : result.model.containers) names.push_back(c.name);
  EXPECT_THAT(names, ElementsAre("Q", "S", "T", "R"));
  EXPECT_EQ(result.model.enums[0].name, "Y");
}

TEST(Inheritance, PlatformsAreEachGenerationsOwn) {
  const LoadResult result = LoadFiles(
      {{"old.xml",
        R"(<packsmith family="f" generation="old" aliases="o"><source>Old manual.</source><platform name="p" pci="0x1"/></packsmith>)"},
       {"main.xml",
        R"(<packsmith generation="now" extends="old.xml"><platform name="q" pci="0x2"/></packsmith>)"}});
  EXPECT_THAT(Summary(result), IsEmpty());
  ASSERT_EQ(result.model.platforms.size(), 1u);
  EXPECT_EQ(result.model.platforms[0].name, "q");
  EXPECT_EQ(result.model.aliases, "");
  EXPECT_EQ(result.model.source, "");
}

TEST(Inheritance, AmendReplacesAllFlowsIfItNamesOne) {
  const LoadResult kept = Extended(R"(<packet name="P" amend="true"><doc>Changed.</doc></packet>)");
  EXPECT_EQ(ContainerNamed(kept, "P").flows.size(), 2u);
  const LoadResult result =
      Extended(R"(<packet name="P" amend="true"><flow kind="end"/></packet>)");
  EXPECT_THAT(Summary(result), IsEmpty());
  ASSERT_EQ(ContainerNamed(result, "P").flows.size(), 1u);
  EXPECT_EQ(ContainerNamed(result, "P").flows[0].kind, Flow::Kind::kEnd);
  EXPECT_EQ(ContainerNamed(result, "P").engines, 1u);
  EXPECT_THAT(ContainerNamed(result, "P").aliases, ElementsAre("PP"));
}

TEST(Inheritance, AGroupWithoutNameIsReplacedByOneAtItsPlace) {
  const LoadResult result = LoadFiles(
      {{"old.xml",
        R"(<packsmith family="f" generation="old"><struct name="S" dwords="2"><group count="2" dword="1" size="16"><field name="x" dword="0" bits="7:0" type="uint"/></group></struct></packsmith>)"},
       {"main.xml",
        R"(<packsmith generation="now" extends="old.xml"><struct name="S" amend="true"><group count="4" dword="1" size="8"><field name="z" dword="0" bits="7:0" type="uint"/></group></struct></packsmith>)"}});
  EXPECT_THAT(Summary(result), IsEmpty());
  ASSERT_EQ(ContainerNamed(result, "S").items.size(), 1u);
  EXPECT_EQ(ContainerNamed(result, "S").items[0].group()->count, 4u);
}

TEST(Inheritance, LikeStartsFromAnother) {
  const LoadResult result = Extended(
      R"(<packet name="Q" like="P"><field name="Op" dword="0" bits="31:24" type="uint" forced="2"/></packet>)");
  EXPECT_THAT(Summary(result), IsEmpty());
  const Container& q = ContainerNamed(result, "Q");
  EXPECT_THAT(NamesOf(q.items), ElementsAre("Op", "Flag", "To"));
  EXPECT_EQ(q.identify_value, 0x02000000u);
  EXPECT_EQ(ContainerNamed(result, "P").identify_value, 0x01000000u);
  EXPECT_THAT(q.aliases, IsEmpty());
  // Each has its own fields: what one asks is not answered by the other.
  EXPECT_EQ(q.flows[0].to.is.field, &FieldNamed(q.items, "To"));
}

TEST(Inheritance, LikeWorksInOneFileToo) {
  const LoadResult result = LoadBody(
      R"(<struct name="A" dwords="1"><field name="f" dword="0" bits="0" type="bool"/></struct>
      <struct name="B" like="A"><field name="g" dword="0" bits="1" type="bool"/><remove field="f"/></struct>)");
  EXPECT_THAT(Summary(result), IsEmpty());
  EXPECT_THAT(NamesOf(ContainerNamed(result, "B").items), ElementsAre("g"));
}

TEST(Inheritance, RegistersLikeOthersNeedNoOffsetOfTheirOwnOnlyWhenAmended) {
  const LoadResult result = Extended(
      R"(<register name="R2" like="R" offset="0x104"/><register name="R" amend="true"><doc>x</doc></register>)");
  EXPECT_THAT(Summary(result), IsEmpty());
  EXPECT_EQ(ContainerNamed(result, "R2").register_offset, 0x104u);
  EXPECT_EQ(ContainerNamed(result, "R").register_offset, 0x100u);
}

TEST(Inheritance, RemovedThingsAreGone) {
  const LoadResult result = Extended(
      "<remove packet=\"P\"/><remove register=\"R\"/><remove struct=\"S\"/><remove enum=\"E\"/>");
  EXPECT_THAT(Summary(result), IsEmpty());
  EXPECT_THAT(result.model.containers, IsEmpty());
  EXPECT_THAT(result.model.enums, IsEmpty());
}

// Three packets, of which P has a relation to each of the others.
LoadResult Related(const std::string& amendments) {
  return LoadFiles(
      {{"main.xml",
        absl::StrCat("<packsmith generation=\"now\" extends=\"old.xml\"><packet name=\"P\" "
                     "amend=\"true\">\n",
                     amendments, "</packet></packsmith>")},
       {"old.xml",
        R"(<packsmith family="f" generation="old"><stream name="s"/>
        <packet name="A" dwords="1"><field name="o" dword="0" bits="31:0" type="uint" forced="1"/></packet>
        <packet name="B" dwords="1"><field name="o" dword="0" bits="31:0" type="uint" forced="2"/></packet>
        <packet name="P" dwords="1"><field name="o" dword="0" bits="31:0" type="uint" forced="3"/>
        <relation kind="requires" packet="A"/><relation kind="commits" packet="B"/></packet></packsmith>)"}});
}

TEST(Inheritance, ARelationMayBeRemovedAndTheOthersStay) {
  const auto names = [](const LoadResult& result) {
    EXPECT_THAT(Summary(result), IsEmpty());
    std::vector<std::string> packets;
    for (const Relation& relation : ContainerNamed(result, "P").relations) {
      packets.push_back(relation.packet.text);
    }
    return packets;
  };
  EXPECT_THAT(names(Related("")), ElementsAre("A", "B"));
  EXPECT_THAT(names(Related("<remove relation=\"A\"/>")), ElementsAre("B"));
  EXPECT_THAT(names(Related("<remove relation=\"A\"/><remove relation=\"B\"/>")), IsEmpty());
  // What is named replaces all, except after such a removal.
  const std::string named = "<relation kind=\"invalidates\" packet=\"A\"/>";
  EXPECT_THAT(names(Related(named)), ElementsAre("A"));
  EXPECT_THAT(names(Related("<remove relation=\"A\"/>" + named)), ElementsAre("B", "A"));
}

TEST(Inheritance, OnlyARelationThatThereIsCanBeRemoved) {
  EXPECT_THAT(Summary(Related("<remove relation=\"P\"/>")), ElementsAre("W104 main.xml:2:1"));
  EXPECT_THAT(Summary(Related("<remove relation=\"A\" field=\"o\"/>")),
              ElementsAre("E028 main.xml:2:1"));
}

TEST(Inheritance, RemovingAnotherKindRemovesNothing) {
  EXPECT_THAT(Summary(Extended("<remove struct=\"P\"/>")), ElementsAre("W104 main.xml:2:1"));
}

TEST(Inheritance, WhatIsRemovedAndStillUsedIsAnError) {
  EXPECT_THAT(Summary(Extended("<remove enum=\"E\"/>")), ElementsAre("E008 old.xml:6:44"));
}

TEST(Inheritance, AFileMayBeExtendedAgainAndAgain) {
  Files files = {
      {"0.xml",
       R"(<packsmith family="f" generation="g0"><struct name="S" dwords="1"/></packsmith>)"}};
  for (int i = 1; i < 40; ++i) {
    files[absl::StrCat(i, ".xml")] = absl::StrCat("<packsmith generation=\"g", i, "\" extends=\"",
                                                  i - 1, ".xml\"><struct name=\"S\" dwords=\"",
                                                  i + 1, "\" amend=\"true\"/></packsmith>");
  }
  files["main.xml"] = "<packsmith generation=\"last\" extends=\"39.xml\"/>";
  const LoadResult result = LoadFiles(files);
  EXPECT_THAT(Summary(result), IsEmpty());
  EXPECT_EQ(ContainerNamed(result, "S").bytes, 160u);
  EXPECT_EQ(result.model.inputs.size(), 41u);
}

TEST(Inheritance, PathsAreRelativeToTheFileThatNamesThem) {
  const LoadResult result =
      LoadFiles({{"main.xml", "<packsmith generation=\"c\" extends=\"old/b.xml\"/>"},
                 {"old/b.xml", "<packsmith generation=\"b\" extends=\"a.xml\"/>"},
                 {"old/a.xml", "<packsmith family=\"f\" generation=\"a\"/>"}});
  EXPECT_THAT(Summary(result), IsEmpty());
  EXPECT_THAT(result.model.inputs, ElementsAre("main.xml", "old/b.xml", "old/a.xml"));
}

TEST(Inheritance, ACycleThatHidesBehindPathsEnds) {
  const LoadResult result = Load("main.xml", [](const std::string&) -> absl::StatusOr<std::string> {
    return std::string("<packsmith family=\"f\" generation=\"g\" extends=\"x/../main.xml\"/>");
  });
  EXPECT_TRUE(result.diagnostics.has_errors());
}

TEST(Inheritance, AmendTwiceInOneFileIsTwoOfOneName) {
  EXPECT_THAT(
      Summary(Extended("<struct name=\"S\" amend=\"true\"/>\n<struct name=\"S\" amend=\"true\"/>")),
      ElementsAre("E009 main.xml:3:1"));
}

TEST(Inheritance, APacketMayBecomeAStruct) {
  const LoadResult result = Extended("<struct name=\"P\" dwords=\"1\"/>");
  EXPECT_THAT(Summary(result), IsEmpty());
  EXPECT_EQ(ContainerNamed(result, "P").kind, ContainerKind::kStruct);
}

TEST(Inheritance, AmendingKeepsWhatSomethingIs) {
  EXPECT_THAT(Summary(Extended("<struct name=\"P\" amend=\"true\"/>")),
              ElementsAre("E028 main.xml:2:1"));
}

TEST(Inheritance, ARemoveTakesOutOneThing) {
  EXPECT_THAT(Summary(Extended("<remove packet=\"P\" struct=\"S\"/>")),
              Contains("E028 main.xml:2:1"));
}

TEST(Include, AnIncludedFileIsPartOfTheOneThatIncludesIt) {
  const LoadResult result = LoadFiles(
      {{"main.xml",
        "<packsmith family=\"f\" generation=\"g\">\n<include file=\"parts/enums.xml\"/>\n<struct "
        "name=\"S\" dwords=\"1\"><field name=\"f\" dword=\"0\" bits=\"3:0\" "
        "type=\"E\"/></struct>\n</packsmith>"},
       {"parts/enums.xml",
        "<packsmith><enum name=\"E\"><value name=\"X\" value=\"1\"/></enum></packsmith>"}});
  EXPECT_THAT(Summary(result), IsEmpty());
  EXPECT_EQ(result.model.generation, "g");
  EXPECT_THAT(result.model.inputs, ElementsAre("main.xml", "parts/enums.xml"));
}

TEST(Include, DeclaringAgainWhatIsIncludedIsTwice) {
  const LoadResult result =
      LoadFiles({{"main.xml",
                  "<packsmith family=\"f\" generation=\"g\">\n<include file=\"a.xml\"/>\n<struct "
                  "name=\"S\" dwords=\"1\"/></packsmith>"},
                 {"a.xml", "<packsmith><struct name=\"S\" dwords=\"2\"/></packsmith>"}});
  EXPECT_THAT(Summary(result), ElementsAre("E009 main.xml:3:1"));
}

TEST(Include, AnHeirReplacesWhatItsAncestorIncluded) {
  const LoadResult result = LoadFiles(
      {{"main.xml",
        "<packsmith generation=\"h\" extends=\"g.xml\"><struct name=\"S\" "
        "dwords=\"1\"/></packsmith>"},
       {"g.xml", "<packsmith family=\"f\" generation=\"g\"><include file=\"a.xml\"/></packsmith>"},
       {"a.xml", "<packsmith><struct name=\"S\" dwords=\"2\"/></packsmith>"}});
  EXPECT_THAT(Summary(result), IsEmpty());
  EXPECT_EQ(ContainerNamed(result, "S").bytes, 4u);
}

TEST(Include, FilesThatIncludeThemselvesAreACycle) {
  const LoadResult result = LoadFiles(
      {{"main.xml",
        "<packsmith family=\"f\" generation=\"g\">\n<include file=\"main.xml\"/></packsmith>"}});
  EXPECT_THAT(Summary(result), ElementsAre("E023 main.xml:2:10"));
}

TEST(Include, FilesThatIncludeEachOtherTwiceDoNotGrowWithoutEnd) {
  // 2^40 files if nobody counted.
  Files files;
  for (int i = 0; i < 40; ++i) {
    files[i == 0 ? "main.xml" : absl::StrCat(i, ".xml")] = absl::StrCat(
        i == 0 ? "<packsmith family=\"f\" generation=\"g\">" : "<packsmith>", "<include file=\"",
        i + 1, ".xml\"/><include file=\"", i + 1, ".xml\"/></packsmith>");
  }
  EXPECT_TRUE(LoadFiles(files).diagnostics.has_errors());
}

// Loads each of `paths` with one loader, which must come to what it comes to alone. How often each
// file was read.
std::map<std::string, int> LoadOneAfterAnother(const Files& files,
                                               const std::vector<std::string>& paths) {
  std::map<std::string, int> reads;
  const ReadFile read = [&](const std::string& path) -> absl::StatusOr<std::string> {
    ++reads[path];
    const auto it = files.find(path);
    if (it == files.end()) return absl::NotFoundError("there is no such file");
    return it->second;
  };
  Loader loader(read);
  std::vector<LoadResult> results;
  for (const std::string& path : paths) results.push_back(loader.Load(path));
  const std::map<std::string, int> reads_of_loader = reads;
  for (size_t i = 0; i < paths.size(); ++i) {
    const LoadResult alone = Load(paths[i], read);
    EXPECT_EQ(FormatAll(results[i].diagnostics, results[i].sources),
              FormatAll(alone.diagnostics, alone.sources));
    EXPECT_EQ(results[i].model.inputs, alone.model.inputs);
    if (alone.diagnostics.has_errors()) continue;
    EXPECT_EQ(WriteIr(results[i].model, results[i].sources), WriteIr(alone.model, alone.sources));
  }
  return reads_of_loader;
}

// Three generations, of which the second includes a file.
Files ThreeGenerations() {
  return {{"old.xml", kOld},
          {"now.xml",
           "<packsmith generation=\"now\" extends=\"old.xml\"><include file=\"a.xml\"/>"
           "<packet name=\"P\" amend=\"true\">"
           "<field name=\"More\" dword=\"0\" bits=\"9:8\" type=\"uint\"/></packet></packsmith>"},
          {"a.xml",
           "<packsmith><packet name=\"Bare\" dwords=\"1\">"
           "<field name=\"Op\" dword=\"0\" bits=\"31:24\" type=\"uint\" forced=\"2\"/></packet>"
           "</packsmith>"},
          {"new.xml",
           "<packsmith generation=\"new\" extends=\"now.xml\">"
           "<struct name=\"S\" amend=\"true\"><remove field=\"x\"/></struct>"
           "<remove packet=\"Bare\"/></packsmith>"}};
}

TEST(Loader, AParentThatIsKnownIsNotReadAgain) {
  for (const auto& [path, times] :
       LoadOneAfterAnother(ThreeGenerations(), {"old.xml", "now.xml", "new.xml"})) {
    EXPECT_EQ(times, 1) << path;
  }
}

TEST(Loader, HeirsMayComeBeforeTheirParents) {
  LoadOneAfterAnother(ThreeGenerations(), {"new.xml", "old.xml", "now.xml", "new.xml"});
}

TEST(Loader, WhatIsWrongWithAParentIsSaidWithEachHeir) {
  Files files = ThreeGenerations();
  // In the text, and where a name is unknown: the one is found in parsing, the other later.
  files["a.xml"] =
      "<packsmith><struct name=\"T\" dwords=\"none\"/>"
      "<struct name=\"U\" dwords=\"1\">"
      "<field name=\"u\" dword=\"0\" bits=\"3:0\" type=\"Nothing\"/></struct></packsmith>";
  LoadOneAfterAnother(files, {"old.xml", "now.xml", "new.xml"});
  files["a.xml"] =
      "<packsmith><struct name=\"U\" dwords=\"1\">"
      "<field name=\"u\" dword=\"0\" bits=\"3:0\" type=\"Nothing\"/></struct></packsmith>";
  LoadOneAfterAnother(files, {"old.xml", "now.xml", "new.xml"});
  files["now.xml"] =
      "<packsmith generation=\"now\" extends=\"old.xml\"><remove packet=\"Gone\"/></packsmith>";
  LoadOneAfterAnother(files, {"old.xml", "now.xml", "new.xml"});
}

TEST(Loader, ALineageIsNoLongerThanOneThatIsReadAtOnce) {
  Files files = {{"0.xml", "<packsmith family=\"f\" generation=\"g0\"/>"}};
  std::vector<std::string> paths = {"0.xml"};
  for (int i = 1; i < 70; ++i) {
    paths.push_back(absl::StrCat(i, ".xml"));
    files[paths.back()] =
        absl::StrCat("<packsmith generation=\"g", i, "\" extends=\"", i - 1, ".xml\"/>");
  }
  LoadOneAfterAnother(files, paths);
}

}  // namespace
}  // namespace packsmith::model
