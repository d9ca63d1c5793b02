// Draws in memory, executed in each way: they equal those of a plain loop, draw by draw.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
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

// What one more draw takes, as docs/indirect.md says.
TYPED_TEST(WaysTest, ADrawTakesWhatThePageSays) {
  using Gen = TypeParam;
  struct Cost {
    DrawWay way = DrawWay::kNone;
    int64_t commands = 0, bytes = 0;  // that the streamer executes
    int64_t numbers = 0;              // bytes that it loads
    int64_t read = 0, written = 0;    // by the kernel
  };
  // Of 8 or 9 draws.
  const auto all_of = [&](const DrawThresholds& thresholds, const DrawList& list) {
    std::vector<TestList> lists(1);
    lists[0].list = list;
    lists[0].words.resize(list.draws * list.Stride() / 4);
    if (list.count.has_value()) lists[0].count = list.draws;
    this->Place(lists);
    Batch<Gen> batch(this->memory_.chunks);
    IndirectDrawer<Gen> drawer(batch, this->Options(thresholds, /*ring_items=*/100));
    this->BuildDrawn(batch, drawer, lists);
    EXPECT_EQ(this->Run(batch, lists).size(), list.draws);
    EXPECT_EQ(this->wrong_, "");
    const auto& seen = this->hardware_;
    return Cost{.way = drawer.way(),
                .commands = static_cast<int64_t>(seen.names.size()),
                .bytes = static_cast<int64_t>(seen.command_bytes),
                .numbers = 4 * std::count(seen.names.begin(), seen.names.end(),
                                          std::string("MI_LOAD_REGISTER_MEM")),
                .read = static_cast<int64_t>(seen.bytes_read),
                .written = static_cast<int64_t>(seen.bytes_written)};
  };
  // Of one draw more. A stride with gaps: not by one packet.
  const auto of = [&](const DrawThresholds& thresholds, bool reads, uint32_t stride,
                      bool counted = false) {
    DrawList list{.draws = 8, .stride = stride, .indexed = true};
    list.reads_base = list.reads_number = reads;
    if (counted) list.count = address();
    const Cost fewer = all_of(thresholds, list);
    list.draws = 9;
    const Cost more = all_of(thresholds, list);
    return Cost{.way = more.way,
                .commands = more.commands - fewer.commands,
                .bytes = more.bytes - fewer.bytes,
                .numbers = more.numbers - fewer.numbers,
                .read = more.read - fewer.read,
                .written = more.written - fewer.written};
  };
  const bool one_packet = Gen::kFacts.executes_indirect_draws;
  const absl::StatusOr<FileBytes> page = OpenFile("docs/indirect.md");
  ASSERT_TRUE(page.ok()) << page.status();
  const absl::string_view text(reinterpret_cast<const char*>(page->bytes.data()),
                               page->bytes.size());
  // The cell of this generation begins with `expected`.
  const auto expect = [&](absl::string_view row, const std::string& expected) {
    std::string cell = "no such row";
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      if (!absl::StartsWith(line, absl::StrCat("| ", row, " |"))) continue;
      const std::vector<absl::string_view> cells = absl::StrSplit(line, '|');
      ASSERT_EQ(cells.size(), 6u);
      cell = std::string(absl::StripAsciiWhitespace(cells[!this->kExtended ? 2
                                                          : !one_packet    ? 3
                                                                           : 4]));
    }
    EXPECT_EQ(absl::StrCat(cell, ",").substr(0, expected.size() + 1), expected + ",") << row;
  };
  // By default, and what the shaders of the table's numbers in parentheses take.
  const auto both = [](const auto& first, const auto& second) {
    const std::string a = absl::StrCat(first), b = absl::StrCat(second);
    return a == b ? a : absl::StrCat(a, " (", b, ")");
  };
  const Cost classic = of(kNever, false, 0), reading = of(kNever, true, 0);
  EXPECT_EQ(reading.way, DrawWay::kClassic);
  if (one_packet) {
    ASSERT_EQ(classic.way, DrawWay::kOnePacket);
    EXPECT_EQ(classic.bytes, 0);  // all draws have the same packet
    expect("classic: commands", both("–", reading.commands));
    expect("classic: bytes that the streamer reads",
           absl::StrCat(both("–", reading.bytes), ", and ", reading.numbers, " of numbers"));
  } else {
    ASSERT_EQ(classic.way, DrawWay::kClassic);
    expect("classic: commands", both(classic.commands, reading.commands));
    expect("classic: bytes that the streamer reads",
           absl::StrCat(both(classic.bytes, reading.bytes), ", and ",
                        both(classic.numbers, reading.numbers), " of numbers"));
  }
  EXPECT_EQ(of(kNever, true, 0, /*counted=*/true).bytes, reading.bytes + 16);
  for (const DrawThresholds& way : {kAllInPlace, kAllInRings}) {
    const Cost plain = of(way, false, 24), more = of(way, true, 24);
    EXPECT_EQ(plain.way, way.ring == 0 ? DrawWay::kRing : DrawWay::kInPlace);
    expect("in place, ring: commands", both(plain.commands, more.commands));
    expect("in place, ring: bytes that the streamer reads", both(plain.bytes, more.bytes));
    expect("the kernel reads and writes", both(absl::StrCat(plain.read, " and ", plain.written),
                                               absl::StrCat(more.read, " and ", more.written)));
    const Cost counted = of(way, true, 24, /*counted=*/true);
    EXPECT_EQ(counted.bytes, more.bytes);
    EXPECT_EQ(counted.commands, more.commands);
  }
  std::string packet = "–";
  if constexpr (requires { typename Gen::Packets::EXECUTE_INDIRECT_DRAW; }) {
    if (one_packet) {
      packet = absl::StrCat(4 * Gen::Packets::EXECUTE_INDIRECT_DRAW::length, " for all draws");
    }
  }
  expect("one packet: bytes that the streamer reads", packet);
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
