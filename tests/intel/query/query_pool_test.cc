#include "runtime/intel/query/query_pool.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/query/timestamp_clock.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr GenerationFacts kGfx9 = FactsOf(90);

class QueryPoolTest : public testing::Test {
 protected:
  QueryPool Make(const QueryPoolOptions& options) {
    memory_.assign(*QueryPool::BytesFor(options) / 8, 0);
    return *QueryPool::Create(kGfx9, options, Memory());
  }
  QueryMemory Memory() {
    return {.address = 0x1000,
            .cpu = reinterpret_cast<uint8_t*>(memory_.data()),
            .size = memory_.size() * 8};
  }
  std::vector<uint64_t> memory_;
};

TEST_F(QueryPoolTest, QueriesDoNotOverlap) {
  const QueryPool pool = Make({.kind = QueryKind::kStatistics, .count = 3, .statistics = 7});
  std::vector<uint64_t> places;
  for (uint32_t query = 0; query < 3; ++query) {
    places.push_back(pool.availability(query).gpu);
    for (unsigned counter = 0; counter < 3; ++counter) {
      places.push_back(pool.begin(query, counter).gpu);
      places.push_back(pool.end(query, counter).gpu);
    }
  }
  places.push_back(pool.scratch().gpu);
  for (size_t i = 0; i < places.size(); ++i) EXPECT_EQ(places[i], 0x1000 + 8 * i);
  EXPECT_EQ(memory_.size(), places.size());
}

TEST_F(QueryPoolTest, UnavailableResultsKeepMemoryOrAreZero) {
  const QueryPool pool = Make({.kind = QueryKind::kOcclusion, .count = 2});
  memory_ = {0, 5, 8, 1, 5, 8, 0};
  std::vector<uint64_t> to(4, 99);
  auto all = pool.Read({.count = 2, .availability = true}, to.data(), 32);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_FALSE(*all);
  EXPECT_THAT(to, ElementsAre(99u, 0u, 3u, 1u));
  all = pool.Read({.count = 2, .availability = true, .partial = true}, to.data(), 32);
  EXPECT_THAT(to, ElementsAre(0u, 0u, 3u, 1u));
  all = pool.Read({.first = 1}, to.data(), 8);
  EXPECT_TRUE(*all);
}

TEST_F(QueryPoolTest, ResettingMakesUnavailable) {
  const QueryPool pool = Make({.kind = QueryKind::kOcclusion, .count = 2});
  memory_ = {1, 5, 8, 1, 5, 8, 0};
  ASSERT_TRUE(pool.Reset(1, 1).ok());
  EXPECT_TRUE(*pool.Available(0));
  EXPECT_FALSE(*pool.Available(1));
}

TEST_F(QueryPoolTest, TimestampsHaveTheBitsOfTheGeneration) {
  const QueryPool pool = Make({.kind = QueryKind::kTimestamp});
  memory_ = {1, 0, 0xfff0000000000012, 0};
  uint64_t ticks = 0;
  ASSERT_TRUE(pool.Read({}, &ticks, 8).ok());
  EXPECT_EQ(ticks, 0x12u);
  const QueryPool elapsed = Make({.kind = QueryKind::kTimeElapsed});
  memory_ = {1, 0xffffffff0, 0x10, 0};
  ASSERT_TRUE(elapsed.Read({}, &ticks, 8).ok());
  EXPECT_EQ(ticks, 0x20u);
}

TEST_F(QueryPoolTest, ErrorsNameWhatDoesNotFit) {
  const auto create = [&](const QueryPoolOptions& options, QueryMemory memory) {
    return std::string(QueryPool::Create(kGfx9, options, memory).status().message());
  };
  EXPECT_THAT(create({.count = 0}, {}), HasSubstr("at least 1 query"));
  EXPECT_THAT(create({.kind = QueryKind::kStatistics}, {}), HasSubstr("some of 0x7ff"));
  EXPECT_THAT(create({.kind = QueryKind::kStatistics, .statistics = 0x800}, {}),
              HasSubstr("statistics 0x800"));
  EXPECT_THAT(create({.kind = QueryKind::kStreamOutput, .stream = 4}, {}),
              HasSubstr("stream 4 of stream output; there are streams 0 to 3"));
  EXPECT_THAT(create({}, {.address = 12}), HasSubstr("multiple of 8"));
  EXPECT_THAT(create({.count = 2}, {.address = 16, .size = 55}),
              HasSubstr("2 queries in 55 bytes of memory; they need 56"));
  const QueryPool pool = Make({.count = 2});
  uint64_t to[2];
  EXPECT_THAT(pool.Read({.count = 2}, to, 15).status().message(),
              HasSubstr("results of 2 queries in 15 bytes; they take 16"));
  EXPECT_THAT(pool.Read({.wait = true}, to, 8).status().message(), HasSubstr("Device::Wait()"));
  EXPECT_THAT(pool.Read({.stride = 4, .wide = true}, to, 8).status().message(),
              HasSubstr("multiple of 8"));
  EXPECT_THAT(pool.Available(2).status().message(), HasSubstr("of a pool of 2"));
  EXPECT_THAT(
      Make({.kind = QueryKind::kTimestamp}).Read({.partial = true}, to, 8).status().message(),
      HasSubstr("no partial result"));
  const auto blind = QueryPool::Create(kGfx9, {}, {.address = 16, .size = 100});
  ASSERT_TRUE(blind.ok());
  EXPECT_THAT(blind->Read({}, to, 8).status().message(), HasSubstr("cannot see"));
  EXPECT_THAT(blind->Reset(0, 1).message(), HasSubstr("cannot see"));
}

TEST(TimestampClockTest, TimeIsExact) {
  constexpr TimestampClock kClock = {.hertz = 12000000, .bits = 36};
  EXPECT_EQ(Nanoseconds(kClock, 12000000), 1000000000u);
  EXPECT_EQ(Nanoseconds(kClock, 1), 83u);
  EXPECT_EQ(Nanoseconds(kClock, 3), 250u);
  EXPECT_EQ(Nanoseconds(kClock, (uint64_t{1} << 36) - 1), 5726623061250u);
  EXPECT_EQ(Nanoseconds({.hertz = 1}, ~uint64_t{0}), ~uint64_t{0});
  EXPECT_EQ(Nanoseconds({}, 5), 0u);
  EXPECT_FLOAT_EQ(NanosecondsOfTick({.hertz = 19200000}), 52.083333f);
}

TEST(TimestampClockTest, CountersWrap) {
  constexpr TimestampClock kClock = {.hertz = 12000000, .bits = 36};
  EXPECT_EQ(TicksBetween(kClock, 0xffffffff0, 0x10), 0x20u);
  EXPECT_EQ(TicksBetween({.hertz = 1, .bits = 64}, 5, 9), 4u);
  uint64_t time = 0xfffffff00;
  time = ExtendTimestamp(kClock, time, 0x100);
  EXPECT_EQ(time, 0x1000000100u);
  EXPECT_EQ(ExtendTimestamp(kClock, time, 0x200), 0x1000000200u);
}

}  // namespace
}  // namespace packsmith::intel
