// What Linux's asahi driver says of a device.
#ifndef PACKSMITH_RUNTIME_KERNEL_ASAHI_INFO_H_
#define PACKSMITH_RUNTIME_KERNEL_ASAHI_INFO_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/kernel/drm/calls.h"
#include "runtime/kernel/drm/properties.h"
#include "runtime/kernel/uapi/asahi.h"

namespace packsmith::gpu {

struct AsahiInfo {
  DeviceProperties properties;  // a slice is a die, its subslices are clusters, their EUs cores
  uapi::asahi::params_global params = {};
  // Addresses that bindings may use: [begin, end). The kernel has those above, to kernel_end.
  uint64_t begin = 0, end = 0, kernel_end = 0;
};

// Unimplemented if the kernel has the interface from before Linux 6.16. DataLoss if the parameters
// are not what the interface says.
absl::StatusOr<AsahiInfo> QueryAsahi(const Calls& calls);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_ASAHI_INFO_H_
