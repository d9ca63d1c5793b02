#include "runtime/kernel/drm/fences.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace packsmith::gpu {
namespace {

// Jobs that nobody waits for are looked at once for this number of jobs.
constexpr unsigned kCollectEvery = 32;

}  // namespace

Fences::~Fences() {
  MutexLock lock(mutex_);
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].syncobj != 0) calls_.DestroySyncobj(entries_[i].syncobj).IgnoreError();
  }
  for (const uint32_t syncobj : unused_) calls_.DestroySyncobj(syncobj).IgnoreError();
}

absl::StatusOr<uint32_t> Fences::Take() {
  bool collect = false;
  {
    MutexLock lock(mutex_);
    if (++since_collected_ >= kCollectEvery) {
      since_collected_ = 0;
      collect = true;
    }
  }
  if (collect) Collect();
  {
    MutexLock lock(mutex_);
    if (!unused_.empty()) {
      const uint32_t syncobj = unused_.back();
      unused_.pop_back();
      return syncobj;
    }
  }
  return calls_.CreateSyncobj();
}

void Fences::Return(uint32_t syncobj) {
  MutexLock lock(mutex_);
  unused_.push_back(syncobj);
}

Fence Fences::Begin(uint32_t syncobj, absl::string_view what, std::optional<Owner> owner) {
  MutexLock lock(mutex_);
  entries_.push_back(
      {.syncobj = syncobj, .held = 0, .done = false, .what = std::string(what), .owner = owner});
  return first_ + entries_.size() - 1;
}

bool Fences::HasFailed(const Owner& owner) {
  Collect();
  MutexLock lock(mutex_);
  return failed_owners_.count(owner) != 0;
}

absl::Status Fences::CheckExists(Fence fence) const {
  const Fence last = first_ + entries_.size() - 1;
  if (fence <= last) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("there is no fence %d: the last one is %d", fence, last));
}

Fences::Entry* Fences::Find(Fence fence) {
  return fence < first_ ? nullptr : &entries_[fence - first_];
}

absl::Status Fences::Failure(Fence fence) const {
  const auto failed = failed_.find(fence);
  return failed == failed_.end() ? absl::OkStatus() : absl::AbortedError(failed->second);
}

void Fences::End(Fence fence, const absl::Status& outcome) {
  Entry* const entry = Find(fence);
  if (entry == nullptr || entry->done) return;
  entry->done = true;
  if (outcome.ok()) return;
  if (entry->owner.has_value()) failed_owners_.insert(*entry->owner);
  const std::string context =
      entry->owner.has_value() ? absl::StrCat(", context ", entry->owner->second) : "";
  failed_[fence] =
      absl::StrCat("job ", fence, " (", entry->what, context, ") failed: ", outcome.message(),
                   dump_.empty() ? "" : "; the kernel reports it in ", dump_);
}

// Of an entry whose last holder has gone.
void Fences::Drop(Fence fence) {
  Entry* const entry = Find(fence);
  if (entry != nullptr && entry->done && entry->held == 0 && entry->syncobj != 0) {
    unused_.push_back(std::exchange(entry->syncobj, 0));
  }
  while (!entries_.empty() && entries_.front().done && entries_.front().syncobj == 0) {
    entries_.pop_front();
    ++first_;
  }
}

absl::StatusOr<bool> Fences::Wait(Fence fence, absl::Duration timeout) {
  uint32_t syncobj;
  {
    MutexLock lock(mutex_);
    const absl::Status exists = CheckExists(fence);
    if (!exists.ok()) return exists;
    Entry* const entry = Find(fence);
    if (entry == nullptr || entry->done) {
      const absl::Status failure = Failure(fence);
      if (!failure.ok()) return failure;
      return true;
    }
    ++entry->held;
    syncobj = entry->syncobj;
  }
  const absl::StatusOr<bool> done = calls_.WaitSyncobj(syncobj, timeout);
  // That the outcome cannot be asked for (no descriptors are left) is not the job's failure.
  absl::Status asked = absl::UnknownError(""), outcome;
  if (done.ok() && *done) asked = calls_.OutcomeOfSyncobj(syncobj, outcome);
  MutexLock lock(mutex_);
  --Find(fence)->held;
  if (asked.ok()) End(fence, outcome);
  Drop(fence);
  if (!done.ok()) return done.status();
  if (!*done) return false;
  if (!asked.ok()) return asked;
  const absl::Status failure = Failure(fence);
  if (!failure.ok()) return failure;
  return true;
}

absl::Status Fences::Hold(absl::Span<const Fence> fences, std::vector<uint32_t>& syncobjs) {
  MutexLock lock(mutex_);
  for (const Fence fence : fences) {
    const absl::Status exists = CheckExists(fence);
    if (!exists.ok()) return exists;
  }
  for (const Fence fence : fences) {
    Entry* const entry = Find(fence);
    if (entry == nullptr || entry->syncobj == 0) continue;
    ++entry->held;
    if (!entry->done) syncobjs.push_back(entry->syncobj);
  }
  return absl::OkStatus();
}

void Fences::Release(absl::Span<const Fence> fences) {
  MutexLock lock(mutex_);
  for (const Fence fence : fences) {
    Entry* const entry = Find(fence);
    if (entry == nullptr || entry->held == 0) continue;
    --entry->held;
    Drop(fence);
  }
}

absl::StatusOr<UniqueFd> Fences::Export(Fence fence) {
  uint32_t syncobj = 0;
  {
    MutexLock lock(mutex_);
    const absl::Status exists = CheckExists(fence);
    if (!exists.ok()) return exists;
    Entry* const entry = Find(fence);
    if (entry != nullptr && entry->syncobj != 0) {
      ++entry->held;
      syncobj = entry->syncobj;
    }
  }
  if (syncobj != 0) {
    absl::StatusOr<UniqueFd> file = calls_.ExportSyncFile(syncobj);
    Release({&fence, 1});
    return file;
  }
  const absl::StatusOr<Syncobj> signalled = Syncobj::Create(calls_, /*signalled=*/true);
  if (!signalled.ok()) return signalled.status();
  return calls_.ExportSyncFile(signalled->handle());
}

void Fences::Collect() {
  // From the oldest on: jobs that nobody waits for end in about the order of their submission.
  for (unsigned looked = 0; looked < 2 * kCollectEvery; ++looked) {
    Fence fence = 0;
    {
      MutexLock lock(mutex_);
      for (size_t i = 0; i < entries_.size() && fence == 0; ++i) {
        if (!entries_[i].done) fence = first_ + i;
      }
    }
    if (fence == 0) return;
    const absl::StatusOr<bool> done = Wait(fence, absl::ZeroDuration());
    if (done.ok() ? !*done : done.status().code() != absl::StatusCode::kAborted) return;
  }
}

}  // namespace packsmith::gpu
