// An open file of a device with the xe interface.
#ifndef PACKSMITH_RUNTIME_CAPTURE_XE_FILE_H_
#define PACKSMITH_RUNTIME_CAPTURE_XE_FILE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "runtime/capture/drm/file.h"
#include "runtime/capture/drm/handle_table.h"
#include "runtime/capture/xe/device.h"
#include "runtime/capture/xe/vm.h"
#include "runtime/kernel/uapi/xe.h"

namespace packsmith::capture {

class XeFile : public File {
 public:
  XeFile(XeDevice& device, uint64_t number, bool render);
  ~XeFile() override;

 protected:
  absl::Span<const IoctlEntry> DriverIoctls() const override;
  // Private objects are -EPERM.
  Result MayExport(const Object& object) const override;

 private:
  Result DeviceQuery(Caller&, uapi::xe::device_query&);
  Result GemCreate(Caller&, uapi::xe::gem_create&);
  Result GemMmapOffset(Caller&, uapi::xe::gem_mmap_offset&);
  Result VmCreate(Caller&, uapi::xe::vm_create&);
  Result VmDestroy(Caller&, uapi::xe::vm_destroy&);
  Result VmBind(Caller&, uapi::xe::vm_bind&);
  Result ExecQueueCreate(Caller&, uapi::xe::exec_queue_create&);
  Result ExecQueueDestroy(Caller&, uapi::xe::exec_queue_destroy&);
  Result ExecQueueGetProperty(Caller&, uapi::xe::exec_queue_get_property&);
  Result Exec(Caller&, uapi::xe::exec&);
  Result WaitUserFence(Caller&, uapi::xe::wait_user_fence&);
  Result Observation(Caller&, uapi::xe::observation_param&);

  // The array of syncs of a call.
  struct Syncs {
    std::vector<std::shared_ptr<Fence>> in;
    struct Out {
      std::shared_ptr<Syncobj> syncobj;
      uint64_t point;  // 0: it is no timeline
    };
    std::vector<Out> out;
    bool user_fence = false;
    uint64_t user_address = 0, user_value = 0;

    // Gives the work's fence to all that is signalled.
    void SignalWith(const std::shared_ptr<Fence>& fence) const;
  };
  enum class SyncUse {
    kExec,
    kBind,
    kEmptyBind,  // of nothing: without user fences
  };
  Result ReadSyncs(Caller& caller, uint64_t address, uint32_t count, SyncUse use, bool long_running,
                   Syncs& out);

  // The steps of checked operations: finds their objects.
  Result MakeBindSteps(const std::shared_ptr<XeVm>& vm, absl::Span<const uapi::xe::vm_bind_op> ops,
                       std::vector<XeBindStep>& out);

  XeDevice& device() const { return static_cast<XeDevice&>(File::device()); }

  HandleTable<std::shared_ptr<XeVm>> vms_;
  HandleTable<std::shared_ptr<XeExecQueue>> exec_queues_;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_XE_FILE_H_
