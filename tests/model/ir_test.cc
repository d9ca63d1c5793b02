// The IR: deterministic JSON that says to generators what the model has derived.

#include "gen/model/write/ir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "gen/model/load.h"
#include "packsmith/pack.h"
#include "tests/model/marked_text.h"

namespace packsmith::model {
namespace {

using ::testing::IsEmpty;
using Json = rapidjson::Value;

// The IR leaves out addresses' bits where pack.h assumes as many.
static_assert(kUsualAddressBits == bits::usual_space);

class IrTest : public testing::Test {
 protected:
  void Make(const LoadResult& result) {
    ASSERT_FALSE(result.diagnostics.has_errors()) << FormatAll(result.diagnostics, result.sources);
    document_.Parse(WriteIr(result.model, result.sources).c_str());
    ASSERT_FALSE(document_.HasParseError());
    shortest_ = ~size_t{0};
    for (Json& c : document_["containers"].GetArray()) {
      for (Json& leaf : c["leaves"].GetArray()) Complete(leaf);
    }
  }
  // Adds what the leaf leaves out because most have it so.
  void Complete(Json& leaf) {
    shortest_ = std::min<size_t>(shortest_, leaf.MemberCount());
    const Json& usual = document_["usual_leaf"];
    for (rapidjson::SizeType i = 0; i < usual.MemberCount(); ++i) {
      const auto& [key, value] = usual.MemberBegin()[static_cast<int>(i)];
      if (leaf.HasMember(key)) continue;
      leaf.AddMember(Json(key, document_.GetAllocator()), Json(value, document_.GetAllocator()),
                     document_.GetAllocator());
    }
  }
  void MakeStruct(const std::string& inside, const std::string& before = "") {
    Make(LoadBody(absl::StrCat(before, "<struct name=\"A\" dwords=\"4\">", inside, "</struct>")));
  }
  const Json& ContainerNamed(const std::string& name) const {
    for (const Json& c : document_["containers"].GetArray()) {
      if (c["name"].GetString() == name) return c;
    }
    ADD_FAILURE() << "there is no container " << name;
    return document_["containers"];
  }
  const Json& In(const Json& list, const char* key, const std::string& value) const {
    for (const Json& one : list.GetArray()) {
      if (one[key].GetString() == value) return one;
    }
    ADD_FAILURE() << "there is no " << key << " " << value;
    return list;
  }
  const Json& Leaf(const std::string& name) const {
    return In(ContainerNamed("A")["leaves"], "name", name);
  }
  const Json& Member(const std::string& name) const {
    return In(ContainerNamed("A")["members"], "name", name);
  }
  std::string Default(const std::string& name) const { return Member(name)["default"].GetString(); }
  std::string Type(const std::string& name) const { return Member(name)["type"].GetString(); }

