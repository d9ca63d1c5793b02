// A generation's packets and fields for compute work: the names of their values, as the XML has
// them, by the numbers that they stand for. For compute_state.h and media_state.h.

#ifndef PACKSMITH_RUNTIME_INTEL_COMPUTE_COMPUTE_FIELDS_H_
#define PACKSMITH_RUNTIME_INTEL_COMPUTE_COMPUTE_FIELDS_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/compute/dispatch_shape.h"
#include "runtime/intel/device/generation_facts.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/device/shared_memory_sizes.h"

namespace packsmith::intel {

// What both pipelines have: sizes of shared local memory, samplers, entries of binding tables.
template <class Gen>
struct DescriptorFields {
  using Descriptor = typename Gen::Packets::INTERFACE_DESCRIPTOR_DATA;

  static constexpr auto kShared = SharedMemorySizes<Descriptor>();
  static_assert(kShared.back().size >= Gen::kFacts.most_shared_bytes);
  static constexpr uint32_t SharedCode(uint32_t bytes) { return CodeOf(kShared, bytes); }

  // Samplers are prefetched in fours, at most 16.
  static constexpr uint32_t SamplerCode(uint32_t samplers) {
    return (std::min(samplers, 16u) + 3) / 4;
  }
  // As many as the field holds.
  static constexpr uint32_t BindingEntries(uint32_t entries) {
    constexpr unsigned kWidth = MemberBitsIn<Descriptor>("binding_table_entry_count").width;
    return std::min(entries, (1u << kWidth) - 1);
  }
  static constexpr uint32_t kMostThreads =
      (1u << MemberBitsIn<Descriptor>("number_of_threads_in_gpgpu_thread_group").width) - 1;

  static constexpr ComputeLimits CommonLimits() {
    return {.generation = Gen::kName,
            .shared_bytes = Gen::kFacts.most_shared_bytes,
            .register_bytes = Gen::kFacts.register_bytes};
  }
};

// From Gfx12.5 on.
template <class Gen>
struct ComputeFields : DescriptorFields<Gen> {
  static constexpr bool kMedia = false;
  using G = typename Gen::Packets;
  using Front = typename G::CFE_STATE;
  using Walker = typename G::COMPUTE_WALKER;
  using Body = typename G::COMPUTE_WALKER_BODY;
  using Descriptor = typename G::INTERFACE_DESCRIPTOR_DATA;
  static constexpr size_t kMediaDwords = 0;
  static constexpr bool kHasSimd8 = requires { Body::SIMD_SIZE_SIMD8; };

  // By the index of a KernelEntry.
  static constexpr auto kSimd = [] {
    if constexpr (kHasSimd8) {
      return std::array{Body::SIMD_SIZE_SIMD8, Body::SIMD_SIZE_SIMD16, Body::SIMD_SIZE_SIMD32};
    } else {
      return std::array{0u, Body::SIMD_SIZE_SIMT16, Body::SIMD_SIZE_SIMT32};
    }
  }();
  static constexpr auto kMessage = [] {
    if constexpr (kHasSimd8) {
      return std::array{Body::MESSAGE_SIMD_SIMD8, Body::MESSAGE_SIMD_SIMD16,
                        Body::MESSAGE_SIMD_SIMD32};
    } else {
      return std::array{0u, Body::MESSAGE_SIMD_SIMT16, Body::MESSAGE_SIMD_SIMT32};
    }
  }();
  static constexpr uint32_t SimdCode(unsigned entry) { return kSimd[entry]; }
  static constexpr uint32_t MessageCode(unsigned entry) { return kMessage[entry]; }
  static constexpr uint32_t LocalCode(uint32_t components) {
    constexpr std::array kCodes = {Body::EMIT_LOCAL_EMIT_NONE, Body::EMIT_LOCAL_EMIT_X,
                                   Body::EMIT_LOCAL_EMIT_XY, Body::EMIT_LOCAL_EMIT_XYZ};
    return kCodes[components];
  }
  // WalkOrder is this field's.
  static_assert(Body::WALK_ORDER_WALK_012 == static_cast<uint32_t>(WalkOrder::kXyz) &&
                Body::WALK_ORDER_WALK_021 == static_cast<uint32_t>(WalkOrder::kXzy) &&
                Body::WALK_ORDER_WALK_102 == static_cast<uint32_t>(WalkOrder::kYxz) &&
                Body::WALK_ORDER_WALK_120 == static_cast<uint32_t>(WalkOrder::kYzx) &&
                Body::WALK_ORDER_WALK_201 == static_cast<uint32_t>(WalkOrder::kZxy) &&
                Body::WALK_ORDER_WALK_210 == static_cast<uint32_t>(WalkOrder::kZyx));

  static constexpr CodedSize kBarriers[] = {
      {0, Descriptor::NUMBER_OF_BARRIERS_NONE}, {1, Descriptor::NUMBER_OF_BARRIERS_B1},
      {2, Descriptor::NUMBER_OF_BARRIERS_B2},   {4, Descriptor::NUMBER_OF_BARRIERS_B4},
      {8, Descriptor::NUMBER_OF_BARRIERS_B8},   {16, Descriptor::NUMBER_OF_BARRIERS_B16},
      {24, Descriptor::NUMBER_OF_BARRIERS_B24}, {32, Descriptor::NUMBER_OF_BARRIERS_B32}};
  static constexpr uint32_t BarrierCode(uint32_t barriers) { return CodeOf(kBarriers, barriers); }

