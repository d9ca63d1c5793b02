#include "tools/mock/face/stat.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/mock/face/raw.h"
#include "tools/mock/face/real.h"

namespace packsmith::mock::face {

// Of what stands for something else: device files are sockets, files and directories are files
// without a name.
static bool MayStandFor(mode_t mode, nlink_t links) {
  return S_ISSOCK(mode) || (S_ISREG(mode) && links == 0);
}

bool FactsOf(Target& target, int flags, Facts& out, long& result) {
  if (target.path != nullptr && target.path[0] == '\0' && (flags & AT_EMPTY_PATH) != 0) {
    struct stat real;
    result = 0;
    return target.directory >= 0 && Raw(SYS_fstat, target.directory, &real) == 0 &&
           MayStandFor(real.st_mode, real.st_nlink) && DescriptorFacts(target.directory, out);
  }
  if (!target.Ask(Op::kStat, 0, (flags & AT_SYMLINK_NOFOLLOW) == 0)) return false;
  result = target.answer.reply.result;
  out = target.answer.reply.facts;
  return true;
}

void CorrectStat(int fd, struct stat& facts) {
  if (!MayStandFor(facts.st_mode, facts.st_nlink)) return;
  Facts ours;
  if (DescriptorFacts(fd, ours)) FillStat(ours, facts);
}

void FillStatx(const Facts& facts, struct statx& out) {
  struct stat stat;
  FillStat(facts, stat);
  std::memset(&out, 0, sizeof(out));
  out.stx_mask = STATX_BASIC_STATS;
  out.stx_blksize = static_cast<uint32_t>(stat.st_blksize);
  out.stx_nlink = static_cast<uint32_t>(stat.st_nlink);
  out.stx_mode = static_cast<uint16_t>(stat.st_mode);
  out.stx_ino = stat.st_ino;
  out.stx_size = facts.size;
  out.stx_atime.tv_sec = out.stx_mtime.tv_sec = out.stx_ctime.tv_sec = facts.time;
  out.stx_rdev_major = facts.major;
  out.stx_rdev_minor = facts.minor;
  out.stx_dev_minor = static_cast<uint32_t>(stat.st_dev & 0xff);
}

namespace {

static_assert(sizeof(struct stat) == sizeof(struct stat64));

using StatType = int(const char*, struct stat*);
using FstatType = int(int, struct stat*);
using FstatAtType = int(int, const char*, struct stat*, int);

int StatAt(FstatAtType* real, int directory, const char* path, struct stat* out, int flags) {
  Target target(directory, path);
  Facts facts;
  long result;
  if (FactsOf(target, flags, facts, result)) {
    if (result == 0) FillStat(facts, *out);
    return static_cast<int>(Returned(result));
  }
  if (real != nullptr) return real(target.directory, target.path, out, flags);
  return static_cast<int>(Returned(Raw(SYS_newfstatat, target.directory, target.path, out, flags)));
}

int StatWith(StatType* real, const char* path, struct stat* out, int flags) {
  Target target(AT_FDCWD, path);
  Facts facts;
  long result;
  if (FactsOf(target, flags, facts, result)) {
    if (result == 0) FillStat(facts, *out);
    return static_cast<int>(Returned(result));
  }
  if (real != nullptr) return real(target.path, out);
  return static_cast<int>(Returned(Raw(SYS_newfstatat, AT_FDCWD, target.path, out, flags)));
}

int FstatWith(FstatType* real, int fd, struct stat* out) {
  const int result =
      real != nullptr ? real(fd, out) : static_cast<int>(Returned(Raw(SYS_fstat, fd, out)));
  if (result == 0) CorrectStat(fd, *out);
  return result;
}

}  // namespace

extern "C" {

int FaceStat(const char* path, struct stat* out) FACE_FUNCTION("stat");
int FaceStat(const char* path, struct stat* out) {
  return StatWith(FACE_REAL("stat", FaceStat), path, out, 0);
}

int FaceStat64(const char* path, struct stat* out) FACE_FUNCTION("stat64");
int FaceStat64(const char* path, struct stat* out) {
  return StatWith(FACE_REAL("stat64", FaceStat64), path, out, 0);
}

int FaceLstat(const char* path, struct stat* out) FACE_FUNCTION("lstat");
int FaceLstat(const char* path, struct stat* out) {
  return StatWith(FACE_REAL("lstat", FaceLstat), path, out, AT_SYMLINK_NOFOLLOW);
}

int FaceLstat64(const char* path, struct stat* out) FACE_FUNCTION("lstat64");
int FaceLstat64(const char* path, struct stat* out) {
  return StatWith(FACE_REAL("lstat64", FaceLstat64), path, out, AT_SYMLINK_NOFOLLOW);
}

int FaceFstat(int fd, struct stat* out) FACE_FUNCTION("fstat");
int FaceFstat(int fd, struct stat* out) {
  return FstatWith(FACE_REAL("fstat", FaceFstat), fd, out);
}

int FaceFstat64(int fd, struct stat* out) FACE_FUNCTION("fstat64");
int FaceFstat64(int fd, struct stat* out) {
  return FstatWith(FACE_REAL("fstat64", FaceFstat64), fd, out);
}

int FaceFstatAt(int directory, const char* path, struct stat* out, int flags)
    FACE_FUNCTION("fstatat");
int FaceFstatAt(int directory, const char* path, struct stat* out, int flags) {
  return StatAt(FACE_REAL("fstatat", FaceFstatAt), directory, path, out, flags);
}

int FaceFstatAt64(int directory, const char* path, struct stat* out, int flags)
    FACE_FUNCTION("fstatat64");
int FaceFstatAt64(int directory, const char* path, struct stat* out, int flags) {
  return StatAt(FACE_REAL("fstatat64", FaceFstatAt64), directory, path, out, flags);
}

// What programs call that were linked with a C library before 2.33. `version` is always the same
// on 64-bit machines.
int FaceXstat(int version, const char* path, struct stat* out) FACE_FUNCTION("__xstat");
int FaceXstat(int, const char* path, struct stat* out) { return StatWith(nullptr, path, out, 0); }

int FaceXstat64(int version, const char* path, struct stat* out) FACE_FUNCTION("__xstat64");
int FaceXstat64(int, const char* path, struct stat* out) { return StatWith(nullptr, path, out, 0); }

int FaceLxstat(int version, const char* path, struct stat* out) FACE_FUNCTION("__lxstat");
int FaceLxstat(int, const char* path, struct stat* out) {
  return StatWith(nullptr, path, out, AT_SYMLINK_NOFOLLOW);
}

int FaceLxstat64(int version, const char* path, struct stat* out) FACE_FUNCTION("__lxstat64");
int FaceLxstat64(int, const char* path, struct stat* out) {
  return StatWith(nullptr, path, out, AT_SYMLINK_NOFOLLOW);
}

int FaceFxstat(int version, int fd, struct stat* out) FACE_FUNCTION("__fxstat");
int FaceFxstat(int, int fd, struct stat* out) { return FstatWith(nullptr, fd, out); }

int FaceFxstat64(int version, int fd, struct stat* out) FACE_FUNCTION("__fxstat64");
int FaceFxstat64(int, int fd, struct stat* out) { return FstatWith(nullptr, fd, out); }

int FaceFxstatAt(int version, int directory, const char* path, struct stat* out, int flags)
    FACE_FUNCTION("__fxstatat");
int FaceFxstatAt(int, int directory, const char* path, struct stat* out, int flags) {
  return StatAt(nullptr, directory, path, out, flags);
}

int FaceFxstatAt64(int version, int directory, const char* path, struct stat* out, int flags)
    FACE_FUNCTION("__fxstatat64");
int FaceFxstatAt64(int, int directory, const char* path, struct stat* out, int flags) {
  return StatAt(nullptr, directory, path, out, flags);
}

int FaceStatx(int directory, const char* path, int flags, unsigned mask, struct statx* out)
    FACE_FUNCTION("statx");
int FaceStatx(int directory, const char* path, int flags, unsigned mask, struct statx* out) {
  Target target(directory, path);
  Facts facts;
  long result;
  if (FactsOf(target, flags, facts, result)) {
    if (result == 0) FillStatx(facts, *out);
    return static_cast<int>(Returned(result));
  }
  auto* const real = FACE_REAL("statx", FaceStatx);
  if (real != nullptr) return real(target.directory, target.path, flags, mask, out);
  return static_cast<int>(
      Returned(Raw(SYS_statx, target.directory, target.path, flags, mask, out)));
}

using AccessType = int(const char*, int);

static bool AccessOf(Target& target, int mode, int flags, long& result) {
  Facts facts;
  if (!FactsOf(target, flags & AT_SYMLINK_NOFOLLOW, facts, result)) return false;
  if (result != 0) return true;
  const bool denied = ((mode & R_OK) != 0 && (facts.mode & 0444) == 0) ||
                      ((mode & W_OK) != 0 && (facts.mode & 0222) == 0) ||
                      ((mode & X_OK) != 0 && (facts.mode & 0111) == 0);
  result = denied ? -EACCES : 0;
  return true;
}

static int AccessWith(AccessType* real, const char* path, int mode) {
  Target target(AT_FDCWD, path);
  long result;
  if (AccessOf(target, mode, 0, result)) return static_cast<int>(Returned(result));
  if (real != nullptr) return real(target.path, mode);
  return static_cast<int>(Returned(Raw(SYS_faccessat, AT_FDCWD, target.path, mode)));
}

int FaceAccess(const char* path, int mode) FACE_FUNCTION("access");
int FaceAccess(const char* path, int mode) {
  return AccessWith(FACE_REAL("access", FaceAccess), path, mode);
}

int FaceEuidaccess(const char* path, int mode) FACE_FUNCTION("euidaccess");
int FaceEuidaccess(const char* path, int mode) {
  return AccessWith(FACE_REAL("euidaccess", FaceEuidaccess), path, mode);
}

int FaceEaccess(const char* path, int mode) FACE_FUNCTION("eaccess");
int FaceEaccess(const char* path, int mode) {
  return AccessWith(FACE_REAL("eaccess", FaceEaccess), path, mode);
}

int FaceFaccessAt(int directory, const char* path, int mode, int flags) FACE_FUNCTION("faccessat");
int FaceFaccessAt(int directory, const char* path, int mode, int flags) {
  Target target(directory, path);
  long result;
  if (AccessOf(target, mode, flags, result)) return static_cast<int>(Returned(result));
  auto* const real = FACE_REAL("faccessat", FaceFaccessAt);
  if (real != nullptr) return real(target.directory, target.path, mode, flags);
  return static_cast<int>(Returned(Raw(SYS_faccessat, target.directory, target.path, mode)));
}

}  // extern "C"

}  // namespace packsmith::mock::face
