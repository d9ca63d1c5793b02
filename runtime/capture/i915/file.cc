#include "runtime/capture/i915/file.h"

#include <utility>

namespace packsmith::capture::i915 {

namespace drm = uapi::drm;
namespace api = uapi::i915;

I915File::I915File(I915Device& device, uint64_t number, bool render)
    : File(device, number, render), device_(device), traits_(device.traits()) {
  contexts_[0] = MakeContext();
}

I915File::~I915File() {
  MutexLock lock(kernel().mutex());
  for (const auto& [id, context] : contexts_) context->Close(kernel());
  CloseObjects();
}

std::shared_ptr<I915Object> I915File::FindI915Object(uint32_t handle) {
  // All objects of the device are made by it.
  return std::static_pointer_cast<I915Object>(FindObject(handle));
}

void I915File::OnClosed(const std::shared_ptr<Object>& object) {
  for (const auto& [id, context] : contexts_) {
    if (!context->space->global()) context->space->Remove(object->id());
  }
  for (const auto& [id, space] : spaces_.values()) space->Remove(object->id());
  // Another file that uses it finds it the same place, if nothing else is there by then.
  device_.global_space()->Remove(object->id());
}

Result I915File::MayExport(const Object& object) const {
  // Memory of a process cannot be given to another.
  return object.memory() ? 0 : -EINVAL;
}

absl::Span<const IoctlEntry> I915File::DriverIoctls() const {
  static constexpr IoctlEntry kEntries[] = {
      MakeIoctl<&I915File::Getparam>(api::kGetparam, "GETPARAM"),
      MakeIoctl<&I915File::NoOperation>(api::kGemInit, "GEM_INIT", false),
      MakeIoctl<&I915File::GemBusy>(api::kGemBusy, "GEM_BUSY"),
      MakeIoctl<&I915File::GemThrottle>(api::kGemThrottle, "GEM_THROTTLE"),
      MakeIoctl<&I915File::NoOperation>(api::kGemEntervt, "GEM_ENTERVT", false),
      MakeIoctl<&I915File::NoOperation>(api::kGemLeavevt, "GEM_LEAVEVT", false),
      MakeIoctl<&I915File::GemCreate>(api::kGemCreate, "GEM_CREATE"),
      MakeIoctl<&I915File::GemPread>(api::kGemPread, "GEM_PREAD"),
      MakeIoctl<&I915File::GemPwrite>(api::kGemPwrite, "GEM_PWRITE"),
      MakeIoctl<&I915File::GemMmap>(api::kGemMmap, "GEM_MMAP"),
      MakeIoctl<&I915File::GemSetDomain>(api::kGemSetDomain, "GEM_SET_DOMAIN"),
      MakeIoctl<&I915File::GemSwFinish>(api::kGemSwFinish, "GEM_SW_FINISH"),
      MakeIoctl<&I915File::GemSetTiling>(api::kGemSetTiling, "GEM_SET_TILING"),
      MakeIoctl<&I915File::GemGetTiling>(api::kGemGetTiling, "GEM_GET_TILING"),
      MakeIoctl<&I915File::GemGetAperture>(api::kGemGetAperture, "GEM_GET_APERTURE"),
      MakeIoctl<&I915File::GemMmapOffset>(api::kGemMmapOffset, "GEM_MMAP_OFFSET"),
      MakeIoctl<&I915File::GemMadvise>(api::kGemMadvise, "GEM_MADVISE"),
      MakeIoctl<&I915File::GemExecbuffer2>(api::kGemExecbuffer2, "GEM_EXECBUFFER2"),
      MakeIoctl<&I915File::GemWait>(api::kGemWait, "GEM_WAIT"),
      MakeIoctl<&I915File::GemContextCreate>(api::kGemContextCreateExt, "GEM_CONTEXT_CREATE"),
      MakeIoctl<&I915File::GemContextDestroy>(api::kGemContextDestroy, "GEM_CONTEXT_DESTROY"),
      MakeIoctl<&I915File::GemSetCaching>(api::kGemSetCaching, "GEM_SET_CACHING"),
      MakeIoctl<&I915File::GemGetCaching>(api::kGemGetCaching, "GEM_GET_CACHING"),
      MakeIoctl<&I915File::RegRead>(api::kRegRead, "REG_READ"),
      MakeIoctl<&I915File::GetResetStats>(api::kGetResetStats, "GET_RESET_STATS"),
      MakeIoctl<&I915File::GemUserptr>(api::kGemUserptr, "GEM_USERPTR"),
      MakeIoctl<&I915File::GemContextGetparam>(api::kGemContextGetparam, "GEM_CONTEXT_GETPARAM"),
      MakeIoctl<&I915File::GemContextSetparam>(api::kGemContextSetparam, "GEM_CONTEXT_SETPARAM"),
      MakeIoctl<&I915File::PerfOpen>(api::kPerfOpen, "PERF_OPEN"),
      MakeIoctl<&I915File::PerfAddConfig>(api::kPerfAddConfig, "PERF_ADD_CONFIG"),
      MakeIoctl<&I915File::PerfRemoveConfig>(api::kPerfRemoveConfig, "PERF_REMOVE_CONFIG"),
      MakeIoctl<&I915File::Query>(api::kQuery, "QUERY"),
      MakeIoctl<&I915File::GemVmCreate>(api::kGemVmCreate, "GEM_VM_CREATE"),
      MakeIoctl<&I915File::GemVmDestroy>(api::kGemVmDestroy, "GEM_VM_DESTROY"),
      MakeIoctl<&I915File::GemCreateExt>(api::kGemCreateExt, "GEM_CREATE_EXT"),
  };
  return kEntries;
}

}  // namespace packsmith::capture::i915
