// The report of each kind of hang.

#include "runtime/hang/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "runtime/dump/i915_error_writer.h"
#include "runtime/dump/read.h"
#include "runtime/dump/xe_devcoredump_writer.h"
#include "runtime/hang/report_json.h"
#include "runtime/hang/report_text.h"
#include "runtime/hang/rings.h"
#include "tests/decode/world.h"
#include "tests/hang/hung.h"

namespace packsmith::hang {
namespace {

using decode::Gfx9;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// In the capture: the third draw, the PIPE_CONTROLs after it, a packet with another header.
constexpr uint64_t kDraw = 0xfffefffeee20;
constexpr uint64_t kFlush = 0xfffefffeee3c;
constexpr uint64_t kSecondFlush = 0xfffefffeee54;
constexpr uint64_t kVertexBuffers = 0xfffefffeee6c;
constexpr uint64_t kBatchEnd = 0xfffeffff1258;
constexpr uint32_t kFlushHeader = 0x7a000004;
constexpr uint32_t kDrawHeader = 0x7b000005;

constexpr char kCapture[] = "tests/data/captures/skl-gl-basic/00.core.zst";

Dump Hung(const HungAt& at) { return HungCapture(kCapture, at); }

HangReport ReportOf(Dump dump) {
  AddRings(Gfx9(), dump);
  return MakeHangReport(Gfx9(), dump);
}

// Of the only engine.
EngineReport Report(Dump dump) {
  HangReport report = ReportOf(std::move(dump));
  EXPECT_THAT(report.engines, SizeIs(1));
  return report.engines.empty() ? EngineReport() : std::move(report.engines[0]);
}

// Another error state for a dump.
void Change(Dump& dump, const std::function<void(ErrorState&)>& change) {
  auto state = std::make_shared<ErrorState>(*dump.error_state);
  change(*state);
  dump.error_state = std::move(state);
}

ErrorRegister& Register(ErrorEngine& engine, const std::string& name) {
  for (ErrorRegister& one : engine.registers) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << name;
  return engine.registers[0];
}

TEST(HangReport, SaysWhoHangsWhyAndWhere) {
  const HangReport report = ReportOf(Hung({.acthd = kDraw, .ipehr = kDrawHeader}));
  EXPECT_EQ(report.kind, "i915 error state");
  EXPECT_THAT(report.reason, HasSubstr("ecode 9:1:0x85dffffb"));
  EXPECT_THAT(report.kernel, HasSubstr("6.1.0"));
  EXPECT_THAT(report.device, AllOf(HasSubstr("Gfx9"), HasSubstr("skl")));
  EXPECT_EQ(report.pci_id, 0x1912u);
  ASSERT_THAT(report.engines, SizeIs(1));
  EXPECT_EQ(report.engines[0].name, "rcs0");
  EXPECT_TRUE(report.engines[0].hung);
  EXPECT_THAT(report.engines[0].process, HasSubstr("gl-basic"));
}

TEST(HangReport, ShowsTheCommandThatTheEngineHasBegunAndThoseAroundIt) {
  const EngineReport report = Report(Hung({.acthd = kDraw, .ipehr = kDrawHeader}));
  ASSERT_TRUE(report.active.has_value());
  EXPECT_EQ(report.commands[*report.active].address, kDraw);
  EXPECT_EQ(report.header, report.active);
  EXPECT_EQ(report.commands.size(), 10u);
  EXPECT_EQ(report.commands[*report.active + 1].address, kFlush);
  EXPECT_TRUE(report.reached);
  EXPECT_THAT(report.findings, Contains(HasSubstr("has begun it and has not finished it")));
  ASSERT_TRUE(report.where && report.where->holder);
  EXPECT_EQ(report.where->holder->distance, kDraw - 0xfffefffee000);
}

TEST(HangReport, SaysHowMuchOfACommandTheEngineHasRead) {
  const EngineReport report = Report(Hung({.acthd = kDraw + 8, .ipehr = kDrawHeader}));
  EXPECT_THAT(report.findings, Contains(HasSubstr("has read 2 of its 7 dwords")));
}

TEST(HangReport, KnowsThatAnEngineReadsAheadOfWhatItExecutes) {
  const EngineReport report = Report(Hung({.acthd = kVertexBuffers + 4, .ipehr = kDrawHeader}));
  ASSERT_TRUE(report.header && report.active);
  EXPECT_EQ(report.commands[*report.header].address, kDraw);
  EXPECT_EQ(report.commands[*report.active].address, kVertexBuffers);
  EXPECT_THAT(report.findings, Contains(HasSubstr("ACTHD is 13 dwords after it")));
  EXPECT_EQ(report.work->address, kDraw);
}

TEST(HangReport, SaysWhereTheActiveHeadIsJustBehindTheCommand) {
  const EngineReport report = Report(Hung({.acthd = kFlush, .ipehr = kDrawHeader}));
  EXPECT_THAT(report.findings, Contains(HasSubstr("ACTHD is just after it")));
}

TEST(HangReport, SaysWhereCommandsThatBeginAlikeLeaveItOpenWhichItWas) {
  const EngineReport report = Report(Hung({.acthd = kSecondFlush, .ipehr = kFlushHeader}));
  EXPECT_THAT(report.findings, Contains(HasSubstr("may have been in that one")));
  const EngineReport other = Report(Hung({.acthd = kFlush, .ipehr = kFlushHeader}));
  EXPECT_THAT(other.findings, Not(Contains(HasSubstr("may have been in"))));
}

TEST(HangReport, SaysWhatAHeaderOfNoCommandNearbyWouldBe) {
  const EngineReport report = Report(Hung({.acthd = kDraw, .ipehr = 0x61010011}));
  EXPECT_FALSE(report.header.has_value());
  EXPECT_EQ(report.header_name, "STATE_BASE_ADDRESS");
  EXPECT_THAT(report.findings,
              Contains(AllOf(HasSubstr("0x61010011 (STATE_BASE_ADDRESS)"),
                             HasSubstr("not the header of any of the 33 commands up to ACTHD"))));
}

TEST(HangReport, ShowsTheFieldsOfTheCommandThatTheEngineStoppedIn) {
  const EngineReport report = Report(Hung({.acthd = kFlush, .ipehr = kDrawHeader}));
  std::vector<std::string> fields;
  for (const Field& field : report.fields) fields.push_back(field.name + " " + field.value);
  EXPECT_THAT(fields, Contains("Vertex Count Per Instance 3"));
  EXPECT_THAT(fields, Contains("Instance Count 1"));
}

TEST(HangReport, FindsTheRingToAgreeWithTheBatchThatItStarted) {
  for (const uint64_t head : {kBehindStart, kStart}) {
    const EngineReport report = Report(Hung({.acthd = kDraw, .ipehr = kDrawHeader, .head = head}));
    EXPECT_THAT(report.findings, Contains(AllOf(HasSubstr("MI_BATCH_BUFFER_START at ring offset "
                                                          "0x3fec that started this batch"),
                                                HasSubstr("agrees with ACTHD"))));
  }
}

TEST(HangReport, SaysWhereTheRingDoesNotAgreeWithTheBatch) {
  const EngineReport report = Report(Hung({.acthd = kDraw, .ipehr = kDrawHeader, .head = 0x4}));
  EXPECT_THAT(report.findings, Contains(HasSubstr("they do not agree")));
}

TEST(HangReport, SaysWhetherTheBatchHeadAgrees) {
  EXPECT_THAT(Report(Hung({.acthd = kDraw})).findings, Contains("BBADDR agrees with ACTHD."));
  EXPECT_THAT(Report(Hung({.acthd = kDraw, .bbaddr = kDraw + 64})).findings,
              Contains(HasSubstr("BBADDR is 16 dwords after ACTHD")));
  EXPECT_THAT(Report(Hung({.acthd = kDraw, .bbaddr = 0x1234000})).findings,
              Contains(HasSubstr("BBADDR is 0x1234000, far from ACTHD")));
}

// An engine that executes its ring has the ring's head as its active head, wraps and all.
TEST(HangReport, KnowsWhereAnEngineExecutesItsRing) {
  Dump dump = Hung({.ipehr = kFlushHeader, .head = 0x14});
  Change(dump, [](ErrorState& state) {
    ErrorEngine& engine = state.engines[0];
    Register(engine, "ACTHD").value = Register(engine, "HEAD").value;
  });
  const EngineReport report = Report(std::move(dump));
  EXPECT_TRUE(report.in_ring);
  EXPECT_EQ(report.where->address, kRing + 0x14);
  EXPECT_EQ(report.where->space, 1u);
  EXPECT_THAT(report.findings, Contains(HasSubstr("executes its ring, not a batch")));
  ASSERT_TRUE(report.header.has_value());
  EXPECT_EQ(report.commands[*report.header].address, kRing);
}

TEST(HangReport, OfAnActiveHeadOutsideOfAllMemoryNamesTheNearestBuffers) {
  const EngineReport report = Report(Hung({.acthd = 0xfffefff00000, .ipehr = kDrawHeader}));
  ASSERT_TRUE(report.where.has_value());
  EXPECT_FALSE(report.where->mapped);
  EXPECT_THAT(report.commands, IsEmpty());
  EXPECT_THAT(report.findings, Contains(HasSubstr("memory that the dump does not have")));
}

TEST(HangReport, ReadsOnFromTheStartOfTheMemoryWhereNothingLeadsToTheActiveHead) {
  const EngineReport report = Report(Hung({.acthd = kBatchEnd + 8, .ipehr = 0}));
  EXPECT_FALSE(report.reached);
  ASSERT_TRUE(report.active.has_value());
  EXPECT_EQ(report.commands[*report.active].address, kBatchEnd + 8);
  EXPECT_EQ(report.commands[*report.active - 2].address, kBatchEnd);
  EXPECT_THAT(report.findings, Contains(HasSubstr("does not reach ACTHD")));
}

TEST(HangReport, SaysWhereAnEngineExecutesWhatIsNoCommand) {
  // Programs are not commands.
  const EngineReport report = Report(Hung({.acthd = 0xffffb310}));
  EXPECT_FALSE(report.reached);
  EXPECT_THAT(report.findings, Contains(HasSubstr("does not reach ACTHD")));
}

TEST(HangReport, FindsTheBufferOfAFaultingAddress) {
  const EngineReport held =
      Report(Hung({.acthd = kDraw, .ipehr = kDrawHeader, .fault = 0xfffeffa00000}));
  ASSERT_TRUE(held.fault.has_value());
  EXPECT_EQ(held.fault->address, 0xfffeffa00000u);
  EXPECT_TRUE(held.fault->mapped);
  const EngineReport missed =
      Report(Hung({.acthd = kDraw, .ipehr = kDrawHeader, .fault = 0xfffeffa02000}));
  EXPECT_FALSE(missed.fault->mapped);
  EXPECT_FALSE(missed.fault->holder.has_value());
}

TEST(HangReport, NamesTheNearestBuffersOfAFaultingAddress) {
  const absl::StatusOr<std::string> text =
      WriteI915Error(Hung({.acthd = kDraw, .ipehr = kDrawHeader, .fault = 0xfffeffa02000}), {});
  ASSERT_TRUE(text.ok()) << text.status();
  absl::StatusOr<Dump> dump = ReadDump(BytesOf(*text));
  ASSERT_TRUE(dump.ok()) << dump.status();
  const EngineReport report = Report(*std::move(dump));
  ASSERT_TRUE(report.fault && report.fault->below && report.fault->above);
  EXPECT_EQ(report.fault->below->address, 0xfffeffa00000u);
  EXPECT_EQ(report.fault->below->distance, 0x1000u);
  EXPECT_EQ(report.fault->above->address, 0xfffeffb00000u);
  EXPECT_EQ(report.fault->above->distance, 0xfe000u);
}

TEST(HangReport, TakesTheFaultsAddressForOneOfTheSpaceThatTheRegisterNames) {
  const EngineReport report =
      Report(Hung({.acthd = kDraw, .fault = kRing, .fault_is_global = true}));
  ASSERT_TRUE(report.fault.has_value());
  EXPECT_EQ(report.fault->space, 1u);
  EXPECT_TRUE(report.fault->mapped);
}

TEST(HangReport, SaysNothingOfAFaultThatTheRegisterDoesNotCallOne) {
  Dump dump = Hung({.acthd = kDraw, .fault = 0x1000});
  Change(dump, [](ErrorState& state) { Register(state.engines[0], "FAULT_REG").value = 0; });
  EXPECT_FALSE(Report(std::move(dump)).fault.has_value());
}

TEST(HangReport, PlacesRequestsInTheRing) {
  const EngineReport report = Report(Hung({.acthd = kDraw, .ipehr = kDrawHeader}));
  ASSERT_THAT(report.requests, SizeIs(2));
  EXPECT_EQ(report.requests[0].progress, Progress::kRuns);
  EXPECT_EQ(report.requests[1].progress, Progress::kWaits);
  const EngineReport later = Report(Hung({.acthd = kDraw, .head = 0x30}));
  EXPECT_EQ(later.requests[0].progress, Progress::kDone);
  EXPECT_EQ(later.requests[1].progress, Progress::kRuns);
  const EngineReport done = Report(Hung({.acthd = kDraw, .head = kTail}));
  EXPECT_EQ(done.requests[1].progress, Progress::kDone);
  EXPECT_THAT(done.findings, Contains(HasSubstr("HEAD equals TAIL")));
}

TEST(HangReport, ListsUnitsThatAreNotIdle) {
  const EngineReport report = Report(Hung({.acthd = kDraw}));
  std::vector<std::string> units;
  for (const Busy& busy : report.stop.busy) {
    for (const std::string& unit : busy.units) units.push_back(busy.by + " " + unit);
  }
  EXPECT_THAT(units, ElementsAre("INSTDONE VS", "INSTDONE CS", "ROW_INSTDONE[0][1] EU00 SS0"));
}

TEST(HangReport, ShowsWhatTheLastDrawFoundSet) {
  const EngineReport report = Report(Hung({.acthd = kVertexBuffers, .ipehr = kFlushHeader}));
  ASSERT_TRUE(report.work.has_value());
  EXPECT_EQ(report.work->address, kDraw);
  std::vector<std::string> names;
  for (const Bound& bound : report.bound) {
    for (const Reached& reached : bound.reached)
      names.push_back(reached.name + " " + reached.about);
    for (const Address& address : bound.addresses) {
      EXPECT_NE(address.place.address, 0u);
      names.push_back(address.field);
    }
    // Nothing from after the draw.
    EXPECT_LE(bound.address, kDraw);
  }
  EXPECT_THAT(names, Contains("vertex buffer "));
  EXPECT_THAT(names, Contains("kernel pixel, simd 8"));
  EXPECT_THAT(names, Contains("RENDER_SURFACE_STATE "));
  EXPECT_THAT(names, Contains("Vertex Buffer State[0].Buffer Starting Address"));
  EXPECT_EQ(report.bound_left_out, 0u);
}

// The number is the one that a filter for one draw takes.
TEST(HangReport, NumbersDrawsAsTheWholeDumpCountsThem) {
  Dump dump = Hung({.acthd = kVertexBuffers, .ipehr = kFlushHeader});
  // Another engine's batch comes first, with all draws of the capture.
  Submission other = dump.submissions[0];
  other.engine = "rcs1";
  other.unless_reached = false;
  dump.submissions.insert(dump.submissions.begin(), other);
  AddRings(Gfx9(), dump);
  const HangReport all = MakeHangReport(Gfx9(), dump);
  ASSERT_THAT(all.engines, SizeIs(1));
  const EngineReport& report = all.engines[0];
  ASSERT_TRUE(report.work && report.work_draw);
  const decode::Story story = decode::TellAll(Gfx9(), {&dump});
  const std::vector<decode::Seen> draws = story.Named("3DPRIMITIVE");
  ASSERT_LE(*report.work_draw, draws.size());
  EXPECT_EQ(draws[*report.work_draw - 1].address, report.work->address);
  uint64_t shown = 0;
  ASSERT_EQ(report.draws.size(), report.commands.size());
  for (size_t i = 0; i < report.commands.size(); ++i) {
    if (report.draws[i] == 0) continue;
    ++shown;
    EXPECT_EQ(draws[report.draws[i] - 1].address, report.commands[i].address);
  }
  EXPECT_GT(shown, 0u);
}

TEST(HangReport, BeforeTheFirstDrawHasNone) {
  const EngineReport report = Report(Hung({.acthd = 0xfffefffee058, .ipehr = 0x61010011}));
  EXPECT_FALSE(report.work.has_value());
  EXPECT_THAT(report.bound, IsEmpty());
}

TEST(HangReport, WithoutRegistersSaysSo) {
  Dump dump = Hung({.acthd = kDraw});
  Change(dump, [](ErrorState& state) {
    state.engines[0].registers = {{"SOMETHING", 7, false, {}}};
  });
  const EngineReport report = Report(std::move(dump));
  EXPECT_FALSE(report.where.has_value());
  EXPECT_THAT(report.findings, ElementsAre(HasSubstr("No register in the dump")));
}

TEST(HangReport, WithoutTheRingStillFindsTheBatch) {
  Dump dump = Hung({.acthd = kDraw, .ipehr = kDrawHeader});
  Change(dump, [](ErrorState& state) { state.engines[0].ring_address.reset(); });
  const EngineReport report = Report(std::move(dump));
  EXPECT_TRUE(report.reached);
  EXPECT_FALSE(report.ring.has_value());
  EXPECT_THAT(report.findings, Contains(HasSubstr("does not have the ring's memory")));
}

// Kernels up to 4.1 wrote addresses of one word, and all contexts shared them.
TEST(HangReport, OfAddressesOfOneWordFindsBatchAndRingInTheSameSpace) {
  const std::string text =
      "Time: 1391776789 s 123456 us\n"
      "PCI ID: 0x1912\n"
      "render command stream:\n"
      "  HEAD: 0x00200010\n"
      "  TAIL: 0x00000020\n"
      "  ACTHD: 0x00402004\n"
      "  IPEHR: 0x7a000004\n"
      "render ring --- gtt_offset = 0x00402000\n"
      "00000000 :  00000000\n"
      "00000004 :  7a000004\n"
      "00000008 :  00100000\n"
      "0000000c :  00000000\n"
      "00000018 :  00000000\n"
      "0000001c :  05000000\n"
      "render ring --- ringbuffer = 0x00100000\n"
      "00000000 :  18800101\n"
      "00000004 :  00402000\n"
      "00000ffc :  00000000\n";
  absl::StatusOr<Dump> dump = ReadDump(BytesOf(text));
  ASSERT_TRUE(dump.ok()) << dump.status();
  const EngineReport report = Report(*std::move(dump));
  ASSERT_TRUE(report.active.has_value());
  EXPECT_EQ(report.header, report.active);
  EXPECT_EQ(report.commands[*report.active].address, 0x402004u);
  EXPECT_FALSE(report.in_ring);
}

TEST(HangReport, OfAnXeDumpFindsTheCommandToo) {
  Dump hung = Hung({.acthd = kVertexBuffers + 4, .ipehr = kDrawHeader});
  Change(hung, [](ErrorState& state) {
    for (ErrorRegister& one : state.engines[0].registers) {
      if (one.name == "HEAD" || one.name == "TAIL") one.name = "RING_" + one.name;
      one.extra.clear();
    }
    state.facts = {{"", "Reason", "Timedout job - seqno=7, guc_id=2, flags=0x0", 0},
                   {"", "kernel", "6.13.0", 0},
                   {"", "Process", "gl-basic [1234]", 0}};
  });
  const absl::StatusOr<std::string> text = WriteXeDevcoredump(hung, {.line_length = 800});
  ASSERT_TRUE(text.ok()) << text.status();
  absl::StatusOr<Dump> dump = ReadDump(BytesOf(*text));
  ASSERT_TRUE(dump.ok()) << dump.status();
  const HangReport report = ReportOf(*std::move(dump));
  EXPECT_EQ(report.kind, "xe devcoredump");
  EXPECT_EQ(report.kernel, "6.13.0");
  EXPECT_THAT(report.reason, HasSubstr("guc_id=2"));
  ASSERT_THAT(report.engines, SizeIs(1));
  const EngineReport& engine = report.engines[0];
  EXPECT_TRUE(engine.hung);
  EXPECT_EQ(engine.process, "gl-basic [1234]");
  EXPECT_TRUE(engine.reached);
  ASSERT_TRUE(engine.header && engine.active && engine.work);
  EXPECT_EQ(engine.commands[*engine.header].address, kDraw);
  EXPECT_EQ(engine.work->address, kDraw);
  EXPECT_FALSE(engine.bound.empty());
  EXPECT_THAT(engine.findings, Contains(HasSubstr("does not have the ring's memory")));
}

TEST(HangReport, OfSeveralEnginesIsAboutThoseThatTheKernelBlames) {
  Dump dump = Hung({.acthd = kDraw});
  Change(dump, [](ErrorState& state) {
    state.engines.push_back(state.engines[0]);
    state.engines[1].name = "vcs0";
    state.engines[1].hung = false;
  });
  HangReport report = ReportOf(std::move(dump));
  EXPECT_THAT(report.engines, SizeIs(1));
  EXPECT_THAT(report.others, ElementsAre("vcs0"));
}

TEST(HangReport, WhereTheKernelBlamesNobodyItsReasonMay) {
  Dump dump = Hung({.acthd = kDraw});
  Change(dump, [](ErrorState& state) {
    state.title = "GPU HANG: ecode 9:1:0x85dffffb, reason: hang on vcs0, action: reset";
    state.engines.push_back(state.engines[0]);
    state.engines[1].name = "vcs0";
    for (ErrorEngine& engine : state.engines) engine.hung = false;
  });
  HangReport report = ReportOf(std::move(dump));
  ASSERT_THAT(report.engines, SizeIs(1));
  EXPECT_EQ(report.engines[0].name, "vcs0");
}

TEST(HangReport, KnowsTheEngineThatTheReasonMeansByAnotherName) {
  for (const char* title : {"GPU HANG: ecode 9:0:0x85ddfffb, reason: Hang on rcs0, action: reset",
                            "GPU HANG: ecode 9:0:0x85ddfffb, reason: Ring hung, action: reset"}) {
    Dump dump = Hung({.acthd = kDraw});
    Change(dump, [&](ErrorState& state) {
      state.title = title;
      state.facts.push_back({"", "Active process (on ring rcs0)", "x [1]", 0});
      state.engines.push_back(state.engines[0]);
      state.engines[0].name = "blt";
      state.engines[1].name = "render";
      for (ErrorEngine& engine : state.engines) engine.hung = false;
    });
    HangReport report = ReportOf(std::move(dump));
    ASSERT_THAT(report.engines, SizeIs(1)) << title;
    EXPECT_EQ(report.engines[0].name, "render");
    EXPECT_EQ(report.process, "x [1]");
  }
}

// --- Rings as submissions ---

TEST(Rings, BecomeSubmissionsBeforeTheBatches) {
  Dump dump = Hung({.acthd = kDraw, .ipehr = kDrawHeader});
  AddRings(Gfx9(), dump);
  ASSERT_THAT(dump.submissions, SizeIs(2));
  const Submission& ring = dump.submissions[0];
  EXPECT_EQ(ring.kind, "ring");
  EXPECT_EQ(ring.batch_address, kRing + kRequest);
  EXPECT_EQ(ring.batch_length, kRingSize - kRequest + kTail);
  EXPECT_EQ(ring.head, kBehindStart);
  EXPECT_EQ(ring.tail, kTail);
  EXPECT_EQ(dump.submissions[1].acthd, kDraw);
  EXPECT_EQ(dump.submissions[1].ipehr, kDrawHeader);
  AddRings(Gfx9(), dump);
  EXPECT_THAT(dump.submissions, SizeIs(2));
}

TEST(Rings, DecodeFromTheRequestAtFaultToTheTail) {
  Dump dump = Hung({.acthd = kDraw});
  AddRings(Gfx9(), dump);
  const decode::Story story = decode::TellAll(Gfx9(), {&dump});
  std::vector<std::string> in_ring;
  for (const decode::Seen& seen : story.records) {
    if (seen.type == decode::RecordType::kPacket && seen.depth == 0 && seen.space == 1) {
      in_ring.push_back(seen.name);
    }
  }
  EXPECT_THAT(in_ring,
              ElementsAre("PIPE_CONTROL", "MI_ARB_ON_OFF", "MI_BATCH_BUFFER_START", "MI_ARB_ON_OFF",
                          "MI_NOOP", "PIPE_CONTROL", "PIPE_CONTROL", "MI_ARB_ON_OFF",
                          "MI_BATCH_BUFFER_START", "MI_ARB_ON_OFF", "MI_NOOP", "PIPE_CONTROL"));
  EXPECT_THAT(story.Named("3DPRIMITIVE"), SizeIs(12));
  EXPECT_THAT(story.problems, IsEmpty());
}

TEST(Rings, WhoseRegistersPointBeyondThemAreAProblem) {
  Dump dump = Hung({.acthd = kDraw, .head = 0x1ffffc});
  AddRings(Gfx9(), dump);
  EXPECT_THAT(dump.submissions, SizeIs(1));
  ASSERT_THAT(dump.problems, SizeIs(1));
  EXPECT_THAT(dump.problems[0].text, HasSubstr("is not decoded"));
}

// --- As text and as JSON ---

TEST(HangText, MarksTheCommand) {
  Dump dump = Hung({.acthd = kDraw + 4, .ipehr = kDrawHeader, .fault = 0x5000});
  AddRings(Gfx9(), dump);
  const HangReport report = MakeHangReport(Gfx9(), dump);
  const std::string text = ToText(Gfx9(), report);
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("> 0xfffefffeee20  3DPRIMITIVE"),
                                    HasSubstr("<- ACTHD+0x4, IPEHR"))));
  EXPECT_THAT(lines, Contains(HasSubstr("runs     0x3fd0..0x18")));
  EXPECT_THAT(lines, Contains(HasSubstr("fault     0x5000, not in any buffer of the dump")));
  EXPECT_THAT(lines, Contains("  last draw  3DPRIMITIVE at 0xfffefffeee20, draw 3; its state:"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(ToText(Gfx9(), report, true), HasSubstr("\x1b[1m"));
}

TEST(HangText, HasNothingThatATerminalObeys) {
  Dump dump = Hung({.acthd = kDraw});
  Change(dump, [](ErrorState& state) {
    state.title = "GPU HANG \x1b]0;x\x07";
    state.engines[0].process = "a\nb\x1b[2J";
    state.engines[0].requests[0].text += "\x1b[31m";
    for (ErrorRegister& one : state.engines[0].registers) one.name += "\x7f";
  });
  for (const char c : ToText(Gfx9(), ReportOf(std::move(dump)))) {
    EXPECT_TRUE(c == '\n' || (c >= 0x20 && c != 0x7f)) << static_cast<int>(c);
  }
}

TEST(HangJson, IsOneLineThatSaysTheSame) {
  Dump dump = Hung({.acthd = kDraw + 4, .ipehr = kDrawHeader, .fault = 0x5000});
  AddRings(Gfx9(), dump);
  const std::string line = ToJson(Gfx9(), MakeHangReport(Gfx9(), dump));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  rapidjson::Document json;
  json.Parse(line.c_str());
  ASSERT_FALSE(json.HasParseError());
  EXPECT_STREQ(json["type"].GetString(), "hang");
  const auto& engine = json["engines"][0];
  EXPECT_STREQ(engine["acthd"].GetString(), "0xfffefffeee24");
  EXPECT_STREQ(engine["commands"][engine["active"].GetUint()]["name"].GetString(), "3DPRIMITIVE");
  EXPECT_STREQ(engine["requests"][0]["progress"].GetString(), "runs");
  EXPECT_STREQ(engine["fault"]["address"].GetString(), "0x5000");
  EXPECT_STREQ(engine["work"]["address"].GetString(), "0xfffefffeee20");
  EXPECT_GT(engine["bound"].Size(), 5u);
}

// --- Memory ---

class Counted : public DeferredBytes {
 public:
  explicit Counted(int& made) : made_(made) {}

 private:
  absl::Span<const uint8_t> Make() override {
    ++made_;
    return bytes_;
  }
  int& made_;
  const std::vector<uint8_t> bytes_ = std::vector<uint8_t>(4096);
};

TEST(HangReport, MakesOnlyTheBuffersThatItLooksAt) {
  Dump dump = Hung({.acthd = kDraw, .ipehr = kDrawHeader, .fault = 0x8000180000});
  int made = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    const uint64_t address = 0x8000000000 + (i << 20);
    ASSERT_TRUE(dump.memory.MapDeferred(0, address, std::make_shared<Counted>(made), 1 << 20).ok());
    dump.buffers.push_back({0, address, 1 << 20, "user", true});
  }
  dump.SortBuffers();
  AddRings(Gfx9(), dump);
  const HangReport report = MakeHangReport(Gfx9(), dump);
  ASSERT_THAT(report.engines, SizeIs(1));
  ASSERT_TRUE(report.engines[0].fault && report.engines[0].fault->below);
  EXPECT_EQ(report.engines[0].fault->below->size, 4096u);
  EXPECT_LE(made, 2) << "those next to the fault";
}

