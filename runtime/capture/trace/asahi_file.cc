// Linux's driver asahi, for Apple's GPUs.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/capture/asahi/commands.h"
#include "runtime/capture/drm/ioctl.h"
#include "runtime/capture/trace/file.h"
#include "runtime/kernel/uapi/asahi.h"

namespace packsmith::capture {

namespace asahi = uapi::asahi;

namespace {

struct Queue {
  std::shared_ptr<TracedSpace> space;
  uint64_t context = 0;
  uint64_t usc_exec_base = 0;
};

class TracedAsahi : public TracedFile {
 public:
  using TracedFile::TracedFile;

 protected:
  TraceInterest DriverInterestIn(uint32_t number) const override;
  Finish DriverBefore(uint32_t number, const TracedCall& call) override;
  void DriverAfter(uint32_t number, const TracedCall& call) override;
  // Nothing stays mapped without a handle.
  void OnClosed(const TracedObject& object) override {
    for (const auto& [id, space] : spaces_) space->UnmapObject(object);
  }
  void* MapObject(TraceAccess& access, uint32_t handle, uint64_t size) override;

 private:
  Finish BeforeBind(const TracedCall& call);
  static void Bind(TracedSpace& space, const asahi::gem_bind_op& op,
                   const std::shared_ptr<TracedObject>& object);
  Finish BeforeSubmit(const TracedCall& call);

