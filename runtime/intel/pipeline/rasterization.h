// From primitives to pixels, as an API states it: clipping, culling, lines and points, samples.
//
//   absl::Status status = AddRasterization({.cull = CullMode::kBack, .multisample = {.samples =
//   4}},
//                                          {.barycentric = kPerspectivePixel}, pipeline);
//
// raster_packets.h makes packets of it. Names and values are Vulkan's where it has them.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_RASTERIZATION_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_RASTERIZATION_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace packsmith::intel {

enum class PolygonMode : uint8_t { kFill, kLine, kPoint };
enum class CullMode : uint8_t { kNone, kFront, kBack, kFrontAndBack };
enum class FrontFace : uint8_t { kCounterClockwise, kClockwise };
// The vertex of a primitive whose values flat inputs have: the first one in Vulkan and Direct3D,
// the last one in OpenGL.
enum class ProvokingVertex : uint8_t { kFirst, kLast };
// What becomes fragments: the topology's, or the last geometry stage's, before the polygon mode.
enum class RasterPrimitive : uint8_t { kPoints, kLines, kTriangles };
// kDefault: as in OpenGL, rectangles if there are several samples, else Bresenham's.
enum class LineMode : uint8_t { kDefault, kRectangular, kBresenham, kSmooth };
// The range of clip space that depth has: Vulkan's and Direct3D's, or OpenGL's.
enum class DepthRange : uint8_t { kZeroToOne, kMinusOneToOne };

struct DepthBias {
  bool fill = false, line = false, point = false;  // of polygons in these modes
  // In the smallest steps of the depth format. (Drivers of OpenGL double its units.)
  float constant = 0;
  float slope = 0;
  float clamp = 0;  // 0: none
};

// Where samples are in a pixel: sixteenths from its upper left corner, 0 to 15.
struct SampleLocation {
  uint8_t x = 8, y = 8;
};

struct Multisample {
  uint32_t samples = 1;                 // a power of two, to 16 (Gfx8: 8)
  uint32_t sample_mask = 0xffff;        // samples that are written
  bool pixel_center_at_corner = false;  // pixels' coordinates are integers: old Direct3D
};

// Planes that clip and cull, a bit each. What is not forced, the last geometry stage's packet
// decides.
struct RasterClipDistances {
  uint8_t clip = 0, cull = 0;
  bool clip_forced = false, cull_forced = false;
};

struct Rasterization {
  RasterPrimitive primitive = RasterPrimitive::kTriangles;
  PolygonMode front_mode = PolygonMode::kFill, back_mode = PolygonMode::kFill;
  CullMode cull = CullMode::kNone;
  FrontFace front_face = FrontFace::kCounterClockwise;
  ProvokingVertex provoking_vertex = ProvokingVertex::kFirst;
  // Nothing is rasterized. (3DSTATE_STREAMOUT has a switch of its own, for all stages after it.)
  bool discard = false;
  // Primitives are clipped at the near and far planes; otherwise depth is clamped there. Gfx8 has
  // one switch for both.
  bool clip_near = true, clip_far = true;
  DepthRange depth_range = DepthRange::kZeroToOne;
  DepthBias depth_bias = {};
  RasterClipDistances clip_distances = {};
  bool scissor = true;  // otherwise only the viewport limits
  LineMode line_mode = LineMode::kDefault;
  float line_width = 1;  // pixels
  // Gfx8: that platform has line widths in another place. Command buffers' pipelines set it.
  bool cherryview = false;
  bool last_line_pixel = false;
  bool line_stipple = false;     // with the pattern of SetLineStipple()
  bool polygon_stipple = false;  // with the pattern of SetPolygonStipple()
  // 0: the last geometry stage writes it. Otherwise pixels, 0.125 to 255.875.
  float point_size = 0;
  bool smooth_points = false;
  bool point_origin_upper_right = true;  // which pixels a point of OpenGL and Direct3D covers
  bool conservative = false;             // overestimates; from Gfx9 on
  uint32_t viewports = 1;                // 1 to 16
  bool layered = false;                  // the last geometry stage selects a layer
  bool statistics = true;
  // 3DSTATE_SF from Gfx12 on: the value of DereferenceOf() (runtime/intel/state/urb.h).
  uint32_t dereference = 0;
  Multisample multisample = {};
};

// Bits of barycentric coordinates that a pixel shader receives.
inline constexpr uint32_t kPerspectivePixel = 1, kPerspectiveCentroid = 2, kPerspectiveSample = 4,
                          kLinearPixel = 8, kLinearCentroid = 16, kLinearSample = 32;

// When depth and stencil are tested. kAutomatic: before the shader if nothing observes the
// difference.
enum class TestOrder : uint8_t { kAutomatic, kBeforeShader, kShaderRunsAlways };
enum class PositionInterpolation : uint8_t { kPixel, kCentroid, kSample };

// What the fixed functions must know of a pixel shader.
struct PixelTraits {
  uint32_t barycentric = 0;
  TestOrder tests = TestOrder::kAutomatic;
  PositionInterpolation position = PositionInterpolation::kPixel;  // of its depth and w
  bool force_dispatch = false;  // it runs although it writes no target
  bool writes_color = true;
  bool dual_source = false;  // it writes a second colour for blending
};

struct LineStipple {
  uint16_t pattern = 0xffff;  // from the lowest bit on; 1: drawn
  uint32_t factor = 1;        // pixels a bit, 1 to 256
};

// The locations that APIs prescribe: of 1, 2, 4, 8 or 16 samples. Empty for other numbers. Source:
// Vulkan, "Standard sample locations".
absl::Span<const SampleLocation> StandardSampleLocations(uint32_t samples);

// The locations of each number of samples, for 3DSTATE_SAMPLE_PATTERN.
struct SamplePattern {
  std::array<SampleLocation, 1> one = {};
  std::array<SampleLocation, 2> two = {};
  std::array<SampleLocation, 4> four = {};
  std::array<SampleLocation, 8> eight = {};
  std::array<SampleLocation, 16> sixteen = {};
};
SamplePattern StandardSamplePattern();

namespace raster_errors {
absl::Status Samples(uint32_t samples, uint32_t most);
absl::Status Viewports(uint32_t viewports);
absl::Status NoConservative(const char* generation);
absl::Status ClipPlanes(const char* generation);
absl::Status LineWidth(float width, float most);
absl::Status PointSize(float size);
absl::Status NotANumber(const char* what);
absl::Status StippleFactor(uint32_t factor);
absl::Status Location(uint32_t samples, size_t index, const SampleLocation& location);
}  // namespace raster_errors

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_RASTERIZATION_H_
