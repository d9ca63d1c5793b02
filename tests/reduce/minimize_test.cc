#include "runtime/reduce/minimize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

namespace packsmith::reduce {
namespace {

using Set = std::vector<size_t>;

// Answers yes for sets that have all of `needed`.
auto Needs(Set needed, std::vector<Set>* asked = nullptr) {
  return [needed = std::move(needed), asked](const Set& set) {
    if (asked != nullptr) asked->push_back(set);
    return std::includes(set.begin(), set.end(), needed.begin(), needed.end()) ? Answer::kYes
                                                                               : Answer::kNo;
  };
}

TEST(Minimize, KeepsExactlyWhatIsNeeded) {
  for (const Set& needed : {Set{}, Set{0}, Set{99}, Set{3, 50, 98}, Set{10, 11, 12, 13}}) {
    const Minimum minimum = Minimize(100, Needs(needed));
    EXPECT_TRUE(minimum.complete);
    EXPECT_EQ(minimum.kept, needed);
  }
}

TEST(Minimize, KeepsAllIfAllIsNeeded) {
  const Minimum minimum = Minimize(5, Needs({0, 1, 2, 3, 4}));
  EXPECT_EQ(minimum.kept, (Set{0, 1, 2, 3, 4}));
  EXPECT_TRUE(minimum.complete);
}

TEST(Minimize, OfNothingIsNothing) { EXPECT_TRUE(Minimize(0, Needs({})).complete); }

TEST(Minimize, CannotBeMadeSmallerByOneElement) {
  // Two of three suffice, and an even number is refused: not every subset of a good one is good.
  const auto test = [](const Set& set) {
    const auto has = [&](size_t n) { return std::count(set.begin(), set.end(), n) != 0; };
    return has(2) + has(30) + has(61) >= 2 && set.size() % 2 == 1 ? Answer::kYes : Answer::kNo;
  };
  const Minimum minimum = Minimize(63, test);
  EXPECT_EQ(test(minimum.kept), Answer::kYes);
  for (size_t i = 0; i < minimum.kept.size(); ++i) {
    Set less = minimum.kept;
    less.erase(less.begin() + static_cast<ptrdiff_t>(i));
    EXPECT_EQ(test(less), Answer::kNo);
  }
}

TEST(Minimize, AsksOnlyOnceAndFewTimes) {
  std::vector<Set> asked;
  Minimize(1000, Needs({17, 500, 983}, &asked));
  EXPECT_EQ(std::set<Set>(asked.begin(), asked.end()).size(), asked.size());
  EXPECT_LT(asked.size(), 150u);
  std::vector<Set> again;
  Minimize(1000, Needs({17, 500, 983}, &again));
  EXPECT_EQ(asked, again);
}

TEST(Minimize, StopsWithTheSmallestSoFar) {
  size_t runs = 0;
  const auto needs = Needs({1, 90});
  const Minimum minimum =
      Minimize(100, [&](const Set& set) { return ++runs > 8 ? Answer::kStop : needs(set); });
  EXPECT_FALSE(minimum.complete);
  EXPECT_EQ(runs, 9u);
  EXPECT_LT(minimum.kept.size(), 100u);
  EXPECT_EQ(needs(minimum.kept), Answer::kYes);
}

}  // namespace
}  // namespace packsmith::reduce
