#include "runtime/intel/binding/descriptor_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "packsmith/gfx125.h"
#include "packsmith/gfx9.h"
#include "runtime/base/addresses.h"
#include "tests/intel/binding/descriptor_world.h"

namespace packsmith::intel {
namespace {

using Type = DescriptorType;
using Model = DescriptorModel;
using testing::HasSubstr;

// Enough for every layout of these tests.
constexpr DescriptorCount kPlenty[] = {
    {Type::kSampler, 50},
    {Type::kCombinedImageSampler, 50},
    {Type::kSampledImage, 50},
    {Type::kUniformBuffer, 50},
    {Type::kStorageBuffer, 50},
    {Type::kMutable, 20},
    {Type::kInlineUniformBlock, 512},
    {Type::kAccelerationStructure, 20},
};

class DescriptorSetTest : public testing::TestWithParam<Model> {
 protected:
  DescriptorSetTest() : world_(GetParam()), pool_(world_.MakePool(20, kPlenty, 4)) {}

  DescriptorSet Make(absl::Span<const DescriptorBinding> bindings) {
    return Value(pool_->Allocate(world_.Layout(bindings)));
  }
  uint64_t RecordAddress(const DescriptorSet& set, uint32_t binding, uint32_t item = 0) {
    const auto& found = *set.storage()->layout()->Find(binding);
    return set.storage()->memory().records_address + found.record_offset +
           item * found.record_stride;
  }
  uint64_t EntryAddress(const DescriptorSet& set, uint32_t slot) {
    return world_.setup.surface_base + set.storage()->slots()[slot].surface;
  }
  // Address and size of a buffer's surface state; the size of raw ones is exact.
  std::pair<uint64_t, uint64_t> BufferAt(uint64_t address) {
    const auto dwords = world_.ReadAs<SurfaceDwords>(address);
    // All of these are stored less one; the number of entries is cut in three.
    const auto range = [](const auto& state) {
      const uint64_t last = state.width | uint64_t{state.height} << 7 | uint64_t{state.depth} << 21;
      return std::pair(Canonical(state.surface_base_address.gpu, 48),
                       (last + 1) * (state.surface_pitch + 1));
    };
    if (world_.direct()) return range(gfx125::RENDER_SURFACE_STATE::unpack(dwords.data()));
    return range(gfx9::RENDER_SURFACE_STATE::unpack(dwords.data()));
  }
  bool bindless_model() const { return GetParam() != Model::kBindingTable; }

