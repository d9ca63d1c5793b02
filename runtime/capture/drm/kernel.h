// A kernel for simulated GPUs: devices, the files that programs open, and what they share.
//
//   MockKernel kernel;
//   MockDevice& device = kernel.Add(MakeI915(kernel, *FindDevice("skl")));
//   std::shared_ptr<File> file = kernel.Open(device.render_minor());
//   OwnCaller caller;
//   file->Ioctl(caller, request, reinterpret_cast<uint64_t>(&argument));
//
// Calls are answered as the kernel driver answers them, with the same errno. Hostile calls change
// nothing but what the same call changes in the kernel.
#ifndef PACKSMITH_RUNTIME_CAPTURE_DRM_KERNEL_H_
#define PACKSMITH_RUNTIME_CAPTURE_DRM_KERNEL_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "runtime/base/mutex.h"
#include "runtime/capture/drm/caller.h"
#include "runtime/capture/drm/executor.h"
#include "runtime/capture/drm/object.h"
#include "runtime/capture/drm/scheduler.h"
#include "runtime/capture/drm/shared_files.h"
#include "runtime/capture/drm/syncobj.h"

namespace packsmith::capture {

struct DeviceInfo;
class File;
class MockKernel;

// One GPU. Each kernel interface derives its own.
class MockDevice {
 public:
  MockDevice(MockKernel& kernel, const DeviceInfo& info) : kernel_(kernel), info_(info) {}
  virtual ~MockDevice() = default;

  // What DRM_IOCTL_VERSION says.
  struct Version {
    absl::string_view name;  // "i915"
    int major = 1, minor = 0, patch = 0;
    absl::string_view date, description;
  };
  virtual Version version() const = 0;
  virtual std::shared_ptr<File> MakeFile(uint64_t number, bool render) = 0;
  // An object for memory that came as a descriptor from another file or device, or that has no
  // driver's call. Handles, sharing and the map's offset are the kernel's affair.
  virtual std::shared_ptr<Object> MakeObject(uint64_t id, std::shared_ptr<SharedMemory> memory,
                                             uint64_t size);

  MockKernel& kernel() const { return kernel_; }
  const DeviceInfo& info() const { return info_; }
  int card_minor() const { return index_; }
  int render_minor() const { return 128 + index_; }

 private:
  friend class MockKernel;
  MockKernel& kernel_;
  const DeviceInfo& info_;
  int index_ = 0;
};

class MockKernel {
 public:
  MockKernel();
  ~MockKernel();
  MockKernel(const MockKernel&) = delete;
  MockKernel& operator=(const MockKernel&) = delete;

  // Before the first file is opened. At most 64 devices.
  MockDevice& Add(std::unique_ptr<MockDevice> device);
  const std::vector<std::unique_ptr<MockDevice>>& devices() const { return devices_; }
  // Both must outlive the kernel.
  void set_executor(Executor* executor);
  void AddWatcher(Watcher* watcher);
  void set_hang_at(std::vector<uint64_t> submissions);
  void set_patience(int64_t nanoseconds);

  // A file of the node with that minor number. Null: there is none. What it holds is freed when
  // the last copy of the pointer goes, which must be before the kernel.
  std::shared_ptr<File> Open(int minor);

  // ioctl() on a descriptor that is not a device: a sync file or a dma-buf of this kernel. -ENOTTY:
  // it is neither, and the system should be asked.
  Result FdIoctl(Caller& caller, UniqueFd fd, uint32_t request, uint64_t argument);

  // Work is submitted and fences are signalled as far as they can be without this; it also tries
  // what waits for a value in memory.
  void Advance();
  // Until all that was submitted is done, or until the time is up: whether it is done.
  bool WaitIdle(int64_t nanoseconds);

  // ---- For devices and files, with the lock held. ----

  Mutex& mutex() ABSL_LOCK_RETURNED(mutex_) { return mutex_; }
  Scheduler& scheduler() { return scheduler_; }
  SharedFiles& shared_files() { return shared_files_; }
  uint64_t NewObjectId() {
    DropGone();
    return ++objects_made_;
  }
  uint64_t NewContextId() { return ++contexts_made_; }
  uint64_t NewWorkNumber() { return ++works_made_; }
  // For calls that wait: releases the lock, and takes it again to ask `ready` whenever something
  // may have changed. `deadline`: CLOCK_MONOTONIC in nanoseconds; a past one asks once. 0, -ETIME,
  // or -EINTR if the caller is gone.
  Result WaitUntil(Caller& caller, int64_t deadline,
                   const std::function<bool()>& ready) ABSL_NO_THREAD_SAFETY_ANALYSIS;

  // The offset for mmap() of an object, always the same; `mode` distinguishes several views of it.
  uint64_t MapOffset(const std::shared_ptr<Object>& object, uint32_t mode);
  struct MapTarget {
    std::shared_ptr<Object> object;  // null: nothing is there
    uint32_t mode = 0;
    uint64_t offset = 0;  // in the object
  };
  MapTarget FindMapOffset(uint64_t offset) const;

  // An object that any file of the device can open: its name, always the same. Null: no object has
  // that name.
  uint32_t NameOf(const MockDevice& device, const std::shared_ptr<Object>& object);
  std::shared_ptr<Object> FindNamed(const MockDevice& device, uint32_t name) const;
  // The object that stands for the memory of `object` on a device: itself, if the device made it.
  std::shared_ptr<Object> ObjectOn(MockDevice& device, const std::shared_ptr<Object>& object);

  void Warn(const Caller& caller, absl::string_view call, absl::string_view text);
  // Of work whose call has returned: what is found when it begins or ends.
  void Warn(pid_t pid, absl::string_view call, absl::string_view text);
  void Refused(const Caller& caller, absl::string_view call, Result result, absl::string_view why);
  void OnSubmit(const std::shared_ptr<const Work>& work);

 private:
  friend class File;
  void Tick() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  // Wakes calls that wait, and begins ticking if work waits for a value in memory.
  void Changed();

  Mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::unique_ptr<MockDevice>> devices_;
  Scheduler scheduler_;
  SharedFiles shared_files_;
  std::vector<Watcher*> watchers_;
  uint64_t objects_made_ = 0, contexts_made_ = 0, works_made_ = 0, files_made_ = 0;

  struct Offset {
    std::weak_ptr<Object> object;
    uint32_t mode = 0;
    uint64_t size = 0;
  };
  std::map<uint64_t, Offset> offsets_;
  std::map<std::pair<uint64_t, uint32_t>, uint64_t> offset_of_;  // of (object's id, mode)
  uint64_t next_offset_ = uint64_t{1} << 32;

  struct Named {
    const MockDevice* device = nullptr;
    std::weak_ptr<Object> object;
  };
  std::map<uint32_t, Named> names_;
  std::map<uint64_t, uint32_t> name_of_;  // of the object's id
  uint32_t names_made_ = 0;
  // Objects of other devices that were made for an import: by the device and the memory.
  std::map<std::pair<const MockDevice*, const SharedMemory*>, std::weak_ptr<Object>> imports_;

  // Forgets offsets, names and imports of objects that are gone; now and then.
  void DropGone();
  size_t drop_at_ = 1024;

  // Tries, in short intervals, work that waits for a value in memory.
  std::thread ticker_;
  bool ticking_ = false, ending_ = false;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DRM_KERNEL_H_
