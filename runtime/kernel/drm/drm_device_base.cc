#include "runtime/kernel/drm/drm_device_base.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/addresses.h"
#include "runtime/base/debug.h"
#include "runtime/kernel/uapi/drm.h"
#include "runtime/memory/debug_submit.h"

namespace packsmith::gpu {
namespace {

absl::Status NoSuchMemory(MemoryId memory) {
  return absl::NotFoundError(
      absl::StrFormat("memory %d does not exist, or no longer exists", memory));
}

}  // namespace

DrmDeviceBase::DrmDeviceBase(std::shared_ptr<Connection> connection, std::string generation,
                             DeviceProperties properties, std::string dump, bool checks_residents)
    : calls_(std::move(connection)),
      generation_(std::move(generation)),
      properties_(std::move(properties)),
      checks_residents_(checks_residents),
      fences_(calls_, std::move(dump)),
      timelines_(calls_) {
  objects_.emplace_back();  // MemoryId 0 is none
}

DrmDeviceBase::~DrmDeviceBase() {
  MutexLock lock(mutex_);
  for (const Object& object : objects_) {
    if (!object.mapped.empty() && !object.user) calls_.Unmap(object.mapped);
  }
  // The file's end frees the rest.
}

absl::StatusOr<uint64_t> DrmDeviceBase::PlainAddress(uint64_t address) const {
  const std::optional<uint64_t> plain = PlainIfAddress(address, properties_.address_bits);
  if (plain.has_value()) return *plain;
  return absl::InvalidArgumentError(
      absl::StrFormat("0x%x is not an address of %d bits", address, properties_.address_bits));
}

DrmDeviceBase::Object* DrmDeviceBase::Find(MemoryId memory) {
  const uint32_t slot = static_cast<uint32_t>(memory) & ((1u << kSlotBits) - 1);
  if (slot == 0 || slot >= objects_.size()) return nullptr;
  Object& object = objects_[slot];
  return object.handle != 0 && object.generation == static_cast<uint32_t>(memory) >> kSlotBits
             ? &object
             : nullptr;
}

MemoryId DrmDeviceBase::Add(uint32_t handle, uint64_t size, Heap heap, uint8_t use) {
  MutexLock lock(mutex_);
  return AddLocked(handle, size, heap, use);
}

MemoryId DrmDeviceBase::AddLocked(uint32_t handle, uint64_t size, Heap heap, uint8_t use) {
  uint32_t slot;
  if (unused_.empty()) {
    slot = static_cast<uint32_t>(objects_.size());
    objects_.emplace_back();
  } else {
    slot = unused_.back();
    unused_.pop_back();
  }
  Object& object = objects_[slot];
  const uint32_t generation = object.generation;
  object = {};
  object.generation = generation;
  object.handle = handle;
  object.size = size;
  object.heap = heap;
  object.use = use;
  if (handle != kNoHandle) ++users_of_[handle];
  return static_cast<MemoryId>(generation << kSlotBits | slot);
}

absl::StatusOr<MemoryId> DrmDeviceBase::AddUser(uint32_t handle, absl::Span<uint8_t> bytes) {
  const auto address = reinterpret_cast<uintptr_t>(bytes.data());
  if (bytes.empty() || (address | bytes.size()) % properties_.page != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("0x%x bytes at 0x%x of this process are not whole pages of %d KiB",
                        bytes.size(), address, properties_.page / 1024));
  }
  MutexLock lock(mutex_);
  const MemoryId memory = AddLocked(handle, bytes.size(), Heap::kSystem, kOrdinary);
  Object* const object = Find(memory);
  object->mapped = bytes;
  object->user = true;
  return memory;
}

absl::StatusOr<uint32_t> DrmDeviceBase::HandleOf(MemoryId memory) {
  MutexLock lock(mutex_);
  const Object* const object = Find(memory);
  if (object == nullptr) return NoSuchMemory(memory);
  return object->handle;
}

