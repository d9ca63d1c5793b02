// Memory that this process and its clients map: the pages of a buffer.
#ifndef PACKSMITH_RUNTIME_CAPTURE_DRM_SHARED_MEMORY_H_
#define PACKSMITH_RUNTIME_CAPTURE_DRM_SHARED_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/base/unique_fd.h"
#include "runtime/capture/drm/caller.h"

namespace packsmith::capture {

// Pages of zeros that exist once they are written, in a memfd whose size cannot be changed.
class SharedMemory {
 public:
  // Null with errno set if the system has no memory, address space or descriptors left. `size` is
  // rounded up to whole pages.
  static std::shared_ptr<SharedMemory> Create(uint64_t size, const std::string& name);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // All of it. Clients change it at any time.
  absl::Span<uint8_t> bytes() const { return bytes_; }
  int fd() const { return fd_.get(); }

  // Parts that may hold something other than zeros, in order; both are multiples of 4096.
  struct Extent {
    uint64_t offset = 0;
    uint64_t size = 0;
  };
  std::vector<Extent> Extents() const;

 private:
  SharedMemory(UniqueFd fd, absl::Span<uint8_t> bytes) : fd_(std::move(fd)), bytes_(bytes) {}

  const UniqueFd fd_;
  const absl::Span<uint8_t> bytes_;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DRM_SHARED_MEMORY_H_
