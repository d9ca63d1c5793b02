#include "runtime/capture/i915/submission.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/capture/drm/work.h"
#include "runtime/capture/i915/engine_map.h"
#include "runtime/capture/i915/extensions.h"

namespace packsmith::capture::i915 {

namespace api = uapi::i915;

namespace {

constexpr uint64_t kPage = 4096;

// Addresses of 48 bits have copies of the last one above it in what programs see.
uint64_t Canonical(uint64_t address) {
  return static_cast<uint64_t>(static_cast<int64_t>(address << 16) >> 16);
}
uint64_t NotCanonical(uint64_t address) { return address & ((uint64_t{1} << 48) - 1); }

absl::string_view DumpNameOf(EngineClass engine_class) {
  switch (engine_class) {
    case EngineClass::kRender:
      return "render";
    case EngineClass::kCopy:
      return "copy";
    case EngineClass::kVideo:
      return "video";
    case EngineClass::kVideoEnhance:
      return "video enhance";
    case EngineClass::kCompute:
      return "compute";
  }
  return "";
}

}  // namespace

Result I915File::GemExecbuffer2(Caller& caller, api::gem_execbuffer2& args) {
  return Submission(*this, caller, args).Run();
}

void Submission::Warn(std::string text) {
  file_.Warn(caller_, text);
  warnings_.push_back(absl::StrCat("GEM_EXECBUFFER2: ", text));
}

Result Submission::Run() {
  if (const Result bad = CheckArguments()) return bad;
  if (const Result bad = caller_.GetArray(args_.buffers_ptr, args_.buffer_count, objects_)) {
    return bad;
  }
  if (const Result bad = ReadFences()) return bad;
  if (const Result bad = ReadInFence()) return bad;
  while (true) {
    const Result result = Prepare();
    if (result == 0) break;
    if (!busy_) return result;
    const auto before = busy_->uses();
    if (const Result bad =
            file_.kernel().WaitUntil(caller_, INT64_MAX, [&] { return AllDone(before); })) {
      return bad;
    }
    busy_ = nullptr;
  }
  return Submit();
}

Result Submission::CheckArguments() {
  if (args_.buffer_count < 1 || args_.buffer_count > INT32_MAX) return -EINVAL;
  constexpr uint64_t kIllegal = api::kExecConstantsMask | api::kExecResourceStreamer;
  if ((args_.flags & (~api::kExecKnownFlags | kIllegal)) != 0) {
    return file_.Refuse(-EINVAL, "flags that the kernel does not know");
  }
  if ((args_.flags & (api::kExecFenceArray | api::kExecUseExtensions)) == 0 &&
      (args_.num_cliprects != 0 || args_.cliprects_ptr != 0)) {
    return -EINVAL;
  }
  if (args_.DR4 == 0xffffffff) args_.DR4 = 0;  // an old X server's
  if (args_.DR1 != 0 || args_.DR4 != 0) return -EINVAL;
  if (((args_.batch_start_offset | args_.batch_len) & 7) != 0) {
    return file_.Refuse(-EINVAL, "a batch begins and ends at multiples of 8 bytes");
  }
  if ((args_.flags & api::kExecSecure) != 0) {
    return file_.Refuse(file_.traits_.version >= 1100 ? -ENODEV : -EPERM,
                        "secure batches are the display server's");
  }
  return 0;
}

Result Submission::ReadFences() {
  if ((args_.flags & api::kExecUseExtensions) != 0) {
    if ((args_.flags & api::kExecFenceArray) != 0 || args_.num_cliprects != 0) return -EINVAL;
    return WalkExtensions(caller_, args_.cliprects_ptr,
                          [&](uint32_t name, uint64_t address) -> Result {
                            if (name != api::kExecTimelineFences) return -EINVAL;
                            return ReadTimelineFences(address);
                          });
  }
  if ((args_.flags & api::kExecFenceArray) == 0) return 0;
  return ReadFenceArray(args_.cliprects_ptr, args_.num_cliprects);
}

Result Submission::ReadFenceArray(uint64_t address, uint64_t count) {
  std::vector<api::gem_exec_fence> fences;
  if (const Result bad = caller_.GetArray(address, count, fences)) return bad;
  for (const api::gem_exec_fence& fence : fences) {
    if ((fence.flags & ~(api::kFenceWait | api::kFenceSignal)) != 0) return -EINVAL;
    const std::shared_ptr<Syncobj> syncobj = file_.FindSyncobj(fence.handle);
    if (!syncobj) return file_.Refuse(-ENOENT, "there is no such syncobj");
    if ((fence.flags & api::kFenceWait) != 0) {
      if (!syncobj->fence()) {
        return file_.Refuse(-EINVAL, "the syncobj to wait for has no fence");
      }
      after_.push_back(syncobj->fence());
    }
    if ((fence.flags & api::kFenceSignal) != 0) signals_.push_back({syncobj, 0});
  }
  return 0;
}

Result Submission::ReadTimelineFences(uint64_t address) {
  api::gem_execbuffer_ext_timeline_fences extension = {};
  if (const Result bad = caller_.Get(address, extension)) return bad;
  if (extension.fence_count == 0) return 0;
  if (extension.fence_count > UINT64_MAX / sizeof(api::gem_exec_fence)) return -EINVAL;
  std::vector<api::gem_exec_fence> fences;
  std::vector<uint64_t> points;
  if (const Result bad = caller_.GetArray(extension.handles_ptr, extension.fence_count, fences)) {
    return bad;
  }
  if (const Result bad = caller_.GetArray(extension.values_ptr, extension.fence_count, points)) {
    return bad;
  }
  for (size_t i = 0; i < fences.size(); ++i) {
    const uint32_t flags = fences[i].flags;
    if ((flags & ~(api::kFenceWait | api::kFenceSignal)) != 0) return -EINVAL;
    const std::shared_ptr<Syncobj> syncobj = file_.FindSyncobj(fences[i].handle);
    if (!syncobj) return file_.Refuse(-ENOENT, "there is no such syncobj");
    const bool signal = (flags & api::kFenceSignal) != 0;
    const std::shared_ptr<Fence> fence = syncobj->PointFence(points[i]);
    if (!signal && flags != 0 && !fence) {
      return file_.Refuse(-EINVAL, "the point to wait for has not been submitted");
    }
    if (signal && (flags & api::kFenceWait) != 0 && points[i] != 0) {
      return file_.Refuse(-EINVAL, "a point cannot be waited for and signalled");
    }
    if (fence && (!signal || points[i] == 0)) after_.push_back(fence);
    if (signal) signals_.push_back({syncobj, points[i]});
  }
  return 0;
}

Result Submission::ReadInFence() {
  constexpr uint64_t kBoth = api::kExecFenceIn | api::kExecFenceSubmit;
  if ((args_.flags & kBoth) == 0) return 0;
  if ((args_.flags & kBoth) == kBoth) return -EINVAL;
  const UniqueFd file = caller_.Take(static_cast<int>(args_.rsvd2 & 0xffffffff));
  const std::shared_ptr<Fence> fence =
      file ? file_.kernel().shared_files().FindFence(file.get()) : nullptr;
  if (!fence) return file_.Refuse(-EINVAL, "the descriptor is not a sync file");
  // A fence to be submitted with has begun when this work does: it is not waited for, since the
  // two may wait for each other.
  if ((args_.flags & api::kExecFenceIn) != 0) after_.push_back(fence);
  return 0;
}

Result Submission::FindEngine() {
  context_ = file_.FindContext(static_cast<uint32_t>(args_.rsvd1));
  if (!context_) return file_.Refuse(-ENOENT, "there is no such context");
  context_->used = true;
  const uint64_t ring = args_.flags & api::kExecRingMask;
  engine_ = ring;
  if (!context_->map.own) {
    const uint64_t bsd = (args_.flags & api::kExecBsdMask) >> api::kExecBsdShift;
    if (ring > api::kRingVebox) return -EINVAL;
    if (ring != api::kRingBsd && bsd != 0) return -EINVAL;
    if (ring == api::kRingBsd && !context_->map.engines[kSecondBsd].engines.empty()) {
      if (bsd > 2) return -EINVAL;
      // Files without a wish have one of the two for good.
      if (bsd == 2 || (bsd == 0 && file_.number() % 2 == 0)) engine_ = kSecondBsd;
    }
  }
  if (engine_ >= context_->map.engines.size() || context_->map.engines[engine_].engines.empty()) {
    return file_.Refuse(-EINVAL, "the context has no such engine");
  }
  const ContextEngine& engine = context_->map.engines[engine_];
  batches_ = engine.width;
  if (batches_ > 1 &&
      (args_.buffer_count < batches_ || args_.batch_start_offset != 0 || args_.batch_len != 0)) {
    return -EINVAL;
  }
  if ((args_.flags & api::kExecGen7SolReset) != 0 &&
      (file_.traits_.version / 100 != 7 ||
       engine.engines[0].engine_class != EngineClass::kRender)) {
    return -EINVAL;
  }
  return 0;
}

bool Submission::IsBatch(size_t index) const {
  return (args_.flags & api::kExecBatchFirst) != 0 ? index < batches_
                                                   : index >= objects_.size() - batches_;
}

Result Submission::Prepare() {
  if (const Result bad = FindEngine()) return bad;
  if (const Result bad = FindObjects()) return bad;
  if (context_->map.engines[engine_].banned) {
    return file_.Refuse(-EIO, "the context is banned");
  }
  relocate_ = (args_.flags & api::kExecNoReloc) == 0;
  if (const Result bad = PlaceObjects()) return bad;
  relocations_.clear();
  if (relocate_) {
    if (const Result bad = ReadRelocations()) return bad;
  }
  if (const Result bad = CheckUserMemory()) return bad;
  for (const Entry& entry : entries_) {
    if ((entry.flags & api::kObjectCapture) != 0 && context_->recoverable &&
        (file_.device_.info().discrete() || file_.traits_.version > 1200)) {
      return file_.Refuse(-EINVAL, "CAPTURE needs a context that is not recoverable");
    }
  }
  return 0;
}

Result Submission::FindObjects() {
  entries_.clear();
  for (size_t i = 0; i < objects_.size(); ++i) {
    Entry entry;
    entry.exec = objects_[i];
    entry.flags = entry.exec.flags;
    entry.object = file_.FindI915Object(entry.exec.handle);
    if (!entry.object) {
      return file_.Refuse(-ENOENT, absl::StrCat("object ", i, " is unknown"));
    }
    if (const Result bad = CheckObject(entry, IsBatch(i))) return bad;
    entries_.push_back(std::move(entry));
  }
  return 0;
}

Result Submission::CheckObject(Entry& entry, bool batch) {
  const api::gem_exec_object2& exec = entry.exec;
  if (exec.relocation_count != 0 && !file_.traits_.relocations) {
    return file_.Refuse(-EINVAL, "the platform has no relocations");
  }
  uint64_t unknown = ~api::kObjectKnownFlags;
  if (file_.traits_.full_ppgtt) unknown |= api::kObjectNeedsGtt;
  if ((exec.flags & unknown) != 0) return -EINVAL;
  if (exec.alignment != 0 && !std::has_single_bit(exec.alignment)) return -EINVAL;
  if ((exec.flags & api::kObjectPinned) != 0 &&
      exec.offset != Canonical(exec.offset & ~(kPage - 1))) {
    return file_.Refuse(-EINVAL, "the address is not canonical, or not at the begin of a page");
  }
  if ((exec.flags & api::kObjectPadToSize) != 0) {
    if (exec.pad_to_size % kPage != 0) return -EINVAL;
  } else {
    entry.exec.pad_to_size = 0;
  }
  if (!batch) return 0;
  if ((exec.flags & api::kObjectWrite) != 0) {
    return file_.Refuse(-EINVAL, "the batch is marked as written");
  }
  const uint64_t size = entry.object->size();
  if (args_.batch_start_offset >= size || args_.batch_len > size - args_.batch_start_offset) {
    return file_.Refuse(-EINVAL, "the batch is not inside its object");
  }
  return 0;
}

AddressSpace::Wish Submission::WishOf(const Entry& entry, bool batch) const {
  const DeviceInfo& info = file_.device_.info();
  AddressSpace::Wish wish;
  wish.object = entry.object->id();
  const uint64_t page = entry.object->local ? std::max<uint64_t>(kPage, info.vram_min_page) : kPage;
  wish.alignment = std::max(page, entry.exec.alignment);
  const uint64_t space = context_->space->size();
  wish.size = std::max(entry.object->size(), entry.exec.pad_to_size);
  // A size that no space has stays what it is.
  if (wish.size <= space) wish.size = (wish.size + page - 1) / page * page;
  wish.most = space;
  if ((entry.flags & api::kObjectSupports48bAddress) == 0) {
    wish.most = std::min(wish.most, (uint64_t{1} << 32) - kPage);
  }
  if (batch && entry.exec.relocation_count != 0) wish.least = kLeastOfBatches;
  return wish;
}

Result Submission::PlaceObjects() {
  AddressSpace& space = *context_->space;
  AddressSpace::Kept kept;
  std::vector<AddressSpace::Wish> wishes;
  for (size_t i = 0; i < entries_.size(); ++i) {
    wishes.push_back(WishOf(entries_[i], IsBatch(i)));
    if (wishes[i].size > wishes[i].most) {
      return file_.Refuse(-ENOSPC, "an object is larger than the address space");
    }
  }
  // Objects whose address is given come first; others make way.
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if ((entry.flags & api::kObjectPinned) == 0) continue;
    const AddressSpace::Wish& wish = wishes[i];
    entry.address = NotCanonical(entry.exec.offset);
    if (entry.address % wish.alignment != 0 || entry.address > wish.most ||
        wish.most - entry.address < wish.size) {
      return file_.Refuse(
          -EINVAL, absl::StrCat("object ", i,
                                " is not aligned, or ends above what addresses it may have: 0x",
                                absl::Hex(entry.address)));
    }
    const bool there = space.Find(wish.object) == entry.address && space.Suits(wish);
    if (kept.contains(wish.object) && !there) {
      return file_.Refuse(-EINVAL, "an object cannot be at two addresses");
    }
    if (!there && !space.Place(wish, entry.address, kept)) {
      return file_.Refuse(-ENOSPC, absl::StrCat("object ", i, " overlaps another one at 0x",
                                                absl::Hex(entry.address)));
    }
    kept.insert(wish.object);
  }
  std::vector<size_t> homeless;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if ((entries_[i].flags & api::kObjectPinned) != 0) continue;
    if (space.Suits(wishes[i])) {
      kept.insert(wishes[i].object);
    } else if (kept.contains(wishes[i].object)) {
      return file_.Refuse(-EINVAL, "an object cannot be at two addresses");
    } else {
      homeless.push_back(i);
    }
  }
  for (const size_t i : homeless) {
    const AddressSpace::Wish& wish = wishes[i];
    if (kept.contains(wish.object) && space.Suits(wish)) continue;  // listed twice
    // Where the driver presumes it, if it can be.
    const uint64_t hint = NotCanonical(entries_[i].exec.offset) & ~(kPage - 1);
    const bool hinted = hint != 0 && hint % wish.alignment == 0 && hint >= wish.least &&
                        hint <= wish.most && wish.most - hint >= wish.size &&
                        space.Free(hint, wish.size);
    if (hinted) {
      space.Place(wish, hint, kept);
    } else if (!space.PlaceAnywhere(wish, kept)) {
      return file_.Refuse(-ENOSPC, "the address space has no room");
    }
    kept.insert(wish.object);
  }
  for (Entry& entry : entries_) {
    entry.address = *space.Find(entry.object->id());
    if (NotCanonical(entry.exec.offset) != entry.address) relocate_ = true;
  }
  return 0;
}

