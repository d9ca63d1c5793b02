#include "tests/hang/seeded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "packsmith/guc.h"
#include "packsmith/guc_codes.h"
#include "runtime/decode/fields/undescribed.h"
#include "runtime/decode/fields/value.h"
#include "runtime/dump/ascii85.h"
#include "runtime/dump/i915_error_writer.h"
#include "runtime/dump/xe_devcoredump_writer.h"
#include "runtime/guc/channel.h"
#include "runtime/hang/kernel_events.h"
#include "runtime/sim/overlay_memory.h"
#include "runtime/sim/streamer.h"

namespace packsmith::hang {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kBatch = 0x200000, kData = 0x300000, kNowhere = 0x7fff0000;
constexpr uint64_t kCountdown = 256;
constexpr uint64_t kRingAt = 0x100000, kImage = 0x500000;
// Queues of the firmware: the one at fault, and another.
constexpr uint32_t kQueue = 3, kOtherQueue = 9;

using Words = std::vector<uint32_t>;

void Append(Words& to, const Words& words) { to.insert(to.end(), words.begin(), words.end()); }

// Memory of the dump, kept by it.
struct Seeded {
  std::vector<std::vector<uint32_t>> pages;
};

class Maker {
 public:
  Maker(const tables::Tables& tables, Seed seed, Form form, uint32_t engines,
        std::set<uint16_t> stages, absl::string_view work = "3DPRIMITIVE")
      : tables_(tables),
        seed_(seed),
        xe_(form == Form::kXe),
        guc_(form == Form::kI915Guc),
        engines_(engines),
        stages_(std::move(stages)),
        work_(work),
        kept_(std::make_shared<Seeded>()) {
    kept_->pages.reserve(8);
  }

  std::optional<SeededHang> Make() {
    // The registers of i915 do not show what the firmware did, and xe's dumps have no fault
    // registers.
    const bool of_firmware = seed_ == Seed::kCatError || seed_ == Seed::kResetByOther;
    if (!xe_ && !guc_ && of_firmware) return std::nullopt;
    MakeBatch();
    // The loop ends when this is no longer greater than 7.
    Words data(kPage / 4);
    data[kCountdown / 4] = 9;
    Map(0, kData, std::move(data));
    if (seed_ != Seed::kBatchMissing) Map(0, kBatch, batch_);
    Simulate();
    MakeState();
    SeededHang made;
    if (!xe_ && seed_ == Seed::kPreemption) {
      made.events = ReadKernelLog(
          "[  100.000000] i915 0000:00:02.0: [drm] Resetting rcs0 for preemption time out\n");
    }
    // The firmware's registers do not have where the request begins.
    if (guc_ && seed_ == Seed::kNeverStarted) {
      made.events = ReadKernelLog(
          "[  100.000000] i915 0000:00:02.0: [drm] Got hung context on rcs0 with active request "
          "5:12 [0x3] not yet started\n");
    }
    const absl::StatusOr<std::string> text =
        xe_ ? WriteXeDevcoredump(dump_, {}) : WriteI915Error(dump_, {});
    if (!text.ok()) {
      ADD_FAILURE() << text.status();
      return std::nullopt;
    }
    made.text = guc_ ? WithCapture(*text) : *text;
    return made;
  }

 private:
  MadePacket Packet(absl::string_view name) const { return MadePacket(tables_, name); }

  void Map(uint32_t space, uint64_t address, Words words) {
    words.resize(kPage / 4);
    const Words& kept = kept_->pages.emplace_back(std::move(words));
    ASSERT_TRUE(dump_.memory
                    .Map(space, address,
                         {reinterpret_cast<const uint8_t*>(kept.data()), kept.size() * 4}, kPage)
                    .ok());
    dump_.buffers.push_back({space, address, kPage, "seeded"});
  }

