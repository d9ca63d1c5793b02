#include "runtime/kernel/asahi/asahi_device.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/generations/generations.h"

namespace packsmith::gpu {

namespace api = uapi::asahi;

namespace {

constexpr char kProgramsBase[] = "programs";

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

absl::StatusOr<AsahiInfo> Ask(const Calls& calls) {
  AsahiInfo info;
  api::params_global& params = info.params;
  api::get_params args = {};
  args.pointer = reinterpret_cast<uintptr_t>(&params);
  args.size = sizeof(params);
  const int result = calls.Try(api::kGetParams, args);
  if (result == -ENOTTY || result == -EINVAL) {
    return absl::UnimplementedError(absl::StrCat(
        calls.path(), " has the interface of asahi from before Linux 6.16; update the kernel"));
  }
  if (result < 0) return calls.Error(-result, "GET_PARAMS");
  const uint64_t kernel = (params.vm_kernel_min_size + api::kPage - 1) / api::kPage * api::kPage;
  const uint64_t last = params.vm_end / api::kPage * api::kPage;
  if (last <= kernel || params.vm_start >= last - kernel || params.num_dies == 0 ||
      params.num_clusters_total > std::size(params.core_masks)) {
    return absl::DataLossError(
        absl::StrFormat("GET_PARAMS on %s: %d clusters on %d dies, addresses 0x%x..0x%x of which "
                        "the kernel needs 0x%x",
                        calls.path(), params.num_clusters_total, params.num_dies, params.vm_start,
                        params.vm_end, params.vm_kernel_min_size));
  }
  info.begin = params.vm_start;
  info.end = last - kernel;

  DeviceProperties& properties = info.properties;
  properties.driver = "asahi";
  properties.revision = static_cast<uint16_t>(params.gpu_revision);
  // One more than addresses have: bits are never repeated above them.
  properties.address_bits = static_cast<unsigned>(std::bit_width(params.vm_end - 1)) + 1;
  properties.address_space = info.end - info.begin;
  properties.timestamp_hertz = params.command_timestamp_frequency_hz;
  properties.page = api::kPage;
  properties.engines = {{"render", 1}, {"compute", 1}};
  properties.has_heap[static_cast<int>(Heap::kSystem)] = true;
  properties.has_heap[static_cast<int>(Heap::kSystemUncached)] = true;
  properties.caches_scanout = true;
  properties.has_priorities = true;
  const uint32_t of_die = (params.num_clusters_total + params.num_dies - 1) / params.num_dies;
  for (uint32_t cluster = 0; cluster < params.num_clusters_total; ++cluster) {
    if (cluster % of_die == 0) properties.slices.emplace_back();
    properties.slices.back().eus.push_back(
        static_cast<unsigned>(std::popcount(params.core_masks[cluster])));
  }
  return info;
}

uint64_t StreamOf(const AsahiCommand& command) {
  return std::visit([](const auto& one) { return one.stream; }, command);
}

}  // namespace

AsahiDevice::AsahiDevice(std::shared_ptr<Connection> connection, std::string generation,
                         AsahiInfo info, Options options)
    : DrmDevice(std::move(connection), std::move(generation), info.properties, /*dump=*/""),
      info_(std::move(info)),
      options_(std::move(options)) {}

absl::StatusOr<std::unique_ptr<AsahiDevice>> AsahiDevice::Open(
    std::unique_ptr<Connection> connection, Options options) {
  const std::shared_ptr<Connection> node = std::move(connection);
  const Calls calls(node);
  absl::StatusOr<AsahiInfo> info = Ask(calls);
  if (!info.ok()) return info.status();
  const absl::StatusOr<tables::Tables> tables = options.generation.empty()
                                                    ? FindGenerationOfChipId(info->params.chip_id)
                                                    : FindGeneration(options.generation);
  if (!tables.ok()) {
    return absl::Status(tables.status().code(),
                        absl::StrCat(calls.path(), ": ", tables.status().message()));
  }
  return std::unique_ptr<AsahiDevice>(new AsahiDevice(node, std::string(tables->generation()),
                                                      *std::move(info), std::move(options)));
}

// ---- Memory. ----

absl::StatusOr<uint32_t> AsahiDevice::CreateObject(const MemoryOptions& options) {
  if ((options.use & kProtected) != 0) {
    return absl::UnimplementedError("protected memory is not supported on asahi");
  }
  api::gem_create args = {};
  args.size = options.size;
  if (options.heap == Heap::kSystem) args.flags |= api::kGemWriteback;
  const absl::Status status = calls().Do("GEM_CREATE", api::kGemCreate, args);
  if (!status.ok()) return status;
  return args.handle;
}

absl::StatusOr<uint64_t> AsahiDevice::MapOffset(uint32_t handle, Heap) {
  api::gem_mmap_offset args = {};
  args.handle = handle;
  const absl::Status status = calls().Do("GEM_MMAP_OFFSET", api::kGemMmapOffset, args);
  if (!status.ok()) return status;
  return args.offset;
}

// ---- Spaces. ----

absl::StatusOr<uint32_t> AsahiDevice::FindVm(uint32_t space) {
  const auto found = vms_.find(space);
  if (found != vms_.end()) return found->second;
  api::vm_create args = {};
  args.kernel_start = info_.end;
  args.kernel_end = info_.params.vm_end / api::kPage * api::kPage;
  const absl::Status status = calls().Do("VM_CREATE", api::kVmCreate, args);
  if (!status.ok()) return status;
  vms_[space] = args.vm_id;
  return args.vm_id;
}

absl::Status AsahiDevice::CallUnbind(uint32_t vm, absl::Span<const api::gem_bind_op> bound) const {
  absl::InlinedVector<api::gem_bind_op, 4> ops;
  for (const api::gem_bind_op& one : bound) {
    ops.push_back({.flags = api::kBindUnbind,
                   .handle = 0,
                   .offset = 0,
                   .range = one.range,
                   .addr = one.addr});
  }
  api::vm_bind args = {};
  args.vm_id = vm;
  args.num_binds = static_cast<uint32_t>(ops.size());
  args.stride = sizeof(api::gem_bind_op);
  args.userptr = reinterpret_cast<uintptr_t>(ops.data());
  return calls().Do("VM_BIND", api::kVmBind, args);
}

absl::Status AsahiDevice::BindLocked(uint32_t space, absl::Span<const BindStep> steps) {
  absl::InlinedVector<api::gem_bind_op, 4> ops;
  for (const BindStep& step : steps) {
    if (step.address < info_.begin || step.address > info_.end ||
        step.size > info_.end - step.address) {
      return absl::InvalidArgumentError(
          absl::StrFormat("0x%x bytes at 0x%x are not in 0x%x..0x%x, the addresses for programs",
                          step.size, step.address, info_.begin, info_.end - 1));
    }
    ops.push_back({.flags = api::kBindRead | (step.writable ? api::kBindWrite : 0),
                   .handle = step.object->handle,
                   .offset = step.offset,
                   .range = step.size,
                   .addr = step.address});
  }
  MutexLock lock(mutex_);
  const absl::StatusOr<uint32_t> vm = FindVm(space);
  if (!vm.ok()) return vm.status();
  api::vm_bind args = {};
  args.vm_id = *vm;
  args.num_binds = static_cast<uint32_t>(ops.size());
  args.stride = sizeof(api::gem_bind_op);
  args.userptr = reinterpret_cast<uintptr_t>(ops.data());
  absl::Status status = calls().Do("VM_BIND", api::kVmBind, args);
  // Those before the one that failed are bound. If they cannot be unbound, they are replaced when
  // something else is bound there, and go with their memory.
  if (!status.ok() && ops.size() > 1) CallUnbind(*vm, ops).IgnoreError();
  return status;
}

absl::Status AsahiDevice::UnbindLocked(uint32_t space, uint64_t plain_address, uint64_t size) {
  MutexLock lock(mutex_);
  const absl::StatusOr<uint32_t> vm = FindVm(space);
  if (!vm.ok()) return vm.status();
  const api::gem_bind_op bound = {
      .flags = 0, .handle = 0, .offset = 0, .range = size, .addr = plain_address};
  return CallUnbind(*vm, {&bound, 1});
}

// ---- Contexts. ----

absl::StatusOr<uint32_t> AsahiDevice::CreateQueue(uint32_t vm, Priority priority,
                                                  uint64_t programs) const {
  api::queue_create args = {};
  args.vm_id = vm;
  args.priority = NumberOf(priority);
  args.usc_exec_base = programs;
  const absl::Status status = calls().Do("QUEUE_CREATE", api::kQueueCreate, args);
  if (!status.ok()) return status;
  return args.queue_id;
}

absl::Status AsahiDevice::DestroyQueue(uint32_t queue) const {
  api::queue_destroy args = {};
  args.queue_id = queue;
  return calls().Do("QUEUE_DESTROY", api::kQueueDestroy, args);
}

absl::StatusOr<uint32_t> AsahiDevice::CreateContext(const ContextOptions& options) {
  if (options.protects) {
    return absl::UnimplementedError("protected contexts are not supported on asahi");
  }
  MutexLock lock(mutex_);
  if (options.priority >= Priority::kHigh) {
    // The queue itself needs the base of the first job.
    const absl::StatusOr<uint32_t> vm = FindVm(options.space);
    if (!vm.ok()) return vm.status();
    const absl::StatusOr<uint32_t> probe = CreateQueue(*vm, options.priority, 0);
    if (!probe.ok()) {
      if (probe.status().code() != absl::StatusCode::kInvalidArgument) return probe.status();
      return absl::PermissionDeniedError(
          "the kernel reserves contexts of high priority; use Priority::kNormal");
    }
    const absl::Status status = DestroyQueue(*probe);
    if (!status.ok()) return status;
  }
  const uint32_t context = ++last_context_;
  contexts_[{options.space, context}] = {
      .priority = options.priority, .recoverable = options.recoverable, .queue = 0, .programs = 0};
  space_of_[context] = options.space;
  return context;
}

absl::Status AsahiDevice::DestroyContext(uint32_t context) {
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

absl::StatusOr<AsahiDevice::Context*> AsahiDevice::FindContext(const ContextKey& key) {
  const auto found = contexts_.find(key);
  if (found != contexts_.end()) return &found->second;
  if (key.second == 0) return &contexts_[key];
  return absl::InvalidArgumentError(
      absl::StrFormat("there is no context %d in space %d", key.second, key.first));
}

absl::StatusOr<ContextState> AsahiDevice::StateOf(uint32_t space, uint32_t context) {
  bool recoverable = true;
  {
    MutexLock lock(mutex_);
    const absl::StatusOr<Context*> found = FindContext({space, context});
    if (!found.ok()) return found.status();
    recoverable = (*found)->recoverable;
  }
  if (!HasFailed(space, context)) return ContextState::kGood;
  return recoverable ? ContextState::kHung : ContextState::kLost;
}

// ---- Jobs. ----

absl::StatusOr<uint32_t> AsahiDevice::FindQueue(const Job& job) {
  uint64_t programs = 0;
  for (const JobBase& base : job.bases) {
    if (base.name != kProgramsBase) {
      return absl::InvalidArgumentError(
          absl::StrFormat("the base \"%s\" is not known; the one of this device is \"%s\"",
                          base.name, kProgramsBase));
    }
    programs = base.address;
  }
  std::optional<uint32_t> queue;
  bool recoverable = true;
  {
    MutexLock lock(mutex_);
    const absl::StatusOr<Context*> found = FindContext({job.space, job.context});
    if (!found.ok()) return found.status();
    Context& context = **found;
    if (context.queue == 0) {
      const absl::StatusOr<uint32_t> vm = FindVm(job.space);
      if (!vm.ok()) return vm.status();
      const absl::StatusOr<uint32_t> made = CreateQueue(*vm, context.priority, programs);
      if (!made.ok()) return made.status();
      context.queue = *made;
      context.programs = programs;
    }
    if (context.programs != programs) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "the base \"%s\" is 0x%x, and 0x%x for context %d since its first job; use another "
          "context",
          kProgramsBase, programs, context.programs, job.context));
    }
    queue = context.queue;
    recoverable = context.recoverable;
  }
  if (!recoverable && HasFailed(job.space, job.context)) {
    return absl::AbortedError(
        absl::StrFormat("context %d of space %d is lost: a job of it hung; create another one",
                        job.context, job.space));
  }
  return *queue;
}

