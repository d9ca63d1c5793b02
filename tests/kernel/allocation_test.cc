// Submitting to xe and asahi and waiting take no memory: each allocation of the program is counted.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/capture/asahi/asahi.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/xe/xe.h"
#include "runtime/kernel/asahi/asahi_device.h"
#include "runtime/kernel/xe/xe_device.h"
#include "tests/base/allocations.h"
#include "tests/kernel/idle_connection.h"

namespace packsmith::gpu {
namespace {

// How many allocations a thousand jobs make, of two contexts with 20 buffers.
template <typename Driver>
size_t AllocationsOfJobs(std::unique_ptr<capture::MockDevice> (*make)(capture::MockKernel&,
                                                                      const capture::DeviceInfo&),
                         const char* name, const std::vector<std::string>& engines,
                         const std::function<absl::StatusOr<Fence>(Driver&, const Job&)>& hand) {
  capture::MockKernel kernel;
  capture::MockDevice& gpu = kernel.Add(make(kernel, *capture::FindDevice(name)->device));
  bool idle = false;
  auto opened = Driver::Open(std::make_unique<IdleConnection>(kernel, gpu, idle));
  EXPECT_TRUE(opened.ok()) << opened.status();
  Driver& device = **opened;
  const uint64_t page = device.properties().page;
  std::vector<Resident> residents;
  for (uint64_t i = 0; i < 20; ++i) {
    const uint64_t address = 0x1000000 + i * 0x10000;
    const auto memory = device.Create({.size = page});
    EXPECT_TRUE(memory.ok());
    EXPECT_TRUE(device.Bind({.address = address, .size = page, .memory = *memory}).ok());
    residents.push_back({.memory = *memory, .address = address, .written = i != 0});
  }
  const auto context = device.CreateContext({});
  EXPECT_TRUE(context.ok());
  Fence last = 0;
  const auto submit = [&](int count) {
    bool good = true;
    for (int i = 0; i < count; ++i) {
      const auto fence = hand(device, {.context = i % 2 == 0 ? 0 : *context,
                                       .engine = engines[i / 2 % engines.size()],
                                       .batch_address = 0x1000000,
                                       .batch_length = 64,
                                       .residents = residents,
                                       .after = {&last, 1}});
      good = good && fence.ok();
      if (fence.ok()) last = *fence;
      if (i % 3 == 0) good = good && device.Wait(last, absl::ZeroDuration()).ok();
    }
    return good;
  };
  EXPECT_TRUE(submit(100));  // queues, lists and syncobjs are made
  idle = true;
  const size_t before = Allocations();
  const bool good = submit(1000);
  const size_t after = Allocations();
  idle = false;
  EXPECT_TRUE(good);
  EXPECT_GT(before, 0u) << "they are counted";
  return after - before;
}

TEST(Allocation, JobsOfXeTakeNoMemory) {
  const auto hand = [](XeDevice& device, const Job& job) { return device.Submit(job); };
  EXPECT_EQ(AllocationsOfJobs<XeDevice>(capture::MakeXe, "tgl",
                                        {"render", "copy", "video", "video-enhance"}, hand),
            0u);
  const auto store = [](XeDevice& device, const Job& job) {
    return device.SubmitAndStore(job, {.address = 0x1010000, .value = 1});
  };
  EXPECT_EQ(AllocationsOfJobs<XeDevice>(capture::MakeXe, "lnl", {"compute"}, store), 0u);
}

TEST(Allocation, JobsOfAsahiTakeNoMemory) {
  const auto hand = [](AsahiDevice& device, const Job& job) { return device.Submit(job); };
  EXPECT_EQ(AllocationsOfJobs<AsahiDevice>(capture::MakeAsahi, "m1", {"render", "compute"}, hand),
            0u);
  const auto render = [](AsahiDevice& device, const Job& job) {
    const AsahiAttachment results[4] = {};
    AsahiRender pass;
    pass.stream = job.batch_address;
    pass.width = pass.height = 64;
    pass.vertex_attachments = pass.fragment_attachments = results;
    return device.SubmitRender(job, pass);
  };
  EXPECT_EQ(AllocationsOfJobs<AsahiDevice>(capture::MakeAsahi, "m1", {"render"}, render), 0u);
}

}  // namespace
}  // namespace packsmith::gpu
