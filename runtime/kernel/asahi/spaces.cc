#include "runtime/kernel/asahi/spaces.h"

#include "absl/strings/str_format.h"

namespace packsmith::gpu {

namespace api = uapi::asahi;

absl::StatusOr<uint32_t> AsahiSpaces::Vm(uint32_t space) {
  MutexLock lock(mutex_);
  const auto found = vms_.find(space);
  if (found != vms_.end()) return found->second;
  api::vm_create args = {};
  args.kernel_start = info_.end;
  args.kernel_end = info_.kernel_end;
  const absl::Status status = calls_.Do("VM_CREATE", api::kVmCreate, args);
  if (!status.ok()) return status;
  vms_[space] = args.vm_id;
  return args.vm_id;
}

absl::Status AsahiSpaces::CallBind(uint32_t vm, absl::Span<const api::gem_bind_op> ops) const {
  api::vm_bind args = {};
  args.vm_id = vm;
  args.num_binds = static_cast<uint32_t>(ops.size());
  args.stride = sizeof(api::gem_bind_op);
  args.userptr = reinterpret_cast<uintptr_t>(ops.data());
  return calls_.Do("VM_BIND", api::kVmBind, args);
}

absl::Status AsahiSpaces::CallUnbind(uint32_t vm, absl::Span<const api::gem_bind_op> bound) const {
  Ops ops;
  ops.reserve(bound.size());
  for (const api::gem_bind_op& one : bound) {
    ops.push_back({.flags = api::kBindUnbind,
                   .handle = 0,
                   .offset = 0,
                   .range = one.range,
                   .addr = one.addr});
  }
  return CallBind(vm, ops);
}

absl::Status AsahiSpaces::Bind(uint32_t space, absl::Span<const api::gem_bind_op> ops) {
  for (const api::gem_bind_op& op : ops) {
    if (op.addr >= info_.begin && op.addr <= info_.end && op.range <= info_.end - op.addr) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("0x%x bytes at 0x%x are not in 0x%x..0x%x, the addresses for programs",
                        op.range, op.addr, info_.begin, info_.end - 1));
  }
  const absl::StatusOr<uint32_t> vm = Vm(space);
  if (!vm.ok()) return vm.status();
  absl::Status status = CallBind(*vm, ops);
  // Those before the one that failed are bound. If they cannot be unbound, they are replaced when
  // something else is bound there, and go with their memory.
  if (!status.ok() && ops.size() > 1) CallUnbind(*vm, ops).IgnoreError();
  return status;
}

absl::Status AsahiSpaces::Unbind(uint32_t space, absl::Span<const api::gem_bind_op> bound) {
  const absl::StatusOr<uint32_t> vm = Vm(space);
  if (!vm.ok()) return vm.status();
  absl::Status status = CallUnbind(*vm, bound);
  // Those before the one that failed are not bound any more, and nothing else is in their place.
  if (!status.ok() && bound.size() > 1) CallBind(*vm, bound).IgnoreError();
  return status;
}

}  // namespace packsmith::gpu
