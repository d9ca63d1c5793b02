#include "runtime/intel/binding/descriptor_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "runtime/intel/binding/descriptor_push.h"
#include "tests/intel/binding/descriptor_world.h"

namespace packsmith::intel {
namespace {

using Type = DescriptorType;
using Model = DescriptorModel;
using testing::HasSubstr;

constexpr Type kKinds[] = {Type::kSampler,         Type::kCombinedImageSampler,
                           Type::kSampledImage,    Type::kStorageImage,
                           Type::kUniformBuffer,   Type::kStorageBuffer,
                           Type::kMutable,         Type::kInlineUniformBlock,
                           Type::kInputAttachment, Type::kAccelerationStructure};
constexpr Type kAnything[] = {Type::kSampler, Type::kSampledImage, Type::kStorageBuffer,
                              Type::kAccelerationStructure};

class DescriptorPoolTest : public testing::TestWithParam<Model> {
 protected:
  DescriptorPoolTest() : world_(GetParam()) {}

  DescriptorSetLayoutPtr Images(uint32_t count, uint8_t flags = 0) {
    return world_.Layout(
        {{.binding = 0, .type = Type::kSampledImage, .count = count, .flags = flags}});
  }
  // In each model buffers have data of the set's own.
  DescriptorSetLayoutPtr UniformBuffers(uint32_t count) {
    return world_.Layout({{.binding = 0, .type = Type::kUniformBuffer, .count = count}});
  }

  DescriptorWorld world_;
};

INSTANTIATE_TEST_SUITE_P(Models, DescriptorPoolTest,
                         testing::Values(Model::kBindingTable, Model::kIndirect, Model::kDirect,
                                         Model::kBuffer),
                         NameOfModel);

TEST_P(DescriptorPoolTest, WhatWasPromisedFitsHoweverItIsSpread) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    const uint32_t max_sets = 1 + random() % 12;
    std::vector<DescriptorCount> counts;
    for (const Type type : kKinds) {
      counts.push_back({type, static_cast<uint32_t>(random() % 40)});
      if (type == Type::kInlineUniformBlock) counts.back().count *= 4;
    }
    const uint32_t inline_blocks = 1 + random() % 6;
    auto pool = world_.MakePool(max_sets, counts, inline_blocks);
    // The second time it has been reset.
    for (int again = 0; again < 2; ++again) {
      std::map<Type, uint32_t> left;
      for (const DescriptorCount& count : counts) left[count.type] = count.count;
      uint32_t blocks = inline_blocks;
      for (uint32_t s = 0; s < max_sets; ++s) {
        const bool last = s + 1 == max_sets;
        std::vector<DescriptorBinding> bindings;
        const auto add = [&](Type type, uint32_t count) {
          if (count == 0 && random() % 4 != 0) return;
          DescriptorBinding binding{.type = type, .count = count};
          binding.binding = bindings.size();
          if (type == Type::kMutable) binding.mutable_types = kAnything;
          if (type == Type::kCombinedImageSampler) binding.planes = 1 + random() % 3;
          if (type == Type::kInlineUniformBlock) {
            if (blocks == 0) return;
            --blocks;
          }
          left[type] -= count;
          bindings.push_back(binding);
        };
        // The last set takes all that is left, in pieces.
        for (int piece = 0; piece < 12; ++piece) {
          const Type type = kKinds[random() % std::size(kKinds)];
          const uint32_t most = left[type];
          uint32_t count = most == 0 ? 0 : random() % (most + 1);
          if (type == Type::kInlineUniformBlock) count &= ~3u;
          add(type, count);
        }
        if (last) {
          for (const Type type : kKinds) add(type, left[type]);
        }
        const auto set = pool->Allocate(world_.Layout(bindings));
        ASSERT_TRUE(set.ok()) << set.status() << ", round " << round << ", set " << s;
      }
      EXPECT_EQ(pool->Allocate(Images(0)).status().code(), absl::StatusCode::kResourceExhausted)
          << "that would be one more than there can be";
      pool->Reset();
      EXPECT_EQ(pool->statistics().sets, 0u);
      EXPECT_EQ(pool->statistics().record_bytes, 0u);
    }
  }
}

// One of a pool's regions, as a list of what is taken.
class RegionModel {
 public:
  RegionModel(const uint8_t* begin, uint64_t capacity, uint64_t granule)
      : begin_(begin), capacity_(capacity), granule_(granule) {}

