#include "tools/mock/face/paths.h"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstring>

#include "tools/mock/face/devices.h"
#include "tools/mock/face/raw.h"

namespace packsmith::mock::face {
namespace {

// Whether `path` is `prefix`, or below it.
bool IsBelow(const char* path, const char* prefix) {
  const size_t size = std::strlen(prefix);
  return std::strncmp(path, prefix, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

// Of a path without `.`, `..` and repeated slashes.
bool IsServed(const char* path) {
  switch (path[1]) {
    case 'd':
      return std::strcmp(path, "/dev") == 0 || IsBelow(path, "/dev/dri") ||
             std::strcmp(path, "/dev/char") == 0 || std::strncmp(path, "/dev/char/226:", 14) == 0;
    case 's':
      return IsBelow(path, "/sys");
    case 'p':
      return IsBelow(path, "/proc/sys/dev") || IsBelow(path, "/proc/dri");
    case 'r':
      return IsBelow(path, "/run/udev");
    default:
      return false;
  }
}

// An absolute path without `.`, repeated slashes and, taking no component for a link, `..`. False:
// too long.
bool Normalise(const char* path, char (&out)[kMostPath]) {
  size_t size = 0;
  while (*path != '\0') {
    while (*path == '/') ++path;
    size_t length = 0;
    while (path[length] != '\0' && path[length] != '/') ++length;
    if (length == 2 && path[0] == '.' && path[1] == '.') {
      while (size > 0 && out[--size] != '/') {
      }
    } else if (length > 0 && !(length == 1 && path[0] == '.')) {
      if (size + 1 + length >= kMostPath) return false;
      out[size++] = '/';
      std::memcpy(out + size, path, length);
      size += length;
    }
    path += length;
  }
  if (size == 0) out[size++] = '/';
  out[size] = '\0';
  return true;
}

// The number N of /proc/self/fd/N, and what follows it. -1: the path is another one.
int DescriptorNumber(const char* path, const char*& rest) {
  if (std::strncmp(path, "/dev/fd/", 8) == 0) {
    path += 8;
  } else if (std::strncmp(path, "/proc/self/fd/", 14) == 0) {
    path += 14;
  } else if (std::strncmp(path, "/proc/thread-self/fd/", 21) == 0) {
    path += 21;
  } else if (std::strncmp(path, "/proc/", 6) == 0 && path[6] >= '1' && path[6] <= '9') {
    long process = 0;
    for (path += 6; *path >= '0' && *path <= '9' && process < 1'000'000'000; ++path) {
      process = process * 10 + (*path - '0');
    }
    if (std::strncmp(path, "/fd/", 4) != 0 || process != Raw(SYS_getpid)) return -1;
    path += 4;
  } else {
    return -1;
  }
  if (*path < '0' || *path > '9') return -1;
  long number = 0;
  for (; *path >= '0' && *path <= '9' && number < 100'000'000; ++path) {
    number = number * 10 + (*path - '0');
  }
  if (*path != '\0' && *path != '/') return -1;
  rest = path;
  return static_cast<int>(number);
}

// What /proc/self/fd/N points to; false: nothing, or it is too long.
bool DescriptorLink(int fd, char (&out)[kMostPath]) {
  char link[32] = "/proc/self/fd/";
  size_t at = std::strlen(link);
  char digits[12];
  size_t count = 0;
  unsigned number = static_cast<unsigned>(fd);
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  while (count > 0) link[at++] = digits[--count];
  link[at] = '\0';
  const long size = Raw(SYS_readlinkat, AT_FDCWD, link, out, kMostPath);
  if (size <= 0 || size >= static_cast<long>(kMostPath)) return false;
  out[size] = '\0';
  return true;
}

// "/memfd:packsmith:PATH (deleted)" becomes PATH.
bool TakePathOfMemfd(char (&link)[kMostPath]) {
  constexpr char kBegin[] = "/memfd:packsmith:";
  constexpr char kEnd[] = " (deleted)";
  constexpr size_t kBeginSize = sizeof(kBegin) - 1, kEndSize = sizeof(kEnd) - 1;
  const size_t size = std::strlen(link);
  if (size <= kBeginSize + kEndSize || std::memcmp(link, kBegin, kBeginSize) != 0 ||
      std::memcmp(link + size - kEndSize, kEnd, kEndSize) != 0) {
    return false;
  }
  std::memmove(link, link + kBeginSize, size - kBeginSize - kEndSize);
  link[size - kBeginSize - kEndSize] = '\0';
  return true;
}

// Decides for an absolute path, in `out`.
Way FindWayOfAbsolute(bool follow, char (&out)[kMostPath], Way otherwise) {
  const char* at = out;
  while (at[0] == '/' && (at[1] == '/' || (at[1] == '.' && at[2] == '/'))) ++at;
  // What most paths are.
  const bool goes_up = std::strstr(at, "/..") != nullptr;
  if (!goes_up && std::strncmp(at, "/dev", 4) != 0 && std::strncmp(at, "/sys", 4) != 0 &&
      std::strncmp(at, "/proc/", 6) != 0 && std::strncmp(at, "/run/", 5) != 0) {
    return otherwise;
  }
  char normal[kMostPath];
  if (!Normalise(at, normal)) return otherwise;
  const char* rest = nullptr;
  const int number = DescriptorNumber(normal, rest);
  if (number >= 0) {
    if (*rest == '\0' && !follow) return otherwise;
    char target[kMostPath];
    if (!PathOfDescriptor(number, target)) return otherwise;
    const size_t size = std::strlen(target), more = std::strlen(rest);
    if (size + more >= kMostPath) return otherwise;
    std::memcpy(out, target, size);
    std::memcpy(out + size, rest, more + 1);
    return Way::kAsk;
  }
  return IsServed(normal) ? Way::kAsk : otherwise;
}

}  // namespace

bool PathOfDescriptor(int fd, char (&out)[kMostPath]) {
  if (fd < 0) return false;
  if (DescriptorLink(fd, out) && TakePathOfMemfd(out)) return true;
  DeviceFile device;
  if (!FindDeviceFile(fd, device)) return false;
  char node[kMostNodePath];
  NodePath(device.minor, node);
  std::memcpy(out, node, std::strlen(node) + 1);
  return true;
}

int DescriptorOfPath(const char* path) {
  char normal[kMostPath];
  if (path == nullptr || path[0] != '/' || !Normalise(path, normal)) return -1;
  const char* rest = nullptr;
  const int number = DescriptorNumber(normal, rest);
  return number >= 0 && *rest == '\0' ? number : -1;
}

Way FindWay(int directory, const char* path, bool follow, char (&out)[kMostPath]) {
  if (path == nullptr || path[0] == '\0' || Token() == nullptr) return Way::kPass;
  const size_t size = std::strlen(path);
  if (size >= kMostPath) return Way::kPass;
  if (path[0] == '/') {
    std::memcpy(out, path, size + 1);
    return FindWayOfAbsolute(follow, out, Way::kPass);
  }
  Way otherwise = Way::kPass;
  if (directory == AT_FDCWD) {
    // With its terminator.
    const long length = Raw(SYS_getcwd, out, kMostPath);
    if (length <= 1 || out[0] != '/') return Way::kPass;
  } else {
    if (directory < 0 || !DescriptorLink(directory, out)) return Way::kPass;
    if (TakePathOfMemfd(out)) {
      otherwise = Way::kInstead;
    } else if (out[0] != '/') {
      return Way::kPass;
    }
  }
  const size_t base = std::strlen(out);
  if (base + 1 + size >= kMostPath) return Way::kPass;
  out[base] = '/';
  std::memcpy(out + base + 1, path, size + 1);
  return FindWayOfAbsolute(follow, out, otherwise);
}

bool Target::Ask(Op op, int flags, bool follow) {
  switch (FindWay(directory, path, follow, buffer_)) {
    case Way::kPass:
      return false;
    case Way::kInstead:
      break;
    case Way::kAsk: {
      Request request;
      request.op = op;
      request.flags = flags;
      request.follow = follow ? 1 : 0;
      const int result = Transact(request, buffer_, -1, answer);
      // Without a server the program goes on as if it had been started without one.
      if (result == -ENODEV) return false;
      if (result != kReal) return true;
      if (answer.path[0] != '\0') std::memcpy(buffer_, answer.path, std::strlen(answer.path) + 1);
      break;
    }
  }
  directory = AT_FDCWD;
  path = buffer_;
  return false;
}

void FillStat(const Facts& facts, struct stat& out) {
  std::memset(&out, 0, sizeof(out));
  // As devtmpfs and sysfs, which no disk is.
  out.st_dev = makedev(0, S_ISCHR(facts.mode) ? 5 : 22);
  out.st_ino = facts.inode;
  out.st_nlink = S_ISDIR(facts.mode) ? 2 : 1;
  out.st_mode = facts.mode;
  if (S_ISCHR(facts.mode)) out.st_rdev = makedev(facts.major, facts.minor);
  out.st_size = static_cast<off_t>(facts.size);
  out.st_blksize = 4096;
  out.st_atim.tv_sec = out.st_mtim.tv_sec = out.st_ctim.tv_sec = facts.time;
}

bool DescriptorFacts(int fd, Facts& out) {
  char path[kMostPath];
  if (!PathOfDescriptor(fd, path)) return false;
  Target target(AT_FDCWD, path);
  if (!target.Ask(Op::kStat, 0, /*follow=*/false)) {
    // A directory that exists in the real file system, too.
    struct stat real;
    if (Raw(SYS_newfstatat, AT_FDCWD, target.path, &real, 0) != 0) return false;
    out = {real.st_mode,       0, 0, 0, real.st_ino, static_cast<uint64_t>(real.st_size),
           real.st_mtim.tv_sec};
    return true;
  }
  if (target.answer.reply.result < 0) return false;
  out = target.answer.reply.facts;
  return true;
}

}  // namespace packsmith::mock::face
