// Viewports and scissors, and what hardware derives from them.
//
//   const Viewport viewports[] = {{.width = 1920, .height = 1080}};
//   absl::Status status = SetViewports(viewports, {.width = 1920, .height = 1080}, dynamic, batch,
//                                      state);   // viewport_packets.h
//
// A viewport maps clip space to pixels. Beyond it is the guardband: primitives that leave the
// viewport, but not the guardband, are not clipped, since pixels outside of the target are
// discarded anyhow. It is limited by what the rasterizer can count.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_VIEWPORT_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_VIEWPORT_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/intel/pipeline/rasterization.h"

namespace packsmith::intel {

inline constexpr size_t kMostViewports = 16;

// As in Vulkan: a negative height turns the image upside down.
struct Viewport {
  float x = 0, y = 0, width = 0, height = 0;  // pixels
  float min_depth = 0, max_depth = 1;         // in any order
};

struct Scissor {
  uint32_t x = 0, y = 0, width = 0, height = 0;  // pixels; empty: nothing is drawn
};

// What viewports depend on besides themselves.
struct ViewportTarget {
  uint32_t width = 1, height = 1;  // pixels of the targets: 1 to 16384
  DepthRange depth_range = DepthRange::kZeroToOne;
  // Those of the rasterization. Where primitives are not clipped, depth is clamped to the
  // viewport's range, otherwise to 0 to 1.
  bool clip_near = true, clip_far = true;
};

// A viewport as hardware takes it.
struct ViewportTransform {
  // pixel = scale * normalized coordinate + offset
  float scale[3] = {}, offset[3] = {};
  // The guardband in normalized coordinates: the least and the most.
  float guardband_x[2] = {}, guardband_y[2] = {};
  // Pixels of the viewport that the target has, the last ones included. Empty: the most is less
  // than the least.
  float x[2] = {}, y[2] = {};
  float depth[2] = {};  // the range to which depth is clamped
};

// The rasterizer counts pixels this far from the centre of what is drawn.
inline constexpr float kGuardband = 16384;

// InvalidArgument for values that are not finite, a width that is not greater than 0, a height of
// 0, sides longer than 16384, and corners beyond -32768 and 32767.
absl::Status TransformViewport(const Viewport& viewport, const ViewportTarget& target,
                               ViewportTransform& transform);

// The first and the last pixel; an empty rectangle has none: its last one is before its first one.
struct ScissorLimits {
  uint32_t x_min = 1, y_min = 1, x_max = 0, y_max = 0;
};
ScissorLimits LimitScissor(const Scissor& scissor, const ViewportTarget& target);

namespace viewport_errors {
absl::Status Count(const char* what, size_t count);
}  // namespace viewport_errors

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_VIEWPORT_H_
