// Conditions and expressions: texts in which names may hold blanks, brackets, dots, and even "and".

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gen/model/load.h"
#include "tests/model/marked_text.h"

namespace packsmith::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kFields[] = R"x(
  <field name="Op" dword="0" bits="31:24" type="uint" forced="1"/>
  <field name="Flag" dword="0" bits="0" type="bool"/>
  <field name="Read and Write" dword="0" bits="1" type="bool"/>
  <field name="Read" dword="0" bits="2" type="bool"/>
  <field name="Write" dword="0" bits="3" type="bool"/>
  <field name="Depth/Stencil [0].Mode (x)" dword="0" bits="6:4" type="uint">
    <value name="On" value="1"/><value name="On and Off" value="2"/><value name="A=B" value="3"/></field>
  <field name="or else" dword="0" bits="7" type="bool"/>
  <field name="Count+1" dword="1" bits="7:0" type="uint"/>
  <field name="Count" dword="1" bits="15:8" type="uint"/>
  <field name="Signed" dword="1" bits="19:16" type="int"><value name="Low" value="-8"/></field>
  <field name="Biased" dword="1" bits="23:20" type="uint" minus="1"/>
  <field name="Enum" dword="1" bits="27:24" type="Kind"/>
  <field name="3D" dword="1" bits="31:28" type="uint"/>
  <field name="4" dword="2" bits="31:0" type="uint"/>
)x";
constexpr char kAround[] =
    R"(<enum name="Kind"><value name="Small" value="1"/><value name="Large" value="2"/></enum>
<struct name="S" dwords="1"><field name="Entries" dword="0" bits="7:0" type="uint"/></struct>
<struct name="Alone" dwords="1"><field name="Entries" dword="0" bits="7:0" type="uint"/></struct>
<packet name="P.Q" dwords="1"><doc>.</doc><field name="Op" dword="0" bits="31:24" type="uint" forced="2"/><field name="Count" dword="0" bits="7:0" type="uint"/></packet>
<packet name="P" dwords="3"><doc>.</doc>)";

// "Flag!=0 and Count=3 or …", as it was understood.
std::string Understood(const Condition& condition) {
  std::vector<std::string> clauses;
  for (const std::vector<Term>& clause : condition) {
    std::vector<std::string> terms;
    for (const Term& term : clause) {
      terms.push_back(
          absl::StrCat("{", term.ref.field->name, "}", term.negated ? "!=" : "=", term.value));
    }
    clauses.push_back(absl::StrJoin(terms, " and "));
  }
  return absl::StrJoin(clauses, " or ");
}

std::string ConditionOf(const std::string& text) {
  const LoadResult result = LoadBody(
      absl::StrCat(kAround, kFields, "<variant dwords=\"4\" when=\"", text, "\"/></packet>"));
  if (result.diagnostics.has_errors()) return FormatAll(result.diagnostics, result.sources);
  return Understood(ContainerNamed(result, "P").variants[0].when.is);
}

