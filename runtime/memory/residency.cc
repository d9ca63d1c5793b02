#include "runtime/memory/residency.h"

#include "absl/status/statusor.h"

namespace packsmith::gpu {

absl::Status Residency::Add(BufferHandle handle, bool written) {
  if (lifetime_.lost()) return lifetime_.status();
  auto place = places_.find(handle);
  if (place == places_.end()) {
    const absl::StatusOr<Resident> resident = buffers_->ResidentOf(handle);
    if (!resident.ok()) return resident.status();
    const auto [memory, added] = memories_.try_emplace(resident->memory, residents_.size());
    if (added) {
      residents_.push_back(*resident);
      bytes_ += resident->size;
    }
    const uint32_t use = uses_.size();
    handles_.push_back(handle);
    uses_.push_back({handle, false});
    place = places_.emplace(handle, Place{memory->second, use}).first;
  }
  uses_[place->second.use].written |= written;
  residents_[place->second.resident].written |= written;
  return absl::OkStatus();
}

bool Residency::Contains(BufferHandle handle) const { return places_.contains(handle); }

bool Residency::Writes(BufferHandle handle) const {
  const auto place = places_.find(handle);
  return place != places_.end() && uses_[place->second.use].written;
}

void Residency::Clear() {
  places_.clear();
  memories_.clear();
  residents_.clear();
  handles_.clear();
  uses_.clear();
  bytes_ = 0;
}

}  // namespace packsmith::gpu
