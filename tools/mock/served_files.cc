#include "tools/mock/served_files.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "tools/mock/protocol.h"

namespace packsmith::mock {
namespace {

// The largest text that is written to a file at once.
constexpr size_t kMostWritten = size_t{64} << 10;

// Both ends are closed on exec.
bool MakePair(UniqueFd& ours, UniqueFd& theirs) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  ours.Reset(ends[0]);
  theirs.Reset(ends[1]);
  return true;
}

bool NameSocket(int socket, const std::string& name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const size_t size = offsetof(sockaddr_un, sun_path) + 1 + name.size();
  return bind(socket, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(size)) ==
         0;
}

bool Watch(int watcher, int fd, uint32_t events, uint64_t number) {
  epoll_event event = {};
  event.events = events;
  event.data.u64 = number;
  return epoll_ctl(watcher, EPOLL_CTL_ADD, fd, &event) == 0;
}

// The numbers of what is ready.
std::vector<uint64_t> Ready(int watcher) {
  std::vector<uint64_t> numbers;
  epoll_event events[64];
  const int count = epoll_wait(watcher, events, 64, 0);
  // The structure is packed.
  for (int i = 0; i < count; ++i) numbers.push_back(uint64_t{events[i].data.u64});
  return numbers;
}

}  // namespace

ServedFiles::ServedFiles(capture::MockKernel& kernel, std::string token)
    : kernel_(kernel), token_(std::move(token)), closed_(epoll_create1(EPOLL_CLOEXEC)) {}

Opened ServedFiles::Open(uint32_t minor) {
  // A client that has closed a file and opens one again finds the first one gone.
  while (DropClosed()) {
  }
  std::shared_ptr<capture::File> file = kernel_.Open(static_cast<int>(minor));
  if (file == nullptr) return {-ENXIO, UniqueFd()};
  const uint64_t number = file->number();
  Opened opened;
  UniqueFd ours;
  if (!MakePair(ours, opened.fd) ||
      !NameSocket(ours.get(), kNamePrefix + token_ + "/" + std::to_string(minor) + "/" +
                                  std::to_string(number))) {
    return {-ENFILE, UniqueFd()};
  }
  MutexLock lock(mutex_);
  // Nobody reads what is written to a device file. The end of a socket is always reported.
  if (!Watch(closed_.get(), ours.get(), 0, number)) return {-ENFILE, UniqueFd()};
  files_[number] = {std::move(file), std::move(ours)};
  ++opened_;
  return opened;
}

std::shared_ptr<capture::File> ServedFiles::Find(uint64_t number) {
  MutexLock lock(mutex_);
  const auto it = files_.find(number);
  return it == files_.end() ? nullptr : it->second.file;
}

bool ServedFiles::DropClosed() {
  // Who finds nothing to drop must not be ahead of who is at it.
  MutexLock dropping(dropping_);
  std::vector<Served> dropped;  // without the other lock: the kernel has its own
  {
    MutexLock lock(mutex_);
    for (const uint64_t number : Ready(closed_.get())) {
      const auto it = files_.find(number);
      if (it == files_.end()) continue;
      dropped.push_back(std::move(it->second));
      files_.erase(it);
    }
  }
  return !dropped.empty();
}

size_t ServedFiles::open() const {
  MutexLock lock(mutex_);
  return files_.size();
}

uint64_t ServedFiles::opened() const {
  MutexLock lock(mutex_);
  return opened_;
}

WrittenFiles::WrittenFiles(capture::VirtualFiles& files)
    : files_(files), written_(epoll_create1(EPOLL_CLOEXEC)) {}

Opened WrittenFiles::Open(const std::string& path) {
  Opened opened;
  UniqueFd ours;
  if (!MakePair(ours, opened.fd)) return {-ENFILE, UniqueFd()};
  MutexLock lock(mutex_);
  const uint64_t number = ++opened_;
  if (!Watch(written_.get(), ours.get(), EPOLLIN, number)) return {-ENFILE, UniqueFd()};
  open_[number] = {path, std::move(ours)};
  open_count_.store(open_.size(), std::memory_order_release);
  return opened;
}

void WrittenFiles::Drain() {
  if (open_count_.load(std::memory_order_acquire) == 0) return;
  MutexLock lock(mutex_);
  std::vector<char> text;
  for (const uint64_t number : Ready(written_.get())) {
    const auto it = open_.find(number);
    if (it == open_.end()) continue;
    text.resize(kMostWritten);
    while (true) {
      const ssize_t size =
          recv(it->second.ours.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_TRUNC);
      if (size > 0) {
        int error = 0;
        if (static_cast<size_t>(size) <= text.size()) {
          files_.Write(it->second.path, {text.data(), static_cast<size_t>(size)}, &error);
        }
        continue;
      }
      if (size < 0 && errno == EINTR) continue;
      if (size == 0 || errno != EAGAIN) open_.erase(it);
      break;
    }
  }
  open_count_.store(open_.size(), std::memory_order_release);
}

}  // namespace packsmith::mock
