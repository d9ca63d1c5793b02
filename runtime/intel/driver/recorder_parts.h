// What the parts of a command buffer record to.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_RECORDER_PARTS_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_RECORDER_PARTS_H_

#include "runtime/intel/batch/batch.h"
#include "runtime/intel/binding/binder.h"
#include "runtime/intel/compute/compute_state.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/recording.h"
#include "runtime/intel/state/draw_state.h"

namespace packsmith::intel {

template <class Gen>
struct RecorderParts {
  Context& context;
  Recording& recording;
  Batch<Gen>& batch;
  Binder<Gen>& binder;
  DrawState<Gen>& state;
  ComputeState<Gen>& compute;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_RECORDER_PARTS_H_