  // The dump as i915 writes it where the firmware has saved the registers: those of the engine are
  // taken for a list, and the channel is one more buffer.
  std::string WithCapture(const std::string& text) const {
    const absl::string_view heading = "rcs0 command stream:\n";
    const absl::string_view hung = "  hung: yes\n";
    std::string lists[3];
    int counts[3] = {};
    const auto add = [&](int list, absl::string_view name, uint64_t value) {
      absl::StrAppendFormat(&lists[list], "      %s:  0x%08x\n", name, value & 0xffffffff);
      ++counts[list];
    };
    for (const ErrorRegister& one : captured_) {
      if (absl::StartsWith(one.name, "FAULT_TLB_DATA")) {
        add(0, absl::StrCat("GEN12_", one.name), one.value);
      } else if (one.name == "FAULT_REG") {
        add(0, one.name, one.value);
      } else if (absl::StartsWith(one.name, "ROW_INSTDONE")) {
        add(1, absl::StrCat("GEN8_", one.name), one.value);
      } else if (one.name == "GEOM_SVGUNIT_INSTDONE") {
        add(1, "XEHPG_INSTDONE_GEOM_SVG", one.value);
      } else if (absl::StartsWith(one.name, "SC_INSTDONE")) {
        add(1, absl::StrCat(one.name == "SC_INSTDONE" ? "GEN7_" : "GEN12_", one.name), one.value);
      } else if (one.is_64) {
        add(2, absl::StrCat(one.name, "_UDW"), one.value >> 32);
        add(2, absl::StrCat(one.name, "_LDW"), one.value);
      } else {
        add(2, one.name, one.value);
      }
    }
    const std::string capture = absl::StrFormat(
        "global --- GuC Error Capture on rcs0 command stream:\nCoverage:  full-capture\n"
        "  RegListType: Global\n    Owner-Id: 0\n    NumRegs: %d\n%s"
        "  RegListType: Engine-Class\n    Owner-Id: 0\n    GuC-Eng-Class: 0\n"
        "    i915-Eng-Class: 0\n    NumRegs: %d\n%s"
        "  RegListType: Engine-Instance\n    Owner-Id: 0\n    i915-Eng-Name: rcs0\n"
        "    i915-Eng-Inst-Class: 0\n    GuC-Eng-Inst-Id: 0\n    GuC-Context-Id: %d\n"
        "    LRCA: 0x%08x\n    NumRegs: %d\n%s  hung: 1\n  engine reset count: 0\n",
        counts[0], lists[0], counts[1], lists[1], kQueue, kImage, counts[2], lists[2]);
    std::string channel;
    AppendAscii85(channel_.bytes(), channel);
    return absl::StrCat(absl::StrReplaceAll(text, {{absl::StrCat(heading, hung), capture}}),
                        "global --- GuC CTB = 0x00000000 00800000\n~", channel, "\n");
  }

  // --- The batch ---

  uint64_t End() const { return kBatch + batch_.size() * 4; }
  void Add(const MadePacket& packet) { Append(batch_, packet.words()); }
  void AddWait() {
    Add(Packet("MI_SEMAPHORE_WAIT")
            .Set("Compare Operation", 4)  // equal
            .Set("Wait Mode", 1)
            .Set("Semaphore Data Dword", 7)
            .Set("Semaphore Address", kData));
  }
  MadePacket Jump(uint64_t to) const {
    return Packet("MI_BATCH_BUFFER_START")
        .Set("Address Space Indicator", 1)
        .Set("Batch Buffer Start Address", to);
  }

