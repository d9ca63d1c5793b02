// SUBMIT.
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "runtime/capture/asahi/file.h"
#include "runtime/capture/devices/gpu_clock.h"

namespace packsmith::capture {

namespace asahi = uapi::asahi;

namespace {

// One command, from the call to its end. Shared by its job's functions.
struct Submission {
  MockKernel* kernel;
  std::shared_ptr<AsahiQueue> queue;
  std::shared_ptr<Work> work;
  // Where times of the beginning and the end are written.
  struct Place {
    AsahiTimestamps memory;
    uint32_t offset = 0;
  };
  std::vector<Place> at_begin, at_end;

  void Warn(std::string text) const {
    kernel->Warn(work->pid, "SUBMIT", text);
    work->warnings.push_back("SUBMIT: " + std::move(text));
  }
  void CheckStream(const WorkStream& stream) const;
  void WriteTime(const std::vector<Place>& places) const;
  void Begin() const;
  void End(bool hung) const;
};

void Submission::CheckStream(const WorkStream& stream) const {
  const Mapping* const mapping = work->memory->Find(stream.address);
  if (mapping == nullptr) {
    Warn(absl::StrFormat("nothing is mapped at %#x, where the %s stream begins", stream.address,
                         stream.stream));
  } else if ((mapping->flags & asahi::kBindRead) == 0) {
    Warn(absl::StrFormat("the GPU may not read %#x, where the %s stream begins", stream.address,
                         stream.stream));
  }
}

void Submission::WriteTime(const std::vector<Place>& places) const {
  if (places.empty()) return;
  const uint64_t now = GpuTicks(*work->device, MonotonicNow());
  for (const Place& place : places) {
    place.memory.object->Write(place.memory.offset + place.offset,
                               {reinterpret_cast<const uint8_t*>(&now), sizeof(now)});
  }
}

void Submission::Begin() const {
  work->memory = queue->vm->Bound();
  for (const WorkStream& stream : work->streams) CheckStream(stream);
  WriteTime(at_begin);
  kernel->OnSubmit(work);
}

void Submission::End(bool hung) const {
  if (!hung && !queue->closed) WriteTime(at_end);
}

}  // namespace

Result AsahiFile::ReadSyncs(Caller& caller, const asahi::submit& args, Syncs& out) {
  const uint64_t count = uint64_t{args.in_sync_count} + args.out_sync_count;
  for (uint64_t i = 0; i < count; ++i) {
    asahi::sync sync = {};
    if (const Result bad = caller.Get(args.syncs + i * sizeof(sync), sync)) return bad;
    if (sync.sync_type != asahi::kSyncSyncobj && sync.sync_type != asahi::kSyncTimeline) {
      return -EINVAL;
    }
    if (sync.sync_type == asahi::kSyncSyncobj && sync.timeline_value != 0) return -EINVAL;
    std::shared_ptr<Syncobj> syncobj = FindSyncobj(sync.handle);
    if (!syncobj) return Refuse(caller, -ENOENT, "the synchronization object does not exist");
    if (i < args.in_sync_count) {
      std::shared_ptr<Fence> fence = syncobj->PointFence(sync.timeline_value);
      if (!fence) return Refuse(caller, -EINVAL, "nothing was submitted yet to wait for");
      out.in.push_back(std::move(fence));
    } else {
      if (sync.timeline_value != 0 && sync.timeline_value <= syncobj->added()) {
        Warn(caller, "a point of a timeline is to be signalled that is not above the last one");
      }
      out.out.emplace_back(std::move(syncobj), sync.timeline_value);
    }
  }
  return 0;
}

Result AsahiFile::CheckTimestamps(Caller& caller, const AsahiCommand& command) {
  Result result = 0;
  ForEachTimestamp(command, [&](const asahi::timestamp& time) {
    if (result != 0 || time.handle == 0) return;
    const AsahiTimestamps* const memory = timestamps_.Find(time.handle);
    if (memory == nullptr) {
      result = Refuse(caller, -ENOENT, "the object for timestamps does not exist");
    } else if (uint64_t{time.offset} + sizeof(uint64_t) > memory->size) {
      result = -ERANGE;
    }
  });
  return result;
}

std::shared_ptr<Fence> AsahiFile::Queue(const Caller& caller,
                                        const std::shared_ptr<AsahiQueue>& queue,
                                        const AsahiCommand& command, const Before& before) {
  auto submission = std::make_shared<Submission>();
  submission->kernel = &kernel();
  submission->queue = queue;
  submission->work = std::make_shared<Work>();
  Work& work = *submission->work;
  work.number = kernel().NewWorkNumber();
  work.device = &device().info();
  work.interface = "asahi";
  work.minor = device().render_minor();
  work.pid = caller.pid();
  work.process = caller.name();
  work.file = number();
  work.context = queue->context;
  work.memory = std::make_shared<const AddressMap>();
  // Loads of shaders are zeros where nothing is mapped, and stores are dropped.
  work.scratch_page = true;
  DescribeAsahiCommand(command, queue->usc_exec_base, work);
  const auto add_time = [this](const asahi::timestamp& time,
                               std::vector<Submission::Place>& places) {
    if (time.handle != 0) places.push_back({*timestamps_.Find(time.handle), time.offset});
  };
  if (command.render) {
    const asahi::cmd_render& render = *command.render;
    add_time(render.ts_vtx.start, submission->at_begin);
    add_time(render.ts_vtx.end, submission->at_end);
    add_time(render.ts_frag.start, submission->at_end);
    add_time(render.ts_frag.end, submission->at_end);
  } else {
    const asahi::cmd_compute& compute = *command.compute;
    if (compute.cdm_ctrl_stream_end <= compute.cdm_ctrl_stream_base) {
      submission->Warn("the compute stream does not end behind its beginning");
    }
    add_time(compute.ts.start, submission->at_begin);
    add_time(compute.ts.end, submission->at_end);
  }

  Job job;
  job.work = submission->work;
  job.after.push_back(before.begun);
  const auto wait = [&job](uint16_t barrier, const std::shared_ptr<Fence>& earlier,
                           const std::vector<std::shared_ptr<Fence>>& here) {
    if (barrier == asahi::kNoBarrier) return;
    // The last of N commands is done after the others.
    job.after.push_back(barrier == 0 ? earlier : here[barrier - 1]);
  };
  wait(command.vdm_barrier, before.last_render, before.renders);
  wait(command.cdm_barrier, before.last_compute, before.computes);
  job.begin = [submission] { submission->Begin(); };
  job.end = [submission](bool hung) { submission->End(hung); };
  job.done = std::make_shared<Fence>();
  std::shared_ptr<Fence> done = job.done;
  kernel().scheduler().Add(command.render ? queue->render : queue->compute, std::move(job));
  return done;
}

Result AsahiFile::Submit(Caller& caller, asahi::submit& args) {
  if (args.flags != 0 || args.pad != 0) return -EINVAL;
  const auto* const found = queues_.Find(args.queue_id);
  if (found == nullptr) return Refuse(caller, -ENOENT, "the queue does not exist");
  const std::shared_ptr<AsahiQueue> queue = *found;
  Syncs syncs;
  if (const Result bad = ReadSyncs(caller, args, syncs)) return bad;
  std::vector<uint8_t> buffer;
  if (const Result bad = caller.GetArray(args.cmdbuf, args.cmdbuf_size, buffer)) return bad;
  std::vector<AsahiCommand> commands;
  if (const Result bad = ReadAsahiCommands(buffer, commands)) return bad;
  for (const AsahiCommand& command : commands) {
    if (const Result bad = CheckTimestamps(caller, command)) return bad;
  }

  Job begin;
  begin.after = std::move(syncs.in);
  begin.done = std::make_shared<Fence>();
  Before before;
  before.begun = begin.done;
  before.last_render = kernel().scheduler().Last(queue->render);
  before.last_compute = kernel().scheduler().Last(queue->compute);
  std::vector<std::shared_ptr<Fence>> all;
  for (const AsahiCommand& command : commands) {
    all.push_back(Queue(caller, queue, command, before));
    (command.render ? before.renders : before.computes).push_back(all.back());
  }
  const std::shared_ptr<Fence> done = WhenAll(all);
  for (const auto& [syncobj, point] : syncs.out) {
    if (point == 0) {
      syncobj->Replace(done);
    } else {
      syncobj->AddPoint(point, done);
    }
  }
  kernel().scheduler().Add(queue->submissions, std::move(begin));
  return 0;
}

}  // namespace packsmith::capture
