#include "runtime/capture/asahi/old_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "runtime/capture/devices/gpu_clock.h"

namespace packsmith::capture {

namespace asahi = uapi::asahi;
namespace old = uapi::asahi_old;

namespace {

template <typename T>
void Append(const T& value, std::string& words) {
  words.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// The barrier of the later interface. `before`: how many commands of the kind came before; a number
// beyond is not a barrier that commands can have.
Result Barrier(uint32_t barrier, size_t before, uint16_t& out) {
  out = asahi::kNoBarrier;
  if (barrier == old::kNoBarrier) return 0;
  if (barrier > before) return -EINVAL;
  out = static_cast<uint16_t>(barrier);
  return 0;
}

// Writes as much of a result as the program has room for.
template <typename T>
void PutResult(const Object& object, const old::command& command, const T& result) {
  const size_t size = std::min<uint64_t>(command.result_size, sizeof(result));
  object.Write(command.result_offset, {reinterpret_cast<const uint8_t*>(&result), size});
}

asahi::cmd_render Later(const old::cmd_render& render) {
  asahi::cmd_render later = {};
  later.vdm_ctrl_stream_base = render.encoder_ptr;
  later.width_px = static_cast<uint16_t>(std::min(render.fb_width, 0xffffu));
  later.height_px = static_cast<uint16_t>(std::min(render.fb_height, 0xffffu));
  later.layers = static_cast<uint16_t>(std::min(render.layers, 0xffffu));
  later.utile_width_px = static_cast<uint8_t>(std::min(render.utile_width, 0xffu));
  later.utile_height_px = static_cast<uint8_t>(std::min(render.utile_height, 0xffu));
  later.samples = static_cast<uint8_t>(std::min(render.samples, 0xffu));
  later.sample_size_B = static_cast<uint8_t>(std::min(render.sample_size, 0xffu));
  later.bg = {render.load_pipeline, render.load_pipeline_bind};
  later.eot = {render.store_pipeline, render.store_pipeline_bind};
  later.partial_bg = {render.partial_reload_pipeline, render.partial_reload_pipeline_bind};
  later.partial_eot = {render.partial_store_pipeline, render.partial_store_pipeline_bind};
  return later;
}

asahi::cmd_compute Later(const old::cmd_compute& compute) {
  asahi::cmd_compute later = {};
  later.cdm_ctrl_stream_base = compute.encoder_ptr;
  later.cdm_ctrl_stream_end = compute.encoder_end;
  return later;
}

}  // namespace

absl::Span<const IoctlEntry> OldAsahiFile::DriverIoctls() const {
  static constexpr IoctlEntry kEntries[] = {
      MakeIoctl<&OldAsahiFile::GetOldParams>(old::kGetParams, "GET_PARAMS"),
      MakeIoctl<&OldAsahiFile::CreateVm>(old::kVmCreate, "VM_CREATE"),
      MakeIoctl<&OldAsahiFile::DestroyVm>(old::kVmDestroy, "VM_DESTROY"),
      MakeIoctl<&OldAsahiFile::CreateObject>(old::kGemCreate, "GEM_CREATE"),
      MakeIoctl<&OldAsahiFile::MapObject>(old::kGemMmapOffset, "GEM_MMAP_OFFSET"),
      MakeIoctl<&OldAsahiFile::BindObject>(old::kGemBind, "GEM_BIND"),
      MakeIoctl<&OldAsahiFile::CreateQueue>(old::kQueueCreate, "QUEUE_CREATE"),
      MakeIoctl<&OldAsahiFile::DestroyQueue>(old::kQueueDestroy, "QUEUE_DESTROY"),
      MakeIoctl<&OldAsahiFile::SubmitOld>(old::kSubmit, "SUBMIT"),
      MakeIoctl<&OldAsahiFile::GetOldTime>(old::kGetTime, "GET_TIME"),
  };
  return kEntries;
}

Result OldAsahiFile::GetOldParams(Caller& caller, old::get_params& args) {
  if (args.extensions != 0 || args.param_group != 0 || args.pad != 0) return -EINVAL;
  const DeviceInfo& info = device().info();
  const AppleChip& chip = *info.apple;
  old::params_global params = {};
  params.unstable_uabi_version = old::kVersion;
  params.feat_compat = old::kFeatureSoftFaults;
  params.gpu_generation = chip.generation;
  params.gpu_variant = static_cast<uint32_t>(chip.variant);
  params.gpu_revision = chip.revision;
  params.chip_id = info.chip_id;
  params.num_dies = chip.dies;
  params.num_clusters_total = chip.clusters;
  params.num_cores_per_cluster = chip.cores_per_cluster;
  params.num_frags_per_cluster = chip.cores_per_cluster;
  params.num_gps_per_cluster = chip.cores_per_cluster / 2;
  for (size_t i = 0; i < chip.core_masks.size(); ++i) {
    params.core_masks[i] = chip.core_masks[i];
    params.num_cores_total_active += static_cast<uint32_t>(std::popcount(chip.core_masks[i]));
  }
  params.vm_page_size = asahi::kPage;
  params.vm_user_start = kAsahiVmStart;
  params.vm_user_end = kAsahiVmEnd;
  params.vm_kernel_min_size = kAsahiKernelSize;
  params.max_syncs_per_submission = kAsahiOldMostSyncs;
  params.max_commands_per_submission = kAsahiMostCommands;
  params.max_commands_in_flight = kAsahiMostCommands;
  params.max_attachments = kAsahiMostAttachments;
  params.timer_frequency_hz = info.timestamp_hz;
  params.min_frequency_khz = uint32_t{info.min_mhz} * 1000;
  params.max_frequency_khz = chip.max_frequency_khz;
  params.result_render_size = sizeof(old::result_render);
  params.result_compute_size = sizeof(old::result_compute);
  args.size = std::min<uint64_t>(args.size, sizeof(params));
  return caller.memory()->Write(args.pointer,
                                {reinterpret_cast<const uint8_t*>(&params), args.size})
             ? 0
             : -EFAULT;
}

Result OldAsahiFile::GetOldTime(Caller&, old::get_time& args) {
  if (args.extensions != 0 || args.flags != 0) return -EINVAL;
  const int64_t now = MonotonicNow();
  args.tv_sec = now / 1'000'000'000;
  args.tv_nsec = now % 1'000'000'000;
  args.gpu_timestamp = GpuTicks(device().info(), now);
  return 0;
}

Result OldAsahiFile::CreateVm(Caller& caller, old::vm_create& args) {
  if (args.extensions != 0) return -EINVAL;
  asahi::vm_create later = {args.kernel_start, args.kernel_end, 0, args.pad};
  const Result result = VmCreate(caller, later);
  args.vm_id = later.vm_id;
  return result;
}

Result OldAsahiFile::DestroyVm(Caller& caller, old::vm_destroy& args) {
  if (args.extensions != 0) return -EINVAL;
  asahi::vm_destroy later = {args.vm_id, args.pad};
  return VmDestroy(caller, later);
}

Result OldAsahiFile::CreateObject(Caller& caller, old::gem_create& args) {
  if (args.extensions != 0) return -EINVAL;
  asahi::gem_create later = {args.size, args.flags, args.vm_id, 0, args.pad};
  const Result result = GemCreate(caller, later);
  args.handle = later.handle;
  return result;
}

Result OldAsahiFile::MapObject(Caller& caller, old::gem_mmap_offset& args) {
  if (args.extensions != 0) return -EINVAL;
  asahi::gem_mmap_offset later = {args.handle, args.flags, 0};
  const Result result = GemMmapOffset(caller, later);
  args.offset = later.offset;
  return result;
}

Result OldAsahiFile::BindObject(Caller&, old::gem_bind& args) {
  if (args.extensions != 0 || (args.flags & ~(old::kBindRead | old::kBindWrite)) != 0) {
    return -EINVAL;
  }
  const std::shared_ptr<AsahiVm> vm = FindVm(args.vm_id);
  if (!vm) return Refuse(-ENOENT, "the address space does not exist");
  switch (args.op) {
    case old::kBind: {
      const uint32_t flags = ((args.flags & old::kBindRead) != 0 ? asahi::kBindRead : 0) |
                             ((args.flags & old::kBindWrite) != 0 ? asahi::kBindWrite : 0);
      return Bind(vm, {flags, args.handle, args.offset, args.range, args.addr});
    }
    case old::kUnbind:
      return Bind(vm, {asahi::kBindUnbind, args.handle, args.offset, args.range, args.addr});
    case old::kUnbindAll: {
      const std::shared_ptr<Object> object = FindObject(args.handle);
      if (!object) return Refuse(-ENOENT, "the object does not exist");
      if (args.flags != 0 || args.offset != 0 || args.range != 0 || args.addr != 0) return -EINVAL;
      vm->UnmapObject(*object);
      return 0;
    }
    default:
      return -EINVAL;
  }
}

Result OldAsahiFile::CreateQueue(Caller& caller, old::queue_create& args) {
  constexpr uint32_t kCaps = old::kQueueRender | old::kQueueBlit | old::kQueueCompute;
  if (args.extensions != 0 || args.pad != 0 || args.queue_caps == 0 ||
      (args.queue_caps & ~kCaps) != 0) {
    return -EINVAL;
  }
  asahi::queue_create later = {args.flags, args.vm_id, args.priority, 0, 0};
  const Result result = QueueCreate(caller, later);
  if (result == 0) caps_[later.queue_id] = args.queue_caps;
  args.queue_id = later.queue_id;
  return result;
}

Result OldAsahiFile::DestroyQueue(Caller& caller, old::queue_destroy& args) {
  if (args.extensions != 0) return -EINVAL;
  asahi::queue_destroy later = {args.queue_id, args.pad};
  return QueueDestroy(caller, later);
}

Result OldAsahiFile::ReadAttachments(Caller& caller, uint64_t address, uint32_t count,
                                     AsahiCommand& out) {
  if (count > kAsahiMostAttachments) return -EINVAL;
  std::vector<old::attachment> attachments;
  if (const Result bad = caller.GetArray(address, count, attachments)) return bad;
  for (const old::attachment& one : attachments) Append(one, out.words);
  return 0;
}

Result OldAsahiFile::ReadCommand(Caller& caller, const old::command& command, uint32_t caps,
                                 const std::shared_ptr<Object>& results, AsahiCommand& out) {
  if (command.extensions != 0 || command.flags != 0) return -EINVAL;
  if (command.result_size != 0) {
    if (!results) return Refuse(-EINVAL, "a command has a result, and the submission no object");
    if (command.result_size > results->size() ||
        command.result_offset > results->size() - command.result_size) {
      return Refuse(-ERANGE, "the result is beyond the end of the object");
    }
  }
  Append(command, out.words);
  // Fields that the program does not know of are zero.
  const auto read = [&caller, &command](auto& value) {
    const size_t size = std::min<uint64_t>(command.cmd_buffer_size, sizeof(value));
    return caller.memory()->Read(command.cmd_buffer, {reinterpret_cast<uint8_t*>(&value), size});
  };
  if (command.cmd_type == old::kCmdRender && (caps & old::kQueueRender) != 0) {
    constexpr uint64_t kFlags = 0x7f;
    old::cmd_render render = {};
    if (!read(render)) return -EFAULT;
    if (render.extensions != 0 || (render.flags & ~kFlags) != 0) return -EINVAL;
    out.render = Later(render);
    if (const Result bad = CheckAsahiRender(*out.render)) return bad;
    out.programs = render.vertex_usc_base;
    Append(render, out.words);
    if (const Result bad = ReadAttachments(caller, render.vertex_attachments,
                                           render.vertex_attachment_count, out)) {
      return bad;
    }
    if (const Result bad = ReadAttachments(caller, render.fragment_attachments,
                                           render.fragment_attachment_count, out)) {
      return bad;
    }
    if (command.result_size == 0) return 0;
    out.ended = [results, command](bool hung, uint64_t begin, uint64_t end) {
      old::result_render result = {};
      result.info.status = hung ? old::kStatusTimeout : old::kStatusComplete;
      result.vertex_ts_start = begin;
      result.vertex_ts_end = result.fragment_ts_start = result.fragment_ts_end = end;
      PutResult(*results, command, result);
    };
    return 0;
  }
  if (command.cmd_type == old::kCmdCompute && (caps & old::kQueueCompute) != 0) {
    constexpr uint64_t kFlags = 1;
    old::cmd_compute compute = {};
    if (!read(compute)) return -EFAULT;
    if ((compute.flags & ~kFlags) != 0) return -EINVAL;
    out.compute = Later(compute);
    out.programs = compute.usc_base;
    Append(compute, out.words);
    if (const Result bad =
            ReadAttachments(caller, compute.attachments, compute.attachment_count, out)) {
      return bad;
    }
    if (command.result_size == 0) return 0;
    out.ended = [results, command](bool hung, uint64_t begin, uint64_t end) {
      old::result_compute result = {};
      result.info.status = hung ? old::kStatusTimeout : old::kStatusComplete;
      result.ts_start = begin;
      result.ts_end = end;
      PutResult(*results, command, result);
    };
    return 0;
  }
  return Refuse(-EINVAL, "the queue does not take commands of the kind");
}

Result OldAsahiFile::SubmitOld(Caller& caller, old::submit& args) {
  if (args.extensions != 0 || args.flags != 0) return -EINVAL;
  const std::shared_ptr<AsahiQueue> queue = FindQueue(args.queue_id);
  if (!queue) return Refuse(-ENOENT, "the queue does not exist");
  if (args.in_sync_count > kAsahiOldMostSyncs || args.out_sync_count > kAsahiOldMostSyncs ||
      args.command_count == 0 || args.command_count > kAsahiMostCommands) {
    return -EINVAL;
  }
  AsahiSubmission submission;
  submission.queue = queue;
  const auto read = [&](uint64_t address, uint32_t count, bool in) -> Result {
    std::vector<old::sync> array;
    if (const Result bad = caller.GetArray(address, count, array)) return bad;
    for (const old::sync& sync : array) {
      if (sync.extensions != 0) return -EINVAL;
      const asahi::sync later = {sync.sync_type, sync.handle, sync.timeline_value};
      if (const Result bad = AddSync(caller, later, in, submission)) return bad;
    }
    return 0;
  };
  if (const Result bad = read(args.in_syncs, args.in_sync_count, true)) return bad;
  if (const Result bad = read(args.out_syncs, args.out_sync_count, false)) return bad;
  std::shared_ptr<Object> results;
  if (args.result_handle != 0) {
    results = FindObject(args.result_handle);
    if (!results) return Refuse(-ENOENT, "the object for results does not exist");
  }
  std::vector<old::command> array;
  if (const Result bad = caller.GetArray(args.commands, args.command_count, array)) return bad;
  std::vector<AsahiCommand>& commands = submission.commands;
  commands.resize(array.size());
  size_t renders = 0, computes = 0;
  for (size_t i = 0; i < array.size(); ++i) {
    const uint32_t caps = caps_[args.queue_id];
    if (const Result bad = ReadCommand(caller, array[i], caps, results, commands[i])) return bad;
    if (const Result bad = Barrier(array[i].barriers[0], renders, commands[i].vdm_barrier)) {
      return bad;
    }
    if (const Result bad = Barrier(array[i].barriers[1], computes, commands[i].cdm_barrier)) {
      return bad;
    }
    ++(commands[i].render ? renders : computes);
  }
  SubmitAsahi(*this, caller, std::move(submission));
  return 0;
}

}  // namespace packsmith::capture
