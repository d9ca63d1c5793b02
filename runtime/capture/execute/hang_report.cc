#include "runtime/capture/execute/hang_report.h"

#include <array>
#include <ctime>
#include <iterator>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "packsmith/guc.h"
#include "packsmith/guc_codes.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/execute/work_dump.h"
#include "runtime/decode/fields/pipeline_units.h"
#include "runtime/decode/fields/value.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/error_state.h"
#include "runtime/dump/i915_error_writer.h"
#include "runtime/dump/xe_devcoredump_writer.h"
#include "runtime/encode/encoder.h"
#include "runtime/generations/generations.h"
#include "runtime/guc/channel.h"
#include "runtime/tables/tables.h"

namespace packsmith::capture {
namespace {

using tables::Meaning;

// The kernel's ring, which this mock does not have otherwise.
constexpr uint64_t kRing = 0x10000, kRingBytes = 4096, kRequest = 0x40;

// What kernels call a class of engines; classes have the same numbers in i915 and xe.
absl::string_view ClassName(uint32_t engine_class) {
  constexpr absl::string_view kNames[] = {"rcs", "bcs", "vcs", "vecs", "ccs"};
  return engine_class < std::size(kNames) ? kNames[engine_class] : "other";
}

std::string KernelName(uint32_t engine_class, uint32_t instance) {
  return absl::StrCat(ClassName(engine_class), instance);
}

std::string EngineOfPlace(const Work& work, size_t stream) {
  return KernelName(work.engine_class, work.engine_instance + static_cast<uint32_t>(stream));
}

// Queues and their submissions, as the kernel's and the firmware's messages number them.
uint32_t QueueOf(const Work& work) { return static_cast<uint32_t>(work.context); }
uint32_t NumberOf(const Work& work) { return static_cast<uint32_t>(work.number); }
// The queue that a work of HangKind::kResetByOther was reset with.
uint32_t OtherQueue(const Work& work) { return QueueOf(work) + 1; }

// Why the kernel takes the work for hung: in its log, or in its dump, which only xe's has.
enum class ReasonIn { kLog, kDump };
std::string ReasonOf(const Work& work, HangKind kind, absl::string_view engine, ReasonIn where) {
  const bool log = where == ReasonIn::kLog;
  if (work.interface != "xe") {
    if (kind == HangKind::kNotYielding) return "preemption time out";
    if (kind == HangKind::kRefused) return "CS error";
    return absl::StrCat("stopped heartbeat on ", engine);
  }
  if (kind == HangKind::kNotYielding) {
    return absl::StrCat("Schedule disable failed to respond, guc_id=", QueueOf(work),
                        log ? "" : ", ret=-62, guc_read=1");
  }
  return absl::StrCat("Timedout job", log ? ": " : " - ", "seqno=", NumberOf(work),
                      ", lrc_seqno=", NumberOf(work), ", guc_id=", QueueOf(work), ", flags=0x0");
}

// What registers say.
struct Said {
  Meaning meaning;
  uint64_t value;
};

// The value of a register as the description has it; empty: it says none of this.
std::optional<uint64_t> ValueOf(const tables::Tables& tables, uint32_t container,
                                absl::Span<const Said> said) {
  if (container == tables::kNone) return std::nullopt;
  std::array<uint8_t, 8> bytes = {};
  bool any = false;
  for (const tables::Leaf& leaf : tables.leaves(tables.container(container).leaves)) {
    if (leaf.extra == tables::kNone || leaf.bit + leaf.width > 64) continue;
    const tables::Extra& extra = tables.extra(leaf.extra);
    for (const Said& one : said) {
      if (one.meaning != extra.meaning) continue;
      decode::WriteBits(absl::MakeSpan(bytes), leaf.bit, leaf.width,
                        one.value >> extra.meaning_at >> leaf.shift);
      any = true;
    }
  }
  return any ? std::optional(decode::ReadBits(bytes, 0, 64)) : std::nullopt;
}

ErrorFact Fact(absl::string_view key, std::string value) {
  ErrorFact fact;
  fact.key = std::string(key);
  fact.value = decode::Harmless(value);
  return fact;
}

// Bytes that are there already.
class Given : public DeferredBytes {
 public:
  explicit Given(std::vector<uint8_t> bytes) : given_(std::move(bytes)) {}

