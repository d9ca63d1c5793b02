// What stands between the kernel that writes draws and the streamer that executes them, left out on
// purpose, is found by the simulator: reads that come too early, commands that are stale.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/generated_draws.h"
#include "runtime/intel/batch/pipeline_select.h"
#include "runtime/intel/batch/stores.h"
#include "runtime/sim/observer.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/indirect/indirect_world.h"

namespace packsmith::intel {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

// A bit of a barrier whose absence nothing would show, because of another one.
struct Redundant {
  const char* field;
  const char* by;
  // In the packets before PIPELINE_SELECT and MEDIA_VFE_STATE; else in the same packet.
  bool of_selection;
};
constexpr Redundant kRedundant[] = {
    // From Gfx12 on a selection flushes the data port, and stalls; so does the front end.
    {"hdc_pipeline_flush_enable", "hdc_pipeline_flush_enable", true},
    {"untyped_data_port_cache_flush_enable", "untyped_data_port_cache_flush_enable", true},
    {"command_streamer_stall_enable", "command_streamer_stall_enable", true},
    // Every barrier that stalls has a write, too (EmitBarrier); the streamer needs the stall only.
    {"post_sync_operation", "command_streamer_stall_enable", false},
    // The manual wants a write with the invalidation of vertices.
    {"post_sync_operation", "vf_cache_invalidation_enable", false},
    // What is old in the third level is invalidated for all its readers; some need both bits.
    {"constant_cache_invalidation_enable", "l3_read_only_cache_invalidation_enable", false},
    // Where a stall needs company.
    {"stall_at_pixel_scoreboard", "command_streamer_stall_enable", false},
};

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
  // -- One change at a time ---------------------------------------------------------------------

  struct Packet {
    uint64_t at = 0;
    size_t number = 0;  // in the order of execution
    std::vector<uint32_t> words;
    std::string next;  // the packet after it
  };
  void Build(const DrawThresholds& thresholds) {
    lists_ = Lists();
    batch_.emplace(this->memory_.chunks);
    IndirectDrawer<Gen> drawer(*batch_, this->Options(thresholds, 4));
    this->BuildDrawn(*batch_, drawer, lists_);
    this->Run(*batch_, lists_);
    EXPECT_EQ(this->wrong_, "");
    commands_.clear();
    for (const auto& [at, command] : this->hardware_.commands) {
      const auto& names = this->hardware_.names;
      commands_.push_back({at, command.number, command.words,
                           command.number + 1 < names.size() ? names[command.number + 1] : ""});
    }
    std::sort(commands_.begin(), commands_.end(),
              [](const Packet& a, const Packet& b) { return a.number < b.number; });
  }
  // PIPE_CONTROLs other than those that selecting a pipeline takes, which are selections_.
  std::vector<Packet> Barriers() {
    std::vector<std::vector<uint32_t>> flushes;
    for (Pipeline to : {Pipeline::k3D, Pipeline::kGpgpu}) {
      const auto rules = PipelineSelectRulesOf<Gen>(to);
      for (size_t i = 0; i < rules.flush_count; ++i) {
        flushes.emplace_back(Pipe::length);
        EXPECT_FALSE(rules.flushes[i].pack(flushes.back().data()));
      }
    }
    std::vector<Packet> barriers;
    selections_.clear();
    for (const Packet& packet : commands_) {
      if (!Pipe::matches(packet.words[0])) continue;
      const bool selects = std::find(flushes.begin(), flushes.end(), packet.words) != flushes.end();
      (selects ? selections_ : barriers).push_back(packet);
    }
    EXPECT_FALSE(selections_.empty());
    return barriers;
  }
  std::vector<Packet> Fences() const {
    std::vector<Packet> fences;
    if constexpr (requires { typename G::MI_MEM_FENCE; }) {
      for (const Packet& packet : commands_) {
        if (G::MI_MEM_FENCE::matches(packet.words[0])) fences.push_back(packet);
      }
    }
    return fences;
  }
  // Those that a PIPE_CONTROL without an effect does not have. What it writes is no bit of it.
  static std::vector<unsigned> BitsOf(const std::vector<uint32_t>& words) {
    uint32_t plain[Pipe::length] = {};
    EXPECT_FALSE(Pipe{}.pack(plain));
    std::vector<unsigned> bits;
    for (unsigned bit = 0; bit < 64; ++bit) {
      if (((words[bit / 32] ^ plain[bit / 32]) >> bit % 32 & 1) != 0) bits.push_back(bit);
    }
    return bits;
  }
  struct FieldFinder : bits::visitor<FieldFinder> {
    unsigned wanted = 0;
    std::string name;
    template <class Kind, class T>
    void member(const Kind&, const T&, unsigned bit, unsigned width, const char* its_name) {
      if (bit <= wanted && wanted < bit + width) name = its_name;
    }
  };
  static std::string FieldAt(unsigned bit) {
    FieldFinder finder;
    finder.wanted = bit;
    Pipe pipe;
    Pipe::ps_layout(pipe, finder);
    return finder.name;
  }
  static std::vector<uint32_t> Without(std::vector<uint32_t> words, unsigned bit) {
    words[bit / 32] ^= 1u << bit % 32;
    return words;
  }
  static std::vector<uint32_t> WithoutField(std::vector<uint32_t> words, const std::string& field) {
    for (unsigned bit : BitsOf(words)) {
      if (FieldAt(bit) == field) words = Without(words, bit);
    }
    return words;
  }
  // Whether a run with these packets in place of the original ones has a problem.
  bool IsFound(const std::map<uint64_t, std::vector<uint32_t>>& changed) {
    for (const auto& [at, words] : changed) this->Poke(at, words);
    this->Run(*batch_, lists_);
    const bool found = this->wrong_ != "";
    for (const Packet& packet : commands_) {
      if (changed.contains(packet.at)) this->Poke(packet.at, packet.words);
    }
    return found;
  }

