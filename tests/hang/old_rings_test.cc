// Hangs of kernels that wrote no head of the request at fault: the ring's packets before its head
// show which batch the engine is in, or has just read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/file.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/report.h"
#include "runtime/hang/report_json.h"
#include "runtime/hang/report_text.h"
#include "runtime/hang/rings.h"

namespace packsmith::hang {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr uint64_t kRing = 0x1000;
constexpr uint64_t kBatch = 0x402000;
constexpr uint32_t kFlush = 0x02000000, kStart = 0x18800180, kEnd = 0x05000000;
constexpr uint32_t kStoreIndex = 0x10800001, kInterrupt = 0x01000000, kNoop = 0;
constexpr uint32_t kConstants = 0x60020100;

std::vector<uint32_t> Draw(uint32_t first) { return {0x7b003804, 4, first, 1, 0, 0}; }

void Append(std::vector<uint32_t>& to, const std::vector<uint32_t>& words) {
  to.insert(to.end(), words.begin(), words.end());
}

std::string Hex(const std::vector<uint32_t>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    absl::StrAppendFormat(&text, "%08x :  %08x\n", i * 4, words[i]);
  }
  return text;
}

// What the driver writes for one request; the packet that starts the batch is the first one.
std::vector<uint32_t> Request(uint32_t batch, uint32_t number) {
  return {kStart, batch, kFlush, kNoop, kStoreIndex, 0x80, number, kInterrupt};
}
constexpr uint64_t kBehindStart = 8, kBehindFlush = 12;

// The batch: two draws with constants between them, and its end.
std::vector<uint32_t> Batch() {
  std::vector<uint32_t> words = Draw(0);
  Append(words, {kConstants, 0x02540602});
  Append(words, Draw(4));
  words.push_back(kEnd);
  return words;
}
constexpr uint64_t kFirstDraw = kBatch, kSecondDraw = kBatch + 0x20, kBatchEnd = kBatch + 0x38;

struct Hang {
  const char* pci_id = "0x2a42";
  uint64_t head = 0, acthd = 0, bbaddr = 0;
  uint32_t ipehr = 0;
  std::string registers = {};  // more of them
  std::string requests = {};
  uint32_t damage = 0;  // what the ring has before its second request
};

// Three requests from ring offset 0x40: one that is done, whose batch was not saved; the one at
// fault at 0x60; one that waits at 0x80.
std::string Text(const Hang& hang) {
  std::vector<uint32_t> ring(16, hang.damage);
  Append(ring, Request(0x900000, 1));
  Append(ring, Request(kBatch, 2));
  Append(ring, Request(0xa00000, 3));
  ring.resize(64);
  return absl::StrFormat(
             "Time: 1361486941 s 24003 us\n"
             "PCI ID: %s\n"
             "render command stream:\n"
             "  START: 0x%08x\n"
             "  HEAD: 0x%08x\n"
             "  TAIL: 0x000000a0\n"
             "  ACTHD: 0x%08x\n"
             "  IPEHR: 0x%08x\n"
             "  BBADDR: 0x%08x\n",
             hang.pci_id, kRing, 0x1e800000 | hang.head, hang.acthd, hang.ipehr, hang.bbaddr) +
         hang.registers +
         "Active [2]:\n"
         "  00402000     4096 0050 0000 000c9559 dirty purgeable render uncached\n"
         "  02540000  3145728 0002 0000 000c956f Y dirty render uncached\n" +
         "render ring --- gtt_offset = 0x00402000\n" + Hex(Batch()) + hang.requests +
         "render ring --- ringbuffer = 0x00001000\n" + Hex(ring);
}

struct Made {
  const tables::Tables* tables;
  Dump dump;
  HangReport all;
  EngineReport report;
};

Made Report(const std::string& text) {
  absl::StatusOr<Dump> dump = ReadDump(BytesOf(text));
  EXPECT_TRUE(dump.ok()) << dump.status();
  Made made;
  if (!dump.ok()) return made;
  made.dump = *std::move(dump);
  for (const tables::Tables& one : BuiltInGenerations()) {
    if (one.FindPciId(made.dump.device.pci_id.value_or(0)) != nullptr) made.tables = &one;
  }
  AddRings(*made.tables, made.dump);
  made.all = MakeHangReport(*made.tables, made.dump);
  EXPECT_THAT(made.all.engines, SizeIs(1));
  if (!made.all.engines.empty()) made.report = made.all.engines[0];
  return made;
}

