// The mock of Linux's driver i915: Gfx4 to Gfx12.5.
#ifndef PACKSMITH_RUNTIME_CAPTURE_I915_I915_H_
#define PACKSMITH_RUNTIME_CAPTURE_I915_I915_H_

#include <memory>

#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/drm/kernel.h"

namespace packsmith::capture {

// `info` outlives the device; its interface has to be one that i915 drives
// (DeviceInfo::has(KernelDriver::kI915)). Its pci_id is what the driver reports.
std::unique_ptr<MockDevice> MakeI915(MockKernel& kernel, const DeviceInfo& info);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_I915_I915_H_
