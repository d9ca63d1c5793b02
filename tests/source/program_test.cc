// Sources of captures: what they say, and what damaged captures become.
#include "runtime/source/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/generations/spellings.h"

namespace packsmith::source {
namespace {

absl::StatusOr<Spelling> SpellingOf(const tables::Tables& tables) {
  const absl::StatusOr<absl::Span<const uint8_t>> found = FindSpelling(tables);
  if (!found.ok()) return found.status();
  return Spelling::Open(*found);
}

// A batch in memory of its own.
Dump BatchOf(std::vector<uint32_t> words, std::string name = "batch") {
  auto kept = std::make_shared<const std::vector<uint32_t>>(std::move(words));
  Dump dump;
  dump.device = {.family = "intel", .generation = "gfx9"};
  dump.submissions.push_back(
      {.engine = "render", .space = 0, .batch_address = 0x10000, .batch_length = kept->size() * 4});
  EXPECT_TRUE(dump.memory
                  .Map(0, 0x10000,
                       absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(kept->data()),
                                           kept->size() * 4),
                       4096)
                  .ok());
  dump.buffers.push_back({.space = 0, .address = 0x10000, .size = 4096, .name = std::move(name)});
  dump.SortBuffers();
  dump.backing = kept;
  return dump;
}

std::string TextOf(const Dump& dump, Language language) {
  const tables::Tables tables = *FindGeneration("gfx9");
  return WriteProgram(tables, *SpellingOf(tables), dump, {.language = language}).text;
}

bool Has(const std::string& text, absl::string_view part) { return absl::StrContains(text, part); }

TEST(Program, HasMembersThatDifferFromTheirDefaults) {
  // MI_STORE_DATA_IMM of 42 to the batch's own buffer; MI_NOOP; MI_BATCH_BUFFER_END.
  const Dump dump = BatchOf({0x10000002, 0x10040, 0, 42, 0, 0x05000000});
  const std::string cpp = TextOf(dump, Language::kCpp);
  EXPECT_TRUE(Has(cpp, "constexpr uint64_t buffer_batch = 0x10000;")) << cpp;
  EXPECT_TRUE(Has(cpp,
                  "  b.put(MI_STORE_DATA_IMM{.address = buffer_batch + 0x40, "
                  ".immediate_data = 42});\n  b.put(MI_NOOP{});\n"
                  "  b.put(MI_BATCH_BUFFER_END{});\n"))
      << cpp;
  const std::string c = TextOf(dump, Language::kC);
  EXPECT_TRUE(Has(c,
                  "  PS_PUT(b, GFX9_MI_STORE_DATA_IMM, 16, GFX9_MI_STORE_DATA_IMM_header, "
                  ".Address = buffer_batch + 0x40,") ||
              Has(c, ".Address = buffer_batch + 0x40"))
      << c;
  EXPECT_TRUE(Has(c, ".ImmediateData = 42")) << c;
}

TEST(Program, SetsBitsThatNoMemberHolds) {
  // Bit 8 of MI_BATCH_BUFFER_END is not described, or reserved.
  const std::string cpp = TextOf(BatchOf({0x05000100}), Language::kCpp);
  EXPECT_TRUE(Has(cpp,
                  "  b.put(MI_BATCH_BUFFER_END{})\n      .bits(0, 0x100, 0x100);"
                  "  // what no member holds\n"))
      << cpp;
}

TEST(Program, KeepsNamesOfBuffersOutOfTheProgramsText) {
  const std::string cpp = TextOf(BatchOf({0x05000000}, "*/ int \"x\\\n;%s\x01"), Language::kCpp);
  EXPECT_TRUE(Has(cpp, "buffer_int_x_s")) << cpp;
  EXPECT_FALSE(Has(cpp, "*/ int \"x"));
  EXPECT_TRUE(Has(cpp, "%%s")) << cpp;
}

std::vector<std::string> Cores() {
  std::vector<std::string> cores;
  for (const char* folder : {"tests/data/captures", "tests/agx/data"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string path = entry.path().string();
      if (absl::EndsWith(path, ".core.zst") || absl::EndsWith(path, ".core")) cores.push_back(path);
    }
  }
  std::sort(cores.begin(), cores.end());
  return cores;
}

absl::StatusOr<tables::Tables> TablesOf(const Dump& dump) {
  if (!dump.device.generation.empty()) return FindGeneration(dump.device.generation);
  if (dump.device.chip_id) return FindGenerationOfChipId(*dump.device.chip_id);
  return FindGeneration("agx_g13");
}

// A copy with changed bytes, whose segments may be shortened.
Dump Damaged(const Dump& dump, std::mt19937& random) {
  Dump made;
  made.device = dump.device;
  made.submissions = dump.submissions;
  made.buffers = dump.buffers;
  made.SortBuffers();
  auto kept = std::make_shared<std::vector<std::vector<uint8_t>>>();
  for (const Memory::Segment& mapped : dump.memory.segments()) {
    const Memory::Segment& segment = dump.memory.Resolve(mapped);
    std::vector<uint8_t>& bytes = kept->emplace_back(segment.bytes.begin(), segment.bytes.end());
    for (size_t i = 0; !bytes.empty() && i < 1 + bytes.size() / 64; ++i) {
      bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1u << random() % 8);
    }
    uint64_t size = segment.memory_size;
    if (random() % 4 == 0) {
      size = 1 + random() % size;
      bytes.resize(std::min<size_t>(bytes.size(), size));
    }
    EXPECT_TRUE(made.memory.Map(segment.space, segment.address, bytes, size).ok());
  }
  made.backing = kept;
  return made;
}

