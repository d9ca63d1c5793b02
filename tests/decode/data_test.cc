// Typed data: vertices at a draw, indices, constants; programs.

#include "runtime/decode/fields/data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "gen/model/ast/components.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Dwords = std::vector<uint32_t>;

constexpr uint32_t kEnd = 0x05000000;
// SURFACE_FORMAT.
constexpr uint32_t kRgb32Float = 0x40, kRgba8Unorm = 0xc7, kRg32Float = 0x85;

Dwords operator+(Dwords a, const Dwords& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

uint32_t Bits(float real) {
  uint32_t bits = 0;
  std::memcpy(&bits, &real, 4);
  return bits;
}

Dwords VertexBuffer(uint32_t index, uint32_t address, uint32_t size, uint32_t pitch) {
  return {0x78080003, index << 26 | 2 << 16 | 1 << 14 | pitch, address, 0, size};
}
Dwords Element(uint32_t buffer, uint32_t format, uint32_t offset, bool valid = true) {
  return {buffer << 26 | static_cast<uint32_t>(valid) << 25 | format << 16 | offset, 0x11110000};
}
Dwords Elements(const Dwords& elements) {
  return Dwords{0x78090000 | static_cast<uint32_t>(elements.size() - 1)} + elements;
}
Dwords Instancing(uint32_t element, bool enable, uint32_t rate) {
  return {0x78490001, static_cast<uint32_t>(enable) << 8 | element, rate};
}
Dwords IndexBuffer(uint32_t address, uint32_t size, uint32_t format) {
  return {0x780a0003, format << 8 | 2, address, 0, size};
}
struct DrawOf {
  uint32_t count = 3, first = 0, instances = 1, first_instance = 0;
  int32_t bias = 0;
  bool indexed = false, indirect = false;
};
Dwords Draw(const DrawOf& d) {
  return {0x7b000005u | (d.indirect ? 1u << 10 : 0u),
          4u | (d.indexed ? 1u << 8 : 0u),
          d.count,
          d.first,
          d.instances,
          d.first_instance,
          static_cast<uint32_t>(d.bias)};
}

// Twelve floats at 0x4000: 0 to 11.
World& PutFloats(World& world) {
  Dwords floats;
  for (int i = 0; i < 12; ++i) floats.push_back(Bits(static_cast<float>(i)));
  return world.Put(0x4000, floats);
}

// As draws show it, not the pointers' own packets.
std::vector<Seen> AtDraws(const Story& story) {
  std::vector<Seen> found;
  for (const Seen& seen : story.records) {
    if (seen.type != RecordType::kData) continue;
    for (const Seen& parent : story.records) {
      if (parent.id == seen.parent && parent.name == "3DPRIMITIVE") found.push_back(seen);
    }
  }
  return found;
}

std::vector<Seen> DrawnBy(const Dwords& batch, const Options& options = {}) {
  World world;
  PutFloats(world).Put(0x1000, batch + Dwords{kEnd}).Submit(0x1000);
  return AtDraws(Tell(Gfx9(), world, options));
}

TEST(Vertices, AreShownAtTheDrawAsTheElementsSay) {
  const std::vector<Seen> data =
      DrawnBy(VertexBuffer(0, 0x4000, 48, 12) + Elements(Element(0, kRgb32Float, 0)) + Draw({}));
  ASSERT_THAT(data, SizeIs(1));
  EXPECT_EQ(data[0].name, "vertex buffer");
  EXPECT_EQ(data[0].slot, 0);
  EXPECT_EQ(data[0].data_rows, 3u);
  EXPECT_FALSE(data[0].per_instance);
  EXPECT_THAT(data[0].values,
              ElementsAre("0: 0 R32G32B32_FLOAT R=0 G=1 B=2", "1: 0 R32G32B32_FLOAT R=3 G=4 B=5",
                          "2: 0 R32G32B32_FLOAT R=6 G=7 B=8"));
}

TEST(Vertices, TheOrderOfThePacketsDoesNotMatter) {
  const std::vector<Seen> data =
      DrawnBy(Elements(Element(5, kRgb32Float, 0)) + VertexBuffer(5, 0x4000, 48, 12) + Draw({}));
  ASSERT_THAT(data, SizeIs(1));
  EXPECT_EQ(data[0].slot, 5);
}

TEST(Vertices, BeginWhereTheDrawSaysAndEndWithTheBuffer) {
  const std::vector<Seen> data =
      DrawnBy(VertexBuffer(0, 0x4000, 48, 12) + Elements(Element(0, kRgb32Float, 0)) +
              Draw({.count = 100, .first = 2}));
  ASSERT_THAT(data, SizeIs(1));
  EXPECT_EQ(data[0].data_first, 2u);
  EXPECT_EQ(data[0].data_rows, 2u);
  EXPECT_THAT(data[0].values, ElementsAre("2: 0 R32G32B32_FLOAT R=6 G=7 B=8",
                                          "3: 0 R32G32B32_FLOAT R=9 G=10 B=11"));
}

TEST(Vertices, OfSeveralElementsAndBuffers) {
  const std::vector<Seen> data = DrawnBy(
      VertexBuffer(0, 0x4000, 48, 16) + VertexBuffer(1, 0x4010, 32, 8) +
      Elements(Element(0, kRg32Float, 0) + Element(1, kRg32Float, 0) + Element(0, kRg32Float, 8)) +
      Draw({.count = 1}));
  ASSERT_THAT(data, SizeIs(2));
  EXPECT_THAT(data[0].values,
              ElementsAre("0: 0 R32G32_FLOAT R=0 G=1", "0: 2 R32G32_FLOAT R=2 G=3"));
  EXPECT_THAT(data[1].values, ElementsAre("0: 1 R32G32_FLOAT R=4 G=5"));
}

TEST(Vertices, AnElementThatIsNotValidIsNone) {
  EXPECT_THAT(DrawnBy(VertexBuffer(0, 0x4000, 48, 16) + Elements(Element(0, kRg32Float, 0, false)) +
                      Draw({})),
              IsEmpty());
}

TEST(Vertices, TheElementsOfThePacketBeforeAreGone) {
  const std::vector<Seen> data =
      DrawnBy(VertexBuffer(0, 0x4000, 48, 16) +
              Elements(Element(0, kRg32Float, 0) + Element(0, kRg32Float, 8)) +
              Elements(Element(0, kRgb32Float, 0)) + Draw({.count = 1}));
  ASSERT_THAT(data, SizeIs(1));
  EXPECT_THAT(data[0].values, SizeIs(1));
}

TEST(Vertices, OfANullBufferAreNone) {
  Dwords null = VertexBuffer(0, 0x4000, 48, 12);
  null[1] |= 1 << 13;
  EXPECT_THAT(DrawnBy(VertexBuffer(0, 0x4000, 48, 12) + null +
                      Elements(Element(0, kRgb32Float, 0)) + Draw({})),
              IsEmpty());
}

TEST(Vertices, WithoutPitchAreOneForAll) {
  const std::vector<Seen> data =
      DrawnBy(VertexBuffer(0, 0x4000, 48, 0) + Elements(Element(0, kRgb32Float, 12)) +
              Draw({.count = 5, .first = 7}));
  ASSERT_THAT(data, SizeIs(1));
  EXPECT_EQ(data[0].data_rows, 1u);
  EXPECT_THAT(data[0].values, ElementsAre("0: 0 R32G32B32_FLOAT R=3 G=4 B=5"));
}

TEST(Vertices, ThatDoNotFitTheBufferAreNone) {
  EXPECT_THAT(
      DrawnBy(VertexBuffer(0, 0x4000, 8, 12) + Elements(Element(0, kRgb32Float, 0)) + Draw({})),
      IsEmpty());
  EXPECT_THAT(DrawnBy(VertexBuffer(0, 0x4000, 48, 12) + Elements(Element(0, kRgb32Float, 0)) +
                      Draw({.first = 4})),
              IsEmpty());
}

TEST(Vertices, BeyondTheBoundAreCounted) {
  Options options;
  options.most_rows = 2;
  const std::vector<Seen> data = DrawnBy(
      VertexBuffer(0, 0x4000, 48, 12) + Elements(Element(0, kRgb32Float, 0)) + Draw({}), options);
  ASSERT_THAT(data, SizeIs(1));
  EXPECT_THAT(data[0].values, SizeIs(2));
  EXPECT_EQ(data[0].data_rows, 3u);
  options.most_rows = 100;
  options.most_row_bytes = 13;
  EXPECT_THAT(
      DrawnBy(VertexBuffer(0, 0x4000, 48, 12) + Elements(Element(0, kRgb32Float, 0)) + Draw({}),
              options)[0]
          .values,
      SizeIs(1));
}

TEST(Vertices, OfADrawThatReadsTheSameAreSaidOnce) {
  const Dwords state = VertexBuffer(0, 0x4000, 48, 12) + Elements(Element(0, kRgb32Float, 0));
  EXPECT_THAT(DrawnBy(state + Draw({}) + Draw({})), SizeIs(1));
  EXPECT_THAT(DrawnBy(state + Draw({}) + Draw({.first = 1})), SizeIs(2));
}

TEST(Vertices, OfAnIndirectDrawAreShownFromTheFirstOn) {
  const std::vector<Seen> data =
      DrawnBy(VertexBuffer(0, 0x4000, 48, 12) + Elements(Element(0, kRgb32Float, 0)) +
              Draw({.count = 1, .first = 3, .indirect = true}));
  ASSERT_THAT(data, SizeIs(1));
  EXPECT_EQ(data[0].data_first, 0u);
  EXPECT_EQ(data[0].data_rows, 4u);
}

TEST(Vertices, OfADrawOfNothingAreNone) {
  const Dwords state = VertexBuffer(0, 0x4000, 48, 12) + Elements(Element(0, kRgb32Float, 0));
  EXPECT_THAT(DrawnBy(state + Draw({.count = 0})), IsEmpty());
  EXPECT_THAT(DrawnBy(state + Draw({.instances = 0})), IsEmpty());
}

TEST(Vertices, ThatAdvanceByInstanceAreApart) {
  const std::vector<Seen> data =
      DrawnBy(VertexBuffer(0, 0x4000, 48, 8) + Instancing(1, true, 2) +
              Elements(Element(0, kRg32Float, 0) + Element(0, kRg32Float, 0)) +
              Draw({.count = 1, .instances = 3, .first_instance = 1}));
  ASSERT_THAT(data, SizeIs(2));
  EXPECT_THAT(data[0].values, ElementsAre("0: 0 R32G32_FLOAT R=0 G=1"));
  EXPECT_TRUE(data[1].per_instance);
  // Instances 0 and 1 share a row, 2 has another.
  EXPECT_THAT(data[1].values,
              ElementsAre("1: 1 R32G32_FLOAT R=2 G=3", "2: 1 R32G32_FLOAT R=4 G=5"));
}

TEST(Vertices, InstancingIsSwitchedOffAgain) {
  const std::vector<Seen> data =
      DrawnBy(VertexBuffer(0, 0x4000, 48, 8) + Instancing(0, true, 2) + Instancing(0, false, 0) +
              Elements(Element(0, kRg32Float, 0)) + Draw({.count = 1}));
  ASSERT_THAT(data, SizeIs(1));
  EXPECT_FALSE(data[0].per_instance);
}

TEST(Vertices, OfAnUnknownFormatAreNone) {
  EXPECT_THAT(DrawnBy(VertexBuffer(0, 0x4000, 48, 8) + Elements(Element(0, 0x1ee, 0)) + Draw({})),
              IsEmpty());
}

TEST(Vertices, LiveOnFromDumpToDumpOfAContext) {
  World first, second;
  PutFloats(first)
      .Put(0x1000,
           VertexBuffer(0, 0x4000, 48, 12) + Elements(Element(0, kRgb32Float, 0)) + Dwords{kEnd})
      .Submit(0x1000);
  PutFloats(second).Put(0x1000, Draw({}) + Dwords{kEnd}).Submit(0x1000);
  EXPECT_THAT(AtDraws(TellAll(Gfx9(), {&first.dump(), &second.dump()})), SizeIs(1));
  second.last().context = 1;
  EXPECT_THAT(AtDraws(TellAll(Gfx9(), {&first.dump(), &second.dump()})), IsEmpty());
}

TEST(Vertices, AreNotLookedForUnlessAllIsFollowed) {
  Options options;
  options.follow = Follow::kBatches;
  EXPECT_THAT(
      DrawnBy(VertexBuffer(0, 0x4000, 48, 12) + Elements(Element(0, kRgb32Float, 0)) + Draw({}),
              options),
      IsEmpty());
}

TEST(Indices, AreShownWithTheVerticesTheyName) {
  World world;
  PutFloats(world)
      .Put(0x5000, {0x00030000, 0xffff0002, 0x00030002})
      .Put(0x1000, VertexBuffer(0, 0x4000, 48, 12) + Elements(Element(0, kRgb32Float, 0)) +
                       IndexBuffer(0x5000, 12, 1) +
                       Draw({.count = 5, .first = 1, .bias = -1, .indexed = true}) + Dwords{kEnd})
      .Submit(0x1000);
  const std::vector<Seen> data = AtDraws(Tell(Gfx9(), world));
  ASSERT_THAT(data, SizeIs(2));
  EXPECT_THAT(data[0].values, ElementsAre("1: 0 WORD U=3", "2: 0 WORD U=2", "3: 0 WORD U=65535",
                                          "4: 0 WORD U=2", "5: 0 WORD U=3"));
  // The least of them is 2, less the bias.
  EXPECT_EQ(data[1].data_first, 1u);
}

// 3DSTATE_VF.
Dwords Cut(bool enable, uint32_t index) {
  return {0x780c0000 | static_cast<uint32_t>(enable) << 8, index};
}

// The first vertex that an indexed draw shows, of indices 3, 2, 65535 and 1; -1: none.
int64_t FirstVertex(const Dwords& state, int32_t bias = 0) {
  World world;
  PutFloats(world)
      .Put(0x5000, {0x00020003, 0x0001ffff})
      .Put(0x1000, VertexBuffer(0, 0x4000, 48, 12) + Elements(Element(0, kRgb32Float, 0)) +
                       IndexBuffer(0x5000, 8, 1) + state +
                       Draw({.count = 4, .bias = bias, .indexed = true}) + Dwords{kEnd})
      .Submit(0x1000);
  const std::vector<Seen> data = AtDraws(Tell(Gfx9(), world));
  return data.size() < 2 ? -1 : static_cast<int64_t>(data[1].data_first);
}

TEST(Indices, ThatEndAPrimitiveNameNoVertex) {
  EXPECT_EQ(FirstVertex({}), 1);
  EXPECT_EQ(FirstVertex(Cut(true, 1)), 2);
  EXPECT_EQ(FirstVertex(Cut(true, 3)), 1);
  // Not an index of 16 bits.
  EXPECT_EQ(FirstVertex(Cut(true, 0x10001)), 1);
}

TEST(Indices, EndAPrimitiveOnlyWhereThatIsEnabled) {
  EXPECT_EQ(FirstVertex(Cut(false, 1)), 1);
  EXPECT_EQ(FirstVertex(Cut(true, 1) + Cut(false, 1)), 1);
}

TEST(Indices, OfAllOnesAreAVertexUnlessTheyEndAPrimitive) {
  const auto first = [](const Dwords& state) {
    World world;
    PutFloats(world)
        .Put(0x5000, {0xffffffff})
        .Put(0x1000, VertexBuffer(0, 0x4000, 48, 12) + Elements(Element(0, kRgb32Float, 0)) +
                         IndexBuffer(0x5000, 4, 1) + state +
                         Draw({.count = 2, .bias = -0xfffe, .indexed = true}) + Dwords{kEnd})
        .Submit(0x1000);
    const std::vector<Seen> data = AtDraws(Tell(Gfx9(), world));
    return data.size() < 2 ? -1 : static_cast<int64_t>(data[1].data_first);
  };
  EXPECT_EQ(first({}), 1);
  EXPECT_EQ(first(Cut(true, 0xffff)), -1);
}

TEST(Indices, ADrawIsShownAgainWhenAnotherIndexEndsPrimitives) {
  World world;
  const Dwords draw = Draw({.count = 4, .indexed = true});
  PutFloats(world)
      .Put(0x5000, {0x00020003, 0x0001ffff})
      .Put(0x1000, VertexBuffer(0, 0x4000, 48, 12) + Elements(Element(0, kRgb32Float, 0)) +
                       IndexBuffer(0x5000, 8, 1) + draw + Cut(true, 1) + draw + draw + Dwords{kEnd})
      .Submit(0x1000);
  const std::vector<Seen> data = AtDraws(Tell(Gfx9(), world));
  ASSERT_THAT(data, SizeIs(4));
  EXPECT_EQ(data[1].data_first, 1u);
  EXPECT_EQ(data[3].data_first, 2u);
}

TEST(Indices, WhereNothingSaysWhichEndsAPrimitiveItIsTheOneOfAllOnes) {
  static const tables::Tables kTables = TablesOf(R"(
<packsmith family="test" generation="cuts" title="Cuts">
  <stream name="commands"/>
  <data name="vertices"/>
  <data name="indices"/>
  <packet name="INDICES" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="1"/>
    <field name="Size" dword="0" bits="9:8" type="uint">
      <value name="8" value="0" components="I8 uint"/>
      <value name="16" value="1" components="I16 uint"/>
      <value name="32" value="2" components="I32 uint"/>
    </field>
    <field name="Cut" dword="0" bits="10" type="bool"/>
    <field name="Bytes" dword="0" bits="7:0" type="uint"/>
    <field name="Address" dword="1" bits="31:0" type="address">
      <points to="indices" size="Bytes" format="Size" access="read"/>
    </field>
  </packet>
  <packet name="VERTICES" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="2"/>
    <field name="Format" dword="0" bits="0" type="uint">
      <value name="F" value="0" components="F32 float"/>
      <element of="vertices" slot="Slot" offset="Slot"/>
    </field>
    <field name="Slot" dword="0" bits="2:1" type="uint"/>
    <field name="Stride" dword="0" bits="15:8" type="uint"/>
    <field name="Address" dword="1" bits="31:0" type="address">
      <points to="vertices" slot="Slot" stride="Stride" size="64" access="read"/>
    </field>
  </packet>
  <packet name="DRAW" dwords="1" role="draw">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="3"/>
    <draws data="vertices" indices="indices" cuts="INDICES.Cut"/>
  </packet>
</packsmith>)");
  for (const uint32_t size : {0u, 1u, 2u}) {
    for (const bool cut : {false, true}) {
      World world;
      // One index of all ones. Without a stride all vertices are one.
      world.Put(0x5000, {0xffffffff}).PutZeros(0x6000, 64);
      world.Put(0x1000, {0x01000000 | size << 8 | static_cast<uint32_t>(cut) << 10 | 1u << size,
                         0x5000, 0x02000000, 0x6000, 0x03000000});
      world.Submit(0x1000, 20);
      size_t vertices = 0;
      for (const Seen& seen : Tell(kTables, world).Named("vertices")) vertices += seen.slot >= 0;
      EXPECT_EQ(vertices, cut ? 0u : 1u) << size;
    }
  }
}

TEST(Indices, OfEachSize) {
  for (const uint32_t format : {0u, 1u, 2u}) {
    World world;
    world.Put(0x5000, {0x04030201}).Put(0x1000, IndexBuffer(0x5000, 4, format) + Dwords{kEnd});
    world.Submit(0x1000);
    const Seen data = Tell(Gfx9(), world).Only("index buffer");
    EXPECT_THAT(data.values, SizeIs(4u >> format));
  }
}

TEST(Constants, AreFloats) {
  World world;
  // 3DSTATE_CONSTANT_VS, buffer 0 with 32 bytes.
  world.Put(0x1000, {0x78150009, 1, 0, 0x4000, 0, 0, 0, 0, 0, 0, 0, kEnd}).Submit(0x1000);
  PutFloats(world);
  Options options;
  options.most_rows = 3;
  const Seen data = Tell(Gfx9(), world, options).Only("constants");
  EXPECT_THAT(data.values, ElementsAre("0: 0  F=0", "1: 0  F=1", "2: 0  F=2"));
  EXPECT_EQ(data.data_rows, 8u);
}

// ------------------------------------------------------------------------------------------------
// Programs.

constexpr uint32_t kSendEot = 0x31;
Dwords Instruction(uint32_t first, bool last = false) {
  return {first, 0, 0, last ? 0x80000000 : 0};
}
Dwords Compacted() { return {0x20000001, 0}; }

Dwords InstructionBase(uint32_t address) {
  Dwords sba(19, 0x21);
  sba[0] = 0x61010011;
  for (const int high : {2, 5, 7, 9, 11, 17}) sba[high] = 0;
  sba[3] = 0x20000;
  sba[10] |= address;
  return sba;
}
Dwords VertexShader(uint32_t offset, bool enable = true) {
  return {0x78100007, offset, 0, 0, 0, 0, 0, static_cast<uint32_t>(enable), 0};
}
Dwords PixelShader(uint32_t widths) {
  return {0x7820000a, 0, 0, 0, 0, 0, widths, 0, 0x100, 0, 0x200, 0};
}

std::vector<Seen> Kernels(const Dwords& batch, const Dwords& code) {
  World world;
  world.Put(0x1000, InstructionBase(0x8000) + batch + Dwords{kEnd})
      .Put(0x8000, code)
      .Submit(0x1000);
  return Tell(Gfx9(), world).Named("kernel");
}

TEST(Programs, EndWithTheInstructionThatEndsThem) {
  const std::vector<Seen> kernels = Kernels(
      VertexShader(0), Instruction(1) + Compacted() + Instruction(kSendEot, true) + Instruction(2));
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_EQ(kernels[0].stage, "vertex");
  EXPECT_EQ(kernels[0].simd, 8u);
  EXPECT_EQ(kernels[0].ends, "end");
  EXPECT_EQ(kernels[0].data_size, 40u);
  EXPECT_THAT(kernels[0].code, SizeIs(40));
}

TEST(Programs, AreReadInPieces) {
  // Around the end of the first piece, 4 KiB, and with an instruction that is in two of them.
  for (const size_t whole : {254u, 255u, 256u, 257u, 1500u, 5000u}) {
    for (const bool odd : {false, true}) {
      Dwords code = odd ? Compacted() : Dwords{};
      for (size_t i = 0; i < whole; ++i) code.insert(code.end(), {1, 0, 0, 0});
      code = code + Instruction(kSendEot, true);
      const size_t bytes = code.size() * 4;
      const Dwords first(code.begin(), code.begin() + 1001), rest(code.begin() + 1001, code.end());
      World world;
      world.Put(0x1000, InstructionBase(0x8000) + VertexShader(0) + Dwords{kEnd})
          .Put(0x8000, first)
          .Put(0x8000 + first.size() * 4, rest + Dwords(100, 1))
          .Submit(0x1000);
      const Seen kernel = Tell(Gfx9(), world).Only("kernel");
      EXPECT_EQ(kernel.ends, "end") << whole << odd;
      EXPECT_EQ(kernel.data_size, bytes) << whole << odd;
      EXPECT_THAT(kernel.code, SizeIs(bytes)) << whole << odd;
    }
  }
}

TEST(Programs, AreReadToTheEndOfTheMemoryIfAnInstructionIsUnknown) {
  // More than the first piece, so that what follows must be read at once.
  Dwords code = Instruction(1);
  code.insert(code.end(), 3000, 0xffffffff);
  World world;
  world.Put(0x1000, InstructionBase(0x8000) + VertexShader(0) + Dwords{kEnd})
      .Put(0x8000, code)
      .Submit(0x1000);
  const Seen kernel = Tell(Gfx9(), world).Only("kernel");
  EXPECT_EQ(kernel.ends, "memory");
  EXPECT_EQ(kernel.data_size, code.size() * 4);
}

TEST(Programs, WithoutOneEndWithTheMemory) {
  const std::vector<Seen> kernels =
      Kernels(VertexShader(0), Instruction(1) + Instruction(kSendEot));
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_EQ(kernels[0].ends, "memory");
  EXPECT_EQ(kernels[0].data_size, 32u);
}

TEST(Programs, WithoutOneEndBeforeTheNext) {
  const std::vector<Seen> kernels = Kernels(VertexShader(0x40) + VertexShader(0), Dwords(64, 1));
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[1].ends, "next kernel");
  EXPECT_EQ(kernels[1].data_size, 0x40u);
}

