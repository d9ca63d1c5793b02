#include "tools/mock/served_paths.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"

namespace packsmith::mock {
namespace {

using capture::FileAnswer;
using capture::FileKind;
using capture::PathStatus;

PathAnswer Refused(int error) {
  PathAnswer answer;
  answer.reply.result = error;
  return answer;
}

PathAnswer AskSystem(absl::string_view path) {
  PathAnswer answer;
  answer.reply.result = kReal;
  answer.path = std::string(path);
  return answer;
}

// A file that cannot be written to, by which clients find its path again.
UniqueFd MakeMemfd(absl::string_view path, absl::string_view content) {
  const std::string name = absl::StrCat(kMemfdPrefix, path);
  const UniqueFd made(memfd_create(name.c_str(), MFD_CLOEXEC));
  if (!made) return UniqueFd();
  while (!content.empty()) {
    const ssize_t written = write(made.get(), content.data(), content.size());
    if (written <= 0) return UniqueFd();
    content.remove_prefix(static_cast<size_t>(written));
  }
  const std::string link = absl::StrCat("/proc/self/fd/", made.get());
  return UniqueFd(open(link.c_str(), O_RDONLY | O_CLOEXEC));
}

PathAnswer Given(absl::string_view path, UniqueFd fd) {
  if (!fd) return Refused(-ENFILE);
  PathAnswer answer;
  answer.path = std::string(path);
  answer.fd = std::move(fd);
  return answer;
}

unsigned char TypeOf(FileKind kind) {
  switch (kind) {
    case FileKind::kDirectory:
      return DT_DIR;
    case FileKind::kFile:
      return DT_REG;
    case FileKind::kLink:
      return DT_LNK;
    case FileKind::kDevice:
      return DT_CHR;
    case FileKind::kNone:
      break;
  }
  return DT_UNKNOWN;
}

// As getdents64() returns it; its place is that of the next one.
void AppendEntry(std::string& entries, absl::string_view name, uint64_t inode, unsigned char type) {
  constexpr size_t kName = offsetof(dirent64, d_name);
  const size_t begin = entries.size();
  const size_t length = (kName + name.size() + 1 + 7) / 8 * 8;
  entries.resize(begin + length);
  char* const at = entries.data() + begin;
  const uint64_t next = begin + length;
  const auto length16 = static_cast<uint16_t>(length);
  std::memcpy(at + offsetof(dirent64, d_ino), &inode, sizeof(inode));
  std::memcpy(at + offsetof(dirent64, d_off), &next, sizeof(next));
  std::memcpy(at + offsetof(dirent64, d_reclen), &length16, sizeof(length16));
  std::memcpy(at + offsetof(dirent64, d_type), &type, sizeof(type));
  std::memcpy(at + kName, name.data(), name.size());
}

}  // namespace

ServedPaths::ServedPaths(capture::VirtualFiles& files, ServedFiles& devices)
    : files_(files), devices_(devices), written_(files), time_(std::time(nullptr)) {}

Facts ServedPaths::FactsOf(const capture::FileFacts& facts) const {
  Facts out;
  out.mode = facts.mode;
  out.major = facts.major;
  out.minor = facts.minor;
  out.inode = facts.inode;
  out.size = facts.size;
  out.time = time_;
  return out;
}

PathAnswer ServedPaths::Serve(const Request& request, const std::string& path) {
  // What a client has written has an effect before anything else that it asks.
  written_.Drain();
  const bool follow = request.follow != 0;
  switch (request.op) {
    case Op::kOpen:
      return Open(request.flags, follow, path);
    case Op::kStat:
      return Stat(follow, path);
    default: {
      const capture::FileText link = files_.ReadLink(path);
      if (link.status == PathStatus::kReal) return AskSystem(link.text);
      if (link.status != PathStatus::kVirtual) return Refused(-ErrnoOf(link.status));
      PathAnswer answer;
      answer.path = link.text;
      return answer;
    }
  }
}

PathAnswer ServedPaths::Stat(bool follow, const std::string& path) {
  const FileAnswer found = files_.Lookup(path, follow);
  const std::string location(found.real_path());
  if (found.status == PathStatus::kReal) return AskSystem(location);
  if (found.status != PathStatus::kVirtual) return Refused(-ErrnoOf(found.status));
  if (found.facts.kind == FileKind::kDirectory &&
      found.facts.directory == capture::DirectoryKind::kMerged &&
      access(location.c_str(), F_OK) == 0) {
    return AskSystem(location);
  }
  PathAnswer answer;
  answer.path = location;
  answer.reply.facts = FactsOf(found.facts);
  return answer;
}

PathAnswer ServedPaths::Open(int flags, bool follow, const std::string& path) {
  const FileAnswer found = files_.Lookup(path, follow);
  const std::string location(found.real_path());
  if (found.status == PathStatus::kReal) return AskSystem(location);
  if (found.status == PathStatus::kMissing && (flags & O_CREAT) != 0) return Refused(-EACCES);
  if (found.status != PathStatus::kVirtual) return Refused(-ErrnoOf(found.status));
  if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) return Refused(-EEXIST);
  const FileKind kind = found.facts.kind;
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  if ((flags & O_DIRECTORY) != 0 && kind != FileKind::kDirectory) return Refused(-ENOTDIR);
  if ((flags & O_PATH) != 0 && kind != FileKind::kDirectory) {
    return Given(location, MakeMemfd(location, ""));
  }
  switch (kind) {
    case FileKind::kLink:
      return Refused(-ELOOP);
    case FileKind::kDirectory: {
      if (writes || (flags & O_CREAT) != 0) return Refused(-EISDIR);
      const capture::DirectoryListing listing = files_.List(location);
      if (listing.status != PathStatus::kVirtual) return Refused(-ENOENT);
      return Given(location, MakeMemfd(location, EntriesOf(listing)));
    }
    case FileKind::kDevice: {
      Opened opened = devices_.Open(found.facts.minor);
      return opened.error < 0 ? Refused(opened.error) : Given(location, std::move(opened.fd));
    }
    default:
      return OpenText(flags, found);
  }
}

