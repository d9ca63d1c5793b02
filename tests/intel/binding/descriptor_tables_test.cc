#include "runtime/intel/binding/descriptor_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "packsmith/gfx125.h"
#include "packsmith/gfx9.h"
#include "runtime/base/addresses.h"
#include "runtime/intel/binding/descriptor_placement.h"
#include "tests/intel/binding/descriptor_world.h"

namespace packsmith::intel {
namespace {

using Type = DescriptorType;
using Model = DescriptorModel;
using Kind = BindMap::Kind;
using testing::HasSubstr;

DescriptorSetLayoutPtr Make(Model model, absl::Span<const DescriptorBinding> bindings) {
  return Value(DescriptorSetLayout::Create(model, bindings));
}

// -- Placement ----------------------------------------------------------------------------------

// The table that anv's documentation draws.
TEST(DescriptorPlacementTest, EntriesAreInTheOrderThatIsKnown) {
  const auto set = Make(Model::kIndirect, {{.binding = 0, .type = Type::kSampledImage},
                                           {.binding = 1, .type = Type::kUniformBufferDynamic}});
  const auto plain = Make(Model::kIndirect, {{.binding = 0, .type = Type::kSampledImage}});
  const auto layout = Value(PipelineLayout::Create({set, plain, plain}));
  const DescriptorUse uses[] = {{0, 0}, {0, 1}, {1, 0}, {2, 0, 5}};
  const BindMap map = Value(PlaceDescriptors(layout, uses, {.render_targets = 2}));
  ASSERT_EQ(map.surfaces.size(), 2u + 1 + 3 + 3);
  const std::pair<Kind, int> expected[] = {{Kind::kRenderTarget, 0}, {Kind::kRenderTarget, 0},
                                           {Kind::kDynamic, 0},      {Kind::kSet, 0},
                                           {Kind::kSet, 1},          {Kind::kSet, 2},
                                           {Kind::kDescriptor, 2},  // what is used more often
                                           {Kind::kDescriptor, 0},   {Kind::kDescriptor, 1}};
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(map.surfaces[i].kind, expected[i].first) << i;
    EXPECT_EQ(map.surfaces[i].set, expected[i].second) << i;
  }
  EXPECT_EQ(map.Find(0, 1)->surface, 2u);
  EXPECT_EQ(map.Find(2, 0)->surface, 6u);
  EXPECT_EQ(map.Find(1, 7), nullptr);
  EXPECT_EQ(map.dynamics, 1u);
}

// score = uses * 128 / elements; by hand: 640, 256, 128 and 1280.
TEST(DescriptorPlacementTest, WhatPaysMostIsInTheTableAndTheRestIsBindless) {
  const auto set = Make(Model::kDirect, {{.binding = 0, .type = Type::kSampledImage, .count = 200},
                                         {.binding = 1, .type = Type::kSampledImage, .count = 50},
                                         {.binding = 2, .type = Type::kStorageBuffer},
                                         {.binding = 3, .type = Type::kUniformBuffer, .count = 100},
                                         {.binding = 4, .type = Type::kSampledImage}});
  const auto layout = Value(PipelineLayout::Create({set}));
  const DescriptorUse uses[] = {{0, 0, 900},  {0, 1, 100}, {0, 2, 1},
                                {0, 3, 1000}, {0, 0, 100}, {0, 4, 0}};
  const BindMap map = Value(PlaceDescriptors(layout, uses));
  EXPECT_EQ(map.Find(0, 3)->surface, 0u);
  EXPECT_FALSE(map.Find(0, 0)->surface.has_value()) << "200 more do not fit";
  EXPECT_EQ(map.Find(0, 1)->surface, 100u);
  EXPECT_EQ(map.Find(0, 2)->surface, 150u);
  EXPECT_EQ(map.Find(0, 4), nullptr) << "not used";
  EXPECT_EQ(map.surfaces.size(), 151u);
}

TEST(DescriptorPlacementTest, WhatHasNoOtherWayComesFirstOrIsAnError) {
  const auto set =
      Make(Model::kIndirect, {{.binding = 0, .type = Type::kSampledImage, .count = 230},
                              {.binding = 1, .type = Type::kUniformBufferDynamic, .count = 10}});
  const auto layout = Value(PipelineLayout::Create({set}));
  const DescriptorUse uses[] = {{0, 0, 100000}, {0, 1, 1}};
  const BindMap map = Value(PlaceDescriptors(layout, uses));
  EXPECT_EQ(map.Find(0, 1)->surface, 0u);
  EXPECT_FALSE(map.Find(0, 0)->surface.has_value()) << "10 buffers, 1 set, and 229 are left";
  const auto refused = PlaceDescriptors(layout, uses, {.render_targets = 8, .most_surfaces = 17});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("set 0, binding 1: 10 entries"));
  const auto no_set = PlaceDescriptors(layout, uses, {.render_targets = 8, .most_surfaces = 18});
  EXPECT_THAT(std::string(no_set.status().message()), HasSubstr("set 0: its memory needs one"));
  EXPECT_FALSE(PlaceDescriptors(layout, {}, {.render_targets = 241}).ok());

