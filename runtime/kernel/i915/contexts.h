// The contexts and address spaces of an i915 device: numbers for its users, ids for the kernel.
#ifndef PACKSMITH_RUNTIME_KERNEL_I915_CONTEXTS_H_
#define PACKSMITH_RUNTIME_KERNEL_I915_CONTEXTS_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/kernel/drm/calls.h"
#include "runtime/kernel/i915/capabilities.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu::i915 {

// A space's page tables and its context 0 are made when they are first needed, and live as long as
// the file. Thread-safe.
class Contexts {
 public:
  Contexts(const Calls& calls, const Capabilities& capabilities)
      : calls_(calls), capabilities_(capabilities) {}

  // Where a job is submitted.
  struct Target {
    uint32_t id = 0;  // the kernel's
    bool recoverable = true;
  };
  // InvalidArgument if there is no such context, or if it is of another space.
  absl::StatusOr<Target> Find(uint32_t space, uint32_t context);

  // See Device.
  absl::StatusOr<uint32_t> Create(const ContextOptions& options);
  absl::Status Destroy(uint32_t context);
  absl::StatusOr<ContextState> StateOf(uint32_t space, uint32_t context);

  // The kernel has refused a job because the context was lost.
  void NoteLost(uint32_t space, uint32_t context);

 private:
  struct Context {
    uint32_t id = 0;
    uint32_t space = 0;
    bool recoverable = true;
    bool lost = false;
  };
  struct Space {
    bool has_tables = false;
    uint32_t tables = 0;  // the kernel's id (a "VM")
    bool has_context = false;
    Context context;  // context 0
  };

  absl::StatusOr<Context> Make(const ContextOptions& options) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Context*> FindLocked(uint32_t space, uint32_t context)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckSpace(uint32_t space) const;

  const Calls& calls_;
  const Capabilities& capabilities_;
  Mutex mutex_;
  absl::flat_hash_map<uint32_t, Space> spaces_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint32_t, Context> contexts_ ABSL_GUARDED_BY(mutex_);
  uint32_t next_ ABSL_GUARDED_BY(mutex_) = 1;  // numbers are not used again
};

}  // namespace packsmith::gpu::i915

#endif  // PACKSMITH_RUNTIME_KERNEL_I915_CONTEXTS_H_
