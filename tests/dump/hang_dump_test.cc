// Intel hang dumps: each block of both versions byte by byte, damage, and captures converted to
// them and back.

#include "runtime/dump/hang_dump.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/dump/read.h"
#include "tests/dump/same_memory.h"

namespace packsmith {
namespace {

std::string U32(uint32_t value) {
  std::string out;
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  return out;
}
std::string U64(uint64_t value) {
  return U32(static_cast<uint32_t>(value)) + U32(static_cast<uint32_t>(value >> 32));
}
std::string Name(std::string name) {
  name.resize(64);
  return name;
}

std::string Header(uint32_t version) {
  return U32(1) + U32(0) + std::string("\x63\x64\x67\x45\x23\x01\x45\x42") + U32(version) + U32(0);
}
std::string Buffer1(const std::string& name, uint64_t address, const std::string& data) {
  return U32(2) + U32(0) + Name(name) + U64(address) + U64(data.size()) + data;
}
std::string Buffer2(const std::string& name, uint64_t address, const std::string& data,
                    const std::vector<uint32_t>& properties = {0, 0, 0, 0, 0}) {
  std::string out = U32(2) + U32(0);
  for (const uint32_t value : properties) out += U32(value);
  return out + Name(name) + U32(0) + U64(address) + U64(data.size()) + data;
}
std::string Map(const std::string& name, uint64_t address, uint64_t size) {
  return U32(3) + U32(0) + Name(name) + U64(address) + U64(size);
}
std::string Exec(uint64_t address) { return U32(4) + U32(0) + U64(address); }
std::string Image1(const std::string& data) { return U32(5) + U32(0) + U64(data.size()) + data; }
std::string Image2(const std::string& data, uint64_t offset) {
  return U32(5) + U32(0) + U64(data.size()) + U64(offset) + data;
}
std::string VmFlags(uint32_t flags) { return U32(6) + U32(0) + U32(flags); }

Dump Read(const std::string& bytes) {
  RawOptions options;
  options.generation = "gfx9";
  absl::StatusOr<Dump> dump = ReadDump(BytesOf(bytes, "hang.dmp"), options);
  EXPECT_TRUE(dump.ok()) << dump.status();
  return dump.ok() ? *std::move(dump) : Dump();
}

std::string TextAt(const Dump& dump, uint32_t space, uint64_t address, size_t size) {
  std::vector<uint8_t> bytes(size);
  bytes.resize(dump.memory.Copy(space, address, absl::MakeSpan(bytes)));
  return std::string(bytes.begin(), bytes.end());
}

std::string TempPath() {
  const char* const folder = std::getenv("TEST_TMPDIR");
  return absl::StrCat(folder == nullptr ? "/tmp" : folder, "/converted.", ::getpid(), ".dmp");
}
std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST(HangDump, VersionOneHasBuffersMapsBatchesAndAnImage) {
  const Dump dump = Read(Header(1) + Buffer1("batch", 0xffff'8000'0000'1000, "code") +
                         Map("user", 0x9000, 0x2000) + Exec(0xffff'8000'0000'1000) + Exec(0x5000) +
                         Image1(std::string(4096, 'p') + "registers"));
  EXPECT_TRUE(dump.problems.empty()) << dump.problems[0].text;
  EXPECT_EQ(dump.device.generation, "gfx9");
  EXPECT_EQ(TextAt(dump, 0, 0x8000'0000'1000, 99), "code");
  ASSERT_EQ(dump.buffers.size(), 2u);
  EXPECT_EQ(dump.buffers[0], (Buffer{0, 0x9000, 0x2000, "user"}));
  EXPECT_EQ(dump.buffers[1], (Buffer{0, 0x8000'0000'1000, 4, "batch"}));
  ASSERT_EQ(dump.submissions.size(), 3u);
  EXPECT_EQ(dump.submissions[0].batch_address, 0x8000'0000'1000u);
  EXPECT_EQ(dump.submissions[1].batch_address, 0x5000u);
  EXPECT_EQ(dump.submissions[1].engine, "render");
  const Submission& image = dump.submissions[2];
  EXPECT_EQ(image.kind, "context image");
  EXPECT_EQ(image.own_space, 0u);
  EXPECT_EQ(image.batch_length, 9u);
  EXPECT_EQ(TextAt(dump, image.space, image.batch_address, 99), "registers");
  EXPECT_EQ(TextAt(dump, image.space, kHangDumpImage, 2), "pp");
}

TEST(HangDump, VersionTwoHasPropertiesOfBuffersAndWhatFollowsFlagsIsNotAligned) {
  const Dump dump =
      Read(Header(2) + VmFlags(1) + Buffer2("batch", 0x1000, "code", {1, 2, 3, 4, 2}) +
           Buffer2("user", 0x3000, "data", {7, 3, 0, 0, 9}) + Image2("..list", 2) + Exec(0x1000));
  EXPECT_TRUE(dump.problems.empty()) << dump.problems[0].text;
  ASSERT_EQ(dump.buffers.size(), 2u);
  EXPECT_EQ(dump.buffers[0].access, "read-only");
  EXPECT_EQ(dump.buffers[0].flags, "userptr, memory regions 0x3, PAT 4, write-combined");
  EXPECT_EQ(dump.buffers[1].access, "permission 7");
  EXPECT_EQ(dump.buffers[1].flags, "sparse, memory regions 0x0, PAT 0, caching 9");
  EXPECT_EQ(TextAt(dump, 0, 0x3000, 99), "data");
  EXPECT_EQ(dump.device.uapi, "xe");
  ASSERT_EQ(dump.submissions.size(), 2u);
  // The xe driver saves no status page.
  EXPECT_EQ(TextAt(dump, 1, dump.submissions[1].batch_address, 99), "list");
}

TEST(HangDump, MemoryWithoutANameIsNotABuffer) {
  const Dump dump = Read(Header(2) + Buffer2("", 0x1000, "code") +
                         Buffer2("", 0x2000, "data", {1, 1, 0, 0, 0}) + Map("", 0x9000, 16));
  EXPECT_EQ(TextAt(dump, 0, 0x1000, 99), "code");
  ASSERT_EQ(dump.buffers.size(), 2u);
  EXPECT_EQ(dump.buffers[0].address, 0x2000u);
  EXPECT_EQ(dump.buffers[1].address, 0x9000u);
}

TEST(HangDump, VersionOneHasNoBlockOfFlags) {
  const Dump dump = Read(Header(1) + Exec(0x1000) + VmFlags(1) + Exec(0x2000));
  ASSERT_EQ(dump.submissions.size(), 1u);
  ASSERT_EQ(dump.problems.size(), 1u);
  EXPECT_EQ(dump.problems[0].offset, 40u);
  EXPECT_EQ(dump.problems[0].text,
            "a block of the unknown type 6, whose length is not known; 0x1c bytes were left out");
}

TEST(HangDump, AnotherVersionIsRefused) {
  const absl::StatusOr<Dump> dump = ReadDump(BytesOf(Header(3), "hang.dmp"));
  EXPECT_EQ(dump.status().message(),
            "hang.dmp, offset 16: hang dumps of version 3 cannot be read; versions 1 to 2 can");
}

TEST(HangDump, BytesThatTheFileDoesNotHaveAreUnmapped) {
  const std::string whole = Header(2) + Exec(0x1000) + Buffer2("batch", 0x1000, "code");
  const Dump dump = Read(whole.substr(0, whole.size() - 2));
  EXPECT_EQ(TextAt(dump, 0, 0x1000, 99), "co");
  ASSERT_EQ(dump.buffers.size(), 1u);
  EXPECT_EQ(dump.buffers[0].size, 4u);
  ASSERT_EQ(dump.problems.size(), 1u);
  EXPECT_EQ(dump.problems[0].offset, 40u);
  EXPECT_EQ(dump.problems[0].text,
            "a block of 0x4 bytes of data, of which the file has 0x2; the rest is unmapped");
}

TEST(HangDump, HostileSizesLoseOnlyTheirBlock) {
  std::string huge = Buffer1("huge", 0x1000, "");
  for (int i = 0; i < 8; ++i) huge[80 + i] = '\xff';
  const Dump dump = Read(Header(1) + Buffer1("a", 0x1000, "aaaa") + Buffer1("b", 0x1002, "bb") +
                         Exec(0x1000) + huge);
  EXPECT_EQ(TextAt(dump, 0, 0x1000, 99), "aaaa");
  EXPECT_EQ(dump.submissions.size(), 1u);
  ASSERT_EQ(dump.problems.size(), 3u);
  EXPECT_TRUE(absl::StrContains(dump.problems[0].text, "overlaps the segment 0x1000..0x1003"));
  EXPECT_TRUE(absl::StrContains(dump.problems[1].text, "of which the file has 0x0"));
  EXPECT_TRUE(absl::StrContains(dump.problems[2].text, "go past 2^64; left out"));
}

TEST(HangDump, EveryPrefixIsReadAsFarAsItGoes) {
  const std::string whole = Header(2) + VmFlags(1) + Buffer2("batch", 0x1000, "code") +
                            Map("m", 0x9000, 16) + Image2("image", 0) + Exec(0x1000);
  for (size_t size = 24; size <= whole.size(); ++size) {
    const Dump dump = Read(whole.substr(0, size));
    EXPECT_EQ(dump.submissions.size(), size == whole.size() ? 2u : size > 264 ? 1u : 0u) << size;
  }
}

TEST(HangDump, TheWriterWritesTheseBytes) {
  Dump dump;
  const std::string code = "code";
  ASSERT_TRUE(
      dump.memory
          .Map(0, 0x1000, absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(code.data()), 4), 6)
          .ok());
  dump.buffers = {{0, 0x1000, 6, "batch"}, {0, 0x9000, 0x2000, "user"}};
  dump.SortBuffers();
  dump.submissions.push_back({.engine = "render", .batch_address = 0x1000});
  const std::string path = TempPath();
  const auto lost = WriteHangDump(dump, path, {.version = 1});
  ASSERT_TRUE(lost.ok()) << lost.status();
  EXPECT_EQ(*lost, std::vector<std::string>{"the GPU (read it with --gen)"});
  EXPECT_EQ(Content(path), Header(1) + Buffer1("batch", 0x1000, std::string("code\0\0", 6)) +
                               Map("user", 0x9000, 0x2000) + Exec(0x1000));
  ASSERT_TRUE(WriteHangDump(dump, path).ok());
  EXPECT_EQ(Content(path), Header(2) + Buffer2("batch", 0x1000, std::string("code\0\0", 6)) +
                               Map("user", 0x9000, 0x2000) + Exec(0x1000));
  std::filesystem::remove(path);
}

TEST(HangDump, PropertiesAndImagesSurviveAConversion) {
  const std::string path = TempPath();
  const std::string whole = Header(2) + Buffer2("batch", 0x1000, "code", {1, 2, 3, 4, 2}) +
                            Buffer2("user", 0x3000, "data", {7, 3, 0, 0, 9}) + Image2("list", 0) +
                            Exec(0x1000) + VmFlags(0);
  ASSERT_TRUE(WriteHangDump(Read(whole), path).ok());
  EXPECT_EQ(Content(path), whole);
  const std::string old = Header(1) + Buffer1("batch", 0x1000, "code") +
                          Image1(std::string(4096, 'p') + "list") + Exec(0x1000);
  ASSERT_TRUE(WriteHangDump(Read(old), path, {.version = 1}).ok());
  EXPECT_EQ(Content(path), old);
  std::filesystem::remove(path);
}

TEST(HangDump, WhatTheFormatCannotHoldIsListed) {
  Dump dump;
  const std::vector<uint8_t> page(4096, 1);
  ASSERT_TRUE(dump.memory.Map(0, 0x1000, page, 4096).ok());
  ASSERT_TRUE(dump.memory.Map(1, 0x1000, page, 4096).ok());
  dump.buffers = {{0, 0x1010, 16, "inner"}};
  dump.SortBuffers();
  dump.submissions.push_back(
      {.engine = "copy", .context = 3, .batch_address = 0x1000, .batch_length = 8});
  dump.submissions.push_back(
      {.engine = "copy", .space = 1, .batch_address = 0x1000, .kind = "ring"});
  const std::string path = TempPath();
  const auto lost = WriteHangDump(dump, path);
  ASSERT_TRUE(lost.ok()) << lost.status();
  EXPECT_EQ(*lost,
            (std::vector<std::string>{
                "the GPU (read it with --gen)", "0x1000 bytes of memory in other address spaces",
                "submissions that are not batches of its space: 1", "engines of submissions",
                "contexts of submissions", "lengths of batches",
                "extents of buffers that are not those of memory: 1"}));
  dump.device.family = "agx";
  EXPECT_EQ(WriteHangDump(dump, path).status().code(), absl::StatusCode::kFailedPrecondition);
  dump.device.family = "intel";
  dump.submissions.clear();
  EXPECT_EQ(WriteHangDump(dump, path).status().code(), absl::StatusCode::kFailedPrecondition);
  std::filesystem::remove(path);
}

TEST(HangDump, CapturesConvertedToItAndBackHaveTheSameMemoryAndSubmissions) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/data/captures")) {
    const std::string from = entry.path().string();
    if (!absl::EndsWith(from, ".core.zst")) continue;
    ++files;
    const absl::StatusOr<Dump> before = ReadDump(from);
    ASSERT_TRUE(before.ok()) << before.status();
    for (const uint32_t version : {1u, 2u}) {
      const std::string path = TempPath();
      ASSERT_TRUE(WriteHangDump(*before, path, {.version = version}).ok());
      const absl::StatusOr<Dump> after = ReadDump(path);
      ASSERT_TRUE(after.ok()) << after.status();
      EXPECT_TRUE(after->problems.empty());
      EXPECT_EQ(MemoryDifference(*before, 0, *after, 0), "") << from;
      ASSERT_EQ(after->submissions.size(), before->submissions.size());
      for (size_t i = 0; i < before->submissions.size(); ++i) {
        EXPECT_EQ(after->submissions[i].batch_address, before->submissions[i].batch_address);
      }
      std::filesystem::remove(path);
    }
  }
  EXPECT_GE(files, 12u);
}

}  // namespace
}  // namespace packsmith
