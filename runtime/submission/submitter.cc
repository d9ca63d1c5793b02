#include "runtime/submission/submitter.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace packsmith::gpu {
namespace {

// Values that nobody waits for are looked at when a timeline has more of them.
constexpr size_t kManyPending = 256;

absl::Status Refused(const absl::Status& status) {
  return absl::FailedPreconditionError(
      absl::StrCat("the job waits for one that the device refused: ", status.message()));
}

}  // namespace

std::unique_ptr<Submitter> Submitter::Create(Device& device, const Options& options) {
  std::unique_ptr<Submitter> made(new Submitter(device, options));
  if (options.thread) made->thread_ = std::thread(&Submitter::Work, made.get());
  return made;
}

Submitter::~Submitter() {
  lifetime_.End();
  {
    MutexLock lock(mutex_);
    ending_ = true;
    work_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

QueueId Submitter::AddQueue(const QueueOptions& options) {
  const TimelineId own = AddTimeline();
  MutexLock lock(mutex_);
  queues_.emplace_back();
  queues_.back().options = options;
  queues_.back().own = own;
  return static_cast<QueueId>(queues_.size() - 1);
}

TimelineId Submitter::AddTimeline(uint64_t value) {
  MutexLock lock(mutex_);
  timelines_.emplace_back(value);
  return static_cast<TimelineId>(timelines_.size() - 1);
}

absl::StatusOr<QueueOptions> Submitter::OptionsOf(QueueId id) const {
  MutexLock lock(mutex_);
  if (static_cast<size_t>(id) >= queues_.size()) {
    return absl::NotFoundError(absl::StrFormat("there is no queue %d", id));
  }
  return queues_[static_cast<size_t>(id)].options;
}

absl::Status Submitter::CheckPoints(const QueueJob& job) const {
  const auto exists = [this](TimelinePoint point) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return static_cast<size_t>(point.timeline) < timelines_.size();
  };
  for (const auto& points : {job.waits, job.signals}) {
    for (const TimelinePoint point : points) {
      if (!exists(point)) {
        return absl::NotFoundError(absl::StrFormat("there is no timeline %d", point.timeline));
      }
    }
  }
  for (size_t i = 0; i < job.signals.size(); ++i) {
    const TimelinePoint point = job.signals[i];
    const Timeline& timeline = timelines_[static_cast<size_t>(point.timeline)];
    if (!timeline.MayPromise(point.value)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "value %d of timeline %d cannot be signalled: it was promised by another job, or the "
          "timeline has reached %d",
          point.value, point.timeline, timeline.reached()));
    }
    for (size_t k = 0; k < i; ++k) {
      if (job.signals[k].timeline == point.timeline) {
        return absl::InvalidArgumentError(
            absl::StrFormat("the job signals timeline %d twice", point.timeline));
      }
    }
  }
  return absl::OkStatus();
}

bool Submitter::IsReady(absl::Span<const TimelinePoint> waits, std::vector<Fence>& fences,
                        absl::Status& failure) const {
  for (const TimelinePoint point : waits) {
    const Timeline::Answer answer =
        timelines_[static_cast<size_t>(point.timeline)].Find(point.value);
    switch (answer.state) {
      case Timeline::State::kReached:
      case Timeline::State::kFailed:
        break;
      case Timeline::State::kRefused:
        failure = Refused(answer.status);
        break;
      case Timeline::State::kPending:
        if (std::find(fences.begin(), fences.end(), answer.fence) == fences.end()) {
          fences.push_back(answer.fence);
        }
        break;
      case Timeline::State::kPromised:
      case Timeline::State::kUnknown:
        return false;
    }
  }
  return true;
}

void Submitter::Promise(absl::Span<const TimelinePoint> signals) {
  for (const TimelinePoint point : signals) {
    Timeline& timeline = timelines_[static_cast<size_t>(point.timeline)];
    if (timeline.pending() >= kManyPending) Poll(timeline);
    timeline.Promise(point.value);
  }
}

void Submitter::Settle(absl::Span<const TimelinePoint> signals,
                       const absl::StatusOr<Fence>& result) {
  for (const TimelinePoint point : signals) {
    Timeline& timeline = timelines_[static_cast<size_t>(point.timeline)];
    if (result.ok()) {
      timeline.SetFence(point.value, *result);
    } else {
      timeline.Refuse(point.value, result.status());
    }
  }
}

