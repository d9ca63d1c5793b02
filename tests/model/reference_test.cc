// Reference lines: what people read is what the XML says, and nothing of it is lost.
#include "gen/model/write/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gen/model/load.h"
#include "tests/model/marked_text.h"

namespace packsmith::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> Lines(const LoadResult& result) {
  EXPECT_FALSE(result.diagnostics.has_errors());
  return absl::StrSplit(WriteReference(result.model), '\n', absl::SkipEmpty());
}

// The line of that name as it was written.
std::string Line(const std::string& body, const std::string& name) {
  const LoadResult result = LoadBody(body);
  for (const std::string& line : Lines(result)) {
    if (line.find(absl::StrCat("{\"name\":\"", name, "\",")) == 0) return line;
  }
  return "";
}

TEST(Reference, EachLineIsAnObjectThatBeginsWithItsNameAndKind) {
  const LoadResult result = Load("tests/mini/mini.xml", ReadFileFromDisk);
  std::map<std::string, int> kinds;
  for (const std::string& line : Lines(result)) {
    rapidjson::Document record;
    record.Parse(line.c_str());
    ASSERT_FALSE(record.HasParseError()) << line;
    ASSERT_TRUE(record.IsObject()) << line;
    auto member = record.MemberBegin();
    EXPECT_STREQ(member->name.GetString(), "name");
    EXPECT_STREQ((++member)->name.GetString(), "kind");
    ++kinds[member->value.GetString()];
  }
  EXPECT_EQ(kinds["generation"], 1);
  EXPECT_EQ(kinds["packet"] + kinds["struct"] + kinds["register"],
            static_cast<int>(result.model.containers.size()));
  EXPECT_EQ(kinds["enum"], static_cast<int>(result.model.enums.size()));
  EXPECT_EQ(kinds["data"], static_cast<int>(result.model.data_kinds.size()));
  EXPECT_EQ(kinds["engine"], 2);
}

TEST(Reference, TheSameModelGivesTheSameText) {
  const LoadResult one = Load("tests/mini/mini.xml", ReadFileFromDisk);
  const LoadResult other = Load("tests/mini/mini.xml", ReadFileFromDisk);
  EXPECT_EQ(WriteReference(one.model), WriteReference(other.model));
}

TEST(Reference, AFieldSaysItsPlaceTypeAndWhatIsUnusualOfIt) {
  EXPECT_EQ(Line(R"(<struct name="A" dwords="2"><doc>Says.</doc>
                      <field name="F" dword="1" bits="15:8" type="uint" minus="1" default="3" max="9"
                             unit="px"/>
                      <reserved dword="1" bits="31:30" must="one"/>
                    </struct>)",
                 "A"),
            R"({"name":"A","kind":"struct","doc":"Says.","bytes":8,"unit":"dword","fields":[)"
            R"({"name":"F","bits":[47,40],"type":"uint","default":"3","max":9,"unit":"px",)"
            R"("minus":1},{"must":"one","bits":[63,62]}]})");
}

TEST(Reference, GroupsAndNestedStructuresStayWhatTheyAre) {
  const std::string body = R"(
    <struct name="In" dwords="1"><field name="X" dword="0" bits="31:0" type="uint"/></struct>
    <struct name="Out" dwords="8">
      <field name="One" dword="0" bits="31:0" type="In"/>
      <group name="Edge" count="2" dword="1" size="64">
        <field name="W" dword="0" bits="7:0" type="u4.4"/>
      </group>
      <group count="tail" dword="8" size="32">
        <field name="Rest" dword="0" bits="31:0" type="In"/>
      </group>
    </struct>)";
  const std::string line = Line(body, "Out");
  EXPECT_THAT(line, HasSubstr(R"({"name":"One","bits":[31,0],"type":"In","of":"struct"})"));
  EXPECT_THAT(line, HasSubstr(R"({"name":"Edge","count":2,"bits":[95,32],"items":[)"
                              R"({"name":"W","bits":[7,0],"type":"u4.4"}]})"));
  EXPECT_THAT(line, HasSubstr(R"({"count":"tail","bits":[287,256],"items":[)"));
}