  // Whether there is a hole for it, or would be one if the holes were together.
  absl::StatusCode Expected(uint64_t bytes) const {
    bytes = Rounded(bytes);
    uint64_t end = 0, free = 0, largest = 0;
    const auto hole = [&](uint64_t size) {
      free += size;
      largest = std::max(largest, size);
    };
    for (const auto& [at, size] : taken_) {
      hole(at - end);
      end = at + size;
    }
    hole(capacity_ - end);
    if (largest >= bytes) return absl::StatusCode::kOk;
    return free >= bytes ? absl::StatusCode::kFailedPrecondition
                         : absl::StatusCode::kResourceExhausted;
  }
  void Take(const uint8_t* at, uint64_t bytes) {
    if (bytes == 0) return;
    const uint64_t begin = at - begin_, size = Rounded(bytes);
    EXPECT_LE(begin + size, capacity_);
    EXPECT_EQ(begin % granule_, 0u);
    const auto next = taken_.lower_bound(begin);
    if (next != taken_.end()) {
      EXPECT_LE(begin + size, next->first);
    }
    if (next != taken_.begin()) {
      EXPECT_LE(std::prev(next)->first + std::prev(next)->second, begin);
    }
    taken_[begin] = size;
  }
  void Free(const uint8_t* at, uint64_t bytes) {
    if (bytes != 0) taken_.erase(at - begin_);
  }
  void Clear() { taken_.clear(); }
  uint64_t used() const {
    uint64_t sum = 0;
    for (const auto& [at, size] : taken_) sum += size;
    return sum;
  }

 private:
  uint64_t Rounded(uint64_t bytes) const { return (bytes + granule_ - 1) / granule_ * granule_; }

  const uint8_t* begin_;
  uint64_t capacity_, granule_;
  std::map<uint64_t, uint64_t> taken_;
};

TEST_P(DescriptorPoolTest, RandomSetsAreWhereAModelSaysTheyCanBe) {
  struct Live {
    DescriptorSet set;
    DescriptorSetMemory memory;
    DescriptorSetSizes sizes;
    DescriptorImage image;
    uint32_t count = 0;
  };
  const DescriptorCount counts[] = {{Type::kCombinedImageSampler, 100},
                                    {Type::kUniformBuffer, 100}};
  auto pool = world_.MakePool(25, counts);
  const auto layout_of = [&](uint32_t images, uint32_t buffers) {
    return world_.Layout({{.binding = 0, .type = Type::kCombinedImageSampler, .count = images},
                          {.binding = 1, .type = Type::kUniformBuffer, .count = buffers}});
  };
  // The first set of an empty pool begins where its regions do.
  const auto first = Value(pool->Allocate(layout_of(1, 1)));
  const DescriptorSetMemory begin = first.storage()->memory();
  const DescriptorPoolStatistics capacity = pool->statistics();
  ASSERT_TRUE(pool->Free(first).ok());
  RegionModel records(begin.records, capacity.record_capacity, 64);
  RegionModel samplers(begin.samplers, capacity.sampler_capacity, 32);
  RegionModel surfaces(begin.surfaces, capacity.surface_capacity, 64);

  std::mt19937 random(3);
  std::vector<Live> live;
  std::vector<DescriptorImage> images;
  for (int i = 0; i < 64; ++i) images.push_back(world_.NewImage());
  const DescriptorSampler sampler = world_.NewSampler();
  std::map<absl::StatusCode, int> seen;
  for (int step = 0; step < 6000; ++step) {
    if (random() % 3000 == 0) {
      pool->Reset();
      for (const Live& one : live) {
        EXPECT_FALSE(one.set.live());
        EXPECT_EQ(pool->Free(one.set).code(), absl::StatusCode::kNotFound);
      }
      live.clear();
      for (RegionModel* region : {&records, &samplers, &surfaces}) region->Clear();
    }
    if (!live.empty() && random() % 5 < 2) {
      const size_t which = random() % live.size();
      const Live gone = live[which];
      live.erase(live.begin() + which);
      if (gone.count != 0) {  // it is still what was written
        const auto& slot = gone.set.storage()->slots()[gone.count - 1];
        EXPECT_EQ(world_.ReadAs<SurfaceDwords>(world_.setup.surface_base + slot.surface),
                  gone.image.state);
      }
      ASSERT_TRUE(pool->Free(gone.set).ok());
      EXPECT_EQ(pool->Free(gone.set).code(), absl::StatusCode::kNotFound);
      records.Free(gone.memory.records, gone.sizes.record_bytes);
      samplers.Free(gone.memory.samplers, gone.sizes.sampler_bytes);
      surfaces.Free(gone.memory.surfaces, gone.sizes.surface_bytes);
    } else {
      const uint32_t count = random() % 50;
      const auto layout = layout_of(count, random() % 25);
      const DescriptorSetSizes sizes = layout->sizes();
      absl::StatusCode expected =
          live.size() == 25 ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kOk;
      const std::pair<RegionModel*, uint64_t> regions[] = {{&records, sizes.record_bytes},
                                                           {&samplers, sizes.sampler_bytes},
                                                           {&surfaces, sizes.surface_bytes}};
      for (const auto& [region, bytes] : regions) {
        if (expected == absl::StatusCode::kOk && bytes != 0) expected = region->Expected(bytes);
      }
      const auto set = pool->Allocate(layout);
      ASSERT_EQ(set.status().code(), expected) << set.status() << ", step " << step;
      ++seen[expected];
      if (set.ok()) {
        Live one{*set, set->storage()->memory(), sizes, images[random() % images.size()], count};
        records.Take(one.memory.records, sizes.record_bytes);
        samplers.Take(one.memory.samplers, sizes.sampler_bytes);
        surfaces.Take(one.memory.surfaces, sizes.surface_bytes);
        if (count != 0) {
          ASSERT_TRUE(one.set
                          .Write(0, count - 1,
                                 {.type = Type::kCombinedImageSampler,
                                  .images = &one.image,
                                  .samplers = &sampler})
                          .ok());
        }
        live.push_back(one);
      }
    }
    const DescriptorPoolStatistics now = pool->statistics();
    ASSERT_EQ(now.sets, live.size());
    ASSERT_EQ(now.record_bytes, records.used());
    ASSERT_EQ(now.sampler_bytes, samplers.used());
    ASSERT_EQ(now.surface_bytes, surfaces.used());
  }
  EXPECT_GT(seen[absl::StatusCode::kOk], 500);
  EXPECT_GT(seen[absl::StatusCode::kResourceExhausted], 100);
}