TEST(Conditions, AFieldAloneIsNotZero) { EXPECT_EQ(ConditionOf("Flag"), "{Flag}!=0"); }
TEST(Conditions, AnExclamationMarkMeansZero) { EXPECT_EQ(ConditionOf("!Flag"), "{Flag}=0"); }
TEST(Conditions, ComparesWithNumbers) {
  EXPECT_EQ(ConditionOf("Count=3"), "{Count}=3");
  EXPECT_EQ(ConditionOf("Count!=0x1f"), "{Count}!=31");
}
TEST(Conditions, ComparesWithListedValues) {
  EXPECT_EQ(ConditionOf("Depth/Stencil [0].Mode (x)=On"), "{Depth/Stencil [0].Mode (x)}=1");
  EXPECT_EQ(ConditionOf("Depth/Stencil [0].Mode (x)!=A=B"), "{Depth/Stencil [0].Mode (x)}!=3");
}
TEST(Conditions, ComparesWithValuesOfAnEnumeration) {
  EXPECT_EQ(ConditionOf("Enum=Large"), "{Enum}=2");
}
TEST(Conditions, NegativeValuesAreComparedAsBits) {
  EXPECT_EQ(ConditionOf("Signed=Low"), "{Signed}=8");
}
TEST(Conditions, AndBindsTighterThanOr) {
  EXPECT_EQ(ConditionOf("Flag and Count=1 or !Write and Read"),
            "{Flag}!=0 and {Count}=1 or {Write}=0 and {Read}!=0");
}
TEST(Conditions, TheLongestNameWins) {
  EXPECT_EQ(ConditionOf("Read and Write"), "{Read and Write}!=0");
  EXPECT_EQ(ConditionOf("Write and Read"), "{Write}!=0 and {Read}!=0");
  EXPECT_EQ(ConditionOf("Read and Write and Flag"), "{Read and Write}!=0 and {Flag}!=0");
  EXPECT_EQ(ConditionOf("Read and !Write"), "{Read}!=0 and {Write}=0");
  EXPECT_EQ(ConditionOf("Count+1=4 or Count=4"), "{Count+1}=4 or {Count}=4");
}
TEST(Conditions, TheLongestValueWins) {
  EXPECT_EQ(ConditionOf("Depth/Stencil [0].Mode (x)=On and Off"), "{Depth/Stencil [0].Mode (x)}=2");
  EXPECT_EQ(ConditionOf("Depth/Stencil [0].Mode (x)=On and Flag"),
            "{Depth/Stencil [0].Mode (x)}=1 and {Flag}!=0");
}
TEST(Conditions, NamesMayBeginLikeOperators) {
  EXPECT_EQ(ConditionOf("Flag or or else"), "{Flag}!=0 or {or else}!=0");
}
TEST(Conditions, NamesMayBeginWithDigits) {
  EXPECT_EQ(ConditionOf("3D=3 and 4=4"), "{3D}=3 and {4}=4");
}
TEST(Conditions, EncodedFieldsCannotBeTestedForZero) {
  EXPECT_THAT(ConditionOf("Biased"), HasSubstr("error E019"));
}
TEST(Conditions, BlanksAreNotForgiven) {
  EXPECT_THAT(ConditionOf("Flag  and Read"), HasSubstr("error E018"));
  EXPECT_THAT(ConditionOf("Count = 3"), HasSubstr("error E018"));
  EXPECT_THAT(ConditionOf("Flag and"), HasSubstr("error E018"));
}
TEST(Conditions, HugeNumbersAreNoValues) {
  EXPECT_THAT(ConditionOf("Count=99999999999999999999"), HasSubstr("error E019"));
  EXPECT_THAT(ConditionOf("Count=-1"), HasSubstr("error E019"));
  EXPECT_THAT(ConditionOf("Count=0x"), HasSubstr("error E019"));
}
TEST(Conditions, HaveAtMostSixtyFourTerms) {
  std::string text = "Flag";
  for (int i = 0; i < 100; ++i) text += " or Flag";
  EXPECT_THAT(ConditionOf(text), HasSubstr("error E030"));
}

std::string ExpressionOf(const std::string& text) {
  const LoadResult result = LoadBody(absl::StrCat(
      kAround, kFields,
      "<field name=\"At\" dword=\"3\" bits=\"31:2\" type=\"address\"><points to=\"S\" count=\"",
      text, "\"/></field><variant dwords=\"4\" when=\"Flag\"/></packet>"));
  if (result.diagnostics.has_errors()) return FormatAll(result.diagnostics, result.sources);
  const Expression& e = FieldNamed(ContainerNamed(result, "P").items, "At").points[0].count.is;
  switch (e.kind) {
    case Expression::Kind::kNone:
      return "nothing";
    case Expression::Kind::kConstant:
      return absl::StrCat(e.add);
    case Expression::Kind::kField:
      return absl::StrCat("{", e.ref.field->name, "}*", e.multiply, "+", e.add);
    case Expression::Kind::kState:
      return absl::StrCat("last {", result.model.containers[static_cast<size_t>(e.container)].name,
                          "}.{", e.ref.field->name, "}*", e.multiply, "+", e.add);
  }
  return "";
}

