#include "runtime/submission/timeline_memory.h"

#include <atomic>

#include "absl/strings/str_format.h"

namespace packsmith::gpu {
namespace {

constexpr uint64_t kValueBytes = sizeof(uint64_t);

}  // namespace

absl::StatusOr<std::unique_ptr<TimelineMemory>> TimelineMemory::Create(Buffers& buffers,
                                                                       const Options& options) {
  const absl::StatusOr<Buffer> memory = buffers.Create({.size = options.timelines * kValueBytes,
                                                        .zone = options.zone,
                                                        .name = "timelines",
                                                        .alignment = kValueBytes,
                                                        .zeroed = true});
  if (!memory.ok()) return memory.status();
  return std::unique_ptr<TimelineMemory>(new TimelineMemory(buffers, *memory, options.timelines));
}

TimelineMemory::~TimelineMemory() { (void)buffers_.Release(memory_.handle); }

absl::StatusOr<uint64_t> TimelineMemory::OffsetOf(TimelineId timeline) const {
  const auto number = static_cast<uint32_t>(timeline);
  if (number < timelines_) return number * kValueBytes;
  return absl::OutOfRangeError(absl::StrFormat(
      "timeline %d has no value in memory: there is room for %d; see TimelineMemory::Options",
      number, timelines_));
}

absl::StatusOr<TimelineMemory::Place> TimelineMemory::PlaceOf(TimelineId timeline) const {
  const absl::StatusOr<uint64_t> offset = OffsetOf(timeline);
  if (!offset.ok()) return offset.status();
  return Place{.address = memory_.address + *offset, .buffer = memory_.handle};
}

absl::StatusOr<uint64_t> TimelineMemory::Value(TimelineId timeline) const {
  const absl::StatusOr<uint64_t> offset = OffsetOf(timeline);
  if (!offset.ok()) return offset.status();
  const absl::Status status = buffers_.InvalidateForCpu(memory_.handle, *offset, kValueBytes);
  if (!status.ok()) return status;
  // The GPU may store it meanwhile.
  auto& value = *reinterpret_cast<uint64_t*>(memory_.cpu + *offset);
  return std::atomic_ref<uint64_t>(value).load(std::memory_order_acquire);
}

absl::Status TimelineMemory::Store(TimelinePoint point) {
  const absl::StatusOr<uint64_t> offset = OffsetOf(point.timeline);
  if (!offset.ok()) return offset.status();
  auto& value = *reinterpret_cast<uint64_t*>(memory_.cpu + *offset);
  std::atomic_ref<uint64_t>(value).store(point.value, std::memory_order_release);
  return buffers_.FlushForGpu(memory_.handle, *offset, kValueBytes);
}

}  // namespace packsmith::gpu
