// What all descriptor sets of a device share.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_SETUP_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_SETUP_H_

#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/lifetime.h"
#include "runtime/intel/binding/descriptor_types.h"
#include "runtime/intel/binding/surface.h"

namespace packsmith::intel {

using SurfaceDwords = std::array<uint32_t, kSurfaceStateBytes / 4>;

// Functions and limits of one generation, made by DescriptorHardwareOf() of descriptor_hardware.h.
struct DescriptorHardware {
  // A bindless handle is the index of a surface state from the base, in this many upper bits of a
  // dword.
  unsigned surface_index_bits = 20;
  // Uniform buffers are read by the sampler, in texels of 16 bytes, instead of as bytes.
  bool uniforms_are_texels = false;
  // The largest buffers: in bytes, and in entries for typed ones.
  uint64_t most_bytes = 0, most_entries = 0;
  absl::Status (*write_buffer)(const BufferSurface& surface, SurfaceDwords& to) = nullptr;
  // Makes the state of 1 to most_bytes or most_entries `entries` at a canonical address from
  // one_entry, that of one entry at 0.
  void (*merge_buffer)(const SurfaceDwords& one_entry, uint64_t address, uint64_t entries,
                       SurfaceDwords& to) = nullptr;
  absl::Status (*write_null)(const NullSurface& surface, SurfaceDwords& to) = nullptr;
};

struct DescriptorSetupOptions {
  DescriptorModel model = DescriptorModel::kDirect;
  // GPU addresses that offsets are counted from: of surface states, in binding tables and here; of
  // surface states in handles, if different; and of samplers.
  uint64_t surface_base = 0;
  std::optional<uint64_t> bindless_base = {};
  uint64_t sampler_base = 0;
  uint32_t mocs = 0;  // caching of buffers and of the sets themselves; not 0
  // Where a null surface's state is, from the base of surfaces: for descriptors that are not bound.
  uint32_t null_surface = 0;
  unsigned address_bits = 48;  // AddressSpace::address_bits()
};

struct DescriptorSetup {
  DescriptorModel model = DescriptorModel::kDirect;
  DescriptorHardware hardware = {};
  uint64_t surface_base = 0, bindless_base = 0, sampler_base = 0;
  uint32_t mocs = 0;
  uint32_t null_surface = 0;
  unsigned address_bits = 48;
  SurfaceDwords null_state = {};
  SurfaceDwords uniform_state = {}, storage_state = {};  // of one entry at address 0
  mutable Lifetime life{"descriptor setup"};

  // For those that refer to this setup.
  Lifetime& lifetime() const { return life; }

  // Makes the state of `size` bytes of a buffer for a descriptor of this type (kUniformBuffer for a
  // set's memory, too). InvalidArgument if the hardware cannot have such a buffer.
  absl::Status WriteBuffer(DescriptorType type, uint64_t gpu_address, uint64_t size,
                           SurfaceDwords& to) const;
  // The handle of the surface state at an offset from the base of surfaces. InvalidArgument if
  // there is no such handle.
  absl::StatusOr<uint32_t> SurfaceHandle(uint64_t offset) const;
  absl::Status NoHandle(uint64_t offset) const;
  bool HasHandle(uint64_t offset) const {
    const uint64_t there = surface_base + offset - bindless_base;
    return there % kSurfaceStateBytes == 0 &&
           there / kSurfaceStateBytes >> hardware.surface_index_bits == 0;
  }
  // For an offset that has one.
  uint32_t HandleAt(uint64_t offset) const {
    const uint64_t there = surface_base + offset - bindless_base;
    return static_cast<uint32_t>(there / kSurfaceStateBytes) << (32 - hardware.surface_index_bits);
  }
};

// InvalidArgument if an option is invalid, or a null surface cannot be made.
absl::StatusOr<DescriptorSetup> MakeDescriptorSetup(const DescriptorHardware& hardware,
                                                    const DescriptorSetupOptions& options);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_SETUP_H_
