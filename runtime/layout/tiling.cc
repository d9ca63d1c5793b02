#include "runtime/layout/tiling.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace packsmith::layout {

Tiling Tiling::InOrder(absl::string_view letters) {
  Tiling tiling;
  int bit = 0;
  for (size_t i = letters.size(); i-- > 0;) {
    const size_t axis = kAxisNames.find(letters[i]);
    if (axis == absl::string_view::npos || bit == kMaxBits) continue;
    tiling.columns_[axis][tiling.bits_[axis]++] = static_cast<uint16_t>(1u << bit++);
  }
  return tiling;
}

absl::StatusOr<Tiling> Tiling::Parse(absl::string_view text) {
  const std::vector<absl::string_view> rows = absl::StrSplit(text, ' ', absl::SkipEmpty());
  if (rows.size() > kMaxBits) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tile's index has at most ", int{kMaxBits}, " bits, not ", rows.size()));
  }
  Tiling tiling;
  std::array<uint32_t, kAxes> used = {};
  for (size_t row = 0; row < rows.size(); ++row) {
    const uint32_t index_bit = uint32_t{1} << (rows.size() - 1 - row);
    for (const absl::string_view term : absl::StrSplit(rows[row], '^')) {
      const size_t axis = term.empty() ? kAxisNames.npos : kAxisNames.find(term.front());
      uint32_t bit = 0;
      if (axis == kAxisNames.npos || !absl::SimpleAtoi(term.substr(1), &bit) || bit >= kMaxBits) {
        return absl::InvalidArgumentError(absl::StrCat(
            "'", term, "' in '", rows[row], "' is not a bit; bits are x0, y3, s1 and so on"));
      }
      tiling.columns_[axis][bit] ^= index_bit;
      used[axis] |= uint32_t{1} << bit;
    }
  }
  for (int axis = 0; axis < kAxes; ++axis) {
    while ((used[axis] >> tiling.bits_[axis]) != 0) ++tiling.bits_[axis];
    if ((used[axis] & (used[axis] + 1)) != 0) {
      return absl::InvalidArgumentError(absl::StrCat("bits of ", kAxisNames.substr(axis, 1),
                                                     " are missing below the highest one"));
    }
  }
  if (static_cast<size_t>(tiling.index_bits()) != rows.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the index has ", rows.size(),
                                                   " bits, but the coordinates have ",
                                                   tiling.index_bits(), "; both must be equal"));
  }
  return tiling;
}

Tiling Tiling::Morton(int width_log2, int height_log2, int samples_log2) {
  Tiling tiling;
  tiling.bits_ = {static_cast<uint8_t>(width_log2), static_cast<uint8_t>(height_log2),
                  static_cast<uint8_t>(samples_log2), 0};
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
  tiling.bits_ = {static_cast<uint8_t>(size_log2), static_cast<uint8_t>(size_log2), 0, 0};
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
                  static_cast<uint8_t>(samples_log2), 0};
  std::copy_n(x.begin(), width_log2, tiling.columns_[kX].begin());
  std::copy_n(y.begin(), height_log2, tiling.columns_[kY].begin());
  std::copy_n(sample.begin(), samples_log2, tiling.columns_[kSample].begin());
  return tiling;
}

uint32_t Tiling::IndexOf(TilePosition place) const {
  const std::array<uint32_t, kAxes> inputs = {place.x, place.y, place.sample, place.z};
  uint32_t index = 0;
  for (int axis = 0; axis < kAxes; ++axis) {
    for (int bit = 0; bit < bits_[axis]; ++bit) {
      if ((inputs[axis] >> bit & 1) != 0) index ^= columns_[axis][bit];
    }
  }
  return index;
}

TilePosition Tiling::Row(int bit) const {
  std::array<uint32_t, kAxes> row = {};
  for (int axis = 0; axis < kAxes; ++axis) {
    for (int i = 0; i < bits_[axis]; ++i) {
      row[axis] |= uint32_t{static_cast<uint16_t>(columns_[axis][i] >> bit & 1)} << i;
    }
  }
  return {row[kX], row[kY], row[kSample], row[kZ]};
}

