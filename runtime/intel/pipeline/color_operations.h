// Draws that clear colours fast or resolve compressed ones: the rectangle that they must cover.
//
//   absl::StatusOr<ColorRectangle> rectangle = PlanColorOperation(
//       {.width = 256, .height = 128, .level_width = 256, .level_height = 128}, Gfx9::kFacts);
//   // 4 x 4 for texels of 4 bytes: each pixel of the draw stands for a block of 64 x 32
//
// Such a draw is one of Topology::kRectangleList, whose corners are the rectangle's, with a
// pipeline that says what it does (PixelTarget::operation) and a pixel shader of SIMD16 that writes
// the colour; the surface state has the auxiliary surface and the clear colour. What the draw
// before it has written must be written back, and the pipeline be empty: a barrier of
// CacheDomain::kRender with `wait` before and after it.
//
// Sources: PRMs, volume "Render Engine", "MCS and CCS Buffers for Render Targets", and Mesa's
// blorp.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_COLOR_OPERATIONS_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_COLOR_OPERATIONS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/intel/binding/surface.h"
#include "runtime/intel/device/generation_facts.h"
#include "runtime/intel/pipeline/stages.h"

namespace packsmith::intel {

struct ColorOperationOptions {
  PixelOperation operation = PixelOperation::kFastClear;  // not kDraw
  uint32_t samples = 1;                                   // of a pixel: 1, 2, 4, 8 or 16
  uint32_t texel_bytes = 4;                               // a power of two, up to 16
  SurfaceTiling tiling = SurfaceTiling::kY;               // from Gfx12.5 on k4
  // Pixels of the level. A rectangle that ends within the level must end between two blocks.
  uint32_t x = 0, y = 0, width = 0, height = 0;
  uint32_t level_width = 0, level_height = 0;
};

// The corners, in pixels of the draw; the second one is outside.
struct ColorRectangle {
  uint32_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;

  friend bool operator==(const ColorRectangle&, const ColorRectangle&) = default;
};

// Unimplemented for a generation whose scale is not known (from Xe2 on), or a tiling, texel size or
// number of samples that is not cleared or resolved in this way; InvalidArgument for a rectangle
// that is empty, is not in the level, or divides a block, which names the block's size.
absl::StatusOr<ColorRectangle> PlanColorOperation(const ColorOperationOptions& options,
                                                  const GenerationFacts& facts);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_COLOR_OPERATIONS_H_
