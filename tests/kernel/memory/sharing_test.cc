// Buffers that two devices share: each sees what the other wrote, in order, and the memory lives
// until both are done with it.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "runtime/base/unique_fd.h"
#include "runtime/capture/drm/executor.h"
#include "runtime/memory/buffer_sharing.h"
#include "runtime/memory/residency.h"
#include "tests/kernel/memory/machine.h"

namespace packsmith::gpu {
namespace {

using ::testing::IsEmpty;

// What a batch of this test says: at `address`, where `before` must be, `after` is written.
struct Order {
  uint64_t address = 0, before = 0, after = 0;
};

// Executes such batches, once the test opens it.
class OrderExecutor : public capture::Executor {
 public:
  capture::Outcome Execute(const capture::Work& work, std::string& why) override {
    MutexLock lock(mutex);
    if (!open) return capture::Outcome::kWaiting;
    Order order;
    const capture::Mapping* const batch = work.memory->Find(work.streams.at(0).address);
    const capture::Mapping* data = nullptr;
    uint64_t found = 0;
    if (batch != nullptr &&
        batch->object->Read(batch->offset,
                            absl::MakeSpan(reinterpret_cast<uint8_t*>(&order), sizeof(order)))) {
      data = work.memory->Find(order.address);
    }
    if (holds_first && order.before == 0) return capture::Outcome::kWaiting;
    if (data == nullptr ||
        !data->object->Read(data->offset, absl::MakeSpan(reinterpret_cast<uint8_t*>(&found), 8)) ||
        found != order.before) {
      faults.push_back(absl::StrCat("found ", found, ", expected ", order.before));
      why = faults.back();
      return capture::Outcome::kHung;
    }
    data->object->Write(data->offset,
                        absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(&order.after), 8));
    return capture::Outcome::kDone;
  }

  Mutex mutex;
  bool open = true;
  bool holds_first = false;  // the job that finds 0
  std::vector<std::string> faults;
};

// One program: a device with its buffers, of which one is shared.
struct Program {
  Program(KernelOf& machine, Live& live)
      : device(machine.Open(live)), page(device->properties().page), on(*device, page) {}

  // A job that writes to the shared buffer after another's fence, if there is one.
  absl::StatusOr<Fence> Submit(uint64_t before, uint64_t after) {
    const Buffer batch = on.Must({.size = page, .zone = on.kAll, .dedicated = true});
    const Order order = {.address = shared.address, .before = before, .after = after};
    std::memcpy(batch.cpu, &order, sizeof(order));
    Residency residency(*on.buffers);
    EXPECT_TRUE(residency.Add(shared.handle, true).ok());
    EXPECT_TRUE(residency.Add(batch.handle, false).ok());
    const auto jobs = on.buffers->JobsBefore(residency.uses());
    if (!jobs.ok()) return jobs.status();
    const auto fence = on.buffers->Submit(
        {.batch_address = batch.address, .residents = residency.residents(), .after = *jobs},
        residency.uses());
    EXPECT_TRUE(on.buffers->Release(batch.handle).ok());
    return fence;
  }
  // What the other program has submitted comes first.
  void Follow(Program& other, Fence fence) {
    const auto file = other.device->ExportFence(fence);
    ASSERT_TRUE(file.ok()) << file.status();
    const auto imported = device->ImportFence(file->get());
    ASSERT_TRUE(imported.ok()) << imported.status();
    const BufferAccess use = {shared.handle, true};
    ASSERT_TRUE(on.buffers->Use({&use, 1}, *imported).ok());
  }
  uint64_t Content() const {
    uint64_t value = 0;
    std::memcpy(&value, shared.cpu, sizeof(value));
    return value;
  }

