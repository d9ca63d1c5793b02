#include "runtime/layout/tiling.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace packsmith::layout {

absl::StatusOr<Tiling> Tiling::Parse(absl::string_view text) {
  const std::vector<absl::string_view> rows = absl::StrSplit(text, ' ', absl::SkipEmpty());
  if (rows.size() > kMaxBits) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tile's index has ", rows.size(), " bits; there may be ", int{kMaxBits}));
  }
  Tiling tiling;
  std::array<uint32_t, 3> used = {};
  for (size_t row = 0; row < rows.size(); ++row) {
    const uint32_t index_bit = uint32_t{1} << (rows.size() - 1 - row);
    for (const absl::string_view term : absl::StrSplit(rows[row], '^')) {
      const auto* axis =
          term.empty() ? nullptr : std::find(kAxisNames, kAxisNames + 3, term.front());
      uint32_t bit = 0;
      if (axis == nullptr || axis == kAxisNames + 3 || !absl::SimpleAtoi(term.substr(1), &bit) ||
          bit >= kMaxBits) {
        return absl::InvalidArgumentError(absl::StrCat(
            "'", term, "' in '", rows[row], "' is no bit; bits are x0, y3, s1 and so on"));
      }
      tiling.columns_[axis - kAxisNames][bit] ^= index_bit;
      used[axis - kAxisNames] |= uint32_t{1} << bit;
    }
  }
  for (int axis = 0; axis < 3; ++axis) {
    while ((used[axis] >> tiling.bits_[axis]) != 0) ++tiling.bits_[axis];
    if ((used[axis] & (used[axis] + 1)) != 0) {
      return absl::InvalidArgumentError(absl::StrCat("bits of ", std::string(1, kAxisNames[axis]),
                                                     " are left out below the highest one"));
    }
  }
  if (static_cast<size_t>(tiling.index_bits()) != rows.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the index has ", rows.size(),
                                                   " bits, the place ", tiling.index_bits(),
                                                   "; they must be as many"));
  }
  return tiling;
}

Tiling Tiling::Morton(int width_log2, int height_log2, int samples_log2) {
  Tiling tiling;
  tiling.bits_ = {static_cast<uint8_t>(width_log2), static_cast<uint8_t>(height_log2),
                  static_cast<uint8_t>(samples_log2)};
  int bit = 0;
  for (int i = 0; i < samples_log2; ++i) tiling.columns_[kSample][i] = uint16_t(1u << bit++);
  for (int i = 0; i < std::max(width_log2, height_log2); ++i) {
    if (i < width_log2) tiling.columns_[kX][i] = uint16_t(1u << bit++);
    if (i < height_log2) tiling.columns_[kY][i] = uint16_t(1u << bit++);
  }
  return tiling;
}

Tiling Tiling::UInterleaved(int size_log2) {
  Tiling tiling;
  tiling.bits_ = {static_cast<uint8_t>(size_log2), static_cast<uint8_t>(size_log2), 0};
  for (int i = 0; i < size_log2; ++i) {
    tiling.columns_[kX][i] = uint16_t(1u << (2 * i));
    tiling.columns_[kY][i] = uint16_t(3u << (2 * i));
  }
  return tiling;
}

Tiling Tiling::FromColumns(int width_log2, int height_log2, int samples_log2, const Columns& x,
                           const Columns& y, const Columns& sample) {
  Tiling tiling;
  tiling.bits_ = {static_cast<uint8_t>(width_log2), static_cast<uint8_t>(height_log2),
                  static_cast<uint8_t>(samples_log2)};
  std::copy_n(x.begin(), width_log2, tiling.columns_[kX].begin());
  std::copy_n(y.begin(), height_log2, tiling.columns_[kY].begin());
  std::copy_n(sample.begin(), samples_log2, tiling.columns_[kSample].begin());
  return tiling;
}

uint32_t Tiling::IndexOf(TilePosition place) const {
  const std::array<uint32_t, 3> inputs = {place.x, place.y, place.sample};
  uint32_t index = 0;
  for (int axis = 0; axis < 3; ++axis) {
    for (int bit = 0; bit < bits_[axis]; ++bit) {
      if ((inputs[axis] >> bit & 1) != 0) index ^= columns_[axis][bit];
    }
  }
  return index;
}

