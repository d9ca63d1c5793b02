#include "runtime/intel/shader/pipeline_cache.h"

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

std::vector<uint8_t> Bytes(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(1 + random() % 100);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}
CacheKey Key(uint32_t seed) {
  return CacheKeyOf({reinterpret_cast<const uint8_t*>(&seed), sizeof(seed)});
}
bool Has(PipelineCache& cache, uint32_t seed) {
  const auto found = cache.Find(Key(seed));
  const auto expected = Bytes(seed);
  if (found) {
    EXPECT_EQ(std::vector<uint8_t>(found->begin(), found->end()), expected);
  }
  return found.has_value();
}
std::string Path(absl::string_view name) { return testing::TempDir() + "/" + std::string(name); }

std::vector<uint8_t> Contents(const std::string& path) {
  const auto file = OpenFile(path);
  EXPECT_TRUE(file.ok()) << file.status();
  return {file->bytes.begin(), file->bytes.end()};
}

TEST(CacheKeyTest, ItIsThePublishedHash) {
  // Test vectors of FNV-1a for 128 bits (draft-eastlake-fnv): of "" and "a".
  EXPECT_EQ(CacheKeyOf({}), (CacheKey{0x62b821756295c58d, 0x6c62272e07bb0142}));
  const uint8_t a = 'a';
  EXPECT_EQ(CacheKeyOf({&a, 1}), (CacheKey{0x78912b704e4a8964, 0xd228cb696f1a8caf}));
}

TEST(PipelineCacheTest, WhatIsAddedIsFoundAndTheFirstIsKept) {
  PipelineCache cache({.identity = "a"});
  EXPECT_FALSE(Has(cache, 1));
  cache.Add(Key(1), Bytes(1));
  EXPECT_TRUE(Has(cache, 1));
  const auto kept = cache.Add(Key(1), Bytes(2));
  EXPECT_EQ(std::vector<uint8_t>(kept.begin(), kept.end()), Bytes(1));
  cache.Add(Key(3), {});
  EXPECT_EQ(cache.Find(Key(3))->size(), 0u);
  EXPECT_EQ(cache.statistics().entries, 2u);
  EXPECT_EQ(cache.statistics().misses, 1u);
  EXPECT_EQ(cache.statistics().hits, 2u);
}

TEST(PipelineCacheTest, AnotherRunMapsTheFile) {
  const std::string path = Path("cache");
  {
    PipelineCache cache({.identity = "a"});
    for (uint32_t i = 0; i < 200; ++i) cache.Add(Key(i), Bytes(i));
    ASSERT_TRUE(cache.Save(path).ok());
  }
  PipelineCache cache({.identity = "a"});
  ASSERT_TRUE(cache.Load(path).ok());
  EXPECT_EQ(cache.statistics().mapped, 200u);
  for (uint32_t i = 0; i < 200; ++i) EXPECT_TRUE(Has(cache, i)) << i;
  EXPECT_FALSE(Has(cache, 200));
  // More is added, and both are in the next file, which is the same however they got there.
  cache.Add(Key(200), Bytes(200));
  ASSERT_TRUE(cache.Save(path).ok());
  EXPECT_TRUE(Has(cache, 5)) << "the mapped file has been replaced, not changed";
  PipelineCache again({.identity = "a"});
  ASSERT_TRUE(again.Load(path).ok());
  EXPECT_EQ(again.statistics().entries, 201u);
  ASSERT_TRUE(again.Save(Path("again")).ok());
  EXPECT_EQ(Contents(path), Contents(Path("again")));
}

TEST(PipelineCacheTest, AFileOfOthersIsRefusedWithTheReason) {
  const std::string path = Path("foreign");
  PipelineCache cache({.identity = "skl 1.0"});
  cache.Add(Key(1), Bytes(1));
  ASSERT_TRUE(cache.Save(path).ok());
  PipelineCache other({.identity = "skl 1.1"});
  absl::Status status = other.Load(path);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("another device or driver than \"skl 1.1\""));
  EXPECT_TRUE(absl::IsInvalidArgument(other.Load(BytesOf(std::string("hello")))));
  EXPECT_TRUE(absl::IsInvalidArgument(other.Load(BytesOf(std::string(1000, 'x')))));
  EXPECT_TRUE(absl::IsNotFound(other.Load(Path("nothing"))));
  std::vector<uint8_t> bytes = Contents(path);
  bytes[8] = 2;
  status = cache.Load(BytesOf(bytes));
  EXPECT_THAT(status.message(), HasSubstr("version 2 of the format"));
  EXPECT_EQ(other.statistics().entries, 0u);
}

