#include "runtime/intel/query/perf_passes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace packsmith::intel {
namespace {

// A set of counters, a bit each.
using Bits = std::vector<uint64_t>;

bool Has(const Bits& bits, size_t i) { return (bits[i / 64] >> i % 64 & 1) != 0; }
size_t CountOfBoth(const Bits& a, const Bits& b) {
  size_t count = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    count += static_cast<size_t>(__builtin_popcountll(a[i] & b[i]));
  }
  return count;
}
bool IsSubset(const Bits& part, const Bits& whole) {
  for (size_t i = 0; i < part.size(); ++i) {
    if ((part[i] & ~whole[i]) != 0) return false;
  }
  return true;
}

struct Candidate {
  MetricSet set = 0;
  Bits covers;
};

// Looks for the fewest candidates that cover everything. Branches on the counter with the fewest
// of them, and abandons what cannot become better than the best so far.
class Search {
 public:
  explicit Search(const std::vector<Candidate>& candidates) : candidates_(candidates) {}

  std::vector<size_t> Run(const Bits& all) {
    best_ = Greedy(all);
    std::vector<size_t> chosen;
    Branch(all, chosen);
    return best_;
  }
  bool finished() const { return steps_ < kMostSteps; }

 private:
  static constexpr size_t kMostSteps = 1 << 16;

  size_t Covered(size_t candidate, const Bits& open) const {
    return CountOfBoth(candidates_[candidate].covers, open);
  }
  static bool Empty(const Bits& bits) {
    return std::all_of(bits.begin(), bits.end(), [](uint64_t word) { return word == 0; });
  }
  Bits Without(Bits open, size_t candidate) const {
    for (size_t i = 0; i < open.size(); ++i) open[i] &= ~candidates_[candidate].covers[i];
    return open;
  }

  std::vector<size_t> Greedy(Bits open) const {
    std::vector<size_t> chosen;
    while (!Empty(open)) {
      size_t best = 0;
      for (size_t i = 1; i < candidates_.size(); ++i) {
        if (Covered(i, open) > Covered(best, open)) best = i;
      }
      chosen.push_back(best);
      open = Without(std::move(open), best);
    }
    return chosen;
  }

  void Branch(const Bits& open, std::vector<size_t>& chosen) {
    if (Empty(open)) {
      if (chosen.size() < best_.size()) best_ = chosen;
      return;
    }
    if (++steps_ >= kMostSteps) return;
    // Each further pass covers at most as many as the largest candidate does.
    size_t largest = 0;
    for (size_t i = 0; i < candidates_.size(); ++i) largest = std::max(largest, Covered(i, open));
    const size_t left = CountOfBoth(open, open);
    if (chosen.size() + (left + largest - 1) / largest >= best_.size()) return;
    size_t rarest = 0, fewest = ~size_t{0};
    for (size_t counter = 0; counter < open.size() * 64; ++counter) {
      if (!Has(open, counter)) continue;
      size_t count = 0;
      for (const Candidate& candidate : candidates_) count += Has(candidate.covers, counter);
      if (count < fewest) fewest = count, rarest = counter;
    }
    std::vector<std::pair<size_t, size_t>> order;  // those that cover most come first
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (Has(candidates_[i].covers, rarest)) order.emplace_back(~Covered(i, open), i);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [unused, i] : order) {
      chosen.push_back(i);
      Branch(Without(open, i), chosen);
      chosen.pop_back();
    }
  }

  const std::vector<Candidate>& candidates_;
  std::vector<size_t> best_;
  size_t steps_ = 0;
};

}  // namespace

absl::StatusOr<PerfPasses> PlanPerfPasses(absl::Span<const PerfCounterSets> wanted) {
  std::map<MetricSet, Bits> covers;
  const Bits none((wanted.size() + 63) / 64);
  Bits all = none;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].sets.empty()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("no metric set has the performance counter %s", wanted[i].name));
    }
    all[i / 64] |= uint64_t{1} << i % 64;
    for (const MetricSet set : wanted[i].sets) {
      covers.try_emplace(set, none).first->second[i / 64] |= uint64_t{1} << i % 64;
    }
  }
  // A set whose counters another one has, too, is never needed.
  std::vector<Candidate> candidates;
  for (const auto& [set, covered] : covers) {
    bool needed = true;
    for (const auto& [other, others] : covers) {
      if (other != set && IsSubset(covered, others) && (covered != others || other < set)) {
        needed = false;
      }
    }
    if (needed) candidates.push_back({set, covered});
  }
  Search search(candidates);
  std::vector<size_t> chosen = search.Run(all);
  std::sort(chosen.begin(), chosen.end());
  PerfPasses passes;
  passes.least = search.finished();
  passes.pass_of.resize(wanted.size());
  std::vector<bool> done(wanted.size());
  for (const size_t i : chosen) {
    for (size_t counter = 0; counter < wanted.size(); ++counter) {
      if (done[counter] || !Has(candidates[i].covers, counter)) continue;
      passes.pass_of[counter] = static_cast<uint32_t>(passes.sets.size());
      done[counter] = true;
    }
    passes.sets.push_back(candidates[i].set);
  }
  return passes;
}

}  // namespace packsmith::intel
