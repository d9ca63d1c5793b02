// Binding tables: against a map, with memory that runs out at every step.
#include "runtime/intel/binding/binder.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/intel/batch/generations.h"
#include "tests/intel/binding/binder_world.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

constexpr BindingModel kModels[] = {BindingModel::kBinder, BindingModel::kBlocks};

template <class Gen>
class BinderTest : public testing::Test {};
TYPED_TEST_SUITE(BinderTest, Generations);

std::vector<uint32_t> RandomSurfaces(std::mt19937& random, size_t most) {
  std::vector<uint32_t> surfaces(random() % (most + 1));
  for (uint32_t& surface : surfaces) surface = 64 * (1 + random() % 1000);
  return surfaces;
}

TEST(BinderHash, IsTheSameOnMachinesWithoutProductsOf128Bits) {
  std::mt19937_64 random(1);
  EXPECT_EQ(MixProductOfHalves(~uint64_t{0}, ~uint64_t{0}), ~uint64_t{0});
  for (int i = 0; i < 1000; ++i) {
    const uint64_t a = random() >> random() % 64, b = random() >> random() % 64;
    EXPECT_EQ(MixProductOfHalves(a, b), MixProduct(a, b)) << a << " " << b;
  }
}

TYPED_TEST(BinderTest, TablesHoldWhatWasBoundAndEqualOnesShareAPlace) {
  for (const BindingModel model : kModels) {
    std::mt19937 random(static_cast<unsigned>(model));
    BinderWorld<TypeParam> world(model);
    auto& binder = *world.binder;
    ASSERT_TRUE(binder.Begin(world.batch).ok());
    ASSERT_NE(binder.TakeEvents() & kSurfaceBaseMoved, 0u);
    std::array<std::vector<uint32_t>, kBindingStages> bound;
    std::map<std::vector<uint32_t>, uint32_t> places;  // of the current block
    std::vector<std::vector<uint32_t>> known;
    uint64_t moves = 0;
    const unsigned large = binder.rules().block > (512 << 10) ? 7 : 1;  // of eight tables
    for (unsigned step = 0; step < 6000; ++step) {
      const unsigned stage = random() % kBindingStages;
      const BindingStage which = static_cast<BindingStage>(stage);
      std::vector<uint32_t> surfaces =
          !known.empty() && random() % 4 == 0
              ? known[random() % known.size()]
              : RandomSurfaces(random, random() % 8 < large ? 240 : 20);
      known.push_back(surfaces);
      const uint32_t room = binder.room();
      const std::array<std::vector<uint32_t>, kBindingStages> before = bound;
      ASSERT_TRUE(binder.Bind(world.batch, which, surfaces).ok());
      bound[stage] = surfaces;
      const BindingEvents events = binder.TakeEvents();

      const bool moved = binder.statistics().moves != moves;
      moves = binder.statistics().moves;
      const bool is_new = !surfaces.empty() && places.count(surfaces) == 0;
      ASSERT_EQ(moved, is_new && room < world.BytesFor(surfaces.size())) << step;
      ASSERT_EQ((events & (kSurfaceBaseMoved | kTablePoolMoved)) != 0, moved);
      if (moved) places.clear();
      for (unsigned s = 0; s < kBindingStages; ++s) {
        const BindingStage one = static_cast<BindingStage>(s);
        ASSERT_EQ(binder.count(one), bound[s].size());
        // What it has is emitted again if it changed, or all did.
        ASSERT_EQ((events & PointerOf(one)) != 0,
                  (s == stage && before[s] != bound[s]) || (moved && !bound[s].empty()))
            << step << ", stage " << s;
        if (bound[s].empty()) {
          ASSERT_EQ(binder.pointer(one), 0u);
          continue;
        }
        ASSERT_EQ(world.SurfacesAt(binder.pointer(one), bound[s].size()), bound[s]);
        const auto [place, added] = places.emplace(bound[s], binder.pointer(one));
        ASSERT_EQ(place->second, binder.pointer(one));
      }
    }
    EXPECT_GT(moves, 1u);
    EXPECT_EQ(binder.old_blocks(), moves);
    EXPECT_GT(binder.statistics().shared, 100u);
    // Tables do not overlap each other, nor the block's end.
    std::map<uint32_t, size_t> by_place;
    for (const auto& [surfaces, pointer] : places) by_place[pointer] = surfaces.size();
    uint64_t end = binder.rules().first;
    for (const auto& [pointer, count] : by_place) {
      const uint64_t offset = uint64_t{pointer} << binder.rules().pointer_shift;
      ASSERT_GE(offset, end);
      ASSERT_EQ(offset % binder.rules().alignment, 0u);
      end = offset + count * 4;
    }
    EXPECT_LE(end, binder.block().size);
    const uint64_t live = world.memory.buffers->statistics().live;
    EXPECT_TRUE(binder.ReleaseOld().ok());
    EXPECT_EQ(world.memory.buffers->statistics().live, live - moves);
  }
}

