// Queues of jobs, ordered by timelines: 64-bit values that only grow, and that jobs and the CPU
// signal and wait for. A job may wait for a value that has not been promised yet.
//
//   auto submitter = Submitter::Create(*device, {});
//   const QueueId render = submitter->AddQueue({.engine = "render"});
//   const QueueId copy = submitter->AddQueue({.engine = "copy"});
//   const TimelineId uploads = submitter->AddTimeline();
//
//   // May come before the job that it waits for.
//   const TimelinePoint waits[] = {{uploads, 1}};
//   auto drawn = submitter->Submit(render, {.batch_address = …, .residents = …, .waits = waits});
//   auto copied = submitter->Submit(copy, {…, .signals = waits});
//   absl::StatusOr<bool> done = submitter->Wait(*drawn, absl::Seconds(1));
//
// Kernels take a job only when the fences that it waits for exist. Until then the job is held here,
// with those that follow it in its queue; the call that promises the value, from whatever thread,
// hands them over. Options::thread has a thread of its own do this.

#ifndef PACKSMITH_RUNTIME_SUBMISSION_SUBMITTER_H_
#define PACKSMITH_RUNTIME_SUBMISSION_SUBMITTER_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/base/lifetime.h"
#include "runtime/base/mutex.h"
#include "runtime/memory/device.h"
#include "runtime/submission/timeline.h"

namespace packsmith::gpu {

enum class QueueId : uint32_t {};

struct TimelinePoint {
  TimelineId timeline = {};
  uint64_t value = 0;
};

struct QueueOptions {
  std::string engine = "render";
  uint32_t space = 0;
  uint32_t context = 0;

  friend bool operator==(const QueueOptions&, const QueueOptions&) = default;
};

// A Job whose space, context and engine are its queue's. What the spans refer to is copied if the
// job is held.
struct QueueJob {
  uint64_t batch_address = 0;
  uint64_t batch_length = 0;
  absl::Span<const Resident> residents = {};
  absl::Span<const Fence> after = {};
  absl::Span<const JobBase> bases = {};
  absl::Span<const Relocation> relocations = {};
  absl::Span<const TimelinePoint> waits = {};    // begins when all have been reached
  absl::Span<const TimelinePoint> signals = {};  // reached when the job is done
  // Hands this job to the device, instead of Options::submit: for devices that need to know more of
  // a job, as AsahiDevice::SubmitRender(). The Job is valid during the call. It must not call the
  // Submitter.
  std::function<absl::StatusOr<Fence>(const Job&)> submit = {};
  // Called once when the device has taken the job, on the thread that hands it over, which may be
  // in Submit(): for Buffers::Use(). It must not call the Submitter.
  std::function<void(Fence)> taken = {};
};

// Thread-safe. When a call fails, nothing has changed.
class Submitter {
 public:
  struct Options {
    // Jobs are handed to the device by a thread, and Submit() returns at once: errors of the device
    // are then returned by Wait().
    bool thread = false;
    // Hands a job to the device: by default Device::Submit(). Buffers::Submit() makes room first if
    // the device has no memory for the job.
    std::function<absl::StatusOr<Fence>(const Job&)> submit = {};
  };

  // `device` must outlive the result; see lifetime.h for what happens otherwise.
  static std::unique_ptr<Submitter> Create(Device& device, const Options& options);
  // Jobs that are still held are dropped.
  ~Submitter();
  Submitter(const Submitter&) = delete;
  Submitter& operator=(const Submitter&) = delete;

  QueueId AddQueue(const QueueOptions& options);
  // Begins at `value`, which counts as reached.
  TimelineId AddTimeline(uint64_t value = 0);
  // As it was added. NotFound if there is no such queue.
  absl::StatusOr<QueueOptions> OptionsOf(QueueId queue) const;

  // Hands the job over, or holds it. The result is a point of the queue's own timeline, which is
  // reached when this job and those before it in the queue are done.
  //
  // NotFound if there is no such queue or timeline. InvalidArgument if a value to signal has been
  // reached, or was promised by another job; or if a timeline is listed twice among the signals.
  // FailedPrecondition if the job waits for one that the device refused. Errors of
  // Device::Submit(), if the job is handed over at once.
  absl::StatusOr<TimelinePoint> Submit(QueueId queue, const QueueJob& job);
  // The CPU signals a value. InvalidArgument if it has been reached, or a job has promised it or a
  // lower one.
  absl::Status Signal(TimelinePoint point);

  // Whether the value was reached before the timeout; zero polls. The error of the job that
  // signals it, if that failed: Aborted if it hung, or what the device said when it refused a job
  // that was held. Jobs that wait for one that hung are run, as kernels do; those that wait for one
  // that was refused are refused, too.
  absl::StatusOr<bool> Wait(TimelinePoint point, absl::Duration timeout);
  // The highest value that has been reached. NotFound if there is no such timeline.
  absl::StatusOr<uint64_t> Value(TimelineId timeline);
  // Jobs that the device does not have yet.
  uint64_t held() const;

 private:
  // A job with what it needs until it can be handed over.
  struct HeldJob {
    uint64_t batch_address = 0, batch_length = 0;
    std::vector<Resident> residents;
    std::vector<Fence> after;
    std::vector<std::string> base_names;
    std::vector<uint64_t> bases;
    std::vector<Relocation> relocations;
    std::vector<TimelinePoint> waits, signals;  // the queue's own point is the last one
    std::function<absl::StatusOr<Fence>(const Job&)> submit;
    std::function<void(Fence)> taken;
  };
  struct QueueState {
    QueueOptions options;
    TimelineId own = {};
    uint64_t last = 0;  // value of `own`
    std::deque<HeldJob> held;
    std::vector<Fence> fences;  // of the job that is handed over
    std::vector<JobBase> bases;
    bool busy = false;  // a thread hands over a job of it
  };

  Submitter(Device& device, const Options& options)
      : device_(device, lifetime_), options_(options) {}

  absl::Status CheckPoints(const QueueJob& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static HeldJob Copy(const QueueJob& job);
  // Whether everything that a job waits for has a fence or has been reached; then `fences` has
  // those to wait for. A wait for a job that the device refused sets `failure`.
  bool IsReady(absl::Span<const TimelinePoint> waits, std::vector<Fence>& fences,
               absl::Status& failure) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Promise(absl::Span<const TimelinePoint> signals) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Of jobs that were held: they have a fence, or were refused.
  void Settle(absl::Span<const TimelinePoint> signals, const absl::StatusOr<Fence>& result)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Hands a job over whose queue is busy with it. Releases the lock meanwhile.
  absl::StatusOr<Fence> HandOver(const QueueOptions& queue, const QueueJob& job,
                                 absl::Span<const Fence> after)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes notice of jobs that are done.
  void Poll(Timeline& timeline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Hands over all jobs that can be, until there are none. Releases the lock meanwhile.
  void Pump() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool PumpQueue(QueueState& queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Work();

  mutable Lifetime lifetime_{"submitter"};
  const Reference<Device> device_;
  const Options options_;

  mutable Mutex mutex_;
  std::condition_variable_any changed_;  // a value was promised, reached, or failed
  std::condition_variable_any work_;     // for the thread
  std::deque<QueueState> queues_ ABSL_GUARDED_BY(mutex_);
  std::deque<Timeline> timelines_ ABSL_GUARDED_BY(mutex_);
  uint64_t held_ ABSL_GUARDED_BY(mutex_) = 0;
  bool pumping_ ABSL_GUARDED_BY(mutex_) = false, again_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_SUBMISSION_SUBMITTER_H_
