// The codes that people paste from kernel logs, and how often the first candidate is the command
// that the engine stopped in.

#include "runtime/hang/ecode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/file.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/report.h"
#include "runtime/hang/rings.h"
#include "tests/hang/seeded.h"

namespace packsmith::hang {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Ecode, IsReadInAllItsForms) {
  for (const char* text : {"12:1:85dffffb", "GPU HANG: ecode 12:1:85dffffb, in Xorg [902]",
                           "12:1:0x85dffffb", "[drm] GPU HANG: ecode 12:1:85dffffb\n"}) {
    const std::optional<Ecode> ecode = ParseEcode(text);
    ASSERT_TRUE(ecode.has_value()) << text;
    EXPECT_EQ(ecode->version, 12);
    EXPECT_EQ(ecode->code, 0x85dffffbu);
  }
  EXPECT_EQ(ParseEcode("12:1:85dffffb")->engine, "render") << "a mask of classes";
  EXPECT_EQ(ParseEcode("12:4:85dffffb")->engine, "video");
  EXPECT_TRUE(ParseEcode("12:5:85dffffb")->several);
  EXPECT_EQ(ParseEcode("9:0:0x85dffffb")->engine, "render") << "a number";
  EXPECT_EQ(ParseEcode("9:1:0x85dffffb")->engine, "blitter");
  EXPECT_EQ(ParseEcode("12:rcs0:85dffffb")->engine, "rcs0");
  for (const char* text : {"", "12", "12:1", "12:1:", "12::1", "0:1:1", "x:1:1", "12:1:123456789",
                           "12:1:xyz", "1000:1:1"}) {
    EXPECT_FALSE(ParseEcode(text).has_value()) << text;
  }
}

TEST(Ecode, OfAKnownHangHasItsCommandFirst) {
  const tables::Tables tables = *FindGeneration("gfx9");
  const std::vector<EcodeCandidate> candidates =
      RankEcode(tables, {.version = 9, .engine = "render", .several = false, .code = 0x85dffffb});
  ASSERT_THAT(candidates, testing::Not(IsEmpty()));
  EXPECT_EQ(candidates[0].command, "PIPE_CONTROL");
  EXPECT_EQ(candidates[0].header, 0x7a000004u);
  EXPECT_EQ(candidates[0].units, 0xffdfffffu);
  EXPECT_THAT(candidates[0].busy, ElementsAre("CS"));
  EXPECT_LE(candidates.size(), kMostCandidates);
}

TEST(Ecode, OfZeroSaysNothing) {
  const tables::Tables tables = *FindGeneration("gfx9");
  EXPECT_THAT(RankEcode(tables, {.version = 9, .engine = "render", .several = false, .code = 0}),
              IsEmpty());
  EXPECT_THAT(EcodeToText(tables, *ParseEcode("9:1:0")), testing::HasSubstr("no engine to blame"));
}

// --- How often the first candidate is right ---

struct Rate {
  int first = 0, listed = 0, all = 0;
};

// The headers at which the hangs of seeded.h stop, with the packets' names.
std::vector<std::pair<uint32_t, std::string>> Headers(const tables::Tables& tables) {
  std::vector<std::pair<uint32_t, std::string>> headers;
  for (int i = 0; i < kSeeds; ++i) {
    // It stops where the seeded shader does: what costs were chosen by counts each place once.
    if (static_cast<Seed>(i) == Seed::kPipeline) continue;
    const std::optional<SeededHang> made = SeedHang(tables, static_cast<Seed>(i), Form::kI915);
    if (!made) continue;
    absl::StatusOr<Dump> dump = ReadDump(BytesOf(made->text));
    if (!dump.ok()) continue;
    AddRings(tables, *dump);
    const HangReport report = MakeHangReport(tables, *dump);
    if (report.engines.empty() || report.engines[0].header_name.empty()) continue;
    const auto header = static_cast<uint32_t>(report.engines[0].stop.header->value);
    // Zero makes no code: an MI_NOOP, or registers after a reset.
    if (header != 0) headers.emplace_back(header, report.engines[0].header_name);
  }
  return headers;
}

// Each with several sets of `busy` units besides the command streamer.
void AddRate(const tables::Tables& tables,
             const std::vector<std::pair<uint32_t, std::string>>& headers, int busy, Rate& rate) {
  std::vector<uint32_t> bits;
  uint32_t streamer = 0;
  const uint32_t units = tables.FindDumped("INSTDONE", 1);
  for (const tables::Leaf& leaf : tables.leaves(tables.container(units).leaves)) {
    if (leaf.extra == tables::kNone || leaf.width != 1) continue;
    if (tables.extra(leaf.extra).meaning != tables::Meaning::kIdle) continue;
    bits.push_back(1u << leaf.bit);
    if (tables.string(leaf.name).substr(0, 3) == "CS ") streamer = 1u << leaf.bit;
  }
  ASSERT_NE(streamer, 0u) << tables.generation();
  std::mt19937 random(2);
  for (const auto& header : headers) {
    for (int round = 0; round < 12; ++round) {
      uint32_t idle = ~streamer;
      for (int unit = 0; unit < busy; ++unit) idle &= ~bits[random() % bits.size()];
      const std::vector<EcodeCandidate> candidates = RankEcode(
          tables,
          {.version = 0, .engine = "render", .several = false, .code = header.first ^ idle});
      const auto is = [&](const EcodeCandidate& one) { return one.command == header.second; };
      ++rate.all;
      rate.first += !candidates.empty() && is(candidates[0]) ? 1 : 0;
      rate.listed += std::any_of(candidates.begin(), candidates.end(), is) ? 1 : 0;
    }
  }
}

TEST(Ecode, IsAsGoodAsTheDocumentationSays) {
  std::string table =
      "| busy units besides the command streamer | first | among the 16 |\n|---|---|---|\n";
  std::vector<tables::Tables> all;
  std::vector<std::vector<std::pair<uint32_t, std::string>>> headers;
  // The costs were chosen by those of Gfx9, Gfx11 and Gfx12.
  for (const char* generation : {"gfx8"}) {
    all.push_back(*FindGeneration(generation));
    headers.push_back(Headers(all.back()));
  }
  Rate whole;
  for (const int busy : {0, 2, 4, 8}) {
    Rate rate;
    for (size_t i = 0; i < all.size(); ++i) AddRate(all[i], headers[i], busy, rate);
    whole.first += rate.first;
    whole.all += rate.all;
    ASSERT_GT(rate.all, 100);
    absl::StrAppendFormat(&table, "| %d | %d %% | %d %% |\n", busy, 100 * rate.first / rate.all,
                          100 * rate.listed / rate.all);
  }
  EXPECT_EQ(kFirstIsRight, 100 * whole.first / whole.all) << "what the program says";
  const absl::StatusOr<FileBytes> page = OpenFile("docs/hang.md");
  ASSERT_TRUE(page.ok()) << page.status();
  const std::string text(reinterpret_cast<const char*>(page->bytes.data()), page->bytes.size());
  EXPECT_THAT(text, testing::HasSubstr(table)) << table;
}

}  // namespace
}  // namespace packsmith::hang
