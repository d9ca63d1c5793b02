// Each rule has a batch that breaks it and one that does not: cases/NUMBER.txt.
#include "runtime/lint/lint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gen/model/load.h"
#include "gen/model/write/tables.h"
#include "runtime/decode/decoder.h"
#include "runtime/dump/dump.h"
#include "runtime/encode/assembler.h"
#include "runtime/encode/source.h"
#include "runtime/generations/generations.h"
#include "runtime/lint/report.h"
#include "runtime/lint/rules.h"
#include "runtime/lint/zones.h"

namespace packsmith::lint {
namespace {

const tables::Tables& Invented() {
  static const tables::Tables& tables = *[] {
    const model::LoadResult loaded = model::Load("tests/lint/lint.xml", model::ReadFileFromDisk);
    const absl::Status status = model::ToStatus(loaded);
    EXPECT_TRUE(status.ok()) << status;
    static const std::vector<uint64_t>& block =
        *new std::vector<uint64_t>(model::WriteTables(loaded.model));
    return new tables::Tables(*tables::Tables::Open(
        {reinterpret_cast<const uint8_t*>(block.data()), block.size() * sizeof(uint64_t)}));
  }();
  return tables;
}

absl::StatusOr<tables::Tables> Find(absl::string_view name) {
  if (name == "lint1") return Invented();
  return FindGeneration(name);
}

// What a case is about, apart from its batch.
struct Case {
  std::string text;
  LintOptions options;
};

Case Prepare(const std::string& body) {
  Case one;
  const bool invented = !absl::StrContains(body, ".gen ");
  const bool ends = absl::StrContains(body, invented ? "\nEND\n" : "MI_BATCH_BUFFER_END") ||
                    absl::StrContains(body, "# no end");
  one.options.product = Product{"pad", "", ""};
  std::string lines, zones;
  for (const absl::string_view line : absl::StrSplit(body, '\n')) {
    constexpr absl::string_view kPlatform = "# platform=";
    if (absl::StartsWith(line, kPlatform)) {
      const auto product = ParseProduct(line.substr(kPlatform.size()));
      EXPECT_TRUE(product.ok()) << product.status();
      one.options.product = *product;
    }
    constexpr absl::string_view kZone = "# zone=";
    if (absl::StartsWith(line, kZone)) absl::StrAppend(&zones, line.substr(kZone.size()), "\n");
    absl::StrAppend(&lines, line, "\n");
    if (absl::StartsWith(line, ".gen ")) absl::StrAppend(&lines, ".org 0x10000\n");
  }
  if (!zones.empty()) {
    const auto parsed = Zones::Parse(zones);
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    if (parsed.ok()) one.options.zones = *parsed;
  }
  if (invented) one.text = ".gen lint1\n.org 0x10000\n";
  if (!absl::StrContains(body, ".submission")) {
    lines = invented ? absl::StrCat(".submission engine=render index=0\n", lines) : lines;
  }
  absl::StrAppend(&one.text, lines);
  if (!ends) absl::StrAppend(&one.text, invented ? "END\n" : "MI_BATCH_BUFFER_END\n");
  return one;
}

class Collector : public AlarmSink {
 public:
  void OnAlarm(const Alarm& alarm) override { alarms.push_back(alarm); }

