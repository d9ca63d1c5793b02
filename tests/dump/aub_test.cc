// The packets of AUB files: each kind byte by byte, as they are read and written, and damage.

#include "runtime/dump/aub.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/dump/read.h"
#include "tests/dump/aub_builder.h"

namespace packsmith {
namespace {

using Kind = AubPacket::Kind;

struct Read {
  explicit Read(std::string content) : bytes(std::move(content)) {
    AubPackets reader(
        absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()), &dump);
    while (const std::optional<AubPacket> packet = reader.Next()) packets.push_back(*packet);
    device = reader.device();
  }

  std::string Data(size_t i) const {
    return std::string(packets[i].data.begin(), packets[i].data.end());
  }
  std::string ProblemText(size_t i) const {
    return i < dump.problems.size() ? dump.problems[i].text : "no problem";
  }

  std::string bytes;
  Dump dump;
  std::vector<AubPacket> packets;
  Device device;
};

TEST(AubPackets, TheVersionNamesTheGpuByItsPciIdInBothNotations) {
  EXPECT_EQ(Read(TraceVersion("PCI-ID=0x1912 skl")).device.pci_id, 0x1912u);
  EXPECT_EQ(Read(TraceVersion("PCI-ID=6418 skl")).device.pci_id, 0x1912u);
  EXPECT_EQ(Read(ClassicHeader("PCI-ID=0x2a42")).device.pci_id, 0x2a42u);
}

TEST(AubPackets, TheVersionNamesTheGpuByTheSimulatorsNumber) {
  const Read read(TraceVersion("NEO\0", 22));
  EXPECT_EQ(read.device.platform, "tgl");
  EXPECT_EQ(read.device.kernel_verx10, 120);
  EXPECT_EQ(read.device.pci_id, std::nullopt);
}

TEST(AubPackets, AMemoryWriteHasASpaceAnAddressAndDataOfAnyLength) {
  const AubSpace kSpaces[] = {AubSpace::kGlobal, AubSpace::kDevice,      AubSpace::kSystem,
                              AubSpace::kSystem, AubSpace::kGlobalEntry, AubSpace::kProcess,
                              AubSpace::kSystem, AubSpace::kGlobal,      AubSpace::kSystem,
                              AubSpace::kSystem, AubSpace::kSystem,      AubSpace::kOther};
  std::string file = TraceVersion("");
  for (uint32_t i = 0; i < std::size(kSpaces); ++i) file += TraceWrite(i, 0x1'0000'0002, "abcde");
  const Read read(file);
  ASSERT_EQ(read.packets.size(), std::size(kSpaces));
  for (size_t i = 0; i < std::size(kSpaces); ++i) {
    EXPECT_EQ(read.packets[i].kind, Kind::kMemoryWrite);
    EXPECT_EQ(read.packets[i].space, kSpaces[i]) << i;
    EXPECT_EQ(read.packets[i].address, 0x1'0000'0002u);
    EXPECT_EQ(read.Data(i), "abcde");
    EXPECT_EQ(read.packets[i].is_page_table, i == 6 || (i >= 8 && i <= 10)) << i;
  }
  EXPECT_EQ(read.packets[1].offset, 20u + 28u);
  EXPECT_TRUE(read.dump.problems.empty());
}

TEST(AubPackets, AHintSaysThatAWriteIsAPageTable) {
  EXPECT_TRUE(Read(TraceWrite(1, 0, "abcd", 69u << 20)).packets[0].is_page_table);
  EXPECT_EQ(Read(TraceWrite(1, 0, "abcd", 69u << 20)).packets[0].table_level, 5u);
  EXPECT_FALSE(Read(TraceWrite(1, 0, "abcd", 26u << 20)).packets[0].is_page_table);
}

TEST(AubPackets, EachWriteOfADiscontiguousPacketHasItsOwnData) {
  const Read read(TraceVersion("") +
                  TraceWrites(2, {{0x1000, "aaa"}, {0x2000, ""}, {0x3000, "bbbbb"}}));
  ASSERT_EQ(read.packets.size(), 2u);
  EXPECT_EQ(read.packets[0].address, 0x1000u);
  EXPECT_EQ(read.Data(0), "aaa");
  EXPECT_EQ(read.packets[1].address, 0x3000u);
  EXPECT_EQ(read.Data(1), "bbbbb");
}

TEST(AubPackets, ARegisterWriteOf64BitsIsTwo) {
  const Read read(TraceVersion("") + TraceRegister(0x2230, 7) +
                  TracePacket(0x03, WordsOf({0x2510, 3u << 16, 0, 0, 1, 2})));
  ASSERT_EQ(read.packets.size(), 3u);
  const std::pair<uint64_t, uint32_t> kWrites[] = {{0x2230, 7}, {0x2510, 1}, {0x2514, 2}};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.packets[i].kind, Kind::kRegisterWrite);
    EXPECT_EQ(read.packets[i].address, kWrites[i].first);
    EXPECT_EQ(read.packets[i].value, kWrites[i].second);
  }
}

