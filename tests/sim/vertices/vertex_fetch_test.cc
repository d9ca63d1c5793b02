#include "runtime/sim/vertices/vertex_fetch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/sim/vertices/host_memory.h"

namespace packsmith::sim {
namespace {

using tables::ComponentType;
using Dwords = std::vector<uint32_t>;

constexpr uint32_t kOne = 0x3f800000;  // 1.0
constexpr ComponentSource kNothing = ComponentSource::kNothing;
constexpr ComponentSource kData = ComponentSource::kData;
constexpr ComponentSource kZero = ComponentSource::kZero;

VertexFormat FormatOf(uint32_t components, uint32_t width, ComponentType type) {
  VertexFormat format;
  format.bytes = components * width / 8;
  format.wide = width == 64 && type == ComponentType::kUint;
  for (uint32_t i = 0; i < components; ++i) {
    format.components[i] = {0, static_cast<uint16_t>(i * width), static_cast<uint8_t>(width), type};
  }
  return format;
}

VertexElement ElementOf(uint32_t buffer, uint32_t offset, uint32_t components,
                        std::array<ComponentSource, 4> sources) {
  return {.buffer = buffer,
          .offset = offset,
          .format = FormatOf(components, 32, ComponentType::kUint),
          .components = sources};
}

VertexBuffer BufferAt(uint64_t address, uint64_t size, uint32_t pitch) {
  return {.address = address, .size = size, .pitch = pitch, .null = false};
}

// One buffer at 0x1000 with `count` rows of one dword: 100, 101, …
struct OneBuffer {
  explicit OneBuffer(uint32_t count) {
    Dwords rows(count);
    std::iota(rows.begin(), rows.end(), 100);
    memory.PutAll(0x1000, rows);
    draw.buffers.push_back(BufferAt(0x1000, count * 4, 4));
    draw.elements.push_back(ElementOf(0, 0, 1, {kData, kNothing, kNothing, kNothing}));
    draw.vertex_count = count;
    draw.topology = *FindTopology("POINTLIST");
  }
  void Indices(const std::vector<uint16_t>& indices) {
    memory.PutAll(0x8000, indices);
    draw.indexed = true;
    draw.indices = {.address = 0x8000, .size = indices.size() * 2, .index_bytes = 2};
    draw.vertex_count = static_cast<uint32_t>(indices.size());
  }

