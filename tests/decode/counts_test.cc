// The number of a table's entries, where a structure that a later packet points to has it; and
// addresses of tables that are ignored, because a bare batch begins there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr absl::string_view kXml = R"(
<packsmith family="test" generation="counts" title="Counts">
  <stream name="commands"/>
  <base name="heap"/>
  <data name="words" components="U32 uint"/>
  <struct name="Entry" dwords="1">
    <field name="Texels" dword="0" bits="31:4" type="offset">
      <points to="Texture" base="heap" access="read"/>
    </field>
  </struct>
  <struct name="Texture" dwords="1">
    <field name="Format" dword="0" bits="31:0" type="uint"/>
  </struct>
  <struct name="Shader" dwords="2">
    <field name="Kernel" dword="0" bits="31:0" type="uint"/>
    <field name="Entries" dword="1" bits="7:0" type="uint"/>
  </struct>
  <packet name="SET_HEAP" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="1"/>
    <field name="Heap" dword="1" bits="31:4" type="address"><sets base="heap"/></field>
  </packet>
  <packet name="BIND_TABLE" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="2"/>
    <field name="Table" dword="1" bits="31:2" type="offset">
      <points to="Entry" base="heap" count="Shader.Entries" until="zero" limit="8" access="read"/>
    </field>
  </packet>
  <packet name="BIND_SHADER" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="3"/>
    <field name="Shader" dword="1" bits="31:2" type="offset">
      <points to="Shader" base="heap" access="read"/>
    </field>
  </packet>
  <packet name="BIND_WORDS" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="4"/>
    <field name="Words" dword="1" bits="31:2" type="address">
      <points to="words" size="8" access="read"/>
    </field>
  </packet>
  <packet name="SET_THREADS" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="7"/>
    <field name="Enable" dword="0" bits="0" type="bool"/>
    <field name="Entries" dword="1" bits="7:0" type="uint"/>
  </packet>
  <packet name="BIND_THREADS" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="8"/>
    <field name="Table" dword="1" bits="31:2" type="address">
      <points to="Texture" count="SET_THREADS.Entries" size="SET_THREADS.Enable*12" until="zero" limit="8"
              access="read"/>
    </field>
  </packet>
  <packet name="DRAW" dwords="1" role="draw">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="5"/>
  </packet>
  <packet name="JUMP" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="6"/>
    <field name="To" dword="1" bits="31:2" type="address"><points to="commands" access="read"/></field>
    <flow kind="jump" to="To"/>
  </packet>
  <packet name="END" dwords="1">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="9"/>
    <flow kind="end"/>
  </packet>
</packsmith>)";

constexpr uint32_t kHeap = 0x01000000, kTable = 0x02000000, kShader = 0x03000000,
                   kWords = 0x04000000, kDraw = 0x05000000, kJump = 0x06000000, kEnd = 0x09000000;

const tables::Tables& Tables() {
  static const tables::Tables kTables = TablesOf(kXml);
  return kTables;
}

// A heap at 0x10000 with a table at 0x100 whose fourth entry points out of the heap, shaders with 2
// and 3 entries at 0x200 and 0x210, one without a count at 0x220, and a texture at 0x300.
Story Of(const std::vector<uint32_t>& stream, bool shapes = true) {
  std::vector<uint32_t> heap(0x400 / 4);
  for (size_t i = 0; i < 3; ++i) heap[0x100 / 4 + i] = 0x300;
  heap[0x10c / 4] = 0xfff0;
  heap[0x204 / 4] = 2;
  heap[0x214 / 4] = 3;
  World world;
  world.Put(0x10000, heap).Put(0x20000, heap).Put(0x1000, stream).Submit(0x1000);
  return Tell(Tables(), world, {.shapes = shapes});
}

TEST(Counts, AreWhatTheStructureSaysThatALaterPacketLeadsTo) {
  for (const bool shapes : {false, true}) {
    const Story story = Of({kHeap, 0x10000, kTable, 0x100, kShader, 0x200, kDraw,  //
                            kTable, 0x100, kShader, 0x210, kDraw, kEnd},
                           shapes);
    EXPECT_THAT(story.Named("Entry"), SizeIs(2 + 3));
    EXPECT_THAT(story.Faults(), IsEmpty());
  }
}

TEST(Counts, AreThoseOfTheLastStructureWhereNoOtherComesBeforeTheDraw) {
  const Story story = Of({kHeap, 0x10000, kShader, 0x210, kTable, 0x100, kDraw, kShader, 0x200,
                          kDraw, kTable, 0x100, kDraw, kEnd});
  EXPECT_THAT(story.Named("Entry"), SizeIs(3 + 2));
}

