// An open file of a device with the asahi interface.
#ifndef PACKSMITH_RUNTIME_CAPTURE_ASAHI_FILE_H_
#define PACKSMITH_RUNTIME_CAPTURE_ASAHI_FILE_H_

#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "runtime/capture/asahi/commands.h"
#include "runtime/capture/asahi/device.h"
#include "runtime/capture/asahi/submission.h"
#include "runtime/capture/drm/file.h"
#include "runtime/capture/drm/handle_table.h"
#include "runtime/kernel/uapi/asahi.h"

namespace packsmith::capture {

// A part of an object that timestamps are written to.
struct AsahiTimestamps {
  std::shared_ptr<Object> object;
  uint64_t offset = 0, size = 0;
};

class AsahiFile : public File {
 public:
  AsahiFile(AsahiDevice& device, uint64_t number, bool render);
  ~AsahiFile() override;

 protected:
  absl::Span<const IoctlEntry> DriverIoctls() const override;
  // Private objects are -EINVAL.
  Result MayExport(const Object& object) const override;
  // What is bound in this file's address spaces goes with the handle.
  void OnClosed(const std::shared_ptr<Object>& object) override;

  // Null: the number is unknown.
  std::shared_ptr<AsahiVm> FindVm(uint32_t id);
  std::shared_ptr<AsahiQueue> FindQueue(uint32_t id);

  Result VmCreate(Caller&, uapi::asahi::vm_create&);
  Result VmDestroy(Caller&, uapi::asahi::vm_destroy&);
  Result GemCreate(Caller&, uapi::asahi::gem_create&);
  Result GemMmapOffset(Caller&, uapi::asahi::gem_mmap_offset&);
  Result QueueCreate(Caller&, uapi::asahi::queue_create&);
  Result QueueDestroy(Caller&, uapi::asahi::queue_destroy&);
  // One operation of VM_BIND: checks and does it.
  Result Bind(const std::shared_ptr<AsahiVm>& vm, const uapi::asahi::gem_bind_op& op);
  // `in`: it is waited for, else signalled.
  Result AddSync(const Caller& caller, const uapi::asahi::sync& sync, bool in,
                 AsahiSubmission& out);

 private:
  Result GetParams(Caller&, uapi::asahi::get_params&);
  Result GetTime(Caller&, uapi::asahi::get_time&);
  Result VmBind(Caller&, uapi::asahi::vm_bind&);
  Result GemBindObject(Caller&, uapi::asahi::gem_bind_object&);
  Result Submit(Caller&, uapi::asahi::submit&);
  // Where the command's timestamps are written.
  Result FindTimestamps(AsahiCommand& command);

  HandleTable<std::shared_ptr<AsahiVm>> vms_;
  HandleTable<std::shared_ptr<AsahiQueue>> queues_;
  HandleTable<AsahiTimestamps> timestamps_;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_ASAHI_FILE_H_
