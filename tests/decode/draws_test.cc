// Draws and dispatches: their numbers, the state that they find, the lists of them and of uses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/draws_sink.h"
#include "runtime/decode/sinks/jsonl_sink.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/decode/sinks/uses_sink.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A GPU whose packets' first dwords are tag << 24. Programs have instructions of 8 bytes: 0x51
// reads a texture, 0x52 writes a target, each of the element in its second byte; bit 31 ends a
// program.
const tables::Tables& Gpu() {
  static const tables::Tables tables = TablesOf(R"(
<packsmith family="test" generation="draws">
  <base name="heap"/>
  <data name="texels"/>
  <data name="memory"/>
  <data name="vertices"/>
  <data name="code" code="true">
    <instruction mask="0" value="0" bytes="8" end="31"/>
    <reaches as="texture" where="7:0=0x51" index="15:8"/>
    <reaches as="target" where="7:0=0x52" index="15:8"/>
  </data>
  <stream name="batch">
    <serves mask="0xf0000000" value="0x10000000" role="draw"/>
    <serves mask="0xf0000000" value="0x20000000" role="dispatch"/>
  </stream>
  <stream name="other"/>
  <struct name="IMAGE" dwords="4">
    <field name="Format" dword="0" bits="3:0" type="uint">
      <value name="RGBA8" value="1"/>
      <value name="R32F" value="2"/>
    </field>
    <field name="Empty" dword="0" bits="4" type="bool"/>
    <field name="Width" dword="1" bits="15:0" type="uint"/>
    <field name="Height" dword="1" bits="31:16" type="uint"/>
    <field name="Pitch" dword="2" bits="31:0" type="uint"/>
    <field name="Texels" dword="3" bits="31:0" type="address"><points to="texels" access="readwrite"/></field>
    <image when="!Empty" address="Texels" format="Format" width="Width+1" height="Height+1" pitch="Pitch"/>
  </struct>
  <struct name="ENTRY" dwords="1">
    <field name="Image" dword="0" bits="31:4" type="offset"><points to="IMAGE" base="heap" access="read"/></field>
  </struct>
  <packet name="HEAP" dwords="2">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="1"/>
    <field name="Base" dword="1" bits="31:0" type="address"><sets base="heap"/></field>
  </packet>
  <packet name="STORE" dwords="2">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="2"/>
    <field name="To" dword="1" bits="31:0" type="address"><points to="memory" size="4" access="write"/></field>
  </packet>
  <packet name="TABLE" dwords="2">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="0x10"/>
    <field name="Table" dword="1" bits="31:4" type="offset">
      <points to="ENTRY" base="heap" count="SHADER.Entries" stage="pixel" access="read"/>
    </field>
  </packet>
  <packet name="SHADER" dwords="2">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="0x11"/>
    <field name="Entries" dword="0" bits="7:0" type="uint"/>
    <field name="Code" dword="1" bits="31:0" type="address">
      <points to="code" stage="pixel" simd="8" when="Code" access="read"/>
    </field>
  </packet>
  <packet name="TOPOLOGY" dwords="2">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="0x12"/>
    <field name="Topology" dword="1" bits="3:0" type="uint" means="topology">
      <value name="LINES" value="1"/>
      <value name="TRIANGLES" value="2"/>
    </field>
  </packet>
  <packet name="TARGETS" dwords="3">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="0x13"/>
    <field name="Color changes" dword="0" bits="0" type="bool"/>
    <field name="Depth changes" dword="0" bits="1" type="bool"/>
    <field name="Color" dword="1" bits="31:0" type="address">
      <points to="IMAGE" when="Color changes" keeps="true" access="read"/>
    </field>
    <field name="Depth" dword="2" bits="31:0" type="address">
      <points to="IMAGE" when="Depth changes" keeps="true" access="read"/>
    </field>
  </packet>
  <packet name="VERTICES" dwords="3">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="0x14"/>
    <field name="Slot" dword="0" bits="7:0" type="uint"/>
    <field name="Bytes" dword="1" bits="31:0" type="uint"/>
    <field name="Vertices" dword="2" bits="31:0" type="address">
      <points to="vertices" size="Bytes" slot="Slot" access="read"/>
    </field>
  </packet>
  <packet name="KERNEL" dwords="2">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="0x20"/>
    <field name="Code" dword="1" bits="31:0" type="address"><points to="code" stage="compute" access="read"/></field>
  </packet>
  <packet name="DRAW" dwords="3" role="draw">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="0x40"/>
    <field name="Count" dword="1" bits="31:0" type="uint" means="count"/>
    <field name="Instances" dword="2" bits="31:0" type="uint" means="instances"/>
  </packet>
  <packet name="TICK" dwords="1" role="draw">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="0x41"/>
  </packet>
  <packet name="DISPATCH" dwords="4" role="dispatch">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="0x42"/>
    <field name="X" dword="1" bits="31:0" type="uint" means="groups"/>
    <field name="Y" dword="2" bits="31:0" type="uint" means="groups"/>
    <field name="Z" dword="3" bits="31:0" type="uint" means="groups"/>
  </packet>
  <packet name="END" dwords="1">
    <field name="Tag" dword="0" bits="31:24" type="uint" forced="0x7f"/>
    <flow kind="end"/>
  </packet>
</packsmith>)");
  return tables;
}