  void MakeBatch() {
    Add(Packet("MI_STORE_DATA_IMM").Set("Address", kData + 64).Set("Immediate Data", 1));
    const bool draws = seed_ == Seed::kShader || seed_ == Seed::kPipeline;
    if (draws) Add(Packet(work_));
    const uint64_t begin = End();
    stops_at_ = begin;
    switch (seed_) {
      case Seed::kSemaphore:
        AddWait();
        break;
      case Seed::kSemaphoreOfOther:
        AddWait();
        // After the wait: it can never be reached.
        Add(Packet("MI_STORE_DATA_IMM").Set("Address", kData).Set("Immediate Data", 7));
        break;
      case Seed::kEvent: {
        const uint32_t newer = tables_.FindContainer("MI_WAIT_FOR_EVENT_2");
        if (newer == tables::kNone) {
          MadePacket wait = Packet("MI_WAIT_FOR_EVENT");
          const absl::string_view plane = "Display Plane 1 A Vertical Blank Wait Enable";
          // Gfx8 does not have it: there the hang is only good for its header.
          if (wait.Has(plane)) wait.Set(plane, 1);
          Add(wait);
        } else {
          Add(Packet("MI_WAIT_FOR_EVENT_2").Set("Display Pipe Vertical Blank Wait Enable", 1));
        }
        break;
      }
      case Seed::kLoop:
        for (int i = 0; i < 4; ++i) Add(Packet("MI_NOOP"));
        Add(Jump(begin));
        break;
      case Seed::kLoopOnMemory:
        Add(Packet("MI_STORE_DATA_IMM").Set("Address", kData + 128).Set("Immediate Data", 2));
        Add(Packet("MI_CONDITIONAL_BATCH_BUFFER_END")
                .Set("Compare Data Dword", 7)
                .Set("Compare Address", kData + kCountdown));
        Add(Jump(begin));
        break;
      case Seed::kUnknownCommand:
        batch_.push_back(0x6fffffff);
        break;
      case Seed::kReservedBits:
        Add(Packet("MI_STORE_DATA_IMM").Set("Address", kData + 64).Set("Immediate Data", 1));
        stops_at_ = begin;
        SetReserved();
        break;
      default:
        Add(Packet("PIPE_CONTROL"));
    }
    Add(Packet("MI_BATCH_BUFFER_END"));
  }

  // Sets a bit that no field has, in the packet at stops_at_.
  void SetReserved() {
    uint32_t* const words = &batch_[(stops_at_ - kBatch) / 4];
    const tables::Container& container =
        tables_.container(tables_.FindPacket(0, ~uint64_t{0}, words[0], 4));
    for (uint32_t bit = 32; bit < container.bytes * 8; ++bit) {
      words[bit / 32] ^= 1u << bit % 32;
      const absl::Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(words),
                                            container.bytes);
      if (!decode::Undescribed(tables_, {container, bytes, {}}).empty()) return;
      words[bit / 32] ^= 1u << bit % 32;
    }
    ADD_FAILURE() << "no reserved bit";
  }

  // --- Where it stops ---

  void Simulate() {
    if (seed_ == Seed::kBatchMissing) return;
    sim::Observer nobody;
    sim::OverlayMemory memory(dump_.memory);
    sim::StreamerOptions options;
    options.engine = tables_.FindEngine("render");
    sim::Streamer streamer(tables_, memory, options, nobody);
    streamer.EnterBatch(0, kBatch);
    const sim::Stop why = streamer.Run(1000);
    // Others run to their end here, and hang by what a simulator of commands does not know.
    if (why == sim::Stop::kWaiting || why == sim::Stop::kBudget) stops_at_ = streamer.address();
    const bool waits = seed_ == Seed::kSemaphore || seed_ == Seed::kSemaphoreOfOther;
    EXPECT_EQ(why == sim::Stop::kWaiting, waits) << NameOf(seed_);
    const bool loops = seed_ == Seed::kLoop || seed_ == Seed::kLoopOnMemory;
    EXPECT_EQ(why == sim::Stop::kBudget, loops) << NameOf(seed_);
  }

  // --- What the kernel saves ---

  void MakeState() {
    Submission batch;
    batch.engine = "rcs0";
    batch.batch_address = kBatch;
    batch.kind = "batch";
    dump_.submissions = {batch};
    dump_.device.uapi = xe_ ? "xe" : "i915";
    for (const tables::Platform& platform : tables_.platforms()) {
      const auto ids = tables_.ids(platform.pci_ids);
      if (!ids.empty()) dump_.device.pci_id = ids[0];
    }
    MakeMessages();
    if (xe_) {
      MakeQueues();
    } else {
      state_.title = "GPU HANG: ecode 9:1:85dffffb, in seeded [1]";
    }
    MakeRegisters();
    if (guc_) {
      ErrorEngine& engine = state_.engines[0];
      captured_.swap(engine.registers);
      captured_.insert(captured_.end(), state_.registers.begin(), state_.registers.end());
      state_.registers.clear();
      engine.requests.clear();
    }
    dump_.error_state = std::make_shared<const ErrorState>(std::move(state_));
    dump_.backing = kept_;
    dump_.SortBuffers();
  }

