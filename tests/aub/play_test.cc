// Recordings made by hand, word by word: page tables of every form, submissions to every kind of
// engine, memory that changes between submissions, and damage.

#include "runtime/aub/play.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "tests/dump/aub_builder.h"
#include "tests/fuzz/touch_dump.h"

namespace packsmith {
namespace {

// Address spaces of writes.
constexpr uint32_t kGlobal = 0, kDevice = 1, kSystem = 2, kEntries = 4;
// In the global space: images of two contexts, two rings.
constexpr uint64_t kImage = 0x10000, kOther = 0x14000, kRing = 0x20000, kOtherRing = 0x22000;
constexpr uint32_t kRender = 0x2000, kBlitter = 0x22000;
constexpr uint64_t kRoot = 0x100000;  // of page tables

// A recording of one generation, in the making.
class Recording {
 public:
  explicit Recording(std::string generation) : generation_(std::move(generation)) {
    bytes_ = TraceVersion("by hand");
    // 64 pages of the global space, at physical 16 MiB.
    for (uint64_t page = 0x10; page < 0x50; ++page) {
      Write(kEntries, page * 8, Long((0x1000000 + page * 4096) | 1));
    }
  }

  Recording& Add(const std::string& packets) {
    bytes_ += packets;
    return *this;
  }
  Recording& Write(uint32_t space, uint64_t address, const std::string& data, uint32_t flags = 0) {
    return Add(TraceWrite(space, address, data, flags));
  }

  // Maps one page through four tables, at kRoot and three pages after it; `leaf` is the entry.
  Recording& MapPage(uint64_t address, uint64_t leaf, uint64_t root = kRoot) {
    for (int level = 3; level > 0; --level) {
      const uint64_t next = root + 4096;
      Write(kSystem, root + Index(address, level), Long(next | 3));
      root = next;
    }
    return Write(kSystem, root + Index(address, 0), Long(leaf));
  }
  // In bytes from the start of its table.
  static uint64_t Index(uint64_t address, int level) {
    return (address >> (12 + 9 * level) & 511) * 8;
  }

  // The context's image: registers of its ring and its page tables.
  Recording& Image(uint64_t image, uint32_t base, uint64_t ring, uint32_t head, uint32_t tail,
                   const std::vector<uint64_t>& roots = {kRoot}, uint32_t pages = 1) {
    std::vector<std::pair<uint32_t, uint32_t>> registers = {
        {base + 0x244, 0x90009},
        {base + 0x34, head},
        {base + 0x30, tail},
        {base + 0x38, static_cast<uint32_t>(ring)},
        {base + 0x3c, (pages - 1) << 12 | 1}};
    for (uint32_t i = 0; i < roots.size(); ++i) {
      registers.emplace_back(base + 0x270 + 8 * i, static_cast<uint32_t>(roots[i]));
      registers.emplace_back(base + 0x274 + 8 * i, static_cast<uint32_t>(roots[i] >> 32));
    }
    std::string list = WordsOf({0, static_cast<uint32_t>(0x11001000 | (2 * registers.size() - 1))});
    for (const auto& [offset, value] : registers) list += WordsOf({offset, value});
    return Write(kGlobal, image + 4096, list + Word(0x05000000));
  }

  static std::string Start(uint64_t address) { return Word(0x18800101) + Long(address) + Word(0); }