absl::Status DrmDeviceBase::WithObject(MemoryId memory,
                                       absl::FunctionRef<absl::Status(const Object&)> use) {
  MutexLock lock(mutex_);
  const Object* const object = Find(memory);
  return object == nullptr ? NoSuchMemory(memory) : use(*object);
}

absl::StatusOr<MemoryId> DrmDeviceBase::Create(const MemoryOptions& options) {
  if (options.size == 0 || options.size % properties_.page != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("memory of this device must be whole pages of %d KiB, not 0x%x bytes",
                        properties_.page / 1024, options.size));
  }
  if (!properties_.has_heap[static_cast<int>(options.heap)]) {
    return absl::UnimplementedError(
        absl::StrFormat("%s has no memory of heap %d; DeviceProperties::has_heap lists the heaps",
                        calls_.path(), options.heap));
  }
  MemoryOptions wanted = options;
  if (DebugOn(DebugSwitch::kCapture)) wanted.use |= kCaptured;
  const absl::StatusOr<uint32_t> handle = CreateObject(wanted);
  if (!handle.ok()) return handle.status();
  return Add(*handle, wanted.size, wanted.heap, wanted.use);
}

absl::Status DrmDeviceBase::CloseHandle(uint32_t handle) {
  if (handle == kNoHandle) return absl::OkStatus();
  const auto users = users_of_.find(handle);
  if (users != users_of_.end() && users->second > 1) {
    --users->second;
    return absl::OkStatus();
  }
  absl::Status status = calls_.CloseObject(handle);
  if (!status.ok()) return status;
  if (users != users_of_.end()) users_of_.erase(users);
  ClosedLocked(handle);
  return status;
}

absl::Status DrmDeviceBase::Destroy(MemoryId memory) {
  MutexLock lock(mutex_);
  Object* const object = Find(memory);
  if (object == nullptr) return NoSuchMemory(memory);
  if (object->bindings != 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "memory %d is still bound at %d places; unbind it first", memory, object->bindings));
  }
  const absl::Status status = CloseHandle(object->handle);
  if (!status.ok()) return status;
  if (!object->mapped.empty() && !object->user) calls_.Unmap(object->mapped);
  const uint32_t slot = static_cast<uint32_t>(memory) & ((1u << kSlotBits) - 1);
  // The last generation's place is not used again: its old names would become valid.
  const uint32_t next = object->generation + 1;
  *object = {};
  object->generation = next;
  if (next >> (32 - kSlotBits) == 0) unused_.push_back(slot);
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<uint8_t>> DrmDeviceBase::Map(MemoryId memory) {
  MutexLock lock(mutex_);
  Object* const object = Find(memory);
  if (object == nullptr) return NoSuchMemory(memory);
  if (!CpuCanSee(object->heap)) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "memory %d is in a heap that the CPU cannot see; copy to it by a job, or use another heap",
        memory));
  }
  if (object->mapped.empty()) {
    const auto mapped = MapObjectLocked(*object);
    if (!mapped.ok()) return mapped.status();
    object->mapped = *mapped;
  }
  return object->mapped;
}

absl::StatusOr<absl::Span<uint8_t>> DrmDeviceBase::MapObjectLocked(const Object& object) {
  const absl::StatusOr<uint64_t> offset = MapOffset(object.handle, object.heap);
  if (!offset.ok()) return offset.status();
  return calls_.Map(*offset, object.size);
}

