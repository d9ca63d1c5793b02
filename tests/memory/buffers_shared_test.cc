// What others have to do with buffers' memory: the CPU's caches, other devices, and a device that
// has too little memory or cannot be asked.
#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/unique_fd.h"
#include "runtime/memory/buffer_sharing.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/cpu_cache.h"
#include "runtime/memory/host_device.h"
#include "runtime/memory/residency.h"
#include "tests/memory/failing_device.h"

namespace packsmith::gpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr uint64_t kPage = 4096;
constexpr ZoneId kAll{0};

// A device whose answers the test chooses.
class OddDevice : public FailingDevice {
 public:
  explicit OddDevice(HostDevice& device) : FailingDevice(device), host_(device) {}

  bool coherent = true;
  absl::Status wait_error;            // in place of the answer
  std::map<Fence, int> waits;         // how often each was asked for
  uint64_t job_limit = ~uint64_t{0};  // of memory in use, with which it takes jobs

  HeapCaching CachingOf(Heap heap, uint8_t) const override {
    if (heap != Heap::kSystem) return {.cpu = CpuView::kWriteCombined};
    return {.coherent = coherent};
  }
  absl::StatusOr<bool> Wait(Fence fence, absl::Duration timeout) override {
    ++waits[fence];
    if (!wait_error.ok()) return wait_error;
    return FailingDevice::Wait(fence, timeout);
  }
  absl::StatusOr<Fence> Submit(const Job& job) override {
    if (host_.memory_in_use() > job_limit) return absl::ResourceExhaustedError("no room");
    return FailingDevice::Submit(job);
  }
  absl::StatusOr<UniqueFd> Export(MemoryId memory) override {
    exported = memory;
    return UniqueFd();
  }
  absl::StatusOr<Imported> Import(int) override {
    const auto memory = Create({.size = 2 * kPage, .use = kShared});
    if (!memory.ok()) return memory.status();
    return Imported{*memory, 2 * kPage};
  }

  MemoryId exported = {};

 private:
  HostDevice& host_;
};

class BuffersSharedTest : public testing::Test {
 protected:
  BuffersSharedTest()
      : host_(*HostDevice::Create({.complete_by_hand = true})),
        device_(*host_),
        addresses_(*AddressSpace::Create({{"all", kMiB, kGiB}})) {
    Start({});
  }
  void Start(Buffers::Options options) {
    buffers_ = nullptr;
    options.flush_lines = [this](absl::Span<uint8_t> lines) {
      flushed_.emplace_back(lines.data(), lines.size());
      return flush_error_;
    };
    buffers_ = Buffers::Create(device_, *addresses_, options);
  }
  Buffer Must(const BufferOptions& options) {
    const auto buffer = buffers_->Create(options);
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    return buffer.ok() ? *buffer : Buffer{};
  }
  Fence Submit(const Buffer& buffer) {
    const Resident resident = *buffers_->ResidentOf(buffer.handle);
    const Fence fence =
        *host_->Submit({.batch_address = buffer.address, .residents = {&resident, 1}});
    EXPECT_TRUE(buffers_->Use({&buffer.handle, 1}, fence).ok());
    return fence;
  }

  std::unique_ptr<HostDevice> host_;
  OddDevice device_;
  std::unique_ptr<AddressSpace> addresses_;
  std::vector<std::pair<uint8_t*, size_t>> flushed_;
  absl::Status flush_error_;
  std::unique_ptr<Buffers> buffers_;
};

// ---- The CPU's caches. ----

TEST(CpuCacheTest, LinesAreWholeAtBothEnds) {
  alignas(64) uint8_t bytes[256];
  const auto lines = [&](size_t offset, size_t size) {
    const absl::Span<uint8_t> found = LinesOf(absl::MakeSpan(bytes + offset, size), 64);
    return std::pair(found.data() - bytes, found.size());
  };
  EXPECT_EQ(lines(0, 64), std::pair(ptrdiff_t{0}, size_t{64}));
  EXPECT_EQ(lines(64, 1), std::pair(ptrdiff_t{64}, size_t{64}));
  EXPECT_EQ(lines(127, 1), std::pair(ptrdiff_t{64}, size_t{64}));
  EXPECT_EQ(lines(63, 2), std::pair(ptrdiff_t{0}, size_t{128}));
  EXPECT_EQ(lines(1, 127), std::pair(ptrdiff_t{0}, size_t{128}));
  EXPECT_EQ(lines(65, 128), std::pair(ptrdiff_t{64}, size_t{192}));
  EXPECT_TRUE(LinesOf({}, 64).empty());
  EXPECT_TRUE(LinesOf(absl::MakeSpan(bytes + 70, 0), 64).empty());
}

