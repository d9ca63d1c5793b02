#include "runtime/memory/host_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <vector>

#include "runtime/base/addresses.h"
#include "runtime/dump/elf_core.h"

namespace packsmith::gpu {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kPage = 4096;

std::unique_ptr<HostDevice> Make(HostDevice::Options options = {}) {
  auto made = HostDevice::Create(std::move(options));
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

class HostDeviceTest : public testing::Test {
 protected:
  explicit HostDeviceTest(HostDevice::Options options = {}) : device_(Make(std::move(options))) {}

  // Memory of that many pages, each byte of which is its page's number plus `first`.
  MemoryId Pages(int pages, uint8_t first) {
    const MemoryId memory = *device_->Create({.size = pages * kPage});
    const absl::Span<uint8_t> bytes = *device_->Map(memory);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = first + i / kPage;
    return memory;
  }
  void Bind(MemoryId memory, uint64_t address, uint64_t size, uint64_t offset = 0,
            bool writable = true, uint32_t space = 0) {
    const absl::Status status = device_->Bind({space, address, size, memory, offset, writable});
    ASSERT_TRUE(status.ok()) << status;
  }
  std::vector<uint8_t> Read(uint64_t address, size_t size) {
    std::vector<uint8_t> bytes(size, 0xee);
    const absl::Status status = device_->Read(0, address, absl::MakeSpan(bytes));
    EXPECT_TRUE(status.ok()) << status;
    return bytes;
  }

  std::unique_ptr<HostDevice> device_;
};

TEST_F(HostDeviceTest, MemoryIsZeroAndWholePages) {
  const MemoryId memory = *device_->Create({.size = 3 * kPage});
  const absl::Span<uint8_t> bytes = *device_->Map(memory);
  EXPECT_EQ(bytes.size(), 3 * kPage);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0), static_cast<long>(3 * kPage));
  EXPECT_EQ(device_->Map(memory)->data(), bytes.data());
  EXPECT_EQ(device_->Create({.size = 0}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device_->Create({.size = 100}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(HostDeviceTest, SomeHeapsTheCpuCannotSee) {
  for (int heap = 0; heap < kHeaps; ++heap) {
    const Heap kind = static_cast<Heap>(heap);
    const MemoryId memory = *device_->Create({.size = kPage, .heap = kind});
    EXPECT_EQ(device_->Map(memory).ok(), CpuCanSee(kind)) << heap;
  }
}

TEST(HostDevice, MemoryHasALimit) {
  auto device = Make({.memory_bytes = 4 * kPage});
  const MemoryId memory = *device->Create({.size = 3 * kPage});
  EXPECT_EQ(device->Create({.size = 2 * kPage}).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(device->memory_in_use(), 3 * kPage);
  ASSERT_TRUE(device->Destroy(memory).ok());
  EXPECT_EQ(device->memory_in_use(), 0u);
  EXPECT_TRUE(device->Create({.size = 4 * kPage}).ok());
}

TEST_F(HostDeviceTest, DestroyedMemoryIsGone) {
  const MemoryId memory = Pages(1, 1);
  Bind(memory, 0x10000, kPage);
  EXPECT_EQ(device_->Destroy(memory).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(device_->Unbind(0, 0x10000, kPage).ok());
  EXPECT_TRUE(device_->Destroy(memory).ok());
  EXPECT_EQ(device_->Destroy(memory).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(device_->Map(memory).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(device_->Bind({0, 0x10000, kPage, memory, 0, true}).code(),
            absl::StatusCode::kNotFound);
}

TEST_F(HostDeviceTest, ManyPiecesAreBoundTogetherOrNoneIs) {
  const MemoryId a = Pages(1, 10), b = Pages(2, 20);
  const auto at = [](MemoryId memory, uint64_t address, uint32_t space = 0) {
    return PageBinding{.space = space, .address = address, .size = kPage, .memory = memory};
  };
  ASSERT_TRUE(device_->BindAll({at(a, 0x10000), at(b, 0x11000)}).ok());
  EXPECT_EQ(Read(0x11000, 1).front(), 20);
  // The second one is not free.
  EXPECT_EQ(device_->BindAll({at(a, 0x20000), at(b, 0x10000)}).code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(device_->BindAll({at(a, 0x20000), at(b, 0x30000, /*space=*/1)}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device_->Unbind(0, 0x20000, kPage).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(device_->BindAll({}).ok());
  // Each is unbound by itself.
  EXPECT_TRUE(device_->Unbind(0, 0x10000, kPage).ok());
  EXPECT_EQ(Read(0x11000, 1).front(), 20);
}

TEST_F(HostDeviceTest, ManyPiecesAreUnboundTogetherOrNoneIs) {
  const MemoryId a = Pages(1, 10), b = Pages(2, 20);
  const auto at = [](MemoryId memory, uint64_t address, uint32_t space = 0) {
    return PageBinding{.space = space, .address = address, .size = kPage, .memory = memory};
  };
  ASSERT_TRUE(device_->BindAll({at(a, 0x10000), at(b, 0x11000)}).ok());
  // The second one is not there, or another space's; it may be named once.
  EXPECT_EQ(device_->UnbindAll({at(a, 0x10000), at(b, 0x12000)}).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(device_->UnbindAll({at(a, 0x10000), at(b, 0x11000, /*space=*/1)}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(device_->UnbindAll({at(a, 0x10000), at(a, 0x10000)}).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Read(0x10000, 1).front(), 10);
  EXPECT_TRUE(device_->UnbindAll({}).ok());
  EXPECT_TRUE(device_->UnbindAll({at(b, 0x11000), at(a, 0x10000)}).ok());
  EXPECT_TRUE(device_->Destroy(a).ok());
  EXPECT_TRUE(device_->Destroy(b).ok());
}

TEST_F(HostDeviceTest, ReadsAndWritesGoThroughThePageTables) {
  const MemoryId a = Pages(4, 10), b = Pages(2, 20);
  Bind(a, 0x10000, kPage, 2 * kPage);
  Bind(b, 0x11000, 2 * kPage);
  const std::vector<uint8_t> read = Read(0x10ffe, kPage + 4);
  EXPECT_EQ(read.front(), 12);
  EXPECT_EQ(read[2], 20);
  EXPECT_EQ(read.back(), 21);
  const uint8_t kBytes[] = {1, 2, 3, 4};
  ASSERT_TRUE(device_->Write(0, 0x10ffe, kBytes).ok());
  EXPECT_EQ((*device_->Map(a))[3 * kPage - 1], 2);
  EXPECT_EQ((*device_->Map(b))[0], 3);
}

TEST_F(HostDeviceTest, WhatIsNotBoundIsNotTouched) {
  const MemoryId a = Pages(1, 10);
  Bind(a, 0x10000, kPage);
  device_->SetName(a, 0, 64, "first");
  device_->SetName(a, kPage - 64, 64, "last");
  std::vector<uint8_t> bytes(8, 0xee);
  const absl::Status read = device_->Read(0, 0x10ffc, absl::MakeSpan(bytes));
  EXPECT_EQ(read.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(read.message()), HasSubstr("nothing is bound at 0x11000"));
  EXPECT_THAT(std::string(read.message()), HasSubstr("(\"last\") ends at 0x10fff"));
  EXPECT_EQ(bytes, std::vector<uint8_t>(8, 0xee));
  EXPECT_EQ(device_->Write(0, 0x10ffc, bytes).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ((*device_->Map(a))[kPage - 1], 10);
  EXPECT_THAT(std::string(device_->Write(0, 0xffff, bytes).message()),
              HasSubstr("(\"first\") begins at 0x10000"));
  EXPECT_EQ(device_->Read(1, 0x10000, absl::MakeSpan(bytes)).code(), absl::StatusCode::kOutOfRange)
      << "another space";
  ASSERT_TRUE(device_->Unbind(0, 0x10000, kPage).ok());
  EXPECT_EQ(device_->Read(0, 0x10000, absl::MakeSpan(bytes)).code(), absl::StatusCode::kOutOfRange);
}

TEST_F(HostDeviceTest, PagesCanBeReadOnly) {
  const MemoryId a = Pages(2, 10);
  Bind(a, 0x10000, kPage);
  Bind(a, 0x11000, kPage, kPage, /*writable=*/false);
  const uint8_t kBytes[8] = {};
  EXPECT_EQ(device_->Write(0, 0x10ffc, kBytes).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Read(0x10ffc, 8).front(), 10) << "the writable part was not written either";
  EXPECT_TRUE(device_->Write(0, 0x10ff8, kBytes).ok());
}

TEST_F(HostDeviceTest, RefusesBindingsThatMakeNoSense) {
  const MemoryId a = Pages(4, 0);
  Bind(a, 0x10000, 2 * kPage);
  const struct {
    uint64_t address, size, offset;
    absl::StatusCode code;
  } kBad[] = {
      {0x20001, kPage, 0, absl::StatusCode::kInvalidArgument},
      {0x20000, kPage + 1, 0, absl::StatusCode::kInvalidArgument},
      {0x20000, kPage, 1, absl::StatusCode::kInvalidArgument},
      {0x20000, 0, 0, absl::StatusCode::kInvalidArgument},
      {0x20000, 5 * kPage, 0, absl::StatusCode::kInvalidArgument},
      {0x20000, 2 * kPage, 3 * kPage, absl::StatusCode::kInvalidArgument},
      {0x20000, kPage, ~uint64_t{kPage - 1}, absl::StatusCode::kInvalidArgument},
      {0xfffffffff000, 2 * kPage, 0, absl::StatusCode::kInvalidArgument},
      {0x0fff800000000000, kPage, 0, absl::StatusCode::kInvalidArgument},
      {0xf000, 2 * kPage, 0, absl::StatusCode::kAlreadyExists},
      {0x11000, kPage, 0, absl::StatusCode::kAlreadyExists},
      {0xf000, 4 * kPage, 0, absl::StatusCode::kAlreadyExists},
  };
  for (const auto& bad : kBad) {
    EXPECT_EQ(device_->Bind({0, bad.address, bad.size, a, bad.offset, true}).code(), bad.code)
        << std::hex << bad.address << " " << bad.size << " " << bad.offset;
  }
  EXPECT_EQ(device_->Unbind(0, 0x10000, kPage).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(device_->Unbind(0, 0x11000, kPage).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(device_->Unbind(1, 0x10000, 2 * kPage).code(), absl::StatusCode::kNotFound);
  Bind(a, 0xf000, kPage);
  Bind(a, 0x12000, kPage);
  Bind(a, 0x10000, kPage, 0, true, /*space=*/1);
}

TEST_F(HostDeviceTest, BothFormsOfAnAddressAreOnePlace) {
  const MemoryId a = Pages(1, 7);
  Bind(a, Canonical(0x800000000000, 48), kPage);
  EXPECT_EQ(Read(0x800000000000, 1)[0], 7);
  EXPECT_EQ(Read(0xffff800000000fff, 1)[0], 7);
  EXPECT_TRUE(device_->Unbind(0, 0x800000000000, kPage).ok());
}

TEST_F(HostDeviceTest, RefusesJobsThatCouldNotRun) {
  const MemoryId batch = Pages(1, 0), state = Pages(1, 0), other = Pages(1, 0);
  Bind(batch, 0x10000, kPage);
  Bind(state, 0x20000, kPage, 0, /*writable=*/false);
  const Resident kBatch{batch, 0x10000, false}, kState{state, 0x20000, false};
  const auto code = [&](std::vector<Resident> residents, uint64_t address, uint64_t length,
                        std::vector<Fence> after = {}) {
    const auto fence = device_->Submit(
        {.batch_address = address, .batch_length = length, .residents = residents, .after = after});
    return fence.status().code();
  };
  EXPECT_EQ(code({kBatch, kState}, 0x10100, 0xf00), absl::StatusCode::kOk);
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code({kState}, 0x10000, 64), kInvalid) << "the batch is not resident";
  EXPECT_EQ(code({kBatch}, 0x10100, 0xf01), kInvalid) << "the batch's end is not";
  EXPECT_EQ(code({kBatch, kBatch}, 0x10000, 64), kInvalid) << "named twice";
  EXPECT_EQ(code({kBatch, {state, 0x21000, false}}, 0x10000, 64), kInvalid) << "not there";
  EXPECT_EQ(code({kBatch, {other, 0x20000, false}}, 0x10000, 64), kInvalid) << "another's place";
  EXPECT_EQ(code({kBatch, {state, 0x20000, true}}, 0x10000, 64), kInvalid) << "not writable";
  EXPECT_EQ(code({kBatch, {MemoryId{99}, 0x20000, false}}, 0x10000, 64),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(code({kBatch}, 0x10000, 64, {1}), absl::StatusCode::kOk);
  EXPECT_EQ(code({kBatch}, 0x10000, 64, {77}), kInvalid) << "waits for what was never submitted";
  EXPECT_EQ(*device_->Submit({.batch_address = 0x10000, .residents = {&kBatch, 1}}), 3u)
      << "what was refused has no number";
}

TEST(HostDevice, ARunnerSeesMemoryAndItsErrorIsTheJobs) {
  auto device = Make({.run = [](HostDevice& device, const Job& job) -> absl::Status {
    uint8_t first;
    absl::Status status = device.Read(job.space, job.batch_address, {&first, 1});
    if (!status.ok()) return status;
    ++first;
    return device.Write(job.space, job.batch_address + 0x800 * first, {&first, 1});
  }});
  const MemoryId memory = *device->Create({.size = kPage});
  ASSERT_TRUE(device->Bind({0, 0x10000, kPage, memory, 0, true}).ok());
  uint8_t* const bytes = device->Map(memory)->data();
  const Resident resident{memory, 0x10000, true};
  const Job job{.batch_address = 0x10000, .residents = {&resident, 1}};
  const Fence good = *device->Submit(job);
  EXPECT_EQ(bytes[0x800], 1);
  bytes[0] = 1;
  const Fence bad = *device->Submit(job);
  EXPECT_TRUE(*device->Wait(good, absl::ZeroDuration()));
  const auto waited = device->Wait(bad, absl::ZeroDuration());
  EXPECT_EQ(waited.status().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(waited.status().message()), HasSubstr("nothing is bound at 0x11000"));
}

TEST(HostDevice, JobsCanBeCompletedByHand) {
  auto device = Make({.complete_by_hand = true});
  const MemoryId memory = *device->Create({.size = kPage});
  ASSERT_TRUE(device->Bind({0, 0x10000, kPage, memory, 0, true}).ok());
  const Resident resident{memory, 0x10000, false};
  const Job job{.batch_address = 0x10000, .residents = {&resident, 1}};
  const Fence first = *device->Submit(job), second = *device->Submit(job);
  EXPECT_FALSE(*device->Wait(first, absl::ZeroDuration()));
  EXPECT_FALSE(*device->Wait(first, absl::Milliseconds(1)));
  device->Complete(first);
  EXPECT_TRUE(*device->Wait(first, absl::ZeroDuration()));
  EXPECT_FALSE(*device->Wait(second, absl::ZeroDuration()));
  std::thread gpu([&] { device->Complete(second); });
  EXPECT_TRUE(*device->Wait(second, absl::InfiniteDuration()));
  gpu.join();
  EXPECT_TRUE(*device->Wait(0, absl::ZeroDuration()));
  EXPECT_EQ(device->Wait(3, absl::ZeroDuration()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(HostDevice, WritesACoreOfEachJob) {
  const std::string prefix = testing::TempDir() + "host_device_test-";
  auto device = Make(
      {.device = {.family = "intel", .generation = "gfx9", .verx10 = 90}, .core_prefix = prefix});
  const MemoryId batch = *device->Create({.size = 2 * kPage});
  const MemoryId elsewhere = *device->Create({.size = kPage});
  uint8_t* const bytes = device->Map(batch)->data();
  for (size_t i = 0; i < kPage + 100; ++i) bytes[i] = i * 7 + 1;
  ASSERT_TRUE(device->Bind({3, Canonical(0x800000000000, 48), 2 * kPage, batch, 0, true}).ok());
  ASSERT_TRUE(device->Bind({3, 0x10000, kPage, batch, kPage, false}).ok());
  ASSERT_TRUE(device->Bind({4, 0x30000, kPage, elsewhere, 0, true}).ok());
  device->SetName(batch, 0, kPage, "commands");
  device->SetName(batch, kPage, 256, "rest");
  device->SetName(batch, kPage + 256, 256, "gone");
  device->SetName(batch, kPage + 256, 256, "");
  const Resident resident{batch, Canonical(0x800000000000, 48), false};
  const Fence fence = *device->Submit({.space = 3,
                                       .context = 5,
                                       .engine = "compute",
                                       .batch_address = Canonical(0x800000000040, 48),
                                       .batch_length = 0x80,
                                       .residents = {&resident, 1}});
  EXPECT_EQ(fence, 1u);

  auto file = OpenFile(prefix + "000001.core");
  ASSERT_TRUE(file.ok()) << file.status();
  auto dump = ReadElfCore(*std::move(file));
  ASSERT_TRUE(dump.ok()) << dump.status();
  EXPECT_TRUE(dump->problems.empty());
  EXPECT_EQ(dump->device.generation, "gfx9");
  ASSERT_EQ(dump->submissions.size(), 1u);
  EXPECT_EQ(dump->submissions[0].engine, "compute");
  EXPECT_EQ(dump->submissions[0].context, 5u);
  EXPECT_EQ(dump->submissions[0].space, 0u);
  EXPECT_EQ(dump->submissions[0].batch_address, 0x800000000040u);
  EXPECT_EQ(dump->submissions[0].batch_length, 0x80u);
  std::vector<uint8_t> read(2 * kPage);
  ASSERT_EQ(dump->memory.Copy(0, 0x800000000000, absl::MakeSpan(read)), 2 * kPage);
  EXPECT_TRUE(std::equal(read.begin(), read.end(), bytes));
  ASSERT_EQ(dump->memory.Copy(0, 0x10000, absl::MakeSpan(read).first(kPage)), kPage);
  EXPECT_TRUE(std::equal(read.begin(), read.begin() + kPage, bytes + kPage));
  EXPECT_EQ(dump->memory.Find(0, 0x30000), nullptr) << "another space";
  const auto name = [&](uint64_t address) {
    const packsmith::Buffer* const buffer = dump->FindBuffer(0, address);
    return buffer == nullptr ? "" : buffer->name;
  };
  EXPECT_EQ(name(0x800000000010), "commands");
  EXPECT_EQ(name(0x8000000010ff), "rest");
  EXPECT_EQ(name(0x100ff), "rest") << "also where it is bound again";
  EXPECT_EQ(name(0x10100), "");
  std::filesystem::remove(prefix + "000001.core");
}

TEST(HostDevice, ACoreMayHaveOnlyWhatAKernelWouldCapture) {
  const std::string prefix = testing::TempDir() + "host_device_test-captured-";
  auto device = Make({.device = {.family = "intel", .generation = "gfx9", .verx10 = 90},
                      .core_prefix = prefix,
                      .core_memory = CoreMemory::kCaptured});
  const MemoryId batch = *device->Create({.size = kPage});
  const MemoryId state = *device->Create({.size = kPage, .use = kCaptured | kShared});
  const MemoryId texture = *device->Create({.size = kPage});
  std::vector<Resident> residents;
  for (const MemoryId memory : {batch, state, texture}) {
    const uint64_t address = 0x10000 + residents.size() * kPage;
    ASSERT_TRUE(device->Bind({0, address, kPage, memory, 0, true}).ok());
    device->SetName(memory, 0, kPage, "it");
    residents.push_back({memory, address, false});
  }
  ASSERT_TRUE(device->Submit({.batch_address = 0x10000, .residents = residents}).ok());
  auto dump = ReadElfCore(*OpenFile(prefix + "000001.core"));
  ASSERT_TRUE(dump.ok()) << dump.status();
  EXPECT_NE(dump->memory.Find(0, 0x10000), nullptr);
  EXPECT_NE(dump->memory.Find(0, 0x10000 + kPage), nullptr);
  EXPECT_EQ(dump->memory.Find(0, 0x10000 + 2 * kPage), nullptr);
  EXPECT_EQ(dump->FindBuffer(0, 0x10000 + kPage)->name, "it");
  EXPECT_EQ(dump->FindBuffer(0, 0x10000 + 2 * kPage)->name, "it (not captured)");
  EXPECT_FALSE(dump->memory_is_complete) << "the job may use what was not captured";
  std::filesystem::remove(prefix + "000001.core");
}

// A device with a batch and a texture, of which a job names the batch alone.
absl::StatusOr<Dump> CoreOfAJobThatForgetsItsTexture(const std::string& prefix, CoreMemory memory) {
  auto device = Make({.core_prefix = prefix, .core_memory = memory});
  const MemoryId batch = *device->Create({.size = kPage});
  const MemoryId texture = *device->Create({.size = kPage});
  EXPECT_TRUE(device->Bind({0, 0x10000, kPage, batch, 0, true}).ok());
  EXPECT_TRUE(device->Bind({0, 0x20000, kPage, texture, 0, true}).ok());
  device->SetName(texture, 0, kPage, "texture");
  const Resident resident{batch, 0x10000, false};
  EXPECT_TRUE(device->Submit({.batch_address = 0x10000, .residents = {&resident, 1}}).ok());
  auto dump = ReadElfCore(*OpenFile(prefix + "000001.core"));
  std::filesystem::remove(prefix + "000001.core");
  return dump;
}

TEST(HostDevice, ACoreHasNoMemoryThatTheJobDidNotNameAsResident) {
  const auto dump = CoreOfAJobThatForgetsItsTexture(
      testing::TempDir() + "host_device_test-resident-", CoreMemory::kResident);
  ASSERT_TRUE(dump.ok()) << dump.status();
  EXPECT_NE(dump->memory.Find(0, 0x10000), nullptr);
  EXPECT_EQ(dump->memory.Find(0, 0x20000), nullptr);
  ASSERT_NE(dump->FindBuffer(0, 0x20000), nullptr) << "its content is known anyway";
  EXPECT_EQ(dump->FindBuffer(0, 0x20000)->name, "texture (not resident)");
  EXPECT_TRUE(dump->memory_is_complete);
}

TEST(HostDevice, ACoreMayHaveAllThatIsBound) {
  const auto dump = CoreOfAJobThatForgetsItsTexture(testing::TempDir() + "host_device_test-bound-",
                                                    CoreMemory::kBound);
  ASSERT_TRUE(dump.ok()) << dump.status();
  EXPECT_NE(dump->memory.Find(0, 0x20000), nullptr);
  EXPECT_EQ(dump->FindBuffer(0, 0x20000)->name, "texture");
}

TEST(HostDevice, CoresSortAsTheirJobsWereSubmittedAndAreNumbered) {
  const std::string prefix = testing::TempDir() + "host_device_test-sorted-";
  auto device = Make({.core_prefix = prefix});
  const MemoryId memory = *device->Create({.size = kPage});
  ASSERT_TRUE(device->Bind({0, 0x10000, kPage, memory, 0, true}).ok());
  const Resident resident{memory, 0x10000, false};
  std::string previous;
  for (uint32_t i = 0; i < 11; ++i) {
    const Fence fence = *device->Submit({.batch_address = 0x10000, .residents = {&resident, 1}});
    const std::string path = prefix + HostDevice::CoreName(fence);
    EXPECT_LT(previous, path);
    previous = path;
    const auto dump = ReadElfCore(*OpenFile(path));
    ASSERT_TRUE(dump.ok()) << dump.status();
    EXPECT_EQ(dump->submissions[0].index, i);
    std::filesystem::remove(path);
  }
}

TEST(HostDevice, RefusesEnginesThatItDoesNotHaveAndNamesThoseItHas) {
  auto device = Make({.engines = {"render", "compute"}});
  const MemoryId memory = *device->Create({.size = kPage});
  ASSERT_TRUE(device->Bind({0, 0x10000, kPage, memory, 0, true}).ok());
  const Resident resident{memory, 0x10000, false};
  Job job{.engine = "rendr", .batch_address = 0x10000, .residents = {&resident, 1}};
  const absl::Status status = device->Submit(job).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "there is no engine \"rendr\"; the engines are: render, compute");
  job.engine = "compute";
  EXPECT_EQ(*device->Submit(job), 1u) << "the refused job has no fence";
}

TEST(HostDevice, AJobWhoseCoreCannotBeWrittenIsNotSubmitted) {
  auto device = Make({.core_prefix = "/no/such/folder/job-"});
  const MemoryId memory = *device->Create({.size = kPage});
  ASSERT_TRUE(device->Bind({0, 0x10000, kPage, memory, 0, true}).ok());
  const Resident resident{memory, 0x10000, false};
  const Job job{.batch_address = 0x10000, .residents = {&resident, 1}};
  EXPECT_FALSE(device->Submit(job).ok());
  EXPECT_FALSE(device->Wait(1, absl::ZeroDuration()).ok());
}

TEST(HostDevice, ThreadsMayDoAllOfThisAtOnce) {
  auto device = Make();
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&device, t] {
      const uint64_t address = (t + 1) << 20;
      for (int i = 0; i < 200; ++i) {
        const MemoryId memory = *device->Create({.size = kPage});
        const uint8_t byte = i;
        EXPECT_TRUE(device->Bind({0, address, kPage, memory, 0, true}).ok());
        EXPECT_TRUE(device->Write(0, address + 5, {&byte, 1}).ok());
        const Resident resident{memory, address, true};
        const auto fence = device->Submit({.batch_address = address, .residents = {&resident, 1}});
        EXPECT_TRUE(*device->Wait(*fence, absl::Seconds(10)));
        EXPECT_EQ((*device->Map(memory))[5], byte);
        EXPECT_TRUE(device->Unbind(0, address, kPage).ok());
        EXPECT_TRUE(device->Destroy(memory).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(device->memory_in_use(), 0u);
}

}  // namespace
}  // namespace packsmith::gpu
