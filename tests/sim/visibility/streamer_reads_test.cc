// Batches that read memory before what wrote it is visible: the old bytes, and a report.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "tests/sim/visibility/packets.h"
#include "tests/sim/world.h"

namespace packsmith::sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr uint32_t kBatch = 0x1000, kData = 0x8000, kRegister = kGpr;

class Reading : public World {
 public:
  using World::World;

  // Runs a batch of these packets; 0x8000 holds 1 and 2.
  void RunAll(std::initializer_list<std::vector<uint32_t>> packets) {
    std::vector<uint32_t> batch = Join(packets);
    batch.push_back(kEnd);
    Put(kBatch, batch);
    Put(kData, std::vector<uint32_t>{1, 2, 3, 4, 5, 6, 7, 8});
    EXPECT_EQ(Run(kBatch), Stop::kEnded);
  }
  std::vector<uint32_t> Pipe(const std::vector<FieldValue>& fields) const {
    return Packet(tables(), "PIPE_CONTROL", fields);
  }
  std::vector<uint32_t> PostSync(uint64_t value, std::vector<FieldValue> fields = {}) const {
    fields.emplace_back("Post Sync Operation", 1);
    fields.emplace_back("Address", kData);
    fields.emplace_back("Immediate Data", value);
    return Pipe(fields);
  }
  std::vector<std::string> Early() const {
    std::vector<std::string> texts;
    for (const Problem& problem : problems()) {
      if (problem.kind == ProblemKind::kEarly) texts.push_back(problem.text);
    }
    return texts;
  }
  uint32_t Register(uint32_t offset) { return streamer().registers().Read(offset); }
};

constexpr FieldValue kStall = {"Command Streamer Stall Enable", 1};

TEST(StreamerReadsTest, OfAPostSyncWriteSeesTheOldBytesUntilAStall) {
  for (const absl::string_view generation : {"gfx8", "gfx9", "gfx11", "gfx12", "gfx125", "xe2"}) {
    Reading world(generation);
    world.RunAll({world.PostSync(0x99), LoadMemory(kRegister, kData), world.Pipe({kStall}),
                  LoadMemory(kRegister + 8, kData)});
    EXPECT_EQ(world.Register(kRegister), 1u);
    EXPECT_EQ(world.Register(kRegister + 8), 0x99u);
    EXPECT_EQ(world.Read32(kData), 0x99u);
    ASSERT_THAT(world.Early(), SizeIs(1));
    EXPECT_THAT(world.Early()[0],
                AllOf(HasSubstr("MI_LOAD_REGISTER_MEM reads 4 bytes at 0x8000"),
                      HasSubstr("PIPE_CONTROL at 0x1000"),
                      HasSubstr("Command Streamer Stall Enable of PIPE_CONTROL is needed"),
                      HasSubstr("the old bytes are read")));
    EXPECT_EQ(world.problems()[0].address, kBatch + 6 * 4);
  }
}

TEST(StreamerReadsTest, OfAPostSyncWriteThatStallsSeesIt) {
  Reading world("gfx9");
  world.RunAll({world.PostSync(0x99, {kStall}), LoadMemory(kRegister, kData)});
  EXPECT_EQ(world.Register(kRegister), 0x99u);
  EXPECT_THAT(world.problems(), IsEmpty());
}

TEST(StreamerReadsTest, SeveralWritesLeaveTheOldestBytes) {
  Reading world("gfx9");
  world.RunAll({world.PostSync(0x98), world.PostSync(0x99), LoadMemory(kRegister, kData)});
  EXPECT_EQ(world.Register(kRegister), 1u);
  EXPECT_EQ(world.Read32(kData), 0x99u);
}

TEST(StreamerReadsTest, AreReportedOnceForAWriter) {
  Reading world("gfx9");
  const std::vector<uint32_t> load = LoadMemory(kRegister, kData);
  world.RunAll({world.PostSync(0x99), load, load, load});
  EXPECT_THAT(world.Early(), SizeIs(1));
}

