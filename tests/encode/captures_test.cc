// Dumps of real drivers, and of AGX, through JSON and through the short form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/jsonl_sink.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/read.h"
#include "runtime/encode/assembler.h"
#include "runtime/encode/json.h"
#include "runtime/encode/source.h"
#include "runtime/generations/generations.h"

namespace packsmith::encode {
namespace {

absl::StatusOr<tables::Tables> Find(absl::string_view name) { return FindGeneration(name); }

absl::StatusOr<tables::Tables> TablesOf(const Dump& dump) {
  if (!dump.device.generation.empty()) return Find(dump.device.generation);
  if (dump.device.chip_id) return FindGenerationOfChipId(*dump.device.chip_id);
  return Find("agx_g13");
}

std::vector<std::string> Cores() {
  std::vector<std::string> cores;
  for (const char* folder : {"tests/data/captures", "tests/agx/data"}) {
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string path = entry.path().string();
      if (absl::EndsWith(path, ".core.zst") || absl::EndsWith(path, ".core")) cores.push_back(path);
    }
  }
  std::sort(cores.begin(), cores.end());
  return cores;
}

// Bytes of a space and address, which must be mapped.
std::vector<uint8_t> BytesAt(const Memory& memory, uint32_t space, uint64_t address,
                             uint64_t size) {
  std::vector<uint8_t> bytes(size);
  bytes.resize(memory.Copy(space, address, absl::MakeSpan(bytes)));
  return bytes;
}

TEST(Captures, ComeBackFromJson) {
  size_t dumps = 0, packets = 0;
  for (const std::string& path : Cores()) {
    const absl::StatusOr<Dump> dump = ReadDump(path, {});
    ASSERT_TRUE(dump.ok()) << dump.status();
    const absl::StatusOr<tables::Tables> tables = TablesOf(*dump);
    ASSERT_TRUE(tables.ok()) << path;
    decode::StringOutput output;
    decode::Summary summary;
    {
      const auto sink = decode::MakeJsonlSink(output, {.undescribed = true});
      decode::Decoder decoder(*tables, *sink);
      decoder.Decode(*dump);
      summary = decoder.Finish();
    }
    const Source source{path, output.text()};
    // From the fields over the dwords, and from the fields alone.
    for (const bool fields_only : {false, true}) {
      const absl::StatusOr<Packed> packed = ReadJson(source, Find, {.fields_only = fields_only});
      ASSERT_TRUE(packed.ok()) << packed.status();
      EXPECT_EQ(packed->submissions.size(), dump->submissions.size());
      size_t bytes = 0;
      for (const Image::Run& run : packed->image.Runs()) {
        bytes += run.bytes.size();
        ASSERT_EQ(BytesAt(dump->memory, run.space, run.address, run.bytes.size()), run.bytes)
            << path << ": 0x" << std::hex << run.address;
      }
      EXPECT_GE(bytes, 4 * summary.packets) << path;
    }
    ++dumps;
    packets += summary.packets;
  }
  EXPECT_GT(dumps, 60u);
  EXPECT_GT(packets, 5000u);
}

TEST(Captures, ComeBackFromTheShortFormWithAllTheirMemory) {
  size_t dumps = 0;
  for (const std::string& path : Cores()) {
    const absl::StatusOr<Dump> dump = ReadDump(path, {});
    ASSERT_TRUE(dump.ok()) << dump.status();
    const absl::StatusOr<tables::Tables> tables = TablesOf(*dump);
    ASSERT_TRUE(tables.ok()) << path;
    const std::string text = WriteSource(*tables, *dump);
    EXPECT_EQ(text.find("no short form"), std::string::npos) << path;
    const Source source{path, text};
    absl::StatusOr<Packed> packed = Assemble(source, Find);
    ASSERT_TRUE(packed.ok()) << packed.status();
    const Dump again = ToDump(*std::move(packed));
    EXPECT_EQ(again.device, dump->device) << path;
    EXPECT_EQ(again.submissions, dump->submissions) << path;
    EXPECT_EQ(again.buffers.size(), dump->buffers.size()) << path;
    EXPECT_EQ(again.memory_is_complete, dump->memory_is_complete);
    uint64_t all = 0, found = 0;
    for (const Memory::Segment& mapped : dump->memory.segments()) {
      const Memory::Segment& segment = dump->memory.Resolve(mapped);
      all += segment.memory_size;
      ASSERT_EQ(BytesAt(again.memory, segment.space, segment.address, segment.memory_size),
                BytesAt(dump->memory, segment.space, segment.address, segment.memory_size))
          << path << ": 0x" << std::hex << segment.address;
    }
    for (const Memory::Segment& segment : again.memory.segments()) found += segment.memory_size;
    EXPECT_EQ(found, all) << path;
    // Text, bytes, text.
    EXPECT_EQ(WriteSource(*tables, again), text) << path;
    ++dumps;
  }
  EXPECT_GT(dumps, 60u);
}

}  // namespace
}  // namespace packsmith::encode
