// Switches between the two pipelines of a render engine: with the flushes before, and what else a
// generation requires.
//
//   Batch<Gfx9>::Group group(batch, PipelineSelectDwords<Gfx9>());
//   EmitPipelineSelect<Gfx9>(group, Pipeline::kGpgpu);
//
// The relations of PIPELINE_SELECT in the XML say what a switch invalidates. This file has the
// fields of PIPE_CONTROL that it takes; differences between generations are in generation_facts.h.
// If there is nothing to select, the packets before a selection are emitted all the same.

#ifndef PACKSMITH_RUNTIME_INTEL_BATCH_PIPELINE_SELECT_H_
#define PACKSMITH_RUNTIME_INTEL_BATCH_PIPELINE_SELECT_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/intel/batch/batch.h"
#include "runtime/intel/device/generation_facts.h"

namespace packsmith::intel {

// The pipelines of the render engine; compute engines have only the second.
enum class Pipeline : uint8_t { k3D, kGpgpu };

template <class Pipe>
struct PipelineSelectRules {
  std::array<Pipe, 2> flushes = {};  // before the selection, in this order
  size_t flush_count = 0;
  // 3DSTATE_CC_STATE_POINTERS without a valid pointer comes first.
  bool takes_color_calc = false;
  // MEDIA_VFE_STATE comes before the selection. Its values have no effect, and those set before are
  // lost.
  bool takes_media_state = false;
};

template <class Gen>
constexpr PipelineSelectRules<typename Gen::PipeControl> PipelineSelectRulesOf(Pipeline to) {
  using Pipe = typename Gen::PipeControl;
  PipelineSelectRules<Pipe> rules;
  Pipe flush{.command_streamer_stall_enable = true};
  if constexpr (Gen::kFacts.select_forgets) {
    // First everything is written back, then everything invalidated.
    flush.render_target_cache_flush_enable = flush.depth_cache_flush_enable = true;
    flush.dc_flush_enable = true;
    rules.flushes = {flush,
                     {.state_cache_invalidation_enable = true,
                      .constant_cache_invalidation_enable = true,
                      .texture_cache_invalidation_enable = true,
                      .instruction_cache_invalidate_enable = true}};
    rules.flush_count = 2;
    rules.takes_color_calc = Gen::kFacts.select_takes_color_calc && to == Pipeline::kGpgpu;
    rules.takes_media_state = Gen::kFacts.select_takes_media_state && to == Pipeline::k3D;
  } else if constexpr (Gen::kFacts.selects_pipeline) {
    flush.hdc_pipeline_flush_enable = true;
    if (to == Pipeline::kGpgpu) {
      flush.render_target_cache_flush_enable = flush.depth_cache_flush_enable = true;
      flush.depth_stall_enable = Gen::kFacts.wa_1409600907;
    } else if constexpr (requires { flush.untyped_data_port_cache_flush_enable; }) {
      flush.untyped_data_port_cache_flush_enable = true;
    }
    rules.flushes[0] = flush;
    rules.flush_count = 1;
  } else {
    rules.flushes[0] = flush;
    rules.flush_count = 1;
  }
  return rules;
}

// The most dwords that EmitPipelineSelect() takes.
template <class Gen>
constexpr size_t PipelineSelectDwords() {
  using G = typename Gen::Packets;
  size_t dwords = 2 * Gen::PipeControl::length + G::PIPELINE_SELECT::length +
                  G::_3DSTATE_CC_STATE_POINTERS::length;
  if constexpr (requires { typename G::MEDIA_VFE_STATE; }) dwords += G::MEDIA_VFE_STATE::length;
  return dwords;
}

// What must precede a selection, from the other pipeline or from an unknown one.
template <class Gen>
void EmitBeforePipelineSelect(typename Batch<Gen>::Group& group, Pipeline to) {
  using G = typename Gen::Packets;
  static constexpr std::array kRules = {PipelineSelectRulesOf<Gen>(Pipeline::k3D),
                                        PipelineSelectRulesOf<Gen>(Pipeline::kGpgpu)};
  const auto& rules = kRules[static_cast<unsigned>(to)];
  if (rules.takes_color_calc) group.Emit(typename G::_3DSTATE_CC_STATE_POINTERS());
  for (size_t i = 0; i < rules.flush_count; ++i) group.Emit(rules.flushes[i]);
  if constexpr (requires { typename G::MEDIA_VFE_STATE; }) {
    if (rules.takes_media_state) {
      group.Emit(
          typename G::MEDIA_VFE_STATE{.number_of_urb_entries = 2, .urb_entry_allocation_size = 2});
    }
  }
}

// Selects a pipeline, from the other one or from an unknown one. False if the group has been
// refused.
template <class Gen>
bool EmitPipelineSelect(typename Batch<Gen>::Group& group, Pipeline to) {
  using Select = typename Gen::Packets::PIPELINE_SELECT;
  EmitBeforePipelineSelect<Gen>(group, to);
  if constexpr (Gen::kFacts.selects_pipeline) {
    Select select{.pipeline_selection = to == Pipeline::k3D ? Select::PIPELINE_SELECTION_3D
                                                            : Select::PIPELINE_SELECTION_GPGPU};
    // Only the two bits of the selection are written.
    if constexpr (requires { select.mask_bits; }) select.mask_bits = 3;
    group.Emit(select);
  }
  return group.ok();
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BATCH_PIPELINE_SELECT_H_
