// An open file of a device with the asahi interface.
#ifndef PACKSMITH_RUNTIME_CAPTURE_ASAHI_FILE_H_
#define PACKSMITH_RUNTIME_CAPTURE_ASAHI_FILE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "runtime/capture/asahi/commands.h"
#include "runtime/capture/asahi/device.h"
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

 private:
  Result GetParams(Caller&, uapi::asahi::get_params&);
  Result GetTime(Caller&, uapi::asahi::get_time&);
  Result VmCreate(Caller&, uapi::asahi::vm_create&);
  Result VmDestroy(Caller&, uapi::asahi::vm_destroy&);
  Result VmBind(Caller&, uapi::asahi::vm_bind&);
  Result GemCreate(Caller&, uapi::asahi::gem_create&);
  Result GemMmapOffset(Caller&, uapi::asahi::gem_mmap_offset&);
  Result GemBindObject(Caller&, uapi::asahi::gem_bind_object&);
  Result QueueCreate(Caller&, uapi::asahi::queue_create&);
  Result QueueDestroy(Caller&, uapi::asahi::queue_destroy&);
  Result Submit(Caller&, uapi::asahi::submit&);

  // One operation of VM_BIND: checks and does it.
  Result Bind(Caller& caller, const std::shared_ptr<AsahiVm>& vm,
              const uapi::asahi::gem_bind_op& op);

  // What a submission waits for, and whom it tells.
  struct Syncs {
    std::vector<std::shared_ptr<Fence>> in;
    // 0: the object is not used as a timeline.
    std::vector<std::pair<std::shared_ptr<Syncobj>, uint64_t>> out;
  };
  Result ReadSyncs(Caller& caller, const uapi::asahi::submit& args, Syncs& out);
  Result CheckTimestamps(Caller& caller, const AsahiCommand& command);
  // What commands of a submission may wait for.
  struct Before {
    std::shared_ptr<Fence> begun;                      // the submission's own waits
    std::shared_ptr<Fence> last_render, last_compute;  // of earlier submissions
    // Of this submission so far.
    std::vector<std::shared_ptr<Fence>> renders, computes;
  };
  // Queues a command. Its fence.
  std::shared_ptr<Fence> Queue(const Caller& caller, const std::shared_ptr<AsahiQueue>& queue,
                               const AsahiCommand& command, const Before& before);

  HandleTable<std::shared_ptr<AsahiVm>> vms_;
  HandleTable<std::shared_ptr<AsahiQueue>> queues_;
  HandleTable<AsahiTimestamps> timestamps_;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_ASAHI_FILE_H_
