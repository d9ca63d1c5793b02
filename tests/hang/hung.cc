#include "tests/hang/hung.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_format.h"
#include "runtime/dump/read.h"

namespace packsmith::hang {
namespace {

constexpr uint32_t kWraps = 2u << 21;  // of the head register: how often the ring began anew
constexpr uint32_t kArbitrate = 0x04000001, kDoNot = 0x04000000;

// The driver's packets around a batch.
std::array<uint32_t, 18> RequestOf(uint64_t batch) {
  const auto low = static_cast<uint32_t>(batch), high = static_cast<uint32_t>(batch >> 32);
  return {0x7a000004, 0x00100000, 0,          0,    0, 0,   // flushes
          kArbitrate, 0x18800101, low,        high,         // starts the batch
          kDoNot,     0,                                    //
          0x7a000004, 0x01104000, 0x00200100, 0,    7, 0};  // flushes, and writes the number
}

// An additional owner of a dump's memory.
struct Kept {
  std::shared_ptr<const void> core;
  std::vector<uint8_t> ring;
};

}  // namespace

Dump HungCapture(const std::string& path, const HungAt& at) {
  absl::StatusOr<Dump> core = ReadDump(path);
  if (!core.ok()) {
    ADD_FAILURE() << core.status();
    return {};
  }
  Dump dump;
  dump.device = core->device;
  dump.submissions = {core->submissions[0]};
  dump.submissions[0].kind = "batch";
  dump.submissions[0].index = 0;
  dump.submissions[0].engine = "rcs0";
  dump.submissions[0].context = 0;
  dump.submissions[0].unless_reached = true;
  auto kept = std::make_shared<Kept>();
  for (const Memory::Segment& segment : core->memory.segments()) {
    if (segment.bytes.empty()) continue;
    const uint64_t size =
        std::min<uint64_t>((segment.bytes.size() + 4095) / 4096 * 4096, segment.memory_size);
    EXPECT_TRUE(dump.memory.Map(segment.space, segment.address, segment.bytes, size).ok());
    const bool is_batch = segment.Contains(0, dump.submissions[0].batch_address);
    dump.buffers.push_back(
        {segment.space, segment.address, size, is_batch ? "rcs0 batch" : "rcs0 user", false});
  }
  kept->core = std::move(core->backing);

  kept->ring.resize(kRingSize);
  uint64_t to = kRequest;
  for (const uint64_t batch : {dump.submissions[0].batch_address, kOtherBatch}) {
    for (const uint32_t dword : RequestOf(batch)) {
      for (int i = 0; i < 4; ++i) {
        kept->ring[(to + static_cast<uint64_t>(i)) % kRingSize] =
            static_cast<uint8_t>(dword >> 8 * i);
      }
      to += 4;
    }
  }
  EXPECT_EQ(to % kRingSize, kTail);
  EXPECT_TRUE(dump.memory.Map(kGlobalSpace, kRing, kept->ring, kRingSize).ok());

  ErrorState state;
  state.kind = "i915 error state";
  state.title = "GPU HANG: ecode 9:1:0x85dffffb, in gl-basic [1234]";
  state.facts = {{"", "Kernel", "6.1.0-9-amd64 x86_64", 0},
                 {"", "Time", "1700000000 s 123456 us", 0},
                 {"", "Reset count", "0", 0}};
  ErrorEngine& engine = state.engines.emplace_back();
  engine.name = "rcs0";
  engine.hung = true;
  engine.process = "gl-basic[1234] prio 0, guilty 1 active 0";
  engine.ring_address = kRing;
  const auto add = [&](const char* name, uint64_t value, std::vector<uint64_t> extra = {}) {
    engine.registers.push_back({name, value, false, std::move(extra)});
  };
  const auto add_64 = [&](const char* name, uint64_t value) {
    engine.registers.push_back({name, value, true, {}});
  };
  add("START", kRing);
  add("HEAD", kWraps | at.head, {kWraps | kRequest});
  add("TAIL", kTail, {kRequestEnd, kRequestEnd});
  add("CTL", 0x00003001);
  add_64("ACTHD", at.acthd);
  add("IPEIR", 0);
  add("IPEHR", at.ipehr);
  add("INSTDONE", 0xffdffffb);  // CS and VS are busy
  add("SC_INSTDONE", 0xffffffff);
  add("ROW_INSTDONE[0][1]", 0xfffeffff);  // an execution unit
  add_64("BBADDR", at.bbaddr.value_or(at.acthd) | 1);
  add("NEW_REGISTER", 0x12345678);
  add("FAULT_REG", at.fault ? 1 : 0);
  const uint64_t page = at.fault.value_or(0) >> 12;
  state.registers = {{"FAULT_TLB_DATA1", page >> 32 | (at.fault_is_global ? 0x10u : 0u), false, {}},
                     {"FAULT_TLB_DATA0", page & 0xffffffff, false, {}}};
  ErrorRequest running;
  running.text =
      absl::StrFormat("ELSP[0]:  pid 1234, seqno 5:12+, prio 0, start %08x, head %08x, tail %08x",
                      kRing, kRequest, kRequestEnd);
  running.seqno = 5;
  running.pid = 1234;
  running.head = kRequest;
  running.tail = kRequestEnd;
  ErrorRequest waiting;
  waiting.text = absl::StrFormat("seqno 0x0000000d, emitted 4295000001, tail 0x%08x", kTail);
  waiting.seqno = 0xd;
  waiting.tail = kTail;
  engine.requests = {running, waiting};
  dump.error_state = std::make_shared<const ErrorState>(std::move(state));
  dump.backing = std::move(kept);
  dump.SortBuffers();
  return dump;
}

}  // namespace packsmith::hang
