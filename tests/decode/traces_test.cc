// Packets that point to what earlier packets pointed to: what they share is shown without being
// decoded again, and differences are noticed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/decode/decoder.h"
#include "tests/decode/without_shapes.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// Draws whose state is a head with its parts and a program, which has data, registers and code.
// The head's own conditions and those of packets after it depend on its fields.
constexpr absl::string_view kXml = R"(
<packsmith family="test" generation="traces" title="Traces" unit="byte">
  <engine name="one"/>
  <engine name="other"/>
  <stream name="commands" align="4"/>
  <stream name="program" align="2"/>
  <base name="heap"/>
  <state name="kind of things" of="Kind"/>
  <data name="values"/>
  <data name="code" code="true"/>
  <enum name="Kind"><value name="Small" value="0"/><value name="Large" value="1"/></enum>
  <struct name="Small thing" bytes="4">
    <field name="Value" dword="0" bits="31:0" type="uint"/>
  </struct>
  <struct name="Large thing" bytes="8">
    <field name="Number" dword="0" bits="15:0" type="uint" max="999"/>
    <field name="Rest" dword="1" bits="31:0" type="uint"/>
  </struct>
  <struct name="Counts" bytes="4">
    <field name="Count" dword="0" bits="7:0" type="uint"/>
    <field name="Kind" dword="0" bits="8" type="Kind"><sets state="kind of things"/></field>
  </struct>
  <struct name="Table" bytes="8">
    <field name="Values" dword="0" bits="31:0" type="address">
      <points to="values" size="Counts.Count*4" access="read"/>
    </field>
    <field name="Things" dword="1" bits="31:0" type="address">
      <points to="Large thing" when="kind of things=Large" access="read"/>
      <points to="Small thing" access="read"/>
    </field>
  </struct>
  <struct name="Head" bytes="4">
    <field name="Has counts" dword="0" bits="0" type="bool"/>
    <field name="Has table" dword="0" bits="1" type="bool"/>
    <field name="Free" dword="0" bits="31:8" type="uint"/>
    <part name="Counts" when="Has counts"/>
    <part name="Table" when="Has table"/>
  </struct>

  <packet name="Set heap" bytes="8" stream="commands">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="1"/>
    <field name="Heap" dword="1" bits="31:4" type="address"><sets base="heap"/></field>
  </packet>
  <packet name="State" bytes="12" stream="commands">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="2"/>
    <field name="High" dword="0" bits="7:0" type="uint"/>
    <field name="Program" dword="1" bits="31:0" type="address" high="High">
      <points to="program" base="heap" access="read"/>
    </field>
    <field name="Alone" dword="0" bits="8" type="bool"/>
    <field name="Head" dword="2" bits="31:0" type="address">
      <points to="Head" when="!Alone" access="read"/>
    </field>
  </packet>
  <packet name="Run" bytes="8" stream="commands">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="5"/>
    <field name="Commands" dword="1" bits="31:0" type="address">
      <points to="commands" access="read"/>
    </field>
  </packet>
  <packet name="Read" bytes="12" stream="commands">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="4"/>
    <field name="Number" dword="0" bits="7:0" type="uint"/>
    <field name="Thing" dword="1" bits="31:0" type="address">
      <points to="Large thing" when="kind of things=Large" access="read"/>
      <points to="Small thing" count="Number" access="read"/>
    </field>
    <field name="Values" dword="2" bits="31:0" type="address">
      <points to="values" size="Counts.Count*4" access="read"/>
    </field>
  </packet>
  <packet name="Draw" bytes="8" stream="commands" role="draw">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="3"/>
    <field name="Vertices" dword="1" bits="31:0" type="uint"/>
  </packet>
  <packet name="End" bytes="4" stream="commands">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="9"/>
    <flow kind="end"/>
  </packet>

  <packet name="Load" bytes="8" stream="program">
    <field name="Tag" dword="0" bits="7:0" type="uint" forced="1"/>
    <field name="Size" dword="0" bits="15:8" type="uint"/>
    <field name="From" dword="1" bits="31:0" type="address">
      <points to="values" size="Size*4" access="read"/>
    </field>
  </packet>
  <packet name="Registers" bytes="4" stream="program">
    <field name="Tag" dword="0" bits="7:0" type="uint" forced="2"/>
    <field name="Number" dword="0" bits="15:8" type="uint" max="200"/>
    <field name="Way" dword="0" bits="27:16" type="uint"/>
    <reserved dword="0" bits="31:28" must="zero"/>
  </packet>
  <packet name="Code" bytes="6" stream="program">
    <field name="Tag" dword="0" bits="7:0" type="uint" forced="3"/>
    <field name="At" dword="0" bits="47:16" type="address" shift="0">
      <points to="code" base="heap" access="read"/>
    </field>
  </packet>
  <packet name="Fetch" bytes="6" stream="program">
    <field name="Tag" dword="0" bits="7:0" type="uint" forced="4"/>
    <field name="Way" dword="0" bits="11:8" type="uint"/>
    <field name="At" dword="0" bits="47:16" type="address" shift="0">
      <points to="values" size="Counts.Count*4" when="Way=0" access="read"/>
      <points to="Small thing" when="Way=3 or Way=5" access="read"/>
    </field>
  </packet>
  <packet name="Go" bytes="6" stream="program">
    <field name="Tag" dword="0" bits="7:0" type="uint" forced="6"/>
    <field name="To" dword="0" bits="47:16" type="address" shift="0"/>
    <flow kind="jump" to="To"/>
  </packet>
  <packet name="Long pause" bytes="4" stream="program" engines="one">
    <field name="Tag" dword="0" bits="15:0" type="uint" forced="0x7705"/>
    <field name="Length" dword="0" bits="31:16" type="uint"/>
  </packet>
  <packet name="Pause" bytes="2" stream="program" engines="other">
    <field name="Tag" dword="0" bits="7:0" type="uint" forced="5"/>
    <field name="Length" dword="0" bits="15:8" type="uint"/>
  </packet>
  <packet name="Stop" bytes="2" stream="program">
    <field name="Tag" dword="0" bits="7:0" type="uint" forced="8"/>
    <field name="Stays" dword="0" bits="15" type="bool"/>
    <field name="Done" dword="0" bits="14:8" type="uint"/>
    <flow kind="terminate" when="!Stays"/>
  </packet>
