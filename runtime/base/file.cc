#include "runtime/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/growing_bytes.h"

namespace packsmith {
namespace {

// Below this, reading costs less than mapping and is safe from files that shrink.
constexpr uint64_t kMapFrom = 1 << 20;
constexpr size_t kGather = 1 << 18;

absl::Status SystemError(int error, absl::string_view what, absl::string_view path) {
  return absl::ErrnoToStatus(error, absl::StrCat(what, " ", path));
}

class ScopedFd {
 public:
  explicit ScopedFd(int fd, bool owned) : fd_(fd), owned_(owned) {}
  ScopedFd(const ScopedFd&) = delete;
  ScopedFd& operator=(const ScopedFd&) = delete;
  ~ScopedFd() {
    if (owned_ && fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
  bool owned_;
};

absl::StatusOr<FileBytes> ReadToEnd(int fd, const std::string& name, uint64_t max_bytes) {
  GrowingBytes bytes;
  while (true) {
    const absl::Span<uint8_t> room = bytes.Room();
    if (room.empty()) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("%s: no memory for more than %u bytes", name, bytes.size()));
    }
    const ssize_t got = read(fd, room.data(), std::min(room.size(), size_t{1} << 30));
    if (got < 0) {
      if (errno == EINTR) continue;
      return SystemError(errno, "cannot read", name);
    }
    if (got == 0) break;
    bytes.Wrote(static_cast<size_t>(got));
    if (bytes.size() > max_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("%s: more than %u bytes; raise the limit (unpack --max-input=SIZE), or "
                          "give a large regular file, which is mapped and has no limit",
                          name, max_bytes));
    }
  }
  return std::move(bytes).Take(name);
}

}  // namespace

absl::StatusOr<FileBytes> OpenFile(const std::string& path, uint64_t max_bytes) {
  const bool standard_input = path == "-";
  const std::string name = standard_input ? "<stdin>" : path;
  const ScopedFd fd(standard_input ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC),
                    !standard_input);
  if (fd.get() < 0) return SystemError(errno, "cannot open", name);
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return SystemError(errno, "cannot stat", name);
  if (S_ISDIR(info.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(name, ": is a directory; name a file in it"));
  }
  // Files in sysfs and procfs state a size that has nothing to do with their content; it is small.
  const bool map = S_ISREG(info.st_mode) && info.st_size >= static_cast<off_t>(kMapFrom) &&
                   (!standard_input || lseek(fd.get(), 0, SEEK_CUR) == 0);
  if (map) {
    const size_t size = static_cast<size_t>(info.st_size);
    void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (mapped != MAP_FAILED) {
      FileBytes file;
      file.bytes = absl::MakeConstSpan(static_cast<const uint8_t*>(mapped), size);
      file.owner = std::shared_ptr<const void>(mapped, [size](void* p) { munmap(p, size); });
      file.name = name;
      return file;
    }
  }
  return ReadToEnd(fd.get(), name, max_bytes);
}

FileBytes BytesOf(std::string content, std::string name) {
  auto owner = std::make_shared<const std::string>(std::move(content));
  FileBytes file;
  file.bytes = absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(owner->data()), owner->size());
  file.owner = std::move(owner);
  file.name = std::move(name);
  return file;
}

FileBytes BytesOf(std::vector<uint8_t> content, std::string name) {
  auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(content));
  FileBytes file;
  file.bytes = absl::MakeConstSpan(*owner);
  file.owner = std::move(owner);
  file.name = std::move(name);
  return file;
}

absl::StatusOr<FileWriter> FileWriter::Create(const std::string& path) {
  FileWriter writer;
  writer.path_ = path;
  if (path == "-") {
    writer.fd_ = STDOUT_FILENO;
    return writer;
  }
  if (path.empty()) return absl::InvalidArgumentError("cannot write a file without a name");
  struct stat info;
  bool exists = stat(path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) return SystemError(errno, "cannot write", path);
  if (exists && S_ISDIR(info.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": is a directory; name a file in it"));
  }
  if (exists && !S_ISREG(info.st_mode)) {
    writer.fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (writer.fd_ < 0) return SystemError(errno, "cannot write", path);
    writer.owns_fd_ = true;
    return writer;
  }
  if (exists) {
    char* resolved = realpath(path.c_str(), nullptr);
    if (resolved == nullptr) return SystemError(errno, "cannot resolve", path);
    writer.path_ = resolved;
    std::free(resolved);
  }
  const size_t slash = writer.path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : writer.path_.substr(0, slash + 1);
  // O_EXCL with the mode that the kernel masks, where mkstemp would leave the file private.
  static std::atomic<uint32_t> counter{0};
  for (int attempt = 0; attempt < 1000; ++attempt) {
    writer.temporary_ =
        absl::StrFormat("%s.packsmith-%d-%u.tmp", folder, getpid(), counter.fetch_add(1));
    writer.fd_ =
        open(writer.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (writer.fd_ >= 0 || errno != EEXIST) break;
  }
  if (writer.fd_ < 0) {
    const int error = errno;
    writer.temporary_.clear();
    return SystemError(error, "cannot create a file in the folder of", path);
  }
  writer.owns_fd_ = true;
  // Best effort: a file system that cannot do it still takes the content.
  if (exists && fchmod(writer.fd_, info.st_mode & 07777) != 0) errno = 0;
  return writer;
}