constexpr uint32_t kHeap = 0x01000000, kStore = 0x02000000, kTable = 0x10000000,
                   kShader = 0x11000000, kTopology = 0x12000000, kTargets = 0x13000000,
                   kVertices = 0x14000000, kKernel = 0x20000000, kDraw = 0x40000000,
                   kTick = 0x41000000, kDispatch = 0x42000000, kEnd = 0x7f000000;

Options Each() {
  Options options;
  options.leads = options.bound.each = true;
  return options;
}
Options OfDraw(uint64_t draw) {
  Options options;
  options.bound.draw = draw;
  return options;
}
Options OfDispatch(uint64_t dispatch) {
  Options options;
  options.bound.dispatch = dispatch;
  return options;
}

std::string Draws(const std::vector<const Dump*>& dumps, bool jsonl) {
  StringOutput output;
  const std::unique_ptr<Sink> sink = MakeDrawsSink(output, jsonl);
  Decoder decoder(Gpu(), *sink, Each());
  for (const Dump* dump : dumps) decoder.Decode(*dump);
  decoder.Finish();
  return output.text();
}

std::string Uses(const Dump& dump, uint64_t address, bool jsonl) {
  StringOutput output;
  const std::unique_ptr<Sink> sink = MakeUsesSink(output, address, jsonl);
  Decoder decoder(Gpu(), *sink, Each());
  decoder.Decode(dump);
  decoder.Finish();
  return output.text();
}

// Two images at 0x5000 and 0x5010 of the heap at 0x4000, a table of both at 0x4020 and a program at
// 0x6000 that renders to the first and samples the second.
void PutState(World& world, uint32_t second_texels = 0x9000) {
  std::vector<uint32_t> heap(0x1020 / 4);
  heap[0x20 / 4] = 0x1000;
  heap[0x24 / 4] = 0x1010;
  heap[0x1000 / 4 + 0] = 1;
  heap[0x1000 / 4 + 1] = 3 << 16 | 7;
  heap[0x1000 / 4 + 2] = 32;
  heap[0x1000 / 4 + 3] = 0x8000;
  heap[0x1010 / 4 + 0] = 2;
  heap[0x1010 / 4 + 1] = 0;
  heap[0x1010 / 4 + 2] = 4;
  heap[0x1010 / 4 + 3] = second_texels;
  world.Put(0x4000, heap);
  world.Put(0x6000, {0x00000151, 0, 0x80000052, 0});
}

// The first draw is set up, the second one keeps all of it.
World TwoDraws() {
  World world;
  world.Put(0x1000, {kHeap, 0x4000, kShader | 2, 0x6000, kTable, 0x20, kTopology, 2, kDraw, 3, 1,
                     kTopology, 1, kDraw, 6, 2, kEnd});
  PutState(world);
  world.Submit(0x1000, 4 * 17);
  return world;
}

