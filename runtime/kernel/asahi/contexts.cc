#include "runtime/kernel/asahi/contexts.h"

#include "absl/strings/str_format.h"
#include "runtime/kernel/uapi/asahi.h"

namespace packsmith::gpu {

namespace api = uapi::asahi;

namespace {

uint32_t NumberOf(Priority priority) {
  switch (priority) {
    case Priority::kLow:
      return api::kPriorityLow;
    case Priority::kNormal:
      return api::kPriorityMedium;
    case Priority::kHigh:
      return api::kPriorityHigh;
    case Priority::kHighest:
      return api::kPriorityRealtime;
  }
  return api::kPriorityMedium;
}

}  // namespace

absl::StatusOr<uint32_t> AsahiContexts::CreateQueue(uint32_t space, Priority priority,
                                                    uint64_t programs) const {
  const absl::StatusOr<uint32_t> vm = spaces_.Vm(space);
  if (!vm.ok()) return vm.status();
  api::queue_create args = {};
  args.vm_id = *vm;
  args.priority = NumberOf(priority);
  args.usc_exec_base = programs;
  const absl::Status status = calls_.Do("QUEUE_CREATE", api::kQueueCreate, args);
  if (!status.ok()) return status;
  return args.queue_id;
}

absl::Status AsahiContexts::DestroyQueue(uint32_t queue) const {
  api::queue_destroy args = {};
  args.queue_id = queue;
  return calls_.Do("QUEUE_DESTROY", api::kQueueDestroy, args);
}

absl::StatusOr<uint32_t> AsahiContexts::Create(const ContextOptions& options) {
  if (options.protects) {
    return absl::UnimplementedError("protected contexts are not supported on asahi");
  }
  if (options.priority >= Priority::kHigh) {
    // The queue itself needs the base of the first job.
    const absl::StatusOr<uint32_t> probe = CreateQueue(options.space, options.priority, 0);
    if (!probe.ok()) {
      if (probe.status().code() != absl::StatusCode::kInvalidArgument) return probe.status();
      return absl::PermissionDeniedError(
          "the kernel reserves contexts of high priority; use Priority::kNormal");
    }
    const absl::Status status = DestroyQueue(*probe);
    if (!status.ok()) return status;
  }
  MutexLock lock(mutex_);
  const uint32_t context = ++last_;
  contexts_[{options.space, context}] = {
      .priority = options.priority, .recoverable = options.recoverable, .queue = 0, .programs = 0};
  space_of_[context] = options.space;
  return context;
}

absl::Status AsahiContexts::Destroy(uint32_t context) {
  MutexLock lock(mutex_);
  const auto space = space_of_.find(context);
  if (space == space_of_.end()) {
    return absl::NotFoundError(absl::StrFormat("there is no context %d to destroy", context));
  }
  const auto found = contexts_.find({space->second, context});
  if (found->second.queue != 0) {
    const absl::Status status = DestroyQueue(found->second.queue);
    if (!status.ok()) return status;
  }
  contexts_.erase(found);
  space_of_.erase(space);
  return absl::OkStatus();
}

absl::StatusOr<AsahiContexts::Context*> AsahiContexts::Find(const Key& key) {
  const auto found = contexts_.find(key);
  if (found != contexts_.end()) return &found->second;
  if (key.second == 0) return &contexts_[key];
  return absl::InvalidArgumentError(
      absl::StrFormat("there is no context %d in space %d", key.second, key.first));
}

absl::StatusOr<bool> AsahiContexts::IsRecoverable(const Key& key) {
  MutexLock lock(mutex_);
  const absl::StatusOr<Context*> found = Find(key);
  if (!found.ok()) return found.status();
  return (*found)->recoverable;
}

absl::StatusOr<uint32_t> AsahiContexts::Queue(const Key& key, uint64_t programs) {
  MutexLock lock(mutex_);
  const absl::StatusOr<Context*> found = Find(key);
  if (!found.ok()) return found.status();
  Context& context = **found;
  if (context.queue == 0) {
    const absl::StatusOr<uint32_t> made = CreateQueue(key.first, context.priority, programs);
    if (!made.ok()) return made.status();
    context.queue = *made;
    context.programs = programs;
  }
  if (context.programs != programs) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the base of programs is 0x%x, and 0x%x for context %d since its first job; use another "
        "context",
        programs, context.programs, key.second));
  }
  return context.queue;
}

}  // namespace packsmith::gpu
