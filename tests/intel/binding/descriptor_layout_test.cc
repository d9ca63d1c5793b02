#include "runtime/intel/binding/descriptor_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace packsmith::intel {
namespace {

using Type = DescriptorType;
using Model = DescriptorModel;
using testing::HasSubstr;

DescriptorSetLayoutPtr Make(Model model, absl::Span<const DescriptorBinding> bindings,
                            bool push = false) {
  auto layout = DescriptorSetLayout::Create(model, bindings, push);
  EXPECT_TRUE(layout.ok()) << layout.status();
  return layout.ok() ? *layout : nullptr;
}

void ExpectRefused(Model model, absl::Span<const DescriptorBinding> bindings, const char* why,
                   bool push = false) {
  const auto layout = DescriptorSetLayout::Create(model, bindings, push);
  ASSERT_FALSE(layout.ok()) << why;
  EXPECT_EQ(layout.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(layout.status().message()), HasSubstr(why));
}

// The set that anv's documentation draws.
constexpr DescriptorBinding kDrawn[] = {
    {.binding = 0, .type = Type::kStorageImage, .count = 3},
    {.binding = 1, .type = Type::kCombinedImageSampler, .count = 2},
    {.binding = 2, .type = Type::kUniformBuffer},
    {.binding = 3, .type = Type::kUniformTexelBuffer},
};

TEST(DescriptorLayoutTest, IndirectRecordsFollowEachOther) {
  const auto layout = Make(Model::kIndirect, kDrawn);
  const uint64_t offsets[] = {0, 24, 40, 56};
  const uint32_t strides[] = {8, 8, 16, 8};
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(layout->Find(i)->record_offset, offsets[i]) << i;
    EXPECT_EQ(layout->Find(i)->record_stride, strides[i]) << i;
  }
  EXPECT_EQ(layout->sizes(), (DescriptorSetSizes{.record_bytes = 64,
                                                 .sampler_bytes = 0,
                                                 .surface_bytes = 2 * 64,  // the set's, binding 2's
                                                 .slots = 7,
                                                 .sampler_slots = 2}));
  EXPECT_EQ(layout->Find(2)->surface_offset, 64u);
}

TEST(DescriptorLayoutTest, DirectRecordsAndSamplersHaveHeapsOfTheirOwn) {
  const auto layout = Make(Model::kDirect, kDrawn);
  const uint64_t offsets[] = {0, 192, 320, 384};
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(layout->Find(i)->record_offset, offsets[i]) << i;
  EXPECT_EQ(layout->Find(1)->sampler_offset, 0u);
  EXPECT_EQ(layout->Find(1)->sampler_stride, 32u);
  EXPECT_EQ(layout->sizes(), (DescriptorSetSizes{.record_bytes = 448,
                                                 .sampler_bytes = 64,
                                                 .surface_bytes = 0,
                                                 .slots = 7,
                                                 .sampler_slots = 2}));
}

TEST(DescriptorLayoutTest, DescriptorBuffersKeepSamplersWithTheirImages) {
  const auto layout = Make(Model::kBuffer, kDrawn);
  const uint64_t offsets[] = {0, 192, 448, 512};
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(layout->Find(i)->record_offset, offsets[i]) << i;
  EXPECT_EQ(layout->Find(1)->record_stride, 128u);
  EXPECT_EQ(layout->sizes().record_bytes, 576u);
  EXPECT_EQ(layout->sizes().sampler_bytes, 0u);
}

TEST(DescriptorLayoutTest, BindingTablesNeedSurfaceStatesOfBuffersOnly) {
  const auto layout = Make(Model::kBindingTable, kDrawn);
  EXPECT_EQ(layout->sizes(), (DescriptorSetSizes{.record_bytes = 0,
                                                 .sampler_bytes = 0,
                                                 .surface_bytes = 64,
                                                 .slots = 7,
                                                 .sampler_slots = 2}));
  EXPECT_FALSE(layout->has_set_surface());
}

TEST(DescriptorLayoutTest, BindingsMayComeInAnyOrderAndWithGaps) {
  const auto layout = Make(Model::kIndirect, {{.binding = 70000, .type = Type::kUniformBuffer},
                                              {.binding = 2, .type = Type::kSampledImage},
                                              {.binding = 5, .type = Type::kSampler, .count = 0}});
  ASSERT_EQ(layout->bindings().size(), 3u);
  EXPECT_EQ(layout->Find(2)->record_offset, 0u);
  EXPECT_EQ(layout->Find(5)->count, 0u);
  EXPECT_EQ(layout->Find(70000)->record_offset, 8u);
  for (const uint32_t none : {0u, 1u, 3u, 69999u, 70001u, ~0u}) {
    EXPECT_EQ(layout->Find(none), nullptr) << none;
  }
}

