// Folders that no recorder wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/file.h"
#include "runtime/dump/elf_core.h"
#include "runtime/dump/read.h"
#include "runtime/dump/run_folder.h"
#include "tests/capture/records/made_up.h"

namespace packsmith::capture {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kPage = kMemoryPage;
const std::string kRun = "{\"type\":\"run\",\"run\":\"r\"}\n";

std::string SubmissionLine(const std::string& number, const std::string& file) {
  return absl::StrCat("{\"type\":\"submission\",\"number\":", number, ",\"file\":\"", file,
                      "\"}\n");
}

std::vector<uint64_t> NumbersOf(const RunFolder& run) {
  std::vector<uint64_t> numbers;
  for (const RunRecord& record : run.records) numbers.push_back(record.number);
  return numbers;
}

TEST(HostileIndexTest, ALineThatIsCutOffCostsThatLine) {
  const std::string two = SubmissionLine("2", "000002.core");
  for (size_t size = 1; size < two.size(); ++size) {
    const RunFolder run = ReadRunIndex(
        kRun + SubmissionLine("1", "000001.core") + two.substr(0, size), {"000001.core"});
    EXPECT_THAT(NumbersOf(run), ElementsAre(1u));
    EXPECT_THAT(run.problems, ElementsAre(HasSubstr("line 3: the last line is cut off")));
  }
}

TEST(HostileIndexTest, OnlyTheRunsOwnCoresAreFiles) {
  for (const char* const file :
       {"../000001.core", "/etc/passwd", "a/000001.core", "..", "", "000002.core", "memory",
        "000001.core/../x.core", "index.jsonl", "+1.core", "000001.core\\u0000", "-1.core",
        "99999999999999999999999999.core"}) {
    const RunFolder run = ReadRunIndex(kRun + SubmissionLine("1", file), {});
    EXPECT_THAT(run.records, IsEmpty()) << file;
    EXPECT_THAT(run.problems, ElementsAre(HasSubstr("expected \"000001.core\""))) << file;
  }
}

TEST(HostileIndexTest, LinesThatAreNotTheFormatsAreReported) {
  const std::string deep(100000, '[');
  for (const std::string& line :
       {std::string("x"), std::string("[1]"), std::string("{\"type\":\"submission\"}"),
        SubmissionLine("-1", "000001.core"), SubmissionLine("1e9", "000001.core"),
        SubmissionLine("18446744073709551616", "000001.core"), SubmissionLine("0", "000000.core"),
        std::string("{\"type\":\"dropped\",\"number\":\"1\"}"), deep, "{\"a\":" + deep,
        std::string("\0\xff", 2)}) {
    std::string index = kRun + line;
    if (index.back() != '\n') index += '\n';
    index += SubmissionLine("7", "000007.core");
    const RunFolder run = ReadRunIndex(index, {"000007.core"});
    EXPECT_THAT(NumbersOf(run), ElementsAre(7u)) << line.substr(0, 100);
    EXPECT_EQ(run.problems.size(), 1u) << line.substr(0, 100);
  }
  std::string many = kRun;
  for (int i = 0; i < 100000; ++i) many += "x\n";
  EXPECT_EQ(ReadRunIndex(many, {}).problems.size(), RunFolder::kMostProblems);
}

TEST(HostileIndexTest, UnknownTypesAndMembersAreIgnored) {
  const RunFolder run = ReadRunIndex(
      kRun + "{\"type\":\"later\",\"x\":[{}]}\n{}\n\n" +
          "{\"type\":\"submission\",\"number\":1,\"file\":\"000001.core\",\"pid\":\"x\","
          "\"warnings\":[1,{},\"w\"],\"flags\":7,\"process\":null,\"later\":{}}\n" +
          "{\"type\":\"outcome\",\"number\":5,\"outcome\":\"hung\"}\n",
      {"000001.core"});
  EXPECT_THAT(run.problems, IsEmpty());
  ASSERT_EQ(run.records.size(), 1u);
  EXPECT_THAT(run.records[0].warnings, ElementsAre("w"));
}

TEST(HostileIndexTest, CoresThatTheIndexDoesNotHaveAreNotLost) {
  const RunFolder run = ReadRunIndex(
      kRun + SubmissionLine("10", "000010.core") + SubmissionLine("2", "000002.core") +
          SubmissionLine("2", "000002.core") + "{\"type\":\"dropped\",\"number\":3}\n" +
          SubmissionLine("3", "000003.core") + SubmissionLine("4", "000004.core") +
          "{\"type\":\"dropped\",\"number\":4}\n",
      {"000010.core", "000001.core", "000004.core", "x.core", "memory", ".000009.core.tmp"});
  // 2 is missing: opening it is what reports it. 3 was dropped and is gone, 4 is still there.
  EXPECT_THAT(NumbersOf(run), ElementsAre(1u, 2u, 4u, 10u));
  EXPECT_THAT(run.problems, ElementsAre(HasSubstr("a second submission 2")));
}

TEST(HostileIndexTest, AFolderThatIsNotARunIsReadAsBefore) {
  const Folder folder;
  std::filesystem::create_directory(folder / "d");
  EXPECT_FALSE(FindDumps(folder / "d").ok());
  WriteFile(folder / "d/index.jsonl", "something else\n");
  WriteFile(folder / "d/a.core", "");
  const absl::StatusOr<FoundDumps> found = FindDumps(folder / "d");
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->paths, ElementsAre(folder / "d/a.core"));
  std::filesystem::create_directory(folder / "e");
  WriteFile(folder / "e/index.jsonl", kRun);
  EXPECT_THAT(FindDumps(folder / "e").status().ToString(), HasSubstr("has no submissions"));
}

