#include "runtime/kernel/xe/xe_device.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/addresses.h"
#include "runtime/generations/generations.h"
#include "runtime/kernel/drm/generation.h"

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

api::sync WaitFor(uint32_t syncobj) {
  api::sync sync = {};
  sync.type = api::kSyncSyncobj;
  sync.handle_or_address = syncobj;
  return sync;
}

api::sync PointOf(uint32_t timeline, uint64_t point) {
  api::sync sync = {};
  sync.type = api::kSyncTimeline;
  sync.handle_or_address = timeline;
  sync.timeline_value = point;
  return sync;
}

}  // namespace

class XeDevice::Queue {
 public:
  Queue(const Calls& calls, uint32_t id) : calls_(calls), id_(id) {}
  // What the kernel says to it changes nothing: the file's end destroys it, too.
  ~Queue() {
    if (id_ != 0) Destroy().IgnoreError();
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  uint32_t id() const { return id_; }
  // For the only user.
  absl::Status Destroy() {
    api::exec_queue_destroy args = {};
    args.exec_queue_id = id_;
    absl::Status status = calls_.Do("EXEC_QUEUE_DESTROY", api::kExecQueueDestroy, args);
    if (status.ok()) id_ = 0;
    return status;
  }

 private:
  const Calls& calls_;
  uint32_t id_;
};

XeDevice::XeDevice(std::shared_ptr<Connection> connection, std::string generation, XeInfo info,
                   Options options, std::string dump)
    : DrmDevice(std::move(connection), std::move(generation), info.properties, std::move(dump)),
      info_(std::move(info)),
      options_(std::move(options)) {}

XeDevice::~XeDevice() = default;

absl::StatusOr<std::unique_ptr<XeDevice>> XeDevice::Open(std::unique_ptr<Connection> connection,
                                                         Options options) {
  const std::shared_ptr<Connection> node = std::move(connection);
  const Calls calls(node);
  absl::StatusOr<XeInfo> info = QueryXe(calls);
  if (!info.ok()) return info.status();
  absl::StatusOr<std::string> generation = GenerationOf(
      calls.path(), options.generation, FindGenerationOfPciId(info->properties.pci_id));
  if (!generation.ok()) return generation.status();
  std::string dump = node->sysfs();
  if (!dump.empty()) dump += "/devcoredump/data";
  std::unique_ptr<XeDevice> device(new XeDevice(node, *std::move(generation), *std::move(info),
                                                std::move(options), std::move(dump)));
  const absl::Status status = device->CheckPageFaults();
  if (!status.ok()) return status;
  return device;
}

// ---- Memory. ----

absl::StatusOr<uint32_t> XeDevice::CreateObject(const MemoryOptions& options) {
  if ((options.use & kProtected) != 0) {
    return absl::UnimplementedError("protected memory is not supported on xe");
  }
  api::gem_create args = {};
  args.size = options.size;
  args.cpu_caching = api::kCachingWc;
  switch (options.heap) {
    case Heap::kSystem:
      args.placement = info_.system_region;
      // Displays do not see the CPU's caches.
      if ((options.use & kScanout) == 0) args.cpu_caching = api::kCachingWb;
      break;
    case Heap::kSystemUncached:
    case Heap::kSystemCompressed:
      args.placement = info_.system_region;
      break;
    case Heap::kLocal:
    case Heap::kLocalVisible:
    case Heap::kLocalCompressed:
      args.placement = info_.local_region;
      break;
    case Heap::kLocalPreferred:
      args.placement = info_.local_region | info_.system_region;
      break;
  }
  const bool local = (args.placement & info_.local_region) != 0;
  if (local && CpuCanSee(options.heap)) args.flags |= api::kGemNeedsVisibleVram;
  if ((options.use & kScanout) != 0) args.flags |= api::kGemScanout;
  if (options_.defer_memory) args.flags |= api::kGemDeferBacking;
  const absl::Status status = calls().Do("GEM_CREATE", api::kGemCreate, args);
  if (!status.ok()) return status;
  return args.handle;
}

absl::StatusOr<uint64_t> XeDevice::MapOffset(uint32_t handle, Heap) {
  api::gem_mmap_offset args = {};
  args.handle = handle;
  const absl::Status status = calls().Do("GEM_MMAP_OFFSET", api::kGemMmapOffset, args);
  if (!status.ok()) return status;
  return args.offset;
}

uint16_t XeDevice::PatOf(const Object& object) const {
  if ((object.use & kScanout) != 0) return info_.pat.display;
  switch (object.heap) {
    case Heap::kSystem:
      return info_.pat.coherent;
    case Heap::kSystemCompressed:
    case Heap::kLocalCompressed:
      return info_.pat.compressed;
    case Heap::kSystemUncached:
    case Heap::kLocal:
    case Heap::kLocalVisible:
    case Heap::kLocalPreferred:
      break;
  }
  return info_.pat.uncached;
}

// ---- Spaces. ----

uint32_t XeDevice::vm_flags() const {
  uint32_t flags = 0;
  if (options_.scratch_page) flags |= api::kVmScratchPage;
  // Only work without an end may fault.
  if (options_.page_faults) flags |= api::kVmFaultMode | api::kVmLrMode;
  return flags;
}

absl::Status XeDevice::CheckPageFaults() const {
  if (!options_.page_faults) return absl::OkStatus();
  api::vm_create args = {};
  args.flags = vm_flags();
  const int result = calls().Try(api::kVmCreate, args);
  if (result == -EINVAL) {
    return absl::UnimplementedError(
        absl::StrFormat("%s has no page faults%s", calls().path(),
                        options_.scratch_page ? ", or none together with a scratch page" : ""));
  }
  if (result < 0) return calls().Error(-result, "VM_CREATE");
  api::vm_destroy destroy = {};
  destroy.vm_id = args.vm_id;
  return calls().Do("VM_DESTROY", api::kVmDestroy, destroy);
}

absl::StatusOr<XeDevice::Space*> XeDevice::FindSpace(uint32_t space) {
  // What was made before a call failed is used by the next one.
  Space& found = spaces_[space];
  if (!found.timeline.has_value()) {
    absl::StatusOr<Syncobj> timeline = Syncobj::Create(calls());
    if (!timeline.ok()) return timeline.status();
    found.timeline.emplace(*std::move(timeline));
  }
  if (found.vm == 0) {
    api::vm_create args = {};
    args.flags = vm_flags();
    const absl::Status status = calls().Do("VM_CREATE", api::kVmCreate, args);
    if (!status.ok()) return status;
    found.vm = args.vm_id;
  }
  return &found;
}

absl::Status XeDevice::CallBind(Space& space, absl::Span<const api::vm_bind_op> ops) {
  api::sync sync = PointOf(space.timeline->handle(), space.points + 1);
  sync.flags = api::kSyncSignal;
  api::vm_bind args = {};
  args.vm_id = space.vm;
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
  // Either all of it is done or nothing.
  const absl::Status status = calls().Do("VM_BIND", api::kVmBind, args);
  if (status.ok() && !options_.page_faults) ++space.points;
  return status;
}

absl::Status XeDevice::BindLocked(uint32_t space, absl::Span<const BindStep> steps) {
  absl::InlinedVector<api::vm_bind_op, 2> ops;
  ops.reserve(steps.size());
  for (const BindStep& step : steps) {
    api::vm_bind_op op = {};
    op.addr = step.address;
    op.range = step.size;
    op.obj_offset = step.offset;
    op.pat_index = PatOf(*step.object);
    if (step.object->user) {
      op.op = api::kMapUserptr;
      op.obj_offset += reinterpret_cast<uintptr_t>(step.object->mapped.data());
    } else {
      op.op = api::kMap;
      op.obj = step.object->handle;
    }
    if (!step.writable) op.flags |= api::kBindReadonly;
    if ((step.object->use & kCaptured) != 0) op.flags |= api::kBindDumpable;
    ops.push_back(op);
  }
  MutexLock lock(mutex_);
  const absl::StatusOr<Space*> found = FindSpace(space);
  if (!found.ok()) return found.status();
  absl::Status status = CallBind(**found, ops);
  if (status.ok()) (*found)->bound = (*found)->points;
  return status;
}

absl::Status XeDevice::UnbindLocked(uint32_t space, uint64_t plain_address, uint64_t size) {
  api::vm_bind_op op = {};
  op.op = api::kUnmap;
  op.addr = plain_address;
  op.range = size;
  MutexLock lock(mutex_);
  const absl::StatusOr<Space*> found = FindSpace(space);
  if (!found.ok()) return found.status();
  // Jobs need not wait for it: they do not use what was bound there. What is bound there later is,
  // in the kernel's order.
  return CallBind(**found, {&op, 1});
}

// ---- Contexts. ----

absl::StatusOr<size_t> XeDevice::FindEngine(absl::string_view engine) const {
  std::string known;
  for (size_t i = 0; i < info_.properties.engines.size(); ++i) {
    if (info_.properties.engines[i].name == engine) return i;
    absl::StrAppend(&known, i == 0 ? "" : ", ", info_.properties.engines[i].name);
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("%s has no engine \"%s\"; it has: %s", calls().path(), engine, known));
}

absl::StatusOr<uint32_t> XeDevice::CreateContext(const ContextOptions& options) {
  if (options.protects) {
    return absl::UnimplementedError("protected contexts are not supported on xe");
  }
  if (NumberOf(options.priority) > info_.highest_priority) {
    return absl::PermissionDeniedError(
        "contexts of high priority need CAP_SYS_NICE; use Priority::kNormal, or run with it");
  }
  MutexLock lock(mutex_);
  const uint32_t context = ++last_context_;
  contexts_[{options.space, context}] = {.priority = options.priority,
                                         .recoverable = options.recoverable,
                                         .hung = false,
                                         .lost = false,
                                         .queues = {}};
  space_of_[context] = options.space;
  return context;
}

absl::Status XeDevice::DestroyContext(uint32_t context) {
  MutexLock lock(mutex_);
  const auto space = space_of_.find(context);
  if (space == space_of_.end()) {
    return absl::NotFoundError(absl::StrFormat("there is no context %d to destroy", context));
  }
  const auto found = contexts_.find({space->second, context});
  for (std::shared_ptr<Queue>& queue : found->second.queues) {
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

absl::StatusOr<XeDevice::Context*> XeDevice::FindContext(const ContextKey& key) {
  const auto found = contexts_.find(key);
  if (found != contexts_.end()) return &found->second;
  if (key.second == 0) return &contexts_[key];
  return absl::InvalidArgumentError(
      absl::StrFormat("there is no context %d in space %d", key.second, key.first));
}

absl::StatusOr<std::shared_ptr<XeDevice::Queue>> XeDevice::FindQueue(const ContextKey& key,
                                                                     size_t engine) {
  const absl::StatusOr<Context*> context = FindContext(key);
  if (!context.ok()) return context.status();
  if ((*context)->lost) {
    return absl::AbortedError(
        absl::StrFormat("context %d of space %d is lost: a job of it hung; create another one",
                        key.second, key.first));
  }
  std::vector<std::shared_ptr<Queue>>& queues = (*context)->queues;
  if (queues.size() <= engine) queues.resize(info_.engines.size());
  if (queues[engine] != nullptr) return queues[engine];
  const absl::StatusOr<Space*> space = FindSpace(key.first);
  if (!space.ok()) return space.status();
  api::ext_set_property priority = {};
  priority.base.name = api::kExtensionSetProperty;
  priority.property = api::kPropertyPriority;
  priority.value = NumberOf((*context)->priority);
  const auto& engines = info_.engines[engine].engines;
  api::exec_queue_create args = {};
  args.extensions = reinterpret_cast<uintptr_t>(&priority);
  args.width = 1;
  args.num_placements = static_cast<uint16_t>(engines.size());
  args.vm_id = (*space)->vm;
  args.instances = reinterpret_cast<uintptr_t>(engines.data());
  const absl::Status status = calls().Do("EXEC_QUEUE_CREATE", api::kExecQueueCreate, args);
  if (!status.ok()) return status;
  queues[engine] = std::make_shared<Queue>(calls(), args.exec_queue_id);
  return queues[engine];
}

absl::Status XeDevice::NoteBan(const ContextKey& key, size_t engine, const Queue& queue) {
  const absl::StatusOr<Context*> context = FindContext(key);
  if (!context.ok()) return context.status();
  (*context)->hung = true;
  if (!(*context)->recoverable) (*context)->lost = true;
  std::shared_ptr<Queue>& place = (*context)->queues[engine];
  // Another thread may have replaced it.
  if (place.get() == &queue) place = nullptr;
  return absl::OkStatus();
}

absl::StatusOr<ContextState> XeDevice::StateOf(uint32_t space, uint32_t context) {
  MutexLock lock(mutex_);
  const ContextKey key = {space, context};
  const absl::StatusOr<Context*> found = FindContext(key);
  if (!found.ok()) return found.status();
  for (size_t i = 0; i < (*found)->queues.size(); ++i) {
    const std::shared_ptr<Queue> queue = (*found)->queues[i];
    if (queue == nullptr) continue;
    api::exec_queue_get_property args = {};
    args.exec_queue_id = queue->id();
    args.property = api::kPropertyBan;
    absl::Status status = calls().Do("EXEC_QUEUE_GET_PROPERTY", api::kExecQueueGetProperty, args);
    if (status.ok() && args.value != 0) status = NoteBan(key, i, *queue);
    if (!status.ok()) return status;
  }
  if ((*found)->lost) return ContextState::kLost;
  return (*found)->hung ? ContextState::kHung : ContextState::kGood;
}

// ---- Jobs. ----

absl::Status XeDevice::Execute(const Submission& submission, const Store* store) {
  const Job& job = submission.job;
  if (options_.page_faults && submission.signals != 0) {
    return absl::FailedPreconditionError(
        "jobs of a device with page faults have no fences; use SubmitWithoutFence()");
  }
  const absl::StatusOr<size_t> engine = FindEngine(job.engine);
  if (!engine.ok()) return engine.status();
  const ContextKey key = {job.space, job.context};
  // A queue that was banned is replaced once.
  for (bool again = false;; again = true) {
    std::shared_ptr<Queue> queue;
    api::sync bound = {};
    {
      MutexLock lock(mutex_);
      absl::StatusOr<std::shared_ptr<Queue>> found = FindQueue(key, *engine);
      if (!found.ok()) return found.status();
      queue = *std::move(found);
      const Space& space = spaces_[job.space];
      if (space.bound != 0) bound = PointOf(space.timeline->handle(), space.bound);
    }
    absl::InlinedVector<api::sync, 12> syncs;
    for (const uint32_t wait : submission.waits) syncs.push_back(WaitFor(wait));
    if (bound.timeline_value != 0) syncs.push_back(bound);
    if (submission.signals != 0) {
      syncs.push_back(WaitFor(submission.signals));
      syncs.back().flags = api::kSyncSignal;
    }
    if (store != nullptr) {
      api::sync& sync = syncs.emplace_back();
      sync.type = api::kSyncUserFence;
      sync.flags = api::kSyncSignal;
      sync.handle_or_address = store->address;
      sync.timeline_value = store->value;
    }
    api::exec args = {};
    args.exec_queue_id = queue->id();
    args.num_syncs = static_cast<uint32_t>(syncs.size());
    args.syncs = reinterpret_cast<uintptr_t>(syncs.data());
    args.address = Canonical(submission.batch_address, info_.properties.address_bits);
    args.num_batch_buffer = 1;
    const int result = calls().Try(api::kExec, args);
    if (result >= 0) return absl::OkStatus();
    if (result != -ECANCELED || again) return calls().Error(-result, "EXEC");
    MutexLock lock(mutex_);
    const absl::Status status = NoteBan(key, *engine, *queue);
    if (!status.ok()) return status;
  }
}

absl::Status XeDevice::ExecuteAndStore(const Submission& submission, const Store& store) {
  const unsigned bits = info_.properties.address_bits;
  const std::optional<uint64_t> address = PlainIfAddress(store.address, bits);
  if (!address.has_value() || store.address % sizeof(uint64_t) != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a value cannot be stored at 0x%x: it must be an address of %d bits and a multiple of 8",
        store.address, bits));
  }
  const bool is_written = std::any_of(
      submission.objects.begin(), submission.objects.end(), [&](const JobObject& object) {
        return object.written && *address >= object.address &&
               *address - object.address <= object.size - sizeof(uint64_t);
      });
  if (!is_written) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "0x%x, where a value is to be stored, is not in a resident that the job writes", *address));
  }
  const Store plain = {*address, store.value};
  return Execute(submission, &plain);
}

