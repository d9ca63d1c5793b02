// The kernel's timelines as DRM drivers have them: synchronization objects with points.
#ifndef PACKSMITH_RUNTIME_KERNEL_DRM_TIMELINES_H_
#define PACKSMITH_RUNTIME_KERNEL_DRM_TIMELINES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/base/unique_fd.h"
#include "runtime/kernel/drm/calls.h"
#include "runtime/memory/kernel_timelines.h"

namespace packsmith::gpu {

// A point as submissions name it.
struct SyncobjPoint {
  uint32_t syncobj = 0;
  uint64_t value = 0;
};

class SyncobjTimelines : public KernelTimelines {
 public:
  explicit SyncobjTimelines(const Calls& calls) : calls_(calls) {}

  absl::StatusOr<KernelTimeline> Create() override;
  absl::Status Destroy(KernelTimeline timeline) override;
  absl::StatusOr<UniqueFd> Export(KernelTimeline timeline) override;
  absl::StatusOr<KernelTimeline> Import(int fd) override;
  absl::StatusOr<uint64_t> Value(KernelTimeline timeline) override;
  absl::Status Signal(KernelPoint point) override;
  absl::StatusOr<bool> Wait(KernelPoint point, Until until, absl::Duration timeout) override;

  // Points of a job, whose syncobjs live at least as long as this.
  struct Held {
    std::vector<std::shared_ptr<const Syncobj>> syncobjs;
    std::vector<SyncobjPoint> waits, signals;
    void Clear() {
      syncobjs.clear();
      waits.clear();
      signals.clear();
    }
  };
  // FailedPrecondition if a value to wait for has not been promised; InvalidArgument if one to
  // signal is not above all that were.
  absl::Status Hold(absl::Span<const KernelPoint> waits, absl::Span<const KernelPoint> signals,
                    Held& out);

 private:
  KernelTimeline Add(Syncobj syncobj);
  absl::StatusOr<std::shared_ptr<const Syncobj>> Find(KernelTimeline timeline) const;
  absl::Status CheckSignal(const Syncobj& syncobj, KernelPoint point) const;

  const Calls& calls_;
  mutable Mutex mutex_;
  absl::flat_hash_map<KernelTimeline, std::shared_ptr<const Syncobj>> all_ ABSL_GUARDED_BY(mutex_);
  uint32_t last_ ABSL_GUARDED_BY(mutex_) = 0;  // of the names, which are not used again
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_DRM_TIMELINES_H_