// --- Cores and their memory ---

class HostileCoreTest : public testing::Test {
 protected:
  // A run with a memory file of five pages, whose bytes are their numbers.
  HostileCoreTest() {
    std::string memory = MemoryFileHeader("r");
    for (char page = 1; page < 5; ++page) memory.append(kPage, page);
    WriteFile(folder_ / "memory", memory);
  }

  std::string Core(const std::vector<PagedSegment>& segments, const std::string& run = "r") {
    Dump about;
    about.device.family = "intel";
    const auto core = MakePagedCore(about, run, segments);
    EXPECT_TRUE(core.ok());
    return std::string(core->begin(), core->end());
  }

  Dump Read(const std::string& core) {
    WriteFile(folder_ / "000001.core", core);
    absl::StatusOr<Dump> dump = ReadDump(folder_ / "000001.core");
    EXPECT_TRUE(dump.ok()) << dump.status();
    return dump.ok() ? *std::move(dump) : Dump();
  }

  static std::string ProblemsOf(const Dump& dump) {
    return absl::StrJoin(dump.problems, "\n", [](std::string* out, const Problem& problem) {
      absl::StrAppend(out, problem.text);
    });
  }

  static int ByteAt(const Dump& dump, uint64_t address) {
    const absl::Span<const uint8_t> byte = dump.memory.Read(0, address, 1);
    return byte.empty() ? -1 : byte[0];
  }

  const Folder folder_;
};

TEST_F(HostileCoreTest, RunsAreMappedInTheirOrder) {
  const Dump dump = Read(Core({{0, 0x10000, 5 * kPage + 1, {{2, 3}, {2, 0}, {1, 2}, {1, 3}}},
                               {2, 0x10000, kPage, {{1, 1}}}}));
  EXPECT_EQ(ProblemsOf(dump), "");
  const int expected[] = {3, 4, 0, 0, 2, 3};
  for (uint64_t page = 0; page < 6; ++page) {
    EXPECT_EQ(ByteAt(dump, 0x10000 + page * kPage), expected[page]) << page;
  }
  EXPECT_EQ(ByteAt(dump, 0x10000 + 5 * kPage + 1), -1);
  EXPECT_EQ(dump.memory.Read(2, 0x10000, 1)[0], 1);
  // Contiguous pages are one segment, and so are zeros after them: 3, 4, 0, 0 and 2, 3, and
  // space 2.
  EXPECT_EQ(dump.memory.segments().size(), 3u);
}

TEST_F(HostileCoreTest, PagesBeyondTheFileAreUnmapped) {
  const Dump dump = Read(Core(
      {{0, 0x10000, 4 * kPage, {{1, 1}, {2, 4}, {1, 2}}}, {0, 0x20000, kPage, {{1, 0xffffffff}}}}));
  EXPECT_THAT(ProblemsOf(dump), HasSubstr("0x1000 bytes are not in the memory file"));
  const int expected[] = {1, 4, -1, 2};
  for (uint64_t page = 0; page < 4; ++page) {
    EXPECT_EQ(ByteAt(dump, 0x10000 + page * kPage), expected[page]) << page;
  }
  EXPECT_EQ(ByteAt(dump, 0x20000), -1);
}

