// Operations one by one, on the generations where they differ.
#include <cstdint>
#include <memory>
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

// Executes a batch that has privilege.
Stop RunPrivileged(World& world, const std::vector<uint32_t>& batch) {
  world.Put(kBatch, batch, kGlobalSpace);
  world.streamer().EnterBatch(kGlobalSpace, kBatch);
  return world.streamer().Run(1000);
}

TEST(Report, HasItsNumberTheTimeAndTheContext) {
  StreamerOptions options;
  options.context = 0x77;
  World world("gfx9", options);
  world.Put(kData, std::vector<uint32_t>(66, 0xff));
  world.Put(kBatch, {kNoop, kNoop, 0x14000002, kData, 0, 0xabcd, kEnd});
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  EXPECT_EQ(world.Read32(kData), 0xabcdu);
  EXPECT_EQ(world.Read32(kData + 4), 3u);  // the third command
  EXPECT_EQ(world.Read32(kData + 8), 0x77u);
  for (uint64_t i = 3; i < 64; ++i) EXPECT_EQ(world.Read32(kData + 4 * i), 0u) << i;
  EXPECT_EQ(world.Read32(kData + 256), 0xffu);
  ASSERT_EQ(world.problems().size(), 1u);
  EXPECT_EQ(world.problems()[0].kind, ProblemKind::kApproximate);
}

TEST(Report, NamesNoContextBeforeGfx8) {
  StreamerOptions options;
  options.context = 0x77;
  for (const char* generation : {"gfx6", "gfx7", "gfx75"}) {
    World world(generation, options);
    world.Put(kData, std::vector<uint32_t>(65, 0xff));
    world.Put(kBatch, {0x14000001, kData, 0xabcd, kEnd});
    EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
    EXPECT_EQ(world.Read32(kData), 0xabcdu) << generation;
    EXPECT_EQ(world.Read32(kData + 4), 1u);
    EXPECT_EQ(world.Read32(kData + 8), 0u);
    EXPECT_EQ(world.Read32(kData + 256), 0xffu);
  }
}

// The four dwords of times come from two registers, to the places after the address.
TEST(ComputeWalker, WritesFourTimesOrANumberWhenItHasEnded) {
  World world("gfx125");
  world.streamer().registers().SetClock(0x1234567890u);
  world.Put(kData, std::vector<uint32_t>(12, 0xff));
  std::vector<uint32_t> walker(39);
  walker[0] = 0x72080025;
  walker[26] = 3;
  walker[27] = kData;
  std::vector<uint32_t> batch = walker;
  walker[26] = 1;
  walker[27] = kData + 32;
  walker[29] = 0xabcd;
  batch.insert(batch.end(), walker.begin(), walker.end());
  batch.push_back(kEnd);
  world.Put(kBatch, batch);
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  EXPECT_EQ(world.Read32(kData + 4), 0x34567891u);  // one command later
  EXPECT_EQ(world.Read32(kData + 12), 0x34567891u);
  // The times of the context.
  EXPECT_EQ(world.Read32(kData), world.Read32(kData + 8));
  EXPECT_NE(world.Read32(kData + 8), 0xffu);
  EXPECT_EQ(world.Read32(kData + 16), 0xffu);
  EXPECT_EQ(world.Read64(kData + 32), 0xabcdu);
  EXPECT_EQ(world.Read32(kData + 40), 0xffu);
}

TEST(Report, OfXe2HasNumbersOf64Bits) {
  StreamerOptions options;
  options.context = 0x77;
  World world("xe2", options);
  world.Put(kData, std::vector<uint32_t>(146, 0xff));
  world.Put(kBatch, {0x14000002, kData, 0, 0xabcd, kEnd});
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  EXPECT_EQ(world.Read64(kData), 0xabcdu);
  EXPECT_EQ(world.Read64(kData + 8), 1u);
  EXPECT_EQ(world.Read64(kData + 16), 0x77u);
  EXPECT_EQ(world.Read32(kData + 572), 0u);
  EXPECT_EQ(world.Read32(kData + 576), 0xffu);
}

