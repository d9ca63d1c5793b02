// Names that are close to a misspelt one.
#ifndef PACKSMITH_RUNTIME_BASE_CLOSEST_H_
#define PACKSMITH_RUNTIME_BASE_CLOSEST_H_

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace packsmith {

// Collects what is close to a name, in either case: at most two letters, or a quarter of them, but
// not all, must be put in, taken out or replaced, or the name is a part of the other one.
class Closest {
 public:
  explicit Closest(absl::string_view wanted);

  // Names of more than 128 bytes are not considered: nobody types these.
  void Offer(absl::string_view name);

  // The closest first, at most 8.
  std::vector<std::string> Names() const;

 private:
  std::string wanted_;
  std::set<std::string> seen_;
  std::set<std::pair<size_t, std::string>> close_;
};

// "; did you mean A, B?", or nothing if nothing is close.
std::string DidYouMean(const Closest& closest);
std::string DidYouMean(absl::string_view wanted, absl::Span<const absl::string_view> known);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_CLOSEST_H_
