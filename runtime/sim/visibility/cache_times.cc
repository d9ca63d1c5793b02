#include "runtime/sim/visibility/cache_times.h"

#include <algorithm>
#include <cstddef>

namespace packsmith::sim {
namespace {

using tables::CacheActions;
using tables::Meaning;
using tables::SetOf;

constexpr CacheActions kStall = SetOf(Meaning::kStall), kWrite = SetOf(Meaning::kWrite),
                       kInOrder = SetOf(Meaning::kInOrder),
                       kFlushStores = SetOf(Meaning::kFlushStores);

size_t Index(CacheActions one) { return static_cast<size_t>(__builtin_ctz(one)); }

// Calls f(index) for each action of the set.
template <class F>
void ForEach(CacheActions actions, F&& f) {
  for (; actions != 0; actions &= actions - 1) f(Index(actions));
}

void Add(absl::InlinedVector<CacheActions, 4>& clauses, CacheActions clause) {
  if (std::find(clauses.begin(), clauses.end(), clause) == clauses.end()) {
    clauses.push_back(clause);
  }
}

}  // namespace

bool CacheTimes::Done(const Times& times, CacheActions any, Time written) {
  for (; any != 0; any &= any - 1) {
    if (times[Index(any)] >= written) return true;
  }
  return false;
}

void CacheTimes::Invalidate(CacheActions actions) {
  ForEach(actions & kInvalidations, [&](size_t i) {
    parsed_[i] = now_;
    seen_[i] = done_;
  });
}

void CacheTimes::Begin(CacheActions actions) {
  if ((actions & kInOrder) == 0) Invalidate(actions);
  ForEach(actions & ~kInvalidations, [&](size_t i) { started_[i] = now_; });
  ++now_;
}

void CacheTimes::End(CacheActions actions) {
  if ((actions & kStall) != 0) {
    done_[VisibilityNeed::kByStall] = started_;
    if ((actions & kWrite) != 0) done_[VisibilityNeed::kByWrite] = started_;
    // It waits for the packet's own write, too.
    for (Times& done : done_) done[Index(kStall)] = now_;
  }
  if ((actions & kFlushStores) != 0) {
    for (Times& done : done_) done[Index(kFlushStores)] = now_;
  }
  if ((actions & kInOrder) != 0) Invalidate(actions);
  ++now_;
}

bool CacheTimes::Invalidated(const VisibilityNeed& need, CacheActions any, Time written) const {
  // Where an action that invalidates may as well be a flush, that is part of it.
  if (Done(done_[need.completion], any & ~kInvalidations, written)) return true;
  bool done = false;
  ForEach(any & kInvalidations, [&](size_t i) {
    bool all = parsed_[i] >= written;
    for (const CacheActions flush : need.flush) {
      all = all && Done(seen_[i][need.completion], flush, written);
    }
    done = done || all;
  });
  return done;
}

bool CacheTimes::Sees(const VisibilityNeed& need, Time written) const {
  for (const auto* clauses : {&need.flush, &need.renew}) {
    for (const CacheActions clause : *clauses) {
      if (!Done(done_[need.completion], clause, written)) return false;
    }
  }
  for (const CacheActions clause : need.invalidate) {
    if (!Invalidated(need, clause, written)) return false;
  }
  return true;
}

Missing CacheTimes::MissingFor(const VisibilityNeed& need, Time written) const {
  Missing missing;
  for (const auto* clauses : {&need.flush, &need.renew}) {
    for (const CacheActions clause : *clauses) {
      if (Done(done_[need.completion], clause, written)) continue;
      if (!Done(started_, clause & ~kStall, written)) {
        Add(missing.clauses, clause);
      } else if (!Done(done_[VisibilityNeed::kByStall], clause, written)) {
        Add(missing.clauses, kStall);
      } else {
        Add(missing.clauses, kWrite);
      }
    }
  }
  const bool flushed = missing.empty();
  for (const CacheActions clause : need.invalidate) {
    if (Invalidated(need, clause, written)) continue;
    const bool parsed = Done(parsed_, clause & kInvalidations, written);
    if (parsed && !flushed) continue;  // the order is reported when there is a flush
    Add(missing.clauses, clause);
    missing.too_early = missing.too_early || parsed;
  }
  return missing;
}

}  // namespace packsmith::sim
