#include "runtime/sim/contexts/execlist_registers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/value.h"
#include "runtime/sim/contexts/context_image.h"
#include "runtime/sim/contexts/quad_word.h"
#include "runtime/sim/contexts/structure.h"

namespace packsmith::sim {
namespace {

// Two writes to ELSP are a descriptor, the upper half first; of two elements the second one first.
constexpr size_t kPortWrites = 4;
constexpr size_t kPortElements = 2;

}  // namespace

uint32_t ExeclistRegisters::OffsetOf(absl::string_view name) const {
  const uint32_t container = tables_.FindContainer(name);
  if (container == tables::kNone) return 0;
  const uint32_t offset = tables_.container(container).register_offset;
  return offset - DescribedBase(tables_) + engine_base_;
}

absl::StatusOr<ExeclistRegisters> ExeclistRegisters::Make(const tables::Tables& tables,
                                                          uint32_t engine_base) {
  ExeclistRegisters found(tables, engine_base);
  found.elsp_ = found.OffsetOf("ELSP");
  found.control_ = found.OffsetOf("EXECLIST_CONTROL");
  found.status_ = found.OffsetOf("EXECLIST_STATUS");
  found.status_high_ = found.OffsetOf("EXECLIST_STATUS_UDW");
  found.lrca_ = found.OffsetOf("CURRENT_LRCA");
  found.pointer_ = found.OffsetOf("CONTEXT_STATUS_BUFFER_PTR");
  const auto all = [&](absl::string_view name, std::vector<uint32_t>& to) {
    for (size_t i = 0;; ++i) {
      const uint32_t offset = found.OffsetOf(absl::StrCat(name, i));
      if (offset == 0) return;
      to.push_back(offset);
    }
  };
  all("EXECLIST_SQ_CONTENTS", found.queue_offsets_);
  all("CONTEXT_STATUS_BUFFER", found.buffer_offsets_);
  if (found.elsp_ == 0 && (found.control_ == 0 || found.queue_offsets_.empty())) {
    return absl::NotFoundError(
        absl::StrCat(tables.generation(), " has neither a submit port nor a submit queue"));
  }
  found.queue_.resize(found.queue_offsets_.size() * 2);
  return found;
}

size_t ExeclistRegisters::most_elements() const {
  return elsp_ != 0 ? kPortElements : queue_offsets_.size();
}

void ExeclistRegisters::Reset(size_t last_event) {
  port_.clear();
  read_pointer_ = static_cast<uint32_t>(last_event);
}

ExeclistRegisters::Written ExeclistRegisters::WritePort(uint32_t value) {
  port_.push_back(value);
  if (port_.size() < kPortWrites) return {true};
  const auto descriptor = [&](size_t at) { return uint64_t{port_[at]} << 32 | port_[at + 1]; };
  Written written{true, std::vector<uint64_t>{descriptor(2), descriptor(0)}};
  port_.clear();
  return written;
}

absl::StatusOr<ExeclistRegisters::Written> ExeclistRegisters::WriteControl(uint32_t value) const {
  const absl::StatusOr<Structure> control = Structure::Find(tables_, "EXECLIST_CONTROL");
  if (!control.ok()) return control.status();
  if (control->Get(QuadWord(value), control->Field("Load Submit Queue")) == 0) return Written{true};
  std::vector<uint64_t> descriptors;
  for (size_t i = 0; i < queue_.size(); i += 2) {
    descriptors.push_back(uint64_t{queue_[i + 1]} << 32 | queue_[i]);
  }
  return Written{true, std::move(descriptors)};
}

absl::StatusOr<ExeclistRegisters::Written> ExeclistRegisters::WritePointer(uint32_t value) {
  const absl::StatusOr<Structure> pointer = Structure::Find(tables_, "CONTEXT_STATUS_BUFFER_PTR");
  if (!pointer.ok()) return pointer.status();
  const StructureField read = pointer->Field("Read Pointer");
  const absl::StatusOr<uint32_t> bits = pointer->Dword(read, 1);
  if (!bits.ok()) return bits.status();
  const uint64_t mask = pointer->Get(QuadWord(value), pointer->Field("Mask"));
  if ((mask & *bits) != 0)
    read_pointer_ = static_cast<uint32_t>(pointer->Get(QuadWord(value), read));
  return Written{true};
}

absl::StatusOr<ExeclistRegisters::Written> ExeclistRegisters::Write(uint32_t offset,
                                                                    uint32_t value) {
  if (offset == 0) return Written{};
  if (offset == elsp_) return WritePort(value);
  if (offset == control_) return WriteControl(value);
  if (offset == pointer_) return WritePointer(value);
  for (size_t i = 0; i < queue_offsets_.size(); ++i) {
    if (offset != queue_offsets_[i] && offset != queue_offsets_[i] + 4) continue;
    queue_[i * 2 + (offset - queue_offsets_[i]) / 4] = value;
    return Written{true};
  }
  return Written{};
}

std::optional<uint32_t> ExeclistRegisters::Read(uint32_t offset, const State& state,
                                                const ContextStatusBuffer& events) const {
  if (offset == 0) return std::nullopt;
  if (offset == status_) return StatusDword(state, events);
  if (offset == status_high_) return state.running ? HighDword(state.running->descriptor) : 0;
  if (offset == lrca_) return LrcaDword(state);
  if (offset == pointer_) return PointerDword(events);
  if (offset == elsp_) return 0;
  for (size_t i = 0; i < queue_offsets_.size(); ++i) {
    if (offset == queue_offsets_[i]) return queue_[i * 2];
    if (offset == queue_offsets_[i] + 4) return queue_[i * 2 + 1];
  }
  for (size_t i = 0; i < std::min(buffer_offsets_.size(), events.entries()); ++i) {
    if (offset == buffer_offsets_[i]) return LowDword(events.event(i));
    if (offset == buffer_offsets_[i] + 4) return HighDword(events.event(i));
  }
  return std::nullopt;
}

uint32_t ExeclistRegisters::LrcaDword(const State& state) const {
  const absl::StatusOr<Structure> lrca = Structure::Find(tables_, "CURRENT_LRCA");
  if (!lrca.ok() || !state.running) return 0;
  std::array<uint8_t, 8> bytes = {};
  const absl::Span<uint8_t> out = absl::MakeSpan(bytes);
  lrca->Set(out, lrca->Field("Valid"), 1).IgnoreError();
  lrca->Set(out, lrca->Field("Logical Ring Context Address"), state.running->image).IgnoreError();
  return LowDword(decode::ReadBits(bytes, 0, 64));
}

uint32_t ExeclistRegisters::PointerDword(const ContextStatusBuffer& events) const {
  const absl::StatusOr<Structure> pointer = Structure::Find(tables_, "CONTEXT_STATUS_BUFFER_PTR");
  if (!pointer.ok()) return 0;
  std::array<uint8_t, 8> bytes = {};
  const absl::Span<uint8_t> out = absl::MakeSpan(bytes);
  pointer->Set(out, pointer->Field("Write Pointer"), events.last()).IgnoreError();
  pointer->Set(out, pointer->Field("Read Pointer"), read_pointer_).IgnoreError();
  return LowDword(decode::ReadBits(bytes, 0, 64));
}

uint32_t ExeclistRegisters::StatusDword(const State& state,
                                        const ContextStatusBuffer& events) const {
  const absl::StatusOr<Structure> status = Structure::Find(tables_, "EXECLIST_STATUS");
  if (!status.ok()) return 0;
  std::array<uint8_t, 8> bytes = {};
  // Fields that the generation does not have are left out.
  const auto set = [&](absl::string_view name, uint64_t value) {
    const StructureField field = status->Field(name);
    if (field) status->Set(absl::MakeSpan(bytes), field, value).IgnoreError();
  };
  set("Load Complete", state.pending ? 0 : 1);
  set("Busy", state.running ? 1 : 0);
  set("Idle", state.running ? 0 : 1);
  set("Execlist Write Pointer", static_cast<uint64_t>(state.next_slot));
  set("Execlist Queue Full", state.pending ? 1 : 0);
  if (const StructureField reason = status->Field("Last Context Switch Reason")) {
    set("Last Context Switch Reason", events.last_reason() & ((uint64_t{1} << reason.width()) - 1));
  }
  set("Arbitration Enable", 1);
  for (const std::optional<State::List>* list : {&state.running, &state.pending}) {
    if (!list->has_value()) continue;
    set(absl::StrCat("Execlist ", (*list)->slot, " Valid"), 1);
  }
  if (state.running) {
    set("Current Execlist Pointer", static_cast<uint64_t>(state.running->slot));
    set("Current Active Element Status", state.running->active + 1);
    set(absl::StrCat("Execlist ", state.running->slot, " Active"), 1);
  }
  return static_cast<uint32_t>(decode::ReadBits(bytes, 0, 32));
}

}  // namespace packsmith::sim
