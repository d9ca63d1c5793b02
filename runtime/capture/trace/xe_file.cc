// Linux's xe driver.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/capture/drm/ioctl.h"
#include "runtime/capture/trace/file.h"
#include "runtime/kernel/uapi/xe.h"

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

struct ExecQueue {
  std::shared_ptr<TracedSpace> space;
  uint64_t context = 0;
  uint32_t width = 1;
  xe::engine_class_instance engine = {};
};

class TracedXe : public TracedFile {
 public:
  using TracedFile::TracedFile;

 protected:
  TraceInterest DriverInterestIn(uint32_t number) const override;
  Finish DriverBefore(uint32_t number, const TracedCall& call) override;
  void DriverAfter(uint32_t number, const TracedCall& call) override;
  void* MapObject(TraceAccess& access, uint32_t handle, uint64_t size) override;

 private:
  Finish BeforeBind(const TracedCall& call);
  void Bind(const Caller& caller, TracedSpace& space, const xe::vm_bind_op& op,
            const std::shared_ptr<TracedObject>& object);
  Finish BeforeExec(const TracedCall& call);
  void CreateQueue(const TracedCall& call);
  // Addresses may have copies of their highest bit above it.
  uint64_t InSpace(uint64_t address) const;

  std::map<uint32_t, std::shared_ptr<TracedSpace>> spaces_;
  std::map<uint32_t, std::shared_ptr<ExecQueue>> queues_;
};

constexpr uint32_t DriverNumber(uint32_t request) {
  return IoctlNumber(request) - uapi::drm::kDriverBase;
}

TraceInterest TracedXe::DriverInterestIn(uint32_t number) const {
  switch (number) {
    case DriverNumber(xe::kVmDestroy):
    case DriverNumber(xe::kVmBind):
    case DriverNumber(xe::kExecQueueDestroy):
    case DriverNumber(xe::kExec):
      return TraceInterest::kBeforeAndAfter;
    case DriverNumber(xe::kGemCreate):
    case DriverNumber(xe::kGemMmapOffset):
    case DriverNumber(xe::kVmCreate):
    case DriverNumber(xe::kExecQueueCreate):
      return TraceInterest::kAfter;
    default:
      return TraceInterest::kNone;
  }
}

TracedFile::Finish TracedXe::DriverBefore(uint32_t number, const TracedCall& call) {
  switch (number) {
    case DriverNumber(xe::kVmDestroy):
      return TakeOut(spaces_, call.Argument<xe::vm_destroy>().vm_id);
    case DriverNumber(xe::kExecQueueDestroy):
      return TakeOut(queues_, call.Argument<xe::exec_queue_destroy>().exec_queue_id);
    case DriverNumber(xe::kVmBind):
      return BeforeBind(call);
    case DriverNumber(xe::kExec):
      return BeforeExec(call);
    default:
      return nullptr;
  }
}

void TracedXe::DriverAfter(uint32_t number, const TracedCall& call) {
  switch (number) {
    case DriverNumber(xe::kGemCreate): {
      const auto args = call.Argument<xe::gem_create>();
      CreateObject(args.handle, args.size);
      break;
    }
    case DriverNumber(xe::kGemMmapOffset):
      NoteWritten(call.Argument<xe::gem_mmap_offset>().handle);
      break;
    case DriverNumber(xe::kVmCreate): {
      const auto args = call.Argument<xe::vm_create>();
      auto space = std::make_shared<TracedSpace>();
      space->scratch_page = (args.flags & xe::kVmScratchPage) != 0;
      spaces_[args.vm_id] = std::move(space);
      break;
    }
    case DriverNumber(xe::kExecQueueCreate):
      CreateQueue(call);
      break;
    default:
      break;
  }
}

void TracedXe::CreateQueue(const TracedCall& call) {
  const auto args = call.Argument<xe::exec_queue_create>();
  auto queue = std::make_shared<ExecQueue>();
  const auto space = spaces_.find(args.vm_id);
  if (space != spaces_.end()) queue->space = space->second;
  queue->context = ++shared_.contexts_made;
  queue->width = args.width;
  if (queue->space == nullptr || call.caller.Get(args.instances, queue->engine) != 0) return;
  queues_[args.exec_queue_id] = std::move(queue);
}

void* TracedXe::MapObject(TraceAccess& access, uint32_t handle, uint64_t size) {
  xe::gem_mmap_offset args = {};
  args.handle = handle;
  if (access.Ioctl(xe::kGemMmapOffset, &args) < 0) return nullptr;
  return access.Map(args.offset, size);
}

