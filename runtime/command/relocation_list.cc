#include "runtime/command/relocation_list.h"

#include "absl/strings/str_format.h"

namespace packsmith::gpu {

absl::StatusOr<Resident> RelocationList::ResidentOf(BufferHandle handle) {
  const uint32_t known = places_.Find(handle);
  if (known != NumberMap::kNone) return residents_[known];
  if (!buffers_) return lifetime_.status();
  const absl::StatusOr<Resident> found = buffers_->ResidentOf(handle);
  if (found.ok()) {
    places_.Add(handle, static_cast<uint32_t>(residents_.size()));
    residents_.push_back(*found);
  }
  return found;
}

absl::Status RelocationList::Add(const Word& word) {
  const absl::StatusOr<Resident> in = ResidentOf(word.in);
  if (!in.ok()) return in.status();
  const absl::StatusOr<Resident> target = ResidentOf(word.target);
  if (!target.ok()) return target.status();
  const uint64_t offset = word.at - in->address;
  if (offset > in->size || in->size - offset < sizeof(word.value)) {
    return absl::OutOfRangeError(
        absl::StrFormat("a word at 0x%x is not in its buffer's memory, 0x%x bytes at 0x%x", word.at,
                        in->size, in->address));
  }
  all_.push_back({.in = in->memory,
                  .offset = offset,
                  .target = target->memory,
                  .delta = word.value - static_cast<uint32_t>(target->address),
                  .written = word.written});
  return absl::OkStatus();
}

void RelocationList::Clear() {
  residents_.clear();
  places_.Clear();
  all_.clear();
}

}  // namespace packsmith::gpu
