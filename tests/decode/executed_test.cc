// Work that was executed elsewhere, shown with the state that was in effect:
// Decode::DecodeExecuted, and which earlier packets are in effect where they set only some of what
// their kind can.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/decode/decoder.h"
#include "runtime/decode/walk/settings.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const tables::Tables& Gpu() {
  static const tables::Tables tables = TablesOf(R"(
<packsmith family="test" generation="executed">
  <base name="heap"/>
  <base name="other"/>
  <data name="vertices"/>
  <stream name="batch"/>
  <struct name="THING" dwords="1">
    <field name="Value" dword="0" bits="31:0" type="uint"/>
  </struct>
  <packet name="BASES" dwords="3">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="1"/>
    <field name="Heap changes" dword="0" bits="0" type="bool"/>
    <field name="Other changes" dword="0" bits="1" type="bool"/>
    <field name="Heap" dword="1" bits="31:0" type="address"><sets base="heap" when="Heap changes"/></field>
    <field name="Other" dword="2" bits="31:0" type="address"><sets base="other" when="Other changes"/></field>
  </packet>
  <packet name="THINGS" dwords="2">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="2"/>
    <field name="Things" dword="1" bits="31:0" type="offset">
      <points to="THING" base="heap" count="AMOUNT.Count" access="read"/>
    </field>
  </packet>
  <packet name="AMOUNT" dwords="2">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="3"/>
    <field name="Count" dword="1" bits="31:0" type="uint"/>
  </packet>
  <packet name="STEP" dwords="2">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="4"/>
    <field name="Element" dword="0" bits="5:0" type="uint"/>
    <field name="Enable" dword="0" bits="8" type="bool"/>
    <field name="Rate" dword="1" bits="31:0" type="uint"><step of="vertices" element="Element" when="Enable"/></field>
  </packet>
  <packet name="DRAW" dwords="3" role="draw">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="5"/>
    <field name="First" dword="1" bits="31:0" type="uint"/>
    <field name="Count" dword="2" bits="31:0" type="uint"/>
    <draws data="vertices" first="First" count="Count"/>
  </packet>
  <packet name="END" dwords="1">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="0x7f"/>
    <flow kind="end"/>
  </packet>
</packsmith>)");
  return tables;
}

constexpr uint32_t kBases = 0x01000000, kThings = 0x02000000, kAmount = 0x03000000,
                   kStep = 0x04000000, kDraw = 0x05000000, kEnd = 0x7f000000;

// What a simulation keeps of the packets that it executes.
class Executed {
 public:
  // A packet at an address that the dump need not have.
  Executed& Set(absl::string_view name, uint64_t address, const std::vector<uint32_t>& dwords) {
    const auto setting = std::make_shared<const Setting>(Make(name, address, dwords));
    rules_.ForEach(setting->container, setting->bytes, nullptr, 0,
                   [&](const SettingKey& key) { settings_.Set(key, setting); });
    return *this;
  }
  Story Draw(const World& world, uint64_t number = 1, uint32_t vertices = 3) {
    Options options;
    options.bound.each = true;
    options.draws_before = number - 1;
    Story story;
    Decoder decoder(Gpu(), story, options);
    decoder.DecodeExecuted(world.dump(), submission_, Make("DRAW", 0x9000, {kDraw, 0, vertices}),
                           settings_);
    return story;
  }

 private:
  Setting Make(absl::string_view name, uint64_t address, const std::vector<uint32_t>& dwords) {
    Setting setting;
    setting.container = Gpu().FindContainer(name);
    setting.address = address;
    setting.order = order_++;
    for (const uint32_t dword : dwords) {
      for (int i = 0; i < 4; ++i) setting.bytes.push_back(static_cast<uint8_t>(dword >> 8 * i));
    }
    return setting;
  }

  const Submission submission_ = {.index = 3};
  SettingRules rules_{Gpu()};
  Settings settings_;
  uint64_t order_ = 0;
};

std::vector<uint64_t> Values(const Story& story, absl::string_view name, absl::string_view field) {
  std::vector<uint64_t> all;
  for (const Seen& seen : story.Named(name)) all.push_back(seen.Number(field));
  return all;
}

