// Shared states, against a map; and tables of samplers.
#include "runtime/intel/binding/sampler_tables.h"

#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/binding/shared_states.h"
#include "runtime/intel/memory/driver_zones.h"
#include "tests/intel/batch/generations.h"
#include "tests/intel/binding/memory.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

class SharedStatesTest : public testing::Test {
 protected:
  BindingMemory memory_{IrisZones(), 90, "gfx9"};
  std::unique_ptr<gpu::StatePool> pool_ = memory_.Pool("dynamic", memory_.Begin("border colors"));
};

TEST_F(SharedStatesTest, EqualDwordsHaveOnePlaceAsLongAsSomebodyUsesThem) {
  std::mt19937 random(1);
  SharedStates shared(*pool_, 32);
  struct Use {
    uint32_t offset = 0;
    uint64_t users = 0;
  };
  std::map<std::vector<uint32_t>, Use> model;
  std::map<uint32_t, const uint8_t*> memory;
  for (unsigned step = 0; step < 20000; ++step) {
    if (random() % 2 != 0 || model.empty()) {
      std::vector<uint32_t> dwords(1 + random() % 6);
      for (uint32_t& dword : dwords) dword = random() % 3;
      const auto state = shared.Acquire(dwords);
      ASSERT_TRUE(state.ok()) << state.status();
      ASSERT_EQ(state->offset % 32, 0u);
      Use& use = model[dwords];
      if (use.users++ == 0) use.offset = state->offset;
      ASSERT_EQ(state->offset, use.offset);
      memory[state->offset] = state->cpu;
    } else {
      const auto which = std::next(model.begin(), random() % model.size());
      ASSERT_TRUE(shared.Release(which->second.offset).ok());
      if (--which->second.users == 0) model.erase(which);
    }
    ASSERT_EQ(shared.size(), model.size());
    ASSERT_EQ(pool_->statistics().live_states, model.size());
    if (step % 100 != 0) continue;
    for (const auto& [dwords, use] : model) {
      ASSERT_EQ(std::memcmp(memory[use.offset], dwords.data(), dwords.size() * 4), 0);
    }
  }
}