  void MakeRegisters() {
    ErrorEngine& engine = state_.engines.emplace_back();
    engine.name = "rcs0";
    engine.hung = true;
    const auto add = [&](const char* i915, const char* xe, uint64_t value, bool is_64 = false,
                         std::vector<uint64_t> extra = {}) {
      engine.registers.push_back({xe_ ? xe : i915, value, is_64, std::move(extra)});
    };
    const bool reset = seed_ == Seed::kAlreadyReset;
    const bool never = seed_ == Seed::kNeverStarted;
    uint32_t ipehr = 0;
    const size_t index = (stops_at_ - kBatch) / 4;
    if (!reset && index < batch_.size()) ipehr = batch_[index];
    uint64_t head = 0, tail = 0, begin = 0, at = stops_at_;
    if (!xe_) {
      // A request of one batch.
      Words ring(0x40 / 4);
      begin = ring.size() * 4;
      Append(ring, Packet("PIPE_CONTROL").words());
      Append(ring, Jump(kBatch).words());
      head = ring.size() * 4;
      Append(ring, Packet("PIPE_CONTROL").words());
      tail = ring.size() * 4;
      Map(kGlobalSpace, kRingAt, ring);
      engine.ring_address = kRingAt;
      if (never) {
        head = begin;
        at = begin;  // in the ring, an engine's active head is the ring's head
      }
      ErrorRequest request;
      request.text = absl::StrFormat(
          "ELSP[0]:  pid 1, seqno 5:12+, prio 0, start %08x, head %08x, "
          "tail %08x",
          kRingAt, begin, tail);
      engine.requests = {request};
    } else {
      head = 0x80;
      tail = 0xc0;
    }
    if (reset) head = tail = at = 0;
    add("START", "RING_START", reset ? 0 : kRingAt);
    const bool has_request = !xe_ && !guc_;
    add("HEAD", "RING_HEAD", head, false,
        has_request ? std::vector{begin} : std::vector<uint64_t>());
    add("TAIL", "RING_TAIL", tail);
    add("ACTHD", "ACTHD", at, true);
    add("IPEHR", "IPEHR", ipehr);
    const bool refused = seed_ == Seed::kUnknownCommand;
    const bool draws = seed_ == Seed::kShader || seed_ == Seed::kPipeline;
    if (!guc_) add("EIR", "RING_EIR", refused ? 1 : 0);  // not among those that it saves
    if (xe_ && engines_ > 1) add("", "CURRENT_LRCA", kImage | 1);
    // All idle, but for the units that the seed keeps busy.
    add("INSTDONE", "RING_INSTDONE", Units("INSTDONE"));
    if (seed_ == Seed::kPipeline) {
      for (const char* name : {"GEOM_SVGUNIT_INSTDONE", "SC_INSTDONE", "SC_INSTDONE_EXTRA"}) {
        if (Find(name) != tables::kNone) add(name, name, Units(name));
      }
    }
    if (draws) add("ROW_INSTDONE[0][0]", "ROW_INSTDONE[0]", Units("ROW_INSTDONE[0]"));
    if (xe_) return;
    const uint64_t page = seed_ == Seed::kPageFault ? kNowhere >> 12 : 0;
    add("FAULT_REG", "", page != 0 ? 1 : 0);
    state_.registers = {{"FAULT_TLB_DATA1", page >> 32, false, {}},
                        {"FAULT_TLB_DATA0", page & 0xffffffff, false, {}}};
  }

  // A register of the render engine.
  uint32_t Find(absl::string_view name) const {
    return tables_.FindDumped(name, uint64_t{1} << tables_.FindEngine("render"));
  }