absl::StatusOr<DrmDeviceBase::BindStep> DrmDeviceBase::Enter(const PageBinding& binding,
                                                             PageTable& table) {
  const absl::StatusOr<uint64_t> address = PlainAddress(binding.address);
  if (!address.ok()) return address.status();
  if (binding.size == 0 ||
      ((*address | binding.size | binding.offset) & (properties_.page - 1)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("0x%x bytes from offset 0x%x at 0x%x are not whole pages of %d KiB",
                        binding.size, binding.offset, *address, properties_.page / 1024));
  }
  if (binding.size > (uint64_t{1} << properties_.address_bits) - *address) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "0x%x bytes at 0x%x go past the end of the address space", binding.size, *address));
  }
  const Object* const object = Find(binding.memory);
  if (object == nullptr) return NoSuchMemory(binding.memory);
  if (binding.offset > object->size || binding.size > object->size - binding.offset) {
    return absl::InvalidArgumentError(
        absl::StrFormat("memory %d has 0x%x bytes, not 0x%x from offset 0x%x", binding.memory,
                        object->size, binding.size, binding.offset));
  }
  const auto there = table.Overlap(*address, binding.size);
  if (there != table.pages().end()) {
    return absl::AlreadyExistsError(
        absl::StrFormat("space %d: 0x%x..0x%x is not free: memory %d is bound at 0x%x..0x%x",
                        binding.space, *address, *address + binding.size - 1, there->second.memory,
                        there->first, there->first + there->second.size - 1));
  }
  table.Insert(*address, {binding.size, binding.memory, binding.offset, binding.writable});
  return BindStep{.address = *address,
                  .size = binding.size,
                  .object = object,
                  .offset = binding.offset,
                  .writable = binding.writable};
}

absl::Status DrmDeviceBase::BindAll(absl::Span<const PageBinding> bindings) {
  if (bindings.empty()) return absl::OkStatus();
  const uint32_t space = bindings.front().space;
  absl::InlinedVector<BindStep, 4> steps;
  MutexLock lock(mutex_);
  PageTable& table = spaces_[space];
  absl::Status status;
  for (const PageBinding& binding : bindings) {
    if (binding.space != space) {
      status = absl::InvalidArgumentError(absl::StrFormat(
          "pages of one call must be of one space, not of %d and %d", space, binding.space));
    } else {
      const absl::StatusOr<BindStep> step = Enter(binding, table);
      status = step.status();
      if (step.ok()) steps.push_back(*step);
    }
    if (!status.ok()) break;
  }
  if (status.ok()) status = BindLocked(space, steps);
  if (!status.ok()) {
    for (const BindStep& step : steps) table.Erase(step.address);
    return status;
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    Object* const object = Find(bindings[i].memory);
    ++object->bindings;
    object->space = space;
    object->address = steps[i].address;
    object->pages = *table.FindAt(steps[i].address);
  }
  return absl::OkStatus();
}

absl::Status DrmDeviceBase::Unbind(uint32_t space, uint64_t address, uint64_t size) {
  PageBinding binding;
  binding.space = space;
  binding.address = address;
  binding.size = size;
  return UnbindAll({&binding, 1});
}

absl::StatusOr<PageTable::Pages> DrmDeviceBase::TakeOut(const PageBinding& binding,
                                                        PageTable& table, BindStep& step) {
  const absl::StatusOr<uint64_t> plain = PlainAddress(binding.address);
  if (!plain.ok()) return plain.status();
  const PageTable::Pages* const found = table.Find(*plain, binding.size);
  if (found == nullptr) {
    return absl::NotFoundError(
        absl::StrFormat("space %d: 0x%x bytes at 0x%x are not what was bound", binding.space,
                        binding.size, *plain));
  }
  const PageTable::Pages pages = *found;
  step = {.address = *plain,
          .size = pages.size,
          .object = Find(pages.memory),
          .offset = pages.offset,
          .writable = pages.writable};
  table.Erase(*plain);
  return pages;
}

