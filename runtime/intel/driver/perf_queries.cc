#include "runtime/intel/driver/perf_queries.h"

#include "absl/strings/str_format.h"
#include "runtime/intel/driver/generation_driver.h"

namespace packsmith::intel {

absl::Status PerfQueries::Check(uint32_t first, uint32_t count, uint32_t pass) const {
  if (first > options_.count || count > options_.count - first) {
    return absl::OutOfRangeError(
        absl::StrFormat("queries %d to %d of performance counters; there are %d", first,
                        uint64_t{first} + count - 1, options_.count));
  }
  if (pass >= options_.passes) {
    return absl::OutOfRangeError(absl::StrFormat(
        "pass %d of queries of performance counters; they have %d: PerfQueryOptions::passes", pass,
        options_.passes));
  }
  return absl::OkStatus();
}

uint64_t PerfQueries::OffsetOf(uint32_t query, uint32_t pass) const {
  return (uint64_t{query} * options_.passes + pass) * generation_->perf_query_bytes;
}

address PerfQueries::At(uint32_t query, uint32_t pass) const {
  return {memory_.address + OffsetOf(query, pass), memory_.handle};
}

absl::StatusOr<PerfDelta> PerfQueries::Read(uint32_t query, uint32_t pass) const {
  if (absl::Status status = Check(query, 1, pass); !status.ok()) return status;
  return generation_->read_perf_query(memory_.cpu + OffsetOf(query, pass), IdOf(query, pass));
}

}  // namespace packsmith::intel
