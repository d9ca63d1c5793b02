// Real drivers' captures give only the alarms that docs/lint.md argues for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "runtime/decode/decoder.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/lint/lint.h"

namespace packsmith::lint {
namespace {

class Ignore : public AlarmSink {
 public:
  void OnAlarm(const Alarm&) override {}
};

using Counts = std::map<std::string, uint64_t>;

// All dumps of a folder, in order.
Counts Lint(const std::filesystem::path& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (absl::StrContains(entry.path().string(), ".core")) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  Ignore ignore;
  absl::StatusOr<tables::Tables> tables = absl::NotFoundError("");
  std::unique_ptr<LintSink> sink;
  std::unique_ptr<decode::Decoder> decoder;
  std::vector<Dump> dumps;
  for (const std::string& path : paths) {
    absl::StatusOr<Dump> dump = ReadDump(path, {});
    EXPECT_TRUE(dump.ok()) << dump.status();
    if (!dump.ok()) continue;
    if (decoder == nullptr) {
      tables = FindGeneration(dump->device.generation);
      EXPECT_TRUE(tables.ok()) << tables.status();
      if (!tables.ok()) break;
      sink = MakeLintSink(ignore, {});
      decoder = std::make_unique<decode::Decoder>(*tables, *sink, LintDecoding());
    }
    dumps.push_back(*std::move(dump));
    decoder->Decode(dumps.back());
  }
  if (decoder == nullptr) return {};
  decoder->Finish();
  return sink->counts().by_rule;
}

TEST(Captures, GiveTheAlarmsThatThePageArguesFor) {
  const std::map<std::string, Counts> kAlarms = {
      {"bdw-vk-compute", {{"L603", 1}}},
      {"dg2-gl-basic", {{"L107", 1}, {"L110", 17}, {"L309", 1}, {"L501", 1}}},
      {"dg2-gl-compute", {{"L107", 1}, {"L110", 3}, {"L309", 1}}},
      {"hsw-vk-compute", {{"L603", 1}}},
      {"icl-gl-basic", {{"L303", 23}, {"L304", 2}, {"L309", 16}, {"L502", 14}, {"L506", 2}}},
      {"ilk-gl-basic", {{"L202", 2}, {"L309", 3}}},
      {"ivb-gl-basic", {{"L602", 1}}},
      {"skl-gl-basic", {{"L309", 1}}},
      {"tgl-gl-basic", {{"L309", 1}}},
  };
  std::map<std::string, Counts> found;
  for (const auto& entry : std::filesystem::directory_iterator("tests/data/captures")) {
    if (!entry.is_directory()) continue;
    Counts counts = Lint(entry.path());
    if (!counts.empty()) found[entry.path().filename().string()] = std::move(counts);
  }
  EXPECT_EQ(found, kAlarms);
}

}  // namespace
}  // namespace packsmith::lint