TEST(UpdateGtt, WritesEntriesOfTheGlobalPageTable) {
  for (const bool old : {true, false}) {
    StreamerOptions options;
    options.global_table = StreamerOptions::PageTable{7, 0x800000, 16, old ? 4u : 8u};
    World world(old ? "gfx6" : "gfx9", options);
    world.Put(0x800000, std::vector<uint32_t>(32, 0xff), 7);
    const uint32_t page = 0x5000;
    if (old) {
      EXPECT_EQ(RunPrivileged(world, {0x11800002, page, 0x1001, 0x2001, kEnd}), Stop::kEnded);
      EXPECT_EQ(world.Read32(0x800000 + 5 * 4, 7), 0x1001u);
      EXPECT_EQ(world.Read32(0x800000 + 6 * 4, 7), 0x2001u);
      EXPECT_EQ(world.Read32(0x800000 + 7 * 4, 7), 0xffu);
    } else {
      EXPECT_EQ(RunPrivileged(world, {0x11800004, page, 0x1001, 1, 0x2001, 2, kEnd}), Stop::kEnded);
      EXPECT_EQ(world.Read32(0x800000 + 5 * 8, 7), 0x1001u);
      EXPECT_EQ(world.Read32(0x800000 + 5 * 8 + 4, 7), 1u);
      EXPECT_EQ(world.Read32(0x800000 + 6 * 8, 7), 0x2001u);
      EXPECT_EQ(world.Read32(0x800000 + 6 * 8 + 4, 7), 2u);
      EXPECT_EQ(world.Read32(0x800000 + 7 * 8, 7), 0xffu);
    }
    EXPECT_EQ(world.Read32(0x800000 + 4 * (old ? 4 : 8), 7), 0xffu);
    EXPECT_THAT(world.problems(), IsEmpty());
  }
}

TEST(UpdateGtt, WithoutATableOrBeyondItChangesNothing) {
  for (const bool known : {false, true}) {
    StreamerOptions options;
    if (known) options.global_table = StreamerOptions::PageTable{7, 0x800000, 6, 8};
    World world("gfx9", options);
    world.Put(0x800000, std::vector<uint32_t>(32, 0xff), 7);
    // Of two pages the second one has no entry.
    EXPECT_EQ(RunPrivileged(world, {0x11800004, 0x5000, 1, 1, 2, 2, kEnd}), Stop::kEnded);
    for (uint64_t i = 0; i < 32; ++i) EXPECT_EQ(world.Read32(0x800000 + 4 * i, 7), 0xffu);
    ASSERT_EQ(world.problems().size(), 1u);
    EXPECT_EQ(world.problems()[0].kind, ProblemKind::kApproximate);
    EXPECT_THAT(world.problems()[0].text, HasSubstr(known ? "no entry for 0x5000" : "not known"));
  }
}

constexpr uint32_t kInhibit = 1, kForce = 2;
std::vector<uint32_t> SetContext(uint32_t image, uint32_t flags = 0) {
  return {0x0c000000, image | 0x100 | flags, kNoop};
}

TEST(SetContext, RegistersAndStateBelongToTheContext) {
  constexpr uint32_t kFirst = 0x100000, kSecond = 0x200000;
  for (const char* generation : {"gfx6", "gfx7", "gfx75"}) {
    World world(generation);
    const bool draws = std::string(generation) != "gfx6";
    const uint32_t offset = draws ? 0x2430 : 0x20c4;
    // 3DSTATE_DRAWING_RECTANGLE
    const auto rectangle = [](uint32_t origin) {
      return std::vector<uint32_t>{0x79000002, 0, 0, origin};
    };
    EXPECT_EQ(RunPrivileged(world, Join({SetContext(kFirst, kInhibit),
                                         LoadImmediate(offset, 11),
                                         rectangle(1),
                                         SetContext(kSecond, kInhibit),
                                         LoadImmediate(offset, 22),
                                         rectangle(2),
                                         SetContext(kFirst),
                                         {kEnd}})),
              Stop::kEnded);
    EXPECT_EQ(world.streamer().registers().Read(offset), 11u) << generation;
    // CCID: the address, valid.
    EXPECT_EQ(world.streamer().registers().Read(0x2180), kFirst + 1);
    const uint32_t state = world.tables().FindContainer("3DSTATE_DRAWING_RECTANGLE");
    ASSERT_NE(state, tables::kNone);
    const absl::Span<const uint8_t> bytes =
        world.streamer().StateOf(world.tables().container(state));
    ASSERT_EQ(bytes.size(), 16u);
    EXPECT_EQ(bytes[12], 1u);
    EXPECT_THAT(world.problems(), IsEmpty());
  }
}