// Names of the records below a draw or dispatch that it finds set, and what they point to.
std::vector<std::string> Below(const Story& story, const std::string& work) {
  std::vector<std::string> names;
  std::vector<uint64_t> ids;
  for (const Seen& seen : story.records) {
    if (seen.name == work) ids.assign(1, seen.id);
    if (ids.empty() || std::find(ids.begin(), ids.end(), seen.parent) == ids.end()) continue;
    ids.push_back(seen.id);
    names.push_back(seen.name);
  }
  return names;
}

TEST(Numbers, ARecordSaysItsSubmissionAndTheDrawThatLedToIt) {
  World world = TwoDraws();
  world.last().index = 7;
  const std::string text = Jsonl(Gpu(), {&world.dump()}, OfDraw(2));
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  int draws = 0, of_second = 0;
  for (const std::string& line : lines) {
    if (!absl::StrContains(line, "\"dwords\"")) continue;
    // Only the bound packets came from elsewhere, and from the same submission.
    EXPECT_THAT(line, HasSubstr("\"submission\":7"));
    draws += absl::StrContains(line, "\"name\":\"DRAW\"");
    of_second += absl::StrContains(line, "\"draw\":2");
    if (absl::StrContains(line, "\"name\":\"TABLE\"") && !absl::StrContains(line, "bound")) {
      EXPECT_THAT(line, Not(HasSubstr("\"draw\"")));
    }
  }
  EXPECT_EQ(draws, 2);
  // HEAP, SHADER and its code, TABLE and two entries with an image each; TOPOLOGY came since.
  EXPECT_EQ(of_second, 1 + 1 + 2 + 5);
}

TEST(Numbers, TextHasThemOnThePacketsLineAndForRunsOfPackets) {
  World world;
  world.Put(0x1000, {kDraw, 3, 1, kTick, kTick, kTick, kDispatch, 1, 1, 1, kTick, kEnd});
  world.Submit(0x1000, 4 * 12);
  const std::string text = Text(Gpu(), {&world.dump()});
  EXPECT_THAT(text, HasSubstr("0x000000001000  DRAW  3 dwords  draw 1\n"));
  EXPECT_THAT(text, HasSubstr("TICK  1 dword  draws 2 to 4, 3 times, the last at 0x1014\n"));
  EXPECT_THAT(text, HasSubstr("DISPATCH  4 dwords  dispatch 1\n"));
  EXPECT_THAT(text, HasSubstr("TICK  1 dword  draw 5\n"));
  EXPECT_THAT(Jsonl(Gpu(), {&world.dump()}), HasSubstr("\"dispatch\":1,\"name\":\"DISPATCH\""));
}

TEST(Bound, ADrawThatKeepsItsTableHasRecordsOfWhatItReads) {
  const World world = TwoDraws();
  const Story story = Tell(Gpu(), world, OfDraw(2));
  EXPECT_THAT(Below(story, "DRAW"),
              ElementsAre("HEAP", "SHADER", "code", "TABLE", "ENTRY", "IMAGE", "ENTRY", "IMAGE"));
  EXPECT_THAT(story.problems, IsEmpty());
  EXPECT_THAT(Text(Gpu(), {&world.dump()}, OfDraw(2)),
              HasSubstr("  0x000000001010  TABLE  2 dwords  bound, from submission 0\n"));
}

TEST(Bound, PacketsAreShownWithoutWhatTheyLeadToIfPointersAreNotFollowed) {
  const World world = TwoDraws();
  for (const Follow follow : {Follow::kNone, Follow::kBatches}) {
    Options options = OfDraw(2);
    options.follow = follow;
    EXPECT_THAT(Below(Tell(Gpu(), world, options), "DRAW"), ElementsAre("HEAP", "SHADER", "TABLE"));
  }
}

TEST(Bound, NumbersGoOnBehindThoseOfOtherDecoders) {
  const World world = TwoDraws();
  Options options = OfDraw(12);
  options.draws_before = 10;
  EXPECT_THAT(Below(Tell(Gpu(), world, options), "DRAW"), testing::SizeIs(8));
  EXPECT_THAT(Text(Gpu(), {&world.dump()}, options), HasSubstr("DRAW  3 dwords  draw 12\n"));
}