TEST(StreamerReadsTest, OfOtherMemoryAreNotReported) {
  Reading world("gfx9");
  world.RunAll({world.PostSync(0x99), LoadMemory(kRegister, kData + 8)});
  EXPECT_EQ(world.Register(kRegister), 3u);
  EXPECT_THAT(world.problems(), IsEmpty());
}

TEST(StreamerReadsTest, AnotherRequestSeesAll) {
  Reading world("gfx9");
  world.RunAll({world.PostSync(0x99)});
  world.Put(0x2000, Join({LoadMemory(kRegister, kData), {kEnd}}));
  EXPECT_EQ(world.Run(0x2000), Stop::kEnded);
  EXPECT_EQ(world.Register(kRegister), 0x99u);
  EXPECT_THAT(world.problems(), IsEmpty());
}

TEST(StreamerReadsTest, CanBeTurnedOff) {
  Reading world("gfx9", {.visibility = false});
  world.RunAll({world.PostSync(0x99), LoadMemory(kRegister, kData)});
  EXPECT_EQ(world.Register(kRegister), 0x99u);
  EXPECT_THAT(world.problems(), IsEmpty());
}

TEST(StreamerReadsTest, AWaitPollsUntilThePostSyncWriteIsThere) {
  Reading world("gfx9");
  // Polling, equal.
  const std::vector<uint32_t> wait = Packet(world.tables(), "MI_SEMAPHORE_WAIT",
                                            {{"Wait Mode", 1},
                                             {"Compare Operation", 4},
                                             {"Semaphore Data Dword", 0x99},
                                             {"Semaphore Address", kData}});
  world.RunAll({world.PostSync(0x99), wait});
  EXPECT_THAT(world.problems(), IsEmpty());
}

TEST(StreamerReadsTest, OfItsOwnStoresNeedNothingBeforeXe2) {
  for (const absl::string_view generation : {"gfx8", "gfx9", "gfx11", "gfx12", "gfx125"}) {
    Reading world(generation);
    world.RunAll({StoreDword(kData, 0x77), LoadMemory(kRegister, kData)});
    EXPECT_EQ(world.Register(kRegister), 0x77u);
    EXPECT_THAT(world.problems(), IsEmpty());
  }
}

TEST(StreamerReadsTest, OfItsOwnStoresNeedAFenceSinceXe2) {
  for (const absl::string_view generation : {"xe2", "xe3"}) {
    Reading without(generation);
    without.RunAll({StoreDword(kData, 0x77), LoadMemory(kRegister, kData)});
    EXPECT_EQ(without.Register(kRegister), 1u);
    ASSERT_THAT(without.Early(), SizeIs(1));
    EXPECT_THAT(without.Early()[0], HasSubstr("Fence Type = MI_WRITE of MI_MEM_FENCE is needed"));

    Reading fenced(generation);
    fenced.RunAll({StoreDword(kData, 0x77),
                   Packet(fenced.tables(), "MI_MEM_FENCE", {{"Fence Type", 3}}),
                   LoadMemory(kRegister, kData)});
    EXPECT_EQ(fenced.Register(kRegister), 0x77u);
    EXPECT_THAT(fenced.problems(), IsEmpty());

    // The store itself can wait.
    std::vector<uint32_t> store = StoreDword(kData, 0x77);
    store[0] |= 1u << 10;
    Reading checked(generation);
    checked.RunAll({store, LoadMemory(kRegister, kData)});
    EXPECT_EQ(checked.Register(kRegister), 0x77u);
    EXPECT_THAT(checked.problems(), IsEmpty());
  }
}

TEST(StreamerReadsTest, CommandsThatAPostSyncOperationWroteNeedAStall) {
  for (const bool stalls : {false, true}) {
    Reading world("gfx9");
    // It writes MI_NOOP and MI_BATCH_BUFFER_END.
    const std::vector<FieldValue> fields =
        stalls ? std::vector<FieldValue>{kStall} : std::vector<FieldValue>{};
    world.RunAll({world.PostSync(uint64_t{kEnd} << 32, fields), Jump(kData)});
    EXPECT_THAT(world.Early(), SizeIs(stalls ? 0 : 1));
  }
}

