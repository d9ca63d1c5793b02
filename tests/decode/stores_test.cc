// Memory that packets write and later ones read: jumps whose target was stored.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Dwords = std::vector<uint32_t>;

constexpr uint32_t kEnd = 0x05000000;

Dwords operator+(Dwords a, const Dwords& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Dwords Jump(uint64_t address) {
  return {0x18800101, static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32)};
}
Dwords Store(uint32_t address, uint32_t value) { return {0x10000002, address, 0, value}; }
Dwords StoreQword(uint32_t address, uint64_t value) {
  return {0x10200003, address, 0, static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
}
Dwords Draw() { return {0x7b000005, 4, 3, 0, 1, 0, 0}; }

TEST(Stores, AReturnAddressThatWasStoredIsFollowed) {
  World world;
  // A secondary batch that ends with a jump whose target is not stored yet.
  world.Put(0x2000, Draw() + Jump(0))
      .Put(0x1000,
           StoreQword(0x2000 + 32, 0x1020) + Jump(0x2000) + Dwords{kEnd} + Draw() + Dwords{kEnd})
      .Submit(0x1000);
  ASSERT_EQ(0x1000u + 5 * 4 + 3 * 4, 0x1020u);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.Packets(),
              ElementsAre("MI_STORE_DATA_IMM", "MI_BATCH_BUFFER_START", "3DPRIMITIVE",
                          "MI_BATCH_BUFFER_START", "MI_BATCH_BUFFER_END"));
  EXPECT_THAT(story.problems, IsEmpty());
  EXPECT_THAT(story.Faults(), IsEmpty());
}

TEST(Stores, ThePacketSaysWhatWasStoredAndByWhom) {
  World world;
  world.Put(0x2000, Jump(0))
      .Put(0x1000, StoreQword(0x2004, 0x1020) + Jump(0x2000) + Dwords{kEnd})
      .Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  const std::vector<Seen> jumps = story.Named("MI_BATCH_BUFFER_START");
  ASSERT_THAT(jumps, SizeIs(2));
  EXPECT_THAT(jumps[0].stored, IsEmpty());
  // The upper dword does not change.
  ASSERT_THAT(jumps[1].stored, SizeIs(1));
  EXPECT_EQ(jumps[1].stored[0].bit, 32u);
  EXPECT_EQ(jumps[1].stored[0].width, 32u);
  EXPECT_EQ(jumps[1].stored[0].value, 0x1020u);
  EXPECT_EQ(jumps[1].stored[0].by, story.Only("MI_STORE_DATA_IMM").id);
  // Fields and bytes are the dump's.
  EXPECT_EQ(jumps[1].Number("Batch Buffer Start Address"), 0u);
}

TEST(Stores, ABatchThatIsEnteredTwiceReturnsToTwoPlaces) {
  World world;
  const Dwords first = Store(0x3004 + 28, 0x101c) + Jump(0x3000);   // to 0x101c
  const Dwords second = Store(0x3004 + 28, 0x1038) + Jump(0x3000);  // to 0x1038
  world.Put(0x1000, first + second + Dwords{kEnd}).Put(0x3000, Draw() + Jump(0)).Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_EQ(story.summary.draws, 2u);
  EXPECT_THAT(story.remarks, IsEmpty());
  EXPECT_THAT(story.problems, IsEmpty());
  EXPECT_EQ(story.records.back().name, "MI_BATCH_BUFFER_END");
}

TEST(Stores, ALoopThatStoresTheSameEachTimeEnds) {
  World world;
  world.Put(0x1000, Store(0x9000, 7) + Draw() + Jump(0x1000)).PutZeros(0x9000, 16).Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_LE(story.summary.draws, 2u);
  EXPECT_THAT(story.remarks, SizeIs(1));
}

TEST(Stores, ALoopThatStoresSomethingElseEachTimeIsBounded) {
  World world;
  world.Put(0x1000, Store(0x9000, 7) + Store(0x9000, 8) + Jump(0x1000))
      .PutZeros(0x9000, 16)
      .Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.problems, ElementsAre(HasSubstr("stopped at")));
}

TEST(Stores, InAnotherSpaceAreOtherMemory) {
  World world;
  Dwords store = Store(0x2004, 0x1030);
  store[0] |= 1 << 22;  // the global space
  world.Put(0x2000, Jump(0)).Put(0x1000, store + Jump(0x2000)).Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.Named("MI_BATCH_BUFFER_START")[1].stored, IsEmpty());
  EXPECT_THAT(story.Faults(), ElementsAre("unmapped 95:34"));
}

TEST(Stores, OfOneSubmissionAreGoneInTheNext) {
  World world;
  world.Put(0x1000, Store(0x2004, 0x1010) + Dwords{kEnd})
      .Put(0x2000, Jump(0))
      .Submit(0x1000)
      .Submit(0x2000);
  EXPECT_THAT(Tell(Gfx9(), world).Only("MI_BATCH_BUFFER_START").stored, IsEmpty());
}

TEST(Stores, OfWhatIsThereAlreadyChangeNothing) {
  World world;
  world.Put(0x2000, Jump(0x1020))
      .Put(0x1000, StoreQword(0x2004, 0x1020) + Jump(0x2000) + Dwords{kEnd})
      .Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.Named("MI_BATCH_BUFFER_START")[1].stored, IsEmpty());
  EXPECT_THAT(story.problems, IsEmpty());
}

TEST(Stores, BeyondTheBoundAreSaidOnceAndNotRemembered) {
  World world;
  Dwords batch;
  for (uint32_t i = 0; i < 70000; ++i) batch = std::move(batch) + Store(0x1000000 + i * 4, i + 1);
  world.Put(0x10000, batch + Dwords{kEnd}).Submit(0x10000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.problems, ElementsAre(HasSubstr("store more than 65536 dwords")));
  EXPECT_THAT(story.problems, ElementsAre(HasSubstr("--max-stores=N")));
  EXPECT_EQ(story.summary.packets, 70001u);
  Options options;
  options.most_stores = options.least_stores = 70000;
  EXPECT_THAT(Tell(Gfx9(), world, options).problems, IsEmpty());
  options.most_stores = options.least_stores = 69999;
  EXPECT_THAT(Tell(Gfx9(), world, options).problems, SizeIs(1));
}

TEST(Stores, OfAnAddressThatChangesAPointerAreFollowed) {
  World world;
  // The address of an index buffer, in a packet after the store.
  const uint32_t at = 0x1000 + 16;
  world.Put(0x1000, Store(at + 8, 0x4000) + Dwords{0x780a0003, 0x104, 0, 0, 8, kEnd})
      .Put(0x4000, {0x00020001, 0x00040003})
      .Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_EQ(story.Only("index buffer").address, 0x4000u);
  EXPECT_THAT(story.Only("3DSTATE_INDEX_BUFFER").stored, SizeIs(1));
}

}  // namespace
}  // namespace packsmith::decode
