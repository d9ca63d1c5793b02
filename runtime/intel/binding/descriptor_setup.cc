#include "runtime/intel/binding/descriptor_setup.h"

#include "absl/strings/str_format.h"
#include "runtime/base/addresses.h"

namespace packsmith::intel {
namespace {

constexpr uint64_t kTexel = 16, kDword = 4;

}  // namespace

absl::Status DescriptorSetup::WriteBuffer(DescriptorType type, uint64_t gpu_address, uint64_t size,
                                          SurfaceDwords& to) const {
  const bool texels = hardware.uniforms_are_texels && !IsWritable(type);
  // Shaders read whole texels or dwords: the last one counts, even if it is incomplete.
  const uint64_t entries =
      texels ? size / kTexel + (size % kTexel != 0) : (size + kDword - 1) & ~(kDword - 1);
  const uint64_t most = texels ? hardware.most_entries : hardware.most_bytes;
  if (bits::rarely(entries == 0 || entries > most)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a buffer of 0x%x bytes; it must have 1 to 0x%x", size, texels ? most * kTexel : most));
  }
  const std::optional<uint64_t> plain = PlainIfAddress(gpu_address, address_bits);
  if (bits::rarely(!plain.has_value())) {
    return absl::InvalidArgumentError(
        absl::StrFormat("0x%x is not an address of %d bits", gpu_address, address_bits));
  }
  hardware.merge_buffer(IsWritable(type) ? storage_state : uniform_state,
                        Canonical(*plain, address_bits), entries, to);
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> DescriptorSetup::SurfaceHandle(uint64_t offset) const {
  if (HasHandle(offset)) return HandleAt(offset);
  return NoHandle(offset);
}

absl::Status DescriptorSetup::NoHandle(uint64_t offset) const {
  if (offset % kSurfaceStateBytes != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a surface state at offset 0x%x; it must be at a multiple of %d", offset,
                        kSurfaceStateBytes));
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("a surface state at 0x%x has no handle: handles count units of %d bytes from "
                      "0x%x, and are at most 0x%x",
                      surface_base + offset, kSurfaceStateBytes, bindless_base,
                      (uint64_t{1} << hardware.surface_index_bits) - 1));
}

absl::StatusOr<DescriptorSetup> MakeDescriptorSetup(const DescriptorHardware& hardware,
                                                    const DescriptorSetupOptions& options) {
  if (static_cast<unsigned>(options.model) >= kDescriptorModels) {
    return absl::InvalidArgumentError("the descriptor model is not one of enum DescriptorModel");
  }
  if (options.address_bits < 32 || options.address_bits > 63) {
    return absl::InvalidArgumentError(
        absl::StrFormat("addresses of %d bits; GPUs have 48 or 57", options.address_bits));
  }
  if (options.surface_base % kSurfaceStateBytes != 0 ||
      options.null_surface % kSurfaceStateBytes != 0 ||
      options.sampler_base % kSamplerStride != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("surfaces from 0x%x on, a null surface at offset 0x%x, samplers from 0x%x "
                        "on: these must be multiples of %d, %d and %d",
                        options.surface_base, options.null_surface, options.sampler_base,
                        kSurfaceStateBytes, kSurfaceStateBytes, kSamplerStride));
  }
  DescriptorSetup setup{.model = options.model,
                        .hardware = hardware,
                        .surface_base = options.surface_base,
                        .bindless_base = options.bindless_base.value_or(options.surface_base),
                        .sampler_base = options.sampler_base,
                        .mocs = options.mocs,
                        .null_surface = options.null_surface,
                        .address_bits = options.address_bits};
  if (absl::Status status = hardware.write_null({.mocs = options.mocs}, setup.null_state);
      !status.ok()) {
    return status;
  }
  const bool texels = hardware.uniforms_are_texels;
  const uint32_t entry = texels ? kTexel : 1;
  absl::Status status = hardware.write_buffer(
      {.size = entry,
       .stride = entry,
       .format = texels ? SurfaceFormat::R32G32B32A32_FLOAT : SurfaceFormat::RAW,
       .mocs = options.mocs},
      setup.uniform_state);
  if (status.ok()) {
    status = hardware.write_buffer({.writable = true, .size = 1, .mocs = options.mocs},
                                   setup.storage_state);
  }
  if (!status.ok()) return status;
  if (options.model != DescriptorModel::kBindingTable && !setup.HasHandle(options.null_surface)) {
    return setup.NoHandle(options.null_surface);
  }
  return setup;
}

}  // namespace packsmith::intel
