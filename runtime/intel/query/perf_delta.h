// How much performance counters grew between two reports. No packets: perf_reports.h has those.

#ifndef PACKSMITH_RUNTIME_INTEL_QUERY_PERF_DELTA_H_
#define PACKSMITH_RUNTIME_INTEL_QUERY_PERF_DELTA_H_

#include <array>
#include <cstdint>

namespace packsmith::intel {

// Queries have numbers below this.
inline constexpr uint64_t kPerfQueryNumbers = uint64_t{1} << 31;

// How much each counter grew.
struct PerfDelta {
  uint64_t ticks = 0;   // of timestamps: before Xe2 modulo 2^32
  uint64_t clocks = 0;  // of the GPU: before Xe2 modulo 2^32
  // What the metric set assigns: `a` has 36 counters before Xe2, the first 32 of them modulo 2^40,
  // and 64 from then on, when there are no others.
  std::array<uint64_t, 64> a = {};
  std::array<uint32_t, 8> b = {}, c = {};
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_QUERY_PERF_DELTA_H_
