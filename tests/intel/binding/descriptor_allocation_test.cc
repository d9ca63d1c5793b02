// Writing descriptors and filling tables takes no memory: each allocation of the program is
// counted.
#include <gtest/gtest.h>

#include "runtime/intel/binding/descriptor_placement.h"
#include "runtime/intel/binding/descriptor_tables.h"
#include "tests/base/allocations.h"
#include "tests/intel/binding/descriptor_world.h"

namespace packsmith::intel {
namespace {

using Type = DescriptorType;
using Model = DescriptorModel;

class DescriptorAllocationTest : public testing::TestWithParam<Model> {};

INSTANTIATE_TEST_SUITE_P(Models, DescriptorAllocationTest,
                         testing::Values(Model::kBindingTable, Model::kIndirect, Model::kDirect),
                         NameOfModel);

TEST_P(DescriptorAllocationTest, WritesCopiesAndTablesTakeNoMemory) {
  DescriptorWorld world(GetParam());
  const DescriptorCount counts[] = {{Type::kCombinedImageSampler, 20},
                                    {Type::kUniformBuffer, 20},
                                    {Type::kUniformBufferDynamic, 4}};
  const auto pool = world.MakePool(4, counts);
  const auto layout = world.Layout({{.binding = 0, .type = Type::kCombinedImageSampler, .count = 4},
                                    {.binding = 1, .type = Type::kUniformBuffer, .count = 4},
                                    {.binding = 2, .type = Type::kUniformBufferDynamic}});
  const DescriptorSet set = Value(pool->Allocate(layout));
  const DescriptorImage image = world.NewImage();
  const DescriptorSampler sampler = world.NewSampler();
  const gpu::Buffer buffer = world.NewBuffer(4096);
  const auto pipeline = Value(PipelineLayout::Create({layout}));
  const BindMap map = Value(PlaceDescriptors(pipeline, {{0, 0}, {0, 1}, {0, 2}}));
  gpu::StateStream stream(*world.states, 4096);
  ASSERT_TRUE(stream.Allocate(64, 64).ok());  // it has its first block
  BoundDescriptors bound;
  uint32_t entries[kMostTableSurfaces];
  std::array<uint32_t, 4> samplers[kMostTableSamplers];

  const size_t before = Allocations();
  bool good = true;
  for (uint32_t i = 0; i < 4; ++i) {
    good &= set.Write(0, i,
                      {.type = Type::kCombinedImageSampler, .images = &image, .samplers = &sampler})
                .ok();
    good &= set.Write(1, i, {.type = Type::kUniformBuffer, .buffer = {.buffer = buffer}}).ok();
  }
  good &= set.Write(2, 0,
                    {.type = Type::kUniformBufferDynamic, .buffer = {.buffer = buffer, .size = 64}})
              .ok();
  good &= set.CopyFrom(set, 0, 0, 0, 2, 2).ok();
  const uint32_t offset[] = {256};
  good &= bound.Bind(pipeline, 0, {set}, offset).ok();
  good &= FillSurfaceTable(map, bound, {.states = &stream}, absl::MakeSpan(entries)).ok();
  good &= FillSamplerTable(map, bound, absl::MakeSpan(samplers)).ok();
  const size_t after = Allocations();
  EXPECT_TRUE(good);
  EXPECT_EQ(after, before);
  EXPECT_GT(before, 0u) << "they are counted";
}

}  // namespace
}  // namespace packsmith::intel
