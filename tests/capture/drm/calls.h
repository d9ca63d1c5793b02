// Calls on a file of a mock kernel, from this process.
#ifndef PACKSMITH_TESTS_CAPTURE_DRM_CALLS_H_
#define PACKSMITH_TESTS_CAPTURE_DRM_CALLS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "tests/capture/drm/test_device.h"

namespace packsmith::capture {

// One device, one file of it, and the structures of calls as arguments.
class Client {
 public:
  explicit Client(MockKernel& kernel, int minor = 128) : file(kernel.Open(minor)) {}

  template <typename T>
  Result Call(uint32_t request, T& argument) {
    return file->Ioctl(caller, request, reinterpret_cast<uint64_t>(&argument));
  }

  uint32_t Syncobj(uint32_t flags = 0) {
    uapi::drm::syncobj_create create = {.handle = 0, .flags = flags};
    return Call(uapi::drm::kSyncobjCreate, create) == 0 ? create.handle : 0;
  }
  // Of `size` bytes; 0: it failed.
  uint32_t Object(uint64_t size) {
    CreateArgs create = {.size = size, .handle = 0, .pad = 0, .map_offset = 0};
    return Call(kTestCreate, create) == 0 ? create.handle : 0;
  }
  Result Submit(uint32_t queue, uint32_t object, uint32_t wait = 0, uint32_t signal = 0) {
    SubmitArgs submit = {.queue = queue, .object = object, .wait = wait, .signal = signal};
    return Call(kTestSubmit, submit);
  }
  // Waits for all of one handle; `timeout` is from now, in nanoseconds.
  Result Wait(uint32_t handle, int64_t timeout, uint32_t flags = 1) {
    uapi::drm::syncobj_wait wait = {};
    wait.handles = reinterpret_cast<uint64_t>(&handle);
    wait.count_handles = 1;
    wait.flags = flags;
    wait.timeout_nsec = timeout == 0 ? 0 : MonotonicNow() + timeout;
    return Call(uapi::drm::kSyncobjWait, wait);
  }
  Result SignalPoint(uint32_t handle, uint64_t point) {
    uapi::drm::syncobj_timeline_array signal = {};
    signal.handles = reinterpret_cast<uint64_t>(&handle);
    signal.points = reinterpret_cast<uint64_t>(&point);
    signal.count_handles = 1;
    return Call(uapi::drm::kSyncobjTimelineSignal, signal);
  }
  Result WaitPoint(uint32_t handle, uint64_t point, uint32_t flags) {
    uapi::drm::syncobj_timeline_wait wait = {};
    wait.handles = reinterpret_cast<uint64_t>(&handle);
    wait.points = reinterpret_cast<uint64_t>(&point);
    wait.count_handles = 1;
    wait.flags = flags;
    return Call(uapi::drm::kSyncobjTimelineWait, wait);
  }
  // The timeline's last point that is reached, or that was added.
  uint64_t Query(uint32_t handle, uint32_t flags = 0) {
    uint64_t point = ~uint64_t{0};
    uapi::drm::syncobj_timeline_array query = {};
    query.handles = reinterpret_cast<uint64_t>(&handle);
    query.points = reinterpret_cast<uint64_t>(&point);
    query.count_handles = 1;
    query.flags = flags;
    return Call(uapi::drm::kSyncobjQuery, query) == 0 ? point : ~uint64_t{0};
  }
  // A descriptor, or a negative errno.
  int ExportObject(uint32_t handle) {
    uapi::drm::prime_handle prime = {.handle = handle, .flags = 0x80002, .fd = -1};
    const Result bad = Call(uapi::drm::kPrimeHandleToFd, prime);
    return bad != 0 ? bad : prime.fd;
  }
  // A handle; 0: it failed.
  uint32_t ImportObject(int fd) {
    uapi::drm::prime_handle prime = {.handle = 0, .flags = 0, .fd = fd};
    return Call(uapi::drm::kPrimeFdToHandle, prime) == 0 ? prime.handle : 0;
  }
  int ExportSyncobj(uint32_t handle, uint32_t flags) {
    uapi::drm::syncobj_handle convert = {};
    convert.handle = handle;
    convert.flags = flags;
    const Result bad = Call(uapi::drm::kSyncobjHandleToFd, convert);
    return bad != 0 ? bad : convert.fd;
  }
  Result ImportSyncobj(int fd, uint32_t flags, uint32_t& handle) {
    uapi::drm::syncobj_handle convert = {};
    convert.handle = handle;
    convert.flags = flags;
    convert.fd = fd;
    const Result result = Call(uapi::drm::kSyncobjFdToHandle, convert);
    handle = convert.handle;
    return result;
  }

  OwnCaller caller;
  std::shared_ptr<File> file;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_TESTS_CAPTURE_DRM_CALLS_H_
