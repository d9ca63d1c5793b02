// Contexts: which generation they are made for, in what order jobs begin, what threads share.
#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/driver/generation_driver.h"
#include "runtime/intel/driver/graphics_pipeline.h"
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

TEST(ContextOfTest, CherryviewHasItsMemoryInFourGibibytes) {
  constexpr uint64_t kEnd = uint64_t{1} << 32;
  Machine machine("gfx8", {.part = "chv", .address_bits = 32});
  ASSERT_NE(machine.context, nullptr);
  for (const gpu::Zone& zone : machine.context->space().zones()) EXPECT_LE(zone.end, kEnd);
  const gpu::Buffer buffer = machine.BufferOf("bytes", std::vector<uint8_t>(256, 1));
  EXPECT_LT(buffer.address, kEnd);
  // Lines have their width in another field, dynamic or not, and scratch memory is in reach.
  const auto code = machine.context->NewKernel(std::vector<uint8_t>(64));
  ASSERT_TRUE(code.ok());
  VertexShader vertex{.entry = {.offset = *code, .start_register = 2}};
  vertex.program.scratch.bytes_per_thread = 1024;
  const auto pipeline = machine.context->NewGraphicsPipeline(
      {.shaders = {.vertex = &vertex},
       .rasterization = {.primitive = RasterPrimitive::kLines, .line_width = 9},
       .dynamic = kDynamicLineWidth});
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  auto commands = machine.context->NewCommandBuffer({});
  ASSERT_TRUE(commands.ok()) << commands.status();
  EXPECT_TRUE((*commands)->SetVertexBuffers({}));
  EXPECT_TRUE((*commands)->Bind(**pipeline));
  EXPECT_TRUE((*commands)->Draw({.vertices = 2})) << (*commands)->status();
  EXPECT_TRUE((*commands)->SetDynamic({.line_width = 12}));
  EXPECT_TRUE((*commands)->Draw({.vertices = 2})) << (*commands)->status();
  machine.Run(**commands);
  ASSERT_EQ(machine.works.size(), 2u);
  constexpr uint64_t kPixel = 128;  // 7 bits after the point
  const uint64_t widths[] = {9, 12};
  for (size_t draw = 0; draw < 2; ++draw) {
    for (const auto& [name, dwords] : machine.works[draw].states) {
      if (name == "3DSTATE_SF") {
        EXPECT_EQ(machine.Field(name, dwords, "CHV Line Width"), widths[draw] * kPixel);
        EXPECT_EQ(machine.Field(name, dwords, "Line Width"), 0u);
      }
      if (name == "3DSTATE_VS") {
        const auto place = machine.Field(name, dwords, "Scratch Space Base Pointer");
        ASSERT_TRUE(place.has_value());
        EXPECT_LT(*place, kEnd);
        EXPECT_TRUE(machine.IsResident(*place, 1024));
      }
    }
  }
  EXPECT_EQ(machine.problems, std::vector<std::string>());
}

TEST(ContextOfTest, ZonesAreInTheDevicesAddressSpace) {
  const struct {
    unsigned bits;
    uint64_t end;
  } cases[] = {{47, uint64_t{1} << 47}, {48, uint64_t{1} << 48}, {57, uint64_t{1} << 47}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.bits);
    auto device = gpu::HostDevice::Create(
        {.device = {.family = "intel", .generation = "xe2"}, .address_bits = one.bits});
    ASSERT_TRUE(device.ok());
    const auto made = Context::Create(**device, {});
    ASSERT_TRUE(made.ok()) << made.status();
    uint64_t end = 0;
    for (const gpu::Zone& zone : (*made)->space().zones()) end = std::max(end, zone.end);
    EXPECT_LE(end, one.end);
    EXPECT_GT(end, one.end / 2);
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
