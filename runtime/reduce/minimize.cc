#include "runtime/reduce/minimize.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace packsmith::reduce {

Minimum Minimize(size_t count, const std::function<Answer(const std::vector<size_t>&)>& test) {
  Minimum minimum;
  std::vector<size_t>& kept = minimum.kept;
  kept.resize(count);
  std::iota(kept.begin(), kept.end(), size_t{0});
  std::set<std::vector<size_t>> refused;
  // With nothing the property may be there, too.
  size_t pieces = 1;
  while (!kept.empty()) {
    pieces = std::min(pieces, kept.size());
    bool smaller = false;
    // From the end: what comes last depends on most, and least depends on it.
    for (size_t piece = pieces; piece-- > 0 && !smaller;) {
      const size_t begin = kept.size() * piece / pieces, end = kept.size() * (piece + 1) / pieces;
      std::vector<size_t> rest(kept.begin(), kept.begin() + static_cast<ptrdiff_t>(begin));
      rest.insert(rest.end(), kept.begin() + static_cast<ptrdiff_t>(end), kept.end());
      if (refused.count(rest) != 0) continue;
      const Answer answer = test(rest);
      if (answer == Answer::kStop) return minimum;
      if (answer == Answer::kNo) {
        refused.insert(std::move(rest));
        continue;
      }
      kept = std::move(rest);
      smaller = true;
    }
    if (smaller) {
      pieces = std::max<size_t>(pieces - 1, 2);
    } else if (pieces >= kept.size()) {
      break;
    } else {
      pieces *= 2;
    }
  }
  minimum.complete = true;
  return minimum;
}

}  // namespace packsmith::reduce