  DescriptorWorld world_;
  std::unique_ptr<DescriptorPool> pool_;
};

INSTANTIATE_TEST_SUITE_P(Models, DescriptorSetTest,
                         testing::Values(Model::kBindingTable, Model::kIndirect, Model::kDirect,
                                         Model::kBuffer),
                         NameOfModel);

TEST_P(DescriptorSetTest, ImagesAreWrittenAsTheModelKeepsThem) {
  const auto set = Make({{.binding = 0, .type = Type::kSampledImage, .count = 3},
                         {.binding = 1, .type = Type::kStorageImage, .count = 2}});
  const DescriptorImage sampled = world_.NewImage(), stored = world_.NewImage();
  ASSERT_TRUE(set.Write(0, 2, {.type = Type::kSampledImage, .images = &sampled}).ok());
  ASSERT_TRUE(set.Write(1, 1, {.type = Type::kStorageImage, .images = &stored}).ok());
  switch (GetParam()) {
    case Model::kBindingTable:
      break;
    case Model::kIndirect: {
      // The state's number, from the bindless base, in the upper 20 bits.
      const auto handle = [&](const DescriptorImage& image) {
        return static_cast<uint32_t>(
                   (world_.setup.surface_base + image.offset - world_.setup.bindless_base) / 64)
               << 12;
      };
      const auto image = world_.ReadAs<HandlesRecord>(RecordAddress(set, 0, 2));
      EXPECT_EQ(image.surface, handle(sampled));
      const auto storage = world_.ReadAs<StorageRecord>(RecordAddress(set, 1, 1));
      EXPECT_EQ(storage.surface, handle(stored));
      EXPECT_EQ(storage.depth, stored.depth);
      break;
    }
    case Model::kDirect:
    case Model::kBuffer:
      EXPECT_EQ(world_.ReadAs<SurfaceDwords>(RecordAddress(set, 0, 2)), sampled.state);
      EXPECT_EQ(world_.ReadAs<SurfaceDwords>(RecordAddress(set, 1, 1)), stored.state);
  }
  EXPECT_EQ(world_.ReadAs<SurfaceDwords>(EntryAddress(set, 2)), sampled.state);
  EXPECT_EQ(world_.ReadAs<SurfaceDwords>(EntryAddress(set, 4)), stored.state);
}

TEST_P(DescriptorSetTest, BuffersAreWrittenAsTheModelKeepsThem) {
  const auto set = Make({{.binding = 0, .type = Type::kUniformBuffer, .count = 2},
                         {.binding = 1, .type = Type::kStorageBuffer}});
  const gpu::Buffer uniform = world_.NewBuffer(8192), storage = world_.NewBuffer(4096);
  ASSERT_TRUE(set.Write(0, 1,
                        {.type = Type::kUniformBuffer,
                         .buffer = {.buffer = uniform, .offset = 256, .size = 320}})
                  .ok());
  ASSERT_TRUE(
      set.Write(1, 0, {.type = Type::kStorageBuffer, .buffer = {.buffer = storage, .offset = 64}})
          .ok());
  if (GetParam() == Model::kIndirect) {
    const auto record = world_.ReadAs<AddressRecord>(RecordAddress(set, 0, 1));
    EXPECT_EQ(record.address, uniform.address + 256);
    EXPECT_EQ(record.size, 320u);
    EXPECT_EQ(world_.ReadAs<AddressRecord>(RecordAddress(set, 1)).size, storage.size - 64);
  }
  EXPECT_EQ(BufferAt(EntryAddress(set, 1)), std::pair(uniform.address + 256, uint64_t{320}));
  EXPECT_EQ(BufferAt(EntryAddress(set, 2)),
            std::pair(storage.address + 64, uint64_t{storage.size - 64}));
  if (world_.direct()) {
    EXPECT_EQ(EntryAddress(set, 1), RecordAddress(set, 0, 1)) << "the record is the state";
  }
}

TEST_P(DescriptorSetTest, CombinedImagesHaveTheirSamplersWhereTheModelKeepsThem) {
  const auto set =
      Make({{.binding = 0, .type = Type::kCombinedImageSampler, .count = 2, .planes = 2}});
  const DescriptorImage images[] = {world_.NewImage(), world_.NewImage()};
  const DescriptorSampler samplers[] = {world_.NewSampler(), world_.NewSampler()};
  ASSERT_TRUE(
      set.Write(0, 1, {.type = Type::kCombinedImageSampler, .images = images, .samplers = samplers})
          .ok());
  using Four = std::array<uint32_t, 4>;
  const DescriptorSetMemory& memory = set.storage()->memory();
  for (uint32_t plane = 0; plane < 2; ++plane) {
    const uint32_t item = 2 + plane;
    const uint64_t record = RecordAddress(set, 0, item);
    if (GetParam() == Model::kIndirect) {
      EXPECT_EQ(world_.ReadAs<HandlesRecord>(record).sampler, samplers[plane].offset);
      EXPECT_NE(world_.ReadAs<HandlesRecord>(record).surface, 0u);
    }
    if (GetParam() == Model::kDirect) {
      EXPECT_EQ(world_.ReadAs<Four>(world_.setup.sampler_base + memory.samplers_offset + item * 32),
                samplers[plane].state);
    }
    if (GetParam() == Model::kBuffer) {
      EXPECT_EQ(world_.ReadAs<Four>(record + 64), samplers[plane].state);
    }
    EXPECT_EQ(world_.ReadAs<SurfaceDwords>(EntryAddress(set, item)), images[plane].state);
    EXPECT_EQ(set.storage()->samplers()[item].state, samplers[plane].state);
  }
}

TEST_P(DescriptorSetTest, SamplersAloneTakeNoSurface) {
  const auto set = Make({{.binding = 0, .type = Type::kSampler, .count = 2}});
  const DescriptorSampler sampler = world_.NewSampler();
  ASSERT_TRUE(set.Write(0, 1, {.type = Type::kSampler, .samplers = &sampler}).ok());
  using Four = std::array<uint32_t, 4>;
  switch (GetParam()) {
    case Model::kBindingTable:
      EXPECT_EQ(set.storage()->memory().records, nullptr);
      break;
    case Model::kIndirect:
      EXPECT_EQ(world_.ReadAs<HandlesRecord>(RecordAddress(set, 0, 1)).sampler, sampler.offset);
      break;
    case Model::kDirect:
      EXPECT_EQ(set.storage()->memory().records, nullptr);
      EXPECT_EQ(world_.ReadAs<Four>(world_.setup.sampler_base +
                                    set.storage()->memory().samplers_offset + 32),
                sampler.state);
      break;
    case Model::kBuffer:
      EXPECT_EQ(world_.ReadAs<Four>(RecordAddress(set, 0, 1)), sampler.state);
  }
}

TEST_P(DescriptorSetTest, StructuresAndBytesLieInTheSet) {
  const auto set = Make({{.binding = 0, .type = Type::kAccelerationStructure, .count = 2},
                         {.binding = 1, .type = Type::kInlineUniformBlock, .count = 64}});
  const gpu::Buffer tree = world_.NewBuffer(4096);
  ASSERT_TRUE(
      set.Write(0, 1, {.type = Type::kAccelerationStructure, .buffer = {.buffer = tree}}).ok());
  EXPECT_EQ(world_.ReadAs<AddressRecord>(RecordAddress(set, 0, 1)).address, tree.address);
  const uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  ASSERT_TRUE(set.WriteInline(1, 56, bytes).ok());
  EXPECT_EQ(world_.Read(RecordAddress(set, 1) + 56, 8), std::vector<uint8_t>(bytes, bytes + 8));
  if (GetParam() == Model::kBuffer) return;
  // A shader finds them through the set's own surface state.
  const auto [address, size] = BufferAt(world_.setup.surface_base + set.storage()->set_surface());
  EXPECT_EQ(address, set.storage()->memory().records_address);
  EXPECT_EQ(size, 128u);
}

TEST_P(DescriptorSetTest, NullDescriptorsReadAsNothing) {
  const auto set = Make(
      {{.binding = 0, .type = Type::kSampledImage}, {.binding = 1, .type = Type::kUniformBuffer}});
  const DescriptorImage image = world_.NewImage();
  ASSERT_TRUE(set.Write(0, 0, {.type = Type::kSampledImage, .images = &image}).ok());
  ASSERT_TRUE(set.Write(0, 0, {.type = Type::kSampledImage}).ok());
  ASSERT_TRUE(set.Write(1, 0, {.type = Type::kUniformBuffer}).ok());
  if (world_.direct()) {
    EXPECT_EQ(world_.ReadAs<SurfaceDwords>(RecordAddress(set, 0)), world_.setup.null_state);
  } else {
    EXPECT_EQ(set.storage()->slots()[0].surface, world_.setup.null_surface);
  }
  EXPECT_EQ(world_.ReadAs<SurfaceDwords>(EntryAddress(set, 1)), world_.setup.null_state);
  if (GetParam() == Model::kIndirect) {
    EXPECT_EQ(world_.ReadAs<AddressRecord>(RecordAddress(set, 1)).address, 0u);
    EXPECT_EQ(world_.ReadAs<HandlesRecord>(RecordAddress(set, 0)).surface, 0u)
        << "the null surface is the first one that has a handle";
  }
  EXPECT_EQ(set.storage()->slots()[0].buffer, 0u);
}

TEST_P(DescriptorSetTest, ImmutableSamplersAreThereFromTheBeginning) {
  const DescriptorSampler samplers[] = {world_.NewSampler(), world_.NewSampler()};
  const auto set =
      Make({{.binding = 0,
             .type = Type::kCombinedImageSampler,
             .count = 2,
             .immutable_samplers = samplers},
            {.binding = 1, .type = Type::kSampler, .count = 2, .immutable_samplers = samplers}});
  const auto check = [&] {
    for (uint32_t i = 0; i < 2; ++i) {
      EXPECT_EQ(set.storage()->samplers()[i], samplers[i]);
      EXPECT_EQ(set.storage()->samplers()[2 + i], samplers[i]);
      if (bindless_model()) {
        const auto handle = set.SamplerHandle(1, i);
        ASSERT_TRUE(handle.ok()) << handle.status();
        if (GetParam() == Model::kIndirect) {
          EXPECT_EQ(*handle, samplers[i].offset);
          EXPECT_EQ(world_.ReadAs<HandlesRecord>(RecordAddress(set, 0, i)).sampler,
                    samplers[i].offset);
        } else {
          using Four = std::array<uint32_t, 4>;
          EXPECT_EQ(world_.ReadAs<Four>(world_.setup.sampler_base + *handle), samplers[i].state);
        }
      }
    }
  };
  check();
  const DescriptorImage image = world_.NewImage();
  ASSERT_TRUE(set.Write(0, 1, {.type = Type::kCombinedImageSampler, .images = &image}).ok());
  check();
  // From another set comes the image alone.
  const auto other = Make({{.binding = 0, .type = Type::kCombinedImageSampler}});
  const DescriptorSampler sampler = world_.NewSampler();
  const DescriptorImage moved = world_.NewImage();
  ASSERT_TRUE(
      other
          .Write(0, 0,
                 {.type = Type::kCombinedImageSampler, .images = &moved, .samplers = &sampler})
          .ok());
  ASSERT_TRUE(set.CopyFrom(other, 0, 0, 0, 0).ok());
  check();
  EXPECT_EQ(world_.ReadAs<SurfaceDwords>(EntryAddress(set, 0)), moved.state);
}

TEST_P(DescriptorSetTest, HandlesLeadToWhatWasWritten) {
  const auto set = Make({{.binding = 0, .type = Type::kSampledImage, .count = 4},
                         {.binding = 1, .type = Type::kCombinedImageSampler}});
  const DescriptorImage image = world_.NewImage();
  const DescriptorSampler sampler = world_.NewSampler();
  ASSERT_TRUE(set.Write(0, 3, {.type = Type::kSampledImage, .images = &image}).ok());
  ASSERT_TRUE(
      set.Write(1, 0, {.type = Type::kCombinedImageSampler, .images = &image, .samplers = &sampler})
          .ok());
  const auto handle = set.SurfaceHandle(0, 3);
  if (!bindless_model()) {
    EXPECT_THAT(std::string(handle.status().message()), HasSubstr("reached through a table only"));
    return;
  }
  ASSERT_TRUE(handle.ok()) << handle.status();
  const unsigned bits = world_.direct() ? 26 : 20;
  const uint64_t at = world_.setup.bindless_base + uint64_t{*handle >> (32 - bits)} * 64;
  EXPECT_EQ(*handle << bits, 0u) << "nothing below the number";
  EXPECT_EQ(world_.ReadAs<SurfaceDwords>(at), image.state);
  if (world_.direct()) {
    using Four = std::array<uint32_t, 4>;
    const auto there = set.SamplerHandle(1, 0);
    ASSERT_TRUE(there.ok()) << there.status();
    EXPECT_EQ(world_.ReadAs<Four>(world_.setup.sampler_base + *there), sampler.state);
  }
  EXPECT_EQ(set.SurfaceHandle(0, 0).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(set.SurfaceHandle(0, 4).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(set.SurfaceHandle(0, 3, 1).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(set.SurfaceHandle(7, 0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(set.SamplerHandle(0, 3).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(DescriptorSetTest, MutableDescriptorsAreWhatWasWrittenLast) {
  const Type types[] = {Type::kSampledImage, Type::kStorageBuffer, Type::kSampler};
  const auto set =
      Make({{.binding = 0, .type = Type::kMutable, .count = 2, .mutable_types = types}});
  const DescriptorImage image = world_.NewImage();
  const DescriptorSampler sampler = world_.NewSampler();
  const gpu::Buffer buffer = world_.NewBuffer(4096);
  ASSERT_TRUE(set.Write(0, 1, {.type = Type::kSampledImage, .images = &image}).ok());
  EXPECT_EQ(world_.ReadAs<SurfaceDwords>(EntryAddress(set, 1)), image.state);
  ASSERT_TRUE(
      set.Write(0, 1, {.type = Type::kStorageBuffer, .buffer = {.buffer = buffer, .size = 64}})
          .ok());
  EXPECT_EQ(BufferAt(EntryAddress(set, 1)), std::pair(buffer.address, uint64_t{64}));
  ASSERT_TRUE(set.Write(0, 1, {.type = Type::kSampler, .samplers = &sampler}).ok());
  EXPECT_EQ(set.storage()->slots()[1].type, Type::kSampler);
  EXPECT_EQ(set.storage()->slots()[1].surface, world_.setup.null_surface);
  EXPECT_EQ(set.Write(0, 1, {.type = Type::kUniformBuffer}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(DescriptorSetTest, MistakesNameTheirPlaceAndChangeNothing) {
  const DescriptorSampler fixed[] = {world_.NewSampler()};
  const auto set =
      Make({{.binding = 0, .type = Type::kSampledImage, .count = 2},
            {.binding = 1, .type = Type::kUniformBuffer},
            {.binding = 2, .type = Type::kSampler, .immutable_samplers = fixed},
            {.binding = 3, .type = Type::kCombinedImageSampler, .immutable_samplers = fixed},
            {.binding = 4, .type = Type::kCombinedImageSampler},
            {.binding = 5, .type = Type::kInlineUniformBlock, .count = 16},
            {.binding = 6, .type = Type::kAccelerationStructure}});
  const DescriptorImage image = world_.NewImage();
  const DescriptorSampler sampler = world_.NewSampler();
  const gpu::Buffer buffer = world_.NewBuffer(4096);
  ASSERT_TRUE(set.Write(0, 0, {.type = Type::kSampledImage, .images = &image}).ok());
  ASSERT_TRUE(set.Write(1, 0, {.type = Type::kUniformBuffer, .buffer = {.buffer = buffer}}).ok());
  const auto before = Content(set);
  const auto refused = [&](uint32_t binding, uint32_t element, const Descriptor& descriptor,
                           absl::StatusCode code, const char* why) {
    const absl::Status status = set.Write(binding, element, descriptor);
    EXPECT_EQ(status.code(), code) << status;
    const std::string place =
        "binding " + std::to_string(binding) + ", element " + std::to_string(element) + ": ";
    EXPECT_THAT(std::string(status.message()), HasSubstr(place));
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
    EXPECT_EQ(Content(set), before) << why;
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kRange = absl::StatusCode::kOutOfRange;
  refused(9, 0, {.type = Type::kSampledImage}, kInvalid, "no such binding");
  refused(0, 2, {.type = Type::kSampledImage}, kRange,
          "the binding has 2 elements, of type sampled image");
  refused(0, 1, {.type = Type::kStorageImage}, kInvalid,
          "it is of type sampled image, but a descriptor of type storage image");
  refused(0, 1, {.type = Type::kMutable}, kInvalid, "a descriptor of type mutable descriptor");
  refused(0, 1, {.type = static_cast<Type>(99)}, kInvalid, "of no known type");
  refused(0, 0, {.type = Type::kSampledImage, .samplers = &sampler}, kInvalid,
          "a sampler is given");
  refused(1, 0, {.type = Type::kUniformBuffer, .images = &image}, kInvalid, "an image is given");
  refused(2, 0, {.type = Type::kSampler, .samplers = &sampler}, kInvalid, "are immutable");
  refused(3, 0, {.type = Type::kCombinedImageSampler, .images = &image, .samplers = &sampler},
          kInvalid, "give none");
  refused(4, 0, {.type = Type::kCombinedImageSampler, .images = &image}, kInvalid,
          "no sampler is given");
  refused(5, 0, {.type = Type::kInlineUniformBlock}, kInvalid, "use WriteInline()");
  for (const Type type : {Type::kUniformBuffer, Type::kAccelerationStructure}) {
    const uint32_t binding = type == Type::kUniformBuffer ? 1 : 6;
    refused(binding, 0, {.type = type, .buffer = {.buffer = buffer, .offset = 4096}}, kRange,
            "at offset 0x1000 are not within a buffer of 0x1000");
    refused(binding, 0, {.type = type, .buffer = {.buffer = buffer, .offset = 4000, .size = 97}},
            kRange, "0x61 bytes");
    refused(binding, 0,
            {.type = type, .buffer = {.buffer = buffer, .offset = 8, .size = kWholeSize - 1}},
            kRange, "not within a buffer");
    refused(binding, 0, {.type = type, .buffer = {.buffer = buffer, .size = 0}}, kInvalid,
            "must be 1 to");
  }
  gpu::Buffer huge = buffer;
  huge.size = uint64_t{1} << 33;
  refused(1, 0, {.type = Type::kUniformBuffer, .buffer = {.buffer = huge}}, kInvalid,
          "must be 1 to");
  gpu::Buffer crooked = buffer;
  crooked.address = uint64_t{1} << 60;
  if (GetParam() != Model::kIndirect) {
    refused(1, 0, {.type = Type::kUniformBuffer, .buffer = {.buffer = crooked}}, kInvalid,
            "is not an address of 48 bits");
  }
  if (GetParam() == Model::kIndirect) {
    DescriptorImage far = image;
    far.offset += 64 << 20;  // 20 bits of surface states further
    refused(0, 1, {.type = Type::kSampledImage, .images = &far}, kInvalid, "at most 0xfffff");
  }

  if (!world_.direct()) {
    DescriptorImage odd = image;
    odd.offset += 32;
    refused(0, 1, {.type = Type::kSampledImage, .images = &odd}, kInvalid,
            "must be at a multiple of 64");
  }

  const uint8_t bytes[24] = {};
  const auto inline_refused = [&](uint32_t binding, uint32_t offset, size_t size,
                                  absl::StatusCode code) {
    const absl::Status status = set.WriteInline(binding, offset, absl::MakeConstSpan(bytes, size));
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_EQ(Content(set), before);
  };
  inline_refused(5, 0, 20, kRange);
  inline_refused(5, 20, 0, kRange);
  inline_refused(5, 12, 8, kRange);
  inline_refused(5, ~0u, 8, kRange);
  inline_refused(5, 2, 4, kInvalid);
  inline_refused(5, 0, 3, kInvalid);
  inline_refused(0, 0, 4, kInvalid);
  inline_refused(8, 0, 4, kInvalid);
}

TEST_P(DescriptorSetTest, CopiesAreWhatTheyWereCopiedFrom) {
  const DescriptorBinding bindings[] = {
      {.binding = 0, .type = Type::kSampledImage, .count = 4},
      {.binding = 1, .type = Type::kUniformBuffer, .count = 3},
      {.binding = 2, .type = Type::kCombinedImageSampler},
      {.binding = 3, .type = Type::kInlineUniformBlock, .count = 32},
      {.binding = 4, .type = Type::kSampler}};
  const auto a = Make(bindings), b = Make(bindings);
  std::vector<DescriptorImage> images;
  for (uint32_t i = 0; i < 3; ++i) {
    images.push_back(world_.NewImage());
    ASSERT_TRUE(a.Write(0, i, {.type = Type::kSampledImage, .images = &images[i]}).ok());
  }
  const gpu::Buffer buffer = world_.NewBuffer(4096);
  ASSERT_TRUE(
      a.Write(1, 2, {.type = Type::kUniformBuffer, .buffer = {.buffer = buffer, .size = 512}})
          .ok());
  const DescriptorSampler sampler = world_.NewSampler();
  ASSERT_TRUE(
      a.Write(2, 0,
              {.type = Type::kCombinedImageSampler, .images = &images[0], .samplers = &sampler})
          .ok());
  ASSERT_TRUE(a.Write(4, 0, {.type = Type::kSampler, .samplers = &sampler}).ok());
  const uint8_t bytes[8] = {9, 8, 7, 6, 5, 4, 3, 2};
  ASSERT_TRUE(a.WriteInline(3, 8, bytes).ok());

  ASSERT_TRUE(b.CopyFrom(a, 0, 0, 0, 1, 3).ok());
  ASSERT_TRUE(b.CopyFrom(a, 1, 2, 1, 0).ok());
  ASSERT_TRUE(b.CopyFrom(a, 2, 0, 2, 0).ok());
  ASSERT_TRUE(b.CopyFrom(a, 3, 8, 3, 24, 8).ok());
  ASSERT_TRUE(b.CopyFrom(a, 4, 0, 4, 0).ok());
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(world_.ReadAs<SurfaceDwords>(EntryAddress(b, 1 + i)), images[i].state) << i;
  }
  EXPECT_EQ(BufferAt(EntryAddress(b, 4)), std::pair(buffer.address, uint64_t{512}));
  EXPECT_NE(EntryAddress(b, 4), EntryAddress(a, 6)) << "a state of its own";
  EXPECT_EQ(world_.ReadAs<SurfaceDwords>(EntryAddress(b, 7)), images[0].state);
  EXPECT_EQ(b.storage()->samplers()[0], sampler);
  EXPECT_EQ(b.storage()->samplers()[1], sampler);
  EXPECT_EQ(world_.Read(RecordAddress(b, 3) + 24, 8), std::vector<uint8_t>(bytes, bytes + 8));
  if (bindless_model()) {
    EXPECT_EQ(world_.Read(RecordAddress(b, 0, 1), RecordOf(GetParam(), Type::kSampledImage).bytes),
              world_.Read(RecordAddress(a, 0, 0), RecordOf(GetParam(), Type::kSampledImage).bytes));
  }
  // What was never written is not written here either.
  EXPECT_TRUE(b.storage()->slots()[1].written);
  ASSERT_TRUE(b.CopyFrom(a, 0, 3, 0, 1).ok());
  EXPECT_FALSE(b.storage()->slots()[1].written);
}

TEST_P(DescriptorSetTest, CopiesThatMakeNoSenseChangeNothing) {
  const Type types[] = {Type::kSampledImage, Type::kStorageBuffer};
  const DescriptorSampler fixed[] = {world_.NewSampler()};
  const DescriptorBinding bindings[] = {
      {.binding = 0, .type = Type::kSampledImage, .count = 4},
      {.binding = 1, .type = Type::kUniformBuffer, .count = 4},
      {.binding = 2, .type = Type::kMutable, .count = 4, .mutable_types = types},
      {.binding = 3, .type = Type::kInlineUniformBlock, .count = 32},
      {.binding = 4, .type = Type::kSampler, .immutable_samplers = fixed},
      {.binding = 5, .type = Type::kSampler},
      {.binding = 6, .type = Type::kCombinedImageSampler, .planes = 2},
      {.binding = 7, .type = Type::kCombinedImageSampler}};
  const auto a = Make(bindings), b = Make(bindings);
  const DescriptorImage image = world_.NewImage();
  const gpu::Buffer buffer = world_.NewBuffer(4096);
  ASSERT_TRUE(a.Write(2, 0, {.type = Type::kSampledImage, .images = &image}).ok());
  ASSERT_TRUE(a.Write(2, 1, {.type = Type::kStorageBuffer, .buffer = {.buffer = buffer}}).ok());
  const auto before = Content(b);
  const auto refused = [&](uint32_t from, uint32_t from_element, uint32_t to, uint32_t element,
                           uint32_t count, const char* why) {
    const absl::Status status = b.CopyFrom(a, from, from_element, to, element, count);
    EXPECT_FALSE(status.ok()) << why;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
    EXPECT_EQ(Content(b), before) << why;
  };
  refused(0, 2, 0, 0, 3,
          "binding 0, element 2: 3 elements cannot be copied from here: the binding has 4");
  refused(0, 0, 0, 3, 2,
          "binding 0, element 3: 2 elements cannot be copied to here: the binding has 4");
  refused(0, ~0u, 0, 0, 2, "copied from here");
  refused(0, 0, 0, 1, ~0u, "copied from here");
  refused(0, 0, 1, 0, 1, "it is of type uniform buffer, but the source is of type sampled image");
  refused(2, 0, 0, 0, 2, "binding 0, element 1: it is of type sampled image");
  refused(3, 0, 0, 0, 4, "of type inline uniform block");
  refused(3, 2, 3, 0, 4, "in whole dwords");
  refused(5, 0, 4, 0, 1, "its samplers are immutable");
  refused(6, 0, 7, 0, 1, "elements of 2 planes cannot be copied to elements of 1");
  refused(8, 0, 0, 0, 1, "binding 8, element 0: the set's layout has no such binding");
  refused(0, 0, 8, 0, 1, "binding 8");
  // A descriptor may be copied to any binding that its type fits.
  EXPECT_TRUE(b.CopyFrom(a, 2, 0, 0, 0).ok());
  EXPECT_TRUE(b.CopyFrom(a, 0, 0, 2, 0).ok()) << "never written";
  const absl::Status overlap = a.CopyFrom(a, 2, 0, 2, 1, 2);
  EXPECT_THAT(std::string(overlap.message()), HasSubstr("overlap"));
  EXPECT_TRUE(a.CopyFrom(a, 2, 0, 2, 2, 2).ok());
  EXPECT_EQ(a.storage()->slots()[8 + 3].type, Type::kStorageBuffer);
}

TEST_P(DescriptorSetTest, SetsThatAreGoneSaySo) {
  const auto set = Make({{.binding = 0, .type = Type::kSampledImage}});
  const auto other = Make({{.binding = 0, .type = Type::kSampledImage}});
  ASSERT_TRUE(pool_->Free(set).ok());
  const auto next = Make({{.binding = 0, .type = Type::kSampledImage}});  // in the same place
  EXPECT_FALSE(set.live());
  constexpr auto kGone = absl::StatusCode::kFailedPrecondition;
  EXPECT_EQ(set.Write(0, 0, {.type = Type::kSampledImage}).code(), kGone);
  EXPECT_EQ(set.WriteInline(0, 0, {}).code(), kGone);
  EXPECT_EQ(set.CopyFrom(other, 0, 0, 0, 0).code(), kGone);
  EXPECT_EQ(other.CopyFrom(set, 0, 0, 0, 0).code(), kGone);
  EXPECT_EQ(set.SurfaceHandle(0, 0).status().code(), kGone);
  EXPECT_EQ(set.SamplerHandle(0, 0).status().code(), kGone);
  EXPECT_EQ(set.ForEachBuffer([](gpu::BufferHandle, bool) {}).code(), kGone);
  EXPECT_EQ(DescriptorSet().Write(0, 0, {}).code(), kGone);
  EXPECT_FALSE(next.storage()->slots()[0].written);
}

TEST_P(DescriptorSetTest, BuffersInUseAreListedWithWhetherTheyAreWritten) {
  const auto set = Make({{.binding = 0, .type = Type::kSampledImage, .count = 2},
                         {.binding = 1, .type = Type::kStorageBuffer}});
  const DescriptorImage image = world_.NewImage();
  const gpu::Buffer buffer = world_.NewBuffer(4096);
  ASSERT_TRUE(set.Write(0, 1, {.type = Type::kSampledImage, .images = &image}).ok());
  ASSERT_TRUE(set.Write(1, 0, {.type = Type::kStorageBuffer, .buffer = {.buffer = buffer}}).ok());
  std::map<gpu::BufferHandle, bool> all;
  ASSERT_TRUE(
      set.ForEachBuffer([&](gpu::BufferHandle used, bool written) { all[used] = written; }).ok());
  EXPECT_EQ(all.count(image.buffer), 1u);
  EXPECT_FALSE(all[image.buffer]);
  EXPECT_TRUE(all[buffer.handle]);
  const DescriptorSetMemory& memory = set.storage()->memory();
  for (const gpu::BufferHandle own :
       {memory.records_buffer, memory.samplers_buffer, memory.surfaces_buffer}) {
    if (own == 0) continue;
    EXPECT_EQ(all.count(own), 1u);
  }
}

TEST(DescriptorBufferTest, RecordsAreThoseOfSets) {
  DescriptorWorld world(Model::kBuffer);
  const DescriptorImage image = world.NewImage();
  const DescriptorSampler sampler = world.NewSampler();
  const gpu::Buffer buffer = world.NewBuffer(4096);
  const auto pool = world.MakePool(1, kPlenty, 4);
  const auto set =
      Value(pool->Allocate(world.Layout({{.binding = 0, .type = Type::kSampler},
                                         {.binding = 1, .type = Type::kCombinedImageSampler},
                                         {.binding = 2, .type = Type::kStorageImage},
                                         {.binding = 3, .type = Type::kUniformBuffer},
                                         {.binding = 4, .type = Type::kAccelerationStructure}})));
  const Descriptor descriptors[] = {
      {.type = Type::kSampler, .samplers = &sampler},
      {.type = Type::kCombinedImageSampler, .images = &image, .samplers = &sampler},
      {.type = Type::kStorageImage, .images = &image},
      {.type = Type::kUniformBuffer, .buffer = {.buffer = buffer, .offset = 64}},
      {.type = Type::kAccelerationStructure, .buffer = {.buffer = buffer}}};
  const uint32_t sizes[] = {32, 128, 64, 64, 16};
  for (uint32_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(set.Write(i, 0, descriptors[i]).ok());
    const DescriptorSetMemory& memory = set.storage()->memory();
    const uint8_t* const there = memory.records + set.storage()->layout()->Find(i)->record_offset;
    // What neither writes is equal in both.
    std::vector<uint8_t> record(there, there + sizes[i]);
    std::vector<uint8_t> garbled = record;
    for (size_t at = 0; at < (i == 0 ? 16 : i == 1 ? 80 : sizes[i]); ++at) garbled[at] ^= 0xff;
    const auto size = WriteDescriptor(world.setup, descriptors[i], absl::MakeSpan(garbled));
    ASSERT_TRUE(size.ok()) << size.status();
    EXPECT_EQ(*size, sizes[i]);
    EXPECT_EQ(garbled, record) << i;
    std::vector<uint8_t> small(sizes[i] - 1, 7);
    EXPECT_EQ(WriteDescriptor(world.setup, descriptors[i], absl::MakeSpan(small)).status().code(),
              absl::StatusCode::kOutOfRange);
    EXPECT_EQ(small, std::vector<uint8_t>(sizes[i] - 1, 7));
  }
}

TEST(DescriptorBufferTest, WhatHasNoRecordIsRefused) {
  DescriptorWorld world(Model::kBuffer);
  std::vector<uint8_t> record(128, 3);
  for (const Type type : {Type::kUniformBufferDynamic, Type::kInlineUniformBlock, Type::kMutable,
                          Type::kSampler, static_cast<Type>(50)}) {
    const auto size = WriteDescriptor(world.setup, {.type = type}, absl::MakeSpan(record));
    EXPECT_EQ(size.status().code(), absl::StatusCode::kInvalidArgument) << NameOf(type);
  }
  const gpu::Buffer buffer = world.NewBuffer(4096);
  EXPECT_EQ(
      WriteDescriptor(world.setup,
                      {.type = Type::kUniformBuffer, .buffer = {.buffer = buffer, .offset = 5000}},
                      absl::MakeSpan(record))
          .status()
          .code(),
      absl::StatusCode::kOutOfRange);
  EXPECT_EQ(record, std::vector<uint8_t>(128, 3));
}

TEST(DescriptorSetupTest, BasesAndTheNullSurfaceAreLookedAt) {
  const DescriptorHardware hardware = HardwareFor(Model::kIndirect);
  const auto make = [&](const DescriptorSetupOptions& options) {
    return MakeDescriptorSetup(hardware, options).status();
  };
  EXPECT_TRUE(make({.model = Model::kIndirect, .mocs = 4}).ok());
  EXPECT_FALSE(make({.model = static_cast<Model>(7), .mocs = 4}).ok());
  EXPECT_FALSE(make({.model = Model::kIndirect, .mocs = 0}).ok());
  EXPECT_FALSE(make({.model = Model::kIndirect, .surface_base = 32, .mocs = 4}).ok());
  EXPECT_FALSE(make({.model = Model::kIndirect, .sampler_base = 16, .mocs = 4}).ok());
  EXPECT_FALSE(make({.model = Model::kIndirect, .mocs = 4, .null_surface = 8}).ok());
  EXPECT_FALSE(make({.model = Model::kIndirect, .mocs = 4, .null_surface = 64 << 20}).ok());
  EXPECT_FALSE(make({.model = Model::kIndirect,
                     .surface_base = 0x1000,
                     .bindless_base = 0x2000,
                     .mocs = 4,
                     .null_surface = 0})
                   .ok())
      << "below the base of handles";
}

}  // namespace
}  // namespace packsmith::intel
