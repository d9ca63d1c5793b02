// Submitting to xe and asahi and waiting take no memory: each allocation of the program is counted.
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
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
#include "runtime/kernel/uapi/asahi.h"
#include "runtime/kernel/uapi/drm.h"
#include "runtime/kernel/uapi/xe.h"
#include "runtime/kernel/xe/xe_device.h"
#include "tests/kernel/mock_connection.h"

namespace {
size_t allocations = 0;
}  // namespace

void* operator new(size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) return memory;
  std::abort();
}
// All forms that may be freed by what is below, so that the two always fit each other.
void* operator new(size_t size, const std::nothrow_t&) noexcept { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace packsmith::gpu {
namespace {

// A kernel whose calls that submit and wait take no memory themselves.
class IdleConnection : public MockConnection {
 public:
  IdleConnection(capture::MockKernel& kernel, capture::MockDevice& device, const bool& idle)
      : MockConnection(kernel, device), idle_(idle) {}

  int Ioctl(uint32_t request, void* argument) override {
    if (!idle_) return MockConnection::Ioctl(request, argument);
    if (request == uapi::xe::kExec || request == uapi::asahi::kSubmit ||
        request == uapi::drm::kSyncobjWait) {
      return 0;
    }
    if (request == uapi::drm::kSyncobjHandleToFd) {
      static_cast<uapi::drm::syncobj_handle*>(argument)->fd = -1;
      return 0;
    }
    ADD_FAILURE() << "another call: " << request;
    return -EINVAL;
  }
  int IoctlOn(int fd, uint32_t request, void* argument) override {
    if (!idle_) return MockConnection::IoctlOn(fd, request, argument);
    static_cast<uapi::drm::sync_file_info*>(argument)->status = 1;
    return 0;
  }

 private:
  const bool& idle_;
};

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
  const size_t before = allocations;
  const bool good = submit(1000);
  const size_t after = allocations;
  idle = false;
  EXPECT_TRUE(good);
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
