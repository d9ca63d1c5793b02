// Programs of several queues and of the CPU, submitted in any order that keeps that of each queue:
// every job runs, none before what it waits for, and no memory is used again before its job is
// done.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/zones.h"
#include "runtime/submission/submitter.h"
#include "tests/submission/model_device.h"

namespace packsmith::gpu {
namespace {

constexpr int kQueues = 5, kHostTimelines = 2, kShared = 2;
constexpr size_t kSteps = 2000;

// A step of a program that is right if its steps are taken in order.
struct Step {
  int queue = 0;  // kQueues: the CPU signals `signals`
  std::vector<TimelinePoint> waits, signals;
};

class Schedule {
 public:
  Schedule(uint64_t seed, bool thread)
      : random_(seed),
        space_(*AddressSpace::Create(*LayOutZones(kZones, {.verx10 = 90}))),
        buffers_(Buffers::Create(device_, *space_, {})),
        submitter_(Submitter::Create(device_, {.thread = thread})),
        thread_(thread) {
    for (int i = 0; i < kQueues; ++i) {
      queues_.push_back(submitter_->AddQueue({.engine = "engine" + std::to_string(i)}));
    }
    // One that each queue alone signals, those of the CPU, and those that all queues signal.
    for (int i = 0; i < kQueues + kHostTimelines + kShared; ++i) {
      timelines_.push_back(submitter_->AddTimeline());
    }
    next_.assign(timelines_.size(), 0);
  }

  void Run() {
    for (size_t i = 0; i < kSteps; ++i) steps_.push_back(MakeStep());
    executed_.assign(kSteps, false);
    // The steps of each queue, in order.
    std::vector<std::vector<size_t>> left(kQueues + 1);
    for (size_t i = kSteps; i-- > 0;) left[static_cast<size_t>(steps_[i].queue)].push_back(i);
    size_t remaining = kSteps;
    while (remaining != 0) {
      // Some queues are far ahead of others.
      auto& from = left[Pick(2) == 0 ? (remaining / 97) % left.size() : Pick(left.size())];
      if (!from.empty()) {
        Submit(from.back());
        from.pop_back();
        --remaining;
        if (testing::Test::HasFatalFailure()) return;
      }
      if (Pick(3) == 0) CompleteOne();
    }
    // With a thread, jobs arrive a little later.
    for (int idle = 0; submitter_->held() != 0 || !device_.idle();) {
      if (CompleteOne()) {
        idle = 0;
      } else {
        ASSERT_TRUE(thread_) << submitter_->held() << " jobs are held for ever";
        ASSERT_LT(++idle, 100000) << submitter_->held() << " jobs are held for ever";
        std::this_thread::yield();
      }
    }
    for (size_t i = 0; i < kSteps; ++i) ASSERT_TRUE(executed_[i]) << i;
    for (size_t i = 0; i < timelines_.size(); ++i) {
      EXPECT_EQ(*submitter_->Value(timelines_[i]), next_[i]);
      EXPECT_EQ(*submitter_->Wait({timelines_[i], next_[i]}, absl::ZeroDuration()), true);
    }
    ASSERT_TRUE(buffers_->Trim().ok());
    EXPECT_EQ(buffers_->statistics().live, 0u);
  }

 private:
  static constexpr ZoneRow kZones[] = {{.name = "all", .begin = 4096, .size = uint64_t{1} << 32}};

  size_t Pick(size_t count) { return random_() % count; }