  static uint64_t Descriptor(uint64_t image, uint32_t mode = 3) {
    return image | 0x100 | mode << 3 | 1;
  }
  // Gfx8 to Gfx10.
  Recording& Port(uint32_t base, uint64_t first, uint64_t second = 0) {
    for (const uint64_t descriptor : {second, first}) {
      Add(TraceRegister(base + 0x230, static_cast<uint32_t>(descriptor >> 32)));
      Add(TraceRegister(base + 0x230, static_cast<uint32_t>(descriptor)));
    }
    return *this;
  }
  // Gfx11 and later.
  Recording& Queue(uint32_t base, const std::vector<uint64_t>& descriptors) {
    for (uint32_t i = 0; i < 8; ++i) {
      const uint64_t one = i < descriptors.size() ? descriptors[i] : 0;
      Add(TraceRegister(base + 0x510 + 8 * i, static_cast<uint32_t>(one)));
      Add(TraceRegister(base + 0x514 + 8 * i, static_cast<uint32_t>(one >> 32)));
    }
    return Add(TraceRegister(base + 0x550, 1));
  }
  // A context of render with a batch at `address`, submitted at once.
  Recording& Run(uint64_t address) {
    Write(kGlobal, kRing, Start(address)).Image(kImage, kRender, kRing, 0, 16);
    if (generation_ == "gfx8" || generation_ == "gfx9") return Port(kRender, Descriptor(kImage));
    return Queue(kRender, {Descriptor(kImage)});
  }

  const std::string& bytes() const { return bytes_; }

  Dump Play(const aub::PlayOptions& options = {}) const {
    RawOptions raw;
    raw.generation = generation_;
    absl::StatusOr<Dump> dump = ReadDump(BytesOf(bytes_, "run.aub"), raw);
    EXPECT_TRUE(dump.ok()) << dump.status();
    if (!dump.ok()) return Dump();
    aub::Play(*FindGeneration(generation_), *dump, options);
    TouchDump(*dump);
    return *std::move(dump);
  }

