// Secondary batches with draws in memory: however they are executed, the draws equal those of a
// plain loop.
#include "runtime/intel/batch/secondaries.h"

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/indirect/indirect_world.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

template <class Gen>
class SecondariesTest : public IndirectWorld<Gen> {
 protected:
  enum class End { kSecondLevel, kReturning };

  // Lists in a secondary, executed twice by a batch.
  void Execute(std::mt19937& random, const DrawThresholds& thresholds, End end,
               absl::Span<const SecondaryRule> rules, SecondaryWay expected_way) {
    const bool generates = end == End::kReturning && thresholds.generated != ~0u;
    std::vector<TestList> lists = this->RandomLists(random, !generates);
    for (TestList& list : lists) list.rewrite.reset();
    this->Place(lists);
    Batch<Gen> plain(this->memory_.chunks);
    this->BuildPlain(plain, lists);
    const std::vector<SeenDraw> once = this->Run(plain, lists);
    ASSERT_EQ(this->wrong_, "");
    std::vector<SeenDraw> expected = once;
    expected.insert(expected.end(), once.begin(), once.end());

    Batch<Gen> secondary(this->memory_.chunks, {.second_level = end == End::kSecondLevel});
    // Where there is a pre-parser, a batch that is called with a return address turns it on.
    for (const auto& packet : PreParser<Gen>(true)) ASSERT_TRUE(secondary.Emit(packet));
    IndirectDrawer<Gen> drawer(secondary, this->Options(thresholds));
    for (size_t i = 0; i < lists.size(); ++i) {
      ASSERT_TRUE(drawer.Draw(lists[i].list, [&](bool dispatched) {
        return this->EmitState(secondary, i, lists[i], i == 0 || dispatched);
      })) << secondary.status();
    }
    ASSERT_TRUE(drawer.End());
    std::optional<address> slot;
    if (end == End::kReturning) {
      slot = Must(secondary.EndReturning());
    } else {
      ASSERT_TRUE(secondary.End().ok());
    }
    Batch<Gen> batch(this->memory_.chunks);
    ASSERT_TRUE(this->SelectDraws(batch));
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(Must(EmitSecondary<Gen>(batch, {secondary, slot}, rules)), expected_way);
    }
    ASSERT_TRUE(batch.End().ok()) << batch.status();
    for (const gpu::BufferUse& use : secondary.uses().all()) {
      if (expected_way == SecondaryWay::kCopied) break;  // those of its packets only
      EXPECT_TRUE(batch.uses().Find(use.buffer).has_value());
    }
    const std::vector<SeenDraw> seen = this->Run(batch, lists);
    ASSERT_EQ(this->wrong_, "");
    ASSERT_EQ(seen.size(), expected.size());
    for (size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], expected[i]) << i;
  }
};
TYPED_TEST_SUITE(SecondariesTest, Generations);

TYPED_TEST(SecondariesTest, ExecutedInEachWayTheyDrawTheSame) {
  constexpr DrawThresholds kNever{.generated = ~0u, .ring = ~0u}, kAll{.generated = 0, .ring = 9};
  constexpr SecondaryRule kCopied[] = {{SecondaryWay::kCopied}};
  constexpr SecondaryRule kSecondLevel[] = {{SecondaryWay::kSecondLevel}};
  constexpr SecondaryRule kReturning[] = {{SecondaryWay::kReturning}};
  using End = typename TestFixture::End;
  std::mt19937 random(3);
  for (int round = 0; round < 6; ++round) {
    this->Execute(random, kNever, End::kSecondLevel, kSecondLevel, SecondaryWay::kSecondLevel);
    this->Execute(random, kNever, End::kSecondLevel, kCopied, SecondaryWay::kCopied);
    this->Execute(random, kNever, End::kReturning, kReturning, SecondaryWay::kReturning);
    this->Execute(random, kAll, End::kReturning, kReturning, SecondaryWay::kReturning);
    if (this->HasFatalFailure()) return;
  }
  // Second-level batches have no generated draws: the kernel writes jumps of first-level ones.
  this->hardware_.generated = 0;
  this->Execute(random, {.generated = 0, .ring = 0}, End::kSecondLevel, kSecondLevel,
                SecondaryWay::kSecondLevel);
  EXPECT_EQ(this->hardware_.generated, 0u);
}

TYPED_TEST(SecondariesTest, ThoseThatReturnByAJumpAreCalledHoweverSmall) {
  using Gen = TypeParam;
  gpu::HostChunks chunks;
  Batch<Gen> secondary(chunks), batch(chunks);
  ASSERT_TRUE(secondary.Emit(typename Gen::PipeControl{}));
  const address slot = Must(secondary.EndReturning());
  EXPECT_EQ(Must(EmitSecondary<Gen>(batch, {secondary, slot})), SecondaryWay::kReturning);
  Batch<Gen> second_level(chunks, {.second_level = true});
  const auto way = EmitSecondary<Gen>(second_level, {secondary, slot});
  EXPECT_THAT(way.status().message(), HasSubstr("a jump whose target its caller stores"));
}

TYPED_TEST(SecondariesTest, ThoseThatShadersWriteAreNotCopied) {
  using Gen = TypeParam;
  gpu::HostChunks chunks;
  Batch<Gen> secondary(chunks), batch(chunks);
  ASSERT_TRUE(EmitRoomForDraws(secondary, {.items = 2}).ok());
  ASSERT_TRUE(secondary.End().ok());
  EXPECT_FALSE(batch.Append(secondary));
  EXPECT_THAT(batch.TakeStatus().message(), HasSubstr("a copy would not be written"));
  const auto way = EmitSecondary<Gen>(batch, {secondary});
  EXPECT_EQ(way.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(way.status().message(), HasSubstr("returning: it did not end with EndReturning()"));
  EXPECT_EQ(batch.TakeStatus(), way.status());
  EXPECT_EQ(batch.dwords(), 0u);
  secondary.Reset();
  EXPECT_TRUE(batch.Append(secondary));
}

}  // namespace
}  // namespace packsmith::intel
