// Which caches stand between a write and a read: what has to be written back, and what forgotten,
// before a buffer is used in another way than it was last.
//
//   CacheTracker tracker(kL3Domains);
//   const CacheBarrier barrier = tracker.Use(texture, CacheDomain::kSampler);
//   if (!barrier.empty()) EmitBarrier(batch, barrier, scratch);      // cache_rules.h
//
// It knows no packets. A GPU has a cache in front of each kind of use, and a third-level cache (L3)
// that most of them share and some look past. What is written through one is seen through another
// once the first has written it back to where both look, and the second has forgotten what it had.
//
// For one command streamer. Not thread-safe.

#ifndef PACKSMITH_RUNTIME_INTEL_BATCH_CACHE_TRACKER_H_
#define PACKSMITH_RUNTIME_INTEL_BATCH_CACHE_TRACKER_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace packsmith::intel {

// Ways of using memory that have a cache of their own. The first four write, and may read, too.
enum class CacheDomain : uint8_t {
  kRender,      // color targets
  kDepth,       // depth and stencil targets
  kData,        // stores and atomics of shaders
  kOtherWrite,  // stream output, the command streamer, post-sync writes
  kVertex,      // vertices and indices
  kSampler,     // textures
  kConstant,    // constants that shaders pull
  kOtherRead,   // the command streamer, indirect parameters
};
inline constexpr size_t kCacheDomains = 8, kWritingDomains = 4;

// A set of domains, a bit each.
using CacheDomains = uint8_t;
constexpr CacheDomains SetOf(CacheDomain domain) {
  return static_cast<CacheDomains>(1u << static_cast<unsigned>(domain));
}

// What has to happen between two uses.
struct CacheBarrier {
  CacheDomains flush = 0;       // write back
  CacheDomains to_memory = 0;   // write back past L3
  CacheDomains invalidate = 0;  // forget, after that
  bool from_memory = false;     // L3 forgets what it has read
  bool wait = false;            // until everything before is done

  bool empty() const {
    return flush == 0 && to_memory == 0 && invalidate == 0 && !from_memory && !wait;
  }
  friend bool operator==(const CacheBarrier&, const CacheBarrier&) = default;
};

class CacheTracker {
 public:
  // l3: the domains that go through L3.
  explicit CacheTracker(CacheDomains l3) : l3_(l3) {}

  // What has to happen before the buffer is used so. Empty if nothing has.
  CacheBarrier Needs(uint32_t buffer, CacheDomain domain) const;
  // The same, and takes it as having happened: emit the barrier if it is not empty, then the use.
  CacheBarrier Use(uint32_t buffer, CacheDomain domain);
  // A barrier that was emitted for other reasons.
  void Apply(const CacheBarrier& barrier);
  // All that was done is visible to all that comes: where a batch ends, kernels see to it.
  void Synchronized();
  // The buffer is gone; its handle may come back as another one's.
  void Forget(uint32_t buffer) { uses_.erase(buffer); }

 private:
  // Uses are numbered by the barriers that were before them: 0 is never.
  using Time = uint64_t;
  using Times = std::array<Time, kCacheDomains>;

  bool InL3(size_t domain) const { return (l3_ >> domain & 1) != 0; }

  const CacheDomains l3_;
  Time now_ = 1;
  Time waited_ = 0;     // all uses until then are done
  Time forgotten_ = 0;  // L3 has nothing of memory from before
  Times flushed_ = {};  // writes until then are in L3, or in memory if the domain is not in L3
  Times in_memory_ = {};
  std::array<Times, kCacheDomains> seen_ = {};  // [reader][writer]: writes until then are seen
  absl::flat_hash_map<uint32_t, Times> uses_;   // by buffer
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BATCH_CACHE_TRACKER_H_
