// The same of one generation: runtime/intel/state/slice_hashing.h.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_SLICE_PLAN_OF_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_SLICE_PLAN_OF_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/intel/driver/slice_plan.h"
#include "runtime/intel/state/slice_hashing.h"

namespace packsmith::intel {

template <class Gen>
class SlicePlanOf final : public SlicePlan {
 public:
  // Errors of PlanSliceHashing().
  static absl::StatusOr<std::unique_ptr<SlicePlan>> New(const PixelPipes& pipes) {
    const absl::StatusOr<SliceHashing<Gen>> hashing = PlanSliceHashing<Gen>(pipes);
    if (!hashing.ok()) return hashing.status();
    return std::unique_ptr<SlicePlan>(new SlicePlanOf(*hashing));
  }

  absl::Span<const uint32_t> table() const override {
    return hashing_.has_table ? absl::MakeConstSpan(hashing_.table) : absl::Span<const uint32_t>();
  }
  const SliceHashing<Gen>& hashing() const { return hashing_; }

 private:
  explicit SlicePlanOf(const SliceHashing<Gen>& hashing) : hashing_(hashing) {}

  const SliceHashing<Gen> hashing_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_SLICE_PLAN_OF_H_
