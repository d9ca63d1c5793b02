// A connection to a mock kernel in this process, whose calls can be made to fail.
#ifndef PACKSMITH_TESTS_KERNEL_MOCK_CONNECTION_H_
#define PACKSMITH_TESTS_KERNEL_MOCK_CONNECTION_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/base/mutex.h"
#include "runtime/base/unique_fd.h"
#include "runtime/capture/drm/caller.h"
#include "runtime/capture/drm/file.h"
#include "runtime/capture/drm/kernel.h"
#include "runtime/kernel/drm/connection.h"

namespace packsmith::gpu {

// Calls that fail, for all connections that have it. Thread-safe.
class Injector {
 public:
  // The call after `calls` others fails `times` times with `error`, without being made.
  void FailAfter(int calls, int error, int times = 1) {
    MutexLock lock(mutex_);
    left_ = calls;
    error_ = error;
    times_ = times;
  }
  void Stop() {
    MutexLock lock(mutex_);
    left_ = -1;
  }
  // Calls are made, and not counted, until Resume().
  void Pause() {
    MutexLock lock(mutex_);
    paused_ = true;
  }
  void Resume() {
    MutexLock lock(mutex_);
    paused_ = false;
  }
  // Whether a call has failed since FailAfter().
  bool failed() const {
    MutexLock lock(mutex_);
    return left_ >= 0 && failures_ != 0;
  }
  uint64_t calls() const {
    MutexLock lock(mutex_);
    return calls_;
  }
  // 0, or the negative of the errno.
  int Next() {
    MutexLock lock(mutex_);
    if (paused_) return 0;
    ++calls_;
    if (left_ < 0) return 0;
    if (left_ > 0) {
      --left_;
      failures_ = 0;
      return 0;
    }
    if (times_ == 0) return 0;
    --times_;
    ++failures_;
    return -error_;
  }

 private:
  mutable Mutex mutex_;
  int left_ = -1, error_ = 0, times_ = 0, failures_ = 0;
  uint64_t calls_ = 0;
  bool paused_ = false;
};

class MockConnection : public Connection {
 public:
  MockConnection(capture::MockKernel& kernel, capture::MockDevice& device,
                 Injector* injector = nullptr)
      : Connection("/dev/dri/mock"),
        kernel_(kernel),
        file_(kernel.Open(device.render_minor())),
        injector_(injector) {}

  int Ioctl(uint32_t request, void* argument) override {
    if (const int error = injector_ == nullptr ? 0 : injector_->Next(); error != 0) return error;
    return file_->Ioctl(caller_, request, reinterpret_cast<uint64_t>(argument));
  }
  int IoctlOn(int fd, uint32_t request, void* argument) override {
    if (const int error = injector_ == nullptr ? 0 : injector_->Next(); error != 0) return error;
    return kernel_.FdIoctl(caller_, UniqueFd(dup(fd)), request,
                           reinterpret_cast<uint64_t>(argument));
  }
  int Map(uint64_t offset, uint64_t size, uint8_t*& bytes) override {
    if (const int error = injector_ == nullptr ? 0 : injector_->Next(); error != 0) return error;
    capture::File::Mapped mapped;
    const int result = file_->Mmap(caller_, offset, size, mapped);
    if (result < 0) return result;
    bytes = mapped.memory->bytes().data() + mapped.offset;
    MutexLock lock(mutex_);
    maps_.emplace(bytes, std::move(mapped.memory));
    return 0;
  }
  void Unmap(uint8_t* bytes, uint64_t size) override {
    MutexLock lock(mutex_);
    const auto map = maps_.find(bytes);
    // Otherwise a call of the driver has mapped it.
    if (map == maps_.end()) {
      munmap(bytes, size);
    } else {
      maps_.erase(map);
    }
  }
  std::string sysfs() const override { return "/sys/mock"; }

  size_t maps() const {
    MutexLock lock(mutex_);
    return maps_.size();
  }

 private:
  capture::MockKernel& kernel_;
  const std::shared_ptr<capture::File> file_;
  Injector* const injector_;
  capture::OwnCaller caller_;
  mutable Mutex mutex_;
  std::multimap<uint8_t*, std::shared_ptr<capture::SharedMemory>> maps_;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_KERNEL_MOCK_CONNECTION_H_
