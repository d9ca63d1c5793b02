// When caches were written back and invalidated, so that it can be said of a write whether a reader
// sees it.
#ifndef PACKSMITH_RUNTIME_SIM_VISIBILITY_CACHE_TIMES_H_
#define PACKSMITH_RUNTIME_SIM_VISIBILITY_CACHE_TIMES_H_

#include <array>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "runtime/sim/visibility/visibility_rules.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// What has to be done between a write and a read, and has not been.
struct Missing {
  // One action of each set.
  absl::InlinedVector<tables::CacheActions, 4> clauses;
  // The invalidation was done, but in the packet of the flush or before it.
  bool too_early = false;

  bool empty() const { return clauses.empty(); }
};

// The clocks of one engine's caches. Time passes with each packet that has cache actions.
//
// Invalidations act when the packet is parsed, on what has been written back completely by then;
// flushes start with the packet and are complete after a stall, or a stall with a write, in the
// same packet or a later one.
class CacheTimes {
 public:
  using Time = uint64_t;

  // A write that happens now has this time.
  Time now() const { return now_; }

  // A packet with cache actions. What it writes itself, after its flushes, comes between the calls.
  void Begin(tables::CacheActions actions);
  void End(tables::CacheActions actions);

  // Whether what is needed has been done since `written`.
  bool Sees(const VisibilityNeed& need, Time written) const;
  // What has not been done.
  Missing MissingFor(const VisibilityNeed& need, Time written) const;

 private:
  static constexpr size_t kActions = tables::kCacheActions;
  using Times = std::array<Time, kActions>;  // by action

  void Invalidate(tables::CacheActions actions);
  // Whether one of the actions has been done on what was written then.
  static bool Done(const Times& times, tables::CacheActions any, Time written);
  bool Invalidated(const VisibilityNeed& need, tables::CacheActions any, Time written) const;

  Time now_ = 1;
  Times started_ = {};
  std::array<Times, 2> done_ = {};  // [completion][flush]: writes up to then are written back
  Times parsed_ = {};               // of invalidations
  // [invalidation][completion][flush]: what was written back when it was parsed.
  std::array<std::array<Times, 2>, kActions> seen_ = {};
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_VISIBILITY_CACHE_TIMES_H_
