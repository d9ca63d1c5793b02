#include "runtime/sim/contexts/contexts_text.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "tests/decode/world.h"
#include "tests/sim/contexts/fake_memory.h"

namespace packsmith::sim {
namespace {

// An image at 0x10000, as dumps give it: without the status page.
void PutImage(decode::World& world, const ContextDescription& description, uint64_t address,
              const std::string& engine) {
  const absl::StatusOr<std::vector<uint8_t>> image =
      MakeContextImage(*FindGeneration("gfx9"), description);
  ASSERT_TRUE(image.ok()) << image.status();
  world.PutBytes(address, {image->begin() + 4096, image->end()}, 1);
  world.Submit(address, 4096);
  world.last().space = 1;
  world.last().kind = "context image";
  world.last().engine = engine;
}

TEST(ContextsText, TheFirstImageOfAnEngineIsShownAndLaterOnesAreCompared) {
  decode::World first, second;
  PutImage(first, {.ring_address = 0x100000, .ring_bytes = 16384, .ring_tail = 0x40}, 0x10000,
           "rcs0");
  PutImage(second,
           {.ring_address = 0x100000, .ring_bytes = 16384, .ring_head = 0x20, .ring_tail = 0x40},
           0x20000, "rcs0");
  ContextImagesText text;
  text.Add(*FindGeneration("gfx9"), first.dump());
  EXPECT_TRUE(absl::StartsWith(
      text.text(),
      "context image  engine rcs0, at 0x10000, registers: 68\n"
      "    CTX_CONTEXT_CONTROL                  0x00090009  Engine Context Restore "
      "Inhibit, Inhibit Synchronous Context Switch, Mask 0x9\n"
      "    RING_BUFFER_HEAD                     0x00000000\n"
      "    RING_BUFFER_TAIL                     0x00000040  Tail Offset 0x40\n"
      "    RING_BUFFER_START                    0x00100000  Starting Address 0x100000\n"
      "    RCS_RING_BUFFER_CTL                  0x00003001  Ring Buffer Enable, "
      "Buffer Length (in pages - 1) 0x3\n"))
      << text.text();
  const size_t before = text.text().size();
  text.Add(*FindGeneration("gfx9"), second.dump());
  EXPECT_EQ(text.text().substr(before),
            "\ncontext image  engine rcs0, at 0x20000, differences from the one at 0x10000: 1\n"
            "RING_BUFFER_HEAD                     0x00000000 -> 0x00000020\n"
            "    Head Offset                      0x0 -> 0x20\n");
  EXPECT_EQ(text.images(), 2u);
}

TEST(ContextsText, ImagesOfOtherEnginesHaveNamesToo) {
  decode::World world;
  PutImage(world,
           {.layout = "CONTEXT_REGISTERS",
            .engine_base = 0x22000,
            .ring_address = 0x100000,
            .ring_bytes = 4096},
           0x10000, "bcs0");
  ContextImagesText text;
  text.Add(*FindGeneration("gfx9"), world.dump());
  EXPECT_TRUE(absl::StrContains(text.text(), "    RING_BUFFER_START                    0x00100000"))
      << text.text();
}

TEST(ContextsText, WhatIsNoImageIsSaid) {
  decode::World world;
  world.PutBytes(0x10000, std::vector<uint8_t>(64), 1);
  world.Submit(0x10000, 64);
  world.last().space = 1;
  world.last().kind = "context image";
  world.last().engine = "rcs0";
  ContextImagesText text;
  text.Add(*FindGeneration("gfx9"), world.dump());
  EXPECT_EQ(text.failures(), 1u);
  EXPECT_EQ(text.text(),
            "context image  engine rcs0, at 0x10000\n"
            "    not a context image: no register load in the first 64 bytes\n");
}

TEST(ContextsText, PageTablesAreShownByRanges) {
  FakeMemory memory;
  uint64_t next = 0x100000;
  absl::StatusOr<PageTables> tables =
      PageTables::Open(*FindGeneration("xe2"), memory, {}, {.tables = 7});
  ASSERT_TRUE(tables.ok()) << tables.status();
  const auto new_table = [&]() -> absl::StatusOr<uint64_t> {
    memory.Map(7, next, 4096);
    next += 4096;
    return next - 4096;
  };
  ASSERT_TRUE(
      tables->Map({.address = 0x1000, .physical = 0x9000, .bytes = 0x3000}, new_table).ok());
  ASSERT_TRUE(tables
                  ->Map({.address = 0x20'0000,
                         .physical = 0x40'0000,
                         .bytes = 0x20'0000,
                         .page_bytes = 0x20'0000,
                         .attributes = {.writable = false, .device = true, .pat = 3}},
                        new_table)
                  .ok());
  EXPECT_EQ(PageTablesText(*tables),
            "0x000000001000..0x000000004000  0x9000, pages of 4 KiB\n"
            "0x000000200000..0x000000400000  device 0x400000, pages of 2048 KiB, read-only, PAT 3\n"
            "tables: 4\n");
  memory.Put(7, 0x100000 + 8, 0x100003, 8);
  memory.Put(7, 0x100000 + 16, 0x7777003, 8);
  EXPECT_TRUE(absl::EndsWith(PageTablesText(*tables, 1),
                             "further ranges: 1\ntables: 5, not in memory: 1, entries that point "
                             "to a table above them: 1\n"));
}

}  // namespace
}  // namespace packsmith::sim
