// How a context's pixels are spread over its slices and subslices, where these are unequal: made
// once, and emitted by each command buffer that begins a job.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_SLICE_PLAN_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_SLICE_PLAN_H_

#include <cstdint>

#include "absl/types/span.h"

namespace packsmith::intel {

class SlicePlan {
 public:
  virtual ~SlicePlan() = default;
  SlicePlan(const SlicePlan&) = delete;
  SlicePlan& operator=(const SlicePlan&) = delete;

  // What must be in memory, at a multiple of 64 bytes from the dynamic state base. May be empty.
  virtual absl::Span<const uint32_t> table() const = 0;

 protected:
  SlicePlan() = default;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_SLICE_PLAN_H_