Submitter::HeldJob Submitter::Copy(const QueueJob& job) {
  HeldJob held;
  held.batch_address = job.batch_address;
  held.batch_length = job.batch_length;
  held.residents.assign(job.residents.begin(), job.residents.end());
  held.after.assign(job.after.begin(), job.after.end());
  for (const JobBase& base : job.bases) {
    held.base_names.emplace_back(base.name);
    held.bases.push_back(base.address);
  }
  held.relocations.assign(job.relocations.begin(), job.relocations.end());
  held.waits.assign(job.waits.begin(), job.waits.end());
  held.signals.assign(job.signals.begin(), job.signals.end());
  held.submit = job.submit;
  held.taken = job.taken;
  return held;
}

absl::StatusOr<Fence> Submitter::HandOver(const QueueOptions& queue, const QueueJob& job,
                                          absl::Span<const Fence> after) {
  // The thread finds out by itself that the device was destroyed while jobs were held.
  if (lifetime_.lost()) return lifetime_.status();
  mutex_.unlock();
  const Job complete = {.space = queue.space,
                        .context = queue.context,
                        .engine = queue.engine,
                        .batch_address = job.batch_address,
                        .batch_length = job.batch_length,
                        .residents = job.residents,
                        .after = after,
                        .bases = job.bases,
                        .relocations = job.relocations};
  absl::StatusOr<Fence> fence = job.submit        ? job.submit(complete)
                                : options_.submit ? options_.submit(complete)
                                                  : device_->Submit(complete);
  if (fence.ok() && job.taken) job.taken(*fence);
  mutex_.lock();
  return fence;
}

absl::StatusOr<TimelinePoint> Submitter::Submit(QueueId id, const QueueJob& job) {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  if (static_cast<size_t>(id) >= queues_.size()) {
    return absl::NotFoundError(absl::StrFormat("there is no queue %d", id));
  }
  QueueState& queue = queues_[static_cast<size_t>(id)];
  absl::Status status = CheckPoints(job);
  if (!status.ok()) return status;
  bool now = !options_.thread && queue.held.empty() && !queue.busy;
  if (now) {
    queue.fences.assign(job.after.begin(), job.after.end());
    absl::Status failure;
    now = IsReady(job.waits, queue.fences, failure);
    if (now && !failure.ok()) return failure;
  }
  const TimelinePoint own = {queue.own, queue.last + 1};
  Promise(job.signals);
  Promise({&own, 1});
  ++queue.last;
  if (!now) {
    queue.held.push_back(Copy(job));
    queue.held.back().signals.push_back(own);
    ++held_;
    if (options_.thread) {
      again_ = true;
      work_.notify_one();
    } else {
      // What held it back may have come to pass: another thread was handing over a job.
      Pump();
    }
    return own;
  }
  queue.busy = true;
  const absl::StatusOr<Fence> fence = HandOver(queue.options, job, queue.fences);
  queue.busy = false;
  if (fence.ok()) {
    Settle(job.signals, fence);
    Settle({&own, 1}, fence);
  } else {
    for (const TimelinePoint point : job.signals) {
      timelines_[static_cast<size_t>(point.timeline)].Withdraw(point.value);
    }
    timelines_[static_cast<size_t>(own.timeline)].Withdraw(own.value);
    if (queue.last == own.value) --queue.last;
  }
  changed_.notify_all();
  Pump();
  if (!fence.ok()) return fence.status();
  return own;
}

bool Submitter::PumpQueue(QueueState& queue) {
  if (queue.busy || queue.held.empty()) return false;
  queue.fences = queue.held.front().after;
  absl::Status failure;
  if (!IsReady(queue.held.front().waits, queue.fences, failure)) return false;
  const HeldJob job = std::move(queue.held.front());
  queue.held.pop_front();
  absl::StatusOr<Fence> fence = Fence{0};
  if (!failure.ok()) {
    fence = failure;
  } else {
    queue.bases.clear();
    for (size_t i = 0; i < job.bases.size(); ++i) {
      queue.bases.push_back({job.base_names[i], job.bases[i]});
    }
    queue.busy = true;
    fence = HandOver(queue.options,
                     {.batch_address = job.batch_address,
                      .batch_length = job.batch_length,
                      .residents = job.residents,
                      .bases = queue.bases,
                      .relocations = job.relocations,
                      .submit = job.submit,
                      .taken = job.taken},
                     queue.fences);
    queue.busy = false;
  }
  // Not before: until the device has it, the job is nowhere else.
  --held_;
  Settle(job.signals, fence);
  changed_.notify_all();
  return true;
}

