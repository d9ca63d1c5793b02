// The list of engines that a context is given (I915_CONTEXT_PARAM_ENGINES).
#ifndef PACKSMITH_RUNTIME_CAPTURE_I915_ENGINE_MAP_H_
#define PACKSMITH_RUNTIME_CAPTURE_I915_ENGINE_MAP_H_

#include <cstdint>

#include "runtime/capture/drm/caller.h"
#include "runtime/capture/i915/context.h"
#include "runtime/capture/i915/device.h"

namespace packsmith::capture::i915 {

// The engines that rings' numbers mean in a context without a list: RENDER at 0 and 1, then BSD,
// BLT, VEBOX; the second BSD is the last.
EngineMap RingEngines(const I915Device& device);
inline constexpr uint32_t kSecondBsd = 5;

// Reads the list of `size` bytes at `address` in the caller's memory. 0 or a negative errno.
Result ReadEngineMap(const I915Device& device, const Caller& caller, uint64_t address,
                     uint32_t size, EngineMap& out);

}  // namespace packsmith::capture::i915

#endif  // PACKSMITH_RUNTIME_CAPTURE_I915_ENGINE_MAP_H_
