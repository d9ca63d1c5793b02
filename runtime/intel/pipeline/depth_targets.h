// Depth and stencil buffers, and operations on hierarchical depth, as a driver states them.
//
//   const ImageSurface depth{.memory = …, .format = SurfaceFormat::R32_FLOAT, .mocs = mocs,
//                            .width = 256, .height = 128, .tiling = SurfaceTiling::kY,
//                            .pitch = 1024, .qpitch = 128};
//   absl::Status status = SetDepthTargets({.depth = &depth, .mocs = mocs}, state);
//   status = EmitDepthOperation({.operation = DepthOperation::kClear, .clear_depth = true,
//                                .width = 256, .height = 128}, scratch, batch);
//
// depth_packets.h makes packets of it. Images are those of surface.h: `purpose`, `swizzle` and
// `auxiliary.clear_color` do not matter here.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_DEPTH_TARGETS_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_DEPTH_TARGETS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "packsmith/pack.h"
#include "runtime/intel/binding/surface.h"

namespace packsmith::intel {

// Blocks of 8 x 4 samples: whether they are clear, and their least and greatest depth.
struct HierarchicalDepth {
  address memory = {};  // 0: there is none
  uint32_t pitch = 0;   // bytes from row to row
  uint32_t qpitch = 0;  // rows from slice to slice: a multiple of 4
  // Gfx12 and later: the depth buffer is also written, so that the sampler can read it.
  bool write_through = false;
};

struct DepthTargets {
  // The format is R32_FLOAT, R24_UNORM_X8_TYPELESS or R16_UNORM. 2D and cubes; on Gfx8 3D, too.
  // Compressed from Gfx12 on: `auxiliary.mode` is kCcsE, and from Gfx12.5 on
  // `auxiliary.compression_format` has the manual's code.
  const ImageSurface* depth = nullptr;
  // R8_UINT; up to Gfx11 its tiling is kW, and its pitch twice the distance of rows. Its size must
  // be that of `depth`.
  const ImageSurface* stencil = nullptr;
  HierarchicalDepth hierarchical = {};
  float clear_depth = 0;  // up to Gfx12.5: the depth of clear blocks
  uint32_t mocs = 0;      // of what is missing; not 0
};

// What 3DSTATE_WM_HZ_OP does.
enum class DepthOperation : uint8_t {
  kClear,                // depth, stencil or both
  kResolveDepth,         // clear and compressed blocks become ordinary depth
  kResolveHierarchical,  // makes blocks of ordinary depth
};

struct DepthOperationOptions {
  DepthOperation operation = DepthOperation::kClear;
  bool clear_depth = false, clear_stencil = false;  // kClear
  uint8_t stencil_value = 0;
  // From Xe2 on; earlier generations have it in DepthTargets.
  float depth_value = 0;
  uint32_t samples = 1;
  // Pixels, of the level: all of it, or corners at multiples of a block (8 x 4 pixels of one
  // sample) or at the level's edges.
  uint32_t x = 0, y = 0, width = 0, height = 0;
  uint32_t level_width = 0, level_height = 0;  // 0: width and height
};

// The rectangle that is operated on, and whether it is all of the level. InvalidArgument for
// rectangles that are empty, outside the level, not aligned or beyond 16384 pixels, for numbers
// of samples that are not a power of two up to `most_samples`, and for a clear of nothing.
struct DepthRectangle {
  uint32_t x_min = 0, y_min = 0, x_max = 0, y_max = 0;  // the last ones not included
  bool whole = false;
};
absl::Status CheckDepthOperation(const DepthOperationOptions& options, uint32_t most_samples,
                                 DepthRectangle& rectangle);

namespace depth_errors {
absl::Status Format(const char* what, uint32_t format);
absl::Status Tiling(const char* what, SurfaceTiling tiling, const char* generation);
absl::Status Shape(const char* what, const char* generation);
absl::Status Layers(const char* what, uint32_t first, uint32_t count);
absl::Status NotMultipleOf4(const char* what, uint32_t value);
absl::Status Zero(const char* what, const char* value);
absl::Status SizesDiffer(const ImageSurface& depth, const ImageSurface& stencil);
absl::Status NoDepth();
absl::Status NoCompression(const char* what, const char* generation);
}  // namespace depth_errors

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_DEPTH_TARGETS_H_
