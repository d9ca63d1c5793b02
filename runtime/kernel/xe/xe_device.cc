#include "runtime/kernel/xe/xe_device.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/addresses.h"
#include "runtime/generations/generations.h"
#include "runtime/kernel/drm/calls.h"
#include "runtime/kernel/drm/generation.h"

namespace packsmith::gpu {

namespace api = uapi::xe;

namespace {

api::sync WaitFor(uint32_t syncobj) {
  api::sync sync = {};
  sync.type = api::kSyncSyncobj;
  sync.handle_or_address = syncobj;
  return sync;
}

api::sync WaitFor(const SyncobjPoint& point) {
  api::sync sync = {};
  sync.type = api::kSyncTimeline;
  sync.handle_or_address = point.syncobj;
  sync.timeline_value = point.value;
  return sync;
}

}  // namespace

XeDevice::XeDevice(std::shared_ptr<Connection> connection, std::string generation, XeInfo info,
                   Options options, std::string dump)
    : DrmDeviceBase(std::move(connection), std::move(generation), info.properties, dump,
                    options.checks_residents),
      dump_(std::move(dump)),
      info_(std::move(info)),
      options_(std::move(options)),
      spaces_(calls(),
              {.scratch_page = options_.scratch_page, .page_faults = options_.page_faults}),
      contexts_(calls(), info_, spaces_, dump_) {}

absl::StatusOr<std::unique_ptr<XeDevice>> XeDevice::Open(std::unique_ptr<Connection> connection,
                                                         Options options) {
  const std::shared_ptr<Connection> node = std::move(connection);
  const Calls calls(node);
  absl::StatusOr<XeInfo> info = QueryXe(calls);
  if (!info.ok()) return info.status();
  absl::StatusOr<std::string> generation = GenerationOf(
      calls.path(), options.generation, FindGenerationOfPciId(info->properties.pci_id));
  if (!generation.ok()) return generation.status();
  // Where the kernel reports hangs.
  std::string dump = node->sysfs();
  if (dump.empty()) dump = "/sys/class/drm/card*/device";
  dump += "/devcoredump/data";
  std::unique_ptr<XeDevice> device(new XeDevice(node, *std::move(generation), *std::move(info),
                                                std::move(options), std::move(dump)));
  const absl::Status status = device->spaces_.CheckOptions();
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
  return spaces_.Change(space, ops, /*binds=*/true);
}

absl::Status XeDevice::UnbindLocked(uint32_t space, absl::Span<const BindStep> steps) {
  absl::InlinedVector<api::vm_bind_op, 2> ops;
  ops.reserve(steps.size());
  for (const BindStep& step : steps) {
    api::vm_bind_op op = {};
    op.op = api::kUnmap;
    op.addr = step.address;
    op.range = step.size;
    ops.push_back(op);
  }
  // Jobs need not wait for it: they do not use what was bound there. What is bound there later is,
  // in the kernel's order.
  return spaces_.Change(space, ops, /*binds=*/false);
}

// ---- Jobs. ----

absl::StatusOr<size_t> XeDevice::FindEngine(absl::string_view engine) const {
  const auto& engines = info_.properties.engines;
  const absl::string_view name = engine == "blitter" ? "copy" : engine;
  for (size_t i = 0; i < engines.size(); ++i) {
    if (engines[i].name == name) return i;
  }
  std::string known;
  for (const DeviceProperties::Engine& one : engines) {
    absl::StrAppend(&known, known.empty() ? "" : ", ", one.name);
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("%s has no engine \"%s\"; it has: %s", calls().path(), engine, known));
}

absl::Status XeDevice::Execute(const Submission& submission, const Store* store) {
  const Job& job = submission.job;
  if (options_.page_faults && submission.signals != 0) {
    return absl::FailedPreconditionError(
        "jobs of a device with page faults have no fences; use SubmitWithoutFence()");
  }
  const absl::StatusOr<size_t> engine = FindEngine(job.engine);
  if (!engine.ok()) return engine.status();
  const XeContexts::Key key = {job.space, job.context};
  // A queue that was banned is replaced once.
  for (bool again = false;; again = true) {
    const absl::StatusOr<std::shared_ptr<XeQueue>> queue = contexts_.Queue(key, *engine);
    if (!queue.ok()) return queue.status();
    absl::InlinedVector<api::sync, 12> syncs;
    for (const uint32_t wait : submission.waits) syncs.push_back(WaitFor(wait));
    for (const SyncobjPoint& point : submission.wait_points) syncs.push_back(WaitFor(point));
    if (const auto bound = spaces_.Bound(job.space)) syncs.push_back(*bound);
    for (const SyncobjPoint& point : submission.signal_points) {
      syncs.push_back(WaitFor(point));
      syncs.back().flags = api::kSyncSignal;
    }
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
    args.exec_queue_id = (*queue)->id();
    args.num_syncs = static_cast<uint32_t>(syncs.size());
    args.syncs = reinterpret_cast<uintptr_t>(syncs.data());
    args.address = Canonical(submission.batch_address, info_.properties.address_bits);
    args.num_batch_buffer = 1;
    const int result = calls().Try(api::kExec, args);
    if (result >= 0) return absl::OkStatus();
    if (result != -ECANCELED || again) return SubmitError(-result, "EXEC", job);
    const absl::Status status = contexts_.NoteBan(key, *engine, **queue);
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
  const bool is_written =
      !options_.checks_residents ||
      std::any_of(submission.objects.begin(), submission.objects.end(),
                  [&](const JobObject& object) {
                    return object.written && *address >= object.address &&
                           *address - object.address <= object.size - sizeof(uint64_t);
                  });
  if (!is_written) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the address 0x%x of a value to store must be in a resident that the job writes",
        *address));
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
  std::shared_ptr<XeQueue> used;
  if (queue.has_value()) {
    const absl::StatusOr<size_t> engine = FindEngine(queue->engine);
    if (!engine.ok()) return engine.status();
    absl::StatusOr<std::shared_ptr<XeQueue>> its =
        contexts_.Queue({queue->space, queue->context}, *engine);
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
    return absl::AbortedError(absl::StrFormat(
        "a job of context %d (%s) of space %d hung before the value was stored; the "
        "kernel reports it in %s",
        queue->context, queue->engine, queue->space, dump_));
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
