#include "runtime/base/number_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>

namespace packsmith {
namespace {

TEST(NumberMap, FindsWhatWasAdded) {
  NumberMap map;
  EXPECT_EQ(map.Find(0), NumberMap::kNone);
  map.Add(0, 0);
  map.Add(~uint32_t{0}, 1);
  EXPECT_EQ(map.Find(0), 0u);
  EXPECT_EQ(map.Find(~uint32_t{0}), 1u);
  EXPECT_EQ(map.Find(1), NumberMap::kNone);
}

TEST(NumberMap, AgreesWithAnOrdinaryMap) {
  std::mt19937 random(1);
  NumberMap map;
  std::map<uint32_t, uint32_t> expected;
  for (uint32_t place = 0; place < 5000; ++place) {
    // Of a few keys, many are the same; of all keys, hardly any.
    const auto key = static_cast<uint32_t>(place % 2 == 0 ? random() % 4096 : random());
    const bool added = expected.emplace(key, place).second;
    ASSERT_EQ(map.Find(key) == NumberMap::kNone, added) << key;
    if (added) map.Add(key, place);
  }
  for (const auto& [key, place] : expected) EXPECT_EQ(map.Find(key), place) << key;
  for (uint32_t key = 0; key < 4096; ++key) {
    EXPECT_EQ(map.Find(key) == NumberMap::kNone, expected.count(key) == 0) << key;
  }
}

TEST(NumberMap, ForgetsAllWhenCleared) {
  NumberMap map;
  for (uint32_t key = 0; key < 1000; ++key) map.Add(key, key);
  map.Clear();
  for (uint32_t key = 0; key < 1000; ++key) EXPECT_EQ(map.Find(key), NumberMap::kNone);
  map.Add(7, 3);
  EXPECT_EQ(map.Find(7), 3u);
}

}  // namespace
}  // namespace packsmith
