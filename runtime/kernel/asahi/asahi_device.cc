#include "runtime/kernel/asahi/asahi_device.h"

#include <algorithm>
#include <variant>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_format.h"
#include "runtime/generations/generations.h"
#include "runtime/kernel/drm/calls.h"
#include "runtime/kernel/drm/generation.h"
#include "runtime/kernel/uapi/asahi.h"

namespace packsmith::gpu {

namespace api = uapi::asahi;

namespace {

uint64_t StreamOf(const AsahiCommand& command) {
  return std::visit([](const auto& one) { return one.stream; }, command);
}

}  // namespace

AsahiDevice::AsahiDevice(std::shared_ptr<Connection> connection, std::string generation,
                         AsahiInfo info, Options options)
    : DrmDeviceBase(std::move(connection), std::move(generation), info.properties, /*dump=*/""),
      info_(std::move(info)),
      options_(std::move(options)),
      spaces_(calls(), info_),
      contexts_(calls(), spaces_) {}

absl::StatusOr<std::unique_ptr<AsahiDevice>> AsahiDevice::Open(
    std::unique_ptr<Connection> connection, Options options) {
  const std::shared_ptr<Connection> node = std::move(connection);
  const Calls calls(node);
  absl::StatusOr<AsahiInfo> info = QueryAsahi(calls);
  if (!info.ok()) return info.status();
  absl::StatusOr<std::string> generation =
      GenerationOf(calls.path(), options.generation, FindGenerationOfChipId(info->params.chip_id));
  if (!generation.ok()) return generation.status();
  return std::unique_ptr<AsahiDevice>(
      new AsahiDevice(node, *std::move(generation), *std::move(info), std::move(options)));
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

AsahiSpaces::Ops AsahiDevice::OpsOf(absl::Span<const BindStep> steps) {
  AsahiSpaces::Ops ops;
  ops.reserve(steps.size());
  for (const BindStep& step : steps) {
    ops.push_back({.flags = api::kBindRead | (step.writable ? api::kBindWrite : 0),
                   .handle = step.object->handle,
                   .offset = step.offset,
                   .range = step.size,
                   .addr = step.address});
  }
  return ops;
}

absl::Status AsahiDevice::BindLocked(uint32_t space, absl::Span<const BindStep> steps) {
  return spaces_.Bind(space, OpsOf(steps));
}

absl::Status AsahiDevice::UnbindLocked(uint32_t space, absl::Span<const BindStep> steps) {
  return spaces_.Unbind(space, OpsOf(steps));
}

absl::StatusOr<ContextState> AsahiDevice::StateOf(uint32_t space, uint32_t context) {
  const absl::StatusOr<bool> recoverable = contexts_.IsRecoverable({space, context});
  if (!recoverable.ok()) return recoverable.status();
  if (!HasFailed(space, context)) return ContextState::kGood;
  return *recoverable ? ContextState::kHung : ContextState::kLost;
}

// ---- Jobs. ----

absl::StatusOr<uint32_t> AsahiDevice::QueueFor(const Job& job) {
  constexpr char kPrograms[] = "programs";
  uint64_t programs = 0;
  for (const JobBase& base : job.bases) {
    if (base.name != kPrograms) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "the base \"%s\" is not known; the one of this device is \"%s\"", base.name, kPrograms));
    }
    programs = base.address;
  }
  const AsahiContexts::Key key = {job.space, job.context};
  const absl::StatusOr<bool> recoverable = contexts_.IsRecoverable(key);
  if (!recoverable.ok()) return recoverable.status();
  if (!*recoverable && HasFailed(job.space, job.context)) {
    return absl::AbortedError(
        absl::StrFormat("context %d of space %d is lost: a job of it hung; create another one",
                        job.context, job.space));
  }
  return contexts_.Queue(key, programs);
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
  const absl::StatusOr<uint32_t> queue = QueueFor(submission.job);
  if (!queue.ok()) return queue.status();

  absl::InlinedVector<api::sync, 12> syncs;
  for (const uint32_t wait : submission.waits) {
    syncs.push_back({.sync_type = api::kSyncSyncobj, .handle = wait, .timeline_value = 0});
  }
  const auto add_points = [&syncs](absl::Span<const SyncobjPoint> points) {
    for (const SyncobjPoint& point : points) {
      syncs.push_back({.sync_type = api::kSyncTimeline,
                       .handle = point.syncobj,
                       .timeline_value = point.value});
    }
  };
  add_points(submission.wait_points);
  const size_t waits = syncs.size();
  syncs.push_back(
      {.sync_type = api::kSyncSyncobj, .handle = submission.signals, .timeline_value = 0});
  add_points(submission.signal_points);
  api::submit args = {};
  args.syncs = reinterpret_cast<uintptr_t>(syncs.data());
  args.cmdbuf = reinterpret_cast<uintptr_t>(buffer.data());
  args.queue_id = *queue;
  args.in_sync_count = static_cast<uint32_t>(waits);
  args.out_sync_count = static_cast<uint32_t>(syncs.size() - waits);
  args.cmdbuf_size = static_cast<uint32_t>(buffer.size());
  const int result = calls().Try(api::kSubmit, args);
  return result < 0 ? SubmitError(-result, "SUBMIT", submission.job) : absl::OkStatus();
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

}  // namespace packsmith::gpu
