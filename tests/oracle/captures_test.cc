// Real captures, decoded by packsmith and by an independent decoder: the two must agree in every
// packet, field and structure.

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/run_unpack.h"

namespace packsmith {
namespace {

// What the oracle's text of a capture holds, counted by hand (grep) rather than by the parser.
struct Capture {
  const char* folder;
  int submissions;
  int packets;
  int registers;
};

void PrintTo(const Capture& capture, std::ostream* os) { *os << capture.folder; }

constexpr Capture kCaptures[] = {
    {"i965-gl-basic", 3, 284, 0},  {"ilk-gl-basic", 3, 295, 0},    {"snb-gl-basic", 3, 620, 0},
    {"ivb-gl-basic", 4, 775, 7},   {"hsw-vk-compute", 8, 503, 50}, {"bdw-vk-compute", 5, 237, 6},
    {"skl-gl-basic", 5, 939, 10},  {"skl-vulkaninfo", 2, 22, 4},   {"icl-gl-basic", 5, 869, 10},
    {"tgl-gl-basic", 5, 864, 10},  {"dg2-gl-basic", 5, 861, 3},    {"skl-gl-compute", 3, 66, 4},
    {"icl-gl-compute", 3, 61, 10}, {"tgl-gl-compute", 3, 72, 10},  {"dg2-gl-compute", 3, 103, 3},
};

std::string Folder(const Capture& capture) {
  return absl::StrCat("tests/data/captures/", capture.folder, "/");
}

class Captures : public testing::TestWithParam<Capture> {
 protected:
  void SetUp() override {
    const Capture& capture = GetParam();
    absl::StatusOr<std::string> text = ReadText(Folder(capture) + "oracle.txt.zst");
    ASSERT_TRUE(text.ok()) << text.status();
    text_ = *std::move(text);
    oracle_ = ParseOracle(text_);
    std::vector<std::string> files;
    for (int i = 0; i < capture.submissions; ++i) {
      files.push_back(absl::StrFormat("%s%02d.core.zst", Folder(capture), i));
    }
    absl::StatusOr<std::string> records = RunUnpack(files);
    ASSERT_TRUE(records.ok()) << records.status();
    records_ = *std::move(records);
    absl::StatusOr<CompareResult> result = CompareWithRecords(oracle_, records_);
    ASSERT_TRUE(result.ok()) << result.status();
    result_ = *std::move(result);
  }

  std::string text_;
  Oracle oracle_;
  std::string records_;
  CompareResult result_;
};

TEST_P(Captures, OracleTextIsUnderstoodToTheLastLine) {
  for (const OracleUnparsed& line : oracle_.unparsed) {
    ADD_FAILURE() << "line " << line.line << ": " << line.why << ": " << line.text;
  }
  EXPECT_EQ(result_.batches, GetParam().submissions);
  EXPECT_EQ(result_.oracle_packets, GetParam().packets);
}

TEST_P(Captures, EveryPacketIsKnown) { EXPECT_EQ(result_.unknown_records, 0) << result_.Report(); }

TEST_P(Captures, EveryPacketFieldAndStructureAgrees) {
  EXPECT_EQ(result_.mismatch_count, 0) << result_.Report();
  EXPECT_EQ(result_.packets_compared, GetParam().packets);
  EXPECT_EQ(result_.registers_compared, GetParam().registers);
}

TEST_P(Captures, EveryFieldOfTheOracleIsAccountedFor) {
  EXPECT_EQ(result_.fields_compared + result_.fields_excused, result_.oracle_fields)
      << result_.Report();
}

TEST_P(Captures, ExcusesOnlyWhatIsKnownToNeedIt) {
  EXPECT_TRUE(SilentRules(GetParam().folder, result_).empty())
      << absl::StrJoin(SilentRules(GetParam().folder, result_), ", ");
  // A rule that begins to fire in a capture that it is not for hides something new.
  for (const CompareRule& rule : CompareRules()) {
    if (result_.rules.at(rule.name) == 0) continue;
    EXPECT_NE(absl::StrCat(" ", rule.folders, " ").find(absl::StrCat(" ", GetParam().folder, " ")),
              std::string::npos)
        << rule.name << " fired " << result_.rules.at(rule.name) << " times";
  }
}

TEST_P(Captures, NothingElseIsLeftOut) {
  // The oracle names the shaders, which the records have as kernel pointers of the packets; it
  // heads structures that it does not show; and on Gfx4 and 5 it misses memory that nothing uses:
  // the state of a clipper that is off, viewports without the transform.
  for (const auto& [what, count] : result_.not_compared) {
    EXPECT_TRUE(what.rfind("shader reference: ", 0) == 0 ||
                what == "heading without contents: SAMPLER_STATE" ||
                what == "heading without contents: BLEND_STATE" ||
                what == "heading without contents: CLIP_STATE" ||
                what == "unavailable memory, no fault in the record: clip state unavailable" ||
                what == "unavailable memory, no fault in the record: sf vp state unavailable")
        << what << ": " << count;
  }
}

TEST_P(Captures, RecordsAreTheSameInEveryRun) {
  std::vector<std::string> files;
  for (int i = 0; i < GetParam().submissions; ++i) {
    files.push_back(absl::StrFormat("%s%02d.core.zst", Folder(GetParam()), i));
  }
  const absl::StatusOr<std::string> again = RunUnpack(files);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, records_);
}

INSTANTIATE_TEST_SUITE_P(Shipped, Captures, testing::ValuesIn(kCaptures), [](const auto& info) {
  std::string name = info.param.folder;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
});

}  // namespace
}  // namespace packsmith
