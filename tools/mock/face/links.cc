// readlink(), realpath() and their variants.
#include "tools/mock/face/links.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/mock/face/paths.h"
#include "tools/mock/face/raw.h"
#include "tools/mock/face/real.h"

namespace packsmith::mock::face {

long ReadLinkAt(int directory, const char* path, char* out, size_t size) {
  char link[kMostPath];
  const char* text = link;
  size_t length;
  if (path != nullptr && path[0] == '\0' && directory >= 0 && PathOfDescriptor(directory, link)) {
    // A link that was opened with O_PATH.
    Target target(AT_FDCWD, link);
    if (!target.Ask(Op::kReadLink, 0, /*follow=*/false)) return -EINVAL;
    if (target.answer.reply.result < 0) return target.answer.reply.result;
    length = std::strlen(target.answer.path);
    std::memcpy(link, target.answer.path, length);
  } else {
    Target target(directory, path);
    if (target.Ask(Op::kReadLink, 0, /*follow=*/false)) {
      if (target.answer.reply.result < 0) return target.answer.reply.result;
      length = std::strlen(target.answer.path);
      std::memcpy(link, target.answer.path, length);
    } else {
      const long real = Raw(SYS_readlinkat, target.directory, target.path, link, sizeof(link) - 1);
      if (real < 0) return real;
      // What /proc says of descriptors that stand for something else.
      link[real] = '\0';
      const bool may_stand = std::strncmp(link, "socket:[", 8) == 0 ||
                             std::strncmp(link, "/memfd:packsmith:", 17) == 0;
      const int fd = may_stand ? DescriptorOfPath(path) : -1;
      if (fd < 0 || !PathOfDescriptor(fd, link)) link[real] = '\0';
      length = std::strlen(link);
    }
  }
  if (size == 0 || size > SSIZE_MAX) return -EINVAL;
  if (length > size) length = size;
  std::memcpy(out, text, length);
  return static_cast<long>(length);
}

namespace {

using RealPathType = char*(const char*, char*);

char* RealPathWith(RealPathType* real, const char* path, char* out) {
  Target target(AT_FDCWD, path);
  if (!target.Ask(Op::kStat, 0, /*follow=*/true)) {
    if (real != nullptr) return real(target.path, out);
    errno = ENOSYS;
    return nullptr;
  }
  if (target.answer.reply.result < 0) {
    Returned(target.answer.reply.result);
    return nullptr;
  }
  const size_t size = std::strlen(target.answer.path) + 1;
  if (out == nullptr) out = static_cast<char*>(std::malloc(size));
  if (out != nullptr) std::memcpy(out, target.answer.path, size);
  return out;
}

}  // namespace

extern "C" {

ssize_t FaceReadLink(const char* path, char* out, size_t size) FACE_FUNCTION("readlink");
ssize_t FaceReadLink(const char* path, char* out, size_t size) {
  return Returned(ReadLinkAt(AT_FDCWD, path, out, size));
}

ssize_t FaceReadLinkAt(int directory, const char* path, char* out, size_t size)
    FACE_FUNCTION("readlinkat");
ssize_t FaceReadLinkAt(int directory, const char* path, char* out, size_t size) {
  return Returned(ReadLinkAt(directory, path, out, size));
}

// With _FORTIFY_SOURCE: the buffer's size is known.
ssize_t FaceReadLinkChecked(const char* path, char* out, size_t size, size_t room)
    FACE_FUNCTION("__readlink_chk");
ssize_t FaceReadLinkChecked(const char* path, char* out, size_t size, size_t room) {
  if (size > room) std::abort();
  return Returned(ReadLinkAt(AT_FDCWD, path, out, size));
}

ssize_t FaceReadLinkAtChecked(int directory, const char* path, char* out, size_t size, size_t room)
    FACE_FUNCTION("__readlinkat_chk");
ssize_t FaceReadLinkAtChecked(int directory, const char* path, char* out, size_t size,
                              size_t room) {
  if (size > room) std::abort();
  return Returned(ReadLinkAt(directory, path, out, size));
}

char* FaceRealPath(const char* path, char* out) FACE_FUNCTION("realpath");
char* FaceRealPath(const char* path, char* out) {
  return RealPathWith(FACE_REAL("realpath", FaceRealPath), path, out);
}

char* FaceRealPathChecked(const char* path, char* out, size_t room) FACE_FUNCTION("__realpath_chk");
char* FaceRealPathChecked(const char* path, char* out, size_t room) {
  if (room < PATH_MAX) std::abort();
  return RealPathWith(FACE_REAL("realpath", FaceRealPath), path, out);
}

char* FaceCanonicalize(const char* path) FACE_FUNCTION("canonicalize_file_name");
char* FaceCanonicalize(const char* path) {
  return RealPathWith(FACE_REAL("realpath", FaceRealPath), path, nullptr);
}

}  // extern "C"

}  // namespace packsmith::mock::face
