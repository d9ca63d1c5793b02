// Synchronization objects: a fence that can be replaced, or a timeline of points.
#ifndef PACKSMITH_RUNTIME_CAPTURE_DRM_SYNCOBJ_H_
#define PACKSMITH_RUNTIME_CAPTURE_DRM_SYNCOBJ_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/capture/drm/fence.h"

namespace packsmith::capture {

// One that is signalled when all of `fences` are; its error is the first one found.
std::shared_ptr<Fence> WhenAll(const std::vector<std::shared_ptr<Fence>>& fences);

// Shared by all handles and descriptors that name it. Guarded by the kernel's lock.
class Syncobj {
 public:
  // Null: it has none.
  const std::shared_ptr<Fence>& fence() const { return fence_; }
  // Null removes the fence, and with it all points.
  void Replace(std::shared_ptr<Fence> fence);

  // A point of a timeline, which is signalled when `fence` and all points before it are.
  void AddPoint(uint64_t point, const std::shared_ptr<Fence>& fence);
  // The fence that is signalled when the timeline has reached the point; of point 0 fence(). Null:
  // neither that point nor a later one has been added.
  std::shared_ptr<Fence> PointFence(uint64_t point) const;
  // Calls once with PointFence(point), as soon as there is one.
  void WhenPoint(uint64_t point, std::function<void(const std::shared_ptr<Fence>&)> call);
  // The last point that the timeline has reached, and the last that was added; 0 if it has no
  // points.
  uint64_t reached() const;
  uint64_t added() const { return added_; }

 private:
  struct Point {
    uint64_t value;
    std::shared_ptr<Fence> fence;  // of it and all before
  };
  struct Wait {
    uint64_t point;
    std::function<void(const std::shared_ptr<Fence>&)> call;
  };
  void DropReached();
  void CallWaits();

  std::shared_ptr<Fence> fence_;
  std::deque<Point> points_;
  std::vector<Wait> waits_;
  uint64_t reached_ = 0, added_ = 0;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DRM_SYNCOBJ_H_
