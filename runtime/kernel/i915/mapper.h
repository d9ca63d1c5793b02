// How the CPU sees objects of i915.
#ifndef PACKSMITH_RUNTIME_KERNEL_I915_MAPPER_H_
#define PACKSMITH_RUNTIME_KERNEL_I915_MAPPER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/kernel/drm/calls.h"
#include "runtime/kernel/i915/capabilities.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu::i915 {

enum class MapMode : uint8_t {
  kCached,  // write-back
  kWriteCombined,
  kUncached,
  kFixed,     // as the memory was created; on discrete GPUs the only one
  kAperture,  // through the global page table: tiled memory in rows
};

// Thread-safe.
class Mapper {
 public:
  Mapper(const Calls& calls, const Capabilities& capabilities)
      : calls_(calls), capabilities_(capabilities) {}

  // The mode that Device::Map() has for a memory.
  MapMode ModeOf(Heap heap, uint8_t use) const;
  // The offset for mmap(). Unimplemented if the device does not have the mode. Of kernels without
  // MMAP_OFFSET, for kAperture only.
  absl::StatusOr<uint64_t> OffsetOf(uint32_t handle, MapMode mode) const;
  // All of an object, to be unmapped by Calls::Unmap().
  absl::StatusOr<absl::Span<uint8_t>> Map(uint32_t handle, uint64_t size, MapMode mode) const;

 private:
  const Calls& calls_;
  const Capabilities& capabilities_;
};

}  // namespace packsmith::gpu::i915

#endif  // PACKSMITH_RUNTIME_KERNEL_I915_MAPPER_H_