  const auto table =
      Make(Model::kBindingTable, {{.binding = 0, .type = Type::kSampledImage, .count = 200},
                                  {.binding = 1, .type = Type::kSampledImage, .count = 41},
                                  {.binding = 2, .type = Type::kSampler, .count = 100},
                                  {.binding = 3, .type = Type::kSampler, .count = 29}});
  const auto tables = Value(PipelineLayout::Create({table}));
  const DescriptorUse images[] = {{0, 0}, {0, 1}}, samplers[] = {{0, 2}, {0, 3}};
  EXPECT_THAT(
      std::string(PlaceDescriptors(tables, images).status().message()),
      HasSubstr("set 0, binding 0: 200 entries of the binding table, which type sampled image "
                "needs, but 41 of 240 are taken"));
  EXPECT_THAT(std::string(PlaceDescriptors(tables, samplers).status().message()),
              HasSubstr("of the table of samplers"));
}

TEST(DescriptorPlacementTest, WhatIsWrittenLateIsBindless) {
  for (const uint8_t flag : {kUpdateAfterBind, kUpdateUnusedWhilePending, kPartiallyBound}) {
    const auto set =
        Make(Model::kDirect, {{.binding = 0, .type = Type::kCombinedImageSampler, .flags = flag},
                              {.binding = 1, .type = Type::kCombinedImageSampler}});
    const auto layout = Value(PipelineLayout::Create({set}));
    const DescriptorUse uses[] = {{0, 0, 99}, {0, 1, 1}};
    const BindMap map = Value(PlaceDescriptors(layout, uses));
    EXPECT_FALSE(map.Find(0, 0)->surface.has_value());
    EXPECT_FALSE(map.Find(0, 0)->sampler.has_value());
    EXPECT_EQ(map.Find(0, 1)->surface, 0u);
    EXPECT_EQ(map.Find(0, 1)->sampler, 0u);
    const BindMap none = Value(PlaceDescriptors(layout, uses, {.always_bindless = true}));
    EXPECT_TRUE(none.surfaces.empty());
    EXPECT_TRUE(none.samplers.empty());
  }
}

TEST(DescriptorPlacementTest, DescriptorBuffersNeedNoTable) {
  const auto set = Make(Model::kBuffer, {{.binding = 0, .type = Type::kCombinedImageSampler},
                                         {.binding = 1, .type = Type::kUniformBuffer}});
  const auto layout = Value(PipelineLayout::Create({set}));
  const DescriptorUse uses[] = {{0, 0}, {0, 1}};
  const BindMap map = Value(PlaceDescriptors(layout, uses, {.render_targets = 1}));
  EXPECT_EQ(map.surfaces.size(), 1u);
  EXPECT_TRUE(map.samplers.empty());
}

TEST(DescriptorPlacementTest, WhatTheLayoutHasNotIsRefusedByName) {
  const auto set = Make(Model::kDirect, {{.binding = 0, .type = Type::kSampledImage, .count = 0}});
  const auto layout = Value(PipelineLayout::Create({set, nullptr}));
  const auto refused = [&](const DescriptorUse& use, const char* why) {
    const auto map = PlaceDescriptors(layout, {use});
    EXPECT_EQ(map.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(map.status().message()), HasSubstr(why));
  };
  refused({2, 0}, "set 2, binding 0 is used, but the pipeline layout has no such set");
  refused({1, 3}, "set 1, binding 3 is used, but the pipeline layout has no such set");
  refused({~0u, 3}, "no such set");
  refused({0, 7}, "set 0, binding 7 is used, but the set's layout has no such binding");
  refused({0, 0}, "no elements there");
}

