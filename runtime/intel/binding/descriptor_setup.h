// What all of a device's descriptor sets have in common.

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

// One generation's. DescriptorHardwareOf() of descriptor_hardware.h makes them.
struct DescriptorHardware {
  // A bindless handle is the number of a surface state, counted from the base in units of their
  // size, in the upper bits of a dword: so many.
  unsigned surface_index_bits = 20;
  // Uniform buffers are read by the sampler, in texels of 16 bytes, or as bytes.
  bool uniforms_are_texels = false;
  // The largest buffers: of bytes, and entries of others.
  uint64_t most_bytes = 0, most_entries = 0;
  absl::Status (*write_buffer)(const BufferSurface& surface, SurfaceDwords& to) = nullptr;
  // The state of `entries`, 1 up to what is the most, at a canonical address, where one_entry is
  // that of one at 0.
  void (*merge_buffer)(const SurfaceDwords& one_entry, uint64_t address, uint64_t entries,
                       SurfaceDwords& to) = nullptr;
  absl::Status (*write_null)(const NullSurface& surface, SurfaceDwords& to) = nullptr;
};

struct DescriptorSetupOptions {
  DescriptorModel model = DescriptorModel::kDirect;
  // GPU addresses that offsets are counted from: of surface states, in binding tables and here; of
  // those that handles name, if that is another one; and of samplers.
  uint64_t surface_base = 0;
  std::optional<uint64_t> bindless_base = {};
  uint64_t sampler_base = 0;
  uint32_t mocs = 0;  // caching of buffers and of the sets themselves; not 0
  // Where a null surface's state lies, from the base of surfaces: for what is not bound.
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

  // The state of `size` bytes of a buffer, as a descriptor of this type (or, as kUniformBuffer, a
  // set's memory) is read. InvalidArgument if hardware knows no such buffer.
  absl::Status WriteBuffer(DescriptorType type, uint64_t gpu_address, uint64_t size,
                           SurfaceDwords& to) const;
  // The handle of the surface state at an offset from the base of surfaces. InvalidArgument if no
  // handle can say it.
  absl::StatusOr<uint32_t> SurfaceHandle(uint64_t offset) const;
  absl::Status NoHandle(uint64_t offset) const;
  bool HasHandle(uint64_t offset) const {
    const uint64_t there = surface_base + offset - bindless_base;
    return there % kSurfaceStateBytes == 0 &&
           there / kSurfaceStateBytes >> hardware.surface_index_bits == 0;
  }
  // Of an offset that has one.
  uint32_t HandleAt(uint64_t offset) const {
    const uint64_t there = surface_base + offset - bindless_base;
    return static_cast<uint32_t>(there / kSurfaceStateBytes) << (32 - hardware.surface_index_bits);
  }
};

// InvalidArgument if a null surface cannot be made of the options.
absl::StatusOr<DescriptorSetup> MakeDescriptorSetup(const DescriptorHardware& hardware,
                                                    const DescriptorSetupOptions& options);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_SETUP_H_
