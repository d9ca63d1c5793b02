// A GPU's memory for tests of bindings, in zones as one of the known drivers has them.
#ifndef PACKSMITH_TESTS_INTEL_BINDING_MEMORY_H_
#define PACKSMITH_TESTS_INTEL_BINDING_MEMORY_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/host_device.h"
#include "runtime/memory/state_pool.h"
#include "runtime/memory/zones.h"
#include "tests/memory/failing_device.h"

namespace packsmith::intel {

template <class T>
T Value(absl::StatusOr<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.status();
    return T();
  }
  return *std::move(result);
}

struct BindingMemory {
  BindingMemory(absl::Span<const gpu::ZoneRow> zones, unsigned verx10, absl::string_view generation)
      : host(Value(gpu::HostDevice::Create({.device = {.family = "intel",
                                                       .generation = std::string(generation),
                                                       .verx10 = static_cast<int32_t>(verx10)},
                                            // Most tests name no residents.
                                            .core_memory = gpu::CoreMemory::kBound}))),
        device(*host),
        space(Value(gpu::AddressSpace::Create(
            Value(gpu::LayOutZones(zones, {.verx10 = static_cast<int>(verx10)}))))),
        buffers(gpu::Buffers::Create(device, *space, {.cache_bytes = 0, .largest_shared = 0})) {}

  gpu::ZoneId Zone(absl::string_view name) const { return Value(space->FindZone(name)); }
  uint64_t Begin(absl::string_view name) const { return space->zone(Zone(name)).begin; }

  std::unique_ptr<gpu::StatePool> Pool(absl::string_view zone, uint64_t base) {
    return Value(gpu::StatePool::Create(
        *buffers, *space, {.zone = Zone(zone), .name = std::string(zone), .base = base}));
  }

  std::unique_ptr<gpu::HostDevice> host;
  gpu::FailingDevice device;
  std::unique_ptr<gpu::AddressSpace> space;
  std::unique_ptr<gpu::Buffers> buffers;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_BINDING_MEMORY_H_