 protected:
  absl::Span<const uint8_t> Make() override { return given_; }

 private:
  const std::vector<uint8_t> given_;
};

class Report {
 public:
  Report(const tables::Tables& tables, const Work& work, const HangPlace& place,
         absl::string_view why, int64_t time_s)
      : tables_(tables),
        work_(work),
        place_(place),
        why_(why),
        time_s_(time_s),
        xe_(work.interface == "xe"),
        made_(DumpOf(work, {.dumpable_only = true, .as_own_space = true})) {}

  absl::StatusOr<std::string> Write() {
    Dump& dump = made_.dump;
    for (size_t i = 0; i < dump.submissions.size(); ++i) {
      // A queue of xe is one engine, whatever its width.
      dump.submissions[i].engine = EngineOfPlace(work_, xe_ ? place_.stream : i);
    }
    engine_.name = dump.submissions[place_.stream].engine;
    engine_.hung = true;
    const uint32_t index = tables_.FindEngine(engine_.name);
    engines_ = index == tables::kNone ? ~uint64_t{0} : uint64_t{1} << index;
    MakeRing();
    AddRegisters();
    if (xe_) {
      AddQueue();
    } else {
      AddOwner();
    }
    state_.facts.push_back(Fact("Simulation", std::string(why_)));
    state_.engines.push_back(std::move(engine_));
    dump.error_state = std::make_shared<const ErrorState>(std::move(state_));
    return xe_ ? WriteXeDevcoredump(dump, {}) : WriteI915Error(dump, {});
  }

 private:
  bool Is(HangKind kind) const { return place_.kind == kind; }

  // --- The ring ---

  void Append(absl::string_view packet, absl::Span<const encode::Field> fields) {
    encode::Encoder encoder(tables_);
    std::vector<uint8_t> bytes;
    std::vector<encode::FieldProblem> problems;
    const encode::EncodeRequest request = {
        .container = encoder.Find(packet), .fields = fields, .lenient = true};
    if (request.container == tables::kNone || !encoder.Encode(request, bytes, problems)) return;
    ring_.insert(ring_.end(), bytes.begin(), bytes.end());
  }

  // No-ops, and the request: it starts the batch, and tells when it is done.
  void MakeRing() {
    ring_.resize(kRequest);
    const encode::Field fields[] = {
        {.name = "Batch Buffer Start Address",
         .value = encode::Given::Integer(work_.streams[place_.stream].address)},
        {.name = "Address Space Indicator", .value = encode::Given::Raw(1)}};
    Append("MI_BATCH_BUFFER_START", fields);
    head_ = ring_.size();
    Append("MI_USER_INTERRUPT", {});
    ring_.resize((ring_.size() + 7) / 8 * 8);
    tail_ = ring_.size();
    if (Is(HangKind::kNotStarted)) head_ = kRequest;
    ring_.resize(kRingBytes);
    // xe does not save rings, and i915 before Gfx8 has requests of another form.
    has_ring_ = !xe_ && work_.device->version_x10 >= 80 && head_ != tail_;
    if (!has_ring_) return;
    has_ring_ = made_.dump.memory.Map(kGlobalSpace, kRing, ring_, kRingBytes).ok();
    if (has_ring_) engine_.ring_address = kRing;
  }

  // --- Registers ---

  uint32_t Find(absl::string_view name) const { return tables_.FindDumped(name, engines_); }

  // The register that kernels call `name`, if the device has it and it says something.
  void Add(absl::string_view name, absl::Span<const Said> said, std::vector<ErrorRegister>& to) {
    const std::optional<uint64_t> low = ValueOf(tables_, Find(name), said);
    if (!low) return;
    ErrorRegister one;
    one.name = std::string(name);
    one.value = *low;
    const std::optional<uint64_t> high = ValueOf(tables_, Find(absl::StrCat(name, ":high")), said);
    if (high) {
      one.is_64 = true;
      one.value |= *high << 32;
    }
    to.push_back(std::move(one));
  }
  void Add(absl::string_view name, absl::Span<const Said> said) {
    Add(name, said, engine_.registers);
  }

