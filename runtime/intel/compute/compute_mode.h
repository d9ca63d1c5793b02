// The mode of a context's compute work: STATE_COMPUTE_MODE, from Gfx12.5 on.
//
//   EnableRegisterBlocks<Xe3>(batch);   // once for each context
//
// The packet is not part of a pipeline: it takes effect at once, also for threads that run. So a
// stall precedes it, with what threads have written to the data port (Wa_14015782607; Intel's
// compute-runtime does so on all generations that have the mode).

#ifndef PACKSMITH_RUNTIME_INTEL_COMPUTE_COMPUTE_MODE_H_
#define PACKSMITH_RUNTIME_INTEL_COMPUTE_COMPUTE_MODE_H_

#include <cstddef>

#include "packsmith/pack.h"
#include "runtime/intel/batch/batch.h"

namespace packsmith::intel {

// The dwords that EmitComputeMode() takes.
template <class Gen>
constexpr size_t ComputeModeDwords() {
  return Gen::PipeControl::length + Gen::Packets::STATE_COMPUTE_MODE::length;
}

// Emits the mode, of which only what its masks name changes, after the flush that it needs.
template <class Gen, class Group>
void EmitComputeMode(Group& group, const typename Gen::Packets::STATE_COMPUTE_MODE& mode) {
  typename Gen::PipeControl before{.command_streamer_stall_enable = true};
  if constexpr (requires { before.hdc_pipeline_flush_enable; }) {
    before.hdc_pipeline_flush_enable = true;
  }
  group.Emit(before);
  group.Emit(mode);
}

// On Xe3: threads of all stages have as many registers as their packets and descriptors say, as
// Mesa's anv and Intel's compute-runtime have it in all contexts. On others nothing. False if there
// is no room.
template <class Gen>
bool EnableRegisterBlocks(Batch<Gen>& batch) {
  if constexpr (Gen::kFacts.has_register_blocks) {
    typename Batch<Gen>::Group group(batch, ComputeModeDwords<Gen>());
    EmitComputeMode<Gen>(group, {.enable_variable_register_size_allocation = true,
                                 .enable_variable_register_size_allocation_mask = 1});
    return group.ok();
  } else {
    return batch.status().ok();
  }
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_COMPUTE_COMPUTE_MODE_H_
