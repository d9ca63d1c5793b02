// A context image of a dump decodes to registers with names and fields, on each generation; a
// descriptor, an event and page table entries decode to their fields.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "runtime/sim/contexts/context_image.h"
#include "runtime/sim/contexts/structure.h"
#include "tests/decode/world.h"

namespace packsmith::sim {
namespace {

tables::Tables Generation(const std::string& name) { return *FindGeneration(name); }

decode::Story DecodeImage(const std::string& generation, ContextDescription description) {
  const tables::Tables tables = Generation(generation);
  description.ring_address = 0x100000;
  description.ring_bytes = 16384;
  description.ring_tail = 0x40;
  description.page_tables.tables = {0x12'3456'7000};
  const absl::StatusOr<std::vector<uint8_t>> image = MakeContextImage(tables, description);
  EXPECT_TRUE(image.ok()) << image.status();
  decode::World world;
  world.PutBytes(0x10000, {image->begin() + 4096, image->end()}, 1);
  world.Submit(0x10000, 4096);
  world.last().space = 1;
  world.last().kind = "context image";
  world.last().engine = "render";
  return decode::Tell(tables, world);
}

TEST(DecodeContexts, AnImagesRegistersHaveNames) {
  for (const char* generation : {"gfx8", "gfx9", "gfx11", "gfx12", "gfx125", "xe2", "xe3"}) {
    const decode::Story story = DecodeImage(generation, {});
    EXPECT_EQ(story.Only("CTX_CONTEXT_CONTROL").Number("Engine Context Restore Inhibit"), 1u)
        << generation;
    EXPECT_EQ(story.Only("RING_BUFFER_TAIL").Number("Tail Offset"), 0x40u);
    EXPECT_EQ(story.Only("RING_BUFFER_START").Number("Starting Address"), 0x100000u);
    EXPECT_EQ(story.Only("RCS_RING_BUFFER_CTL").Number("Buffer Length (in pages - 1)"), 3u);
    EXPECT_EQ(story.Named("INDIRECT_CTX").size(), 1u) << generation;
    EXPECT_EQ(story.Named("BB_STATE").size(), 1u);
    EXPECT_EQ(story.Named("CTX_TIMESTAMP").size(), 1u);
    EXPECT_EQ(story.Named("R_PWR_CLK_STATE").size(), 1u);
    EXPECT_TRUE(story.Faults().empty()) << generation;
  }
}

TEST(DecodeContexts, RegistersOfOtherEnginesHaveTheSameNames) {
  for (const auto& [generation, base] :
       {std::make_pair("gfx9", 0x22000u), std::make_pair("gfx9", 0x12000u),
        std::make_pair("gfx12", 0x1c0000u), std::make_pair("xe2", 0x1a000u)}) {
    const decode::Story story =
        DecodeImage(generation, {.layout = "CONTEXT_REGISTERS", .engine_base = base});
    const decode::Seen tail = story.Only("RING_BUFFER_TAIL");
    EXPECT_EQ(tail.Number("Tail Offset"), 0x40u) << generation;
    EXPECT_EQ(tail.register_offset, base + 0x30) << generation;
    EXPECT_EQ(story.Named("CTX_CONTEXT_CONTROL").size(), 1u) << generation;
  }
}

TEST(DecodeContexts, PageTablesHaveTheNamesOfTheirGeneration) {
  EXPECT_EQ(DecodeImage("gfx12", {}).Only("PDP0_LDW").Number("Page Directory Address"),
            0x34567000u);
  EXPECT_EQ(DecodeImage("gfx12", {}).Only("PDP0_UDW").Number("Page Directory Address Upper"),
            0x12u);
  EXPECT_EQ(DecodeImage("xe2", {}).Only("PTBP_LDW").Number("Page Table Base Address"), 0x34567000u);
}

TEST(DecodeContexts, GeneralRegistersOfAnImageHaveNames) {
  const decode::Story story = DecodeImage("gfx9", {.registers = {{"CS_GPR7_UDW", 0x55}}});
  EXPECT_EQ(story.Only("CS_GPR7_UDW").Number("Value"), 0x55u);
  EXPECT_EQ(story.Named("CS_GPR15").size(), 1u);
  EXPECT_EQ(story.Named("MI_MODE").size(), 1u);
  EXPECT_EQ(story.Named("INSTPM").size(), 1u);
}

struct Word {
  const char* generation;
  const char* name;
  uint64_t value;
  std::vector<std::pair<const char*, uint64_t>> fields;
};

TEST(DecodeContexts, StructuresHaveTheirFields) {
  const std::vector<Word> words = {
      {"gfx9",
       "CONTEXT_DESCRIPTOR",
       0x00000015'00123119,
       {{"Valid", 1},
        {"Addressing Mode", 3},
        {"Privilege Access", 1},
        {"Logical Ring Context Address", 0x123000},
        {"Context ID", 0x15}}},
      {"gfx11",
       "CONTEXT_DESCRIPTOR",
       uint64_t{5} << 61 | uint64_t{2} << 48 | uint64_t{0x123} << 37 | 0x5000 | 1,
       {{"Engine Class", 5}, {"Engine Instance", 2}, {"Software Context ID", 0x123}}},
      {"gfx125",
       "CONTEXT_DESCRIPTOR",
       uint64_t{9} << 58 | uint64_t{0x1234} << 39 | 4 << 9,
       {{"Software Counter", 9}, {"Software Context ID", 0x1234}, {"Priority", 4}}},
      {"gfx9",
       "CONTEXT_STATUS",
       uint64_t{7} << 32 | 0x8002,
       {{"Preempted", 1}, {"Lite Restore", 1}, {"Context Complete", 0}, {"Context ID", 7}}},
      {"gfx12",
       "CONTEXT_STATUS",
       uint64_t{0x7ff} << 47 | uint64_t{5} << 32 | 3 << 15 | 1,
       {{"Switched Away Context ID", 0x7ff},
        {"Switch Detail", 5},
        {"Switched To Context ID", 3},
        {"Switched To New Queue", 1}}},
      {"xe2",
       "CONTEXT_STATUS",
       uint64_t{0xffff} << 42 | uint64_t{1} << 33 | 3 << 10 | 5,
       {{"Switched Away Context ID", 0xffff},
        {"Switch Detail", 5},
        {"Switched To Context ID", 3},
        {"Switched To New Queue", 1}}},
      {"gfx8",
       "PPGTT_PD_ENTRY",
       0x12345600083,
       {{"Present", 1}, {"Page Size", 1}, {"Page Address", 0x12345600000}}},
      {"gfx125",
       "PPGTT_PD_ENTRY",
       0x7043,
       {{"64 KiB Page Table", 1}, {"Page Table Address", 0x7000}}},
      {"xe2",
       "PPGTT_PT_ENTRY",
       0x6000000000009a99,
       {{"Null", 1},
        {"Device Memory", 1},
        {"Writable", 0},
        {"PAT Index Bit 4", 1},
        {"Page Address", 0x9000}}},
      {"gfx6", "GTT_ENTRY", 0x34567121, {{"Valid", 1}, {"Page Address", 0x1234567000}}},
  };
  for (const Word& word : words) {
    const absl::StatusOr<Structure> structure =
        Structure::Find(Generation(word.generation), word.name);
    ASSERT_TRUE(structure.ok()) << structure.status();
    std::vector<uint8_t> bytes(8);
    for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(word.value >> 8 * i);
    for (const auto& [name, value] : word.fields) {
      const absl::StatusOr<StructureField> field = structure->Require(name);
      ASSERT_TRUE(field.ok()) << field.status();
      EXPECT_EQ(structure->Get(bytes, *field), value) << word.generation << " " << name;
      // Writing the value gives the same bits.
      std::vector<uint8_t> written = bytes;
      EXPECT_TRUE(structure->Set(absl::MakeSpan(written), *field, value).ok());
      EXPECT_EQ(written, bytes) << word.generation << " " << name;
    }
  }
}

TEST(DecodeContexts, AValueThatDoesNotFitIsRefusedAndNothingIsWritten) {
  const Structure entry = *Structure::Find(Generation("gfx9"), "PPGTT_PT_ENTRY");
  std::vector<uint8_t> bytes(8);
  EXPECT_FALSE(entry.Set(absl::MakeSpan(bytes), entry.Field("Page Address"), 0x123).ok());
  EXPECT_FALSE(entry.Set(absl::MakeSpan(bytes), entry.Field("Present"), 2).ok());
  EXPECT_FALSE(entry.Set(absl::MakeSpan(bytes), entry.Field("Nothing"), 1).ok());
  EXPECT_TRUE(entry.Set(absl::MakeSpan(bytes), entry.Field("Nothing"), 0).ok());
  EXPECT_EQ(bytes, std::vector<uint8_t>(8));
  const Structure old = *Structure::Find(Generation("gfx6"), "GTT_ENTRY");
  EXPECT_FALSE(old.Set(absl::MakeSpan(bytes), old.Field("Page Address"), uint64_t{1} << 40).ok());
  EXPECT_EQ(bytes, std::vector<uint8_t>(8));
  EXPECT_FALSE(Structure::Find(Generation("gfx9"), "MI_NOOP").ok());
  EXPECT_FALSE(Structure::Find(Generation("gfx9"), "NOTHING").ok());
}

}  // namespace
}  // namespace packsmith::sim
