// Timelines of the kernel's, which other processes and devices share: 64-bit values that only grow,
// and that jobs and the CPU signal and wait for. (Those of runtime/submission are this process's;
// their jobs may wait for values that no job has promised.)
//
//   KernelTimelines* timelines = *device.timelines();
//   KernelTimeline theirs = *timelines->Import(fd);     // that they got from Export()
//   const KernelPoint drawn[] = {{theirs, 7}}, shown[] = {{theirs, 8}};
//   absl::StatusOr<bool> promised = timelines->Wait(drawn[0], KernelTimelines::kPromised, timeout);
//   auto fence = device.Submit({…, .waits = drawn, .signals = shown});
#ifndef PACKSMITH_RUNTIME_MEMORY_KERNEL_TIMELINES_H_
#define PACKSMITH_RUNTIME_MEMORY_KERNEL_TIMELINES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/unique_fd.h"

namespace packsmith::gpu {

// A device's name of a timeline. 0 is none.
enum class KernelTimeline : uint32_t {};

struct KernelPoint {
  KernelTimeline timeline = {};
  uint64_t value = 0;  // from 1 up
};

// Thread-safe. When a call fails, nothing has changed. NotFound for timelines that do not exist.
class KernelTimelines {
 public:
  virtual ~KernelTimelines() = default;

  // Begins at 0.
  virtual absl::StatusOr<KernelTimeline> Create() = 0;
  // Others that share it keep it, and so do jobs that were submitted.
  virtual absl::Status Destroy(KernelTimeline timeline) = 0;
  // For other processes and devices; and another's timeline, whose descriptor the caller keeps.
  // Importing it again returns another name.
  virtual absl::StatusOr<UniqueFd> Export(KernelTimeline timeline) = 0;
  virtual absl::StatusOr<KernelTimeline> Import(int fd) = 0;

  // The highest value that has been reached.
  virtual absl::StatusOr<uint64_t> Value(KernelTimeline timeline) = 0;
  // The CPU signals a value: it is reached when those that were promised before are.
  // InvalidArgument unless it is above all that were promised.
  virtual absl::Status Signal(KernelPoint point) = 0;
  enum Until : uint8_t {
    kPromised,  // a job that signals it, or a higher value, was submitted; or it was reached
    kReached,
  };
  // Whether the value was promised, or reached, before the timeout; zero polls. It need not have
  // been promised before the call.
  virtual absl::StatusOr<bool> Wait(KernelPoint point, Until until, absl::Duration timeout) = 0;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_KERNEL_TIMELINES_H_
