#include "runtime/intel/binding/embedded_samplers.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/binding/descriptor_layout.h"
#include "runtime/intel/binding/descriptor_placement.h"
#include "runtime/intel/binding/descriptor_push.h"
#include "tests/intel/binding/descriptor_world.h"

namespace packsmith::intel {
namespace {

using Type = DescriptorType;
using Model = DescriptorModel;
using testing::HasSubstr;
using testing::IsEmpty;

class EmbeddedSamplersTest : public testing::TestWithParam<Model> {
 protected:
  EmbeddedSamplersTest()
      : world_(GetParam()), pool_(world_.memory.Pool("dynamic state", world_.setup.sampler_base)) {}

  static DescriptorBinding Embedded(uint32_t binding, const DescriptorSampler& sampler) {
    return {.binding = binding,
            .type = Type::kSampler,
            .immutable_samplers = absl::MakeConstSpan(&sampler, 1)};
  }
  // The map of a pipeline that uses these samplers, as set 0.
  BindMap MapOf(absl::Span<const DescriptorSampler> samplers) {
    std::vector<DescriptorBinding> bindings;
    std::vector<DescriptorUse> uses;
    for (const DescriptorSampler& sampler : samplers) {
      const auto number = static_cast<uint32_t>(bindings.size());
      bindings.push_back(Embedded(number, sampler));
      uses.push_back({.set = 0, .binding = number});
    }
    const auto layout = Value(DescriptorSetLayout::CreateEmbedded(GetParam(), bindings));
    return Value(PlaceDescriptors(Value(PipelineLayout::Create({layout})), uses));
  }

