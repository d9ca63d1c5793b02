// The values of one timeline: which have been reached, which are promised and by which job, and
// which failed.
#ifndef PACKSMITH_RUNTIME_SUBMISSION_TIMELINE_H_
#define PACKSMITH_RUNTIME_SUBMISSION_TIMELINE_H_

#include <cstdint>
#include <deque>
#include <map>

#include "absl/status/status.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

enum class TimelineId : uint32_t {};

// Not thread-safe.
class Timeline {
 public:
  explicit Timeline(uint64_t value) : reached_(value) {}

  uint64_t reached() const { return reached_; }
  size_t pending() const { return pending_.size(); }

  // Whether a job may promise a value: it is higher than what was reached, and not promised yet. A
  // job that signals a lower value may come later, if that which signals the higher one waits for
  // it.
  bool MayPromise(uint64_t value) const;
  // Whether the CPU may signal it: it is also lower than all that are promised.
  bool MayReach(uint64_t value) const;

  // A value that a job will signal: first without a fence, until the device has taken the job.
  void Promise(uint64_t value);
  void SetFence(uint64_t value, Fence fence);
  // The job was not taken, and its submitter knows: as if the value had not been promised.
  void Withdraw(uint64_t value);
  // The device refused a job that was held. Its value counts as reached once those before it are.
  void Refuse(uint64_t value, const absl::Status& status);
  // The CPU has signalled a value.
  void Reach(uint64_t value);
  // The job that signals this value is done: this and lower values have been reached. An error if
  // it failed.
  void Complete(uint64_t value, const absl::Status& status);

  // What a wait for a value depends on.
  enum class State : uint8_t {
    kReached,   // nothing
    kFailed,    // the job that was to signal it ended with `status`
    kRefused,   // or was never run
    kPending,   // the job with `fence`, which signals `value`
    kPromised,  // a job that has no fence yet
    kUnknown,   // it has not been promised
  };
  struct Answer {
    State state = State::kUnknown;
    Fence fence = 0;
    uint64_t value = 0;
    absl::Status status;
  };
  Answer Find(uint64_t value) const;
  // The first of those that are promised; kReached: none is.
  Answer First() const;

 private:
  struct Promised {
    uint64_t value = 0;
    Fence fence = 0;  // 0: not taken yet
  };
  struct Failed {
    uint64_t after = 0;  // the values above this one, up to the key
    absl::Status status;
    bool refused = false;
  };

  static bool IsBelow(const Promised& one, uint64_t value);
  void DropReached();
  void PassFailures();
  void NoteFailure(uint64_t value, const absl::Status& status, bool refused);
  std::deque<Promised>::iterator At(uint64_t value);

  uint64_t reached_;
  std::deque<Promised> pending_;       // by value
  std::map<uint64_t, Failed> failed_;  // by value
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_SUBMISSION_TIMELINE_H_
