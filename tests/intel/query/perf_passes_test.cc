#include "runtime/intel/query/perf_passes.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The least number of passes, by trying all sets of metric sets.
size_t LeastPasses(const std::vector<PerfCounterSets>& wanted, unsigned sets) {
  size_t least = ~size_t{0};
  for (uint32_t chosen = 0; chosen < 1u << sets; ++chosen) {
    const bool all = std::all_of(wanted.begin(), wanted.end(), [&](const PerfCounterSets& counter) {
      return std::any_of(counter.sets.begin(), counter.sets.end(),
                         [&](MetricSet set) { return (chosen >> set & 1) != 0; });
    });
    if (all) least = std::min(least, static_cast<size_t>(__builtin_popcount(chosen)));
  }
  return least;
}

TEST(PerfPassesTest, OneSetMayHaveAll) {
  const std::vector<PerfCounterSets> wanted = {{"GpuTime", {1, 2}}, {"EuActive", {2}}};
  const auto passes = PlanPerfPasses(wanted);
  ASSERT_TRUE(passes.ok());
  EXPECT_THAT(passes->sets, ElementsAre(2u));
  EXPECT_THAT(passes->pass_of, ElementsAre(0u, 0u));
}

TEST(PerfPassesTest, NothingNeedsNoPass) {
  const auto passes = PlanPerfPasses({});
  ASSERT_TRUE(passes.ok());
  EXPECT_THAT(passes->sets, IsEmpty());
}

TEST(PerfPassesTest, ACounterWithoutASetIsAnError) {
  const std::vector<PerfCounterSets> wanted = {{"GpuTime", {1}}, {"Nothing", {}}};
  EXPECT_THAT(PlanPerfPasses(wanted).status().message(), HasSubstr("performance counter Nothing"));
}

// The largest set first would take three passes.
TEST(PerfPassesTest, TheLargestSetIsNotAlwaysRight) {
  std::vector<PerfCounterSets> wanted;
  for (unsigned i = 0; i < 6; ++i) wanted.push_back({"c", {i % 2 == 0 ? 1u : 2u}});
  for (const unsigned i : {0u, 1u, 2u, 3u}) wanted[i].sets.push_back(3);
  const auto passes = PlanPerfPasses(wanted);
  ASSERT_TRUE(passes.ok());
  EXPECT_THAT(passes->sets, ElementsAre(1u, 2u));
}

TEST(PerfPassesTest, PlansAreValidAndLeast) {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 500; ++round) {
    const unsigned sets = 2 + random() % 9;
    std::vector<PerfCounterSets> wanted(1 + random() % 80);
    for (PerfCounterSets& counter : wanted) {
      counter.sets.push_back(random() % sets);
      while (random() % 3 != 0) counter.sets.push_back(random() % sets);
    }
    const auto passes = PlanPerfPasses(wanted);
    ASSERT_TRUE(passes.ok());
    EXPECT_TRUE(passes->least);
    EXPECT_EQ(passes->sets.size(), LeastPasses(wanted, sets)) << "round " << round;
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_LT(passes->pass_of[i], passes->sets.size());
      EXPECT_THAT(wanted[i].sets, testing::Contains(passes->sets[passes->pass_of[i]]));
    }
  }
}

TEST(PerfPassesTest, HardCasesEndWithAValidPlan) {
  std::mt19937 random(2);
  std::vector<PerfCounterSets> wanted(200);
  for (PerfCounterSets& counter : wanted) {
    for (unsigned i = 0; i < 3; ++i) counter.sets.push_back(random() % 100);
  }
  const auto passes = PlanPerfPasses(wanted);
  ASSERT_TRUE(passes.ok());
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_THAT(wanted[i].sets, testing::Contains(passes->sets[passes->pass_of[i]]));
  }
}

}  // namespace
}  // namespace packsmith::intel
