// The address space of what a pointer points to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using testing::ElementsAre;

constexpr absl::string_view kXml = R"(
<packsmith family="test" generation="spaces" title="Spaces">
  <space name="own" number="0"/>
  <space name="global" number="1"/>
  <stream name="commands"/>
  <struct name="Entry" dwords="1">
    <field name="Value" dword="0" bits="31:0" type="uint"/>
  </struct>
  <packet name="OWN" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="1"/>
    <field name="Entry" dword="1" bits="31:4" type="address"><points to="Entry" access="read"/></field>
  </packet>
  <packet name="ALWAYS" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="2"/>
    <field name="Entry" dword="1" bits="31:4" type="address">
      <points to="Entry" space="global" access="read"/>
    </field>
  </packet>
  <packet name="CHOSEN" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="3"/>
    <field name="Global" dword="0" bits="0" type="bool"/>
    <field name="Entry" dword="1" bits="31:4" type="address">
      <points to="Entry" space="global" space-when="Global" access="read"/>
    </field>
  </packet>
  <packet name="END" dwords="1">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="9"/>
    <flow kind="end"/>
  </packet>
</packsmith>)";

TEST(Spaces, APointerIsInTheSpaceThatItNamesAlwaysOrIfItsConditionHolds) {
  static const tables::Tables kTables = TablesOf(kXml);
  World world;
  // Each twice, so that what is known of a packet is used, too.
  world
      .Put(0x10000, {0x01000000, 0x1000, 0x02000000, 0x1000, 0x03000000, 0x1000, 0x03000001, 0x1000,
                     0x01000000, 0x2000, 0x02000000, 0x2000, 0x03000000, 0x2000, 0x03000001, 0x2000,
                     0x09000000})
      .Put(0x1000, {1})
      .Put(0x2000, {2})
      .Put(0x1000, {11}, 1)
      .Put(0x2000, {12}, 1)
      .Submit(0x10000);
  const Story story = Tell(kTables, world);
  std::vector<uint64_t> values;
  for (const Seen& entry : story.Named("Entry"))
    values.push_back(entry.space * 100 + entry.address);
  EXPECT_THAT(values, ElementsAre(0x1000, 0x1000 + 100, 0x1000, 0x1000 + 100,  //
                                  0x2000, 0x2000 + 100, 0x2000, 0x2000 + 100));
}

}  // namespace
}  // namespace packsmith::decode