TEST(SetContext, TheCurrentOneIsRestoredOnlyIfForced) {
  for (const uint32_t flags : {0u, kForce}) {
    World world("gfx7");
    EXPECT_EQ(RunPrivileged(world, Join({SetContext(0x100000, kInhibit),
                                         LoadImmediate(0x2430, 11),
                                         SetContext(0x200000, kInhibit),
                                         SetContext(0x100000),
                                         LoadImmediate(0x2430, 33),
                                         SetContext(0x100000, flags),
                                         {kEnd}})),
              Stop::kEnded);
    // It is saved first.
    EXPECT_EQ(world.streamer().registers().Read(0x2430), 33u);
    EXPECT_THAT(world.problems(), IsEmpty());
  }
}

TEST(SetContext, AnImageThatWasNeverSavedIsReported) {
  World world("gfx75");
  EXPECT_EQ(RunPrivileged(world, Join({LoadImmediate(0x2430, 5), SetContext(0x100000), {kEnd}})),
            Stop::kEnded);
  EXPECT_EQ(world.streamer().registers().Read(0x2430), 5u);
  ASSERT_EQ(world.problems().size(), 1u);
  EXPECT_EQ(world.problems()[0].kind, ProblemKind::kApproximate);
}

TEST(SetContext, ManyContextsAreKept) {
  World world("gfx7");
  std::vector<uint32_t> batch;
  for (uint32_t i = 1; i <= 200; ++i) {
    const std::vector<uint32_t> one =
        Join({SetContext(i << 12, kInhibit), LoadImmediate(0x2430, i)});
    batch.insert(batch.end(), one.begin(), one.end());
  }
  const std::vector<uint32_t> end = Join({SetContext(190 << 12), {kEnd}});
  batch.insert(batch.end(), end.begin(), end.end());
  EXPECT_EQ(RunPrivileged(world, batch), Stop::kEnded);
  EXPECT_EQ(world.streamer().registers().Read(0x2430), 190u);
}

// Two engines with the same memory.
struct Pair {
  World world;
  Streamer first, second;

  Pair(const char* generation, const char* first_engine, const char* second_engine)
      : world(generation),
        first(world.tables(), world.memory(), OptionsOf(world, first_engine), world),
        second(world.tables(), world.memory(), OptionsOf(world, second_engine), world) {}

  static StreamerOptions OptionsOf(const World& world, const char* engine) {
    StreamerOptions options;
    options.engine = world.tables().FindEngine(engine);
    return options;
  }
  void Put(uint64_t address, const std::vector<uint32_t>& batch, Streamer& in) {
    world.Put(address, batch, kGlobalSpace);
    in.EnterBatch(kGlobalSpace, address);
  }
};