TEST(AubPackets, RegistersOfOtherUnitsAreLeftOut) {
  EXPECT_TRUE(
      Read(TracePacket(0x03, WordsOf({0x2230, 2u << 16 | 2u << 28, 0, 0, 1}))).packets.empty());
}

TEST(AubPackets, CommentsAreText) {
  const Read read(TracePacket(0x08, Word(0) + PaddedToWords("hello")));
  ASSERT_EQ(read.packets.size(), 1u);
  EXPECT_EQ(read.packets[0].kind, Kind::kComment);
  EXPECT_EQ(read.Data(0).substr(0, 5), "hello");
}

TEST(AubPackets, ClassicBlocksAreDataEntriesAndCommandsOfRings) {
  const Read read(ClassicHeader("") + ClassicBlock(1, 0, 4, 8, "abcd") +
                  ClassicBlock(1, 1, 0, 0x1000, "abcde") + ClassicBlock(2, 2, 0, 0, "ring") +
                  ClassicBlock(2, 3, 0, 0, "ring") + ClassicBlock(2, 4, 0, 0, "ring") +
                  ClassicBlock(0, 0, 0, 0, "comment!"));
  ASSERT_EQ(read.packets.size(), 5u);
  EXPECT_EQ(read.packets[0].space, AubSpace::kGlobalEntry);
  EXPECT_EQ(read.packets[0].address, 8u);
  EXPECT_EQ(read.packets[1].space, AubSpace::kGlobal);
  EXPECT_EQ(read.Data(1), "abcde");
  const absl::string_view kEngines[] = {"render", "video", "blitter"};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.packets[2 + i].kind, Kind::kRingWrite);
    EXPECT_EQ(read.packets[2 + i].engine, kEngines[i]);
  }
  EXPECT_TRUE(read.dump.problems.empty());
}

TEST(AubPackets, AClassicBlockOfGfx8HasTheUpperHalfOfItsAddress) {
  const Read read(WordsOf({0xe0c10004, 1, 0, 0x1000, 4, 0x7}) + "abcd");
  ASSERT_EQ(read.packets.size(), 1u);
  EXPECT_EQ(read.packets[0].address, 0x7'0000'1000u);
  EXPECT_EQ(read.Data(0), "abcd");
}

TEST(AubPackets, BothFamiliesMayBeInOneFile) {
  const Read read(TraceVersion("") + ClassicBlock(1, 0, 0, 0, "abcd") + TraceWrite(2, 0, "efgh"));
  ASSERT_EQ(read.packets.size(), 2u);
  EXPECT_EQ(read.Data(0) + read.Data(1), "abcdefgh");
}

