// Views of bits: fields that a record has only where a condition holds.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/decode/fields/undescribed.h"
#include "tests/decode/without_shapes.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// In a packet, in the items of its tail, in a part, and in what a structure nests.
constexpr absl::string_view kXml = R"(
<packsmith family="test" generation="views" title="Views">
  <stream name="commands"/>
  <struct name="Nested" dwords="2">
    <field name="Wide" dword="0" bits="0" type="bool"/>
    <field name="Both" dword="1" bits="31:0" type="uint"/>
    <field name="Low" dword="1" bits="15:0" type="uint" overlap="true" when="!Wide"/>
  </struct>
  <struct name="Part" dwords="1">
    <field name="Mode" dword="0" bits="1:0" type="uint"><value name="Second" value="2"/></field>
    <field name="First" dword="0" bits="15:8" type="uint"/>
    <field name="Second" dword="0" bits="19:8" type="uint" overlap="true" when="Mode=Second"/>
  </struct>
  <packet name="VIEW" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="1"/>
    <field name="Signed" dword="0" bits="0" type="bool"/>
    <field name="Unsigned" dword="1" bits="15:0" type="uint" overlap="true" when="!Signed"/>
    <field name="Number" dword="1" bits="15:0" type="int" overlap="true" when="Signed"/>
    <field name="More" dword="1" bits="31:16" type="int" overlap="true" when="Signed"/>
  </packet>
  <packet name="ITEMS" dwords="variable" length="Length" bias="1">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="2"/>
    <field name="Length" dword="0" bits="7:0" type="uint"/>
    <group name="Item" count="tail" dword="1" size="32">
      <field name="Kind" dword="0" bits="0" type="bool"/>
      <field name="All" dword="0" bits="31:8" type="uint"/>
      <field name="Some" dword="0" bits="15:8" type="uint" overlap="true" when="Kind"/>
    </group>
  </packet>
  <packet name="PARTS" dwords="1">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="3"/>
    <field name="Count" dword="0" bits="7:0" type="uint"/>
    <part name="Part" when="Count" repeat="Count"/>
  </packet>
  <packet name="NESTED" dwords="3">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="4"/>
    <field name="A" dword="1" bits="63:0" type="Nested"/>
  </packet>
</packsmith>)";

const tables::Tables& Tables() {
  static const tables::Tables kTables = TablesOf(kXml);
  return kTables;
}

World WorldOf(const std::vector<uint32_t>& packets) {
  World world;
  world.Put(0x1000, packets).Submit(0x1000, packets.size() * 4);
  world.last().bare = true;
  return world;
}

// The fields of all packets in text, "name value" each.
std::vector<std::string> Fields(const std::vector<uint32_t>& packets) {
  const World world = WorldOf(packets);
  std::vector<std::string> fields;
  for (const absl::string_view line : absl::StrSplit(Text(Tables(), {&world.dump()}), '\n')) {
    if (!absl::StartsWith(line, "    ")) continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() >= 2) fields.push_back(absl::StrCat(words[0], " ", words[1]));
  }
  return fields;
}

TEST(Views, AreShownWhereTheirConditionHolds) {
  EXPECT_THAT(Fields({0x01000000, 0xffff}), ElementsAre("Signed false", "Unsigned 65535"));
  EXPECT_THAT(Fields({0x01000001, 0xffff}), ElementsAre("Signed true", "Number -1", "More 0"));
}

TEST(Views, OfItemsOfATailAreAskedOfEachItem) {
  EXPECT_THAT(Fields({0x02000002, 0x10200, 0x10301}),
              ElementsAre("Length 2", "Item[0].Kind false", "Item[0].All 258", "Item[1].Kind true",
                          "Item[1].All 259", "Item[1].Some 3"));
}

TEST(Views, OfPartsAreAskedOfEachPart) {
  EXPECT_THAT(Fields({0x03000002, 0x30400, 0x10502}),
              ElementsAre("Count 2", "Part[0].Mode 0", "Part[0].First 4", "Part[1].Mode 2",
                          "Part[1].First 5", "Part[1].Second 261"));
}

TEST(Views, OfAStructureThatIsPartOfAPacketAreAskedOfIt) {
  EXPECT_THAT(Fields({0x04000000, 1, 7}), ElementsAre("A.Wide true", "A.Both 7"));
  EXPECT_THAT(Fields({0x04000000, 0, 7}), ElementsAre("A.Wide false", "A.Both 7", "A.Low 7"));
}

TEST(Views, AreSaidAlikeOfRecordsThatAreLikeEarlierOnes) {
  std::vector<uint32_t> packets;
  for (uint32_t i = 0; i < 64; ++i) {
    packets.insert(packets.end(), {0x01000000 | (i >> 2 & 1), i * 0x1234});
    packets.insert(packets.end(), {0x02000001, i << 8 | (i & 1)});
    packets.insert(packets.end(), {0x03000001, i << 8 | i * 7 % 4});
    packets.insert(packets.end(), {0x04000000, i >> 3 & 1, i});
  }
  const World world = WorldOf(packets);
  ExpectSameWithoutShapes(Tables(), {&world.dump()});
  size_t numbers = 0;
  for (const std::string& field : Fields(packets)) numbers += absl::StartsWith(field, "Number ");
  EXPECT_EQ(numbers, 32u);
}

TEST(Views, ThatDoNotCountDescribeNoBits) {
  const auto undescribed = [](const std::vector<uint32_t>& packet) {
    const tables::Container& view = Tables().container(Tables().FindContainer("VIEW"));
    const std::vector<uint8_t> bytes = Tell(Tables(), WorldOf(packet)).Only("VIEW").bytes;
    return Undescribed(Tables(), {view, bytes, {}});
  };
  EXPECT_THAT(undescribed({0x01000001, 0x10000}), IsEmpty());
  EXPECT_THAT(undescribed({0x01000000, 0x10000}), SizeIs(1));
}

}  // namespace
}  // namespace packsmith::decode