TYPED_TEST(BinderTest, PointersReachTheBlockAndNoFurther) {
  using Pointers = typename TypeParam::Packets::_3DSTATE_BINDING_TABLE_POINTERS_PS;
  constexpr unsigned kVersion = TypeParam::kVersion;
  const auto fits = [](const BindingRules& rules, uint32_t offset) {
    return !Pointers{.pointer_to_ps_binding_table = offset >> rules.pointer_shift}.check();
  };
  for (const BindingModel model : kModels) {
    const BindingRules rules = BindingRulesOf(model, TypeParam::kFacts);
    EXPECT_TRUE(fits(rules, rules.block - rules.alignment));
    EXPECT_TRUE(fits(rules, rules.first));
    EXPECT_TRUE(fits(rules, rules.alignment));
    EXPECT_FALSE(fits(rules, rules.alignment / 2)) << "tables could be closer to each other";
  }
  const BindingRules binder = BindingRulesOf(BindingModel::kBinder, TypeParam::kFacts);
  // From Gfx12.5 on, drivers use only half of the pointers' range.
  EXPECT_FALSE(fits(binder, kVersion >= 125 ? 2 * binder.block : binder.block));
  EXPECT_EQ(binder.block, kVersion <= 90 ? 64u << 10 : kVersion <= 120 ? 512u << 10 : 1u << 20);
  EXPECT_EQ(binder.own_base, kVersion >= 110);
  const BindingRules blocks = BindingRulesOf(BindingModel::kBlocks, TypeParam::kFacts);
  EXPECT_EQ(blocks.block, 64u << 10);
  EXPECT_EQ(blocks.own_base, kVersion >= 125);
}

TYPED_TEST(BinderTest, TheSameTableAgainIsNoChange) {
  BinderWorld<TypeParam> world(BindingModel::kBinder);
  auto& binder = *world.binder;
  ASSERT_TRUE(binder.Begin(world.batch).ok());
  const uint32_t surfaces[] = {64, 128};
  ASSERT_TRUE(binder.Bind(world.batch, BindingStage::kPixel, surfaces).ok());
  binder.TakeEvents();
  ASSERT_TRUE(binder.Bind(world.batch, BindingStage::kPixel, surfaces).ok());
  EXPECT_EQ(binder.TakeEvents(), 0u);
  EXPECT_EQ(binder.statistics().unchanged, 1u);
  // A new batch needs all of it.
  ASSERT_TRUE(binder.Begin(world.batch).ok());
  EXPECT_EQ(binder.TakeEvents() & kAllPointers, PointerOf(BindingStage::kPixel));
}

TYPED_TEST(BinderTest, MistakesSayWhichSurface) {
  for (const BindingModel model : kModels) {
    BinderWorld<TypeParam> world(model);
    auto& binder = *world.binder;
    const uint32_t good[] = {64};
    EXPECT_THAT(binder.Bind(world.batch, BindingStage::kPixel, good).message(), HasSubstr("Begin"));
    ASSERT_TRUE(binder.Begin(world.batch).ok());
    binder.TakeEvents();
    const auto wrong = [&](const std::vector<uint32_t>& surfaces) {
      const uint32_t room = binder.room();
      const absl::Status status = binder.Bind(world.batch, BindingStage::kPixel, surfaces);
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
      EXPECT_EQ(binder.room(), room);
      EXPECT_EQ(binder.TakeEvents(), 0u);
      EXPECT_EQ(binder.count(BindingStage::kPixel), 0u);
      return std::string(status.message());
    };
    EXPECT_THAT(wrong(std::vector<uint32_t>(241, 64)), HasSubstr("241 surfaces"));
    EXPECT_THAT(wrong({64, 65}), HasSubstr("surface 1 of a binding table is at offset 0x41"));
    EXPECT_THAT(wrong({64, 64, 0xffffffc0}), HasSubstr("surface 2"));
    EXPECT_TRUE(
        binder.Bind(world.batch, BindingStage::kPixel, std::vector<uint32_t>(240, 64)).ok());
  }
}

TYPED_TEST(BinderTest, WritesThatMoveTheBaseHaveToGoSomewhere) {
  BinderWorld<TypeParam> world(BindingModel::kBinder);
  auto options = world.options;
  options.scratch = {};
  EXPECT_THAT(Binder<TypeParam>::Create(*world.memory.buffers, options).status().message(),
              HasSubstr("scratch"));
  if (!world.binder->rules().own_base) return;
  // No caching policy: the packet's error is returned, and nothing is emitted.
  options = world.options;
  options.mocs = 0;
  const auto binder = Value(Binder<TypeParam>::Create(*world.memory.buffers, options));
  EXPECT_THAT(binder->Begin(world.batch).message(), HasSubstr("mocs"));
  EXPECT_EQ(world.batch.dwords(), 0u);
  EXPECT_EQ(binder->TakeEvents(), 0u);
}

