#include "runtime/intel/query/perf_reports.h"

#include "absl/strings/str_format.h"

namespace packsmith::intel::perf_errors {

absl::Status BadPlace(uint64_t at) {
  return absl::InvalidArgumentError(absl::StrFormat(
      "a query of performance counters at 0x%x; its address must be a multiple of 64", at));
}

absl::Status BadId(uint32_t id) {
  return absl::InvalidArgumentError(
      absl::StrFormat("a query of performance counters has id 0x%x; it must be below 2^31", id));
}

absl::Status WrongEngine() {
  return absl::FailedPreconditionError(
      "this engine does not report performance counters; the render engine does, from Gfx12.5 on "
      "also compute engines");
}

absl::Status NotAPair(uint64_t begin, uint64_t end, uint32_t id) {
  return absl::DataLossError(absl::StrFormat(
      "reports 0x%x and 0x%x are not those of query 0x%x, which are 0x%x and 0x%x: the memory was "
      "overwritten, or the kernel has not enabled reports of this format",
      begin, end, id, uint64_t{id} << 1, uint64_t{id} << 1 | 1));
}

absl::Status OtherContext(uint64_t begin, uint64_t end) {
  return absl::FailedPreconditionError(
      absl::StrFormat("a query of performance counters began in context 0x%x and ended in 0x%x: "
                      "begin and end it in one context",
                      begin, end));
}

absl::Status NotEnded() {
  return absl::UnavailableError(
      "the query of performance counters has not ended: wait for its job");
}

}  // namespace packsmith::intel::perf_errors
