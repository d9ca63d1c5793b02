// An open file of a GPU's kernel driver, as system calls see it. Tests have others than the
// system's.
#ifndef PACKSMITH_RUNTIME_KERNEL_DRM_CONNECTION_H_
#define PACKSMITH_RUNTIME_KERNEL_DRM_CONNECTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/unique_fd.h"

namespace packsmith::gpu {

// Thread-safe.
class Connection {
 public:
  virtual ~Connection() = default;

  // ioctl(): 0 or more, or the negative of an errno. Called once: what was interrupted is not
  // repeated here.
  virtual int Ioctl(uint32_t request, void* argument) = 0;
  // ioctl() on another descriptor that came from the driver: a sync file or a dma-buf.
  virtual int IoctlOn(int fd, uint32_t request, void* argument) = 0;
  // Maps `size` bytes, to be read and written, from an offset that the driver gave. 0 or a negative
  // errno.
  virtual int Map(uint64_t offset, uint64_t size, uint8_t*& bytes) = 0;
  virtual void Unmap(uint8_t* bytes, uint64_t size) = 0;

  // The node, for messages: "/dev/dri/renderD128".
  const std::string& path() const { return path_; }
  // The directory of the node's device in sysfs; empty: not known.
  virtual std::string sysfs() const { return {}; }

 protected:
  explicit Connection(std::string path) : path_(std::move(path)) {}

 private:
  const std::string path_;
};

// Opens a node of /dev/dri. NotFound, PermissionDenied (with the remedy), or another error of
// open().
absl::StatusOr<std::unique_ptr<Connection>> OpenNode(const std::string& path);

// The render nodes of /dev/dri, by number: those that were found, if the folder cannot be read
// whole.
std::vector<std::string> RenderNodes();

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_DRM_CONNECTION_H_
