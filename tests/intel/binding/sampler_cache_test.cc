#include "runtime/intel/binding/sampler_cache.h"

#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/memory/driver_zones.h"
#include "tests/intel/batch/generations.h"
#include "tests/intel/binding/memory.h"

namespace packsmith::intel {
namespace {

template <class Gen>
class SamplerCacheTest : public testing::Test {
 protected:
  BindingMemory memory_{IrisZones(), Gen::kVersion, Gen::kName};
  std::unique_ptr<gpu::StatePool> pool_ = memory_.Pool("dynamic", memory_.Begin("border colors"));
  std::unique_ptr<BorderColors> colors_ =
      Value(BorderColors::Create(*memory_.buffers, {.zone = memory_.Zone("border colors")}));
  SamplerTables<Gen> tables_{*pool_, *colors_, 0};
  SamplerCache<Gen> cache_{tables_};
};
TYPED_TEST_SUITE(SamplerCacheTest, Generations);

// Different numbers are different samplers.
Sampler SamplerOf(uint32_t number) {
  Sampler sampler;
  sampler.min_filter = static_cast<Filter>(number % 2);
  sampler.mag_filter = static_cast<Filter>(number / 2 % 2);
  sampler.mip_filter = static_cast<MipFilter>(number / 4 % 3);
  sampler.wrap[number / 12 % 3] = static_cast<Wrap>(1 + number / 36 % 6);
  sampler.lod_bias = static_cast<float>(number / 216 % 2);
  sampler.min_lod = static_cast<float>(number / 432 % 2);
  sampler.max_lod = 14 - static_cast<float>(number / 864 % 2);
  sampler.compare = static_cast<Compare>(number / 1728 % 8);
  sampler.anisotropy = 1 + number / 13824 % 16;
  sampler.unnormalized = number / 221184 % 2 != 0;
  sampler.seamless = number / 442368 % 2 == 0;
  sampler.compares = number / 884736 % 2 != 0;
  sampler.border_color = {number / 1769472, 2, 3, 4};
  return sampler;
}

TYPED_TEST(SamplerCacheTest, EqualTemplatesAreOneObject) {
  std::mt19937 random(1);
  struct Use {
    const PackedSampler* packed = nullptr;
    uint64_t users = 0;
  };
  std::map<uint32_t, Use> model;
  uint64_t hits = 0, packed = 0;
  for (unsigned step = 0; step < 5000; ++step) {
    if (random() % 2 != 0 || model.empty()) {
      const uint32_t number = random() % 300 * 5897;
      const auto sampler = this->cache_.Acquire(SamplerOf(number));
      ASSERT_TRUE(sampler.ok()) << sampler.status();
      const bool uses_border = SamplerOf(number).uses_border();
      ASSERT_EQ((*sampler)->border_color != 0, uses_border);
      Use& use = model[number];
      ++(use.users == 0 ? packed : hits);
      if (use.users++ == 0) use.packed = *sampler;
      ASSERT_EQ(use.packed, *sampler);
      const auto alone = this->tables_.Pack(SamplerOf(number));
      ASSERT_TRUE(alone.ok());
      ASSERT_EQ(alone->dwords, (*sampler)->dwords);
      ASSERT_TRUE(this->tables_.Drop(*alone).ok());
    } else {
      const auto which = std::next(model.begin(), random() % model.size());
      ASSERT_TRUE(this->cache_.Release(which->second.packed).ok());
      if (--which->second.users == 0) model.erase(which);
    }
  }
  EXPECT_EQ(this->cache_.statistics().hits, hits);
  EXPECT_EQ(this->cache_.statistics().packed, packed);
  EXPECT_EQ(this->cache_.size(), model.size());
  EXPECT_GT(hits, 100u);
}

TYPED_TEST(SamplerCacheTest, WhatMeansTheSameIsEqual) {
  Sampler sampler;
  const PackedSampler* const first = Value(this->cache_.Acquire(sampler));
  sampler.lod_bias = -0.0f;
  sampler.border_color = {1, 2, 3, 4};  // not used
  EXPECT_EQ(Value(this->cache_.Acquire(sampler)), first);
  sampler.wrap[0] = Wrap::kClampToBorder;
  EXPECT_NE(Value(this->cache_.Acquire(sampler)), first);
  EXPECT_EQ(this->cache_.statistics().hits, 1u);
}

TYPED_TEST(SamplerCacheTest, MistakesChangeNothing) {
  Sampler sampler;
  sampler.min_lod = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(this->cache_.Acquire(sampler).status().code(), absl::StatusCode::kInvalidArgument);
  const PackedSampler* const packed = Value(this->cache_.Acquire({}));
  PackedSampler other;
  EXPECT_EQ(this->cache_.Release(&other).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(this->cache_.Release(packed).ok());
  EXPECT_EQ(this->cache_.Release(packed).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(this->cache_.size(), 0u);
}

TYPED_TEST(SamplerCacheTest, ThreadsShareSamplers) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (uint32_t i = 0; i < 200; ++i) {
        const auto sampler = this->cache_.Acquire(SamplerOf(i % 7));
        ASSERT_TRUE(sampler.ok());
        ASSERT_TRUE(this->cache_.Release(*sampler).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(this->cache_.statistics().hits + this->cache_.statistics().packed, 800u);
  EXPECT_EQ(this->cache_.size(), 0u);
}

}  // namespace
}  // namespace packsmith::intel
