// Timelines of the kernel's on devices of each driver: between files, as processes have them.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/mutex.h"
#include "runtime/capture/drm/executor.h"
#include "runtime/memory/kernel_timelines.h"
#include "runtime/memory/residency.h"
#include "tests/kernel/memory/machine.h"
#include "tests/kernel/sweep.h"

namespace packsmith::gpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::Duration kNoTime = absl::ZeroDuration(), kLong = absl::Seconds(60);
constexpr auto kPromised = KernelTimelines::kPromised;
constexpr auto kReached = KernelTimelines::kReached;

// Work is done when the gate is open; notes where its batches are.
class Gate : public capture::Executor {
 public:
  capture::Outcome Execute(const capture::Work& work, std::string&) override {
    MutexLock lock(mutex_);
    if (!open_) return capture::Outcome::kWaiting;
    done_.push_back(work.streams.at(0).address);
    return capture::Outcome::kDone;
  }
  void Open() {
    MutexLock lock(mutex_);
    open_ = true;
  }
  std::vector<uint64_t> done() const {
    MutexLock lock(mutex_);
    return done_;
  }

 private:
  mutable Mutex mutex_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<uint64_t> done_ ABSL_GUARDED_BY(mutex_);
};

// A process: a file of its own, with a batch, whose address is no other process's.
class Process {
 public:
  Process(std::unique_ptr<DrmDevice> device, size_t number)
      : device_(std::move(device)), on_(*device_, device_->properties().page), job_(*on_.buffers) {
    for (size_t i = 0; i <= number; ++i) {
      batch_ = on_.Must({.size = 64 << 10, .zone = BuffersOn::kAll, .dedicated = true});
    }
    EXPECT_TRUE(job_.Add(batch_.handle, /*written=*/false).ok());
    timelines_ = *device_->timelines();
  }

  DrmDevice& device() { return *device_; }
  KernelTimelines& timelines() { return *timelines_; }
  uint64_t batch() const { return batch_.address; }
  absl::StatusOr<Fence> Submit(std::vector<KernelPoint> waits, std::vector<KernelPoint> signals) {
    return device_->Submit({.batch_address = batch_.address,
                            .batch_length = 64,
                            .residents = job_.residents(),
                            .waits = waits,
                            .signals = signals});
  }

 private:
  const std::unique_ptr<DrmDevice> device_;
  BuffersOn on_;
  Buffer batch_;
  Residency job_;
  KernelTimelines* timelines_ = nullptr;
};

class EveryDriver : public ::testing::TestWithParam<Gpu> {
 protected:
  std::unique_ptr<Process> Start(capture::Executor* executor = nullptr) {
    if (machine_ == nullptr) machine_ = std::make_unique<KernelOf>(GetParam(), executor);
    return std::make_unique<Process>(machine_->Open(live_), started_++);
  }
  // The same timeline in another process.
  static KernelTimeline Share(Process& from, KernelTimeline timeline, Process& to) {
    const auto fd = from.timelines().Export(timeline);
    EXPECT_TRUE(fd.ok()) << fd.status();
    const auto imported = to.timelines().Import(fd->get());
    EXPECT_TRUE(imported.ok()) << imported.status();
    return *imported;
  }

  Live live_;
  std::unique_ptr<KernelOf> machine_;
  size_t started_ = 0;
};
INSTANTIATE_TEST_SUITE_P(, EveryDriver,
                         ::testing::Values(Gpu{"i915", "hsw"}, Gpu{"i915", "skl"}, Gpu{"xe", "lnl"},
                                           Gpu{"asahi", "g13g"}),
                         ::testing::PrintToStringParamName());