TEST(SemaphoreMbox, WaitsUntilAnotherEngineHasWrittenMore) {
  struct Case {
    const char* generation;
    const char* signaller;
    uint32_t select, offset;
  };
  for (const Case& c :
       {Case{"gfx6", "video", 0, 0x2040}, Case{"gfx6", "blitter", 2, 0x2044},
        Case{"gfx7", "blitter", 2, 0x2044}, Case{"gfx75", "video-enhance", 1, 0x2048}}) {
    Pair pair(c.generation, "render", c.signaller);
    pair.first.Connect(pair.second);
    pair.world.Put(kData, {0});
    // Compare, with a register, greater than 4.
    pair.Put(kBatch,
             {0x0b000001 | 1 << 20 | 1 << 18 | c.select << 16, 4, 0, 0x10000002, 0, kData, 1, kEnd},
             pair.first);
    EXPECT_EQ(pair.first.Run(10), Stop::kWaiting);
    pair.Put(0x30000, {0x11000001, c.offset, 4, kEnd}, pair.second);
    EXPECT_EQ(pair.second.Run(10), Stop::kEnded);
    EXPECT_EQ(pair.first.Run(10), Stop::kWaiting);
    pair.Put(0x38000, {0x11000001, c.offset, 5, kEnd}, pair.second);
    EXPECT_EQ(pair.second.Run(10), Stop::kEnded);
    EXPECT_EQ(pair.first.Run(10), Stop::kEnded);
    EXPECT_EQ(pair.world.Read32(kData), 1u);
    EXPECT_THAT(pair.world.problems(), IsEmpty()) << pair.world.problems()[0].text;
  }
}

TEST(SemaphoreMbox, OfAnotherEngineHasThatEnginesRegisters) {
  Pair pair("gfx7", "blitter", "render");
  pair.first.Connect(pair.second);
  pair.Put(kBatch, {0x0b000001 | 1 << 20 | 1 << 18, 0, 0, kEnd}, pair.first);
  EXPECT_EQ(pair.first.Run(10), Stop::kWaiting);
  // BRSYNC
  pair.Put(0x30000, {0x11000001, 0x22040, 1, kEnd}, pair.second);
  EXPECT_EQ(pair.second.Run(10), Stop::kEnded);
  EXPECT_EQ(pair.first.Run(10), Stop::kEnded);
}

TEST(SemaphoreMbox, ComparesAndUpdatesMemory) {
  World world("gfx6");
  world.Put(kData, {3, 0});
  world.Put(kBatch, {0x0b000001 | 1 << 21, 9, kData + 4, 0x0b000001 | 1 << 20, 3, kData, kEnd});
  EXPECT_EQ(world.Run(kBatch), Stop::kWaiting);
  EXPECT_EQ(world.Read32(kData + 4), 9u);
  const uint8_t four[4] = {4};
  world.memory().Write(0, kData, four);
  EXPECT_EQ(world.streamer().Run(10), Stop::kEnded);
}

TEST(SemaphoreWait, TwoEnginesTakeTurnsThroughMemory) {
  for (const char* generation : {"gfx8", "gfx9", "gfx12", "xe2"}) {
    Pair pair(generation, "render", "blitter");
    pair.world.Put(kData, {0, 0});
    const bool long_form = std::string(generation) == "xe2";
    // Polls until memory equals the value.
    const auto wait = [&](uint32_t value) {
      std::vector<uint32_t> out = {0x0e000002u | 1 << 15 | 4 << 12, value, kData, 0};
      if (long_form) {
        out[0] += 1;
        out.push_back(0);
      }
      return out;
    };
    const auto store = [](uint32_t address, uint32_t value) { return StoreDword(address, value); };
    pair.world.Put(kBatch, Join({store(kData, 1), wait(2), store(kData, 3), {kEnd}}));
    pair.world.Put(0x30000, Join({wait(1), store(kData, 2), wait(3), store(kData + 4, 7), {kEnd}}));
    pair.first.EnterBatch(0, kBatch);
    pair.second.EnterBatch(0, 0x30000);
    EXPECT_EQ(pair.second.Run(100), Stop::kWaiting) << generation;
    EXPECT_EQ(pair.first.Run(100), Stop::kWaiting);
    EXPECT_EQ(pair.second.Run(100), Stop::kWaiting);
    EXPECT_EQ(pair.first.Run(100), Stop::kEnded);
    EXPECT_EQ(pair.second.Run(100), Stop::kEnded);
    EXPECT_EQ(pair.world.Read32(kData + 4), 7u);
  }
}

