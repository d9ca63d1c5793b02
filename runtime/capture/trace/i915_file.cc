// Linux's driver i915.
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/capture/drm/ioctl.h"
#include "runtime/capture/trace/file.h"
#include "runtime/kernel/uapi/i915.h"

namespace packsmith::capture {

namespace api = uapi::i915;

namespace {

// Addresses of 48 bits have copies of the last one above it in what programs see.
uint64_t NotCanonical(uint64_t address) { return address & ((uint64_t{1} << 48) - 1); }
uint64_t Canonical(uint64_t address) {
  return static_cast<uint64_t>(static_cast<int64_t>(address << 16) >> 16);
}

absl::string_view EngineName(uint16_t engine_class) {
  switch (engine_class) {
    case api::kClassRender:
      return "render";
    case api::kClassCopy:
      return "copy";
    case api::kClassVideo:
      return "video";
    case api::kClassVideoEnhance:
      return "video enhance";
    case api::kClassCompute:
      return "compute";
    default:
      return "";
  }
}

// What a submission to one place of a context's list reaches.
struct TracedEngine {
  std::vector<api::engine_class_instance> engines =
      {};                               // of which the kernel takes any; lane by lane
  unsigned width = 1;                   // batches of a submission
  std::vector<uint64_t> contexts = {};  // numbers of their states
};

struct TracedContext {
  bool own_engines = false;
  std::vector<TracedEngine> engines = {};
};

// The place of the second BSD ring among those without a list.
constexpr size_t kSecondBsd = 5;

TracedContext RingContext() {
  constexpr api::engine_class_instance kRings[] = {
      {api::kClassRender, 0}, {api::kClassRender, 0},       {api::kClassVideo, 0},
      {api::kClassCopy, 0},   {api::kClassVideoEnhance, 0}, {api::kClassVideo, 1}};
  TracedContext context;
  for (const api::engine_class_instance& ring : kRings)
    context.engines.push_back({.engines = {ring}});
  return context;
}

// Calls `take(name, address)` for the structures of a chain of extensions, as far as it can be
// read.
template <typename Take>
void WalkExtensions(const Caller& caller, uint64_t address, const Take& take) {
  constexpr int kMost = 512;
  for (int i = 0; address != 0 && i < kMost; ++i) {
    api::user_extension extension = {};
    if (caller.Get(address, extension) != 0) return;
    take(extension.name, address);
    address = extension.next_extension;
  }
}

// The list of a call that the kernel has accepted.
void ReadEngines(const Caller& caller, uint64_t address, uint32_t size, TracedContext& context) {
  api::context_param_engines head = {};
  if (size < sizeof(head)) return;
  std::vector<api::engine_class_instance> names;
  if (caller.Get(address, head) != 0 ||
      caller.GetArray(address + sizeof(head), (size - sizeof(head)) / sizeof(names[0]), names) !=
          0) {
    return;
  }
  context = {.own_engines = true};
  for (const api::engine_class_instance& name : names) {
    TracedEngine& engine = context.engines.emplace_back();
    if (name.engine_class != api::kClassInvalid) engine.engines.push_back(name);
  }
  WalkExtensions(caller, head.extensions, [&](uint32_t name, uint64_t at) {
    uint16_t index = 0;
    unsigned width = 1, siblings = 0;
    uint64_t list = at;
    if (name == api::kEnginesLoadBalance) {
      api::context_engines_load_balance extension = {};
      if (caller.Get(at, extension) != 0) return;
      index = extension.engine_index;
      siblings = extension.num_siblings;
      list += sizeof(extension);
    } else if (name == api::kEnginesParallelSubmit) {
      api::context_engines_parallel_submit extension = {};
      if (caller.Get(at, extension) != 0) return;
      index = extension.engine_index;
      width = extension.width;
      siblings = extension.num_siblings;
      list += sizeof(extension);
    }
    std::vector<api::engine_class_instance> engines;
    if (index >= context.engines.size() || width == 0 || siblings == 0 ||
        caller.GetArray(list, uint64_t{width} * siblings, engines) != 0) {
      return;
    }
    context.engines[index] = {.engines = std::move(engines), .width = width};
  });
}

class TracedI915 : public TracedFile {
 public:
  using TracedFile::TracedFile;

