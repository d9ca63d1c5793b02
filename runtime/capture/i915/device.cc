#include "runtime/capture/i915/device.h"

#include <utility>

#include "runtime/capture/devices/gpu_clock.h"
#include "runtime/capture/drm/fence.h"
#include "runtime/capture/i915/file.h"
#include "runtime/capture/i915/i915.h"

namespace packsmith::capture {
namespace i915 {

I915Device::I915Device(MockKernel& kernel, const DeviceInfo& info)
    : MockDevice(kernel, info),
      traits_(info),
      global_space_(std::make_shared<AddressSpace>(info.ggtt_bytes, /*global=*/true)) {}

MockDevice::Version I915Device::version() const {
  return {.name = "i915",
          .major = 1,
          .minor = 6,
          .patch = 0,
          .date = "20230929",
          .description = "Intel Graphics"};
}

std::shared_ptr<File> I915Device::MakeFile(uint64_t number, bool render) {
  return std::make_shared<I915File>(*this, number, render);
}

std::shared_ptr<Object> I915Device::MakeObject(uint64_t id, std::shared_ptr<SharedMemory> memory,
                                               uint64_t size) {
  auto object = std::make_shared<I915Object>(*this, id, std::move(memory), size);
  if (info().llc) object->caching = uapi::i915::kCachingCached;
  return object;
}

const EngineInfo* I915Device::FindEngine(uint16_t engine_class, uint16_t instance) const {
  for (const EngineInfo& engine : info().engines) {
    if (static_cast<uint16_t>(engine.engine_class) == engine_class && engine.instance == instance) {
      return &engine;
    }
  }
  return nullptr;
}

std::shared_ptr<AddressSpace> I915Device::MakeSpace() const {
  return std::make_shared<AddressSpace>(uint64_t{1} << info().ppgtt_bits, /*global=*/false);
}

uint64_t I915Device::Timestamp() const { return GpuTicks(info(), MonotonicNow()); }

}  // namespace i915

std::unique_ptr<MockDevice> MakeI915(MockKernel& kernel, const DeviceInfo& info) {
  return std::make_unique<i915::I915Device>(kernel, info);
}

}  // namespace packsmith::capture
