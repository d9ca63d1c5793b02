// EXEC.
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "runtime/capture/xe/file.h"

namespace packsmith::capture {

namespace xe = uapi::xe;

namespace {

absl::string_view EngineName(uint16_t engine_class) {
  switch (engine_class) {
    case xe::kRender:
      return "render";
    case xe::kCopy:
      return "copy";
    case xe::kVideoDecode:
      return "video";
    case xe::kVideoEnhance:
      return "video enhance";
    default:
      return "compute";
  }
}

// An address without the copies of its sign bit; `size` is that of the space, a power of two.
// Whether those copies were all there, or none.
bool ToSpace(uint64_t size, uint64_t& address) {
  const uint64_t above = address & ~(size - 1);
  const bool negative = (address & size / 2) != 0;
  address &= size - 1;
  return above == 0 || (negative && above == ~(size - 1));
}

// One submission, from the call to its end. Shared by its job's functions.
struct Submission {
  MockKernel* kernel;
  std::shared_ptr<XeExecQueue> queue;
  std::shared_ptr<Work> work;
  bool user_fence = false;
  uint64_t user_address = 0, user_value = 0;

  void Warn(std::string text) const {
    kernel->Warn(work->pid, "EXEC", text);
    work->warnings.push_back("EXEC: " + std::move(text));
  }
  void CheckBatch(uint64_t address) const;
  void Begin() const;
  void End(bool hung) const;
};

void Submission::CheckBatch(uint64_t address) const {
  if (address % 4 != 0) {
    Warn(absl::StrFormat("the batch's address %#x is not a multiple of 4", address));
  }
  const Mapping* const mapping = work->memory->Find(address);
  if (mapping == nullptr) {
    Warn(absl::StrFormat("nothing is mapped at the batch's address %#x", address));
  } else if (!mapping->object) {
    Warn(absl::StrFormat("the batch's address %#x is in a mapping without memory", address));
  } else if (mapping->object->user()) {
    Warn(absl::StrFormat("the batch's address %#x is in memory of the process", address));
  }
}

void Submission::Begin() const {
  // Binds that were made meanwhile count: there is no other order between them and the work.
  work->memory = queue->vm->Bound();
  for (const WorkStream& stream : work->streams) CheckBatch(stream.address);
  kernel->OnSubmit(work);
}

void Submission::End(bool hung) const {
  --queue->jobs;
  if (hung && !queue->banned) {
    queue->banned = true;
    kernel->scheduler().Cancel(queue->queue, -ECANCELED);
  }
  if (queue->banned || !user_fence) return;
  const Mapping* const mapping = work->memory->Find(user_address);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&user_value);
  if (mapping == nullptr) {
    kernel->Warn(
        work->pid, "EXEC",
        absl::StrFormat("nothing is mapped at the user fence's address %#x", user_address));
  } else if (!mapping->writable) {
    kernel->Warn(
        work->pid, "EXEC",
        absl::StrFormat("the user fence's address %#x is mapped to be read only", user_address));
  } else if (mapping->object) {
    mapping->object->Write(mapping->offset + (user_address - mapping->address),
                           {bytes, sizeof(user_value)});
  }
}

}  // namespace

Result XeFile::Exec(Caller& caller, xe::exec& args) {
  constexpr uint32_t kMostSyncs = 1024, kMostJobs = 1000;
  if (args.extensions != 0 || args.pad[0] != 0 || args.pad[1] != 0 || args.pad[2] != 0 ||
      args.reserved[0] != 0 || args.reserved[1] != 0 || args.num_syncs > kMostSyncs) {
    return -EINVAL;
  }
  const auto* const found = exec_queues_.Find(args.exec_queue_id);
  if (found == nullptr) return Refuse(-ENOENT, "the exec queue does not exist");
  const std::shared_ptr<XeExecQueue> queue = *found;
  if (queue->binds()) return Refuse(-EINVAL, "the queue is for binds");
  if (args.num_batch_buffer != 0 && args.num_batch_buffer != queue->width) return -EINVAL;
  if (queue->banned) return Refuse(-ECANCELED, "the exec queue was banned after a hang");
  if (queue->jobs >= kMostJobs) return -EAGAIN;
  const std::shared_ptr<XeVm> vm = queue->vm;
  Syncs syncs;
  if (const Result bad = ReadSyncs(caller, args.syncs, args.num_syncs, SyncUse::kExec,
                                   vm->long_running(), syncs)) {
    return bad;
  }
  std::vector<uint64_t> addresses;
  if (args.num_batch_buffer == 1) addresses.push_back(args.address);
  if (args.num_batch_buffer > 1) {
    if (const Result bad = caller.GetArray(args.address, args.num_batch_buffer, addresses)) {
      return bad;
    }
  }

  Job job;
  job.after = std::move(syncs.in);
  job.done = std::make_shared<Fence>();
  if (addresses.empty()) {
    if (syncs.user_fence) Warn(caller, "a user fence of a call without batches is never written");
  } else {
    auto submission = std::make_shared<Submission>();
    submission->kernel = &kernel();
    submission->queue = queue;
    submission->user_fence = syncs.user_fence;
    submission->user_address = syncs.user_address;
    submission->user_value = syncs.user_value;
    submission->work = std::make_shared<Work>();
    Work& work = *submission->work;
    work.number = kernel().NewWorkNumber();
    work.device = &device().info();
    work.interface = "xe";
    work.minor = device().render_minor();
    work.pid = caller.pid();
    work.process = caller.name();
    work.file = number();
    work.context = queue->context;
    work.engine = std::string(EngineName(queue->engine.engine_class));
    work.engine_instance = queue->engine.engine_instance;
    work.engine_class = queue->engine.engine_class;
    work.memory = std::make_shared<const AddressMap>();
    work.scratch_page = vm->scratch_page();
    for (uint64_t address : addresses) {
      if (!ToSpace(vm->size(), address)) {
        submission->Warn("the batch's address is not canonical: the upper bits are not all equal");
      }
      work.streams.push_back({.address = address});
    }
    if (submission->user_fence && !ToSpace(vm->size(), submission->user_address)) {
      submission->Warn("the user fence's address is not canonical");
    }
    job.work = submission->work;
    job.begin = [submission] { submission->Begin(); };
    job.end = [submission](bool hung) { submission->End(hung); };
    ++queue->jobs;
    if (!vm->long_running()) vm->AddUse(job.done);
  }
  syncs.SignalWith(job.done);
  kernel().scheduler().Add(queue->queue, std::move(job));
  return 0;
}

}  // namespace packsmith::capture
