#include "tools/mock/face/open.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

#include "tools/mock/face/raw.h"
#include "tools/mock/face/real.h"

namespace packsmith::mock::face {

bool OpenVirtual(Target& target, int flags, long& result) {
  const bool exclusive = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
  if (!target.Ask(Op::kOpen, flags, (flags & O_NOFOLLOW) == 0 && !exclusive)) return false;
  result = target.answer.reply.result;
  if (result < 0) return true;
  result = target.answer.fd < 0 ? -EMFILE : target.answer.fd;
  if (result >= 0 && (flags & O_CLOEXEC) == 0) Raw(SYS_fcntl, result, F_SETFD, 0);
  if (result >= 0 && (flags & O_NONBLOCK) != 0) Raw(SYS_fcntl, result, F_SETFL, O_NONBLOCK);
  return true;
}

namespace {

using OpenType = int(const char*, int, ...);
using OpenAtType = int(int, const char*, int, ...);

bool HasMode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

int OpenWith(OpenType* real, const char* path, int flags, mode_t mode) {
  Target target(AT_FDCWD, path);
  long result;
  if (OpenVirtual(target, flags, result)) return static_cast<int>(Returned(result));
  if (real != nullptr) return real(target.path, flags, mode);
  return static_cast<int>(Returned(Raw(SYS_openat, AT_FDCWD, target.path, flags, mode)));
}

int OpenAtWith(OpenAtType* real, int directory, const char* path, int flags, mode_t mode) {
  Target target(directory, path);
  long result;
  if (OpenVirtual(target, flags, result)) return static_cast<int>(Returned(result));
  if (real != nullptr) return real(target.directory, target.path, flags, mode);
  return static_cast<int>(Returned(Raw(SYS_openat, target.directory, target.path, flags, mode)));
}

mode_t TakeMode(int flags, va_list arguments) {
  return HasMode(flags) ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

// The flags of fopen()'s mode; -1: fopen() is to refuse it.
int FlagsOf(const char* mode) {
  int flags = 0;
  switch (*mode++) {
    case 'r':
      flags = O_RDONLY;
      break;
    case 'w':
      flags = O_WRONLY | O_CREAT | O_TRUNC;
      break;
    case 'a':
      flags = O_WRONLY | O_CREAT | O_APPEND;
      break;
    default:
      return -1;
  }
  for (; *mode != '\0' && *mode != ','; ++mode) {
    if (*mode == '+') flags = (flags & ~O_ACCMODE) | O_RDWR;
    if (*mode == 'x') flags |= O_EXCL;
    if (*mode == 'e') flags |= O_CLOEXEC;
  }
  return flags;
}

using StreamType = FILE*(const char*, const char*);
using ReopenType = FILE*(const char*, const char*, FILE*);

FILE* OpenStreamWith(StreamType* real, const char* path, const char* mode) {
  Target target(AT_FDCWD, path);
  const int flags = mode == nullptr ? -1 : FlagsOf(mode);
  long result;
  if (flags < 0 || !OpenVirtual(target, flags, result)) {
    if (real != nullptr) return real(target.path, mode);
    errno = ENOSYS;
    return nullptr;
  }
  if (result < 0) {
    Returned(result);
    return nullptr;
  }
  FILE* const stream = fdopen(static_cast<int>(result), mode);
  if (stream == nullptr) Raw(SYS_close, result);
  return stream;
}

FILE* ReopenStreamWith(ReopenType* real, const char* path, const char* mode, FILE* stream) {
  Target target(AT_FDCWD, path);
  const int flags = mode == nullptr ? -1 : FlagsOf(mode);
  long result;
  if (real == nullptr) {
    errno = ENOSYS;
    return nullptr;
  }
  if (flags < 0 || !OpenVirtual(target, flags, result)) return real(target.path, mode, stream);
  // The C library opens the descriptor's own link, which is not followed here again.
  char link[48];
  FILE* reopened = nullptr;
  if (result >= 0) {
    snprintf(link, sizeof(link), "/proc/self/fd/%ld", result);
    reopened = real(link, mode, stream);
    const int error = errno;
    Raw(SYS_close, result);
    errno = error;
  } else {
    fclose(stream);
    Returned(result);
  }
  return reopened;
}

}  // namespace

extern "C" {

int FaceOpen(const char* path, int flags, ...) FACE_FUNCTION("open");
int FaceOpen(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = TakeMode(flags, arguments);
  va_end(arguments);
  return OpenWith(FACE_REAL("open", FaceOpen), path, flags, mode);
}

int FaceOpen64(const char* path, int flags, ...) FACE_FUNCTION("open64");
int FaceOpen64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = TakeMode(flags, arguments);
  va_end(arguments);
  return OpenWith(FACE_REAL("open64", FaceOpen64), path, flags, mode);
}

// With _FORTIFY_SOURCE: calls without a mode.
int FaceOpen2(const char* path, int flags) FACE_FUNCTION("__open_2");
int FaceOpen2(const char* path, int flags) {
  return OpenWith(FACE_REAL("open", FaceOpen), path, flags, 0);
}

int FaceOpen642(const char* path, int flags) FACE_FUNCTION("__open64_2");
int FaceOpen642(const char* path, int flags) {
  return OpenWith(FACE_REAL("open64", FaceOpen64), path, flags, 0);
}

int FaceOpenAt(int directory, const char* path, int flags, ...) FACE_FUNCTION("openat");
int FaceOpenAt(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = TakeMode(flags, arguments);
  va_end(arguments);
  return OpenAtWith(FACE_REAL("openat", FaceOpenAt), directory, path, flags, mode);
}

int FaceOpenAt64(int directory, const char* path, int flags, ...) FACE_FUNCTION("openat64");
int FaceOpenAt64(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = TakeMode(flags, arguments);
  va_end(arguments);
  return OpenAtWith(FACE_REAL("openat64", FaceOpenAt64), directory, path, flags, mode);
}

int FaceOpenAt2(int directory, const char* path, int flags) FACE_FUNCTION("__openat_2");
int FaceOpenAt2(int directory, const char* path, int flags) {
  return OpenAtWith(FACE_REAL("openat", FaceOpenAt), directory, path, flags, 0);
}

int FaceOpenAt642(int directory, const char* path, int flags) FACE_FUNCTION("__openat64_2");
int FaceOpenAt642(int directory, const char* path, int flags) {
  return OpenAtWith(FACE_REAL("openat64", FaceOpenAt64), directory, path, flags, 0);
}

int FaceCreat(const char* path, mode_t mode) FACE_FUNCTION("creat");
int FaceCreat(const char* path, mode_t mode) {
  return OpenWith(FACE_REAL("open", FaceOpen), path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int FaceCreat64(const char* path, mode_t mode) FACE_FUNCTION("creat64");
int FaceCreat64(const char* path, mode_t mode) {
  return OpenWith(FACE_REAL("open64", FaceOpen64), path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

FILE* FaceFopen(const char* path, const char* mode) FACE_FUNCTION("fopen");
FILE* FaceFopen(const char* path, const char* mode) {
  return OpenStreamWith(FACE_REAL("fopen", FaceFopen), path, mode);
}

FILE* FaceFopen64(const char* path, const char* mode) FACE_FUNCTION("fopen64");
FILE* FaceFopen64(const char* path, const char* mode) {
  return OpenStreamWith(FACE_REAL("fopen64", FaceFopen64), path, mode);
}

FILE* FaceFreopen(const char* path, const char* mode, FILE* stream) FACE_FUNCTION("freopen");
FILE* FaceFreopen(const char* path, const char* mode, FILE* stream) {
  return ReopenStreamWith(FACE_REAL("freopen", FaceFreopen), path, mode, stream);
}

FILE* FaceFreopen64(const char* path, const char* mode, FILE* stream) FACE_FUNCTION("freopen64");
FILE* FaceFreopen64(const char* path, const char* mode, FILE* stream) {
  return ReopenStreamWith(FACE_REAL("freopen64", FaceFreopen64), path, mode, stream);
}

}  // extern "C"

}  // namespace packsmith::mock::face