TEST(DecodeExecuted, ShowsThePacketAsExecutedAndBelowItTheStateThatIsInEffect) {
  World world;
  world.Put(0x5010, {11, 22, 33});
  Executed executed;
  executed.Set("BASES", 0x100, {kBases | 1, 0x5000, 0})
      .Set("AMOUNT", 0x200, {kAmount, 2})
      .Set("THINGS", 0x300, {kThings, 0x10});
  const Story story = executed.Draw(world, 7, 5);
  EXPECT_THAT(story.Packets(), ElementsAre("DRAW", "BASES", "AMOUNT", "THINGS"));
  EXPECT_EQ(story.Only("DRAW").Number("Count"), 5u);
  EXPECT_EQ(story.Only("DRAW").address, 0x9000u);
  EXPECT_EQ(story.Only("THINGS").parent, story.Only("DRAW").id);
  EXPECT_EQ(story.Only("THINGS").address, 0x300u);
  EXPECT_THAT(Values(story, "THING", "Value"), ElementsAre(11, 22));
  EXPECT_THAT(story.problems, IsEmpty());
  EXPECT_THAT(story.Faults(), IsEmpty());
}

TEST(DecodeExecuted, ReadsAPacketsTargetWithBasesAndCountsThatWereSetAfterIt) {
  World world;
  world.Put(0x6010, {44, 55, 66});
  Executed executed;
  executed.Set("THINGS", 0x300, {kThings, 0x10})
      .Set("AMOUNT", 0x200, {kAmount, 3})
      .Set("BASES", 0x100, {kBases | 1, 0x6000, 0});
  const Story story = executed.Draw(world);
  EXPECT_THAT(Values(story, "THING", "Value"), ElementsAre(44, 55, 66));
  EXPECT_THAT(story.Faults(), IsEmpty());
}

TEST(DecodeExecuted, FaultsOfPointersAreReportedAndTheRestIsShown) {
  World world;
  Executed executed;
  executed.Set("BASES", 0x100, {kBases | 1, 0xfffff000, 0})
      .Set("THINGS", 0x300, {kThings, 0xfffffff0})
      .Set("AMOUNT", 0x200, {kAmount, 0xffffffff});
  const Story story = executed.Draw(world);
  EXPECT_THAT(story.Packets(), ElementsAre("DRAW", "BASES", "THINGS", "AMOUNT"));
  EXPECT_THAT(story.Faults(), ElementsAre("unmapped 63:32"));
}

Options OfDraw(uint64_t draw) {
  Options options;
  options.bound.draw = draw;
  return options;
}

TEST(Settings, APacketThatSetsOnlyAnotherBaseLeavesTheFirstOneInEffect) {
  World world;
  world.Put(0x1000, {kBases | 1, 0x5000, 0, kBases | 2, 0, 0x7000, kAmount, 1, kThings, 0x10, kDraw,
                     0, 3, kDraw, 0, 4, kEnd});
  world.Put(0x5010, {11});
  world.Submit(0x1000, 4 * 17);
  const Story story = Tell(Gpu(), world, OfDraw(2));
  std::vector<uint64_t> bound;
  for (const Seen& seen : story.Named("BASES")) {
    if (seen.parent == story.Named("DRAW").back().id) bound.push_back(seen.address);
  }
  EXPECT_THAT(bound, ElementsAre(0x1000, 0x100c));
  EXPECT_THAT(story.Faults(), IsEmpty());
}

TEST(Settings, APacketThatSetsAllBasesReplacesTheOneBefore) {
  Executed executed;
  executed.Set("BASES", 0x100, {kBases | 3, 0x5000, 0x6000})
      .Set("BASES", 0x200, {kBases | 3, 0x7000, 0x8000});
  const World world;
  EXPECT_THAT(Values(executed.Draw(world), "BASES", "Heap"), ElementsAre(0x7000));
}

TEST(Settings, EachElementKeepsItsStepUntilItIsSetAgain) {
  Executed executed;
  executed.Set("STEP", 0x100, {kStep | 0x100, 1})
      .Set("STEP", 0x200, {kStep | 0x101, 2})
      .Set("STEP", 0x300, {kStep | 0x100, 3});
  const World world;
  EXPECT_THAT(Values(executed.Draw(world), "STEP", "Rate"), ElementsAre(2, 3));
}

}  // namespace
}  // namespace packsmith::decode
