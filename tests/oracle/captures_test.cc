// Real captures, decoded by packsmith and by an independent decoder: the two must agree in every
// packet, field and structure.

#include <map>
#include <memory>
#include <string>
#include <utility>
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

// Counts of the oracle's text of a capture, made by hand (grep) rather than by the parser.
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

std::vector<std::string> Dumps(const Capture& capture) {
  std::vector<std::string> files;
  for (int i = 0; i < capture.submissions; ++i) {
    files.push_back(absl::StrFormat("%s%02d.core.zst", Folder(capture), i));
  }
  return files;
}

// Both decoders' results for a capture.
struct Decoded {
  std::string text;
  Oracle oracle;
  std::string records;
  CompareResult result;
};

absl::StatusOr<std::unique_ptr<const Decoded>> Decode(const Capture& capture) {
  auto decoded = std::make_unique<Decoded>();
  absl::StatusOr<std::string> text = ReadText(Folder(capture) + "oracle.txt.zst");
  if (!text.ok()) return text.status();
  decoded->text = *std::move(text);
  decoded->oracle = ParseOracle(decoded->text);
  absl::StatusOr<std::string> records = RunUnpack(Dumps(capture));
  if (!records.ok()) return records.status();
  decoded->records = *std::move(records);
  absl::StatusOr<CompareResult> result = CompareWithRecords(decoded->oracle, decoded->records);
  if (!result.ok()) return result.status();
  decoded->result = *std::move(result);
  return decoded;
}

class Captures : public testing::TestWithParam<Capture> {
 protected:
  void SetUp() override {
    // Each is decoded once for all tests.
    static auto& all = *new std::map<std::string, absl::StatusOr<std::unique_ptr<const Decoded>>>;
    auto at = all.find(GetParam().folder);
    if (at == all.end()) at = all.emplace(GetParam().folder, Decode(GetParam())).first;
    ASSERT_TRUE(at->second.ok()) << at->second.status();
    decoded_ = at->second->get();
  }

  const Oracle& oracle() const { return decoded_->oracle; }
  const CompareResult& result() const { return decoded_->result; }

  const Decoded* decoded_ = nullptr;
};

TEST_P(Captures, OracleTextIsUnderstoodToTheLastLine) {
  for (const OracleUnparsed& line : oracle().unparsed) {
    ADD_FAILURE() << "line " << line.line << ": " << line.why << ": " << line.text;
  }
  EXPECT_EQ(result().batches, GetParam().submissions);
  EXPECT_EQ(result().oracle_packets, GetParam().packets);
}

TEST_P(Captures, EveryPacketIsKnown) {
  EXPECT_EQ(result().unknown_records, 0) << result().Report();
}

TEST_P(Captures, EveryPacketFieldAndStructureAgrees) {
  EXPECT_EQ(result().mismatch_count, 0) << result().Report();
  EXPECT_EQ(result().packets_compared, GetParam().packets);
  EXPECT_EQ(result().registers_compared, GetParam().registers);
}

TEST_P(Captures, EveryFieldOfTheOracleIsAccountedFor) {
  EXPECT_EQ(result().fields_compared + result().fields_excused, result().oracle_fields)
      << result().Report();
}

TEST_P(Captures, ExcusesOnlyWhatIsKnownToNeedIt) {
  EXPECT_TRUE(SilentRules(GetParam().folder, result()).empty())
      << absl::StrJoin(SilentRules(GetParam().folder, result()), ", ");
  // A rule that fires in a capture that it does not list hides a new difference.
  for (const CompareRule& rule : CompareRules()) {
    if (result().rules.at(rule.name) == 0) continue;
    EXPECT_NE(absl::StrCat(" ", rule.folders, " ").find(absl::StrCat(" ", GetParam().folder, " ")),
              std::string::npos)
        << rule.name << " fired " << result().rules.at(rule.name) << " times";
  }
}

TEST_P(Captures, NothingElseIsLeftOut) {
  // The oracle names the shaders, which the records have as kernel pointers of the packets; it
  // heads structures that it does not show; and on Gfx4 and 5 it misses memory that nothing uses:
  // the state of a clipper that is off, viewports without the transform.
  for (const auto& [what, count] : result().not_compared) {
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
  const absl::StatusOr<std::string> again = RunUnpack(Dumps(GetParam()));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, decoded_->records);
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
