#include "runtime/intel/state/vertex_reach.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace packsmith::intel {
namespace {

constexpr uint64_t kStretch = uint64_t{1} << 32;

TEST(VertexReachTest, ABufferInAnotherStretchMakesTheCacheStale) {
  VertexReach reach;
  EXPECT_TRUE(reach.Set(0, 0x1000));
  EXPECT_TRUE(reach.Set(1, kStretch - 4));
  EXPECT_FALSE(reach.stale());
  EXPECT_TRUE(reach.Set(1, kStretch));
  EXPECT_TRUE(reach.stale());
  reach.Invalidated();
  EXPECT_TRUE(reach.Set(1, 2 * kStretch - 4));
  EXPECT_FALSE(reach.stale());
  // Slots are separate, and indices have their own.
  EXPECT_TRUE(reach.Set(VertexReach::kIndices, 0x2000));
  EXPECT_FALSE(reach.stale());
  EXPECT_TRUE(reach.Set(VertexReach::kIndices, 0x7fffull << 32));
  EXPECT_TRUE(reach.stale());
}

TEST(VertexReachTest, ThereAndBackAgainIsStaleStill) {
  VertexReach reach;
  EXPECT_TRUE(reach.Set(3, 5 * kStretch));
  EXPECT_TRUE(reach.Set(3, 0x1000));
  EXPECT_TRUE(reach.stale());
}

// Canonical addresses have the same bits twice.
TEST(VertexReachTest, SignsAreNoBits) {
  VertexReach reach;
  EXPECT_TRUE(reach.Set(0, 0xffff800012345000));
  EXPECT_TRUE(reach.stale());
  reach.Invalidated();
  EXPECT_TRUE(reach.Set(0, 0x0000800012345000));
  EXPECT_FALSE(reach.stale());
}

TEST(VertexReachTest, ThereAreSoManySlots) {
  VertexReach reach;
  EXPECT_TRUE(reach.Set(kMostVertexBuffers - 1, 0));
  EXPECT_FALSE(reach.Set(VertexReach::kIndices + 1, kStretch));
  EXPECT_FALSE(reach.Set(~0u, kStretch));
  EXPECT_FALSE(reach.stale());
}

}  // namespace
}  // namespace packsmith::intel
