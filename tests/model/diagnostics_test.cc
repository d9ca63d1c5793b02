// Every numbered problem: where it is found, how it is said, how it is printed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gen/model/diagnostic.h"
#include "gen/model/load.h"
#include "tests/model/marked_text.h"

namespace packsmith::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Case {
  const char* name;
  Code code;
  Files files;
  std::string text;                // of the problem
  std::vector<std::string> notes;  // their texts
};

void PrintTo(const Case& c, std::ostream* out) { *out << CodeName(c.code) << " " << c.name; }

// One body in the usual root.
Case In(const char* name, Code code, const std::string& body, std::string text,
        std::vector<std::string> notes = {}) {
  return {name, code, {{"main.xml", Described(body)}}, std::move(text), std::move(notes)};
}

// One field in a struct of `dwords`.
Case Field(const char* name, Code code, const std::string& field, std::string text,
           std::vector<std::string> notes = {}) {
  return In(name, code, absl::StrCat("<struct name=\"A\" dwords=\"4\">\n  ", field, "\n</struct>"),
            std::move(text), std::move(notes));
}

// Something in a packet that is complete without it.
Case Packet(const char* name, Code code, const std::string& inside, std::string text,
            std::vector<std::string> notes = {}) {
  return In(
      name, code,
      absl::StrCat(
          R"(<struct name="S" dwords="1"><field name="V" dword="0" bits="31:0" type="uint"/></struct>
<struct name="Open" dwords="1"><group count="tail" dword="1" size="32"><field name="V" dword="0" bits="31:0" type="uint"/></group></struct>
<packet name="P" dwords="4"><doc>.</doc>
  <field name="Op" dword="0" bits="31:24" type="uint" forced="1"/>
  <field name="Flag" dword="0" bits="0" type="bool"/>
  <field name="Mode" dword="0" bits="3:1" type="uint"><value name="On" value="1"/></field>
  <field name="Biased" dword="0" bits="7:4" type="uint" minus="1"/>
  <field name="Real" dword="1" bits="31:0" type="float"/>
  )",
          inside, "\n</packet>"),
      std::move(text), std::move(notes));
}

std::string ManyPackets() {
  std::string body;
  for (int i = 0; i < 65; ++i) {
    // 65 masks: two bits set, of 12.
    static const std::vector<std::pair<int, int>> pairs = [] {
      std::vector<std::pair<int, int>> all;
      for (int a = 0; a < 12; ++a) {
        for (int b = 0; b < a; ++b) all.emplace_back(a, b);
      }
      return all;
    }();
    absl::StrAppend(&body, i == 0 ? "§" : "", "<packet name=\"P", i,
                    "\" dwords=\"1\"><doc>.</doc><field name=\"a\" dword=\"0\" bits=\"",
                    pairs[static_cast<size_t>(i)].first,
                    "\" type=\"uint\" forced=\"1\"/><field name=\"b\" dword=\"0\" bits=\"",
                    pairs[static_cast<size_t>(i)].second,
                    "\" type=\"uint\" forced=\"1\"/></packet>\n");
  }
  return body;
}

std::string NestedStructs(int depth) {
  std::string body;
  for (int i = 0; i < depth; ++i) {
    absl::StrAppend(&body, "<struct name=\"S", i, "\" dwords=\"1\">", i == 16 ? "§" : "",
                    "<field name=\"f\" dword=\"0\" bits=\"31:0\" type=\"",
                    i + 1 < depth ? absl::StrCat("S", i + 1) : "uint", "\"/></struct>\n");
  }
  return body;
}

std::string ManyEngines() {
  std::string body;
  for (int i = 0; i < 65; ++i) {
    absl::StrAppend(&body, i == 64 ? "§" : "", "<engine name=\"e", i, "\"/>\n");
  }
  return body;
}

