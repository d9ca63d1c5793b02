// The longest common subsequence of two sequences, nearly.
//
//   const std::vector<Match> matches = Align(keys_of_a, keys_of_b);
//   for (const Match& match : matches) Compare(a[match.a], b[match.b]);
#ifndef PACKSMITH_RUNTIME_COMPARE_ALIGN_H_
#define PACKSMITH_RUNTIME_COMPARE_ALIGN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace packsmith::compare {

struct Match {
  size_t a, b;  // indices

  bool operator==(const Match&) const = default;
};

// Pairs of equal elements, ascending in both. As many as possible where the sequences do not differ
// much; else work is bounded, and there may be fewer. By Myers, "An O(ND) difference algorithm and
// its variations".
std::vector<Match> Align(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b);

// Adds matches by other keys between those that there are. `matches` must be ascending in both.
void AlignRest(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b,
               std::vector<Match>& matches);

}  // namespace packsmith::compare

#endif  // PACKSMITH_RUNTIME_COMPARE_ALIGN_H_