Result Submission::ReadRelocations() {
  for (size_t i = 0; i < entries_.size(); ++i) {
    const api::gem_exec_object2& exec = entries_[i].exec;
    if (exec.relocation_count == 0) continue;
    std::vector<api::gem_relocation_entry> relocations;
    if (const Result bad = caller_.GetArray(exec.relocs_ptr, exec.relocation_count, relocations)) {
      return bad;
    }
    for (size_t j = 0; j < relocations.size(); ++j) {
      const uint64_t address = exec.relocs_ptr + j * sizeof(api::gem_relocation_entry);
      if (const Result bad = CheckRelocation(i, relocations[j], address)) return bad;
    }
  }
  for (const Relocation& relocation : relocations_) {
    const std::shared_ptr<I915Object>& source = entries_[relocation.source].object;
    if (!AllDone(source->uses())) {
      busy_ = source;
      return -EAGAIN;
    }
  }
  return 0;
}

Result Submission::CheckRelocation(size_t source, const api::gem_relocation_entry& relocation,
                                   uint64_t address) {
  size_t target = entries_.size();
  if ((args_.flags & api::kExecHandleLut) != 0) {
    target = relocation.target_handle;
  } else {
    // Of a handle that is listed twice the last counts.
    for (size_t i = entries_.size(); i-- > 0 && target == entries_.size();) {
      if (entries_[i].exec.handle == relocation.target_handle) target = i;
    }
  }
  if (target >= entries_.size()) {
    return file_.Refuse(-ENOENT, "the target of a relocation is not in the list");
  }
  if ((relocation.write_domain & (relocation.write_domain - 1)) != 0) return -EINVAL;
  if (((relocation.write_domain | relocation.read_domains) & ~api::kGpuDomains) != 0) {
    return file_.Refuse(-EINVAL, "a relocation has a domain that is not the GPU's");
  }
  if (relocation.write_domain != 0) entries_[target].flags |= api::kObjectWrite;
  if (relocation.presumed_offset == Canonical(entries_[target].address)) return 0;
  const uint64_t bytes = file_.traits_.wide_addresses ? 8 : 4;
  if (relocation.offset > entries_[source].object->size() - bytes || relocation.offset % 4 != 0) {
    return file_.Refuse(-EINVAL,
                        absl::StrCat("a relocation is not aligned, or not in its object: 0x",
                                     absl::Hex(relocation.offset)));
  }
  // What is written must be seen by work that begins later.
  entries_[source].flags &= ~uint64_t{api::kObjectAsync};
  const uint64_t value =
      Canonical(entries_[target].address +
                static_cast<uint64_t>(int64_t{static_cast<int32_t>(relocation.delta)}));
  relocations_.push_back({source, target, relocation.offset, value,
                          address + offsetof(api::gem_relocation_entry, presumed_offset)});
  return 0;
}

