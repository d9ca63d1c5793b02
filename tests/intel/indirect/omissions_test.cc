// What stands between the kernel that writes draws and the streamer that executes them, left out on
// purpose, is found by the simulator: reads that come too early, commands that are stale.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/sim/observer.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/indirect/indirect_world.h"

namespace packsmith::intel {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

template <class Gen>
class OmissionsTest : public IndirectWorld<Gen> {
 protected:
  using G = typename Gen::Packets;
  using Pipe = typename Gen::PipeControl;

  std::vector<TestList> Lists() {
    std::vector<TestList> lists(2);
    for (TestList& test : lists) {
      test.list.draws = 10;
      test.list.reads_base = test.list.reads_number = true;
      for (uint32_t i = 0; i < 40; ++i) test.words.push_back(1 + i % 4);
      test.count = 9;
    }
    this->Place(lists);
    return lists;
  }
  // Runs lists with the commands of the batches changed by change(words), which returns whether it
  // has. The kinds of problems; none of a run without changes. The commands are restored.
  using Change = std::function<bool(std::vector<uint32_t>&)>;
  std::vector<sim::ProblemKind> Found(const DrawThresholds& thresholds, const Change& change,
                                      int only = -1) {
    std::vector<TestList> lists = Lists();
    Batch<Gen> batch(this->memory_.chunks);
    IndirectDrawer<Gen> drawer(batch, this->Options(thresholds, 4));
    this->BuildDrawn(batch, drawer, lists);
    this->Run(batch, lists);
    EXPECT_EQ(this->wrong_, "");
    const auto commands = this->hardware_.commands;
    changed_ = 0;
    for (const auto& [at, command] : commands) {
      std::vector<uint32_t> words = command.words;
      if (!change(words)) continue;
      if (only == -1 || only == static_cast<int>(changed_)) this->Poke(at, words);
      ++changed_;
    }
    this->Run(batch, lists);
    std::vector<sim::ProblemKind> kinds;
    for (const sim::Problem& problem : this->hardware_.problems) kinds.push_back(problem.kind);
    return kinds;
  }
  static Change Pipes(const std::function<bool(Pipe&)>& change) {
    return [change](std::vector<uint32_t>& words) {
      if (!Pipe::matches(words[0])) return false;
      Pipe pipe = Pipe::unpack(words.data());
      if (!change(pipe)) return false;
      EXPECT_FALSE(pipe.pack(words.data()));
      return true;
    };
  }
  static bool Clear(bool& bit) { return std::exchange(bit, false); }
  static bool ClearData(Pipe& pipe) {
    bool any = Clear(pipe.dc_flush_enable);
    if constexpr (requires { pipe.hdc_pipeline_flush_enable; }) {
      any |= Clear(pipe.hdc_pipeline_flush_enable);
    }
    if constexpr (requires { pipe.untyped_data_port_cache_flush_enable; }) {
      any |= Clear(pipe.untyped_data_port_cache_flush_enable);
    }
    return any;
  }
  static constexpr DrawThresholds kInPlace{.generated = 0, .ring = ~0u};
  static constexpr DrawThresholds kRing{.generated = 0, .ring = 0};
  size_t changed_ = 0;
};
TYPED_TEST_SUITE(OmissionsTest, Generations);

TYPED_TEST(OmissionsTest, WithoutFlushesOfDataTheStreamerFetchesTooEarly) {
  for (const DrawThresholds& way : {this->kInPlace, this->kRing}) {
    EXPECT_THAT(this->Found(way, this->Pipes(this->ClearData)), Contains(sim::ProblemKind::kEarly));
    EXPECT_GT(this->changed_, 0u);
  }
}

TYPED_TEST(OmissionsTest, WithoutStallsFlushesAreNotComplete) {
  const auto clear = this->Pipes([](auto& pipe) {
    // A stall with a write completes a flush, too.
    const bool any = std::exchange(pipe.command_streamer_stall_enable, false);
    pipe.post_sync_operation = 0;
    return any;
  });
  for (const DrawThresholds& way : {this->kInPlace, this->kRing}) {
    EXPECT_THAT(this->Found(way, clear), Contains(sim::ProblemKind::kEarly));
  }
}

TYPED_TEST(OmissionsTest, WithoutInvalidationVerticesAreReadTooEarly) {
  if (this->kExtended) return;  // draws have no vertex buffers of their own
  const auto clear = this->Pipes(
      [](auto& pipe) { return std::exchange(pipe.vf_cache_invalidation_enable, false); });
  for (const DrawThresholds& way : {this->kInPlace, this->kRing}) {
    EXPECT_THAT(this->Found(way, clear), Contains(sim::ProblemKind::kEarly));
    EXPECT_GT(this->changed_, 0u);
  }
}

// Each of them: that of the generation batch, and that of each loop.
TYPED_TEST(OmissionsTest, WithoutTurningThePreParserOffDrawsAreStale) {
  using Gen = TypeParam;
  const typename TestFixture::Change off = [](std::vector<uint32_t>& words) {
    using Check = typename Gen::Packets::MI_ARB_CHECK;
    if constexpr (kHasPreParser<Gen>) {
      if (!Check::matches(words[0]) || !Check::unpack(words.data()).pre_parser_disable)
        return false;
      words[0] = BatchCommandsOf<Gen>::kNoop.dw[0];
      return true;
    } else {
      return false;
    }
  };
  for (const DrawThresholds& way : {this->kInPlace, this->kRing}) {
    this->Found(way, off);
    const size_t switches = this->changed_;
    if (!kHasPreParser<Gen>) {
      EXPECT_EQ(switches, 0u);
      continue;
    }
    EXPECT_GT(switches, 0u);
    for (size_t i = 0; i < switches; ++i) {
      EXPECT_THAT(this->Found(way, off, static_cast<int>(i)), Contains(sim::ProblemKind::kStale))
          << i;
    }
  }
}

// The streamer counts a ring's draws in memory, which the kernel reads.
TYPED_TEST(OmissionsTest, WithoutBarriersTheKernelReadsAnOldNumberOfDraws) {
  const auto remove = [](std::vector<uint32_t>& words) {
    if (!TypeParam::PipeControl::matches(words[0])) return false;
    std::fill(words.begin(), words.end(), BatchCommandsOf<TypeParam>::kNoop.dw[0]);
    return true;
  };
  EXPECT_THAT(this->Found(this->kRing, remove), Contains(sim::ProblemKind::kEarly));
}

// Where no pipelines are selected, nothing but one packet makes draws visible.
TYPED_TEST(OmissionsTest, EachBarrierOfAGroupIsNeeded) {
  if (TypeParam::kFacts.selects_pipeline) return;  // selections write back what barriers would
  const auto data = this->Pipes(this->ClearData);
  this->Found(this->kInPlace, data);
  const size_t barriers = this->changed_;
  EXPECT_EQ(barriers, 1u);
  EXPECT_THAT(this->Found(this->kInPlace, data, 0), Contains(sim::ProblemKind::kEarly));
}

// A list that is added to a group is generated where the group begins: what is stored after that
// needs another group.
TYPED_TEST(OmissionsTest, WhatIsStoredAfterAGroupBeganIsNotSeenWithoutAnotherGroup) {
  std::vector<TestList> lists = this->Lists();
  lists[1].rewrite = 3;
  for (bool closes : {true, false}) {
    this->Place(lists);
    Batch<TypeParam> batch(this->memory_.chunks);
    IndirectDrawer<TypeParam> drawer(batch, this->Options(this->kInPlace));
    this->BuildDrawn(batch, drawer, lists, closes);
    EXPECT_EQ(this->Run(batch, lists).size(), closes ? 9u + 3u : 9u + 9u);
    EXPECT_EQ(this->wrong_, "");
  }
}

}  // namespace
}  // namespace packsmith::intel
