#include "tools/trace/server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
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
#include "tools/trace/protocol.h"

namespace packsmith::trace {
namespace {

absl::Status SystemError(absl::string_view what) {
  return absl::ErrnoToStatus(errno, absl::StrCat("the tracer's server: ", what));
}

// The file of a call: a duplicate of the program's descriptor, which is taken if it is needed and
// given back after the call. While it is kept, the file stays open.
class DescriptorAccess : public capture::TraceAccess {
 public:
  DescriptorAccess(capture::Caller& caller, int number) : caller_(caller), number_(number) {}

  capture::Result Ioctl(uint32_t request, void* argument) override {
    if (!Take()) return -EBADF;
    const int result = ioctl(fd_.get(), request, argument);
    return result < 0 ? -errno : result;
  }
  void* Map(uint64_t offset, uint64_t size) override {
    if (!Take()) return nullptr;
    void* const at =
        mmap(nullptr, size, PROT_READ, MAP_SHARED, fd_.get(), static_cast<off_t>(offset));
    return at == MAP_FAILED ? nullptr : at;
  }

 private:
  bool Take() {
    if (!taken_) fd_ = caller_.Take(number_);
    taken_ = true;
    return static_cast<bool>(fd_);
  }

  capture::Caller& caller_;
  const int number_;
  UniqueFd fd_;
  bool taken_ = false;
};

}  // namespace

struct Server::Served {
  explicit Served(UniqueFd socket) : channel(std::move(socket)), caller(channel) {}

  mock::Channel channel;
  mock::ChannelCaller caller;
  uint64_t ticket = 0;       // of the call that is being made
  std::set<uint64_t> files;  // that calls came from
};

absl::StatusOr<std::unique_ptr<Server>> Server::Start(capture::Tracer& tracer) {
  std::string bytes(mock::kTokenSize / 2, '\0');
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
  std::unique_ptr<Server> server(new Server(tracer, token, std::move(listener), std::move(stop)));
  server->acceptor_ = std::thread([raw = server.get()] { raw->Accept(); });
  return server;
}

Server::Server(capture::Tracer& tracer, std::string token, UniqueFd listener, UniqueFd stop)
    : tracer_(tracer),
      token_(std::move(token)),
      listener_(std::move(listener)),
      stop_(std::move(stop)) {}

Server::~Server() {
  const uint64_t one = 1;
  (void)!write(stop_.get(), &one, sizeof(one));
  if (acceptor_.joinable()) acceptor_.join();
  MutexLock lock(mutex_);
  ending_ = true;
  for (const int channel : channels_) shutdown(channel, SHUT_RDWR);
  while (serving_ > 0) changed_.wait(mutex_);
}

bool Server::idle() const {
  MutexLock lock(mutex_);
  return serving_ == 0;
}

void Server::Accept() {
  while (true) {
    pollfd ready[] = {{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    if (poll(ready, 2, -1) < 0 && errno != EINTR) return;
    if (ready[0].revents != 0) return;
    if (ready[1].revents == 0) continue;
    UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) {
      // No descriptors are left: programs wait until others have ended.
      if (errno == EMFILE || errno == ENFILE) usleep(10'000);
      continue;
    }
    {
      MutexLock lock(mutex_);
      ++serving_;
    }
    std::thread([this, moved = std::move(socket)]() mutable {
      Serve(std::move(moved));
      MutexLock lock(mutex_);
      --serving_;
      changed_.notify_all();
    }).detach();
  }
}

void Server::Serve(UniqueFd socket) {
  const int number = socket.get();
  Served served(std::move(socket));
  if (served.channel.user() != getuid() && getuid() != 0) return;
  {
    MutexLock lock(mutex_);
    if (ending_) return;
    channels_.insert(number);
  }
  mock::Request request;
  std::string bytes;
  UniqueFd fd;
  while (served.channel.Receive(request, bytes, fd)) {
    if (!Answer(served, request, bytes)) break;
  }
  if (served.ticket != 0) tracer_.Forget(served.ticket);
  // The process may have ended, and its files with it.
  for (const uint64_t file : served.files) tracer_.Close(file);
  MutexLock lock(mutex_);
  channels_.erase(number);
}

bool Server::Answer(Served& served, const mock::Request& request, const std::string& bytes) {
  DescriptorAccess access(served.caller, request.flags);
  const capture::TracedCall call = {
      .request = request.request,
      .bytes = {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
      .result = request.result,
      .caller = served.caller,
      .access = access};
  mock::Reply reply;
  std::string more;
  served.files.insert(request.file);
  if (request.op == kOpen) {
    const auto interests = tracer_.Open(request.file, static_cast<int>(request.request), access);
    more.resize(kInterestBytes);
    for (size_t i = 0; i < interests.size(); ++i) {
      more[i / 4] = static_cast<char>(more[i / 4] | static_cast<int>(interests[i]) << i % 4 * 2);
    }
  } else if (request.op == kBefore) {
    reply.argument = served.ticket = tracer_.Before(request.file, call);
  } else if (request.op == kAfter) {
    tracer_.After(request.file, request.size, call);
    served.ticket = 0;
  } else if (request.op == kClose) {
    tracer_.Close(request.file);
  } else {
    return false;
  }
  return served.channel.SendDone(reply, more, -1);
}

}  // namespace packsmith::trace
