#include "runtime/capture/drm/scheduler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace packsmith::capture {

void Scheduler::Cancel(uint64_t number, Result error) {
  const auto it = pending_.find(number);
  if (it == pending_.end()) return;
  it->second.begun = false;
  // The queue itself is removed by Advance(), which may be at it right now.
  for (Job& job : std::exchange(it->second.jobs, {})) {
    if (job.work && executor_ != nullptr) executor_->Forget(*job.work);
    if (job.end) job.end(/*hung=*/false);
    job.done->Signal(error);
  }
}

void Scheduler::ForgetContext(uint64_t context) {
  if (executor_ != nullptr) executor_->ForgetContext(context);
}

void Scheduler::Add(uint64_t queue, Job job) {
  if (!job.done) job.done = std::make_shared<Fence>();
  for (const auto& fence : job.after) {
    if (!fence->done()) fence->WhenDone([this] { again_ = true; });
  }
  pending_[queue].jobs.push_back(std::move(job));
  Advance();
}

std::shared_ptr<Fence> Scheduler::Last(uint64_t queue) const {
  const auto it = pending_.find(queue);
  return it == pending_.end() || it->second.jobs.empty() ? Fence::Signalled()
                                                         : it->second.jobs.back().done;
}

void Scheduler::Advance() {
  // Fences that are signalled here may call for it again: the loop below then goes on.
  again_ = true;
  if (advancing_) return;
  advancing_ = true;
  while (again_) {
    again_ = false;
    waiting_ = false;
    for (auto it = pending_.begin(); it != pending_.end();) {
      while (!it->second.jobs.empty() && Step(it->second)) {
      }
      it = it->second.jobs.empty() ? pending_.erase(it) : std::next(it);
    }
  }
  advancing_ = false;
}

bool Scheduler::Step(Queue& queue) {
  Job& job = queue.jobs.front();
  for (const auto& fence : job.after) {
    if (!fence->done()) return false;
  }
  if (!queue.begun) {
    queue.begun = true;
    queue.began = MonotonicNow();
    if (job.begin) job.begin();
  }
  std::string why;
  Outcome outcome = Outcome::kDone;
  if (job.work) {
    if (std::find(hang_at_.begin(), hang_at_.end(), job.work->number) != hang_at_.end()) {
      outcome = Outcome::kHung;
      why = "as asked for";
    } else if (executor_ != nullptr) {
      outcome = executor_->Execute(*job.work, why);
    }
  }
  if (outcome == Outcome::kWaiting && MonotonicNow() - queue.began < patience_) {
    waiting_ = true;
    return false;
  }
  if (outcome == Outcome::kWaiting) {
    outcome = Outcome::kHung;
    why = why.empty() ? "waited too long for a value in memory"
                      : absl::StrCat("waited too long ", why);
  }
  Finish(queue, outcome == Outcome::kHung, why);
  return true;
}

void Scheduler::Finish(Queue& queue, bool hung, const std::string& why) {
  Job job = std::move(queue.jobs.front());
  queue.jobs.pop_front();
  queue.begun = false;
  again_ = true;
  if (job.work) {
    if (hung && executor_ != nullptr) executor_->Forget(*job.work);
    for (Watcher* const watcher : watchers_) {
      watcher->OnDone(*job.work, hung ? Outcome::kHung : Outcome::kDone, why);
    }
  }
  if (job.end) job.end(hung);
  job.done->Signal(hung ? -EIO : 0);
}

}  // namespace packsmith::capture
