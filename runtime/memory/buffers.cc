#include "runtime/memory/buffers.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "runtime/base/debug.h"
#include "runtime/memory/buffers_core.h"
#include "runtime/memory/cpu_cache.h"

namespace packsmith::gpu {

std::unique_ptr<Buffers> Buffers::Create(Device& device, AddressSpace& addresses,
                                         const Options& options) {
  Options wanted = options;
  if (DebugOn(DebugSwitch::kNoCache)) wanted.cache_bytes = 0;
  if (DebugOn(DebugSwitch::kNoSlab)) wanted.largest_shared = 0;
  if (wanted.page == 0) wanted.page = device.page();
  if (!wanted.now) wanted.now = absl::Now;
  if (!wanted.flush_lines) wanted.flush_lines = FlushCpuLines;
  return std::unique_ptr<Buffers>(
      new Buffers(std::make_unique<BuffersCore>(device, addresses, wanted)));
}

Buffers::Buffers(std::unique_ptr<BuffersCore> core) : core_(std::move(core)) {}
Buffers::~Buffers() = default;

absl::StatusOr<Buffer> Buffers::Create(const BufferOptions& options) {
  return core_->Create(options);
}
absl::StatusOr<std::vector<Buffer>> Buffers::CreateAll(absl::Span<const BufferOptions> options) {
  return core_->CreateAll(options);
}
absl::StatusOr<Buffer> Buffers::Adopt(MemoryId memory, const BufferOptions& options) {
  return core_->Adopt(memory, options);
}
absl::Status Buffers::Release(BufferHandle handle) { return core_->Release(handle); }
absl::Status Buffers::ReleaseAll(absl::Span<const BufferHandle> handles) {
  return core_->ReleaseAll(handles);
}
absl::StatusOr<Buffer> Buffers::Get(BufferHandle handle) const { return core_->Get(handle); }
absl::StatusOr<std::string> Buffers::Name(BufferHandle handle) const { return core_->Name(handle); }
absl::Status Buffers::SetName(BufferHandle handle, absl::string_view name) {
  return core_->SetName(handle, name);
}
absl::StatusOr<Buffer> Buffers::Find(uint64_t address) const { return core_->Find(address); }

absl::StatusOr<Resident> Buffers::ResidentOf(BufferHandle handle) const {
  return core_->ResidentOf(handle);
}
absl::StatusOr<Fence> Buffers::Submit(const Job& job, absl::Span<const BufferAccess> uses) {
  return core_->Submit(job, uses);
}
absl::Status Buffers::Use(absl::Span<const BufferAccess> uses, Fence fence) {
  return core_->Use(uses, fence);
}
absl::Status Buffers::Use(absl::Span<const BufferHandle> handles, Fence fence) {
  return core_->Use(handles, fence);
}
absl::StatusOr<std::vector<Fence>> Buffers::JobsBefore(absl::Span<const BufferAccess> uses) {
  return core_->JobsBefore(uses);
}
absl::StatusOr<bool> Buffers::Wait(BufferHandle handle, bool to_write, absl::Duration timeout) {
  return core_->Wait(handle, to_write, timeout);
}

absl::Status Buffers::FlushForGpu(BufferHandle handle, uint64_t offset, uint64_t size) const {
  return core_->FlushRange(handle, offset, size);
}
absl::Status Buffers::InvalidateForCpu(BufferHandle handle, uint64_t offset, uint64_t size) const {
  return core_->FlushRange(handle, offset, size);
}
bool Buffers::NeedsFlush(Heap heap) const { return core_->NeedsFlush(heap); }

absl::Status Buffers::Trim(uint64_t keep) { return core_->Trim(keep); }
BufferStatistics Buffers::statistics() const { return core_->statistics(); }
const AddressSpace& Buffers::addresses() const { return core_->addresses(); }
std::string Buffers::generation() const { return core_->generation(); }
Lifetime& Buffers::lifetime() const { return core_->lifetime(); }
uint64_t Buffers::ClassSize(uint64_t size) { return BuffersCore::ClassSize(size); }

}  // namespace packsmith::gpu
