#include "runtime/intel/binding/binder_core.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_format.h"
#include "runtime/intel/binding/table_limits.h"

namespace packsmith::intel {
namespace {

// Of blocks: pages of GPUs with memory of their own have 64 KiB.
constexpr uint64_t kBlockAlignment = 64 << 10;

}  // namespace

BinderCore::BinderCore(gpu::Buffers& buffers, const BindingRules& rules, const Options& options)
    : buffers_(buffers, lifetime_),
      rules_(rules),
      options_(options),
      flushes_(buffers.NeedsFlush(options.heap)),
      surfaces_(rules.block / 4) {
  // Never more than half full.
  slots_.resize(std::bit_ceil(size_t{2} * (rules.block / rules.alignment)));
  mask_ = slots_.size() - 1;
}

BinderCore::~BinderCore() {
  if (!buffers_) return;
  (void)ReleaseOld();
  if (block_.handle != 0) (void)buffers_->Release(block_.handle);
}

absl::Status BinderCore::ReleaseOld() {
  if (lifetime_.lost()) return lifetime_.status();
  absl::Status first;
  for (const gpu::Buffer& block : old_) first.Update(buffers_->Release(block.handle));
  old_.clear();
  return first;
}

absl::StatusOr<gpu::Buffer> BinderCore::CreateBlock() const {
  gpu::BufferOptions options = {.size = rules_.block,
                                .zone = options_.zone,
                                .name = options_.name,
                                .heap = options_.heap,
                                .alignment = kBlockAlignment,
                                .writable = false};
  // Other threads may take the place that was found.
  for (int tries = 0; block_.handle != 0 && tries < 4; ++tries) {
    const absl::StatusOr<uint64_t> place = buffers_->addresses().NextHole(
        options.zone, options.size, options.alignment, block_.address + block_.size);
    if (!place.ok()) break;
    options.address = *place;
    absl::StatusOr<gpu::Buffer> block = buffers_->Create(options);
    if (block.status().code() != absl::StatusCode::kAlreadyExists) return block;
  }
  // Memory that is kept for reuse may have the place.
  options.address = {};
  return buffers_->Create(options);
}

absl::StatusOr<gpu::Buffer> BinderCore::NewBlock() const {
  if (lifetime_.lost()) return lifetime_.status();
  if (options_.surface_bytes == 0 || options_.surface_bytes > kSurfaceReach) {
    return absl::InvalidArgumentError(
        absl::StrFormat("surface states in %d bytes; there must be at least 1, and at most the 4 "
                        "GiB that binding tables reach",
                        options_.surface_bytes));
  }
  const absl::StatusOr<gpu::Buffer> block = CreateBlock();
  if (!block.ok()) return block.status();
  const uint64_t base = options_.surface_base, bytes = options_.surface_bytes;
  absl::Status status;
  if (!rules_.own_base &&
      (block->address > base || base - block->address > kSurfaceReach - bytes)) {
    status = absl::FailedPreconditionError(
        absl::StrFormat("a block of binding tables at 0x%x cannot reach surface states at 0x%x to "
                        "0x%x: all must be within 4 GiB after it",
                        block->address, base, base + bytes - 1));
  } else if (block->cpu == nullptr) {
    status = absl::FailedPreconditionError("binding tables need a heap that the CPU can access");
  }
  if (status.ok()) return block;
  (void)buffers_->Release(block->handle);
  return status;
}

void BinderCore::UseBlock(const gpu::Buffer& block) {
  block_ = block;
  next_ = rules_.first;
  std::fill(slots_.begin(), slots_.end(), Slot());
}

absl::Status BinderCore::FlushFrom(uint32_t offset) {
  if (lifetime_.lost()) return lifetime_.status();
  absl::Status status = buffers_->FlushForGpu(block_.handle, offset, next_ - offset);
  if (status.ok()) return status;
  // The newest tables leave: no other slot was chosen because theirs were taken.
  for (Slot& slot : slots_) {
    if (slot.count == 0 || slot.offset < offset) continue;
    slot = Slot();
    --statistics_.written;
  }
  next_ = offset;
  return status;
}

absl::Status BinderCore::TooMany(size_t count) const {
  return absl::InvalidArgumentError(absl::StrFormat(
      "a binding table of %d surfaces; there may be %d", count, kMostTableSurfaces));
}

absl::Status BinderCore::CheckSurfaces(absl::Span<const uint32_t> surfaces,
                                       uint32_t unaligned) const {
  for (size_t i = 0; i < surfaces.size(); ++i) {
    if ((surfaces[i] & unaligned) == 0 && surfaces[i] < options_.surface_bytes) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "surface %d of a binding table is at offset 0x%x; it must be a multiple of %d below 0x%x",
        i, surfaces[i], unaligned + 1, options_.surface_bytes));
  }
  return absl::OkStatus();
}

absl::Status BinderCore::NotBegun() const {
  if (lifetime_.lost()) return lifetime_.status();
  return absl::FailedPreconditionError(
      "tables cannot be bound before the batch has their base: call Begin() first");
}

}  // namespace packsmith::intel
