// The functions and limits of one generation that descriptor sets need.
//
//   #include "runtime/intel/batch/gfx9.h"
//   absl::StatusOr<DescriptorSetup> setup = MakeDescriptorSetup(
//       DescriptorHardwareOf<Gfx9>(), {.model = DescriptorModel::kIndirect, .mocs = 4, ...});

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_HARDWARE_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_HARDWARE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/intel/binding/descriptor_setup.h"
#include "runtime/intel/binding/samplers.h"
#include "runtime/intel/binding/surface_states.h"

namespace packsmith::intel {

// Makes a buffer's surface state from that of one entry at address 0: only what depends on the
// buffer is packed; the rest is the same for all buffers of its kind.
template <class Gen>
void MergeBuffer(const SurfaceDwords& one_entry, uint64_t address, uint64_t entries,
                 SurfaceDwords& to) {
  using S = SurfaceState<Gen>;
  // The values of the variable members in `one_entry`, and of the others those that packing
  // requires.
  static constexpr S kNone = [] {
    S none;
    none.mocs = 1;
    return none;
  }();
  static constexpr auto kPlain = packed(kNone);
  static_assert(!kPlain.status);
  S state = kNone;
  const uint64_t last = entries - 1;
  state.width = bits::cut(last, 0, kEntryBitsInWidth);
  state.height = bits::cut(last, kEntryBitsInWidth, kEntryBitsInHeight);
  state.depth = static_cast<uint32_t>(last >> (kEntryBitsInWidth + kEntryBitsInHeight));
  state.surface_base_address = address;
  // The caller has checked all that varies.
  (void)state.template pack<checks::off>(to.data());
  for (size_t i = 0; i < to.size(); ++i) to[i] ^= kPlain.dw[i] ^ one_entry[i];
}

template <class Gen>
DescriptorHardware DescriptorHardwareOf() {
  static_assert(SurfaceState<Gen>::length * 4 == kSurfaceStateBytes);
  static_assert(SamplerState<Gen>::length * 4 == kSamplerStateBytes);
  return {
      .surface_index_bits = Gen::kFacts.surface_index_bits,
      .uniforms_are_texels = Gen::kFacts.uniforms_are_texels,
      .most_bytes = Gen::kFacts.most_buffer_bytes,
      .most_entries = kMostEntries,
      .write_buffer = [](const BufferSurface& surface,
                         SurfaceDwords& to) { return WriteSurface<Gen>(surface, to.data()); },
      .merge_buffer = MergeBuffer<Gen>,
      .write_null = [](const NullSurface& surface,
                       SurfaceDwords& to) { return WriteSurface<Gen>(surface, to.data()); },
  };
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_HARDWARE_H_
