// What fields, groups and containers say, once parsed and resolved.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "gen/model/load.h"
#include "tests/model/marked_text.h"

namespace packsmith::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A struct "A" of four dwords with `inside`; the test fails if it is not sound.
class FieldsTest : public testing::Test {
 protected:
  const Container& A(const std::string& inside) {
    result_ = LoadBody(absl::StrCat("<struct name=\"A\" dwords=\"4\">", inside, "</struct>"));
    EXPECT_THAT(Summary(result_), IsEmpty()) << FormatAll(result_.diagnostics, result_.sources);
    return ContainerNamed(result_, "A");
  }
  const Field& F(const std::string& attributes) {
    return FieldNamed(A(absl::StrCat("<field name=\"f\" ", attributes, "/>")).items, "f");
  }
  LoadResult result_;
};

TEST_F(FieldsTest, BitsCountFromTheStartOfTheirDword) {
  const Field& f = F(R"(dword="1" bits="15:4" type="uint")");
  EXPECT_EQ(f.bit, 36u);
  EXPECT_EQ(f.width, 12u);
}

TEST_F(FieldsTest, OneBitMayBeWrittenAlone) {
  const Field& f = F(R"(dword="0" bits="31" type="bool")");
  EXPECT_EQ(f.bit, 31u);
  EXPECT_EQ(f.width, 1u);
}

TEST_F(FieldsTest, BitsMayGoBeyondTheirDword) {
  const Field& f = F(R"(dword="1" bits="63:6" type="address")");
  EXPECT_EQ(f.bit, 38u);
  EXPECT_EQ(f.width, 58u);
}

TEST_F(FieldsTest, AFieldMayStartInALaterDwordThanItSays) {
  const Field& f = F(R"(dword="0" bits="47:33" type="uint")");
  EXPECT_EQ(f.bit, 33u);
  EXPECT_EQ(f.width, 15u);
}

TEST_F(FieldsTest, NumbersMayBeHexadecimal) {
  EXPECT_EQ(F(R"(dword="0x2" bits="0xf:0x8" type="uint" default="0xFf")").default_value, 255u);
}

TEST_F(FieldsTest, TypesHaveTheirKinds) {
  EXPECT_EQ(F(R"(dword="0" bits="7:0" type="uint")").type, FieldType::kUint);
  EXPECT_EQ(F(R"(dword="0" bits="7:0" type="int")").type, FieldType::kInt);
  EXPECT_EQ(F(R"(dword="0" bits="7" type="bool")").type, FieldType::kBool);
  EXPECT_EQ(F(R"(dword="0" bits="31:0" type="float")").type, FieldType::kFloat);
  EXPECT_EQ(F(R"(dword="0" bits="15:0" type="half")").type, FieldType::kHalf);
  EXPECT_EQ(F(R"(dword="0" bits="31:6" type="address")").type, FieldType::kAddress);
  EXPECT_EQ(F(R"(dword="0" bits="31:6" type="offset")").type, FieldType::kOffset);
}

TEST_F(FieldsTest, FixedPointCountsItsSignBit) {
  const Field& u = F(R"(dword="0" bits="11:0" type="u4.8")");
  EXPECT_EQ(u.type, FieldType::kUfixed);
  EXPECT_EQ(u.fraction_bits, 8u);
  const Field& s = F(R"(dword="0" bits="12:0" type="s4.8")");
  EXPECT_EQ(s.type, FieldType::kSfixed);
  EXPECT_EQ(s.fraction_bits, 8u);
}

TEST_F(FieldsTest, LowBitsOfAddressesAreImpliedByTheirPlace) {
  EXPECT_EQ(F(R"(dword="0" bits="31:12" type="address")").encoding.shift, 12u);
  EXPECT_EQ(F(R"(dword="1" bits="47:6" type="offset")").encoding.shift, 6u);
  EXPECT_EQ(F(R"(dword="0" bits="47:32" type="address")").encoding.shift, 0u);
}

TEST_F(FieldsTest, ShiftOverridesWhatThePlaceImplies) {
  EXPECT_EQ(F(R"(dword="0" bits="47:16" type="address" shift="0")").encoding.shift, 0u);
  EXPECT_EQ(F(R"(dword="0" bits="63:27" type="address" shift="3")").encoding.shift, 3u);
}