absl::Status AsahiDevice::Execute(const Submission& submission) {
  const Job& job = submission.job;
  AsahiCommand command;
  if (job.engine == "render") {
    AsahiRender render = options_.plain_render;
    render.stream = submission.batch_address;
    command = render;
  } else if (job.engine == "compute") {
    AsahiCompute compute;
    compute.stream = submission.batch_address;
    compute.stream_end = submission.batch_address + job.batch_length;
    command = compute;
  } else {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s has no engine \"%s\"; it has: render, compute", calls().path(), job.engine));
  }
  return ExecuteCommands(submission, {&command, 1});
}

absl::Status AsahiDevice::ExecuteCommands(const Submission& submission,
                                          absl::Span<const AsahiCommand> commands) {
  for (const AsahiCommand& command : commands) {
    const uint64_t stream = StreamOf(command);
    const bool is_resident =
        std::any_of(submission.objects.begin(), submission.objects.end(), [&](const auto& object) {
          return stream >= object.address && stream - object.address < object.size;
        });
    if (!is_resident) {
      return absl::InvalidArgumentError(
          absl::StrFormat("the stream at 0x%x is not in one of the %d residents", stream,
                          submission.objects.size()));
    }
  }
  AsahiCommandBuffer buffer;
  const AsahiLimits limits = {.commands = info_.params.max_commands_per_submission,
                              .attachments = info_.params.max_attachments};
  const absl::Status packed = PackAsahiCommands(commands, limits, buffer);
  if (!packed.ok()) return packed;
  const absl::StatusOr<uint32_t> queue = FindQueue(submission.job);
  if (!queue.ok()) return queue.status();

  absl::InlinedVector<api::sync, 12> syncs;
  for (const uint32_t wait : submission.waits) {
    syncs.push_back({.sync_type = api::kSyncSyncobj, .handle = wait, .timeline_value = 0});
  }
  syncs.push_back(
      {.sync_type = api::kSyncSyncobj, .handle = submission.signals, .timeline_value = 0});
  api::submit args = {};
  args.syncs = reinterpret_cast<uintptr_t>(syncs.data());
  args.cmdbuf = reinterpret_cast<uintptr_t>(buffer.data());
  args.queue_id = *queue;
  args.in_sync_count = static_cast<uint32_t>(submission.waits.size());
  args.out_sync_count = 1;
  args.cmdbuf_size = static_cast<uint32_t>(buffer.size());
  return calls().Do("SUBMIT", api::kSubmit, args);
}