// All that is found is right, whatever is wrong with the file.
TEST(PipelineCacheTest, DamageIsFoundWhereverItIs) {
  PipelineCache cache({.identity = "a"});
  for (uint32_t i = 0; i < 5; ++i) cache.Add(Key(i), Bytes(i));
  const std::string path = Path("damaged");
  ASSERT_TRUE(cache.Save(path).ok());
  const std::vector<uint8_t> good = Contents(path);
  size_t refused = 0, missed = 0;
  const auto load = [&](std::vector<uint8_t> bytes) {
    PipelineCache victim({.identity = "a"});
    const absl::Status status = victim.Load(BytesOf(std::move(bytes)));
    refused += !status.ok();
    if (!status.ok()) {
      EXPECT_EQ(victim.statistics().entries, 0u);
    }
    for (uint32_t i = 0; i < 5; ++i) missed += !Has(victim, i);
    return status;
  };
  EXPECT_TRUE(load(good).ok());
  EXPECT_EQ(missed, 0u);
  for (size_t at = 0; at < good.size(); ++at) {
    for (const uint8_t flip : {0x01, 0x80, 0xff}) {
      std::vector<uint8_t> bad = good;
      bad[at] ^= flip;
      const size_t before = missed;
      const bool ok = load(bad).ok();
      // A byte between two pipelines has no meaning.
      if (ok) {
        EXPECT_LE(missed - before, 1u) << at;
      }
    }
  }
  EXPECT_GE(refused, 3 * (48u + 5 * 32)) << "header and index";
  EXPECT_GT(missed, 0u);
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(load({good.begin(), good.begin() + size}).ok()) << size;
  }
}

// An index that lies, with the right checksum.
TEST(PipelineCacheTest, OffsetsOutsideOfTheFileAreRefused) {
  PipelineCache cache({.identity = "a"});
  for (uint32_t i = 0; i < 3; ++i) cache.Add(Key(i), Bytes(i));
  const std::string path = Path("lies");
  ASSERT_TRUE(cache.Save(path).ok());
  const std::vector<uint8_t> good = Contents(path);
  std::mt19937 random(3);
  const auto sign = [](std::vector<uint8_t>& bytes, size_t count) {
    const size_t end = std::min(bytes.size(), 48 + count * 32);
    const auto crc =
        static_cast<uint32_t>(crc32(0, bytes.data() + 16, static_cast<uInt>(end - 16)));
    std::memcpy(bytes.data() + 12, &crc, 4);
  };
  size_t accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint8_t> bad = good;
    for (int i = 0; i < 3; ++i) bad[48 + random() % 96] = static_cast<uint8_t>(random());
    sign(bad, 3);
    PipelineCache victim({.identity = "a"});
    if (!victim.Load(BytesOf(bad)).ok()) continue;
    ++accepted;
    for (uint32_t i = 0; i < 3; ++i) Has(victim, i);
  }
  EXPECT_GT(accepted, 0u);
  for (const uint64_t count : {uint64_t{4}, uint64_t{1} << 20, ~uint64_t{0}, uint64_t{1} << 59}) {
    std::vector<uint8_t> bad = good;
    std::memcpy(bad.data() + 32, &count, 8);
    sign(bad, 3);
    PipelineCache victim({.identity = "a"});
    EXPECT_TRUE(absl::IsDataLoss(victim.Load(BytesOf(bad)))) << count;
  }
}

void Sign(std::vector<uint8_t>& bytes, size_t count) {
  const auto crc =
      static_cast<uint32_t>(crc32(0, bytes.data() + 16, static_cast<uInt>(48 + count * 32 - 16)));
  std::memcpy(bytes.data() + 12, &crc, 4);
}
// What loading says if a pipeline of `count` has another place.
absl::Status LoadWith(std::vector<uint8_t> bytes, size_t count, size_t pipeline, uint64_t offset,
                      uint32_t size) {
  std::memcpy(bytes.data() + 48 + pipeline * 32 + 16, &offset, 8);
  std::memcpy(bytes.data() + 48 + pipeline * 32 + 24, &size, 4);
  Sign(bytes, count);
  PipelineCache victim({.identity = "a"});
  const absl::Status status = victim.Load(BytesOf(std::move(bytes)));
  EXPECT_EQ(victim.statistics().entries, status.ok() ? count : 0u);
  return status;
}