TEST(AubPackets, PacketsWithoutEffectAreSkipped) {
  std::string file = TraceVersion("");
  for (const uint32_t operation :
       {0x00, 0x01, 0x02, 0x04, 0x05, 0x07, 0x09, 0x0a, 0x0c, 0x0d, 0x0f, 0x10}) {
    file += TracePacket(operation, WordsOf({1, 2, 3}));
  }
  const Read read(file + TraceRegister(1, 2));
  EXPECT_EQ(read.packets.size(), 1u);
  EXPECT_TRUE(read.dump.problems.empty());
}

TEST(AubPackets, UnknownPacketsAreSkippedAndEachKindIsReportedOnce) {
  const Read read(TraceVersion("") + TracePacket(0x33, Word(1)) + TracePacket(0x33, Word(1)) +
                  TracePacket(0x34, "") + WordsOf({0xe0a20000, 0}) + TraceRegister(1, 2));
  EXPECT_EQ(read.packets.size(), 1u);
  ASSERT_EQ(read.dump.problems.size(), 3u);
  EXPECT_EQ(read.dump.problems[0].offset, 20u);
  EXPECT_EQ(read.ProblemText(0),
            "memory trace packet 0x33 cannot be used; skipped, as are others of its kind");
  EXPECT_EQ(read.dump.problems[1].offset, 36u);
  EXPECT_EQ(read.ProblemText(2),
            "classic packet 0x22 cannot be used; skipped, as are others of its kind");
}

TEST(AubPackets, RepeatedAndTiledDataIsLeftOut) {
  const Read read(TraceWrite(2, 0, "abcd", 2) + TraceWrite(2, 0, "abcd", 1 << 2) +
                  TraceWrite(2, 0, "good"));
  ASSERT_EQ(read.packets.size(), 1u);
  EXPECT_EQ(read.ProblemText(0), "a memory write with repeated data cannot be used; left out");
  EXPECT_EQ(read.ProblemText(1), "a memory write with tiled data cannot be used; left out");
}

TEST(AubPackets, AWriteLargerThanItsPacketIsCut) {
  std::string write = TraceWrite(2, 0x1000, "abcd");
  write[16] = '\xff';
  const Read read(write + TraceRegister(1, 2));
  ASSERT_EQ(read.packets.size(), 2u);
  EXPECT_EQ(read.Data(0), "abcd");
  EXPECT_EQ(read.ProblemText(0),
            "a write of 0xff bytes, of which its packet has 0x4; the rest was left out");
}

TEST(AubPackets, ATruncatedFileYieldsWhatItHas) {
  const std::string file = TraceVersion("") + TraceWrite(2, 0x1000, "abcdefgh");
  const Read read(file.substr(0, file.size() - 3));
  ASSERT_EQ(read.packets.size(), 1u);
  EXPECT_EQ(read.Data(0), "abcde");
  ASSERT_EQ(read.dump.problems.size(), 2u);
  EXPECT_EQ(read.dump.problems[0].offset, 20u);
  EXPECT_EQ(read.ProblemText(0), "a packet of 0x1c bytes, of which the file has 0x19");
}

TEST(AubPackets, AfterBytesThatAreNoPacketTheNextPacketIsFound) {
  const Read read(TraceVersion("") + WordsOf({1, 2, 0xf7060001}) + TraceRegister(1, 2) +
                  TraceRegister(3, 4));
  ASSERT_EQ(read.packets.size(), 2u);
  ASSERT_GE(read.dump.problems.size(), 1u);
  EXPECT_EQ(read.dump.problems[0].offset, 20u);
  EXPECT_TRUE(absl::StrContains(read.ProblemText(0), "no packet begins here"))
      << read.ProblemText(0);
}

TEST(AubPackets, HostileLengthsEndTheFile) {
  // 4 GiB of classic data; 63 writes of 4 GiB each.
  std::string block = ClassicBlock(1, 0, 0, 0, "abcd");
  for (int i = 16; i < 20; ++i) block[i] = '\xff';
  const Read classic(block);
  ASSERT_EQ(classic.packets.size(), 1u);
  EXPECT_EQ(classic.Data(0), "abcd");
  std::string writes = Word(0xffff0);
  for (int i = 0; i < 63; ++i) writes += Long(~uint64_t{0}) + Word(0xffffffff);
  const Read trace(TracePacket(0x0b, writes + "abcd") + TraceRegister(1, 2));
  ASSERT_EQ(trace.packets.size(), 2u);
  EXPECT_EQ(trace.Data(0), "abcd");
  EXPECT_EQ(trace.packets[1].kind, Kind::kRegisterWrite);
}