</packsmith>)";

const tables::Tables& Tables() {
  static const tables::Tables kTables = TablesOf(kXml);
  return kTables;
}

constexpr uint32_t kStream = 0x1000, kPrograms = 0x20000, kHeads = 0x60000, kThings = 0x70000,
                   kValues = 0x80000, kCode = 0xa0000;
constexpr uint32_t kProgramBytes = 64, kHeadBytes = 16, kDrawDwords = 8;

// One draw's state, as the packets have it.
struct One {
  uint32_t program, head, high = 0;
  bool alone = false;
  uint32_t free = 0, count = 1, kind = 0, values = kValues, things = kThings;
  bool has_table = true;
  uint32_t size = 2, from = kValues, number = 1, way = 0, reserved = 0, code = kCode, pause = 1;
  uint32_t fetch = 0;      // its way
  uint32_t go = 0;         // byte of its memory at which it ends, if it jumps there
  uint32_t registers = 1;  // how many of them there are
  uint32_t tag = 8, done = 0;
  uint32_t read = kThings, number_read = 1;
  uint32_t vertices = 3;
};

// A stream of draws and their memory.
class Draws {
 public:
  // The i-th has its program and its head at the i-th place.
  explicit Draws(uint32_t count, const std::function<void(uint32_t, One&)>& change = {}) {
    for (uint32_t i = 0; i < count; ++i) {
      One one{.program = kPrograms + i * kProgramBytes, .head = kHeads + i * kHeadBytes};
      one.vertices = 3 + i;
      if (change) change(i, one);
      Add(one);
    }
  }
  std::vector<uint32_t>& stream() { return stream_; }
  std::vector<uint32_t>& heads() { return heads_; }
  std::vector<uint8_t>& programs() { return programs_; }

