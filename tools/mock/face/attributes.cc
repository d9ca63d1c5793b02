// What else is asked of files by path: extended attributes, which the server's files have none of,
// and their file system.
#include <fcntl.h>
#include <sys/types.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>

#include "tools/mock/face/paths.h"
#include "tools/mock/face/raw.h"
#include "tools/mock/face/real.h"

namespace packsmith::mock::face {
namespace {

// `absent`: what is returned for a file without attributes.
long Attributes(long number, const char* path, bool follow, long absent, long b, long c, long d) {
  Target target(AT_FDCWD, path);
  if (!target.Ask(Op::kStat, 0, follow)) return Raw(number, target.path, b, c, d);
  return target.answer.reply.result < 0 ? target.answer.reply.result : absent;
}

}  // namespace

extern "C" {

ssize_t FaceGetXattr(const char* path, const char* name, void* out, size_t size)
    FACE_FUNCTION("getxattr");
ssize_t FaceGetXattr(const char* path, const char* name, void* out, size_t size) {
  return Returned(
      Attributes(SYS_getxattr, path, true, -ENODATA, AsWord(name), AsWord(out), AsWord(size)));
}

ssize_t FaceLgetXattr(const char* path, const char* name, void* out, size_t size)
    FACE_FUNCTION("lgetxattr");
ssize_t FaceLgetXattr(const char* path, const char* name, void* out, size_t size) {
  return Returned(
      Attributes(SYS_lgetxattr, path, false, -ENODATA, AsWord(name), AsWord(out), AsWord(size)));
}

ssize_t FaceListXattr(const char* path, char* out, size_t size) FACE_FUNCTION("listxattr");
ssize_t FaceListXattr(const char* path, char* out, size_t size) {
  return Returned(Attributes(SYS_listxattr, path, true, 0, AsWord(out), AsWord(size), 0));
}

ssize_t FaceLlistXattr(const char* path, char* out, size_t size) FACE_FUNCTION("llistxattr");
ssize_t FaceLlistXattr(const char* path, char* out, size_t size) {
  return Returned(Attributes(SYS_llistxattr, path, false, 0, AsWord(out), AsWord(size), 0));
}

// libudev asks whether a directory of /sys is one of sysfs.
int FaceFstatfs(int fd, struct statfs* out) FACE_FUNCTION("fstatfs");
int FaceFstatfs(int fd, struct statfs* out) {
  const long result = Raw(SYS_fstatfs, fd, out);
  constexpr long kTmpfs = 0x01021994, kSysfs = 0x62656572;
  char path[kMostPath];
  if (result == 0 && out->f_type == kTmpfs && PathOfDescriptor(fd, path) &&
      std::strncmp(path, "/sys/", 5) == 0) {
    out->f_type = kSysfs;
  }
  return static_cast<int>(Returned(result));
}

int FaceFstatfs64(int fd, struct statfs* out) FACE_FUNCTION("fstatfs64");
int FaceFstatfs64(int fd, struct statfs* out) { return FaceFstatfs(fd, out); }

}  // extern "C"

}  // namespace packsmith::mock::face
