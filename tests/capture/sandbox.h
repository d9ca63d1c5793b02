// A program whose memory is a few pages, for calls with arbitrary pointers.
#ifndef PACKSMITH_TESTS_CAPTURE_SANDBOX_H_
#define PACKSMITH_TESTS_CAPTURE_SANDBOX_H_

#include <fcntl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/types/span.h"
#include "runtime/capture/drm/caller.h"

namespace packsmith::capture {

// [kBegin, kBegin + size) is mapped, and nothing else. Thread-safe.
class SandboxMemory : public UserMemory {
 public:
  static constexpr uint64_t kBegin = 0x10000;

  explicit SandboxMemory(uint64_t size) : bytes(size) {}

  bool Read(uint64_t address, absl::Span<uint8_t> out) const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!Holds(address, out.size())) return false;
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(address - kBegin), out.size(), out.begin());
    return true;
  }
  bool Write(uint64_t address, absl::Span<const uint8_t> from) const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!Holds(address, from.size())) return false;
    std::copy(from.begin(), from.end(), bytes.begin() + static_cast<ptrdiff_t>(address - kBegin));
    return true;
  }

  mutable std::vector<uint8_t> bytes;

 private:
  bool Holds(uint64_t address, uint64_t size) const {
    return address >= kBegin && size <= bytes.size() && address - kBegin <= bytes.size() - size;
  }
  mutable std::mutex mutex_;
};

class SandboxCaller : public Caller {
 public:
  explicit SandboxCaller(std::shared_ptr<SandboxMemory> memory)
      : Caller(getpid(), "sandbox", std::move(memory)) {}

  Result Install(UniqueFd fd, bool) override {
    installed.push_back(std::move(fd));
    return installed.back().get();
  }
  UniqueFd Take(int number) override { return UniqueFd(fcntl(number, F_DUPFD_CLOEXEC, 0)); }

  std::vector<UniqueFd> installed;
};

// How many descriptors this process has.
inline size_t CountDescriptors() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    (void)entry;
    ++count;
  }
  return count;
}

}  // namespace packsmith::capture

#endif  // PACKSMITH_TESTS_CAPTURE_SANDBOX_H_
