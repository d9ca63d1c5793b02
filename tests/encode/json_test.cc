#include "runtime/encode/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/encode/encoder.h"
#include "runtime/generations/generations.h"

namespace packsmith::encode {
namespace {

using testing::HasSubstr;

absl::StatusOr<tables::Tables> GenerationOf(absl::string_view name) { return FindGeneration(name); }

constexpr absl::string_view kSchema = R"({"type":"schema","generation":"gfx9"})"
                                      "\n";

// As unpack writes it, apart from members that are not read.
constexpr absl::string_view kPacket =
    R"({"type":"packet","name":"3DSTATE_INDEX_BUFFER","space":0,"address":"0x1000","depth":0,)"
    R"("dwords":["780a0003","00000200","00002000","00000000","00000100"],"fields":[)"
    R"({"name":"DWord Length","bits":[7,0],"value":3},)"
    R"({"name":"MOCS","bits":[38,32],"value":0},)"
    R"({"name":"Index Format","bits":[41,40],"value":2,"enum":"DWORD"},)"
    R"({"name":"Buffer Starting Address","bits":[127,64],"value":"0x2000"},)"
    R"({"name":"Buffer Size","bits":[159,128],"value":256}]})";

absl::StatusOr<std::vector<uint8_t>> Bytes(const std::string& json,
                                           const JsonOptions& options = {}) {
  const Source source{"a.jsonl", json};
  const absl::StatusOr<Packed> packed = ReadJson(source, GenerationOf, options);
  if (!packed.ok()) return packed.status();
  return ToBytes(*packed);
}

// The packet's dwords after a part of its text has been replaced.
std::vector<uint32_t> Edited(absl::string_view from, absl::string_view to,
                             const JsonOptions& options = {}) {
  const std::string json = absl::StrCat(kSchema, absl::StrReplaceAll(kPacket, {{from, to}}), "\n");
  const absl::StatusOr<std::vector<uint8_t>> bytes = Bytes(json, options);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  std::vector<uint32_t> dwords;
  if (!bytes.ok()) return dwords;
  for (size_t i = 0; i + 4 <= bytes->size(); i += 4) {
    dwords.push_back(
        static_cast<uint32_t>((*bytes)[i] | (*bytes)[i + 1] << 8 | (*bytes)[i + 2] << 16) |
        static_cast<uint32_t>((*bytes)[i + 3]) << 24);
  }
  return dwords;
}

std::string Wrong(const std::string& json, const JsonOptions& options = {}) {
  const absl::StatusOr<std::vector<uint8_t>> bytes = Bytes(json, options);
  EXPECT_FALSE(bytes.ok()) << json;
  return bytes.ok() ? "" : std::string(bytes.status().message());
}

std::string WrongEdit(absl::string_view from, absl::string_view to,
                      const JsonOptions& options = {}) {
  return Wrong(absl::StrCat(kSchema, absl::StrReplaceAll(kPacket, {{from, to}}), "\n"), options);
}

const std::vector<uint32_t> kDwords = {0x780a0003, 0x200, 0x2000, 0, 0x100};

TEST(Json, ARecordIsItsBytes) {
  EXPECT_EQ(Edited("", ""), kDwords);
  EXPECT_EQ(Edited("", "", {.fields_only = true}), kDwords);
  // Without dwords, the fields say all of it.
  EXPECT_EQ(Edited(R"("dwords":["780a0003","00000200","00002000","00000000","00000100"],)", ""),
            kDwords);
}

TEST(Json, WhatDiffersFromTheDwordsHasBeenEdited) {
  std::vector<uint32_t> expected = kDwords;
  expected[4] = 0x80;
  EXPECT_EQ(Edited("\"value\":256", "\"value\":128"), expected);
  expected = kDwords;
  expected[2] = 0x5000;
  EXPECT_EQ(Edited("\"value\":\"0x2000\"", "\"value\":\"0x5000\""), expected);
  // The value's name alone, or the value alone, or both.
  expected = kDwords;
  expected[1] = 0x100;
  EXPECT_EQ(Edited("\"enum\":\"DWORD\"", "\"enum\":\"WORD\""), expected);
  EXPECT_EQ(Edited("\"value\":2,\"enum\"", "\"value\":1,\"enum\""), expected);
  EXPECT_EQ(Edited("\"value\":2,\"enum\":\"DWORD\"", "\"value\":1,\"enum\":\"WORD\""), expected);
  EXPECT_THAT(WrongEdit("\"value\":2,\"enum\":\"DWORD\"", "\"value\":1,\"enum\":\"BYTE\""),
              HasSubstr("contradictory"));
  // Bits that no field has stay.
  EXPECT_EQ(Edited("780a0003", "780a8003")[0], 0x780a8003u);
}

TEST(Json, ErrorsHavePlaces) {
  EXPECT_THAT(WrongEdit("Buffer Size", "Buffer Sise"),
              HasSubstr("has no field \"Buffer Sise\"; did you mean Buffer Size?"));
  EXPECT_THAT(WrongEdit("\"value\":256", "\"value\":4294967296"), HasSubstr("does not fit"));
  EXPECT_THAT(WrongEdit("\"value\":256", "\"value\":-1"), HasSubstr("does not fit"));
  EXPECT_THAT(WrongEdit("\"DWORD\"", "\"DWORT\""), HasSubstr("did you mean DWORD"));
  EXPECT_THAT(WrongEdit("[159,128]", "[158,128]"), HasSubstr("has bits 159 to 128, not"));
  EXPECT_THAT(WrongEdit("3DSTATE_INDEX_BUFFER", "3DSTATE_INDEX"),
              HasSubstr("no packet or structure"));
  EXPECT_THAT(WrongEdit("\"address\":\"0x1000\",", ""), HasSubstr("needs an \"address\""));
  EXPECT_THAT(WrongEdit("780a0003", "780a00034"), HasSubstr("at most eight"));
  EXPECT_THAT(WrongEdit("\"dwords\":[", "\"dwords\":[,"), HasSubstr("a string is expected"));
  EXPECT_THAT(Wrong("{\"type\":\"packet\"} x"), HasSubstr("a.jsonl:1:"));
  EXPECT_THAT(Wrong(std::string(kPacket)), HasSubstr("the generation is not known"));
  EXPECT_THAT(Wrong("{\"name\":\"x\"}"), HasSubstr("a record needs a \"type\""));
  EXPECT_THAT(Wrong(absl::StrCat(kSchema, R"({"type":"schema","generation":"gfx12"})")),
              HasSubstr("records of another GPU"));
  EXPECT_THAT(Wrong(absl::StrCat(kSchema, R"({"type":"unknown","address":0,"dwords":["1"]})", "\n",
                                 R"({"type":"unknown","address":0,"dwords":["2"]})")),
              HasSubstr("a.jsonl:3:1: error: the byte at 0x0 of space 0 has been given before"));
}

TEST(Json, AllErrorsAreFoundInOneRunEachWithLineColumnAndCaret) {
  const auto record = [](absl::string_view fields) {
    return absl::StrCat(R"({"type":"struct","name":"VERTEX_BUFFER_STATE","address":0,"fields":[)",
                        fields, "]}");
  };
  const std::string wide = record(R"({"name":"Buffer Pitch","value":4096})");
  const std::string unknown = record(R"({"value":1,"name":"Buffer Pich"})");
  const size_t wide_at = wide.find("4096"), unknown_at = unknown.find("1,\"name\"");
  EXPECT_EQ(
      Wrong(absl::StrCat(kSchema, wide, "\n", unknown, "\n")),
      absl::StrCat("a.jsonl:2:", wide_at + 1,
                   ": error: 4096 does not fit: \"Buffer Pitch\" holds 0 to 2048\n  ", wide, "\n  ",
                   std::string(wide_at, ' '), "^\na.jsonl:3:", unknown_at + 1,
                   ": error: VERTEX_BUFFER_STATE of gfx9 has no field \"Buffer Pich\"; did you "
                   "mean Buffer Pitch?\n  ",
                   unknown, "\n  ", std::string(unknown_at, ' '), "^"));
}

// The name of a field that must be given in a structure or packet without conditions; empty: there
// is none.
std::string RequiredField(const Encoder& encoder, const tables::Container& container) {
  const tables::Tables& tables = encoder.tables();
  for (const tables::Leaf& leaf : tables.leaves(container.leaves)) {
    constexpr uint16_t kNotAsked = tables::kForced | tables::kMustBeOne | tables::kMustBeZero |
                                   tables::kLength | tables::kOverlap;
    if ((leaf.flags & kNotAsked) != 0 || encoder.IsValid(leaf, 0)) continue;
    if (leaf.bit + leaf.width > container.bytes * 8) continue;
    return absl::StrCat(tables.string(leaf.name), tables.string(leaf.name_suffix));
  }
  return "";
}

TEST(Json, FieldsThatMustNotBeZeroAreRequired) {
  size_t found = 0;
  for (const tables::Tables& tables : BuiltInGenerations()) {
    const Encoder encoder(tables);
    for (const tables::Container& container : tables.containers()) {
      const std::string field = RequiredField(encoder, container);
      if (field.empty()) continue;
      ++found;
      const std::string message =
          Wrong(absl::StrCat(R"({"type":"schema","generation":")", tables.generation(), "\"}\n",
                             R"({"type":"struct","name":")", tables.string(container.name),
                             R"(","address":0,"fields":[]})"));
      EXPECT_THAT(message, HasSubstr("a.jsonl:2:1: error: "));
      EXPECT_THAT(message, HasSubstr(absl::StrCat(field, "\" is missing")));
      break;
    }
  }
  EXPECT_GT(found, 0u);
}