void Submission::WriteRelocations() {
  const size_t bytes = file_.traits_.wide_addresses ? 8 : 4;
  for (const Relocation& relocation : relocations_) {
    const auto* const value = reinterpret_cast<const uint8_t*>(&relocation.value);
    (void)entries_[relocation.source].object->Write(relocation.offset, {value, bytes});
    // A list that cannot be written is as the driver wants it.
    (void)caller_.Put(relocation.presumed_at, Canonical(entries_[relocation.target].address));
  }
}

void Submission::WriteOffsets() {
  if (!relocate_) return;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (NotCanonical(entries_[i].exec.offset) == entries_[i].address) continue;
    const uint64_t at = args_.buffers_ptr + i * sizeof(api::gem_exec_object2) +
                        offsetof(api::gem_exec_object2, offset);
    if (caller_.Put(at, Canonical(entries_[i].address)) != 0) return;
  }
}

Result Submission::CheckUserMemory() {
  for (const Entry& entry : entries_) {
    if (!entry.object->user()) continue;
    uint8_t byte = 0;
    if (!entry.object->Read(0, {&byte, 1}) ||
        !entry.object->Read(entry.object->size() - 1, {&byte, 1})) {
      return file_.Refuse(-EFAULT, "the process has unmapped its memory");
    }
  }
  return 0;
}

