// The calls of synchronization objects.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runtime/capture/drm/file.h"

namespace packsmith::capture {

namespace drm = uapi::drm;

namespace {

bool IsEventfd(int fd) {
  constexpr absl::string_view kName = "anon_inode:[eventfd]";
  char name[64];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = readlink(link.c_str(), name, sizeof(name));
  return size > 0 && absl::string_view(name, static_cast<size_t>(size)) == kName;
}

}  // namespace

// What a call waits for.
struct File::Waited {
  std::shared_ptr<Syncobj> syncobj;
  uint64_t point = 0;
  // Null: nothing has been submitted for it yet.
  std::shared_ptr<Fence> Found() const { return syncobj->PointFence(point); }
};

Result File::SyncobjCreate(Caller&, drm::syncobj_create& args) {
  if ((args.flags & ~drm::kSyncobjCreateSignaled) != 0) return -EINVAL;
  auto syncobj = std::make_shared<Syncobj>();
  if (args.flags != 0) syncobj->Replace(Fence::Signalled());
  args.handle = syncobjs_.Insert(std::move(syncobj));
  return 0;
}

Result File::SyncobjDestroy(Caller&, drm::syncobj_destroy& args) {
  if (args.pad != 0) return -EINVAL;
  return syncobjs_.Remove(args.handle) ? 0 : -EINVAL;
}

Result File::SyncobjHandleToFd(Caller& caller, drm::syncobj_handle& args) {
  if ((args.flags & ~(drm::kSyncobjFdSyncFile | drm::kSyncobjFdTimeline)) != 0 || args.pad != 0) {
    return -EINVAL;
  }
  const bool sync_file = (args.flags & drm::kSyncobjFdSyncFile) != 0;
  const bool timeline = (args.flags & drm::kSyncobjFdTimeline) != 0;
  if ((timeline && !sync_file) || (args.point != 0 && !timeline)) return -EINVAL;
  const std::shared_ptr<Syncobj> syncobj = FindSyncobj(args.handle);
  if (!syncobj) return sync_file ? -ENOENT : -EINVAL;
  UniqueFd fd;
  if (sync_file) {
    const std::shared_ptr<Fence> fence = syncobj->PointFence(args.point);
    if (!fence) return Refuse(-EINVAL, "the object has no fence");
    fd = kernel().shared_files().Export(fence);
  } else {
    fd = kernel().shared_files().Export(syncobj);
  }
  if (!fd) return -EMFILE;
  const Result number = caller.Install(std::move(fd), /*close_on_exec=*/true);
  if (number < 0) return number;
  args.fd = number;
  return 0;
}

Result File::SyncobjFdToHandle(Caller& caller, drm::syncobj_handle& args) {
  if ((args.flags & ~(drm::kSyncobjFdSyncFile | drm::kSyncobjFdTimeline)) != 0 || args.pad != 0) {
    return -EINVAL;
  }
  const bool sync_file = (args.flags & drm::kSyncobjFdSyncFile) != 0;
  const bool timeline = (args.flags & drm::kSyncobjFdTimeline) != 0;
  if ((timeline && !sync_file) || (args.point != 0 && !timeline)) return -EINVAL;
  const UniqueFd fd = caller.Take(args.fd);
  if (sync_file) {
    const std::shared_ptr<Fence> fence = fd ? kernel().shared_files().FindFence(fd.get()) : nullptr;
    if (!fence) return -EINVAL;
    const std::shared_ptr<Syncobj> syncobj = FindSyncobj(args.handle);
    if (!syncobj) return -ENOENT;
    if (args.point != 0) {
      syncobj->AddPoint(args.point, fence);
    } else {
      syncobj->Replace(fence);
    }
    return 0;
  }
  std::shared_ptr<Syncobj> syncobj = fd ? kernel().shared_files().FindSyncobj(fd.get()) : nullptr;
  if (!syncobj) return -EINVAL;
  args.handle = syncobjs_.Insert(std::move(syncobj));
  return 0;
}

Result File::FindSyncobjs(Caller& caller, uint64_t handles, uint32_t count,
                          std::vector<std::shared_ptr<Syncobj>>& out) {
  std::vector<uint32_t> numbers;
  if (const Result bad = caller.GetArray(handles, count, numbers)) return bad;
  out.clear();
  out.reserve(numbers.size());
  for (const uint32_t number : numbers) {
    out.push_back(FindSyncobj(number));
    if (!out.back()) return -ENOENT;
  }
  return 0;
}

Result File::WaitFor(Caller& caller, const std::vector<Waited>& waited, uint32_t flags,
                     int64_t deadline, uint32_t& first) {
  const bool all = (flags & drm::kSyncobjWaitAll) != 0;
  const bool available = (flags & drm::kSyncobjWaitAvailable) != 0;
  const bool may_come = available || (flags & drm::kSyncobjWaitForSubmit) != 0;
  if (!may_come) {
    for (const Waited& one : waited) {
      if (!one.Found()) return Refuse(-EINVAL, "an object has no fence to wait for");
    }
  }
  // A fence that was found is waited for even if the object is given another one meanwhile.
  std::vector<std::shared_ptr<Fence>> fences(waited.size());
  uint32_t found = ~uint32_t{0};
  const auto ready = [&] {
    size_t done = 0;
    for (size_t i = 0; i < waited.size(); ++i) {
      if (!fences[i]) fences[i] = waited[i].Found();
      if (!fences[i] || (!available && !fences[i]->done())) continue;
      if (++done == 1) found = static_cast<uint32_t>(i);
    }
    return all ? done == waited.size() : done > 0;
  };
  const Result result = kernel().WaitUntil(caller, deadline, ready);
  if (result == 0 && !all) first = found;
  return result;
}

Result File::SyncobjWait(Caller& caller, drm::syncobj_wait& args) {
  constexpr uint32_t kFlags =
      drm::kSyncobjWaitAll | drm::kSyncobjWaitForSubmit | drm::kSyncobjWaitDeadline;
  if ((args.flags & ~kFlags) != 0) return -EINVAL;
  if (args.count_handles == 0) return 0;
  std::vector<std::shared_ptr<Syncobj>> syncobjs;
  if (const Result bad = FindSyncobjs(caller, args.handles, args.count_handles, syncobjs)) {
    return bad;
  }
  std::vector<Waited> waited;
  for (auto& syncobj : syncobjs) waited.push_back({std::move(syncobj), 0});
  return WaitFor(caller, waited, args.flags, args.timeout_nsec, args.first_signaled);
}

Result File::SyncobjTimelineWait(Caller& caller, drm::syncobj_timeline_wait& args) {
  constexpr uint32_t kFlags = drm::kSyncobjWaitAll | drm::kSyncobjWaitForSubmit |
                              drm::kSyncobjWaitAvailable | drm::kSyncobjWaitDeadline;
  if ((args.flags & ~kFlags) != 0) return -EINVAL;
  if (args.count_handles == 0) return 0;
  std::vector<std::shared_ptr<Syncobj>> syncobjs;
  if (const Result bad = FindSyncobjs(caller, args.handles, args.count_handles, syncobjs)) {
    return bad;
  }
  // Without points, the objects are waited for as binary ones.
  std::vector<uint64_t> points(syncobjs.size(), 0);
  if (args.points != 0) {
    if (const Result bad = caller.GetArray(args.points, args.count_handles, points)) return bad;
  }
  std::vector<Waited> waited;
  for (size_t i = 0; i < syncobjs.size(); ++i) waited.push_back({syncobjs[i], points[i]});
  return WaitFor(caller, waited, args.flags, args.timeout_nsec, args.first_signaled);
}

Result File::SyncobjReset(Caller& caller, drm::syncobj_array& args) {
  if (args.pad != 0 || args.count_handles == 0) return -EINVAL;
  std::vector<std::shared_ptr<Syncobj>> syncobjs;
  if (const Result bad = FindSyncobjs(caller, args.handles, args.count_handles, syncobjs)) {
    return bad;
  }
  for (const auto& syncobj : syncobjs) syncobj->Replace(nullptr);
  return 0;
}

Result File::SyncobjSignal(Caller& caller, drm::syncobj_array& args) {
  if (args.pad != 0 || args.count_handles == 0) return -EINVAL;
  std::vector<std::shared_ptr<Syncobj>> syncobjs;
  if (const Result bad = FindSyncobjs(caller, args.handles, args.count_handles, syncobjs)) {
    return bad;
  }
  for (const auto& syncobj : syncobjs) syncobj->Replace(Fence::Signalled());
  return 0;
}

Result File::SyncobjTimelineSignal(Caller& caller, drm::syncobj_timeline_array& args) {
  if (args.flags != 0 || args.count_handles == 0) return -EINVAL;
  std::vector<std::shared_ptr<Syncobj>> syncobjs;
  if (const Result bad = FindSyncobjs(caller, args.handles, args.count_handles, syncobjs)) {
    return bad;
  }
  std::vector<uint64_t> points(syncobjs.size(), 0);
  if (args.points != 0) {
    if (const Result bad = caller.GetArray(args.points, args.count_handles, points)) return bad;
  }
  for (size_t i = 0; i < syncobjs.size(); ++i) {
    if (points[i] < syncobjs[i]->added()) {
      Warn(caller, "a point of a timeline is signalled that is below the last one");
    }
    if (points[i] == 0) {
      syncobjs[i]->Replace(Fence::Signalled());
    } else {
      syncobjs[i]->AddPoint(points[i], Fence::Signalled());
    }
  }
  return 0;
}

Result File::SyncobjQuery(Caller& caller, drm::syncobj_timeline_array& args) {
  if ((args.flags & ~drm::kSyncobjQueryLastSubmitted) != 0 || args.count_handles == 0) {
    return -EINVAL;
  }
  std::vector<std::shared_ptr<Syncobj>> syncobjs;
  if (const Result bad = FindSyncobjs(caller, args.handles, args.count_handles, syncobjs)) {
    return bad;
  }
  for (size_t i = 0; i < syncobjs.size(); ++i) {
    const uint64_t point = args.flags != 0 ? syncobjs[i]->added() : syncobjs[i]->reached();
    if (const Result bad = caller.Put(args.points + i * sizeof(point), point)) return bad;
  }
  return 0;
}

Result File::SyncobjTransfer(Caller& caller, drm::syncobj_transfer& args) {
  if ((args.flags & ~drm::kSyncobjTransferForSubmit) != 0 || args.pad != 0) return -EINVAL;
  const std::shared_ptr<Syncobj> source = FindSyncobj(args.src_handle);
  const std::shared_ptr<Syncobj> target = FindSyncobj(args.dst_handle);
  if (!source || !target) return -ENOENT;
  std::shared_ptr<Fence> fence = source->PointFence(args.src_point);
  if (!fence && args.flags != 0) {
    // The kernel waits five seconds at most.
    const Result result = kernel().WaitUntil(caller, MonotonicNow() + 5'000'000'000, [&] {
      fence = source->PointFence(args.src_point);
      return fence != nullptr;
    });
    if (result != 0) return result;
  }
  if (!fence) return -EINVAL;
  if (args.dst_point == 0) {
    target->Replace(fence);
  } else {
    target->AddPoint(args.dst_point, fence);
  }
  return 0;
}

Result File::SyncobjEventfd(Caller& caller, drm::syncobj_eventfd& args) {
  if ((args.flags & ~drm::kSyncobjWaitAvailable) != 0 || args.pad != 0) return -EINVAL;
  std::shared_ptr<Syncobj> syncobj = FindSyncobj(args.handle);
  if (!syncobj) return -ENOENT;
  auto fd = std::make_shared<UniqueFd>(caller.Take(args.fd));
  if (!*fd) return -EBADF;
  if (!IsEventfd(fd->get())) return Refuse(-EINVAL, "the descriptor is not an eventfd");
  const bool available = args.flags != 0;
  const auto tell = [fd] {
    // One that is full would block. Its readers have been told.
    pollfd room = {fd->get(), POLLOUT, 0};
    const uint64_t one = 1;
    if (poll(&room, 1, 0) == 1) (void)!::write(fd->get(), &one, sizeof(one));
  };
  syncobj->WhenPoint(args.point, [available, tell](const std::shared_ptr<Fence>& fence) {
    if (available) {
      tell();
    } else {
      fence->WhenDone(tell);
    }
  });
  return 0;
}

}  // namespace packsmith::capture
