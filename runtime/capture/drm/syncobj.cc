#include "runtime/capture/drm/syncobj.h"

#include <algorithm>
#include <utility>

namespace packsmith::capture {

std::shared_ptr<Fence> WhenAll(const std::vector<std::shared_ptr<Fence>>& fences) {
  struct State {
    size_t left;
    Result error = 0;
    std::shared_ptr<Fence> all = std::make_shared<Fence>();
  };
  auto state = std::make_shared<State>();
  state->left = fences.size() + 1;
  const auto one = [state](Result error) {
    if (state->error == 0) state->error = error;
    if (--state->left == 0) state->all->Signal(state->error);
  };
  for (const auto& fence : fences) {
    fence->WhenDone([one, raw = fence.get()] { one(raw->error()); });
  }
  one(0);
  return state->all;
}

void Syncobj::Replace(std::shared_ptr<Fence> fence) {
  fence_ = std::move(fence);
  points_.clear();
  reached_ = added_ = 0;
  CallWaits();
}

void Syncobj::AddPoint(uint64_t point, const std::shared_ptr<Fence>& fence) {
  DropReached();
  // A point below the last one is accepted, and is in effect as late as that.
  added_ = std::max(added_, point);
  fence_ = fence_ ? WhenAll({fence_, fence}) : fence;
  points_.push_back({added_, fence_});
  CallWaits();
}

void Syncobj::WhenPoint(uint64_t point, std::function<void(const std::shared_ptr<Fence>&)> call) {
  waits_.push_back({point, std::move(call)});
  CallWaits();
}

void Syncobj::CallWaits() {
  for (Wait& wait : std::exchange(waits_, {})) {
    if (const std::shared_ptr<Fence> fence = PointFence(wait.point)) {
      wait.call(fence);
    } else {
      waits_.push_back(std::move(wait));
    }
  }
}

std::shared_ptr<Fence> Syncobj::PointFence(uint64_t point) const {
  if (point == 0) return fence_;
  if (point > added_) return nullptr;
  if (point <= reached_) return Fence::Signalled();
  const auto it = std::find_if(points_.begin(), points_.end(),
                               [point](const Point& p) { return p.value >= point; });
  return it == points_.end() ? fence_ : it->fence;
}

uint64_t Syncobj::reached() const {
  uint64_t reached = reached_;
  for (const Point& point : points_) {
    if (!point.fence->done()) break;
    reached = point.value;
  }
  return reached;
}

void Syncobj::DropReached() {
  while (!points_.empty() && points_.front().fence->done()) {
    reached_ = points_.front().value;
    points_.pop_front();
  }
}

}  // namespace packsmith::capture
