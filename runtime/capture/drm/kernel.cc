#include "runtime/capture/drm/kernel.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "runtime/capture/drm/file.h"
#include "runtime/kernel/uapi/drm.h"

namespace packsmith::capture {

namespace drm = uapi::drm;

std::shared_ptr<Object> MockDevice::MakeObject(uint64_t id, std::shared_ptr<SharedMemory> memory,
                                               uint64_t size) {
  return std::make_shared<Object>(*this, id, std::move(memory), size);
}

MockKernel::MockKernel() {
  // Each buffer has a descriptor.
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

MockKernel::~MockKernel() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  if (ticker_.joinable()) ticker_.join();
}

MockDevice& MockKernel::Add(std::unique_ptr<MockDevice> device) {
  MutexLock lock(mutex_);
  device->index_ = static_cast<int>(devices_.size());
  devices_.push_back(std::move(device));
  return *devices_.back();
}

void MockKernel::set_executor(Executor* executor) {
  MutexLock lock(mutex_);
  scheduler_.set_executor(executor);
}

void MockKernel::AddWatcher(Watcher* watcher) {
  MutexLock lock(mutex_);
  watchers_.push_back(watcher);
  scheduler_.set_watchers(watchers_);
}

void MockKernel::set_hang_at(std::vector<uint64_t> submissions) {
  MutexLock lock(mutex_);
  scheduler_.set_hang_at(std::move(submissions));
}

void MockKernel::set_patience(int64_t nanoseconds) {
  MutexLock lock(mutex_);
  scheduler_.set_patience(nanoseconds);
}

std::shared_ptr<File> MockKernel::Open(int minor) {
  MutexLock lock(mutex_);
  for (const auto& device : devices_) {
    if (minor == device->card_minor() || minor == device->render_minor()) {
      return device->MakeFile(++files_made_, minor == device->render_minor());
    }
  }
  return nullptr;
}

Result MockKernel::FdIoctl(Caller& caller, UniqueFd fd, uint32_t request, uint64_t argument) {
  MutexLock lock(mutex_);
  if (const auto fence = shared_files_.FindFence(fd.get())) {
    switch (request) {
      case drm::kSyncFileMerge: {
        drm::sync_merge merge = {};
        if (const Result bad = caller.Get(argument, merge)) return bad;
        if (merge.flags != 0 || merge.pad != 0) return -EINVAL;
        const UniqueFd other = caller.Take(merge.fd2);
        const auto second = other ? shared_files_.FindFence(other.get()) : nullptr;
        if (!second) return -ENOENT;
        UniqueFd merged = shared_files_.Export(WhenAll({fence, second}));
        if (!merged) return -ENOMEM;
        const Result number = caller.Install(std::move(merged), /*close_on_exec=*/true);
        if (number < 0) return number;
        merge.fence = number;
        return caller.Put(argument, merge);
      }
      case drm::kSyncFileInfo: {
        drm::sync_file_info info = {};
        if (const Result bad = caller.Get(argument, info)) return bad;
        if (info.flags != 0 || info.pad != 0) return -EINVAL;
        const int32_t status = !fence->done() ? 0 : fence->error() != 0 ? fence->error() : 1;
        if (info.num_fences != 0) {
          drm::sync_fence_info one = {};
          std::strncpy(one.obj_name, "packsmith", sizeof(one.obj_name) - 1);
          std::strncpy(one.driver_name, "mock", sizeof(one.driver_name) - 1);
          one.status = status;
          one.timestamp_ns = static_cast<uint64_t>(fence->time());
          if (const Result bad = caller.Put(info.sync_fence_info, one)) return bad;
        }
        std::memset(info.name, 0, sizeof(info.name));
        std::strncpy(info.name, "packsmith", sizeof(info.name) - 1);
        info.status = status;
        info.num_fences = 1;
        return caller.Put(argument, info);
      }
      default:
        return -ENOTTY;
    }
  }
  const auto object = shared_files_.FindObject(fd.get());
  if (!object) return -ENOTTY;
  switch (request) {
    case drm::kDmaBufSync: {
      drm::dma_buf_sync sync = {};
      if (const Result bad = caller.Get(argument, sync)) return bad;
      constexpr uint64_t kRead = 1, kWrite = 2, kEnd = 4;
      if ((sync.flags & ~(kRead | kWrite | kEnd)) != 0 || (sync.flags & (kRead | kWrite)) == 0) {
        return -EINVAL;
      }
      if ((sync.flags & kEnd) != 0) return 0;
      // Access begins when the work that it must follow is done.
      const auto before = (sync.flags & kWrite) != 0 ? object->uses() : object->writes();
      return WaitUntil(caller, INT64_MAX, [&] { return AllDone(before); });
    }
    case drm::kDmaBufSetName:
    case drm::kDmaBufSetNameOld: {
      char name[32] = {};
      for (size_t i = 0; i + 1 < sizeof(name); ++i) {
        if (const Result bad = caller.Get(argument + i, name[i])) return bad;
        if (name[i] == '\0') break;
      }
      object->name = name;
      return 0;
    }
    case drm::kDmaBufExportSyncFile: {
      drm::dma_buf_sync_file sync = {};
      if (const Result bad = caller.Get(argument, sync)) return bad;
      if (sync.flags == 0 || sync.flags > 3) return -EINVAL;
      // A reader waits for writes; a writer for everything.
      UniqueFd file =
          shared_files_.Export(WhenAll((sync.flags & 2) != 0 ? object->uses() : object->writes()));
      if (!file) return -ENOMEM;
      const Result number = caller.Install(std::move(file), /*close_on_exec=*/true);
      if (number < 0) return number;
      sync.fd = number;
      return caller.Put(argument, sync);
    }
    case drm::kDmaBufImportSyncFile: {
      drm::dma_buf_sync_file sync = {};
      if (const Result bad = caller.Get(argument, sync)) return bad;
      if (sync.flags == 0 || sync.flags > 3) return -EINVAL;
      const UniqueFd file = caller.Take(sync.fd);
      const auto fence = file ? shared_files_.FindFence(file.get()) : nullptr;
      if (!fence) return -EINVAL;
      object->AddUse(fence, (sync.flags & 2) != 0);
      return 0;
    }
    default:
      return -ENOTTY;
  }
}

void MockKernel::Advance() {
  MutexLock lock(mutex_);
  scheduler_.Advance();
  Changed();
}

bool MockKernel::WaitIdle(int64_t nanoseconds) {
  OwnCaller caller;
  MutexLock lock(mutex_);
  return WaitUntil(caller, MonotonicNow() + nanoseconds, [this] { return scheduler_.idle(); }) == 0;
}

Result MockKernel::WaitUntil(Caller& caller, int64_t deadline, const std::function<bool()>& ready) {
  // A caller that is gone does not say so by itself.
  constexpr int64_t kAsk = 50'000'000;
  while (true) {
    scheduler_.Advance();
    if (ready()) return 0;
    const int64_t now = MonotonicNow();
    if (now >= deadline) return -ETIME;
    if (caller.gone() || ending_) return -EINTR;
    Changed();
    changed_.wait_for(mutex_, std::chrono::nanoseconds(std::min(kAsk, deadline - now)));
  }
}

void MockKernel::Changed() {
  changed_.notify_all();
  if (!scheduler_.waiting() || ticking_ || ending_) return;
  if (ticker_.joinable()) ticker_.join();  // it has ended by itself
  ticking_ = true;
  ticker_ = std::thread([this] { Tick(); });
}

void MockKernel::Tick() {
  MutexLock lock(mutex_);
  while (!ending_ && scheduler_.waiting()) {
    changed_.wait_for(mutex_, std::chrono::milliseconds(1));
    scheduler_.Advance();
    changed_.notify_all();
  }
  ticking_ = false;
}

uint64_t MockKernel::MapOffset(const std::shared_ptr<Object>& object, uint32_t mode) {
  const auto [it, fresh] = offset_of_.try_emplace({object->id(), mode}, next_offset_);
  if (fresh) {
    // Offsets are never used again: a program that keeps one too long must not see another object.
    offsets_[next_offset_] = {object, mode, object->size()};
    next_offset_ += (object->size() + 0xffff) / 0x10000 * 0x10000 + 0x10000;
  }
  return it->second;
}

void MockKernel::DropGone() {
  if (offset_of_.size() + name_of_.size() + imports_.size() < drop_at_) return;
  std::erase_if(offset_of_, [this](const auto& one) {
    const auto it = offsets_.find(one.second);
    if (!it->second.object.expired()) return false;
    offsets_.erase(it);
    return true;
  });
  std::erase_if(name_of_, [this](const auto& one) {
    const auto it = names_.find(one.second);
    if (!it->second.object.expired()) return false;
    names_.erase(it);
    return true;
  });
  std::erase_if(imports_, [](const auto& one) { return one.second.expired(); });
  drop_at_ = std::max<size_t>(1024, 2 * (offset_of_.size() + name_of_.size() + imports_.size()));
}

MockKernel::MapTarget MockKernel::FindMapOffset(uint64_t offset) const {
  auto it = offsets_.upper_bound(offset);
  if (it == offsets_.begin()) return {};
  --it;
  if (offset - it->first >= it->second.size) return {};
  return {it->second.object.lock(), it->second.mode, offset - it->first};
}

uint32_t MockKernel::NameOf(const MockDevice& device, const std::shared_ptr<Object>& object) {
  const auto [it, fresh] = name_of_.try_emplace(object->id(), names_made_ + 1);
  if (fresh) names_[++names_made_] = {&device, object};
  return it->second;
}

std::shared_ptr<Object> MockKernel::FindNamed(const MockDevice& device, uint32_t name) const {
  const auto it = names_.find(name);
  return it == names_.end() || it->second.device != &device ? nullptr : it->second.object.lock();
}

std::shared_ptr<Object> MockKernel::ObjectOn(MockDevice& device,
                                             const std::shared_ptr<Object>& object) {
  if (object->device() == &device) return object;
  std::weak_ptr<Object>& known = imports_[{&device, object->memory().get()}];
  std::shared_ptr<Object> import = known.lock();
  if (!import) {
    import = device.MakeObject(NewObjectId(), object->memory(), object->size());
    import->name = object->name;
    known = import;
  }
  return import;
}

void MockKernel::Warn(const Caller& caller, absl::string_view call, absl::string_view text) {
  Warn(caller.pid(), call, text);
}

void MockKernel::Warn(pid_t pid, absl::string_view call, absl::string_view text) {
  for (Watcher* const watcher : watchers_) watcher->OnWarning(pid, call, text);
}

void MockKernel::Refused(const Caller& caller, absl::string_view call, Result result,
                         absl::string_view why) {
  for (Watcher* const watcher : watchers_) watcher->OnRefused(caller.pid(), call, result, why);
}

void MockKernel::OnSubmit(const std::shared_ptr<const Work>& work) {
  for (Watcher* const watcher : watchers_) watcher->OnSubmit(work);
}

}  // namespace packsmith::capture
