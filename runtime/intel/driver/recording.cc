#include "runtime/intel/driver/recording.h"

#include <algorithm>
#include <cstddef>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/intel/memory/border_colors.h"

namespace packsmith::intel {
namespace {

constexpr uint64_t kStreamBlock = uint64_t{16} << 10;

}  // namespace

Recording::Recording(gpu::Buffers& buffers, BorderColors& colors, gpu::StatePool& surfaces,
                     gpu::StatePool& dynamic)
    : buffers_(buffers),
      colors_(colors),
      surfaces_(surfaces, kStreamBlock),
      dynamic_(dynamic, kStreamBlock) {}

Recording::~Recording() { ReleaseKept(); }

void Recording::ReleaseKept() {
  (void)buffers_.ReleaseAll(buffers_kept_);
  for (const uint32_t offset : colors_kept_) (void)colors_.Release(offset);
  buffers_kept_.clear();
  colors_kept_.clear();
}

absl::Status Recording::Flush() {
  if (absl::Status status = surfaces_.Flush(); !status.ok()) return status;
  return dynamic_.Flush();
}

void Recording::NoteJob(gpu::Fence fence) {
  MutexLock lock(mutex_);
  if (jobs_.empty() || jobs_.back() != fence) jobs_.push_back(fence);
}

bool Recording::IsDone(gpu::Device& device, absl::Duration timeout) {
  std::vector<gpu::Fence> jobs;
  {
    MutexLock lock(mutex_);
    jobs = jobs_;
  }
  const absl::Time end = absl::Now() + timeout;
  size_t done = 0;
  for (; done < jobs.size(); ++done) {
    const absl::StatusOr<bool> reached =
        device.Wait(jobs[done], timeout == absl::ZeroDuration() ? timeout : end - absl::Now());
    // A job that failed uses nothing any more; submitting and waiting report its error.
    if (reached.ok() && !*reached) break;
  }
  MutexLock lock(mutex_);
  // Others may have changed the list meanwhile.
  for (size_t i = 0; i < done; ++i) {
    const auto at = std::find(jobs_.begin(), jobs_.end(), jobs[i]);
    if (at != jobs_.end()) jobs_.erase(at);
  }
  return jobs_.empty();
}

absl::Status Recording::Rewind() {
  ReleaseKept();
  if (absl::Status status = surfaces_.Rewind(); !status.ok()) return status;
  return dynamic_.Rewind();
}

}  // namespace packsmith::intel
