#include "runtime/dump/elf_core.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/file.h"
#include "tests/dump/core_builder.h"

namespace packsmith {
namespace {

constexpr uint32_t kDevice = 0x50530001;
constexpr uint32_t kSubmission = 0x50530002;
constexpr uint32_t kBuffers = 0x50530003;
constexpr uint32_t kMemory = 0x50530004;
constexpr uint64_t kTop = std::numeric_limits<uint64_t>::max();

const char kSkylake[] =
    R"({"family": "intel", "pci_id": "0x1912", "platform": "skl", "verx10": 90, "driver": "anv"})";

std::string Path(const std::string& name) { return testing::TempDir() + "/" + name; }

Dump Read(std::string core) {
  absl::StatusOr<Dump> dump = ReadElfCore(BytesOf(std::move(core), "test.core"));
  EXPECT_TRUE(dump.ok()) << dump.status();
  return dump.ok() ? *std::move(dump) : Dump();
}

// All problems in one text, for messages and searches.
std::string Problems(const Dump& dump) {
  std::string all;
  for (const Problem& problem : dump.problems) {
    all += std::to_string(problem.offset) + ": " + problem.text + "\n";
  }
  return all;
}

testing::AssertionResult HasProblem(const Dump& dump, const std::string& text) {
  for (const Problem& problem : dump.problems) {
    if (problem.text.find(text) != std::string::npos) return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "no problem has the text \"" << text << "\":\n"
                                     << Problems(dump);
}

std::string BytesAt(const Dump& dump, uint32_t space, uint64_t address, size_t size) {
  std::string bytes(size, '?');
  const size_t copied = dump.memory.Copy(
      space, address, absl::MakeSpan(reinterpret_cast<uint8_t*>(bytes.data()), size));
  bytes.resize(copied);
  return bytes;
}

std::string Numbered(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i + 1);
  return bytes;
}

// A small but complete core: three notes, two segments.
CoreBuilder Small() {
  CoreBuilder core;
  core.Notes(
      CoreBuilder::Note(kDevice, kSkylake) +
      CoreBuilder::Note(kSubmission,
                        R"({"index": 0, "engine": "render", "context": 1, "slot": 2,
                                   "batch_address": "0x10000", "batch_length": 16})") +
      CoreBuilder::Note(kBuffers, R"([{"address": "0x10000", "size": 4096, "name": "batch"}])"));
  core.Load(0, 0x10000, Numbered(16), 4096);
  core.Load(1, 0x10000, Numbered(5), 5);
  return core;
}

size_t ResidentKb() {
  std::ifstream in("/proc/self/status");
  std::string word;
  while (in >> word) {
    if (word == "VmRSS:") {
      size_t kb = 0;
      in >> kb;
      return kb;
    }
  }
  return 0;
}

// ---- Good cores ----

TEST(ElfCoreTest, ReadsDeviceSubmissionBuffersAndMemory) {
  const Dump dump = Read(Small().Build());
  EXPECT_EQ(Problems(dump), "");
  EXPECT_EQ(dump.device.family, "intel");
  EXPECT_EQ(dump.device.generation, "gfx9");
  EXPECT_EQ(dump.device.platform, "skl");
  EXPECT_EQ(dump.device.driver, "anv");
  EXPECT_EQ(dump.device.pci_id, 0x1912u);
  EXPECT_EQ(dump.device.verx10, 90);
  ASSERT_EQ(dump.submissions.size(), 1u);
  EXPECT_EQ(dump.submissions[0].engine, "render");
  EXPECT_EQ(dump.submissions[0].context, 1u);
  EXPECT_EQ(dump.submissions[0].slot, 2u);
  EXPECT_EQ(dump.submissions[0].batch_address, 0x10000u);
  EXPECT_EQ(dump.submissions[0].batch_length, 16u);
  EXPECT_FALSE(dump.submissions[0].acthd.has_value());
  ASSERT_NE(dump.FindBuffer(0, 0x10fff), nullptr);
  EXPECT_EQ(dump.FindBuffer(0, 0x10fff)->name, "batch");
  EXPECT_EQ(BytesAt(dump, 0, 0x10000, 20), Numbered(16) + std::string(4, '\0'));
  EXPECT_EQ(BytesAt(dump, 1, 0x10000, 20), Numbered(5));
}

// Small() with a note of its memory.
Dump WithMemoryNote(const std::string& json, size_t lacks = 0) {
  CoreBuilder core = Small();
  core.Notes(CoreBuilder::Note(kMemory, json));
  core.Load(2, 0x10000, Numbered(8), 8);
  std::string bytes = core.Build();
  bytes.resize(bytes.size() - lacks);
  return Read(std::move(bytes));
}

TEST(ElfCoreTest, SaysWhetherItsMemoryIsAllThatJobsMayUse) {
  EXPECT_FALSE(Read(Small().Build()).memory_is_complete);
  EXPECT_TRUE(WithMemoryNote(R"({"complete": 1})").memory_is_complete);
  EXPECT_FALSE(WithMemoryNote(R"({"complete": 0})").memory_is_complete);
  EXPECT_FALSE(WithMemoryNote(R"({"later": {"complete": 1}})").memory_is_complete);
  const Dump wrong = WithMemoryNote(R"({"complete": []})");
  EXPECT_FALSE(wrong.memory_is_complete);
  EXPECT_TRUE(HasProblem(wrong, "\"complete\" is of the wrong kind"));
}

TEST(ElfCoreTest, SaysWhichSpaceHasPhysicalAddresses) {
  EXPECT_EQ(WithMemoryNote(R"({"complete": 1})").physical_space, std::nullopt);
  const Dump dump = WithMemoryNote(R"({"complete": 0, "physical": 7})");
  EXPECT_EQ(dump.physical_space, 7u);
  EXPECT_FALSE(dump.memory_is_complete);
}

TEST(ElfCoreTest, WhatIsDamagedIsNotComplete) {
  const Dump dump = WithMemoryNote(R"({"complete": 1})", 1);
  EXPECT_FALSE(dump.problems.empty());
  EXPECT_FALSE(dump.memory_is_complete);
}

TEST(ElfCoreTest, IntelsAddressesAreInOneForm) {
  CoreBuilder core;
  core.Notes(
      CoreBuilder::Note(kDevice, kSkylake) +
      CoreBuilder::Note(kSubmission,
                        R"({"batch_address": "0xffffffff00010000", "batch_length": 16,
                            "base_general state": "0xfffffffeeffe0000"})") +
      CoreBuilder::Note(kBuffers,
                        R"([{"address": "0xffffffff00010000", "size": 4096, "name": "batch"}])"));
  core.Load(0, 0xffff'ffff'0001'0000, Numbered(16), 4096);
  core.Load(0, 0x0012'3456'0001'0000, Numbered(5), 5);
  absl::StatusOr<Dump> read = ReadElfCore(BytesOf(core.Build()), CoreAddresses::kPlain);
  ASSERT_TRUE(read.ok()) << read.status();
  const Dump dump = *std::move(read);
  EXPECT_EQ(dump.submissions[0].batch_address, 0xffff'0001'0000u);
  ASSERT_EQ(dump.submissions[0].bases.size(), 1u);
  EXPECT_EQ(dump.submissions[0].bases[0].address, 0xfffe'effe'0000u);
  EXPECT_EQ(BytesAt(dump, 0, 0xffff'0001'0000, 16), Numbered(16));
  EXPECT_EQ(BytesAt(dump, 0, 0x0012'3456'0001'0000, 5), Numbered(5));
  ASSERT_NE(dump.FindBuffer(0, 0xffff'0001'0fff), nullptr);
}

TEST(ElfCoreTest, MemoryLivesAsLongAsTheDump) {
  Dump dump;
  {
    std::string core = Small().Build();
    dump = Read(std::move(core));
  }
  EXPECT_EQ(BytesAt(dump, 0, 0x10000, 4), Numbered(4));
}

TEST(ElfCoreTest, NumbersMayBeTextOrNumbers) {
  CoreBuilder core;
  core.Notes(CoreBuilder::Note(kDevice, R"({"pci_id": 6418, "verx10": "90"})") +
             CoreBuilder::Note(kSubmission,
                               R"({"batch_address": 65536, "batch_length": "0x10", "space": 3,
                                   "head": "0x8", "tail": 16, "acthd": "0xFFFF00001234",
                                   "ipehr": "0x7a000003", "stream": "vdm"})"));
  const Dump dump = Read(core.Build());
  EXPECT_EQ(Problems(dump), "");
  EXPECT_EQ(dump.device.pci_id, 6418u);
  EXPECT_EQ(dump.device.verx10, 90);
  ASSERT_EQ(dump.submissions.size(), 1u);
  const Submission& submission = dump.submissions[0];
  EXPECT_EQ(submission.batch_address, 65536u);
  EXPECT_EQ(submission.batch_length, 16u);
  EXPECT_EQ(submission.space, 3u);
  EXPECT_EQ(submission.head, 8u);
  EXPECT_EQ(submission.tail, 16u);
  EXPECT_EQ(submission.acthd, 0xffff00001234u);
  EXPECT_EQ(submission.ipehr, 0x7a000003u);
  EXPECT_EQ(submission.stream, "vdm");
}

TEST(ElfCoreTest, UnknownMembersNotesAndSegmentsAreSkipped) {
  CoreBuilder core;
  core.Notes(CoreBuilder::Note(1, "not ours", std::string("CORE\0", 5)) +
             CoreBuilder::Note(kDevice, R"({"later": [{"platform": "wrong"}], "platform": "skl",
                                            "more": {"platform": [1]}, "family": "intel"})") +
             CoreBuilder::Note(0x5053ffff, "{a later type}"));
  core.Load(0, 0, "x", 1).header.p_type = PT_LOPROC;
  const Dump dump = Read(core.Build());
  EXPECT_EQ(Problems(dump), "");
  EXPECT_EQ(dump.device.platform, "skl");
  EXPECT_TRUE(dump.memory.segments().empty());
}

TEST(ElfCoreTest, NotesMayBeAlignedToEight) {
  CoreBuilder core;
  const std::string owner("packsmith\0", 10);
  core.Notes(CoreBuilder::Note(kDevice, R"({"family":"intel","verx10":75})", owner, 8) +
                 CoreBuilder::Note(kSubmission, R"({"batch_address":4})", owner, 8),
             8);
  const Dump dump = Read(core.Build());
  EXPECT_EQ(Problems(dump), "");
  EXPECT_EQ(dump.device.generation, "gfx75");
  EXPECT_EQ(dump.submissions.size(), 1u);
}

TEST(ElfCoreTest, MachineNoneIsForFamiliesWithoutANumber) {
  CoreBuilder core = Small();
  core.ehdr.e_machine = EM_NONE;
  core.parts[0].content = CoreBuilder::Note(kDevice, R"({"family": "agx", "generation": "agx2"})");
  core.parts[0].header.p_filesz = core.parts[0].content.size();
  const Dump dump = Read(core.Build());
  EXPECT_EQ(Problems(dump), "");
  EXPECT_EQ(dump.device.family, "agx");
  EXPECT_EQ(dump.device.generation, "agx2");
}

// ---- Writing ----

Dump Sample(std::vector<uint8_t>& bytes) {
  bytes.resize(9000);
  std::iota(bytes.begin(), bytes.end(), uint8_t{1});
  Dump dump;
  dump.device = {"intel", "gfx125", "dg2", "iris \"q\" \x01", "i915", 0x56a0, 125};
  dump.submissions = {{.index = 0,
                       .engine = "render",
                       .context = 7,
                       .slot = 1,
                       .space = 2,
                       .batch_address = 0xffff'0000'1000,
                       .batch_length = 64},
                      {.index = 1,
                       .engine = "compute",
                       .batch_address = 0x2000,
                       .batch_length = 128,
                       .head = 1,
                       .tail = 2,
                       .acthd = 0xffff'ffff'ffff,
                       .ipehr = 0xdeadbeef,
                       .stream = "cdm"},
                      {.index = 2,
                       .engine = "render",
                       .space = 1,
                       .batch_address = 0x10ff0,
                       .batch_length = 32,
                       .kind = "ring",
                       .own_space = 3,
                       .ring = Submission::Ring{0x10000, 0x1000},
                       .bases = {{"programs", 0x1100000000}, {"dynamic state", 0}},
                       .unless_reached = true}};
  dump.memory_is_complete = true;
  dump.physical_space = 4;
  dump.buffers = {{0, 0x2000, 0x1000, "b"}, {2, 0xffff'0000'1000, 0x10000, "\xc3\xa9 a"}};
  const absl::Span<const uint8_t> all = bytes;
  EXPECT_TRUE(dump.memory.Map(0, 0x2000, all.subspan(0, 5000), 0x2000).ok());
  EXPECT_TRUE(dump.memory.Map(0, 0x8001, all.subspan(3, 3), 3).ok());
  EXPECT_TRUE(dump.memory.Map(2, 0xffff'0000'1000, all.subspan(100, 64), 0x10000).ok());
  EXPECT_TRUE(dump.memory.Map(3, kTop - 7, all.subspan(7, 8), 8).ok());
  EXPECT_TRUE(dump.memory.Map(4, 0, {}, uint64_t{1} << 47).ok());
  return dump;
}

TEST(WriteElfCoreTest, WhatIsWrittenIsRead) {
  std::vector<uint8_t> bytes;
  const Dump dump = Sample(bytes);
  const std::string path = Path("round.core");
  ASSERT_TRUE(WriteElfCore(dump, path).ok());
  absl::StatusOr<FileBytes> file = OpenFile(path);
  ASSERT_TRUE(file.ok());
  absl::StatusOr<Dump> read = ReadElfCore(*std::move(file));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(Problems(*read), "");
  EXPECT_EQ(read->device, dump.device);
  EXPECT_EQ(read->submissions, dump.submissions);
  EXPECT_EQ(read->buffers, dump.buffers);
  EXPECT_TRUE(read->memory_is_complete);
  EXPECT_EQ(read->physical_space, 4u);
  ASSERT_EQ(read->memory.segments().size(), dump.memory.segments().size());
  auto other = read->memory.segments().begin();
  for (const Memory::Segment& segment : dump.memory.segments()) {
    EXPECT_EQ(other->space, segment.space);
    EXPECT_EQ(other->address, segment.address);
    EXPECT_EQ(other->memory_size, segment.memory_size);
    ++other;
    const size_t size = std::min<uint64_t>(segment.memory_size, 20000);
    EXPECT_EQ(BytesAt(*read, segment.space, segment.address, size),
              BytesAt(dump, segment.space, segment.address, size));
  }
}

TEST(WriteElfCoreTest, WritingTwiceGivesTheSameBytes) {
  std::vector<uint8_t> bytes;
  const Dump dump = Sample(bytes);
  ASSERT_TRUE(WriteElfCore(dump, Path("a.core")).ok());
  const Dump again = [&] {
    absl::StatusOr<FileBytes> file = OpenFile(Path("a.core"));
    return *ReadElfCore(*std::move(file));
  }();
  ASSERT_TRUE(WriteElfCore(again, Path("b.core")).ok());
  const auto a = OpenFile(Path("a.core"));
  const auto b = OpenFile(Path("b.core"));
  EXPECT_EQ(a->bytes, b->bytes);
}

TEST(WriteElfCoreTest, ZerosAtTheEndAreNotStored) {
  std::vector<uint8_t> bytes(1 << 20, 0);
  bytes[0x4ffff] = 1;
  Dump dump;
  ASSERT_TRUE(dump.memory.Map(0, 0, bytes, bytes.size()).ok());
  const std::vector<uint8_t> zeros(1 << 20, 0);
  ASSERT_TRUE(dump.memory.Map(1, 0, zeros, zeros.size()).ok());
  ASSERT_TRUE(WriteElfCore(dump, Path("zeros.core")).ok());
  EXPECT_LT(std::filesystem::file_size(Path("zeros.core")), 0x50000u + 1024);
  absl::StatusOr<FileBytes> file = OpenFile(Path("zeros.core"));
  const Dump read = *ReadElfCore(*std::move(file));
  EXPECT_EQ(read.memory.Find(0, 0)->bytes.size(), 0x50000u);
  EXPECT_EQ(read.memory.Find(0, 0)->memory_size, bytes.size());
  EXPECT_EQ(BytesAt(read, 0, 0, bytes.size()), std::string(bytes.begin(), bytes.end()));
  EXPECT_EQ(BytesAt(read, 1, 0, zeros.size()), std::string(zeros.begin(), zeros.end()));
}

TEST(WriteElfCoreTest, MoreSegmentsThanSixteenBitsCountUsePnXnum) {
  for (const uint32_t count : {65533u, 65534u, 65535u, 70000u}) {
    std::vector<uint8_t> bytes(count * 4);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(1 + i % 251);
    Dump dump;
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_TRUE(
          dump.memory.Map(i % 5, i * 64, absl::MakeConstSpan(bytes).subspan(i * 4, 4), 4).ok());
    }
    ASSERT_TRUE(WriteElfCore(dump, Path("many.core")).ok());
    absl::StatusOr<FileBytes> file = OpenFile(Path("many.core"));
    Elf64_Ehdr header;
    std::memcpy(&header, file->bytes.data(), sizeof(header));
    EXPECT_EQ(header.e_phnum == PN_XNUM, count + 1 >= PN_XNUM) << count;
    const Dump read = *ReadElfCore(*std::move(file));
    EXPECT_EQ(Problems(read), "");
    ASSERT_EQ(read.memory.segments().size(), count);
    for (uint32_t i = 0; i < count; i += 997) {
      EXPECT_EQ(BytesAt(read, i % 5, i * 64, 5), std::string(&bytes[i * 4], &bytes[i * 4] + 4));
    }
  }
}

TEST(WriteElfCoreTest, ManyBuffersSpanSeveralNotes) {
  Dump dump;
  for (uint64_t i = 0; i < (1 << 16) + 3; ++i) dump.buffers.push_back({0, i * 16, 16, ""});
  ASSERT_TRUE(WriteElfCore(dump, Path("buffers.core")).ok());
  absl::StatusOr<FileBytes> file = OpenFile(Path("buffers.core"));
  const Dump read = *ReadElfCore(*std::move(file));
  EXPECT_EQ(read.buffers, dump.buffers);
}

TEST(WriteElfCoreTest, FailureLeavesNothing) {
  std::vector<uint8_t> bytes;
  const Dump dump = Sample(bytes);
  EXPECT_EQ(WriteElfCore(dump, Path("no/such/folder/x.core")).code(), absl::StatusCode::kNotFound);
}

// ---- Not a core ----

TEST(ElfCoreErrorTest, SaysWhereAndWhatToDo) {
  const auto message = [](std::string bytes) {
    const absl::StatusOr<Dump> dump = ReadElfCore(BytesOf(std::move(bytes), "f.core"));
    EXPECT_EQ(dump.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(dump.status().message());
  };
  EXPECT_EQ(message(""),
            "f.core, offset 0: no ELF magic (7f 45 4c 46); give a GPU core dump or name another "
            "format");
  EXPECT_NE(message("\x7f"
                    "ELF")
                .find("offset 4: the file ends within the ELF header"),
            std::string::npos);
  CoreBuilder core = Small();
  core.ehdr.e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_NE(message(core.Build()).find("64-bit little-endian"), std::string::npos);
  core = Small();
  core.ehdr.e_ident[EI_DATA] = ELFDATA2MSB;
  EXPECT_NE(message(core.Build()).find("64-bit little-endian"), std::string::npos);
  core = Small();
  core.ehdr.e_type = ET_EXEC;
  EXPECT_NE(message(core.Build()).find("offset 16: ELF type 2 is not ET_CORE"), std::string::npos);
}

// ---- Damage costs the damaged part only ----

TEST(HostileElfCoreTest, CutOffAtEveryByteYieldsTheRest) {
  const std::string whole = Small().Build();
  const Dump good = Read(whole);
  for (size_t size = 0; size < whole.size(); ++size) {
    const absl::StatusOr<Dump> dump = ReadElfCore(BytesOf(whole.substr(0, size)));
    ASSERT_EQ(dump.ok(), size >= sizeof(Elf64_Ehdr)) << size;
    if (!dump.ok()) continue;
    EXPECT_FALSE(dump->problems.empty()) << size;
    for (const Memory::Segment& segment : dump->memory.segments()) {
      const size_t length = std::min<uint64_t>(segment.memory_size, 5000);
      ASSERT_EQ(BytesAt(*dump, segment.space, segment.address, length),
                BytesAt(good, segment.space, segment.address, length))
          << size;
    }
  }
  // Without its last byte it lacks that byte, which is reported.
  const Dump last = Read(whole.substr(0, whole.size() - 1));
  EXPECT_EQ(BytesAt(last, 1, 0x10000, 5), Numbered(4));
  EXPECT_EQ(BytesAt(last, 0, 0x10000, 16), Numbered(16));
  EXPECT_TRUE(HasProblem(last, "of which the file has 0x4; the rest is unmapped"));
  EXPECT_EQ(last.submissions, good.submissions);
}

TEST(HostileElfCoreTest, MissingBytesAreUnmappedButTheZerosAfterThemAreKnown) {
  CoreBuilder core = Small();
  core.parts[2].header.p_filesz = 100;
  core.parts[2].header.p_memsz = 200;
  const Dump dump = Read(core.Build());
  EXPECT_EQ(BytesAt(dump, 1, 0x10000, 200), Numbered(5));
  EXPECT_EQ(dump.memory.Find(1, 0x10000 + 99), nullptr);
  EXPECT_EQ(BytesAt(dump, 1, 0x10000 + 100, 200), std::string(100, '\0'));
}

TEST(HostileElfCoreTest, ProgramHeadersOutsideTheFile) {
  for (const uint64_t offset : {uint64_t{1} << 20, kTop, kTop - 55, uint64_t{1} << 63}) {
    CoreBuilder core = Small();
    core.ehdr.e_phoff = offset;
    const Dump dump = Read(core.Build());
    EXPECT_TRUE(HasProblem(dump, "the file has room for 0"));
    EXPECT_TRUE(dump.memory.segments().empty());
  }
}

TEST(HostileElfCoreTest, MoreProgramHeadersThanTheFileHolds) {
  CoreBuilder core = Small();
  core.count_is_a_lie = true;
  core.ehdr.e_phnum = 60000;
  const Dump dump = Read(core.Build());
  EXPECT_TRUE(HasProblem(dump, "states 60000 program headers"));
  EXPECT_EQ(dump.submissions.size(), 1u);
  EXPECT_EQ(BytesAt(dump, 0, 0x10000, 16), Numbered(16));
}

TEST(HostileElfCoreTest, NoProgramHeadersOrHeadersTooSmall) {
  CoreBuilder none;
  EXPECT_TRUE(HasProblem(Read(none.Build()), "no program headers"));
  CoreBuilder small = Small();
  small.ehdr.e_phentsize = 32;
  EXPECT_TRUE(HasProblem(Read(small.Build()), "program headers of 32 bytes instead of 56"));
  small.ehdr.e_phentsize = 0;
  EXPECT_TRUE(HasProblem(Read(small.Build()), "program headers of 0 bytes"));
}

TEST(HostileElfCoreTest, PnXnumWithoutItsSectionHeader) {
  for (const uint64_t offset : {uint64_t{0}, uint64_t{1} << 40, kTop}) {
    CoreBuilder core = Small();
    core.count_is_a_lie = true;
    core.ehdr.e_phnum = PN_XNUM;
    core.ehdr.e_shoff = offset;
    const Dump dump = Read(core.Build());
    EXPECT_TRUE(HasProblem(dump, "section header 0"));
    EXPECT_EQ(BytesAt(dump, 0, 0x10000, 16), Numbered(16));
  }
}

TEST(HostileElfCoreTest, MoreBytesInTheFileThanInMemory) {
  CoreBuilder core = Small();
  core.parts[1].header.p_memsz = 7;
  const Dump dump = Read(core.Build());
  EXPECT_TRUE(HasProblem(dump, "0x10 bytes in the file for 0x7 of memory"));
  EXPECT_EQ(BytesAt(dump, 0, 0x10000, 20), Numbered(7));
}

TEST(HostileElfCoreTest, SizesThatWrapAreCutAtTheTop) {
  CoreBuilder core = Small();
  core.parts[1].header.p_vaddr = kTop - 3;
  core.parts[2].header.p_memsz = kTop;
  const Dump dump = Read(core.Build());
  EXPECT_TRUE(HasProblem(dump, "go past 2^64; cut there"));
  EXPECT_EQ(BytesAt(dump, 0, kTop - 3, 20), Numbered(4));
  EXPECT_EQ(dump.memory.Find(1, kTop)->address, 0x10000u);
}

TEST(HostileElfCoreTest, FileOffsetsThatWrap) {
  CoreBuilder core = Small();
  core.parts[1].keep_offset = true;
  core.parts[1].header.p_offset = kTop - 2;
  core.parts[0].keep_offset = true;
  core.parts[0].header.p_offset = kTop - 2;
  const Dump dump = Read(core.Build());
  EXPECT_TRUE(HasProblem(dump, "of which the file has 0x0"));
  EXPECT_EQ(dump.memory.Find(0, 0x10000), nullptr);
  EXPECT_NE(dump.memory.Find(0, 0x10010), nullptr);
}

TEST(HostileElfCoreTest, SpaceNumbersHave32Bits) {
  CoreBuilder core = Small();
  core.parts[1].header.p_paddr = uint64_t{1} << 32;
  const Dump dump = Read(core.Build());
  EXPECT_TRUE(HasProblem(dump, "the number of an address space must have 32 bits"));
  EXPECT_EQ(dump.memory.segments().size(), 1u);
}

TEST(HostileElfCoreTest, NoteSizesThatLie) {
  const std::string note = CoreBuilder::Note(kDevice, kSkylake);
  for (const uint32_t size : {0u, 5u, 200u, 0x7fffffffu, 0xfffffffcu, 0xffffffffu}) {
    for (const size_t where : {offsetof(Elf64_Nhdr, n_namesz), offsetof(Elf64_Nhdr, n_descsz)}) {
      std::string lie = note;
      std::memcpy(&lie[where], &size, sizeof(size));
      CoreBuilder core;
      core.Notes(lie);
      core.Load(0, 0x1000, "good", 4);
      const Dump dump = Read(core.Build());
      EXPECT_FALSE(dump.problems.empty());
      EXPECT_EQ(BytesAt(dump, 0, 0x1000, 4), "good");
    }
  }
}

TEST(HostileElfCoreTest, ANoteThatBreaksOffYieldsWhatComesBefore) {
  CoreBuilder core;
  core.Notes(CoreBuilder::Note(kDevice, R"({"family": "intel", "platform": "skl", "verx)") +
             CoreBuilder::Note(kSubmission, R"({"engine": "render", "batch_address": "0x1000", )") +
             CoreBuilder::Note(kBuffers, R"([{"address": 1, "size": 2}, {"address": 3, "si)"));
  const Dump dump = Read(core.Build());
  EXPECT_EQ(dump.device.platform, "skl");
  ASSERT_EQ(dump.submissions.size(), 1u);
  EXPECT_EQ(dump.submissions[0].batch_address, 0x1000u);
  ASSERT_EQ(dump.buffers.size(), 1u);
  EXPECT_EQ(dump.buffers[0].address, 1u);
  EXPECT_TRUE(HasProblem(dump, "The part before this was used"));
  EXPECT_TRUE(HasProblem(dump, "a buffer without address or size"));
}

TEST(HostileElfCoreTest, MembersOfTheWrongKindAreNamed) {
  CoreBuilder core;
  core.Notes(CoreBuilder::Note(kDevice, R"({"family": 5, "verx10": -1, "pci_id": "0x123456789",
                                            "platform": ["a"], "driver": {"b": 1}})") +
             CoreBuilder::Note(kSubmission, R"({"batch_address": "12zz", "slot": 1.5, "index": null,
                                                "tail": 18446744073709551616, "head": ""})") +
             CoreBuilder::Note(kBuffers, R"([5, "x", {"address": 1, "size": true}])") +
             CoreBuilder::Note(kBuffers, "17"));
  const Dump dump = Read(core.Build());
  for (const char* name : {"family", "verx10", "pci_id", "platform", "driver", "batch_address",
                           "slot", "index", "tail", "head", "size"}) {
    EXPECT_TRUE(HasProblem(dump, "\"" + std::string(name) + "\" is of the wrong kind"));
  }
  EXPECT_TRUE(HasProblem(dump, "a submission without batch_address"));
  EXPECT_TRUE(HasProblem(dump, "a value instead of an object"));
  EXPECT_EQ(dump.device.family, "intel");  // from the machine
  EXPECT_TRUE(dump.buffers.empty());
}

TEST(HostileElfCoreTest, DeeplyNestedNotesDoNotUseTheStack) {
  CoreBuilder core;
  core.Notes(
      CoreBuilder::Note(kBuffers, std::string(2'000'000, '[')) +
      CoreBuilder::Note(kDevice, R"({"platform": "skl", "x": )" + std::string(1'000'000, '[')));
  const Dump dump = Read(core.Build());
  EXPECT_TRUE(HasProblem(dump, "Nested too deep"));
  EXPECT_EQ(dump.device.platform, "skl");
}

TEST(HostileElfCoreTest, NamesThatAreNoUtf8AreMadeValid) {
  CoreBuilder core;
  core.Notes(CoreBuilder::Note(kBuffers, "[{\"address\": 1, \"size\": 1, \"name\": \"a\xff\"}]"));
  const Dump dump = Read(core.Build());
  ASSERT_EQ(dump.buffers.size(), 1u);
  EXPECT_EQ(dump.buffers[0].name, "a\xef\xbf\xbd");
}

TEST(HostileElfCoreTest, ASecondDeviceDoesNotReplaceTheFirst) {
  CoreBuilder core;
  core.Notes(CoreBuilder::Note(kDevice, R"({"platform": "skl"})") +
             CoreBuilder::Note(kDevice, R"({"platform": "dg2"})"));
  const Dump dump = Read(core.Build());
  EXPECT_EQ(dump.device.platform, "skl");
  EXPECT_TRUE(HasProblem(dump, "a second device note"));
}

TEST(HostileElfCoreTest, AProcessCoreReadsButIsDoubted) {
  CoreBuilder core;
  core.ehdr.e_machine = EM_X86_64;
  core.Load(0, 0x1000, "data", 4);
  const Dump dump = Read(core.Build());
  EXPECT_TRUE(HasProblem(dump, "machine 62 is not a known GPU"));
  EXPECT_TRUE(HasProblem(dump, "no packsmith notes"));
}

TEST(HostileElfCoreTest, NotesNamedManyTimesAreReadOnce) {
  std::string buffers = "[";
  for (int i = 0; i < 20000; ++i) buffers += R"({"address":1,"size":1},)";
  buffers += R"({"address":1,"size":1}])";
  CoreBuilder core;
  core.Notes(CoreBuilder::Note(kBuffers, buffers));
  const uint64_t offset = sizeof(Elf64_Ehdr) + 20000 * sizeof(Elf64_Phdr);
  for (int i = 1; i < 20000; ++i) {
    CoreBuilder::Part& part = core.Notes("");
    part.header.p_filesz = core.parts[0].header.p_filesz;
    part.header.p_offset = offset;
    part.keep_offset = true;
  }
  const Dump dump = Read(core.Build());
  EXPECT_LT(dump.buffers.size(), 200'000u);
  EXPECT_TRUE(HasProblem(dump, "these notes overlap others"));
}

TEST(HostileElfCoreTest, ProblemsAreBounded) {
  CoreBuilder core;
  for (int i = 0; i < 5000; ++i) core.Load(0, 0x1000, "x", 1);
  const Dump dump = Read(core.Build());
  EXPECT_EQ(dump.problems.size(), Dump::kMaxProblems + 1);
  EXPECT_TRUE(HasProblem(dump, "further problems are not listed"));
}

// ---- Overlaps ----

TEST(OverlapTest, TheFirstInTheFileWins) {
  CoreBuilder core;
  core.Load(0, 0x1004, "bbbb", 4);
  core.Load(0, 0x1000, "aaaaaaaaaaaa", 16);
  core.Load(0, 0x1006, "cccccccccccccccc", 16);
  core.Load(1, 0x1006, "d", 1);
  const Dump dump = Read(core.Build());
  EXPECT_EQ(BytesAt(dump, 0, 0x1000, 99),
            "aaaabbbbaaaa" + std::string(4, '\0') + std::string("cccccc"));
  EXPECT_EQ(BytesAt(dump, 1, 0x1006, 9), "d");
  EXPECT_TRUE(HasProblem(dump, "the segment 0x1000..0x100f overlaps"));
  EXPECT_TRUE(HasProblem(dump, "0xa bytes were left out"));
}

TEST(OverlapTest, UpToTheTopOfTheAddressSpace) {
  CoreBuilder core;
  core.Load(0, kTop - 3, "aaaa", 4);
  core.Load(0, kTop - 5, "bbbbbb", 6);
  core.Load(0, 0, "c", kTop);
  const Dump dump = Read(core.Build());
  EXPECT_EQ(BytesAt(dump, 0, kTop - 5, 9), "bbaaaa");
  EXPECT_EQ(BytesAt(dump, 0, 0, 2), std::string("c\0", 2));
  EXPECT_EQ(dump.memory.Find(0, 0)->last(), kTop - 6);
}

TEST(OverlapTest, AgreesWithWritingByteByByte) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    CoreBuilder core;
    std::string expected(128, '\xff');
    std::vector<bool> known(128, false);
    const int count = 1 + static_cast<int>(random() % 8);
    for (int i = 0; i < count; ++i) {
      const uint64_t address = random() % 64;
      const uint64_t size = 1 + random() % 60;
      const uint64_t stored = random() % (size + 1);
      const char letter = static_cast<char>('a' + i);
      core.Load(0, address, std::string(stored, letter), size);
      for (uint64_t at = address; at < address + size; ++at) {
        if (known[at]) continue;
        known[at] = true;
        expected[at] = at - address < stored ? letter : '\0';
      }
    }
    const Dump dump = Read(core.Build());
    for (uint64_t at = 0; at < 128; ++at) {
      ASSERT_EQ(dump.memory.Read(0, at, 1).empty(), !known[at]) << round << " " << at;
      if (known[at]) {
        ASSERT_EQ(static_cast<char>(dump.memory.Read(0, at, 1)[0]), expected[at]);
      }
    }
  }
}

TEST(OverlapTest, HundredThousandNestedSegmentsAreNotQuadratic) {
  constexpr uint32_t kCount = 100'000;
  Elf64_Ehdr ehdr = CoreBuilder().ehdr;
  ehdr.e_phnum = PN_XNUM;
  ehdr.e_shoff = sizeof(ehdr);
  ehdr.e_phoff = sizeof(ehdr) + sizeof(Elf64_Shdr);
  Elf64_Shdr section = {};
  section.sh_info = kCount;
  std::string core(reinterpret_cast<const char*>(&ehdr), sizeof(ehdr));
  core.append(reinterpret_cast<const char*>(&section), sizeof(section));
  for (uint32_t i = 0; i < kCount; ++i) {
    // Each encloses all before it.
    Elf64_Phdr load = {};
    load.p_type = PT_LOAD;
    load.p_vaddr = kCount - i;
    load.p_memsz = 2 * i + 1;
    core.append(reinterpret_cast<const char*>(&load), sizeof(load));
  }
  const auto start = std::chrono::steady_clock::now();
  const Dump dump = Read(std::move(core));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(dump.memory.segments().size(), 2 * kCount - 1);
}

// ---- Scale ----

TEST(ScaleTest, ASparseCoreOfTwoGigabytesOpensInLittleMemory) {
  constexpr uint64_t kSize = uint64_t{2} << 30;
  CoreBuilder core = Small();
  core.Load(0, uint64_t{1} << 40, "", kSize);
  core.parts.back().header.p_filesz = kSize - 4096;
  const std::string head = core.Build();
  const std::string path = Path("sparse.core");
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(write(fd, head.data(), head.size()), static_cast<ssize_t>(head.size()));
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(head.size() + kSize)), 0);
  const uint64_t last = head.size() + kSize - 4096 - 1;
  ASSERT_EQ(pwrite(fd, "!", 1, static_cast<off_t>(last)), 1);
  close(fd);

  const size_t before = ResidentKb();
  absl::StatusOr<FileBytes> file = OpenFile(path);
  ASSERT_TRUE(file.ok()) << file.status();
  absl::StatusOr<Dump> dump = ReadElfCore(*std::move(file));
  ASSERT_TRUE(dump.ok()) << dump.status();
  EXPECT_EQ(Problems(*dump), "");
  EXPECT_EQ(BytesAt(*dump, 0, (uint64_t{1} << 40) + kSize - 4096 - 1, 4),
            std::string("!\0\0\0", 4));
  EXPECT_LT(ResidentKb() - before, 8192u);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace packsmith
