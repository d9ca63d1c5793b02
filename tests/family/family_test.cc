// Code for several generations: the same packet from one C source compiled for each, and from one
// C++ template; positions of fields by device, and by name.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/generations/field_position.h"
#include "runtime/generations/generations.h"
#include "tests/family/all_headers.h"
#include "tests/family/one_source.h"
#include "tests/family/positions.h"
#include "tests/family/two_generations.h"

namespace packsmith {
namespace {

constexpr uint32_t kUntouched = 0xa5a5a5a5;
using Dwords = std::array<uint32_t, 32>;

// -- The template ---------------------------------------------------------------------------------

template <class Generation>
unsigned Draw(uint32_t* dw, unsigned vertices) {
  typename Generation::_3DPRIMITIVE draw;
  draw.primitive_topology_type = Generation::_3D_Prim_Topo_Type::TRILIST;
  draw.vertex_count_per_instance = vertices;
  draw.instance_count = 1;
  EXPECT_FALSE(draw.pack(dw));
  return draw.length;
}

template <class Generation>
unsigned Surface(uint32_t* dw, unsigned width, unsigned height, uint64_t address) {
  using State = typename Generation::RENDER_SURFACE_STATE;
  State surface;
  surface.surface_type = decltype(surface.surface_type){1};  // two dimensions
  surface.width = width - 1;
  surface.height = height - 1;
  surface.surface_base_address = address;
  if constexpr (Generation::version_x10 >= 75) {
    surface.shader_channel_select_red = Generation::Shader_Channel_Select::RED;
  }
  if constexpr (Generation::version_x10 >= 70) surface.mocs = 2;
  EXPECT_FALSE(surface.pack(dw));
  return State::length;
}

// -- Every generation -----------------------------------------------------------------------------

struct Generation {
  std::string name;
  int version_x10;
  unsigned (*draw_in_c)(uint32_t*, unsigned);
  unsigned (*draw)(uint32_t*, unsigned);
  unsigned (*surface_in_c)(uint32_t*, unsigned, unsigned, uint64_t);
  unsigned (*surface)(uint32_t*, unsigned, unsigned, uint64_t);
};

std::vector<Generation> All() {
  std::vector<Generation> all;
#define GENERATION(cpp, c, version)                                                               \
  EXPECT_EQ(cpp::generation::version_x10, version##u);                                            \
  all.push_back({cpp::generation::name, version, &c##_draw, &Draw<cpp::generation>, &c##_surface, \
                 &Surface<cpp::generation>});
#include "tests/family/generations.inc"
#undef GENERATION
  return all;
}

TEST(Family, OneCSourceAndOneTemplatePackTheSameInEveryGeneration) {
  for (const Generation& generation : All()) {
    Dwords c, cpp;
    c.fill(kUntouched);
    cpp.fill(kUntouched);
    EXPECT_EQ(generation.draw_in_c(c.data(), 1234), generation.draw(cpp.data(), 1234));
    EXPECT_EQ(c, cpp) << generation.name;
    EXPECT_NE(std::find(c.begin(), c.end(), 1234u), c.end());
    c.fill(kUntouched);
    cpp.fill(kUntouched);
    const unsigned dwords = generation.surface_in_c(c.data(), 640, 480, 0x10000000);
    EXPECT_EQ(dwords, generation.surface(cpp.data(), 640, 480, 0x10000000));
    EXPECT_EQ(c, cpp) << generation.name;
    EXPECT_EQ(c[dwords], kUntouched);
  }
}

TEST(Family, GenerationsDifferWhereTheHardwareDoes) {
  Dwords old_one, new_one;
  // Gfx6 and earlier have pixel counts in other places than Gfx7 and later.
  Surface<gfx6::generation>(old_one.data(), 640, 480, 0);
  Surface<gfx7::generation>(new_one.data(), 640, 480, 0);
  EXPECT_EQ(old_one[2], 479u << 19 | 639u << 6);
  EXPECT_EQ(new_one[2], 479u << 16 | 639u);
}

TEST(Family, PositionsByDeviceAreTheTables) {
  for (const Generation& generation : All()) {
    const auto tables = FindGeneration(generation.name);
    ASSERT_TRUE(tables.ok()) << tables.status();
    const answer* answers = nullptr;
    const unsigned count = positions_of(generation.version_x10, &answers);
    for (unsigned i = 0; i < count; ++i) {
      const answer& got = answers[i];
      SCOPED_TRACE(generation.name + " " + got.container);
      const uint32_t index = tables->FindContainer(got.container);
      if (got.field == nullptr) {
        EXPECT_EQ(got.bits, index == tables::kNone ? 0 : tables->container(index).bytes / 4);
        continue;
      }
      const auto position = FindFieldPosition(*tables, got.container, got.field);
      EXPECT_EQ(got.bits != 0, position.ok()) << position.status();
      if (!position.ok()) continue;
      EXPECT_EQ(got.start, position->bit) << got.field;
      EXPECT_EQ(got.bits, position->width) << got.field;
    }
  }
}

TEST(Family, NoFieldIsAnywhereOnADeviceBeforeTheFirst) {
  const answer* answers = nullptr;
  const unsigned count = positions_of(30, &answers);
  for (unsigned i = 0; i < count; ++i) {
    EXPECT_EQ(answers[i].bits, 0u) << answers[i].container;
    EXPECT_EQ(answers[i].start, 0u) << answers[i].container;
  }
}

TEST(Family, TwoGenerationsShareACSource) {
  Dwords dw{};
  pack_aligned_surface(90, dw.data());
  EXPECT_EQ(dw[0], 3u << 14);
  pack_aligned_surface(125, dw.data());
  EXPECT_EQ(dw[0], 0u);
}

// -- By name --------------------------------------------------------------------------------------

void ExpectPosition(const char* generation, const char* container, const char* field, uint32_t bit,
                    uint32_t width) {
  const auto position = FindFieldPosition(generation, container, field);
  ASSERT_TRUE(position.ok()) << position.status();
  EXPECT_EQ(position->bit, bit) << container << ", " << field;
  EXPECT_EQ(position->width, width) << container << ", " << field;
}

TEST(FieldPosition, IsWhereEachGenerationHasTheField) {
  ExpectPosition("gfx6", "RENDER_SURFACE_STATE", "Width", 70, 13);
  ExpectPosition("gfx9", "RENDER_SURFACE_STATE", "Width", 64, 14);
  ExpectPosition("skl", "RENDER_SURFACE_STATE", "Width", 64, 14);
}

TEST(FieldPosition, StructuresAndRepetitionsAreEverythingInThem) {
  ExpectPosition("gfx9", "3DSTATE_CONSTANT_VS", "Constant Body.Buffer[1]", 165, 59);
  ExpectPosition("gfx9", "3DSTATE_CONSTANT_VS", "Constant Body.Buffer", 101, 251);
  ExpectPosition("gfx9", "3DSTATE_CONSTANT_VS", "Constant Body", 32, 320);
}

TEST(FieldPosition, ItemsOfATailAreCounted) {
  ExpectPosition("gfx9", "3DSTATE_VERTEX_BUFFERS", "Vertex Buffer State[0].Buffer Pitch", 32, 12);
  ExpectPosition("gfx9", "3DSTATE_VERTEX_BUFFERS", "Vertex Buffer State[2].Buffer Pitch", 288, 12);
  ExpectPosition("gfx9", "3DSTATE_VERTEX_BUFFERS", "Vertex Buffer State[2]", 288, 128);
  ExpectPosition("gfx9", "3DSTATE_VERTEX_BUFFERS", "Vertex Buffer State", 32, 128);
}

TEST(FieldPosition, WhatIsNotKnownIsNamed) {
  const auto expect_not_found = [](const char* generation, const char* container, const char* field,
                                   const char* named) {
    const auto position = FindFieldPosition(generation, container, field);
    EXPECT_EQ(position.status().code(), absl::StatusCode::kNotFound);
    EXPECT_NE(std::string(position.status().message()).find(named), std::string::npos)
        << position.status();
  };
  expect_not_found("gfx3", "3DSTATE_VS", "Enable", "gfx3");
  expect_not_found("gfx9", "3DSTATE_VX", "Enable", "3DSTATE_VX");
  expect_not_found("gfx9", "3DSTATE_VS", "Enabl", "\"Enabl\"");
  expect_not_found("gfx9", "3DSTATE_VS", "", "\"\"");
  for (const char* item : {"[", "[]", "[x]", "[0", "[-1]", "[99999999999]", "[4294967295]"}) {
    const std::string field = std::string("Vertex Buffer State") + item + ".Buffer Pitch";
    expect_not_found("gfx9", "3DSTATE_VERTEX_BUFFERS", field.c_str(), field.c_str());
  }
}

}  // namespace
}  // namespace packsmith
