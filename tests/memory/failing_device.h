// A device that fails on request: at the n-th call that needs memory, or the n-th of any kind.

#ifndef PACKSMITH_TESTS_MEMORY_FAILING_DEVICE_H_
#define PACKSMITH_TESTS_MEMORY_FAILING_DEVICE_H_

#include "runtime/memory/device.h"

namespace packsmith::gpu {

class FailingDevice : public Device {
 public:
  explicit FailingDevice(Device& device) : device_(device) {}

  // The number of calls until one fails; negative: none does.
  void FailAfter(int calls) { left_ = calls; }
  bool failed() const { return failed_; }
  // The same for all calls, also those that free or only query.
  void FailAnyAfter(int calls) { any_left_ = calls; }
  // Only these calls fail, while it is set.
  bool refuses_unbind = false, refuses_destroy = false;
  // Takes away all memory that is not needed.
  bool short_of_memory = false;

  absl::StatusOr<MemoryId> Create(const MemoryOptions& options) override {
    return Fails() ? Full() : device_.Create(options);
  }
  absl::StatusOr<absl::Span<uint8_t>> Map(MemoryId memory) override {
    if (Fails()) return Full();
    return device_.Map(memory);
  }
  absl::Status Bind(const PageBinding& binding) override {
    return Fails() ? Full() : device_.Bind(binding);
  }
  absl::Status Destroy(MemoryId memory) override {
    return refuses_destroy || AnyFails() ? Full() : device_.Destroy(memory);
  }
  absl::Status Unbind(uint32_t space, uint64_t address, uint64_t size) override {
    return refuses_unbind || AnyFails() ? Full() : device_.Unbind(space, address, size);
  }
  absl::StatusOr<Fence> Submit(const Job& job) override {
    if (AnyFails()) return Full();
    return device_.Submit(job);
  }
  absl::StatusOr<bool> Wait(Fence fence, absl::Duration timeout) override {
    if (AnyFails()) return Full();
    return device_.Wait(fence, timeout);
  }
  absl::StatusOr<bool> SetNeeded(MemoryId, bool needed) override {
    if (AnyFails()) return Full();
    return !(needed && short_of_memory);
  }

 private:
  static absl::Status Full() { return absl::InternalError("told to fail"); }
  bool AnyFails() {
    const bool fails = any_left_ == 0;
    if (any_left_ >= 0) --any_left_;
    return fails;
  }
  bool Fails() {
    if (AnyFails()) return true;
    const bool fails = left_ == 0;
    if (left_ >= 0) --left_;
    failed_ |= fails;
    return fails;
  }

  Device& device_;
  int left_ = -1, any_left_ = -1;
  bool failed_ = false;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_MEMORY_FAILING_DEVICE_H_
