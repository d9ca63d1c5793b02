// The sinks' output, against docs/records.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/filter_sink.h"
#include "runtime/decode/sinks/jsonl_sink.h"
#include "runtime/decode/sinks/names_sink.h"
#include "runtime/decode/sinks/stats_sink.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/decode/text/chunk_writer.h"
#include "runtime/decode/text/digits.h"
#include "runtime/decode/text/json_writer.h"
#include "runtime/dump/read.h"
#include "runtime/tables/packet_finder.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using rapidjson::Document;
using rapidjson::Value;
using testing::HasSubstr;
using testing::Not;

std::vector<Document> Parsed(const std::string& text) {
  std::vector<Document> lines;
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(text.back(), '\n');
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    Document document;
    document.Parse(line.data(), line.size());
    EXPECT_FALSE(document.HasParseError()) << line;
    EXPECT_TRUE(document.IsObject()) << line;
    if (document.IsObject()) lines.push_back(std::move(document));
  }
  return lines;
}

std::string TypeOf(const Value& record) { return record["type"].GetString(); }

bool IsHex(const Value& value) {
  if (!value.IsString()) return false;
  const std::string text = value.GetString();
  if (text.substr(0, 2) != "0x" || text.size() < 3) return false;
  if (text.size() > 3 && text[2] == '0') return false;  // no leading zeros
  return text.find_first_not_of("0123456789abcdef", 2) == std::string::npos;
}

void CheckField(const Value& field, uint64_t bits_in_all) {
  ASSERT_TRUE(field["name"].IsString());
  ASSERT_TRUE(field["bits"].IsArray() && field["bits"].Size() == 2);
  const uint64_t high = field["bits"][0].GetUint64(), low = field["bits"][1].GetUint64();
  EXPECT_LE(low, high);
  EXPECT_LE(high - low, 63u);
  EXPECT_LT(high, bits_in_all);
  ASSERT_TRUE(field.HasMember("value"));
  const Value& value = field["value"];
  EXPECT_TRUE(value.IsBool() || value.IsNumber() || IsHex(value) || value.IsNull());
  if (value.IsNull()) {
    EXPECT_TRUE(field.HasMember("raw"));
  }
  if (value.IsNumber() && value.IsUint64()) {
    EXPECT_LE(value.GetUint64(), 0xffffffffu);
  }
  if (field.HasMember("raw")) {
    EXPECT_TRUE(IsHex(field["raw"]));
  }
  for (const auto& member : field.GetObject()) {
    EXPECT_THAT((std::set<std::string>{"name", "bits", "value", "enum", "raw"}),
                testing::Contains(member.name.GetString()));
  }
}

void CheckFaults(const Value& record, std::map<std::string, uint64_t>& faults) {
  ASSERT_FALSE(record["faults"].Empty());  // else the member is left out
  for (const Value& fault : record["faults"].GetArray()) {
    EXPECT_TRUE(fault["text"].IsString() && fault["text"].GetStringLength() > 0);
    EXPECT_GE(fault["bits"][0].GetUint64(), fault["bits"][1].GetUint64());
    EXPECT_TRUE(IsHex(fault["value"]));
    ++faults[fault["kind"].GetString()];
  }
}