TEST(Bound, NothingIsShownOnceMoreUnlessAskedFor) {
  const World world = TwoDraws();
  EXPECT_THAT(Below(Tell(Gpu(), world), "DRAW"), IsEmpty());
  EXPECT_THAT(Below(Tell(Gpu(), world, OfDraw(3)), "DRAW"), IsEmpty());
}

TEST(Bound, WhatIsShownOnceMoreIsNotCountedAgain) {
  const World world = TwoDraws();
  const Summary plain = Tell(Gpu(), world).summary;
  const Summary bound = Tell(Gpu(), world, Each()).summary;
  EXPECT_EQ(plain.packets, bound.packets);
  EXPECT_EQ(plain.structs, bound.structs);
  EXPECT_EQ(plain.data, bound.data);
  EXPECT_EQ(plain.draws, bound.draws);
}

TEST(Bound, StateOutlivesASubmissionAndIsReadFromTheMemoryOfTheNext) {
  const World first = TwoDraws();
  World second;
  second.Put(0x2000, {kDraw, 9, 1, kEnd});
  PutState(second, 0xa000);
  second.Submit(0x2000, 16);
  second.last().index = 1;
  const Story story = TellAll(Gpu(), {&first.dump(), &second.dump()}, OfDraw(3));
  const std::vector<std::string> below = Below(story, "DRAW");
  EXPECT_THAT(below, ElementsAre("HEAP", "SHADER", "code", "TABLE", "ENTRY", "IMAGE", "ENTRY",
                                 "IMAGE", "TOPOLOGY"));
  EXPECT_EQ(story.Named("IMAGE").back().Number("Texels"), 0xa000u);
  EXPECT_THAT(Text(Gpu(), {&first.dump(), &second.dump()}, OfDraw(3)),
              HasSubstr("TABLE  2 dwords  bound, from submission 0"));
}

TEST(Bound, AnotherContextsStateIsNotFound) {
  const World first = TwoDraws();
  World second;
  second.Put(0x2000, {kDraw, 9, 1, kEnd});
  PutState(second);
  second.Submit(0x2000, 16);
  second.last().context = 5;
  EXPECT_THAT(Below(TellAll(Gpu(), {&first.dump(), &second.dump()}, OfDraw(3)), "DRAW"), IsEmpty());
}

TEST(Bound, ATableHasAsManyEntriesAsTheLastShaderSays) {
  World world;
  world.Put(0x1000, {kHeap, 0x4000, kShader | 1, 0x6000, kTable, 0x20, kDraw, 3, 1, kShader | 2,
                     0x6000, kDraw, 3, 1, kEnd});
  PutState(world);
  world.Submit(0x1000, 4 * 15);
  EXPECT_THAT(Below(Tell(Gpu(), world, OfDraw(2)), "DRAW"),
              ElementsAre("HEAP", "TABLE", "ENTRY", "IMAGE", "ENTRY", "IMAGE"));
}

TEST(Bound, APointerThatKeepsCountsUntilAnotherPacketSetsIt) {
  World world;
  world.Put(0x1000, {kTargets | 3, 0x5000, 0x5010, kDraw, 3, 1, kTargets | 1, 0x5010, 0, kDraw, 3,
                     1, kDraw, 3, 1, kEnd});
  PutState(world);
  world.Submit(0x1000, 4 * 16);
  // Of the first TARGETS only the depth is left; the second one has the colour.
  const Story story = Tell(Gpu(), world, OfDraw(3));
  EXPECT_THAT(Below(story, "DRAW"), ElementsAre("TARGETS", "IMAGE", "TARGETS", "IMAGE"));
  const std::vector<Seen> images = story.Named("IMAGE");
  ASSERT_EQ(images.size(), 5u);
  EXPECT_EQ(images[3].address, 0x5010u);
  EXPECT_EQ(images[4].address, 0x5010u);
}

