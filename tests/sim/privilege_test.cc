// What a batch without privilege cannot do.
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/sim/streamer.h"
#include "tests/sim/world.h"

namespace packsmith::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kBatch = 0x10000, kData = 0x20000;

std::vector<ProblemKind> KindsOf(const World& world) {
  std::vector<ProblemKind> kinds;
  for (const Problem& problem : world.problems()) kinds.push_back(problem.kind);
  return kinds;
}

Stop RunIn(World& world, uint32_t space, uint64_t at, const std::vector<uint32_t>& batch) {
  world.Put(at, batch, space);
  world.streamer().EnterBatch(space, at);
  return world.streamer().Run(1000);
}

TEST(Privilege, RegistersOfTheRingAreWrittenOnlyWithIt) {
  for (const char* generation : {"gfx6", "gfx7", "gfx9", "gfx12", "xe3"}) {
    for (const bool privileged : {false, true}) {
      World world(generation);
      const uint32_t space = privileged ? kGlobalSpace : 0;
      EXPECT_EQ(RunIn(world, space, kBatch, {0x11000003, 0x2030, 0x40, 0x2358 - 0x58, 5, kEnd}),
                Stop::kEnded);
      EXPECT_EQ(world.streamer().registers().Read(0x2030), privileged ? 0x40u : 0u) << generation;
      // The other pair of the packet is not concerned.
      EXPECT_EQ(world.streamer().registers().Read(0x2300), 5u);
      if (privileged) {
        EXPECT_THAT(world.problems(), IsEmpty());
        continue;
      }
      EXPECT_THAT(KindsOf(world), ElementsAre(ProblemKind::kPrivileged));
      EXPECT_THAT(world.problems()[0].text, HasSubstr("0x2030 (RING_BUFFER_TAIL)"));
    }
  }
}

TEST(Privilege, HoldsForTheRegistersOfEachEngine) {
  StreamerOptions options;
  options.engine = FindGeneration("gfx9")->FindEngine("blitter");
  World world("gfx9", options);
  EXPECT_EQ(RunIn(world, 0, kBatch, {0x11000001, 0x22030, 0x40, kEnd}), Stop::kEnded);
  EXPECT_EQ(world.streamer().registers().Read(0x22030), 0u);
  EXPECT_THAT(KindsOf(world), ElementsAre(ProblemKind::kPrivileged));
}

TEST(Privilege, NoMoveReachesAPrivilegedRegisterButAllReadIt) {
  World world("gfx9");
  world.Put(kData, {0x50, 1});
  EXPECT_EQ(RunIn(world, kGlobalSpace, kBatch, {0x11000001, 0x2030, 0x40, kEnd}), Stop::kEnded);
  EXPECT_EQ(RunIn(world, 0, 0x30000,
                  Join({LoadMemory(0x2030, kData),
                        LoadImmediate(0x2600, 3),
                        CopyRegister(0x2030, 0x2600),
                        StoreRegister(kData + 4, 0x2030),
                        {kEnd}})),
            Stop::kEnded);
  EXPECT_EQ(world.streamer().registers().Read(0x2030), 0x40u);
  EXPECT_EQ(world.Read32(kData + 4), 0x40u);
  EXPECT_THAT(KindsOf(world), ElementsAre(ProblemKind::kPrivileged, ProblemKind::kPrivileged));
}

TEST(Privilege, ARegisterThatIsForcedToBeOpenIsWritten) {
  struct Case {
    uint32_t slot, offset;
    bool written;
  };
  for (const Case& c :
       {Case{0x2244, 0x2244, true}, Case{0x2244, 0x2270, false},
        // Four and sixteen registers from 0x2270 on.
        Case{0x2270 | 1, 0x227c, true}, Case{0x2270 | 1, 0x2280, false},
        Case{0x2270 | 2, 0x228c, true},
        // Reading only; both denied; writing only; denied.
        Case{0x2270 | 1 << 28, 0x2270, false}, Case{0x2270 | 3 << 28, 0x2270, false},
        Case{0x2270 | 2u << 28, 0x2270, true}, Case{0x2270 | 1 << 30, 0x2270, false}}) {
    World world("gfx9");
    EXPECT_EQ(RunIn(world, kGlobalSpace, kBatch, {0x11000001, 0x24d8, c.slot, kEnd}), Stop::kEnded);
    EXPECT_EQ(RunIn(world, 0, 0x30000, {0x11000001, c.offset, 0x00010001, kEnd}), Stop::kEnded);
    EXPECT_EQ(world.streamer().registers().Written(c.offset).has_value(), c.written)
        << std::hex << c.slot << " " << c.offset;
    EXPECT_EQ(world.problems().empty(), c.written);
  }
}