  // A register with all units idle but those that the seed keeps busy: the execution units, or
  // stages of the pipeline.
  uint64_t Units(absl::string_view name) const {
    uint64_t value = 0xffffffff;
    const uint32_t found = Find(name);
    if (found == tables::kNone) return value;
    for (const tables::Leaf& leaf : tables_.leaves(tables_.container(found).leaves)) {
      if (leaf.extra == tables::kNone) continue;
      const tables::Extra& extra = tables_.extra(leaf.extra);
      const bool executes =
          seed_ == Seed::kShader && extra.meaning == tables::Meaning::kIdleExecution;
      const bool waits =
          extra.meaning == tables::Meaning::kIdle && stages_.count(extra.meaning_at) != 0;
      if (executes || waits) value &= ~(uint64_t{1} << leaf.bit);
    }
    return value;
  }

  void MakeQueues() {
    const bool disable = seed_ == Seed::kPreemption;
    const std::string reason =
        disable
            ? absl::StrCat("Schedule disable failed to respond, guc_id=", kQueue,
                           ", ret=-62, guc_read=1")
            : absl::StrCat("Timedout job - seqno=7, lrc_seqno=7, guc_id=", kQueue, ", flags=0x0");
    state_.facts.push_back({"", "Reason", reason, 0});
    state_.facts.push_back({"", "kernel", "6.17.0", 0});
    state_.facts.push_back({"GuC Log", "GuC version", "70.44.1 (wanted 70.44.1)", 0});
    ErrorContext& queue = state_.contexts.emplace_back();
    queue.id = absl::StrCat(kQueue);
    queue.engine = "rcs1";
    ErrorLrc lrc;
    lrc.image = kImage;
    lrc.head = 0x80;
    lrc.tail = 0xc0;
    lrc.started = seed_ == Seed::kNeverStarted ? 6 : 7;
    lrc.finished = 6;
    static_cast<ErrorLrc&>(queue) = lrc;
    queue.width = engines_;
    for (uint32_t i = 1; i < engines_; ++i) {
      lrc.image = kImage + i * uint64_t{0x10000};
      queue.parallel.push_back(lrc);
    }
    state_.batches = {kBatch};
    state_.blobs.push_back({"CTB", std::make_shared<Given>(channel_.words())});
  }

  // What the firmware and the driver have told each other.
  void MakeMessages() {
    switch (seed_) {
      case Seed::kPageFault: {
        if (!xe_) break;  // i915 is not told of faults
        guc::REPORT_PAGE_FAULT_REQ_DESC fault;
        fault.access = 1;
        fault.asid = 42;
        fault.address = kNowhere;
        const std::optional<Words> payload = guc::Channel::Payload(fault);
        ASSERT_TRUE(payload);
        EXPECT_TRUE(channel_.FromGuc(guc::GUC_ACTION::REPORT_PAGE_FAULT_REQ_DESC, *payload));
        EXPECT_TRUE(channel_.FromGuc(guc::GUC_ACTION::CONTEXT_RESET_NOTIFICATION, {kQueue}));
        break;
      }
      case Seed::kCatError:
        EXPECT_TRUE(channel_.FromGuc(guc::GUC_ACTION::NOTIFY_MEMORY_CAT_ERROR,
                                     {kQueue, guc::GUC_CAT_ERROR_TYPE::NONE}));
        break;
      case Seed::kResetByOther:
        EXPECT_TRUE(channel_.FromGuc(guc::GUC_ACTION::CONTEXT_RESET_NOTIFICATION, {kOtherQueue}));
        break;
      default:
        EXPECT_TRUE(channel_.FromGuc(guc::GUC_ACTION::DEREGISTER_CONTEXT_DONE, {kOtherQueue}));
    }
  }

  // Bytes that are there already.
  class Given : public DeferredBytes {
   public:
    explicit Given(Words words) : words_(std::move(words)) {}

   protected:
    absl::Span<const uint8_t> Make() override {
      return {reinterpret_cast<const uint8_t*>(words_.data()), words_.size() * 4};
    }

   private:
    const Words words_;
  };