TEST_P(EveryDriver, AJobOfAnotherProcessWaitsForTheValueThatAJobSignals) {
  Gate gate;
  const auto one = Start(&gate), two = Start();
  const KernelTimeline mine = *one->timelines().Create();
  const KernelTimeline theirs = Share(*one, mine, *two);
  EXPECT_EQ(*two->timelines().Wait({theirs, 1}, kPromised, kNoTime), false);
  const auto first = one->Submit({}, {{mine, 3}});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*two->timelines().Wait({theirs, 2}, kPromised, kNoTime), true);
  EXPECT_EQ(*two->timelines().Wait({theirs, 2}, kReached, kNoTime), false);
  EXPECT_EQ(*two->timelines().Wait({theirs, 4}, kPromised, kNoTime), false);
  EXPECT_EQ(*two->timelines().Value(theirs), 0u);
  const auto second = two->Submit({{theirs, 2}}, {{theirs, 5}});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(*two->device().Wait(*second, kNoTime), false);
  gate.Open();
  machine_->kernel.Advance();
  EXPECT_EQ(*two->device().Wait(*second, kLong), true);
  EXPECT_EQ(*one->timelines().Wait({mine, 5}, kReached, kLong), true);
  EXPECT_EQ(*one->timelines().Value(mine), 5u);
  EXPECT_THAT(gate.done(), ElementsAre(one->batch(), two->batch()));
  // A value that was reached is nothing to wait for.
  EXPECT_TRUE(one->Submit({{mine, 1}, {mine, 0}}, {}).ok());
}

TEST_P(EveryDriver, AProcessMayWaitBeforeAnotherSubmits) {
  const auto one = Start(), two = Start();
  const KernelTimeline mine = *one->timelines().Create();
  const KernelTimeline theirs = Share(*one, mine, *two);
  std::thread waits([&] {
    ASSERT_EQ(*two->timelines().Wait({theirs, 1}, kPromised, kLong), true);
    const auto fence = two->Submit({{theirs, 1}}, {{theirs, 2}});
    ASSERT_TRUE(fence.ok()) << fence.status();
  });
  ASSERT_TRUE(one->Submit({}, {{mine, 1}}).ok());
  EXPECT_EQ(*one->timelines().Wait({mine, 2}, kReached, kLong), true);
  waits.join();
}

TEST_P(EveryDriver, TheCpuSignals) {
  const auto one = Start(), two = Start();
  const KernelTimeline mine = *one->timelines().Create();
  const KernelTimeline theirs = Share(*one, mine, *two);
  ASSERT_TRUE(two->timelines().Signal({theirs, 7}).ok());
  EXPECT_EQ(*one->timelines().Value(mine), 7u);
  EXPECT_EQ(*one->timelines().Wait({mine, 7}, kReached, kNoTime), true);
  EXPECT_TRUE(one->Submit({{mine, 7}}, {}).ok());
}

