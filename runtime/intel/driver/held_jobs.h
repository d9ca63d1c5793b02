// Jobs of command buffers that a gpu::Submitter may hold: until the kernel has them, no fence says
// how long their memory is needed.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_HELD_JOBS_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_HELD_JOBS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/intel/driver/recording.h"
#include "runtime/memory/buffers.h"

namespace packsmith::intel {

// Thread-safe. Must outlive what Hold() returns.
class HeldJobs {
 public:
  explicit HeldJobs(gpu::Buffers& buffers) : buffers_(buffers) {}
  HeldJobs(const HeldJobs&) = delete;
  HeldJobs& operator=(const HeldJobs&) = delete;

  // Keeps a job's memory as long as the result, or a copy of it, lives. Called with the job's fence
  // (QueueJob::taken), it notes what the job uses; afterwards that keeps the memory.
  std::function<void(gpu::Fence)> Hold(std::vector<std::shared_ptr<Recording>> recordings,
                                       std::vector<gpu::BufferAccess> uses);
  // Buffers::Release(): later, if a job that is held uses the buffer.
  absl::Status Release(gpu::BufferHandle buffer);

 private:
  class Job;
  struct Held {
    uint32_t jobs = 0;
    bool released = false;
  };

  void Begin(absl::Span<const gpu::BufferAccess> uses);
  void End(absl::Span<const gpu::BufferAccess> uses);

  gpu::Buffers& buffers_;
  Mutex mutex_;
  absl::flat_hash_map<gpu::BufferHandle, Held> buffers_held_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_HELD_JOBS_H_