// Properties of every output.
void Check(const std::vector<Document>& lines) {
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(TypeOf(lines.front()), "schema");
  EXPECT_EQ(lines.front()["version"].GetUint(), 1u);
  EXPECT_TRUE(lines.front()["xml_digest"].IsString());
  EXPECT_EQ(TypeOf(lines.back()), "summary");
  uint64_t next_id = 0, unknown_dwords = 0;
  std::map<std::string, uint64_t> types, faults;
  for (const Document& line : lines) {
    const std::string type = TypeOf(line);
    ++types[type];
    if (type == "remark" || type == "problem" || type == "summary") {
      EXPECT_FALSE(line.HasMember("id"));
      continue;
    }
    EXPECT_EQ(line["id"].GetUint64(), next_id++);
    if (type == "schema" || type == "device") continue;
    if (type == "submission") {
      for (const char* member : {"index", "context", "slot", "space", "batch_length"}) {
        EXPECT_TRUE(line[member].IsUint64()) << member;
      }
      EXPECT_TRUE(line["engine"].IsString());
      EXPECT_TRUE(IsHex(line["batch_address"]));
      continue;
    }
    ASSERT_TRUE(line.HasMember("parent")) << type;
    EXPECT_LT(line["parent"].GetUint64(), line["id"].GetUint64());
    EXPECT_TRUE(IsHex(line["address"]));
    EXPECT_TRUE(line["space"].IsUint());
    EXPECT_NE(line.HasMember("dwords"), line.HasMember("bytes"));
    uint64_t bits = 0;
    if (line.HasMember("dwords")) {
      for (const Value& dword : line["dwords"].GetArray()) {
        const std::string text = dword.GetString();
        EXPECT_EQ(text.size(), 8u);
        EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos);
        bits += 32;
      }
    } else {
      bits = line["bytes"].GetStringLength() * 4;
      EXPECT_EQ(bits % 8, 0u);
    }
    EXPECT_EQ(line.HasMember("depth"), type == "packet" || type == "unknown");
    EXPECT_EQ(line.HasMember("fields"), type == "packet" || type == "struct");
    if (type == "unknown") unknown_dwords += (bits + 31) / 32;
    if (type == "data") {
      EXPECT_TRUE(line["size"].IsUint64());
      EXPECT_TRUE(line["format"].IsString());
    }
    if (line.HasMember("fields")) {
      for (const Value& field : line["fields"].GetArray()) CheckField(field, bits);
    }
    if (line.HasMember("faults")) CheckFaults(line, faults);
  }
  const Document& summary = lines.back();
  EXPECT_EQ(types["schema"], 1u);
  EXPECT_EQ(types["device"], 1u);
  EXPECT_EQ(summary["submissions"].GetUint64(), types["submission"]);
  EXPECT_EQ(summary["packets"].GetUint64(), types["packet"]);
  EXPECT_EQ(summary["structs"].GetUint64(), types["struct"]);
  EXPECT_EQ(summary["data"].GetUint64(), types["data"]);
  EXPECT_EQ(summary["problems"].GetUint64(), types["problem"]);
  EXPECT_EQ(summary["unknown_dwords"].GetUint64(), unknown_dwords);
  std::map<std::string, uint64_t> said;
  for (const auto& member : summary["faults"].GetObject()) {
    said[member.name.GetString()] = member.value.GetUint64();
  }
  EXPECT_EQ(said, faults);
}

TEST(Jsonl, OfEveryCaptureIsAsDescribed) {
  for (const char* name :
       {"skl-gl-basic/00", "skl-gl-basic/01", "skl-gl-basic/02", "skl-gl-basic/03",
        "skl-gl-basic/04", "skl-vulkaninfo/00", "skl-vulkaninfo/01"}) {
    const absl::StatusOr<Dump> dump =
        ReadDump(absl::StrCat("tests/data/captures/", name, ".core.zst"));
    ASSERT_TRUE(dump.ok()) << dump.status();
    Check(Parsed(Jsonl(Gfx9(), {&*dump})));
  }
}

// A batch with one of each: an unknown dword, a fault, a draw, a vertex buffer.
World& Small(World& world) {
  world.dump().device.platform = "skl";
  world.Put(0x4000, {0x3f800000, 0xbf800000, 0, 0x40490fdb})
      .Put(0x1000, {0xe0000001, 0x78080003, 0x04024008, 0x4000, 0, 16, 0x784f0000, 0x40000000,
                    0x7b000005, 4, 3, 0, 1, 0, 0xfffffff5, 0x05000000})
      .Submit(0x1000, 64, "", "render");
  return world;
}

