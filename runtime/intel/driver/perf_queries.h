// Performance counters around parts of command buffers.
//
//   const PerfPasses passes = *PlanPerfPasses(wanted);   // runtime/intel/query/perf_passes.h
//   absl::StatusOr<PerfQueries> counters =
//       context.NewPerfQueries({.passes = static_cast<uint32_t>(passes.sets.size())});
//   …                                       // the kernel is told to count passes.sets[pass]
//   commands.queries().Begin(*counters, 0, pass);
//   commands.Draw({.vertices = 3});
//   commands.queries().End(*counters, 0, pass);
//   …                                       // when the job is done
//   absl::StatusOr<PerfDelta> grown = counters->Read(0, pass);
//
// Hardware counts one metric set at a time, which is chosen through the kernel. Counters of several
// sets take several passes: the same work is recorded for each of them, and submitted one after the
// other. Which counters of PerfDelta are what, a metric set says.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_PERF_QUERIES_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_PERF_QUERIES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packsmith/pack.h"
#include "runtime/intel/query/perf_delta.h"
#include "runtime/memory/buffers.h"

namespace packsmith::intel {

struct GenerationDriver;

struct PerfQueryOptions {
  uint32_t count = 1;   // queries
  uint32_t passes = 1;  // of each
};

// A plain value: copies refer to the same memory, which Context::Release() releases. No query has
// ended until it is first used.
class PerfQueries {
 public:
  // For Context::NewPerfQueries(). The queries have the numbers from first_id on.
  PerfQueries(const GenerationDriver& generation, const PerfQueryOptions& options,
              const gpu::Buffer& memory, uint32_t first_id)
      : generation_(&generation), options_(options), memory_(memory), first_id_(first_id) {}

  uint32_t count() const { return options_.count; }
  uint32_t passes() const { return options_.passes; }
  const gpu::Buffer& memory() const { return memory_; }

  // How much the counters of a pass grew. The CPU must see the memory, and what is not coherent
  // must have been invalidated: Buffers::InvalidateForCpu(). Unavailable: the query has not ended;
  // OutOfRange: there is none; errors of ReadPerfQuery() (runtime/intel/query/perf_reports.h).
  absl::StatusOr<PerfDelta> Read(uint32_t query, uint32_t pass = 0) const;

  // For recorders: errors of a query that there is not, its place, and the number of its reports.
  absl::Status Check(uint32_t first, uint32_t count, uint32_t pass) const;
  address At(uint32_t query, uint32_t pass) const;
  uint32_t IdOf(uint32_t query, uint32_t pass) const {
    return first_id_ + query * options_.passes + pass;
  }

 private:
  uint64_t OffsetOf(uint32_t query, uint32_t pass) const;

  const GenerationDriver* generation_;
  PerfQueryOptions options_;
  gpu::Buffer memory_;
  uint32_t first_id_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_PERF_QUERIES_H_
