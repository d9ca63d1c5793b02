// An I915Device on a mock kernel, and batches for it.
#ifndef PACKSMITH_TESTS_KERNEL_I915_RIG_H_
#define PACKSMITH_TESTS_KERNEL_I915_RIG_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/base/mutex.h"
#include "runtime/generations/generations.h"
#include "runtime/kernel/i915/i915_device.h"
#include "runtime/kernel/uapi/drm.h"
#include "runtime/kernel/uapi/i915.h"
#include "runtime/tables/tables.h"
#include "tests/capture/i915/client.h"
#include "tests/kernel/mock_connection.h"
#include "tests/sim/visibility/packets.h"

namespace packsmith::gpu {

// What calls have made in the kernel and not destroyed. Thread-safe.
struct Counts {
  Mutex mutex;
  int objects = 0, syncobjs = 0, contexts = 0, spaces = 0;
  std::vector<uint32_t> cachings;  // of SET_CACHING, in order

  void Note(uint32_t request, const void* argument) {
    namespace api = uapi::i915;
    MutexLock lock(mutex);
    if (request == api::kGemCreate || request == api::kGemCreateExt ||
        request == api::kGemUserptr) {
      ++objects;
    }
    if (request == uapi::drm::kGemClose) --objects;
    if (request == uapi::drm::kSyncobjCreate) ++syncobjs;
    if (request == uapi::drm::kSyncobjDestroy) --syncobjs;
    if (request == api::kGemContextCreateExt) ++contexts;
    if (request == api::kGemContextDestroy) --contexts;
    if (request == api::kGemVmCreate) ++spaces;
    if (request == api::kGemSetCaching) {
      cachings.push_back(static_cast<const api::gem_caching*>(argument)->caching);
    }
  }
};

struct RigOptions {
  Injector* injector = nullptr;
  Counts* counts = nullptr;
  // Of GETPARAM: values in place of the mock's, for older kernels.
  std::vector<std::pair<int32_t, int32_t>> params = {};
};

class I915Connection : public MockConnection {
 public:
  I915Connection(capture::Machine& machine, RigOptions options)
      : MockConnection(machine.kernel, *machine.device, options.injector),
        options_(std::move(options)) {}
  ~I915Connection() override { EXPECT_EQ(maps(), 0u); }

  int Ioctl(uint32_t request, void* argument) override {
    const int result = MockConnection::Ioctl(request, argument);
    if (result < 0) return result;
    if (options_.counts != nullptr) options_.counts->Note(request, argument);
    if (request == uapi::i915::kGetparam) {
      const auto& args = *static_cast<uapi::i915::getparam*>(argument);
      for (const auto& [param, value] : options_.params) {
        if (args.param == param) *reinterpret_cast<int32_t*>(args.value) = value;
      }
    }
    return result;
  }

 private:
  const RigOptions options_;
};

inline absl::StatusOr<std::unique_ptr<I915Device>> OpenOn(capture::Machine& machine,
                                                          RigOptions options = {}) {
  return I915Device::Open(std::make_unique<I915Connection>(machine, std::move(options)), {});
}

// A piece of memory at an address.
struct Placed {
  MemoryId memory = {};
  uint64_t address = 0;
  absl::Span<uint8_t> bytes;

  uint32_t Word(size_t index) const {
    uint32_t word = 0;
    std::memcpy(&word, bytes.data() + index * 4, 4);
    return word;
  }
  void SetWord(size_t index, uint32_t word) const {
    std::memcpy(bytes.data() + index * 4, &word, 4);
  }
  Resident AsResident(bool written = false) const {
    return {.memory = memory, .address = address, .written = written, .size = bytes.size()};
  }
};

class Rig {
 public:
  explicit Rig(absl::string_view name, RigOptions options = {}) : machine(name) {
    auto opened = OpenOn(machine, std::move(options));
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (opened.ok()) device = *std::move(opened);
  }

  uint64_t page() const { return device->properties().page; }
  Placed Place(uint64_t address, MemoryOptions options = {}, uint32_t space = 0) {
    if (options.size == 0) options.size = page();
    Placed placed = {.memory = {}, .address = address, .bytes = {}};
    const auto memory = device->Create(options);
    EXPECT_TRUE(memory.ok()) << memory.status();
    if (!memory.ok()) return placed;
    placed.memory = *memory;
    if (CpuCanSee(options.heap)) {
      const auto mapped = device->Map(*memory);
      EXPECT_TRUE(mapped.ok()) << mapped.status();
      if (mapped.ok()) placed.bytes = *mapped;
    }
    const absl::Status bound =
        device->Bind({.space = space, .address = address, .size = options.size, .memory = *memory});
    EXPECT_TRUE(bound.ok()) << bound;
    return placed;
  }
  bool WaitFor(Fence fence) {
    const auto done = device->Wait(fence, absl::Seconds(20));
    EXPECT_TRUE(done.ok()) << done.status();
    return done.ok() && *done;
  }

  // A store of 32 bits, in the form of the device's generation.
  std::vector<uint32_t> Store(uint64_t address, uint32_t value) const {
    const auto low = static_cast<uint32_t>(address), high = static_cast<uint32_t>(address >> 32);
    if (machine.info.version_x10 < 80) return {0x10000002, 0, low, value};
    return {0x10000002, low, high, value};
  }
  // Writes packets, and what ends a batch.
  void Put(const Placed& batch, const std::vector<std::vector<uint32_t>>& packets) const {
    const auto tables = FindGeneration(machine.info.generation);
    ASSERT_TRUE(tables.ok());
    size_t at = 0;
    for (const std::vector<uint32_t>& packet : packets) {
      for (const uint32_t word : packet) batch.SetWord(at++, word);
    }
    for (const uint32_t word : sim::Packet(*tables, "MI_BATCH_BUFFER_END", {})) {
      batch.SetWord(at++, word);
    }
  }

  capture::Machine machine;
  std::unique_ptr<I915Device> device;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_KERNEL_I915_RIG_H_