 protected:
  TraceInterest DriverInterestIn(uint32_t number) const override;
  Finish DriverBefore(uint32_t number, const TracedCall& call) override;
  void DriverAfter(uint32_t number, const TracedCall& call) override;
  void* MapObject(TraceAccess& access, uint32_t handle, uint64_t size) override;

 private:
  // A call of EXECBUFFER2, from before to after.
  struct Entry {
    api::gem_exec_object2 exec = {};
    std::shared_ptr<TracedObject> object;
    std::vector<api::gem_relocation_entry> relocations = {};  // as they were before
    uint64_t address = 0;
  };
  struct Submission {
    api::gem_execbuffer2 args = {};
    std::vector<Entry> entries;
    std::vector<Work> works;  // one for each batch that is wanted
    std::vector<size_t> batches;
  };

  Finish BeforeSubmit(const TracedCall& call);
  void AfterSubmit(Submission& submission, const TracedCall& call);
  void Place(Submission& submission, const Caller& caller);
  void Relocate(Submission& submission);
  TracedEngine* FindEngine(const api::gem_execbuffer2& args);
  void CreateContext(const TracedCall& call);

  int version() const { return device_ == nullptr ? 0 : device_->version_x10; }

  std::map<uint32_t, TracedContext> contexts_ = {{0, RingContext()}};
  std::optional<bool> llc_;
};

constexpr uint32_t DriverNumber(uint32_t request) {
  return IoctlNumber(request) - uapi::drm::kDriverBase;
}

TraceInterest TracedI915::DriverInterestIn(uint32_t number) const {
  switch (number) {
    case DriverNumber(api::kGemExecbuffer2):
    case DriverNumber(api::kGemContextDestroy):
      return TraceInterest::kBeforeAndAfter;
    case DriverNumber(api::kGemCreate):
    case DriverNumber(api::kGemCreateExt):
    case DriverNumber(api::kGemUserptr):
    case DriverNumber(api::kGemPwrite):
    case DriverNumber(api::kGemMmap):
    case DriverNumber(api::kGemMmapOffset):
    case DriverNumber(api::kGemContextCreate):
    case DriverNumber(api::kGemContextSetparam):
      return TraceInterest::kAfter;
    default:
      return TraceInterest::kNone;
  }
}

void TracedI915::DriverAfter(uint32_t number, const TracedCall& call) {
  switch (number) {
    case DriverNumber(api::kGemCreate): {
      const auto args = call.Argument<api::gem_create>();
      CreateObject(args.handle, args.size);
      break;
    }
    case DriverNumber(api::kGemCreateExt): {
      const auto args = call.Argument<api::gem_create_ext>();
      CreateObject(args.handle, args.size);
      break;
    }
    case DriverNumber(api::kGemUserptr): {
      const auto args = call.Argument<api::gem_userptr>();
      if (auto object = CreateUserObject(call.caller, args.user_ptr, args.user_size)) {
        object->read_only = (args.flags & api::kUserptrReadOnly) != 0;
        AddObject(args.handle, std::move(object));
      }
      break;
    }
    case DriverNumber(api::kGemPwrite):
      NoteWritten(call.Argument<api::gem_pwrite>().handle);
      break;
    case DriverNumber(api::kGemMmap):
      NoteWritten(call.Argument<api::gem_mmap>().handle);
      break;
    case DriverNumber(api::kGemMmapOffset):
      NoteWritten(call.Argument<api::gem_mmap_offset>().handle);
      break;
    case DriverNumber(api::kGemContextCreate):
      CreateContext(call);
      break;
    case DriverNumber(api::kGemContextSetparam): {
      const auto args = call.Argument<api::gem_context_param>();
      const auto found = contexts_.find(args.ctx_id);
      if (found != contexts_.end() && args.param == api::kContextEngines) {
        // An empty one brings back the rings.
        if (args.size == 0) found->second = RingContext();
        ReadEngines(call.caller, args.value, args.size, found->second);
      }
      break;
    }
    default:
      break;
  }
}

void TracedI915::CreateContext(const TracedCall& call) {
  const auto args = call.Argument<api::gem_context_create_ext>();
  TracedContext context = RingContext();
  if ((args.flags & api::kContextUseExtensions) != 0) {
    WalkExtensions(call.caller, args.extensions, [&](uint32_t name, uint64_t at) {
      api::gem_context_create_ext_setparam extension = {};
      if (name != api::kContextCreateSetparam || call.caller.Get(at, extension) != 0 ||
          extension.param.param != api::kContextEngines) {
        return;
      }
      ReadEngines(call.caller, extension.param.value, extension.param.size, context);
    });
  }
  contexts_[args.ctx_id] = std::move(context);
}

void* TracedI915::MapObject(TraceAccess& access, uint32_t handle, uint64_t size) {
  if (!llc_) {
    int32_t value = 0;
    api::getparam args = {};
    args.param = api::kParamHasLlc;
    args.value = reinterpret_cast<uint64_t>(&value);
    llc_ = access.Ioctl(api::kGetparam, &args) >= 0 && value != 0;
  }
  // Through the caches where they see what programs write in any other way.
  const uint64_t modes[] = {*llc_ ? api::kMmapOffsetWb : api::kMmapOffsetWc, api::kMmapOffsetFixed,
                            api::kMmapOffsetGtt};
  for (const uint64_t mode : modes) {
    api::gem_mmap_offset args = {};
    args.handle = handle;
    args.flags = mode;
    if (access.Ioctl(api::kGemMmapOffset, &args) < 0) continue;
    if (void* const at = access.Map(args.offset, size)) return at;
  }
  return nullptr;
}

TracedEngine* TracedI915::FindEngine(const api::gem_execbuffer2& args) {
  const auto found = contexts_.find(static_cast<uint32_t>(args.rsvd1));
  if (found == contexts_.end()) return nullptr;
  TracedContext& context = found->second;
  size_t index = args.flags & api::kExecRingMask;
  const uint64_t bsd = (args.flags & api::kExecBsdMask) >> api::kExecBsdShift;
  if (!context.own_engines && index == api::kRingBsd && bsd == 2) index = kSecondBsd;
  if (index >= context.engines.size() || context.engines[index].engines.empty()) return nullptr;
  return &context.engines[index];
}

TracedFile::Finish TracedI915::DriverBefore(uint32_t number, const TracedCall& call) {
  if (number == DriverNumber(api::kGemContextDestroy)) {
    return TakeOut(contexts_, call.Argument<api::gem_context_destroy>().ctx_id);
  }
  return number == DriverNumber(api::kGemExecbuffer2) ? BeforeSubmit(call) : nullptr;
}

TracedFile::Finish TracedI915::BeforeSubmit(const TracedCall& call) {
  auto submission = std::make_shared<Submission>();
  submission->args = call.Argument<api::gem_execbuffer2>();
  const api::gem_execbuffer2& args = submission->args;
  std::vector<api::gem_exec_object2> objects;
  TracedEngine* const found = FindEngine(args);
  // What is wrong with it the kernel is about to say.
  if (found == nullptr || call.caller.GetArray(args.buffers_ptr, args.buffer_count, objects) != 0 ||
      objects.size() < found->width) {
    return nullptr;
  }
  TracedEngine& engine = *found;
  const size_t lane = engine.engines.size() / engine.width;
  const size_t first = (args.flags & api::kExecBatchFirst) != 0 ? 0 : objects.size() - engine.width;
  bool wanted = false;
  for (unsigned i = 0; i < engine.width; ++i) {
    Work work = MakeWork(call.caller, "i915", i + 1);
    const api::engine_class_instance& name = engine.engines[i * lane];
    work.engine = std::string(EngineName(name.engine_class));
    work.engine_class = name.engine_class;
    work.engine_instance = name.engine_instance;
    if (engine.contexts.size() <= i) engine.contexts.push_back(++shared_.contexts_made);
    work.context = engine.contexts[i];
    work.global = device_ != nullptr && device_->ppgtt == Ppgtt::kNone;
    work.scratch_page = true;
    wanted = shared_.sink.Wants(work) || wanted;
    submission->works.push_back(std::move(work));
    submission->batches.push_back(first + i);
  }
  std::set<uint32_t> seen, unread;
  for (const api::gem_exec_object2& exec : objects) {
    Entry entry = {.exec = exec, .object = FindObject(exec.handle)};
    if (entry.object == nullptr ||
        (wanted && seen.insert(exec.handle).second && !Refresh(call.access, *entry.object))) {
      unread.insert(exec.handle);
    }
    // Lists that cannot be read are the kernel's to refuse.
    if (wanted && (args.flags & api::kExecNoReloc) == 0) {
      (void)call.caller.GetArray(exec.relocs_ptr, exec.relocation_count, entry.relocations);
    }
    submission->entries.push_back(std::move(entry));
  }
  for (Work& work : submission->works) {
    for (const uint32_t handle : unread) {
      work.warnings.push_back(
          absl::StrCat("GEM_EXECBUFFER2: the content of object ", handle, " could not be read"));
    }
  }
  return [this, submission, wanted](const TracedCall& done) {
    if (done.result < 0) return;
    if (wanted) {
      AfterSubmit(*submission, done);
    } else {
      shared_.works_made += submission->works.size();
    }
  };
}

void TracedI915::Place(Submission& submission, const Caller& caller) {
  // The kernel writes where it has put objects, if that is not where the program presumed them.
  std::vector<api::gem_exec_object2> after;
  const bool read =
      caller.GetArray(submission.args.buffers_ptr, submission.args.buffer_count, after) == 0 &&
      after.size() == submission.entries.size();
  for (size_t i = 0; i < submission.entries.size(); ++i) {
    Entry& entry = submission.entries[i];
    const bool moved = read && after[i].handle == entry.exec.handle &&
                       (entry.exec.flags & api::kObjectPinned) == 0;
    entry.address = NotCanonical(moved ? after[i].offset : entry.exec.offset);
  }
}

void TracedI915::Relocate(Submission& submission) {
  const size_t bytes = version() >= 80 ? 8 : 4;
  for (const Entry& source : submission.entries) {
    if (source.object == nullptr) continue;
    for (const api::gem_relocation_entry& relocation : source.relocations) {
      const Entry* target = nullptr;
      if ((submission.args.flags & api::kExecHandleLut) != 0) {
        if (relocation.target_handle < submission.entries.size()) {
          target = &submission.entries[relocation.target_handle];
        }
      } else {
        for (const Entry& entry : submission.entries) {
          if (entry.exec.handle == relocation.target_handle) {
            target = &entry;
            break;
          }
        }
      }
      // The kernel writes what differs from what the program presumed.
      if (target == nullptr || relocation.presumed_offset == Canonical(target->address) ||
          relocation.offset > source.object->size() ||
          source.object->size() - relocation.offset < bytes) {
        continue;
      }
      const uint64_t value = Canonical(
          target->address + static_cast<uint64_t>(int64_t{static_cast<int32_t>(relocation.delta)}));
      source.object->Update(relocation.offset, {reinterpret_cast<const uint8_t*>(&value), bytes});
    }
  }
}

void TracedI915::AfterSubmit(Submission& submission, const TracedCall& call) {
  Place(submission, call.caller);
  Relocate(submission);
  auto memory = std::make_shared<AddressMap>();
  std::set<const TracedObject*> mapped;
  for (const Entry& entry : submission.entries) {
    if (entry.object == nullptr || !mapped.insert(entry.object.get()).second) continue;
    memory->Map({.address = entry.address,
                 .size = entry.object->size(),
                 .object = entry.object,
                 .writable = !entry.object->read_only,
                 .dumpable = (entry.exec.flags & api::kObjectCapture) != 0,
                 .flags = static_cast<uint32_t>(entry.exec.flags)});
  }
  for (size_t i = 0; i < submission.works.size(); ++i) {
    Work& work = submission.works[i];
    const Entry& batch = submission.entries[submission.batches[i]];
    const uint64_t begin = submission.args.batch_start_offset;
    const uint64_t size = batch.object == nullptr ? 0 : batch.object->size();
    const uint64_t length = submission.args.batch_len != 0 ? submission.args.batch_len
                            : size > begin                 ? size - begin
                                                           : 0;
    work.memory = memory;
    work.streams.push_back({.address = batch.address + begin, .length = length});
    Submit(work);
  }
}

}  // namespace

std::unique_ptr<TracedFile> MakeTracedI915(TraceShared& shared, int minor,
                                           const DeviceInfo* device) {
  return std::make_unique<TracedI915>(shared, minor, device);
}

}  // namespace packsmith::capture