TEST(CpuCacheTest, FlushedMemoryKeepsItsContent) {
  alignas(256) uint8_t bytes[4096];
  for (size_t i = 0; i < sizeof(bytes); ++i) bytes[i] = static_cast<uint8_t>(i * 7);
  const absl::Status status = FlushCpuLines(bytes);
  if (CpuCacheLine() == 0) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    return;
  }
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(CpuCacheLine() & (CpuCacheLine() - 1), 0u);
  for (size_t i = 0; i < sizeof(bytes); ++i) ASSERT_EQ(bytes[i], static_cast<uint8_t>(i * 7));
}

TEST_F(BuffersSharedTest, LinesThatHaveBytesOfTheRangeAreFlushed) {
  device_.coherent = false;
  Start({});
  const Buffer buffer = Must({.size = kPage, .zone = kAll, .dedicated = true});
  ASSERT_EQ(reinterpret_cast<uintptr_t>(buffer.cpu) % kPage, 0u);
  const size_t line = CpuCacheLine() != 0 ? CpuCacheLine() : 64;
  flushed_.clear();
  ASSERT_TRUE(buffers_->FlushForGpu(buffer.handle, line - 1, 2).ok());
  ASSERT_TRUE(buffers_->FlushForGpu(buffer.handle, line, line).ok());
  ASSERT_TRUE(buffers_->FlushForGpu(buffer.handle, 3, 0).ok());
  ASSERT_TRUE(buffers_->InvalidateForCpu(buffer.handle, kPage - 1, 1).ok());
  ASSERT_TRUE(buffers_->InvalidateForCpu(buffer.handle, 0, kPage).ok());
  EXPECT_THAT(flushed_,
              ElementsAre(Pair(buffer.cpu, 2 * line), Pair(buffer.cpu + line, line),
                          Pair(buffer.cpu + kPage - line, line), Pair(buffer.cpu, kPage)));
}

TEST_F(BuffersSharedTest, OnlyTheBuffersOwnLinesOfSharedMemoryAreFlushed) {
  device_.coherent = false;
  Start({});
  const Buffer first = Must({.size = 256, .zone = kAll}),
               second = Must({.size = 256, .zone = kAll});
  ASSERT_EQ(second.cpu, first.cpu + 256);
  flushed_.clear();
  ASSERT_TRUE(buffers_->FlushForGpu(second.handle, 0, 256).ok());
  EXPECT_THAT(flushed_, ElementsAre(Pair(second.cpu, 256)));
}

TEST_F(BuffersSharedTest, CoherentAndWriteCombinedMemoryIsNotFlushed) {
  for (const bool coherent : {true, false}) {
    device_.coherent = coherent;
    Start({});
    const Heap heap = coherent ? Heap::kSystem : Heap::kSystemUncached;
    for (int life = 0; life < 2; ++life) {
      const Buffer buffer = Must({.size = kPage, .zone = kAll, .heap = heap, .zeroed = true});
      EXPECT_TRUE(buffers_->FlushForGpu(buffer.handle, 0, kPage).ok());
      EXPECT_TRUE(buffers_->InvalidateForCpu(buffer.handle, 0, kPage).ok());
      EXPECT_TRUE(buffers_->Release(buffer.handle).ok());
    }
  }
  EXPECT_THAT(flushed_, IsEmpty());
}

