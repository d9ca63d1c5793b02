// Devices of Linux's GPU drivers: runtime/kernel/open.h opens them, and so do I915Device, XeDevice
// and AsahiDevice.
#ifndef PACKSMITH_RUNTIME_KERNEL_DRM_DRM_DEVICE_H_
#define PACKSMITH_RUNTIME_KERNEL_DRM_DRM_DEVICE_H_

#include "runtime/kernel/drm/properties.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

// Errors of all methods, besides those of Device: what the kernel's refusal means (see
// StatusOfErrno()), with the call that it refused.
class DrmDevice : public Device {
 public:
  // The same at all times.
  virtual const DeviceProperties& properties() const = 0;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_DRM_DRM_DEVICE_H_
