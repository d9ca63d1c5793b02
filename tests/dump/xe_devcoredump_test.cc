// xe device core dumps: one test for each form that a kernel has written, and for each way to be
// broken.

#include "runtime/dump/xe_devcoredump.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "runtime/dump/hang_dump.h"
#include "runtime/dump/read.h"
#include "runtime/dump/xe_devcoredump_writer.h"

namespace packsmith {
namespace {

Dump Read(const std::string& text) {
  absl::StatusOr<Dump> dump = ReadXeDevcoredump(BytesOf(text, "data"), {});
  EXPECT_TRUE(dump.ok()) << dump.status();
  return dump.ok() ? *std::move(dump) : Dump();
}

uint32_t WordAt(const Dump& dump, uint32_t space, uint64_t address) {
  uint8_t bytes[4] = {};
  EXPECT_EQ(dump.memory.Copy(space, address, absl::MakeSpan(bytes)), 4u) << std::hex << address;
  return uint32_t{bytes[0]} | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 |
         uint32_t{bytes[3]} << 24;
}

constexpr char kNew[] =
    "**** Xe Device Coredump ****\n"
    "Reason: Timedout job - seqno=4294967170, lrc_seqno=4294967170, guc_id=2, flags=0x0\n"
    "kernel: 6.13.0\n"
    "module: xe\n"
    "Snapshot time: 1732198400.000000000\n"
    "Uptime: 123.4\n"
    "Process: gl-basic [1234]\n"
    "PCI ID: 0x64a0\n"
    "PCI revision: 0x04\n"
    "GT id: 0\n"
    "\tType: main\n"
    "\tIP ver: 20.4.4\n"
    "\n"
    "**** GT #0 ****\n"
    "\tTile: 0\n"
    "\n"
    "**** GuC Log ****\n"
    "[LOG].length: 0x8\n"
    "[LOG].data: zz\n"
    "\n"
    "**** GuC CT ****\n"
    "H2G CTB (all sizes in DW):\n"
    "\tsize: 1024\n"
    "\n"
    "**** Contexts ****\n"
    "GuC ID: 2\n"
    "\tName: rcs0\n"
    "\tClass: 0\n"
    "\tHW Context Desc: 0x00200000\n"
    "\tLRC Head: (memory) 184\n"
    "\t[HWSP].length: 0x1000\n"
    "\t[HWSP].data: !!!!\"zz\n"
    "\t[HWCTX].length: 0xd000\n"
    "\t[HWCTX].data: !!!!#z\n"
    "\n"
    "**** Job ****\n"
    "batch_addr[0]: 0x0000fffeeffe0000\n"
    "batch_addr[1]: 0x0000000000000000\n"
    "\n"
    "**** HW Engines ****\n"
    "rcs0 (physical), logical instance=0\n"
    "\tCapture_source: GuC\n"
    "\tCoverage: full-capture\n"
    "\tRING_HEAD: 0x000000b8\n"
    "\tACTHD: 0x0000fffeeffe0010\n"
    "\tROW_INSTDONE[0]: 0xffffffff\n"
    "bcs0 (physical), logical instance=0\n"
    "\tRING_HEAD: 0x00000000\n"
    "\n"
    "**** VM state ****\n"
    "[fffeeffe0000].length: 0x10\n"
    "[fffeeffe0000].properties: read_write|bo|mem_region=0x1\n"
    "[fffeeffe0000].data: !!!!\"!!!!#zz\n"
    "[fffeefff0000].length: 0x1000\n"
    "[fffeefff0000].error: -14\n"
    "[1000].length: 0x10\n"
    "[1000].data: !!!!$zzz\n";

// Linux 6.8 had three sections; the contexts were in one of them.
constexpr char kOld[] =
    "**** Xe Device Coredump ****\n"
    "kernel: 6.8.0\n"
    "Snapshot time: 1.000000000\n"
    "Uptime: 1.2\n"
    "PCI ID: 0x56a0\n"
    "**** GuC CT ****\n"
    "H2G CTB (all sizes in DW):\n"
    "\tsize: 1024\n"
    "GuC ID: 2\n"
    "\tName: ccs0\n"
    "\tHW Context Desc: 0x00200000\n"
    "**** HW Engines ****\n"
    "ccs0 (physical), logical instance=0\n"
    "\tRING_HEAD: 0x000000b8\n";

TEST(XeDevcoredump, YieldsTheContextsMemoryAndItsJob) {
  const Dump dump = Read(kNew);
  EXPECT_EQ(dump.device.pci_id, 0x64a0u);
  EXPECT_EQ(dump.device.uapi, "xe");
  EXPECT_EQ(WordAt(dump, 0, 0xfffeeffe0004), 2u);
  EXPECT_EQ(WordAt(dump, 0, 0x1000), 3u);
  ASSERT_EQ(dump.submissions.size(), 2u);
  EXPECT_EQ(dump.submissions[0].engine, "rcs0");
  EXPECT_EQ(dump.submissions[0].batch_address, 0xfffeeffe0000u);
}

TEST(XeDevcoredump, YieldsTheContextsImageBehindItsStatusPage) {
  const Dump dump = Read(kNew);
  EXPECT_EQ(WordAt(dump, 1, 0x200000), 1u);
  EXPECT_EQ(WordAt(dump, 1, 0x201000), 2u);
  EXPECT_EQ(dump.submissions[1].kind, "context image");
  EXPECT_EQ(dump.submissions[1].batch_address, 0x201000u);
  EXPECT_EQ(dump.submissions[1].space, 1u);
  EXPECT_EQ(dump.submissions[1].own_space, 0u);
}

TEST(XeDevcoredump, SaysWhyAndWhoAndWhere) {
  const Dump dump = Read(kNew);
  const ErrorState& state = *dump.error_state;
  EXPECT_EQ(state.title.substr(0, 12), "Timedout job");
  EXPECT_EQ(state.FactOf("Process"), "gl-basic [1234]");
  ASSERT_EQ(state.engines.size(), 2u);
  EXPECT_EQ(state.engines[0].name, "rcs0");
  EXPECT_EQ(state.engines[0].Find("ACTHD")->value, 0xfffeeffe0010u);
  EXPECT_EQ(state.engines[0].Find("ROW_INSTDONE[0]")->value, 0xffffffffu);
  EXPECT_EQ(state.engines[1].Find("RING_HEAD")->value, 0u);
}

TEST(XeDevcoredump, UnknownSectionsKeysAndPropertiesAreKept) {
  const Dump dump = Read(absl::StrCat(kNew, "**** News ****\nNew key: 7\n",
                                      "**** VM state ****\n[1000].properties: bo|mood=good\n"));
  EXPECT_EQ(dump.error_state->FactOf("New key"), "7");
  EXPECT_EQ(dump.error_state->FactOf("1000.properties"), "bo|mood=good");
  EXPECT_EQ(dump.FindBuffer(0, 0x1000)->flags, "bo, memory regions 0x0, PAT 0");
  EXPECT_EQ(dump.error_state->FactOf("Coverage"), "full-capture");
}

TEST(XeDevcoredump, MemoryThatTheKernelCouldNotReadIsAProblem) {
  const Dump dump = Read(kNew);
  ASSERT_EQ(dump.problems.size(), 1u);
  EXPECT_NE(dump.problems[0].text.find("error -14"), std::string::npos);
  EXPECT_EQ(dump.memory.Find(0, 0xfffeefff0000), nullptr);
}

// As Linux 7.0 writes it.
constexpr char kVm[] =
    "**** VM state ****\n"
    "VM.uapi_flags: 0x5\n"
    "[10000].length: 0x8\n"
    "[10000].properties: read_only|userptr|mem_region=0x0|pat_index=2|cpu_caching=0\n"
    "[10000].data: !!!!\"!!!!#\n"
    "[20000].length: 0x10000000000\n"
    "[20000].properties: read_write|null_sparse|mem_region=0x0|pat_index=2|cpu_caching=0\n"
    "[10000030000].length: 0x4\n"
    "[10000030000].properties: read_write|bo|mem_region=0x2|pat_index=17|cpu_caching=2\n"
    "[10000030000].data: !!!!$\n";

std::string WithVm(const std::string& vm) {
  return absl::StrReplaceAll(
      kNew, {{"**** VM state ****\n", vm},
             {"[HWCTX].data: !!!!#z\n",
              absl::StrCat("[HWCTX].data: !!!!#", std::string(0x3000 / 4 - 1, 'z'), "\n")},
             {"\t[HWCTX].length: 0xd000\n",
              "\n\t[HWCTX].length: 0x3000\n\n\t[HWCTX].replay_offset: 0x0\n"
              "\n\t[HWCTX].replay_length: 0x2000\n"}});
}

TEST(XeDevcoredump, OfLinux7SaysWhatEachRangeIs) {
  const Dump dump = Read(WithVm(kVm));
  EXPECT_EQ(dump.vm_flags, 5u);
  const Buffer* user = dump.FindBuffer(0, 0x10000);
  ASSERT_NE(user, nullptr);
  EXPECT_EQ(user->access, "read-only");
  EXPECT_EQ(user->flags, "userptr, memory regions 0x0, PAT 2");
  const Buffer* local = dump.FindBuffer(0, 0x10000030000);
  ASSERT_NE(local, nullptr);
  EXPECT_EQ(local->access, "read-write");
  EXPECT_EQ(local->flags, "bo, memory regions 0x2, PAT 17, write-combined");
  EXPECT_EQ(WordAt(dump, 0, 0x10000030000), 3u);
}

TEST(XeDevcoredump, SparseRangesReadAsZeroAndAreNoProblem) {
  const Dump dump = Read(WithVm(kVm));
  const Dump without = Read(WithVm("**** VM state ****\n"));
  EXPECT_EQ(dump.problems.size(), without.problems.size());
  EXPECT_EQ(WordAt(dump, 0, 0x20000), 0u);
  EXPECT_EQ(WordAt(dump, 0, 0x1000001fffc), 0u);
  const Buffer* sparse = dump.FindBuffer(0, 0x20000);
  ASSERT_NE(sparse, nullptr);
  EXPECT_EQ(sparse->size, 0x10000000000u);
  EXPECT_EQ(sparse->flags, "sparse, memory regions 0x0, PAT 2");
}

// The length is the input's word alone.
TEST(XeDevcoredump, SparseRangesOfHostileLengthsEndAtTheNextRange) {
  for (const char* length : {"0xffffffffffffffff", "0x0", "0x10000010001", "zero"}) {
    const Dump dump = Read(absl::StrReplaceAll(
        WithVm(kVm), {{"0x10000000000\n", length}, {"[20000].prop", "\n[20000].prop"}}));
    EXPECT_EQ(WordAt(dump, 0, 0x10000030000), 3u) << length;
    const Buffer* sparse = dump.FindBuffer(0, 0x20000);
    if (sparse != nullptr) {
      EXPECT_LE(sparse->size, 0x10000010000u) << length;
    }
  }
}

TEST(XeDevcoredump, BlankLinesAndReplayLinesDoNotEndAContext) {
  const Dump dump = Read(WithVm(kVm));
  ASSERT_EQ(dump.error_state->contexts.size(), 1u);
  EXPECT_EQ(dump.error_state->contexts[0].replay_offset, 0u);
  EXPECT_EQ(dump.error_state->contexts[0].replay_length, 0x2000u);
  EXPECT_EQ(WordAt(dump, 1, 0x201000), 2u);
}

TEST(XeDevcoredump, BecomesAHangDumpWithItsPropertiesFlagsAndTheImageForReplay) {
  const Dump dump = Read(WithVm(kVm));
  const std::string path = testing::TempDir() + "/xe.dmp";
  ASSERT_TRUE(WriteHangDump(dump, path).ok());
  // A sparse range is a few bytes of it.
  EXPECT_LT(std::filesystem::file_size(path), 100'000u);
  absl::StatusOr<Dump> again = ReadDump(path);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->vm_flags, 5u);
  EXPECT_EQ(again->device.uapi, "xe");
  for (const uint64_t address : {uint64_t{0x10000}, uint64_t{0x10000030000}}) {
    ASSERT_NE(again->FindBuffer(0, address), nullptr);
    EXPECT_EQ(again->FindBuffer(0, address)->flags, dump.FindBuffer(0, address)->flags);
    EXPECT_EQ(again->FindBuffer(0, address)->access, dump.FindBuffer(0, address)->access);
    EXPECT_EQ(WordAt(*again, 0, address), WordAt(dump, 0, address));
  }
  ASSERT_NE(again->FindBuffer(0, 0x20000), nullptr);
  EXPECT_EQ(again->FindBuffer(0, 0x20000)->size, 0x10000000000u);
  ASSERT_FALSE(again->submissions.empty());
  EXPECT_EQ(again->submissions.back().kind, "context image");
  EXPECT_EQ(again->submissions.back().batch_length, 0x2000u);
}

TEST(XeDevcoredump, OfLinux68HasItsContextsElsewhere) {
  const Dump dump = Read(kOld);
  EXPECT_EQ(dump.error_state->engines.size(), 1u);
  EXPECT_TRUE(dump.submissions.empty());
  EXPECT_TRUE(dump.problems.empty());
}

TEST(XeDevcoredump, DataBrokenOverLinesAreOne) {
  const std::string text = absl::StrReplaceAll(
      kNew,
      {{"[fffeeffe0000].data: !!!!\"!!!!#zz\n", "[fffeeffe0000].data:\n!!!!\"!!\n!!#z\nz\n"}});
  const Dump dump = Read(text);
  EXPECT_EQ(WordAt(dump, 0, 0xfffeeffe0000), 1u);
  EXPECT_EQ(WordAt(dump, 0, 0xfffeeffe0004), 2u);
  EXPECT_EQ(WordAt(dump, 0, 0xfffeeffe000c), 0u);
  EXPECT_TRUE(dump.late_problems->All().empty());
}

TEST(XeDevcoredump, DataWithoutALengthAreReadToTheirEnd) {
  const Dump dump = Read(absl::StrReplaceAll(kNew, {{"[1000].length: 0x10\n", ""}}));
  EXPECT_EQ(WordAt(dump, 0, 0x1000), 3u);
}

TEST(XeDevcoredump, OutOfTheKernelLogLosesItsPrefixes) {
  std::string text;
  int n = 0;
  for (const absl::string_view line : absl::StrSplit(kNew, '\n')) {
    absl::StrAppendFormat(&text, "[  123.456] xe 0000:00:02.0: [drm] Capture,%d: %s\n", ++n,
                          std::string(line));
  }
  const Dump dump = Read(text);
  EXPECT_EQ(dump.device.pci_id, 0x64a0u);
  EXPECT_EQ(WordAt(dump, 0, 0xfffeeffe0004), 2u);
}

TEST(XeDevcoredump, LinesOfAnyLengthAreRead) {
  const Dump dump = Read(
      absl::StrCat(kNew, "[2000000].length: 0x400000\n[2000000].data: ", std::string(1 << 20, 'z'),
                   "\n**** GuC Log ****\nLog data: ", std::string(1 << 20, 'z'), "\n"));
  EXPECT_EQ(dump.memory.Find(0, 0x2000000)->memory_size, 4u << 20);
  for (const ErrorFact& fact : dump.error_state->facts) EXPECT_LT(fact.value.size(), 1000u);
}

TEST(XeDevcoredump, IsFoundOutByWhatItIs) {
  for (const char* text : {kOld, kNew}) {
    EXPECT_TRUE(LooksLikeXeDevcoredump(text));
    absl::StatusOr<Dump> dump = ReadDump(BytesOf(std::string(text)));
    ASSERT_TRUE(dump.ok()) << dump.status();
    EXPECT_EQ(dump->error_state->kind, "xe devcoredump");
  }
  EXPECT_FALSE(LooksLikeXeDevcoredump("GPU HANG: ecode 9\n"));
  EXPECT_EQ(ReadXeDevcoredump(BytesOf("words\n"), {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(XeDevcoredump, BlamesTheJobsEngineAndShowsHowFarItsRingIs) {
  const Dump dump = Read(absl::StrReplaceAll(
      kNew, {{"\tLRC Head: (memory) 184\n",
              "\tLRC Head: (memory) 184\n\tLRC Tail: (internal) 240, (memory) 232\n"
              "\tStart seqno: (memory) 7\n"}}));
  const ErrorState& state = *dump.error_state;
  EXPECT_TRUE(state.engines[0].hung);
  EXPECT_EQ(state.engines[0].process, "gl-basic [1234]");
  EXPECT_FALSE(state.engines[1].hung);
  ASSERT_EQ(state.engines[0].requests.size(), 1u);
  EXPECT_EQ(state.engines[0].requests[0].head, 184u);
  EXPECT_EQ(state.engines[0].requests[0].tail, 232u);
  EXPECT_EQ(state.engines[0].requests[0].seqno, 7u);
}

// A context's name ends with its own number, not with that of an engine.
TEST(XeDevcoredump, BlamesTheEnginesOfTheContextsClass) {
  const Dump dump = Read(absl::StrReplaceAll(kNew, {{"\tName: rcs0\n", "\tName: rcs17\n"}}));
  EXPECT_TRUE(dump.error_state->engines[0].hung);
  EXPECT_FALSE(dump.error_state->engines[1].hung);
}

TEST(XeDevcoredump, HasAnImageForEachContext) {
  const Dump dump = Read(absl::StrReplaceAll(
      kNew, {{"**** Job ****",
              "GuC ID: 3\n\tName: rcs3\n\tHW Context Desc: 0x00400000\n"
              "\t[HWSP].length: 0x1000\n\t[HWSP].data: !!!!$\n"
              "\t[HWCTX].length: 0xd000\n\t[HWCTX].data: !!!!%z\n\n**** Job ****"}}));
  EXPECT_EQ(WordAt(dump, 1, 0x201000), 2u);
  EXPECT_EQ(WordAt(dump, 1, 0x401000), 4u);
  EXPECT_EQ(dump.submissions.size(), 3u);
}

TEST(XeDevcoredump, WhoseMemoryCouldNotBeReadAtAllSaysSo) {
  const Dump dump =
      Read("**** Xe Device Coredump ****\nPCI ID: 0x64a0\n**** VM state ****\n[0].error: -12\n");
  ASSERT_EQ(dump.problems.size(), 1u);
  EXPECT_NE(dump.problems[0].text.find("error -12"), std::string::npos);
  EXPECT_TRUE(dump.memory.segments().empty());
}

TEST(XeDevcoredump, LogsAreNoMemoryHoweverTheirLinesAreBroken) {
  const Dump dump = Read(absl::StrReplaceAll(
      kNew, {{"[LOG].length: 0x8\n[LOG].data: zz\n", "Log data: zzzzz!!!!\"\n!!!!#!!!!$\nzzzz\n"},
             {"\tsize: 1024\n", "\tsize: 1024\n\tCTB data: zzz!!!!\"\n"}}));
  EXPECT_EQ(dump.memory.segments().size(), 4u);
  EXPECT_EQ(dump.problems.size(), 1u);
  EXPECT_EQ(dump.submissions.size(), 2u);
}

TEST(XeDevcoredumpWriter, WhatItWritesIsReadAgainInAllForms) {
  absl::StatusOr<Dump> core = ReadDump("tests/data/captures/skl-gl-basic/00.core.zst");
  ASSERT_TRUE(core.ok()) << core.status();
  for (const bool contexts_apart : {false, true}) {
    for (const size_t line_length : {0, 800, 7}) {
      const absl::StatusOr<std::string> text =
          WriteXeDevcoredump(*core, {.contexts_apart = contexts_apart, .line_length = line_length});
      ASSERT_TRUE(text.ok()) << text.status();
      const Dump dump = Read(*text);
      ASSERT_EQ(dump.submissions.size(), 1u);
      EXPECT_EQ(dump.submissions[0].batch_address, core->submissions[0].batch_address);
      EXPECT_EQ(dump.submissions[0].engine, "rcs0");
      EXPECT_EQ(dump.device.pci_id, core->device.pci_id);
      for (const Memory::Segment& segment : core->memory.segments()) {
        std::vector<uint8_t> want(segment.memory_size);
        std::vector<uint8_t> have(segment.memory_size);
        core->memory.Copy(0, segment.address, absl::MakeSpan(want));
        ASSERT_EQ(dump.memory.Copy(0, segment.address, absl::MakeSpan(have)), have.size());
        EXPECT_TRUE(want == have) << std::hex << segment.address;
      }
      EXPECT_TRUE(dump.late_problems->All().empty());
    }
  }
}

TEST(XeDevcoredumpWriter, WritesContextsAndRegisters) {
  const Dump first = Read(kNew);
  absl::StatusOr<std::string> text = WriteXeDevcoredump(first, {});
  ASSERT_TRUE(text.ok()) << text.status();
  const Dump dump = Read(*text);
  EXPECT_EQ(WordAt(dump, 1, 0x200000), 1u);
  EXPECT_EQ(WordAt(dump, 1, 0x201000), 2u);
  EXPECT_EQ(dump.error_state->title, first.error_state->title);
  ASSERT_EQ(dump.error_state->engines.size(), 2u);
  EXPECT_EQ(dump.error_state->engines[0].Find("ACTHD")->value, 0xfffeeffe0010u);
  EXPECT_EQ(dump.submissions.size(), 2u);
}

TEST(XeDevcoredumpWriter, RefusesSeveralEngines) {
  Dump dump;
  dump.submissions.resize(2);
  dump.submissions[0].engine = "render";
  dump.submissions[1].engine = "compute";
  EXPECT_EQ(WriteXeDevcoredump(dump, {}).status().code(), absl::StatusCode::kFailedPrecondition);
}

// The same memory with the addresses `batch`, `first` and `second`.
std::string WithAddresses(const char* batch, const char* first, const char* second) {
  return absl::StrFormat(
      "**** Xe Device Coredump ****\n"
      "PCI ID: 0x64a0\n"
      "**** Job ****\n"
      "batch_addr[0]: %s\n"
      "**** VM state ****\n"
      "[%s].length: 0x4\n[%s].data: !!!!\"\n"
      "[%s].length: 0x4\n[%s].data: !!!!#\n",
      batch, first, first, second, second);
}

TEST(XeDevcoredump, AddressesAreInOneForm) {
  for (const std::string& text :
       {WithAddresses("0x0000fffeeffe0000", "fffeeffe0000", "fffeeffe1000"),
        WithAddresses("0xfffffffeeffe0000", "fffffffeeffe0000", "fffffffeeffe1000"),
        WithAddresses("0x0000fffeeffe0000", "fffffffeeffe0000", "1fffffeeffe1000")}) {
    const Dump dump = Read(text);
    ASSERT_EQ(dump.submissions.size(), 1u);
    EXPECT_EQ(dump.submissions[0].batch_address, 0xfffeeffe0000u);
    EXPECT_EQ(dump.submissions[0].batch_length, 0u);
    EXPECT_EQ(WordAt(dump, 0, 0xfffeeffe0000), 1u);
    EXPECT_EQ(WordAt(dump, 0, 0xfffeeffe1000), 2u);
    ASSERT_NE(dump.FindBuffer(0, 0xfffeeffe1003), nullptr);
    EXPECT_EQ(dump.FindBuffer(0, 0xfffeeffe1003)->address, 0xfffeeffe1000u);
    EXPECT_EQ(dump.error_state->batches, std::vector<uint64_t>{0xfffeeffe0000});
  }
}

TEST(XeDevcoredump, AddressesOf57BitsAreWhole) {
  const Dump dump =
      Read(WithAddresses("0x0112003400560000", "112003400560000", "ff12003400561000"));
  EXPECT_EQ(dump.submissions[0].batch_address, 0x0112003400560000u);
  EXPECT_EQ(WordAt(dump, 0, 0x0112003400560000), 1u);
  EXPECT_EQ(WordAt(dump, 0, 0x0112003400561000), 2u);
}

TEST(XeDevcoredump, ContextsAreKnownWithoutRegisters) {
  const Dump dump = Read(
      "**** Xe Device Coredump ****\n"
      "Reason: Timedout job - seqno=4294967169, lrc_seqno=4294967169, guc_id=5, flags=0x0\n"
      "PCI ID: 0x4908\n"
      "GT id: 0\n\tType: main\n\tIP ver: 12.70.4\n"
      "GT id: 1\n\tType: media\n\tIP ver: 13.0.4\n"
      "**** GuC CT ****\n"
      "GuC ID: 5\n\tName: vcs5\n\tClass: 1\n\tHW Context Desc: 0x00506000\n"
      "\tLRC Head: (memory) 0\n\tLRC Tail: (internal) 640, (memory) 632\n"
      "\tStart seqno: (memory) -127\n\tSeqno: (memory) -128\n");
  ASSERT_EQ(dump.error_state->contexts.size(), 1u);
  const ErrorContext& context = dump.error_state->contexts[0];
  EXPECT_EQ(context.id, "5");
  EXPECT_EQ(context.engine, "vcs5");
  EXPECT_EQ(context.image, 0x506000u);
  EXPECT_EQ(context.head, 0u);
  EXPECT_EQ(context.tail, 632u);
  EXPECT_EQ(context.started, -127);
  EXPECT_EQ(context.finished, -128);
  EXPECT_EQ(dump.error_state->job, 4294967169);
  EXPECT_EQ(dump.device.kernel_verx10, 127);
}

// The first release of the driver: messages dword by dword, the queue below them, no memory.
TEST(XeDevcoredump, OfLinux68HasMessagesInLines) {
  const Dump dump = Read(
      "**** Xe Device Coredump ****\nkernel: 6.8.0\nmodule: xe\n"
      "**** GuC CT ****\n"
      "H2G CTB (all sizes in DW):\n\tsize: 1024\n\thead: 4\n\ttail: 7\n"
      "\tcmd[4]: 0x00050002\n\tcmd[5]: 0x20001000\n\tcmd[6]: 0x00000003\n"
      "G2H CTB (all sizes in DW):\n\tsize: 4096\n\tcmd[0]: 0x00000002\n"
      "\tcmd[1]: 0x90001008\n\tcmd[2]: 0x00000003\n\tg2h outstanding: 1\n"
      "GuC ID: 3\n\tName: rcs3\n\tClass: 0\n\tSchedule State: 0x3\n"
      "**** HW Engines ****\nrcs0 (physical), logical instance=0\n\tRING_HEAD: 0x00000080\n");
  const ErrorState& state = *dump.error_state;
  const absl::Span<const uint8_t> to = state.BlobOf("H2G"), from = state.BlobOf("G2H");
  ASSERT_EQ(to.size(), 12u);
  EXPECT_EQ(to[0], 2u);
  EXPECT_EQ(to[8], 3u);
  ASSERT_EQ(from.size(), 12u);
  EXPECT_EQ(from[4], 8u);
  ASSERT_EQ(state.contexts.size(), 1u);
  EXPECT_EQ(state.contexts[0].schedule_state, 3u);
  EXPECT_TRUE(state.engines[0].hung);
}

// A parallel queue: an image, a ring and numbers for each engine, and a work queue.
TEST(XeDevcoredump, OfAParallelQueueHasAStateForEachEngine) {
  const Dump dump = Read(
      "**** Xe Device Coredump ****\n"
      "Reason: Timedout job - seqno=7, lrc_seqno=7, guc_id=8, flags=0x0\n"
      "**** Contexts ****\n"
      "GuC ID: 8\n\tName: vcs8\n\tClass: 1\n\tLogical mask: 0x3\n\tWidth: 2\n\tRef: 5\n"
      "\tHW Context Desc: 0x00506000\n\tLRC Head: (memory) 8\n"
      "\tLRC Tail: (internal) 72, (memory) 64\n"
      "\tStart seqno: (memory) 7\n\tSeqno: (memory) 6\n\tTimestamp: 0x00010000\n"
      "\tJob Timestamp: 0x00008000\n"
      "\t[HWSP].length: 0x1000\n\t[HWSP].data: !!!!#\n"
      "\t[HWCTX].length: 0x1000\n\t[HWCTX].replay_length: 0x800\n\t[HWCTX].data: !!!!$\n"
      "\tHW Context Desc: 0x00606000\n\tLRC Head: (memory) 16\n"
      "\tLRC Tail: (internal) 80, (memory) 80\n"
      "\tStart seqno: (memory) 4\n\tSeqno: (memory) 3\n"
      "\t[HWSP].length: 0x1000\n\t[HWSP].data: !!!!#\n"
      "\t[HWCTX].length: 0x1000\n\t[HWCTX].replay_length: 0x400\n\t[HWCTX].data: !!!!%\n"
      "\tSchedule State: 0x203\n\tFlags: 0x0\n\tWQ head: 16 (internal), 32 (memory)\n"
      "\tWQ tail: 48 (internal), 64 (memory)\n\tWQ status: 1 (memory)\n"
      "GuC ID: 9\n\tName: rcs9\n\tHW Context Desc: 0x00706000\n"
      "**** Job ****\nbatch_addr[0]: 0x1000\nbatch_addr[1]: 0x2000\n");
  const ErrorState& state = *dump.error_state;
  EXPECT_EQ(state.job_queue, 8u);
  ASSERT_EQ(state.contexts.size(), 2u);
  const ErrorContext& queue = state.contexts[0];
  EXPECT_EQ(queue.width, 2u);
  EXPECT_EQ(queue.image, 0x506000u);
  EXPECT_EQ(queue.head, 8u);
  EXPECT_EQ(queue.started, 7);
  EXPECT_EQ(queue.timestamp, 0x10000u);
  EXPECT_EQ(queue.job_timestamp, 0x8000u);
  EXPECT_EQ(queue.replay_length, 0x800u);
  ASSERT_EQ(queue.parallel.size(), 1u);
  EXPECT_EQ(queue.parallel[0].image, 0x606000u);
  EXPECT_EQ(queue.parallel[0].tail, 80u);
  EXPECT_EQ(queue.parallel[0].started, 4);
  EXPECT_EQ(queue.parallel[0].replay_length, 0x400u);
  EXPECT_EQ(queue.schedule_state, 0x203u);
  EXPECT_EQ(queue.work_head, 32u);
  EXPECT_EQ(queue.work_tail, 64u);
  EXPECT_EQ(queue.work_status, 1u);
  EXPECT_EQ(state.contexts[1].image, 0x706000u);
  EXPECT_EQ(WordAt(dump, 1, 0x507000), 3u);
  EXPECT_EQ(WordAt(dump, 1, 0x607000), 4u);
  EXPECT_EQ(state.batches.size(), 2u);
  EXPECT_EQ(dump.submissions[0].engine, "vcs8") << "the queue that the reason names";
}

void Touch(const Dump& dump) {
  for (const Memory::Segment& segment : dump.memory.segments()) {
    const Memory::Segment& real = dump.memory.Resolve(segment);
    ASSERT_LE(real.memory_size, segment.memory_size);
    dump.FindBuffer(segment.space, segment.address);
  }
}

TEST(XeDevcoredump, CutOffAnywhereYieldsWhatCameBefore) {
  const std::string text(kNew);
  for (size_t length = 0; length < text.size(); ++length) {
    const absl::StatusOr<Dump> dump = ReadXeDevcoredump(BytesOf(text.substr(0, length)), {});
    if (dump.ok()) Touch(*dump);
    EXPECT_EQ(dump.ok(), length >= 28) << length;
  }
}

TEST(XeDevcoredump, WithAnyByteChangedDoesNoHarm) {
  for (size_t at = 0; at < sizeof(kNew) - 1; ++at) {
    for (const char c : {'\n', ':', ']', '\xff'}) {
      std::string changed(kNew);
      changed[at] = c;
      const absl::StatusOr<Dump> dump = ReadXeDevcoredump(BytesOf(changed), {});
      if (dump.ok()) Touch(*dump);
    }
  }
}

}  // namespace
}  // namespace packsmith
