#include "runtime/submission/submitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "tests/submission/model_device.h"

namespace packsmith::gpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SubmitterTest : public testing::Test {
 protected:
  // A job that is known by its batch's address.
  absl::StatusOr<TimelinePoint> Submit(QueueId queue, uint64_t name,
                                       std::vector<TimelinePoint> waits = {},
                                       std::vector<TimelinePoint> signals = {}) {
    return submitter_->Submit(queue, {.batch_address = name, .waits = waits, .signals = signals});
  }
  std::vector<uint64_t> Taken() const {
    std::vector<uint64_t> names;
    for (const auto& job : device_.waiting()) names.push_back(job.batch_address);
    return names;
  }
  absl::StatusOr<bool> Poll(TimelinePoint point) {
    return submitter_->Wait(point, absl::ZeroDuration());
  }

  ModelDevice device_;
  std::unique_ptr<Submitter> submitter_ = Submitter::Create(device_, {});
  const QueueId render_ = submitter_->AddQueue({.engine = "render"});
  const QueueId copy_ = submitter_->AddQueue({.engine = "copy", .context = 3});
  const TimelineId timeline_ = submitter_->AddTimeline();
};

TEST_F(SubmitterTest, AJobWithoutWaitsIsHandedOverAtOnce) {
  const auto point = Submit(render_, 1);
  ASSERT_TRUE(point.ok());
  EXPECT_THAT(Taken(), ElementsAre(1));
  EXPECT_EQ(*Poll(*point), false);
  ASSERT_TRUE(device_.CompleteOne(0));
  EXPECT_EQ(*Poll(*point), true);
}

// For example by Buffers::Submit(), which makes room first.
TEST_F(SubmitterTest, JobsAreHandedOverInTheCallersWay) {
  int retried = 0;
  const auto submit = [&](const Job& job) {
    absl::StatusOr<Fence> fence = device_.Submit(job);
    if (fence.ok()) return fence;
    ++retried;
    return device_.Submit(job);
  };
  submitter_ = Submitter::Create(device_, {.submit = submit});
  const QueueId queue = submitter_->AddQueue({.engine = "copy"});
  const TimelineId timeline = submitter_->AddTimeline();
  device_.Refuse(1);
  ASSERT_TRUE(Submit(queue, 1).ok());
  EXPECT_EQ(retried, 1);
  // The same for a job that is held first.
  const auto held = Submit(queue, 2, {{timeline, 1}});
  ASSERT_TRUE(held.ok());
  device_.Refuse(1);
  ASSERT_TRUE(submitter_->Signal({timeline, 1}).ok());
  EXPECT_EQ(retried, 2);
  EXPECT_THAT(Taken(), ElementsAre(1, 2));
  EXPECT_EQ(*Poll(*held), false);
}

TEST_F(SubmitterTest, AWaitForAPromisedValueIsAFenceForTheDevice) {
  ASSERT_TRUE(Submit(copy_, 1, {}, {{timeline_, 5}}).ok());
  ASSERT_TRUE(Submit(render_, 2, {{timeline_, 3}}).ok());
  ASSERT_THAT(Taken(), ElementsAre(1, 2));
  EXPECT_THAT(device_.waiting()[1].after, ElementsAre(1));
}

TEST_F(SubmitterTest, AWaitForAnUnknownValueHoldsTheJobAndThoseAfterIt) {
  ASSERT_TRUE(Submit(render_, 1, {{timeline_, 1}}).ok());
  ASSERT_TRUE(Submit(render_, 2).ok());
  EXPECT_THAT(Taken(), IsEmpty());
  EXPECT_EQ(submitter_->held(), 2u);
  ASSERT_TRUE(Submit(copy_, 3, {}, {{timeline_, 1}}).ok());
  EXPECT_THAT(Taken(), ElementsAre(3, 1, 2));
  EXPECT_EQ(submitter_->held(), 0u);
}

TEST_F(SubmitterTest, TheCpuReleasesWhatWaitsForItsValue) {
  ASSERT_TRUE(Submit(render_, 1, {{timeline_, 2}}).ok());
  ASSERT_TRUE(submitter_->Signal({timeline_, 1}).ok());
  EXPECT_THAT(Taken(), IsEmpty());
  ASSERT_TRUE(submitter_->Signal({timeline_, 2}).ok());
  EXPECT_THAT(Taken(), ElementsAre(1));
  EXPECT_THAT(device_.waiting()[0].after, IsEmpty());
  EXPECT_EQ(*submitter_->Value(timeline_), 2u);
}

