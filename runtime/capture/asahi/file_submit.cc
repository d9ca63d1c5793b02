// SUBMIT.
#include <utility>

#include "runtime/capture/asahi/file.h"

namespace packsmith::capture {

namespace asahi = uapi::asahi;

Result AsahiFile::AddSync(const Caller& caller, const asahi::sync& sync, bool in,
                          AsahiSubmission& out) {
  if (sync.sync_type != asahi::kSyncSyncobj && sync.sync_type != asahi::kSyncTimeline) {
    return -EINVAL;
  }
  if (sync.sync_type == asahi::kSyncSyncobj && sync.timeline_value != 0) return -EINVAL;
  std::shared_ptr<Syncobj> syncobj = FindSyncobj(sync.handle);
  if (!syncobj) return Refuse(-ENOENT, "the synchronization object does not exist");
  if (in) {
    std::shared_ptr<Fence> fence = syncobj->PointFence(sync.timeline_value);
    if (!fence) return Refuse(-EINVAL, "nothing was submitted yet to wait for");
    out.in.push_back(std::move(fence));
    return 0;
  }
  if (sync.timeline_value != 0 && sync.timeline_value <= syncobj->added()) {
    Warn(caller, "the point of a timeline that the call signals is not above the last one");
  }
  out.out.emplace_back(std::move(syncobj), sync.timeline_value);
  return 0;
}

Result AsahiFile::FindTimestamps(AsahiCommand& command) {
  const auto find = [this](const asahi::timestamp& time, std::vector<AsahiCommand::Place>& places) {
    if (time.handle == 0) return 0;
    const AsahiTimestamps* const memory = timestamps_.Find(time.handle);
    if (memory == nullptr) return Refuse(-ENOENT, "the object for timestamps does not exist");
    if (uint64_t{time.offset} + sizeof(uint64_t) > memory->size) {
      return Refuse(-ERANGE, "the timestamp is beyond the end of its object");
    }
    places.push_back({memory->object, memory->offset + time.offset});
    return 0;
  };
  // The fragment stage begins when the vertex stage ends: nothing of either is executed.
  std::vector<std::pair<asahi::timestamp, std::vector<AsahiCommand::Place>*>> times;
  if (command.render) {
    const asahi::timestamps& vertex = command.render->ts_vtx;
    const asahi::timestamps& fragment = command.render->ts_frag;
    times = {{vertex.start, &command.at_begin},
             {vertex.end, &command.at_end},
             {fragment.start, &command.at_end},
             {fragment.end, &command.at_end}};
  } else {
    times = {{command.compute->ts.start, &command.at_begin},
             {command.compute->ts.end, &command.at_end}};
  }
  for (const auto& [time, places] : times) {
    if (const Result bad = find(time, *places)) return bad;
  }
  return 0;
}

Result AsahiFile::Submit(Caller& caller, asahi::submit& args) {
  if (args.flags != 0 || args.pad != 0) return -EINVAL;
  AsahiSubmission submission;
  submission.queue = FindQueue(args.queue_id);
  if (!submission.queue) return Refuse(-ENOENT, "the queue does not exist");
  const uint64_t count = uint64_t{args.in_sync_count} + args.out_sync_count;
  for (uint64_t i = 0; i < count; ++i) {
    asahi::sync sync = {};
    if (const Result bad = caller.Get(args.syncs + i * sizeof(sync), sync)) return bad;
    if (const Result bad = AddSync(caller, sync, i < args.in_sync_count, submission)) return bad;
  }
  std::vector<uint8_t> buffer;
  if (const Result bad = caller.GetArray(args.cmdbuf, args.cmdbuf_size, buffer)) return bad;
  if (const Result bad = ReadAsahiCommands(buffer, submission.commands)) return bad;
  for (AsahiCommand& command : submission.commands) {
    command.programs = submission.queue->usc_exec_base;
    if (const Result bad = FindTimestamps(command)) return bad;
  }
  SubmitAsahi(*this, caller, std::move(submission));
  return 0;
}

}  // namespace packsmith::capture