void Submitter::Pump() {
  again_ = true;
  // One thread does it for all: it looks again when another has found something to do.
  if (pumping_) return;
  pumping_ = true;
  while (again_) {
    again_ = false;
    if (held_ == 0) break;
    // By number: a queue may be added while PumpQueue() has released the lock.
    for (size_t i = 0; i < queues_.size(); ++i) {
      while (PumpQueue(queues_[i])) again_ = true;
    }
  }
  pumping_ = false;
}

void Submitter::Work() {
  MutexLock lock(mutex_);
  while (!ending_) {
    Pump();
    while (!ending_ && !again_) work_.wait(mutex_);
  }
}

absl::Status Submitter::Signal(TimelinePoint point) {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  if (static_cast<size_t>(point.timeline) >= timelines_.size()) {
    return absl::NotFoundError(absl::StrFormat("there is no timeline %d", point.timeline));
  }
  Timeline& timeline = timelines_[static_cast<size_t>(point.timeline)];
  // Promises of jobs that are done do not count.
  if (!timeline.MayReach(point.value)) Poll(timeline);
  if (!timeline.MayReach(point.value)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "value %d of timeline %d cannot be signalled: a job has promised it or a lower one, or the "
        "timeline has reached %d",
        point.value, point.timeline, timeline.reached()));
  }
  timeline.Reach(point.value);
  changed_.notify_all();
  if (options_.thread) {
    again_ = true;
    work_.notify_one();
  } else {
    Pump();
  }
  return absl::OkStatus();
}

void Submitter::Poll(Timeline& timeline) {
  for (;;) {
    const Timeline::Answer first = timeline.First();
    if (first.state != Timeline::State::kPending) return;
    const absl::StatusOr<bool> done = device_->Wait(first.fence, absl::ZeroDuration());
    if (done.ok() ? !*done : !absl::IsAborted(done.status())) return;
    timeline.Complete(first.value, done.status());
  }
}

absl::StatusOr<bool> Submitter::Wait(TimelinePoint point, absl::Duration timeout) {
  if (lifetime_.lost()) return lifetime_.status();
  const auto begin = std::chrono::steady_clock::now();
  // Clocks cannot wait for ever.
  const auto until = begin + absl::ToChronoNanoseconds(
                                 std::clamp(timeout, absl::ZeroDuration(), absl::Hours(24 * 365)));
  MutexLock lock(mutex_);
  if (static_cast<size_t>(point.timeline) >= timelines_.size()) {
    return absl::NotFoundError(absl::StrFormat("there is no timeline %d", point.timeline));
  }
  Timeline& timeline = timelines_[static_cast<size_t>(point.timeline)];
  for (;;) {
    const Timeline::Answer answer = timeline.Find(point.value);
    switch (answer.state) {
      case Timeline::State::kReached:
        return true;
      case Timeline::State::kFailed:
      case Timeline::State::kRefused:
        return answer.status;
      case Timeline::State::kPending: {
        const absl::Duration left = std::max(
            absl::FromChrono(until - std::chrono::steady_clock::now()), absl::ZeroDuration());
        mutex_.unlock();
        const absl::StatusOr<bool> done = device_->Wait(answer.fence, left);
        mutex_.lock();
        if (done.ok() && !*done) return false;
        if (!done.ok() && !absl::IsAborted(done.status())) return done.status();
        timeline.Complete(answer.value, done.status());
        changed_.notify_all();
        break;
      }
      case Timeline::State::kPromised:
      case Timeline::State::kUnknown:
        if (changed_.wait_until(mutex_, until) == std::cv_status::timeout) {
          const Timeline::State state = timeline.Find(point.value).state;
          if (state == Timeline::State::kPromised || state == Timeline::State::kUnknown) {
            return false;
          }
        }
        break;
    }
  }
}

absl::StatusOr<uint64_t> Submitter::Value(TimelineId id) {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  if (static_cast<size_t>(id) >= timelines_.size()) {
    return absl::NotFoundError(absl::StrFormat("there is no timeline %d", id));
  }
  Timeline& timeline = timelines_[static_cast<size_t>(id)];
  Poll(timeline);
  return timeline.reached();
}

uint64_t Submitter::held() const {
  MutexLock lock(mutex_);
  return held_;
}

}  // namespace packsmith::gpu
