#include "runtime/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

namespace packsmith {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  FileTest() {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~FileTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  size_t Count() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static std::string Content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  static std::string Text(const FileBytes& file) {
    return std::string(file.bytes.begin(), file.bytes.end());
  }

  fs::path folder_;
};

TEST_F(FileTest, OpensSmallLargeAndEmptyFiles) {
  for (const size_t size : {size_t{0}, size_t{5}, size_t{3} << 20}) {
    const std::string content(size, 'x');
    std::ofstream(Path("f"), std::ios::binary) << content;
    const absl::StatusOr<FileBytes> file = OpenFile(Path("f"));
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(Text(*file), content);
    EXPECT_EQ(file->name, Path("f"));
  }
}

TEST_F(FileTest, BytesOutliveTheFirstCopy) {
  std::ofstream(Path("f"), std::ios::binary) << std::string(2 << 20, 'y');
  FileBytes copy;
  {
    const absl::StatusOr<FileBytes> file = OpenFile(Path("f"));
    ASSERT_TRUE(file.ok());
    copy = *file;
  }
  EXPECT_EQ(copy.bytes.back(), 'y');
}

TEST_F(FileTest, ReadsPipesToTheirEnd) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  const std::string content(1'000'000, 'z');
  std::thread writer([&] { std::ofstream(Path("pipe"), std::ios::binary) << content; });
  const absl::StatusOr<FileBytes> file = OpenFile(Path("pipe"));
  writer.join();
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(Text(*file), content);
}

TEST_F(FileTest, EndlessInputStopsAtTheLimit) {
  const absl::StatusOr<FileBytes> file = OpenFile("/dev/zero", 1 << 20);
  EXPECT_EQ(file.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(FileTest, ReadsStandardInput) {
  std::ofstream(Path("f"), std::ios::binary) << "from here";
  const int saved = dup(STDIN_FILENO);
  const int fd = open(Path("f").c_str(), O_RDONLY);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(dup2(fd, STDIN_FILENO), STDIN_FILENO);
  const absl::StatusOr<FileBytes> file = OpenFile("-");
  if (saved >= 0) {
    dup2(saved, STDIN_FILENO);
    close(saved);
  }
  close(fd);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(Text(*file), "from here");
  EXPECT_EQ(file->name, "<stdin>");
}

TEST_F(FileTest, MissingFilesAndFoldersAreErrors) {
  EXPECT_EQ(OpenFile(Path("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(OpenFile(folder_.string()).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(WriteFileWhole(Path("none/f"), "x").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(WriteFileWhole(folder_.string(), "x").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(WriteFileWhole("", "x").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Count(), 0u);
}

TEST_F(FileTest, WritesAndReplaces) {
  ASSERT_TRUE(WriteFileWhole(Path("f"), "one").ok());
  EXPECT_EQ(Content(Path("f")), "one");
  ASSERT_TRUE(WriteFileWhole(Path("f"), "two").ok());
  EXPECT_EQ(Content(Path("f")), "two");
  EXPECT_EQ(Count(), 1u);
}

TEST_F(FileTest, NewFilesFollowTheUmaskAndOldOnesKeepTheirMode) {
  const mode_t old = umask(027);
  ASSERT_TRUE(WriteFileWhole(Path("f"), "x").ok());
  umask(old);
  struct stat info;
  ASSERT_EQ(stat(Path("f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  ASSERT_EQ(chmod(Path("f").c_str(), 0604), 0);
  ASSERT_TRUE(WriteFileWhole(Path("f"), "y").ok());
  ASSERT_EQ(stat(Path("f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0604u);
}

TEST_F(FileTest, GathersSmallPiecesAndPassesLargeOnes) {
  absl::StatusOr<FileWriter> writer = FileWriter::Create(Path("f"));
  ASSERT_TRUE(writer.ok());
  std::string expected;
  for (int i = 0; i < 2000; ++i) {
    const std::string piece(i % 7 == 0 ? 300'001 / (1 + i) : 3, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(writer->Append(piece).ok());
    expected += piece;
  }
  EXPECT_EQ(writer->size(), expected.size());
  ASSERT_TRUE(writer->Commit().ok());
  EXPECT_EQ(Content(Path("f")), expected);
}

TEST_F(FileTest, WithoutCommitNothingIsLeftAndTheOldFileStays) {
  ASSERT_TRUE(WriteFileWhole(Path("f"), "old").ok());
  {
    absl::StatusOr<FileWriter> writer = FileWriter::Create(Path("f"));
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Append("new").ok());
    EXPECT_EQ(Count(), 2u);
  }
  EXPECT_EQ(Count(), 1u);
  EXPECT_EQ(Content(Path("f")), "old");
}

TEST_F(FileTest, AMovedWriterCleansUpOnce) {
  {
    absl::StatusOr<FileWriter> writer = FileWriter::Create(Path("f"));
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Append("text").ok());
    FileWriter moved = *std::move(writer);
    EXPECT_FALSE(writer->Append("more").ok());
    EXPECT_TRUE(moved.Commit().ok());
    EXPECT_FALSE(moved.Append("late").ok());
    EXPECT_FALSE(moved.Commit().ok());
  }
  EXPECT_EQ(Content(Path("f")), "text");
  EXPECT_EQ(Count(), 1u);
}

TEST_F(FileTest, AFullDiskLeavesNothing) {
  ASSERT_TRUE(WriteFileWhole(Path("f"), "old").ok());
  // A limit on file sizes fails in the middle of a write, as a full disk does.
  rlimit old_limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  rlimit limit = old_limit;
  limit.rlim_cur = 1 << 20;
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const absl::Status status = WriteFileWhole(Path("f"), std::string(4 << 20, 'x'));
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(Content(Path("f")), "old");
  EXPECT_EQ(Count(), 1u);
}

TEST_F(FileTest, ALinkStaysALink) {
  ASSERT_TRUE(WriteFileWhole(Path("target"), "old").ok());
  fs::create_symlink("target", folder_ / "link");
  ASSERT_TRUE(WriteFileWhole(Path("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(Content(Path("target")), "new");
}

TEST_F(FileTest, DevicesAreWrittenNotReplaced) {
  EXPECT_TRUE(WriteFileWhole("/dev/null", "gone").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(FileTest, BytesOfOwnsItsContent) {
  const FileBytes text = BytesOf(std::string("abc"), "name");
  EXPECT_EQ(Text(text), "abc");
  EXPECT_EQ(text.name, "name");
  const FileBytes bytes = BytesOf(std::vector<uint8_t>{1, 2});
  EXPECT_EQ(bytes.bytes.size(), 2u);
}

}  // namespace
}  // namespace packsmith
