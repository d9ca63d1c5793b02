#include "runtime/capture/devices/gpu_clock.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace packsmith::capture {
namespace {

TEST(GpuClock, CountsInTheDevicesFrequency) {
  const DeviceInfo info{.timestamp_hz = 19'200'000, .timestamp_bits = 36};
  EXPECT_EQ(GpuTicks(info, 0), 0u);
  EXPECT_EQ(GpuTicks(info, 1'000'000'000), 19'200'000u);
  // A tick is 52.08 ns.
  EXPECT_EQ(GpuTicks(info, 52), 0u);
  EXPECT_EQ(GpuTicks(info, 53), 1u);
}

TEST(GpuClock, WrapsWhereTheDeviceDoes) {
  const DeviceInfo info{.timestamp_hz = 1'000'000'000, .timestamp_bits = 32};
  EXPECT_EQ(GpuTicks(info, (int64_t{1} << 32) + 5), 5u);
  const DeviceInfo whole{.timestamp_hz = 1'000'000'000, .timestamp_bits = 64};
  EXPECT_EQ(GpuTicks(whole, (int64_t{1} << 32) + 5), (uint64_t{1} << 32) + 5);
}

TEST(GpuClock, IsExactAfterYears) {
  const DeviceInfo info{.timestamp_hz = 19'200'000, .timestamp_bits = 64};
  constexpr int64_t kSeconds = int64_t{10} * 365 * 24 * 3600;
  EXPECT_EQ(GpuTicks(info, kSeconds * 1'000'000'000), uint64_t{kSeconds} * 19'200'000);
}

}  // namespace
}  // namespace packsmith::capture
