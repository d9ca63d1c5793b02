#include "runtime/kernel/asahi/timestamps.h"

#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"
#include "runtime/kernel/asahi/asahi_device.h"
#include "runtime/kernel/uapi/asahi.h"

namespace packsmith::gpu {

namespace api = uapi::asahi;

absl::StatusOr<AsahiTimestamps> AsahiDevice::CreateTimestamps(uint32_t count) {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max() / AsahiTimestamps::kBytes;
  if (count == 0 || count > kMost) {
    return absl::InvalidArgumentError(
        absl::StrFormat("room for %d times: it must be for 1 to %d", count, kMost));
  }
  const uint64_t bytes = uint64_t{count} * AsahiTimestamps::kBytes;
  const uint64_t size = (bytes + api::kPage - 1) / api::kPage * api::kPage;
  const absl::StatusOr<MemoryId> memory = Create({.size = size});
  if (!memory.ok()) return memory.status();
  // From here on, what was made goes if a call fails.
  AsahiTimestamps made;
  made.device_ = this;
  made.memory_ = *memory;
  made.count_ = count;
  const absl::StatusOr<absl::Span<uint8_t>> mapped = Map(*memory);
  if (!mapped.ok()) return mapped.status();
  made.bytes_ = *mapped;
  const absl::StatusOr<uint32_t> handle = HandleOf(*memory);
  if (!handle.ok()) return handle.status();
  api::gem_bind_object args = {};
  args.op = api::kObjectBind;
  args.flags = api::kObjectTimestamps;
  args.handle = *handle;
  args.range = size;
  const absl::Status status = calls().Do("GEM_BIND_OBJECT", api::kGemBindObject, args);
  if (!status.ok()) return status;
  made.object_ = args.object_handle;
  return made;
}

AsahiTimestamps::AsahiTimestamps(AsahiTimestamps&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      memory_(other.memory_),
      bytes_(other.bytes_),
      object_(other.object_),
      count_(other.count_) {}

// What the kernel says to it changes nothing: the file's end frees it, too.
AsahiTimestamps::~AsahiTimestamps() { Free().IgnoreError(); }

absl::Status AsahiTimestamps::Free() {
  if (device_ == nullptr) return absl::OkStatus();
  if (object_ != 0) {
    api::gem_bind_object args = {};
    args.op = api::kObjectUnbind;
    args.object_handle = object_;
    const absl::Status status = device_->calls().Do("GEM_BIND_OBJECT", api::kGemBindObject, args);
    if (!status.ok()) return status;
    object_ = 0;
  }
  absl::Status status = device_->Destroy(memory_);
  if (status.ok()) device_ = nullptr;
  return status;
}

uint64_t AsahiTimestamps::Read(uint32_t index) const {
  uint64_t time = 0;
  std::memcpy(&time, bytes_.data() + size_t{index} * kBytes, sizeof(time));
  return time;
}

}  // namespace packsmith::gpu
