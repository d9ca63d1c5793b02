#include "runtime/sim/streamer.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sim/world.h"

namespace packsmith::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kBatch = 0x10000, kData = 0x20000;

TEST(Streamer, MovesBetweenConstantsRegistersAndMemory) {
  World world("gfx9");
  world.Put(kData, std::vector<uint32_t>(16, 0x11));
  world.Put(kBatch, Join({LoadImmediate(0x2600, 0x1234),
                          StoreRegister(kData, 0x2600),
                          LoadMemory(0x2608, kData),
                          CopyRegister(0x2610, 0x2608),
                          StoreRegister(kData + 4, 0x2610),
                          StoreDword(kData + 8, 7),
                          StoreQword(kData + 16, 0x1122334455667788),
                          CopyMemory(kData + 12, kData),
                          {kEnd}}));
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  EXPECT_EQ(world.Read32(kData), 0x1234u);
  EXPECT_EQ(world.Read32(kData + 4), 0x1234u);
  EXPECT_EQ(world.Read32(kData + 8), 7u);
  EXPECT_EQ(world.Read32(kData + 12), 0x1234u);
  EXPECT_EQ(world.Read64(kData + 16), 0x1122334455667788u);
  EXPECT_EQ(world.Read32(kData + 24), 0x11u);
  EXPECT_THAT(world.problems(), IsEmpty());
}

TEST(Streamer, LoadsAllPairsOfALoadRegisterImmediate) {
  for (const char* generation : {"gfx4", "gfx6", "gfx7", "gfx8", "gfx9", "gfx125", "xe3"}) {
    World world(generation);
    world.Put(kBatch, {0x11000005, 0x2500, 1, 0x2504, 2, 0x2508, 3, kEnd});
    EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
    EXPECT_EQ(world.streamer().registers().Read(0x2500), 1u) << generation;
    EXPECT_EQ(world.streamer().registers().Read(0x2508), 3u) << generation;
  }
}

TEST(Streamer, AddsTheEnginesBaseWhereThePacketSaysSo) {
  StreamerOptions options;
  options.engine = FindGeneration("gfx125")->FindEngine("blitter");
  World world("gfx125", options);
  world.Put(kBatch, {0x11080001, 0x600, 5, kEnd});
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  EXPECT_EQ(world.streamer().registers().Read(0x22600), 5u);
}

TEST(Streamer, StoresOfGfx6TakeTheAddressAfterAReservedDword) {
  World world("gfx6");
  world.Put(kData, std::vector<uint32_t>(4));
  world.Put(kBatch, {0x10000002, 0, kData, 0x55, 0x10000003, 0, kData + 8, 0x66, 0x77, kEnd});
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  EXPECT_EQ(world.Read32(kData), 0x55u);
  EXPECT_EQ(world.Read32(kData + 4), 0u);
  EXPECT_EQ(world.Read32(kData + 8), 0x66u);
  EXPECT_EQ(world.Read32(kData + 12), 0x77u);
}

TEST(Streamer, AChainKeepsItsLevelAndACallReturns) {
  World world("gfx9");
  world.Put(kData, std::vector<uint32_t>(4));
  world.Put(kBatch, Join({Jump(0x30000, kSecondLevel), StoreDword(kData, 1), Jump(0x40000)}));
  // The second level chains, too, and returns to the first.
  world.Put(0x30000, Join({StoreDword(kData + 4, 2), Jump(0x38000, kSecondLevel)}));
  world.Put(0x38000, Join({StoreDword(kData + 8, 3), {kEnd}}));
  world.Put(0x40000, Join({StoreDword(kData + 12, 4), {kEnd}}));
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  for (uint32_t i = 0; i < 4; ++i)
    EXPECT_EQ(world.Read32(kData + 4 * i), std::vector<uint32_t>({1, 2, 3, 4})[i]);
  EXPECT_EQ(world.names().size(), 9u);
}