// Random layouts, compared with a plain version of the rule.
TEST(DescriptorPlacementTest, RandomLayoutsFollowTheRule) {
  std::mt19937 random(5);
  int bindless = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<DescriptorSetLayoutPtr> sets;
    std::vector<DescriptorUse> uses;
    // Whether it is dynamic, its score (negative), its position, how many entries it takes.
    std::vector<std::tuple<int, int64_t, uint32_t, uint32_t, uint32_t>> rule;
    for (uint32_t s = 0; s < 3; ++s) {
      std::vector<DescriptorBinding> bindings;
      for (uint32_t b = 0; b < 6; ++b) {
        const bool dynamic = random() % 6 == 0;
        const uint32_t count = dynamic ? 1 : 1 + random() % 60;
        bindings.push_back({.binding = b,
                            .type = dynamic ? Type::kStorageBufferDynamic : Type::kStorageImage,
                            .count = count});
        const uint32_t n = random() % 500;
        uses.push_back({s, b, n});
        if (n == 0) continue;
        const int64_t score = int64_t{n} * 128 / count;
        rule.emplace_back(dynamic ? 0 : 1, dynamic ? 0 : -score, s, b, count);
      }
      sets.push_back(Make(Model::kIndirect, bindings));
    }
    uint32_t dynamics = 0;
    for (const auto& [late, score, s, b, count] : rule) dynamics += late == 0;
    if (dynamics > kMostDynamicBuffers) continue;
    const auto layout = PipelineLayout::Create(sets);
    if (!layout.ok()) continue;  // too many dynamic buffers that are not used
    std::sort(rule.begin(), rule.end());
    uint32_t used_sets = 0;
    for (const auto& [late, score, s, b, count] : rule) used_sets |= 1u << s;
    const BindMap map = Value(PlaceDescriptors(*layout, uses, {.render_targets = 3}));
    uint32_t next = 3;
    bool counted = false;
    for (const auto& [late, score, s, b, count] : rule) {
      if (late == 1 && !counted) {
        next += std::popcount(used_sets);
        counted = true;
      }
      if (next + count <= 240) {
        ASSERT_EQ(map.Find(s, b)->surface, next) << "round " << round;
        for (uint32_t e = 0; e < count; ++e) {
          EXPECT_EQ(map.surfaces[next + e].set, s);
          EXPECT_EQ(map.surfaces[next + e].binding, b);
          EXPECT_EQ(map.surfaces[next + e].element, e);
        }
        next += count;
      } else {
        ASSERT_FALSE(map.Find(s, b)->surface.has_value());
        ++bindless;
      }
    }
    if (!counted) next += std::popcount(used_sets);
    EXPECT_EQ(map.surfaces.size(), next);
  }
  EXPECT_GT(bindless, 100);
}

// -- Tables -------------------------------------------------------------------------------------

constexpr DescriptorCount kPlenty[] = {{Type::kCombinedImageSampler, 50},
                                       {Type::kSampledImage, 50},
                                       {Type::kUniformBuffer, 50},
                                       {Type::kSampler, 20}};

class DescriptorTablesTest : public testing::TestWithParam<Model> {
 protected:
  DescriptorTablesTest()
      : world_(GetParam()),
        pool_(world_.MakePool(20, WithDynamics())),
        stream_(*world_.states, 4096) {}

  static std::vector<DescriptorCount> WithDynamics() {
    std::vector<DescriptorCount> counts(std::begin(kPlenty), std::end(kPlenty));
    counts.push_back({Type::kUniformBufferDynamic, 16});
    return counts;
  }
  uint64_t BufferAddressAt(uint32_t entry) {
    const auto dwords = world_.ReadAs<SurfaceDwords>(world_.setup.surface_base + entry);
    const auto at = world_.direct()
                        ? gfx125::RENDER_SURFACE_STATE::unpack(dwords.data()).surface_base_address
                        : gfx9::RENDER_SURFACE_STATE::unpack(dwords.data()).surface_base_address;
    return Canonical(at.gpu, 48);
  }
  SurfaceDwords StateAt(uint32_t entry) {
    return world_.ReadAs<SurfaceDwords>(world_.setup.surface_base + entry);
  }

