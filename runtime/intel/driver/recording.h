// The memory of one recording of a command buffer, until the GPU is done with it: states, buffers
// that were given to it, border colours.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_RECORDING_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_RECORDING_H_

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/device.h"
#include "runtime/memory/state_pool.h"
#include "runtime/memory/state_stream.h"

namespace packsmith::intel {

class BorderColors;

class Recording {
 public:
  Recording(gpu::Buffers& buffers, BorderColors& colors, gpu::StatePool& surfaces,
            gpu::StatePool& dynamic);
  // Releases everything. The GPU must be done with it.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // States of this recording alone.
  gpu::StateStream& surfaces() { return surfaces_; }
  gpu::StateStream& dynamic() { return dynamic_; }
  // The buffer is released, and the colour, with everything else.
  void Keep(gpu::BufferHandle buffer) { buffers_kept_.push_back(buffer); }
  void KeepColor(uint32_t offset) { colors_kept_.push_back(offset); }

  // What was written becomes visible to jobs that are submitted afterwards, where the GPU does not
  // see the CPU's caches.
  absl::Status Flush();
  // A job that uses it. Thread-safe: several primary command buffers may run one secondary.
  void NoteJob(gpu::Fence fence);
  // Whether all jobs are done before the timeout; zero polls. A job that failed is done.
  bool IsDone(gpu::Device& device, absl::Duration timeout);
  // For a new recording; all jobs must be done.
  absl::Status Rewind();

 private:
  void ReleaseKept();

  gpu::Buffers& buffers_;
  BorderColors& colors_;
  gpu::StateStream surfaces_, dynamic_;
  std::vector<gpu::BufferHandle> buffers_kept_;
  std::vector<uint32_t> colors_kept_;
  Mutex mutex_;
  std::vector<gpu::Fence> jobs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_RECORDING_H_
