// The dispatch that runs the kernel which writes draws: pipelines, constants, groups of threads.
//
//   GenerationDispatch<Gfx9> dispatch(device, kernel, states);
//   dispatch.Select(batch, Pipeline::kGpgpu);
//   dispatch.Emit(batch, parameters_address, items);
//   dispatch.Select(batch, Pipeline::k3D);
//
// The context's base addresses must be set: `states` counts from the dynamic state base, from
// Gfx12.5 on from the general state base, and the kernel's entries from the instruction base.

#ifndef PACKSMITH_RUNTIME_INTEL_INDIRECT_GENERATION_DISPATCH_H_
#define PACKSMITH_RUNTIME_INTEL_INDIRECT_GENERATION_DISPATCH_H_

#include <array>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/pipeline_select.h"
#include "runtime/intel/compute/compute_state.h"
#include "runtime/intel/generated_draws/parameters.h"
#include "runtime/intel/indirect/generation_kernel.h"
#include "runtime/memory/state_stream.h"

namespace packsmith::intel {

template <class Gen>
class GenerationDispatch {
 public:
  // `states` must outlive this.
  GenerationDispatch(const ComputeDevice& device, const GenerationKernel& kernel,
                     gpu::StateStream& states)
      : compute_(device, states), parameters_at_(kernel.parameters_at) {
    status_ = CheckGenerationKernel(kernel);
    if (status_.ok() && (!compute_.status().ok() || !compute_.Bind(kernel.kernel) ||
                         !compute_.SetConstants(kernel.constants))) {
      status_ = compute_.status();
    }
  }

  // CheckGenerationKernel(), and errors of ComputeState: the kernel does not fit the device.
  const absl::Status& status() const { return status_; }

  // Other code has dispatched, or emitted packets of the media pipeline: all is emitted again.
  void Forget() { compute_.Forget(); }

  bool Select(Batch<Gen>& batch, Pipeline to) {
    typename Batch<Gen>::Group group(batch, PipelineSelectDwords<Gen>());
    if (to == Pipeline::k3D && Gen::kFacts.select_takes_media_state) Forget();
    return EmitPipelineSelect<Gen>(group, to);
  }
  // In the GPGPU pipeline. parameters: address of a packsmith_generate_draws. False, and the batch
  // has the error, if there is no room or no memory.
  bool Emit(Batch<Gen>& batch, uint64_t parameters, uint32_t items) {
    if (!status_.ok()) return batch.Refuse(status_);
    std::array<uint8_t, sizeof(parameters)> bytes;
    std::memcpy(bytes.data(), &parameters, sizeof(parameters));
    constexpr uint32_t kGroup = PACKSMITH_GENERATE_GROUP;
    const uint32_t groups = items / kGroup + (items % kGroup != 0 ? 1 : 0);
    if (compute_.SetConstants(bytes, parameters_at_) && compute_.Dispatch(batch, {.x = groups})) {
      return true;
    }
    return batch.Refuse(compute_.status());
  }

 private:
  ComputeState<Gen> compute_;
  const uint32_t parameters_at_;
  absl::Status status_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_INDIRECT_GENERATION_DISPATCH_H_