TEST_F(FieldsTest, EncodingsAreKept) {
  EXPECT_EQ(F(R"(dword="0" bits="7:0" type="uint" minus="1")").encoding.minus, 1u);
  EXPECT_EQ(F(R"(dword="0" bits="7:0" type="uint" shift="7")").encoding.shift, 7u);
  EXPECT_TRUE(F(R"(dword="0" bits="2:0" type="uint" log2="true")").encoding.log2);
  EXPECT_EQ(F(R"(dword="0" bits="2:0" type="uint" groups="64")").encoding.groups, 64u);
  EXPECT_EQ(F(R"(dword="0" bits="7:0" type="uint" align="16" shift="4")").encoding.align, 16u);
}

TEST_F(FieldsTest, DefaultsMayBeNamed) {
  const Container& a = A(R"(<field name="f" dword="0" bits="7:0" type="uint" default="Fast">
      <value name="Slow" value="3"/><value name="Fast" value="5"/></field>)");
  EXPECT_EQ(FieldNamed(a.items, "f").default_value, 5u);
  EXPECT_EQ(F(R"(dword="0" bits="7" type="bool" default="true")").default_value, 1u);
}

TEST_F(FieldsTest, SignedDefaultsAndValuesAreTwosComplement) {
  EXPECT_EQ(F(R"(dword="0" bits="7:0" type="int" default="-128")").default_value, ~uint64_t{127});
  const Container& a = A(
      R"(<field name="f" dword="0" bits="3:0" type="int"><value name="Low" value="-8"/></field>)");
  EXPECT_EQ(FieldNamed(a.items, "f").values[0].value, ~uint64_t{7});
}

TEST_F(FieldsTest, RealDefaultsAndRangesAreReal) {
  const Field& f = F(R"(dword="0" bits="9:0" type="u4.6" default="13.5" min="0.25" max="14.0")");
  EXPECT_EQ(f.default_real, 13.5);
  EXPECT_EQ(f.min_real, 0.25);
  EXPECT_EQ(f.max_real, 14.0);
}

TEST_F(FieldsTest, RangesTakeTheEncodingIntoAccount) {
  const Field& f = F(R"(dword="0" bits="3:0" type="uint" minus="1" min="1" max="16")");
  EXPECT_EQ(f.min, 1);
  EXPECT_EQ(f.max, 16);
  EXPECT_EQ(F(R"(dword="0" bits="3:0" type="uint" log2="true" max="0x8000")").max, 0x8000);
  EXPECT_EQ(F(R"(dword="0" bits="3:0" type="uint" groups="16" max="256")").max, 256);
  EXPECT_EQ(F(R"(dword="0" bits="7:0" type="uint" shift="4" max="0xff0")").max, 0xff0);
  EXPECT_EQ(F(R"(dword="0" bits="63:0" type="int" min="-9223372036854775808")").min, INT64_MIN);
}

TEST_F(FieldsTest, ZeroIsRefusedByNobodyByPackingOrAlways) {
  EXPECT_EQ(F(R"(dword="0" bits="7:0" type="uint")").nonzero, NotZero::kMayBeZero);
  EXPECT_EQ(F(R"(dword="0" bits="7:0" type="uint" nonzero="false")").nonzero, NotZero::kMayBeZero);
  EXPECT_EQ(F(R"(dword="0" bits="7:0" type="uint" nonzero="packing")").nonzero, NotZero::kPacking);
  EXPECT_EQ(F(R"(dword="0" bits="7:0" type="uint" nonzero="true")").nonzero, NotZero::kAlways);
}

TEST_F(FieldsTest, RequirementsAreKept) {
  const Field& f =
      F(R"(dword="0" bits="7:0" type="uint" nonzero="true" multiple="4" unit="px" prefix="PX")");
  EXPECT_EQ(f.nonzero, NotZero::kAlways);
  EXPECT_EQ(f.multiple, 4u);
  EXPECT_EQ(f.unit, "px");
  EXPECT_EQ(f.prefix, "PX");
}

TEST_F(FieldsTest, AliasNamesTheMember) {
  EXPECT_EQ(F(R"(alias="other" dword="0" bits="7:0" type="uint")").spelled.cpp, "other");
  EXPECT_EQ(F(R"(dword="0" bits="7:0" type="uint")").spelled.cpp, "f");
}

TEST_F(FieldsTest, WordsAreFolded) {
  const Container& a =
      A("<doc>One\n   two.</doc><source>p. 4</source><field name=\"f\" dword=\"0\" bits=\"0\" "
        "type=\"bool\"><doc> A &lt; B <![CDATA[ & C ]]></doc></field>");
  EXPECT_EQ(a.doc, "One two.");
  EXPECT_EQ(a.source, "p. 4");
  EXPECT_EQ(FieldNamed(a.items, "f").doc, "A < B & C");
}

