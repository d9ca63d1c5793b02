// The smallest part of a whole that still has a property: delta debugging.
#ifndef PACKSMITH_RUNTIME_REDUCE_MINIMIZE_H_
#define PACKSMITH_RUNTIME_REDUCE_MINIMIZE_H_

#include <cstddef>
#include <functional>
#include <vector>

namespace packsmith::reduce {

enum class Answer {
  kYes,  // it still has the property
  kNo,
  kStop,  // not tested: the search is to end
};

struct Minimum {
  std::vector<size_t> kept;  // ascending
  // No element can be left out of it alone. False: the search was stopped before that.
  bool complete = false;
};

// Searches a set of numbers below `count` for which `test` answers yes, and from which no number
// can be taken. The set of all of them has the property. Halves are left out first, then quarters,
// and so on to single ones; what was tested is not tested again. The same answers give the same
// result.
//
// `test` is called with ascending numbers. At most about count * count calls, usually a few times
// count.
Minimum Minimize(size_t count, const std::function<Answer(const std::vector<size_t>&)>& test);

}  // namespace packsmith::reduce

#endif  // PACKSMITH_RUNTIME_REDUCE_MINIMIZE_H_
