#include "runtime/intel/state/multiview.h"

#include <limits>

#include "absl/strings/str_format.h"

namespace packsmith::intel {
namespace {

absl::StatusOr<uint32_t> Multiply(const MultiviewPlan& plan, uint32_t value, const char* what) {
  const uint64_t product = uint64_t{value} * plan.instance_multiplier();
  if (product <= std::numeric_limits<uint32_t>::max()) return static_cast<uint32_t>(product);
  return absl::OutOfRangeError(
      absl::StrFormat("%s %d for each of %d views is more than 32 bits hold: split the draw", what,
                      value, plan.views));
}

}  // namespace

absl::StatusOr<MultiviewPlan> PlanMultiview(const MultiviewOptions& options, bool can_replicate) {
  if (options.view_mask >> kMostViews != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("view mask 0x%x has view %d; there may be views 0 to %d", options.view_mask,
                        31 - __builtin_clz(options.view_mask), kMostViews - 1));
  }
  if (options.most_replicated > kMostViews) {
    return absl::InvalidArgumentError(
        absl::StrFormat("replication of up to %d views; hardware replicates at most %d",
                        options.most_replicated, kMostViews));
  }
  MultiviewPlan plan;
  if (options.view_mask == 0) return plan;
  plan.views = 0;
  for (uint32_t view = 0; view < kMostViews; ++view) {
    if ((options.view_mask >> view & 1) != 0)
      plan.layers[plan.views++] = static_cast<uint8_t>(view);
  }
  const bool replicates = can_replicate && options.only_positions_differ && plan.views > 1 &&
                          plan.views <= options.most_replicated;
  plan.method = replicates ? MultiviewMethod::kReplication : MultiviewMethod::kInstances;
  return plan;
}

absl::StatusOr<uint32_t> InstancesOf(const MultiviewPlan& plan, uint32_t instances) {
  return Multiply(plan, instances, "instances:");
}

absl::StatusOr<uint32_t> DivisorOf(const MultiviewPlan& plan, uint32_t divisor) {
  return Multiply(plan, divisor, "a step rate of");
}

}  // namespace packsmith::intel