TEST(Json, ADumpHasItsDeviceAndSubmissions) {
  const std::string json = absl::StrCat(
      kSchema, R"({"type":"device","id":1,"family":"intel","generation":"gfx9","pci_id":"0x1912"})",
      R"({"type":"submission","id":2,"index":3,"engine":"render","context":1,"slot":0,"space":0,)",
      R"("batch_address":"0x1000","batch_length":20,"ring":{"address":"0x5000","size":4096},)",
      R"("bases":{"surface state":"0x8000"}})", "\n", kPacket,
      R"({"type":"draw","numbers":[1,[2,{"a":null}],-1.5e3,"\u00e4\ud83d\ude00"]})");
  const Source source{"a.jsonl", json};
  absl::StatusOr<Packed> packed = ReadJson(source, GenerationOf);
  ASSERT_TRUE(packed.ok()) << packed.status();
  const Dump dump = ToDump(*std::move(packed));
  EXPECT_EQ(dump.device.pci_id, 0x1912u);
  ASSERT_EQ(dump.submissions.size(), 1u);
  EXPECT_EQ(dump.submissions[0].index, 3u);
  EXPECT_EQ(dump.submissions[0].batch_length, 20u);
  ASSERT_TRUE(dump.submissions[0].ring);
  EXPECT_EQ(dump.submissions[0].ring->size, 4096u);
  ASSERT_EQ(dump.submissions[0].bases.size(), 1u);
  EXPECT_EQ(dump.submissions[0].bases[0].name, "surface state");
}

TEST(Json, RecordsOfOtherKindsAreIgnored) {
  const std::string json = absl::StrCat(kSchema, R"({"type":"register","name":"X"})", "\n",
                                        R"({"type":"summary"})", "\n", kPacket);
  const Source source{"a.jsonl", json};
  const absl::StatusOr<Packed> packed = ReadJson(source, GenerationOf);
  ASSERT_TRUE(packed.ok()) << packed.status();
  ASSERT_EQ(packed->remarks.size(), 1u);
  EXPECT_THAT(packed->remarks[0], HasSubstr("registers are left out"));
}

}  // namespace
}  // namespace packsmith::encode
