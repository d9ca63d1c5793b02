// The contexts of a device of Linux's xe driver, and their exec queues.
#ifndef PACKSMITH_RUNTIME_KERNEL_XE_CONTEXTS_H_
#define PACKSMITH_RUNTIME_KERNEL_XE_CONTEXTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/kernel/drm/calls.h"
#include "runtime/kernel/xe/spaces.h"
#include "runtime/kernel/xe/xe_info.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

// An exec queue, which ends with its last user.
class XeQueue {
 public:
  XeQueue(const Calls& calls, uint32_t id) : calls_(calls), id_(id) {}
  // What the kernel says to it changes nothing: the file's end destroys it, too.
  ~XeQueue() {
    if (id_ != 0) Destroy().IgnoreError();
  }
  XeQueue(const XeQueue&) = delete;
  XeQueue& operator=(const XeQueue&) = delete;

  uint32_t id() const { return id_; }
  // For the only user.
  absl::Status Destroy();

 private:
  const Calls& calls_;
  uint32_t id_;
};

// Thread-safe.
class XeContexts {
 public:
  using Key = std::pair<uint32_t, uint32_t>;  // the space and the number

  // All outlive it. `dump`: where the kernel reports hangs, for messages.
  XeContexts(const Calls& calls, const XeInfo& info, XeSpaces& spaces, const std::string& dump)
      : calls_(calls), info_(info), spaces_(spaces), dump_(dump) {}

  // As XeDevice's.
  absl::StatusOr<uint32_t> Create(const ContextOptions& options);
  absl::Status Destroy(uint32_t context);
  absl::StatusOr<ContextState> StateOf(const Key& key);

  // `engine`: an index in XeInfo::engines. InvalidArgument if there is no such context, Aborted if
  // it is lost.
  absl::StatusOr<std::shared_ptr<XeQueue>> Queue(const Key& key, size_t engine);
  // The kernel has banned the queue: the context goes on with another one, or is lost.
  absl::Status NoteBan(const Key& key, size_t engine, const XeQueue& queue);

 private:
  struct Context {
    Priority priority = Priority::kNormal;
    bool recoverable = true;
    bool hung = false, lost = false;
    std::vector<std::shared_ptr<XeQueue>> queues;  // by the index of the engine; null: not yet made
  };

  absl::StatusOr<Context*> Find(const Key& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteBanLocked(Context& context, size_t engine, const XeQueue& queue)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Calls& calls_;
  const XeInfo& info_;
  XeSpaces& spaces_;
  const std::string& dump_;
  Mutex mutex_;
  absl::flat_hash_map<Key, Context> contexts_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint32_t, uint32_t> space_of_ ABSL_GUARDED_BY(mutex_);  // by context
  uint32_t last_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_XE_CONTEXTS_H_
