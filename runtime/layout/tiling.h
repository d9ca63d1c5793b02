// A tiling as data: which bits of x, y, sample and z make up each bit of an element's index in its
// tile.
#ifndef PACKSMITH_RUNTIME_LAYOUT_TILING_H_
#define PACKSMITH_RUNTIME_LAYOUT_TILING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace packsmith::layout {

// A place in a tile, or a set of bits of such a place.
struct TilePosition {
  uint32_t x = 0, y = 0, sample = 0;
  uint32_t z = 0;  // in tiles of 3D images that are more than one layer deep

  friend bool operator==(const TilePosition& a, const TilePosition& b) {
    return a.x == b.x && a.y == b.y && a.sample == b.sample && a.z == b.z;
  }
};

// A matrix of bits that maps a place in a tile of 2^a by 2^b elements (of 2^c samples, or 2^d
// layers deep) to its index: each bit of the index is the XOR of some bits of the place. Everything
// about a tiling follows from the matrix: addresses, their inverse, whether two elements could have
// the same address, how to copy many elements at once, and drawings.
//
// Text has the bits of the index from the highest to the lowest, each as the bits whose XOR it is:
// "y1 x1 y0 x0" is Morton order in tiles of 4 by 4, "y0 x0^y0" goes round a tile of 2 by 2 in the
// shape of a U.
// Interleaved samples of a pixel: 2^n of them, for n of at most 4, are a block of 2^columns_log2 by
// 2^rows_log2 neighbours (PRM, volume 5, "Multisampled Surfaces").
struct SampleBlock {
  int columns_log2 = 0, rows_log2 = 0;
};
constexpr SampleBlock SampleBlockOf(int n) { return {(n + 1) / 2, n / 2}; }

class Tiling {
 public:
  static constexpr int kMaxBits = 16;

  // A tile of one element.
  Tiling() = default;

  // A tiling without XORs, in which the bits of each of x, y, s and z are in order: for each bit of
  // the index, from the highest to the lowest, the letter whose next bit it is. "yxyx" is Morton
  // order in tiles of 4 by 4. Other characters, and letters before the last kMaxBits, are ignored.
  static Tiling InOrder(absl::string_view letters);
  // A tiling from its text. Errors: a word that is not a bit; missing bits, which would make the
  // tile's size unclear; more than kMaxBits. The result may not be bijective.
  static absl::StatusOr<Tiling> Parse(absl::string_view text);

  // Z order: sample bits lowest, then bits of x and y in turn, x first; the rest of the longer one
  // comes last.
  static Tiling Morton(int width_log2, int height_log2, int samples_log2 = 0);
  // Mali's order in a tile of 2^n by 2^n: bit 2i is x_i^y_i and bit 2i+1 is y_i.
  static Tiling UInterleaved(int size_log2);
  // Bits of the index that each bit of x, y and sample toggles, lowest bit first, e.g. {1, 4}, {2,
  // 8}. Entries beyond the sizes (as logarithms) are ignored. The sizes must add up to at most
  // kMaxBits.
  using Columns = std::array<uint16_t, kMaxBits>;
  static Tiling FromColumns(int width_log2, int height_log2, int samples_log2, const Columns& x,
                            const Columns& y, const Columns& sample);

  int width_log2() const { return bits_[kX]; }
  int height_log2() const { return bits_[kY]; }
  int samples_log2() const { return bits_[kSample]; }
  int depth_log2() const { return bits_[kZ]; }
  uint32_t width_el() const { return uint32_t{1} << bits_[kX]; }
  uint32_t height_el() const { return uint32_t{1} << bits_[kY]; }
  uint32_t samples() const { return uint32_t{1} << bits_[kSample]; }
  uint32_t depth_el() const { return uint32_t{1} << bits_[kZ]; }
  // Bits of an index.
  int index_bits() const { return bits_[kX] + bits_[kY] + bits_[kSample] + bits_[kZ]; }

  // What bit `bit` of x (y, sample, z) toggles.
  uint32_t x_column(int bit) const { return columns_[kX][static_cast<size_t>(bit)]; }
  uint32_t y_column(int bit) const { return columns_[kY][static_cast<size_t>(bit)]; }
  uint32_t sample_column(int bit) const { return columns_[kSample][static_cast<size_t>(bit)]; }
  uint32_t z_column(int bit) const { return columns_[kZ][static_cast<size_t>(bit)]; }

  // Only the bits of a place within the tile count, so that the place in the image may be given.
  uint32_t IndexOf(TilePosition place) const;
  // The bits whose XOR is bit `bit` of the index.
  TilePosition Row(int bit) const;

  // The inverse. Nothing if two places have the same index.
  class Inverse;
  std::optional<Inverse> Invert() const;
  // Whether no two places have the same index.
  bool IsBijective() const;

  // The tiling of groups of 2^n neighbours as one element, such as the four bytes of a pixel, or
  // samples that are next to each other. Nothing if the lowest n bits of the index are not, in
  // order, the lowest bits of x, or of the sample, or if these bits occur in other bits of the
  // index too.
  std::optional<Tiling> WithoutLowBitsOfX(int n) const;
  std::optional<Tiling> WithoutSamples() const;
  // The tiling of pixels of 2^n samples each, for n of at most 4, if this one is of interleaved
  // samples: the samples of a pixel are 2 by 1, 2 by 2, 4 by 2 or 4 by 4 neighbours, such that
  // pairs of neighbours in x and in y stay neighbours. The tile must have at least 8 by 8 samples.
  Tiling OfInterleavedSamples(int n) const;

  std::string Text() const;

  friend bool operator==(const Tiling& a, const Tiling& b) {
    return a.bits_ == b.bits_ && a.columns_ == b.columns_;
  }

 private:
  enum Axis { kX, kY, kSample, kZ, kAxes };
  static constexpr absl::string_view kAxisNames = "xysz";

  std::optional<Tiling> WithoutLowBits(Axis axis, int n) const;

  std::array<uint8_t, kAxes> bits_ = {};
  std::array<Columns, kAxes> columns_ = {};
};

class Tiling::Inverse {
 public:
  // For an index below 2^index_bits().
  TilePosition PositionOf(uint32_t index) const;

 private:
  friend class Tiling;
  std::array<TilePosition, kMaxBits> columns_;
};

}  // namespace packsmith::layout

#endif  // PACKSMITH_RUNTIME_LAYOUT_TILING_H_
