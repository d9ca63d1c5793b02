// Packets that lead to what others have led to: what they share is shown without being worked out
// again, and what they do not share is seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/decode/decoder.h"
#include "tests/decode/without_forms.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// Draws whose state is a table of structures and a program, which has data, registers and code.
// What is in a program says what the structures are and how many values a packet behind it has.
constexpr absl::string_view kXml = R"(
<packsmith family="test" generation="trees" title="Trees" unit="byte">
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
    <field name="Values" dword="1" bits="31:0" type="address">
      <points to="values" size="Counts.Count*4" access="read"/>
    </field>
  </struct>

  <packet name="Set heap" bytes="8" stream="commands">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="1"/>
    <field name="Heap" dword="1" bits="31:4" type="address"><sets base="heap"/></field>
  </packet>
  <packet name="State" bytes="12" stream="commands">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="2"/>
    <field name="High" dword="0" bits="7:0" type="uint"/>
    <field name="Things" dword="0" bits="11:8" type="uint"/>
    <field name="Program" dword="1" bits="31:0" type="address" high="High">
      <points to="program" base="heap" access="read"/>
    </field>
    <field name="Table" dword="2" bits="31:0" type="address">
      <points to="Large thing" count="Things" when="kind of things=Large" access="read"/>
      <points to="Small thing" count="Things" access="read"/>
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
  <packet name="Counts" bytes="4" stream="program">
    <field name="Tag" dword="0" bits="7:0" type="uint" forced="2"/>
    <field name="Count" dword="0" bits="15:8" type="uint"/>
    <field name="Kind" dword="0" bits="16" type="Kind"><sets state="kind of things"/></field>
    <reserved dword="0" bits="31:28" must="zero"/>
  </packet>
  <packet name="Code" bytes="6" stream="program">
    <field name="Tag" dword="0" bits="7:0" type="uint" forced="3"/>
    <field name="At" dword="0" bits="47:16" type="address" shift="0">
      <points to="code" base="heap" access="read"/>
    </field>
  </packet>
  <packet name="Stop" bytes="2" stream="program">
    <field name="Tag" dword="0" bits="7:0" type="uint" forced="8"/>
    <field name="Done" dword="0" bits="15:8" type="uint"/>
    <flow kind="terminate"/>
  </packet>
</packsmith>)";

const tables::Tables& Tables() {
  static const tables::Tables kTables = TablesOf(kXml);
  return kTables;
}

constexpr uint32_t kStream = 0x1000, kPrograms = 0x20000, kThings = 0x60000, kValues = 0x80000,
                   kCode = 0xa0000;
constexpr uint32_t kProgramBytes = 64, kThingBytes = 64;

// One draw's state, as the packets have it.
struct One {
  uint32_t program, table = kThings, things = 1, high = 0;
  uint32_t size = 2, from = kValues, count = 1, kind = 0, code = kCode, reserved = 0, done = 0;
  uint32_t counts = 1;  // how many Counts there are
  uint32_t vertices = 3;
  bool stops = true;
};

// A stream of draws and their memory.
class Draws {
 public:
  // The i-th has its program and its things at the i-th place.
  explicit Draws(uint32_t count, const std::function<void(uint32_t, One&)>& change = {}) {
    for (uint32_t i = 0; i < count; ++i) {
      One one{.program = kPrograms + i * kProgramBytes};
      one.table = kThings + i * kThingBytes;
      one.vertices = 3 + i;
      if (change) change(i, one);
      Add(i, one);
    }
  }
  std::vector<uint32_t>& stream() { return stream_; }
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
    std::vector<uint32_t> things(0x2000 / 4), values(0x1000 / 4), code(0x100 / 4);
    for (size_t i = 0; i < things.size(); ++i) {
      things[i] = i % 2 == 0 ? static_cast<uint32_t>(i % 7) : kValues;
    }
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint32_t>(i % 5);
    world.Put(kStream, stream).PutBytes(kPrograms, programs_).Put(kThings, things);
    world.Put(kValues, values).Put(kCode, code).Submit(kStream, 4 * stream.size());
    world.last().bases.push_back({"heap", 0});
  }

 private:
  void Add(uint32_t i, const One& one) {
    stream_.insert(stream_.end(), {0x02000000 | one.things << 8 | one.high, one.program, one.table,
                                   0x03000000, one.vertices});
    std::vector<uint8_t> bytes;
    const auto put = [&](uint64_t value, size_t size) {
      for (size_t k = 0; k < size; ++k) bytes.push_back(static_cast<uint8_t>(value >> 8 * k));
    };
    put(1 | one.size << 8, 4);
    put(one.from, 4);
    for (uint32_t k = 0; k < one.counts; ++k) {
      put(2 | one.count << 8 | one.kind << 16 | one.reserved << 28, 4);
    }
    put(3 | uint64_t{one.code} << 16, 6);
    put((one.stops ? 8 : 0x77) | one.done << 8, 2);
    bytes.resize(kProgramBytes);
    programs_.resize((i + 1) * kProgramBytes);
    std::copy(bytes.begin(), bytes.end(), programs_.begin() + i * kProgramBytes);
  }

  std::vector<uint32_t> stream_;
  std::vector<uint8_t> programs_;
};

