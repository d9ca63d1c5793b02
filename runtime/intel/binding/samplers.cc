#include "runtime/intel/binding/samplers.h"

#include "absl/strings/str_format.h"

namespace packsmith::intel::sampler_errors {

absl::Status Anisotropy(uint32_t anisotropy) {
  return absl::InvalidArgumentError(
      absl::StrFormat("a sampler's anisotropy is %d; it must be 1 to 16", anisotropy));
}

absl::Status NoReduction(const char* generation) {
  return absl::InvalidArgumentError(
      absl::StrFormat("samplers of %s compute averages only, not minima or maxima", generation));
}

absl::Status NotANumber() {
  return absl::InvalidArgumentError("a sampler's level of detail is not a number");
}

}  // namespace packsmith::intel::sampler_errors