TEST(Programs, ThatAreNotEnabledAreNone) {
  EXPECT_THAT(Kernels(VertexShader(0, false), Instruction(kSendEot, true)), IsEmpty());
}

TEST(Programs, WithoutMemoryAreAFault) {
  World world;
  world.Put(0x1000, InstructionBase(0x8000) + VertexShader(0) + Dwords{kEnd}).Submit(0x1000);
  EXPECT_THAT(Tell(Gfx9(), world).Faults(), ElementsAre("unmapped 95:38"));
}

TEST(Programs, OfPixelsHaveTheWidthsThatAreEnabled) {
  const auto widths = [](uint32_t enabled) {
    std::vector<std::string> found;
    for (const Seen& k : Kernels(PixelShader(enabled), Dwords(0x400, 1))) {
      EXPECT_EQ(k.stage, "pixel");
      found.push_back(std::to_string(k.address - 0x8000) + " simd" + std::to_string(k.simd));
    }
    return found;
  };
  EXPECT_THAT(widths(0), IsEmpty());
  EXPECT_THAT(widths(1), ElementsAre("0 simd8"));
  EXPECT_THAT(widths(2), ElementsAre("0 simd16"));
  EXPECT_THAT(widths(4), ElementsAre("0 simd32"));
  EXPECT_THAT(widths(1 | 2), ElementsAre("0 simd8", "512 simd16"));
  EXPECT_THAT(widths(1 | 4), ElementsAre("0 simd8", "256 simd32"));
  EXPECT_THAT(widths(2 | 4), ElementsAre("256 simd32", "512 simd16"));
  EXPECT_THAT(widths(1 | 2 | 4), ElementsAre("0 simd8", "256 simd32", "512 simd16"));
}

