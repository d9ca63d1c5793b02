// Context images: their layouts in each generation, what is read from them, saved and compared.
#include "runtime/sim/contexts/context_image.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime/generations/generations.h"

namespace packsmith::sim {
namespace {

tables::Tables Generation(const std::string& name) {
  const absl::StatusOr<tables::Tables> found = FindGeneration(name);
  EXPECT_TRUE(found.ok()) << found.status();
  return *found;
}

ContextDescription Description() {
  return {.ring_address = 0x100000,
          .ring_bytes = 16384,
          .ring_head = 0x10,
          .ring_tail = 0x40,
          .page_tables = {.kind = PageTableKind::kFourLevels, .tables = {0x12'3456'7000}}};
}

uint32_t Dword(absl::Span<const uint8_t> bytes, size_t index) {
  uint32_t dword = 0;
  for (size_t i = 0; i < 4; ++i) dword |= uint32_t{bytes[index * 4 + i]} << 8 * i;
  return dword;
}

// The commands after the status page.
std::vector<uint8_t> ListOf(const std::string& generation, const ContextDescription& description) {
  const absl::StatusOr<std::vector<uint8_t>> image =
      MakeContextImage(Generation(generation), description);
  EXPECT_TRUE(image.ok()) << image.status();
  if (!image.ok()) return {};
  return {image->begin() + 4096, image->end()};
}

ContextImage ParseList(const std::string& generation, absl::Span<const uint8_t> list,
                       uint32_t base = 0x2000) {
  ContextImage::Options options;
  options.engine_base = base;
  absl::StatusOr<ContextImage> image = ContextImage::Parse(Generation(generation), options, list);
  EXPECT_TRUE(image.ok()) << image.status();
  return *std::move(image);
}

struct Layout {
  const char* generation;
  const char* layout;
  uint32_t base;
  std::map<size_t, uint32_t> dwords;  // by position
};

TEST(ContextImage, LayoutsAreThoseThatDriversWrite) {
  const std::vector<Layout> layouts = {
      {"gfx8",
       "RENDER_CONTEXT_REGISTERS",
       0x2000,
       {{0x00, 0},         {0x01, 0x1100101b}, {0x02, 0x2244},     {0x03, 0x90009},
        {0x04, 0x2034},    {0x05, 0x10},       {0x06, 0x2030},     {0x07, 0x40},
        {0x08, 0x2038},    {0x09, 0x100000},   {0x0a, 0x203c},     {0x0b, 0x3001},
        {0x0c, 0x2168},    {0x0e, 0x2140},     {0x10, 0x2110},     {0x12, 0x211c},
        {0x14, 0x2114},    {0x16, 0x2118},     {0x18, 0x21c0},     {0x1a, 0x21c4},
        {0x1c, 0x21c8},    {0x1e, 0},          {0x21, 0x11001011}, {0x22, 0x23a8},
        {0x24, 0x228c},    {0x26, 0x2288},     {0x28, 0x2284},     {0x2a, 0x2280},
        {0x2c, 0x227c},    {0x2e, 0x2278},     {0x30, 0x2274},     {0x31, 0x12},
        {0x32, 0x2270},    {0x33, 0x34567000}, {0x41, 0x11000001}, {0x42, 0x20c8},
        {0x44, 0x05000000}}},
      {"gfx8",
       "CONTEXT_REGISTERS",
       0x22000,
       {{0x01, 0x11000015},
        {0x02, 0x22244},
        {0x16, 0x22118},
        {0x18, 0},
        {0x21, 0x11000011},
        {0x41, 0x11000003},
        {0x42, 0x22200},
        {0x44, 0x22028},
        {0x46, 0x05000000}}},
      {"gfx9",
       "RENDER_CONTEXT_REGISTERS",
       0x2000,
       {{0x01, 0x1100101b},
        {0x51, 0x11001057},
        {0x52, 0x2028},
        {0x54, 0x209c},
        {0x55, 0x1000000},
        {0x56, 0x20c0},
        {0x58, 0x2178},
        {0x5a, 0x217c},
        {0x5c, 0x2358},
        {0x5e, 0x2170},
        {0x60, 0x2150},
        {0x62, 0x2154},
        {0x64, 0x2158},
        {0x66, 0x241c},
        {0x68, 0x2600},
        {0xa6, 0x267c},
        {0xa8, 0x2068},
        {0xaa, 0x05000000}}},
      {"gfx9",
       "CONTEXT_REGISTERS",
       0x12000,
       {{0x01, 0x1100101b}, {0x1c, 0x121c8}, {0x41, 0x11001001}, {0x42, 0x12200}, {0x68, 0x12600}}},
      {"gfx11",
       "RENDER_CONTEXT_REGISTERS",
       0x2000,
       {{0x01, 0x1108101d},
        {0x1e, 0x2180},
        {0x21, 0x11081011},
        {0x34, 0x11081001},
        {0x35, 0x21b0},
        {0x41, 0x11080001},
        {0x42, 0x20c8},
        {0x44, 0x05000001}}},
      {"gfx11", "CONTEXT_REGISTERS", 0x1c0000, {{0x02, 0x1c0244}, {0x68, 0x1c0600}}},
      {"gfx12",
       "RENDER_CONTEXT_REGISTERS",
       0x2000,
       {{0x01, 0x11081019}, {0x12, 0x21c0},     {0x14, 0x21c4},     {0x16, 0x21c8}, {0x18, 0x2180},
        {0x1a, 0x22b4},     {0x1c, 0},          {0x34, 0x11081005}, {0x35, 0x21b0}, {0x37, 0x25a8},
        {0x39, 0x25ac},     {0x51, 0x11081065}, {0x52, 0x2588},     {0x5c, 0x2588}, {0x5e, 0x2028},
        {0x60, 0x209c},     {0x72, 0x241c},     {0x74, 0x2600},     {0xb4, 0x2068}, {0xb6, 0x2084},
        {0xb9, 0x05000001}}},
      {"gfx12",
       "CONTEXT_REGISTERS",
       0x22000,
       {{0x1a, 0x222b4}, {0x32, 0x22270}, {0x34, 0x05000001}}},
      {"gfx125",
       "RENDER_CONTEXT_REGISTERS",
       0x2000,
       {{0x01, 0x1108101d},
        {0x1c, 0x2120},
        {0x1e, 0x2124},
        {0x34, 0x11081005},
        {0x35, 0x21b0},
        {0x44, 0x05000001}}},
      {"gfx125",
       "RENDER_CONTEXT_REGISTERS_MTL",
       0x1a000,
       {{0x34, 0}, {0x36, 0x11081003}, {0x37, 0x1a5a8}, {0x39, 0x1a5ac}, {0x41, 0x11080001}}},
      {"xe2",
       "RENDER_CONTEXT_REGISTERS",
       0x2000,
       {{0x22, 0x23a8},
        {0x24, 0x23ac},
        {0x26, 0x2108},
        {0x2c, 0x227c},
        {0x2e, 0x2278},
        {0x31, 0x12},
        {0x32, 0x2270},
        {0x33, 0x34567000},
        {0x36, 0x11081003},
        {0x42, 0x20c8}}},
      {"xe3",
       "BLITTER_CONTEXT_REGISTERS",
       0x22000,
       {{0x41, 0x11081003}, {0x42, 0x22200}, {0x44, 0x22204}}},
      {"xe3", "CONTEXT_REGISTERS", 0x1c0000, {{0x32, 0x1c0270}, {0x34, 0x05000001}}},
  };
  for (const Layout& one : layouts) {
    ContextDescription description = Description();
    description.layout = one.layout;
    description.engine_base = one.base;
    const std::vector<uint8_t> list = ListOf(one.generation, description);
    ASSERT_EQ(list.size(), 4096u) << one.generation << " " << one.layout;
    for (const auto& [at, value] : one.dwords) {
      EXPECT_EQ(Dword(list, at), value)
          << one.generation << " " << one.layout << " dword 0x" << std::hex << at;
    }
    const ContextImage image = ParseList(one.generation, list, one.base);
    EXPECT_TRUE(image.ended()) << one.generation << " " << one.layout;
  }
}

TEST(ContextImage, ThreeLevelsHaveFourDirectories) {
  ContextDescription description = Description();
  description.page_tables = {.kind = PageTableKind::kThreeLevels,
                             .tables = {0x1000, 0x2000, 0x3000, 0x9'0000'4000}};
  const std::vector<uint8_t> list = ListOf("gfx9", description);
  EXPECT_EQ(Dword(list, 0x33), 0x1000u);
  EXPECT_EQ(Dword(list, 0x2f), 0x2000u);
  EXPECT_EQ(Dword(list, 0x27), 0x4000u);
  EXPECT_EQ(Dword(list, 0x25), 9u);
}

TEST(ContextImage, SaysWhereItsPageTablesBegin) {
  const PageTableRoot three = {.kind = PageTableKind::kThreeLevels,
                               .tables = {0x1000, 0, 0x3000, 0x9'0000'4000}};
  for (const char* generation : {"gfx9", "xe2"}) {
    ContextDescription description = Description();
    for (const PageTableRoot& root : {description.page_tables, three}) {
      // Later generations have four levels only.
      if (root.kind != PageTableKind::kFourLevels && std::string(generation) != "gfx9") continue;
      description.page_tables = root;
      const std::vector<uint8_t> list = ListOf(generation, description);
      const absl::StatusOr<PageTableRoot> found =
          PageTableRootOf(ParseList(generation, list), list);
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_EQ(found->kind, root.kind) << generation;
      EXPECT_EQ(found->tables, root.tables) << generation;
    }
  }
  ContextDescription description = Description();
  description.page_tables = {};
  const std::vector<uint8_t> list = ListOf("gfx9", description);
  EXPECT_TRUE(absl::IsNotFound(PageTableRootOf(ParseList("gfx9", list), list).status()));
}

TEST(ContextImage, FurtherRegistersAreSetByName) {
  ContextDescription description = Description();
  description.registers = {{"R_PWR_CLK_STATE", 0x80001234}, {"CS_GPR3_UDW", 77}};
  const std::vector<uint8_t> list = ListOf("gfx9", description);
  EXPECT_EQ(Dword(list, 0x43), 0x80001234u);
  EXPECT_EQ(Dword(list, 0x69 + 2 * 7), 77u);
  description.registers = {{"CS_GPR99", 1}};
  EXPECT_TRUE(absl::IsNotFound(MakeContextImage(Generation("gfx9"), description).status()));
}

TEST(ContextImage, WhatDoesNotFitIsRefused) {
  ContextDescription description = Description();
  description.ring_address = 0x1'0000'0000;
  EXPECT_TRUE(absl::IsInvalidArgument(MakeContextImage(Generation("gfx9"), description).status()));
  description = Description();
  description.bytes = 100;
  EXPECT_TRUE(absl::IsInvalidArgument(MakeContextImage(Generation("gfx9"), description).status()));
  description = Description();
  description.layout = "RENDER_CONTEXT";
  EXPECT_TRUE(absl::IsNotFound(MakeContextImage(Generation("gfx9"), description).status()));
  description = Description();
  EXPECT_TRUE(absl::IsNotFound(MakeContextImage(Generation("gfx7"), description).status()));
}

TEST(ContextImage, RegistersOfTheRingMayBeOnAPageOfTheirOwn) {
  ContextDescription description = Description();
  description.indirect_ring_state = 0x55000;
  const std::vector<uint8_t> list = ListOf("xe2", description);
  EXPECT_EQ(Dword(list, 0x03), 0x190019u);
  EXPECT_EQ(Dword(list, 0x27), 0x55000u);
  EXPECT_EQ(Dword(list, 0x07), 0u);
  description.ring_address = 0x7'0010'0000;
  const absl::StatusOr<std::vector<uint8_t>> page =
      MakeIndirectRingState(Generation("xe2"), description);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->size(), 4096u);
  const std::map<size_t, uint32_t> expected = {
      {0x01, 0x11081009}, {0x02, 0x2034},     {0x03, 0x10},      {0x04, 0x2030}, {0x05, 0x40},
      {0x06, 0x2038},     {0x07, 0x100000},   {0x08, 0x2048},    {0x09, 7},      {0x0a, 0x203c},
      {0x0b, 0x3001},     {0x11, 0x11081011}, {0x12, 0x2168},    {0x14, 0x2140}, {0x16, 0x2110},
      {0x18, 0x2588},     {0x22, 0x2588},     {0x30, 0x05000001}};
  for (const auto& [at, value] : expected) EXPECT_EQ(Dword(*page, at), value) << at;
}

TEST(ContextImage, RegistersAreFoundByNameAndOffset) {
  const std::vector<uint8_t> list = ListOf("gfx12", Description());
  const ContextImage image = ParseList("gfx12", list);
  const ImageRegister* tail = image.Find("RING_BUFFER_TAIL");
  ASSERT_NE(tail, nullptr);
  EXPECT_EQ(tail->offset, 0x2030u);
  EXPECT_EQ(tail->at, 0x07u * 4);
  EXPECT_EQ(ContextImage::Get(list, *tail), 0x40u);
  EXPECT_EQ(image.Find(0x30), tail);
  EXPECT_EQ(image.Find("ELSP"), nullptr);
  // The stack is written six times.
  EXPECT_EQ(image.Find("BB_STACK_WRITE_PORT")->occurrence, 5u);
}

TEST(ContextImage, AnImageOfAnotherInstanceBelongsToTheEngineThatRestoresIt) {
  ContextDescription description = Description();
  description.layout = "CONTEXT_REGISTERS";
  description.engine_base = 0x1c4000;
  const std::vector<uint8_t> list = ListOf("gfx12", description);
  const ContextImage image = ParseList("gfx12", list, 0x1c0000);
  EXPECT_EQ(image.Find("RING_BUFFER_TAIL")->offset, 0x1c0030u);
  EXPECT_EQ(image.registers().front().offset, 0x1c0244u);
}

TEST(ContextImage, SavingKeepsTheLayoutAndTheTail) {
  std::vector<uint8_t> list = ListOf("gfx9", Description());
  const std::vector<uint8_t> before = list;
  const ContextImage image = ParseList("gfx9", list);
  image.Save(absl::MakeSpan(list), [](const ImageRegister& one) { return one.offset * 3; });
  const ContextImage again = ParseList("gfx9", list);
  ASSERT_EQ(again.registers().size(), image.registers().size());
  for (size_t i = 0; i < image.registers().size(); ++i) {
    const ImageRegister& one = image.registers()[i];
    EXPECT_EQ(again.registers()[i], one);
    uint32_t expected = one.offset * 3;
    if (one.offset == 0x2030) expected = 0x40;
    // CTX_CONTEXT_CONTROL, MI_MODE and INSTPM are masked.
    if (one.offset == 0x2244 || one.offset == 0x209c || one.offset == 0x20c0) {
      expected |= 0xffff0000;
    }
    EXPECT_EQ(ContextImage::Get(list, one), expected) << std::hex << one.offset;
  }
  // Loading what was saved gives the same values, in the order of the list.
  std::vector<std::pair<uint32_t, uint32_t>> loaded;
  again.Load(list, [&](const ImageRegister& one, uint32_t value) {
    loaded.emplace_back(one.offset, value);
  });
  EXPECT_EQ(loaded.size(), image.registers().size());
  EXPECT_EQ(loaded.front().first, 0x2244u);
  EXPECT_EQ(loaded[1], (std::pair<uint32_t, uint32_t>(0x2034, 0x2034 * 3)));
}

TEST(ContextImage, DifferencesAreByRegisterAndField) {
  const std::vector<uint8_t> before = ListOf("gfx9", Description());
  ContextDescription description = Description();
  description.ring_head = 0x40;
  description.ring_bytes = 8192;
  const std::vector<uint8_t> after = ListOf("gfx9", description);
  const std::vector<ImageDifference> differences = CompareImages(
      Generation("gfx9"), ParseList("gfx9", before), before, ParseList("gfx9", after), after);
  ASSERT_EQ(differences.size(), 2u);
  EXPECT_EQ(differences[0].name, "RING_BUFFER_HEAD");
  EXPECT_EQ(differences[0].before, 0x10u);
  EXPECT_EQ(differences[0].after, 0x40u);
  ASSERT_EQ(differences[1].fields.size(), 1u);
  EXPECT_EQ(differences[1].fields[0].name, "Buffer Length (in pages - 1)");
  EXPECT_EQ(DifferencesText(differences),
            "RING_BUFFER_HEAD                     0x00000010 -> 0x00000040\n"
            "    Head Offset                      0x10 -> 0x40\n"
            "RCS_RING_BUFFER_CTL                  0x00003001 -> 0x00001001\n"
            "    Buffer Length (in pages - 1)     0x3 -> 0x1\n");
}

TEST(ContextImage, ARegisterOfOneImageOnlyIsADifference) {
  const std::vector<uint8_t> render = ListOf("gfx9", Description());
  ContextDescription description = Description();
  description.layout = "CONTEXT_REGISTERS";
  description.engine_base = 0x22000;
  const std::vector<uint8_t> blitter = ListOf("gfx9", description);
  const std::vector<ImageDifference> differences =
      CompareImages(Generation("gfx9"), ParseList("gfx9", render), render,
                    ParseList("gfx9", blitter, 0x22000), blitter);
  ASSERT_EQ(differences.size(), 2u);
  EXPECT_EQ(differences[0].name, "R_PWR_CLK_STATE");
  EXPECT_FALSE(differences[0].after.has_value());
  EXPECT_EQ(differences[1].after, 0u);
  EXPECT_FALSE(differences[1].before.has_value());
}

TEST(ContextImage, BytesWithoutLoadsAreNoImage) {
  const std::vector<uint8_t> zeros(4096);
  EXPECT_TRUE(absl::IsInvalidArgument(ContextImage::Parse(Generation("gfx9"), {}, zeros).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ContextImage::Parse(Generation("gfx9"), {}, {}).status()));
  ContextImage::Options options;
  options.engine = "nothing";
  EXPECT_TRUE(absl::IsNotFound(ContextImage::Parse(Generation("gfx9"), options, zeros).status()));
}

TEST(ContextImage, RandomBytesAreParsedWithinTheirBounds) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<uint8_t> list = ListOf("gfx12", Description());
    list.resize(random() % list.size());
    for (uint32_t changes = random() % 40; changes != 0 && !list.empty(); --changes) {
      list[random() % list.size()] = static_cast<uint8_t>(random());
    }
    const absl::StatusOr<ContextImage> image = ContextImage::Parse(Generation("gfx12"), {}, list);
    if (!image.ok()) continue;
    EXPECT_LE(image->parsed_bytes(), list.size());
    for (const ImageRegister& one : image->registers()) {
      ASSERT_LE(one.at + 4, list.size());
      EXPECT_FALSE(image->NameOf(one).empty());
    }
    image->Save(absl::MakeSpan(list), [](const ImageRegister&) { return 0xffffffff; });
  }
}

}  // namespace
}  // namespace packsmith::sim
