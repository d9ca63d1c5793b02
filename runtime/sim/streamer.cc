#include "runtime/sim/streamer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"
#include "runtime/dump/memory.h"
#include "runtime/sim/execution.h"

namespace packsmith::sim {

using tables::FlowKind;
using tables::kNone;

namespace {

// Whether the streamer fetches so far ahead that there is a command which stops it.
bool HasPreParser(const tables::Tables& tables) {
  for (const tables::Container& container : tables.containers()) {
    for (const tables::Operation& operation : tables.operations(container)) {
      if (operation.kind == tables::OperationKind::kPreParser) return true;
    }
  }
  return false;
}

}  // namespace

Streamer::Streamer(const tables::Tables& tables, MemoryAccess& memory,
                   const StreamerOptions& options, Observer& observer)
    : tables_(tables),
      memory_(memory),
      seen_(tables_, memory, observer, options.engine, options.visibility),
      used_(tables_, uint64_t{1} << options.engine, options.own_space),
      options_(options),
      observer_(observer),
      finder_(tables, options.stream,
              options.all_engines ? ~uint64_t{0} : uint64_t{1} << options.engine),
      registers_(tables),
      blits_(options.most_blit_bytes, options.most_bytes_of_a_blit),
      statistics_(tables),
      window_(memory, options.prefetch ? tables.stream(options.stream).prefetch : 0,
              HasPreParser(tables)),
      plans_(tables.containers().size()),
      states_(tables.containers().size()),
      indirect_draws_left_(options.most_indirect_draws) {
  if (options_.clock) registers_.SetClock(options_.clock);
}

Streamer::~Streamer() = default;

void Streamer::EnterBatch(uint32_t space, uint64_t address) {
  in_ring_ = false;
  ended_ = false;
  returns_.clear();
  privileged_ = space == kGlobalSpace;
  level_ = 1;
  seen_.Synchronize();
  Jump({space, address});
}

void Streamer::EnterRing(const Ring& ring) {
  ring_ = ring;
  in_ring_ = true;
  ended_ = ring.size == 0 || ring.head >= ring.size || ring.tail >= ring.size;
  returns_.clear();
  privileged_ = true;
  level_ = 0;
  seen_.Synchronize();
  Jump({kGlobalSpace, ring.address + ring.head});
}

void Streamer::SetRingTail(uint64_t tail) {
  if (!in_ring_ || ring_.size == 0 || tail >= ring_.size || tail == ring_.tail) return;
  ring_.tail = tail;
  ended_ = false;
}

Stop Streamer::RunAside(uint64_t address, uint64_t bytes, uint64_t most) {
  const Ring ring = ring_;
  const std::vector<Return> returns = returns_;
  const Place position = position_;
  const Noop noop = noop_;
  const uint32_t level = level_;
  const bool in_ring = in_ring_, ended = ended_, privileged = privileged_;
  EnterBatch(kGlobalSpace, address);
  noop_ = {};
  Stop stop = Stop::kBudget;
  for (uint64_t i = 0; i < most && stop == Stop::kBudget; ++i) {
    stop =
        bytes != 0 && level_ == 1 && position_.address - address >= bytes ? Stop::kEnded : Run(1);
  }
  if (stop != Stop::kEnded) {
    if (stop != Stop::kFault) {
      Report(ProblemKind::kFault, "what is executed with a switch of contexts does not end");
    }
    failed_ = true;
    return stop;
  }
  ring_ = ring;
  returns_ = returns;
  noop_ = noop;
  level_ = level;
  in_ring_ = in_ring;
  ended_ = ended;
  privileged_ = privileged;
  Jump(position);
  return Stop::kEnded;
}

bool Streamer::Inherit(const tables::Container& container, absl::Span<const uint8_t> packet) {
  if (!PlanOf(container).is_state) return false;
  StatePacketBytes& state = states_[tables_.IndexOf(container)];
  state.bytes.assign(packet.begin(), packet.end());
  state.number = ++commands_;
  return true;
}

void Streamer::Connect(Streamer& other) {
  connected_.push_back(&other);
  other.connected_.push_back(this);
}

void Streamer::Jump(const Place& to) {
  position_ = to;
  window_.Restart(to.space, to.address);
}

void Streamer::Continue(const Place& to) {
  window_.Jump(position_.address, to.space, to.address);
  position_ = to;
}

uint64_t Streamer::Levels() const {
  const uint32_t levels = tables_.stream(options_.stream).levels;
  if (levels == kNone) return 1;
  return decode::Evaluate(
             tables_.expression(levels), [](uint32_t) { return std::optional<uint64_t>(); },
             [&](uint32_t container, uint32_t leaf) {
               return std::optional(StateValue(container, leaf).value_or(0));
             })
      .value_or(1);
}

bool Streamer::IsNoop() const {
  if (noop_.in_register) return (registers_.Read(*noop_.in_register) & 1) != 0;
  switch (noop_.mode) {
    case NoopMode::kNever:
      return false;
    case NoopMode::kResult2Clear:
    case NoopMode::kResult2Set:
      return ((registers_.Read(noop_.result_2) & 1) != 0) == (noop_.mode == NoopMode::kResult2Set);
    case NoopMode::kResultClear:
    case NoopMode::kResultSet:
      return ((registers_.Read(noop_.result) & 1) != 0) == (noop_.mode == NoopMode::kResultSet);
    case NoopMode::kAlways:
      return true;
  }
  return false;
}

void Streamer::Report(ProblemKind kind, std::string text, bool unmapped) {
  observer_.OnProblem({kind, position_.space, position_.address, std::move(text), unmapped});
}

void Streamer::ReportUnmapped(std::string text) {
  if (!options_.unmapped_faults) return Report(ProblemKind::kApproximate, std::move(text), true);
  // Of a command only the first one.
  if (!std::exchange(unmapped_, true)) Report(ProblemKind::kFault, std::move(text), true);
}

absl::Span<const uint8_t> Streamer::StateOf(const tables::Container& container) const {
  return states_[tables_.IndexOf(container)].bytes;
}

std::optional<uint64_t> Streamer::StateValue(uint32_t container_index, uint32_t leaf) const {
  const tables::Container& container = tables_.container(container_index);
  std::array<uint8_t, 8> bits;
  absl::Span<const uint8_t> bytes = StateOf(container);
  if (container.kind == tables::ContainerKind::kRegister) {
    const uint64_t value =
        registers_.Read64(EngineOffset(tables_, options_.engine, container.register_offset));
    std::memcpy(bits.data(), &value, bits.size());
    bytes = bits;
  }
  if (bytes.empty()) return std::nullopt;
  return decode::Scope(tables_, container, bytes).Number(leaf);
}

uint64_t Streamer::StateNumber(const tables::Container& container) const {
  return states_[tables_.IndexOf(container)].number;
}

const Plan& Streamer::PlanOf(const tables::Container& container) {
  std::unique_ptr<Plan>& plan = plans_[tables_.IndexOf(container)];
  if (plan == nullptr) plan = std::make_unique<Plan>(tables_, container);
  return *plan;
}

Stop Streamer::Run(uint64_t most) {
  for (uint64_t i = 0; i < most; ++i) {
    if (failed_) return Stop::kFault;
    if (level_ == 0 && ring_.head == ring_.tail) ended_ = true;
    if (ended_) return Stop::kEnded;
    switch (Step()) {
      case Result::kDone:
        if (options_.pause != nullptr && *options_.pause && !ended_) return Stop::kBudget;
        break;
      case Result::kWaiting:
        return Stop::kWaiting;
      case Result::kFault:
        failed_ = true;
        return Stop::kFault;
    }
  }
  return ended_ ? Stop::kEnded : Stop::kBudget;
}

absl::Span<const uint8_t> Streamer::Fetch(uint64_t size) {
  if (level_ != 0) return window_.Fetch(position_.address, size);
  // The ring's contents, which may continue at its beginning.
  size = std::min(size, (ring_.tail + ring_.size - ring_.head) % ring_.size);
  ring_bytes_.resize(size);
  const uint64_t first = std::min(size, ring_.size - ring_.head);
  size_t read = memory_.Read(kGlobalSpace, ring_.address + ring_.head,
                             absl::MakeSpan(ring_bytes_).first(first));
  if (read == first && first < size) {
    read += memory_.Read(kGlobalSpace, ring_.address, absl::MakeSpan(ring_bytes_).subspan(first));
  }
  return absl::MakeConstSpan(ring_bytes_).first(read);
}

void Streamer::Advance(uint64_t bytes) {
  if (level_ == 0) {
    ring_.head = (ring_.head + bytes) % ring_.size;
    position_.address = ring_.address + ring_.head;
  } else {
    position_.address += bytes;
  }
}

Streamer::Result Streamer::Step() {
  const absl::Span<const uint8_t> head = Fetch(4);
  if (head.size() < 4) {
    Report(ProblemKind::kFault, "there is no memory to execute", true);
    return Result::kFault;
  }
  uint32_t word = 0;
  std::memcpy(&word, head.data(), 4);
  if (!options_.clock) registers_.SetClock(registers_.clock() + 1);
  const tables::PacketFinder::Kind& kind = finder_.Find(word);
  if (kind.container == kNone) {
    const uint32_t length = tables_.UnknownBytes(options_.stream, word);
    if (length == 0) {
      Report(ProblemKind::kFault, absl::StrFormat("0x%08x does not begin a packet", word));
      return Result::kFault;
    }
    Report(ProblemKind::kUnsupported, absl::StrFormat("unknown packet 0x%08x", word));
    ++commands_;
    Advance(length);
    return Result::kDone;
  }
  const tables::Container& container = tables_.container(kind.container);
  const uint64_t length =
      kind.plain ? kind.Bytes(word)
                 : decode::LengthOf(tables_, container, Fetch(std::max(container.max_bytes, 4u)));
  const absl::Span<const uint8_t> bytes = Fetch(length);
  if (bytes.size() < length) {
    Report(ProblemKind::kFault,
           absl::StrCat(tables_.string(container.name), " of ", length, " bytes goes beyond ",
                        level_ == 0 ? "the contents of the ring" : "the memory"),
           level_ != 0);
    return Result::kFault;
  }
  if (level_ != 0) {
    if (window_.IsStale(position_.address, length)) {
      ReportStale(container, bytes);
    } else if (window_.MayBeStale(position_.address, length)) {
      Report(
          ProblemKind::kStale,
          absl::StrCat(tables_.string(container.name),
                       " was written after the pre-parser, which follows jumps, may have fetched "
                       "it: it must be off, or more distance is needed between them"));
    }
  }
  return Execute(PlanOf(container), bytes);
}

void Streamer::ReportStale(const tables::Container& container, absl::Span<const uint8_t> bytes) {
  std::vector<uint8_t> now(bytes.size());
  now.resize(memory_.Read(position_.space, position_.address, absl::MakeSpan(now)));
  if (absl::MakeConstSpan(now) == bytes) return;
  Report(ProblemKind::kStale,
         absl::StrCat(tables_.string(container.name),
                      " was written after it had been fetched: a jump, more distance, or the "
                      "pre-parser off is needed between them"));
}

Streamer::Result Streamer::Execute(const Plan& plan, absl::Span<const uint8_t> bytes) {
  Command command{plan.container, position_.space, position_.address, bytes, level_, commands_};
  if (seen_.MayBeEarly(tables::ClientKind::kCommands, position_.space, position_.address,
                       bytes.size())) {
    seen_.Look(tables::ClientKind::kCommands, {position_.space, position_.address, bytes.size()},
               command);
  }
  const uint64_t length = bytes.size();
  if (!plan.unpredicated && IsNoop()) {
    observer_.OnSkipped(command);
    ++commands_;
    Advance(length);
    return Result::kDone;
  }
  drops_privilege_ = false;
  Execution execution(*this, plan, command);
  switch (execution.Prepare()) {
    case Execution::Outcome::kSkipped:
      observer_.OnSkipped(command);
      ++commands_;
      Advance(length);
      return Result::kDone;
    case Execution::Outcome::kDenied:
      observer_.OnCommand(command);
      Report(ProblemKind::kPrivileged, absl::StrCat(tables_.string(plan.container->name),
                                                    " has no effect: the batch has no privilege"));
      ++commands_;
      Advance(length);
      return Result::kDone;
    default:
      break;
  }
  const Execution::Outcome outcome = execution.Run();
  if (unmapped_) return Result::kFault;
  if (outcome == Execution::Outcome::kWaiting) return Result::kWaiting;
  ++commands_;
  if (plan.is_state) KeepState(plan, bytes);
  if (outcome == Execution::Outcome::kEndsLevel || outcome == Execution::Outcome::kEndsAll) {
    Advance(length);
    Leave(outcome == Execution::Outcome::kEndsAll);
    return Result::kDone;
  }
  const decode::Scope scope(tables_, *plan.container, command.bytes);
  for (const tables::Flow& flow : tables_.flows(plan.container->flows)) {
    if (!scope.Holds(flow.when)) continue;
    const std::optional<Place> target =
        flow.target == kNone ? std::nullopt : std::optional<Place>(execution.BatchAt(flow.target));
    Advance(length);
    return Follow(flow.kind, target);
  }
  Advance(length);
  return Result::kDone;
}

void Streamer::KeepState(const Plan& plan, absl::Span<const uint8_t> bytes) {
  const tables::Container& container = *plan.container;
  if (seen_.tracks()) {
    used_.Keep(container, bytes, [this](const tables::Container& of) {
      return StateBytes{StateOf(of), StateNumber(of)};
    });
  }
  StatePacketBytes& state = states_[tables_.IndexOf(container)];
  state.bytes.assign(bytes.begin(), bytes.end());
  state.number = commands_;
}

Streamer::Result Streamer::Follow(FlowKind kind, std::optional<Place> target) {
  switch (kind) {
    case FlowKind::kEnd:
    case FlowKind::kReturn:
      Leave(false);
      break;
    case FlowKind::kTerminate:
      returns_.clear();
      ended_ = true;
      break;
    case FlowKind::kJump:
    case FlowKind::kCall:
      if (!target) break;
      if (level_ == 0) window_.Restart(position_.space, position_.address);
      // The ring never jumps: it enters the first level. The deepest level chains.
      if (level_ == 0 || (kind == FlowKind::kCall && level_ < Levels())) {
        returns_.push_back({position_, privileged_});
        ++level_;
      }
      // Privilege that is given up comes back at the return only.
      privileged_ = privileged_ && !drops_privilege_;
      Continue(*target);
      break;
  }
  return Result::kDone;
}

void Streamer::Leave(bool all_levels) {
  if (all_levels && !returns_.empty()) {
    returns_.resize(1);
    level_ = in_ring_ ? 1 : 2;
    if (!in_ring_) returns_.clear();
  }
  if (returns_.empty()) {
    ended_ = true;
    return;
  }
  const Return to = returns_.back();
  returns_.pop_back();
  --level_;
  privileged_ = to.privileged;
  Continue(to.place);
}

}  // namespace packsmith::sim