  Step MakeStep() {
    Step step;
    const size_t index = steps_.size();
    step.queue = static_cast<int>(Pick(kQueues * 3 + 1) / 3);
    if (step.queue == kQueues) {
      const size_t timeline = kQueues + Pick(kHostTimelines);
      step.signals.push_back({timelines_[timeline], next_[timeline] += 1 + Pick(2)});
    } else {
      for (size_t count = Pick(3); count > 0; --count) {
        const size_t timeline = Pick(timelines_.size());
        if (next_[timeline] == 0) continue;
        // Late or recent values.
        const uint64_t value = Pick(4) == 0 ? 1 + Pick(next_[timeline]) : next_[timeline];
        step.waits.push_back({timelines_[timeline], value});
      }
      if (Pick(2) == 0) {
        const auto own = static_cast<size_t>(step.queue);
        step.signals.push_back({timelines_[own], next_[own] += 1 + Pick(3)});
      }
      if (Pick(4) == 0) {
        const size_t shared = timelines_.size() - 1 - Pick(kShared);
        step.waits.push_back({timelines_[shared], next_[shared]});
        step.signals.push_back({timelines_[shared], ++next_[shared]});
      }
    }
    for (const TimelinePoint point : step.signals) {
      signalled_by_[static_cast<size_t>(point.timeline)][point.value] = index;
    }
    return step;
  }

  void Submit(size_t index) {
    const Step& step = steps_[index];
    if (step.queue == kQueues) {
      executed_[index] = true;
      ASSERT_TRUE(submitter_->Signal(step.signals[0]).ok());
      return;
    }
    const auto buffer = buffers_->Create({.size = 64, .zone = ZoneOf(), .name = "data"});
    ASSERT_TRUE(buffer.ok());
    std::memcpy(buffer->cpu, &index, sizeof(index));
    {
      MutexLock lock(mutex_);
      content_[index] = buffer->cpu;
    }
    const auto result = submitter_->Submit(
        queues_[static_cast<size_t>(step.queue)],
        {.batch_address = index,
         .waits = step.waits,
         .signals = step.signals,
         .taken = [this, handle = buffer->handle](Fence fence) {
           ASSERT_TRUE(buffers_->Use(absl::MakeConstSpan(&handle, 1), fence).ok());
           ASSERT_TRUE(buffers_->Release(handle).ok());
         }});
    ASSERT_TRUE(result.ok()) << result.status();
  }

  ZoneId ZoneOf() { return *space_->FindZone("all"); }

  bool CompleteOne() {
    return device_.CompleteOne(random_(), [this](const ModelDevice::Started& job) {
      const size_t index = job.batch_address;
      for (const TimelinePoint point : steps_[index].waits) {
        const auto& by = signalled_by_[static_cast<size_t>(point.timeline)];
        const auto step = by.lower_bound(point.value);
        if (point.value == 0) continue;
        ASSERT_NE(step, by.end());
        EXPECT_TRUE(executed_[step->second]) << index << " ran before " << step->second;
      }
      executed_[index] = true;
      MutexLock lock(mutex_);
      size_t there = 0;
      std::memcpy(&there, content_[index], sizeof(there));
      EXPECT_EQ(there, index) << "its memory was used again";
    });
  }

  std::mt19937_64 random_;
  ModelDevice device_;
  const std::unique_ptr<AddressSpace> space_;
  const std::unique_ptr<Buffers> buffers_;
  const std::unique_ptr<Submitter> submitter_;
  const bool thread_;
  std::vector<QueueId> queues_;
  std::vector<TimelineId> timelines_;
  std::vector<uint64_t> next_;  // the last value of each timeline
  std::map<size_t, std::map<uint64_t, size_t>> signalled_by_;
  std::vector<Step> steps_;
  std::vector<bool> executed_;
  Mutex mutex_;
  std::map<size_t, const uint8_t*> content_;
};

TEST(Schedules, RunInTheOrderOfTheirTimelines) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Schedule(seed, /*thread=*/false).Run();
    if (HasFatalFailure()) return;
  }
}

TEST(Schedules, RunInTheOrderOfTheirTimelinesWithAThread) {
  for (uint64_t seed = 101; seed <= 110; ++seed) {
    SCOPED_TRACE(seed);
    Schedule(seed, /*thread=*/true).Run();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace packsmith::gpu
