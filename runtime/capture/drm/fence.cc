#include "runtime/capture/drm/fence.h"

#include <algorithm>
#include <ctime>
#include <deque>

namespace packsmith::capture {

namespace {

using Calls = std::deque<std::function<void()>>;

// A call that must be made, and the fence that it asks for its error: it must live until then.
struct Due {
  std::shared_ptr<Fence> of;
  std::function<void()> call;
};

// A call may signal a fence that others wait for, and so on: chains of any length, since each point
// of a timeline waits for the one before. The outermost signal makes the calls of all, and the
// outermost destructor lets go of all, so that neither needs a deep stack.
thread_local std::deque<Due>* due = nullptr;
thread_local Calls* dropped = nullptr;

}  // namespace

Fence::~Fence() {
  Calls own;
  Calls& calls = dropped == nullptr ? own : *dropped;
  for (auto& call : calls_) calls.push_back(std::move(call));
  if (dropped != nullptr) return;
  dropped = &own;
  while (!own.empty()) {
    const auto last = std::move(own.front());
    own.pop_front();
  }
  dropped = nullptr;
}

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
  std::deque<Due> own;
  std::deque<Due>& calls = due == nullptr ? own : *due;
  // A call may add others, to fences that follow this one.
  for (auto& call : std::exchange(calls_, {})) {
    calls.push_back({weak_from_this().lock(), std::move(call)});
  }
  if (due != nullptr) return;
  due = &own;
  while (!own.empty()) {
    const Due next = std::move(own.front());
    own.pop_front();
    next.call();
  }
  due = nullptr;
}

void Fence::WhenDone(std::function<void()> call) {
  if (done_) {
    call();
  } else {
    calls_.push_back(std::move(call));
  }
}

bool AllDone(const std::vector<std::shared_ptr<Fence>>& fences) {
  return std::all_of(fences.begin(), fences.end(), [](const auto& fence) { return fence->done(); });
}

}  // namespace packsmith::capture
