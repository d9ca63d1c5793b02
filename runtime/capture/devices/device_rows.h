// The rows of the table of devices; the functions of device_info.h find them.

#ifndef PACKSMITH_RUNTIME_CAPTURE_DEVICES_DEVICE_ROWS_H_
#define PACKSMITH_RUNTIME_CAPTURE_DEVICES_DEVICE_ROWS_H_

#include "absl/types/span.h"
#include "runtime/capture/devices/device_info.h"

namespace packsmith::capture {

extern const absl::Span<const DeviceInfo> kDeviceRows;

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DEVICES_DEVICE_ROWS_H_
