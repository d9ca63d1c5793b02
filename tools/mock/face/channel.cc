#include "tools/mock/face/channel.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/mock/face/raw.h"

namespace packsmith::mock::face {
namespace {

// A thread takes a connection for the time of one request. A program may close any descriptor, and
// then open another one of the same number: the socket's inode tells whether it is still ours.
struct Connection {
  std::atomic<bool> taken = false;
  int fd = -1;
  uint64_t inode = 0;
};

constexpr int kMostConnections = 64;
Connection connections[kMostConnections];
// The process that the connections belong to. A child that shares its parent's memory (vfork) has
// another id.
std::atomic<int> owner = 0;

// The inode if it is a socket, else 0.
uint64_t SocketInode(int fd) {
  struct stat facts;
  if (Raw(SYS_fstat, fd, &facts) != 0 || !S_ISSOCK(facts.st_mode)) return 0;
  return facts.st_ino;
}

void Close(int fd) { Raw(SYS_close, fd); }

// Where programs do not expect to find descriptors, and do not lose those that they count on.
int MoveUp(int fd) {
  rlimit limit = {};
  constexpr uint64_t kHigh = 4096, kRoom = 2 * kMostConnections;
  uint64_t most = kHigh;
  if (Raw(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &limit) == 0 && limit.rlim_cur < most) {
    most = limit.rlim_cur;
  }
  if (most < 2 * kRoom) return fd;
  const long moved = Raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC, most - kRoom);
  if (moved < 0) return fd;
  Close(fd);
  return static_cast<int>(moved);
}

// A descriptor, or a negative errno.
int Connect() {
  const char* const token = Token();
  if (token == nullptr) return -ENODEV;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  constexpr size_t kPrefix = sizeof(kNamePrefix) - 1;
  std::memcpy(address.sun_path + 1, kNamePrefix, kPrefix);
  std::memcpy(address.sun_path + 1 + kPrefix, token, kTokenSize);
  const size_t size = offsetof(sockaddr_un, sun_path) + 1 + kPrefix + kTokenSize;
  const int fd = static_cast<int>(Raw(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (fd < 0) return fd;
  long result;
  do {
    result = Raw(SYS_connect, fd, &address, size);
  } while (result == -EINTR);
  if (result != 0) {
    Close(fd);
    return -ENODEV;
  }
  return MoveUp(fd);
}

// The child's copies would keep the server from seeing the end of its parent.
void AfterForkInChild() {
  for (Connection& connection : connections) {
    if (connection.fd >= 0 && SocketInode(connection.fd) == connection.inode) Close(connection.fd);
    connection.fd = -1;
    connection.taken.store(false, std::memory_order_relaxed);
  }
  owner.store(static_cast<int>(Raw(SYS_getpid)), std::memory_order_relaxed);
}

// A connection for one request.
class Taken {
 public:
  Taken() {
    const int process = static_cast<int>(Raw(SYS_getpid));
    int known = owner.load(std::memory_order_relaxed);
    if (known == 0 && owner.compare_exchange_strong(known, process)) {
      pthread_atfork(nullptr, nullptr, AfterForkInChild);
      known = process;
    }
    for (int i = 0; known == process && i < kMostConnections; ++i) {
      bool taken = false;
      if (!connections[i].taken.compare_exchange_strong(taken, true)) continue;
      connection_ = &connections[i];
      if (connection_->fd < 0 || SocketInode(connection_->fd) != connection_->inode) {
        connection_->fd = Connect();
        connection_->inode = connection_->fd < 0 ? 0 : SocketInode(connection_->fd);
      }
      fd_ = connection_->fd;
      return;
    }
    fd_ = Connect();
  }
  ~Taken() {
    if (connection_ == nullptr) {
      if (fd_ >= 0) Close(fd_);
    } else {
      connection_->taken.store(false, std::memory_order_release);
    }
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

  int fd() const { return fd_; }
  // Nothing sensible comes out of it any more.
  void Drop() {
    if (fd_ >= 0) Close(fd_);
    fd_ = -1;
    if (connection_ != nullptr) connection_->fd = -1;
  }

 private:
  Connection* connection_ = nullptr;
  int fd_ = -1;
};

union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

// Bytes sent, or a negative errno.
long Send(int channel, const Request& request, const void* more, size_t more_size, int fd) {
  iovec parts[2] = {{const_cast<Request*>(&request), sizeof(request)},
                    {const_cast<void*>(more), more_size}};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = more_size > 0 ? 2 : 1;
  Control control = {};
  if (fd >= 0) {
    message.msg_control = &control;
    message.msg_controllen = sizeof(control.bytes);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
  }
  long result;
  do {
    result = Raw(SYS_sendmsg, channel, &message, MSG_NOSIGNAL);
  } while (result == -EINTR);
  return result;
}

long SendAnswer(int channel, int result, int fd = -1, uint64_t argument = 0) {
  Request answer;
  answer.argument = argument;
  answer.op = Op::kAnswer;
  answer.result = result;
  return Send(channel, answer, nullptr, 0, fd);
}

// Receives a reply, what follows it, and a descriptor. Bytes, or a negative errno. A signal whose
// handler does not restart system calls is passed on once.
long Receive(int channel, Answer& answer, bool& lost_descriptor, bool& cancelled) {
  iovec parts[2] = {{&answer.reply, sizeof(answer.reply)}, {answer.path, sizeof(answer.path) - 1}};
  Control control;
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  long result;
  while (true) {
    message.msg_control = &control;
    message.msg_controllen = sizeof(control.bytes);
    result = Raw(SYS_recvmsg, channel, &message, MSG_CMSG_CLOEXEC);
    if (result != -EINTR) break;
    if (cancelled) continue;
    cancelled = true;
    Request cancel;
    cancel.op = Op::kCancel;
    Send(channel, cancel, nullptr, 0, -1);
  }
  answer.fd = -1;
  lost_descriptor = result >= 0 && (message.msg_flags & MSG_CTRUNC) != 0;
  if (result < static_cast<long>(sizeof(Reply))) return result < 0 ? result : -EPIPE;
  answer.path[static_cast<size_t>(result) - sizeof(Reply)] = '\0';
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&answer.fd, CMSG_DATA(header), sizeof(int));
  }
  return result;
}

// Does what the server asks for. A negative errno if the channel is of no use any more.
long Serve(int channel, Answer& answer, bool lost_descriptor) {
  const Reply& reply = answer.reply;
  switch (reply.kind) {
    case ReplyKind::kInstall: {
      if (answer.fd < 0) return SendAnswer(channel, lost_descriptor ? -EMFILE : -EBADF);
      const int fd = answer.fd;
      answer.fd = -1;
      if (reply.argument == 0) Raw(SYS_fcntl, fd, F_SETFD, 0);
      return SendAnswer(channel, fd);
    }
    case ReplyKind::kTake: {
      const long result = SendAnswer(channel, 0, static_cast<int>(reply.argument));
      return result == -EBADF ? SendAnswer(channel, -EBADF) : result;
    }
    case ReplyKind::kMap: {
      if (answer.fd < 0) return SendAnswer(channel, lost_descriptor ? -EMFILE : -EBADF);
      const long address = Raw(SYS_mmap, nullptr, reply.size, PROT_READ | PROT_WRITE, MAP_SHARED,
                               answer.fd, reply.argument);
      Close(answer.fd);
      answer.fd = -1;
      const bool failed = address < 0 && address >= -4095;
      return SendAnswer(channel, failed ? static_cast<int>(address) : 0, -1,
                        static_cast<uint64_t>(address));
    }
    case ReplyKind::kRead: {
      Request request;
      request.op = Op::kAnswer;
      const long result =
          Send(channel, request, reinterpret_cast<const void*>(reply.argument), reply.size, -1);
      return result == -EFAULT ? SendAnswer(channel, -EFAULT) : result;
    }
    case ReplyKind::kWrite: {
      long result;
      do {
        result = Raw(SYS_recvfrom, channel, reply.argument, reply.size, 0, nullptr, nullptr);
      } while (result == -EINTR);
      if (result == 0) return -EPIPE;
      return SendAnswer(channel, result < 0 ? static_cast<int>(result) : 0);
    }
    case ReplyKind::kDone:
      break;
  }
  return -EPROTO;
}

}  // namespace

const char* Token() {
  // Programs may clear their environment.
  static std::atomic<const char*> found = nullptr;
  static char token[kTokenSize + 1];
  static std::atomic<bool> searched = false;
  if (searched.load(std::memory_order_acquire)) return found.load(std::memory_order_relaxed);
  const char* const value = std::getenv(kTokenVariable);
  if (value != nullptr && std::strlen(value) == kTokenSize) {
    std::memcpy(token, value, kTokenSize);
    found.store(token, std::memory_order_relaxed);
  }
  searched.store(true, std::memory_order_release);
  return found.load(std::memory_order_relaxed);
}

int Transact(Request request, const char* path, int fd, Answer& answer) {
  const int error = errno;
  Taken taken;
  request.thread = static_cast<int32_t>(Raw(SYS_gettid));
  answer.reply = Reply{};
  answer.fd = -1;
  answer.path[0] = '\0';
  long state = taken.fd();
  if (state >= 0) {
    state = Send(taken.fd(), request, path, path == nullptr ? 0 : std::strlen(path), fd);
    // Not a channel's fault: there is no such descriptor.
    const bool bad_descriptor = state == -EBADF && fd >= 0;
    bool cancelled = false, lost_descriptor = false;
    while (state >= 0) {
      state = Receive(taken.fd(), answer, lost_descriptor, cancelled);
      if (state < 0 || answer.reply.kind == ReplyKind::kDone) break;
      state = Serve(taken.fd(), answer, lost_descriptor);
    }
    if (bad_descriptor) {
      answer.reply.result = -EBADF;
    } else if (state < 0) {
      taken.Drop();
    } else if (lost_descriptor && answer.fd < 0) {
      answer.reply.result = -EMFILE;
    }
    if (bad_descriptor) state = 0;
  }
  if (state < 0) answer.reply.result = -ENODEV;
  errno = error;
  return answer.reply.result;
}

namespace {

// Before main() can change the environment.
__attribute__((constructor)) void ReadToken() { Token(); }

}  // namespace

}  // namespace packsmith::mock::face
