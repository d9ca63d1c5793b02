// The contexts of a device of Linux's asahi driver, and their queues.
#ifndef PACKSMITH_RUNTIME_KERNEL_ASAHI_CONTEXTS_H_
#define PACKSMITH_RUNTIME_KERNEL_ASAHI_CONTEXTS_H_

#include <cstdint>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/kernel/asahi/spaces.h"
#include "runtime/kernel/drm/calls.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

// Thread-safe.
class AsahiContexts {
 public:
  using Key = std::pair<uint32_t, uint32_t>;  // the space and the number

  // Both outlive it.
  AsahiContexts(const Calls& calls, AsahiSpaces& spaces) : calls_(calls), spaces_(spaces) {}

  // As AsahiDevice's.
  absl::StatusOr<uint32_t> Create(const ContextOptions& options);
  absl::Status Destroy(uint32_t context);

  // InvalidArgument if there is no such context, here and below.
  absl::StatusOr<bool> IsRecoverable(const Key& key);
  // The kernel's queue, which is made with this base of programs. InvalidArgument if it was made
  // with another one.
  absl::StatusOr<uint32_t> Queue(const Key& key, uint64_t programs);

 private:
  struct Context {
    Priority priority = Priority::kNormal;
    bool recoverable = true;
    uint32_t queue = 0;     // 0: not yet made
    uint64_t programs = 0;  // of the queue
  };

  absl::StatusOr<Context*> Find(const Key& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<uint32_t> CreateQueue(uint32_t space, Priority priority, uint64_t programs) const;
  absl::Status DestroyQueue(uint32_t queue) const;

  const Calls& calls_;
  AsahiSpaces& spaces_;
  Mutex mutex_;
  absl::flat_hash_map<Key, Context> contexts_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint32_t, uint32_t> space_of_ ABSL_GUARDED_BY(mutex_);  // by context
  uint32_t last_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_ASAHI_CONTEXTS_H_