  // The place of the unit that does not finish: it and those before it are busy. 0: none.
  uint16_t StuckPlace() const {
    if (!Is(HangKind::kPipeline)) return 0;
    for (const decode::PipelineUnit& unit : decode::PipelineUnits(tables_)) {
      if (unit.name == place_.unit) return unit.place;
    }
    return 0;
  }

  // A register of idle units, which dumps name `as`. `stuck`: StuckPlace().
  void AddUnits(absl::string_view as, uint16_t stuck) {
    const uint32_t found = Find(as);
    if (found == tables::kNone) return;
    const bool works = !Is(HangKind::kReset) && !Is(HangKind::kNotStarted);
    uint64_t value = 0xffffffff;
    for (const tables::Leaf& leaf : tables_.leaves(tables_.container(found).leaves)) {
      if (leaf.extra == tables::kNone || leaf.bit >= 32) continue;
      const tables::Extra& extra = tables_.extra(leaf.extra);
      const bool is_unit = extra.meaning == Meaning::kIdle;
      const bool busy =
          (is_unit && works && decode::UnitOfField(tables_.string(leaf.name)) == "CS") ||
          (is_unit && extra.meaning_at != 0 && extra.meaning_at <= stuck) ||
          (extra.meaning == Meaning::kIdleExecution && Is(HangKind::kShader));
      if (busy) value &= ~(uint64_t{1} << leaf.bit);
    }
    if (instdone_ == 0) instdone_ = static_cast<uint32_t>(value);
    engine_.registers.push_back({std::string(as), value, false, {}});
  }

  void AddRegisters() {
    const bool reset = Is(HangKind::kReset), not_started = Is(HangKind::kNotStarted);
    uint64_t address = place_.address;
    header_ = place_.header;
    uint8_t bytes[4] = {};
    if (header_ == 0 && made_.dump.memory.Copy(0, address, absl::MakeSpan(bytes)) == 4) {
      header_ = static_cast<uint32_t>(decode::ReadBits(bytes, 0, 32));
    }
    // In a ring, an engine's active head is the ring's.
    if (not_started) address = head_;
    if (reset) address = 0;
    if (reset || not_started) header_ = 0;
    std::vector<Said> said = {
        {Meaning::kActiveHead, address},          {Meaning::kHeader, header_},
        {Meaning::kRingStart, reset ? 0 : kRing}, {Meaning::kRingHead, reset ? 0 : head_},
        {Meaning::kRingTail, reset ? 0 : tail_},  {Meaning::kInstructionError, 1}};
    if (has_ring_ || (xe_ && head_ != tail_)) {
      Add(xe_ ? "RING_START" : "START", said);
      Add(xe_ ? "RING_HEAD" : "HEAD", said);
      if (has_ring_ && !reset && engine_.registers.back().name == "HEAD") {
        const Said begin[] = {{Meaning::kRingHead, kRequest}};
        const std::optional<uint64_t> value = ValueOf(tables_, Find("HEAD"), begin);
        if (value) engine_.registers.back().extra = {*value};
      }
      Add(xe_ ? "RING_TAIL" : "TAIL", said);
    }
    Add("ACTHD", said);
    Add(xe_ ? "RING_IPEHR" : "IPEHR", said);
    if (Is(HangKind::kRefused)) Add(xe_ ? "RING_EIR" : "EIR", said);
    const uint16_t stuck = StuckPlace();
    AddUnits(xe_ ? "RING_INSTDONE" : "INSTDONE", stuck);
    if (Is(HangKind::kShader) || Is(HangKind::kPipeline)) {
      AddUnits(xe_ ? "INSTDONE_GEOM_SVGUNIT" : "GEOM_SVGUNIT_INSTDONE", stuck);
      AddUnits(xe_ ? "SC_INSTDONE[0]" : "SC_INSTDONE", stuck);
      AddUnits(xe_ ? "SC_INSTDONE_EXTRA[0]" : "SC_INSTDONE_EXTRA", stuck);
      AddUnits(xe_ ? "ROW_INSTDONE[0]" : "ROW_INSTDONE[0][0]", stuck);
    }
    // xe's dumps have no fault registers: AddQueue().
    if (!place_.unmapped || xe_) return;
    said = {{Meaning::kFault, 1},
            {Meaning::kFaultAddress, *place_.unmapped},
            {Meaning::kFaultGlobal, work_.global ? uint64_t{1} : 0}};
    Add("FAULT_REG", said);
    Add("FAULT_TLB_DATA0", said, state_.registers);
    Add("FAULT_TLB_DATA1", said, state_.registers);
  }