TEST_F(SharedStatesTest, MistakesChangeNothing) {
  SharedStates shared(*pool_, 32);
  const uint32_t dwords[] = {1, 2, 3};
  const gpu::State state = Value(shared.Acquire(dwords));
  EXPECT_EQ(shared.Release(state.offset + 32).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(shared.Acquire({}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(shared.size(), 1u);
  EXPECT_TRUE(shared.Release(state.offset).ok());
  EXPECT_EQ(shared.Release(state.offset).code(), absl::StatusCode::kNotFound);
}

TEST_F(SharedStatesTest, WithoutMemoryNothingChanges) {
  SharedStates shared(*pool_, 32);
  const uint32_t dwords[] = {1, 2, 3};
  for (int calls = 0; calls < 3; ++calls) {
    memory_.device.FailAfter(calls);
    EXPECT_FALSE(shared.Acquire(dwords).ok());
    EXPECT_EQ(shared.size(), 0u);
    EXPECT_EQ(pool_->statistics().live_states, 0u);
  }
  memory_.device.FailAfter(-1);
  EXPECT_TRUE(shared.Acquire(dwords).ok());
}

TEST_F(SharedStatesTest, PlacesAreGivenBackAtTheEnd) {
  {
    SharedStates shared(*pool_, 32);
    for (uint32_t i = 0; i < 10; ++i) EXPECT_TRUE(shared.Acquire({&i, 1}).ok());
    EXPECT_EQ(pool_->statistics().live_states, 10u);
  }
  EXPECT_EQ(pool_->statistics().live_states, 0u);
}

TEST_F(SharedStatesTest, TwoThreadsShareOneSet) {
  SharedStates shared(*pool_, 32);
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<uint32_t> held;
    for (unsigned step = 0; step < 3000; ++step) {
      if (random() % 2 != 0 || held.empty()) {
        const uint32_t dwords[] = {static_cast<uint32_t>(random() % 8), 1};
        const absl::StatusOr<gpu::State> state = shared.Acquire(dwords);
        ASSERT_TRUE(state.ok());
        // It is not written again while it is in use.
        ASSERT_EQ(std::memcmp(state->cpu, dwords, sizeof(dwords)), 0);
        held.push_back(state->offset);
      } else {
        ASSERT_TRUE(shared.Release(held.back()).ok());
        held.pop_back();
      }
    }
    for (const uint32_t offset : held) ASSERT_TRUE(shared.Release(offset).ok());
  };
  std::thread other(work, 1);
  work(2);
  other.join();
  EXPECT_EQ(shared.size(), 0u);
  EXPECT_EQ(pool_->statistics().live_states, 0u);
}

template <class Gen>
class SamplerTablesTest : public testing::Test {
 protected:
  SamplerTablesTest()
      : memory_(IrisZones(), Gen::kVersion, Gen::kName),
        pool_(memory_.Pool("dynamic", memory_.Begin("border colors"))),
        colors_(
            Value(BorderColors::Create(*memory_.buffers, {.zone = memory_.Zone("border colors"),
                                                          .address = memory_.Begin("border colors"),
                                                          .entries = 4}))) {}

  static Sampler Bordered(uint32_t red) {
    return {.wrap = {Wrap::kClampToBorder, Wrap::kRepeat, Wrap::kRepeat},
            .border_color = {red, 0, 0, 1}};
  }

  BindingMemory memory_;
  std::unique_ptr<gpu::StatePool> pool_;
  std::unique_ptr<BorderColors> colors_;
};
TYPED_TEST_SUITE(SamplerTablesTest, Generations);

TYPED_TEST(SamplerTablesTest, EqualTablesShareAPlace) {
  SamplerTables<TypeParam> tables(*this->pool_, *this->colors_, 0);
  const PackedSampler linear = Value(tables.Pack({.min_filter = Filter::kLinear}));
  const PackedSampler nearest = Value(tables.Pack({}));
  const PackedSampler again = Value(tables.Pack({.min_filter = Filter::kLinear}));
  const PackedSampler* const one[] = {&linear, &nearest};
  const PackedSampler* const two[] = {&again, &nearest};
  const PackedSampler* const other[] = {&nearest, &linear};
  const gpu::State first = Value(tables.Acquire(one));
  EXPECT_EQ(Value(tables.Acquire(two)).offset, first.offset);
  EXPECT_NE(Value(tables.Acquire(other)).offset, first.offset);
  EXPECT_EQ(tables.size(), 2u);
  using S = SamplerState<TypeParam>;
  const auto* dwords = reinterpret_cast<const uint32_t*>(first.cpu);
  EXPECT_EQ(S::unpack(dwords).min_mode_filter, S::MIN_MODE_FILTER_LINEAR);
  EXPECT_EQ(S::unpack(dwords + S::length).min_mode_filter, S::MIN_MODE_FILTER_NEAREST);
  EXPECT_TRUE(tables.Release(first.offset).ok());
  EXPECT_EQ(tables.size(), 2u);
  EXPECT_TRUE(tables.Release(first.offset).ok());
  EXPECT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables.Acquire({}).status().code(), absl::StatusCode::kInvalidArgument);
  const std::vector<const PackedSampler*> many(kMostTableSamplers + 1, &linear);
  EXPECT_THAT(tables.Acquire(many).status().message(), HasSubstr("129 samplers"));
  EXPECT_TRUE(tables.Acquire(absl::MakeConstSpan(many).subspan(1)).ok());
}

TYPED_TEST(SamplerTablesTest, BorderColorsAreSharedAndComeToAnEnd) {
  SamplerTables<TypeParam> tables(*this->pool_, *this->colors_, 0x10000);
  const PackedSampler a = Value(tables.Pack(this->Bordered(7)));
  const PackedSampler b = Value(tables.Pack(this->Bordered(7)));
  EXPECT_EQ(a.border_color, b.border_color);
  EXPECT_EQ(a.border_buffer, this->colors_->buffer().handle);
  using S = SamplerState<TypeParam>;
  EXPECT_EQ(S::unpack(a.dwords.data()).border_color_pointer, 0x10000 + a.border_color);
  using Color = typename TypeParam::Packets::SAMPLER_BORDER_COLOR_STATE;
  const Color color = Color::unpack(
      reinterpret_cast<const uint32_t*>(this->colors_->buffer().cpu + a.border_color));
  EXPECT_EQ(color.border_color_32bit_red, 7u);
  EXPECT_EQ(color.border_color_32bit_alpha, 1u);

  // Three places, of which one is taken.
  EXPECT_TRUE(tables.Pack(this->Bordered(8)).ok());
  const PackedSampler third = Value(tables.Pack(this->Bordered(9)));
  EXPECT_EQ(tables.Pack(this->Bordered(10)).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(tables.Pack({}).ok()) << "needs none";
  EXPECT_TRUE(tables.Drop(third).ok());
  // A sampler that is refused keeps no colour.
  Sampler bad = this->Bordered(11);
  bad.anisotropy = 99;
  EXPECT_FALSE(tables.Pack(bad).ok());
  EXPECT_EQ(this->colors_->in_use(), 2u);
  EXPECT_TRUE(tables.Pack(this->Bordered(10)).ok());
}

}  // namespace
}  // namespace packsmith::intel