TilePosition Tiling::Row(int bit) const {
  std::array<uint32_t, 3> row = {};
  for (int axis = 0; axis < 3; ++axis) {
    for (int i = 0; i < bits_[axis]; ++i) {
      row[axis] |= uint32_t{static_cast<uint16_t>(columns_[axis][i] >> bit & 1)} << i;
    }
  }
  return {row[kX], row[kY], row[kSample]};
}

absl::optional<Tiling::Inverse> Tiling::Invert() const {
  // Gauss and Jordan, over the numbers 0 and 1: pairs of an index and the place that it is of,
  // where adding two pairs (XOR) gives a pair again.
  std::vector<std::pair<uint32_t, TilePosition>> pairs;
  for (int i = 0; i < bits_[kX]; ++i) pairs.push_back({columns_[kX][i], {1u << i, 0, 0}});
  for (int i = 0; i < bits_[kY]; ++i) pairs.push_back({columns_[kY][i], {0, 1u << i, 0}});
  for (int i = 0; i < bits_[kSample]; ++i) pairs.push_back({columns_[kSample][i], {0, 0, 1u << i}});
  Inverse inverse;
  for (size_t bit = 0; bit < pairs.size(); ++bit) {
    size_t pivot = bit;
    while (pivot < pairs.size() && (pairs[pivot].first >> bit & 1) == 0) ++pivot;
    if (pivot == pairs.size()) return absl::nullopt;
    std::swap(pairs[bit], pairs[pivot]);
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (i == bit || (pairs[i].first >> bit & 1) == 0) continue;
      pairs[i].first ^= pairs[bit].first;
      pairs[i].second.x ^= pairs[bit].second.x;
      pairs[i].second.y ^= pairs[bit].second.y;
      pairs[i].second.sample ^= pairs[bit].second.sample;
    }
  }
  for (size_t bit = 0; bit < pairs.size(); ++bit) {
    if (pairs[bit].first != 1u << bit) return absl::nullopt;  // bits above those of the index
    inverse.columns_[bit] = pairs[bit].second;
  }
  return inverse;
}

bool Tiling::IsBijective() const { return Invert().has_value(); }

absl::optional<Tiling> Tiling::WithoutLowBits(Axis axis, int n) const {
  if (n > bits_[axis]) return absl::nullopt;
  const uint32_t low = (1u << n) - 1;
  Tiling rest = *this;
  rest.bits_[axis] = static_cast<uint8_t>(bits_[axis] - n);
  for (int a = 0; a < 3; ++a) {
    const int skipped = a == axis ? n : 0;
    for (int bit = 0; bit < bits_[a]; ++bit) {
      const uint32_t column = columns_[a][bit];
      if (bit < skipped ? column != 1u << bit : (column & low) != 0) return absl::nullopt;
    }
    rest.columns_[a].fill(0);
    for (int bit = skipped; bit < bits_[a]; ++bit) {
      rest.columns_[a][bit - skipped] = static_cast<uint16_t>(columns_[a][bit] >> n);
    }
  }
  return rest;
}

absl::optional<Tiling> Tiling::WithoutLowBitsOfX(int n) const { return WithoutLowBits(kX, n); }

absl::optional<Tiling> Tiling::WithoutSamples() const {
  return WithoutLowBits(kSample, bits_[kSample]);
}

std::string Tiling::Text() const {
  std::string text;
  for (int bit = index_bits() - 1; bit >= 0; --bit) {
    const TilePosition row = Row(bit);
    const std::array<uint32_t, 3> bits = {row.x, row.y, row.sample};
    const char* separator = text.empty() ? "" : " ";
    for (int axis = 0; axis < 3; ++axis) {
      for (int i = 0; i < bits_[axis]; ++i) {
        if ((bits[axis] >> i & 1) == 0) continue;
        absl::StrAppend(&text, separator, std::string(1, kAxisNames[axis]), i);
        separator = "^";
      }
    }
  }
  return text;
}

TilePosition Tiling::Inverse::PositionOf(uint32_t index) const {
  TilePosition place;
  for (int bit = 0; bit < kMaxBits; ++bit) {
    if ((index >> bit & 1) == 0) continue;
    place.x ^= columns_[bit].x;
    place.y ^= columns_[bit].y;
    place.sample ^= columns_[bit].sample;
  }
  return place;
}

}  // namespace packsmith::layout
