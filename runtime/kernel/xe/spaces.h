// The VMs of a device of Linux's xe driver: what is bound in each space, and what jobs wait for.
#ifndef PACKSMITH_RUNTIME_KERNEL_XE_SPACES_H_
#define PACKSMITH_RUNTIME_KERNEL_XE_SPACES_H_

#include <cstdint>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/kernel/drm/calls.h"
#include "runtime/kernel/uapi/xe.h"

namespace packsmith::gpu {

// A VM is made when its space is first needed. Thread-safe.
class XeSpaces {
 public:
  struct Options {
    bool scratch_page = false, page_faults = false;  // see XeDevice::Options
  };
  // `calls` outlives it.
  XeSpaces(const Calls& calls, const Options& options) : calls_(calls), options_(options) {}

  // Unimplemented if the kernel makes no VMs with these options.
  absl::Status CheckOptions() const;

  absl::StatusOr<uint32_t> Vm(uint32_t space);
  // Makes all of the operations or none. They take effect asynchronously, in the order of calls.
  // `binds`: jobs that are submitted afterwards wait for them.
  absl::Status Change(uint32_t space, absl::Span<const uapi::xe::vm_bind_op> ops, bool binds);
  // What a job in the space waits for; nullopt: nothing.
  std::optional<uapi::xe::sync> Bound(uint32_t space);

 private:
  struct Space {
    uint32_t vm = 0;  // 0: not yet made
    // Calls reach its points, one after the other.
    std::optional<Syncobj> timeline;
    uint64_t points = 0;  // the last one
    uint64_t bound = 0;   // the last one of a call that bound something
  };

  uint32_t vm_flags() const;
  absl::StatusOr<Space*> Find(uint32_t space) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Calls& calls_;
  const Options options_;
  Mutex mutex_;
  absl::flat_hash_map<uint32_t, Space> spaces_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_XE_SPACES_H_
