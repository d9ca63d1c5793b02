// The values of timelines in memory, for the GPU: a batch stores a value when it gets there, and a
// batch of another engine waits for it, while both run.
//
//   auto values = TimelineMemory::Create(*buffers, {.zone = zone});
//   const absl::StatusOr<TimelineMemory::Place> at = (*values)->PlaceOf(uploads);
//   EmitSignal(copies, EngineKind::kCopy, {at->address, at->buffer}, 1);  // of runtime/intel/batch
//   EmitWait(draws, {at->address, at->buffer}, 1);
//
// A Submitter does not look at it: it orders whole jobs. Callers that submit a batch that waits
// must make sure that the job that it waits for runs at the same time, or before. The buffer is one
// of those that the batch uses, and so a resident of the job.
#ifndef PACKSMITH_RUNTIME_SUBMISSION_TIMELINE_MEMORY_H_
#define PACKSMITH_RUNTIME_SUBMISSION_TIMELINE_MEMORY_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/submission/submitter.h"

namespace packsmith::gpu {

// Thread-safe.
class TimelineMemory {
 public:
  struct Options {
    ZoneId zone = {};  // required
    uint32_t timelines = 512;
  };
  // Values are 0 at first. `buffers` must outlive the result. Errors of Buffers::Create().
  static absl::StatusOr<std::unique_ptr<TimelineMemory>> Create(Buffers& buffers,
                                                                const Options& options);
  // Jobs that use it may still run.
  ~TimelineMemory();
  TimelineMemory(const TimelineMemory&) = delete;
  TimelineMemory& operator=(const TimelineMemory&) = delete;

  // The 8 bytes of a timeline. OutOfRange if it is not one of the first Options::timelines.
  struct Place {
    uint64_t address = 0;  // a multiple of 8
    BufferHandle buffer = 0;
  };
  absl::StatusOr<Place> PlaceOf(TimelineId timeline) const;

  // The value that was stored last. Errors as PlaceOf()'s, and those of flushing.
  absl::StatusOr<uint64_t> Value(TimelineId timeline) const;
  // The CPU stores a value, for batches that wait. Errors as above.
  absl::Status Store(TimelinePoint point);

 private:
  TimelineMemory(Buffers& buffers, const Buffer& memory, uint32_t timelines)
      : buffers_(buffers), memory_(memory), timelines_(timelines) {}
  absl::StatusOr<uint64_t> OffsetOf(TimelineId timeline) const;

  Buffers& buffers_;
  const Buffer memory_;
  const uint32_t timelines_;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_SUBMISSION_TIMELINE_MEMORY_H_
