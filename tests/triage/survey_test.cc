// Many files by several threads: with --config=tsan this finds races.

#include "runtime/triage/survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"
#include "runtime/generations/generations.h"

namespace packsmith::triage {
namespace {

constexpr int kDumps = 60;

// A folder of small dumps and one file that is none.
std::string MakeFolder() {
  const std::string folder = testing::TempDir() + "/survey";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (int i = 0; i < kDumps; ++i) {
    std::ofstream(absl::StrCat(folder, "/", i, ".error"))
        << "GPU HANG: ecode 9:1:0x85dffffb, in app" << i << " [1]\nPCI ID: 0x1912\n"
        << "rcs0 command stream:\n  ACTHD: 0x00000000 00001000\n  IPEHR: 0x7a000004\n"
        << "  hung: 1\nrcs0 --- batch = 0x00000000 00001000\n00000000 :  05000000\n";
  }
  std::ofstream(folder + "/README") << "no dump\n";
  return folder;
}

TEST(Survey, OfSeveralThreadsTakesAllInOrderAndKnowsThemAgain) {
  const std::string folder = MakeFolder();
  std::vector<std::string> problems;
  const std::vector<Found> files = FindFiles({folder}, problems);
  ASSERT_EQ(files.size(), kDumps + 1u);
  std::atomic<int> described = 0;
  SurveyOptions options;
  options.jobs = 4;
  options.max_bytes = kDefaultMaxBytes;
  options.describe = [&](const Dump&) {
    ++described;
    return FindGeneration("gfx9");
  };
  const std::string state_path = testing::TempDir() + "/survey.state";
  std::filesystem::remove(state_path);
  for (const bool again : {false, true}) {
    absl::StatusOr<StateFile> state = StateFile::Open(state_path);
    ASSERT_TRUE(state.ok()) << state.status();
    std::vector<std::string> taken;
    int hangs = 0;
    const absl::StatusOr<SurveyCount> count =
        Survey(files, options, &*state, [&](const Record& record) {
          taken.push_back(record.file.path);
          hangs += record.outcome == Outcome::kHang ? 1 : 0;
        });
    ASSERT_TRUE(count.ok()) << count.status();
    EXPECT_EQ(count->known, again ? files.size() : 0);
    EXPECT_EQ(hangs, kDumps);
    ASSERT_EQ(taken.size(), files.size());
    for (size_t i = 0; i < files.size(); ++i) EXPECT_EQ(taken[i], files[i].path);
    EXPECT_TRUE(state->Finish().ok());
  }
  EXPECT_EQ(described, kDumps) << "the second run read nothing";
}

}  // namespace
}  // namespace packsmith::triage
