// Submitting and waiting take no memory: each allocation of the program is counted.
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/base/allocations.h"
#include "tests/kernel/i915/rig.h"
#include "tests/kernel/idle_connection.h"

namespace packsmith::gpu {
namespace {

class EveryKind : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, EveryKind, ::testing::Values("hsw", "skl"));

TEST_P(EveryKind, JobsTakeNoMemory) {
  capture::Machine machine(GetParam());
  bool idle = false;
  auto opened =
      I915Device::Open(std::make_unique<IdleConnection>(machine.kernel, *machine.device, idle), {});
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
  const size_t before = Allocations();
  const bool good = submit(1000);
  const size_t after = Allocations();
  idle = false;
  EXPECT_TRUE(good);
  EXPECT_EQ(after - before, 0u);
  EXPECT_GT(before, 0u) << "they are counted";
}

}  // namespace
}  // namespace packsmith::gpu