TEST(Streamer, ARingEntersBatchesAndWraps) {
  World world("gfx9");
  constexpr uint64_t kRing = 0x100000;
  std::vector<uint32_t> ring(16, kNoop);
  // From dword 12 on: a jump to the batch, whose address is after the ring's end.
  ring[14] = 0x18800101;
  ring[15] = kBatch;
  ring[0] = 0;
  ring[1] = 0x10400002;  // MI_STORE_DATA_IMM to the global space
  ring[2] = 0x110000;
  ring[3] = 0;
  ring[4] = 9;
  world.Put(kRing, ring, kGlobalSpace);
  world.Put(0x110000, {0}, kGlobalSpace);
  world.Put(kData, {0});
  world.Put(kBatch, Join({StoreDword(kData, 5), {kEnd}}));
  world.streamer().EnterRing({kRing, 64, 12 * 4, 5 * 4});
  EXPECT_EQ(world.streamer().Run(100), Stop::kEnded);
  EXPECT_EQ(world.Read32(kData), 5u);
  EXPECT_EQ(world.Read32(0x110000, kGlobalSpace), 9u);
  EXPECT_EQ(world.streamer().ring_head(), 5u * 4);
  EXPECT_THAT(world.problems(), IsEmpty());
}

TEST(Streamer, ComparesSourcesForThePredicate) {
  // LOADINV, SET, SRCS_EQUAL: the predicate is "the sources differ".
  for (const uint32_t value : {0u, 3u}) {
    World world("gfx9");
    world.Put(kData, {1, 1});
    world.Put(kBatch, Join({LoadImmediate(0x2400, value),
                            LoadImmediate(0x2408, 0),
                            {0x06000000 | 3 << 6 | 2},
                            StoreRegister(kData, 0x2600, true),
                            {kEnd}}));
    EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
    EXPECT_EQ(world.streamer().registers().Read(0x2418), value != 0 ? 1u : 0u);
    EXPECT_EQ(world.Read32(kData), value != 0 ? 0u : 1u);
    EXPECT_EQ(world.skipped().size(), value != 0 ? 0u : 1u);
  }
}

TEST(Streamer, CombinesPredicatesAsTheCountOfDrawsNeedsIt) {
  // Of five draws the first `count` are executed: LOADINV SET, then LOAD XOR.
  for (const uint32_t count : {0u, 1u, 3u, 5u}) {
    World world("gfx9");
    world.Put(kData, {0});
    std::vector<uint32_t> batch = Join({LoadImmediate(0x2400, count)});
    for (uint32_t i = 0; i < 5; ++i) {
      const uint32_t predicate = 0x06000000 | (i == 0 ? 3 << 6 : 2 << 6 | 3 << 3) | 2;
      // 3DPRIMITIVE with Predicate Enable
      batch = Join({batch, LoadImmediate(0x2408, i), {predicate}, {0x7b000105, 0, 3, i, 1, 0, 0}});
    }
    batch.push_back(kEnd);
    world.Put(kBatch, batch);
    EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
    EXPECT_EQ(world.works().size(), count);
  }
}

TEST(Streamer, JumpsOnlyIfResult1IsSetBeforeGfx125) {
  for (const uint32_t set : {0u, 1u}) {
    World world("gfx9");
    world.Put(kData, {0, 0});
    world.Put(kBatch, Join({LoadImmediate(0x241c, set),
                            Jump(0x30000, kPredicated),
                            StoreDword(kData, 1),
                            {kEnd}}));
    world.Put(0x30000, Join({StoreDword(kData + 4, 1), {kEnd}}));
    EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
    EXPECT_EQ(world.Read32(kData), 1 - set);
    EXPECT_EQ(world.Read32(kData + 4), set);
  }
}

TEST(Streamer, SetPredicateTurnsCommandsIntoNoopsFromGfx125) {
  for (const uint32_t result : {0u, 1u}) {
    World world("gfx125");
    world.Put(kData, {0, 0});
    // MI_SET_PREDICATE(3): no-ops while the result is clear. The jump is predicated by it.
    world.Put(kBatch, Join({LoadImmediate(0x2418, result),
                            {0x00800003},
                            StoreDword(kData, 1),
                            {0x00800000},
                            StoreDword(kData + 4, 1),
                            {kEnd}}));
    EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
    EXPECT_EQ(world.Read32(kData), result);
    EXPECT_EQ(world.Read32(kData + 4), 1u);
    EXPECT_EQ(world.streamer().registers().Read(0x23b8), 0u);
  }
}

