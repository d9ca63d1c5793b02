// Verdicts about the command that an engine stopped in.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/undescribed.h"
#include "runtime/hang/buffer_place.h"
#include "runtime/hang/judge.h"
#include "runtime/hang/operations.h"

namespace packsmith::hang {
namespace {

using tables::OperationKind;

constexpr size_t kMostWriters = 4;
// A field of one of these was searched for; more would make a verdict unreadable.
constexpr size_t kMostNamed = 4;

// --- Who writes to an address ---

struct WriterOfValue {
  std::string name;
  uint32_t space = 0;
  uint64_t address = 0;
  uint32_t submission = 0;
  std::optional<uint64_t> value;  // that it stores; empty: not known before it is executed
};

bool Writes(OperationKind kind) {
  switch (kind) {
    case OperationKind::kStore:
    case OperationKind::kStoreRegister:
    case OperationKind::kCopyMemory:
    case OperationKind::kAtomic:
      return true;
    default:
      return false;
  }
}

// Collects commands that would write the dword at an address.
class WriterSink : public decode::Sink {
 public:
  WriterSink(const tables::Tables& tables, const NamedOperation::At& to)
      : tables_(tables), to_(to) {
    for (const tables::Container& container : tables.containers()) {
      const auto operations = tables.operations(container);
      may_write_.push_back(
          std::any_of(operations.begin(), operations.end(),
                      [](const tables::Operation& one) { return Writes(one.kind); }));
    }
  }
  std::vector<WriterOfValue> Take() { return std::move(writers_); }

  void OnSchema(const tables::Tables&) override {}
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission& submission, uint64_t) override {
    submission_ = submission.index;
    own_space_ = submission.own_space.value_or(submission.space);
  }
  void OnRecord(const decode::Record&) override {}
  void OnRemark(absl::string_view, bool) override {}
  void OnSummary(const decode::Summary&) override {}
  void OnPackets(absl::Span<const decode::Brief> packets) override {
    for (const decode::Brief& packet : packets) {
      if (packet.container == tables::kNone || !may_write_[packet.container]) continue;
      const tables::Container& container = tables_.container(packet.container);
      for (const NamedOperation& one :
           OperationsOf(tables_, container, {packet.data, packet.bytes}, own_space_)) {
        if (!Writes(one.kind) || !one.memory || one.memory->space != to_.space) continue;
        if (to_.address - one.memory->address >= std::max<uint64_t>(one.bytes, 1)) continue;
        if (writers_.size() == kMostWriters) return;
        WriterOfValue writer{std::string(tables_.string(container.name)), packet.space,
                             packet.address, submission_, std::nullopt};
        if (one.kind == OperationKind::kStore && one.value) {
          const uint64_t shift = (to_.address - one.memory->address) * 8;
          writer.value = shift < 64 ? (*one.value >> shift) & 0xffffffff : 0;
        }
        writers_.push_back(std::move(writer));
      }
    }
  }