// --- Blits ---

TEST(BlitReadsTest, TheStreamerSeesABlitAfterAFlush) {
  for (const bool flushes : {false, true}) {
    Reading world("gfx9", {.engine = FindGeneration("gfx9")->FindEngine("blitter")});
    const std::vector<uint32_t> fill = Packet(world.tables(), "XY_COLOR_BLT",
                                              {{"32bpp Byte Mask", 3},
                                               {"Color Depth", 3},
                                               {"Raster Operation", 0xf0},
                                               {"Destination Pitch", 16},
                                               {"Destination X2 Coordinate", 4},
                                               {"Destination Y2 Coordinate", 1},
                                               {"Destination Base Address", kData},
                                               {"Solid Pattern Color", 0x55}});
    const std::vector<uint32_t> flush =
        flushes ? Packet(world.tables(), "MI_FLUSH_DW", {}) : std::vector<uint32_t>{};
    world.RunAll({fill, flush, LoadMemory(kRegister, kData + 4)});
    EXPECT_EQ(world.Read32(kData + 4), 0x55u);
    EXPECT_EQ(world.Register(kRegister), flushes ? 0x55u : 2u);
    EXPECT_THAT(world.Early(), SizeIs(flushes ? 0 : 1));
    if (!flushes) {
      EXPECT_THAT(world.Early()[0],
                  AllOf(HasSubstr("XY_COLOR_BLT at 0x1000"), HasSubstr("MI_FLUSH_DW is needed")));
    }
  }
}

// --- What draws fetch ---

class DrawReadsTest : public testing::Test {
 protected:
  static std::vector<uint32_t> VertexBuffer(uint32_t slot, uint32_t address, uint32_t size) {
    // Of Gfx8 and later: Address Modify Enable, a pitch of 16.
    return {0x78080003, slot << 26 | 1u << 14 | 16, address, 0, size};
  }
  // One element from the slot.
  static std::vector<uint32_t> VertexElements(uint32_t slot) {
    return {0x78090001, slot << 26 | 1u << 25, 0x11110000};
  }
  static std::vector<uint32_t> IndexBuffer(uint32_t address, uint32_t size) {
    return {0x780a0003, 2u << 8, address, 0, size};
  }
  static std::vector<uint32_t> Draw(const World& world, bool indexed = false) {
    return Packet(world.tables(), "3DPRIMITIVE",
                  {{"Vertex Access Type", indexed ? 1 : 0}, {"Vertex Count Per Instance", 1}});
  }
};

TEST_F(DrawReadsTest, AVertexBufferThatWasWrittenNeedsItsCacheInvalidated) {
  for (const absl::string_view generation : {"gfx8", "gfx9", "gfx11", "gfx12", "xe2"}) {
    for (const bool invalidates : {false, true}) {
      Reading world(generation);
      const bool l3 =
          HasField(world.tables(), "PIPE_CONTROL", "L3 Read Only Cache Invalidation Enable");
      std::vector<FieldValue> fields = {{"VF Cache Invalidation Enable", 1}};
      if (l3) fields.emplace_back("L3 Read Only Cache Invalidation Enable", 1);
      world.RunAll({VertexBuffer(0, kData, 32), VertexElements(0), world.PostSync(9, {kStall}),
                    invalidates ? world.Pipe(fields) : std::vector<uint32_t>{}, Draw(world),
                    Draw(world)});
      ASSERT_THAT(world.Early(), SizeIs(invalidates ? 0 : 1)) << generation;
      if (invalidates) continue;
      EXPECT_THAT(world.Early()[0],
                  AllOf(HasSubstr("3DPRIMITIVE reads 8 bytes at 0x8000"),
                        HasSubstr("vertex buffer"), HasSubstr("VF Cache Invalidation Enable")));
    }
  }
}

