// How often work must be repeated until all wanted performance counters were seen.
//
//   const std::vector<PerfCounterSets> wanted = {{"GpuTime", {1, 2}}, {"EuActive", {2}}};
//   absl::StatusOr<PerfPasses> passes = PlanPerfPasses(wanted);   // one pass: set 2
//
// Hardware counts one metric set at a time; each has some counters, and common ones are in many.

#ifndef PACKSMITH_RUNTIME_INTEL_QUERY_PERF_PASSES_H_
#define PACKSMITH_RUNTIME_INTEL_QUERY_PERF_PASSES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace packsmith::intel {

// A metric set: the kernel's number of it.
using MetricSet = uint64_t;

// A counter that is wanted, and the metric sets that have it.
struct PerfCounterSets {
  std::string name;  // for messages
  std::vector<MetricSet> sets;
};

struct PerfPasses {
  std::vector<MetricSet> sets;    // one a pass
  std::vector<uint32_t> pass_of;  // of each wanted counter: an index into `sets`
  // No plan has fewer passes. False only if finding that out would have taken too long: beyond
  // about 40 counters with several sets each.
  bool least = true;
};

// InvalidArgument for a counter that no set has. No counters need no passes.
absl::StatusOr<PerfPasses> PlanPerfPasses(absl::Span<const PerfCounterSets> wanted);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_QUERY_PERF_PASSES_H_
