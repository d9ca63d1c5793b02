#include "tools/mock/server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/capture/drm/file.h"
#include "tools/mock/protocol.h"

namespace packsmith::mock {
namespace {

using capture::File;

absl::Status SystemError(absl::string_view what) {
  return absl::ErrnoToStatus(errno, absl::StrCat("the mock kernel's server: ", what));
}

std::string NodeName(uint32_t minor) {
  return minor >= 128 ? absl::StrCat("renderD", minor) : absl::StrCat("card", minor);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(capture::MockKernel& kernel,
                                                      capture::VirtualFiles& files, CallLog& log) {
  std::string bytes(kTokenSize / 2, '\0');
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return SystemError("getrandom");
  }
  const std::string token = absl::BytesToHexString(bytes);
  UniqueFd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  UniqueFd stop(eventfd(0, EFD_CLOEXEC));
  if (!listener || !stop) return SystemError("socket");
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string name = kNamePrefix + token;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address),
           static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) != 0 ||
      listen(listener.get(), SOMAXCONN) != 0) {
    return SystemError("listen");
  }
  std::unique_ptr<Server> server(
      new Server(kernel, files, log, token, std::move(listener), std::move(stop)));
  server->acceptor_ = std::thread([raw = server.get()] { raw->Accept(); });
  return server;
}

Server::Server(capture::MockKernel& kernel, capture::VirtualFiles& files, CallLog& log,
               std::string token, UniqueFd listener, UniqueFd stop)
    : kernel_(kernel),
      log_(log),
      token_(std::move(token)),
      listener_(std::move(listener)),
      stop_(std::move(stop)),
      devices_(kernel, token_),
      paths_(files, devices_) {}

Server::~Server() {
  const uint64_t one = 1;
  (void)!write(stop_.get(), &one, sizeof(one));
  if (acceptor_.joinable()) acceptor_.join();
  MutexLock lock(mutex_);
  ending_ = true;
  for (const int channel : channels_) shutdown(channel, SHUT_RDWR);
  while (serving_ > 0) changed_.wait(mutex_);
}

void Server::Accept() {
  while (true) {
    pollfd ready[] = {{stop_.get(), POLLIN, 0},
                      {listener_.get(), POLLIN, 0},
                      {devices_.descriptor(), POLLIN, 0},
                      {paths_.written().descriptor(), POLLIN, 0}};
    if (poll(ready, 4, -1) < 0 && errno != EINTR) return;
    if (ready[0].revents != 0) return;
    if (ready[2].revents != 0) devices_.DropClosed();
    if (ready[3].revents != 0) paths_.written().Drain();
    if (ready[1].revents == 0) continue;
    UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) {
      // No descriptors are left: clients wait until others have closed theirs.
      if (errno == EMFILE || errno == ENFILE) usleep(10'000);
      continue;
    }
    {
      MutexLock lock(mutex_);
      ++serving_;
    }
    std::thread([this, moved = std::move(socket)]() mutable {
      ServeChannel(std::move(moved));
      MutexLock lock(mutex_);
      --serving_;
      changed_.notify_all();
    }).detach();
  }
}

void Server::ServeChannel(UniqueFd socket) {
  const int number = socket.get();
  Channel channel(std::move(socket));
  if (channel.user() != getuid() && getuid() != 0) return;
  {
    MutexLock lock(mutex_);
    if (ending_) return;
    channels_.insert(number);
  }
  {
    ChannelCaller caller(channel);
    Request request;
    std::string path;
    UniqueFd fd;
    while (channel.Receive(request, path, fd)) {
      if (!ServeRequest(channel, caller, request, path, std::move(fd))) break;
    }
  }
  MutexLock lock(mutex_);
  channels_.erase(number);
}

bool Server::ServeRequest(Channel& channel, ChannelCaller& caller, const Request& request,
                          const std::string& path, UniqueFd fd) {
  calls_.fetch_add(1, std::memory_order_relaxed);
  switch (request.op) {
    case Op::kIoctl:
    case Op::kMmap:
      return ServeFile(channel, caller, request);
    case Op::kFdIoctl: {
      paths_.written().Drain();
      Reply reply;
      reply.result =
          fd ? kernel_.FdIoctl(caller, std::move(fd), request.request, request.argument) : -EBADF;
      if (log_.shows_calls() && reply.result != -ENOTTY) {
        log_.OnCall(caller.pid(), caller.name(), absl::StrFormat("ioctl 0x%08x", request.request),
                    reply.result);
      }
      return channel.SendDone(reply, "", -1);
    }
    case Op::kOpen:
    case Op::kStat:
    case Op::kReadLink: {
      const PathAnswer answer = paths_.Serve(request, path);
      if (log_.shows_calls() && request.op == Op::kOpen && answer.reply.result != kReal) {
        log_.OnCall(caller.pid(), caller.name(), absl::StrCat("open ", path), answer.reply.result);
      }
      return channel.SendDone(answer.reply, answer.path, answer.fd.get());
    }
    case Op::kCancel:
    case Op::kAnswer:
      break;
  }
  return false;
}

bool Server::ServeFile(Channel& channel, ChannelCaller& caller, const Request& request) {
  paths_.written().Drain();
  Reply reply;
  File::Mapped mapped;
  std::shared_ptr<File> file = devices_.Find(request.file);
  std::string name;
  if (file == nullptr) {
    reply.result = -ENODEV;
  } else if (request.op == Op::kIoctl) {
    reply.result = file->Ioctl(caller, request.request, request.argument);
    if (log_.shows_calls()) {
      name = std::string(file->CallName(request.request));
      if (name.empty()) name = absl::StrFormat("ioctl 0x%08x", request.request);
    }
  } else {
    reply.result = file->Mmap(caller, request.argument, request.size, mapped);
    reply.argument = mapped.offset;
    if (log_.shows_calls()) {
      name = absl::StrFormat("mmap %d bytes at 0x%x", request.size, request.argument);
    }
  }
  if (log_.shows_calls() && file != nullptr) {
    const uint32_t minor = static_cast<uint32_t>(file->render() ? file->device().render_minor()
                                                                : file->device().card_minor());
    log_.OnCall(caller.pid(), caller.name(),
                absl::StrCat(NodeName(minor), "#", file->number(), " ", name), reply.result);
  }
  // A client that has the answer may close the file, and count on it that it is closed.
  file.reset();
  const bool gives = reply.result >= 0 && mapped.memory != nullptr;
  return channel.SendDone(reply, "", gives ? mapped.memory->fd() : -1);
}

}  // namespace packsmith::mock