TEST(ReadAub, FilesOfBothFamiliesAreDetected) {
  for (const std::string& file : {TraceVersion("PCI-ID=0x1912"), ClassicHeader("PCI-ID=0x2a42")}) {
    const absl::StatusOr<Dump> dump = ReadDump(BytesOf(file, "run.aub"));
    ASSERT_TRUE(dump.ok()) << dump.status();
    EXPECT_NE(dump->recording, nullptr);
    EXPECT_EQ(dump->device.family, "intel");
    EXPECT_NE(dump->device.pci_id, std::nullopt);
  }
  RawOptions options;
  options.format = "aub";
  EXPECT_FALSE(ReadDump(BytesOf(std::string("text"), "text"), options).ok());
}

TEST(AubWriter, WritesThesePackets) {
  const char* const folder = std::getenv("TEST_TMPDIR");
  const std::string path =
      absl::StrCat(folder == nullptr ? "/tmp" : folder, "/written.", ::getpid(), ".aub");
  absl::StatusOr<FileWriter> out = FileWriter::Create(path);
  ASSERT_TRUE(out.ok());
  AubWriter writer(*out);
  Device device;
  device.pci_id = 0x9a49;
  device.platform = "tgl";
  const std::string data = "abcde";
  const auto bytes =
      absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(data.data()), data.size());
  std::string expected;
  ASSERT_TRUE(writer.Version(device, "TGL").ok());
  // Device 22, physical addresses, tool 4.
  expected += WordsOf({0xf70e0009, 1, 22 << 8 | 1u << 18 | 4u << 28, 0, 0}) +
              PaddedToWords("PCI-ID=0x9a49 TGL");
  for (const auto& [space, number] :
       {std::make_pair(AubSpace::kGlobal, 0u), std::make_pair(AubSpace::kDevice, 1u),
        std::make_pair(AubSpace::kSystem, 2u), std::make_pair(AubSpace::kGlobalEntry, 4u)}) {
    ASSERT_TRUE(writer.MemoryWrite(space, 0x1'0000'1000, bytes).ok());
    expected += WordsOf({0xf7060006, 0x1000, 1, number << 28, 5}) + PaddedToWords(data);
  }
  ASSERT_TRUE(writer.RegisterWrite(0x2230, 7).ok());
  expected += WordsOf({0xf7030005, 0x2230, 0x20000, 0xffffffff, 0, 7});
  ASSERT_TRUE(writer.RegisterPoll(0x2234, 0x10, 0).ok());
  expected += WordsOf({0xf7020005, 0x2234, 0x20000, 0x10, 0, 0});
  ASSERT_TRUE(writer.ClassicHeader(device, "TGL").ok());
  expected += WordsOf({0xe0850010, 4u << 24}) + std::string("packsmith") + std::string(31, '\0') +
              Word(20) + PaddedToWords("PCI-ID=0x9a49 TGL");
  ASSERT_TRUE(writer.ClassicWrite(AubSpace::kGlobalEntry, 8, bytes).ok());
  expected += ClassicBlock(1, 0, 4, 8, data);
  ASSERT_TRUE(writer.ClassicWrite(AubSpace::kGlobal, 8, bytes).ok());
  expected += ClassicBlock(1, 0, 0, 8, data);
  ASSERT_TRUE(writer.ClassicRing("blitter", bytes).ok());
  expected += ClassicBlock(2, 4, 0, 0, data);
  ASSERT_TRUE(out->Commit().ok());
  std::ifstream file(path, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), expected);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace packsmith
