// An open file of a device that i915 drives: its calls.
#ifndef PACKSMITH_RUNTIME_CAPTURE_I915_FILE_H_
#define PACKSMITH_RUNTIME_CAPTURE_I915_FILE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "absl/strings/string_view.h"
#include "runtime/capture/drm/file.h"
#include "runtime/capture/drm/handle_table.h"
#include "runtime/capture/i915/context.h"
#include "runtime/capture/i915/device.h"
#include "runtime/capture/i915/object.h"
#include "runtime/kernel/uapi/i915.h"

namespace packsmith::capture::i915 {

class Submission;

class I915File : public File {
 public:
  I915File(I915Device& device, uint64_t number, bool render);
  ~I915File() override;

 protected:
  absl::Span<const IoctlEntry> DriverIoctls() const override;
  std::shared_ptr<SharedMemory> ViewOf(Object& object, uint32_t mode) override;
  void OnClosed(const std::shared_ptr<Object>& object) override;
  Result MayExport(const Object& object) const override;

 private:
  // Makes a submission of a call, which needs what the file holds.
  friend class Submission;

  // file_objects.cc
  Result GemCreate(Caller&, uapi::i915::gem_create&);
  Result GemCreateExt(Caller&, uapi::i915::gem_create_ext&);
  Result GemUserptr(Caller&, uapi::i915::gem_userptr&);
  Result GemPread(Caller&, uapi::i915::gem_pread&);
  Result GemPwrite(Caller&, uapi::i915::gem_pwrite&);
  Result GemMmap(Caller&, uapi::i915::gem_mmap&);
  Result GemMmapOffset(Caller&, uapi::i915::gem_mmap_offset&);
  Result GemSetTiling(Caller&, uapi::i915::gem_set_tiling&);
  Result GemGetTiling(Caller&, uapi::i915::gem_get_tiling&);
  Result GemSetCaching(Caller&, uapi::i915::gem_caching&);
  Result GemGetCaching(Caller&, uapi::i915::gem_caching&);
  Result GemMadvise(Caller&, uapi::i915::gem_madvise&);
  Result GemGetAperture(Caller&, uapi::i915::gem_get_aperture&);

  // file_waits.cc
  Result GemSetDomain(Caller&, uapi::i915::gem_set_domain&);
  Result GemSwFinish(Caller&, uapi::i915::gem_sw_finish&);
  Result GemBusy(Caller&, uapi::i915::gem_busy&);
  Result GemWait(Caller&, uapi::i915::gem_wait&);
  Result GemThrottle(Caller&, uapi::drm::nothing&);
  // Until the CPU may use the object.
  Result WaitForObject(Caller& caller, I915Object& object, bool for_write);

  // file_contexts.cc
  Result GemContextCreate(Caller&, uapi::i915::gem_context_create_ext&);
  Result GemContextDestroy(Caller&, uapi::i915::gem_context_destroy&);
  Result GemContextGetparam(Caller&, uapi::i915::gem_context_param&);
  Result GemContextSetparam(Caller&, uapi::i915::gem_context_param&);
  Result GetSseu(Caller& caller, Context& context, uapi::i915::gem_context_param& args);
  Result SetSseu(Caller& caller, Context& context, uapi::i915::gem_context_param& args);
  Result SetParam(Caller& caller, Context& context, uapi::i915::gem_context_param& args,
                  bool creating);
  Result GemVmCreate(Caller&, uapi::i915::gem_vm_control&);
  Result GemVmDestroy(Caller&, uapi::i915::gem_vm_control&);
  Result GetResetStats(Caller&, uapi::i915::reset_stats&);
  // A context that has what every new one has.
  std::shared_ptr<Context> MakeContext() const;
  // Null: there is none of that id.
  std::shared_ptr<Context> FindContext(uint32_t id) const;

  // file_device.cc
  Result Getparam(Caller&, uapi::i915::getparam&);
  Result RegRead(Caller&, uapi::i915::reg_read&);
  Result PerfOpen(Caller&, uapi::i915::perf_open_param&);
  Result PerfAddConfig(Caller&, uapi::i915::perf_oa_config&);
  Result PerfRemoveConfig(Caller&, uapi::i915::perf_remove_config&);
  Result NoOperation(Caller&, uapi::drm::nothing&);

  // file_query.cc
  Result Query(Caller&, uapi::i915::query&);

  // submission.cc
  Result GemExecbuffer2(Caller&, uapi::i915::gem_execbuffer2&);

  std::shared_ptr<I915Object> FindI915Object(uint32_t handle);
  // Makes the view of a tiled object show its tiling as it is now.
  void SetViewTiling(I915Object& object) const;
  // The handle of a new object; 0: there is no memory left (ENOMEM).
  uint32_t AddMemory(uint64_t size, std::shared_ptr<I915Object>& out);

  I915Device& device_;
  const Traits& traits_;
  std::map<uint32_t, std::shared_ptr<Context>> contexts_;
  HandleTable<uint32_t> context_ids_;
  HandleTable<std::shared_ptr<AddressSpace>> spaces_;
  // Submissions that may not be done, with the time of the call.
  struct Recent {
    int64_t time = 0;
    std::shared_ptr<Fence> fence;
  };
  std::deque<Recent> recent_;
  // Of hangs of its contexts: a file that has too many gets no more contexts.
  struct Record {
    unsigned score = 0;
    int64_t last_hang = INT64_MIN / 2;
  };
  // Work that outlives the file notes its hangs.
  std::shared_ptr<Record> record_ = std::make_shared<Record>();
};

}  // namespace packsmith::capture::i915

#endif  // PACKSMITH_RUNTIME_CAPTURE_I915_FILE_H_
