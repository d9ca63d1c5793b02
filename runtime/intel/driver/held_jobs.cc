#include "runtime/intel/driver/held_jobs.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace packsmith::intel {

class HeldJobs::Job {
 public:
  Job(HeldJobs& jobs, std::vector<std::shared_ptr<Recording>> recordings,
      std::vector<gpu::BufferAccess> uses)
      : jobs_(jobs), recordings_(std::move(recordings)), uses_(std::move(uses)) {
    jobs_.Begin(uses_);
    for (const auto& recording : recordings_) recording->BeginHold();
  }
  ~Job() {
    for (const auto& recording : recordings_) recording->EndHold();
    jobs_.End(uses_);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  void NoteFence(gpu::Fence fence) const {
    for (const auto& recording : recordings_) recording->NoteJob(fence);
    // All of them are buffers: none was released meanwhile.
    (void)jobs_.buffers_.Use(uses_, fence);
  }

 private:
  HeldJobs& jobs_;
  const std::vector<std::shared_ptr<Recording>> recordings_;
  const std::vector<gpu::BufferAccess> uses_;
};

std::function<void(gpu::Fence)> HeldJobs::Hold(std::vector<std::shared_ptr<Recording>> recordings,
                                               std::vector<gpu::BufferAccess> uses) {
  const auto job = std::make_shared<const Job>(*this, std::move(recordings), std::move(uses));
  return [job](gpu::Fence fence) { job->NoteFence(fence); };
}

absl::Status HeldJobs::Release(gpu::BufferHandle buffer) {
  {
    MutexLock lock(mutex_);
    const auto held = buffers_held_.find(buffer);
    if (held != buffers_held_.end()) {
      if (held->second.released) {
        return absl::NotFoundError(absl::StrCat("buffer ", buffer, " has been released"));
      }
      held->second.released = true;
      return absl::OkStatus();
    }
  }
  return buffers_.Release(buffer);
}

void HeldJobs::Begin(absl::Span<const gpu::BufferAccess> uses) {
  MutexLock lock(mutex_);
  for (const gpu::BufferAccess& use : uses) ++buffers_held_[use.handle].jobs;
}

void HeldJobs::End(absl::Span<const gpu::BufferAccess> uses) {
  std::vector<gpu::BufferHandle> released;
  {
    MutexLock lock(mutex_);
    for (const gpu::BufferAccess& use : uses) {
      const auto held = buffers_held_.find(use.handle);
      if (--held->second.jobs != 0) continue;
      if (held->second.released) released.push_back(use.handle);
      buffers_held_.erase(held);
    }
  }
  for (const gpu::BufferHandle buffer : released) (void)buffers_.Release(buffer);
}

}  // namespace packsmith::intel
