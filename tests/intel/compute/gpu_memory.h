// A GPU's memory whose addresses fit 32 bits, so that offsets from bases of 0 are addresses.
#ifndef PACKSMITH_TESTS_INTEL_COMPUTE_GPU_MEMORY_H_
#define PACKSMITH_TESTS_INTEL_COMPUTE_GPU_MEMORY_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/host_device.h"
#include "runtime/memory/state_pool.h"
#include "runtime/memory/state_stream.h"
#include "runtime/memory/zones.h"
#include "runtime/sim/memory_access.h"

namespace packsmith::intel {

template <class T>
T Must(absl::StatusOr<T> result) {
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : T();
}

inline constexpr gpu::ZoneRow kLowZones[] = {
    {.name = "low", .begin = 1 << 20, .size = uint64_t{1} << 31},
    {.name = "batches", .begin = uint64_t{1} << 33, .size = uint64_t{1} << 31},
};

class GpuMemory : public sim::MemoryAccess {
 public:
  GpuMemory()
      : device(Must(gpu::HostDevice::Create(gpu::HostDevice::Options()))),
        space(Must(gpu::AddressSpace::Create(Must(gpu::LayOutZones(kLowZones, {}))))),
        buffers(gpu::Buffers::Create(*device, *space, {.cache_bytes = 0, .largest_shared = 0})),
        low(Must(space->FindZone("low"))),
        pool(Must(gpu::StatePool::Create(*buffers, *space, {.zone = low, .base = 0}))),
        states(*pool, 4096),
        chunks(*buffers, {.zone = Must(space->FindZone("batches"))}) {}

  size_t Read(uint32_t space_number, uint64_t at, absl::Span<uint8_t> out) const override {
    return InPages(at, out, [&](uint64_t from, absl::Span<uint8_t> piece) {
      return device->Read(space_number, from, piece).ok();
    });
  }
  size_t Write(uint32_t space_number, uint64_t at, absl::Span<const uint8_t> bytes) override {
    return InPages(at, bytes, [&](uint64_t to, absl::Span<const uint8_t> piece) {
      return device->Write(space_number, to, piece).ok();
    });
  }

  std::unique_ptr<gpu::HostDevice> device;
  std::unique_ptr<gpu::AddressSpace> space;
  std::unique_ptr<gpu::Buffers> buffers;
  gpu::ZoneId low;
  std::unique_ptr<gpu::StatePool> pool;
  gpu::StateStream states;
  gpu::BufferChunks chunks;

 private:
  // The bytes before the first page that cannot be accessed.
  template <class T, class Access>
  static size_t InPages(uint64_t at, absl::Span<T> bytes, const Access& access) {
    size_t done = 0;
    while (done < bytes.size()) {
      const size_t page = std::min<size_t>(bytes.size() - done, 4096 - (at + done) % 4096);
      if (!access(at + done, bytes.subspan(done, page))) break;
      done += page;
    }
    return done;
  }
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_COMPUTE_GPU_MEMORY_H_
