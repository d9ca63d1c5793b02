// Descriptions as text: everything in the description is printed.
#include "runtime/describe/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/generations/generations.h"
#include "tests/describe/rockets.h"

namespace packsmith::describe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string TextOf(absl::Span<const Reference> references, size_t generation,
                   absl::string_view kind, absl::string_view name, const std::string& field = "") {
  return DescriptionText(references, generation,
                         HistoryOf(references, references[generation].family(), kind, name),
                         {false, field});
}

TEST(Text, APacketDwordByDwordWithItsHistory) {
  EXPECT_EQ(TextOf(References({kRocket1, kRocket2}), 0, "packet", "CLEAR"),
            R"(CLEAR  packet of rocket1, 3 dwords
  Fills the render target.
  (The manual, page 7.)
  generations   rocket1, rocket2
  aliases       WIPE, ERASE
  opcode        0x10000000 in the bits 0xff000000
  length        Length, counted in dwords minus 2
  stream        commands, for render

dword 0
   31:24  Opcode     uint     always 0x10
    23:8  (not described)
     7:0  Length     uint     the packet's length
dword 1
      31  reserved, must be one
   30:28  (not described)
   27:20  Limit      uint     at most 9
   19:18  (not described)
   17:16  Mode       uint
              0  Fast
              1  Slow
    15:8  Green      uint
     7:0  Red Level  uint
dword 2
    31:6  Colors     offset
              Where the colors stand.
              points to bytes, Limit*4 bytes, relative to the base heap, read
     5:0  (not described)

changes
  rocket2
    ~ bytes from 12 to 16
    ~ opcode from 0x10000000 to 0x11000000
    - (no name): dword 1, bit 31, reserved
    - Colors: dword 2, bits 31:6, offset
    ~ Opcode: forced from 0x10 to 0x11
    ~ Level: was called Red Level
    ~ Green: from dword 1, bits 15:8 to dword 2, bits 15:8
    + Mode: value 2 Faster
    - Mode: value 1 Slow
    ~ Limit: max from 9 to 10
    ~ Limit: default from none to 3
    + Depth: dword 3, bits 31:0, float
)");
}

constexpr char kFlawed[] = R"(
<packsmith family="acme" generation="rocket1" title="Acme Rocket 1">
  <stream name="commands"/>
  <platform name="pad" pci="0x1"/>
  <packet name="CLEAR" dwords="1"><doc>Fills.</doc>
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="0x10"/>
    <field name="Level" dword="0" bits="7:0" type="uint"/>
  </packet>
  <packet name="WAIT" dwords="1"><doc>Waits.</doc>
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="0x11"/>
    <field name="All" dword="0" bits="0" type="bool"/>
  </packet>
  <workaround number="4711" platforms="pad(a0..b0) rocket2" honored="runtime/clear.cc">
    <doc>Clears too early.</doc>
    <asks kind="before" of="CLEAR" with="WAIT" field="All" value="1"/>
    <asks kind="limit" of="CLEAR" field="Level" value="9"/>
    <asks kind="again" of="CLEAR"/>
    <asks kind="shader"/>
  </workaround>
</packsmith>)";

constexpr char kLaterFlawed[] = R"(
<packsmith generation="rocket2" extends="0.xml" title="Acme Rocket 2"/>)";

TEST(Text, WorkaroundsAreAtWhatTheyAreAbout) {
  const std::string text = TextOf(References({kFlawed}), 0, "packet", "CLEAR");
  EXPECT_THAT(text,
              HasSubstr("\n  Wa_4711 on pad(a0..b0): WAIT with All 1 must precede this packet (the "
                        "runtime does it). Clears too\n    early.\n"
                        "  Wa_4711 on pad(a0..b0): Level of this packet is limited to 9"));
  EXPECT_THAT(text, HasSubstr("this packet must be emitted again"));
  EXPECT_THAT(TextOf(References({kFlawed}), 0, "packet", "WAIT"), Not(HasSubstr("Wa_4711")));
  EXPECT_EQ(TextOf(References({kFlawed}), 0, "workaround", "Wa_4711"),
            R"(Wa_4711  workaround of rocket1
  Clears too early.
  generations   rocket1
  aliases       4711
  on            pad(a0..b0)
  done in       runtime/clear.cc

  WAIT with All 1 must precede CLEAR
  Level of CLEAR is limited to 9
  CLEAR must be emitted again
  about the code of shaders
)");
}

TEST(Text, WorkaroundsOfSeveralGenerationsMakeNoNewVersion) {
  const References references({kFlawed, kLaterFlawed});
  const std::string text = TextOf(references, 1, "packet", "CLEAR");
  EXPECT_THAT(text, HasSubstr("Wa_4711 on pad(a0..b0), rocket2: WAIT"));
  EXPECT_THAT(text, Not(HasSubstr("changes")));
  EXPECT_THAT(TextOf(references, 1, "workaround", "Wa_4711"),
              HasSubstr("  on            pad(a0..b0), rocket2\n"));
}

TEST(Text, GroupsCountFromTheirItems) {
  EXPECT_EQ(TextOf(References({kRocket1}), 0, "struct", "Border"),
            R"(Border  struct of rocket1, 5 dwords
  What lies beyond.
  generations   rocket1

dword 0
    31:3  (not described)
     2:0  Compare  Compare
              0  Never
              1  Less
              7  Always
from dword 1: Edge, 1 dword, 2 times
        31:8  (not described)
         7:0  Width  uint     stored minus 1
from dword 3: 1 dword, 2 times
        31:0  Channel  float
)");
}

