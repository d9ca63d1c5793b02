// Rings, batches that a ring starts, and what error states add to a walk.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/decode/decoder.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint32_t kNoop = 0;
constexpr uint32_t kEnd = 0x05000000;
constexpr uint32_t kUserInterrupt = 0x01000000;
constexpr uint32_t kGlobal = 1;

std::vector<uint32_t> StartInContext(uint32_t address) { return {0x18800101, address, 0}; }

// A ring of 64 bytes at 0x10000 of the global space.
World& Ring(World& world, std::vector<uint32_t> dwords) {
  dwords.resize(16);
  return world.Put(0x10000, dwords, kGlobal);
}

void SubmitRing(World& world, uint64_t from, uint64_t length) {
  world.Submit(0x10000 + from, length);
  world.last().space = kGlobal;
  world.last().own_space = 0;
  world.last().ring = Submission::Ring{0x10000, 64};
}

TEST(Rings, EndAtTheirTailWithoutAPacketThatSaysSo) {
  World world;
  Ring(world, {kNoop, kUserInterrupt, kNoop, kUserInterrupt});
  SubmitRing(world, 4, 8);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.Packets(), ElementsAre("MI_USER_INTERRUPT", "MI_NOOP"));
  EXPECT_THAT(story.problems, IsEmpty());
}

TEST(Rings, GoOnAtTheirBeginning) {
  World world;
  std::vector<uint32_t> dwords(16, kNoop);
  dwords[15] = dwords[0] = kUserInterrupt;
  Ring(world, dwords);
  SubmitRing(world, 60, 12);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.Packets(), ElementsAre("MI_USER_INTERRUPT", "MI_USER_INTERRUPT", "MI_NOOP"));
  EXPECT_EQ(story.records[0].address, 0x1003cu);
  EXPECT_EQ(story.records[1].address, 0x10000u);
  EXPECT_THAT(story.problems, IsEmpty());
}

TEST(Rings, ThatWrapAreWalkedOnceHoweverLongTheySayTheyAre) {
  World world;
  Ring(world, {});
  SubmitRing(world, 32, 1 << 20);
  EXPECT_THAT(Tell(Gfx9(), world).Packets(), SizeIs(24));
}

TEST(Rings, GoOnAfterTheBatchThatTheyStart) {
  World world;
  std::vector<uint32_t> dwords = StartInContext(0x2000);
  dwords.push_back(kUserInterrupt);
  Ring(world, dwords).Put(0x2000, {kNoop, kEnd});
  SubmitRing(world, 0, 16);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.Packets(), ElementsAre("MI_BATCH_BUFFER_START", "MI_NOOP",
                                           "MI_BATCH_BUFFER_END", "MI_USER_INTERRUPT"));
  EXPECT_EQ(story.records[1].space, 0u);
  EXPECT_EQ(story.records[1].depth, 1u);
  EXPECT_EQ(story.records[3].space, kGlobal);
}

TEST(Submissions, ThatAreBatchesOfARingAreDecodedOnce) {
  World world;
  Ring(world, StartInContext(0x2000)).Put(0x2000, {kUserInterrupt, kEnd}).Put(0x3000, {kEnd});
  SubmitRing(world, 0, 12);
  for (const uint64_t batch : {0x2000, 0x3000, 0x3000}) {
    world.Submit(batch);
    world.last().unless_reached = true;
  }
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.Named("MI_USER_INTERRUPT"), SizeIs(1));
  EXPECT_THAT(story.Named("MI_BATCH_BUFFER_END"), SizeIs(2));
  EXPECT_EQ(story.summary.submissions, 2u);
}

TEST(Submissions, SeeTheirOwnContextsMemory) {
  World world;
  world.Put(0x2000, {kEnd}, 0).Put(0x2000, {kUserInterrupt, kEnd}, 2);
  Ring(world, StartInContext(0x2000));
  SubmitRing(world, 0, 12);
  world.last().own_space = 2;
  EXPECT_THAT(Tell(Gfx9(), world).Named("MI_USER_INTERRUPT"), SizeIs(1));
}

class Damaged : public DeferredBytes {
 public:
  explicit Damaged(std::shared_ptr<LateProblems> problems) : problems_(std::move(problems)) {}

 private:
  absl::Span<const uint8_t> Make() override {
    problems_->Add(7, "torn");
    return bytes_;
  }
  const std::vector<uint8_t> bytes_ = {0, 0, 0, 0, 0, 0, 0, 5};
  std::shared_ptr<LateProblems> problems_;
};

TEST(Memory, ThatTurnsOutDamagedIsAProblemOnceItIsLookedAt) {
  World world;
  Dump& dump = world.dump();
  dump.late_problems = std::make_shared<LateProblems>();
  ASSERT_TRUE(
      dump.memory.MapDeferred(0, 0x1000, std::make_shared<Damaged>(dump.late_problems), 1 << 20)
          .ok());
  ASSERT_TRUE(
      dump.memory.MapDeferred(0, 0x200000, std::make_shared<Damaged>(dump.late_problems), 1 << 20)
          .ok());
  world.Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.Packets(), ElementsAre("MI_NOOP", "MI_BATCH_BUFFER_END"));
  EXPECT_THAT(story.problems, ElementsAre("input, byte 7: torn"));
}

}  // namespace
}  // namespace packsmith::decode
