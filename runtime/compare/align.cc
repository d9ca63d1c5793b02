#include "runtime/compare/align.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace packsmith::compare {
namespace {

// More differences than this are not searched for a best path: the work is quadratic in them.
constexpr int64_t kMostDifferences = 512;

struct Box {
  size_t a, a_end, b, b_end;
};

// The furthest column (of `a`) that a path of d steps reaches on each diagonal (column - row).
class Furthest {
 public:
  Furthest(int64_t columns, int64_t rows)
      : columns_(columns),
        rows_(rows),
        most_(std::min(kMostDifferences, columns + rows) + 1),
        at_(static_cast<size_t>(2 * most_ + 1), kNone) {}

  int64_t first(int64_t d) const { return d <= rows_ ? -d : -rows_ + ((d - rows_) & 1); }
  int64_t last(int64_t d) const { return d <= columns_ ? d : columns_ - ((d - columns_) & 1); }
  int64_t Get(int64_t diagonal) const {
    return diagonal < -most_ || diagonal > most_ ? kNone : at_[Index(diagonal)];
  }
  // Takes the d-th step to the diagonal and goes on while is_equal(column, row). False: no path.
  template <class Equal>
  bool Step(int64_t d, int64_t diagonal, const Equal& is_equal) {
    int64_t column = kNone;
    if (d == 0) column = 0;
    const int64_t down = d == 0 ? kNone : Get(diagonal + 1);
    const int64_t right = d == 0 ? kNone : Get(diagonal - 1);
    if (down != kNone && down - diagonal <= rows_) column = down;
    if (right != kNone && right < columns_) column = std::max(column, right + 1);
    if (column == kNone) {
      at_[Index(diagonal)] = kNone;
      return false;
    }
    while (column < columns_ && column - diagonal < rows_ && is_equal(column, column - diagonal)) {
      ++column;
    }
    at_[Index(diagonal)] = column;
    return true;
  }

  static constexpr int64_t kNone = -1;

 private:
  size_t Index(int64_t diagonal) const { return static_cast<size_t>(diagonal + most_); }

  const int64_t columns_, rows_, most_;
  std::vector<int64_t> at_;
};

// A point on a shortest path through the box, whose first elements differ, as do its last ones; or
// if that is far to find, on some path.
std::pair<size_t, size_t> Split(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b) {
  const auto columns = static_cast<int64_t>(a.size()), rows = static_cast<int64_t>(b.size());
  const int64_t delta = columns - rows;
  Furthest forward(columns, rows), backward(columns, rows);
  const auto at = [](absl::Span<const uint64_t> all, int64_t i) {
    return all[static_cast<size_t>(i)];
  };
  const auto point = [](int64_t column, int64_t row) {
    return std::make_pair(static_cast<size_t>(column), static_cast<size_t>(row));
  };
  for (int64_t d = 0; d <= kMostDifferences; ++d) {
    for (int64_t k = forward.first(d); k <= forward.last(d); k += 2) {
      if (!forward.Step(d, k, [&](int64_t c, int64_t r) { return at(a, c) == at(b, r); })) continue;
      const int64_t column = forward.Get(k), back = backward.Get(delta - k);
      if (delta % 2 != 0 && back != Furthest::kNone && column + back >= columns) {
        return point(column, column - k);
      }
    }
    for (int64_t k = backward.first(d); k <= backward.last(d); k += 2) {
      const auto is_equal = [&](int64_t c, int64_t r) {
        return at(a, columns - 1 - c) == at(b, rows - 1 - r);
      };
      if (!backward.Step(d, k, is_equal)) continue;
      const int64_t back = backward.Get(k), column = forward.Get(delta - k);
      if (delta % 2 == 0 && column != Furthest::kNone && column + back >= columns) {
        return point(columns - back, rows - (back - k));
      }
    }
  }
  int64_t best_column = 0, best_row = 0;
  for (int64_t k = -kMostDifferences; k <= kMostDifferences; ++k) {
    const int64_t column = forward.Get(k);
    if (column == Furthest::kNone || column + column - k <= best_column + best_row) continue;
    best_column = column;
    best_row = column - k;
  }
  return point(best_column, best_row);
}

// Of sequences whose elements all are in both.
std::vector<Match> AlignShared(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b) {
  std::vector<Match> matches;
  std::vector<Box> boxes = {{0, a.size(), 0, b.size()}};
  while (!boxes.empty()) {
    Box box = boxes.back();
    boxes.pop_back();
    while (box.a < box.a_end && box.b < box.b_end && a[box.a] == b[box.b]) {
      matches.push_back({box.a++, box.b++});
    }
    while (box.a < box.a_end && box.b < box.b_end && a[box.a_end - 1] == b[box.b_end - 1]) {
      matches.push_back({--box.a_end, --box.b_end});
    }
    if (box.a == box.a_end || box.b == box.b_end) continue;
    const auto [column, row] =
        Split(a.subspan(box.a, box.a_end - box.a), b.subspan(box.b, box.b_end - box.b));
    const Box first{box.a, box.a + column, box.b, box.b + row};
    const Box second{box.a + column, box.a_end, box.b + row, box.b_end};
    // A path without a common element passes a corner.
    const bool whole =
        (column == 0 && row == 0) || (first.a_end == box.a_end && first.b_end == box.b_end);
    if (whole) continue;
    boxes.push_back(first);
    boxes.push_back(second);
  }
  std::sort(matches.begin(), matches.end(),
            [](const Match& x, const Match& y) { return x.a < y.a; });
  return matches;
}

// The indices of elements that the other sequence has, too, and these elements.
struct Shared {
  std::vector<size_t> indices;
  std::vector<uint64_t> keys;

  Shared(absl::Span<const uint64_t> all, const absl::flat_hash_set<uint64_t>& others) {
    for (size_t i = 0; i < all.size(); ++i) {
      if (!others.contains(all[i])) continue;
      indices.push_back(i);
      keys.push_back(all[i]);
    }
  }
};

}  // namespace

std::vector<Match> Align(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b) {
  const Shared of_a(a, absl::flat_hash_set<uint64_t>(b.begin(), b.end()));
  const Shared of_b(b, absl::flat_hash_set<uint64_t>(a.begin(), a.end()));
  std::vector<Match> matches = AlignShared(of_a.keys, of_b.keys);
  for (Match& match : matches) match = {of_a.indices[match.a], of_b.indices[match.b]};
  return matches;
}

void AlignRest(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b,
               std::vector<Match>& matches) {
  std::vector<Match> all;
  Match from{0, 0};
  const auto fill = [&](const Match& to) {
    if (from.a == to.a || from.b == to.b) return;
    for (const Match& match :
         Align(a.subspan(from.a, to.a - from.a), b.subspan(from.b, to.b - from.b))) {
      all.push_back({from.a + match.a, from.b + match.b});
    }
  };
  for (const Match& match : matches) {
    fill(match);
    all.push_back(match);
    from = {match.a + 1, match.b + 1};
  }
  fill({a.size(), b.size()});
  matches = std::move(all);
}

}  // namespace packsmith::compare
