#include "runtime/intel/state/multiview.h"

#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/pipeline/bit_table.h"
#include "tests/intel/pipeline/packed.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

MultiviewPlan PlanOf(const MultiviewOptions& options, bool can_replicate) {
  const auto plan = PlanMultiview(options, can_replicate);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.value_or(MultiviewPlan());
}

TEST(MultiviewTest, EachMaskHasAPlan) {
  for (uint32_t mask = 0; mask < 1u << kMostViews; mask += mask < 300 ? 1 : 977) {
    for (const uint32_t most : {0u, 2u, 5u, 16u}) {
      for (unsigned bits = 0; bits < 4; ++bits) {
        const bool can = (bits & 1) != 0, only_positions = (bits & 2) != 0;
        const MultiviewPlan plan = PlanOf(
            {.view_mask = mask, .only_positions_differ = only_positions, .most_replicated = most},
            can);
        const auto views = static_cast<uint32_t>(__builtin_popcount(mask));
        if (mask == 0) {
          ASSERT_EQ(plan.method, MultiviewMethod::kNone);
          ASSERT_EQ(plan.instance_multiplier() * plan.positions(), 1u);
          continue;
        }
        ASSERT_EQ(plan.views, views);
        ASSERT_EQ(plan.method == MultiviewMethod::kReplication,
                  can && only_positions && views > 1 && views <= most);
        ASSERT_EQ(plan.instance_multiplier() * plan.positions(), views);
        uint32_t seen = 0;
        for (uint32_t i = 0; i < views; ++i) {
          ASSERT_EQ(plan.packed_layers() >> 4 * i & 15, plan.layers[i]);
          seen |= 1u << plan.layers[i];
        }
        ASSERT_EQ(seen, mask);
      }
    }
  }
}

TEST(MultiviewTest, InstancesAreMultiplied) {
  const MultiviewPlan plan = PlanOf({.view_mask = 0b10110}, true);
  EXPECT_EQ(*InstancesOf(plan, 5), 15u);
  EXPECT_EQ(*DivisorOf(plan, 2), 6u);
  EXPECT_EQ(*DivisorOf(plan, 0), 0u);
  EXPECT_EQ(*InstancesOf(plan, 0x55555555), 0xffffffffu);
  EXPECT_EQ(InstancesOf(plan, 0x55555556).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(*InstancesOf(MultiviewPlan(), ~0u), ~0u);
}

TEST(MultiviewTest, ErrorsNameTheLimit) {
  EXPECT_THAT(PlanMultiview({.view_mask = 0x10001}, true).status().message(),
              HasSubstr("view mask 0x10001 has view 16; there may be views 0 to 15"));
  EXPECT_THAT(PlanMultiview({.view_mask = 1, .most_replicated = 17}, true).status().message(),
              HasSubstr("at most 16"));
}

template <class Gen>
class ViewsPacketTest : public testing::Test {};
TYPED_TEST_SUITE(ViewsPacketTest, Generations);

TYPED_TEST(ViewsPacketTest, SaysWhichLayers) {
  if constexpr (CanReplicate<TypeParam>()) {
    const MultiviewPlan plan =
        PlanOf({.view_mask = 0b1001, .only_positions_differ = true}, CanReplicate<TypeParam>());
    const auto packet = ViewsPacket<TypeParam>(plan);
    EXPECT_FALSE(packet.check());
    EXPECT_EQ(packet.replication_count, 1u);
    EXPECT_EQ(packet.replica_mask, 3u);
    EXPECT_EQ(packet.rtai_offset[0], 0u);
    EXPECT_EQ(packet.rtai_offset[1], 3u);
    EXPECT_EQ(packet.rtai_offset[2], 0u);
    const MultiviewPlan all =
        PlanOf({.view_mask = 0xffff, .only_positions_differ = true, .most_replicated = 16}, true);
    EXPECT_FALSE(ViewsPacket<TypeParam>(all).check());
    EXPECT_EQ(ViewsPacket<TypeParam>(all).rtai_offset[15], 15u);
    const auto none = ViewsPacket<TypeParam>(PlanOf({.view_mask = 3}, true));
    EXPECT_EQ(none.replica_mask | none.replication_count, 0u);
  } else {
    EXPECT_EQ(
        PlanOf({.view_mask = 3, .only_positions_differ = true}, CanReplicate<TypeParam>()).method,
        MultiviewMethod::kInstances);
  }
}

// No capture replicates. Bit positions: BSpec, 3DSTATE_PRIMITIVE_REPLICATION, as Mesa's genxml has
// them; the same from Gfx12 on.
TYPED_TEST(ViewsPacketTest, IsItsBits) {
  if constexpr (CanReplicate<TypeParam>()) {
    for (uint32_t mask = 1; mask < 1u << kMostViews; mask += 613) {
      const MultiviewPlan plan = PlanOf(
          {.view_mask = mask, .only_positions_differ = true, .most_replicated = kMostViews}, true);
      Dwords expected = FromBits(6, 0x6c, {});
      uint32_t views = 0;
      for (uint32_t layer = 0; layer < kMostViews; ++layer) {
        if ((mask >> layer & 1) == 0) continue;
        // The layer's offset; all views have the viewport of the vertex.
        SetBits({128 + 4 * views, 131 + 4 * views, layer}, expected);
        ++views;
      }
      if (views > 1) {
        SetBits({32, 35, views - 1}, expected);
        SetBits({48, 63, (1u << views) - 1}, expected);
      } else {
        expected = FromBits(6, 0x6c, {});  // one view is drawn as without replication
      }
      EXPECT_EQ(DwordsOf(ViewsPacket<TypeParam>(plan)), expected) << mask;
    }
  }
}

}  // namespace
}  // namespace packsmith::intel