TEST(Reference, ConditionsAndExpressionsAreTheTextOfTheXml) {
  const std::string body = R"(
    <base name="heap"/><data name="bytes"/>
    <struct name="P" dwords="3">
      <field name="On" dword="0" bits="0" type="bool"/>
      <field name="N" dword="0" bits="8:1" type="uint"/>
      <field name="At" dword="1" bits="31:0" type="offset">
        <points to="bytes" base="heap" size="N*4+4" when="On" access="readwrite"/>
      </field>
    </struct>)";
  EXPECT_THAT(Line(body, "P"),
              HasSubstr(R"("points":[{"to":"bytes","kind":"data","when":"On","base":"heap",)"
                        R"("access":"readwrite","size":"N*4+4"}])"));
}

TEST(Reference, ACountThatMayBeNoLimitIsWithTheConditionForIt) {
  const std::string body = R"(
    <data name="rows"/>
    <struct name="P" dwords="3">
      <field name="Last" dword="0" bits="7:0" type="uint"/>
      <field name="At" dword="1" bits="63:0" type="address">
        <points to="rows" count="Last+1" unlimited-when="!Last" stride="4"/>
      </field>
    </struct>)";
  EXPECT_THAT(Line(body, "P"),
              HasSubstr(R"("count":"Last+1","unlimited_when":"!Last","stride":"4")"));
}

TEST(Reference, AWorkaroundIsALineAndAtWhatItIsAbout) {
  const char body[] = R"(
    <platform name="padx" pci="0x1"/>
    <struct name="S" dwords="1"><field name="F" dword="0" bits="3:0" type="uint"/></struct>
    <packet name="P" dwords="1"><doc>.</doc>
      <field name="Op" dword="0" bits="31:24" type="uint" forced="1"/></packet>
    <workaround number="12" platforms="pad(a0..b0) other" honored="a.cc b.cc"><doc>Bad.</doc>
      <asks kind="limit" of="S" field="F" value="7"/></workaround>
    <workaround number="13" platforms="other pads"><asks kind="again" of="Unknown"/></workaround>
    <workaround number="14" platforms="g"><asks kind="shader"/></workaround>)";
  EXPECT_EQ(Line(body, "Wa_12"),
            R"({"name":"Wa_12","kind":"workaround","aliases":["12"],"doc":"Bad.",)"
            R"x("on":["pad(a0..b0)"],"honored":["a.cc","b.cc"],"asks":[{"kind":"limit","of":"S",)x"
            R"("of_kind":"struct","field":"F","value":"7"}]})");
  EXPECT_EQ(Line(body, "Wa_13"), "");
  EXPECT_THAT(Line(body, "Wa_14"), HasSubstr(R"("on":["g"],"asks":[{"kind":"shader"}])"));
  EXPECT_THAT(Line(body, "S"),
              HasSubstr(R"x("workarounds":[{"name":"Wa_12","on":["pad(a0..b0)"],"honored":true,)x"
                        R"("kind":"limit","of":"S","of_kind":"struct","field":"F","value":"7",)"
                        R"("doc":"Bad."}])"));
  EXPECT_THAT(Line(body, "P"), Not(HasSubstr("workarounds")));
}

TEST(Reference, NegativeValuesOfASignedFieldAreNegative) {
  EXPECT_THAT(Line(R"(<struct name="S" dwords="1"><field name="F" dword="0" bits="3:0" type="int">
                        <value name="Less" value="-2"/></field></struct>)",
                   "S"),
              HasSubstr(R"({"name":"Less","value":-2})"));
}

TEST(Reference, FormatsAreWrittenAsTheXmlDoes) {
  EXPECT_THAT(Line(R"(<enum name="E"><value name="A" value="1" components="R10 G10 B10 A2 unorm"/>
                        <value name="B" value="2" components="R8 uint X24"/></enum>)",
                   "E"),
              HasSubstr(R"({"name":"A","value":1,"components":"R10 G10 B10 A2 unorm"},)"
                        R"({"name":"B","value":2,"components":"R8 uint X24"})"));
}

TEST(Reference, APacketSaysHowItIsKnownAndHowLongItIs) {
  const std::string line = Line(R"(
    <packet name="P" dwords="2" length="Length" bias="2" role="draw"><doc>Draws.</doc>
      <field name="Opcode" dword="0" bits="31:24" type="uint" forced="0x10"/>
      <field name="Length" dword="0" bits="7:0" type="uint"/>
    </packet>)",
                                "P");
  EXPECT_THAT(line, HasSubstr(R"("role":"draw","opcode":"0x10000000","opcode_mask":"0xff000000",)"
                              R"("length":"Length","bias":2)"));
  EXPECT_THAT(line, HasSubstr(R"("type":"uint","forced":"0x10"})"));
}

}  // namespace
}  // namespace packsmith::model
