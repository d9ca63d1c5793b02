#include "runtime/compare/align.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace packsmith::compare {
namespace {

using Keys = std::vector<uint64_t>;

// The length of the longest common subsequence, by the definition.
size_t LongestCommon(const Keys& a, const Keys& b) {
  std::vector<size_t> row(b.size() + 1, 0);
  for (const uint64_t key : a) {
    size_t diagonal = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = key == b[j] ? diagonal + 1 : std::max(above, row[j]);
      diagonal = above;
    }
  }
  return row.back();
}

void ExpectValid(const Keys& a, const Keys& b, const std::vector<Match>& matches) {
  for (size_t i = 0; i < matches.size(); ++i) {
    ASSERT_LT(matches[i].a, a.size());
    ASSERT_LT(matches[i].b, b.size());
    EXPECT_EQ(a[matches[i].a], b[matches[i].b]);
    if (i == 0) continue;
    EXPECT_LT(matches[i - 1].a, matches[i].a);
    EXPECT_LT(matches[i - 1].b, matches[i].b);
  }
}

Keys RandomKeys(std::mt19937& random, size_t most, uint64_t kinds) {
  Keys keys(random() % (most + 1));
  for (uint64_t& key : keys) key = random() % kinds;
  return keys;
}

TEST(Align, FindsTheLongestCommonSubsequence) {
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    const uint64_t kinds = 1 + random() % 8;
    const Keys a = RandomKeys(random, 24, kinds), b = RandomKeys(random, 24, kinds);
    const std::vector<Match> matches = Align(a, b);
    ExpectValid(a, b, matches);
    EXPECT_EQ(matches.size(), LongestCommon(a, b)) << "round " << round;
  }
}

TEST(Align, EmptySequencesHaveNoMatches) {
  EXPECT_TRUE(Align({}, {}).empty());
  EXPECT_TRUE(Align({1, 2}, {}).empty());
  EXPECT_TRUE(Align({}, {1, 2}).empty());
}

TEST(Align, InsertedAndRemovedElementsAreLeftOut) {
  Keys a(5000);
  for (size_t i = 0; i < a.size(); ++i) a[i] = i % 7;
  Keys b = a;
  b.insert(b.begin() + 1000, 99);
  b.erase(b.begin() + 4000);
  const std::vector<Match> matches = Align(a, b);
  ExpectValid(a, b, matches);
  EXPECT_EQ(matches.size(), 4999u);
}

// Without a bound on the work this would take a minute.
TEST(Align, VeryDifferentSequencesEndSoon) {
  std::mt19937 random(2);
  Keys a(10'000), b(10'000);
  for (uint64_t& key : a) key = random() % 50;
  for (uint64_t& key : b) key = random() % 50;
  const std::vector<Match> matches = Align(a, b);
  ExpectValid(a, b, matches);
  EXPECT_GT(matches.size(), 1'500u);
}

TEST(AlignRest, AddsMatchesBetweenThoseThatThereAre) {
  std::vector<Match> matches = {{2, 1}};
  // Elements with equal keys on different sides of the match must not meet.
  AlignRest({1, 2, 3, 4, 5}, {1, 3, 2, 5}, matches);
  EXPECT_EQ(matches, (std::vector<Match>{{0, 0}, {2, 1}, {4, 3}}));
}

}  // namespace
}  // namespace packsmith::compare