  // The dump that this is.
  World Whole() const {
    World world;
    Put(world);
    return world;
  }
  void Put(World& world) const {
    std::vector<uint32_t> stream = stream_;
    stream.push_back(0x09000000);
    std::vector<uint32_t> things(64), values(0x1000 / 4), code(0x100 / 4);
    for (size_t i = 0; i < things.size(); ++i) things[i] = static_cast<uint32_t>(i % 7);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint32_t>(i % 5);
    world.Put(kStream, stream).PutBytes(kPrograms, programs_).Put(kHeads, heads_);
    world.Put(kThings, things).Put(kValues, values).Put(kCode, code);
    world.Submit(kStream, 4 * stream.size());
    world.last().bases.push_back({"heap", 0});
  }

 private:
  void Add(const One& one) {
    stream_.insert(stream_.end(),
                   {0x02000000 | one.high | (one.alone ? 0x100u : 0u), one.program, one.head,
                    0x04000000 | one.number_read, one.read, kValues, 0x03000000, one.vertices});
    heads_.insert(heads_.end(), {one.free << 8 | (one.has_table ? 3u : 1u),
                                 one.count | one.kind << 8, one.values, one.things});
    const size_t end = programs_.size() + kProgramBytes;
    const auto put = [&](uint64_t value, size_t size) {
      for (size_t k = 0; k < size; ++k) programs_.push_back(static_cast<uint8_t>(value >> 8 * k));
    };
    put(1 | one.size << 8, 4);
    put(one.from, 4);
    for (uint32_t k = 0; k < one.registers; ++k) {
      put(2 | one.number << 8 | one.way << 16 | one.reserved << 28, 4);
    }
    put(3 | uint64_t{one.code} << 16, 6);
    put(4 | one.fetch << 8 | uint64_t{kValues} << 16, 6);
    put(5 | one.pause << 8, 2);
    if (one.go != 0) {
      // In between is something that could be mistaken for the end.
      put(6 | uint64_t{one.program + one.go} << 16, 6);
      programs_.resize(end - kProgramBytes + 48);
      put(8 | 0x55 << 8, one.go - 48);
    }
    put(one.tag | one.done << 8, 2);
    programs_.resize(end);
  }

  std::vector<uint32_t> stream_, heads_;
  std::vector<uint8_t> programs_;
};

// A decoder's output, and how many traces it knew.
struct WithTrees : Story {
  void OnTrace(const RecordTrace& trace) override {
    ++traces;
    Story::OnTrace(trace);
  }
  size_t traces = 0;
};

WithTrees Know(const Dumps& dumps, const Options& options = {}) {
  WithTrees story;
  Decoder decoder(Tables(), story, options);
  for (const Dump* dump : dumps) decoder.Decode(*dump);
  decoder.Finish();
  return story;
}

WithTrees Know(const World& world, const Options& options = {}) {
  ExpectSameWithoutShapes(Tables(), {&world.dump()}, options);
  return Know({&world.dump()}, options);
}

TEST(Traces, OfDrawsThatAreAlikeAreKnown) {
  const WithTrees story = Know(Draws(20).Whole());
  EXPECT_GE(story.traces, 2 * 16u);
  EXPECT_THAT(story.Faults(), IsEmpty());
  EXPECT_THAT(story.problems, IsEmpty());
  for (const char* name : {"Load", "Registers", "Code", "Pause", "Stop", "code", "Head"}) {
    EXPECT_THAT(story.Named(name), SizeIs(20)) << name;
  }
  EXPECT_THAT(story.Named("values"), SizeIs(4 * 20 - 1));
  EXPECT_THAT(story.Named("Small thing"), SizeIs(2 * 20));
  EXPECT_EQ(story.summary.draws, 20u);
}

TEST(Traces, AreEachWhereTheyAre) {
  const WithTrees story = Know(Draws(20).Whole());
  const std::vector<Seen> programs = story.Named("Load"), states = story.Named("State");
  for (uint32_t i = 0; i < 20; ++i) {
    EXPECT_EQ(programs[i].address, kPrograms + i * kProgramBytes);
    EXPECT_EQ(programs[i].parent, states[i].id);
    EXPECT_EQ(states[i].address, kStream + i * 4 * kDrawDwords);
  }
}

TEST(Traces, AreNotMadeWithoutShapes) {
  EXPECT_EQ(Know(Draws(20).Whole(), {.shapes = false}).traces, 0u);
}

