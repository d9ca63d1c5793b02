// Descriptors that are not devices: dma-bufs, sync files, and synchronization objects on their way
// to another file.
#ifndef PACKSMITH_RUNTIME_CAPTURE_DRM_SHARED_FILES_H_
#define PACKSMITH_RUNTIME_CAPTURE_DRM_SHARED_FILES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "runtime/base/unique_fd.h"
#include "runtime/capture/drm/object.h"
#include "runtime/capture/drm/syncobj.h"

namespace packsmith::capture {

// Recognises what it handed out by its inode, whatever process brings it. Guarded by the kernel's
// lock.
class SharedFiles {
 public:
  // A descriptor for the object's memory: what mmap and lseek on it do is what they do on a
  // dma-buf. The object lives on until its last copy is closed. Empty, with errno set: none are
  // left.
  UniqueFd Export(const std::shared_ptr<Object>& object);
  // One that is readable once the fence is signalled.
  UniqueFd Export(const std::shared_ptr<Fence>& fence);
  UniqueFd Export(const std::shared_ptr<Syncobj>& syncobj);

  // Null: the descriptor is something else.
  std::shared_ptr<Object> FindObject(int fd) const;
  std::shared_ptr<Fence> FindFence(int fd) const;
  std::shared_ptr<Syncobj> FindSyncobj(int fd) const;

  // Lets go of objects whose descriptors are all closed.
  void DropClosedObjects();

 private:
  // What has a socket, whose end here tells when the last copy of it is closed.
  struct Socket {
    UniqueFd ours;
    std::shared_ptr<Fence> fence;
    std::shared_ptr<Syncobj> syncobj;
  };
  UniqueFd AddSocket(Socket socket);
  void DropClosed();

  // What fstat() says of a descriptor: the file system and the inode.
  using Identity = std::pair<uint64_t, uint64_t>;
  static Identity IdentityOf(int fd);

  std::map<Identity, std::shared_ptr<Object>> objects_;
  std::map<Identity, Socket> sockets_;
  size_t drop_at_ = 64;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DRM_SHARED_FILES_H_