// Whole fields of a struct of one dword, for the checks of the language's finer points.
const std::vector<Case>& Cases() {
  static const std::vector<Case>& cases = *new std::vector<Case>{
      // --- E001: the text.
      {"NotXml",
       Code::kMalformedXml,
       {{"main.xml", "<packsmith family=\"f\" generation=\"g\">\n  <doc>\n</§packsmith>\n"}},
       "not well-formed XML: Start-end tags mismatch",
       {}},
      {"TwoRoots",
       Code::kMalformedXml,
       {{"main.xml",
         "<packsmith family=\"f\" generation=\"g\"/>\n§<packsmith family=\"f\" "
         "generation=\"h\"/>\n"}},
       "not well-formed XML: a second root element",
       {}},
      {"TextBehindTheRoot",
       Code::kMalformedXml,
       {{"main.xml", "§<packsmith family=\"f\" generation=\"g\"/>\njunk\n"}},
       "not well-formed XML: text outside the root element",
       {}},
      {"NotUtf8",
       Code::kMalformedXml,
       {{"main.xml", "<packsmith family=\"f\"\n  title=\"§\xff\" generation=\"g\"/>\n"}},
       "not well-formed XML: invalid UTF-8 or a forbidden character",
       {}},
      {"OverlongUtf8",
       Code::kMalformedXml,
       {{"main.xml", "<packsmith family=\"f\"\n  title=\"§\xc0\xaf\" generation=\"g\"/>\n"}},
       "not well-formed XML: invalid UTF-8 or a forbidden character",
       {}},
      {"Surrogate",
       Code::kMalformedXml,
       {{"main.xml", "<packsmith family=\"f\"\n  title=\"§\xed\xa0\x80\" generation=\"g\"/>\n"}},
       "not well-formed XML: invalid UTF-8 or a forbidden character",
       {}},
      {"CutCharacter",
       Code::kMalformedXml,
       {{"main.xml", "<packsmith family=\"f\" generation=\"g\"/>\n§\xe2\x82"}},
       "not well-formed XML: invalid UTF-8 or a forbidden character",
       {}},
      {"ControlCharacter",
       Code::kMalformedXml,
       {{"main.xml", "<packsmith family=\"f\"\n  title=\"§\x01\" generation=\"g\"/>\n"}},
       "not well-formed XML: invalid UTF-8 or a forbidden character",
       {}},
      In("ControlCharacterAsReference", Code::kMalformedXml, "<data §name=\"a&#1;b\"/>",
         "the value of \"name\" holds a character that XML forbids"),
      In("AttributeTwice", Code::kMalformedXml, "<data §name=\"a\" name=\"b\"/>",
         "<data> has the attribute \"name\" twice"),
      {"Empty",
       Code::kMalformedXml,
       {{"main.xml", "§"}},
       "not well-formed XML: no root element",
       {}},

      // --- E002: elements.
      In("UnknownElement", Code::kUnknownElement, "  §<sampler name=\"x\"/>",
         "<packsmith> cannot hold <sampler>"),
      {"WrongRoot",
       Code::kUnknownElement,
       {{"main.xml", "<?xml version=\"1.0\"?>\n§<genxml/>\n"}},
       "the root element must be <packsmith>, not <genxml>",
       {}},
      Field("UnknownInsideField", Code::kUnknownElement,
            "<field name=\"f\" dword=\"0\" bits=\"0\" type=\"bool\">§<help/></field>",
            "<field> cannot hold <help>"),
      Field("TextInsideField", Code::kUnknownElement,
            "§<field name=\"f\" dword=\"0\" bits=\"0\" type=\"bool\">Enables it.</field>",
            "<field> cannot hold text; put it into <doc>"),
      Field("ElementInsideDoc", Code::kUnknownElement, "<doc>Very §<b>important</b>.</doc>",
            "<doc> cannot hold <b>"),
      Field("InsideReserved", Code::kUnknownElement,
            "<reserved dword=\"0\" bits=\"0\">§<value name=\"x\" value=\"1\"/></reserved>",
            "<reserved> cannot hold <value>"),
      Packet("InsideVariant", Code::kUnknownElement,
             "<variant dwords=\"5\" when=\"Flag\">§<field/></variant>",
             "<variant> cannot hold <field>"),
      Packet("InsideFlow", Code::kUnknownElement, "<flow kind=\"end\">§<when/></flow>",
             "<flow> cannot hold <when>"),
      Packet("RemoveWithoutAncestor", Code::kUnknownElement, "§<remove field=\"Flag\"/>",
             "<packet> cannot hold <remove>"),
      In("InsideSpace", Code::kUnknownElement,
         "<space name=\"a\" number=\"0\">§<base name=\"b\"/></space>",
         "<space> cannot hold <base>"),

      In("InsideWorkaround", Code::kUnknownElement,
         "<workaround number=\"1\">§<field/></workaround>", "<workaround> cannot hold <field>"),

      // --- E003: attributes.
      In("UnknownAttribute", Code::kUnknownAttribute, "<data name=\"d\" §colour=\"red\"/>",
         "<data> has no attribute \"colour\"; it may have name, components, code, client"),
      In("StructWithLength", Code::kUnknownAttribute,
         "<struct name=\"A\" dwords=\"1\"\n   §length=\"L\"/>",
         "<struct> has no attribute \"length\"; it may have name, alias, dwords, bytes, "
         "c-dwords, like, amend"),
      In("DocWithAttribute", Code::kUnknownAttribute, "<doc §lang=\"en\">x</doc>",
         "<doc> has no attribute \"lang\"; it may have none"),

      // --- E004: attributes that are missing.
      {"NoFamily",
       Code::kMissingAttribute,
       {{"main.xml", "§<packsmith generation=\"g\"/>\n"}},
       "<packsmith> needs family=\"…\"",
       {}},
      {"NoGeneration",
       Code::kMissingAttribute,
       {{"main.xml", "§<packsmith family=\"f\"/>\n"}},
       "<packsmith> needs generation=\"…\"",
       {}},
      Field("NoType", Code::kMissingAttribute, "§<field name=\"f\" dword=\"0\" bits=\"0\"/>",
            "<field> needs type=\"…\""),
      Field("NoBits", Code::kMissingAttribute, "§<field name=\"f\" dword=\"0\" type=\"bool\"/>",
            "<field> needs bits=\"…\""),
      Field("EmptyName", Code::kMissingAttribute,
            "§<field name=\"\" dword=\"0\" bits=\"0\" type=\"bool\"/>", "<field> needs name=\"…\""),
      In("NoSize", Code::kMissingAttribute,
         "§<struct name=\"A\"><field name=\"f\" dword=\"0\" bits=\"0\" type=\"bool\"/></struct>",
         "<struct> needs dwords=\"…\" or bytes=\"…\""),
      In("RegisterWithoutOffset", Code::kMissingAttribute, "§<register name=\"R\" dwords=\"1\"/>",
         "<register> needs offset=\"…\""),
      In("SpaceWithoutNumber", Code::kMissingAttribute, "§<space name=\"a\"/>",
         "<space> needs number=\"…\""),
      Packet("RelationWithoutKind", Code::kMissingAttribute, "§<relation packet=\"P\"/>",
             "<relation> needs kind=\"…\""),
      Packet("SpaceWhenWithoutSpace", Code::kMissingAttribute,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\">§<points to=\"S\" "
             "space-when=\"Flag\"/></field>",
             "space-when=\"…\" needs space=\"…\""),
      Packet("UnlimitedWithoutCount", Code::kMissingAttribute,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\">§<points to=\"d\" "
             "unlimited-when=\"!Mode\"/></field></packet><data name=\"d\"/><packet name=\"Q\" "
             "dwords=\"1\"><doc>.</doc><field name=\"Op\" dword=\"0\" bits=\"31:24\" type=\"uint\" "
             "forced=\"2\"/>",
             "unlimited-when=\"…\" needs count=\"…\""),

      // --- E005: numbers and words.
      Field("NoNumber", Code::kBadNumber,
            "<field name=\"f\" §dword=\"two\" bits=\"0\" type=\"bool\"/>",
            "dword=\"two\" must be a number, in decimal or in hexadecimal as 0x…"),
      Field("NegativeNumber", Code::kBadNumber,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" §minus=\"-1\"/>",
            "minus=\"-1\" must be a number, in decimal or in hexadecimal as 0x…"),
      Field("LargeNumber", Code::kBadNumber,
            "<field name=\"f\" §dword=\"99999\" bits=\"0\" type=\"bool\"/>",
            "dword=\"99999\" is more than 16384"),
      Field("NoFlag", Code::kBadNumber,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" §overlap=\"yes\"/>",
            "overlap=\"yes\" must be true or false"),
      Field("NobodyWhoRefusesZero", Code::kBadNumber,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" §nonzero=\"yes\"/>",
            "nonzero=\"yes\" must be one of false, packing, true"),
      Field("NoDefault", Code::kBadNumber,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" §default=\"many\"/>",
            "default=\"many\" is neither a number nor one of the values"),
      Field("NoRealDefault", Code::kBadNumber,
            "<field name=\"f\" dword=\"0\" bits=\"31:0\" type=\"float\" §default=\"inf\"/>",
            "default=\"inf\" must be a number"),
      Field("NoMinimum", Code::kBadNumber,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" §min=\"0.5\"/>",
            "min=\"0.5\" must be a number"),
      Packet("NoFlowKind", Code::kBadNumber, "<flow §kind=\"loop\"/>",
             "kind=\"loop\" must be one of jump, call, return, end, terminate"),
      In("OddBytes", Code::kBadNumber, "<struct name=\"A\" §bytes=\"3\"/>",
         "a container has at least two bytes, and a whole number of pairs of bytes"),
      In("NoDwords", Code::kBadNumber, "<struct name=\"A\" §dwords=\"0\"/>",
         "a container has at least two bytes, and a whole number of pairs of bytes"),
      In("AlignedToNothing", Code::kBadNumber, "<stream name=\"t\" §align=\"0\"/>",
         "a stream cannot be aligned to 0 bytes"),

      // --- E006: bits.
      Field("BackwardBits", Code::kBadBits,
            "<field name=\"f\" dword=\"0\" §bits=\"0:7\" type=\"uint\"/>",
            "bits=\"0:7\" must be \"high:low\" or one bit, counted from the dword's start"),
      Field("ThreeBits", Code::kBadBits,
            "<field name=\"f\" dword=\"0\" §bits=\"7:4:0\" type=\"uint\"/>",
            "bits=\"7:4:0\" must be \"high:low\" or one bit, counted from the dword's start"),
      Field("SignedBits", Code::kBadBits,
            "<field name=\"f\" dword=\"0\" §bits=\"+7:0\" type=\"uint\"/>",
            "bits=\"+7:0\" must be \"high:low\" or one bit, counted from the dword's start"),

      // --- E007: types that do not go together.
      Field("PointsFromUint", Code::kBadType,
            "<field name=\"f\" dword=\"0\" bits=\"31:0\" type=\"uint\">§<points to=\"A\"/></field>",
            "only an address or offset points to something"),
      In("BaseFromUint", Code::kBadType,
         "<base name=\"b\"/><struct name=\"A\" dwords=\"1\">\n§<field name=\"f\" dword=\"0\" "
         "bits=\"31:0\" type=\"uint\"><sets base=\"b\"/></field></struct>",
         "only an address or offset can be a base"),
      Packet("NestedTail", Code::kBadType,
             "<field name=\"n\" dword=\"2\" bits=\"31:0\" §type=\"Open\"/>",
             "\"Open\" has no fixed size, so it cannot be nested"),
      Field("HighOfUint", Code::kBadType,
            "<field name=\"h\" dword=\"0\" bits=\"7:0\" type=\"uint\"/><field name=\"f\" "
            "dword=\"1\" bits=\"31:0\" type=\"uint\" §high=\"h\"/>",
            "only an address or offset continues in another field"),

      // --- E008: types that nobody declared.
      Field("UnknownType", Code::kUnknownType,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" §type=\"Colour\"/>",
            "there is no type, enumeration or structure \"Colour\""),
      Packet("PacketAsType", Code::kUnknownType,
             "<field name=\"f\" dword=\"2\" bits=\"31:0\" §type=\"P\"/>",
             "there is no type, enumeration or structure \"P\""),

      // --- E009: names given twice.
      In("ContainerTwice", Code::kDuplicateName,
         "¤<struct name=\"A\" dwords=\"1\"/>\n§<struct name=\"A\" dwords=\"2\"/>",
         "there are two containers with the name \"A\"", {"the first is here"}),
      In("ValueNameTwice", Code::kDuplicateName,
         "<struct name=\"A\" dwords=\"1\"><field name=\"f\" dword=\"0\" bits=\"7:0\" "
         "type=\"uint\">\n"
         "¤<value name=\"X\" value=\"1\"/>\n§<value name=\"X\" value=\"2\"/></field></struct>",
         "there are two values with the name \"X\"", {"the first is here"}),
      In("EngineTwice", Code::kDuplicateName, "¤<engine name=\"e\"/>\n§<engine name=\"e\"/>",
         "there are two engines with the name \"e\"", {"the first is here"}),
      In("EngineAliasTwice", Code::kDuplicateName,
         "¤<engine name=\"e\"/>\n<engine name=\"g\" §aliases=\"0 e\"/>",
         "there are two things named \"e\"", {"the first is here"}),
      In("EnumAndStruct", Code::kDuplicateName,
         "¤<enum name=\"A\"><value name=\"X\" value=\"0\"/></enum>\n§<struct name=\"A\" "
         "dwords=\"1\"><field name=\"f\" dword=\"0\" bits=\"0\" type=\"A\"/></struct>",
         "there are two things named \"A\"", {"the first is here"}),
      In("DataAndStruct", Code::kDuplicateName,
         "¤<data name=\"A\"/>\n§<struct name=\"A\" dwords=\"1\"/>",
         "there are two things named \"A\"", {"the first is here"}),
      In("AliasAndStruct", Code::kDuplicateName,
         "¤<struct name=\"A\" dwords=\"1\"/>\n<struct name=\"B\" §alias=\"A\" dwords=\"1\"/>",
         "there are two things named \"A\"", {"the first is here"}),
      In("SpaceNumberTwice", Code::kDuplicateName,
         "¤<space name=\"a\" number=\"1\"/>\n§<space name=\"b\" number=\"1\"/>",
         "there are two spaces with the number 1", {"the first is here"}),
      Field("FieldTwice", Code::kDuplicateName,
            "¤<field name=\"f\" dword=\"0\" bits=\"0\" type=\"bool\"/>\n  §<field name=\"f\" "
            "dword=\"0\" bits=\"1\" type=\"bool\"/>",
            "\"A\" has two fields \"f\"", {"the first is here"}),

      // --- E010: beyond the end.
      Field("OutsideStruct", Code::kFieldOutsideContainer,
            "§<field name=\"f\" dword=\"3\" bits=\"39:0\" type=\"uint\"/>",
            "\"f\" ends at bit 135, its container has 128 bits"),
      Field("OutsideItem", Code::kFieldOutsideContainer,
            "<group count=\"2\" dword=\"0\" size=\"16\">§<field name=\"f\" dword=\"0\" "
            "bits=\"16:0\" type=\"uint\"/></group>",
            "\"f\" ends at bit 16, its item has 16 bits"),
      Field("GroupOutside", Code::kFieldOutsideContainer,
            "§<group name=\"g\" count=\"5\" dword=\"0\" size=\"32\"><field name=\"f\" dword=\"0\" "
            "bits=\"31:0\" type=\"uint\"/></group>",
            "\"g\" ends at bit 159, its container has 128 bits"),
      Field("ReservedOutside", Code::kFieldOutsideContainer,
            "§<reserved dword=\"4\" bits=\"31:0\"/>",
            "this ends at bit 159, its container has 128 bits"),
      Packet("OutsideLongestVariant", Code::kFieldOutsideContainer,
             "<variant dwords=\"5\" when=\"Flag\"/>§<field name=\"f\" dword=\"5\" bits=\"0\" "
             "type=\"bool\"/>",
             "\"f\" ends at bit 160, its container has 160 bits"),

      // --- E011: overlaps.
      Field("Overlap", Code::kOverlap,
            "¤<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\"/>\n  §<field name=\"g\" "
            "dword=\"0\" bits=\"8:7\" type=\"uint\"/>",
            "\"g\" (bits 8:7) overlaps \"f\" (bits 7:0); overlap=\"true\" says that it is meant",
            {"the other is here"}),
      Field("OverlapOfReserved", Code::kOverlap,
            "¤<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\"/>\n  §<reserved dword=\"0\" "
            "bits=\"31:7\" must=\"zero\"/>",
            "\"\" (bits 31:7) overlaps \"f\" (bits 7:0); overlap=\"true\" says that it is meant",
            {"the other is here"}),
      Field("OverlapOfGroup", Code::kOverlap,
            "<group count=\"4\" dword=\"0\" size=\"8\">¤<field name=\"f\" dword=\"0\" bits=\"7:0\" "
            "type=\"uint\"/></group>\n"
            "  §<field name=\"g\" dword=\"0\" bits=\"16\" type=\"bool\"/>",
            "\"g\" (bits 16:16) overlaps \"f[2]\" (bits 23:16); overlap=\"true\" says that it is "
            "meant",
            {"the other is here"}),
      In("OverlapOfNested", Code::kOverlap,
         "<struct name=\"N\" dwords=\"1\">¤<field name=\"x\" dword=\"0\" bits=\"15:8\" "
         "type=\"uint\"/></struct>\n"
         "<struct name=\"A\" dwords=\"2\"><field name=\"n\" dword=\"1\" bits=\"31:0\" "
         "type=\"N\"/>\n"
         "  §<field name=\"g\" dword=\"1\" bits=\"8\" type=\"bool\"/></struct>",
         "\"g\" (bits 40:40) overlaps \"n.x\" (bits 47:40); overlap=\"true\" says that it is meant",
         {"the other is here"}),

      // --- E012: values that do not fit.
      Field("ForcedTooWide", Code::kValueTooWide,
            "<field name=\"f\" dword=\"0\" bits=\"2:0\" type=\"uint\" §forced=\"8\"/>",
            "forced value 8 does not fit 3 bits"),
      Field("DefaultTooWide", Code::kValueTooWide,
            "<field name=\"f\" dword=\"0\" bits=\"2:0\" type=\"uint\" §default=\"8\"/>",
            "default 8 does not fit 3 bits"),
      Field("BoolDefaultTooWide", Code::kValueTooWide,
            "<field name=\"f\" dword=\"0\" bits=\"0\" type=\"bool\" §default=\"2\"/>",
            "default 2 does not fit 1 bits"),
      Field("SignedDefaultTooWide", Code::kValueTooWide,
            "<field name=\"f\" dword=\"0\" bits=\"3:0\" type=\"int\" §default=\"-9\"/>",
            "default -9 does not fit 4 bits"),
      Field("FixedDefaultTooWide", Code::kValueTooWide,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"s3.4\" §default=\"8\"/>",
            "default 8 does not fit s3.4"),
      Field("HalfDefaultTooWide", Code::kValueTooWide,
            "<field name=\"f\" dword=\"0\" bits=\"15:0\" type=\"half\" §default=\"70000\"/>",
            "default 70000 does not fit half"),
      Field("FloatDefaultTooWide", Code::kValueTooWide,
            "<field name=\"f\" dword=\"0\" bits=\"31:0\" type=\"float\" §default=\"1e39\"/>",
            "default 1e39 does not fit float"),
      Field("DefaultBelowMinus", Code::kValueTooWide,
            "<field name=\"f\" dword=\"0\" bits=\"3:0\" type=\"uint\" minus=\"1\" §default=\"0\"/>",
            "the encoding of \"f\" cannot represent the default 0"),
      Field(
          "DefaultNoPowerOfTwo", Code::kValueTooWide,
          "<field name=\"f\" dword=\"0\" bits=\"3:0\" type=\"uint\" log2=\"true\" §default=\"3\"/>",
          "the encoding of \"f\" cannot represent the default 3"),
      Field(
          "DefaultBelowShift", Code::kValueTooWide,
          "<field name=\"f\" dword=\"0\" bits=\"3:0\" type=\"uint\" shift=\"4\" §default=\"24\"/>",
          "the encoding of \"f\" cannot represent the default 24"),
      Field("ListedValueTooWide", Code::kValueTooWide,
            "<field name=\"f\" dword=\"0\" bits=\"1:0\" type=\"uint\">§<value name=\"X\" "
            "value=\"4\"/></field>",
            "value \"X\" = 4 does not fit the 2 bits of \"f\""),
      In("EnumValueTooWide", Code::kValueTooWide,
         "<enum name=\"E\"><value name=\"X\" value=\"3\"/>\n  ¤<value name=\"Y\" "
         "value=\"4\"/></enum>\n"
         "<struct name=\"A\" dwords=\"1\">§<field name=\"f\" dword=\"0\" bits=\"1:0\" "
         "type=\"E\"/></struct>",
         "\"f\" has 2 bits, value \"Y\" of \"E\" is 4", {"the value is here"}),
      In("EnumValueBeyond32Bits", Code::kValueTooWide,
         "<enum name=\"E\">§<value name=\"X\" value=\"0x100000000\"/></enum>\n"
         "<struct name=\"A\" dwords=\"2\"><field name=\"f\" dword=\"0\" §bits=\"63:0\" "
         "type=\"E\"/></struct>",
         "value \"X\" of \"E\" has more than 32 bits"),

      // --- E013: widths.
      Field("WideBool", Code::kBadWidth,
            "<field name=\"f\" dword=\"0\" §bits=\"1:0\" type=\"bool\"/>",
            "a bool has one bit, \"f\" has 2"),
      Field("ShortFloat", Code::kBadWidth,
            "<field name=\"f\" dword=\"0\" §bits=\"30:0\" type=\"float\"/>",
            "a float has 32 bits, \"f\" has 31"),
      Field("LongHalf", Code::kBadWidth,
            "<field name=\"f\" dword=\"0\" §bits=\"16:0\" type=\"half\"/>",
            "a half has 16 bits, \"f\" has 17"),
      Field("LongUint", Code::kBadWidth,
            "<field name=\"f\" dword=\"0\" §bits=\"64:0\" type=\"uint\"/>",
            "a field has at most 64 bits, \"f\" has 65"),
      Field("LongFixedPoint", Code::kBadWidth,
            "<field name=\"f\" dword=\"0\" §bits=\"63:0\" type=\"u0.64\"/>",
            "fixed point has at most 32 bits, \"f\" has 64"),
      In("LongEnumeration", Code::kBadWidth,
         "<enum name=\"E\"><value name=\"X\" value=\"1\"/></enum>\n"
         "<struct name=\"A\" dwords=\"2\"><field name=\"f\" dword=\"0\" §bits=\"32:0\" "
         "type=\"E\"/></struct>",
         "a field with the values of an enumeration has at most 32 bits, \"f\" has 33"),
      Field("FixedPointSum", Code::kBadWidth,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" §type=\"s4.4\"/>",
            "type s4.4 takes 9 bits, the field has 8"),
      Packet("NestedTooShort", Code::kBadWidth,
             "<field name=\"n\" dword=\"2\" §bits=\"30:0\" type=\"S\"/>",
             "\"S\" describes 32 of 32 bits, the field has 31"),
      Field("LongSplitAddress", Code::kBadWidth,
            "<field name=\"h\" dword=\"0\" bits=\"7:0\" type=\"uint\"/><field name=\"a\" "
            "dword=\"1\" bits=\"63:0\" type=\"address\" §high=\"h\"/>",
            "the address and its high bits take 72 bits"),

      // --- E014: no length.
      In("TailWithoutLength", Code::kMissingLength,
         "<packet name=\"P\" dwords=\"variable\"><doc>.</doc><field name=\"Op\" dword=\"0\" "
         "bits=\"31:24\" type=\"uint\" forced=\"1\"/>\n"
         "  §<group count=\"tail\" dword=\"1\" size=\"32\"><field name=\"f\" dword=\"0\" "
         "bits=\"31:0\" type=\"uint\"/></group></packet>",
         "\"P\" repeats as its length says, but has no length=\"FIELD\""),
      In("VariableWithoutLength", Code::kMissingLength,
         "§<packet name=\"P\" dwords=\"variable\"><doc>.</doc><field name=\"Op\" dword=\"0\" "
         "bits=\"31:24\" type=\"uint\" forced=\"1\"/></packet>",
         "\"P\" is variable and has neither length=\"FIELD\" nor parts"),
      In("NothingInside", Code::kMissingLength, "§<struct name=\"A\" dwords=\"variable\"/>",
         "\"A\" has no size and no fields that give it one"),

      // --- E015: length fields.
      In("NoLengthField", Code::kBadLengthField,
         "<packet name=\"P\" dwords=\"2\" §length=\"DWord Length\"><doc>.</doc><field name=\"Op\" "
         "dword=\"0\" bits=\"31:24\" type=\"uint\" forced=\"1\"/></packet>",
         "\"P\" has no field \"DWord Length\""),
      In("EncodedLength", Code::kBadLengthField,
         "<packet name=\"P\" dwords=\"2\" length=\"L\"><doc>.</doc><field name=\"Op\" dword=\"0\" "
         "bits=\"31:24\" type=\"uint\" forced=\"1\"/>\n"
         "  §<field name=\"L\" dword=\"0\" bits=\"7:0\" type=\"uint\" minus=\"1\"/></packet>",
         "a length is a plain uint of at most 16 bits in the first dword"),
      In("LengthInSecondDword", Code::kBadLengthField,
         "<packet name=\"P\" dwords=\"2\" length=\"L\"><doc>.</doc><field name=\"Op\" dword=\"0\" "
         "bits=\"31:24\" type=\"uint\" forced=\"1\"/>\n"
         "  §<field name=\"L\" dword=\"1\" bits=\"7:0\" type=\"uint\"/></packet>",
         "a length is a plain uint of at most 16 bits in the first dword"),
      In("LengthTooShort", Code::kBadLengthField,
         "<packet name=\"P\" dwords=\"11\" length=\"L\" bias=\"2\"><doc>.</doc><field name=\"Op\" "
         "dword=\"0\" bits=\"31:24\" type=\"uint\" forced=\"1\"/>\n"
         "  §<field name=\"L\" dword=\"0\" bits=\"2:0\" type=\"uint\"/></packet>",
         "a length of 11 dwords with bias 2 does not fit 3 bits"),
      In("LengthOfVariantTooShort", Code::kBadLengthField,
         "<packet name=\"P\" dwords=\"9\" length=\"L\" bias=\"2\"><doc>.</doc><field name=\"Op\" "
         "dword=\"0\" bits=\"31:24\" type=\"uint\" forced=\"1\"/>\n"
         "  §<field name=\"L\" dword=\"0\" bits=\"2:0\" type=\"uint\"/><field name=\"F\" "
         "dword=\"0\" bits=\"8\" type=\"bool\"/><variant dwords=\"12\" when=\"F\"/></packet>",
         "a length of 12 dwords with bias 2 does not fit 3 bits"),
      In("BiasAboveLength", Code::kBadLengthField,
         "<packet name=\"P\" dwords=\"1\" length=\"L\" bias=\"2\"><doc>.</doc><field name=\"Op\" "
         "dword=\"0\" bits=\"31:24\" type=\"uint\" forced=\"1\"/>\n"
         "  §<field name=\"L\" dword=\"0\" bits=\"7:0\" type=\"uint\"/></packet>",
         "a length of 1 dwords with bias 2 does not fit 8 bits"),
      In("LengthInBytes", Code::kBadLengthField,
         "<packet name=\"P\" bytes=\"12\" length=\"L\"><doc>.</doc><field name=\"Op\" dword=\"0\" "
         "bits=\"31:24\" type=\"uint\" forced=\"1\"/>\n"
         "  §<field name=\"L\" dword=\"0\" bits=\"2:0\" type=\"uint\"/></packet>",
         "a length of 12 bytes with bias 0 does not fit 3 bits"),

      // --- E016: ambiguous opcodes.
      In("SameOpcode", Code::kAmbiguousOpcode,
         "¤<packet name=\"P\" dwords=\"1\"><doc>.</doc><field name=\"Op\" dword=\"0\" "
         "bits=\"31:24\" type=\"uint\" forced=\"1\"/></packet>\n"
         "§<packet name=\"Q\" dwords=\"2\"><doc>.</doc><field name=\"Op\" dword=\"0\" "
         "bits=\"31:24\" type=\"uint\" forced=\"1\"/></packet>",
         "\"P\" and \"Q\" match the same dword on the same engine", {"the other is here"}),
      In("OpcodesThatMeet", Code::kAmbiguousOpcode,
         "¤<packet name=\"P\" dwords=\"1\"><doc>.</doc><field name=\"Op\" dword=\"0\" "
         "bits=\"31:28\" type=\"uint\" forced=\"3\"/></packet>\n"
         "§<packet name=\"Q\" dwords=\"2\"><doc>.</doc><field name=\"Op\" dword=\"0\" bits=\"7:0\" "
         "type=\"uint\" forced=\"9\"/></packet>",
         "\"P\" and \"Q\" match the same dword on the same engine", {"the other is here"}),
      In("MoreBitsOfTheSameOpcode", Code::kAmbiguousOpcode,
         "<engine name=\"a\"/><engine name=\"b\"/>\n"
         "¤<packet name=\"P\" dwords=\"1\" engines=\"a b\"><doc>.</doc><field name=\"Op\" "
         "dword=\"0\" bits=\"31:24\" type=\"uint\" forced=\"1\"/></packet>\n"
         "§<packet name=\"Q\" dwords=\"1\" engines=\"b\"><doc>.</doc><field name=\"Op\" "
         "dword=\"0\" bits=\"31:24\" type=\"uint\" forced=\"1\"/><field name=\"Sub\" dword=\"0\" "
         "bits=\"0\" type=\"uint\" forced=\"1\"/></packet>",
         "\"P\" and \"Q\" match the same dword on the same engine", {"the other is here"}),

      // --- E017: no opcode.
      In("NoOpcode", Code::kMissingOpcode,
         "§<packet name=\"P\" dwords=\"2\"><doc>.</doc><field name=\"f\" dword=\"1\" bits=\"31:0\" "
         "type=\"uint\" forced=\"1\"/></packet>",
         "packet \"P\" has no forced field in its first dword, so nothing tells it apart"),
      {"OpcodeBeyondPacket",
       Code::kMissingOpcode,
       {{"main.xml",
         Described("§<packet name=\"P\" bytes=\"2\"><doc>.</doc><field name=\"op\" dword=\"0\" "
                   "bits=\"7:0\" type=\"uint\" forced=\"1\"/>§<field name=\"f\" dword=\"0\" "
                   "bits=\"31:24\" type=\"uint\" forced=\"1\"/></packet>")}},
       "packet \"P\" is shorter than its opcode",
       {}},

      // --- E018: fields that conditions and expressions ask for.
      Packet("ConditionOnNothing", Code::kUnknownField, "<variant dwords=\"5\" §when=\"Flags\"/>",
             "\"Flags\" does not begin with a field of \"P\""),
      Packet("RestOfACondition", Code::kUnknownField,
             "<variant dwords=\"5\" §when=\"Flag and Flog=1\"/>",
             "\"Flog=1\" does not begin with a field of \"P\""),
      Packet("CountByNothing", Code::kUnknownField,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\"><points to=\"S\" "
             "§count=\"Modus\"/></field>",
             "\"Modus\" does not begin with a field of \"P\""),
      Packet("CountByNothingElsewhere", Code::kUnknownField,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\"><points to=\"S\" "
             "§count=\"P.Modus\"/></field>",
             "\"Modus\" does not begin with a field of \"P\""),

      // --- E019: conditions.
      Packet("ConditionOnReal", Code::kBadCondition, "<variant dwords=\"5\" §when=\"Real\"/>",
             "\"Real\" cannot be compared: only integers without an encoding can"),
      Packet("ConditionOnEncoded", Code::kBadCondition,
             "<variant dwords=\"5\" §when=\"Biased=3\"/>",
             "\"Biased\" cannot be compared: only integers without an encoding can"),
      Packet("ConditionWithoutValue", Code::kBadCondition,
             "<variant dwords=\"5\" §when=\"Mode=Off\"/>",
             "\"Off\" is neither a number nor a value of \"Mode\""),
      Packet("ConditionNegatedTwice", Code::kBadCondition,
             "<variant dwords=\"5\" §when=\"!Mode=1\"/>", "write A!=v, not !A=v"),
      Packet("ConditionGoesOn", Code::kBadCondition,
             "<variant dwords=\"5\" §when=\"Mode=1 xor Flag\"/>",
             "\" xor Flag\": \" and \" or \" or \" was expected here"),
      Packet("ConditionNeverTrue", Code::kBadCondition, "<variant dwords=\"5\" §when=\"Mode=8\"/>",
             "\"8\": \"Mode\" has 3 bits and never holds that"),

      // --- E020: expressions.
      Packet("ExpressionOfReal", Code::kBadExpression,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\"><points to=\"S\" "
             "§count=\"Real\"/></field>",
             "\"Real\" must be an integer"),
      Packet("ExpressionWithMinus", Code::kBadExpression,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\"><points to=\"S\" "
             "§count=\"Mode*2+x\"/></field>",
             "\"Mode*2+x\" must be a number or [2^][PACKET.]FIELD[*N][+N]"),
      Packet("HighOfNothingElse", Code::kBadExpression,
             "<field name=\"a\" dword=\"2\" bits=\"31:0\" type=\"address\" §high=\"Biased\"/>",
             "high=\"Biased\" must name another field, a uint without an encoding"),

      // --- E021: references.
      In("AsksOfAnUnknownPacket", Code::kUnknownReference,
         "<workaround number=\"1\" platforms=\"g\"><asks kind=\"again\" §of=\"A\"/></workaround>",
         "there is no packet, structure or register \"A\" in g"),
      In("AsksOfAnUnknownField", Code::kUnknownReference,
         "<struct name=\"A\" dwords=\"1\"/>\n<workaround number=\"1\" platforms=\"g\">"
         "<asks kind=\"field\" of=\"A\" §field=\"B\"/></workaround>",
         "A has no field \"B\""),
      In("AsksWithoutAPair", Code::kContradiction,
         "<struct name=\"A\" dwords=\"1\"/>\n<workaround number=\"1\" platforms=\"g\">"
         "§<asks kind=\"before\" of=\"A\"/></workaround>",
         "with=\"…\" is for before, after and around, which need it"),
      In("AsksOfNothing", Code::kMissingAttribute,
         "<workaround number=\"1\" platforms=\"g\">§<asks kind=\"again\"/></workaround>",
         "<asks> needs of=\"…\", unless its kind is shader or memory"),
      In("PlatformWithHalfASteppingRange", Code::kBadData,
         "<workaround number=\"1\" §platforms=\"tgl(a0)\"/>",
         "\"tgl(a0)\" is not a platform, its variant or its steppings: dg2, dg2-g10, tgl(a0..c0)"),
      In("WorkaroundWithoutANumber", Code::kBadNumber, "<workaround §number=\"x\"/>",
         "number=\"x\" must be a decimal number"),
      In("UnknownEngine", Code::kUnknownReference, "<stream name=\"t\" §engines=\"warp\"/>",
         "there is no <engine name=\"warp\">"),
      In("UnknownStream", Code::kUnknownReference,
         "<packet name=\"P\" dwords=\"1\" §stream=\"t\"><doc>.</doc><field name=\"Op\" dword=\"0\" "
         "bits=\"31:24\" type=\"uint\" forced=\"1\"/></packet>",
         "there is no <stream name=\"t\">"),
      {"NoStream",
       Code::kUnknownReference,
       {{"main.xml",
         "<packsmith family=\"f\" generation=\"g\">\n  §<packet name=\"P\" "
         "dwords=\"1\"><doc>.</doc><field name=\"Op\" dword=\"0\" bits=\"31:24\" type=\"uint\" "
         "forced=\"1\"/></packet>\n</packsmith>"}},
       "a packet belongs to a stream, and the file declares none with <stream>",
       {}},
      Packet("UnknownTarget", Code::kUnknownReference,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\"><points "
             "§to=\"T\"/></field>",
             "there is no structure, stream or <data> \"T\""),
      Packet("PacketAsTarget", Code::kUnknownReference,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\"><points "
             "§to=\"P\"/></field>",
             "there is no structure, stream or <data> \"P\""),
      Packet("UnknownBase", Code::kUnknownReference,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"offset\"><points to=\"S\" "
             "§base=\"ground\"/></field>",
             "there is no <base name=\"ground\">"),
      Packet("UnknownBaseSet", Code::kUnknownReference,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\"><sets "
             "§base=\"ground\"/></field>",
             "there is no <base name=\"ground\">"),
      Packet("UnknownSpace", Code::kUnknownReference,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\"><points to=\"S\" "
             "§space=\"moon\"/></field>",
             "there is no <space name=\"moon\">"),
      Packet("UnknownRelation", Code::kUnknownReference,
             "<relation kind=\"commits\" §packet=\"S\"/>", "there is no packet \"S\""),

      // --- E022, E023, E024: inheritance.
      {"NoSuchFile",
       Code::kCannotRead,
       {{"main.xml", "<packsmith generation=\"g2\" §extends=\"old.xml\"/>"}},
       "cannot read \"old.xml\": there is no such file",
       {}},
      {"ExtendsItself",
       Code::kInheritanceCycle,
       {{"main.xml", "<packsmith generation=\"g2\" extends=\"b.xml\"/>"},
        {"b.xml", "<packsmith generation=\"g1\"\n  §extends=\"main.xml\"/>"}},
       "\"main.xml\" extends or includes itself: main.xml → b.xml",
       {}},
      In("AmendsNothing", Code::kNothingToInherit,
         "<struct name=\"A\" dwords=\"1\" §amend=\"true\"/>", "there is no earlier \"A\" to amend"),
      In("LikeNothing", Code::kNothingToInherit,
         "<struct name=\"A\" dwords=\"1\" §like=\"B\"/>\n<struct name=\"B\" dwords=\"1\"/>",
         "there is no \"B\" above to be like"),

      // --- E025: circles.
      In("ContainsItself", Code::kStructCycle,
         "<struct name=\"A\" dwords=\"1\"><field name=\"b\" dword=\"0\" bits=\"31:0\" "
         "type=\"B\"/></struct>\n"
         "<struct name=\"B\" dwords=\"1\">§<field name=\"a\" dword=\"0\" bits=\"31:0\" "
         "type=\"A\"/></struct>",
         "\"A\" contains itself"),

      // --- E026: groups.
      Field("NoRepeats", Code::kBadGroup,
            "§<group count=\"0\" dword=\"0\" size=\"8\"><field name=\"f\" dword=\"0\" bits=\"7:0\" "
            "type=\"uint\"/></group>",
            "a group repeats at least once, and has items of bits"),
      Field("EmptyGroup", Code::kBadGroup, "§<group count=\"2\" dword=\"0\" size=\"8\"/>",
            "a group holds at least one field"),
      Field(
          "TailInside", Code::kBadGroup,
          "<group count=\"2\" dword=\"0\" size=\"64\">§<group count=\"tail\" dword=\"0\" "
          "size=\"32\"><field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\"/></group></group>",
          "a tail cannot be inside another group"),
      In("TailBeforeEnd", Code::kBadGroup,
         "<struct name=\"A\" dwords=\"2\">\n  §<group count=\"tail\" dword=\"1\" "
         "size=\"32\"><field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\"/></group></struct>",
         "the tail must start where the fixed part ends; dwords=\"variable\" derives that"),
      In("FieldBehindTail", Code::kBadGroup,
         "<struct name=\"A\" dwords=\"variable\">\n  §<group count=\"tail\" dword=\"1\" "
         "size=\"32\"><field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\"/></group>\n"
         "  <field name=\"g\" dword=\"2\" bits=\"7:0\" type=\"uint\"/></struct>",
         "a tail must come last, but \"g\" ends after its start"),
      In("TailOfOddItems", Code::kBadGroup,
         "<struct name=\"A\" dwords=\"1\">\n  §<group count=\"tail\" dword=\"1\" "
         "size=\"24\"><field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\"/></group></struct>",
         "a tail starts at and has items of whole dwords"),
      In("TwoTails", Code::kBadGroup,
         "§<struct name=\"A\" dwords=\"1\"><group count=\"tail\" dword=\"1\" size=\"32\"><field "
         "name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\"/></group>\n"
         "<group count=\"tail\" dword=\"1\" size=\"32\"><field name=\"g\" dword=\"0\" bits=\"7:0\" "
         "type=\"uint\"/></group></struct>",
         "a container has one tail at most"),

      // --- E027: encodings.
      Field("EncodedBool", Code::kBadEncoding,
            "§<field name=\"f\" dword=\"0\" bits=\"0\" type=\"bool\" minus=\"1\"/>",
            "minus, log2, groups and align are for uint and offset"),
      Field("EncodedAddress", Code::kBadEncoding,
            "§<field name=\"f\" dword=\"0\" bits=\"31:0\" type=\"address\" align=\"64\"/>",
            "minus, log2, groups and align are for uint and offset"),
      Field("ShiftedInt", Code::kBadEncoding,
            "§<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"int\" shift=\"2\"/>",
            "shift and multiple are for uint, address and offset"),
      Field("TwoEncodings", Code::kBadEncoding,
            "§<field name=\"f\" dword=\"0\" bits=\"3:0\" type=\"uint\" minus=\"1\" log2=\"true\"/>",
            "minus, log2 and groups exclude each other"),
      Field("ShiftedLogarithm", Code::kBadEncoding,
            "§<field name=\"f\" dword=\"0\" bits=\"3:0\" type=\"uint\" shift=\"1\" log2=\"true\"/>",
            "log2 and groups exclude shift"),
      Field("LongLogarithm", Code::kBadEncoding,
            "§<field name=\"f\" dword=\"0\" bits=\"6:0\" type=\"uint\" log2=\"true\"/>",
            "a logarithm has at most 6 bits"),
      Field("LongGroups", Code::kBadEncoding,
            "§<field name=\"f\" dword=\"0\" bits=\"32:0\" type=\"uint\" groups=\"8\"/>",
            "what groups count must fit 32 bits"),
      Field("OddAlignment", Code::kBadEncoding,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" §align=\"24\"/>",
            "align must be a power of two"),
      Field("NoAlignment", Code::kBadEncoding,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" §align=\"0\"/>",
            "align cannot be 0"),
      Field("NoGroups", Code::kBadEncoding,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" §groups=\"0x0\"/>",
            "groups cannot be 0"),
      Field("ShiftedTooFar", Code::kBadEncoding,
            "§<field name=\"f\" dword=\"0\" bits=\"31:0\" type=\"uint\" shift=\"33\"/>",
            "shifted values must fit 64 bits"),

      // --- E028: contradictions.
      In("DwordsAndBytes", Code::kContradiction, "<struct name=\"A\" dwords=\"1\" §bytes=\"4\"/>",
         "dwords and bytes exclude each other"),
      In("AmendAndLike", Code::kContradiction,
         "<struct name=\"B\" dwords=\"1\"/><struct name=\"A\" dwords=\"1\" like=\"B\" "
         "§amend=\"true\"/>",
         "amend and like exclude each other"),
      Field(
          "ForcedAndDefault", Code::kContradiction,
          "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" §forced=\"1\" default=\"1\"/>",
          "a forced field is a plain integer and has no other default"),
      Field("ForcedReal", Code::kContradiction,
            "<field name=\"f\" dword=\"0\" bits=\"15:0\" type=\"half\" §forced=\"1\"/>",
            "a forced field is a plain integer and has no other default"),
      Field("ForcedAndEncoded", Code::kContradiction,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" minus=\"1\" §forced=\"1\"/>",
            "a forced field is a plain integer and has no other default"),
      Packet("DefaultOfStruct", Code::kContradiction,
             "<field name=\"n\" dword=\"2\" bits=\"31:0\" type=\"S\" §default=\"1\"/>",
             "a structure's fields have the defaults"),
      Packet("RangeOfStruct", Code::kContradiction,
             "§<field name=\"n\" dword=\"2\" bits=\"31:0\" type=\"S\" nonzero=\"true\"/>",
             "a structure's own fields are forced, have ranges and units"),
      Field("ValuesOfReal", Code::kContradiction,
            "<field name=\"f\" dword=\"0\" bits=\"31:0\" type=\"float\">§<value name=\"X\" "
            "value=\"1\"/></field>",
            "only integers have named values"),
      In("ValuesOfEnumField", Code::kContradiction,
         "<enum name=\"E\"><value name=\"X\" value=\"1\"/></enum>\n<struct name=\"A\" dwords=\"1\">"
         "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"E\">§<value name=\"Y\" "
         "value=\"2\"/></field></struct>",
         "the values of an enumeration must be in its <enum>"),
      In("EnumWithoutValues", Code::kContradiction,
         "§<enum name=\"E\"/>\n<struct name=\"A\" dwords=\"1\"><field name=\"f\" dword=\"0\" "
         "bits=\"7:0\" type=\"E\"/></struct>",
         "an enumeration has at least one <value>"),
      In("TailAndVariants", Code::kContradiction,
         "<packet name=\"P\" dwords=\"1\" length=\"L\"><doc>.</doc><field name=\"Op\" dword=\"0\" "
         "bits=\"31:24\" type=\"uint\" forced=\"1\"/>"
         "<field name=\"L\" dword=\"0\" bits=\"7:0\" type=\"uint\"/><field name=\"F\" dword=\"0\" "
         "bits=\"8\" type=\"bool\"/>\n"
         "  §<group count=\"tail\" dword=\"1\" size=\"32\"><field name=\"f\" dword=\"0\" "
         "bits=\"7:0\" type=\"uint\"/></group><variant dwords=\"4\" when=\"F\"/></packet>",
         "a packet has a tail, or variants, or parts; not two of them"),
      Packet("VariantsAndParts", Code::kContradiction,
             "§<variant dwords=\"5\" when=\"Flag\"/><part name=\"x\" struct=\"S\" when=\"Flag\"/>",
             "a packet has variants or parts, not both"),
      Packet("TwoPointers", Code::kContradiction,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\"><points "
             "to=\"S\"/>§<points to=\"S\"/></field>",
             "a field points to one thing; of several, all but the last need when=\"…\""),
      In("TwoBases", Code::kContradiction,
         "<base name=\"b\"/><struct name=\"A\" dwords=\"1\"><field name=\"f\" dword=\"0\" "
         "bits=\"31:0\" type=\"address\"><sets base=\"b\"/>§<sets base=\"b\"/></field></struct>",
         "a field sets one base or one state"),
      Field("TwoRegisters", Code::kContradiction,
            "<field name=\"o\" dword=\"0\" bits=\"31:0\" type=\"offset\"/><field name=\"f\" "
            "dword=\"1\" bits=\"31:0\" type=\"uint\"><writes register=\"o\"/>§<writes "
            "register=\"o\"/></field>",
            "a field writes one register"),
      In("NoEngineInCommon", Code::kContradiction,
         "<engine name=\"a\"/><engine name=\"b\"/>¤<stream name=\"t\" engines=\"a\"/>\n"
         "<packet name=\"P\" dwords=\"1\" stream=\"t\" §engines=\"b\"><doc>.</doc><field "
         "name=\"Op\" dword=\"0\" bits=\"31:24\" type=\"uint\" forced=\"1\"/></packet>",
         "no engine that reads \"t\" has this packet", {"the stream is here"}),

      // --- E029: names in C++ and C.
      {"NamespaceIsNoIdentifier",
       Code::kNameCollision,
       {{"main.xml", "<packsmith family=\"f\" generation=\"9\" §namespace=\"9\" prefix=\"G\"/>"}},
       "\"9\" cannot be an identifier; set namespace=\"…\"",
       {}},
      {"NamespaceIsAKeyword",
       Code::kNameCollision,
       {{"main.xml", "<packsmith family=\"f\" §generation=\"new\"/>"}},
       "packsmith::new cannot be a namespace: the name is taken; set namespace=\"…\"",
       {}},
      {"NamespaceIsOfTheSupportHeader",
       Code::kNameCollision,
       {{"main.xml", "<packsmith family=\"f\" generation=\"g\" §namespace=\"address\"/>"}},
       "packsmith::address cannot be a namespace: the name is taken; set namespace=\"…\"",
       {}},
      Field("NameIsNoIdentifier", Code::kNameCollision,
            "§<field name=\"a|b\" dword=\"0\" bits=\"0\" type=\"bool\"/>",
            "\"a|b\" would be a|b in C, which cannot be a name there"),
      In("EnumeratorIsAMacro", Code::kNameCollision,
         "<enum name=\"E\">§<value name=\"Null\" value=\"0\"/></enum><struct name=\"A\" "
         "dwords=\"1\"><field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"E\"/></struct>",
         "\"Null\" would be NULL in C, which cannot be a name there"),
      Field("ValueIsAKeyword", Code::kNameCollision,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\">§<value name=\"int\" "
            "value=\"1\"/></field>",
            "\"int\" would be int in C, which cannot be a name there"),
      In("MemberIsItsType", Code::kNameCollision,
         "<enum name=\"format\"><value name=\"X\" value=\"1\"/></enum>\n"
         "<struct name=\"A\" dwords=\"1\">§¤<field name=\"Format\" dword=\"0\" bits=\"7:0\" "
         "type=\"format\"/></struct>",
         "\"format\" is also a type here in C++; give the member alias=\"…\"",
         {"the type is used here"}),
      In("MemberIsItsContainer", Code::kNameCollision,
         "¤<struct name=\"a\" dwords=\"1\">§<field name=\"A\" dword=\"0\" bits=\"7:0\" "
         "type=\"uint\"/></struct>",
         "\"a\" is also a type here in C++; give the member alias=\"…\"",
         {"the type is used here"}),
      In("TypesCollide", Code::kNameCollision,
         "¤<struct name=\"A B\" dwords=\"1\"/>\n§<struct name=\"A_B\" dwords=\"1\"/>",
         "two things become \"A_B\" in C++; give one of them alias=\"…\" or another name",
         {"the other is here"}),
      Field("MembersCollide", Code::kNameCollision,
            "¤<field name=\"Base A\" dword=\"0\" bits=\"0\" type=\"bool\"/>\n  §<field "
            "name=\"base_a\" dword=\"0\" bits=\"1\" type=\"bool\"/>",
            "two things become \"base_a\" in C++; give one of them alias=\"…\" or another name",
            {"the other is here"}),
      Field("CMembersCollide", Code::kNameCollision,
            "¤<field name=\"Base A\" dword=\"0\" bits=\"0\" type=\"bool\"/>\n  §<field "
            "name=\"BaseA\" alias=\"other\" dword=\"0\" bits=\"1\" type=\"bool\"/>",
            "two things become \"BaseA\" in C; give one of them another name",
            {"the other is here"}),
      In("EnumeratorsCollide", Code::kNameCollision,
         "<enum name=\"E\">¤<value name=\"X-Y\" value=\"0\"/>\n§<value name=\"X Y\" "
         "value=\"1\"/></enum><struct name=\"A\" dwords=\"1\"><field name=\"f\" dword=\"0\" "
         "bits=\"7:0\" type=\"E\"/></struct>",
         "two things become \"X_Y\" in C++; give one of them alias=\"…\" or another name",
         {"the other is here"}),
      Field("ConstantsCollide", Code::kNameCollision,
            "<field name=\"Mode\" dword=\"0\" bits=\"7:0\" type=\"uint\">¤<value name=\"A B\" "
            "value=\"1\"/></field>\n"
            "  <field name=\"Mode A\" dword=\"1\" bits=\"7:0\" type=\"uint\">§<value name=\"B\" "
            "value=\"2\"/></field>",
            "two values become the constant MODE_A_B in C++; rename one of them",
            {"the other is here"}),
      // Of two containers: C has one name for both.
      In("CValuesCollide", Code::kNameCollision,
         "<struct name=\"A\" dwords=\"1\"><field name=\"Size\" dword=\"0\" bits=\"7:0\" "
         "type=\"uint\">¤<value name=\"64 K\" value=\"7\"/></field></struct>\n"
         "<struct name=\"B\" dwords=\"1\"><field name=\"Size\" dword=\"0\" bits=\"7:0\" "
         "type=\"uint\">§<value name=\"64K\" value=\"3\"/></field></struct>",
         "the values 7 and 3 both become _64K in C; give one of them prefix=\"…\" or another name",
         {"the other is here"}),
      In("CEnumeratorAndValueCollide", Code::kNameCollision,
         "<enum name=\"E\" prefix=\"P\">¤<value name=\"ON\" value=\"1\"/></enum>"
         "<struct name=\"A\" dwords=\"1\"><field name=\"f\" dword=\"0\" bits=\"7:0\" "
         "type=\"E\"/>\n<field name=\"g\" dword=\"0\" bits=\"15:8\" type=\"uint\" prefix=\"P\">"
         "§<value name=\"ON\" value=\"2\"/></field></struct>",
         "the values 1 and 2 both become P_ON in C; give one of them prefix=\"…\" or another name",
         {"the other is here"}),
      Field("AliasIsNoIdentifier", Code::kNameCollision,
            "<field name=\"f\" §alias=\"My Field\" dword=\"0\" bits=\"0\" type=\"bool\"/>",
            "alias=\"My Field\" cannot be a member in C++; \"my_field\" could"),
      Field("AliasIsAKeyword", Code::kNameCollision,
            "<field name=\"f\" §alias=\"default\" dword=\"0\" bits=\"0\" type=\"bool\"/>",
            "alias=\"default\" cannot be a member in C++; \"default_\" could"),

      // --- E030: too large.
      In("TooManyEngines", Code::kTooLarge, ManyEngines(), "more than 64 engines"),
      In("TooManyMasks", Code::kTooLarge, ManyPackets(),
         "packets have more than 64 forms of opcode"),
      In("NestedTooDeep", Code::kTooLarge, NestedStructs(20), "structures nest at most 16 deep"),
      In("GroupsTooDeep", Code::kTooLarge,
         "<struct name=\"A\" dwords=\"1\"><group count=\"1\" dword=\"0\" size=\"32\"><group "
         "count=\"1\" dword=\"0\" size=\"32\"><group count=\"1\" dword=\"0\" size=\"32\">\n"
         "§<group count=\"1\" dword=\"0\" size=\"32\"><field name=\"f\" dword=\"0\" bits=\"0\" "
         "type=\"bool\"/></group></group></group></group></struct>",
         "groups nest at most 3 deep"),
      In("TooManyFields", Code::kTooLarge,
         "§<struct name=\"A\" dwords=\"16384\"><group count=\"4096\" dword=\"0\" "
         "size=\"128\"><group count=\"128\" dword=\"0\" size=\"1\"><field name=\"f\" dword=\"0\" "
         "bits=\"0\" type=\"bool\"/></group></group></struct>",
         "\"A\" has more fields than anything that exists"),

      // --- E031: variants.
      Packet("VariantNotLonger", Code::kBadVariant, "§<variant dwords=\"4\" when=\"Flag\"/>",
             "a variant is longer than the 16 bytes of its packet"),
      In("VariantOfHalfADword", Code::kBadVariant,
         "<struct name=\"A\" bytes=\"4\"><field name=\"f\" dword=\"0\" bits=\"0\" "
         "type=\"bool\"/>§<variant bytes=\"6\" when=\"f\"/></struct>",
         "a packet that has variants, and each of them, is a whole number of dwords"),
      Packet("VariantDecidesItself", Code::kBadVariant,
             "<field name=\"late\" dword=\"4\" bits=\"0\" type=\"bool\"/>§<variant dwords=\"5\" "
             "when=\"late\"/>",
             "what decides about a variant must lie in the packet's shortest form"),
      In("VariantOfVariable", Code::kBadVariant,
         "<packet name=\"P\" dwords=\"variable\" length=\"L\"><doc>.</doc><field name=\"Op\" "
         "dword=\"0\" bits=\"31:24\" type=\"uint\" forced=\"1\"/>"
         "<field name=\"L\" dword=\"0\" bits=\"7:0\" type=\"uint\"/><field name=\"F\" dword=\"0\" "
         "bits=\"8\" type=\"bool\"/>\n  §<variant dwords=\"4\" when=\"F\"/></packet>",
         "a packet with variants has a fixed shortest form; give dwords=\"…\" or bytes=\"…\""),

      // --- E032: parts.
      Packet("UnknownPart", Code::kBadPart, "<part name=\"x\" §struct=\"T\"/>",
             "there is no structure \"T\""),
      Packet("PacketAsPart", Code::kBadPart, "<part name=\"x\" §struct=\"P\"/>",
             "there is no structure \"P\""),
      Packet("PartWithTail", Code::kBadPart, "<part name=\"x\" §struct=\"Open\"/>",
             "\"Open\" has no fixed size, so it cannot be a part"),
      In("PartInOtherUnits", Code::kBadPart,
         "<struct name=\"S\" bytes=\"4\"/><struct name=\"A\" dwords=\"1\"><part name=\"x\" "
         "§struct=\"S\"/></struct>",
         "the size of \"S\" is given in bytes, that of \"A\" is not; a part counts as what it is a "
         "part of"),
      Packet("PartRepeatsElsewhere", Code::kBadPart,
             "<part name=\"x\" struct=\"S\" §repeat=\"P.Mode\"/>",
             "a part repeats as its own header says"),

      // --- E033: flow.
      Packet("JumpWithoutTarget", Code::kBadFlow, "§<flow kind=\"jump\"/>",
             "a jump or call needs to=\"FIELD\""),
      Packet("EndWithTarget", Code::kBadFlow, "§<flow kind=\"end\" to=\"Mode\"/>",
             "only jumps and calls go somewhere"),
      Packet("EndThatMayBeLeftOut", Code::kBadFlow, "<flow kind=\"end\" §maybe=\"Mode=1\"/>",
             "only jumps and calls may be left out"),
      Packet("JumpToNumber", Code::kBadFlow, "<flow kind=\"jump\" §to=\"Mode\"/>",
             "\"Mode\" is not an address field of \"P\""),
      In("FlowOfStruct", Code::kBadFlow,
         "<struct name=\"A\" dwords=\"1\"><field name=\"f\" dword=\"0\" bits=\"31:0\" "
         "type=\"address\"/>§<flow kind=\"jump\" to=\"f\"/></struct>",
         "only packets jump, call, return and end"),

      // --- E037: operations.
      Packet("OperationWithoutAnOperand", Code::kBadOperation,
             "§<operation kind=\"write-register\" register=\"4\"/>",
             "an operation \"write-register\" needs value"),
      Packet("OperationWithAForeignOperand", Code::kBadOperation,
             "§<operation kind=\"fence\" value=\"1\"/>", "an operation \"fence\" has no value"),
      Packet("OperationOfTwoPlaces", Code::kBadOperation,
             "§<operation kind=\"store\" value=\"1\" index=\"0\" memory=\"0\"/>",
             "an operation \"store\" needs one of memory, index"),
      Packet("OperationOnNoAddress", Code::kBadOperation,
             "<operation kind=\"store\" value=\"1\" §memory=\"Mode\"/>",
             "\"Mode\" is not an address field"),
      In("OperationOfRegister", Code::kBadOperation,
         "<register name=\"A\" offset=\"4\" dwords=\"1\"><field name=\"f\" dword=\"0\" "
         "bits=\"31:0\" type=\"uint\"/>§<operation kind=\"fence\"/></register>",
         "registers are not executed"),

      // --- E034: ranges.
      Field("MinAboveMax", Code::kBadRange,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" §min=\"9\" max=\"8\"/>",
            "min is more than max"),
      Field("MaxTooWide", Code::kBadRange,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" §max=\"256\"/>",
            "max does not fit: the field holds 0 to 255"),
      Field("MinBelowEncoding", Code::kBadRange,
            "<field name=\"f\" dword=\"0\" bits=\"3:0\" type=\"uint\" minus=\"1\" §min=\"0\"/>",
            "min does not fit: the field holds 1 to 16"),
      Field("NegativeMinOfUint", Code::kBadRange,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" §min=\"-1\"/>",
            "min does not fit: the field holds 0 to 255"),
      Field("MaxOfInt", Code::kBadRange,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"int\" §max=\"128\"/>",
            "max does not fit: the field holds -128 to 127"),
      Field("MaxOfFixed", Code::kBadRange,
            "<field name=\"f\" dword=\"0\" bits=\"9:0\" type=\"u4.6\" §max=\"16\"/>",
            "max does not fit the field"),
      Field("DefaultOutOfRange", Code::kBadRange,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" min=\"4\" §default=\"3\"/>",
            "the default is less than min or more than max"),
      Field(
          "RealDefaultOutOfRange", Code::kBadRange,
          "<field name=\"f\" dword=\"0\" bits=\"9:0\" type=\"u4.6\" max=\"14\" §default=\"14.5\"/>",
          "the default is less than min or more than max"),
      Field("DefaultZero", Code::kBadRange,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" nonzero=\"true\" "
            "§default=\"0\"/>",
            "the default is 0, and nonzero forbids that"),
      Field("DefaultZeroThatPackingRefuses", Code::kBadRange,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" nonzero=\"packing\" "
            "§default=\"0\"/>",
            "the default is 0, and nonzero forbids that"),
      Field("DefaultNoMultiple", Code::kBadRange,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" multiple=\"4\" "
            "§default=\"6\"/>",
            "the default must be a multiple of 4"),

      // --- E035: registers.
      Field("RegisterOffsetIsNoOffset", Code::kBadRegister,
            "<field name=\"o\" dword=\"0\" bits=\"31:0\" type=\"uint\"/><field name=\"f\" "
            "dword=\"1\" bits=\"31:0\" type=\"uint\"><writes §register=\"o\"/></field>",
            "\"o\" is not an offset field next to this one"),
      In("RegisterTwice", Code::kBadRegister,
         "¤<register name=\"R\" dwords=\"1\" offset=\"0x10\"/>\n<register name=\"Q\" dwords=\"1\" "
         "§offset=\"0x10\"/>",
         "two registers are at offset 16", {"the other is here"}),
      In("OddRegister", Code::kBadRegister, "<register name=\"R\" dwords=\"1\" §offset=\"0x12\"/>",
         "registers lie at multiples of 4 bytes"),

      // --- E036: data.
      In("ComponentsWithoutType", Code::kBadData, "<data name=\"d\" §components=\"R32 G32\"/>",
         "components=\"R32 G32\": \"R32\" has no type after it"),
      Field(
          "ComponentsOfNoType", Code::kBadData,
          "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\"><value name=\"a\" value=\"1\" "
          "§components=\"R8 byte\"/></field>",
          "components=\"R8 byte\": \"byte\" is not a type; the types are uint, sint, unorm, snorm, "
          "uscaled, "
          "sscaled, float, fixed"),
      In("ComponentsThatAreNoBytes", Code::kBadData, "<data name=\"d\" §components=\"R5 uint\"/>",
         "components=\"R5 uint\": the components have 5 bits, which is not a whole number of "
         "bytes"),
      In("ComponentsOfAStrangeFloat", Code::kBadData,
         "<data name=\"d\" §components=\"R24 float X8\"/>",
         "components=\"R24 float X8\": there is no float of 24 bits"),
      In("ComponentsThatAreNone", Code::kBadData, "<data name=\"d\" §components=\"R65 uint\"/>",
         "components=\"R65 uint\": \"R65\" is not a component: a name and 1 to 64 bits"),
      In("EndOutsideOfInstruction", Code::kBadData,
         "<data name=\"d\" code=\"true\"><instruction mask=\"0\" value=\"0\" bytes=\"8\" "
         "§end=\"64\"/></data>",
         "the bit that ends a program is one of its own"),
      Packet("ElementWithoutFormats", Code::kBadData,
             "<field name=\"f\" dword=\"2\" bits=\"7:0\" type=\"uint\">§<element of=\"d\"/></field>"
             "</packet><data name=\"d\"/><packet name=\"Q\" dwords=\"1\"><doc>.</doc><field "
             "name=\"Op\" "
             "dword=\"0\" bits=\"31:24\" type=\"uint\" forced=\"2\"/>",
             "no value of \"f\" has components=\"…\""),
      Packet("FormatWithoutFormats", Code::kBadData,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\"><points to=\"S\" "
             "§format=\"Mode\"/></field>",
             "\"Mode\" must name a field whose values have components=\"…\""),
      Packet("StageOfNoProgram", Code::kBadData,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\">§<points to=\"d\" "
             "stage=\"pixel\"/></field></packet><data name=\"d\"/><packet name=\"Q\" "
             "dwords=\"1\"><doc>.</doc><field name=\"Op\" dword=\"0\" bits=\"31:24\" type=\"uint\" "
             "forced=\"2\"/>",
             "\"d\" is not a program (code=\"true\"), so it has no stage"),
      Packet("WritesMemoryNowhere", Code::kBadData,
             "<field name=\"v\" dword=\"2\" bits=\"31:0\" type=\"uint\"><writes "
             "§memory=\"Mode\"/></field>",
             "\"Mode\" is not an address next to this field"),
      Packet("WritesHalfADword", Code::kBadData,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\"/><field name=\"v\" "
             "dword=\"3\" bits=\"15:0\" type=\"uint\"><writes §memory=\"a\"/></field>",
             "\"v\" must be a whole number of dwords"),
      In("NamesOfNoEnum", Code::kUnknownType,
         "<struct name=\"A\" dwords=\"1\"><field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" "
         "§names=\"E\"/></struct>",
         "there is no <enum name=\"E\">"),
      In("CCountOfNoTail", Code::kContradiction,
         "<struct name=\"A\" dwords=\"2\"><group count=\"2\" §c-count=\"1\" dword=\"0\" "
         "size=\"32\"><field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\"/></group></struct>",
         "c-count is for tails: all items of any other group are members in C"),
      In("MaxOfNoTail", Code::kContradiction,
         "<struct name=\"A\" dwords=\"2\"><group count=\"2\" §max=\"1\" dword=\"0\" "
         "size=\"32\"><field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\"/></group></struct>",
         "max=\"…\" bounds a tail; any other group has as many items as count=\"…\" says"),
      In("CCountBeyondMax", Code::kContradiction,
         "<struct name=\"A\" dwords=\"variable\"><group count=\"tail\" max=\"1\" §c-count=\"2\" "
         "dword=\"0\" size=\"32\"><field name=\"f\" dword=\"0\" bits=\"7:0\" "
         "type=\"uint\"/></group>"
         "</struct>",
         "more items would be members in C than max=\"…\" allows"),
      In("CWholeOfParts", Code::kContradiction,
         "<struct name=\"A\" dwords=\"2\"><group count=\"2\" §c-whole=\"true\" dword=\"0\" "
         "size=\"32\"><field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\"/></group></struct>",
         "only items of one uint field that fills them are one field in C"),
      In("CTypeOfAnInteger", Code::kContradiction,
         "<struct name=\"A\" dwords=\"1\"><field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" "
         "§c-type=\"uint\"/></struct>",
         "only an offset has another type in C"),
      In("NamesAndValues", Code::kContradiction,
         "<enum name=\"E\"><value name=\"a\" value=\"1\"/></enum><struct name=\"A\" "
         "dwords=\"1\"><field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" "
         "§names=\"E\"><value "
         "name=\"b\" value=\"2\"/></field></struct>",
         "names=\"…\" is for a uint without values of its own"),
      Packet("UnlimitedWithASize", Code::kContradiction,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\"><points to=\"d\" "
             "count=\"Mode+1\" size=\"64\" §unlimited-when=\"!Mode\"/></field></packet>"
             "<data name=\"d\"/><packet name=\"Q\" dwords=\"1\"><doc>.</doc><field name=\"Op\" "
             "dword=\"0\" bits=\"31:24\" type=\"uint\" forced=\"2\"/>",
             "data with a size or an end is not unlimited"),
      Packet("UnlimitedWithAnEnd", Code::kContradiction,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\"><points to=\"d\" "
             "count=\"Mode+1\" end=\"Biased\" §unlimited-when=\"!Mode\"/></field></packet>"
             "<data name=\"d\"/><packet name=\"Q\" dwords=\"1\"><doc>.</doc><field name=\"Op\" "
             "dword=\"0\" bits=\"31:24\" type=\"uint\" forced=\"2\"/>",
             "data with a size or an end is not unlimited"),
      Packet("UnlimitedTable", Code::kContradiction,
             "<field name=\"a\" dword=\"2\" bits=\"31:2\" type=\"address\"><points to=\"S\" "
             "count=\"Mode+1\" §unlimited-when=\"!Mode\"/></field>",
             "only <data> can be unlimited, and \"S\" is not; a table of unknown length has "
             "until=\"zero\""),
      Field("ViewOfBitsOfItsOwn", Code::kContradiction,
            "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" §when=\"f\"/>",
            "a field with when shares its bits: it has overlap=\"true\""),
      Field(
          "ViewWithARange", Code::kContradiction,
          "<field name=\"f\" dword=\"0\" bits=\"7:0\" type=\"uint\" overlap=\"true\" max=\"9\" "
          "§when=\"f\"/>",
          "a field with when only shows a number: it has no fields of its own and no range, points "
          "nowhere and sets nothing"),
      Packet("TwoDraws", Code::kContradiction,
             "<draws data=\"d\"/>§<draws data=\"d\"/></packet><data name=\"d\"/><packet name=\"Q\" "
             "dwords=\"1\"><doc>.</doc><field name=\"Op\" dword=\"0\" bits=\"31:24\" type=\"uint\" "
             "forced=\"2\"/>",
             "a packet draws once"),
      Packet("CutOfNothing", Code::kContradiction,
             "<draws data=\"d\" §cuts=\"Op\"/></packet><data name=\"d\"/><packet name=\"Q\" "
             "dwords=\"1\"><doc>.</doc><field name=\"Op\" dword=\"0\" bits=\"31:24\" type=\"uint\" "
             "forced=\"2\"/>",
             "cuts is only of use with indices"),
      Packet("CutThatNobodyAsksFor", Code::kContradiction,
             "<draws data=\"d\" indices=\"d\" §cut=\"Op\"/></packet><data name=\"d\"/><packet "
             "name=\"Q\" dwords=\"1\"><doc>.</doc><field name=\"Op\" dword=\"0\" bits=\"31:24\" "
             "type=\"uint\" forced=\"2\"/>",
             "cut is only of use with cuts"),
      Packet("DrawsOfNoData", Code::kUnknownReference, "<draws §data=\"d\"/>",
             "there is no <data name=\"d\">"),

      // --- Rules of lint: everything that can be wrong with one, where it is.
      Packet("RuleWithoutNumber", Code::kMissingAttribute,
             "§<rule severity=\"error\" when=\"Flag\"><doc>.</doc></rule>",
             "<rule> needs number=\"…\""),
      Packet("RuleWithoutSeverity", Code::kMissingAttribute,
             "§<rule number=\"L1\" when=\"Flag\"><doc>.</doc></rule>",
             "<rule> needs severity=\"…\""),
      Packet("RuleOfNothing", Code::kMissingAttribute,
             "§<rule number=\"L1\" severity=\"error\"><doc>.</doc></rule>",
             "a rule needs when=\"…\", what must not hold, or left=\"…\" and right=\"…\""),
      Packet("RuleWithALeftSideOnly", Code::kMissingAttribute,
             "§<rule number=\"L1\" severity=\"error\" left=\"Mode\"><doc>.</doc></rule>",
             "left=\"…\" and right=\"…\" go together: what is compared with what"),
      Packet("RuleWithARightSideOnly", Code::kMissingAttribute,
             "§<rule number=\"L1\" severity=\"error\" when=\"Flag\" "
             "right=\"Mode\"><doc>.</doc></rule>",
             "left=\"…\" and right=\"…\" go together: what is compared with what"),
      Packet("RuleWithoutDoc", Code::kMissingAttribute,
             "§<rule number=\"L1\" severity=\"error\" when=\"Flag\"/>",
             "a rule needs a <doc> that says why it is one"),
      Packet("RuleOfAnUnknownSeverity", Code::kBadNumber,
             "<rule number=\"L1\" §severity=\"fatal\" when=\"Flag\"><doc>.</doc></rule>",
             "severity=\"fatal\" must be one of note, warning, error"),
      Packet("RuleOfAnUnknownComparison", Code::kBadNumber,
             "<rule number=\"L1\" severity=\"error\" left=\"Mode\" §is=\"above\" "
             "right=\"1\"><doc>.</doc></rule>",
             "is=\"above\" must be one of equal, different, below, at-most, multiple"),
      Packet("RuleWithAForeignAttribute", Code::kUnknownAttribute,
             "<rule number=\"L1\" severity=\"error\" when=\"Flag\" §of=\"P\"><doc>.</doc></rule>",
             "<rule> has no attribute \"of\"; it may have number, severity, when, left, is, right"),
      Packet("RuleWithAField", Code::kUnknownElement,
             "<rule number=\"L1\" severity=\"error\" when=\"Flag\">§<field/><doc>.</doc></rule>",
             "<rule> cannot hold <field>"),
      Packet("RuleAboutNoField", Code::kUnknownField,
             "<rule number=\"L1\" severity=\"error\" §when=\"Flags\"><doc>.</doc></rule>",
             "\"Flags\" does not begin with a field of \"P\""),
      Packet("RuleThatComparesNoField", Code::kUnknownField,
             "<rule number=\"L1\" severity=\"error\"\n  §left=\"Modus\" "
             "right=\"1\"><doc>.</doc></rule>",
             "\"Modus\" does not begin with a field of \"P\""),
      Packet("RuleThatComparesWithNoField", Code::kUnknownField,
             "<rule number=\"L1\" severity=\"error\" left=\"Mode\"\n  "
             "§right=\"Modus\"><doc>.</doc></rule>",
             "\"Modus\" does not begin with a field of \"P\""),
      Packet("RuleOnAReal", Code::kBadCondition,
             "<rule number=\"L1\" severity=\"error\" §when=\"Real\"><doc>.</doc></rule>",
             "\"Real\" cannot be compared: only integers without an encoding can"),
      Packet("RuleThatNeverApplies", Code::kBadCondition,
             "<rule number=\"L1\" severity=\"error\" §when=\"Mode=8\"><doc>.</doc></rule>",
             "\"8\": \"Mode\" has 3 bits and never holds that"),
      Packet("RuleNumberTwice", Code::kDuplicateName,
             "¤<rule number=\"L1\" severity=\"error\" when=\"Flag\"><doc>.</doc></rule>\n  §<rule "
             "number=\"L1\" severity=\"note\" when=\"Mode=1\"><doc>.</doc></rule>",
             "there are two rules with the number \"L1\" here", {"the first is here"}),

      // --- Warnings.
      In("NoDoc", Code::kNoDocumentation,
         "§<packet name=\"P\" dwords=\"1\"><field name=\"Op\" dword=\"0\" bits=\"31:24\" "
         "type=\"uint\" forced=\"1\"/></packet>",
         "packet \"P\" has no <doc>"),
      In("UnusedEnum", Code::kUnusedEnum,
         "§<enum name=\"E\"><value name=\"X\" value=\"1\"/></enum>", "no field has the type \"E\""),
      In("ValueTwice", Code::kValueTwice,
         "<struct name=\"A\" dwords=\"1\"><field name=\"f\" dword=\"0\" bits=\"7:0\" "
         "type=\"uint\">¤<value name=\"X\" value=\"1\"/>\n§<value name=\"Y\" "
         "value=\"1\"/></field></struct>",
         "\"Y\" and \"X\" are both 1; decoding shows the first", {"the first is here"}),
      {"NothingRemoved",
       Code::kNothingRemoved,
       {{"main.xml",
         "<packsmith generation=\"g2\" extends=\"a.xml\">\n  §<remove "
         "packet=\"X\"/>\n</packsmith>"},
        {"a.xml", "<packsmith family=\"f\" generation=\"g1\"/>"}},
       "there is nothing of that name to remove",
       {}},
      {"NoFieldRemoved",
       Code::kNothingRemoved,
       {{"main.xml",
         "<packsmith generation=\"g2\" extends=\"a.xml\">\n  <struct name=\"A\" "
         "amend=\"true\">§<remove field=\"X\"/></struct>\n</packsmith>"},
        {"a.xml",
         "<packsmith family=\"f\" generation=\"g1\"><struct name=\"A\" "
         "dwords=\"1\"/></packsmith>"}},
       "there is nothing of that name to remove",
       {}},
      {"NoRuleRemoved",
       Code::kNothingRemoved,
       {{"main.xml",
         "<packsmith generation=\"g2\" extends=\"a.xml\">\n  <struct name=\"A\" "
         "amend=\"true\">§<remove rule=\"L1\"/></struct>\n</packsmith>"},
        {"a.xml",
         "<packsmith family=\"f\" generation=\"g1\"><struct name=\"A\" "
         "dwords=\"1\"/></packsmith>"}},
       "there is nothing of that name to remove",
       {}},
  };
  return cases;
}

