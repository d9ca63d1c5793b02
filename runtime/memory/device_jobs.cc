#include "runtime/memory/device_jobs.h"

namespace packsmith::gpu {

absl::StatusOr<uint32_t> DeviceJobs::CreateContext(const ContextOptions& /*options*/) {
  return absl::UnimplementedError("the device has no contexts");
}

absl::Status DeviceJobs::DestroyContext(uint32_t /*context*/) {
  return absl::UnimplementedError("the device has no contexts");
}

absl::StatusOr<ContextState> DeviceJobs::StateOf(uint32_t /*space*/, uint32_t /*context*/) {
  return ContextState::kGood;
}

}  // namespace packsmith::gpu
