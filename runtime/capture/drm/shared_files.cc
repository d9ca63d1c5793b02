#include "runtime/capture/drm/shared_files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <utility>

namespace packsmith::capture {

SharedFiles::Identity SharedFiles::IdentityOf(int fd) {
  struct stat facts = {};
  return fstat(fd, &facts) == 0 ? Identity(facts.st_dev, facts.st_ino) : Identity();
}

UniqueFd SharedFiles::Export(const std::shared_ptr<Object>& object) {
  DropClosedObjects();
  // Opened anew: a lock belongs to what was opened, and lasts until all copies of the descriptor
  // and all mappings that were made with it are gone.
  const std::string path = "/proc/self/fd/" + std::to_string(object->memory()->fd());
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd || flock(fd.get(), LOCK_SH | LOCK_NB) != 0) return UniqueFd();
  // Memory that came from another device is still the object of that device.
  objects_.try_emplace(IdentityOf(fd.get()), object);
  return fd;
}

void SharedFiles::DropClosedObjects() {
  for (auto it = objects_.begin(); it != objects_.end();) {
    const int fd = it->second->memory()->fd();
    const bool closed = it->second.use_count() == 1 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (closed) flock(fd, LOCK_UN);
    it = closed ? objects_.erase(it) : std::next(it);
  }
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
  return it == objects_.end() ? nullptr : it->second;
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
