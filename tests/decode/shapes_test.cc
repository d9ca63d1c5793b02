// Records that reuse results of earlier ones: with shapes a decoder's output is the same as
// without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "tests/decode/without_shapes.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Capture {
  std::string name;
  tables::Tables tables;
  Dump dump;
};

// Captures of real drivers, and the AGX frames.
std::vector<Capture> Captures() {
  std::vector<Capture> captures;
  for (const char* folder : {"tests/data/captures", "tests/agx/data"}) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string name = file.path().string();
      if (name.find(".core") == std::string::npos) continue;
      absl::StatusOr<Dump> dump = ReadDump(name);
      if (!dump.ok()) {
        ADD_FAILURE() << name << ": " << dump.status();
        continue;
      }
      const absl::StatusOr<tables::Tables> tables =
          dump->device.chip_id ? FindGenerationOfChipId(*dump->device.chip_id)
                               : FindGeneration(dump->device.generation);
      if (!tables.ok()) {
        ADD_FAILURE() << name << ": " << tables.status();
        continue;
      }
      captures.push_back({name, *tables, *std::move(dump)});
    }
  }
  return captures;
}

TEST(ShapeCache, OfEveryCaptureSayNothingElse) {
  const std::vector<Capture> captures = Captures();
  EXPECT_GT(captures.size(), 50u);
  for (const Capture& capture : captures) {
    SCOPED_TRACE(capture.name);
    // The second time nearly every record has a shape.
    ExpectSameWithoutShapes(capture.tables, {&capture.dump, &capture.dump});
  }
}

TEST(ShapeCache, OfEveryCaptureSayNothingElseOfMemoryThatMustBeThere) {
  for (Capture& capture : Captures()) {
    const bool is_chosen = capture.name.find("agx") != std::string::npos ||
                           capture.name.find("skl-gl-basic") != std::string::npos ||
                           capture.name.find("dg2-gl-basic") != std::string::npos;
    if (!is_chosen) continue;
    SCOPED_TRACE(capture.name);
    const Dump other = std::move(capture.dump);
    capture.dump = Dump();
    capture.dump.device = other.device;
    capture.dump.submissions = other.submissions;
    capture.dump.buffers = other.buffers;
    capture.dump.SortBuffers();
    capture.dump.memory_is_complete = true;
    for (const Memory::Segment& segment : other.memory.segments()) {
      EXPECT_TRUE(capture.dump.memory
                      .Map(segment.space, segment.address, segment.bytes, segment.memory_size)
                      .ok());
    }
    // At fault in one but not in the other.
    ExpectSameWithoutShapes(capture.tables, {&other, &capture.dump, &other});
  }
}

// A dump with some of its bits flipped.
class Damaged {
 public:
  Damaged(const Dump& dump, std::mt19937& random) {
    dump_.device = dump.device;
    dump_.submissions = dump.submissions;
    dump_.buffers = dump.buffers;
    for (const Memory::Segment& segment : dump.memory.segments()) {
      if (segment.bytes.empty()) continue;
      std::vector<uint8_t>& bytes = bytes_.emplace_back(segment.bytes.begin(), segment.bytes.end());
      for (size_t i = 0; i < 1 + bytes.size() / 256; ++i) {
        bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1u << random() % 8);
      }
      // Some end within a record.
      const uint64_t size = random() % 4 == 0 ? 1 + random() % bytes.size() : bytes.size();
      bytes.resize(size);
      bytes.shrink_to_fit();
    }
    size_t i = 0;
    for (const Memory::Segment& segment : dump.memory.segments()) {
      if (segment.bytes.empty()) continue;
      const std::vector<uint8_t>& bytes = bytes_[i++];
      EXPECT_TRUE(dump_.memory.Map(segment.space, segment.address, bytes, bytes.size()).ok());
    }
  }
  const Dump& dump() const { return dump_; }

 private:
  std::vector<std::vector<uint8_t>> bytes_;
  Dump dump_;
};