TEST(DescriptorLayoutTest, BytesOfInlineBlocksLieInTheSet) {
  for (const Model model : {Model::kBindingTable, Model::kIndirect, Model::kDirect}) {
    const auto layout =
        Make(model, {{.binding = 0, .type = Type::kAccelerationStructure},
                     {.binding = 1, .type = Type::kInlineUniformBlock, .count = 100},
                     {.binding = 2, .type = Type::kAccelerationStructure}});
    EXPECT_EQ(layout->Find(1)->record_offset, 64u);
    EXPECT_EQ(layout->Find(2)->record_offset, 168u);  // 164, in units of 8
    EXPECT_EQ(layout->sizes().record_bytes, 184u);
    EXPECT_EQ(layout->sizes().slots, 2u) << "a block has no elements";
    EXPECT_TRUE(layout->has_set_surface());
    EXPECT_EQ(layout->sizes().surface_bytes, 64u);
  }
}

TEST(DescriptorLayoutTest, MutableDescriptorsTakeTheLargestOfWhatTheyMayBe) {
  const Type small[] = {Type::kSampledImage, Type::kSampler};
  const Type large[] = {Type::kSampledImage, Type::kStorageBuffer, Type::kAccelerationStructure};
  const DescriptorBinding bindings[] = {
      {.binding = 0, .type = Type::kMutable, .count = 2, .mutable_types = small},
      {.binding = 1, .type = Type::kMutable, .count = 2, .mutable_types = large}};
  const auto indirect = Make(Model::kIndirect, bindings);
  EXPECT_EQ(indirect->Find(0)->record_stride, 8u);
  EXPECT_EQ(indirect->Find(1)->record_stride, 16u);
  EXPECT_EQ(indirect->Find(1)->surface_stride, 64u);
  EXPECT_TRUE(indirect->Find(0)->Takes(Type::kSampler));
  EXPECT_FALSE(indirect->Find(1)->Takes(Type::kSampler));
  EXPECT_FALSE(indirect->Find(0)->Takes(Type::kMutable));
  const auto direct = Make(Model::kDirect, bindings);
  EXPECT_EQ(direct->Find(0)->record_stride, 64u);
  EXPECT_EQ(direct->Find(0)->sampler_stride, 32u);
  EXPECT_EQ(direct->Find(1)->record_stride, 64u);
  EXPECT_EQ(direct->Find(1)->sampler_stride, 0u);
}

TEST(DescriptorLayoutTest, EachPlaneHasItsRecord) {
  const auto layout =
      Make(Model::kDirect,
           {{.binding = 0, .type = Type::kCombinedImageSampler, .count = 2, .planes = 3}});
  EXPECT_EQ(layout->sizes(), (DescriptorSetSizes{.record_bytes = 6 * 64,
                                                 .sampler_bytes = 6 * 32,
                                                 .surface_bytes = 0,
                                                 .slots = 6,
                                                 .sampler_slots = 6}));
}

TEST(DescriptorLayoutTest, AVariableCountChangesTheSizeAndNothingElse) {
  const auto layout =
      Make(Model::kIndirect, {{.binding = 0, .type = Type::kUniformBuffer},
                              {.binding = 1,
                               .type = Type::kSampledImage,
                               .count = 1000,
                               .flags = kVariableCount | kPartiallyBound | kUpdateAfterBind}});
  EXPECT_TRUE(layout->has_variable_count());
  EXPECT_EQ(layout->SizesOf(1000), layout->sizes());
  EXPECT_EQ(layout->SizesOf(0).record_bytes, 16u);
  EXPECT_EQ(layout->SizesOf(10), (DescriptorSetSizes{.record_bytes = 96,
                                                     .sampler_bytes = 0,
                                                     .surface_bytes = 128,
                                                     .slots = 11,
                                                     .sampler_slots = 0}));
}