  rapidjson::Document document_;
  size_t shortest_ = 0;  // members of the leaf that says least
};

TEST_F(IrTest, IsTheSameTextEachTime) {
  for (const char* path : {"tests/mini/mini.xml", "xml/intel/gfx9.xml"}) {
    const LoadResult a = Load(path, ReadFileFromDisk), b = Load(path, ReadFileFromDisk);
    ASSERT_FALSE(a.diagnostics.has_errors()) << FormatAll(a.diagnostics, a.sources);
    const std::string text = WriteIr(a.model, a.sources);
    EXPECT_TRUE(text == WriteIr(b.model, b.sources)) << path;
    EXPECT_TRUE(text == WriteIr(a.model, a.sources)) << path;
    EXPECT_EQ(text.back(), '\n');
    EXPECT_FALSE(rapidjson::Document().Parse(text.c_str()).HasParseError());
  }
}

TEST_F(IrTest, SaysWhatItDescribes) {
  Make(Load("tests/mini/mini.xml", ReadFileFromDisk));
  EXPECT_STREQ(document_["family"].GetString(), "mini");
  EXPECT_STREQ(document_["generation"].GetString(), "m1");
  EXPECT_STREQ(document_["namespace"].GetString(), "m1");
  EXPECT_STREQ(document_["c_prefix"].GetString(), "M1");
  EXPECT_STREQ(document_["unit"].GetString(), "byte");
  EXPECT_STREQ(ContainerNamed("Draw")["role"].GetString(), "draw");
  EXPECT_STREQ(ContainerNamed("Draw")["stream"].GetString(), "draw control");
}

TEST_F(IrTest, LeavesSayOnlyWhatIsNotAsUsual) {
  MakeStruct(R"(<field name="plain" dword="0" bits="3:0" type="uint"/>
    <field name="shift" dword="1" bits="3:0" type="uint" shift="2" max="7" nonzero="true"/>)");
  EXPECT_EQ(shortest_, 7u);  // name, path, bit, width, type, value_type, places
  EXPECT_EQ(Leaf("plain")["shift"].GetUint(), 0u);
  EXPECT_TRUE(Leaf("plain")["max"].IsNull());
  EXPECT_FALSE(Leaf("plain")["nonzero"].GetBool());
  EXPECT_STREQ(Leaf("plain")["access"].GetString(), "none");
  EXPECT_EQ(Leaf("shift")["shift"].GetUint(), 2u);
  EXPECT_STREQ(Leaf("shift")["max"].GetString(), "7");
  EXPECT_TRUE(Leaf("shift")["nonzero"].GetBool());
}

TEST_F(IrTest, PlacesAreWordsAndBits) {
  MakeStruct(R"(<field name="f" dword="0" bits="40:28" type="uint"/>)");
  const Json& places = Leaf("f")["places"];
  ASSERT_EQ(places.Size(), 2u);
  EXPECT_EQ(places[0]["word"].GetUint(), 0u);
  EXPECT_EQ(places[0]["lsb"].GetUint(), 28u);
  EXPECT_EQ(places[0]["from"].GetUint(), 0u);
  EXPECT_EQ(places[0]["width"].GetUint(), 4u);
  EXPECT_EQ(places[1]["word"].GetUint(), 1u);
  EXPECT_EQ(places[1]["lsb"].GetUint(), 0u);
  EXPECT_EQ(places[1]["from"].GetUint(), 4u);
  EXPECT_EQ(places[1]["width"].GetUint(), 9u);
}

TEST_F(IrTest, LeavesComeInBitOrderAndMembersAsWritten) {
  MakeStruct(
      R"(<field name="b" dword="1" bits="0" type="bool"/><field name="a" dword="0" bits="0" type="bool"/>)");
  EXPECT_STREQ(ContainerNamed("A")["leaves"][0]["name"].GetString(), "a");
  EXPECT_STREQ(ContainerNamed("A")["members"][0]["name"].GetString(), "b");
}

TEST_F(IrTest, DefaultsOfEncodedFieldsAreWhatZeroBitsMean) {
  MakeStruct(R"(<field name="plain" dword="0" bits="3:0" type="uint"/>
    <field name="minus" dword="0" bits="7:4" type="uint" minus="1"/>
    <field name="log2" dword="0" bits="11:8" type="uint" log2="true"/>
    <field name="groups" dword="0" bits="15:12" type="uint" groups="8"/>
    <field name="given" dword="0" bits="19:16" type="uint" minus="1" default="7"/>
    <field name="signed" dword="0" bits="23:20" type="int" default="-3"/>
    <field name="bool" dword="0" bits="24" type="bool" default="1"/>
    <field name="fixed" dword="1" bits="7:0" type="u4.4" default="1.5"/>
    <field name="float" dword="2" bits="31:0" type="float"/>)");
  EXPECT_EQ(Default("plain"), "0");
  EXPECT_EQ(Default("minus"), "1");
  EXPECT_EQ(Default("log2"), "1");
  EXPECT_EQ(Default("groups"), "128");
  EXPECT_EQ(Default("given"), "7");
  EXPECT_EQ(Default("signed"), "-3");
  EXPECT_EQ(Default("bool"), "true");
  EXPECT_EQ(Default("fixed"), "1.5f");
  EXPECT_EQ(Default("float"), "0.0f");
}

TEST_F(IrTest, MembersAreAsWideAsTheirValues) {
  MakeStruct(R"(<field name="u32" dword="0" bits="31:0" type="uint"/>
    <field name="shifted" dword="1" bits="27:0" type="uint" shift="7"/>
    <field name="biased" dword="2" bits="31:0" type="uint" minus="1"/>
    <field name="i33" dword="3" bits="31:0" type="int"/>)");
  EXPECT_EQ(Type("u32"), "uint32_t");
  EXPECT_EQ(Type("shifted"), "uint64_t");
  EXPECT_EQ(Type("biased"), "uint64_t");
  EXPECT_EQ(Type("i33"), "int32_t");
}

TEST_F(IrTest, EnumerationsAndStructuresAreTypes) {
  MakeStruct(
      R"(<field name="e" dword="0" bits="3:0" type="My Enum" default="B"/><field name="n" dword="1" bits="31:0" type="N"/>)",
      R"(<enum name="My Enum" prefix="ME"><value name="A" value="1"/><value name="B" value="2" avoid="true"/></enum><struct name="N" dwords="1"><field name="x" dword="0" bits="31:0" type="float"/></struct>)");
  EXPECT_EQ(Type("e"), "My_Enum");
  EXPECT_EQ(Default("e"), "My_Enum::B");
  EXPECT_EQ(Type("n"), "N");
  EXPECT_EQ(Leaf("e")["avoid"][0].GetUint(), 2u);
  EXPECT_STREQ(Leaf("n.x")["path"].GetString(), "n.x");
  EXPECT_EQ(Leaf("n.x")["bit"].GetUint(), 32u);
}

TEST_F(IrTest, ADefaultWithoutNameIsCast) {
  MakeStruct(R"(<field name="e" dword="0" bits="3:0" type="E"/>)",
             R"(<enum name="E"><value name="A" value="1"/></enum>)");
  EXPECT_EQ(Default("e"), "static_cast<E>(0)");
}

TEST_F(IrTest, ForcedFieldsAndLengthsAreNoMembers) {
  Make(LoadBody(
      R"(<packet name="A" dwords="4" length="Len" bias="2"><doc>.</doc><field name="Op" dword="0" bits="31:24" type="uint" forced="0x7a"/>
    <field name="Len" dword="0" bits="7:0" type="uint"/><field name="x" dword="1" bits="31:0" type="uint"/><reserved dword="2" bits="3:0" must="one"/><reserved dword="2" bits="7:4"/></packet>)"));
  const Json& a = ContainerNamed("A");
  EXPECT_EQ(a["members"].Size(), 1u);
  EXPECT_STREQ(a["identify"]["mask"].GetString(), "0xff000000");
  EXPECT_STREQ(a["identify"]["value"].GetString(), "0x7a000000");
  EXPECT_EQ(a["length"]["bias"].GetUint(), 2u);
  EXPECT_EQ(a["length"]["unit_bytes"].GetUint(), 4u);
  EXPECT_EQ(a["c_length"].GetUint(), 4u);
  EXPECT_STREQ(a["forced_words"][1]["mask"].GetString(), "0xf");
  EXPECT_STREQ(a["forced_words"][1]["value"].GetString(), "0xf");
  EXPECT_STREQ(a["zero_words"][0]["mask"].GetString(), "0xf0");
  // C drivers set opcodes themselves.
  EXPECT_STREQ(In(a["c_members"], "id", "Op")["default"].GetString(), "122");
  EXPECT_STREQ(In(a["c_members"], "id", "Len")["default"].GetString(), "2");
}

TEST_F(IrTest, LengthsOfByteRecordsCountBytes) {
  Make(LoadBody(
      R"(<packet name="A" bytes="6" length="Len" bias="1"><doc>.</doc><field name="Op" dword="0" bits="7:0" type="uint" forced="1"/><field name="Len" dword="0" bits="15:8" type="uint"/></packet>)"));
  EXPECT_EQ(ContainerNamed("A")["length"]["unit_bytes"].GetUint(), 1u);
  EXPECT_STREQ(In(ContainerNamed("A")["c_members"], "id", "Len")["default"].GetString(), "5");
}

TEST_F(IrTest, SmallGroupsAreWrittenOutAndLargeOnesAreLoops) {
  MakeStruct(
      R"(<group count="4" dword="0" size="8"><field name="small" dword="0" bits="7:0" type="uint"/></group>
    <group name="large" count="24" dword="1" size="4"><field name="x" dword="0" bits="3:0" type="uint"/></group>)");
  EXPECT_STREQ(Leaf("small[3]")["path"].GetString(), "small[3]");
  EXPECT_EQ(Member("small")["dims"][0].GetUint(), 4u);
  const Json& loop = ContainerNamed("A")["loops"][0];
  EXPECT_EQ(loop["count"].GetUint(), 24u);
  EXPECT_EQ(loop["stride"].GetUint(), 4u);
  EXPECT_EQ(loop["bit"].GetUint(), 32u);
  EXPECT_STREQ(loop["leaves"][0]["path"].GetString(), "large[i0].x");
}

TEST_F(IrTest, RangesAndRequirementsReachTheLeaf) {
  MakeStruct(
      R"(<field name="u" dword="0" bits="7:0" type="uint" min="2" max="9" multiple="2" nonzero="true"/>
    <field name="r" dword="1" bits="9:0" type="u4.6" max="14.0"/>
    <field name="i" dword="2" bits="7:0" type="int" min="-4"/>
    <field name="p" dword="2" bits="15:8" type="uint" nonzero="packing"/>
    <field name="a" dword="3" bits="31:4" type="address"><points to="d" access="readwrite"/></field>)",
      "<data name=\"d\"/>");
  EXPECT_STREQ(Leaf("u")["min"].GetString(), "2");
  EXPECT_STREQ(Leaf("u")["max"].GetString(), "9");
  EXPECT_EQ(Leaf("u")["multiple"].GetUint(), 2u);
  EXPECT_TRUE(Leaf("u")["nonzero"].GetBool());
  // Code that packs refuses it, whoever else does.
  EXPECT_TRUE(Leaf("p")["nonzero"].GetBool());
  EXPECT_FALSE(Leaf("i")["nonzero"].GetBool());
  EXPECT_STREQ(Leaf("r")["max"].GetString(), "14.0");
  EXPECT_TRUE(Leaf("r")["min"].IsNull());
  EXPECT_STREQ(Leaf("i")["min"].GetString(), "-4");
  EXPECT_STREQ(Leaf("a")["access"].GetString(), "readwrite");
  EXPECT_EQ(Leaf("a")["shift"].GetUint(), 4u);
}

TEST_F(IrTest, ListedValuesAreConstants) {
  MakeStruct(
      R"(<field name="Mode" dword="0" bits="7:0" type="uint" prefix="MODE"><value name="8 wide" value="8"><doc>Eight.</doc></value></field>)");
  const Json& constant = ContainerNamed("A")["constants"][0];
  EXPECT_STREQ(constant["cpp"].GetString(), "MODE_8_WIDE");
  EXPECT_EQ(constant["value"].GetUint(), 8u);
  EXPECT_STREQ(constant["doc"].GetString(), "Eight.");
  EXPECT_STREQ(ContainerNamed("A")["c_values"][0]["c"].GetString(), "MODE_8wide");
}

TEST_F(IrTest, PartsAndVariantsSayWhen) {
  Make(Load("tests/mini/mini.xml", ReadFileFromDisk));
  const Json& header = ContainerNamed("State Header");
  const Json& viewport = In(header["parts"], "name", "Viewport");
  EXPECT_STREQ(viewport["struct"].GetString(), "Viewport");
  EXPECT_EQ(viewport["bytes"].GetUint(), 16u);
  EXPECT_STREQ(viewport["repeat"]["path"].GetString(), "viewport_count");
  EXPECT_STREQ(viewport["when"][0][0]["path"].GetString(), "viewports_present");
  EXPECT_STREQ(viewport["when"][0][0]["op"].GetString(), "ne");
  EXPECT_TRUE(In(header["parts"], "name", "Raster")["repeat"].IsNull());
  const Json& barrier = ContainerNamed("Compute Barrier");
  EXPECT_EQ(barrier["bytes"].GetUint(), 4u);
  EXPECT_EQ(barrier["max_bytes"].GetUint(), 12u);
  EXPECT_EQ(barrier["variants"][0]["bytes"].GetUint(), 12u);
  EXPECT_EQ(In(barrier["leaves"], "name", "Timestamp")["present_bytes"].GetUint(), 12u);
}

TEST_F(IrTest, TailsNameTheirItem) {
  Make(Load("tests/mini/mini.xml", ReadFileFromDisk));
  const Json& tail = ContainerNamed("Input Table")["tail"];
  EXPECT_STREQ(tail["struct"].GetString(), "Input_Binding");
  EXPECT_EQ(tail["start_bit"].GetUint(), 32u);
  EXPECT_EQ(tail["item_bytes"].GetUint(), 4u);
  MakeStruct(
      "",
      R"(<struct name="T" dwords="1"><group name="entries" count="tail" dword="1" size="64"><field name="x" dword="1" bits="31:0" type="uint"/></group></struct>)");
  const Json& own = ContainerNamed("T")["tail"];
  EXPECT_TRUE(own["struct"].IsNull());
  EXPECT_STREQ(own["id"].GetString(), "entries");
  EXPECT_EQ(own["item"]["bytes"].GetUint(), 8u);
  EXPECT_STREQ(own["item"]["leaves"][0]["path"].GetString(), "x");
}

TEST_F(IrTest, WordsWithQuotesAndOtherAlphabetsStayWhole) {
  MakeStruct("<doc>\"a\\b\" – größer &lt; √</doc>");
  EXPECT_STREQ(ContainerNamed("A")["doc"].GetString(), "\"a\\b\" – größer < √");
}

}  // namespace
}  // namespace packsmith::model