TEST(Programs, OfComputeHaveTheWidthOfTheWalkerThatFollows) {
  World world;
  Dwords walker(15, 0);
  walker[0] = 0x7105000d;
  walker[4] = 1u << 30;  // SIMD16
  world
      .Put(0x1000,
           InstructionBase(0x8000) + Dwords{0x70020002, 0, 32, 0x9000} + walker + Dwords{kEnd})
      .Put(0x8000, Instruction(kSendEot, true))
      .Put(0x9000, Dwords(8, 0))
      .Submit(0x1000);
  const Seen kernel = Tell(Gfx9(), world).Only("kernel");
  EXPECT_EQ(kernel.stage, "compute");
  EXPECT_EQ(kernel.simd, 16u);
}

TEST(Programs, LongerThanTheBoundAreCut) {
  World world;
  world.Put(0x1000, InstructionBase(0x8000) + VertexShader(0) + Dwords{kEnd})
      .PutZeros(0x8000, 1 << 20)
      .Submit(0x1000);
  Options options;
  options.most_code_bytes = 4096;
  const Story story = Tell(Gfx9(), world, options);
  const Seen kernel = story.Only("kernel");
  EXPECT_EQ(kernel.ends, "limit");
  EXPECT_EQ(kernel.code.size(), 4096u);
  EXPECT_THAT(story.remarks, ElementsAre("the program at 0x8000 is cut after 4096 bytes; unpack "
                                         "--max-code=N allows more"));
  EXPECT_THAT(story.problems, IsEmpty());
}