// In the second draw, with what the driver has kept of the ring.
Hang InTheBatch() {
  return {.head = 0x60 + kBehindStart,
          .acthd = kSecondDraw,
          .bbaddr = kSecondDraw | 3,
          .ipehr = kConstants,
          .registers = "  ring->head: 0x00000040\n"};
}

TEST(OldRings, TheBatchThatTheRingStartedBeforeItsHeadIsTheOneAtFault) {
  const Made made = Report(Text(InTheBatch()));
  const EngineReport& report = made.report;
  EXPECT_TRUE(report.reached);
  ASSERT_TRUE(report.active && report.header);
  EXPECT_EQ(report.commands[*report.active].address, kSecondDraw);
  EXPECT_EQ(report.commands[*report.header].address, kSecondDraw - 8);
  EXPECT_THAT(report.findings,
              Contains(AllOf(HasSubstr("HEAD is just after the MI_BATCH_BUFFER_START at ring "
                                       "offset 0x60 that started this batch"),
                             HasSubstr("agrees with ACTHD"))));
  EXPECT_THAT(report.findings,
              Contains("The ring, decoded from offset 0x40, reaches HEAD after 6 packets."));
  ASSERT_TRUE(report.work && report.work_draw);
  EXPECT_EQ(report.work->address, kFirstDraw);
  EXPECT_EQ(report.work_draw, 1u);
  EXPECT_EQ(report.draws[*report.active], 2u);
  ASSERT_FALSE(made.dump.submissions.empty());
  EXPECT_EQ(made.dump.submissions[0].batch_address, kRing + 0x60);
  EXPECT_EQ(made.dump.submissions[0].batch_length, 0x40u);
}

TEST(OldRings, TheTailOfARequestThatIsDoneIsAPlaceToReadFromToo) {
  Hang hang = InTheBatch();
  hang.registers.clear();
  hang.requests =
      "render ring --- 2 requests\n"
      "  seqno 0x00000001, emitted 4297777194, tail 0x00000060\n"
      "  seqno 0x00000002, emitted 4297777194, tail 0x00000080\n";
  const Made made = Report(Text(hang));
  EXPECT_TRUE(made.report.reached);
  EXPECT_EQ(made.dump.submissions[0].batch_address, kRing + 0x60);
  EXPECT_THAT(made.report.findings, Contains(HasSubstr("that started this batch")));
}

TEST(OldRings, WithoutAPlaceToReadFromTheBatchWasStartedBefore) {
  Hang hang = InTheBatch();
  hang.registers.clear();
  const Made made = Report(Text(hang));
  EXPECT_TRUE(made.report.reached) << "the batch is in the dump";
  EXPECT_THAT(made.report.findings, Contains(HasSubstr("the batch was started earlier")));
  EXPECT_EQ(made.dump.submissions[0].batch_address, kRing + hang.head);
}

TEST(OldRings, AWalkThatDoesNotComeToTheHeadCountsForNothing) {
  Hang hang = InTheBatch();
  hang.damage = 0xe0000001;  // not a packet
  hang.registers = "  ring->head: 0x00000030\n";
  const Made made = Report(Text(hang));
  EXPECT_EQ(made.dump.submissions[0].batch_address, kRing + hang.head);
  EXPECT_THAT(made.report.findings,
              Contains("The ring, decoded from offset 0x30, does not reach HEAD: what the engine "
                       "executed before is not known."));
  // In the middle of a packet that extends past the head.
  hang = InTheBatch();
  hang.head = 0x60 + 4;
  const Made within = Report(Text(hang));
  EXPECT_THAT(within.report.findings, Contains(HasSubstr("does not reach HEAD")));
}

