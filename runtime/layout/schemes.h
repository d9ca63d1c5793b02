// The rules of each family of layouts. For layout.cc only.
#ifndef PACKSMITH_RUNTIME_LAYOUT_SCHEMES_H_
#define PACKSMITH_RUNTIME_LAYOUT_SCHEMES_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "runtime/layout/layout.h"

namespace packsmith::layout {

// Each fills in a geometry. The rules for all images were checked before: there is a format,
// nothing is zero, there are no more levels than halvings.
absl::Status LayOutAgxLinear(const ImageDescription& image, Layout::Geometry& geometry);
absl::Status LayOutAgxTwiddled(const ImageDescription& image, Layout::Geometry& geometry);
absl::Status LayOutAgxCompressed(const ImageDescription& image, Layout::Geometry& geometry);
absl::Status LayOutUInterleaved(const ImageDescription& image, Layout::Geometry& geometry);
absl::Status LayOutIntel(const ImageDescription& image, Layout::Geometry& geometry);

// For an image of an Intel scheme, with elements that its tiles can hold.
Tiling IntelTiling(const ImageDescription& image);

// Of AGX's metadata: an index within its level, both sizes in words of 16x16 samples.
uint64_t AgxMetadataIndex(uint32_t width_tl, uint32_t height_tl, uint32_t x_tl, uint32_t y_tl);
// Samples in x and y that a pixel has.
struct SampleGrid {
  uint32_t x, y;
};
SampleGrid AgxSampleGrid(uint32_t samples);

inline uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }
inline uint32_t DivideUp(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit; }
// The same for a unit of 2^n.
inline uint64_t ShiftUp(uint64_t value, int n) { return (value + (uint64_t{1} << n) - 1) >> n; }
// The size of a level, at least 1.
inline uint32_t Minify(uint32_t size, uint32_t level) { return std::max(size >> level, 1u); }
inline bool IsPowerOfTwo(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }
// The least n with value <= 2^n.
inline int CeilLog2(uint32_t value) { return value <= 1 ? 0 : 32 - __builtin_clz(value - 1); }
inline uint32_t NextPowerOfTwo(uint32_t value) { return uint32_t{1} << CeilLog2(value); }

// The number of levels down to a single pixel. The depth of a 3D image counts too.
uint32_t FullChain(const ImageDescription& image);

absl::Status BrokenRule(absl::string_view rule);

}  // namespace packsmith::layout

#endif  // PACKSMITH_RUNTIME_LAYOUT_SCHEMES_H_