  // --- What the kernel says ---

  // Newlines end a line.
  std::string Process() const { return decode::Harmless(work_.process); }

  void AddOwner() {
    state_.title =
        absl::StrFormat("GPU HANG: ecode %d:%x:%08x, in %s [%d]", work_.device->version_x10 / 10,
                        1u << (work_.engine_class & 31), header_ ^ instdone_, Process(), work_.pid);
    engine_.process = absl::StrCat(Process(), "[", work_.pid, "]");
    state_.facts.push_back(Fact("Kernel", "packsmith-mock"));
    state_.facts.push_back(Fact("Time", absl::StrCat(time_s_, " s 0 us")));
    state_.facts.push_back(Fact(absl::StrCat("Active process (on ring ", engine_.name, ")"),
                                absl::StrCat(Process(), " [", work_.pid, "]")));
    if (!has_ring_) return;
    ErrorRequest request;
    request.text =
        absl::StrFormat("ELSP[0]:  pid %d, seqno %d:%d+, prio 0, start %08x, head %08x, tail %08x",
                        work_.pid, work_.context, work_.number, kRing, kRequest, tail_);
    engine_.requests = {request};
  }

  guc::REPORT_PAGE_FAULT_REQ_DESC PageFault(uint32_t queue) const {
    using Class = guc::GUC_FAULT_CLASS;
    // By the class's number in the interface.
    constexpr uint32_t kClasses[] = {Class::RENDER, Class::COPY, Class::VIDEO, Class::VIDEO_ENHANCE,
                                     Class::COMPUTE};
    guc::REPORT_PAGE_FAULT_REQ_DESC fault;
    fault.access =
        place_.unmapped_write ? guc::GUC_FAULT_ACCESS::WRITE : guc::GUC_FAULT_ACCESS::READ;
    fault.asid = queue;
    fault.engine_class = work_.engine_class < std::size(kClasses) ? kClasses[work_.engine_class]
                                                                  : uint32_t{Class::OTHER};
    fault.address = *place_.unmapped & ~uint64_t{0xfff};
    return fault;
  }

  // The queue at fault, and what the firmware has said of it.
  void AddQueue() {
    const uint32_t queue = QueueOf(work_), number = NumberOf(work_);
    state_.facts.push_back(
        Fact("Reason", ReasonOf(work_, place_.kind, engine_.name, ReasonIn::kDump)));
    state_.facts.push_back(Fact("kernel", "packsmith-mock"));
    state_.facts.push_back(Fact("module", "xe"));
    state_.facts.push_back(Fact("Snapshot time", absl::StrCat(time_s_, ".000000000")));
    state_.facts.push_back(Fact("Process", absl::StrCat(Process(), " [", work_.pid, "]")));
    ErrorContext& context = state_.contexts.emplace_back();
    context.id = absl::StrCat(queue);
    context.engine = engine_.name;
    context.finished = number - 1;
    context.started = Is(HangKind::kNotStarted) ? number - 1 : number;
    if (!place_.unmapped && !Is(HangKind::kResetByOther)) return;
    guc::Channel channel;
    // A message with a number that does not fit is missing, as one that the firmware overwrote.
    const auto send = [&](uint32_t action, const std::vector<uint32_t>& payload) {
      static_cast<void>(channel.FromGuc(action, payload));
    };
    if (Is(HangKind::kResetByOther)) {
      send(guc::GUC_ACTION::CONTEXT_RESET_NOTIFICATION, {OtherQueue(work_)});
    } else {
      // Before Xe2 the firmware only knows that the memory unit gave up.
      const auto fault =
          work_.device->version_x10 >= 200 ? guc::Channel::Payload(PageFault(queue)) : std::nullopt;
      if (fault) send(guc::GUC_ACTION::REPORT_PAGE_FAULT_REQ_DESC, *fault);
      send(guc::GUC_ACTION::NOTIFY_MEMORY_CAT_ERROR, {queue, guc::GUC_CAT_ERROR_TYPE::NONE});
      send(guc::GUC_ACTION::CONTEXT_RESET_NOTIFICATION, {queue});
    }
    state_.blobs.push_back({"CTB", std::make_shared<Given>(channel.bytes())});
  }