std::optional<Tiling::Inverse> Tiling::Invert() const {
  // Gauss-Jordan elimination over GF(2): pairs of an index and its place; the sum (XOR) of two
  // pairs is a pair again.
  std::vector<std::pair<uint32_t, TilePosition>> pairs;
  for (int i = 0; i < bits_[kX]; ++i) pairs.push_back({columns_[kX][i], {1u << i, 0, 0, 0}});
  for (int i = 0; i < bits_[kY]; ++i) pairs.push_back({columns_[kY][i], {0, 1u << i, 0, 0}});
  for (int i = 0; i < bits_[kSample]; ++i) {
    pairs.push_back({columns_[kSample][i], {0, 0, 1u << i, 0}});
  }
  for (int i = 0; i < bits_[kZ]; ++i) pairs.push_back({columns_[kZ][i], {0, 0, 0, 1u << i}});
  Inverse inverse;
  for (size_t bit = 0; bit < pairs.size(); ++bit) {
    size_t pivot = bit;
    while (pivot < pairs.size() && (pairs[pivot].first >> bit & 1) == 0) ++pivot;
    if (pivot == pairs.size()) return std::nullopt;
    std::swap(pairs[bit], pairs[pivot]);
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (i == bit || (pairs[i].first >> bit & 1) == 0) continue;
      pairs[i].first ^= pairs[bit].first;
      pairs[i].second.x ^= pairs[bit].second.x;
      pairs[i].second.y ^= pairs[bit].second.y;
      pairs[i].second.sample ^= pairs[bit].second.sample;
      pairs[i].second.z ^= pairs[bit].second.z;
    }
  }
  for (size_t bit = 0; bit < pairs.size(); ++bit) {
    if (pairs[bit].first != 1u << bit) return std::nullopt;  // bits above those of the index
    inverse.columns_[bit] = pairs[bit].second;
  }
  return inverse;
}

bool Tiling::IsBijective() const { return Invert().has_value(); }

std::optional<Tiling> Tiling::WithoutLowBits(Axis axis, int n) const {
  if (n > bits_[axis]) return std::nullopt;
  const uint32_t low = (1u << n) - 1;
  Tiling rest = *this;
  rest.bits_[axis] = static_cast<uint8_t>(bits_[axis] - n);
  for (int a = 0; a < kAxes; ++a) {
    const int skipped = a == axis ? n : 0;
    for (int bit = 0; bit < bits_[a]; ++bit) {
      const uint32_t column = columns_[a][bit];
      if (bit < skipped ? column != 1u << bit : (column & low) != 0) return std::nullopt;
    }
    rest.columns_[a].fill(0);
    for (int bit = skipped; bit < bits_[a]; ++bit) {
      rest.columns_[a][bit - skipped] = static_cast<uint16_t>(columns_[a][bit] >> n);
    }
  }
  return rest;
}

std::optional<Tiling> Tiling::WithoutLowBitsOfX(int n) const { return WithoutLowBits(kX, n); }

std::optional<Tiling> Tiling::WithoutSamples() const {
  return WithoutLowBits(kSample, bits_[kSample]);
}

Tiling Tiling::OfInterleavedSamples(int n) const {
  Tiling pixels = *this;
  // Bits of the sample are bits of x and of y in turn, from bit 1: bit 0 is the pixel's own.
  const SampleBlock block = SampleBlockOf(n);
  const std::array<int, 2> taken = {block.columns_log2, block.rows_log2};
  pixels.bits_[kSample] = static_cast<uint8_t>(n);
  for (int i = 0; i < n; ++i) pixels.columns_[kSample][i] = columns_[i % 2][1 + i / 2];
  for (const Axis axis : {kX, kY}) {
    pixels.bits_[axis] = static_cast<uint8_t>(bits_[axis] - taken[axis]);
    for (int i = 1; i < kMaxBits; ++i) {
      pixels.columns_[axis][i] = i < pixels.bits_[axis] ? columns_[axis][i + taken[axis]] : 0;
    }
  }
  return pixels;
}

std::string Tiling::Text() const {
  std::string text;
  for (int bit = index_bits() - 1; bit >= 0; --bit) {
    const TilePosition row = Row(bit);
    const std::array<uint32_t, kAxes> bits = {row.x, row.y, row.sample, row.z};
    const char* separator = text.empty() ? "" : " ";
    for (int axis = 0; axis < kAxes; ++axis) {
      for (int i = 0; i < bits_[axis]; ++i) {
        if ((bits[axis] >> i & 1) == 0) continue;
        absl::StrAppend(&text, separator, kAxisNames.substr(axis, 1), i);
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
    place.z ^= columns_[bit].z;
  }
  return place;
}

}  // namespace packsmith::layout