 private:
  const tables::Tables& tables_;
  const NamedOperation::At to_;
  std::vector<bool> may_write_;
  uint32_t submission_ = 0, own_space_ = 0;
  std::vector<WriterOfValue> writers_;
};

std::vector<WriterOfValue> WritersOf(const Case& at, const NamedOperation::At& to) {
  WriterSink sink(at.tables, to);
  decode::Options options;
  options.brief = true;
  decode::Decoder decoder(at.tables, sink, options);
  decoder.Decode(at.dump);
  return sink.Take();
}

std::string InWhat(const Case& at, const WriterOfValue& writer) {
  for (const Submission& submission : at.dump.submissions) {
    if (submission.index != writer.submission) continue;
    return absl::StrCat(submission.engine, "'s ", submission.ring ? "ring" : "batch");
  }
  return "a submission";
}

// What the dump says about the value that a wait sees, and about who should change it.
void Explain(const Case& at, const Command& stopped, const NamedOperation& wait, Verdict& verdict) {
  uint8_t bytes[4] = {};
  const bool known =
      at.dump.memory.Copy(wait.memory->space, wait.memory->address, absl::MakeSpan(bytes)) == 4;
  uint32_t seen = 0;
  std::memcpy(&seen, bytes, 4);
  const auto wanted = static_cast<uint32_t>(*wait.value);
  const auto satisfies = [&](uint64_t value) {
    return wait.comparison && sim::Holds(*wait.comparison, static_cast<uint32_t>(value), wanted);
  };
  const Place place = PlaceOf(at.dump, wait.memory->space, wait.memory->address);
  if (!known) {
    verdict.confidence = Confidence::kMedium;
    verdict.evidence.push_back(absl::StrCat("The dump does not have that memory, ",
                                            Whereabouts(place),
                                            ": what the engine saw is not "
                                            "known."));
  } else if (satisfies(seen)) {
    verdict.confidence = Confidence::kLow;
    verdict.evidence.push_back(absl::StrFormat(
        "The dump has 0x%x there, %s, with which the wait is over: the value came after the kernel "
        "had lost patience, or the engine did not notice it.",
        seen, Whereabouts(place)));
  } else {
    verdict.confidence = Confidence::kHigh;
    verdict.evidence.push_back(
        absl::StrFormat("The dump has 0x%x there, %s.", seen, Whereabouts(place)));
  }
  const std::vector<WriterOfValue> writers = WritersOf(at, *wait.memory);
  for (const WriterOfValue& writer : writers) {
    if (writer.space == stopped.space && writer.address == stopped.address) continue;
    std::string text = absl::StrFormat("The %s at 0x%x in %s writes to it", writer.name,
                                       writer.address, InWhat(at, writer));
    if (writer.value) {
      absl::StrAppendFormat(&text, ": 0x%x, which %s", *writer.value,
                            satisfies(*writer.value) ? "ends the wait" : "does not end the wait");
    }
    verdict.evidence.push_back(absl::StrCat(text, "."));
  }
  verdict.alternative =
      writers.empty()
          ? "Nothing in the dump writes to that address: the CPU should, or a context that the "
            "kernel did not save."
          : "A writer that comes after the wait in the same queue can never be reached.";
}

// --- The bits of a command ---

class FaultsOfFirst : public decode::Sink {
 public:
  std::vector<decode::Fault> Take() { return std::move(faults_); }

  void OnSchema(const tables::Tables&) override {}
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override {}
  void OnRecord(const decode::Record& record) override {
    if (seen_ || record.type != decode::RecordType::kPacket) return;
    seen_ = true;
    faults_.assign(record.faults.begin(), record.faults.end());
  }
  void OnRemark(absl::string_view, bool) override {}
  void OnSummary(const decode::Summary&) override {}

 private:
  bool seen_ = false;
  std::vector<decode::Fault> faults_;
};

std::vector<decode::Fault> FaultsOf(const Case& at, const EngineReport& engine,
                                    const Command& command) {
  Submission submission;
  submission.engine = engine.name;
  submission.space = command.space;
  submission.own_space = SpaceOf(at, engine);
  submission.batch_address = command.address;
  submission.batch_length = command.size;
  FaultsOfFirst sink;
  decode::Options options;
  options.follow = decode::Follow::kNone;
  options.most_packets = 1;
  decode::Decoder decoder(at.tables, sink, options);
  decoder.Decode(at.dump, {&submission, 1});
  return sink.Take();
}

bool IsWait(const Case& at, const Command& command) {
  if (command.container == nullptr) return false;
  for (const tables::Operation& one : at.tables.operations(*command.container)) {
    if (one.kind == OperationKind::kWait) return true;
  }
  return false;
}

}  // namespace