  DescriptorWorld world_;
  std::unique_ptr<DescriptorPool> pool_;
  gpu::StateStream stream_;
};

INSTANTIATE_TEST_SUITE_P(Models, DescriptorTablesTest,
                         testing::Values(Model::kBindingTable, Model::kIndirect, Model::kDirect),
                         NameOfModel);

TEST_P(DescriptorTablesTest, EachEntryLeadsToWhatWasWritten) {
  const auto a = world_.Layout({{.binding = 0, .type = Type::kCombinedImageSampler, .count = 3},
                                {.binding = 1, .type = Type::kUniformBuffer},
                                {.binding = 2, .type = Type::kUniformBufferDynamic, .count = 2}});
  const auto b = world_.Layout({{.binding = 4, .type = Type::kUniformBufferDynamic},
                                {.binding = 5, .type = Type::kSampledImage}});
  const auto layout = Value(PipelineLayout::Create({a, nullptr, b}));
  const DescriptorUse uses[] = {{0, 0, 100}, {0, 1, 10}, {0, 2}, {2, 4}, {2, 5, 1}};
  const BindMap map = Value(PlaceDescriptors(layout, uses, {.render_targets = 2}));

  const auto first = Value(pool_->Allocate(a)), second = Value(pool_->Allocate(b));
  std::vector<DescriptorImage> images;
  for (int i = 0; i < 4; ++i) images.push_back(world_.NewImage());
  const DescriptorSampler sampler = world_.NewSampler();
  const gpu::Buffer buffer = world_.NewBuffer(65536);
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(
        first
            .Write(
                0, i,
                {.type = Type::kCombinedImageSampler, .images = &images[i], .samplers = &sampler})
            .ok());
  }
  const DescriptorBuffer part = {.buffer = buffer, .offset = 1024, .size = 256};
  ASSERT_TRUE(first.Write(1, 0, {.type = Type::kUniformBuffer, .buffer = part}).ok());
  ASSERT_TRUE(first.Write(2, 0, {.type = Type::kUniformBufferDynamic, .buffer = part}).ok());
  ASSERT_TRUE(first.Write(2, 1, {.type = Type::kUniformBufferDynamic}).ok());
  ASSERT_TRUE(second.Write(4, 0, {.type = Type::kUniformBufferDynamic, .buffer = part}).ok());
  ASSERT_TRUE(second.Write(5, 0, {.type = Type::kSampledImage, .images = &images[3]}).ok());

  BoundDescriptors bound;
  const uint32_t offsets[] = {512, 0, 4096};
  ASSERT_TRUE(bound.Bind(layout, 0, {first}, {offsets, 2}).ok());
  ASSERT_TRUE(bound.Bind(layout, 2, {second}, {offsets + 2, 1}).ok());
  const uint32_t targets[] = {0x1040, 0x2080};
  uint32_t entries[kMostTableSurfaces] = {};
  const auto states = FillSurfaceTable(map, bound, {.render_targets = targets, .states = &stream_},
                                       absl::MakeSpan(entries));
  ASSERT_TRUE(states.ok()) << states.status();
  EXPECT_NE(*states, 0u);
  EXPECT_EQ(entries[0], 0x1040u);
  EXPECT_EQ(entries[1], 0x2080u);
  const uint32_t image_entry = *map.Find(0, 0)->surface;
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(StateAt(entries[image_entry + i]), images[i].state);
  EXPECT_EQ(StateAt(entries[*map.Find(2, 5)->surface]), images[3].state);
  EXPECT_EQ(BufferAddressAt(entries[*map.Find(0, 1)->surface]), buffer.address + 1024);
  const uint32_t dynamic = *map.Find(0, 2)->surface;
  EXPECT_EQ(BufferAddressAt(entries[dynamic]), buffer.address + 1024 + 512);
  EXPECT_EQ(StateAt(entries[dynamic + 1]), world_.setup.null_state);
  EXPECT_EQ(BufferAddressAt(entries[*map.Find(2, 4)->surface]), buffer.address + 1024 + 4096);
  if (GetParam() == Model::kIndirect) {
    const auto sets = std::count_if(map.surfaces.begin(), map.surfaces.end(),
                                    [](const auto& entry) { return entry.kind == Kind::kSet; });
    EXPECT_EQ(sets, 2);
    EXPECT_EQ(BufferAddressAt(entries[2 + 3]), first.storage()->memory().records_address);
    EXPECT_EQ(BufferAddressAt(entries[2 + 4]), second.storage()->memory().records_address);
  }

  std::array<uint32_t, 4> samplers[kMostTableSamplers] = {};
  ASSERT_TRUE(FillSamplerTable(map, bound, absl::MakeSpan(samplers)).ok());
  ASSERT_EQ(map.samplers.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(samplers[i], sampler.state);
}