TEST(Counts, AreNotThoseOfAStructureThatMovesWithItsBase) {
  // If the heap is set again between the table and the shader, the shader is not searched for.
  const Story story = Of(
      {kHeap, 0x10000, kShader, 0x210, kTable, 0x100, kHeap, 0x20000, kShader, 0x200, kDraw, kEnd});
  EXPECT_THAT(story.Named("Entry"), SizeIs(3));
}

TEST(Counts, WhereNothingIsSaidTheTableEndsAtAZero) {
  for (const uint32_t shader : {0x220u, 0xff00u}) {  // no entries; no memory
    const Story story = Of({kHeap, 0x10000, kTable, 0x100, kShader, shader, kDraw, kEnd});
    EXPECT_THAT(story.Named("Entry"), SizeIs(4)) << shader;
  }
}

// How many of the five textures in a table are shown.
size_t TexturesOfThreads(const std::vector<uint32_t>& before, const std::vector<uint32_t>& behind) {
  std::vector<uint32_t> packets = before;
  packets.insert(packets.end(), {0x08000000, 0x8000});
  packets.insert(packets.end(), behind.begin(), behind.end());
  packets.insert(packets.end(), {0x05000000, 0x09000000});
  World world;
  world.Put(0x1000, packets).Put(0x8000, {1, 2, 3, 4, 5, 0}).Submit(0x1000, 4 * packets.size());
  const Story story = Tell(TablesOf(kXml), world);
  EXPECT_THAT(story.Faults(), IsEmpty());
  return story.Named("Texture").size();
}

TEST(Counts, ATableHasNoMoreEntriesThanBytes) {
  EXPECT_EQ(TexturesOfThreads({}, {}), 5u) << "no count is given";
  EXPECT_EQ(TexturesOfThreads({0x07000001, 2}, {}), 2u);
  EXPECT_EQ(TexturesOfThreads({0x07000001, 4}, {}), 3u);
  EXPECT_EQ(TexturesOfThreads({0x07000001, 0}, {}), 3u) << "zero means any number";
}

TEST(Counts, ATableWithoutBytesIsNone) {
  EXPECT_EQ(TexturesOfThreads({0x07000000, 2}, {}), 0u);
  EXPECT_EQ(TexturesOfThreads({0x07000000, 0}, {}), 0u);
  EXPECT_EQ(TexturesOfThreads({0x07000001, 2}, {0x07000000, 0}), 0u) << "the draw's count applies";
  EXPECT_EQ(TexturesOfThreads({0x07000000, 0}, {0x07000001, 2}), 2u);
}

TEST(Null, PointersToWhereABareBatchBeginsAreNotFollowed) {
  // The table, the shader and the words of address 0 would be the packets.
  const std::vector<uint32_t> batch = {kHeap,  0, kTable,  0, kShader, 0, kWords, 0,
                                       kTable, 0, kShader, 0, kWords,  0, kEnd};
  for (const bool shapes : {false, true}) {
    World world;
    world.Put(0, batch).Submit(0, batch.size() * 4);
    world.last().bare = true;
    const Story story = Tell(Tables(), world, {.shapes = shapes});
    EXPECT_EQ(story.records.size(), story.Packets().size());
    EXPECT_THAT(story.Faults(), IsEmpty());
  }
}

TEST(Null, PointersIntoABareBatchAreFollowed) {
  const std::vector<uint32_t> batch = {kHeap, 0, kShader, 0x14, kEnd, 7, 1};
  World world;
  world.Put(0, batch).Submit(0, batch.size() * 4);
  world.last().bare = true;
  EXPECT_EQ(Tell(Tables(), world).Only("Shader").Number("Kernel"), 7u);
}

TEST(Null, PointersToWhereTheBatchOfADumpBeginsAreFollowed) {
  const std::vector<uint32_t> batch = {kHeap, 0, kShader, 0, kEnd};
  World world;
  world.Put(0, batch).Submit(0, batch.size() * 4);
  EXPECT_THAT(Tell(Tables(), world).Named("Shader"), SizeIs(1));
}

TEST(Null, JumpsToWhereABareBatchBeginsAreFollowed) {
  const std::vector<uint32_t> batch = {kDraw, kJump, 0};
  World world;
  world.Put(0, batch).Submit(0, batch.size() * 4);
  world.last().bare = true;
  const Story story = Tell(Tables(), world);
  // Once: the walk would pass there again and again.
  EXPECT_THAT(story.Packets(), ElementsAre("DRAW", "JUMP"));
}

}  // namespace
}  // namespace packsmith::decode