std::optional<Verdict> WaitsForValue(const Case& at, const EngineReport& engine) {
  const Command* const stopped = StoppedAt(engine);
  if (stopped == nullptr || stopped->container == nullptr) return std::nullopt;
  for (const NamedOperation& one :
       OperationsOf(at.tables, *stopped->container, stopped->bytes, SpaceOf(at, engine))) {
    if (one.kind != OperationKind::kWait || !one.value) continue;
    if (!one.memory && !one.register_offset) continue;
    Verdict verdict;
    verdict.kind = VerdictKind::kSemaphoreWait;
    verdict.engine = engine.name;
    const char* const words =
        one.comparison ? InWords(*one.comparison) : "satisfies an unknown comparison with";
    const std::string where = one.memory ? absl::StrFormat("the dword at 0x%x", one.memory->address)
                                         : absl::StrFormat("register 0x%x", *one.register_offset);
    verdict.sentence =
        absl::StrFormat("The engine waits in the %s at 0x%x until %s %s 0x%x.",
                        NameOf(at.tables, *stopped), stopped->address, where, words, *one.value);
    if (engine.header && engine.stop.header) {
      verdict.evidence.push_back(
          absl::StrCat(engine.stop.header->by, " is the header of that command."));
    }
    if (one.memory) {
      verdict.address = one.memory->address;
      Explain(at, *stopped, one, verdict);
    } else {
      verdict.confidence = Confidence::kMedium;
      verdict.alternative = "The dump does not have that register's value; another engine sets it.";
    }
    // Only the position, which may lie after what is executed.
    if (!engine.header) verdict.confidence = std::min(verdict.confidence, Confidence::kMedium);
    return verdict;
  }
  return std::nullopt;
}

std::optional<Verdict> WaitsForEvent(const Case& at, const EngineReport& engine) {
  const Command* const stopped = StoppedAt(engine);
  if (stopped == nullptr || stopped->container == nullptr) return std::nullopt;
  std::vector<std::string> events;
  decode::ForEachField(
      at.tables, *stopped->container, stopped->bytes, [&](const decode::FieldAt& field) {
        if (field.cut || field.leaf->extra == tables::kNone) return;
        if (at.tables.extra(field.leaf->extra).meaning != tables::Meaning::kAwaitedEvent) {
          return;
        }
        if (decode::ReadBits(stopped->bytes, field.bit, field.width) == 0) return;
        decode::AppendFieldName(field.name, events.emplace_back());
      });
  if (events.empty()) return std::nullopt;
  Verdict verdict;
  verdict.kind = VerdictKind::kEventWait;
  verdict.engine = engine.name;
  verdict.confidence = engine.header ? Confidence::kHigh : Confidence::kMedium;
  verdict.sentence =
      absl::StrFormat("The engine waits in the %s at 0x%x for an event: %s.",
                      NameOf(at.tables, *stopped), stopped->address, absl::StrJoin(events, ", "));
  verdict.evidence.push_back(
      "The command names the events; the dump does not say whether they "
      "came.");
  verdict.alternative =
      "The display has the pipe or the plane off, or another scan line range: the event never "
      "comes.";
  return verdict;
}

