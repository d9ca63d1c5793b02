// What descriptor sets need to know of one generation.
//
//   #include "runtime/batch/gfx9.h"
//   absl::StatusOr<DescriptorSetup> setup = MakeDescriptorSetup(
//       DescriptorHardwareOf<Gfx9>(), {.model = DescriptorModel::kIndirect, .mocs = 4, ...});

#ifndef PACKSMITH_RUNTIME_BINDING_DESCRIPTOR_HARDWARE_H_
#define PACKSMITH_RUNTIME_BINDING_DESCRIPTOR_HARDWARE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/binding/descriptor_setup.h"
#include "runtime/binding/samplers.h"
#include "runtime/binding/surface_states.h"

namespace packsmith::gpu {

// What no packet's layout says. Handles stand in the extended message descriptor (PRMs, volume
// "3D Media GPGPU", bindless surfaces); uniform buffers are read through the sampler where Mesa's
// compiler does so.
constexpr unsigned SurfaceIndexBits(unsigned version) { return version >= 125 ? 26 : 20; }
constexpr bool UniformsAreTexels(unsigned version) { return version < 120; }

template <class Gen>
DescriptorHardware DescriptorHardwareOf() {
  static_assert(SurfaceState<Gen>::length * 4 == kSurfaceStateBytes);
  static_assert(SamplerState<Gen>::length * 4 == kSamplerStateBytes);
  return {
      .surface_index_bits = SurfaceIndexBits(Gen::kVersion),
      .uniforms_are_texels = UniformsAreTexels(Gen::kVersion),
      .write_buffer = [](const BufferSurface& surface,
                         SurfaceDwords& to) { return WriteSurface<Gen>(surface, to.data()); },
      .write_null = [](const NullSurface& surface,
                       SurfaceDwords& to) { return WriteSurface<Gen>(surface, to.data()); },
  };
}

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_BINDING_DESCRIPTOR_HARDWARE_H_