class DiagnosticTest : public testing::TestWithParam<Case> {};

// The problem as a value: its number, its place, its words, its notes.
TEST_P(DiagnosticTest, IsFoundAtItsPlace) {
  const Marked marked = TakeMarks(GetParam().files);
  const LoadResult result = LoadFiles(marked.files);
  ASSERT_FALSE(marked.problems.empty());
  const Diagnostic* found = nullptr;
  for (const Diagnostic& d : result.diagnostics.all()) {
    if (d.code == GetParam().code && d.text == GetParam().text) {
      ASSERT_EQ(found, nullptr) << "reported twice";
      found = &d;
    }
  }
  ASSERT_NE(found, nullptr) << FormatAll(result.diagnostics, result.sources);
  EXPECT_EQ(PlaceOf(result.sources, found->where), marked.problems[0]);
  ASSERT_EQ(found->notes.size(), GetParam().notes.size());
  for (size_t i = 0; i < found->notes.size(); ++i) {
    EXPECT_EQ(found->notes[i].text, GetParam().notes[i]);
    EXPECT_EQ(PlaceOf(result.sources, found->notes[i].where), marked.notes.at(i));
  }
  EXPECT_EQ(result.diagnostics.has_errors(), IsError(GetParam().code));
}

// A mistake causes one report, not a heap of them. Marks say where more are due.
TEST_P(DiagnosticTest, IsTheOnlyProblem) {
  const Marked marked = TakeMarks(GetParam().files);
  const LoadResult result = LoadFiles(marked.files);
  std::vector<std::string> all;
  for (const Diagnostic& d : result.diagnostics.all()) all.push_back(Format(d, result.sources));
  EXPECT_EQ(all.size(), marked.problems.size()) << FormatAll(result.diagnostics, result.sources);
}

