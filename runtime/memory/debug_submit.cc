#include "runtime/memory/debug_submit.h"

#include <cstdio>

#include "absl/time/time.h"

namespace packsmith::gpu::debug_internal {

void Show(Device& device, const Job& job) {
  if (const ShowJob show = show_job.load(std::memory_order_acquire); show != nullptr) {
    show(device, job);
    return;
  }
  static std::atomic<bool> said{false};
  if (said.exchange(true, std::memory_order_relaxed)) return;
  std::fputs(
      "PACKSMITH_DEBUG=bat: the program has no decoder; link //runtime/debug, and call "
      "ShowJobsOnStderr()\n",
      stderr);
}

absl::StatusOr<Fence> Finish(Device& device, absl::StatusOr<Fence> fence) {
  if (!fence.ok()) return fence;
  const absl::StatusOr<bool> done = device.Wait(*fence, absl::InfiniteDuration());
  if (!done.ok()) return done.status();
  return fence;
}

}  // namespace packsmith::gpu::debug_internal