std::optional<Verdict> CommandRefused(const Case& at, const EngineReport& engine) {
  const Stop& stop = engine.stop;
  const bool refused = stop.instruction_error && stop.instruction_error->value != 0;
  const Event* said = nullptr;
  for (const Event& event : at.report.events) {
    if (event.kind == EventKind::kRefused) said = &event;
  }
  const bool unknown = stop.header && stop.header->value != 0 && engine.header_name.empty();
  const Command* const active = engine.active && *engine.active < engine.commands.size()
                                    ? &engine.commands[*engine.active]
                                    : nullptr;
  const bool at_it = unknown && active != nullptr && active->container == nullptr &&
                     active->FirstDword() == stop.header->value;
  if (!refused && said == nullptr && !at_it) return std::nullopt;
  Verdict verdict;
  verdict.kind = VerdictKind::kUnknownCommand;
  verdict.engine = engine.name;
  verdict.confidence = refused && unknown ? Confidence::kHigh : Confidence::kMedium;
  if (unknown) {
    const auto header = static_cast<uint32_t>(stop.header->value);
    verdict.sentence =
        absl::StrFormat("The engine stopped at a command that %s does not have for it: 0x%08x.",
                        at.tables.generation(), header);
    const uint32_t elsewhere = at.tables.FindPacket(0, ~uint64_t{0}, header, 4);
    if (elsewhere != tables::kNone) {
      verdict.evidence.push_back(absl::StrCat(
          "Other engines have it: ", at.tables.string(at.tables.container(elsewhere).name), "."));
    }
    verdict.evidence.push_back(absl::StrCat(stop.header->by, " holds it."));
  } else {
    const Command* const stopped = StoppedAt(engine);
    verdict.sentence = absl::StrFormat(
        "The engine refused a command%s.",
        stopped == nullptr ? ""
                           : absl::StrFormat(", most likely the %s at 0x%x",
                                             NameOf(at.tables, *stopped), stopped->address));
  }
  if (active != nullptr) verdict.address = active->address;
  if (refused) {
    verdict.evidence.push_back(
        absl::StrCat(stop.instruction_error->by, " says that a command was refused."));
  }
  if (said != nullptr) verdict.evidence.push_back(Quoted(*said));
  if (engine.where && !engine.reached) {
    verdict.evidence.push_back(
        "Decoding the submissions does not reach that place: the engine "
        "left its batch.");
  }
  verdict.alternative =
      "The batch was overwritten or freed while the engine read it, or a jump went to memory that "
      "holds no commands.";
  return verdict;
}

std::optional<Verdict> ReservedBitsSet(const Case& at, const EngineReport& engine) {
  const Command* const stopped = StoppedAt(engine);
  if (stopped == nullptr || stopped->container == nullptr) return std::nullopt;
  std::vector<std::string> faults;
  size_t count = 0;
  for (const decode::Fault& fault : FaultsOf(at, engine, *stopped)) {
    if (fault.kind != decode::FaultKind::kReserved && fault.kind != decode::FaultKind::kRange) {
      continue;
    }
    ++count;
    if (faults.size() < kMostNamed) faults.push_back(fault.text);
  }
  const bool forbidden = !faults.empty();
  const decode::PlacedParts parts =
      decode::PlaceParts(at.tables, *stopped->container, stopped->bytes);
  for (const decode::BitRun& run :
       decode::Undescribed(at.tables, {*stopped->container, stopped->bytes, parts})) {
    ++count;
    if (faults.size() == kMostNamed) continue;
    faults.push_back(
        absl::StrFormat("Dword %d, bits %d:%d are 0x%x, and the manual has nothing "
                        "there",
                        run.bit / 32, run.bit % 32 + run.width - 1, run.bit % 32, run.value));
  }
  if (faults.empty()) return std::nullopt;
  Verdict verdict;
  verdict.kind = VerdictKind::kReservedBits;
  verdict.engine = engine.name;
  // What is not described may be used all the same.
  verdict.confidence = engine.header && forbidden ? Confidence::kMedium : Confidence::kLow;
  verdict.address = stopped->address;
  verdict.sentence = absl::StrFormat(
      "The %s at 0x%x, in which the engine stopped, has %s that the manual does not allow.",
      NameOf(at.tables, *stopped), stopped->address,
      count == 1 ? "bits" : "several groups of bits");
  for (std::string& fault : faults) verdict.evidence.push_back(absl::StrCat(fault, "."));
  verdict.alternative =
      "Hardware ignores many reserved bits: the command may only wait for the work before it.";
  return verdict;
}