TEST_F(SubmitterTest, ALowerValueMayBePromisedAfterAHigherOneThatWaitsForIt) {
  ASSERT_TRUE(Submit(render_, 1, {{timeline_, 1}}, {{timeline_, 2}}).ok());
  EXPECT_EQ(submitter_->held(), 1u);
  ASSERT_TRUE(submitter_->Signal({timeline_, 1}).ok());
  EXPECT_THAT(Taken(), ElementsAre(1));
}

TEST_F(SubmitterTest, ChainsOfHeldJobsAreReleasedTogether) {
  for (uint64_t i = 9; i > 0; --i) {
    const QueueId queue = submitter_->AddQueue({});
    ASSERT_TRUE(Submit(queue, i, {{timeline_, i}}, {{timeline_, i + 1}}).ok());
  }
  EXPECT_EQ(submitter_->held(), 9u);
  ASSERT_TRUE(submitter_->Signal({timeline_, 1}).ok());
  EXPECT_THAT(Taken(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST_F(SubmitterTest, ValuesGrow) {
  ASSERT_TRUE(submitter_->Signal({timeline_, 5}).ok());
  EXPECT_THAT(submitter_->Signal({timeline_, 5}).message(), HasSubstr("has reached 5"));
  EXPECT_EQ(Submit(render_, 1, {}, {{timeline_, 4}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(Submit(render_, 1, {}, {{timeline_, 7}}).ok());
  EXPECT_EQ(Submit(render_, 2, {}, {{timeline_, 7}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(submitter_->Signal({timeline_, 8}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Submit(render_, 3, {}, {{timeline_, 8}, {timeline_, 9}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  // Nothing was changed by those.
  EXPECT_THAT(Taken(), ElementsAre(1));
  ASSERT_TRUE(device_.CompleteOne(0));
  EXPECT_TRUE(submitter_->Signal({timeline_, 8}).ok());
}

TEST_F(SubmitterTest, WhatDoesNotExistIsNotFound) {
  const auto none = static_cast<TimelineId>(77);
  EXPECT_TRUE(absl::IsNotFound(Submit(static_cast<QueueId>(9), 1).status()));
  EXPECT_TRUE(absl::IsNotFound(Submit(render_, 1, {{none, 1}}).status()));
  EXPECT_TRUE(absl::IsNotFound(Submit(render_, 1, {}, {{none, 1}}).status()));
  EXPECT_TRUE(absl::IsNotFound(submitter_->Signal({none, 1})));
  EXPECT_TRUE(absl::IsNotFound(Poll({none, 1}).status()));
  EXPECT_TRUE(absl::IsNotFound(submitter_->Value(none).status()));
}

TEST_F(SubmitterTest, AJobThatIsRefusedAtOnceLeavesNothingBehind) {
  device_.Refuse(1);
  EXPECT_TRUE(absl::IsResourceExhausted(Submit(render_, 1, {}, {{timeline_, 1}}).status()));
  const auto again = Submit(render_, 2, {}, {{timeline_, 1}});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->value, 1u);
  ASSERT_TRUE(device_.CompleteOne(0));
  EXPECT_EQ(*Poll({timeline_, 1}), true);
}

TEST_F(SubmitterTest, AHeldJobThatIsRefusedFailsItsPointsAndThoseThatWaitForIt) {
  const auto refused = Submit(render_, 1, {{timeline_, 1}}, {{timeline_, 2}});
  const auto dependent = Submit(copy_, 2, {{timeline_, 2}});
  ASSERT_TRUE(refused.ok() && dependent.ok());
  device_.Refuse(1);
  ASSERT_TRUE(submitter_->Signal({timeline_, 1}).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Poll(*refused).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(Poll({timeline_, 2}).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(Poll(*dependent).status()));
  EXPECT_THAT(Poll(*dependent).status().message(), HasSubstr("told to refuse"));
  EXPECT_EQ(submitter_->held(), 0u);
  EXPECT_THAT(Taken(), IsEmpty());
  // So does one that is submitted afterwards; later values are not affected.
  EXPECT_TRUE(absl::IsFailedPrecondition(Submit(copy_, 3, {{timeline_, 2}}).status()));
  ASSERT_TRUE(submitter_->Signal({timeline_, 3}).ok());
  EXPECT_TRUE(Submit(copy_, 4, {{timeline_, 3}}).ok());
  EXPECT_THAT(Taken(), ElementsAre(4));
}

TEST_F(SubmitterTest, AJobThatHangsIsAnErrorOfItsOwnPointsOnly) {
  ASSERT_TRUE(Submit(render_, 1, {}, {{timeline_, 1}}).ok());
  const auto next = Submit(render_, 2, {}, {{timeline_, 2}});
  device_.Hang(1);
  ASSERT_TRUE(device_.CompleteOne(0));
  EXPECT_TRUE(absl::IsAborted(Poll({timeline_, 1}).status()));
  EXPECT_TRUE(absl::IsAborted(Poll({timeline_, 1}).status()));  // and it stays so
  ASSERT_TRUE(device_.CompleteOne(0));
  EXPECT_EQ(*Poll(*next), true);
  EXPECT_EQ(*Poll({timeline_, 2}), true);
  // Kernels run what waits for it.
  EXPECT_TRUE(Submit(copy_, 3, {{timeline_, 1}}).ok());
}

TEST_F(SubmitterTest, WaitingEndsWhenTheTimeIsUp) {
  EXPECT_EQ(*submitter_->Wait({timeline_, 1}, absl::Milliseconds(2)), false);
  ASSERT_TRUE(Submit(render_, 1, {}, {{timeline_, 1}}).ok());
  EXPECT_EQ(*submitter_->Wait({timeline_, 1}, absl::Milliseconds(2)), false);
}

TEST_F(SubmitterTest, AThreadWaitsForAValueThatIsPromisedLater) {
  std::atomic<bool> done = false;
  std::thread waits([&] {
    EXPECT_EQ(*submitter_->Wait({timeline_, 1}, absl::InfiniteDuration()), true);
    done = true;
  });
  ASSERT_TRUE(Submit(render_, 1, {}, {{timeline_, 1}}).ok());
  EXPECT_FALSE(done);
  ASSERT_TRUE(device_.CompleteOne(0));
  waits.join();
}

// The same whether the job is handed over at once or held, while what it refers to ends.
TEST_F(SubmitterTest, TheDeviceGetsAllThatAJobRefersTo) {
  for (const uint64_t value : {0, 1}) {
    const std::string name = "base";
    const std::vector<Resident> residents = {{.memory = MemoryId{5}, .address = 0x2000}};
    const std::vector<JobBase> bases = {{name, 0x1000}};
    const std::vector<Relocation> relocations = {
        {.in = MemoryId{5}, .offset = 8, .target = MemoryId{6}, .delta = 0x24, .written = true}};
    const std::vector<TimelinePoint> waits = {{timeline_, value}};
    ASSERT_TRUE(submitter_
                    ->Submit(render_, {.batch_address = value,
                                       .residents = residents,
                                       .bases = bases,
                                       .relocations = relocations,
                                       .waits = waits})
                    .ok());
  }
  ASSERT_TRUE(submitter_->Signal({timeline_, 1}).ok());
  ASSERT_THAT(Taken(), ElementsAre(0, 1));
  for (const ModelDevice::Started& job : device_.waiting()) {
    SCOPED_TRACE(job.batch_address);
    ASSERT_EQ(job.residents.size(), 1u);
    EXPECT_EQ(job.residents[0].memory, MemoryId{5});
    EXPECT_EQ(job.residents[0].address, 0x2000u);
    EXPECT_THAT(job.bases, ElementsAre(testing::Pair("base", 0x1000u)));
    ASSERT_EQ(job.relocations.size(), 1u);
    const Relocation& relocation = job.relocations[0];
    EXPECT_EQ(relocation.in, MemoryId{5});
    EXPECT_EQ(relocation.offset, 8u);
    EXPECT_EQ(relocation.target, MemoryId{6});
    EXPECT_EQ(relocation.delta, 0x24u);
    EXPECT_TRUE(relocation.written);
  }
}

TEST_F(SubmitterTest, TakenIsCalledOnceWithTheFence) {
  std::vector<Fence> taken;
  const auto note = [&](Fence fence) { taken.push_back(fence); };
  const TimelinePoint wait = {timeline_, 1};
  ASSERT_TRUE(submitter_->Submit(render_, {.batch_address = 1, .taken = note}).ok());
  ASSERT_TRUE(
      submitter_->Submit(copy_, {.batch_address = 2, .waits = {&wait, 1}, .taken = note}).ok());
  EXPECT_THAT(taken, ElementsAre(1));
  ASSERT_TRUE(submitter_->Signal(wait).ok());
  EXPECT_THAT(taken, ElementsAre(1, 2));
}

TEST_F(SubmitterTest, AManyTimesSignalledTimelineStaysSmall) {
  device_.set_instant(true);
  for (uint64_t i = 1; i <= 5000; ++i) {
    ASSERT_TRUE(Submit(render_, i, {}, {{timeline_, i}}).ok());
  }
  EXPECT_EQ(*submitter_->Value(timeline_), 5000u);
}

TEST(SubmitterLifetime, ADestroyedDeviceIsAnError) {
  auto device = std::make_unique<ModelDevice>();
  const auto submitter = Submitter::Create(*device, {});
  const QueueId queue = submitter->AddQueue({});
  const TimelineId timeline = submitter->AddTimeline();
  device.reset();
  EXPECT_TRUE(absl::IsFailedPrecondition(submitter->Submit(queue, {}).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(submitter->Signal({timeline, 1})));
  EXPECT_TRUE(
      absl::IsFailedPrecondition(submitter->Wait({timeline, 1}, absl::ZeroDuration()).status()));
}

// Destroyed too early, while the thread has a job that does not need it.
TEST(SubmitterLifetime, TheThreadHandsNothingToADestroyedDevice) {
  auto device = std::make_unique<ModelDevice>();
  device->set_instant(true);
  const auto submitter = Submitter::Create(*device, {.thread = true});
  const QueueId queue = submitter->AddQueue({});
  std::promise<void> began, destroyed;
  const auto alone = [&](const Job&) -> absl::StatusOr<Fence> {
    began.set_value();
    destroyed.get_future().wait();
    return absl::UnavailableError("without the device");
  };
  ASSERT_TRUE(submitter->Submit(queue, {.submit = alone}).ok());
  began.get_future().wait();
  bool handed_over = false;
  ASSERT_TRUE(submitter->Submit(queue, {}).ok());
  ASSERT_TRUE(submitter
                  ->Submit(queue, {.submit = [&](const Job&) -> absl::StatusOr<Fence> {
                             handed_over = true;
                             return absl::UnavailableError("without the device");
                           }})
                  .ok());
  device.reset();
  destroyed.set_value();
  while (submitter->held() != 0) std::this_thread::yield();
  EXPECT_FALSE(handed_over);
}

// Eight threads with a queue each, which wait for each other's values.
TEST(SubmitterThreads, SubmitAndWaitAtTheSameTime) {
  for (const bool thread : {false, true}) {
    ModelDevice device;
    device.set_instant(true);
    const auto submitter = Submitter::Create(device, {.thread = thread});
    constexpr uint64_t kThreads = 8, kJobs = 200;
    std::vector<QueueId> queues;
    std::vector<TimelineId> timelines;
    for (uint64_t i = 0; i < kThreads; ++i) {
      queues.push_back(submitter->AddQueue({}));
      timelines.push_back(submitter->AddTimeline());
    }
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        for (uint64_t k = 1; k <= kJobs; ++k) {
          // Of the next thread, what it did in the round before.
          const TimelinePoint wait = {timelines[(i + 1) % kThreads], k - 1};
          const TimelinePoint signal = {timelines[i], k};
          const auto point =
              submitter->Submit(queues[i], {.waits = {&wait, 1}, .signals = {&signal, 1}});
          ASSERT_TRUE(point.ok());
          if (k % 16 == 0) {
            EXPECT_EQ(*submitter->Wait(*point, absl::InfiniteDuration()), true);
          }
        }
      });
    }
    for (std::thread& one : threads) one.join();
    for (const TimelineId timeline : timelines) {
      EXPECT_EQ(*submitter->Wait({timeline, kJobs}, absl::InfiniteDuration()), true);
    }
  }
}

// While a job is handed over, the lock is released: the queues that a thread goes through grow.
TEST(SubmitterThreads, QueuesAreAddedWhileAJobIsHandedOver) {
  for (const bool thread : {false, true}) {
    ModelDevice device;
    device.set_instant(true);
    const auto submitter = Submitter::Create(device, {.thread = thread});
    const TimelineId gate = submitter->AddTimeline();
    const TimelinePoint open = {gate, 1};
    constexpr int kQueues = 300;  // many times as many as a deque has room for at first
    std::vector<TimelinePoint> points;
    // The lock is released in `submit`, in which another thread adds a queue with a job of its own.
    const auto submit = [&](const Job& job) {
      QueueId added = {};
      std::thread([&] {
        added = submitter->AddQueue({});
        const auto point = submitter->Submit(added, {.waits = {&open, 1}});
        ASSERT_TRUE(point.ok());
        points.push_back(*point);
      }).join();
      return device.Submit(job);
    };
    const QueueId first = submitter->AddQueue({});
    // Queues that come after it, so that the thread goes on from where the list has moved.
    for (int i = 0; i < 16; ++i) submitter->AddQueue({});
    for (int i = 0; i < kQueues; ++i) {
      const auto point = submitter->Submit(first, {.waits = {&open, 1}, .submit = submit});
      ASSERT_TRUE(point.ok());
      if (i + 1 == kQueues) {
        ASSERT_TRUE(submitter->Signal(open).ok());
        EXPECT_EQ(*submitter->Wait(*point, absl::InfiniteDuration()), true);
      }
    }
    ASSERT_EQ(points.size(), kQueues);
    for (const TimelinePoint point : points) {
      EXPECT_EQ(*submitter->Wait(point, absl::InfiniteDuration()), true);
    }
    EXPECT_EQ(submitter->held(), 0u);
  }
}

}  // namespace
}  // namespace packsmith::gpu