TEST_P(DescriptorPoolTest, APoolInPiecesSaysThatItIs) {
  const DescriptorCount counts[] = {{Type::kUniformBuffer, 64}};
  auto pool = world_.MakePool(64, counts);
  std::vector<DescriptorSet> sets;
  while (true) {
    const auto set = pool->Allocate(UniformBuffers(8));
    if (!set.ok()) {
      EXPECT_EQ(set.status().code(), absl::StatusCode::kResourceExhausted) << set.status();
      EXPECT_THAT(std::string(set.status().message()), HasSubstr("is full"));
      break;
    }
    sets.push_back(*set);
  }
  for (size_t i = 0; i < sets.size(); i += 2) ASSERT_TRUE(pool->Free(sets[i]).ok());
  const auto before = pool->statistics();
  const auto set = pool->Allocate(UniformBuffers(24));
  EXPECT_EQ(set.status().code(), absl::StatusCode::kFailedPrecondition) << set.status();
  EXPECT_THAT(std::string(set.status().message()), HasSubstr("fragmented"));
  EXPECT_EQ(pool->statistics().record_bytes, before.record_bytes);
  EXPECT_EQ(pool->statistics().surface_bytes, before.surface_bytes);
  EXPECT_TRUE(pool->Allocate(UniformBuffers(8)).ok()) << "what fits a hole still fits";
  pool->Reset();
  EXPECT_TRUE(pool->Allocate(UniformBuffers(24)).ok());
}

TEST_P(DescriptorPoolTest, WhenOneRegionIsFullTheOthersAreAsBefore) {
  // Samplers and surface states run out first, because the counts are for other sets.
  const DescriptorCount counts[] = {{Type::kMutable, 8}, {Type::kSampledImage, 400}};
  auto pool = world_.MakePool(30, counts);
  const auto buffers = UniformBuffers(40);
  const auto samplers = world_.Layout({{.binding = 0, .type = Type::kSampledImage, .count = 2},
                                       {.binding = 1, .type = Type::kSampler, .count = 40}});
  int refused = 0;
  for (const DescriptorSetLayoutPtr& layout : {buffers, samplers}) {
    const auto before = pool->statistics();
    const auto set = pool->Allocate(layout);
    if (set.ok()) {  // in this model these do not run out
      ASSERT_TRUE(pool->Free(*set).ok());
      continue;
    }
    ++refused;
    EXPECT_EQ(set.status().code(), absl::StatusCode::kResourceExhausted) << set.status();
    const auto after = pool->statistics();
    EXPECT_EQ(after.sets, before.sets);
    EXPECT_EQ(after.record_bytes, before.record_bytes);
    EXPECT_EQ(after.sampler_bytes, before.sampler_bytes);
    EXPECT_EQ(after.surface_bytes, before.surface_bytes);
  }
  // A descriptor buffer has one region only.
  EXPECT_EQ(refused != 0, GetParam() != Model::kBuffer);
  EXPECT_TRUE(pool->Allocate(Images(100)).ok());
}

