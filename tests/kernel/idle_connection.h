// A connection whose calls that submit and wait succeed at once, without memory: what is then
// allocated is the device's doing.
#ifndef PACKSMITH_TESTS_KERNEL_IDLE_CONNECTION_H_
#define PACKSMITH_TESTS_KERNEL_IDLE_CONNECTION_H_

#include <cerrno>
#include <cstdint>

#include "gtest/gtest.h"
#include "runtime/kernel/uapi/asahi.h"
#include "runtime/kernel/uapi/drm.h"
#include "runtime/kernel/uapi/i915.h"
#include "runtime/kernel/uapi/xe.h"
#include "tests/kernel/mock_connection.h"

namespace packsmith::gpu {

class IdleConnection : public MockConnection {
 public:
  // While `idle` is false, calls go to the mock kernel.
  IdleConnection(capture::MockKernel& kernel, capture::MockDevice& device, const bool& idle)
      : MockConnection(kernel, device), idle_(idle) {}

  int Ioctl(uint32_t request, void* argument) override {
    if (!idle_) return MockConnection::Ioctl(request, argument);
    switch (request) {
      case uapi::i915::kGemExecbuffer2:
      case uapi::xe::kExec:
      case uapi::asahi::kSubmit:
      case uapi::drm::kSyncobjWait:
        return 0;
      case uapi::drm::kSyncobjHandleToFd:
        static_cast<uapi::drm::syncobj_handle*>(argument)->fd = -1;
        return 0;
      default:
        ADD_FAILURE() << "another call: " << request;
        return -EINVAL;
    }
  }
  int IoctlOn(int fd, uint32_t request, void* argument) override {
    if (!idle_) return MockConnection::IoctlOn(fd, request, argument);
    static_cast<uapi::drm::sync_file_info*>(argument)->status = 1;
    return 0;
  }

 private:
  const bool& idle_;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_KERNEL_IDLE_CONNECTION_H_
