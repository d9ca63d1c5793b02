// A mock kernel with a device of the asahi driver, and a Device on it.
#ifndef PACKSMITH_TESTS_KERNEL_ASAHI_MACHINE_H_
#define PACKSMITH_TESTS_KERNEL_ASAHI_MACHINE_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "runtime/capture/asahi/asahi.h"
#include "runtime/kernel/asahi/asahi_device.h"
#include "runtime/kernel/uapi/asahi.h"
#include "runtime/memory/device.h"
#include "tests/capture/program.h"
#include "tests/kernel/counting_connection.h"

namespace packsmith::gpu {

inline constexpr uint64_t kPage = uapi::asahi::kPage;

// Memory that is bound and mapped.
struct Place {
  MemoryId memory = {};
  uint64_t address = 0;
  absl::Span<uint8_t> bytes;
};

template <auto kMake>
struct MachineOf : capture::MachineWith<kMake> {
  explicit MachineOf(absl::string_view name = "g13g") : capture::MachineWith<kMake>(name) {}

  std::unique_ptr<CountingConnection> Connect(Injector* injector = nullptr) {
    namespace asahi = uapi::asahi;
    return std::make_unique<CountingConnection>(this->kernel, this->device, injector,
                                                std::vector<CountingConnection::Pair>{
                                                    {asahi::kGemCreate, uapi::drm::kGemClose},
                                                    {asahi::kVmCreate, asahi::kVmDestroy},
                                                    {asahi::kQueueCreate, asahi::kQueueDestroy},
                                                });
  }
};

struct Machine : MachineOf<&capture::MakeAsahi> {
  using MachineOf::MachineOf;

  std::unique_ptr<AsahiDevice> Open(AsahiDevice::Options options = {}) {
    auto opened = AsahiDevice::Open(Connect(), std::move(options));
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }

  Place Make(Device& device, uint64_t address, uint32_t space = 0, uint8_t use = kOrdinary) {
    Place place;
    place.address = address;
    const auto memory = device.Create({.size = kPage, .use = use});
    EXPECT_TRUE(memory.ok()) << memory.status();
    place.memory = *memory;
    const absl::Status bound =
        device.Bind({.space = space, .address = address, .size = kPage, .memory = place.memory});
    EXPECT_TRUE(bound.ok()) << bound;
    const auto bytes = device.Map(place.memory);
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    place.bytes = *bytes;
    return place;
  }
};

// A job of these, whose stream is the first: 64 bytes of compute.
struct PlacedJob {
  explicit PlacedJob(std::initializer_list<Place> places) {
    for (const Place& place : places) {
      residents.push_back({.memory = place.memory, .address = place.address});
    }
    job.engine = "compute";
    job.batch_address = residents.front().address;
    job.batch_length = 64;
    job.residents = residents;
  }
  PlacedJob(const PlacedJob&) = delete;
  PlacedJob& operator=(const PlacedJob&) = delete;

  std::vector<Resident> residents;
  Job job;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_KERNEL_ASAHI_MACHINE_H_