absl::StatusOr<Fence> AsahiDevice::SubmitCommands(const Job& job,
                                                  absl::Span<const AsahiCommand> commands) {
  if (commands.empty()) {
    return absl::InvalidArgumentError("a submission without commands: it must have at least one");
  }
  Job first = job;
  first.engine = std::holds_alternative<AsahiRender>(commands.front()) ? "render" : "compute";
  first.batch_address = StreamOf(commands.front());
  first.batch_length = 0;
  return SubmitBy(
      first, [&](const Submission& submission) { return ExecuteCommands(submission, commands); });
}

absl::StatusOr<Fence> AsahiDevice::SubmitRender(const Job& job, const AsahiRender& render) {
  const AsahiCommand command = render;
  return SubmitCommands(job, {&command, 1});
}

absl::StatusOr<Fence> AsahiDevice::SubmitCompute(const Job& job, const AsahiCompute& compute) {
  const AsahiCommand command = compute;
  return SubmitCommands(job, {&command, 1});
}

// ---- Times. ----

absl::StatusOr<uint64_t> AsahiDevice::ReadClock() const {
  api::get_time args = {};
  const absl::Status status = calls().Do("GET_TIME", api::kGetTime, args);
  if (!status.ok()) return status;
  return args.gpu_timestamp;
}

