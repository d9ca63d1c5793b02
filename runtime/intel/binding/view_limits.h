// The largest views of images and buffers, as data, for what a driver reports and for checks before
// a state is written.
//
//   constexpr ViewLimits kLimits = ViewLimitsOf<Gfx9>();
//   properties.limits.maxImageDimension2D = kLimits.size_2d;
//   absl::Status status = CheckView(image, kLimits);    // names the limit that is exceeded
//
// The numbers of descriptors are in descriptor_types.h, those of a table's entries in
// table_limits.h.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_VIEW_LIMITS_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_VIEW_LIMITS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/binding/surface.h"
#include "runtime/intel/binding/surface_states.h"

namespace packsmith::intel {

struct ViewLimits {
  uint32_t size_1d = 0, size_2d = 0;  // texels; size_2d is also that of a cube's sides
  uint32_t size_3d = 0;               // in each of the three directions
  uint32_t layers = 0;                // of all of the image
  uint32_t levels = 0;
  uint32_t samples = 0;
  uint32_t pitch = 0;         // bytes from row to row
  uint64_t buffer_bytes = 0;  // of a buffer of bytes
  uint64_t entries = 0;       // of a buffer with a format
};

// Sources: the fields' widths in the generation's description; for 3D images, whose sides have
// fewer bits than the fields, PRMs, volume "Command Reference: Structures", RENDER_SURFACE_STATE.
template <class Gen>
constexpr ViewLimits ViewLimitsOf() {
  using S = SurfaceState<Gen>;
  constexpr auto kMost = [](MemberBits member) { return uint32_t{1} << member.width; };
  ViewLimits limits;
  limits.size_1d = limits.size_2d = kMost(MemberBitsIn<S>("width"));
  limits.size_3d = kMost(MemberBitsIn<S>("depth"));
  limits.layers = kMostLayers;
  // Down to one texel.
  for (uint32_t size = limits.size_2d; size != 0; size /= 2) ++limits.levels;
  limits.samples = 8;
  if constexpr (requires { S::NUMBER_OF_MULTISAMPLES_MULTISAMPLECOUNT_16; }) limits.samples = 16;
  limits.pitch = kMost(MemberBitsIn<S>("surface_pitch"));
  limits.buffer_bytes = Gen::kFacts.most_buffer_bytes;
  limits.entries = kMostEntries;
  return limits;
}

// InvalidArgument if the image, or what a view shows of it, is larger than a limit. What else is
// wrong with it, DescribeSurface() says.
absl::Status CheckView(const ImageSurface& image, const ViewLimits& limits);
absl::Status CheckView(const BufferSurface& buffer, const ViewLimits& limits);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_VIEW_LIMITS_H_
