// Draws in memory, executed in each way: they equal those of a plain loop, draw by draw.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/indirect/indirect_world.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr DrawThresholds kNever{.generated = ~0u, .ring = ~0u};
constexpr DrawThresholds kAllInPlace{.generated = 0, .ring = ~0u};
constexpr DrawThresholds kAllInRings{.generated = 0, .ring = 0};
constexpr DrawThresholds kMixed{.generated = 3, .ring = 9};

template <class Gen>
class WaysTest : public IndirectWorld<Gen> {
 protected:
  void Compare(std::mt19937& random, const DrawThresholds& thresholds, bool classic = false) {
    std::vector<TestList> lists = this->RandomLists(random, classic);
    this->Place(lists);
    Batch<Gen> plain(this->memory_.chunks);
    this->BuildPlain(plain, lists);
    const std::vector<SeenDraw> expected = this->Run(plain, lists);
    ASSERT_EQ(this->wrong_, "");
    this->Place(lists);  // counts that the batch has stored
    Batch<Gen> batch(this->memory_.chunks);
    IndirectDrawer<Gen> drawer(batch, this->Options(thresholds));
    this->BuildDrawn(batch, drawer, lists);
    for (int run = 0; run < 2; ++run) {
      this->Place(lists);
      const std::vector<SeenDraw> seen = this->Run(batch, lists);
      ASSERT_EQ(this->wrong_, "") << "run " << run;
      ASSERT_EQ(seen.size(), expected.size());
      for (size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], expected[i]) << "draw " << i;
    }
    drawn_ += expected.size();
  }
  void CompareAll(const DrawThresholds& thresholds, bool classic = false) {
    std::mt19937 random(1);
    for (int round = 0; round < 60; ++round) {
      SCOPED_TRACE(testing::Message() << "round " << round);
      Compare(random, thresholds, classic);
      if (this->HasFatalFailure()) return;
    }
    EXPECT_GT(drawn_, 300u);
  }
  size_t drawn_ = 0;
};
TYPED_TEST_SUITE(WaysTest, Generations);

TYPED_TEST(WaysTest, TheStreamersDrawsEqualAPlainLoop) {
  this->CompareAll(kNever, true);
  EXPECT_GT(this->ways_[DrawWay::kClassic], 50);
  EXPECT_EQ(this->hardware_.generated, 0u);
  EXPECT_EQ(this->ways_[DrawWay::kOnePacket] != 0, TypeParam::kFacts.executes_indirect_draws);
}

TYPED_TEST(WaysTest, DrawsInPlaceEqualAPlainLoop) {
  this->CompareAll(kAllInPlace);
  EXPECT_GT(this->ways_[DrawWay::kInPlace], 50);
  EXPECT_GT(this->hardware_.generated, 300u);
}

TYPED_TEST(WaysTest, DrawsInARingEqualAPlainLoop) {
  this->CompareAll(kAllInRings);
  EXPECT_GT(this->ways_[DrawWay::kRing], 50);
}

TYPED_TEST(WaysTest, ListsOfDifferentWaysMayFollowEachOther) {
  this->CompareAll(kMixed);
  for (DrawWay way : {DrawWay::kClassic, DrawWay::kInPlace, DrawWay::kRing}) {
    EXPECT_GT(this->ways_[way], 10) << NameOf(way);
  }
}

}  // namespace
}  // namespace packsmith::intel
