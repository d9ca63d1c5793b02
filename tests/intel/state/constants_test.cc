// Which packets set push constants: one for all stages that have the same, where the hardware has
// such a packet.
#include "tests/intel/state/constants.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/state/draw_state.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/tested.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <class Gen>
class ConstantsTest : public testing::Test {
 protected:
  using G = typename Gen::Packets;
  using Body = typename G::_3DSTATE_CONSTANT_BODY;
  static constexpr bool kShared = requires { typename G::_3DSTATE_CONSTANT_ALL; };
  // Gfx12 has no addresses in the packet for all.
  static constexpr bool kSharedWithBuffers = kShared && Gen::kVersion > 120;

  void SetUp() override {
    state_.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_VS());
    state_.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_HS());
    state_.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_DS());
    state_.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_GS());
    state_.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_PS());
    state_.Set(typename G::_3DSTATE_VF_TOPOLOGY());
  }

  static Body From(uint32_t buffer, uint32_t length) {
    Body body;
    body.read_length[3] = length;
    body.buffer[3] = address(uint64_t{buffer} << 20, buffer);
    return body;
  }
  // Of the five stages.
  void Set(const Body& vs, const Body& hs, const Body& ds, const Body& gs, const Body& ps) {
    EXPECT_TRUE(state_.Set(ConstantsPacket<typename G::_3DSTATE_CONSTANT_VS>(4, vs)));
    EXPECT_TRUE(state_.Set(ConstantsPacket<typename G::_3DSTATE_CONSTANT_HS>(6, hs)));
    EXPECT_TRUE(state_.Set(ConstantsPacket<typename G::_3DSTATE_CONSTANT_DS>(6, ds)));
    EXPECT_TRUE(state_.Set(ConstantsPacket<typename G::_3DSTATE_CONSTANT_GS>(6, gs)));
    EXPECT_TRUE(state_.Set(ConstantsPacket<typename G::_3DSTATE_CONSTANT_PS>(4, ps)));
  }
  // Flushes; the packets that set constants, and what each stage has then.
  std::pair<std::vector<std::string>, std::vector<Met>> Flushed() {
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks);
    state_.InheritAll();
    const size_t most = state_.DwordsToEmit();
    EXPECT_TRUE(state_.Flush(batch)) << state_.status();
    EXPECT_LE(batch.dwords(), most);
    uses_ = batch.uses();
    EXPECT_TRUE(batch.End().ok());
    const Decoded decoded =
        World().Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu);
    EXPECT_THAT(decoded.problems, IsEmpty());
    std::pair<std::vector<std::string>, std::vector<Met>> found;
    for (const Met& met : decoded.packets) {
      EXPECT_EQ(met.faults, 0u) << met.name;
      if (met.name.rfind("3DSTATE_CONSTANT_", 0) == 0) found.first.push_back(met.name.substr(17));
    }
    for (const Met& met : ConstantsByStage<Gen>(decoded.packets)) {
      if (met.name.rfind("3DSTATE_CONSTANT_", 0) == 0) found.second.push_back(met);
    }
    return found;
  }
  static Met Of(const std::vector<Met>& stages, const std::string& name) {
    for (const Met& met : stages) {
      if (met.name == "3DSTATE_CONSTANT_" + name) return met;
    }
    ADD_FAILURE() << name << " has not been set";
    return {};
  }

  DrawState<Gen> state_{address(0x7000, 99)};
  gpu::BufferUses uses_;
};
TYPED_TEST_SUITE(ConstantsTest, Generations);

TYPED_TEST(ConstantsTest, StagesThatHaveNoneShareAPacket) {
  this->Set({}, {}, {}, {}, {});
  const auto [packets, stages] = this->Flushed();
  if (this->kShared) {
    EXPECT_THAT(packets, ElementsAre("ALL"));
  } else {
    EXPECT_THAT(packets, ElementsAre("VS", "HS", "DS", "GS", "PS"));
  }
  ASSERT_EQ(stages.size(), 5u);
  for (const Met& stage : stages) EXPECT_THAT(stage.dwords, IsEmpty());
}

TYPED_TEST(ConstantsTest, StagesWithTheSameShareAPacketAndTheirBuffersAreKnown) {
  const auto same = this->From(1, 3);
  this->Set(same, {}, this->From(2, 1), {}, same);
  const auto [packets, stages] = this->Flushed();
  if (this->kSharedWithBuffers) {
    EXPECT_THAT(packets, ElementsAre("ALL", "ALL", "ALL"));
  } else if (this->kShared) {
    EXPECT_THAT(packets, ElementsAre("ALL", "VS", "DS", "PS"));
  }
  for (const char* name : {"VS", "PS"}) {
    EXPECT_THAT(this->Of(stages, name).dwords, ElementsAre(4, 3, 1 << 20, 0)) << name;
  }
  EXPECT_THAT(this->Of(stages, "DS").dwords, ElementsAre(6, 1, 2 << 20, 0));
  EXPECT_THAT(this->Of(stages, "HS").dwords, IsEmpty());
  EXPECT_TRUE(this->uses_.Find(1).has_value());
  EXPECT_TRUE(this->uses_.Find(2).has_value());
}

TYPED_TEST(ConstantsTest, AStageThatChangesIsSetAlone) {
  // (Where a pointer requires the constants of all stages, it is not alone.)
  if (TypeParam::kVersion == 110 || TypeParam::kVersion == 120) return;
  this->Set({}, {}, {}, {}, {});
  this->Flushed();
  this->Set({}, {}, {}, {}, this->From(1, 2));
  const auto [packets, stages] = this->Flushed();
  EXPECT_THAT(packets, ElementsAre(this->kSharedWithBuffers ? "ALL" : "PS"));
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_THAT(this->Of(stages, "PS").dwords, ElementsAre(4, 2, 1 << 20, 0));
}

TYPED_TEST(ConstantsTest, WhatIsTooLongToBeSharedHasItsOwnPacket) {
  this->Set(this->From(1, 32), {}, {}, {}, this->From(1, 31));
  const auto [packets, stages] = this->Flushed();
  if (this->kSharedWithBuffers) {
    EXPECT_THAT(packets, ElementsAre("ALL", "ALL", "VS"));
  }
  EXPECT_THAT(this->Of(stages, "VS").dwords, ElementsAre(4, 32, 1 << 20, 0));
  EXPECT_THAT(this->Of(stages, "PS").dwords, ElementsAre(4, 31, 1 << 20, 0));
}

TYPED_TEST(ConstantsTest, WhatIsSetOnceIsNotShared) {
  using PS = typename TestFixture::G::_3DSTATE_CONSTANT_PS;
  this->Set({}, {}, {}, {}, this->From(1, 2));
  ASSERT_TRUE(this->state_.SetOnce(ConstantsPacket<PS>(4, this->From(1, 5))));
  EXPECT_THAT(this->Of(this->Flushed().second, "PS").dwords, ElementsAre(4, 5, 1 << 20, 0));
  this->state_.Forget();
  EXPECT_THAT(this->Of(this->Flushed().second, "PS").dwords, ElementsAre(4, 2, 1 << 20, 0));
}

}  // namespace
}  // namespace packsmith::intel
