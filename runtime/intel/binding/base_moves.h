// The packets around one that moves a base: waits and write-backs before, invalidations after. This
// file has the fields of PIPE_CONTROL that they take; differences between generations are in
// runtime/intel/device/generation_facts.h.
//
// Sources: PRMs, STATE_BASE_ADDRESS, 3DSTATE_BINDING_TABLE_POOL_ALLOC and PIPE_CONTROL, and
// findings of Mesa's drivers: for example, that invalidating the state cache affects surface states
// and binding tables only together with the texture cache.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_BASE_MOVES_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_BASE_MOVES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "packsmith/pack.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/pipeline_select.h"
#include "runtime/intel/device/generation_facts.h"

namespace packsmith::intel {

enum class BaseKind : uint8_t {
  kSurfaceState,      // STATE_BASE_ADDRESS
  kBindingTablePool,  // 3DSTATE_BINDING_TABLE_POOL_ALLOC
};

template <class Pipe>
struct BaseMoveRules {
  struct Steps {
    std::array<Pipe, 2> pipes = {};
    size_t count = 0;

    constexpr void Add(const Pipe& pipe) { pipes[count++] = pipe; }
  };

  Steps before, after;
  // The move has no effect in this pipeline, and must be done in the other one: Wa_1607854226.
  bool through_3d = false;
};

// forgets_first: for devices whose compute pipeline must also invalidate before the move: ATS-M.
// Ignored if the generation has no such devices (wa_14014427904).
template <class Gen>
constexpr BaseMoveRules<typename Gen::PipeControl> BaseMoveRulesOf(BaseKind kind, Pipeline pipeline,
                                                                   bool forgets_first = false) {
  using Pipe = typename Gen::PipeControl;
  const bool gpgpu = pipeline == Pipeline::kGpgpu;
  constexpr Pipe kStall{.command_streamer_stall_enable = true};
  // When the write is done, all flushes are.
  constexpr Pipe kEnd{.post_sync_operation = Pipe::POST_SYNC_OPERATION_WRITE_IMMEDIATE_DATA,
                      .command_streamer_stall_enable = true};
  BaseMoveRules<Pipe> rules;
  rules.through_3d = Gen::kFacts.wa_1607854226 && gpgpu;
  const auto flush_targets = [](Pipe& pipe) {
    pipe.render_target_cache_flush_enable = pipe.depth_cache_flush_enable = true;
    pipe.depth_stall_enable = Gen::kFacts.wa_1409600907;
  };

  // Moving tables needs no flush of what has been drawn, moving surfaces does.
  Pipe before = kStall;
  if (kind == BaseKind::kSurfaceState) {
    before = kEnd;
    before.dc_flush_enable = true;
    if constexpr (requires { before.hdc_pipeline_flush_enable; }) {
      before.hdc_pipeline_flush_enable = true;
    }
    if constexpr (requires { before.untyped_data_port_cache_flush_enable; }) {
      before.untyped_data_port_cache_flush_enable = true;
    }
    if (!gpgpu || Gen::kFacts.gpgpu_flushes_targets) flush_targets(before);
    if constexpr (Gen::kFacts.wa_14014427904) {
      if (gpgpu && forgets_first) {
        before = kStall;
        before.hdc_pipeline_flush_enable = before.untyped_data_port_cache_flush_enable = true;
        before.texture_cache_invalidation_enable = before.state_cache_invalidation_enable = true;
        before.constant_cache_invalidation_enable = before.instruction_cache_invalidate_enable =
            true;
      }
    }
  }
  Pipe after = kEnd;
  after.texture_cache_invalidation_enable = after.state_cache_invalidation_enable = true;
  if constexpr (Gen::kFacts.wa_14010840176) {
    after.hdc_pipeline_flush_enable = true;
  } else {
    after.constant_cache_invalidation_enable = true;
  }
  after.instruction_cache_invalidate_enable = Gen::kFacts.wa_16013000631;

  // A write must not be in the first packet that waits.
  const bool wait_first = Gen::kFacts.gpgpu_write_needs_stall && gpgpu;
  if (wait_first && before.post_sync_operation != 0) rules.before.Add(kStall);
  rules.before.Add(before);
  if (wait_first) rules.after.Add(kStall);
  rules.after.Add(after);
  return rules;
}

// The most dwords that EmitBaseMove() takes in addition to the packet itself.
template <class Gen>
constexpr size_t BaseMoveDwords() {
  return 4 * Gen::PipeControl::length + 2 * PipelineSelectDwords<Gen>();
}

// One of a move's waits. Moves are rare: a call is better than the same code in many places.
template <class Gen>
[[gnu::cold, gnu::noinline]] void EmitAround(typename Batch<Gen>::Group& group,
                                             typename Gen::PipeControl pipe,
                                             const address& scratch) {
  if (pipe.post_sync_operation != 0) {
    pipe.address = scratch;
    if (scratch.use == access::from_xml) pipe.address.use = access::write;
  }
  group.Emit(pipe);
}

// Emits a packet that moves a base, and those around it. scratch: 8 bytes that are overwritten.
// False if the group has been refused.
template <class Gen, class Packet>
bool EmitBaseMove(typename Batch<Gen>::Group& group, const Packet& packet, BaseKind kind,
                  Pipeline pipeline, const address& scratch, bool forgets_first = false) {
  using Pipe = typename Gen::PipeControl;
  static constexpr auto kRules = [] {
    std::array<std::array<std::array<BaseMoveRules<Pipe>, 2>, 2>, 2> all;
    for (unsigned k = 0; k < 2; ++k) {
      for (unsigned p = 0; p < 2; ++p) {
        for (unsigned f = 0; f < 2; ++f) {
          all[k][p][f] =
              BaseMoveRulesOf<Gen>(static_cast<BaseKind>(k), static_cast<Pipeline>(p), f != 0);
        }
      }
    }
    return all;
  }();
  const BaseMoveRules<Pipe>& rules =
      kRules[static_cast<unsigned>(kind)][static_cast<unsigned>(pipeline)][forgets_first];
  const auto emit = [&](const typename BaseMoveRules<Pipe>::Steps& steps) {
    for (size_t i = 0; i < steps.count; ++i) EmitAround<Gen>(group, steps.pipes[i], scratch);
  };
  // Most generations never switch pipelines, and need no code for it.
  constexpr bool kChangesOver =
      BaseMoveRulesOf<Gen>(BaseKind::kSurfaceState, Pipeline::kGpgpu).through_3d;
  if constexpr (kChangesOver) {
    if (rules.through_3d) EmitPipelineSelect<Gen>(group, Pipeline::k3D);
  }
  emit(rules.before);
  group.Emit(packet);
  emit(rules.after);
  if constexpr (kChangesOver) {
    if (rules.through_3d) EmitPipelineSelect<Gen>(group, Pipeline::kGpgpu);
  }
  return group.ok();
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_BASE_MOVES_H_
