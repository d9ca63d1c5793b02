#include "runtime/kernel/drm/ring.h"

#include <deque>
#include <memory>
#include <random>

#include "gtest/gtest.h"

namespace packsmith::gpu {
namespace {

TEST(RingTest, IsAQueueWhateverComesAndGoes) {
  Ring<int> ring;
  std::deque<int> model;
  std::mt19937 random(1);
  for (int step = 0; step < 20000; ++step) {
    // Longer phases in which it grows, and in which it shrinks.
    const bool grows = (step / 500) % 2 == 0;
    if (random() % 4 < (grows ? 3u : 1u)) {
      ring.push_back(step);
      model.push_back(step);
    } else if (!model.empty()) {
      ring.pop_front();
      model.pop_front();
    }
    ASSERT_EQ(ring.size(), model.size());
    ASSERT_EQ(ring.empty(), model.empty());
    for (size_t i = 0; i < model.size(); i += 7) ASSERT_EQ(ring[i], model[i]);
  }
}

TEST(RingTest, WhatGoesIsDestroyedAtOnce) {
  Ring<std::shared_ptr<int>> ring;
  const auto value = std::make_shared<int>(1);
  ring.push_back(value);
  EXPECT_EQ(value.use_count(), 2);
  ring.pop_front();
  EXPECT_EQ(value.use_count(), 1);
}

}  // namespace
}  // namespace packsmith::gpu