absl::StatusOr<AsahiTimestamps> AsahiDevice::CreateTimestamps(uint32_t count) {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max() / AsahiTimestamps::kBytes;
  if (count == 0 || count > kMost) {
    return absl::InvalidArgumentError(
        absl::StrFormat("room for %d times: it must be for 1 to %d", count, kMost));
  }
  const uint64_t bytes = uint64_t{count} * AsahiTimestamps::kBytes;
  const uint64_t size = (bytes + api::kPage - 1) / api::kPage * api::kPage;
  const absl::StatusOr<MemoryId> memory = Create({.size = size});
  if (!memory.ok()) return memory.status();
  // From here on, what was made goes if a call fails.
  AsahiTimestamps made;
  made.device_ = this;
  made.memory_ = *memory;
  made.count_ = count;
  const absl::StatusOr<absl::Span<uint8_t>> mapped = Map(*memory);
  if (!mapped.ok()) return mapped.status();
  made.bytes_ = *mapped;
  const absl::StatusOr<uint32_t> handle = HandleOf(*memory);
  if (!handle.ok()) return handle.status();
  api::gem_bind_object args = {};
  args.op = api::kObjectBind;
  args.flags = api::kObjectTimestamps;
  args.handle = *handle;
  args.range = size;
  const absl::Status status = calls().Do("GEM_BIND_OBJECT", api::kGemBindObject, args);
  if (!status.ok()) return status;
  made.object_ = args.object_handle;
  return made;
}

AsahiTimestamps::AsahiTimestamps(AsahiTimestamps&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      memory_(other.memory_),
      bytes_(other.bytes_),
      object_(other.object_),
      count_(other.count_) {}

// What the kernel says to it changes nothing: the file's end frees it, too.
AsahiTimestamps::~AsahiTimestamps() { Free().IgnoreError(); }

absl::Status AsahiTimestamps::Free() {
  if (device_ == nullptr) return absl::OkStatus();
  if (object_ != 0) {
    api::gem_bind_object args = {};
    args.op = api::kObjectUnbind;
    args.object_handle = object_;
    const absl::Status status = device_->calls().Do("GEM_BIND_OBJECT", api::kGemBindObject, args);
    if (!status.ok()) return status;
    object_ = 0;
  }
  absl::Status status = device_->Destroy(memory_);
  if (status.ok()) device_ = nullptr;
  return status;
}

uint64_t AsahiTimestamps::Read(uint32_t index) const {
  uint64_t time = 0;
  std::memcpy(&time, bytes_.data() + size_t{index} * kBytes, sizeof(time));
  return time;
}

}  // namespace packsmith::gpu
