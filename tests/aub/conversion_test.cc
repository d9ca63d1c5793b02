// Dumps converted to recordings and back have the same memory, spaces and submissions.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/aub/play.h"
#include "runtime/aub/write.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "tests/dump/same_memory.h"

namespace packsmith {
namespace {

using Lost = std::vector<std::string>;

std::string TempPath() {
  const char* const folder = std::getenv("TEST_TMPDIR");
  return absl::StrCat(folder == nullptr ? "/tmp" : folder, "/converted.", ::getpid(), ".aub");
}

tables::Tables TablesFor(const std::string& name) {
  const absl::StatusOr<tables::Tables> tables = FindGeneration(name);
  EXPECT_TRUE(tables.ok()) << tables.status();
  return *tables;
}

// The dump as a recording, read again.
Dump Converted(const tables::Tables& tables, const std::vector<const Dump*>& dumps,
               Lost* lost = nullptr) {
  const std::string path = TempPath();
  auto writer = aub::RecordingWriter::Create(tables, dumps[0]->device, path);
  EXPECT_TRUE(writer.ok()) << writer.status();
  for (const Dump* dump : dumps) {
    const absl::Status added = writer->Add(*dump);
    EXPECT_TRUE(added.ok()) << added;
  }
  const absl::StatusOr<Lost> finished = writer->Finish();
  EXPECT_TRUE(finished.ok()) << finished.status();
  if (lost != nullptr && finished.ok()) *lost = *finished;
  absl::StatusOr<Dump> after = ReadDump(path);
  std::filesystem::remove(path);
  EXPECT_TRUE(after.ok()) << after.status();
  if (!after.ok()) return Dump();
  aub::Play(tables, *after);
  for (const Problem& problem : after->problems) {
    ADD_FAILURE() << problem.offset << ": " << problem.text;
  }
  return *std::move(after);
}

// Bytes of a page that the dump does not have are zero in a recording.
std::string MemoryDifferenceInPages(const Dump& a, uint32_t space, const Dump& b, uint32_t other) {
  std::string missing = MissingMemory(a, space, b, other);
  if (!missing.empty()) return "of the dump: " + missing;
  for (const Memory::Segment& segment : b.memory.segments()) {
    if (segment.space != other) continue;
    for (uint64_t page = segment.address; page - segment.address < segment.memory_size;
         page += 4096) {
      const Memory::Segment* const next = a.memory.FindFrom(space, page);
      if (next == nullptr || next->address >= page + 4096) {
        return absl::StrFormat("0x%x is not in the dump", page);
      }
    }
  }
  return "";
}

TEST(Conversion, CapturesOfAllGenerationsHaveTheSameMemorySpacesAndSubmissions) {
  std::set<std::string> generations;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/data/captures")) {
    const std::string from = entry.path().string();
    if (!absl::EndsWith(from, ".core.zst")) continue;
    SCOPED_TRACE(from);
    const absl::StatusOr<Dump> before = ReadDump(from);
    ASSERT_TRUE(before.ok()) << before.status();
    const auto tables = FindGenerationOfPciId(*before->device.pci_id);
    ASSERT_TRUE(tables.ok());
    generations.insert(std::string(tables->generation()));
    const Dump after = Converted(*tables, {&*before});
    EXPECT_EQ(after.device.pci_id, before->device.pci_id);
    ASSERT_EQ(after.submissions.size(), before->submissions.size());
    for (size_t i = 0; i < before->submissions.size(); ++i) {
      const Submission& is = after.submissions[i];
      const Submission& was = before->submissions[i];
      EXPECT_EQ(is.engine, was.engine);
      EXPECT_EQ(is.space, was.space);
      EXPECT_EQ(is.own_space, was.own_space);
      EXPECT_EQ(is.batch_address, was.batch_address);
      EXPECT_EQ(is.kind, "");
      EXPECT_EQ(MemoryDifferenceInPages(*before, was.space, after, is.space), "");
    }
  }
  EXPECT_GE(generations.size(), 9u) << absl::StrJoin(generations, " ");
}

std::vector<uint8_t> Page(uint8_t first) {
  std::vector<uint8_t> page(4096, 0);
  page[0] = first;
  page[4095] = 0x80;
  return page;
}

// Words as bytes.
std::vector<uint8_t> Words(const std::vector<uint32_t>& words) {
  std::vector<uint8_t> bytes;
  for (const uint32_t word : words) {
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(word >> (8 * i)));
  }
  return bytes;
}

class Generations : public testing::TestWithParam<const char*> {};