  std::vector<TestList> lists_;
  std::optional<Batch<Gen>> batch_;
  std::vector<Packet> commands_, selections_;
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
  if (this->kExtended) GTEST_SKIP() << "draws have no vertex buffers of their own";
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
  if constexpr (!kHasPreParser<Gen>) {
    GTEST_SKIP() << "there is no pre-parser";
  } else {
    const typename TestFixture::Change off = [](std::vector<uint32_t>& words) {
      using Check = typename Gen::Packets::MI_ARB_CHECK;
      if (!Check::matches(words[0]) || !Check::unpack(words.data()).pre_parser_disable) {
        return false;
      }
      words[0] = BatchCommandsOf<Gen>::kNoop.dw[0];
      return true;
    };
    for (const DrawThresholds& way : {this->kInPlace, this->kRing}) {
      this->Found(way, off);
      const size_t switches = this->changed_;
      EXPECT_GT(switches, 0u);
      for (size_t i = 0; i < switches; ++i) {
        EXPECT_THAT(this->Found(way, off, static_cast<int>(i)), Contains(sim::ProblemKind::kStale))
            << i;
      }
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

// Up to Gfx11 there are no other barriers.
TYPED_TEST(OmissionsTest, WhereSelectingAPipelineSufficesItsFlushAndItsInvalidationAreNeeded) {
  if constexpr (!TypeParam::kFacts.select_forgets) {
    GTEST_SKIP() << "selecting a pipeline does not suffice";
  } else {
    for (const DrawThresholds& way : {this->kInPlace, this->kRing}) {
      EXPECT_THAT(this->Found(way, this->Pipes(this->ClearData)),
                  Contains(sim::ProblemKind::kEarly));
    }
    const auto constants = this->Pipes(
        [](auto& pipe) { return std::exchange(pipe.constant_cache_invalidation_enable, false); });
    EXPECT_THAT(this->Found(this->kRing, constants), Contains(sim::ProblemKind::kEarly));
  }
}

// Bit by bit, with nothing else changed. Selections of pipelines take packets that do not depend on
// what is in memory; //tests/intel/batch has them.
TYPED_TEST(OmissionsTest, EachBitOfEachBarrierIsNeededOrIsRedundantByWhatTheTableSays) {
  for (const DrawThresholds& way : {this->kInPlace, this->kRing}) {
    this->Build(way);
    const auto barriers = this->Barriers();
    ASSERT_FALSE(this->IsFound({}));
    for (const auto& barrier : barriers) {
      SCOPED_TRACE(testing::Message() << (way.ring == 0 ? "ring" : "in place") << ", packet "
                                      << barrier.number << ", before " << barrier.next);
      for (unsigned bit : this->BitsOf(barrier.words)) {
        const std::string field = this->FieldAt(bit);
        SCOPED_TRACE(field);
        if (this->IsFound({{barrier.at, this->Without(barrier.words, bit)}})) continue;
        bool named = false;
        for (const Redundant& row : kRedundant) {
          if (field != row.field) continue;
          std::map<uint64_t, std::vector<uint32_t>> changed;
          changed[barrier.at] = this->Without(barrier.words, bit);
          if (row.of_selection) {
            for (const auto& packet : this->selections_) {
              changed[packet.at] = this->WithoutField(packet.words, row.by);
            }
            for (const auto& packet : barriers) {
              if (packet.next != "MEDIA_VFE_STATE") continue;
              changed[packet.at] = this->WithoutField(packet.words, row.by);
            }
          } else {
            changed[barrier.at] = this->WithoutField(changed[barrier.at], row.by);
          }
          named = named || (this->IsFound(changed) && !this->hardware_.problems.empty());
        }
        EXPECT_TRUE(named) << "neither found, nor redundant by another bit";
      }
    }
    EXPECT_FALSE(barriers.empty());  // up to Gfx12 there are those before MEDIA_VFE_STATE
  }
}

// Stores of the streamer that it reads again wait in a queue. One of the fences in between would
// do, but that of a barrier is for another reader.
TYPED_TEST(OmissionsTest, EachFenceIsNeededOrIsRedundantByTheOthers) {
  if constexpr (WaitForStores<TypeParam>::kLength == 0) {
    GTEST_SKIP() << "stores do not wait in a queue";
  } else {
    this->Build(this->kInPlace);
    EXPECT_TRUE(this->Fences().empty());  // the streamer stores nothing
    this->Build(this->kRing);
    const auto fences = this->Fences();
    ASSERT_FALSE(fences.empty());
    ASSERT_FALSE(this->IsFound({}));
    const std::vector<uint32_t> noop(1, BatchCommandsOf<TypeParam>::kNoop.dw[0]);
    std::map<uint64_t, std::vector<uint32_t>> all;
    for (const auto& fence : fences) {
      ASSERT_EQ(fence.words.size(), noop.size());
      all[fence.at] = noop;
    }
    for (const auto& fence : fences) {
      EXPECT_TRUE(this->IsFound({{fence.at, noop}}) || this->IsFound(all)) << fence.number;
    }
  }
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
