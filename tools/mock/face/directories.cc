#include "tools/mock/face/directories.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tools/mock/face/open.h"
#include "tools/mock/face/paths.h"
#include "tools/mock/face/raw.h"
#include "tools/mock/face/real.h"

namespace packsmith::mock::face {
namespace {

static_assert(sizeof(dirent) == sizeof(dirent64));
constexpr size_t kNameOffset = offsetof(dirent64, d_name);

// A stream, which programs hold as a DIR. No stream of the C library begins with the mark: its
// first word is a descriptor.
constexpr uint64_t kMark = 0xf0e1d2c3'b4a59687;
struct Stream {
  uint64_t mark = kMark;
  int fd = -1;
  size_t at = 0, size = 0;  // in the buffer
  alignas(8) char entries[4096];
};

Stream* AsOurs(DIR* stream) {
  auto* const ours = reinterpret_cast<Stream*>(stream);
  return ours != nullptr && ours->mark == kMark ? ours : nullptr;
}

// Takes over the descriptor.
DIR* MakeStream(int fd) {
  auto* const stream = static_cast<Stream*>(std::malloc(sizeof(Stream)));
  if (stream == nullptr) return nullptr;
  stream->mark = kMark;
  stream->fd = fd;
  stream->at = stream->size = 0;
  return reinterpret_cast<DIR*>(stream);
}

// Null at the end, and after an error, which sets errno.
dirent64* Next(Stream& stream) {
  if (stream.at >= stream.size) {
    const long size = ReadEntries(stream.fd, stream.entries, sizeof(stream.entries));
    if (size <= 0) {
      if (size < 0) Returned(size);
      return nullptr;
    }
    stream.at = 0;
    stream.size = static_cast<size_t>(size);
  }
  auto* const entry = reinterpret_cast<dirent64*>(stream.entries + stream.at);
  stream.at += entry->d_reclen;
  return entry;
}

using Filter = int(const dirent64*);
using Compare = int(const dirent64**, const dirent64**);

// The entries of a directory that is open, as scandir() returns them: their number, or -1.
int Scan(int fd, dirent64*** out, Filter* filter, Compare* compare) {
  DIR* const made = MakeStream(fd);
  if (made == nullptr) {
    Raw(SYS_close, fd);
    return -1;
  }
  Stream& stream = *AsOurs(made);
  dirent64** list = nullptr;
  size_t count = 0, room = 0;
  bool failed = false;
  const int error = errno;
  errno = 0;
  while (const dirent64* const entry = Next(stream)) {
    if (filter != nullptr && filter(entry) == 0) continue;
    if (count == room) {
      room = room == 0 ? 16 : 2 * room;
      auto** const more = static_cast<dirent64**>(std::realloc(list, room * sizeof(*list)));
      if (more == nullptr) {
        failed = true;
        break;
      }
      list = more;
    }
    list[count] = static_cast<dirent64*>(std::malloc(entry->d_reclen));
    if (list[count] == nullptr) {
      failed = true;
      break;
    }
    std::memcpy(list[count++], entry, entry->d_reclen);
    errno = 0;
  }
  Raw(SYS_close, stream.fd);
  std::free(made);
  if (failed) {
    while (count > 0) std::free(list[--count]);
    std::free(list);
    errno = ENOMEM;
    return -1;
  }
  errno = error;
  if (compare != nullptr && count > 1) {
    std::qsort(list, count, sizeof(*list),
               reinterpret_cast<int (*)(const void*, const void*)>(compare));
  }
  if (list == nullptr) list = static_cast<dirent64**>(std::malloc(sizeof(*list)));
  *out = list;
  return static_cast<int>(count);
}

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

using ScanType = int(const char*, dirent64***, Filter*, Compare*);
using ScanAtType = int(int, const char*, dirent64***, Filter*, Compare*);

int ScanWith(ScanType* real, const char* path, dirent64*** out, Filter* filter, Compare* compare) {
  Target target(AT_FDCWD, path);
  long fd;
  if (!OpenVirtual(target, kOpenDirectory, fd)) {
    if (real != nullptr) return real(target.path, out, filter, compare);
    fd = -ENOSYS;
  }
  if (fd < 0) return static_cast<int>(Returned(fd));
  return Scan(static_cast<int>(fd), out, filter, compare);
}

int ScanAtWith(ScanAtType* real, int directory, const char* path, dirent64*** out, Filter* filter,
               Compare* compare) {
  Target target(directory, path);
  long fd;
  if (!OpenVirtual(target, kOpenDirectory, fd)) {
    if (real != nullptr) return real(target.directory, target.path, out, filter, compare);
    fd = -ENOSYS;
  }
  if (fd < 0) return static_cast<int>(Returned(fd));
  return Scan(static_cast<int>(fd), out, filter, compare);
}

}  // namespace

bool IsVirtualDirectory(int fd) {
  struct stat real;
  if (fd < 0 || Raw(SYS_fstat, fd, &real) != 0 || !S_ISREG(real.st_mode) || real.st_nlink != 0) {
    return false;
  }
  Facts facts;
  return DescriptorFacts(fd, facts) && S_ISDIR(facts.mode);
}

long ReadEntries(int fd, void* out, size_t size) {
  const long read = Raw(SYS_read, fd, out, size);
  if (read <= 0) return read;
  // Whole entries only.
  size_t whole = 0;
  const auto* const bytes = static_cast<const char*>(out);
  while (whole + kNameOffset < static_cast<size_t>(read)) {
    uint16_t length;
    std::memcpy(&length, bytes + whole + offsetof(dirent64, d_reclen), sizeof(length));
    if (length == 0 || whole + length > static_cast<size_t>(read)) break;
    whole += length;
  }
  if (whole < static_cast<size_t>(read)) {
    Raw(SYS_lseek, fd, static_cast<long>(whole) - read, SEEK_CUR);
  }
  return whole == 0 ? -EINVAL : static_cast<long>(whole);
}

extern "C" {

DIR* FaceOpenDir(const char* path) FACE_FUNCTION("opendir");
DIR* FaceOpenDir(const char* path) {
  Target target(AT_FDCWD, path);
  long fd;
  if (!OpenVirtual(target, kOpenDirectory, fd)) {
    auto* const real = FACE_REAL("opendir", FaceOpenDir);
    if (real != nullptr) return real(target.path);
    fd = -ENOSYS;
  }
  if (fd < 0) {
    Returned(fd);
    return nullptr;
  }
  DIR* const stream = MakeStream(static_cast<int>(fd));
  if (stream == nullptr) Raw(SYS_close, fd);
  return stream;
}

DIR* FaceFdOpenDir(int fd) FACE_FUNCTION("fdopendir");
DIR* FaceFdOpenDir(int fd) {
  if (IsVirtualDirectory(fd)) return MakeStream(fd);
  auto* const real = FACE_REAL("fdopendir", FaceFdOpenDir);
  return real == nullptr ? nullptr : real(fd);
}

dirent64* FaceReadDir(DIR* stream) FACE_FUNCTION("readdir");
dirent64* FaceReadDir(DIR* stream) {
  if (Stream* const ours = AsOurs(stream)) return Next(*ours);
  auto* const real = FACE_REAL("readdir", FaceReadDir);
  return real == nullptr ? nullptr : real(stream);
}

dirent64* FaceReadDir64(DIR* stream) FACE_FUNCTION("readdir64");
dirent64* FaceReadDir64(DIR* stream) {
  if (Stream* const ours = AsOurs(stream)) return Next(*ours);
  auto* const real = FACE_REAL("readdir64", FaceReadDir64);
  return real == nullptr ? nullptr : real(stream);
}

static int ReadDirInto(Stream& stream, dirent64* entry, dirent64** result) {
  const int error = errno;
  errno = 0;
  const dirent64* const next = Next(stream);
  const int failure = next == nullptr ? errno : 0;
  errno = error;
  if (next != nullptr) std::memcpy(entry, next, next->d_reclen);
  *result = next == nullptr ? nullptr : entry;
  return failure;
}

int FaceReadDirR(DIR* stream, dirent64* entry, dirent64** result) FACE_FUNCTION("readdir_r");
int FaceReadDirR(DIR* stream, dirent64* entry, dirent64** result) {
  if (Stream* const ours = AsOurs(stream)) return ReadDirInto(*ours, entry, result);
  auto* const real = FACE_REAL("readdir_r", FaceReadDirR);
  return real == nullptr ? ENOSYS : real(stream, entry, result);
}

int FaceReadDir64R(DIR* stream, dirent64* entry, dirent64** result) FACE_FUNCTION("readdir64_r");
int FaceReadDir64R(DIR* stream, dirent64* entry, dirent64** result) {
  if (Stream* const ours = AsOurs(stream)) return ReadDirInto(*ours, entry, result);
  auto* const real = FACE_REAL("readdir64_r", FaceReadDir64R);
  return real == nullptr ? ENOSYS : real(stream, entry, result);
}

int FaceCloseDir(DIR* stream) FACE_FUNCTION("closedir");
int FaceCloseDir(DIR* stream) {
  if (Stream* const ours = AsOurs(stream)) {
    const long result = Raw(SYS_close, ours->fd);
    ours->mark = 0;
    std::free(ours);
    return static_cast<int>(Returned(result));
  }
  auto* const real = FACE_REAL("closedir", FaceCloseDir);
  return real == nullptr ? -1 : real(stream);
}

int FaceDirFd(DIR* stream) FACE_FUNCTION("dirfd");
int FaceDirFd(DIR* stream) {
  if (const Stream* const ours = AsOurs(stream)) return ours->fd;
  auto* const real = FACE_REAL("dirfd", FaceDirFd);
  return real == nullptr ? -1 : real(stream);
}

void FaceRewindDir(DIR* stream) FACE_FUNCTION("rewinddir");
void FaceRewindDir(DIR* stream) {
  if (Stream* const ours = AsOurs(stream)) {
    ours->at = ours->size = 0;
    Raw(SYS_lseek, ours->fd, 0, SEEK_SET);
    return;
  }
  if (auto* const real = FACE_REAL("rewinddir", FaceRewindDir)) real(stream);
}

// A place is an offset in the memfd: what the file's is, without what was read ahead.
long FaceTellDir(DIR* stream) FACE_FUNCTION("telldir");
long FaceTellDir(DIR* stream) {
  if (const Stream* const ours = AsOurs(stream)) {
    return Raw(SYS_lseek, ours->fd, 0, SEEK_CUR) - static_cast<long>(ours->size - ours->at);
  }
  auto* const real = FACE_REAL("telldir", FaceTellDir);
  return real == nullptr ? -1 : real(stream);
}

void FaceSeekDir(DIR* stream, long place) FACE_FUNCTION("seekdir");
void FaceSeekDir(DIR* stream, long place) {
  if (Stream* const ours = AsOurs(stream)) {
    ours->at = ours->size = 0;
    Raw(SYS_lseek, ours->fd, place, SEEK_SET);
    return;
  }
  if (auto* const real = FACE_REAL("seekdir", FaceSeekDir)) real(stream, place);
}

int FaceScanDir(const char* path, dirent64*** out, Filter* filter, Compare* compare)
    FACE_FUNCTION("scandir");
int FaceScanDir(const char* path, dirent64*** out, Filter* filter, Compare* compare) {
  return ScanWith(FACE_REAL("scandir", FaceScanDir), path, out, filter, compare);
}

int FaceScanDir64(const char* path, dirent64*** out, Filter* filter, Compare* compare)
    FACE_FUNCTION("scandir64");
int FaceScanDir64(const char* path, dirent64*** out, Filter* filter, Compare* compare) {
  return ScanWith(FACE_REAL("scandir64", FaceScanDir64), path, out, filter, compare);
}

int FaceScanDirAt(int directory, const char* path, dirent64*** out, Filter* filter,
                  Compare* compare) FACE_FUNCTION("scandirat");
int FaceScanDirAt(int directory, const char* path, dirent64*** out, Filter* filter,
                  Compare* compare) {
  return ScanAtWith(FACE_REAL("scandirat", FaceScanDirAt), directory, path, out, filter, compare);
}

int FaceScanDirAt64(int directory, const char* path, dirent64*** out, Filter* filter,
                    Compare* compare) FACE_FUNCTION("scandirat64");
int FaceScanDirAt64(int directory, const char* path, dirent64*** out, Filter* filter,
                    Compare* compare) {
  return ScanAtWith(FACE_REAL("scandirat64", FaceScanDirAt64), directory, path, out, filter,
                    compare);
}

// The C library's glob() opens directories by itself, unless it is given the functions.
static int GlobWith(int (*real)(const char*, int, int (*)(const char*, int), glob_t*),
                    const char* pattern, int flags, int (*on_error)(const char*, int),
                    glob_t* out) {
  if (real == nullptr) return GLOB_ABORTED;
  if (Token() == nullptr || (flags & GLOB_ALTDIRFUNC) != 0) {
    return real(pattern, flags, on_error, out);
  }
  out->gl_opendir = [](const char* path) -> void* { return FaceOpenDir(path); };
  out->gl_readdir = [](void* stream) -> dirent* {
    return reinterpret_cast<dirent*>(FaceReadDir(static_cast<DIR*>(stream)));
  };
  out->gl_closedir = [](void* stream) { FaceCloseDir(static_cast<DIR*>(stream)); };
  out->gl_stat = [](const char* path, struct stat* facts) {
    return fstatat(AT_FDCWD, path, facts, 0);
  };
  out->gl_lstat = [](const char* path, struct stat* facts) {
    return fstatat(AT_FDCWD, path, facts, AT_SYMLINK_NOFOLLOW);
  };
  const int result = real(pattern, flags | GLOB_ALTDIRFUNC, on_error, out);
  // globfree() does not care, but a program that calls glob() again might.
  out->gl_flags &= ~GLOB_ALTDIRFUNC;
  return result;
}

int FaceGlob(const char* pattern, int flags, int (*on_error)(const char*, int), glob_t* out)
    FACE_FUNCTION("glob");
int FaceGlob(const char* pattern, int flags, int (*on_error)(const char*, int), glob_t* out) {
  return GlobWith(FACE_REAL("glob", FaceGlob), pattern, flags, on_error, out);
}

int FaceGlob64(const char* pattern, int flags, int (*on_error)(const char*, int), glob_t* out)
    FACE_FUNCTION("glob64");
int FaceGlob64(const char* pattern, int flags, int (*on_error)(const char*, int), glob_t* out) {
  return GlobWith(FACE_REAL("glob64", FaceGlob64), pattern, flags, on_error, out);
}

ssize_t FaceGetDents(int fd, void* out, size_t size) FACE_FUNCTION("getdents64");
ssize_t FaceGetDents(int fd, void* out, size_t size) {
  if (IsVirtualDirectory(fd)) return Returned(ReadEntries(fd, out, size));
  return Returned(Raw(SYS_getdents64, fd, out, size));
}

}  // extern "C"

}  // namespace packsmith::mock::face
