// Batches that do harm: they end in bounded time and memory, and say why.
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/dump/memory.h"
#include "runtime/sim/contexts/page_tables.h"
#include "runtime/sim/overlay_memory.h"
#include "runtime/sim/streamer.h"
#include "tests/sim/world.h"

namespace packsmith::sim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint32_t kBatch = 0x10000, kData = 0x20000;

struct Counts : Observer {
  void OnWork(const Work&) override { ++works; }
  void OnProblem(const Problem& problem) override { problems.push_back(problem); }
  uint64_t works = 0;
  std::vector<Problem> problems;
};

absl::Span<const uint8_t> BytesOf(const std::vector<uint32_t>& words) {
  return {reinterpret_cast<const uint8_t*>(words.data()), words.size() * 4};
}

TEST(HostileBatch, AJumpIntoDataIsAFaultThatNamesThem) {
  World world("gfx9");
  world.Put(kData, {0xffffffff});
  world.Put(kBatch, Jump(kData));
  EXPECT_EQ(world.Run(kBatch), Stop::kFault);
  ASSERT_EQ(world.problems().size(), 1u);
  EXPECT_EQ(world.problems()[0].address, kData);
  EXPECT_THAT(world.problems()[0].text, HasSubstr("0xffffffff does not begin a packet"));
}

TEST(HostileBatch, AJumpIntoTheMiddleOfAPacketExecutesWhatIsThere) {
  World world("gfx9");
  world.Put(kData, {0});
  // The value of the store is a batch end.
  world.Put(kBatch, Join({Jump(kBatch + 4 * 6), StoreDword(kData, kEnd), {0xffffffff}}));
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  EXPECT_EQ(world.Read32(kData), 0u);
  EXPECT_THAT(world.problems(), IsEmpty());
}

TEST(HostileBatch, ALoopThatWritesItselfExecutesWhatItWroteUntilTheBudgetEnds) {
  World world("gfx9");
  world.Put(kData, {0});
  // MI_ATOMIC increments the value that the store after it stores.
  world.Put(kBatch, Join({{0x17800501, kBatch + 4 * 6, 0}, StoreDword(kData, 0), Jump(kBatch)}));
  EXPECT_EQ(world.Run(kBatch, 3 * 1000), Stop::kBudget);
  // What the first turn stores was fetched before it was written; so in each turn, one later.
  EXPECT_EQ(world.Read32(kData), 999u);
  EXPECT_EQ(world.Read32(kBatch + 4 * 6), 1000u);
  ASSERT_EQ(world.problems().size(), 1000u);
  EXPECT_EQ(world.problems()[0].kind, ProblemKind::kStale);
}

TEST(HostileBatch, CallsOfItselfStayWithinTheLevelsOfTheHardware) {
  for (const char* generation : {"gfx4", "gfx9", "gfx125", "xe3"}) {
    World world(generation);
    const bool old = std::string(generation) == "gfx4";
    world.Put(kBatch, old ? std::vector<uint32_t>{0x18800000, kBatch} : Jump(kBatch, kSecondLevel));
    EXPECT_EQ(world.Run(kBatch, 10000), Stop::kBudget) << generation;
    EXPECT_EQ(world.streamer().commands(), 10000u);
  }
}

TEST(HostileBatch, WritesToMorePagesThanAreKeptAreLeftOutAndReported) {
  // R0 += 4096; [R0] = R0; again.
  const std::vector<uint32_t> batch =
      Join({LoadImmediate(kGpr, 0x100000), LoadImmediate(kGpr + 8, 4096),
            Math({AluWord(0x080, 0x20, 0), AluWord(0x080, 0x21, 1), AluWord(0x100),
                  AluWord(0x180, 0, 0x31), AluWord(0x181, 0x31, 0)}),
            Jump(kBatch + 6 * 4)});
  Memory base;
  ASSERT_TRUE(base.Map(0, kBatch, BytesOf(batch), batch.size() * 4).ok());
  ASSERT_TRUE(base.Map(0, 0x100000, {}, uint64_t{1} << 40).ok());
  OverlayMemory memory(base, 10);
  Counts counts;
  const tables::Tables tables = *FindGeneration("gfx125");
  Streamer streamer(tables, memory, {}, counts);
  streamer.EnterBatch(0, kBatch);
  EXPECT_EQ(streamer.Run(1000), Stop::kBudget);
  EXPECT_TRUE(memory.exhausted());
  ASSERT_FALSE(counts.problems.empty());
  EXPECT_EQ(counts.problems[0].kind, ProblemKind::kUnsupported);
  EXPECT_THAT(counts.problems[0].text, HasSubstr("as many pages as the simulation keeps"));
}