TEST(Traces, SayWhatIsDifferentInEach) {
  const WithTrees story = Know(Draws(40, [](uint32_t i, One& one) {
                                 one.done = i;
                                 one.free = i * 3;
                                 one.from = kValues + i * 8;
                                 one.code = kCode + i % 3 * 16;
                               }).Whole());
  EXPECT_GE(story.traces, 60u);
  EXPECT_EQ(story.Named("Stop")[39].Number("Done"), 39u);
  EXPECT_EQ(story.Named("Head")[39].Number("Free"), 39u * 3);
}

TEST(Traces, OfOtherSizesAreOthers) {
  const WithTrees story =
      Know(Draws(60, [](uint32_t i, One& one) { one.size = 1 + i % 3; }).Whole());
  EXPECT_GE(story.traces, 100u);
}

TEST(Traces, OfMoreKindsThanAreKeptSayNothingElse) {
  std::mt19937 random(3);
  Know(Draws(200, [&](uint32_t, One& one) {
         one.size = random() % 8;
         one.has_table = random() % 2 != 0;
         one.registers = random() % 4;
         one.number = 199 + random() % 3;
       }).Whole());
}

TEST(Traces, APointerWithinThatLeadsNowhereIsAFaultThereAlone) {
  const WithTrees story = Know(Draws(20, [](uint32_t i, One& one) {
                                 if (i == 12) one.from = 0x7000000;
                                 if (i == 14) one.code = 0x7000000;
                                 if (i == 16) one.program = 0x7000000;
                                 if (i == 18) one.head = 0x7000000;
                               }).Whole());
  EXPECT_THAT(story.Faults(), SizeIs(4));
}

TEST(Traces, AReservedBitWithinIsAFaultThereAlone) {
  const auto change = [](uint32_t i, One& one) { one.reserved = i == 12; };
  EXPECT_THAT(Know(Draws(20, change).Whole()).Faults(), SizeIs(1));
}

TEST(Traces, BoundsOfFieldsThatVaryAreLookedAt) {
  const auto change = [](uint32_t i, One& one) { one.number = i == 18 ? 201 : i; };
  const WithTrees story = Know(Draws(20, change).Whole());
  EXPECT_GE(story.traces, 30u);
  EXPECT_THAT(story.Faults(), SizeIs(1));
}

TEST(Traces, BitsThatVaryMayMakeAnotherPacket) {
  const auto change = [](uint32_t i, One& one) { one.pause = i % 8 == 7 ? 0x77 : i % 5; };
  const WithTrees story = Know(Draws(40, change).Whole());
  EXPECT_GE(story.traces, 60u);
  EXPECT_THAT(story.Named("Long pause"), SizeIs(5));
}

TEST(Traces, AProgramThatDoesNotStopIsDecodedAsFarAsItGoes) {
  for (const bool stays : {false, true}) {
    const WithTrees story = Know(Draws(20, [=](uint32_t i, One& one) {
                                   if (i == 12 && stays) one.done = 0x80;
                                   if (i == 12 && !stays) one.tag = 0x99;
                                 }).Whole());
    // It continues into the next one.
    EXPECT_THAT(story.Named("Load"), SizeIs(21));
  }
}

TEST(Traces, GoWhereEachJumpLeads) {
  const auto change = [](uint32_t i, One& one) { one.go = i < 20 ? 48 : 52; };
  const WithTrees story = Know(Draws(40, change).Whole());
  ASSERT_THAT(story.Named("Stop"), SizeIs(40));
  EXPECT_EQ(story.Named("Stop")[39].Number("Done"), 0u);
}

TEST(Traces, TablesThatTheMemoryCutsAreCutThereAlone) {
  const WithTrees story = Know(Draws(40, [](uint32_t i, One& one) {
                                 one.number_read = 3;
                                 one.read = i < 20 ? kThings + 4 * 63 : kThings;
                               }).Whole());
  // Those of heads, too.
  EXPECT_THAT(story.Named("Small thing"), SizeIs(40 + 20 + 3 * 20));
}

