// The fences of a device's jobs: numbers for its users, syncobjs for the kernel.
#ifndef PACKSMITH_RUNTIME_KERNEL_DRM_FENCES_H_
#define PACKSMITH_RUNTIME_KERNEL_DRM_FENCES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/kernel/drm/calls.h"
#include "runtime/kernel/drm/ring.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

// Each job that may still run has a syncobj, which is used again afterwards. Thread-safe.
class Fences {
 public:
  // `dump`: where the kernel reports hangs, for messages; may be empty.
  Fences(const Calls& calls, std::string dump) : calls_(calls), dump_(std::move(dump)) {}
  ~Fences();

  // A syncobj for a job that will be submitted; then either Begin() or Return() takes it.
  absl::StatusOr<uint32_t> Take();
  void Return(uint32_t syncobj);
  // Whose job it is: a space and a context.
  using Owner = std::pair<uint32_t, uint32_t>;
  // The job was submitted, or the fence imported: its number. `what`: for messages, "render".
  Fence Begin(uint32_t syncobj, absl::string_view what, std::optional<Owner> owner);

  // See Device::Wait().
  absl::StatusOr<bool> Wait(Fence fence, absl::Duration timeout);
  // The syncobjs of those that may still run, for the kernel to wait for. InvalidArgument for
  // fences that do not exist. They stay valid until Release() of the same list.
  absl::Status Hold(absl::Span<const Fence> fences, std::vector<uint32_t>& syncobjs);
  void Release(absl::Span<const Fence> fences);
  // A sync file; of a job that is done, one that is signalled.
  absl::StatusOr<UniqueFd> Export(Fence fence);

  // See DrmDeviceBase::HasFailed().
  bool HasFailed(const Owner& owner);

 private:
  struct Entry {
    uint32_t syncobj = 0;
    uint32_t held = 0;  // by calls that wait, and by submissions
    bool done = false;
    std::string what;  // short: not allocated
    std::optional<Owner> owner;
  };

  Entry* Find(Fence fence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckExists(Fence fence) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Drop(Fence fence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Failure(Fence fence) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(Fence fence, const absl::Status& outcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Collect() ABSL_LOCKS_EXCLUDED(mutex_);

  const Calls& calls_;
  const std::string dump_;
  mutable Mutex mutex_;
  Ring<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // fences from first_ on
  Fence first_ ABSL_GUARDED_BY(mutex_) = 1;
  std::vector<uint32_t> unused_ ABSL_GUARDED_BY(mutex_);
  std::map<Fence, std::string> failed_ ABSL_GUARDED_BY(mutex_);
  std::set<Owner> failed_owners_ ABSL_GUARDED_BY(mutex_);
  unsigned since_collected_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_DRM_FENCES_H_
