// A device whose jobs are done in any order that their fences allow, one at a time, when the test
// says so.
#ifndef PACKSMITH_TESTS_SUBMISSION_MODEL_DEVICE_H_
#define PACKSMITH_TESTS_SUBMISSION_MODEL_DEVICE_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
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
    std::vector<Resident> residents;
    std::vector<std::pair<std::string, uint64_t>> bases;
    std::vector<Relocation> relocations;
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
  // In the order in which they were submitted.
  std::vector<Started> waiting() const {
    std::map<Fence, Started> all;
    MutexLock lock(mutex_);
    for (const auto& [engine, jobs] : waiting_) {
      for (const Started& job : jobs) all[job.fence] = job;
    }
    std::vector<Started> list;
    for (const auto& [fence, job] : all) list.push_back(job);
    return list;
  }
  bool idle() const {
    MutexLock lock(mutex_);
    for (const auto& [engine, jobs] : waiting_) {
      if (!jobs.empty()) return false;
    }
    return true;
  }
  // Completes the nth of those that may begin: the first of its engine, after its fences. Calls
  // `run` with it. False: none may.
  bool CompleteOne(uint64_t choice, const std::function<void(const Started&)>& run = {}) {
    Started job;
    {
      MutexLock lock(mutex_);
      std::vector<std::deque<Started>*> ready;
      for (auto& [engine, jobs] : waiting_) {
        if (jobs.empty()) continue;
        bool may = true;
        for (const Fence fence : jobs.front().after) may &= IsDone(fence);
        if (may) ready.push_back(&jobs);
      }
      if (ready.empty()) return false;
      std::deque<Started>& jobs = *ready[choice % ready.size()];
      job = jobs.front();
      jobs.pop_front();
    }
    if (run) run(job);
    MutexLock lock(mutex_);
    done_.insert(job.fence);
    progress_.notify_all();
    return true;
  }
  void Hang(Fence fence) {
    MutexLock lock(mutex_);
    hung_.insert(fence);
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
      done_.insert(fence);
    } else {
      Started& started = waiting_[job.engine].emplace_back();
      started.fence = fence;
      started.batch_address = job.batch_address;
      started.engine = job.engine;
      started.after.assign(job.after.begin(), job.after.end());
      started.residents.assign(job.residents.begin(), job.residents.end());
      for (const JobBase& base : job.bases) {
        started.bases.emplace_back(std::string(base.name), base.address);
      }
      started.relocations.assign(job.relocations.begin(), job.relocations.end());
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
  std::map<std::string, std::deque<Started>> waiting_ ABSL_GUARDED_BY(mutex_);
  std::unordered_set<Fence> done_ ABSL_GUARDED_BY(mutex_), hung_ ABSL_GUARDED_BY(mutex_);
  Fence last_ ABSL_GUARDED_BY(mutex_) = 0;
  int refuse_ ABSL_GUARDED_BY(mutex_) = 0;
  bool instant_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_SUBMISSION_MODEL_DEVICE_H_
