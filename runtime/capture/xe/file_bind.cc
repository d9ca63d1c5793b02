// VM_BIND.
#include <utility>

#include "runtime/capture/xe/checks.h"
#include "runtime/capture/xe/file.h"

namespace packsmith::capture {

namespace xe = uapi::xe;

namespace {

// The most syncs of a call.
constexpr uint32_t kMostSyncs = 1024;

// A byte of each page: what is not mapped in the process cannot be bound.
bool IsReadable(const UserMemory& memory, uint64_t address, uint64_t size) {
  for (uint64_t at = 0; at < size; at += kXePage) {
    uint8_t byte = 0;
    if (!memory.Read(address + at, {&byte, 1})) return false;
  }
  return true;
}

}  // namespace

Result XeFile::MakeBindSteps(const std::shared_ptr<XeVm>& vm, absl::Span<const xe::vm_bind_op> ops,
                             std::vector<XeBindStep>& out) {
  for (const xe::vm_bind_op& op : ops) {
    XeBindStep step;
    step.op = static_cast<xe::BindOp>(op.op);
    step.mapping.address = op.addr;
    step.mapping.size = op.range;
    step.mapping.offset = op.op == xe::kMap ? op.obj_offset : 0;
    step.mapping.writable = (op.flags & xe::kBindReadonly) == 0;
    step.mapping.dumpable = (op.flags & xe::kBindDumpable) != 0;
    step.mapping.flags = op.flags;
    step.mapping.pat_index = op.pat_index;
    if (op.obj != 0) {
      step.mapping.object = FindObject(op.obj);
      if (!step.mapping.object) return Refuse(-ENOENT, "the object does not exist");
      const auto& object = static_cast<const XeObject&>(*step.mapping.object);
      if (!object.MayBeIn(vm)) {
        return Refuse(-EINVAL, "the object is another address space's alone");
      }
      if (const Result bad = CheckXeBindObject(device(), op, object)) return bad;
    }
    out.push_back(std::move(step));
  }
  return 0;
}

Result XeFile::VmBind(Caller& caller, xe::vm_bind& args) {
  const auto* const found = vms_.Find(args.vm_id);
  if (found == nullptr) return Refuse(-EINVAL, "the address space does not exist");
  const std::shared_ptr<XeVm> vm = *found;
  if (args.extensions != 0 || args.pad != 0 || args.pad2 != 0 || args.reserved[0] != 0 ||
      args.reserved[1] != 0 || args.num_syncs > kMostSyncs) {
    return -EINVAL;
  }
  std::vector<xe::vm_bind_op> ops;
  if (args.num_binds == 1) ops.push_back(args.bind);
  if (args.num_binds > 1) {
    // The most that the kernel allocates at once.
    constexpr uint32_t kMostBinds = 0x7fffffff / sizeof(xe::vm_bind_op);
    if (args.num_binds > kMostBinds) return -ENOBUFS;
    if (const Result bad = caller.GetArray(args.vector_of_binds, args.num_binds, ops)) return bad;
  }
  for (const xe::vm_bind_op& op : ops) {
    if (const Result bad = CheckXeBindOp(device(), op)) return bad;
  }
  uint64_t queue = vm->queue();
  if (args.exec_queue_id != 0) {
    const auto* const named = exec_queues_.Find(args.exec_queue_id);
    if (named == nullptr) return Refuse(-ENOENT, "the bind queue does not exist");
    if (!(*named)->binds() || (*named)->vm != vm) {
      return Refuse(-EINVAL, "the queue is not for binds of this address space");
    }
    queue = (*named)->queue;
  }
  for (const xe::vm_bind_op& op : ops) {
    if (op.range > vm->size() || op.addr > vm->size() - op.range) return -EINVAL;
  }
  std::vector<XeBindStep> steps;
  if (const Result bad = MakeBindSteps(vm, ops, steps)) return bad;
  Syncs syncs;
  if (const Result bad = ReadSyncs(caller, args.syncs, args.num_syncs,
                                   ops.empty() ? SyncUse::kEmptyBind : SyncUse::kBind,
                                   vm->long_running(), syncs)) {
    return bad;
  }
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].op != xe::kMapUserptr) continue;
    const uint64_t address = ops[i].obj_offset;
    if (!IsReadable(*caller.memory(), address, ops[i].range)) {
      return Refuse(-EFAULT, "the process has nothing mapped in the range");
    }
    steps[i].mapping.object = std::make_shared<Object>(device(), kernel().NewObjectId(),
                                                       caller.memory(), address, ops[i].range);
    steps[i].mapping.object->name = "userptr";
  }

  Job job;
  job.after = std::move(syncs.in);
  // What work may still reach goes when that is done; in long-running spaces, it may go any time.
  if (vm->Plan(steps) && !vm->long_running()) {
    for (auto& use : vm->uses()) job.after.push_back(std::move(use));
  }
  job.done = std::make_shared<Fence>();
  job.end = [vm, steps = std::move(steps), memory = caller.memory(), user = syncs.user_fence,
             address = syncs.user_address, value = syncs.user_value](bool) {
    vm->Apply(steps);
    // Where it cannot be written, nobody is told.
    if (user) memory->Write(address, {reinterpret_cast<const uint8_t*>(&value), sizeof(value)});
  };
  syncs.SignalWith(job.done);
  kernel().scheduler().Add(queue, std::move(job));
  return 0;
}

}  // namespace packsmith::capture
