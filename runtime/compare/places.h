// Which addresses of two dumps mean the same memory.
#ifndef PACKSMITH_RUNTIME_COMPARE_PLACES_H_
#define PACKSMITH_RUNTIME_COMPARE_PLACES_H_

#include <cstdint>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "runtime/compare/trail.h"

namespace packsmith::compare {

class Places {
 public:
  // The trails must outlive this.
  Places(const Trail& a, const Trail& b, bool one_dump) : a_(a), b_(b), one_dump_(one_dump) {}

  // Two fields that correspond have these addresses.
  void Vote(const Address& a, const Address& b) {
    if (a.offset == b.offset) ++votes_[{a.region, b.region}];
  }
  // All votes have come.
  void Count();
  bool IsSame(const Address& a, const Address& b) const;

 private:
  const Trail& a_;
  const Trail& b_;
  const bool one_dump_;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> votes_;
  absl::flat_hash_map<uint32_t, uint32_t> of_a_;  // the region of `b` for one of `a`
};

}  // namespace packsmith::compare

#endif  // PACKSMITH_RUNTIME_COMPARE_PLACES_H_
