// Blocks of binding tables: an address comes back as late as possible.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/intel/binding/binder.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/binding/binder_world.h"

namespace packsmith::intel {
namespace {

constexpr uint32_t kBlocks = 7;

template <class Gen>
class BinderWrapTest : public testing::Test {
 protected:
  static constexpr uint32_t kBlock = Gen::kFacts.binder.block;

  BinderWrapTest()
      : memory_(Zones(), Gen::kVersion, Gen::kName),
        chunks_(*memory_.buffers, {.zone = memory_.Zone("other")}) {
    const gpu::Buffer scratch =
        Value(memory_.buffers->Create({.size = 64, .zone = memory_.Zone("other")}));
    options_ = {.zone = memory_.Zone("binder"),
                .surface_base = memory_.Begin("surface"),
                .surface_bytes = gpu::kGiB,
                .bases = {.general_state_mocs = 4,
                          .stateless_data_port_access_mocs = 4,
                          .surface_state_mocs = 4,
                          .dynamic_state_mocs = 4,
                          .indirect_object_mocs = 4,
                          .instruction_mocs = 4},
                .mocs = 4,
                .scratch = {scratch.address, scratch.handle}};
    if constexpr (requires { options_.bases.bindless_surface_state_mocs; }) {
      options_.bases.bindless_surface_state_mocs = 4;
    }
    if constexpr (requires { options_.bases.bindless_sampler_state_mocs; }) {
      options_.bases.bindless_sampler_state_mocs = 4;
    }
  }

  static absl::Span<const gpu::ZoneRow> Zones() {
    static constexpr gpu::ZoneRow kRows[] = {
        {.name = "binder", .begin = gpu::kGiB, .size = kBlocks * uint64_t{kBlock}},
        {.name = "surface", .begin = 2 * gpu::kGiB, .size = gpu::kGiB},
        {.name = "other", .begin = 4 * gpu::kGiB, .below_top = 4 * gpu::kGiB},
    };
    return kRows;
  }

  // Fills the block with tables until the binder moves; the address of the new block.
  uint64_t Move(Binder<Gen>& binder, Batch<Gen>& batch) {
    const uint64_t moves = binder.statistics().moves;
    std::vector<uint32_t> surfaces(kMostTableSurfaces);
    while (binder.statistics().moves == moves) {
      for (uint32_t& surface : surfaces) surface = 64 * static_cast<uint32_t>(random_() % 4096);
      EXPECT_TRUE(binder.Bind(batch, BindingStage::kPixel, surfaces).ok());
    }
    return binder.block().address;
  }

  BindingMemory memory_;
  gpu::BufferChunks chunks_;
  typename Binder<Gen>::Options options_;
  std::mt19937 random_{1};
};
TYPED_TEST_SUITE(BinderWrapTest, Generations);

TYPED_TEST(BinderWrapTest, AllPlacesAreUsedBeforeOneComesBack) {
  auto binder = Value(Binder<TypeParam>::Create(*this->memory_.buffers, this->options_));
  Batch<TypeParam> batch(this->chunks_);
  ASSERT_TRUE(binder->Begin(batch).ok());
  std::vector<uint64_t> places = {binder->block().address};
  for (unsigned move = 0; move < 3 * kBlocks; ++move) {
    places.push_back(this->Move(*binder, batch));
    ASSERT_TRUE(binder->ReleaseOld().ok());
  }
  for (size_t i = 0; i < places.size(); ++i) {
    // The neighbour of the last one, then the zone's beginning.
    if (i != 0 && places[i] != this->memory_.Begin("binder")) {
      EXPECT_EQ(places[i], places[i - 1] + this->kBlock) << i;
    }
    if (i >= kBlocks) {
      EXPECT_EQ(places[i], places[i - kBlocks]) << i;
    }
    for (size_t k = i >= kBlocks ? i - kBlocks + 1 : 0; k < i; ++k) EXPECT_NE(places[i], places[k]);
  }
}

// Random holes: buffers of others in the zone, which come and go, and blocks that are released
// late.
TYPED_TEST(BinderWrapTest, TheNextBlockIsTheNextHole) {
  auto binder = Value(Binder<TypeParam>::Create(*this->memory_.buffers, this->options_));
  Batch<TypeParam> batch(this->chunks_);
  ASSERT_TRUE(binder->Begin(batch).ok());
  const uint64_t begin = this->memory_.Begin("binder");
  std::vector<gpu::Buffer> others;
  for (unsigned move = 0; move < 60; ++move) {
    if (!others.empty() && this->random_() % 2 == 0) {
      ASSERT_TRUE(this->memory_.buffers->Release(others.back().handle).ok());
      others.pop_back();
    }
    if (others.size() < 2 && this->random_() % 2 == 0) {
      const auto other = this->memory_.buffers->Create(
          {.size = 4096 * (1 + this->random_() % 4), .zone = this->options_.zone});
      if (other.ok()) others.push_back(*other);
    }
    if (this->random_() % 2 == 0 || binder->old_blocks() >= 2) {
      ASSERT_TRUE(binder->ReleaseOld().ok());
    }
    // The model: every place, from the end of the block on, then from the zone's beginning.
    const uint64_t end = binder->block().address + binder->block().size;
    std::vector<uint64_t> order;
    for (uint64_t at = begin; at + this->kBlock <= begin + kBlocks * uint64_t{this->kBlock};
         at += 64 << 10) {
      order.push_back(at);
    }
    std::stable_partition(order.begin(), order.end(), [&](uint64_t at) { return at >= end; });
    const auto free = [&](uint64_t at) {
      for (uint64_t page = at; page < at + this->kBlock; page += 4096) {
        if (this->memory_.space->Find(page).ok()) return false;
      }
      return true;
    };
    const auto expected = std::find_if(order.begin(), order.end(), free);
    if (expected == order.end()) continue;
    ASSERT_EQ(this->Move(*binder, batch), *expected) << move;
  }
  EXPECT_GT(binder->statistics().moves, 30u);
  for (const gpu::Buffer& other : others) {
    EXPECT_TRUE(this->memory_.buffers->Release(other.handle).ok());
  }
}

TYPED_TEST(BinderWrapTest, AFullZoneIsAnError) {
  auto binder = Value(Binder<TypeParam>::Create(*this->memory_.buffers, this->options_));
  Batch<TypeParam> batch(this->chunks_);
  ASSERT_TRUE(binder->Begin(batch).ok());
  for (unsigned move = 1; move < kBlocks; ++move) this->Move(*binder, batch);
  const uint64_t block = binder->block().address;
  std::vector<uint32_t> surfaces(kMostTableSurfaces);
  absl::Status status;
  for (unsigned i = 0; status.ok(); ++i) {
    ASSERT_LT(i, 10000u);
    for (uint32_t& surface : surfaces) {
      surface = 64 * static_cast<uint32_t>(this->random_() % 4096);
    }
    status = binder->Bind(batch, BindingStage::kPixel, surfaces);
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(binder->block().address, block);
  ASSERT_TRUE(binder->ReleaseOld().ok());
  EXPECT_TRUE(binder->Bind(batch, BindingStage::kPixel, surfaces).ok());
  EXPECT_EQ(binder->block().address, this->memory_.Begin("binder"));
}

}  // namespace
}  // namespace packsmith::intel
