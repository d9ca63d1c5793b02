// Submitting and waiting take no memory: each allocation of the program is counted.
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernel/i915/rig.h"

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
  IdleConnection(capture::Machine& machine, const bool& idle)
      : MockConnection(machine.kernel, *machine.device), idle_(idle) {}

  int Ioctl(uint32_t request, void* argument) override {
    if (!idle_) return MockConnection::Ioctl(request, argument);
    if (request == uapi::i915::kGemExecbuffer2 || request == uapi::drm::kSyncobjWait) return 0;
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

class EveryKind : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, EveryKind, ::testing::Values("hsw", "skl"));

TEST_P(EveryKind, JobsTakeNoMemory) {
  capture::Machine machine(GetParam());
  bool idle = false;
  auto opened = I915Device::Open(std::make_unique<IdleConnection>(machine, idle), {});
  ASSERT_TRUE(opened.ok());
  I915Device& device = **opened;
  std::vector<Resident> residents;
  std::vector<Relocation> relocations;
  for (uint64_t i = 0; i < 20; ++i) {
    const uint64_t address = 0x100000 + i * 0x10000;
    const auto memory = device.Create({.size = 4096});
    ASSERT_TRUE(memory.ok());
    ASSERT_TRUE(device.Bind({.address = address, .size = 4096, .memory = *memory}).ok());
    residents.push_back({.memory = *memory, .address = address, .written = i != 0, .size = 4096});
    relocations.push_back({.in = residents[0].memory, .offset = 4 * i, .target = *memory});
  }
  const auto context = device.CreateContext({});
  ASSERT_TRUE(context.ok());
  Fence last = 0;
  const auto submit = [&](int count) {
    bool good = true;
    for (int i = 0; i < count; ++i) {
      const auto fence = device.Submit({.context = i % 2 == 0 ? 0 : *context,
                                        .batch_address = 0x100000,
                                        .residents = residents,
                                        .after = {&last, 1},
                                        .relocations = relocations});
      good = good && fence.ok();
      if (fence.ok()) last = *fence;
      if (i % 3 == 0) good = good && device.Wait(last, absl::ZeroDuration()).ok();
    }
    return good;
  };
  ASSERT_TRUE(submit(100));  // lists and syncobjs are made
  idle = true;
  const size_t before = allocations;
  const bool good = submit(1000);
  const size_t after = allocations;
  idle = false;
  EXPECT_TRUE(good);
  EXPECT_EQ(after - before, 0u);
}

}  // namespace
}  // namespace packsmith::gpu
