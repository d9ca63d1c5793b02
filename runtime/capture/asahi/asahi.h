// The mock of Linux's asahi driver, for Apple's GPUs.
//
//   MockKernel kernel;
//   MockDevice& device = kernel.Add(MakeAsahi(kernel, *FindDevice("g13g")->device));
#ifndef PACKSMITH_RUNTIME_CAPTURE_ASAHI_ASAHI_H_
#define PACKSMITH_RUNTIME_CAPTURE_ASAHI_ASAHI_H_

#include <memory>

#include "runtime/capture/drm/kernel.h"

namespace packsmith::capture {

// `info` outlives the kernel; it is one of Apple's (DeviceInfo::apple).
std::unique_ptr<MockDevice> MakeAsahi(MockKernel& kernel, const DeviceInfo& info);
// The same with the interface of Mesa 24, before the driver was merged: programs take one of the
// two alone.
std::unique_ptr<MockDevice> MakeOldAsahi(MockKernel& kernel, const DeviceInfo& info);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_ASAHI_ASAHI_H_
