#include "runtime/kernel/drm/timelines.h"

#include <utility>

#include "absl/strings/str_format.h"

namespace packsmith::gpu {

KernelTimeline SyncobjTimelines::Add(Syncobj syncobj) {
  auto shared = std::make_shared<const Syncobj>(std::move(syncobj));
  MutexLock lock(mutex_);
  const auto timeline = static_cast<KernelTimeline>(++last_);
  all_.emplace(timeline, std::move(shared));
  return timeline;
}

absl::StatusOr<std::shared_ptr<const Syncobj>> SyncobjTimelines::Find(
    KernelTimeline timeline) const {
  MutexLock lock(mutex_);
  const auto found = all_.find(timeline);
  if (found != all_.end()) return found->second;
  return absl::NotFoundError(
      absl::StrFormat("timeline %d of the kernel does not exist, or no longer exists", timeline));
}

absl::StatusOr<KernelTimeline> SyncobjTimelines::Create() {
  absl::StatusOr<Syncobj> syncobj = Syncobj::Create(calls_);
  if (!syncobj.ok()) return syncobj.status();
  return Add(*std::move(syncobj));
}

absl::Status SyncobjTimelines::Destroy(KernelTimeline timeline) {
  const absl::StatusOr<std::shared_ptr<const Syncobj>> syncobj = Find(timeline);
  if (!syncobj.ok()) return syncobj.status();
  MutexLock lock(mutex_);
  all_.erase(timeline);
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> SyncobjTimelines::Export(KernelTimeline timeline) {
  const absl::StatusOr<std::shared_ptr<const Syncobj>> syncobj = Find(timeline);
  if (!syncobj.ok()) return syncobj.status();
  return calls_.ExportSyncobj((*syncobj)->handle());
}

absl::StatusOr<KernelTimeline> SyncobjTimelines::Import(int fd) {
  absl::StatusOr<Syncobj> syncobj = Syncobj::Import(calls_, fd);
  if (!syncobj.ok()) return syncobj.status();
  return Add(*std::move(syncobj));
}

absl::StatusOr<uint64_t> SyncobjTimelines::Value(KernelTimeline timeline) {
  const absl::StatusOr<std::shared_ptr<const Syncobj>> syncobj = Find(timeline);
  if (!syncobj.ok()) return syncobj.status();
  return calls_.QueryTimeline((*syncobj)->handle(), Calls::TimelineValue::kReached);
}

absl::Status SyncobjTimelines::CheckSignal(const Syncobj& syncobj, KernelPoint point) const {
  const absl::StatusOr<uint64_t> last =
      calls_.QueryTimeline(syncobj.handle(), Calls::TimelineValue::kPromised);
  if (!last.ok()) return last.status();
  if (point.value > *last) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "value %d of the kernel's timeline %d cannot be signalled: %d has been promised already",
      point.value, point.timeline, *last));
}

absl::Status SyncobjTimelines::Signal(KernelPoint point) {
  const absl::StatusOr<std::shared_ptr<const Syncobj>> syncobj = Find(point.timeline);
  if (!syncobj.ok()) return syncobj.status();
  if (absl::Status status = CheckSignal(**syncobj, point); !status.ok()) return status;
  return calls_.SignalTimeline((*syncobj)->handle(), point.value);
}

absl::StatusOr<bool> SyncobjTimelines::Wait(KernelPoint point, Until until,
                                            absl::Duration timeout) {
  const absl::StatusOr<std::shared_ptr<const Syncobj>> syncobj = Find(point.timeline);
  if (!syncobj.ok()) return syncobj.status();
  if (point.value == 0) return true;
  return calls_.WaitTimeline(
      (*syncobj)->handle(), point.value,
      until == kPromised ? Calls::TimelineValue::kPromised : Calls::TimelineValue::kReached,
      timeout);
}

absl::Status SyncobjTimelines::Hold(absl::Span<const KernelPoint> waits,
                                    absl::Span<const KernelPoint> signals, Held& out) {
  for (const KernelPoint point : waits) {
    absl::StatusOr<std::shared_ptr<const Syncobj>> syncobj = Find(point.timeline);
    if (!syncobj.ok()) return syncobj.status();
    if (point.value == 0) continue;
    const absl::StatusOr<bool> promised = calls_.WaitTimeline(
        (*syncobj)->handle(), point.value, Calls::TimelineValue::kPromised, absl::ZeroDuration());
    if (!promised.ok()) return promised.status();
    if (!*promised) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "no job has promised value %d of the kernel's timeline %d yet: the job can be submitted "
          "when KernelTimelines::Wait(…, kPromised, …) has returned true",
          point.value, point.timeline));
    }
    out.waits.push_back({(*syncobj)->handle(), point.value});
    out.syncobjs.push_back(*std::move(syncobj));
  }
  for (const KernelPoint point : signals) {
    absl::StatusOr<std::shared_ptr<const Syncobj>> syncobj = Find(point.timeline);
    if (!syncobj.ok()) return syncobj.status();
    if (absl::Status status = CheckSignal(**syncobj, point); !status.ok()) return status;
    out.signals.push_back({(*syncobj)->handle(), point.value});
    out.syncobjs.push_back(*std::move(syncobj));
  }
  return absl::OkStatus();
}

}  // namespace packsmith::gpu