absl::Status DrmDeviceBase::UnbindAll(absl::Span<const PageBinding> bindings) {
  if (bindings.empty()) return absl::OkStatus();
  const uint32_t space = bindings.front().space;
  absl::InlinedVector<BindStep, 4> steps;
  absl::InlinedVector<PageTable::Pages, 4> taken;
  MutexLock lock(mutex_);
  PageTable& table = spaces_[space];
  absl::Status status;
  for (const PageBinding& binding : bindings) {
    if (binding.space != space) {
      status = absl::InvalidArgumentError(absl::StrFormat(
          "pages of one call must be of one space, not of %d and %d", space, binding.space));
      break;
    }
    BindStep step;
    const absl::StatusOr<PageTable::Pages> pages = TakeOut(binding, table, step);
    if (!pages.ok()) {
      status = pages.status();
      break;
    }
    steps.push_back(step);
    taken.push_back(*pages);
  }
  if (status.ok()) status = UnbindLocked(space, steps);
  if (!status.ok()) {
    for (size_t i = 0; i < steps.size(); ++i) table.Insert(steps[i].address, taken[i]);
    return status;
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    Object* const object = Find(taken[i].memory);
    --object->bindings;
    if (object->space == space && object->address == steps[i].address) object->pages = {};
  }
  return absl::OkStatus();
}

const PageTable::Pages* DrmDeviceBase::BoundAt(const Object& object, MemoryId memory,
                                               uint32_t space, uint64_t address) const {
  if (object.pages.size != 0 && object.space == space && object.address == address) {
    return &object.pages;
  }
  const auto table = spaces_.find(space);
  if (table == spaces_.end()) return nullptr;
  const PageTable::Pages* const pages = table->second.FindAt(address);
  return pages != nullptr && pages->memory == memory ? pages : nullptr;
}

absl::Status DrmDeviceBase::Check(const Job& job, Scratch& scratch, uint64_t& batch,
                                  size_t& batch_object) {
  const absl::StatusOr<uint64_t> begin = PlainAddress(job.batch_address);
  if (!begin.ok()) return begin.status();
  batch = *begin;
  scratch.objects.clear();
  scratch.relocations.clear();
  if (!checks_residents_) return absl::OkStatus();
  ++jobs_;
  bool found = false;
  scratch.objects.reserve(job.residents.size());
  for (const Resident& resident : job.residents) {
    const absl::StatusOr<uint64_t> address = PlainAddress(resident.address);
    if (!address.ok()) return address.status();
    Object* const object = Find(resident.memory);
    if (object == nullptr) return NoSuchMemory(resident.memory);
    if (std::exchange(object->seen, jobs_) == jobs_) {
      return absl::InvalidArgumentError(
          absl::StrFormat("memory %d is listed twice as resident", resident.memory));
    }
    const PageTable::Pages* const pages = BoundAt(*object, resident.memory, job.space, *address);
    if (pages == nullptr) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "memory %d is not bound at 0x%x in space %d", resident.memory, *address, job.space));
    }
    if (resident.written && !pages->writable) {
      return absl::InvalidArgumentError(
          absl::StrFormat("memory %d is written by the job and bound read-only", resident.memory));
    }
    if (!found && batch >= *address && batch - *address < pages->size &&
        job.batch_length <= pages->size - (batch - *address)) {
      found = true;
      batch_object = scratch.objects.size();
    }
    object->place = scratch.objects.size();
    scratch.objects.push_back({.handle = object->handle,
                               .address = *address,
                               .size = pages->size,
                               .written = resident.written,
                               .use = object->use});
  }
  if (found) return CheckRelocations(job, scratch);
  return absl::InvalidArgumentError(
      absl::StrFormat("the batch, 0x%x bytes at 0x%x, is not in one of the %d residents",
                      job.batch_length, batch, job.residents.size()));
}

absl::Status DrmDeviceBase::CheckRelocations(const Job& job, Scratch& scratch) {
  scratch.relocations.clear();
  if (!properties_.moves_memory) return absl::OkStatus();
  scratch.relocations.reserve(job.relocations.size());
  for (const Relocation& relocation : job.relocations) {
    const Object* const in = Find(relocation.in);
    const Object* const target = Find(relocation.target);
    for (const auto& [object, memory] :
         {std::pair(in, relocation.in), std::pair(target, relocation.target)}) {
      if (object == nullptr) return NoSuchMemory(memory);
      if (object->seen == jobs_) continue;
      return absl::InvalidArgumentError(
          absl::StrFormat("memory %d is part of a relocation, and not listed as resident", memory));
    }
    if (relocation.offset % 4 != 0 || relocation.offset > in->size - 4) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "a relocation at offset 0x%x of memory %d: it must be a multiple of 4 in its 0x%x bytes",
          relocation.offset, relocation.in, in->size));
    }
    if (relocation.delta >> 32 != 0) {
      return absl::InvalidArgumentError(
          absl::StrFormat("a relocation at offset 0x%x of memory %d: the delta 0x%x does not fit "
                          "in 32 bits",
                          relocation.offset, relocation.in, relocation.delta));
    }
    scratch.relocations.push_back({.in = in->place,
                                   .target = target->place,
                                   .offset = relocation.offset,
                                   .delta = static_cast<uint32_t>(relocation.delta),
                                   .written = relocation.written});
  }
  return absl::OkStatus();
}

