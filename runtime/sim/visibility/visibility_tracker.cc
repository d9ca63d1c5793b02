#include "runtime/sim/visibility/visibility_tracker.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace packsmith::sim {

using tables::CacheActions;
using tables::ClientKind;

void VisibilityTracker::Write(ClientKind writer, const MemoryRange& range,
                              const WritingPacket& packet, absl::Span<const uint8_t> old) {
  if (!rules_->Has(writer) || range.size == 0) return;
  if (writes_.full()) Prune();
  writes_.Add(range, times_.now(), writer, packet, old);
  for (size_t i = 0; i < kQuick.size(); ++i) {
    if (rules_->NeedOf(writer, kQuick[i]).nothing()) continue;
    Hull& hull = hulls_[i];
    hull.begin = std::min(hull.begin, range.address);
    hull.end = std::max(hull.end, PendingWrites::EndOf(range));
    hull.written[static_cast<size_t>(writer)] = times_.now();
  }
}

void VisibilityTracker::FinishFence(CacheActions actions) {
  times_.End(actions);
  for (size_t i = 0; i < kQuick.size(); ++i) {
    Hull& hull = hulls_[i];
    if (hull.end == 0) continue;
    bool seen = true;
    for (uint32_t writer = 0; writer < tables::kClientKinds && seen; ++writer) {
      if (hull.written[writer] == 0) continue;
      seen = times_.Sees(rules_->NeedOf(static_cast<ClientKind>(writer), kQuick[i]),
                         hull.written[writer]);
    }
    if (seen) hull = {};
  }
}

void VisibilityTracker::Read(ClientKind reader, const MemoryRange& range, absl::Span<uint8_t> bytes,
                             Report report) const {
  if (idle() || !rules_->Has(reader)) return;
  const uint64_t end = PendingWrites::EndOf(range);
  size_t reported = 0;
  writes_.ForEach(range, [&](uint64_t address, const PendingWrite& write) {
    const VisibilityNeed& need = rules_->NeedOf(write.client, reader);
    if (need.nothing() || times_.Sees(need, write.time)) return true;
    const uint64_t first = std::max(address, range.address), last = std::min(write.end, end);
    if (!bytes.empty() && !write.old.empty()) {
      const auto from = write.old.begin() + static_cast<ptrdiff_t>(first - address);
      std::copy(from, from + static_cast<ptrdiff_t>(last - first),
                bytes.begin() + static_cast<ptrdiff_t>(first - range.address));
    }
    if (reported++ < kMostReported) {
      const Missing missing = times_.MissingFor(need, write.time);
      report({reader, write, {range.space, first, last - first}, missing});
    }
    // The bytes are wanted whole, reports are not.
    return !bytes.empty() || reported < kMostReported;
  });
}

CacheTimes::Time VisibilityTracker::SeenByAll(ClientKind writer) const {
  const auto seen = [&](CacheTimes::Time written) {
    for (uint32_t reader = 0; reader < tables::kClientKinds; ++reader) {
      if (!times_.Sees(rules_->NeedOf(writer, static_cast<ClientKind>(reader)), written)) {
        return false;
      }
    }
    return true;
  };
  // What is seen of a time is seen of those before.
  CacheTimes::Time low = 0, high = times_.now() + 1;
  while (high - low > 1) {
    const CacheTimes::Time middle = low + (high - low) / 2;
    (seen(middle) ? low : high) = middle;
  }
  return low;
}

void VisibilityTracker::Prune() {
  std::array<CacheTimes::Time, tables::kClientKinds> seen = {};
  for (uint32_t writer = 0; writer < tables::kClientKinds; ++writer) {
    seen[writer] = SeenByAll(static_cast<ClientKind>(writer));
  }
  writes_.Forget([&](const PendingWrite& write) {
    return write.time <= seen[static_cast<size_t>(write.client)];
  });
  if (writes_.size() <= PendingWrites::kMost / 2) return;
  std::vector<CacheTimes::Time> times;
  times.reserve(writes_.size());
  writes_.ForEachWrite([&](const PendingWrite& write) { times.push_back(write.time); });
  const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  const CacheTimes::Time oldest = *middle;
  // Those of one time, for example of one blit, are forgotten together.
  writes_.Forget([&](const PendingWrite& write) { return write.time <= oldest; });
}

void VisibilityTracker::Synchronize() {
  writes_.Clear();
  hulls_ = {};
}

}  // namespace packsmith::sim
