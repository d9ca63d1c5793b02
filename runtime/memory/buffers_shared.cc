// Buffers: what others than the GPU and this object have to do with a buffer's memory: the CPU's
// caches, other processes and devices, and a kernel that has too little of it.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/memory/buffers_core.h"
#include "runtime/memory/cpu_cache.h"

namespace packsmith::gpu {
namespace {

// Buffers that an error lists.
constexpr size_t kListed = 5;
// Where the CPU's line is not known: Options::flush_lines then knows what to do, or fails.
constexpr size_t kUsualLine = 64;

}  // namespace

absl::StatusOr<MemoryId> BuffersCore::SharedMemoryOf(BufferHandle handle) const {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  const uint32_t slot = SlotOf(handle);
  if (slot == kNone) {
    return absl::NotFoundError(absl::StrFormat("0x%x is not the handle of a buffer", handle));
  }
  const Block& block = blocks_[slots_[slot].block];
  if ((block.kind.use & kShared) == 0) {
    return absl::FailedPreconditionError(
        absl::StrFormat("buffer 0x%x (\"%s\") was not created to be shared: BufferOptions::use "
                        "needs kShared",
                        handle, slots_[slot].name));
  }
  return block.memory;
}

absl::StatusOr<UniqueFd> BuffersCore::Export(BufferHandle handle) {
  const absl::StatusOr<MemoryId> memory = SharedMemoryOf(handle);
  if (!memory.ok()) return memory.status();
  return device_->Export(*memory);
}

absl::Status BuffersCore::ImportUses(BufferHandle handle, bool to_write) {
  const absl::StatusOr<MemoryId> memory = SharedMemoryOf(handle);
  if (!memory.ok()) return memory.status();
  const absl::StatusOr<Fence> fence = device_->ImportUses(*memory, to_write);
  if (!fence.ok()) return fence.status();
  // Whether they read or write is not known: all wait for them.
  const BufferAccess use = {handle, true};
  return Use({&use, 1}, *fence);
}

absl::Status BuffersCore::ExportUse(BufferHandle handle, Fence fence, bool written) {
  const absl::StatusOr<MemoryId> memory = SharedMemoryOf(handle);
  if (!memory.ok()) return memory.status();
  return device_->ExportUse(*memory, fence, written);
}

absl::StatusOr<std::vector<Buffer>> BuffersCore::ImportAll(absl::Span<const BufferImport> imports) {
  if (lifetime_.lost()) return lifetime_.status();
  const size_t count = imports.size();
  std::vector<BufferImport> wanted(imports.begin(), imports.end());
  std::vector<MemoryId> memories;
  absl::Status status;
  size_t at = 0;  // the one that an error is of
  const auto take = [&](BufferOptions& options, int dma_buf) {
    if (options.heap != Heap::kSystem) {
      return absl::InvalidArgumentError(
          "the heap of another's memory cannot be chosen: leave BufferOptions::heap as it is");
    }
    const absl::StatusOr<Device::Imported> imported = device_->Import(dma_buf);
    if (!imported.ok()) return imported.status();
    memories.push_back(imported->memory);
    const uint64_t size = std::exchange(options.size, imported->size);
    if (size > imported->size) {
      return absl::InvalidArgumentError(
          absl::StrFormat("the memory to import has 0x%x bytes, not 0x%x", imported->size, size));
    }
    options.use |= kShared;
    return CheckAdopted(imported->memory, options);
  };
  for (; at < count; ++at) {
    status = take(wanted[at].options, wanted[at].dma_buf);
    if (!status.ok()) break;
  }

  std::vector<uint32_t> blocks;
  MutexLock lock(mutex_);
  (void)Collect();
  if (status.ok()) {
    at = 0;
    status = EnsureSlots(count);
  }
  for (; status.ok() && blocks.size() < count; ++at) {
    const absl::StatusOr<uint32_t> block = AdoptBlock(memories[at], wanted[at].options);
    if (block.ok()) {
      blocks.push_back(*block);
    } else {
      status = block.status();
      break;
    }
  }
  if (status.ok()) status = BindNew(at);
  if (!status.ok()) {
    unbound_.clear();
    gone_.insert(gone_.end(), blocks.begin(), blocks.end());
    (void)DestroyGone();
    for (size_t i = blocks.size(); i < memories.size(); ++i) {
      Lost lost = {.memory = memories[i], .size = wanted[i].options.size};
      statistics_.memory_bytes += lost.size;
      (void)ReturnAll({&lost, 1});
    }
    return OneOf(status, at, count, wanted[at].options.name);
  }
  std::vector<Buffer> buffers;
  buffers.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    buffers.push_back(TakeSlot(blocks[i], 0, wanted[i].options.name));
  }
  return buffers;
}

