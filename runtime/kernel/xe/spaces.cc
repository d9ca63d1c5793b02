#include "runtime/kernel/xe/spaces.h"

#include <cerrno>
#include <utility>

#include "absl/strings/str_format.h"

namespace packsmith::gpu {

namespace api = uapi::xe;

namespace {

api::sync PointOf(const Syncobj& timeline, uint64_t point) {
  api::sync sync = {};
  sync.type = api::kSyncTimeline;
  sync.handle_or_address = timeline.handle();
  sync.timeline_value = point;
  return sync;
}

}  // namespace

uint32_t XeSpaces::vm_flags() const {
  uint32_t flags = 0;
  if (options_.scratch_page) flags |= api::kVmScratchPage;
  // Only work without an end may fault.
  if (options_.page_faults) flags |= api::kVmFaultMode | api::kVmLrMode;
  return flags;
}

absl::Status XeSpaces::CheckOptions() const {
  if (!options_.page_faults) return absl::OkStatus();
  api::vm_create args = {};
  args.flags = vm_flags();
  const int result = calls_.Try(api::kVmCreate, args);
  if (result == -EINVAL) {
    return absl::UnimplementedError(
        absl::StrFormat("%s has no page faults%s", calls_.path(),
                        options_.scratch_page ? ", or none together with a scratch page" : ""));
  }
  if (result < 0) return calls_.Error(-result, "VM_CREATE");
  api::vm_destroy destroy = {};
  destroy.vm_id = args.vm_id;
  return calls_.Do("VM_DESTROY", api::kVmDestroy, destroy);
}

absl::StatusOr<XeSpaces::Space*> XeSpaces::Find(uint32_t space) {
  // What was made before a call failed is used by the next one.
  Space& found = spaces_[space];
  if (!found.timeline.has_value()) {
    absl::StatusOr<Syncobj> timeline = Syncobj::Create(calls_);
    if (!timeline.ok()) return timeline.status();
    found.timeline.emplace(*std::move(timeline));
  }
  if (found.vm == 0) {
    api::vm_create args = {};
    args.flags = vm_flags();
    const absl::Status status = calls_.Do("VM_CREATE", api::kVmCreate, args);
    if (!status.ok()) return status;
    found.vm = args.vm_id;
  }
  return &found;
}

absl::StatusOr<uint32_t> XeSpaces::Vm(uint32_t space) {
  MutexLock lock(mutex_);
  const absl::StatusOr<Space*> found = Find(space);
  if (!found.ok()) return found.status();
  return (*found)->vm;
}

absl::Status XeSpaces::Change(uint32_t space, absl::Span<const api::vm_bind_op> ops, bool binds) {
  MutexLock lock(mutex_);
  const absl::StatusOr<Space*> found = Find(space);
  if (!found.ok()) return found.status();
  Space& changed = **found;
  api::sync sync = PointOf(*changed.timeline, changed.points + 1);
  sync.flags = api::kSyncSignal;
  api::vm_bind args = {};
  args.vm_id = changed.vm;
  args.num_binds = static_cast<uint32_t>(ops.size());
  if (ops.size() == 1) {
    args.bind = ops.front();
  } else {
    args.vector_of_binds = reinterpret_cast<uintptr_t>(ops.data());
  }
  // With page faults, the GPU waits for what it touches, and nobody else can.
  if (!options_.page_faults) {
    args.num_syncs = 1;
    args.syncs = reinterpret_cast<uintptr_t>(&sync);
  }
  const absl::Status status = calls_.Do("VM_BIND", api::kVmBind, args);
  if (!status.ok() || options_.page_faults) return status;
  ++changed.points;
  if (binds) changed.bound = changed.points;
  return absl::OkStatus();
}

std::optional<api::sync> XeSpaces::Bound(uint32_t space) {
  MutexLock lock(mutex_);
  const auto found = spaces_.find(space);
  if (found == spaces_.end() || found->second.bound == 0) return std::nullopt;
  return PointOf(*found->second.timeline, found->second.bound);
}

}  // namespace packsmith::gpu
