// The same trees as virtual files and as real ones: random paths end at the same place, or with the
// same error, as the kernel's openat2() says below the directory that stands for the root.
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/capture/devices/virtual_files.h"

namespace packsmith::capture {
namespace {

// Where a path ends, or the errno.
struct Place {
  int error = 0;
  std::string path;
  bool operator==(const Place&) const = default;
};

class KernelPathsTest : public testing::Test {
 protected:
  KernelPathsTest() {
    root_ = absl::StrCat(testing::TempDir(), "/kernel_paths_XXXXXX");
    EXPECT_NE(mkdtemp(root_.data()), nullptr);
    char* const real = realpath(root_.c_str(), nullptr);
    if (real != nullptr) root_ = real;
    std::free(real);
    root_fd_ = open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    EXPECT_GE(root_fd_, 0);
    // No path ends in the real root.
    EXPECT_TRUE(files_.AddDirectory("/", {.kind = DirectoryKind::kOwned}).ok());
  }
  ~KernelPathsTest() override { close(root_fd_); }

  Place AskKernel(const std::string& path, bool follow) const {
    open_how how = {};
    how.flags = O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW);
    how.resolve = RESOLVE_IN_ROOT;
    int fd;
    do {
      fd = static_cast<int>(syscall(SYS_openat2, root_fd_, path.c_str(), &how, sizeof how));
      // Somebody renames or mounts something, anywhere: whether ".." leads out of the root is not
      // sure then.
    } while (fd < 0 && errno == EAGAIN);
    if (fd < 0) return {errno, ""};
    std::vector<char> target(2 * kMaxPath);
    const ssize_t size =
        readlink(absl::StrCat("/proc/self/fd/", fd).c_str(), target.data(), target.size());
    close(fd);
    if (size < 0) return {errno, ""};
    std::string found(target.data(), static_cast<size_t>(size));
    EXPECT_EQ(found.compare(0, root_.size(), root_), 0) << found;
    found.erase(0, root_.size());
    return {0, found.empty() ? "/" : found};
  }
  Place AskTree(absl::string_view path, bool follow) const {
    const FileAnswer answer = files_.Lookup(path, follow);
    EXPECT_NE(answer.status, PathStatus::kReal) << path;
    if (answer.status != PathStatus::kVirtual) return {ErrnoOf(answer.status), ""};
    Place place;
    place.path.assign(answer.path.data(), answer.path_size);
    return place;
  }

  void AddDirectory(const std::string& path) {
    ASSERT_EQ(mkdir((root_ + path).c_str(), 0755), 0) << strerror(errno);
    ASSERT_TRUE(files_.AddDirectory(path, {.kind = DirectoryKind::kOwned}).ok());
  }
  void AddFile(const std::string& path) {
    const int fd = open((root_ + path).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ASSERT_GE(fd, 0) << strerror(errno);
    close(fd);
    ASSERT_TRUE(files_.AddFile(path, {}).ok());
  }
  void AddLink(const std::string& path, const std::string& target) {
    ASSERT_EQ(symlink(target.c_str(), (root_ + path).c_str()), 0) << strerror(errno);
    ASSERT_TRUE(files_.AddLink(path, target).ok());
  }

  std::string root_;
  int root_fd_ = -1;
  VirtualFiles files_;
};

// Of few names, so that most paths find something.
std::string RandomPath(std::mt19937& random, unsigned most_names) {
  static constexpr const char* kNames[] = {"a", "b", "c", "d", "..", ".", "..", "e"};
  std::string path = random() % 2 == 0 ? "/" : "";
  const unsigned names = 1 + random() % most_names;
  for (unsigned i = 0; i < names; ++i) {
    absl::StrAppend(&path, kNames[random() % 8], i + 1 < names ? "/" : "",
                    random() % 8 == 0 ? "/" : "");
  }
  return path;
}

TEST_F(KernelPathsTest, RandomPathsLeadToTheSamePlace) {
  if (AskKernel("/", true).error == ENOSYS) GTEST_SKIP() << "this kernel has no openat2()";
  std::mt19937 random(19);
  unsigned found = 0, failed = 0;
  for (unsigned tree = 0; tree < 12; ++tree) {
    const std::string top = absl::StrCat("/", tree);
    std::vector<std::string> directories = {top};
    AddDirectory(top);
    for (unsigned i = 0; i < 24; ++i) {
      const std::string path = absl::StrCat(directories[random() % directories.size()], "/",
                                            std::string(1, static_cast<char>('a' + random() % 4)));
      if (files_.Lookup(path, false).status == PathStatus::kVirtual) continue;
      switch (random() % 5) {
        case 0:
        case 1:
          AddDirectory(path);
          directories.push_back(path);
          break;
        case 2:
          AddFile(path);
          break;
        default: {
          std::string target = RandomPath(random, 4);
          if (target[0] == '/') target.insert(0, top);
          AddLink(path, target);
        }
      }
    }
    for (unsigned i = 0; i < 600; ++i) {
      const std::string path = absl::StrCat(top, "/", RandomPath(random, 9));
      for (const bool follow : {false, true}) {
        const Place kernel = AskKernel(path, follow), own = AskTree(path, follow);
        ASSERT_EQ(own.error, kernel.error) << path << ": " << strerror(kernel.error);
        ASSERT_EQ(own.path, kernel.path) << path;
        ++(kernel.error == 0 ? found : failed);
      }
    }
  }
  EXPECT_GT(found, 1000u);
  EXPECT_GT(failed, 1000u);
}

TEST_F(KernelPathsTest, LimitsAreTheSame) {
  if (AskKernel("/", true).error == ENOSYS) GTEST_SKIP() << "this kernel has no openat2()";
  AddDirectory("/d");
  AddFile("/d/file");
  AddLink("/d/1", "file");
  for (unsigned i = 2; i <= kMaxLinks + 2; ++i) {
    AddLink(absl::StrCat("/d/", i), absl::StrCat(i - 1));
  }
  AddLink("/d/loop", "loop");
  AddLink("/d/up", "../../../d");
  std::vector<std::string> paths = {"",        "/",          "//",        "/d/",        "/d/file/",
                                    "/d/1/",   "/d/file/..", "/d/loop/x", "/d/up/up/1", "/..",
                                    "/../d/.", "/d/loop/",   "/d/none/"};
  for (unsigned i = kMaxLinks - 1; i <= kMaxLinks + 2; ++i) paths.push_back(absl::StrCat("/d/", i));
  for (const size_t size : {255, 256, 300}) paths.push_back("/d/" + std::string(size, 'n'));
  for (const size_t size : {4094, 4095, 4096, 5000}) {
    paths.push_back(std::string(size - 2, '/') + "d/");
    std::string up = "/d";
    while (up.size() + 5 <= size) up += "/../d";
    paths.push_back(up);
  }
  for (const std::string& path : paths) {
    for (const bool follow : {false, true}) {
      EXPECT_EQ(AskTree(path, follow), AskKernel(path, follow))
          << path.substr(0, 40) << " of " << path.size() << " bytes";
    }
  }
}

}  // namespace
}  // namespace packsmith::capture