FileWriter::FileWriter(FileWriter&& other) noexcept { *this = std::move(other); }

FileWriter& FileWriter::operator=(FileWriter&& other) noexcept {
  if (this == &other) return *this;
  Abandon();
  fd_ = std::exchange(other.fd_, -1);
  owns_fd_ = std::exchange(other.owns_fd_, false);
  path_ = std::move(other.path_);
  temporary_ = std::exchange(other.temporary_, {});
  pending_ = std::move(other.pending_);
  size_ = std::exchange(other.size_, 0);
  status_ = std::exchange(other.status_,
                          absl::FailedPreconditionError("this file writer was moved from"));
  return *this;
}

FileWriter::~FileWriter() { Abandon(); }

void FileWriter::Abandon() {
  if (owns_fd_ && fd_ >= 0) close(fd_);
  fd_ = -1;
  owns_fd_ = false;
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
  pending_.clear();
}

absl::Status FileWriter::WriteAll(const uint8_t* data, size_t size) {
  while (size > 0) {
    const ssize_t put = write(fd_, data, std::min(size, size_t{1} << 30));
    if (put < 0) {
      if (errno == EINTR) continue;
      return SystemError(errno, "cannot write", path_);
    }
    data += put;
    size -= static_cast<size_t>(put);
  }
  return absl::OkStatus();
}

absl::Status FileWriter::Flush() {
  absl::Status status = WriteAll(pending_.data(), pending_.size());
  pending_.clear();
  return status;
}

absl::Status FileWriter::Append(absl::Span<const uint8_t> bytes) {
  if (!status_.ok()) return status_;
  size_ += bytes.size();
  if (pending_.size() + bytes.size() > kGather) status_ = Flush();
  if (bytes.size() > kGather) {
    if (status_.ok()) status_ = WriteAll(bytes.data(), bytes.size());
  } else if (status_.ok()) {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  }
  if (!status_.ok()) Abandon();
  return status_;
}

absl::Status FileWriter::Append(absl::string_view text) {
  return Append(absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

absl::Status FileWriter::Commit() {
  if (status_.ok()) status_ = Flush();
  if (status_.ok() && !temporary_.empty()) {
    // A rename may reach the disk before the data does; synced data cannot come too late.
    if (fsync(fd_) != 0 && errno != EINVAL && errno != EROFS) {
      status_ = SystemError(errno, "cannot write", path_);
    }
  }
  if (status_.ok() && owns_fd_) {
    owns_fd_ = false;
    if (close(std::exchange(fd_, -1)) != 0 && errno != EINTR) {
      status_ = SystemError(errno, "cannot write", path_);
    }
  }
  if (status_.ok() && !temporary_.empty()) {
    if (rename(temporary_.c_str(), path_.c_str()) != 0) {
      status_ = SystemError(errno, "cannot rename a temporary file to", path_);
    } else {
      temporary_.clear();
      const size_t slash = path_.rfind('/');
      const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
      const ScopedFd directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), true);
      // The file is complete even if this fails; not every file system can sync a folder.
      if (directory.get() >= 0) static_cast<void>(fsync(directory.get()));
    }
  }
  absl::Status result = status_;
  Abandon();
  if (status_.ok())
    status_ = absl::FailedPreconditionError(absl::StrCat(path_, ": already written"));
  return result;
}

absl::Status WriteFileWhole(const std::string& path, absl::Span<const uint8_t> bytes) {
  absl::StatusOr<FileWriter> writer = FileWriter::Create(path);
  if (!writer.ok()) return writer.status();
  if (absl::Status status = writer->Append(bytes); !status.ok()) return status;
  return writer->Commit();
}

absl::Status WriteFileWhole(const std::string& path, absl::string_view text) {
  return WriteFileWhole(
      path, absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

}  // namespace packsmith
