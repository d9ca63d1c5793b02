// Divides the third-level cache: ways for the URB, for shared local memory, for the rest.
//
//   absl::StatusOr<L3Partition> l3 = ChooseL3(device, {.urb = 1, .all = 1});
//   unsigned kb = UrbKbOf(device, *l3);
//   Batch<Gfx9>::Group group(batch, L3Dwords<Gfx9>());
//   EmitL3<Gfx9>(group, *l3);
//
// Only some divisions are known to work: a table for each generation. From DG1 on the hardware uses
// all ways for everything; from Xe2 on software cannot choose.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_L3_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_L3_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/device/render_devices.h"

namespace packsmith::intel {

// Ways of each bank. `all`: for every use without ways of its own.
struct L3Partition {
  unsigned slm = 0, urb = 0, all = 0, data = 0, read_only = 0;
  // The hardware uses all ways for everything.
  bool full = false;

  unsigned total() const { return slm + urb + all + data + read_only; }
  friend bool operator==(const L3Partition&, const L3Partition&) = default;
};

// The wanted share of each use, in any unit.
struct L3Weights {
  double slm = 0, urb = 0, all = 0, data = 0, read_only = 0;
};

// The partitions that a device may have, the usual one for drawing first. Empty: there is no
// choice, and nothing to emit.
absl::Span<const L3Partition> L3Partitions(const RenderDevice& device);

// The partition whose shares are closest to the weights, of those that have ways for every non-zero
// weight. (Data and read-only data may use `all`; from Gfx11 on local memory is elsewhere, and its
// weight is ignored.) InvalidArgument: weights that are negative, not finite, or all zero.
// NotFound: no partition has ways for all.
absl::StatusOr<L3Partition> ChooseL3(const RenderDevice& device, const L3Weights& weights);

// The URB's part of it: KB of a slice.
unsigned UrbKbOf(const RenderDevice& device, const L3Partition& partition);

// -- The packets ---------------------------------------------------------------------------------

// The most dwords that EmitL3() takes.
template <class Gen>
constexpr size_t L3Dwords() {
  return 3 * Gen::PipeControl::length + Gen::LoadRegisterConstant::length;
}

// Drains the pipeline, and emits a partition; from Gfx11 on, only at the beginning of a context.
// Emits nothing if there is no such register. False if the group has been refused, or if the
// partition does not fit the register: then nothing is emitted.
template <class Gen>
bool EmitL3(typename Batch<Gen>::Group& group, const L3Partition& partition) {
  using G = typename Gen::Packets;
  using Pipe = typename Gen::PipeControl;
  const auto load = [&]<class Register>(const Register& values, const auto&... before) {
    static_assert(Register::length == 1);
    uint32_t dword = 0;
    if (values.pack(&dword)) return false;
    group.Emit(before..., typename Gen::LoadRegisterConstant{
                              .register_offset_ = Register::register_offset, .data_dword = dword});
    return group.ok();
  };
  if constexpr (requires { typename G::L3ALLOC; }) {
    return load(typename G::L3ALLOC{.urb_allocation = partition.urb,
                                    .l3_full_way_allocation_enable = partition.full,
                                    .ro_allocation = partition.read_only,
                                    .dc_allocation = partition.data,
                                    .all_allocation = partition.full ? 0 : partition.all});
  } else if constexpr (Gen::kFacts.l3_changes_between_draws) {
    // Wait, invalidate, wait.
    constexpr Pipe kDrain{.dc_flush_enable = true, .command_streamer_stall_enable = true};
    constexpr Pipe kForget{.state_cache_invalidation_enable = true,
                           .constant_cache_invalidation_enable = true,
                           .texture_cache_invalidation_enable = true,
                           .instruction_cache_invalidate_enable = true};
    return load(typename G::L3CNTLREG{.slm_enable = partition.slm != 0,
                                      .urb_allocation = partition.urb,
                                      .ro_allocation = partition.read_only,
                                      .dc_allocation = partition.data,
                                      .all_allocation = partition.all},
                kDrain, kForget, kDrain);
  } else if constexpr (requires { typename G::L3CNTLREG; }) {
    return load(typename G::L3CNTLREG{.urb_allocation = partition.urb,
                                      .error_detection_behavior_control = true,  // Wa_1406697149
                                      .use_full_ways = true,
                                      .ro_allocation = partition.read_only,
                                      .dc_allocation = partition.data,
                                      .all_allocation = partition.all});
  } else {
    return group.ok();
  }
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_L3_H_
