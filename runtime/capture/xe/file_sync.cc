// Synchronization of the xe interface: what calls wait for and signal, and user fences.
#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/capture/xe/file.h"

namespace packsmith::capture {

namespace xe = uapi::xe;

void XeFile::Syncs::SignalWith(const std::shared_ptr<Fence>& fence) const {
  for (const Out& one : out) {
    if (one.point == 0) {
      one.syncobj->Replace(fence);
    } else {
      one.syncobj->AddPoint(one.point, fence);
    }
  }
}

Result XeFile::ReadSyncs(Caller& caller, uint64_t address, uint32_t count, SyncUse use,
                         bool long_running, Syncs& out) {
  // Half of the addresses are the kernel's own.
  constexpr uint64_t kUserEnd = uint64_t{1} << 47;
  int user_fences = 0;
  for (uint32_t i = 0; i < count; ++i) {
    xe::sync sync = {};
    if (const Result bad = caller.Get(address + uint64_t{i} * sizeof(sync), sync)) return bad;
    if ((sync.flags & ~xe::kSyncSignal) != 0 || sync.reserved[0] != 0 || sync.reserved[1] != 0) {
      return -EINVAL;
    }
    const bool signal = (sync.flags & xe::kSyncSignal) != 0;
    if (sync.type == xe::kSyncUserFence) {
      if (use == SyncUse::kEmptyBind || !signal) return -EOPNOTSUPP;
      if (sync.handle_or_address % 8 != 0) return -EINVAL;
      if (use == SyncUse::kBind && sync.handle_or_address >= kUserEnd) return -EFAULT;
      ++user_fences;
      out.user_fence = true;
      out.user_address = sync.handle_or_address;
      out.user_value = sync.timeline_value;
      continue;
    }
    if (sync.type != xe::kSyncSyncobj && sync.type != xe::kSyncTimeline) return -EINVAL;
    const bool timeline = sync.type == xe::kSyncTimeline;
    if (long_running && signal) return -EOPNOTSUPP;
    if (sync.handle_or_address >> 32 != 0) return -EINVAL;
    const uint64_t point = timeline ? sync.timeline_value : 0;
    if (timeline && point == 0) return -EINVAL;
    std::shared_ptr<Syncobj> syncobj = FindSyncobj(static_cast<uint32_t>(sync.handle_or_address));
    if (!syncobj) return Refuse(-ENOENT, "the synchronization object does not exist");
    if (signal) {
      if (timeline && point <= syncobj->added()) {
        Warn(caller, "the point of a timeline that the call signals is not above the last one");
      }
      out.out.push_back({std::move(syncobj), point});
    } else {
      std::shared_ptr<Fence> fence = syncobj->PointFence(point);
      if (!fence) {
        return Refuse(-EINVAL, timeline ? "nothing was submitted yet for the point to wait for"
                                        : "nothing was submitted yet for the object to wait for");
      }
      out.in.push_back(std::move(fence));
    }
  }
  return user_fences > 1 ? -EINVAL : 0;
}

namespace {

bool Compare(uint16_t op, uint64_t left, uint64_t right) {
  switch (op) {
    case xe::kEq:
      return left == right;
    case xe::kNeq:
      return left != right;
    case xe::kGt:
      return left > right;
    case xe::kGte:
      return left >= right;
    case xe::kLt:
      return left < right;
    default:
      return left <= right;
  }
}

}  // namespace

Result XeFile::WaitUserFence(Caller& caller, xe::wait_user_fence& args) {
  if (args.extensions != 0 || args.pad != 0 || args.pad2 != 0 || args.reserved[0] != 0 ||
      args.reserved[1] != 0) {
    return -EINVAL;
  }
  if ((args.flags & ~xe::kWaitAbsolute) != 0 || args.op > xe::kLte || args.addr % 8 != 0) {
    return -EINVAL;
  }
  std::shared_ptr<XeExecQueue> queue;
  if (args.exec_queue_id != 0) {
    const auto* const found = exec_queues_.Find(args.exec_queue_id);
    if (found == nullptr) return -ENOENT;
    queue = *found;
  }
  const bool absolute = (args.flags & xe::kWaitAbsolute) != 0;
  constexpr int64_t kForever = std::numeric_limits<int64_t>::max();
  const int64_t start = MonotonicNow();
  int64_t deadline = kForever;
  if (args.timeout >= 0) {
    deadline = absolute || args.timeout == 0     ? args.timeout
               : args.timeout > kForever - start ? kForever
                                                 : start + args.timeout;
  }
  Result found = 0;
  const Result waited = kernel().WaitUntil(caller, deadline, [&] {
    uint64_t value = 0;
    found = caller.Get(args.addr, value);
    if (found != 0 || Compare(args.op, value & args.mask, args.value & args.mask)) return true;
    if (queue && queue->banned) found = -EIO;
    return found != 0;
  });
  if (!absolute) args.timeout = std::max<int64_t>(0, args.timeout - (MonotonicNow() - start));
  return waited != 0 ? waited : found;
}

}  // namespace packsmith::capture