TEST_F(HostileCoreTest, ListsThatDoNotFitTheirSegmentAreReported) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  EXPECT_THAT(ProblemsOf(Read(Core({{0, 0x10000, 3 * kPage, {{1, 1}}}}))),
              HasSubstr("the list of pages has 0x1000 of 0x3000 bytes"));
  EXPECT_EQ(ProblemsOf(Read(Core({{0, 0x10000, kPage, {{0, 1}, {3, 1}, {7, 1}}}}))), "");
  const Dump wrapped = Read(Core({{0, kMost - kPage + 1, 2 * kPage, {{2, 1}}}}));
  EXPECT_THAT(ProblemsOf(wrapped), HasSubstr("go past 2^64"));
  EXPECT_EQ(ByteAt(wrapped, kMost), 1);
  // 2^64 bytes of zeros cost nothing.
  const Dump huge = Read(Core({{0, 0, kMost, std::vector<PageRun>(1 << 16, {0xffffffff, 0})}}));
  EXPECT_EQ(ByteAt(huge, uint64_t{1} << 50), 0);
}

TEST_F(HostileCoreTest, APageThatIsRepeatedWithoutEndIsNotMappedWithoutEnd) {
  // 2^17 times 4 pages: 2 GiB of a file of 20 KiB.
  std::vector<PageRun> runs(1 << 17, {4, 1});
  const Dump dump = Read(Core({{0, 0, runs.size() * 4 * kPage, runs}}));
  EXPECT_THAT(ProblemsOf(dump), HasSubstr("bytes are not in the memory file"));
  uint64_t mapped = 0;
  for (const Memory::Segment& segment : dump.memory.segments()) mapped += segment.memory_size;
  EXPECT_EQ(mapped, uint64_t{1} << 30);
}

TEST_F(HostileCoreTest, MemoryThatIsMissingOrOfAnotherRunIsSaidOnce) {
  const std::string core = Core({{0, 0x10000, kPage, {{1, 1}}}, {0, 0x20000, kPage, {{1, 0}}}});
  const auto expect = [&](const std::string& text) {
    const Dump dump = Read(core);
    EXPECT_EQ(dump.problems.size(), 1u);
    EXPECT_THAT(ProblemsOf(dump), HasSubstr(text));
    EXPECT_EQ(ByteAt(dump, 0x10000), -1);
    EXPECT_EQ(ByteAt(dump, 0x20000), 0);  // what is zero needs no file
  };
  WriteFile(folder_ / "memory", MemoryFileHeader("other") + std::string(kPage, 'x'));
  expect("is of run \"other\", this core of run \"r\"");
  WriteFile(folder_ / "memory", "packsmith memory of run r");
  expect("is of run \"\"");
  WriteFile(folder_ / "memory", "");
  expect("is of run \"\"");
  std::filesystem::remove(folder_ / "memory");
  expect("cannot open");
  std::filesystem::create_symlink("memory", folder_ / "memory");  // a loop
  expect("cannot open");
  std::filesystem::remove(folder_ / "memory");
  std::filesystem::create_directory(folder_ / "memory");
  expect("is not a regular file");
  std::filesystem::remove(folder_ / "memory");
  ASSERT_EQ(mkfifo((folder_ / "memory").c_str(), 0600), 0);  // which would block
  expect("is not a regular file");
  // From a pipe or from memory there is no folder.
  const absl::StatusOr<Dump> dump = ReadDump(BytesOf(core));
  ASSERT_TRUE(dump.ok());
  EXPECT_THAT(ProblemsOf(*dump), HasSubstr("in the file \"memory\" of the folder of this core"));
}

TEST_F(HostileCoreTest, AlteredBytesNeverCrash) {
  const std::string core =
      Core({{0, 0x10000, 4 * kPage, {{1, 1}, {2, 0}, {1, 2}}}, {0, 0x20000, 2 * kPage, {{2, 3}}}});
  std::mt19937 random(3);
  for (size_t at = 0; at < core.size(); ++at) {
    std::string altered = core;
    altered[at] = static_cast<char>(random());
    if (at % 3 == 0) altered.resize(at);
    WriteFile(folder_ / "000001.core", altered);
    const absl::StatusOr<Dump> dump = ReadDump(folder_ / "000001.core");
    if (!dump.ok()) continue;
    uint64_t sum = 0;
    for (const Memory::Segment& segment : dump->memory.segments()) {
      for (const uint8_t byte : segment.bytes) sum += byte;
    }
    EXPECT_LE(sum, uint64_t{64} * kPage * 255);
  }
}

}  // namespace
}  // namespace packsmith::capture