  std::unique_ptr<DrmDevice> device;
  uint64_t page;
  BuffersOn on;
  Buffer shared;
};

class SharedBuffers : public testing::TestWithParam<Gpu> {
 protected:
  SharedBuffers() : machine_(GetParam(), &executor_), one_(machine_, live_), two_(machine_, live_) {
    one_.shared = one_.on.Must({.size = one_.page, .zone = one_.on.kAll, .use = kShared});
    // At other addresses than in the first program.
    two_.on.Must({.size = 5 * two_.page, .zone = two_.on.kAll, .dedicated = true});
    const auto file = BufferSharing(*one_.on.buffers).Export(one_.shared.handle);
    EXPECT_TRUE(file.ok()) << file.status();
    const auto imported = BufferSharing(*two_.on.buffers)
                              .Import(file->get(), {.zone = two_.on.kAll, .name = "window"});
    EXPECT_TRUE(imported.ok()) << imported.status();
    if (imported.ok()) two_.shared = *imported;
  }
  void Open(bool open) {
    {
      MutexLock lock(executor_.mutex);
      executor_.open = open;
    }
    machine_.kernel.Advance();
  }

  OrderExecutor executor_;
  Live live_;
  KernelOf machine_;
  Program one_, two_;
};
INSTANTIATE_TEST_SUITE_P(, SharedBuffers,
                         testing::Values(Gpu{"i915", "skl"}, Gpu{"i915", "dg2"}, Gpu{"xe", "tgl"},
                                         Gpu{"xe", "bmg"}, Gpu{"asahi", "g13g"}),
                         testing::PrintToStringParamName());

TEST_P(SharedBuffers, AreOneMemoryAtTwoAddresses) {
  EXPECT_NE(one_.shared.address, two_.shared.address);
  EXPECT_EQ(two_.shared.size, one_.shared.size);
  EXPECT_EQ(*two_.on.buffers->Name(two_.shared.handle), "window");
  one_.shared.cpu[5] = 7;
  EXPECT_EQ(two_.shared.cpu[5], 7);
  two_.shared.cpu[5] = 9;
  EXPECT_EQ(one_.shared.cpu[5], 9);
}

TEST_P(SharedBuffers, AreWrittenInTheOrderOfFences) {
  Open(false);
  constexpr uint64_t kRounds = 10;
  Program* const programs[] = {&one_, &two_};
  Fence last = 0;
  for (uint64_t i = 0; i < kRounds; ++i) {
    Program& now = *programs[i % 2];
    Program& before = *programs[1 - i % 2];
    if (i != 0) now.Follow(before, last);
    const auto fence = now.Submit(i, i + 1);
    ASSERT_TRUE(fence.ok()) << fence.status();
    last = *fence;
  }
  // The CPU of either waits for both.
  for (Program* const program : programs) {
    EXPECT_FALSE(*program->on.buffers->Wait(program->shared.handle, false, absl::ZeroDuration()));
  }
  {
    MutexLock lock(executor_.mutex);
    executor_.holds_first = true;
  }
  Open(true);
  EXPECT_EQ(one_.Content(), 0u) << "the others come after the first";
  {
    MutexLock lock(executor_.mutex);
    executor_.holds_first = false;
  }
  Open(true);
  EXPECT_TRUE(*two_.device->Wait(last, absl::Seconds(20)));
  EXPECT_THAT(executor_.faults, IsEmpty());
  EXPECT_EQ(one_.Content(), kRounds);
  EXPECT_EQ(two_.Content(), kRounds);
}

TEST_P(SharedBuffers, WaitForTheOthersJobsBeforeTheCpuUsesThem) {
  Open(false);
  const auto fence = one_.Submit(0, 1);
  ASSERT_TRUE(fence.ok()) << fence.status();
  two_.Follow(one_, *fence);
  const BufferAccess read = {two_.shared.handle, false};
  EXPECT_EQ(two_.on.buffers->JobsBefore({&read, 1})->size(), 1u);
  EXPECT_FALSE(*two_.on.buffers->Wait(two_.shared.handle, false, absl::ZeroDuration()));
  Open(true);
  EXPECT_TRUE(*two_.on.buffers->Wait(two_.shared.handle, false, absl::Seconds(20)));
  EXPECT_EQ(two_.Content(), 1u);
  EXPECT_THAT(*two_.on.buffers->JobsBefore({&read, 1}), IsEmpty());
}

TEST_P(SharedBuffers, AreNotReusedWhileTheOtherSideUsesThem) {
  Open(false);
  const auto fence = two_.Submit(0, 1);
  ASSERT_TRUE(fence.ok()) << fence.status();
  ASSERT_TRUE(one_.on.buffers->Release(one_.shared.handle).ok());
  EXPECT_EQ(one_.on.buffers->statistics().cached_bytes, 0u);
  // Memory of the same kind and size, which is not that of the other side.
  std::vector<Buffer> others;
  for (int i = 0; i < 8; ++i) {
    others.push_back(one_.on.Must({.size = one_.page,
                                   .zone = one_.on.kAll,
                                   .use = static_cast<uint8_t>(i % 2 == 0 ? kShared : kOrdinary),
                                   .dedicated = true}));
    std::memset(others.back().cpu, 0xff, one_.page);
  }
  EXPECT_EQ(two_.Content(), 0u);
  Open(true);
  EXPECT_TRUE(*two_.on.buffers->Wait(two_.shared.handle, true, absl::Seconds(20)));
  EXPECT_THAT(executor_.faults, IsEmpty());
  EXPECT_EQ(two_.Content(), 1u);
  for (const Buffer& other : others) EXPECT_EQ(other.cpu[0], 0xff);
}

// The other's fence counts as a job of this side's.
TEST_P(SharedBuffers, GoBackWhenTheJobsOfTheOtherSideAreDone) {
  Open(false);
  const auto fence = one_.Submit(0, 1);
  ASSERT_TRUE(fence.ok()) << fence.status();
  two_.Follow(one_, *fence);
  const int before = live_.objects;
  ASSERT_TRUE(two_.on.buffers->Release(two_.shared.handle).ok());
  EXPECT_EQ(two_.on.buffers->statistics().waiting_bytes, two_.page);
  EXPECT_EQ(live_.objects, before);
  Open(true);
  EXPECT_TRUE(*one_.device->Wait(*fence, absl::Seconds(20)));
  ASSERT_TRUE(two_.on.buffers->Trim().ok());
  EXPECT_EQ(two_.on.buffers->statistics().waiting_bytes, 0u);
  EXPECT_EQ(live_.objects, before - 1);
  EXPECT_EQ(one_.Content(), 1u) << "it is the first program's still";
}

// Programs that exchange no fences find them with the memory.
TEST_P(SharedBuffers, KeepTheFencesOfThoseThatUseThem) {
  {
    MutexLock lock(executor_.mutex);
    executor_.holds_first = true;
  }
  const auto first = one_.Submit(0, 1);
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::Status told =
      BufferSharing(*one_.on.buffers).ExportUse(one_.shared.handle, *first, true);
  ASSERT_TRUE(told.ok()) << told;
  const absl::Status asked = BufferSharing(*two_.on.buffers).ImportUses(two_.shared.handle, true);
  ASSERT_TRUE(asked.ok()) << asked;
  EXPECT_FALSE(*two_.on.buffers->Wait(two_.shared.handle, false, absl::ZeroDuration()));
  const auto second = two_.Submit(1, 2);
  ASSERT_TRUE(second.ok()) << second.status();
  Open(true);
  EXPECT_FALSE(*two_.device->Wait(*second, absl::ZeroDuration()));
  {
    MutexLock lock(executor_.mutex);
    executor_.holds_first = false;
  }
  Open(true);
  EXPECT_TRUE(*two_.on.buffers->Wait(two_.shared.handle, true, absl::Seconds(20)));
  EXPECT_THAT(executor_.faults, IsEmpty());
  EXPECT_EQ(one_.Content(), 2u);
}

TEST_P(SharedBuffers, HaveNoFencesIfTheyAreNotShared) {
  const Buffer own = one_.on.Must({.size = one_.page, .zone = one_.on.kAll});
  EXPECT_EQ(BufferSharing(*one_.on.buffers).ImportUses(own.handle, true).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(BufferSharing(*one_.on.buffers).ExportUse(own.handle, 0, true).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_P(SharedBuffers, ComeBackToTheirDeviceAsAnotherBuffer) {
  const auto file = BufferSharing(*two_.on.buffers).Export(two_.shared.handle);
  ASSERT_TRUE(file.ok()) << file.status();
  const int before = live_.objects;
  const auto again = BufferSharing(*one_.on.buffers).Import(file->get(), {.zone = one_.on.kAll});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_NE(again->address, one_.shared.address);
  EXPECT_NE(again->handle, one_.shared.handle);
  one_.shared.cpu[5] = 7;
  EXPECT_EQ(again->cpu[5], 7);
  // The kernel has one object for both: the last one frees it.
  ASSERT_TRUE(one_.on.buffers->Release(one_.shared.handle).ok());
  EXPECT_EQ(live_.objects, before);
  one_.shared = *again;
  std::memset(again->cpu, 0, 8);
  const auto fence = one_.Submit(0, 1);
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_TRUE(*one_.on.buffers->Wait(again->handle, true, absl::Seconds(20)));
  EXPECT_EQ(two_.Content(), 1u);
  const int with = live_.objects;
  ASSERT_TRUE(one_.on.buffers->Release(again->handle).ok());
  EXPECT_EQ(live_.objects, with - 1);
}

TEST_P(SharedBuffers, ComeFromDescriptorsOfMemoryOnly) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const UniqueFd read_end(pipe_ends[0]), write_end(pipe_ends[1]);
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto fence = one_.Submit(0, 1);
  ASSERT_TRUE(fence.ok()) << fence.status();
  const auto sync_file = one_.device->ExportFence(*fence);
  ASSERT_TRUE(sync_file.ok()) << sync_file.status();
  const uint64_t bytes = one_.on.buffers->statistics().memory_bytes;
  for (const int fd : {-1, read_end.get(), nothing.get(), sync_file->get()}) {
    EXPECT_FALSE(BufferSharing(*one_.on.buffers).Import(fd, {.zone = one_.on.kAll}).ok());
  }
  EXPECT_EQ(one_.on.buffers->statistics().memory_bytes, bytes);
  EXPECT_FALSE(one_.device->ImportFence(read_end.get()).ok());
}

// i915 orders jobs that list shared memory by what they write, as programs without fences expect.
TEST(SharedBuffersOfI915, AreOrderedByTheKernelWithoutFences) {
  OrderExecutor executor;
  executor.holds_first = true;
  KernelOf machine({"i915", "skl"}, &executor);
  Live live;
  Program one(machine, live), two(machine, live);
  one.shared = one.on.Must({.size = one.page, .zone = one.on.kAll, .use = kShared});
  const auto file = BufferSharing(*one.on.buffers).Export(one.shared.handle);
  ASSERT_TRUE(file.ok()) << file.status();
  two.shared = *BufferSharing(*two.on.buffers).Import(file->get(), {.zone = two.on.kAll});
  ASSERT_TRUE(one.Submit(0, 1).ok());
  const auto fence = two.Submit(1, 2);
  ASSERT_TRUE(fence.ok()) << fence.status();
  machine.kernel.Advance();
  EXPECT_FALSE(*two.device->Wait(*fence, absl::ZeroDuration()));
  {
    MutexLock lock(executor.mutex);
    executor.holds_first = false;
  }
  machine.kernel.Advance();
  EXPECT_TRUE(*two.device->Wait(*fence, absl::Seconds(20)));
  EXPECT_THAT(executor.faults, IsEmpty());
  EXPECT_EQ(one.Content(), 2u);
}

}  // namespace
}  // namespace packsmith::gpu
