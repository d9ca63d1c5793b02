#include "runtime/kernel/xe/contexts.h"

#include "absl/strings/str_format.h"
#include "runtime/kernel/uapi/xe.h"

namespace packsmith::gpu {

namespace api = uapi::xe;

namespace {

// Values of the property "priority" (xe_exec_queue_types.h).
uint64_t NumberOf(Priority priority) {
  switch (priority) {
    case Priority::kLow:
      return 0;
    case Priority::kNormal:
      return 1;
    case Priority::kHigh:
    case Priority::kHighest:
      return 2;
  }
  return 1;
}

}  // namespace

absl::Status XeQueue::Destroy() {
  api::exec_queue_destroy args = {};
  args.exec_queue_id = id_;
  absl::Status status = calls_.Do("EXEC_QUEUE_DESTROY", api::kExecQueueDestroy, args);
  if (status.ok()) id_ = 0;
  return status;
}

absl::StatusOr<uint32_t> XeContexts::Create(const ContextOptions& options) {
  if (options.protects) {
    return absl::UnimplementedError("protected contexts are not supported on xe");
  }
  if (NumberOf(options.priority) > info_.highest_priority) {
    return absl::PermissionDeniedError(
        "contexts of high priority need CAP_SYS_NICE; use Priority::kNormal, or run with it");
  }
  MutexLock lock(mutex_);
  const uint32_t context = ++last_;
  contexts_[{options.space, context}] = {.priority = options.priority,
                                         .recoverable = options.recoverable,
                                         .hung = false,
                                         .lost = false,
                                         .queues = {}};
  space_of_[context] = options.space;
  return context;
}

absl::Status XeContexts::Destroy(uint32_t context) {
  MutexLock lock(mutex_);
  const auto space = space_of_.find(context);
  if (space == space_of_.end()) {
    return absl::NotFoundError(absl::StrFormat("there is no context %d to destroy", context));
  }
  const auto found = contexts_.find({space->second, context});
  for (std::shared_ptr<XeQueue>& queue : found->second.queues) {
    // Another thread may still be in a call with it, and then is the last user.
    if (queue == nullptr || queue.use_count() > 1) continue;
    const absl::Status status = queue->Destroy();
    if (!status.ok()) return status;
    queue = nullptr;
  }
  contexts_.erase(found);
  space_of_.erase(space);
  return absl::OkStatus();
}

absl::StatusOr<XeContexts::Context*> XeContexts::Find(const Key& key) {
  const auto found = contexts_.find(key);
  if (found != contexts_.end()) return &found->second;
  if (key.second == 0) return &contexts_[key];
  return absl::InvalidArgumentError(
      absl::StrFormat("there is no context %d in space %d", key.second, key.first));
}

absl::StatusOr<std::shared_ptr<XeQueue>> XeContexts::Queue(const Key& key, size_t engine) {
  MutexLock lock(mutex_);
  const absl::StatusOr<Context*> context = Find(key);
  if (!context.ok()) return context.status();
  if ((*context)->lost) {
    return absl::AbortedError(absl::StrFormat(
        "context %d of space %d is lost: a job of it hung, which the kernel reports "
        "in %s; create another one",
        key.second, key.first, dump_));
  }
  std::vector<std::shared_ptr<XeQueue>>& queues = (*context)->queues;
  queues.resize(info_.engines.size());
  if (queues[engine] != nullptr) return queues[engine];
  const absl::StatusOr<uint32_t> vm = spaces_.Vm(key.first);
  if (!vm.ok()) return vm.status();
  api::ext_set_property priority = {};
  priority.base.name = api::kExtensionSetProperty;
  priority.property = api::kPropertyPriority;
  priority.value = NumberOf((*context)->priority);
  const auto& engines = info_.engines[engine].engines;
  api::exec_queue_create args = {};
  args.extensions = reinterpret_cast<uintptr_t>(&priority);
  args.width = 1;
  args.num_placements = static_cast<uint16_t>(engines.size());
  args.vm_id = *vm;
  args.instances = reinterpret_cast<uintptr_t>(engines.data());
  const absl::Status status = calls_.Do("EXEC_QUEUE_CREATE", api::kExecQueueCreate, args);
  if (!status.ok()) return status;
  queues[engine] = std::make_shared<XeQueue>(calls_, args.exec_queue_id);
  return queues[engine];
}

void XeContexts::NoteBanLocked(Context& context, size_t engine, const XeQueue& queue) {
  context.hung = true;
  if (!context.recoverable) context.lost = true;
  // Another thread may have replaced it.
  if (engine < context.queues.size() && context.queues[engine].get() == &queue) {
    context.queues[engine] = nullptr;
  }
}

absl::Status XeContexts::NoteBan(const Key& key, size_t engine, const XeQueue& queue) {
  MutexLock lock(mutex_);
  const absl::StatusOr<Context*> context = Find(key);
  if (!context.ok()) return context.status();
  NoteBanLocked(**context, engine, queue);
  return absl::OkStatus();
}

absl::StatusOr<ContextState> XeContexts::StateOf(const Key& key) {
  MutexLock lock(mutex_);
  const absl::StatusOr<Context*> found = Find(key);
  if (!found.ok()) return found.status();
  Context& context = **found;
  for (size_t i = 0; i < context.queues.size(); ++i) {
    const std::shared_ptr<XeQueue> queue = context.queues[i];
    if (queue == nullptr) continue;
    api::exec_queue_get_property args = {};
    args.exec_queue_id = queue->id();
    args.property = api::kPropertyBan;
    const absl::Status status =
        calls_.Do("EXEC_QUEUE_GET_PROPERTY", api::kExecQueueGetProperty, args);
    if (!status.ok()) return status;
    if (args.value != 0) NoteBanLocked(context, i, *queue);
  }
  if (context.lost) return ContextState::kLost;
  return context.hung ? ContextState::kHung : ContextState::kGood;
}

}  // namespace packsmith::gpu
