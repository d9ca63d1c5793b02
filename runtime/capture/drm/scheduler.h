// Queues of work: what begins when, and when its fence is signalled.
#ifndef PACKSMITH_RUNTIME_CAPTURE_DRM_SCHEDULER_H_
#define PACKSMITH_RUNTIME_CAPTURE_DRM_SCHEDULER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/capture/drm/executor.h"
#include "runtime/capture/drm/fence.h"
#include "runtime/capture/drm/work.h"

namespace packsmith::capture {

// What is queued: a work to execute, or something that the kernel does itself (a bind, a wait).
struct Job {
  std::shared_ptr<Work> work;  // null: nothing is executed
  // All must be done before it begins. The error of one does not keep it from beginning.
  std::vector<std::shared_ptr<Fence>> after;
  // Called when it begins, before it is executed.
  std::function<void()> begin;
  // Signalled when it is done.
  std::shared_ptr<Fence> done;
  // Called before `done` is signalled: `hung` says how the work ended.
  std::function<void(bool hung)> end;
};

// Jobs of one queue begin in the order in which they were added, each when the one before is done.
// Guarded by the kernel's lock.
class Scheduler {
 public:
  // Null: every work is done as soon as it may begin, without being executed.
  void set_executor(Executor* executor) { executor_ = executor; }
  void set_watchers(std::vector<Watcher*> watchers) { watchers_ = std::move(watchers); }
  // The numbers (Work::number) of submissions that hang, whatever they do.
  void set_hang_at(std::vector<uint64_t> numbers) { hang_at_ = std::move(numbers); }
  // Work that waits for a value in memory for more nanoseconds than this hangs.
  void set_patience(int64_t nanoseconds) { patience_ = nanoseconds; }

  // A number for a new queue, from 1.
  uint64_t NewQueue() { return ++queues_made_; }
  // What is in the queue ends with an error, without being executed.
  void Cancel(uint64_t queue, Result error);

  // A context (Work::context) will submit nothing more, and its work is done.
  void ForgetContext(uint64_t context);

  void Add(uint64_t queue, Job job);
  // Begins and executes all that can be. Called whenever a fence was signalled from outside, and
  // again after a while if waiting() is true.
  void Advance();
  // Whether some work waits for a value in memory, which clients may write without a call.
  bool waiting() const { return waiting_; }
  // The last fence of the queue, or one that is signalled.
  std::shared_ptr<Fence> Last(uint64_t queue) const;
  // Whether all queues are empty.
  bool idle() const { return pending_.empty(); }

 private:
  struct Queue {
    std::deque<Job> jobs;
    // Of the first job.
    bool begun = false;
    int64_t began = 0;
  };
  // Whether the queue's first job is done and was removed.
  bool Step(Queue& queue);
  void Finish(Queue& queue, bool hung, const std::string& why);

  Executor* executor_ = nullptr;
  std::vector<Watcher*> watchers_;
  std::vector<uint64_t> hang_at_;
  int64_t patience_ = 10'000'000'000;
  uint64_t queues_made_ = 0;
  std::map<uint64_t, Queue> pending_;  // queues that are not empty
  bool waiting_ = false;
  bool advancing_ = false, again_ = false;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DRM_SCHEDULER_H_
