#include "runtime/sim/vertices/draw_state.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/generations/generations.h"
#include "tests/sim/vertices/host_memory.h"

namespace packsmith::sim {
namespace {

const tables::Tables& Generation(absl::string_view name) {
  for (const tables::Tables& tables : BuiltInGenerations()) {
    if (IsCalled(tables, name)) return tables;
  }
  ADD_FAILURE() << name;
  return BuiltInGenerations()[0];
}

// Raw bits, or the name of a value.
using Field = std::pair<std::string, std::variant<uint64_t, std::string>>;

struct Packet {
  const tables::Container* container;
  std::vector<uint8_t> bytes;
};

// A packet with `items` items in its tail; the other fields are zero.
Packet Packed(const tables::Tables& tables, absl::string_view name, uint32_t items,
              const std::vector<Field>& fields) {
  const uint32_t index = tables.FindContainer(name);
  if (index == tables::kNone) {
    ADD_FAILURE() << name;
    return {&tables.containers()[0], {}};
  }
  const tables::Container& container = tables.container(index);
  Packet packet = {&container,
                   std::vector<uint8_t>(container.bytes + items * container.tail_size / 8)};
  const absl::Span<uint8_t> bytes = absl::MakeSpan(packet.bytes);
  decode::WriteBits(bytes, 0, 32, container.identify_value);
  size_t set = 0;
  decode::ForEachField(tables, container, packet.bytes, [&](const decode::FieldAt& at) {
    std::string full;
    decode::AppendFieldName(at.name, full);
    for (const Field& field : fields) {
      if (field.first != full) continue;
      ++set;
      uint64_t raw = 0;
      if (const auto* number = std::get_if<uint64_t>(&field.second)) {
        raw = *number;
      } else {
        const std::string& word = std::get<std::string>(field.second);
        const std::optional<uint64_t> named = tables.NamedValueOf(*at.leaf, word);
        EXPECT_TRUE(named.has_value()) << full << "=" << word;
        raw = named.value_or(0);
      }
      decode::WriteBits(bytes, at.bit, at.width, raw);
    }
  });
  EXPECT_EQ(set, fields.size()) << name << " lacks a field";
  return packet;
}

// A stream, packet by packet.
class Stream {
 public:
  explicit Stream(absl::string_view generation)
      : tables_(Generation(generation)), description_(tables_), state_(description_) {}

  Stream& Put(absl::string_view name, const std::vector<Field>& fields, uint32_t items = 0) {
    const Packet packet = Packed(tables_, name, items, fields);
    state_.See(*packet.container, packet.bytes);
    return *this;
  }
  absl::StatusOr<VertexDraw> TryDraw(const std::vector<Field>& fields,
                                     const DrawParameters& parameters = {},
                                     absl::string_view name = "3DPRIMITIVE") {
    const Packet packet = Packed(tables_, name, 0, fields);
    return state_.Draw(*packet.container, packet.bytes, parameters);
  }
  VertexDraw Draw(const std::vector<Field>& fields, absl::string_view name = "3DPRIMITIVE") {
    absl::StatusOr<VertexDraw> draw = TryDraw(fields, {}, name);
    if (!draw.ok()) ADD_FAILURE() << draw.status();
    return draw.value_or(VertexDraw{});
  }

