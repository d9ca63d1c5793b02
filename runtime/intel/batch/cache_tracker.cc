#include "runtime/intel/batch/cache_tracker.h"

#include <algorithm>

namespace packsmith::intel {

CacheBarrier CacheTracker::Needs(uint32_t buffer, CacheDomain domain) const {
  CacheBarrier barrier;
  const auto found = uses_.find(buffer);
  if (found == uses_.end()) return barrier;
  const Times& used = found->second;
  const size_t d = static_cast<size_t>(domain);
  for (size_t w = 0; w < kWritingDomains; ++w) {
    if (w == d) {
      // Its units do not see each other's writes before they are done.
      if (domain == CacheDomain::kOtherWrite && used[w] > flushed_[w])
        barrier.flush |= SetOf(domain);
      continue;
    }
    if (used[w] <= seen_[d][w]) continue;
    const CacheDomains writer = SetOf(static_cast<CacheDomain>(w));
    barrier.invalidate |= SetOf(domain);
    if (used[w] > flushed_[w]) barrier.flush |= writer;
    if (InL3(w) && !InL3(d) && used[w] > in_memory_[w]) barrier.to_memory |= writer;
    if (!InL3(w) && InL3(d) && used[w] > forgotten_) barrier.from_memory = true;
  }
  if (d < kWritingDomains) {
    for (size_t r = kWritingDomains; r < kCacheDomains; ++r) barrier.wait |= used[r] > waited_;
  }
  // What must be written back past L3 must be written back to it, too.
  for (size_t w = 0; w < kWritingDomains; ++w) {
    if ((barrier.to_memory >> w & 1) != 0) barrier.flush |= static_cast<CacheDomains>(1u << w);
  }
  return barrier;
}

CacheBarrier CacheTracker::Use(uint32_t buffer, CacheDomain domain) {
  const CacheBarrier barrier = Needs(buffer, domain);
  Apply(barrier);
  uses_[buffer][static_cast<size_t>(domain)] = now_;
  return barrier;
}

void CacheTracker::Apply(const CacheBarrier& barrier) {
  if (barrier.empty()) return;
  // Packets write back after a stall.
  if (barrier.flush != 0 || barrier.to_memory != 0 || barrier.wait) waited_ = now_;
  for (size_t w = 0; w < kWritingDomains; ++w) {
    if (((barrier.flush | barrier.to_memory) >> w & 1) != 0) flushed_[w] = now_;
    if ((barrier.to_memory >> w & 1) != 0 || !InL3(w)) in_memory_[w] = flushed_[w];
  }
  if (barrier.from_memory) forgotten_ = now_;
  for (size_t r = 0; r < kCacheDomains; ++r) {
    if ((barrier.invalidate >> r & 1) == 0) continue;
    for (size_t w = 0; w < kWritingDomains; ++w) {
      // Visible writes are those that have reached the level that the reader accesses.
      Time there = InL3(r) ? flushed_[w] : in_memory_[w];
      if (InL3(r) && !InL3(w)) there = std::min(there, forgotten_);
      seen_[r][w] = std::max(seen_[r][w], there);
    }
  }
  ++now_;
}

void CacheTracker::Synchronized() { uses_.clear(); }

}  // namespace packsmith::intel