std::unique_ptr<DrmDeviceBase::Scratch> DrmDeviceBase::TakeScratch() {
  MutexLock lock(mutex_);
  if (scratch_.empty()) return std::make_unique<Scratch>();
  std::unique_ptr<Scratch> taken = std::move(scratch_.back());
  scratch_.pop_back();
  return taken;
}

void DrmDeviceBase::ReturnScratch(std::unique_ptr<Scratch> scratch) {
  MutexLock lock(mutex_);
  scratch_.push_back(std::move(scratch));
}

absl::StatusOr<Fence> DrmDeviceBase::Submit(const Job& job) {
  DebugBeforeSubmit(*this, job);
  return DebugAfterSubmit(
      *this, SubmitBy(job, [this](const Submission& submission) { return Execute(submission); }));
}

absl::StatusOr<Fence> DrmDeviceBase::SubmitBy(
    const Job& job, absl::FunctionRef<absl::Status(const Submission&)> execute) {
  uint32_t signals = 0;
  const absl::Status status = Run(job, &signals, execute);
  if (status.ok()) return fences_.Begin(signals, job.engine, std::pair(job.space, job.context));
  if (signals != 0) fences_.Return(signals);
  return status;
}

absl::Status DrmDeviceBase::SubmitWithoutFenceBy(
    const Job& job, absl::FunctionRef<absl::Status(const Submission&)> execute) {
  return Run(job, /*signals=*/nullptr, execute);
}

absl::Status DrmDeviceBase::Run(const Job& job, uint32_t* signals,
                                absl::FunctionRef<absl::Status(const Submission&)> execute) {
  std::unique_ptr<Scratch> scratch = TakeScratch();
  uint64_t batch = 0;
  size_t batch_object = 0;
  absl::Status status;
  {
    MutexLock lock(mutex_);
    status = Check(job, *scratch, batch, batch_object);
  }
  scratch->waits.clear();
  bool held = false;
  if (status.ok()) {
    status = fences_.Hold(job.after, scratch->waits);
    held = status.ok();
  }
  if (status.ok() && !(job.waits.empty() && job.signals.empty())) {
    status = timelines_.Hold(job.waits, job.signals, scratch->points);
  }
  if (status.ok() && signals != nullptr) {
    const absl::StatusOr<uint32_t> syncobj = fences_.Take();
    status = syncobj.status();
    if (syncobj.ok()) *signals = *syncobj;
  }
  if (status.ok()) {
    status = execute({.job = job,
                      .batch_address = batch,
                      .batch_object = batch_object,
                      .objects = scratch->objects,
                      .relocations = scratch->relocations,
                      .waits = scratch->waits,
                      .signals = signals == nullptr ? 0 : *signals,
                      .wait_points = scratch->points.waits,
                      .signal_points = scratch->points.signals});
  }
  scratch->points.Clear();
  if (held) fences_.Release(job.after);
  ReturnScratch(std::move(scratch));
  return status;
}

absl::Status DrmDeviceBase::SubmitError(int error, absl::string_view call, const Job& job) const {
  const absl::Status status = calls_.Error(error, call);
  return absl::Status(status.code(),
                      absl::StrFormat("%s; the job was for engine %s, context %d of space %d",
                                      status.message(), job.engine, job.context, job.space));
}

