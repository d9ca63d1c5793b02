// The mock of Linux's xe driver, for Gfx12 and later.
//
//   MockKernel kernel;
//   MockDevice& device = kernel.Add(MakeXe(kernel, *FindDevice("lnl")->device));
#ifndef PACKSMITH_RUNTIME_CAPTURE_XE_XE_H_
#define PACKSMITH_RUNTIME_CAPTURE_XE_XE_H_

#include <memory>

#include "runtime/capture/drm/kernel.h"

namespace packsmith::capture {

// `info` outlives the kernel; it has the driver (DeviceInfo::has(KernelDriver::kXe)).
std::unique_ptr<MockDevice> MakeXe(MockKernel& kernel, const DeviceInfo& info);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_XE_XE_H_