TEST(ShapeCache, OfWholeRecordsSayNothingElseOfDamagedOnes) {
  std::mt19937 random(1);
  for (const Capture& capture : Captures()) {
    const bool is_chosen = capture.name.find("agx") != std::string::npos ||
                           capture.name.find("skl-gl-basic/00") != std::string::npos ||
                           capture.name.find("dg2-gl-basic/02") != std::string::npos;
    if (!is_chosen) continue;
    for (int i = 0; i < 12; ++i) {
      SCOPED_TRACE(absl::StrCat(capture.name, ", ", i));
      const Damaged first(capture.dump, random), second(capture.dump, random);
      ExpectSameWithoutShapes(capture.tables, {&capture.dump, &capture.dump, &first.dump(),
                                               &second.dump(), &capture.dump});
    }
  }
}

constexpr absl::string_view kXml = R"(
<packsmith family="test" generation="shapes" title="ShapeCache">
  <stream name="commands"/>
  <base name="heap"/>
  <data name="words" components="U32 uint"/>
  <struct name="Thing" dwords="1">
    <field name="Value" dword="0" bits="31:0" type="uint"/>
  </struct>
  <struct name="Other" dwords="1">
    <field name="Number" dword="0" bits="15:0" type="uint"/>
  </struct>
  <packet name="SET_HEAP" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="1"/>
    <field name="Heap" dword="1" bits="31:4" type="address"><sets base="heap"/></field>
  </packet>
  <packet name="POINT" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="2"/>
    <reserved dword="0" bits="23:20" must="zero"/>
    <field name="Number" dword="0" bits="15:8" type="uint" max="9"/>
    <field name="Free" dword="0" bits="7:4" type="uint"/>
    <field name="Is other" dword="0" bits="0" type="bool"/>
    <field name="Address" dword="1" bits="31:0" type="address">
      <points to="Other" when="Is other" access="read"/>
      <points to="Thing" when="Address" access="read"/>
    </field>
  </packet>
  <packet name="OFFSET" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="3"/>
    <field name="Offset" dword="1" bits="31:0" type="offset">
      <points to="Thing" base="heap" access="read"/>
    </field>
  </packet>
  <packet name="LONG" dwords="variable" length="Length" bias="1">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="4"/>
    <field name="Length" dword="0" bits="3:0" type="uint"/>
    <group count="tail" dword="1" size="32">
      <field name="Address" dword="0" bits="31:0" type="address">
        <points to="Thing" access="read"/>
      </field>
    </group>
  </packet>
  <packet name="END" dwords="1">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="9"/>
    <flow kind="end"/>
  </packet>
</packsmith>)";

constexpr uint32_t kSetHeap = 0x01000000, kPoint = 0x02000000, kOffset = 0x03000000,
                   kEnd = 0x09000000;
constexpr uint32_t kThing = 0x5000;

const tables::Tables& Tables() {
  static const tables::Tables kTables = TablesOf(kXml);
  return kTables;
}

// Four POINTs of one shape, so that the last one has it, and these packets.
World After(std::vector<uint32_t> packets, bool ends = true) {
  std::vector<uint32_t> stream;
  for (uint32_t i = 0; i < 4; ++i) {
    stream.insert(stream.end(), {kPoint | i << 4, kThing + 4 * i});
  }
  stream.insert(stream.end(), packets.begin(), packets.end());
  if (ends) stream.push_back(kEnd);
  World world;
  world.Put(kThing, {1, 2, 3, 4}).Put(0x1000, stream).Submit(0x1000, 4 * stream.size());
  ExpectSameWithoutShapes(Tables(), {&world.dump()});
  return world;
}

std::vector<std::string> FaultsAfter(const std::vector<uint32_t>& packets, bool ends = true) {
  return Tell(Tables(), After(packets, ends)).Faults();
}