  const tables::Tables& tables_;
  const Work& work_;
  const HangPlace& place_;
  const absl::string_view why_;
  const int64_t time_s_;
  const bool xe_;
  WorkDump made_;
  std::vector<uint8_t> ring_;
  uint64_t head_ = 0, tail_ = 0;
  bool has_ring_ = false;  // in the dump
  uint64_t engines_ = 0;
  uint32_t header_ = 0, instdone_ = 0;
  ErrorState state_;
  ErrorEngine engine_;
};

}  // namespace

absl::StatusOr<std::string> MakeHangReport(const Work& work, const std::optional<HangPlace>& place,
                                           absl::string_view why, int64_t time_s) {
  const bool known = work.interface == "xe" || work.interface == "i915";
  if (!known || work.device == nullptr || work.streams.empty()) {
    return absl::UnimplementedError(
        absl::StrCat("kernels save no report of a hang of ", work.interface));
  }
  const absl::StatusOr<tables::Tables> tables = FindGeneration(work.device->generation);
  if (!tables.ok()) return tables.status();
  HangPlace at = place.value_or(HangPlace{.address = work.streams[0].address});
  if (at.stream >= work.streams.size()) at.stream = 0;
  return Report(*tables, work, at, why, time_s).Write();
}

std::string KernelLogOfHang(const Work& work, const std::optional<HangPlace>& place,
                            absl::string_view slot) {
  const std::string engine = EngineOfPlace(work, place ? place->stream : 0);
  const std::string process = absl::StrCat(decode::Harmless(work.process), " [", work.pid, "]");
  const HangKind kind = place ? place->kind : HangKind::kCommand;
  const std::string reason = ReasonOf(work, kind, engine, ReasonIn::kLog);
  if (work.interface == "xe") {
    const std::string gt = absl::StrCat("xe ", slot, ": [drm] Tile0: GT0: ");
    std::string text;
    if (kind == HangKind::kResetByOther) {
      absl::StrAppendFormat(
          &text, "%sEngine reset: engine_class=%s, logical_mask: 0x%x, guc_id=%d\n", gt,
          ClassName(work.engine_class), 1u << (work.engine_instance & 31), OtherQueue(work));
    }
    absl::StrAppend(&text, gt, reason);
    if (kind != HangKind::kNotYielding) absl::StrAppend(&text, " in ", process);
    absl::StrAppend(&text, "\nxe ", slot, ": [drm] Xe device coredump has been created\n");
    return text;
  }
  if (work.interface != "i915") return "";
  return absl::StrFormat(
      "i915 %s: [drm] Resetting %s for %s\ni915 %s: [drm] %s context reset due to GPU hang\n", slot,
      engine, reason, slot, process);
}

void HangReporter::OnDone(const Work& work, Outcome outcome, absl::string_view why) {
  if (outcome != Outcome::kHung) return;
  const std::optional<HangPlace> place = place_of_ ? place_of_(work) : std::nullopt;
  absl::StatusOr<std::string> report =
      MakeHangReport(work, place, why, static_cast<int64_t>(::time(nullptr)));
  if (report.ok()) deliver_(work, place, *std::move(report));
}

}  // namespace packsmith::capture