TEST(DescriptorLayoutTest, WhatNoSetCanBeIsRefusedByName) {
  ExpectRefused(Model::kDirect, {{.binding = 4}, {.binding = 4}},
                "binding 4: two bindings have this number");
  ExpectRefused(
      Model::kDirect, {{.binding = 3, .type = Type::kSampledImage, .count = 33554433}},
      "binding 3: 33554433 elements of type sampled image; the maximum in the direct model");
  ExpectRefused(Model::kBindingTable, {{.binding = 3, .type = Type::kSampledImage, .count = 241}},
                "is 240");
  ExpectRefused(
      Model::kBuffer, {{.binding = 3, .type = Type::kUniformBufferDynamic}},
      "binding 3: type dynamic uniform buffer does not exist in the descriptor buffer model");
  ExpectRefused(Model::kIndirect,
                {{.binding = 0, .type = Type::kUniformBufferDynamic, .count = 9},
                 {.binding = 1, .type = Type::kStorageBufferDynamic, .count = 8}},
                "binding 1: 17 dynamic buffers up to here");
  ExpectRefused(Model::kIndirect,
                {{.binding = 0, .type = Type::kInlineUniformBlock, .count = 4100}}, "4100 bytes");
  ExpectRefused(Model::kIndirect, {{.binding = 0, .type = Type::kInlineUniformBlock, .count = 7}},
                "7 bytes");
  ExpectRefused(Model::kIndirect, {{.binding = 0, .type = Type::kSampledImage, .planes = 2}},
                "2 planes of type sampled image");
  ExpectRefused(Model::kIndirect,
                {{.binding = 0, .type = Type::kCombinedImageSampler, .planes = 4}}, "4 planes");
  ExpectRefused(Model::kIndirect, {{.binding = 0, .flags = 0x90}}, "0x90 are not defined");
  ExpectRefused(Model::kBindingTable,
                {{.binding = 0, .type = Type::kSampledImage, .flags = kUpdateAfterBind}},
                "cannot be written late");
  ExpectRefused(Model::kIndirect,
                {{.binding = 0, .type = Type::kUniformBufferDynamic, .flags = kUpdateAfterBind}},
                "cannot be written late");
  ExpectRefused(Model::kIndirect,
                {{.binding = 0, .type = Type::kSampledImage, .flags = kVariableCount},
                 {.binding = 1, .type = Type::kSampledImage}},
                "binding 0: only the last binding");
  ExpectRefused(Model::kIndirect, {{.binding = 6, .type = Type::kMutable}},
                "binding 6: a mutable descriptor needs a list");
  const Type nested[] = {Type::kMutable};
  ExpectRefused(Model::kIndirect, {{.binding = 0, .type = Type::kMutable, .mutable_types = nested}},
                "cannot be of type");
  const Type unknown[] = {static_cast<Type>(77)};
  ExpectRefused(Model::kIndirect,
                {{.binding = 0, .type = Type::kMutable, .mutable_types = unknown}},
                "does not exist");
  ExpectRefused(Model::kIndirect, {{.binding = 0, .type = static_cast<Type>(77)}},
                "does not exist");
  ExpectRefused(static_cast<Model>(8), {{.binding = 0}}, "in the unknown model");
  const Type one[] = {Type::kSampler};
  ExpectRefused(Model::kIndirect, {{.binding = 0, .mutable_types = one}},
                "for mutable descriptors");
  const DescriptorSampler samplers[3] = {};
  ExpectRefused(Model::kIndirect, {{.binding = 0, .count = 2, .immutable_samplers = samplers}},
                "3 immutable samplers for 2 elements of 1 planes");
  ExpectRefused(
      Model::kIndirect,
      {{.binding = 0, .type = Type::kSampledImage, .count = 3, .immutable_samplers = samplers}},
      "type sampled image");
}

TEST(DescriptorLayoutTest, ASetCannotBeLargerThanItsHeap) {
  std::vector<DescriptorBinding> bindings;
  for (uint32_t i = 0; i < 3; ++i) {
    bindings.push_back({.binding = i, .type = Type::kSampledImage, .count = 20000000});
  }
  ExpectRefused(Model::kDirect, bindings, "binding 1: up to here the set takes");
  for (DescriptorBinding& binding : bindings) {
    binding.type = Type::kUniformBuffer;
    binding.count = 201326592;
  }
  ExpectRefused(Model::kIndirect, bindings, "the size of a heap");
}

TEST(DescriptorLayoutTest, InlineBlocksAreCounted) {
  std::vector<DescriptorBinding> bindings;
  for (uint32_t i = 0; i < kMostInlineBlocks; ++i) {
    bindings.push_back({.binding = i, .type = Type::kInlineUniformBlock, .count = 4096});
  }
  EXPECT_EQ(Make(Model::kDirect, bindings)->sizes().record_bytes, 32u * 4096);
  bindings.push_back({.binding = 99, .type = Type::kInlineUniformBlock, .count = 4});
  ExpectRefused(Model::kDirect, bindings, "binding 99: more than");
}

TEST(DescriptorLayoutTest, SetsThatArePushedAreSmall) {
  EXPECT_TRUE(Make(Model::kDirect, {{.binding = 0, .type = Type::kSampledImage, .count = 32}},
                   /*push=*/true)
                  ->push());
  ExpectRefused(Model::kDirect, {{.binding = 0, .type = Type::kSampledImage, .count = 33}},
                "33 descriptors up to here", /*push=*/true);
  ExpectRefused(Model::kDirect, {{.binding = 0, .type = Type::kUniformBufferDynamic}},
                "cannot have dynamic buffers", /*push=*/true);
  ExpectRefused(Model::kDirect,
                {{.binding = 0, .type = Type::kSampledImage, .flags = kUpdateAfterBind}},
                "or late writes", /*push=*/true);
}

