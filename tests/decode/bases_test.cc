// What offsets are relative to, and in which unit: bases that replace others, modes that registers
// hold.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr absl::string_view kXml = R"(
<packsmith family="test" generation="bases" title="Bases">
  <stream name="commands"/>
  <base name="heap"/>
  <base name="pool" else="heap"/>
  <data name="words" components="U32 uint"/>
  <register name="MODE" offset="0x100" dwords="1" masked="true">
    <field name="Wide" dword="0" bits="3" type="bool"/>
  </register>
  <struct name="Entry" dwords="1">
    <field name="Value" dword="0" bits="31:0" type="uint"/>
  </struct>
  <packet name="SET_HEAP" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="1"/>
    <field name="Heap" dword="1" bits="31:4" type="address"><sets base="heap"/></field>
  </packet>
  <packet name="SET_POOL" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="2"/>
    <field name="Enable" dword="0" bits="0" type="bool"/>
    <field name="Pool" dword="1" bits="31:4" type="address"><sets base="pool" when="Enable"/></field>
  </packet>
  <packet name="WRITE" dwords="3">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="3"/>
    <field name="Register" dword="1" bits="22:2" type="offset"/>
    <field name="Data" dword="2" bits="31:0" type="uint"><writes register="Register"/></field>
  </packet>
  <packet name="BIND" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="4"/>
    <field name="Entry" dword="1" bits="15:4" type="offset">
      <points to="Entry" base="pool" scale="MODE.Wide*7+1" access="read"/>
    </field>
  </packet>
  <packet name="VERTICES" dwords="3">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="5"/>
    <field name="Last" dword="0" bits="15:0" type="uint"/>
    <field name="Stride" dword="1" bits="15:0" type="uint"/>
    <field name="Address" dword="2" bits="31:0" type="address">
      <points to="words" count="Last+1" stride="Stride" access="read"/>
    </field>
  </packet>
  <packet name="END" dwords="1">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="9"/>
    <flow kind="end"/>
  </packet>
</packsmith>)";

constexpr uint32_t kHeap = 0x01000000, kPoolOn = 0x02000001, kPoolOff = 0x02000000;
constexpr uint32_t kWrite = 0x03000000, kBind = 0x04000000, kVertices = 0x05000000;
constexpr uint32_t kEnd = 0x09000000;

const tables::Tables& Tables() {
  static const tables::Tables kTables = TablesOf(kXml);
  return kTables;
}

// The addresses of the entries that a stream's BINDs point to.
std::vector<uint64_t> Entries(std::vector<uint32_t> stream) {
  stream.push_back(kEnd);
  World world;
  world.Put(0x10000, stream).PutZeros(0x1000, 0x4000).Submit(0x10000);
  const Story story = Tell(Tables(), world);
  EXPECT_THAT(story.problems, IsEmpty());
  std::vector<uint64_t> addresses;
  for (const Seen& entry : story.Named("Entry")) addresses.push_back(entry.address);
  return addresses;
}

TEST(Bases, AnotherOneCountsWhileNothingHasSetIt) {
  EXPECT_THAT(Entries({kHeap, 0x1000, kBind, 0x20}), ElementsAre(0x1020u));
}

TEST(Bases, OneThatIsSetCountsWhateverIsSetAfterItElsewhere) {
  EXPECT_THAT(Entries({kPoolOn, 0x2000, kHeap, 0x1000, kBind, 0x20}), ElementsAre(0x2020u));
}

TEST(Bases, OneThatIsSwitchedOffGivesWayAgain) {
  EXPECT_THAT(Entries({kHeap, 0x1000, kPoolOn, 0x2000, kBind, 0x20, kPoolOff, 0x2000, kBind, 0x20}),
              ElementsAre(0x2020u, 0x1020u));
}

TEST(Bases, NeitherOneIsKnown) {
  World world;
  world.Put(0x10000, {kBind, 0x20, kEnd}).Submit(0x10000);
  const Story story = Tell(Tables(), world);
  EXPECT_THAT(story.Named("Entry"), IsEmpty());
  EXPECT_THAT(story.Faults(), ElementsAre("unmapped 47:36"));
}

TEST(Scale, IsOneWhileTheModeIsNotKnown) {
  EXPECT_THAT(Entries({kHeap, 0x1000, kBind, 0x20}), ElementsAre(0x1020u));
}

TEST(Scale, FollowsTheModeThatAPacketHasWrittenToARegister) {
  EXPECT_THAT(Entries({kHeap, 0x1000, kWrite, 0x100, 0x00080008, kBind, 0x20, kWrite, 0x100,
                       0x00080000, kBind, 0x20}),
              ElementsAre(0x1100u, 0x1020u));
}

TEST(Scale, KeepsTheModeWhereAWriteMasksItOut) {
  EXPECT_THAT(
      Entries({kHeap, 0x1000, kWrite, 0x100, 0x00080008, kWrite, 0x100, 0x00010000, kBind, 0x20}),
      ElementsAre(0x1100u));
}

TEST(Count, OfElementsMakesTheSizeOfData) {
  World world;
  world.Put(0x10000, {kVertices | 2, 8, 0x1000, kEnd}).PutZeros(0x1000, 0x1000).Submit(0x10000);
  const Seen words = Tell(Tables(), world).Only("words");
  EXPECT_EQ(words.data_size, 24u);
  EXPECT_EQ(words.data_rows, 3u);
}

TEST(Count, OfManyElementsHasMoreThan32Bits) {
  World world;
  world.Put(0x10000, {kVertices | 0xffff, 0xffff, 0x1000, kEnd})
      .PutZeros(0x1000, 0x1000)
      .Submit(0x10000);
  EXPECT_EQ(Tell(Tables(), world).Only("words").data_size, uint64_t{0x10000} * 0xffff);
}

}  // namespace
}  // namespace packsmith::decode
