// Buffers: submitting jobs to a kernel that may have too little memory for them.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/memory/buffers_core.h"

namespace packsmith::gpu {
namespace {

// Buffers that an error lists.
constexpr size_t kListed = 5;

}  // namespace

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
