#include "runtime/intel/binding/surface_groups.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

SurfaceUses RandomUses(std::mt19937_64& random, unsigned density) {
  SurfaceUses uses;
  for (unsigned group = 0; group < kSurfaceGroups; ++group) {
    for (uint32_t slot = 0; slot < kMostGroupSlots[group]; ++slot) {
      if (random() % 16 < density) uses.all[group].Set(slot);
    }
  }
  return uses;
}

// Against a list of the used slots.
TEST(SurfaceGroupsTest, SlotsAndEntriesLeadToEachOther) {
  std::mt19937_64 random(1);
  unsigned refused = 0;
  for (unsigned round = 0; round < 500; ++round) {
    const SurfaceUses uses = RandomUses(random, round % 17);
    std::vector<SurfaceSlot> expected;
    for (unsigned group = 0; group < kSurfaceGroups; ++group) {
      for (uint32_t slot = 0; slot < SlotMask::kMost; ++slot) {
        if (uses.all[group].Has(slot)) expected.push_back({static_cast<SurfaceGroup>(group), slot});
      }
    }
    const auto map = SurfaceTableMap::Create(uses);
    ASSERT_EQ(map.ok(), expected.size() <= kMostTableSurfaces) << map.status();
    if (!map.ok()) {
      ++refused;
      continue;
    }
    ASSERT_EQ(map->size(), expected.size());
    for (uint32_t index = 0; index < expected.size(); ++index) {
      ASSERT_EQ(map->SlotOf(index), expected[index]);
      ASSERT_EQ(map->IndexOf(expected[index].group, expected[index].slot), index);
    }
    uint32_t sum = 0;
    for (unsigned i = 0; i < kSurfaceGroups; ++i) {
      const auto group = static_cast<SurfaceGroup>(i);
      ASSERT_EQ(map->first(group), sum);
      sum += map->count(group);
      for (uint32_t slot = 0; slot < SlotMask::kMost + 5; ++slot) {
        if (!uses[group].Has(slot)) {
          ASSERT_EQ(map->IndexOf(group, slot), SurfaceTableMap::kUnused);
        }
      }
    }
    // Slot s of group g has the state 1000 g + s.
    std::vector<std::vector<uint32_t>> bound(kSurfaceGroups);
    SurfaceGroupStates states;
    for (unsigned group = 0; group < kSurfaceGroups; ++group) {
      bound[group].resize(random() % (kMostGroupSlots[group] + 1));
      for (uint32_t slot = 0; slot < bound[group].size(); ++slot) {
        bound[group][slot] = 1000 * group + slot;
      }
      states.all[group] = bound[group];
    }
    std::vector<uint32_t> table(expected.size() + 1, 99999);
    ASSERT_TRUE(map->Fill(states, 77777, absl::MakeSpan(table)).ok());
    for (uint32_t index = 0; index < expected.size(); ++index) {
      const auto group = static_cast<unsigned>(expected[index].group);
      const uint32_t slot = expected[index].slot;
      ASSERT_EQ(table[index], slot < bound[group].size() ? 1000 * group + slot : 77777);
    }
    ASSERT_EQ(table.back(), 99999u);
  }
  EXPECT_GT(refused, 10u);
}

TEST(SurfaceGroupsTest, RenderTargetsComeFirst) {
  SurfaceUses uses;
  uses[SurfaceGroup::kStorageBuffer].Set(3);
  uses[SurfaceGroup::kRenderTarget].SetFirst(2);
  uses[SurfaceGroup::kTexture].Set(0).Set(5).Set(127);
  const auto map = SurfaceTableMap::Create(uses);
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->size(), 6u);
  EXPECT_EQ(map->IndexOf(SurfaceGroup::kRenderTarget, 1), 1u);
  EXPECT_EQ(map->IndexOf(SurfaceGroup::kTexture, 5), 3u);
  EXPECT_EQ(map->IndexOf(SurfaceGroup::kTexture, 127), 4u);
  EXPECT_EQ(map->IndexOf(SurfaceGroup::kStorageBuffer, 3), 5u);
}

TEST(SurfaceGroupsTest, NothingIsAnEmptyTable) {
  EXPECT_EQ(SurfaceTableMap().size(), 0u);
  EXPECT_TRUE(SurfaceTableMap().Fill({}, 0, {}).ok());
}

TEST(SurfaceGroupsTest, ErrorsNameWhatDoesNotFit) {
  SurfaceUses uses;
  uses[SurfaceGroup::kImage].Set(64);
  EXPECT_THAT(SurfaceTableMap::Create(uses).status().message(),
              HasSubstr("a shader uses image 64; there may be 64, numbered from 0"));
  uses = {};
  uses[SurfaceGroup::kTexture].SetFirst(128);
  uses[SurfaceGroup::kImage].SetFirst(64);
  uses[SurfaceGroup::kStorageBuffer].SetFirst(32);
  uses[SurfaceGroup::kUniformBuffer].SetFirst(16);
  EXPECT_TRUE(SurfaceTableMap::Create(uses).ok());
  uses[SurfaceGroup::kRenderTarget].SetFirst(1);
  EXPECT_THAT(SurfaceTableMap::Create(uses).status().message(),
              HasSubstr("a shader uses 241 surfaces (1 of \"render target\", 128 of \"texture\""));
  EXPECT_TRUE(SurfaceTableMap::Create(uses, 241).ok());
  uint32_t room[1];
  SurfaceUses two;
  two[SurfaceGroup::kTexture].SetFirst(2);
  EXPECT_THAT(SurfaceTableMap::Create(two)->Fill({}, 0, absl::MakeSpan(room)).message(),
              HasSubstr("2 entries; there is room for 1"));
}

}  // namespace
}  // namespace packsmith::intel