 private:
  const std::string generation_;
  std::string bytes_;
};

std::string TextAt(const Dump& dump, uint32_t space, uint64_t address, size_t size) {
  std::vector<uint8_t> bytes(size);
  bytes.resize(dump.memory.Copy(space, address, absl::MakeSpan(bytes)));
  return std::string(bytes.begin(), bytes.end());
}

std::string Problems(const Dump& dump) {
  std::string text;
  for (const Problem& problem : dump.problems) {
    absl::StrAppend(&text, problem.offset, ": ", problem.text, "\n");
  }
  return text;
}

// --- Page tables ---

TEST(Play, FourLevelsMapAPageWhateverItsAttributeBitsAre) {
  Recording recording("gfx12");
  // Bits 62 and 63, and those below the address.
  recording.MapPage(0x7fff'ffff'f000, 0xe000'0000'0050'009f);
  recording.Write(kSystem, 0x500000, "batch").Run(0x7fff'ffff'f000);
  const Dump dump = recording.Play();
  EXPECT_EQ(Problems(dump), "");
  ASSERT_EQ(dump.submissions.size(), 1u);
  EXPECT_EQ(dump.submissions[0].batch_address, 0x7fff'ffff'f000u);
  EXPECT_EQ(dump.submissions[0].space, 0u);
  EXPECT_EQ(TextAt(dump, 0, 0x7fff'ffff'f000, 5), "batch");
  EXPECT_EQ(dump.memory.Read(0, 0x7fff'ffff'e000, 1).size(), 0u);
}

TEST(Play, AddressesAboveTheHalfAreInThePlainForm) {
  Recording recording("gfx9");
  recording.MapPage(0xffff'ffff'0000 & 0xffff'ffff'f000, 0x500003);
  recording.Write(kSystem, 0x500000, "batch").Run(0xffff'ffff'ffff'0000);
  const Dump dump = recording.Play();
  EXPECT_EQ(dump.submissions.at(0).batch_address, 0xffff'ffff'0000u);
  EXPECT_EQ(TextAt(dump, 0, 0xffff'ffff'0000, 5), "batch");
}

TEST(Play, PagesOf2MiBAnd64KiBHaveAllTheirBytes) {
  Recording recording("gfx125");
  const uint64_t kLarge = 0x40000000, kHuge = 0x40200000;
  // 64 KiB: the table of the last level has an entry for each of them.
  recording.MapPage(kLarge, 0);
  recording.Write(kSystem, kRoot + 0x2000 + Recording::Index(kLarge, 1), Long(0x103003 | 1 << 6));
  recording.Write(kSystem, kRoot + 0x3000 + 2 * 8, Long(0x510003));
  recording.Write(kSystem, kRoot + 0x2000 + Recording::Index(kHuge, 1), Long(0x600003 | 1 << 7));
  recording.Write(kSystem, 0x51f000, "last of 64 KiB").Write(kSystem, 0x7ff000, "last of 2 MiB");
  const Dump dump = recording.Run(kLarge).Play();
  EXPECT_EQ(TextAt(dump, 0, kLarge + 0x20000 + 0xf000, 14), "last of 64 KiB");
  EXPECT_EQ(TextAt(dump, 0, kHuge + 0x1ff000, 13), "last of 2 MiB");
}

TEST(Play, SixteenEntriesOrEverySixteenthAreAPageOf64KiB) {
  Recording parts("gfx125");
  for (uint64_t i = 0; i < 16; ++i) {
    parts.MapPage(0x10000 + i * 4096, (0x510000 + i * 4096) | 3 | 1 << 8);
  }
  parts.Write(kSystem, 0x51f000, "last").Run(0x10000);
  EXPECT_EQ(TextAt(parts.Play(), 0, 0x1f000, 4), "last");
  Recording sparse("gfx9");
  sparse.MapPage(0x10000, 0x510003);
  sparse.Write(kSystem, kRoot + 0x2000, Long(0x103003 | 1 << 11));
  sparse.Write(kSystem, 0x51f000, "last").Run(0x10000);
  EXPECT_EQ(TextAt(sparse.Play(), 0, 0x1f000, 4), "last");
}

TEST(Play, NullPagesAreZerosAndMissingPagesAreUnmapped) {
  Recording recording("gfx12");
  recording.MapPage(0x1000, 0x900003 | 1 << 9).MapPage(0x2000, 0x900003).Run(0x1000);
  const Dump dump = recording.Play();
  EXPECT_EQ(TextAt(dump, 0, 0x1000, 0x2000), std::string(4096, '\0'));
}

TEST(Play, PagesOfLocalMemoryAreApartFromThoseOfTheSystem) {
  Recording recording("gfx125");
  recording.MapPage(0x1000, 0x500003).MapPage(0x2000, 0x500003 | 1 << 11);
  recording.Write(kSystem, 0x500000, "system").Write(kDevice, 0x500000, "device").Run(0x1000);
  const Dump dump = recording.Play();
  EXPECT_EQ(TextAt(dump, 0, 0x1000, 6), "system");
  EXPECT_EQ(TextAt(dump, 0, 0x2000, 6), "device");
}

TEST(Play, PageTablesMayBeInLocalMemory) {
  Recording recording("gfx125");
  // Other bytes are at the same addresses of the system; a hint says that these are tables.
  for (uint64_t at = 0; at < 4; ++at) {
    const uint64_t entry = at == 3 ? 0x500803 : (kRoot + (at + 1) * 4096) | 3 | 1 << 11;
    recording.Write(kSystem, kRoot + at * 4096, std::string(4096, '\0'));
    recording.Write(kDevice, kRoot + at * 4096 + (at == 3 ? 8 : 0), Long(entry),
                    static_cast<uint32_t>(68 - at) << 20);
  }
  recording.Write(kDevice, 0x500000, "device").Run(0x1000);
  EXPECT_EQ(TextAt(recording.Play(), 0, 0x1000, 6), "device");
}

TEST(Play, EntriesOfTablesMayHaveSpacesOfTheirOwn) {
  Recording recording("gfx9");
  const uint32_t kLevels[] = {10, 8, 9, 6};
  for (uint64_t at = 0; at < 4; ++at) {
    const uint64_t entry = at == 3 ? 0x500003 : (kRoot + (at + 1) * 4096) | 3;
    recording.Write(kLevels[at], kRoot + at * 4096 + (at == 3 ? 8 : 0), Long(entry));
  }
  recording.Write(kSystem, 0x500000, "batch").Run(0x1000);
  EXPECT_EQ(TextAt(recording.Play(), 0, 0x1000, 5), "batch");
}

TEST(Play, FiveLevelsMap57BitsIfTheWriterNamesThem) {
  Recording recording("xe2");
  // Two addresses: one above 48 bits, and one that has 48 bits, repeated above.
  for (const uint64_t address : {uint64_t{0x023'4567'8912'3000}, uint64_t{0x1ff'ffff'ffff'f000}}) {
    uint64_t table = kRoot;
    for (uint32_t level = 4; level > 0; --level) {
      const uint64_t next = table + 4096 + (level == 4 ? address >> 56 << 20 : 0);
      recording.Write(kSystem, table + Recording::Index(address, static_cast<int>(level)),
                      Long(next | 3), (65 + level) << 20);
      table = next;
    }
    recording.Write(kSystem, table + Recording::Index(address, 0), Long(0x500003), 65 << 20);
  }
  recording.Write(kSystem, 0x500000, "batch").Run(0xffff'ffff'ffff'f000);
  const Dump dump = recording.Play();
  EXPECT_EQ(Problems(dump), "");
  EXPECT_EQ(dump.submissions.at(0).batch_address, 0xffff'ffff'f000u);
  EXPECT_EQ(TextAt(dump, 0, 0xffff'ffff'f000, 5), "batch");
  EXPECT_EQ(TextAt(dump, 0, 0x023'4567'8912'3000, 5), "batch");
}

TEST(Play, AContextOf32BitsHasFourDirectories) {
  Recording recording("gfx9");
  // The second one: addresses from 1 GiB on.
  recording.Write(kSystem, 0x200000, Long(0x201003)).Write(kSystem, 0x201008, Long(0x500003));
  recording.Write(kSystem, 0x500000, "batch");
  recording.Write(kGlobal, kRing, Recording::Start(0x40001000));
  recording.Image(kImage, kRender, kRing, 0, 16, {0x300000, 0x200000, 0x300000, 0x300000});
  recording.Write(kSystem, 0x300000, std::string(4096, '\0'));
  recording.Port(kRender, Recording::Descriptor(kImage, 1));
  const Dump dump = recording.Play();
  EXPECT_EQ(Problems(dump), "");
  EXPECT_EQ(TextAt(dump, 0, 0x40001000, 5), "batch");
}

TEST(Play, TablesThatContainThemselvesEnd) {
  Recording recording("gfx9");
  std::string table;
  for (int i = 0; i < 512; ++i) table += Long(kRoot | 3);
  recording.Write(kSystem, kRoot, table).Run(0x1000);
  const Dump dump = recording.Play();
  EXPECT_EQ(dump.submissions.size(), 1u);
  EXPECT_TRUE(absl::StrContains(Problems(dump), "512 contain themselves")) << Problems(dump);
}

TEST(Play, TablesThatMapMoreThanTheFileCanFillAreCut) {
  Recording recording("gfx9");
  // 2^36 pages in four tables, all the same one.
  for (uint64_t level = 0; level < 4; ++level) {
    std::string table;
    for (int i = 0; i < 512; ++i) table += Long((kRoot + (level + 1) * 4096) | 3);
    recording.Write(kSystem, kRoot + level * 4096, table);
  }
  recording.Write(kSystem, kRoot + 4 * 4096, "page").Run(0);
  const Dump dump = recording.Play();
  EXPECT_EQ(dump.submissions.size(), 1u);
  EXPECT_TRUE(absl::StrContains(Problems(dump), "map more than a file of this size can fill"))
      << Problems(dump);
  EXPECT_LT(dump.memory.segments().size(), 200'000u);
}

// --- Submissions ---

TEST(Play, BothElementsOfThePortAndAllSlotsOfTheQueueAreExecuted) {
  const auto with = [](const std::string& generation) {
    Recording recording(generation);
    recording.MapPage(0x1000, 0x500003).Write(kSystem, 0x500000, "batch");
    recording.Write(kGlobal, kRing, Recording::Start(0x1000));
    recording.Write(kGlobal, kOtherRing, Recording::Start(0x1008));
    recording.Image(kImage, kRender, kRing, 0, 16).Image(kOther, kRender, kOtherRing, 0, 16);
    return recording;
  };
  Recording port = with("gfx9");
  port.Port(kRender, Recording::Descriptor(kImage), Recording::Descriptor(kOther));
  Recording queue = with("gfx12");
  queue.Queue(kRender,
              {0, 0, 0, 0, 0, 0, Recording::Descriptor(kImage), Recording::Descriptor(kOther)});
  for (const Recording* recording : {&port, &queue}) {
    const Dump dump = recording->Play();
    EXPECT_EQ(Problems(dump), "");
    ASSERT_EQ(dump.submissions.size(), 2u);
    EXPECT_EQ(dump.submissions[0].batch_address, 0x1000u);
    EXPECT_EQ(dump.submissions[1].batch_address, 0x1008u);
    EXPECT_EQ(dump.submissions[1].context, 0u);
    EXPECT_EQ(dump.submissions[1].slot, 1u);
    EXPECT_EQ(dump.submissions[1].space, 0u);
  }
}

TEST(Play, EnginesAreKnownByTheirRegisters) {
  struct Case {
    const char* generation;
    uint32_t base;
    const char* engine;
  };
  for (const Case& one : std::vector<Case>{{"gfx8", kBlitter, "blitter"},
                                           {"gfx9", 0x12000, "video"},
                                           {"gfx9", 0x1c000, "vcs1"},
                                           {"gfx9", 0x1a000, "video-enhance"},
                                           {"gfx12", 0x1c0000, "video"},
                                           {"gfx12", 0x1c4000, "vcs1"},
                                           {"gfx12", 0x12000, "video"},
                                           {"gfx125", 0x1a000, "compute"},
                                           {"gfx125", 0x26000, "ccs3"},
                                           {"gfx125", 0x1002000, "render:1"},
                                           {"gfx125", 0x3e0000, "bcs1"}}) {
    SCOPED_TRACE(absl::StrFormat("%s 0x%x", one.generation, one.base));
    Recording recording(one.generation);
    recording.MapPage(0x1000, 0x500003).Write(kSystem, 0x500000, "batch");
    recording.Write(kGlobal, kRing, Recording::Start(0x1000));
    recording.Image(kImage, one.base, kRing, 0, 16);
    if (std::string(one.generation) == "gfx8" || std::string(one.generation) == "gfx9") {
      recording.Port(one.base, Recording::Descriptor(kImage));
    } else {
      recording.Queue(one.base, {Recording::Descriptor(kImage)});
    }
    const Dump dump = recording.Play();
    EXPECT_EQ(Problems(dump), "");
    ASSERT_EQ(dump.submissions.size(), 1u);
    EXPECT_EQ(dump.submissions[0].engine, one.engine);
    EXPECT_EQ(dump.submissions[0].batch_address, 0x1000u);
  }
}

TEST(Play, AnUnknownEngineIsReportedAndDecodedAsRender) {
  Recording recording("gfx9");
  recording.MapPage(0x1000, 0x500003).Image(kImage, 0x30000, kRing, 0, 16);
  recording.Write(kGlobal, kRing, Recording::Start(0x1000));
  recording.Port(0x30000, Recording::Descriptor(kImage));
  const Dump dump = recording.Play();
  EXPECT_EQ(dump.submissions.at(0).engine, "render");
  EXPECT_TRUE(absl::StrContains(Problems(dump), "unknown engine, whose registers are at 0x30000"));
}

TEST(Play, ARingContinuesWhereTheEngineHasStopped) {
  Recording recording("gfx9");
  recording.MapPage(0x1000, 0x500003).Write(kSystem, 0x500000, "batch").Run(0x1000);
  // The driver moves only the tail.
  recording.Write(kGlobal, kRing + 16, Recording::Start(0x1008));
  recording.Write(kGlobal, kImage + 4096 + 7 * 4, Word(32));
  recording.Port(kRender, Recording::Descriptor(kImage));
  // Nothing new.
  recording.Port(kRender, Recording::Descriptor(kImage));
  const Dump dump = recording.Play();
  EXPECT_EQ(Problems(dump), "");
  ASSERT_EQ(dump.submissions.size(), 2u);
  EXPECT_EQ(dump.submissions[1].batch_address, 0x1008u);
}

TEST(Play, ARingWithOtherCommandsIsAPieceOfTheRing) {
  Recording recording("gfx9");
  recording.MapPage(0x1000, 0x500003).Write(kSystem, 0x500000, "batch");
  // A register load, then the batch, around the ring's end.
  const std::string load = WordsOf({0x11000001, 0x2244, 0x90008, 0});
  recording.Write(kGlobal, kRing + 0x1ff0, load).Write(kGlobal, kRing, Recording::Start(0x1000));
  recording.Image(kImage, kRender, kRing, 0x1ff0, 16, {kRoot}, 2);
  recording.Port(kRender, Recording::Descriptor(kImage));
  const Dump dump = recording.Play();
  EXPECT_EQ(Problems(dump), "");
  ASSERT_EQ(dump.submissions.size(), 1u);
  const Submission& ring = dump.submissions[0];
  EXPECT_EQ(ring.kind, "ring");
  EXPECT_EQ(ring.space, kGlobalSpace);
  EXPECT_EQ(ring.own_space, 0u);
  EXPECT_EQ(ring.batch_address, kRing + 0x1ff0);
  EXPECT_EQ(ring.batch_length, 32u);
  EXPECT_EQ(ring.ring, (Submission::Ring{kRing, 0x2000}));
  EXPECT_EQ(TextAt(dump, 1, kRing + 0x1ff0, 16), load);
}

TEST(Play, APieceOfARingThatIsOverwrittenLaterKeepsItsCommands) {
  Recording recording("gfx9");
  recording.MapPage(0x1000, 0x500003);
  for (const uint32_t value : {1u, 2u}) {
    recording.Write(kGlobal, kRing, WordsOf({0x11000001, 0x2244, value, 0}));
    recording.Image(kImage, kRender, kRing, 0, 16);
    recording.Port(kRender, Recording::Descriptor(kImage));
  }
  const Dump dump = recording.Play();
  ASSERT_EQ(dump.submissions.size(), 2u);
  EXPECT_EQ(dump.submissions[1].space, kGlobalSpace);
  EXPECT_NE(dump.submissions[0].space, kGlobalSpace);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(TextAt(dump, dump.submissions[i].space, kRing + 8, 4),
              Word(static_cast<uint32_t>(i) + 1));
  }
}

TEST(Play, AWrongSizeOfARingDoesNotMatterUntilItWraps) {
  Recording recording("gfx9");
  recording.MapPage(0x1000, 0x500003).Write(kGlobal, kRing, Recording::Start(0x1000));
  recording.Image(kImage, kRender, kRing, 0, 16, {kRoot}, 0x1f0);
  recording.Port(kRender, Recording::Descriptor(kImage));
  recording.Image(kImage, kRender, kRing, 0x1000, 16, {kRoot}, 1);
  recording.Port(kRender, Recording::Descriptor(kImage));
  const Dump dump = recording.Play();
  EXPECT_EQ(dump.submissions.size(), 1u);
  EXPECT_TRUE(absl::StrContains(Problems(dump),
                                "the ring at 0x20000 has 0x1000 bytes, its head is "
                                "at 0x1000 and its tail at 0x10"))
      << Problems(dump);
}

TEST(Play, AContextThatIsNoImageIsReportedWithItsOffset) {
  Recording recording("gfx9");
  const size_t offset = recording.bytes().size() + 3 * 24;
  recording.Port(kRender, Recording::Descriptor(kOther));
  const Dump dump = recording.Play();
  ASSERT_GE(dump.problems.size(), 1u);
  EXPECT_EQ(dump.problems[0].offset, offset);
  EXPECT_TRUE(absl::StartsWith(dump.problems[0].text, "the context at 0x14000 cannot be executed"));
}

// --- Memory that changes ---

TEST(Play, EachSubmissionHasTheMemoryOfItsMoment) {
  Recording recording("gfx9");
  recording.MapPage(0x1000, 0x500003).MapPage(0x2000, 0x501003);
  recording.Write(kSystem, 0x500000, "first").Write(kSystem, 0x501000, "same").Run(0x1000);
  recording.Run(0x1000);                       // nothing has changed
  recording.Write(kSystem, 0x501000, "same");  // the same bytes again
  recording.Run(0x1000);
  recording.Write(kSystem, 0x500000, "other").Run(0x1000);
  recording.MapPage(0x2000, 0).Run(0x1000);         // unmapped
  recording.MapPage(0x3000, 0x501003).Run(0x1000);  // mapped elsewhere
  recording.Write(kSystem, 0x500000, "final");      // after the last submission
  const Dump dump = recording.Play();
  EXPECT_EQ(Problems(dump), "");
  ASSERT_EQ(dump.submissions.size(), 6u);
  const auto space = [&](size_t i) { return dump.submissions[i].space; };
  EXPECT_EQ(space(0), 0u);
  EXPECT_EQ(space(1), 0u);
  EXPECT_EQ(space(2), 0u);
  EXPECT_EQ(space(3), 2u);
  EXPECT_EQ(space(4), 3u);
  EXPECT_EQ(space(5), 4u);
  EXPECT_EQ(TextAt(dump, 0, 0x1000, 5), "first");
  EXPECT_EQ(TextAt(dump, 2, 0x1000, 5), "other");
  EXPECT_EQ(TextAt(dump, 2, 0x2000, 4), "same");
  EXPECT_EQ(TextAt(dump, 3, 0x1000, 5), "other");
  EXPECT_EQ(TextAt(dump, 3, 0x2000, 4), "");
  EXPECT_EQ(TextAt(dump, 4, 0x3000, 4), "same");
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(dump.submissions[i].context, 0u);
}

TEST(Play, WritesWithoutAnEntryOfTheGlobalTableAreNotLost) {
  Recording recording("gfx9");
  recording.Write(kGlobal, 0x800000, "no entry").MapPage(0x1000, 0x500003).Run(0x1000);
  EXPECT_EQ(TextAt(recording.Play(), 1, 0x800000, 8), "no entry");
}

TEST(Play, ManyPagesForFewBytesAreBounded) {
  Recording recording("gfx9");
  // 64 MiB and eight times the file.
  std::string writes;
  for (uint64_t page = 0; page < 20000; ++page) {
    writes += TraceWrite(kSystem, 0x10000000 + page * 4096, "x");
  }
  const Dump dump = recording.Add(writes).Run(0x1000).Play();
  EXPECT_TRUE(absl::StrContains(Problems(dump), "take more memory than one of this size can fill"))
      << Problems(dump);
}

TEST(Play, ARecordingIsPlayedOnce) {
  Recording recording("gfx9");
  recording.MapPage(0x1000, 0x500003).Write(kSystem, 0x500000, "batch").Run(0x1000);
  Dump dump = recording.Play();
  const size_t segments = dump.memory.segments().size();
  aub::Play(*FindGeneration("gfx9"), dump);
  EXPECT_EQ(dump.submissions.size(), 1u);
  EXPECT_EQ(dump.memory.segments().size(), segments);
}

TEST(Play, ImagesAndPhysicalMemoryAreThereIfTheyAreAskedFor) {
  Recording recording("gfx125");
  recording.MapPage(0x1000, 0x500003).Write(kSystem, 0x500000, "batch").Run(0x1000).Run(0x1000);
  recording.Write(kDevice, 0x700000, "device");
  const Dump dump = recording.Play({.images = true});
  ASSERT_EQ(dump.submissions.size(), 3u);
  EXPECT_EQ(dump.submissions[0].kind, "context image");
  EXPECT_EQ(dump.submissions[0].batch_address, kImage + 4096);
  EXPECT_EQ(dump.submissions[0].own_space, dump.submissions[1].space);
  ASSERT_TRUE(dump.physical_space);
  EXPECT_EQ(TextAt(dump, *dump.physical_space, 0x500000, 5), "batch");
  EXPECT_EQ(TextAt(dump, *dump.physical_space, 0x700000, 6), "device");
  EXPECT_EQ(TextAt(dump, *dump.physical_space, kRoot, 8), Long((kRoot + 4096) | 3));
}

// --- The classic family ---

Dump PlayClassic(const std::string& generation, const std::string& packets) {
  RawOptions raw;
  raw.generation = generation;
  absl::StatusOr<Dump> dump = ReadDump(BytesOf(ClassicHeader("") + packets, "run.aub"), raw);
  EXPECT_TRUE(dump.ok()) << dump.status();
  if (!dump.ok()) return Dump();
  aub::Play(*FindGeneration(generation), *dump);
  TouchDump(*dump);
  return *std::move(dump);
}

TEST(PlayClassic, ARingWriteExecutesABatchOfTheOneAddressSpace) {
  for (const std::string generation : {"gfx4", "gfx6", "gfx75"}) {
    SCOPED_TRACE(generation);
    const std::string start = WordsOf({generation == "gfx75" ? 0x18800100u : 0x18800080u, 0x1000});
    const Dump dump = PlayClassic(
        generation, ClassicBlock(1, 0, 4, 4, Word(0x200001)) +
                        ClassicBlock(1, 1, 0, 0x1000, "first") + ClassicBlock(2, 2, 0, 0, start) +
                        ClassicBlock(1, 1, 0, 0x1000, "other") + ClassicBlock(2, 2, 0, 0, start));
    EXPECT_EQ(Problems(dump), "");
    ASSERT_EQ(dump.submissions.size(), 2u);
    EXPECT_EQ(dump.submissions[0].engine, "render");
    EXPECT_EQ(dump.submissions[0].batch_address, 0x1000u);
    EXPECT_EQ(dump.submissions[0].space, 0u);
    EXPECT_EQ(dump.submissions[1].space, 2u);
    EXPECT_EQ(TextAt(dump, 0, 0x1000, 5), "first");
    EXPECT_EQ(TextAt(dump, 2, 0x1000, 5), "other");
  }
}

TEST(PlayClassic, OtherCommandsOfARingAreShownAsSuch) {
  const std::string flush = WordsOf({0x02000000, 0x18800080, 0x1000, 0});
  const Dump dump =
      PlayClassic("gfx6", ClassicBlock(1, 1, 0, 0x1000, "batch") + ClassicBlock(2, 4, 0, 0, flush));
  ASSERT_EQ(dump.submissions.size(), 1u);
  EXPECT_EQ(dump.submissions[0].engine, "blitter");
  EXPECT_EQ(dump.submissions[0].kind, "ring");
  EXPECT_EQ(dump.submissions[0].own_space, 0u);
  EXPECT_EQ(TextAt(dump, dump.submissions[0].space, 0, 16), flush);
}

TEST(Play, ARecordingWithoutSubmissionSaysSo) {
  EXPECT_EQ(Problems(Recording("gfx9").Play()),
            "0: the recording has no submission to an engine\n");
}

// Every prefix, and every copy with one byte altered, is played without fault.
TEST(Play, AlteredCopiesAreReadWithoutFault) {
  Recording recording("gfx9");
  recording.MapPage(0x1000, 0x500003).Write(kSystem, 0x500000, "batch").Run(0x1000);
  const std::string whole = recording.bytes();
  const tables::Tables tables = *FindGeneration("gfx9");
  RawOptions raw;
  raw.generation = "gfx9";
  // The entries of the global table, at the beginning, are all alike.
  for (size_t at = 20 + 62 * 28; at < whole.size(); ++at) {
    for (const std::string& bytes :
         {whole.substr(0, at),
          whole.substr(0, at) + static_cast<char>(whole[at] ^ 0x41) + whole.substr(at + 1)}) {
      absl::StatusOr<Dump> dump = ReadDump(BytesOf(bytes, "run.aub"), raw);
      ASSERT_TRUE(dump.ok());
      aub::Play(tables, *dump);
      TouchDump(*dump);
    }
  }
}

}  // namespace
}  // namespace packsmith