TEST(Jsonl, OfASmallBatchIsAsDescribed) {
  World world;
  const std::vector<Document> lines = Parsed(Jsonl(Gfx9(), {&Small(world).dump()}));
  Check(lines);
  // schema, device, submission, unknown, vertex buffers, data, extra, draw, end, summary
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(TypeOf(lines[3]), "unknown");
  EXPECT_STREQ(lines[3]["dwords"][0].GetString(), "e0000001");
  EXPECT_EQ(TypeOf(lines[5]), "data");
  EXPECT_STREQ(lines[5]["name"].GetString(), "vertex buffer");
  EXPECT_EQ(lines[5]["parent"].GetUint64(), lines[4]["id"].GetUint64());
  EXPECT_EQ(lines[5]["stride"].GetUint64(), 8u);
  EXPECT_STREQ(lines[6]["faults"][0]["kind"].GetString(), "reserved");
  const Value& fields = lines[7]["fields"];
  EXPECT_STREQ(fields[fields.Size() - 1]["name"].GetString(), "Base Vertex Location");
  EXPECT_EQ(fields[fields.Size() - 1]["value"].GetInt(), -11);
  EXPECT_EQ(lines[9]["draws"].GetUint64(), 1u);
}

TEST(Jsonl, OfTheMiniatureHasBytesWhereRecordsAreNoDwords) {
  World world;
  world.PutBytes(0x1000, {0x0d, 1, 0x41, 0, 0, 0, 0x88, 0}).Submit(0x1000, 8, "program");
  const std::vector<Document> lines = Parsed(Jsonl(Mini(), {&world.dump()}));
  Check(lines);
  EXPECT_STREQ(lines[3]["bytes"].GetString(), "0d0141000000");
  // A value that the field's own rule forbids is still written with its bits.
  EXPECT_STREQ(lines[3]["fields"][1]["raw"].GetString(), "0x41");
}

TEST(Jsonl, NumbersThatJsonCannotWriteAreNullAndRaw) {
  World world;
  // A vertex state with a tessellation part whose scale is a NaN.
  world.Put(0x1000, {0x20000008, 0x7e01, 0xf0000000, 0}).Submit(0x1000);
  const std::vector<Document> lines = Parsed(Jsonl(Mini(), {&world.dump()}));
  Check(lines);
  bool found = false;
  for (const Value& field : lines[3]["fields"].GetArray()) {
    if (field["name"] != "Tessellation.Scale") continue;
    found = true;
    EXPECT_TRUE(field["value"].IsNull());
    EXPECT_STREQ(field["raw"].GetString(), "0x7e01");
  }
  EXPECT_TRUE(found);
}

