// The tree of virtual files: what lookups, lists, reads and writes answer, also for hostile paths
// and hostile bytes.
#include "runtime/capture/devices/virtual_files.h"

#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace packsmith::capture {
namespace {

constexpr char kDevice[] = "/sys/devices/pci0000:00/0000:00:02.0";

class VirtualFilesTest : public testing::Test {
 protected:
  VirtualFilesTest() {
    EXPECT_TRUE(files_.AddDirectory("/dev/dri", {.kind = DirectoryKind::kOwned}).ok());
    EXPECT_TRUE(files_.AddDevice("/dev/dri/card0", 226, 0).ok());
    EXPECT_TRUE(files_.AddDevice("/dev/dri/renderD128", 226, 128, 0660).ok());
    EXPECT_TRUE(files_.AddLink("/dev/dri/by-path/pci-0000:00:02.0-render", "../renderD128").ok());
    EXPECT_TRUE(files_.AddDirectory("/sys/dev/char", {.hidden = {"226:*", "9:9"}}).ok());
    EXPECT_TRUE(files_
                    .AddLink("/sys/dev/char/226:128",
                             "../../devices/pci0000:00/0000:00:02.0/drm/renderD128")
                    .ok());
    EXPECT_TRUE(files_.AddFile(absl::StrCat(kDevice, "/vendor"), {.content = "0x8086\n"}).ok());
    EXPECT_TRUE(files_.AddLink(absl::StrCat(kDevice, "/subsystem"), "../../../bus/pci").ok());
    EXPECT_TRUE(
        files_.AddLink(absl::StrCat(kDevice, "/drm/renderD128/device"), "../../../0000:00:02.0")
            .ok());
  }

  std::string RealPath(absl::string_view path) {
    const FileAnswer answer = files_.Lookup(path, true);
    EXPECT_EQ(answer.status, PathStatus::kVirtual) << path;
    return std::string(answer.real_path());
  }
  PathStatus StatusOf(absl::string_view path, bool follow = true) {
    return files_.Lookup(path, follow).status;
  }