TEST(Programs, WhoseInstructionsAreNotDescribedAreCutWhereBytesFollow) {
  const tables::Tables tables = TablesOf(R"(
<packsmith family="test" generation="code" title="Code" unit="byte">
  <engine name="one"/>
  <stream name="commands" align="4"/>
  <data name="code" code="true"/>
  <packet name="Use" bytes="8" stream="commands">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="2"/>
    <field name="Program" dword="1" bits="31:0" type="address"><points to="code" access="read"/></field>
  </packet>
  <packet name="End" bytes="4" stream="commands">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="9"/>
    <flow kind="end"/>
  </packet>
</packsmith>)");
  Options options;
  options.most_code_bytes = 64;
  const auto tell = [&](uint64_t size) {
    World world;
    world.Put(0x1000, {0x02000000, 0x8000, 0x09000000}).PutZeros(0x8000, size).Submit(0x1000);
    return Tell(tables, world, options);
  };
  const Story longer = tell(65);
  EXPECT_EQ(longer.Only("code").code.size(), 64u);
  EXPECT_THAT(longer.remarks, ElementsAre("the program at 0x8000 is cut after 64 bytes; unpack "
                                          "--max-code=N allows more"));
  const Story as_long = tell(64);
  EXPECT_EQ(as_long.Only("code").code.size(), 64u);
  EXPECT_THAT(as_long.remarks, IsEmpty());
}