TEST_P(DescriptorTablesTest, WhatNeedNotBeBoundIsNull) {
  if (GetParam() != Model::kBindingTable) return;  // elsewhere it is bindless
  const auto set = world_.Layout(
      {{.binding = 0, .type = Type::kSampledImage, .count = 2, .flags = kPartiallyBound},
       {.binding = 1, .type = Type::kSampler, .flags = kPartiallyBound},
       {.binding = 2, .type = Type::kSampledImage, .count = 5, .flags = kVariableCount}});
  const auto layout = Value(PipelineLayout::Create({set}));
  const DescriptorUse uses[] = {{0, 0}, {0, 1}, {0, 2}};
  const BindMap map = Value(PlaceDescriptors(layout, uses));
  BoundDescriptors bound;
  ASSERT_TRUE(bound.Bind(layout, 0, {Value(pool_->Allocate(set, 1))}).ok());
  uint32_t entries[kMostTableSurfaces];
  ASSERT_TRUE(FillSurfaceTable(map, bound, {}, absl::MakeSpan(entries)).ok());
  for (size_t i = 0; i < map.surfaces.size(); ++i) {
    EXPECT_EQ(entries[i], world_.setup.null_surface) << i;
  }
  std::array<uint32_t, 4> samplers[1] = {{1, 2, 3, 4}};
  ASSERT_TRUE(FillSamplerTable(map, bound, absl::MakeSpan(samplers)).ok());
  EXPECT_EQ(samplers[0], (std::array<uint32_t, 4>{}));
}

TEST_P(DescriptorTablesTest, VariableCountsAreNullBehindTheirEnd) {
  const auto set = world_.Layout(
      {{.binding = 0, .type = Type::kSampledImage, .count = 4, .flags = kVariableCount}});
  const auto layout = Value(PipelineLayout::Create({set}));
  const DescriptorUse uses[] = {{0, 0}};
  const BindMap map = Value(PlaceDescriptors(layout, uses));
  const auto two = Value(pool_->Allocate(set, 2));
  const DescriptorImage image = world_.NewImage();
  for (uint32_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(two.Write(0, i, {.type = Type::kSampledImage, .images = &image}).ok());
  }
  BoundDescriptors bound;
  ASSERT_TRUE(bound.Bind(layout, 0, {two}).ok());
  uint32_t entries[kMostTableSurfaces];
  ASSERT_TRUE(FillSurfaceTable(map, bound, {}, absl::MakeSpan(entries)).ok());
  const uint32_t at = *map.Find(0, 0)->surface;
  EXPECT_EQ(StateAt(entries[at + 1]), image.state);
  EXPECT_EQ(entries[at + 2], world_.setup.null_surface);
  EXPECT_EQ(entries[at + 3], world_.setup.null_surface);
}

