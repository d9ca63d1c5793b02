#include "runtime/compare/places.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace packsmith::compare {

void Places::Count() {
  struct Candidate {
    uint64_t votes;
    bool is_same;  // the same address on both sides
    uint32_t a, b;
  };
  std::vector<Candidate> all;
  for (const auto& [pair, votes] : votes_) {
    const bool is_same = a_.regions[pair.first] == b_.regions[pair.second];
    all.push_back({votes, is_same, pair.first, pair.second});
  }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& x, const Candidate& y) {
    return std::tie(x.votes, x.is_same) > std::tie(y.votes, y.is_same);
  });
  absl::flat_hash_set<uint32_t> taken;
  for (const Candidate& one : all) {
    if (of_a_.contains(one.a) || !taken.insert(one.b).second) continue;
    of_a_[one.a] = one.b;
  }
}

bool Places::IsSame(const Address& a, const Address& b) const {
  // Null is an address of its own.
  if (one_dump_ || a.address == 0 || b.address == 0) {
    return a.address == b.address && (a.address == 0 || a.space == b.space);
  }
  const auto found = of_a_.find(a.region);
  return a.offset == b.offset && found != of_a_.end() && found->second == b.region;
}

}  // namespace packsmith::compare
