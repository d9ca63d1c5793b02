// Damaged dumps of hangs, from the text to the report: nothing fails as a whole, nothing takes
// long.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/file.h"
#include "runtime/decode/decoder.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/report.h"
#include "runtime/hang/report_json.h"
#include "runtime/hang/report_text.h"
#include "runtime/hang/rings.h"
#include "tests/decode/world.h"
#include "tests/hang/seeded.h"

namespace packsmith::hang {
namespace {

using decode::Gfx9;
using testing::HasSubstr;
using testing::SizeIs;

constexpr char kFixture[] = "tests/data/hang/skl-gl-basic.error";

// By hand, from the grammar: two engines, a ring that wraps, a context image, buffers of all
// encodings. The batch is a PIPE_CONTROL, an unknown dword, a draw, and its end.
constexpr char kByHand[] =
    "GPU HANG: ecode 9:1:0x85dffffb, in gl-basic [1234], reason: hang on rcs0, action: reset\n"
    "Kernel: 6.1.0-9-amd64 x86_64\n"
    "Active process (on ring rcs0): gl-basic [1234]\n"
    "PCI ID: 0x1912\n"
    "FAULT_TLB_DATA: 0x00000000 0x00000105\n"
    "rcs0 command stream:\n"
    "  HEAD:  0x00200000 [0x00000ff4]\n"
    "  TAIL:  0x00000008 [0x00000008, 0x00000008]\n"
    "  ACTHD: 0x00000000 00402018\n"
    "  IPEHR: 0x7a000004\n"
    "  FAULT_REG: 0x00000001\n"
    "  INSTDONE: 0xffffffff\n"
    "  ELSP[0]:  pid 1234, seqno 5:12+, prio 0, head 00000ff4, tail 00000008\n"
    "  Active context: gl-basic[1234] prio 0\n"
    "vcs0 command stream:\n"
    "  HEAD:  0x00000000 [0x00000000]\n"
    "Active (rcs0) [1]:\n"
    "    00000000_00500000   524288 02 00 LLC\n"
    "rcs0 (submitted by gl-basic [1234]) --- batch = 0x00000000 00402000\n"
    "00000000 :  7a000004\n"
    "00000004 :  00100000\n"
    "00000014 :  00000000\n"
    "00000018 :  7b000005\n"
    "0000001c :  00000004\n"
    "00000020 :  00000003\n"
    "00000024 :  00000000\n"
    "00000028 :  00000001\n"
    "00000030 :  00000000\n"
    "00000034 :  05000000\n"
    "rcs0 --- user = 0x00000000 00600000\n"
    "~!!!!\"z!!!!#\n"
    "rcs0 --- ring = 0x00000000 00100000\n"
    "00000000 :  01000000\n"
    "00000004 :  00000000\n"
    "00000ff4 :  18800101\n"
    "00000ff8 :  00402000\n"
    "00000ffc :  00000000\n"
    "rcs0 --- HW context = 0x00000000 00200000\n"
    "00001000 :  00000000\n"
    "00001004 :  11001003\n"
    "00001008 :  00002034\n"
    "0000100c :  00000010\n"
    "00001010 :  00002030\n"
    "00001014 :  00000020\n"
    "00001018 :  05000000\n"
    "rcs0 --- 1 requests\n"
    "  seqno 0x00000006, emitted 4295000000, tail 0x00000010\n";

// From the text to the report, and to the records if `all`. Returns whether the dump could be read.
bool Follow(const std::string& text, bool all = true) {
  absl::StatusOr<Dump> dump = ReadDump(BytesOf(text));
  if (!dump.ok()) return false;
  AddRings(Gfx9(), *dump);
  const HangReport report = MakeHangReport(Gfx9(), *dump);
  EXPECT_FALSE(ToText(Gfx9(), report).empty());
  EXPECT_FALSE(ToJson(Gfx9(), report).empty());
  if (all) decode::Text(Gfx9(), {&*dump});
  return true;
}

Dump ReadByHand() {
  absl::StatusOr<Dump> dump = ReadDump(BytesOf(std::string(kByHand)));
  EXPECT_TRUE(dump.ok()) << dump.status();
  AddRings(Gfx9(), *dump);
  return *std::move(dump);
}

TEST(ByHand, TheReportKnowsTheCommandTheRingAndTheFault) {
  const Dump dump = ReadByHand();
  const HangReport report = MakeHangReport(Gfx9(), dump);
  ASSERT_THAT(report.engines, SizeIs(1));
  const EngineReport& engine = report.engines[0];
  ASSERT_TRUE(engine.active && engine.header);
  EXPECT_EQ(engine.commands[*engine.active].address, 0x402018u);
  EXPECT_EQ(engine.commands[*engine.header].address, 0x402000u);
  EXPECT_THAT(engine.findings, testing::Contains(HasSubstr("HEAD is just after the "
                                                           "MI_BATCH_BUFFER_START")));
  ASSERT_TRUE(engine.fault.has_value());
  EXPECT_EQ(engine.fault->address, 0x105000u);
  EXPECT_TRUE(dump.problems.empty());
}

TEST(ByHand, AContextImageIsTheRegistersThatItLoadsAndNothingBeforeThem) {
  const Dump dump = ReadByHand();
  const decode::Story story = decode::TellAll(Gfx9(), {&dump});
  const std::vector<decode::Seen> loads = story.Named("MI_LOAD_REGISTER_IMM");
  ASSERT_THAT(loads, SizeIs(1));
  EXPECT_EQ(loads[0].address, 0x201004u);
  uint64_t head = 0;
  for (const decode::Seen& seen : story.Named("RING_BUFFER_HEAD")) {
    if (seen.parent == loads[0].id) head = seen.Number("Head Offset");
  }
  EXPECT_EQ(head, 0x10u);
  EXPECT_EQ(story.summary.unknown_dwords, 0u);
  for (const decode::Seen& seen : story.records) {
    if (seen.type == decode::RecordType::kPacket && seen.space == 1) {
      EXPECT_FALSE(seen.address >= 0x200000 && seen.address < 0x201000) << "the status page";
    }
  }
}

TEST(Damage, CutOffBehindAnyLineTheReportIsMade) {
  const absl::StatusOr<FileBytes> file = OpenFile(kFixture);
  ASSERT_TRUE(file.ok()) << file.status();
  const std::string fixture(file->bytes.begin(), file->bytes.end());
  for (const std::string& text : {std::string(kByHand), fixture}) {
    size_t read = 0;
    for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
      read += Follow(text.substr(0, at + 1), text == kByHand) ? 1 : 0;
    }
    EXPECT_GT(read, 20u);
  }
}

TEST(Damage, CutOffAnywhereTheReportIsMade) {
  for (size_t at = 0; at < sizeof(kByHand); at += 3) Follow(std::string(kByHand).substr(0, at));
}

TEST(Damage, WithBitsFlippedTheReportIsMade) {
  const absl::StatusOr<FileBytes> file = OpenFile(kFixture);
  ASSERT_TRUE(file.ok()) << file.status();
  const std::string fixture(file->bytes.begin(), file->bytes.end());
  std::mt19937 random(5);
  for (const std::string& text : {std::string(kByHand), fixture}) {
    int read = 0;
    const int times = text == kByHand ? 150 : 20;
    for (int i = 0; i < times; ++i) {
      std::string damaged = text;
      for (int flips = static_cast<int>(random() % 8) + 1; flips > 0; --flips) {
        damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
      }
      read += Follow(damaged, text == kByHand) ? 1 : 0;
    }
    EXPECT_GT(read, times / 2);
  }
}

// Of every form that kernels write, with what the firmware said.
TEST(Damage, OfDumpsWithAKnownCauseTheReportIsMade) {
  struct Of {
    const char* generation;
    Form form;
    uint32_t engines;
  };
  std::mt19937 random(7);
  for (const Of& of :
       {Of{"gfx125", Form::kI915Guc, 1}, Of{"gfx125", Form::kXe, 2}, Of{"xe2", Form::kXe, 1}}) {
    const tables::Tables tables = *FindGeneration(of.generation);
    const auto follow = [&](const std::string& text) {
      absl::StatusOr<Dump> dump = ReadDump(BytesOf(text));
      if (!dump.ok()) return false;
      AddRings(tables, *dump);
      const HangReport report = MakeHangReport(tables, *dump);
      EXPECT_FALSE(ToText(tables, report).empty());
      EXPECT_FALSE(ToJson(tables, report).empty());
      return true;
    };
    for (const Seed seed : {Seed::kPageFault, Seed::kSemaphore}) {
      const std::string text = SeedHang(tables, seed, of.form, of.engines)->text;
      int read = 0;
      constexpr int kTimes = 25;
      for (int i = 0; i < kTimes; ++i) {
        follow(text.substr(0, text.size() * static_cast<size_t>(i) / kTimes));
        std::string damaged = text;
        // Zeros of the channel make most of the text: lines with other characters matter more.
        for (int flips = 0; flips < 8;) {
          char& at = damaged[random() % damaged.size()];
          if (at == 'z' && random() % 64 != 0) continue;
          at ^= static_cast<char>(1 << random() % 8);
          ++flips;
        }
        read += follow(damaged) ? 1 : 0;
      }
      EXPECT_GT(read, kTimes / 2) << of.generation;
    }
  }
}

// --- Input on which other readers of these files have failed ---

TEST(KnownFailures, MoreThan1024SectionsAreNoProblem) {
  std::string text(kByHand);
  for (uint32_t i = 0; i < 1500; ++i) {
    absl::StrAppendFormat(&text, "rcs0 --- user = 0x00000001 %08x\n~!!!!\"\n", i * 0x1000);
  }
  EXPECT_TRUE(Follow(text));
}

TEST(KnownFailures, AnUnknownOrMissingPciIdCostsNoReport) {
  for (const char* id : {"", "PCI ID: 0xffff\n", "PCI ID: 0x\n", "PCI ID: nonsense\n"}) {
    std::string text(kByHand);
    const size_t at = text.find("PCI ID");
    text.replace(at, text.find('\n', at) + 1 - at, id);
    EXPECT_TRUE(Follow(text)) << id;
  }
}

TEST(KnownFailures, DataWithoutAHeaderBelongToNothing) {
  EXPECT_TRUE(
      Follow(absl::StrCat("GPU HANG: ecode 9\n:zzzz\n~zz\n00000000 :  00000000\n", kByHand)));
}

TEST(KnownFailures, ABatchThatCallsItselfTwiceEnds) {
  // MI_BATCH_BUFFER_START of the second level, twice, to the batch that they are in.
  const std::string text =
      "PCI ID: 0x1912\nrcs0 command stream:\n  ACTHD: 0x00000000 00001004\n"
      "  IPEHR: 0x18c00101\n  hung: yes\n"
      "rcs0 --- batch = 0x00000000 00001000\n"
      "00000000 :  18c00101\n00000004 :  00001000\n00000008 :  00000000\n"
      "0000000c :  18c00101\n00000010 :  00001000\n00000014 :  00000000\n"
      "00000018 :  05000000\n";
  absl::StatusOr<Dump> dump = ReadDump(BytesOf(text));
  ASSERT_TRUE(dump.ok()) << dump.status();
  EXPECT_TRUE(Follow(text));
  const HangReport report = MakeHangReport(Gfx9(), *dump);
  ASSERT_THAT(report.engines, SizeIs(1));
  EXPECT_EQ(report.engines[0].header, report.engines[0].active);
}

TEST(ByHand, AnEngineMayBeJustBehindItsBatch) {
  const std::string text =
      "PCI ID: 0x1912\nrcs0 command stream:\n  ACTHD: 0x00000000 00001008\n"
      "  IPEHR: 0x05000000\n  hung: yes\n"
      "rcs0 --- batch = 0x00000000 00001000\n"
      "00000000 :  00000000\n00000004 :  05000000\n";
  absl::StatusOr<Dump> dump = ReadDump(BytesOf(text));
  ASSERT_TRUE(dump.ok()) << dump.status();
  const HangReport report = MakeHangReport(Gfx9(), *dump);
  ASSERT_THAT(report.engines, SizeIs(1));
  const EngineReport& engine = report.engines[0];
  ASSERT_TRUE(engine.active && engine.header);
  EXPECT_EQ(engine.commands[*engine.header].address, 0x1004u);
  EXPECT_THAT(engine.findings, testing::Contains(HasSubstr("just after the memory")));
}

// --- Batches past their end ---

TEST(PastTheEnd, ABatchGoesOnAsFarAsThereIsMemory) {
  decode::World world;
  world.Put(0x1000, {0, 0x05000000, 0x01000000, 0x05000000, 0x01000000});
  world.Submit(0x1000);
  EXPECT_THAT(decode::Tell(Gfx9(), world).Packets(), SizeIs(2));
  decode::Options options;
  options.continue_past_end = true;
  const decode::Story story = decode::Tell(Gfx9(), world, options);
  EXPECT_THAT(story.Packets(),
              testing::ElementsAre("MI_NOOP", "MI_BATCH_BUFFER_END", "MI_USER_INTERRUPT",
                                   "MI_BATCH_BUFFER_END", "MI_USER_INTERRUPT"));
  EXPECT_THAT(story.problems, testing::IsEmpty());
}

TEST(PastTheEnd, ABatchThatARingStartsGoesOnAndComesBack) {
  decode::World world;
  world.Put(0x10000, {0x18800101, 0x2000, 0, 0x01000000}, 1);
  world.Put(0x2000, {0x05000000, 0x01000000});
  world.Submit(0x10000, 16);
  world.last().space = 1;
  world.last().own_space = 0;
  world.last().ring = Submission::Ring{0x10000, 16};
  decode::Options options;
  options.continue_past_end = true;
  const decode::Story story = decode::Tell(Gfx9(), world, options);
  EXPECT_THAT(story.Packets(), testing::ElementsAre("MI_BATCH_BUFFER_START", "MI_BATCH_BUFFER_END",
                                                    "MI_USER_INTERRUPT", "MI_USER_INTERRUPT"));
  EXPECT_EQ(story.records[3].space, 1u);
  EXPECT_THAT(story.problems, testing::IsEmpty());
}

// --- Registers as records ---

TEST(Registers, AreRecordsByTheirDescriptionsAndUnknownOnesRaw) {
  const Dump dump = ReadByHand();
  const decode::Story story = decode::TellAll(Gfx9(), {&dump});
  std::vector<std::string> names;
  for (const decode::Seen& seen : story.records) {
    if (seen.type == decode::RecordType::kRegister) names.push_back(seen.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("FAULT_TLB_DATA1", "FAULT_TLB_DATA0", "RING_BUFFER_HEAD",
                                          "RING_BUFFER_TAIL", "ACTHD", "ACTHD_UDW", "IPEHR",
                                          "FAULT_REG", "INSTDONE_1", "RING_BUFFER_HEAD"));
  EXPECT_EQ(story.Named("ACTHD")[0].Number("Head Pointer"), 0x402018u);
}

TEST(Registers, OfAnEngineAreDescribedAsThatEngineHasThem) {
  Dump dump = ReadByHand();
  auto state = std::make_shared<ErrorState>(*dump.error_state);
  state->engines[1].registers.push_back({"INSTDONE", 0, false, {}});
  dump.error_state = std::move(state);
  const decode::Story story = decode::TellAll(Gfx9(), {&dump});
  EXPECT_THAT(story.Named("VCS_INSTDONE"), SizeIs(1));
  EXPECT_THAT(story.Named("INSTDONE_1"), SizeIs(1));
}

TEST(Registers, InTextAndInJson) {
  Dump dump = ReadByHand();
  auto state = std::make_shared<ErrorState>(*dump.error_state);
  state->engines[0].registers.push_back({"NEWS", 0x12345678, false, {}});
  dump.error_state = std::move(state);
  const std::string text = decode::Text(Gfx9(), {&dump});
  EXPECT_THAT(text, HasSubstr("registers of rcs0\n"));
  EXPECT_THAT(text, HasSubstr("  HEAD 0x00200000 [0xff4]  RING_BUFFER_HEAD  register 0x2034"));
  EXPECT_THAT(text, HasSubstr("  NEWS 0x12345678, which is not described\n"));
  const std::string json = decode::Jsonl(Gfx9(), {&dump});
  EXPECT_THAT(json, HasSubstr("\"name\":\"RING_BUFFER_HEAD\",\"engine\":\"rcs0\",\"dumped_as\":"
                              "\"HEAD\",\"dumped\":\"0x200000\",\"brackets\":[\"0xff4\"],"
                              "\"register\":\"0x2034\",\"dwords\":[\"00200000\"]"));
  EXPECT_THAT(json, HasSubstr("\"name\":\"NEWS\",\"engine\":\"rcs0\""));
}

TEST(Engines, OfAllKernelsAreKnown) {
  for (const char* name :
       {"render", "bsd", "blt", "bsd2", "vebox", "rcs0", "vcs0", "vcs1", "bcs0", "vecs0"}) {
    EXPECT_NE(Gfx9().FindEngine(name), tables::kNone) << name;
  }
}

}  // namespace
}  // namespace packsmith::hang