TEST_P(EveryDriver, WhatIsWrongIsSaidAndChangesNothing) {
  const auto one = Start();
  KernelTimelines& timelines = one->timelines();
  const KernelTimeline timeline = *timelines.Create();
  const auto early = one->Submit({{timeline, 1}}, {{timeline, 2}});
  EXPECT_EQ(early.status().code(), absl::StatusCode::kFailedPrecondition) << early.status();
  EXPECT_THAT(std::string(early.status().message()), HasSubstr("no job has promised value 1"));
  ASSERT_TRUE(one->Submit({}, {{timeline, 2}}).ok());
  for (const uint64_t value : {0, 1, 2}) {
    EXPECT_EQ(one->Submit({}, {{timeline, value}}).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(timelines.Signal({timeline, value}).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(*timelines.Value(timeline), 2u);
  EXPECT_FALSE(timelines.Import(0).ok());
  ASSERT_TRUE(timelines.Destroy(timeline).ok());
  constexpr auto kNotFound = absl::StatusCode::kNotFound;
  EXPECT_EQ(timelines.Destroy(timeline).code(), kNotFound);
  EXPECT_EQ(timelines.Value(timeline).status().code(), kNotFound);
  EXPECT_EQ(timelines.Export(timeline).status().code(), kNotFound);
  EXPECT_EQ(timelines.Signal({timeline, 9}).code(), kNotFound);
  EXPECT_EQ(timelines.Wait({timeline, 9}, kReached, kNoTime).status().code(), kNotFound);
  EXPECT_EQ(one->Submit({{timeline, 1}}, {}).status().code(), kNotFound);
  EXPECT_EQ(one->Submit({}, {{timeline, 9}}).status().code(), kNotFound);
  EXPECT_NE(*timelines.Create(), timeline);
}

#define MUST(result) ASSERT_TRUE(result.ok()) << (result).status()
#define MUST_BE_OK(status) ASSERT_TRUE(status.ok()) << status

TEST_P(EveryDriver, NothingIsLostAndNothingLeaksWhicheverCallFails) {
  Sweep([](Steps& step, Injector& injector) {
    KernelOf machine(GetParam());
    Live live;
    {
      // A question that the kernel does not answer may be understood as no.
      const auto open = [&]() -> absl::StatusOr<std::unique_ptr<DrmDevice>> {
        auto opened = machine.TryOpen(live, &injector);
        if (!opened.ok()) return opened;
        const auto timelines = (*opened)->timelines();
        if (!timelines.ok()) return timelines.status();
        return opened;
      };
      auto first_device = step(open);
      MUST(first_device);
      auto second_device = step(open);
      MUST(second_device);
      injector.Pause();  // reuse_test is about buffers
      Process one(*std::move(first_device), 0), two(*std::move(second_device), 1);
      injector.Resume();
      const auto mine = step([&] { return one.timelines().Create(); });
      MUST(mine);
      const auto fd = step([&] { return one.timelines().Export(*mine); });
      MUST(fd);
      const auto theirs = step([&] { return two.timelines().Import(fd->get()); });
      MUST(theirs);
      MUST_BE_OK(step([&] { return one.timelines().Signal({*mine, 1}); }));
      const auto first = step([&] { return one.Submit({{*mine, 1}}, {{*mine, 2}}); });
      MUST(first);
      const auto promised = step([&] {
        return two.timelines().Wait({*theirs, 2}, kPromised, kLong);
      });
      MUST(promised);
      EXPECT_TRUE(*promised);
      const auto second = step([&] { return two.Submit({{*theirs, 2}}, {{*theirs, 3}}); });
      MUST(second);
      const auto reached = step([&] { return one.timelines().Wait({*mine, 3}, kReached, kLong); });
      MUST(reached);
      EXPECT_TRUE(*reached);
      const auto value = step([&] { return one.timelines().Value(*mine); });
      MUST(value);
      EXPECT_EQ(*value, 3u);
      injector.Pause();
      for (auto [process, fence] : {std::pair(&one, *first), std::pair(&two, *second)}) {
        EXPECT_EQ(*process->device().Wait(fence, kLong), true);
      }
      EXPECT_TRUE(one.timelines().Destroy(*mine).ok());
      EXPECT_TRUE(two.timelines().Destroy(*theirs).ok());
    }
    EXPECT_EQ(live.syncobjs, 0);
  });
}

// Each thread is a process; a value goes round.
TEST_P(EveryDriver, ThreadsTakeTurns) {
  constexpr uint64_t kThreads = 4, kRounds = 25;
  std::vector<std::unique_ptr<Process>> processes;
  std::vector<KernelTimeline> names;
  for (size_t i = 0; i < kThreads; ++i) {
    processes.push_back(Start());
    names.push_back(i == 0 ? *processes[0]->timelines().Create()
                           : Share(*processes[0], names[0], *processes[i]));
  }
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (uint64_t turn = i; turn < kThreads * kRounds; turn += kThreads) {
        ASSERT_EQ(*processes[i]->timelines().Wait({names[i], turn}, kPromised, kLong), true);
        const auto fence = processes[i]->Submit({{names[i], turn}}, {{names[i], turn + 1}});
        ASSERT_TRUE(fence.ok()) << fence.status();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(*processes[0]->timelines().Wait({names[0], kThreads * kRounds}, kReached, kLong), true);
  EXPECT_EQ(*processes[1]->timelines().Value(names[1]), kThreads * kRounds);
}

}  // namespace
}  // namespace packsmith::gpu