// A packet that points to a table, in whatever way `attributes` say.
LoadResult PointsWith(const std::string& attributes, const std::string& more = "") {
  return LoadBody(absl::StrCat(
      "<enum name=\"E\"><value name=\"On\" value=\"1\"/></enum>",
      "<state name=\"the mode\" of=\"E\"/><state name=\"number\"/>",
      "<struct name=\"A\" dwords=\"2\"/><struct name=\"B\" dwords=\"2\"/>",
      "<struct name=\"C\" dwords=\"3\"/>", "<packet name=\"P\" dwords=\"2\"><doc>.</doc>",
      "<field name=\"Op\" dword=\"0\" bits=\"31:24\" type=\"uint\" forced=\"1\"/>",
      "<field name=\"Mode\" dword=\"0\" bits=\"0\" type=\"E\">",
      "<sets state=\"the mode\"/></field>", more,
      "<field name=\"To\" dword=\"1\" bits=\"31:2\" type=\"address\"><points to=\"A\" ", attributes,
      "/></field></packet>"));
}

TEST(States, AreAskedByPointersByNameAndValue) {
  const LoadResult result = PointsWith("when=\"the mode=On or number!=3\"");
  EXPECT_THAT(Summary(result), IsEmpty());
  const Field& to = FieldNamed(ContainerNamed(result, "P").items, "To");
  EXPECT_EQ(Understood(to.points[0].when.is), "{the mode}=1 or {number}!=3");
  EXPECT_EQ(to.points[0].when.is[0][0].state, 0);
}
TEST(States, OfAFieldOfTheSameNameGiveWayToIt) {
  const LoadResult result = PointsWith(
      "when=\"number\"", "<field name=\"number\" dword=\"0\" bits=\"1\" type=\"bool\"/>");
  EXPECT_THAT(Summary(result), IsEmpty());
  const Field& to = FieldNamed(ContainerNamed(result, "P").items, "To");
  EXPECT_EQ(to.points[0].when.is[0][0].state, -1);
}
TEST(States, ThatNobodyDeclaresAreErrors) {
  EXPECT_THAT(Summary(PointsWith("when=\"mode=On\"")), SizeIs(1));
  EXPECT_THAT(Summary(PointsWith("when=\"the mode=Off\"")), SizeIs(1));
  EXPECT_THAT(Summary(PointsWith("",
                                 "<field name=\"x\" dword=\"0\" bits=\"1\" type=\"bool\">"
                                 "<sets state=\"no such\"/></field>")),
              SizeIs(1));
  EXPECT_THAT(Summary(PointsWith("",
                                 "<field name=\"x\" dword=\"0\" bits=\"2:1\" type=\"uint\" "
                                 "minus=\"1\"><sets state=\"number\"/></field>")),
              SizeIs(1));
}
TEST(Pointers, MayLeadToOneOfTwoStructuresOfTheSameSize) {
  const LoadResult result = PointsWith("or=\"B\"");
  EXPECT_THAT(Summary(result), IsEmpty());
  const Field& to = FieldNamed(ContainerNamed(result, "P").items, "To");
  EXPECT_EQ(to.points[0].other.index, result.model.FindContainer("B"));
  EXPECT_THAT(Summary(PointsWith("or=\"C\"")), SizeIs(1));
  EXPECT_THAT(Summary(PointsWith("or=\"D\"")), SizeIs(1));
}
TEST(Pointers, CountFromABaseOrFromTheirOwnRecord) {
  EXPECT_THAT(Summary(PointsWith("relative=\"true\"")), IsEmpty());
  EXPECT_THAT(Summary(PointsWith("relative=\"true\" base=\"b\"")), SizeIs(2));
}
TEST(Pads, StandBehindPartsUpToAPowerOfTwo) {
  const auto with = [](const std::string& content) {
    return Summary(LoadBody(absl::StrCat(
        "<struct name=\"A\" dwords=\"1\"/><packet name=\"P\" dwords=\"1\"><doc>.</doc>",
        "<field name=\"Op\" dword=\"0\" bits=\"31:24\" type=\"uint\" forced=\"1\"/>",
        "<field name=\"F\" dword=\"0\" bits=\"0\" type=\"bool\"/>", content, "</packet>")));
  };
  EXPECT_THAT(with("<part name=\"A\" when=\"F\"/><pad to=\"8\" when=\"!F\"/>"), IsEmpty());
  EXPECT_THAT(with("<part name=\"A\" when=\"F\"/><pad to=\"12\"/>"), SizeIs(1));
  EXPECT_THAT(with("<part name=\"A\" when=\"F\"/><pad to=\"2\"/>"), SizeIs(1));
  EXPECT_THAT(with("<pad to=\"8\"/>"), SizeIs(1));
  EXPECT_THAT(with("<part name=\"A\" when=\"F\"/><pad to=\"8\" when=\"G\"/>"), SizeIs(1));
}
TEST(Clamps, AreForUnsignedFixedPointWithALimit) {
  const auto with = [](const std::string& attributes) {
    return Summary(LoadBody(absl::StrCat("<struct name=\"A\" dwords=\"1\"><field name=\"F\" ",
                                         "dword=\"0\" bits=\"7:0\" clamp=\"true\" ", attributes,
                                         "/></struct>")));
  };
  EXPECT_THAT(with("type=\"u4.4\" max=\"14.0\""), IsEmpty());
  EXPECT_THAT(with("type=\"u4.4\""), SizeIs(1));
  EXPECT_THAT(with("type=\"u4.4\" min=\"1.0\" max=\"14.0\""), SizeIs(1));
  EXPECT_THAT(with("type=\"s3.4\" max=\"3.0\""), SizeIs(1));
  EXPECT_THAT(with("type=\"uint\" max=\"14\""), SizeIs(1));
}