TEST(Privilege, CommandsThatNeedItHaveNoEffectWithoutIt) {
  for (const bool privileged : {false, true}) {
    World world("gfx9");
    // MI_ARB_ON_OFF, off.
    EXPECT_EQ(RunIn(world, privileged ? kGlobalSpace : 0, kBatch, {0x04000000, kEnd}),
              Stop::kEnded);
    EXPECT_EQ(world.streamer().arbitration(), !privileged);
    EXPECT_EQ(world.problems().size(), privileged ? 0u : 1u);
  }
  World world("gfx7");
  // MI_SET_CONTEXT
  EXPECT_EQ(RunIn(world, 0, kBatch, {0x0c000000, 0x100101, kNoop, kEnd}), Stop::kEnded);
  EXPECT_EQ(world.streamer().registers().Read(0x2180), 0u);
  EXPECT_THAT(KindsOf(world), ElementsAre(ProblemKind::kPrivileged));
  EXPECT_THAT(world.problems()[0].text, HasSubstr("MI_SET_CONTEXT has no effect"));
  EXPECT_THAT(world.names(), ElementsAre("MI_SET_CONTEXT", "MI_NOOP", "MI_BATCH_BUFFER_END"));
}

TEST(Privilege, TheGlobalSpaceIsOutOfReachWithoutIt) {
  constexpr uint32_t kGlobal = 1u << 22;
  for (const bool privileged : {false, true}) {
    World world("gfx9");
    world.Put(kData, std::vector<uint32_t>(8, 0x11), kGlobalSpace);
    world.Put(kData, std::vector<uint32_t>(8, 0x22));
    std::vector<uint32_t> store = StoreDword(kData, 5), copy = CopyMemory(kData + 4, kData + 8);
    store[0] |= kGlobal;
    copy[0] |= kGlobal;  // the source
    const std::vector<uint32_t> wait = {0x0e000002 | kGlobal | 1 << 15 | 4 << 12, 0x77,
                                        static_cast<uint32_t>(kData), 0};
    std::vector<uint32_t> batch = Join({store, copy});
    if (!privileged) batch = Join({batch, wait});
    // PIPE_CONTROL with a write of an immediate value.
    batch = Join(
        {batch,
         {0x7a000004, 1u << 24 | 1u << 14 | 1u << 20, static_cast<uint32_t>(kData + 16), 0, 9, 0},
         {kEnd}});
    EXPECT_EQ(RunIn(world, privileged ? kGlobalSpace : 0, kBatch, batch), Stop::kEnded);
    EXPECT_EQ(world.Read32(kData, kGlobalSpace), privileged ? 5u : 0x11u);
    EXPECT_EQ(world.Read32(kData + 4), privileged ? 0x11u : 0x22u);
    EXPECT_EQ(world.Read32(kData + 16, kGlobalSpace), privileged ? 9u : 0x11u);
    EXPECT_EQ(world.problems().size(), privileged ? 0u : 4u);
    for (const ProblemKind kind : KindsOf(world)) EXPECT_EQ(kind, ProblemKind::kPrivileged);
  }
}

TEST(Privilege, BeforeGfx7TheGlobalSpaceIsOpen) {
  World world("gfx6");
  world.Put(kData, {0, 0}, kGlobalSpace);
  EXPECT_EQ(RunIn(world, 0, kBatch, {0x10400002, 0, kData, 5, kEnd}), Stop::kEnded);
  EXPECT_EQ(world.Read32(kData, kGlobalSpace), 5u);
  EXPECT_THAT(world.problems(), IsEmpty());
}

TEST(Privilege, IsLostWithTheAddressSpaceAndComesBackAtTheReturn) {
  World world("gfx9");
  constexpr uint32_t kToGlobal = 0x18800001;
  // The second level is in the context's space; there a chain to the global space stays in it.
  world.Put(0x30000, {kToGlobal, 0x38000, 0});
  world.Put(0x38000, Join({LoadImmediate(0x2030, 1), LoadImmediate(0x2600, 7), {kEnd}}));
  EXPECT_EQ(RunIn(world, kGlobalSpace, kBatch,
                  Join({Jump(0x30000, kSecondLevel), LoadImmediate(0x2034, 2), {kEnd}})),
            Stop::kEnded);
  EXPECT_EQ(world.streamer().registers().Read(0x2030), 0u);
  EXPECT_EQ(world.streamer().registers().Read(0x2600), 7u);
  EXPECT_EQ(world.streamer().registers().Read(0x2034), 2u);
  EXPECT_THAT(KindsOf(world), ElementsAre(ProblemKind::kPrivileged, ProblemKind::kPrivileged));
}

TEST(Privilege, ARingHasItAndABatchOfHaswellUntilABitTakesIt) {
  for (const bool taken : {false, true}) {
    World world("gfx75");
    constexpr uint64_t kRing = 0x100000;
    world.Put(kBatch, {0x11000001, 0x2030, 0x40, kEnd});
    world.Put(kRing, {0x18800100u | (taken ? 1u << 13 : 0u), kBatch, 0x11000001, 0x2034, 0x8},
              kGlobalSpace);
    world.streamer().EnterRing({kRing, 4096, 0, 20});
    EXPECT_EQ(world.streamer().Run(100), Stop::kEnded);
    EXPECT_EQ(world.streamer().registers().Read(0x2030), taken ? 0u : 0x40u);
    EXPECT_EQ(world.streamer().registers().Read(0x2034), 8u);
    EXPECT_EQ(world.problems().size(), taken ? 1u : 0u);
  }
}

}  // namespace
}  // namespace packsmith::sim