TEST(Program, GivesOneViewOfAnAddressInC) {
  // Gfx9 has an index in the bits of the auxiliary surface's address, which C would add to it.
  const absl::StatusOr<Dump> dump =
      ReadDump("tests/data/captures/skl-gl-basic/00.core.zst", RawOptions());
  ASSERT_TRUE(dump.ok()) << dump.status();
  size_t addresses = 0;
  for (const absl::string_view put : absl::StrSplit(TextOf(*dump, Language::kC), "PS_PUT(")) {
    if (!absl::StrContains(put, ".AuxiliarySurfaceBaseAddress = ")) continue;
    ++addresses;
    EXPECT_FALSE(absl::StrContains(put, ".AuxiliaryTableIndex")) << put;
  }
  EXPECT_GT(addresses, 5u);
}

TEST(Program, ComesOfDamagedCaptures) {
  std::mt19937 random(1);
  size_t programs = 0;
  for (const std::string& path : Cores()) {
    const absl::StatusOr<Dump> dump = ReadDump(path, {});
    ASSERT_TRUE(dump.ok()) << dump.status();
    const absl::StatusOr<tables::Tables> tables = TablesOf(*dump);
    ASSERT_TRUE(tables.ok()) << path;
    const absl::StatusOr<Spelling> spelling = SpellingOf(*tables);
    ASSERT_TRUE(spelling.ok()) << spelling.status();
    for (const Language language : {Language::kCpp, Language::kC}) {
      const Dump damaged = Damaged(*dump, random);
      const Program program = WriteProgram(*tables, *spelling, damaged, {.language = language});
      EXPECT_TRUE(Has(program.text, "ps_main(&capture, argc, argv);")) << path;
      // As many braces are opened as closed.
      EXPECT_EQ(std::count(program.text.begin(), program.text.end(), '{'),
                std::count(program.text.begin(), program.text.end(), '}'))
          << path;
      ++programs;
    }
  }
  EXPECT_GT(programs, 50u);
}

TEST(Spelling, HasAllTypesOfAllGenerations) {
  for (const tables::Tables& tables : BuiltInGenerations()) {
    const absl::StatusOr<Spelling> spelling = SpellingOf(tables);
    ASSERT_TRUE(spelling.ok()) << spelling.status();
    EXPECT_EQ(spelling->generation(), tables.generation());
    for (const tables::Container& container : tables.containers()) {
      const Type* type = spelling->FindType(tables.string(container.name));
      ASSERT_NE(type, nullptr) << tables.generation() << " " << tables.string(container.name);
      EXPECT_EQ(type->parts.size(), container.parts.count) << type->cpp;
      EXPECT_EQ(type->tail.has_value(), container.tail_size != 0) << type->cpp;
    }
  }
}

TEST(Spelling, RefusesDamagedBytes) {
  const std::vector<uint8_t> bytes(100, 7);
  for (const size_t size : {0, 8, 9, 100}) {
    EXPECT_FALSE(Spelling::Open(absl::MakeConstSpan(bytes).subspan(0, size)).ok()) << size;
  }
}

}  // namespace
}  // namespace packsmith::source