// What a decoder says, and how many trees it knew.
struct WithTrees : Story {
  void OnTree(const RecordTree& tree) override {
    ++trees;
    Story::OnTree(tree);
  }
  size_t trees = 0;
};

WithTrees Know(const Dumps& dumps, const Options& options = {}) {
  WithTrees story;
  Decoder decoder(Tables(), story, options);
  for (const Dump* dump : dumps) decoder.Decode(*dump);
  decoder.Finish();
  return story;
}

WithTrees Know(const World& world, const Options& options = {}) {
  ExpectSameWithoutForms(Tables(), {&world.dump()}, options);
  return Know({&world.dump()}, options);
}

TEST(Trees, OfDrawsThatAreAlikeAreKnown) {
  const WithTrees story = Know(Draws(20).Whole());
  EXPECT_GE(story.trees, 16u);
  EXPECT_THAT(story.Faults(), IsEmpty());
  EXPECT_THAT(story.problems, IsEmpty());
  for (const char* name : {"Load", "Counts", "Code", "Stop", "values", "code", "Small thing"}) {
    EXPECT_THAT(story.Named(name), SizeIs(20)) << name;
  }
  EXPECT_EQ(story.summary.draws, 20u);
}

TEST(Trees, AreEachWhereTheyAre) {
  const WithTrees story = Know(Draws(20).Whole());
  const std::vector<Seen> programs = story.Named("Load"), states = story.Named("State");
  for (uint32_t i = 0; i < 20; ++i) {
    EXPECT_EQ(programs[i].address, kPrograms + i * kProgramBytes);
    EXPECT_EQ(programs[i].parent, states[i].id);
    EXPECT_EQ(states[i].address, kStream + i * 20);
  }
}

TEST(Trees, AreNotMadeWithoutForms) {
  EXPECT_EQ(Know(Draws(20).Whole(), {.forms = false}).trees, 0u);
}

TEST(Trees, SayWhatIsDifferentInEach) {
  const WithTrees story = Know(Draws(40, [](uint32_t i, One& one) {
                                 one.done = i;
                                 one.from = kValues + i * 8;
                                 one.code = kCode + i % 3 * 16;
                                 one.high = 0;
                               }).Whole());
  EXPECT_GE(story.trees, 25u);
  EXPECT_EQ(story.Named("Stop")[39].Number("Done"), 39u);
  EXPECT_EQ(story.Named("values")[39].address, kValues + 39 * 8);
}

TEST(Trees, OfOtherSizesAreOthers) {
  const WithTrees story =
      Know(Draws(60, [](uint32_t i, One& one) { one.size = 1 + i % 3; }).Whole());
  EXPECT_GE(story.trees, 40u);
  EXPECT_EQ(story.Named("values")[59].data_size, 4u * (1 + 59 % 3));
}

TEST(Trees, OfMoreKindsThanAreKeptSayNothingElse) {
  std::mt19937 random(3);
  Know(Draws(120, [&](uint32_t, One& one) {
         one.size = random() % 8;
         one.things = random() % 5;
       }).Whole());
}

TEST(Trees, APointerWithinThatLeadsNowhereIsAFaultThereAlone) {
  const WithTrees story = Know(Draws(20, [](uint32_t i, One& one) {
                                 if (i == 12) one.from = 0x7000000;
                                 if (i == 14) one.code = 0x7000000;
                                 if (i == 16) one.program = 0x7000000;
                               }).Whole());
  EXPECT_THAT(story.Faults(), SizeIs(3));
}

TEST(Trees, AReservedBitWithinIsAFaultThereAlone) {
  const WithTrees story =
      Know(Draws(20, [](uint32_t i, One& one) { one.reserved = i == 12; }).Whole());
  EXPECT_THAT(story.Faults(), SizeIs(1));
}

TEST(Trees, AProgramThatDoesNotStopIsDecodedAsFarAsItGoes) {
  const WithTrees story =
      Know(Draws(20, [](uint32_t i, One& one) { one.stops = i != 12; }).Whole());
  // It goes on into the next one.
  EXPECT_THAT(story.Named("Stop"), SizeIs(20));
  EXPECT_THAT(story.Named("Load"), SizeIs(21));
}

TEST(Trees, SetStatesForThoseThatAskLater) {
  // The kind of the things behind a program's state is what the program has set.
  const WithTrees story = Know(Draws(64, [](uint32_t i, One& one) {
                                 one.kind = i / 2 % 2;
                                 one.count = 1 + i / 4 % 3;
                                 one.table = kThings;
                                 one.things = 2;
                               }).Whole());
  EXPECT_GE(story.trees, 20u);
  EXPECT_THAT(story.Named("Large thing"), SizeIs(64));
  EXPECT_THAT(story.Named("Small thing"), SizeIs(64));
}