std::optional<Verdict> ShaderDoesNotEnd(const Case& at, const EngineReport& engine) {
  size_t executing = 0;
  std::vector<std::string> units;
  for (const Busy& busy : engine.stop.busy) {
    if (busy.executing == 0) continue;
    executing += busy.executing;
    if (units.size() < kMostNamed) units.push_back(busy.by);
  }
  if (executing == 0 || !engine.work) return std::nullopt;
  const Command* const stopped = StoppedAt(engine);
  if (stopped != nullptr && IsWait(at, *stopped)) return std::nullopt;
  Verdict verdict;
  verdict.kind = VerdictKind::kShader;
  verdict.engine = engine.name;
  verdict.confidence = engine.fault ? Confidence::kLow : Confidence::kMedium;
  verdict.address = engine.work->address;
  verdict.sentence =
      absl::StrFormat("A shader of the %s at 0x%x%s probably does not end.",
                      NameOf(at.tables, *engine.work), engine.work->address,
                      engine.work_draw ? absl::StrCat(", draw ", *engine.work_draw, ",") : "");
  verdict.evidence.push_back(
      absl::StrCat(executing, executing == 1 ? " execution unit is" : " execution units are",
                   " not idle (", absl::StrJoin(units, ", "), ")."));
  if (const std::string suspects = Describe(engine.stop.pipeline); !suspects.empty()) {
    verdict.evidence.push_back(absl::StrCat("Of its stages suspect ", suspects, "."));
  }
  size_t kernels = 0;
  for (const Bound& bound : engine.bound) {
    for (const Reached& reached : bound.reached) {
      if (reached.about.empty() || kernels == kMostNamed) continue;
      ++kernels;
      verdict.evidence.push_back(absl::StrFormat("Bound: %s (%s) at 0x%x.", reached.name,
                                                 reached.about, reached.place.address));
    }
  }
  verdict.alternative =
      "The units may wait for memory: for a sampler, a barrier, or an access that is never "
      "answered.";
  return verdict;
}

std::optional<Verdict> PipelineDoesNotFinish(const Case& at, const EngineReport& engine) {
  const BusyPipeline& pipeline = engine.stop.pipeline;
  if (pipeline.last.empty() || !engine.work) return std::nullopt;
  // Dispatches do not go through the 3D pipeline: it is busy with something else.
  if (engine.work->container == nullptr || engine.work->container->role != tables::Role::kDraw) {
    return std::nullopt;
  }
  // Threads that run keep their stage busy, and those before it: ShaderDoesNotEnd().
  const bool executes = std::any_of(engine.stop.busy.begin(), engine.stop.busy.end(),
                                    [](const Busy& busy) { return busy.executing != 0; });
  if (executes) return std::nullopt;
  const Command* const stopped = StoppedAt(engine);
  if (stopped != nullptr && IsWait(at, *stopped)) return std::nullopt;
  Verdict verdict;
  verdict.kind = VerdictKind::kPipeline;
  verdict.engine = engine.name;
  const bool doubtful = engine.fault || !pipeline.before_gap.empty() || !pipeline.threads_known ||
                        !pipeline.rest_known;
  verdict.confidence = doubtful ? Confidence::kLow : Confidence::kMedium;
  verdict.address = engine.work->address;
  verdict.sentence =
      absl::StrFormat("A fixed function probably does not finish the %s at 0x%x%s: %s.",
                      NameOf(at.tables, *engine.work), engine.work->address,
                      engine.work_draw ? absl::StrCat(", draw ", *engine.work_draw) : "",
                      absl::StrJoin(pipeline.last, ", "));
  verdict.evidence.push_back(absl::StrCat("Suspect ", Describe(pipeline), "."));
  verdict.evidence.push_back(pipeline.threads_known
                                 ? "No execution unit runs a thread, as far as the dump has them."
                                 : "The dump does not say whether execution units run threads.");
  if (!pipeline.rest_known) {
    verdict.evidence.push_back(
        "The dump does not have all units after it: one of them may be the last busy one.");
  }
  verdict.alternative =
      "The unit may wait for memory, or for a thread that the dump does not show: look at the "
      "buffers and the state that it uses.";
  return verdict;
}

}  // namespace packsmith::hang
