#include "runtime/intel/binding/descriptor_types.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace packsmith::intel {
namespace {

using Type = DescriptorType;
using Model = DescriptorModel;

// Sizes of anv's descriptors, from its documentation and headers, by hand: bytes of a record in
// each model, and of a sampler in the heap of them in the direct one.
struct Fact {
  Type type;
  unsigned indirect, direct, direct_sampler, buffer;
  bool surface_table, sampler_table;
};
constexpr Fact kFacts[] = {
    {Type::kSampler, 8, 0, 32, 32, false, true},
    {Type::kCombinedImageSampler, 8, 64, 32, 128, true, true},
    {Type::kSampledImage, 8, 64, 0, 64, true, false},
    {Type::kUniformTexelBuffer, 8, 64, 0, 64, true, false},
    {Type::kInputAttachment, 8, 64, 0, 64, true, false},
    {Type::kStorageImage, 8, 64, 0, 64, true, false},
    {Type::kStorageTexelBuffer, 8, 64, 0, 64, true, false},
    {Type::kUniformBuffer, 16, 64, 0, 64, true, false},
    {Type::kStorageBuffer, 16, 64, 0, 64, true, false},
    {Type::kUniformBufferDynamic, 16, 64, 0, 0, true, false},
    {Type::kStorageBufferDynamic, 16, 64, 0, 0, true, false},
    {Type::kInlineUniformBlock, 1, 1, 0, 1, false, false},
    {Type::kAccelerationStructure, 16, 16, 0, 16, false, false},
};

TEST(DescriptorTypesTest, RecordsHaveTheSizesThatAreKnown) {
  for (const Fact& fact : kFacts) {
    SCOPED_TRACE(NameOf(fact.type));
    const DescriptorRecord indirect = RecordOf(Model::kIndirect, fact.type);
    const DescriptorRecord direct = RecordOf(Model::kDirect, fact.type);
    const DescriptorRecord buffer = RecordOf(Model::kBuffer, fact.type);
    EXPECT_EQ(indirect.bytes, fact.indirect);
    EXPECT_EQ(direct.bytes, fact.direct);
    EXPECT_EQ(direct.sampler_bytes, fact.direct_sampler);
    EXPECT_EQ(buffer.bytes, fact.buffer);
    EXPECT_EQ(indirect.sampler_bytes, 0);
    EXPECT_EQ(buffer.sampler_bytes, 0);
  }
}

TEST(DescriptorTypesTest, TablesTakeWhatTheyAreKnownToTake) {
  for (const Fact& fact : kFacts) {
    SCOPED_TRACE(NameOf(fact.type));
    for (const Model model : {Model::kBindingTable, Model::kIndirect, Model::kDirect}) {
      EXPECT_EQ(RecordOf(model, fact.type).surface_table, fact.surface_table) << NameOf(model);
      EXPECT_EQ(RecordOf(model, fact.type).sampler_table, fact.sampler_table) << NameOf(model);
    }
    EXPECT_FALSE(RecordOf(Model::kBuffer, fact.type).surface_table);
    EXPECT_FALSE(RecordOf(Model::kBuffer, fact.type).sampler_table);
  }
}

TEST(DescriptorTypesTest, WhatHasNoTableIsReachedWithout) {
  for (const Fact& fact : kFacts) {
    SCOPED_TRACE(NameOf(fact.type));
    for (unsigned m = 0; m < kDescriptorModels; ++m) {
      const DescriptorRecord record = RecordOf(static_cast<Model>(m), fact.type);
      if (record == DescriptorRecord()) continue;  // the model has none
      EXPECT_TRUE(record.surface_table || record.sampler_table || record.bindless);
      // An empty record points to nothing.
      if (record.bindless) {
        EXPECT_TRUE(record.form != RecordForm::kNothing || record.sampler_bytes != 0);
      }
      // An array of records keeps their alignment.
      if (fact.type != Type::kInlineUniformBlock) {
        EXPECT_EQ(record.bytes % record.alignment, 0);
      }
    }
  }
}

TEST(DescriptorTypesTest, LimitsAreWhatTheHeapsHold) {
  EXPECT_EQ(MostDescriptors(Model::kIndirect, Type::kUniformBuffer), 201326592u);
  EXPECT_EQ(MostDescriptors(Model::kIndirect, Type::kStorageBuffer), 201326592u);
  EXPECT_EQ(MostDescriptors(Model::kIndirect, Type::kSampler), 402653184u);
  EXPECT_EQ(MostDescriptors(Model::kDirect, Type::kSampledImage), 33554432u);
  EXPECT_EQ(MostDescriptors(Model::kDirect, Type::kUniformBuffer), 33554432u);
  EXPECT_EQ(MostDescriptors(Model::kDirect, Type::kSampler), 67108864u);
  EXPECT_EQ(MostDescriptors(Model::kBindingTable, Type::kSampledImage), 240u);
  EXPECT_EQ(MostDescriptors(Model::kBindingTable, Type::kSampler), 128u);
  EXPECT_EQ(MostDescriptors(Model::kIndirect, Type::kUniformBufferDynamic), 16u);
  EXPECT_EQ(MostDescriptors(Model::kBuffer, Type::kUniformBufferDynamic), 0u);
  EXPECT_EQ(MostDescriptors(Model::kIndirect, Type::kInlineUniformBlock), 4096u);
}

TEST(DescriptorTypesTest, EachTypeHasAName) {
  std::set<std::string> names;
  for (unsigned type = 0; type < kDescriptorTypes; ++type) {
    EXPECT_TRUE(names.insert(NameOf(static_cast<Type>(type))).second) << type;
  }
  EXPECT_NE(names.count("sampled image"), 0u);
}

TEST(DescriptorTypesTest, UnknownTypesAndModelsAreNoMoreThanThat) {
  EXPECT_EQ(RecordOf(Model::kDirect, static_cast<Type>(200)), DescriptorRecord());
  EXPECT_EQ(RecordOf(static_cast<Model>(9), Type::kSampler), DescriptorRecord());
  EXPECT_STREQ(NameOf(static_cast<Model>(9)), "unknown");
  EXPECT_EQ(MostDescriptors(static_cast<Model>(9), Type::kSampler), 0u);
}

}  // namespace
}  // namespace packsmith::intel