  DescriptorWorld world_;
  std::unique_ptr<gpu::StatePool> pool_;
};
INSTANTIATE_TEST_SUITE_P(Models, EmbeddedSamplersTest,
                         testing::Values(Model::kIndirect, Model::kDirect, Model::kBuffer),
                         NameOfModel);

TEST_P(EmbeddedSamplersTest, SamplersArePartOfThePipelineAndOfNoTableAndNoSet) {
  const DescriptorSampler a = world_.NewSampler(), b = world_.NewSampler();
  const auto embedded = Value(DescriptorSetLayout::CreateEmbedded(
      GetParam(), {Embedded(7, b), Embedded(2, a), {.binding = 3, .count = 0}}));
  EXPECT_TRUE(embedded->embedded());
  EXPECT_EQ(embedded->sizes(), DescriptorSetSizes());
  EXPECT_FALSE(embedded->has_set_surface());
  const auto other = world_.Layout({{.binding = 0, .type = Type::kUniformBuffer}});
  EXPECT_FALSE(other->embedded());
  const auto pipeline = Value(PipelineLayout::Create({other, embedded}));
  const BindMap map = Value(PlaceDescriptors(pipeline, {{1, 7}, {1, 2}, {0, 0}}));
  ASSERT_EQ(map.embedded.size(), 2u);
  EXPECT_EQ(map.embedded[0].binding, 2u);
  EXPECT_EQ(map.embedded[0].sampler, a);
  EXPECT_EQ(map.embedded[1].set, 1u);
  EXPECT_EQ(map.embedded[1].binding, 7u);
  EXPECT_EQ(map.embedded[1].sampler, b);
  EXPECT_THAT(map.samplers, IsEmpty());
  EXPECT_FALSE(map.Find(1, 7)->sampler.has_value());
  EXPECT_EQ(map.sets & 2u, 0u);
  // Unused samplers are left out, and a sampler that is only reserved cannot be used.
  EXPECT_THAT(Value(PlaceDescriptors(pipeline, {{0, 0}})).embedded, IsEmpty());
  EXPECT_FALSE(PlaceDescriptors(pipeline, {{1, 3}}).ok());
  // Nothing is allocated of it.
  const DescriptorCount counts[] = {{Type::kSampler, 10}};
  EXPECT_EQ(world_.MakePool(4, counts)->Allocate(embedded).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(PushDescriptors::Create(world_.setup, embedded, {}).ok());
}

TEST_P(EmbeddedSamplersTest, WhatIsNoEmbeddedSamplerIsRefusedByName) {
  const DescriptorSampler samplers[2] = {world_.NewSampler(), world_.NewSampler()};
  const auto refused = [&](const DescriptorBinding& binding) {
    const auto layout =
        DescriptorSetLayout::CreateEmbedded(GetParam(), {Embedded(0, samplers[0]), binding});
    EXPECT_EQ(layout.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(layout.status().message()), HasSubstr("binding 5"));
  };
  refused({.binding = 5, .type = Type::kSampler});
  refused({.binding = 5, .type = Type::kSampler, .count = 2, .immutable_samplers = samplers});
  refused({.binding = 5, .type = Type::kSampledImage});
  refused({.binding = 5,
           .type = Type::kCombinedImageSampler,
           .immutable_samplers = absl::MakeConstSpan(samplers, 1)});
  refused({.binding = 5,
           .type = Type::kSampler,
           .flags = kUpdateAfterBind,
           .immutable_samplers = absl::MakeConstSpan(samplers, 1)});
  EXPECT_FALSE(DescriptorSetLayout::CreateEmbedded(
                   GetParam(), {Embedded(1, samplers[0]), Embedded(1, samplers[1])})
                   .ok());
  EXPECT_FALSE(
      DescriptorSetLayout::CreateEmbedded(Model::kBindingTable, {Embedded(0, samplers[0])}).ok());
}

TEST_P(EmbeddedSamplersTest, EqualSamplersOfAllPipelinesStandInMemoryOnce) {
  const DescriptorSampler a = world_.NewSampler(), b = world_.NewSampler();
  EmbeddedSamplers samplers(*pool_);
  const auto one = Value(samplers.Acquire(MapOf({a, b})));
  const auto two = Value(samplers.Acquire(MapOf({b, b})));
  EXPECT_EQ(samplers.size(), 2u);
  EXPECT_EQ(two[0].offset, one[1].offset);
  EXPECT_EQ(two[1].offset, one[1].offset);
  EXPECT_NE(one[0].offset, one[1].offset);
  for (const auto& [state, sampler] : {std::pair(one[0], a), std::pair(one[1], b)}) {
    EXPECT_EQ(state.offset % kSamplerStride, 0u);
    EXPECT_EQ(world_.ReadAs<decltype(sampler.state)>(world_.setup.sampler_base + state.offset),
              sampler.state);
  }
  EXPECT_TRUE(samplers.Release(one).ok());
  EXPECT_EQ(samplers.size(), 1u);
  EXPECT_TRUE(samplers.Release(two).ok());
  EXPECT_EQ(samplers.size(), 0u);
  EXPECT_EQ(samplers.Release(two).code(), absl::StatusCode::kNotFound);
}

TEST_P(EmbeddedSamplersTest, ThereAreSoManyAndOneMoreChangesNothing) {
  EmbeddedSamplers samplers(*pool_);
  std::vector<DescriptorSampler> all;
  for (uint32_t i = 0; i < kMostEmbeddedSamplers; ++i) all.push_back(world_.NewSampler());
  const auto taken = Value(samplers.Acquire(MapOf(all)));
  EXPECT_EQ(samplers.size(), kMostEmbeddedSamplers);
  const auto more = samplers.Acquire(MapOf({all[3], world_.NewSampler()}));
  EXPECT_EQ(more.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(more.status().message()), HasSubstr("set 0, binding 1"));
  EXPECT_EQ(samplers.size(), kMostEmbeddedSamplers);
  // Samplers that exist already take no more places.
  EXPECT_TRUE(samplers.Acquire(MapOf({all[3], all[2000]})).ok());
  EXPECT_TRUE(samplers.Release(taken).ok());
  EXPECT_EQ(samplers.size(), 2u);
}

TEST_P(EmbeddedSamplersTest, ADeviceThatFailsLeavesNothingBehind) {
  EmbeddedSamplers samplers(*pool_);
  world_.memory.device.FailAfter(0);
  const auto none = samplers.Acquire(MapOf({world_.NewSampler(), world_.NewSampler()}));
  world_.memory.device.FailAfter(-1);
  EXPECT_FALSE(none.ok());
  EXPECT_EQ(samplers.size(), 0u);
  EXPECT_TRUE(samplers.Acquire(MapOf({world_.NewSampler()})).ok());
}

}  // namespace
}  // namespace packsmith::intel
