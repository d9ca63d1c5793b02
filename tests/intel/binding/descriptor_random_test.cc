// Random writes and copies, good and bad, compared with a list of what each descriptor is.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "runtime/intel/binding/descriptor_set.h"
#include "tests/intel/binding/descriptor_world.h"

namespace packsmith::intel {
namespace {

using Type = DescriptorType;
using Model = DescriptorModel;

constexpr int kViews = 16;

// One element's plane.
struct Expected {
  bool written = false;
  Type type = Type::kMutable;
  int image = -1, sampler = -1;  // which; -1: none
  bool buffer = false;
  uint64_t offset = 0;
};

class DescriptorRandomTest : public testing::TestWithParam<Model> {
 protected:
  static constexpr Type kMixed[] = {Type::kSampledImage, Type::kStorageBuffer, Type::kSampler,
                                    Type::kAccelerationStructure, Type::kStorageImage};

  DescriptorRandomTest() : world_(GetParam()) {
    for (int i = 0; i < kViews; ++i) {
      images_.push_back(world_.NewImage());
      samplers_.push_back(world_.NewSampler());
    }
    buffer_ = world_.NewBuffer(1 << 16);
    bindings_ = {
        {.binding = 0, .type = Type::kSampledImage, .count = 5},
        {.binding = 1, .type = Type::kCombinedImageSampler, .count = 4, .planes = 2},
        {.binding = 2, .type = Type::kUniformBuffer, .count = 4},
        {.binding = 3, .type = Type::kMutable, .count = 6, .mutable_types = kMixed},
        {.binding = 4, .type = Type::kSampler, .count = 3},
        {.binding = 5,
         .type = Type::kCombinedImageSampler,
         .count = 3,
         .immutable_samplers = absl::MakeConstSpan(samplers_).first(3)},
        {.binding = 6, .type = Type::kStorageImage, .count = 2},
    };
    const DescriptorCount counts[] = {{Type::kSampledImage, 10}, {Type::kCombinedImageSampler, 14},
                                      {Type::kUniformBuffer, 8}, {Type::kMutable, 12},
                                      {Type::kSampler, 6},       {Type::kStorageImage, 4}};
    pool_ = world_.MakePool(2, counts);
    layout_ = world_.Layout(bindings_);
  }

  static bool Fits(const DescriptorBinding& binding, Type type) {
    return binding.type == Type::kMutable
               ? std::find(std::begin(kMixed), std::end(kMixed), type) != std::end(kMixed)
               : binding.type == type;
  }

  // What a shader or a table finds.
  void Check(const DescriptorSet& set, const std::vector<Expected>& expected) {
    const DescriptorSetStorage& storage = *set.storage();
    for (const DescriptorBinding& binding : bindings_) {
      const auto& place = *layout_->Find(binding.binding);
      for (uint32_t item = 0; item < binding.count * binding.planes; ++item) {
        SCOPED_TRACE(testing::Message() << binding.binding << '.' << item);
        const Expected& want = expected[place.first_slot + item];
        const DescriptorSetStorage::Slot& slot = storage.slots()[place.first_slot + item];
        ASSERT_EQ(slot.written, want.written);
        if (!want.written) continue;
        ASSERT_EQ(slot.type, want.type);
        const DescriptorRecord form = RecordOf(GetParam(), want.type);
        const uint64_t at = storage.memory().records_address + place.record_offset +
                            uint64_t{item} * place.record_stride;
        if (HasView(want.type)) {
          const SurfaceDwords& state =
              want.image < 0 ? world_.setup.null_state : images_[want.image].state;
          if (want.image >= 0 || world_.direct()) {
            EXPECT_EQ(world_.ReadAs<SurfaceDwords>(world_.setup.surface_base + slot.surface),
                      state);
          } else {
            EXPECT_EQ(slot.surface, world_.setup.null_surface);
          }
          if (GetParam() == Model::kIndirect) {
            const uint32_t offset =
                want.image < 0 ? world_.setup.null_surface : images_[want.image].offset;
            EXPECT_EQ(world_.ReadAs<uint32_t>(at), *world_.setup.SurfaceHandle(offset));
          }
          if (form.form == RecordForm::kStorage) {
            EXPECT_EQ(world_.ReadAs<StorageRecord>(at).depth,
                      want.image < 0 ? 0 : images_[want.image].depth);
          }
          EXPECT_EQ(slot.buffer, want.image < 0 ? 0 : images_[want.image].buffer);
        }
        if (HasSampler(want.type)) {
          const DescriptorSampler& sampler = samplers_[want.sampler];
          EXPECT_EQ(storage.samplers()[place.first_sampler_slot + item], sampler);
          using Four = std::array<uint32_t, 4>;
          if (form.sampler_bytes != 0) {
            EXPECT_EQ(
                world_.ReadAs<Four>(world_.setup.sampler_base + storage.memory().samplers_offset +
                                    place.sampler_offset + item * place.sampler_stride),
                sampler.state);
          }
          if (form.form == RecordForm::kHandles) {
            EXPECT_EQ(world_.ReadAs<HandlesRecord>(at).sampler, sampler.offset);
          }
          if (form.form == RecordForm::kSampler) {
            EXPECT_EQ(world_.ReadAs<Four>(at), sampler.state);
          }
          if (form.form == RecordForm::kSurfaceAndSampler) {
            EXPECT_EQ(world_.ReadAs<Four>(at + 64), sampler.state);
          }
        }
        if (form.form == RecordForm::kAddress) {
          EXPECT_EQ(world_.ReadAs<AddressRecord>(at).address,
                    want.buffer ? buffer_.address + want.offset : 0);
        }
        if (IsBuffer(want.type)) {
          SurfaceDwords state = world_.setup.null_state;
          if (want.buffer) {
            ASSERT_TRUE(
                world_.setup.WriteBuffer(want.type, buffer_.address + want.offset, 256, state)
                    .ok());
          }
          EXPECT_EQ(world_.ReadAs<SurfaceDwords>(world_.setup.surface_base + slot.surface), state);
        }
      }
    }
  }