TEST(Jsonl, StringsOfTheDumpAreEscaped) {
  World world;
  world.dump().device.platform = "a\"b\\\n\x1b[31m";
  world.Put(0x1000, {0x05000000}).Submit(0x1000, 4, "", "w\x07\"");
  const std::string text = Jsonl(Gfx9(), {&world.dump()});
  Check(Parsed(text));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(Jsonl, CharactersThatNobodySeesAreEscapesAndBytesOutsideOfUtf8AreReplaced) {
  World world;
  world.dump().device.platform =
      "a\xe2\x80\xae"
      "b\xf3\xa0\x81\x81\xc2\x85";
  world.dump().device.driver = "caf\xc3\xa9 \xff\xed\xa0\x80.";
  world.Put(0x1000, {0x05000000}).Submit(0x1000, 4, "", "render");
  const std::string text = Jsonl(Gfx9(), {&world.dump()});
  EXPECT_THAT(text, HasSubstr("\"a\\u202eb\\udb40\\udc41\\u0085\""));
  EXPECT_THAT(text, HasSubstr("\"caf\xc3\xa9 \\ufffd\\ufffd\\ufffd\\ufffd.\""));
  Check(Parsed(text));
}

TEST(Summary, SaysWhereTheFirstOfEachKindIs) {
  World world;
  world.Put(0x1000, {0, 0xe0000001, 0xe0000001, 0x784f0000, 0x40000001, 0x784f0000, 0x40000001, 0})
      .Submit(0x1000, 32, "", "render");
  for (const bool brief : {false, true}) {
    StringOutput output;
    const std::unique_ptr<Sink> sink = MakeNamesSink(output, {});
    Options options;
    options.brief = brief;
    Decoder decoder(Gfx9(), *sink, options);
    decoder.Decode(world.dump());
    EXPECT_EQ(decoder.summary().problems, 1u);
    const Summary summary = decoder.Finish();
    EXPECT_EQ(summary.first_unknown.address, 0x1004u);
    EXPECT_THAT(summary.first_problem, HasSubstr("the stream continues at"));
    const auto reserved = static_cast<size_t>(FaultKind::kReserved);
    EXPECT_EQ(summary.faults[reserved], brief ? 0u : 2u);
    EXPECT_EQ(summary.first_faults[reserved].name, brief ? "" : "3DSTATE_PS_EXTRA");
    EXPECT_EQ(summary.first_faults[reserved].address, brief ? 0u : 0x100cu);
  }
}

TEST(Jsonl, ManyDumpsAreOneOutput) {
  World first, second;
  Small(first);
  Small(second);
  const std::vector<Document> lines = Parsed(Jsonl(Gfx9(), {&first.dump(), &second.dump()}));
  Check(lines);
  EXPECT_EQ(lines.back()["submissions"].GetUint64(), 2u);
}

TEST(Text, OfASmallBatch) {
  World world;
  world.dump().device.platform = "skl";
  world.Put(0x1000, {0xe0000001, 0x784f0000, 0x40000001, 0x18c00101, 0x2000, 0, 0x05000000})
      .Put(0x2000, {0x05000000})
      .Submit(0x1000, 28, "", "render");
  StringOutput output;
  TextOptions options;
  options.hide_zero_fields = true;
  const std::unique_ptr<Sink> sink = MakeTextSink(output, options);
  Decoder decoder(Gfx9(), *sink);
  decoder.Decode(world.dump());
  decoder.Finish();
  EXPECT_EQ(output.text(),
            R"(device  Intel Gfx9 (Skylake, Kaby Lake, Coffee Lake, Gemini Lake), platform skl

submission 0  engine render, context 0, slot 0, batch at 0x1000, 28 bytes
0x000000001000  unknown  1 dword that no packet matches
    e0000001
0x000000001004  3DSTATE_PS_EXTRA  2 dwords, 13 fields zero
    DWord Length                                  0
    Input Coverage Mask State                     1 (NORMAL)
    fault: reserved, bits 62:62: reserved bits must be zero
0x00000000100c  MI_BATCH_BUFFER_START  3 dwords, 3 fields zero
    DWord Length                                  1
    Address Space Indicator                       1 (PPGTT)
    Second Level Batch Buffer                     1 (Second level batch)
    Batch Buffer Start Address                    0x2000
  0x000000002000  MI_BATCH_BUFFER_END  1 dword
0x000000001018  MI_BATCH_BUFFER_END  1 dword

summary  1 submission, 4 packets, 0 structures, 0 draws, 0 dispatches; 1 unknown dword, 0 problems; faults: 1 reserved
)");
}

TEST(Text, HasNoEscapesOfTheDumpsOwn) {
  World world;
  world.dump().device.platform = "\x1b[2J";
  world.dump().device.driver = "\xc2\x9b\x7f";
  world.dump().problems.push_back({1, "\x1b]0;title\x07"});
  world.Put(0x1000, {0x05000000}).Submit(0x1000, 4, "s\x1b", "");
  world.Submit(0x1000, 4, "", "e\x1b");
  const std::string text = Text(Gfx9(), {&world.dump()});
  EXPECT_EQ(text.find_first_of("\x1b\x07\x7f"), std::string::npos);
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
  EXPECT_THAT(text, HasSubstr("\\x1b[2J"));
  // Nor characters that change the order of letters, or bytes that are not UTF-8.
  EXPECT_EQ(Harmless("a\xe2\x80\xae"
                     "b\xc2\x85\xff\xc3\xa9"),
            "a\\u202eb\\u0085\\xff\xc3\xa9");
}

TEST(Text, SaysTheSameRecordsAsJsonl) {
  World world;
  Small(world);
  const std::string text = Text(Gfx9(), {&world.dump()});
  for (const char* said : {"unknown  1 dword ", "3DSTATE_VERTEX_BUFFERS", "vertex buffer, 16 bytes",
                           "fault: reserved, bits 62:62", "3DPRIMITIVE", "-11", "1 draw,"}) {
    EXPECT_THAT(text, HasSubstr(said));
  }
}

// The brief sinks' output for a batch with a call in it.
std::string Brief(const World& world, bool names, const Filter& filter = {}) {
  StringOutput output;
  const std::unique_ptr<Sink> sink = names ? MakeNamesSink(output) : MakeStatsSink(output);
  const std::unique_ptr<Sink> filtered = MakeFilterSink(*sink, filter);
  Options options;
  options.brief = true;
  Decoder decoder(Gfx9(), *filtered, options);
  decoder.Decode(world.dump());
  decoder.Finish();
  return output.text();
}

void Calls(World& world) {
  world.Put(0x1000, {0, 0xe0000001, 0, 0x18c00101, 0x2000, 0, 0x05000000})
      .Put(0x2000, {0, 0, 0x05000000})
      .Submit(0x1000, 28, "", "render");
}

TEST(Names, AreALineForEachPacketIndentedByCall) {
  World world;
  Calls(world);
  EXPECT_EQ(Brief(world, true), R"(submission 0  engine render, context 0, slot 0
0x000000001000  MI_NOOP
0x000000001004  unknown, 1 dword
0x000000001008  MI_NOOP
0x00000000100c  MI_BATCH_BUFFER_START
  0x000000002000  MI_NOOP
  0x000000002004  MI_NOOP
  0x000000002008  MI_BATCH_BUFFER_END
0x000000001018  MI_BATCH_BUFFER_END
)");
}

TEST(Stats, CountPacketsTheMostFrequentFirst) {
  World world;
  Calls(world);
  const std::string text = Brief(world, false);
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  ASSERT_GE(lines.size(), 6u);
  EXPECT_THAT(lines[1], HasSubstr("         4           4   40.0%  MI_NOOP"));
  EXPECT_THAT(lines[2], HasSubstr("MI_BATCH_BUFFER_END"));
  EXPECT_THAT(text, HasSubstr("7 packets of 3 kinds"));
  EXPECT_THAT(text, HasSubstr("1 unknown dword,"));
}

// A search finds the same packets whether it is for packets alone or for fields too.
TEST(BriefWalk, FindsWhatTheFullOneFinds) {
  for (const char* file : {"skl-gl-basic/00", "skl-gl-basic/03", "skl-vulkaninfo/01"}) {
    absl::StatusOr<Dump> dump = ReadDump(absl::StrCat("tests/data/captures/", file, ".core.zst"));
    ASSERT_TRUE(dump.ok()) << dump.status();
    std::string texts[2];
    Summary summaries[2];
    for (const bool brief : {false, true}) {
      StringOutput output;
      const std::unique_ptr<Sink> sink = MakeNamesSink(output);
      Options options;
      options.brief = brief;
      options.follow = Follow::kBatches;
      Decoder decoder(Gfx9(), *sink, options);
      decoder.Decode(*dump);
      summaries[brief] = decoder.Finish();
      texts[brief] = output.text();
    }
    EXPECT_EQ(texts[0], texts[1]);
    EXPECT_EQ(summaries[0].packets, summaries[1].packets);
    EXPECT_EQ(summaries[0].draws, summaries[1].draws);
    EXPECT_EQ(summaries[0].unknown_dwords, summaries[1].unknown_dwords);
  }
}

TEST(Finder, FindsWhatTheTablesFind) {
  const tables::Tables& tables = Gfx9();
  const uint64_t render = uint64_t{1} << tables.FindEngine("render");
  tables::PacketFinder finder(tables, 0, render);
  uint64_t random = 1;
  for (int i = 0; i < 200000; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    // Opcodes are in the high bits: half of the words have likely ones.
    uint32_t word = static_cast<uint32_t>(random >> 32);
    if (i % 2 == 0) word = (word & 0x00ffffff) | (i % 4 == 0 ? 0x78000000 : 0x11000000);
    const uint32_t expected = tables.FindPacket(0, render, word, 4);
    ASSERT_EQ(finder.Find(word, 4), expected) << word;
    const tables::PacketFinder::Kind& kind = finder.Find(word);
    if (!kind.plain) continue;
    uint8_t bytes[4];
    std::memcpy(bytes, &word, 4);
    ASSERT_EQ(kind.Bytes(word), LengthOf(tables, tables.container(expected), bytes)) << word;
  }
}

TEST(Filter, GlobsMatchInAnyCase) {
  EXPECT_TRUE(MatchesGlob("3dstate_*", "3DSTATE_VS"));
  EXPECT_TRUE(MatchesGlob("*", ""));
  EXPECT_TRUE(MatchesGlob("*state*vs*", "3DSTATE_VS"));
  EXPECT_TRUE(MatchesGlob("mi_no?p", "MI_NOOP"));
  EXPECT_TRUE(MatchesGlob("*a*b", "ababab"));
  EXPECT_FALSE(MatchesGlob("state", "3DSTATE_VS"));
  EXPECT_FALSE(MatchesGlob("3DSTATE_V?", "3DSTATE_V"));
  EXPECT_FALSE(MatchesGlob("", "x"));
  // Hostile globs are fast.
  EXPECT_FALSE(MatchesGlob("*a*a*a*a*a*a*a*a*a*a*b", std::string(5000, 'a')));
}

TEST(Filter, KeepsPacketsByNameAndAddress) {
  World world;
  Calls(world);
  Filter filter;
  filter.names = {"*noop"};
  filter.first = 0x1008;
  filter.end = 0x2004;
  EXPECT_EQ(Brief(world, true, filter), R"(submission 0  engine render, context 0, slot 0
0x000000001008  MI_NOOP
  0x000000002000  MI_NOOP
)");
}

TEST(Numbers, OfFewDigitsAreWrittenAsAllOthersAre) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    // Fractions with up to twelve bits after the point, small and large, of either sign.
    const auto steps = static_cast<double>(random() >> (i % 64));
    const double value = std::ldexp(i % 2 == 0 ? steps : -steps, -static_cast<int>(i % 13));
    char text[kMostDigits], json[kMostDigits];
    char* end = WriteReal(value, text);
    EXPECT_EQ(std::string(text, end), absl::StrFormat("%.9g", value));
    end = text;
    if (value == std::trunc(value) || !WriteShortReal(value, end)) continue;
    char* const shortest = std::to_chars(json, json + kMostDigits, value).ptr;
    EXPECT_EQ(std::string(text, end), std::string(json, shortest));
  }
}