  HostMemory memory;
  VertexDraw draw;
};

VertexFetch Made(const MemoryAccess& memory, const VertexDraw& draw) {
  absl::StatusOr<VertexFetch> fetch = VertexFetch::Make(memory, draw);
  if (!fetch.ok()) {
    ADD_FAILURE() << fetch.status();
    fetch = VertexFetch::Make(memory, VertexDraw{});
  }
  return *std::move(fetch);
}

// Vertices in order, as their dwords; restarts as "|", instances after "/".
std::string Vertices(VertexFetch& fetch) {
  std::string all;
  uint32_t instance = 0;
  VertexWalk walk(fetch);
  while (walk.Next()) {
    if (walk.vertex().instance != instance) {
      absl::StrAppend(&all, all.empty() ? "/" : " /");
      instance = walk.vertex().instance;
    }
    if (!all.empty()) all += ' ';
    if (walk.vertex().index.restart) {
      all += '|';
      continue;
    }
    fetch.Fetch(walk.vertex());
    absl::StrAppend(&all, absl::StrJoin(fetch.vue(), ","));
  }
  return all;
}

std::string Vertices(const MemoryAccess& memory, const VertexDraw& draw) {
  VertexFetch fetch = Made(memory, draw);
  return Vertices(fetch);
}

TEST(VertexFetch, SequentialVerticesBeginAtTheStart) {
  OneBuffer one(6);
  one.draw.start_vertex = 2;
  one.draw.vertex_count = 3;
  EXPECT_EQ(Vertices(one.memory, one.draw), "102 103 104");
}

TEST(VertexFetch, IndicesOfEachSizeNameRows) {
  for (const uint32_t bytes : {1u, 2u, 4u}) {
    OneBuffer one(6);
    std::vector<uint8_t> indices;
    for (const uint8_t index : {5, 0, 3}) {
      indices.push_back(index);
      indices.resize(indices.size() + bytes - 1);
    }
    one.memory.Put(0x8000, indices);
    one.draw.indexed = true;
    one.draw.indices = {.address = 0x8000, .size = indices.size(), .index_bytes = bytes};
    one.draw.vertex_count = 3;
    EXPECT_EQ(Vertices(one.memory, one.draw), "105 100 103") << bytes;
  }
}

TEST(VertexFetch, TheStartIsAPositionInTheIndices) {
  OneBuffer one(6);
  one.Indices({5, 4, 3, 2});
  one.draw.start_vertex = 1;
  one.draw.vertex_count = 2;
  EXPECT_EQ(Vertices(one.memory, one.draw), "104 103");
}

TEST(VertexFetch, TheBaseVertexIsAddedToIndicesAfterTheCut) {
  OneBuffer one(6);
  one.Indices({0, 0xffff, 3});
  one.draw.base_vertex = 2;
  one.draw.cut = 0xffff;
  EXPECT_EQ(Vertices(one.memory, one.draw), "102 | 105");
  one.draw.base_vertex = -1;
  EXPECT_EQ(Vertices(one.memory, one.draw), "0 | 102") << "row -1 is outside";
  one.draw.cut.reset();
  EXPECT_EQ(Vertices(one.memory, one.draw), "0 0 102");
}

TEST(VertexFetch, ACutIsComparedWithTheWholeIndex) {
  OneBuffer one(6);
  one.Indices({1, 2, 3});
  one.draw.cut = 2;
  EXPECT_EQ(Vertices(one.memory, one.draw), "101 | 103");
  one.draw.cut = 0x10002;
  EXPECT_EQ(Vertices(one.memory, one.draw), "101 102 103");
}

TEST(VertexFetch, SequentialDrawsAreCutOnlyIfTheyAskForIt) {
  OneBuffer one(4);
  one.draw.cut = 2;
  EXPECT_EQ(Vertices(one.memory, one.draw), "100 101 102 103");
  one.draw.cut_sequential = true;
  EXPECT_EQ(Vertices(one.memory, one.draw), "100 101 | 103");
}

TEST(VertexFetch, AnIndexOutsideOfTheBufferIsZero) {
  OneBuffer one(4);
  one.Indices({3, 2, 1});
  one.draw.vertex_count = 5;
  one.draw.indices.size = 5;  // the third one does not fit whole
  VertexFetch fetch = Made(one.memory, one.draw);
  EXPECT_EQ(Vertices(fetch), "103 102 100 100 100");
  EXPECT_EQ(fetch.problems().indices_outside, 3u);
  EXPECT_EQ(fetch.problems().elements_outside, 0u);
  EXPECT_EQ(fetch.problems().unmapped, 0u);
}

TEST(VertexFetch, AnElementThatDoesNotFitWholeIsZero) {
  HostMemory memory;
  memory.PutAll(0x1000, Dwords{1, 2, 3, 4, 5, 6, 7, 8});
  VertexDraw draw;
  draw.vertex_count = 3;
  draw.buffers = {BufferAt(0x1000, 23, 8)};
  draw.elements = {ElementOf(0, 0, 1, {kData, kZero, kZero, ComponentSource::kOneFloat}),
                   ElementOf(0, 4, 1, {kData, kNothing, kNothing, kNothing})};
  VertexFetch fetch = Made(memory, draw);
  EXPECT_EQ(Vertices(fetch),
            absl::StrCat("1,0,0,", kOne, ",2 3,0,0,", kOne, ",4 5,0,0,", kOne, ",0"));
  EXPECT_EQ(fetch.problems().elements_outside, 1u);
}

TEST(VertexFetch, RowsAboveTheLastAreZero) {
  OneBuffer one(4);
  one.draw.buffers[0].size = ~uint64_t{0};
  one.draw.buffers[0].last_row = 1;
  EXPECT_EQ(Vertices(one.memory, one.draw), "100 101 0 0");
  one.draw.buffers[0].last_row = 0;
  EXPECT_EQ(Vertices(one.memory, one.draw), "100 0 0 0");
  one.draw.buffers[0].last_row = std::nullopt;
  EXPECT_EQ(Vertices(one.memory, one.draw), "100 101 102 103") << "no limit";
}

TEST(VertexFetch, NullAndMissingBuffersAreZero) {
  OneBuffer one(2);
  one.draw.buffers[0].null = true;
  one.draw.elements.push_back(ElementOf(7, 0, 1, {kData, kNothing, kNothing, kNothing}));
  VertexFetch fetch = Made(one.memory, one.draw);
  EXPECT_EQ(Vertices(fetch), "0,0 0,0");
  EXPECT_EQ(fetch.problems().elements_outside, 4u);
}

TEST(VertexFetch, UnmappedMemoryIsZeroAndReported) {
  OneBuffer one(2);
  one.draw.buffers[0].size = 4096;
  one.draw.vertex_count = 4;
  VertexFetch fetch = Made(one.memory, one.draw);
  EXPECT_EQ(Vertices(fetch), "100 101 0 0");
  EXPECT_EQ(fetch.problems().unmapped, 2u);
  EXPECT_EQ(fetch.problems().unmapped_address, 0x1008u);
}

TEST(VertexFetch, AddressesHaveOnlyTheirBits) {
  OneBuffer one(2);
  one.draw.buffers[0].address = 0xffff'0000'0000'1000;
  one.draw.address_mask = 0xffff'ffff'ffff;
  EXPECT_EQ(Vertices(one.memory, one.draw), "100 101");
  // An element at the very end does not continue at the beginning.
  one.draw.buffers[0].address = 0xffff'ffff'fffe;
  one.draw.vertex_count = 1;
  VertexFetch fetch = Made(one.memory, one.draw);
  EXPECT_EQ(Vertices(fetch), "0");
  EXPECT_EQ(fetch.problems().unmapped, 1u);
}

TEST(VertexFetch, WithoutPitchAllRowsAreTheFirst) {
  OneBuffer one(3);
  one.draw.buffers[0].pitch = 0;
  EXPECT_EQ(Vertices(one.memory, one.draw), "100 100 100");
}

TEST(VertexFetch, BuffersAreInTheirSpaces) {
  HostMemory memory;
  memory.PutAll(0x1000, Dwords{7}, 3);
  VertexDraw draw;
  draw.vertex_count = 1;
  draw.buffers = {BufferAt(0x1000, 4, 4)};
  draw.buffers[0].space = 3;
  draw.elements = {ElementOf(0, 0, 1, {kData, kNothing, kNothing, kNothing})};
  EXPECT_EQ(Vertices(memory, draw), "7");
}

TEST(VertexFetch, InstanceDataAdvancesByItsStep) {
  OneBuffer one(8);
  one.draw.vertex_count = 1;
  one.draw.instance_count = 5;
  one.draw.start_instance = 1;
  one.draw.elements[0].step = 2;
  EXPECT_EQ(Vertices(one.memory, one.draw), "101 / 101 / 102 / 102 / 103");
  one.draw.elements[0].step = 0;
  EXPECT_EQ(Vertices(one.memory, one.draw), "101 / 101 / 101 / 101 / 101");
  one.draw.elements[0].step = 1;
  EXPECT_EQ(Vertices(one.memory, one.draw), "101 / 102 / 103 / 104 / 105");
}

TEST(VertexFetch, ABuffersStepHoldsForElementsWithoutOne) {
  OneBuffer one(8);
  one.draw.vertex_count = 2;
  one.draw.instance_count = 2;
  one.draw.buffers[0].step = 1;
  EXPECT_EQ(Vertices(one.memory, one.draw), "100 100 / 101 101");
  one.draw.elements[0].step = 0;
  EXPECT_EQ(Vertices(one.memory, one.draw), "100 100 / 100 100");
}

TEST(VertexFetch, EachInstanceBeginsWithTheFirstVertex) {
  OneBuffer one(2);
  one.draw.instance_count = 2;
  one.draw.start_instance = 7;
  EXPECT_EQ(Vertices(one.memory, one.draw), "100 101 / 100 101");
}

TEST(VertexFetch, IdsAreMadeAndPlaced) {
  OneBuffer one(6);
  one.Indices({5, 4});
  one.draw.base_vertex = 1;
  one.draw.instance_count = 2;
  one.draw.start_instance = 3;
  one.draw.parameters = {11, 12, 13};
  one.draw.elements = {ElementOf(0, 0, 1, {kZero, kZero, kZero, kZero}),
                       ElementOf(0, 0, 1, {kZero, kZero, kZero, kZero})};
  one.draw.placements = {
      {ComponentSource::kVertexId, 0, 0},       {ComponentSource::kInstanceId, 0, 3},
      {ComponentSource::kVertexLocation, 1, 0}, {ComponentSource::kStartInstance, 1, 1},
      {ComponentSource::kParameter2, 1, 2},     {ComponentSource::kParameter0, 1, 3},
      {ComponentSource::kParameter1, 9, 0}};  // no such element
  EXPECT_EQ(Vertices(one.memory, one.draw),
            "5,0,0,0,1,3,13,11 4,0,0,0,1,3,13,11 / 5,0,0,1,1,3,13,11 4,0,0,1,1,3,13,11");
}

TEST(VertexFetch, VertexIdsCountFromZeroUnlessTheyHaveTheOffset) {
  OneBuffer one(6);
  one.draw.start_vertex = 3;
  one.draw.vertex_count = 2;
  one.draw.elements[0].components[0] = ComponentSource::kVertexId;
  EXPECT_EQ(Vertices(one.memory, one.draw), "0 1");
  one.draw.vertex_id_offset = true;
  EXPECT_EQ(Vertices(one.memory, one.draw), "3 4");
  one.draw.elements[0].components[0] = ComponentSource::kVertexLocation;
  EXPECT_EQ(Vertices(one.memory, one.draw), "3 3");

  OneBuffer two(6);
  two.Indices({4, 2});
  two.draw.base_vertex = -1;
  two.draw.elements[0].components[0] = ComponentSource::kVertexId;
  EXPECT_EQ(Vertices(two.memory, two.draw), "4 2");
  two.draw.vertex_id_offset = true;
  EXPECT_EQ(Vertices(two.memory, two.draw), "3 1");
}

TEST(VertexFetch, PrimitiveIdsCountWhatWasCompleteBefore) {
  OneBuffer one(8);
  one.Indices({0, 1, 2, 3, 0xffff, 4, 5, 6});
  one.draw.cut = 0xffff;
  one.draw.instance_count = 2;
  one.draw.elements[0].components[0] = ComponentSource::kPrimitiveId;
  one.draw.topology = *FindTopology("TRILIST");
  EXPECT_EQ(Vertices(one.memory, one.draw), "0 0 0 1 | 1 1 1 / 0 0 0 1 | 1 1 1");
  one.draw.topology = *FindTopology("LINESTRIP");
  EXPECT_EQ(Vertices(one.memory, one.draw), "0 0 1 2 | 3 3 4 / 0 0 1 2 | 3 3 4");
  one.draw.topology = *FindTopology("LINELOOP");
  EXPECT_EQ(Vertices(one.memory, one.draw), "0 0 1 2 | 4 4 5 / 0 0 1 2 | 4 4 5");
}

TEST(VertexFetch, ControlsHaveTheManualsNames) {
  EXPECT_EQ(FindComponentControl("NOSTORE"), ComponentSource::kNothing);
  EXPECT_EQ(FindComponentControl("STORE_SRC"), ComponentSource::kData);
  EXPECT_EQ(FindComponentControl("STORE_0"), ComponentSource::kZero);
  EXPECT_EQ(FindComponentControl("STORE_1_FP"), ComponentSource::kOneFloat);
  EXPECT_EQ(FindComponentControl("STORE_1_INT"), ComponentSource::kOneInteger);
  EXPECT_EQ(FindComponentControl("STORE_VID"), ComponentSource::kVertexId);
  EXPECT_EQ(FindComponentControl("STORE_IID"), ComponentSource::kInstanceId);
  EXPECT_EQ(FindComponentControl("STORE_PID"), ComponentSource::kPrimitiveId);
  EXPECT_EQ(FindComponentControl("STORE"), std::nullopt);
}

std::string Layout(const VertexDraw& draw) {
  const HostMemory memory;
  std::vector<std::string> all;
  const VertexFetch fetch = Made(memory, draw);
  for (const VueDword& one : fetch.layout()) {
    all.push_back(one.source == ComponentSource::kNothing
                      ? "-"
                      : absl::StrCat(one.element, ".", one.component, one.half != 0 ? "+" : "", "=",
                                     static_cast<int>(one.source)));
  }
  return absl::StrJoin(all, " ");
}

TEST(VertexFetch, TheLayoutTellsWhereEachDwordComesFrom) {
  VertexDraw draw;
  draw.elements = {ElementOf(0, 0, 1, {kData, kZero, kZero, ComponentSource::kOneFloat}),
                   ElementOf(0, 0, 4, {kData, kData, kNothing, kNothing})};
  draw.placements = {{ComponentSource::kVertexId, 0, 1}, {ComponentSource::kVertexId, 1, 2}};
  EXPECT_EQ(Layout(draw), "0.0=1 0.1=5 0.2=2 0.3=3 1.0=1 1.1=1")
      << "what is not stored has no room for an id";
}

TEST(VertexFetch, SixtyFourBitsTakeTwoDwords) {
  HostMemory memory;
  memory.PutAll(0x1000, std::vector<uint64_t>{0x1111'2222'3333'4444, 5});
  VertexDraw draw;
  draw.vertex_count = 1;
  draw.buffers = {BufferAt(0x1000, 16, 16)};
  draw.elements = {{.buffer = 0,
                    .format = FormatOf(1, 64, ComponentType::kUint),
                    .components = {kData, kZero, kNothing, kNothing}},
                   ElementOf(0, 8, 1, {kData, kNothing, kNothing, kNothing})};
  EXPECT_EQ(Layout(draw), "0.0=1 0.0+=1 0.1=2 0.1+=2 1.0=1");
  EXPECT_EQ(Vertices(memory, draw), absl::StrCat(0x33334444, ",", 0x11112222, ",0,0,5"));
}

TEST(VertexFetch, PackedComponentsTakeNoRoomIfTheyAreNotEnabled) {
  VertexDraw draw;
  draw.elements = {ElementOf(0, 0, 4, {kData, kData, kData, kData}),
                   ElementOf(0, 0, 4, {kData, kZero, kZero, kZero})};
  draw.elements[0].enables = 0b1010;
  draw.elements[1].enables = 0b0101;
  draw.placements = {{ComponentSource::kInstanceId, 1, 2}};
  EXPECT_EQ(Layout(draw), "0.1=1 0.3=1 1.0=1 1.2=6");
}

TEST(VertexFetch, OldElementsHaveAPlaceInTheVertex) {
  VertexDraw draw;
  draw.elements = {ElementOf(0, 0, 4, {kData, kData, kNothing, kNothing}),
                   ElementOf(0, 0, 4, {kData, kNothing, kNothing, kNothing})};
  draw.elements[0].destination = 4;
  draw.elements[1].destination = 0;
  EXPECT_EQ(Layout(draw), "1.0=1 - - - 0.0=1 0.1=1");
}

TEST(VertexFetch, TheEdgeFlagIsNotStored) {
  HostMemory memory;
  memory.PutAll(0x1000, Dwords{10, 0, 11, 0x100, 12, 0});
  VertexDraw draw;
  draw.vertex_count = 3;
  draw.buffers = {BufferAt(0x1000, 24, 8)};
  draw.elements = {ElementOf(0, 0, 1, {kData, kNothing, kNothing, kNothing}),
                   ElementOf(0, 4, 1, {kData, kNothing, kNothing, kNothing})};
  draw.elements[1].edge_flag = true;
  VertexFetch fetch = Made(memory, draw);
  EXPECT_EQ(fetch.layout().size(), 1u);
  VertexWalk walk(fetch);
  std::string flags;
  while (walk.Next()) {
    fetch.Fetch(walk.vertex());
    flags += fetch.edge_flag() ? '1' : '0';
  }
  EXPECT_EQ(flags, "010");
  draw.elements.pop_back();
  EXPECT_TRUE(Made(memory, draw).edge_flag()) << "without an element all edges are drawn";
}

TEST(VertexFetch, VerticesCanBeFetchedInAnyOrder) {
  OneBuffer one(4);
  one.draw.instance_count = 3;
  one.draw.elements.push_back(
      ElementOf(0, 0, 1, {ComponentSource::kInstanceId, kNothing, kNothing, kNothing}));
  VertexFetch fetch = Made(one.memory, one.draw);
  fetch.Fetch({.instance = 2, .number = 3, .index = fetch.IndexAt(3)});
  EXPECT_EQ(absl::StrJoin(fetch.vue(), ","), "103,2");
  fetch.Fetch({.instance = 0, .number = 1, .index = fetch.IndexAt(1)});
  EXPECT_EQ(absl::StrJoin(fetch.vue(), ","), "101,0");
  VertexWalk walk(fetch);
  walk.Seek(2);
  ASSERT_TRUE(walk.Next());
  EXPECT_EQ(walk.vertex().instance, 2u);
  EXPECT_EQ(walk.vertex().number, 0u);
}

TEST(VertexFetch, ChangedMemoryIsReadAgain) {
  OneBuffer one(2);
  one.draw.elements[0].step = 0;
  VertexFetch fetch = Made(one.memory, one.draw);
  EXPECT_EQ(Vertices(fetch), "100 100");
  one.memory.PutAll(0x1000, Dwords{200, 201});
  fetch.Forget();
  EXPECT_EQ(Vertices(fetch), "200 200");
}

TEST(VertexFetch, ReadingInOrderIsOfManyRowsAtOnce) {
  OneBuffer one(10000);
  VertexFetch fetch = Made(one.memory, one.draw);
  Vertices(fetch);
  EXPECT_LT(one.memory.reads, 20u);
}

TEST(VertexFetch, ReadingAheadStaysInTheBuffer) {
  struct Watch : HostMemory {
    size_t Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const override {
      last = std::max(last, address + out.size());
      return HostMemory::Read(space, address, out);
    }
    mutable uint64_t last = 0;
  } memory;
  memory.PutAll(0x1000, Dwords(1000));
  VertexDraw draw = OneBuffer(100).draw;
  VertexFetch fetch = Made(memory, draw);
  Vertices(fetch);
  EXPECT_EQ(memory.last, 0x1000u + 400);
}

TEST(VertexFetch, WhatNoHardwareHasIsRejected) {
  const HostMemory memory;
  const auto message = [&](const VertexDraw& draw) {
    return std::string(VertexFetch::Make(memory, draw).status().message());
  };
  VertexDraw draw;
  draw.indexed = true;
  draw.indices.index_bytes = 3;
  EXPECT_TRUE(absl::StrContains(message(draw), "an index of 3 bytes"));
  draw = {};
  draw.buffers.resize(kMostVertexBuffers + 1);
  EXPECT_TRUE(absl::StrContains(message(draw), "65 vertex buffers"));
  draw = {};
  draw.elements.resize(kMostVertexElements + 1);
  EXPECT_TRUE(absl::StrContains(message(draw), "65 vertex elements"));
  draw = {};
  draw.elements = {{.components = {kData, kZero, kZero, kZero}}};
  EXPECT_TRUE(absl::StrContains(message(draw), "vertex element 0 has a format of 0 bytes"));
  draw.elements = {{.components = {kZero, kZero, kZero, kZero}}};
  EXPECT_EQ(message(draw), "") << "nothing is read";
  draw.elements[0].destination = 5000;
  EXPECT_TRUE(absl::StrContains(message(draw), "dword 5000"));
  draw = {};
  draw.placements = {{ComponentSource::kVertexId, 0, 4}};
  EXPECT_TRUE(absl::StrContains(message(draw), "component 4"));
}

std::string Primitives(const MemoryAccess& memory, const VertexDraw& draw) {
  VertexFetch fetch = Made(memory, draw);
  PrimitiveWalk walk(fetch, 1000);
  std::vector<std::string> all;
  while (const Primitive* one = walk.Next()) {
    all.push_back(
        absl::StrCat(walk.instance(), ".", one->id, ":",
                     absl::StrJoin(absl::MakeConstSpan(one->vertices.data(), one->size), " ")));
  }
  EXPECT_FALSE(walk.stopped());
  return absl::StrJoin(all, ", ");
}

TEST(PrimitiveWalk, PrimitivesHavePositionsOfTheirInstance) {
  OneBuffer one(6);
  one.Indices({5, 4, 3, 0xffff, 2, 1, 0, 5});
  one.draw.cut = 0xffff;
  one.draw.instance_count = 2;
  one.draw.topology = *FindTopology("TRISTRIP");
  EXPECT_EQ(Primitives(one.memory, one.draw),
            "0.0:0 1 2, 0.1:4 5 6, 0.2:5 7 6, 1.0:0 1 2, 1.1:4 5 6, 1.2:5 7 6");
  one.draw.topology = *FindTopology("LINELOOP");
  one.draw.vertex_count = 3;
  EXPECT_EQ(Primitives(one.memory, one.draw),
            "0.0:0 1, 0.1:1 2, 0.2:2 0, 1.0:0 1, 1.1:1 2, 1.2:2 0");
}

TEST(PrimitiveWalk, AnyInstanceCanBeTheFirst) {
  OneBuffer one(3);
  one.draw.instance_count = 0xffffffff;
  one.draw.topology = *FindTopology("TRILIST");
  VertexFetch fetch = Made(one.memory, one.draw);
  PrimitiveWalk walk(fetch, 100);
  walk.Next();
  walk.Seek(0xfffffffe);
  ASSERT_NE(walk.Next(), nullptr);
  EXPECT_EQ(walk.instance(), 0xfffffffeu);
  EXPECT_EQ(walk.Next(), nullptr);
  EXPECT_FALSE(walk.stopped());
}

TEST(PrimitiveWalk, EndsAfterItsBudgetEvenIfThereIsNoPrimitive) {
  OneBuffer one(2);
  one.draw.instance_count = 0xffffffff;
  one.draw.topology = *FindTopology("TRILIST");
  VertexFetch fetch = Made(one.memory, one.draw);
  PrimitiveWalk walk(fetch, 1000);
  EXPECT_EQ(walk.Next(), nullptr);
  EXPECT_TRUE(walk.stopped());
}

TEST(CountDraw, CountsHugeDrawsWithoutWalkingThem) {
  OneBuffer one(4);
  one.draw.vertex_count = 0xffffffff;
  one.draw.instance_count = 0xffffffff;
  one.draw.topology = *FindTopology("TRISTRIP");
  const uint64_t all = 0xffffffff;
  DrawCounts counts = CountDraw(Made(one.memory, one.draw), 0);
  EXPECT_TRUE(counts.exact);
  EXPECT_EQ(counts.vertices, all * all);
  EXPECT_EQ(counts.primitives, (all - 2) * all);

  // Only one vertex of all has the number of the cut.
  one.draw.instance_count = 1;
  one.draw.start_vertex = 10;
  one.draw.cut = 15;
  one.draw.cut_sequential = true;
  counts = CountDraw(Made(one.memory, one.draw), 0);
  EXPECT_TRUE(counts.exact);
  EXPECT_EQ(counts.vertices, all - 1);
  EXPECT_EQ(counts.primitives, 3 + (all - 6 - 2));
}

TEST(CountDraw, ReadsNoMoreIndicesThanThereAre) {
  OneBuffer one(4);
  one.Indices({0, 1, 2, 0xffff, 3, 2, 1, 0});
  one.draw.cut = 0xffff;
  one.draw.topology = *FindTopology("TRILIST");
  DrawCounts counts = CountDraw(Made(one.memory, one.draw), 100);
  EXPECT_EQ(counts.vertices, 7u);
  EXPECT_EQ(counts.primitives, 2u);
  // Beyond the buffer all indices are 0: vertices, or restarts.
  one.draw.vertex_count = 0xffffffff;
  one.draw.instance_count = 2;
  counts = CountDraw(Made(one.memory, one.draw), 100);
  EXPECT_TRUE(counts.exact);
  EXPECT_EQ(counts.vertices, 2 * (uint64_t{0xffffffff} - 1));
  EXPECT_EQ(counts.primitives, 2 * (1 + (uint64_t{0xffffffff} - 4) / 3));
  one.draw.cut = 0;
  counts = CountDraw(Made(one.memory, one.draw), 100);
  EXPECT_TRUE(counts.exact);
  EXPECT_EQ(counts.vertices, 2 * 6u);
  EXPECT_EQ(counts.primitives, 2 * 2u);
  counts = CountDraw(Made(one.memory, one.draw), 3);
  EXPECT_FALSE(counts.exact);
}

TEST(CountVertices, StreamOutputEndsADrawAtAByte) {
  EXPECT_EQ(CountVerticesBefore(48, 0, 16), 3u);
  EXPECT_EQ(CountVerticesBefore(47, 0, 16), 2u);
  EXPECT_EQ(CountVerticesBefore(48, 1, 16), 2u);
  EXPECT_EQ(CountVerticesBefore(48, 4, 16), 0u);
  EXPECT_EQ(CountVerticesBefore(48, 0, 0), 0u);
}

}  // namespace
}  // namespace packsmith::sim
