// Copies between an image in a GPU's layout and linear memory: rows of elements.
#ifndef PACKSMITH_RUNTIME_LAYOUT_COPY_H_
#define PACKSMITH_RUNTIME_LAYOUT_COPY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/layout/copy_program.h"
#include "runtime/layout/layout.h"

namespace packsmith::layout {

// A rectangle of one level of one layer.
struct Region {
  uint32_t level = 0, layer = 0;
  // One sample of each pixel; if not set, all samples, which are next to each other in linear
  // memory too.
  std::optional<uint32_t> sample;
  uint32_t x_el = 0, y_el = 0, w_el = 0, h_el = 0;
};

Region WholeLevel(const Layout& layout, uint32_t level, uint32_t layer);

// A rectangle given in pixels: its corner must be the corner of a block, its end is rounded up to
// the end of a block.
absl::StatusOr<Region> RegionOfPixels(const Layout& layout, uint32_t level, uint32_t layer,
                                      uint32_t x_px, uint32_t y_px, uint32_t w_px, uint32_t h_px);

// Runs tasks 0 to `tasks` - 1, in any order, concurrently if possible, and returns when all are
// done. Tasks write to different rows.
using Executor = absl::FunctionRef<void(size_t tasks, absl::FunctionRef<void(size_t task)> run)>;

// How to copy one region of one layout. A plan is made once and may run many times, in many
// threads. Running does not allocate.
//
// No byte outside the region is read or written, neither of the image nor of the linear memory, so
// that different regions of an image may be copied at the same time.
class CopyPlan {
 public:
  // OutOfRange: the region is not in the image.
  static absl::StatusOr<CopyPlan> Make(const Layout& layout, const Region& region);

  // Bytes of a row of the region in linear memory, without padding between rows.
  uint64_t linear_row_B() const { return uint64_t{region_.w_el} * element_B_; }
  // Bytes that linear memory needs if its rows are `stride_B` apart.
  uint64_t linear_size_B(uint64_t stride_B) const {
    return region_.h_el == 0 ? 0 : (region_.h_el - 1) * stride_B + linear_row_B();
  }

  // `image` is the whole image, of size_B() bytes or more; `linear` begins at the region's first
  // element. Large copies write past the cache if they can: for that, linear memory must be aligned
  // to 16 bytes where it is written, and the image always. An image aligned to 64 is fastest.
  //
  // InvalidArgument: one of the two is too small, or rows would overlap.
  absl::Status CopyIn(absl::Span<const uint8_t> linear, uint64_t linear_stride_B,
                      absl::Span<uint8_t> image) const;
  absl::Status CopyIn(absl::Span<const uint8_t> linear, uint64_t linear_stride_B,
                      absl::Span<uint8_t> image, Executor executor) const;
  absl::Status CopyOut(absl::Span<const uint8_t> image, absl::Span<uint8_t> linear,
                       uint64_t linear_stride_B) const;
  absl::Status CopyOut(absl::Span<const uint8_t> image, absl::Span<uint8_t> linear,
                       uint64_t linear_stride_B, Executor executor) const;

 private:
  // Widest and highest tile of all, in elements.
  static constexpr int kMaxTileSide_el = 512;
  static constexpr uint32_t kMaxSamples = 16;

  // The place of a sample relative to the first one.
  struct SamplePlace {
    uint64_t offset_B;
    uint32_t index;  // XOR it to that of an element
  };

  CopyPlan() = default;

  // Whether the copy is so large that it should bypass the cache.
  bool IsLarge() const;

  template <bool kIn>
  absl::Status Check(uint64_t image_size_B, uint64_t linear_size_B, uint64_t stride_B) const;
  // Copies the rows from y_begin to y_end of the region: of one sample, or of all.
  template <bool kIn>
  void CopySample(const Placement& placement, uint32_t y_begin, uint32_t y_end, uint8_t* image,
                  uint8_t* linear, uint64_t stride_B) const;
  template <bool kIn>
  void CopyRows(uint32_t y_begin, uint32_t y_end, uint8_t* image, uint8_t* linear,
                uint64_t stride_B) const;
  template <bool kIn>
  void CopyInBands(uint8_t* image, uint8_t* linear, uint64_t stride_B, Executor executor) const;

  Region region_;  // as places in the level's tiles
  uint64_t image_size_B_ = 0;
  uint32_t element_B_ = 0;  // with all samples that are copied
  // Samples that are copied one after the other, since they are not next to each other.
  uint32_t samples_ = 1;
  std::array<SamplePlace, kMaxSamples> sample_places_;
  bool rows_are_linear_ = false;
  Placement placement_;  // of the first sample; its tables are `x_index_` and `y_index_`
  std::array<uint16_t, kMaxTileSide_el> x_index_, y_index_;
  CopyProgram program_;
};

// The same copy, one element after the other, each at Layout::AddressOf(). A reference for regions
// and their place in memory; fast copies are tested against it. Errors as above.
absl::Status CopyInByElement(const Layout& layout, const Region& region,
                             absl::Span<const uint8_t> linear, uint64_t linear_stride_B,
                             absl::Span<uint8_t> image);
absl::Status CopyOutByElement(const Layout& layout, const Region& region,
                              absl::Span<const uint8_t> image, absl::Span<uint8_t> linear,
                              uint64_t linear_stride_B);

}  // namespace packsmith::layout

#endif  // PACKSMITH_RUNTIME_LAYOUT_COPY_H_
