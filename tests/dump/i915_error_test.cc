// i915 error states: one test for each form that kernels have written, and for each kind of damage.

#include "runtime/dump/i915_error.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "runtime/dump/i915_error_writer.h"
#include "runtime/dump/read.h"

namespace packsmith {
namespace {

Dump Read(const std::string& text) {
  absl::StatusOr<Dump> dump = ReadI915Error(BytesOf(text, "error"), {});
  EXPECT_TRUE(dump.ok()) << dump.status();
  return dump.ok() ? *std::move(dump) : Dump();
}

uint32_t WordAt(const Dump& dump, uint32_t space, uint64_t address) {
  uint8_t bytes[4] = {};
  EXPECT_EQ(dump.memory.Copy(space, address, absl::MakeSpan(bytes)), 4u) << std::hex << address;
  return uint32_t{bytes[0]} | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 |
         uint32_t{bytes[3]} << 24;
}

const Buffer* Named(const Dump& dump, const std::string& name) {
  for (const Buffer& buffer : dump.buffers) {
    if (buffer.name == name) return &buffer;
  }
  return nullptr;
}

// Linux 3.x: words of hex, addresses of one word, the address spaces one.
constexpr char kOld[] =
    "Time: 1391776789 s 123456 us\n"
    "PCI ID: 0x0166\n"
    "EIR: 0x00000000\n"
    "render command stream:\n"
    "  HEAD: 0x00201234\n"
    "  TAIL: 0x00001250\n"
    "  CTL: 0x0001f001\n"
    "  ACTHD: 0x00402008\n"
    "  IPEHR: 0x7a000002\n"
    "Active [1]:\n"
    "  00402000    16384 02 00 0000 0000 dirty LLC\n"
    "render ring --- gtt_offset = 0x00402000\n"
    "00000000 :  02000000\n"
    "00000004 :  7a000002\n"
    "00000008 :  05000000\n"
    "render ring --- ringbuffer = 0x00100000\n"
    "00000000 :  00000000\n"
    "00000004 :  18800180\n"
    "render ring --- HW Status = 0x00200000\n"
    "00000000 :  00000000 00000001 00000002 00000003\n"
    "Pipe [0]:\n"
    "  Power: on\n";

// Today: names with numbers, addresses of two words, compressed.
constexpr char kNew[] =
    "GPU HANG: ecode 9:1:0x85dffffb, in gl-basic [1234]\n"
    "Kernel: 6.1.0-9-amd64 x86_64\n"
    "Platform: SKYLAKE\n"
    "PCI ID: 0x1912\n"
    "FAULT_TLB_DATA: 0x00000001 0x00000002\n"
    "rcs0 command stream:\n"
    "  CCID:  0x00000000\n"
    "  HEAD:  0x00400178 [0x000000f8]\n"
    "  TAIL:  0x00000280 [0x00000160, 0x00000180]\n"
    "  ACTHD: 0x0000fffe 0effe010\n"
    "  BBADDR: 0x0000fffe_0effe011\n"
    "  PDP0: 0x000000011a2b3000\n"
    "  hung: yes\n"
    "  ELSP[0]:  pid 1234, seqno 5:12+, prio 0, head 000000f8, tail 00000180\n"
    "  Active context: gl-basic[1234] prio 0, guilty 1 active 0\n"
    "vcs0 command stream:\n"
    "  HEAD:  0x00000000 [0x00000000]\n"
    "rcs0 (submitted by gl-basic [1234]) --- batch = 0x0000fffe 0effe000\n"
    "gtt_page_sizes = 0x00001000\n"
    "~!!!!\"z!!!!#\n"
    "rcs0 --- user = 0x0000fffe 0efff000\n"
    "~!!!!$\n"
    "rcs0 --- ring = 0x00000000 00100000\n"
    "~z!!!!\"\n"
    "rcs0 --- HW context = 0x00000000 00200000\n"
    "~z\n"
    "vcs0 --- batch = 0x0000fffe 0effe000\n"
    "~!!!!%\n"
    "rcs0 --- 2 requests\n"
    "  seqno 0x00000005, emitted 4295000000, tail 0x00000180\n"
    "  seqno 0x00000006, emitted 4295000001, tail 0x00000280\n"
    "has_64bit_reloc: yes\n";

TEST(I915Error, OfOldKernelsHasOneWordAddressesAndWordsOfHex) {
  const Dump dump = Read(kOld);
  EXPECT_EQ(dump.device.pci_id, 0x0166u);
  EXPECT_EQ(WordAt(dump, 0, 0x402004), 0x7a000002u);
  EXPECT_EQ(WordAt(dump, 1, 0x100004), 0x18800180u);
  EXPECT_EQ(WordAt(dump, 1, 0x20000c), 3u);
  ASSERT_EQ(dump.submissions.size(), 1u);
  EXPECT_EQ(dump.submissions[0].engine, "render");
  EXPECT_EQ(dump.submissions[0].batch_address, 0x402000u);
  EXPECT_TRUE(dump.problems.empty());
}

TEST(I915Error, RowsOfTheBufferListsAreBuffersWithTilingAndAccess) {
  const Dump dump = Read(
      "PCI ID: 0x2a42\n"
      "render command stream:\n"
      "  HEAD: 0x00000010\n"
      "Active [3]:\n"
      "  00402000    16384 005c 0000 000c9559 dirty purgeable render uncached\n"
      "  1158a000  3145728 0002 0002 000c956f Y dirty render uncached (name: 5) (fence: 2)\n"
      "  0ce1f000  4194304 0042 0000 000c955f P X dirty\n"
      "Pinned [1]:\n"
      "  0ce1f000  4194304 0042 0000 000c955f P X dirty\n"
      "render ring --- gtt_offset = 0x00402000\n"
      "00000000 :  02000000\n");
  const Buffer* surface = dump.FindBuffer(0, 0x1158a100);
  ASSERT_NE(surface, nullptr);
  EXPECT_EQ(surface->name, "");
  EXPECT_EQ(surface->address, 0x1158a000u);
  EXPECT_EQ(surface->size, 3145728u);
  EXPECT_EQ(surface->tiling, "Y");
  EXPECT_EQ(surface->access, "read by render; written by render");
  EXPECT_EQ(surface->flags, "dirty render uncached (name: 5) (fence: 2)");
  EXPECT_EQ(dump.memory.Find(0, 0x1158a000), nullptr);
  // All contexts share what the global space maps.
  ASSERT_NE(dump.FindBuffer(1, 0x1158a100), nullptr);
  size_t listed_twice = 0;
  for (const Buffer& buffer : dump.buffers) {
    if (buffer.space == 0 && buffer.address == 0xce1f000) ++listed_twice;
  }
  EXPECT_EQ(listed_twice, 1u);
  const Buffer* batch = dump.FindBuffer(0, 0x402100);
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(batch->name, "render batch");
  EXPECT_EQ(batch->access, "read by sampler, command streamer, instructions, GTT");
  ASSERT_EQ(dump.submissions.size(), 1u);
  EXPECT_EQ(dump.submissions[0].batch_length, 16384u);
}

TEST(I915Error, RowsOfAnEnginesListAreOfItsSpace) {
  std::string text =
      absl::StrReplaceAll(kNew, {{"rcs0 (submitted",
                                  "Active (vcs0) [1]:\n"
                                  "    00000001_00500000   524288 02 00 [ 5 6 ] LLC\n"
                                  "Pinned (global) [1]:\n"
                                  "    00000000_00700000     4096 40 40 [ ] P LLC\n"
                                  "rcs0 (submitted"}});
  const Dump dump = Read(text);
  const uint32_t space = dump.error_state->engines[1].space;
  ASSERT_NE(dump.FindBuffer(space, 0x100500000), nullptr);
  EXPECT_EQ(dump.FindBuffer(space, 0x100500000)->flags, "LLC");
  ASSERT_NE(dump.FindBuffer(1, 0x700000), nullptr);
  EXPECT_EQ(dump.FindBuffer(1, 0x700000)->access, "read by GTT; written by GTT");
}

TEST(I915Error, ABatchThatNoListHasIsOfUnknownLength) {
  for (const Submission& submission : Read(kNew).submissions) {
    if (submission.kind == "batch") {
      EXPECT_EQ(submission.batch_length, 0u);
    }
  }
}

TEST(I915Error, TheEnginesBatchLineSaysHowLongTheBatchIs) {
  const Dump dump = Read(absl::StrReplaceAll(
      kNew, {{"  PDP0:", "  batch: [0x0000fffe_0effe000, 0x0000fffe_0effe040]\n  PDP0:"}}));
  ASSERT_FALSE(dump.submissions.empty());
  EXPECT_EQ(dump.submissions[0].batch_length, 0x40u);
  // Nothing is said about another engine at the same address.
  for (const Submission& submission : dump.submissions) {
    if (submission.engine == "vcs0") {
      EXPECT_EQ(submission.batch_length, 0u);
    }
  }
}

TEST(I915Error, AddressesAreInOneForm) {
  const Dump dump = Read(
      absl::StrReplaceAll(kNew, {{"batch = 0x0000fffe 0effe000", "batch = 0xfffffffe 0effe000"},
                                 {"user = 0x0000fffe 0efff000", "user = 0x00120034 0efff000"}}));
  const uint32_t space = dump.error_state->engines[0].space;
  EXPECT_EQ(WordAt(dump, space, 0xfffe0effe008), 2u);
  EXPECT_EQ(dump.submissions[0].batch_address, 0xfffe0effe000u);
  // 57 bits.
  EXPECT_EQ(WordAt(dump, space, 0x120034'0efff000), 3u);
}

TEST(I915Error, FencesInUseAreRegisters) {
  const Dump dump = Read(
      "PCI ID: 0x2a42\n  fence[0] = 1f5700001f4800d\n  fence[1] = 00000000\n"
      "render command stream:\n  HEAD: 0x00000010\n");
  ASSERT_EQ(dump.error_state->registers.size(), 1u);
  EXPECT_EQ(dump.error_state->registers[0].name, "fence[0]");
  EXPECT_EQ(dump.error_state->registers[0].value, 0x1f5700001f4800du);
  EXPECT_TRUE(dump.error_state->registers[0].is_64);
}

TEST(I915Error, TheErrorCodeNamesTheGeneration) {
  EXPECT_EQ(Read(kNew).device.kernel_verx10, 90);
  EXPECT_EQ(Read(kOld).device.kernel_verx10, 0);
}

TEST(I915Error, WhatTheDriverKeepsOfTheRingIsKnown) {
  const Dump dump = Read("PCI ID: 0x2a42\nrender command stream:\n  ring->head: 0x0000e200\n");
  ASSERT_EQ(dump.error_state->engines.size(), 1u);
  EXPECT_EQ(dump.error_state->engines[0].ring_kept, 0xe200u);
}

TEST(I915Error, OfOldKernelsMapsOneSpaceTwice) {
  const Dump dump = Read(kOld);
  EXPECT_EQ(WordAt(dump, 1, 0x402004), 0x7a000002u);
  EXPECT_EQ(WordAt(dump, 0, 0x100004), 0x18800180u);
}

TEST(I915Error, OfNewKernelsHasASpaceForEachContext) {
  const Dump dump = Read(kNew);
  ASSERT_EQ(dump.error_state->engines.size(), 2u);
  const ErrorEngine& rcs = dump.error_state->engines[0];
  const ErrorEngine& vcs = dump.error_state->engines[1];
  EXPECT_NE(rcs.space, vcs.space);
  EXPECT_EQ(WordAt(dump, rcs.space, 0xfffe0effe008), 2u);
  EXPECT_EQ(WordAt(dump, vcs.space, 0xfffe0effe000), 4u);
  EXPECT_EQ(WordAt(dump, 1, 0x100004), 1u);
  EXPECT_EQ(dump.memory.Find(rcs.space, 0x100004), nullptr);
}

TEST(I915Error, OfNewKernelsNamesProcessesRequestsAndTheHang) {
  const Dump dump = Read(kNew);
  const ErrorState& state = *dump.error_state;
  EXPECT_EQ(state.title, "GPU HANG: ecode 9:1:0x85dffffb, in gl-basic [1234]");
  EXPECT_EQ(state.FactOf("Kernel"), "6.1.0-9-amd64 x86_64");
  EXPECT_EQ(state.FactOf("has_64bit_reloc"), "yes");
  EXPECT_EQ(dump.device.platform, "skylake");
  const ErrorEngine& engine = state.engines[0];
  EXPECT_TRUE(engine.hung);
  EXPECT_NE(engine.process.find("gl-basic"), std::string::npos);
  EXPECT_EQ(engine.ring_address, 0x100000u);
  ASSERT_EQ(engine.requests.size(), 3u);
  EXPECT_EQ(engine.requests[0].head, 0xf8u);
  EXPECT_EQ(engine.requests[0].pid, 1234);
  EXPECT_EQ(engine.requests[2].seqno, 6u);
  EXPECT_EQ(engine.requests[2].tail, 0x280u);
}

TEST(I915Error, RegistersKeepWhatIsInBracketsAndBothWords) {
  const Dump dump = Read(kNew);
  const ErrorEngine& engine = dump.error_state->engines[0];
  ASSERT_NE(engine.Find("HEAD"), nullptr);
  EXPECT_EQ(engine.Find("HEAD")->value, 0x400178u);
  EXPECT_EQ(engine.Find("HEAD")->extra, std::vector<uint64_t>{0xf8});
  EXPECT_EQ(engine.Find("TAIL")->extra, (std::vector<uint64_t>{0x160, 0x180}));
  EXPECT_EQ(engine.Find("ACTHD")->value, 0xfffe0effe010u);
  EXPECT_EQ(engine.Find("BBADDR")->value, 0xfffe0effe011u);
  EXPECT_EQ(engine.Find("PDP0")->value, 0x11a2b3000u);
  ASSERT_EQ(dump.error_state->registers.size(), 2u);
  EXPECT_EQ(dump.error_state->registers[1].name, "FAULT_TLB_DATA0");
  EXPECT_EQ(dump.error_state->registers[1].value, 2u);
}

TEST(I915Error, ContextImagesBeginBehindTheirStatusPage) {
  std::string text(kNew);
  text = absl::StrReplaceAll(
      text, {{"0x00000000 00200000\n~z\n",
              absl::StrCat("0x00000000 00200000\n~", std::string(2048, 'z'), "\n")}});
  const Dump dump = Read(text);
  const Submission* image = nullptr;
  for (const Submission& submission : dump.submissions) {
    if (submission.kind == "context image") image = &submission;
  }
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(image->batch_address, 0x201000u);
  EXPECT_EQ(image->space, 1u);
  EXPECT_EQ(image->own_space, dump.error_state->engines[0].space);
}

TEST(I915Error, BuffersAreNamedAndAsLargeAsTheirData) {
  const Dump dump = Read(kNew);
  const uint32_t space = dump.error_state->engines[0].space;
  ASSERT_NE(Named(dump, "rcs0 user"), nullptr);
  const Buffer* user = dump.FindBuffer(space, 0xfffe0efff002);
  ASSERT_NE(user, nullptr);
  EXPECT_EQ(user->name, "rcs0 user");
  // The batch's memory extends to the next buffer, its data do not.
  EXPECT_EQ(dump.FindBuffer(space, 0xfffe0effe00b)->name, "rcs0 batch");
  EXPECT_EQ(dump.FindBuffer(space, 0xfffe0effe00c), nullptr);
}

TEST(I915Error, UnknownLinesAreKept) {
  const Dump dump = Read(absl::StrCat(kNew, "New section of Linux 9:\n  inner: 7\njust words\n"));
  std::string all;
  for (const ErrorFact& fact : dump.error_state->facts) {
    absl::StrAppend(&all, fact.key, "=", fact.value, ";");
  }
  EXPECT_NE(all.find("inner=7"), std::string::npos) << all;
  EXPECT_NE(all.find("just words"), std::string::npos);
  EXPECT_NE(all.find("New section of Linux 9="), std::string::npos);
}

TEST(I915Error, DataWithoutAHeaderArePassedOver) {
  const Dump dump =
      Read(absl::StrCat("GPU HANG: ecode 9\n", ":zzzz\n00000000 :  00000001\n", kNew));
  EXPECT_EQ(dump.problems.size(), 2u);
  EXPECT_EQ(dump.submissions.size(), 3u);
}

TEST(I915Error, WithoutAPciIdStillReads) {
  const Dump dump = Read(absl::StrReplaceAll(kNew, {{"PCI ID: 0x1912\n", ""}}));
  EXPECT_FALSE(dump.device.pci_id.has_value());
  EXPECT_EQ(dump.submissions.size(), 3u);
}

TEST(I915Error, MoreThan1024BuffersAreAllThere) {
  std::string text = "rcs0 command stream:\n";
  for (uint32_t i = 0; i < 3000; ++i) {
    absl::StrAppendFormat(&text, "rcs0 --- user = 0x00000000 %08x\n~!!!!%c\n", i * 0x1000 + 0x1000,
                          '!' + 1 + static_cast<int>(i % 80));
  }
  const Dump dump = Read(text);
  EXPECT_EQ(dump.memory.segments().size(), 3000u);
  EXPECT_EQ(WordAt(dump, 0, 3000 * 0x1000), 1 + 2999 % 80u);
}

TEST(I915Error, AHeaderOfOneWordHasNoLeftOverHighWord) {
  const Dump dump = Read(
      "rcs0 --- user = 0x00000001 00001000\n~!!!!\"\n"
      "rcs0 --- user = 0x00002000\n~!!!!#\n");
  EXPECT_EQ(WordAt(dump, 0, 0x100001000), 1u);
  EXPECT_EQ(WordAt(dump, 0, 0x2000), 2u);
}

TEST(I915Error, DataOfUuidRecordsAreNotTheBuffersBefore) {
  const Dump dump = Read(
      "rcs0 --- user = 0x00000000 00001000\nmetadata UUIDs: 1\n"
      "    UUID: 0, Class: a, Type: b\n:zzzz\n"
      "rcs0 --- user = 0x00000000 00002000\n~!!!!\"\n");
  EXPECT_EQ(dump.memory.segments().size(), 1u);
  EXPECT_EQ(WordAt(dump, 0, 0x2000), 1u);
}

TEST(I915Error, ABadGroupIsAProblemWhenItIsLookedAt) {
  const Dump dump = Read("rcs0 --- user = 0x00000000 00001000\n~!!!!\"|!!!!\n");
  EXPECT_TRUE(dump.late_problems->All().empty());
  EXPECT_EQ(dump.memory.Read(0, 0x1000, 100).size(), 4u);
  EXPECT_EQ(dump.late_problems->All().size(), 1u);
}

TEST(I915Error, IsFoundOutByWhatItIs) {
  for (const char* text : {kOld, kNew}) {
    EXPECT_TRUE(LooksLikeI915Error(text));
    absl::StatusOr<Dump> dump = ReadDump(BytesOf(std::string(text)));
    ASSERT_TRUE(dump.ok()) << dump.status();
    EXPECT_NE(dump->error_state, nullptr);
  }
  EXPECT_FALSE(LooksLikeI915Error("00000000 : 00000001\n"));
  EXPECT_FALSE(LooksLikeI915Error("**** Xe Device Coredump ****\nPCI ID: 0x64a0\n"));
  EXPECT_FALSE(LooksLikeI915Error(""));
}

TEST(I915Error, OfNothingIsAnErrorThatSaysWhereToFindOne) {
  const absl::Status status = ReadI915Error(BytesOf("no error state collected\n"), {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("/sys/class/drm"), absl::string_view::npos);
}

TEST(I915Error, RingsAndRegistersOfOneEngineBelongTogetherWhateverTheirNames) {
  const Dump dump = Read(
      "blt command stream:\n  HEAD: 0x00000010\n"
      "vebox command stream:\n  HEAD: 0x00000020\n"
      "blitter ring --- ringbuffer = 0x00100000\n00000000 :  00000001\n"
      "video enhancement ring --- ringbuffer = 0x00200000\n00000000 :  00000001\n"
      "bsd2 ring --- gtt_offset = 0x00300000\n00000000 :  05000000\n");
  ASSERT_EQ(dump.error_state->engines.size(), 3u);
  EXPECT_EQ(dump.error_state->engines[0].ring_address, 0x100000u);
  EXPECT_EQ(dump.error_state->engines[1].ring_address, 0x200000u);
  EXPECT_EQ(dump.error_state->engines[2].name, "bsd2");
}

TEST(I915Error, BufferListsOfAllFormsAreExtents) {
  const Dump dump = Read(
      "PCI ID: 0x1912\n"
      "Active [1]:\n  00402000    16384 02 00 0000 0000 dirty LLC\n"
      "Active (rcs0) [2]:\n"
      "    00000000_00404000     4096 02 00 [ 0 0 ] 0 snooped\n"
      "    00000001_00000000     8192 02 00 LLC (name: 7)\n"
      "Pinned (global) [1]:\n  00000000_00500000    65536 40 40 P\n"
      "Pinned [1]:\n  00600000     4096 40 40 P\n");
  ASSERT_EQ(dump.buffers.size(), 5u);
  EXPECT_EQ(dump.FindBuffer(0, 0x405fff - 0x1000)->address, 0x404000u);
  EXPECT_EQ(dump.FindBuffer(0, 0x100001fff)->size, 8192u);
  // A list's heading is not a buffer's name.
  EXPECT_EQ(dump.FindBuffer(1, 0x500000)->name, "");
  EXPECT_EQ(dump.FindBuffer(1, 0x500000)->flags, "P");
  EXPECT_EQ(dump.FindBuffer(0, 0x404000)->flags, "snooped");
  EXPECT_EQ(dump.FindBuffer(0, 0x100000000)->flags, "LLC (name: 7)");
  EXPECT_EQ(dump.FindBuffer(0, 0x600000)->access, "read by GTT; written by GTT");
}

TEST(I915Error, EveryNameOfABufferSaysWhichSpaceItLiesIn) {
  const struct {
    const char* name;
    uint32_t space;
  } kNames[] = {{"batch", 0},      {"user", 0},           {"gtt_offset", 0},
                {"ring", 1},       {"ringbuffer", 1},     {"HW Status", 1},
                {"HW status", 1},  {"HW context", 1},     {"WA context", 1},
                {"WA batch", 1},   {"wa batchbuffer", 1}, {"NULL context", 1},
                {"semaphores", 1}, {"GuC log buffer", 1}, {"GuC CTB", 1}};
  for (const auto& [name, space] : kNames) {
    const Dump dump = Read(absl::StrCat("rcs0 --- ", name, " = 0x00000000 00100000\n~!!!!\"\n"));
    EXPECT_EQ(WordAt(dump, space, 0x100000), 1u) << name;
    EXPECT_EQ(dump.memory.segments().size(), 1u) << name;
  }
  const Dump dump = Read("global --- anything = 0x00000000 00100000\n~!!!!\"\n");
  EXPECT_EQ(WordAt(dump, 1, 0x100000), 1u);
}

TEST(I915Error, WaitersAreKeptAndNoBuffers) {
  const Dump dump = Read(
      "render ring --- 1 waiters\n seqno 0x00000005 for gl-basic [1234]\n"
      "render ring --- gtt_offset = 0x00402000\n00000000 :  05000000\n");
  EXPECT_EQ(dump.error_state->engines[0].requests.size(), 1u);
  EXPECT_EQ(dump.submissions.size(), 1u);
  EXPECT_TRUE(dump.problems.empty());
}

TEST(I915Error, ABufferWithoutDataIsAProblemOfItsOwn) {
  const Dump dump =
      Read("rcs0 --- user = 0x00000000 00001000\nrcs0 --- user = 0x00000000 00002000\n~!!!!\"");
  ASSERT_EQ(dump.problems.size(), 1u);
  EXPECT_EQ(WordAt(dump, 0, 0x2000), 1u);
}

TEST(I915Error, LinesThatEndAsOtherSystemsEndThemAreRead) {
  const Dump dump = Read(absl::StrReplaceAll(kNew, {{"\n", "\r\n"}}));
  EXPECT_EQ(dump.device.pci_id, 0x1912u);
  EXPECT_EQ(dump.submissions.size(), 3u);
  EXPECT_TRUE(dump.problems.empty());
}

TEST(I915Error, ABatchOfBracketsIsNoRegister) {
  const Dump dump = Read(
      "rcs0 command stream:\n  batch: [0x00000000_00001000, 0x00000000_00002000]\n"
      "  hung: no\n  engine reset count: 0\n");
  EXPECT_TRUE(dump.error_state->engines[0].registers.empty());
  ASSERT_EQ(dump.error_state->engines[0].facts.size(), 3u);
  EXPECT_EQ(dump.error_state->engines[0].facts[0].key, "batch");
}

TEST(I915Error, AnEngineHangsIfTheKernelSaysYesOrANumber) {
  for (const auto& [said, hangs] : std::vector<std::pair<std::string, bool>>{
           {"yes", true}, {"no", false}, {"1", true}, {"0", false}, {"x", false}}) {
    const Dump dump = Read("rcs0 command stream:\n  hung: " + said + "\n");
    EXPECT_EQ(dump.error_state->engines[0].hung, hangs) << said;
  }
}

// Where the firmware schedules, it saves the registers, by lists and under other names.
TEST(I915Error, HasTheRegistersThatTheFirmwareSaved) {
  const Dump dump = Read(
      "GPU HANG: ecode 12:1:85dffffb, in seeded [1]\nPCI ID: 0x56a0\n"
      "global --- GuC Error Capture on rcs0 command stream:\n"
      "Coverage:  full-capture\n"
      "  RegListType: Global\n    Owner-Id: 0\n    NumRegs: 2\n"
      "      GEN12_FAULT_TLB_DATA0:  0x00000105\n      FAULT_REG:  0x00000001\n"
      "  RegListType: Engine-Class\n    Owner-Id: 0\n    GuC-Eng-Class: 0\n"
      "    i915-Eng-Class: 0\n    NumRegs: 2\n"
      "      GEN8_ROW_INSTDONE[0][1]:  0xfffffffe\n      REG-0x00001234:  0x00000007\n"
      "  RegListType: Engine-Instance\n    Owner-Id: 0\n    i915-Eng-Name: rcs0\n"
      "    i915-Eng-Inst-Class: 0\n    GuC-Eng-Inst-Id: 0\n    GuC-Context-Id: 5\n"
      "    LRCA: 0x00506119\n    NumRegs: 5\n"
      "      HEAD:  0x00000080\n      ACTHD_UDW:  0x00000001\n      ACTHD_LDW:  0x00402018\n"
      "      RING_BBADDR_LOW32:  0x00402019\n      RING_BBADDR_UP32:  0x00000002\n"
      "  hung: 1\n  engine reset count: 0\n"
      "  Active context: seeded[1] prio 0, guilty 1 active 0\n"
      "  Missing GuC capture node for bcs0\n  hung: 0\n"
      "rcs0 --- batch = 0x00000001 00402000\n~!!!!#\n");
  const ErrorState& state = *dump.error_state;
  ASSERT_EQ(state.engines.size(), 2u);
  const ErrorEngine& engine = state.engines[0];
  EXPECT_EQ(engine.name, "rcs0");
  EXPECT_TRUE(engine.hung);
  EXPECT_EQ(engine.process, "seeded[1] prio 0, guilty 1 active 0");
  EXPECT_EQ(engine.Find("ACTHD")->value, 0x100402018u);
  EXPECT_TRUE(engine.Find("ACTHD")->is_64);
  EXPECT_EQ(engine.Find("RING_BBADDR")->value, 0x200402019u);
  EXPECT_EQ(engine.Find("HEAD")->value, 0x80u);
  EXPECT_EQ(engine.Find("GEN8_ROW_INSTDONE[0][1]")->value, 0xfffffffeu);
  EXPECT_EQ(engine.Find("GEN12_FAULT_TLB_DATA0")->value, 0x105u);
  EXPECT_EQ(engine.Find("REG-0x00001234")->value, 7u);
  EXPECT_EQ(engine.Find("ACTHD_LDW"), nullptr);
  EXPECT_EQ(engine.Find("LRCA"), nullptr);
  EXPECT_EQ(engine.facts[0].key, "Coverage");
  EXPECT_EQ(state.engines[1].name, "bcs0");
  EXPECT_FALSE(state.engines[1].hung);
  ASSERT_EQ(state.contexts.size(), 1u);
  EXPECT_EQ(state.contexts[0].id, "5");
  EXPECT_EQ(state.contexts[0].engine, "rcs0");
  EXPECT_EQ(state.contexts[0].image, 0x506000u);
  EXPECT_EQ(WordAt(dump, 0, 0x100402000), 2u);
  EXPECT_TRUE(dump.problems.empty());
}

TEST(I915Error, OfLinux42HasListsForEachAddressSpaceAndStatusPagesInRows) {
  const Dump dump = Read(
      "GPU HANG: ecode 7:0:0x87c3ffff, in Xorg [885], reason: Ring hung, action: reset\n"
      "Active process (on ring render): Xorg [885]\n"
      "PCI ID: 0x0166\n"
      "  fence[0] = 01000341\n"
      "  INSTDONE_0: 0x03ffffc1\n"
      "  INSTDONE_1: 0x00000000\n"
      "ERROR: 0x00000000\n"
      "render command stream:\n"
      "  HEAD: 0x0721bd70\n"
      "  RC PSMI: 0x00000010\n"
      "  SYNC_0: 0x00000005 [last synced 0x00000004]\n"
      "  hangcheck: hung [40]\n"
      "vm[0]\n"
      "  Active [1]:\n"
      "    01900000    16384 7e 00 [ 2d4b9 00 00 00 00 ] 00 dirty uncached\n"
      "  Pinned [1]:\n"
      "    00500000   131072 40 40 [ 00 00 00 00 00 ] 00 P dirty uncached\n"
      "render ring (submitted by Xorg [885]) --- gtt_offset = 0x01900000\n"
      "00000000 :  05000000\n"
      "render ring (w/a) --- gtt_offset = 0x01a00000\n"
      "00000000 :  05000000\n"
      "render ring --- HW Status = 0x00200000\n"
      "[0000] 00000000 00000001 00000002 00000003\n"
      "[0010] 00000004 00000005 00000006 00000007\n"
      "Semaphore page = 0x00300000\n"
      "[0000] 00000008 00000001 00000002 00000003\n");
  const ErrorState& state = *dump.error_state;
  ASSERT_EQ(state.engines.size(), 1u);
  EXPECT_TRUE(state.engines[0].hung);
  EXPECT_EQ(state.engines[0].process, "Xorg [885]");
  EXPECT_EQ(state.engines[0].Find("SYNC_0")->value, 5u);
  ASSERT_EQ(state.registers.size(), 4u);
  EXPECT_EQ(state.registers[0].name, "fence[0]");
  EXPECT_EQ(state.registers[1].name, "INSTDONE_0");
  EXPECT_EQ(WordAt(dump, 1, 0x20001c), 7u);
  EXPECT_EQ(WordAt(dump, 1, 0x300000), 8u);
  EXPECT_EQ(dump.FindBuffer(0, 0x1903fff)->name, "render batch");
  EXPECT_EQ(dump.FindBuffer(0, 0x1903fff)->flags, "dirty uncached");
  EXPECT_EQ(dump.FindBuffer(1, 0x500000)->flags, "P dirty uncached");
  ASSERT_EQ(dump.submissions.size(), 2u);
  EXPECT_NE(dump.submissions[0].slot, dump.submissions[1].slot);
  EXPECT_TRUE(dump.problems.empty()) << dump.problems[0].text;
}

TEST(I915Error, OfKernelsWithOneRingNamesNone) {
  const Dump dump = Read(
      "--- gtt_offset = 0x01900000\n00000000 :  05000000\n"
      "--- ringbuffer = 0x00100000\n00000000 :  00000001\n"
      "PCI ID: 0x2a42\n");
  ASSERT_EQ(dump.submissions.size(), 1u);
  EXPECT_EQ(dump.submissions[0].engine, "render");
  EXPECT_EQ(dump.error_state->engines[0].ring_address, 0x100000u);
}

// Everything in a dump that could break a reader.
void Touch(const Dump& dump) {
  for (const Memory::Segment& segment : dump.memory.segments()) {
    const Memory::Segment& real = dump.memory.Resolve(segment);
    ASSERT_LE(real.memory_size, segment.memory_size);
    dump.memory.Read(segment.space, segment.address, 64);
    dump.FindBuffer(segment.space, segment.address);
  }
}

TEST(I915Error, CutOffAnywhereYieldsWhatCameBefore) {
  for (const std::string text : {kOld, kNew}) {
    for (size_t length = 0; length < text.size(); ++length) {
      const absl::StatusOr<Dump> dump = ReadI915Error(BytesOf(text.substr(0, length)), {});
      if (!dump.ok()) {
        EXPECT_LT(length, 60u);
        continue;
      }
      Touch(*dump);
    }
  }
}

TEST(I915Error, WithAnyByteChangedDoesNoHarm) {
  for (const std::string text : {kOld, kNew}) {
    for (size_t at = 0; at < text.size(); ++at) {
      for (const char c : {'\n', ':', '\xff'}) {
        std::string changed = text;
        changed[at] = c;
        const absl::StatusOr<Dump> dump = ReadI915Error(BytesOf(changed), {});
        if (dump.ok()) Touch(*dump);
      }
    }
  }
}

// ------------------------------------------------------------------------------------------------

TEST(I915ErrorWriter, WhatItWritesIsReadAgainInAllForms) {
  absl::StatusOr<Dump> core = ReadDump("tests/data/captures/skl-gl-basic/00.core.zst");
  ASSERT_TRUE(core.ok()) << core.status();
  for (const I915ErrorData data :
       {I915ErrorData::kHexWords, I915ErrorData::kAscii85, I915ErrorData::kAscii85Zlib}) {
    for (const bool new_names : {false, true}) {
      const absl::StatusOr<std::string> text =
          WriteI915Error(*core, {.data = data, .two_words = true, .new_names = new_names});
      ASSERT_TRUE(text.ok()) << text.status();
      const Dump dump = Read(*text);
      ASSERT_EQ(dump.submissions.size(), 1u);
      EXPECT_EQ(dump.submissions[0].batch_address, core->submissions[0].batch_address);
      EXPECT_EQ(dump.device.pci_id, core->device.pci_id);
      for (const Memory::Segment& segment : core->memory.segments()) {
        std::vector<uint8_t> want(segment.memory_size);
        std::vector<uint8_t> have(segment.memory_size);
        core->memory.Copy(0, segment.address, absl::MakeSpan(want));
        ASSERT_EQ(dump.memory.Copy(0, segment.address, absl::MakeSpan(have)), have.size());
        EXPECT_EQ(want, have) << std::hex << segment.address;
      }
      EXPECT_TRUE(dump.late_problems->All().empty());
    }
  }
}

TEST(I915ErrorWriter, RefusesAnAddressThatDoesNotFitOneWord) {
  absl::StatusOr<Dump> core = ReadDump("tests/data/captures/skl-gl-basic/00.core.zst");
  ASSERT_TRUE(core.ok()) << core.status();
  const absl::StatusOr<std::string> text = WriteI915Error(*core, {.two_words = false});
  EXPECT_EQ(text.status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace packsmith
