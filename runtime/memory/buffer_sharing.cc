#include "runtime/memory/buffer_sharing.h"

#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/memory/buffers_core.h"

namespace packsmith::gpu {

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

absl::StatusOr<UniqueFd> BufferSharing::Export(BufferHandle handle) {
  if (lifetime_.lost()) return lifetime_.status();
  return buffers_->core_->Export(handle);
}

absl::StatusOr<Buffer> BufferSharing::Import(int dma_buf, const BufferOptions& options) {
  const BufferImport one = {.dma_buf = dma_buf, .options = options};
  absl::StatusOr<std::vector<Buffer>> buffers = ImportAll({&one, 1});
  if (!buffers.ok()) return buffers.status();
  return buffers->front();
}

absl::StatusOr<std::vector<Buffer>> BufferSharing::ImportAll(
    absl::Span<const BufferImport> imports) {
  if (lifetime_.lost()) return lifetime_.status();
  return buffers_->core_->ImportAll(imports);
}

absl::Status BufferSharing::ImportUses(BufferHandle handle, bool to_write) {
  if (lifetime_.lost()) return lifetime_.status();
  return buffers_->core_->ImportUses(handle, to_write);
}

absl::Status BufferSharing::ExportUse(BufferHandle handle, Fence fence, bool written) {
  if (lifetime_.lost()) return lifetime_.status();
  return buffers_->core_->ExportUse(handle, fence, written);
}

}  // namespace packsmith::gpu