// Fills the block, so that the next table does not fit.
template <class World, class Batch>
void Fill(World& world, Batch& batch) {
  std::vector<uint32_t> surfaces(240, 64);
  while (world.binder->room() >= world.BytesFor(240)) {
    surfaces[0] += 64;
    surfaces[1] = 64 * (1 + surfaces[0] / 64000);
    ASSERT_TRUE(world.binder->Bind(batch, BindingStage::kVertex, surfaces).ok());
  }
  world.binder->TakeEvents();
}

TYPED_TEST(BinderTest, WithoutMemoryForABlockNothingChanges) {
  for (const BindingModel model : kModels) {
    BinderWorld<TypeParam> world(model);
    auto& binder = *world.binder;
    ASSERT_TRUE(binder.Begin(world.batch).ok());
    Fill(world, world.batch);
    const std::vector<uint32_t> next(240, 64);
    const uint32_t pointer = binder.pointer(BindingStage::kVertex);
    const uint64_t block = binder.block().address;
    const size_t dwords = world.batch.dwords();
    int calls = 0;
    for (;; ++calls) {
      world.memory.device.FailAfter(calls);
      const absl::Status status = binder.Bind(world.batch, BindingStage::kPixel, next);
      if (status.ok()) break;
      ASSERT_LT(calls, 20);
      EXPECT_EQ(binder.TakeEvents(), 0u);
      EXPECT_EQ(binder.pointer(BindingStage::kVertex), pointer);
      EXPECT_EQ(binder.count(BindingStage::kPixel), 0u);
      EXPECT_EQ(binder.block().address, block);
      EXPECT_EQ(binder.statistics().moves, 0u);
      EXPECT_EQ(world.batch.dwords(), dwords);
      EXPECT_TRUE(world.batch.status().ok());
    }
    EXPECT_GE(calls, 1);
    EXPECT_EQ(binder.statistics().moves, 1u);
    EXPECT_NE(binder.TakeEvents() & PointerOf(BindingStage::kVertex), 0u);
  }
}

TYPED_TEST(BinderTest, WithoutRoomInTheBatchNothingChanges) {
  for (const BindingModel model : kModels) {
    // A batch of one chunk, which the bases and little more fit in.
    size_t needed = 0;
    {
      BinderWorld<TypeParam> world(model);
      ASSERT_TRUE(world.binder->Begin(world.batch).ok());
      needed = world.batch.dwords();
    }
    for (size_t dwords = 16; dwords < needed + 200; dwords += 8) {
      gpu::HostChunks chunks({.chunk_dwords = dwords, .most_chunks = 1});
      BinderWorld<TypeParam> world(model);
      Batch<TypeParam> batch(chunks);
      auto& binder = *world.binder;
      if (!binder.Begin(batch).ok()) {
        EXPECT_EQ(batch.dwords(), 0u);
        EXPECT_EQ(binder.TakeEvents(), 0u);
        EXPECT_FALSE(batch.TakeStatus().ok());
        continue;
      }
      binder.TakeEvents();
      Fill(world, batch);
      const uint32_t pointer = binder.pointer(BindingStage::kVertex);
      const uint64_t live = world.memory.buffers->statistics().live;
      const size_t before = batch.dwords();
      const std::vector<uint32_t> next(240, 64);
      if (binder.Bind(batch, BindingStage::kPixel, next).ok()) {
        EXPECT_EQ(binder.statistics().moves, 1u);
        break;
      }
      EXPECT_EQ(binder.TakeEvents(), 0u);
      EXPECT_EQ(binder.pointer(BindingStage::kVertex), pointer);
      EXPECT_EQ(binder.count(BindingStage::kPixel), 0u);
      EXPECT_EQ(batch.dwords(), before);
      EXPECT_EQ(world.memory.buffers->statistics().live, live);
      ASSERT_LT(dwords + 8, needed + 200) << "it never fits";
    }
  }
}

TYPED_TEST(BinderTest, ABlockThatDoesNotReachTheSurfacesIsRefused) {
  for (const BindingModel model : kModels) {
    BinderWorld<TypeParam> world(model);
    auto options = world.options;
    options.surface_bytes = kSurfaceReach + 64;  // too many for any
    const uint64_t live = world.memory.buffers->statistics().live;
    EXPECT_THAT(Binder<TypeParam>::Create(*world.memory.buffers, options).status().message(),
                HasSubstr("4 GiB"));
    if (world.binder->rules().own_base) continue;  // tables may be anywhere
    options.surface_bytes = world.options.surface_bytes;
    options.surface_base = 4096;
    EXPECT_THAT(Binder<TypeParam>::Create(*world.memory.buffers, options).status().message(),
                HasSubstr("cannot reach"));
    EXPECT_EQ(world.memory.buffers->statistics().live, live);
  }
}

}  // namespace
}  // namespace packsmith::intel