void Submission::WarnOfRelocations() {
  if (relocate_ || !file_.traits_.relocations) return;
  for (const Entry& entry : entries_) {
    std::vector<api::gem_relocation_entry> relocations;
    if (caller_.GetArray(entry.exec.relocs_ptr, entry.exec.relocation_count, relocations) != 0) {
      return;
    }
    for (const api::gem_relocation_entry& relocation : relocations) {
      for (size_t i = 0; i < entries_.size(); ++i) {
        const bool target = (args_.flags & api::kExecHandleLut) != 0
                                ? i == relocation.target_handle
                                : entries_[i].exec.handle == relocation.target_handle;
        if (!target || relocation.presumed_offset == Canonical(entries_[i].address)) continue;
        Warn(absl::StrCat("NO_RELOC, but a relocation at 0x", absl::Hex(relocation.offset),
                          " presumes 0x", absl::Hex(relocation.presumed_offset),
                          " for an object at 0x", absl::Hex(Canonical(entries_[i].address))));
        return;
      }
    }
  }
}

std::shared_ptr<Work> Submission::MakeWork(const ContextEngine::Lane& lane,
                                           const std::shared_ptr<const AddressMap>& memory,
                                           const Entry& batch) const {
  auto work = std::make_shared<Work>();
  work->number = file_.kernel().NewWorkNumber();
  work->device = &file_.device_.info();
  work->interface = "i915";
  work->minor = file_.device_.render_minor();
  work->pid = caller_.pid();
  work->process = caller_.name();
  work->file = file_.number();
  work->context = lane.context;
  work->engine = std::string(DumpNameOf(lane.engine.engine_class));
  work->engine_instance = lane.engine.instance;
  work->engine_class = static_cast<uint32_t>(lane.engine.engine_class);
  work->memory = memory;
  work->global = file_.device_.info().ppgtt == Ppgtt::kNone;
  // Where nothing is mapped, the kernel's tables point to a page of zeros.
  work->scratch_page = true;
  const uint64_t length =
      args_.batch_len != 0 ? args_.batch_len : batch.object->size() - args_.batch_start_offset;
  work->streams.push_back({.address = batch.address + args_.batch_start_offset, .length = length});
  const auto* const words = reinterpret_cast<const char*>(&args_);
  work->driver_words.assign(words, sizeof(args_));
  work->driver_words.append(reinterpret_cast<const char*>(objects_.data()),
                            objects_.size() * sizeof(objects_[0]));
  work->warnings = warnings_;
  return work;
}

