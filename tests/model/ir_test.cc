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
    for (Json& c : document_["containers"].GetArray()) Complete(c["items"]);
  }
  // Adds what fields leave out because most have it so.
  void Complete(Json& items) {
    const Json& usual = document_["usual_item"];
    for (Json& item : items.GetArray()) {
      if (item.HasMember("items")) Complete(item["items"]);
      if (item.HasMember("kind")) continue;
      shortest_ = std::min<size_t>(shortest_, item.MemberCount());
      for (rapidjson::SizeType i = 0; i < usual.MemberCount(); ++i) {
        const auto& [key, value] = usual.MemberBegin()[static_cast<int>(i)];
        if (item.HasMember(key)) continue;
        item.AddMember(Json(key, document_.GetAllocator()), Json(value, document_.GetAllocator()),
                       document_.GetAllocator());
      }
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
  const Json& Item(const std::string& name) const {
    return In(ContainerNamed("A")["items"], "name", name);
  }

  rapidjson::Document document_;
  size_t shortest_ = 0;  // members of the field that says least
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

TEST_F(IrTest, FieldsSayOnlyWhatIsNotAsUsual) {
  MakeStruct(R"(<field name="plain" dword="0" bits="3:0" type="uint"/>
    <field name="shift" dword="1" bits="3:0" type="uint" shift="2" max="7" nonzero="true"/>)");
  EXPECT_EQ(shortest_, 6u);  // name, bit, width, cpp, c, type
  EXPECT_EQ(Item("plain")["shift"].GetUint(), 0u);
  EXPECT_TRUE(Item("plain")["max"].IsNull());
  EXPECT_TRUE(Item("plain")["default"].IsNull());
  EXPECT_FALSE(Item("plain")["nonzero"].GetBool());
  EXPECT_STREQ(Item("plain")["access"].GetString(), "none");
  EXPECT_EQ(Item("shift")["shift"].GetUint(), 2u);
  EXPECT_STREQ(Item("shift")["max"].GetString(), "7");
  EXPECT_TRUE(Item("shift")["nonzero"].GetBool());
}

TEST_F(IrTest, ItemsAreInTheOrderOfTheDescription) {
  MakeStruct(
      R"(<field name="b" dword="2" bits="0" type="bool"/><field name="a" dword="0" bits="40:28" type="uint"/>)");
  const Json& items = ContainerNamed("A")["items"];
  EXPECT_STREQ(items[0]["name"].GetString(), "b");
  EXPECT_STREQ(items[1]["name"].GetString(), "a");
  EXPECT_EQ(items[1]["bit"].GetUint(), 28u);
  EXPECT_EQ(items[1]["width"].GetUint(), 13u);
}

TEST_F(IrTest, DefaultsAreExactNumbers) {
  MakeStruct(R"(<field name="none" dword="0" bits="7:4" type="uint" minus="1"/>
    <field name="given" dword="0" bits="19:16" type="uint" minus="1" default="7"/>
    <field name="signed" dword="0" bits="23:20" type="int" default="-3"/>
    <field name="bool" dword="0" bits="24" type="bool" default="true"/>
    <field name="fixed" dword="1" bits="7:0" type="u4.4" default="1.5"/>
    <field name="large" dword="2" bits="63:0" type="uint" default="0xffffffffffffffff"/>)");
  EXPECT_TRUE(Item("none")["default"].IsNull());
  EXPECT_STREQ(Item("given")["default"].GetString(), "7");
  EXPECT_STREQ(Item("signed")["default"].GetString(), "-3");
  EXPECT_STREQ(Item("bool")["default"].GetString(), "1");
  EXPECT_STREQ(Item("fixed")["default"].GetString(), "1.5");
  EXPECT_EQ(Item("fixed")["frac"].GetUint(), 4u);
  EXPECT_STREQ(Item("large")["default"].GetString(), "18446744073709551615");
}

TEST_F(IrTest, TypesAreKindsAndNamesOfTheDescription) {
  MakeStruct(
      R"(<field name="e" dword="0" bits="3:0" type="My Enum" default="B"/><field name="n" dword="1" bits="31:0" type="N"/>)",
      R"(<enum name="My Enum" prefix="ME"><value name="A" value="1"/><value name="B" value="2" avoid="true"/></enum><struct name="N" dwords="1"><field name="x" dword="0" bits="31:0" type="float"/></struct>)");
  EXPECT_STREQ(Item("e")["type"].GetString(), "enum");
  EXPECT_STREQ(Item("e")["of"].GetString(), "My Enum");
  EXPECT_STREQ(Item("e")["default"].GetString(), "2");
  EXPECT_EQ(Item("e")["avoid"][0].GetUint(), 2u);
  EXPECT_STREQ(Item("n")["type"].GetString(), "struct");
  EXPECT_STREQ(Item("n")["of"].GetString(), "N");
  EXPECT_STREQ(document_["enums"][0]["cpp"].GetString(), "My_Enum");
}

// Types, literals and expressions are chosen by those who print them.
TEST_F(IrTest, SpeaksNoLanguage) {
  for (const char* path : {"tests/mini/mini.xml", "xml/intel/gfx9.xml"}) {
    const LoadResult result = Load(path, ReadFileFromDisk);
    ASSERT_FALSE(result.diagnostics.has_errors()) << FormatAll(result.diagnostics, result.sources);
    const std::string text = WriteIr(result.model, result.sources);
    for (const char* word :
         {"uint32_t", "uint64_t", "int32_t", "static_cast", "__gen", "\"true\""}) {
      EXPECT_EQ(text.find(word), std::string::npos) << path << ": " << word;
    }
  }
}

TEST_F(IrTest, ForcedFieldsAndLengthsAreMarked) {
  Make(LoadBody(
      R"(<packet name="A" dwords="4" length="Len" bias="2"><doc>.</doc><field name="Op" dword="0" bits="31:24" type="uint" forced="0x7a"/>
    <field name="Len" dword="0" bits="7:0" type="uint"/><field name="x" dword="1" bits="31:0" type="uint"/><reserved name="r" dword="2" bits="3:0" must="one"/><reserved dword="2" bits="7:4"/></packet>)"));
  const Json& a = ContainerNamed("A");
  EXPECT_STREQ(a["identify"]["mask"].GetString(), "0xff000000");
  EXPECT_STREQ(a["identify"]["value"].GetString(), "0x7a000000");
  EXPECT_EQ(a["length"]["bias"].GetUint(), 2u);
  EXPECT_EQ(a["length"]["unit_bytes"].GetUint(), 4u);
  EXPECT_STREQ(Item("Op")["forced"].GetString(), "0x7a");
  EXPECT_TRUE(Item("Len")["is_length"].GetBool());
  EXPECT_FALSE(Item("x")["is_length"].GetBool());
  EXPECT_STREQ(Item("r")["kind"].GetString(), "reserved");
  EXPECT_EQ(Item("r")["must"].GetUint(), 1u);
  EXPECT_EQ(Item("")["must"].GetUint(), 0u);
}

TEST_F(IrTest, LengthsOfByteRecordsCountBytes) {
  Make(LoadBody(
      R"(<packet name="A" bytes="6" length="Len" bias="1"><doc>.</doc><field name="Op" dword="0" bits="7:0" type="uint" forced="1"/><field name="Len" dword="0" bits="15:8" type="uint"/></packet>)"));
  EXPECT_EQ(ContainerNamed("A")["length"]["unit_bytes"].GetUint(), 1u);
}

TEST_F(IrTest, GroupsHoldTheirItems) {
  MakeStruct(
      R"(<group name="large" count="24" dword="1" size="4"><field name="x" dword="0" bits="3:0" type="uint"/></group>)");
  const Json& group = Item("large");
  EXPECT_STREQ(group["kind"].GetString(), "group");
  EXPECT_EQ(group["count"].GetUint(), 24u);
  EXPECT_EQ(group["bit"].GetUint(), 32u);
  EXPECT_EQ(group["width"].GetUint(), 4u);
  EXPECT_FALSE(group["tail"].GetBool());
  EXPECT_STREQ(group["items"][0]["name"].GetString(), "x");
}

TEST_F(IrTest, RangesAndRequirementsReachTheField) {
  MakeStruct(
      R"(<field name="u" dword="0" bits="7:0" type="uint" min="2" max="9" multiple="2" nonzero="true"/>
    <field name="r" dword="1" bits="9:0" type="u4.6" max="14.0"/>
    <field name="i" dword="2" bits="7:0" type="int" min="-4"/>
    <field name="p" dword="2" bits="15:8" type="uint" nonzero="packing"/>
    <field name="a" dword="3" bits="31:4" type="address"><points to="d" access="readwrite"/></field>)",
      "<data name=\"d\"/>");
  EXPECT_STREQ(Item("u")["min"].GetString(), "2");
  EXPECT_STREQ(Item("u")["max"].GetString(), "9");
  EXPECT_EQ(Item("u")["multiple"].GetUint(), 2u);
  EXPECT_TRUE(Item("u")["nonzero"].GetBool());
  // Code that packs refuses it, whether or not the hardware does.
  EXPECT_TRUE(Item("p")["nonzero"].GetBool());
  EXPECT_FALSE(Item("i")["nonzero"].GetBool());
  EXPECT_STREQ(Item("r")["max"].GetString(), "14.0");
  EXPECT_TRUE(Item("r")["min"].IsNull());
  EXPECT_STREQ(Item("i")["min"].GetString(), "-4");
  EXPECT_STREQ(Item("a")["access"].GetString(), "readwrite");
  EXPECT_EQ(Item("a")["shift"].GetUint(), 4u);
}

TEST_F(IrTest, ListedValuesAreWithTheirField) {
  MakeStruct(
      R"(<field name="Mode" dword="0" bits="7:0" type="uint" prefix="MODE"><value name="8 wide" value="8"><doc>Eight.</doc></value></field>)");
  const Json& value = Item("Mode")["values"][0];
  EXPECT_STREQ(value["name"].GetString(), "8 wide");
  EXPECT_STREQ(value["cpp"].GetString(), "MODE_8_WIDE");
  EXPECT_STREQ(value["c"].GetString(), "MODE_8wide");
  EXPECT_EQ(value["value"].GetUint(), 8u);
  EXPECT_STREQ(value["doc"].GetString(), "Eight.");
}

TEST_F(IrTest, WhatPublishedTablesSayIsInC) {
  Make(LoadBody(
      R"(<packet name="A" dwords="2" c-dwords="3"><doc>.</doc><field name="Op" dword="0" bits="31:24" type="uint" forced="1" c-default="none"/>
    <field name="o" dword="1" bits="31:4" type="offset" c-type="uint" c-bits="30"/><field name="x" dword="0" bits="7:0" type="uint"/></packet>)"));
  EXPECT_EQ(ContainerNamed("A")["in_c"]["dwords"].GetUint(), 3u);
  EXPECT_FALSE(ContainerNamed("A")["in_c"].HasMember("offset"));
  EXPECT_TRUE(Item("Op")["in_c"]["has_no_default"].GetBool());
  EXPECT_TRUE(Item("o")["in_c"]["is_uint"].GetBool());
  EXPECT_EQ(Item("o")["in_c"]["bits"].GetUint(), 30u);
  EXPECT_EQ(Item("x")["in_c"].MemberCount(), 0u);
}

TEST_F(IrTest, PartsAndVariantsSayWhen) {
  Make(Load("tests/mini/mini.xml", ReadFileFromDisk));
  const Json& header = ContainerNamed("State Header");
  const Json& viewport = In(header["parts"], "name", "Viewport");
  EXPECT_STREQ(viewport["struct"].GetString(), "Viewport");
  EXPECT_STREQ(viewport["repeat"]["field"]["cpp"].GetString(), "viewport_count");
  EXPECT_STREQ(viewport["when"][0][0]["cpp"].GetString(), "viewports_present");
  EXPECT_STREQ(viewport["when"][0][0]["op"].GetString(), "ne");
  EXPECT_TRUE(In(header["parts"], "name", "Raster")["repeat"].IsNull());
  const Json& barrier = ContainerNamed("Compute Barrier");
  EXPECT_EQ(barrier["bytes"].GetUint(), 4u);
  EXPECT_EQ(barrier["max_bytes"].GetUint(), 12u);
  EXPECT_EQ(barrier["variants"][0]["bytes"].GetUint(), 12u);
}

TEST_F(IrTest, TailsAreGroups) {
  Make(Load("tests/mini/mini.xml", ReadFileFromDisk));
  const Json& items = ContainerNamed("Input Table")["items"];
  const Json& tail = items[items.Size() - 1];
  EXPECT_TRUE(tail["tail"].GetBool());
  EXPECT_EQ(tail["bit"].GetUint(), 32u);
  EXPECT_EQ(tail["width"].GetUint(), 32u);
}

TEST_F(IrTest, WordsWithQuotesAndOtherAlphabetsStayWhole) {
  MakeStruct("<doc>\"a\\b\" – größer &lt; √</doc>");
  EXPECT_STREQ(ContainerNamed("A")["doc"].GetString(), "\"a\\b\" – größer < √");
}

}  // namespace
}  // namespace packsmith::model
