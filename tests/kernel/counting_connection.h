// A connection to a mock kernel that counts what calls have made and not ended again.
#ifndef PACKSMITH_TESTS_KERNEL_COUNTING_CONNECTION_H_
#define PACKSMITH_TESTS_KERNEL_COUNTING_CONNECTION_H_

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/kernel/uapi/drm.h"
#include "tests/kernel/mock_connection.h"

namespace packsmith::gpu {

class CountingConnection : public MockConnection {
 public:
  // A call that makes something, and the one that ends it.
  struct Pair {
    uint32_t makes, ends;
  };
  // Synchronization objects are always counted.
  CountingConnection(capture::MockKernel& kernel, capture::MockDevice& device, Injector* injector,
                     std::vector<Pair> pairs)
      : MockConnection(kernel, device, injector), pairs_(std::move(pairs)) {
    pairs_.push_back({uapi::drm::kSyncobjCreate, uapi::drm::kSyncobjDestroy});
  }

  int Ioctl(uint32_t request, void* argument) override {
    const int result = MockConnection::Ioctl(request, argument);
    MutexLock lock(mutex_);
    ++calls_[request];
    if (result < 0) return result;
    for (const Pair& pair : pairs_) {
      if (request == pair.makes) ++live_[pair.makes];
      if (request == pair.ends) --live_[pair.makes];
    }
    return result;
  }

  // Of what that call makes.
  int live(uint32_t makes) const {
    MutexLock lock(mutex_);
    const auto found = live_.find(makes);
    return found == live_.end() ? 0 : found->second;
  }
  int calls(uint32_t request) const {
    MutexLock lock(mutex_);
    const auto found = calls_.find(request);
    return found == calls_.end() ? 0 : found->second;
  }

 private:
  std::vector<Pair> pairs_;
  mutable Mutex mutex_;
  std::map<uint32_t, int> live_, calls_;
};

// The number of this process's descriptors.
inline size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_KERNEL_COUNTING_CONNECTION_H_
