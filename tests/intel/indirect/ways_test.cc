// Draws in memory, executed in each way: they equal those of a plain loop, draw by draw.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/file.h"
#include "runtime/intel/compute/kernel_binary.h"
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
    for (int round = 0; round < 30; ++round) {
      SCOPED_TRACE(testing::Message() << "round " << round);
      Compare(random, thresholds, classic);
      if (this->HasFatalFailure()) return;
    }
    EXPECT_GT(drawn_, 150u);
  }
  // Of more slots than one thread group has items, with a count at, above and far above the slots.
  void DrawLongRings() {
    constexpr uint32_t kItems = 300, kDraws = 2 * kItems + 50;
    std::vector<TestList> lists(1);
    lists[0].list = {.draws = kDraws, .reads_number = true};
    for (uint32_t i = 0; i < kDraws; ++i) lists[0].words.insert(lists[0].words.end(), {3, 1, i, 0});
    for (uint32_t count : {kItems, kItems + 1, kDraws + 1}) {
      lists[0].count = count;
      this->Place(lists);
      Batch<Gen> batch(this->memory_.chunks);
      IndirectDrawerOptions options = this->Options({});
      options.ring_items = kItems;
      IndirectDrawer<Gen> drawer(batch, options);
      this->BuildDrawn(batch, drawer, lists);
      EXPECT_EQ(drawer.way(), DrawWay::kRing);
      const std::vector<SeenDraw> draws = this->Run(batch, lists);
      ASSERT_EQ(this->wrong_, "");
      ASSERT_EQ(draws.size(), std::min(count, kDraws));
      for (uint32_t i = 0; i < draws.size(); ++i) {
        ASSERT_EQ(draws[i].numbers.at(sim::ParameterKind::kFirst), i);
        ASSERT_EQ(draws[i].values.back(), i);
      }
    }
  }
  size_t drawn_ = 0;
};
TYPED_TEST_SUITE(WaysTest, Generations);

TYPED_TEST(WaysTest, TheStreamersDrawsEqualAPlainLoop) {
  this->CompareAll(kNever, true);
  EXPECT_GT(this->ways_[DrawWay::kClassic], 20);
  EXPECT_EQ(this->hardware_.generated, 0u);
  EXPECT_EQ(this->ways_[DrawWay::kOnePacket] != 0, TypeParam::kFacts.executes_indirect_draws);
}

TYPED_TEST(WaysTest, DrawsInPlaceEqualAPlainLoop) {
  this->CompareAll(kAllInPlace);
  EXPECT_GT(this->ways_[DrawWay::kInPlace], 20);
  EXPECT_GT(this->hardware_.generated, 150u);
}

TYPED_TEST(WaysTest, DrawsInARingEqualAPlainLoop) {
  this->CompareAll(kAllInRings);
  EXPECT_GT(this->ways_[DrawWay::kRing], 20);
}

TYPED_TEST(WaysTest, ListsOfDifferentWaysMayFollowEachOther) {
  this->CompareAll(kMixed);
  for (DrawWay way : {DrawWay::kClassic, DrawWay::kInPlace, DrawWay::kRing}) {
    EXPECT_GT(this->ways_[way], 5) << NameOf(way);
  }
}

TYPED_TEST(WaysTest, ALongRingHasSeveralPasses) { this->DrawLongRings(); }

// A file that Intel's compiler has made of the kernel: its dispatches give the kernel what it reads
// where the compiler says that it reads it.
TYPED_TEST(WaysTest, DrawsOfACompiledKernelEqualAPlainLoop) {
  const char* const path = std::getenv("PACKSMITH_COMPILED_KERNEL");
  if (path == nullptr) {
    GTEST_SKIP() << "no compiled kernel is named; //tests/clients:generated_draws_test names them";
  }
  const absl::StatusOr<FileBytes> file = OpenFile(path);
  ASSERT_TRUE(file.ok()) << file.status();
  const std::vector<KernelBinary> binaries = Must(ReadKernelBinaries(file->bytes));
  ASSERT_EQ(binaries.size(), 1u);
  this->Load(binaries[0]);
  if (this->HasFatalFailure()) return;
  this->CompareAll(kMixed);
  for (DrawWay way : {DrawWay::kInPlace, DrawWay::kRing}) EXPECT_GT(this->ways_[way], 5);
  EXPECT_GT(this->hardware_.generated, 150u);
  this->DrawLongRings();
}

