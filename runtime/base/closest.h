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

// Collects names that are close to a wanted one, ignoring case: names that contain it (if it has at
// least 3 letters), and names that differ from it in at most two letters, or a quarter of its
// letters, but not in all of them.
class Closest {
 public:
  explicit Closest(absl::string_view wanted);

  // Names of more than 128 bytes are ignored: users do not type these.
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
