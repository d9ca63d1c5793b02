#include "runtime/capture/xe/file.h"

#include <utility>

#include "runtime/capture/xe/checks.h"
#include "runtime/capture/xe/queries.h"

namespace packsmith::capture {

namespace xe = uapi::xe;

XeFile::XeFile(XeDevice& device, uint64_t number, bool render) : File(device, number, render) {}

XeFile::~XeFile() {
  {
    MutexLock lock(kernel().mutex());
    Scheduler& scheduler = kernel().scheduler();
    for (const auto& [id, queue] : exec_queues_.values()) {
      queue->banned = true;
      scheduler.Cancel(queue->queue, -ECANCELED);
      scheduler.ForgetContext(queue->context);
    }
    for (const auto& [id, vm] : vms_.values()) scheduler.Cancel(vm->queue(), -ECANCELED);
    // Objects that only these hold count in the device's memory, which the lock guards.
    exec_queues_.Clear();
    vms_.Clear();
  }
  // What waited for it goes on.
  kernel().Advance();
}

absl::Span<const IoctlEntry> XeFile::DriverIoctls() const {
  static constexpr IoctlEntry kEntries[] = {
      MakeIoctl<&XeFile::DeviceQuery>(xe::kDeviceQuery, "DEVICE_QUERY"),
      MakeIoctl<&XeFile::GemCreate>(xe::kGemCreate, "GEM_CREATE"),
      MakeIoctl<&XeFile::GemMmapOffset>(xe::kGemMmapOffset, "GEM_MMAP_OFFSET"),
      MakeIoctl<&XeFile::VmCreate>(xe::kVmCreate, "VM_CREATE"),
      MakeIoctl<&XeFile::VmDestroy>(xe::kVmDestroy, "VM_DESTROY"),
      MakeIoctl<&XeFile::VmBind>(xe::kVmBind, "VM_BIND"),
      MakeIoctl<&XeFile::ExecQueueCreate>(xe::kExecQueueCreate, "EXEC_QUEUE_CREATE"),
      MakeIoctl<&XeFile::ExecQueueDestroy>(xe::kExecQueueDestroy, "EXEC_QUEUE_DESTROY"),
      MakeIoctl<&XeFile::ExecQueueGetProperty>(xe::kExecQueueGetProperty,
                                               "EXEC_QUEUE_GET_PROPERTY"),
      MakeIoctl<&XeFile::Exec>(xe::kExec, "EXEC"),
      MakeIoctl<&XeFile::WaitUserFence>(xe::kWaitUserFence, "WAIT_USER_FENCE"),
      MakeIoctl<&XeFile::Observation>(xe::kObservation, "OBSERVATION"),
  };
  return kEntries;
}

Result XeFile::MayExport(const Object& object) const {
  if (static_cast<const XeObject&>(object).is_private()) return -EPERM;
  return File::MayExport(object);
}

Result XeFile::DeviceQuery(Caller& caller, xe::device_query& args) {
  return AnswerXeQuery(device(), caller, args);
}

Result XeFile::GemCreate(Caller&, xe::gem_create& args) {
  if (const Result bad = CheckXeGemCreate(device(), args)) return bad;
  std::shared_ptr<XeVm> vm;
  if (args.vm_id != 0) {
    const auto* const found = vms_.Find(args.vm_id);
    if (found == nullptr) return Refuse(-ENOENT, "the address space does not exist");
    vm = *found;
  }
  // The device's own memory is taken first.
  std::shared_ptr<XeRegion> region;
  for (size_t i = device().regions().size(); i-- > 0 && !region;) {
    const auto& candidate = device().regions()[i];
    const bool fits =
        args.size <= candidate->size && candidate->used <= candidate->size - args.size;
    if ((args.placement >> i & 1) != 0 && fits) region = candidate;
  }
  if (!region) return Refuse(-ENOMEM, "the memory that the object may be in is full");
  auto memory = SharedMemory::Create(args.size, "xe object");
  if (!memory) return -ENOMEM;
  const auto caching = args.cpu_caching == xe::kCachingWb ? XeObject::Caching::kWriteBack
                                                          : XeObject::Caching::kWriteCombined;
  args.handle =
      AddObject(std::make_shared<XeObject>(device(), kernel().NewObjectId(), std::move(memory),
                                           args.size, caching, std::move(region), vm));
  return 0;
}

Result XeFile::GemMmapOffset(Caller&, xe::gem_mmap_offset& args) {
  if (args.extensions != 0 || args.reserved[0] != 0 || args.reserved[1] != 0 || args.flags != 0) {
    return -EINVAL;
  }
  const std::shared_ptr<Object> object = FindObject(args.handle);
  if (!object) return -ENOENT;
  args.offset = kernel().MapOffset(object, 0);
  return 0;
}

Result XeFile::VmCreate(Caller&, xe::vm_create& args) {
  constexpr uint32_t kFlags = xe::kVmScratchPage | xe::kVmLrMode | xe::kVmFaultMode;
  if (args.extensions != 0 || args.reserved[0] != 0 || args.reserved[1] != 0) return -EINVAL;
  if ((args.flags & ~kFlags) != 0) return -EINVAL;
  if ((args.flags & xe::kVmFaultMode) != 0 &&
      (!device().info().page_faults || (args.flags & xe::kVmLrMode) == 0)) {
    return -EINVAL;
  }
  args.vm_id = vms_.Insert(std::make_shared<XeVm>(
      args.flags, uint64_t{1} << device().info().xe_va_bits, kernel().scheduler().NewQueue()));
  return 0;
}

Result XeFile::VmDestroy(Caller&, xe::vm_destroy& args) {
  if (args.pad != 0 || args.reserved[0] != 0 || args.reserved[1] != 0) return -EINVAL;
  const auto* const found = vms_.Find(args.vm_id);
  if (found == nullptr) return -ENOENT;
  if ((*found)->exec_queues != 0) {
    return Refuse(-EBUSY, "exec queues of the address space exist");
  }
  vms_.Remove(args.vm_id);
  return 0;
}

Result XeFile::ExecQueueCreate(Caller& caller, xe::exec_queue_create& args) {
  constexpr unsigned kMostEngines = 9;
  if (args.flags != 0 || args.reserved[0] != 0 || args.reserved[1] != 0) return -EINVAL;
  const uint32_t count = uint32_t{args.width} * args.num_placements;
  if (count == 0 || count > kMostEngines) return -EINVAL;
  std::vector<xe::engine_class_instance> engines;
  if (const Result bad = caller.GetArray(args.instances, count, engines)) return bad;
  if (engines[0].gt_id >= device().info().gts.size()) return -EINVAL;
  if (engines[0].engine_class == xe::kVmBindClass) {
    if (count != 1 || engines[0].engine_instance != 0) return -EINVAL;
  } else if (const Result bad = CheckXeEngines(device().info(), engines, args.width)) {
    return bad;
  }
  const auto* const vm = vms_.Find(args.vm_id);
  if (vm == nullptr) return Refuse(-ENOENT, "the address space does not exist");
  if (const Result bad = CheckXeQueueExtensions(caller, args.extensions)) return bad;
  auto queue = std::make_shared<XeExecQueue>();
  queue->vm = *vm;
  queue->queue = kernel().scheduler().NewQueue();
  queue->context = kernel().NewContextId();
  queue->width = args.width;
  queue->engine = engines[0];
  ++queue->vm->exec_queues;
  args.exec_queue_id = exec_queues_.Insert(std::move(queue));
  return 0;
}

Result XeFile::ExecQueueDestroy(Caller&, xe::exec_queue_destroy& args) {
  if (args.pad != 0 || args.reserved[0] != 0 || args.reserved[1] != 0) return -EINVAL;
  const auto* const found = exec_queues_.Find(args.exec_queue_id);
  if (found == nullptr) return -ENOENT;
  const std::shared_ptr<XeExecQueue> queue = *found;
  exec_queues_.Remove(args.exec_queue_id);
  --queue->vm->exec_queues;
  // What was submitted runs to its end.
  Job last;
  last.end = [kernel = &kernel(), queue](bool) {
    kernel->scheduler().ForgetContext(queue->context);
  };
  kernel().scheduler().Add(queue->queue, std::move(last));
  return 0;
}

Result XeFile::ExecQueueGetProperty(Caller&, xe::exec_queue_get_property& args) {
  if (args.extensions != 0 || args.reserved[0] != 0 || args.reserved[1] != 0) return -EINVAL;
  const auto* const queue = exec_queues_.Find(args.exec_queue_id);
  if (queue == nullptr) return -ENOENT;
  if (args.property != xe::kPropertyBan) return -EINVAL;
  args.value = (*queue)->banned ? 1 : 0;
  return 0;
}

Result XeFile::Observation(Caller&, xe::observation_param& args) {
  if (args.extensions != 0 || args.observation_type != xe::kObservationOa ||
      args.observation_op > xe::kObservationRemoveConfig) {
    return -EINVAL;
  }
  return Refuse(-ENODEV, "the device has no performance counters");
}

}  // namespace packsmith::capture