  const tables::Tables& tables_;
  const Seed seed_;
  const bool xe_, guc_;
  const uint32_t engines_;
  const std::set<uint16_t> stages_;  // busy ones of the pipeline
  const std::string work_;           // the packet that draws
  Words batch_;
  std::vector<ErrorRegister> captured_;  // by the firmware
  guc::Channel channel_;
  uint64_t stops_at_ = kBatch;
  Dump dump_;
  ErrorState state_;
  std::shared_ptr<Seeded> kept_;
};

}  // namespace

absl::string_view NameOf(Seed seed) {
  constexpr absl::string_view kNames[] = {"page fault",
                                          "memory (CAT) error",
                                          "job never started",
                                          "semaphore that nobody writes",
                                          "semaphore written after the wait",
                                          "display event",
                                          "endless loop",
                                          "loop until a value in memory",
                                          "context does not yield",
                                          "reset because of another queue",
                                          "registers read after the reset",
                                          "batch not saved",
                                          "unknown command",
                                          "reserved bits set",
                                          "shader that does not end",
                                          "unit of the pipeline that does not finish",
                                          "nothing wrong"};
  static_assert(std::size(kNames) == kSeeds);
  return kNames[static_cast<size_t>(seed)];
}

MadePacket::MadePacket(const tables::Tables& tables, absl::string_view name) : tables_(tables) {
  const uint32_t found = tables.FindContainer(name);
  if (found == tables::kNone) {
    ADD_FAILURE() << name;
    words_.resize(1);
    return;
  }
  container_ = &tables.container(found);
  words_.resize(container_->bytes / 4);
  words_[0] = container_->identify_value;
  if (container_->length_leaf != tables::kNone) {
    const tables::Leaf& leaf = tables.leaf(container_->length_leaf);
    words_[0] |= (static_cast<uint32_t>(words_.size()) - container_->length_bias) << leaf.bit;
  }
  // Opcodes that do not identify.
  for (const tables::Leaf& leaf : tables.leaves(container_->leaves)) {
    if ((leaf.flags & tables::kForced) == 0 || leaf.extra == tables::kNone) continue;
    Write(leaf, tables.extra(leaf.extra).forced);
  }
}

// The short form of a packet has only the lower part of some fields.
void MadePacket::Write(const tables::Leaf& leaf, uint64_t raw) {
  const uint64_t bits = words_.size() * 32;
  if (leaf.bit >= bits) return;
  const auto width = static_cast<uint32_t>(std::min<uint64_t>(leaf.width, bits - leaf.bit));
  decode::WriteBits({reinterpret_cast<uint8_t*>(words_.data()), words_.size() * 4}, leaf.bit, width,
                    raw);
}

bool MadePacket::Has(absl::string_view field) const {
  if (container_ == nullptr) return false;
  const auto leaves = tables_.leaves(container_->leaves);
  return std::any_of(leaves.begin(), leaves.end(),
                     [&](const tables::Leaf& leaf) { return tables_.string(leaf.name) == field; });
}

MadePacket& MadePacket::Set(absl::string_view field, uint64_t value) {
  if (container_ == nullptr) return *this;
  for (const tables::Leaf& leaf : tables_.leaves(container_->leaves)) {
    if (tables_.string(leaf.name) != field) continue;
    Write(leaf, value >> leaf.shift);
    return *this;
  }
  ADD_FAILURE() << tables_.string(container_->name) << " has no " << field;
  return *this;
}

std::optional<SeededHang> SeedHang(const tables::Tables& tables, Seed seed, Form form,
                                   uint32_t engines) {
  // The rasterizer, and what feeds it.
  std::set<uint16_t> stages;
  for (uint16_t stage = 1; seed == Seed::kPipeline && stage <= 10; ++stage) stages.insert(stage);
  return Maker(tables, seed, form, engines, std::move(stages)).Make();
}

std::optional<SeededHang> SeedPipelineHang(const tables::Tables& tables,
                                           const std::set<uint16_t>& busy, Form form,
                                           absl::string_view work) {
  return Maker(tables, Seed::kPipeline, form, 1, busy, work).Make();
}

}  // namespace packsmith::hang