TEST(Bound, EachSlotHasALastPacketOfItsOwn) {
  World world;
  world.Put(0x1000, {kVertices | 0, 16, 0x6000, kVertices | 1, 16, 0x4000, kDraw, 3, 1,
                     kVertices | 0, 16, 0x4010, kDraw, 3, 1, kDraw, 3, 1, kEnd});
  PutState(world);
  world.Submit(0x1000, 4 * 19);
  const Story story = Tell(Gpu(), world, OfDraw(3));
  EXPECT_THAT(Below(story, "DRAW"), ElementsAre("VERTICES", "vertices", "VERTICES", "vertices"));
  const std::vector<Seen> data = story.Named("vertices");
  ASSERT_EQ(data.size(), 5u);
  EXPECT_EQ(data[3].address, 0x4000u);
  EXPECT_EQ(data[4].address, 0x4010u);
}

TEST(Bound, ADispatchFindsWhatServesDispatchesOrAnybody) {
  World world;
  world.Put(0x1000, {kHeap, 0x4000, kShader | 2, 0x6000, kKernel, 0x6000, kDispatch, 1, 1, 1,
                     kDispatch, 2, 1, 1, kEnd});
  PutState(world);
  world.Submit(0x1000, 4 * 15);
  EXPECT_THAT(Below(Tell(Gpu(), world, OfDispatch(2)), "DISPATCH"),
              ElementsAre("HEAP", "KERNEL", "code"));
  EXPECT_THAT(Below(Tell(Gpu(), world, Each()), "DISPATCH"),
              ElementsAre("KERNEL", "code", "KERNEL", "code"));
}

TEST(Bound, IsTheSameWithoutShapesAndTrees) {
  World world;
  std::vector<uint32_t> batch = {kHeap, 0x4000, kShader | 2, 0x6000, kTargets | 3, 0x5000, 0x5010};
  for (uint32_t i = 0; i < 40; ++i) {
    batch.insert(batch.end(), {kTable, 0x20, kTargets | 1 | (i & 2), 0x5000 + 16 * (i & 1), 0x5000,
                               kVertices | (i & 3), 16, 0x4000, kDraw, i, 1});
  }
  batch.push_back(kEnd);
  world.Put(0x1000, batch);
  PutState(world);
  world.Submit(0x1000, 4 * batch.size());
  for (Options options : {Each(), OfDraw(1), OfDraw(39), OfDraw(40)}) {
    const std::string text = Text(Gpu(), {&world.dump()}, options);
    const std::string jsonl = Jsonl(Gpu(), {&world.dump()}, options);
    options.shapes = false;
    EXPECT_EQ(text, Text(Gpu(), {&world.dump()}, options));
    EXPECT_EQ(jsonl, Jsonl(Gpu(), {&world.dump()}, options));
  }
}

TEST(Bound, WorkOnHostileInputIsBounded) {
  // Each of many draws finds a large table.
  World world;
  std::vector<uint32_t> batch = {kHeap, 0x4000, kShader | 0xff, 0x6000, kTable, 0x20};
  for (int i = 0; i < 4000; ++i) batch.insert(batch.end(), {kDraw, 3, 1});
  batch.push_back(kEnd);
  world.Put(0x100000, batch);
  PutState(world);
  world.Submit(0x100000, 4 * batch.size());
  Options options = Each();
  options.most_structs = 1000;
  const Story story = Tell(Gpu(), world, options);
  EXPECT_LT(story.records.size(), 1000u + 16 * 1000u + 3 * 4003u);
  EXPECT_THAT(story.problems, ElementsAre(HasSubstr("structures")));
}

TEST(DrawList, HasALineOfTextForEachDrawAndDispatch) {
  World world;
  world.Put(0x1000, {kHeap, 0x4000,    kShader | 2, 0x6000,  kTable, 0x20,      kTopology, 2,
                     kDraw, 3,         1,           kKernel, 0x6000, kDispatch, 4,         2,
                     1,     kTopology, 1,           kDraw,   6,      2,         kEnd});
  PutState(world);
  world.Submit(0x1000, 4 * 23);
  const std::string state =
      "  shaders pixel 0x6000 simd 8  targets 0x8000 RGBA8 8x4  textures 0x9000 R32F 1x1\n";
  EXPECT_EQ(
      Draws({&world.dump()}, false),
      absl::StrCat("work           sub  address         topology          count                 "
                   "    shaders, targets, textures\n"
                   "draw 1           0  0x000000001020  TRIANGLES         3 vertices x 1        "
                   "  ",
                   state,
                   "dispatch 1       0  0x000000001034  -                 4 x 2 x 1 groups      "
                   "    shaders compute 0x6000\n"
                   "draw 2           0  0x00000000104c  LINES             6 vertices x 2        "
                   "  ",
                   state));
}

