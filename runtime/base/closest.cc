#include "runtime/base/closest.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace packsmith {
namespace {

constexpr size_t kMostSuggestions = 8;
constexpr size_t kLongestName = 128;

// The number of letters that must be inserted, removed or replaced.
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

Closest::Closest(absl::string_view wanted)
    : wanted_(absl::AsciiStrToLower(wanted.substr(0, kLongestName))) {}

void Closest::Offer(absl::string_view name) {
  if (name.size() > kLongestName || !seen_.insert(std::string(name)).second) return;
  const std::string lower = absl::AsciiStrToLower(name);
  const bool part = wanted_.size() >= 3 && absl::StrContains(lower, wanted_);
  const size_t distance = Distance(wanted_, lower);
  // A name of which the wanted one is a part is close, however long the rest is; one that has no
  // letter of it is not, however short both are.
  const size_t most = std::max<size_t>(2, wanted_.size() / 4);
  if (!part && (distance > most || distance >= wanted_.size())) return;
  close_.emplace(part ? std::min<size_t>(distance, 2) : distance, name);
}

std::vector<std::string> Closest::Names() const {
  std::vector<std::string> names;
  for (const auto& [distance, name] : close_) {
    if (names.size() == kMostSuggestions) break;
    names.push_back(name);
  }
  return names;
}

std::string DidYouMean(const Closest& closest) {
  const std::vector<std::string> names = closest.Names();
  return names.empty() ? "" : absl::StrCat("; did you mean ", absl::StrJoin(names, ", "), "?");
}

std::string DidYouMean(absl::string_view wanted, absl::Span<const absl::string_view> known) {
  Closest closest(wanted);
  for (const absl::string_view name : known) closest.Offer(name);
  return DidYouMean(closest);
}

}  // namespace packsmith
