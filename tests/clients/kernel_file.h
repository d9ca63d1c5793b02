// What programs that speak to a kernel driver themselves share: a device file, its calls, checks.
#ifndef PACKSMITH_TESTS_CLIENTS_KERNEL_FILE_H_
#define PACKSMITH_TESTS_CLIENTS_KERNEL_FILE_H_

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "runtime/kernel/uapi/drm.h"

// Ends the program with the place and both numbers.
#define EXPECT_EQ(a, b) ExpectEqual(__FILE__, __LINE__, #a, uint64_t(a), uint64_t(b))
#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

inline void ExpectEqual(const char* file, int line, const char* text, uint64_t is,
                        uint64_t wanted) {
  if (is == wanted) return;
  fprintf(stderr, "%s:%d: %s is 0x%llx, not 0x%llx (%s)\n", file, line, text,
          static_cast<unsigned long long>(is), static_cast<unsigned long long>(wanted),
          strerror(errno));
  exit(1);
}

inline void Good(const char* name) {
  printf("%s: good\n", name);
  fflush(stdout);
}

inline uint64_t Now() {
  timespec at = {};
  clock_gettime(CLOCK_MONOTONIC, &at);
  return static_cast<uint64_t>(at.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(at.tv_nsec);
}

template <class T>
uint64_t AddressOf(T& object) {
  return reinterpret_cast<uint64_t>(&object);
}

// An open device file. Methods that do not return a result expect the call to succeed.
class KernelFile {
 public:
  KernelFile() : fd_(open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC)) { EXPECT(fd_ >= 0); }
  ~KernelFile() { close(fd_); }
  KernelFile(const KernelFile&) = delete;
  KernelFile& operator=(const KernelFile&) = delete;

  // 0, or the errno.
  template <class T>
  int Call(uint32_t request, T& args) {
    return ioctl(fd_, request, &args) == 0 ? 0 : errno;
  }

  void* Mmap(uint64_t offset, size_t size) {
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, static_cast<off_t>(offset));
    EXPECT(memory != MAP_FAILED);
    return memory;
  }

  // Whether the driver's name is `name`.
  bool IsDriver(const char* name) {
    char text[16] = {};
    packsmith::uapi::drm::version version = {};
    version.name = AddressOf(text);
    version.name_len = sizeof(text) - 1;
    return Call(packsmith::uapi::drm::kVersion, version) == 0 && strcmp(text, name) == 0;
  }

  uint32_t Syncobj() {
    packsmith::uapi::drm::syncobj_create args = {};
    EXPECT_EQ(Call(packsmith::uapi::drm::kSyncobjCreate, args), 0);
    return args.handle;
  }
  // 0 or ETIME. Without a point, of a binary object.
  int Wait(uint32_t syncobj, uint64_t nanoseconds, uint64_t point = 0) {
    namespace drm = packsmith::uapi::drm;
    const auto until = static_cast<int64_t>(Now() + nanoseconds);
    if (point == 0) {
      drm::syncobj_wait args = {};
      args.handles = AddressOf(syncobj);
      args.timeout_nsec = until;
      args.count_handles = 1;
      return Call(drm::kSyncobjWait, args);
    }
    drm::syncobj_timeline_wait args = {};
    args.handles = AddressOf(syncobj);
    args.points = AddressOf(point);
    args.timeout_nsec = until;
    args.count_handles = 1;
    args.flags = drm::kSyncobjWaitForSubmit;
    return Call(drm::kSyncobjTimelineWait, args);
  }
  void Signal(uint32_t syncobj, uint64_t point) {
    packsmith::uapi::drm::syncobj_timeline_array args = {};
    args.handles = AddressOf(syncobj);
    args.points = AddressOf(point);
    args.count_handles = 1;
    EXPECT_EQ(Call(packsmith::uapi::drm::kSyncobjTimelineSignal, args), 0);
  }

 private:
  const int fd_;
};

#endif  // PACKSMITH_TESTS_CLIENTS_KERNEL_FILE_H_