TEST(Expressions, MayBeNumbers) {
  EXPECT_EQ(ExpressionOf("32"), "32");
  EXPECT_EQ(ExpressionOf("0x20"), "32");
  EXPECT_EQ(ExpressionOf(""), "nothing");
}
TEST(Expressions, MayBeFields) { EXPECT_EQ(ExpressionOf("Count"), "{Count}*1+0"); }
TEST(Expressions, EncodedFieldsGiveTheirValue) {
  EXPECT_EQ(ExpressionOf("Biased*4"), "{Biased}*4+0");
}
TEST(Expressions, MultiplyThenAdd) {
  EXPECT_EQ(ExpressionOf("Count*32+4"), "{Count}*32+4");
  EXPECT_EQ(ExpressionOf("Count*0x10"), "{Count}*16+0");
}
TEST(Expressions, TheLongestNameWins) {
  EXPECT_EQ(ExpressionOf("Count+1"), "{Count+1}*1+0");
  EXPECT_EQ(ExpressionOf("Count+2"), "{Count}*1+2");
  EXPECT_EQ(ExpressionOf("Count+1+1"), "{Count+1}*1+1");
}
TEST(Expressions, ANameMayLookLikeANumber) {
  EXPECT_EQ(ExpressionOf("4"), "{4}*1+0");
  EXPECT_EQ(ExpressionOf("3D*2"), "{3D}*2+0");
  EXPECT_EQ(ExpressionOf("3"), "3");
}
TEST(Expressions, MayAskAnotherPacket) {
  EXPECT_EQ(ExpressionOf("P.Q.Count*2"), "last {P.Q}.{Count}*2+0");
  EXPECT_EQ(ExpressionOf("P.Count"), "last {P}.{Count}*1+0");
}
TEST(Expressions, MayAskAStructThatAPacketLeadsTo) {
  EXPECT_EQ(ExpressionOf("S.Entries+1"), "last {S}.{Entries}*1+1");
}
TEST(Expressions, CannotAskAStructThatIsNoPartAndThatNoPacketLeadsTo) {
  EXPECT_THAT(ExpressionOf("Alone.Entries"), HasSubstr("error E018"));
}
TEST(Expressions, KnowNoOtherOperators) {
  EXPECT_THAT(ExpressionOf("Count-1"), HasSubstr("error E018"));
  EXPECT_THAT(ExpressionOf("Count*"), HasSubstr("error E020"));
  EXPECT_THAT(ExpressionOf("Count+2*4"), HasSubstr("error E020"));
  EXPECT_THAT(ExpressionOf("Count*4294967296"), HasSubstr("error E020"));
  EXPECT_THAT(ExpressionOf("99999999999999999999"), HasSubstr("error E018"));
}

