// An open file of a device node.
#ifndef PACKSMITH_RUNTIME_CAPTURE_DRM_FILE_H_
#define PACKSMITH_RUNTIME_CAPTURE_DRM_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/capture/drm/caller.h"
#include "runtime/capture/drm/handle_table.h"
#include "runtime/capture/drm/ioctl.h"
#include "runtime/capture/drm/kernel.h"
#include "runtime/capture/drm/object.h"
#include "runtime/capture/drm/syncobj.h"
#include "runtime/kernel/uapi/drm.h"

namespace packsmith::capture {

// Thread-safe. The calls that all drivers share are answered here; drivers derive a class with
// their own. Protected and static members are used with the kernel's lock held.
class File {
 public:
  File(MockDevice& device, uint64_t number, bool render);
  virtual ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // The name of a call of this file, "GEM_CLOSE"; empty: it has no such call.
  absl::string_view CallName(uint32_t request) const;

  // ioctl(): 0 or a negative errno. `argument` is an address in the caller's memory.
  Result Ioctl(Caller& caller, uint32_t request, uint64_t argument);

  // mmap(): what to map in the caller's place; it keeps its address, its size, and its flags. 0 or
  // a negative errno.
  struct Mapped {
    std::shared_ptr<SharedMemory> memory;
    uint64_t offset = 0;  // in `memory`
  };
  Result Mmap(Caller& caller, uint64_t offset, uint64_t size, Mapped& out);

  MockDevice& device() const { return device_; }
  uint64_t number() const { return number_; }
  bool render() const { return render_; }

 protected:
  // The driver's calls, whose numbers begin at 0x40. Sorted by number.
  virtual absl::Span<const IoctlEntry> DriverIoctls() const = 0;
  // The memory of a view of an object; see MockKernel::MapOffset(). Null: it cannot be mapped
  // (EINVAL).
  virtual std::shared_ptr<SharedMemory> ViewOf(Object& object, uint32_t mode);
  // After the last handle of an object in this file was closed.
  virtual void OnClosed(const std::shared_ptr<Object>& object) { (void)object; }
  // Whether an object may be given to other files. 0 or a negative errno.
  virtual Result MayExport(const Object& object) const;

  MockKernel& kernel() const { return device_.kernel(); }

  // Closes all handles, for destructors: the objects count in what the device knows of its memory,
  // which the lock guards.
  void CloseObjects();

  // A new handle for an object that this file had none of.
  uint32_t AddObject(std::shared_ptr<Object> object);
  // Null: the handle is unknown.
  std::shared_ptr<Object> FindObject(uint32_t handle);
  // Null: the handle is unknown.
  std::shared_ptr<Syncobj> FindSyncobj(uint32_t handle);

  // Says of the call that is being answered what is wrong with it although it succeeds.
  void Warn(const Caller& caller, absl::string_view text) const;
  // Returns `error`; logs say why.
  static Result Refuse(Result error, absl::string_view text);

 private:
  static absl::Span<const IoctlEntry> CoreIoctls();
  // Null: there is no such call.
  const IoctlEntry* FindEntry(uint32_t request) const;

  Result Version(Caller&, uapi::drm::version&);
  Result GetUnique(Caller&, uapi::drm::unique&);
  Result SetVersion(Caller&, uapi::drm::set_version&);
  Result GetMagic(Caller&, uapi::drm::auth&);
  Result AuthMagic(Caller&, uapi::drm::auth&);
  Result Master(Caller&, uapi::drm::nothing&);
  Result GetCap(Caller&, uapi::drm::get_cap&);
  Result SetClientCap(Caller&, uapi::drm::set_client_cap&);
  Result GemClose(Caller&, uapi::drm::gem_close&);
  Result GemFlink(Caller&, uapi::drm::gem_flink&);
  Result GemOpen(Caller&, uapi::drm::gem_open&);
  Result PrimeHandleToFd(Caller&, uapi::drm::prime_handle&);
  Result PrimeFdToHandle(Caller&, uapi::drm::prime_handle&);
  Result SyncobjCreate(Caller&, uapi::drm::syncobj_create&);
  Result SyncobjDestroy(Caller&, uapi::drm::syncobj_destroy&);
  Result SyncobjHandleToFd(Caller&, uapi::drm::syncobj_handle&);
  Result SyncobjFdToHandle(Caller&, uapi::drm::syncobj_handle&);
  Result SyncobjWait(Caller&, uapi::drm::syncobj_wait&);
  Result SyncobjTimelineWait(Caller&, uapi::drm::syncobj_timeline_wait&);
  Result SyncobjReset(Caller&, uapi::drm::syncobj_array&);
  Result SyncobjSignal(Caller&, uapi::drm::syncobj_array&);
  Result SyncobjTimelineSignal(Caller&, uapi::drm::syncobj_timeline_array&);
  Result SyncobjQuery(Caller&, uapi::drm::syncobj_timeline_array&);
  Result SyncobjTransfer(Caller&, uapi::drm::syncobj_transfer&);
  Result SyncobjEventfd(Caller&, uapi::drm::syncobj_eventfd&);

  Result FindSyncobjs(Caller& caller, uint64_t handles, uint32_t count,
                      std::vector<std::shared_ptr<Syncobj>>& out);
  struct Waited;
  Result WaitFor(Caller& caller, const std::vector<Waited>& waited, uint32_t flags,
                 int64_t deadline, uint32_t& first);

  MockDevice& device_;
  const uint64_t number_;
  const bool render_;
  HandleTable<std::shared_ptr<Object>> objects_;
  std::map<uint64_t, uint32_t> handle_of_;  // of the object's id
  HandleTable<std::shared_ptr<Syncobj>> syncobjs_;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DRM_FILE_H_