TEST(Programs, OfASubmissionThatAreCutAreSaidOnce) {
  World world;
  world
      .Put(0x1000, InstructionBase(0x8000) + VertexShader(0) + VertexShader(0x40000) +
                       VertexShader(0) + Dwords{kEnd})
      .PutZeros(0x8000, 1 << 20)
      .Submit(0x1000)
      .Submit(0x1000);
  Options options;
  options.most_code_bytes = 4096;
  EXPECT_THAT(Tell(Gfx9(), world, options).remarks, SizeIs(2));
  options.most_code_bytes = uint64_t{1} << 21;
  EXPECT_THAT(Tell(Gfx9(), world, options).remarks, IsEmpty());
}

// ------------------------------------------------------------------------------------------------
// As sinks write it.

TEST(Written, RowsElementsAndComponents) {
  World world;
  PutFloats(world)
      .Put(0x1000, VertexBuffer(0, 0x4000, 48, 16) +
                       Elements(Element(0, kRg32Float, 0) + Element(0, kRg32Float, 8)) +
                       Draw({.count = 2}) + Dwords{kEnd})
      .Submit(0x1000);
  EXPECT_THAT(
      Jsonl(Gfx9(), {&world.dump()}),
      HasSubstr(R"("format":"typed","slot":0,"rows":2,"first":0,"elements":[)"
                R"({"number":0,"offset":0,"format":"R32G32_FLOAT","components":["R","G"]},)"
                R"({"number":1,"offset":8,"format":"R32G32_FLOAT","components":["R","G"]}],)"
                R"("values":[[[0.0,1.0],[2.0,3.0]],[[4.0,5.0],[6.0,7.0]]])"));
  EXPECT_THAT(Text(Gfx9(), {&world.dump()}),
              HasSubstr("[1] 4 5 (R32G32_FLOAT), 6 7 (R32G32_FLOAT)\n"));
}