TEST(Trees, WithTheSameOneDwordPacketSeveralTimes) {
  Know(Draws(30, [](uint32_t i, One& one) { one.counts = 1 + i % 3; }).Whole());
}

TEST(Trees, CountFromTheBaseThatThereIs) {
  Draws draws(30);
  // In the middle the heap moves up, and what counts from it with it.
  std::vector<uint32_t>& stream = draws.stream();
  stream.insert(stream.begin() + 20 * 5, {0x01000000, 0x40});
  for (uint32_t i = 20; i < 30; ++i) stream[i * 5 + 2 + 1] -= i < 29 ? 0x40 : 0;
  const WithTrees story = Know(draws.Whole());
  EXPECT_GE(story.trees, 20u);
  EXPECT_EQ(story.Named("Load")[20].address, kPrograms + 20 * kProgramBytes);
}

TEST(Trees, KnowAddressesThatAreSplit) {
  World world;
  Draws draws(20, [](uint32_t i, One& one) { one.high = i % 4 == 3 ? 1 : 0; });
  draws.Put(world);
  world.PutBytes(uint64_t{1} << 32 | kPrograms, draws.programs());
  Know(world);
}

TEST(Trees, OfAnotherSubmissionAreLookedForInItsMemory) {
  const World first = Draws(10).Whole();
  const World second = Draws(10, [](uint32_t i, One& one) { one.done = 100 + i; }).Whole();
  const World third = Draws(10, [](uint32_t, One& one) { one.code = kCode + 0x80; }).Whole();
  const Dumps dumps = {&first.dump(), &second.dump(), &third.dump(), &first.dump()};
  ExpectSameWithoutForms(Tables(), dumps);
  const WithTrees story = Know(dumps);
  EXPECT_GE(story.trees, 30u);
  EXPECT_EQ(story.Named("Stop")[19].Number("Done"), 109u);
}

TEST(Trees, OfAMemoryThatIsGoneAreNotLookedAt) {
  WithTrees story;
  Decoder decoder(Tables(), story);
  for (int i = 0; i < 4; ++i) {
    const World world = Draws(10).Whole();
    decoder.Decode(world.dump());
  }
  decoder.Finish();
  EXPECT_GE(story.trees, 30u);
}

TEST(Trees, AreWithinTheBoundsOfASubmission) {
  const World world = Draws(20).Whole();
  for (uint64_t most = 1; most < 120; ++most) {
    Options packets, structs;
    packets.most_packets = most;
    structs.most_structs = most;
    ExpectSameWithoutForms(Tables(), {&world.dump()}, packets);
    ExpectSameWithoutForms(Tables(), {&world.dump()}, structs);
  }
  for (uint32_t deepest = 0; deepest < 3; ++deepest) {
    Options pointers, calls;
    pointers.deepest_pointer = deepest;
    calls.deepest_call = deepest;
    ExpectSameWithoutForms(Tables(), {&world.dump()}, pointers);
    ExpectSameWithoutForms(Tables(), {&world.dump()}, calls);
  }
}

TEST(Trees, NameTheBuffersOfEach) {
  World world = Draws(20).Whole();
  for (uint32_t i = 0; i < 8; ++i) {
    world.dump().buffers.push_back(
        {0, kPrograms + i * 0x90, 0x90, "programs " + std::to_string(i)});
    world.dump().buffers.push_back({0, kValues + i * 0x10, 0x10, "values " + std::to_string(i)});
  }
  world.dump().SortBuffers();
  EXPECT_GE(Know(world).trees, 16u);
}

TEST(Trees, ThatEndWithTheMemoryAreDecodedAsFarAsItGoes) {
  for (uint32_t bytes = 1; bytes < 3 * kProgramBytes; bytes += 3) {
    Draws draws(12);
    draws.programs().resize(draws.programs().size() - bytes);
    Know(draws.Whole());
  }
}

TEST(Trees, OfAnyDrawsSayWhatIsSaidWithoutThem) {
  std::mt19937 random(1);
  size_t trees = 0;
  for (int round = 0; round < 60; ++round) {
    // Most draws are alike; some have something else, and some bits are turned over.
    Draws draws(40, [&](uint32_t, One& one) {
      if (random() % 3 == 0) one.done = random() % 4;
      if (random() % 8 == 0) one.count = random() % 3;
      if (random() % 8 == 0) one.kind = random() % 2;
      if (random() % 8 == 0) one.things = random() % 4;
      if (random() % 8 == 0) one.code = kCode + random() % 8 * 8;
      if (random() % 16 == 0) one.counts = random() % 4;
      if (random() % 16 == 0) one.size = random() % 4;
    });
    for (int i = 0; i < round % 8; ++i) {
      draws.programs()[random() % draws.programs().size()] ^=
          static_cast<uint8_t>(1u << random() % 8);
      draws.stream()[random() % draws.stream().size()] ^= 1u << random() % 24;
    }
    trees += Know(draws.Whole()).trees;
    if (HasFailure()) break;
  }
  EXPECT_GT(trees, 400u);
}

}  // namespace
}  // namespace packsmith::decode
