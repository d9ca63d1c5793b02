#include "runtime/intel/binding/shared_states.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"

namespace packsmith::intel {

SharedStates::~SharedStates() {
  if (!pool_) return;
  for (const Owned& entry : entries_) (void)pool_->Free(entry->state.offset);
}

absl::StatusOr<gpu::State> SharedStates::Acquire(absl::Span<const uint32_t> dwords) {
  if (lifetime_.lost()) return lifetime_.status();
  if (dwords.empty())
    return absl::InvalidArgumentError("a shared state must have at least 1 dword");
  MutexLock lock(mutex_);
  if (const auto found = entries_.find(dwords); found != entries_.end()) {
    ++(*found)->users;
    return (*found)->state;
  }
  absl::StatusOr<gpu::State> state = pool_->Allocate(dwords.size() * 4, alignment_);
  if (!state.ok()) return state.status();
  std::memcpy(state->cpu, dwords.data(), dwords.size() * 4);
  if (absl::Status status = pool_->Flush(*state, dwords.size() * 4); !status.ok()) {
    (void)pool_->Free(state->offset);
    return status;
  }
  auto entry = std::make_unique<Entry>();
  entry->dwords.assign(dwords.begin(), dwords.end());
  entry->state = *state;
  entry->users = 1;
  places_[state->offset] = entry.get();
  entries_.insert(std::move(entry));
  return state;
}

absl::Status SharedStates::Release(uint32_t offset) {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  const auto place = places_.find(offset);
  if (place == places_.end()) {
    return absl::NotFoundError(absl::StrFormat("no shared state is in use at 0x%x", offset));
  }
  Entry& entry = *place->second;
  if (--entry.users != 0) return absl::OkStatus();
  places_.erase(place);
  entries_.erase(entries_.find(absl::Span<const uint32_t>(entry.dwords)));
  return pool_->Free(offset);
}

size_t SharedStates::size() const {
  MutexLock lock(mutex_);
  return entries_.size();
}

}  // namespace packsmith::intel