  std::map<uint32_t, std::shared_ptr<TracedSpace>> spaces_;
  std::map<uint32_t, std::shared_ptr<Queue>> queues_;
};

constexpr uint32_t DriverNumber(uint32_t request) {
  return IoctlNumber(request) - uapi::drm::kDriverBase;
}

TraceInterest TracedAsahi::DriverInterestIn(uint32_t number) const {
  switch (number) {
    case DriverNumber(asahi::kVmDestroy):
    case DriverNumber(asahi::kVmBind):
    case DriverNumber(asahi::kQueueDestroy):
    case DriverNumber(asahi::kSubmit):
      return TraceInterest::kBeforeAndAfter;
    case DriverNumber(asahi::kGemCreate):
    case DriverNumber(asahi::kGemMmapOffset):
    case DriverNumber(asahi::kVmCreate):
    case DriverNumber(asahi::kQueueCreate):
      return TraceInterest::kAfter;
    default:
      return TraceInterest::kNone;
  }
}

TracedFile::Finish TracedAsahi::DriverBefore(uint32_t number, const TracedCall& call) {
  switch (number) {
    case DriverNumber(asahi::kVmDestroy):
      return TakeOut(spaces_, call.Argument<asahi::vm_destroy>().vm_id);
    case DriverNumber(asahi::kQueueDestroy):
      return TakeOut(queues_, call.Argument<asahi::queue_destroy>().queue_id);
    case DriverNumber(asahi::kVmBind):
      return BeforeBind(call);
    case DriverNumber(asahi::kSubmit):
      return BeforeSubmit(call);
    default:
      return nullptr;
  }
}

void TracedAsahi::DriverAfter(uint32_t number, const TracedCall& call) {
  switch (number) {
    case DriverNumber(asahi::kGemCreate): {
      const auto args = call.Argument<asahi::gem_create>();
      CreateObject(args.handle, (args.size + asahi::kPage - 1) / asahi::kPage * asahi::kPage);
      break;
    }
    case DriverNumber(asahi::kGemMmapOffset):
      NoteWritten(call.Argument<asahi::gem_mmap_offset>().handle);
      break;
    case DriverNumber(asahi::kVmCreate): {
      auto space = std::make_shared<TracedSpace>();
      space->scratch_page = true;
      spaces_[call.Argument<asahi::vm_create>().vm_id] = std::move(space);
      break;
    }
    case DriverNumber(asahi::kQueueCreate): {
      const auto args = call.Argument<asahi::queue_create>();
      const auto space = spaces_.find(args.vm_id);
      const uint64_t context = ++shared_.contexts_made;
      if (space == spaces_.end()) break;
      queues_[args.queue_id] =
          std::make_shared<Queue>(Queue{space->second, context, args.usc_exec_base});
      break;
    }
    default:
      break;
  }
}

void* TracedAsahi::MapObject(TraceAccess& access, uint32_t handle, uint64_t size) {
  asahi::gem_mmap_offset args = {};
  args.handle = handle;
  if (access.Ioctl(asahi::kGemMmapOffset, &args) < 0) return nullptr;
  return access.Map(args.offset, size);
}

TracedFile::Finish TracedAsahi::BeforeBind(const TracedCall& call) {
  const auto args = call.Argument<asahi::vm_bind>();
  const auto found = spaces_.find(args.vm_id);
  if (found == spaces_.end() || args.stride == 0) return nullptr;
  std::vector<asahi::gem_bind_op> ops;
  std::vector<std::shared_ptr<TracedObject>> objects;
  for (uint64_t i = 0; i < args.num_binds; ++i) {
    asahi::gem_bind_op op = {};
    const size_t size = std::min<size_t>(args.stride, sizeof(op));
    if (!call.caller.memory()->Read(args.userptr + i * args.stride,
                                    {reinterpret_cast<uint8_t*>(&op), size})) {
      break;
    }
    ops.push_back(op);
    objects.push_back(FindObject(op.handle));
  }
  return [space = found->second, ops, objects](const TracedCall& done) {
    // Of a call that fails, those before the one that is refused stay, and the result does not say
    // which.
    if (done.result < 0) return;
    for (size_t i = 0; i < ops.size(); ++i) Bind(*space, ops[i], objects[i]);
  };
}

void TracedAsahi::Bind(TracedSpace& space, const asahi::gem_bind_op& op,
                       const std::shared_ptr<TracedObject>& object) {
  if ((op.flags & asahi::kBindUnbind) != 0) {
    space.Unmap(op.addr, op.range);
    return;
  }
  if (object == nullptr) return;
  Mapping mapping;
  mapping.address = op.addr;
  mapping.size = op.range;
  mapping.object = object;
  mapping.offset = op.offset;
  mapping.repeats = (op.flags & asahi::kBindSinglePage) != 0 ? asahi::kPage : 0;
  mapping.writable = (op.flags & asahi::kBindWrite) != 0;
  mapping.flags = op.flags;
  space.Map(std::move(mapping));
}

TracedFile::Finish TracedAsahi::BeforeSubmit(const TracedCall& call) {
  const auto args = call.Argument<asahi::submit>();
  const auto found = queues_.find(args.queue_id);
  if (found == queues_.end()) return nullptr;
  const Queue& queue = *found->second;
  std::vector<uint8_t> words;
  std::vector<AsahiCommand> commands;
  if (call.caller.GetArray(args.cmdbuf, args.cmdbuf_size, words) != 0 ||
      ReadAsahiCommands(words, commands) != 0) {
    return nullptr;
  }
  std::vector<Work> works;
  bool wanted = false;
  for (AsahiCommand& command : commands) {
    command.programs = queue.usc_exec_base;
    Work work = MakeWork(call.caller, "asahi", works.size() + 1);
    work.context = queue.context;
    work.scratch_page = queue.space->scratch_page;
    DescribeAsahiCommand(command, work);
    wanted = shared_.sink.Wants(work) || wanted;
    works.push_back(std::move(work));
  }
  if (wanted) {
    const std::shared_ptr<const AddressMap> memory = queue.space->Bound();
    std::set<const Object*> seen;
    for (const auto& [address, mapping] : memory->mappings()) {
      if (!seen.insert(mapping.object.get()).second) continue;
      if (Refresh(call.access, static_cast<TracedObject&>(*mapping.object))) continue;
      for (Work& work : works) {
        work.warnings.push_back(
            absl::StrFormat("SUBMIT: what is mapped at %#x could not be read", address));
      }
    }
    for (Work& work : works) work.memory = memory;
  }
  return [this, works, wanted](const TracedCall& done) {
    if (done.result < 0) return;
    if (!wanted) {
      shared_.works_made += works.size();
      return;
    }
    for (Work work : works) Submit(work);
  };
}

}  // namespace

std::unique_ptr<TracedFile> MakeTracedAsahi(TraceShared& shared, int minor,
                                            const DeviceInfo* device) {
  return std::make_unique<TracedAsahi>(shared, minor, device);
}

}  // namespace packsmith::capture