  DescriptorWorld world_;
  std::vector<DescriptorImage> images_;
  std::vector<DescriptorSampler> samplers_;
  gpu::Buffer buffer_;
  std::vector<DescriptorBinding> bindings_;
  std::unique_ptr<DescriptorPool> pool_;
  DescriptorSetLayoutPtr layout_;
};

INSTANTIATE_TEST_SUITE_P(Models, DescriptorRandomTest,
                         testing::Values(Model::kBindingTable, Model::kIndirect, Model::kDirect,
                                         Model::kBuffer),
                         NameOfModel);

TEST_P(DescriptorRandomTest, SetsHoldWhatAListSays) {
  const DescriptorSet sets[] = {Value(pool_->Allocate(layout_)), Value(pool_->Allocate(layout_))};
  std::vector<Expected> lists[2] = {std::vector<Expected>(layout_->sizes().slots),
                                    std::vector<Expected>(layout_->sizes().slots)};
  std::mt19937 random(17);
  int good = 0, bad = 0;
  for (int step = 0; step < 6000; ++step) {
    const int which = random() % 2;
    const DescriptorBinding& binding = bindings_[random() % bindings_.size()];
    const auto& place = *layout_->Find(binding.binding);
    const uint32_t element = random() % (binding.count + 1);
    if (random() % 4 != 0) {
      Descriptor descriptor{.type = random() % 4 == 0 || binding.type == Type::kMutable
                                        ? static_cast<Type>(random() % kDescriptorTypes)
                                        : binding.type};
      const Type type = descriptor.type;
      Expected want{.written = true, .type = type};
      std::array<DescriptorImage, 2> images;
      std::array<DescriptorSampler, 2> samplers;
      int image[2], sampler[2];
      for (int plane = 0; plane < 2; ++plane) {
        image[plane] = random() % kViews;
        sampler[plane] = random() % kViews;
        images[plane] = images_[image[plane]];
        samplers[plane] = samplers_[sampler[plane]];
      }
      const bool with_view = HasView(type) && random() % 5 != 0;
      const bool with_samplers = HasSampler(type) && binding.immutable_samplers.empty();
      if (with_view) descriptor.images = images.data();
      if (with_samplers) descriptor.samplers = samplers.data();
      if (random() % 5 != 0) {
        want.buffer = true;
        want.offset = random() % 100 * 256;
        descriptor.buffer = {.buffer = buffer_, .offset = want.offset, .size = 256};
      }
      const bool expected = element < binding.count && Fits(binding, type) &&
                            !(type == Type::kSampler && !binding.immutable_samplers.empty());
      ASSERT_EQ(sets[which].Write(binding.binding, element, descriptor).ok(), expected);
      ++(expected ? good : bad);
      for (uint32_t plane = 0; expected && plane < binding.planes; ++plane) {
        const uint32_t item = element * binding.planes + plane;
        want.image = with_view ? image[plane] : -1;
        want.sampler = with_samplers ? sampler[plane] : static_cast<int>(item);
        lists[which][place.first_slot + item] = want;
      }
    } else {
      // From a binding that is alike, or from any.
      const int source = random() % 2;
      const DescriptorBinding& from =
          random() % 2 == 0 ? binding : bindings_[random() % bindings_.size()];
      const auto& from_place = *layout_->Find(from.binding);
      const uint32_t from_element = random() % (from.count + 1), count = random() % 3;
      bool expected = from_element + count <= from.count && element + count <= binding.count &&
                      from.planes == binding.planes;
      if (source == which && &from == &binding) {
        expected &= from_element >= element + count || element >= from_element + count;
      }
      std::vector<Expected> copied;
      for (uint32_t i = 0; expected && i < count * from.planes; ++i) {
        const Expected& one = lists[source][from_place.first_slot + from_element * from.planes + i];
        const Type type = one.written || from.type == Type::kMutable ? one.type : from.type;
        expected &= type == Type::kMutable || Fits(binding, type);
        copied.push_back(one.written ? one : Expected());
      }
      const absl::Status status = sets[which].CopyFrom(sets[source], from.binding, from_element,
                                                       binding.binding, element, count);
      ASSERT_EQ(status.ok(), expected) << status;
      ++(expected ? good : bad);
      for (uint32_t i = 0; expected && i < copied.size(); ++i) {
        const uint32_t item = element * binding.planes + i;
        Expected& to = lists[which][place.first_slot + item];
        to = copied[i];
        if (!binding.immutable_samplers.empty()) to.sampler = item;
      }
    }
    if (step % 20 == 0) {
      for (int i = 0; i < 2; ++i) ASSERT_NO_FATAL_FAILURE(Check(sets[i], lists[i])) << step;
    }
  }
  EXPECT_GT(good, 1000);
  EXPECT_GT(bad, 1000);
}

}  // namespace
}  // namespace packsmith::intel