TEST(Written, IndicesInALine) {
  World world;
  world.Put(0x5000, {0x04030201, 0x08070605, 0x0c0b0a09})
      .Put(0x1000, IndexBuffer(0x5000, 12, 0) + Dwords{kEnd})
      .Submit(0x1000);
  Options options;
  options.most_rows = 10;
  EXPECT_THAT(Text(Gfx9(), {&world.dump()}, options),
              HasSubstr("[0] 1 2 3 4 5 6 7 8\n      [8] 9 10\n      and 2 more rows\n"));
}

TEST(Written, ProgramsWithStageAndWidth) {
  World world;
  world.Put(0x1000, InstructionBase(0x8000) + VertexShader(0) + Dwords{kEnd})
      .Put(0x8000, Instruction(kSendEot, true))
      .Submit(0x1000);
  EXPECT_THAT(Jsonl(Gfx9(), {&world.dump()}),
              HasSubstr(R"("format":"code","stage":"vertex","simd":8,"ends":"end")"));
  EXPECT_THAT(Text(Gfx9(), {&world.dump()}), HasSubstr("kernel, 16 bytes, vertex, SIMD8\n"));
}

TEST(Written, StoredBits) {
  World world;
  world.Put(0x1000, Dwords{0x10000002, 0x2004, 0, 0x1010, 0x18800101, 0x2000, 0})
      .Put(0x2000, {0x18800101, 0, 0})
      .Submit(0x1000);
  EXPECT_THAT(Jsonl(Gfx9(), {&world.dump()}),
              HasSubstr(R"("stored":[{"bits":[63,32],"value":"0x1010","by":3}])"));
  EXPECT_THAT(Text(Gfx9(), {&world.dump()}),
              HasSubstr("stored by an earlier packet: bits 63:32 are 0x1010\n"));
}

