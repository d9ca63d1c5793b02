#include "runtime/intel/memory/border_colors.h"

#include <cstring>

#include "absl/strings/str_format.h"

namespace packsmith::intel {

absl::StatusOr<std::unique_ptr<BorderColors>> BorderColors::Create(gpu::Buffers& buffers,
                                                                   const Options& options) {
  if (options.entries < 2 || options.entries > (1u << 26)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d border colours; there must be at least 2, since the first one is never "
                        "given out, and at most 2^26, since offsets have 32 bits",
                        options.entries));
  }
  const absl::StatusOr<gpu::Buffer> buffer = buffers.Create({.size = options.entries * kEntrySize,
                                                             .zone = options.zone,
                                                             .name = "border colors",
                                                             .address = options.address,
                                                             .writable = false,
                                                             .dedicated = true});
  if (!buffer.ok()) return buffer.status();
  return std::unique_ptr<BorderColors>(new BorderColors(buffers, *buffer, options.entries));
}

BorderColors::BorderColors(gpu::Buffers& buffers, const gpu::Buffer& buffer, uint32_t entries)
    : buffers_(buffers, lifetime_), buffer_(buffer), colors_(entries), users_(entries) {
  places_.reserve(entries);
  unused_.reserve(entries);
  for (uint32_t entry = entries; --entry > 0;) unused_.push_back(entry);
}

BorderColors::~BorderColors() {
  lifetime_.End();
  if (buffers_) (void)buffers_->Release(buffer_.handle);
}

absl::StatusOr<BorderColor> BorderColors::Acquire(const Entry& color) {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  auto place = places_.find(color);
  if (place == places_.end()) {
    if (unused_.empty()) {
      return absl::ResourceExhaustedError(absl::StrFormat(
          "all %d border colours are in use; release samplers, or use a colour that is in use",
          users_.size() - 1));
    }
    const uint64_t offset = unused_.back() * uint64_t{kEntrySize};
    std::memcpy(buffer_.cpu + offset, color.data(), kEntrySize);
    if (absl::Status status = buffers_->FlushForGpu(buffer_.handle, offset, kEntrySize);
        !status.ok()) {
      return status;
    }
    place = places_.emplace(color, unused_.back()).first;
    unused_.pop_back();
    colors_[place->second] = color;
  }
  ++users_[place->second];
  return BorderColor{place->second * static_cast<uint32_t>(kEntrySize), buffer_.handle};
}

absl::Status BorderColors::Release(uint32_t offset) {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  const uint32_t entry = offset / kEntrySize;
  if (offset % kEntrySize != 0 || entry >= users_.size() || users_[entry] == 0) {
    return absl::NotFoundError(absl::StrFormat("no border colour is in use at 0x%x", offset));
  }
  if (--users_[entry] != 0) return absl::OkStatus();
  places_.erase(colors_[entry]);
  unused_.push_back(entry);
  return absl::OkStatus();
}

uint32_t BorderColors::in_use() const {
  MutexLock lock(mutex_);
  return places_.size();
}

}  // namespace packsmith::intel
