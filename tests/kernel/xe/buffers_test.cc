// Buffers on the device: pages of its size, heaps of its kind, jobs with the list of what is used.
#include "runtime/memory/buffers.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/residency.h"
#include "runtime/memory/zones.h"
#include "tests/kernel/xe/machine.h"

namespace packsmith::gpu {
namespace {

using ::testing::IsEmpty;

constexpr ZoneRow kZones[] = {{.name = "all", .begin = kGiB, .size = 64 * kGiB}};

class BuffersOnXe : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, BuffersOnXe,
                         ::testing::Values("tgl", "dg2", "mtl", "lnl", "bmg", "ptl"));

TEST_P(BuffersOnXe, AJobStoresToBuffersOfAllHeaps) {
  Machine machine(GetParam());
  machine.Execute();
  const auto device = machine.Open();
  const unsigned bits = device->properties().address_bits;
  const auto space = *AddressSpace::Create(*LayOutZones(kZones, {.top = uint64_t{1} << bits}),
                                           {.address_bits = bits});
  const auto buffers = Buffers::Create(*device, *space, {});
  const ZoneId zone = *space->FindZone("all");
  const auto create = [&](Heap heap, uint64_t size) {
    const auto buffer = buffers->Create({.size = size, .zone = zone, .heap = heap});
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    return *buffer;
  };
  Residency residency(*buffers);
  const Buffer batch = create(Heap::kSystem, 4096);
  ASSERT_TRUE(residency.Add(batch.handle, /*written=*/false).ok());
  std::vector<Buffer> stored;
  std::vector<uint32_t> words;
  for (int i = 0; i < kHeaps; ++i) {
    if (!device->properties().has_heap[i] || !CpuCanSee(static_cast<Heap>(i))) continue;
    // Small ones share memory; large ones have their own.
    for (const uint64_t size : {uint64_t{64}, uint64_t{100'000}, 3 * kMiB}) {
      stored.push_back(create(static_cast<Heap>(i), size));
      ASSERT_TRUE(residency.Add(stored.back().handle, /*written=*/true).ok());
      const uint64_t last = stored.back().address + stored.back().size - 4;
      for (const uint32_t word : machine.packets.Store(last, 1000u + stored.size())) {
        words.push_back(word);
      }
    }
  }
  for (const uint32_t word : sim::Packet(machine.packets.tables(), "MI_BATCH_BUFFER_END", {})) {
    words.push_back(word);
  }
  std::memcpy(batch.cpu, words.data(), 4 * words.size());
  const auto fence = device->Submit({.batch_address = batch.address,
                                     .batch_length = 4 * words.size(),
                                     .residents = residency.residents()});
  ASSERT_TRUE(fence.ok()) << fence.status();
  ASSERT_TRUE(buffers->Use(residency.handles(), *fence).ok());
  const auto done = device->Wait(*fence, absl::Seconds(60));
  ASSERT_TRUE(done.ok()) << done.status();
  for (size_t i = 0; i < stored.size(); ++i) {
    uint32_t value = 0;
    std::memcpy(&value, stored[i].cpu + stored[i].size - 4, sizeof(value));
    EXPECT_EQ(value, 1001u + i);
    EXPECT_TRUE(buffers->Release(stored[i].handle).ok());
  }
  EXPECT_THAT(machine.seen.warnings, IsEmpty());
}

}  // namespace
}  // namespace packsmith::gpu