TEST(Expressions, InGroupsAskTheSameItem) {
  const LoadResult result = LoadBody(R"(<struct name="S" dwords="1"/>
<struct name="A" dwords="7">
  <field name="Enable" dword="0" bits="31" type="bool"/>
  <group count="2" dword="1" size="32"><field name="Length" dword="0" bits="15:0" type="uint"/></group>
  <group count="2" dword="3" size="64"><field name="At" dword="0" bits="63:2" type="address"><points to="S" count="Length" when="Enable and Length"/></field></group>
</struct>)");
  EXPECT_THAT(Summary(result), IsEmpty());
  const Container& a = ContainerNamed(result, "A");
  const Points& points = FieldNamed(a.items, "At").points[0];
  EXPECT_EQ(points.count.is.ref.group, a.items[1].group());
  EXPECT_EQ(points.when.is[0][0].ref.group, nullptr);
  EXPECT_EQ(points.when.is[0][1].ref.group, a.items[1].group());
}

TEST(Expressions, CannotAskAGroupOfAnotherCount) {
  const LoadResult result = LoadBody(R"(<struct name="S" dwords="1"/>
<struct name="A" dwords="7">
  <group count="3" dword="1" size="16"><field name="Length" dword="0" bits="15:0" type="uint"/></group>
  <group count="2" dword="3" size="64"><field name="At" dword="0" bits="63:2" type="address"><points to="S" count="Length"/></field></group>
</struct>)");
  EXPECT_THAT(Summary(result), ElementsAre("E018 main.xml:6:109"));
}

TEST(SplitAddresses, TakeTheirHighBitsFromAnotherField) {
  const LoadResult result = LoadBody(R"(<struct name="S" dwords="1"/>
<packet name="P" dwords="2"><doc>.</doc><field name="Op" dword="0" bits="31:24" type="uint" forced="1"/>
  <field name="High" dword="0" bits="7:0" type="uint"/><field name="At" dword="1" bits="31:2" type="address" high="High"><points to="S"/></field></packet>)");
  EXPECT_THAT(Summary(result), IsEmpty());
  const Container& p = ContainerNamed(result, "P");
  EXPECT_EQ(FieldNamed(p.items, "At").high.is.ref.field, &FieldNamed(p.items, "High"));
  EXPECT_EQ(FieldNamed(p.items, "At").high.is.multiply, uint64_t{1} << 32);
}

TEST(SplitAddresses, InAPartMayAskTheHeader) {
  const LoadResult result = LoadBody(R"(<struct name="S" dwords="1"/>
<struct name="Low" dwords="1"><field name="At" dword="0" bits="31:0" type="address" high="P.High"><points to="S" count="Number.N"/></field></struct>
<struct name="Number" dwords="1"><field name="N" dword="0" bits="31:0" type="uint"/></struct>
<packet name="P" dwords="1"><doc>.</doc><field name="Op" dword="0" bits="31:24" type="uint" forced="1"/>
  <field name="High" dword="0" bits="7:0" type="uint"/><part name="Low"/><part name="Number"/></packet>)");
  EXPECT_THAT(Summary(result), IsEmpty());
  const Field& at = FieldNamed(ContainerNamed(result, "Low").items, "At");
  EXPECT_EQ(at.high.is.kind, Expression::Kind::kState);
  EXPECT_EQ(at.high.is.ref.field, &FieldNamed(ContainerNamed(result, "P").items, "High"));
  EXPECT_EQ(at.points[0].count.is.ref.field,
            &FieldNamed(ContainerNamed(result, "Number").items, "N"));
}

}  // namespace
}  // namespace packsmith::model
