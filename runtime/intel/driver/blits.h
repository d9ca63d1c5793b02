// Copies as copy engines make them: rectangles of pixels between two surfaces. No packet is named
// here; emit_blit.h packs a Blit for a generation.
//
//   absl::Status status = PlanCopy(copy, limits, [&](const Blit& blit) { return Emit(blit); });
//   status = PlanFill(fill, limits, [&](const Blit& blit, const FillColor& color) { … });

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_BLITS_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_BLITS_H_

#include <array>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "packsmith/pack.h"
#include "runtime/intel/driver/copies.h"

namespace packsmith::intel {

struct BlitSurface {
  address memory = {};  // a multiple of 64; of 4096 if tiled
  uint32_t pitch = 0;   // bytes from row to row
  SurfaceTiling tiling = SurfaceTiling::kLinear;
  uint32_t x = 0, y = 0;  // pixels
};
struct Blit {
  BlitSurface source, destination;
  uint32_t width = 0, height = 0;  // pixels
  uint32_t pixel = 1;              // bytes: a power of two
};

// What a generation's packet can do.
struct BlitLimits {
  uint32_t most_pixel = 4;              // bytes
  uint32_t most_coordinate = 0x7fff;    // pixels from a surface's first one
  uint32_t most_pitch = 0x7fff;         // bytes of a linear surface
  uint32_t most_tiled_pitch = 0x1fffc;  // bytes of a tiled one
  uint32_t pitch_unit = 4;              // bytes: pitches of linear surfaces are multiples of this
  SurfaceTiling tile = SurfaceTiling::kY;  // besides linear surfaces
  bool takes_x = true;                     // and X tiles
};

using EmitBlitFunction = absl::FunctionRef<bool(const Blit&)>;

// Each calls `emit` for the blits of one copy, in order, until it returns false. OutOfRange: the
// copy is not within its buffer or image, which the message names with its size; Unimplemented: no
// packet copies it, and what does. Nothing was emitted then.
absl::Status PlanCopy(const BufferCopy& copy, const BlitLimits& limits, EmitBlitFunction emit);
absl::Status PlanCopy(const ImageCopy& copy, const BlitLimits& limits, EmitBlitFunction emit);
absl::Status PlanCopy(const BufferImageCopy& copy, const BlitLimits& limits, EmitBlitFunction emit);

// The checks of the first, for copies that other packets make.
absl::Status CheckCopy(const BufferCopy& copy);

// The same for fills: of each Blit the destination and the size count. The color is a pixel of its
// size. InvalidArgument: an offset or size that is not a multiple of 4; Unimplemented: a texel that
// is larger than the packet's pixels, and does not repeat itself.
using FillColor = std::array<uint32_t, 4>;
using EmitFillFunction = absl::FunctionRef<bool(const Blit&, const FillColor&)>;
absl::Status PlanFill(const BufferFill& fill, const BlitLimits& limits, EmitFillFunction emit);
absl::Status PlanFill(const ImageFill& fill, const BlitLimits& limits, EmitFillFunction emit);
absl::Status CheckFill(const BufferFill& fill);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_BLITS_H_
