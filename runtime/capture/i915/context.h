// Contexts: engines, their queues, an address space, and what hangs did to them.
#ifndef PACKSMITH_RUNTIME_CAPTURE_I915_CONTEXT_H_
#define PACKSMITH_RUNTIME_CAPTURE_I915_CONTEXT_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/drm/kernel.h"
#include "runtime/capture/i915/address_space.h"
#include "runtime/kernel/uapi/i915.h"

namespace packsmith::capture::i915 {

// One of the engines that a context's submissions choose from. Its state in the hardware lives as
// long as the context.
struct ContextEngine {
  // One engine, or several of which the kernel takes any. Empty: there is none.
  std::vector<EngineInfo> engines;
  // More than one: a submission has a batch for each, and all run at the same time.
  unsigned width = 1;
  bool is_virtual = false;
  // For each of `width`; made when they are first needed.
  struct Lane {
    uint64_t queue = 0, context = 0;
    EngineInfo engine;
  };
  std::vector<Lane> lanes;
  // After hangs: submissions fail.
  bool banned = false;
  uapi::i915::gem_context_param_sseu sseu = {};
};

// The engines that submissions of a context choose from: all of the device, by rings' numbers, or
// the context's own, by their places in the list.
struct EngineMap {
  bool own = false;
  std::vector<ContextEngine> engines;
};

struct Context {
  uint32_t id = 0;  // in its file
  std::shared_ptr<AddressSpace> space;
  EngineMap map;
  bool single_timeline = false;
  bool used = false;  // something was submitted to it, or asked of it

  bool bannable = true, recoverable = true, persistent = true, no_error_capture = false;
  bool low_latency = false;
  int priority = 0;

  // Hangs: of its own batches, and of others that took one of its own with them.
  uint32_t guilty = 0, innocent = 0;
  // Whether the last submission of all engines must be done before the next begins.
  std::shared_ptr<Fence> last;
  // When it hung the last two times, in nanoseconds; far in the past if it did not.
  std::array<int64_t, 2> hangs = {INT64_MIN / 2, INT64_MIN / 2};

  // Notes that a batch hung, at that time. Whether the engine may not be used any more.
  bool NoteHang(int64_t now);
  // The lanes of an engine, which exist afterwards.
  std::vector<ContextEngine::Lane>& Lanes(MockKernel& kernel, ContextEngine& engine);
  // Ends what has not begun.
  void Cancel(MockKernel& kernel, Result error);
  // Nobody will submit to it any more.
  void Close(MockKernel& kernel);
};

}  // namespace packsmith::capture::i915

#endif  // PACKSMITH_RUNTIME_CAPTURE_I915_CONTEXT_H_