TEST(Numbers, AreWrittenAsPrintfWritesThem) {
  StringOutput output;
  std::string expected;
  {
    ChunkWriter writer(output);
    uint64_t value = 1;
    for (int i = 0; i < 64; ++i, value = value * 2 + static_cast<uint64_t>(i % 3)) {
      writer.Decimal(value);
      writer.Put(' ');
      writer.Hex(value);
      writer.Put(' ');
      writer.Address(value);
      writer.Put(' ');
      writer.Hex8(static_cast<uint32_t>(value));
      writer.Put(' ');
      writer.SignedDecimal(-static_cast<int64_t>(value / 2));
      writer.Put(' ');
      const double real = static_cast<double>(value) / 3 * (i % 2 == 0 ? 1e-7 : -1);
      writer.Real(real);
      writer.Put('\n');
      expected +=
          absl::StrFormat("%d 0x%x 0x%012x %08x %d %.9g\n", value, value, value,
                          static_cast<uint32_t>(value), -static_cast<int64_t>(value / 2), real);
    }
    writer.Fill('x', 200000);
    JsonWriter(writer).String("a\"b\\c\n\x7f");
  }
  EXPECT_EQ(output.text(), expected + std::string(200000, 'x') + "\"a\\\"b\\\\c\\u000a\x7f\"");
}

}  // namespace
}  // namespace packsmith::decode