TEST(Traces, SetStatesForThoseThatAskLater) {
  for (const uint32_t often : {1, 2, 7}) {
    const WithTrees story = Know(Draws(84, [=](uint32_t i, One& one) {
                                   one.kind = i / often % 2;
                                   one.count = 1 + i / often % 3;
                                 }).Whole());
    // What the pointers of a head and of the packet after it point to.
    EXPECT_THAT(story.Named("Large thing"), SizeIs(84));
    EXPECT_THAT(story.Named("Small thing"), SizeIs(84));
    EXPECT_GE(story.traces, 40u);
  }
}

TEST(Traces, SetNothingWhereTheyAreNotFoundToTheirEnd) {
  // The trace's first element sets a state; the last one points to nothing.
  const WithTrees story = Know(Draws(40, [](uint32_t i, One& one) {
                                 one.kind = i % 2;
                                 one.count = 1 + i % 2;
                                 // A count that nothing within the trace uses.
                                 one.has_table = i % 2 == 0;
                                 if (i % 8 > 3) one.things = 0x7000000;
                               }).Whole());
  EXPECT_THAT(story.Faults(), SizeIs(10));
}

TEST(Traces, OfFormsThatHaveBecomeOthersAreForgotten) {
  // Sixteen variants, each a shape of its own, replace each other; the first one's traces belong to
  // a packet that no longer occurs meanwhile.
  const WithTrees story = Know(Draws(1000, [](uint32_t i, One& one) {
                                 one.alone = i >= 20 && i < 980;
                                 if (one.alone) one.fetch = i / 20 % 16;
                               }).Whole());
  EXPECT_GE(story.traces, 900u);
}

TEST(Traces, OfAStreamWithinAnotherAreDeeper) {
  World world;
  Draws draws(20);
  const uint32_t inner = kStream + 4 * 10 * kDrawDwords;
  // After ten draws the stream calls what follows, and then runs into it.
  draws.stream().insert(draws.stream().begin() + 10 * kDrawDwords, {0x05000000, inner + 8});
  draws.Put(world);
  const WithTrees story = Know(world);
  EXPECT_GE(story.traces, 40u);
  std::vector<uint32_t> depths;
  for (const Seen& load : story.Named("Load")) depths.push_back(load.depth);
  EXPECT_THAT(depths, testing::Contains(2u).Times(10));
}

TEST(Traces, WithTheSameOneDwordPacketSeveralTimes) {
  Know(Draws(30, [](uint32_t i, One& one) { one.registers = 1 + i % 3; }).Whole());
}

TEST(Traces, CountFromTheBaseThatThereIs) {
  constexpr uint32_t kMoved = 20;
  Draws draws(30, [](uint32_t i, One& one) {
    if (i >= kMoved) one.program -= 0x40;
    if (i >= kMoved) one.code -= 0x40;
  });
  draws.stream().insert(draws.stream().begin() + kMoved * kDrawDwords, {0x01000000, 0x40});
  const WithTrees story = Know(draws.Whole());
  EXPECT_GE(story.traces, 40u);
  EXPECT_THAT(story.Faults(), IsEmpty());
  EXPECT_EQ(story.Named("Load")[kMoved].address, kPrograms + kMoved * kProgramBytes);
}

TEST(Traces, KnowAddressesThatAreSplit) {
  World world;
  Draws draws(20, [](uint32_t i, One& one) { one.high = i % 4 == 3 ? 1 : 0; });
  draws.Put(world);
  world.PutBytes(uint64_t{1} << 32 | kPrograms, draws.programs());
  EXPECT_GE(Know(world).traces, 30u);
}

TEST(Traces, OfAnotherSubmissionAreLookedForInItsMemory) {
  const World first = Draws(10).Whole();
  const World second = Draws(10, [](uint32_t i, One& one) { one.done = 100 + i; }).Whole();
  const World third = Draws(10, [](uint32_t, One& one) { one.code = kCode + 0x80; }).Whole();
  World fourth;
  Draws(10).Put(fourth);
  // Code has another end here.
  fourth.Put(kCode + 0x100, {0, 0, 0, 0});
  const Dumps dumps = {&first.dump(), &second.dump(), &third.dump(), &fourth.dump(), &first.dump()};
  ExpectSameWithoutShapes(Tables(), dumps);
  const WithTrees story = Know(dumps);
  EXPECT_GE(story.traces, 60u);
  EXPECT_EQ(story.Named("Stop")[19].Number("Done"), 109u);
  EXPECT_EQ(story.Named("code")[35].data_size, 0x110u);
}