TEST(Streamer, TakesTheParametersOfDrawsAndDispatchesFromRegisters) {
  World world("gfx9");
  world.Put(kBatch, Join({LoadImmediate(0x2430, 10),
                          LoadImmediate(0x2434, 36),
                          LoadImmediate(0x2438, 2),
                          LoadImmediate(0x243c, 1),
                          LoadImmediate(0x2440, 0xffffffff),
                          {0x7b000405, 0x100, 0, 0, 0, 0, 0},
                          {0x7b000005, 0, 3, 4, 5, 6, 7},
                          LoadImmediate(0x2500, 8),
                          LoadImmediate(0x2504, 9),
                          LoadImmediate(0x2508, 4),
                          {0x7105040d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                          {kEnd}}));
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  // count, first, instances, first instance, bias, indexed
  EXPECT_THAT(world.works(), ElementsAre(ElementsAre(36, 10, 2, 1, -1, 1),
                                         ElementsAre(3, 4, 5, 6, 7, 0), ElementsAre(8, 9, 4)));
}

TEST(Streamer, ReadsTheArgumentsOfIndirectDrawsFromMemory) {
  World world("xe2");
  world.Put(kData, {3, 1, 0, 0, 6, 2, 1, 5, 9, 1, 0, 0});
  world.Put(kData + 0x100, {2});
  // EXECUTE_INDIRECT_DRAW of at most 3, as many as the dword at kData + 0x100 says.
  world.Put(kBatch, {0x7c000004, 3, static_cast<uint32_t>(kData + 0x100) | 1, 0, kData, 0, kEnd});
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  EXPECT_THAT(world.works(), ElementsAre(ElementsAre(3, 0, 1, 0), ElementsAre(6, 1, 2, 5)));
}

TEST(Streamer, ConditionallyEndsAllLevels) {
  for (const uint32_t memory : {5u, 6u}) {
    World world("gfx9");
    world.Put(kData, {0, 0, memory, 0xffffffff});
    world.Put(kBatch, Join({Jump(0x30000, kSecondLevel), StoreDword(kData, 1), {kEnd}}));
    world.Put(0x30000, Join({{0x1b200002, 5, kData + 8, 0}, StoreDword(kData + 4, 1), {kEnd}}));
    EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
    EXPECT_EQ(world.Read32(kData + 4), memory > 5 ? 1u : 0u);
    EXPECT_EQ(world.Read32(kData), memory > 5 ? 1u : 0u);
  }
}

TEST(Streamer, WaitsUntilTheSemaphoreHasTheValue) {
  World world("gfx9");
  world.Put(kData, {0, 0});
  // Polling, memory == 7.
  world.Put(kBatch, Join({{0x0e00c002, 7, kData, 0}, StoreDword(kData + 4, 1), {kEnd}}));
  EXPECT_EQ(world.Run(kBatch), Stop::kWaiting);
  EXPECT_EQ(world.streamer().Run(10), Stop::kWaiting);
  EXPECT_EQ(world.Read32(kData + 4), 0u);
  const uint8_t seven[4] = {7, 0, 0, 0};
  ASSERT_EQ(world.memory().Write(0, kData, seven), 4u);
  EXPECT_EQ(world.streamer().Run(10), Stop::kEnded);
  EXPECT_EQ(world.Read32(kData + 4), 1u);
}

TEST(Streamer, TwoEnginesSynchronizeThroughMemory) {
  World one("gfx9"), two("gfx9");
  // Both work on the memory of the first.
  one.Put(kData, {0, 0, 0});
  one.Put(
      kBatch,
      Join({StoreDword(kData, 1), {0x0e00c002, 2, kData, 0}, StoreDword(kData + 4, 3), {kEnd}}));
  one.Put(0x30000, Join({{0x0e00c002, 1, kData, 0},
                         StoreDword(kData, 2),
                         {0x0e00c002, 3, kData + 4, 0},
                         StoreDword(kData + 8, 4),
                         {kEnd}}));
  Streamer other(two.tables(), one.memory(), {}, two);
  other.EnterBatch(0, 0x30000);
  one.streamer().EnterBatch(0, kBatch);
  Stop first = Stop::kBudget, second = Stop::kBudget;
  for (int i = 0; i < 10 && (first != Stop::kEnded || second != Stop::kEnded); ++i) {
    second = other.Run(10);
    first = one.streamer().Run(10);
  }
  EXPECT_EQ(first, Stop::kEnded);
  EXPECT_EQ(second, Stop::kEnded);
  EXPECT_EQ(one.Read32(kData + 8), 4u);
}

TEST(Streamer, WritesPostSyncValuesTimesAndCounts) {
  World world("gfx9");
  world.Put(kData, std::vector<uint32_t>(8, 0x77));
  world.Put(kBatch, Join({LoadImmediate(0x2350, 123),
                          {0x7a000004, 1u << 14, kData, 0, 0xaa, 0xbb},
                          {0x7a000004, 2u << 14, kData + 8, 0, 0, 0},
                          {0x7a000004, 3u << 14, kData + 16, 0, 0, 0},
                          // LRI post-sync
                          {0x7a000004, 1u << 23, 0x2600, 0, 0x99, 0},
                          {kEnd}}));
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  EXPECT_EQ(world.Read64(kData), 0xbb000000aau);
  EXPECT_EQ(world.Read64(kData + 8), 123u);
  EXPECT_GT(world.Read64(kData + 16), 0u);
  EXPECT_LT(world.Read64(kData + 16), 100u);
  EXPECT_EQ(world.Read32(kData + 24), 0x77u);
  EXPECT_EQ(world.streamer().registers().Read(0x2600), 0x99u);
}

TEST(Streamer, WritesToTheStatusPageIfItIsKnown) {
  StreamerOptions options;
  options.context_status_page = 0x50000;
  World world("gfx9", options);
  world.Put(0x50000, std::vector<uint32_t>(1024), kGlobalSpace);
  // MI_FLUSH_DW is the blitter's; PIPE_CONTROL: store index, immediate.
  world.Put(kBatch, {0x7a000004, 1u << 14 | 1u << 21, 0xd0, 0, 0x42, 0, kEnd});
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  EXPECT_EQ(world.Read32(0x500d0, kGlobalSpace), 0x42u);
  EXPECT_THAT(world.problems(), IsEmpty());
}

TEST(Streamer, ExecutesWhatItFetchedBeforeItWasWritten) {
  // A store to the command after the next one: the streamer has read it.
  World world("gfx9");
  world.Put(kData, {0});
  const std::vector<uint32_t> batch =
      Join({StoreDword(kBatch + 7 * 4, 2), StoreDword(kData, 1), {kEnd}});
  world.Put(kBatch, batch);
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  EXPECT_EQ(world.Read32(kData), 1u);
  ASSERT_EQ(world.problems().size(), 1u);
  EXPECT_EQ(world.problems()[0].kind, ProblemKind::kStale);
  EXPECT_THAT(world.problems()[0].text, HasSubstr("MI_STORE_DATA_IMM was written after"));
}

TEST(Streamer, SeesWhatWasWrittenBeforeAJumpOrBeyondTheWindow) {
  World jump("gfx9");
  jump.Put(kData, {0});
  jump.Put(kBatch, Join({StoreDword(0x30000 + 12, 2), Jump(0x30000)}));
  jump.Put(0x30000, Join({StoreDword(kData, 1), {kEnd}}));
  EXPECT_EQ(jump.Run(kBatch), Stop::kEnded);
  EXPECT_EQ(jump.Read32(kData), 2u);
  EXPECT_THAT(jump.problems(), IsEmpty());

  World far("gfx9");
  far.Put(kData, {0});
  const uint64_t store = 4 + 200;
  far.Put(kBatch, Join({StoreDword(static_cast<uint32_t>(kBatch + 4 * store + 12), 2),
                        std::vector<uint32_t>(200, kNoop),
                        StoreDword(kData, 1),
                        {kEnd}}));
  EXPECT_EQ(far.Run(kBatch), Stop::kEnded);
  EXPECT_EQ(far.Read32(kData), 2u);
  EXPECT_THAT(far.problems(), IsEmpty());
}

TEST(Streamer, WithoutThePreParserSeesEverything) {
  World world("gfx12");
  world.Put(kData, {0});
  world.Put(kBatch, Join({Jump(0x30000)}));
  // MI_ARB_CHECK disables the pre-parser; what was fetched before it is old, a jump begins anew.
  world.Put(0x30000, Join({{0x02800101}, Jump(0x38000)}));
  world.Put(0x38000, Join({StoreDword(0x38000 + 7 * 4, 2), StoreDword(kData, 1), {kEnd}}));
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  EXPECT_EQ(world.Read32(kData), 2u);
  EXPECT_FALSE(world.streamer().pre_parser());
  EXPECT_THAT(world.problems(), IsEmpty());
}

// Another streamer begins to fetch anew at a jump; one with a pre-parser has followed it.
TEST(Streamer, APreParserFollowsJumps) {
  const auto run = [](absl::string_view generation, const std::vector<uint32_t>& between) {
    World world(generation);
    world.Put(kData, {0});
    world.Put(kBatch, Join({StoreDword(0x30000 + 12, 2), between, Jump(0x30000)}));
    world.Put(0x30000, Join({StoreDword(kData, 1), {kEnd}}));
    EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
    EXPECT_EQ(world.Read32(kData), 2u);
    std::vector<ProblemKind> kinds;
    for (const Problem& problem : world.problems()) kinds.push_back(problem.kind);
    return kinds;
  };
  const std::vector<uint32_t> off = {0x02800101};
  EXPECT_THAT(run("gfx12", {}), ElementsAre(ProblemKind::kStale));
  EXPECT_THAT(run("xe2", {}), ElementsAre(ProblemKind::kStale));
  EXPECT_THAT(run("gfx12", off), IsEmpty());
  EXPECT_THAT(run("gfx11", {}), IsEmpty());
  // 512 bytes of commands are between the write and what was written.
  EXPECT_THAT(run("gfx12", std::vector<uint32_t>(110, kNoop)), ElementsAre(ProblemKind::kStale));
  EXPECT_THAT(run("gfx12", std::vector<uint32_t>(128, kNoop)), IsEmpty());
}

TEST(Streamer, AFaultSaysWhereAndKeepsWhatWasDone) {
  World world("gfx9");
  world.Put(kData, {0});
  world.Put(kBatch, Join({StoreDword(kData, 1), Jump(0x777000)}));
  EXPECT_EQ(world.Run(kBatch), Stop::kFault);
  EXPECT_EQ(world.Read32(kData), 1u);
  ASSERT_EQ(world.problems().size(), 1u);
  EXPECT_EQ(world.problems()[0].address, 0x777000u);
  EXPECT_EQ(world.streamer().Run(1), Stop::kFault);
}

TEST(Streamer, EndlessLoopsEndWithTheBudget) {
  World world("gfx9");
  world.Put(kBatch, Join({{kNoop}, Jump(kBatch)}));
  EXPECT_EQ(world.Run(kBatch, 12345), Stop::kBudget);
  EXPECT_EQ(world.streamer().commands(), 12345u);
}

TEST(Streamer, WritesWhereNoMemoryIsAreReported) {
  World world("gfx9");
  world.Put(kBatch, Join({StoreDword(0x999000, 1), {kEnd}}));
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  ASSERT_EQ(world.problems().size(), 1u);
  EXPECT_EQ(world.problems()[0].kind, ProblemKind::kApproximate);
}

TEST(Streamer, StopsAtCommandsThatReachUnmappedMemoryIfTheseAreFaults) {
  // A load, a store, a wait, a copy, and a blit whose second row is not mapped.
  const std::vector<uint32_t> wait = {0x0e000000 | 1u << 15 | 4u << 12 | 2, 1, 0x999000, 0};
  const std::vector<uint32_t> blit = {
      0x54f00008, 0x03cc0000 | 64, 0, 2u << 16 | 16, kData + 4032, 0, 0, 64, kData, 0};
  for (const bool faults : {false, true}) {
    for (const std::vector<uint32_t>& command :
         {LoadMemory(kGpr, 0x999000), StoreDword(0x999000, 1), wait, CopyMemory(kData, 0x999000),
          blit}) {
      const uint32_t copies = FindGeneration("gfx9")->FindEngine("blitter");
      World world("gfx9", {.engine = command == blit ? copies : 0, .unmapped_faults = faults});
      world.Put(kData, std::vector<uint32_t>(1024));
      world.Put(kBatch, Join({{kNoop}, command, StoreDword(kData, 1), {kEnd}}));
      const Stop ends = command == wait ? Stop::kWaiting : Stop::kEnded;
      EXPECT_EQ(world.Run(kBatch), faults ? Stop::kFault : ends) << command[0];
      EXPECT_EQ(world.Read32(kData), faults || command == wait ? 0u : 1u) << command[0];
      ASSERT_FALSE(world.problems().empty()) << command[0];
      EXPECT_EQ(world.problems()[0].kind, faults ? ProblemKind::kFault : ProblemKind::kApproximate);
      EXPECT_TRUE(world.problems()[0].unmapped);
      if (!faults) continue;
      EXPECT_EQ(world.streamer().address(), kBatch + 4);
      EXPECT_EQ(world.streamer().Run(1), Stop::kFault);
    }
  }
}

TEST(Streamer, TellsTheTimeOfItsClock) {
  uint64_t now = 0xfffffffe;
  World world("gfx9", {.clock = [&now] { return now++; }});
  constexpr uint32_t kTimestamp = 0x2358;
  world.Put(kData, std::vector<uint32_t>(8));
  // A post-sync write of both halves, of one time; then the lower half.
  world.Put(kBatch, Join({{0x7a000004, 3u << 14 | 1u << 20, kData, 0, 0, 0},
                          {0x7a000004, 3u << 14 | 1u << 20, kData + 8, 0, 0, 0},
                          {0x7a000004, 3u << 14 | 1u << 20, kData + 16, 0, 0, 0},
                          StoreRegister(kData + 24, kTimestamp),
                          {kEnd}}));
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  EXPECT_EQ(world.Read64(kData), 0xfffffffeu);
  EXPECT_EQ(world.Read64(kData + 8), 0xffffffffu);
  EXPECT_EQ(world.Read64(kData + 16), 0x100000000u);
  EXPECT_EQ(world.Read32(kData + 24), 1u);
}

TEST(Streamer, TellsTheTimeInTheRegistersOfEveryEngine) {
  uint64_t now = 0x500000000;
  World world("gfx9", {.clock = [&now] { return now++; }});
  // TIMESTAMP and CTX_TIMESTAMP of the engines for 3D, video and copies.
  const std::vector<uint32_t> registers = {0x2358, 0x23a8, 0x12358, 0x123a8, 0x22358, 0x223a8};
  std::vector<uint32_t> batch;
  for (uint32_t i = 0; i < registers.size(); ++i) {
    const std::vector<uint32_t> store = StoreRegister(kData + 4 * i, registers[i]);
    batch.insert(batch.end(), store.begin(), store.end());
  }
  batch = Join({batch, StoreRegister(kData + 24, 0x2235c), {kEnd}});
  world.Put(kData, std::vector<uint32_t>(8));
  world.Put(kBatch, batch);
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  for (uint32_t i = 0; i < registers.size(); ++i) EXPECT_EQ(world.Read32(kData + 4 * i), i) << i;
  EXPECT_EQ(world.Read32(kData + 24), 5u);
}

TEST(Streamer, KeepsTheLastPacketOfEachKindAsState) {
  World world("gfx9");
  // 3DSTATE_VF_TOPOLOGY twice, a draw.
  world.Put(kBatch, {0x784b0000, 4, 0x784b0000, 5, 0x7b000005, 0, 3, 0, 1, 0, 0, kEnd});
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  const std::vector<StatePacket> state =
      StateOf(world.tables(), world.streamer(), tables::Role::kDraw);
  ASSERT_EQ(state.size(), 1u);
  EXPECT_EQ(world.tables().string(state[0].container->name), "3DSTATE_VF_TOPOLOGY");
  EXPECT_EQ(state[0].bytes[4], 5);
  EXPECT_EQ(state[0].number, 2u);
}

}  // namespace
}  // namespace packsmith::sim
