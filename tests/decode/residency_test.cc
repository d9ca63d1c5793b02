// Dumps that have all memory that their submissions may use: other memory is a fault, even if
// decoding does not read it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/decode/without_shapes.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr absl::string_view kXml = R"(
<packsmith family="test" generation="residency" title="Residency">
  <space name="own" number="0"/>
  <space name="global" number="1"/>
  <stream name="commands"/>
  <base name="heap"/>
  <data name="texels"/>
  <struct name="Texture" dwords="2">
    <field name="Kind" dword="0" bits="3:0" type="uint"/>
    <field name="Free" dword="0" bits="31:8" type="uint"/>
    <field name="Texels" dword="1" bits="31:0" type="address">
      <points to="texels" when="Kind" access="readwrite"/>
    </field>
  </struct>
  <packet name="SET_HEAP" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="1"/>
    <field name="Heap" dword="1" bits="31:4" type="address"><sets base="heap"/></field>
  </packet>
  <packet name="STORE" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="2"/>
    <field name="Enable" dword="0" bits="0" type="bool"/>
    <field name="Global" dword="0" bits="1" type="bool"/>
    <field name="Free" dword="0" bits="23:8" type="uint"/>
    <field name="Destination" dword="1" bits="31:0" type="address">
      <points to="texels" when="Enable" space="global" space-when="Global" access="write"/>
    </field>
  </packet>
  <packet name="SCRATCH" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="3"/>
    <field name="Offset" dword="1" bits="31:0" type="offset">
      <points to="texels" base="heap" access="readwrite"/>
    </field>
  </packet>
  <packet name="NAME" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="4"/>
    <field name="Named" dword="1" bits="31:0" type="address">
      <points to="texels" access="none"/>
    </field>
  </packet>
  <packet name="READ" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="5"/>
    <field name="Size" dword="0" bits="15:0" type="uint"/>
    <field name="Source" dword="1" bits="31:0" type="address">
      <points to="texels" size="Size" access="read"/>
    </field>
  </packet>
  <packet name="BIND" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="6"/>
    <field name="Texture" dword="1" bits="31:0" type="address">
      <points to="Texture" access="read"/>
    </field>
  </packet>
  <packet name="BIND_TABLE" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="7"/>
    <field name="Count" dword="0" bits="7:0" type="uint"/>
    <field name="Textures" dword="1" bits="31:0" type="address">
      <points to="Texture" count="Count" until="zero" limit="8" access="read"/>
    </field>
  </packet>
  <packet name="END" dwords="1">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="9"/>
    <flow kind="end"/>
  </packet>
</packsmith>)";

constexpr uint32_t kSetHeap = 0x01000000, kStore = 0x02000000, kScratch = 0x03000000,
                   kName = 0x04000000, kRead = 0x05000000, kBind = 0x06000000,
                   kBindTable = 0x07000000, kEnd = 0x09000000;
constexpr uint32_t kStates = 0x5000, kTarget = 0x8000, kForgotten = 0x20000, kNothing = 0x40000;

const tables::Tables& Tables() {
  static const tables::Tables kTables = TablesOf(kXml);
  return kTables;
}

World With(std::vector<uint32_t> packets, const std::vector<uint32_t>& states = {0, 0}) {
  packets.push_back(kEnd);
  World world;
  world.Put(0x1000, packets).Put(kStates, states).PutZeros(kTarget, 0x1000);
  world.Submit(0x1000, 4 * packets.size());
  world.dump().buffers.push_back({0, kForgotten, 0x1000, "texture (not resident)"});
  world.dump().SortBuffers();
  world.dump().memory_is_complete = true;
  ExpectSameWithoutShapes(Tables(), {&world.dump()});
  return world;
}

std::vector<std::string> FaultsOf(const World& world) { return Tell(Tables(), world).Faults(); }

TEST(Residency, APacketThatStoresToABufferThatIsNotResidentIsAtFault) {
  const Story story = Tell(Tables(), With({kStore | 1, kForgotten + 0x40}));
  ASSERT_THAT(story.Faults(), ElementsAre("unmapped 63:32"));
  EXPECT_EQ(
      story.Only("STORE").faults[0].text,
      "Destination points to 0x20040, in \"texture (not resident)\", which the job may not use: "
      "add its memory to the job's residents, as Use() of a batch does");
  EXPECT_EQ(story.Only("STORE").faults[0].value, kForgotten + 0x40);
}

TEST(Residency, MemoryThatTheDumpHasIsNoFault) {
  EXPECT_THAT(FaultsOf(With({kStore | 1, kTarget, kSetHeap, kTarget, kScratch, 0x100})), IsEmpty());
}

