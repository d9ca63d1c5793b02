// A device whose jobs are done in any order that their fences allow, one at a time, when the test
// says so.
#ifndef PACKSMITH_TESTS_SUBMISSION_MODEL_DEVICE_H_
#define PACKSMITH_TESTS_SUBMISSION_MODEL_DEVICE_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/memory/device.h"
#include "runtime/memory/host_device.h"

namespace packsmith::gpu {

// Thread-safe.
class ModelDevice : public Device {
 public:
  struct Started {
    Fence fence = 0;
    uint64_t batch_address = 0;
    std::string engine;
    std::vector<Fence> after;
  };

  ModelDevice() : memory_(*HostDevice::Create()) {}

  // The next calls of Submit() fail.
  void Refuse(int calls) {
    MutexLock lock(mutex_);
    refuse_ = calls;
  }
  // Jobs are done when they are submitted.
  void set_instant(bool instant) {
    MutexLock lock(mutex_);
    instant_ = instant;
  }
  std::vector<Started> waiting() const {
    MutexLock lock(mutex_);
    return waiting_;
  }
  bool idle() const {
    MutexLock lock(mutex_);
    return waiting_.empty();
  }
  // Completes the nth of those that may begin: the first of its engine, after its fences. Calls
  // `run` with it. False: none may.
  bool CompleteOne(uint64_t choice, const std::function<void(const Started&)>& run = {}) {
    Started job;
    {
      MutexLock lock(mutex_);
      std::vector<size_t> ready;
      std::vector<std::string> engines;  // that have a job before this one
      for (size_t i = 0; i < waiting_.size(); ++i) {
        const Started& one = waiting_[i];
        bool first = true;
        for (const std::string& engine : engines) first &= engine != one.engine;
        if (!first) continue;
        engines.push_back(one.engine);
        for (const Fence fence : one.after) first &= IsDone(fence);
        if (first) ready.push_back(i);
      }
      if (ready.empty()) return false;
      const size_t at = ready[choice % ready.size()];
      job = waiting_[at];
      waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(at));
    }
    if (run) run(job);
    MutexLock lock(mutex_);
    done_[job.fence] = true;
    progress_.notify_all();
    return true;
  }
  void Hang(Fence fence) {
    MutexLock lock(mutex_);
    hung_[fence] = true;
  }

  absl::StatusOr<MemoryId> Create(const MemoryOptions& options) override {
    return memory_->Create(options);
  }
  absl::Status Destroy(MemoryId memory) override { return memory_->Destroy(memory); }
  absl::StatusOr<absl::Span<uint8_t>> Map(MemoryId memory) override { return memory_->Map(memory); }
  absl::Status Bind(const PageBinding& binding) override { return memory_->Bind(binding); }
  absl::Status Unbind(uint32_t space, uint64_t address, uint64_t size) override {
    return memory_->Unbind(space, address, size);
  }
  absl::StatusOr<Fence> Submit(const Job& job) override {
    MutexLock lock(mutex_);
    if (refuse_ > 0) {
      --refuse_;
      return absl::ResourceExhaustedError("told to refuse");
    }
    for (const Fence fence : job.after) {
      if (fence > last_) return absl::InvalidArgumentError("a fence that does not exist");
    }
    const Fence fence = ++last_;
    if (instant_) {
      done_[fence] = true;
    } else {
      waiting_.push_back(
          {fence, job.batch_address, job.engine, {job.after.begin(), job.after.end()}});
    }
    return fence;
  }
  absl::StatusOr<bool> Wait(Fence fence, absl::Duration timeout) override {
    const auto until = std::chrono::steady_clock::now() +
                       absl::ToChronoNanoseconds(std::min(timeout, absl::Hours(1)));
    MutexLock lock(mutex_);
    while (!IsDone(fence)) {
      if (timeout <= absl::ZeroDuration() ||
          progress_.wait_until(mutex_, until) == std::cv_status::timeout) {
        if (!IsDone(fence)) return false;
      }
    }
    if (hung_.contains(fence)) return absl::AbortedError("told to hang");
    return true;
  }

 private:
  bool IsDone(Fence fence) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return fence == 0 || done_.contains(fence);
  }

  const std::unique_ptr<HostDevice> memory_;
  mutable Mutex mutex_;
  std::condition_variable_any progress_;
  std::vector<Started> waiting_ ABSL_GUARDED_BY(mutex_);
  std::map<Fence, bool> done_ ABSL_GUARDED_BY(mutex_), hung_ ABSL_GUARDED_BY(mutex_);
  Fence last_ ABSL_GUARDED_BY(mutex_) = 0;
  int refuse_ ABSL_GUARDED_BY(mutex_) = 0;
  bool instant_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_SUBMISSION_MODEL_DEVICE_H_
