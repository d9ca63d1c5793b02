// Fences: whether a piece of work is done.
#ifndef PACKSMITH_RUNTIME_CAPTURE_DRM_FENCE_H_
#define PACKSMITH_RUNTIME_CAPTURE_DRM_FENCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/capture/drm/caller.h"

namespace packsmith::capture {

// Guarded by the kernel's lock. A fence is signalled once and stays so.
class Fence : public std::enable_shared_from_this<Fence> {
 public:
  Fence() = default;
  ~Fence();
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  // One that is signalled from the beginning.
  static std::shared_ptr<Fence> Signalled();

  bool done() const { return done_; }
  // 0, or the negative errno with which the work ended: -EIO after a hang.
  Result error() const { return error_; }
  // CLOCK_MONOTONIC, in nanoseconds; 0 until it is signalled.
  int64_t time() const { return time_; }

  // Also calls what waits for it, once each.
  void Signal(Result error = 0);
  // At once if it is signalled already.
  void WhenDone(std::function<void()> call);

 private:
  bool done_ = false;
  Result error_ = 0;
  int64_t time_ = 0;
  std::vector<std::function<void()>> calls_;
};

// Whether all of them are signalled.
bool AllDone(const std::vector<std::shared_ptr<Fence>>& fences);

// CLOCK_MONOTONIC, in nanoseconds.
int64_t MonotonicNow();

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DRM_FENCE_H_