TEST_F(BuffersSharedTest, ARangeToFlushIsChecked) {
  for (const bool coherent : {true, false}) {
    device_.coherent = coherent;
    Start({});
    const Buffer buffer = Must({.size = kPage, .zone = kAll, .dedicated = true});
    const Buffer hidden = Must({.size = kPage, .zone = kAll, .heap = Heap::kLocal});
    const auto code = [&](BufferHandle handle, uint64_t offset, uint64_t size) {
      return buffers_->FlushForGpu(handle, offset, size).code();
    };
    EXPECT_EQ(code(buffer.handle, 0, kPage + 1), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(code(buffer.handle, kPage + 1, 0), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(code(buffer.handle, 1, ~uint64_t{0}), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(code(hidden.handle, 0, 1), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(code(buffer.handle + 99, 0, 1), absl::StatusCode::kNotFound);
  }
}

// Lines that its last user wrote and did not flush would otherwise be written later, over what the
// GPU writes for the next user.
TEST_F(BuffersSharedTest, MemoryThatIsUsedAgainIsNotInTheCpusCaches) {
  device_.coherent = false;
  Start({});
  for (const bool dedicated : {true, false}) {
    const uint64_t size = dedicated ? kPage : 256;
    const Buffer first = Must({.size = size, .zone = kAll, .dedicated = dedicated});
    ASSERT_TRUE(buffers_->Release(first.handle).ok());
    flushed_.clear();
    const Buffer second = Must({.size = size, .zone = kAll, .dedicated = dedicated});
    ASSERT_EQ(second.cpu, first.cpu);
    EXPECT_THAT(flushed_, testing::Contains(Pair(first.cpu, size)));
  }
}

TEST_F(BuffersSharedTest, MemoryThatCannotBeFlushedIsNotGivenOutAndNotLost) {
  device_.coherent = false;
  for (const bool dedicated : {true, false}) {
    Start({});
    const BufferOptions options = {.size = 256, .zone = kAll, .dedicated = dedicated};
    const Buffer first = Must(options);
    ASSERT_TRUE(buffers_->Release(first.handle).ok());
    flush_error_ = absl::UnimplementedError("no such instruction");
    EXPECT_EQ(buffers_->Create(options).status(), flush_error_);
    flush_error_ = absl::OkStatus();
    EXPECT_EQ(buffers_->statistics().live, 0u);
    EXPECT_EQ(Must(options).cpu, first.cpu);
    ASSERT_EQ(buffers_->statistics().memory_bytes, host_->memory_in_use());
  }
}

// ---- A device that has too little memory, or cannot be asked. ----

TEST_F(BuffersSharedTest, AJobThatCannotBeAskedForCountsAsRunning) {
  const Buffer first = Must({.size = kPage, .zone = kAll, .dedicated = true});
  const Fence fence = Submit(first);
  ASSERT_TRUE(buffers_->Release(first.handle).ok());
  host_->Complete(fence);
  for (const auto error : {absl::StatusCode::kResourceExhausted, absl::StatusCode::kUnavailable,
                           absl::StatusCode::kInternal}) {
    device_.wait_error = absl::Status(error, "not now");
    const Buffer other = Must({.size = kPage, .zone = kAll, .dedicated = true});
    EXPECT_NE(other.cpu, first.cpu) << device_.wait_error;
    EXPECT_EQ(*buffers_->JobsBefore({}), std::vector<Fence>());
    EXPECT_EQ(buffers_->statistics().waiting_bytes, kPage);
  }
  // It failed: it does not run any more.
  device_.wait_error = absl::AbortedError("hung");
  EXPECT_EQ(Must({.size = kPage, .zone = kAll, .dedicated = true}).cpu, first.cpu);
}

TEST_F(BuffersSharedTest, AJobIsAskedForOnceHoweverManyBuffersItUses) {
  constexpr size_t kBuffers = 1000, kJobs = 64;
  Residency residency(*buffers_);
  std::vector<Buffer> all;
  for (size_t i = 0; i < kBuffers; ++i) {
    all.push_back(Must({.size = kPage, .zone = kAll, .dedicated = true}));
    ASSERT_TRUE(residency.Add(all.back().handle, true).ok());
  }
  for (size_t job = 0; job < kJobs; ++job) {
    const Fence fence =
        *host_->Submit({.batch_address = all.front().address, .residents = residency.residents()});
    device_.waits.clear();
    ASSERT_TRUE(buffers_->Use(residency.uses(), fence).ok());
    for (const auto& [asked, times] : device_.waits) ASSERT_EQ(times, 1) << asked;
  }
  device_.waits.clear();
  EXPECT_EQ(buffers_->JobsBefore(residency.uses())->size(), kJobs);
  for (const auto& [asked, times] : device_.waits) ASSERT_EQ(times, 1) << asked;
}

TEST_F(BuffersSharedTest, WhatTheDeviceDidNotTakeBackIsOfferedAgain) {
  for (bool FailingDevice::*const refuses :
       {&FailingDevice::refuses_unbind, &FailingDevice::refuses_destroy}) {
    Start({.cache_bytes = 0, .largest_shared = 0});
    const Buffer buffer = Must({.size = kMiB, .zone = kAll});
    device_.*refuses = true;
    EXPECT_FALSE(buffers_->Release(buffer.handle).ok());
    ASSERT_TRUE(buffers_->Trim().ok());
    EXPECT_EQ(buffers_->statistics().lost_bytes, kMiB);
    device_.*refuses = false;
    ASSERT_TRUE(buffers_->Trim().ok());
    EXPECT_EQ(buffers_->statistics().lost_bytes, 0u);
    EXPECT_EQ(buffers_->statistics().memory_bytes, 0u);
    EXPECT_EQ(host_->memory_in_use(), 0u);
    EXPECT_EQ(addresses_->statistics(kAll).live_ranges, 0u);
  }
}

TEST_F(BuffersSharedTest, AJobWithoutRoomGetsThatOfMemoryKeptForReuse) {
  const Buffer batch = Must({.size = kPage, .zone = kAll, .name = "batch", .dedicated = true});
  const Buffer old = Must({.size = 4 * kMiB, .zone = kAll});
  ASSERT_TRUE(buffers_->Release(old.handle).ok());
  device_.job_limit = kMiB;
  const Resident resident = *buffers_->ResidentOf(batch.handle);
  const BufferAccess use = {batch.handle, true};
  const auto fence =
      buffers_->Submit({.batch_address = batch.address, .residents = {&resident, 1}}, {&use, 1});
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_EQ(buffers_->statistics().cached_bytes, 0u);
  EXPECT_THAT(*buffers_->JobsBefore({&use, 1}), ElementsAre(*fence)) << "its use is noted";
}

TEST_F(BuffersSharedTest, AJobThatNeedsMoreThanThereIsNamesItsLargestBuffers) {
  Residency residency(*buffers_);
  Buffer batch;
  for (uint64_t i = 0; i < 7; ++i) {
    batch = Must({.size = (i + 1) * kMiB,
                  .zone = kAll,
                  .name = "texture " + std::to_string(i),
                  .dedicated = true});
    ASSERT_TRUE(residency.Add(batch.handle, false).ok());
  }
  ASSERT_TRUE(residency.Add(Must({.size = 64, .zone = kAll, .name = "x"}).handle, false).ok());
  device_.job_limit = kMiB;
  const auto fence = buffers_->Submit(
      {.batch_address = batch.address, .residents = residency.residents()}, residency.uses());
  EXPECT_EQ(fence.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(fence.status().message(),
            "no room; the job uses 28736 KiB in 8 pieces of memory, the largest of which are "
            "\"texture 6\" (7168 KiB), \"texture 5\" (6144 KiB), \"texture 4\" (5120 KiB), "
            "\"texture 3\" (4096 KiB), \"texture 2\" (3072 KiB)");
  EXPECT_THAT(*buffers_->JobsBefore(residency.uses()), IsEmpty());
}

TEST_F(BuffersSharedTest, AJobWithAReleasedBufferIsNotSubmitted) {
  const Buffer batch = Must({.size = kPage, .zone = kAll, .dedicated = true});
  const Resident resident = *buffers_->ResidentOf(batch.handle);
  const BufferAccess uses[] = {{batch.handle, false}, {batch.handle + 99, false}};
  const auto fence =
      buffers_->Submit({.batch_address = batch.address, .residents = {&resident, 1}}, uses);
  EXPECT_EQ(fence.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Submit(batch), 1u) << "it is the first job";
}

// ---- Other processes and devices. ----

TEST_F(BuffersSharedTest, OnlySharedBuffersAreExported) {
  const Buffer own = Must({.size = kPage, .zone = kAll, .name = "own"});
  const absl::Status refused = BufferSharing(*buffers_).Export(own.handle).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("own"), HasSubstr("kShared")));
  const Buffer shared = Must({.size = kPage, .zone = kAll, .use = kShared});
  EXPECT_TRUE(BufferSharing(*buffers_).Export(shared.handle).ok());
  EXPECT_EQ(device_.exported, buffers_->ResidentOf(shared.handle)->memory);
  EXPECT_EQ(BufferSharing(*buffers_).Export(shared.handle + 99).status().code(),
            absl::StatusCode::kNotFound);
  // It goes back to the device, which keeps it for the others.
  EXPECT_TRUE(buffers_->Release(shared.handle).ok());
  EXPECT_EQ(buffers_->statistics().cached_bytes, 0u);
  EXPECT_FALSE(device_.Map(device_.exported).ok());
}

TEST_F(BuffersSharedTest, SharingThatOutlivesItsBuffersFails) {
  BufferSharing sharing(*buffers_);
  const Buffer shared = *buffers_->Create({.size = kPage, .zone = kAll, .use = kShared});
  buffers_ = nullptr;
  const absl::Status status = sharing.Export(shared.handle).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("buffers"));
  EXPECT_EQ(sharing.Import(0, {.zone = kAll}).status(), status);
  EXPECT_EQ(sharing.ImportUses(shared.handle, true), status);
  EXPECT_EQ(sharing.ExportUse(shared.handle, 0, true), status);
}

TEST_F(BuffersSharedTest, DevicesWithoutAKernelDoNotShare) {
  const auto buffers = Buffers::Create(*host_, *addresses_, {});
  const Buffer shared = *buffers->Create({.size = kPage, .zone = kAll, .use = kShared});
  constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
  BufferSharing sharing(*buffers);
  EXPECT_EQ(sharing.Export(shared.handle).status().code(), kUnimplemented);
  EXPECT_EQ(sharing.Import(0, {.zone = kAll}).status().code(), kUnimplemented);
  EXPECT_EQ(sharing.ImportUses(shared.handle, true).code(), kUnimplemented);
  EXPECT_EQ(sharing.ExportUse(shared.handle, 0, true).code(), kUnimplemented);
  EXPECT_EQ(host_->ExportFence(1).status().code(), kUnimplemented);
  EXPECT_EQ(host_->ImportFence(0).status().code(), kUnimplemented);
  EXPECT_EQ(host_->timelines().status().code(), kUnimplemented);
}

TEST_F(BuffersSharedTest, ImportedMemoryIsABufferWithAName) {
  const auto buffer = BufferSharing(*buffers_).Import(0, {.zone = kAll, .name = "window"});
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_EQ(buffer->size, 2 * kPage);
  EXPECT_EQ(*buffers_->Name(buffer->handle), "window");
  EXPECT_TRUE(BufferSharing(*buffers_).Export(buffer->handle).ok()) << "it may go on to others";
  ASSERT_TRUE(buffers_->Release(buffer->handle).ok());
  EXPECT_EQ(host_->memory_in_use(), 0u);
}

TEST_F(BuffersSharedTest, MemoryThatCannotBeImportedGoesBack) {
  const auto code = [&](const BufferOptions& options) {
    return BufferSharing(*buffers_).Import(0, options).status().code();
  };
  EXPECT_EQ(code({.size = 2 * kPage + 1, .zone = kAll}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.zone = ZoneId{9}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.zone = kAll, .heap = Heap::kLocal}), absl::StatusCode::kInvalidArgument);
  for (int calls = 0; calls < 3; ++calls) {
    device_.FailAfter(calls);
    EXPECT_EQ(code({.zone = kAll}), absl::StatusCode::kInternal) << calls;
  }
  device_.FailAfter(-1);
  EXPECT_EQ(host_->memory_in_use(), 0u);
  EXPECT_EQ(buffers_->statistics().memory_bytes, 0u);
}

TEST_F(BuffersSharedTest, SeveralAreImportedOrNone) {
  std::vector<BufferImport> planes(3, {.dma_buf = 0, .options = {.zone = kAll, .name = "plane"}});
  const auto error = [&] {
    const auto made = BufferSharing(*buffers_).ImportAll(planes);
    EXPECT_FALSE(made.ok());
    EXPECT_EQ(host_->memory_in_use(), 0u);
    EXPECT_EQ(buffers_->statistics().memory_bytes, 0u);
    EXPECT_EQ(buffers_->statistics().live, 0u);
    return std::string(made.status().message());
  };
  // Each takes memory and a place for the CPU.
  for (int calls = 0; calls < 6; ++calls) {
    device_.FailAfter(calls);
    EXPECT_THAT(error(), HasSubstr(" of 3 (\"plane\"): ")) << calls;
  }
  device_.FailAfter(-1);
  planes[1].options.size = 2 * kPage + 1;
  EXPECT_THAT(error(), HasSubstr("buffer 2 of 3"));
  planes[1].options.size = kPage;
  planes[2].options.zone = ZoneId{9};
  EXPECT_THAT(error(), HasSubstr("buffer 3 of 3"));
  planes[2].options.zone = kAll;
  planes[0].options.zeroed = true;
  EXPECT_THAT(error(), HasSubstr("cannot be zeroed"));
  planes[0].options.zeroed = false;
  const auto made = BufferSharing(*buffers_).ImportAll(planes);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->size(), 3u);
  EXPECT_EQ((*made)[1].size, 2 * kPage);
  EXPECT_TRUE(BufferSharing(*buffers_).ImportAll({})->empty());
}

}  // namespace
}  // namespace packsmith::gpu