// A file that is opened to be written to cannot be read: controls are not.
PathAnswer ServedPaths::OpenText(int flags, const FileAnswer& found) {
  const std::string location(found.real_path());
  if ((flags & O_ACCMODE) != O_RDONLY) {
    if (!found.facts.writable) return Refused(-EACCES);
    Opened opened = written_.Open(location);
    return opened.error < 0 ? Refused(opened.error) : Given(location, std::move(opened.fd));
  }
  const capture::FileText text = files_.Read(location);
  if (text.status != PathStatus::kVirtual) {
    const int error = ErrnoOf(text.status);
    return Refused(error == 0 ? -EIO : -error);
  }
  return Given(location, MakeMemfd(location, text.text));
}

std::string ServedPaths::EntriesOf(const capture::DirectoryListing& listing) const {
  std::string entries;
  AppendEntry(entries, ".", 1, DT_DIR);
  AppendEntry(entries, "..", 1, DT_DIR);
  for (const capture::DirectoryEntry& entry : listing.entries) {
    AppendEntry(entries, entry.name, entry.inode, TypeOf(entry.kind));
  }
  if (listing.directory != capture::DirectoryKind::kMerged) return entries;
  DIR* const real = opendir(listing.path.c_str());
  if (real == nullptr) return entries;
  while (const dirent* const entry = readdir(real)) {
    const absl::string_view name = entry->d_name;
    if (name == "." || name == ".." || !listing.ShowsReal(name)) continue;
    AppendEntry(entries, name, entry->d_ino, entry->d_type);
  }
  closedir(real);
  return entries;
}

}  // namespace packsmith::mock
