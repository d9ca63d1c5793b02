#include "tools/mock/face/devices.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "tools/mock/face/channel.h"
#include "tools/mock/face/raw.h"

namespace packsmith::mock::face {

const ServerNames kServer = {kTokenVariable, kNamePrefix};

namespace {

// A decimal number; false if there is none. `at` is moved to what follows.
bool ReadNumber(const char*& at, const char* end, uint64_t& out) {
  const char* const begin = at;
  out = 0;
  while (at < end && *at >= '0' && *at <= '9' && at - begin < 18) {
    out = out * 10 + static_cast<uint64_t>(*at++ - '0');
  }
  return at > begin;
}

}  // namespace

bool FindDeviceFile(int fd, DeviceFile& out) {
  const char* const token = Token();
  if (token == nullptr || fd < 0) return false;
  sockaddr_un name;
  socklen_t size = sizeof(name);
  if (Raw(SYS_getpeername, fd, &name, &size) != 0) return false;
  constexpr size_t kPrefix = sizeof(kNamePrefix) - 1;
  constexpr size_t kBegin = offsetof(sockaddr_un, sun_path) + 1;
  if (name.sun_family != AF_UNIX || size > sizeof(name) ||
      size < kBegin + kPrefix + kTokenSize + 4 || name.sun_path[0] != '\0' ||
      std::memcmp(name.sun_path + 1, kNamePrefix, kPrefix) != 0 ||
      std::memcmp(name.sun_path + 1 + kPrefix, token, kTokenSize) != 0) {
    return false;
  }
  const char* const end = reinterpret_cast<const char*>(&name) + size;
  const char* at = name.sun_path + 1 + kPrefix + kTokenSize;
  uint64_t minor = 0;
  if (*at++ != '/' || !ReadNumber(at, end, minor) || at == end || *at++ != '/' ||
      !ReadNumber(at, end, out.file)) {
    return false;
  }
  out.minor = static_cast<uint32_t>(minor);
  return true;
}

void NodePath(uint32_t minor, char (&out)[kMostNodePath]) {
  const char* const text = minor >= 128 ? "/dev/dri/renderD" : "/dev/dri/card";
  size_t at = std::strlen(text);
  std::memcpy(out, text, at);
  char digits[10];
  size_t count = 0;
  do {
    digits[count++] = static_cast<char>('0' + minor % 10);
    minor /= 10;
  } while (minor > 0);
  while (count > 0) out[at++] = digits[--count];
  out[at] = '\0';
}

bool DeviceIoctl(int fd, unsigned long request, void* argument, long& result) {
  const unsigned type = (request >> 8) & 0xff;
  Request message;
  message.request = static_cast<uint32_t>(request);
  message.argument = reinterpret_cast<uint64_t>(argument);
  Answer answer;
  if (type == 'd') {
    DeviceFile device;
    if (!FindDeviceFile(fd, device)) return false;
    message.op = Op::kIoctl;
    message.file = device.file;
    result = Transact(message, nullptr, -1, answer);
    return true;
  }
  // Of sync files and dma-bufs. Others have calls of these types, too.
  if ((type != '>' && type != 'b') || Token() == nullptr) return false;
  message.op = Op::kFdIoctl;
  result = Transact(message, nullptr, fd, answer);
  return result != -ENOTTY && result != -ENODEV;
}

bool DeviceMmap(void* address, size_t size, int protection, int flags, int fd, off_t offset,
                long& result) {
  DeviceFile device;
  if ((flags & MAP_ANONYMOUS) != 0 || !FindDeviceFile(fd, device)) return false;
  Request message;
  message.op = Op::kMmap;
  message.file = device.file;
  message.argument = static_cast<uint64_t>(offset);
  message.size = size;
  Answer answer;
  result = Transact(message, nullptr, -1, answer);
  if (result >= 0 && answer.fd < 0) result = -ENODEV;
  if (result >= 0) {
    result = Raw(SYS_mmap, address, size, protection, flags, answer.fd, answer.reply.argument);
  }
  if (answer.fd >= 0) Raw(SYS_close, answer.fd);
  return true;
}

}  // namespace packsmith::mock::face