// For all bindings, records do not overlap, are aligned, and lie within the set.
TEST(DescriptorLayoutTest, RandomLayoutsKeepTheirRecordsApart) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const auto model = static_cast<Model>(random() % kDescriptorModels);
    std::vector<DescriptorBinding> bindings;
    for (uint32_t i = 0, n = 1 + random() % 8; i < n; ++i) {
      DescriptorBinding binding;
      binding.binding = i * (1 + random() % 3) + round % 2;
      binding.type = static_cast<Type>(random() % 13);
      binding.count = random() % 9;
      if (IsDynamic(binding.type) && model == Model::kBuffer) continue;
      if (IsDynamic(binding.type)) binding.count %= 3;
      if (binding.type == Type::kInlineUniformBlock) binding.count *= 4;
      if (binding.type == Type::kCombinedImageSampler) binding.planes = 1 + random() % 3;
      bool taken = false;
      for (const DescriptorBinding& other : bindings) taken |= other.binding == binding.binding;
      if (!taken) bindings.push_back(binding);
    }
    const auto layout = Make(model, bindings);
    uint64_t records = 0, samplers = 0, slots = 0;
    uint64_t surfaces = layout->has_set_surface() ? 64 : 0;
    for (const auto& binding : layout->bindings()) {
      const DescriptorRecord record = RecordOf(model, binding.type);
      const uint64_t items = uint64_t{binding.count} * binding.planes;
      EXPECT_GE(binding.record_offset, records);
      EXPECT_LT(binding.record_offset, records + record.alignment) << "no more gap than needed";
      EXPECT_EQ(binding.record_offset % record.alignment, 0u);
      EXPECT_EQ(binding.sampler_offset, samplers);
      EXPECT_EQ(binding.surface_offset, surfaces);
      EXPECT_EQ(binding.first_slot, slots);
      records = binding.record_offset + items * record.bytes;
      samplers += items * record.sampler_bytes;
      surfaces += items * record.surface_bytes;
      if (binding.type != Type::kInlineUniformBlock) slots += items;
    }
    EXPECT_EQ(layout->sizes().record_bytes, records);
    EXPECT_EQ(layout->sizes().sampler_bytes, samplers);
    EXPECT_EQ(layout->sizes().surface_bytes, surfaces);
    EXPECT_EQ(layout->sizes().slots, slots);
  }
}

TEST(PipelineLayoutTest, CountsDynamicBuffersThroughAllSets) {
  const auto two =
      Make(Model::kDirect, {{.binding = 0, .type = Type::kUniformBufferDynamic, .count = 2}});
  const auto none = Make(Model::kDirect, {{.binding = 0, .type = Type::kSampledImage}});
  const auto layout = PipelineLayout::Create({two, none, nullptr, two});
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(layout->sets(), 4u);
  EXPECT_EQ(layout->set(2), nullptr);
  EXPECT_EQ(layout->set(4), nullptr);
  EXPECT_EQ(layout->first_dynamic(3), 2u);
  EXPECT_EQ(layout->dynamic_buffers(), 4u);
  EXPECT_FALSE(layout->push_set().has_value());
}

TEST(PipelineLayoutTest, RefusesWhatIsTooMuch) {
  const auto set = Make(Model::kDirect, {{.binding = 0, .type = Type::kSampledImage}});
  const auto push = Make(Model::kDirect, {{.binding = 0, .type = Type::kSampledImage}}, true);
  const auto dynamic =
      Make(Model::kDirect, {{.binding = 0, .type = Type::kUniformBufferDynamic, .count = 9}});
  const auto indirect = Make(Model::kIndirect, {{.binding = 0, .type = Type::kSampledImage}});
  const auto refused = [](absl::Span<const DescriptorSetLayoutPtr> sets, const char* why) {
    const auto layout = PipelineLayout::Create(sets);
    ASSERT_FALSE(layout.ok());
    EXPECT_THAT(std::string(layout.status().message()), HasSubstr(why));
  };
  refused(std::vector<DescriptorSetLayoutPtr>(9, set), "9 descriptor sets");
  refused({push, set, push}, "sets 0 and 2 are both push sets");
  refused({dynamic, dynamic}, "set 1: 18 dynamic buffers");
  refused({set, indirect}, "set 1 is of the indirect model");
  EXPECT_TRUE(PipelineLayout::Create(std::vector<DescriptorSetLayoutPtr>(8, set)).ok());
  EXPECT_EQ(*PipelineLayout::Create({push, set})->push_set(), 0u);
}

}  // namespace
}  // namespace packsmith::intel
