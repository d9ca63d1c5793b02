// What a device shares with other processes and devices: memory, fences and timelines.
#ifndef PACKSMITH_RUNTIME_MEMORY_DEVICE_SHARING_H_
#define PACKSMITH_RUNTIME_MEMORY_DEVICE_SHARING_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/unique_fd.h"
#include "runtime/memory/device_jobs.h"
#include "runtime/memory/device_memory.h"
#include "runtime/memory/kernel_timelines.h"

namespace packsmith::gpu {

// What every Device has; Unimplemented, all of it, unless the device has a kernel.
class DeviceSharing {
 public:
  // Memory for other processes and devices, as a dma-buf. FailedPrecondition unless it was created
  // with MemoryUse kShared.
  virtual absl::StatusOr<UniqueFd> Export(MemoryId memory);
  // Another's memory, all of it; the caller keeps the descriptor. Importing it again returns
  // another MemoryId. Its heap is Heap::kSystem, its use kShared.
  struct Imported {
    MemoryId memory = {};
    uint64_t size = 0;  // bytes
  };
  virtual absl::StatusOr<Imported> Import(int dma_buf);
  // A job's fence for other processes and devices, as a sync file, and another's fence for
  // Job::after; the caller keeps the descriptor.
  virtual absl::StatusOr<UniqueFd> ExportFence(Fence fence);
  virtual absl::StatusOr<Fence> ImportFence(int sync_file);

  // Timelines that are shared with other processes and devices, as long as this device lives.
  // Unimplemented before Linux 5.8.
  virtual absl::StatusOr<KernelTimelines*> timelines();

  // For memory with MemoryUse kShared and programs that exchange no fences, such as displays. A
  // fence of what others do with the memory: write to it, and with `to_write` also read it; and a
  // job's fence for others. Kernels that order jobs by the shared memory that they list (i915) need
  // neither. Unimplemented before Linux 6.0.
  virtual absl::StatusOr<Fence> ImportUses(MemoryId memory, bool to_write);
  virtual absl::Status ExportUse(MemoryId memory, Fence fence, bool written);

 protected:
  ~DeviceSharing() = default;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_DEVICE_SHARING_H_