absl::StatusOr<Fence> XeDevice::SubmitAndStore(const Job& job, const Store& store) {
  return SubmitBy(job,
                  [&](const Submission& submission) { return ExecuteAndStore(submission, store); });
}

absl::Status XeDevice::SubmitWithoutFence(const Job& job, const Store& store) {
  return SubmitWithoutFenceBy(
      job, [&](const Submission& submission) { return ExecuteAndStore(submission, store); });
}

absl::StatusOr<bool> XeDevice::WaitForValue(const uint64_t* place, uint64_t value,
                                            absl::Duration timeout,
                                            std::optional<QueueName> queue) {
  // Keeps the queue alive while the kernel waits.
  std::shared_ptr<Queue> used;
  if (queue.has_value()) {
    const absl::StatusOr<size_t> engine = FindEngine(queue->engine);
    if (!engine.ok()) return engine.status();
    MutexLock lock(mutex_);
    absl::StatusOr<std::shared_ptr<Queue>> its = FindQueue({queue->space, queue->context}, *engine);
    if (!its.ok()) return its.status();
    used = *std::move(its);
  }
  api::wait_user_fence args = {};
  args.addr = reinterpret_cast<uintptr_t>(place);
  args.op = api::kGte;
  args.value = value;
  args.mask = ~uint64_t{0};
  args.timeout = absl::ToInt64Nanoseconds(std::max(timeout, absl::ZeroDuration()));
  args.exec_queue_id = used == nullptr ? 0 : used->id();
  const int result = calls().Try(api::kWaitUserFence, args);
  if (result == -ETIME) return false;
  if (result >= 0) return true;
  if (result == -EIO && used != nullptr) {
    return absl::AbortedError(
        absl::StrFormat("a job of context %d (%s) of space %d hung before the value was stored",
                        queue->context, queue->engine, queue->space));
  }
  return calls().Error(-result, "WAIT_USER_FENCE");
}

absl::StatusOr<XeDevice::Clocks> XeDevice::ReadClocks(absl::string_view engine) const {
  const absl::StatusOr<size_t> found = FindEngine(engine);
  if (!found.ok()) return found.status();
  api::engine_cycles cycles = {};
  cycles.eci = info_.engines[*found].engines.front();
  cycles.clockid = CLOCK_MONOTONIC;
  api::device_query args = {};
  args.query = api::kQueryEngineCycles;
  args.size = sizeof(cycles);
  args.data = reinterpret_cast<uintptr_t>(&cycles);
  const absl::Status status = calls().Do("DEVICE_QUERY (ENGINE_CYCLES)", api::kDeviceQuery, args);
  if (!status.ok()) return status;
  return Clocks{.ticks = cycles.engine_cycles,
                .tick_bits = cycles.width,
                .cpu_ns = cycles.cpu_timestamp,
                .duration_ns = cycles.cpu_delta};
}

}  // namespace packsmith::gpu