TEST(Text, OneFieldWithItsValuesAndItsHistory) {
  EXPECT_EQ(TextOf(References({kRocket1, kRocket2}), 1, "packet", "CLEAR", "Mode"),
            R"(CLEAR.Mode  packet of rocket2, 4 dwords
  generations   rocket1, rocket2
  dword 1, bits 17:16
  uint
    0  Fast
    2  Faster

changes
  rocket2
    + Mode: value 2 Faster
    - Mode: value 1 Slow
)");
}

TEST(Text, MeaningsAreOfAnEngineOrOfWork) {
  const References references({R"(<packsmith family="test" generation="meanings" title="Meanings">
    <struct name="WORK" dwords="1">
      <field name="Control" dword="0" bits="2:0" type="uint" means="component-control" at="3"/>
      <field name="Shape" dword="0" bits="7:4" type="uint" means="topology"/>
    </struct>
    <register name="STOP" offset="0x10" dwords="1">
      <field name="Head" dword="0" bits="31:2" type="uint" means="ring-head" at="2"/>
    </register>
  </packsmith>)"});
  const std::string work = TextOf(references, 0, "struct", "WORK");
  EXPECT_THAT(work, HasSubstr("gives the component control of a draw or dispatch, number 3"));
  EXPECT_THAT(work, HasSubstr("gives the topology of a draw or dispatch\n"));
  EXPECT_THAT(TextOf(references, 0, "register", "STOP"),
              HasSubstr("gives the ring head of an engine, from bit 2"));
}

TEST(Text, WhatNeedsPrivilegeSaysSo) {
  const References references({R"(
<packsmith family="acme" generation="locked" title="Locked">
  <space name="own" number="0"/>
  <space name="global" number="1" privileged="true"/>
  <register name="TAIL" offset="0x30" dwords="1" privileged="true">
    <field name="Value" dword="0" bits="31:0" type="uint"/>
  </register>
  <register name="SCRATCH" offset="0x34" dwords="1">
    <field name="Value" dword="0" bits="31:0" type="uint"/>
  </register>
</packsmith>)"});
  EXPECT_THAT(TextOf(references, 0, "register", "TAIL"),
              HasSubstr("privilege     a batch without it cannot write it\n"));
  EXPECT_THAT(TextOf(references, 0, "space", "global"),
              HasSubstr("privilege     a batch without it has no access\n"));
  EXPECT_THAT(TextOf(references, 0, "register", "SCRATCH"), Not(HasSubstr("privilege")));
  EXPECT_THAT(TextOf(references, 0, "space", "own"), Not(HasSubstr("privilege")));
}

TEST(Text, ControlCharactersOfADescriptionDoNotReachTheTerminal) {
  const References references(
      {"<packsmith family=\"f\" generation=\"g\"><stream name=\"s\"/>"
       "<struct name=\"A\" dwords=\"1\"><doc>x\xc2\x9b"
       "31mred</doc></struct></packsmith>"});
  EXPECT_THAT(TextOf(references, 0, "struct", "A"), Not(HasSubstr("\xc2\x9b")));
}

TEST(Text, ThreeNeighboursAreARange) {
  std::vector<std::string> texts;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    texts.push_back(absl::StrCat("<packsmith family=\"f\" generation=\"", name,
                                 "\"><stream name=\"s\"/></packsmith>"));
  }
  const References references(texts);
  EXPECT_EQ(GenerationsText(references, {"a", "b", "c"}), "a to c");
  EXPECT_EQ(GenerationsText(references, {"a", "b", "d"}), "a, b, d");
  EXPECT_EQ(GenerationsText(references, {"b", "c", "d", "e"}), "b to e");
  EXPECT_EQ(GenerationsText(references, {"e"}), "e");
}

TEST(Text, TheListNamesGenerationsWithAliasesAndEngines) {
  const std::string list = ListText(References({kRocket1, kRocket2}), false);
  EXPECT_THAT(list, HasSubstr("rocket1  Acme Rocket 1\n  also called 1, one\n"));
  EXPECT_THAT(list, HasSubstr("render (rcs, 0), copy (bcs, 1)"));
  EXPECT_THAT(list, HasSubstr("2 packets, 1 structures, 2 registers, 1 enumerations"));
}

// Everything that is built in, not samples: a field that the text leaves out cannot be found.
TEST(Text, EveryDescriptionOfEveryGenerationMentionsAllItsFieldsAndValues) {
  std::vector<Reference> references;
  for (const tables::Tables& tables : BuiltInGenerations()) {
    absl::StatusOr<Reference> reference = Reference::Open(tables);
    ASSERT_TRUE(reference.ok()) << reference.status();
    references.push_back(*std::move(reference));
  }
  std::map<std::tuple<absl::string_view, absl::string_view, std::string>, History> histories;
  for (size_t i = 0; i < references.size(); ++i) {
    size_t containers = 0;
    for (const Entry& entry : references[i].entries()) {
      const absl::string_view family = references[i].family();
      auto history = histories.find({family, entry.kind, entry.name});
      if (history == histories.end()) {
        history = histories
                      .emplace(std::make_tuple(family, entry.kind, entry.name),
                               HistoryOf(references, family, entry.kind, entry.name))
                      .first;
      }
      const std::string text = DescriptionText(references, i, history->second, {});
      const auto check = [&](const Json& named) {
        if (!absl::StrContains(text, Text(named, "name"))) {
          ADD_FAILURE() << references[i].generation() << " " << entry.name << ": "
                        << Text(named, "name");
        }
      };
      const rapidjson::Document record = Parse(entry.line);
      for (const Member& member : MembersOf(record)) {
        check(*member.item);
        for (const Json& value : Array(*member.item, "values")) check(value);
      }
      for (const Json& value : Array(record, "values")) check(value);
      containers += record.HasMember("bytes");
    }
    EXPECT_EQ(containers, references[i].tables().containers().size());
  }
}

}  // namespace
}  // namespace packsmith::describe