  // Threads of all kernels have as many registers as STATE_COMPUTE_MODE says: 128 or 256. Otherwise
  // (GenerationFacts::has_register_blocks) descriptors say it.
  static constexpr bool kRegisterMode =
      !Gen::kFacts.has_register_blocks && requires(typename G::STATE_COMPUTE_MODE mode) {
    mode.large_grf_mode;
  };
  static constexpr uint32_t RegisterCode(uint32_t registers) requires(
      Gen::kFacts.has_register_blocks) {
    constexpr CodedSize kRegisters[] = {{32, Descriptor::REGISTERS_PER_THREAD_REGISTERS_32},
                                        {64, Descriptor::REGISTERS_PER_THREAD_REGISTERS_64},
                                        {96, Descriptor::REGISTERS_PER_THREAD_REGISTERS_96},
                                        {128, Descriptor::REGISTERS_PER_THREAD_REGISTERS_128},
                                        {160, Descriptor::REGISTERS_PER_THREAD_REGISTERS_160},
                                        {192, Descriptor::REGISTERS_PER_THREAD_REGISTERS_192},
                                        {256, Descriptor::REGISTERS_PER_THREAD_REGISTERS_256}};
    return CodeOf(kRegisters, registers);
  }

  // Asks for as much local memory as the groups need that run side by side. On Gfx12.5 0 is all
  // that there is, and later nothing (compute-runtime, PREFERRED_SLM_ALLOCATION_SIZE).
  static constexpr void PreferShared(Descriptor& d, uint32_t bytes, uint32_t groups) {
    if constexpr (!std::is_same_v<decltype(d.preferred_slm_allocation_size), uint32_t>) {
      using Size = typename G::PREF_SLM_ALLOCATION_SIZE;
      constexpr std::pair<uint32_t, Size> kSizes[] = {
          {0, Size::SLM_ENCODES_0K},     {16, Size::SLM_ENCODES_16K},
          {32, Size::SLM_ENCODES_32K},   {64, Size::SLM_ENCODES_64K},
          {96, Size::SLM_ENCODES_96K},   {128, Size::SLM_ENCODES_128K},
          {160, Size::SLM_ENCODES_160K}, {192, Size::SLM_ENCODES_192K},
          {224, Size::SLM_ENCODES_224K}, {256, Size::SLM_ENCODES_256K},
          {384, Size::SLM_ENCODES_384K}};
      const uint64_t needed = uint64_t{bytes} * std::max(groups, 1u);
      d.preferred_slm_allocation_size = Size::SLM_ENCODES_384K;
      for (const auto& [kib, size] : kSizes) {
        if (needed <= uint64_t{kib} * 1024) {
          d.preferred_slm_allocation_size = size;
          break;
        }
      }
    }
  }

  static constexpr ComputeLimits LimitsOf(const RenderDevice& device) {
    ComputeLimits limits = DescriptorFields<Gen>::CommonLimits();
    limits.first_width = kHasSimd8 ? 0 : 1;
    limits.threads = std::min(device.threads.compute, DescriptorFields<Gen>::kMostThreads);
    limits.local_size = 1u << MemberBitsIn<Body>("local_x_maximum").width;
    limits.barriers = std::end(kBarriers)[-1].size;
    limits.inline_bytes = sizeof(Body::inline_data);
    limits.register_blocks = Gen::kFacts.has_register_blocks;
    if (kRegisterMode || limits.register_blocks) limits.most_registers = 256;
    limits.hardware_local_ids = true;
    limits.number_in_header = true;
    return limits;
  }
};

// Up to Gfx12.
template <class Gen>
requires requires { typename Gen::Packets::GPGPU_WALKER; }
struct ComputeFields<Gen> : DescriptorFields<Gen> {
  static constexpr bool kMedia = true;
  static constexpr bool kRegisterMode = false;
  using G = typename Gen::Packets;
  using Front = typename G::MEDIA_VFE_STATE;
  using Walker = typename G::GPGPU_WALKER;
  static constexpr size_t kMediaDwords = G::MEDIA_CURBE_LOAD::length +
                                         G::MEDIA_INTERFACE_DESCRIPTOR_LOAD::length +
                                         G::MEDIA_STATE_FLUSH::length;

  static constexpr uint32_t SimdCode(unsigned entry) {
    constexpr std::array kCodes = {Walker::SIMD_SIZE_SIMD8, Walker::SIMD_SIZE_SIMD16,
                                   Walker::SIMD_SIZE_SIMD32};
    return kCodes[entry];
  }
  static constexpr bool ScratchFits(uint32_t per_thread) {
    return std::has_single_bit(per_thread) && per_thread >= kLeastScratch &&
           per_thread <= kMostScratch;
  }

  static constexpr ComputeLimits LimitsOf(const RenderDevice& device) {
    ComputeLimits limits = DescriptorFields<Gen>::CommonLimits();
    // The threads of a group are counted in one dimension.
    constexpr uint32_t kCounted = 1u << MemberBitsIn<Walker>("thread_width_counter_maximum").width;
    limits.threads =
        std::min({device.threads.compute, kCounted, DescriptorFields<Gen>::kMostThreads});
    limits.barriers = 1;
    return limits;
  }
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_COMPUTE_COMPUTE_FIELDS_H_