// The engine is in its ring, in the flush after a batch that it has read: it waits for the work of
// that batch.
TEST(OldRings, BehindABatchThatWasReadToItsEndTheEngineWaitsForIt) {
  Hang hang;
  hang.pci_id = "0x0046";
  hang.head = 0x60 + kBehindFlush;
  hang.acthd = kRing + hang.head;
  hang.bbaddr = kBatchEnd + 4;
  hang.ipehr = kFlush;
  hang.registers = "  ring->head: 0x00000040\n";
  const Made made = Report(Text(hang));
  const EngineReport& report = made.report;
  EXPECT_TRUE(report.in_ring);
  ASSERT_TRUE(report.header.has_value());
  EXPECT_EQ(report.commands[*report.header].address, kRing + 0x60 + kBehindStart);
  EXPECT_THAT(
      report.findings,
      Contains("The batch that the MI_BATCH_BUFFER_START at ring offset 0x60 started was read to "
               "its end, the MI_BATCH_BUFFER_END at 0x402038: in the MI_FLUSH at ring offset 0x68 "
               "the engine waits for the work of that batch."));
  EXPECT_THAT(report.findings, Contains("BBADDR is just after that end."));
  ASSERT_TRUE(report.work && report.work_draw);
  EXPECT_EQ(report.work->address, kSecondDraw);
  EXPECT_EQ(report.work_draw, 2u);
  EXPECT_THAT(ToText(*made.tables, made.all),
              HasSubstr("last draw  3DPRIMITIVE at 0x402020, draw 2"));
}

TEST(OldRings, ABatchHeadThatIsElsewhereIsSaid) {
  Hang hang;
  hang.pci_id = "0x0046";
  hang.head = 0x60 + kBehindFlush;
  hang.acthd = kRing + hang.head;
  hang.bbaddr = 0x77000000;
  hang.ipehr = kFlush;
  hang.registers = "  ring->head: 0x00000040\n";
  EXPECT_THAT(Report(Text(hang)).report.findings,
              Contains("BBADDR is 0x77000000, which is not at that end."));
}

TEST(OldRings, AnEngineThatHasReadAllOfItsRingIsBehindTheLastCommand) {
  Hang hang;
  hang.head = 0xa0;
  hang.acthd = kRing + hang.head;
  hang.ipehr = kInterrupt;
  hang.registers = "  ring->head: 0x00000040\n";
  std::string text = Text(hang);
  const EngineReport& report = Report(text).report;
  EXPECT_TRUE(report.in_ring);
  EXPECT_THAT(report.findings, Contains(HasSubstr("HEAD equals TAIL")));
}

// --- Without the ring's memory ---

TEST(OldRings, HeadThatEqualsTheActiveHeadIsInTheRingWithoutItsMemoryToo) {
  const Made made = Report(
      "GPU HANG: ecode 6:0:0xf288ffec, in ffmpeg [3825], reason: Hang on rcs0, action: reset\n"
      "PCI ID: 0x0126\n"
      "render command stream:\n"
      "  START: 0x0012d000\n"
      "  HEAD:  0x062058cc [0x00005870]\n"
      "  TAIL:  0x00005bf0 [0x000058f8, 0x00005920]\n"
      "  ACTHD: 0x00000000 062058cc\n"
      "  IPEHR: 0x7a000003\n");
  EXPECT_TRUE(made.report.in_ring);
  ASSERT_TRUE(made.report.where.has_value());
  EXPECT_EQ(made.report.where->address, 0x1328ccu);
  EXPECT_EQ(made.report.where->space, 1u);
  EXPECT_THAT(made.report.findings,
              ElementsAre("HEAD agrees with ACTHD: the engine executes its ring, not a batch.",
                          "The dump does not have the ring's memory, which begins at 0x12d000: "
                          "HEAD is at ring offset 0x58cc."));
  EXPECT_THAT(ToText(*made.tables, made.all), HasSubstr("stopped   in its ring, at 0x1328cc"));
}

TEST(OldRings, WithoutTheRingsPlaceItsOffsetIsKnown) {
  const Made made = Report(
      "PCI ID: 0x0126\n"
      "render command stream:\n"
      "  HEAD:  0x062058cc\n"
      "  TAIL:  0x00005bf0\n"
      "  ACTHD: 0x00000000 062058cc\n");
  EXPECT_TRUE(made.report.in_ring);
  EXPECT_FALSE(made.report.where.has_value());
  EXPECT_THAT(made.report.findings,
              Contains("The dump does not have the ring's memory: HEAD is at ring offset 0x58cc."));
}

