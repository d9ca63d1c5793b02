// A mock kernel with one GPU of a driver, and Devices on it; the test chooses when work is done.
#ifndef PACKSMITH_TESTS_KERNEL_MEMORY_MACHINE_H_
#define PACKSMITH_TESTS_KERNEL_MEMORY_MACHINE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/base/mutex.h"
#include "runtime/capture/asahi/asahi.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/drm/kernel.h"
#include "runtime/capture/i915/i915.h"
#include "runtime/capture/xe/xe.h"
#include "runtime/kernel/asahi/asahi_device.h"
#include "runtime/kernel/drm/drm_device.h"
#include "runtime/kernel/i915/i915_device.h"
#include "runtime/kernel/uapi/asahi.h"
#include "runtime/kernel/uapi/drm.h"
#include "runtime/kernel/uapi/i915.h"
#include "runtime/kernel/uapi/xe.h"
#include "runtime/kernel/xe/xe_device.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "tests/kernel/mock_connection.h"

namespace packsmith::gpu {

struct Gpu {
  const char* driver;
  const char* name;
};
inline std::ostream& operator<<(std::ostream& out, const Gpu& gpu) {
  return out << gpu.driver << "_" << gpu.name;
}

// What calls have made and not ended again. Outlives the connection. Thread-safe.
struct Live {
  Mutex mutex;
  int objects = 0, syncobjs = 0, maps = 0;
  std::map<uint32_t, int> calls;  // by request
  int asked = 0;                  // calls, also those that failed
  bool is_coherent = true;        // else i915 refuses memory that looks into the CPU's caches
  bool purges = false;            // i915 takes what is not needed
  // The error of a call that is not made; 0: it is made.
  std::function<int(uint32_t request)> refuse = [](uint32_t) { return 0; };
  // How the last call that says it has memory mapped. Empty: none has said it.
  std::optional<CpuView> view;

  bool none() {
    MutexLock lock(mutex);
    return objects == 0 && syncobjs == 0 && maps == 0;
  }
  int made(uint32_t request) {
    MutexLock lock(mutex);
    return calls[request];
  }
};

class LiveConnection : public MockConnection {
 public:
  LiveConnection(capture::MockKernel& kernel, capture::MockDevice& device, Injector* injector,
                 Live& live)
      : MockConnection(kernel, device, injector), live_(live) {}
  ~LiveConnection() override { live_.maps += static_cast<int>(maps()); }

  int Ioctl(uint32_t request, void* argument) override {
    if (request == uapi::i915::kGemSetCaching && !live_.is_coherent &&
        static_cast<uapi::i915::gem_caching*>(argument)->caching == uapi::i915::kCachingCached) {
      return -ENODEV;
    }
    {
      MutexLock lock(live_.mutex);
      ++live_.asked;
    }
    if (const int error = live_.refuse(request); error != 0) return -error;
    const int result = MockConnection::Ioctl(request, argument);
    if (result < 0) return result;
    MutexLock lock(live_.mutex);
    NoteView(request, argument);
    if (request == uapi::i915::kGemMadvise && live_.purges) {
      static_cast<uapi::i915::gem_madvise*>(argument)->retained = 0;
    }
    ++live_.calls[request];
    if (request == uapi::i915::kGemCreate || request == uapi::i915::kGemCreateExt ||
        request == uapi::xe::kGemCreate || request == uapi::asahi::kGemCreate) {
      ++live_.objects;
    }
    if (request == uapi::drm::kGemClose) --live_.objects;
    if (request == uapi::drm::kSyncobjCreate) ++live_.syncobjs;
    if (request == uapi::drm::kSyncobjFdToHandle &&
        static_cast<uapi::drm::syncobj_handle*>(argument)->flags == 0) {
      ++live_.syncobjs;  // another file's, all of it
    }
    if (request == uapi::drm::kSyncobjDestroy) --live_.syncobjs;
    return result;
  }

 private:
  void NoteView(uint32_t request, const void* argument) {
    const auto set = [this](bool cached) {
      live_.view = cached ? CpuView::kCached : CpuView::kWriteCombined;
    };
    if (request == uapi::i915::kGemMmapOffset) {
      const uint64_t flags = static_cast<const uapi::i915::gem_mmap_offset*>(argument)->flags;
      if (flags == uapi::i915::kMmapOffsetWb) set(true);
      if (flags == uapi::i915::kMmapOffsetWc) set(false);
    }
    if (request == uapi::xe::kGemCreate) {
      set(static_cast<const uapi::xe::gem_create*>(argument)->cpu_caching == uapi::xe::kCachingWb);
    }
    if (request == uapi::asahi::kGemCreate) {
      const auto* const create = static_cast<const uapi::asahi::gem_create*>(argument);
      set((create->flags & uapi::asahi::kGemWriteback) != 0);
    }
  }

  Live& live_;
};

class KernelOf {
 public:
  explicit KernelOf(Gpu gpu, capture::Executor* executor = nullptr) : driver_(gpu.driver) {
    const auto found = capture::FindDevice(gpu.name);
    EXPECT_TRUE(found.ok()) << found.status();
    info_ = *found->device;
    if (found->pci_id != 0) info_.pci_id = found->pci_id;
    kernel.set_executor(executor);
    // Work that waits does so until the test says otherwise.
    kernel.set_patience(std::numeric_limits<int64_t>::max());
    device_ = &kernel.Add(driver_ == "i915" ? capture::MakeI915(kernel, info_)
                          : driver_ == "xe" ? capture::MakeXe(kernel, info_)
                                            : capture::MakeAsahi(kernel, info_));
  }

  const capture::DeviceInfo& info() const { return info_; }
  capture::MockDevice& device() { return *device_; }
  std::unique_ptr<DrmDevice> Open(Live& live, Injector* injector = nullptr) {
    auto opened = TryOpen(live, injector);
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  absl::StatusOr<std::unique_ptr<DrmDevice>> TryOpen(Live& live, Injector* injector) {
    return OpenOn(std::make_unique<LiveConnection>(kernel, *device_, injector, live));
  }
  // On a connection of the test's own to device().
  absl::StatusOr<std::unique_ptr<DrmDevice>> OpenOn(std::unique_ptr<Connection> connection) {
    if (driver_ == "i915") return I915Device::Open(std::move(connection), {});
    if (driver_ == "xe") return XeDevice::Open(std::move(connection));
    return AsahiDevice::Open(std::move(connection));
  }

  capture::MockKernel kernel;

 private:
  const std::string driver_;
  capture::DeviceInfo info_;
  capture::MockDevice* device_ = nullptr;
};

// Buffers on a device, in one zone.
struct BuffersOn {
  explicit BuffersOn(Device& its_device, uint64_t page, Buffers::Options options = {})
      : device(its_device),
        addresses(*AddressSpace::Create({{"all", 16 * kMiB, 16 * kMiB + 256 * kMiB}})) {
    options.page = page;
    buffers = Buffers::Create(device, *addresses, options);
  }
  Buffer Must(const BufferOptions& options) {
    const auto buffer = buffers->Create(options);
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    return buffer.ok() ? *buffer : Buffer{};
  }

  static constexpr ZoneId kAll{0};
  Device& device;
  std::unique_ptr<AddressSpace> addresses;
  std::unique_ptr<Buffers> buffers;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_KERNEL_MEMORY_MACHINE_H_
