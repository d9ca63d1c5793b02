// ioctl(), mmap(), lseek(), mount(), and syscall() for what has a function here.
#include <fcntl.h>
#include <linux/stat.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/types.h>

#include <cerrno>
#include <cstring>

#include "tools/mock/face/channel.h"
#include "tools/mock/face/devices.h"
#include "tools/mock/face/directories.h"
#include "tools/mock/face/links.h"
#include "tools/mock/face/open.h"
#include "tools/mock/face/raw.h"
#include "tools/mock/face/real.h"
#include "tools/mock/face/stat.h"

namespace packsmith::mock::face {
namespace {

// The operating system's call, with the server's answer where it has one; a negative errno for an
// error.

long IoctlCall(int fd, unsigned long request, void* argument) {
  long result;
  if (DeviceIoctl(fd, request, argument, result)) return result;
  return Raw(SYS_ioctl, fd, request, argument);
}

long MmapCall(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  long result;
  if (DeviceMmap(address, size, protection, flags, fd, offset, result)) return result;
  return Raw(SYS_mmap, address, size, protection, flags, fd, offset);
}

long OpenCall(int directory, const char* path, int flags, mode_t mode) {
  Target target(directory, path);
  long result;
  if (OpenVirtual(target, flags, result)) return result;
  return Raw(SYS_openat, target.directory, target.path, flags, mode);
}

long StatCall(int directory, const char* path, struct stat* out, int flags) {
  Target target(directory, path);
  Facts facts;
  long result;
  if (!FactsOf(target, flags, facts, result)) {
    return Raw(SYS_newfstatat, target.directory, target.path, out, flags);
  }
  if (result == 0) FillStat(facts, *out);
  return result;
}

long StatxCall(int directory, const char* path, int flags, unsigned mask, struct statx* out) {
  Target target(directory, path);
  Facts facts;
  long result;
  if (!FactsOf(target, flags, facts, result)) {
    return Raw(SYS_statx, target.directory, target.path, flags, mask, out);
  }
  if (result == 0) FillStatx(facts, *out);
  return result;
}

long SeekCall(int fd, off_t offset, int from) {
  const long result = Raw(SYS_lseek, fd, offset, from);
  DeviceFile device;
  // Device files take any place, and stay where they are.
  return result == -ESPIPE && FindDeviceFile(fd, device) ? 0 : result;
}

// The server's files of debugfs are there whether it is mounted or not, and programs that miss it
// mount it (IGT's tools do), which only root may.
long MountCall(const char* source, const char* target, const char* type, unsigned long flags,
               const void* data) {
  if (type != nullptr && std::strcmp(type, "debugfs") == 0 && Token() != nullptr) return 0;
  return Raw(SYS_mount, source, target, type, flags, data);
}

template <typename T>
T* AsPointer(long word) {
  return reinterpret_cast<T*>(word);
}

long Call(long number, const long (&a)[6]) {
  switch (number) {
    case SYS_ioctl:
      return IoctlCall(static_cast<int>(a[0]), static_cast<unsigned long>(a[1]),
                       AsPointer<void>(a[2]));
    case SYS_mmap:
      return MmapCall(AsPointer<void>(a[0]), static_cast<size_t>(a[1]), static_cast<int>(a[2]),
                      static_cast<int>(a[3]), static_cast<int>(a[4]), a[5]);
    case SYS_lseek:
      return SeekCall(static_cast<int>(a[0]), a[1], static_cast<int>(a[2]));
    case SYS_openat:
      return OpenCall(static_cast<int>(a[0]), AsPointer<const char>(a[1]), static_cast<int>(a[2]),
                      static_cast<mode_t>(a[3]));
    case SYS_newfstatat:
      return StatCall(static_cast<int>(a[0]), AsPointer<const char>(a[1]),
                      AsPointer<struct stat>(a[2]), static_cast<int>(a[3]));
    case SYS_fstat: {
      const long result = Raw(SYS_fstat, a[0], a[1]);
      if (result == 0) CorrectStat(static_cast<int>(a[0]), *AsPointer<struct stat>(a[1]));
      return result;
    }
    case SYS_statx:
      return StatxCall(static_cast<int>(a[0]), AsPointer<const char>(a[1]), static_cast<int>(a[2]),
                       static_cast<unsigned>(a[3]), AsPointer<struct statx>(a[4]));
    case SYS_readlinkat:
      return ReadLinkAt(static_cast<int>(a[0]), AsPointer<const char>(a[1]), AsPointer<char>(a[2]),
                        static_cast<size_t>(a[3]));
    case SYS_mount:
      return MountCall(AsPointer<const char>(a[0]), AsPointer<const char>(a[1]),
                       AsPointer<const char>(a[2]), static_cast<unsigned long>(a[3]),
                       AsPointer<const void>(a[4]));
    case SYS_getdents64:
      if (!IsVirtualDirectory(static_cast<int>(a[0]))) break;
      return ReadEntries(static_cast<int>(a[0]), AsPointer<void>(a[1]), static_cast<size_t>(a[2]));
#ifdef SYS_open
    case SYS_open:
      return OpenCall(AT_FDCWD, AsPointer<const char>(a[0]), static_cast<int>(a[1]),
                      static_cast<mode_t>(a[2]));
    case SYS_stat:
      return StatCall(AT_FDCWD, AsPointer<const char>(a[0]), AsPointer<struct stat>(a[1]), 0);
    case SYS_lstat:
      return StatCall(AT_FDCWD, AsPointer<const char>(a[0]), AsPointer<struct stat>(a[1]),
                      AT_SYMLINK_NOFOLLOW);
    case SYS_readlink:
      return ReadLinkAt(AT_FDCWD, AsPointer<const char>(a[0]), AsPointer<char>(a[1]),
                        static_cast<size_t>(a[2]));
#endif
    default:
      break;
  }
  return RawSyscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

}  // namespace

extern "C" {

int FaceIoctl(int fd, unsigned long request, ...) FACE_FUNCTION("ioctl");
int FaceIoctl(int fd, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  long result;
  if (DeviceIoctl(fd, request, argument, result)) return static_cast<int>(Returned(result));
  auto* const real = FACE_REAL("ioctl", FaceIoctl);
  if (real != nullptr) return real(fd, request, argument);
  return static_cast<int>(Returned(Raw(SYS_ioctl, fd, request, argument)));
}

void* FaceMmap(void* address, size_t size, int protection, int flags, int fd, off_t offset)
    FACE_FUNCTION("mmap");
void* FaceMmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  return reinterpret_cast<void*>(Returned(MmapCall(address, size, protection, flags, fd, offset)));
}

void* FaceMmap64(void* address, size_t size, int protection, int flags, int fd, off_t offset)
    FACE_FUNCTION("mmap64");
void* FaceMmap64(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  return reinterpret_cast<void*>(Returned(MmapCall(address, size, protection, flags, fd, offset)));
}

off_t FaceSeek(int fd, off_t offset, int from) FACE_FUNCTION("lseek");
off_t FaceSeek(int fd, off_t offset, int from) { return Returned(SeekCall(fd, offset, from)); }

off_t FaceSeek64(int fd, off_t offset, int from) FACE_FUNCTION("lseek64");
off_t FaceSeek64(int fd, off_t offset, int from) { return Returned(SeekCall(fd, offset, from)); }

int FaceMount(const char* source, const char* target, const char* type, unsigned long flags,
              const void* data) FACE_FUNCTION("mount");
int FaceMount(const char* source, const char* target, const char* type, unsigned long flags,
              const void* data) {
  return static_cast<int>(Returned(MountCall(source, target, type, flags, data)));
}

// Any call has at most six arguments; the C library passes on as many, given or not.
long FaceSyscall(long number, ...) FACE_FUNCTION("syscall");
long FaceSyscall(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  long words[6];
  for (long& word : words) word = va_arg(arguments, long);
  va_end(arguments);
  return Returned(Call(number, words));
}

}  // extern "C"

}  // namespace packsmith::mock::face