TEST_P(DescriptorTablesTest, MistakesNameTheirPlaceAndWriteNothing) {
  const auto a = world_.Layout({{.binding = 0, .type = Type::kSampledImage, .count = 2},
                                {.binding = 1, .type = Type::kUniformBufferDynamic},
                                {.binding = 2, .type = Type::kSampler}});
  const auto b = world_.Layout({{.binding = 0, .type = Type::kSampledImage}});
  const auto layout = Value(PipelineLayout::Create({a, b}));
  const DescriptorUse uses[] = {{0, 0}, {0, 1}, {0, 2}, {1, 0}};
  const BindMap map = Value(PlaceDescriptors(layout, uses, {.render_targets = 1}));
  const auto first = Value(pool_->Allocate(a)), second = Value(pool_->Allocate(b));
  const DescriptorImage image = world_.NewImage();
  const DescriptorSampler sampler = world_.NewSampler();
  const gpu::Buffer buffer = world_.NewBuffer(4096);

  BoundDescriptors bound;
  const uint32_t offset[] = {0}, far[] = {3841}, further[] = {~0u};
  const auto bind_refused = [&](const PipelineLayout& pipeline, uint32_t at,
                                absl::Span<const DescriptorSet> sets,
                                absl::Span<const uint32_t> offsets, const char* why) {
    const absl::Status status = bound.Bind(pipeline, at, sets, offsets);
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
    EXPECT_FALSE(bound.set(0).live());
    EXPECT_FALSE(bound.set(1).live());
  };
  bind_refused(layout, 0, {first}, {}, "0 dynamic offsets for sets 0 to 0, which have 1");
  bind_refused(layout, 1, {second}, offset, "1 dynamic offsets");
  bind_refused(layout, 0, {first, first}, offset, "set 1 has another layout");
  bind_refused(layout, 1, {second, second}, {},
               "set 2 cannot be bound: the pipeline layout has no such set");
  bind_refused(layout, 8, {second}, {}, "set 8");
  bind_refused(layout, ~0u, {second}, {}, "set 4294967295");
  bind_refused(layout, 0, {DescriptorSet(), second}, offset, "set 0 cannot be bound: it was freed");

  uint32_t entries[kMostTableSurfaces];
  std::array<uint32_t, 4> samplers[4];
  const uint32_t targets[] = {0x40};
  const auto refused = [&](const SurfaceTableInputs& inputs, absl::StatusCode code,
                           const char* why) {
    std::fill(std::begin(entries), std::end(entries), 7);
    const uint64_t used = stream_.used();
    const auto states = FillSurfaceTable(map, bound, inputs, absl::MakeSpan(entries));
    EXPECT_EQ(states.status().code(), code) << states.status();
    EXPECT_THAT(std::string(states.status().message()), HasSubstr(why));
    for (const uint32_t entry : entries) ASSERT_EQ(entry, 7u) << why;
    EXPECT_EQ(stream_.used(), used);
  };
  constexpr auto kState = absl::StatusCode::kFailedPrecondition;
  constexpr auto kRange = absl::StatusCode::kOutOfRange;
  const SurfaceTableInputs good = {.render_targets = targets, .states = &stream_};
  refused(good, kState, "set 0: the shader uses it, but it is not bound");
  EXPECT_FALSE(FillSamplerTable(map, bound, absl::MakeSpan(samplers)).ok());
  ASSERT_TRUE(bound.Bind(layout, 0, {first, second}, offset).ok());
  refused({.states = &stream_}, absl::StatusCode::kInvalidArgument, "0 render targets");
  refused(good, kState, "set 0, binding 1, element 0: the shader uses it");
  EXPECT_THAT(std::string(FillSamplerTable(map, bound, absl::MakeSpan(samplers)).message()),
              HasSubstr("set 0, binding 2, element 0"));
  ASSERT_TRUE(
      first
          .Write(1, 0,
                 {.type = Type::kUniformBufferDynamic, .buffer = {.buffer = buffer, .size = 256}})
          .ok());
  for (uint32_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(first.Write(0, i, {.type = Type::kSampledImage, .images = &image}).ok());
  }
  refused(good, kState, "set 1, binding 0, element 0");
  ASSERT_TRUE(second.Write(0, 0, {.type = Type::kSampledImage, .images = &image}).ok());
  refused({.render_targets = targets}, absl::StatusCode::kInvalidArgument, "need a stream");
  for (const auto& beyond : {far, further}) {
    ASSERT_TRUE(bound.Bind(layout, 0, {first}, {beyond, 1}).ok());
    refused(good, kRange, "set 0, binding 1, element 0: a dynamic offset of");
  }
  ASSERT_TRUE(bound.Bind(layout, 0, {first}, offset).ok());
  // No memory for the state of the dynamic buffer.
  gpu::StateStream large(*world_.states, uint64_t{16} << 20);
  for (int calls = 0; calls < 3; ++calls) {
    world_.memory.device.FailAfter(calls);
    refused({.render_targets = targets, .states = &large}, absl::StatusCode::kInternal, "told to");
    EXPECT_EQ(large.used(), 0u);
    world_.memory.device.FailAfter(-1);
  }
  EXPECT_EQ(FillSurfaceTable(map, bound, good, absl::MakeSpan(entries, map.surfaces.size() - 1))
                .status()
                .code(),
            kRange);
  EXPECT_TRUE(FillSurfaceTable(map, bound, good, absl::MakeSpan(entries)).ok());
  ASSERT_TRUE(first.Write(2, 0, {.type = Type::kSampler, .samplers = &sampler}).ok());
  EXPECT_EQ(FillSamplerTable(map, bound, {}).code(), kRange);
  EXPECT_TRUE(FillSamplerTable(map, bound, absl::MakeSpan(samplers)).ok());
  ASSERT_TRUE(pool_->Free(second).ok());
  refused(good, kState, "set 1: the shader uses it, but it is not bound, or was freed");
}

