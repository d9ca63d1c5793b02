// An open file of a device with the interface of Mesa 24: the calls have other structures, and mean
// the same.
#ifndef PACKSMITH_RUNTIME_CAPTURE_ASAHI_OLD_FILE_H_
#define PACKSMITH_RUNTIME_CAPTURE_ASAHI_OLD_FILE_H_

#include <cstdint>
#include <map>
#include <memory>

#include "absl/types/span.h"
#include "runtime/capture/asahi/file.h"
#include "runtime/kernel/uapi/asahi_old.h"

namespace packsmith::capture {

class OldAsahiFile : public AsahiFile {
 public:
  using AsahiFile::AsahiFile;

 protected:
  absl::Span<const IoctlEntry> DriverIoctls() const override;

 private:
  Result GetOldParams(Caller&, uapi::asahi_old::get_params&);
  Result GetOldTime(Caller&, uapi::asahi_old::get_time&);
  Result CreateVm(Caller&, uapi::asahi_old::vm_create&);
  Result DestroyVm(Caller&, uapi::asahi_old::vm_destroy&);
  Result CreateObject(Caller&, uapi::asahi_old::gem_create&);
  Result MapObject(Caller&, uapi::asahi_old::gem_mmap_offset&);
  Result BindObject(Caller&, uapi::asahi_old::gem_bind&);
  Result CreateQueue(Caller&, uapi::asahi_old::queue_create&);
  Result DestroyQueue(Caller&, uapi::asahi_old::queue_destroy&);
  Result SubmitOld(Caller&, uapi::asahi_old::submit&);

  // One command of a submission. `results`: the object for results; null: there is none.
  Result ReadCommand(Caller& caller, const uapi::asahi_old::command& command, uint32_t caps,
                     const std::shared_ptr<Object>& results, AsahiCommand& out);
  // Appends the attachments to the command's words.
  Result ReadAttachments(Caller& caller, uint64_t address, uint32_t count, AsahiCommand& out);

  // What each queue may be given (kQueueRender and its like).
  std::map<uint32_t, uint32_t> caps_;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_ASAHI_OLD_FILE_H_