Result Submission::Submit() {
  MockKernel& kernel = file_.kernel();
  ContextEngine& engine = context_->map.engines[engine_];

  // What the GPU sees, and what it has to wait for.
  auto memory = std::make_shared<AddressMap>();
  std::unordered_map<uint64_t, size_t> first;
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    const auto [it, fresh] = first.try_emplace(entry.object->id(), i);
    if (!fresh) {
      Warn(absl::StrCat("object ", i, " is listed before, as object ", it->second));
      // Whichever of the two says that it is written.
      entries_[it->second].flags |= entry.flags & api::kObjectWrite;
      continue;
    }
    if (entry.object->madvise == api::kMadvDontneed) {
      Warn(absl::StrCat("object ", i, " may lose its content: it is marked as not needed"));
    }
    if (entry.object->read_only && (entry.flags & api::kObjectWrite) != 0) {
      Warn(absl::StrCat("object ", i, " is written, and made to be read only"));
    }
    memory->Map({.address = entry.address,
                 .size = entry.object->size(),
                 .object = entry.object,
                 .writable = !entry.object->read_only,
                 .dumpable = (entry.flags & api::kObjectCapture) != 0,
                 .flags = static_cast<uint32_t>(entry.flags),
                 .pat_index = entry.object->pat_index});
  }
  WarnOfRelocations();
  for (const auto& [id, i] : first) {
    const Entry& entry = entries_[i];
    if ((entry.flags & api::kObjectAsync) != 0) continue;
    const auto& before =
        (entry.flags & api::kObjectWrite) != 0 ? entry.object->uses() : entry.object->writes();
    after_.insert(after_.end(), before.begin(), before.end());
  }
  if (context_->single_timeline && context_->last) after_.push_back(context_->last);

  std::vector<std::shared_ptr<I915Object>> views;  // of the objects, those that have one
  for (const auto& [id, i] : first) {
    if (entries_[i].object->view) views.push_back(entries_[i].object);
  }
  std::vector<Job> jobs;
  std::vector<std::shared_ptr<Fence>> dones;
  const std::vector<ContextEngine::Lane>& lanes = context_->Lanes(kernel, engine);
  const size_t begin = (args_.flags & api::kExecBatchFirst) != 0 ? 0 : entries_.size() - batches_;
  for (size_t i = 0; i < batches_; ++i) {
    Job job;
    job.work = MakeWork(lanes[i], memory, entries_[begin + i]);
    job.after = after_;
    job.done = std::make_shared<Fence>();
    job.begin = [&kernel, work = job.work] { kernel.OnSubmit(work); };
    job.end = [&kernel, &device = file_.device_, context = context_, engine = engine_,
               record = file_.record_, views](bool hung) {
      for (const auto& object : views) object->SyncView();
      if (!hung) return;
      ++device.resets;
      const int64_t now = MonotonicNow();
      // Source: Linux, intel_reset.c.
      constexpr int64_t kSoon = 60'000'000'000;
      if (now - record->last_hang < kSoon) ++record->score;
      record->last_hang = now;
      if (!context->NoteHang(now)) return;
      record->score += 3;
      ContextEngine& banned = context->map.engines[engine];
      banned.banned = true;
      for (const ContextEngine::Lane& lane : banned.lanes) {
        kernel.scheduler().Cancel(lane.queue, -EIO);
      }
    };
    dones.push_back(job.done);
    jobs.push_back(std::move(job));
  }
  const std::shared_ptr<Fence> done = batches_ == 1 ? dones[0] : WhenAll(dones);

  // The last thing that can fail.
  if ((args_.flags & api::kExecFenceOut) != 0) {
    UniqueFd file = kernel.shared_files().Export(done);
    if (!file) return -EMFILE;
    const Result number = caller_.Install(std::move(file), /*close_on_exec=*/true);
    if (number < 0) return number;
    args_.rsvd2 = (args_.rsvd2 & 0xffffffff) | static_cast<uint64_t>(number) << 32;
  }
  for (const auto& [id, i] : first) entries_[i].object->SyncView();
  WriteRelocations();
  WriteOffsets();

  for (size_t i = 0; i < jobs.size(); ++i) kernel.scheduler().Add(lanes[i].queue, jobs[i]);
  for (const auto& [id, i] : first) {
    const Entry& entry = entries_[i];
    const bool writes = (entry.flags & api::kObjectWrite) != 0;
    entry.object->AddUse(done, writes);
    entry.object->AddBusy(done, static_cast<uint16_t>(engine.engines[0].engine_class), writes);
  }
  for (const Signal& signal : signals_) {
    if (signal.point != 0) {
      signal.syncobj->AddPoint(signal.point, done);
    } else {
      signal.syncobj->Replace(done);
    }
  }
  if (context_->single_timeline) context_->last = done;
  if (!done->done()) file_.recent_.push_back({MonotonicNow(), done});
  return 0;
}

}  // namespace packsmith::capture::i915
