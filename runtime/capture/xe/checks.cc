#include "runtime/capture/xe/checks.h"

#include "runtime/capture/xe/queries.h"

namespace packsmith::capture {

namespace xe = uapi::xe;

Result CheckXeGemCreate(const XeDevice& device, const xe::gem_create& args) {
  constexpr uint32_t kFlags = xe::kGemDeferBacking | xe::kGemScanout | xe::kGemNeedsVisibleVram;
  if (args.extensions != 0 || args.pad[0] != 0 || args.pad[1] != 0 || args.pad[2] != 0 ||
      args.reserved[0] != 0 || args.reserved[1] != 0) {
    return -EINVAL;
  }
  if (args.placement == 0 || (args.placement & ~device.region_mask()) != 0) return -EINVAL;
  if ((args.flags & ~kFlags) != 0 || args.handle != 0) return -EINVAL;
  if (args.size == 0 || args.size % kXePage != 0) return -EINVAL;
  // All regions but the first are VRAM.
  const bool vram = (args.placement & ~uint32_t{1}) != 0;
  if ((args.flags & xe::kGemNeedsVisibleVram) != 0 && !vram) return -EINVAL;
  if (args.cpu_caching != xe::kCachingWb && args.cpu_caching != xe::kCachingWc) return -EINVAL;
  if (vram && args.cpu_caching != xe::kCachingWc) return -EINVAL;
  if ((args.flags & xe::kGemScanout) != 0 && args.cpu_caching == xe::kCachingWb) return -EINVAL;
  return vram && device.large_pages() && args.size % kXeLargePage != 0 ? -EINVAL : 0;
}

Result CheckXeBindOp(const XeDevice& device, const xe::vm_bind_op& op) {
  constexpr uint32_t kFlags =
      xe::kBindReadonly | xe::kBindImmediate | xe::kBindNull | xe::kBindDumpable;
  const PatInfo& pat = device.info().pat;
  if (op.extensions != 0 || op.pad != 0 || op.pad2 != 0 || op.reserved[0] != 0 ||
      op.reserved[1] != 0 || op.reserved[2] != 0) {
    return -EINVAL;
  }
  if (op.pat_index >= pat.entries || (pat.reserved >> op.pat_index & 1) != 0) return -EINVAL;
  if (op.op > xe::kPrefetch || (op.flags & ~kFlags) != 0) return -EINVAL;

  const bool null = (op.flags & xe::kBindNull) != 0;
  if (null && (op.obj != 0 || op.obj_offset != 0 || op.op != xe::kMap)) return -EINVAL;
  const bool takes_object = (op.op == xe::kMap && !null) || op.op == xe::kUnmapAll;
  if (takes_object != (op.obj != 0)) return -EINVAL;
  if (op.op == xe::kUnmapAll && (op.addr != 0 || op.range != 0)) return -EINVAL;
  if (op.op == xe::kMapUserptr) {
    const bool coherent = (pat.coherent >> op.pat_index & 1) != 0;
    const bool compressed = (pat.compressed >> op.pat_index & 1) != 0;
    if (!coherent || compressed) return -EINVAL;
  }
  const uint32_t region = op.prefetch_mem_region_instance;
  if (region != 0 && op.op != xe::kPrefetch) return -EINVAL;
  if (region >= device.regions().size()) return -EINVAL;

  if ((op.obj_offset | op.addr | op.range) % kXePage != 0) return -EINVAL;
  return op.range == 0 && op.op != xe::kUnmapAll ? -EINVAL : 0;
}

Result CheckXeBindObject(const XeDevice& device, const xe::vm_bind_op& op, const XeObject& object) {
  if (op.range > object.size() || op.obj_offset > object.size() - op.range) return -EINVAL;
  if (object.vram() && device.large_pages() &&
      (op.obj_offset | op.addr | op.range) % kXeLargePage != 0) {
    return -EINVAL;
  }
  const PatInfo& pat = device.info().pat;
  const bool coherent = (pat.coherent >> op.pat_index & 1) != 0;
  const bool compressed = (pat.compressed >> op.pat_index & 1) != 0;
  switch (object.caching()) {
    case XeObject::Caching::kWriteBack:
      return coherent ? 0 : -EINVAL;
    case XeObject::Caching::kWriteCombined:
      return 0;
    case XeObject::Caching::kImported:
      return coherent && !compressed ? 0 : -EINVAL;
  }
  return 0;
}

Result CheckXeEngines(const DeviceInfo& info, absl::Span<const xe::engine_class_instance> engines,
                      unsigned width) {
  for (size_t i = 0; i < engines.size(); ++i) {
    if (FindXeEngine(info, engines[i]) == nullptr) return -EINVAL;
    if (engines[i].engine_class != engines[0].engine_class ||
        engines[i].gt_id != engines[0].gt_id) {
      return -EINVAL;
    }
    if (i % width != 0 && engines[i].engine_instance != engines[i - 1].engine_instance + 1) {
      return -EINVAL;
    }
  }
  return 0;
}

Result CheckXeQueueExtensions(const Caller& caller, uint64_t address) {
  constexpr int kMost = 16;
  constexpr uint64_t kPriorities = 3, kLongestTimeslice = 10'000'000;  // microseconds
  for (int count = 0; address != 0; ++count) {
    if (count >= kMost) return -E2BIG;
    xe::ext_set_property extension = {};
    if (const Result bad = caller.Get(address, extension.base)) return bad;
    if (extension.base.pad != 0 || extension.base.name != xe::kExtensionSetProperty) return -EINVAL;
    if (const Result bad = caller.Get(address, extension)) return bad;
    if (extension.pad != 0) return -EINVAL;
    switch (extension.property) {
      case xe::kPropertyPriority:
        if (extension.value >= kPriorities) return -EINVAL;
        if (extension.value > kXeHighestPriority) return -EPERM;
        break;
      case xe::kPropertyTimeslice:
        if (extension.value == 0 || extension.value > kLongestTimeslice) return -EINVAL;
        break;
      default:
        return -EINVAL;
    }
    address = extension.base.next_extension;
  }
  return 0;
}

}  // namespace packsmith::capture
