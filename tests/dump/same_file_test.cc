#include "runtime/base/same_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace packsmith {
namespace {

namespace fs = std::filesystem;

class SameFileTest : public testing::Test {
 protected:
  SameFileTest() {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (const char* name : {"a", "b"}) std::ofstream(folder_ / name) << "x";
  }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

TEST_F(SameFileTest, LinksAndOtherSpellingsAreTheSame) {
  fs::create_symlink("a", folder_ / "symbolic");
  fs::create_hard_link(folder_ / "a", folder_ / "hard");
  const int descriptor = open(Path("a").c_str(), O_RDONLY);
  for (const std::string& name :
       {Path("a"), Path("symbolic"), Path("hard"), Path("../") + folder_.filename().string() + "/a",
        absl::StrCat("/proc/self/fd/", descriptor)}) {
    EXPECT_TRUE(IsSameFile(Path("a"), name)) << name;
    EXPECT_TRUE(IsSameFile(name, Path("a"))) << name;
  }
  close(descriptor);
}

TEST_F(SameFileTest, EqualContentIsNotTheSame) { EXPECT_FALSE(IsSameFile(Path("a"), Path("b"))); }

TEST_F(SameFileTest, WhatDoesNotExistIsNotTheSame) {
  EXPECT_FALSE(IsSameFile(Path("none"), Path("none")));
  EXPECT_FALSE(IsSameFile(Path("a"), Path("none")));
}

TEST_F(SameFileTest, DevicesLoseNothing) { EXPECT_FALSE(IsSameFile("/dev/null", "/dev/null")); }

TEST_F(SameFileTest, TheMessageNamesBothAndTheRemedy) {
  EXPECT_TRUE(RefuseToOverwrite(Path("b"), {Path("a")}).ok());
  fs::create_symlink("a", folder_ / "link");
  const absl::Status status = RefuseToOverwrite(Path("link"), {Path("b"), Path("a")});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            absl::StrCat(Path("link"), " is the same file as the input ", Path("a"),
                         ", which would be overwritten; write to another file"));
}

}  // namespace
}  // namespace packsmith
