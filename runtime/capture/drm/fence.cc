#include "runtime/capture/drm/fence.h"

#include <ctime>

namespace packsmith::capture {

int64_t MonotonicNow() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::shared_ptr<Fence> Fence::Signalled() {
  auto fence = std::make_shared<Fence>();
  fence->Signal();
  return fence;
}

void Fence::Signal(Result error) {
  if (done_) return;
  done_ = true;
  error_ = error;
  time_ = MonotonicNow();
  // A call may add others, to fences that follow this one.
  for (const auto& call : std::exchange(calls_, {})) call();
}

void Fence::WhenDone(std::function<void()> call) {
  if (done_) {
    call();
  } else {
    calls_.push_back(std::move(call));
  }
}

}  // namespace packsmith::capture
