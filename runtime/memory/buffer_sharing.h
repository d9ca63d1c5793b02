// Buffers for other processes and devices, and their memory as buffers.
//
//   const UniqueFd file = *BufferSharing(buffers).Export(image.handle);  // for the other process
//   const Buffer window = *BufferSharing(buffers).Import(theirs, {.zone = other});
#ifndef PACKSMITH_RUNTIME_MEMORY_BUFFER_SHARING_H_
#define PACKSMITH_RUNTIME_MEMORY_BUFFER_SHARING_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/lifetime.h"
#include "runtime/base/unique_fd.h"
#include "runtime/memory/buffers.h"

namespace packsmith::gpu {

// Another's memory, to become a buffer.
struct BufferImport {
  int dma_buf = -1;
  BufferOptions options = {};
};

// Thread-safe, as Buffers. NotFound for handles that are not a buffer's.
class BufferSharing {
 public:
  // `buffers` must outlive this.
  explicit BufferSharing(Buffers& buffers) : buffers_(buffers, lifetime_) {}

  // A buffer for other processes and devices, as a dma-buf: one with MemoryUse kShared, else
  // FailedPrecondition. Such memory is never kept for reuse: what the others do with it after the
  // buffer was released harms nobody. Errors of Device::Export().
  absl::StatusOr<UniqueFd> Export(BufferHandle handle);
  // Another's memory as a buffer; the caller keeps the descriptor. In the options, a size of 0 is
  // all of it, as is any other size: InvalidArgument if it has fewer bytes. The heap must be the
  // default; kShared is added to the uses. Otherwise as Buffers::Adopt(). If this device has the
  // memory already, a job must not list both buffers: kernels refuse one memory at two places.
  absl::StatusOr<Buffer> Import(int dma_buf, const BufferOptions& options);
  // Several or none, as Buffers::CreateAll(): the planes of an image, for example.
  absl::StatusOr<std::vector<Buffer>> ImportAll(absl::Span<const BufferImport> imports);
  // See Device::ImportUses(), ExportUse(): what others do with the buffer becomes a job that uses
  // it, for Buffers::JobsBefore() and Wait(); and others wait for this job's use. Errors as
  // Export()'s.
  absl::Status ImportUses(BufferHandle handle, bool to_write);
  absl::Status ExportUse(BufferHandle handle, Fence fence, bool written);

 private:
  Lifetime lifetime_{"buffer sharing"};
  const Reference<Buffers> buffers_;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_BUFFER_SHARING_H_
