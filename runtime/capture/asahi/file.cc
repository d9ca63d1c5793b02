#include "runtime/capture/asahi/file.h"

#include <algorithm>
#include <utility>

#include "runtime/capture/devices/gpu_clock.h"

namespace packsmith::capture {

namespace asahi = uapi::asahi;

AsahiFile::AsahiFile(AsahiDevice& device, uint64_t number, bool render)
    : File(device, number, render) {}

AsahiFile::~AsahiFile() {
  {
    MutexLock lock(kernel().mutex());
    Scheduler& scheduler = kernel().scheduler();
    for (const auto& [id, queue] : queues_.values()) {
      queue->closed = true;
      for (const uint64_t one : {queue->submissions, queue->render, queue->compute}) {
        scheduler.Cancel(one, -ECANCELED);
      }
      scheduler.ForgetContext(queue->context);
    }
  }
  // What waited for it goes on.
  kernel().Advance();
}

absl::Span<const IoctlEntry> AsahiFile::DriverIoctls() const {
  static constexpr IoctlEntry kEntries[] = {
      MakeIoctl<&AsahiFile::GetParams>(asahi::kGetParams, "GET_PARAMS"),
      MakeIoctl<&AsahiFile::GetTime>(asahi::kGetTime, "GET_TIME"),
      MakeIoctl<&AsahiFile::VmCreate>(asahi::kVmCreate, "VM_CREATE"),
      MakeIoctl<&AsahiFile::VmDestroy>(asahi::kVmDestroy, "VM_DESTROY"),
      MakeIoctl<&AsahiFile::VmBind>(asahi::kVmBind, "VM_BIND"),
      MakeIoctl<&AsahiFile::GemCreate>(asahi::kGemCreate, "GEM_CREATE"),
      MakeIoctl<&AsahiFile::GemMmapOffset>(asahi::kGemMmapOffset, "GEM_MMAP_OFFSET"),
      MakeIoctl<&AsahiFile::GemBindObject>(asahi::kGemBindObject, "GEM_BIND_OBJECT"),
      MakeIoctl<&AsahiFile::QueueCreate>(asahi::kQueueCreate, "QUEUE_CREATE"),
      MakeIoctl<&AsahiFile::QueueDestroy>(asahi::kQueueDestroy, "QUEUE_DESTROY"),
      MakeIoctl<&AsahiFile::Submit>(asahi::kSubmit, "SUBMIT"),
  };
  return kEntries;
}

Result AsahiFile::MayExport(const Object& object) const {
  if (static_cast<const AsahiObject&>(object).is_private()) return -EINVAL;
  return File::MayExport(object);
}

void AsahiFile::OnClosed(const std::shared_ptr<Object>& object) {
  for (const auto& [id, vm] : vms_.values()) vm->UnmapObject(*object);
}

std::shared_ptr<AsahiVm> AsahiFile::FindVm(uint32_t id) {
  const auto* const found = vms_.Find(id);
  return found == nullptr ? nullptr : *found;
}

std::shared_ptr<AsahiQueue> AsahiFile::FindQueue(uint32_t id) {
  const auto* const found = queues_.Find(id);
  return found == nullptr ? nullptr : *found;
}

Result AsahiFile::GetParams(Caller& caller, asahi::get_params& args) {
  if (args.param_group != 0 || args.pad != 0) return -EINVAL;
  const DeviceInfo& info = device().info();
  const AppleChip& chip = *info.apple;
  asahi::params_global params = {};
  params.features = asahi::kFeatureSoftFaults;
  params.gpu_generation = chip.generation;
  params.gpu_variant = static_cast<uint32_t>(chip.variant);
  params.gpu_revision = chip.revision;
  params.chip_id = info.chip_id;
  params.num_dies = chip.dies;
  params.num_clusters_total = chip.clusters;
  params.num_cores_per_cluster = chip.cores_per_cluster;
  params.max_frequency_khz = chip.max_frequency_khz;
  std::copy(chip.core_masks.begin(), chip.core_masks.end(), params.core_masks);
  params.vm_start = kAsahiVmStart;
  params.vm_end = kAsahiVmEnd;
  params.vm_kernel_min_size = kAsahiKernelSize;
  params.max_commands_per_submission = kAsahiMostCommands;
  params.max_attachments = kAsahiMostAttachments;
  params.command_timestamp_frequency_hz = info.timestamp_hz;
  const size_t size = std::min<uint64_t>(args.size, sizeof(params));
  return caller.memory()->Write(args.pointer, {reinterpret_cast<const uint8_t*>(&params), size})
             ? 0
             : -EFAULT;
}

Result AsahiFile::GetTime(Caller&, asahi::get_time& args) {
  if (args.flags != 0) return -EINVAL;
  args.gpu_timestamp = GpuTicks(device().info(), MonotonicNow());
  return 0;
}

Result AsahiFile::VmCreate(Caller&, asahi::vm_create& args) {
  if (args.pad != 0) return -EINVAL;
  if (args.kernel_start < kAsahiVmStart || args.kernel_end > kAsahiVmEnd ||
      args.kernel_start > args.kernel_end ||
      (args.kernel_start | args.kernel_end) % asahi::kPage != 0 ||
      args.kernel_end - args.kernel_start < kAsahiKernelSize) {
    return Refuse(-EINVAL, "the kernel's range is not in the address space or too small");
  }
  args.vm_id = vms_.Insert(std::make_shared<AsahiVm>(args.kernel_start, args.kernel_end));
  return 0;
}

Result AsahiFile::VmDestroy(Caller&, asahi::vm_destroy& args) {
  if (args.pad != 0) return -EINVAL;
  return vms_.Remove(args.vm_id) ? 0 : -ENOENT;
}

Result AsahiFile::VmBind(Caller& caller, asahi::vm_bind& args) {
  if (args.pad != 0 || args.stride == 0) return -EINVAL;
  const std::shared_ptr<AsahiVm> vm = FindVm(args.vm_id);
  if (!vm) return Refuse(-ENOENT, "the address space does not exist");
  // In order; those before one that is refused stay.
  for (uint64_t i = 0; i < args.num_binds; ++i) {
    asahi::gem_bind_op op = {};
    const size_t size = std::min<size_t>(args.stride, sizeof(op));
    if (!caller.memory()->Read(args.userptr + i * args.stride,
                               {reinterpret_cast<uint8_t*>(&op), size})) {
      return -EFAULT;
    }
    if (const Result bad = Bind(vm, op)) return bad;
  }
  return 0;
}

Result AsahiFile::Bind(const std::shared_ptr<AsahiVm>& vm, const asahi::gem_bind_op& op) {
  constexpr uint32_t kFlags =
      asahi::kBindUnbind | asahi::kBindRead | asahi::kBindWrite | asahi::kBindSinglePage;
  if ((op.flags & ~kFlags) != 0) return -EINVAL;
  if ((op.offset | op.range | op.addr) % asahi::kPage != 0) return -EINVAL;
  if (!vm->IsForPrograms(op.addr, op.range)) {
    return Refuse(-EINVAL, "the range is not one that programs may use");
  }
  if ((op.flags & asahi::kBindUnbind) != 0) {
    if (op.handle != 0 || op.offset != 0) return -EINVAL;
    vm->Unmap(op.addr, op.range);
    return 0;
  }
  if ((op.flags & (asahi::kBindRead | asahi::kBindWrite)) == 0) return -EINVAL;
  const std::shared_ptr<Object> object = FindObject(op.handle);
  if (!object) return Refuse(-ENOENT, "the object does not exist");
  if (!static_cast<const AsahiObject&>(*object).MayBeIn(vm)) {
    return Refuse(-EINVAL, "the object is another address space's alone");
  }
  const bool single = (op.flags & asahi::kBindSinglePage) != 0;
  const uint64_t used = single ? asahi::kPage : op.range;
  if (used > object->size() || op.offset > object->size() - used) {
    return Refuse(-EINVAL, "the range is beyond the end of the object");
  }
  Mapping mapping;
  mapping.address = op.addr;
  mapping.size = op.range;
  mapping.object = object;
  mapping.offset = op.offset;
  mapping.repeats = single ? asahi::kPage : 0;
  mapping.writable = (op.flags & asahi::kBindWrite) != 0;
  mapping.flags = op.flags;
  vm->Map(std::move(mapping));
  return 0;
}

Result AsahiFile::GemCreate(Caller&, asahi::gem_create& args) {
  const bool is_private = (args.flags & asahi::kGemVmPrivate) != 0;
  if (args.pad != 0 || (args.flags & ~(asahi::kGemWriteback | asahi::kGemVmPrivate)) != 0) {
    return -EINVAL;
  }
  if (args.size == 0 || (args.vm_id != 0 && !is_private)) return -EINVAL;
  std::shared_ptr<AsahiVm> vm;
  if (is_private) {
    vm = FindVm(args.vm_id);
    if (!vm) return Refuse(-ENOENT, "the address space does not exist");
  }
  if (args.size > kSystemMemoryBytes) return -ENOMEM;
  const uint64_t size = (args.size + asahi::kPage - 1) / asahi::kPage * asahi::kPage;
  auto memory = SharedMemory::Create(size, "asahi object");
  if (!memory) return -ENOMEM;
  args.handle = AddObject(
      std::make_shared<AsahiObject>(device(), kernel().NewObjectId(), std::move(memory), size, vm));
  return 0;
}

Result AsahiFile::GemMmapOffset(Caller&, asahi::gem_mmap_offset& args) {
  if (args.flags != 0) return -EINVAL;
  const std::shared_ptr<Object> object = FindObject(args.handle);
  if (!object) return -ENOENT;
  args.offset = kernel().MapOffset(object, 0);
  return 0;
}

Result AsahiFile::GemBindObject(Caller&, asahi::gem_bind_object& args) {
  if (args.pad != 0 || args.vm_id != 0) return -EINVAL;
  if (args.op == asahi::kObjectUnbind) {
    if (args.flags != 0 || args.handle != 0 || args.offset != 0 || args.range != 0) return -EINVAL;
    return timestamps_.Remove(args.object_handle) ? 0 : -ENOENT;
  }
  if (args.op != asahi::kObjectBind || args.flags != asahi::kObjectTimestamps) return -EINVAL;
  if ((args.offset | args.range) % asahi::kPage != 0) return -EINVAL;
  const std::shared_ptr<Object> object = FindObject(args.handle);
  if (!object) return Refuse(-ENOENT, "the object does not exist");
  if (args.range == 0 || args.range > object->size() || args.offset > object->size() - args.range) {
    return -EINVAL;
  }
  args.object_handle = timestamps_.Insert({object, args.offset, args.range});
  return 0;
}

Result AsahiFile::QueueCreate(Caller&, asahi::queue_create& args) {
  // The higher priorities are for privileged programs.
  if (args.flags != 0 || args.priority > asahi::kPriorityMedium) return -EINVAL;
  std::shared_ptr<AsahiVm> vm = FindVm(args.vm_id);
  if (!vm) return Refuse(-ENOENT, "the address space does not exist");
  auto queue = std::make_shared<AsahiQueue>();
  queue->vm = std::move(vm);
  queue->context = kernel().NewContextId();
  queue->usc_exec_base = args.usc_exec_base;
  queue->submissions = kernel().scheduler().NewQueue();
  queue->render = kernel().scheduler().NewQueue();
  queue->compute = kernel().scheduler().NewQueue();
  args.queue_id = queues_.Insert(std::move(queue));
  return 0;
}

Result AsahiFile::QueueDestroy(Caller&, asahi::queue_destroy& args) {
  if (args.pad != 0) return -EINVAL;
  const std::shared_ptr<AsahiQueue> queue = FindQueue(args.queue_id);
  if (!queue) return -ENOENT;
  queues_.Remove(args.queue_id);
  // What was submitted runs to its end.
  Scheduler& scheduler = kernel().scheduler();
  Job last;
  last.after = {scheduler.Last(queue->submissions), scheduler.Last(queue->render),
                scheduler.Last(queue->compute)};
  last.end = [&scheduler, context = queue->context](bool) { scheduler.ForgetContext(context); };
  scheduler.Add(queue->submissions, std::move(last));
  return 0;
}

}  // namespace packsmith::capture