// ------------------------------------------------------------------------------------------------
// Components.

double Real(tables::ComponentType type, uint32_t width, uint64_t raw) {
  const std::vector<uint8_t> bytes = {
      static_cast<uint8_t>(raw),       static_cast<uint8_t>(raw >> 8),
      static_cast<uint8_t>(raw >> 16), static_cast<uint8_t>(raw >> 24),
      static_cast<uint8_t>(raw >> 32), static_cast<uint8_t>(raw >> 40),
      static_cast<uint8_t>(raw >> 48), static_cast<uint8_t>(raw >> 56)};
  return DecodeComponent({0, 0, static_cast<uint8_t>(width), type}, bytes).real;
}

TEST(Components, OfEachTypeAreWhatTheyMean) {
  using T = tables::ComponentType;
  EXPECT_EQ(Real(T::kUnorm, 8, 255), 1.0);
  EXPECT_EQ(Real(T::kUnorm, 8, 51), 0.2);
  EXPECT_EQ(Real(T::kUnorm, 2, 1), 1.0 / 3);
  EXPECT_EQ(Real(T::kSnorm, 8, 0x81), -1.0);
  EXPECT_EQ(Real(T::kSnorm, 8, 0x80), -1.0);
  EXPECT_EQ(Real(T::kSnorm, 16, 0x7fff), 1.0);
  EXPECT_EQ(Real(T::kUscaled, 16, 65535), 65535.0);
  EXPECT_EQ(Real(T::kSscaled, 8, 0xff), -1.0);
  EXPECT_EQ(Real(T::kFixed, 32, 0xffff8000), -0.5);
  EXPECT_EQ(Real(T::kFloat, 64, 0xbff8000000000000), -1.5);
  EXPECT_EQ(Real(T::kFloat, 32, Bits(0.25f)), 0.25);
  EXPECT_EQ(Real(T::kFloat, 16, 0xc000), -2.0);
  EXPECT_EQ(Real(T::kFloat, 16, 1), std::ldexp(1.0, -24));
  EXPECT_EQ(Real(T::kFloat, 11, 15 << 6 | 32), 1.5);
  EXPECT_EQ(Real(T::kFloat, 10, 16 << 5), 2.0);
  EXPECT_EQ(Real(T::kFloat, 11, 31 << 6), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(Real(T::kFloat, 10, 31 << 5 | 1)));
  EXPECT_EQ(DecodeComponent({0, 0, 8, T::kSint}, std::vector<uint8_t>{0xfe}).signed_value, -2);
}