// --- Hostile ---

TEST(HangReport, OfAnyRegistersDoesNoHarm) {
  std::mt19937_64 random(1);
  const uint64_t somewhere[] = {0, 1, kRing, kDraw, kBatchEnd, ~uint64_t{0}, 0xffffffff, 0x1ffffc};
  for (int i = 0; i < 300; ++i) {
    Dump dump = Hung({.acthd = kDraw});
    Change(dump, [&](ErrorState& state) {
      for (ErrorRegister& one : state.engines[0].registers) {
        if (random() % 2 != 0) continue;
        one.value = random() % 2 != 0 ? random() : somewhere[random() % std::size(somewhere)];
        one.is_64 = random() % 2 != 0;
      }
      for (ErrorRequest& one : state.engines[0].requests) {
        one.tail = random();
        one.head = random();
      }
    });
    AddRings(Gfx9(), dump);
    const HangReport report = MakeHangReport(Gfx9(), dump);
    EXPECT_THAT(ToText(Gfx9(), report), HasSubstr("hang"));
    EXPECT_THAT(ToJson(Gfx9(), report), HasSubstr("\"type\":\"hang\""));
  }
}

TEST(HangReport, OfADumpWithoutAnErrorStateIsEmpty) {
  const HangReport report = MakeHangReport(Gfx9(), Dump());
  EXPECT_THAT(report.engines, IsEmpty());
}

}  // namespace
}  // namespace packsmith::hang