TEST(ShapeCache, ARecordLikeTheOthersHasNoFaultEither) {
  EXPECT_THAT(FaultsAfter({kPoint | 0xf0 | 0x900, kThing}), IsEmpty());
}

TEST(ShapeCache, APointerThatLeadsNowhereIsAFaultOfThatRecordAlone) {
  const Story story = Tell(Tables(), After({kPoint, 0x7000, kPoint, kThing}));
  EXPECT_THAT(story.Faults(), ElementsAre("unmapped 63:32"));
  EXPECT_EQ(story.Named("Thing").size(), 5u);
}

TEST(ShapeCache, APointerThatIsZeroWhereThatMeansNoneIsNotFollowed) {
  const Story story = Tell(Tables(), After({kPoint, 0}));
  EXPECT_THAT(story.Faults(), IsEmpty());
  EXPECT_EQ(story.Named("Thing").size(), 4u);
}

TEST(ShapeCache, ReservedBitsAreLookedAtInEachRecord) {
  EXPECT_THAT(FaultsAfter({kPoint | 0x400000, kThing}), ElementsAre("reserved 23:20"));
}

TEST(ShapeCache, BoundsAreLookedAtInEachRecord) {
  EXPECT_THAT(FaultsAfter({kPoint | 10 << 8, kThing}), ElementsAre("range 15:8"));
}

TEST(ShapeCache, WhatAPointerLeadsToIsAskedInEachRecord) {
  const Story story = Tell(Tables(), After({kPoint | 1, kThing, kPoint | 1, kThing, kPoint | 1,
                                            kThing, kPoint, kThing, kPoint | 1, kThing}));
  EXPECT_EQ(story.Named("Other").size(), 4u);
  EXPECT_EQ(story.Named("Thing").size(), 5u);
}

TEST(ShapeCache, TheLastRecordMayEndWithItsMemory) {
  // One dword of two.
  EXPECT_THAT(FaultsAfter({kPoint}, false), ElementsAre("truncated 63:32"));
}

TEST(ShapeCache, BasesCountFromWhereTheyAreAtEachRecord) {
  std::vector<uint32_t> packets = {kSetHeap, kThing};
  for (int i = 0; i < 4; ++i) packets.insert(packets.end(), {kOffset, 0});
  packets.insert(packets.end(), {kSetHeap, kThing + 8, kOffset, 4, kSetHeap, 0x9000, kOffset, 0});
  const Story story = Tell(Tables(), After(packets));
  const std::vector<Seen> things = story.Named("Thing");
  ASSERT_EQ(things.size(), 9u);
  EXPECT_EQ(things.back().address, kThing + 4);
  EXPECT_THAT(story.Faults(), ElementsAre("unmapped 63:32"));
}

TEST(ShapeCache, LengthsAreThoseOfEachRecord) {
  std::vector<uint32_t> packets;
  for (uint32_t i = 0; i < 40; ++i) {
    packets.push_back(0x04000000 | i % 5);
    for (uint32_t k = 0; k < i % 5; ++k) packets.push_back(kThing + 4 * k);
  }
  const Story story = Tell(Tables(), After(packets));
  EXPECT_THAT(story.Faults(), IsEmpty());
  EXPECT_EQ(story.Named("Thing").size(), 4u + 8 * (0 + 1 + 2 + 3 + 4));
}

TEST(ShapeCache, MoreOfThemThanAreKeptSayNothingElse) {
  // Sixteen lengths alternate, each with its own values in its fields.
  std::vector<uint32_t> packets;
  std::mt19937 random(2);
  for (uint32_t i = 0; i < 400; ++i) {
    const uint32_t length = random() % 16;
    packets.push_back(0x04000000 | length);
    for (uint32_t k = 0; k < length; ++k) {
      packets.push_back(random() % 8 == 0 ? random() : kThing + random() % 4 * 4);
    }
  }
  After(packets);
}

}  // namespace
}  // namespace packsmith::decode
