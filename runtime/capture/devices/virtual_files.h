// A tree of files that exist for the clients of a mock kernel only: what they see under /dev/dri,
// /sys, /proc and debugfs.
//
//   VirtualFiles files;
//   files.AddDirectory("/dev/dri", {.kind = DirectoryKind::kOwned});
//   files.AddDevice("/dev/dri/renderD128", 226, 128);
//   const FileAnswer answer = files.Lookup("/dev/./dri/renderD128", true);
//   if (answer.status == PathStatus::kVirtual) open answer.facts.minor;
//   if (answer.status == PathStatus::kReal) open answer.path with the real open();
//   else fail with ErrnoOf(answer.status);
//
// A directory is *owned* or *merged*. An owned directory shows the tree's entries alone. A merged
// one shows the real directory's entries, too, except those of the same name and those that begin
// with a hidden prefix. Directories that are made on the way to a file are merged.
//
// Paths are absolute; `.`, `..`, repeated slashes and links are resolved as the kernel resolves
// them, except that a component of the real file system is taken for a directory, not a link, when
// `..` follows it.
//
// All methods may be called from any thread.

#ifndef PACKSMITH_RUNTIME_CAPTURE_DEVICES_VIRTUAL_FILES_H_
#define PACKSMITH_RUNTIME_CAPTURE_DEVICES_VIRTUAL_FILES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/mutex.h"

namespace packsmith::capture {

// Bytes of a path with its terminator, and of a name, as Linux limits them.
inline constexpr size_t kMaxPath = 4096;
inline constexpr size_t kMaxName = 255;
// Links that one lookup follows.
inline constexpr unsigned kMaxLinks = 40;

enum class FileKind : uint8_t { kNone, kDirectory, kFile, kLink, kDevice };

enum class DirectoryKind : uint8_t { kMerged, kOwned };

enum class PathStatus : uint8_t {
  kVirtual,       // the tree has it
  kReal,          // the tree says nothing of it: ask the real kernel
  kMissing,       // ENOENT
  kNotDirectory,  // ENOTDIR
  kLoop,          // ELOOP
  kTooLong,       // ENAMETOOLONG
  kIsDirectory,   // EISDIR
  kNotLink,       // EINVAL
  kDenied,        // EACCES
  kAskOwner,      // a copy cannot know: content made at open, or a write
};

// The errno of a status that is an error; 0 for kVirtual, kReal and kAskOwner.
int ErrnoOf(PathStatus status);

// What stat() tells of a file.
struct FileFacts {
  FileKind kind = FileKind::kNone;
  DirectoryKind directory = DirectoryKind::kMerged;
  bool writable = false;          // a write has an effect
  bool dynamic = false;           // the content is made at each open
  uint32_t mode = 0;              // with the bits of the type
  uint32_t major = 0, minor = 0;  // kDevice
  uint64_t inode = 0;             // unique in the tree
  uint64_t size = 0;              // bytes, as stat() shows it; of a link its target's length
};

// Can be copied as bytes, and is made without an allocation that lasts.
struct FileAnswer {
  PathStatus status = PathStatus::kReal;
  FileFacts facts = {};
  uint16_t path_size = 0;
  // kVirtual: without links, `.` and `..`: what realpath() returns. kReal: the path for the real
  // call; as given, unless a link of the tree was followed. Ends with a zero byte.
  std::array<char, kMaxPath> path = {};

  absl::string_view real_path() const { return {path.data(), path_size}; }
};

struct FileText {
  PathStatus status = PathStatus::kMissing;
  std::string text;  // if kVirtual
};

struct DirectoryEntry {
  std::string name;
  FileKind kind = FileKind::kNone;
  uint64_t inode = 0;
};

struct DirectoryListing {
  PathStatus status = PathStatus::kMissing;
  // If kVirtual: where the directory is, and the tree's entries, ordered by name, without `.`,
  // `..`.
  std::string path;
  std::vector<DirectoryEntry> entries;
  DirectoryKind directory = DirectoryKind::kMerged;
  std::vector<std::string> hidden;

  // Whether an entry `name` of the real directory is shown, too.
  bool ShowsReal(absl::string_view name) const;
};

struct DirectoryOptions {
  DirectoryKind kind = DirectoryKind::kMerged;
  // Real entries of a merged directory that are not shown: names, or with a * at the end what names
  // begin with.
  std::vector<std::string> hidden = {};
};

struct FileOptions {
  std::string content = {};
  // Makes the content at each open, if it is set. Called without a lock.
  std::function<std::string()> make = nullptr;
  // Takes what is written, by one write(), and returns 0 or an errno. Called without a lock. Not
  // set: writing is EACCES.
  std::function<int(absl::string_view)> write = nullptr;
  uint32_t mode = 0444;  // permissions
  uint64_t size = 4096;  // that stat() shows: one page, for all attributes of sysfs
};

class VirtualFiles {
 public:
  VirtualFiles();
  ~VirtualFiles();
  VirtualFiles(const VirtualFiles&) = delete;
  VirtualFiles& operator=(const VirtualFiles&) = delete;

  // Each makes the directories on the way. InvalidArgument: a path that is not absolute, has `.` or
  // `..`, is too long or leads through a file; AlreadyExists: something else has the path. Adding a
  // directory that exists sets its options.
  absl::Status AddDirectory(absl::string_view path, DirectoryOptions options = {});
  absl::Status AddFile(absl::string_view path, FileOptions options);
  absl::Status AddLink(absl::string_view path, absl::string_view target);
  absl::Status AddDevice(absl::string_view path, uint32_t major, uint32_t minor,
                         uint32_t mode = 0666);
  // With everything below it. NotFound if the path (without following links) is not in the tree.
  absl::Status Remove(absl::string_view path);
  // The fixed content of a file. NotFound if there is no such file.
  absl::Status SetContent(absl::string_view path, std::string content);
  // The same if the content is still `expected`; returns whether it was. What other threads do
  // comes before or after it.
  absl::StatusOr<bool> ExchangeContent(absl::string_view path, absl::string_view expected,
                                       std::string content);

  // `follow`: whether a link at the end is followed (stat) or not (lstat).
  FileAnswer Lookup(absl::string_view path, bool follow) const;
  FileText ReadLink(absl::string_view path) const;
  DirectoryListing List(absl::string_view path) const;
  FileText Read(absl::string_view path) const;
  PathStatus Write(absl::string_view path, absl::string_view data, int* error);

  // Grows with each change of what lookups and lists answer, and of fixed contents: whether a copy
  // is still that of the original.
  uint64_t version() const;

  // All of it but functions: a copy answers kAskOwner where they are needed.
  std::string Serialise() const;
  // InvalidArgument for bytes that Serialise() does not write.
  static absl::StatusOr<std::unique_ptr<VirtualFiles>> Parse(absl::string_view bytes);

 private:
  struct Node;
  struct Walk;

  absl::StatusOr<Node*> Make(absl::string_view path, FileKind kind);
  Walk Resolve(absl::string_view path, bool follow) const;
  Node* FindExact(absl::string_view path) const;
  absl::StatusOr<Node*> FindFile(absl::string_view path) const;

  mutable Mutex mutex_;
  std::unique_ptr<Node> root_;
  uint64_t next_inode_;
  uint64_t version_ = 0;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DEVICES_VIRTUAL_FILES_H_