  std::vector<Alarm> alarms;
};

struct Found {
  std::vector<Alarm> alarms;
  AlarmCounts counts;
};

Found LintText(const Case& one) {
  Found found;
  auto packed =
      encode::Assemble(encode::Source{"case", one.text}, Find, encode::AssemblerOptions{});
  EXPECT_TRUE(packed.ok()) << packed.status() << "\n" << one.text;
  if (!packed.ok()) return found;
  const tables::Tables tables = *packed->tables;
  const Dump dump = encode::ToDump(*std::move(packed));
  Collector collector;
  const std::unique_ptr<LintSink> sink = MakeLintSink(collector, one.options);
  decode::Decoder decoder(tables, *sink, LintDecoding());
  decoder.Decode(dump);
  decoder.Finish();
  found.alarms = collector.alarms;
  found.counts = sink->counts();
  return found;
}

bool Has(const std::vector<Alarm>& alarms, absl::string_view number) {
  return std::any_of(alarms.begin(), alarms.end(),
                     [&](const Alarm& alarm) { return alarm.number == number; });
}

std::string Listed(const std::vector<Alarm>& alarms) {
  std::string text;
  for (const Alarm& one : alarms) {
    absl::StrAppend(&text, one.number, " ", one.record, ".", one.field, ": ", one.what, "\n");
  }
  return text;
}

// By number: the parts of cases/NUMBER.txt.
struct Parts {
  std::string bad, good;
};
std::map<std::string, Parts> Cases() {
  std::map<std::string, Parts> cases;
  for (const auto& entry : std::filesystem::directory_iterator("tests/lint/cases")) {
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    const std::vector<std::string> parts = absl::StrSplit(text.str(), "== ");
    Parts& of = cases[entry.path().stem().string()];
    for (const std::string& part : parts) {
      if (absl::StartsWith(part, "bad\n")) of.bad = part.substr(4);
      if (absl::StartsWith(part, "good\n")) of.good = part.substr(5);
    }
  }
  return cases;
}

TEST(Lint, EachRuleHasACase) {
  std::vector<tables::Tables> all(BuiltInGenerations().begin(), BuiltInGenerations().end());
  all.push_back(Invented());
  const std::map<std::string, Parts> cases = Cases();
  const std::vector<ListedRule> rules = ListRules(all);
  EXPECT_GE(rules.size(), 25u);
  std::set<std::string> numbers;
  for (const ListedRule& rule : rules) {
    EXPECT_TRUE(numbers.insert(rule.number).second) << rule.number;
    const auto found = cases.find(rule.number);
    EXPECT_NE(found, cases.end()) << rule.number << " has no tests/lint/cases/NUMBER.txt";
    if (found == cases.end()) continue;
    EXPECT_FALSE(found->second.bad.empty()) << rule.number << " has no batch that breaks it";
    EXPECT_FALSE(found->second.good.empty()) << rule.number << " has no batch that does not";
    EXPECT_FALSE(rule.why.empty()) << rule.number;
    EXPECT_FALSE(rule.title.empty()) << rule.number;
  }
  for (const auto& [number, parts] : cases) EXPECT_EQ(numbers.count(number), 1u) << number;
}

TEST(Lint, EachRuleSeesTheBatchThatBreaksIt) {
  for (const auto& [number, parts] : Cases()) {
    const Found found = LintText(Prepare(parts.bad));
    EXPECT_TRUE(Has(found.alarms, number)) << number << " is not among\n" << Listed(found.alarms);
  }
}

TEST(Lint, NoRuleSeesABatchThatDoesNotBreakIt) {
  for (const auto& [number, parts] : Cases()) {
    const Found found = LintText(Prepare(parts.good));
    EXPECT_FALSE(Has(found.alarms, number)) << number << " is among\n" << Listed(found.alarms);
  }
}

TEST(Lint, RulesCanBeTurnedOff) {
  for (const auto& [number, parts] : Cases()) {
    Case one = Prepare(parts.bad);
    one.options.without.insert(number);
    EXPECT_FALSE(Has(LintText(one).alarms, number)) << number;
  }
}

TEST(Lint, WorkaroundsCanBeTurnedOffByTheirNumber) {
  Case one = Prepare(Cases()["L507"].bad);
  EXPECT_TRUE(Has(LintText(one).alarms, "L507"));
  one.options.without.insert("Wa_7");
  EXPECT_FALSE(Has(LintText(one).alarms, "L507"));
}

TEST(Lint, WhatWasNeverSetIsMissingOnlyInContextsThatAreWhole) {
  for (const std::string number : {"L205", "L301", "L306"}) {
    Case one = Prepare(Cases()[number].bad);
    one.options.history = History::kPart;
    EXPECT_FALSE(Has(LintText(one).alarms, number)) << number;
    one.options.history = History::kWhole;
    EXPECT_TRUE(Has(LintText(one).alarms, number)) << number;
  }
}

TEST(Lint, AContextWhoseFirstSubmissionIsMissingIsNotWhole) {
  Case one = Prepare(".submission engine=render index=4\nSTRICT_DRAW Count=3 Instances=1");
  EXPECT_FALSE(Has(LintText(one).alarms, "L301"));
}

// A table of the hull stage whose base has moved, and a draw with the stage as it is then.
Found LintMovedHullTable(absl::string_view before, absl::string_view after) {
  return LintText(Prepare(absl::StrCat(
      "FLUSH Stall=true\nSET_HEAP Address=0x20000\n", before,
      "\nBIND_HULL Count=1 Table=0x20\nDRAW Count=3 Instances=1\nFLUSH Stall=true\n"
      "SET_HEAP Address=0x30000\nFLUSH Invalidate_State=true\nDRAW Count=3 Instances=1\n",
      after, "\nDRAW Count=3 Instances=1\nEND\n.align 64\nprogram: .zero 64\n",
      ".org 0x20000\n.zero 256\n.org 0x30000\n.zero 256\n")));
}

TEST(Lint, WhatOnlyAStageReadsThatIsOffNeedNotBeSetAgain) {
  const Found off = LintMovedHullTable("HULL", "HULL");
  EXPECT_FALSE(Has(off.alarms, "L304")) << Listed(off.alarms);
  const Found on = LintMovedHullTable("HULL Enable=true Program=program", "MARK");
  EXPECT_TRUE(Has(on.alarms, "L304")) << Listed(on.alarms);
  // Nothing has turned it off.
  const Found unknown = LintMovedHullTable("MARK", "MARK");
  EXPECT_TRUE(Has(unknown.alarms, "L304")) << Listed(unknown.alarms);
}

TEST(Lint, WhatAStageReadsMustBeSetAgainOnceTheStageIsOn) {
  const Found later = LintMovedHullTable("HULL", "HULL Enable=true Program=program");
  EXPECT_TRUE(Has(later.alarms, "L304")) << Listed(later.alarms);
  const Found again =
      LintMovedHullTable("HULL", "BIND_HULL Count=1 Table=0x20\nHULL Enable=true Program=program");
  EXPECT_FALSE(Has(again.alarms, "L304")) << Listed(again.alarms);
}

TEST(Lint, ALastRowOfZeroIsNoLimitOfAVertexBuffer) {
  const auto lint = [](absl::string_view last) {
    return LintText(Prepare(
        absl::StrCat("SET_ROWS Pitch=16 Last=", last, " Vertices=here\n",
                     "SET_ELEMENTS Format[0]=RGBA32 Valid[0]=true\nDRAW Count=4 Instances=1\nEND\n"
                     "here: .zero 64\n")));
  };
  EXPECT_FALSE(Has(lint("0").alarms, "L308"));
  EXPECT_TRUE(Has(lint("2").alarms, "L308"));
  EXPECT_FALSE(Has(lint("3").alarms, "L308"));
}

TEST(Lint, ALastRowIsNoLimitOfAVertexBufferOnlyWhereTheDescriptionSaysSo) {
  const auto lint = [](absl::string_view fields) {
    return LintText(Prepare(
        absl::StrCat("SET_ROWS_TO Pitch=16 ", fields, " Vertices=here\n",
                     "SET_ELEMENTS Format[0]=RGBA32 Valid[0]=true\nDRAW Count=4 Instances=1\nEND\n"
                     "here: .zero 64\n")));
  };
  EXPECT_TRUE(Has(lint("Last=0").alarms, "L308"));
  EXPECT_TRUE(Has(lint("Last=2").alarms, "L308"));
  EXPECT_FALSE(Has(lint("Last=3").alarms, "L308"));
  EXPECT_FALSE(Has(lint("Open=true Last=0").alarms, "L308"));
  EXPECT_FALSE(Has(lint("Open=true Last=2").alarms, "L308"));
}

TEST(Lint, ANumberOfRowsOfOneIsALimitOfAVertexBuffer) {
  const auto lint = [](absl::string_view rows) {
    return LintText(Prepare(
        absl::StrCat("SET_COUNTED Pitch=16 Rows=", rows, " Vertices=here\n",
                     "SET_ELEMENTS Format[0]=RGBA32 Valid[0]=true\nDRAW Count=4 Instances=1\nEND\n"
                     "here: .zero 64\n")));
  };
  EXPECT_TRUE(Has(lint("1").alarms, "L308"));
  EXPECT_FALSE(Has(lint("4").alarms, "L308"));
}

TEST(Lint, AnAlarmSaysWhereAndWhy) {
  const Found found = LintText(Prepare("MARK\nVALUES Threads=raw(65) Fixed=9"));
  ASSERT_TRUE(Has(found.alarms, "L103")) << Listed(found.alarms);
  const Alarm& alarm = *std::find_if(found.alarms.begin(), found.alarms.end(),
                                     [](const Alarm& one) { return one.number == "L103"; });
  EXPECT_EQ(alarm.severity, Severity::kError);
  EXPECT_EQ(alarm.address, 0x10008u);
  EXPECT_EQ(alarm.offset, 8u);
  EXPECT_EQ(alarm.record, "VALUES");
  EXPECT_EQ(alarm.packet, "VALUES");
  EXPECT_EQ(alarm.field, "Threads");
  EXPECT_EQ(alarm.bit, 32u);
  EXPECT_EQ(alarm.width, 8u);
  EXPECT_EQ(alarm.engine, "render");
  EXPECT_NE(alarm.what.find("0x41"), std::string::npos) << alarm.what;
  EXPECT_FALSE(alarm.why.empty());
  EXPECT_FALSE(alarm.source.empty());
}

TEST(Lint, AStructureNamesThePacketThatPointsToIt) {
  const Found found = LintText(Prepare(Cases()["L799"].bad));
  ASSERT_TRUE(Has(found.alarms, "L799"));
  for (const Alarm& alarm : found.alarms) {
    if (alarm.number != "L799") continue;
    EXPECT_EQ(alarm.record, "Entry");
    EXPECT_EQ(alarm.packet, "POINT");
    EXPECT_EQ(alarm.packet_address, 0x10000u);
    EXPECT_EQ(alarm.what, "Low (3) is more than High (2)");
    EXPECT_EQ(alarm.source, "Acme, chapter 7");
  }
}

TEST(Lint, AnAlarmComesOnceForAStructureThatManyPacketsReach) {
  const Found found =
      LintText(Prepare("POINT Count=1 Entry=here\nPOINT Count=1 Entry=here\nEND\n.align 16\n"
                       "here: Entry Low=3 High=2"));
  EXPECT_EQ(found.counts.by_rule.at("L799"), 1u);
}

TEST(Lint, MoreAlarmsOfARuleThanWantedAreCounted) {
  Case one = Prepare("VALUES Threads=raw(65)\nVALUES Threads=raw(65)\nVALUES Threads=raw(65)");
  one.options.most_of_a_rule = 2;
  const Found found = LintText(one);
  EXPECT_EQ(std::count_if(found.alarms.begin(), found.alarms.end(),
                          [](const Alarm& alarm) { return alarm.number == "L103"; }),
            2);
  EXPECT_EQ(found.counts.by_rule.at("L103"), 3u);
  EXPECT_GE(found.counts.not_shown, 1u);
}

TEST(Lint, WorkIsLinearInThePackets) {
  // Packets that wait for others, and many of them: the checks keep one of a kind.
  std::string body;
  for (int i = 0; i < 20000; ++i) absl::StrAppend(&body, "CONSTANTS Value=1\nMARK Value=2\n");
  Case one = Prepare(body);
  one.options.most_of_a_rule = 1;
  EXPECT_EQ(LintText(one).counts.by_rule.count("L601"), 1u);
}

// A batch that points to three entries at 0x20000, and a table of them at 0x30020 by an offset.
std::vector<Alarm> LintInZones(absl::string_view zones) {
  std::string body;
  for (const absl::string_view zone : absl::StrSplit(zones, '|')) {
    absl::StrAppend(&body, "# zone=", zone, "\n");
  }
  absl::StrAppend(&body,
                  "FLUSH Stall=true\nSET_HEAP Address=0x30000\nPOINT Count=3 Entry=0x20000\n"
                  "BIND Count=1 Table=0x20\nEND\n.org 0x20000\n.zero 48\n.org 0x30000\n.zero 64\n");
  std::vector<Alarm> alarms;
  for (const Alarm& alarm : LintText(Prepare(body)).alarms) {
    if (alarm.number == "L206") alarms.push_back(alarm);
  }
  return alarms;
}

TEST(Zones, PointersStayInTheZoneOfTheirBase) {
  EXPECT_EQ(Listed(LintInZones("0x20000 0x20030 entries|0x30000 0x31000 heap: heap")), "");
  // Without a word about the base, any zone will do.
  EXPECT_EQ(Listed(LintInZones("0x20000 0x20030 entries|0x30000 0x31000 heap")), "");
  EXPECT_EQ(Listed(LintInZones("0x20000 0x20030 entries: heap|0x30000 0x31000 other")),
            "L206 BIND.Table: 0x30020 is in the zone \"other\", which is not for offsets from "
            "\"heap\"\n");
  EXPECT_EQ(Listed(LintInZones("0x20000 0x20030 entries|0x30000 0x30020 heap")),
            "L206 BIND.Table: 0x30020 is in no zone\n");
  EXPECT_EQ(Listed(LintInZones("0x30000 0x31000 heap|0x1fff0 0x20000 entries")),
            "L206 POINT.Entry: 0x20000 is in no zone\n");
}

TEST(Zones, WhatAPointerCoversStaysInItsZone) {
  const auto lint = [](absl::string_view end) {
    return Listed(LintText(Prepare(absl::StrCat("# zone=0x20000 ", end,
                                                " vertices\nSET_VERTICES Pitch=16 Bytes=64 "
                                                "Vertices=0x20000\nEND\n.org 0x20000\n.zero 64")))
                      .alarms);
  };
  EXPECT_EQ(lint("0x20040").find("L206"), std::string::npos);
  EXPECT_NE(lint("0x2003f").find("L206 SET_VERTICES.Vertices: 64 bytes from 0x20000 on, of which "
                                 "the zone \"vertices\" has 63"),
            std::string::npos)
      << lint("0x2003f");
}

TEST(Zones, AreReadFromLines) {
  const auto zones = Zones::Parse(
      "# mine\n 0x2000 0x3000\tsurface states : surface state, binding tables\r\n"
      "\n1000 2000 code # the first page is left out\n");
  ASSERT_TRUE(zones.ok()) << zones.status();
  ASSERT_EQ(zones->all().size(), 2u);
  EXPECT_EQ(zones->all()[0].name, "code");
  EXPECT_EQ(zones->all()[1].name, "surface states");
  EXPECT_EQ(zones->all()[1].bases, (std::vector<std::string>{"surface state", "binding tables"}));
  EXPECT_EQ(zones->Find(0xfff), nullptr);
  EXPECT_EQ(zones->Find(0x1000), &zones->all()[0]);
  EXPECT_EQ(zones->Find(0x1fff), &zones->all()[0]);
  EXPECT_EQ(zones->Find(0x2000), &zones->all()[1]);
  EXPECT_EQ(zones->Find(0x3000), nullptr);
}

TEST(Zones, MistakesAreFoundWithTheirLine) {
  const auto error = [](absl::string_view text) {
    return std::string(Zones::Parse(text).status().message());
  };
  EXPECT_EQ(error("0 1000 a\n\n1000 2000"),
            "line 3: a zone must have the form BEGIN END NAME, or BEGIN END NAME: BASE, BASE, with "
            "hexadecimal addresses");
  EXPECT_EQ(error("0 page a"),
            "line 1: a zone must have the form BEGIN END NAME, or BEGIN END NAME: BASE, BASE, with "
            "hexadecimal addresses");
  EXPECT_EQ(error("2000 2000 a"),
            "line 1: the zone \"a\" ends at 0x2000, which must be more than its begin 0x2000");
  EXPECT_EQ(error("0 1000 a\n2000 3000 b\nfff 1001 c"),
            "line 3: the zones \"c\" and \"a\" overlap");
  EXPECT_EQ(error("1000 2000 a\n0 100 b\n100 1001 c"), "line 3: the zones \"c\" and \"a\" overlap");
  EXPECT_EQ(error("0 4000 a\n5000 6000 b\n1000 2000 c"),
            "line 3: the zones \"c\" and \"a\" overlap");
  EXPECT_EQ(error("0 1000 a\n0 1000 b"), "line 2: the zones \"b\" and \"a\" overlap");
  EXPECT_EQ(error("# none\n"), "there is no zone; each has a line: BEGIN END NAME");
}

TEST(Zones, ABaseThatNoDescriptionHasIsFoundWithItsLine) {
  const std::vector<tables::Tables> known = {Invented(), *FindGeneration("gfx9")};
  const auto check = [&known](absl::string_view text) {
    const auto zones = Zones::Parse(text);
    EXPECT_TRUE(zones.ok()) << zones.status();
    return zones.ok() ? zones->CheckBases(known) : zones.status();
  };
  EXPECT_TRUE(check("0 1000 a: heap\n1000 2000 b: surface state, heap\n2000 3000 c").ok());
  EXPECT_EQ(check("2000 3000 a: heep\n1000 2000 b: heap, heapp\n0 1000 c: heap").message(),
            "line 1: no description has a base \"heep\"; did you mean heap?");
  EXPECT_EQ(check("0 1000 a: heap, xylophones").message(),
            "line 1: no description has a base \"xylophones\"");
}

TEST(Lint, APartnerThatIsMissingIsReportedOnceForAContext) {
  const Found found = LintText(
      Prepare("PAIR\nDRAW Count=3 Instances=1\nPAIR\nDRAW Count=3 Instances=1\nMARK\nPAIR\n"
              "DRAW Count=3 Instances=1"));
  EXPECT_EQ(found.counts.by_rule.at("L309"), 1u) << Listed(found.alarms);
}

TEST(Lint, APartnerMayComeLaterButNotFromBeforeTheLastDraw) {
  EXPECT_FALSE(Has(LintText(Prepare("PAIR\nMARK\nDRAW Count=3 Instances=1")).alarms, "L309"));
  EXPECT_TRUE(Has(LintText(Prepare("MARK\nDRAW Count=3 Instances=1\nPAIR\n"
                                   "DRAW Count=3 Instances=1"))
                      .alarms,
                  "L309"));
}

TEST(Lint, WhatSetsAllOfAPartnerStandsForIt) {
  EXPECT_FALSE(Has(LintText(Prepare("MARK_ALL\nPAIR\nDRAW Count=3 Instances=1")).alarms, "L309"));
}

TEST(Lint, APartnerOfWhatOnlyDrawsReadMayComeAfterADispatch) {
  for (const absl::string_view between :
       {"DISPATCH Groups=1", "DISPATCH Groups=1\nDISPATCH Groups=1"}) {
    const Found good = LintText(
        Prepare(absl::StrCat("DRAW_LEFT\n", between, "\nDRAW_RIGHT\nDRAW Count=3 Instances=1")));
    EXPECT_FALSE(Has(good.alarms, "L309")) << Listed(good.alarms);
    const Found bad =
        LintText(Prepare(absl::StrCat("DRAW_LEFT\n", between, "\nDRAW Count=3 Instances=1")));
    EXPECT_TRUE(Has(bad.alarms, "L309")) << Listed(bad.alarms);
  }
  const Found drawn =
      LintText(Prepare("DRAW_LEFT\nDRAW Count=3 Instances=1\nDISPATCH Groups=1\nDRAW_RIGHT\nDRAW "
                       "Count=3 Instances=1"));
  EXPECT_TRUE(Has(drawn.alarms, "L309")) << Listed(drawn.alarms);
}

// The packets that a draw finds without their partners, in the order of the alarms.
std::vector<std::string> RecordsWithoutPartners(const std::vector<std::string>& packets) {
  std::string body = "DRAW Count=3 Instances=1\n";
  for (const std::string& packet : packets) absl::StrAppend(&body, packet, "\n");
  std::vector<std::string> records;
  for (const Alarm& alarm :
       LintText(Prepare(absl::StrCat(body, "DRAW Count=3 Instances=1"))).alarms) {
    if (alarm.number == "L302" || alarm.number == "L303" || alarm.number == "L309") {
      records.push_back(alarm.record);
    }
  }
  return records;
}

TEST(Lint, AlarmsOfADrawComeInTheOrderOfThePackets) {
  EXPECT_EQ(RecordsWithoutPartners({"PAIR", "DRAW_LEFT", "CONSTANTS", "SET_HEAP"}),
            (std::vector<std::string>{"PAIR", "DRAW_LEFT", "CONSTANTS", "SET_HEAP"}));
  EXPECT_EQ(RecordsWithoutPartners({"SET_HEAP", "CONSTANTS", "DRAW_LEFT", "PAIR"}),
            (std::vector<std::string>{"SET_HEAP", "CONSTANTS", "DRAW_LEFT", "PAIR"}));
}

TEST(Platforms, AWorkaroundCountsForThePlatformsItNames) {
  const Platforms platforms(*FindGeneration("gfx125"));
  EXPECT_TRUE(platforms.Has("dg2", *ParseProduct("dg2")));
  EXPECT_FALSE(platforms.Has("mtl", *ParseProduct("dg2")));
  EXPECT_TRUE(platforms.Has("gfx125", *ParseProduct("dg2")));
  EXPECT_FALSE(platforms.Has("gfx12", *ParseProduct("dg2")));
}

TEST(Platforms, AnUnknownVariantNeedsAWorkaroundOfAllVariants) {
  const Platforms platforms(*FindGeneration("gfx125"));
  EXPECT_FALSE(platforms.Has("dg2-g11", *ParseProduct("dg2")));
  EXPECT_TRUE(platforms.Has("dg2-g10 dg2-g11 dg2-g12", *ParseProduct("dg2")));
  EXPECT_TRUE(platforms.Has("dg2-g11", *ParseProduct("dg2-g11")));
  EXPECT_FALSE(platforms.Has("dg2-g11", *ParseProduct("dg2-g10")));
}

TEST(Platforms, SteppingsCountFromTheFirstToTheOneBeforeTheFix) {
  const Platforms platforms(*FindGeneration("gfx12"));
  EXPECT_TRUE(platforms.Has("tgl(a0..c0)", *ParseProduct("tgl(a0)")));
  EXPECT_TRUE(platforms.Has("tgl(a0..c0)", *ParseProduct("tgl(b1)")));
  EXPECT_FALSE(platforms.Has("tgl(a0..c0)", *ParseProduct("tgl(c0)")));
  EXPECT_FALSE(platforms.Has("tgl(a0..c0)", *ParseProduct("tgl")));
}

TEST(Platforms, OtherTextIsNoProduct) {
  for (const char* text :
       {"", "-g10", "dg2-", "dg2(", "dg2()", "dg2(b)", "dg2(b0", "DG2", "dg2(a0..b0)", "dg2 "}) {
    EXPECT_FALSE(ParseProduct(text).ok()) << text;
  }
}

TEST(Report, NamesFromTheInputCannotReachTheTerminalAsControls) {
  Alarm alarm;
  alarm.number = "L202";
  alarm.record = "POINT";
  alarm.buffer = "\x1b[31mred\n";
  alarm.why = "why";
  for (const ReportFormat format :
       {ReportFormat::kText, ReportFormat::kJsonLines, ReportFormat::kSarif}) {
    decode::StringOutput output;
    const std::unique_ptr<Report> report = MakeReport(format, ListRules({}), output);
    report->BeginFile("a\x1b.core");
    report->OnAlarm(alarm);
    report->Finish({}, true);
    EXPECT_EQ(output.text().find('\x1b'), std::string::npos) << output.text();
  }
}

}  // namespace
}  // namespace packsmith::lint
