// What devices do at submissions for PACKSMITH_DEBUG: bat and sync. docs/debug.md.
#ifndef PACKSMITH_RUNTIME_MEMORY_DEBUG_SUBMIT_H_
#define PACKSMITH_RUNTIME_MEMORY_DEBUG_SUBMIT_H_

#include <atomic>
#include <utility>

#include "absl/status/statusor.h"
#include "runtime/base/debug.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

// Shows a job that is about to be submitted. runtime/debug has one, which decodes; without any,
// `bat` says so once. Called by any thread.
using ShowJob = void (*)(Device& device, const Job& job);
inline std::atomic<ShowJob> show_job{nullptr};

namespace debug_internal {
[[gnu::cold, gnu::noinline]] void Show(Device& device, const Job& job);
[[gnu::cold, gnu::noinline]] absl::StatusOr<Fence> Finish(Device& device,
                                                          absl::StatusOr<Fence> fence);
}  // namespace debug_internal

// Before a job is handed to the kernel, without locks.
inline void DebugBeforeSubmit(Device& device, const Job& job) {
  if (DebugOn(DebugSwitch::kBatches)) [[unlikely]] {
    debug_internal::Show(device, job);
  }
}
// What Submit() returns, without locks: with `sync` the job is done, or its failure.
inline absl::StatusOr<Fence> DebugAfterSubmit(Device& device, absl::StatusOr<Fence> fence) {
  if (DebugOn(DebugSwitch::kSync)) [[unlikely]] {
    return debug_internal::Finish(device, std::move(fence));
  }
  return fence;
}

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_DEBUG_SUBMIT_H_
