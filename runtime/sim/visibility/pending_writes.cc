#include "runtime/sim/visibility/pending_writes.h"

#include <iterator>

namespace packsmith::sim {

void PendingWrites::Add(const MemoryRange& range, uint64_t time, tables::ClientKind client,
                        const WritingPacket& packet, absl::Span<const uint8_t> old) {
  const uint64_t end = EndOf(range);
  if (range.address >= end) return;
  // What is written again and again takes the place of what was there, without a search for more.
  const auto at = writes_.find(Place{range.space, range.address});
  if (at != writes_.end() && at->second.end == end) {
    PendingWrite& same = at->second;
    old_bytes_ -= same.old.size();
    same.time = time;
    same.client = client;
    same.packet = packet;
    same.old.assign(old.begin(), old.end());
    old_bytes_ += old.size();
    return;
  }
  Cut(range.space, range.address, end);
  // The rows of one blit that follow each other are one.
  auto next = writes_.lower_bound(Place{range.space, range.address});
  if (next != writes_.begin()) {
    const auto before = std::prev(next);
    PendingWrite& left = before->second;
    if (before->first.first == range.space && left.end == range.address && left.time == time &&
        left.client == client && left.packet == packet && left.old.empty() == old.empty()) {
      left.end = end;
      left.old.insert(left.old.end(), old.begin(), old.end());
      old_bytes_ += old.size();
      return;
    }
  }
  if (full()) return;
  PendingWrite write{end, time, client, packet, {old.begin(), old.end()}};
  writes_.emplace_hint(next, Place{range.space, range.address}, std::move(write));
  old_bytes_ += old.size();
}

void PendingWrites::Clear() {
  writes_.clear();
  old_bytes_ = 0;
}

void PendingWrites::Cut(uint32_t space, uint64_t begin, uint64_t end) {
  auto at = writes_.upper_bound(Place{space, begin});
  if (at != writes_.begin()) {
    const auto before = std::prev(at);
    PendingWrite& left = before->second;
    if (before->first.first == space && left.end > begin) {
      const uint64_t first = before->first.second;
      PendingWrite right = left;
      // Its end, after the cut.
      if (right.end > end && first < begin && !full()) {
        if (!right.old.empty()) {
          right.old.erase(right.old.begin(),
                          right.old.begin() + static_cast<ptrdiff_t>(end - first));
        }
        old_bytes_ += right.old.size();
        writes_.emplace(Place{space, end}, std::move(right));
        PendingWrite& rest = writes_.find(Place{space, first})->second;
        rest.end = begin;
        if (!rest.old.empty()) {
          old_bytes_ -= rest.old.size() - (begin - first);
          rest.old.resize(begin - first);
        }
        return;
      }
      if (first < begin) {
        left.end = begin;
        if (!left.old.empty()) {
          old_bytes_ -= left.old.size() - (begin - first);
          left.old.resize(begin - first);
        }
      } else {
        at = before;
      }
    }
  }
  while (at != writes_.end() && at->first.first == space && at->first.second < end) {
    PendingWrite write = std::move(at->second);
    const uint64_t first = at->first.second;
    old_bytes_ -= write.old.size();
    at = writes_.erase(at);
    if (write.end <= end) continue;
    if (!write.old.empty()) {
      write.old.erase(write.old.begin(), write.old.begin() + static_cast<ptrdiff_t>(end - first));
    }
    old_bytes_ += write.old.size();
    writes_.emplace(Place{space, end}, std::move(write));
    return;
  }
}

}  // namespace packsmith::sim
