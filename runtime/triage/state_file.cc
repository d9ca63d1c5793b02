#include "runtime/triage/state_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/base/file.h"

namespace packsmith::triage {
namespace {

// Longer lines are not ours: paths and the kernel's words are short.
constexpr size_t kLongestLine = size_t{1} << 20;
// Of every line, whatever version wrote it.
constexpr absl::string_view kBeginning = "{\"type\":\"dump\",";

absl::Status Error(int code, absl::string_view what, const std::string& path) {
  return absl::ErrnoToStatus(code, absl::StrCat("cannot ", what, " the state file ", path));
}

}  // namespace

absl::StatusOr<StateFile> StateFile::Open(const std::string& path) {
  StateFile state;
  state.path_ = path;
  state.fd_.Reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!state.fd_) return Error(errno, "open", path);
  if (::flock(state.fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return Error(errno, "lock", path);
    return absl::FailedPreconditionError(absl::StrCat(
        "the state file ", path, " is in use by another run; wait for it, or name another file"));
  }
  if (absl::Status status = state.Load(); !status.ok()) return status;
  return state;
}

absl::Status StateFile::Load() {
  std::string rest;
  uint64_t at = 0;  // the offset of `rest` in the file
  uint64_t lines = 0;
  char buffer[1 << 16];
  while (true) {
    const ssize_t got =
        ::pread(fd_.get(), buffer, sizeof buffer, static_cast<off_t>(at + rest.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error(errno, "read", path_);
    if (got == 0) break;
    rest.append(buffer, static_cast<size_t>(got));
    size_t begin = 0;
    for (size_t end; (end = rest.find('\n', begin)) != std::string::npos; begin = end + 1) {
      ++lines;
      const absl::string_view line = absl::string_view(rest).substr(begin, end - begin);
      if (!absl::StartsWith(line, kBeginning)) {
        return absl::FailedPreconditionError(
            absl::StrCat(path_, ":", lines,
                         " is not a line that triage writes, so this is not a state "
                         "file, or a damaged one; name another file, or remove it"));
      }
      const std::optional<Record> record = FromJson(line);
      if (!record) {
        ++replaced_;
        continue;
      }
      const Line place = {at + begin, static_cast<uint32_t>(line.size()), record->file.size,
                          record->file.modified_ns};
      if (!lines_.insert_or_assign(record->file.path, place).second) ++replaced_;
    }
    rest.erase(0, begin);
    at += begin;
    if (rest.size() > kLongestLine) break;
  }
  if (rest.size() > kLongestLine ||
      !absl::StartsWith(kBeginning, absl::string_view(rest).substr(0, kBeginning.size()))) {
    return absl::FailedPreconditionError(absl::StrCat(
        path_, " is not a state file: it ends with what triage does not write; name another file"));
  }
  end_ = at;
  // A line that was cut off is overwritten.
  if (!rest.empty() && ::ftruncate(fd_.get(), static_cast<off_t>(end_)) != 0) {
    return Error(errno, "shorten", path_);
  }
  return absl::OkStatus();
}

std::optional<std::string> StateFile::Read(const Line& line) const {
  std::string text(line.bytes, '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = ::pread(fd_.get(), text.data() + done, text.size() - done,
                                static_cast<off_t>(line.offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    done += static_cast<size_t>(got);
  }
  return text;
}

std::optional<Record> StateFile::Find(const FileStamp& file) const {
  const auto found = lines_.find(file.path);
  if (found == lines_.end()) return std::nullopt;
  const Line& line = found->second;
  if (line.size != file.size || line.modified_ns != file.modified_ns) return std::nullopt;
  const std::optional<std::string> text = Read(line);
  return text ? FromJson(*text) : std::nullopt;
}

absl::Status StateFile::Append(const Record& record) {
  const std::string line = ToJson(record) + "\n";
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t wrote = ::pwrite(fd_.get(), line.data() + done, line.size() - done,
                                   static_cast<off_t>(end_ + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return Error(errno, "write", path_);
    done += static_cast<size_t>(wrote);
  }
  const Line place = {end_, static_cast<uint32_t>(line.size() - 1), record.file.size,
                      record.file.modified_ns};
  end_ += line.size();
  if (!lines_.insert_or_assign(record.file.path, place).second) ++replaced_;
  return absl::OkStatus();
}

absl::Status StateFile::Finish() {
  if (replaced_ <= lines_.size()) return absl::OkStatus();
  absl::StatusOr<FileWriter> writer = FileWriter::Create(path_);
  if (!writer.ok()) return writer.status();
  // In the order of the file.
  std::map<uint64_t, const Line*> ordered;
  for (const auto& [path, line] : lines_) ordered.emplace(line.offset, &line);
  for (const auto& [offset, line] : ordered) {
    const std::optional<std::string> text = Read(*line);
    if (!text) return Error(EIO, "read", path_);
    if (absl::Status status = writer->Append(*text + "\n"); !status.ok()) return status;
  }
  // The new file is not locked, but nothing is written to it: this run is at its end.
  return writer->Commit();
}

}  // namespace packsmith::triage
