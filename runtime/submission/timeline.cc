#include "runtime/submission/timeline.h"

#include <algorithm>
#include <iterator>

namespace packsmith::gpu {

bool Timeline::IsBelow(const Promised& one, uint64_t value) { return one.value < value; }

std::deque<Timeline::Promised>::iterator Timeline::At(uint64_t value) {
  return std::lower_bound(pending_.begin(), pending_.end(), value, IsBelow);
}

bool Timeline::MayPromise(uint64_t value) const {
  if (value <= reached_ || failed_.contains(value)) return false;
  const auto at = std::lower_bound(pending_.begin(), pending_.end(), value, IsBelow);
  return at == pending_.end() || at->value != value;
}

bool Timeline::MayReach(uint64_t value) const {
  return value > reached_ && (pending_.empty() || value < pending_.front().value);
}

void Timeline::Promise(uint64_t value) { pending_.insert(At(value), {.value = value, .fence = 0}); }

void Timeline::SetFence(uint64_t value, Fence fence) {
  const auto at = At(value);
  if (at != pending_.end() && at->value == value) at->fence = fence;
}

void Timeline::Withdraw(uint64_t value) {
  const auto at = At(value);
  if (at != pending_.end() && at->value == value) pending_.erase(at);
}

void Timeline::DropReached() {
  while (!pending_.empty() && pending_.front().value <= reached_) pending_.pop_front();
}

// The value covers those above the one before it.
void Timeline::NoteFailure(uint64_t value, const absl::Status& status, bool refused) {
  const auto at = At(value);
  const uint64_t before = at == pending_.begin() ? reached_ : std::prev(at)->value;
  failed_[value] = {before, status, refused};
}

void Timeline::Refuse(uint64_t value, const absl::Status& status) {
  const auto at = At(value);
  if (at == pending_.end() || at->value != value) return;
  NoteFailure(value, status, /*refused=*/true);
  pending_.erase(At(value));
  PassFailures();
}

void Timeline::Reach(uint64_t value) {
  reached_ = std::max(reached_, value);
  DropReached();
  PassFailures();
}

void Timeline::Complete(uint64_t value, const absl::Status& status) {
  if (value <= reached_) return;
  if (!status.ok()) NoteFailure(value, status, /*refused=*/false);
  reached_ = value;
  DropReached();
  PassFailures();
}

// Values that failed count as reached, unless one below them is still to come.
void Timeline::PassFailures() {
  for (auto failed = failed_.upper_bound(reached_);
       failed != failed_.end() && failed->second.after <= reached_ &&
       (pending_.empty() || failed->first < pending_.front().value);
       ++failed) {
    reached_ = failed->first;
  }
}

Timeline::Answer Timeline::Find(uint64_t value) const {
  const auto failed = failed_.lower_bound(value);
  if (failed != failed_.end() && failed->second.after < value) {
    return {.state = failed->second.refused ? State::kRefused : State::kFailed,
            .fence = 0,
            .value = failed->first,
            .status = failed->second.status};
  }
  if (value <= reached_)
    return {.state = State::kReached, .fence = 0, .value = value, .status = {}};
  const auto at = std::lower_bound(pending_.begin(), pending_.end(), value, IsBelow);
  if (at == pending_.end()) return {};
  return {.state = at->fence == 0 ? State::kPromised : State::kPending,
          .fence = at->fence,
          .value = at->value,
          .status = {}};
}

Timeline::Answer Timeline::First() const {
  if (pending_.empty()) {
    return {.state = State::kReached, .fence = 0, .value = reached_, .status = {}};
  }
  const Promised& first = pending_.front();
  return {.state = first.fence == 0 ? State::kPromised : State::kPending,
          .fence = first.fence,
          .value = first.value,
          .status = {}};
}

}  // namespace packsmith::gpu