 private:
  const tables::Tables& tables_;
  VertexDescription description_;
  VertexState state_;
};

std::string Vertices(const HostMemory& memory, const VertexDraw& draw) {
  absl::StatusOr<VertexFetch> fetch = VertexFetch::Make(memory, draw);
  if (!fetch.ok()) return std::string(fetch.status().message());
  VertexWalk walk(*fetch);
  std::vector<std::string> all;
  while (walk.Next()) {
    if (walk.vertex().index.restart) {
      all.push_back("|");
      continue;
    }
    fetch->Fetch(walk.vertex());
    all.push_back(absl::StrJoin(fetch->vue(), ","));
  }
  return absl::StrJoin(all, " ");
}

const std::vector<Field> kOneUint = {{"Element[0].Source Element Format", "R32_UINT"},
                                     {"Element[0].Valid", uint64_t{1}},
                                     {"Element[0].Component 0 Control", "STORE_SRC"}};

HostMemory Rows() {
  HostMemory memory;
  memory.PutAll(0x1000, std::vector<uint32_t>{100, 101, 102, 103, 104, 105, 106, 107});
  memory.PutAll(0x2000, std::vector<uint16_t>{5, 0xffff, 2, 1});
  return memory;
}

TEST(DrawState, Gfx9DrawsSequentialVertices) {
  Stream stream("gfx9");
  stream
      .Put("3DSTATE_VERTEX_BUFFERS",
           {{"Vertex Buffer State[0].Buffer Pitch", 4u},
            {"Vertex Buffer State[0].Vertex Buffer Index", 2u},
            {"Vertex Buffer State[0].Buffer Starting Address", 0x1000u},
            {"Vertex Buffer State[0].Address Modify Enable", 1u},
            {"Vertex Buffer State[0].Buffer Size", 20u}},
           1)
      .Put("3DSTATE_VERTEX_ELEMENTS",
           {{"Element[0].Source Element Format", "R32_UINT"},
            {"Element[0].Valid", 1u},
            {"Element[0].Vertex Buffer Index", 2u},
            {"Element[0].Component 0 Control", "STORE_SRC"},
            {"Element[0].Component 1 Control", "STORE_0"},
            {"Element[0].Component 2 Control", "STORE_1_INT"},
            {"Element[0].Component 3 Control", "STORE_0"},
            {"Element[1].Source Element Format", "R32_UINT"},
            {"Element[1].Valid", 1u},
            {"Element[1].Source Element Offset", 4u},
            {"Element[1].Vertex Buffer Index", 2u},
            {"Element[1].Component 0 Control", "STORE_SRC"}},
           3)
      .Put("3DSTATE_VF_INSTANCING", {{"Vertex Element Index", 1u},
                                     {"Instancing Enable", 1u},
                                     {"Instance Data Step Rate", 2u}})
      .Put("3DSTATE_VF_SGVS", {{"VertexID Enable", 1u},
                               {"VertexID Component Number", 1u},
                               {"InstanceID Enable", 1u},
                               {"InstanceID Element Offset", 0u},
                               {"InstanceID Component Number", 3u}})
      .Put("3DSTATE_VF_TOPOLOGY", {{"Primitive Topology Type", "TRISTRIP"}});
  const VertexDraw draw = stream.Draw({{"Start Vertex Location", 3u},
                                       {"Vertex Count Per Instance", 3u},
                                       {"Instance Count", 2u},
                                       {"Start Instance Location", 1u}});
  EXPECT_EQ(draw.topology.rule, AssemblyRule::kTriangleStrip);
  EXPECT_EQ(draw.elements.size(), 2u) << "the invalid one ends the list";
  EXPECT_EQ(Vertices(Rows(), draw),
            "103,0,1,0,102 104,1,1,0,102 0,2,1,0,102 103,0,1,1,102 104,1,1,1,102 0,2,1,1,102");
}

TEST(DrawState, Gfx4HasItsTopologyIndexLimitAndDestinationsInOtherPlaces) {
  Stream stream("gfx4");
  stream
      .Put("3DSTATE_VERTEX_BUFFERS",
           {{"Vertex Buffer State[0].Buffer Pitch", 4u},
            {"Vertex Buffer State[0].Buffer Starting Address", 0x1000u},
            {"Vertex Buffer State[0].Max Index", 2u},
            {"Vertex Buffer State[1].Buffer Pitch", 4u},
            {"Vertex Buffer State[1].Vertex Buffer Index", 1u},
            {"Vertex Buffer State[1].Buffer Access Type", "INSTANCEDATA"},
            {"Vertex Buffer State[1].Instance Data Step Rate", 1u},
            {"Vertex Buffer State[1].Buffer Starting Address", 0x1010u},
            {"Vertex Buffer State[1].Max Index", 9u}},
           2)
      .Put("3DSTATE_VERTEX_ELEMENTS",
           {{"Element[0].Source Element Format", "R32_UINT"},
            {"Element[0].Valid", 1u},
            {"Element[0].Destination Element Offset", 1u},
            {"Element[0].Component 0 Control", "STORE_SRC"},
            {"Element[0].Component 1 Control", "STORE_VID"},
            {"Element[0].Component 2 Control", "STORE_IID"},
            {"Element[1].Source Element Format", "R32_UINT"},
            {"Element[1].Valid", 1u},
            {"Element[1].Vertex Buffer Index", 1u},
            {"Element[1].Destination Element Offset", 0u},
            {"Element[1].Component 0 Control", "STORE_SRC"}},
           2);
  const VertexDraw draw = stream.Draw({{"Primitive Topology Type", "QUADLIST"},
                                       {"Start Vertex Location", 1u},
                                       {"Vertex Count Per Instance", 3u},
                                       {"Instance Count", 2u}});
  EXPECT_EQ(draw.topology.kind, PrimitiveKind::kQuad);
  EXPECT_EQ(Vertices(Rows(), draw),
            "104,101,0,0 104,102,1,0 104,0,2,0 105,101,0,1 105,102,1,1 105,0,2,1");
}

TEST(DrawState, AMaxIndexOfZeroIsNoLimitOfAGfx4Buffer) {
  const auto rows = [](const std::string& type, uint64_t max_index) {
    Stream stream("gfx4");
    stream
        .Put("3DSTATE_VERTEX_BUFFERS",
             {{"Vertex Buffer State[0].Buffer Pitch", 4u},
              {"Vertex Buffer State[0].Buffer Access Type", type},
              {"Vertex Buffer State[0].Instance Data Step Rate", 1u},
              {"Vertex Buffer State[0].Buffer Starting Address", 0x1000u},
              {"Vertex Buffer State[0].Max Index", max_index}},
             1)
        .Put("3DSTATE_VERTEX_ELEMENTS", kOneUint, 1);
    const bool instances = type == "INSTANCEDATA";
    return Vertices(Rows(), stream.Draw({{"Primitive Topology Type", "POINTLIST"},
                                         {"Vertex Count Per Instance", instances ? 1u : 3u},
                                         {"Instance Count", instances ? 3u : 1u}}));
  };
  for (const char* type : {"VERTEXDATA", "INSTANCEDATA"}) {
    EXPECT_EQ(rows(type, 0), "100 101 102") << type;
    EXPECT_EQ(rows(type, 1), "100 101 0") << type;
    EXPECT_EQ(rows(type, 2), "100 101 102") << type;
  }
}

TEST(DrawState, Gfx6BuffersHaveTheAddressOfTheirLastByte) {
  Stream stream("gfx6");
  stream
      .Put("3DSTATE_VERTEX_BUFFERS",
           {{"Vertex Buffer State[0].Buffer Pitch", 4u},
            {"Vertex Buffer State[0].Buffer Starting Address", 0x1000u},
            {"Vertex Buffer State[0].End Address", 0x1017u}},
           1)
      .Put("3DSTATE_VERTEX_ELEMENTS", kOneUint, 1)
      .Put("3DSTATE_INDEX_BUFFER", {{"Index Format", "WORD"},
                                    {"Cut Index Enable", 1u},
                                    {"Buffer Starting Address", 0x2000u},
                                    {"Buffer Ending Address", 0x2005u}});
  const std::vector<Field> fields = {{"Primitive Topology Type", "LINESTRIP"},
                                     {"Vertex Access Type", "RANDOM"},
                                     {"Vertex Count Per Instance", 4u},
                                     {"Instance Count", 1u}};
  EXPECT_EQ(Vertices(Rows(), stream.Draw(fields)), "105 | 102 100")
      << "the cut has all bits set; the fourth index is outside";
  // One byte less, and the last row does not fit.
  stream.Put("3DSTATE_VERTEX_BUFFERS",
             {{"Vertex Buffer State[0].Buffer Pitch", 4u},
              {"Vertex Buffer State[0].Buffer Starting Address", 0x1000u},
              {"Vertex Buffer State[0].End Address", 0x1016u}},
             1);
  EXPECT_EQ(Vertices(Rows(), stream.Draw(fields)), "0 | 102 100");
  // The end before the start.
  stream.Put("3DSTATE_VERTEX_BUFFERS",
             {{"Vertex Buffer State[0].Buffer Pitch", 4u},
              {"Vertex Buffer State[0].Buffer Starting Address", 0x1000u},
              {"Vertex Buffer State[0].End Address", 0xfffu}},
             1);
  EXPECT_EQ(Vertices(Rows(), stream.Draw(fields)), "0 | 0 0");
}

TEST(DrawState, TheCutIndexIsInAPacketOfItsOwnFromGfx75On) {
  for (const char* generation : {"gfx75", "gfx8", "gfx12", "xe3"}) {
    Stream stream(generation);
    stream.Put("3DSTATE_VERTEX_ELEMENTS", kOneUint, 1);
    if (absl::string_view(generation) == "gfx75") {
      stream
          .Put("3DSTATE_VERTEX_BUFFERS",
               {{"Vertex Buffer State[0].Buffer Pitch", 4u},
                {"Vertex Buffer State[0].Buffer Starting Address", 0x1000u},
                {"Vertex Buffer State[0].Address Modify Enable", 1u},
                {"Vertex Buffer State[0].End Address", 0x101fu}},
               1)
          .Put("3DSTATE_INDEX_BUFFER", {{"Index Format", "WORD"},
                                        {"Buffer Starting Address", 0x2000u},
                                        {"Buffer Ending Address", 0x2007u}});
    } else {
      stream
          .Put("3DSTATE_VERTEX_BUFFERS",
               {{"Vertex Buffer State[0].Buffer Pitch", 4u},
                {"Vertex Buffer State[0].Buffer Starting Address", 0x1000u},
                {"Vertex Buffer State[0].Address Modify Enable", 1u},
                {"Vertex Buffer State[0].Buffer Size", 32u}},
               1)
          .Put(
              "3DSTATE_INDEX_BUFFER",
              {{"Index Format", "WORD"}, {"Buffer Starting Address", 0x2000u}, {"Buffer Size", 8u}})
          .Put("3DSTATE_VF_TOPOLOGY", {{"Primitive Topology Type", "LINESTRIP"}});
    }
    std::vector<Field> draw = {{"Vertex Access Type", "RANDOM"},
                               {"Vertex Count Per Instance", 4u},
                               {"Instance Count", 1u},
                               {"Base Vertex Location", 1u}};
    if (absl::string_view(generation) == "gfx75") {
      draw.push_back({"Primitive Topology Type", "LINESTRIP"});
    }
    // Row 0x10000 is outside.
    EXPECT_EQ(Vertices(Rows(), stream.Draw(draw)), "106 0 103 102") << generation;
    stream.Put("3DSTATE_VF", {{"Indexed Draw Cut Index Enable", 1u}, {"Cut Index", 2u}});
    EXPECT_EQ(Vertices(Rows(), stream.Draw(draw)), "106 0 | 102") << generation;
    stream.Put("3DSTATE_VF", {{"Indexed Draw Cut Index Enable", 1u}, {"Cut Index", 0xffffu}});
    EXPECT_EQ(Vertices(Rows(), stream.Draw(draw)), "106 | 103 102") << generation;
    stream.Put("3DSTATE_VF", {{"Cut Index", 2u}});
    EXPECT_EQ(Vertices(Rows(), stream.Draw(draw)), "106 0 103 102") << generation;
  }
}

TEST(DrawState, ParametersOfExtendedDrawsReachTheirElements) {
  for (const char* generation : {"gfx11", "gfx125", "xe2"}) {
    Stream stream(generation);
    stream
        .Put("3DSTATE_VERTEX_ELEMENTS",
             {{"Element[0].Source Element Format", "R32_UINT"},
              {"Element[0].Valid", 1u},
              {"Element[0].Component 0 Control", "STORE_0"},
              {"Element[0].Component 1 Control", "STORE_0"},
              {"Element[0].Component 2 Control", "STORE_0"},
              {"Element[0].Component 3 Control", "STORE_0"}},
             1)
        .Put("3DSTATE_VF_SGVS_2", {{"XP0 Enable", 1u},
                                   {"XP0 Component Number", 3u},
                                   {"XP1 Enable", 1u},
                                   {"XP1 Component Number", 2u},
                                   {"XP2 Enable", 1u},
                                   {"XP2 Component Number", 1u}})
        .Put("3DSTATE_VF_TOPOLOGY", {{"Primitive Topology Type", "POINTLIST"}});
    const std::vector<Field> draw = {
        {"Vertex Count Per Instance", 1u}, {"Instance Count", 1u},
        {"Start Vertex Location", 70u},    {"Start Instance Location", 80u},
        {"Extended Parameter 0", 7u},      {"Extended Parameter 1", 8u},
        {"Extended Parameter 2", 9u}};
    EXPECT_EQ(Vertices(Rows(), stream.Draw(draw, "3DPRIMITIVE_EXTENDED")), "0,9,8,7") << generation;
    stream.Put("3DSTATE_VF_SGVS_2", {{"XP0 Enable", 1u},
                                     {"XP0 Component Number", 3u},
                                     {"XP0 Source Select", "VERTEX_LOCATION"},
                                     {"XP1 Enable", 1u},
                                     {"XP1 Component Number", 2u},
                                     {"XP1 Source Select", "Starting Instance Location"}});
    EXPECT_EQ(Vertices(Rows(), stream.Draw(draw, "3DPRIMITIVE_EXTENDED")), "0,0,80,70")
        << generation;
  }
}

TEST(DrawState, VertexIdsHaveTheOffsetThatGfx11CanAdd) {
  Stream stream("gfx11");
  stream.Put("3DSTATE_VERTEX_ELEMENTS", kOneUint, 1)
      .Put("3DSTATE_VF_SGVS", {{"VertexID Enable", 1u}})
      .Put("3DSTATE_VF_TOPOLOGY", {{"Primitive Topology Type", "POINTLIST"}})
      .Put("3DSTATE_VF", {{"VertexID Offset Enable", 1u}});
  EXPECT_EQ(Vertices(Rows(), stream.Draw({{"Vertex Count Per Instance", 2u},
                                          {"Instance Count", 1u},
                                          {"Start Vertex Location", 40u}})),
            "40 41");
}

TEST(DrawState, SequentialDrawsCanBeCutFromGfx9On) {
  Stream stream("gfx9");
  stream.Put("3DSTATE_VERTEX_ELEMENTS", kOneUint, 1)
      .Put("3DSTATE_VF_SGVS", {{"VertexID Enable", 1u}})
      .Put("3DSTATE_VF_TOPOLOGY", {{"Primitive Topology Type", "POINTLIST"}})
      .Put("3DSTATE_VF", {{"Sequential Draw Cut Index Enable", 1u}, {"Cut Index", 1u}});
  EXPECT_EQ(
      Vertices(Rows(), stream.Draw({{"Vertex Count Per Instance", 3u}, {"Instance Count", 1u}})),
      "0 | 2");
}

TEST(DrawState, PackedComponentsAreThoseEnabled) {
  Stream stream("gfx9");
  stream
      .Put("3DSTATE_VERTEX_ELEMENTS",
           {{"Element[0].Source Element Format", "R32G32_UINT"},
            {"Element[0].Valid", 1u},
            {"Element[0].Component 0 Control", "STORE_SRC"},
            {"Element[0].Component 1 Control", "STORE_SRC"},
            {"Element[0].Component 2 Control", "STORE_1_INT"},
            {"Element[0].Component 3 Control", "STORE_0"},
            {"Element[1].Source Element Format", "R32G32_UINT"},
            {"Element[1].Valid", 1u},
            {"Element[1].Component 0 Control", "STORE_1_INT"}},
           2)
      .Put("3DSTATE_VERTEX_BUFFERS",
           {{"Vertex Buffer State[0].Buffer Starting Address", 0x1000u},
            {"Vertex Buffer State[0].Address Modify Enable", 1u},
            {"Vertex Buffer State[0].Buffer Size", 32u}},
           1)
      .Put("3DSTATE_VF_COMPONENT_PACKING",
           {{"Vertex Element 00 Enables", 0b0110u}, {"Vertex Element 01 Enables", 1u}})
      .Put("3DSTATE_VF_TOPOLOGY", {{"Primitive Topology Type", "POINTLIST"}});
  const std::vector<Field> draw = {{"Vertex Count Per Instance", 1u}, {"Instance Count", 1u}};
  EXPECT_EQ(Vertices(Rows(), stream.Draw(draw)), "100,101,1,0,1");
  stream.Put("3DSTATE_VF", {{"Component Packing Enable", 1u}});
  EXPECT_EQ(Vertices(Rows(), stream.Draw(draw)), "101,1,1");
}

TEST(DrawState, TheEdgeFlagIsAnElementOfItsOwn) {
  Stream stream("gfx6");
  stream.Put("3DSTATE_VERTEX_ELEMENTS",
             {{"Element[0].Source Element Format", "R32_UINT"},
              {"Element[0].Valid", 1u},
              {"Element[0].Component 0 Control", "STORE_1_INT"},
              {"Element[1].Source Element Format", "R8_UINT"},
              {"Element[1].Valid", 1u},
              {"Element[1].Edge Flag Enable", 1u},
              {"Element[1].Component 0 Control", "STORE_SRC"}},
             2);
  const VertexDraw draw = stream.Draw({{"Primitive Topology Type", "POLYGON"},
                                       {"Vertex Count Per Instance", 1u},
                                       {"Instance Count", 1u}});
  ASSERT_EQ(draw.elements.size(), 2u);
  EXPECT_TRUE(draw.elements[1].edge_flag);
  EXPECT_EQ(Vertices(Rows(), draw), "1");
}

TEST(DrawState, NumbersThatAreNotInThePacketCanBeGiven) {
  Stream stream("gfx9");
  stream.Put("3DSTATE_VERTEX_ELEMENTS", kOneUint, 1)
      .Put("3DSTATE_VERTEX_BUFFERS",
           {{"Vertex Buffer State[0].Buffer Pitch", 4u},
            {"Vertex Buffer State[0].Buffer Starting Address", 0x1000u},
            {"Vertex Buffer State[0].Address Modify Enable", 1u},
            {"Vertex Buffer State[0].Buffer Size", 32u}},
           1)
      .Put("3DSTATE_VF_TOPOLOGY", {{"Primitive Topology Type", "POINTLIST"}});
  const std::vector<Field> indirect = {
      {"Indirect Parameter Enable", 1u}, {"Vertex Count Per Instance", 1u}, {"Instance Count", 1u}};
  const absl::StatusOr<VertexDraw> without = stream.TryDraw(indirect);
  EXPECT_EQ(without.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(without.status().message(), "3DPRIMITIVE"));
  const absl::StatusOr<VertexDraw> with = stream.TryDraw(indirect, {.indexed = {},
                                                                    .start_vertex = 2,
                                                                    .vertex_count = 3,
                                                                    .instance_count = 1,
                                                                    .start_instance = 4,
                                                                    .base_vertex = -5,
                                                                    .parameters = {6, 7, 8}});
  ASSERT_TRUE(with.ok()) << with.status();
  EXPECT_EQ(Vertices(Rows(), *with), "102 103 104");
  EXPECT_EQ(with->start_instance, 4u);
  EXPECT_EQ(with->base_vertex, -5);
  EXPECT_EQ(with->parameters[2], 8u);
}

TEST(DrawState, NullBuffersReadAsZeros) {
  Stream stream("gfx9");
  stream.Put("3DSTATE_VERTEX_ELEMENTS", kOneUint, 1)
      .Put("3DSTATE_VERTEX_BUFFERS",
           {{"Vertex Buffer State[0].Buffer Pitch", 4u},
            {"Vertex Buffer State[0].Null Vertex Buffer", 1u},
            {"Vertex Buffer State[0].Buffer Starting Address", 0x1000u},
            {"Vertex Buffer State[0].Address Modify Enable", 1u},
            {"Vertex Buffer State[0].Buffer Size", 32u}},
           1)
      .Put("3DSTATE_VF_TOPOLOGY", {{"Primitive Topology Type", "POINTLIST"}});
  EXPECT_EQ(
      Vertices(Rows(), stream.Draw({{"Vertex Count Per Instance", 2u}, {"Instance Count", 1u}})),
      "0 0");
}

TEST(DrawState, ABufferKeepsItsAddressUnlessItIsModified) {
  Stream stream("gfx9");
  stream.Put("3DSTATE_VERTEX_ELEMENTS", kOneUint, 1)
      .Put("3DSTATE_VERTEX_BUFFERS",
           {{"Vertex Buffer State[0].Buffer Pitch", 4u},
            {"Vertex Buffer State[0].Address Modify Enable", 1u},
            {"Vertex Buffer State[0].Buffer Starting Address", 0x1000u},
            {"Vertex Buffer State[0].Buffer Size", 32u}},
           1)
      .Put("3DSTATE_VERTEX_BUFFERS",
           {{"Vertex Buffer State[0].Buffer Pitch", 8u},
            {"Vertex Buffer State[0].Buffer Starting Address", 0x7000u},
            {"Vertex Buffer State[1].Vertex Buffer Index", 1u},
            {"Vertex Buffer State[1].Address Modify Enable", 1u},
            {"Vertex Buffer State[1].Buffer Starting Address", 0x2000u}},
           2)
      .Put("3DSTATE_VF_TOPOLOGY", {{"Primitive Topology Type", "POINTLIST"}});
  const VertexDraw draw = stream.Draw({{"Vertex Count Per Instance", 3u}, {"Instance Count", 1u}});
  EXPECT_EQ(Vertices(Rows(), draw), "100 102 104") << "only the pitch is new";
  EXPECT_EQ(draw.buffers[1].address, 0x2000u);
}

TEST(DrawState, Gfx4HasProvokingVerticesInTheStateOfASetup) {
  VertexDescription description(Generation("gfx4"));
  const uint32_t sf = Generation("gfx4").FindContainer("SF_STATE");
  ASSERT_NE(sf, tables::kNone);
  EXPECT_TRUE(description.Changes(Generation("gfx4").container(sf)));
}

TEST(DrawState, ProvokingVerticesAndStripsOrder) {
  for (const char* generation : {"gfx6", "gfx7", "gfx8", "gfx12"}) {
    Stream stream(generation);
    stream
        .Put("3DSTATE_SF", {{"Triangle Fan Provoking Vertex Select", 2u},
                            {"Line Strip/List Provoking Vertex Select", 1u},
                            {"Triangle Strip/List Provoking Vertex Select", 2u}})
        .Put("3DSTATE_GS", {{"Reorder Mode", "TRAILING"}});
    std::vector<Field> fields = {{"Vertex Count Per Instance", 1u}, {"Instance Count", 1u}};
    if (absl::string_view(generation) <= "gfx7" && generation[3] != '1') {
      fields.push_back({"Primitive Topology Type", "TRILIST"});
    } else {
      stream.Put("3DSTATE_VF_TOPOLOGY", {{"Primitive Topology Type", "TRILIST"}});
    }
    const VertexDraw draw = stream.Draw(fields);
    EXPECT_EQ(draw.assembly.provoking.fans, 2) << generation;
    EXPECT_EQ(draw.assembly.provoking.lines, 1) << generation;
    EXPECT_EQ(draw.assembly.provoking.triangles, 2) << generation;
    EXPECT_EQ(draw.assembly.order, StripOrder::kTrailing) << generation;
  }
}

TEST(DrawState, WhatIsMissingIsSaid) {
  Stream stream("gfx9");
  const std::vector<Field> draw = {{"Vertex Count Per Instance", 1u}, {"Instance Count", 1u}};
  absl::Status status = stream.TryDraw(draw).status();
  EXPECT_TRUE(absl::StrContains(status.message(), "topology")) << status;
  stream.Put("3DSTATE_VF_TOPOLOGY", {{"Primitive Topology Type", 63u}});
  EXPECT_TRUE(stream.TryDraw(draw).ok()) << "a patch of 32 points";
  stream.Put("3DSTATE_VERTEX_ELEMENTS",
             {{"Element[0].Source Element Format", "RAW"},
              {"Element[0].Valid", 1u},
              {"Element[0].Component 0 Control", "STORE_SRC"}},
             1);
  status = stream.TryDraw(draw).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(status.message(), "vertex element 0")) << status;
}

TEST(DrawState, APacketWithoutMeaningCostsNothing) {
  const VertexDescription description(Generation("gfx9"));
  const auto changes = [&](absl::string_view name) {
    return description.Changes(
        Generation("gfx9").container(Generation("gfx9").FindContainer(name)));
  };
  EXPECT_TRUE(changes("3DSTATE_VERTEX_BUFFERS"));
  EXPECT_TRUE(changes("3DSTATE_VF"));
  EXPECT_FALSE(changes("3DSTATE_WM"));
  EXPECT_FALSE(changes("PIPE_CONTROL"));
}

// No generation's table has a name that is not understood.
TEST(DrawState, AllNamesOfAllGenerationsAreKnown) {
  for (const char* generation : {"gfx4", "gfx45", "gfx5", "gfx6", "gfx7", "gfx75", "gfx8", "gfx9",
                                 "gfx11", "gfx12", "gfx125", "xe2", "xe3"}) {
    const tables::Tables& tables = Generation(generation);
    int topologies = 0, controls = 0, formats = 0;
    for (const tables::Container& container : tables.containers()) {
      for (const tables::Range leaves : {container.leaves, container.tail_leaves}) {
        for (const tables::Leaf& leaf : tables.leaves(leaves)) {
          if (leaf.extra == tables::kNone || leaf.named == tables::kNone) continue;
          const tables::Extra& extra = tables.extra(leaf.extra);
          for (const tables::NamedValue& value :
               tables.values(tables.enumeration(leaf.named).values)) {
            const absl::string_view name = tables.string(value.name);
            if (extra.meaning == tables::Meaning::kTopology) {
              ++topologies;
              EXPECT_TRUE(FindTopology(name).has_value()) << generation << ": " << name;
            }
            if (extra.meaning == tables::Meaning::kComponentControl) {
              ++controls;
              EXPECT_TRUE(FindComponentControl(name).has_value()) << generation << ": " << name;
            }
            if (extra.element != tables::kNone && value.format != tables::kNone) {
              ++formats;
              EXPECT_TRUE(MakeVertexFormat(tables, tables.format(value.format)).ok())
                  << generation << ": " << name;
            }
          }
        }
      }
    }
    EXPECT_GE(topologies, 21) << generation;
    EXPECT_GE(controls, 24) << generation;
    EXPECT_GE(formats, 100) << generation;
  }
}

TEST(DrawState, DamagedPacketsAreHarmless) {
  std::mt19937 random(3);
  for (const char* generation : {"gfx4", "gfx7", "gfx9", "xe3"}) {
    const tables::Tables& tables = Generation(generation);
    VertexDescription description(tables);
    std::vector<const tables::Container*> relevant;
    for (const tables::Container& container : tables.containers()) {
      if (description.Changes(container)) relevant.push_back(&container);
    }
    ASSERT_GT(relevant.size(), 5u);
    const HostMemory memory = Rows();
    for (int round = 0; round < 200; ++round) {
      VertexState state(description);
      for (int packets = 0; packets < 30; ++packets) {
        std::vector<uint8_t> bytes(random() % 300);
        for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() % 3 == 0 ? 0 : random());
        const tables::Container& container = *relevant[random() % relevant.size()];
        state.See(container, bytes);
        DrawParameters parameters;
        parameters.indexed = random() % 2 == 0;
        parameters.vertex_count = random();
        const absl::StatusOr<VertexDraw> draw = state.Draw(container, bytes, parameters);
        if (!draw.ok()) continue;
        absl::StatusOr<VertexFetch> fetch = VertexFetch::Make(memory, *draw);
        if (!fetch.ok()) continue;
        VertexWalk walk(*fetch);
        for (int i = 0; i < 20 && walk.Next(); ++i) fetch->Fetch(walk.vertex());
        CountDraw(*fetch, 100);
      }
    }
  }
}

}  // namespace
}  // namespace packsmith::sim