// What docs/indirect.md says: dwords that the streamer reads for one more draw.
TYPED_TEST(WaysTest, ADrawTakesAsManyDwordsAsThePageSays) {
  using Gen = TypeParam;
  const auto dwords = [&](const DrawThresholds& thresholds, bool reads, uint32_t draws) {
    std::vector<TestList> lists(1);
    lists[0].list = {.draws = draws, .indexed = true, .reads_base = reads, .reads_number = reads};
    lists[0].words.resize(draws * 5);
    this->Place(lists);
    Batch<Gen> batch(this->memory_.chunks);
    IndirectDrawer<Gen> drawer(batch, this->Options(thresholds));
    this->BuildDrawn(batch, drawer, lists);
    return batch.dwords();
  };
  const auto of = [&](const DrawThresholds& thresholds, bool reads) {
    return dwords(thresholds, reads, 9) - dwords(thresholds, reads, 8);
  };
  const bool one_packet = Gen::kFacts.executes_indirect_draws;
  EXPECT_EQ(of(kNever, false), one_packet ? 0u : 27u);
  EXPECT_EQ(of(kNever, true), this->kExtended ? 41u : 36u);
  EXPECT_EQ(of(kAllInPlace, false), one_packet ? 0u : this->kExtended ? 10u : 7u);
  EXPECT_EQ(of(kAllInPlace, true), this->kExtended ? 10u : 16u);
  EXPECT_EQ(of(kAllInRings, true), 0u);  // they are in the ring
}

TYPED_TEST(WaysTest, WhatCannotBeDrawnIsRefused) {
  using Gen = TypeParam;
  const auto refused = [&](const DrawList& list, const IndirectDrawerOptions& options) {
    Batch<Gen> batch(this->memory_.chunks);
    IndirectDrawer<Gen> drawer(batch, options);
    EXPECT_FALSE(drawer.Draw(list, [](bool) { return true; }));
    return std::string(batch.TakeStatus().message());
  };
  IndirectDrawerOptions options = this->Options(kAllInPlace);
  const DrawList list = {
      .arguments = {this->data_.address, this->data_.handle}, .draws = 5, .reads_number = true};
  DrawList odd = list;
  odd.stride = 18;
  EXPECT_THAT(refused(odd, options), HasSubstr("18 bytes; it must be a multiple of 4"));
  GenerationKernel kernel = this->kernel_;
  options.kernel = &kernel;
  kernel.kernel.local_size = {16, 1, 1};
  for (const DrawThresholds& way : {kAllInPlace, kAllInRings}) {
    options.thresholds = way;
    EXPECT_THAT(refused(list, options), HasSubstr("groups of 16 x 1 x 1"));
  }
  kernel = this->kernel_;
  options.ring_items = 0;
  EXPECT_THAT(refused(list, options), HasSubstr("1 to 8192"));
  options = this->Options(kNever);
  options.states = nullptr;
  if (!this->kExtended) {
    EXPECT_THAT(refused(list, options), HasSubstr("states"));
  }
  // The state of draws may fail.
  for (const DrawThresholds& way : {kNever, kAllInPlace, kAllInRings}) {
    Batch<Gen> batch(this->memory_.chunks);
    IndirectDrawer<Gen> drawer(batch, this->Options(way));
    EXPECT_FALSE(
        drawer.Draw(list, [&](bool) { return batch.Refuse(absl::AbortedError("no state")); }));
    EXPECT_EQ(batch.TakeStatus().message(), "no state");
    EXPECT_FALSE(drawer.Draw(list, [](bool) { return false; }));
    EXPECT_THAT(batch.status().message(), HasSubstr("was not emitted"));
  }
}

}  // namespace
}  // namespace packsmith::intel
