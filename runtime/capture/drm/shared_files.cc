#include "runtime/capture/drm/shared_files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace packsmith::capture {
SharedFiles::Identity SharedFiles::IdentityOf(int fd) {
  struct stat facts = {};
  return fstat(fd, &facts) == 0 ? Identity(facts.st_dev, facts.st_ino) : Identity();
}

UniqueFd SharedFiles::Export(const std::shared_ptr<Object>& object) {
  UniqueFd fd(fcntl(object->memory()->fd(), F_DUPFD_CLOEXEC, 0));
  if (fd) {
    for (auto it = objects_.begin(); it != objects_.end();) {
      it = it->second.expired() ? objects_.erase(it) : std::next(it);
    }
    objects_[IdentityOf(fd.get())] = object;
  }
  return fd;
}

UniqueFd SharedFiles::AddSocket(Socket socket) {
  DropClosed();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return UniqueFd();
  UniqueFd theirs(ends[1]);
  socket.ours.Reset(ends[0]);
  sockets_[IdentityOf(theirs.get())] = std::move(socket);
  return theirs;
}

UniqueFd SharedFiles::Export(const std::shared_ptr<Fence>& fence) {
  UniqueFd fd = AddSocket({.ours = {}, .fence = fence, .syncobj = nullptr});
  if (!fd) return fd;
  fence->WhenDone([this, identity = IdentityOf(fd.get()), raw = fence.get()] {
    // The socket may be gone, and another one have taken its place.
    const auto it = sockets_.find(identity);
    if (it == sockets_.end() || it->second.fence.get() != raw) return;
    const char byte = 0;
    (void)!send(it->second.ours.get(), &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  });
  return fd;
}

UniqueFd SharedFiles::Export(const std::shared_ptr<Syncobj>& syncobj) {
  return AddSocket({.ours = {}, .fence = nullptr, .syncobj = syncobj});
}

std::shared_ptr<Object> SharedFiles::FindObject(int fd) const {
  const auto it = objects_.find(IdentityOf(fd));
  return it == objects_.end() ? nullptr : it->second.lock();
}

std::shared_ptr<Fence> SharedFiles::FindFence(int fd) const {
  const auto it = sockets_.find(IdentityOf(fd));
  return it == sockets_.end() ? nullptr : it->second.fence;
}

std::shared_ptr<Syncobj> SharedFiles::FindSyncobj(int fd) const {
  const auto it = sockets_.find(IdentityOf(fd));
  return it == sockets_.end() ? nullptr : it->second.syncobj;
}

void SharedFiles::DropClosed() {
  if (sockets_.size() < drop_at_) return;
  for (auto it = sockets_.begin(); it != sockets_.end();) {
    pollfd waiting = {it->second.ours.get(), 0, 0};
    const bool closed = poll(&waiting, 1, 0) > 0 && (waiting.revents & POLLHUP) != 0;
    it = closed ? sockets_.erase(it) : std::next(it);
  }
  drop_at_ = std::max<size_t>(64, 2 * sockets_.size());
}

}  // namespace packsmith::capture
