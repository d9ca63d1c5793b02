// A capture written as an error state of any kernel version decodes as the capture does.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "runtime/dump/i915_error_writer.h"
#include "runtime/dump/read.h"
#include "runtime/dump/xe_devcoredump_writer.h"
#include "runtime/generations/generations.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

// Records without their ids, and without engines' names where these do not matter.
void ExpectSameRecords(const Story& have, const Story& want) {
  EXPECT_EQ(have.problems, want.problems);
  EXPECT_EQ(have.summary.unknown_dwords, 0u);
  ASSERT_EQ(have.records.size(), want.records.size());
  for (size_t i = 0; i < want.records.size(); ++i) {
    const Seen& a = want.records[i];
    const Seen& b = have.records[i];
    EXPECT_EQ(std::tie(a.type, a.space, a.address, a.depth, a.name, a.bytes, a.index),
              std::tie(b.type, b.space, b.address, b.depth, b.name, b.bytes, b.index))
        << i;
    EXPECT_EQ(a.faults.size(), b.faults.size());
  }
}

class ErrorStates : public testing::TestWithParam<std::tuple<std::string, I915ErrorData, bool>> {};

TEST_P(ErrorStates, DecodeToTheRecordsOfTheirCapture) {
  const auto& [path, data, new_names] = GetParam();
  absl::StatusOr<Dump> core = ReadDump("tests/data/captures/" + path);
  ASSERT_TRUE(core.ok()) << core.status();
  const absl::StatusOr<std::string> text =
      WriteI915Error(*core, {.data = data, .two_words = true, .new_names = new_names});
  ASSERT_TRUE(text.ok()) << text.status();
  absl::StatusOr<Dump> error = ReadDump(BytesOf(*text));
  ASSERT_TRUE(error.ok()) << error.status();
  ASSERT_TRUE(error->device.pci_id.has_value());
  const absl::StatusOr<tables::Tables> tables = FindGenerationOfPciId(*error->device.pci_id);
  ASSERT_TRUE(tables.ok()) << tables.status();

  const Story want = TellAll(*tables, {&*core});
  const Story have = TellAll(*tables, {&*error});
  ExpectSameRecords(have, want);
}

INSTANTIATE_TEST_SUITE_P(
    Captures, ErrorStates,
    testing::Combine(testing::Values("skl-gl-basic/00.core.zst", "skl-gl-basic/03.core.zst",
                                     "skl-vulkaninfo/01.core.zst"),
                     testing::Values(I915ErrorData::kHexWords, I915ErrorData::kAscii85,
                                     I915ErrorData::kAscii85Zlib),
                     testing::Bool()));

class DeviceCoreDumps : public testing::TestWithParam<std::tuple<std::string, size_t>> {};

TEST_P(DeviceCoreDumps, DecodeToTheRecordsOfTheirCapture) {
  const auto& [path, line_length] = GetParam();
  absl::StatusOr<Dump> core = ReadDump("tests/data/captures/" + path);
  ASSERT_TRUE(core.ok()) << core.status();
  const absl::StatusOr<std::string> text =
      WriteXeDevcoredump(*core, {.contexts_apart = true, .line_length = line_length});
  ASSERT_TRUE(text.ok()) << text.status();
  absl::StatusOr<Dump> dump = ReadDump(BytesOf(*text));
  ASSERT_TRUE(dump.ok()) << dump.status();
  const absl::StatusOr<tables::Tables> tables = FindGenerationOfPciId(*dump->device.pci_id);
  ASSERT_TRUE(tables.ok()) << tables.status();
  ExpectSameRecords(TellAll(*tables, {&*dump}), TellAll(*tables, {&*core}));
}

INSTANTIATE_TEST_SUITE_P(Captures, DeviceCoreDumps,
                         testing::Combine(testing::Values("skl-gl-basic/00.core.zst",
                                                          "skl-vulkaninfo/01.core.zst"),
                                          testing::Values(0, 800)));

TEST(Addresses, Of48BitsAreFollowedWithCopiesOfTheirHighestBitAndWithout) {
  constexpr uint32_t kJump = 0x18800101, kEnd = 0x05000000;
  for (const uint64_t written : {uint64_t{0x0000fffeeffe1000}, uint64_t{0xfffffffeeffe1000}}) {
    World world;
    world.Put(0xfffeeffe0000,
              {kJump, static_cast<uint32_t>(written), static_cast<uint32_t>(written >> 32)});
    world.Put(0xfffeeffe1000, {kEnd});
    world.Submit(0xfffeeffe0000);
    const Story story = Tell(*FindGeneration("xe2"), world);
    ASSERT_EQ(story.records.size(), 2u);
    EXPECT_EQ(story.records[1].address, 0xfffeeffe1000u);
    EXPECT_EQ(story.records[0].Number("Batch Buffer Start Address"), 0xfffeeffe1000u);
    EXPECT_THAT(story.problems, testing::IsEmpty());
  }
}

TEST(Addresses, Of57BitsAreFollowedWholeWhereTheDescriptionHasThem) {
  const tables::Tables wide = TablesOf(R"(
<packsmith family="test" generation="far" title="Far" address-bits="57">
  <stream name="commands"/>
  <struct name="THING" dwords="1">
    <field name="Number" dword="0" bits="31:0" type="uint"/>
  </struct>
  <packet name="BIND" dwords="3">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="1"/>
    <field name="Thing" dword="1" bits="63:12" type="address">
      <points to="THING"/>
    </field>
  </packet>
</packsmith>)");
  constexpr uint64_t kFar = 0x0123456780001000, kOf48Bits = 0x0000fffeeffe1000;
  for (const auto& [written, place] : std::vector<std::tuple<uint64_t, uint64_t>>{
           {kFar, kFar}, {kOf48Bits, kOf48Bits}, {0xfffffffeeffe1000, kOf48Bits}}) {
    World world;
    world.Put(0x0123456780000000,
              {0x01000000, static_cast<uint32_t>(written), static_cast<uint32_t>(written >> 32)});
    world.Put(place, {7});
    world.Submit(0x0123456780000000, 12);
    const Story story = Tell(wide, world);
    ASSERT_EQ(story.records.size(), 2u);
    EXPECT_EQ(story.records[0].Number("Thing"), place);
    EXPECT_EQ(story.records[1].address, place);
    EXPECT_EQ(story.records[1].Number("Number"), 7u);
  }
}

}  // namespace
}  // namespace packsmith::decode
