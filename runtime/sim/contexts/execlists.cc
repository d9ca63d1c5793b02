#include "runtime/sim/contexts/execlists.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/sim/contexts/quad_word.h"

namespace packsmith::sim {
namespace {

constexpr size_t kMostProblems = 64;

}  // namespace

absl::StatusOr<Execlists> Execlists::Make(const tables::Tables& tables, MemoryAccess& memory,
                                          RingRunner& runner, const Options& options) {
  const absl::StatusOr<Structure> descriptor = Structure::Find(tables, "CONTEXT_DESCRIPTOR");
  if (!descriptor.ok()) return descriptor.status();
  ContextStatusBuffer::Options of_events;
  of_events.engine_class = options.engine_class;
  of_events.engine_instance = options.engine_instance;
  of_events.space = options.space;
  of_events.status_page = options.status_page;
  absl::StatusOr<ContextStatusBuffer> events = ContextStatusBuffer::Make(tables, memory, of_events);
  if (!events.ok()) return events.status();
  ContextSwitch::Options of_images;
  of_images.engine_base = options.engine_base;
  of_images.engine = std::string(options.engine);
  of_images.space = options.space;
  of_images.image_bytes = options.image_bytes;
  absl::StatusOr<ExeclistRegisters> registers =
      ExeclistRegisters::Make(tables, options.engine_base);
  if (!registers.ok()) return registers.status();
  Execlists lists(runner, options, *descriptor, *std::move(events), *std::move(registers),
                  ContextSwitch(tables, memory, runner, of_images));
  lists.Reset();
  return lists;
}

void Execlists::Reset() {
  running_.reset();
  pending_.reset();
  events_.Reset();
  registers_.Reset(events_.last());
  next_slot_ = 0;
}

void Execlists::AddProblem(std::string text) {
  if (problems_.size() < kMostProblems) problems_.push_back(std::move(text));
}

// --- Descriptors ---

uint64_t Execlists::ImageOf(uint64_t descriptor) const {
  return descriptor_.Get(QuadWord(descriptor), descriptor_.Field("Logical Ring Context Address"));
}

bool Execlists::Flag(uint64_t descriptor, absl::string_view field) const {
  return descriptor_.Get(QuadWord(descriptor), descriptor_.Field(field)) != 0;
}

uint64_t Execlists::active() const { return running_ ? running_->now() : 0; }

std::vector<uint64_t> Execlists::Submitted() const {
  std::vector<uint64_t> all;
  for (const std::optional<List>* list : {&running_, &pending_}) {
    if (!list->has_value()) continue;
    all.insert(all.end(), (*list)->descriptors.begin() + static_cast<ptrdiff_t>((*list)->active),
               (*list)->descriptors.end());
  }
  return all;
}

// --- Submitting ---

absl::Status Execlists::Submit(absl::Span<const uint64_t> descriptors) {
  List list;
  for (const uint64_t descriptor : descriptors) {
    if (!Flag(descriptor, "Valid")) break;
    list.descriptors.push_back(descriptor);
  }
  if (list.descriptors.empty()) {
    return absl::InvalidArgumentError("the first context of an execution list must be valid");
  }
  if (descriptors.size() > registers_.most_elements()) {
    return absl::InvalidArgumentError(absl::StrCat("an execution list has at most ",
                                                   registers_.most_elements(), " contexts, not ",
                                                   descriptors.size()));
  }
  if (pending_) {
    return absl::FailedPreconditionError(
        "a list is pending: the next one may follow when an event says that it has been taken "
        "over");
  }
  list.slot = next_slot_;
  const uint64_t first = list.descriptors.front();
  if (!running_) {
    if (absl::Status status = contexts_.Restore(ImageOf(first)); !status.ok()) return status;
    next_slot_ = 1 - next_slot_;
    running_ = std::move(list);
    Report(SwitchReason::kStart, first, 0);
    return absl::OkStatus();
  }
  const uint64_t before = running_->now();
  if (ImageOf(first) != ImageOf(before)) {
    next_slot_ = 1 - next_slot_;
    pending_ = std::move(list);
    return absl::OkStatus();
  }
  absl::Status status;
  if (Flag(first, "Force Restore")) {
    status = contexts_.Save(ImageOf(before));
    if (status.ok()) status = contexts_.Restore(ImageOf(first));
  } else {
    const absl::StatusOr<bool> moved = contexts_.RestoreTail(ImageOf(first));
    status = moved.status();
    if (moved.ok() && !*moved) {
      AddProblem(absl::StrFormat(
          "the context at 0x%x was submitted again, and its ring's tail is where it was",
          ImageOf(first)));
    }
  }
  if (!status.ok()) return status;
  next_slot_ = 1 - next_slot_;
  running_ = std::move(list);
  Report(SwitchReason::kLiteRestore, first, before);
  return absl::OkStatus();
}

absl::StatusOr<bool> Execlists::WriteRegister(uint32_t offset, uint32_t value) {
  const absl::StatusOr<ExeclistRegisters::Written> written = registers_.Write(offset, value);
  if (!written.ok()) return written.status();
  if (written->submission) {
    if (absl::Status status = Submit(*written->submission); !status.ok()) return status;
  }
  return written->known;
}

std::optional<uint32_t> Execlists::ReadRegister(uint32_t offset) const {
  const auto of = [&](const std::optional<List>& list) {
    using State = ExeclistRegisters::State;
    return list ? std::optional(
                      State::List{list->now(), ImageOf(list->now()), list->active, list->slot})
                : std::nullopt;
  };
  return registers_.Read(offset, {of(running_), of(pending_), next_slot_}, events_);
}

// --- Running ---

absl::Status Execlists::Begin(List list, SwitchReason reason, uint64_t away) {
  const uint64_t first = list.descriptors.front();
  running_ = std::move(list);
  Report(reason, first, away);
  return contexts_.Restore(ImageOf(first));
}

absl::Status Execlists::Complete() {
  const uint64_t done = running_->now();
  if (absl::Status status = contexts_.Save(ImageOf(done)); !status.ok()) return status;
  if (running_->active + 1 < running_->descriptors.size()) {
    ++running_->active;
    Report(SwitchReason::kNext, running_->now(), done);
    return contexts_.Restore(ImageOf(running_->now()));
  }
  Report(SwitchReason::kEnd, 0, done);
  running_.reset();
  if (!pending_) return absl::OkStatus();
  List next = *std::move(pending_);
  pending_.reset();
  return Begin(std::move(next), SwitchReason::kStart, 0);
}

absl::Status Execlists::Preempt() {
  const uint64_t away = running_->now();
  if (absl::Status status = contexts_.Save(ImageOf(away)); !status.ok()) return status;
  List next = *std::move(pending_);
  pending_.reset();
  return Begin(std::move(next), SwitchReason::kPreempted, away);
}

EngineState Execlists::Run(uint64_t budget) {
  while (running_) {
    if (budget == 0) return EngineState::kBusy;
    const bool yield = pending_.has_value() && options_.preemption;
    const RunResult result = runner_->Run(budget, yield);
    // A switch costs something, so that lists of empty contexts end, too.
    budget -= std::min(budget, std::max<uint64_t>(result.commands, 1));
    absl::Status status;
    switch (result.stop) {
      case RingStop::kDrained:
        status = Complete();
        break;
      case RingStop::kPreemptible:
        if (yield) status = Preempt();
        break;
      case RingStop::kWaiting:
        if (!yield) return EngineState::kWaiting;
        status = Preempt();
        break;
      case RingStop::kBudget:
        break;
      case RingStop::kFault:
        return EngineState::kFault;
    }
    if (!status.ok()) {
      AddProblem(std::string(status.message()));
      return EngineState::kFault;
    }
  }
  return EngineState::kIdle;
}

void Execlists::Report(SwitchReason reason, uint64_t to, uint64_t away) {
  const absl::Status status = events_.Report(reason, to, away);
  if (!status.ok()) AddProblem(std::string(status.message()));
}

}  // namespace packsmith::sim