// Before, since a bind that has returned may be used by another thread at once, and since handles
// may then mean something else.
TracedFile::Finish TracedXe::BeforeBind(const TracedCall& call) {
  const auto args = call.Argument<xe::vm_bind>();
  const auto found = spaces_.find(args.vm_id);
  if (found == spaces_.end()) return nullptr;
  std::vector<xe::vm_bind_op> ops;
  if (args.num_binds == 1) ops.push_back(args.bind);
  if (args.num_binds > 1 && call.caller.GetArray(args.vector_of_binds, args.num_binds, ops) != 0) {
    return nullptr;
  }
  std::vector<std::shared_ptr<TracedObject>> objects;
  for (const xe::vm_bind_op& op : ops) objects.push_back(FindObject(op.obj));
  return [this, space = found->second, ops, objects](const TracedCall& done) {
    if (done.result < 0) return;
    for (size_t i = 0; i < ops.size(); ++i) Bind(done.caller, *space, ops[i], objects[i]);
  };
}

void TracedXe::Bind(const Caller& caller, TracedSpace& space, const xe::vm_bind_op& op,
                    const std::shared_ptr<TracedObject>& object) {
  Mapping mapping;
  mapping.address = op.addr;
  mapping.size = op.range;
  mapping.object = object;
  mapping.offset = op.op == xe::kMap ? op.obj_offset : 0;
  mapping.writable = (op.flags & xe::kBindReadonly) == 0;
  mapping.dumpable = (op.flags & xe::kBindDumpable) != 0;
  mapping.flags = op.flags;
  mapping.pat_index = op.pat_index;
  switch (op.op) {
    case xe::kMapUserptr:
      mapping.object = CreateUserObject(caller, op.obj_offset, op.range);
      if (mapping.object == nullptr) return;
      mapping.object->name = "userptr";
      break;
    case xe::kMap:
      // An object that is not known: another driver's.
      if (object == nullptr && (op.flags & xe::kBindNull) == 0) return;
      break;
    case xe::kUnmap:
      space.Unmap(op.addr, op.range);
      return;
    case xe::kUnmapAll:
      if (object != nullptr) space.UnmapObject(*object);
      return;
    default:
      return;
  }
  space.Map(std::move(mapping));
}

uint64_t TracedXe::InSpace(uint64_t address) const {
  const unsigned bits = device_ == nullptr || device_->xe_va_bits == 0 ? 48 : device_->xe_va_bits;
  return address & ((uint64_t{1} << bits) - 1);
}

TracedFile::Finish TracedXe::BeforeExec(const TracedCall& call) {
  const auto args = call.Argument<xe::exec>();
  const auto found = queues_.find(args.exec_queue_id);
  if (found == queues_.end()) return nullptr;
  const ExecQueue& queue = *found->second;
  std::vector<uint64_t> addresses;
  if (args.num_batch_buffer == 1) addresses.push_back(args.address);
  if (args.num_batch_buffer > 1 &&
      (args.num_batch_buffer != queue.width ||
       call.caller.GetArray(args.address, args.num_batch_buffer, addresses) != 0)) {
    return nullptr;
  }
  // A call with fences alone.
  if (addresses.empty()) return nullptr;
  Work work = MakeWork(call.caller, "xe");
  work.context = queue.context;
  work.engine = std::string(EngineName(queue.engine.engine_class));
  work.engine_class = queue.engine.engine_class;
  work.engine_instance = queue.engine.engine_instance;
  work.scratch_page = queue.space->scratch_page;
  if (!shared_.sink.Wants(work)) {
    return [this](const TracedCall& done) {
      if (done.result >= 0) ++shared_.works_made;
    };
  }
  work.memory = queue.space->Bound();
  std::set<const Object*> seen;
  for (const auto& [address, mapping] : work.memory->mappings()) {
    if (mapping.object == nullptr || !seen.insert(mapping.object.get()).second) continue;
    if (!Refresh(call.access, static_cast<TracedObject&>(*mapping.object))) {
      work.warnings.push_back(
          absl::StrFormat("EXEC: what is mapped at %#x could not be read", address));
    }
  }
  for (const uint64_t address : addresses) work.streams.push_back({.address = InSpace(address)});
  return [this, work](const TracedCall& done) {
    if (done.result < 0) return;
    Work accepted = work;
    Submit(accepted);
  };
}

}  // namespace

std::unique_ptr<TracedFile> MakeTracedXe(TraceShared& shared, int minor, const DeviceInfo* device) {
  return std::make_unique<TracedXe>(shared, minor, device);
}

}  // namespace packsmith::capture