TEST(Components, AreFoundByTheLettersOfEachSurfaceFormat) {
  // The name has the same letters and bits as the components, for all formats that have some.
  const tables::Leaf* format = nullptr;
  const tables::Container& c = Gfx9().container(Gfx9().FindContainer("VERTEX_ELEMENT_STATE"));
  for (const tables::Leaf& leaf : Gfx9().leaves(c.leaves)) {
    if (Gfx9().string(leaf.name) == "Source Element Format") format = &leaf;
  }
  ASSERT_NE(format, nullptr);
  int found = 0;
  for (const tables::NamedValue& value : Gfx9().values(Gfx9().enumeration(format->named).values)) {
    if (value.format == tables::kNone) continue;
    std::string letters;
    uint32_t bits = 0;
    for (const tables::Component& one : Gfx9().components(Gfx9().format(value.format))) {
      letters += std::string(Gfx9().string(one.name)) + std::to_string(one.width);
      EXPECT_EQ(one.bit, bits) << Gfx9().string(value.name);
      bits += one.width;
    }
    EXPECT_EQ(Gfx9().format(value.format).bits, bits);
    std::string name;
    for (size_t i = 0; i < Gfx9().string(value.name).size();) {
      const absl::string_view rest = Gfx9().string(value.name).substr(i);
      const absl::string_view word = rest.substr(0, rest.find('_'));
      if (word.find_first_of("0123456789") != absl::string_view::npos) name += std::string(word);
      i += word.size() + 1;
    }
    EXPECT_EQ(letters, name);
    ++found;
  }
  EXPECT_GT(found, 150);
}

TEST(Components, UnknownBitsOfAColorAreSkipped) {
  const std::vector<Seen> data =
      DrawnBy(VertexBuffer(0, 0x4000, 48, 4) + Elements(Element(0, 0xeb, 0)) + Draw({.count = 1}));
  ASSERT_THAT(data, SizeIs(1));
  EXPECT_THAT(data[0].values, ElementsAre("0: 0 R8G8B8X8_UNORM R=0 G=0 B=0"));
  EXPECT_THAT(DrawnBy(VertexBuffer(0, 0x4004, 44, 4) + Elements(Element(0, kRgba8Unorm, 0)) +
                      Draw({.count = 1}))[0]
                  .values,
              ElementsAre(HasSubstr("A=0.247059")));
}

}  // namespace
}  // namespace packsmith::decode
