// Submissions made by hand: objects, what is mapped where, and works on it.
#ifndef PACKSMITH_TESTS_CAPTURE_EXECUTE_WORKS_H_
#define PACKSMITH_TESTS_CAPTURE_EXECUTE_WORKS_H_

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/drm/file.h"
#include "runtime/capture/drm/kernel.h"
#include "runtime/capture/drm/object.h"
#include "runtime/capture/drm/work.h"
#include "runtime/generations/generations.h"
#include "runtime/tables/tables.h"
#include "tests/sim/visibility/packets.h"

namespace packsmith::capture {

// A device without calls of its own.
class PlainDevice : public MockDevice {
 public:
  using MockDevice::MockDevice;
  Version version() const override { return {"plain", 1, 0, 0, "20260101", ""}; }
  std::shared_ptr<File> MakeFile(uint64_t, bool) override { return nullptr; }
};

// A buffer and where it is mapped.
struct Placed {
  std::shared_ptr<Object> object;
  uint64_t address = 0;

  uint32_t* words() const { return reinterpret_cast<uint32_t*>(object->memory()->bytes().data()); }
  uint64_t Read64(uint64_t offset) const {
    uint64_t value = 0;
    std::memcpy(&value, object->memory()->bytes().data() + offset, sizeof(value));
    return value;
  }
};

class Works {
 public:
  explicit Works(absl::string_view device)
      : info_(*FindDevice(device)->device),
        device_(kernel_, info_),
        tables_(*FindGeneration(info_.generation)) {}

  const DeviceInfo& info() const { return info_; }
  const tables::Tables& tables() const { return tables_; }
  AddressMap& map() { return map_; }

  std::shared_ptr<Object> MakeObject(uint64_t size, std::string name = "") {
    auto object = std::make_shared<Object>(device_, ++objects_, SharedMemory::Create(size, "test"),
                                           (size + 4095) / 4096 * 4096);
    object->name = std::move(name);
    return object;
  }
  // Memory of a process.
  std::shared_ptr<Object> MakeUserObject(std::shared_ptr<const UserMemory> memory, uint64_t address,
                                         uint64_t size) {
    return std::make_shared<Object>(device_, ++objects_, std::move(memory), address, size);
  }
  // A new object of that size, all of it mapped.
  Placed Place(uint64_t address, uint64_t size = 4096, std::string name = "") {
    Placed placed{MakeObject(size, std::move(name)), address};
    map_.Map({.address = address, .size = placed.object->size(), .object = placed.object});
    return placed;
  }

  // A work with what is mapped now.
  Work Make(uint64_t batch, absl::string_view engine = "render") {
    Work work;
    work.number = ++works_;
    work.device = &info_;
    work.interface = "i915";
    work.pid = 42;
    work.process = "test";
    work.context = 1;
    work.engine = std::string(engine);
    work.engine_class = engine == "copy" ? 1 : engine == "video" ? 2 : engine == "render" ? 0 : 3;
    work.memory = std::make_shared<AddressMap>(map_);
    work.streams.push_back({.address = batch});
    return work;
  }
  // Writes the packets to the buffer and makes a work whose batch they are.
  Work Batch(const Placed& batch, const std::vector<std::vector<uint32_t>>& packets,
             absl::string_view engine = "render") {
    Put(batch, 0, packets);
    return Make(batch.address, engine);
  }
  // Writes packets, and what ends a batch.
  void Put(const Placed& batch, uint64_t offset,
           const std::vector<std::vector<uint32_t>>& packets) const {
    uint32_t* at = batch.words() + offset / 4;
    for (const std::vector<uint32_t>& packet : packets) {
      for (const uint32_t word : packet) *at++ = word;
    }
    for (const uint32_t word : sim::Packet(tables_, "MI_BATCH_BUFFER_END", {})) *at++ = word;
  }

  // ---- Packets ----

  std::vector<uint32_t> Store(uint64_t address, uint32_t value) const {
    // Before Gfx8 the address is one dword, after a reserved one.
    if (info_.version_x10 < 80) return {0x10000002, 0, static_cast<uint32_t>(address), value};
    return {0x10000002, static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32),
            value};
  }
  std::vector<uint32_t> Jump(uint64_t address, bool second_level = false) const {
    std::vector<sim::FieldValue> values = {{"Batch Buffer Start Address", address},
                                           {"Address Space Indicator", 1}};
    if (second_level) values.push_back({"Second Level Batch Buffer", 1});
    return sim::Packet(tables_, "MI_BATCH_BUFFER_START", values);
  }
  std::vector<uint32_t> LoadRegister(uint32_t offset, uint32_t value) const {
    return sim::Packet(tables_, "MI_LOAD_REGISTER_IMM",
                       {{"Register Offset", offset}, {"Data DWord", value}});
  }
  std::vector<uint32_t> StoreRegister(uint32_t offset, uint64_t address) const {
    return sim::Packet(tables_, "MI_STORE_REGISTER_MEM",
                       {{"Register Address", offset}, {"Memory Address", address}});
  }
  std::vector<uint32_t> Copy(uint64_t to, uint64_t from) const {
    return sim::Packet(tables_, "MI_COPY_MEM_MEM",
                       {{"Destination Memory Address", to}, {"Source Memory Address", from}});
  }
  // Until the dword at the address is at least `value`.
  std::vector<uint32_t> Wait(uint64_t address, uint32_t value) const {
    return sim::Packet(tables_, "MI_SEMAPHORE_WAIT",
                       {{"Semaphore Address", address},
                        {"Semaphore Data Dword", value},
                        {"Compare Operation", 1},
                        {"Wait Mode", 1}});
  }
  // A post-sync write: 1 an immediate value, 3 the time.
  std::vector<uint32_t> PostSync(uint32_t operation, uint64_t address, uint64_t value = 0) const {
    return sim::Packet(tables_, "PIPE_CONTROL",
                       {{"Post Sync Operation", operation},
                        {"Address", address},
                        {"Immediate Data", value},
                        {"Command Streamer Stall Enable", 1}});
  }

 private:
  const DeviceInfo& info_;
  MockKernel kernel_;
  PlainDevice device_;
  const tables::Tables tables_;
  AddressMap map_;
  uint64_t objects_ = 0, works_ = 0;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_TESTS_CAPTURE_EXECUTE_WORKS_H_
