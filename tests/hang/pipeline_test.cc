// Which busy unit of the 3D pipeline is the one that does not finish: a pipeline with queues, in
// which one stage stops at some item, fills up from there; dumps with the busy units that this
// leaves are read again. The table of docs/hang.md says how often each rule is right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "runtime/base/file.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/report.h"
#include "runtime/hang/report_text.h"
#include "runtime/hang/rings.h"
#include "tests/hang/seeded.h"

namespace packsmith::hang {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Places in the pipeline: from vertex fetch to the color cache.
constexpr uint16_t kFirst = 1, kVertexShader = 2, kClip = 8, kRasterizer = 10, kLast = 14;

// What draws without tessellation, geometry shader and stream output do not use.
bool IsOptional(uint16_t stage) { return stage >= 3 && stage <= 7; }

// What is not known of the hardware.
struct Assumption {
  bool off_units_keep;
  bool parts_count;
  const char* title;
};
constexpr Assumption kAssumptions[] = {
    {true, false, "All units queue what they take"},
    {true, true, "The same; a unit with a part of a primitive says that it is busy"},
    {false, false, "Units that are off keep nothing"},
    {false, true, "The same; a unit with a part of a primitive says that it is busy"},
};

struct Stuck {
  uint16_t stage;  // that does not finish
  int item;        // its item, counted from 0: a vertex; from the clipper on a triangle
  int vertices;    // of the draw
  int room;        // items that a stage can hold
};

std::vector<Stuck> AllStuck(const Assumption& assumption) {
  std::vector<Stuck> all;
  for (uint16_t stage = kFirst; stage <= kLast; ++stage) {
    if (!assumption.off_units_keep && IsOptional(stage)) continue;
    for (const int vertices : {3, 30, 3000}) {
      const int items = stage >= kClip ? vertices / 3 : vertices;
      for (const int item : std::set<int>{0, items / 2, items - 1}) {
        for (const int room : {4, 16}) all.push_back({stage, item, vertices, room});
      }
    }
  }
  return all;
}

// Runs the draw until nothing moves any more.
std::set<uint16_t> BusyStages(const Stuck& stuck, const Assumption& assumption) {
  std::vector<uint16_t> stages;
  for (uint16_t stage = kFirst; stage <= kLast; ++stage) {
    if (assumption.off_units_keep || !IsOptional(stage)) stages.push_back(stage);
  }
  std::array<int, kLast + 1> held = {}, passed = {};
  const auto needs = [](uint16_t stage) { return stage == kClip ? 3 : 1; };
  int left = stuck.vertices;
  for (bool moves = true; moves;) {
    moves = false;
    for (size_t i = stages.size(); i-- > 0;) {
      const uint16_t stage = stages[i];
      if (held[stage] < needs(stage)) continue;
      if (stage == stuck.stage && passed[stage] == stuck.item) continue;
      if (i + 1 < stages.size()) {
        int& next = held[stages[i + 1]];
        if (next == stuck.room) continue;
        ++next;
      }
      held[stage] -= needs(stage);
      ++passed[stage];
      moves = true;
    }
    if (left > 0 && held[kFirst] < stuck.room) {
      --left;
      ++held[kFirst];
      moves = true;
    }
  }
  std::set<uint16_t> busy;
  for (const uint16_t stage : stages) {
    if (held[stage] >= (assumption.parts_count ? 1 : needs(stage))) busy.insert(stage);
  }
  return busy;
}

uint16_t LastOfFirstRun(const std::set<uint16_t>& busy) {
  uint16_t stage = *busy.begin();
  while (busy.count(static_cast<uint16_t>(stage + 1)) != 0) ++stage;
  return stage;
}

struct Column {
  const char* generation;
  Form form;
};
constexpr Column kColumns[] = {
    {"gfx9", Form::kI915}, {"gfx12", Form::kI915}, {"gfx125", Form::kXe}, {"xe2", Form::kXe}};

// The places of the units that registers of a description report.
std::map<std::string, uint16_t> PlacesOf(const tables::Tables& tables) {
  std::map<std::string, uint16_t> places;
  for (const tables::Container& container : tables.containers()) {
    for (const tables::Leaf& leaf : tables.leaves(container.leaves)) {
      if (leaf.extra == tables::kNone) continue;
      const tables::Extra& extra = tables.extra(leaf.extra);
      if (extra.meaning != tables::Meaning::kIdle || extra.meaning_at == 0) continue;
      places[absl::StrReplaceAll(tables.string(leaf.name), {{" Done", ""}})] = extra.meaning_at;
    }
  }
  return places;
}

// `without`: what begins like this is not among the registers. `work`: what was drawn or
// dispatched.
std::optional<HangReport> ReportOf(const tables::Tables& tables, const Column& column,
                                   const std::set<uint16_t>& busy, absl::string_view without = "",
                                   absl::string_view work = "3DPRIMITIVE") {
  const std::optional<SeededHang> made = SeedPipelineHang(tables, busy, column.form, work);
  if (!made) return std::nullopt;
  absl::StatusOr<Dump> dump = ReadDump(BytesOf(made->text));
  if (!dump.ok()) {
    ADD_FAILURE() << dump.status();
    return std::nullopt;
  }
  AddRings(tables, *dump);
  if (!without.empty() && dump->error_state != nullptr) {
    auto state = std::make_shared<ErrorState>(*dump->error_state);
    size_t left_out = 0;
    for (ErrorEngine& engine : state->engines) {
      left_out += std::erase_if(engine.registers, [&](const ErrorRegister& one) {
        return absl::StartsWith(one.name, without);
      });
    }
    EXPECT_NE(left_out, 0u) << without;
    dump->error_state = std::move(state);
  }
  return MakeHangReport(tables, *dump);
}

// The stages that a dump makes suspect.
struct Named {
  std::set<uint16_t> last, before_gap;
};

Named NamedIn(const tables::Tables& tables, const Column& column, const std::set<uint16_t>& busy,
              const std::map<std::string, uint16_t>& places) {
  Named named;
  const std::optional<SeededHang> made = SeedPipelineHang(tables, busy, column.form);
  if (!made) return named;
  const absl::StatusOr<Dump> dump = ReadDump(BytesOf(made->text));
  if (!dump.ok() || dump->error_state == nullptr || dump->error_state->engines.empty()) {
    ADD_FAILURE() << dump.status();
    return named;
  }
  const ErrorState& state = *dump->error_state;
  const BusyPipeline pipeline = StopOf(tables, state, state.engines[0]).pipeline;
  for (const std::string& unit : pipeline.last) named.last.insert(places.at(unit));
  for (const std::string& unit : pipeline.before_gap) named.before_gap.insert(places.at(unit));
  return named;
}

TEST(Pipeline, OfADescriptionHasAllPlaces) {
  for (const Column& column : kColumns) {
    std::set<uint16_t> places;
    for (const auto& [unit, place] : PlacesOf(*FindGeneration(column.generation))) {
      places.insert(place);
    }
    EXPECT_THAT(places, SizeIs(kLast)) << column.generation;
    EXPECT_EQ(*places.begin(), kFirst) << column.generation;
    EXPECT_EQ(*places.rbegin(), kLast) << column.generation;
  }
}

// A draw of thousands of vertices keeps all units before the stuck one busy: the first busy one is
// vertex fetch, whatever hangs.
TEST(Pipeline, FillsUpBeforeAStuckStage) {
  const Stuck stuck = {.stage = kRasterizer, .item = 500, .vertices = 3000, .room = 16};
  const std::set<uint16_t> busy = BusyStages(stuck, kAssumptions[0]);
  EXPECT_EQ(*busy.begin(), kFirst);
  EXPECT_EQ(*busy.rbegin(), kRasterizer);
  EXPECT_THAT(busy, SizeIs(kRasterizer));
}

TEST(Pipeline, IsNamedByTheLastBusyUnit) {
  for (const Column& column : kColumns) {
    const tables::Tables tables = *FindGeneration(column.generation);
    const auto report = ReportOf(tables, column, {kFirst, kVertexShader});
    ASSERT_TRUE(report);
    ASSERT_THAT(report->engines, SizeIs(1)) << column.generation;
    const BusyPipeline& pipeline = report->engines[0].stop.pipeline;
    EXPECT_THAT(pipeline.last, ElementsAre("VS")) << column.generation;
    EXPECT_THAT(pipeline.before, Contains(testing::StartsWith("VF"))) << column.generation;
    EXPECT_THAT(pipeline.before_gap, IsEmpty()) << column.generation;
    EXPECT_THAT(ToText(tables, *report),
                HasSubstr("  suspect   VS, the last busy unit of the pipeline; VF"))
        << column.generation;
  }
}

TEST(Pipeline, WithAnIdleUnitBetweenBusyOnesHasTwoSuspects) {
  const Column& column = kColumns[0];
  const tables::Tables tables = *FindGeneration(column.generation);
  const auto report = ReportOf(tables, column, {kFirst, kVertexShader, kClip});
  ASSERT_TRUE(report);
  ASSERT_THAT(report->engines, SizeIs(1));
  const BusyPipeline& pipeline = report->engines[0].stop.pipeline;
  EXPECT_THAT(pipeline.last, ElementsAre("CL"));
  EXPECT_THAT(pipeline.before, ElementsAre("VFG", "VS"));
  EXPECT_THAT(pipeline.before_gap, ElementsAre("VS"));
  ASSERT_THAT(report->verdicts, Not(IsEmpty()));
  EXPECT_EQ(report->verdicts[0].kind, VerdictKind::kPipeline);
  EXPECT_EQ(report->verdicts[0].confidence, Confidence::kLow);
}

TEST(Pipeline, WithAllStagesAndThreadsInTheDumpHasMediumConfidence) {
  for (const Column& column : kColumns) {
    const auto report = ReportOf(*FindGeneration(column.generation), column, {kFirst});
    ASSERT_TRUE(report);
    ASSERT_THAT(report->verdicts, Not(IsEmpty())) << column.generation;
    EXPECT_EQ(report->verdicts[0].kind, VerdictKind::kPipeline) << column.generation;
    EXPECT_EQ(report->verdicts[0].confidence, Confidence::kMedium) << column.generation;
  }
}

// Threads that are not in the dump may be what does not end.
TEST(Pipeline, WithoutRegistersOfThreadsHasLowConfidence) {
  const Column column = {"gfx125", Form::kXe};
  const auto report = ReportOf(*FindGeneration("gfx125"), column, {kFirst}, "ROW_INSTDONE");
  ASSERT_TRUE(report);
  ASSERT_THAT(report->verdicts, Not(IsEmpty()));
  EXPECT_EQ(report->verdicts[0].kind, VerdictKind::kPipeline);
  EXPECT_EQ(report->verdicts[0].confidence, Confidence::kLow);
  EXPECT_THAT(report->verdicts[0].evidence,
              Contains("The dump does not say whether execution units run threads."));
}

TEST(Pipeline, WithoutTheStagesAfterTheLastBusyOneHasLowConfidence) {
  for (const Column& column : kColumns) {
    const auto report =
        ReportOf(*FindGeneration(column.generation), column, {kFirst}, "SC_INSTDONE");
    ASSERT_TRUE(report);
    ASSERT_THAT(report->verdicts, Not(IsEmpty())) << column.generation;
    EXPECT_EQ(report->verdicts[0].kind, VerdictKind::kPipeline) << column.generation;
    EXPECT_EQ(report->verdicts[0].confidence, Confidence::kLow) << column.generation;
    EXPECT_THAT(report->verdicts[0].evidence,
                Contains(HasSubstr("does not have all units after it")))
        << column.generation;
  }
}

// Nothing is after the colour cache.
TEST(Pipeline, WhoseLastStageIsBusyNeedsNoOtherInTheDump) {
  const Column& column = kColumns[0];
  const auto report = ReportOf(*FindGeneration(column.generation), column, {kLast}, "ROW_INSTDONE");
  ASSERT_TRUE(report);
  ASSERT_THAT(report->engines, SizeIs(1));
  EXPECT_TRUE(report->engines[0].stop.pipeline.rest_known);
  EXPECT_FALSE(report->engines[0].stop.pipeline.threads_known);
}

TEST(Pipeline, OfADispatchIsNotJudged) {
  const Column& column = kColumns[0];
  const auto report =
      ReportOf(*FindGeneration(column.generation), column, {kFirst}, "", "GPGPU_WALKER");
  ASSERT_TRUE(report);
  ASSERT_THAT(report->engines, SizeIs(1));
  ASSERT_TRUE(report->engines[0].work);
  EXPECT_EQ(report->engines[0].work->container->role, tables::Role::kDispatch);
  EXPECT_THAT(report->engines[0].stop.pipeline.last, Not(IsEmpty()));
  for (const Verdict& verdict : report->verdicts) EXPECT_NE(verdict.kind, VerdictKind::kPipeline);
}

TEST(Pipeline, ThatIsIdleHasNoSuspect) {
  for (const Column& column : kColumns) {
    const tables::Tables tables = *FindGeneration(column.generation);
    const auto report = ReportOf(tables, column, {});
    ASSERT_TRUE(report);
    ASSERT_THAT(report->engines, SizeIs(1)) << column.generation;
    EXPECT_THAT(report->engines[0].stop.pipeline.last, IsEmpty()) << column.generation;
    EXPECT_THAT(report->verdicts, IsEmpty()) << column.generation;
    EXPECT_EQ(Describe(report->engines[0].stop.pipeline), "");
  }
}

// The table of the documentation is what the rules say now, on each generation.
TEST(Pipeline, SuspectsAreInTheDocumentation) {
  const absl::StatusOr<FileBytes> page = OpenFile("docs/hang.md");
  ASSERT_TRUE(page.ok()) << page.status();
  const std::string text(reinterpret_cast<const char*>(page->bytes.data()), page->bytes.size());
  for (const Column& column : kColumns) {
    const tables::Tables tables = *FindGeneration(column.generation);
    const std::map<std::string, uint16_t> places = PlacesOf(tables);
    std::map<std::set<uint16_t>, Named> known;
    std::string table =
        "| what is assumed | hangs | first busy | last of the first run | last busy | last busy, "
        "or before the gap |\n|---|---|---|---|---|---|\n";
    for (const Assumption& assumption : kAssumptions) {
      int all = 0, first = 0, run = 0, last = 0, named = 0;
      for (const Stuck& stuck : AllStuck(assumption)) {
        const std::set<uint16_t> busy = BusyStages(stuck, assumption);
        ASSERT_THAT(busy, Contains(stuck.stage));
        const auto [at, fresh] = known.try_emplace(busy);
        if (fresh) at->second = NamedIn(tables, column, busy, places);
        const Named& of = at->second;
        ++all;
        first += *busy.begin() == stuck.stage ? 1 : 0;
        run += LastOfFirstRun(busy) == stuck.stage ? 1 : 0;
        const bool is_last = of.last == std::set<uint16_t>{stuck.stage};
        last += is_last ? 1 : 0;
        named += is_last || of.before_gap == std::set<uint16_t>{stuck.stage} ? 1 : 0;
      }
      absl::StrAppendFormat(&table, "| %s | %d | %d %% | %d %% | %d %% | %d %% |\n",
                            assumption.title, all, 100 * first / all, 100 * run / all,
                            100 * last / all, 100 * named / all);
    }
    EXPECT_THAT(text, HasSubstr(table)) << column.generation << "\n" << table;
  }
}

}  // namespace
}  // namespace packsmith::hang