  VirtualFiles files_;
};

TEST_F(VirtualFilesTest, ADeviceNodeHasItsNumbers) {
  const FileAnswer answer = files_.Lookup("/dev/dri/renderD128", true);
  ASSERT_EQ(answer.status, PathStatus::kVirtual);
  EXPECT_EQ(answer.facts.kind, FileKind::kDevice);
  EXPECT_EQ(answer.facts.mode, 0020660u);
  EXPECT_EQ(answer.facts.major, 226u);
  EXPECT_EQ(answer.facts.minor, 128u);
  EXPECT_NE(answer.facts.inode, files_.Lookup("/dev/dri/card0", true).facts.inode);
}

TEST_F(VirtualFilesTest, AFileHasASizeAndAMode) {
  const FileAnswer answer = files_.Lookup(absl::StrCat(kDevice, "/vendor"), true);
  EXPECT_EQ(answer.facts.mode, 0100444u);
  EXPECT_EQ(answer.facts.size, 4096u);
  EXPECT_FALSE(answer.facts.writable);
}

TEST_F(VirtualFilesTest, LinksDotsAndSlashesAreResolved) {
  EXPECT_EQ(RealPath("/dev/dri/by-path/pci-0000:00:02.0-render"), "/dev/dri/renderD128");
  EXPECT_EQ(RealPath("//dev/./dri//by-path/../renderD128"), "/dev/dri/renderD128");
  EXPECT_EQ(RealPath("/sys/dev/char/226:128/device"), kDevice);
  EXPECT_EQ(RealPath("/sys/dev/char/226:128/device/drm/.."), kDevice);
  EXPECT_EQ(RealPath("/sys/dev/char/226:128/device/vendor"), absl::StrCat(kDevice, "/vendor"));
  EXPECT_EQ(RealPath("/"), "/");
  EXPECT_EQ(RealPath("/../../.."), "/");
  EXPECT_EQ(RealPath("/../dev/dri/../../../../dev/dri"), "/dev/dri");
}

TEST_F(VirtualFilesTest, ALinkAtTheEndIsFollowedOnlyIfAskedFor) {
  const std::string link = "/sys/dev/char/226:128";
  EXPECT_EQ(files_.Lookup(link, false).facts.kind, FileKind::kLink);
  EXPECT_EQ(files_.Lookup(link, false).facts.mode, 0120777u);
  EXPECT_EQ(files_.Lookup(link, false).facts.size, files_.ReadLink(link).text.size());
  EXPECT_EQ(files_.Lookup(link, true).facts.kind, FileKind::kDirectory);
  EXPECT_EQ(files_.Lookup(link + "/", false).facts.kind, FileKind::kDirectory);
}

TEST_F(VirtualFilesTest, ReadLinkAnswersTheTargetAsItIs) {
  const FileText link = files_.ReadLink("/sys/dev/char/226:128/device/subsystem");
  EXPECT_EQ(link.status, PathStatus::kVirtual);
  EXPECT_EQ(link.text, "../../../bus/pci");
  EXPECT_EQ(files_.ReadLink("/dev/dri").status, PathStatus::kNotLink);
  EXPECT_EQ(files_.ReadLink("/dev/dri/none").status, PathStatus::kMissing);
}

TEST_F(VirtualFilesTest, TheRealFileSystemIsAskedForWhatTheTreeDoesNotHave) {
  for (const absl::string_view path :
       {"/etc/passwd", "/sys/dev/char/1:3", "/dev/null", "/sys/devices/system/../cpu",
        "relative/path", "/dev/dri/../null"}) {
    const FileAnswer answer = files_.Lookup(path, true);
    EXPECT_EQ(answer.status, PathStatus::kReal) << path;
    EXPECT_EQ(answer.real_path(), path) << "as given: the real path may have links";
  }
  // After a link of the tree the real kernel must be given another path.
  EXPECT_EQ(files_.Lookup("/sys/dev/char/226:128/device/subsystem/../x/../y", true).real_path(),
            "/sys/bus/pci/../x/../y");
  EXPECT_EQ(files_.Lookup("/sys/dev/char/226:128/device/subsystem/devices", true).real_path(),
            "/sys/bus/pci/devices");
}

TEST_F(VirtualFilesTest, AWayThroughTheRealFileSystemLeadsBack) {
  EXPECT_EQ(RealPath("/tmp/x/../../dev/dri/card0"), "/dev/dri/card0");
  EXPECT_EQ(RealPath("/dev/null/../dri/card0"), "/dev/dri/card0");
}

TEST_F(VirtualFilesTest, OwnedDirectoriesHideRealEntries) {
  EXPECT_EQ(StatusOf("/dev/dri/card1"), PathStatus::kMissing);
  EXPECT_EQ(StatusOf("/dev/dri/card1/x"), PathStatus::kMissing);
  const DirectoryListing listing = files_.List("/dev/dri/");
  ASSERT_EQ(listing.status, PathStatus::kVirtual);
  EXPECT_EQ(listing.path, "/dev/dri");
  ASSERT_EQ(listing.entries.size(), 3u);
  EXPECT_EQ(listing.entries[0].name, "by-path");
  EXPECT_EQ(listing.entries[0].kind, FileKind::kDirectory);
  EXPECT_EQ(listing.entries[1].name, "card0");
  EXPECT_EQ(listing.entries[2].name, "renderD128");
  EXPECT_FALSE(listing.ShowsReal("card1"));
}

TEST_F(VirtualFilesTest, DirectoriesOnTheWayAreAsTheirParent) {
  EXPECT_EQ(StatusOf("/dev/dri/by-path/x"), PathStatus::kMissing);
  EXPECT_EQ(StatusOf("/sys/devices/x"), PathStatus::kReal);
  ASSERT_TRUE(files_.AddDirectory("/dev/dri/by-path", {.kind = DirectoryKind::kMerged}).ok());
  EXPECT_EQ(StatusOf("/dev/dri/by-path/x"), PathStatus::kReal);
}

TEST_F(VirtualFilesTest, MergedDirectoriesShowRealEntriesExceptHiddenOnes) {
  const DirectoryListing listing = files_.List("/sys/dev/char");
  ASSERT_EQ(listing.status, PathStatus::kVirtual);
  EXPECT_TRUE(listing.ShowsReal("1:3"));
  EXPECT_FALSE(listing.ShowsReal("226:128")) << "the tree's own";
  EXPECT_FALSE(listing.ShowsReal("226:5")) << "hidden";
  EXPECT_FALSE(listing.ShowsReal("9:9")) << "hidden";
  EXPECT_TRUE(listing.ShowsReal("9:99"));
  EXPECT_EQ(StatusOf("/sys/dev/char/226:5"), PathStatus::kMissing);
  EXPECT_EQ(StatusOf("/sys/dev/char/226:5/device"), PathStatus::kMissing);
  EXPECT_EQ(files_.List("/etc").status, PathStatus::kReal);
  EXPECT_EQ(files_.List("/dev/dri/card0").status, PathStatus::kNotDirectory);
}

TEST_F(VirtualFilesTest, FilesAreNotDirectories) {
  EXPECT_EQ(StatusOf("/dev/dri/card0/"), PathStatus::kNotDirectory);
  EXPECT_EQ(StatusOf("/dev/dri/card0/."), PathStatus::kNotDirectory);
  EXPECT_EQ(StatusOf("/dev/dri/card0/.."), PathStatus::kNotDirectory);
  EXPECT_EQ(StatusOf("/dev/dri/card0/x"), PathStatus::kNotDirectory);
  EXPECT_EQ(files_.Read("/dev/dri").status, PathStatus::kIsDirectory);
  EXPECT_EQ(files_.Read("/dev/dri/card0").status, PathStatus::kDenied);
}

TEST_F(VirtualFilesTest, ContentIsReadOrMadeAtEachOpen) {
  EXPECT_EQ(files_.Read("/sys/dev/char/226:128/device/vendor").text, "0x8086\n");
  int opens = 0;
  ASSERT_TRUE(
      files_.AddFile("/proc/opens", {.make = [&] { return absl::StrCat(++opens); }, .size = 0})
          .ok());
  EXPECT_TRUE(files_.Lookup("/proc/opens", true).facts.dynamic);
  EXPECT_EQ(files_.Read("/proc/opens").text, "1");
  EXPECT_EQ(files_.Read("/proc/opens").text, "2");
}

TEST_F(VirtualFilesTest, AWriteMayChangeTheTree) {
  const std::string path = absl::StrCat(kDevice, "/error");
  ASSERT_TRUE(files_
                  .AddFile(path, {.content = "hang",
                                  .write =
                                      [&](absl::string_view data) {
                                        if (data == "bad") return EINVAL;
                                        EXPECT_TRUE(files_.SetContent(path, "none").ok());
                                        return 0;
                                      },
                                  .mode = 0644})
                  .ok());
  int error = 0;
  EXPECT_EQ(files_.Write(path, "bad", &error), PathStatus::kVirtual);
  EXPECT_EQ(error, EINVAL);
  EXPECT_EQ(files_.Read(path).text, "hang");
  EXPECT_EQ(files_.Write(path, "1", &error), PathStatus::kVirtual);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(files_.Read(path).text, "none");
  EXPECT_EQ(files_.Write(absl::StrCat(kDevice, "/vendor"), "1", &error), PathStatus::kDenied);
  EXPECT_EQ(error, EACCES);
  EXPECT_EQ(files_.Write("/dev/dri", "1", &error), PathStatus::kIsDirectory);
  EXPECT_EQ(error, EISDIR);
  EXPECT_EQ(files_.Write("/etc/passwd", "1", &error), PathStatus::kReal);
  EXPECT_EQ(error, 0);
}

TEST_F(VirtualFilesTest, ContentIsExchangedOnlyIfItIsTheExpectedOne) {
  const std::string path = absl::StrCat(kDevice, "/vendor");
  absl::StatusOr<bool> exchanged = files_.ExchangeContent(path, "other", "new");
  ASSERT_TRUE(exchanged.ok());
  EXPECT_FALSE(*exchanged);
  EXPECT_EQ(files_.Read(path).text, "0x8086\n");
  exchanged = files_.ExchangeContent(path, "0x8086\n", "new");
  ASSERT_TRUE(exchanged.ok());
  EXPECT_TRUE(*exchanged);
  EXPECT_EQ(files_.Read(path).text, "new");
  EXPECT_EQ(files_.ExchangeContent("/none", "", "").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(files_.SetContent("/dev/dri", "").code(), absl::StatusCode::kNotFound);
}

TEST_F(VirtualFilesTest, FilesAppearAndDisappear) {
  const uint64_t before = files_.version();
  ASSERT_TRUE(files_.AddFile("/sys/class/devcoredump/devcd1/data", {.content = "dump"}).ok());
  EXPECT_GT(files_.version(), before);
  EXPECT_EQ(files_.Read("/sys/class/devcoredump/devcd1/data").text, "dump");
  ASSERT_TRUE(files_.Remove("/sys/class/devcoredump/devcd1").ok());
  EXPECT_EQ(StatusOf("/sys/class/devcoredump/devcd1"), PathStatus::kReal) << "a merged directory";
  EXPECT_EQ(files_.Remove("/sys/class/devcoredump/devcd1").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(files_.Remove("/").code(), absl::StatusCode::kNotFound);
}

TEST_F(VirtualFilesTest, PathsThatCannotBeAddedAreRefused) {
  for (const std::string& path :
       {std::string("relative"), std::string(), std::string("/a/../b"), std::string("/a/./b"),
        "/" + std::string(256, 'a'), std::string("/a\0b", 4), std::string(4096, '/'),
        std::string("/dev/dri/card0/x")}) {
    EXPECT_EQ(files_.AddFile(path, {}).code(), absl::StatusCode::kInvalidArgument) << path;
  }
  EXPECT_EQ(files_.AddFile("/dev/dri/card0", {}).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(files_.AddDirectory("/dev/dri/card0").code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(files_.AddLink("/x", "").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(files_.AddLink("/x", std::string(4096, 'a')).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(files_.AddDirectory("/x", {.hidden = {""}}).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(VirtualFilesTest, LoopsOfLinksEnd) {
  ASSERT_TRUE(files_.AddLink("/dev/dri/a", "b").ok());
  ASSERT_TRUE(files_.AddLink("/dev/dri/b", "/dev/dri/a").ok());
  ASSERT_TRUE(files_.AddLink("/dev/dri/self", "self/x").ok());
  EXPECT_EQ(StatusOf("/dev/dri/a"), PathStatus::kLoop);
  EXPECT_EQ(StatusOf("/dev/dri/self"), PathStatus::kLoop);
  EXPECT_EQ(StatusOf("/dev/dri/a", false), PathStatus::kVirtual);
  EXPECT_EQ(ErrnoOf(PathStatus::kLoop), ELOOP);
}

TEST_F(VirtualFilesTest, AsManyLinksAsTheKernelFollowsAreFollowed) {
  ASSERT_TRUE(files_.AddLink("/dev/dri/l1", "card0").ok());
  for (unsigned i = 2; i <= kMaxLinks + 1; ++i) {
    ASSERT_TRUE(files_.AddLink(absl::StrCat("/dev/dri/l", i), absl::StrCat("l", i - 1)).ok());
  }
  EXPECT_EQ(RealPath(absl::StrCat("/dev/dri/l", kMaxLinks)), "/dev/dri/card0");
  EXPECT_EQ(StatusOf(absl::StrCat("/dev/dri/l", kMaxLinks + 1)), PathStatus::kLoop);
}

TEST_F(VirtualFilesTest, LongPathsAreBounded) {
  std::string path = "/dev/dri/card0";
  path.insert(0, kMaxPath - 1 - path.size(), '/');
  ASSERT_EQ(path.size(), kMaxPath - 1);
  EXPECT_EQ(StatusOf(path), PathStatus::kVirtual);
  EXPECT_EQ(StatusOf("/" + path), PathStatus::kTooLong);
  EXPECT_EQ(StatusOf("/dev/dri/" + std::string(255, 'a')), PathStatus::kMissing);
  EXPECT_EQ(StatusOf("/dev/dri/" + std::string(256, 'a')), PathStatus::kTooLong);
  EXPECT_EQ(StatusOf(""), PathStatus::kMissing);
  std::string up = "/";
  while (up.size() + 3 < kMaxPath - 8) up += "../";
  EXPECT_EQ(RealPath(up + "dev/dri"), "/dev/dri");
  // A link of the tree whose way into the real file system becomes too long.
  ASSERT_TRUE(files_.AddLink("/long", "/" + std::string(200, 'r')).ok());
  std::string rest = "/long";
  while (rest.size() < 4000) rest += "/" + std::string(100, 'x');
  EXPECT_EQ(StatusOf(rest), PathStatus::kTooLong);
}

TEST_F(VirtualFilesTest, ACopyAnswersTheSame) {
  ASSERT_TRUE(files_.AddFile("/proc/made", {.make = [] { return std::string("x"); }}).ok());
  ASSERT_TRUE(files_.AddFile("/proc/taken", {.write = [](absl::string_view) { return 0; }}).ok());
  const std::string bytes = files_.Serialise();
  absl::StatusOr<std::unique_ptr<VirtualFiles>> parsed = VirtualFiles::Parse(bytes);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const VirtualFiles& copy = **parsed;
  EXPECT_EQ(copy.Serialise(), bytes);
  EXPECT_EQ(copy.version(), files_.version());
  for (const absl::string_view path :
       {"/dev/dri/renderD128", "/sys/dev/char/226:128/device/vendor", "/sys/dev/char/226:7",
        "/dev/dri/by-path/pci-0000:00:02.0-render", "/etc/passwd"}) {
    const FileAnswer one = files_.Lookup(path, true), other = copy.Lookup(path, true);
    EXPECT_EQ(one.status, other.status) << path;
    EXPECT_EQ(one.real_path(), other.real_path()) << path;
    EXPECT_EQ(one.facts.mode, other.facts.mode) << path;
    EXPECT_EQ(one.facts.inode, other.facts.inode) << path;
    EXPECT_EQ(one.facts.minor, other.facts.minor) << path;
  }
  EXPECT_EQ(copy.List("/dev/dri").entries.size(), 3u);
  EXPECT_FALSE(copy.List("/dev/dri").ShowsReal("x"));
  EXPECT_EQ(copy.Read("/sys/dev/char/226:128/device/vendor").text, "0x8086\n");
  EXPECT_EQ(copy.Read("/proc/made").status, PathStatus::kAskOwner);
  int error = 0;
  EXPECT_EQ((*parsed)->Write("/proc/taken", "1", &error), PathStatus::kAskOwner);
}

TEST_F(VirtualFilesTest, BytesThatEndEarlyOrAreAlteredAreRefusedOrAnswered) {
  const std::string bytes = files_.Serialise();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto parsed = VirtualFiles::Parse(absl::string_view(bytes).substr(0, size));
    // Bytes may end between two files.
    if (parsed.ok()) {
      EXPECT_EQ((*parsed)->Serialise(), bytes.substr(0, size));
    } else {
      EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
    }
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const char value : {'\0', '\1', '/', '.', '\x7f', '\xff'}) {
      std::string altered = bytes;
      altered[at] = value;
      const auto parsed = VirtualFiles::Parse(altered);
      if (!parsed.ok()) continue;
      (*parsed)->Lookup("/sys/dev/char/226:128/device/subsystem", true);
      (*parsed)->List("/dev/dri");
    }
  }
}

TEST_F(VirtualFilesTest, ThreadsLookAndChangeAtATime) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const std::string path = absl::StrCat("/sys/class/devcoredump/devcd", i, "/data");
      for (int round = 0; round < 200; ++round) {
        EXPECT_TRUE(files_.AddFile(path, {.content = "x"}).ok());
        EXPECT_EQ(files_.Read(path).text, "x");
        EXPECT_EQ(files_.Lookup("/sys/dev/char/226:128/device/vendor", true).status,
                  PathStatus::kVirtual);
        EXPECT_FALSE(files_.List("/sys/class/devcoredump").entries.empty());
        EXPECT_TRUE(files_.Remove(path).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace packsmith::capture