TEST(Traces, OfAMemoryThatIsGoneAreNotLookedAt) {
  WithTrees story;
  Decoder decoder(Tables(), story);
  for (int i = 0; i < 4; ++i) {
    const World world = Draws(10).Whole();
    decoder.Decode(world.dump());
  }
  decoder.Finish();
  EXPECT_GE(story.traces, 50u);
}

TEST(Traces, AreWithinTheBoundsOfASubmission) {
  const World world = Draws(20).Whole();
  for (uint64_t most = 1; most < 200; ++most) {
    Options packets, structs;
    packets.most_packets = most;
    structs.most_structs = most;
    ExpectSameWithoutShapes(Tables(), {&world.dump()}, packets);
    ExpectSameWithoutShapes(Tables(), {&world.dump()}, structs);
  }
  for (uint32_t deepest = 0; deepest < 3; ++deepest) {
    Options pointers, calls;
    pointers.deepest_pointer = deepest;
    calls.deepest_call = deepest;
    ExpectSameWithoutShapes(Tables(), {&world.dump()}, pointers);
    ExpectSameWithoutShapes(Tables(), {&world.dump()}, calls);
  }
}

TEST(Traces, NameTheBuffersOfEach) {
  const auto named = [](absl::string_view name) {
    World world = Draws(20).Whole();
    for (uint32_t i = 0; i < 8; ++i) {
      world.dump().buffers.push_back(
          {0, kPrograms + i * 0x90, 0x90, absl::StrCat(name, " programs ", i)});
      world.dump().buffers.push_back(
          {0, kValues + i * 0x10, 0x10, absl::StrCat(name, " values ", i)});
    }
    world.dump().SortBuffers();
    return world;
  };
  const World first = named("first"), second = named("second");
  ExpectSameWithoutShapes(Tables(), {&first.dump(), &second.dump()});
  EXPECT_GE(Know(first).traces, 30u);
}

TEST(Traces, ThatEndWithTheMemoryAreDecodedAsFarAsItGoes) {
  for (uint32_t bytes = 1; bytes < 3 * kProgramBytes; bytes += 3) {
    Draws draws(12);
    draws.programs().resize(draws.programs().size() - bytes);
    Know(draws.Whole());
  }
  for (uint32_t dwords = 1; dwords < 9; ++dwords) {
    Draws draws(12);
    draws.heads().resize(draws.heads().size() - dwords);
    Know(draws.Whole());
  }
}

TEST(Traces, WithAProblemSayItEachTime) {
  World world;
  Draws(20, [](uint32_t, One& one) { one.program = 0x50000; }).Put(world);
  // One program for all, which continues where there is no memory.
  world.Put(0x50000, {0x00000201, kValues});
  const WithTrees story = Know(world);
  EXPECT_THAT(story.problems, SizeIs(20));
  EXPECT_THAT(story.Named("Load"), SizeIs(20));
}

TEST(Traces, OfAnyDrawsSayWhatIsSaidWithoutThem) {
  std::mt19937 random(1);
  const auto one_in = [&](uint32_t n) { return random() % n == 0; };
  size_t traces = 0;
  for (int round = 0; round < 60; ++round) {
    // Most draws are alike; some differ, and some bits are flipped.
    Draws draws(40, [&](uint32_t, One& one) {
      if (one_in(3)) one.done = random() % 4;
      if (one_in(8)) one.count = random() % 3;
      if (one_in(8)) one.kind = random() % 2;
      if (one_in(8)) one.has_table = false;
      if (one_in(8)) one.code = kCode + random() % 8 * 8;
      if (one_in(16)) one.registers = random() % 4;
      if (one_in(16)) one.size = random() % 4;
      if (one_in(16)) one.things = kThings + 252;
    });
    for (int i = 0; i < round % 8; ++i) {
      draws.programs()[random() % draws.programs().size()] ^=
          static_cast<uint8_t>(1u << random() % 8);
      draws.stream()[random() % draws.stream().size()] ^= 1u << random() % 24;
      draws.heads()[random() % draws.heads().size()] ^= 1u << random() % 32;
    }
    traces += Know(draws.Whole()).traces;
    if (HasFailure()) break;
  }
  EXPECT_GT(traces, 1000u);
}

