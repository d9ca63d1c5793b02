// Tracks the caches between writes and reads: what must be written back, and what invalidated,
// before a buffer is used in another way than last.
//
//   CacheTracker tracker(kL3Domains);
//   const CacheBarrier barrier = tracker.Use(texture, CacheDomain::kSampler);
//   if (!barrier.empty()) EmitBarrier(batch, barrier, scratch);      // cache_rules.h
//
// It does not depend on packets. A GPU has a cache for each kind of use, and a third-level cache
// (L3) that most of them share and some bypass. A write through one cache is visible through
// another after the first has written it back to the level that both access, and the second has
// been invalidated.
//
// For one command streamer. Not thread-safe.

#ifndef PACKSMITH_RUNTIME_INTEL_BATCH_CACHE_TRACKER_H_
#define PACKSMITH_RUNTIME_INTEL_BATCH_CACHE_TRACKER_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace packsmith::intel {

// Kinds of memory access that have their own cache. The first four write, and may also read.
enum class CacheDomain : uint8_t {
  kRender,      // colour targets
  kDepth,       // depth and stencil targets
  kData,        // stores and atomics of shaders
  kOtherWrite,  // stream output, the command streamer, post-sync writes: each use waits for the
                // last
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

// The cache operations between two uses.
struct CacheBarrier {
  CacheDomains flush = 0;       // write back
  CacheDomains to_memory = 0;   // write back past L3
  CacheDomains invalidate = 0;  // invalidate, after that
  bool from_memory = false;     // invalidate what L3 has read
  bool wait = false;            // wait until everything before is done

  bool empty() const {
    return flush == 0 && to_memory == 0 && invalidate == 0 && !from_memory && !wait;
  }
  friend bool operator==(const CacheBarrier&, const CacheBarrier&) = default;
};

class CacheTracker {
 public:
  // l3: the domains that go through L3.
  explicit CacheTracker(CacheDomains l3) : l3_(l3) {}

  // The barrier that is needed before this use of the buffer; empty if none is.
  CacheBarrier Needs(uint32_t buffer, CacheDomain domain) const;
  // The same, and records barrier and use as emitted: emit the barrier if it is not empty, then the
  // use.
  CacheBarrier Use(uint32_t buffer, CacheDomain domain);
  // Records a use whose barrier was emitted and applied, with those of other uses perhaps.
  void Note(uint32_t buffer, CacheDomain domain) {
    uses_[buffer][static_cast<size_t>(domain)] = now_;
  }
  // Records a barrier that was emitted for other reasons.
  void Apply(const CacheBarrier& barrier);
  // Everything before is visible to everything after: kernels ensure this between batches.
  void Synchronized();
  // Forgets a destroyed buffer; its handle may be reused.
  void Forget(uint32_t buffer) { uses_.erase(buffer); }

 private:
  // Uses are numbered by the count of barriers before them; 0 means never.
  using Time = uint64_t;
  using Times = std::array<Time, kCacheDomains>;

  bool InL3(size_t domain) const { return (l3_ >> domain & 1) != 0; }

  const CacheDomains l3_;
  Time now_ = 1;
  Time waited_ = 0;     // all uses up to then are done
  Time forgotten_ = 0;  // L3 has no data of memory from before
  Times flushed_ = {};  // writes up to then are in L3, or in memory if the domain is not in L3
  Times in_memory_ = {};
  std::array<Times, kCacheDomains> seen_ = {};  // [reader][writer]: writes up to then are visible
  absl::flat_hash_map<uint32_t, Times> uses_;   // by buffer
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BATCH_CACHE_TRACKER_H_
