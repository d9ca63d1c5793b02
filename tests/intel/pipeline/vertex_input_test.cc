// Plans of vertex inputs: what does not depend on packets.
#include "runtime/intel/pipeline/vertex_input.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "runtime/intel/pipeline/vertex_formats.h"
#include "runtime/tables/tables.h"

namespace packsmith::intel {
namespace {

constexpr VertexFetch kNew{
    .generation = "new", .packs_components = true, .has_draw_parameters = true};
constexpr VertexFetch kOld{.generation = "old"};
using C = VertexComponent;
using Components = std::array<C, 4>;

VertexPlan Planned(const VertexInput& input, const VertexFetch& fetch = kNew) {
  const auto plan = PlanVertexInput(input, fetch);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : VertexPlan();
}

void ExpectRefused(const VertexInput& input, absl::string_view words,
                   const VertexFetch& fetch = kNew) {
  const auto plan = PlanVertexInput(input, fetch);
  ASSERT_FALSE(plan.ok()) << words;
  EXPECT_TRUE(absl::StrContains(plan.status().message(), words)) << plan.status();
}

void ExpectRefused(const VertexAttribute& attribute, absl::string_view words) {
  ExpectRefused({.attributes = {&attribute, 1}}, words);
}

// Whether vertices can have this format; its components must then be those of the description.
bool CanBeFetched(const tables::Tables& tables, const tables::NamedValue& value) {
  const VertexFormat* const ours = FindVertexFormat(static_cast<uint32_t>(value.value));
  if (ours == nullptr) return false;
  const auto components = tables.components(tables.format(value.format));
  unsigned bits = 0, most = 0, count = 0;
  for (const tables::Component& each : components) {
    bits += each.width;
    most = std::max<unsigned>(most, each.width);
    ++count;
  }
  const std::string name(tables.string(value.name));
  EXPECT_EQ(ours->components, count) << name;
  EXPECT_EQ(ours->bytes, bits / 8) << name;
  EXPECT_EQ(ours->component_bits, most) << name;
  const bool passes = absl::StrContains(name, "PASSTHRU");
  const bool integer = absl::EndsWith(name, "INT");
  EXPECT_EQ(ours->kind, passes    ? VertexFormatKind::kPassthrough
                        : integer ? VertexFormatKind::kInteger
                                  : VertexFormatKind::kFloat)
      << name;
  return true;
}

// The description says what formats consist of.
TEST(VertexFormats, AreThoseOfTheDescription) {
  const auto tables = FindGeneration("gfx9");
  ASSERT_TRUE(tables.ok());
  size_t compared = 0;
  for (const tables::Container& container : tables->containers()) {
    if (tables->string(container.name) != "VERTEX_ELEMENT_STATE") continue;
    for (const tables::Leaf& leaf : tables->leaves(container.leaves)) {
      if (tables->string(leaf.name) != "Source Element Format") continue;
      for (const tables::NamedValue& value :
           tables->values(tables->enumeration(leaf.named).values)) {
        compared += CanBeFetched(*tables, value);
      }
    }
  }
  EXPECT_EQ(compared, VertexFormats().size());
}

TEST(VertexInput, MissingComponentsAreZeroAndOne) {
  const VertexAttribute attributes[] = {{.format = SurfaceFormat::R32_FLOAT},
                                        {.format = SurfaceFormat::R16G16_SINT},
                                        {.format = SurfaceFormat::R8G8B8_UNORM},
                                        {.format = SurfaceFormat::R8G8B8A8_UINT}};
  const VertexPlan plan = Planned({.attributes = attributes});
  ASSERT_EQ(plan.count, 4u);
  EXPECT_EQ(plan.elements[0].components,
            (Components{C::kSource, C::kZero, C::kZero, C::kOneFloat}));
  EXPECT_EQ(plan.elements[1].components,
            (Components{C::kSource, C::kSource, C::kZero, C::kOneInteger}));
  EXPECT_EQ(plan.elements[2].components,
            (Components{C::kSource, C::kSource, C::kSource, C::kOneFloat}));
  EXPECT_EQ(plan.elements[3].components,
            (Components{C::kSource, C::kSource, C::kSource, C::kSource}));
  EXPECT_EQ(plan.read_length, 2u);
}

// PRM Broadwell, VERTEX_ELEMENT_STATE: 64-bit components are written as 128 or 256 bits.
TEST(VertexInput, WideComponentsFillOneOrTwoHalves) {
  const VertexAttribute attributes[] = {{.format = SurfaceFormat::R64_PASSTHRU},
                                        {.format = SurfaceFormat::R64G64_PASSTHRU},
                                        {.format = SurfaceFormat::R64G64B64_PASSTHRU},
                                        {.format = SurfaceFormat::R64G64B64A64_PASSTHRU}};
  const VertexPlan plan = Planned({.attributes = attributes});
  ASSERT_EQ(plan.count, 4u);
  EXPECT_EQ(plan.elements[0].components, (Components{C::kSource, C::kZero, C::kNone, C::kNone}));
  EXPECT_EQ(plan.elements[1].components, (Components{C::kSource, C::kSource, C::kNone, C::kNone}));
  EXPECT_EQ(plan.elements[2].components,
            (Components{C::kSource, C::kSource, C::kSource, C::kZero}));
  EXPECT_EQ(plan.elements[3].components,
            (Components{C::kSource, C::kSource, C::kSource, C::kSource}));
  EXPECT_EQ(plan.elements[2].first_component, 8u);
  EXPECT_EQ(plan.elements[3].first_component, 16u);
  EXPECT_EQ(plan.read_length, 3u);
}

TEST(VertexInput, WideComponentsAreSplit) {
  const VertexAttribute attributes[] = {
      {.format = SurfaceFormat::R64_PASSTHRU, .offset = 8},
      {.format = SurfaceFormat::R64G64B64_PASSTHRU, .buffer = 2, .offset = 16, .divisor = 3}};
  const VertexPlan plan = Planned({.attributes = attributes, .split_64_bit = true});
  ASSERT_EQ(plan.count, 3u);
  EXPECT_EQ(plan.elements[0].format, uint32_t{SurfaceFormat::R32G32_UINT});
  EXPECT_EQ(plan.elements[0].components, (Components{C::kSource, C::kSource, C::kZero, C::kZero}));
  EXPECT_EQ(plan.elements[1].format, uint32_t{SurfaceFormat::R32G32B32A32_UINT});
  EXPECT_EQ(plan.elements[1].offset, 16u);
  EXPECT_EQ(plan.elements[2].format, uint32_t{SurfaceFormat::R32G32_UINT});
  EXPECT_EQ(plan.elements[2].offset, 32u);
  EXPECT_EQ(plan.elements[2].buffer, 2u);
  EXPECT_EQ(plan.elements[2].divisor, 3u);
}

TEST(VertexInput, NothingIsOneElementOfZeros) {
  const VertexPlan plan = Planned({});
  ASSERT_EQ(plan.count, 1u);
  EXPECT_EQ(plan.elements[0].components, (Components{C::kZero, C::kZero, C::kZero, C::kOneFloat}));
  EXPECT_EQ(plan.read_length, 1u);
}

TEST(VertexInput, IdsFollowAttributesAndTheEdgeFlagIsLast) {
  const VertexAttribute attributes[] = {
      {.format = SurfaceFormat::R8_UINT, .buffer = 1, .offset = 4, .edge_flag = true}, {}};
  const VertexPlan plan = Planned(
      {.attributes = attributes, .ids = {.first_vertex = true, .instance = true, .draw = true}});
  ASSERT_EQ(plan.count, 4u);
  EXPECT_TRUE(plan.has_ids);
  EXPECT_TRUE(plan.has_draw_id);
  EXPECT_EQ(plan.first_ids, 1u);
  EXPECT_EQ(plan.draw_id, 2u);
  EXPECT_EQ(plan.elements[1].components, (Components{C::kZero, C::kZero, C::kZero, C::kZero}));
  EXPECT_TRUE(plan.elements[3].edge_flag);
  EXPECT_EQ(plan.elements[3].buffer, 1u);
  EXPECT_EQ(plan.elements[3].components, (Components{C::kSource, C::kNone, C::kNone, C::kNone}));
  EXPECT_EQ(plan.read_length, 2u);  // the flag is not read
}

TEST(VertexInput, OldGenerationsFetchParametersOfDraws) {
  const VertexPlan plan = Planned({.ids = {.first_instance = true,
                                           .vertex = true,
                                           .draw = true,
                                           .first_buffer = 7,
                                           .draw_buffer = 8}},
                                  kOld);
  ASSERT_EQ(plan.count, 2u);
  EXPECT_EQ(plan.elements[0].buffer, 7u);
  EXPECT_EQ(plan.elements[0].components, (Components{C::kSource, C::kSource, C::kZero, C::kZero}));
  EXPECT_EQ(plan.elements[1].buffer, 8u);
  EXPECT_EQ(plan.elements[1].components, (Components{C::kSource, C::kZero, C::kZero, C::kZero}));
}

TEST(VertexInput, PackedComponentsFollowEachOther) {
  const VertexAttribute attributes[] = {{.read = 0b0111}, {.read = 0}, {.read = 0b1010}};
  const VertexPlan plan = Planned({.attributes = attributes,
                                   .ids = {.vertex = true, .instance = true},
                                   .pack_components = true});
  ASSERT_EQ(plan.count, 4u);
  EXPECT_EQ(plan.elements[0].first_component, 0u);
  EXPECT_EQ(plan.elements[1].components_32, 0u);
  EXPECT_EQ(plan.elements[2].first_component, 3u);
  EXPECT_EQ(plan.elements[3].first_component, 5u);
  EXPECT_EQ(plan.elements[3].stored, 0b1100);
  EXPECT_EQ(plan.read_length, 1u);
}

TEST(VertexInput, RefusesWhatDoesNotFit) {
  ExpectRefused(VertexAttribute{.format = SurfaceFormat::R9G9B9E5_SHAREDEXP}, "cannot be fetched");
  ExpectRefused(VertexAttribute{.format = 0x1ff}, "cannot be fetched");
  ExpectRefused(VertexAttribute{.buffer = 33}, "buffer 33");
  ExpectRefused(VertexAttribute{.offset = 2048}, "offset 2048");
  ExpectRefused(VertexAttribute{.format = SurfaceFormat::R64_FLOAT, .offset = 4}, "multiples of 8");
  ExpectRefused(VertexAttribute{.read = 0x10}, "components 16");
  ExpectRefused(VertexAttribute{.edge_flag = true}, "of an edge flag");
  ExpectRefused(VertexAttribute{.format = SurfaceFormat::R8_UINT, .buffer = 40, .edge_flag = true},
                "buffer 40");
  const VertexAttribute edges[] = {{.format = SurfaceFormat::R8_UINT, .edge_flag = true},
                                   {.format = SurfaceFormat::R8_UINT, .edge_flag = true}};
  ExpectRefused({.attributes = edges}, "a second edge flag");
  const VertexAttribute wide[] = {{.format = SurfaceFormat::R64G64B64A64_PASSTHRU, .offset = 2040}};
  EXPECT_TRUE(PlanVertexInput({.attributes = wide}, kNew).ok());
  ExpectRefused({.attributes = wide, .split_64_bit = true}, "offset 2056");
  ExpectRefused({.attributes = wide, .pack_components = true}, "set split_64_bit");
  ExpectRefused({.pack_components = true}, "Gfx9", kOld);
  const VertexAttribute unread[] = {{.read = 0}};
  ExpectRefused({.attributes = unread, .pack_components = true}, "no component");
  ExpectRefused({.ids = {.first_vertex = true, .first_buffer = 50}}, "is 50", kOld);
  ExpectRefused({.ids = {.draw = true, .draw_buffer = 51}}, "is 51", kOld);

  const std::vector<VertexAttribute> most(33), over(34);
  EXPECT_EQ(Planned({.attributes = most}).count, 33u);
  ExpectRefused({.attributes = over}, "more than 33");
  ExpectRefused({.attributes = most, .ids = {.vertex = true}}, "more than 33");
  std::vector<VertexAttribute> with_edge = most;
  with_edge.push_back({.format = SurfaceFormat::R32_UINT, .edge_flag = true});
  EXPECT_EQ(Planned({.attributes = with_edge}).count, 34u);
}

}  // namespace
}  // namespace packsmith::intel
