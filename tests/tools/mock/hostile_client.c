// Talks to the server without the library, and not as the library does: `hostile_client SEED`. The
// server must go on serving others, and hold nothing of this program when it ends.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/tools/mock/check.h"
#include "tests/tools/mock/drm_calls.h"
#include "tests/tools/mock/test_device.h"

// See tools/mock/protocol.h.
struct request {
  uint32_t op, request;
  uint64_t file, argument, size;
  int32_t flags, follow, result, thread;
};
enum { kOps = 8, kIoctl = 0, kOpen = 3, kCancel = 6, kAnswer = 7 };

static uint64_t state;
static uint64_t Random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static int Connect(void) {
  struct sockaddr_un address;
  memset(&address, 0, sizeof(address));
  address.sun_family = AF_UNIX;
  const int size = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "packsmith-mock/%s",
                            getenv("PACKSMITH_MOCK"));
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  CHECK(fd >= 0);
  CHECK(connect(fd, (struct sockaddr*)&address,
                (socklen_t)(sizeof(sa_family_t) + 1 + (size_t)size)) == 0);
  return fd;
}

// A message of `size` bytes, with descriptors.
static int Send(int channel, const void* bytes, size_t size, int descriptors) {
  struct iovec part = {(void*)bytes, size};
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(3 * sizeof(int))];
  } control;
  memset(&control, 0, sizeof(control));
  struct msghdr message;
  memset(&message, 0, sizeof(message));
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptors > 0) {
    const int numbers[3] = {0, 1, 2};
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE((size_t)descriptors * sizeof(int));
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN((size_t)descriptors * sizeof(int));
    memcpy(CMSG_DATA(&control.header), numbers, (size_t)descriptors * sizeof(int));
  }
  return sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

static const char* const kPaths[] = {"/dev/dri/renderD128",
                                     "/sys/class/drm",
                                     "/dev/dri/card0",
                                     "",
                                     "relative",
                                     "/sys/../../..",
                                     "/dev",
                                     "/"};

static void Talk(void) {
  const int channel = Connect();
  const int messages = (int)(Random() % 20) + 1;
  for (int i = 0; i < messages; ++i) {
    char bytes[5000];
    for (size_t at = 0; at < sizeof(bytes); ++at) bytes[at] = (char)Random();
    struct request request;
    memset(&request, 0, sizeof(request));
    request.op = (uint32_t)(Random() % (kOps + 1));
    static const uint32_t kRequests[] = {TEST_DOUBLE, TEST_CREATE,        TEST_SUM,
                                         TEST_STATE,  PRIME_HANDLE_TO_FD, PRIME_FD_TO_HANDLE,
                                         VERSION,     SYNC_FILE_INFO};
    request.request = Random() % 4 == 0 ? (uint32_t)Random() : kRequests[Random() % 8];
    request.file = Random() % 4;
    request.argument = Random() % 2 == 0 ? (uint64_t)(uintptr_t)bytes : Random();
    request.size = Random() % 3 == 0 ? Random() : Random() % 10000;
    request.flags = (int32_t)Random();
    request.follow = (int32_t)(Random() % 2);
    request.result = (int32_t)(Random() % 20) - 10;
    size_t size = sizeof(request);
    memcpy(bytes, &request, sizeof(request));
    if (request.op >= kOpen && Random() % 8 != 0) {
      const char* const path = kPaths[Random() % (sizeof(kPaths) / sizeof(*kPaths))];
      memcpy(bytes + size, path, strlen(path));
      size += strlen(path);
    } else if (Random() % 4 == 0) {
      size = Random() % sizeof(bytes);
    }
    if (!Send(channel, bytes, size, Random() % 3 == 0 ? (int)(Random() % 4) : 0)) break;
    // Now and then what the server asks is read, with any answer.
    if (Random() % 2 == 0) {
      struct pollfd ready = {channel, POLLIN, 0};
      if (poll(&ready, 1, 20) == 1) {
        char reply[8192];
        if (recv(channel, reply, sizeof(reply), MSG_DONTWAIT) <= 0) break;
      }
    }
  }
  close(channel);
}

// Of the server, which is the parent.
static int ServersDescriptors(void) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%d/fd", (int)getppid());
  DIR* const directory = opendir(path);
  CHECK(directory != NULL);
  int count = 0;
  while (readdir(directory) != NULL) ++count;
  closedir(directory);
  return count;
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  const int begin = ServersDescriptors();
  state = strtoull(argv[1], NULL, 10) * 0x9e3779b97f4a7c15u + 1;
  for (int i = 0; i < 200; ++i) Talk();
  const int fd = open("/dev/dri/renderD128", O_RDWR);
  CHECK(fd >= 0);
  struct test_double twice = {21, 0};
  CHECK(ioctl(fd, TEST_DOUBLE, &twice) == 0 && twice.out == 42);
  struct test_state before = {0, 0};
  for (int i = 0; i < 500 && before.files != 1; ++i) {
    CHECK(ioctl(fd, TEST_STATE, &before) == 0);
    usleep(10000);
  }
  CHECK(before.files == 1 && before.objects == 0);
  // A channel and a file may be open, and a few others on their way out.
  CHECK(ServersDescriptors() < begin + 16);
  printf("good\n");
  return 0;
}