TEST(PipelineCacheTest, EachBoundOfAPipelineIsChecked) {
  for (const size_t count : {1, 3}) {
    PipelineCache cache({.identity = "a"});
    for (uint32_t i = 0; i < count; ++i) cache.Add(Key(i), std::vector<uint8_t>(16, 0x55));
    const std::string path = Path("bounds");
    ASSERT_TRUE(cache.Save(path).ok());
    const std::vector<uint8_t> good = Contents(path);
    const uint64_t first = 48 + count * 32, size = good.size();
    ASSERT_EQ(size, first + count * 16);
    const struct {
      uint64_t offset;
      uint32_t size;
    } kCases[] = {{0, 8},        {first - 1, 1},       {size + 1, 0}, {~uint64_t{0}, 1},
                  {size - 4, 8}, {first, ~uint32_t{0}}};
    for (const auto& c : kCases) {
      for (size_t pipeline = 0; pipeline < count; ++pipeline) {
        const absl::Status status = LoadWith(good, count, pipeline, c.offset, c.size);
        EXPECT_TRUE(absl::IsDataLoss(status)) << status;
        EXPECT_THAT(status.message(), HasSubstr("which is not in the file")) << c.offset;
      }
    }
    // The last bytes, and none after them, are in the file.
    EXPECT_TRUE(LoadWith(good, count, count - 1, size - 4, 4).ok());
    EXPECT_TRUE(LoadWith(good, count, count - 1, size, 0).ok());
  }
}

TEST(PipelineCacheTest, PipelinesDoNotShareBytes) {
  PipelineCache cache({.identity = "a"});
  for (uint32_t i = 0; i < 3; ++i) cache.Add(Key(i), std::vector<uint8_t>(16, 0x55));
  const std::string path = Path("overlap");
  ASSERT_TRUE(cache.Save(path).ok());
  const std::vector<uint8_t> good = Contents(path);
  constexpr uint64_t kFirst = 48 + 3 * 32;
  EXPECT_TRUE(LoadWith(good, 3, 1, kFirst + 16, 16).ok());
  const struct {
    size_t pipeline;
    uint64_t offset;
    uint32_t size;
  } kCases[] = {{1, kFirst, 16}, {1, kFirst + 15, 1}, {1, kFirst + 16, 17}, {0, kFirst + 32, 16}};
  for (const auto& c : kCases) {
    const absl::Status status = LoadWith(good, 3, c.pipeline, c.offset, c.size);
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_THAT(status.message(), HasSubstr("before the end of the last one"));
  }
}

TEST(PipelineCacheTest, AFileThatAddsNothingIsNotKept) {
  PipelineCache cache({.identity = "a"});
  cache.Add(Key(1), Bytes(1));
  const std::string path = Path("kept");
  ASSERT_TRUE(cache.Save(path).ok());
  PipelineCache other({.identity = "a"});
  for (const bool kept : {true, false}) {
    FileBytes file = BytesOf(Contents(path));
    const std::weak_ptr<const void> owner = file.owner;
    ASSERT_FALSE(owner.expired());
    ASSERT_TRUE(other.Load(std::move(file)).ok());
    EXPECT_EQ(!owner.expired(), kept);
  }
  EXPECT_TRUE(Has(other, 1));
}

TEST(PipelineCacheTest, ItCanBeTurnedOff) {
  const std::string path = Path("off");
  PipelineCache cache({.identity = "a", .enabled = false});
  const auto bytes = Bytes(1);
  EXPECT_EQ(cache.Add(Key(1), bytes).data(), bytes.data());
  EXPECT_FALSE(Has(cache, 1));
  EXPECT_TRUE(cache.Save(path).ok());
  EXPECT_FALSE(OpenFile(path).ok());
  EXPECT_TRUE(cache.Load(path).ok());
}

TEST(PipelineCacheTest, ItKeepsNoMoreThanItMay) {
  PipelineCache cache({.identity = "a", .most_bytes = 150});
  const std::vector<uint8_t> hundred(100);
  EXPECT_NE(cache.Add(Key(1), hundred).data(), hundred.data());
  EXPECT_EQ(cache.Add(Key(2), hundred).data(), hundred.data());
  EXPECT_EQ(cache.Add(Key(3), std::vector<uint8_t>(200)).size(), 200u);
  EXPECT_EQ(cache.statistics().entries, 1u);
}

TEST(PipelineCacheTest, ThreadsAddAndFindTheSame) {
  const std::string path = Path("threads");
  PipelineCache first({.identity = "a"});
  for (uint32_t i = 0; i < 50; ++i) first.Add(Key(i), Bytes(i));
  ASSERT_TRUE(first.Save(path).ok());
  PipelineCache cache({.identity = "a"});
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      if (t == 1) {
        EXPECT_TRUE(cache.Load(path).ok());
      }
      for (int i = 0; i < 500; ++i) {
        const uint32_t seed = random() % 100;
        if (!Has(cache, seed)) cache.Add(Key(seed), Bytes(seed));
        if (i % 100 == 0) {
          EXPECT_TRUE(cache.Save(Path("threads2")).ok());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t i = 0; i < 50; ++i) EXPECT_TRUE(Has(cache, i));
  PipelineCache again({.identity = "a"});
  EXPECT_TRUE(again.Load(Path("threads2")).ok()) << "whole, whichever thread wrote it last";
}

}  // namespace
}  // namespace packsmith::intel