TEST_P(Generations, SpacesEnginesAndContextsStayApart) {
  const tables::Tables tables = TablesFor(GetParam());
  const std::vector<uint8_t> one = Page(1), two = Page(2), global = Page(3);
  Dump dump;
  dump.device = DeviceOfGeneration(GetParam());
  ASSERT_TRUE(dump.memory.Map(0, 0x7000'0000'1000, one, 0x3000).ok());
  ASSERT_TRUE(dump.memory.Map(3, 0x7000'0000'1000, two, 4096).ok());
  ASSERT_TRUE(dump.memory.Map(1, 0x10'0000, global, 4096).ok());
  dump.submissions.push_back({.engine = "render", .batch_address = 0x7000'0000'1000});
  dump.submissions.push_back(
      {.engine = "copy", .context = 1, .space = 3, .batch_address = 0x7000'0000'1000});
  dump.submissions.push_back({.engine = "vcs1", .batch_address = 0x7000'0000'2000});
  dump.submissions.push_back({.engine = "render", .space = 1, .batch_address = 0x10'0000});
  Lost lost;
  const Dump after = Converted(tables, {&dump}, &lost);
  EXPECT_EQ(lost, (Lost{"numbers of contexts, which count from 0 in their order"}));
  ASSERT_EQ(after.submissions.size(), 4u);
  const auto& now = after.submissions;
  EXPECT_EQ(now[0].space, 0u);
  EXPECT_EQ(now[0].engine, "render");
  EXPECT_EQ(MemoryDifference(dump, 0, after, 0), "");
  EXPECT_EQ(now[1].engine, "blitter");
  EXPECT_NE(now[1].context, now[0].context);
  EXPECT_GT(now[1].space, 1u);
  EXPECT_EQ(MemoryDifference(dump, 3, after, now[1].space), "");
  EXPECT_EQ(now[2].engine, "vcs1");
  EXPECT_EQ(now[2].space, 0u);
  EXPECT_EQ(now[2].context, now[0].context);
  EXPECT_NE(now[2].slot, now[0].slot);
  EXPECT_EQ(now[3].space, kGlobalSpace);
  EXPECT_EQ(now[3].own_space, std::nullopt);
  EXPECT_EQ(now[3].batch_address, 0x10'0000u);
  EXPECT_EQ(MissingMemory(dump, 1, after, 1), "");
}

TEST_P(Generations, RingsKeepTheirPlaceAndWrap) {
  const tables::Tables tables = TablesFor(GetParam());
  const std::vector<uint8_t> batch = Page(0);
  // Two commands that start a batch, with the ring's end between them; the ring was overwritten
  // there when the dump was taken.
  std::vector<uint8_t> ring(0x2000, 0);
  const std::vector<uint8_t> start = Words({0x18800101, 0x1000, 0x7000, 0});
  std::copy(start.begin(), start.end(), ring.begin());
  std::copy(start.begin(), start.end(), ring.end() - 16);
  std::vector<uint8_t> before = ring;
  std::fill(before.begin(), before.begin() + 16, 0);
  Dump dump;
  dump.device = DeviceOfGeneration(GetParam());
  ASSERT_TRUE(dump.memory.Map(0, 0x7000'0000'1000, batch, 4096).ok());
  ASSERT_TRUE(dump.memory.Map(1, 0x4'0000, ring, ring.size()).ok());
  ASSERT_TRUE(dump.memory.Map(2, 0x4'0000, before, before.size()).ok());
  const Submission piece = {.engine = "render",
                            .space = 2,
                            .batch_address = 0x4'1f00,
                            .batch_length = 0x110,
                            .kind = "ring",
                            .own_space = 0,
                            .ring = Submission::Ring{0x4'0000, 0x2000}};
  dump.submissions = {piece, piece};
  dump.submissions[1].space = kGlobalSpace;
  const Dump after = Converted(tables, {&dump});
  ASSERT_EQ(after.submissions.size(), 2u);
  // Of the first one only one command is left, which starts a batch.
  EXPECT_EQ(after.submissions[0].kind, "");
  EXPECT_EQ(after.submissions[0].batch_address, 0x7000'0000'1000u);
  Submission expected = piece;
  expected.index = 1;
  expected.space = kGlobalSpace;
  EXPECT_EQ(after.submissions[1], expected);
  EXPECT_EQ(MissingMemory(dump, 1, after, 1), "");
  EXPECT_EQ(MemoryDifference(dump, 0, after, 0), "");
}

INSTANTIATE_TEST_SUITE_P(All, Generations,
                         testing::Values("gfx8", "gfx9", "gfx11", "gfx12", "gfx125", "xe2", "xe3"));

TEST(Conversion, DumpsOfOneRunAreSubmittedInTheirOrderWithTheirOwnMemory) {
  const tables::Tables tables = TablesFor("gfx9");
  const std::vector<uint8_t> pages[] = {Page(1), Page(2)};
  Dump dumps[2];
  for (size_t i = 0; i < 2; ++i) {
    dumps[i].device = DeviceOfGeneration("gfx9");
    ASSERT_TRUE(dumps[i].memory.Map(0, 0x1000, pages[i], 4096).ok());
    dumps[i].submissions.push_back({.engine = "render", .batch_address = 0x1000 + 16 * i});
  }
  const Dump after = Converted(tables, {&dumps[0], &dumps[1]});
  ASSERT_EQ(after.submissions.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(after.submissions[i].batch_address, 0x1000 + 16 * i);
    // State carries over within a context.
    EXPECT_EQ(after.submissions[i].context, 0u);
    EXPECT_EQ(after.submissions[i].slot, 0u);
    EXPECT_EQ(MemoryDifference(dumps[i], 0, after, after.submissions[i].space), "");
  }
}

TEST(Conversion, AClassicRecordingHasOneSpaceThatChangesFromBatchToBatch) {
  const tables::Tables tables = TablesFor("gfx6");
  const std::vector<uint8_t> one = Page(1), two = Page(2);
  Dump dump, next;
  dump.device = next.device = DeviceOfGeneration("gfx6");
  ASSERT_TRUE(dump.memory.Map(0, 0x1000, one, 0x2000).ok());
  ASSERT_TRUE(dump.memory.Map(2, 0x1000, two, 4096).ok());
  ASSERT_TRUE(next.memory.Map(0, 0x5000, one, 4096).ok());
  dump.submissions.push_back({.engine = "render", .batch_address = 0x1000});
  dump.submissions.push_back({.engine = "blitter", .space = 2, .batch_address = 0x1000});
  next.submissions.push_back({.engine = "render", .batch_address = 0x5000});
  const Dump after = Converted(tables, {&dump, &next});
  ASSERT_EQ(after.submissions.size(), 3u);
  EXPECT_EQ(MemoryDifference(dump, 0, after, after.submissions[0].space), "");
  EXPECT_EQ(MemoryDifference(dump, 2, after, after.submissions[1].space), "");
  EXPECT_EQ(MemoryDifference(next, 0, after, after.submissions[2].space), "");
  EXPECT_EQ(after.submissions[1].engine, "blitter");
  EXPECT_EQ(after.submissions[2].batch_address, 0x5000u);
}

TEST(Conversion, ARecordingIsTheSameAfterAnotherConversion) {
  const absl::StatusOr<Dump> capture = ReadDump("tests/data/captures/tgl-gl-compute/01.core.zst");
  ASSERT_TRUE(capture.ok()) << capture.status();
  const tables::Tables tables = TablesFor("gfx12");
  const Dump once = Converted(tables, {&*capture});
  const Dump twice = Converted(tables, {&once});
  EXPECT_EQ(twice.submissions, once.submissions);
  EXPECT_EQ(MemoryDifference(once, 0, twice, 0), "");
  EXPECT_EQ(MissingMemory(once, 1, twice, 1), "");
}

TEST(Conversion, WhatARecordingCannotHoldIsListed) {
  const tables::Tables tables = TablesFor("gfx9");
  const std::vector<uint8_t> page = Page(1);
  Dump dump;
  dump.device = DeviceOfGeneration("gfx9");
  dump.device.driver = "iris";
  ASSERT_TRUE(dump.memory.Map(0, 0x1010, absl::MakeConstSpan(page).first(64), 64).ok());
  ASSERT_TRUE(dump.memory.Map(7, 0x1000, page, 4096).ok());
  dump.buffers = {{0, 0x1010, 64, "batch"}};
  dump.memory_is_complete = true;
  dump.submissions.push_back(
      {.engine = "render", .slot = 2, .batch_address = 0x1010, .batch_length = 8, .acthd = 0x1018});
  Lost lost;
  const Dump after = Converted(tables, {&dump}, &lost);
  EXPECT_EQ(lost, (Lost{"ends of memory within pages of 4 KiB, which zeros fill",
                        "buffers: names and extents", "slots of submissions", "lengths of batches",
                        "registers of submissions", "address spaces of no submission",
                        "names of the driver and of its interface",
                        "the statement that memory is complete"}));
  EXPECT_EQ(MemoryDifferenceInPages(dump, 0, after, 0), "");
}

TEST(Conversion, DumpsOfOtherGpusAreRefused) {
  const auto writer =
      aub::RecordingWriter::Create(TablesFor("agx_g13"), DeviceOfGeneration("agx_g13"), TempPath());
  EXPECT_EQ(writer.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(std::filesystem::exists(TempPath()));
}

TEST(Conversion, ADumpThatCannotBeRecordedLeavesNoFile) {
  const std::string path = TempPath();
  const tables::Tables tables = TablesFor("gfx9");
  Dump dump;
  for (const char* const why : {"nothing to submit", "too large"}) {
    auto writer = aub::RecordingWriter::Create(tables, dump.device, path);
    ASSERT_TRUE(writer.ok());
    EXPECT_FALSE(writer->Add(dump).ok()) << why;
    EXPECT_FALSE(writer->Finish().ok()) << why;
    EXPECT_FALSE(std::filesystem::exists(path)) << why;
    dump.submissions.push_back({.engine = "render", .batch_address = 0x1000});
    static_cast<void>(dump.memory.Map(0, 0x1000, {}, uint64_t{1} << 40));
  }
}

}  // namespace
}  // namespace packsmith