TEST(DrawList, HasAJsonLineForEachDrawAndDispatch) {
  const World world = TwoDraws();
  const std::string text = Draws({&world.dump()}, true);
  const std::string state =
      R"("shaders":[{"stage":"pixel","space":0,"address":"0x6000","simd":8}],)"
      R"("targets":[{"space":0,"address":"0x8000","format":"RGBA8","width":8,"height":4,)"
      R"("stage":"pixel","index":0}],)"
      R"("textures":[{"space":0,"address":"0x9000","format":"R32F","width":1,"height":1,)"
      R"("stage":"pixel","index":1}],"surfaces":[]})";
  EXPECT_EQ(text, absl::StrCat(R"({"type":"draw","draw":1,"submission":0,"name":"DRAW","space":0,)",
                               R"("address":"0x1020","topology":"TRIANGLES","count":3,)",
                               R"("instances":1,)", state, "\n",
                               R"({"type":"draw","draw":2,"submission":0,"name":"DRAW","space":0,)",
                               R"("address":"0x1034","topology":"LINES","count":6,)",
                               R"("instances":2,)", state, "\n"));
}

TEST(DrawList, ASurfaceThatNoProgramIsSeenToReachIsListedAsOne) {
  World world;
  world.Put(0x1000, {kHeap, 0x4000, kShader | 2, 0x7000, kTable, 0x20, kDraw, 3, 1, kEnd});
  PutState(world);
  world.Put(0x7000, {0x80000000, 0});
  world.Submit(0x1000, 40);
  EXPECT_THAT(Draws({&world.dump()}, false),
              HasSubstr("pixel 0x7000 simd 8  surfaces 0x8000 RGBA8 8x4, 0x9000 R32F 1x1\n"));
}

TEST(Uses, SayWhichPacketsAndDrawsLeadToAnAddress) {
  const World world = TwoDraws();
  // In the second row of the first image.
  EXPECT_EQ(Uses(world.dump(), 0x8025, false),
            " sub  packet          access     points to       packet and field, draws and "
            "dispatches\n"
            "   0  0x000000001010  write      0x000000008000  TABLE > ENTRY[0] > IMAGE > Texels  "
            "draws 1, 2\n");
  EXPECT_EQ(Uses(world.dump(), 0x9003, true),
            R"({"type":"use","submission":0,"packet":"TABLE","space":0,"address":"0x1010",)"
            R"("path":["ENTRY[1]","IMAGE"],"field":"Texels","leads_to":"0x9000",)"
            R"("access":"read","draws":[1,2],"dispatches":[]})"
            "\n");
  EXPECT_EQ(Uses(world.dump(), 0x9004, false), "no packet points to 0x9004\n");
}

TEST(Uses, AreOfProgramsAndDescriptorsToo) {
  const World world = TwoDraws();
  EXPECT_THAT(Uses(world.dump(), 0x6008, false), HasSubstr("SHADER > Code  draws 1, 2\n"));
  EXPECT_THAT(Uses(world.dump(), 0x5010, false),
              HasSubstr("TABLE > ENTRY[1] > Image  draws 1, 2\n"));
  EXPECT_THAT(Uses(world.dump(), 0x4024, false), HasSubstr("TABLE > Table  draws 1, 2\n"));
}

TEST(Uses, OfPacketsThatAreNoStateBelongToNoDraw) {
  World world;
  world.Put(0x1000, {kStore, 0x8000, kDraw, 3, 1, kEnd});
  world.Submit(0x1000, 24);
  EXPECT_THAT(Uses(world.dump(), 0x8003, false),
              HasSubstr("   0  0x000000001000  write      0x000000008000  STORE > To\n"));
}

}  // namespace
}  // namespace packsmith::decode
