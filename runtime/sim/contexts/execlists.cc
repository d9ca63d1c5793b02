#include "runtime/sim/contexts/execlists.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/value.h"

namespace packsmith::sim {
namespace {

constexpr size_t kMostProblems = 64;

// Two writes to ELSP are a descriptor, the upper half first; of two elements the second one first.
constexpr size_t kPortWrites = 4;
constexpr size_t kPortElements = 2;

uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t High(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

std::array<uint8_t, 8> Bytes(uint64_t value) {
  std::array<uint8_t, 8> bytes;
  decode::WriteBits(absl::MakeSpan(bytes), 0, 64, value);
  return bytes;
}

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
  Execlists lists(tables, runner, options, *descriptor, *std::move(events),
                  ContextSwitch(tables, memory, runner, of_images));
  if (absl::Status found = lists.FindRegisters(); !found.ok()) return found;
  lists.Reset();
  return lists;
}

uint32_t Execlists::OffsetOf(absl::string_view name) const {
  const uint32_t container = tables_.FindContainer(name);
  if (container == tables::kNone) return 0;
  const uint32_t offset = tables_.container(container).register_offset;
  return offset - DescribedBase(tables_) + options_.engine_base;
}

absl::Status Execlists::FindRegisters() {
  offsets_.elsp = OffsetOf("ELSP");
  offsets_.control = OffsetOf("EXECLIST_CONTROL");
  offsets_.status = OffsetOf("EXECLIST_STATUS");
  offsets_.status_high = OffsetOf("EXECLIST_STATUS_UDW");
  offsets_.lrca = OffsetOf("CURRENT_LRCA");
  offsets_.pointer = OffsetOf("CONTEXT_STATUS_BUFFER_PTR");
  const auto all = [&](absl::string_view name, std::vector<uint32_t>& to) {
    for (size_t i = 0;; ++i) {
      const uint32_t offset = OffsetOf(absl::StrCat(name, i));
      if (offset == 0) return;
      to.push_back(offset);
    }
  };
  all("EXECLIST_SQ_CONTENTS", offsets_.queue);
  all("CONTEXT_STATUS_BUFFER", offsets_.buffer);
  if (offsets_.elsp == 0 && (offsets_.control == 0 || offsets_.queue.empty())) {
    return absl::NotFoundError(
        absl::StrCat(tables_.generation(), " has neither a submit port nor a submit queue"));
  }
  queue_.resize(offsets_.queue.size() * 2);
  return absl::OkStatus();
}

size_t Execlists::MostElements() const {
  return offsets_.elsp != 0 ? kPortElements : offsets_.queue.size();
}

void Execlists::Reset() {
  running_.reset();
  pending_.reset();
  port_.clear();
  events_.Reset();
  read_pointer_ = static_cast<uint32_t>(events_.last());
  next_slot_ = 0;
}

void Execlists::AddProblem(std::string text) {
  if (problems_.size() < kMostProblems) problems_.push_back(std::move(text));
}

// --- Descriptors ---

uint64_t Execlists::ImageOf(uint64_t descriptor) const {
  return descriptor_.Get(Bytes(descriptor), descriptor_.Field("Logical Ring Context Address"));
}

bool Execlists::Flag(uint64_t descriptor, absl::string_view field) const {
  return descriptor_.Get(Bytes(descriptor), descriptor_.Field(field)) != 0;
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
  if (descriptors.size() > MostElements()) {
    return absl::InvalidArgumentError(absl::StrCat("an execution list has at most ", MostElements(),
                                                   " contexts, not ", descriptors.size()));
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

absl::StatusOr<bool> Execlists::WritePort(uint32_t value) {
  port_.push_back(value);
  if (port_.size() < kPortWrites) return true;
  const auto descriptor = [&](size_t at) { return uint64_t{port_[at]} << 32 | port_[at + 1]; };
  const uint64_t both[] = {descriptor(2), descriptor(0)};
  port_.clear();
  if (absl::Status status = Submit(both); !status.ok()) return status;
  return true;
}

absl::StatusOr<bool> Execlists::WriteControl(uint32_t value) {
  const absl::StatusOr<Structure> control = Structure::Find(tables_, "EXECLIST_CONTROL");
  if (!control.ok()) return control.status();
  if (control->Get(Bytes(value), control->Field("Load Submit Queue")) == 0) return true;
  std::vector<uint64_t> descriptors;
  for (size_t i = 0; i < queue_.size(); i += 2) {
    descriptors.push_back(uint64_t{queue_[i + 1]} << 32 | queue_[i]);
  }
  if (absl::Status status = Submit(descriptors); !status.ok()) return status;
  return true;
}

absl::StatusOr<bool> Execlists::WritePointer(uint32_t value) {
  const absl::StatusOr<Structure> pointer = Structure::Find(tables_, "CONTEXT_STATUS_BUFFER_PTR");
  if (!pointer.ok()) return pointer.status();
  const StructureField read = pointer->Field("Read Pointer");
  const absl::StatusOr<uint32_t> bits = pointer->Dword(read, 1);
  if (!bits.ok()) return bits.status();
  const uint64_t mask = pointer->Get(Bytes(value), pointer->Field("Mask"));
  if ((mask & *bits) != 0) read_pointer_ = static_cast<uint32_t>(pointer->Get(Bytes(value), read));
  return true;
}

absl::StatusOr<bool> Execlists::WriteRegister(uint32_t offset, uint32_t value) {
  if (offset == 0) return false;
  if (offset == offsets_.elsp) return WritePort(value);
  if (offset == offsets_.control) return WriteControl(value);
  if (offset == offsets_.pointer) return WritePointer(value);
  for (size_t i = 0; i < offsets_.queue.size(); ++i) {
    if (offset != offsets_.queue[i] && offset != offsets_.queue[i] + 4) continue;
    queue_[i * 2 + (offset - offsets_.queue[i]) / 4] = value;
    return true;
  }
  return false;
}

std::optional<uint32_t> Execlists::ReadRegister(uint32_t offset) const {
  if (offset == 0) return std::nullopt;
  if (offset == offsets_.status) return StatusDword();
  if (offset == offsets_.status_high) return High(active());
  if (offset == offsets_.lrca) return LrcaDword();
  if (offset == offsets_.pointer) return PointerDword();
  if (offset == offsets_.elsp) return 0;
  for (size_t i = 0; i < offsets_.queue.size(); ++i) {
    if (offset == offsets_.queue[i]) return queue_[i * 2];
    if (offset == offsets_.queue[i] + 4) return queue_[i * 2 + 1];
  }
  for (size_t i = 0; i < std::min(offsets_.buffer.size(), events_.entries()); ++i) {
    if (offset == offsets_.buffer[i]) return Low(events_.event(i));
    if (offset == offsets_.buffer[i] + 4) return High(events_.event(i));
  }
  return std::nullopt;
}

uint32_t Execlists::LrcaDword() const {
  const absl::StatusOr<Structure> lrca = Structure::Find(tables_, "CURRENT_LRCA");
  if (!lrca.ok() || !running_) return 0;
  std::array<uint8_t, 8> bytes = {};
  const absl::Span<uint8_t> out = absl::MakeSpan(bytes);
  lrca->Set(out, lrca->Field("Valid"), 1).IgnoreError();
  lrca->Set(out, lrca->Field("Logical Ring Context Address"), ImageOf(active())).IgnoreError();
  return Low(decode::ReadBits(bytes, 0, 64));
}

uint32_t Execlists::PointerDword() const {
  const absl::StatusOr<Structure> pointer = Structure::Find(tables_, "CONTEXT_STATUS_BUFFER_PTR");
  if (!pointer.ok()) return 0;
  std::array<uint8_t, 8> bytes = {};
  const absl::Span<uint8_t> out = absl::MakeSpan(bytes);
  pointer->Set(out, pointer->Field("Write Pointer"), events_.last()).IgnoreError();
  pointer->Set(out, pointer->Field("Read Pointer"), read_pointer_).IgnoreError();
  return Low(decode::ReadBits(bytes, 0, 64));
}

uint32_t Execlists::StatusDword() const {
  const absl::StatusOr<Structure> status = Structure::Find(tables_, "EXECLIST_STATUS");
  if (!status.ok()) return 0;
  std::array<uint8_t, 8> bytes = {};
  // Fields that the generation does not have are left out.
  const auto set = [&](absl::string_view name, uint64_t value) {
    const StructureField field = status->Field(name);
    if (field) status->Set(absl::MakeSpan(bytes), field, value).IgnoreError();
  };
  set("Load Complete", pending_ ? 0 : 1);
  set("Busy", running_ ? 1 : 0);
  set("Idle", running_ ? 0 : 1);
  set("Execlist Write Pointer", static_cast<uint64_t>(next_slot_));
  set("Execlist Queue Full", pending_ ? 1 : 0);
  if (const StructureField reason = status->Field("Last Context Switch Reason")) {
    set("Last Context Switch Reason",
        events_.last_reason() & ((uint64_t{1} << reason.width()) - 1));
  }
  set("Arbitration Enable", 1);
  for (const std::optional<List>* list : {&running_, &pending_}) {
    if (!list->has_value()) continue;
    set(absl::StrCat("Execlist ", (*list)->slot, " Valid"), 1);
  }
  if (running_) {
    set("Current Execlist Pointer", static_cast<uint64_t>(running_->slot));
    set("Current Active Element Status", running_->active + 1);
    set(absl::StrCat("Execlist ", running_->slot, " Active"), 1);
  }
  return static_cast<uint32_t>(decode::ReadBits(bytes, 0, 32));
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