TEST(Residency, AnAddressOfNothingIsAFault) {
  const Story story = Tell(Tables(), With({kStore | 1, kNothing}));
  ASSERT_THAT(story.Faults(), ElementsAre("unmapped 63:32"));
  EXPECT_THAT(story.Only("STORE").faults[0].text, HasSubstr("may not use memory at 0x40000"));
}

TEST(Residency, ADumpThatDoesNotSayThatItIsCompleteHasNoSuchFault) {
  World world = With({kStore | 1, kForgotten, kStore | 1, kNothing});
  world.dump().memory_is_complete = false;
  EXPECT_THAT(FaultsOf(world), IsEmpty());
}

TEST(Residency, WhatAPacketDoesNotUseIsNoFault) {
  EXPECT_THAT(FaultsOf(With({
                  kStore, kForgotten,      // switched off
                  kStore | 3, kForgotten,  // of another space, which is not in the dump
                  kStore | 1, 0,           // null
                  kName, kForgotten,       // neither read nor written
                  kRead | 0, kForgotten,   // no bytes of it
              })),
              IsEmpty());
}

TEST(Residency, AnOffsetFromABaseIsLookedForWhereItLeads) {
  EXPECT_THAT(FaultsOf(With({kSetHeap, kForgotten, kScratch, 0x100})),
              ElementsAre("unmapped 63:32"));
  EXPECT_THAT(FaultsOf(With({kScratch, 0x100})), IsEmpty()) << "its base is unknown";
}

TEST(Residency, MemoryThatDecodingReadsIsNamedAsWell) {
  const Story story = Tell(Tables(), With({kRead | 8, kForgotten}));
  ASSERT_THAT(story.Faults(), ElementsAre("unmapped 63:32"));
  EXPECT_THAT(story.Only("READ").faults[0].text, HasSubstr("in \"texture (not resident)\""));
}

TEST(Residency, ATextureBehindADescriptorIsAFaultOfTheDescriptor) {
  const Story story = Tell(Tables(), With({kBind, kStates}, {1, kForgotten}));
  EXPECT_THAT(story.Faults(), ElementsAre("unmapped 63:32"));
  EXPECT_EQ(story.Only("Texture").faults.size(), 1u);
  EXPECT_THAT(FaultsOf(With({kBind, kStates}, {0, kForgotten})), IsEmpty()) << "a null texture";
}

TEST(Residency, OfATableWhoseLengthNobodyKnowsNothingIsCertain) {
  const std::vector<uint32_t> table = {1, kTarget, 1, kForgotten, 0, 0};
  EXPECT_THAT(FaultsOf(With({kBindTable | 2, kStates}, table)), ElementsAre("unmapped 63:32"));
  EXPECT_THAT(FaultsOf(With({kBindTable | 1, kStates}, table)), IsEmpty());
  EXPECT_THAT(FaultsOf(With({kBindTable, kStates}, table)), IsEmpty());
}

TEST(Residency, RecordsLikeEarlierOnesAreLookedAtAgain) {
  std::vector<uint32_t> packets;
  for (uint32_t i = 0; i < 40; ++i) {
    packets.insert(packets.end(), {kStore | 1 | i << 8, i == 33 ? kForgotten : kTarget + 16 * i});
  }
  EXPECT_THAT(FaultsOf(With(packets)), ElementsAre("unmapped 63:32"));
}

TEST(Residency, PacketsThatLeadToWhatOthersHaveLedToAreLookedAtAgain) {
  std::vector<uint32_t> packets, states;
  for (uint32_t i = 0; i < 80; ++i) {
    packets.insert(packets.end(), {kBind, kStates + 8 * i});
    states.insert(states.end(), {1 | i << 8, i % 32 == 30 ? kForgotten + i : kTarget + 16 * i});
  }
  EXPECT_THAT(FaultsOf(With(packets, states)), ElementsAre("unmapped 63:32", "unmapped 63:32"));
}

TEST(Residency, OneDecoderReadsDumpsThatAreCompleteAndDumpsThatAreNot) {
  std::vector<uint32_t> packets, states;
  for (uint32_t i = 0; i < 40; ++i) {
    packets.insert(packets.end(), {kBind, kStates + 8 * i, kStore | 1, kForgotten});
    states.insert(states.end(), {1 | i << 8, kForgotten});
  }
  const World complete = With(packets, states);
  World other = With(packets, states);
  other.dump().memory_is_complete = false;
  const std::vector<const Dump*> dumps = {&other.dump(), &complete.dump(), &other.dump()};
  EXPECT_EQ(TellAll(Tables(), dumps).Faults().size(), 80u);
  ExpectSameWithoutShapes(Tables(), dumps);
}

TEST(Residency, ANameDoesNotReachATerminalAsItIs) {
  World world = With({kStore | 1, kForgotten});
  world.dump().buffers[0].name = "a\x1b[2Jb";
  EXPECT_THAT(Text(Tables(), {&world.dump()}), testing::Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace packsmith::decode