absl::Status BuffersCore::FlushBytes(const Block& block, uint64_t offset, uint64_t size) const {
  if (!incoherent_[static_cast<size_t>(block.kind.heap)] || size == 0) return absl::OkStatus();
  const HeapCaching caching = device_->CachingOf(block.kind.heap, block.kind.use);
  if (caching.coherent || block.cpu == nullptr) return absl::OkStatus();
  const size_t line = CpuCacheLine() != 0 ? CpuCacheLine() : kUsualLine;
  return options_.flush_lines(LinesOf(absl::MakeSpan(block.cpu + offset, size), line));
}

// Lines that are dropped are written back first if the CPU has changed them, which it must not
// have: no instruction that programs may use drops them alone.
absl::Status BuffersCore::FlushRange(BufferHandle handle, uint64_t offset, uint64_t size) const {
  if (lifetime_.lost()) return lifetime_.status();
  uint64_t first = 0;
  Block mapped;
  {
    MutexLock lock(mutex_);
    const uint32_t slot = SlotOf(handle);
    if (slot == kNone) {
      return absl::NotFoundError(
          absl::StrFormat("0x%x is not the handle of a buffer to flush", handle));
    }
    const Block& block = blocks_[slots_[slot].block];
    if (offset > block.entry_size || size > block.entry_size - offset) {
      return absl::OutOfRangeError(
          absl::StrFormat("0x%x bytes from offset 0x%x are not in buffer 0x%x (\"%s\"), which has "
                          "0x%x bytes",
                          size, offset, handle, slots_[slot].name, block.entry_size));
    }
    if (block.cpu == nullptr) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "buffer 0x%x (\"%s\") is in a heap that the CPU cannot see", handle, slots_[slot].name));
    }
    if (!incoherent_[static_cast<size_t>(block.kind.heap)]) return absl::OkStatus();
    first = slots_[slot].entry * block.entry_size;
    mapped.kind = block.kind;
    mapped.cpu = block.cpu;
  }
  // Other threads continue meanwhile.
  return FlushBytes(mapped, first + offset, size);
}

absl::StatusOr<Fence> BuffersCore::Submit(const Job& job, absl::Span<const BufferAccess> uses) {
  if (lifetime_.lost()) return lifetime_.status();
  {
    MutexLock lock(mutex_);
    for (const BufferAccess& use : uses) {
      if (SlotOf(use.handle) != kNone) continue;
      return absl::NotFoundError(
          absl::StrFormat("0x%x is not the handle of a buffer that a job could use", use.handle));
    }
  }
  // Without the lock: a kernel may have a job wait until there is room for it.
  absl::StatusOr<Fence> fence = device_->Submit(job);
  if (absl::IsResourceExhausted(fence.status())) {
    // What the device does not take back now is counted as lost, and not this job's error.
    (void)Trim(0);
    fence = device_->Submit(job);
    if (absl::IsResourceExhausted(fence.status())) {
      return WithLargest(fence.status(), job.residents);
    }
  }
  if (!fence.ok()) return fence;
  const absl::Status used = Use(uses, *fence);
  if (!used.ok()) return used;
  return fence;
}

absl::Status BuffersCore::WithLargest(const absl::Status& refused,
                                      absl::Span<const Resident> residents) const {
  std::vector<Resident> largest(residents.begin(), residents.end());
  std::stable_sort(largest.begin(), largest.end(),
                   [](const Resident& a, const Resident& b) { return a.size > b.size; });
  uint64_t bytes = 0;
  for (const Resident& resident : largest) bytes += resident.size;
  if (largest.size() > kListed) largest.resize(kListed);
  std::string message =
      absl::StrFormat("%s; the job uses %d KiB in %d pieces of memory, the largest of which are",
                      refused.message(), bytes / kKiB, residents.size());
  MutexLock lock(mutex_);
  absl::flat_hash_map<MemoryId, const Block*> blocks;
  for (const Block& block : blocks_) {
    if (block.memory != MemoryId{}) blocks[block.memory] = &block;
  }
  for (const Resident& resident : largest) {
    const auto found = blocks.find(resident.memory);
    std::string what = absl::StrFormat("memory %d", resident.memory);
    if (found != blocks.end()) {
      const Block& block = *found->second;
      if (block.entries > 1) {
        what = absl::StrFormat("%d small buffers", block.live_entries);
      } else if (block.slots.front() != kNone && !slots_[block.slots.front()].name.empty()) {
        what = absl::StrFormat("\"%s\"", slots_[block.slots.front()].name);
      }
    }
    absl::StrAppend(&message, &resident == &largest.front() ? " " : ", ", what, " (",
                    resident.size / kKiB, " KiB)");
  }
  return absl::ResourceExhaustedError(message);
}

}  // namespace packsmith::gpu