constexpr absl::string_view kTailXml = R"(
<packsmith family="test" generation="tails" title="Tails">
  <stream name="commands"/>
  <space name="process" number="0"/>
  <space name="global" number="1"/>
  <struct name="Thing" dwords="1"><field name="Value" dword="0" bits="31:0" type="uint"/></struct>
  <packet name="POINT" dwords="variable" length="Length" bias="1">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="4"/>
    <field name="Free" dword="0" bits="3:0" type="uint"/>
    <field name="Length" dword="0" bits="7:4" type="uint"/>
    <group count="tail" dword="1" size="32">
      <field name="Global" dword="0" bits="0" type="bool"/>
      <field name="Address" dword="0" bits="31:4" type="address">
        <points to="Thing" space="global" space-when="Global" access="read"/>
      </field>
    </group>
  </packet>
  <packet name="END" dwords="1">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="9"/>
    <flow kind="end"/>
  </packet>
</packsmith>)";

TEST(Traces, TheSpaceOfAnAddressInATailIsThatOfItsItem) {
  const tables::Tables tables = TablesOf(kTailXml);
  World world;
  std::vector<uint32_t> batch;
  for (uint32_t i = 0; i < 20; ++i)
    batch.insert(batch.end(), {0x04000010 | i % 16, 0x10000 | i % 2});
  batch.push_back(0x09000000);
  world.Put(0x10000, {1}).Put(0x10000, {2}, 1);
  world.Put(0x1000, batch).Submit(0x1000, 4 * batch.size());
  world.dump().buffers = {{0, 0x10000, 16, "own"}, {1, 0x10000, 16, "global"}};
  world.dump().SortBuffers();
  ExpectSameWithoutShapes(tables, {&world.dump()});
  const std::string text = Text(tables, {&world.dump()});
  EXPECT_THAT(text, testing::HasSubstr("0x10000  in global+0x0"));
  EXPECT_THAT(text, testing::HasSubstr("0x10000  in own+0x0"));
}

// 62 dwords of bits that each have a name.
std::string BitsXml() {
  std::string xml = R"(<packsmith family="test" generation="many" title="Many">
  <stream name="commands"/>
  <struct name="Bits" dwords="62">)";
  for (int i = 0; i < 62 * 32; ++i) {
    absl::StrAppend(&xml, "<field name=\"Bit ", i, "\" dword=\"", i / 32, "\" bits=\"", i % 32,
                    "\" type=\"bool\"/>");
  }
  return absl::StrCat(xml, R"(</struct>
  <packet name="POINT" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="4"/>
    <field name="Count" dword="0" bits="7:0" type="uint"/>
    <field name="Address" dword="1" bits="31:0" type="address">
      <points to="Bits" count="Count" access="read"/>
    </field>
  </packet>
  <packet name="END" dwords="1">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="9"/>
    <flow kind="end"/>
  </packet>
</packsmith>)");
}

TEST(Traces, WithMoreTextThanIsKeptSayNothingElse) {
  const tables::Tables tables = TablesOf(BitsXml());
  std::mt19937 random(1);
  for (const uint32_t count : {1u, 12u}) {
    World world;
    std::vector<uint32_t> batch, bits(62 * count);
    for (uint32_t i = 0; i < 12; ++i) {
      // More and more of them vary.
      for (uint32_t k = 0; k < 40u * i; ++k) bits[random() % bits.size()] ^= 1u << random() % 32;
      world.Put(0x200000 + i * 0x8000, bits);
      batch.insert(batch.end(), {0x04000000 | count, 0x200000 + i * 0x8000});
    }
    batch.push_back(0x09000000);
    world.Put(0x1000, batch).Submit(0x1000, 4 * batch.size());
    ExpectSameWithoutShapes(tables, {&world.dump()});
  }
}

}  // namespace
}  // namespace packsmith::decode
