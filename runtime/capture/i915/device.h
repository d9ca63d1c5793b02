// One GPU that i915 drives.
#ifndef PACKSMITH_RUNTIME_CAPTURE_I915_DEVICE_H_
#define PACKSMITH_RUNTIME_CAPTURE_I915_DEVICE_H_

#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "runtime/capture/drm/kernel.h"
#include "runtime/capture/i915/address_space.h"
#include "runtime/capture/i915/object.h"
#include "runtime/capture/i915/traits.h"

namespace packsmith::capture::i915 {

class I915Device : public MockDevice {
 public:
  I915Device(MockKernel& kernel, const DeviceInfo& info);

  Version version() const override;
  std::shared_ptr<File> MakeFile(uint64_t number, bool render) override;
  std::shared_ptr<Object> MakeObject(uint64_t id, std::shared_ptr<SharedMemory> memory,
                                     uint64_t size) override;

  const Traits& traits() const { return traits_; }
  // Null: the device has no such engine.
  const EngineInfo* FindEngine(uint16_t engine_class, uint16_t instance) const;

  // ---- With the kernel's lock held. ----

  // The page table of the device, in which contexts work that have none of their own.
  const std::shared_ptr<AddressSpace>& global_space() const { return global_space_; }
  // A new address space of a context.
  std::shared_ptr<AddressSpace> MakeSpace() const;
  // What a read of the timestamp's register gives, with all of its bits.
  uint64_t Timestamp() const;

  uint32_t resets = 0;  // of the GPU or one of its engines, since the beginning

 private:
  const Traits traits_;
  std::shared_ptr<AddressSpace> global_space_;
};

}  // namespace packsmith::capture::i915

#endif  // PACKSMITH_RUNTIME_CAPTURE_I915_DEVICE_H_
