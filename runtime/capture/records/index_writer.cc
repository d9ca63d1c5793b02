#include "runtime/capture/records/index_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "runtime/dump/run_folder.h"

namespace packsmith::capture {
namespace {

absl::Status WriteAll(int fd, absl::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0) {
      if (errno == EINTR) continue;
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
    }
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<IndexWriter> IndexWriter::Create(const std::string& folder) {
  IndexWriter index(absl::StrCat(folder, "/", kIndexFile));
  index.fd_ = open(index.path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (index.fd_ < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot create ", index.path_));
  }
  return index;
}

IndexWriter::~IndexWriter() {
  if (fd_ >= 0) close(fd_);
}

absl::Status IndexWriter::Append(absl::string_view line) {
  absl::Status status = WriteAll(fd_, line, path_);
  if (status.ok()) {
    size_ += line.size();
  } else if (ftruncate(fd_, static_cast<off_t>(size_)) != 0) {
    // The part of a line stays; the next line is appended to it, and both are reported by readers.
    size_ += line.size();
  }
  return status;
}

absl::Status IndexWriter::Replace(absl::string_view lines) {
  const size_t slash = path_.rfind('/');
  if (absl::Status status = WriteNewFile(path_.substr(0, slash), kIndexFile, lines); !status.ok()) {
    return status;
  }
  const int fd = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path_));
  close(fd_);
  fd_ = fd;
  size_ = lines.size();
  return absl::OkStatus();
}

absl::Status WriteNewFile(const std::string& folder, absl::string_view name,
                          absl::string_view content) {
  const std::string path = absl::StrCat(folder, "/", name);
  const std::string temporary = absl::StrCat(folder, "/.", name, ".tmp");
  const int fd =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot create ", temporary));
  absl::Status status = WriteAll(fd, content, path);
  if (close(fd) != 0 && errno != EINTR) {
    status.Update(absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path)));
  }
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) {
    status = absl::ErrnoToStatus(errno, absl::StrCat("cannot rename a temporary file to ", path));
  }
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

}  // namespace packsmith::capture
