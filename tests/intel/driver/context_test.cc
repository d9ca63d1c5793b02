// Contexts: which generation they are made for, in what order jobs begin, what threads share.
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/driver/generation_driver.h"
#include "runtime/submission/submitter.h"
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

// A Submitter for a machine's context, with a queue for draws, one for copies, and a timeline.
struct Queues {
  explicit Queues(Machine& machine)
      : submitter(gpu::Submitter::Create(*machine.device, {.submit = [&](const gpu::Job& job) {
          return machine.context->buffers().Submit(job);
        }})) {
    render = submitter->AddQueue(machine.context->QueueFor(Engine::kRender));
    copy = submitter->AddQueue(machine.context->QueueFor(Engine::kCopy));
    timeline = submitter->AddTimeline();
  }
  std::unique_ptr<gpu::Submitter> submitter;
  gpu::QueueId render = {}, copy = {};
  gpu::TimelineId timeline = {};
};

std::unique_ptr<CommandBuffer> RecordCopy(Machine& machine, Engine engine, const gpu::Buffer& from,
                                          const gpu::Buffer& to) {
  auto commands = machine.context->NewCommandBuffer({.engine = engine});
  EXPECT_TRUE(commands.ok()) << commands.status();
  if (!commands.ok()) return nullptr;
  EXPECT_TRUE((*commands)->Copy(BufferCopy{.source = from, .destination = to, .size = 256}));
  return *std::move(commands);
}

class HeldJobTest : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, HeldJobTest, ::testing::ValuesIn(DriverGenerations()));

TEST_P(HeldJobTest, AJobMayWaitForAValueOfAnotherQueueBeforeItIsPromised) {
  Machine machine(GetParam());
  const Queues queues(machine);
  const gpu::Buffer from = machine.BufferOf("from", std::vector<uint8_t>(256, 7));
  const gpu::Buffer between = machine.BufferOf("between", std::vector<uint8_t>(256, 0));
  const gpu::Buffer to = machine.BufferOf("to", std::vector<uint8_t>(256, 0));
  const gpu::TimelinePoint uploaded[] = {{queues.timeline, 1}};
  auto reads = RecordCopy(machine, Engine::kRender, between, to);
  const auto read = machine.context->Submit(*reads, *queues.submitter, queues.render, uploaded);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(queues.submitter->held(), 1u);
  EXPECT_EQ(machine.engines, std::vector<std::string>());
  EXPECT_EQ(reads->Reset().code(), absl::StatusCode::kFailedPrecondition);
  reads.reset();
  const auto copies = RecordCopy(machine, Engine::kCopy, from, between);
  const auto copied =
      machine.context->Submit(*copies, *queues.submitter, queues.copy, {}, uploaded);
  ASSERT_TRUE(copied.ok()) << copied.status();
  EXPECT_EQ(*queues.submitter->Wait(*read, absl::Seconds(10)), true);
  EXPECT_EQ(machine.engines, (std::vector<std::string>{"copy", "render"}));
  EXPECT_EQ(std::vector<uint8_t>(to.cpu, to.cpu + 256), std::vector<uint8_t>(256, 7));
  EXPECT_EQ(machine.problems, std::vector<std::string>());
  EXPECT_TRUE(copies->Reset().ok());
}

TEST(ContextOfTest, WhatAHeldJobUsesIsNotReusedBeforeItIsDone) {
  Machine machine("gfx12", {.complete_by_hand = true});
  Queues queues(machine);
  const gpu::Buffer from = machine.BufferOf("from", std::vector<uint8_t>(4096, 7));
  const gpu::Buffer to = machine.BufferOf("to", std::vector<uint8_t>(4096, 0));
  const gpu::TimelinePoint point[] = {{queues.timeline, 1}};
  for (int i = 0; i < 2; ++i) {
    const auto commands = RecordCopy(machine, Engine::kRender, from, to);
    ASSERT_TRUE(machine.context->Submit(*commands, *queues.submitter, queues.render, point).ok());
  }
  ASSERT_TRUE(machine.context->Release(from).ok());
  EXPECT_EQ(machine.context->Release(from).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(machine.context->buffers().Get(from.handle).ok());
  EXPECT_NE(machine.BufferOf("next", std::vector<uint8_t>(4096, 1)).address, from.address);
  ASSERT_TRUE(queues.submitter->Signal(point[0]).ok());
  ASSERT_EQ(machine.engines.size(), 2u);
  // It is released now, and waits for the jobs.
  EXPECT_FALSE(machine.context->buffers().Get(from.handle).ok());
  EXPECT_NE(machine.BufferOf("third", std::vector<uint8_t>(4096, 1)).address, from.address);
  machine.device->Complete(2);
  EXPECT_EQ(machine.BufferOf("last", std::vector<uint8_t>(4096, 1)).address, from.address);
  EXPECT_EQ(machine.problems, std::vector<std::string>());
}

// Jobs that are dropped, or refused, hold nothing any more.
TEST(ContextOfTest, AJobThatIsNeverTakenLeavesItsMemory) {
  Machine machine("gfx9");
  const gpu::Buffer from = machine.BufferOf("from", std::vector<uint8_t>(256, 7));
  const gpu::Buffer to = machine.BufferOf("to", std::vector<uint8_t>(256, 0));
  const auto commands = RecordCopy(machine, Engine::kRender, from, to);
  {
    const Queues queues(machine);
    const gpu::TimelinePoint never[] = {{queues.timeline, 1}};
    ASSERT_TRUE(machine.context->Submit(*commands, *queues.submitter, queues.render, never).ok());
    ASSERT_TRUE(machine.context->Release(from).ok());
    EXPECT_TRUE(machine.context->buffers().Get(from.handle).ok());
  }
  EXPECT_FALSE(machine.context->buffers().Get(from.handle).ok());
  EXPECT_TRUE(commands->Reset().ok());
  EXPECT_EQ(machine.engines, std::vector<std::string>());
}

TEST(ContextOfTest, AQueueOfAnotherEngineIsInvalid) {
  Machine machine("gfx9");
  const Queues queues(machine);
  const gpu::Buffer buffer = machine.BufferOf("buffer", std::vector<uint8_t>(512, 7));
  const auto commands = RecordCopy(machine, Engine::kRender, buffer, buffer);
  const auto wrong = machine.context->Submit(*commands, *queues.submitter, queues.copy, {});
  EXPECT_EQ(wrong.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(wrong.status().message().find("QueueFor"), std::string::npos) << wrong.status();
  EXPECT_EQ(
      machine.context->Submit(*commands, *queues.submitter, gpu::QueueId{9}, {}).status().code(),
      absl::StatusCode::kNotFound);
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