TEST_F(FieldsTest, CommentsMayStandAnywhere) {
  const Container& a =
      A("<!-- one --><field name=\"f\" dword=\"0\" bits=\"0\" type=\"bool\"><!-- two --><doc>A<!-- "
        "three --> b</doc></field>");
  EXPECT_EQ(FieldNamed(a.items, "f").doc, "A b");
}

TEST_F(FieldsTest, GroupsRepeatTheirItems) {
  const Container& a = A(
      R"(<group name="g" count="3" dword="1" bit="16" size="8"><field name="f" dword="0" bits="7:0" type="uint"/></group>)");
  const Group& g = GroupNamed(a.items, "g");
  EXPECT_EQ(g.bit, 48u);
  EXPECT_EQ(g.width, 8u);
  EXPECT_EQ(g.count, 3u);
  EXPECT_EQ(g.items[0].base().bit, 0u);
}

TEST(Containers, DwordsAndBytesGiveSizes) {
  const LoadResult result = LoadBody(R"(
<struct name="D" dwords="3"/><struct name="B" bytes="6"/>
<struct name="V" dwords="variable"><field name="f" dword="1" bits="0" type="bool"/></struct>
<struct name="W" bytes="variable"><field name="f" dword="1" bits="0" type="bool"/></struct>)");
  EXPECT_THAT(Summary(result), IsEmpty());
  EXPECT_EQ(ContainerNamed(result, "D").bytes, 12u);
  EXPECT_EQ(ContainerNamed(result, "B").bytes, 6u);
  EXPECT_EQ(ContainerNamed(result, "V").bytes, 8u);
  EXPECT_EQ(ContainerNamed(result, "W").bytes, 6u);
}

TEST(Containers, TheLongestVariantGivesTheLargestSize) {
  const LoadResult result = LoadBody(R"(
<packet name="P" dwords="1"><doc>.</doc>
  <field name="Op" dword="0" bits="31:24" type="uint" forced="1"/>
  <field name="Mode" dword="0" bits="1:0" type="uint"/>
  <field name="Late" dword="4" bits="31:0" type="uint"/>
  <variant dwords="3" when="Mode=1"/><variant dwords="5" when="Mode=2"/>
</packet>)");
  EXPECT_THAT(Summary(result), IsEmpty());
  EXPECT_EQ(ContainerNamed(result, "P").bytes, 4u);
  EXPECT_EQ(ContainerNamed(result, "P").max_bytes, 20u);
  // A reader that takes the first whose condition holds takes the longest.
  EXPECT_EQ(ContainerNamed(result, "P").variants[0].bytes, 20u);
}

TEST(Containers, OpcodesAreTheForcedBitsOfTheFirstDword) {
  const LoadResult result = LoadBody(R"(
<packet name="P" dwords="2"><doc>.</doc>
  <field name="Type" dword="0" bits="31:29" type="uint" forced="3"/>
  <field name="Sub" dword="0" bits="23:16" type="uint" forced="0x45"/>
  <field name="Magic" dword="1" bits="31:0" type="uint" forced="0xdead"/>
</packet>
<packet name="Q" bytes="2"><doc>.</doc><field name="Tag" dword="0" bits="7:0" type="uint" forced="0x88"/></packet>
<packet name="R" bytes="6"><doc>.</doc><field name="Tag" dword="0" bits="11:4" type="uint" forced="0x88"/></packet>)");
  const Container& p = ContainerNamed(result, "P");
  EXPECT_EQ(p.identify_mask, 0xe0ff0000u);
  EXPECT_EQ(p.identify_value, 0x60450000u);
  EXPECT_EQ(p.identify_bytes, 4u);
  EXPECT_EQ(ContainerNamed(result, "Q").identify_bytes, 1u);
  EXPECT_EQ(ContainerNamed(result, "R").identify_bytes, 2u);
}

TEST(Containers, AnOpcodeMayReachBeyondTheFirstDword) {
  const LoadResult result = LoadBody(R"(
<packet name="P" dwords="2"><doc>.</doc><field name="Op" dword="0" bits="35:28" type="uint" forced="0x5a"/></packet>)");
  EXPECT_THAT(Summary(result), IsEmpty());
  EXPECT_EQ(ContainerNamed(result, "P").identify_mask, 0xf0000000u);
  EXPECT_EQ(ContainerNamed(result, "P").identify_value, 0xa0000000u);
}

