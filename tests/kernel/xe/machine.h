// A mock kernel with a device of the xe driver, and a Device on it.
#ifndef PACKSMITH_TESTS_KERNEL_XE_MACHINE_H_
#define PACKSMITH_TESTS_KERNEL_XE_MACHINE_H_

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "runtime/capture/execute/sim_executor.h"
#include "runtime/capture/xe/xe.h"
#include "runtime/kernel/uapi/xe.h"
#include "runtime/kernel/xe/xe_device.h"
#include "runtime/memory/device.h"
#include "tests/capture/execute/works.h"
#include "tests/capture/program.h"
#include "tests/kernel/counting_connection.h"

namespace packsmith::gpu {

// Memory that is bound, and mapped if the CPU can see it.
struct Place {
  MemoryId memory = {};
  uint64_t address = 0;
  absl::Span<uint8_t> bytes;

  uint32_t word(size_t index) const {
    uint32_t value = 0;
    std::memcpy(&value, bytes.data() + 4 * index, sizeof(value));
    return value;
  }
};

// Outlives the kernel.
struct HasExecutor {
  capture::SimExecutor executor;
};

// Nothing is executed: submissions are done at once. Execute() changes that.
struct Machine : HasExecutor, capture::MachineWith<&capture::MakeXe> {
  explicit Machine(absl::string_view name = "tgl") : MachineWith(name), packets(name) {}

  std::unique_ptr<CountingConnection> Connect(Injector* injector = nullptr) {
    namespace xe = uapi::xe;
    return std::make_unique<CountingConnection>(kernel, device, injector,
                                                std::vector<CountingConnection::Pair>{
                                                    {xe::kGemCreate, uapi::drm::kGemClose},
                                                    {xe::kVmCreate, xe::kVmDestroy},
                                                    {xe::kExecQueueCreate, xe::kExecQueueDestroy},
                                                });
  }
  std::unique_ptr<XeDevice> Open(XeDevice::Options options = {}) {
    auto opened = XeDevice::Open(Connect(), std::move(options));
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }
  // Batches are executed from now on.
  void Execute() { kernel.set_executor(&executor); }

  Place Make(Device& device, uint64_t address, Heap heap = Heap::kSystem, uint32_t space = 0,
             uint8_t use = kOrdinary) {
    Place place;
    place.address = address;
    const uint64_t size = static_cast<XeDevice&>(device).properties().page;
    const auto memory = device.Create({.size = size, .heap = heap, .use = use});
    EXPECT_TRUE(memory.ok()) << memory.status();
    place.memory = *memory;
    const absl::Status bound =
        device.Bind({.space = space, .address = address, .size = size, .memory = place.memory});
    EXPECT_TRUE(bound.ok()) << bound;
    if (CpuCanSee(heap)) {
      const auto bytes = device.Map(place.memory);
      EXPECT_TRUE(bytes.ok()) << bytes.status();
      place.bytes = *bytes;
    }
    return place;
  }
  // A batch that stores values and ends.
  struct Value {
    uint64_t address;
    uint32_t value;
  };
  void Write(const Place& batch, std::initializer_list<Value> values) const {
    std::vector<uint32_t> words;
    for (const Value& one : values) {
      for (const uint32_t word : packets.Store(one.address, one.value)) words.push_back(word);
    }
    for (const uint32_t word : sim::Packet(packets.tables(), "MI_BATCH_BUFFER_END", {})) {
      words.push_back(word);
    }
    std::memcpy(batch.bytes.data(), words.data(), 4 * words.size());
  }

  const capture::Works packets;
};

// A job of these; all but the batch are written.
struct PlacedJob {
  PlacedJob(const Place& batch, std::initializer_list<Place> others) {
    residents.push_back({.memory = batch.memory, .address = batch.address});
    for (const Place& other : others) {
      residents.push_back({.memory = other.memory, .address = other.address, .written = true});
    }
    job.batch_address = batch.address;
    job.residents = residents;
  }
  PlacedJob(const PlacedJob&) = delete;
  PlacedJob& operator=(const PlacedJob&) = delete;

  std::vector<Resident> residents;
  Job job;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_KERNEL_XE_MACHINE_H_
