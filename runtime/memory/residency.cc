#include "runtime/memory/residency.h"

#include "absl/status/statusor.h"

namespace packsmith::gpu {

Residency::Residency(const Buffers& buffers) : buffers_(buffers, lifetime_) {}
Residency::~Residency() = default;

absl::Status Residency::Add(BufferHandle handle, bool written) {
  if (lifetime_.lost()) return lifetime_.status();
  uint32_t use = places_.Find(handle);
  if (use == NumberMap::kNone) {
    const absl::StatusOr<Resident> resident = buffers_->ResidentOf(handle);
    if (!resident.ok()) return resident.status();
    const uint32_t memory = static_cast<uint32_t>(resident->memory);
    uint32_t place = memories_.Find(memory);
    if (place == NumberMap::kNone) {
      place = static_cast<uint32_t>(residents_.size());
      memories_.Add(memory, place);
      residents_.push_back(*resident);
      bytes_ += resident->size;
    }
    use = static_cast<uint32_t>(uses_.size());
    places_.Add(handle, use);
    handles_.push_back(handle);
    uses_.push_back({handle, false});
    resident_of_.push_back(place);
  }
  uses_[use].written |= written;
  residents_[resident_of_[use]].written |= written;
  return absl::OkStatus();
}

bool Residency::Contains(BufferHandle handle) const {
  return places_.Find(handle) != NumberMap::kNone;
}

bool Residency::Writes(BufferHandle handle) const {
  const uint32_t use = places_.Find(handle);
  return use != NumberMap::kNone && uses_[use].written;
}

void Residency::Clear() {
  places_.Clear();
  memories_.Clear();
  residents_.clear();
  handles_.clear();
  uses_.clear();
  resident_of_.clear();
  bytes_ = 0;
}

}  // namespace packsmith::gpu