TEST(HostileBatch, IndirectDrawsAreBoundedInALoop) {
  // As many draws as a dword can say, of arguments that are all zeros.
  const std::vector<uint32_t> batch = {0x7c000004, 0xffffffff, 0,      0, kData,
                                       0,          0x18800101, kBatch, 0};
  Memory base;
  ASSERT_TRUE(base.Map(0, kBatch, BytesOf(batch), batch.size() * 4).ok());
  ASSERT_TRUE(base.Map(0, kData, {}, uint64_t{1} << 40).ok());
  OverlayMemory memory(base);
  Counts counts;
  const tables::Tables tables = *FindGeneration("xe2");
  StreamerOptions options;
  options.most_indirect_draws = 1000;
  Streamer streamer(tables, memory, options, counts);
  streamer.EnterBatch(0, kBatch);
  EXPECT_EQ(streamer.Run(100), Stop::kBudget);
  EXPECT_EQ(counts.works, 1000u);
  ASSERT_FALSE(counts.problems.empty());
  EXPECT_EQ(counts.problems[0].kind, ProblemKind::kUnsupported);
  EXPECT_THAT(counts.problems[0].text,
              HasSubstr("of 4294967295 indirect draws only the first 1000 are simulated"));
}

TEST(HostileBatch, BlitsAreBoundedInALoop) {
  // XY_COLOR_BLT of 32767 x 32767 pixels, whose rows are all the same one.
  const std::vector<uint32_t> batch = {0x54300005 | 0u, 0x03f00000, 0, 0x7fff7fff, kData, 0, 7,
                                       0x18800101,      kBatch,     0};
  Memory base;
  ASSERT_TRUE(base.Map(0, kBatch, BytesOf(batch), batch.size() * 4).ok());
  ASSERT_TRUE(base.Map(0, kData, {}, 1 << 20).ok());
  OverlayMemory memory(base);
  Counts counts;
  const tables::Tables tables = *FindGeneration("gfx9");
  StreamerOptions options;
  options.all_engines = true;
  options.most_blit_bytes = 1 << 22;
  Streamer streamer(tables, memory, options, counts);
  streamer.EnterBatch(0, kBatch);
  EXPECT_EQ(streamer.Run(100), Stop::kBudget);
  ASSERT_FALSE(counts.problems.empty());
  EXPECT_THAT(counts.problems[0].text, HasSubstr("the limit"));
}

// A context's addresses, through its page tables.
class Translated : public MemoryAccess {
 public:
  Translated(MemoryAccess& physical, PageTables tables)
      : physical_(physical), tables_(std::move(tables)) {}
  size_t Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const override {
    return space == kGlobalSpace ? physical_.Read(space, address, out) : tables_.Read(address, out);
  }
  size_t Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) override {
    return space == kGlobalSpace ? physical_.Write(space, address, bytes)
                                 : tables_.Write(address, bytes);
  }

 private:
  MemoryAccess& physical_;
  PageTables tables_;
};

TEST(HostileBatch, PageTablesThatPointToThemselvesAreWrittenThroughAndEndInAFault) {
  // The first page is the table of all four levels, and the batch. Entry 0 is itself.
  std::vector<uint32_t> page(1024);
  page[0] = 0x3;
  // The batch writes the entry that maps it: not present any more.
  const std::vector<uint32_t> batch = Join({StoreDword(0, 0), Jump(0x100)});
  std::copy(batch.begin(), batch.end(), page.begin() + 0x40);
  Memory base;
  ASSERT_TRUE(base.Map(kGlobalSpace, 0x1000, BytesOf(page), 4096).ok());
  page[0] = 0x1003;
  OverlayMemory physical(base);
  const tables::Tables tables = *FindGeneration("gfx9");
  absl::StatusOr<PageTables> own =
      PageTables::Open(tables, physical, {.kind = PageTableKind::kFourLevels, .tables = {0x1000}},
                       {kGlobalSpace, kGlobalSpace, kGlobalSpace});
  ASSERT_TRUE(own.ok()) << own.status().message();
  Translated memory(physical, *std::move(own));
  Counts counts;
  Streamer streamer(tables, memory, {}, counts);
  streamer.EnterBatch(0, 0x100);
  EXPECT_EQ(streamer.Run(1000), Stop::kFault);
  EXPECT_EQ(streamer.commands(), 2u);
  ASSERT_EQ(counts.problems.size(), 1u);
  EXPECT_EQ(counts.problems[0].address, 0x100u);
  EXPECT_THAT(counts.problems[0].text, HasSubstr("there is no memory to execute"));
}

}  // namespace
}  // namespace packsmith::sim
