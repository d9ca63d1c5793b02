#include "runtime/sim/contexts/context_status.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields/value.h"
#include "runtime/sim/contexts/quad_word.h"

namespace packsmith::sim {

absl::StatusOr<ContextStatusBuffer> ContextStatusBuffer::Make(const tables::Tables& tables,
                                                              MemoryAccess& memory,
                                                              const Options& options) {
  const absl::StatusOr<Structure> descriptor = Structure::Find(tables, "CONTEXT_DESCRIPTOR");
  const absl::StatusOr<Structure> status = Structure::Find(tables, "CONTEXT_STATUS");
  const absl::StatusOr<Structure> page = Structure::Find(tables, "HARDWARE_STATUS_PAGE");
  for (const auto* found : {&descriptor, &status, &page}) {
    if (!found->ok()) return found->status();
  }
  ContextStatusBuffer buffer(tables, memory, options, *descriptor, *status, *page);
  if (absl::Status found = buffer.FindEntries(); !found.ok()) return found;
  buffer.Reset();
  return buffer;
}

absl::Status ContextStatusBuffer::FindEntries() {
  const auto leaves = tables_.leaves(status_.container().leaves);
  if (leaves.empty()) return absl::InvalidArgumentError("CONTEXT_STATUS has no fields");
  const absl::string_view first = tables_.string(leaves[0].name);
  for (size_t i = 0;; ++i) {
    const StructureField field = page_.Field(absl::StrCat("Context Status[", i, "].", first));
    if (!field) break;
    entry_offsets_.push_back((field.bit() - leaves[0].bit) / 8);
  }
  last_field_ = page_.Field("Context Status Last Written");
  if (entry_offsets_.empty() || !last_field_) {
    return absl::InvalidArgumentError(
        "HARDWARE_STATUS_PAGE must have \"Context Status\" and \"Context Status Last Written\"");
  }
  events_.resize(entry_offsets_.size());
  return absl::OkStatus();
}

void ContextStatusBuffer::Reset() {
  std::fill(events_.begin(), events_.end(), 0);
  last_ = events_.size() - 1;
  last_reason_ = 0;
}

absl::StatusOr<uint64_t> ContextStatusBuffer::Flags(SwitchReason reason, uint64_t away) {
  std::array<uint8_t, 8> bytes = {};
  absl::Status status;
  const auto set = [&](absl::string_view name, uint64_t value) {
    status.Update(status_.Set(absl::MakeSpan(bytes), status_.Field(name), value));
  };
  const bool lite = reason == SwitchReason::kLiteRestore;
  const bool next = reason == SwitchReason::kNext, end = reason == SwitchReason::kEnd;
  set("Idle To Active", reason == SwitchReason::kStart);
  set("Preempted", lite || reason == SwitchReason::kPreempted);
  set("Lite Restore", lite);
  set("Context Complete", next || end);
  set("Element Switch", next);
  set("Active To Idle", end);
  last_reason_ = decode::ReadBits(bytes, 0, 64);
  // The event has the upper half of the descriptor.
  if (reason != SwitchReason::kStart) set("Context ID", away >> 32);
  if (!status.ok()) return status;
  return decode::ReadBits(bytes, 0, 64);
}

absl::StatusOr<uint64_t> ContextStatusBuffer::Switch(SwitchReason reason, uint64_t to,
                                                     uint64_t away) const {
  std::array<uint8_t, 8> bytes = {};
  absl::Status status;
  const auto set = [&](absl::string_view name, uint64_t value) {
    const StructureField field = status_.Field(name);
    if (field) status.Update(status_.Set(absl::MakeSpan(bytes), field, value));
  };
  const auto get = [&](uint64_t descriptor, absl::string_view name) {
    return descriptor_.Get(QuadWord(descriptor), descriptor_.Field(name));
  };
  const auto set_context = [&](absl::string_view id, absl::string_view counter,
                               uint64_t descriptor) {
    if (descriptor == 0) {
      // All ones: no context.
      set(id, status_.Get(QuadWord(~uint64_t{0}), status_.Field(id)));
      return;
    }
    set(id, get(descriptor, "Software Context ID"));
    set(counter, get(descriptor, "Software Counter"));
  };
  const bool preempts = reason == SwitchReason::kPreempted || reason == SwitchReason::kLiteRestore;
  const StructureField detail = status_.Field("Switch Detail");
  const absl::string_view why = preempts ? "Preempted" : "Complete";
  set_context("Switched To Context ID", "Switched To Counter", to);
  set_context("Switched Away Context ID", "Switched Away Counter", away);
  set("Switched To New Queue", preempts || reason == SwitchReason::kStart);
  set("Switch Detail", status_.NamedValue(detail, why).value_or(0));
  set("Engine Class", options_.engine_class);
  set("Engine Instance", options_.engine_instance);
  if (!status.ok()) return status;
  return decode::ReadBits(bytes, 0, 64);
}

absl::Status ContextStatusBuffer::Report(SwitchReason reason, uint64_t to, uint64_t away) {
  const absl::StatusOr<uint64_t> event =
      status_.Field("Context ID") ? Flags(reason, away) : Switch(reason, to, away);
  if (!event.ok()) return event.status();
  last_ = (last_ + 1) % events_.size();
  events_[last_] = *event;
  ++written_;
  if (options_.status_page == 0) return absl::OkStatus();
  // A driver that sees the pointer finds the entry.
  const std::array<uint8_t, 8> bytes = QuadWord(*event);
  const std::array<uint8_t, 8> pointer = QuadWord(last_);
  const absl::Span<const uint8_t> index = absl::MakeSpan(pointer).subspan(0, 4);
  const uint64_t page = options_.status_page;
  if (memory_->Write(options_.space, page + entry_offsets_[last_], bytes) == bytes.size() &&
      memory_->Write(options_.space, page + last_field_.bit() / 8, index) == index.size()) {
    return absl::OkStatus();
  }
  return absl::NotFoundError(
      absl::StrFormat("there is no memory for the status page at 0x%x", page));
}

}  // namespace packsmith::sim