bool DrmDeviceBase::HasFailed(uint32_t space, uint32_t context) {
  return fences_.HasFailed({space, context});
}

absl::StatusOr<bool> DrmDeviceBase::Wait(Fence fence, absl::Duration timeout) {
  return fences_.Wait(fence, timeout);
}

HeapCaching DrmDeviceBase::CachingOf(Heap heap, uint8_t use) const {
  HeapCaching caching = {.available = properties_.has_heap[static_cast<int>(heap)],
                         .cpu = CpuView::kNone,
                         .coherent = true};
  if (!CpuCanSee(heap)) return caching;
  const bool cached =
      heap == Heap::kSystem && ((use & kScanout) == 0 || properties_.caches_scanout);
  caching.cpu = cached ? CpuView::kCached : CpuView::kWriteCombined;
  caching.coherent = !cached || properties_.coherent;
  return caching;
}

absl::StatusOr<UniqueFd> DrmDeviceBase::Export(MemoryId memory) {
  MutexLock lock(mutex_);
  const Object* const object = Find(memory);
  if (object == nullptr) return NoSuchMemory(memory);
  if ((object->use & kShared) == 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "memory %d was not created to be shared: MemoryOptions::use needs kShared", memory));
  }
  return calls_.ExportObject(object->handle);
}

absl::StatusOr<DrmDeviceBase::Imported> DrmDeviceBase::Import(int dma_buf) {
  constexpr off_t kImportedPage = 4096;
  const off_t size = lseek(dma_buf, 0, SEEK_END);
  if (size <= 0 || size % kImportedPage != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("descriptor %d is not a dma-buf of whole pages", dma_buf));
  }
  // With the lock: a thread that destroys the same object meanwhile would close this handle.
  MutexLock lock(mutex_);
  const absl::StatusOr<uint32_t> handle = calls_.ImportObject(dma_buf);
  if (!handle.ok()) return handle.status();
  const auto bytes = static_cast<uint64_t>(size);
  return Imported{AddLocked(*handle, bytes, Heap::kSystem, kShared), bytes};
}

absl::StatusOr<UniqueFd> DrmDeviceBase::ExportFence(Fence fence) { return fences_.Export(fence); }

absl::StatusOr<Fence> DrmDeviceBase::ImportFence(int sync_file) {
  const absl::StatusOr<uint32_t> syncobj = fences_.Take();
  if (!syncobj.ok()) return syncobj.status();
  const absl::Status status = calls_.ImportSyncFile(*syncobj, sync_file);
  if (!status.ok()) {
    fences_.Return(*syncobj);
    return status;
  }
  return fences_.Begin(*syncobj, "imported", std::nullopt);
}

absl::StatusOr<KernelTimelines*> DrmDeviceBase::timelines() {
  if (takes_points() && calls_.Capability(uapi::drm::kCapSyncobjTimeline) != 0) return &timelines_;
  return absl::UnimplementedError(absl::StrCat(
      calls_.path(), ": the kernel has no timelines for jobs; Linux 5.8 or later has them"));
}

absl::StatusOr<Fence> DrmDeviceBase::ImportUses(MemoryId memory, bool to_write) {
  const absl::StatusOr<UniqueFd> buffer = Export(memory);
  if (!buffer.ok()) return buffer.status();
  const absl::StatusOr<UniqueFd> file = calls_.ExportDmaBufFences(buffer->get(), to_write);
  if (!file.ok()) return file.status();
  return ImportFence(file->get());
}

absl::Status DrmDeviceBase::ExportUse(MemoryId memory, Fence fence, bool written) {
  const absl::StatusOr<UniqueFd> buffer = Export(memory);
  if (!buffer.ok()) return buffer.status();
  const absl::StatusOr<UniqueFd> file = ExportFence(fence);
  if (!file.ok()) return file.status();
  return calls_.AddDmaBufFence(buffer->get(), file->get(), written);
}

}  // namespace packsmith::gpu
