// Page tables as the XML describes them, against entries made by hand, a model and hostile memory.
#include "runtime/sim/contexts/page_tables.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "tests/sim/contexts/fake_memory.h"

namespace packsmith::sim {
namespace {

constexpr uint32_t kTables = 7;
constexpr uint32_t kSystem = 8;
constexpr uint32_t kDevice = 9;
constexpr PhysicalSpaces kSpaces{.tables = kTables, .system = kSystem, .device = kDevice};

tables::Tables Generation(const std::string& name) {
  const absl::StatusOr<tables::Tables> found = FindGeneration(name);
  EXPECT_TRUE(found.ok()) << found.status();
  return *found;
}

// Tables are at 0x100000, 0x101000 and so on.
struct World {
  FakeMemory memory;
  uint64_t next = 0x100000;
  std::vector<PageTables> tables;

  World(const std::string& generation, PageTableRoot root) {
    absl::StatusOr<PageTables> opened =
        PageTables::Open(Generation(generation), memory, root, kSpaces);
    EXPECT_TRUE(opened.ok()) << opened.status();
    tables.push_back(*std::move(opened));
  }

  PageTables& operator*() { return tables.front(); }
  PageTables* operator->() { return &tables.front(); }

  absl::Status Map(const MappingRequest& request) {
    return tables.front().Map(request, [&]() -> absl::StatusOr<uint64_t> {
      const uint64_t table = next;
      next += 4096;
      memory.Map(kTables, table, 4096);
      return table;
    });
  }
};

PageTableRoot Wide() { return {.kind = PageTableKind::kFourLevels}; }

TEST(PageTables, FourLevelsHaveOneEntryALevelWithAddressPresentAndWritable) {
  World world("gfx9", Wide());
  ASSERT_TRUE(
      world.Map({.address = 0x0000'8080'4020'3000, .physical = 0x12'3456'7000, .bytes = 4096})
          .ok());
  EXPECT_EQ(world->root().tables[0], 0x100000u);
  // Bits 47:39, 38:30, 29:21 and 20:12 of the address are 1, 2, 2 and 3.
  EXPECT_EQ(world.memory.Qword(kTables, 0x100000 + 8 * 0x101), 0x101003u);
  EXPECT_EQ(world.memory.Qword(kTables, 0x101000 + 8 * 1), 0x102003u);
  EXPECT_EQ(world.memory.Qword(kTables, 0x102000 + 8 * 1), 0x103003u);
  EXPECT_EQ(world.memory.Qword(kTables, 0x103000 + 8 * 3), 0x1234567003u);
}

TEST(PageTables, FiveLevelsAddATableAbove48BitsFromXe2On) {
  const PageTableRoot root = {.kind = PageTableKind::kFiveLevels};
  for (const char* const generation : {"xe2", "xe3"}) {
    World world(generation, root);
    EXPECT_EQ(world->limit(), uint64_t{1} << 57);
    const uint64_t address = 0x003'8080'4020'3000;
    ASSERT_TRUE(world.Map({.address = address, .physical = 0x12'3456'7000, .bytes = 4096}).ok());
    // Bits 56:48 and 47:39 of the address are 3 and 257.
    EXPECT_EQ(world.memory.Qword(kTables, 0x100000 + 8 * 3), 0x101003u);
    EXPECT_EQ(world.memory.Qword(kTables, 0x101000 + 8 * 0x101), 0x102003u);
    EXPECT_EQ(world.memory.Qword(kTables, 0x104000 + 8 * 3), 0x1234567003u);
    EXPECT_EQ(world->Walk(address + 0x123).physical, 0x12'3456'7123u);
    EXPECT_EQ(world->Walk(address).steps.size(), 5u);
    ASSERT_TRUE(
        world.Map({.address = 0x1ff'ffff'ffff'f000, .physical = 0x9000, .bytes = 4096}).ok());
    EXPECT_EQ(world->Walk(0xffff'ffff'ffff'f123).physical, 0x9123u);
    std::vector<uint64_t> listed;
    world->List([&](const MappedRange& range) { listed.push_back(range.address); });
    EXPECT_EQ(listed, (std::vector<uint64_t>{address, 0x1ff'ffff'ffff'f000}));
  }
  FakeMemory memory;
  EXPECT_TRUE(
      absl::IsNotFound(PageTables::Open(Generation("gfx125"), memory, root, kSpaces).status()));
}

TEST(PageTables, LargePagesEndTheWalkAtTheirLevel) {
  World world("gfx8", Wide());
  ASSERT_TRUE(world
                  .Map({.address = 0x4000'0000,
                        .physical = 0x8000'0000,
                        .bytes = 0x4000'0000,
                        .page_bytes = 0x4000'0000})
                  .ok());
  ASSERT_TRUE(world
                  .Map({.address = 0x20'0000,
                        .physical = 0x60'0000,
                        .bytes = 0x20'0000,
                        .page_bytes = 0x20'0000})
                  .ok());
  EXPECT_EQ(world.memory.Qword(kTables, 0x101000 + 8 * 1), 0x80000083u);
  EXPECT_EQ(world.memory.Qword(kTables, 0x102000 + 8 * 1), 0x600083u);
  const PageWalk giga = world->Walk(0x5234'5678);
  EXPECT_EQ(giga.page_bytes, 0x4000'0000u);
  EXPECT_EQ(giga.physical, 0x9234'5678u);
  EXPECT_EQ(giga.steps.size(), 2u);
  const PageWalk mega = world->Walk(0x21'2345);
  EXPECT_EQ(mega.page_bytes, 0x20'0000u);
  EXPECT_EQ(mega.physical, 0x61'2345u);
}

TEST(PageTables, PagesOf64KiBHaveEverySixteenthEntryUntilGfx12) {
  World world("gfx11", Wide());
  ASSERT_TRUE(world
                  .Map({.address = 0x1'0000,
                        .physical = 0x7'0000,
                        .bytes = 0x2'0000,
                        .page_bytes = 0x1'0000})
                  .ok());
  EXPECT_EQ(world.memory.Qword(kTables, 0x102000), 0x103803u);
  EXPECT_EQ(world.memory.Qword(kTables, 0x103000 + 8 * 16), 0x70003u);
  EXPECT_EQ(world.memory.Qword(kTables, 0x103000 + 8 * 32), 0x80003u);
  EXPECT_EQ(world.memory.Qword(kTables, 0x103000 + 8 * 17), 0u);
  EXPECT_EQ(world->Walk(0x2'5678).physical, 0x8'5678u);
  EXPECT_EQ(world->Walk(0x2'5678).page_bytes, 0x1'0000u);
  const absl::Status small = world.Map({.address = 0x5'0000, .physical = 0, .bytes = 4096});
  EXPECT_TRUE(absl::IsAlreadyExists(small)) << small;
}

TEST(PageTables, PagesOf64KiBHaveThirtyTwoEntriesFromGfx125On) {
  World world("gfx125", Wide());
  ASSERT_TRUE(world
                  .Map({.address = 0x3'0000,
                        .physical = 0x7'0000,
                        .bytes = 0x1'0000,
                        .page_bytes = 0x1'0000,
                        .attributes = {.device = true}})
                  .ok());
  EXPECT_EQ(world.memory.Qword(kTables, 0x102000), 0x103043u);
  EXPECT_EQ(world.memory.Qword(kTables, 0x103000 + 8 * 3), 0x70803u);
  const PageWalk walk = world->Walk(0x3'1234);
  EXPECT_EQ(walk.physical, 0x7'1234u);
  EXPECT_EQ(walk.space, kDevice);
}

TEST(PageTables, PagesOf64KiBAmongSmallOnesAreSixteenMarkedEntries) {
  World world("xe2", Wide());
  ASSERT_TRUE(world.Map({.address = 0x1000, .physical = 0x9000, .bytes = 4096}).ok());
  ASSERT_TRUE(world
                  .Map({.address = 0x1'0000,
                        .physical = 0x7'0000,
                        .bytes = 0x1'0000,
                        .page_bytes = 0x1'0000})
                  .ok());
  EXPECT_EQ(world.memory.Qword(kTables, 0x103000 + 8 * 16), 0x70103u);
  EXPECT_EQ(world.memory.Qword(kTables, 0x103000 + 8 * 31), 0x7f103u);
  EXPECT_EQ(world->Walk(0x1'f123).physical, 0x7'f123u);
  EXPECT_EQ(world->Walk(0x1'f123).page_bytes, 0x1'0000u);
  ASSERT_TRUE(world->Unmap(0x1'0000, 0x1'0000).ok());
  EXPECT_EQ(world.memory.Qword(kTables, 0x103000 + 8 * 31), 0u);
  EXPECT_TRUE(world->Walk(0x1000).mapped());
}

TEST(PageTables, AttributesAreBitsOfTheEntry) {
  World world("xe2", Wide());
  ASSERT_TRUE(world
                  .Map({.address = 0x1000,
                        .physical = 0x9000,
                        .bytes = 4096,
                        .attributes = {.writable = false, .null = true, .device = true, .pat = 31}})
                  .ok());
  // Present, null (9), device (11), PAT 3, 4, 7, 62 and 61.
  EXPECT_EQ(world.memory.Qword(kTables, 0x103000 + 8), 0x6000000000009a99u);
  const PageAttributes read = world->Walk(0x1000).attributes;
  EXPECT_EQ(read, (PageAttributes{.writable = false, .null = true, .device = true, .pat = 31}));
}

TEST(PageTables, AttributesThatTheGenerationDoesNotHaveAreRefused) {
  World world("gfx8", Wide());
  EXPECT_TRUE(absl::IsInvalidArgument(
      world.Map({.address = 0, .physical = 0, .bytes = 4096, .attributes = {.device = true}})));
  EXPECT_TRUE(absl::IsInvalidArgument(
      world.Map({.address = 0, .physical = 0, .bytes = 4096, .attributes = {.pat = 8}})));
  EXPECT_TRUE(absl::IsInvalidArgument(
      world.Map({.address = 0, .physical = 0, .bytes = 0x10000, .page_bytes = 0x10000})));
}

TEST(PageTables, NullPagesReadZerosAndDropWrites) {
  World world("gfx12", Wide());
  ASSERT_TRUE(
      world.Map({.address = 0, .physical = 0, .bytes = 4096, .attributes = {.null = true}}).ok());
  std::vector<uint8_t> bytes(16, 0xaa);
  EXPECT_EQ(world->Write(0x100, bytes), 16u);
  EXPECT_EQ(world->Read(0x100, absl::MakeSpan(bytes)), 16u);
  EXPECT_EQ(bytes, std::vector<uint8_t>(16, 0));
}

TEST(PageTables, ThreeLevelsBeginAtFourDirectories) {
  World world("gfx8", {.kind = PageTableKind::kThreeLevels});
  ASSERT_TRUE(world.Map({.address = 0xc020'1000, .physical = 0x5000, .bytes = 4096}).ok());
  EXPECT_EQ(world->limit(), uint64_t{1} << 32);
  EXPECT_EQ(world->root().tables[3], 0x100000u);
  EXPECT_EQ(world->root().tables[0], 0u);
  EXPECT_EQ(world.memory.Qword(kTables, 0x100000 + 8), 0x101003u);
  EXPECT_EQ(world.memory.Qword(kTables, 0x101000 + 8), 0x5003u);
  EXPECT_EQ(world->Walk(uint64_t{1} << 32).end, WalkEnd::kBeyond);
}

TEST(PageTables, TwoLevelsHave32BitEntriesWithUpperBitsBelow) {
  World world("gfx6", {.kind = PageTableKind::kTwoLevels, .tables = {0x50000}});
  world.memory.Map(kTables, 0x50000, 4096);
  ASSERT_TRUE(world.Map({.address = 0x40'1000, .physical = 0x12'3456'7000, .bytes = 4096}).ok());
  EXPECT_EQ(world->limit(), uint64_t{1} << 31);
  EXPECT_EQ(world.memory.Dword(kTables, 0x50004), 0x100001u);
  EXPECT_EQ(world.memory.Dword(kTables, 0x100004), 0x34567121u);
  EXPECT_EQ(world->Walk(0x40'1abc).physical, 0x12'3456'7abcu);
}

TEST(PageTables, GlobalEntriesOfEachEra) {
  struct Case {
    const char* generation;
    uint64_t physical;
    uint64_t entry;
    size_t bytes;
  };
  for (const Case& one :
       {Case{"gfx4", 0x9'8765'4000, 0x87654091, 4}, Case{"gfx6", 0x12'3456'7000, 0x34567121, 4},
        Case{"gfx75", 0x12'3456'7000, 0x34567121, 4}, Case{"gfx9", 0x12'3456'7000, 0x1234567001, 8},
        Case{"xe3", 0x12'3456'7000, 0x1234567001, 8}}) {
    World world(one.generation,
                {.kind = PageTableKind::kGlobal, .tables = {0x200000}, .entries = 1000});
    world.memory.Map(kTables, 0x200000, 8000);
    ASSERT_TRUE(world.Map({.address = 0x3000, .physical = one.physical, .bytes = 4096}).ok());
    EXPECT_EQ(world.memory.Number(kTables, 0x200000 + 3 * one.bytes, one.bytes), one.entry)
        << one.generation;
    EXPECT_EQ(world->Walk(0x3210).physical, one.physical + 0x210) << one.generation;
    EXPECT_EQ(world->limit(), 1000u * 4096);
  }
}

TEST(PageTables, AddressesAboveWhatAnEntryHoldsAreRefused) {
  World world("gfx75", {.kind = PageTableKind::kGlobal, .tables = {0x200000}, .entries = 8});
  world.memory.Map(kTables, 0x200000, 4096);
  // Haswell has bits 38:32.
  EXPECT_TRUE(absl::IsInvalidArgument(
      world.Map({.address = 0, .physical = 0x80'0000'0000, .bytes = 4096})));
}

TEST(PageTables, AFailedWalkNamesTheEntry) {
  World world("gfx9", Wide());
  ASSERT_TRUE(world.Map({.address = 0x1000, .physical = 0x9000, .bytes = 4096}).ok());
  const PageWalk missing = world->Walk(0x5678);
  EXPECT_EQ(missing.end, WalkEnd::kNotPresent);
  EXPECT_EQ(missing.Explain(),
            "0x5678 is not mapped: PPGTT_PT_ENTRY at 0x103028, 0x0, is not present");
  world.memory.Put(kTables, 0x102000 + 8 * 5, 0x7777000 | 3, 8);
  const PageWalk unreadable = world->Walk(0xa0'1000);
  EXPECT_EQ(unreadable.end, WalkEnd::kUnreadable);
  EXPECT_EQ(unreadable.Explain(),
            "0xa01000 is not mapped: PPGTT_PT_ENTRY at 0x7777008 is unreadable");
  EXPECT_EQ(world->Walk(uint64_t{1} << 50).Explain(),
            "0x4000000000000 is not mapped: above what the tables can map");
  EXPECT_EQ(world->Walk(0x1234).Explain(),
            "0x1234 is at 0x9234 of space 8, in a page of 4096 bytes");
}

TEST(PageTables, CanonicalAddressesAreThoseOf48Bits) {
  World world("gfx9", Wide());
  ASSERT_TRUE(world.Map({.address = 0xffff'ffff'f000, .physical = 0x9000, .bytes = 4096}).ok());
  EXPECT_EQ(world->Walk(0xffff'ffff'ffff'f123).physical, 0x9123u);
}

TEST(PageTables, MappedPagesAreNotMappedAgain) {
  World world("gfx9", Wide());
  ASSERT_TRUE(world.Map({.address = 0x1000, .physical = 0x9000, .bytes = 4096}).ok());
  EXPECT_TRUE(
      absl::IsAlreadyExists(world.Map({.address = 0x1000, .physical = 0xa000, .bytes = 4096})));
  EXPECT_TRUE(absl::IsAlreadyExists(
      world.Map({.address = 0, .physical = 0, .bytes = 0x20'0000, .page_bytes = 0x20'0000})));
  EXPECT_EQ(world->Walk(0x1000).physical, 0x9000u);
}

TEST(PageTables, ALargePageIsUnmappedAsAWhole) {
  World world("gfx9", Wide());
  ASSERT_TRUE(
      world.Map({.address = 0, .physical = 0, .bytes = 0x20'0000, .page_bytes = 0x20'0000}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(world->Unmap(0x1000, 0x1000)));
  EXPECT_TRUE(absl::IsInvalidArgument(world->Unmap(0, 0x1000)));
  EXPECT_TRUE(world->Unmap(0, 0x20'0000).ok());
  EXPECT_FALSE(world->Walk(0).mapped());
}

TEST(PageTables, AListJoinsPagesThatFollowEachOther) {
  World world("gfx9", Wide());
  ASSERT_TRUE(world.Map({.address = 0x1f'e000, .physical = 0x9000, .bytes = 0x4000}).ok());
  ASSERT_TRUE(world.Map({.address = 0x20'2000, .physical = 0x1'0000, .bytes = 0x1000}).ok());
  std::vector<MappedRange> ranges;
  const PageTableListing listing =
      world->List([&](const MappedRange& range) { ranges.push_back(range); });
  EXPECT_TRUE(listing.complete());
  EXPECT_EQ(listing.tables, 5u);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].address, 0x1f'e000u);
  EXPECT_EQ(ranges[0].bytes, 0x4000u);
  EXPECT_EQ(ranges[0].physical, 0x9000u);
  EXPECT_EQ(ranges[1].address, 0x20'2000u);
}

TEST(PageTables, TablesThatPointToThemselvesEnd) {
  World world("gfx9", Wide());
  ASSERT_TRUE(world.Map({.address = 0x1000, .physical = 0x9000, .bytes = 4096}).ok());
  for (uint64_t i = 0; i < 512; ++i) world.memory.Put(kTables, 0x100000 + 8 * i, 0x100003, 8);
  const PageWalk walk = world->Walk(0x1234'5678);
  EXPECT_TRUE(walk.mapped());
  EXPECT_EQ(walk.steps.size(), 4u);
  const PageTableListing listing = world->List([](const MappedRange&) {});
  EXPECT_EQ(listing.loops, 512u);
  EXPECT_EQ(listing.tables, 1u);
  EXPECT_FALSE(listing.complete());
}

TEST(PageTables, SharedTablesAreListedOnlyUpToTheBound) {
  World world("gfx9", Wide());
  ASSERT_TRUE(world.Map({.address = 0x1000, .physical = 0x9000, .bytes = 4096}).ok());
  for (uint64_t i = 0; i < 512; ++i) {
    world.memory.Put(kTables, 0x100000 + 8 * i, 0x101003, 8);
    world.memory.Put(kTables, 0x101000 + 8 * i, 0x102003, 8);
    world.memory.Put(kTables, 0x102000 + 8 * i, 0x103003, 8);
  }
  uint64_t ranges = 0;
  const PageTableListing listing = world->List([&](const MappedRange&) { ++ranges; }, 1000);
  EXPECT_EQ(listing.tables, 1000u);
  EXPECT_GT(listing.skipped, 0u);
  EXPECT_LE(ranges, 1000u);
}

TEST(PageTables, TablesOfRandomBytesAreWalkedAndListed) {
  std::mt19937_64 random(1);
  for (const char* generation : {"gfx8", "gfx11", "xe2"}) {
    World world(generation, {.kind = PageTableKind::kFourLevels, .tables = {0x100000}});
    world.memory.Map(kTables, 0x100000, 0x8000);
    for (uint64_t at = 0x100000; at < 0x108000; at += 8) {
      // Some of the tables that entries point to are there.
      world.memory.Put(kTables, at, (random() & ~0xfffff000u) | 0x100000 | (random() & 0x7000), 8);
      if (random() % 2 == 0) world.memory.Put(kTables, at, 0x100000 | (random() & 0x7fff), 8);
    }
    for (int i = 0; i < 2000; ++i) {
      const PageWalk walk = world->Walk(random() >> (random() % 40));
      EXPECT_LE(walk.steps.size(), 4u);
      EXPECT_FALSE(walk.Explain().empty());
    }
    const PageTableListing listing = world->List([](const MappedRange&) {}, 500);
    EXPECT_LE(listing.tables, 500u);
  }
}

TEST(PageTables, RandomMappingsAreFoundWhereTheyWereMade) {
  std::mt19937_64 random(2);
  for (const char* generation : {"gfx9", "gfx12", "gfx125", "xe3"}) {
    World world(generation, Wide());
    std::map<uint64_t, uint64_t> model;  // of pages of 4 KiB
    const uint64_t kSizes[] = {0x1000, 0x1'0000, 0x20'0000};
    for (int i = 0; i < 60; ++i) {
      const uint64_t size = kSizes[random() % 3];
      const uint64_t address = (random() & 0x3f'ffff'ffff) / size * size;
      const uint64_t physical = (random() & 0xff'ffff'ffff) / size * size;
      const absl::Status status =
          world.Map({.address = address, .physical = physical, .bytes = size, .page_bytes = size});
      if (!status.ok()) {
        EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
        continue;
      }
      for (uint64_t at = 0; at < size; at += 4096) {
        EXPECT_TRUE(model.emplace(address + at, physical + at).second);
      }
    }
    for (const auto& [address, physical] : model) {
      EXPECT_EQ(world->Walk(address + 0x123).physical, physical + 0x123);
    }
    std::map<uint64_t, uint64_t> listed;
    const PageTableListing listing = world->List([&](const MappedRange& range) {
      for (uint64_t at = 0; at < range.bytes; at += 4096) {
        listed[range.address + at] = range.physical + at;
      }
    });
    EXPECT_TRUE(listing.complete());
    EXPECT_EQ(listed, model) << generation;
  }
}

TEST(PageTables, ReadsAndWritesCrossPages) {
  World world("gfx9", Wide());
  ASSERT_TRUE(world.Map({.address = 0x1000, .physical = 0x9000, .bytes = 4096}).ok());
  ASSERT_TRUE(world.Map({.address = 0x2000, .physical = 0x5000, .bytes = 4096}).ok());
  world.memory.Map(kSystem, 0x9000, 4096);
  world.memory.Map(kSystem, 0x5000, 4096);
  const std::vector<uint8_t> bytes = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(world->Write(0x1ffd, bytes), 6u);
  EXPECT_EQ(world.memory.Number(kSystem, 0x9ffd, 3), 0x030201u);
  EXPECT_EQ(world.memory.Number(kSystem, 0x5000, 3), 0x060504u);
  std::vector<uint8_t> read(6);
  EXPECT_EQ(world->Read(0x1ffd, absl::MakeSpan(read)), 6u);
  EXPECT_EQ(read, bytes);
  EXPECT_EQ(world->Read(0x2ffe, absl::MakeSpan(read)), 2u);
}

TEST(PageTables, GenerationsWithoutAKindSaySo) {
  FakeMemory memory;
  const absl::StatusOr<PageTables> four =
      PageTables::Open(Generation("gfx7"), memory, Wide(), kSpaces);
  EXPECT_TRUE(absl::IsNotFound(four.status())) << four.status();
  EXPECT_TRUE(absl::StrContains(four.status().message(), "PPGTT_PML4_ENTRY"));
  EXPECT_TRUE(absl::IsNotFound(
      PageTables::Open(Generation("gfx9"), memory, {.kind = PageTableKind::kTwoLevels}, kSpaces)
          .status()));
}

}  // namespace
}  // namespace packsmith::sim
