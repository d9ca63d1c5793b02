// A device that fails when it is told to: the n-th call that needs room does.

#ifndef PACKSMITH_TESTS_MEMORY_FAILING_DEVICE_H_
#define PACKSMITH_TESTS_MEMORY_FAILING_DEVICE_H_

#include "runtime/memory/device.h"

namespace packsmith::gpu {

class FailingDevice : public Device {
 public:
  explicit FailingDevice(Device& device) : device_(device) {}

  // So many calls from now one fails; negative: none does.
  void FailAfter(int calls) { left_ = calls; }
  bool failed() const { return failed_; }

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
  absl::Status Destroy(MemoryId memory) override { return device_.Destroy(memory); }
  absl::Status Unbind(uint32_t space, uint64_t address, uint64_t size) override {
    return device_.Unbind(space, address, size);
  }
  absl::StatusOr<Fence> Submit(const Job& job) override { return device_.Submit(job); }
  absl::StatusOr<bool> Wait(Fence fence, absl::Duration timeout) override {
    return device_.Wait(fence, timeout);
  }

 private:
  static absl::Status Full() { return absl::InternalError("told to fail"); }
  bool Fails() {
    const bool fails = left_ == 0;
    if (left_ >= 0) --left_;
    failed_ |= fails;
    return fails;
  }

  Device& device_;
  int left_ = -1;
  bool failed_ = false;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_MEMORY_FAILING_DEVICE_H_