TEST(OldRings, AnActiveHeadOfTheRingsOwnAddressIsThere) {
  const Made made = Report(
      "PCI ID: 0x0126\n"
      "render command stream:\n"
      "  START: 0x0012d000\n"
      "  HEAD:  0x062058cc\n"
      "  TAIL:  0x00005bf0\n"
      "  ACTHD: 0x00000000 001328cc\n");
  EXPECT_TRUE(made.report.in_ring);
  const Made other = Report(
      "PCI ID: 0x0126\n"
      "render command stream:\n"
      "  START: 0x0012d000\n"
      "  HEAD:  0x062058cc\n"
      "  TAIL:  0x00005bf0\n"
      "  ACTHD: 0x00000000 007328cc\n");
  EXPECT_FALSE(other.report.in_ring);
}

// --- Buffers and units ---

TEST(OldRings, BuffersThatWereNotSavedAreToldByPlaceAndSize) {
  Hang hang = InTheBatch();
  // Its constants are the buffer of the list.
  hang.acthd = hang.bbaddr = kBatchEnd;
  hang.ipehr = kEnd;
  const Made made = Report(Text(hang));
  EXPECT_THAT(ToText(*made.tables, made.all),
              HasSubstr("at 0x600 of a buffer of 3,145,728 bytes at 0x2540000, Y-tiled, read by "
                        "render, not saved"));
  EXPECT_THAT(ToText(*made.tables, made.all), Not(HasSubstr("Active [2]")));
  rapidjson::Document json;
  json.Parse(ToJson(*made.tables, made.all).c_str());
  ASSERT_FALSE(json.HasParseError());
  const auto& engine = json["engines"][0];
  EXPECT_EQ(engine["work"]["draw"].GetUint(), 2u);
  bool found = false;
  for (const auto& bound : engine["bound"].GetArray()) {
    for (const auto& address : bound["addresses"].GetArray()) {
      if (!address.HasMember("buffer") || !address["buffer"].HasMember("tiling")) continue;
      found = true;
      EXPECT_STREQ(address["buffer"]["tiling"].GetString(), "Y");
      EXPECT_STREQ(address["buffer"]["access"].GetString(), "read by render");
      EXPECT_EQ(address["buffer"]["size"].GetUint(), 3145728u);
    }
  }
  EXPECT_TRUE(found);
}

TEST(OldRings, UnitsThatAreNotIdleHaveTheirNames) {
  struct {
    const char* pci_id;
    uint32_t first, second;
    std::vector<std::string> units;
  } const kCases[] = {
      {"0x2a02", ~(1u << 31 | 1u << 21), ~(1u << 19 | 1u), {"WM", "EU00", "VF", "GW"}},
      {"0x2a42", ~(1u << 24 | 1u << 22), ~(1u << 30 | 1u << 4), {"SE", "EU13", "SF", "CS"}},
      {"0x0046", ~(1u << 20 | 1u << 7), ~(1u << 31 | 1u << 6), {"TD", "EU23", "WIZ", "BCS"}},
  };
  for (const auto& one : kCases) {
    Hang hang = InTheBatch();
    hang.pci_id = one.pci_id;
    hang.registers =
        absl::StrFormat("  INSTDONE: 0x%08x\n  INSTDONE1: 0x%08x\n", one.first, one.second);
    std::vector<std::string> units;
    for (const Busy& busy : Report(Text(hang)).report.stop.busy) {
      units.insert(units.end(), busy.units.begin(), busy.units.end());
    }
    EXPECT_THAT(units, testing::ElementsAreArray(one.units)) << one.pci_id;
  }
}

// --- Hostile ---

TEST(OldRings, OfAnyOffsetsDoesNoHarm) {
  for (const uint64_t head : {uint64_t{0}, uint64_t{2}, uint64_t{0x60}, uint64_t{0xfc},
                              uint64_t{0x100}, uint64_t{0x1ffffc}}) {
    for (const char* kept : {"0x00000000", "0x00000061", "0x000000fc", "0xffffffff"}) {
      Hang hang = InTheBatch();
      hang.head = head;
      hang.registers = absl::StrCat("  ring->head: ", kept, "\n");
      hang.requests = "render ring --- 1 requests\n  seqno 0x1, emitted 1, tail 0xffffffff\n";
      const Made made = Report(Text(hang));
      EXPECT_FALSE(ToText(*made.tables, made.all).empty());
      EXPECT_FALSE(ToJson(*made.tables, made.all).empty());
    }
  }
}

}  // namespace
}  // namespace packsmith::hang