// file:line:column, kind, number and text; the source line; a caret under the column.
TEST_P(DiagnosticTest, IsPrintedWithItsLineAndACaret) {
  const Marked marked = TakeMarks(GetParam().files);
  const LoadResult result = LoadFiles(marked.files);
  const auto printed = [](const Place& at, const std::string& what) {
    std::string text = absl::StrCat(at.file, ":", at.line, ":", at.column, ": ", what, "\n");
    if (!at.source_line.empty() && at.column <= 160) {
      absl::StrAppend(&text, "  ", at.source_line.substr(0, 160), "\n  ",
                      std::string(at.column - 1, ' '), "^\n");
    }
    return text;
  };
  std::string expected =
      printed(marked.problems[0], absl::StrCat(IsError(GetParam().code) ? "error " : "warning ",
                                               CodeName(GetParam().code), ": ", GetParam().text));
  for (size_t i = 0; i < GetParam().notes.size(); ++i) {
    expected += printed(marked.notes.at(i), absl::StrCat("note: ", GetParam().notes[i]));
  }
  EXPECT_THAT(FormatAll(result.diagnostics, result.sources), HasSubstr(expected));
}

INSTANTIATE_TEST_SUITE_P(Codes, DiagnosticTest, testing::ValuesIn(Cases()),
                         [](const testing::TestParamInfo<Case>& info) {
                           return absl::StrCat(CodeName(info.param.code), info.param.name);
                         });