TEST(IndirectDispatch, DispatchesAsOftenAsMemorySays) {
  for (const char* generation : {"gfx125", "xe2", "xe3"}) {
    World world(generation);
    const bool old = std::string(generation) == "gfx125";
    world.Put(kData, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    world.Put(kData + 0x100, {2});
    std::vector<uint32_t> batch = {
        old ? 0x7c01002au : 0x7c01002bu, 3, kData + 0x100 + 1, 0, kData, 0};
    batch.resize(old ? 44 : 45);
    batch.push_back(kEnd);
    world.Put(kBatch, batch);
    EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
    EXPECT_THAT(world.works(), ElementsAre(ElementsAre(1, 2, 3), ElementsAre(4, 5, 6)))
        << generation;
    EXPECT_THAT(world.problems(), IsEmpty());
  }
}

TEST(IndirectDraw, HasTheParametersOfItsFormat) {
  // Arguments and what is told of them, in the order count, first, instances, first instance, bias,
  // indexed.
  const std::vector<int64_t> told[] = {
      {10, 12, 11, 13}, {10, 12, 11, 14, -1, 1}, {10, 11, 12}, {10}};
  for (uint32_t format = 0; format < 4; ++format) {
    World world("xe2");
    world.Put(kData, format == 1 ? std::vector<uint32_t>{10, 11, 12, 0xffffffff, 14}
                                 : std::vector<uint32_t>{10, 11, 12, 13});
    world.Put(kBatch, {0x7c000004 | format << 10, 1, 0, 0, kData, 0, kEnd});
    EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
    ASSERT_EQ(world.works().size(), 1u);
    EXPECT_EQ(world.works()[0], told[format]) << format;
  }
}

TEST(Mesh, IndirectGroupsComeFromRegisters) {
  for (const char* generation : {"gfx125", "xe2"}) {
    World world(generation);
    world.Put(kBatch, Join({LoadImmediate(0x26f0, 5),
                            LoadImmediate(0x2694, 6),
                            LoadImmediate(0x2698, 7),
                            {0x7b010401, 1, 0},
                            {0x7b020402, 1, 1, 1},
                            {0x7b020002, 1, 2, 3},
                            {kEnd}}));
    EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
    EXPECT_THAT(world.works(),
                ElementsAre(ElementsAre(5), ElementsAre(5, 6, 7), ElementsAre(1, 2, 3)));
    EXPECT_THAT(world.problems(), IsEmpty());
  }
}

TEST(BatchStart, AddsTheOffsetThatARegisterHolds) {
  for (const char* generation : {"gfx75", "gfx8", "gfx9"}) {
    World world(generation);
    const bool old = std::string(generation) == "gfx75";
    world.Put(kBatch, Join({LoadImmediate(0x2158, 0x8000),
                            old ? std::vector<uint32_t>{0x18800100 | 1 << 16, 0x30000}
                                : Jump(0x30000, 1 << 16)}));
    world.Put(0x38000, Join({LoadImmediate(0x2430, 9), {kEnd}}));
    EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
    EXPECT_EQ(world.streamer().registers().Read(0x2430), 9u) << generation;
  }
}

TEST(BatchStart, AThirdLevelReturnsIfNestedBatchesAreEnabled) {
  for (const char* generation : {"gfx125", "xe2", "xe3"}) {
    for (const bool nested : {false, true}) {
      World world(generation);
      world.Put(kData, std::vector<uint32_t>(3));
      // MI_MODE, masked.
      world.Put(kBatch, Join({LoadImmediate(0x209c, nested ? 0x10001000 : 0x10000000),
                              Jump(0x30000, kSecondLevel),
                              StoreDword(kData, 1),
                              {kEnd}}));
      world.Put(0x30000, Join({Jump(0x38000, kSecondLevel), StoreDword(kData + 4, 2), {kEnd}}));
      // From the third level a further call chains.
      world.Put(0x38000, Join({Jump(0x40000, kSecondLevel)}));
      world.Put(0x40000, Join({StoreDword(kData + 8, 3), {kEnd}}));
      EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
      EXPECT_EQ(world.Read32(kData), 1u) << generation;
      EXPECT_EQ(world.Read32(kData + 4), nested ? 2u : 0u);
      EXPECT_EQ(world.Read32(kData + 8), 3u);
    }
  }
}

}  // namespace
}  // namespace packsmith::sim