TEST_F(DrawReadsTest, BuffersThatNothingIsFetchedFromDoNotMatter) {
  Reading world("gfx9");
  world.RunAll({VertexBuffer(0, 0x9000, 32), VertexBuffer(1, kData, 32), IndexBuffer(kData, 4),
                VertexElements(0), world.PostSync(9, {kStall}), Draw(world)});
  EXPECT_THAT(world.problems(), IsEmpty());
}

TEST_F(DrawReadsTest, BuffersOfEarlierPacketsStay) {
  Reading world("gfx9");
  world.RunAll({VertexBuffer(0, kData, 32), VertexBuffer(1, 0x9000, 32), VertexElements(0),
                world.PostSync(9, {kStall}), Draw(world)});
  EXPECT_THAT(world.Early(), SizeIs(1));
}

TEST_F(DrawReadsTest, IndicesAreFetchedByIndexedDraws) {
  Reading world("gfx9");
  world.RunAll({IndexBuffer(kData, 4), world.PostSync(9, {kStall}), Draw(world, true)});
  ASSERT_THAT(world.Early(), SizeIs(1));
  EXPECT_THAT(world.Early()[0], HasSubstr("index buffer"));
}

TEST_F(DrawReadsTest, VerticesThatStreamOutputWroteAreVisibleAfterAStallAndAnInvalidation) {
  for (const bool synchronized : {false, true}) {
    Reading world("gfx9");
    const std::vector<uint32_t> buffer =
        Packet(world.tables(), "3DSTATE_SO_BUFFER",
               {{"SO Buffer Enable", 1}, {"Surface Base Address", kData}, {"Surface Size", 7}});
    const auto stream_output = [&](uint64_t on) {
      return Packet(world.tables(), "3DSTATE_STREAMOUT", {{"SO Function Enable", on}});
    };
    const std::vector<uint32_t> barrier =
        synchronized ? Join({world.Pipe({kStall, {"Post Sync Operation", 1}, {"Address", 0x9000}}),
                             world.Pipe({{"VF Cache Invalidation Enable", 1}})})
                     : std::vector<uint32_t>{};
    world.Put(0x9000, {0, 0});
    world.RunAll({buffer, stream_output(1), Draw(world), barrier, stream_output(0),
                  VertexBuffer(0, kData, 32), VertexElements(0), Draw(world), Draw(world)});
    ASSERT_THAT(world.Early(), SizeIs(synchronized ? 0 : 1));
    if (synchronized) continue;
    EXPECT_THAT(world.Early()[0],
                AllOf(HasSubstr("through stream output"),
                      HasSubstr("Command Streamer Stall Enable, VF Cache Invalidation Enable")));
  }
}

TEST_F(DrawReadsTest, StateThatWasWrittenNeedsItsCachesInvalidated) {
  for (const bool invalidates : {false, true}) {
    Reading world("gfx9");
    const std::vector<uint32_t> base = Packet(world.tables(), "STATE_BASE_ADDRESS",
                                              {{"Dynamic State Base Address Modify Enable", 1},
                                               {"Dynamic State Base Address", kData & ~0xfffu}});
    const std::vector<uint32_t> pointer =
        Packet(world.tables(), "3DSTATE_CC_STATE_POINTERS",
               {{"Color Calc State Pointer Valid", 1}, {"Color Calc State Pointer", 0}});
    world.RunAll({base, pointer, world.PostSync(9, {kStall}),
                  invalidates ? world.Pipe({{"State Cache Invalidation Enable", 1}})
                              : std::vector<uint32_t>{},
                  Draw(world)});
    ASSERT_THAT(world.Early(), SizeIs(invalidates ? 0 : 1));
    if (invalidates) continue;
    EXPECT_THAT(world.Early()[0], HasSubstr("COLOR_CALC_STATE"));
  }
}

}  // namespace
}  // namespace packsmith::sim