TEST(Diagnostics, EachCodeHasACase) {
  std::set<Code> covered;
  for (const Case& c : Cases()) covered.insert(c.code);
  for (int i = 1; i < static_cast<int>(Code::kEndOfErrors); ++i) {
    EXPECT_EQ(covered.count(static_cast<Code>(i)), 1u) << CodeName(static_cast<Code>(i));
  }
  for (int i = 101; i < static_cast<int>(Code::kEndOfWarnings); ++i) {
    EXPECT_EQ(covered.count(static_cast<Code>(i)), 1u) << CodeName(static_cast<Code>(i));
  }
}

TEST(Diagnostics, PrintsALineANoteAndCarets) {
  const LoadResult result = LoadFiles({{"main.xml", R"(<packsmith family="f" generation="g">
  <struct name="A" dwords="1">
    <field name="Low" dword="0" bits="7:0" type="uint"/>
    <field name="Next" dword="0" bits="15:7" type="uint"/>
  </struct>
</packsmith>
)"}});
  EXPECT_EQ(
      FormatAll(result.diagnostics, result.sources),
      R"(main.xml:4:5: error E011: "Next" (bits 15:7) overlaps "Low" (bits 7:0); overlap="true" says that it is meant
      <field name="Next" dword="0" bits="15:7" type="uint"/>
      ^
main.xml:3:5: note: the other is here
      <field name="Low" dword="0" bits="7:0" type="uint"/>
      ^
)");
}

TEST(Diagnostics, AllProblemsOfAFileComeInOneRunInItsOrder) {
  const Marked marked = TakeMarks({{"main.xml", Described(R"(
§<packet name="P" dwords="2"><doc>.</doc>
  <field name="f" §dword="x" bits="0" type="bool"/>
  <field name="g" dword="1" §bits="3:9" type="uint"/>
  <field name="h" dword="0" bits="9:8" §type="Nothing"/>
</packet>
<struct name="A" dwords="1">
  <field name="f" dword="0" bits="3:0" type="uint"/>
  §<field name="g" dword="0" bits="4:3" type="uint"/>
  §<field name="h" dword="1" bits="0" type="bool"/>
  <field name="i" dword="0" bits="31:28" type="uint" §default="16"/>
  <field name="j" dword="0" bits="27:12" type="address"><points §to="B"/></field>
</struct>
<part §nonsense=""/>)")}});
  const LoadResult result = LoadFiles(marked.files);
  EXPECT_THAT(Summary(result),
              ElementsAre("E017 main.xml:4:1", "E005 main.xml:5:19", "E006 main.xml:6:29",
                          "E008 main.xml:7:40", "E011 main.xml:11:3", "E010 main.xml:12:3",
                          "E012 main.xml:13:54", "E021 main.xml:14:65", "E002 main.xml:16:1"));
}

TEST(Diagnostics, ProblemsOfAnOlderFileAreShownInThatFile) {
  const LoadResult result = LoadFiles(
      {{"main.xml",
        "<packsmith generation=\"new\" extends=\"old/old.xml\"><struct name=\"B\" "
        "dwords=\"0\"/></packsmith>"},
       {"old/old.xml",
        "<packsmith family=\"f\" generation=\"old\" extends=\"older.xml\">\n<struct name=\"A\" "
        "dwords=\"none\"/></packsmith>"},
       {"old/older.xml", "<packsmith family=\"f\" generation=\"older\">\n\n<enum/></packsmith>"}});
  EXPECT_THAT(Summary(result), testing::IsSupersetOf({"E005 main.xml:1:68", "E005 old/old.xml:2:18",
                                                      "E004 old/older.xml:3:1"}));
}

TEST(Diagnostics, CaretStandsUnderItsColumnBehindTabs) {
  const LoadResult result = LoadFiles(
      {{"main.xml", "<packsmith family=\"f\" generation=\"g\">\n\t\t<nothing/>\n</packsmith>"}});
  EXPECT_EQ(
      FormatAll(result.diagnostics, result.sources),
      "main.xml:2:3: error E002: <packsmith> cannot hold <nothing>\n  \t\t<nothing/>\n  \t\t^\n");
}

TEST(Diagnostics, LinesEndWithOrWithoutCarriageReturns) {
  const LoadResult result = LoadFiles(
      {{"main.xml", "<packsmith family=\"f\" generation=\"g\">\r\n <nothing/>\r\n</packsmith>"}});
  EXPECT_EQ(FormatAll(result.diagnostics, result.sources),
            "main.xml:2:2: error E002: <packsmith> cannot hold <nothing>\n   <nothing/>\n   ^\n");
}

TEST(Diagnostics, LongLinesAreCut) {
  const LoadResult result =
      LoadFiles({{"main.xml", absl::StrCat("<packsmith family=\"f\" generation=\"g\"><nothing/>",
                                           std::string(10000, ' '), "<nowhere/></packsmith>")}});
  const std::string printed = FormatAll(result.diagnostics, result.sources);
  EXPECT_LT(printed.size(), 500u);
  EXPECT_THAT(printed,
              HasSubstr("main.xml:1:10048: error E002: <packsmith> cannot hold <nowhere>\n"));
}

TEST(Diagnostics, AFileThatCannotBeReadHasNoLine) {
  const LoadResult result = LoadFiles({});
  EXPECT_EQ(FormatAll(result.diagnostics, result.sources),
            "error E022: cannot read \"main.xml\": there is no such file\n");
}

TEST(Diagnostics, AThousandAreKeptAndTheRestCounted) {
  std::string body;
  for (int i = 0; i < 1500; ++i) body += "<nothing/>\n";
  const LoadResult result = LoadBody(body);
  EXPECT_EQ(result.diagnostics.all().size(), 1000u);
  EXPECT_EQ(result.diagnostics.not_stored(), 500u);
  EXPECT_EQ(result.diagnostics.errors(), 1500u);
  EXPECT_TRUE(
      absl::EndsWith(FormatAll(result.diagnostics, result.sources), "… and 500 more problems\n"));
}

TEST(Diagnostics, WarningsAreNoErrors) {
  const LoadResult result = LoadBody("<enum name=\"E\"><value name=\"X\" value=\"0\"/></enum>");
  EXPECT_THAT(Summary(result), ElementsAre("W102 main.xml:3:1"));
  EXPECT_FALSE(result.diagnostics.has_errors());
  EXPECT_TRUE(ToStatus(result).ok());
}

TEST(Diagnostics, StatusHoldsThePrintedForm) {
  const LoadResult result = LoadBody("<nothing/>");
  EXPECT_EQ(ToStatus(result).message(), FormatAll(result.diagnostics, result.sources));
}

// A fault in bits="…" is reported once, and not again for what follows from it.
TEST(Diagnostics, BitsThatCannotBeReadHaveNoConsequences) {
  const LoadResult result = LoadBody(R"(
<packet name="P" dwords="2" length="L" bias="2"><doc>.</doc>
  <field name="Op" dword="0" bits="24:31" type="uint" forced="120"/>
  <field name="L" dword="0" bits="7:0" type="uint"/>
  <field name="Scale" dword="1" bits="x" type="u4.8" default="3"/>
  <field name="Mode" dword="1" bits="" type="uint" default="5"><value name="On" value="7"/></field>
  <field name="Low" dword="1" bits="3:0" type="uint"/>
  <field name="High" dword="1" bits="99999999:4" type="uint"/>
  <reserved dword="1" bits="5-4"/>
  <variant dwords="3" when="Mode=3"/>
</packet>)");
  EXPECT_THAT(Summary(result),
              ElementsAre("E006 main.xml:5:30", "E006 main.xml:7:33", "E004 main.xml:8:3",
                          "E006 main.xml:10:32", "E006 main.xml:11:23"));
}

TEST(Diagnostics, MeantOverlapsAreNoProblem) {
  const LoadResult result = LoadBody(R"(
<struct name="N" dwords="1"><field name="x" dword="0" bits="31:0" type="uint"/></struct>
<struct name="A" dwords="3">
  <field name="f" dword="0" bits="31:0" type="float"/>
  <field name="u" dword="0" bits="31:0" type="uint" overlap="true"/>
  <field name="n" dword="1" bits="31:0" type="N" overlap="true"/>
  <field name="m" dword="1" bits="31:0" type="N"/>
  <group name="bytes" count="4" dword="2" size="8" overlap="true"><field name="b" dword="0" bits="7:0" type="uint"/></group>
  <field name="whole" dword="2" bits="31:0" type="uint"/>
</struct>)");
  EXPECT_THAT(Summary(result), IsEmpty());
}

TEST(Diagnostics, PacketsOfDifferentEnginesOrStreamsMayShareAnOpcode) {
  const std::string op =
      "<doc>.</doc><field name=\"Op\" dword=\"0\" bits=\"31:24\" type=\"uint\" "
      "forced=\"1\"/></packet>";
  const LoadResult result =
      LoadBody(absl::StrCat("<engine name=\"a\"/><engine name=\"b\"/><stream name=\"t\"/>",
                            "<packet name=\"P\" dwords=\"1\" engines=\"a\">", op,
                            "<packet name=\"Q\" dwords=\"1\" engines=\"b\">", op,
                            "<packet name=\"R\" dwords=\"1\" stream=\"t\">", op));
  EXPECT_THAT(Summary(result), IsEmpty());
}

}  // namespace
}  // namespace packsmith::model
