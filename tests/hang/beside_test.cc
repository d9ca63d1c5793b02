// What packsmith-collect saved beside a dump.

#include "runtime/hang/beside.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace packsmith::hang {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr char kLog[] =
    "[    1.000000] xe 0000:03:00.0: [drm] Engine reset: engine_class=ccs, guc_id=1\n";

// A folder with these files, and the path of a dump in it.
std::string DumpBeside(const std::string& about, const std::string& log) {
  const std::string folder =
      testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name();
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  if (!about.empty()) std::ofstream(folder + "/about.json") << about;
  if (!log.empty()) std::ofstream(folder + "/dmesg.txt") << log;
  return folder + "/data.zst";
}

TEST(Beside, TheDeviceAndTheLogAreRead) {
  const Beside beside =
      ReadBeside(DumpBeside(R"({"type": "collected dump", "address": "0000:03:00.0"})", kLog));
  EXPECT_EQ(beside.device, "0000:03:00.0");
  ASSERT_THAT(beside.events, SizeIs(1));
  EXPECT_EQ(beside.events[0].queue, 1u);
}

TEST(Beside, FoldersOfOthersSayNothing) {
  for (const char* about : {"", "{", "[]", "{}", R"({"type": 1})", R"({"type": "dump"})"}) {
    const Beside beside = ReadBeside(DumpBeside(about, kLog));
    EXPECT_THAT(beside.device, IsEmpty()) << about;
    EXPECT_THAT(beside.events, IsEmpty()) << about;
  }
  EXPECT_THAT(ReadBeside("-").events, IsEmpty());
}

TEST(Beside, WhatIsMissingOrOfAnotherKindIsEmpty) {
  const Beside beside = ReadBeside(DumpBeside(R"({"type": "collected dump", "address": 3})", ""));
  EXPECT_THAT(beside.device, IsEmpty());
  EXPECT_THAT(beside.events, IsEmpty());
}

}  // namespace
}  // namespace packsmith::hang