TEST(Containers, PacketsStandInTheFirstStreamUnlessTheySayOtherwise) {
  const std::string op =
      "<doc>.</doc><field name=\"Op\" dword=\"0\" bits=\"31:24\" type=\"uint\" "
      "forced=\"1\"/></packet>";
  const LoadResult result =
      LoadBody(absl::StrCat("<stream name=\"t\" align=\"2\"/><packet name=\"P\" dwords=\"1\">", op,
                            "<packet name=\"Q\" dwords=\"1\" stream=\"t\">", op));
  EXPECT_EQ(ContainerNamed(result, "P").stream, 0);
  EXPECT_EQ(ContainerNamed(result, "Q").stream, 1);
  EXPECT_EQ(result.model.streams[1].align, 2u);
}

TEST(Containers, EnginesAreBits) {
  const LoadResult result = LoadBody(R"(<engine name="a"/><engine name="b"/><engine name="c"/>
<packet name="P" dwords="1" engines=" c a "><doc>.</doc><field name="Op" dword="0" bits="31:24" type="uint" forced="1"/></packet>
<packet name="Q" dwords="1"><doc>.</doc><field name="Op" dword="0" bits="31:24" type="uint" forced="2"/></packet>)");
  EXPECT_EQ(ContainerNamed(result, "P").engines, 5u);
  EXPECT_EQ(ContainerNamed(result, "Q").engines, ~uint64_t{0});
}

TEST(Containers, AreFoundByAlias) {
  const LoadResult result = LoadBody(
      "<struct name=\"A\" alias=\"B,C D\" dwords=\"1\"/><struct name=\"E\" dwords=\"1\"/>");
  EXPECT_EQ(result.model.FindContainer("C D"), 0);
  EXPECT_EQ(result.model.FindContainer("E"), 1);
  EXPECT_EQ(result.model.FindContainer("F"), -1);
}

TEST(Containers, NestedOnesComeBeforeThoseThatNestThem) {
  const LoadResult result = LoadBody(R"(
<packet name="P" dwords="1"><doc>.</doc><field name="Op" dword="0" bits="31:24" type="uint" forced="1"/></packet>
<struct name="Outer" dwords="2"><field name="m" dword="0" bits="63:0" type="Middle"/></struct>
<struct name="Middle" dwords="2"><field name="i" dword="1" bits="31:0" type="Inner"/></struct>
<struct name="Inner" dwords="1"/>)");
  std::vector<std::string> order;
  for (const int i : result.model.nesting_order)
    order.push_back(result.model.containers[static_cast<size_t>(i)].name);
  EXPECT_THAT(order, ElementsAre("Inner", "Middle", "Outer", "P"));
}

TEST(Root, NamesComeFromTheGenerationUnlessGiven) {
  const LoadResult plain =
      LoadFiles({{"main.xml", "<packsmith family=\"f\" generation=\"gen7\"/>"}});
  EXPECT_EQ(plain.model.cpp_namespace, "gen7");
  EXPECT_EQ(plain.model.c_prefix, "GEN7");
  EXPECT_FALSE(plain.model.byte_unit);
  const LoadResult given =
      LoadFiles({{"main.xml",
                  "<packsmith family=\"f\" generation=\"7\" namespace=\"seven\" prefix=\"S7\" "
                  "unit=\"byte\" title=\"T\" aliases=\"7 vii\"/>"}});
  EXPECT_EQ(given.model.cpp_namespace, "seven");
  EXPECT_EQ(given.model.c_prefix, "S7");
  EXPECT_EQ(given.model.title, "T");
  EXPECT_EQ(given.model.aliases, "7 vii");
  EXPECT_TRUE(given.model.byte_unit);
}

TEST(Root, TheDigestFollowsEachByteOfEachFile) {
  const Files files = {{"main.xml", "<packsmith generation=\"b\" extends=\"a.xml\"/>"},
                       {"a.xml", "<packsmith family=\"f\" generation=\"a\"/>"}};
  Files changed = files;
  changed["a.xml"] += " ";
  EXPECT_EQ(LoadFiles(files).model.digest, LoadFiles(files).model.digest);
  EXPECT_NE(LoadFiles(files).model.digest, LoadFiles(changed).model.digest);
  EXPECT_EQ(LoadFiles(files).model.digest.size(), 16u);
}

}  // namespace
}  // namespace packsmith::model
