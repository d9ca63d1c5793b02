// The time as a GPU counts it: what its TIMESTAMP register reads, and what calls of the kernel that
// report it return. Both must agree.
#ifndef PACKSMITH_RUNTIME_CAPTURE_DEVICES_GPU_CLOCK_H_
#define PACKSMITH_RUNTIME_CAPTURE_DEVICES_GPU_CLOCK_H_

#include <cstdint>

#include "absl/numeric/int128.h"
#include "runtime/capture/devices/device_info.h"

namespace packsmith::capture {

// The ticks of a device's clock, in the bits that count. `nanoseconds`: CLOCK_MONOTONIC, not
// negative.
inline uint64_t GpuTicks(const DeviceInfo& device, int64_t nanoseconds) {
  const absl::uint128 ticks =
      absl::uint128(static_cast<uint64_t>(nanoseconds)) * device.timestamp_hz / 1'000'000'000;
  const uint64_t low = absl::Uint128Low64(ticks);
  return device.timestamp_bits == 0 || device.timestamp_bits >= 64
             ? low
             : low & ((uint64_t{1} << device.timestamp_bits) - 1);
}

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DEVICES_GPU_CLOCK_H_
