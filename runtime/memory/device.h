// What the runtime needs from a kernel driver. One implementation for each kernel interface;
// HostDevice needs no kernel.
#ifndef PACKSMITH_RUNTIME_MEMORY_DEVICE_H_
#define PACKSMITH_RUNTIME_MEMORY_DEVICE_H_

#include <string>

#include "runtime/base/lifetime.h"
#include "runtime/memory/device_jobs.h"
#include "runtime/memory/device_memory.h"
#include "runtime/memory/device_sharing.h"

namespace packsmith::gpu {

// Thread-safe. When a call fails, nothing has changed.
class Device : public DeviceMemory, public DeviceJobs, public DeviceSharing {
 public:
  virtual ~Device();

  // The generation whose packets it takes, by the XML's name ("gfx9"): batches of other generations
  // refuse to be written. Empty: not known.
  virtual std::string generation() const;

  // For those that refer to this device.
  Lifetime& lifetime() const { return lifetime_; }

 private:
  mutable Lifetime lifetime_{"device"};
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_DEVICE_H_