// The bound descriptors are another pipeline's, in which the map's slots and offsets are invalid.
TEST_P(DescriptorTablesTest, ASetOfAnotherLayoutThanTheMapsIsRefused) {
  const auto large = world_.Layout({{.binding = 0, .type = Type::kUniformBufferDynamic, .count = 9},
                                    {.binding = 1, .type = Type::kSampler, .count = 50},
                                    {.binding = 2, .type = Type::kSampledImage}});
  const auto small = world_.Layout({{.binding = 0, .type = Type::kCombinedImageSampler},
                                    {.binding = 1, .type = Type::kSampler},
                                    {.binding = 2, .type = Type::kSampledImage, .count = 60}});
  const BindMap map =
      Value(PlaceDescriptors(Value(PipelineLayout::Create({large})), {{0, 0}, {0, 1}, {0, 2}}));
  const auto set = Value(pool_->Allocate(small));
  const DescriptorImage image = world_.NewImage();
  const DescriptorSampler sampler = world_.NewSampler();
  for (uint32_t i = 0; i < 60; ++i) {
    ASSERT_TRUE(set.Write(2, i, {.type = Type::kSampledImage, .images = &image}).ok());
  }
  ASSERT_TRUE(set.Write(1, 0, {.type = Type::kSampler, .samplers = &sampler}).ok());
  ASSERT_TRUE(
      set.Write(0, 0, {.type = Type::kCombinedImageSampler, .images = &image, .samplers = &sampler})
          .ok());
  BoundDescriptors bound;
  ASSERT_TRUE(bound.Bind(Value(PipelineLayout::Create({small})), 0, {set}).ok());
  std::vector<uint32_t> entries(kMostTableSurfaces, 7);
  std::array<uint32_t, 4> samplers[kMostTableSamplers] = {};
  const auto states = FillSurfaceTable(map, bound, {.states = &stream_}, absl::MakeSpan(entries));
  EXPECT_EQ(states.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(states.status().message()), HasSubstr("set 0"));
  EXPECT_EQ(entries, std::vector<uint32_t>(kMostTableSurfaces, 7));
  EXPECT_EQ(FillSamplerTable(map, bound, absl::MakeSpan(samplers)).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(DescriptorTablesTest, LayoutsThatAreEqualAreAsGoodAsTheSame) {
  const DescriptorBinding bindings[] = {{.binding = 0, .type = Type::kSampledImage}};
  const auto a = world_.Layout(bindings), b = world_.Layout(bindings);
  const auto layout = Value(PipelineLayout::Create({a}));
  BoundDescriptors bound;
  const auto set = Value(pool_->Allocate(b));
  EXPECT_TRUE(bound.Bind(layout, 0, {set}).ok());
  const DescriptorImage image = world_.NewImage();
  ASSERT_TRUE(set.Write(0, 0, {.type = Type::kSampledImage, .images = &image}).ok());
  uint32_t entries[kMostTableSurfaces];
  EXPECT_TRUE(FillSurfaceTable(Value(PlaceDescriptors(layout, {{0, 0}})), bound, {},
                               absl::MakeSpan(entries))
                  .ok());
}

}  // namespace
}  // namespace packsmith::intel
