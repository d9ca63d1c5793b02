// Times that a GPU of Apple's writes.
#ifndef PACKSMITH_RUNTIME_KERNEL_ASAHI_TIMESTAMPS_H_
#define PACKSMITH_RUNTIME_KERNEL_ASAHI_TIMESTAMPS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/kernel/asahi/commands.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

class AsahiDevice;

// Memory that the GPU writes times to. The device must outlive it, and the jobs that use it must be
// done before it ends.
class AsahiTimestamps {
 public:
  AsahiTimestamps(AsahiTimestamps&& other) noexcept;
  AsahiTimestamps& operator=(AsahiTimestamps&&) = delete;
  ~AsahiTimestamps();

  // Frees the memory before the end. If it fails, nothing has changed; otherwise only the
  // destructor may follow.
  absl::Status Free();

  uint32_t count() const { return count_; }
  // For a command. `index` is below count().
  AsahiTime At(uint32_t index) const { return {object_, index * kBytes}; }
  // What was last written there, by the clock of AsahiDevice::ReadClock(); 0: nothing.
  uint64_t Read(uint32_t index) const;

 private:
  friend class AsahiDevice;
  static constexpr uint32_t kBytes = sizeof(uint64_t);
  AsahiTimestamps() = default;

  AsahiDevice* device_ = nullptr;
  MemoryId memory_ = {};
  absl::Span<const uint8_t> bytes_;
  uint32_t object_ = 0, count_ = 0;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_ASAHI_TIMESTAMPS_H_
