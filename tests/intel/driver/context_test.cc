// Contexts: which generation they are made for, in what order jobs begin, what threads share.
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/driver/generation_driver.h"
#include "tests/intel/driver/machine.h"

namespace packsmith::intel {
namespace {

TEST(ContextOfTest, AnotherGenerationIsNotFoundAndTheKnownOnesAreNamed) {
  auto device = gpu::HostDevice::Create({.device = {.family = "intel", .generation = "gfx75"}});
  ASSERT_TRUE(device.ok());
  const auto made = Context::Create(**device, {});
  EXPECT_EQ(made.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(made.status().message().find("gfx75"), std::string::npos);
  EXPECT_NE(made.status().message().find("gfx125"), std::string::npos);
}

TEST(ContextOfTest, ADeviceOfAnotherGenerationIsInvalid) {
  auto device = gpu::HostDevice::Create({.device = {.family = "intel", .generation = "gfx9"}});
  ASSERT_TRUE(device.ok());
  const auto icelake = FindRenderDevice("icl 8 banks");
  ASSERT_TRUE(icelake.ok());
  const auto made = Context::Create(**device, {.device = *icelake});
  EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(made.status().message().find("icl 8 banks"), std::string::npos);
}

TEST(ContextOfTest, EveryGenerationHasAContext) {
  for (const GenerationDriver* driver : GenerationDrivers()) {
    auto device =
        gpu::HostDevice::Create({.device = {.family = "intel", .generation = driver->name}});
    ASSERT_TRUE(device.ok());
    const auto made = Context::Create(**device, {});
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_STREQ((*made)->generation().name, driver->name);
    EXPECT_NE((*made)->mocs(), 0u);
  }
}

TEST(ContextOfTest, AJobWaitsForThoseOfOtherEnginesThatWriteItsBuffers) {
  Machine machine("gfx9", {.complete_by_hand = true});
  const gpu::Buffer from = machine.BufferOf("from", std::vector<uint8_t>(256, 1));
  const gpu::Buffer to = machine.BufferOf("to", std::vector<uint8_t>(256, 0));
  auto copies = machine.context->NewCommandBuffer({.engine = Engine::kCopy});
  ASSERT_TRUE(copies.ok());
  EXPECT_TRUE((*copies)->Copy(BufferCopy{.source = from, .destination = to, .size = 256}));
  const auto copied = machine.context->Submit(**copies);
  ASSERT_TRUE(copied.ok()) << copied.status();
  auto reads = machine.context->NewCommandBuffer({});
  ASSERT_TRUE(reads.ok());
  EXPECT_TRUE((*reads)->Use(to, CacheDomain::kVertex));
  const auto read = machine.context->Submit(**reads);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(machine.after[0], std::vector<gpu::Fence>());
  EXPECT_EQ(machine.after[1], std::vector<gpu::Fence>{*copied});
  // What it waits for in addition.
  auto other = machine.context->NewCommandBuffer({.engine = Engine::kCopy});
  ASSERT_TRUE(other.ok());
  const auto last = machine.context->Submit(**other, {*read});
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(machine.after[2], std::vector<gpu::Fence>{*read});
  machine.device->Complete(*last);
}

TEST(ContextOfTest, TwoThreadsRecordAtTheSameTime) {
  Machine machine("gfx9");
  const gpu::Buffer from = machine.BufferOf("from", std::vector<uint8_t>(4096, 7));
  const gpu::Buffer to = machine.BufferOf("to", std::vector<uint8_t>(4096, 0));
  constexpr int kRecordings = 50;
  std::vector<std::unique_ptr<CommandBuffer>> recorded[2];
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRecordings; ++i) {
        auto commands = machine.context->NewCommandBuffer({});
        ASSERT_TRUE(commands.ok()) << commands.status();
        const uint64_t offset = static_cast<uint64_t>(t * kRecordings + i) * 16;
        EXPECT_NE((*commands)->Upload(std::vector<uint8_t>(100, 1)).cpu, nullptr);
        EXPECT_TRUE((*commands)->Copy(BufferCopy{.source = from,
                                                 .destination = to,
                                                 .source_offset = offset,
                                                 .destination_offset = offset,
                                                 .size = 16}));
        EXPECT_TRUE((*commands)->End().ok());
        recorded[t].push_back(*std::move(commands));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& list : recorded) {
    for (const auto& commands : list) machine.Run(*commands);
  }
  for (int i = 0; i < 2 * kRecordings * 16; ++i) ASSERT_EQ(to.cpu[i], 7) << i;
  EXPECT_EQ(machine.problems, std::vector<std::string>());
}

}  // namespace
}  // namespace packsmith::intel