TEST_P(DescriptorPoolTest, ADeviceThatFailsLeavesNothingBehind) {
  const DescriptorCount counts[] = {{Type::kCombinedImageSampler, 10000},
                                    {Type::kUniformBuffer, 10000}};
  const uint64_t live = world_.memory.buffers->statistics().live;
  int failures = 0;
  for (int calls = 0;; ++calls) {
    ASSERT_LT(calls, 100);
    world_.memory.device.FailAfter(calls);
    const auto pool = DescriptorPool::Create(*world_.memory.buffers, world_.setup,
                                             world_.PoolOptions(100, counts));
    world_.memory.device.FailAfter(-1);
    if (pool.ok()) break;
    ++failures;
    EXPECT_EQ(world_.memory.buffers->statistics().live, live);
  }
  EXPECT_GE(failures, 3) << "memory, its mapping, its pages";
  EXPECT_EQ(world_.memory.buffers->statistics().live, live) << "the last one is gone as well";
}

TEST_P(DescriptorPoolTest, VariableCountsTakeWhatTheyAre) {
  const DescriptorCount counts[] = {{Type::kSampledImage, 100}};
  auto pool = world_.MakePool(10, counts);
  const auto layout = Images(100, kVariableCount | kPartiallyBound);
  const auto small = Value(pool->Allocate(layout, 10));
  const auto rest = Value(pool->Allocate(layout, 90));
  const DescriptorImage image = world_.NewImage();
  EXPECT_TRUE(small.Write(0, 9, {.type = Type::kSampledImage, .images = &image}).ok());
  EXPECT_EQ(small.Write(0, 10, {.type = Type::kSampledImage, .images = &image}).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(rest.Write(0, 89, {.type = Type::kSampledImage, .images = &image}).ok());
  EXPECT_TRUE(pool->Allocate(layout, 0).ok());
  EXPECT_EQ(pool->Allocate(layout, 101).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(pool->Allocate(Images(4), 2).status().code(), absl::StatusCode::kInvalidArgument);
  const auto bytes = world_.Layout(
      {{.binding = 0, .type = Type::kInlineUniformBlock, .count = 64, .flags = kVariableCount}});
  EXPECT_THAT(std::string(pool->Allocate(bytes, 6).status().message()),
              HasSubstr("a multiple of 4"));
}

TEST_P(DescriptorPoolTest, OnlyItsOwnSetsAreFreed) {
  const DescriptorCount counts[] = {{Type::kSampledImage, 100}};
  auto pool = world_.MakePool(2, counts), other = world_.MakePool(2, counts);
  const auto set = Value(pool->Allocate(Images(4)));
  EXPECT_EQ(other->Free(set).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(pool->Free(DescriptorSet()).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(set.live());
  EXPECT_TRUE(pool->Free(set).ok());
  EXPECT_EQ(pool->Free(set).code(), absl::StatusCode::kNotFound);
  const auto next = Value(pool->Allocate(Images(4)));
  EXPECT_EQ(pool->Free(set).code(), absl::StatusCode::kNotFound) << "that place is another's";
  EXPECT_TRUE(next.live());
}

TEST_P(DescriptorPoolTest, WhatCannotBeIsRefused) {
  const auto create = [&](const DescriptorPoolOptions& options) {
    const auto pool = DescriptorPool::Create(*world_.memory.buffers, world_.setup, options);
    return pool.status().code();
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const DescriptorCount images[] = {{Type::kSampledImage, 100}};
  EXPECT_EQ(create(world_.PoolOptions(0, images)), kInvalid);
  const DescriptorCount bytes[] = {{Type::kInlineUniformBlock, 100}};
  EXPECT_EQ(create(world_.PoolOptions(1, bytes)), kInvalid);
  EXPECT_EQ(create(world_.PoolOptions(1, bytes, 1)), absl::StatusCode::kOk);
  const DescriptorCount unknown[] = {{static_cast<Type>(60), 1}};
  EXPECT_EQ(create(world_.PoolOptions(1, unknown)), kInvalid);
  const DescriptorCount huge[] = {{Type::kUniformBuffer, 0xffffffff}};
  EXPECT_EQ(create(world_.PoolOptions(1, huge)), kInvalid);
  const DescriptorCount buffers[] = {{Type::kUniformBuffer, 100}};
  if (GetParam() != Model::kBindingTable) {
    // In a zone that no handle and no entry of a table can reach.
    DescriptorPoolOptions options = world_.PoolOptions(1, buffers);
    options.records = options.surfaces = world_.memory.Zone("high heap");
    EXPECT_EQ(create(options), absl::StatusCode::kFailedPrecondition);
  }

  auto pool = world_.MakePool(4, images);
  EXPECT_EQ(pool->Allocate(nullptr).status().code(), kInvalid);
  const auto push = world_.Layout({{.binding = 0, .type = Type::kSampledImage}}, /*push=*/true);
  EXPECT_EQ(pool->Allocate(push).status().code(), kInvalid);
  const Model other = GetParam() == Model::kDirect ? Model::kIndirect : Model::kDirect;
  const auto foreign = Value(DescriptorSetLayout::Create(other, {{.binding = 0}}));
  EXPECT_EQ(pool->Allocate(foreign).status().code(), kInvalid);
  EXPECT_EQ(pool->statistics().sets, 0u);
  EXPECT_TRUE(pool->Allocate(world_.Layout({})).ok()) << "a set of nothing is a set";
}

// -- Sets that are pushed -----------------------------------------------------------------------

class PushDescriptorsTest : public DescriptorPoolTest {
 protected:
  PushDescriptorsTest()
      : records_pool_(world_.direct()
                          ? nullptr
                          : world_.memory.Pool("indirect push descriptors",
                                               world_.memory.Begin("indirect push descriptors"))),
        samplers_pool_(world_.memory.Pool("dynamic state", world_.setup.sampler_base)),
        records_(world_.direct() ? *world_.states : *records_pool_, 4096),
        samplers_(*samplers_pool_, 4096),
        surfaces_(*world_.states, 4096) {}

  PushDescriptors::Streams streams() {
    return {.records = &records_, .samplers = &samplers_, .surfaces = &surfaces_};
  }

  std::unique_ptr<gpu::StatePool> records_pool_, samplers_pool_;
  gpu::StateStream records_, samplers_, surfaces_;
};

INSTANTIATE_TEST_SUITE_P(Models, PushDescriptorsTest,
                         testing::Values(Model::kBindingTable, Model::kIndirect, Model::kDirect,
                                         Model::kBuffer),
                         NameOfModel);

TEST_P(PushDescriptorsTest, EachFlushHasAPlaceOfItsOwn) {
  const auto layout = world_.Layout({{.binding = 0, .type = Type::kSampledImage, .count = 2},
                                     {.binding = 1, .type = Type::kUniformBuffer},
                                     {.binding = 2, .type = Type::kSampler}},
                                    /*push=*/true);
  auto push = Value(PushDescriptors::Create(world_.setup, layout, streams()));
  const DescriptorImage a = world_.NewImage(), b = world_.NewImage();
  const DescriptorSampler sampler = world_.NewSampler();
  const gpu::Buffer buffer = world_.NewBuffer(4096);
  ASSERT_TRUE(push->Write(0, 1, {.type = Type::kSampledImage, .images = &a}).ok());
  ASSERT_TRUE(push->Write(1, 0, {.type = Type::kUniformBuffer, .buffer = {.buffer = buffer}}).ok());
  ASSERT_TRUE(push->Write(2, 0, {.type = Type::kSampler, .samplers = &sampler}).ok());
  const auto entry = [&](const DescriptorSet& set, uint32_t slot) {
    return world_.setup.surface_base + set.storage()->slots()[slot].surface;
  };
  const auto first = Value(push->Flush());
  const uint64_t image_at = entry(first, 1), buffer_at = entry(first, 2);
  EXPECT_EQ(world_.ReadAs<SurfaceDwords>(image_at), a.state);
  const auto buffer_state = world_.ReadAs<SurfaceDwords>(buffer_at);
  EXPECT_EQ(Value(push->Flush()), first) << "nothing has changed";
  const uint64_t used = surfaces_.used() + records_.used();

  ASSERT_TRUE(push->Write(0, 1, {.type = Type::kSampledImage, .images = &b}).ok());
  EXPECT_FALSE(first.live()) << "what was flushed is what draws before this one have";
  EXPECT_EQ(surfaces_.used() + records_.used(), used) << "nothing is taken before it is needed";
  const auto second = Value(push->Flush());
  EXPECT_EQ(world_.ReadAs<SurfaceDwords>(entry(second, 1)), b.state);
  EXPECT_NE(entry(second, 2), buffer_at);
  EXPECT_EQ(world_.ReadAs<SurfaceDwords>(entry(second, 2)), buffer_state);
  EXPECT_EQ(world_.ReadAs<SurfaceDwords>(image_at), a.state) << "the first place is as it was";
  EXPECT_EQ(world_.ReadAs<SurfaceDwords>(buffer_at), buffer_state);
  if (GetParam() == Model::kDirect) {
    using Four = std::array<uint32_t, 4>;
    EXPECT_EQ(world_.ReadAs<Four>(world_.setup.sampler_base + *second.SamplerHandle(2, 0)),
              sampler.state);
  }

  push->Forget();
  EXPECT_FALSE(second.live());
  EXPECT_TRUE(push->Flush().ok());
}

// The GPU reads what was flushed, and a write to it would change something else.
TEST_P(PushDescriptorsTest, WhatWasPushedIsNotWrittenThroughItsHandle) {
  const auto layout =
      world_.Layout({{.binding = 0, .type = Type::kUniformBuffer, .count = 2}}, /*push=*/true);
  auto push = Value(PushDescriptors::Create(world_.setup, layout, streams()));
  const gpu::Buffer buffer = world_.NewBuffer(4096);
  const Descriptor descriptor{.type = Type::kUniformBuffer, .buffer = {.buffer = buffer}};
  ASSERT_TRUE(push->Write(0, 0, descriptor).ok());
  const DescriptorSet set = Value(push->Flush());
  const std::vector<uint8_t> content = Content(set);
  const absl::Status status = set.Write(0, 1, descriptor);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("PushDescriptors"), absl::string_view::npos);
  EXPECT_EQ(set.CopyFrom(set, 0, 0, 0, 1).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Content(set), content);
  EXPECT_EQ(Value(push->Flush()), set);
}

TEST_P(PushDescriptorsTest, MistakesChangeNothing) {
  const auto layout = world_.Layout({{.binding = 0, .type = Type::kUniformBuffer}}, /*push=*/true);
  auto push = Value(PushDescriptors::Create(world_.setup, layout, streams()));
  const auto set = Value(push->Flush());
  EXPECT_EQ(push->Write(0, 1, {.type = Type::kUniformBuffer}).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(push->Write(0, 0, {.type = Type::kSampler}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(set.live());
  EXPECT_FALSE(PushDescriptors::Create(world_.setup, nullptr, streams()).ok());
  EXPECT_FALSE(PushDescriptors::Create(world_.setup, UniformBuffers(1), streams()).ok());
  EXPECT_FALSE(PushDescriptors::Create(world_.setup, layout, {}).ok());
}

TEST_P(PushDescriptorsTest, AFlushThatFindsNoMemoryCanBeTriedAgain) {
  const auto layout = world_.Layout({{.binding = 0, .type = Type::kUniformBuffer, .count = 32}},
                                    /*push=*/true);
  auto push = Value(PushDescriptors::Create(world_.setup, layout, streams()));
  const gpu::Buffer buffer = world_.NewBuffer(4096);
  int failures = 0;
  // Each step takes what the pools have, and fails at the device's next call.
  for (int step = 0; step < 3000; ++step) {
    ASSERT_TRUE(
        push->Write(0, step % 32, {.type = Type::kUniformBuffer, .buffer = {.buffer = buffer}})
            .ok());
    world_.memory.device.FailAfter(step % 4);
    const auto set = push->Flush();
    world_.memory.device.FailAfter(-1);
    if (set.ok()) continue;
    ++failures;
    const auto again = push->Flush();
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(again->storage()->slots()[step % 32].written);
  }
  EXPECT_GT(failures, 0);
}

}  // namespace
}  // namespace packsmith::intel
